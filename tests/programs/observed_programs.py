"""Random functions that change arguments of every sort, and may raise half-way, as source text."""

from __future__ import annotations

from choosing import Chooser

PRELUDE = """\
class P:
    def __init__(self, v, w):
        self.v = v
        self.w = w
        self.log = []

    def grow(self, k):
        self.w *= k
        self.log.append(k)
        if self.v > 1.2:
            raise ValueError('too big')
        self.v = self.v * 1.5

def put(d, k, v):
    d[k] = v
    if len(d) > 3:
        raise KeyError(k)

def fill(out, v):
    for k in range(len(out)):
        out[k] = out[k] * v + k
        if k == STOP:
            raise IndexError('stop')

def push(xs, v):
    xs.append(v)
    if len(xs) > 4:
        raise OverflowError('full')
    xs[0] = xs[0] * 1.25

"""
CHANGES = (
    "a *= 1.5", "a[0] = b[1] * x", "b += a", "b[1:] = a[:-1]", "a[::-1][0] = x * 2.0", "v = a[1:]; v *= 0.5",
    "a, b = b, a", "a = a + b", "push(xs, x)", "push(xs, a[0])", "xs[-1] = x * x", "xs.insert(1, b[0])", "xs.pop()",
    "xs.reverse()", "xs += [x]", "del xs[0]", "put(d, 'n', x)", "put(d, 'm', a)", "d['a'][0] = x", "d['a'] *= 2.0",
    "d['k'] = d['k'] * x", "d.pop('m', None)", "d.update(k=x * 0.5)", "d.setdefault('z', []).append(x)", "p.grow(1.1)",
    "p.grow(x)", "p.v = p.v - x", "p.w[1] = p.v", "p.log.append(a[0])", "p.w = a", "q = p; q.v *= 2.0", "p.extra = x",
    "fill(a, 0.5)", "fill(b, x)", "fill(p.w, 1.5)", "a[[0, 0]] += x", "np.add(a, b, out=a)", "x = x * 1.1 + a[0] * 0.01",
    "a.fill(x)", "np.copyto(b, a)", "a.sort()", "b[b > 0] = x",
)  # fmt: skip
RAISING = (
    "d['a'][5] = 1.0", "xs.append(a[7])", "assert x < 0.9, 'assert'", "p.missing + 1", "d['nope']", "xs[40]",
    "a[:] = np.linalg.solve(np.diag(b * 0.0), a)",
)  # fmt: skip
RESULTS = (
    "x * a[0] + p.v", "np.sum(a * b) + x", "sum(xs) * 0.1", "np.sum(p.w) * x", "(np.sum(a), xs)", "[a, d]", "p.v * d['k']",
    "np.sum(d['a'] * a) + len(p.log)",
)  # fmt: skip


def pick(choose: Chooser, items: tuple[str, ...]) -> str:
    return items[choose.integer(0, len(items) - 1)]


def statement(choose: Chooser) -> list[str]:
    return pick(choose, RAISING if choose.integer(0, 5) == 0 else CHANGES).split("; ")


def program(choose: Chooser) -> str:
    """The text of a function ``f(x, a, b, xs, d, p)``."""
    lines: list[str] = []
    for _ in range(choose.integer(2, 7)):
        body, sort = statement(choose), choose.integer(0, 6)
        inner = ["    " + line for line in body]
        if sort == 0:
            lines += [f"for _ in range({choose.integer(1, 3)}):", *inner]
        elif sort == 1:
            lines += [f"if x > {pick(choose, ('0.2', '0.8'))}:", *inner]
        elif sort == 2:
            rest = ["    " + line for line in statement(choose)[:1]]
            caught = "except (ValueError, KeyError, IndexError):"
            lines += ["try:", *inner, *rest, caught, f"    x = x * {pick(choose, ('0.5', '2.0'))}"]
        else:
            lines += body
    head = f"STOP = {pick(choose, ('1', '2', '99'))}\n{PRELUDE}def f(x, a, b, xs, d, p):\n"
    return head + "".join(f"    {line}\n" for line in lines) + f"    return {pick(choose, RESULTS)}\n"
