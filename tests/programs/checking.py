"""One program, everything that can be observed of it: plain, under ``vjp``, ``value_and_grad`` and ``grad``, and called
from another function; derivatives against central differences.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import thunkad as ad
from thunkad.tangents import AbstractZero
from thunkad.testing import differences
from thunkad.testing.differences import numerical_vjp
from thunkad.testing.leaves import at, copied, field_of, leaves, random_tangents, unthunk_all

_numbers = itertools.count()


@dataclass
class Outcome:
    """What one run did: its value or its exception, and what it printed."""

    value: Any = None
    error: BaseException | None = None
    printed: str = ""


def observe(run: Callable[[], Any]) -> Outcome:
    out = Outcome()
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), np.errstate(all="ignore"):
        try:
            out.value = run()
        except Exception as error:
            out.error = error
    out.printed = stream.getvalue()
    return out


@dataclass
class Program:
    """Source text that defines ``f``, and the arguments to call it with."""

    text: str
    args: tuple[Any, ...]
    namespace: dict[str, Any] = field(default_factory=dict)

    def build(self) -> Callable[..., Any]:
        """``f``, in a module of its own whose source can be found."""
        text = textwrap.dedent(self.text)
        filename = f"<program {next(_numbers)}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        space: dict[str, Any] = {"np": np, "math": math, "__name__": f"program_{filename[9:-1]}", **self.namespace}
        exec(compile(text, filename, "exec", dont_inherit=True), space)
        return space["f"]


def same_values(a: Any, b: Any) -> bool:
    mine, others = list(leaves(unthunk_all(a))), list(leaves(b))
    if [p for p, _ in mine] != [p for p, _ in others] or type(a) is not type(b) and not isinstance(b, float):
        return False
    return all(_same_leaf(x, y) for (_, x), (_, y) in zip(mine, others))


def _same_leaf(x: Any, y: Any) -> bool:
    if field_of(y) or isinstance(y, np.ndarray):
        if np.shape(x) != np.shape(y) or np.asarray(x).dtype != np.asarray(y).dtype:
            return False
        return bool(np.allclose(x, y, rtol=1e-12, atol=1e-12, equal_nan=True))
    return type(x) is type(y)


def check_program(
    f: Callable[..., Any], args: tuple[Any, ...], rtol: float = 2e-6, atol: float = 2e-7, kinks: bool = False
) -> None:
    """Compare everything that can be observed of ``f(*args)`` with its derivatives.

    ``kinks``: the point may lie next to a jump or a kink; then derivatives are not compared.
    """
    after, given = copied(args), copied(args)
    plain = observe(lambda: f(*after))
    under = observe(lambda: ad.vjp(f, *given))
    expect_same_behaviour(plain, under, "vjp", lambda: under.value[0])
    assert same_values(given, after), f"the arguments are left as {given}, not {after}"
    wanted = tuple(k for k, a in enumerate(args) if any(field_of(v) in ("real", "complex") for _, v in leaves(a)))
    if plain.error is not None:
        if wanted:
            other = observe(lambda: ad.value_and_grad(f, argnums=wanted)(*copied(args)))
            expect_same_behaviour(plain, other, "value_and_grad", lambda: None)
        return
    pullback = under.value[1]
    seed = random_tangents(plain.value, np.random.default_rng(1))
    with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        expected = numerical_vjp(f, args, seed)
    if kinks and not stable(f, args, seed, expected):
        return
    bars = observe(lambda: unthunk_all(tuple(pullback(seed))))
    assert bars.error is None and not bars.printed, f"the pullback raised {bars.error!r}, printed {bars.printed!r}"
    expect_cotangents(bars.value, args, expected, range(len(args)), "pullback", rtol, atol)
    again = unthunk_all(tuple(pullback(copied(seed))))
    assert same_cotangents(again, bars.value), (
        f"a second call of the pullback gives other cotangents\n{again}\n{bars.value}"
    )
    for k in wanted:
        alone = pullback(seed)[k]
        assert same_cotangents(alone, bars.value[k]), f"entry {k} read alone is {alone}, not {bars.value[k]}"
    check_inside(f, args, seed, expected, rtol, atol)
    if field_of(plain.value) == "real" and np.size(plain.value) == 1 and wanted:
        check_gradients(f, args, wanted, plain, rtol, atol)


def check_gradients(
    f: Callable[..., Any], args: tuple[Any, ...], wanted: tuple[int, ...], plain: Outcome, rtol: float, atol: float
) -> None:
    with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        expected = numerical_vjp(f, args, np.ones(np.shape(plain.value)))
    both = observe(lambda: ad.value_and_grad(f, argnums=wanted)(*copied(args)))
    expect_same_behaviour(plain, both, "value_and_grad", lambda: both.value[0])
    by_place = dict(zip(wanted, both.value[1]))
    expect_cotangents(by_place, args, expected, wanted, "value_and_grad", rtol, atol)
    for k in wanted:
        single = observe(lambda k=k: ad.grad(f, argnums=k)(*copied(args)))  # type: ignore[misc]
        assert single.error is None, f"grad for argument {k} raised {single.error!r}"
        assert single.printed == plain.printed, f"grad printed {single.printed!r}, not {plain.printed!r}"
        expect_cotangents({k: single.value}, args, expected, (k,), "grad", rtol, atol)


def check_inside(f: Any, args: tuple[Any, ...], seed: Any, expected: Any, rtol: float, atol: float) -> None:
    """The same derivative when ``f`` is called by a function that is differentiated."""
    names = ", ".join(f"x{k}" for k in range(len(args)))
    outer = Program(f"def f({names}):\n    return inner({names})\n", args, {"inner": f}).build()
    found = observe(lambda: unthunk_all(tuple(ad.vjp(outer, *copied(args))[1](seed))))
    assert found.error is None, f"as a callee it raised {found.error!r}"
    expect_cotangents(found.value, args, expected, range(len(args)), "as a callee", rtol, atol)


def expect_same_behaviour(plain: Outcome, other: Outcome, name: str, value: Callable[[], Any]) -> None:
    if plain.error is not None:
        assert other.error is not None, f"{name} did not raise {plain.error!r}"
        assert type(other.error) is type(plain.error), f"{name} raised {other.error!r}, not {plain.error!r}"
        assert str(other.error) == str(plain.error), f"{name} raised {other.error!r}, not {plain.error!r}"
    else:
        if other.error is not None:
            raise AssertionError(f"{name} raised {other.error!r}") from other.error
        got = value()
        assert same_values(got, plain.value), f"the value under {name} is {got!r}, not {plain.value!r}"
    assert other.printed == plain.printed, f"{name} printed {other.printed!r}, not {plain.printed!r}"


def expect_cotangents(bars: Any, args: Any, expected: Any, places: Any, name: str, rtol: float, atol: float) -> None:
    for path, want in expected.items():
        if path[0] not in places:
            continue
        leaf = at(args, path)
        bar = at(bars, path)
        if isinstance(bar, AbstractZero):
            bar = np.zeros(np.shape(leaf))
        assert np.shape(bar) == np.shape(want), f"{name}: the cotangent of {path} has shape {np.shape(bar)}"
        if isinstance(leaf, np.ndarray):
            assert isinstance(bar, np.ndarray), f"{name}: the cotangent of the array {path} is a {type(bar).__name__}"
            assert leaf.dtype == bar.dtype, f"{name}: the cotangent of {path} is of {bar.dtype}, not {leaf.dtype}"
        else:
            assert not isinstance(bar, np.ndarray), f"{name}: the cotangent of the number {path} is an array"
        assert np.allclose(bar, want, rtol=rtol, atol=atol), f"{name}: the cotangent of {path} is\n{bar}\nnot\n{want}"


def same_cotangents(a: Any, b: Any) -> bool:
    mine, others = list(leaves(unthunk_all(a))), list(leaves(unthunk_all(b)))
    return [p for p, _ in mine] == [p for p, _ in others] and all(
        x is y
        if isinstance(y, AbstractZero)
        else np.array_equal(x, y, equal_nan=True)
        if field_of(y)
        else type(x) is type(y)
        for (_, x), (_, y) in zip(mine, others)
    )


def stable(f: Any, args: Any, seed: Any, expected: dict[Any, Any]) -> bool:
    """Whether the differences mean something here: smaller steps, with other points, tell the same."""
    step = differences.STEP
    try:
        differences.STEP = step / 7
        with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            finer = numerical_vjp(f, args, seed)
    finally:
        differences.STEP = step
    return all(np.all(np.isfinite(v)) and np.allclose(v, finer[p], rtol=1e-6, atol=1e-7) for p, v in expected.items())
