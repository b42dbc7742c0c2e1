"""Callees known only when the code runs that change what they are given, or what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program, check_program

V = (np.array([1.3, 0.7, -0.4]),)
X = (1.5,)

PROGRAMS: dict[str, tuple[tuple[Any, ...], str]] = {
    "starred_array": (V, """
        def total(first, *rest, scale=0.5, **more):
            for r in rest:
                first = first + r * scale
            for name in more:
                first = first * more[name]
            return first
        def f(v):
            v[0] *= 1.5
            return total(*v, **{"scale": v[1], "other": v[2]}) * v[1]
    """),
    "starred_array_for_a_nested_function": (V, """
        def f(v):
            def total(first, *rest):
                v[1] = v[0]
                for r in rest:
                    first = first + r * v[0]
                return first
            return [total][0](*v) * v[1]
    """),
    "counter": (X, """
        def make(x):
            n = 0.0
            def inc():
                nonlocal n
                n += x
                return n
            return inc
        def f(x):
            inc = make(x)
            a = inc(); b = inc()
            return a * b * inc()
    """),
    "memo_of_a_recursive_closure": (X, """
        def f(x):
            memo = {}
            def fib(n):
                if n in memo: return memo[n]
                r = x if n < 2 else fib(n - 1) * x + fib(n - 2)
                memo[n] = r
                return r
            return fib(7)
    """),
    "functions_in_a_list": (V, """
        def double(a, k): a[k] *= 2.0
        def square(a, k): a[k] = a[k] * a[k]
        def f(v):
            w = v * v
            for k, g in enumerate([double, square, double]):
                g(w, k)
            return np.sum(w * w) * v[0]
    """),
    "layers_with_state": (V, """
        class Norm:
            def __init__(self): self.mean = 0.0
            def __call__(self, x):
                self.mean = 0.5 * self.mean + 0.5 * np.sum(x)
                return x - self.mean
        class Scale:
            def __init__(self, w): self.w = w
            def __call__(self, x): return x * self.w
        def f(v):
            layers = [Norm(), Scale(v[1]), Norm()]
            x = v
            for _ in range(2):
                for layer in layers:
                    x = layer(x)
            return np.sum(x * x) + layers[0].mean
    """),
    "decorator_with_a_counter": (X, """
        class Count:
            def __init__(self, g): self.g = g; self.n = 0
            def __call__(self, *a):
                self.n += 1
                return self.g(*a) * self.n
        @Count
        def h(a): return a * a
        def f(x):
            h.n = 0
            return h(x) + h(x)
    """),
    "wrapped_method": (X, """
        from functools import wraps
        def logged(g):
            @wraps(g)
            def inner(*args, **kwargs): return g(*args, **kwargs)
            return inner
        class A:
            def __init__(self, x): self.x = x
            @logged
            def step(self, y, *, k=1.0):
                self.x = self.x * y * k
                return self.x
        def f(x):
            a = A(x)
            a.step(x, k=x)
            return a.step(2.0) * a.x
    """),
    "callback": (X, """
        def run(n, x, callback):
            for k in range(n):
                x = x * 1.1
                callback(k, x)
            return x
        def f(x):
            history = []
            y = run(3, x, lambda k, v: history.append(v * v))
            return y * sum(history)
    """),
    "attribute_of_an_object": (X, """
        class Box:
            def __init__(self, x): self.x = x
            def push(self, y): self.x = self.x * y
        def f(x):
            box = Box(x)
            todo = {"a": box.push, "b": box.push}
            for k in todo:
                todo[k](x)
            return box.x * x
    """),
    "operators": (X, """
        class Dual:
            def __init__(self, a, b): self.a = a; self.b = b
            def __add__(self, o):
                if not isinstance(o, Dual): return Dual(self.a + o, self.b)
                return Dual(self.a + o.a, self.b + o.b)
            __radd__ = __add__
            def __mul__(self, o):
                if not isinstance(o, Dual): return Dual(self.a * o, self.b * o)
                return Dual(self.a * o.a, self.a * o.b + self.b * o.a)
            def __rmul__(self, o): return self * o
            def __rsub__(self, o): return Dual(o - self.a, -self.b)
            def __neg__(self): return Dual(-self.a, -self.b)
            def __rtruediv__(self, o): return Dual(o / self.a, -o * self.b / self.a ** 2)
            def __pow__(self, n): return Dual(self.a ** n, n * self.a ** (n - 1) * self.b)
            def __rpow__(self, o): return Dual(o ** self.a, self.b)
            def __abs__(self): return self if self.a > 0 else -self
            def __matmul__(self, o): return self.a * o.a + self.b * o.b
            def __float__(self): return float(self.a)
            def __iadd__(self, o):
                self.a = self.a + o * 2
                return self
        def f(x):
            d = Dual(x, 1.0)
            e = 2 * d + d * d + 1
            e = 1.0 / (3.0 - e)
            e += x
            e = abs(-e) ** 2
            e = 2.0 ** e
            return e.a * e.b + d @ e + float(d) + (d + e).a
    """),
    "items_deleted": (V, """
        class Buffer:
            def __init__(self, v): self.v = v.copy()
            def __iadd__(self, o): self.v += o; return self
            def __imul__(self, o): self.v *= o; return self
            def __setitem__(self, i, x): self.v[i] = x
            def __getitem__(self, i): return self.v[i]
            def __delitem__(self, i): self.v[i] = 0
        def f(v):
            b = Buffer(v)
            b += v
            b *= v[0]
            b[0] = b[1] * v[2]
            b[1] += v[0]
            del b[2]
            return np.sum(b.v * v)
    """),
    "swaps_arrays": (V, """
        class State:
            def __init__(self, a, b): self.a, self.b = a, b
            def swap(self): self.a, self.b = self.b, self.a
            def add(self): self.a += self.b
        def f(v):
            s = State(v * 2, v * v)
            for g in (s.swap, s.add, s.swap, s.add):
                g()
            return np.sum(s.a * s.b)
    """),
    "returns_what_it_changed": (V, """
        def fill(a):
            a[0] = a[1] * 3
            return a
        def half(a): return a * 0.5
        def f(v):
            w = v * v
            for g in [fill, half, fill]:
                w = g(w)
            return np.sum(w * v)
    """),
    "object_made_late_fills_a_list": (X, """
        class M:
            def __init__(self, k, a): self.k = k; self.a = a
            def leave(self): self.a.append(self.k * self.k)
        def f(x):
            a = []
            def make(k): return M(k, a)
            m = [make][0](x)
            m.leave()
            return x * sum(a)
    """),
    "object_made_late_of_constants": (X, """
        class M:
            def __init__(self, a): self.a = a
            def put(self, y): self.a[0] = y * y
        def f(x):
            a = [0.0]
            def make(): return M(a)
            m = [make][0]()
            m.put(x)
            return x * a[0]
    """),
    "generator_found_late_stores": (X, """
        def f(x):
            a = [0.0]
            def gen(k):
                yield k
                a[0] = k * k
            g = [gen][0](x)
            y = next(g)
            next(g, None)
            return x * sum(a) + y
    """),
    "method_of_an_array_that_is_found_late": (X, """
        def make(y):
            return np.array([1.0, 2.0]) * y * y
        MADE = {"a": make}
        def f(x):
            a = MADE["a"](x)
            total = a.sum
            a[0] = 5.0
            return total() * x
    """),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_and_behaviour(name: str) -> None:
    args, text = PROGRAMS[name]
    check_program(Program(text, args).build(), args)


@pytest.mark.parametrize("name", [name for name, (args, _) in PROGRAMS.items() if args is X])
def test_forward_mode_and_second_derivatives_are_right_or_refused(name: str) -> None:
    f = Program(PROGRAMS[name][1], X).build()
    first = ad.grad(f)
    found = []
    for take, expected in (
        (lambda: ad.jvp(f, X, (1.0,))[1], first(1.5)),
        (lambda: ad.linearize(f, *X)[1](1.0), first(1.5)),
        (lambda: ad.grad(first)(1.5), (first(1.5 + 1e-5) - first(1.5 - 1e-5)) / 2e-5),
    ):
        try:
            found.append((take(), expected))
        except ad.ThunkadError:
            continue
    assert all(np.isclose(a, b, rtol=1e-5) for a, b in found)
