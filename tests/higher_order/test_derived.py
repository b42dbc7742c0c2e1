"""Jacobians, Hessians and products with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import thunkad as ad
from thunkad.testing import check_grads


def vector(x, y):
    return np.array([x[0] * x[1], np.sin(x[0]) * y, x[1] ** 2, y * y])


X = np.array([0.5, 2.0])
ROWS = [[2.0, 0.5], [np.cos(0.5) * 3.0, 0.0], [0.0, 4.0], [0.0, 0.0]]


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_jacobian(mode) -> None:
    np.testing.assert_allclose(ad.jacobian(vector, mode=mode)(X, 3.0), ROWS)
    first, second = ad.jacobian(vector, (0, 1), mode=mode)(X, 3.0)
    np.testing.assert_allclose(first, ROWS)
    np.testing.assert_allclose(second, [0.0, np.sin(0.5), 0.0, 6.0])


def test_jacobian_of_several_results() -> None:
    a, b = ad.jacobian(lambda x: (x * 2.0, np.sum(x**2)), mode="forward")(X)
    np.testing.assert_allclose(a, 2 * np.eye(2))
    np.testing.assert_allclose(b, 2 * X)


def test_an_unknown_mode_is_an_error() -> None:
    with pytest.raises(ad.ArgumentError, match="sideways"):
        ad.jacobian(vector, mode="sideways")


def quartic(x, y):
    return np.sum(x**4) * y + np.prod(x) * y**2


def test_hessian() -> None:
    h = ad.hessian(quartic)(X, 3.0)
    np.testing.assert_allclose(h, [[12 * 0.25 * 3, 9.0], [9.0, 12 * 4 * 3]])
    (xx, xy), (yx, yy) = ad.hessian(quartic, (0, 1))(X, 3.0)
    np.testing.assert_allclose(xx, h)
    np.testing.assert_allclose(xy, 4 * X**3 + X[::-1] * 6)
    np.testing.assert_allclose(yx, xy)
    assert np.isclose(yy, 2 * 1.0)


def test_products_with_the_hessian() -> None:
    h = ad.hessian(quartic)(X, 3.0)
    v = np.array([1.0, -2.0])
    np.testing.assert_allclose(ad.hvp(lambda x: quartic(x, 3.0), (X,), (v,)), h @ v)
    np.testing.assert_allclose(ad.vhp(lambda x: quartic(x, 3.0), (X,), (v,)), v @ h)
    (product,) = ad.hvp(quartic, (X, 3.0), (v, None))
    np.testing.assert_allclose(product, h @ v)


def test_a_product_takes_one_pass() -> None:
    calls = []

    def noted(x):
        calls.append(1)
        return x

    ad.non_differentiable(noted)

    def f(x):
        noted(x)
        return np.sum(np.sin(x))

    ad.hvp(f, (np.ones(50),), (np.ones(50),))
    assert len(calls) == 1


def test_gauss_newton() -> None:
    def residual(x):
        return np.array([x[0] * x[1], x[0] ** 2, np.sin(x[1])])

    def loss(r):
        return np.sum(np.cosh(r))

    v = np.array([0.3, -0.8])
    j = ad.jacobian(residual)(X)
    h = np.diag(np.cosh(residual(X)))
    np.testing.assert_allclose(ad.gauss_newton_product(residual, loss, (X,), (v,)), j.T @ h @ j @ v)


def test_linearize() -> None:
    x = X.copy()
    value, pushforward = ad.linearize(vector, x, 3.0)
    np.testing.assert_allclose(value, vector(X, 3.0))
    x[:] = 0.0  # the map stays at the point that it was made at
    np.testing.assert_allclose(pushforward(np.array([1.0, 2.0]), None), np.array(ROWS) @ [1.0, 2.0])
    np.testing.assert_allclose(pushforward(None, 1.0), [0.0, np.sin(0.5), 0.0, 6.0])


def test_linearize_keeps_what_the_caller_of_a_function_writes_later() -> None:
    def product(a, k):
        return np.sum(a * k)

    def f(a, k):
        y = 0.0
        for _ in range(2):
            y = y + product(a, k)
            a[0] *= k[1]
        return y + np.sum(a)

    rng = np.random.default_rng(0)
    a, k, u, v = rng.standard_normal((4, 2))
    expected = ad.jvp(f, (a.copy(), k), (u, v))[1]
    np.testing.assert_allclose(ad.linearize(f, a.copy(), k)[1](u, v), expected)
    np.testing.assert_allclose(ad.jacobian(f, argnums=0, mode="forward")(a.copy(), k), ad.grad(f)(a.copy(), k))


def test_elementwise_grad_is_compiled_once_and_pinned() -> None:
    def g(x):
        return x * x

    def f(x, k, *, power=1.0):
        return k * g(x) ** power

    derivative = ad.elementwise_grad(f)
    np.testing.assert_allclose(derivative(X, 3.0), 6 * X)
    np.testing.assert_allclose(derivative(X, k=3.0, power=2.0), 12 * X**3)

    @ad.rrule(g)
    def rule(x):
        def pullback(y_bar):
            return 10.0 * y_bar

        return x * x, pullback

    with pytest.warns(ad.StaleRuleWarning):
        np.testing.assert_allclose(derivative(X, 3.0), 6 * X)
    ad.refresh()
    np.testing.assert_allclose(derivative(X, 3.0), 30.0)


def test_elementwise_grad() -> None:
    np.testing.assert_allclose(ad.elementwise_grad(np.sin)(X), np.cos(X))
    np.testing.assert_allclose(ad.elementwise_grad(ad.elementwise_grad(np.sin))(X), -np.sin(X))


def test_rules_of_now_are_used() -> None:
    def double(x):
        return 2 * x

    @ad.frule(double)
    def _(x, *, x_dot):
        return double(x), 2 * x_dot

    def f(x):
        return double(x) * x

    assert ad.jvp(f, (3.0,), (1.0,))[1] == 12.0

    @ad.frule(double)
    def _(x, *, x_dot):
        return double(x), 5 * x_dot

    with pytest.warns(ad.StaleRuleWarning):
        ad.jvp(f, (3.0,), (1.0,))
    ad.refresh(f)
    assert ad.jvp(f, (3.0,), (1.0,))[1] == 21.0


MODES = ("reverse", "forward", None)


@pytest.mark.parametrize("mode", MODES)
def test_a_jacobian_of_complex_results(mode):
    a = np.array([[1.0 + 2.0j, 0.5j], [2.0, 1.0 - 1.0j], [0.3, 0.1j]])
    np.testing.assert_allclose(ad.jacobian(lambda x: a @ x, mode=mode)(np.ones(2)), a)
    assert ad.jacobian(lambda x: x * (1.0 + 2.0j), mode=mode)(2.0) == 1.0 + 2.0j
    pair = ad.jacobian(lambda x: (1j * x, np.sum(x)), mode=mode)(np.ones(2))
    np.testing.assert_allclose(pair[0], 1j * np.eye(2))
    np.testing.assert_allclose(pair[1], np.ones(2))
    by_parts = ad.jacobian(lambda p: p["a"] * 1j + p["b"], mode="reverse")({"a": 1.0, "b": 2.0})
    assert by_parts == {"a": 1j, "b": 1.0}


@pytest.mark.parametrize("mode", MODES)
def test_a_jacobian_by_complex_numbers(mode):
    z = np.array([1.0 + 2.0j, 0.5])
    np.testing.assert_allclose(ad.jacobian(lambda z: z * z, mode=mode)(z), np.diag(2 * z))
    of_real = ad.jacobian(lambda z: np.abs(z) ** 2, mode=mode)(z)
    np.testing.assert_allclose(of_real, np.diag(2 * z))  # as in a gradient
    np.testing.assert_allclose(of_real[0], ad.grad(lambda z: np.abs(z[0]) ** 2)(z))
    with pytest.raises(ad.ThunkadError, match="not holomorphic"):
        ad.jacobian(lambda z: np.conj(z), mode=mode)(z)


@pytest.mark.parametrize("mode", MODES)
def test_a_jacobian_of_parts_without_a_derivative(mode):
    found = ad.jacobian(lambda x: {"a": x * 2.0, "b": None}, mode=mode)(np.ones(2))
    np.testing.assert_allclose(found["a"], 2 * np.eye(2))
    assert isinstance(found["b"], ad.NoTangent)


@pytest.mark.parametrize("result", [None, "text"])
def test_results_without_a_derivative_are_refused(result):
    def f(x):
        return result

    for mode in MODES:
        with pytest.raises(ad.NonScalarOutputError, match="returns numbers or arrays"):
            ad.jacobian(f, mode=mode)(1.0)
    with pytest.raises(ad.NonScalarOutputError, match="returns numbers or arrays"):
        ad.vjp(f, 1.0)
    with pytest.raises(ad.NonScalarOutputError, match="returns numbers or arrays"):
        ad.jvp(f, (1.0,), (1.0,))


def structured(p):
    return np.sum(p["w"] ** 3) * p["b"][0] + p["b"][1] ** 2 * p["w"][0]


def test_hessian_of_a_function_of_a_container() -> None:
    w, b = np.array([1.0, -2.0]), [3.0, 0.5]
    h = ad.hessian(structured)({"w": w, "b": b})
    np.testing.assert_allclose(h["w"]["w"], np.diag(6 * w * b[0]))
    np.testing.assert_allclose(h["w"]["b"][0], 3 * w**2)
    np.testing.assert_allclose(h["w"]["b"][1], [2 * b[1], 0.0])
    np.testing.assert_allclose(h["b"][0]["w"], 3 * w**2)
    np.testing.assert_allclose(h["b"][1]["b"], [0.0, 2 * w[0]])
    (first, second), (third, _) = ad.hessian(lambda p, x: structured(p) * x, (0, 1))({"w": w, "b": b}, 2.0)
    np.testing.assert_allclose(first["w"]["w"], np.diag(12 * w * b[0]))
    np.testing.assert_allclose(second["w"], 3 * w**2 * b[0] + np.array([b[1] ** 2, 0.0]))
    np.testing.assert_allclose(third["w"], second["w"])


def test_derivatives_of_a_checkpoint_itself() -> None:
    def f(x):
        return np.sum(np.sin(x) ** 2)

    again, x = ad.checkpoint(f), np.array([0.3, 0.7])
    np.testing.assert_allclose(ad.hvp(again, (x,), (x,)), 2 * np.cos(2 * x) * x)
    np.testing.assert_allclose(ad.jvp(ad.grad(again), (x,), (x,))[1], 2 * np.cos(2 * x) * x)
    np.testing.assert_allclose(ad.hessian(again)(x), np.diag(2 * np.cos(2 * x)))
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(ad.grad(again)(x)))(x), 2 * np.cos(2 * x))


@pytest.mark.parametrize("result", [None, "a", (1.0, 2.0), np.ones(2), 1j])
def test_products_and_hessians_are_of_functions_with_one_number_as_result(result) -> None:
    def f(x):
        return result

    for run in (lambda: ad.hvp(f, (1.0,), (1.0,)), lambda: ad.hessian(f)(1.0), lambda: ad.hessian(f)(np.ones(2))):
        with pytest.raises(ad.NonScalarOutputError):
            run()


def test_one_run_may_draw_random_numbers() -> None:
    def f(x):
        return np.sum(np.random.default_rng(0).normal(size=3) * x**2)

    x = np.array([1.0, 2.0, 3.0])
    want = 2 * np.random.default_rng(0).normal(size=3)
    np.testing.assert_allclose(ad.hvp(f, (x,), (x,)), want * x)
    np.testing.assert_allclose(ad.jvp(ad.grad(f), (x,), (x,))[1], want * x)
    np.testing.assert_allclose(ad.hessian(f)(x), np.diag(want))


def test_products_where_two_names_hold_one_ratio() -> None:
    def f(a):
        m = a / a.sum(0)
        r = np.full(3, 0.1)
        for _ in range(3):
            r = m @ r
        return np.sum(r * r)

    x, v = np.array([[0.3, 1.2, 0.5], [0.9, 0.4, 0.7], [0.2, 0.8, 1.1]]), np.arange(9.0).reshape(3, 3) / 7
    h = 1e-6
    expected = (ad.grad(f)(x + h * v) - ad.grad(f)(x - h * v)) / (2 * h)
    np.testing.assert_allclose(ad.hvp(f, (x,), (v,)), expected, rtol=1e-6, atol=1e-8)


@dataclass
class Weights:
    w: np.ndarray
    b: float
    name: str = "layer"


def layer(p):
    return {"y": Weights(p.w * T3 * p.b, p.b**2), "z": (np.sum(p.w), "label")}


T3 = np.array([0.3, -0.2, 0.5])


@pytest.mark.parametrize("mode", [None, "reverse", "forward"])
def test_a_jacobian_by_and_of_dataclasses(mode):
    found = ad.jacobian(layer, mode=mode)(Weights(T3, 0.4))
    np.testing.assert_allclose(found["y"].w.w, np.diag(T3 * 0.4))
    np.testing.assert_allclose(found["y"].w.b, T3 * T3)
    assert np.isclose(found["y"].b.b, 0.8) and isinstance(found["y"].b, Weights)
    np.testing.assert_allclose(found["z"][0].w, np.ones(3))


def gauss_newton_steps(p):
    for _ in range(2):
        jac = ad.jacobian(lambda q: q["a"] * np.exp(-q["k"][0] * T3) - 1.0)(p)
        res = p["a"] * np.exp(-p["k"][0] * T3) - 1.0
        by = np.stack([jac["a"], jac["k"][0]], 1)
        step = np.linalg.solve(by.T @ by + 0.1 * np.eye(2), -by.T @ res)
        p = {"a": p["a"] + step[0], "k": [p["k"][0] + step[1]]}
    return p["a"] * p["k"][0]


def curvature_of_a_dataclass(p):
    found = ad.hessian(lambda q: np.sum(np.tanh(q.w * T3 + q.b) ** 2))(Weights(p["a"] * T3, p["k"][0]))
    return np.sum(found.w.w) * found.b.b + np.sum(found.w.b)


def blocks_by_several_arguments(p):
    def total(q, x):
        return np.sum(np.sin(q[0] * x)) * q[1]

    blocks = ad.hessian(total, (0, 1))([p["a"], p["k"][0]], T3 * p["a"])
    jac = ad.jacobian(total, (1, 0))([p["a"], p["k"][0]], T3)
    return np.sum(blocks[0][1][0]) + np.sum(blocks[1][0][1]) + np.sum(jac[0]) * jac[1][0]


@pytest.mark.parametrize("f", [gauss_newton_steps, curvature_of_a_dataclass, blocks_by_several_arguments])
def test_matrices_by_containers_inside(f):
    p, dot = {"a": 1.2, "k": [0.7]}, {"a": 0.4, "k": [-1.1]}
    check_grads(f, p, rtol=1e-5)
    h = 1e-5
    there, back = ({"a": 1.2 + s * 0.4, "k": [0.7 - s * 1.1]} for s in (h, -h))
    want = (ad.grad(f)(there)["k"][0] - ad.grad(f)(back)["k"][0]) / (2 * h)
    assert np.isclose(ad.hvp(f, (p,), (dot,))["k"][0], want, rtol=1e-5)
