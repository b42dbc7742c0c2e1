"""``np.gradient``, written out: differences along each axis, for one step or for coordinates."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import alternative, non_differentiable


@alternative(np.gradient)
def gradient(f, *varargs, axis=None, edge_order=1):
    f = np.asarray(f)
    if f.dtype.kind in "iu":
        f = f.astype(float)
    axes = axes_of(f.ndim, axis)
    count = len(axes)
    if not varargs:
        steps = [1.0] * count
    elif len(varargs) == 1:
        steps = [varargs[0]] * count
    else:
        steps = list(varargs)
    check_gradient(f, varargs, steps, axis, axes, edge_order)
    parts = tuple([differences(f, steps[k], axes[k], edge_order) for k in range(count)])
    return parts[0] if count == 1 else parts


def axes_of(ndim, axis):
    """The axes that are differenced."""
    return tuple(range(ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, ndim)


def check_gradient(f, varargs, steps, axis, axes, edge_order):
    """Let NumPy say what is wrong with arguments that it does not take."""
    fits = edge_order in (1, 2) and len(varargs) in (0, 1, len(axes)) and len(set(axes)) == len(axes)
    fits = fits and all(f.shape[k] > edge_order for k in axes)
    if not fits or not all(np.ndim(h) == 0 or np.shape(h) == (f.shape[k],) for h, k in zip(steps, axes)):
        np.gradient(f, *varargs, axis=axis, edge_order=edge_order)


non_differentiable(axes_of, check_gradient)


def differences(f, step, axis, edge_order):
    """The slopes of ``f`` along one axis."""
    g = np.moveaxis(f, axis, -1)
    if np.ndim(step) == 0:
        slopes = even_differences(g, step, edge_order)
    else:
        slopes = uneven_differences(g, np.diff(step), edge_order)
    return np.moveaxis(slopes.astype(f.dtype), -1, axis)


def even_differences(g, h, edge_order):
    """The slopes along the last axis, whose points are ``h`` apart."""
    inner = (g[..., 2:] - g[..., :-2]) / (2.0 * h)
    if edge_order == 1:
        first = (g[..., 1:2] - g[..., :1]) / h
        last = (g[..., -1:] - g[..., -2:-1]) / h
    else:
        first = (-1.5 / h) * g[..., :1] + (2.0 / h) * g[..., 1:2] + (-0.5 / h) * g[..., 2:3]
        last = (0.5 / h) * g[..., -3:-2] + (-2.0 / h) * g[..., -2:-1] + (1.5 / h) * g[..., -1:]
    return np.concatenate([first, inner, last], axis=-1)


def uneven_differences(g, h, edge_order):
    """The slopes along the last axis, whose points are the distances ``h`` apart."""
    left, right = h[:-1], h[1:]
    before = -right / (left * (left + right))
    here = (right - left) / (left * right)
    after = left / (right * (left + right))
    inner = before * g[..., :-2] + here * g[..., 1:-1] + after * g[..., 2:]
    if edge_order == 1:
        first = (g[..., 1:2] - g[..., :1]) / h[0]
        last = (g[..., -1:] - g[..., -2:-1]) / h[-1]
    else:
        a, b = h[0], h[1]
        near = -(2.0 * a + b) / (a * (a + b)) * g[..., :1] + (a + b) / (a * b) * g[..., 1:2]
        first = near - a / (b * (a + b)) * g[..., 2:3]
        a, b = h[-2], h[-1]
        near = b / (a * (a + b)) * g[..., -3:-2] - (b + a) / (a * b) * g[..., -2:-1]
        last = near + (2.0 * b + a) / (b * (a + b)) * g[..., -1:]
    return np.concatenate([first, inner, last], axis=-1)
