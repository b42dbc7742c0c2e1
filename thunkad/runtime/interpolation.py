"""Cotangents and tangents of ``np.interp``."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import conjugate, is_zero
from thunkad.tangents import ZERO


def _segments(x: Any, xp: Any, fp: Any) -> tuple[Any, ...]:
    """For each ``x``: its segment, how far along it, the slope and width there, and whether it is left, right or in."""
    x, xp, fp = np.asarray(x), np.asarray(xp), np.asarray(fp)
    k = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(xp.size - 2, 0))
    left, right = x < xp[0], x > xp[-1]
    if xp.size == 1:
        return k, k, np.zeros(x.shape), np.zeros(x.shape), np.ones(x.shape), left, right, ~(left | right)
    width = xp[k + 1] - xp[k]
    width = np.where(width == 0, 1, width)
    return k, k + 1, (x - xp[k]) / width, (fp[k + 1] - fp[k]) / width, width, left, right, ~(left | right)


def _wrapped(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, ...]:
    """What ``np.interp`` makes of periodic data: one more point on each side; and where each point came from."""
    x, xp = np.asarray(x) % abs(period), np.asarray(xp) % abs(period)
    order = np.argsort(xp)
    source = np.concatenate((order[-1:], order, order[:1]))
    shift = np.zeros(len(source))
    shift[0], shift[-1] = -abs(period), abs(period)
    return x, xp[source] + shift, np.asarray(fp)[source], source


def _unwrapped(bar: Any, source: Any, count: int) -> Any:
    """The cotangent of the data from that of the wrapped data."""
    out = np.zeros(count, bar.dtype)
    np.add.at(out, source, bar)
    return out


def interp_bars(
    y_bar: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> tuple[Any, ...]:
    """The cotangents of ``x``, ``xp``, ``fp``, ``left`` and ``right`` for ``np.interp``."""
    if period is not None:
        wrapped_x, wrapped_xp, wrapped_fp, source = _wrapped(x, xp, fp, period)
        x_bar, xp_bar, fp_bar, _, _ = interp_bars(y_bar, wrapped_x, wrapped_xp, wrapped_fp)
        return x_bar, _unwrapped(xp_bar, source, len(xp)), _unwrapped(fp_bar, source, len(xp)), ZERO, ZERO
    low, high, part, slope, _, is_left, is_right, inside = _segments(x, xp, fp)
    inner = np.where(inside, y_bar, 0)
    x_bar = np.real(inner * conjugate(slope))
    xp_bar = np.zeros(np.shape(xp))
    np.add.at(xp_bar, low, x_bar * (part - 1))
    np.add.at(xp_bar, high, -x_bar * part)
    fp_bar = np.zeros(np.shape(fp), np.result_type(inner, float))
    np.add.at(fp_bar, low, inner * (1 - part))
    np.add.at(fp_bar, high, inner * part)
    left_bar, right_bar = np.sum(np.where(is_left, y_bar, 0)), np.sum(np.where(is_right, y_bar, 0))
    if left is None:
        fp_bar[0] += left_bar
    if right is None:
        fp_bar[-1] += right_bar
    return x_bar[()], xp_bar, fp_bar, ZERO if left is None else left_bar, ZERO if right is None else right_bar


def interp_dot(
    dots: tuple[Any, ...], x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """The tangent of ``np.interp`` from those of ``x``, ``xp``, ``fp``, ``left`` and ``right``."""
    x_dot, xp_dot, fp_dot, left_dot, right_dot = dots
    if period is not None:
        x, xp, fp, source = _wrapped(x, xp, fp, period)
        xp_dot = xp_dot if is_zero(xp_dot) else np.asarray(xp_dot)[source]
        fp_dot = fp_dot if is_zero(fp_dot) else np.asarray(fp_dot)[source]
        return interp_dot((x_dot, xp_dot, fp_dot, ZERO, ZERO), x, xp, fp)
    low, high, part, slope, _, is_left, is_right, inside = _segments(x, xp, fp)
    y_dot: Any = np.zeros(np.shape(x), float)
    if not is_zero(x_dot):
        y_dot = y_dot + inside * slope * x_dot
    if not is_zero(xp_dot):
        xp_dot = np.asarray(xp_dot)
        y_dot = y_dot - inside * slope * (xp_dot[low] * (1 - part) + xp_dot[high] * part)
    if not is_zero(fp_dot):
        fp_dot = np.asarray(fp_dot)
        y_dot = y_dot + inside * (fp_dot[low] * (1 - part) + fp_dot[high] * part)
        y_dot = y_dot + (is_left * fp_dot[0] if left is None else 0) + (is_right * fp_dot[-1] if right is None else 0)
    if left is not None and not is_zero(left_dot):
        y_dot = y_dot + is_left * left_dot
    if right is not None and not is_zero(right_dot):
        y_dot = y_dot + is_right * right_dot
    return y_dot[()]
