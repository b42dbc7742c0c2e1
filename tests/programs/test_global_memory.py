"""Memory that a function reaches by a global or closure name and writes into: never a silent constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import thunkad as ad

BUFFER = np.zeros(2)
TABLE: dict[Any, Any] = {}
LOG: list[Any] = []
WEIGHTS = np.array([0.5, -1.5])
COUNTS = {"calls": 0}


class Cell:
    shared = 0.0

    def __init__(self) -> None:
        self.h, self.calls = 1.0, 0

    def step(self, x: Any) -> Any:
        self.h = np.tanh(self.h * x)
        self.calls += 1
        return self.h


CELL = Cell()


@pytest.fixture(autouse=True)
def fresh() -> Callable[[], None]:
    def put_back() -> None:
        BUFFER[:] = 0.0
        TABLE.clear()
        LOG[:] = [1.0]
        CELL.__init__()  # type: ignore[misc]

    put_back()
    return put_back


def into_a_buffer(x: Any) -> Any:
    BUFFER[:] = x * x
    return BUFFER.sum() * x


def into_a_dict(x: Any) -> Any:
    TABLE["a"] = x * x
    return TABLE["a"] * x


def into_a_list(x: Any) -> Any:
    LOG.append(x * x)
    return LOG[-1] * x


def under_another_name(x: Any) -> Any:
    log = LOG
    log.append(x * x)
    return LOG[-1] * x


def out_of(x: Any) -> Any:
    np.multiply(np.array([x, x]), np.array([x, 2.0]), out=BUFFER)
    return BUFFER[0] + BUFFER[1] * x


def through_an_object(x: Any) -> Any:
    return CELL.step(x) * CELL.h


def fill(items: Any, x: Any) -> None:
    items.append(x * x)


def by_a_callee_that_is_given_it(x: Any) -> Any:
    fill(LOG, x)
    return LOG[-1] * x


def counts(x: Any) -> Any:
    COUNTS["calls"] += 1
    return x * x * x


def only_reads(x: Any) -> Any:
    return np.sum(WEIGHTS * x) * x


def without_derivative(x: Any) -> Any:
    LOG.append(ad.stop_gradient(x * x))
    return x * x


def closure_buffer() -> Callable[[Any], Any]:
    out = np.zeros(1)

    def f(x: Any) -> Any:
        out[0] = x * x
        return out[0] * x

    return f


def only_logs(x: Any) -> Any:
    note(x * x)
    LOG.append(x)
    return x * x * x


FOLLOWED = [counts, only_reads, without_derivative, only_logs]


@pytest.mark.parametrize("f", FOLLOWED, ids=lambda f: f.__name__)
def test_followed(f: Callable[[Any], Any]) -> None:
    def at(x: float) -> Any:
        CELL.__init__()  # type: ignore[misc]
        return f(x)

    expected = (at(0.7 + 1e-6) - at(0.7 - 1e-6)) / 2e-6
    CELL.__init__()  # type: ignore[misc]
    assert np.allclose(ad.grad(f)(0.7), expected)
    CELL.__init__()  # type: ignore[misc]
    value, pullback = ad.vjp(f, 0.7)
    assert np.allclose(pullback(1.0)[0], expected)
    assert np.allclose(pullback(2.0)[0], 2.0 * expected)
    CELL.__init__()  # type: ignore[misc]
    assert np.allclose(ad.jvp(f, (0.7,), (1.0,))[1], expected)


def note(x: Any) -> Any:
    LOG.append(x)
    return x


def last() -> Any:
    return LOG[-1]


def stored_by_a_callee(x: Any) -> Any:
    return note(x * x) * LOG[-1]


def read_by_a_callee(x: Any) -> Any:
    LOG.append(x * x)
    return last() * x


def memo(x: Any, n: int = 4) -> Any:
    if n in TABLE:
        return TABLE[n]
    TABLE[n] = x if n < 2 else memo(x, n - 1) * memo(x, n - 2)
    return TABLE[n]


def in_a_class(x: Any) -> Any:
    Cell.shared = x * x
    return Cell.shared


def in_itself(x: Any) -> Any:
    in_itself.last = x * x  # type: ignore[attr-defined]
    return in_itself.last  # type: ignore[attr-defined]


THROUGH = [
    into_a_buffer, into_a_dict, into_a_list, under_another_name, out_of, through_an_object, by_a_callee_that_is_given_it,
    closure_buffer(), stored_by_a_callee, read_by_a_callee, memo,
]  # fmt: skip


@pytest.mark.parametrize("f", THROUGH, ids=lambda f: f.__name__)
def test_derivatives_flow_through_what_outlives_the_call(f: Callable[[Any], Any], fresh: Callable[[], None]) -> None:
    def anew(take: Callable[[], Any]) -> Any:
        fresh()
        return take()

    expected = (anew(lambda: f(0.7 + 1e-6)) - anew(lambda: f(0.7 - 1e-6))) / 2e-6
    assert np.isclose(anew(lambda: ad.grad(f)(0.7)), expected)
    assert np.isclose(anew(lambda: ad.vjp(f, 0.7))[1](2.0)[0], 2.0 * expected)
    assert np.isclose(anew(lambda: ad.jvp(f, (0.7,), (1.0,)))[1], expected)


REFUSED = [in_a_class, in_itself]


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("derive", [ad.grad, lambda f: lambda x: ad.jvp(f, (x,), (1.0,))], ids=["grad", "jvp"])
def test_refused(f: Callable[[Any], Any], derive: Any) -> None:
    with pytest.raises(ad.UnsupportedSyntaxError, match="outlives the call") as raised:
        derive(f)(0.7)
    assert __file__ in str(raised.value)
