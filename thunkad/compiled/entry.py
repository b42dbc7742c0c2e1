"""From the user's call to a specialization: arguments bound, wanted parameters named, kinds observed, result picked."""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.analysis.special import iterating_class
from thunkad.analysis.stand_ins import chooses
from thunkad.by_name import qualified_name
from thunkad.compiled.binding import bind, shape_of
from thunkad.compiled.entrance import Entrance
from thunkad.compiled.root import Kept, Key, Root, Specialization, root_of
from thunkad.compiled.target import Target, target_of
from thunkad.compiled.where import annotate
from thunkad.errors import ArgumentError, NonDifferentiableArgumentError
from thunkad.kinds.lattice import Instance, Kind, Known, Opaque, may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.lifetimes import attached, carries
from thunkad.records import record
from thunkad.runtime.containers import SETS
from thunkad.runtime.marks import MAP
from thunkad.runtime.sets import of_objects
from thunkad.tangents import unthunk

ArgNums = int | tuple[int, ...] | None
ArgNames = str | tuple[str, ...] | None


@record
class Call:
    """One call of a derivative: values in the order of the parameters, and what is asked for."""

    root: Root
    values: tuple[Any, ...]
    names: tuple[str, ...]
    library: tuple[int, tuple[str, ...]] | None
    # For each positional argument of the user's: its parameter, its place in *args.
    positional: list[tuple[str, int | None]]
    keywords: dict[str, tuple[str, str | None]]  # the same for keyword arguments (place in **kwargs)

    def kinds(self) -> tuple[Kind, ...]:
        found = tuple(map(kind_of, self.values))
        for name, kind in zip(self.names, found):
            check_followed(name, kind)
        return found


def check_followed(name: str, kind: Kind) -> None:
    """An argument that says itself how it is iterated over is refused: what is unpacked of it may be anything."""
    cls = iterating_class(kind)
    if cls is not None:
        raise NonDifferentiableArgumentError(
            f"the argument {name!r} is or holds a named tuple of the class {cls.__qualname__}, which defines __iter__",
            hint="use a class without it, and a method that returns a list",
        )


def open_call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """Bind the arguments of a call of ``f``."""
    target = Target(f) if _is_plain(f) else target_of(f)
    given = (*target.before, *args)
    keywords = {**target.keywords, **kwargs} if target.keywords else kwargs
    skip = len(target.before)
    if target.is_library:
        return _library_call(target, given, keywords, skip)
    return call_of(root_of(target.fn), bind(target.fn, given, keywords), skip)


def is_derivative(f: Any) -> bool:
    """Whether ``f`` was returned by :func:`thunkad.grad` or its like."""
    return hasattr(f, "__thunkad_derivative__")


def _is_plain(f: Any) -> bool:
    plain = type(f) is types.FunctionType and not f.__code__.co_flags & _REFUSED
    return plain and not is_derivative(f) and not hasattr(f, MAP) and not chooses(f)


_REFUSED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def call_of(root: Root, values: tuple[Any, ...], skip: int) -> Call:
    """The call of the function of ``root`` with these values of its parameters, the first ``skip`` fixed before."""
    shape = shape_of(root.fn)
    positional: list[tuple[str, int | None]] = shape.places[skip:]  # type: ignore[assignment]
    keywords: dict[str, tuple[str, str | None]] = shape.keywords  # type: ignore[assignment]
    if not shape.is_plain:
        by_name = dict(zip(shape.names, values))
        if shape.var_positional is not None:
            entries = [(shape.var_positional, k) for k in range(len(by_name[shape.var_positional]))]
            positional = [*positional, *entries[max(0, skip - len(shape.positional)) :]]
        if shape.var_keyword is not None:
            keywords = {**{k: (shape.var_keyword, k) for k in by_name[shape.var_keyword]}, **keywords}
    return Call(root, values, shape.names, None, positional, keywords)


def _library_call(target: Target, given: tuple[Any, ...], keywords: dict[str, Any], skip: int) -> Call:
    names = [f"x{k}" if len(given) > 1 else "x" for k in range(len(given))]
    positional: list[tuple[str, int | None]] = [(name, None) for name in names]
    extra: dict[str, tuple[str, str | None]] = {k: (k, None) for k in keywords}
    everything = (*given, *keywords.values())
    library = (len(given), tuple(keywords))
    return Call(root_of(target.fn), everything, (*names, *keywords), library, positional[skip:], extra)


def check_asked(argnums: ArgNums, argnames: ArgNames, default: ArgNums = 0) -> None:
    """Refuse what names no arguments, or names them twice over."""
    if argnames is not None:
        names = (argnames,) if isinstance(argnames, str) else argnames
        if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
            raise ArgumentError(
                f"argnames: {argnames!r} is not a name or a tuple of names",
                hint="argnums=… takes numbers" if _are_numbers(argnames) else "",
            )
        if argnums is not None and argnums != default:
            raise ArgumentError(
                f"argnums={argnums!r} and argnames={argnames!r} were both given",
                hint="ask for arguments by one of them",
            )
    elif not _are_numbers(argnums):
        hint = "argnames=… takes names" if isinstance(argnums, (str, tuple, list)) else ""
        if isinstance(argnums, np.ndarray):
            hint = "which arguments are meant; adjoint_source takes their values as args=(…), grad(f) when called"
        raise ArgumentError(f"argnums: {argnums!r} is not an integer or a tuple of integers", hint=hint)


def _are_numbers(argnums: Any) -> bool:
    numbers = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    return all(_is_number(k) for k in numbers)


def _is_number(k: Any) -> bool:
    if isinstance(k, (bool, np.bool_, np.ndarray)):
        return False
    try:
        operator.index(k)
    except TypeError:
        return False
    return True


def wanted_places(
    call: Call, f: Any, argnums: ArgNums, argnames: ArgNames, given: int
) -> tuple[list[tuple[str, Any]], bool]:
    """The parameters that are asked for, with the place in ``*args`` or ``**kwargs``; whether it is a single one."""
    check_asked(argnums, argnames)
    if argnames is not None:
        single = isinstance(argnames, str)
        names = (argnames,) if single else tuple(argnames)
        for name in names:
            if name not in call.keywords and (name, None) not in call.positional:
                raise ArgumentError(f"argnames: {_name(f)} has no parameter {name!r}; it has {', '.join(call.names)}")
        return [call.keywords.get(name, (name, None)) for name in names], single
    single = not isinstance(argnums, (tuple, list))
    numbers: tuple[Any, ...] = (argnums,) if single else tuple(argnums)
    places = []
    for number in numbers:
        at = number + given if number < 0 else number
        if not 0 <= at < len(call.positional):
            raise ArgumentError(
                f"argnums: {number} is out of range; {_name(f)} was called with {given} positional arguments"
            )
        places.append(call.positional[at])
    return places, single


def _name(f: Any) -> str:
    return getattr(f, "__name__", type(f).__name__)


def specialized(
    call: Call, product: str, places: list[tuple[str, Any]], single: bool, has_aux: bool, kinds: tuple[Kind, ...]
) -> tuple[Kept, tuple[str, ...]]:
    wanted = tuple(dict.fromkeys(name for name, _ in places))
    direct = len(wanted) == len(places) and all(inside is None for _, inside in places)
    key = Key(product, wanted, single and direct, has_aux, kinds, call.library)
    return call.root.ready(key), wanted


def specialize(
    call: Call, product: str, places: list[tuple[str, Any]], single: bool, has_aux: bool, kinds: tuple[Kind, ...]
) -> tuple[Specialization, tuple[str, ...]]:
    """The compiled derivative for a call and the parameters that it is for."""
    kept, wanted = specialized(call, product, places, single, has_aux, kinds)
    return kept.specialization, wanted


def check_wanted(call: Call, places: list[tuple[str, Any]], f: Any) -> None:
    """Each wanted argument must have a derivative."""
    by_name = dict(zip(call.names, call.values))
    for name, inside in places:
        value = by_name[name] if inside is None else by_name[name][inside]
        kind = kind_of(value)
        closed = not of_objects(value) if isinstance(value, SETS) else _is_closed(kind)
        if may_have_tangent(kind) and not isinstance(kind, (Known, Opaque)) and not closed:
            continue
        if isinstance(value, (list, tuple, dict)) and not len(value):
            continue
        raise NonDifferentiableArgumentError(
            f"the argument {name!r} of {_name(f)} has no derivative: it is {_described(value)}",
            hint="ask for other arguments with argnums or argnames, or pass floats, arrays or containers of these",
        )


def _is_closed(kind: Kind) -> bool:
    """Whether a value is of a class whose objects have no attributes or items of a fixed place: an iterator."""
    if not isinstance(kind, Instance) or issubclass(kind.cls, (list, dict)):
        return False
    return not any("__slots__" in c.__dict__ or "__dict__" in c.__dict__ for c in kind.cls.__mro__)


def _described(value: Any) -> str:
    if value is None:
        return "None"
    return f"a value of type {type(value).__name__}" + (f" and dtype {value.dtype}" if hasattr(value, "dtype") else "")


class Run:
    """A call of compiled code, of which parts may be called later: with the late world in which it began.

    An error that generated code raises is told where in the user's source it belongs.
    """

    def __init__(self, specialization: Specialization) -> None:
        self.specialization, self.late = specialization, specialization.late

    def first(self, values: tuple[Any, ...]) -> Any:
        """What the compiled code returns."""
        return self.annotated(lambda: self.specialization.run(values, self.late))

    def rest(self, call: Callable[..., Any], *values: Any) -> Any:
        """What a part of that returns."""
        if self.late is None:
            return self.annotated(lambda: call(*values))
        return self.annotated(lambda: self.specialization.world.run_in(self.late, call, values))

    def forced(self, cotangent: Any, inside: Any) -> Any:
        """An entry of a pullback's result, computed now (``inside``: which part)."""
        found = self.rest(unthunk, cotangent)
        return found if inside is None else found[inside]

    def annotated(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except Exception as error:
            annotate(error)
            raise


class Gradient:
    """The derivative that :func:`thunkad.grad` or :func:`thunkad.value_and_grad` of ``f`` stands for."""

    def __init__(
        self, f: Any, product: str, argnums: ArgNums, argnames: ArgNames, has_aux: bool, skip: int = 0
    ) -> None:
        self.f, self.product, self.argnums, self.argnames, self.has_aux = f, product, argnums, argnames, has_aux
        self.skip = skip  # leading parameters that are fixed before, if ``f`` is a plain function

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = open_call(self.f, args, kwargs)
        del call.positional[: self.skip]
        kept, places, single = self.found(call, len(args) - self.skip)
        specialization = kept.specialization
        found = Run(specialization).first(call.values)
        wanted = specialization.key.wanted
        if not specialization.key.single and (
            single or len(places) != len(wanted) or any(i is not None for _, i in places)
        ):
            found = _picked(found, self.product, self.has_aux, places, wanted, single)
        return found

    def found(self, call: Call, given: int) -> tuple[Kept, list[tuple[str, Any]], bool]:
        """The compiled derivative for a call, the places that it is for, and whether it is a single one."""
        places, single = wanted_places(call, self.f, self.argnums, self.argnames, given)
        check_wanted(call, places, self.f)
        kept, _ = specialized(call, self.product, places, single, self.has_aux, call.kinds())
        return kept, places, single

    def ready(self, values: tuple[Any, ...]) -> Kept:
        """The compiled derivative for these values of the parameters of a plain function."""
        if self.f.__code__.co_flags & _REFUSED:
            target_of(self.f)  # says why
        call = call_of(root_of(self.f), values, self.skip)
        return self.found(call, len(call.positional))[0]

    def is_simple(self) -> bool:
        """Whether it is clear without a call which parameters are meant, each once."""
        if self.argnames is not None:
            return isinstance(self.argnames, str) or len(set(self.argnames)) == len(self.argnames)
        numbers = self.argnums if isinstance(self.argnums, (tuple, list)) else (self.argnums,)
        return all(type(k) is int and k >= 0 for k in numbers) and len(set(numbers)) == len(numbers)


def gradient(f: Any, product: str, argnums: ArgNums, argnames: ArgNames, has_aux: bool) -> Callable[..., Any]:
    """The function that :func:`thunkad.grad` and :func:`thunkad.value_and_grad` return."""
    check_asked(argnums, argnames)
    fn, fixed = (f.__func__, (f.__self__,)) if isinstance(f, types.MethodType) else (f, ())
    general = Gradient(fn, product, argnums, argnames, has_aux, len(fixed))
    if type(fn) is types.FunctionType and general.is_simple() and not is_derivative(fn):
        shape = shape_of(fn)
        if shape.is_plain and len(shape.positional) >= len(fixed):
            return _entered(general, fixed)
    general = Gradient(f, product, argnums, argnames, has_aux)
    if general.is_simple() and (is_derivative(f) or isinstance(f, np.ufunc)):
        return _of_library(OfLibrary(f, product, argnums, argnames, has_aux))

    def derivative(*args: Any, **kwargs: Any) -> Any:
        return general(args, kwargs)

    return derivative


class OfLibrary(Gradient):
    """The same for what has no parameters that could be told: a derivative, a function of the library."""

    def ready(self, values: tuple[Any, ...]) -> Kept:
        call = _library_call(Target(self.f, is_library=True), values, {}, 0)
        return self.found(call, len(values))[0]


def _of_library(general: OfLibrary) -> Callable[..., Any]:
    """A function that has an entrance for each number of arguments that it is called with, or for the only one."""
    only = parameters_of(general.f)
    if only is not None:
        root = root_of(general.f)
        asked = general.product, _hashable(general.argnums), _hashable(general.argnames), general.has_aux
        with root.lock:
            if asked not in root.entries:
                entrance = Entrance(root, 0, general, stand_in(*only))
                root.entries[asked] = entrance, _named(entrance.function(()), general)
        return root.entries[asked][1]  # type: ignore[no-any-return]
    by_count: dict[int, Any] = {}

    def derivative(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            return general(args, kwargs)
        found = by_count.get(len(args))
        if found is None:
            entrance = Entrance(root_of(general.f), 0, general, stand_in(_numbered(len(args))))
            found = by_count[len(args)] = entrance.function(())
        return found(*args)

    return derivative


def parameters_of(f: Any) -> tuple[tuple[str, ...], str] | None:
    """The parameters of ``f`` and what it is called, if it has no others but by keyword; None if that varies."""
    while is_derivative(f):
        f = f.__thunkad_derivative__.f
    if isinstance(f, np.ufunc):
        return _numbered(f.nin), f.__name__
    if type(f) is not types.FunctionType or f.__defaults__ or not shape_of(f).is_plain or shape_of(f).keyword:
        return None
    return shape_of(f).positional, f.__name__


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"x{k}" for k in range(count)) if count > 1 else ("x",)[:count]


@functools.cache
def stand_in(names: tuple[str, ...], called: str = "function") -> types.FunctionType:
    """A Python function with these parameters, which can't be passed by name."""
    namespace: dict[str, Any] = {}
    exec(f"def function({', '.join((*names, '/') if names else ())}): pass", namespace)
    namespace["function"].__name__ = called
    return namespace["function"]  # type: ignore[no-any-return]


def _entered(general: Gradient, fixed: tuple[Any, ...]) -> Callable[..., Any]:
    """The function for a plain function, always the same one; for a method with the object that it is bound to."""
    root = root_of(general.f)
    asked = general.product, _hashable(general.argnums), _hashable(general.argnames), general.has_aux, general.skip
    with root.lock:
        found = root.entries.get(asked)
        if found is None:
            entrance = Entrance(root, general.skip, general)
            found = root.entries[asked] = entrance, None if fixed else _named(entrance.function(()), general)
    entrance, function = found
    if fixed and carries(fixed[0]):  # a class method: always the same function, too
        known = attached(fixed[0])
        if known.get((entrance, root)) is None:
            known[entrance, root] = _named(entrance.function(fixed), general, fixed[0])
        return known[entrance, root]  # type: ignore[no-any-return]
    return function or entrance.function(fixed)


def _named(function: Any, general: Gradient, owner: type | None = None) -> Any:
    """``function`` with a name that it is found by, if that can be."""
    found = general.product, general.argnums, general.argnames, general.has_aux
    name = qualified_name(general.f, *found, owner)
    if name is not None:
        function.__module__, function.__qualname__ = qualified_name.__module__, name
    return function


def _hashable(numbers: Any) -> Any:
    return tuple(numbers) if isinstance(numbers, list) else numbers


def _picked(
    found: Any, product: str, has_aux: bool, places: list[tuple[str, Any]], wanted: tuple[str, ...], single: bool
) -> Any:
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
