"""Arrays, tables and compiled functions of other libraries: right, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import thunkad as ad
from thunkad.errors import NoRuleError, NonDifferentiableArgumentError

W = np.array([0.3, -0.2])


def differences(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    return np.array([(f(x + e) - f(x - e)) / 2e-6 for e in np.eye(len(x)) * 1e-6])


# ---------------------------------------------------------------- pandas


@pytest.fixture
def table() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 7.0], "y": [1.0, 0.0, 1.0]})


def of_columns(w: Any, t: Any) -> Any:
    return np.sum((t.a.values * w[0] + t["b"].to_numpy() * w[1] - np.asarray(t.y)) ** 2)


def of_block(w: Any, t: Any) -> Any:
    return np.mean((t[["a", "b"]].to_numpy() @ w - t["y"].to_numpy()) ** 2) + np.dot(t["a"], t["b"]) * w[0]


def by_rows(w: Any, t: Any) -> Any:
    total = 0.0
    for _, row in t.iterrows():
        total += (row["a"] * w[0] + row["b"] * w[1] - row["y"]) ** 2
    return total


@pytest.mark.parametrize("f", [of_columns, of_block, by_rows])
def test_a_table_is_data(f: Callable[..., Any], table: Any) -> None:
    np.testing.assert_allclose(ad.grad(f)(W, table), differences(lambda w: f(w, table), W), rtol=1e-6)
    _, tangent = ad.jvp(f, (W, table), (W, None))
    np.testing.assert_allclose(tangent, W @ ad.grad(f)(W, table), rtol=1e-9)


@pytest.mark.parametrize(
    "f",
    [
        lambda w, t: np.sum(t[["a", "b"]] @ w),
        lambda w, t: np.sum(w[0] * t["a"]),
        lambda w, t: (t["a"] * w[0]).sum(),
    ],
)
def test_a_derivative_through_a_table_is_refused_by_name(f: Callable[..., Any], table: Any) -> None:
    with pytest.raises(NoRuleError, match=r"(?s)pandas.*\.to_numpy\(\)"):
        ad.grad(f)(W, table)


def test_a_table_has_no_gradient(table: Any) -> None:
    with pytest.raises(NonDifferentiableArgumentError, match="DataFrame"):
        ad.grad(of_block, 1)(W, table)


# ---------------------------------------------------------------- Numba


def test_functions_that_numba_compiled_are_looked_into() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def weighted(x: Any, n: int) -> Any:
        total = 0.0
        for i in range(n):
            total += x[i] ** 2 * np.sin(x[i])
        return total

    @numba.njit
    def cubes(x: Any) -> Any:
        out = np.zeros_like(x)
        for i in numba.prange(x.shape[0]):
            out[i] = x[i] ** 3 + weighted(x, i)
        return out

    for f in (lambda x: weighted(x, 2), lambda x: np.sum(cubes(x)) * x[0]):
        np.testing.assert_allclose(ad.grad(f)(W), differences(f, W), rtol=1e-6)
        np.testing.assert_allclose(ad.jvp(f, (W,), (W,))[1], W @ ad.grad(f)(W), rtol=1e-9)
    np.testing.assert_allclose(ad.grad(weighted)(W, 2), differences(lambda x: weighted(x, 2), W), rtol=1e-6)


def test_ufuncs_that_numba_compiled_are_refused_by_name() -> None:
    numba = pytest.importorskip("numba")

    @numba.vectorize
    def product(x: Any, y: Any) -> Any:
        return x * y

    with pytest.raises(NoRuleError, match=r"(?s)product.*numba"):
        ad.grad(lambda x: np.sum(product(x, 2.0)))(W)
    ad.rrule(product)(lambda x, y: (product(x, y), lambda z_bar: (z_bar * y, z_bar * x)))
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(product(x, x)))(W), 2 * W)


# ---------------------------------------------------------------- Dask

ON_BLOCKS: list[Callable[[Any], Any]] = [
    lambda x: np.sum(np.sin(x) * x),
    lambda x: x @ x,
    lambda x: np.max(x) * np.mean(x),
    lambda x: np.sum(x[1:] * x[:-1]),
    lambda x: np.sum(np.where(x > 1.5, x, x**2)),
    lambda x: np.sum(np.concatenate([x, 2 * x]) ** 2) + np.std(x),
    lambda x: np.sum(x.reshape(3, 1) @ x.reshape(1, 3)),
    lambda x: np.sum(np.cumsum(x) * x[None, :]),
]


@pytest.mark.filterwarnings("ignore:The `numpy")
@pytest.mark.parametrize("k", range(len(ON_BLOCKS)))
def test_dask_arrays_pass_through(k: int) -> None:
    array = pytest.importorskip("dask.array")
    x, f = np.array([1.0, 2.0, 3.0]), ON_BLOCKS[k]
    found = ad.grad(f)(array.from_array(x, chunks=2))
    assert isinstance(found, array.Array)
    np.testing.assert_allclose(found.compute(), ad.grad(f)(x), rtol=1e-12)


def test_arrays_against_data_in_dask() -> None:
    array = pytest.importorskip("dask.array")
    data = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def loss(w: Any, x: Any) -> Any:
        return np.mean((x @ w - 1.0) ** 2)

    found = ad.grad(loss)(W, array.from_array(data, chunks=2))
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, ad.grad(loss)(W, data), rtol=1e-12)
