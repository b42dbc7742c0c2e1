"""Programs that random ones were cut down to, each for a fault that it showed."""

from __future__ import annotations

import numpy as np
import pytest
import thunkad as ad

from checking import Program, observe
from tables import check, programs
from thunkad.testing.leaves import copied

TABLE = """
=== residual_rebound_by_a_loop_of_another_entry | a = 0.37, u = A, v = B
w = u * v
for e in u:
    v = a
return u * v + w * a
=== temporaries_of_a_starred_call_in_a_loop | a = 0.37, u = A
def g(p, q=0.3, *, shift=0.1):
    return p * q + shift
def f(a, u):
    for e in u:
        for k in range(2):
            a = g(*[2, a], **{"shift": e})
    return a
=== starred_call_in_a_branch_in_a_loop | a = 0.37, u = A
def g(p, q=0.3, *, shift=0.1):
    return p * q + shift
def f(a, u):
    b = a
    for e in u:
        if a > 0.2:
            b, a = g(*[0.3, a], **{"shift": b}), b
    return a * b
=== bound_by_the_loop_only | u = A
for e in u:
    late = u - 1
return u[0] * late + u
=== bound_by_the_loop_only_and_read_in_it | a = 0.37, b = 0.81
for k in range(3):
    if k > 0:
        b = b * late
    late = a * k
return b * late
=== bound_by_one_arm_only | a = 0.37, u = A
c = a
if c < 0.9:
    t = u
    late = -t
if 0.1 < a < 0.05:
    c = c * late
return u * c
=== never_bound | a = 0.37
b = a * late
late = a
return b
=== loop_in_an_arm_that_did_not_run | a = 0.1, u = A
if a <= 0.2:
    return a
for e in u:
    a = a * e
return a
=== test_of_a_while_binds_what_its_body_reads | a = 0.37, b = 0.81
while (y := a * b) < 3:
    a = a + y
return a
=== value_is_a_carried_name | a = 0.37, b = 0.81
y = a
for i in range(3):
    y = y * b
return y
=== product_with_one_is_new_memory | m = M, x = A
t = m * 1.0
t += x
return t * t
=== carried_cotangents_swapped_in_a_branch | a = 0.2, b = -0.3, u = A
c = 0.5
n = 0
while n < 3 and b < c:
    n += 1
    c, b = b - c, (a if np.sum(u) > 50 else c)
return u * c
=== index_of_what_may_be_unbound | a = 0.37, u = A, v = B
def g(t, s):
    for k in u:
        return t * s
    return t + s
def f(a, u, v):
    def g(t, s):
        for k in u:
            return t * s
        return t + s
    w = u
    u = g(u, a)
    for e in u:
        v = np.concatenate([v[:1], w[1:]]) - a
        if e < -5:
            return u
    return np.sum(u * v)
=== list_that_only_grows_beside_arrays | u = A, a = 0.37
for e in [a, 2.0]:
    c, b = sum([a * t for t in u]), np.sum(u)
return min(c, b) * max(c, b, 0.1)
=== starred_item_in_a_list_in_a_loop | a = 0.37, u = A
total = 0.0
for c in reversed([a, *u]):
    total = total + sum([c * e for e in u])
return total
=== map_over_filter | u = A
return sum(map(lambda e: e * e, filter(lambda e: e > 0, u)))
=== closure_that_calls_itself | x = 0.7
def g(n):
    if n == 0:
        return x
    return g(n - 1) * x
return g(3)
=== partial_made_inside | a = 0.37, u = A
import functools
p = functools.partial(np.multiply, a)
q = functools.partial(lambda s, t, k=1.0: s * t * k, k=a)
return p(u) + q(u, 2.0) + functools.partial(q, a)(u)
=== two_lists_grow | u = A
rows, twice = [], []
for e in u:
    rows.append(e * e)
    twice.append(2 * e)
return sum(rows) * sum(twice)
=== argument_of_a_dead_arm | x = 0.7
def g(a, b=2.0, c=None):
    return a * b if c is None else a * c
def f(x):
    return g(x) + g(x, c=x)
=== starred_parameters_that_hold_a_number_the_caller_rebinds | b = 0.4
def g(p, q=0.3, *rest):
    for r in rest:
        total = r * q
    return total
def f(b):
    c, b = 0.3, b
    if c >= 0.9:
        c, b = g
    c *= c
    return g(3.0, c, b)
=== number_out_of_a_loop_that_rebinds_it_to_an_array | a = 0.37, u = A, v = B
c, w = a, u
for i in u:
    if a is not w:
        for c in v:
            c, c = (a, u)
        rows = [c for e in u]
    else:
        a = w
    c = np.mean(u)
return a * c
=== unbound_result_before_an_update | a = 0.37, b = 0.81, u = A
def g(p):
    return p, p
def f(a, b, u):
    for a in u:
        b, c = g(b * 0.6)
        if b >= 0.9:
            if b > 5:
                return b
            c = 0.5 * a
    for i in u:
        if i < 5:
            c *= a
        else:
            b = c
            return b
    return c
"""


WRITES = """
=== masked_update_of_an_argument | x = A, s = 0.7
x[x > 0.1] += s
return np.sum(np.tanh(x))
=== gathered_update_of_an_argument | x = A, y = B
x[[2, 0, 2]] -= y
return np.sum(np.tanh(x))
=== number_or_array_appended_where_the_list_is_unknown | x = A, s = 0.7
class Point:
    def __init__(self, w):
        self.w = w
        self.seen = []
    def grow(self, by):
        self.w *= by
        self.seen.append(by)
def f(x, s):
    p, q = Point(x), Point(x)
    q.grow(np.sin(p.w[1]) * s)
    return np.sum(p.w) * q.seen[0]
=== residuals_of_an_arm_that_raises | x = A, y = B
for e in x:
    try:
        e = e * y[0]
    finally:
        y[1] = sum([k * e for k in y])
return np.sum(y * y)
=== slice_of_a_list_that_grows_later | x = A, y = B
rows = [x]
y[:2] = np.stack(rows[:2]).sum(0)[:2] * x[1:]
rows.insert(0, x)
return np.sum(y * y)
=== ufunc_at_of_what_may_be_something_else | x = A, y = B, s = 0.7
def other():
    return None
z = y
if s > 5:
    y = other()
np.subtract.at(y, [2, 2], s)
return np.sum(z * z)
=== starred_rows_are_a_list | x = A, y = B
t, *rest = np.outer(x, y)
rest[0] *= 2.0
rest = rest * 2
return rest[1] * rest[2] + t
=== starred_numbers_are_a_list | x = A, s = 0.7
x[0] = s
*rest, t = x
rest[1] = t * s
return sum(rest + [t, s]) * rest[0]
=== call_changes_the_element_that_is_updated | x = A, s = 0.7
class Cell:
    def __init__(self, w):
        self.w = w
    def step(self, by):
        self.w[1] += by
        return by * by
def bump(x, by):
    x[1] *= by
    return by * by
def f(x, s):
    def inner(v):
        x[0] = v * v
        return v
    p = Cell(x)
    x[1] += p.step(s)
    x[1] *= bump(x, s)
    x[0] -= inner(s)
    x[[0, 1]] *= bump(x, s)
    x[:2] += bump(x, s)
    return np.sum(x * x)
=== smaller_of_what_may_have_memory | a = 0.9, b = 0.7, u = A
def f(a, b, u):
    for c in u:
        break
    else:
        if np:
            b = poly(a, **u)
        else:
            a -= min
    c = min(b, a)
    return c * b
=== view_of_what_is_not_known_to_be_an_array | x = A, y = B, s = 0.7
class Cell:
    def __init__(self, w):
        self.w = w
def f(x, y, s):
    q = Cell(x)
    q.w, z = y, q.w
    r = z.reshape(3, 1)
    r[0] *= s
    y[:2] = r[1]
    z[1] = r[2, 0]
    return np.sum(x * x) + z[0] * np.sum(r * r) + np.sum(y * y)
=== residual_that_the_else_of_a_try_overwrites | x = A, y = B, s = 0.7
try:
    np.array(x)
    x = y * s
    y[0] = 1
finally:
    s = 3.0
return np.sum(x)
=== repeating_view_in_arms_that_do_not_write | x = A, y = B, s = 0.7
if s > 0.1:
    b = np.broadcast_to(y, (2, 3)) * 1.0
else:
    y[0] = 5.0
    b = np.broadcast_to(y, (2, 3)) * s
y[1] = 2.0
return np.sum(b * x) * np.sum(y)
=== values_of_a_dict_that_the_loop_changes | x = A, y = B, s = 0.7
d = {"a": s, "b": x, "k": s}
for j in range(2):
    for v in d.values():
        d["k"] = d["k"] * np.sum(v)
        v *= 0.5
for v in d.values():
    d["a"] = d["a"] + v * y[0]
return d["k"] * np.sum(d["a"]) * np.sum(x)
=== sum_of_nothing_is_its_start | x = A, y = B, s = 0.7
k = []
for a in [[], [s], [1.0, s]]:
    start = np.zeros(3) + y
    t = sum((p * q for p, q in zip(a, k)), start)
    t *= x
    k.append(t * start)
    k.append(start)
for a in [[], [1.0]]:
    start = y * s
    t = sum(a, start)
    t *= x
    t = math.prod(a[:0], start=start)
    t[0] = 2.0
    k.append(start)
return np.sum(k[-1]) + k[2] @ k[4] + np.sum(k[6] * y)
=== sum_of_no_lists_is_its_start | x = A, y = B, s = 0.7
k = [x * s]
for i in range(2):
    rest = [k[-1]]
    t = sum([[u * y] for u in range(i)], rest)
    t.append(y)
    k.append(rest[-1] + t[0])
return k[-1] @ x
=== other_arguments_come_before_the_elements | x = A, y = B, s = 0.7
def start():
    print("start")
    return y * s
def term(v):
    print("term")
    return v * v
def items():
    print("items")
    return [x, x * y]
t = sum((term(v) for v in items()), start())
m = max((term(v[0]) for v in items()), default=start())
n = [x, y]
return np.sum(t) * m + sum((p for p in n), (n := [s, s])[1] * np.ones(3))[0] + n[0]
=== windows_among_lists | x = A, y = B, s = 0.7
k = [x * s]
for a in range(2):
    w = np.lib.stride_tricks.sliding_window_view(k[-1], 2)
    k.append(y + np.sum(w, axis=1)[0] * w[1, 0] + np.lib.stride_tricks.sliding_window_view(k[-1], 1)[:, 0])
k[-1][0] = s
return np.sum(k[2] * k[1])
=== repeated_rows_among_lists | x = A, y = B, s = 0.7
k = [x * s]
for a in range(2):
    wide = np.broadcast_to(k[-1], (2, 3))
    k.append(wide)
    k.append(np.sum(wide * y, axis=0) + wide[[0, 1, 0]][2] + wide[1])
k[0][1] = s
k[2] *= y
return np.sum(k[-1]) + np.sum(k[1][0] * x) + k[3][1, 2]
=== iterators_of_lists_that_are_empty_at_first | x = A, y = B, s = 0.7
k = []
for a in [[], [s]]:
    t = x * y
    for i, (p, q) in enumerate(zip(a, k)):
        t = t + p * q
    for p, q in list(zip(a, k)) + list(tuple(zip(a, k))):
        t = t * p + q
    k.append(t)
    k.append(y)
return np.sum(k[2])
=== out_is_an_entry | x = A, y = B, s = 0.7
def g(d):
    d["a"] = d["b"] if "c" in d else d["a"] * 1.0
d = {"a": x, "b": y}
g(d)
np.multiply(x, s, out=d["a"])
np.add(d["a"], y, out=(d["a"],))
return np.sum(d["a"] * x)
"""


@pytest.mark.parametrize("program", programs(TABLE + WRITES))
def test_found(program: Program) -> None:
    check(program)


def test_what_a_callee_computes_twice() -> None:
    program = Program(
        "def g(a, b):\n    c = a * b\n    factor = a * b\n    local = lambda t: t * factor\n    print('here')\n"
        "    return a * b + c\ndef f(a, b):\n    return g(a, b)\n",
        (2.0, 3.0),
    )
    check(program)


#: An iterator, or a view that repeats memory, that outlives the block that makes it; then its memory is written.
OUTLIVING = {
    "view_out_of_an_arm": """
    if s > 0.1:
        b = np.broadcast_to(y, (2, 3))
    else:
        b = np.zeros((2, 3))
    t = np.sum(b * b)
    y[0] = 5.0
    return np.sum(b * x) * t""",
    "view_in_a_try": """
    try:
        b = np.broadcast_to(y, (2, 3))
        c = b * x
        y[0] = 5.0
        c = c * b
    finally:
        s = 2.0
    return np.sum(c) * s""",
    "iterator_out_of_an_arm": """
    if s > 0.1:
        b = zip(x, y)
    else:
        b = zip(y, x)
    y[0] = 5.0
    t = 0.0
    for p, q in b:
        t = t + p * q
    return t * s""",
    "view_carried_by_a_loop": """
    b = np.zeros((2, 3))
    t = 0.0
    for k in range(3):
        y[0] = s * k
        t = t + np.sum(b * x)
        b = np.broadcast_to(y, (2, 3))
    return t""",
}


@pytest.mark.parametrize("name", OUTLIVING)
def test_what_outlives_its_block_is_right_or_refused(name: str) -> None:
    args = np.array([0.9, -0.4, 1.3]), np.array([0.2, 0.8, -1.1]), 0.7
    program = Program(f"def f(x, y, s):{OUTLIVING[name]}\n", args)
    found = observe(lambda: ad.grad(program.build(), argnums=(0, 1, 2))(*copied(args)))
    if not isinstance(found.error, ad.UnsupportedSyntaxError):
        check(program)
