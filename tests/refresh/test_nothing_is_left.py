"""What is made, differentiated and dropped again and again is gone: functions, classes, and all that was noted for them.

Each program makes new functions and classes, takes derivatives in one way, and returns what it made.
"""

from __future__ import annotations

import abc
import collections
import contextlib
import dataclasses
import functools
import gc
import linecache
import operator
import sys
import weakref

import numpy as np
import pytest

import thunkad as ad
from thunkad.compiled.load import generated
from thunkad.compiled.root import ROOTS
from thunkad.rules.table import TABLE

pytestmark = pytest.mark.usefixtures("few_objects_to_collect")


def closures(k):
    a = np.full(2, k)

    def g(x):
        return np.sum(a * x)

    def f(x):
        return g(x) * x

    assert ad.grad(f)(2.0) == ad.vjp(f, 2.0)[1](1.0)[0] == 8.0 * k
    return f, g


def partials(k):
    def g(a, x):
        return a * x * x * k

    p = functools.partial(g, 2.0)

    def f(x):
        return p(x)

    assert ad.grad(f)(2.0) == ad.grad(p)(2.0) == ad.vjp(p, 2.0)[1](1.0)[0] == 8.0 * k
    assert ad.hvp(p, (2.0,), (1.0,)) == 4.0 * k
    return f, g, p


def forward_mode(k):
    def g(x):
        return x * x * k

    def f(x):
        return g(x) * x

    assert ad.jvp(f, (2.0,), (1.0,))[1] == ad.linearize(f, 2.0)[1](1.0) == 12.0 * k
    np.testing.assert_allclose(ad.jacobian(f, mode="forward")(np.ones(2)), np.eye(2) * 3.0 * k)
    return f, g


def second_order(k):
    def g(x):
        return x * x * k

    def f(x):
        return g(x) * x

    def inside(x):
        return ad.grad(g)(x) * x

    assert ad.hvp(f, (2.0,), (1.0,)) == ad.hessian(f)(2.0) == ad.grad(ad.grad(f))(2.0) == 12.0 * k
    assert ad.derivative(f, 3)(2.0) == 6.0 * k
    assert ad.grad(inside)(2.0) == ad.jvp(inside, (2.0,), (1.0,))[1] == 8.0 * k
    return f, g, inside


def found_late(k):
    def g(x):
        return x * x * k

    class Scale:
        def __call__(self, x):
            return x * k

    table = [g, Scale(), np.sin]

    def f(x):
        return table[0](x) + table[1](x)

    assert ad.grad(f)(2.0) == ad.jvp(f, (2.0,), (1.0,))[1] == 5.0 * k
    assert ad.hvp(f, (2.0,), (1.0,)) == ad.grad(ad.grad(f))(2.0) == 2.0 * k
    return f, g, Scale


def objects(k):
    class Model:
        def __init__(self, w):
            self.w = w

        def __call__(self, x):
            return self.w * x * k

        def step(self, x):
            return self.w * x

        @property
        def twice(self):
            return 2.0 * self.w

        @classmethod
        def of_class(cls, x):
            return x * k

        @staticmethod
        def static(x):
            return x * k

    def f(x):
        m = Model(x)
        return m(x) + m.step(x) + m.twice

    m = Model(2.0)
    assert ad.grad(f)(2.0) == 4.0 * k + 6.0
    assert ad.grad(m)(3.0) == 2.0 * k
    assert ad.grad(m.step)(3.0) == ad.grad(Model.step, argnums=1)(m, 3.0) == 2.0
    assert ad.grad(Model.of_class)(3.0) == ad.grad(Model.static)(3.0) == k
    assert ad.vjp(Model, 2.0)[1](ad.Tangent(Model, {"w": float(k)}))[0] == k
    return f, Model, m


def dataclasses_replaced(k):
    @dataclasses.dataclass
    class Pair:
        a: float
        b: float

    @dataclasses.dataclass
    class Doubled:
        a: float

        def __post_init__(self):
            self.a = 2.0 * self.a

    def f(x, pair):
        q = dataclasses.replace(pair(x, 2.0), b=x * k)
        return q.a * q.b * Doubled(x).a

    assert ad.grad(f)(2.0, Pair) == 24.0 * k
    assert ad.grad(ad.grad(lambda x: f(x, Pair)))(2.0) == 24.0 * k
    return f, Pair, Doubled


def named_tuples(k):
    Pair = collections.namedtuple("Pair", "a b")

    def f(p):
        return p.a * p.b * k

    assert ad.grad(f)(Pair(1.0, 2.0)) == Pair(2.0 * k, k)
    assert ad.jvp(f, (Pair(1.0, 2.0),), (Pair(1.0, 0.0),))[1] == 2.0 * k
    return f, Pair


def generic_functions(k):
    @functools.singledispatch
    def g(x):
        return x * k

    @g.register
    def _(x: float):
        return x * x * k

    def f(x):
        return g(x)

    def late(x):
        return [g, None][0](x)

    class Holder:
        @functools.singledispatchmethod
        def m(self, x):
            return x * k

    def of_method(x):
        return Holder().m(x)

    assert ad.grad(f)(2.0) == ad.grad(late)(2.0) == ad.grad(g)(2.0) == ad.jvp(late, (2.0,), (1.0,))[1] == 4.0 * k
    assert ad.grad(ad.grad(late))(2.0) == 2.0 * k
    assert ad.grad(of_method)(2.0) == ad.grad(Holder().m)(2.0) == k
    return f, g, late, Holder, of_method


def getters(k):
    item, attribute = operator.itemgetter(f"w{k}"), operator.attrgetter(f"w{k}")

    class Bare:
        pass

    def f(p):
        return item(p) * 2.0

    def of_attribute(x):
        bare = Bare()
        setattr(bare, f"w{k}", x * x)
        return [attribute, None][0](bare)

    assert ad.grad(f)({f"w{k}": 2.0}) == {f"w{k}": 2.0}
    assert ad.grad(of_attribute)(2.0) == 4.0
    return f, of_attribute, Bare


def generators(k):
    def g(n, x):
        for i in range(n):
            yield x * i * k

    def used_up(x):
        return sum(g(3, x))

    def kept(x):
        it = g(3, x)
        return next(it) + next(it)

    assert ad.grad(used_up)(2.0) == 3.0 * k and ad.grad(kept)(2.0) == k
    return g, used_up, kept


def inner_generators(k):
    def f(x):
        def g():
            yield x * k
            yield x

        it = g()
        return next(it) * next(it)

    assert ad.grad(f)(2.0) == 4.0 * k
    return (f,)


def iterators(k):
    class Count:
        def __init__(self, x):
            self.x, self.n = x, 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            if self.n > 3:
                raise StopIteration
            return self.x * self.n * k

    def f(x):
        s = 0.0
        for y in Count(x):
            s = s + y
        return s

    assert ad.grad(f)(2.0) == ad.jvp(f, (2.0,), (1.0,))[1] == 6.0 * k
    return f, Count


def context_managers(k):
    @contextlib.contextmanager
    def scaled(x):
        yield x * k

    def f(x):
        with scaled(x) as y:
            return y * x

    assert ad.grad(f)(2.0) == 4.0 * k
    return f, scaled


def exceptions(k):
    class Special(Exception):
        pass

    def f(x):
        try:
            if x > 1.0:
                raise Special("a")
        except Special:
            return x * k
        return x

    def failing(x):
        return eval("x")

    assert ad.grad(f)(2.0) == k
    with contextlib.suppress(ad.ThunkadError):
        ad.grad(failing)(2.0)
    return f, Special, failing


def array_subclasses(k):
    class Marked(np.ndarray):
        pass

    def f(x):
        return np.sum(np.sin(x) * k)

    np.testing.assert_allclose(ad.grad(f)(np.zeros(2).view(Marked)), k)
    return f, Marked


def rules_of_functions(k):
    def g(x):
        return x * x

    def f(x):
        return g(x)

    @ad.rrule(g)
    def reverse(x):
        def pullback(y_bar):
            return (y_bar * k,)

        return g(x), pullback

    @ad.frule(g)
    def forward(x, *, x_dot):
        return g(x), x_dot * k

    assert ad.grad(f)(2.0) == ad.jvp(f, (2.0,), (1.0,))[1] == k
    ad.opt_out(g, float)
    ad.refresh(f)
    assert ad.grad(f)(2.0) == 4.0
    with ad.rules.override(g, None), ad.refresh_policy("auto"):
        assert ad.grad(f)(2.0) == 4.0
    ad.non_differentiable(g)
    ad.numerical_rule(reverse)
    ad.scalar_rule(forward, lambda y, x: 1.0)
    return f, g, reverse, forward


def rules_of_classes(k):
    class Base(abc.ABC):
        pass

    class Model:
        def __init__(self, w):
            self.w = w

        def step(self, x):
            return self.w * x

        def __mul__(self, other):
            return self.w * other

    Base.register(Model)

    @ad.rrule(Model.step)
    def of_method(m, x):
        return m.step(x), lambda y_bar: (ad.NoTangent(), y_bar * k)

    @ad.rrule(Model)
    def of_constructor(w):
        return Model(w), lambda m_bar: (m_bar["w"] * k,)

    def g(x, m):
        return x

    @ad.rrule(g)
    def typed(x, m: Base):
        return x, lambda y_bar: (y_bar * k, ad.NoTangent())

    def f(x, m):
        return Model(3.0).step(x) + Model(x) * 3.0 + g(x, m)

    assert ad.grad(f)(2.0, Model(1.0)) == 5.0 * k
    return f, g, Base, Model, of_method, of_constructor, typed


def rules_that_differentiate(k):
    def apply(h, x):
        return h(x)

    @ad.rrule(apply)
    def rule(h, x, *, ad):
        y, back = ad.vjp(h, x)
        return y, lambda y_bar: (None, back(y_bar)[0] * k)

    def f(x):
        return apply(lambda y: y * y, x)

    assert ad.grad(f)(2.0) == 4.0 * k
    return f, apply, rule


def looked_at(k):
    def g(x):
        return x * x * k

    @ad.differentiable
    def f(x):
        return ad.checkpoint(g)(x)

    assert ad.grad(f)(2.0) == 4.0 * k
    f.explain(2.0), f.adjoint_source(args=(2.0,)), ad.coverage(f), ad.rules.edges(f), ad.refresh(f, all=True)
    return f, g


def captured(k):
    w = np.ones(2)

    def f(x):
        return np.sum(w * x) * k

    np.testing.assert_allclose(ad.grad(f, captured=[w])(2.0)[w], 2.0 * k)
    return (f,)


PROGRAMS = [
    closures, partials, forward_mode, second_order, found_late, objects, dataclasses_replaced, named_tuples,
    generic_functions, getters, generators, inner_generators, iterators, context_managers, exceptions, array_subclasses,
    rules_of_functions, rules_of_classes, rules_that_differentiate, looked_at, captured,
]  # fmt: skip


def noted():
    """How much is noted by name, in tables and beside the code."""
    gc.collect()
    texts = sum("thunkad" in name or " of " in name for name in linecache.cache)
    return len(ROOTS), len(generated), len(TABLE.cells()), texts


@pytest.mark.filterwarnings("ignore::thunkad.RuleWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_nothing_is_left_of(program):
    for k in range(2, 5):  # what the library and the interpreter keep is there after a while
        program(k)
    before = noted()
    made = [(type(x).__name__, weakref.ref(x)) for k in range(10, 25) for x in program(k)]
    gc.collect()
    assert [name for name, ref in made if ref() is not None] == []
    assert noted() == before


def with_everything(k):
    """A lambda that was differentiated in several ways, and had a rule for a while."""
    f = (lambda k: lambda x: x * x * k)(k)
    assert ad.grad(f)(2.0) == 4.0 * k
    value, back = ad.vjp(f, 2.0)
    assert back(1.0)[0] == 4.0 * k

    @ad.rrule(f)
    def _(x):
        def pullback(y_bar):
            return (y_bar * f(1.0),)

        return f(x), pullback

    ad.refresh(f)
    assert ad.grad(f)(2.0) == k
    return weakref.ref(f)


def only_differentiated(k):
    f = (lambda k: lambda x: x * x * k)(k)
    assert ad.grad(f)(2.0) == 4.0 * k
    return weakref.ref(f)


def test_nothing_is_left_of_ten_thousand_lambdas():
    def some(count):
        for k in range(1, count + 1):
            yield (with_everything if k % 50 == 0 else only_differentiated)(k)

    list(some(200))  # what the library and the interpreter keep is there after a while
    before, blocks = noted(), sys.getallocatedblocks()
    refs = list(some(10_000))
    gc.collect()
    assert not any(ref() for ref in refs)
    del refs
    assert noted() == before
    assert sys.getallocatedblocks() - blocks < 2000  # the interpreter's own pools grow now and then
