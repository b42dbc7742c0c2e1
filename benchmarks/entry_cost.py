"""What a call of an up-to-date gradient pays to know that it is up to date, against the bare generated function.

Ten functions are looked inside, so ten names and the code of eleven functions are tested at each call, besides the
types of the arguments and the rule table.
"""

from __future__ import annotations

import linecache
import time
import timeit

import numpy as np

import thunkad as ad
from thunkad.compiled.root import root_of

CALLEES = 10
BUDGET = 0.8  # µs


def make_chain():
    """A function that calls ten others, all of which have source that can be found."""
    body = "".join(f"    x = step{k}(x)\n" for k in range(CALLEES))
    pieces = {"chain": f"def chain(x):\n{body}    return x\n"}
    pieces.update({f"step{k}": f"def step{k}(x):\n    return x * 1.01 + {k}.0\n" for k in range(CALLEES)})
    for name, text in pieces.items():
        filename = f"<{name}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        exec(compile(text, filename, "exec"), globals())
    return globals()["chain"]


def best(call, number: int = 20000, repeat: int = 9) -> float:
    """The least processor time of one call, in µs."""
    return min(timeit.repeat(call, number=number, repeat=repeat, timer=time.process_time)) / number * 1e6


def both(first, second) -> tuple[float, float]:
    """The least times of two calls, measured in turn, so that a busy machine is as unfair to one as to the other."""
    rounds = [(best(first, 2000, 1), best(second, 2000, 1)) for _ in range(60)]
    return min(a for a, _ in rounds), min(b for _, b in rounds)


def compared(f, derivative, args) -> tuple[float, float]:
    """The least times of the bare generated function and of ``derivative``, which is that of ``f``."""
    derivative(*args)
    (*_, compiled) = root_of(f).specializations.values()
    everything = (*args, *(f.__defaults__ or ()))
    return both(lambda: compiled.call(*everything), lambda: derivative(*args))


def main() -> None:
    chain = make_chain()
    gradient = ad.grad(chain)
    for what, x in (("float", 2.0), ("array of 1 element", np.array([2.0]))):
        bare, whole = compared(chain, gradient, (x,))
        costs = f"they cost {whole - bare:.2f} µs (budget {BUDGET})"
        print(f"{what}: bare {bare:.2f} µs, with all tests {whole:.2f} µs, so {costs}")

    rebuilds = root_of(chain).rebuilds
    targets = [lambda x, k=k: x for k in range(10000)]
    for target in targets:
        ad.non_differentiable(target)
    first = best(lambda: gradient(2.0), 1, 1)
    after = best(lambda: gradient(2.0))
    print(f"after {len(targets)} unrelated registrations: {root_of(chain).rebuilds - rebuilds} rebuilds, "
          f"first call {first:.0f} µs, then {after:.2f} µs")  # fmt: skip

    for what, f, args in OTHERS:
        bare, whole = compared(f, ad.grad(f), args)
        print(f"{what}: bare {bare:.2f} µs, with all tests {whole:.2f} µs")


def one_argument(x):
    return x * x


def with_default(x, n=3):
    return x * n


def of_dict(p):
    return p["a"] * p["b"]


def of_arrays(w, b, x):
    return np.sum(np.tanh(x @ w + b))


OTHERS = [
    ("one float", one_argument, (2.0,)),
    ("a default", with_default, (2.0,)),
    ("a dict of two floats", of_dict, ({"a": 1.0, "b": 2.0},)),
    ("three arrays", of_arrays, (np.ones((3, 2)), np.ones(2), np.ones((4, 3)))),
]


if __name__ == "__main__":
    main()
