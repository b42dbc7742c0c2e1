"""The class for a generator function: made once, with methods that have a source like any function of the user's."""

from __future__ import annotations

import ast
import copy
import types
import weakref
from collections.abc import Iterator
from typing import Any, NoReturn

from thunkad.errors import UnsupportedSyntaxError
from thunkad.lifetimes import attached
from thunkad.normal.scope import Scope
from thunkad.normal.scopes import Scopes
from thunkad.normal.stops import turn_stops
from thunkad.normal.suspended import Suspension
from thunkad.runtime import attributes, exceptions, iterators, lazy, suspended
from thunkad.source.functions import Source, find_source, note_source
from thunkad.tree.parse import deep_recursion, gast, quiet

_HELPERS: dict[str, Any] = {
    "begun": suspended.begun, "behind": attributes.read_behind,
    "CLOSING": suspended.CLOSING, "Thrown": suspended.Thrown, "EXHAUSTED": iterators.EXHAUSTED,
    "delegated": suspended.delegated,
    "drawn": iterators.drawn, "enter": exceptions.enter, "leave": exceptions.leave,
    "shown": exceptions.shown, "traceback_of": exceptions.traceback_of, "following": iterators.following,
    "handed": suspended.handed, "iter": iter, "returned": suspended.returned, "zipped": lazy.zipped,
    "enumerated": lazy.enumerated, "mapped": lazy.mapped, "filtered": lazy.filtered,
}  # fmt: skip
#: Functions with a normal form of their own, not one by code object: it refers to classes with their closure variables.
holding: weakref.WeakSet[Any] = weakref.WeakSet()


def class_of(fn: Any, managed: bool = False) -> type:
    """The class whose objects stand for what the generator function ``fn`` returns.

    ``managed``: it makes a context manager.

    Raises
    ------
    UnsupportedSyntaxError
        ``fn`` yields where that can't be written out.
    """
    known = attached(fn)
    key = "suspended", fn.__code__, managed
    found = known.get(key)
    init: Any = None if found is None else found.__init__
    if found is None or (init.__defaults__, init.__kwdefaults__) != (fn.__defaults__, fn.__kwdefaults__):
        source = find_source(fn)
        with deep_recursion():
            turn_stops(source.node)
            scopes = Scopes(source.node)
            found = known[key] = _made(source, scopes.root, scopes, None, fn.__name__, managed)
        found.generator = fn
        init = found.__init__  # type: ignore[misc]
        init.__defaults__, init.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
    return found  # type: ignore[no-any-return]


def class_inside(
    source: Source, scope: Scope, scopes: Scopes, captured: dict[str, bool], managed: bool = False
) -> type:
    """The same for a generator function that is made inside the function of ``source``.

    ``captured``: the variables that it captures, and whether they live in cells; ``__init__`` takes them after all
    parameters.
    """
    node = scope.node
    if not hasattr(node, "suspended"):
        node.suspended = _made(source, scope, scopes, captured, node.name, managed)
        holding.add(source.function)
    return node.suspended  # type: ignore[no-any-return]


def _made(
    source: Source, scope: Scope, scopes: Scopes, captured: dict[str, bool] | None, name: str, managed: bool = False
) -> type:
    def refuse(node: Any, message: str, hint: str) -> NoReturn:
        raise UnsupportedSyntaxError(f"{message}.", source.place(node.lineno), hint)

    suspension = Suspension(scope, scopes, captured, refuse, managed)
    helpers = {spelling: types.CellType(_HELPERS[helper]) for helper, spelling in suspension.names.items()}
    fn = source.function
    free = {**dict(zip(fn.__code__.co_freevars, fn.__closure__ or ())), **helpers}
    members: dict[str, Any] = {}
    for node in suspension.methods:
        gast.fix_missing_locations(node)
        code = compiled_inside(node, source.filename, tuple(free))
        cells = tuple(free[x] for x in code.co_freevars)
        method = types.FunctionType(code, fn.__globals__, code.co_name, None, cells)
        method.__module__, method.__qualname__ = fn.__module__, f"{name}.{code.co_name}"
        named = zip(node.args.kwonlyargs, node.args.kw_defaults)
        method.__kwdefaults__ = {p.id: None for p, d in named if d is not None}
        method.__defaults__ = (None,) * len(node.args.defaults) or None
        note_source(code, Source(node, source.filename, node.lineno, code.co_name, source._lines))
        members[code.co_name] = method
    members |= {"__module__": fn.__module__, "__qualname__": name}
    base: type[suspended.Suspended]
    if managed:
        base = suspended.Catching if suspension.catches else suspended.Managed
    else:
        base = suspended.Closing if suspension.cleans_up else suspended.Suspended
    return type(name, (base,), members)


def compiled_inside(node: Any, filename: str, free: tuple[str, ...]) -> types.CodeType:
    """The code of a function whose free variables are closure variables if they are among ``free``."""
    text = f"def factory({', '.join(free)}):\n pass"
    module = gast.parse(text)
    module.body[0].body = [copy.deepcopy(node)]
    with quiet():
        code = compile(ast.fix_missing_locations(gast.gast_to_ast(module)), filename, "exec", dont_inherit=True)
    return next(c for c in _codes(code) if c.co_name == node.name)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield inner
            yield from _codes(inner)
