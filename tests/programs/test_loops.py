"""``for`` and ``while``, what they run over, and every way out of them."""

from __future__ import annotations

import pytest

from checking import Program
from tables import check, programs

FOR = """
=== range_ | x = 0.7
y = x
for i in range(4):
    y = y * x + i
return y
=== range_start_stop_step | x = 0.7
y = 0.0
for i in range(5, -3, -2):
    y = y + x ** 2 * i
return y
=== range_of_length | x = A
y = 0.0
for i in range(len(x)):
    y = y + x[i] * x[-i]
return y
=== range_empty | x = 0.7
for i in range(0):
    x = x * 100
return x
=== array | x = A
y = 1.0
for e in x:
    y = y * e
return y
=== rows | m = M
y = 0.0
for row in m:
    y = y + np.sum(row * row)
return y
=== entries_of_rows | m = M
y = 0.0
for row in m:
    for e in row:
        y = y * 0.5 + e * e
return y
=== list_of_active | x = 0.7, y = 1.3
t = 0.0
for e in [x, y, x * y]:
    t = t + e * e
return t
=== tuple_of_active | x = 0.7, y = 1.3
t = 1.0
for e in (x, 2.0, y):
    t = t * e
return t
=== list_argument | xs = [0.7, 1.3, A]
t = 0.0
for e in xs:
    t = t + np.sum(e * e)
return t
=== dict_keys | d = dict(a=0.7, b=1.3)
t = 1.0
for k in d:
    t = t * d[k] + 0.5
return t
=== dict_items | d = dict(a=0.7, b=A)
t = 0.0
for k, v in d.items():
    t = t + np.sum(v * v) * (2 if k == "a" else 1)
return t
=== dict_values | d = dict(a=0.7, b=1.3)
t = 1.0
for v in d.values():
    t = t * v
return t
=== dict_keys_that_are_numbers | x = 0.7
d = {i: x ** i for i in range(3)}
e = {1: x, 2: x * x}
t = sum(k * e[k] for k in e)
for k in d:
    t += k * d[k]
return t + sum(k * v for k, v in d.items())
=== dict_keys_method | d = dict(a=0.7, b=1.3)
t = 1.0
for k in d.keys():
    t = t * d[k]
return t
=== zip_ | x = A, y = B
t = 0.0
for a, b in zip(x, y):
    t = t * a + b
return t
=== zip_of_three | x = A, y = B
t = 0.0
for a, b, k in zip(x, y, range(2)):
    t = t + a * b * (k + 1)
return t
=== zip_of_lists | x = 0.7, y = 1.3
t = 0.0
for a, b in zip([x, y], (y, x * x)):
    t = t + a * b
return t
=== enumerate_ | x = A
t = 0.0
for i, e in enumerate(x):
    t = t + (i + 1) * e * e
return t
=== enumerate_start | x = A
t = 0.0
for i, e in enumerate(x, 5):
    t = t + i * e
return t
=== enumerate_zip | x = A, y = B
t = 0.0
for i, (a, b) in enumerate(zip(x, y)):
    t = t + i * a * b + a
return t
=== reversed_list | x = 0.7, y = 1.3
t = 0.0
for e in reversed([x, y, x * y]):
    t = t * e + e
return t
=== reversed_array | x = A
t = 0.0
for e in reversed(x):
    t = t * 0.5 + e * e
return t
=== reversed_range | x = A
t = 0.0
for i in reversed(range(3)):
    t = t * 0.5 + x[i]
return t
=== string | x = 0.7
t = x
for c in "aba":
    t = t * (x if c == "a" else 2)
return t
=== set_of_numbers | x = 0.7
t = 0.0
for k in sorted({3, 1, 2}):
    t = t * x + k
return t
=== starred_target | x = 0.7, y = 1.3
t = 0.0
for a, *b in [(x, y, 1.0), (y, x * y)]:
    t = t + a * b[0] * len(b)
return t
=== nested | x = 0.7
y = x
for i in range(3):
    for j in range(i):
        y = y * x + j
    y = y + i
return y
=== nested_carried | x = A, y = 0.3
for i in range(3):
    s = y
    for e in x:
        s = s * e + y
    y = s * 0.5
return y
=== else_runs | x = 0.7
for i in range(3):
    x = x * 2
else:
    x = x * x
return x
=== else_skipped | x = 0.7
for i in range(3):
    x = x * 2
    if x > 2:
        break
else:
    x = x * 100
return x
=== break_ | x = 0.7
y = x
for i in range(10):
    y = y * 1.5
    if y > 2:
        break
    y = y + x
return y * x
=== continue_ | x = A
t = 0.0
for e in x:
    if e < 0:
        continue
    t = t + e * e
return t
=== break_and_continue | x = A
t = 1.0
for i in range(10):
    if i % 2:
        continue
    t = t * x[i % 3]
    if i > 5:
        break
    t = t + x[0]
return t
=== return_inside | x = 0.7
for i in range(10):
    x = x * 1.5
    if x > 3:
        return x * i
return -x
=== return_inside_not_reached | x = 0.7
for i in range(2):
    x = x * 1.5
    if x > 30:
        return x * i
return -x
=== return_from_nested | x = 0.7
for i in range(3):
    for j in range(3):
        x = x * 1.2
        if i * j == 2:
            return x * x
    x = x + 1
return x
=== return_in_else | x = 0.7
for i in range(2):
    x = x * 2
else:
    return x * x
return 0.0
=== break_outer_by_flag | x = 0.7
done = False
for i in range(4):
    for j in range(4):
        x = x * 1.1
        if i + j == 4:
            done = True
            break
    if done:
        break
return x
=== target_after_loop | x = A
for e in x:
    pass
return e * e
=== index_after_loop | x = A
for i in range(3):
    y = x[i]
return y * i
=== target_rebound | x = A
t = 0.0
for e in x:
    e = e * e
    t = t + e
return t
=== variable_of_the_body | x = 0.7
for i in range(3):
    if i > 0:
        x = x * last
    last = x + i
return last
=== type_changes | x = A, y = 0.3
t = y
for i in range(3):
    t = t * x if i == 1 else t + y
return t
=== shape_changes | x = A
for i in range(2):
    x = np.concatenate([x, x[:1] * 2])
return x
=== iterable_rebound | x = A
for e in x:
    x = x * e
return x
=== iterable_used_inside | x = A
t = 0.0
for e in x:
    t = t + e * np.sum(x)
return t
=== appended | x = A
out = []
for e in x:
    out.append(e * e)
return sum(out)
=== appended_and_stacked | x = A, y = 0.3
out = []
h = x
for i in range(3):
    h = np.tanh(h * y)
    out.append(h)
return np.stack(out)
=== comprehension | x = A
return sum([e * e for e in x if e > 0])
=== nested_comprehension | m = M
return sum([e * k for k, row in enumerate(m) for e in row])
=== dict_comprehension | x = A
d = {i: e * e for i, e in enumerate(x)}
return d[0] * d[2]
=== generator_expression | x = A
return sum(e * e for e in x)
=== map_filter | x = A
return sum(map(lambda e: e * e, filter(lambda e: e > 0, x)))
=== recurrence_of_two | x = 0.7, y = 1.3
for i in range(5):
    x, y = y, x * 0.5 + y * y * 0.1
return x * y
=== state_in_tuple | x = 0.7
state = (x, 1.0)
for i in range(3):
    state = (state[0] * state[1], state[0] + x)
return state[0] + state[1]
=== state_in_dict | x = 0.7
state = {"p": x, "v": 0.0}
for i in range(3):
    state = {"p": state["p"] + 0.1 * state["v"], "v": state["v"] - state["p"]}
return state["p"] * state["v"]
=== newton | x = 0.7
y = 1.0
for i in range(20):
    y = y - (y * y - x) / (2 * y)
return y
=== horner | x = 0.7, c = A
p = 0.0
for k in c[::-1]:
    p = p * x + k
return p
=== inner_product | x = A, y = B
s = 0.0
for i in range(x.shape[0]):
    s = s + x[i] * y[i]
return s
=== counted_pairs | x = A, m = M
y = 0.0
for i, (a, row) in enumerate(zip(x, m), start=2):
    y = y + a * np.sum(row) * i
for (i, a), (j, row) in zip(enumerate(x), enumerate(m, 1)):
    y = y * a + row[0] * i * j
return y
=== counted_backwards | x = A
y = 0.0
for k, e in enumerate(reversed(x), len(x)):
    y = y * e + k
    if k > 4:
        break
return y
=== counted_items | x = A
d = {"a": x[0], "b": x[1] * x[2]}
y = x[0]
for k, (name, v) in enumerate(d.items(), start=1):
    d[name] = v * v * k + y
for k, v in enumerate(d.values()):
    y = y * v + k
for k, name in enumerate(d):
    y = y + d[name] * k
return y
=== whole_items_of_counted_pairs | x = A
y = 0.0
pairs = [p for p in enumerate(zip(x, x * x), 1)]
for p in enumerate(zip(x, x[1:])):
    y = y + p[0] * p[1][0] * p[1][1]
for i, p in enumerate(zip(x, x[1:])):
    y = y + i * p[0] * p[1]
return y * sum(k * a * b for k, (a, b) in pairs)
=== pairs_of_what_the_loop_writes | x = A
rows = [x * 1.0 for _ in range(3)]
for k, (a, b) in enumerate(zip(rows, rows[1:]), start=3):
    rows[0] = rows[0] * a + b * k
for k, v in enumerate(rows, start=1):
    rows[-1] = rows[-1] + v * k
z = x.copy()
for k, v in enumerate(z[1:], start=1):
    z[k - 1] = v * z[k]
for j, (k, v) in enumerate(reversed(list(enumerate(z)))):
    z[k] *= v * j
return np.sum(rows[0] * rows[-1]) + np.sum(z)
=== pairs_with_what_is_no_sequence | x = A
y = 0.0
for k, e in zip(iter([3.0, 2.0, 1.0]), x):
    y = y * k + e * e
for e, name in zip(x, {"a": 1, "b": 2}):
    y = y + e * len(name)
for a, b, c in zip([x[0], x[1]], (x[2], x[1]), x):
    y = y + a * b * c
return y
=== lists_apart_from_what_is_run_over | x = A
r = [0.0] * 3
for i, a in enumerate(x):
    r[i] += a
y = sum(a * b for a, b in zip(reversed(r), r)) + sum(map(lambda p: p[0] * p[1], enumerate(r, 1)))
out = [x[0]]
box = (out, [out])
for k, v in zip(range(3), box[1][0]):
    out.append(v * x[1] + k)
    y = y + v
return y
=== places_counted_from_the_end_of_items | x = A
y = 0.0
for p in zip(x, x * x):
    y = y + p[-1] * p[0]
for p in enumerate(x):
    y = y * p[-1] + p[-2]
return y
=== calls_that_the_loop_has_a_say_in | x = A
acc = [1.0]
for y in map(lambda v: v * acc[0], x):
    acc[0] = y + 0.5
for v in filter(lambda u: u < acc[0] + 1.0, x):
    acc[0] = acc[0] * v
log = []
def g(v):
    log.append(v)
    return v * v
t = x[0]
for k, y in enumerate(map(g, x), 1):
    t = t + y * k
    if len(log) == 2:
        break
for i, (k, v) in enumerate(filter(lambda kv: kv[1] > 0.4, enumerate(x, 5))):
    t = t + i * k * v
t = t + sum([a * b for a, b in map(lambda p, q: (p, q * p), x, x[::-1])])
return t * len(log) * acc[0] * sum(v for v in filter(None, [0.0, x[0], 0, x[1]]))
=== calls_in_a_loop_that_raise | x = A
out = []
def g(v):
    if v < 0.5:
        raise ValueError
    return v * v
try:
    for y in map(g, x):
        out.append(y)
except ValueError:
    out.append(x[1])
return sum(out)
=== enumerate_of_the_programs_own | x = A
def enumerate(xs, start=0):
    return [(2.0, v) for v in xs]
y = 0.0
for k, (a, b) in enumerate(zip(x, x)):
    y = y + k * a * b
return y
"""

WHILE = """
=== counter | x = 0.7
i = 0
while i < 3:
    x = x * x + i
    i += 1
return x
=== data_dependent | x = 0.7
while x < 5:
    x = x * 1.7
return x * x
=== never_entered | x = 0.7
while x > 5:
    x = x * 100
return x
=== else_ | x = 0.7
while x < 2:
    x = x * 1.7
else:
    x = x * x
return x
=== else_after_break | x = 0.7
while x < 5:
    x = x * 1.7
    if x > 1:
        break
else:
    x = x * 100
return x
=== forever | x = 0.7
while True:
    x = x * 1.5
    if x > 4:
        break
return x
=== forever_with_return | x = 0.7
while True:
    x = x * 1.5
    if x > 4:
        return x * x
=== continue_ | x = 0.7
i = 0
while i < 5:
    i += 1
    if i == 2:
        continue
    x = x * 1.1 + i
return x
=== and_test | x = 0.7
i = 0
while i < 10 and x < 3:
    x = x * 1.4
    i += 1
return x * i
=== walrus_test | x = 0.7
while (y := x * x) < 4:
    x = x * 1.5
return y * x
=== walrus_test_used_inside_only | x = 0.7
while (y := x * x) < 4:
    x = x + y
return x
=== test_with_call | x = 0.7
def size(v):
    return np.abs(v) * 2
while size(x) < 4:
    x = x * 1.5
return x
=== nested | x = 0.7
i = 0
while i < 3:
    j = 0
    while j < i:
        x = x * 1.1
        j += 1
    i += 1
return x
=== while_in_for | x = A
t = 0.0
for e in x:
    while e < 1:
        e = e + 0.75
    t = t + e * e
return t
=== array_state | x = A
while np.sum(x * x) < 20:
    x = x * 1.5
return x
=== fixed_point | x = 0.7
y = 1.0
change = 1.0
while abs(change) > 1e-12:
    new = np.cos(x * y)
    change = new - y
    y = new
return y
=== popping_a_stack | x = 0.7
stack = [3, 2, 1]
while stack:
    x = x * stack.pop()
return x
"""


@pytest.mark.parametrize("program", programs(FOR))
def test_for(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(WHILE))
def test_while(program: Program) -> None:
    check(program)
