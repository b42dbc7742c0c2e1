"""``scipy.ndimage``: linear filters.

A call that says where the result goes (``output``) is written out as the plain one, whose result is put there.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from thunkad.kinds.casts import any_number
from thunkad.kinds.results import RESULT_KINDS
from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.linear import bilinear, linear
from thunkad.rules.scipy import ndimage_interpolation, ndimage_selection  # noqa: F401 - read in with this module
from thunkad.rules.scipy.ndimage_helpers import (
    correlate1d_bar,
    correlate_bar,
    correlated_dot,
    line_weights_bar,
    spline1d_bar,
    uniform1d_bar,
    weights_bar,
    weights_bar_dot,
)
from thunkad.rules.scipy.ndimage_output import at, delivered, option, turned_origin
from thunkad.tangents import NoTangent, thunk

bilinear(1, correlate1d_bar, correlate_bar)
linear(uniform1d_bar, spline1d_bar)
RESULT_KINDS.update(dict.fromkeys((ndimage.correlate1d, ndimage.correlate, ndimage.uniform_filter1d), any_number))


@rrule(ndimage.correlate1d)
def _(input, weights, axis=-1, *, mode="reflect", cval=0.0, origin=0):
    y = ndimage.correlate1d(input, weights, axis=axis, mode=mode, cval=cval, origin=origin)

    def pullback(y_bar):
        return (
            thunk(lambda: correlate1d_bar(y_bar, weights, input, axis, mode, origin)),
            thunk(lambda: line_weights_bar(y_bar, input, weights, axis, mode, cval, origin)),
            NoTangent(),
        )

    return y, pullback


@frule(ndimage.correlate1d)
def _(input, weights, axis=-1, *, mode="reflect", cval=0.0, origin=0, input_dot, weights_dot):
    y = ndimage.correlate1d(input, weights, axis=axis, mode=mode, cval=cval, origin=origin)
    return y, correlated_dot(
        ndimage.correlate1d, input, weights, input_dot, weights_dot, cval, axis=axis, mode=mode, origin=origin
    )


@frule(line_weights_bar)
def _(y_bar, input, weights, axis, mode, cval, origin, *, y_bar_dot, input_dot):
    bar = line_weights_bar(y_bar, input, weights, axis, mode, cval, origin)
    return bar, weights_bar_dot(
        line_weights_bar, y_bar, input, y_bar_dot, input_dot, weights, axis, mode, cval, origin
    )


@alternative(ndimage.correlate1d, keywords=("output",))
def correlate1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    y = ndimage.correlate1d(input, weights, axis, mode=mode, cval=cval, origin=origin)
    return delivered(y, output)


@rrule(ndimage.correlate)
def _(input, weights, *, mode="reflect", cval=0.0, origin=0):
    y = ndimage.correlate(input, weights, mode=mode, cval=cval, origin=origin)

    def pullback(y_bar):
        return (
            thunk(lambda: correlate_bar(y_bar, weights, input, mode, origin)),
            thunk(lambda: weights_bar(y_bar, input, weights, mode, cval, origin)),
        )

    return y, pullback


@frule(ndimage.correlate)
def _(input, weights, *, mode="reflect", cval=0.0, origin=0, input_dot, weights_dot):
    y = ndimage.correlate(input, weights, mode=mode, cval=cval, origin=origin)
    return y, correlated_dot(
        ndimage.correlate, input, weights, input_dot, weights_dot, cval, mode=mode, origin=origin
    )


@frule(weights_bar)
def _(y_bar, input, weights, mode, cval, origin, *, y_bar_dot, input_dot):
    bar = weights_bar(y_bar, input, weights, mode, cval, origin)
    return bar, weights_bar_dot(weights_bar, y_bar, input, y_bar_dot, input_dot, weights, mode, cval, origin)


@alternative(ndimage.correlate, keywords=("output",))
def correlate(input, weights, output=None, mode="reflect", cval=0.0, origin=0):
    return delivered(ndimage.correlate(input, weights, mode=mode, cval=cval, origin=origin), output)


@rrule(ndimage.uniform_filter1d)
def _(input, size, axis=-1, *, mode="reflect", cval=0.0, origin=0):
    y = ndimage.uniform_filter1d(input, size, axis=axis, mode=mode, cval=cval, origin=origin)

    def pullback(y_bar):
        return thunk(lambda: uniform1d_bar(y_bar, input, size, axis, mode, origin)), NoTangent(), NoTangent()

    return y, pullback


@frule(ndimage.uniform_filter1d)
def _(input, size, axis=-1, *, mode="reflect", cval=0.0, origin=0, input_dot):
    y = ndimage.uniform_filter1d(input, size, axis=axis, mode=mode, cval=cval, origin=origin)
    return y, ndimage.uniform_filter1d(input_dot, size, axis=axis, mode=mode, origin=origin)


@alternative(ndimage.uniform_filter1d, keywords=("output",))
def uniform_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    y = ndimage.uniform_filter1d(input, size, axis, mode=mode, cval=cval, origin=origin)
    return delivered(y, output)


@rrule(ndimage.spline_filter1d)
def _(input, order=3, axis=-1, *, mode="mirror"):
    y = ndimage.spline_filter1d(input, order=order, axis=axis, mode=mode)

    def pullback(y_bar):
        return thunk(lambda: spline1d_bar(y_bar, input, order, axis, mode)), NoTangent(), NoTangent()

    return y, pullback


@frule(ndimage.spline_filter1d)
def _(input, order=3, axis=-1, *, mode="mirror", input_dot):
    y = ndimage.spline_filter1d(input, order=order, axis=axis, mode=mode)
    return y, ndimage.spline_filter1d(input_dot, order=order, axis=axis, mode=mode)


@alternative(ndimage.spline_filter)
def spline_filter(input, order=3, output=np.float64, mode="mirror"):
    y = input
    for axis in range(np.ndim(input)):
        y = ndimage.spline_filter1d(y, order, axis, mode=mode)
    return delivered(y, output)


# Made of these


def axes_of(x, axes):
    """The axes that are filtered, as numbers."""
    if axes is None:
        return range(np.ndim(x))
    return [axis % np.ndim(x) for axis in np.ravel(axes).tolist()]


non_differentiable(axes_of)


@alternative(ndimage.convolve1d)
def convolve1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    middle = int(turned_origin(origin, weights)[0])
    weights = np.conjugate(np.asarray(weights)[::-1])
    return delivered(ndimage.correlate1d(input, weights, axis, mode=mode, cval=cval, origin=middle), output)


@alternative(ndimage.convolve)
def convolve(input, weights, output=None, mode="reflect", cval=0.0, origin=0):
    middle = turned_origin(origin, weights)
    weights = np.conjugate(np.flip(np.asarray(weights)))
    return delivered(ndimage.correlate(input, weights, mode=mode, cval=cval, origin=middle), output)


def powers(x, order):
    """The powers of ``x`` up to this order, in columns."""
    return x[:, None] ** np.arange(order + 1)


non_differentiable(powers)


def gaussian_taps(sigma, order, radius):
    """The weights of ``ndimage.gaussian_filter1d``, as it hands them to ``correlate1d``."""
    x = np.arange(radius, -radius - 1, -1)
    bell = np.exp(-0.5 / (sigma * sigma) * x**2)
    bell = bell / np.sum(bell)
    if order == 0:
        return bell
    # the derivative of q(x) exp(p(x)) has the factor q'(x) + q(x) p'(x), with p'(x) = -x / sigma²
    lower = np.diag(np.arange(1.0, order + 1), 1)
    step = lower - np.diag(np.ones(order), -1) / (sigma * sigma)
    return powers(x, order) @ np.linalg.matrix_power(step, order)[:, 0] * bell


@alternative(ndimage.gaussian_filter1d)
def gaussian_filter1d(
    input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None
):
    reach = int(truncate * float(sigma) + 0.5) if radius is None else radius
    return delivered(ndimage.correlate1d(input, gaussian_taps(sigma, order, reach), axis, mode=mode, cval=cval), output)


@alternative(ndimage.gaussian_filter)
def gaussian_filter(
    input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None
):
    y = np.asarray(input)
    for k, axis in enumerate(axes_of(y, axes)):
        if at(sigma, k) > 1e-15:
            y = ndimage.gaussian_filter1d(
                y, at(sigma, k), axis, option(order, k), None, str(option(mode, k)), cval, truncate, radius=option(radius, k)
            )
    return delivered(y, output)


@alternative(ndimage.uniform_filter)
def uniform_filter(input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    y = np.asarray(input)
    for k, axis in enumerate(axes_of(y, axes)):
        if option(size, k) > 1:
            y = ndimage.uniform_filter1d(y, int(option(size, k)), axis, mode=str(option(mode, k)), cval=cval, origin=int(option(origin, k)))
    return delivered(y, output)


def across(input, axis, weights, mode, cval):
    """The central difference along ``axis`` of what ``weights`` smooth along all others."""
    y = np.asarray(input)
    along = axis % y.ndim
    y = ndimage.correlate1d(y, [-1, 0, 1], along, mode=str(option(mode, along)), cval=cval)
    for k in range(y.ndim):
        if k != along:
            y = ndimage.correlate1d(y, weights, k, mode=str(option(mode, k)), cval=cval)
    return y


@alternative(ndimage.prewitt)
def prewitt(input, axis=-1, output=None, mode="reflect", cval=0.0):
    return delivered(across(input, axis, [1, 1, 1], mode, cval), output)


@alternative(ndimage.sobel)
def sobel(input, axis=-1, output=None, mode="reflect", cval=0.0):
    return delivered(across(input, axis, [1, 2, 1], mode, cval), output)


@alternative(ndimage.laplace)
def laplace(input, output=None, mode="reflect", cval=0.0, *, axes=None):
    x = np.asarray(input)
    terms = [
        ndimage.correlate1d(x, [1, -2, 1], axis, mode=str(option(mode, k)), cval=cval)
        for k, axis in enumerate(axes_of(x, axes))
    ]
    return delivered(sum(terms), output)


def derivatives_of_gaussian(input, sigma, order, mode, cval, truncate):
    """The Gaussian filter with the derivative of this order along each axis."""
    x = np.asarray(input)
    return [
        ndimage.gaussian_filter(x, sigma, [0] * k + [order] + [0] * (x.ndim - k - 1), None, str(option(mode, k)), cval, truncate)
        for k in range(x.ndim)
    ]


@alternative(ndimage.gaussian_laplace)
def gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0, *, truncate=4.0):
    return delivered(sum(derivatives_of_gaussian(input, sigma, 2, mode, cval, truncate)), output)


@alternative(ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(input, sigma, output=None, mode="reflect", cval=0.0, *, truncate=4.0):
    slopes = derivatives_of_gaussian(input, sigma, 1, mode, cval, truncate)
    return delivered(np.linalg.norm(np.stack(slopes), axis=0), output)
