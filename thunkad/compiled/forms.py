"""Functions in normal form, remembered by code object."""

from __future__ import annotations

import threading
import types
import weakref
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.normal.exits import single_exit
from thunkad.normal.forward_tuples import forward_tuples
from thunkad.normal.lower import lower
from thunkad.normal.versions import version
from thunkad.source.functions import find_source
from thunkad.tree.parse import deep_recursion

_forms: dict[int, tuple[weakref.ref[types.CodeType], n.Function]] = {}
_lock = threading.Lock()


def normal_form(fn: Any) -> n.Function:
    """``fn`` in normal form with versions."""
    code = fn.__code__
    found = _forms.get(id(code))
    if found is not None and found[0]() is code:
        return found[1]
    with deep_recursion():
        form = normal_form_of_ir(lower(find_source(fn)), raw=True)
    key = id(code)
    with _lock:
        _forms[key] = weakref.ref(code, lambda _: _forms.pop(key, None)), form
    return form


def normal_form_of_ir(function: n.Function, raw: bool = False) -> n.Function:
    """A lowered function in normal form; functions made inside another one already are."""
    if not raw:
        return function
    return forward_tuples(version(single_exit(function), Names()))
