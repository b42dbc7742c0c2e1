"""Derivatives of ``np.sin`` at 0.5: the first call in a fresh process, by order, and the steady state of the third.

The import of the package and of ``derivative`` is not counted; all else is, the reading of the rules too.  Each first
call is the median of several processes, by the clock and in processor time, which a busy machine leaves alone.
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
start, busy = time.perf_counter(), time.process_time()
derivative(np.sin, {order})(0.5)
print(time.perf_counter() - start, time.process_time() - busy)
"""


def first_call(order: int) -> tuple[float, float]:
    """Seconds from asking for the derivative to its value: that passed, and of the processor."""
    run = subprocess.run([sys.executable, "-c", FIRST.format(order=order)], capture_output=True, text=True, check=True)
    passed, busy = map(float, run.stdout.split())
    return passed, busy


def steady_state() -> tuple[float, float]:
    """Seconds a call: of the third derivative, and of what one would write by hand."""
    from thunkad import derivative

    third, by_hand = derivative(np.sin, 3), lambda x: -np.cos(x)
    assert third(0.5) == by_hand(0.5)
    count = 20_000
    best = [min(timeit.repeat(lambda f=f: f(0.5), number=count, repeat=7)) / count for f in (third, by_hand)]
    return best[0], best[1]


def main() -> None:
    print("order  first call   processor")
    for order in ORDERS:
        passed, busy = map(statistics.median, zip(*(first_call(order) for _ in range(RUNS))))
        print(f"{order:5}  {1e3 * passed:7.1f} ms  {1e3 * busy:7.1f} ms")
    third, by_hand = steady_state()
    print(f"steady state: {1e6 * third:.2f} µs a call, {third / by_hand:.2f} times -np.cos(x) ({1e6 * by_hand:.2f} µs)")


if __name__ == "__main__":
    main()
