"""Callees and callers that write one memory: what is returned and written later, operands beside what is written."""

from __future__ import annotations

import pytest

from checking import Program
from tables import check, programs

TABLE = """
=== made_then_popped | x = A
def make(a):
    t = (a, a * 2.0, a * a)
    return list(t)
def f(x):
    xs = make(x[0])
    v = xs.pop(0)
    xs.append(x[1])
    return v * xs[0] * xs[1] * xs[2]
=== made_then_replaced | x = A
def make(a):
    t = (a, [a * 2.0], a * a)
    return list(t)
def f(x):
    xs = make(x[0])
    v = xs[1][0]
    xs[1] = x[1]
    xs[0] = [x[2]]
    return v * xs[0][0] * xs[1] * xs[2]
=== made_dict_then_popped | x = A
def make(a):
    t = {'a': a, 'b': [a * 2.0]}
    return dict(t)
def f(x):
    xs = make(x[0])
    v = xs.pop('a')
    xs['c'] = x[1]
    w = xs.pop('b')
    return v * w[0] * xs['c']
=== made_copy | x = A
def make(a):
    t = {'a': a, 'b': a * 2.0}
    return t.copy()
def f(x):
    xs = make(x[0])
    xs['c'] = x[1]
    v = xs.pop('a')
    return v * xs['b'] * xs['c']
=== made_array_list | x = A
def make(a):
    t = (a * 1.0, a * 2.0)
    return list(t)
def f(x):
    xs = make(x)
    v = xs.pop()
    v[0] = x[1] * x[2]
    xs[0] = v
    return np.sum(v * xs[0])
=== made_residual | x = A
def make(a):
    y = a * 2.0
    z = np.sum(np.sin(y) * y)
    return y, z
def f(x):
    y, z = make(x)
    y[0] = x[1] * x[2]
    return z * np.sum(y)
=== made_residual_list | x = A
def make(a):
    ys = [a[0], a[1] * a[2]]
    z = ys[0] * ys[1]
    w = sum(v * v for v in ys)
    return ys, z * w
def f(x):
    ys, z = make(x)
    ys[0] = x[1] * x[2]
    ys.pop()
    return z * ys[0]
=== made_through_two | x = A
def inner(a):
    y = np.exp(a)
    return y
def make(a):
    y = inner(a)
    return y
def f(x):
    y = make(x)
    y[0] = x[1] * x[2]
    return np.sum(y * y)
=== made_in_loop | x = A
def make(a):
    y = np.exp(a * 0.3)
    return y
def f(x):
    ys = []
    y = x
    for k in range(3):
        y = make(y)
        ys.append(y)
        ys[0][k] = y[0] * x[1]
    return sum(np.sum(v * v) for v in ys)
=== made_by_closure | x = A
def f(x):
    def make(a):
        y = np.exp(a * x[0])
        return y, np.sum(np.sin(y))
    y, t = make(x)
    y *= 2.0
    return t * np.sum(y)
=== made_by_method | x = A
class P:
    def __init__(self, w):
        self.w = w
    def act(self, a):
        self.last = np.tanh(self.w * a)
        return self.last
def f(x):
    p = P(x * 0.5)
    y = p.act(x)
    y[0] = 3.0 * x[1]
    z = p.act(y)
    z += p.last
    return np.sum(p.last * y)
=== made_dynamically | x = A
def make(a):
    y = np.exp(a)
    return y
def f(x):
    g = {'m': make}['m']
    y = g(x)
    y[0] = x[1] * x[2]
    h = [np.exp, make][0]
    z = h(x)
    z[1] = 2.0
    return np.sum(y * y) * np.sum(z)
=== made_index | x = A
def order(a):
    k = np.argsort(a)
    return k, a[k]
def f(x):
    k, s = order(x)
    k[:] = 0
    return np.sum(s * np.arange(3.0)) * x[k[1]]
=== made_by_lambda_map | x = A
def f(x):
    rows = list(map(lambda v: np.exp(v * x), [1.0, 2.0]))
    rows[0][0] = x[1]
    rows[1] *= rows[0]
    return np.sum(rows[1])
=== made_by_comprehension | x = A
def make(v, k):
    y = np.exp(v * k)
    return y
def f(x):
    rows = [make(x, k) for k in range(3)]
    for row in rows:
        row[0] = row[1] * row[2]
    return sum(np.sum(r * r) for r in rows)
=== made_by_recursion | x = A
def build(v, n):
    if n == 0:
        return [v * 1.0]
    out = build(np.exp(v * 0.2), n - 1)
    out[-1][0] = v[1] * v[2]
    out.append(np.sin(v))
    return out
def f(x):
    rows = build(x, 3)
    rows[1][1] = 0.5
    return sum(np.sum(r * r) for r in rows)
=== made_grad | x = A
import thunkad as ad
def energy(v):
    return np.sum(np.exp(v) * v)
def f(x):
    e, g = ad.value_and_grad(energy)(x)
    g[0] = x[1] * x[2]
    return np.sum(g * g) * e
=== made_generator | x = A
def gen(v):
    for k in range(3):
        y = np.exp(v * 0.1 * k)
        yield y
def f(x):
    t = 0.0
    for y in gen(x):
        y[0] = x[1] * x[2]
        t = t + np.sum(y * y)
    rows = list(gen(x))
    rows[1][1] = x[0]
    return t * np.sum(rows[1] * rows[2])
=== made_property | x = A
class P:
    def __init__(self, w):
        self.w = w
    @property
    def act(self):
        y = np.exp(self.w)
        return y
    def __add__(self, other):
        y = np.exp(self.w * other)
        return y
    def __getitem__(self, k):
        y = np.exp(self.w * k)
        return y
    def __call__(self, k):
        y = np.exp(self.w * k)
        return y
def f(x):
    p = P(x)
    ys = [p.act, p + 2.0, p[1.5], p(0.5)]
    for y in ys:
        y[0] = x[1] * x[2]
    return sum(np.sum(y * y) for y in ys)
=== made_own_rule | x = A
import thunkad as ad
def soft(v):
    return np.exp(v)
@ad.rrule(soft)
def _(v):
    y = np.exp(v)
    def pullback(y_bar):
        return ad.thunk(lambda: y_bar * y)
    return y, pullback
@ad.frule(soft)
def _(v, *, v_dot):
    y = np.exp(v)
    return y, v_dot * y
def f(x):
    y = soft(x)
    y[0] = x[1] * x[2]
    return np.sum(y * y)
"""

OPERANDS = """
=== object_with_a_dict_and_an_operand | x = A
class Module:
    def __init__(self, w):
        self.d = {}
        self.d['w'] = w
    def parameters(self):
        return self.d
    def __call__(self, v):
        return np.sum(self.d['w'] * v)
def f(x):
    net = Module(x * 1.0)
    reg = sum(np.sum(p * p) for p in net.parameters().values())
    return net(x) + reg
=== operands_of_one_memory_and_views | x = A
class Module:
    def __init__(self, w):
        self.d = {}
        self.d['w'] = w
    def __call__(self, v):
        return np.sum(self.d['w'] * v)
    def two(self, u, v):
        return np.sum(self.d['w'] * v) * np.sum(u * self.d['w'])
def f(x):
    net = Module(x * 1.0)
    y = x * 3.0
    return net(x) + net(y) * net(y[1:2]) + net.two(y, x) * net.two(x, x)
=== operands_in_a_list | x = A
class Module:
    def __init__(self, w):
        self.d = {}
        self.d['w'] = w
    def run(self, vs):
        return sum(np.sum(self.d['w'] * v) for v in vs) * self.d['w'][0]
def f(x):
    net = Module(x * 1.0)
    vs = [x, x * 2.0]
    t = net.run(vs)
    net.d['w'] = x * x
    return t * net.run((x, vs[1]))
=== layers_that_keep_what_they_are_given | x = A, y = B
class Layer:
    def __init__(self, w):
        self.p = {'w': w}
        self.cache = []
    def __call__(self, v):
        self.cache.append(v)
        return np.tanh(self.p['w'] * v)
def f(x, y):
    a, b = Layer(x * 1.0), Layer(y * 1.0)
    t = 0.0
    h = x
    for k in range(3):
        h = b(a(h)) + x
        t = t + np.sum(h)
    return t + sum(np.sum(c * c) for c in a.cache)
=== operators_in_place_that_keep_their_operands | x = 0.8
class Value:
    def __init__(self, data, back=None):
        self.data, self.grad, self.back = data, 0.0, back
    def __add__(self, other):
        def back(g):
            self.grad += g
            other.grad += 2.0 * g * self.data
        return Value(self.data + other.data, back)
def f(x):
    a = c = Value(x)
    c += a
    d = c + c
    d.back(x)
    c.back(c.grad)
    return a.grad * d.data
"""


@pytest.mark.parametrize("program", programs(OPERANDS))
def test_operands_beside_what_is_written(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(TABLE))
def test_results_that_the_caller_writes(program: Program) -> None:
    check(program)
