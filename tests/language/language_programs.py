"""What of Python's grammar is differentiated: the data behind ``docs/language.md`` and ``docs/limits.md``.

Run as a script, this file writes both pages anew; ``test_language.py`` checks that they are up to date and true.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class Node:
    """One node of the grammar: a function ``f(x)`` whose text has it, the derivative at 1.5 if it is supported."""

    name: str
    text: str
    derivative: float | None  # None: refused, with an entry of that name in LIMITS
    since: tuple[int, int] = (3, 10)
    remark: str = ""


@dataclass(frozen=True)
class Limit:
    """A program that is refused: why, and what to write instead (with its derivative at 1.5)."""

    name: str
    title: str
    text: str
    error: str
    reason: str
    rewrite: str
    derivative: float
    since: tuple[int, int] = (3, 10)
    calls: bool = True  # whether the derivative has to be taken, not only the text read


STATEMENTS = (
    Node("FunctionDef", "def f(x):\n    def g(y):\n        return y * x\n    return g(x)", 3.0),
    Node("AsyncFunctionDef", "async def f(x):\n    return x", None),
    Node("ClassDef", "def f(x):\n    class C:\n        pass\n    return x", None),
    Node("Return", "def f(x):\n    if x > 9:\n        return 0.0\n    return x * x", 3.0),
    Node("Delete", "def f(x):\n    y = x * x\n    del x\n    return y", 3.0),
    Node("Assign", "def f(x):\n    a = b = x * x\n    (c, d), [e] = (a, b), [x]\n    return c * e", 6.75),
    Node("TypeAlias", "def f(x):\n    type T = int\n    return x", None, (3, 12)),
    Node("AugAssign", "def f(x):\n    y = x\n    y *= x\n    return y", 3.0),
    Node("AnnAssign", "def f(x):\n    y: float = x * x\n    z: int\n    return y", 3.0),
    Node("For", "def f(x):\n    y = x\n    for k in range(3):\n        y = y * x\n    else:\n        y = y + x\n    return y", 14.5),
    Node("AsyncFor", "async def f(x):\n    async for k in x:\n        pass", None),
    Node("While", "def f(x):\n    y = x\n    while y < 5.0:\n        y = y * x\n    return y", 13.5),
    Node("If", "def f(x):\n    if x > 1.0:\n        y = x * x\n    elif x > 0.0:\n        y = x\n    else:\n        y = 0.0\n    return y", 3.0),
    Node("With", "def f(x):\n    with np.errstate(divide='ignore'):\n        y = np.log(x) * 3.0\n    return y", 2.0),
    Node("AsyncWith", "async def f(x):\n    async with x:\n        pass", None),
    Node("Match", "def f(x):\n    match (x, 2):\n        case (y, 2):\n            return y * y", 3.0),
    Node("Raise", "def f(x):\n    if x > 9.0:\n        raise ValueError('too big') from None\n    return x * x", 3.0),
    Node("Try", "def f(x):\n    y = x * x\n    try:\n        y = y * [1.0][k_out_of_range]\n    except NameError:\n        y = y * 2.0\n    finally:\n        y = y * x\n    return y", 13.5),
    Node("TryStar", "def f(x):\n    try:\n        y = x * x\n    except* ValueError:\n        y = x\n    return y", None, (3, 11)),
    Node("Assert", "def f(x):\n    assert x > 0.0, f'{x} is not positive'\n    return x * x", 3.0),
    Node("Import", "def f(x):\n    import math as m\n    return m.exp(x) / m.exp(x) * x", 1.0),
    Node("ImportFrom", "def f(x):\n    from math import pow\n    return pow(x, 2.0)", 3.0),
    Node("Global", "def f(x):\n    global LAST\n    LAST = x * x\n    return LAST * x", 6.75),
    Node("Nonlocal", "def f(x):\n    t = 1.0\n    def grow():\n        nonlocal t\n        t = t * x\n    grow()\n    grow()\n    return t", 3.0),
    Node("Expr", "def f(x):\n    'A docstring.'\n    [].append(x)\n    return x * x", 3.0),
    Node("Pass", "def f(x):\n    pass\n    return x * x", 3.0),
    Node("Break", "def f(x):\n    y = x\n    while True:\n        y = y * x\n        if y > 2.0:\n            break\n    return y", 3.0),
    Node("Continue", "def f(x):\n    y = x\n    for k in range(3):\n        if k == 1:\n            continue\n        y = y * x\n    return y", 6.75),
)  # fmt: skip

EXPRESSIONS = (
    Node("BoolOp", "def f(x):\n    return (x or 1.0) * (x and x)", 3.0),
    Node("NamedExpr", "def f(x):\n    return (y := x * x) + y", 6.0),
    Node("BinOp", "def f(x):\n    return x * x - x / 2 + x ** 2 % 100.0", 5.5),
    Node("UnaryOp", "def f(x):\n    return -x * +x * (not x < 0)", -3.0),
    Node("Lambda", "def f(x):\n    g = lambda y, k=2.0: y * x * k\n    return g(x)", 6.0),
    Node("IfExp", "def f(x):\n    return x * x if x > 1.0 else x", 3.0),
    Node("Dict", "def f(x):\n    d = {'a': x, **{'b': x * x}}\n    return d['a'] * d['b']", 6.75),
    Node("Set", "def f(x):\n    return x * x * len({1, 2, *[2]})", 6.0),
    Node("ListComp", "def f(x):\n    return sum([x * k for k in range(4) if k != 2])", 4.0),
    Node("SetComp", "def f(x):\n    return x * len({k % 2 for k in range(4)})", 2.0),
    Node("DictComp", "def f(x):\n    d = {k: x ** k for k in range(3)}\n    return d[2] + d[1]", 4.0),
    Node("GeneratorExp", "def f(x):\n    t = sum(x * k for k in range(4))\n    for y in (x * k for k in range(2)):\n        t = t + y\n    return t", 7.0),
    Node("Await", "async def f(x):\n    return await x", None),
    Node("Yield", "def f(x):\n    def powers(n):\n        for k in range(n):\n            yield x ** k\n    t = 0.0\n    for p in powers(3):\n        t = t + p\n    return t", 4.0),
    Node("YieldFrom", "def f(x):\n    def twice(ys):\n        yield from ys\n        yield from ys\n    return sum(twice([x, x * x]))", 8.0),
    Node("Compare", "def f(x):\n    return x * x * (0.0 < x <= 2.0 != 5)", 3.0),
    Node("Call", "def f(x):\n    def g(a, *b, c=1.0, **d):\n        return a * b[0] * c * d['e']\n    return g(x, *[x], **{'e': 2.0})", 6.0),
    Node("FormattedValue", "def f(x):\n    return x * len(f'{2:03d}')", 3.0),
    Node("JoinedStr", "def f(x):\n    return x * len(f'{x:.1f} and {1!r}')", 9.0),
    Node("Constant", "def f(x):\n    return x * 2 + 1.5 * x * True", 3.5),
    Node("Attribute", "def f(x):\n    return np.asarray(x).real * x", 3.0),
    Node("Subscript", "def f(x):\n    return [x, x * x][1]", 3.0),
    Node("Starred", "def f(x):\n    a, *b = [*[x, x], x]\n    return a * b[1]", 3.0),
    Node("Name", "def f(x):\n    return x", 1.0),
    Node("List", "def f(x):\n    return [x, 2.0][0]", 1.0),
    Node("Tuple", "def f(x):\n    return (x, 2.0)[0]", 1.0),
    Node("Slice", "def f(x):\n    return (np.ones(4) * x)[1:4:2].sum()", 2.0),
)  # fmt: skip

PATTERNS = (
    Node("MatchValue", "def f(x):\n    match 'a':\n        case 'a':\n            return x * x", 3.0),
    Node("MatchSingleton", "def f(x):\n    match None:\n        case None:\n            return x * x", 3.0),
    Node("MatchSequence", "def f(x):\n    match [x, [x]]:\n        case [a, [b]]:\n            return a * b", 3.0),
    Node("MatchMapping", "def f(x):\n    match {'a': x}:\n        case {'a': y}:\n            return y * y", 3.0),
    Node("MatchClass", "def f(x):\n    match x:\n        case float(y):\n            return y * y", 3.0),
    Node("MatchStar", "def f(x):\n    match [1, x, x]:\n        case [1, *rest]:\n            return rest[0] * rest[1]", 3.0),
    Node("MatchAs", "def f(x):\n    match x:\n        case y:\n            return y * y", 3.0),
    Node("MatchOr", "def f(x):\n    match 2:\n        case 1 | 2:\n            return x * x", 3.0),
)  # fmt: skip

_ASYNC = "A coroutine runs when an event loop lets it, so there is no one order in which its steps could be gone back."
_PLAIN = "def f(x):\n    return x * x"

LIMITS = (
    Limit("AsyncFunctionDef", "Coroutines", "async def f(x):\n    return x * x", "async", _ASYNC, _PLAIN, 3.0),
    Limit("AsyncFor", "`async for`", "async def f(xs):\n    async for x in xs:\n        pass", "async", _ASYNC, "def f(x):\n    t = 0.0\n    for y in [x, x * x]:\n        t = t + y\n    return t", 4.0),
    Limit("AsyncWith", "`async with`", "async def f(x):\n    async with x:\n        pass", "async", _ASYNC, "def f(x):\n    with np.errstate(all='ignore'):\n        return x * x", 3.0),
    Limit("Await", "`await`", "async def f(x):\n    return await x", "async", _ASYNC, _PLAIN, 3.0),
    Limit("class_of_an_object", "Objects that are given another class", "class Plain:\n    def scaled(self, y):\n        return y\n\nclass Twice(Plain):\n    def scaled(self, y):\n        return 2.0 * y\n\ndef f(x):\n    box = Plain()\n    box.__class__ = Twice\n    return box.scaled(x)", "given another class", "Which methods are called is settled by the class that an object was made with.", "class Plain:\n    def scaled(self, y):\n        return y\n\nclass Twice(Plain):\n    def scaled(self, y):\n        return 2.0 * y\n\ndef f(x):\n    box = Twice()\n    return box.scaled(x)", 2.0),
    Limit("ClassDef", "Classes defined inside the function", "def f(x):\n    class C:\n        k = 2.0\n    return C.k * x", "class definition inside the function", "Its methods would be functions without a source of their own, made anew by every call.", "class C:\n    k = 2.0\n\ndef f(x):\n    return C.k * x", 2.0),
    Limit("TypeAlias", "`type` statements inside the function", "def f(x):\n    type T = int\n    return x", "'type' statement", "It has no influence on the result, and no form in Python 3.10.", "def f(x):\n    return x", 1.0, (3, 12)),
    Limit("TryStar", "`except*`", "def f(x):\n    try:\n        y = x * x\n    except* ValueError:\n        y = x\n    return y", "'try' statement", "Several handlers of one statement may run.", "def f(x):\n    try:\n        y = x * x\n    except ValueError:\n        y = x\n    return y", 3.0, (3, 11)),
    Limit("generator_cleans_up", "Generators that have something to do when they are left for good, and that others may refer to", "def powers(x):\n    try:\n        yield x\n        yield x * x\n    finally:\n        print('done')\n\ndef f(x):\n    kept = [powers(x)]\n    return next(kept[0])", "around a 'yield'", "Python runs the `finally` when nobody refers to the generator any more.  A generator that is used up or closed, that a loop leaves, or that one variable refers to until the function ends, is fine; so are context managers.  One that is made by a function that is found only when the code runs, or returned by one, is not.", "def powers(x):\n    try:\n        yield x\n        yield x * x\n    finally:\n        print('done')\n\ndef f(x):\n    g = powers(x)\n    return next(g)", 1.0),
    Limit("yield_in_finally", "`yield` in a `finally` clause, where `return`, `break` or `continue` leaves the `try`, in a generator that is kept", "def powers(x):\n    for k in range(2):\n        try:\n            if k == 1:\n                return\n        finally:\n            yield x * k\n\ndef f(x):\n    g = powers(x)\n    return next(g) + next(g)", "a 'yield' in a 'finally' clause", "What is left would have to be gone on with after the `yield`.  What falls off the end of the `try`, or raises, is fine.", "def powers(x):\n    for k in range(2):\n        try:\n            leave = k == 1\n        finally:\n            yield x * k\n        if leave:\n            return\n\ndef f(x):\n    g = powers(x)\n    return next(g) + next(g)", 1.0),
    Limit("iterator_in_try", "Loops over iterators whose items are iterators and are taken apart, in a `try` whose handler sees what the loop has done", "def pair(x):\n    yield x\n    yield x * x\n\ndef pairs(x):\n    yield pair(x)\n    raise ValueError\n\ndef f(x):\n    t = 0.0\n    try:\n        for a, b in pairs(x):\n            t = t + a * b\n    except ValueError:\n        t = t * x\n    return t", "makes its own items one by one", "When taking it apart raises, part of such an item has been drawn.  Items that are tuples, lists or arrays are fine.  In a function made inside that is found only when the code runs, any loop over an iterator in such a `try` is refused.", "def pairs(x):\n    yield x, x * x\n    raise ValueError\n\ndef f(x):\n    t = 0.0\n    try:\n        for a, b in pairs(x):\n            t = t + a * b\n    except ValueError:\n        t = t * x\n    return t", 13.5),
    Limit("exception_values", "Values in exceptions that a comparison inside of `sorted`, `max` or `min` raises", "class Stop(Exception):\n    def __init__(self, value):\n        self.value = value\n\nclass Node:\n    def __init__(self, v):\n        self.v = v\n    def __lt__(self, other):\n        raise Stop(self.v * other.v)\n\ndef f(x):\n    try:\n        return sorted([Node(x), Node(x * x)])[0].v\n    except Stop as e:\n        return e.value", "called unseen", "Which objects are compared is the business of these functions.  What a `key` raises is followed, and so is what functions, methods, properties, setters and operators raise.", "class Stop(Exception):\n    def __init__(self, value):\n        self.value = value\n\nclass Node:\n    def __init__(self, v):\n        self.v = v\n    def __lt__(self, other):\n        raise Stop(self.v * other.v)\n\ndef f(x):\n    a, b = Node(x), Node(x * x)\n    try:\n        return b.v if b < a else a.v\n    except Stop as e:\n        return e.value", 6.75),
    Limit("operator_half_done", "Operators in place, and methods named like those of a list, of objects of classes found only when the code runs, that raise when they have changed something", "class Meter:\n    def __init__(self, v):\n        self.v = v\n    def __iadd__(self, y):\n        self.v = self.v * y\n        if y > 1.0:\n            raise ValueError\n        return self\n\ndef f(x):\n    for meter in [1.0, Meter(x)]:\n        try:\n            meter += x\n        except ValueError:\n            return meter.v", "inside a 'try' after it had changed something", "It is found out when they raise.  Methods of other names and functions may raise at any time, whether they are called by their names or found when the code runs; so may operators in place of objects whose class is known.", "class Meter:\n    def __init__(self, v):\n        self.v = v\n    def scale(self, y):\n        self.v = self.v * y\n        if y > 1.0:\n            raise ValueError\n        return self\n\ndef f(x):\n    for meter in [Meter(x)]:\n        try:\n            meter.scale(x)\n        except ValueError:\n            return meter.v", 3.0),
    Limit("cached_property", "`cached_property` of what is changed once it was read", "import functools\n\nclass Box:\n    def __init__(self, w):\n        self.w = w\n    @functools.cached_property\n    def square(self):\n        return self.w * self.w\n\ndef f(x):\n    box = Box(x)\n    y = box.square\n    box.w = 2.0 * x\n    return y * box.square", "the cached_property Box.square", "It is computed wherever it is read, which is what was remembered as long as the program changes nothing that it is computed from, once the object is made, nor what it gave.", "class Box:\n    def __init__(self, w):\n        self.w, self._square = w, None\n    @property\n    def square(self):\n        if self._square is None:\n            self._square = self.w * self.w\n        return self._square\n\ndef f(x):\n    box = Box(x)\n    y = box.square\n    box.w = 2.0 * x\n    return y * box.square", 13.5),
    Limit("set_methods", "Methods that make a set of sets of objects", "class Node:\n    def __init__(self, v):\n        self.v = v\n\ndef f(x):\n    a, b = {Node(x)}, {Node(x * x)}\n    return sum(n.v for n in a.union(b))", "of a set of objects", "They take any iterable, of whose items nothing is known; `add`, `update`, `discard` and the like are fine.", "class Node:\n    def __init__(self, v):\n        self.v = v\n\ndef f(x):\n    a, b = {Node(x)}, {Node(x * x)}\n    return sum(n.v for n in a | b)", 4.0),
    Limit("memo", "Memos and other objects of functions, classes and default values that outlive the call", "def square(x, memo={}):\n    if x not in memo:\n        memo[x] = x * x\n    return memo[x]\n\ndef f(x):\n    return square(x)", "memo_default outlives the call", "What is found there may stem from another call, and would count as a constant.  Lists, dicts, arrays and objects that are global or captured variables, or reached from one, are followed: what a call puts into them and reads again has its derivative, and they hold plain numbers afterwards.  What an earlier call has left there counts as a constant, and its reader is warned by name (`KeptValueWarning`); so is one of a variable that is read in a call that does not assign it.  Objects with a `cached_property` are refused where their attributes would be followed.", "import functools\n\n@functools.cache\ndef square(x):\n    return x * x\n\ndef f(x):\n    return square(x)", 3.0),
    Limit("shared_inside", "Derivatives taken inside, of functions that share variables with others", "import thunkad as ad\n\nSCALE = 1.0\n\ndef scaled(y):\n    return y * y * SCALE\n\ndef f(x):\n    global SCALE\n    SCALE = x * x\n    return ad.grad(scaled)(x)", "a derivative, or a checkpoint, of", "It is run by itself, and again in the reverse sweep, when the variable has another value.", "import thunkad as ad\n\ndef scaled(y, scale):\n    return y * y * scale\n\ndef f(x):\n    return ad.grad(scaled)(x, x * x)", 13.5),
    Limit("log_inside", "Values that are put into a list from outside, in derivatives taken inside", "import thunkad as ad\n\nLOG = []\n\ndef loss(y):\n    z = y * y\n    LOG.append(np.array([z]))\n    return z * y\n\ndef f(x):\n    return ad.grad(loss)(x) * x", "LOG", "A derivative inside is run by itself, without what the program shares with others.  In a derivative that is not taken inside, and in forward mode over a gradient (`hvp`, `hessian`), such logs may hold differentiated values; plain numbers (`LOG.append(float(z))`) they may hold everywhere.", "import thunkad as ad\n\nLOG = []\n\ndef loss(y):\n    z = y * y\n    LOG.append(ad.stop_gradient(np.array([z])))\n    return z * y\n\ndef f(x):\n    return ad.grad(loss)(x) * x", 20.25),
    Limit("log_changed", "Arrays that are put into a list from outside under one name of it, and changed in place under another", "LOG = []\n\ndef f(x):\n    rows = LOG\n    y = np.array([x, x * x])\n    rows.append(y)\n    LOG[-1][0] = 5.0\n    return np.sum(y)", "put there under another name", "Only when the code runs is it known that both lead to one array.", "LOG = []\n\ndef f(x):\n    rows = LOG\n    y = np.array([x, x * x])\n    rows.append(y)\n    rows[-1][0] = 5.0\n    return np.sum(y)", 3.0),
    Limit("hook_twice", "`hook` in second derivatives and in forward mode", "import thunkad as ad\n\ndef f(x):\n    y = ad.hook(x * x, print)\n    return ad.grad(lambda z: ad.hook(z * z, print) * x)(x) + y", "hook", "A hook replaces a cotangent, and what is left is no derivative of the function any more; forward mode has no cotangents to look at.", "import thunkad as ad\n\ndef f(x):\n    y = ad.hook(x * x, print)\n    return ad.grad(lambda z: z * z * x)(x) + y", 9.0),
    Limit("frame", "Looking at the running function", "def f(x):\n    y = x * x\n    return locals()['y']", "looks at the running function", "Generated code has other variables than the function that it stands for.", "def f(x):\n    y = x * x\n    return {'y': y}['y']", 3.0),
)  # fmt: skip


def language_page() -> str:
    """``docs/language.md``."""
    refused = {limit.name: limit for limit in LIMITS}
    out = [
        "# The language\n",
        "Every node of Python's grammar, 3.10 to 3.13.  Generated from `tests/language/language_programs.py`, which has a",
        "program for each; `tests/language/test_language.py` runs them all.  What is refused, and what to write instead,",
        "is on the page [Limits](limits.md).\n",
    ]
    for title, nodes in (("Statements", STATEMENTS), ("Expressions", EXPRESSIONS), ("Patterns", PATTERNS)):
        out += [f"## {title}\n", "| node | | test |", "|---|---|---|"]
        for node in nodes:
            state = "supported" if node.derivative is not None else f"refused: {refused[node.name].title.lower()}"
            if node.since > (3, 10):
                state += f" (Python {node.since[0]}.{node.since[1]})"
            if node.remark:
                state += f"; {node.remark}"
            test = "test_supported" if node.derivative is not None else "test_refused"
            out.append(f"| `{node.name}` | {state} | `{test}[{node.name}]` |")
        out.append("")
    return "\n".join(out)


def limits_page() -> str:
    """``docs/limits.md``."""
    out = [
        "# Limits\n",
        "Programs that are refused, each with the reason and a rewrite that works.  Generated from",
        "`tests/language/language_programs.py`; each program and each rewrite is a test.  Nothing here gives a wrong",
        "number: what is refused raises an error that names the file, the line and what to do.\n",
    ]
    for limit in LIMITS:
        out += [f"## {limit.title}\n", "```python", textwrap.dedent(limit.text), "```\n", f"{limit.reason}  Instead:\n"]
        out += ["```python", textwrap.dedent(limit.rewrite), "```\n"]
    out += [
        "## Forward mode and second derivatives\n",
        "Every program of the tables in `tests/programs` is differentiated in both modes and twice",
        "(`tests/programs/test_every_program.py`).  The conditions of derivatives of derivatives are on the page",
        "[Forward mode](forward.md#conditions-and-what-is-refused).",
    ]
    return "\n".join([*out, "", EDGES + TEXT + LIBRARY_CODE])


EDGES = """\
## Points at which a formula has no derivative

What is differentiated is the formula as it is written, operation by operation.  Where an operation has an infinite or no
slope, `0 * inf` is NaN, although the function itself may have a derivative there; the rules of the library have a finite
value where there is one for the operation alone (`abs`, `np.linalg.norm`, `np.std` at 0 and the like: 0).  The rewrites
give the derivative; `tests/rules/test_tricky_points.py` shows both.

| written | at | gives | write instead |
|---|---|---|---|
| `np.where(x < 1, 2 * x, np.sqrt(x))` | 0 | NaN, from the arm that is not selected | `safe = np.where(x < 1, 1.0, x)`, then `np.where(x < 1, 2 * x, np.sqrt(safe))` |
| `1 / (1 + np.exp(-x))` | -800 | NaN: `exp` overflows | `0.5 * (1 + np.tanh(x / 2))`, or `scipy.special.expit(x)` |
| `np.log(x)`, `np.log1p(x)`, `np.arctanh(x)` of a Python float | their pole | a `ZeroDivisionError`, since the slope divides Python floats | `np.log(np.float64(x))`: infinite, with NumPy's warning |
| `np.linalg.norm(x) ** 2` | 0, second derivative | 0, since the slope of the norm is taken to be 0 there | `x @ x` |

"""
TEXT = """\
## Numbers that go through text or bytes

`float(str(x))`, `float("%.17g" % x)`, `np.frombuffer(x.tobytes())`: what is printed, written or packed has no derivative, and
what is read from it is a number like any other.  It counts as a constant, without an error, since a log line or a key of a
cache is made in the same way.

"""
LIBRARY_CODE = """\
## Library code

What your function calls in the standard library or in an installed package, and that has no rule, is looked into like
your own code: a package of NumPy functions is differentiated as well as your modules are.  Behind one call may lie a
whole library, though.  So each function by which your code enters such code may reach 2000 statements (in normal form,
functions that it calls included).  One that reaches further, or that needs what has no rule or can't be differentiated, is
refused with a `NoRuleError` that names your line, the function, and how far it was looked into:

```python
def f(a):
    return scipy.optimize.linprog([a, 1.0], bounds=(0, 1)).fun
```

Instead, write a rule (`thunkad.rrule`), or declare the function constant (`thunkad.non_differentiable`); the next call finds
it.  Your own code has no such budget, whatever its length.  What counts as library code is decided by where the file lies:
in the standard library, or below `site-packages` or `dist-packages`; a package installed in editable mode is your own.

A call of such a function with nothing differentiated in it runs as it stands, but has to leave arrays that it is given
as they are; that is checked when it runs.  `tests/compiled/test_reach.py` shows all of this.
"""


if __name__ == "__main__":
    (DOCS / "language.md").write_text(language_page())
    (DOCS / "limits.md").write_text(limits_page())
