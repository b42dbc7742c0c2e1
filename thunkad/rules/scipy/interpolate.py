"""``scipy.interpolate``: objects made of constants, by the points that they are called at."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy import interpolate
from scipy.interpolate import PPoly, RegularGridInterpolator, interp1d

from thunkad.errors import NotImplementedDerivativeError
from thunkad.rules.library import alternative, non_differentiable
from thunkad.rules.refused import refuse
from thunkad.rules.table import TABLE


def interval(knots, x):
    """The number of the interval in which each ``x`` lies; the first and the last one go on for ever."""
    return np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)


def falling(power, nu):
    """What the derivative number ``nu`` of a power has as its factor."""
    return float(math.perm(power, nu))


def beyond(knots, x, trailing):
    """Which points lie outside, with so many axes more as the values have."""
    outside = np.logical_or(x < knots[0], x > knots[-1])
    return np.reshape(outside, (-1,) + (1,) * trailing)


non_differentiable(beyond, interval, falling)


@alternative(PPoly.__call__)
def ppoly_call(self, x, nu=0, extrapolate=None):
    c, knots = self.c, self.x
    extrapolate = self.extrapolate if extrapolate is None else extrapolate
    points = np.ravel(np.asarray(x))
    inside = extrapolate == "periodic"
    if inside:
        points = knots[0] + (points - knots[0]) % (knots[-1] - knots[0])
    k = interval(knots, points)
    t = np.reshape(points - knots[k], (-1,) + (1,) * (c.ndim - 2))
    y = np.zeros((len(points), *c.shape[2:]), c.dtype)
    for row in range(c.shape[0] - nu):
        y = y * t + c[row, k] * falling(c.shape[0] - 1 - row, nu)
    if not inside and not extrapolate:
        y = np.where(beyond(knots, points, c.ndim - 2), np.nan, y)
    y = np.reshape(y, np.shape(x) + c.shape[2:])
    return np.moveaxis(y, range(np.ndim(x)), range(self.axis, self.axis + np.ndim(x))) if self.axis else y


@alternative(interp1d.__call__, types=(interp1d,))
def interp1d_call(self, x):
    kind, data, knots = self._kind, self.y, self.x
    if kind != "linear":
        raise NotImplementedDerivativeError(f"interp1d of kind {kind!r}", hint="use kind='linear', or CubicSpline")
    x = np.asarray(x)
    points, values = np.ravel(x), np.moveaxis(data, self.axis, 0)
    beside = (-1,) + (1,) * (values.ndim - 1)
    k = interval(knots, points)
    step = np.reshape((points - knots[k]) / (knots[k + 1] - knots[k]), beside)
    y = values[k] + step * (values[k + 1] - values[k])
    if not self._extrapolate:
        below, above = points < knots[0], points > knots[-1]
        if self.bounds_error and (np.any(below) or np.any(above)):
            raise ValueError("A value in x_new is outside the interpolation range.")
        y = np.where(np.reshape(below, beside), self._fill_value_below, y)
        y = np.where(np.reshape(above, beside), self._fill_value_above, y)
    y = np.reshape(y, x.shape + values.shape[1:])
    return np.moveaxis(y, range(x.ndim), range(self.axis, self.axis + x.ndim)) if self.axis else y


def corners(count):
    """The corners of a cell of a grid, as offsets along each axis."""
    return list(itertools.product((0, 1), repeat=count))


non_differentiable(corners)


@alternative(RegularGridInterpolator.__call__)
def grid_call(self, xi, method=None, *, nu=None):
    grid, values = self.grid, self.values
    if (self.method if method is None else method) != "linear" or nu is not None:
        raise NotImplementedDerivativeError("RegularGridInterpolator but for method='linear'")
    points = np.stack(np.broadcast_arrays(*xi), axis=-1) if isinstance(xi, tuple) else np.asarray(xi)
    flat = np.reshape(points, (-1, len(grid)))
    outside = np.zeros(len(flat), bool)
    below, steps = [], []
    for axis, knots in enumerate(grid):
        at = flat[:, axis]
        k = interval(knots, at)
        below.append(k)
        steps.append((at - knots[k]) / (knots[k + 1] - knots[k]))
        outside = outside | (at < knots[0]) | (at > knots[-1])
    if self.bounds_error and np.any(outside):
        raise ValueError("One of the requested xi is out of bounds")
    trailing = (1,) * (values.ndim - len(grid))
    y = np.zeros(())
    for corner in corners(len(grid)):
        weight = 1.0
        for axis, offset in enumerate(corner):
            weight = weight * (steps[axis] if offset else 1 - steps[axis])
        place = tuple([k + offset for k, offset in zip(below, corner)])
        y = y + np.reshape(weight, (-1, *trailing)) * values[place]
    if not self.bounds_error and self.fill_value is not None:
        y = np.where(np.reshape(outside, (-1, *trailing)), self.fill_value, y)
    return np.reshape(y, points.shape[:-1] + values.shape[len(grid) :])


refuse(
    "what it interpolates is a constant here: make it outside of what is differentiated, or use np.interp",
    *(f for name, f in vars(interpolate).items() if name[0] != "_" and callable(f) and not TABLE.pending(f)),
)
