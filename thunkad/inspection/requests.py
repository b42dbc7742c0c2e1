"""Which derivative is meant: by example arguments, else the one last used, else for numbers and arrays of any sort."""

from __future__ import annotations

import inspect
from typing import Any

from thunkad.compiled.binding import signature_of
from thunkad.compiled.entry import ArgNames, ArgNums, Call, is_derivative, open_call, parameters_of, wanted_places
from thunkad.compiled.root import Key, Root, root_of
from thunkad.compiled.target import Target, target_of
from thunkad.errors import ArgumentError
from thunkad.kinds.lattice import NUMERIC, Kind, Mapping, Sequence, may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.records import record

MODES = ("grad", "value_and_grad", "vjp", "jvp")


@record
class Request:
    """One derivative of one function."""

    root: Root
    key: Key


def request(
    f: Any, argnums: ArgNums, argnames: ArgNames, mode: str, args: tuple[Any, ...] | None, kwargs: dict[str, Any] | None
) -> Request:
    """The derivative that these arguments of :func:`thunkad.adjoint_source` mean."""
    if mode not in MODES:
        raise ArgumentError(f"mode: {mode!r} is none of {', '.join(MODES)}")
    if args is not None or kwargs is not None:
        call, given = open_call(f, tuple(args or ()), dict(kwargs or {})), len(args or ())
        return _key(f, call, call.kinds(), argnums, argnames, mode, given)
    call = _without_arguments(f)
    generic = tuple(call.values)  # the kinds themselves stand in for the values
    last = call.root.last
    usable = last is not None and last.library == call.library
    asked = _key(f, call, last.kinds if usable and last else generic, argnums, argnames, mode, len(call.positional))
    for key in reversed(list(call.root.specializations)):
        if _same_question(key, asked.key):
            if last is not None and _same_question(last, asked.key):
                return Request(call.root, last)
            return Request(call.root, key)
    return asked


def _same_question(a: Key, b: Key) -> bool:
    return (a.product, a.wanted, a.single) == (b.product, b.wanted, b.single)


def _key(
    f: Any, call: Call, kinds: tuple[Kind, ...], argnums: ArgNums, argnames: ArgNames, mode: str, given: int
) -> Request:
    if mode == "vjp":
        of = dict(zip(call.names, kinds))
        wanted = tuple(dict.fromkeys(name for name, _ in call.positional if may_have_tangent(of[name])))
        return Request(call.root, Key(mode, wanted, False, False, kinds, call.library))
    places, single = wanted_places(call, f, argnums, argnames, given)
    wanted = tuple(dict.fromkeys(name for name, _ in places))
    if mode == "jvp":
        wanted = tuple(name for name in call.names if name in wanted)  # tangents come in the order of the parameters
        return Request(call.root, Key(mode, wanted, False, False, kinds, call.library))
    direct = len(wanted) == len(places) and all(inside is None for _, inside in places)
    return Request(call.root, Key(mode, wanted, single and direct, False, kinds, call.library))


def _without_arguments(f: Any) -> Call:
    """A call of ``f`` with every parameter given, whose values are the kinds of the parameters."""
    target = target_of(f)
    if target.is_library:
        return _library(f, target)
    skip = len(target.before)
    parameters = signature_of(target.fn).parameters
    names = tuple(parameters)
    kinds: list[Kind] = []
    for k, (name, p) in enumerate(parameters.items()):
        if k < skip and p.kind is not p.VAR_POSITIONAL:
            kinds.append(kind_of(target.before[k]))
        elif name in (target.keywords or {}):
            kinds.append(kind_of((target.keywords or {})[name]))
        else:
            kinds.append(generic_kind(p))
    positional: list[tuple[str, int | None]] = [
        (name, None) for name, p in parameters.items() if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)
    ]
    by_name: dict[str, tuple[str, str | None]] = {name: (name, None) for name in names}
    return Call(root_of(target.fn), tuple(kinds), names, None, positional[skip:], by_name)


def generic_kind(p: inspect.Parameter) -> Kind:
    """What is assumed of a parameter about which nothing is known."""
    if p.kind is p.VAR_POSITIONAL:
        return Sequence(NUMERIC, tuple)
    if p.kind is p.VAR_KEYWORD:
        return Mapping(None, NUMERIC)
    if p.default is not p.empty:
        kind = kind_of(p.default)
        if not may_have_tangent(kind):
            return kind  # a flag, an axis, a name
    return NUMERIC


def _library(f: Any, target: Target) -> Call:
    known = parameters_of(target.fn)
    count = None if known is None else len(known[0])
    last = root_of(target.fn).last
    if count is None and last is not None and last.library is not None:
        count = last.library[0]
    if count is None and is_derivative(target.fn):
        raise ArgumentError(f"{f.__name__} can be called with different numbers of arguments: pass args=(…)")
    if count is None:
        try:
            parameters = inspect.signature(target.fn).parameters.values()
        except (TypeError, ValueError):
            raise ArgumentError(f"{target.name} doesn't say what it takes: pass args=(…)") from None
        count = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    names = tuple(f"x{k}" if count > 1 else "x" for k in range(count))
    return Call(root_of(target.fn), (NUMERIC,) * count, names, (count, ()), [(name, None) for name in names], {})


def generic_request(f: Any) -> Request:
    """The derivative for all arguments, of which nothing is known but that they are numbers and arrays."""
    call = _without_arguments(f)
    return _key(f, call, tuple(call.values), None, None, "vjp", len(call.positional))
