"""The kinds of what the runtime helpers of generated code return, for code that is differentiated again."""

from __future__ import annotations

from thunkad.kinds import results
from thunkad.kinds.lattice import (
    NUMERIC,
    PY_INT,
    UNKNOWN,
    Instance,
    Kind,
    Num,
    Opaque,
    Sequence,
    Tuple,
    item_of,
    join_fields,
)
from thunkad.runtime import arrays, cotangents, dots, elements, segments, shadows
from thunkad.runtime.accumulate import accumulate
from thunkad.tangents import unthunk


def _like_second(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    """A tangent of the second argument, made of the first."""
    given, x = args[0], args[-1] if len(args) < 2 else args[1]
    if not isinstance(x, Num):
        return UNKNOWN
    field = "real" if x.is_real else x.field
    field = join_fields(field, given.field) if isinstance(given, Num) else field
    return Num("scalar" if x.form == "python" else x.form, field, x.ndim)


def _first(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return args[0]


def _sum(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return (
        results.binary("+", args[0], args[1]) if len(args) == 2 and all(isinstance(a, Num) for a in args) else UNKNOWN
    )


def _number(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return NUMERIC


def _entry_dot(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return _like_second([UNKNOWN, args[-1]], {})


def _item_dot(dot: Kind, x: Kind) -> Kind:
    return _like_second([dot, x], {}) if isinstance(x, Num) else dot


def _spread(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    """One tangent for each item of the second argument."""
    if len(args) != 2:
        return UNKNOWN
    dots_, x = args
    if isinstance(x, Tuple):
        known = isinstance(dots_, Tuple) and len(dots_.items) == len(x.items)
        return Tuple(tuple(_item_dot(dots_.items[k] if known else UNKNOWN, v) for k, v in enumerate(x.items)))  # type: ignore[union-attr]
    known_item = isinstance(dots_, (Tuple, Sequence)) or isinstance(dots_, Num)
    return Sequence(_item_dot(item_of(dots_) if known_item else UNKNOWN, item_of(x)), tuple)


def _elements(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return Sequence(item_of(args[0])) if isinstance(args[0], (Tuple, Sequence)) else UNKNOWN


def _shadow(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    """What a method of shadows gives for its first argument after the owner."""
    return _like_second([UNKNOWN, args[1]], {}) if len(args) > 1 else UNKNOWN


def _number_if_array(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return NUMERIC if args and isinstance(args[0], Num) else UNKNOWN


def _items(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    """What can be indexed as it is, a list of the items of anything else."""
    if isinstance(args[0], (Num, Sequence, Tuple)) or args[0] == Opaque(range):
        return args[0]
    return Sequence(item_of(args[0]))


results.RESULT_OF_HELPER.update(
    {
        arrays.unbroadcast: _like_second,
        arrays.stretch: _like_second,
        arrays.zeros: _like_second,
        arrays.conjugate: _first,
        arrays.expand: _like_second,
        cotangents.own: _like_second,
        cotangents.dense: _like_second,
        cotangents.project: _like_second,
        cotangents.project_copy: _like_second,
        cotangents.add: _sum,
        cotangents.index_add: _first,
        cotangents.scalar_seed: _number,
        dots.tangent_buffer: _like_second,
        dots.entry_dot: _entry_dot,
        dots.field_dot: _entry_dot,
        dots.view_like: _like_second,
        dots.spread: _spread,
        elements.elements_dot: _elements,
        shadows.Shadows: lambda args, kwargs: Instance(shadows.Shadows),
        shadows.Shadows.of: _shadow,
        shadows.Shadows.take: _shadow,
        shadows.Shadows.accumulate: _shadow,
        shadows.Shadows.collect: _shadow,
        shadows.Shadows.whole: _shadow,
        shadows.take_stored: _number_if_array,
        shadows.keep: _first,
        accumulate: _sum,
        segments.checkpointed: _items,
        segments.segments: lambda args, kwargs: Sequence(Tuple((PY_INT, PY_INT))),
        unthunk: _first,
    }
)
