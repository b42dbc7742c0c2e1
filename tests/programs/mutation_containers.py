"""Programs that change lists, dicts and sets in place."""

from __future__ import annotations

import numpy as np
from mutation_arrays import A, S, V, X

#: What is refused, with a rewrite in the message.
REFUSED: set[str] = set()
PROGRAMS: dict[str, tuple[str, tuple]] = {}


def p(name: str, args: tuple, text: str) -> None:
    assert name not in PROGRAMS, name
    PROGRAMS[name] = text, args


def lines(name: str, body: str, result: str, args: tuple = (S, 0.7), params: str = "a, b") -> None:
    p(name, args, f"def f({params}):\n" + "".join(f"    {x.strip()}\n" for x in body.split(";")) + f"    return {result}\n")


ALL = "sum((k + 1.0) * v * v for k, v in enumerate(xs))"

# ------------------------------------------------------------ lists of numbers
lines("append", "xs = []; xs.append(a); xs.append(a * b)", ALL)
lines("append_to_display", "xs = [a, b]; xs.append(xs[0] * xs[1])", ALL)
lines("extend_list", "xs = [a]; xs.extend([b, a * b])", ALL)
lines("extend_tuple", "xs = [a]; xs.extend((b, a * b))", ALL)
lines("extend_itself", "xs = [a, b]; xs.extend(xs)", ALL)
lines("extend_array", "xs = [a]; xs.extend(np.array([b, a * b]))", ALL)
lines("extend_generator", "xs = [a]; xs.extend(v * b for v in (a, b))", ALL)
lines("extend_range", "xs = [a]; xs.extend(range(3)); xs[1] = b", ALL)
lines("iadd_list", "xs = [a]; xs += [b, a * b]", ALL)
lines("iadd_alias", "xs = [a]; ys = xs; ys += [b]; xs[0] = b * b", ALL + " + ys[1]")
lines("add_makes_new", "xs = [a]; ys = xs; ys = ys + [b]; xs[0] = b * b", ALL + " + ys[0] * ys[1]")
lines("insert", "xs = [a, b]; xs.insert(1, a * b)", ALL)
lines("insert_front", "xs = [a, b]; xs.insert(0, a * b)", ALL)
lines("insert_negative", "xs = [a, b]; xs.insert(-1, a * b)", ALL)
lines("insert_beyond", "xs = [a, b]; xs.insert(9, a * b)", ALL)
lines("insert_far_below", "xs = [a, b]; xs.insert(-9, a * b)", ALL)
lines("pop", "xs = [a, b, a * b]; c = xs.pop()", ALL + " + c * a")
lines("pop_first", "xs = [a, b, a * b]; c = xs.pop(0)", ALL + " + c * a")
lines("pop_negative", "xs = [a, b, a * b]; c = xs.pop(-2)", ALL + " + c * c")
lines("pop_unused", "xs = [a, b, a * b]; xs.pop(1)", ALL)
lines("pop_then_append", "xs = [a, b]; xs.append(xs.pop(0) * xs.pop())", ALL)
lines("remove_number", "xs = [a, b, 3.0]; xs.remove(3.0)", ALL)
lines("clear", "xs = [a, b]; c = xs[0]; xs.clear(); xs.append(c * b)", ALL)
lines("reverse", "xs = [a, b, a * b]; xs.reverse()", ALL)
lines("sort", "xs = [a, b, a * b]; xs.sort()", ALL)
lines("sort_reverse", "xs = [a, b, a * b]; xs.sort(reverse=True)", ALL)
lines("sort_key", "xs = [a, b, a * b]; xs.sort(key=lambda v: -v)", ALL)
lines("sort_key_abs", "xs = [-a, b, a * b]; xs.sort(key=abs)", ALL)
lines("item", "xs = [a, b]; xs[0] = a * b; xs[1] = xs[0] * xs[1]", ALL)
lines("item_negative", "xs = [a, b]; xs[-1] = a * b", ALL)
lines("item_swap", "xs = [a, b]; xs[0], xs[1] = xs[1], xs[0]", ALL)
lines("item_add", "xs = [a, b]; xs[0] += b; xs[1] -= xs[0]; xs[0] *= a; xs[1] /= b", ALL)
lines("item_pow", "xs = [a, b]; xs[0] **= 2; xs[1] **= b", ALL)
lines("item_constant", "xs = [a, b]; xs[0] = 2.0", ALL)
lines("item_computed_index", "xs = [a, b]; k = len(xs) - 1; xs[k] = a * b", ALL)
lines("multiplied", "xs = [a] * 3; xs[1] = b", ALL)
lines("multiplied_zero", "xs = [0.0] * 3; xs[1] = b; xs[2] = xs[1] * a", ALL)
lines("multiplied_none", "xs = [None] * 2; xs[0] = b; xs[1] = xs[0] * a", ALL)
lines("slice_read", "xs = [a, b, a * b]; ys = xs[1:]; xs[1] = 2.0; ys[0] *= a", ALL + " + ys[0] * ys[1]")
lines("slice_assign", "xs = [a, b, a * b]; xs[1:] = [b, a]", ALL)
lines("slice_assign_longer", "xs = [a, b]; xs[1:] = [b, a, a * b]", ALL)
lines("slice_assign_empty", "xs = [a, b, a * b]; xs[:2] = []", ALL)
lines("slice_assign_strided", "xs = [a, b, a * b]; xs[::2] = [b, a]", ALL)
lines("del_item", "xs = [a, b, a * b]; del xs[1]", ALL)
lines("del_negative", "xs = [a, b, a * b]; del xs[-1]", ALL)
lines("del_slice", "xs = [a, b, a * b]; del xs[1:]", ALL)
lines("copy", "xs = [a, b]; ys = xs.copy(); xs[0] = b; ys[1] = a", ALL + " + ys[0] * ys[1]")
lines("copy_list", "xs = [a, b]; ys = list(xs); xs[0] = b; ys[1] = a", ALL + " + ys[0] * ys[1]")
lines("copy_slice", "xs = [a, b]; ys = xs[:]; xs[0] = b; ys[1] = a", ALL + " + ys[0] * ys[1]")
lines("copy_display", "xs = [a, b]; ys = [*xs, a]; xs[0] = b; ys[1] = a", ALL + " + ys[0] * ys[1]")
lines("tuple_of_list", "xs = [a, b]; t = tuple(xs); xs[0] = b", ALL + " + t[0] * t[1]")
lines("alias", "xs = [a, b]; ys = xs; ys[0] = b * b; ys.append(a)", ALL)
lines("nested", "xs = [a, b]; m = [xs, [a * b]]; m[0][0] = b * b; m[1].append(xs[0])", ALL + " + m[1][0] * m[1][1]")
lines("nested_shared", "xs = [a, b]; m = [xs, xs]; m[0][0] = b * b; m[1][1] *= a", ALL)
lines("nested_rows", "m = [[0.0] * 2 for _ in range(2)]; m[0][1] = a; m[1][0] = m[0][1] * b; xs = m[0] + m[1]", ALL)
lines("rows_shared_by_mistake", "m = [[0.0] * 2] * 2; m[0][1] = a; m[1][0] = m[0][1] * b; xs = m[0] + m[1]", ALL)
lines("sum_of_list", "xs = [a, b]; xs[0] = b; xs.append(a * a)", "sum(xs) * max(xs) + min(xs)")
lines("len_of_list", "xs = [a]; xs.append(b)", "sum(xs) * len(xs)")
lines("contains", "xs = [a]; xs.append(b); c = a if b in xs else b", "sum(xs) * c")
lines("unpack", "xs = [a, b]; xs.append(a * b); c, d, e = xs; xs[0] = d", "c * d + e * xs[0]")
lines("unpack_star", "xs = [a, b]; xs.append(a * b); c, *d = xs; d[0] = c", "c * d[0] + d[1]")
lines("np_array_of_list", "xs = [a, b]; xs[0] = a * b; y = np.array(xs); xs[1] = 5.0; y[0] *= a", "np.sum(y * y) + xs[0] * xs[1]")
lines("stack_then_replace", "xs = [np.array([a, b]), np.array([b, a])]; t = np.stack(xs); xs[0] = np.array([5.0, a])",
      "np.sum(t * t * np.arange(1.0, 5).reshape(2, 2)) + np.sum(xs[0] * xs[1])")  # fmt: skip
lines("sum_then_replace", "xs = [a, b]; t = sum(xs); xs[0] = b * b; u = sum(xs); xs.append(a)", "t * u + xs[0] * xs[2]")
lines("max_then_sort", "xs = [a, b]; t = np.dot(xs, xs); xs.sort()", ALL + " * t")
lines("array_then_pop", "xs = [a, b, a * b]; t = np.array(xs); xs.pop(0)", ALL + " * np.sum(t * t)")
lines("tuple_kept", "xs = [a, b]; t = (xs, a); t[0][1] = a * b", ALL + " * t[1]")
lines("list_of_tuples", "xs = []; m = []; m.append((a, b)); m.append((b, a * a)); xs = [u * v for u, v in m]", ALL)
lines("stack_discipline", "xs = [a, b]; c = xs.pop(); d = xs.pop(); xs.append(c * d); xs.append(d)", ALL)
lines("sorted_new", "xs = [a, b, a * b]; ys = sorted(xs); xs[0] = 0.0", ALL + " + ys[0] * ys[2]")
lines("reversed_new", "xs = [a, b, a * b]; ys = list(reversed(xs)); xs[0] = 0.0", ALL + " + ys[0] * ys[2]")
lines("deque", "from collections import deque; xs = deque([a]); xs.append(b); xs.appendleft(a * b)", ALL)

# ------------------------------------------------------------ dicts
lines("dict_item", "d = {}; d['x'] = a; d['y'] = d['x'] * b", "d['x'] * d['y']")
lines("dict_replace", "d = {'x': a}; d['x'] = d['x'] * b; d['x'] = d['x'] * b", "d['x'] ** 2")
lines("dict_add", "d = {'x': a}; d['x'] += b; d['x'] *= d['x']", "d['x'] ** 2")
lines("dict_update", "d = {'x': a}; d.update({'x': b, 'y': a * b})", "d['x'] * d['y']")
lines("dict_update_keywords", "d = {'x': a}; d.update(x=b, y=a * b)", "d['x'] * d['y']")
lines("dict_update_pairs", "d = {'x': a}; d.update([('x', b), ('y', a * b)])", "d['x'] * d['y']")
lines("dict_or", "d = {'x': a}; d |= {'x': b, 'y': a * b}", "d['x'] * d['y']")
lines("dict_or_new", "d = {'x': a}; e = d | {'x': b, 'y': a * b}; d['x'] = 2.0", "e['x'] * e['y'] * d['x']")
lines("setdefault_new", "d = {'x': a}; c = d.setdefault('y', b); d['y'] *= a", "d['x'] * d['y'] * c")
lines("setdefault_old", "d = {'x': a}; c = d.setdefault('x', b); d['x'] *= a", "d['x'] * c")
lines("setdefault_list", "d = {}; d.setdefault('x', []).append(a); d.setdefault('x', []).append(b)", "d['x'][0] * d['x'][1] ** 2")
lines("dict_pop", "d = {'x': a, 'y': b}; c = d.pop('x')", "c * c * d['y']")
lines("dict_pop_default", "d = {'x': a}; c = d.pop('z', b)", "c * c * d['x']")
lines("dict_del", "d = {'x': a, 'y': b}; c = d['x']; del d['x']; d['x'] = c * b", "d['x'] ** 2 * d['y']")
lines("dict_get", "d = {'x': a}; d['y'] = b; c = d.get('y', 1.0) * d.get('z', a)", "c * d['x']")
lines("dict_values", "d = {'x': a}; d['y'] = b * b; t = sum(d.values())", "t * d['x']")
lines("dict_items", "d = {'x': a}; d['y'] = b * b; t = 1.0;\n    for k, v in d.items(): t *= v + (k == 'x')", "t * d['x']")
lines("dict_items_changed", "d = {'x': a, 'y': b};\n    for k in list(d): d[k] *= a", "d['x'] * d['y']")
lines("dict_items_replaced", "d = {'x': a, 'y': b};\n    for k, v in d.items(): d[k] = v * v", "d['x'] * d['y'] ** 2")
lines("dict_copy", "d = {'x': a}; e = d.copy(); e['x'] *= b; d['x'] *= a", "d['x'] * e['x']")
lines("dict_of_dict", "d = {'x': a}; e = dict(d); e['x'] *= b; d['x'] *= a", "d['x'] * e['x']")
lines("dict_nested", "d = {'p': {'x': a}, 'q': [b]}; d['p']['x'] *= b; d['q'].append(d['p']['x'])", "d['p']['x'] * d['q'][0] * d['q'][1]")
lines("dict_alias", "d = {'x': a}; e = d; e['x'] = b * b; e['y'] = a", "d['x'] * d['y']")
lines("dict_computed_keys", "d = {};\n    for k in range(3): d[k] = a * k + b", "d[0] * d[1] * d[2]")
lines("dict_counting", "d = {};\n    for k in 'abca': d[k] = d.get(k, 0.0) + a * b", "d['a'] * d['b'] ** 2")
lines("defaultdict", "from collections import defaultdict; d = defaultdict(float); d['x'] += a; d['x'] += b", "d['x'] ** 2")
lines("dict_tuple_keys", "d = {}; d[0, 1] = a; d[1, 0] = d[0, 1] * b", "d[0, 1] * d[1, 0]")
lines("memo", "d = {};\n    for k in (1, 2, 1):\n        if k not in d: d[k] = a ** k\n        b = b * d[k]", "b + d[1]")
lines("dict_clear", "d = {'x': a}; c = d['x']; d.clear(); d['x'] = c * b", "d['x'] ** 2")
lines("dict_or_of_arrays", "d = {'x': x}; d |= {'x': x * b, 'n': b}; d |= [('y', d['x'] * x)]; d |= zip('z', [x * b]); d['z'][1] = b",
      "np.sum(d['x'] * d['y'] * d['z']) * d['n']", (X, 0.7), "x, b")
p("object_or_of_arrays", (X,), '''
class Box: pass
def f(x):
    box = Box()
    box.d = {'x': x}
    box.d |= {'x': x * 2}
    return np.sum(box.d['x'] * x)
''')
p("list_of_the_users_class", (X,), '''
class Trace(list):
    def total(self):
        return sum(v * v for v in self)
    def add(self, v):
        self.append(v)
def f(x):
    t, u = Trace(), Trace([x[0] * x[1]])
    for v in x:
        t.add(v * v)
    t.append(np.sum(x))
    u.append(t.pop(0))
    return t.total() * t[0] * u.total() + len(t)
''')
lines("dict_update_starred", "kw = {'y': x * b, 'n': b * b}; d = {'x': x}; d.update({'x': x}, z=kw['y'], **kw); d['z'][0] = 2.0",
      "np.sum(d['x'] * d['y']) * d['n'] + kw['n']", (X, 0.7), "x, b")
lines("list_methods_starred", "xs = [a]; xs.append(*[b]); xs.insert(*(0, a * b)); c = xs.pop(*(1,)); xs.append(c)", ALL)
lines("dict_popitem_of_array", "d = {'y': b, 'x': [x * b]}; k, v = d.popitem()", "np.sum(v[0] * x) * d['y']", (X, 0.7), "x, b")
lines("dict_popitem", "d = {'x': a, 'y': b}; k, v = d.popitem()", "v * v * d['x']")

# ------------------------------------------------------------ sets, arrays in containers, loops
lines("set_of_keys", "s = set(); t = 0.0;\n    for k in (1, 2, 1):\n        if k not in s: t += a * k\n        s.add(k)\n        t *= b", "t * len(s)")
lines("list_of_indices", "i = []; y = np.array([a, b, a * b]);\n    for k in range(3):\n        if y[k] > 0.8: i.append(k)", "np.sum(y[i] ** 2)")
p("arrays_stacked", (A, S), """
def f(x, s):
    rows = []
    for r in x:
        rows.append(r * s)
    return np.sum(np.stack(rows) ** 2)
""")
p("arrays_stacked_and_changed", (A, S), """
def f(x, s):
    rows = []
    for r in x:
        q = r * s
        rows.append(q)
        q[0] = s
        rows[0] *= s
    return np.sum(np.stack(rows) ** 2)
""")
p("arrays_replaced", (A, S), """
def f(x, s):
    rows = [r * s for r in x]
    for i in range(3):
        rows[i] = rows[i - 1] * rows[i]
        rows[i][0] = s
    return np.sum(np.array(rows) ** 2)
""")
p("states_kept", (X, S), """
def f(x, s):
    states = [x]
    for i in range(3):
        states.append(np.sin(states[-1]) * s)
    return sum(np.sum(q * q) for q in states)
""")
p("states_kept_by_reference", (X, S), """
def f(x, s):
    y = x * 1.0
    states = []
    for i in range(3):
        y *= s
        y[i] = s
        states.append(y)
    return sum(np.sum(q * q) for q in states)
""")
p("states_kept_by_copy", (X, S), """
def f(x, s):
    y = x * 1.0
    states = []
    for i in range(3):
        y *= s
        y[i] = s
        states.append(y.copy())
    return sum(np.sum(q * q) for q in states)
""")
p("parameters_updated", ({"w": A[:, :3], "b": V}, V), """
def f(p, x):
    for k in range(2):
        g = {"w": np.outer(x, x) * p["w"], "b": x * p["b"]}
        for name in p:
            p[name] -= 0.1 * g[name]
    return np.sum(p["w"] ** 2) + np.sum(p["b"] ** 3)
""")
p("parameters_rebound", ({"w": A[:, :3], "b": V}, V), """
def f(p, x):
    for k in range(2):
        g = {"w": np.outer(x, x) * p["w"], "b": x * p["b"]}
        for name in p:
            p[name] = p[name] - 0.1 * g[name]
    return np.sum(p["w"] ** 2) + np.sum(p["b"] ** 3)
""")
p("adam_like", ({"w": V, "b": S}, V), """
def f(p, x):
    m = {k: 0.0 for k in p}
    for t in range(3):
        g = {"w": x * np.tanh(p["w"]) * p["b"], "b": np.sum(p["w"])}
        for k in p:
            m[k] = 0.9 * m[k] + 0.1 * g[k]
            p[k] = p[k] - m[k]
    return np.sum(p["w"] ** 2) * p["b"]
""")
p("queue", (X, S), """
def f(x, s):
    queue = list(x)
    t = 0.0
    while len(queue) > 1:
        a = queue.pop(0)
        b = queue.pop(0)
        queue.append(a * b * s)
        t += a
    return t * queue[0]
""")
p("stack_machine", (X, S), """
def f(x, s):
    stack = []
    for op in ["x", "x", "*", "s", "+", "x", "-"]:
        if op == "x":
            stack.append(x[len(stack)])
        elif op == "s":
            stack.append(s)
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(a * b if op == "*" else a + b if op == "+" else a - b)
    return stack[0] ** 2
""")
p("pascal", (S,), """
def f(s):
    row = [1.0]
    for i in range(4):
        row.append(0.0)
        for j in range(len(row) - 1, 0, -1):
            row[j] = s * row[j] + row[j - 1]
    return sum(v * v for v in row)
""")
p("dynamic_programming", (X, V), """
def f(x, v):
    t = [[0.0] * (len(v) + 1) for _ in range(len(x) + 1)]
    for i in range(len(x)):
        for j in range(len(v)):
            t[i + 1][j + 1] = max(t[i][j] + x[i] * v[j], t[i + 1][j], t[i][j + 1])
    return t[-1][-1]
""")
p("grow_while_iterating", (S,), """
def f(s):
    xs = [s]
    for x in xs:
        if len(xs) < 5:
            xs.append(x * s + 0.1)
    return sum(xs)
""")
p("list_of_lists_iterated", (A, S), """
def f(x, s):
    rows = [[v for v in r] for r in x]
    for row in rows:
        for j in range(len(row)):
            row[j] *= s
        row.append(row[0])
    return sum(sum(v * v for v in row) for row in rows)
""")
p("enumerate_and_replace", (X, S), """
def f(x, s):
    xs = list(x)
    for i, v in enumerate(xs):
        xs[i] = v * s
        if i + 1 < len(xs):
            xs[i + 1] += xs[i]
    return sum(v * v for v in xs)
""")
p("zip_and_replace", (X, S), """
def f(x, s):
    xs, ys = list(x), list(x * s)
    for i, (u, v) in enumerate(zip(xs, ys)):
        ys[i] = u * v
        if i < 3:
            xs[i + 1] *= ys[i]
    return sum(u * v for u, v in zip(xs, ys))
""")
p("reversed_and_replace", (X, S), """
def f(x, s):
    xs = list(x)
    i = len(xs)
    for v in reversed(xs):
        i -= 1
        if i > 0:
            xs[i - 1] *= v * s
    return sum(v * v for v in xs)
""")
p("argument_nested_list", ([[0.5, 1.2], [S, -0.4]], S), """
def f(m, s):
    m[0][1] *= s
    m[1][0] = m[0][1] * m[0][0]
    m.append([s])
    return m[0][1] * m[1][0] + m[1][1] * m[2][0]
""")
p("argument_list_aliased_inside", ([0.5, 1.2], S), """
def f(m, s):
    t = {"m": m}
    t["m"][0] = s * m[1]
    t["m"].append(m[0])
    return m[0] * m[1] * m[2]
""")
p("argument_dict_of_lists", ({"a": [0.5, 1.2], "b": (S, 0.3)}, S), """
def f(d, s):
    d["a"][0] *= s
    d["a"].append(d["b"][0])
    d["c"] = d["b"][1] * s
    return d["a"][0] * d["a"][1] * d["a"][2] + d["c"]
""")
p("argument_list_sorted", ([0.5, 1.2, -0.4], S), """
def f(m, s):
    m.sort()
    m[0] = m[0] * s
    m.reverse()
    return m[0] * 2 + m[1] * 3 + m[2] * 5
""")
p("argument_popped", ([0.5, 1.2, -0.4], S), """
def f(m, s):
    a = m.pop()
    b = m.pop(0)
    return a * b * s + m[0]
""")
p("argument_returned_list", ([0.5, 1.2], S), """
def f(m, s):
    m[0] *= s
    m.append(s)
    return m
""")
p("result_list_of_arrays", (X, S), """
def f(x, s):
    out = []
    for i in range(2):
        y = x * s
        y[i] = s
        out.append(y)
    out[0][2] = 1.0
    return out
""")

p("list_times", (S,), """
def f(x):
    xs = [x, x * x]
    xs *= 2
    xs[3] *= x
    return sum(xs) * xs[1]
""")
p("list_times_with_arrays", (S,), """
def f(x):
    xs = [x, np.array([x, 2.0])]
    xs *= 3
    xs[1][0] *= x
    xs[3] = xs[3] * x
    return xs[0] * xs[2] * xs[3][0] * xs[1][0] * xs[4] * xs[5][1]
""")
p("list_times_nothing", (S,), """
def f(x):
    box = {"k": [x, x]}
    box["k"] *= 0
    box["k"].append(x * x)
    return sum(box["k"])
""")
p("gathered_from_an_item_of_unknown_kind", (X, np.array([1.0, 2.0, 3.0, 5.0]), S), """
def f(x, y, s):
    z = x[::-1]
    rows = [z.copy()]
    while np.abs(s) > 3.0:
        rows.extend([y, np.where(np.abs(x) > 0.3, np.array([e * s for e in x]), x)])
    y = rows[-1]
    x[[0, 2]], z[[1, 1]] = y[[-1, 3]], x[1:3]
    return np.sum(x * np.array([1.0, 2.0, 3.0, 4.0]))
""")
p("bits_beside_values", (S,), """
class Buffers:
    def __init__(self, x):
        self.kept, self.now = [x, x * x], 0

    def flip(self):
        self.now ^= 1
        return self.kept[self.now]


def f(x):
    buffers, flags = Buffers(x), {"seen": 1}
    y = buffers.flip()
    flags["seen"] <<= 2
    flags["seen"] &= 6
    return y * buffers.flip() * flags["seen"]
""")
p("items_of_an_attribute", (S,), """
class Layer:
    def __init__(self, x):
        self.params = {"w": x, "b": np.array([x, 2.0])}


def f(x):
    layer = Layer(x)
    for name, value in layer.params.items():
        layer.params[name] = value * x
    for value in layer.params.values():
        value += x
    return layer.params["w"] * layer.params["b"].sum()
""")
p("asked_while_they_change", (X,), """
def last_of(xs, v):
    if xs:
        return v * xs[-1]
    return v**3

def f(x):
    xs, memo, seen, now, t = [], {}, set(), np.zeros(1), 0.0
    for v in x:
        t += last_of(xs, v) + (memo and v * memo["k"] or v)
        t += v * v if seen else 5.0 * v
        if now:
            t = t * 2.0
        xs.append(v * v)
        memo["k"] = v
        seen.add(1)
        now[0] += 1.0
    while xs:
        v = xs.pop()
        if xs:
            t += v * xs[-1]
    return t
""")
