"""The typed signature of a rule, read from its annotations, and which of two signatures is the more specific.

A signature has one *type* for each leading positional parameter: a class, an :class:`ArrayOf`, or a tuple of these (a
union); ``object`` where nothing is said.  An annotated ``*args`` is a :class:`Rest` at its end.
"""

from __future__ import annotations

import abc
import contextlib
import inspect
import sys
import types
import typing
from typing import Any

import numpy as np

from thunkad.errors import RuleError
from thunkad.records import record
from thunkad.rules.entry import Entry, name_of


@record(frozen=True)
class ArrayOf:
    """Arrays whose elements are of a NumPy scalar type: ``numpy.typing.NDArray[np.float32]``."""

    scalar: type

    @property
    def __name__(self) -> str:
        return f"NDArray[{self.scalar.__name__}]"


@record(frozen=True)
class Rest:
    """The type of every further argument: ``*args: float``."""

    each: Any

    @property
    def __name__(self) -> str:
        return f"*{' | '.join(x.__name__ for x in _parts(self.each))}"


Type = Any
Signature = tuple[Type, ...]


def signature_types(entry: Entry) -> Signature:
    """The typed signature of a registration; read from the rule's annotations when it is first asked for."""
    if entry.types is None:
        entry.types = _read(entry, None)
    return entry.types


def read_early(entry: Entry, depth: int) -> None:
    """Read the signature while the rule is registered, while names of the function that registers it can be seen."""
    if entry.types is None and getattr(entry.function, "__annotations__", None):
        entry.types = _read(entry, sys._getframe(depth + 1).f_locals)


def as_signature(given: tuple[Any, ...], entry: Entry | None = None) -> Signature:
    """Types that a user listed, as a signature."""
    out = [as_type(t, entry) for t in given]
    while out and out[-1] is object:
        out.pop()
    return tuple(out)


def _read(entry: Entry, names: Any) -> Signature:
    function = entry.function
    annotations = getattr(function, "__annotations__", None)
    if not annotations or all(v in ("Any", Any) for k, v in annotations.items() if k != "return"):
        return ()
    if names is None:
        names = {}
    try:
        hints = typing.get_type_hints(function, localns={**names, **_captures(function)})
    except Exception as error:
        raise RuleError(
            f"the annotations of the rule for {name_of(entry.target)} can't be read: {error}",
            entry.place,
            "annotate with classes that exist when the rule is registered, or leave the annotation out",
        ) from error
    parameters = [p for p in entry.signature().parameters.values() if p.kind is not p.KEYWORD_ONLY]
    return as_signature(tuple(_annotated(p, hints.get(p.name, object)) for p in parameters), entry)


def _annotated(parameter: inspect.Parameter, hint: Any) -> Any:
    return Rest(hint) if parameter.kind is parameter.VAR_POSITIONAL else hint


def _captures(function: Any) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or ()) if inspect.isfunction(function) else ()
    out = {}
    for name, cell in cells:
        with contextlib.suppress(ValueError):  # not bound yet
            out[name] = cell.cell_contents
    return out


def as_type(annotation: Any, entry: Entry | None = None) -> Type:
    """The type that an annotation stands for.

    Raises
    ------
    RuleError
        It is no class, union, or array type.
    """
    if annotation is Any or annotation is inspect.Parameter.empty or _is_array_like(annotation):
        return object
    if annotation is None:
        return type(None)
    if isinstance(annotation, ArrayOf):
        return annotation
    if isinstance(annotation, Rest):
        each = as_type(annotation.each, entry)
        return object if each is object else Rest(each)
    if isinstance(annotation, typing.TypeVar):
        if annotation.__constraints__:
            return _union(annotation.__constraints__, entry)
        return object if annotation.__bound__ is None else as_type(annotation.__bound__, entry)
    if hasattr(annotation, "__supertype__"):  # typing.NewType
        return as_type(annotation.__supertype__, entry)
    origin = typing.get_origin(annotation)
    if hasattr(annotation, "__value__"):  # `type X = …`, with or without parameters
        return as_type(annotation.__value__ if origin is None else origin.__value__[typing.get_args(annotation)], entry)
    if isinstance(annotation, tuple):
        return _union(annotation, entry)
    if origin is typing.Union or origin is types.UnionType:
        return _union(typing.get_args(annotation), entry)
    if origin is typing.Annotated:
        return as_type(typing.get_args(annotation)[0], entry)
    if origin is typing.Literal:
        return _union(tuple(type(v) for v in typing.get_args(annotation)), entry)
    if isinstance(origin, type) and issubclass(origin, np.ndarray):
        return _array(annotation, entry)
    found = origin if isinstance(origin, type) else annotation
    if isinstance(found, type) and not _is_data_protocol(found):
        return found
    raise RuleError(
        f"{annotation!r} is no type that rules can be chosen by",
        None if entry is None else entry.place,
        "use classes, unions of classes, numpy.typing.NDArray[…], or Any",
    )


def _is_array_like(annotation: Any) -> bool:
    module = sys.modules.get("numpy.typing")
    return module is not None and annotation is getattr(module, "ArrayLike", None)


def _is_data_protocol(cls: type) -> bool:
    # issubclass is an error for protocols that aren't checkable at run time
    if not getattr(cls, "_is_protocol", False):
        return False
    try:
        issubclass(int, cls)
    except TypeError:
        return True
    return False


def _array(annotation: Any, entry: Entry | None) -> Type:
    """``np.ndarray[shape, np.dtype[scalar]]``"""
    parameters = typing.get_args(annotation)
    scalar = typing.get_args(parameters[1]) if len(parameters) > 1 else ()
    wanted = as_type(scalar[0], entry) if scalar else object
    if wanted is object or wanted is np.generic:
        return np.ndarray
    if isinstance(wanted, tuple):
        return tuple(ArrayOf(s) for s in wanted)
    return ArrayOf(wanted)


def _union(parts: tuple[Any, ...], entry: Entry | None) -> Type:
    out: list[Any] = []
    for part in parts:
        found = as_type(part, entry)
        out.extend(found if isinstance(found, tuple) else (found,))
    if object in out:
        return object
    unique = [
        t
        for k, t in enumerate(out)
        if not any(narrower(t, o) and (k > j or not narrower(o, t)) for j, o in enumerate(out) if j != k)
    ]
    return unique[0] if len(unique) == 1 else tuple(sorted(unique, key=lambda t: (t.__name__, id(t))))


# ---------------------------------------------------------------- order


def narrower(special: Type, general: Type) -> bool:
    """Whether every value of the type ``special`` is one of the type ``general``."""
    if isinstance(special, tuple):
        return all(narrower(s, general) for s in special)
    if isinstance(general, tuple):
        return any(narrower(special, g) for g in general)
    if isinstance(special, ArrayOf):
        if isinstance(general, ArrayOf):
            return issubclass(special.scalar, general.scalar)
        return issubclass(np.ndarray, general)
    return not isinstance(general, ArrayOf) and accepts(general, special)


#: What an annotation stands for beside its own class: as type checkers read it (PEP 484).
_TOWER: dict[Any, tuple[type, ...]] = {float: (int,), complex: (float, int)}


def accepts(annotation: type, cls: type) -> bool:
    """Whether a parameter annotated with a class takes objects of class ``cls``; ``float`` takes an ``int`` too."""
    return issubclass(cls, annotation) or issubclass(cls, _TOWER.get(annotation, ()))


def covers(general: Signature, special: Signature) -> bool:
    """Whether everything that ``special`` applies to is covered by ``general``."""
    longest = _longest(general, special)
    return all(narrower(s, g) for s, g in zip(spread(special, longest), spread(general, longest)))


def meet(a: Signature, b: Signature) -> Signature | None:
    """What both signatures apply to, as far as that can be seen; None if it can't, or if there is nothing."""
    out = []
    longest = _longest(a, b)
    for s, t in zip(spread(a, longest), spread(b, longest)):
        if narrower(s, t):
            out.append(s)
        elif narrower(t, s):
            out.append(t)
        else:
            both = [x for x in _parts(s) if narrower(x, t)] + [x for x in _parts(t) if narrower(x, s)]
            if not both:
                return None
            out.append(_union(tuple(both), None))
    if longest > max(len(a), len(b)):
        out[-1] = Rest(out[-1])
    return as_signature(tuple(out))


def spread(signature: Signature, length: int) -> Signature:
    """The types of ``length`` arguments, or of those that the signature names if they are more."""
    fixed, rest = signature, object
    if signature and isinstance(signature[-1], Rest):
        fixed, rest = signature[:-1], signature[-1].each
    return (*fixed, *(rest,) * (length - len(fixed)))


def named_length(signature: Signature) -> int:
    """How many parameters the signature has a type for, ``*args`` left out."""
    return len(signature) - (bool(signature) and isinstance(signature[-1], Rest))


def _longest(a: Signature, b: Signature) -> int:
    """As many places as tell two signatures apart: one more than they name if ``*args`` of one is typed."""
    longest = max(len(a), len(b))
    return longest + any(isinstance(t, Rest) for t in (*a[-1:], *b[-1:]))


def _parts(t: Type) -> tuple[Any, ...]:
    return t if isinstance(t, tuple) else (t,)


def _classes(t: Type) -> tuple[Any, ...]:
    return _parts(t.each if isinstance(t, Rest) else t)


def is_virtual(signature: Signature) -> bool:
    """Whether a class may come to be covered, or cease to be, without an edit of the table (abstract classes)."""
    return any(isinstance(x, abc.ABCMeta) for t in signature for x in _classes(t))


def show(signature: Signature) -> str:
    """``(ndarray, float | int)``"""
    return f"({', '.join(' | '.join(x.__name__ for x in _parts(t)) for t in signature)})"
