"""Callables of the standard library that choose what to do, as Python functions: ``singledispatch``, getters."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.analysis.special import makes_itself
from thunkad.kinds.lattice import Instance, Kind, Known, Num, Sequence, Tuple
from thunkad.lifetimes import attached, written
from thunkad.normal.suspended_class import class_of
from thunkad.runtime.chosen import bound_choice, implementation
from thunkad.runtime.exits import Exits
from thunkad.runtime.memos import remembered

_GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
MANAGING = contextlib.contextmanager(lambda: iter(())).__code__  # type: ignore[attr-defined]
_DISPATCHING = functools.singledispatch(lambda x: x).__code__
_CACHING = functools.lru_cache(None).__code__
_LITERALS = (int, str, bool, float, type(None))
_NUMBERS = (float, int, bool, complex, np.float64, np.float32, np.int64, np.bool_, np.complex128)
_CLASSES = {("python", "real"): (float, int, bool), ("python", "int"): (int, bool), ("array", ""): (np.ndarray,)}
_getters: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def generic(fn: Any) -> Any:
    """``fn``, or what decides for it: the dispatcher behind a ``functools.singledispatchmethod``; None for neither."""
    if isinstance(fn, functools.singledispatchmethod):
        return fn.dispatcher
    return fn if isinstance(fn, types.FunctionType) and fn.__code__ is _DISPATCHING else None


def chooses(fn: Any) -> bool:
    """Whether ``fn`` is a generic function, or a bound method of a generic one."""
    return generic(fn) is not None or bound_choice(fn) is not None


def stands_for(fn: Any, kinds: tuple[Kind, ...] = ()) -> tuple[Any, tuple[type, ...]]:
    """The Python function that does what ``fn`` does, and the classes for which a generic function was asked for it.

    ``kinds``: those of the arguments, of the first of which the choice of a generic function depends.  Without them the
    function makes the choice when it runs.  ``fn`` itself if it is no such callable.
    """
    if type(fn) in _GETTERS:
        return getter(fn) or fn, ()
    if fn is contextlib.ExitStack:
        return Exits, ()
    if getattr(fn, "__code__", None) is MANAGING:
        return class_of(fn.__wrapped__, True), ()
    if getattr(fn, "__code__", None) is _CACHING:  # what functools.lru_cache(size) makes
        return remembered, ()
    dispatcher = generic(fn)
    if dispatcher is None:
        return fn, ()
    place = 0 if dispatcher is fn else 1
    classes = classes_of(kinds[place]) if len(kinds) > place else ()
    found = {dispatcher.dispatch(cls) for cls in classes}
    if len(found) == 1:
        return found.pop(), classes
    return choosing(dispatcher, place), ()


def classes_of(kind: Kind) -> tuple[type, ...]:
    """The classes of which one is that of a value of this kind; none if there is no telling."""
    if isinstance(kind, Num):
        if kind.form == "array":
            return (np.ndarray,)
        return _CLASSES.get((kind.form, kind.field)) or (_NUMBERS if kind.is_scalar else ())
    if isinstance(kind, (Instance, Tuple, Sequence)):
        return (kind.cls,)
    return (type(kind.value),) if isinstance(kind, Known) else ()


def choosing(dispatcher: Any, place: int) -> Any:
    """A generic function that is looked into: it asks ``dispatcher`` for what to call."""

    def write() -> Any:
        name = dispatcher.__name__ if dispatcher.__name__.isidentifier() else "generic"
        before = "self, " * place
        text = (
            f"def {name}({before}argument, *args, **kwargs):\n"
            f"    chosen = implementation(dispatcher, argument)\n"
            f"    return chosen({before}argument, *args, **kwargs)\n"
        )
        return _written(text, name, {"implementation": implementation, "dispatcher": dispatcher}, dispatcher)

    return _once(dispatcher, ("choosing", place), write)


def getter(fn: Any) -> Any:
    """``lambda x: x[1]`` for ``operator.itemgetter(1)``, and so on; None where that can't be written down."""
    _, args, kwargs = parts = parts_of(fn)
    if not all(map(is_literal, (*args, *kwargs.values()))):
        return None
    key = repr(parts)
    found = _getters.get(key)
    if found is None:
        if type(fn) is operator.methodcaller:
            given = ", ".join((*map(repr, args[1:]), *(f"{k}={v!r}" for k, v in kwargs.items())))
            body = f"x.{args[0]}({given})"
        else:
            reads = [f"x[{a!r}]" if type(fn) is operator.itemgetter else f"x.{a}" for a in args]
            body = ", ".join(reads)
        name = type(fn).__name__
        found = _getters[key] = _written(f"def {name}(x):\n    return {body}\n", name, {}, fn)
    return found


def is_made_anew(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether ``fn`` is ``dataclasses.replace``, of an object that code of its class makes."""
    return fn is dataclasses.replace and bool(args) and not makes_itself(type(args[0]))


def made_anew(cls: Any, names: tuple[str, ...]) -> Any:
    """``dataclasses.replace(x, …)`` of an object of this class, as a function of ``x`` and what is given by name."""

    def write() -> Any:
        own = [f.name for f in dataclasses.fields(cls) if f.init]
        parts = {name: f"x.{name}" for name in own} | {name: name for name in names}
        made = ", ".join(f"{name}={value}" for name, value in parts.items())
        text = f"def replaced({', '.join(('x', *names))}):\n    return cls({made})\n"
        return _written(text, "replaced", {"cls": cls}, cls)

    return _once(cls, ("replace", names), write)


def parts_of(fn: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The class of a getter, and what it was made of."""
    made, args = fn.__reduce__()
    if isinstance(made, functools.partial):
        return made.func, (*made.args, *args), made.keywords
    return made, args, {}


def is_literal(x: Any) -> bool:
    """Whether the text ``repr(x)`` stands for ``x``."""
    return type(x) in _LITERALS or (type(x) is tuple and all(map(is_literal, x)))


def _once(owner: Any, what: Any, write: Callable[[], Any]) -> Any:
    """The function that stands for ``what`` of a function or class, and goes with it."""
    known = attached(owner)
    if what not in known:
        known.setdefault(what, write())
    return known[what]


def _written(text: str, name: str, names: dict[str, Any], origin: Any) -> Any:
    """The function of this text, which has a source like any other."""
    namespace = {**names, "__name__": getattr(origin, "__module__", None) or "operator"}
    return written(text, name, namespace, f"{name} of {type(origin).__module__}")
