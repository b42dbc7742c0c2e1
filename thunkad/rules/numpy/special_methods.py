"""The special methods of arrays called by name, as ``x.__add__(y)``; the operators themselves mean the functions at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.linear import linear
from thunkad.rules.numpy.methods import METHODS
from thunkad.rules.refused import refuse
from thunkad.runtime.joining import brackets_bar, brackets_dot
from thunkad.runtime.methods import view_bar, view_dot
from thunkad.runtime.spans import spanned, spanned_bars, spanned_dot
from thunkad.tangents import NoTangent, thunk

#: Special methods that mean ``function(x, other)``; see ``METHODS``.
OPERATORS: dict[str, Any] = {
    "__abs__": np.absolute,
    "__add__": np.add,
    "__and__": np.bitwise_and,
    "__divmod__": np.divmod,
    "__eq__": np.equal,
    "__floordiv__": np.floor_divide,
    "__ge__": np.greater_equal,
    "__gt__": np.greater,
    "__invert__": np.invert,
    "__le__": np.less_equal,
    "__lshift__": np.left_shift,
    "__lt__": np.less,
    "__matmul__": np.matmul,
    "__mod__": np.remainder,
    "__mul__": np.multiply,
    "__ne__": np.not_equal,
    "__neg__": np.negative,
    "__or__": np.bitwise_or,
    "__pos__": np.positive,
    "__pow__": np.power,
    "__rshift__": np.right_shift,
    "__sub__": np.subtract,
    "__truediv__": np.divide,
    "__xor__": np.bitwise_xor,
    "__float__": float,
    "__complex__": complex,
    "__int__": int,
    "__bool__": bool,
    "__len__": len,
}
METHODS.update(OPERATORS)


@alternative(np.ndarray.__radd__)
def radd(a, other):
    return other + a


@alternative(np.ndarray.__rsub__)
def rsub(a, other):
    return other - a


@alternative(np.ndarray.__rmul__)
def rmul(a, other):
    return other * a


@alternative(np.ndarray.__rtruediv__)
def rtruediv(a, other):
    return other / a


@alternative(np.ndarray.__rpow__)
def rpow(a, other, mod=None):
    return other**a


@alternative(np.ndarray.__rmatmul__)
def rmatmul(a, other):
    return other @ a


@alternative(np.ndarray.__rmod__)
def rmod(a, other):
    return other % a


@alternative(np.ndarray.__rdivmod__)
def rdivmod(a, other):
    return other // a, other % a


@alternative(np.ndarray.__getitem__)
def getitem(a, index):
    return a[index]


@alternative(np.ndarray.__copy__)
def copied(a):
    return np.copy(a)


@alternative(np.ndarray.__deepcopy__)
def deepcopied(a, memo):
    return np.copy(a)


@alternative(np.ndarray.__array__)
def as_array(a, dtype=None, *, copy=None):
    return np.asarray(a, dtype=dtype, copy=copy)


@alternative(np.ndarray.__iter__)
def iterated(a):
    return [a[k] for k in range(len(a))]


@alternative(np.ndarray.to_device)
def to_device(a, device, *, stream=None):
    return np.asarray(a)


@rrule(np.ndarray.view)
def _(a, *dtype):
    y = np.ndarray.view(a, *dtype)

    def pullback(y_bar):
        return thunk(lambda: view_bar(y_bar, a, y)), NoTangent()

    return y, pullback


@frule(np.ndarray.view)
def _(a, *dtype, a_dot):
    y = np.ndarray.view(a, *dtype)
    return y, view_dot(a_dot, a, y)


non_differentiable(
    np.ndarray.__contains__,
    np.ndarray.__index__,
    np.ndarray.__rand__,
    np.ndarray.__ror__,
    np.ndarray.__rxor__,
    np.ndarray.__rlshift__,
    np.ndarray.__rrshift__,
    np.ndarray.__rfloordiv__,
    np.ndarray.dump,
    np.ndarray.dumps,
    np.ndarray.tofile,
    np.ndarray.setflags,
)
_IN_PLACE = "add and floordiv lshift matmul mod mul or pow rshift sub truediv xor"
refuse(
    "called by its name it changes the array; write the operator",
    *(getattr(np.ndarray, f"__i{name}__") for name in _IN_PLACE.split() if hasattr(np.ndarray, f"__i{name}__")),
    np.ndarray.__setitem__,
    np.ndarray.__delitem__,  # type: ignore[attr-defined]  # the stubs leave it out
)
refuse("it iterates over the memory of the array; use x.ravel()", np.ndarray.flat)
refuse(
    "it shows the memory of the array, not its values",
    np.ndarray.base,
    np.ndarray.byteswap,
    np.ndarray.ctypes,
    np.ndarray.data,
    np.ndarray.getfield,
    np.ndarray.setfield,
    np.ndarray.__array_interface__,
    np.ndarray.__array_struct__,
    np.ndarray.__dlpack__,
)


# slices as numbers: np.mgrid[0:1:5j]


@rrule(spanned)
def _(brackets, single, bounds):
    y = spanned(brackets, single, bounds)

    def pullback(y_bar):
        return NoTangent(), NoTangent(), thunk(lambda: spanned_bars(y_bar, single, bounds))

    return y, pullback


@frule(spanned)
def _(brackets, single, bounds, *, bounds_dot):
    y = spanned(brackets, single, bounds)
    return y, spanned_dot(y, single, bounds, bounds_dot)


# np.r_ and np.c_: one method for both classes


@rrule(type(np.r_).__getitem__)
def _(brackets, key):
    y = brackets[key]

    def pullback(y_bar):
        return NoTangent(), thunk(lambda: brackets_bar(y_bar, brackets, key))

    return y, pullback


@frule(type(np.r_).__getitem__)
def _(brackets, key, *, key_dot):
    return brackets[key], brackets_dot(key_dot, brackets, key)


linear(brackets_bar, spanned_bars)
