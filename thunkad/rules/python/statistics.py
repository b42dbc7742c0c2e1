"""The functions of :mod:`statistics` that compute with exact fractions; the others are looked into."""

from __future__ import annotations

import statistics
import sys

from thunkad.rules.library import frule, rrule
from thunkad.runtime.averages import (
    geometric_slopes,
    harmonic_slopes,
    harmonic_weight_slopes,
    root_slopes,
    shares,
    spread_slopes,
    weight_slopes,
)
from thunkad.runtime.scalars import dot_of_sequence, repeated_bar, scaled_bar
from thunkad.tangents import thunk

# Means


@rrule(statistics.mean)
def _(data):
    y = statistics.mean(data)

    def pullback(y_bar):
        return (thunk(lambda: repeated_bar(y_bar / len(data), data)),)

    return y, pullback


@frule(statistics.mean)
def _(data, *, data_dot):
    return statistics.mean(data), dot_of_sequence(shares(data, None), data_dot)


@rrule(statistics.geometric_mean)
def _(data):
    y = statistics.geometric_mean(data)

    def pullback(y_bar):
        return (thunk(lambda: scaled_bar(y_bar, geometric_slopes(y, data), data)),)

    return y, pullback


@frule(statistics.geometric_mean)
def _(data, *, data_dot):
    y = statistics.geometric_mean(data)
    return y, dot_of_sequence(geometric_slopes(y, data), data_dot)


if sys.version_info >= (3, 11):

    @rrule(statistics.fmean)
    def _(data, weights=None):
        y = statistics.fmean(data, weights)

        def pullback(y_bar):
            return (
                thunk(lambda: scaled_bar(y_bar, shares(data, weights), data)),
                thunk(lambda: scaled_bar(y_bar, weight_slopes(y, data, weights), weights)),
            )

        return y, pullback


    @frule(statistics.fmean)
    def _(data, weights=None, *, data_dot, weights_dot):
        y = statistics.fmean(data, weights)
        moved = dot_of_sequence(shares(data, weights), data_dot)
        if weights is not None:
            moved = moved + dot_of_sequence(weight_slopes(y, data, weights), weights_dot)
        return y, moved

else:

    @rrule(statistics.fmean)
    def _(data):
        y = statistics.fmean(data)

        def pullback(y_bar):
            return (thunk(lambda: repeated_bar(y_bar / len(data), data)),)

        return y, pullback

    @frule(statistics.fmean)
    def _(data, *, data_dot):
        return statistics.fmean(data), dot_of_sequence(shares(data, None), data_dot)


@rrule(statistics.harmonic_mean)
def _(data, weights=None):
    y = statistics.harmonic_mean(data, weights)

    def pullback(y_bar):
        return (
            thunk(lambda: scaled_bar(y_bar, harmonic_slopes(y, data, weights), data)),
            thunk(lambda: scaled_bar(y_bar, harmonic_weight_slopes(y, data, weights), weights)),
        )

    return y, pullback


@frule(statistics.harmonic_mean)
def _(data, weights=None, *, data_dot, weights_dot):
    y = statistics.harmonic_mean(data, weights)
    moved = dot_of_sequence(harmonic_slopes(y, data, weights), data_dot)
    if weights is not None:
        moved = moved + dot_of_sequence(harmonic_weight_slopes(y, data, weights), weights_dot)
    return y, moved


# Spreads


@rrule(statistics.variance)
def _(data, xbar=None):
    y = statistics.variance(data, xbar)

    def pullback(y_bar):
        return (
            thunk(lambda: scaled_bar(y_bar, spread_slopes(data, xbar, len(data) - 1), data)),
            thunk(lambda: -y_bar * sum(spread_slopes(data, xbar, len(data) - 1))),
        )

    return y, pullback


@frule(statistics.variance)
def _(data, xbar=None, *, data_dot, xbar_dot):
    y = statistics.variance(data, xbar)
    moved = dot_of_sequence(spread_slopes(data, xbar, len(data) - 1), data_dot)
    if xbar is not None:
        moved = moved - xbar_dot * sum(spread_slopes(data, xbar, len(data) - 1))
    return y, moved


@rrule(statistics.pvariance)
def _(data, mu=None):
    y = statistics.pvariance(data, mu)

    def pullback(y_bar):
        return (
            thunk(lambda: scaled_bar(y_bar, spread_slopes(data, mu, len(data)), data)),
            thunk(lambda: -y_bar * sum(spread_slopes(data, mu, len(data)))),
        )

    return y, pullback


@frule(statistics.pvariance)
def _(data, mu=None, *, data_dot, mu_dot):
    y = statistics.pvariance(data, mu)
    moved = dot_of_sequence(spread_slopes(data, mu, len(data)), data_dot)
    if mu is not None:
        moved = moved - mu_dot * sum(spread_slopes(data, mu, len(data)))
    return y, moved


@rrule(statistics.stdev)
def _(data, xbar=None):
    y = statistics.stdev(data, xbar)

    def pullback(y_bar):
        return (
            thunk(lambda: scaled_bar(y_bar, root_slopes(y, data, xbar, len(data) - 1), data)),
            thunk(lambda: -y_bar * sum(root_slopes(y, data, xbar, len(data) - 1))),
        )

    return y, pullback


@frule(statistics.stdev)
def _(data, xbar=None, *, data_dot, xbar_dot):
    y = statistics.stdev(data, xbar)
    moved = dot_of_sequence(root_slopes(y, data, xbar, len(data) - 1), data_dot)
    if xbar is not None:
        moved = moved - xbar_dot * sum(root_slopes(y, data, xbar, len(data) - 1))
    return y, moved


@rrule(statistics.pstdev)
def _(data, mu=None):
    y = statistics.pstdev(data, mu)

    def pullback(y_bar):
        return (
            thunk(lambda: scaled_bar(y_bar, root_slopes(y, data, mu, len(data)), data)),
            thunk(lambda: -y_bar * sum(root_slopes(y, data, mu, len(data)))),
        )

    return y, pullback


@frule(statistics.pstdev)
def _(data, mu=None, *, data_dot, mu_dot):
    y = statistics.pstdev(data, mu)
    moved = dot_of_sequence(root_slopes(y, data, mu, len(data)), data_dot)
    if mu is not None:
        moved = moved - mu_dot * sum(root_slopes(y, data, mu, len(data)))
    return y, moved
