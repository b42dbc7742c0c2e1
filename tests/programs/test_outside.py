"""Objects and variables that outlive the call: no value that is differentiated comes back from them as a constant."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program, check_program

REFUSED = {
    "memo_in_a_default": ("memo_default", "def h(a, memo={}):\n if a not in memo: memo[a] = a * a\n return memo[a]\ndef f(x): return h(x) * x"),
    "memo_in_a_function": ("h.c", "def h(a):\n if a not in h.c: h.c[a] = a * a\n return h.c[a]\nh.c = {}\ndef f(x): return h(x) * x"),
    "memo_in_a_class": ("kept", "class M:\n kept = {}\n def get(self, x):\n  if x not in self.kept: self.kept[x] = x * x\n  return self.kept[x]\ndef f(x): return M().get(x) * x"),
    "attribute_of_a_class": ("S.v", "class S:\n v = 1.0\n def get(self): return self.v\ndef f(x):\n S.v = x * x\n return S().get() * x"),
    "attribute_of_a_class_by_cls": ("cls.v = v", "class S:\n v = 1.0\n @classmethod\n def put(cls, v): cls.v = v\n def get(self): return self.v\ndef f(x):\n S.put(x * x)\n return S().get() * x"),
    "memo_of_a_class_by_cls": ("memo", "class C:\n memo = {}\n @classmethod\n def sq(cls, x):\n  if x not in cls.memo: cls.memo[x] = x * x\n  return cls.memo[x]\ndef f(x): return C.sq(x) * x"),
    "memo_of_a_class_by_super": ("memo", "class B:\n memo = {}\nclass C(B):\n def sq(self, x):\n  if x not in super().memo: super().memo[x] = x * x\n  return super().memo[x]\nc = C()\ndef f(x): return c.sq(x) * x"),
    "memo_in_a_default_object": ("memo", "from dataclasses import dataclass\nclass Memo: x = v = None\n@dataclass\nclass D:\n a: float\n memo: Memo = Memo()\n def sq(self):\n  if self.memo.x != self.a:\n   self.memo.x = self.a\n   self.memo.v = self.a * self.a\n  return self.memo.v\nD.__hash__ = None\ndef f(x): return D(x).sq() * x"),
    "one_dictionary_in_two_objects": ("a.v", "class P: pass\na, b = P(), P()\nb.__dict__ = a.__dict__\ndef f(x):\n a.v = x * x\n return b.v * x"),
    "object_and_its_dictionary": ("s.v", "class S: pass\ns = S()\nD = s.__dict__\ndef f(x):\n s.v = x * x\n return D['v'] * x"),
    "array_and_memoryview": ("A", "A = np.zeros(3)\nM = memoryview(A)\ndef f(x):\n A[1] = x * x\n return M[1] * x"),
    "variables_as_a_dict": ("D", "D, K = globals(), 1.0\ndef f(x):\n D['K'] = x * x\n return K * x"),
    "variable_and_dict": ("K", "D, K = globals(), 1.0\ndef f(x):\n global K\n K = x * x\n return D['K'] * x"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_be_a_silent_constant_is_named(name: str) -> None:
    label, text = REFUSED[name]
    f = Program(text, ()).build()
    with pytest.raises(ad.ThunkadError):
        ad.jvp(f, (2.0,), (1.0,))
    words = "setting .v of a class" if name.startswith("attribute_of_a_class") else "it is read again"
    for take in (lambda: ad.grad(f)(2.0), lambda: ad.vjp(f, 2.0)):
        with pytest.raises(ad.UnsupportedSyntaxError, match=words) as caught:
            take()
        assert label in str(caught.value) and "<program" in str(caught.value)


FINE: dict[str, tuple[tuple[Any, ...], str]] = {
    "log": ((1.5,), "LOG = []\ndef f(x):\n y = x * x\n LOG.append(y)\n return y * x"),
    "log_with_a_key": ((1.5,), "LAST = {}\ndef f(x):\n y = x * x\n LAST['y'] = y\n return y * x"),
    "counter": ((1.5,), "class C: n = 0\nc = C()\ndef h(y):\n c.n += 1\n return y * y * c.n / c.n\ndef f(x): return h(x) * h(x)"),
    "table": ((1.5,), "T = {'a': 2.0}\nW = np.arange(3.0)\ndef f(x):\n l = [W, x * W]\n l.append(W * T['a'])\n l[0] = l[0] * x\n return np.sum(sum(l))"),
    "memo_of_the_call": ((1.5,), "def h(n, x, memo):\n if n not in memo: memo[n] = x if n < 2 else h(n - 1, x, memo) * x\n return memo[n]\ndef f(x): return h(4, x, {})"),
    "cached_method": ((1.5,), "from functools import lru_cache\nclass C:\n @lru_cache(None)\n def sq(self, x): return x * x\nc = C()\ndef f(x): return c.sq(x) * x"),
    "cached_property": ((1.5,), "from functools import cached_property\nclass C:\n def __init__(self, x): self.x = x\n @cached_property\n def sq(self): return self.x * self.x\ndef f(x):\n c = C(x)\n return c.sq * c.sq * x"),
    "constant_memo": ((1.5,), "M = {}\ndef f(x):\n t = M.setdefault('y', np.arange(3.0))\n return np.sum(t * x * x)"),
    "copies": ((1.5,), "A, L, D = np.ones(3), [[1.0], 2.0], {'a': 1.0}\ndef f(x):\n a, b, c, l, d = A.copy(), np.array(A), A[[0, 1]], L[:], dict(D)\n a[0] = b[0] = c[0] = l[1] = d['a'] = x * x\n l.append(x)\n return (a[0] * A[1] + b[0] * c[0]) * L[1] * d['a'] * D['a'] + l[2]"),
    "cached": ((1.5,), "from functools import cache\n@cache\ndef h(a): return a * a\ndef f(x): return h(x) * x"),
}  # fmt: skip


@pytest.mark.parametrize("name", FINE)
def test_what_is_only_left_behind_is_fine(name: str) -> None:
    args, text = FINE[name]
    f = Program(text, args).build()
    check_program(f, args)
    if name == "constant_memo":
        assert ad.linearize(f, 1.5)[1](1.0) == 9.0 and ad.hessian(f)(1.5) == 6.0


def test_what_is_left_behind_is_the_plain_function_s() -> None:
    f = Program("LOG = []\ndef f(x):\n LOG.append(x * x)\n return x * x", ()).build()
    ad.grad(f)(3.0)
    assert f.__globals__["LOG"] == [9.0]
    assert np.isclose(ad.value_and_grad(f)(3.0)[1], 6.0)


# The first call with an argument has the derivative, the second one is warned of what it finds.
MEMOS = {
    "memo": "MEMO = {}\ndef h(a):\n if a not in MEMO: MEMO[a] = a * a\n return MEMO[a]\ndef f(x): return h(x) * x",
    "memo_of_a_decorator": "def memo(g):\n cache = {}\n def w(a):\n  if a not in cache: cache[a] = g(a)\n  return cache[a]\n return w\n@memo\ndef h(a): return a * a\ndef f(x): return h(x) * x",
    "memo_with_setdefault": "MEMO = {}\ndef h(a): return MEMO.setdefault(a, a * a)\ndef f(x): return h(x) * x",
    "memo_with_try": "MEMO = {}\ndef h(a):\n try: return MEMO[a]\n except KeyError:\n  MEMO[a] = r = a * a\n  return r\ndef f(x): return h(x) * x",
    "memo_in_an_object": "class M:\n kept = None\n def get(self, x):\n  if self.kept is None: self.kept = x * x\n  return self.kept\nm = M()\ndef f(x): return m.get(x) * x",
    "memo_of_a_bound_method": "class K:\n def __init__(self): self.m = {}\n def sq(self, x):\n  if x not in self.m: self.m[x] = x * x\n  return self.m[x]\nsq = K().sq\ndef f(x): return sq(x) * x",
    "memo_in_a_tuple": "STATE = ({},)\ndef f(x):\n if x not in STATE[0]: STATE[0][x] = x * x\n return STATE[0][x] * x",
    "memo_returned": "M = {}\ndef store(): return M\ndef f(x):\n m = store()\n if x not in m: m[x] = x * x\n return m[x] * x",
    "memo_found_late": "MEMO = {}\ndef sq(x):\n if x not in MEMO: MEMO[x] = x * x\n return MEMO[x]\nfs = [sq]\ndef f(x): return fs[0](x) * x",
    "memo_in_an_object_in_a_list": "class O: x = v = None\nL = [O()]\ndef f(x):\n o = L[0]\n if o.x != x:\n  o.x = x\n  o.v = x * x\n return o.v * x",
    "memo_in_slots": "class S: __slots__ = ('x', 'v')\ns = S()\ns.x = None\ndef f(x):\n if s.x != x:\n  s.x = x\n  s.v = x * x\n return s.v * x",
    "memo_in_an_object_of_a_variable": "S = None\nclass St: x = v = None\ndef init():\n global S\n if S is None: S = St()\ndef f(x):\n init()\n if S.x != x:\n  S.x = x\n  S.v = x * x\n return S.v * x",
    "getattr_and_setattr": "class S: x = v = None\ns = S()\ndef f(x):\n if getattr(s, 'x') != x:\n  setattr(s, 'x', x)\n  setattr(s, 'v', x * x)\n return getattr(s, 'v') * x",
}  # fmt: skip


@pytest.mark.parametrize("name", MEMOS)
def test_a_memo_is_followed_in_the_call_that_fills_it(name: str) -> None:
    takes = [lambda f: ad.grad(f)(1.5), lambda f: ad.jvp(f, (1.5,), (1.0,))[1]]
    for take in takes if name != "memo_of_a_bound_method" else takes[:1]:
        f = Program(MEMOS[name], ()).build()
        assert np.isclose(take(f), 6.75)  # cold, without a warning
        with pytest.warns(ad.KeptValueWarning, match=r"<program.*line \d+\) reads what an earlier call"):
            take(f)


# What the function reads is found in some other way than by its name: the second call with the same argument is warned of.
HIDDEN = {
    "factory": "from dataclasses import dataclass, field\nG = {}\n@dataclass\nclass C:\n a: float\n memo: dict = field(default_factory=lambda: G)\n def sq(self):\n  if self.a not in self.memo: self.memo[self.a] = self.a * self.a\n  return self.memo[self.a]\ndef f(x): return C(x).sq() * x",
    "init_by_a_method": "G = {}\nclass C:\n def __init__(self, a): self.a, self.memo = a, self.store()\n def store(self): return G\n def sq(self):\n  if self.a not in self.memo: self.memo[self.a] = [self.a * self.a]\n  return self.memo[self.a][0]\ndef f(x): return C(x).sq() * x",
    "default_of_the_function": "def f(x, memo={}):\n if x not in memo: memo[x] = x * x\n return memo[x] * x",
    "layers": "class L:\n def __init__(self): self.memo = {}\n def __call__(self, x):\n  if x not in self.memo: self.memo[x] = x * x\n  return self.memo[x]\nclass N:\n def __init__(self): self.layers = [L()]\n def __call__(self, x):\n  y = x\n  for l in self.layers: y = l(y)\n  return y * x\nnet = N()\ndef f(x): return net(x)",
    "local_container": "G = {}\ndef f(x):\n held = []\n held.append(G)\n if x not in held[0]: held[0].update({x: x * x})\n return sum(held[0].values()) * x",
    "object": "class S: last = value = None\nclass B:\n def __init__(self, s): self.s = s\ns = S()\ndef f(x):\n b = B(s)\n if b.s.last is None:\n  b.s.last = True\n  b.s.value = x\n  b.s.value *= x\n return b.s.value * x",
    "generator": "G = {}\ndef stores(): yield G\ndef f(x):\n y = x\n for m in stores():\n  if x not in m: m[x] = x * x\n  y = y * m[x]\n return y",
    "method": "class K:\n def __init__(self): self.memo = {}\n def cube(self, x):\n  if x not in self.memo: self.memo[x] = x * x\n  return self.memo[x] * x\nf = K().cube",
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_what_an_earlier_call_has_left_is_warned_of(name: str) -> None:
    takes = [lambda f: ad.grad(f)(1.5), lambda f: ad.vjp(f, 1.5)[1](1.0)[0]]
    takes += [lambda f: ad.jvp(f, (1.5,), (1.0,))[1]] * (name not in ("layers", "local_container", "generator"))
    for take in takes:
        f = Program(HIDDEN[name], ()).build()
        assert np.isclose(take(f), 6.75)  # cold, without a warning
        with pytest.warns(ad.KeptValueWarning, match=r"<program.*line \d+\) reads what an earlier call"):
            take(f)


# Each is called with its argument three times; `start` is the user's, between the calls.
UNTOLD = {
    "state that is set anew": "import math\nclass C:\n def __init__(self): self.h = 0.0\n def run(self, w):\n  for k in range(3): self.h = math.tanh(w * self.h + k)\n  return self.h\nc = C()\ndef start(k): c.h = 0.1 * k\nf = c.run",
    "constants of the text": "class C:\n def __init__(self): self.h = 0.0\n def run(self, w):\n  self.h = 0.0\n  for k in range(3): self.h = max(0.0, w * self.h - k)\n  return self.h + w\nf = C().run\ndef start(k): pass",
    "a table": "import numpy as np\nclass C:\n def __init__(self): self.tables, self.seen = {}, []\n def table(self, n):\n  if n not in self.tables: self.tables[n] = np.sin(np.arange(n))\n  return self.tables[n]\n def __call__(self, w):\n  self.seen = [w]\n  return np.sum(w * self.table(3)) * self.seen[0]\nf = C()\ndef start(k): pass",
    "the best so far": "class T:\n def __init__(self): self.losses, self.best = [], 1e9\n def loss(self, w):\n  loss = w * w\n  self.losses.append(float(loss))\n  if len(self.losses) > 1 and self.losses[-1] < self.best: self.best = self.losses[-1]\n  return loss\nf = T().loss\ndef start(k): pass",
}  # fmt: skip


@pytest.mark.parametrize("name", UNTOLD)
def test_what_is_no_memo_is_not_warned_of(name: str) -> None:
    f = Program(UNTOLD[name], ()).build()
    names = getattr(f, "__globals__", None) or getattr(type(f), "__call__").__globals__  # noqa: B004
    with warnings.catch_warnings():
        warnings.simplefilter("error", ad.KeptValueWarning)
        for k in range(40):
            names["start"](k)
            ad.grad(f)(1.5 - 0.03 * k)


def test_what_is_put_there_before_it_is_read_is_no_memo() -> None:
    text = "class L:\n def __call__(self, x):\n  self.x = x\n  self.seen = [x]\n  self.y = self.x * self.seen[0]\n  return self.y\nclass N:\n def __init__(self): self.layers = [L(), L()]\n def __call__(self, x):\n  for l in self.layers: x = l(x)\n  return self.layers[0].y * x\nnet = N()\ndef f(x): return net(x)"
    f = Program(text, ()).build()
    for _ in range(3):
        assert np.isclose(ad.grad(f)(1.5), 6 * 1.5**5)


SHARE = "class S:\n kept = {}\n def __init__(self): self.__dict__ = self.kept\nclass N:\n kept = {}\n def __new__(cls):\n  made = object.__new__(cls)\n  made.__dict__ = cls.kept\n  return made\n"


@pytest.mark.parametrize("cls", "SN")
def test_objects_of_a_class_that_share_their_attributes(cls: str) -> None:
    f = Program(f"{SHARE}def f(x):\n a = {cls}()\n a.v = x * x\n return {cls}().v * x", ()).build()
    for take in (lambda: ad.jvp(f, (1.5,), (1.0,)), lambda: ad.linearize(f, 1.5)[1](1.0)):
        with pytest.raises(ad.UnsupportedSyntaxError, match="another dictionary"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            take()
    with pytest.raises((ad.UnsupportedSyntaxError, ad.KeptValueWarning), match="another dictionary|another name"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ad.grad(f)(1.5)


def test_attributes_that_are_items() -> None:
    text = "class D(dict):\n def __init__(self): self.__dict__ = self\ndef f(x):\n d = D()\n d.v = x * x\n d['w'] = d['v'] * x\n del d.v\n return d.w * x"
    f = Program(text, ()).build()
    assert np.isclose(ad.jvp(f, (1.5,), (1.0,))[1], 13.5) and np.isclose(ad.linearize(f, 1.5)[1](1.0), 13.5)


def test_arguments_that_share_memory_which_is_changed() -> None:
    text = "A = np.zeros(3)\ndef f(a, b, x):\n a[0] = x * x\n return b[0] * x\ndef g(a, x):\n A[0] = x * x\n return a[0] * x"
    f = Program(text, ()).build()
    g = f.__globals__["g"]
    a = np.zeros(3)
    for one, two in ((a, a[:2]), (a[:1], a), ([0.0],) * 2):
        for take in (ad.grad, ad.value_and_grad, ad.jacobian):
            with pytest.raises(ad.ArgumentError, match="share"):
                take(f, argnums=2)(one, two, 1.5)
        with pytest.raises(ad.ArgumentError, match="share"):
            ad.jvp(lambda x, one=one, two=two: ad.grad(f, argnums=2)(one, two, x), (1.5,), (1.0,))
        with pytest.raises(ad.ArgumentError, match="share"):
            ad.jvp(f, (one, two, 1.5), (one, two, 1.0))
    with pytest.raises(ad.ArgumentError, match="shares memory with A"):
        ad.grad(g, argnums=1)(f.__globals__["A"][:2], 1.5)
    assert np.isclose(ad.grad(f, argnums=2)(a[::2], a[1::2] + 1.0, 1.5), 1.0)


@pytest.mark.parametrize("held", ["(a, a[:2])", "[a[1:], a[1:3]]", "{0: a[:2], 1: a}", "[l, l]"])
def test_memory_that_shows_twice_in_one_argument(held: str) -> None:
    text = "def put(b, x): b[0] = x * x\ndef f(d, x):\n put(d[0], x)\n return d[1][0] * x"
    f = Program(text, ()).build()
    d = eval(held, {"a": np.zeros(4), "l": [0.0]})
    assert np.isclose(ad.grad(f, argnums=1)(d, 1.5), 6.75) and np.isclose(ad.jacobian(f, argnums=1)(d, 1.5), 6.75)
    d = eval(held, {"a": np.zeros(4), "l": [0.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ad.KeptValueWarning)
        assert np.isclose(ad.hessian(f, argnums=1)(d, 1.5), 9.0)
