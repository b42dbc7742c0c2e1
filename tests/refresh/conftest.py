"""Fixtures of the tests of refresh."""

import gc

import pytest

import thunkad as ad


@pytest.fixture(params=["manual", "auto"])
def policy(request):
    with ad.refresh_policy(request.param):
        yield request.param


@pytest.fixture(autouse=True)
def nothing_is_stale():
    """What other tests left stale is no concern of ``refresh()`` in this one."""
    ad.refresh()


@pytest.fixture
def few_objects_to_collect():
    """What other tests have left is not gone through by each collection."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
