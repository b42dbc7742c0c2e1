"""Duck arrays: classes that take part in NumPy's dispatch without being arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import thunkad as ad
from thunkad.errors import CotangentError, NotImplementedDerivativeError, UnsupportedSyntaxError


class Boxed(np.lib.mixins.NDArrayOperatorsMixin):
    """An array in a box, which shows no more of it than NumPy's dispatch asks for."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: self.values.ndim)
    size = property(lambda self: self.values.size)
    T = property(lambda self: Boxed(self.values.T))

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        found = getattr(ufunc, method)(*opened(args), **{k: opened(v) for k, v in kwargs.items()})
        return boxed(found)

    def __array_function__(self, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return boxed(fn(*opened(args), **{k: opened(v) for k, v in kwargs.items()}))

    def __getitem__(self, index: Any) -> Any:
        return boxed(self.values[opened(index)])

    def __setitem__(self, index: Any, v: Any) -> None:
        self.values[opened(index)] = opened(v)

    def __len__(self) -> int:
        return len(self.values)

    def __bool__(self) -> bool:
        return bool(self.values)

    def sum(self, axis: Any = None) -> Any:
        return boxed(self.values.sum(axis=axis))

    def astype(self, dtype: Any) -> Any:
        return Boxed(self.values.astype(dtype))

    def reshape(self, *shape: Any) -> Any:
        return Boxed(self.values.reshape(*shape))


def opened(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(map(opened, x))
    return x.values if isinstance(x, Boxed) else x


def boxed(x: Any) -> Any:
    return Boxed(x) if isinstance(x, (np.ndarray, np.number)) else x


FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: np.sum(np.sin(x) * x),
    lambda x: np.sum(np.exp(-(x**2) / 2) + np.tanh(x) - 1 / (1 + x)),
    lambda x: x @ x,
    lambda x: np.max(x) * np.mean(x),
    lambda x: np.sum(x[1:] * x[:-1]) + x[0],
    lambda x: np.sum(np.where(x > 1.5, x, x**2)),
    lambda x: np.sum(np.concatenate([x, 2 * x]) ** 2),
    lambda x: np.sum(np.stack([x, x * x]) * x[None, :]),
    lambda x: np.sum((x - np.mean(x)) ** 2) / x.size,
    lambda x: np.sum(np.abs(x) ** 1.5) + np.linalg.norm(x) + np.std(x),
    lambda x: np.sum(np.einsum("i,j->ij", x, x) @ x),
    lambda x: np.sum(np.maximum(x, 1.5)) + np.sum(np.clip(x, 1.2, 2.5)),
    lambda x: np.sum(np.cumsum(x) * x) + np.prod(x),
    lambda x: np.sum(np.outer(x, x)) + np.dot(x, x) + np.sum(x[:, None] * x.T),
    lambda x: sum((x[i] ** 2 for i in range(3)), 0.0),
    lambda x: x.sum() * x[-1],
]
POINT = np.array([1.0, 2.0, 3.0])
DIRECTION = np.array([0.3, -1.0, 0.7])


@pytest.mark.parametrize("k", range(len(FUNCTIONS)))
def test_derivatives_are_those_of_arrays_and_stay_in_the_class(k: int) -> None:
    f = FUNCTIONS[k]
    expected = ad.grad(f)(POINT)
    value, x_bar = ad.value_and_grad(f)(Boxed(POINT))
    assert type(value) is Boxed and type(x_bar) is Boxed
    np.testing.assert_allclose(x_bar.values, expected, rtol=1e-12)
    np.testing.assert_allclose(value.values, f(POINT), rtol=1e-12)
    _, tangent = ad.jvp(f, (Boxed(POINT),), (Boxed(DIRECTION),))
    np.testing.assert_allclose(opened(tangent), DIRECTION @ expected, rtol=1e-12)


def test_a_pullback_takes_a_cotangent_of_the_class() -> None:
    value, pullback = ad.vjp(lambda x: np.sin(x) * x, Boxed(POINT))
    (x_bar,) = pullback(Boxed(DIRECTION))
    np.testing.assert_allclose(x_bar.values, DIRECTION * (np.cos(POINT) * POINT + np.sin(POINT)))
    with pytest.raises(CotangentError):
        pullback(Boxed(DIRECTION[:2]))


def test_what_is_handed_out_is_no_memory_of_the_arguments() -> None:
    x, c = Boxed(POINT.copy()), Boxed(DIRECTION.copy())
    x_bar = ad.grad(lambda x, c: x @ c)(x, c)
    x_bar[0] = 7.0
    np.testing.assert_array_equal(c.values, DIRECTION)


def test_the_gradient_of_an_array_that_meets_a_duck_needs_a_way_back() -> None:
    def f(w: Any, x: Any) -> Any:
        return np.sum((w * x) ** 2)

    with pytest.raises(CotangentError, match="Boxed, which can't be made an array"):
        ad.grad(f)(DIRECTION, Boxed(POINT))
    np.testing.assert_allclose(ad.grad(f, 1)(DIRECTION, Boxed(POINT)).values, 2 * DIRECTION**2 * POINT)


def test_integers_have_float_cotangents_and_an_unused_argument_zeros() -> None:
    x_bar = ad.grad(lambda x, y: np.sum(x * x), argnums=(0, 1))(Boxed([1, 2]), Boxed(np.float32([3.0, 4.0])))
    assert x_bar[0].dtype == np.float64 and x_bar[1].dtype == np.float32
    np.testing.assert_array_equal(x_bar[0].values, [2.0, 4.0])
    np.testing.assert_array_equal(x_bar[1].values, [0.0, 0.0])


class Scaled(Boxed):
    factor = 2.0

    def doubled(self) -> Any:
        return self * self.factor


def test_methods_and_constants_of_the_class() -> None:
    x = Scaled(POINT)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(x.doubled() * x))(x).values, 4 * POINT)
    np.testing.assert_allclose(opened(ad.jvp(lambda x: np.sum(x * x) * x.factor, (x,), (x,))[1]), 4 * POINT @ POINT)


def test_what_the_class_holds_inside_is_not_followed() -> None:
    for f in (lambda x: np.sum(x.values**2), lambda x: x.values @ x.values):
        with pytest.raises(NotImplementedDerivativeError, match=r"Boxed\.values"):
            ad.grad(f)(Boxed(POINT))
        with pytest.raises(NotImplementedDerivativeError, match=r"Boxed\.values"):
            ad.jvp(f, (Boxed(POINT),), (Boxed(DIRECTION),))


def test_a_duck_array_made_of_what_is_differentiated_is_refused() -> None:
    def f(w: Any) -> Any:
        return np.sum(Boxed(w * 2) * 3.0)

    with pytest.raises(UnsupportedSyntaxError, match="Boxed"):
        ad.grad(f)(POINT)
    with pytest.raises(UnsupportedSyntaxError, match="Boxed"):
        ad.jvp(f, (POINT,), (DIRECTION,))
