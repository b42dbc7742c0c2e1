"""From the user's call to a specialization: arguments bound, wanted parameters named, kinds observed, result picked."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from thunkad.compiled.root import Key, Root, Specialization, root_of
from thunkad.compiled.target import Target, target_of
from thunkad.compiled.where import annotate
from thunkad.errors import ArgumentError, NonDifferentiableArgumentError
from thunkad.kinds.lattice import Kind, Known, Opaque, may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.tangents import unthunk

ArgNums = int | tuple[int, ...] | None
ArgNames = str | tuple[str, ...] | None


@dataclass
class Call:
    """One call of a derivative: values in the order of the parameters, and what is asked for."""

    root: Root
    values: tuple[Any, ...]
    names: tuple[str, ...]
    library: tuple[int, tuple[str, ...]] | None
    positional: list[tuple[str, int | None]]  # for each positional argument of the user's: its parameter, its place in *args
    keywords: dict[str, tuple[str, str | None]]  # the same for keyword arguments (place in **kwargs)

    def kinds(self) -> tuple[Kind, ...]:
        return tuple(map(kind_of, self.values))


def signature_of(fn: types.FunctionType) -> inspect.Signature:
    return inspect.signature(fn, follow_wrapped=False)


def open_call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """Bind the arguments of a call of ``f``."""
    target = target_of(f)
    given = (*target.before, *args)
    keywords = {**(target.keywords or {}), **kwargs}
    skip = len(target.before)
    if target.is_library:
        return _library_call(target, given, keywords, skip)
    signature = signature_of(target.fn)
    try:
        bound = signature.bind(*given, **keywords)
    except TypeError as error:
        raise TypeError(f"{target.name}() {error}") from None
    bound.apply_defaults()
    positional: list[tuple[str, int | None]] = []
    extra: dict[str, tuple[str, str | None]] = {}
    for name, p in signature.parameters.items():
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            positional.append((name, None))
        elif p.kind is p.VAR_POSITIONAL:
            positional += [(name, k) for k in range(len(bound.arguments[name]))]
        elif p.kind is p.VAR_KEYWORD:
            extra.update({k: (name, k) for k in bound.arguments[name]})
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            extra[name] = (name, None)
    return Call(root_of(target.fn), tuple(bound.arguments.values()), tuple(bound.arguments), None, positional[skip:], extra)


def _library_call(target: Target, given: tuple[Any, ...], keywords: dict[str, Any], skip: int) -> Call:
    names = [f"x{k}" if len(given) > 1 else "x" for k in range(len(given))]
    positional: list[tuple[str, int | None]] = [(name, None) for name in names]
    extra: dict[str, tuple[str, str | None]] = {k: (k, None) for k in keywords}
    everything = (*given, *keywords.values())
    library = (len(given), tuple(keywords))
    return Call(root_of(target.fn), everything, (*names, *keywords), library, positional[skip:], extra)


def wanted_places(call: Call, f: Any, argnums: ArgNums, argnames: ArgNames, given: int) -> tuple[list[tuple[str, Any]], bool]:
    """The parameters that are asked for, with the place inside ``*args`` or ``**kwargs``; whether it is a single one."""
    if argnames is not None:
        single = isinstance(argnames, str)
        names = (argnames,) if single else tuple(argnames)
        for name in names:
            if name not in call.keywords and (name, None) not in call.positional:
                raise ArgumentError(f"argnames: {_name(f)} has no parameter {name!r}; it has {', '.join(call.names)}")
        return [call.keywords.get(name, (name, None)) for name in names], single
    single = not isinstance(argnums, (tuple, list))
    numbers = (argnums,) if single else tuple(argnums)  # type: ignore[arg-type]
    places = []
    for number in numbers:
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise ArgumentError(f"argnums: {number!r} is not an integer or a tuple of integers")
        at = number + given if number < 0 else number  # type: ignore[operator]
        if not 0 <= at < len(call.positional):
            raise ArgumentError(f"argnums: {number} is out of range; {_name(f)} was called with {given} positional arguments")
        places.append(call.positional[at])
    return places, single


def _name(f: Any) -> str:
    return getattr(f, "__name__", type(f).__name__)


def specialize(
    call: Call, product: str, places: list[tuple[str, Any]], single: bool, has_aux: bool, kinds: tuple[Kind, ...]
) -> tuple[Specialization, tuple[str, ...]]:
    wanted = tuple(dict.fromkeys(name for name, _ in places))
    direct = len(wanted) == len(places) and all(inside is None for _, inside in places)
    key = Key(product, wanted, single and direct, has_aux, kinds, call.library)
    return call.root.specialization(key), wanted


def check_wanted(call: Call, places: list[tuple[str, Any]], f: Any) -> None:
    """Each wanted argument must have a derivative."""
    by_name = dict(zip(call.names, call.values))
    for name, inside in places:
        value = by_name[name] if inside is None else by_name[name][inside]
        kind = kind_of(value)
        if may_have_tangent(kind) and not isinstance(kind, (Known, Opaque)):
            continue
        if isinstance(value, (list, tuple, dict)) and not len(value):
            continue
        raise NonDifferentiableArgumentError(
            f"the argument {name!r} of {_name(f)} has no derivative: it is {_described(value)}",
            hint="ask for other arguments with argnums or argnames, or pass floats",
        )


def _described(value: Any) -> str:
    if value is None:
        return "None"
    return f"a value of type {type(value).__name__}" + (f" and dtype {value.dtype}" if hasattr(value, "dtype") else "")


def run(specialization: Specialization, values: tuple[Any, ...]) -> Any:
    """Call generated code; an error that it raises is told where in the user's source it belongs."""
    try:
        return specialization.run(values)
    except Exception as error:
        annotate(error)
        raise


def forced(cotangent: Any, inside: Any) -> Any:
    """An entry of a pullback's result, computed now (``inside``: which part of it); errors are told like those of :func:`run`."""
    try:
        found = unthunk(cotangent)
    except Exception as error:
        annotate(error)
        raise
    return found if inside is None else found[inside]


def gradient(f: Any, product: str, argnums: ArgNums, argnames: ArgNames, has_aux: bool) -> Callable[..., Any]:
    """The function that :func:`thunkad.grad` and :func:`thunkad.value_and_grad` return."""

    def derivative(*args: Any, **kwargs: Any) -> Any:
        call = open_call(f, args, kwargs)
        places, single = wanted_places(call, f, argnums, argnames, len(args))
        check_wanted(call, places, f)
        specialization, wanted = specialize(call, product, places, single, has_aux, call.kinds())
        found = run(specialization, call.values)
        key = specialization.key
        if not key.single and (single or len(places) != len(wanted) or any(i is not None for _, i in places)):
            found = _picked(found, product, has_aux, places, wanted, single)
        return found

    return derivative


def _picked(found: Any, product: str, has_aux: bool, places: list[tuple[str, Any]], wanted: tuple[str, ...], single: bool) -> Any:
    """The gradients asked for, out of those of whole parameters."""
    before, after = None, None
    if product == "value_and_grad":
        before, gradients = found
    elif has_aux:
        gradients, after = found
    else:
        gradients = found
    by_name = dict(zip(wanted, gradients))
    picked = tuple(by_name[name] if inside is None else by_name[name][inside] for name, inside in places)
    result: Any = picked[0] if single else picked
    if product == "value_and_grad":
        return before, result
    return (result, after) if has_aux else result
