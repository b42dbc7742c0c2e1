"""Callees that change what they are given and then raise, inside a ``try``; managers and special methods with effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program, check_program

V = (np.array([1.3, 0.7, -0.4]),)
X = (1.5,)

PROGRAMS: dict[str, tuple[tuple[Any, ...], str]] = {
    "given_what_the_same_body_made": (V, """
        class Cell:
            def __init__(self, w): self.w = w
            def step(self, by):
                self.s = by
                if by > 0.5: raise ValueError
                return self.s
        def f(v):
            q, s = Cell(v), v[0]
            try:
                if s > 2: raise ValueError
                s = q.step(sum([e for e, g in np.outer(v, [s, s])]))
            except ValueError: pass
            return v * s
    """),
    "raises": (V, """
        def bad(a):
            a[0] = a[1] * a[2]
            a *= 2
            raise ValueError("x")
        def f(v):
            w = v.copy()
            try: bad(w)
            except ValueError: w[1] = w[0] * w[1]
            return np.sum(w * w)
    """),
    "argument": (V, """
        def bad(a):
            a[0] = a[1] * a[2]
            if a[0] < 100: raise ValueError("x")
            a[2] = 0
        def f(v):
            try: bad(v)
            except ValueError: v[1] = v[0] * v[1]
            return np.sum(v * v)
    """),
    "in_a_loop": (X, """
        class A: pass
        def bad(o, x):
            o.a = o.a * x
            o.l.append(x)
            raise KeyError("k")
        def f(x):
            o = A(); o.a = x; o.l = []
            for i in range(3):
                try: bad(o, x)
                except KeyError: o.a = o.a + x
            return o.a * sum(o.l)
    """),
    "only_sometimes": (V, """
        def bad(a, i):
            a[i % 3] = a[i % 3] * a[0]
            if i % 2: raise IndexError("x")
            a[1] *= 3
        def f(v):
            w = v * v
            for i in range(5):
                try: bad(w, i)
                except IndexError: w[0] += 1
                else: w[2] += w[1]
            return np.sum(w * w)
    """),
    "before_it_writes": (V, """
        def bad(a, i):
            if i > 2: raise IndexError("x")
            a[i] = a[i] * a[0]
        def f(v):
            w = v * v
            for i in range(5):
                try: bad(w, i)
                except IndexError: w[0] += 1
            return np.sum(w * w)
    """),
    "argument_made_in_the_body": (X, """
        def bad(l, y):
            l.append(y * y)
            raise ValueError
        def f(x):
            l = [x]
            try: bad(l, x * x + l[0])
            except ValueError: pass
            return l[1] * x
    """),
    "method": (X, """
        class A:
            def __init__(self, x): self.x = x
            def step(self, y):
                self.x = self.x * y
                if self.x > 1: raise ValueError
                return self.x
        def f(x):
            a = A(x)
            try:
                r = a.step(x)
                a.x = 0.0
            except ValueError:
                a.x = a.x * 2
            return a.x * a.x
    """),
    "after_a_method": (X, """
        class A:
            def __init__(self, x): self.x = x
            def step(self, y):
                self.x = self.x * y
                return self.x
        def f(x):
            a = A(x)
            try:
                r = a.step(x)
                raise ValueError
            except ValueError:
                a.x = a.x * 2
            return a.x * a.x
    """),
    "through_two_functions": (V, """
        def inner(a):
            a[0] = a[1] * a[2]
            raise ValueError
        def mid(a):
            a[1] *= 2
            inner(a)
        def f(v):
            w = v * v
            try: mid(w)
            except ValueError: w[2] = w[0]
            return np.sum(w * w)
    """),
    "caught_in_a_callee": (V, """
        def inner(a):
            a[0] = a[1] * a[2]
            raise ValueError
        def mid(a):
            try: inner(a)
            except ValueError: a[1] = a[0]
            return a[1]
        def f(v):
            w = v * v
            r = mid(w)
            return np.sum(w * w) * r
    """),
    "finally": (V, """
        def inner(a):
            a[0] = a[1] * a[2]
            raise ValueError
        def mid(a):
            try: inner(a)
            finally: a[1] = a[0] * 2
        def f(v):
            w = v * v
            try: mid(w)
            except ValueError: pass
            return np.sum(w * w)
    """),
    "goes_on": (V, """
        def inner(a):
            a[0] = a[1] * a[2]
            raise KeyError("k")
        def f(v):
            w = v * v
            try: inner(w)
            except ValueError: pass
            return np.sum(w * w)
    """),
    "init": (X, """
        class A:
            def __init__(self, l, x):
                l.append(x * x)
                if x > 1: raise ValueError
        def f(x):
            l = [x]
            try: A(l, x)
            except ValueError: l.append(x)
            return l[1] * l[-1]
    """),
    "init_only_for_its_effect": (X, """
        class A:
            def __init__(self, l, x): l.append(x * x)
        def f(x):
            l = [x]
            A(l, x)
            return l[1] * l[0]
    """),
    "suppressed": (V, """
        import contextlib
        def inner(a):
            a[0] = a[1] * a[2]
            raise ValueError
        def f(v):
            w = v * v
            with contextlib.suppress(ValueError):
                inner(w)
                w[1] = 0
            return np.sum(w * w)
    """),
    "manager_with_effects": (X, """
        class Scale:
            def __init__(self, st): self.st = st
            def __enter__(self):
                self.st["s"] *= 2.0
                return self.st
            def __exit__(self, *e):
                self.st["s"] *= self.st["s"]
                return False
        def f(x):
            st = {"s": x}
            with Scale(st) as q:
                y = q["s"] * x
            return y * st["s"]
    """),
    "manager_left_by_return": (X, """
        class Scale:
            def __init__(self, st): self.st = st
            def __enter__(self): self.st.append(self.st[0] * 2)
            def __exit__(self, *e): self.st[0] = self.st[0] * self.st[1]
        def g(st):
            with Scale(st):
                return st[1] * st[0]
        def f(x):
            st = [x]
            return g(st) * st[0]
    """),
    "manager_that_swallows": (X, """
        class Swallow:
            def __enter__(self): return self
            def __exit__(self, kind, error, trace): return kind is ValueError
        def f(x):
            y = x * x
            with Swallow():
                y = y * x
                raise ValueError
                y = 0
            return y * y
    """),
    "manager_that_collects": (X, """
        class Tape:
            def __init__(self): self.items = []
            def __enter__(self): return self
            def __exit__(self, *e): self.items.append(self.items[-1] * 2)
            def add(self, y): self.items.append(y)
        def f(x):
            with Tape() as t:
                t.add(x * x)
                t.add(x ** 3)
            return t.items[-1] * t.items[0]
    """),
    "nullcontext": (X, """
        import contextlib
        def f(x):
            with contextlib.nullcontext(x * x) as y:
                z = y * x
            return z * z
    """),
    "manager_made_inside": (X, """
        import contextlib
        def f(x):
            a = [x, x * x, 1.0]
            @contextlib.contextmanager
            def guard(k):
                try: yield a[k] * x
                except ValueError: a[k] *= 2.0 * x
                finally: a[2] += a[k]
            for k in range(3):
                with guard(k % 2) as y:
                    a[k] = y * a[0]
                    if k == 1: raise ValueError
                    a[0] = a[0] * y
            return sum(a) * a[1]
    """),
    "manager_made_inside_and_found_late": (X, """
        from contextlib import contextmanager as manager
        def f(x):
            a = [x, x]
            def scaled(k):
                a[0] = a[0] * k
                try: yield a[0] * x
                finally: a[1] = a[0] * a[1]
            @manager
            def plain(k): yield k * x
            managers = [manager(scaled), plain]
            for make in managers:
                try:
                    with make(x) as y:
                        a[0] = a[0] * y
                        raise ValueError
                except ValueError: a[0] = a[0] * a[1]
            return a[0] * a[1]
    """),
    "round_and_float": (X, """
        class R:
            def __init__(self, x): self.x = x; self.n = 0
            def __round__(self, k=0):
                self.n += 1
                self.x = self.x * 2
                return self.x
            def __float__(self):
                self.x = self.x * 3
                return float(self.x)
            def __abs__(self):
                self.n += self.x
                return self.n
        def f(x):
            r = R(x)
            y = round(r)
            y = y + float(r)
            y = y * abs(r)
            return y * r.x
    """),
    "len": (X, """
        class R:
            def __init__(self, x): self.x = x
            def __len__(self):
                self.x *= 2
                return 2
        def f(x):
            r = R(x)
            k = len(r)
            return r.x * k
    """),
    "comparisons": (X, """
        class R:
            def __init__(self, x): self.x = x
            def __contains__(self, o): self.x *= 2; return True
            def __str__(self): self.x *= 5; return "s"
            def __eq__(self, o): self.x *= 3; return True
            def __lt__(self, o): self.x *= 7; return True
        def f(x):
            r = R(x)
            k = 1
            if 3 in r: k = 2
            s = str(r)
            if r == 3: k += 1
            if r < 3: k += 1
            return r.x * k
    """),
    "lazy_property": (X, """
        class A:
            def __init__(self, x): self.x = x; self.kept = None
            @property
            def square(self):
                if self.kept is None: self.kept = self.x * self.x
                return self.kept
        def f(x):
            a = A(x)
            return a.square * a.square * a.x
    """),
    "setter": (X, """
        class Box:
            def __init__(self, x): self.held = x
            @property
            def value(self): return self.held
            @value.setter
            def value(self, y):
                self.held = y * y
                if y > 1.0: raise ValueError
                self.held = self.held * 3
        def f(x):
            box, t = Box(x), 0.0
            for k in range(3):
                try:
                    box.value = x * 0.6 * k
                    t = t + box.value
                except ValueError:
                    t = t * box.value + x
            return box.value + t
    """),
    "operator_in_place": (X, """
        class V:
            def __init__(self, a): self.a = a
            def __iadd__(self, o):
                self.a = self.a * o
                if o > 1: raise ValueError
                return self
        def f(x):
            v = V(x)
            try: v += x
            except ValueError: pass
            return v.a
    """),
    "item": (X, """
        class V:
            def __init__(self, a): self.a = [a, a]
            def __setitem__(self, k, o):
                self.a[k] = self.a[k] * o
                if o > 1: raise ValueError
        def f(x):
            v = V(x)
            try:
                v[0] = x / 2
                v[1] = x
                v[0] = x
            except ValueError: pass
            return v.a[0] + v.a[1] * x
    """),
    "nested_function": (X, """
        def f(x):
            a = [x, x]
            def g(y):
                a[0] = a[0] * y
                if y > 1: raise ValueError
                a[1] = y
            gs = [g]
            try: g(x)
            except ValueError: pass
            return a[0] + a[1] * x
    """),
    "nested_function_rebinds": (X, """
        def f(x):
            b = x
            def g(y):
                nonlocal b
                b = b * y
                for k in range(3):
                    b = b + y
                    if k == 1 and y > 1: raise ValueError
                b = b * b
                return b
            gs = [g]
            try: z = g(x)
            except ValueError: z = b
            return z * b
    """),
    "nested_function_of_arrays": (X, """
        def f(x):
            a = np.array([x, x])
            def g(y):
                nonlocal a
                a *= y
                a = a * 2
                if y > 1: raise ValueError
                a[1] = y
            gs = [g]
            try: g(x)
            except ValueError: pass
            return a[0] + a[1] * x
    """),
    "found_late": (X, """
        def f(x):
            held, puts = [x, x], []
            def put(y):
                held[0] = held[0] * y
                if y > 1.5: raise ValueError
                held[1] = held[1] + y
            puts.append(put)
            try:
                for k in range(1, 4):
                    t = held[1] * x
                    puts[0](t * 0.2 * k)
            except ValueError: held[1] = held[1] + t
            return held[0] * held[1]
    """),
    "found_late_and_calling_others": (X, """
        class Tank:
            def __init__(self, v): self.v, self.log = v, []
            def fill(self, y, then):
                try:
                    self.v = self.v * y
                    then(self)
                    self.v = self.v + 1.0
                finally: self.log.append(self.v * y)
        def f(x):
            def bad(tank):
                tank.v = tank.v * tank.v
                if tank.v > 2: raise KeyError
            def good(tank): tank.v = tank.v * 0.3
            tank, t = Tank(x), 0.0
            for fill, then in zip([tank.fill] * 3, [good, bad, bad]):
                try: fill(x * 1.2, then)
                except KeyError: t = t + tank.v * tank.log[-1]
            return t + sum(tank.log) * tank.v
    """),
    "found_late_in_an_attribute": (X, """
        class Rule:
            def __init__(self, w, fn): self.w, self.fn = w, fn
        def f(x):
            def grow(y, *, by): rules[0].w = y * by; raise ArithmeticError
            def scaled(r, by):
                r.w = r.w * k * by
                if by > 1: raise ValueError
            k = x * x
            rules = [Rule(x, scaled), Rule(k, lambda r, by: grow(r.w, **{'by': by}))]
            for r in rules:
                try: r.fn(*[r, x])
                except (ValueError, ArithmeticError): r.w = r.w * x
            return rules[0].w * rules[1].w
    """),
    "of_one_code": (X, """
        def logged(fn):
            def inner(self, y):
                self.n = self.n + self.v
                return fn(self, y)
            return inner
        class Model:
            def __init__(self, v): self.v, self.n = v, 0.0
            @logged
            def up(self, y):
                self.v = self.v * y
                if self.v > 3: raise ValueError
            @logged
            def down(self, y): self.v = self.v / (1 + y * y)
        def f(x):
            m, t = Model(x), 1.0
            for op in (m.up, m.down, m.up, m.up):
                try: op(x + 1)
                except ValueError: t = t * m.v
            try:
                m.up(x)
                m.down(x)
            except ValueError: t = t * m.v
            return t * m.n * m.v
    """),
    "packed": (X, """
        def step(state, *vs):
            state['a'] = state['a'] * vs[0]
            if vs[1] > 1: raise KeyError
            state['b'] = vs[1]
            return state['a']
        def f(x):
            state = {'a': x, 'b': 1.0}
            try:
                step(state, x, 0.2 * x)
                step(state, x * x, x)
            except KeyError: state['b'] = state['b'] * x
            return state['a'] * state['b']
    """),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_and_behaviour(name: str) -> None:
    args, text = PROGRAMS[name]
    check_program(Program(text, args).build(), args)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n r = R(x)\n if r: return r.x\n return x",
        "def f(x):\n r = R(x)\n print(r)\n return r.x",
        "def f(x):\n r = R(x)\n s = f'{r}'\n return r.x",
        "def f(x):\n r = R(x)\n k = not r\n return r.x * (1 + k)",
    ],
)
def test_methods_that_run_unseen_may_not_change_what_is_differentiated(text: str) -> None:
    head = """class R:
 def __init__(self, x): self.x = x
 def __bool__(self):
  self.x *= 2
  return True
 def __str__(self):
  self.x *= 3
  return 's'
"""
    f = Program(head + text, ()).build()
    with pytest.raises(ad.UnsupportedSyntaxError, match="called unseen"):
        ad.grad(f)(1.5)
