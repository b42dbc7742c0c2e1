"""Functions in normal form, remembered by code object."""

from __future__ import annotations

import threading
import types
import weakref
from typing import Any

from thunkad import pipeline
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.lifetimes import attached, found_attached
from thunkad.normal.guarded import Careful
from thunkad.normal.shared_names import NOTHING, SharedNames
from thunkad.normal.suspended_class import holding

#: In which way a form was made: ``attempt``, ``careful`` and ``shared`` of :func:`normal_form`.
Way = tuple[bool, Careful, SharedNames]
Forms = dict[tuple[int, Way], tuple[weakref.ref[types.CodeType], n.Function]]
_forms: Forms = {}
#: Those with functions inside, which are worked on by what they are and find their names where they were made: each
#: function of the user's with this code has a copy of its own.
_common: Forms = {}
_lock = threading.Lock()
PLAIN: Way = (False, False, NOTHING)


def normal_form(fn: Any, attempt: bool = False, careful: Careful = False, shared: SharedNames = NOTHING) -> n.Function:
    """``fn`` in normal form with versions; see :func:`thunkad.pipeline.normal_form`."""
    code, way = fn.__code__, (attempt, careful, shared)
    found = _forms.get((id(code), way))
    if found is not None and found[0]() is code:
        return found[1]
    own: dict[Any, n.Function] = found_attached(fn)
    if ("form", code, way) in own:
        return own["form", code, way]
    common = _common.get((id(code), way))
    if common is not None and common[0]() is code:
        form = walk.with_own_functions(common[1])
    else:
        form = pipeline.normal_form(fn, *way)
        if fn not in holding and not walk.has_functions(form):
            remember(code, form, way)
            return form
        if fn not in holding:
            remember(code, form, way, _common)
    attached(fn)["form", code, way] = form
    return form


def remember(code: types.CodeType, form: n.Function, way: Way = PLAIN, forms: Forms = _forms) -> None:
    """Note what a code object is in normal form."""
    key = id(code), way
    with _lock:
        forms[key] = weakref.ref(code, lambda _: forms.pop(key, None)), form


def remember_made(fn: Any, function: n.Function) -> None:
    """Note the form of ``fn``, which was made inside a compiled function and takes what it captured first."""
    own = [p for p in function.params if p.name not in function.captures]
    params = [*map(n.Param, function.captures), *own]
    remember(fn.__code__, n.Function(function.name, params, function.body, (), function.line, function.filename))
