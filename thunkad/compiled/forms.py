"""Functions in normal form, remembered by code object."""

from __future__ import annotations

import threading
import types
import weakref
from typing import Any

from thunkad import pipeline
from thunkad.ir import nodes as n

_forms: dict[int, tuple[weakref.ref[types.CodeType], n.Function]] = {}
_lock = threading.Lock()


def normal_form(fn: Any) -> n.Function:
    """``fn`` in normal form with versions."""
    code = fn.__code__
    found = _forms.get(id(code))
    if found is not None and found[0]() is code:
        return found[1]
    form = pipeline.normal_form(fn)
    key = id(code)
    with _lock:
        _forms[key] = weakref.ref(code, lambda _: _forms.pop(key, None)), form
    return form
