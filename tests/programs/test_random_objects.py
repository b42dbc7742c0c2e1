"""Random programs over objects and containers that change: everything observable, and gradients against differences."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from choosing import Seeded
from checking import Program, check_program, observe
from object_programs import Maker
from thunkad import UnsupportedSyntaxError, vjp


@pytest.mark.parametrize("seed", range(2000, 2040))
def test_random_programs(seed: int) -> None:
    text = Maker(Seeded(seed)).program()
    rng = np.random.default_rng(seed)
    args = (*map(float, rng.uniform(-1, 1.5, 2)), rng.uniform(-1, 1.5, 3), rng.uniform(-1, 1.5, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused = observe(lambda: vjp(Program(text, args).build(), *args)).error
        if isinstance(refused, UnsupportedSyntaxError):
            return  # a write by a callee that is known only when the code runs
        check_program(Program(text, args).build(), args, kinks=True)
