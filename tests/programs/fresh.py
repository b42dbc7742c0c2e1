"""Programs that leave something behind: each derivative is taken in a program of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program

POINT = 1.3


def slope(build: Callable[[], Callable[..., Any]], x: float = POINT) -> float:
    return float(build()(x + 1e-6) - build()(x - 1e-6)) / 2e-6


def curvature(build: Callable[[], Callable[..., Any]], x: float = POINT) -> float:
    return float(build()(x + 1e-4) - 2.0 * build()(x) + build()(x - 1e-4)) / 1e-8


def check(build: Callable[[], Callable[..., Any]], forward: str = "", second: str = "") -> None:
    """Every mode; ``forward`` and ``second``: why forward mode and second derivatives are refused."""
    plain = build()
    expected, value = slope(build), plain(POINT)
    f = build()
    found, gradient = ad.value_and_grad(f)(POINT)
    assert found == value and np.isclose(gradient, expected, rtol=1e-6)
    assert np.isclose(ad.grad(build())(POINT), expected, rtol=1e-6)
    for name, left in data(plain).items():
        assert type(data(f)[name]) is type(left) and np.all(data(f)[name] == left)
    found, pullback = ad.vjp(build(), POINT)
    assert found == value and np.isclose(pullback(1.0)[0], expected, rtol=1e-6)
    assert np.isclose(pullback(2.0)[0], 2.0 * expected, rtol=1e-6)
    if forward:
        with pytest.raises(ad.UnsupportedSyntaxError, match=forward):
            ad.jvp(build(), (POINT,), (1.0,))
    else:
        assert np.isclose(ad.jvp(build(), (POINT,), (1.0,))[1], expected, rtol=1e-6)
    if not forward and not second:
        assert np.isclose(ad.linearize(build(), POINT)[1](1.0), expected, rtol=1e-6)
    if second:
        with pytest.raises(ad.UnsupportedSyntaxError, match=second):
            ad.hessian(build())(POINT)
    else:
        assert np.isclose(ad.hessian(build())(POINT), curvature(build), rtol=1e-3, atol=1e-4)
    outer = Program("def f(x): return inner(x) * x", (), {"inner": build()}).build()
    assert np.isclose(ad.grad(outer)(POINT), expected * POINT + value, rtol=1e-6)


def data(f: Callable[..., Any]) -> dict[str, Any]:
    """The numbers and arrays that the variables around ``f`` hold."""
    cells = dict(zip(f.__code__.co_freevars, f.__closure__ or ()))
    space = {**f.__globals__, **{name: cell.cell_contents for name, cell in cells.items()}}
    return {k: v for k, v in space.items() if isinstance(v, (int, float, np.ndarray)) and not k.startswith("__")}
