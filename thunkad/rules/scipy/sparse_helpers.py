"""Sparse matrices: their tangents and cotangents hold the entries that are stored, as the field ``data``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import spsolve

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.complex import real_part
from thunkad.runtime.cotangents import add, entry
from thunkad.tangents import ZERO, AbstractZero, NotImplementedTangent, Tangent, unthunk

#: The formats that store one number for each pair of a row and a column.
_BY_ENTRY = ("coo", "csr", "csc")


# Plain operations, each with rules in ``sparse``


def assembled(cls: type, content: Any, shape: Any, dtype: Any, copy: bool) -> Any:
    return cls(content, shape=shape, dtype=dtype, copy=copy)


def converted(matrix: Any, method: str) -> Any:
    """``matrix.method()``: another format, or transposed."""
    return getattr(matrix, method)()


def product(matrix: Any, x: Any) -> Any:
    return matrix @ x


def scaled(matrix: Any, factor: Any) -> Any:
    return matrix * factor


def combined(matrix: Any, other: Any, sign: float) -> Any:
    """``matrix + other`` or, for a negative sign, ``matrix - other``, both of them sparse."""
    return matrix + other if sign > 0 else matrix - other


def dense_of(matrix: Any) -> Any:
    return matrix.toarray()


def diagonal_of(matrix: Any) -> Any:
    return matrix.diagonal()


def total_of(matrix: Any) -> Any:
    return matrix.sum()


def solved(matrix: Any, b: Any) -> Any:
    if matrix.format in ("csr", "csc") and not matrix.has_canonical_format:
        matrix = matrix.copy()  # SciPy sorts it in place, and its tangent has the order it has now
    return spsolve(matrix, b)


# Pullbacks read matrices, which are too large to be copied for each of them


def marks(matrix: Any) -> Any:
    """Numbers that change when the matrix is changed in place."""
    data = matrix.data
    if matrix.format not in _BY_ENTRY:
        return ()
    return np.sum(data), np.vdot(data, data), np.dot(np.linspace(1.0, 2.0, len(data)), data)


def check_unchanged(matrix: Any, then: Any) -> None:
    if not np.allclose(marks(matrix), then, rtol=1e-10, atol=0.0, equal_nan=True):
        raise UnsupportedSyntaxError(
            "a sparse matrix is changed in place after a product or a system that is differentiated has used it",
            hint="change a copy of it, as in K = 2 * K",
        )


# What the rules compute


def places(matrix: Any) -> tuple[Any, Any]:
    """The row and the column of each number that is stored."""
    found = matrix.tocoo()
    return found.coords if matrix.ndim == 2 else (np.zeros_like(found.coords[0]), found.coords[0])


def of_entries(matrix: Any, data: Any) -> Any:
    """The cotangent or tangent of a sparse matrix whose numbers have this one."""
    if matrix.format not in _BY_ENTRY:
        return NotImplementedTangent(
            f"the entries of a sparse matrix in the format {matrix.format!r} have no derivative; use csr, csc or coo"
        )
    return Tangent(type(matrix), {"data": data if np.iscomplexobj(matrix.data) else real_part(data)})


def entries(dot: Any) -> Any:
    """What a tangent or cotangent of a sparse matrix says of the stored numbers."""
    if isinstance(dot, NotImplementedTangent):
        return dot
    return entry(dot, "data")


def with_entries(matrix: Any, data: Any) -> Any:
    """A matrix like ``matrix`` with these numbers in the same places."""
    made = matrix.copy()
    made.data = np.asarray(data)
    return made


def picked(bar: Any, made: Any, row: Any, column: Any) -> Any:
    """The entries of the cotangent of the sparse matrix ``made`` that stand at these places."""
    data = entries(bar)
    if isinstance(data, (AbstractZero, NotImplementedTangent)):
        return data
    rows, columns = places(made)
    width = made.shape[-1]
    keys = rows.astype(np.int64) * width + columns
    order = np.argsort(keys, kind="stable")
    wanted = np.asarray(row, np.int64) * width + column
    return data[order[np.searchsorted(keys[order], wanted)]]


def spread(made: Any, row: Any, column: Any, data: Any) -> Any:
    """The numbers of a matrix with the places of ``made`` when ``data`` is added up at these places."""
    rows, columns = places(made)
    width = made.shape[-1]
    keys = rows.astype(np.int64) * width + columns
    order = np.argsort(keys, kind="stable")
    found = np.zeros(len(keys), np.result_type(data, made.data))
    np.add.at(found, order[np.searchsorted(keys[order], np.asarray(row, np.int64) * width + column)], data)
    return found


def content_bar(made_bar: Any, made: Any, content: Any) -> Any:
    """The cotangent of what a sparse matrix was made of."""
    if made.dtype.kind not in "fc":
        return ZERO
    if isinstance(content, tuple) and len(content) == 2 and isinstance(content[1], (tuple, list)):
        if made.format == "coo":  # which keeps numbers for one place apart
            return like(entries(made_bar), content[0]), ZERO
        return like(picked(made_bar, made, *_pair(content[1])), content[0]), ZERO
    if isinstance(content, tuple) and len(content) == 3:
        return like(entries(made_bar), content[0]), ZERO, ZERO
    if issparse(content):
        return of_entries(content, picked(made_bar, made, *places(content)))
    x_bar = np.zeros(np.shape(content), np.result_type(made.data, float))
    rows, columns = places(made)
    x_bar[(rows, columns) if x_bar.ndim == 2 else columns] = entries(made_bar)
    return like(x_bar, content)


def like(bar: Any, data: Any) -> Any:
    """The real part of a cotangent of real numbers."""
    return bar if isinstance(bar, (AbstractZero, NotImplementedTangent)) or np.iscomplexobj(data) else real_part(bar)


def made_dot(content_dot: Any, made: Any, content: Any, copy: bool) -> Any:
    """The tangent of a sparse matrix made of ``content``; it shares memory where the matrix does."""
    if made.dtype.kind not in "fc":
        return ZERO
    if isinstance(content, tuple) and len(content) == 2 and isinstance(content[1], (tuple, list)):
        data_dot = numbers(entry(content_dot, 0))
        if isinstance(data_dot, AbstractZero) or made.format == "coo":
            return Tangent(type(made), {"data": shared_as(data_dot, made, content[0], copy)})
        return Tangent(type(made), {"data": spread(made, *_pair(content[1]), data_dot)})
    if isinstance(content, tuple) and len(content) == 3:
        return Tangent(type(made), {"data": shared_as(numbers(entry(content_dot, 0)), made, content[0], copy)})
    if issparse(content):
        return converted_dot(content_dot, made, content, False)
    rows, columns = places(made)
    return Tangent(type(made), {"data": content_dot[(rows, columns) if np.ndim(content) == 2 else columns]})


def numbers(dot: Any) -> Any:
    """The tangent of a list of numbers as an array."""
    if not isinstance(dot, (list, tuple)):
        return dot
    return np.array([0.0 if isinstance(part, AbstractZero) else part for part in map(unthunk, dot)])


def shared_as(dot: Any, made: Any, data: Any, copy: bool) -> Any:
    """The tangent of the numbers of ``made``, which are ``data`` in its order: shared if they are, else a copy."""
    shared = not copy and isinstance(data, np.ndarray) and data.dtype == made.dtype
    return dot if shared or isinstance(dot, AbstractZero) else np.array(dot)


def _pair(where: Any) -> tuple[Any, Any]:
    return (0, where[0]) if len(where) == 1 else (where[0], where[1])


def converted_bar(made_bar: Any, made: Any, matrix: Any, turned: bool) -> Any:
    """The cotangent of a sparse matrix that was brought into another format or, if ``turned``, transposed."""
    row, column = places(matrix)
    return of_entries(matrix, picked(made_bar, made, *((column, row) if turned else (row, column))))


def converted_dot(matrix_dot: Any, made: Any, matrix: Any, turned: bool) -> Any:
    data_dot = entries(matrix_dot)
    if isinstance(data_dot, (AbstractZero, NotImplementedTangent)):
        return data_dot
    if np.may_share_memory(made.data, matrix.data):
        return Tangent(type(made), {"data": data_dot})
    row, column = places(matrix)
    return Tangent(type(made), {"data": spread(made, *((column, row) if turned else (row, column)), data_dot)})


def outer_entries(y_bar: Any, x: Any, matrix: Any) -> Any:
    """The cotangent of the stored numbers of ``matrix`` in ``y = matrix @ x``."""
    row, column = places(matrix)
    y_bar, x = np.asarray(y_bar), np.asarray(x)
    if matrix.ndim == 1:
        y_bar = y_bar[None]
    shares = y_bar[row] * np.conj(x[column])
    return of_entries(matrix, shares if shares.ndim == 1 else shares.sum(-1))


def product_bar(y_bar: Any, x: Any, matrix: Any) -> Any:
    """The cotangent of ``x`` in ``y = matrix @ x``."""
    x_bar = np.asarray(matrix.conj().T @ y_bar) if matrix.ndim == 2 else np.multiply.outer(matrix.toarray(), y_bar)
    return x_bar if np.iscomplexobj(x) else real_part(x_bar)


def product_bar_dot(y_bar: Any, x: Any, matrix: Any, y_bar_dot: Any, matrix_dot: Any) -> Any:
    total = y_bar_dot if isinstance(y_bar_dot, AbstractZero) else product_bar(y_bar_dot, x, matrix)
    data_dot = entries(matrix_dot)
    if isinstance(data_dot, (AbstractZero, NotImplementedTangent)):
        return add(total, data_dot)
    return add(total, product_bar(y_bar, x, with_entries(matrix, data_dot)))


def product_dot(matrix: Any, x: Any, matrix_dot: Any, x_dot: Any) -> Any:
    parts = []
    if not isinstance(x_dot, AbstractZero):
        parts.append(matrix @ x_dot)
    data_dot = entries(matrix_dot)
    if isinstance(data_dot, NotImplementedTangent):
        return data_dot
    if not isinstance(data_dot, AbstractZero):
        parts.append(with_entries(matrix, data_dot) @ x)
    return sum(parts[1:], parts[0]) if parts else ZERO


def solved_bar(x_bar: Any, matrix: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``x = spsolve(matrix, b)``."""
    b_bar = np.reshape(spsolve(matrix.conj().T.asformat(matrix.format), x_bar), np.shape(b))
    return b_bar if np.iscomplexobj(b) else real_part(b_bar)


def solved_bar_dot(b_bar: Any, matrix: Any, b: Any, x_bar_dot: Any, matrix_dot: Any) -> Any:
    moved = product_bar_dot(b_bar, b, matrix, ZERO, matrix_dot)
    right = x_bar_dot if isinstance(moved, AbstractZero) else add(x_bar_dot, -np.asarray(moved))
    return right if isinstance(right, (AbstractZero, NotImplementedTangent)) else solved_bar(right, matrix, b)


def solved_matrix_bar(b_bar: Any, x: Any, matrix: Any) -> Any:
    return outer_entries(-np.reshape(b_bar, np.shape(x)), x, matrix)


def solved_dot(matrix: Any, x: Any, matrix_dot: Any, b_dot: Any) -> Any:
    right = ZERO if isinstance(b_dot, AbstractZero) else np.reshape(b_dot, np.shape(x))
    moved = product_dot(matrix, x, matrix_dot, ZERO)
    if not isinstance(moved, AbstractZero):
        right = -moved if isinstance(right, AbstractZero) else right - moved
    return right if isinstance(right, (AbstractZero, NotImplementedTangent)) else solved(matrix, right)


def dense_bar(y_bar: Any, matrix: Any) -> Any:
    return of_entries(matrix, np.asarray(y_bar)[places(matrix) if matrix.ndim == 2 else places(matrix)[1]])


def total_bar(y_bar: Any, matrix: Any) -> Any:
    return of_entries(matrix, np.full(matrix.data.shape, y_bar))


def scaled_bar(y_bar: Any, factor: Any, matrix: Any) -> Any:
    return of_entries(matrix, entries(y_bar) * np.conj(factor))


def factor_bar(y_bar: Any, data: Any, factor: Any) -> Any:
    found = np.sum(entries(y_bar) * np.conj(data))
    return found if np.iscomplexobj(factor) else real_part(found)


def stored(matrix: Any) -> Any:
    """A copy of the stored numbers of a sparse matrix, or what its tangent says of them."""
    data = entries(matrix) if isinstance(matrix, Tangent) else matrix.data
    return data.copy() if isinstance(data, np.ndarray) else data


def combined_bar(y_bar: Any, made: Any, matrix: Any, sign: float) -> Any:
    """The cotangent of ``matrix``, one of the two that ``made`` is the sum or difference of."""
    return of_entries(matrix, sign * picked(y_bar, made, *places(matrix)))


def diagonal_bar(y_bar: Any, matrix: Any) -> Any:
    row, column = places(matrix)
    on = row == column
    data = np.zeros(len(row), np.result_type(y_bar, float))
    data[on] = np.asarray(y_bar)[row[on]]
    return of_entries(matrix, data)


def combined_dot(made: Any, matrix: Any, other: Any, sign: float, matrix_dot: Any, other_dot: Any) -> Any:
    """The tangent of ``made``, the sum or difference of two sparse matrices."""
    total: Any = 0.0
    for part, part_dot, factor in ((matrix, matrix_dot, 1.0), (other, other_dot, sign)):
        data_dot = entries(part_dot)
        if isinstance(data_dot, NotImplementedTangent):
            return data_dot
        if not isinstance(data_dot, AbstractZero):
            total = total + spread(made, *places(part), factor * data_dot)
    return of_entries(made, np.broadcast_to(total, made.data.shape) * 1.0)


def factors_bar(x_bar: Any, factors: Any, rhs: Any, trans: str) -> Any:
    """The cotangent of ``rhs`` in ``x = factors.solve(rhs, trans)``."""
    rhs = np.asarray(rhs)
    if trans == "T":
        found = np.conj(factors.solve(np.conj(x_bar), "N"))
    else:
        found = factors.solve(np.asarray(x_bar), "H" if trans == "N" else "N")
    return found if np.iscomplexobj(rhs) else real_part(found)


def moved_by_both(helper: Any, bar: Any, other: Any, matrix: Any, bar_dot: Any, other_dot: Any) -> Any:
    """The tangent of ``helper(bar, other, matrix)``, which is linear in ``bar`` and in ``other``."""
    total = ZERO if isinstance(bar_dot, AbstractZero) else helper(bar_dot, other, matrix)
    return total if isinstance(other_dot, AbstractZero) else add(total, helper(bar, other_dot, matrix))
