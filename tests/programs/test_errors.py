"""Errors: they keep their type, name the user's file, line and source text, and leave nothing behind."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import numpy as np
import pytest
import thunkad as ad
from thunkad.errors import NoRuleError, SourceUnavailableError, ThunkadError, UnsupportedSyntaxError

from checking import Program


def told(error: BaseException) -> str:
    """All that a user sees of an error."""
    return "".join(traceback.format_exception(error)) + "\n".join(getattr(error, "__notes__", ()))


IN_THE_PRIMAL = {
    "shapes": ("y = x * 2\nreturn np.sum(y + np.ones(5))", ValueError, 3),
    "index": ("y = x * 2\nz = y[7]\nreturn z", IndexError, 3),
    "key": ("d = {'a': x}\nreturn np.sum(d['b'])", KeyError, 3),
    "linalg": ("m = np.zeros((3, 3)) * x\nreturn np.sum(np.linalg.inv(m))", np.linalg.LinAlgError, 3),
    "value": ("y = np.sum(x)\nreturn math.log(-abs(y))", ValueError, 3),
    "zero": ("y = float(np.sum(x))\nreturn y / (y - y)", ZeroDivisionError, 3),
    "assertion": ("y = x * 2\nassert np.sum(y) > 100, 'too small'\nreturn np.sum(y)", AssertionError, 3),
    "raised": (
        "for i in range(3):\n    if i == 1:\n        raise RuntimeError('one')\nreturn np.sum(x)",
        RuntimeError,
        4,
    ),
    "attribute": ("y = x * 2\nreturn y.nothing", AttributeError, 3),
    "callee": ("y = x * 2\nreturn bad(y)", ValueError, None),
}


@pytest.mark.parametrize("name", IN_THE_PRIMAL)
@pytest.mark.parametrize("product", ["grad", "value_and_grad", "vjp"])
def test_errors_of_the_primal(name: str, product: str) -> None:
    body, kind, line = IN_THE_PRIMAL[name]
    if (name, product) == ("value", "grad"):
        pytest.skip("an error that depends on values only may vanish with the value that grad does not need")
    lines = "\n".join("    " + text for text in body.split("\n"))
    f = Program(f"def f(x):\n{lines}\ndef bad(y):\n    return np.reshape(y, (7,))\n", ()).build()
    x = np.array([0.9, -0.4, 1.3])
    with pytest.raises(kind) as caught:
        ad.vjp(f, x) if product == "vjp" else getattr(ad, product)(f)(x)
    assert type(caught.value) is kind
    text = told(caught.value)
    assert "program" in text
    if line is not None:
        assert f"line {line}" in text and body.split("\n")[line - 2].strip() in text
    with pytest.raises(kind):  # nothing is left that makes it go another way
        ad.vjp(f, x) if product == "vjp" else getattr(ad, product)(f)(x)


def test_an_error_in_the_adjoint_names_the_line_of_the_primal() -> None:
    @ad.rrule(_refused)
    def _(x: Any) -> Any:
        y = _refused(x)

        def pullback(y_bar: Any) -> Any:
            if y_bar > 0:
                raise FloatingPointError("in the pullback")
            return (y_bar,)

        return y, pullback

    def f(x: Any) -> Any:
        y = x * 2
        return _refused(y) * 3

    with pytest.raises(FloatingPointError) as caught:
        ad.grad(f)(1.0)
    assert "return _refused(y) * 3" in told(caught.value)
    assert ad.vjp(f, 1.0)[1](-1.0)[0] == -6.0
    with pytest.raises(FloatingPointError) as caught:
        ad.vjp(f, 1.0)[1](1.0)[0]
    if sys.version_info >= (3, 11):
        assert "return _refused(y) * 3" in told(caught.value)


def _refused(x: Any) -> Any:
    return x * 1.0


REFUSED = {
    "class": "class C:\n    pass\nreturn x",
    "async": "async def g():\n    pass\nreturn x",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_syntax(name: str) -> None:
    lines = "\n".join("    " + text for text in REFUSED[name].split("\n"))
    f = Program(f"def f(x):\n{lines}\n", ()).build()
    with pytest.raises(UnsupportedSyntaxError) as caught:
        ad.grad(f)(1.0)
    first = REFUSED[name].split("\n")[0]
    assert "program" in str(caught.value) and ", line " in str(caught.value)
    assert first in str(caught.value) or REFUSED[name].split("\n")[1] in str(caught.value)


def test_no_rule() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        return np.sum(np.frompyfunc(abs, 1, 1)(y))

    with pytest.raises(ThunkadError) as caught:
        ad.grad(f)(np.ones(3))
    text = told(caught.value)
    assert "np.frompyfunc" in text


def test_a_function_made_by_frompyfunc_is_no_constant() -> None:
    twice = np.frompyfunc(lambda a: a * 2, 1, 1)
    for x in (2.0, np.ones(3)):
        with pytest.raises(ThunkadError) as caught:
            ad.grad(lambda x: np.sum(twice(x)))(x)
        assert "vectorized" in told(caught.value)


def test_no_source() -> None:
    space: dict[str, Any] = {}
    exec("def f(x):\n    return x * x\n", space)
    with pytest.raises(SourceUnavailableError, match="source"):
        ad.grad(space["f"])(1.0)


def test_an_opaque_callee_says_what_to_do() -> None:
    import struct

    def f(x: Any) -> Any:
        return struct.unpack("d", struct.pack("d", x))[0]

    with pytest.raises((NoRuleError, UnsupportedSyntaxError)) as caught:
        ad.grad(f)(2.0)
    assert "rrule" in str(caught.value) or "rule" in str(caught.value)


def test_a_failure_pins_nothing() -> None:
    def f(x: Any, kind: Any) -> Any:
        if kind == "bad":
            return x @ x
        return x * x

    for _ in range(2):
        with pytest.raises((ValueError, TypeError)):
            ad.grad(f)(2.0, "bad")
        assert ad.grad(f)(2.0, "good") == 4.0
