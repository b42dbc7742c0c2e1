"""Objects that outlive the call, which it writes into and reads: derivatives flow through them, and they hold numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import thunkad as ad
from thunkad.runtime.parts import fields_of

from checking import Program
from fresh import POINT, curvature

BN = "class BN:\n def __init__(self): self.mean = 0.5\n def __call__(self, x):\n  self.mean = 0.9 * self.mean + 0.1 * x\n  return x * self.mean\n"
# The second entry: whether a later call reads what an earlier one has left, and the user is warned.
PROGRAMS = {
    "batch_norm": (BN + "STATE = bn = BN()\ndef f(x): return bn(x * x) + bn(x)", True),
    "layers_in_a_list": (BN + "class Net:\n def __init__(self): self.layers = [BN(), BN()]\n def __call__(self, x):\n  for l in self.layers: x = l(x)\n  return x\nSTATE = net = Net()\ndef f(x): return net(x) + net.layers[0].mean", True),
    "parameters_set": ("class Net:\n p = None\n def __call__(self, x): return np.tanh(self.p * x)\nSTATE = net = Net()\ndef f(x):\n net.p = x * np.ones(3)\n return np.sum(net(np.arange(3.0)))", False),
    "parameters_in_a_dict": ("class Net:\n def __init__(self): self.p = {'w': 1.0}\n def __call__(self, x): return self.p['w'] * x\nSTATE = net = Net()\ndef f(x):\n net.p['w'] = x * x\n return net(x)", False),
    "best_so_far": ("class T: best = 1e9\nSTATE = t = T()\ndef f(x):\n loss = (x - 1.0) ** 2 + x\n if loss < t.best: t.best = loss\n return t.best * x", False),
    "history": ("class T:\n def __init__(self): self.all, self.n = [], 0\nSTATE = t = T()\ndef f(x):\n t.n += 1\n t.all.append(x * x)\n return sum(t.all) * t.n", True),
    "in_place": ("class T:\n def __init__(self): self.v, self.buf = np.ones(2), np.zeros(2)\nSTATE = t = T()\ndef f(x):\n t.v *= 0.9\n t.v += x\n for k in range(2): t.buf[k] = x ** k\n return t.v @ t.buf", True),
    "found_late": ("class S: v = 1.0\nSTATE = s = S()\ndef put(y): s.v = y * y\ndef get(y): return s.v * y\nfs = [put, get]\ndef f(x):\n fs[0](x)\n return fs[1](x)", False),
    "two_names": ("class S: v = 1.0\nclass T: pass\nSTATE = t = T()\nt.s = s = S()\ndef put(y): s.v = y * y\ndef f(x):\n put(x)\n return t.s.v * x", False),
    "one_list_in_two_objects": ("class P: pass\na, b = P(), P()\na.d = b.d = STATE = [0.0]\ndef g(a, x): a.d[0] = x * x\ndef f(x):\n g(a, x)\n return b.d[0] * x", False),
    "name_and_list": ("class S: v = 1.0\nSTATE = objs = [S(), S()]\na = objs[0]\ndef f(x):\n a.v = x * x\n return objs[0].v * x", False),
    "name_and_loop": ("class S:\n v = 1.0\n def mul(self, y): self.v *= y; return self.v\nSTATE = objs = [S(), S()]\na = objs[0]\ndef f(x):\n for o in objs: o.mul(x)\n return a.v", True),
    "array_and_view": ("STATE = A = np.zeros((2, 2))\nL = {'b': A.ravel()[1:]}\ndef f(x):\n A[0, 1] = x * x\n return L['b'][0] * x", False),
    "restored": ("import contextlib\nclass C: scale = 1.0\nSTATE = c = C()\n@contextlib.contextmanager\ndef scaled(v):\n old = c.scale\n c.scale = v\n try: yield\n finally: c.scale = old\ndef f(x):\n with scaled(x * x): y = x * c.scale\n return y + x * c.scale", False),
    "a_method_by_its_name": ("class S:\n def __init__(self): self.v = np.zeros(2)\n def add(self, x): self.v += x\nSTATE = s = S()\nNAMES = ['add']\ndef f(x):\n s.v = np.zeros(2)\n for m in NAMES: getattr(s, m)(x * x)\n return np.sum(s.v ** 2)", False),
    "a_method_that_is_chosen": ("class S:\n def __init__(self): self.v = np.zeros(2)\n def add(self, x): self.v += x\nSTATE = s = S()\ndef f(x):\n s.v = np.zeros(2)\n add = [s.add, print][int(x < 0)]\n add(x * x)\n return np.sum(s.v ** 2)", False),
    "captured": ("def make():\n class S: v, log = 1.0, ()\n s = S()\n def f(x):\n  s.v = s.v * x\n  return s.v * x\n return s, f\nSTATE, f = make()", True),
}  # fmt: skip


def build(name: str) -> tuple[Any, Any]:
    space: dict[str, Any] = {}
    f = Program(PROGRAMS[name][0] + "\nRESULT['state'] = STATE", (), {"RESULT": space}).build()
    return f, space["state"]


def numbers(x: Any) -> Any:
    if isinstance(x, (int, float, np.ndarray, type(None))):
        return type(x), np.asarray(x).tolist()
    return [
        numbers(v)
        for v in (x if isinstance(x, list) else (x[k] for k in x) if isinstance(x, dict) else fields_of(x).values())
    ]


TAKES = {
    "grad": lambda f, x: ad.value_and_grad(f)(x),
    "jvp": lambda f, x: ad.jvp(f, (x,), (1.0,)),
}


@pytest.mark.parametrize("mode", TAKES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_flow_through_the_object(name: str, mode: str) -> None:
    (f, state), (plain, left) = build(name), build(name)
    for count, x in enumerate((POINT, POINT - 0.5)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value, slope = TAKES[mode](f, x)

        def at(y: float, count: int = count) -> float:
            g = build(name)[0]
            for _ in range(count):
                g(POINT)
            return float(g(y))

        assert np.isclose(value, plain(x)) and np.isclose(slope, (at(x + 1e-6) - at(x - 1e-6)) / 2e-6, rtol=1e-5)
        assert numbers(state) == numbers(left)
        told = [w for w in caught if w.category is ad.KeptValueWarning]
        assert bool(told) == (PROGRAMS[name][1] and count > 0) and len(told) == len(caught)


def test_pullbacks_flow_through_an_object_that_is_found_late() -> None:
    f, _ = build("name_and_loop")
    _, pullback = ad.vjp(f, POINT)
    assert pullback(2.0)[0] == 2.0 and pullback(1.0)[0] == 1.0


def test_an_object_that_is_an_argument_and_named_is_refused() -> None:
    text = "class S:\n v = 1.0\n def go(self, x):\n  self.v = x * x\n  return h(x)\ns = S()\ndef h(x): return s.v ** 2 * x\n"
    method, fine = (Program(text + end, ()).build() for end in ("f = s.go", "def f(x): return s.go(x)"))
    takes = [lambda f: ad.grad(f)(1.5), lambda f: ad.hvp(f, (1.5,), (1.0,)), lambda f: ad.hessian(f)(1.5)]
    for take in takes:
        with pytest.raises(ad.ArgumentError, match=r"shares memory with s\.v"):
            take(method)
    assert np.isclose(takes[1](fine), 20 * 1.5**3)


@pytest.mark.parametrize("name", ["layers_in_a_list", "parameters_in_a_dict", "in_place", "history"])
def test_second_derivatives_leave_what_one_call_leaves(name: str) -> None:
    (f, state), (plain, left) = build(name), build(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ad.KeptValueWarning)
        found = ad.hessian(f)(POINT)
    plain(POINT)
    assert np.isclose(found, curvature(lambda: build(name)[0]), rtol=1e-3, atol=1e-4)
    assert numbers(state) == numbers(left)


def test_bound_methods_that_a_list_holds_are_refused_in_forward_mode() -> None:
    text = "class S:\n def __init__(self): self.v = np.zeros(2)\n def add(self, x): self.v += x\ns = S()\n"
    text += "methods, objects = [s.add], [s]\ndef f(x):\n s.v = np.zeros(2)\n for m in methods: m(x)\n return np.sum(s.v ** 2)"
    assert np.isclose(ad.grad(Program(text, ()).build())(1.5), 6.0)
    with pytest.raises(ad.UnsupportedSyntaxError, match="call it by its name"):
        ad.jvp(Program(text, ()).build(), (1.5,), (1.0,))
    fine = text.replace("for m in methods: m(x)", "for o in objects: o.add(x)")
    assert np.isclose(ad.jvp(Program(fine, ()).build(), (1.5,), (1.0,))[1], 6.0)
