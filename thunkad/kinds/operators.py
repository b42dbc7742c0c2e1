"""What operators stand for: ufuncs on numbers and arrays, functions of the module operator on anything."""

from __future__ import annotations

import operator

import numpy as np

UFUNC_OF_OPERATOR = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide, "%": np.remainder,
    "**": np.power, "@": np.matmul, "<<": np.left_shift, ">>": np.right_shift, "|": np.bitwise_or, "^": np.bitwise_xor,
    "&": np.bitwise_and,
}  # fmt: skip
UFUNC_OF_UNARY = {"-": np.negative, "+": np.positive, "~": np.invert}
FUNCTION_OF_OPERATOR = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
    "|": operator.or_, "^": operator.xor, "&": operator.and_,
}  # fmt: skip
OPERATOR_OF_FUNCTION = {function: op for op, function in FUNCTION_OF_OPERATOR.items()}
#: The in-place operators that are differentiated.
INPLACE_FUNCTION = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
    "%": operator.imod, "**": operator.ipow, "@": operator.imatmul, "|": operator.ior,
    "&": operator.iand, "^": operator.ixor, "<<": operator.ilshift, ">>": operator.irshift,
}  # fmt: skip
FUNCTION_OF_UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
