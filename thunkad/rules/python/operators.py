"""The :mod:`operator` module: which NumPy function each operator is on numbers and arrays, and what it is on anything else.

An operator on numbers or arrays resolves by :data:`OPERATORS`; on anything else it is a special method, which the
compiler finds by itself (so there are no alternative bodies here for those: the body would be the operator again).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from thunkad.kinds.lattice import Kind, Num
from thunkad.rules.define import register
from thunkad.rules.entry import NON_DIFFERENTIABLE, Entry
from thunkad.rules.library import alternative, non_differentiable

OPERATORS: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    operator.matmul: np.matmul,
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.abs: np.absolute,
    abs: np.absolute,
    operator.invert: np.invert,
    operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or,
    operator.xor: np.bitwise_xor,
    operator.lshift: np.left_shift,
    operator.rshift: np.right_shift,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
}
"""Operators on numbers and arrays → the NumPy function of that meaning."""


def numeric_function(fn: Any, kinds: Sequence[Kind]) -> Any:
    """What a call of ``fn`` is for operands of these kinds.

    An operator is its NumPy function on numbers and arrays, and None where that is not known; anything else is itself.
    """
    try:
        function = OPERATORS.get(fn)
    except TypeError:  # an unhashable callee
        return fn
    if function is None:
        return fn
    return function if all(isinstance(kind, Num) for kind in kinds) else None


def with_list(operator_: Callable[..., Any], function: Callable[..., Any], kind: type) -> None:
    """An operator on an array and a list or tuple is NumPy's, which makes an array of it."""

    @alternative(operator_, types=(np.ndarray, kind))
    def array_first(a, b):
        return function(a, np.array(b))

    @alternative(operator_, types=(kind, np.ndarray))
    def array_last(a, b):
        return function(np.array(a), b)


for _operator in (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.matmul,
):
    for _kind in (list, tuple):
        with_list(_operator, OPERATORS[_operator], _kind)

for _text in (str, bytes):
    for _operator, _types in (
        (operator.mod, (_text,)),
        (operator.add, (_text,)),
        (operator.mul, (_text,)),
        (operator.mul, (object, _text)),
    ):
        register(Entry(NON_DIFFERENTIABLE, _operator, None, "library", types=_types))

non_differentiable(
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.not_,
    operator.truth,
    operator.is_,
    operator.is_not,
    operator.contains,
    operator.countOf,
    operator.indexOf,
    operator.index,
    operator.length_hint,
)


@alternative(operator.concat)
def concat(a, b):
    return a + b


@alternative(operator.setitem)
def setitem(a, b, c):
    a[b] = c


@alternative(operator.delitem)
def delitem(a, b):
    del a[b]


@alternative(operator.iadd)
def iadd(a, b):
    a += b
    return a


@alternative(operator.isub)
def isub(a, b):
    a -= b
    return a


@alternative(operator.imul)
def imul(a, b):
    a *= b
    return a


@alternative(operator.itruediv)
def itruediv(a, b):
    a /= b
    return a


@alternative(operator.ipow)
def ipow(a, b):
    a **= b
    return a


@alternative(operator.imatmul)
def imatmul(a, b):
    a @= b
    return a
