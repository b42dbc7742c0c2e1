"""All that can be observed of a call is the same under a derivative: results, errors, and what becomes of the arguments.

What the arguments share with each other and with the result is compared too, and what had been done before a raise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program
from choosing import Seeded
from observed_programs import program

EVERYTHING = tuple(range(6))
UNDER: dict[str, Callable[[Any, Any], Any]] = {
    "vjp": lambda f, given: ad.vjp(f, *given)[0],
    "value_and_grad": lambda f, given: ad.value_and_grad(f, argnums=EVERYTHING)(*given)[0],
    "jvp": lambda f, given: ad.jvp(f, given, (1.0, np.ones(3), None, None, None, None))[0],
}


def arguments(space: dict[str, Any]) -> tuple[Any, ...]:
    held = space["P"](0.9, np.array([1.0, 2.0, -1.0]))
    return (
        0.7, np.array([0.5, -0.3, 1.1]), np.array([0.2, 0.8, -0.6]), [0.4, 0.9],
        {"a": np.array([0.3, 0.1, 0.6]), "k": 1.5}, held,
    )  # fmt: skip


def seen(value: Any, known: dict[int, int]) -> Any:
    """``value`` in a form that can be compared: types, numbers, and which parts are one object."""
    if isinstance(value, (float, np.floating)):
        return type(value).__name__, repr(round(float(value), 9))
    if id(value) in known:
        return "the same as", known[id(value)]
    if isinstance(value, (np.ndarray, list, tuple, dict)) or hasattr(value, "__dict__"):
        known[id(value)] = len(known)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, repr(np.round(value, 9).tolist())
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [seen(v, known) for v in value]
    parts = value if isinstance(value, dict) else getattr(value, "__dict__", None)
    if parts is None:
        return repr(value)
    return type(value).__name__, [(k, seen(v, known)) for k, v in parts.items()]


def observed(run: Callable[[Any], Any], space: dict[str, Any]) -> tuple[Any, ...]:
    given = arguments(space)
    value, error = None, None
    try:
        value = run(given)
    except Exception as caught:
        error = caught
    return seen([value, list(given)], {}), type(error), str(error)


@pytest.mark.parametrize("seed", range(40))
def test_nothing_else_is_observed(seed: int) -> None:
    f = Program(program(Seeded(seed)), ()).build()
    space = f.__globals__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = observed(lambda given: f(*given), space)
        number = plain[0][1][0][0] in ("float", "float64")
        for name, run in UNDER.items():
            if name == "value_and_grad" and not number and plain[1] is type(None):
                continue
            assert observed(lambda given: run(f, given), space) == plain, name


def test_gradients_have_the_structure_that_the_arguments_had() -> None:
    f = Program(program(Seeded(0)), ()).build()
    space = f.__globals__

    def g(x: Any, xs: Any, p: Any, t: Any, unused: Any) -> Any:
        p.log.append(x)
        p.v *= x
        xs.append(p.v)
        del xs[0]
        t[1].append(x)
        unused.pop()
        return p.v * xs[-1] * len(t[1])

    p = space["P"](0.9, np.array([1.0, 2.0]))
    _, xs_bar, p_bar, t_bar, unused_bar = ad.grad(g, argnums=(0, 1, 2, 3, 4))(0.7, [1.0, 2.0], p, (3.0, [4.0]), [5.0, 6.0])
    assert xs_bar == [0.0, 0.0] and unused_bar == [0.0, 0.0] and t_bar == (0.0, [0.0])
    assert p_bar.v == pytest.approx(2 * 2 * 0.9 * 0.49) and p_bar.log == [] and np.array_equal(p_bar.w, [0.0, 0.0])
