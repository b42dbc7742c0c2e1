"""The matrix chain: what a gradient for one matrix costs, in units of the function itself.

``sum(A @ B @ C @ X)`` went from 2.84 times the primal (no laziness) to 1.31 (thunks in and out).  Static demand and
uniform cotangents go below the primal: for X two products, for A two, none of the primal's there.  Products
are counted and asserted; the times are printed next to each other, best of many rounds run in turns.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import thunkad as ad
from thunkad.inspection import adjoint_source

ROUNDS = 60


def chain(a, b, c, x):
    return np.sum(a @ b @ c @ x)


def many(a, b, c, d, e, f, g, h, i, j):
    return np.sum(np.tanh(a @ b) * c @ d + np.exp(-e * e) @ f + (g - h) * i + np.sin(j) * a)


def many_by_hand(a, b, c, d, e, f, g, h, i, j):
    """The gradient for the third argument alone."""
    return np.tanh(a @ b) * d.sum(axis=1)


def best(functions: dict[str, Callable[[], Any]]) -> dict[str, float]:
    times = dict.fromkeys(functions, float("inf"))
    for _ in range(ROUNDS):
        for name, f in functions.items():
            start = time.perf_counter()
            f()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def products(wanted: int) -> int:
    """How many matrix products the gradient runs: it is straight-line code, so they can be counted in its text."""
    code = adjoint_source(chain, argnums=wanted).partition("def ")[2]
    lines = [line for line in code.splitlines() if not line.strip().startswith("#")]
    return sum(line.count(x) for line in lines for x in (" @ ", "matmul_left_bar(", "matmul_right_bar("))


def run_chain(size: int) -> None:
    rng = np.random.default_rng(0)
    matrices = [rng.standard_normal((size, size)) for _ in range(4)]
    for_x, for_a = ad.grad(chain, argnums=3), ad.grad(chain, argnums=0)
    times = best({"primal": lambda: chain(*matrices), "X": lambda: for_x(*matrices), "A": lambda: for_a(*matrices)})
    counts = {"X": products(3), "A": products(0)}
    assert counts["X"] <= 3 and counts["A"] <= 3, counts
    line = "  ".join(f"for {k}: {times[k] / times['primal']:.2f} ({counts[k]} products)" for k in ("X", "A"))
    print(f"{size:4d} x {size:<4d} primal {times['primal'] * 1e3:8.3f} ms   {line}")


def run_many(size: int) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((size, size)) for _ in range(10)]
    gradient = ad.grad(many, argnums=2)
    np.testing.assert_allclose(gradient(*arrays), many_by_hand(*arrays))
    times = best({"by hand": lambda: many_by_hand(*arrays), "for c": lambda: gradient(*arrays)})
    print(f"one of ten arguments, {size} x {size}: {times['for c'] / times['by hand']:.3f} of the gradient by hand")


if __name__ == "__main__":
    for size in (100, 500):
        run_chain(size)
    run_many(500)
