"""What a free name of a function means now."""

from __future__ import annotations

import builtins

import pytest

from thunkad.source.names import binding_of, lookup

here = "global"
abs = "global that hides a builtin"  # noqa: A001


def make():
    here = "closure"

    def fn():
        return here, abs, max, nowhere, late  # noqa: F821

    def rebind(value):
        nonlocal here
        here = value

    fn.rebind = rebind
    if make is None:
        late = 0
    return fn


def test_closure_then_global_then_builtin():
    fn = make()
    assert lookup(fn, "here") == "closure" and binding_of(fn, "here") == "closure"
    assert lookup(fn, "abs") == abs and binding_of(fn, "abs") == "global"
    assert lookup(fn, "max") is builtins.max and binding_of(fn, "max") == "builtin"
    assert lookup(make, "here") == "global" and binding_of(make, "here") == "global"


def test_the_present_value_counts(monkeypatch):
    fn = make()
    fn.rebind("new")
    assert lookup(fn, "here") == "new"
    monkeypatch.setitem(globals(), "max", min)
    assert lookup(fn, "max") is min and binding_of(fn, "max") == "global"


def test_unbound():
    fn = make()
    for name in ("nowhere", "late"):
        with pytest.raises(KeyError) as caught:
            lookup(fn, name)
        assert caught.value.args == (name,)
    assert binding_of(fn, "nowhere") is None
    assert binding_of(fn, "late") == "closure"


def test_an_empty_cell_hides_a_global(monkeypatch):
    monkeypatch.setitem(globals(), "late", 1)
    with pytest.raises(KeyError):
        lookup(make(), "late")


def test_own_builtins_and_namespaces_that_make_values():
    class Namespace(dict):
        def __missing__(self, key):
            if key != "made":
                raise KeyError(key)
            return "made up"

    names = Namespace(__builtins__={"only": 1})
    exec("def fn(): return made, only", names)
    fn = names["fn"]
    assert fn() == ("made up", 1)
    assert lookup(fn, "made") == "made up" and binding_of(fn, "made") == "global"
    assert lookup(fn, "only") == 1 and binding_of(fn, "only") == "builtin"
    assert binding_of(fn, "max") is None
