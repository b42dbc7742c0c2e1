"""Assignment of every form, deletion, and scoping of names."""

from __future__ import annotations

import pytest

from checking import Program
from tables import check, programs

TABLE = """
=== rebind | x = 0.7
x = x * 2
x = x * x
return x
=== chained | x = 0.7
a = b = x * 3
b = b * a
return a + b
=== chained_with_tuple | x = 0.7, y = 1.3
p = (a, b) = x * y, x
return a * b + p[0]
=== swap | x = 0.7, y = 1.3
x, y = y, x
return x * x - y
=== rotate | x = 0.7, y = 1.3
a, b, c = x, y, x * y
a, b, c = c, a, b
a, b, c = c, a, b
return a * b ** 2 * c ** 3
=== list_target | x = 0.7, y = 1.3
[a, b] = x * 2, y * 3
return a * b
=== nested_targets | x = 0.7, y = 1.3
a, (b, [c, d]) = x, (y, (x * y, x - y))
return a * b + c * d
=== starred_end | x = A
a, *rest = x
return a * rest[0] + rest[-1]
=== starred_middle | x = 0.7, y = 1.3
a, *b, c = x, y, x * y, 2.0, x - y
return a * c + b[0] * b[1] + b[2]
=== starred_start | x = 0.7, y = 1.3
*a, b = [x, y, x * y]
return a[0] * a[1] - b
=== starred_empty | x = 0.7, y = 1.3
a, *b, c = x, y
return a * c + len(b)
=== unpack_array | x = A
a, b, c = x
return a * b - c
=== unpack_rows | m = M
p, q = m
return p * q + p
=== unpack_string_and_number | x = 0.7
(a, b), c = "st", x
return c * 2 if a == "s" else c
=== annotated | x = 0.7
y: float = x * 3
z: "anything at all"
z = y * y
return z
=== augmented_number | x = 0.7, y = 1.3
t = x
t += y
t -= 0.5 * x
t *= y
t /= x + 2
t **= 2
return t
=== augmented_modulo | x = 7.7
t = x * 2
t %= 3.0
t //= 0.3
return t * x
=== augmented_matmul | m = M, n = N
t = m * 1
t = t @ n
return t
=== augmented_array_by_number | x = A, y = 0.3
t = x * 2
t += y
t *= y
return t
=== augmented_array_by_array | x = A, y = B
t = x + 1
t -= y
t *= x
t /= y * y + 1
return t
=== augmented_broadcast | m = M, x = A
t = m * 1.0
t += x
return t * t
=== augmented_from_zero | x = A
total = 0.0
for e in x:
    total += e * e
return total
=== augmented_from_int | x = A
total = 0
for e in x:
    total += e
return total * total
=== augmented_product | x = A
total = 1
for e in x:
    total *= e
return total
=== augmented_tuple | x = 0.7
t = (x,)
t += (x * 2, 3)
return t[0] * t[1] + t[2]
=== augmented_list | x = 0.7
t = [x]
t += [x * 2]
t += (x * 3,)
return t[0] * t[1] + t[2]
=== augmented_string | x = 0.7
s = "a"
s += "b"
return x * len(s)
=== walrus | x = 0.7
return (y := x * 2) * y
=== walrus_in_test | x = 0.7
if (y := x * x) > 0.1:
    return y
return x
=== walrus_in_call | x = 0.7
return np.sin(t := x * 3) * t
=== walrus_in_comprehension | x = A
total = [last := e * e for e in x]
return sum(total) + last
=== walrus_order | x = 0.7
return x + (x := x * 2) + x
=== augmented_with_walrus | x = 0.7
x += (x := x * 3)
return x
=== delete | x = 0.7
t = x * 2
y = t * t
del t
return y
=== delete_and_rebind | x = 0.7
t = x
del t
t = x * x
return t
=== delete_several | x = 0.7
a, b = x, x * 2
c = a * b
del a, b
return c
=== underscore | x = A
_, __, y = x
return y * _
=== names_of_generated_code | x = 0.7
t1 = x * 2
x_bar = t1 * x
pullback = x_bar + t1
saved = pullback * x
value_bar = saved + 1
shadows = value_bar * t1
return shadows * saved
=== names_of_imports | x = A
zeros = x * 2
add = zeros + x
Thunk = np.sum(add)
unbroadcast = Thunk * x
return np.sum(unbroadcast)
=== numpy_by_another_name | x = 0.7
m = np
sine = m.sin
return sine(x) * m.cos(x)
=== shadowed_builtin | x = 0.7
sum = x * 2
max = sum * sum
return max
=== order_of_evaluation | x = 0.7
out = []
def say(k, v):
    print(k)
    return v
y = say("a", x) * say("b", x) + say("c", 2.0)
return y
=== swap_through_list | x = 0.7, y = 1.3
p = [x, y]
a, b = p[1], p[0]
return a * a * b
=== alias_of_array | x = A
y = x
z = y * 2
y = z + x
return y * z
=== constant_then_active | x = 0.7
t = 1
t = t * x
t = 2
return t * x
=== active_then_constant | x = 0.7
t = x * x
t = 5.0
return t + x
=== global_constant | x = 0.7
SCALE = 3.0
def f(x):
    return x * SCALE
=== docstring_and_pass | x = 0.7
"What it does."
pass
...
return x * 2
"""


@pytest.mark.parametrize("program", programs(TABLE))
def test_assignment(program: Program) -> None:
    check(program)
