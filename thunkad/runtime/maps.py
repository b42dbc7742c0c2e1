"""Linear maps that are made outside of the code that is differentiated: what ``linearize`` and ``vjp`` return.

Such a map is its own derivative.  Its transpose is the other one at the same point: of a linear map a pullback, of a
pullback a linear map.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.records import record
from thunkad.runtime.marks import MAP, PUBLIC
from thunkad.runtime.parts import fields_of
from thunkad.tangents import AbstractZero, Tangent


@record(frozen=True)
class Linearized:
    """Of what function a map is the derivative, where, and which of the two it is."""

    f: Any
    args: tuple[Any, ...]
    is_pullback: bool = False


def linear_map(fn: Callable[..., Any], at: Linearized) -> Callable[..., Any]:
    """``fn``, known as this map where it is called in differentiated code."""
    setattr(fn, MAP, at)
    return fn


def applied(fn: Any, *given: Any) -> Any:
    """A call of such a map."""
    found = fn(*given)
    return tuple(found) if is_pullback(fn) else found


def value_alone(f: Any, *args: Any, **kwargs: Any) -> Any:
    """What the pullback of ``vjp`` with ``has_aux`` is the pullback of."""
    return f(*args, **kwargs)[0]


def is_pullback(fn: Any) -> bool:
    return bool(getattr(fn, MAP).is_pullback)


def taken_back(fn: Any, bar: Any) -> tuple[Any, ...]:
    """The cotangents of what the map ``fn`` was given, from that of its result.

    Where what the function of the map reads has changed since the map was made, that is refused.
    """
    at: Linearized = getattr(fn, MAP)
    given: tuple[Any, ...]
    if at.is_pullback:
        given = tuple(None if isinstance(v, AbstractZero) else v for v in bar)
        found: tuple[Any, ...] = (PUBLIC["jvp"](at.f, at.args, given)[1],)
    else:
        given = (bar,)
        found = tuple(PUBLIC["vjp"](at.f, *at.args)[1](bar))
    _compare(fn, given, found)
    return found


def _compare(fn: Any, given: tuple[Any, ...], found: tuple[Any, ...]) -> None:
    """Whether ``found`` is what the transpose of ``fn`` makes of ``given``, by a product with one more direction."""
    random = np.random.default_rng(len(found))
    probes = tuple(_probe(v, random) for v in found)
    image = fn(*probes)
    image = tuple(image) if is_pullback(fn) else (image,)
    one, other = _products(found, probes), _products(given, image)
    single = any(v.dtype in (np.float32, np.complex64) for v in _leaves(image).values())
    if abs(sum(one) - sum(other)) > (1e-3 if single else 1e-6) * sum(map(abs, (*one, *other))):
        raise UnsupportedSyntaxError(
            "a derivative through a linear map or a pullback that was made outside, whose function reads something "
            "that has changed since, is not supported",
            hint="make the map inside of the function that is differentiated, or leave what is read as it was",
        )


def _probe(x: Any, random: np.random.Generator) -> Any:
    """A random direction of the structure of ``x``."""
    if isinstance(x, (float, complex, np.generic, np.ndarray)):
        drawn = random.standard_normal(np.shape(x)).astype(np.asarray(x).dtype)
        return drawn if isinstance(x, np.ndarray) else drawn[()]
    if isinstance(x, dict):
        return {k: _probe(v, random) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        parts = [_probe(v, random) for v in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if isinstance(x, Tangent):
        return Tangent(x.cls, {k: _probe(v, random) for k, v in x.fields.items()})
    if x is None or isinstance(x, AbstractZero):
        return x
    made = copy.copy(x)
    for name, v in fields_of(x).items():
        object.__setattr__(made, name, _probe(v, random))
    return made


def _products(x: Any, y: Any) -> list[float]:
    """The scalar product of two of the same structure, in which zeros may stand for any part, by parts."""
    of_x, of_y = _leaves(x), _leaves(y)
    return [float(np.real(np.vdot(v, of_y[path]))) for path, v in of_x.items() if path in of_y]


def _leaves(x: Any, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], np.ndarray]:
    if x is None or isinstance(x, AbstractZero):
        return {}
    if isinstance(x, (bool, int, float, complex, np.generic, np.ndarray)):
        return {path: np.asarray(x)}
    if isinstance(x, dict):
        parts = x
    elif isinstance(x, (list, tuple)):
        parts = dict(enumerate(x))
    else:
        parts = x.fields if isinstance(x, Tangent) else fields_of(x)
    return {at: v for k, part in parts.items() for at, v in _leaves(part, (*path, k)).items()}
