"""Scenarios T10, T11, T18–T27, T42: sums of cotangents, in place where the adjoint owns the memory and nowhere else."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest

import thunkad as ad
from thunkad.runtime import accumulate


def test_t10_two_uses_are_summed() -> None:
    def f(x):
        return np.sum(np.sin(x)) + np.sum(x * x)

    x = np.array([0.3, 0.4])
    np.testing.assert_allclose(ad.grad(f)(x), np.cos(x) + 2 * x)


def peak(f, *args) -> int:
    f(*args)
    tracemalloc.start()
    try:
        f(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_t10_two_uses_take_one_more_buffer() -> None:
    def once(x, y):
        return np.sum(np.sin(x) * y)

    def twice(x, y):
        return np.sum(np.sin(x) * y + np.cos(x) * y + np.tanh(x) * y)

    x = np.ones(200_000)
    more = peak(ad.grad(twice), x, x) - peak(ad.grad(once), x, x)
    assert more <= 8.5 * x.nbytes  # two more results kept, three sums, and one buffer


def test_t11_a_loop_over_rows_fills_one_buffer() -> None:
    def f(a):
        total = 0.0
        for k in range(512):
            total = total + np.sum(a[k] * a[k])
        return total

    def by_item(a):
        total = 0.0
        for row in a:
            total = total + np.sum(row * row)
        return total

    a = np.random.default_rng(0).standard_normal((512, 256))
    for g in (f, by_item):
        np.testing.assert_allclose(ad.grad(g)(a), 2 * a)
        assert peak(ad.grad(g), a) < 2.5 * a.nbytes


def test_t11_a_value_read_512_times_needs_no_deep_recursion() -> None:
    def f(x):
        y = 0.0
        for k in range(512):
            y = y + x * k
        return y

    assert ad.grad(f)(2.0) == 512 * 511 / 2


ADDED: list[object] = []


def row_sum(x):
    return x * 3.0


def counted_add(buffer, value):
    ADDED.append(buffer)
    buffer += value
    return buffer


@ad.rrule(row_sum)
def _(x):
    if x is None:
        return None

    def pullback(y_bar):
        return (ad.InplaceableThunk(lambda: y_bar * 3.0, lambda buffer: counted_add(buffer, y_bar * 3.0)),)

    return x * 3.0, pullback


def test_t18_an_inplaceable_thunk_adds_into_an_owned_buffer() -> None:
    def f(x):
        return np.sum(row_sum(x) + x * x + np.sin(x) * 2.0)

    ADDED.clear()
    x = np.array([0.1, 0.2])
    np.testing.assert_allclose(ad.grad(f)(x), 3.0 + 2 * x + 2 * np.cos(x))
    assert len(ADDED) == 1

    buffer, value = np.ones(3), np.arange(3.0)
    given = ad.InplaceableThunk(lambda: value, lambda b: counted_add(b, value))
    assert accumulate.accumulate(buffer, given) is buffer
    np.testing.assert_array_equal(buffer, [1.0, 2.0, 3.0])
    assert not given.forced


def test_t18_the_first_contribution_makes_a_buffer_for_the_next() -> None:
    def f(x):
        return np.sum(row_sum(x) + row_sum(x) + row_sum(x))

    ADDED.clear()
    np.testing.assert_array_equal(ad.grad(f)(np.ones(2)), [9.0, 9.0])
    assert len(ADDED) == 2 and ADDED[0] is ADDED[1]  # the first makes the buffer, the others go into it


def test_t19_a_borrowed_contribution_is_left_alone() -> None:
    seed = np.array([1.0, 2.0])

    def f(x):
        return x + row_sum(x)

    _, pullback = ad.vjp(f, np.ones(2))
    (x_bar,) = pullback(seed)
    np.testing.assert_array_equal(x_bar, 4 * seed)
    np.testing.assert_array_equal(seed, [1.0, 2.0])


def test_t20_addition_hands_one_cotangent_to_two() -> None:
    def f(x, y):
        z = x + y
        w = z * 3 + x
        return np.sum(w * w)

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    w = 4 * x + 3 * y
    x_bar, y_bar = ad.grad(f, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(x_bar, 8 * w)
    np.testing.assert_allclose(y_bar, 6 * w)
    _, pullback = ad.vjp(f, x, y)
    x_bar, y_bar = pullback(1.0)
    np.testing.assert_allclose(x_bar, 8 * w)
    np.testing.assert_allclose(y_bar, 6 * w)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: np.reshape(x, 6),
        lambda x: x[::-1],
        lambda x: np.broadcast_to(x, (4, 2, 3)),
        lambda x: np.swapaxes(x, 0, 1),
        lambda x: np.diagonal(x),
    ],
)
def test_t21_a_cotangent_that_is_a_view_is_never_written(view) -> None:
    def f(x):
        return view(x) * 1.0

    def twice(x):
        y = view(x)
        return y + y * 2.0, x * 2.0, x

    x = np.arange(6.0).reshape(2, 3)
    value, pullback = ad.vjp(f, x)
    seed = np.ones_like(value)
    seed.flags.writeable = False
    (x_bar,) = pullback(seed)
    x_bar += 1.0
    np.testing.assert_array_equal(seed, np.ones_like(value))

    value, pullback = ad.vjp(twice, x)
    seeds = tuple(np.ones_like(v) for v in value)
    for s in seeds:
        s.flags.writeable = False
    (again,) = pullback(seeds)
    np.testing.assert_allclose(again, 3.0 * (x_bar - 1.0) + 3.0)


def test_t22_float32_keeps_float32_without_losing_in_between() -> None:
    def f(x, big):
        return np.sum(x * big) + np.sum(x * 1.0) + np.sum(x * -big)

    x = np.ones(3, np.float32)
    big = np.full(3, 1e9)
    x_bar = ad.grad(f)(x, big)
    assert x_bar.dtype == np.float32
    np.testing.assert_array_equal(x_bar, np.ones(3, np.float32))

    def narrow(x):
        return np.sum(x * x)

    assert ad.grad(narrow)(x).dtype == np.float32


def test_t23_integers_get_floats_and_masks_get_nothing() -> None:
    def f(k, mask):
        return np.sum(np.where(mask, k * 0.5, k * k))

    k, mask = np.array([1, 2, 3]), np.array([True, False, True])
    k_bar = ad.grad(f)(k, mask)
    assert k_bar.dtype == np.float64
    np.testing.assert_array_equal(k_bar, [0.5, 4.0, 0.5])
    _, pullback = ad.vjp(f, k, mask)
    assert isinstance(pullback(1.0)[1], ad.NoTangent)

    def rows(k):
        return sum(0.5 * row for row in k)

    assert ad.grad(rows)(k).tolist() == [0.5, 0.5, 0.5]


def test_t24_a_complex_cotangent_of_a_real_value_is_projected() -> None:
    def f(x):
        return np.sum(x) * 1.0 + np.sum(np.abs(x * (1 + 2j)) ** 2)

    x = np.array([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x_bar = ad.grad(f)(x)
    assert x_bar.dtype == np.float64
    np.testing.assert_allclose(x_bar, 1 + 10 * x)


def bad_shape(x):
    return x * 2.0


@ad.rrule(bad_shape)
def _(x):
    def pullback(y_bar):
        return (ad.thunk(lambda: np.sum(y_bar, axis=1, keepdims=True)),)

    return x * 2.0, pullback


def bad_shape_called(x):
    return x * 2.0


@ad.rrule(bad_shape_called)
def _(x):
    if x is None:
        return None

    def pullback(y_bar):
        return (ad.thunk(lambda: np.sum(y_bar, axis=1, keepdims=True)),)

    return x * 2.0, pullback


@pytest.mark.parametrize("op", [bad_shape, bad_shape_called], ids=["pasted", "called"])
def test_t25_a_cotangent_of_another_shape_is_an_error(op) -> None:
    x = np.ones((3, 4))
    for f in (
        lambda x: np.sum(op(x)),
        lambda x: np.sum(op(x) + x * x),
        lambda x: np.sum(x * x + op(x)),
        lambda x: np.sum(op(x * x)),
        lambda x: np.sum(op(np.exp(x)) * x),
    ):
        with pytest.raises(ad.CotangentError, match=r"\(3, 1\).*\(3, 4\)"):
            ad.grad(f)(x)


def test_t25_accumulating_another_shape_is_an_error() -> None:
    for buffer, value in ((np.ones((3, 4)), np.ones((3, 1))), (np.ones((3, 1)), np.ones((3, 4)))):
        with pytest.raises(ad.CotangentError):
            accumulate.accumulate(buffer, value)


def test_t26_add_may_return_another_object() -> None:
    buffer = np.ones(2)
    other = ad.InplaceableThunk(lambda: np.ones(2), lambda b: b + 1.0)
    found = accumulate.accumulate(buffer, other)
    np.testing.assert_array_equal(found, [2.0, 2.0])
    with ad.debug(), pytest.raises(ad.CotangentError, match="add"):
        accumulate.accumulate(buffer, other)


def test_t27_an_operand_that_is_used_twice_in_one_operation() -> None:
    x = np.random.default_rng(0).standard_normal((3, 3))
    ones = np.ones((3, 3))
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(x @ x))(x), ones @ x.T + x.T @ ones)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(x * x))(x), 2 * x)
    np.testing.assert_allclose(ad.grad(lambda x: np.dot(x, x))(x[0]), 2 * x[0])
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(row_sum(x) * row_sum(x)))(x), 18 * x)


def test_t42_repeated_indices_add_up() -> None:
    x = np.arange(3.0)
    k = np.array([0, 0, 1])
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(x[k] * np.array([1.0, 2.0, 3.0])))(x), [3.0, 3.0, 0.0])
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(np.take(x, k)))(x), [2.0, 1.0, 0.0])
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(np.sort(x)[k]))(x[::-1].copy()), [0.0, 1.0, 2.0])


def test_accumulate_refuses_what_is_not_safe_in_place() -> None:
    narrow = np.ones(2, np.float32)
    wide = accumulate.accumulate(narrow, np.full(2, 1e-9))
    assert wide is not narrow and wide.dtype == np.float64
    assert (narrow == 1.0).all()
    frozen = np.ones(2)
    frozen.flags.writeable = False
    assert accumulate.accumulate(frozen, np.ones(2)) is not frozen
    repeated = np.broadcast_to(1.0, 3)
    assert accumulate.accumulate(repeated, np.arange(3.0)).tolist() == [1.0, 2.0, 3.0]
    real = np.ones(2)
    assert accumulate.accumulate(real, np.full(2, 1j)).tolist() == [1 + 1j, 1 + 1j]
    buffer = np.arange(4.0)
    assert accumulate.accumulate(buffer[1:], buffer[:-1]).tolist() == [1.0, 3.0, 5.0]
    assert accumulate.accumulate(buffer, ad.ZeroTangent()) is buffer
    assert accumulate.accumulate(buffer, 1.0) is buffer


def test_t25_the_last_step_reshapes_axes_of_length_one_only() -> None:
    from thunkad.runtime.cotangents import project

    assert project(np.ones((1, 3)), np.ones(3)).shape == (3,)
    assert project(np.float64(2.0), np.ones(())).shape == ()
    for given, wanted in (((2, 3), (3, 2)), ((6,), (2, 3)), ((4,), (2,)), ((1,), (2,))):
        with pytest.raises(ad.CotangentError):
            project(np.ones(given), np.ones(wanted))


@pytest.mark.parametrize("x", [np.ones(3), np.ones(3, np.float32), np.array(1.0), 2.0])
@pytest.mark.parametrize("wrong", [None, "s"])
@pytest.mark.parametrize("called", [False, True])
def test_a_thunk_of_what_is_no_number_is_an_error(x, wrong, called) -> None:
    def g(x):
        return np.sum(x)

    def inlined_rule(x):
        def pullback(y_bar):
            return ad.thunk(lambda: wrong)

        return np.sum(x), pullback

    def called_rule(x):
        def pullback(y_bar):
            if called:
                return ad.thunk(lambda: wrong)

        return np.sum(x), pullback

    ad.rrule(g)(called_rule if called else inlined_rule)
    with pytest.raises(ad.CotangentError, match="None|str"):
        ad.grad(lambda x: g(x))(x)
