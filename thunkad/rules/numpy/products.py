"""Matrix, inner, outer and tensor products, einsum, kron, cross and trace."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.linear import bilinear, linear
from thunkad.runtime.einsum import (
    array_positions,
    einsum_bar,
    einsum_bar_dot,
    einsum_bars,
    einsum_bars_dot,
    einsum_dot,
    is_array_at,
    when_read,
)
from thunkad.runtime.precision import unless_rounded
from thunkad.runtime.products import (
    cross_left_bar,
    cross_right_bar,
    dot_left_bar,
    dot_right_bar,
    inner_left_bar,
    inner_right_bar,
    kron_left_bar,
    kron_right_bar,
    matmul_left_bar,
    matmul_right_bar,
    matvec_left_bar,
    matvec_right_bar,
    on_diagonal,
    outer_left_bar,
    outer_right_bar,
    product_dot,
    tensordot_left_bar,
    tensordot_right_bar,
    trace_bar,
    vdot_left_bar,
    vdot_right_bar,
    vecdot_left_bar,
    vecdot_right_bar,
    vecmat_left_bar,
    vecmat_right_bar,
)
from thunkad.tangents import NoTangent, thunk

non_differentiable(np.einsum_path)

bilinear(
    2,
    cross_left_bar,
    dot_left_bar,
    inner_left_bar,
    kron_left_bar,
    matmul_left_bar,
    matvec_left_bar,
    outer_left_bar,
    tensordot_left_bar,
    vdot_left_bar,
    vecdot_left_bar,
    vecmat_left_bar,
)
bilinear(
    1,
    cross_right_bar,
    dot_right_bar,
    inner_right_bar,
    kron_right_bar,
    matmul_right_bar,
    matvec_right_bar,
    outer_right_bar,
    tensordot_right_bar,
    vdot_right_bar,
    vecdot_right_bar,
    vecmat_right_bar,
)
linear(trace_bar, on_diagonal, unless_rounded)


non_differentiable(is_array_at, array_positions)


@alternative(when_read)
def _(parts):
    return tuple(parts)


@frule(einsum_bar)
def _(y_bar, operands, position, optimize=False, *, y_bar_dot, operands_dot):
    value = einsum_bar(y_bar, operands, position, optimize)
    return value, einsum_bar_dot(y_bar, operands, position, optimize, y_bar_dot, operands_dot)


@frule(einsum_bars)
def _(y_bar, operands, optimize, *, y_bar_dot, operands_dot):
    return einsum_bars(y_bar, operands, optimize), einsum_bars_dot(y_bar, operands, optimize, y_bar_dot, operands_dot)


@rrule(np.matmul)
def _(a, b):
    y = np.matmul(a, b)

    def pullback(y_bar):
        return thunk(lambda: matmul_left_bar(y_bar, a, b)), thunk(lambda: matmul_right_bar(y_bar, a, b))

    return y, pullback


@frule(np.matmul)
def _(a, b, *, a_dot, b_dot):
    return np.matmul(a, b), a_dot @ b + a @ b_dot


@rrule(np.dot)
def _(a, b):
    y = np.dot(a, b)

    def pullback(y_bar):
        return thunk(lambda: dot_left_bar(y_bar, a, b)), thunk(lambda: dot_right_bar(y_bar, a, b))

    return y, pullback


@frule(np.dot)
def _(a, b, *, a_dot, b_dot):
    return np.dot(a, b), product_dot(np.dot, a, b, a_dot, b_dot)


@rrule(np.inner)
def _(a, b):
    y = np.inner(a, b)

    def pullback(y_bar):
        return thunk(lambda: inner_left_bar(y_bar, a, b)), thunk(lambda: inner_right_bar(y_bar, a, b))

    return y, pullback


@frule(np.inner)
def _(a, b, *, a_dot, b_dot):
    return np.inner(a, b), product_dot(np.inner, a, b, a_dot, b_dot)


@rrule(np.vdot)
def _(a, b):
    y = np.vdot(a, b)

    def pullback(y_bar):
        return thunk(lambda: vdot_left_bar(y_bar, a, b)), thunk(lambda: vdot_right_bar(y_bar, a, b))

    return y, pullback


@frule(np.vdot)
def _(a, b, *, a_dot, b_dot):
    return np.vdot(a, b), product_dot(np.vdot, a, b, a_dot, b_dot)


@rrule(np.outer)
def _(a, b):
    y = np.outer(a, b)

    def pullback(y_bar):
        return thunk(lambda: outer_left_bar(y_bar, a, b)), thunk(lambda: outer_right_bar(y_bar, a, b))

    return y, pullback


@frule(np.outer)
def _(a, b, *, a_dot, b_dot):
    return np.outer(a, b), product_dot(np.outer, a, b, a_dot, b_dot)


@rrule(np.kron)
def _(a, b):
    y = np.kron(a, b)

    def pullback(y_bar):
        return thunk(lambda: kron_left_bar(y_bar, a, b)), thunk(lambda: kron_right_bar(y_bar, a, b))

    return y, pullback


@frule(np.kron)
def _(a, b, *, a_dot, b_dot):
    return np.kron(a, b), product_dot(np.kron, a, b, a_dot, b_dot)


@rrule(np.tensordot)
def _(a, b, axes=2):
    y = np.tensordot(a, b, axes=axes)

    def pullback(y_bar):
        return (
            thunk(lambda: tensordot_left_bar(y_bar, a, b, axes)),
            thunk(lambda: tensordot_right_bar(y_bar, a, b, axes)),
            NoTangent(),
        )

    return y, pullback


@frule(np.tensordot)
def _(a, b, axes=2, *, a_dot, b_dot):
    return np.tensordot(a, b, axes=axes), product_dot(np.tensordot, a, b, a_dot, b_dot, axes=axes)


@rrule(np.cross)
def _(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    y = np.cross(a, b, axisa=axisa, axisb=axisb, axisc=axisc, axis=axis)

    def pullback(y_bar):
        return (
            thunk(lambda: cross_left_bar(y_bar, a, b, axisa, axisb, axisc, axis)),
            thunk(lambda: cross_right_bar(y_bar, a, b, axisa, axisb, axisc, axis)),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.cross)
def _(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None, *, a_dot, b_dot):
    return np.cross(a, b, axisa=axisa, axisb=axisb, axisc=axisc, axis=axis), product_dot(
        np.cross, a, b, a_dot, b_dot, axisa=axisa, axisb=axisb, axisc=axisc, axis=axis
    )


@rrule(np.einsum)
def _(*operands, dtype=None, order="K", casting="safe", optimize=False):
    y = np.einsum(*operands, dtype=dtype, order=order, casting=casting, optimize=optimize)

    def pullback(y_bar):
        return (thunk(lambda: einsum_bars(unless_rounded(y_bar, dtype), operands, optimize)),)

    return y, pullback


@frule(np.einsum)
def _(*operands, dtype=None, order="K", casting="safe", optimize=False, operands_dot):
    y = np.einsum(*operands, dtype=dtype, order=order, casting=casting, optimize=optimize)
    return y, unless_rounded(einsum_dot(operands, operands_dot, optimize), dtype)


@rrule(np.trace)
def _(a, offset=0, axis1=0, axis2=1, dtype=None):
    y = np.trace(a, offset=offset, axis1=axis1, axis2=axis2, dtype=dtype)

    def pullback(y_bar):
        return (
            thunk(lambda: trace_bar(y_bar, a, offset, axis1, axis2, dtype)),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.trace)
def _(a, offset=0, axis1=0, axis2=1, dtype=None, *, a_dot):
    y = np.trace(a, offset=offset, axis1=axis1, axis2=axis2, dtype=dtype)
    return y, np.trace(a_dot, offset=offset, axis1=axis1, axis2=axis2)


if hasattr(np, "vecdot"):  # NumPy 2.0

    @rrule(np.vecdot)
    def _(x1, x2, *, axis=-1):
        y = np.vecdot(x1, x2, axis=axis)

        def pullback(y_bar):
            return thunk(lambda: vecdot_left_bar(y_bar, x1, x2, axis)), thunk(
                lambda: vecdot_right_bar(y_bar, x1, x2, axis)
            )

        return y, pullback

    @frule(np.vecdot)
    def _(x1, x2, *, axis=-1, x1_dot, x2_dot):
        return np.vecdot(x1, x2, axis=axis), product_dot(np.vecdot, x1, x2, x1_dot, x2_dot, axis=axis)


if hasattr(np, "matvec"):  # NumPy 2.2

    @rrule(np.matvec)
    def _(x1, x2):
        y = np.matvec(x1, x2)

        def pullback(y_bar):
            return thunk(lambda: matvec_left_bar(y_bar, x1, x2)), thunk(lambda: matvec_right_bar(y_bar, x1, x2))

        return y, pullback

    @frule(np.matvec)
    def _(x1, x2, *, x1_dot, x2_dot):
        return np.matvec(x1, x2), product_dot(np.matvec, x1, x2, x1_dot, x2_dot)

    @rrule(np.vecmat)
    def _(x1, x2):
        y = np.vecmat(x1, x2)

        def pullback(y_bar):
            return thunk(lambda: vecmat_left_bar(y_bar, x1, x2)), thunk(lambda: vecmat_right_bar(y_bar, x1, x2))

        return y, pullback

    @frule(np.vecmat)
    def _(x1, x2, *, x1_dot, x2_dot):
        return np.vecmat(x1, x2), product_dot(np.vecmat, x1, x2, x1_dot, x2_dot)
