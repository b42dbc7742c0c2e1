"""``scipy.ndimage``: values between the grid points; every function is written out as splines at coordinates."""

from __future__ import annotations

import numpy as np
from scipy import ndimage, special

from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.refused import refuse
from thunkad.rules.scipy.ndimage_output import at, delivered
from thunkad.rules.scipy.ndimage_splines import (
    gathered,
    gathered_dot,
    points_bar,
    points_bar_dot,
    scattered,
    scattered_dot,
)
from thunkad.tangents import NoTangent, thunk

PAD = 12  # how far SciPy carries on an array of which a spline has no exact end


@rrule(gathered)
def _(c, coordinates, nu, order, mode, *, cval):
    y = gathered(c, coordinates, nu, order, mode, cval=cval)

    def pullback(y_bar):
        return (
            thunk(lambda: scattered(y_bar, coordinates, c, nu, order, mode)),
            thunk(lambda: points_bar(y_bar, c, coordinates, nu, order, mode, cval)),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(gathered)
def _(c, coordinates, nu, order, mode, *, cval, c_dot, coordinates_dot):
    y = gathered(c, coordinates, nu, order, mode, cval=cval)
    return y, gathered_dot(c, coordinates, c_dot, coordinates_dot, nu, order, mode, cval)


@frule(scattered)
def _(y_bar, coordinates, c, nu, order, mode, *, y_bar_dot, coordinates_dot):
    c_bar = scattered(y_bar, coordinates, c, nu, order, mode)
    return c_bar, scattered_dot(y_bar, coordinates, c, y_bar_dot, coordinates_dot, nu, order, mode)


@frule(points_bar)
def _(y_bar, c, coordinates, nu, order, mode, cval, *, y_bar_dot, c_dot, coordinates_dot):
    bar = points_bar(y_bar, c, coordinates, nu, order, mode, cval)
    return bar, points_bar_dot(y_bar, c, coordinates, y_bar_dot, c_dot, coordinates_dot, nu, order, mode, cval)


def at_coordinates(input, coordinates, order, mode, cval, prefilter):
    """The spline through ``input`` at ``coordinates``."""
    c, still = np.asarray(input), (0,) * np.ndim(input)
    if not prefilter or order < 2:
        return gathered(c, coordinates, still, order, mode, cval=cval)
    if mode == "nearest":
        c, coordinates = np.pad(c, PAD, mode="edge"), coordinates + PAD
    elif mode == "grid-constant":
        c, coordinates = np.pad(c, PAD, mode="constant", constant_values=cval), coordinates + PAD
    return gathered(ndimage.spline_filter(c, order, mode=mode), coordinates, still, order, mode, cval=cval)


def places(shape):
    """The coordinates of every place of an array, an array for each axis."""
    return np.meshgrid(*[np.arange(float(n)) for n in shape], indexing="ij")


def ratios(input, zoom, output_shape, grid_mode):
    """How far apart the points of ``ndimage.zoom`` lie along each axis."""
    less = 0 if grid_mode else 1
    return [(n - less) / (m - less) if m != less else 1.0 for n, m in zip(np.shape(input), output_shape)]


def zoomed_shape(input, zoom):
    """The shape of the result of ``ndimage.zoom``."""
    return tuple(round(n * at(zoom, k)) for k, n in enumerate(np.shape(input)))


non_differentiable(places, ratios, zoomed_shape)


@alternative(ndimage.map_coordinates)
def map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    y = at_coordinates(input, np.asarray(coordinates), order, mode, cval, prefilter)
    return delivered(as_precise(y, input), output)


def as_precise(y, input):
    """Splines are computed in double precision; the result has the precision of the input."""
    return y.astype(np.asarray(input).dtype)


@alternative(ndimage.shift)
def shift(input, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    coordinates = np.stack([x - at(shift, k) for k, x in enumerate(places(np.shape(input)))])
    return delivered(as_precise(at_coordinates(input, coordinates, order, mode, cval, prefilter), input), output)


@alternative(ndimage.zoom)
def zoom(input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *, grid_mode=False):
    shape = zoomed_shape(input, zoom)
    if shape == np.shape(input) and prefilter and np.all(np.equal(zoom, 1)):
        return delivered(np.array(input), output)
    steps = ratios(input, zoom, shape, grid_mode)
    if grid_mode:
        coordinates = np.stack([(x + 0.5) * step - 0.5 for x, step in zip(places(shape), steps)])
    else:
        coordinates = np.stack([x * step for x, step in zip(places(shape), steps)])
    return delivered(as_precise(at_coordinates(input, coordinates, order, mode, cval, prefilter), input), output)


@alternative(ndimage.affine_transform)
def affine_transform(
    input, matrix, offset=0.0, output_shape=None, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    matrix, count = np.asarray(matrix), np.ndim(input)
    if output_shape is None:
        output_shape = output.shape if isinstance(output, np.ndarray) else np.shape(input)
    if matrix.ndim == 2 and matrix.shape[1] == count + 1:
        matrix, offset = matrix[:count, :count], matrix[:count, count]
    grid = places(output_shape)
    rows = []
    for k in range(count):
        if matrix.ndim == 1:
            row = (grid[k] + at(offset, k) / matrix[k]) * matrix[k]
        else:
            row = at(offset, k)
            for j in range(len(grid)):
                row = row + grid[j] * matrix[k, j]
        rows.append(row)
    y = at_coordinates(input, np.stack(rows), order, mode, cval, prefilter)
    return delivered(as_precise(y, input), output)


def turned_shape(angle, rows, columns):
    """The number of rows and columns into which a turned picture fits."""
    c, s = special.cosdg(angle), special.sindg(angle)
    corners = np.array([[c, s], [-s, c]]) @ [[0, 0, rows, rows], [0, columns, 0, columns]]
    return tuple((np.ptp(corners, axis=1) + 0.5).astype(int).tolist())


non_differentiable(turned_shape)


@alternative(ndimage.rotate)
def rotate(
    input, angle, axes=(1, 0), reshape=True, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    x = np.asarray(input)
    first, second = sorted([axes[0] % x.ndim, axes[1] % x.ndim])
    planes = np.moveaxis(x, (first, second), (-2, -1))
    rows, columns = planes.shape[-2], planes.shape[-1]
    shape = turned_shape(angle, rows, columns) if reshape else (rows, columns)
    c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    matrix = np.array([[c, s], [-s, c]])
    offset = np.array([(rows - 1) / 2, (columns - 1) / 2]) - matrix @ ((np.array(shape) - 1) / 2)
    if x.ndim == 2:
        return delivered(ndimage.affine_transform(x, matrix, offset, shape, None, order, mode, cval, prefilter), output)
    flat = np.reshape(planes, (-1, rows, columns))
    turned = np.stack(
        [ndimage.affine_transform(flat[k], matrix, offset, shape, None, order, mode, cval, prefilter) for k in range(len(flat))]
    )
    turned = np.reshape(turned, (*planes.shape[:-2], *shape))
    return delivered(np.moveaxis(turned, (-2, -1), (first, second)), output)


refuse(
    "the function that it is given is called for each point by compiled code; compute the coordinates with NumPy and use "
    "ndimage.map_coordinates",
    ndimage.geometric_transform,
)
