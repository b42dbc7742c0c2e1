"""Rules whose pullbacks return a structural zero for some values, inside expressions, branches and loops."""

from __future__ import annotations

import pytest

from checking import Program
from tables import check, programs

TABLE = """
=== sign | x = A, y = 0.3
return np.exp(np.sign(x)) * x + np.sin(np.sign(y)) * y
=== sign_in_a_loop | x = A
s = x * 0
for k in range(3):
    s = s + np.sign(x * 2) * x ** k
return np.tanh(s)
=== sign_in_a_branch | x = A, y = 0.3
t = np.sign(x) if y > 0 else x
return np.sum(np.cos(t)) * y
=== sign_of_reused | x = A
y = x * 3
t = np.sign(y) + np.exp(y)
return np.sum(t * y)
=== clip_without_bound | x = A, low = -0.3
return np.clip(x, low, None) * low + np.clip(x * 2, None, 1.0)
=== arange | a = 0.3
return np.arange(a, 2.5) * a
=== arange_of_integers | a = 0.3
return np.arange(0, 4, 1) * np.sin(a)
=== repeat_of_nothing | x = 0.7
return sum([x] * 0) + x * len([x] * 2)
=== average_without_weights | x = A
return np.average(x) * x
=== average_with_weights | x = A, w = np.array([0.2, 0.5, 0.3])
return np.average(np.exp(x), weights=np.exp(w))
=== trapezoid | y = A, h = 0.5
return np.trapezoid(np.sin(y), dx=h) + np.trapezoid(np.sin(y)) * h
=== trapezoid_over_points | y = A, x = np.array([0.1, 0.4, 1.1])
return np.trapezoid(np.exp(y), np.exp(x))
=== gradient_of_samples | y = A, h = 0.5
return np.gradient(np.sin(y), np.exp(h)) * h + np.gradient(y)
=== default_of_get | x = 0.7
d = {"a": x}
return np.sin(d.get("a", x * 2)) + np.cos(d.get("b", x * 3))
=== index_of_nothing | x = A
return np.sum(np.exp(x)[3:]) + x[0]
=== interpolation | x = 0.4, ys = A
return np.interp(np.sin(x), np.array([0.0, 0.5, 1.0]), np.exp(ys)) * x
"""


@pytest.mark.parametrize("program", programs(TABLE))
def test_vanishing(program: Program) -> None:
    check(program)
