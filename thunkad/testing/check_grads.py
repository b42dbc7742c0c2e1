"""Check derivatives of whole functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from thunkad.tangents import ZERO, AbstractZero
from thunkad.testing.differences import numerical_jvp, numerical_vjp
from thunkad.testing.leaves import at, copied, field_of, leaves, random_tangents, same
from thunkad.testing.report import expect_close, fail


def check_grads(
    f: Callable[..., Any],
    *args: Any,
    argnums: int | Sequence[int] | None = None,
    order: int = 1,
    rtol: float = 1e-6,
    atol: float = 1e-7,
) -> None:
    """Check the reverse and the forward derivative of ``f`` against finite differences, up to an order.

    Parameters
    ----------
    f : callable
        A function of numbers, arrays, and lists, tuples and dicts of them.
    *args
        A point at which it is differentiable.
    argnums : int or sequence of int, optional
        The arguments to differentiate; by default all that hold a float or complex number.
    order : int
        Also check derivatives of derivatives, up to this order.
    rtol, atol : float
        Tolerances.

    Raises
    ------
    CheckError
        If a check fails.
    """
    import thunkad

    ad: Any = thunkad

    subject = f"check_grads({getattr(f, '__name__', f)!s})"
    if argnums is None:
        argnums = [k for k, a in enumerate(args) if any(field_of(v) in ("real", "complex") for _, v in leaves(a))]
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    rng = np.random.default_rng(0)
    before = copied(args)
    plain = f(*copied(args))

    value, pullback = ad.vjp(f, *args)
    _expect_same_value(subject, "vjp", value, plain)
    seed = random_tangents(value, rng)
    bars = tuple(pullback(seed))
    if not same(args, before):
        fail(subject, "an argument was modified", args, before)
    wanted = numerical_vjp(f, args, seed)
    for path, want in wanted.items():
        if path[0] in chosen:
            leaf = at(args, path)
            bar = at(bars, path)
            bar = np.zeros_like(leaf)[()] if isinstance(bar, AbstractZero) else bar
            expect_close(subject, f"the cotangent of argument {_named(path)}", bar, want, rtol, atol)
    again = tuple(pullback(seed))
    if not same(again, bars):
        fail(subject, "a second call of the pullback gives other cotangents", again, bars)

    if hasattr(ad, "jvp"):
        _check_forward(ad, f, args, chosen, plain, subject, rtol, atol)
    if order > 1:
        gradient = ad.grad(
            f if field_of(plain) == "real" and np.ndim(plain) == 0 else _weighted(f, seed), argnums=chosen
        )
        gradient.__name__ = f"gradient of {getattr(f, '__name__', f)}"
        check_grads(gradient, *args, argnums=chosen, order=order - 1, rtol=rtol * 10, atol=atol * 10)


def _check_forward(
    ad: Any, f: Any, args: Any, chosen: tuple[int, ...], plain: Any, subject: str, rtol: float, atol: float
) -> None:
    rng = np.random.default_rng(1)
    tangents = tuple(random_tangents(a, rng) if k in chosen else ZERO for k, a in enumerate(args))
    value, value_dot = ad.jvp(f, copied(args), tangents)
    _expect_same_value(subject, "jvp", value, plain)
    directions = {p: v for p, v in leaves(tangents) if not isinstance(v, AbstractZero)}
    for path, want in numerical_jvp(f, args, directions).items():
        got = at(value_dot, path)
        got = np.zeros_like(want)[()] if isinstance(got, AbstractZero) else got
        expect_close(subject, f"the tangent of the result {_named(path)}", got, want, rtol, atol)


def _weighted(f: Callable[..., Any], seed: Any) -> Callable[..., Any]:
    """A scalar function with the second derivatives of ``f`` along ``seed``."""

    def weighted(*args: Any) -> Any:
        return np.sum(np.real(np.conjugate(seed) * f(*args)))

    return weighted


def _expect_same_value(subject: str, name: str, value: Any, plain: Any) -> None:
    mine, others = list(leaves(value)), list(leaves(plain))
    if [p for p, _ in mine] != [p for p, _ in others]:
        fail(subject, f"the value that {name} returns has another structure than the function's", value, plain)
    for (path, got), (_, want) in zip(mine, others):
        if field_of(want):
            expect_close(subject, f"the value {_named(path)} that {name} returns", got, want, 1e-12, 1e-12)


def _named(path: tuple[Any, ...]) -> str:
    return "".join(str(step) if k == 0 else f"[{step!r}]" for k, step in enumerate(path))
