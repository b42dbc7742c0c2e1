"""Derivatives of ``np.sin`` at 0.5: the first call in a fresh process, by order, and the steady state of the third.

The import of the package and of ``derivative`` is not counted; all else is, the reading of the rules too.  Each first
call is the median of several processes.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import timeit

import numpy as np

ORDERS = (1, 2, 3, 4, 5)
RUNS = 5
FIRST = """
import time
import numpy as np
import thunkad
from thunkad import derivative
start = time.perf_counter()
derivative(np.sin, {order})(0.5)
print(time.perf_counter() - start)
"""


def first_call(order: int) -> float:
    """Seconds from asking for the derivative to its value."""
    run = subprocess.run([sys.executable, "-c", FIRST.format(order=order)], capture_output=True, text=True, check=True)
    return float(run.stdout)


def steady_state() -> tuple[float, float]:
    """Seconds a call: of the third derivative, and of what one would write by hand."""
    from thunkad import derivative

    third, by_hand = derivative(np.sin, 3), lambda x: -np.cos(x)
    assert third(0.5) == by_hand(0.5)
    count = 20_000
    best = [min(timeit.repeat(lambda f=f: f(0.5), number=count, repeat=7)) / count for f in (third, by_hand)]
    return best[0], best[1]


def main() -> None:
    print("order  first call")
    for order in ORDERS:
        print(f"{order:5}  {1e3 * statistics.median(first_call(order) for _ in range(RUNS)):7.1f} ms")
    third, by_hand = steady_state()
    print(f"steady state: {1e6 * third:.2f} µs a call, {third / by_hand:.2f} times -np.cos(x) ({1e6 * by_hand:.2f} µs)")


if __name__ == "__main__":
    main()
