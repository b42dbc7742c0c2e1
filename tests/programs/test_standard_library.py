"""Programs that use what Python's standard library has for functions, objects and containers."""

from __future__ import annotations

import pytest

from checking import Program
from tables import check, programs

FUNCTIONS = """
=== partialmethod | x = A
import functools
class P:
    def __init__(self, v):
        self.v = v
    def scaled(self, k):
        return self.v * k
    doubled = functools.partialmethod(scaled, 2.0)
def f(x):
    return P(x[0]).doubled() * x[1]
=== method_of_list_in_dict | x = A
COPIES = {'list': list.copy, 'dict': dict.copy, 'array': np.ndarray.copy}
def f(x):
    xs, d, w = [x[0], x[1]], {'a': x[0]}, x * 1.0
    ys, e, z = COPIES['list'](xs), COPIES['dict'](d), COPIES['array'](w)
    ys[0] = x[2] * x[0]
    e['a'] = x[2] * x[1]
    z[0] = x[2] * x[2]
    return xs[0] * ys[0] * ys[1] + d['a'] * e['a'] + w[0] * z[0]
"""


@pytest.mark.parametrize("program", programs(FUNCTIONS))
def test_functions(program: Program) -> None:
    check(program)
