"""``scipy.sparse``: products and systems with sparse matrices, and matrices of differentiated entries.

Only what is stored has a derivative, and what is not stored is zero whatever the entries are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from thunkad.errors import NoRuleError
from thunkad.kinds.casts import any_number
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Known
from thunkad.kinds.results import RESULT_KINDS
from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.linear import bilinear, linear
from thunkad.rules.refused import refuse
from thunkad.rules.scipy.sparse_helpers import (
    assembled,
    check_unchanged,
    combined,
    combined_bar,
    combined_dot,
    content_bar,
    converted,
    converted_bar,
    converted_dot,
    dense_bar,
    dense_of,
    diagonal_bar,
    diagonal_of,
    entries,
    factor_bar,
    factors_bar,
    made_dot,
    marks,
    moved_by_both,
    of_entries,
    outer_entries,
    product,
    product_bar,
    product_bar_dot,
    product_dot,
    scaled,
    scaled_bar,
    solved,
    solved_bar,
    solved_bar_dot,
    solved_dot,
    solved_matrix_bar,
    stored,
    total_bar,
    total_of,
    with_entries,
)
from thunkad.tangents import NoTangent, thunk

_BASE = sparse.csr_array.__matmul__.__globals__["_spbase"]
_CLASSES = [getattr(sparse, f"{name}_{sort}") for name in ("coo", "csr", "csc") for sort in ("matrix", "array")]

_HAVE_RULES = (
    "products with vectors, sums, multiples, transposes, other formats, diagonal(), sum() and spsolve have; make the "
    "matrix of (data, (row, column)), or make it dense with .toarray()"
)
_FACTORS = type(linalg.splu(sparse.identity(1, format="csc")))


def kind_of_class(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return Instance(args[0].value) if args and isinstance(args[0], Known) and args[0].value in _CLASSES else UNKNOWN


def kind_of_first(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return Instance(args[0].cls) if args and isinstance(args[0], Instance) and args[0].cls in _CLASSES else UNKNOWN


def kind_of_format(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    first, method = kind_of_first(args, kwargs), args[1].value if len(args) > 1 and isinstance(args[1], Known) else None
    if not isinstance(first, Instance) or not isinstance(method, str):
        return UNKNOWN
    name, _, sort = first.cls.__name__.partition("_")
    form = {"transpose": {"csr": "csc", "csc": "csr"}.get(name, name), "copy": name}.get(method, method[2:])
    return Instance(getattr(sparse, f"{form}_{sort}"))


def no_rule(what: str) -> Any:
    raise NoRuleError(
        f"{what} of sparse matrices whose entries are differentiated has no rule; {_HAVE_RULES}"
    )


non_differentiable(no_rule, marks, check_unchanged, sparse.issparse)
linear(stored, content_bar, converted_bar, dense_bar, total_bar, diagonal_bar, combined_bar, factors_bar)
bilinear(1, factor_bar)
RESULT_KINDS.update(dict.fromkeys((product, solved, dense_of, diagonal_of, total_of, _FACTORS.solve), any_number))
RESULT_KINDS.update({assembled: kind_of_class, converted: kind_of_format, scaled: kind_of_first})


def bilinear_in_entries(helper: Any) -> None:
    @frule(helper)
    def _(bar, other, matrix, *, bar_dot, other_dot):
        return helper(bar, other, matrix), moved_by_both(helper, bar, other, matrix, bar_dot, other_dot)


for _helper in (outer_entries, scaled_bar, solved_matrix_bar):
    bilinear_in_entries(_helper)


# Made of entries


def of_class(cls: Any) -> None:
    @alternative(cls)
    def make(arg1, shape=None, dtype=None, copy=False, *, maxprint=None):
        return assembled(cls, arg1, shape, dtype, copy)


for _class in _CLASSES:
    of_class(_class)


@rrule(assembled)
def _(cls, content, shape, dtype, copy):
    y = assembled(cls, content, shape, dtype, copy)

    def pullback(y_bar):
        return NoTangent(), thunk(lambda: content_bar(y_bar, y, content)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(assembled)
def _(cls, content, shape, dtype, copy, *, content_dot):
    y = assembled(cls, content, shape, dtype, copy)
    return y, made_dot(content_dot, y, content, copy)

# Brought into another form


@rrule(converted)
def _(matrix, method):
    y = converted(matrix, method)

    def pullback(y_bar):
        return thunk(lambda: converted_bar(y_bar, y, matrix, method == "transpose")), NoTangent()

    return y, pullback


@frule(converted)
def _(matrix, method, *, matrix_dot):
    y = converted(matrix, method)
    return y, converted_dot(matrix_dot, y, matrix, method == "transpose")


def of_method(function: Any, name: str) -> None:
    if name == "transpose":

        @alternative(function)
        def transpose(self, axes=None, copy=False):
            return converted(self, "transpose")

    elif name == "asformat":

        @alternative(function)
        def asformat(self, format, copy=False):
            return self if format is None or format == self.format else converted(self, "to" + format)

    else:

        @alternative(function)
        def call(self, *args, **kwargs):
            return converted(self, name)


for _name in ("transpose", "tocoo", "tocsr", "tocsc", "copy", "asformat"):
    for _function in {getattr(cls, _name) for cls in _CLASSES}:
        of_method(_function, _name)


# Dense results


@rrule(dense_of)
def _(matrix):
    y = dense_of(matrix)

    def pullback(y_bar):
        return (thunk(lambda: dense_bar(y_bar, matrix)),)

    return y, pullback


@frule(dense_of)
def _(matrix, *, matrix_dot):
    return dense_of(matrix), dense_of(with_entries(matrix, entries(matrix_dot)))


@rrule(diagonal_of)
def _(matrix):
    y = diagonal_of(matrix)

    def pullback(y_bar):
        return (thunk(lambda: diagonal_bar(y_bar, matrix)),)

    return y, pullback


@frule(diagonal_of)
def _(matrix, *, matrix_dot):
    return diagonal_of(matrix), diagonal_of(with_entries(matrix, entries(matrix_dot)))


@rrule(total_of)
def _(matrix):
    y = total_of(matrix)

    def pullback(y_bar):
        return (thunk(lambda: total_bar(y_bar, matrix)),)

    return y, pullback


@frule(total_of)
def _(matrix, *, matrix_dot):
    return total_of(matrix), np.sum(entries(matrix_dot))


for _function in {cls.toarray for cls in _CLASSES}:

    @alternative(_function)
    def toarray(self, order=None, out=None):
        return dense_of(self)


for _function in {cls.diagonal for cls in _CLASSES}:

    @alternative(_function)
    def diagonal(self, k=0):
        return diagonal_of(self) if k == 0 else no_rule("another diagonal than the main one")


for _function in {cls.sum for cls in _CLASSES}:

    @alternative(_function)
    def summed(self, axis=None, dtype=None, out=None):
        return total_of(self) if axis is None else no_rule("a sum along an axis (use a product with ones)")


# Products


@rrule(product)
def _(matrix, x):
    y = product(matrix, x)
    then = marks(matrix)

    def pullback(y_bar):
        check_unchanged(matrix, then)
        return thunk(lambda: outer_entries(y_bar, x, matrix)), thunk(lambda: product_bar(y_bar, x, matrix))

    return y, pullback


@frule(product)
def _(matrix, x, *, matrix_dot, x_dot):
    return product(matrix, x), product_dot(matrix, x, matrix_dot, x_dot)


@frule(product_bar)
def _(y_bar, x, matrix, *, y_bar_dot, matrix_dot):
    moved = product_bar_dot(y_bar, x, matrix, y_bar_dot, matrix_dot)
    return product_bar(y_bar, x, matrix), moved


@rrule(scaled)
def _(matrix, factor):
    y = scaled(matrix, factor)
    data = stored(matrix)

    def pullback(y_bar):
        return thunk(lambda: scaled_bar(y_bar, factor, matrix)), thunk(lambda: factor_bar(y_bar, data, factor))

    return y, pullback


@frule(scaled)
def _(matrix, factor, *, matrix_dot, factor_dot):
    data_dot = entries(matrix_dot) * factor + matrix.data * factor_dot
    return scaled(matrix, factor), of_entries(matrix, data_dot)


@rrule(combined)
def _(matrix, other, sign):
    y = combined(matrix, other, sign)

    def pullback(y_bar):
        return (
            thunk(lambda: combined_bar(y_bar, y, matrix, 1)),
            thunk(lambda: combined_bar(y_bar, y, other, sign)),
            NoTangent(),
        )

    return y, pullback


@frule(combined)
def _(matrix, other, sign, *, matrix_dot, other_dot):
    y = combined(matrix, other, sign)
    return y, combined_dot(y, matrix, other, sign, matrix_dot, other_dot)


@alternative(_BASE.__matmul__)
def matmul(self, other):
    if sparse.issparse(other):
        return no_rule("a product of two (multiply a vector by one after the other)")
    return product(self, other)


@alternative(_BASE.__rmatmul__)
def rmatmul(self, other):
    return product(converted(self, "transpose"), np.transpose(other)).T


def dot(self, other):
    return scaled(self, other) if np.ndim(other) == 0 and not sparse.issparse(other) else self @ other


for _function in {cls.dot for cls in _CLASSES} | {sparse.spmatrix.__mul__}:
    alternative(_function)(dot)


@alternative(sparse.spmatrix.__rmul__)
def rmul_of_matrix(self, other):
    return scaled(self, other) if np.ndim(other) == 0 else product(converted(self, "transpose"), np.transpose(other)).T


def multiply(self, other):
    if np.ndim(other) == 0 and not sparse.issparse(other):
        return scaled(self, other)
    return no_rule("a product entry by entry")


for _function in (_BASE.__mul__, _BASE.__rmul__, _BASE.multiply):
    alternative(_function)(multiply)


@alternative(_BASE.__truediv__)
def divide(self, other):
    return scaled(self, 1.0 / other) if np.ndim(other) == 0 else no_rule("a quotient entry by entry")


for _function in {cls.__neg__ for cls in _CLASSES}:

    @alternative(_function)
    def negative(self):
        return scaled(self, -1)


@alternative(_BASE.__add__)
def plus(self, other):
    return combined(self, other, 1) if sparse.issparse(other) else dense_of(self) + other


@alternative(_BASE.__radd__)
def plus_from_the_left(self, other):
    return combined(self, other, 1) if sparse.issparse(other) else other + dense_of(self)


@alternative(_BASE.__sub__)
def minus(self, other):
    return combined(self, other, -1) if sparse.issparse(other) else dense_of(self) - other


@alternative(_BASE.__rsub__)
def minus_from_the_left(self, other):
    return combined(other, self, -1) if sparse.issparse(other) else other - dense_of(self)


# Systems


@rrule(solved)
def _(matrix, b):
    x = solved(matrix, b)
    then = marks(matrix)

    def pullback(x_bar):
        check_unchanged(matrix, then)
        b_bar = solved_bar(x_bar, matrix, b)
        return thunk(lambda: solved_matrix_bar(b_bar, x, matrix)), thunk(lambda: b_bar)

    return x, pullback


@frule(solved)
def _(matrix, b, *, matrix_dot, b_dot):
    x = solved(matrix, b)
    return x, solved_dot(matrix, x, matrix_dot, b_dot)


@frule(solved_bar)
def _(x_bar, matrix, b, *, x_bar_dot, matrix_dot):
    b_bar = solved_bar(x_bar, matrix, b)
    return b_bar, solved_bar_dot(b_bar, matrix, b, x_bar_dot, matrix_dot)


@alternative(linalg.spsolve)
def spsolve(A, b, permc_spec=None, use_umfpack=True):
    return solved(A, b)


@rrule(_FACTORS.solve)
def _(self, rhs, trans="N"):
    x = self.solve(rhs, trans)

    def pullback(x_bar):
        return NoTangent(), thunk(lambda: factors_bar(x_bar, self, rhs, trans)), NoTangent()

    return x, pullback


@frule(_FACTORS.solve)
def _(self, rhs, trans="N", *, rhs_dot):
    return self.solve(rhs, trans), self.solve(rhs_dot, trans)


# Everything else is refused where entries are differentiated, and runs as it stands where they are not

_CHANGES_FORM = (
    "of sparse matrices, products, sums and systems of those in the formats csr, csc and coo are differentiated; "
    "make such a one of (data, (row, column))"
)
for _name in (
    "diags diags_array spdiags dia_matrix dia_array bsr_matrix bsr_array lil_matrix lil_array dok_matrix dok_array kron "
    "kronsum bmat block_array hstack vstack block_diag tril triu find eye eye_array identity random random_array"
).split():
    if hasattr(sparse, _name):
        refuse(_CHANGES_FORM, getattr(sparse, _name))
_OTHER = "__getitem__ __setitem__ __pow__ __abs__ __iter__ power maximum minimum max min nanmax nanmin argmax argmin "
_OTHER += "mean getrow getcol setdiag sum_duplicates eliminate_zeros sort_indices sorted_indices prune reshape resize "
_OTHER += "tensordot tobsr todia todok tolil sqrt sin tan arcsin arctan sinh tanh expm1 log1p sign floor ceil rint trunc"
refuse(
    f"this method of sparse matrices has no rule; {_HAVE_RULES}",
    *{getattr(cls, name) for cls in _CLASSES for name in _OTHER.split() if hasattr(cls, name)},
)
_SOLVERS = "cg cgs gmres lgmres bicg bicgstab minres qmr tfqmr gcrotmk lsqr lsmr factorized splu spilu inv norm expm "
_SOLVERS += "expm_multiply matrix_power spsolve_triangular eigs eigsh svds lobpcg onenormest LinearOperator aslinearoperator"
refuse(
    "of scipy.sparse.linalg spsolve and the solve method of splu(…) are differentiated; use these, or dense matrices",
    *(getattr(linalg, name) for name in _SOLVERS.split()),
)
