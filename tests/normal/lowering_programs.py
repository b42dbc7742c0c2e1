"""Programs for the tests of lowering: name -> (text, argument tuples).  The last function of a text is the one meant."""

from __future__ import annotations

import sys
from typing import Any

PROGRAMS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {}


def program(name: str, text: str, *inputs: tuple[Any, ...]) -> None:
    assert name not in PROGRAMS
    PROGRAMS[name] = (text, list(inputs) or [()])


# ---------------------------------------------------------------- expressions

program("constant", "def f(): return 3")
program("nothing", "def f(x):\n    'doc'\n    pass\n    ...", (1,))
program("arithmetic", "def f(x, y): return x + y * 2 - -x / (y ** -2) // 1 % 7", (2.0, 3.0), (1, 4))
program("negative", "def f(x): return (-1) ** x, -1 ** x, -0.0, - -x, not x, ~x, -True, -2j", (2,))
program(
    "and_or",
    "def f(a, b, c): return a and b or c, a or b and c, not (a or b), (a and b) is b",
    *((a, b, 7) for a in (0, 1, "") for b in (0, 2, [])),
)
program("short_circuit", "def f(a): return say(a) and say(2) and say(0) and say(4) or say('x') or say('y')", (0,), (1,))
program("chain", "def f(a): return say(1) < say(a) < say(5) != say(4)", (0,), (3,), (9,), (5,))
program("chain_walrus", "def f(b): return 1 < b < (b := 7) < b + 1, b", (3,), (9,), (0,))
program("if_expression", "def f(x): return say(1) if say(x) else say(2) if x == 0 else 3", (0,), (1,), (None,))
program("membership", "def f(x): return x in [1, 2], x not in (1,), x is None, x is not None", (1,), (None,))
program("walrus", "def f(x): return (x, (x := x * 2), x, (y := x + 1), y)", (3,))
program("walrus_operands", "def f(x): return x + (x := 5) * x - (x := x + 1) + x", (3,))
program("walrus_call", "def f(x): return max(x, (x := x + 1), -x, key=lambda v: v * x)", (3,))
program("walrus_method", "def f(x): return x.index((x := [5, 6])[0] - 4), x", ([0, 1],))
program("walrus_index", "def f(x, i): return x[i:(i := i + 2)], x[i, ] if 0 else i", ([1, 2, 3, 4], 1))
program("walrus_dict", "def f(x): return {x: (x := x + 1), x: (x := x + 1), **{x: x}}", (1,))
program("walrus_conditional", "def f(x): return x + ((x := 4) if x else 0) + x", (3,), (0,))
program(
    "global_before_call",
    """
G = 1
def bump():
    global G
    G += 1
    return G
def f():
    return G + bump() * G, [G, bump(), G], max(G, bump())
""",
)
program("builtin_order", "def f(x): return say(x) + say(2) * say(3), say(4) - say(5)", (1,))
program(
    "call_forms",
    """
def g(*a, **k): return a, k
def f(x, d): return g(say(1), *say(x), say(2), k=say(3), **say(d), z=say(4)), g(*x, *x), g(**d)
""",
    ([1, 2], {"q": 1}),
    ([], {}),
)
program("method_chain", "def f(x): return x.upper().replace('A', say('b')).strip().split('b')", (" banana ",))
program("attribute_order", "def f(x): return np.linalg.norm(say(x)) + np.pi + np.array(x).sum()", ([3.0, 4.0],))
program(
    "subscripts",
    """
def f(x, i):
    a = np.arange(24).reshape(2, 3, 4)
    return x[i], x[1:], x[:-1], x[::2], x[i:i + 1:1], a[0], a[..., 1], a[:, None, 1:3, 0], a[(0, 1)], a[0, 1][i], a[()].sum()
""",
    ([1, 2, 3], 1),
)
if sys.version_info >= (3, 11):
    program(
        "star_index",
        """
def f(i):
    a = np.arange(24).reshape(2, 3, 4)
    return a[*i, 1:3], a[*i, ...], a[1:, *i]
""",
        ((0,),),
        ((0, 1),),
    )
program(
    "displays", "def f(x): return (1, *x, 2), [*x, *x], {*x, 9}, {'a': x, **{'b': 1}, 'a': 2}, (), [], {}", ([1, 2],)
)
program(
    "f_strings",
    """
def f(x, w):
    return (f"{x}", f"{{{x}}}", f"{x!r:>{w}}|", f"{x:{'>'}{w}}", f"a{'b'}c", f"{w:03d}{x!s}{x!a}", f"{w=}", f"plain",
            f"{{}}", f"{w + 1:{w}.{w - 5}f}" "tail{}", f"{f'{x}'}!")
""",
    ("é", 8),
)
program("lambda_value", "def f(x): return list(map(lambda v, k=x: v * x + k, [1, 2]))", (3,))
program("long_sum", "def f(x): return " + " + ".join(["x"] * 1500), (1,))

# ---------------------------------------------------------------- assignments

program("chained", "def f(x):\n    a = b = say(x)\n    a += [1]\n    return a, b", ([],))
program(
    "chained_self", "def f(x, b):\n    (b, c) = d = b\n    x = y, z = x\n    return x, y, z, b, c, d", ((1, 2), (3, 4))
)
program("chained_index", "def f(x, j):\n    i = x[i] = j\n    return x, i", ([1, 2, 3], 1))
program("swap", "def f(a, b):\n    a, b = b, a + b\n    a, b, a = b, a, b\n    return a, b", (1, 2))
program("swap_elements", "def f(x, i):\n    x[i], x[0], i = x[0], x[i], x[1]\n    return x, i", ([1, 2, 3], 2))
program(
    "order_of_targets",
    "def f(x, i):\n    i, x[i] = 1, 9\n    x[say(0)], x[say(1)] = say(5), say(6)\n    return x, i",
    ([1, 2, 3], 0),
)
program("order_unpacked", "def f(x, i, v):\n    x[i], i, x[i], i = v\n    return x, i", ([0, 0, 0], 0, (5, 1, 6, 2)))
program(
    "unpack",
    "def f(v):\n    (a, b), [c, (d, e)] = v\n    return a, b, c, d, e",
    ([(1, 2), (3, "xy")],),
    ([(1, 2), (3, "x")],),
    (5,),
    ([1],),
)
program("unpack_duplicate", "def f(v):\n    a, _, _, a = v\n    return a, _", ((1, 2, 3, 4),))
program(
    "starred",
    "def f(v):\n    a, *b, c = v\n    *d, = v\n    e, (g, *h), *i = v\n    return a, b, c, d, e, g, h, i",
    ((1, (2, 3, 4), 5),),
    ((1, (2,), 3, 4),),
    ((1,),),
    ((1, 2, 3),),
    (5,),
)
program("starred_target", "def f(v):\n    x = {}\n    a, *x['rest'] = v\n    return a, x", ("abc",))
program(
    "annotated",
    "def f(x):\n    y: int = x\n    z: undefined\n    x: float\n    w: 'q' = (v := 2)\n    return y, w, v",
    (1,),
)
program("annotation_makes_local", "def f():\n    say: int\n    return say(1)")
program(
    "augmented",
    """
def f(x, a):
    x += 1; x -= 2; x *= 3; x /= 2; x //= 1; x %= 5; x **= 2
    a[0] += x
    a[say(1)] *= say(10)
    a += [1]
    return x, a
""",
    (4, [1, 2]),
)
program("augmented_alias", "def f(a):\n    b = a\n    b += [1]\n    return a is b, a", ([1],))
program(
    "augmented_order",
    "def f(x, a, i):\n    x += (x := 10)\n    a[i] += (i := 1)\n    a[i] += a[0]\n    return x, a, i",
    (1, [5, 6], 0),
)
program(
    "augmented_attribute",
    """
class C:
    total = 1
    def step(self):
        self.total += 10
        return 100
def f():
    c = C()
    c.total += c.step()
    c.total -= 1
    return c.total
""",
)
program(
    "augmented_array",
    "def f(a):\n    b = a\n    b[1:] *= 2\n    b += 1\n    return a, b",
    (__import__("numpy").arange(4.0),),
)
program("store_order", "def f(x):\n    say(x)[say(0)] = say(7)\n    say(x)[say(1)] += say(8)\n    return x", ([1, 2],))
program("store_walrus", "def f(x, n):\n    x[(n := 1)] = n\n    x[n - 1] = (n := 8)\n    return x, n", ([1, 2], 0))
program(
    "delete",
    "def f(x, y):\n    del x[0], y[1:]\n    z = 1\n    del z\n    del (x[0], [y[0]])\n    return x, y, z",
    ([1, 2], [3, 4]),
)
program("unbound", "def f(a):\n    if a: x = 1\n    return x", (0,), (1,))
program(
    "imports",
    """
def f(x):
    import math
    import os.path as p, collections.abc
    from math import floor as fl, pi
    return math.sqrt(x), p.join('a', 'b'), fl(2.5), pi, collections.abc.Sized.__name__
""",
    (4,),
)

# ---------------------------------------------------------------- choices and assertions

program(
    "early_return",
    "def f(x):\n    if x > 2: return 'big'\n    say(x)\n    if x > 1:\n        return 'mid'\n    return 'small'",
    (3,),
    (2,),
    (1,),
)
program("falls_off", "def f(x):\n    if x: return 1\n    say(x)", (1,), (0,))
program(
    "elif",
    "def f(x):\n    if x == 0: y = 'a'\n    elif x == 1: return 'b'\n    elif x == 2: y = 'c'\n    else: raise ValueError(x)\n    return y + '!'",
    (0,),
    (1,),
    (2,),
    (3,),
)
program(
    "mixed_arms",
    """
def f(x, y):
    if x:
        if y: return 'both'
        say('x')
    elif y:
        say('y')
    else:
        if x == y: return 'none'
    say('rest')
    return x, y
""",
    (0, 0),
    (0, 1),
    (1, 0),
    (1, 1),
    (0, None),
)
program("dead_code", "def f(x):\n    if x: raise KeyError(x)\n    else: return 2\n    say(1)\n    return y", (1,), (0,))
program("always_raises", "def f(x):\n    raise ValueError(say(x)) from KeyError(1)", (1,))
program(
    "assertion", "def f(x):\n    assert say(x), say('m') + str(x)\n    assert x > 1\n    return x", (0,), (1,), (2,)
)
program("default_values", "def f(x, y=2, *, z=3): return x, y, z", (1,), (1, 5))
program("many_parameters", "def f(a, /, b, *c, **d): return a, b, c, d", (1, 2, 3, 4))

# ---------------------------------------------------------------- loops

program("for_loop", "def f(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s, i", (4,), (0,))
program("for_rebinds", "def f(x):\n    for x in x:\n        x = x + 1\n    return x", ([1, 2],), ([],))
program(
    "for_targets",
    "def f(v):\n    d = {}\n    for d['k'], (a, *b) in v:\n        say((d['k'], a, b))\n    for i, (a, b) in enumerate(zip('ab', v)): say(i)\n    return d, a, b",
    ([(1, (2, 3)), (4, "xyz")],),
)
program(
    "break_continue",
    """
def f(n):
    out = []
    for i in range(n):
        if i == 1: continue
        if i == 5: break
        out.append(i)
        if i % 2: continue
        out.append('even')
    return out
""",
    (0,),
    (3,),
    (9,),
)
program(
    "for_else",
    """
def f(v):
    for x in v:
        if x < 0: break
        if x == 7: return 'seven'
        say(x)
    else:
        say('else')
        return 'all'
    return x
""",
    ([],),
    ([1, 2],),
    ([1, -2, 3],),
    ([1, 7, -1],),
)
program(
    "for_else_nested",
    """
def f(v):
    for row in v:
        for x in row:
            if x == 0: break
            if x == 9: return row
        else:
            if len(row) > 2: continue
            say(row)
            break
        say('zero')
    else:
        return 'done'
    return 'broke'
""",
    ([],),
    ([[0]],),
    ([[1]],),
    ([[1, 2, 3], [0]],),
    ([[1, 2, 3], [4, 9]],),
    ([[1, 2, 3], []],),
)
program(
    "else_without_break",
    "def f(v):\n    for x in v:\n        if x: return x\n    else:\n        say('else')\n    while v:\n        v.pop()\n    else:\n        say(2)\n    return 3",
    ([],),
    ([0],),
    ([0, 5],),
)
program(
    "while_loop",
    "def f(n):\n    while n > 3 and n < 100:\n        n = n * 2\n        if n == 32: continue\n        if n > 60: break\n        say(n)\n    else:\n        return 'end', n\n    return n",
    (1,),
    (4,),
    (5,),
    (99,),
)
program(
    "while_true",
    "def f(n):\n    while True:\n        n -= 1\n        if n < 0: return 'negative'\n        if n == 5: break\n    return n",
    (3,),
    (9,),
    (5,),
)
program(
    "while_true_returns",
    "def f(n):\n    while 1:\n        while True:\n            n -= 1\n            if n < 0: return n\n            if n % 3: break\n        say(n)",
    (7,),
    (0,),
)
program(
    "while_walrus",
    "def f(v):\n    while (x := v.pop()) and x != 3:\n        if x == 4: continue\n        if x == 5: break\n        say(x)\n    else:\n        say('else')\n    return x, v",
    ([0, 1, 2],),
    ([9, 3, 4, 8],),
    ([1, 5, 6],),
)
program(
    "while_walrus_else_break",
    """
def f(v):
    for k in range(3):
        while (x := v.pop()) > k:
            if x == 9: break
        else:
            if x == k: continue
            break
        say((k, x))
    return k, x
""",
    ([0, 1, 2, 3],),
    ([9, 9, 9],),
    ([2, 5, 0],),
    ([2, 1, 0],),
)
program(
    "return_in_nested_loops",
    """
def f(n):
    for i in range(n):
        for j in range(n):
            while True:
                if i * j == 6: return i, j
                if j > i: break
                j += 1
            say((i, j))
        say(i)
    say('after')
    for k in range(3):
        if k == n: return k
    return 'end'
""",
    (0,),
    (1,),
    (2,),
    (3,),
    (5,),
)
program(
    "return_order",
    "def f(v):\n    for x in v:\n        if x: return say(x)\n        say('no')\n    return say('end')",
    ([0, 3, 0],),
    ([0],),
)
program(
    "return_then_more",
    """
def f(v, c):
    if c:
        for x in v:
            if x: return x
        say('loop done')
    say('tail')
    return c
""",
    ([0], 1),
    ([0, 2], 1),
    ([], 0),
)
program(
    "raise_in_loop",
    "def f(v):\n    for x in v:\n        if x == 0: raise ValueError('zero')\n        elif x < 0: break\n        say(x)\n    return 'ok'",
    ([1, 0],),
    ([1, -1, 0],),
    ([],),
)
program(
    "guards",
    "def f(x):\n" + "".join(f"    if x == {k}: return {k * k}\n" for k in range(40)) + "    return None",
    (0,),
    (39,),
    (40,),
)

# ---------------------------------------------------------------- comprehensions

program(
    "list_comprehension",
    "def f(v, k): return [say(x * k) for x in v if x if x > 1], [k for k in v], k",
    ([0, 1, 2, 3], 5),
)
program(
    "nested_comprehension",
    "def f(v): return [(x, y) for x in v for y in range(x) if y != 1], [[x + y for x in v] for y in v]",
    ([1, 2, 3],),
)
program("set_dict", "def f(v): return {x % 2 for x in v}, {say(x): say(x * x) for x in v if x}", ([0, 1, 2, 3],))
program(
    "comprehension_scope",
    "def f(x): return [x for x in x], x, [y := z for z in x], y, [(y, (y := y + z), y) for z in x], y",
    ([1, 2],),
)
program(
    "comprehension_iterables",
    "def f(x):\n    return [a for a in say(x) for b in say([a])], [i + j for i, j in zip(x, x)], {k: v for k, v in enumerate(x)}",
    ([1, 2],),
)
program(
    "generator_consumers",
    "def f(v): return sum(x for x in v), max((x for x in v), default=0), ','.join(str(x) for x in v), sorted((x for x in v), reverse=True), any(x > 1 for x in v), tuple(x for x in v)",
    ([1, 2],),
    ([],),
)
program("comprehension_leaves_outer", "def f(i):\n    s = sum([i for i in range(4)])\n    return s + i", (100,))
program(
    "comprehension_targets", "def f(v): return [(a, b) for a, *b in v], [x for [x] in [[1], [2]]]", (["ab", "cde"],)
)

# ---------------------------------------------------------------- nested functions

program(
    "nested_call",
    """
def f(x):
    def g(y, z=x):
        y = y + 1
        if y > 3: return y * z
        return say(y) - z
    x = 50
    return g(x) + g(1) + g(y=2, z=1)
""",
    (2,),
    (5,),
)
program("late_binding", "def f(x):\n    def g(): return x\n    a = g()\n    x = x + 1\n    return a, g()", (1,))
program(
    "nonlocal_inlined",
    """
def f(n):
    total = 0
    def add(v):
        nonlocal total
        total += v
        return total
    a = total + add(n) + total + add(2)
    total += add(3)
    return a, total, [total, add(1), total]
""",
    (5,),
)
program(
    "nonlocal_shared",
    """
def f(n):
    total = 0
    def add(v):
        nonlocal total
        total += v
        return total
    list(map(add, range(n)))
    a = total
    total += add(10)
    total = total - 1
    return a, total, add(1), total
""",
    (4,),
)
program(
    "inline_in_loop",
    """
def f(v):
    out = []
    for x in v:
        def g(y):
            for k in range(5):
                if k == y: return k
                if k * x > 6: break
            else:
                return 'else'
            return x
        out.append(g(x - 1))
        if g(0): continue
        out.append(x)
    return out
""",
    ([0, 1, 2, 3, 9],),
)
program(
    "inline_test",
    """
def f(n):
    k = 0
    def more():
        nonlocal k
        k += 1
        return k < n
    while more():
        if k == 3: continue
        say(k)
    else:
        say('else')
    return k if more() and not more() else -k
""",
    (0,),
    (5,),
)
program(
    "inline_nested",
    """
def f(x):
    def outer(a):
        def inner(b): return a * b + x
        t = inner(2)
        a = 10
        return t + inner(3)
    def twice(a): return outer(a) + outer(a + 1)
    return twice(x) + twice(1)
""",
    (3,),
)
program(
    "inline_star",
    "def f(x):\n    def g(a, *b, c=1, **d): return a, b, c, d\n    return g(1), g(1, 2, 3, c=x, e=say(5)), g(a=1)",
    (4,),
)
program("inline_wrong_call", "def f(x):\n    def g(a): return a\n    say(1)\n    return g(1, say(2))", (4,))
program(
    "immediate_lambda",
    "def f(x): return (lambda y, z=x: y * z + x)(say(x + 1)), (lambda *a: a)(x, x), (lambda: (x := 3))(), x",
    (4,),
)
program(
    "lambda_local",
    "def f(x):\n    sq = lambda t: t * t + x\n    y = sq(x) + sq(x + 1)\n    x = 0\n    return y + sq(1)",
    (2,),
)
program(
    "lambda_loop_late", "def f(n):\n    fs = [lambda t: t * i for i in range(n)]\n    return [g(10) for g in fs]", (3,)
)
program(
    "lambda_loop_default",
    "def f(n):\n    fs = [lambda t, i=i: t * i for i in range(n)]\n    return [g(10) for g in fs], fs[1](1, i=7)",
    (3,),
)
program(
    "closures_in_loop",
    """
def f(n):
    fs = []
    for i in range(n):
        def g(t, *, k=i):
            return t * i + k
        fs.append(g)
        i = -i
    return [g(10) for g in fs], fs[0](1, k=5), i
""",
    (3,),
)
program(
    "capture_values",
    "def f(x, y):\n    z = x * y\n    def g(t): return t * z + y\n    return [g(k) for k in range(3)], list(map(g, [5]))",
    (2, 3),
)
program("capture_rebound", "def f(x):\n    g = lambda: x\n    h = g\n    x += 1\n    return h(), g()", (2,))
program(
    "capture_before_bound",
    "def f(c):\n    def g(): return z\n    fs = [g]\n    if c: z = 5\n    return fs[0]()",
    (0,),
    (1,),
)
program("capture_one_arm", "def f(c):\n    if c: z = 5\n    g = [lambda: z]\n    say(1)\n    return g[0]()", (0,), (1,))
program("recursive", "def f(n):\n    def fact(k): return 1 if k < 2 else k * fact(k - 1)\n    return fact(n) + n", (5,))
program(
    "mutual_recursion",
    """
def f(n):
    def even(k): return True if k == 0 else odd(k - 1)
    def odd(k): return False if k == 0 else even(k - 1)
    return even(n), odd(n)
""",
    (4,),
    (3,),
)
program("defined_later", "def f(x):\n    def a(): return b() + 1\n    def b(): return x\n    return a()", (3,))
program("called_too_early", "def f(x):\n    y = g()\n    def g(): return x\n    return y", (3,))
program("defined_in_one_arm", "def f(x):\n    if x:\n        def g(): return x\n    return g()", (3,), (0,))
program("redefined", "def f(x):\n    def g(): return x\n    a = g()\n    def g(): return -x\n    return a, g()", (3,))
program(
    "decorated",
    "def twice(g): return lambda *a: g(*a) * 2\ndef f(x):\n    @twice\n    @twice\n    def g(t): return t + x\n    return g(1)",
    (3,),
)
program(
    "returned_closure",
    "def f(x):\n    def make(k):\n        def g(t):\n            nonlocal k\n            k += t\n            return k + x\n        return g\n    a, b = make(1), make(100)\n    return a(1), b(1), a(1), b(1)",
    (3,),
)
program(
    "closure_in_closure",
    "def f(x):\n    def g(a):\n        def h(b): return a * b + x\n        return list(map(h, [1, 2]))\n    return list(map(g, [3, 4]))",
    (3,),
)
program(
    "inline_inside_escaping",
    "def f(x):\n    def sq(t): return t * t + x\n    def g(a): return sq(a) + sq(a + 1)\n    return list(map(g, [3, 4])), [sq(i) for i in [1]]",
    (3,),
)
program(
    "inline_with_default_escaping",
    "def f(x):\n    def sq(t, k=say(x)): return t * t + k\n    return list(map(lambda a: sq(a) + sq(a, 1), [3, 4]))",
    (3,),
)
program(
    "captured_parameter_cell",
    "def f(x):\n    def g(k):\n        k = k + 1\n        r = [lambda: k]\n        k = k + 1\n        return r[0]()\n    return g(x) + g(10)",
    (3,),
)
program(
    "shadowing",
    "def f(x):\n    def g(x):\n        y = x + 1\n        return [x for x in range(y)], y\n    y = 7\n    return g(2), x, y",
    (3,),
)
program(
    "temporary_names",
    "def f(t1, t2):\n    t3 = t1 * t2 + t1 * t1\n    result = stop = returned = t3\n    for leave in range(2):\n        if leave * t3 > 1: return result, stop\n    return returned + t4_global\nt4_global = 5\ndef f(t1, t2):\n    t3 = t1 * t2 + t1 * t1\n    result = stop = returned = t3\n    for leave in range(2):\n        if leave * t3 > 1: return result, stop\n    return returned",
    (1, 2),
    (0, 0),
)
program(
    "inline_result_rebound",
    "def f(x):\n    def get(): return x\n    def bump():\n        nonlocal x\n        x += 1\n        return x\n    return get() + bump(), (get(), bump(), get()), x * bump()",
    (3,),
)
program("walrus_in_lambda", "def f(x):\n    g = lambda t: (y := t + 1) * y\n    return g(x) + g(1)", (3,))
program(
    "expansion",
    "def f(x):\n"
    + "    def g0(a): return a + x\n"
    + "".join(f"    def g{k}(a): return g{k - 1}(a) + g{k - 1}(a + 1)\n" for k in range(1, 9))
    + "    return g8(x)",
    (1,),
)
program(
    "all_at_once",
    """
def f(v):
    best, where = None, -1
    for i, x in enumerate(v):
        score = sum(abs(x - y) ** 2 for j, y in enumerate(v) if i != j)
        if best is None or score < best:
            best, where = score, i
        elif score == best and i % 2: continue
        if best == 0: break
    else:
        say('complete')
    return f"{best:.2f}@{where}"
""",
    ([1.0, 5.0, 2.5],),
    ([1.0, 1.0],),
    ([],),
)
program(
    "star_before_call",
    """
def f(v):
    it = iter(v)
    return max(*it, len(list(it))), [*v, v.append(9), *v], (*v, v.pop(), *v)
""",
    ([1, 2, 3],),
)
program(
    "any_all_stop",
    """
def f(v):
    return any(say(x) > 1 for x in v), all(say(x) < 2 for x in v if x), any(x > y for x in v for y in v), [x for x in v]
""",
    ([0, 1, 2, 3],),
    ([],),
    ([0, 1],),
)
program(
    "any_of_endless",
    """
import itertools
def f(k):
    return any(x > k for x in itertools.count())
""",
    (5,),
)
program(
    "chosen_lambda",
    "def f(c, x):\n    g = (lambda a: a + x) if c else (lambda a: a * x)\n    return g(3)",
    (0, 5),
    (1, 5),
)
program(
    "cell_update_order",
    """
def f(n):
    total = 1
    def add(v):
        nonlocal total
        total += v
        return v
    fs = [add]
    total += fs[0](5) + n
    return total
""",
    (2,),
)
program(
    "long_elif",
    "def f(x):\n    if x == 0: y = 0\n"
    + "".join(f"    elif x == {k}: y = {k * k}\n" for k in range(1, 90))
    + "    else: return 'no'\n    return y",
    (0,),
    (89,),
    (90,),
)
program(
    "tuples_in_an_index",
    "def f(k):\n    a = np.arange(24).reshape(2, 3, 4)\n    return a[:, (0, k)], a[[0, 1], (1, 2)], a[(0, k), 1:, ...]",
    (1,),
)
program(
    "inlined_in_inlined_in_escaping",
    """
def f(x):
    def outer(a):
        b = a + x
        def inner(c): return b * c
        return inner(a) + inner(2)
    def escapes(v): return outer(v) + x
    return list(map(escapes, [1, 2])), outer(5)
""",
    (3,),
)

# ---------------------------------------------------------------- combinations

program(
    "kwargs_order",
    """
def f(d): return dict(**d, b=say(1), **say({'c': 2}))
""",
    ({"a": 1},),
)
program(
    "dstar_mut",
    """
def f(d): return dict(**d, z=d.pop('a'))
""",
    ({"a": 1},),
)
program(
    "fstr",
    """
def f(x): return f'{x:{{}}}' if 0 else f'{x:>{len(str(x))+3}}' f'{x!r:^{10}.{2}}'
""",
    ("abc",),
)
program(
    "while_lambda",
    """
def f(n):
  g = lambda k: k < n
  i = 0
  while g(i) and (lambda z: z != 3)(i):
    i += 1
    if i == 7: break
  else: return 'e', i
  return i
""",
    (2,),
    (9,),
)
program(
    "comp_fn",
    """
def f(v):
  def g(x):
    if x > 1: return -x
    for k in range(x): return k
  return [g(x) for x in v if g(x) is not None], {x: g(x) for x in v}, sum(g(x) or 0 for x in v)
""",
    ([0, 1, 2, 3],),
)
program(
    "gen_in_inl",
    """
def f(v):
  def g(w): return sum(x for x in w if x in v)
  v = v[1:]
  return g(v), g([1,2])
""",
    ([0, 1, 2, 3],),
)
program(
    "recursive_closure_default",
    """
def f(n):
  def g(k, acc=[]):
    if k == 0: return acc
    acc.append(k)
    return g(k-1)
  return g(n)
""",
    (3,),
)
program(
    "cell_loop_for",
    """
def f(n):
  r = []
  for i, (a, b) in enumerate([(1,2),(3,4)]):
    r.append(lambda: (i, a, b))
  return [q() for q in r]
""",
    (3,),
)
program(
    "del_loop",
    """
def f(v):
  for i in v:
    x = i
    del x
  return v
""",
    ([1, 2],),
)
program(
    "nonlocal_for",
    """
def f(n):
  i = -1
  def g():
    nonlocal i
    for i in range(n): pass
    return i
  return g(), i, g() + i
""",
    (3,),
    (0,),
)
program(
    "inl_unpack",
    """
def f(n):
  a, b = 1, 2
  def g():
    nonlocal a, b
    a, b = b, a + b
    return a
  return [a, g(), a, b, g() * b + a], a, b
""",
    (3,),
)
program(
    "call_in_slice",
    """
def f(v):
  i = 0
  def nx():
    nonlocal i
    i += 1
    return i
  return v[i:nx():nx()], v[i], v[nx()] + v[i] * i
""",
    ([0, 1, 2, 3, 4, 5, 6, 7, 8],),
)
program(
    "aug_inl",
    """
def f(v):
  i = 0
  def nx():
    nonlocal i
    i += 1
    v[0] += 10
    return i
  v[i] += nx()
  v[i] += nx()
  i += nx()
  return v, i
""",
    ([0, 1, 2, 3, 4, 5, 6, 7, 8],),
)
program(
    "early_inl_args",
    """
def f(x):
  def g(a, b):
    if a: return b
  return g(x, g(b=1, a=x)), g(a=say(1), b=say(2)), g(b=say(3), a=say(4))
""",
    (0,),
    (1,),
)
program(
    "raise_inl",
    """
def f(x):
  def g(a):
    if a: raise ValueError(a)
    return 5
  y = g(x)
  def h(): raise KeyError(1)
  if y == 5: return y
  return h()
""",
    (0,),
    (1,),
)
program(
    "raise_inl2",
    """
def f(x):
  def h(): raise KeyError(1)
  y = h() + say(2)
  return y
""",
    (0,),
)
program(
    "inf_inl",
    """
def f(x):
  def h(k):
    while True:
      k += 1
      if k > 5: return k
  return h(x) + h(x+9)
""",
    (0,),
)
program(
    "lambda_nested_default",
    """
def f(x):
  g = lambda a, b=x: (lambda c, d=b: a + b + c + d)
  return g(1)(2), g(1, 2)(3, d=4)
""",
    (5,),
)
program(
    "cond_expr_inl",
    """
def f(x):
  def g():
    nonlocal x
    x += 1
    return x
  return x if g() > 1 else -x, x and g() and x, (x < g() < g()), x
""",
    (0,),
    (1,),
)
program(
    "param_cell_default",
    """
def f(x):
  def g(a, k=x):
    r = lambda: a * k
    a += 1
    k += 1
    return r
  return g(1)() + g(2, 3)()
""",
    (5,),
)
program(
    "star_param_inl",
    """
def f(x):
  def g(*a, **k):
    a = a + (1,)
    k['z'] = x
    return a, k
  return g(), g(1, q=2)
""",
    (5,),
)
program(
    "global_shadow_rows",
    """
def f(rows):
  return [r + 1 for r in rows], rows
""",
    ([1],),
)
program(
    "lam_walrus_scope",
    """
def f(x):
  y = 1
  g = lambda: (y := 5)
  return g() + y, [lambda: (y := 7)][0](), y
""",
    (5,),
)
program(
    "try_del",
    """
def f(x):
  y = x
  if x: del y
  return y
""",
    (0,),
    (1,),
)
program(
    "assert_inl",
    """
def f(x):
  def m(): return 'msg' + say('!')
  assert x, m()
  return x
""",
    (0,),
    (1,),
)
program(
    "annot_inner",
    """
def f(x):
  def g(a: undefined1 = 1) -> undefined2: return a + x
  return g()
""",
    (0,),
)
program(
    "attr_target_loop",
    """
class O: pass
def f(n):
  o = O()
  for o.i in range(n): say(o.i)
  for o.j, (o.k, *o.l) in [(1,(2,3))]: pass
  return o.i, o.j, o.k, o.l
""",
    (2,),
)
program(
    "set_disp",
    """
def f(a):
  x = {*a, len(a)}
  x |= {7}
  return sorted(x)
""",
    ([1, 2],),
)
program(
    "dstar_display",
    """
def f(d): return {**d, 'z': d.pop('a'), **d}, d
""",
    ({"a": 1},),
)
