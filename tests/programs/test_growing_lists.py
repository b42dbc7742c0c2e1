"""Lists that a function fills by ``append``: read afterwards, while they grow, under another name, by callees."""

from __future__ import annotations

import pytest

from checking import Program
from tables import check, programs

TABLE = """
=== filled_then_read | a = 0.37, u = A
rows = []
for e in u:
    rows.append(e * a)
return sum(rows) * rows[0] + rows[-1]
=== starts_with_an_entry | a = 0.37
rows = [a]
rows.append(-a * a)
rows.append(2.0)
return np.prod(np.array(rows)) + rows[1]
=== arrays_stacked | u = A, v = B
rows = []
for k in range(3):
    rows.append(u * v[k])
return np.stack(rows) @ v
=== extended_by_iterators | a = 0.37
rows = [a]
rows += (v * v for v in [a, 2.0])
held = {"rows": rows}
held["rows"] += map(np.sin, rows[:2])
held["rows"] += range(2)
rows[1:2] = (v * a for v in rows[:2])
return sum(k * v for k, v in enumerate(rows))
=== slices_in_names | a = 0.37
rows = [a, 2.0, a * a]
every, total = slice(0, 3, 2), 0.0
some = rows[every]
some[0] = some[0] * 3.0
for span in {"low": slice(0, 2), "high": slice(1, 3)}.values():
    total = total + rows[span][0] * sum(rows[span])
    rows[span] = [total * a]
    rows.append(a)
return total * some[0] + some[1] + sum(rows)
=== sum_of_nothing_grows | a = 0.37
out = []
same = sum([], out)
out.append(a)
total = 0.0
for v in same:
    total = total + v * v
    if len(out) < 4:
        out.append(total * a)
return total * out[-1]
=== read_while_it_grows | a = 0.37
rows = [a]
for k in range(4):
    rows.append(np.sin(rows[-1]) + rows[0])
return rows[-1] * rows[2]
=== read_between_two_appends | a = 0.37
rows = [a * a]
first = rows[0] * 2.0
rows.append(first * a)
second = rows[-1] + rows[0]
rows.append(second)
return first + second * rows[2]
=== two_that_feed_each_other | a = 0.37
xs, vs = [a], [0.5]
for k in range(4):
    vs.append(vs[-1] - 0.1 * xs[-1])
    xs.append(xs[-1] + 0.1 * vs[-1])
return np.array(xs).sum() * vs[-1]
=== one_for_each_round | u = A
total = 0.0
for e in u:
    own = []
    for k in range(3):
        own.append(e * k)
    total = total + sum(own) * own[1]
return total
=== appended_in_a_branch | u = A
low, high = [], []
for e in u:
    if e > 0.5:
        high.append(e * e)
    else:
        low.append(np.sin(e))
return sum(low) * sum(high) + len(high) * u[0]
=== returned | a = 0.37, u = A
rows = []
for e in u:
    rows.append(e * a)
return rows
=== under_another_name | a = 0.37, u = A
rows = []
same = rows
for e in u:
    rows.append(e * a)
same.append(a)
return sum(rows) * same[-1]
=== by_a_callee | a = 0.37, u = A
def fill(rows, e):
    rows.append(e * e)
def f(a, u):
    rows = []
    for e in u:
        fill(rows, e * a)
    return rows[0] * sum(rows)
=== by_a_closure | a = 0.37, u = A
rows = []
def note(e):
    rows.append(e * a)
    return e * a
total = 0.0
for e in u:
    total = total + note(e)
return total * rows[1]
=== of_an_object | a = 0.37
class Record:
    def __init__(self, w):
        self.w = w
        self.seen = []
    def step(self, x):
        self.seen.append(x)
        return x * self.w
def f(a):
    r = Record(a)
    x = 1.0
    for k in range(3):
        x = r.step(x)
    return x + sum(r.seen) * r.seen[1]
=== in_a_try | a = 0.37, u = A
rows = []
try:
    for e in u:
        rows.append(e * a)
        if e < 0:
            raise ValueError("negative")
except ValueError:
    rows.append(a * a)
return sum(rows) * rows[-1]
=== before_an_early_return | a = 0.37
rows = []
for k in range(5):
    if k > 2:
        return rows[0] * a + len(rows)
    rows.append(a * k + 1.0)
return a
=== numbers_then_arrays | a = 0.37, u = A
rows = []
rows.append(a)
rows.append(u * a)
return rows[1] * rows[0] + np.sum(rows[1])
=== pairs | u = A
rows = []
for k, e in enumerate(u):
    rows.append((k, e * e))
total = 0.0
for k, e in rows:
    total = total + k * e
return total
=== of_lists | u = A
rows = []
for e in u:
    row = []
    for k in range(2):
        row.append(e * (k + 1))
    rows.append(row)
return np.array(rows)
=== itself | a = 0.37
rows = [a]
rows.append(len(rows) * a)
return rows[1] * rows[0]
=== empty_until_the_end | a = 0.37, u = A
rows = []
total = a
for e in u:
    for r in rows:
        total = total * r
    rows.append(e)
return total
=== never_filled | a = 0.37
rows = []
for r in rows:
    a = a * r
return a * 2.0
=== empty_in_one_case | a = 0.37
rows = []
if a > 1.0:
    rows.append(a)
return sum(rows) + a * len(rows) + a
=== not_read_at_all | u = A, a = 0.37
rows = [u]
for e in u:
    rows.append(e)
return u * a
=== popped | a = 0.37
rows = [a, 2.0 * a]
rows.append(a * a)
last = rows.pop()
return last * rows[-1]
=== the_same_array_twice | u = A
rows = []
rows.append(u)
rows.append(u)
return rows[0] * rows[1]
=== an_array_that_is_written_later | u = A
w = u * 2.0
rows = []
rows.append(w)
w[0] = u[1] * u[2]
return rows[0] * u
"""


@pytest.mark.parametrize("program", programs(TABLE))
def test_growing_lists(program: Program) -> None:
    check(program)
