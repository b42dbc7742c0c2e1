"""Exceptions that hold values: raised in the function or in what it calls, and read by whoever catches them."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import thunkad as ad

from checking import Program, check_program

HELPERS = """
import contextlib, dataclasses, functools
class Stop(Exception):
    def __init__(self, value): self.value = value
class Child(Stop):
    def __init__(self, value, more=2.0):
        super().__init__(value * 2)
        self.more = more
class Plain(Exception): pass
class Kept(Exception):
    def __init__(self, value):
        super().__init__("kept", value)
        self.twice = 2 * value
@dataclasses.dataclass
class Record(Exception):
    value: float
    code: int = 3
def checked(x, most=1.0):
    y = x * x
    if y > most: raise Stop(y * x)
    return y
def through(x): return checked(x) * 3
"""

PROGRAMS: dict[str, str] = {
    "basic": """
        def f(x):
            try:
                raise Stop(x*x)
            except Stop as e:
                return e.value*x
    """,
    "callee": """
        def g(x):
            y = x*x
            if y > 1: raise Stop(y*x)
            return y
        def f(x):
            try:
                z = g(x)*2
            except Stop as e:
                return e.value*x
            return z
    """,
    "two_levels": """
        def g(x):
            y = x*x
            if y > 1: raise Stop(y*x)
            return y
        def h(x): return g(x)*3
        def f(x):
            try:
                z = h(x)*2
            except (KeyRecordor, Stop) as e:
                return e.value*x
            return z
    """,
    "args": """
        def g(x):
            y = x*x
            if y > 1: raise ValueRecordor("big", y*x)
            return y
        def f(x):
            try:
                z = g(x)*2
            except ValueRecordor as e:
                return e.args[1]*x*len(e.args)
            return z
    """,
    "reraise_from": """
        def g(x):
            y = x*x
            if y > 1: raise Stop(y*x)
            return y
        def h(x):
            try:
                return g(x)
            except Stop as e:
                raise Plain(e.value*2, x) from e
        def f(x):
            try:
                z = h(x)*2
            except Plain as e:
                return e.args[0]*x*e.__cause__.value
            return z
    """,
    "loop": """
        class Stop(Exception):
            def __init__(self, value, k):
                super().__init__(f"{value}")
                self.value = value; self.k = k
        def g(x, k):
            if x > 2: raise Stop(x*x, k)
            return x*1.5
        def f(x):
            t = 0.0
            for k in range(4):
                try:
                    x = g(x, k)
                    t += x
                except Stop as e:
                    t = t * e.value*(e.k+1)
                    x = x*0.5
            return t*x
    """,
    "method": """
        class M:
            def __init__(self, w): self.w = w
            def go(self, x):
                if x > 1: raise Stop(self.w*x)
                return x
        def f(x):
            m = M(x*x)
            try:
                return m.go(x)
            except Stop as e:
                return e.value*m.w
    """,
    "nested_def": """
        def f(x):
            def g(y):
                if y > 0: raise Stop(y*x)
                return y
            try:
                return g(x*x)
            except Stop as e:
                return e.value*x
    """,
    "callback": """
        def run(cb, x):
            for k in range(5):
                cb(x*k)
            return x
        def f(x):
            def g(y):
                if y > 4: raise Stop(y*x)
            try:
                return run(g, x)
            except Stop as e:
                return e.value*x
    """,
    "dynamic": """
        def a(x): raise Stop(x*x)
        def b(x): return x
        def f(x):
            t = 0.0
            for g in [b, a, b]:
                try:
                    t = t + g(x)
                except Stop as e:
                    t = t*e.value
            return t
    """,
    "finally": """
        def g(x):
            y = x
            try:
                y = y*x
                raise Stop(y)
            finally:
                print('fin')
        def f(x):
            try:
                g(x)
            except Stop as e:
                e.value = e.value*x
                return e.value*x
    """,
    "recursive": """
        class Found(Exception):
            def __init__(self, value): self.value = value
        def search(x, d):
            if d == 0: raise Found(x*x)
            search(x*1.5, d-1)
            search(x*2.5, d-1)
        def f(x):
            try: search(x, 3)
            except Found as e: return e.value
    """,
    "mutated": """
        def g(a):
            a[0] = a[1]*a[1]
            if a[0] > 1: raise Stop(a[0]*a[1])
            return a[0]
        def f(x):
            a = [x, x*x]
            try: z = g(a)
            except Stop as e:
                a[1] = e.value*x
                z = a[0]
            return z*a[1]
    """,
    "len_args_constant": """
        def g(x):
            if x > 1: raise ValueRecordor('bad', 2)
            return x
        def f(x):
            try: z = g(x)
            except ValueRecordor as e: z = x*x*len(e.args)*e.args[1]
            return z
    """,
    "library": """
        def f(x):
            d = {'a': x}
            try: z = d['b']
            except KeyRecordor as e: z = x*x*len(e.args)
            return z
    """,
    "holds_array": """
        class Stop(Exception): pass
        def g(v):
            if v[0] > 1: raise Stop(v*v, [v, 2.0])
            return v
        def f(x):
            v = np.array([x, 2*x])
            try: z = g(v)
            except Stop as e:
                a, b = e.args
                z = a*b[0]
            return np.sum(z)
    """,
    "l1": """
        def g(x, k):
            if x > 2: raise Stop(x*x)
            return x*1.5
        def f(x):
            t = 0.0
            for k in range(3):
                try:
                    x = g(x, k)
                except Stop as e:
                    t = e.value
            return t*x
    """,
    "l2": """
        def g(x):
            if x > 1: raise Stop(x*x)
            return x*1.5
        def f(x):
            t = 0.0
            try:
                x = g(x)
            except Stop as e:
                t = e.value
            return t*x
    """,
    "child": """
        def g(x):
            if x > 1: raise Child(x*x, more=x)
            return x
        def f(x):
            try: return g(x)
            except Stop as e: return e.value*e.more*x
    """,
    "set_after": """
        def g(x):
            e = Plain("a")
            e.value = x*x
            raise e
        def f(x):
            try: g(x)
            except Plain as e: return e.value*x
    """,
    "stopiteration": """
        def gen(x):
            yield x
            yield x*x
            return x**3
        def f(x):
            g = gen(x)
            t = 0.0
            while True:
                try: t = t + next(g)
                except StopIteration as e:
                    return t * e.value
    """,
    "raise_in_handler": """
        def g(x):
            try:
                raise Stop(x*x)
            except Stop as e:
                e.value = e.value*x
                raise
        def f(x):
            try: g(x)
            except Stop as e: return e.value*x
    """,
    "tuple_args": """
        def g(x): raise Plain(x*x, (x, 3.0), {'k': x**3})
        def f(x):
            try: g(x)
            except Plain as e:
                a, (b, c), d = e.args
                return a*b*c*d['k']
    """,
    "caught_twice": """
        def g(x): raise Stop(x*x)
        def h(x):
            try: g(x)
            except KeyRecordor as e: return e.args[0]
            return x
        def f(x):
            try: h(x)
            except Stop as e: return e.value*x
    """,
    "stored": """
        def g(x, k):
            if k % 2: raise Stop(x*k)
            return x
        def f(x):
            errs = []
            t = 0.0
            for k in range(5):
                try: t += g(x, k)
                except Stop as e: errs.append(e)
            for e in errs: t = t*e.value
            return t
    """,
    "returned": """
        def g(x): raise Stop(x*x)
        def catch(x):
            try: g(x)
            except Stop as e: return e
        def f(x):
            return catch(x).value*x
    """,
    "lambda": """
        def bad(x): raise Stop(x*x)
        def f(x):
            h = lambda y: bad(y)*2
            try: return h(x)
            except Stop as e: return e.value*x
    """,
    "object_call": """
        class Op:
            def __init__(self, w): self.w = w
            def __call__(self, x):
                raise Stop(self.w*x)
        def f(x):
            o = Op(x*x)
            try: return o(x)
            except Stop as e: return e.value*x
    """,
    "init_raises": """
        class A:
            def __init__(self, x):
                self.x = x
                if x > 1: raise Stop(x*x)
        def f(x):
            try: a = A(x)
            except Stop as e: return e.value*x
            return a.x
    """,
    "comprehension": """
        def chk(y):
            if y > 2: raise Stop(y*y)
            return y
        def f(x):
            try: return sum([chk(y) for y in [x, x*x]])
            except Stop as e: return e.value*x
    """,
    "with": """
        class M:
            def __enter__(self): return self
            def __exit__(self, k, e, t):
                self.seen = e
                return True
        def g(x): raise Stop(x*x)
        def f(x):
            m = M()
            with m: g(x)
            return m.seen.value*x
    """,
    "with_value": """
        class M:
            def __enter__(self): return self
            def __exit__(self, k, e, t):
                self.seen = e.value
                return True
        def f(x):
            m = M()
            with m: raise Stop(x*x)
            return m.seen*x
    """,
    "while_retry": """
        def solve(x, tol):
            if tol < 0.5: raise Stop(x*tol)
            return x*tol
        def f(x):
            tol, best = 2.0, x
            while True:
                try:
                    best = solve(best, tol)
                    tol = tol*0.6
                except Stop as err:
                    return best*err.value
    """,
    "finally_and_else": """
        def g(x, k):
            if k == 1: raise Stop(x*x)
            return x*k
        def f(x):
            t = 0.0
            for k in range(3):
                try: y = g(x, k)
                except Stop as e: t = t + e.value
                else: t = t + y*x
                finally: t = t*1.5
            return t
    """,
    "nested_function_nonlocal": """
        def f(x):
            best = x
            def visit(d):
                nonlocal best
                best = best*x
                if d == 0: raise Stop(best)
                visit(d-1)
            try: visit(3)
            except Stop as e: return e.value*best
    """,
    "dataclass_error": """
        def g(x): raise Record(x*x)
        def f(x):
            try: g(x)
            except Record as e: return e.value*x*e.code
    """,
    "from_None": """
        def g(x):
            try: raise Stop(x)
            except Stop as e: raise Plain(e.value*x) from None
        def f(x):
            try: g(x)
            except Plain as e: return e.args[0]*x
    """,
    "class_raised": """
        def g(x):
            if x > 1: raise Plain
            raise Stop(x)
        def f(x):
            try: g(x)
            except (Plain, Stop) as e:
                v = getattr(e, 'value', None)
                return x*x if v is None else v
    """,
    "str_and_isinstance": """
        def g(x):
            if x > 1: raise Plain('negative', x)
            raise Stop(x)
        def f(x):
            try: g(x)
            except Exception as e:
                if isinstance(e, Stop): return e.value
                if isinstance(e, Plain): return e.args[1]*x
                return x
    """,
    "cm": """
        @contextlib.contextmanager
        def guard(st):
            try:
                yield 1.0
            except Stop as e:
                st.append(e.value)
        def g(x): raise Stop(x*x)
        def f(x):
            st = []
            with guard(st): g(x)
            return st[0]*x
    """,
    "cm_local_raise": """
        @contextlib.contextmanager
        def guard(st):
            try:
                yield 1.0
            except Stop as e:
                st.append(e.value)
        def f(x):
            st = []
            with guard(st) as k:
                y = x*x*k
                if y > 1: raise Stop(y)
            return st[0]*x
    """,
    "suppress": """
        def g(x): raise Stop(x*x)
        def f(x):
            y = x
            with contextlib.suppress(Stop):
                y = y*x
                g(x)
                y = 0
            return y*x
    """,
    "classattr": """
        class A:
            kept = None
            def set(self, x): self.kept = x*x
        def f(x):
            a = A()
            a.set(x)
            return a.kept*x
    """,
    "classattr2": """
        class A:
            kept = None
        def mk(x):
            a = A()
            a.kept = x
            return a
        def f(x):
            a = mk(x*x)
            return (a.kept or 1.0)*x
    """,
    "classattr3": """
        class A:
            kept = "no"
            n = 0
        def mk(x):
            a = A()
            a.kept = x
            a.n = x
            return a
        def use(a): return a.kept*a.n
        def f(x):
            return use(mk(x*x))*x
    """,
}  # fmt: skip


def built(name: str) -> Any:
    return Program(textwrap.dedent(HELPERS) + textwrap.dedent(PROGRAMS[name]), ()).build()


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("x", [1.5, 0.7])
def test_derivatives_and_behaviour(name: str, x: float) -> None:
    check_program(built(name), (x,))


@pytest.mark.parametrize("name", PROGRAMS)
def test_forward_mode_and_second_derivatives(name: str) -> None:
    f, x, h = built(name), 1.5, 1e-6
    try:
        plain = f(x)
    except Exception as error:
        with pytest.raises(type(error)):
            ad.jvp(f, (x,), (1.0,))
        return
    value, dot = ad.jvp(f, (x,), (1.0,))
    assert value == pytest.approx(plain, rel=1e-12)
    assert dot == pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-5, abs=1e-6)
    second = (ad.grad(f)(x + h) - ad.grad(f)(x - h)) / (2 * h)
    assert ad.grad(ad.grad(f))(x) == pytest.approx(second, rel=1e-5, abs=1e-6)
    assert ad.jvp(ad.grad(f), (x,), (1.0,))[1] == pytest.approx(second, rel=1e-5, abs=1e-6)


THING = """
class Thing:
    def __init__(self, x): self.x = x
    @property
    def p(self): return checked(self.x)
    @p.setter
    def p(self, y):
        self.x = self.x * y
        self.x = checked(self.x * y)
    def __add__(self, o): raise Stop(self.x * o.x)
    def __matmul__(self, o): return checked(self.x * o)
    def __getitem__(self, k): return checked(self.x * k)
    def __float__(self): return float(checked(self.x * 2))
"""
OUT_OF_SIGHT = {
    "key_of_sorted": "def f(x):\n try: return sorted([x, x * x], key=checked)[0]\n except Stop as e: return e.value",
    "key_of_sort": "def f(x):\n a = [x * 2, x]\n try: a.sort(key=checked)\n except Stop as e: return e.value * a[0]\n return a[0]",
    "key_of_max": "def f(x):\n y = x\n try:\n  y = y * x\n  y = y * max(x, x * x, key=checked)\n except Stop as e: return e.value * y\n return y",
    "map": "def f(x):\n try: return sum(map(checked, [x, x * x]))\n except Stop as e: return e.value",
    "property": "def f(x):\n a, y = Thing(x), x\n try:\n  y = y * x\n  return a.p * y\n except Stop as e: return e.value * y",
    "operator": "def f(x):\n a, b = Thing(x), Thing(x * x)\n try: return (a + b).x\n except Stop as e: return e.value",
    "operators": "def f(x):\n a, t = Thing(x), x\n for k in range(3):\n  try:\n   t = t * x\n   if k == 0: t = t * (a @ 3.0)\n   elif k == 1: t = t * a[3.0]\n   else: t = t * float(a)\n  except Stop as e: t = t + e.value\n return t",
    "setter": "def f(x):\n a = Thing(x)\n try: a.p = x * 2\n except Stop as e: return e.value * a.x\n return a.x",
    "setter_in_place": "def f(x):\n a = Thing(x * 0.3)\n try: a.p += x * 2\n except Stop as e: return e.value * a.x\n return a.x",
    "found_late": "def f(x):\n t, gs = x, {'a': Thing(x), 'b': sorted}\n for k in gs:\n  try: t = t * (gs[k].p if k == 'a' else gs[k]([x, x * x], key=checked)[0])\n  except Stop as e: t = t * e.value\n return t",
}  # fmt: skip


@pytest.mark.parametrize("name", OUT_OF_SIGHT)
def test_what_is_raised_out_of_sight_is_followed(name: str) -> None:
    f = Program(textwrap.dedent(HELPERS) + THING + OUT_OF_SIGHT[name], ()).build()
    for x in (1.5, 3.1):
        expected = pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-5)
        assert ad.grad(f)(x) == expected
        assert ad.jvp(f, (x,), (1.0,))[1] == expected


@pytest.mark.parametrize("test", ["while a: return x", "if t(a): return x"])
def test_what_a_test_of_an_object_raises_is_refused(test: str) -> None:
    text = "    def __bool__(self): return checked(self.x) > 0\ndef t(a):\n if a: return True\n return False\n"
    text = (
        textwrap.dedent(HELPERS)
        + THING
        + text
        + "def f(x):\n a = Thing(x)\n try:\n  {}\n except Stop as e: return e.value\n"
    )
    f = Program(text.format(test), ()).build()
    for take in (lambda: ad.grad(f)(1.5), lambda: ad.jvp(f, (1.5,), (1.0,))):
        with pytest.raises(ad.UnsupportedSyntaxError, match="Thing.__bool__ has raised"):
            take()
    by_name = Program(text.format("if a.__bool__(): return x * x"), ()).build()
    slope = (by_name(3.1 + 1e-6) - by_name(3.1 - 1e-6)) / 2e-6
    assert ad.grad(by_name)(3.1) == pytest.approx(slope, rel=1e-5)


def test_what_an_exception_of_the_library_holds_is_constant() -> None:
    f = Program("def f(x):\n try: return {'a': x}['b']\n except KeyError as e: return x * len(e.args[0])", ()).build()
    assert ad.grad(f)(2.0) == 1.0
    assert ad.jvp(f, (2.0,), (1.0,)) == (2.0, 1.0)


def test_a_rule_for_a_function_goes_before_what_it_raises() -> None:
    f = Program(
        textwrap.dedent(HELPERS) + "def f(x):\n try: return checked(x)\n except Stop as e: return e.value", ()
    ).build()
    assert ad.grad(f)(2.0) == pytest.approx(12.0)
    ad.non_differentiable(f.__globals__["checked"])
    ad.refresh()
    assert ad.grad(f)(2.0) == 0.0
