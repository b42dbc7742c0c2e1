"""Cotangents of matrix, inner, outer and tensor products, for every combination of dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from thunkad.runtime.arrays import conjugate, is_zero, rounds, shape_only, unbroadcast, zeros
from thunkad.runtime.ducks import as_array


def conjugate_transpose(a: Any) -> Any:
    """The Hermitian adjoint of the matrices in the last two axes."""
    a = np.swapaxes(a, -1, -2)
    return a.conj() if a.dtype.kind == "c" else a


def as_conjugate(x: Any) -> Any:
    """The complex conjugate of an operand, as an array (it may have been given as a list)."""
    x = as_array(x)
    return x.conj() if x.dtype.kind == "c" else x


def product_dot(product: Callable[..., Any], a: Any, b: Any, a_dot: Any, b_dot: Any, **options: Any) -> Any:
    """The tangent of a bilinear ``product(a, b)``; a structurally zero tangent drops its term."""
    if is_zero(a_dot):
        return b_dot if is_zero(b_dot) else product(a, b_dot, **options)
    if is_zero(b_dot):
        return product(a_dot, b, **options)
    return product(a_dot, b, **options) + product(a, b_dot, **options)


@shape_only("a")
def matmul_left_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``y = a @ b``."""
    if type(b) is np.ndarray and b.dtype.kind == "f":  # the common cases, without the price of the general ones
        if b.ndim == 2 and np.ndim(a) > 1:
            return y_bar @ b.T
        if b.ndim == 1:
            return y_bar * b if np.ndim(a) == 1 else y_bar[..., None] * b
    a_ndim, b_ndim = np.ndim(a), np.ndim(b)
    b = as_conjugate(b)
    if b_ndim == 2 and a_ndim > 1:
        return y_bar @ np.transpose(b)
    if b_ndim == 1:
        if a_ndim == 1:
            return y_bar * b
        return y_bar[..., None] * b
    if a_ndim == 1:
        return unbroadcast(np.matmul(b, y_bar[..., None])[..., 0], a)
    return unbroadcast(np.matmul(y_bar, np.swapaxes(b, -1, -2)), a)


@shape_only("b")
def matmul_right_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``y = a @ b``."""
    if type(a) is np.ndarray and a.dtype.kind == "f" and np.ndim(b) <= 2:
        if a.ndim == 2:
            return a.T @ y_bar
        if a.ndim == 1 and np.ndim(b) == 1:
            return y_bar * a
    a_ndim, b_ndim = np.ndim(a), np.ndim(b)
    a = as_conjugate(a)
    if a_ndim == 2 and b_ndim <= 2:
        return np.transpose(a) @ y_bar
    if a_ndim == 1:
        if b_ndim == 1:
            return y_bar * a
        return a[..., None] * y_bar[..., None, :]
    if b_ndim <= 2:  # all leading axes of a are summed: one flat product instead of a stack of small ones
        lead = tuple(range(a_ndim - 1))
        return np.tensordot(a, y_bar, axes=(lead, lead))
    return unbroadcast(np.matmul(np.swapaxes(a, -1, -2), y_bar), b)


@shape_only("a")
def dot_left_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.dot(a, b)``."""
    a_ndim, b_ndim = np.ndim(a), np.ndim(b)
    if b_ndim == 2 and a_ndim == 2:
        return y_bar @ np.transpose(as_conjugate(b))
    if b_ndim == 0 or a_ndim == 0:
        return unbroadcast(y_bar * as_conjugate(b), a)
    if b_ndim == 1:
        return inner_left_bar(y_bar, a, b)
    return inner_left_bar(y_bar, a, np.swapaxes(b, -1, -2))


@shape_only("b")
def dot_right_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``y = np.dot(a, b)``."""
    a_ndim, b_ndim = np.ndim(a), np.ndim(b)
    if a_ndim == 2 and 0 < b_ndim <= 2:
        return np.transpose(as_conjugate(a)) @ y_bar
    if b_ndim == 0 or a_ndim == 0:
        return unbroadcast(y_bar * as_conjugate(a), b)
    if b_ndim == 1:
        return inner_right_bar(y_bar, a, b)
    return np.swapaxes(inner_right_bar(y_bar, a, b), -1, -2)


@shape_only("a")
def inner_left_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.inner(a, b)``."""
    a_ndim, b_ndim = np.ndim(a), np.ndim(b)
    if a_ndim == 1 and b_ndim == 1:
        return y_bar * as_conjugate(b)
    if a_ndim == 0 or b_ndim == 0:
        return unbroadcast(y_bar * as_conjugate(b), a)
    return np.tensordot(
        y_bar, as_conjugate(b), axes=(tuple(range(a_ndim - 1, a_ndim + b_ndim - 2)), tuple(range(b_ndim - 1)))
    )


@shape_only("b")
def inner_right_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``y = np.inner(a, b)``."""
    a_ndim, b_ndim = np.ndim(a), np.ndim(b)
    if a_ndim == 1 and b_ndim == 1:
        return y_bar * as_conjugate(a)
    if a_ndim == 0 or b_ndim == 0:
        return unbroadcast(y_bar * as_conjugate(a), b)
    lead = tuple(range(a_ndim - 1))
    return np.tensordot(y_bar, as_conjugate(a), axes=(lead, lead))


@shape_only("a")
def vdot_left_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.vdot(a, b)``, which is linear in the conjugate of ``a``."""
    return conjugate(y_bar) * np.reshape(b, np.shape(a))


@shape_only("b")
def vdot_right_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``y = np.vdot(a, b)``."""
    return y_bar * np.reshape(a, np.shape(b))


@shape_only("a")
def outer_left_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.outer(a, b)``."""
    return np.reshape(y_bar @ np.ravel(as_conjugate(b)), np.shape(a))


@shape_only("b")
def outer_right_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``y = np.outer(a, b)``."""
    return np.reshape(np.ravel(as_conjugate(a)) @ y_bar, np.shape(b))


@shape_only("a", "b")
def contracted_axes(
    a: Any, b: Any, axes: Any
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """What ``np.tensordot`` sums over: contracted axes of ``a`` and of ``b`` (pairwise), then the free ones of each."""
    a_ndim, b_ndim = np.ndim(a), np.ndim(b)
    try:
        a_axes, b_axes = axes
    except TypeError:
        a_axes, b_axes = range(a_ndim - axes, a_ndim), range(axes)
    a_axes = tuple(k % a_ndim for k in np.atleast_1d(np.asarray(a_axes, dtype=int)).tolist())
    b_axes = tuple(k % b_ndim for k in np.atleast_1d(np.asarray(b_axes, dtype=int)).tolist())
    a_free = tuple(k for k in range(a_ndim) if k not in a_axes)
    b_free = tuple(k for k in range(b_ndim) if k not in b_axes)
    return a_axes, b_axes, a_free, b_free


def _placed(x: Any, axes: Sequence[int]) -> Any:
    """``x`` transposed so that its axis ``k`` becomes axis ``axes[k]``."""
    return np.transpose(x, sorted(range(len(axes)), key=axes.__getitem__))


@shape_only("a")
def tensordot_left_bar(y_bar: Any, a: Any, b: Any, axes: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.tensordot(a, b, axes)``."""
    a_axes, b_axes, a_free, b_free = contracted_axes(a, b, axes)
    lead = len(a_free)
    product = np.tensordot(y_bar, as_conjugate(b), axes=(tuple(range(lead, lead + len(b_free))), b_free))
    return _placed(product, a_free + tuple(p for _, p in sorted(zip(b_axes, a_axes))))


@shape_only("b")
def tensordot_right_bar(y_bar: Any, a: Any, b: Any, axes: Any) -> Any:
    """The cotangent of ``b`` in ``y = np.tensordot(a, b, axes)``."""
    a_axes, b_axes, a_free, b_free = contracted_axes(a, b, axes)
    product = np.tensordot(as_conjugate(a), y_bar, axes=(a_free, tuple(range(len(a_free)))))
    return _placed(product, tuple(q for _, q in sorted(zip(a_axes, b_axes))) + b_free)


@shape_only("a", "b")
def _kron_layout(y_bar: Any, a: Any, b: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """A cotangent of ``np.kron(a, b)`` with the axes of both operands interleaved, and their padded shapes."""
    a_shape, b_shape = np.shape(a), np.shape(b)
    ndim = max(len(a_shape), len(b_shape))
    a_shape = (1,) * (ndim - len(a_shape)) + a_shape
    b_shape = (1,) * (ndim - len(b_shape)) + b_shape
    return np.reshape(y_bar, [n for pair in zip(a_shape, b_shape) for n in pair]), a_shape, b_shape


@shape_only("a")
def kron_left_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.kron(a, b)``."""
    y_bar, a_shape, b_shape = _kron_layout(y_bar, a, b)
    ndim = len(a_shape)
    product = np.tensordot(
        y_bar, np.reshape(as_conjugate(b), b_shape), axes=(tuple(range(1, 2 * ndim, 2)), tuple(range(ndim)))
    )
    return np.reshape(product, np.shape(a))


@shape_only("b")
def kron_right_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``y = np.kron(a, b)``."""
    y_bar, a_shape, _ = _kron_layout(y_bar, a, b)
    ndim = len(a_shape)
    product = np.tensordot(
        np.reshape(as_conjugate(a), a_shape), y_bar, axes=(tuple(range(ndim)), tuple(range(0, 2 * ndim, 2)))
    )
    return np.reshape(product, np.shape(b))


def _as_space_vectors(v: Any, axis: int) -> Any:
    """Vectors moved to the last axis, plane ones extended by a zero."""
    v = np.moveaxis(as_array(v), axis, -1)
    if v.shape[-1] == 3:
        return v
    return np.concatenate([v, np.zeros(v.shape[:-1] + (1,), v.dtype)], axis=-1)


def _cross_bar(y_bar: Any, x: Any, x_axis: int, other: Any, other_axis: int, y_axis: int, plane: bool) -> Any:
    """``other × y_bar`` brought to the layout of ``x``."""
    other = conjugate(_as_space_vectors(other, other_axis))
    if plane:  # the product of two plane vectors is the third component alone
        y_bar = as_array(y_bar)[..., None]
        y_bar = np.concatenate([np.zeros(y_bar.shape[:-1] + (2,), y_bar.dtype), y_bar], axis=-1)
    else:
        y_bar = np.moveaxis(y_bar, y_axis, -1)
    x_bar = np.cross(other, y_bar)[..., : np.shape(x)[x_axis]]
    moved = np.moveaxis(np.empty(np.shape(x), bool), x_axis, -1)
    return np.moveaxis(unbroadcast(x_bar, moved), -1, x_axis)


@shape_only("a")
def cross_left_bar(
    y_bar: Any, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """The cotangent of ``a`` in ``y = np.cross(a, b, …)``."""
    if axis is not None:
        axisa = axisb = axisc = axis
    plane = np.shape(a)[axisa] == 2 and np.shape(b)[axisb] == 2
    return _cross_bar(y_bar, a, axisa, b, axisb, axisc, plane)


@shape_only("b")
def cross_right_bar(
    y_bar: Any, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """The cotangent of ``b`` in ``y = np.cross(a, b, …)``."""
    if axis is not None:
        axisa = axisb = axisc = axis
    plane = np.shape(a)[axisa] == 2 and np.shape(b)[axisb] == 2
    return -_cross_bar(y_bar, b, axisb, a, axisa, axisc, plane)


@shape_only("a")
def vecdot_left_bar(y_bar: Any, a: Any, b: Any, axis: int = -1) -> Any:
    """The cotangent of ``a`` in ``y = np.vecdot(a, b)``, which is linear in the conjugate of ``a``."""
    return _vecdot_bar(conjugate(y_bar), b, a, axis)


@shape_only("b")
def vecdot_right_bar(y_bar: Any, a: Any, b: Any, axis: int = -1) -> Any:
    """The cotangent of ``b`` in ``y = np.vecdot(a, b)``."""
    return _vecdot_bar(y_bar, a, b, axis)


def _vecdot_bar(y_bar: Any, other: Any, x: Any, axis: int) -> Any:
    if axis == -1:
        return unbroadcast(as_array(y_bar)[..., None] * as_array(other), x)
    moved = np.moveaxis(np.empty(np.shape(x), bool), axis, -1)
    return np.moveaxis(_vecdot_bar(y_bar, np.moveaxis(other, axis, -1), moved, -1), -1, axis)


@shape_only("a")
def matvec_left_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of the matrices in ``y = np.matvec(a, b)``."""
    return unbroadcast(y_bar[..., :, None] * as_conjugate(b)[..., None, :], a)


@shape_only("b")
def matvec_right_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of the vectors in ``y = np.matvec(a, b)``."""
    return unbroadcast(np.matmul(np.swapaxes(as_conjugate(a), -1, -2), y_bar[..., None])[..., 0], b)


@shape_only("a")
def vecmat_left_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of the vectors in ``y = np.vecmat(a, b)``, which is linear in the conjugate of ``a``."""
    return unbroadcast(np.matmul(b, conjugate(y_bar)[..., None])[..., 0], a)


@shape_only("b")
def vecmat_right_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of the matrices in ``y = np.vecmat(a, b)``."""
    return unbroadcast(as_array(a)[..., :, None] * y_bar[..., None, :], b)


@shape_only("x")
def on_diagonal(d_bar: Any, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Zeros in the shape of ``x`` with ``d_bar`` (a diagonal, in the last axis) put on its diagonal."""
    x_bar = np.zeros(np.shape(x), np.result_type(d_bar))
    matrices = np.moveaxis(x_bar, (axis1, axis2), (-2, -1))
    rows, columns = matrices.shape[-2:]
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    index = np.arange(length)
    matrices[..., index - min(offset, 0), index + max(offset, 0)] = d_bar
    return x_bar


@shape_only("x")
def trace_bar(y_bar: Any, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The cotangent of ``x`` in ``y = np.trace(x, offset, axis1, axis2, dtype)``."""
    if dtype is not None and rounds(x, dtype):
        return zeros(x)
    return on_diagonal(as_array(y_bar)[..., None], x, offset, axis1, axis2)
