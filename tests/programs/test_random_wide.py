"""Random programs of many features on real, single and complex numbers: everything observable, and gradients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from checking import Program, check_program, observe
from choosing import Seeded
from thunkad import UnsupportedSyntaxError, vjp
from thunkad.testing.leaves import copied
from wide_programs import Maker


def arguments(seed: int, dtype: str) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)

    def array() -> Any:
        real = rng.uniform(-1, 1.2, 4)
        return (real + 1j * rng.uniform(-1, 1, 4) if dtype == "D" else real).astype(dtype)

    s = float(rng.uniform(0.2, 1.2))
    return array(), array(), complex(s, 0.3) if dtype == "D" else s, {"a": array(), "b": array()}


def check(text: str, args: tuple[Any, ...], single: bool = False) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused = observe(lambda: vjp(Program(text, args).build(), *copied(args))).error
        if isinstance(refused, UnsupportedSyntaxError):
            return  # a write that is known only when the code runs, or that a handler may see half of
        check_program(Program(text, args).build(), args, *((1e-4, 1e-5) if single else ()), kinks=True)


@pytest.mark.parametrize("dtype", ["d", "f", "D"])
@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed: int, dtype: str) -> None:
    check(Maker(Seeded(seed)).program(), arguments(seed, dtype), dtype == "f")
