"""Programs as scientists write them: simulations, models and solvers made of classes, checked by finite differences."""

import functools
import itertools
import math
import operator
from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np
import pytest

import thunkad as ad


class CSR:
    """A sparse matrix that a class method makes."""

    def __init__(self, data, indices, indptr):
        self.data, self.indices, self.indptr = data, indices, indptr

    @classmethod
    def from_dense(cls, A):
        data, indices, ptr = [], [], [0]
        for row in A:
            nz = np.nonzero(row)[0]
            data.extend(row[nz])
            indices.extend(nz)
            ptr.append(len(indices))
        return cls(np.array(data), np.array(indices), np.array(ptr))

    def __matmul__(self, x):
        y = np.zeros(len(self.indptr) - 1)
        for i in range(len(y)):
            span = slice(self.indptr[i], self.indptr[i + 1])
            y[i] = self.data[span] @ x[self.indices[span]]
        return y


def sparse(p):
    S = CSR.from_dense(p.reshape(3, 3) * np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]]))
    x = p[:3]
    for _ in range(3):
        x = np.tanh(S @ x)
    return x.sum()


class SymmetricCSR(CSR):
    pass


def inherited_class_method(p):
    S = SymmetricCSR.from_dense(p.reshape(3, 3))
    made = S.from_dense(p.reshape(3, 3) * 2)
    return (S @ p[:3]).sum() * made.data[0]


@dataclass
class Quaternion:
    w: float
    x: float
    y: float
    z: float

    def __mul__(a, b):
        if not isinstance(b, Quaternion):
            return Quaternion(*(c * b for c in astuple(a)))
        return Quaternion(
            a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        )

    def __abs__(self):
        return math.sqrt(sum(v * v for v in (self.w, self.x, self.y, self.z)))

    def __truediv__(self, k):
        return self * (1 / k)

    def conjugate(self):
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    @classmethod
    def about(cls, v, angle):
        v = v / np.linalg.norm(v)
        return cls(math.cos(angle / 2), *(math.sin(angle / 2) * v))

    def rotate(self, v):
        r = self * Quaternion(0.0, *v) * self.conjugate()
        return np.array([r.x, r.y, r.z])


def rotation(p):
    q = Quaternion.about(p[:3], p[3]) * Quaternion(1.0, *p[:3])
    q = q / abs(q)
    return q.rotate(np.array([1.0, 2.0, p[0]])) @ np.array([0.3, 0.2, 0.1])


@functools.total_ordering
class Quantity:
    def __init__(self, v, unit="m"):
        self.v, self.unit = v, unit

    def check(self, other):
        if self.unit != other.unit:
            raise TypeError(f"{self.unit} vs {other.unit}")

    def __add__(self, other):
        self.check(other)
        return Quantity(self.v + other.v, self.unit)

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __mul__(self, k):
        return Quantity(self.v * (k.v if isinstance(k, Quantity) else k), self.unit)

    __rmul__ = __mul__

    def __lt__(self, other):
        self.check(other)
        return self.v < other.v

    def __eq__(self, other):
        return isinstance(other, Quantity) and self.v == other.v

    __hash__ = None


def units(p):
    qs = [Quantity(v) for v in p]
    total, largest, ordered = sum(qs), max(qs), sorted(qs, reverse=True)
    try:
        total + Quantity(1.0, "s")
    except TypeError as e:
        message = str(e)
    return total.v * largest.v + (2.0 * ordered[1]).v + len(message)


def product_of_objects(p):
    return math.prod(Quantity(v) for v in p).v * sum([Quantity(p[0])], Quantity(p[1])).v


def sum_of_vectors_of_a_dict(p):
    return sum({k: Quantity(v) for k, v in zip("abc", p)}.values()).v ** 2


class Settings:
    """Attributes out of a dict, as configurations have them."""

    def __init__(self, params, n):
        self.__dict__.update(params)
        self.n = n

    def copy(self):
        new = Settings({}, 0)
        new.__dict__.update(self.__dict__)
        return new

    def scaled(self, k):
        for name in vars(self):
            if name != "n":
                self.__dict__[name] = self.__dict__[name] * k
        return self

    def total(self):
        return sum(v for k, v in self.__dict__.items() if k != "n")

    def mapped(self, f):
        return Settings({**{k: f(v) for k, v in vars(self).items() if k != "n"}}, self.n)


def settings(p):
    s = Settings(dict(w=p[0] * p[1], b=p[2]), 3)
    t = s.copy().scaled(2.0)
    return t.w * t.b + s.total() * s.n + s.mapped(np.sin).total()


class Keywords:
    def __init__(self, **kw):
        for k, v in kw.items():
            self.__dict__[k] = v

    def get(self, name):
        return self.__dict__[name]


def keywords(p):
    s = Keywords(w=p[0] * p[1], b=p[1])
    return s.get("w") * s.get("b") * len(s.__dict__) + {**vars(s)}["w"] + sum(sorted(s.__dict__.values()))


def one_of_two_dictionaries(p):
    x, y = Keywords(a=p[0], b=p[1]), Keywords(a=p[1] * 2, b=p[0])
    name = "a" if p[0] > 0 else "b"
    return getattr(x, name) * getattr(y, "%s" % name) * x.__dict__[name]


class Tree(NamedTuple):
    left: "Tree | None"
    right: "Tree | None"
    leaf: "int | None" = None


TREE = Tree(Tree(Tree(None, None, 0), Tree(None, None, 1)), Tree(None, None, 2))


def recursive_network(p):
    W, embedding = p[:8].reshape(2, 4), p[8:].reshape(3, 2)

    def go(node):
        if node.leaf is not None:
            return embedding[node.leaf]
        return np.tanh(W @ np.concatenate([go(node.left), go(node.right)]))

    return go(TREE).sum()


class Mixture:
    __slots__ = ("w", "mu", "s")

    def __init__(self, w, mu, s):
        self.w, self.mu, self.s = w, mu, s

    def step(self, x):
        log = -0.5 * ((x[:, None] - self.mu) / self.s) ** 2 - np.log(self.s) + np.log(self.w)
        log -= log.max(axis=1, keepdims=True)
        r = np.exp(log)
        r /= r.sum(axis=1, keepdims=True)
        n = r.sum(0)
        mu = (r * x[:, None]).sum(0) / n
        self.w, self.mu, self.s = n / len(x), mu, np.sqrt((r * (x[:, None] - mu) ** 2).sum(0) / n)
        return self


def expectation_maximisation(p):
    m = Mixture(np.array([0.5, 0.5]), p[:2], np.exp(p[2:]))
    for _ in range(2):
        m.step(np.array([-1.2, -0.7, -1.4, 1.0, 1.9, 1.4]))
    return m.mu @ m.mu + m.s.sum() + m.w[0]


def arm(q):
    def link(angle, length):
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, -s, c * length], [s, c, s * length], [0.0, 0.0, 1.0]])

    T = functools.reduce(operator.matmul, [link(a, 1.0 + 0.1 * i) for i, a in enumerate(q)], np.eye(3))
    x, y = T[:2, 2]
    return (x - 1.0) ** 2 + (y - 0.5) ** 2 + np.arctan2(T[1, 0], T[0, 0])


def three_heads(p):
    q, k, v = (np.einsum("td,de->te", np.ones((2, 2)) * p[0], W) for W in p.reshape(3, 2, 2))
    return np.sum(q @ k.T @ v)


class Matrix:
    """A wrapper around an array, parts of which are matrices of their own that share its memory."""

    def __init__(self, a):
        self.a = a

    def __getitem__(self, k):
        r = self.a[k]
        return Matrix(r) if isinstance(r, np.ndarray) and r.ndim == 2 else r

    def __setitem__(self, k, v):
        self.a[k] = v.a if isinstance(v, Matrix) else v

    def __matmul__(self, other):
        return Matrix(self.a @ other.a)

    def __iadd__(self, other):
        self.a += other.a if isinstance(other, Matrix) else other
        return self

    @property
    def T(self):
        return Matrix(self.a.T)

    @staticmethod
    def identity(n):
        return Matrix(np.eye(n))

    def trace(self):
        return np.trace(self.a)


def parts_of_a_matrix(p):
    m = Matrix(p.reshape(3, 3) * 1.0)
    m[0, 0] = m[1, 1] * m[2, 2]
    m += Matrix.identity(3)
    m[:2, :2] = m[:2, :2] @ m[:2, :2].T
    m[0, 1] *= p[1]
    m += p[0]
    return (m @ m.T).trace() + m[0, 1]


class Polynomial:
    def __init__(self, *c):
        self.c = list(c)

    def __call__(self, x):
        r = 0.0
        for c in reversed(self.c):
            r = r * x + c
        return r

    def __mul__(self, other):
        out = [0.0] * (len(self.c) + len(other.c) - 1)
        for i, a in enumerate(self.c):
            for j, b in enumerate(other.c):
                out[i + j] += a * b
        return Polynomial(*out)

    def __add__(self, other):
        return Polynomial(*[a + b for a, b in itertools.zip_longest(self.c, other.c, fillvalue=0.0)])

    def __pow__(self, n):
        return functools.reduce(operator.mul, [self] * n)

    def __neg__(self):
        return Polynomial(*(-c for c in self.c))

    def __sub__(self, other):
        return self + (-other)

    def derivative(self):
        return Polynomial(*[k * c for k, c in enumerate(self.c)][1:])

    def __len__(self):
        return len(self.c)

    def __getitem__(self, i):
        return self.c[i]

    def __repr__(self):
        return " + ".join(f"{c:g}x^{k}" for k, c in enumerate(self.c))


def polynomials(p):
    a, b = Polynomial(p[0], p[1]), Polynomial(1.0, p[2], p[0])
    q = (a * b - a**2).derivative()
    return q(0.7) * len(q) + q[1] + q[-1] + len(repr(q)) * 0.0


class Trajectory:
    def __init__(self):
        self.ts, self.ys = [], []

    def record(self, t, y):
        self.ts.append(t)
        self.ys.append(y)

    def __iter__(self):
        return iter(zip(self.ts, self.ys))

    def __len__(self):
        return len(self.ys)

    def __getitem__(self, i):
        return self.ys[i]


def recorded(p):
    tr, y = Trajectory(), p[0]
    for k in range(4):
        tr.record(k * 0.1, y)
        y = y + 0.1 * p[1] * y * (1.0 - y)
    return sum((y - math.cos(t)) ** 2 for t, y in tr) / len(tr) + tr[0] * tr[-1]


STEPS = {"scale": lambda x, k=2.0: x * k, "shift": lambda x, by=0.0: x + by, "scaled": lambda x: x / (1.0 + abs(x))}


class Pipeline:
    def __init__(self, config):
        self.steps = [(name, functools.partial(STEPS[name], **kw)) for name, kw in config]

    def run(self, x):
        log = []
        for name, step in self.steps:
            x = step(x)
            log.append((name, x))
        return x, dict(log)


def pipeline(p):
    y, log = Pipeline([("scale", {"k": p[0]}), ("shift", {"by": p[1]}), ("scaled", {})]).run(p[2])
    return y**3 + log["scale"] * log["shift"]


def compose(*fs):
    return functools.reduce(lambda f, g: lambda x: g(f(x)), fs)


def composed(p):
    """Closures that hold functions with differentiated defaults."""

    def last(z, k=p[1]):
        return z * k

    h = compose(np.sin, functools.partial(operator.mul, p[1]), lambda z, k=p[2]: z**2 * k, last)
    return h(p[0]) + h(0.3)


class Event:
    __slots__ = ("t", "kind", "v")

    def __init__(self, t, kind, v):
        self.t, self.kind, self.v = t, kind, v

    def __repr__(self):
        return f"<{self.kind}@{self.t:.2f}>"


def events(p):
    queue, level, last, trace = [Event(0.1, "in", p[0]), Event(0.3, "in", p[1])], 0.0, 0.0, []
    while queue:
        queue.sort(key=lambda e: e.t)
        e = queue.pop(0)
        level = level * np.exp(-p[2] * (e.t - last))
        last = e.t
        if e.kind == "in":
            level += e.v
            if e.t < 1:
                queue.append(Event(e.t + 0.4, "in" if len(queue) < 2 else "out", e.v * 0.5))
        else:
            level *= 0.9
        trace.append((repr(e), level))
    return sum(level for _, level in trace)


class Filter:
    """A low pass whose attribute is complex, and whose parameter is real."""

    def __init__(self, n, cut):
        self.f = np.fft.rfftfreq(n)
        self.H = 1 / (1 + 1j * self.f / cut)

    def __call__(self, x):
        return np.fft.irfft(self.H * np.fft.rfft(x), n=len(x))


def filtered(p):
    y = Filter(4, p[0] ** 2 + 0.1)(p)
    return np.sum(y**2) + np.abs(np.fft.fft(p)[1])


def converged(p):
    A = p.reshape(2, 2)
    A, v, last = A + A.T + 4 * np.eye(2), np.ones(2), 0.0
    for n in itertools.count():
        w = A @ v
        size = np.linalg.norm(w)
        v = w / size
        if n > 200 or abs(size - last) < 1e-14 * abs(size):
            break
        last = size
    return size + v[0]


PROGRAMS = {
    sparse: np.linspace(-0.7, 0.9, 9),
    inherited_class_method: np.linspace(-0.7, 0.9, 9),
    rotation: np.array([0.5, 0.2, 0.8, 1.1]),
    units: np.array([0.5, 0.9, 0.2]),
    product_of_objects: np.array([0.5, 0.9, 0.2]),
    sum_of_vectors_of_a_dict: np.array([0.5, 0.9, 0.2]),
    settings: np.array([1.3, 0.4, 0.7]),
    keywords: np.array([1.3, 0.4]),
    one_of_two_dictionaries: np.array([1.3, 0.4]),
    recursive_network: np.linspace(-0.7, 0.9, 14),
    expectation_maximisation: np.array([-0.8, 1.2, 0.1, -0.1]),
    arm: np.array([0.3, 0.4, -0.2]),
    three_heads: np.linspace(-0.7, 0.9, 12),
    parts_of_a_matrix: np.linspace(-0.7, 0.9, 9),
    polynomials: np.array([0.3, 0.41, 0.52]),
    composed: np.array([0.5, 0.9, 0.8]),
    events: np.array([0.5, 0.9, 0.8]),
    filtered: np.array([0.7, 0.9, 0.8, 0.3]),
    pipeline: np.array([0.5, 0.3, 1.2]),
    recorded: np.array([0.3, 0.41]),
    converged: np.array([0.5, -0.2, 0.1, 0.3]),
}


def by_differences(f, x, h=1e-6):
    steps = np.eye(x.size).reshape(-1, *x.shape) * h
    return np.array([(f(x + step) - f(x - step)) / (2 * h) for step in steps]).reshape(x.shape)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_reverse_and_forward_mode(f):
    x = PROGRAMS[f]
    before, v = x.copy(), np.cos(np.arange(x.size))
    slope = by_differences(f, x)
    value, gradient = ad.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ad.jvp(f, (x,), (v,))[1], np.sum(gradient * v), rtol=1e-9)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("f", [f for f, x in PROGRAMS.items() if x.size < 6], ids=lambda f: f.__name__)
def test_second_derivatives(f):
    x = PROGRAMS[f]
    v = np.cos(np.arange(x.size))
    gradient = ad.grad(f)
    h = 1e-5
    want = (gradient(x + h * v) - gradient(x - h * v)) / (2 * h)
    np.testing.assert_allclose(ad.hvp(f, (x,), (v,)), want, rtol=1e-5, atol=1e-7)


def test_a_dictionary_of_attributes_that_is_one_of_two_is_refused():
    def f(p):
        x, y = Keywords(a=p[0]), Keywords(a=p[1] * 2)
        if p[0] > 0:
            d = x.__dict__
        else:
            d = y.__dict__
        return d["a"] * p[1]

    with pytest.raises(ad.UnsupportedSyntaxError, match="dictionary of the attributes"):
        ad.grad(f)(np.array([1.3, 0.4]))


def test_class_methods_are_looked_up_when_the_code_is_made():
    assert "from_dense_forward_A(CSR" in ad.adjoint_source(sparse)
    assert "pull(CSR" not in ad.adjoint_source(sparse)


def test_generator_expressions_that_are_spread_are_loops():
    @dataclass
    class Pair:
        a: float
        b: float

    def f(x):
        p = Pair(*(x * k for k in (1.0, 2.0)))
        return p.a * p.b

    assert ad.grad(f)(3.0) == 12.0
    assert "generator_expression" not in ad.adjoint_source(f)
