"""Every program of the tables in forward mode and to second order.

First order: the value under ``jvp`` is the plain one, and ``jvp`` and ``vjp`` are transposes of one another (that ``vjp``
is right is what the tests of the tables say).  Second order: ``jvp`` of the gradient, and the Hessian times the same
direction, against differences of the gradient.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Outcome, Program, observe
from every_program import every_program
from thunkad.tangents import AbstractZero
from thunkad.testing.differences import pairing
from thunkad.testing.leaves import copied, field_of, leaves, map_leaves, random_tangents, unthunk_all

PROGRAMS = every_program()



def laid_out(dot: Any, arg: Any) -> Any:
    """The direction in the layout of the argument, since differences are taken at their sum."""
    fortran = isinstance(arg, np.ndarray) and arg.flags.f_contiguous and not arg.flags.c_contiguous
    return np.asfortranarray(dot) if fortran else dot


@contextlib.contextmanager
def silent() -> Iterator[None]:
    with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        yield


def single(x: Any) -> bool:
    """Whether there are numbers of single precision in a nested value."""
    return any(isinstance(v, (np.ndarray, np.generic)) and v.dtype in (np.float32, np.complex64) for _, v in leaves(x))


def case(name: str) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...], Outcome]:
    """The function, its arguments, a direction, and what it does."""
    program = PROGRAMS[name]
    f, args = program.build(), program.args
    drawn = random_tangents(args, np.random.default_rng(3))
    plain = observe(lambda: f(*copied(args)))
    return f, args, tuple(map(laid_out, drawn, args)), plain


def result(found: Outcome) -> Any:
    """The derivative, which nothing may refuse."""
    if found.error is not None:
        raise AssertionError(f"it raised {found.error!r}") from found.error
    return found.value


@pytest.mark.parametrize("name", PROGRAMS)
def test_forward_mode_is_the_transpose_of_reverse_mode(name: str) -> None:
    f, args, dots, plain = case(name)
    found = observe(lambda: ad.jvp(f, copied(args), dots))
    if plain.error is not None:
        assert type(found.error) is type(plain.error) and str(found.error) == str(plain.error)
        return
    value, dot = map(unthunk_all, result(found))
    assert found.printed == plain.printed
    mine = dict(leaves(value))
    for path, v in leaves(plain.value):
        assert not field_of(v) or np.allclose(mine[path], v, rtol=1e-10, equal_nan=True)
    seed = random_tangents(plain.value, np.random.default_rng(1))
    with silent():
        bars = unthunk_all(tuple(ad.vjp(f, *copied(args))[1](seed)))
    rtol, atol = (1e-5, 1e-5) if single((args, value)) else (1e-9, 1e-10)
    assert np.allclose(pairing(seed, dot), pairing(bars, dots), rtol=rtol, atol=atol, equal_nan=True)


def gradient_of(f: Callable[..., Any], args: Any, wanted: tuple[int, ...], plain: Outcome) -> Callable[..., Any]:
    """The gradient of ``f``, or of its result weighted at random where that is not one number."""
    if field_of(plain.value) == "real" and np.size(plain.value) == 1:
        return ad.grad(f, argnums=wanted)
    seed = random_tangents(plain.value, np.random.default_rng(1))
    names = ", ".join(f"x{k}" for k in range(len(args)))
    parts = ", ".join(f"back[{k}]" for k in wanted)
    text = f"def f({names}):\n    back = ad.vjp(inner, {names})[1](seed)\n    return [{parts}]\n"
    return Program(text, args, {"inner": f, "ad": ad, "seed": seed}).build()


def difference(gradient: Callable[..., Any], args: Any, dots: Any) -> dict[Any, Any]:
    """The derivative of the gradient's numbers along ``dots``, by path."""
    moving = {path: dot for path, dot in leaves(dots) if not isinstance(dot, AbstractZero)}

    def at(step: float) -> dict[Any, Any]:
        def moved(path: Any, v: Any) -> Any:
            if path in moving:
                return v + step * moving[path]
            return np.array(v, copy=True, subok=True) if isinstance(v, np.ndarray) else v

        with silent():
            found = unthunk_all(gradient(*map_leaves(moved, args)))
        return {path: v for path, v in leaves(found) if field_of(v)}

    h = 1e-4
    far, near = (at(h), at(-h)), (at(h / 2), at(-h / 2))
    return {p: (4 * (near[0][p] - near[1][p]) / h - (far[0][p] - far[1][p]) / (2 * h)) / 3 for p in far[0]}


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_order(name: str) -> None:
    f, args, dots, plain = case(name)
    wanted = tuple(k for k, a in enumerate(args) if any(field_of(v) in ("real", "complex") for _, v in leaves(a)))
    if plain.error is not None or not wanted:
        return
    gradient = gradient_of(f, args, wanted, plain)
    _, found = result(observe(lambda: ad.jvp(gradient, copied(args), dots)))
    if single((args, plain.value)):
        return  # differences of numbers of single precision say nothing here
    wanted_dots = difference(gradient, args, dots)
    close(found, wanted_dots)
    close(result(observe(lambda: along(ad.hessian, f, gradient, wanted, copied(args), dots, plain))), wanted_dots)


def close(dot: Any, want: dict[Any, Any]) -> None:
    got = dict(leaves(unthunk_all(dot)))
    for path, number in want.items():
        have = got.get(path, 0.0)
        have = 0.0 if isinstance(have, AbstractZero) else have
        assert np.allclose(have, number, rtol=1e-5, atol=1e-5, equal_nan=True), f"{path}: {have}, not {number}"


def along(hessian: Any, f: Any, gradient: Any, wanted: tuple[int, ...], args: Any, dots: Any, plain: Outcome) -> Any:
    """The Hessian times the direction: of ``f`` itself where it has one, else by the map of which it is made."""
    real = field_of(plain.value) == "real" and np.size(plain.value) == 1
    if not real or any(field_of(args[k]) != "real" for k in wanted):
        return ad.linearize(gradient, *args)[1](*dots)
    blocks = hessian(f, argnums=wanted)(*args)
    return tuple(sum(np.tensordot(b, dots[j], np.ndim(args[j])) for b, j in zip(row, wanted)) for row in blocks)
