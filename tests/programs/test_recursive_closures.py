"""Functions that hold memory, themselves included: what they read of it, they read when they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import thunkad as ad


def itself(x: Any) -> Any:
    def go(n: int) -> Any:
        if n == 0:
            return 1.0
        return x * go(n - 1)

    return go(4)


def mutual(x: Any) -> Any:
    def even(n: int) -> Any:
        return x if n == 0 else odd(n - 1) * x

    def odd(n: int) -> Any:
        return x * x if n == 0 else even(n - 1) * 2.0

    return even(5)


def mutual_through_a_dict(x: Any) -> Any:
    s, fs = [x * x], {}

    def even(n: int) -> Any:
        return s[0] if n == 0 else x * fs["odd"](n - 1)

    def odd(n: int) -> Any:
        return x if n == 0 else fs["even"](n - 1) * s[0]

    fs["even"] = even
    fs["odd"] = odd
    return fs["even"](4)


def list_changed_after_the_closure_was_made(x: Any) -> Any:
    ys = [x, x]

    def g(t: Any) -> Any:
        return ys[0] * t

    hs = [g]
    ys[0] = x * x
    return hs[0](x)


class Holder:
    def scaled(self, t: Any) -> Any:
        return self.k * t  # type: ignore[attr-defined]


def object_changed_after_its_method_was_taken(x: Any) -> Any:
    o = Holder()
    o.k = x  # type: ignore[attr-defined]
    scaled = o.scaled
    o.k = x * x  # type: ignore[attr-defined]
    return scaled(3.0) * x


PROGRAMS = [
    itself,
    mutual,
    mutual_through_a_dict,
    list_changed_after_the_closure_was_made,
    object_changed_after_its_method_was_taken,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[[Any], Any]) -> None:
    h = 1e-6
    expected = pytest.approx((f(0.7 + h) - f(0.7 - h)) / (2 * h), rel=1e-8)
    assert ad.grad(f)(0.7) == expected
    assert ad.jvp(f, (0.7,), (1.0,))[1] == expected
    assert ad.vjp(f, 0.7)[1](2.0)[0] / 2.0 == expected
