"""The kinds of what the runtime helpers of generated code return, for code that is differentiated again."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

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
from thunkad.runtime import (
    arrays,
    copying,
    cotangents,
    dot_changes,
    dots,
    elements,
    indexing,
    joining,
    products,
    reductions,
    segments,
    shadows,
    shaping,
    uniform,
)
from thunkad.runtime.accumulate import accumulate
from thunkad.runtime.complex import in_field_of
from thunkad.runtime.key_bars import item_add
from thunkad.tangents import unthunk


def _like_second(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    """A tangent of the second argument, made of the first."""
    given, x = args[0], args[-1] if len(args) < 2 else args[1]
    if not isinstance(x, Num):
        return UNKNOWN
    field = "real" if x.is_real else x.field
    field = join_fields(field, given.field) if isinstance(given, Num) else field
    return Num("scalar" if x.form == "python" else x.form, field, x.ndim)


def _in_field_of(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    t, x = args
    if isinstance(t, Num) and isinstance(x, Num) and x.is_real:
        return Num(t.form, "real", t.ndim)
    return t if isinstance(t, Num) else UNKNOWN


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


def _bar_of(place: int) -> Callable[[list[Kind], dict[str, Kind]], Kind]:
    """The cotangent of argument ``place``: of its form, and of a field that all arguments have a say in."""

    def kind(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
        numbers = [a for a in args if isinstance(a, Num)]
        x = args[place] if place < len(args) else UNKNOWN
        if not isinstance(x, Num):
            return UNKNOWN
        field = "real"
        for a in numbers:
            field = join_fields(field, "real" if a.is_real else a.field)
        return Num("scalar" if x.form == "python" else x.form, field, x.ndim)

    return kind


def _cotangents(*modules: types.ModuleType) -> dict[Any, Any]:
    """The helpers of these modules that compute the cotangent of the one argument of which they read only the shape."""
    found = {}
    for f in (f for module in modules for f in vars(module).values() if isinstance(f, types.FunctionType)):
        params = f.__code__.co_varnames[: f.__code__.co_argcount]
        shaped: tuple[str, ...] = getattr(f, "shape_only", ())
        if len(shaped) == 1 and params[0] == "y_bar" and f.__name__.endswith(("_bar", "_share", "reshape_like")):
            found[f] = _bar_of(params.index(shaped[0]))
    return found


results.RESULT_OF_HELPER.update(_cotangents(indexing, products, reductions, shaping, uniform))
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
        item_add: _first,
        cotangents.scalar_seed: _number,
        dots.tangent_buffer: _like_second,
        dots.entry_dot: _entry_dot,
        dots.field_dot: _entry_dot,
        dots.view_like: _like_second,
        dots.spread: _spread,
        dots.item_dots: _spread,
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
        in_field_of: _in_field_of,
        segments.checkpointed: _items,
        segments.segments: lambda args, kwargs: Sequence(Tuple((PY_INT, PY_INT))),
        unthunk: _first,
        copy.copy: _first,
        copy.deepcopy: _first,
        copying.copied: _first,
        copying.deep_copied: _first,
        uniform.share: _first,
        dot_changes.array_dot: lambda args, kwargs: _like_second(args, {}) if len(args) == 2 else NUMERIC,
        joining.fill_bar: _like_second,
        joining.fill_dot: lambda args, kwargs: _like_second([args[0], args[-1]], {}),
        shaping.transpose_bar: _first,
        shaping.rollaxis_bar: _first,
        shaping.astype_dot: _first,
        uniform.fitted: lambda args, kwargs: _like_second([args[0], args[-1]], {}),
    }
)
