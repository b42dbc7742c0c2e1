"""Operators and functions on numbers and arrays."""

from __future__ import annotations

import pytest

from checking import Program
from tables import check, programs

TABLE = """
=== add | x = 0.7, y = -1.3
return x + y
=== subtract | x = 0.7, y = -1.3
return x - y
=== multiply | x = 0.7, y = -1.3
return x * y
=== divide | x = 0.7, y = -1.3
return x / y
=== power | x = 0.7, y = 1.3
return x ** y
=== power_of_int | x = -0.7
return x ** 3
=== power_of_negative_int | x = -0.7
return x ** -2
=== power_zero | x = 0.7
return x ** 0 + 0 * x
=== power_with_int_base | y = 1.3
return 2 ** y
=== floor_divide | x = 7.7, y = 2.1
return x // y + x
=== modulo | x = 7.7, y = 2.1
return x % y
=== modulo_negative | x = -7.7, y = 2.1
return x % y * x
=== divmod | x = 7.7, y = 2.1
q, r = divmod(x, y)
return q * x + r * y
=== negate | x = 0.7
return -x
=== plus | x = 0.7
return +x * 2
=== double_negation | x = 0.7
return --x
=== precedence | x = 0.7, y = 1.3
return -x ** 2 + y * x / y - 2 * (x - y)
=== abs_of_negative | x = -0.7
return abs(x) * 3
=== rounding_is_flat | x = 0.7
return round(x) * x + int(x * 9) * x
=== array_operators | x = A, y = B
return (x + y) * (x - y) / (2 + y * y)
=== array_power | x = A
return x ** 2 + x ** 3
=== array_and_number | x = A, y = 0.3
return y * x + x / y - y / (2 + x)
=== number_minus_array | x = A, y = 0.3
return y - x
=== broadcast_rows | m = M, x = A
return m * x + x
=== broadcast_columns | m = M, y = 0.4
return m * np.array([[y], [2.0]])
=== outer_by_broadcast | x = A, y = B
return x[:, None] * y[None, :]
=== matmul | m = M, n = N
return m @ n
=== matmul_vector | m = M, x = A
return m @ x
=== vector_matmul | x = A, n = N
return x @ n
=== inner | x = A, y = B
return x @ y
=== shifted_bits | x = 0.7, k = 3
return x * (k << 2 | 1) + (k >> 1 & 1) * x ** 2 - (k ^ 5) * x + ~k * x
=== bool_as_number | x = 0.7
return (x > 0) * x + (x < 0) * 5.0 + True * x
=== int_argument | x = 0.7, k = 3
return x * k + k ** 2
=== integer_array | x = A, k = np.array([1, 2, 3])
return x * k + k
=== ufuncs | x = A
return np.sin(x) + np.cos(x) * np.exp(x) - np.tanh(x) + np.log(x * x + 1) + np.sqrt(x * x + 0.5)
=== more_ufuncs | x = A, y = B
return np.arctan2(x, y) + np.hypot(x, y) + np.maximum(x, y) * np.minimum(x, 0.5) + np.abs(y)
=== sign_in_an_expression | x = A, y = 0.3
return x * np.sign(x) + np.sign(y) * y
=== floor_in_an_expression | x = A, y = 0.3
return x * np.floor(3 * x) - np.ceil(y) * y + np.round(x) + np.trunc(y)
=== flat_alone | x = A
return np.sign(x)
=== flat_times_constant | x = A
t = np.floor(x)
return np.sum(t * 2.0 + 1)
=== rint_chain | x = A
return np.sum(x - np.rint(x)) + np.sum(np.heaviside(x, 0.5) * x)
=== math_functions | x = 0.7
return math.sin(x) + math.exp(x) * math.log(x) + math.sqrt(x) + math.pi * x + math.pow(x, 1.5)
=== math_floor | x = 1.7
return x - math.floor(x) + math.ceil(x) * x
=== min_max | x = 0.7, y = 1.3
return min(x, y) * max(x, y, 0.2) + max([x, y]) ** 2
=== sum_of_list | x = 0.7, y = 1.3
return sum([x, y, x * y]) + sum((x, y), 3.0)
=== pow_builtin | x = 0.7, y = 1.3
return pow(x, y) + pow(x, 2)
=== float_of | x = 0.7
return float(x) * 2
=== reductions | m = M
return np.sum(m) + np.mean(m) * np.prod(m) + np.max(m) - np.min(m)
=== reductions_with_axis | m = M
return np.sum(m, axis=0) * np.mean(m, axis=0) + np.max(m, axis=0)
=== reductions_keeping_axes | m = M
return m - np.mean(m, axis=1, keepdims=True) + np.sum(m, axis=(0, 1), keepdims=True)
=== variance | x = A
return np.var(x) + np.std(x)
=== shape_functions | m = M
return np.reshape(m, (3, 2)) @ np.transpose(m).reshape(2, 3)
=== stacking | x = A, y = B
return np.stack([x, y]) * np.vstack([y, x]) + np.concatenate([x[:1], y[1:]])
=== where | x = A, y = B
return np.where(x > y, x * y, x - y)
=== where_guard | x = A
return np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0)
=== clip | x = A
return np.clip(x, -0.2, 1.0) * x
=== einsum | m = M, n = N
return np.einsum("ij,jk->ik", m, n) + np.einsum("ij,ji->i", m, n)[:, None]
=== outer_dot | x = A, y = B
return np.outer(x, y) + np.dot(x, y)
=== cumsum_diff | x = A
return np.cumsum(x)[1:] * np.diff(x)
=== sort_flip | x = A
return np.sort(x) * np.flip(x)
=== same_operand_twice | x = A
return x * x + x / (x + 3) - x
=== unused_argument | x = 0.7, y = A
return x * 2
=== constant_result | x = 0.7
return 3.0
=== result_is_the_argument | x = A
return x
=== result_is_a_pair | x = A, y = 0.3
return x * y, y
=== result_is_nested | x = A, y = 0.3
return {"a": [x * y, (y, x)], "n": 3, "s": "text"}
=== argument_twice_in_result | x = A
return x, x
"""


@pytest.mark.parametrize("program", programs(TABLE))
def test_arithmetic(program: Program) -> None:
    check(program)
