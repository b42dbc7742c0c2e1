"""What there is to differentiate in a callable: a function, the arguments fixed before its own, its parameters."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

from thunkad.analysis.stand_ins import chooses
from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.records import record
from thunkad.rules.entry import name_of
from thunkad.runtime.maps import applied
from thunkad.runtime.marks import MAP
from thunkad.source.wrapped import python_function


@record
class Target:
    """``fn`` is a Python function, or (``is_library``) any callable that only a rule can differentiate.

    ``before`` and ``keywords`` are the arguments that a method, a callable object or a partial fixes.
    """

    fn: Any
    before: tuple[Any, ...] = ()
    keywords: dict[str, Any] | None = None
    is_library: bool = False

    @property
    def name(self) -> str:
        name = getattr(self.fn, "__name__", "function")
        return name if name.isidentifier() else "function"


def target_of(f: Any) -> Target:
    """Look through methods, partials, callable objects and caches."""
    if hasattr(f, "__thunkad_derivative__") or chooses(f):
        return Target(f, is_library=True)
    if hasattr(f, MAP):
        return Target(applied, (f,), is_library=True)
    if isinstance(f, types.FunctionType):
        if inspect.isgeneratorfunction(f):
            raise UnsupportedSyntaxError(
                f"{name_of(f)} is a generator function and can't be differentiated by itself",
                hint="differentiate a function that uses its values up, or make it return a list",
            )
        if inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f):
            raise UnsupportedSyntaxError(
                f"{name_of(f)} is an async function (a coroutine) and can't be differentiated",
                hint="make it a plain function",
            )
        return Target(f)
    if isinstance(f, types.MethodType):
        inner = target_of(f.__func__)
        return Target(inner.fn, (*inner.before, f.__self__), inner.keywords, inner.is_library)
    if isinstance(f, functools.partial):
        inner = target_of(f.func)
        return Target(inner.fn, (*inner.before, *f.args), {**(inner.keywords or {}), **f.keywords}, inner.is_library)
    wrapped = python_function(f)
    if wrapped is not None:
        return target_of(wrapped)
    if isinstance(f, (staticmethod, classmethod)):
        return target_of(f.__func__)
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the method itself is looked at
    if isinstance(call, types.FunctionType) and not isinstance(f, type):
        return Target(call, (f,))
    if not callable(f):
        raise TypeError(f"a derivative is taken of a function, not of {type(f).__name__!r}")
    return Target(f, is_library=True)


def own_call(fn: types.FunctionType) -> n.Function:
    """A function in normal form with the parameters of ``fn`` that only calls it: for one that has a rule itself."""
    args: list[n.Expr] = []
    kwargs: list[tuple[str | None, n.Expr]] = []
    params = []
    for name, p in inspect.signature(fn, follow_wrapped=False).parameters.items():
        params.append(n.Param(name))
        if p.kind is p.KEYWORD_ONLY:
            kwargs.append((name, n.Name(name)))
        elif p.kind is p.VAR_KEYWORD:
            kwargs.append((None, n.Name(name)))
        else:
            args.append(n.Star(n.Name(name)) if p.kind is p.VAR_POSITIONAL else n.Name(name))
    result = "value" if "value" not in {p.name for p in params} else "value_of_call"
    call = n.Call(n.Ref(fn.__name__ if fn.__name__.isidentifier() else "function", fn), tuple(args), tuple(kwargs))
    line = fn.__code__.co_firstlineno
    body: list[n.Stmt] = [n.Assign(result, call, line=line), n.Return(n.Name(result), line=line)]
    name = fn.__name__ if fn.__name__.isidentifier() else "function"
    return n.Function(name, params, body, (), line, fn.__code__.co_filename)


def library_call(fn: Any, count: int, keywords: tuple[str, ...]) -> n.Function:
    """A function in normal form that only calls ``fn`` with ``count`` positional arguments and these keywords."""
    names = [f"x{k}" if count > 1 else "x" for k in range(count)]
    params = [n.Param(p) for p in (*names, *keywords)]
    short = getattr(fn, "__name__", "function")
    call = n.Call(n.Ref(short, fn), tuple(map(n.Name, names)), tuple((k, n.Name(k)) for k in keywords))
    body: list[n.Stmt] = [n.Assign("y", call), n.Return(n.Name("y"))]
    return n.Function(short if short.isidentifier() else "function", params, body)
