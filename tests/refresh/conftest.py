"""Fixtures of the tests of refresh."""

import gc
import weakref

import pytest

import thunkad as ad
from thunkad import refreshing
from thunkad.compiled.root import ROOTS


@pytest.fixture(params=["manual", "auto"])
def policy(request):
    with ad.refresh_policy(request.param):
        yield request.param


class _Own:
    """The functions that were compiled since this was made."""

    def __init__(self):
        self.others = weakref.WeakSet(ROOTS)

    def __iter__(self):
        return (root for root in list(ROOTS) if root not in self.others)


@pytest.fixture(autouse=True)
def functions_of_other_tests_stay_out(monkeypatch):
    """What other tests compiled, some thousand functions, is no concern of ``refresh()`` in this one."""
    monkeypatch.setattr(refreshing, "ROOTS", _Own())


@pytest.fixture
def few_objects_to_collect():
    """What other tests have left is not gone through by each collection."""
    gc.collect()
    gc.freeze()
