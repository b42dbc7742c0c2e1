"""Variables that are arrays on one path, where they are written in place, and numbers on another."""

import pytest

from checking import Program
from tables import check, programs

EITHER = """\
def whole(u, v):
    return np.sum(u * u * v)
def each(u, v):
    return np.exp(u) * v
def f(x):
    y = x * 1.0
    r = whole(y, x) if x[0] > 0 else each(y, x)
    if isinstance(r, np.ndarray):
        r[0] = 1.0
    y[-1] *= 2
    return np.sum(r) * np.sum(y * x)
"""
TABLE = f"""
=== number or array of callees | x = abs(A)
{EITHER}=== array of callees | x = -abs(A)
{EITHER}""" + """=== in containers and objects | x = abs(A)
class Held:
    def __init__(self, r):
        self.r = r
def whole(u):
    return np.sum(u * u)
def f(x):
    y = x * 1.0
    r = whole(y) if x[0] > 0 else y * 2
    rows, named, held = [r, y], {"r": r}, Held(r)
    if isinstance(r, np.ndarray):
        r[0] = 1.0
    y[-1] *= 2
    q = rows[0] * named["r"]
    rows.append(q)
    named["q"] = q
    held.q = r
    return np.sum(q) * np.sum(y) + np.sum(rows[0]) + np.sum(rows[1]) + np.sum(held.r * held.q)
=== as an argument, in loops | x = abs(A)
def bump(r, s):
    if isinstance(r, np.ndarray):
        r *= s
        r[0] = 1.0
    t = r * s
    if np.ndim(t) > 0:
        t[0] = s
    return t * r
def f(x):
    y = x * 1.0
    r = y[0] if x[0] > 0 else y
    a = bump(r, y[1])
    for k in range(3):
        r = np.sum(r * y) if k % 2 else r * y
        if np.ndim(r):
            r[k] = 0.5
        a = a + np.sum(r)
    b = bump(r, np.sum(a))
    return np.sum(b) + np.sum(bump(y, np.sum(b)))
"""


@pytest.mark.parametrize("program", programs(TABLE))
def test_numbers_or_arrays(program: Program) -> None:
    check(program)
