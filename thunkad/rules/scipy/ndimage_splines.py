"""Values of splines on a grid, as ``ndimage.map_coordinates`` has them, and what their derivatives are made of.

``gathered`` and ``scattered`` are the transposes of each other as linear maps of the coefficients.  The derivative of each
by the coordinates is made of the same functions with ``nu`` one larger, so there is one of any order.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
from scipy import ndimage

from thunkad.rules.scipy.linalg_helpers import real_if
from thunkad.runtime.arrays import is_zero
from thunkad.runtime.shaped import shape_only
from thunkad.tangents import ZERO

Nu = tuple[int, ...]


@functools.cache
def pieces(order: int) -> Any:
    """The polynomials on [0, 1) that the B-spline of this order is made of, from right to left, lowest power first."""
    if order == 0:
        return np.ones((1, 1))
    below = np.pad(pieces(order - 1)[::-1], ((1, 1), (0, 1)))
    times_t = np.roll(below, 1, axis=1)
    j = np.arange(order + 1)[:, None]
    return ((j * below[1:] + times_t[1:] + (order + 1 - j) * below[:-1] - times_t[:-1]) / order)[::-1]


def _weights(t: Any, order: int, nu: int) -> list[Any]:
    """How much each of the coefficients around a point counts in the derivative number ``nu``."""
    powers = np.polynomial.polynomial.polyder(pieces(order), nu, axis=1)
    return [np.polynomial.polynomial.polyval(t, row) for row in powers]


def _in_line(place: Any, n: int, mode: str) -> Any:
    """The places outside of a line of ``n`` coefficients as places in it."""
    if mode == "grid-wrap":
        return place % n
    if mode in ("reflect", "grid-mirror"):
        place = place % (2 * n)
        return np.where(place < n, place, 2 * n - 1 - place)
    if n == 1:
        return np.zeros_like(place)
    place = place % (2 * n - 2)
    return np.where(place < n, place, 2 * n - 2 - place)


def _taps(x: Any, n: int, order: int, mode: str, nu: int) -> tuple[list[Any], list[Any], list[Any]]:
    """The places that a line is read at for the coordinates ``x``, their weights, and which are in the line."""
    inside = (x >= 0) & (x <= n - 1)
    if mode == "wrap" and n > 1:
        turns = np.trunc(x / (n - 1))
        x = np.where(inside, x, x - (n - 1) * np.where(x < 0, turns - 1, turns))
    elif mode == "nearest":
        x = np.clip(x, 0, n - 1)
    start = np.floor(x if order % 2 else x + 0.5)
    if order == 1 and mode in ("constant", "nearest", "wrap") and n > 1:
        start = np.minimum(start, n - 2)  # the slope at the end is the one on its inner side
    weights = _weights(x - start + (0.0 if order % 2 else 0.5), order, nu)
    if mode == "constant" or (mode == "nearest" and nu):
        weights = [np.where(inside, w, 0.0) for w in weights]
    places = [start.astype(np.intp) - order // 2 + k for k in range(order + 1)]
    if mode == "grid-constant":
        within = [(p >= 0) & (p < n) for p in places]
        return [np.where(w, p, 0) for w, p in zip(within, places)], weights, within
    return [_in_line(p, n, mode) for p in places], weights, [True] * len(places)


def _terms(coordinates: Any, shape: tuple[int, ...], nu: Nu, order: int, mode: str) -> Any:
    """For each coefficient around the points: its place in the flat array, its weight, whether it is in the array."""
    lines = [_taps(coordinates[k], n, order, mode, nu[k]) for k, n in enumerate(shape)]
    if mode == "constant":
        inside = functools.reduce(np.logical_and, [(x >= 0) & (x <= n - 1) for x, n in zip(coordinates, shape)])
        lines[0] = lines[0][0], [np.where(inside, w, 0.0) for w in lines[0][1]], lines[0][2]
    for choice in itertools.product(range(order + 1), repeat=len(shape)):
        place: Any = 0
        weight: Any = 1.0
        within: Any = True
        for (places, weights, inside), k, n in zip(lines, choice, shape):
            place, weight, within = place * n + places[k], weight * weights[k], within & inside[k]
        yield place, weight, within


def gathered(c: Any, coordinates: Any, nu: Nu, order: int, mode: str, cval: Any) -> Any:
    """The derivative of orders ``nu`` of the spline with the coefficients ``c`` at the points ``coordinates``."""
    if not any(nu):
        return ndimage.map_coordinates(c, coordinates, order=order, mode=mode, cval=cval, prefilter=False)
    c, coordinates = np.asarray(c), np.asarray(coordinates)
    y = np.zeros(coordinates.shape[1:], c.dtype)
    if max(nu) <= order and c.size:
        flat = np.ravel(c)
        for place, weight, within in _terms(coordinates, c.shape, nu, order, mode):
            y += (weight * (flat[place] if within is True else np.where(within, flat[place], cval))).astype(c.dtype)
    return y


@shape_only("c")
def scattered(y_bar: Any, coordinates: Any, c: Any, nu: Nu, order: int, mode: str) -> Any:
    """The cotangent of ``c`` for ``gathered``."""
    coordinates, y_bar = np.asarray(coordinates), np.asarray(y_bar)
    c_bar = np.zeros(math.prod(np.shape(c)), y_bar.dtype)
    if max(nu) <= order and c_bar.size:
        for place, weight, within in _terms(coordinates, np.shape(c), nu, order, mode):
            np.add.at(c_bar, np.ravel(place), np.ravel(np.where(within, weight * y_bar, 0)).astype(y_bar.dtype))
    return real_if(np.reshape(c_bar, np.shape(c)), c)


def _raised(nu: Nu, k: int) -> Nu:
    return (*nu[:k], nu[k] + 1, *nu[k + 1 :])


def points_bar(y_bar: Any, c: Any, coordinates: Any, nu: Nu, order: int, mode: str, cval: Any) -> Any:
    """The cotangent of ``coordinates`` for ``gathered``."""
    slopes = [gathered(c, coordinates, _raised(nu, k), order, mode, cval) for k in range(len(nu))]
    return np.array([np.real(np.conjugate(y_bar) * slope) for slope in slopes])


def gathered_dot(
    c: Any, coordinates: Any, c_dot: Any, coordinates_dot: Any, nu: Nu, order: int, mode: str, cval: Any
) -> Any:
    """The tangent of ``gathered``."""
    total = ZERO if is_zero(c_dot) else gathered(c_dot, coordinates, nu, order, mode, 0.0)
    if not is_zero(coordinates_dot):
        for k in range(len(nu)):
            total = total + gathered(c, coordinates, _raised(nu, k), order, mode, cval) * coordinates_dot[k]
    return total


def scattered_dot(
    y_bar: Any, coordinates: Any, c: Any, y_bar_dot: Any, coordinates_dot: Any, nu: Nu, order: int, mode: str
) -> Any:
    """The tangent of ``scattered``."""
    total = ZERO if is_zero(y_bar_dot) else scattered(y_bar_dot, coordinates, c, nu, order, mode)
    if not is_zero(coordinates_dot):
        for k in range(len(nu)):
            moved = y_bar * coordinates_dot[k]
            total = total + scattered(moved, coordinates, c, _raised(nu, k), order, mode)
    return total


def points_bar_dot(
    y_bar: Any, c: Any, coordinates: Any, y_bar_dot: Any, c_dot: Any, coordinates_dot: Any, nu: Nu, *how: Any
) -> Any:
    """The tangent of ``points_bar``."""
    total = ZERO if is_zero(y_bar_dot) else points_bar(y_bar_dot, c, coordinates, nu, *how)
    if is_zero(c_dot) and is_zero(coordinates_dot):
        return total
    dots = [gathered_dot(c, coordinates, c_dot, coordinates_dot, _raised(nu, k), *how) for k in range(len(nu))]
    return total + np.array([np.real(np.conjugate(y_bar) * dot) for dot in dots])
