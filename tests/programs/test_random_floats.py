"""Random structured programs over floats and small arrays: everything observable, and gradients against differences."""

from __future__ import annotations

import contextlib
import copy
import io
import warnings

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from choosing import Drawn
from checking import Program, check_program
from float_programs import Maker


@st.composite
def float_programs(draw: st.DrawFn) -> str:
    return Maker(Drawn(draw)).program()


def arguments(seed: int) -> tuple[object, ...]:
    """Two numbers and two arrays, the numbers of several forms."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-1, 1.5, 2)
    first = (float, np.float64, np.asarray)[seed % 3](a)
    return first, (float, np.float64)[seed % 2](b), rng.uniform(-1, 1.5, 3), rng.uniform(-1, 1.5, 3)


def largest(f: object, args: tuple[object, ...]) -> float:
    """The largest number in the result of ``f``; where that is huge, differences have no digits left."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            result = f(*copy.deepcopy(args))  # type: ignore[operator]
    except Exception:
        return 0.0
    parts = result if isinstance(result, (tuple, list)) else [result]
    return max((float(np.max(np.abs(p))) for p in parts if isinstance(p, (float, np.ndarray, np.generic))), default=0.0)


@settings(max_examples=90, deadline=None, suppress_health_check=list(HealthCheck))
@given(float_programs(), st.integers(0, 1000))
def test_random_programs(text: str, seed: int) -> None:
    program = Program(text, arguments(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assume(largest(program.build(), program.args) < 1e6)
        check_program(program.build(), program.args, kinks=True)
