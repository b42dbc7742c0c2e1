"""Programs whose functions and objects change what they are given or what they hold."""

from __future__ import annotations

from mutation_arrays import S, X

#: What is refused, with a rewrite in the message.
REFUSED: set[str] = set()
PROGRAMS: dict[str, tuple[str, tuple]] = {}


def p(name: str, args: tuple, text: str) -> None:
    assert name not in PROGRAMS, name
    PROGRAMS[name] = text, args


# ------------------------------------------------------------ functions
def calls(name: str, helper: str, body: str, result: str, args: tuple = (X, S)) -> None:
    p(name, args, helper.strip("\n") + "\n\ndef f(x, s):\n    y = x * 1.5\n"
      + "".join(f"    {line.strip()}\n" for line in body.split(";")) + f"    return {result}\n")  # fmt: skip


SCALE = "def scale(a, s):\n    a[0] *= s\n    a += s"
calls("callee_mutates", SCALE, "scale(y, s)", "np.sum(y * y)")
calls("callee_mutates_twice", SCALE, "scale(y, s); t = np.sum(y * y); scale(y, t)", "np.sum(y * y) * t")
calls("callee_mutates_view", SCALE, "scale(y[1:], s); scale(y[::2], s)", "np.sum(y * y)")
calls("callee_mutates_argument", SCALE, "scale(x, s); scale(y, s)", "np.sum(x * y)")
calls("callee_mutates_residual", SCALE, "e = np.exp(y); scale(e, s); t = e * y; scale(y, s)", "np.sum(t * y)")
calls("callee_mutates_in_loop", SCALE, "for i in range(3): scale(y[i:], s)", "np.sum(y * y)")
calls("callee_of_callee", SCALE + "\n\ndef twice(a, s):\n    scale(a, s)\n    scale(a, s * s)\n    return a[0]", "t = twice(y, s)", "np.sum(y * y) * t")
calls("callee_returns_argument", "def scale(a, s):\n    a *= s\n    return a", "z = scale(y, s); z[0] = s; y[1] = z[0]", "np.sum(y * z)")
calls("callee_returns_view", "def tail(a):\n    return a[1:]", "z = tail(y); z *= s; z[0] = 1.0", "np.sum(y * y)")
calls("callee_returns_view_of_mutated", "def tail(a, s):\n    a[0] = s\n    return a[1:]", "z = tail(y, s); y *= 2; z[0] = s", "np.sum(y * y) + np.sum(z)")
calls("callee_returns_copy", "def tail(a):\n    return a[1:].copy()", "z = tail(y); z *= s; y[1] = s", "np.sum(y * y) * np.sum(z)")
calls("callee_keeps_reference", "def cube(u):\n    return u ** 3", "t = cube(y); y += s; t2 = cube(y)", "np.sum(t * t2)")
calls("callee_keeps_in_list", "def keep(xs, a):\n    xs.append(a)", "xs = []; keep(xs, y); y *= s; keep(xs, y * 2)", "np.sum(xs[0] * xs[1])")
calls("callee_swaps", "def swap(a, b):\n    t = a.copy()\n    a[:] = b\n    b[:] = t", "z = y * s; swap(y, z)", "np.sum(y * y * np.exp(z))")
calls("callee_same_array_twice", "def mix(p, q):\n    p[0] = 2.0 * q[1]\n    return np.sum(q * q)", "t = mix(y, y)", "t * y[0]")
calls("callee_overlapping", "def mix(p, q):\n    p[0] = 2.0 * q[1]\n    q *= p[0]", "mix(y[:3], y[1:])", "np.sum(y * y)")
calls("callee_with_out", "def into(a, out):\n    np.sin(a, out=out)\n    out *= a", "b = np.empty(4); into(y, b)", "np.sum(b * b) * s")
calls("callee_default_buffer", "def into(a, out=None):\n    if out is None:\n        out = np.zeros(4)\n    out += a\n    return out", "b = into(y); c = into(y * s, b)", "np.sum(b * c)")
calls("callee_fills_dict", "def fill(d, v):\n    d['a'] = v\n    d['b'] = d['a'] * v", "d = {}; fill(d, y * s)", "np.sum(d['a'] * d['b'])")
calls("callee_updates_params", "def step(p, s):\n    for k in p:\n        p[k] = p[k] - s * p[k] ** 2", "d = {'a': y, 'b': s}; step(d, 0.1); step(d, s)", "np.sum(d['a']) * d['b']")
calls("callee_updates_params_in_place", "def step(p, s):\n    for k in p:\n        p[k] -= s * p[k] ** 2", "d = {'a': y, 'b': y * s}; step(d, 0.1); step(d, s)", "np.sum(d['a'] * y) * np.sum(d['b'])")
calls("callee_pops", "def last(xs):\n    return xs.pop()", "xs = [y[0], y[1] * s]; t = last(xs); u = last(xs)", "t * u + t")
calls("callee_sorts", "def order(xs):\n    xs.sort()\n    return xs[0]", "xs = [y[0], y[1] * s, y[2]]; t = order(xs)", "t * xs[1] + xs[2] ** 2")
calls("recursive_in_place", "def halve(a):\n    if len(a) > 1:\n        a[: len(a) // 2] *= a[len(a) // 2 :]\n        halve(a[: len(a) // 2])", "halve(y)", "np.sum(y * y)")
calls("quicksort", "def sort(a, i, j):\n    if j - i < 2:\n        return\n    p = i\n    for k in range(i + 1, j):\n        if a[k] < a[i]:\n            p += 1\n            a[p], a[k] = a[k], a[p]\n    a[i], a[p] = a[p], a[i]\n    sort(a, i, p)\n    sort(a, p + 1, j)", "sort(y, 0, 4)", "np.sum(y * y * np.arange(4.0)) * s")
calls("closure_mutates", "", "def bump(k): y[k] *= s;\n    for k in range(3): bump(k)", "np.sum(y * y)")
calls("closure_nonlocal", "", "t = s;\n    def bump(k):\n        nonlocal t\n        t = t * y[k]\n        y[k] = t;\n    for k in range(3): bump(k)", "np.sum(y * y) * t")
calls("closure_keeps_view", "", "row = y[1:3];\n    def read(): return row * s;\n    a = read(); row *= 2.0; b = read()", "np.sum(a * b)")
calls("closure_list", "", "log = [];\n    def note(v):\n        log.append(v)\n        return v * s;\n    t = note(y[0]) + note(y[1])", "t * log[0] * log[1]")
calls("lambda_reads_later", "", "g = lambda v: np.sum(y * v); a = g(s); y *= s; b = g(s)", "a * b")
calls("map_mutating", "def bump(a):\n    a *= 2.0\n    return np.sum(a)", "ts = list(map(bump, [y[:2], y[2:]]))", "ts[0] * ts[1] + np.sum(y * s)")
calls("star_args_mutated", "def bump(*arrays):\n    for a in arrays:\n        a *= 2.0", "z = y * s; bump(y, z)", "np.sum(y * z)")
calls("keyword_mutated", "def bump(*, a, s=2.0):\n    a *= s", "bump(a=y); bump(a=y, s=s)", "np.sum(y * y)")
calls("partial_mutating", "from functools import partial\ndef bump(k, a):\n    a *= k", "g = partial(bump, s); g(y); g(y)", "np.sum(y * y)")
calls("function_in_dict", "def bump(a, s):\n    a *= s\n    return np.sum(a)", "ops = {'b': bump}; t = ops['b'](y, s)", "np.sum(y * y) * t")
calls("found_fills_constant", "def fill(out, a):\n    out[:] = a * a", "fs = [fill]; z = np.zeros(4); fs[0](z, y * s); fs[0](y[1:], y[:-1])", "np.sum(z * y)")
calls("found_keeps_and_changes", "def put(xs, a):\n    xs.append(a)\n    np.multiply(a, a, out=a)", "xs = []; fs = [put]; fs[0](xs, y); y *= s", "np.sum(xs[0] * y)")
calls("collected_and_changed", "def bump(*xs, **named):\n    xs[1][0] *= 2.0\n    named['a'] *= xs[0]", "y = x * 1.0; z = x + 0.0; bump(s, y, a=z)", "np.sum(y * z * x)")
calls("returns_what_sort_returns", "def order(a):\n    return a.sort()", "y = np.sin(y); order(y)", "np.sum(y * x)")
calls("unknown_function", "def bump(a, s):\n    a *= s\n    return np.sum(a)\n\ndef same(a, s):\n    return np.sum(a) * s", "g = bump if s > 1 else same; t = g(y, s)", "np.sum(y * y) * t")
calls("generator_of_views", "def rows(a):\n    for i in range(2):\n        yield a[2 * i : 2 * i + 2]", "for r in rows(y): r *= s", "np.sum(y * y)")

# ------------------------------------------------------------ objects
BOX = """
class Box:
    def __init__(self, v, scale=1.0):
        self.v = v
        self.scale = scale
        self.log = []

    def add(self, w):
        self.v = self.v + w * self.scale
        self.log.append(self.v)
        return self

    def grow(self, w):
        self.v += w
        self.scale *= w

    @property
    def total(self):
        return np.sum(self.v) * self.scale

    def __call__(self, w):
        return self.v * w
"""


def boxes(name: str, body: str, result: str, helper: str = BOX, args: tuple = (X, S)) -> None:
    calls(name, helper, body, result, args)


boxes("object_of_numbers", "b = Box(s, s * 2); b.v = b.v * b.scale; b.scale += s", "b.v * b.scale * np.sum(y)")
boxes("object_augmented", "b = Box(s); b.v += y[0]; b.v *= b.v; b.v -= s; b.v /= y[1]", "b.v ** 2")
boxes("object_builder", "b = Box(s, y[0]).add(y[1]).add(y[2])", "b.v * b.log[0] * b.log[1]")
boxes("object_array", "b = Box(y, s); b.v[0] = s; b.v *= s; y[1] = b.v[0]", "np.sum(b.v * y)")
boxes("object_array_rebound", "b = Box(y, s); b.v = b.v * s; y *= 2.0", "np.sum(b.v * y)")
boxes("object_grow_number", "b = Box(s, y[0]); b.grow(y[1]); b.grow(s)", "b.v * b.scale")
boxes("object_grow_array", "b = Box(y, s); b.grow(s); b.grow(s * s)", "np.sum(b.v * y) * b.scale")
boxes("object_property", "b = Box(y, s); t = b.total; b.v[0] = s; u = b.total", "t * u")
boxes("object_call", "b = Box(y, s); t = b(s); b.v[:2] = t[2:]", "np.sum(b(t))")
boxes("object_in_list", "bs = [Box(y[k], s) for k in range(3)];\n    for b in bs: b.add(s); b.v *= 2.0", "sum(b.v ** 2 for b in bs)")
boxes("object_in_dict", "d = {'a': Box(s), 'b': Box(y[0])}; d['a'].v = d['b'].v * s; d['b'].add(s)", "d['a'].v * d['b'].v")
boxes("object_alias", "b = Box(s); c = b; c.v = y[0] * s; b.scale = c.v", "b.v * c.scale")
boxes("object_holds_object", "b = Box(Box(s), y[0]); b.v.v = b.scale * s; b.v.add(y[1])", "b.v.v * b.scale")
boxes("object_in_callee", "b = Box(s, 2.0); push(b, y[0]); push(b, s)", "b.v * b.log[0]", BOX + "\ndef push(box, w):\n    box.v = box.v * w\n    box.log.append(w)\n")
boxes("object_returned", "b = make(s, y); b.v[0] *= s", "np.sum(b.v) * b.scale", BOX + "\ndef make(s, y):\n    b = Box(y * 2, s)\n    b.v[1] = s\n    return b\n")
boxes("object_loop", "b = Box(s, 0.5);\n    for k in range(4): b.add(y[k])", "b.v * sum(b.log)")
boxes("object_branch", "b = Box(s, 0.5);\n    if s > 1: b.v = y[0]\n    else: b.scale = y[1]", "b.v * b.scale")
boxes("object_delattr_unused", "b = Box(s, 0.5); b.extra = y[0]; t = b.extra; del b.extra", "t * b.v")
boxes("slots", "b = P(s, y[0]); b.x *= b.y; b.y = b.x + s", "b.x * b.y",
      "class P:\n    __slots__ = ('x', 'y')\n    def __init__(self, x, y):\n        self.x = x\n        self.y = y\n")  # fmt: skip
boxes("class_without_init", "b = P(); b.x = s; b.y = b.x * y[0]; b.x += b.y", "b.x * b.y * b.z", "class P:\n    z = 2.0\n")
boxes("inheritance", "b = Q(s, y[0]); b.add(y[1]); b.add(s)", "b.v * b.count * b.w",
      BOX + "\nclass Q(Box):\n    def __init__(self, v, w):\n        super().__init__(v * 2, w)\n        self.w = w\n        self.count = 0\n    def add(self, w):\n        self.count += 1\n        self.w *= w\n        return super().add(w * self.w)\n")  # fmt: skip
boxes("dataclass", "b = P(s, [y[0]]); b.x *= s; b.items.append(b.x)", "b.x * b.items[0] * b.items[1]",
      "import sys, types\nsys.modules[__name__] = types.ModuleType(__name__)\nfrom dataclasses import dataclass, field\n@dataclass\nclass P:\n    x: float\n    items: list\n")  # fmt: skip
boxes("dataclass_default_list", "b = P(s); b.items.append(y[0]); b.items.append(b.x * s)", "b.x * b.items[0] * b.items[1]",
      "import sys, types\nsys.modules[__name__] = types.ModuleType(__name__)\nfrom dataclasses import dataclass, field\n@dataclass\nclass P:\n    x: float\n    items: list = field(default_factory=list)\n")  # fmt: skip
boxes("property_setter", "b = P(s); b.x = y[0] * s; b.x = b.x * b.x", "b.x * b.count",
      "class P:\n    def __init__(self, x):\n        self._x = x\n        self.count = 0.0\n    @property\n    def x(self):\n        return self._x * 2\n    @x.setter\n    def x(self, v):\n        self._x = v * v\n        self.count += v\n")  # fmt: skip
boxes("getitem_setitem", "b = P(y); b[0] = s; b[1] = b[0] * b[2]", "np.sum(b.data ** 2)",
      "class P:\n    def __init__(self, data):\n        self.data = data\n    def __getitem__(self, k):\n        return self.data[k] * 2\n    def __setitem__(self, k, v):\n        self.data[k] = v * v\n")  # fmt: skip
boxes("getitem_augmented", "b = P(y); b[0] += s", "np.sum(b.data ** 2)",
      "class P:\n    def __init__(self, data):\n        self.data = data\n    def __getitem__(self, k):\n        return self.data[k] * 2\n    def __setitem__(self, k, v):\n        self.data[k] = v * v\n")  # fmt: skip
boxes("operators", "a = P(s, y[0]); b = a * P(y[1], s) + a; b.x *= 2.0", "b.x * b.y",
      "class P:\n    def __init__(self, x, y):\n        self.x, self.y = x, y\n    def __add__(self, o):\n        return P(self.x + o.x, self.y + o.y)\n    def __mul__(self, o):\n        return P(self.x * o.x - self.y * o.y, self.x * o.y + self.y * o.x)\n")  # fmt: skip
boxes("operator_in_place", "a = P(s); b = a; a += y[0]; a += y[1]", "a.x * b.x",
      "class P:\n    def __init__(self, x):\n        self.x = x\n    def __iadd__(self, v):\n        self.x = self.x + v * self.x\n        return self\n")  # fmt: skip
boxes("momentum", "m = Momentum(0.9);\n    for k in range(3): m.step(y, np.sin(y) * s)", "np.sum(y * y)",
      "class Momentum:\n    def __init__(self, beta):\n        self.beta = beta\n        self.v = None\n    def step(self, p, g):\n        if self.v is None:\n            self.v = np.zeros_like(p)\n        self.v *= self.beta\n        self.v += g\n        p -= 0.1 * self.v\n")  # fmt: skip
boxes("layers", "net = [Layer(y[:2]), Layer(y[2:])]; t = s;\n    for layer in net: t = layer.forward(t)", "t * net[0].out",
      "class Layer:\n    def __init__(self, w):\n        self.w = w\n        self.out = None\n    def forward(self, x):\n        self.out = np.tanh(np.sum(self.w) * x)\n        return self.out\n")  # fmt: skip
boxes("linked_list", "n = None;\n    for k in range(3): n = Node(y[k], n)\n    t = 1.0;\n    while n is not None:\n        n.v = n.v * s\n        t = t * n.v\n        n = n.next", "t",
      "class Node:\n    def __init__(self, v, next):\n        self.v = v\n        self.next = next\n")  # fmt: skip
boxes("cache_attribute", "b = C(y); t = b.norm(); u = b.norm(); b.data[0] = s", "t * u * np.sum(b.data)",
      "class C:\n    def __init__(self, data):\n        self.data = data\n        self._norm = None\n    def norm(self):\n        if self._norm is None:\n            self._norm = np.sqrt(np.sum(self.data ** 2))\n        return self._norm\n")  # fmt: skip
boxes("context_object", "b = Acc();\n    for k in range(4): b += y[k]", "b.total * s",
      "class Acc:\n    def __init__(self):\n        self.total = 0.0\n    def __iadd__(self, v):\n        self.total += v * v\n        return self\n")  # fmt: skip
boxes("static_and_class_methods", "b = P.make(s); P.bump(b, y[0])", "b.x ** 2",
      "class P:\n    def __init__(self, x):\n        self.x = x\n    @classmethod\n    def make(cls, x):\n        return cls(x * 2)\n    @staticmethod\n    def bump(b, v):\n        b.x *= v\n")  # fmt: skip
boxes("simple_namespace", "b = SimpleNamespace(x=s, y=y); b.x = b.x * 2; b.y *= s", "b.x * np.sum(b.y)", "from types import SimpleNamespace")


p("found_late_and_changed", (X,), """
def f(x):
    y = {'g': lambda v: v * 1.0}['g'](x)
    y[0] = 5.0 * y[1]
    return np.sum(y * y) + np.sum(x * x)
""")
