"""Cotangents and tangents of ``np.cov`` and ``np.corrcoef``."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import conjugate, is_zero
from thunkad.tangents import ZERO


def _rows(m: Any, rowvar: bool) -> Any:
    """The variables of one argument as rows."""
    rows = np.atleast_2d(m)
    rows = rows.astype(np.result_type(rows, np.float64))
    return rows if rowvar or np.shape(rows)[0] == 1 else rows.T


def _centred(m: Any, y: Any, rowvar: bool) -> Any:
    x = _rows(m, rowvar) if y is None else np.concatenate([_rows(m, rowvar), _rows(y, rowvar)])
    return x - np.mean(x, axis=1, keepdims=True)


def _freedom(observations: int, bias: bool, ddof: Any) -> Any:
    return observations - ((0 if bias else 1) if ddof is None else ddof)


def cov_bars(c_bar: Any, m: Any, y: Any, rowvar: bool = True, bias: bool = False, ddof: Any = None) -> tuple[Any, Any]:
    """The cotangents of ``m`` and ``y`` for ``np.cov(m, y)``."""
    x = _centred(m, y, rowvar)
    c_bar = np.reshape(c_bar, (len(x), len(x)))
    x_bar = (c_bar + conjugate(c_bar.T)) @ x / _freedom(x.shape[1], bias, ddof)
    count = len(_rows(m, rowvar))
    return _shaped(x_bar[:count], m, rowvar), ZERO if y is None else _shaped(x_bar[count:], y, rowvar)


def _shaped(rows_bar: Any, m: Any, rowvar: bool) -> Any:
    transposed = not (rowvar or np.shape(np.atleast_2d(m))[0] == 1)
    bar = np.reshape(rows_bar.T if transposed else rows_bar, np.shape(m))
    return bar if np.iscomplexobj(m) else np.real(bar)


def cov_dot(m_dot: Any, y_dot: Any, m: Any, y: Any, rowvar: bool = True, bias: bool = False, ddof: Any = None) -> Any:
    """The tangent of ``np.cov(m, y)``."""
    x = _centred(m, y, rowvar)
    m_dot = np.zeros(np.shape(m)) if is_zero(m_dot) else m_dot
    if y is not None:
        y_dot = np.zeros(np.shape(y)) if is_zero(y_dot) else y_dot
    x_dot = _rows(m_dot, rowvar) if y is None else np.concatenate([_rows(m_dot, rowvar), _rows(y_dot, rowvar)])
    half = x_dot @ conjugate(x.T) / _freedom(x.shape[1], bias, ddof)
    return np.squeeze(half + conjugate(half.T))[()]


def _scales(c: Any) -> Any:
    return np.sqrt(np.real(np.diagonal(c)))


def corrcoef_bars(r_bar: Any, x: Any, y: Any, rowvar: bool = True) -> tuple[Any, Any]:
    """The cotangents of ``x`` and ``y`` for ``np.corrcoef(x, y)``."""
    if np.ndim(r_bar) == 0:  # one variable: always 1
        return np.zeros(np.shape(x)), ZERO
    c = np.cov(x, y, rowvar)
    scale = _scales(c)
    outer = np.outer(scale, scale)
    # r = c / outer, and the scales are the roots of the diagonal of c
    pull = np.real(r_bar * conjugate(c)) / outer
    on_diagonal = -(np.sum(pull, axis=0) + np.sum(pull, axis=1)) / (2 * scale**2)
    return cov_bars(r_bar / outer + np.diag(on_diagonal), x, y, rowvar)


def corrcoef_dot(x_dot: Any, y_dot: Any, x: Any, y: Any, rowvar: bool = True) -> Any:
    """The tangent of ``np.corrcoef(x, y)``."""
    c = np.cov(x, y, rowvar)
    if np.ndim(c) == 0:
        return 0.0
    c_dot = cov_dot(x_dot, y_dot, x, y, rowvar)
    scale = _scales(c)
    relative = np.real(np.diagonal(c_dot)) / (2 * scale**2)
    return (c_dot - c * (relative[:, None] + relative)) / np.outer(scale, scale)
