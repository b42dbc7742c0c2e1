"""``*args``, ``**kwargs`` and starred displays where something is changed in place, before or after."""

import pytest

from checking import Program
from tables import check, programs

TABLE = """
=== changed dict of keywords | x = 1.5
def product(**k):
    return k["b"] * k["a"]
def g(**k):
    k["b"] = k["a"] * 2
    return product(**k)
def f(x):
    return g(a=x)
=== popped keyword | x = 1.5
def product(**k):
    return k["b"] ** 2 * k["a"]
def g(x, **k):
    b = k.pop("b")
    return product(b=x * b, **k)
def f(x):
    return g(x, a=x, b=2 * x)
=== keyword set by default | x = 1.5, y = 0.7
def last(*args, weight=1.0, **k):
    first, *mid, last = args
    return weight * (first * last + sum(mid)) + k.get("bias", 0.0)
def g(*args, **k):
    k.setdefault("bias", 2.0 * args[0])
    return last(*args[::-1], **k)
def f(x, y):
    return g(x, y, x * y, weight=y) + g(y, x, bias=x)
=== callee changes its own dict of keywords | x = 1.5
def total(**k):
    k["c"] = k["a"] * k.pop("b")
    return sum(i * v for i, v in enumerate(list(k.values()), 1))
def g(out, *a, **k):
    out.append(total(**k))
    out.append(total(**k, d=a[0]))
    return out
def f(x):
    out = g([], x * x, a=x, b=2 * x)
    return out[0] * out[1]
=== numbers through a method of an object that changes | x = 1.5, y = A
class Acc:
    def __init__(self):
        self.t, self.n = 0.0, 0
    def add(self, *vs, **ws):
        for v in vs:
            self.t = self.t + np.sum(v)
        for name in ws:
            self.t = self.t * ws[name]
        self.n += 1
        return self.t
def into(acc, *a, **k):
    add = acc.add
    return add(*a, **k) * add(*a)
def f(x, y):
    acc = Acc()
    return into(acc, x, y, m=2 * x) * acc.t
=== a registry of wrapped functions | x = 1.5, y = 0.4
import functools
TABLE = {}
def register(scale):
    def around(fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            return scale * fn(*args, **kwargs)
        TABLE[fn.__name__] = wrapper
        return wrapper
    return around
@register(0.5)
def square(x, *, shift=0.0):
    return (x - shift) ** 2
@register(2.0)
def cube(x, *more):
    return x ** 3 * sum(more)
class Box:
    def __init__(self, v):
        self.v = v
    def put(self, v):
        self.v += v
def call(name, *a, **k):
    return TABLE[name](*a, **k)
def f(x, y):
    box = Box(x)
    box.put(call("square", x, shift=y))
    box.put(call("cube", y, x, y))
    return box.v
=== a nested function with collected parameters | x = 1.5, y = 0.4
def twice(fn, log, *a, **k):
    log.append(fn(*a, **k))
    log.append(fn(*a, **k))
    return log
def f(x, y):
    def inner(p, *rest, scale=y, **k):
        return p * sum(rest) * scale + k["bias"] * x
    log = twice(inner, [], x, y, x * y, bias=y)
    log = twice(inner, log, x, y, scale=x, bias=x)
    return log[0] * log[3] + log[1] * log[2]
=== arrays and numbers collected together | x = 1.5, y = A
def mix(*args, **k):
    args[0][0] = args[1] * k["s"]
    k["out"] += args[0] * k["s"]
    return np.sum(args[0]) * args[1]
def g(out, *args, **k):
    out *= 2.0
    return mix(*args, out=out, **k)
def f(x, y):
    z, out = y * 2, np.ones(3)
    t = g(out, z, x, s=x * x)
    return t * np.sum(z * out)
=== recursion with collected arguments | x = 0.8
def power(log, *a, **k):
    if k["n"] == 0:
        return a[0]
    log.append(a[0])
    k["n"] -= 1
    return a[-1] * power(log, *a[::-1], **k)
def f(x):
    log = []
    return power(log, x, x * x, n=3) * sum(log)
=== collected in a try statement | x = 0.8
def risky(*a, **k):
    if k["n"] < 2:
        raise ValueError("not yet")
    return a[0] * k["w"] * k["n"]
def f(x):
    seen, n = [], 0
    while True:
        try:
            k = {"w": x * x, "n": n}
            seen.append(risky(*[x], **k))
            break
        except ValueError:
            n += 1
            seen.append(x)
    return sum(seen) * seen[-1]
=== keywords of a dict that changes later | x = 1.5
def h(**k):
    return k["b"] * k["a"]
def f(x):
    k = {"a": x, "b": x * x}
    t = h(**k)
    del k["a"]
    k["c"] = t
    return t + h(a=x, **{"b": k["c"]})
=== items of a list that changes later | x = 1.5
def h(*k):
    return k[0] * k[-1]
def f(x):
    l = [x, x * x, 2 * x]
    t = h(x, *l)
    l.pop()
    l.append(t)
    l.append(t * x)
    u = h(*l, *l)
    l.clear()
    return t * u
=== displays of containers that change later | x = 1.5
def f(x):
    l = [x, x * x, 2 * x]
    m = [*l, x]
    d = {"a": x}
    e = {**d, "b": x}
    l.pop(0)
    l.append(m[2])
    d.clear()
    d["b"] = m[0] * e["a"]
    g = {**e, **d}
    d.pop("b")
    l[:] = []
    return m[1] * g["b"] * m[2] * g["a"]
=== handed on from containers that are emptied | x = 0.7
def h(*k, **w):
    return k[0] * k[-1] * w["q"]
def call(fn, *a, **k):
    r = fn(*a, **k)
    k["q"] = 0.0
    k.pop("q")
    return r
def f(x):
    l = [x, x * x, 2 * x]
    d = {"q": x}
    t = call(h, *l, **d)
    d.clear(); l.clear()
    d["q"] = t
    l.append(t)
    u = call(h, *l, **d)
    return t * u
=== lists handed on that callees make grow | x = 0.7
def h(*k, **w):
    k[0].append(w["q"])
    return k[0][0] * k[-1] * w["q"]
def call(fn, *a, **k):
    r = fn(*a, **k)
    a[0].append(r)
    del k["q"]
    return r
def f(x):
    l = [[x], x * x, 2 * x]
    d = {"q": x}
    t = call(h, *l, **d)
    d.clear(); m = l.pop(0)
    d["q"] = t
    l.insert(0, m[1:])
    u = call(h, *l, **d)
    return t * u * m[-1] * m[1]
=== arrays that are written after the call | x = B
def g(*a): return np.sum(np.sin(a[0]) * a[1])
def h(**k): return np.sum(np.sin(k["u"]) * k["v"])
def f(x):
    y = x * 1.0
    t = g(y, x)
    y *= 3
    u = h(u=y, v=x)
    y[0] = 5.0
    return t * np.sum(y) + u
=== handed on to arrays' functions, written after the call | x = B
def apply(fn, *a, **k): return fn(*a, **k)
def sq(u, w=1.0): return np.sum(u * u * w)
def f(x):
    y = x * 1.0
    t = apply(np.sin, y)
    u = apply(sq, y, w=y)
    y *= 3
    v = apply(sq, *[y, x])
    y[0] = 2.0
    return np.sum(t) * np.sum(y) + u * v
=== starred arrays that are written after the call | x = B
def f(x):
    y = x * 1.0
    a = [y]
    t = np.sin(*a)
    b = [y, y]
    u = np.multiply(*b)
    y *= 3
    y[0] = 2.0
    return np.sum(t) * np.sum(y) + np.sum(u)
=== starred numbers of a list that changes | x = 0.7
import math
def f(x):
    l = [x, x * x]
    t = math.hypot(*l)
    p = pow(*l)
    l[0] = 3.0 * x
    u = math.atan2(*l)
    l.append(t)
    return t * u * p + sum(l)
=== methods and nested functions with collected arrays | x = B
class A:
    def go(self, *a): return np.sum(np.sin(a[0]) * a[1])
    def ho(self, **k): return np.sum(np.sin(k["u"]) * k["v"])
def f(x):
    y = x * 1.0
    o = A()
    t = o.go(y, x)
    y *= 3
    u = o.ho(u=y, v=x)
    y[0] = 5.0
    def inner(*a, **k):
        return np.sum(np.exp(a[0]) * k["w"])
    v = inner(y, w=x)
    y[1] = 0.0
    fs = [inner, lambda *a, **k: np.sum(np.cos(a[0]) * k["w"] ** 2)]
    w = 0.0
    for fn in fs:
        w = w + fn(y, w=y) * fn(*[y], **{"w": x})
        y[0] = y[1] + x[0]
        y *= 2
    return t * np.sum(y) + u * v * w
=== results of callees found at run time that are written | x = abs(A)
def apply(fn, *a, **k): return fn(*a, **k)
def f(x):
    y = x * 1.0
    t = apply(np.exp, y)
    t *= 2
    s = np.tanh(*[y])
    s[0] = x[1]
    fn = {"e": np.exp, "i": np.asarray, "t": np.sqrt}
    u = fn["e"](y)
    u *= 3
    v = fn["t"](x)
    v += u
    w = fn["i"](y)
    w[0] = 7.0
    return np.sum(t * s * u * v) + np.sum(w)
"""


@pytest.mark.parametrize("program", programs(TABLE))
def test_collected_arguments(program: Program) -> None:
    check(program)
