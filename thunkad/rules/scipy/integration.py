"""``scipy.integrate``: sums over samples, adaptive quadrature, and Runge–Kutta methods.

What adapts itself to a function (the subdivision of an interval, the steps in time) is found with plain numbers and is
taken as it is; the sum or the steps over it are differentiated.  Values are those that SciPy finds.
"""

from __future__ import annotations

import numpy as np
from scipy import integrate

from thunkad.rules.library import alternative, non_differentiable
from thunkad.rules.refused import refuse
from thunkad.rules.scipy.found import completed, same_value
from thunkad.rules.scipy.integration_helpers import (
    check_ivp,
    check_quad,
    steps_of,
    subdivision,
    tableau_of,
)

non_differentiable(subdivision, steps_of, check_quad, check_ivp, tableau_of)
refuse(
    "LSODA and the implicit methods are compiled code; use scipy.integrate.solve_ivp with method='RK45', 'RK23' or "
    "'DOP853', which are differentiated",
    integrate.odeint, integrate.ode, integrate.complex_ode,
)  # fmt: skip
refuse(
    "of SciPy's adaptive quadratures quad and dblquad are differentiated; write it as quad inside of quad",
    integrate.nquad, integrate.tplquad, integrate.quad_vec, integrate.cubature,
)  # fmt: skip
refuse(
    "it solves a system of its own inside; write the collocation equations down and use thunkad.root",
    integrate.solve_bvp,
)  # fmt: skip


# Samples


def trapezoids(y, x, dx, axis):
    """The areas between neighbouring samples, along the last axis."""
    y = np.moveaxis(np.asarray(y), axis, -1)
    if x is None:
        d = dx
    elif np.ndim(x) == 1:
        d = np.diff(x)
    else:
        d = np.diff(np.moveaxis(np.asarray(x), axis, -1))
    return d * (y[..., 1:] + y[..., :-1]) / 2.0


@alternative(integrate.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    return np.sum(trapezoids(y, x, dx, axis), -1)


@alternative(integrate.cumulative_trapezoid)
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    if initial is not None and initial != 0:
        raise ValueError("`initial` must be `None` or `0`.")
    area = np.cumsum(trapezoids(y, x, dx, axis), -1)
    if initial is not None:
        area = np.concatenate([np.zeros_like(area[..., :1]), area], -1)
    return np.moveaxis(area, -1, axis)


# Quadrature

#: The nodes of the Gauss rule with two points, in (0, 1).
GAUSS = (0.5 - 0.5 / 3**0.5, 0.5 + 0.5 / 3**0.5)


@alternative(integrate.quad)
def quad(
    func, a, b, args=(), full_output=0, epsabs=1.49e-8, epsrel=1.49e-8, limit=50, points=None, weight=None,
    wvar=None, wopts=None, maxp1=50, limlst=50, complex_func=False,
):  # fmt: skip
    check_quad(weight, complex_func)
    args = args if isinstance(args, tuple) else (args,)
    found, form, nodes, weights, ends = subdivision(func, a, b, args, epsabs, epsrel, limit, points, full_output)
    total = 0.0
    if form == "fixed":
        for x, w in zip(nodes, weights):
            total = total + w * func(x, *args)
        for sign, end in ends:
            total = total + sign * past_the_end(func, end, a if sign < 0 else b, args)
    elif form == "finite":
        for u, w in zip(nodes, weights):
            total = total + w * func(a + (b - a) * u, *args)
        total = (b - a) * total
    elif form == "both":
        for u, w in zip(nodes, weights):
            total = total + w * (func(u, *args) + func(-u, *args))
    else:
        bound = a if form == "a" else b
        for u, w in zip(nodes, weights):
            total = total + w * func(bound + u, *args)
    value = same_value(found[0], total)
    return (value, *found[1:]) if full_output else (value, found[1])


def past_the_end(func, end, moved, args):
    """The integral from an end to itself, whose derivatives by where the end has moved are right up to the fourth."""
    h = moved - end
    return h / 2 * (func(end + GAUSS[0] * h, *args) + func(end + GAUSS[1] * h, *args))


@alternative(integrate.dblquad)
def dblquad(func, a, b, gfun, hfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    def inner(y):
        low = gfun(y) if callable(gfun) else gfun
        high = hfun(y) if callable(hfun) else hfun
        return integrate.quad(func, low, high, (y, *args), epsabs=epsabs, epsrel=epsrel)[0]

    return integrate.quad(inner, a, b, epsabs=epsabs, epsrel=epsrel)


# Differential equations


@alternative(integrate.solve_ivp)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False, args=None, **options
):
    check_ivp(method, dense_output, events)
    extra = () if args is None else args

    def slope(t, y):  # a copy, since fun may hand out one buffer again and again
        value = np.ravel(fun(t, y[:, None], *extra)) if vectorized else fun(t, y, *extra)
        return value + np.zeros(np.shape(y))

    start, end = t_span
    found, fractions, counts = steps_of(fun, t_span, y0, method, t_eval, vectorized, args, options)
    stages, final, further, interpolation = tableau_of(method)
    t, y = start, np.asarray(y0) * 1.0
    k = slope(t, y)
    times, values = ((t,), (y,)) if t_eval is None else ((), ())
    for fraction, count in zip(fractions[1:], counts):
        after = start + (end - start) * fraction
        slopes = with_stages(slope, t, y, after - t, (k,), stages)
        new = y + (after - t) * (final @ np.stack(slopes))
        k = slope(after, new)
        if count and t_eval is None:
            times, values = (*times, after), (*values, new)
        elif count:
            slopes = with_stages(slope, t, y, after - t, (*slopes, k), further)
            for time in t_eval[len(times) : len(times) + count]:
                weights = weights_at((time - t) / (after - t), interpolation)
                times, values = (*times, time), (*values, y + (after - t) * (weights @ np.stack(slopes)))
        t, y = after, new
    t, y = same_value(found.t, np.stack(times)), same_value(found.y, np.stack(values, -1))
    return completed(found, ("t", "y"), (t, y))


def with_stages(slope, t, y, h, slopes, stages):
    """``slopes`` and those of further stages of a Runge-Kutta method."""
    for c, row in stages:
        slopes = (*slopes, slope(t + c * h, y + h * (row @ np.stack(slopes))))
    return slopes


def weights_at(x, interpolation):
    """The weights of the slopes after a fraction ``x`` of the step."""
    weights = 0.0
    for column in interpolation.T[::-1]:
        weights = (weights + column) * x
    return weights
