"""The cost of one iteration of loops that read and write one element each, for more and more iterations.

    python benchmarks/mutation_loop.py

A gradient whose cost per iteration grows with the number of iterations would copy the array in each of them.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import thunkad as ad

LENGTHS = (1_000, 10_000, 100_000)


def recurrence(x: Any) -> Any:
    y = np.empty(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.9 * y[i - 1] + x[i]
    return np.sum(y * y)


def accumulation(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += np.sin(x[i]) * x[i]
    return s


def in_argument(x: Any) -> Any:
    for i in range(1, len(x)):
        x[i] *= 0.5
        x[i] += 0.9 * x[i - 1]
    return np.sum(x * x)


def seconds(f: Callable[..., Any], n: int) -> float:
    """The least time of one call on a fresh array, of several."""
    best = float("inf")
    for _ in range(max(3, 200_000 // n)):
        x = np.linspace(0.1, 1.0, n)
        start = time.perf_counter()
        f(x)
        best = min(best, time.perf_counter() - start)
    return best


def memory(f: Callable[..., Any], n: int) -> float:
    """Bytes per iteration at the peak of one call."""
    x = np.linspace(0.1, 1.0, n)
    tracemalloc.start()
    f(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / n


def main() -> None:
    for f in (recurrence, accumulation, in_argument):
        gradient = ad.grad(f)
        gradient(np.linspace(0.1, 1.0, 3))
        costs = []
        for n in LENGTHS:
            primal, whole = seconds(f, n) / n, seconds(gradient, n) / n
            costs.append(whole)
            print(
                f"{f.__name__:14} n={n:<7} primal {primal * 1e9:6.0f} ns, gradient {whole * 1e9:6.0f} ns an iteration "
                f"({whole / primal:.1f} times), {memory(gradient, n):5.0f} bytes an iteration"
            )
        print(f"{f.__name__:14} cost of an iteration, most over least: {max(costs) / min(costs):.2f}\n")


if __name__ == "__main__":
    main()
