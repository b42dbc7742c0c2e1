"""Products in the ``np.linalg`` namespace: those of the array API, chains and powers of matrices."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import frule, rrule
from thunkad.runtime.einsum import (
    matrix_power_bar,
    matrix_power_dot,
    multi_dot_bars,
    multi_dot_bars_dot,
    multi_dot_dot,
)
from thunkad.runtime.products import (
    cross_left_bar,
    cross_right_bar,
    matmul_left_bar,
    matmul_right_bar,
    on_diagonal,
    outer_left_bar,
    outer_right_bar,
    product_dot,
    tensordot_left_bar,
    tensordot_right_bar,
    trace_bar,
    vecdot_left_bar,
    vecdot_right_bar,
)
from thunkad.tangents import NoTangent, thunk

# The namespace of the array API: the same products under stricter signatures.


@rrule(np.linalg.matmul)
def _(x1, x2):
    y = np.linalg.matmul(x1, x2)

    def pullback(y_bar):
        return thunk(lambda: matmul_left_bar(y_bar, x1, x2)), thunk(lambda: matmul_right_bar(y_bar, x1, x2))

    return y, pullback


@frule(np.linalg.matmul)
def _(x1, x2, *, x1_dot, x2_dot):
    return np.linalg.matmul(x1, x2), x1_dot @ x2 + x1 @ x2_dot


@rrule(np.linalg.outer)
def _(x1, x2):
    y = np.linalg.outer(x1, x2)

    def pullback(y_bar):
        return thunk(lambda: outer_left_bar(y_bar, x1, x2)), thunk(lambda: outer_right_bar(y_bar, x1, x2))

    return y, pullback


@frule(np.linalg.outer)
def _(x1, x2, *, x1_dot, x2_dot):
    return np.linalg.outer(x1, x2), product_dot(np.linalg.outer, x1, x2, x1_dot, x2_dot)


@rrule(np.linalg.tensordot)
def _(x1, x2, *, axes=2):
    y = np.linalg.tensordot(x1, x2, axes=axes)

    def pullback(y_bar):
        return thunk(lambda: tensordot_left_bar(y_bar, x1, x2, axes)), thunk(
            lambda: tensordot_right_bar(y_bar, x1, x2, axes)
        )

    return y, pullback


@frule(np.linalg.tensordot)
def _(x1, x2, *, axes=2, x1_dot, x2_dot):
    return np.linalg.tensordot(x1, x2, axes=axes), product_dot(np.linalg.tensordot, x1, x2, x1_dot, x2_dot, axes=axes)


@rrule(np.linalg.vecdot)
def _(x1, x2, *, axis=-1):
    y = np.linalg.vecdot(x1, x2, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: vecdot_left_bar(y_bar, x1, x2, axis)), thunk(lambda: vecdot_right_bar(y_bar, x1, x2, axis))

    return y, pullback


@frule(np.linalg.vecdot)
def _(x1, x2, *, axis=-1, x1_dot, x2_dot):
    return np.linalg.vecdot(x1, x2, axis=axis), product_dot(np.linalg.vecdot, x1, x2, x1_dot, x2_dot, axis=axis)


@rrule(np.linalg.cross)
def _(x1, x2, *, axis=-1):
    y = np.linalg.cross(x1, x2, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: cross_left_bar(y_bar, x1, x2, axis, axis, axis)), thunk(
            lambda: cross_right_bar(y_bar, x1, x2, axis, axis, axis)
        )

    return y, pullback


@frule(np.linalg.cross)
def _(x1, x2, *, axis=-1, x1_dot, x2_dot):
    return np.linalg.cross(x1, x2, axis=axis), product_dot(np.linalg.cross, x1, x2, x1_dot, x2_dot, axis=axis)


@rrule(np.linalg.trace)
def _(x, *, offset=0, dtype=None):
    y = np.linalg.trace(x, offset=offset, dtype=dtype)

    def pullback(y_bar):
        return (thunk(lambda: trace_bar(y_bar, x, offset, -2, -1, dtype)),)

    return y, pullback


@frule(np.linalg.trace)
def _(x, *, offset=0, dtype=None, x_dot):
    return np.linalg.trace(x, offset=offset, dtype=dtype), np.linalg.trace(x_dot, offset=offset)


@rrule(np.linalg.diagonal)
def _(x, *, offset=0):
    y = np.linalg.diagonal(x, offset=offset)

    def pullback(y_bar):
        return (thunk(lambda: on_diagonal(y_bar, x, offset, -2, -1)),)

    return y, pullback


@frule(np.linalg.diagonal)
def _(x, *, offset=0, x_dot):
    return np.linalg.diagonal(x, offset=offset), np.linalg.diagonal(x_dot, offset=offset)


@rrule(np.linalg.matrix_transpose)
def _(x):
    y = np.linalg.matrix_transpose(x)

    def pullback(y_bar):
        return (thunk(lambda: np.swapaxes(y_bar, -1, -2)),)

    return y, pullback


@frule(np.linalg.matrix_transpose)
def _(x, *, x_dot):
    return np.linalg.matrix_transpose(x), np.swapaxes(x_dot, -1, -2)


@rrule(np.linalg.multi_dot)
def _(arrays):
    y = np.linalg.multi_dot(arrays)

    def pullback(y_bar):
        return (thunk(lambda: multi_dot_bars(y_bar, arrays)),)

    return y, pullback


@frule(np.linalg.multi_dot)
def _(arrays, *, arrays_dot):
    return np.linalg.multi_dot(arrays), multi_dot_dot(arrays, arrays_dot)


@frule(multi_dot_bars)
def _(y_bar, arrays, *, y_bar_dot, arrays_dot):
    return multi_dot_bars(y_bar, arrays), multi_dot_bars_dot(y_bar, arrays, y_bar_dot, arrays_dot)


@rrule(np.linalg.matrix_power)
def _(a, n):
    y = np.linalg.matrix_power(a, n)

    def pullback(y_bar):
        return thunk(lambda: matrix_power_bar(y_bar, a, n)), NoTangent()

    return y, pullback


@frule(np.linalg.matrix_power)
def _(a, n, *, a_dot):
    return np.linalg.matrix_power(a, n), matrix_power_dot(a, a_dot, n)
