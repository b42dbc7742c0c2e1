"""Functions that return, for some arguments, what they were given: writing into the result writes into the argument."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checking import Program
from tables import check
from thunkad.analysis.views import VIEWS

sys.path.insert(0, str(Path(__file__).parents[1] / "rules"))
from samples import SAMPLES, Sample

#: Calls in which there is nothing to do.
IDLE = [
    Sample(np.linalg.matrix_power, (np.eye(2), 1), {}),
    Sample(np.diff, (np.ones(3), 0), {}),
    Sample(np.polyder, (np.ones(3), 0), {}),
    Sample(np.polyint, (np.ones(3), 0), {}),
    Sample(np.apply_over_axes, (np.sum, np.ones((2, 2)), []), {}),
    *(Sample(f, (np.ones((2, 2)),), {}) for f in (np.squeeze, np.tril, np.triu, np.cumsum, np.round, np.sort, np.fix)),
    *(Sample(f, (np.ones(3), 0), {}) for f in (np.roll, np.pad, np.tile)),
    *(Sample(f, ([np.ones(3)],), {}) for f in (np.stack, np.concatenate, np.hstack, np.block)),
    *(Sample(f, (np.ones(3), ()), {}) for f in (np.sum, np.max, np.mean)),
]


def arrays(v: Any) -> list[np.ndarray]:
    if isinstance(v, np.ndarray):
        return [v]
    items = v.values() if isinstance(v, dict) else v if isinstance(v, (list, tuple)) else ()
    return [a for x in items for a in arrays(x)]


def test_every_function_that_may_return_its_argument_is_known() -> None:
    for s in [*IDLE, *SAMPLES]:
        name = getattr(s.function, "__name__", "")
        drawn = any(word in repr(s.function) for word in ("random", "Random", "Generator"))
        overwritten = any(key.startswith("overwrite") for key in s.kwargs)  # which derivatives do not do
        if name in VIEWS or drawn or overwritten or name in ("__getitem__", "rvs") or name[0] == "i":
            continue
        try:
            found = s.function(*s.args, **s.kwargs)
        except Exception:  # written in another way than as a call
            continue
        given = arrays([list(s.args), s.kwargs])
        assert not any(a.size and np.shares_memory(a, b) for a in arrays(found) for b in given), name


@pytest.mark.parametrize(
    "call", ["np.asarray_chkfinite(y)", "np.real_if_close(y)", "np.trim_zeros(y)", "np.float64(y)"]
)
def test_written_into(call: str) -> None:
    text = f"def f(x):\n    y = x * 1.0\n    z = {call}\n    z[0] = 5.0\n    return np.sum(y * z * x)\n"
    check(Program(text, (np.array([0.9, -0.4, 1.3]),)))


@pytest.mark.parametrize("power", [1, 2])
def test_powers_of_matrices(power: int) -> None:
    call = f"np.linalg.matrix_power(y, {power})"
    text = f"def f(x):\n    y = np.outer(x, x)\n    z = {call}\n    z[0, 0] = 5.0\n    return np.sum(y * z)\n"
    check(Program(text, (np.array([0.9, -0.4, 1.3]),)))


FRESH = """
def f(x):
    y = x * 1.0
    p = np.einsum("i,j->ij", y, y)
    p *= 2
    p[0] = 0.0
    u = np.tensordot(y, x, 0)
    u += p
    s = np.linalg.solve(u + 4 * np.eye(3), x)
    s *= s[0]
    c = np.convolve(y, x)
    c -= c[0]
    w = np.linalg.inv(u + 5 * np.eye(3))
    w[1] = 0
    y *= 2
    e = np.einsum("ij,jk", p, u)
    e[0, 0] = 1.0
    return np.sum(u ** 2) + np.sum(s) + np.sum(c ** 2) + np.sum(w) * y[0] + np.sum(e)
"""


def test_results_of_rules_that_are_called() -> None:
    check(Program(FRESH, (np.array([0.3, 0.7, 0.45]),)))
