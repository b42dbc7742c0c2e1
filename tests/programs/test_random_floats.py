"""Random structured programs over floats and small arrays: everything observable, and gradients against differences."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checking import Program, check_program
from float_programs import Maker


class Drawn:
    """Choices that hypothesis makes, and can make smaller."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


@st.composite
def float_programs(draw: st.DrawFn) -> str:
    return Maker(Drawn(draw)).program()


def arguments(seed: int) -> tuple[object, ...]:
    """Two numbers and two arrays, the numbers of several forms."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-1, 1.5, 2)
    first = (float, np.float64, np.asarray)[seed % 3](a)
    return first, (float, np.float64)[seed % 2](b), rng.uniform(-1, 1.5, 3), rng.uniform(-1, 1.5, 3)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(float_programs(), st.integers(0, 1000))
def test_random_programs(text: str, seed: int) -> None:
    program = Program(text, arguments(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_program(program.build(), program.args, kinks=True)
