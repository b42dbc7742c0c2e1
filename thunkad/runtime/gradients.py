"""The transpose of ``np.gradient``."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import is_zero
from thunkad.tangents import ZERO, NotImplementedTangent


def _axes(f: Any, axis: Any) -> list[int]:
    ndim = np.ndim(f)
    if axis is None:
        return list(range(ndim))
    return [k % ndim for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]


def _spacings(axes: list[int], varargs: tuple[Any, ...]) -> list[Any]:
    if not varargs:
        return [1.0] * len(axes)
    return list(varargs) * len(axes) if len(varargs) == 1 else list(varargs)


def _is_single(y: Any) -> bool:
    return not isinstance(y, (tuple, list))


def gradient_bar(y_bar: Any, f: Any, varargs: tuple[Any, ...], axis: Any = None, edge_order: Any = 1) -> Any:
    """The cotangent of ``f`` for ``np.gradient(f, *varargs)``; one cotangent of ``y`` for each axis."""
    axes = _axes(f, axis)
    f_bar: Any = ZERO
    for part, k, spacing in zip((y_bar,) if _is_single(y_bar) else y_bar, axes, _spacings(axes, varargs)):
        if not is_zero(part):
            f_bar = f_bar + _transposed(part, k, spacing, edge_order)
    return f_bar


def _transposed(y_bar: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    g = np.moveaxis(y_bar, axis, -1)
    n = g.shape[-1]
    h = np.diff(spacing) if np.ndim(spacing) else np.full(n - 1, spacing, dtype=float)
    h = h.astype(g.real.dtype)
    out = np.zeros_like(g)
    left, right = h[:-1], h[1:]
    inner = g[..., 1:-1]
    out[..., :-2] += inner * (-right / (left * (left + right)))
    out[..., 1:-1] += inner * ((right - left) / (left * right))
    out[..., 2:] += inner * (left / (right * (left + right)))
    first, last = g[..., 0], g[..., -1]
    if edge_order == 1:
        out[..., 0] -= first / h[0]
        out[..., 1] += first / h[0]
        out[..., -2] -= last / h[-1]
        out[..., -1] += last / h[-1]
    else:
        a, b = h[0], h[1]
        for k, weight in enumerate((-(2 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b)))):
            out[..., k] += first * weight
        a, b = h[-2], h[-1]
        for k, weight in zip((-3, -2, -1), (b / (a * (a + b)), -(a + b) / (a * b), (2 * b + a) / (b * (a + b)))):
            out[..., k] += last * weight
    return np.moveaxis(out, -1, axis)


def gradient_spacing_bars(y_bar: Any, y: Any, f: Any, varargs: tuple[Any, ...], axis: Any = None) -> tuple[Any, ...]:
    """The cotangents of the spacings: the result is inversely proportional to a scalar one."""
    axes = _axes(f, axis)
    bars: list[Any] = [ZERO] * len(varargs)
    parts, values = ((y_bar,), (y,)) if _is_single(y_bar) else (y_bar, y)
    for number, (part, value, spacing) in enumerate(zip(parts, values, _spacings(axes, varargs))):
        if not varargs or is_zero(part):
            continue
        slot = 0 if len(varargs) == 1 else number
        if np.ndim(spacing):
            bars[slot] = _no_coordinates()
        elif not isinstance(bars[slot], NotImplementedTangent):
            bars[slot] = bars[slot] - np.sum(part * np.conjugate(value)) / spacing
    return tuple(bars)


def gradient_dot(
    f_dot: Any, spacing_dots: Any, y: Any, f: Any, varargs: tuple[Any, ...], axis: Any = None, edge_order: Any = 1
) -> Any:
    """The tangent of ``y = np.gradient(f, *varargs)``."""
    single = _is_single(y)
    values = [y] if single else list(y)
    dots: list[Any] = [ZERO] * len(values)
    if not is_zero(f_dot):
        moved = np.gradient(f_dot, *varargs, axis=axis, edge_order=edge_order)
        dots = [moved] if single else list(moved)
    if not is_zero(spacing_dots):
        axes = _axes(f, axis)
        for k, (dot, spacing) in enumerate(zip(_spacings(axes, tuple(spacing_dots)), _spacings(axes, varargs))):
            if varargs and not is_zero(dot):
                dots[k] = dots[k] + (_no_coordinates() if np.ndim(spacing) else values[k] * (-dot / spacing))
    return dots[0] if single else type(y)(dots)


def _no_coordinates() -> NotImplementedTangent:
    return NotImplementedTangent("np.gradient has no derivative with respect to coordinates yet")
