"""Operators of Python whose operands are known only when the code runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.analysis.special import method_for
from thunkad.kinds.lattice import is_hashable
from thunkad.kinds.operators import FUNCTION_OF_OPERATOR, FUNCTION_OF_UNARY, UFUNC_OF_OPERATOR, UFUNC_OF_UNARY
from thunkad.rules.python.operators import OPERATORS
from thunkad.runtime.subclasses import check_class

_UFUNC: dict[Any, Any] = {FUNCTION_OF_OPERATOR[op]: u for op, u in UFUNC_OF_OPERATOR.items()}
_UFUNC.update({FUNCTION_OF_UNARY[op]: u for op, u in UFUNC_OF_UNARY.items()})
_UFUNC.update(OPERATORS)
_NUMBER = (float, int, complex, np.ndarray, np.generic)
_OF_PYTHON = (float, int, complex, bool)


def on_numbers(fn: Any, args: tuple[Any, ...]) -> Any:
    """The ufunc that an operator of Python is if all its operands are numbers or arrays; the method of the user's that
    a built-in function calls; any other function itself."""
    if not is_hashable(fn) or fn not in _UFUNC or not all(isinstance(a, _NUMBER) for a in args):
        return method_for(fn, args) if is_hashable(fn) else fn
    for a in args:
        if isinstance(a, np.ndarray) and type(a) is not np.ndarray:
            check_class(type(a))
    return _UFUNC[fn]


def is_of_python(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether ``fn(*args)`` is an operator on numbers of Python's own: the ufunc's value is another, of NumPy's."""
    return all(type(a) in _OF_PYTHON for a in args) and is_hashable(fn) and fn in _UFUNC


def as_operands(value: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands for which the ufunc gives ``value``, too: a root of a negative number is complex in Python."""
    return tuple(map(complex, args)) if isinstance(value, complex) else args
