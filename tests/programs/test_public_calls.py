"""The ways to ask for a derivative: argnums, argnames, has_aux, keywords, containers, and every sort of callable."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import thunkad as ad
from thunkad.errors import ArgumentError, NonDifferentiableArgumentError, NonScalarOutputError

Pair = namedtuple("Pair", "p q")
A = np.array([0.9, -0.4, 1.3])


def product(x: Any, y: Any = 2.0, *rest: Any, k: Any = 1.0, **more: Any) -> Any:
    total = x * y * k
    for r in rest:
        total = total + r * r
    for name in more:
        total = total + more[name] * 3
    return total


def loss(w: Any, x: Any) -> Any:
    return np.sum(np.tanh(w * x))


class Model:
    def __init__(self, k: float) -> None:
        self.k = k

    def __call__(self, x: Any) -> Any:
        return self.k * x * x

    def energy(self, x: Any, y: Any) -> Any:
        return self.k * x * y

    @classmethod
    def made(cls, x: Any) -> Any:
        return x * x

    @staticmethod
    def cube(x: Any) -> Any:
        return x**3


def wrapped(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return 2 * f(*args, **kwargs)

    return inner


@wrapped
def doubled(x: Any) -> Any:
    return x * x


@functools.lru_cache
def cached(x: Any) -> Any:
    return x * x


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-12)


def test_argnums() -> None:
    close(ad.grad(product)(3.0, 5.0), 5.0)
    close(ad.grad(product, argnums=1)(3.0, 5.0), 3.0)
    close(ad.grad(product, argnums=-1)(3.0, 5.0), 3.0)
    close(ad.grad(product, argnums=(1, 0))(3.0, 5.0), (3.0, 5.0))
    assert ad.grad(product, argnums=(0,))(3.0, 5.0) == (5.0,)
    close(ad.grad(product, argnums=(0, 0))(3.0, 5.0), (5.0, 5.0))
    close(ad.grad(product, argnums=2)(3.0, 5.0, 7.0), 14.0)
    close(ad.grad(product, argnums=(3, 0))(3.0, 5.0, 7.0, 9.0), (18.0, 5.0))


def test_argnames() -> None:
    close(ad.grad(product, argnames="y")(3.0, 5.0), 3.0)
    close(ad.grad(product, argnames="y")(3.0, y=5.0), 3.0)
    close(ad.grad(product, argnames=("k", "x"))(3.0, 5.0, k=2.0), (15.0, 10.0))
    close(ad.grad(product, argnames="k")(3.0, 5.0), 15.0)
    close(ad.grad(product, argnames="z")(3.0, z=5.0), 3.0)
    close(ad.grad(product, argnames=("z", "t"))(3.0, z=5.0, t=1.0), (3.0, 3.0))


def test_keywords_go_to_the_function() -> None:
    close(ad.grad(product)(3.0, y=5.0, k=2.0), 10.0)
    value, gradient = ad.value_and_grad(product)(3.0, k=2.0, z=1.0)
    close((value, gradient), (15.0, 4.0))
    value, pullback = ad.vjp(product, 3.0, 5.0, k=2.0)
    close(value, 30.0)
    close(tuple(pullback(1.0)), (10.0, 6.0))


def test_has_aux() -> None:
    def with_aux(x: Any, y: Any) -> Any:
        return x * y, {"x": x, "kind": "aux"}

    gradient, aux = ad.grad(with_aux, has_aux=True)(3.0, 5.0)
    assert gradient == 5.0 and aux == {"x": 3.0, "kind": "aux"}
    (value, aux), gradient = ad.value_and_grad(with_aux, has_aux=True)(3.0, 5.0)
    assert (value, aux["x"], gradient) == (15.0, 3.0, 5.0)
    gradients, aux = ad.grad(with_aux, argnums=(0, 1), has_aux=True)(3.0, 5.0)
    assert gradients == (5.0, 3.0) and aux["kind"] == "aux"
    with pytest.raises(NonScalarOutputError, match="has_aux"):
        ad.grad(loss, has_aux=True)(A, A)


def test_gradients_of_containers_have_their_structure() -> None:
    def of(d: Any) -> Any:
        return np.sum(d["w"][0] * d["w"][1]) + d["p"].p * d["p"].q * 2 + d["n"]

    d = {"w": [A, 2.0], "p": Pair(3.0, 5.0), "n": 7, "name": "text"}
    found = ad.grad(of)(d)
    assert list(found) == list(d) and type(found["w"]) is list and type(found["p"]) is Pair
    close(found["w"][0], [2.0, 2.0, 2.0])
    close(found["w"][1], A.sum())
    close(tuple(found["p"]), (10.0, 6.0))
    assert found["n"] == 1.0 and isinstance(found["name"], ad.NoTangent)


def test_callables() -> None:
    model = Model(2.0)
    close(ad.grad(model)(3.0), 12.0)
    close(ad.grad(model.energy)(3.0, 5.0), 10.0)
    close(ad.grad(model.energy, argnums=(0, 1))(3.0, 5.0), (10.0, 6.0))
    close(ad.grad(Model.made)(3.0), 6.0)
    close(ad.grad(Model.cube)(3.0), 27.0)
    close(ad.grad(lambda x: x * x)(3.0), 6.0)
    close(ad.grad(functools.partial(product, k=3.0))(3.0, 5.0), 15.0)
    close(ad.grad(functools.partial(product, 4.0))(5.0), 4.0)
    close(ad.grad(functools.partial(model.energy, 4.0))(5.0), 8.0)
    close(ad.grad(doubled)(3.0), 12.0)
    close(ad.grad(cached)(3.0), 6.0)
    close(ad.grad(ad.differentiable(lambda x: x**3))(2.0), 12.0)
    close(ad.grad(np.sin)(0.5), np.cos(0.5))
    close(ad.grad(abs)(-3.0), -1.0)
    close(ad.grad(max, argnums=1)(1.0, 2.0), 1.0)
    value, pullback = ad.vjp(np.linalg.solve, np.eye(3) * 2, A)
    close(value, A / 2)
    close(pullback(np.ones(3))[1], np.full(3, 0.5))
    assert ad.grad(Model(5.0))(1.0) == 10.0, "two objects of one class do not share what they hold"


def test_a_callee_with_the_same_code_and_other_data() -> None:
    def make(k: float) -> Callable[[Any], Any]:
        return lambda x: k * x

    first, second = make(2.0), make(3.0)
    assert (ad.grad(first)(1.0), ad.grad(second)(1.0), ad.grad(first)(1.0)) == (2.0, 3.0, 2.0)


def test_types_of_arguments_are_told_apart() -> None:
    def f(x: Any) -> Any:
        return np.sum(x * x)

    g = ad.grad(f)
    assert type(g(2.0)) in (float, np.float64) and type(g(3)) in (float, np.float64)
    assert g(np.float32(2.0)).dtype == np.float32
    assert g(A).shape == (3,) and g(np.array(2.0)).shape == ()
    assert g(np.array([1, 2])).dtype == np.float64
    assert g(2.0) == 4.0


def test_arguments_without_a_tangent() -> None:
    def f(x: Any, flag: Any, name: Any, index: Any) -> Any:
        return x[index] * (2 if flag else 3) * len(name)

    close(ad.grad(f)(A, True, "ab", 1), [0.0, 4.0, 0.0])
    bars = tuple(ad.vjp(f, A, True, "ab", 1)[1](1.0))
    assert isinstance(bars[1], ad.NoTangent) and isinstance(bars[2], ad.NoTangent)
    for k in (1, 2):
        with pytest.raises(NonDifferentiableArgumentError):
            ad.grad(f, argnums=k)(A, True, "ab", 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ad.grad(loss, argnums=5)(A, A),
        lambda: ad.grad(loss, argnums=-3)(A, A),
        lambda: ad.grad(loss, argnums="w")(A, A),  # type: ignore[arg-type]
        lambda: ad.grad(loss, argnums=True)(A, A),
        lambda: ad.grad(loss, argnames="nothing")(A, A),
    ],
)
def test_wrong_requests(call: Callable[[], Any]) -> None:
    with pytest.raises((ArgumentError, TypeError)):
        call()
    close(ad.grad(loss)(A, A), (1 - np.tanh(A * A) ** 2) * A)


@pytest.mark.parametrize("result", [None, "text", [1.0, 2.0], A, np.array([1j]), 1j, (1.0,), {}])
def test_results_that_grad_refuses(result: Any) -> None:
    def f(x: Any) -> Any:
        return x * 2 if x > 100 else result

    with pytest.raises(NonScalarOutputError, match="real|number"):
        ad.grad(f)(1.0)
    assert ad.grad(f)(200.0) == 2.0, "a failed call leaves nothing behind"


def test_one_element_is_a_scalar() -> None:
    close(ad.grad(lambda x: x[:1])(A), [1.0, 0.0, 0.0])
    close(ad.grad(lambda x: x[None, :1] * 2)(A), [2.0, 0.0, 0.0])


def test_wrong_arguments_of_the_function() -> None:
    with pytest.raises(TypeError, match="argument"):
        ad.grad(loss)(A)
    with pytest.raises(TypeError, match="argument"):
        ad.grad(loss)(A, A, A)
    with pytest.raises(TypeError, match="argument"):
        ad.vjp(loss, A, nothing=A)


def test_wrong_seeds() -> None:
    _, pullback = ad.vjp(lambda x: x * 2, A)
    for seed in (np.ones(2), np.ones((3, 1))):
        with pytest.raises(ad.ThunkadError, match="shape"):
            tuple(pullback(seed))
    close(pullback(np.ones(3))[0], [2.0, 2.0, 2.0])
    _, pullback = ad.vjp(lambda x: (x, x * 2), A)
    with pytest.raises(ad.ThunkadError, match="of the result is a tuple"):
        tuple(pullback((A,)))


def test_jacobian() -> None:
    close(ad.jacobian(lambda x: x * x)(A), np.diag(2 * A))
    close(ad.jacobian(lambda x: np.sum(x * x))(A), 2 * A)
    close(ad.jacobian(lambda x, m: m @ x, argnums=1)(A, np.ones((2, 3))).shape, (2, 2, 3))


def test_gradients_are_memory_of_their_own() -> None:
    x = A.copy()
    g = ad.grad(lambda x: np.sum(x))(x)
    g[:] = 7.0
    close(ad.grad(lambda x: np.sum(x))(x), np.ones(3))
    seed = np.ones(3)
    (bar,) = ad.vjp(lambda x: x, x)[1](seed)
    bar[:] = 5.0
    close(seed, np.ones(3))
    close(x, A)
