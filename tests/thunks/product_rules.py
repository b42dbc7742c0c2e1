"""A matrix product with rules that note which of their thunks run: one that is pasted, one that is called."""

from __future__ import annotations

import numpy as np

import thunkad as ad

RAN: list[str] = []


def log(what, value):
    RAN.append(what)
    return value


def take() -> list[str]:
    """What ran since the last time."""
    ran = RAN.copy()
    RAN.clear()
    return ran


def fail(what):
    raise ArithmeticError(f"the thunk of {what} ran")


def pasted(a, b):
    return a @ b


@ad.rrule(pasted)
def _(a, b):
    def pullback(z_bar):
        return ad.thunk(lambda: log("a", z_bar @ b.T)), ad.thunk(lambda: log("b", a.T @ z_bar))

    return a @ b, pullback


def called(a, b):
    return a @ b


@ad.rrule(called)
def _(a, b):
    if a is None:
        return None

    def pullback(z_bar):
        log("pullback", None)
        return ad.thunk(lambda: log("a", z_bar @ b.T)), ad.thunk(lambda: log("b", a.T @ z_bar))

    return a @ b, pullback


def aware(a, b):
    return a @ b


@ad.rrule(aware, keep_thunks=True)
def _(a, b):
    if a is None:
        return None

    def pullback(z_bar):
        log(f"aware got {type(z_bar).__name__}", None)
        return (
            ad.thunk(lambda: log("aware a", ad.unthunk(z_bar) @ b.T)),
            ad.thunk(lambda: log("aware b", a.T @ ad.unthunk(z_bar))),
        )

    return a @ b, pullback


def same(x):
    return x


SEEN: list[object] = []


@ad.rrule(same, keep_thunks=True)
def _(x):
    if x is None:
        return None

    def pullback(y_bar):
        SEEN.append(y_bar)
        return (y_bar,)

    return x, pullback


def fragile(a, b):
    return a * b


@ad.rrule(fragile)
def _(a, b):
    def pullback(z_bar):
        return ad.thunk(lambda: fail("a")), ad.thunk(lambda: z_bar * a)

    return a * b, pullback


def fragile_called(a, b):
    return a * b


@ad.rrule(fragile_called)
def _(a, b):
    if a is None:
        return None

    def pullback(z_bar):
        return ad.thunk(lambda: fail("a")), ad.thunk(lambda: z_bar * a)

    return a * b, pullback


def open_order(n, x):
    return np.sin(n * x)


@ad.rrule(open_order)
def _(n, x):
    if x is None:
        return None

    def pullback(y_bar):
        return ad.NotImplementedTangent("the order has no derivative yet"), ad.thunk(lambda: y_bar * n * np.cos(n * x))

    return np.sin(n * x), pullback


def halves(x):
    return x[:2], x[2:]


PARTS: list[tuple[str, ...]] = []


@ad.rrule(halves)
def _(x):
    if x is None:
        return None

    def pullback(y_bar):
        PARTS.append(tuple(type(part).__name__ for part in y_bar))
        return (ad.thunk(lambda: join(y_bar)),)

    return (x[:2], x[2:]), pullback


def join(parts):
    return np.concatenate([np.zeros(2) if isinstance(p, ad.ZeroTangent) else p for p in parts])


def matrices(*shapes):
    rng = np.random.default_rng(1)
    return [rng.standard_normal(shape) for shape in shapes]
