"""Random programs over objects and containers that change: everything observable, and gradients against differences."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checking import Program, check_program, observe
from object_programs import Maker
from thunkad import UnsupportedSyntaxError, vjp


class Drawn:
    """Choices that hypothesis makes, and can make smaller."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


@st.composite
def object_programs(draw: st.DrawFn) -> str:
    return Maker(Drawn(draw)).program()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(object_programs(), st.integers(0, 1000))
def test_random_programs(text: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    args = (*map(float, rng.uniform(-1, 1.5, 2)), rng.uniform(-1, 1.5, 3), rng.uniform(-1, 1.5, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused = observe(lambda: vjp(Program(text, args).build(), *args)).error
        if isinstance(refused, UnsupportedSyntaxError):
            return  # a write by a callee that is known only when the code runs
        check_program(Program(text, args).build(), args, kinks=True)
