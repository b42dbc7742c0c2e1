"""Uniform cotangents: right for every shape, and as cheap as they promise."""

from __future__ import annotations

import numpy as np
import product_rules as p
import pytest

import thunkad as ad
from thunkad.inspection import adjoint_source


def chain(a, b, c, x):
    return np.sum(a @ b @ c @ x)


def products(wanted) -> int:
    code = adjoint_source(chain, argnums=wanted).partition("def ")[2]
    lines = [line for line in code.splitlines() if not line.strip().startswith("#")]
    return sum(line.count(x) for line in lines for x in (" @ ", "matmul_left_bar(", "matmul_right_bar("))


@pytest.mark.parametrize(("wanted", "count"), [(3, 2), (0, 2), (1, 2), (2, 2), ((0, 1, 2, 3), 6)])
def test_the_products_of_a_matrix_chain(wanted, count) -> None:
    """For X: A·B, then ·C; its gradient is a sum of columns.  For A: two products, none of the primal's."""
    rng = np.random.default_rng(0)
    a, b, c, x = (rng.standard_normal(s) for s in ((2, 3), (3, 4), (4, 5), (5, 6)))
    ones = np.ones((2, 6))
    want = (ones @ (b @ c @ x).T, a.T @ ones @ (c @ x).T, (a @ b).T @ ones @ x.T, (a @ b @ c).T @ ones)
    found = ad.grad(chain, argnums=wanted)(a, b, c, x)
    for k, g in zip((wanted,), (found,)) if isinstance(wanted, int) else zip(wanted, found):
        np.testing.assert_allclose(g, want[k])
    assert products(wanted) == count


def test_a_pullback_runs_the_products_of_what_is_read() -> None:
    def ruled(a, b, c, x):
        return np.sum(p.pasted(p.pasted(p.pasted(a, b), c), x))

    p.take()
    _, pullback = ad.vjp(ruled, *p.matrices((2, 3), (3, 4), (4, 5), (5, 6)))
    bars = pullback(1.0)
    assert p.take() == []
    bars[3]
    assert p.take() == ["b"]
    bars[0]
    assert p.take() == ["a", "a", "a"]
    bars[1], bars[2]
    assert p.take() == ["b", "b"]
    tuple(bars)
    assert p.take() == []


def loss(w, b, x, y):
    p = 1 / (1 + np.exp(-(x @ w + b)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def test_the_loss_of_the_design_allocates_no_constant_array() -> None:
    rng = np.random.default_rng(1)
    w, b, x, y = rng.standard_normal(3), 0.3, rng.standard_normal((5, 3)), rng.integers(0, 2, 5) * 1.0
    error = (1 / (1 + np.exp(-(x @ w + b))) - y) / len(y)
    w_bar, b_bar = ad.grad(loss, argnums=(0, 1))(w, b, x, y)
    np.testing.assert_allclose(w_bar, x.T @ error)
    np.testing.assert_allclose(b_bar, error.sum())
    text = adjoint_source(loss, argnums=1)
    assert "-1.0 / count(" in text and "np.sum(p_bar * (p / t5) * t4)" in text
    for needless in ("expand(", "full(", "mean(", "log(", "zeros("):
        assert needless not in text.replace(LAST_LINE, ""), needless


LAST_LINE = "return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))"
SHAPES = [(3, 4), (4,), (1, 4), (3, 1), (1, 1), (), (1,)]
OPS = {
    "sum": lambda x, y: np.sum(x + y),
    "difference": lambda x, y: np.sum(x - y),
    "product": lambda x, y: np.sum(x * y),
    "scaled": lambda x, y: np.sum(2.0 * x * y) + np.sum(x * 3.0),
    "quotient": lambda x, y: np.mean(x / (y + 10.0)),
    "constant over": lambda x, y: np.mean(2.0 / (x + 10.0) - y),
    "negative": lambda x, y: np.sum(-(x + 2 * y)),
    "unary": lambda x, y: np.mean(np.sin(x) + np.exp(y) * np.cos(x + y)),
    "power": lambda x, y: np.sum((x + y) ** 2) + np.sum(x**1) + np.mean(y**3),
    "two uses": lambda x, y: np.sum(x + y) + np.sum(x * 2.0) + np.mean(x * y) + np.sum(x),
    "sum of sums": lambda x, y: np.sum(np.sum(x + y, axis=-1)) + np.sum(np.mean(x + y, axis=0, keepdims=True)),
    "mean of means": lambda x, y: np.mean(np.mean(x + y, axis=0)) * 3.0,
    "moved": lambda x, y: np.sum(np.transpose(x + y)) + np.sum(np.reshape(x + y, -1)) + np.sum((x + y).T * 2.0),
    "where": lambda x, y: np.sum(np.where(x > 0, x, y)),
    "maximum": lambda x, y: np.sum(np.maximum(x, y)),
    "branch": lambda x, y: np.sum(x + y) if np.sum(x) > 0 else np.mean(x * y),
    "loop": lambda x, y: sum([np.sum(x + y) * k for k in range(3)]),
    "callee": lambda x, y: np.sum(helper(x + y) + x),
    "constant arm": lambda x, y: np.sum(x * 0 + 1.0) + np.sum(y),
    "cumulative": lambda x, y: np.sum(np.cumsum(x + y)),
    "concatenated": lambda x, y: np.sum(np.concatenate([np.ravel(x), np.ravel(y)])),
    "out of a tuple": lambda x, y: np.sum((x + y, x)[0]),
}


def helper(t):
    return t * 2.0


def differences(f, args, k, eps=1e-6):
    x = np.array(args[k], dtype=float)
    out = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += eps
        down[i] -= eps
        out[i] = (f(*args[:k], up, *args[k + 1 :]) - f(*args[:k], down, *args[k + 1 :])) / (2 * eps)
    return out


@pytest.mark.parametrize("f", OPS.values(), ids=OPS)
@pytest.mark.parametrize("second", SHAPES, ids=str)
def test_every_shape(f, second) -> None:
    if f is OPS["sum of sums"] and second == () or f is OPS["loop"] and second not in ((3, 4), (4,), ()):
        pytest.skip("has no axis, or takes long")
    rng = np.random.default_rng(2)
    x, y = rng.uniform(0.5, 1.5, (3, 4)), rng.uniform(0.5, 1.5, second)
    for args in ((x, y), (y, x)):
        if np.ndim(args[0]) == 0 and f is not OPS["sum"]:
            continue
        found = ad.grad(f, argnums=(0, 1))(*args)
        for k in range(2):
            want = differences(f, args, k)
            assert np.shape(found[k]) == np.shape(want)
            np.testing.assert_allclose(found[k], want, atol=1e-6)


@pytest.mark.parametrize("f", OPS.values(), ids=OPS)
def test_numbers_of_python(f) -> None:
    if f in (OPS["sum of sums"], OPS["mean of means"]):
        pytest.skip("has no axis")
    x, y = np.array([0.5, 1.5, 2.5]), 0.7
    found = ad.grad(f, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(found[0], differences(f, (x, y), 0), atol=1e-6)
    np.testing.assert_allclose(found[1], differences(lambda x, y: f(x, float(y)), (x, y), 1), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128, int])
def test_dtypes(dtype) -> None:
    x, y = np.arange(6).reshape(2, 3).astype(dtype), np.ones(3)

    def f(x, y):
        t = np.sum(x * 2 + y) + np.mean(x * y)
        return np.real(t) if dtype is np.complex128 else t

    x_bar, y_bar = ad.grad(f, argnums=(0, 1))(x, y)
    assert x_bar.dtype == (float if dtype is int else dtype) and y_bar.dtype == float
    np.testing.assert_allclose(x_bar, np.full((2, 3), 2 + 1 / 6), rtol=1e-6)
    np.testing.assert_allclose(y_bar, 2 + np.real(x).sum(axis=0) / 6, rtol=1e-6)


def test_matrix_products_of_every_rank() -> None:
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4))]
    rng = np.random.default_rng(0)
    for s, t in shapes:
        a, b = rng.standard_normal(s), rng.standard_normal(t)
        found = ad.grad(lambda a, b: np.sum(a @ b), argnums=(0, 1))(a, b)
        for k in range(2):
            np.testing.assert_allclose(found[k], differences(lambda a, b: np.sum(a @ b), (a, b), k), atol=1e-6)


def test_empty_arrays() -> None:
    empty = np.zeros((0, 3))
    with np.errstate(all="ignore"):
        assert ad.grad(lambda x: np.sum(x * 2.0))(empty).shape == (0, 3)
        assert ad.grad(lambda x, y: np.sum(x + y), argnums=1)(empty, np.ones(3)).tolist() == [0.0, 0.0, 0.0]


def test_shape_errors_stay_errors() -> None:
    with pytest.raises(ValueError, match="matmul|mismatch"):
        ad.grad(chain, argnums=0)(np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 5)), np.ones((4, 2)))
    with pytest.raises(ValueError, match="broadcast"):
        ad.grad(lambda x, y: np.sum(x + y))(np.ones(3), np.ones(4))
