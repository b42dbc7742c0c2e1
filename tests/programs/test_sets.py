"""Sets of objects, and of what is not differentiated; sets of numbers are refused."""

import numpy as np
import pytest
import thunkad as ad

from checking import Program
from tables import check, programs

TABLE = """
=== names that were seen | w = {"a": 1.0, "b": 2.0, "c": 3.0}
def f(w):
    done = set()
    done.add("a")
    t = 0.0
    while True:
        cur = min([n for n in ("a", "b", "c") if n not in done], key=lambda n: w[n], default=None)
        if cur is None:
            break
        done.add(cur)
        t += w[cur]
    return t
=== operators and methods | params = {"a": A, "b": B}, x = A
def fs_of(names): return frozenset(names)
def f(params, x):
    seen, out = set(), []
    for k, v in params.items():
        if k in seen: continue
        seen.add(k)
        seen |= {k + "2"}
        out.append(np.sum(v * x))
    names = {k for k in params}
    both = names & seen
    both = both.union(names.difference("c")).intersection(names.copy()) & fs_of(names).symmetric_difference(["c"])
    last = sorted(both)[0]
    fs = frozenset(params)
    idx = {1, 0}
    idx.update([2, 1])
    idx.discard(0)
    t = 0.0
    for i in idx:
        t += x[i] * len(idx)
    for k in sorted(fs - {"b"}):
        t += np.sum(params[k])
    return sum(out) * np.sum(params[last]) + t + (len(seen) if seen else 0) + max(len(s) for s in seen)
=== indices | x = 1.5
def f(x):
    s = set([int(x), 7])
    t = 0
    for v in s:
        t += v * x
    return t + sum(s)
=== graph by identity | x = 1.5
class Node:
    def __init__(self, v): self.v, self.out = v, []
def f(x):
    a, b, c = Node(x), Node(x * x), Node(2 * x)
    a.out += [b, c]; b.out.append(c)
    seen, stack, t = set(), [a], 0.0
    while stack:
        n = stack.pop()
        if id(n) in seen: continue
        seen.add(id(n))
        t = t * 0.5 + n.v ** 2
        stack.extend(n.out)
    return t
=== shortest path | w = np.array([1.0, 2.0, 3.0, 0.5, 0.4])
class Graph:
    def __init__(self):
        self.adj = {}
    def add_edge(self, a, b, w):
        self.adj.setdefault(a, []).append((b, w))
        self.adj.setdefault(b, []).append((a, w))
    def shortest(self, src, dst):
        dist = {src: 0.0}
        done = set()
        while True:
            cur = min((n for n in dist if n not in done), key=lambda n: dist[n], default=None)
            if cur is None or cur == dst:
                break
            done.add(cur)
            for nb, w in self.adj[cur]:
                nd = dist[cur] + w
                if nb not in dist or nd < dist[nb]:
                    dist[nb] = nd
        return dist[dst]
def f(w):
    g = Graph()
    for (a, b), v in zip([("s", "a"), ("s", "b"), ("a", "t"), ("b", "t"), ("a", "b")], w):
        g.add_edge(a, b, v ** 2)
    return g.shortest("s", "t")
=== a tape | x = 0.6
class Value:
    def __init__(self, data, children=()):
        self.data, self.grad, self.back, self.prev = data, 0.0, lambda: None, set(children)
    def __add__(self, other):
        out = Value(self.data + other.data, (self, other))
        def back():
            self.grad += out.grad
            other.grad += out.grad
        out.back = back
        return out
    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other))
        def back():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out.back = back
        return out
    def backward(self):
        topo, visited = [], set()
        def build(v):
            if v not in visited:
                visited.add(v)
                for child in v.prev: build(child)
                topo.append(v)
        build(self)
        self.grad = 1.0
        for v in reversed(topo): v.back()
def f(x):
    a, b = Value(x), Value(0.7)
    (a * b * a + a).backward()
    return a.grad * b.grad
=== a set that a recursive closure fills | x = 0.6
class Node:
    def __init__(self, v): self.v = v
def f(x):
    a, seen, found = Node(x * x), set(), []
    def visit(n, count):
        seen.add(n)
        found.append(n.v)
        if count: visit(n, count - 1)
    visit(a, 2)
    return sum(found) * sum(n.v for n in seen)
=== sets of objects | x = 0.6
class Node:
    def __init__(self, v): self.v, self.kids = v, []
def made(x): return {Node(x), Node(x * x)}
def total(nodes):
    t = 0.0
    for n in nodes: t = t + n.v
    return t
def f(x):
    a, b, c = Node(x), Node(x * x), Node(2 * x)
    s, t = {a, b}, frozenset([b, c])
    u = total(s | t) + 2 * total(s & t) + 3 * total(s - t) + 4 * total(s ^ t) + 5 * total(set(s) | {c})
    before = sorted(s, key=lambda n: n.v)
    s.update(t)
    s.discard(b)
    for k, n in enumerate(sorted(s, key=lambda n: n.v)): n.v = n.v * (k + 2)
    return u * total(before) + total(s) ** 2 + max(s, key=lambda n: n.v).v * total([*made(x)])
"""
VISITED = """
class Node:
    def __init__(self, v, parents=()):
        self.v, self.parents = v, parents
def f(x):
    order, seen = [], set()
    def visit(n):
        if id(n) not in seen:
            seen.add(id(n))
            for p in n.parents:
                visit(p)
            order.append(n)
    a = Node(x)
    visit(Node(x * x, (a, Node(x * a.v, (a,)))))
    return sum(n.v ** 3 for n in order)
"""


@pytest.mark.parametrize("program", programs(TABLE))
def test_sets(program: Program) -> None:
    check(program)


def test_the_gradient_of_a_set_is_a_list() -> None:
    text = "class N:\n def __init__(self, v): self.v = v\nclass M: pass\ndef make():\n m = M()\n m.nodes = {N(1.0), N(2.0)}\n return m\ndef f(m): return sum(n.v ** 2 for n in m.nodes)"
    f = Program(text, ()).build()
    m = f.__globals__["make"]()
    for found in (ad.grad(f)(m), ad.vjp(f, m)[1](1.0)[0]):
        assert [g["v"] for g in found["nodes"]] == [2 * n.v for n in m.nodes]


KEYS = {
    "display": ("d = {N(x): 1.0, N(x * x): x}", "sum(n.v * w for n, w in d.items()) + list(d)[0].v ** 2"),
    "stored": ("d = {}\n for n in [N(x), N(x * x)]: d[n] = 1.0", "max(d, key=lambda n: d[n]).v * [n.v for n in d][1]"),
    "computed": ("d = {n: i for i, n in enumerate([N(x), N(x * x)])}", "{i: n for n, i in d.items()}[1].v ** 2"),
    "view": ("d = dict.fromkeys([N(x), N(x * x)], 1)\n for n in d.keys(): n.v = n.v * 2", "sum(n.v for n in sorted(d, key=d.get))"),
    "pairs": ("d = dict(zip([N(x), N(x * x)], (x, 1.0)))\n e = {**d, N(x): 2.0}", "sum(n.v * w for n, w in e.items()) + sum(e.values())"),
    "changed": ("d = {N(x): 1.0}\n e = list(d)\n e[0].v = x ** 3", "sum(n.v for n in d)"),
    "argument": ("def g(n):\n  d = {n: x}\n  return sum(k.v * w for k in d for w in d.values())", "g(N(x))"),
}


@pytest.mark.parametrize("name", KEYS)
def test_objects_that_are_keys(name: str) -> None:
    made, value = KEYS[name]
    text = f"class N:\n def __init__(self, v): self.v = v\ndef f(x):\n {made}\n return {value}"
    f = Program(text, ()).build()
    assert ad.grad(f)(0.6) == pytest.approx((f(0.6 + 1e-6) - f(0.6 - 1e-6)) / 2e-6, rel=1e-7)
    with pytest.raises(ad.ThunkadError):
        ad.jvp(f, (0.6,), (1.0,))


def test_objects_that_are_keys_only_look_up() -> None:
    text = "class N:\n def __init__(self, v): self.v = v\ndef f(x):\n d = {N(x): 1.0, N(x * x): x}\n return sum(d[n] for n in d) * sum(d.values())"
    f = Program(text, ()).build()
    assert np.isclose(ad.grad(f)(0.6), 3.2) and np.isclose(ad.jvp(f, (0.6,), (1.0,))[1], 3.2)


@pytest.mark.parametrize(
    "body", ["return sum({x, 2 * x})", "return sum(set([x, x * x]))", "s = set()\n    s.add(x)\n    return sum(s)"]
)
def test_numbers_in_sets_are_refused(body: str) -> None:
    f = Program(f"def f(x):\n    {body}\n", (0.7,)).build()
    with pytest.raises(ad.UnsupportedSyntaxError, match="in a set"):
        ad.grad(f)(0.7)


def test_a_set_updated_in_place_is_the_same_set() -> None:
    text = "def f(x, names):\n    seen = names\n    seen |= {'c'}\n    seen.update(k for k in 'de')\n    return x * len(names)\n"
    f = Program(text, (0.7, set("ab"))).build()
    given = set("ab")
    assert ad.grad(f)(0.7, given) == 5.0 and given == set("abcde")


def test_second_derivatives_where_a_closure_fills_a_set() -> None:
    f = Program(VISITED, ()).build()
    g = ad.grad(f)
    assert abs(ad.hvp(f, (1.3,), (1.0,)) - (g(1.3 + 1e-5) - g(1.3 - 1e-5)) / 2e-5) < 1e-6


def test_numbers_in_a_set_that_is_given_have_no_gradient() -> None:
    assert ad.grad(lambda d: sum(d["s"]) * d["x"])({"s": {1.0, 2.0}, "x": 4.0}) == {"s": ad.NoTangent(), "x": 3.0}


NUMBER_KEYS = {
    "display": ("d = {x: 0.5, x * x: x}", "sum(k * p for k, p in d.items()) + list(d)[1] ** 2"),
    "stored": ("d = {}\n d[2 * x] = 1.0\n d[x * x] = x\n t = 0.0\n for k in d: t = t + k * d[k]", "t * max(d)"),
    "computed": ("d = {e * x: i for i, e in enumerate([2.0, 3.0])}", "sum(math.sin(k) * i for k, i in d.items())"),
    "views": ("d = {x: 1.0, 2 * x: x}\n ks = d.keys()\n t = 0.0\n for k in ks: t += math.sin(k)", "t * max(ks)"),
    "tuples": ("d = {}\n d[x, 0] = 1.0\n d[x * x, 1] = x", "sum(a * (b + v) for (a, b), v in d.items())"),
    "pairs": ("d = dict(zip([x, x * x], [1.0, x])) | {x ** 3: 2.0}", "sum(k * v for k, v in sorted(d.items()))"),
    "methods": (
        "d = {}\n d.setdefault(x, []).append(2.0)\n d.update({x * x: [x]})\n d[3 * x] = d.pop(x)\n k, v = d.popitem()",
        "k * v[0] + sum(k * k for k in d)",
    ),
    "updates": ("d = collections.defaultdict(float)\n for i in range(4): d[x * (i % 2 + 1)] += x", "sum(k * k * v for k, v in d.items())"),
    "read": ("d = collections.defaultdict(list)\n for e in (2.0, 3.0): d[e * x].append(x)", "sum(k * k * sum(v) for k, v in d.items())"),
    "inverted": ("d = {k: v for k, v in zip((x, x * x), (1.0, 2.0)) if k}\n e = {v: k for k, v in d.items()}", "e[2.0] * 3 + e[1.0]"),
    "counted": ("d = collections.Counter([2 * x, 2 * x, x * x])", "sum(k * n for k, n in d.items()) + d.most_common(1)[0][0]"),
    "of unknown kind": ("d = [{3: x, 1: x * x}, 5][int(x > 0) - 1]\n t = 0.0\n for k in d: t = t + k * x * k", "t + sum(k * d[k] for k in d)"),
    "constant": ("d = {0.5: x, 2.0: x * x}\n t = 0.0\n for k in d: t = t + k * d[k]", "t + sum(k * v for k, v in d.items())"),
    "looked up": ("d = {}\n def g(y):\n  if y not in d: d[y] = y * y if y < 1 else g(y - 1) + y\n  return d[y]", "g(x + 2) * g(x)"),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBER_KEYS)
def test_numbers_that_are_keys(name: str) -> None:
    made, value = NUMBER_KEYS[name]
    f = Program(f"import collections, math\ndef f(x):\n {made}\n return {value}", ()).build()
    expected = pytest.approx((f(0.6 + 1e-6) - f(0.6 - 1e-6)) / 2e-6, rel=1e-7)
    assert ad.grad(f)(0.6) == expected and ad.jvp(f, (0.6,), (1.0,))[1] == expected
    assert ad.linearize(f, 0.6)[1](1.0) == expected


def test_second_derivatives_of_numbers_that_are_keys() -> None:
    texts = [f"import collections\ndef f(x):\n {NUMBER_KEYS[name][0]}\n return {NUMBER_KEYS[name][1]}" for name in ("stored", "updates")]
    f, g = (Program(text, ()).build() for text in texts)
    assert ad.hvp(f, (0.6,), (1.0,)) == pytest.approx((ad.grad(f)(0.6 + 1e-5) - ad.grad(f)(0.6 - 1e-5)) / 2e-5)
    with pytest.raises(ad.UnsupportedSyntaxError, match="keys of a dict"):
        ad.hvp(g, (0.6,), (1.0,))
