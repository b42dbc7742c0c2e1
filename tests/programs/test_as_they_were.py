"""Every way to read a list or a dict, followed by every change: what was read is differentiated as it was then."""

import pytest

from checking import Program
from tables import check

HELPERS = """
import copy
import functools
import math

def three(a, b, c):
    return a * b + c

def first(xs):
    return xs[0] * xs[1] + xs[-1]

def named(d):
    return d["a"] * d["b"] + sum(d.values())

class Holder:
    def __init__(self, held):
        self.held = held
    def product(self):
        return self.held[0] * self.held[2]
"""

LIST_READS = {
    "slice": "m = l[1:]; r = m[0] * m[-1]",
    "last ones": "m = l[-2:]; r = m[0] * m[-1]",
    "backwards": "m = l[::-1]; r = m[0] * m[-1] ** 2",
    "sum": "r = sum(l) ** 2",
    "sorted": "m = sorted(l); r = m[0] * m[-1] ** 2",
    "max": "r = max(l) * min(l)",
    "max by key": "r = max(l, key=lambda v: -v) ** 2",
    "np.array": "m = np.array(l); r = np.sum(m * m)",
    "np.sum": "r = np.sum(l) ** 2",
    "np.max": "r = np.max(l) * np.mean(l)",
    "np.dot": "r = np.dot(l, [1.0, 2.0, x])",
    "np.stack": "r = np.prod(np.stack(l))",
    "np.concatenate": "r = np.prod(np.concatenate([l, [x]]))",
    "list": "m = list(l); r = m[0] * m[-1]",
    "tuple": "m = tuple(l); r = m[0] * m[-1]",
    "copy": "m = l.copy(); r = m[0] * m[-1]",
    "copy.copy": "m = copy.copy(l); r = m[0] * m[-1]",
    "repeated": "m = l * 2; r = m[0] * m[-2]",
    "concatenated": "m = [x] + l + [x * x]; r = m[0] * m[-2] * m[-1]",
    "unpacked": "a, *b, c = l; r = a * b[0] * c",
    "starred": "m = [x, *l, *l]; r = m[0] * m[1] * m[-1]",
    "zip": "r = sum([a * b for a, b in zip(l, l[1:])])",
    "list of zip": "m = list(zip(l, l)); r = m[0][0] * m[2][1]",
    "enumerate": "r = sum([i * a for i, a in enumerate(l)])",
    "reversed": "m = list(reversed(l)); r = m[0] * m[1]",
    "map": "m = list(map(math.sin, l)); r = m[0] * m[1]",
    "filter": "m = list(filter(lambda v: v > 0, l)); r = m[0] * m[1]",
    "comprehension": "m = [a * x for a in l]; r = m[0] * m[1]",
    "held by a list": "m = [l, l]; r = m[0][1] * m[1][2]",
    "held by an object": "h = Holder(l); r = h.product()",
    "callee": "r = first(l)",
    "starred arguments": "r = three(*l)",
    "math.fsum": "r = math.fsum(l) * math.prod(l)",
    "reduce": "r = functools.reduce(lambda p, q: p * q + x, l)",
    "dict of zip": "d = dict(zip('abc', l)); r = d['a'] * d['c']",
    "extend": "m = [x]; m.extend(l); r = m[0] * m[1] * m[3]",
    "+=": "m = [x]; m += l; r = m[0] * m[1] * m[3]",
    "stored into a slice": "m = [x, x, x]; m[1:2] = l; r = m[0] * m[1] * m[3]",
    "partial": "g = functools.partial(three, *l); r = g()",
}
LIST_CHANGES = (
    "l.pop(); q = l[-1]", "l.pop(0); q = l[-1]", "l.clear(); q = x", "l.append(x * x); q = l[-1] * l[0]",
    "l.insert(0, x * 3); q = l[0] * l[1]", "l[1] = x * 5; q = l[1] * l[0]", "l.reverse(); q = l[0] * l[2] ** 2",
    "l[:2] = [x * 7]; q = l[0] * l[1]", "del l[0:2]; q = l[0]", "l += [x, x * x]; q = l[3] * l[4]",
)  # fmt: skip
DICT_READS = {
    "values": "r = sum(d.values()) ** 2",
    "list of values": "m = list(d.values()); r = m[0] * m[2]",
    "items": "r = sum([len(k) * v * v for k, v in d.items()])",
    "get": "r = d.get('a') * d.get('zz', x)",
    "dict": "e = dict(d); r = e['a'] * e['c']",
    "copy": "e = d.copy(); r = e['a'] * e['c']",
    "merged": "e = d | {'z': x}; r = e['a'] * e['z'] * e['c']",
    "merged into": "e = {'a': x} | d; r = e['a'] * e['c']",
    "spread": "e = {**d, 'z': x}; r = e['a'] * e['z'] * e['c']",
    "spread last": "e = {'a': x, **d}; r = e['a'] * e['c']",
    "update": "e = {}; e.update(d); r = e['a'] * e['c']",
    "|=": "e = {'a': x}; e |= d; r = e['a'] * e['c']",
    "callee": "r = named(d)",
    "keyword arguments": "r = three(**d)",
    "sorted": "m = [d[k] for k in sorted(d)]; r = m[0] * m[2]",
    "max": "k = max(d, key=d.get); r = d[k] ** 2",
    "np.array": "m = np.array(list(d.values())); r = np.prod(m)",
    "comprehension": "e = {k: v * x for k, v in d.items()}; r = e['a'] * e['c']",
    "sorted items": "m = sorted(d.items(), key=lambda kv: kv[1]); r = m[0][1] * m[2][1] ** 2",
    "held by a list": "m = [d, d]; r = m[0]['a'] * m[1]['b']",
}
DICT_CHANGES = (
    "d.pop('a'); q = d['c']", "del d['c']; q = d['a']", "d.clear(); q = x", "d['a'] = x * 9; q = d['a'] * d['b']",
    "d['n'] = x * 9; q = d['a'] * d['n']", "d['a'] *= x; q = d['a'] * d['b']", "d |= {'b': x * x}; q = d['a'] * d['b']",
    "d.update(a=x, q=x * 2); q = d['a'] * d['q']", "d.setdefault('w', x * x); q = d['a'] * d['w']",
)  # fmt: skip


def program(make: str, read: str, changes: tuple[str, ...]) -> Program:
    """One function for each change, and the sum of them all."""
    text = HELPERS
    for k, change in enumerate(changes):
        body = f"{make}; {read}; {change}; return r * q + r".replace("; ", "\n    ")
        text += f"\ndef f{k}(x):\n    {body}\n"
    calls = " + ".join(f"{k + 1} * f{k}(x)" for k in range(len(changes)))
    return Program(f"{text}\ndef f(x):\n    return {calls}\n", (0.7,))


@pytest.mark.parametrize("read", LIST_READS)
def test_lists(read: str) -> None:
    check(program("l = [x, x * x, 2 * x + 1]", LIST_READS[read], LIST_CHANGES))


@pytest.mark.parametrize("read", DICT_READS)
def test_dicts(read: str) -> None:
    check(program("d = {'a': x, 'b': x * x, 'c': 2 * x + 1}", DICT_READS[read], DICT_CHANGES))
