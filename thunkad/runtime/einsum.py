"""Cotangents of ``np.einsum``, and of chains and powers of matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from string import ascii_letters
from typing import Any

import numpy as np

from thunkad.runtime.arrays import conjugate, is_zero
from thunkad.runtime.cotangents import add, entry
from thunkad.runtime.ducks import as_array
from thunkad.runtime.products import conjugate_transpose
from thunkad.tangents import NO_TANGENT, ZERO, LazyTuple, thunk


@lru_cache(maxsize=512)
def _labelled(terms: tuple[Any, ...], output: Any, ndims: tuple[int, ...]) -> tuple[tuple[str, ...], str]:
    """Plain letters for the axes of each operand and of the result: no ellipsis, no implicit output.

    ``terms`` and ``output`` are tuples of labels in which ``...`` may stand once; ``output`` None if implied.
    """
    widths = [ndim - len(term) + 1 if Ellipsis in term else 0 for term, ndim in zip(terms, ndims)]
    broadcast = tuple(("...", k) for k in range(max(widths, default=0)))
    if output is None:
        flat = [label for term in terms for label in term if label is not Ellipsis]
        output = (Ellipsis, *sorted({label for label in flat if flat.count(label) == 1}))
    letters: dict[Any, str] = {}

    def spell(term: tuple[Any, ...], width: int) -> str:
        labels: list[Any] = []
        for label in term:
            labels += broadcast[len(broadcast) - width :] if label is Ellipsis else (label,)
        return "".join(letters.setdefault(label, ascii_letters[len(letters)]) for label in labels)

    return tuple(spell(t, w) for t, w in zip(terms, widths)), spell(output, len(broadcast))


def _from_string(term: str) -> tuple[Any, ...]:
    return tuple(Ellipsis if part == "." else part for part in term.replace("...", "."))


def _parse(operands: Sequence[Any]) -> tuple[tuple[str, ...], str, range]:
    """Letters of each array, letters of the result, and the positions of the arrays among ``operands``."""
    positions = array_positions(operands)
    if isinstance(operands[0], str):
        inputs, arrow, output = operands[0].replace(" ", "").partition("->")
        terms = tuple(_from_string(term) for term in inputs.split(","))
        result = _from_string(output) if arrow else None
    else:
        terms = tuple(tuple(operands[k + 1]) for k in positions)
        result = tuple(operands[-1]) if len(operands) % 2 else None
    letters, output_letters = _labelled(terms, result, tuple(np.ndim(operands[k]) for k in positions))
    return letters, output_letters, positions


def is_array_at(operands: Sequence[Any], k: int) -> bool:
    """Whether ``operands[k]`` is an array, not subscripts or labels."""
    return k in array_positions(operands)


def array_positions(operands: Sequence[Any]) -> range:
    """Where the arrays are in ``operands``: behind the subscripts, or before each list of labels."""
    return range(1, len(operands)) if isinstance(operands[0], str) else range(0, len(operands) - 1, 2)


def einsum_bar(y_bar: Any, operands: Sequence[Any], position: int, optimize: Any = False) -> Any:
    """The cotangent of ``operands[position]`` in ``y = np.einsum(*operands)``."""
    letters, output, positions = _parse(operands)
    own = letters[positions.index(position)]
    shape = np.shape(operands[position])
    others = [k for k in positions if k != position]
    other_letters = [letters[positions.index(k)] for k in others]
    distinct = "".join(dict.fromkeys(own))
    sizes = dict(zip(own, shape))
    known = "".join(label for label in distinct if label in output or any(label in term for term in other_letters))
    subscripts = ",".join([output, *other_letters]) + "->" + known
    product = np.einsum(subscripts, y_bar, *[conjugate(operands[k]) for k in others], optimize=bool(optimize))
    # labels that this operand alone has are summed away in the result: its cotangent is constant along them
    product = np.reshape(
        product, [np.shape(product)[known.index(label)] if label in known else 1 for label in distinct]
    )
    target = tuple(sizes[label] for label in distinct)
    narrowed = tuple(k for k, n in enumerate(target) if n == 1 and product.shape[k] != 1)
    if narrowed:
        product = np.sum(product, axis=narrowed, keepdims=True)
    if len(distinct) == len(own):
        return product if product.shape == target else np.broadcast_to(product, target)
    x_bar = np.zeros(shape, product.dtype)
    np.einsum(f"{own}->{distinct}", x_bar)[...] = product  # a writeable view of the diagonal
    return x_bar


def einsum_bar_dot(
    y_bar: Any, operands: Sequence[Any], position: int, optimize: Any, y_bar_dot: Any, operands_dot: Any
) -> Any:
    """The tangent of :func:`einsum_bar`, which is linear in ``y_bar`` and in every other operand."""
    total = y_bar_dot if is_zero(y_bar_dot) else einsum_bar(y_bar_dot, operands, position, optimize)
    for j in array_positions(operands):
        dot = entry(operands_dot, j)
        if j != position and not is_zero(dot):
            total = add(total, einsum_bar(y_bar, [*operands[:j], dot, *operands[j + 1 :]], position, optimize))
    return total


def einsum_bars(y_bar: Any, operands: Sequence[Any], optimize: Any = False) -> Any:
    """The cotangents of all ``operands`` of ``y = np.einsum(*operands)``, each computed when it is read."""

    def cotangent(k: int) -> Any:
        return thunk(lambda: einsum_bar(y_bar, operands, k, optimize)) if is_array_at(operands, k) else NO_TANGENT

    return when_read([cotangent(k) for k in range(len(operands))])


def einsum_bars_dot(y_bar: Any, operands: Sequence[Any], optimize: Any, y_bar_dot: Any, operands_dot: Any) -> Any:
    """The tangents of :func:`einsum_bars`."""

    def tangent(k: int) -> Any:
        if not is_array_at(operands, k):
            return NO_TANGENT
        return thunk(lambda: einsum_bar_dot(y_bar, operands, k, optimize, y_bar_dot, operands_dot))

    return when_read([tangent(k) for k in range(len(operands))])


def when_read(parts: Sequence[Any]) -> LazyTuple:
    """A tuple whose thunks are computed when they are read."""
    return LazyTuple(parts)


def einsum_dot(operands: Sequence[Any], operands_dot: Any, optimize: Any = False) -> Any:
    """The tangent of ``np.einsum(*operands)``: one term for each operand with a tangent."""
    total: Any = None
    for k in array_positions(operands):
        dot = operands_dot[k]
        if not is_zero(dot):
            term = np.einsum(*operands[:k], dot, *operands[k + 1 :], optimize=optimize)
            total = term if total is None else total + term
    return total


def _as_chain(arrays: Sequence[Any]) -> Iterator[Any]:
    """The factors of a ``multi_dot`` as matrices: a leading vector is a row, a trailing one a column."""
    for k, a in enumerate(arrays):
        if np.ndim(a) == 1:
            a = np.reshape(a, (1, -1) if k == 0 else (-1, 1))
        yield as_array(a)


def multi_dot_bars(y_bar: Any, arrays: Sequence[Any]) -> list[Any]:
    """The cotangents of all factors of ``np.linalg.multi_dot(arrays)``."""
    chain = list(_as_chain(arrays))
    y_bar = np.reshape(y_bar, (chain[0].shape[0], chain[-1].shape[1]))
    adjoints = [conjugate_transpose(a) for a in chain]
    bars = []
    for k, a in enumerate(arrays):
        factors = [*adjoints[:k][::-1], y_bar, *adjoints[k + 1 :][::-1]]
        bars.append(np.reshape(np.linalg.multi_dot(factors), np.shape(a)))
    return bars


def multi_dot_bars_dot(y_bar: Any, arrays: Sequence[Any], y_bar_dot: Any, arrays_dot: Any) -> list[Any]:
    """The tangents of :func:`multi_dot_bars`."""
    arrays = list(arrays)
    totals = [ZERO] * len(arrays) if is_zero(y_bar_dot) else multi_dot_bars(y_bar_dot, arrays)
    for j in range(len(arrays)):
        dot = entry(arrays_dot, j)
        if not is_zero(dot):
            terms = multi_dot_bars(y_bar, [*arrays[:j], dot, *arrays[j + 1 :]])
            totals = [total if k == j else total + terms[k] for k, total in enumerate(totals)]
    return totals


def multi_dot_dot(arrays: Sequence[Any], arrays_dot: Sequence[Any]) -> Any:
    """The tangent of ``np.linalg.multi_dot(arrays)``."""
    arrays = list(arrays)
    total: Any = None
    for k, dot in enumerate(arrays_dot):
        if not is_zero(dot):
            term = np.linalg.multi_dot([*arrays[:k], dot, *arrays[k + 1 :]])
            total = term if total is None else total + term
    return total


def matrix_power_dot(a: Any, a_dot: Any, n: int) -> Any:
    """The tangent of ``np.linalg.matrix_power(a, n)``: the upper right block of ``[[a, a_dot], [0, a]]ⁿ``."""
    if n == 1:
        return a_dot
    if n == 2:
        return a @ a_dot + a_dot @ a
    a, a_dot = np.broadcast_arrays(a, a_dot)
    size = a.shape[-1]
    upper = np.concatenate([a, a_dot], axis=-1)
    lower = np.concatenate([np.zeros_like(a), a], axis=-1)
    return np.linalg.matrix_power(np.concatenate([upper, lower], axis=-2), n)[..., :size, size:]


def matrix_power_bar(y_bar: Any, a: Any, n: int) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.matrix_power(a, n)``."""
    return matrix_power_dot(conjugate_transpose(a), y_bar, n)
