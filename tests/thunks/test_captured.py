"""Parameters that a function captures: closures, globals, attributes, containers, callees; ``Params`` and ``Grads``."""

from __future__ import annotations

import dataclasses
import functools
import types

import numpy as np
import pytest

import thunkad as ad

W = np.array([[1.0, 2.0], [3.0, 4.0]])
B = np.array([0.5, -0.5])
DATA = np.array([2.0, 3.0])
LAYERS = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
NAMED = {"scale": np.array([2.0, 5.0]), "deep": {"shift": np.array([1.0, 1.0])}}
module = types.ModuleType("module_of_parameters")
module.weight = np.array([7.0, 8.0])


def test_the_example_of_the_issue() -> None:
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    value, pullback = ad.vjp(lambda: np.sum(x) + np.prod(y), captured=ad.Params([x, y]))
    assert value == 15.0
    grads = pullback(1.0)
    assert isinstance(grads, ad.Grads) and len(grads) == 2
    np.testing.assert_array_equal(grads[x], [1.0, 1.0])
    np.testing.assert_array_equal(grads[y], [4.0, 3.0])
    assert [a is b for a, b in zip(grads, (x, y))] == [True, True]
    twice = pullback(2.0)
    np.testing.assert_array_equal(twice[y], [8.0, 6.0])
    np.testing.assert_array_equal(grads[y], [4.0, 3.0])
    twice[y][...] = 0.0
    np.testing.assert_array_equal(pullback(2.0)[y], [8.0, 6.0])
    np.testing.assert_array_equal(y, [3.0, 4.0])


def affine(x):
    return W @ x + B


def loss(x):
    return np.sum(affine(x) ** 2)


def test_globals_read_by_a_callee() -> None:
    x = np.array([1.0, 2.0])
    error = 2 * (W @ x + B)
    grads = ad.grad(loss, captured=ad.Params([W, B]))(x)
    np.testing.assert_allclose(grads[W], np.outer(error, x))
    np.testing.assert_allclose(grads[B], error)
    value, grads = ad.value_and_grad(loss, captured=ad.Params([B]))(x)
    assert value == loss(x) and len(grads) == 1 and W not in grads
    np.testing.assert_allclose(grads[B], error)
    with pytest.raises(KeyError):
        grads[W]


def test_other_globals_are_constants() -> None:
    def f():
        return np.sum(DATA * B * DATA)

    np.testing.assert_allclose(ad.grad(f, captured=[B])()[B], DATA**2)


class Model:
    shared = np.array([10.0, 20.0])

    def __init__(self, w, b):
        self.w, self.b = w, b
        self.inner = [w * 1.0]

    def forward(self, x):
        return np.tanh(self.w * x) + self.b * self.shared

    def loss(self, x):
        return np.sum(self.forward(x) * self.inner[0])

    def __call__(self, x):
        return self.loss(x)


def numerical(f, array, eps=1e-6):
    out = np.zeros(array.shape)
    for k in np.ndindex(array.shape):
        old = array[k]
        array[k] = old + eps
        up = f()
        array[k] = old - eps
        out[k] = (up - f()) / (2 * eps)
        array[k] = old
    return out


def test_attributes_of_a_model() -> None:
    model = Model(np.array([0.1, 0.2]), np.array([0.3, 0.4]))
    x = np.array([1.0, -2.0])
    params = ad.Params([model.w, [model.b, {"inner": model.inner}], Model.shared])
    assert len(params) == 4
    calls = {
        "method": lambda: ad.grad(model.loss, captured=params)(x),
        "lambda": lambda: ad.grad(lambda: model.loss(x), captured=params)(),
        "callable": lambda: ad.grad(model, captured=params)(x),
        "argument": lambda: ad.grad(lambda m, x: m.loss(x), captured=params)(model, x),
        "partial": lambda: ad.grad(functools.partial(Model.loss, model), captured=params)(x),
        "bound method in a cell": lambda: ad.grad(lambda g=model.loss: g(x), captured=params)(),
    }
    want = [numerical(lambda: model.loss(x), a) for a in params]
    for name, call in calls.items():
        grads = call()
        for a, w in zip(params, want):
            np.testing.assert_allclose(grads[a], w, atol=1e-8, err_msg=name)


def test_containers_and_modules() -> None:
    def f(x):
        total = 0.0
        for layer in LAYERS:
            total = total + np.sum(layer * x)
        for k, layer in enumerate(LAYERS):
            total = total + np.sum(layer * k)
        return total + np.sum(NAMED["scale"] * NAMED["deep"]["shift"]) + np.sum(module.weight**2) + module.weight.sum()

    x = np.array([5.0, 6.0])
    params = ad.Params([LAYERS, NAMED, module.weight])
    grads = ad.grad(f, captured=params)(x)
    np.testing.assert_allclose(grads[LAYERS[0]], x)
    np.testing.assert_allclose(grads[LAYERS[1]], x + 1)
    np.testing.assert_allclose(grads[NAMED["scale"]], [1.0, 1.0])
    np.testing.assert_allclose(grads[NAMED["deep"]["shift"]], [2.0, 5.0])
    np.testing.assert_allclose(grads[module.weight], 2 * module.weight + 1)


@dataclasses.dataclass
class Pair:
    a: np.ndarray
    b: np.ndarray


def test_a_dataclass_and_inner_functions() -> None:
    pair = Pair(np.array([1.0, 2.0]), np.array([3.0, 4.0]))

    def f(pair, n):
        def scaled(k):
            return pair.a * k * B

        return sum([np.sum(scaled(k) * pair.b) for k in range(n)])

    grads = ad.grad(f, captured=[pair.a, B])(pair, 3)
    np.testing.assert_allclose(grads[pair.a], 3 * B * pair.b)
    np.testing.assert_allclose(grads[B], 3 * pair.a * pair.b)


def test_one_array_in_two_places_and_as_an_argument() -> None:
    holder = types.SimpleNamespace(first=B, second=B)

    def f(x):
        return np.sum(holder.first * holder.second * x)

    np.testing.assert_allclose(ad.grad(f, captured=[B])(DATA)[B], 2 * B * DATA)
    np.testing.assert_allclose(ad.grad(f, captured=[B])(B)[B], 3 * B * B)


def test_the_same_code_serves_new_arrays() -> None:
    state = {"w": np.array([1.0, 2.0])}

    def f(x):
        return np.sum(state["w"] * x**2)

    for step in range(3):
        state["w"] = state["w"] + step
        grads = ad.grad(f, captured=[state["w"]])(DATA)
        np.testing.assert_allclose(grads[state["w"]], DATA**2)


def test_a_global_that_becomes_a_parameter_later() -> None:
    def f():
        return np.sum(W * W) + np.sum(B * B)

    np.testing.assert_allclose(ad.grad(f, captured=[B])()[B], 2 * B)
    np.testing.assert_allclose(ad.grad(f, captured=[W])()[W], 2 * W)
    grads = ad.grad(f, captured=[W, B])()
    np.testing.assert_allclose(grads[W], 2 * W)
    np.testing.assert_allclose(grads[B], 2 * B)


def test_callees_that_are_decided_at_run_time() -> None:
    def f(functions, x):
        return sum([np.sum(g(x)) for g in functions])

    grads = ad.grad(f, captured=[W, B])([affine, np.sin, lambda x: x * B], DATA)
    np.testing.assert_allclose(grads[W], np.outer([1.0, 1.0], DATA))
    np.testing.assert_allclose(grads[B], 1 + DATA)


def test_branches_loops_and_recursion() -> None:
    def power(n):
        return 1.0 if n == 0 else B[0] * power(n - 1)

    def f(n):
        if n > 2:
            return power(n)
        total = B[1]
        while n > 0:
            total = total * B[1]
            n = n - 1
        return total

    np.testing.assert_allclose(ad.grad(f, captured=[B])(3)[B], [3 * B[0] ** 2, 0.0])
    np.testing.assert_allclose(ad.grad(f, captured=[B])(2)[B], [0.0, 3 * B[1] ** 2])


def test_aux_and_unused_parameters() -> None:
    unused = np.zeros(3)

    def f(x):
        return np.sum(B * x), {"seen": x}

    grads, aux = ad.grad(f, has_aux=True, captured=[B, unused])(DATA)
    assert aux["seen"] is DATA
    np.testing.assert_allclose(grads[B], DATA)
    np.testing.assert_array_equal(grads[unused], np.zeros(3))
    (value, _), grads = ad.value_and_grad(f, has_aux=True, captured=[B])(DATA)
    assert value == np.sum(B * DATA)
    value, pullback, _ = ad.vjp(f, DATA, has_aux=True, captured=[B])
    np.testing.assert_allclose(pullback(2.0)[B], 2 * DATA)


def test_a_captured_parameter_as_a_default_is_refused_or_right() -> None:
    def helper(x, w=B):
        return x * w

    def f(x):
        return np.sum(helper(x))

    with pytest.raises(ad.UnsupportedSyntaxError, match="default"):
        ad.grad(f, captured=[B])(DATA)


def test_params_take_arrays_only() -> None:
    assert len(ad.Params([B, [B, W], {"w": W}])) == 2
    for bad in ([1.0], ["w"], [None], [np.array(["a"])]):
        with pytest.raises(ad.ArgumentError):
            ad.Params(bad)


def test_integers_and_narrow_floats_are_projected() -> None:
    k, s = np.array([1, 2]), np.ones(2, np.float32)
    grads = ad.grad(lambda: np.sum(k * s * DATA), captured=[k, s])()
    assert grads[k].dtype == np.float64 and grads[s].dtype == np.float32


def test_parameters_written_between_forward_and_back() -> None:
    w = np.array([1.0, 2.0])
    model = types.SimpleNamespace(w=w)

    def inner(x):
        return w * w * x

    for f in (lambda x: np.sum(w * w * x), lambda x: np.sum(inner(x)), lambda x: np.sum(model.w * model.w * x)):
        _, pullback = ad.vjp(f, DATA, captured=[w])
        w *= 10.0
        np.testing.assert_allclose(pullback(1.0)[w], 2 * np.array([1.0, 2.0]) * DATA)
        w /= 10.0
        value, grads = ad.value_and_grad(f, captured=[w])(DATA)
        np.testing.assert_allclose(grads[w], 2 * w * DATA)


class Table:
    def __init__(self, w):
        self.w, self.rows, self.calls = w, {"w": w}, 0


def scaled(a, x):
    a *= x


def item(x):
    TABLE.w[0] = x
    return np.sum(TABLE.w**2)


def view(x):
    part = TABLE.w[1:]
    part[:] = x
    return np.sum(TABLE.w**2)


def augmented(x):
    TABLE.w *= x
    return np.sum(TABLE.w**2)


def entry(x):
    TABLE.rows["w"] *= x
    return np.sum(TABLE.w**2)


def by_callee(x):
    scaled(TABLE.w, x)
    return np.sum(TABLE.w**2)


def listed(x):
    for a in [TABLE.w]:
        a *= x
    return np.sum(TABLE.w**2)


def after(x):
    y = np.sum(TABLE.w**2) * x
    TABLE.w[:] = 0.0
    return y


def counted(x):
    TABLE.calls += 1
    return np.sum(TABLE.w**2) * x


TABLE = Table(np.ones(3))


@pytest.mark.parametrize("f", [item, view, augmented, entry, by_callee, listed, after])
def test_a_parameter_that_is_written_in_place_is_refused(f) -> None:
    before = TABLE.w.copy()
    with pytest.raises(ad.UnsupportedSyntaxError, match="captured parameter, and is written in place"):
        ad.grad(f, captured=[TABLE.w])(2.0)
    np.testing.assert_array_equal(TABLE.w, before)


def test_what_stands_beside_a_parameter_may_be_written() -> None:
    np.testing.assert_allclose(ad.grad(counted, captured=[TABLE.w])(3.0)[TABLE.w], 6.0)


def test_parameters_that_classes_and_functions_carry() -> None:
    class Layer:
        weight = B

        @classmethod
        def total(cls, x):
            return np.sum(cls.weight * x)

        def __call__(self, x):
            return np.sum(self.weight * x) + np.sum(type(self).weight)

    def f(x):
        return np.sum(Layer.weight * x) + np.sum(f.weight)

    f.weight = B
    layer = Layer()
    np.testing.assert_allclose(ad.grad(f, captured=[B])(DATA)[B], DATA + 1)
    np.testing.assert_allclose(ad.grad(Layer.total, captured=[B])(DATA)[B], DATA)
    np.testing.assert_allclose(ad.grad(layer, captured=[B])(DATA)[B], DATA + 1)
    with pytest.raises(ad.UnsupportedSyntaxError, match="read it as Layer"):
        ad.grad(lambda x: np.sum(Layer().weight * x), captured=[B])(DATA)
