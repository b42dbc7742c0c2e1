"""Lists and dicts changed in place: derivatives, values, what the caller sees."""

import pytest
import thunkad as ad
from checking import Program, check_program
from mutation_arrays import X
from mutation_containers import PROGRAMS, REFUSED


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in REFUSED])
def test_containers(name):
    text, args = PROGRAMS[name]
    check_program(Program(text, args).build(), args)



DICTS = """
class Params(dict):
    def __getattr__(self, k):
        try:
            return self[k]
        except KeyError:
            raise AttributeError(k)
    def __setattr__(self, k, v):
        self[k] = v
class Named(dict):
    pass
class Twice(dict):
    def __getattr__(self, k):
        return self[k] * 2
"""


def test_attributes_of_dicts_of_the_users_classes():
    text = """
def f(x):
    p, q = Params(), Named()
    p.w, p.n, q.n, q['n'] = x * x, x[0], x[1], x[2]
    p.n, q.n = p.n * x[1], q.n * q['n']
    return np.sum(p.w * x) * p.n * p['n'] + q.n * q['n']
"""
    check_program(Program(DICTS + text, (X,)).build(), (X,))
    made = """
class Trace(list):
    def total(self):
        return sum(v * v for v in self)
def f(x):
    p, t = Params({'w': x * x}, n=x[0]), Trace(v * x[1] for v in x)
    p.c = p.w * p.n
    t.append(p.n)
    return np.sum(p.c * p['w']) * t.total() * len(t)
"""
    check_program(Program(DICTS + made, (X,)).build(), (X,))
    missing = Program("class D(dict):\n def __missing__(self, k): return self['w'] * 2\n"
                      "def f(x):\n p = D(w=x)\n return np.sum(p['q'] * x)\n", (X,))
    with pytest.raises(ad.UnsupportedSyntaxError, match="__missing__ of its own"):
        ad.grad(missing.build())(X)
    computed = Program(DICTS + "def f(x):\n p = Twice()\n p['w'] = x\n return np.sum(p.w * x)\n", (X,))
    with pytest.raises(ad.UnsupportedSyntaxError, match="computed by __getattr__"):
        ad.grad(computed.build())(X)
