"""Programs that use what Python's standard library has for functions, objects and containers."""

from __future__ import annotations

import collections
import functools
from typing import Any

import pytest
import thunkad as ad

from checking import Program
from tables import check, programs

FUNCTIONS = """
=== partialmethod | x = A
import functools
class P:
    def __init__(self, v):
        self.v = v
    def scaled(self, k):
        return self.v * k
    doubled = functools.partialmethod(scaled, 2.0)
def f(x):
    return P(x[0]).doubled() * x[1]
=== statistics | x = A
import statistics
from statistics import stdev
def f(x):
    v = [a * a for a in x]
    m, p = statistics.mean(v), statistics.pvariance(v, mu=x[0])
    spread = stdev(v) * statistics.pstdev(v) + statistics.variance(v, m)
    means = statistics.fmean(v) * statistics.geometric_mean(v) * statistics.harmonic_mean(v, weights=[x[0], 1.0, 2.0])
    return sum(((a - m) / spread) ** 3 for a in v) + means + p * statistics.mean(a * m for a in x)
=== places_in_a_sorted_list | x = A
import bisect
def f(x):
    xs = sorted(x)
    k = bisect.bisect(xs, x[0] * 0.9) + bisect.bisect_left(xs, float(x[2]))
    return k * xs[1] * x[0]
=== heaps | x = A
import heapq
def f(x):
    heap, out = [v * 2.0 for v in x], []
    heapq.heapify(heap)
    a, b = heapq.heapreplace(heap, x[0] * x[1]), heapq.heappushpop(heap, x[2] * 3.0)
    heapq.heappush(heap, a * b)
    while heap:
        out.append(heapq.heappop(heap))
    return sum(k * v for k, v in enumerate(out)) * a + b
=== method_of_list_in_dict | x = A
COPIES = {'list': list.copy, 'dict': dict.copy, 'array': np.ndarray.copy}
def f(x):
    xs, d, w = [x[0], x[1]], {'a': x[0]}, x * 1.0
    ys, e, z = COPIES['list'](xs), COPIES['dict'](d), COPIES['array'](w)
    ys[0] = x[2] * x[0]
    e['a'] = x[2] * x[1]
    z[0] = x[2] * x[2]
    return xs[0] * ys[0] * ys[1] + d['a'] * e['a'] + w[0] * z[0]
=== itemgetter | x = A
import operator
def f(x):
    g = operator.itemgetter(1)
    return g(x) * 2.0 * x[0]
=== itemgetter_key | x = A
import operator
def f(x):
    xs = [(x[0], 1.0), (x[1] * x[0], 2.0), (x[2], 3.0)]
    s = sorted(xs, key=operator.itemgetter(0))
    t = 0.0
    for k, (a, b) in enumerate(s):
        t = t + (k + 1) * a * b
    return t
=== itemgetter_global | x = A
import operator
first = operator.itemgetter(0, 2)
def f(x):
    a, b = first(x)
    return a * b
=== attrgetter | x = A
import operator
class P:
    def __init__(self, v, w):
        self.v = v
        self.w = w
def f(x):
    ps = [P(x[0], 1.0), P(x[1], 2.0), P(x[2], 3.0)]
    ps.sort(key=operator.attrgetter('v'))
    t = 0.0
    for k, p in enumerate(ps):
        t = t + (k + 1) * p.v * p.w
    return t
=== attrgetter_two | x = A
import operator
class P:
    def __init__(self, v, w):
        self.v = v
        self.w = w
get = operator.attrgetter('v', 'w')
def f(x):
    a, b = get(P(x[0], x[1]))
    return a * b
=== methodcaller | x = A
import operator
class P:
    def __init__(self, v):
        self.v = v
    def scaled(self, k, by=1.0):
        return self.v * k * by
def f(x):
    m = operator.methodcaller('scaled', 2.0, by=x[0])
    return sum(map(m, [P(x[1]), P(x[2])]))
=== methodcaller_array | x = A
import operator
m = operator.methodcaller('sum')
def f(x):
    return m(x * x)
=== singledispatch | x = A
import functools
@functools.singledispatch
def area(s):
    raise TypeError
@area.register
def _(s: float):
    return s * s
@area.register
def _(s: np.ndarray):
    return np.sum(s * s * s)
@area.register(list)
def _(s):
    return s[0] * 2.0
def f(x):
    return area(x) + area([x[0]]) + area(float(x[1]))
=== singledispatch_class | x = A
import functools
class Sq:
    def __init__(self, a): self.a = a
class Ci:
    def __init__(self, r): self.r = r
@functools.singledispatch
def area(s):
    raise TypeError
@area.register
def _(s: Sq):
    return s.a * s.a
@area.register
def _(s: Ci):
    return 3.1 * s.r * s.r
def f(x):
    shapes = [Sq(x[0]), Ci(x[1]), Sq(x[2])]
    t = 0.0
    for s in shapes:
        t = t + area(s)
    return t
=== singledispatchmethod | x = A
import functools
class V:
    def __init__(self, k): self.k = k
    @functools.singledispatchmethod
    def ap(self, s):
        return s * self.k
    @ap.register
    def _(self, s: list):
        return s[0] * self.k * self.k
def f(x):
    v = V(x[0])
    return v.ap(x[1]) + v.ap([x[2]])
=== reduce_op | x = A
import functools, operator
def f(x):
    return functools.reduce(operator.mul, [x[0], x[1], x[2]])
=== sd_unknown | x = A
import functools
class Sq:
    def __init__(self, a): self.a = a
class Ci:
    def __init__(self, r): self.r = r
@functools.singledispatch
def area(s, k=1.0):
    raise TypeError
@area.register
def _(s: Sq, k=1.0):
    return s.a * s.a * k
@area.register
def _(s: Ci, k=1.0):
    return 3.1 * s.r * s.r * k
def f(x):
    shapes = {'a': Sq(x[0]), 'b': Ci(x[1]), 'c': Sq(x[2])}
    return sum(map(area, shapes.values())) + area(shapes['b'], k=x[0])
=== sdm_unknown | x = A
import functools
class V:
    def __init__(self, k): self.k = k
    @functools.singledispatchmethod
    def ap(self, s):
        return s * self.k
    @ap.register
    def _(self, s: list):
        return s[0] * self.k * self.k
def f(x):
    vs = [V(x[0]), V(x[1])]
    t = 0.0
    for v in vs:
        t = t + v.ap(x[2]) * v.ap([x[1]])
    g = vs[0].ap
    return t + g(x[0])
=== sd_mutating | x = A
import functools
@functools.singledispatch
def grow(s, by):
    raise TypeError
@grow.register
def _(s: list, by):
    s.append(by)
@grow.register
def _(s: np.ndarray, by):
    s[0] = by
def f(x):
    xs, w = [x[0]], x * 1.0
    grow(xs, x[1] * x[0])
    grow(w, x[2] * x[0])
    return xs[0] * xs[1] * np.sum(w)
=== sd_returns_function | x = A
import functools
@functools.singledispatch
def act(kind, v):
    return v
@act.register
def _(kind: str, v):
    return np.sin(v) if kind == 'sin' else np.cos(v)
@act.register
def _(kind: int, v):
    return v ** kind
def f(x):
    t = 0.0
    for k in ['sin', 2, 'cos', None, 3]:
        t = t + np.sum(act(k, x))
    return t
=== mc_active | x = A
import operator
class P:
    def __init__(self, v):
        self.v = v
    def grow(self, k):
        self.v = self.v * k
        return self.v
def f(x):
    ps = [P(x[0]), P(x[1])]
    m = operator.methodcaller('grow', x[2])
    return sum(m(p) for p in ps) + m(ps[0])
=== ig_minmax | x = A
import operator
def f(x):
    pairs = [(v * v, k) for k, v in enumerate(x)]
    v, k = max(pairs, key=operator.itemgetter(0))
    w, _ = min(pairs, key=operator.itemgetter(0))
    return v * x[k] + w
=== ig_map | x = A
import operator
def f(x):
    pairs = [(v * v, k * v) for k, v in enumerate(x)]
    return sum(map(operator.itemgetter(1), pairs)) * sum(map(operator.itemgetter(0), pairs))
=== ag_dotted | x = A
import operator
class Q:
    def __init__(self, u): self.u = u
class P:
    def __init__(self, q): self.q = q
get = operator.attrgetter('q.u')
def f(x):
    return get(P(Q(x[0] * x[1]))) * x[2]
=== slots_callable | x = A
class Scale:
    __slots__ = ('k',)
    def __init__(self, k): self.k = k
    def __call__(self, v): return v * self.k
def ap(g, v): return g(v)
def f(x):
    s = Scale(x[0])
    return ap(s, x[1]) + sum(map(s, [x[2], x[1]]))
"""


@pytest.mark.parametrize("program", programs(FUNCTIONS))
def test_functions(program: Program) -> None:
    check(program)


COPIES = """
=== copy_copy_list | x = A
import copy
def f(x):
    xs = [x[0], x[1]]
    ys = copy.copy(xs)
    ys[0] = x[2] * x[0]
    return xs[0] * ys[0] * ys[1]
=== copy_copy_array | x = A
import copy
def f(x):
    ys = copy.copy(x)
    ys[0] = x[2] * x[0]
    return np.sum(x * ys)
=== deepcopy_list | x = A
import copy
def f(x):
    xs = [x * 1.0, [x[1], x[0]]]
    ys = copy.deepcopy(xs)
    ys[0][0] = x[2] * x[0]
    ys[1][0] *= 2.0
    return np.sum(xs[0] * ys[0]) * ys[1][0] * xs[1][0]
=== deepcopy_array | x = A
import copy
def f(x):
    ys = copy.deepcopy(x)
    ys[0] = x[2] * x[0]
    return np.sum(x * ys)
=== deepcopy_object | x = A
import copy
class P:
    def __init__(self, v, w):
        self.v = v
        self.w = w
def f(x):
    p = P(x * 1.0, [x[0]])
    q = copy.deepcopy(p)
    q.v[0] = 3.0 * x[1]
    q.w[0] = q.w[0] * x[2]
    return np.sum(p.v * q.v) + p.w[0] * q.w[0]
=== copy_object | x = A
import copy
class P:
    def __init__(self, v, w):
        self.v = v
        self.w = w
def f(x):
    p = P(x * 1.0, [x[0]])
    q = copy.copy(p)
    q.v[0] = 3.0 * x[1]
    q.w = [q.w[0] * x[2]]
    return np.sum(p.v * q.v) + p.w[0] * q.w[0]
=== deepcopy_dict | x = A
import copy
def f(x):
    d = {'a': x * 1.0, 'b': x[0]}
    e = copy.deepcopy(d)
    e['a'] *= 2.0
    e['b'] = e['b'] * x[1]
    return np.sum(d['a'] * e['a']) + d['b'] * e['b']
=== copy_dict | x = A
import copy
def f(x):
    d = {'a': x[0], 'b': x * 1.0}
    e = copy.copy(d)
    e['a'] = x[1] * x[2]
    e['b'][0] = x[2] * x[2]
    return d['a'] * e['a'] + np.sum(d['b'] * e['b'])
=== copy_own | x = A
import copy
class P:
    def __init__(self, v): self.v = v
    def __copy__(self): return P(self.v * 2.0)
def f(x):
    p = P(x[0])
    return copy.copy(p).v * p.v
=== deepcopy_shared | x = A
import copy
def f(x):
    row = [x[0], x[1]]
    m = copy.deepcopy([row, row])
    m[0][0] = x[2] * x[0]
    return m[1][0] * row[0] + m[1][1]
=== deepcopy_nested_objects | x = A
import copy
class N:
    def __init__(self, v, child):
        self.v = v
        self.child = child
def f(x):
    root = N(x[0], N(x[1], N(x[2] * x[0], None)))
    c = copy.deepcopy(root)
    c.child.v = c.child.v * x[2]
    c.child.child.v *= 3.0
    root.v = root.v * 2.0
    return c.v * c.child.v * c.child.child.v * root.child.child.v * root.v
=== deepcopy_cyclic | x = A
import copy
class N:
    def __init__(self, v):
        self.v = v
        self.up = None
        self.down = None
def f(x):
    a, b = N(x[0]), N(x[1])
    a.down, b.up = b, a
    c = copy.deepcopy(a)
    c.down.v = c.down.v * x[2]
    return c.down.up.v * c.down.v * c.down.up.down.v * b.v
=== deepcopy_arg | p = dict(a=A, b=[B, 0.4])
import copy
def f(p):
    q = copy.deepcopy(p)
    for k in range(3):
        q['a'] += q['b'][0] * q['b'][1]
        q['b'][1] = q['b'][1] * 1.5
    return np.sum(q['a'] * p['a']) * q['b'][1]
=== deepcopy_no_mutation | p = dict(a=A, b=[B, 0.4])
import copy
def f(p):
    q = copy.deepcopy(p)
    return np.sum(q['a'] * p['b'][0]) * q['b'][1]
=== deepcopy_dataclass | x = A
import copy, dataclasses
@dataclasses.dataclass
class P:
    v: float
    ws: list
def f(x):
    p = P(x[0], [x[1], x * 1.0])
    q = copy.deepcopy(p)
    q.ws[1][0] = q.v * x[2]
    q.ws.append(x[0])
    return np.sum(q.ws[1] * p.ws[1]) * q.ws[0] * q.ws[2] * len(p.ws)
=== copy_in_loop | x = A
import copy
class S:
    def __init__(self, pos, vel):
        self.pos, self.vel = pos, vel
def step(s, h):
    n = copy.copy(s)
    n.pos = s.pos + h * s.vel
    n.vel = s.vel - h * np.sin(s.pos)
    return n
def f(x):
    s = S(x * 1.0, x * 0.5)
    trace = [s]
    for k in range(4):
        s = step(s, x[0])
        trace.append(s)
    return sum(np.sum(t.pos * t.vel) for t in trace)
=== deepcopy_in_loop | x = A
import copy
def f(x):
    state = {'pos': x * 1.0, 'vel': x * 0.5}
    trace = []
    for k in range(4):
        trace.append(copy.deepcopy(state))
        state['pos'] += x[0] * state['vel']
        state['vel'] -= x[0] * np.sin(state['pos'])
    return sum(np.sum(t['pos'] * t['vel']) for t in trace)
=== deepcopy_best | x = A
import copy
def f(x):
    best, w = None, [v for v in x]
    for k in range(3):
        w[k] = w[k] * w[k]
        if best is None or sum(w) < sum(best):
            best = copy.deepcopy(w)
    return sum((k + 1) * v for k, v in enumerate(best)) * w[0]
=== deepcopy_nested_unchanged | x = A
import copy
class N:
    def __init__(self, v, child):
        self.v = v
        self.child = child
def f(x):
    root = N(x[0], N(x[1], N(x[2] * x[0], None)))
    root.v = root.v * x[1]
    root.child.v = root.child.v * x[1]
    c = copy.deepcopy(root)
    return c.v * c.child.v * c.child.child.v * root.child.child.v * root.v
=== fresh_nested_dynamic | x = A
class N:
    def __init__(self, v, child):
        self.v = v
        self.child = child
def tree(v, w):
    return N(v * w, N(w, None))
def f(x):
    make = {'t': tree}['t']
    t = make(x[0], x[1])
    t.child.v = t.child.v * x[2]
    return t.v * t.child.v
"""


@pytest.mark.parametrize("program", programs(COPIES))
def test_copies(program: Program) -> None:
    check(program)


DEQUES = """
=== dq_items | x = A
from collections import deque
def f(x):
    d = deque([x[0], x[1], x[2] * x[0]])
    d[0] += x[1]
    d[-1] = d[0] * d[1]
    del d[1]
    d.insert(1, x[2])
    d += [x[0], x[1]]
    return sum((k + 1) * v * v for k, v in enumerate(d))
=== dq_arrays | x = A
from collections import deque
def f(x):
    d = deque(maxlen=2)
    for k in range(4):
        w = x * (k + 1.0)
        d.append(w)
        d[0][0] *= x[1]
        w[1] = w[1] * w[2]
    return np.sum(d[0] * d[1])
=== dq_helper | x = A
from collections import deque
def push(q, v):
    q.append(v * v)
    if len(q) > 2:
        return q.popleft()
    return 0.0
def f(x):
    q = deque()
    t = 0.0
    for v in x:
        t = t + push(q, v) * x[1]
    for v in x:
        t = t + push(q, v * 2.0)
    return t + sum(q)
=== dq_iterate | x = A
from collections import deque
def f(x):
    d = deque(x, maxlen=2)
    t = 0.0
    for v in reversed(d):
        t = 2.0 * t + v
    for a, b in zip(d, list(d)[1:]):
        t = t + a * b
    return t * max(d) + np.mean(d) + len(d) * min(d)
=== dq_window | x = A
from collections import deque
def f(x):
    window = deque(maxlen=3)
    out = []
    for v in np.concatenate([x, x * 2.0]):
        window.append(v)
        if len(window) == window.maxlen:
            out.append(sum(window) / 3.0)
    return np.sum(np.array(out) ** 2)
=== dq_attribute | x = A
from collections import deque
class Buffer:
    def __init__(self, n):
        self.items = deque(maxlen=n)
    def add(self, v):
        self.items.append(v)
        return sum(self.items) / len(self.items)
def f(x):
    b = Buffer(2)
    t = 0.0
    for v in x:
        t = t + b.add(v * v) * v
    return t
=== dq_alias | x = A
from collections import deque
def f(x):
    d = deque([x[0]])
    e = d
    e.appendleft(x[1] * x[0])
    d.rotate(-1)
    c = d.copy()
    c[0] = x[2]
    return d[0] * e[1] * c[0] * len(c) + d[0]
=== dq_bfs | x = A
from collections import deque
def f(x):
    tree = {0: [1, 2], 1: [3], 2: [], 3: []}
    queue = deque([(0, x[0])])
    total = 0.0
    while queue:
        node, v = queue.popleft()
        total = total + v * v
        for k, child in enumerate(tree[node]):
            queue.append((child, v * x[1 + k]))
    return total
=== dq_rotate_many | x = A
from collections import deque
def f(x):
    d = deque([x[0], x[1], x[2], x[0] * x[1]])
    t = 0.0
    for k in range(5):
        d.rotate(k)
        d.appendleft(d.pop() * 0.5)
        t = t + d[0] * d[-1]
    d.reverse()
    d.extendleft([x[2], x[1]])
    return t + d[0] * d[1] * d[2]
=== dq_maxlen_extend | x = A
from collections import deque
def f(x):
    d = deque([1.0, 2.0], maxlen=3)
    d.extend(x * x)
    d.appendleft(x[0] * x[1])
    d.extendleft([x[1], x[2]])
    return d[0] * d[1] + d[2] * d[0]
=== dq_clear | x = A
from collections import deque
def f(x):
    d = deque([x[0], x[1]])
    t = d[0] * d[1]
    d.clear()
    d.append(t * x[2])
    return d[0] * d[-1]
=== dq_remove | x = A
from collections import deque
def f(x):
    d = deque([x[0], 3.0, x[1]])
    d.remove(3.0)
    return d[0] * d[1] + (3.0 in d)
=== dq_raises | x = A
from collections import deque
def f(x):
    d = deque([x[0]])
    try:
        while True:
            x = x * d.pop()
    except IndexError:
        return np.sum(x * x)
=== dq_in_list | x = A
from collections import deque
def f(x):
    ds = [deque(), deque()]
    for k, v in enumerate(x):
        ds[k % 2].append(v * v)
    return ds[0].popleft() * ds[1][0] + ds[0][0]
=== dq_passed_late | x = A
from collections import deque
def take(q):
    return q.popleft() * q[0]
def f(x):
    q = deque(v * v for v in x)
    g = {'t': take}['t']
    return g(q) + g(q)
=== dq_copy | x = A
import copy
from collections import deque
def f(x):
    q = deque([x[0], [x[1]]], 5)
    r, s = copy.copy(q), copy.deepcopy(q)
    r[1][0] = x[2]
    s.append(s[0] * s[1][0])
    return s[2] * q[1][0] + r.maxlen
=== deque_basic | x = A
from collections import deque
def f(x):
    d = deque([x[0], x[1]])
    d.append(x[2] * x[0])
    d.appendleft(x[1] * 2.0)
    a = d.pop()
    b = d.popleft()
    return a * b + d[0] * d[-1]
=== deque_maxlen | x = A
from collections import deque
def f(x):
    d = deque(maxlen=2)
    t = 0.0
    for v in x:
        d.append(v * v)
        t = t + sum(d)
    return t
=== deque_rotate | x = A
from collections import deque
def f(x):
    d = deque(x)
    d.rotate(1)
    d.extend([x[0] * x[1]])
    d.extendleft([x[2] * x[1]])
    return sum((k + 1) * v * v for k, v in enumerate(d))
=== deque_while | x = A
from collections import deque
def f(x):
    q = deque([(x[0], 0)])
    t = 0.0
    while q:
        v, k = q.popleft()
        t = t + v * v
        if k < 3:
            q.append((v * x[1], k + 1))
            if k == 1:
                q.append((v * x[2], k + 1))
    return t
"""


@pytest.mark.parametrize("program", programs(DEQUES))
def test_deques(program: Program) -> None:
    check(program)


DICTS = """
=== od_copy_pop | x = A
from collections import OrderedDict
def f(x):
    d = OrderedDict(a=x[0], b=x[1])
    d['c'] = x[2] * d['a']
    d.move_to_end('a')
    k, v = d.popitem(last=False)
    w = d.pop('a')
    e = d.copy()
    e['z'] = v * w
    e.update(y=x[0])
    t = 1.0
    for name, u in e.items():
        t = 2.0 * t + u * u
    return t
=== od_default_late | x = A
from collections import OrderedDict, defaultdict
class Kept:
    def __init__(self):
        self.m, self.d, self.p = OrderedDict(), defaultdict(float), {}
    def step(self, x):
        for d in (self.m, self.d, self.p):
            d['a'] = d.get('a', x) * x
def f(x):
    kept = Kept()
    for _ in range(2):
        kept.step(x[0])
    return kept.m['a'] + x[1] * kept.d['a'] * kept.p['a']
=== dd_filled_later | x = A
from collections import defaultdict
def f(x):
    d, t = defaultdict(float, a=x[0]), 0.0
    for k, v in d.items():
        t = t + v * v
    d['b'] = t * x[1]
    return t * d['b']
=== od_layers | x = A, W = M
from collections import OrderedDict
def f(x, W):
    layers = OrderedDict([('first', lambda v: np.tanh(W @ v)), ('second', lambda v: np.sum(v * v))])
    for name, layer in layers.items():
        x = layer(x)
    return x
=== od_comprehension | x = A
from collections import OrderedDict
def f(x):
    d = OrderedDict((str(k), v * v) for k, v in enumerate(x))
    for k in list(d):
        d[k] = d[k] * x[0]
    return sum(d.values())
=== dd_made | x = A
from collections import defaultdict
def f(x):
    d = defaultdict(lambda: 1.0)
    d['a'] *= x[0]
    d['b'] += x[1]
    d['a'] *= x[2]
    return d['a'] * d['b'] + d['c']
=== dd_list | x = A
from collections import defaultdict
def f(x):
    d = defaultdict(list)
    for k, v in enumerate(x):
        d[k % 2].append(v * v)
    return sum(d[0]) * sum(d[1])
=== dd_arrays | x = A
from collections import defaultdict
def f(x):
    d = defaultdict(lambda: np.zeros(3))
    for k in range(4):
        d[k % 2] += x * k
        d[k % 2][0] *= x[1]
    return np.sum(d[0] * d[1])
=== dd_nested | x = A
from collections import defaultdict
def f(x):
    g = defaultdict(dict)
    for k, v in enumerate(x):
        g[k % 2][k] = v * v
    return g[0][0] * g[0][2] + g[1][1]
=== dd_initial | x = A
from collections import defaultdict
def f(x):
    d = defaultdict(float, a=x[0])
    d['a'] += x[1]
    d['b'] += x[2] * d['a']
    return d['a'] * d['b']
=== counter_of_counts | x = A
from collections import Counter
class Quantity:
    def __init__(self, value, units): self.value, self.units = value, dict(units)
    def __mul__(self, other):
        units = Counter(self.units)
        units.update(other.units)
        return Quantity(self.value * other.value, {k: e for k, e in units.items() if e})
def f(x):
    c = Counter({"a": x[0], "b": x[1]})
    c.update(Counter(a=x[2], q=x[0]))
    c.update(q=x[1], z=x[2])
    length = Quantity(x[0], {"m": 1})
    area = length * length * length
    return c["a"] * c["b"] + c["q"] * c["z"] + area.value * area.units["m"]
=== counter_of_parity | x = A
from collections import Counter
def f(x):
    seen = Counter()
    s = 0.0
    for k, v in enumerate(x):
        seen[k % 2] += 1
        s += v * seen[k % 2]
    return s + seen[0] * x[0] + seen['none']
=== counter_weights | x = A
from collections import Counter
def f(x):
    w = Counter()
    for k, v in enumerate(x):
        w[k % 2] += v * v
    return w[0] * w[1] + sum(w.values()) + w[7]
=== counter_common | x = A
from collections import Counter
def f(x):
    c = Counter('abca')
    s = sum(np.sum(x) * n for k, n in c.items())
    for k, n in c.most_common(1):
        s += x[0] * n
    return s
=== counter_sums | x = A
from collections import Counter
def f(x):
    a, b = Counter('aab'), Counter('ab')
    return sum((a + b).values()) * x[0] + len(a - b) * x[1] + (a & b)['a'] * x[2]
=== counter_active | x = A
from collections import Counter
def f(x):
    c = Counter(['a', 'b', 'a'])
    t = 0.0
    for k, count in c.items():
        t = t + count * x[0]
    return t * x[1]
=== od_order | x = A
from collections import OrderedDict
def go(d):
    t = 1.0
    for v in d.values():
        t = 2.0 * t + v * v
    for k, v in d.items():
        t = 2.0 * t + v
    for k in d:
        t = 2.0 * t * d[k]
    return t
def f(x):
    d = OrderedDict(a=x[0], b=x[1], c=x[2])
    d.move_to_end('a')
    return go(d)
=== ordereddict | x = A
from collections import OrderedDict
def f(x):
    d = OrderedDict()
    d['a'] = x[0]
    d['b'] = x[1] * x[0]
    d.move_to_end('a')
    t = 1.0
    for k, v in d.items():
        t = t * v + 1.0
    return t
=== ordereddict_made | x = A
from collections import OrderedDict
def f(x):
    d = OrderedDict([('a', x[0]), ('b', x[1])])
    d['c'] = d['a'] * d['b']
    return sum(v * v for v in d.values())
=== defaultdict_float | x = A
from collections import defaultdict
def f(x):
    d = defaultdict(float)
    for k, v in enumerate(x):
        d[k % 2] += v * v
    return d[0] * d[1]
"""


@pytest.mark.parametrize("program", programs(DICTS))
def test_dicts(program: Program) -> None:
    check(program)


class Node:
    def __init__(self, v):
        self.v = v


class Slots:
    def __init__(self):
        self.m, self.d = {}, collections.defaultdict(float)

    def step(self, x):
        for d in (self.m, self.d):
            d["a"] = d.get("a", x) * x

    def each(self, x):
        for g in self.m.get("b", []):
            x = g(x)
        return x


def steps(x):
    kept, t = Slots(), 0.0
    for _ in range(3):
        kept.step(x)
    kept.m["b"] = [lambda v: v * v]
    for _, v in kept.d.items():
        t = t + v * v
    kept.d["b"] = t
    return kept.m["a"] * t + kept.each(2.0) + kept.each(x)


def popped(x):
    k, v = {Node(x): x * x}.popitem()
    return k.v * v


def test_dicts_forward() -> None:
    plain = (steps(1.2 + 1e-6) - steps(1.2 - 1e-6)) / 2e-6
    assert ad.jvp(steps, (1.2,), (1.0,))[1] == pytest.approx(plain)
    assert ad.linearize(steps, 1.2)[1](1.0) == pytest.approx(plain)
    with pytest.raises(ad.ThunkadError, match="key of a dict"):
        ad.jvp(popped, (1.2,), (1.0,))


def test_a_factory_of_differentiated_values_is_refused() -> None:
    text = """
from collections import defaultdict
def f(x):
    d = defaultdict(lambda: x)
    d['a'] *= 2.0
    return d['a']
"""
    with pytest.raises(ad.UnsupportedSyntaxError, match="setdefault"):
        ad.grad(Program(text, ()).build())(1.5)


def test_a_generic_function_that_learns_a_class_is_resolved_anew() -> None:
    area = functools.singledispatch(lambda s: s * s)

    def f(x: float) -> float:
        return area(x)

    g = ad.grad(f)
    assert g(3.0) == 6.0
    area.register(float, lambda s: s * s * s)
    assert g(3.0) == 27.0


def test_deques_are_arguments_and_results() -> None:
    def f(d: Any) -> Any:
        d.append(d[0] * d[1])
        d.popleft()
        return d[0] * d[1] * d.maxlen

    given = collections.deque([2.0, 3.0], 5)
    value, d_bar = ad.value_and_grad(f)(given)
    assert value == 90.0 and given == collections.deque([3.0, 6.0], 5)
    assert d_bar == collections.deque([45.0, 60.0], 5) and d_bar.maxlen == 5
    given = collections.deque([2.0, 3.0], 5)
    assert ad.jvp(f, (given,), (collections.deque([1.0, 0.0]),)) == (90.0, 45.0)
    value, back = ad.vjp(lambda x: collections.deque([x * x, x], 4), 2.0)
    assert value == collections.deque([4.0, 2.0], 4) and value.maxlen == 4
    assert back(collections.deque([1.0, 1.0]))[0] == 5.0


def test_the_order_of_an_ordered_dict_is_its_own() -> None:
    def f(d: Any) -> Any:
        t = 1.0
        for v in d.values():
            t = 2.0 * t + v * v
        for _, v in d.items():
            t = 2.0 * t + v
        return t

    d = collections.OrderedDict(a=1.0, b=2.0, c=3.0)
    d.move_to_end("a")
    value, d_bar = ad.value_and_grad(f)(d)
    assert value == f(d)
    assert d_bar == {"b": 2 * 2.0 * 32 + 4, "c": 2 * 3.0 * 16 + 2, "a": 2 * 1.0 * 8 + 1}


MANAGERS = """
=== cm_as2 | x = A
import contextlib
@contextlib.contextmanager
def doubled(x, k=2.0, *rest, by=1.0):
    yield k * x * by
    print('left', len(rest))
def f(x):
    with doubled(x, by=x[0]) as y, doubled(y, 3.0, 1, 2) as z:
        t = np.sum(y * z)
    return t * y[1]
=== cm_finally2 | x = A
import contextlib
@contextlib.contextmanager
def scaled(x, k):
    y = x * k
    try:
        yield y
    finally:
        y[0] = 5.0
def f(x):
    t = 0.0
    for k in range(3):
        with scaled(x, 2.0 + k) as y:
            y[1] = y[1] * y[2]
            t = t + np.sum(y * x)
    return t + np.sum(y)
=== cm_return_inside | x = A
import contextlib
@contextlib.contextmanager
def scaled(xs, k):
    xs.append(k)
    try:
        yield xs[0] * k
    finally:
        xs.append(k * k)
def g(xs, k):
    with scaled(xs, k) as y:
        return y * 2.0
def f(x):
    xs = [x[0]]
    return g(xs, x[1]) * xs[-1] * len(xs)
=== cm_raises | x = A
import contextlib
@contextlib.contextmanager
def guard(log, v):
    try:
        yield v * v
    except ValueError:
        log.append(v)
def f(x):
    log = []
    with guard(log, x[0]) as y:
        t = y * x[1]
        raise ValueError
    return log[0] * t
=== cm_raises_out | x = A
import contextlib
@contextlib.contextmanager
def guard(log, v):
    try:
        yield v * v
    finally:
        log.append(v)
def f(x):
    log = [1.0]
    t = x[2]
    try:
        with guard(log, x[0]) as y:
            t = y * x[1]
            raise ValueError
    except ValueError:
        t = t * 2.0
    return log[1] * t
=== cm_no_try_raises | x = A
import contextlib
@contextlib.contextmanager
def guard(log, v):
    yield v * v
    log.append(v)
def f(x):
    log = [1.0]
    t = x[2]
    try:
        with guard(log, x[0]) as y:
            t = y * x[1]
            raise ValueError
    except ValueError:
        t = t * 2.0
    return t * len(log)
=== cm_method | x = A
import contextlib
class Model:
    def __init__(self, w):
        self.w = w
    @contextlib.contextmanager
    def frozen(self, k):
        old = self.w
        self.w = self.w * k
        yield self
        self.w = old
    def energy(self, v):
        return np.sum(self.w * v * v)
def f(x):
    m = Model(x * 1.0)
    with m.frozen(x[0]) as same:
        e = same.energy(x)
    return e * m.energy(x)
=== cm_inside | x = A
import contextlib
def f(x):
    @contextlib.contextmanager
    def scaled(k):
        yield k * x
    with scaled(2.0) as y:
        return np.sum(y * x)
=== cm_no_as | x = A
import contextlib
STATE = [1.0]
@contextlib.contextmanager
def setting(d, k, v):
    old = d[k]
    d[k] = v
    try:
        yield
    finally:
        d[k] = old
def f(x):
    d = {'a': x[0]}
    with setting(d, 'a', x[1] * x[2]):
        t = d['a'] * x[0]
    return t * d['a']
=== cm_nullcontext | x = A
import contextlib
def f(x):
    with contextlib.nullcontext(x * 2.0) as y:
        return np.sum(y * x)
=== cm_dynamic | x = A
import contextlib
@contextlib.contextmanager
def doubled(x):
    yield 2.0 * x
def run(make, x):
    with make(x) as y:
        return np.sum(y * x)
def f(x):
    return run([doubled][0], x)
=== cm_closing | x = A
import contextlib
class R:
    def __init__(self, v): self.v = v
    def close(self): self.v = 0.0
def f(x):
    with contextlib.closing(R(x[0])) as r:
        t = r.v * x[1]
    return t + r.v
=== cm_as | x = A
import contextlib
@contextlib.contextmanager
def doubled(x):
    yield 2.0 * x
def f(x):
    with doubled(x) as y:
        return np.sum(y * x)
=== cm_finally | x = A
import contextlib
@contextlib.contextmanager
def scaled(x, k):
    y = x * k
    try:
        yield y
    finally:
        y[0] = 0.0
def f(x):
    with scaled(x, 2.0) as y:
        t = np.sum(y * x)
    return t + np.sum(y)
=== cm_list | x = A
import contextlib
@contextlib.contextmanager
def collecting():
    xs = []
    yield xs
    xs.append(1.0)
def f(x):
    with collecting() as xs:
        xs.append(x[0] * x[1])
        xs.append(x[2])
    return sum(v * v for v in xs)
=== exit_stack | x = A
import contextlib
class Scope:
    def __init__(self, log, v):
        self.log, self.v = log, v
    def __enter__(self):
        return self.v * self.v
    def __exit__(self, kind, *rest):
        self.log.append(self.v)
        return kind is ValueError
def put(log, v):
    log.append(v)
def f(x):
    log, t = [], 1.0
    with contextlib.ExitStack() as stack:
        for v in x:
            t = t * stack.enter_context(Scope(log, v))
        stack.callback(put, log, x[0] * x[1])
        stack.enter_context(np.errstate(all='ignore'))
        raise ValueError
    return t * sum(k * v for k, v in enumerate(log))
"""


@pytest.mark.parametrize("program", programs(MANAGERS))
def test_managers(program: Program) -> None:
    check(program)


OBJECTS = """
=== setattr_behind_super | x = A
class Owner:
    def keep(self, x):
        super().__setattr__("v", x * x)
        return self.v
def f(x):
    return np.sum(Owner().keep(x))
=== sa_log | x = A
class P:
    def __init__(self, v):
        self.v = v
        self.count = 0
    def __setattr__(self, name, value):
        if name != 'count' and 'count' in self.__dict__:
            object.__setattr__(self, 'count', self.count + 1)
        object.__setattr__(self, name, value)
def f(x):
    p = P(x[0])
    p.v = p.v * x[1]
    p.w = x[2]
    p.v *= p.w
    return p.v * p.count
=== sa_dict | x = A
class P:
    def __init__(self, v):
        self.v = v
    def __setattr__(self, name, value):
        self.__dict__[name] = value * 2.0
def f(x):
    p = P(x[0])
    p.w = x[1]
    return p.v * p.w
=== sa_frozen | x = A
class P:
    def __init__(self, v, w):
        object.__setattr__(self, 'v', v)
        object.__setattr__(self, 'w', w)
    def __setattr__(self, name, value):
        raise AttributeError(name)
    def scaled(self, k):
        return P(self.v * k, self.w)
def f(x):
    p = P(x[0], x[1]).scaled(x[2])
    try:
        p.v = 1.0
    except AttributeError:
        pass
    return p.v * p.w
=== sa_module | x = A
class Module:
    def __init__(self):
        self._params = {}
    def __setattr__(self, name, value):
        if isinstance(value, np.ndarray):
            self._params[name] = value
        super().__setattr__(name, value)
    def parameters(self):
        return self._params
class Net(Module):
    def __init__(self, w, b):
        super().__init__()
        self.w = w
        self.b = b
        self.k = 2.0
    def __call__(self, v):
        return np.sum(np.tanh(self.w * v + self.b) * self.k)
def f(x):
    net = Net(x * 1.0, x * 0.5)
    reg = sum(np.sum(p * p) for p in net.parameters().values())
    return net(x) + reg
=== sa_slots | x = A
class P:
    __slots__ = ('v', 'w')
    def __init__(self, v):
        self.v = v
        self.w = v
    def __setattr__(self, name, value):
        super().__setattr__(name, value if name == 'w' else value * 3.0)
def f(x):
    p = P(x[0])
    p.v = p.w * x[1]
    return p.v * p.w
=== setattr_own | x = A
class P:
    def __init__(self, v):
        self.v = v
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)
def f(x):
    p = P(x[0])
    p.w = x[1]
    return p.v * p.w
=== getattr_own | x = A
class P:
    def __init__(self, d):
        self.d = d
    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        return self.d[name]
def f(x):
    p = P({'a': x[0], 'b': x[1]})
    return p.a * p.b
"""


@pytest.mark.parametrize("program", programs(OBJECTS))
def test_objects(program: Program) -> None:
    check(program)


ITERTOOLS = r"""
=== it_product | x = A, y = B
import itertools
def f(x, y):
    t = 0.0
    for a, b in itertools.product(x, y):
        t = t + a * b * b
    return t
=== it_product_repeat | x = A
import itertools
def f(x):
    return sum(a * b * c for a, b, c in itertools.product([x[0], x[1]], repeat=3))
=== it_combinations | x = A
import itertools
def f(x):
    t = 0.0
    for a, b in itertools.combinations(x, 2):
        t = t + (a - b) ** 2
    for a, b in itertools.combinations_with_replacement([x, x * x], 2):
        t = t + np.sum(a * b)
    return t
=== it_combinations_objects | x = A
import itertools
class Body:
    def __init__(self, pos):
        self.pos = pos
        self.force = 0.0
def f(x):
    bodies = [Body(v) for v in x]
    for a, b in itertools.combinations(bodies, 2):
        d = b.pos - a.pos
        a.force += d / (1.0 + d * d)
        b.force -= d / (1.0 + d * d)
    return sum(b.force * b.pos for b in bodies)
=== it_groupby | x = A
import itertools
def squares(x):
    for v in x:
        yield v * v
def f(x):
    t = 0.0
    for k, g in itertools.groupby(squares(x), lambda v: v > 0.5):
        t = t * 1.5 + max(g) * (2.0 if k else x[0])
    rows = [('a', x[0]), ('a', x[1]), ('b', x[2])]
    d = {k: sum(v for _, v in g) for k, g in itertools.groupby(rows, key=lambda r: r[0])}
    late = list(itertools.groupby(x, key=lambda v: v > 1.0))
    return t * d['a'] * d['b'] + sum(len(list(g)) for _, g in late) * x[1]
=== it_tee | x = A
import itertools
def f(x):
    a, b, c = itertools.tee((v * v for v in x), 3)
    next(b, None)
    return sum((v - u) ** 2 * u for u, v in zip(a, b)) * next(c) * next(c)
=== it_permutations | x = A
import itertools
def f(x):
    t = 0.0
    for p in itertools.permutations(range(3)):
        s = 1.0
        for k, j in enumerate(p):
            s = s * (x[j] + k)
        t = t + s
    return t + sum(a * b * b for a, b in itertools.permutations(x, 2))
=== it_zip_longest | x = A
import itertools
def f(x):
    t = 0.0
    for a, b in itertools.zip_longest(x, [x[0], x[1]], fillvalue=2.0):
        t = t + a * b
    return t
=== it_compress | x = A
import itertools
def f(x):
    return sum(itertools.compress(x * x, [True, False, True])) + max(itertools.compress(x, [1, 1, 0]))
=== one_shot_iterators | x = A
import itertools, re, csv
def f(x):
    t = 0.0
    pairs = itertools.starmap(max, [(0, 1), (2, 1)])
    for k in pairs:
        t = t + x[k] ** 3
    for m in re.finditer(r'\d', '012'):
        t = t + x[int(m.group())] ** 2 * x[0]
    for row in csv.reader(['0,1', '1,2']):
        t = t + x[int(row[0])] * x[int(row[1])]
    for k in map(int, iter(['0', '2'])):
        t = t + np.sin(x[k])
    return t
"""


@pytest.mark.parametrize("program", programs(ITERTOOLS))
def test_itertools(program: Program) -> None:
    check(program)


DATACLASSES = """
=== dc_replace_initvar | x = A
import dataclasses
@dataclasses.dataclass
class P:
    v: float
    k: dataclasses.InitVar[float]
    s: float = dataclasses.field(init=False, default=0.0)
    def __post_init__(self, k):
        self.s = self.v * k
def f(x):
    p = dataclasses.replace(P(x[0], x[1]), k=x[2])
    return p.s * p.v
=== dc_asdict_nested | x = A
import dataclasses
@dataclasses.dataclass
class Q:
    a: float
    xs: list
@dataclasses.dataclass
class P:
    v: np.ndarray
    q: Q
    n: str = 'name'
    def __post_init__(self):
        self.v = self.v * 2.0
def f(x):
    p = P(x, Q(x[0], [x[1], x * x]))
    d = dataclasses.asdict(p)
    t = dataclasses.astuple(p)
    return np.sum(d['v'] * t[0]) * d['q']['xs'][0] + np.sum(t[1][1][1]) * t[1][0] + len(d['n'])
=== dc_replace_loop | x = A
import dataclasses
@dataclasses.dataclass(frozen=True)
class State:
    pos: np.ndarray
    vel: np.ndarray
    energy: float = 0.0
    def __post_init__(self):
        object.__setattr__(self, 'energy', np.sum(self.vel * self.vel))
def f(x):
    s = State(x, x * 0.1)
    t = 0.0
    for k in range(3):
        s = dataclasses.replace(s, pos=s.pos + 0.1 * s.vel, vel=s.vel - 0.1 * np.sin(s.pos))
        t = t + s.energy
    return t * np.sum(s.pos)
=== dyn_class | x = A
class P:
    def __init__(self, v):
        self.v = v * v
def f(x):
    make = [P][0]
    return make(x[0]).v * x[1]
=== dyn_class_list | x = A
class P:
    def __init__(self, v):
        self.v = np.sin(v)
def f(x):
    return sum(p.v * p.v for p in map(P, x))
=== dc_asdict | x = A
import dataclasses
@dataclasses.dataclass
class P:
    v: float
    w: float
    s: float = 0.0
    def __post_init__(self):
        self.s = self.v * self.w
def f(x):
    d = dataclasses.asdict(P(x[0], x[1]))
    return d['s'] * d['v']
=== dc_replace | x = A
import dataclasses
@dataclasses.dataclass
class P:
    v: float
    w: float
    s: float = dataclasses.field(init=False, default=0.0)
    def __post_init__(self):
        self.s = self.v * self.w
def f(x):
    p = dataclasses.replace(P(x[0], x[1]), w=x[2])
    return p.s * p.v
=== dc_astuple | x = A
import dataclasses
@dataclasses.dataclass
class P:
    v: float
    w: float
    def __post_init__(self):
        self.w = self.v * self.w
def f(x):
    a, b = dataclasses.astuple(P(x[0], x[1]))
    return a * b
=== dc_frozen_replace | x = A
import dataclasses
@dataclasses.dataclass(frozen=True)
class P:
    v: float
    w: float
def f(x):
    p = P(x[0], x[1])
    for k in range(3):
        p = dataclasses.replace(p, v=p.v * p.w)
    return p.v
=== dc_fields | x = A
import dataclasses
@dataclasses.dataclass
class P:
    v: float
    w: float
    def __post_init__(self):
        self.w = self.v * self.w
def f(x):
    p = P(x[0], x[1])
    t = 1.0
    for fl in dataclasses.fields(p):
        t = t * getattr(p, fl.name)
    return t
"""


@pytest.mark.parametrize("program", programs(DATACLASSES))
def test_dataclasses(program: Program) -> None:
    check(program)
