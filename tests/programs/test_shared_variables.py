"""Variables of modules and of enclosing functions that several functions use: derivatives flow through them."""

from __future__ import annotations

import itertools
import linecache
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program
from fresh import POINT, check, curvature, data, slope

PROGRAMS = {
    "callee_reads": "S = 1.0\ndef h(y): return y * S\ndef f(x):\n global S\n S = x * x\n return h(x)",
    "callee_writes": "G = 1.0\ndef h(x):\n global G\n G = x * x\n return x\ndef f(x):\n global G\n G = x * x * x\n return h(x) * G",
    "caller_reads": "G = 1.0\ndef h(x):\n global G\n G = x * x\n return x\ndef f(x):\n y = h(x)\n return y * G",
    "deep": "G = 0.0\ndef k(x): return x * G\ndef h(x): return k(x) * 2.0\ndef f(x):\n global G\n G = x\n return h(x)",
    "result_unused": "G = 0.0\ndef put(v):\n global G\n G = v * v\ndef f(x):\n put(x)\n return G * x",
    "no_argument": "G = 0.0\ndef get(): return G * G\ndef f(x):\n global G\n G = x\n return get()",
    "loop": "G = 0.0\ndef add(v):\n global G\n G = G + v\ndef f(x):\n global G\n G = 0.0\n for k in range(3): add(x ** k)\n return G * x",
    "in_place": "G = 0.0\ndef add(v):\n global G\n G += v\ndef f(x):\n global G\n G = 0.0\n for k in range(3): add(x ** k * G + x)\n return G * x",
    "branch": "G = 0.0\ndef put(v):\n global G\n if v > 1: G = v * v\n else: G = v\ndef f(x):\n put(x)\n y = G\n put(x / 4)\n return y * G",
    "two": "A = 1.0\nB = 2.0\ndef swap():\n global A, B\n A, B = B, A\ndef h(): return A - B\ndef f(x):\n global A, B\n A, B = x, x * x\n swap()\n return A * A * B + h()",
    "order_of_evaluation": "G = 1.0\ndef h(x):\n global G\n G = G * x\n return x\ndef f(x):\n global G\n G = x\n return G * h(x) + G - h(x) * G",
    "recursion": "G = 0.0\ndef down(x, n):\n global G\n G = G + x\n return G if n == 0 else down(x, n - 1) * G\ndef f(x):\n global G\n G = x\n return down(x, 2)",
    "deleted": "K = 1.0\ndef h(): return K\ndef f(x):\n global K\n K = x * x\n y = h() * x\n del K\n K = x\n return y * h()",
    "array": "P = None\ndef rhs(y): return P[0] * y + P[1]\ndef f(x):\n global P\n P = np.array([x, x * x])\n y = 1.0\n for k in range(3): y = y + 0.1 * rhs(y)\n return y",
    "dict": "P = {}\ndef rhs(y): return P['a'] * y + P['b']\ndef f(x):\n global P\n P = {'a': x, 'b': x * x}\n y = 1.0\n for k in range(3): y = y + 0.1 * rhs(y)\n return y",
    "function": "K = None\ndef h(y): return K(y)\ndef f(x):\n global K\n K = lambda y: y * x\n return h(x)",
    "matrix": "W = None\ndef layer(h): return np.tanh(W @ h)\ndef f(x):\n global W\n W = x * np.array([[1.0, 2.0], [0.5, -1.0]])\n return np.sum(layer(layer(x * np.ones(2))))",
    "escaping": "K = 1.0\ndef f(x):\n global K\n K = x\n gs = [lambda: K * K]\n return gs[0]()",
    "escaping_late": "K = 1.0\ndef f(x):\n global K\n gs = [lambda: K * K]\n K = x\n a = gs[0]()\n K = x * x * x\n return gs[0]() * a",
    "made_elsewhere": "K = 1.0\ndef make(a):\n def w(y): return a * y * K\n return w\ndef f(x):\n global K\n K = x\n g = make(x * x)\n K = x * x * x\n return g(x)",
    "nested_sets": "K = 1.0\ndef h(y): return y * K\ndef f(x):\n def put(v):\n  global K\n  K = v\n put(x * x)\n a = h(x)\n put(x)\n return a * h(x)",
    "found_late": "K = 1.0\ndef h(y): return K * y\ndef f(x):\n global K\n K = x * x\n fs = [h]\n return fs[0](x)",
    "set_late": "K = 1.0\ndef h(y):\n global K\n K = K * y\n return y\ndef f(x):\n global K\n K = x * x\n t = 0.0\n for g in [h, h]: t = t + g(x)\n return t * K",
    "method": "K = 1.0\nclass C:\n def __init__(self, a): self.a = a\n def e(self, y): return self.a * K * y\ndef f(x):\n global K\n K = x * x\n return C(x).e(x)",
    "constructor": "K = 1.0\nclass C:\n def __init__(self, a):\n  global K\n  self.a = a\n  K = a * a\ndef f(x):\n c = C(x)\n return c.a * K",
    "callable_object": "K = 1.0\nclass C:\n def __call__(self, y): return K * y\nc = C()\ndef f(x):\n global K\n K = x * x\n return c(x)",
    "property": "K = 1.0\nclass C:\n @property\n def v(self): return K * 2\ndef f(x):\n global K\n K = x * x\n return C().v * x",
    "property_of_a_global": "K = 1.0\nclass C:\n @property\n def v(self): return K * 2\nc = C()\ndef f(x):\n global K\n K = x * x\n return c.v * x",
    "operator": "K = 1.0\nclass C:\n def __init__(self, a): self.a = a\n def __mul__(self, o): return self.a * K * o\ndef f(x):\n global K\n K = x * x\n return C(x) * x",
    "operator_late": "K = 1.0\nclass C:\n def __init__(self, a): self.a = a\n def __mul__(self, o): return self.a * K * o\ndef f(x):\n global K\n K = x * x\n d = {0: C(x), 1: x}\n t = 0.0\n for k in d: t = t + d[k] * x\n return t",
    "partial": "from functools import partial\nK = 1.0\ndef h(a, y): return K * y * a\ndef f(x):\n global K\n K = x * x\n return partial(h, x)(x)",
    "map": "K = 1.0\ndef h(y): return K * y\ndef f(x):\n global K\n K = x * x\n return sum(map(h, [x, x * x]))",
    "reduce": "from functools import reduce\nK = 1.0\ndef h(a, y): return K * y + a\ndef f(x):\n global K\n K = x * x\n return reduce(h, [x, x * x], x)",
    "key": "K = 1.0\ndef h(y): return -K * y\ndef f(x):\n global K\n K = x * x\n return sorted([x, x * x, 3.0], key=h)[0]",
    "decorator": "N = 1.0\ndef deco(g):\n def w(*a):\n  global N\n  N = N * a[0]\n  return g(*a) * N\n return w\n@deco\ndef h(y): return y * y\ndef f(x):\n global N\n N = 1.0\n return h(x) + h(x * x)",
    "cached": "from functools import lru_cache\nK = 1.0\n@lru_cache\ndef h(y): return y * y\ndef g(y): return K * y\ndef f(x):\n global K\n K = x * x\n return g(h(x))",
    "generator": "K = 1.0\ndef g(n):\n for k in range(n): yield K * k\ndef f(x):\n global K\n K = x * x\n t = 0.0\n for v in g(3):\n  t = t + v\n  K = K * x\n return t",
    "kept_generator": "K = 1.0\ndef g(n):\n for k in range(n): yield K * k\ndef f(x):\n global K\n K = x * x\n it = g(3)\n next(it)\n a = next(it)\n K = K * x\n return a + next(it)",
    "left_half_way": "K = 1.0\ndef g(y):\n global K\n for k in range(3):\n  K = K * y\n  if k == 1 and y > 1: raise ValueError\n K = K * K\n return y\ndef f(x):\n global K\n K = x\n try: z = g(x)\n except ValueError: z = K\n return z * K",
    "outer": "def make():\n last = 0.5\n def g(x):\n  nonlocal last\n  last = x * x\n  return last * x\n return g\nf = make()",
    "outer_read_by_another": "def make():\n last = 0.5\n def h(y): return y * last\n def g(x):\n  nonlocal last\n  last = x * x\n  return h(x)\n return g\nf = make()",
    "outer_set_by_another": "def make():\n s = 0.5\n def add(y):\n  nonlocal s\n  s += y\n def g(x):\n  nonlocal s\n  s = 0.0\n  for k in range(3): add(x * k)\n  add(x * s)\n  return s\n return g\nf = make()",
    "deleted_captured": "def f(x):\n gs = [lambda: x]\n y = gs[0]() * x\n del x\n return y",
    "deleted_and_missed": "def f(x):\n y = x * x\n gs = [lambda: x]\n del x\n try: return gs[0]()\n except NameError: return y",
    "deleted_and_set": "def f(x):\n z = x * x\n gs = [lambda: z * x]\n y = gs[0]()\n del z\n z = y * y\n return gs[0]()",
    "rebound_cell": "def f(x):\n z = x * np.ones(2)\n gs = [lambda: z]\n y = np.sum(gs[0]() * x)\n z = np.ones(2) * x * 3\n return y + 2 * np.sum(gs[0]())",
    "rebound_cell_of_another_kind": "def f(x):\n z = x * x\n gs = [lambda: z]\n y = gs[0]() * x\n z = np.ones(2) * x * 3\n return y + 2 * np.sum(gs[0]())",
}  # fmt: skip


STATEFUL = {
    "caller_reads_before": "G = 1.0\ndef h(x):\n global G\n G = x * x\n return x\ndef f(x):\n y = x * G\n return y * h(x)",
    "outer_counts": "def make():\n n = 0\n def g(x):\n  nonlocal n\n  n += 1\n  return x * x * n\n return g\nf = make()",
    "accumulates": "G = 0.5\ndef f(x, n=2):\n global G\n G = G + x\n return G if n == 0 else f(x, n - 1) * G",
}  # fmt: skip


@pytest.mark.parametrize("name", STATEFUL)
def test_what_reads_before_it_assigns_is_as_if_run_once(name: str) -> None:
    def build() -> Callable[..., Any]:
        return Program(STATEFUL[name], ()).build()

    expected = slope(build)
    assert np.isclose(ad.grad(build())(POINT), expected, rtol=1e-6)
    assert np.isclose(ad.vjp(build(), POINT)[1](1.0)[0], expected, rtol=1e-6)
    assert np.isclose(ad.jvp(build(), (POINT,), (1.0,))[1], expected, rtol=1e-6)
    assert np.isclose(ad.linearize(build(), POINT)[1](1.0), expected, rtol=1e-6)
    f, plain = build(), build()
    plain(POINT)
    assert np.isclose(ad.hessian(f)(POINT), curvature(build), rtol=1e-3)
    assert data(f) == data(plain)


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_flow_through_the_variable(name: str) -> None:
    check(lambda: Program(PROGRAMS[name], ()).build())


# ---------------------------------------------------------------- several modules

_numbers = itertools.count()


def module(name: str, text: str, **space: Any) -> Any:
    filename = f"<module {name} {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    made = types.ModuleType(name)
    made.__dict__.update(np=np, **space)
    exec(compile(text, filename, "exec"), made.__dict__)
    return made


def with_config(config: str, main: str, **more: str) -> Callable[[], Any]:
    """What makes ``f`` of ``main``, which knows the module ``cfg``; the modules in ``more`` know it as ``c``."""

    def build() -> Any:
        cfg = module("cfg", config)
        others = {name: module(name, text, c=cfg) for name, text in more.items()}
        return module("main", main, cfg=cfg, pkg=types.SimpleNamespace, **others).f

    return build


MODULES = {
    "set_from_outside": with_config("S = 1.0\ndef use(y): return y * S", "def f(x):\n cfg.S = x * x\n return cfg.use(x)"),
    "read_from_outside": with_config("S = 1.0\ndef put(y):\n global S\n S = y * y", "def f(x):\n cfg.put(x)\n return cfg.S * x"),
    "in_place": with_config("S = 1.0", "def h(y): return y * cfg.S\ndef f(x):\n cfg.S = x\n cfg.S *= x\n return h(x)"),
    "by_another_name": with_config("S = 1.0", "def f(x):\n cfg.S = x * x\n return b.h(x)", b="def h(y): return y * c.S"),
    "by_a_local_name": with_config("S = 1.0", "def h(y):\n c = cfg\n return y * c.S\ndef f(x):\n cfg.S = x * x\n return h(x)"),
    "as_an_argument": with_config("S = 1.0", "def h(y, c): return y * c.S\ndef f(x):\n cfg.S = x * x\n return h(x, cfg)"),
    "getattr": with_config("S = 1.0", "def h(y): return y * getattr(cfg, 'S')\ndef f(x):\n cfg.S = x * x\n return h(x)"),
    "setattr": with_config("S = 1.0", "def h(y): return y * cfg.S\ndef f(x):\n setattr(cfg, 'S', x * x)\n return h(x)"),
    "dictionary": with_config("S = 1.0", "def h(y): return y * vars(cfg)['S']\ndef f(x):\n cfg.S = x * x\n return h(x)"),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_attributes_of_modules(name: str) -> None:
    check(MODULES[name])


@pytest.mark.parametrize("read", ["import cfg_of_test as z\n return y * z.S", "from cfg_of_test import S\n return y * S"])
def test_modules_imported_inside(read: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def build() -> Any:
        monkeypatch.setitem(__import__("sys").modules, "cfg_of_test", module("cfg_of_test", "S = 1.0"))
        return module("main", f"def h(y):\n {read}\ndef f(x):\n import cfg_of_test\n cfg_of_test.S = x * x\n return h(x)").f

    check(build)


# ---------------------------------------------------------------- what earlier calls have left

LEFT = {
    "accumulates": ("T = 0.0\ndef add(v):\n global T\n T = T + v * v\ndef f(x):\n add(x)\n return T * x", 3),
    "average": ("def make():\n m = 1.0\n def g(x):\n  nonlocal m\n  y = m * x\n  m = 0.9 * m + 0.1 * x\n  return y * m\n return g\nf = make()", 3),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_what_an_earlier_call_has_left_is_a_number(name: str) -> None:
    text, calls = LEFT[name]
    f = Program(text, ()).build()
    twin = lambda: Program(text, ()).build()  # noqa: E731
    for count in range(calls):

        def after(x: float, count: int = count) -> Any:
            g = twin()
            for _ in range(count):
                g(POINT)
            return g(x)

        expected = (after(POINT + 1e-6) - after(POINT - 1e-6)) / 2e-6
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isclose(ad.grad(f)(POINT), expected, rtol=1e-6)


MEMOS = {
    "of_a_module": "LX = LV = None\ndef sq(x):\n global LX, LV\n if x != LX:\n  LX = x\n  LV = x * x\n return LV\ndef f(x): return sq(x) * x",
    "of_one_function": "LX = LV = None\ndef f(x):\n global LX, LV\n if x != LX:\n  LX = x\n  LV = x * x\n return LV * x",
    "of_a_closure": "def make():\n lx = lv = None\n def g(x):\n  nonlocal lx, lv\n  if x != lx:\n   lx = x\n   lv = x * x\n  return lv * x\n return g\nf = make()",
    "by_its_absence": "def h(x):\n global LV\n try: return LV\n except NameError:\n  LV = x * x\n  return LV\ndef f(x): return h(x) * x",
}  # fmt: skip
MODES = {
    "grad": lambda f: ad.grad(f)(POINT),
    "vjp": lambda f: ad.vjp(f, POINT)[1](1.0)[0],
    "jvp": lambda f: ad.jvp(f, (POINT,), (1.0,))[1],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", MEMOS)
def test_a_memo_in_variables_is_named(name: str, mode: str) -> None:
    f = Program(MEMOS[name], ()).build()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isclose(MODES[mode](f), 3.0 * POINT**2)
    with pytest.warns(ad.KeptValueWarning, match="the variables? '[lL]") as caught:
        MODES[mode](f)
    assert caught[0].filename == __file__


# ---------------------------------------------------------------- what is refused

REFUSED = {
    "derivative_inside": "K = 1.0\ndef h(y): return y * y * K\ndef f(x):\n global K\n K = x * x\n return ad.grad(h)(x) * x",
    "derivative_inside_sets": "K = 1.0\ndef h(y):\n global K\n K = y * y\n return y * y * y\ndef f(x):\n g = ad.grad(h)(x)\n return g * K",
    "jvp_inside": "K = 1.0\ndef h(y): return y * y * K\ndef f(x):\n global K\n K = x * x\n return ad.jvp(h, (x,), (1.0,))[1] * x",
    "vjp_inside": "K = 1.0\ndef h(y): return y * y * K\ndef f(x):\n global K\n K = x * x\n v, p = ad.vjp(h, x)\n return p(1.0)[0] * x",
    "found_late": "K = 1.0\ndef h(y): return y * y * K\ndef f(x):\n global K\n K = x * x\n gs = [ad.grad(h)]\n return gs[0](x) * x",
    "checkpoint": "K = 1.0\ndef h(y): return y * y * K\nc = ad.checkpoint(h)\ndef f(x):\n global K\n K = x * x\n return c(x) * x",
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", REFUSED)
def test_what_runs_by_itself_is_refused(name: str, mode: str) -> None:
    f = Program(REFUSED[name], (), {"ad": ad}).build()
    with pytest.raises(ad.UnsupportedSyntaxError, match="share") as caught:
        MODES[mode](f)
    assert "<program" in str(caught.value) and "K" in str(caught.value)
