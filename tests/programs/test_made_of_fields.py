"""Objects made of values for their fields (dataclasses, named tuples, namespaces) in programs that change objects."""

import collections
import functools
import types
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pytest

import thunkad as ad


@dataclass
class Q:
    pos: np.ndarray
    mass: float = 1.0
    tags: list = field(default_factory=list)

    def step(self, F):
        self.pos = self.pos + F / self.mass
        self.tags.append(self.mass)

    def en(self):
        return self.mass * self.pos @ self.pos + sum(self.tags)


@dataclass(frozen=True)
class Fz:
    a: float
    b: np.ndarray

    def val(self):
        return self.a * np.sum(self.b)


class NT(NamedTuple):
    a: float
    b: np.ndarray

    def val(self):
        return self.a * np.sum(self.b)


@dataclass
class Outer:
    q: Q
    k: float = 3.0

    def go(self, F):
        self.q.step(F)
        self.k *= self.q.mass
        return self


@dataclass
class Sub(Q):
    extra: float = 2.0

    def step(self, F):
        super().step(F * self.extra)
        self.extra = self.extra * self.mass


def stepped(x, m):
    q = Q(x, m)
    q.step(x)
    return q.en()


def by_keyword(x, m):
    q = Q(pos=x, mass=m * 2)
    q.step(x)
    q.mass += m
    return q.en()


def field_set_later(x, m):
    q = Q(x)
    q.mass = m
    q.step(x)
    return q.en() * q.mass


def frozen(x, m):
    f = Fz(m, x)
    q = Q(x, f.a)
    q.step(f.b)
    return q.en() * f.val()


def named_tuple(x, m):
    f = NT(m, x)
    q = Q(x, f.a)
    q.step(f.b)
    return q.en() * f.val()


def nested(x, m):
    o = Outer(Q(x, m), m * m)
    o.go(x).go(2 * x)
    return o.k * o.q.en()


def inherited(x, m):
    o = Sub(x, m, [m], m + 1.0)
    o.step(x)
    o.step(x)
    return o.extra * o.en()


def namespace(x, m):
    n = types.SimpleNamespace(a=m, b=x)
    q = Q(n.b, n.a)
    q.step(n.b)
    n.a = q.en()
    return n.a * m


def replaced(x, m):
    q = Q(x, m)
    q.step(x)
    r = replace(q, mass=m * 3)
    r.step(x)
    return r.en() + q.en()


def partial_over_an_object(x, m):
    h = functools.partial(lambda q, s: q.en() * s, s=m)
    q = Q(x, m)
    q.step(x)
    return h(q)


def in_a_dict(x, m):
    qs = {k: Q(x * k, m * k) for k in (1, 2)}
    for k, q in qs.items():
        q.step(x)
        q.mass = q.mass * k
    return sum(q.en() for q in qs.values())


def tuple_in_a_list(x, m):
    f = NT(m, x.copy())
    fs = [f]
    f.b[0] = m * m
    return sum(f.val() for f in fs) + f.a


def tuple_of_an_array_that_changes(x, m):
    f = [NT(m, x.copy())]
    q = Q(x, m)
    q.step(f[0].b)
    f[0].b[0] = q.mass
    return f[0].val() * q.en()


def partial_over_a_number(x, m):
    h = functools.partial(lambda s, q: q.en() * s, m)
    q = Q(x, m)
    q.step(x)
    return h(q)


def partial_in_a_list(x, m):
    h = [functools.partial(lambda s, q, z: q.en() * s + z, m * m, z=m)]
    q = Q(x, m)
    q.step(x)
    return h[0](q)


def tuples_of_numbers(x, m):
    t = [(m, x), (m * m, 2 * x)]
    q = Q(x, m)
    q.step(t[1][1])
    return q.en() * t[0][0] + t[1][0]


P2 = collections.namedtuple("P2", "a b")


def tuple_holds_an_object(x, m):
    q = Q(x, m)
    q.step(x)
    p = P2(q.mass, q)
    p.b.step(x)
    return p.b.en() * p.a + q.en()


def replaced_in_a_loop(x, m):
    q = Q(x, m)
    f = NT(m, q.pos)
    for k in range(2):
        f = f._replace(a=f.a * q.mass)
        q.step(f.b)
    return f.a * q.en()


@dataclass
class Node:
    val: float
    kids: list = field(default_factory=list)

    def add(self, v):
        self.kids.append(Node(v))
        return self.kids[-1]

    def total(self):
        return self.val + sum(k.total() * self.val for k in self.kids)


def tree(x, m):
    root = Node(m)
    a = root.add(x[0])
    a.add(m * x[1])
    root.add(m**2)
    return root.total()


@dataclass
class Acc:
    total: float = 0.0
    n: int = 0

    def push(self, v):
        self.total += v
        self.n += 1

    @property
    def mean(self):
        return self.total / self.n


def accumulator(x, m):
    acc = Acc(m)
    for v in x:
        acc.push(v * acc.total)
    return acc.mean


def accumulators(x, m):
    accs = [Acc(m), Acc(total=m * 2)]
    for v in x:
        for a in accs:
            a.push(v * a.total)
    return accs[0].mean * accs[1].mean


PROGRAMS = [
    stepped,
    by_keyword,
    field_set_later,
    frozen,
    named_tuple,
    nested,
    inherited,
    namespace,
    replaced,
    partial_over_an_object,
    in_a_dict,
    tuple_in_a_list,
    tuple_of_an_array_that_changes,
    partial_over_a_number,
    partial_in_a_list,
    tuples_of_numbers,
    tuple_holds_an_object,
    replaced_in_a_loop,
    tree,
    accumulator,
    accumulators,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    x, m = np.array([1.0, 2.0]), 2.0
    by_x = [(f(x + d, m) - f(x - d, m)) / 2e-6 for d in np.eye(2) * 1e-6]
    by_m = (f(x, m + 1e-6) - f(x, m - 1e-6)) / 2e-6
    value, (x_bar, m_bar) = ad.value_and_grad(f, argnums=(0, 1))(x, m)
    assert value == f(x, m)
    np.testing.assert_allclose(x_bar, by_x, rtol=1e-6)
    np.testing.assert_allclose(m_bar, by_m, rtol=1e-6)
    np.testing.assert_allclose(ad.grad(f, argnums=1)(x, m), by_m, rtol=1e-6)
    _, dot = ad.jvp(f, (x, m), (np.ones(2), 1.0))
    np.testing.assert_allclose(dot, np.sum(by_x) + by_m, rtol=1e-6)
