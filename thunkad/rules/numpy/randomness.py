"""Random numbers: draws are constants, but for their dependence on parameters of location, scale and simple shape.

The draw itself is kept: the derivative of ``rng.normal(loc, scale)`` is that of ``loc + scale * e`` with ``e`` fixed.
The functions of ``np.random`` are methods of a hidden ``RandomState``, and found as such.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState

from thunkad.rules.keywords import ALIASES
from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.refused import refuse
from thunkad.runtime.arrays import unbroadcast
from thunkad.runtime.randomness import (
    draw_dot,
    draw_high_bar,
    draw_location_bar,
    draw_low_bar,
    draw_scale_bar,
    drawn,
    drawn_order,
    drawn_positions,
    log_draw_dot,
    log_draw_scale_bar,
    pareto_draw_partial,
    power_draw_partial,
    triangular_bars,
    triangular_dot,
    uniform_dot,
)
from thunkad.tangents import NoTangent, NotImplementedTangent, thunk

_PARAMETERLESS = "bytes random standard_cauchy standard_exponential standard_normal"
_DISCRETE = (
    "binomial geometric hypergeometric integers logseries multinomial multivariate_hypergeometric negative_binomial poisson "
    "zipf randint random_integers tomaxint"
)
_STATE = "bit_generator get_state set_state seed spawn rand randn random_sample"
_REJECTED = "beta chisquare dirichlet f noncentral_chisquare noncentral_f standard_gamma standard_t wald"

for _cls in (Generator, RandomState):
    for _name in f"{_PARAMETERLESS} {_DISCRETE} {_STATE}".split():
        if hasattr(_cls, _name):
            non_differentiable(getattr(_cls, _name))
    refuse(
        "it draws by accepting and rejecting, so the draw is no smooth function of its parameters",
        *(getattr(_cls, name) for name in _REJECTED.split() if hasattr(_cls, name)),
    )
    refuse("it works in place; use permutation", _cls.shuffle, *([_cls.permuted] if hasattr(_cls, "permuted") else []))
non_differentiable(drawn_order, drawn_positions)
non_differentiable(
    *(getattr(np.random, name) for name in "default_rng get_state set_state seed random_sample sample ranf".split()),
    *(getattr(np.random, name) for name in ("get_bit_generator", "set_bit_generator") if hasattr(np.random, name)),
    np.random.Generator,
    np.random.RandomState,
    np.random.SeedSequence,
    np.random.BitGenerator,
    np.random.MT19937,
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.Philox,
    np.random.SFC64,
    np.random.test,  # type: ignore[attr-defined]  # not in the stubs
)
non_differentiable(
    *(getattr(random.Random, name) for name in "random getrandbits seed getstate setstate".split())
)  # the others are Python code


def located(draw: Any) -> None:
    """The rules of ``draw(self, loc, scale, size)``."""

    @rrule(draw)
    def _(self, loc=0.0, scale=1.0, size=None):
        y = draw(self, loc, scale, size)

        def pullback(y_bar):
            return (
                NoTangent(),
                thunk(lambda: draw_location_bar(y_bar, loc)),
                thunk(lambda: draw_scale_bar(y_bar, y, loc, scale)),
                NoTangent(),
            )

        return y, pullback

    @frule(draw)
    def _(self, loc=0.0, scale=1.0, size=None, *, loc_dot, scale_dot):
        y = draw(self, loc, scale, size)
        return y, draw_dot(y, loc, scale, loc_dot, scale_dot)


def scaled(draw: Any) -> None:
    """The rules of ``draw(self, scale, size)``."""

    @rrule(draw)
    def _(self, scale=1.0, size=None):
        y = draw(self, scale, size)

        def pullback(y_bar):
            return NoTangent(), thunk(lambda: draw_scale_bar(y_bar, y, 0.0, scale)), NoTangent()

        return y, pullback

    @frule(draw)
    def _(self, scale=1.0, size=None, *, scale_dot):
        y = draw(self, scale, size)
        return y, draw_dot(y, 0.0, scale, 0.0, scale_dot)


def shaped(draw: Any, partial: Any) -> None:
    """The rules of ``draw(self, a, size)`` with a derivative ``partial(y, a)``."""

    @rrule(draw)
    def _(self, a, size=None):
        y = draw(self, a, size)

        def pullback(y_bar):
            return NoTangent(), thunk(lambda: unbroadcast(y_bar * partial(y, a), a)), NoTangent()

        return y, pullback

    @frule(draw)
    def _(self, a, size=None, *, a_dot):
        y = draw(self, a, size)
        return y, partial(y, a) * a_dot


def partly(draw: Any, reason: str) -> None:
    """The rules of ``draw(self, mean, other, size)`` of which only the first parameter has a derivative, a location."""

    @rrule(draw)
    def _(self, mean, other, size=None):
        y = draw(self, mean, other, size)

        def pullback(y_bar):
            return (
                NoTangent(),
                thunk(lambda: draw_location_bar(y_bar, mean)),
                NotImplementedTangent(reason),
                NoTangent(),
            )

        return y, pullback

    @frule(draw)
    def _(self, mean, other, size=None, *, mean_dot, other_dot):
        y = draw(self, mean, other, size)
        return y, draw_dot(y, mean, 1.0, mean_dot, other_dot * NotImplementedTangent(reason))


def correlated(draw: Any) -> None:
    """The rules of multivariate normal draws."""
    reason = "write mean + L @ rng.standard_normal(n) with L = np.linalg.cholesky(cov)"

    @rrule(draw)
    def _(self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method=None):
        y = drawn(draw, self, mean, cov, size, check_valid, tol, method)

        def pullback(y_bar):
            return (
                NoTangent(),
                thunk(lambda: draw_location_bar(y_bar, mean)),
                NotImplementedTangent(reason),
                NoTangent(),
                NoTangent(),
                NoTangent(),
            )

        return y, pullback

    @frule(draw)
    def _(self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method=None, mean_dot, cov_dot):
        y = drawn(draw, self, mean, cov, size, check_valid, tol, method)
        return y, draw_dot(y, mean, 1.0, mean_dot, cov_dot * NotImplementedTangent(reason))


def of_class(cls: Any) -> None:
    """The rules of the methods of one class of generators."""
    for draw in (cls.normal, cls.laplace, cls.logistic, cls.gumbel):
        located(draw)
    for draw in (cls.exponential, cls.rayleigh):
        scaled(draw)
    shaped(cls.weibull, power_draw_partial)
    shaped(cls.power, power_draw_partial)
    shaped(cls.pareto, pareto_draw_partial)
    partly(cls.vonmises, "von Mises draws have no derivative by kappa")
    ALIASES[cls.vonmises] = {"mu": "mean", "kappa": "other"}
    correlated(cls.multivariate_normal)

    @rrule(cls.uniform)
    def _(self, low=0.0, high=1.0, size=None):
        y = cls.uniform(self, low, high, size)

        def pullback(y_bar):
            return (
                NoTangent(),
                thunk(lambda: draw_low_bar(y_bar, y, low, high)),
                thunk(lambda: draw_high_bar(y_bar, y, low, high)),
                NoTangent(),
            )

        return y, pullback

    @frule(cls.uniform)
    def _(self, low=0.0, high=1.0, size=None, *, low_dot, high_dot):
        y = cls.uniform(self, low, high, size)
        return y, uniform_dot(y, low, high, low_dot, high_dot)

    @rrule(cls.lognormal)
    def _(self, mean=0.0, sigma=1.0, size=None):
        y = cls.lognormal(self, mean, sigma, size)

        def pullback(y_bar):
            return (
                NoTangent(),
                thunk(lambda: unbroadcast(y_bar * y, mean)),
                thunk(lambda: log_draw_scale_bar(y_bar, y, mean, sigma)),
                NoTangent(),
            )

        return y, pullback

    @frule(cls.lognormal)
    def _(self, mean=0.0, sigma=1.0, size=None, *, mean_dot, sigma_dot):
        y = cls.lognormal(self, mean, sigma, size)
        return y, log_draw_dot(y, mean, sigma, mean_dot, sigma_dot)

    @rrule(cls.triangular)
    def _(self, left, mode, right, size=None):
        y = cls.triangular(self, left, mode, right, size)

        def pullback(y_bar):
            bars = triangular_bars(y_bar, y, left, mode, right)
            return NoTangent(), thunk(lambda: bars[0]), thunk(lambda: bars[1]), thunk(lambda: bars[2]), NoTangent()

        return y, pullback

    @frule(cls.triangular)
    def _(self, left, mode, right, size=None, *, left_dot, mode_dot, right_dot):
        y = cls.triangular(self, left, mode, right, size)
        return y, triangular_dot(y, left, mode, right, (left_dot, mode_dot, right_dot))

    @rrule(cls.gamma)
    def _(self, shape, scale=1.0, size=None):
        y = cls.gamma(self, shape, scale, size)

        def pullback(y_bar):
            reason = "draws of the gamma distribution have no derivative by the shape"
            return (
                NoTangent(),
                NotImplementedTangent(reason),
                thunk(lambda: draw_scale_bar(y_bar, y, 0.0, scale)),
                NoTangent(),
            )

        return y, pullback

    @frule(cls.gamma)
    def _(self, shape, scale=1.0, size=None, *, shape_dot, scale_dot):
        y = cls.gamma(self, shape, scale, size)
        shape_term = shape_dot * NotImplementedTangent(
            "draws of the gamma distribution have no derivative by the shape"
        )
        return y, draw_dot(y, 0.0, scale, shape_term, scale_dot)


of_class(Generator)
of_class(RandomState)


@alternative(Generator.permutation)
def permuted(self, x, axis=0):
    return np.take(x, drawn_order(self, np.shape(x)[axis]), axis) if np.ndim(x) else drawn_order(self, x)


@alternative(RandomState.permutation)
def permuted_rows(self, x):
    return np.take(x, drawn_order(self, len(x)), 0) if np.ndim(x) else drawn_order(self, x)


@alternative(Generator.choice)
def chosen_along(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    if np.ndim(a) == 0:
        return drawn_positions(self, a, size, replace, p, shuffle)
    return np.take(a, drawn_positions(self, np.shape(a)[axis], size, replace, p, shuffle), axis)


@alternative(RandomState.choice)
def chosen_from(self, a, size=None, replace=True, p=None):
    if np.ndim(a) == 0:
        return drawn_positions(self, a, size, replace, p)
    return np.take(a, drawn_positions(self, len(a), size, replace, p), 0)
