"""Random programs with writes, views and aliases: everything observable, and gradients against differences."""

from __future__ import annotations

import warnings

import numpy as np
from choosing import Drawn
from checking import Program, check_program
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutation_maker import Maker


@st.composite
def writing_programs(draw: st.DrawFn) -> str:
    return Maker(Drawn(draw)).program()


def arguments(seed: int) -> tuple[object, ...]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1.5, 4), rng.uniform(-1, 1.5, 4), float(rng.uniform(0.2, 1.4))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(writing_programs(), st.integers(0, 1000))
def test_random_programs(text: str, seed: int) -> None:
    program = Program(text, arguments(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_program(program.build(), program.args, kinks=True)
