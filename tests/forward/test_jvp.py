"""``jvp`` against finite differences and against ``vjp``, over programs of every sort."""

from __future__ import annotations

import inspect

import forward_programs as programs
import numpy as np
import pytest

import thunkad as ad
from thunkad.compiled.root import root_of
from thunkad.tangents import Tangent
from thunkad.testing.leaves import leaves


def numbers(x):
    """The floats of a structure, as one vector of real numbers."""
    parts = [np.ravel(np.asarray(v)) for _, v in leaves(x) if np.asarray(v).dtype.kind in "fc"]
    if not parts:
        return np.zeros(0)
    flat = np.concatenate(parts)
    return np.concatenate([flat.real, flat.imag])


def moved(x, dot, step):
    if isinstance(x, (list, tuple)):
        return type(x)(moved(v, d, step) for v, d in zip(x, dot))
    return x if dot is None else x + step * dot


def tangent(x, rng):
    if isinstance(x, (list, tuple)):
        return type(x)(tangent(v, rng) for v in x)
    if np.asarray(x).dtype.kind not in "fc":
        return None
    dot = rng.normal(size=np.shape(x))
    if np.iscomplexobj(x):
        dot = dot + 1j * rng.normal(size=np.shape(x))
    return dot if np.ndim(x) else dot[()]


def directions(args):
    """All arguments moving together, then each alone."""
    rng = np.random.default_rng(3)
    everything = tangent(args, rng)
    alone = [tuple(d if j == k else None for j, d in enumerate(everything)) for k in range(len(args))]
    return [everything, *(a for a in alone if any(d is not None for d in a))] if len(args) > 1 else [everything]


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_jvp_is_the_derivative(name: str) -> None:
    f, args = programs.PROGRAMS[name]
    for dots in directions(args):
        value, value_dot = ad.jvp(f, args, dots)
        step = 1e-6
        want = (numbers(f(*moved(args, dots, step))) - numbers(f(*moved(args, dots, -step)))) / (2 * step)
        np.testing.assert_allclose(numbers(value), numbers(f(*args)), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(numbers(value_dot), want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_forward_and_reverse_are_transposes(name: str) -> None:
    f, args = programs.PROGRAMS[name]
    dots = tangent(args, np.random.default_rng(4))
    value, value_dot = ad.jvp(f, args, dots)
    try:
        _, pullback = ad.vjp(f, *args)
    except ad.UnsupportedSyntaxError as error:
        pytest.skip(f"reverse mode refuses it: {error}")
    seed = tangent(value, np.random.default_rng(5)) if not isinstance(value, dict) else None
    if seed is None:
        pytest.skip("a dict")
    bars = tuple(pullback(seed))
    left = numbers(seed) @ numbers(value_dot)
    right = sum(numbers(d) @ numbers(b) for d, b in zip(dots, bars) if d is not None)
    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12)


def test_the_object_of_an_argument_moves() -> None:
    dot = Tangent(programs.Cell, {"value": 2.0})
    value, value_dot = ad.jvp(programs.with_object, (programs.Cell(3.0), 0.5), (dot, 1.0))
    assert value == 4.5  # c² x
    assert np.isclose(value_dot, 2 * 3 * 2 * 0.5 + 9)


def test_a_changed_object_is_followed_and_the_given_tangent_is_left_alone() -> None:
    dot = Tangent(programs.Cell, {"value": 2.0})
    _, value_dot = ad.jvp(programs.object_changed, (programs.Cell(3.0), 0.5), (dot, 1.0))
    assert np.isclose(value_dot, 2 * 0.25 + 2 * 0.5 * (3 + 1))  # (c x + x) x
    assert dot.fields == {"value": 2.0}


def test_only_what_moves_is_computed() -> None:
    ad.jvp(programs.straight, (0.3, 1.2), (1.0, None))
    root = root_of(programs.straight)
    assert "y_dot" not in inspect.getsource(root.specializations[root.last].call)


def doubled(v):
    v *= 2.0
    return v.sum()


def test_a_tangent_that_is_passed_in_is_not_written() -> None:
    dot = np.array([1.0, 2.0])
    assert ad.jvp(doubled, (np.array([3.0, 4.0]),), (dot,))[1] == 6.0
    assert dot.tolist() == [1.0, 2.0]


def handed_on(v):
    return v


def test_a_tangent_that_is_handed_out_is_fresh() -> None:
    dot = np.array([1.0, 2.0])
    _, out = ad.jvp(handed_on, (np.array([3.0, 4.0]),), (dot,))
    out[0] = 7.0
    assert dot[0] == 1.0


def plus(x):
    return np.zeros(2) + x


def test_a_broadcast_tangent_has_the_shape_of_the_value() -> None:
    assert ad.jvp(plus, (1.0,), (3.0,))[1].tolist() == [3.0, 3.0]


def test_the_value_is_computed_once() -> None:
    calls = []

    def noisy(x):
        calls.append(1)
        return x * x

    assert ad.jvp(noisy, (3.0,), (1.0,)) == (9.0, 6.0)
    assert len(calls) == 1


def rounded(x):
    return x


def test_a_reverse_rule_alone_is_refused_by_name() -> None:
    def opaque(x):
        return rounded(x) * 2

    @ad.rrule(rounded)
    def _(x):
        return rounded(x), lambda y_bar: (10 * y_bar,)

    with pytest.raises(ad.NoRuleError, match=r"rounded has a reverse rule but no forward rule"):
        ad.jvp(opaque, (1.0,), (1.0,))


def tripled(x):
    return 3 * x


def test_a_forward_rule_goes_before_the_function() -> None:
    def outer(x):
        return tripled(x) + x

    @ad.frule(tripled)
    def _(x, *, x_dot):
        return tripled(x), 30 * x_dot

    assert ad.jvp(outer, (1.0,), (2.0,)) == (4.0, 62.0)
    assert ad.jvp(tripled, (1.0,), (2.0,)) == (3.0, 60.0)


def test_library_functions_and_methods() -> None:
    assert np.isclose(ad.jvp(np.sin, (0.5,), (2.0,))[1], 2 * np.cos(0.5))
    assert np.isclose(ad.jvp(programs.Cell(3.0).scaled, (0.5,), (1.0,))[1], 3.0)


def bound_builtin(x):
    total = x.sum
    return total() * x + x[0].item() * x[1].reshape(1)[0]


def test_bound_methods_of_arrays_and_of_their_numbers() -> None:
    x, dot = np.array([0.9, -0.4, 1.3]), np.array([0.5, 2.0, -1.0])
    want = dot.sum() * x + x.sum() * dot + dot[0] * x[1] + x[0] * dot[1]
    np.testing.assert_allclose(ad.jvp(bound_builtin, (x,), (dot,))[1], want, rtol=1e-14)


@pytest.mark.parametrize(
    ("primals", "tangents", "message"),
    [
        ((1.0,), (1.0, 2.0), "1 primals and 2 tangents"),
        (1.0, 1.0, "primals is a number, not a tuple"),
    ],
)
def test_wrong_calls(primals: object, tangents: object, message: str) -> None:
    with pytest.raises(ad.ArgumentError, match=message):
        ad.jvp(programs.straight, primals, tangents)


def test_a_tangent_of_another_shape_is_an_error() -> None:
    with pytest.raises(ad.CotangentError, match=r"shape \(2,\) and the value \(3,\)"):
        ad.jvp(programs.items, (np.ones(3),), (np.ones(2),))


def test_an_argument_without_tangents_is_an_error() -> None:
    with pytest.raises(ad.CotangentError, match="no tangent"):
        ad.jvp(programs.straight, (1.0, "s"), (1.0, 1.0))
