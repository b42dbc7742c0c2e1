"""Library functions that hand on the memory that they are given."""

from __future__ import annotations

import math
from typing import Any

from thunkad.ir import nodes as n

#: Functions of arrays whose result may share memory with what they are given.
ARRAY_VIEWS = frozenset(
    ("reshape", "ravel", "transpose", "swapaxes", "moveaxis", "rollaxis", "squeeze", "expand_dims", "asarray",
     "asanyarray", "ascontiguousarray", "asfortranarray", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_to",
     "broadcast_arrays", "diagonal", "split", "array_split", "hsplit", "vsplit", "dsplit", "real", "imag", "flip",
     "fliplr", "flipud", "rot90", "unstack", "array", "astype", "view", "require", "matrix_transpose",
     "permute_dims", "nan_to_num", "diag", "meshgrid", "sliding_window_view", "as_strided", "einsum", "positive",
     "conjugate", "conj", "matrix_power", "trim_zeros", "diff", "apply_over_axes", "polyder", "polyint",
     "real_if_close", "asarray_chkfinite", "__array__", "to_device", "float16", "float32", "float64", "longdouble",
     "complex64", "complex128", "clongdouble")
)  # fmt: skip
#: Functions whose result may be a view of, or hold, what they are given.
VIEWS = ARRAY_VIEWS | frozenset(
    ("zip", "enumerate", "list", "tuple", "dict", "items", "keys", "counter", "values", "get", "set", "frozenset",
     "reversed", "sorted", "copy", "deque", "ordered_dict", "default_dict", "getitem", "iter", "split_starred", "max",
     "min", "pop", "setdefault")
)  # fmt: skip
#: Of these, the functions that read values to decide what they return, and whose pullback does so again.
SELECT_BY_VALUE = frozenset(("sorted", "max", "min"))
#: Functions that hand on what they are given, in a container or as a view, and whose pullback reads no values.
HAND_ON = frozenset(
    ("atleast_1d", "atleast_2d", "atleast_3d", "zip", "enumerate", "reversed", "list", "tuple", "dict", "deque",
     "ordered_dict", "default_dict", "items", "keys", "values", "get", "iter", "split_starred", "broadcast_arrays",
     "split", "array_split", "hsplit", "vsplit", "dsplit", "unstack", "meshgrid", "counter")
)  # fmt: skip


def is_fold(fn: Any) -> bool:
    """Whether ``fn`` adds up or multiplies: of nothing it returns the start itself."""
    fn = fn.value if type(fn) is n.Ref else fn
    return fn is sum or fn is math.prod


def returns_operand(fn: Any) -> bool:
    """Whether the result of a library function may be, be a view of, or hold what it is given."""
    return is_fold(fn) or getattr(fn, "__name__", "") in VIEWS
