"""Fixtures of the tests of refresh."""

import pytest

import thunkad as ad


@pytest.fixture(params=["manual", "auto"])
def policy(request):
    with ad.refresh_policy(request.param):
        yield request.param
