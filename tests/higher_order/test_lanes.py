"""Many directions at once: a linear map run for a stack of tangents gives what it gives for each of them."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thunkad as ad
from thunkad import jacobians
from thunkad.runtime.accumulate import accumulate
from thunkad.runtime.arrays import expand, unbroadcast
from thunkad.runtime.cotangents import index_add, project
from thunkad.runtime.lanes import NotStackable, Stack, each
from thunkad.runtime.products import matmul_left_bar, matmul_right_bar
from thunkad.runtime.stacked import Lanes

sys.path.insert(0, str(Path(__file__).parent.parent / "forward"))
import forward_programs as programs  # noqa: E402

RNG = np.random.default_rng(5)
M, V, S = RNG.normal(size=(3, 4)), RNG.normal(size=4), 1.7

OPERATIONS = {
    "times an array": lambda t: t * V,
    "an array times": lambda t: M * t,
    "minus an array": lambda t: V - t,
    "over a number": lambda t: -t / S,
    "with itself": lambda t: t + t * 2.0,
    "a part": lambda t: t[1:] * V[1:],
    "a part from behind": lambda t: t[..., ::-1],
    "one more axis": lambda t: t[None, :] * M,
    "by an array of indices": lambda t: t[np.array([2, 0, 0])],
    "by a mask": lambda t: t[V > 0],
    "sum": lambda t: np.sum(t),
    "sum of an axis": lambda t: np.sum(t * M, axis=0),
    "sum that keeps axes": lambda t: np.sum(t * M, axis=-1, keepdims=True),
    "any other function": lambda t: np.cumsum(t),
    "of several": lambda t: np.stack([t, V, t * 2.0]),
    "split": lambda t: np.split(t, 2)[1],
    "product with a matrix": lambda t: M @ t,
    "product with a vector": lambda t: t @ V,
    "product of a vector": lambda t: V @ t,
    "a matrix by a matrix": lambda t: (M * t) @ M.T,
    "a matrix by its stack": lambda t: M @ (M * t).T,
    "a stack by a vector": lambda t: (M * t) @ V,
    "a row by a stack": lambda t: V[:3] @ (M * t),
    "a product of more axes": lambda t: np.ones((2, 3, 4)) @ t,
    "a ufunc of two results": lambda t: np.divmod(t, 1.0)[1],
    "an outer product": lambda t: np.multiply.outer(t, V),
    "added up": lambda t: np.add.accumulate(t),
    "written into a view": lambda t: written(t * 1.0, lambda z: np.reshape(z, (2, 2))[:, 0]),
    "written into the parts of one": lambda t: written(t * 1.0, lambda z: np.split(np.atleast_2d(z), 2, axis=1)[1][0]),
}


def written(z: Any, view: Any) -> Any:
    view(z)[:] = z[:2] * 3.0
    return z


HELPERS = {
    "accumulate": lambda t: accumulate(t * 1.0, V) + accumulate(t * 3.0, t * 2.0),
    "expand": lambda t: expand(t, M, axis=0) + expand(t[0], M) + expand(t[:3], M, axis=(1,)),
    "unbroadcast": lambda t: unbroadcast(M * t, V) + unbroadcast(t, np.zeros(())) + unbroadcast(M * t, M)[0],
    "index_add": lambda t: index_add(index_add(t * 1.0, np.array([1, 1, 0]), t[1:] * 2.0), 2, t[0]),
    "index_add of a slice": lambda t: index_add(t * 1.0, slice(1, None), t[:-1]),
    "project": lambda t: project(t, V),
    "matmul_left_bar": lambda t: matmul_left_bar(t, M.T @ M, V) + matmul_left_bar(t[0], V, V),
    "matmul_right_bar": lambda t: matmul_right_bar(t[:3], M, V) + matmul_right_bar(t[0], V, V),
}


@pytest.mark.parametrize("name", HELPERS)
def test_a_helper_for_all_lanes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stack, lanes = RNG.normal(size=(5, 4)), Lanes(5)
    for helper in (accumulate, expand, unbroadcast, index_add, project, matmul_left_bar, matmul_right_bar):
        monkeypatch.setitem(globals(), helper.__name__, functools.partial(lanes.call, helper))
    np.testing.assert_allclose(HELPERS[name](Stack(stack)).data, [HELPERS[name](lane) for lane in stack], rtol=1e-13)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation(name: str) -> None:
    stack = RNG.normal(size=(5, 4))
    found = OPERATIONS[name](Stack(stack))
    want = [OPERATIONS[name](lane) for lane in stack]
    assert isinstance(found, Stack)
    assert found.shape == np.shape(want[0])
    np.testing.assert_allclose(found.data, want, rtol=1e-13, atol=1e-13)


def test_numbers() -> None:
    stack = Stack(np.arange(3.0))
    np.testing.assert_allclose((stack * V).data, np.outer(np.arange(3.0), V))
    np.testing.assert_allclose((stack * 2.0 + stack).data, 3 * np.arange(3.0))
    assert np.shape(stack) == ()


def test_a_buffer_is_changed_in_every_lane() -> None:
    buffer, stack = Lanes(3).make(np.zeros, 4), Stack(RNG.normal(size=(3, 2)))
    buffer[:2] += stack
    buffer[1:3] += stack * 2.0
    buffer[3] = 1.0
    want = np.zeros((3, 4))
    want[:, :2] += stack.data
    want[:, 1:3] += 2 * stack.data
    want[:, 3] = 1.0
    np.testing.assert_allclose(buffer.data, want)


def test_helpers_run_in_every_lane() -> None:
    stack = Stack(RNG.normal(size=(3, 5, 4)))
    np.testing.assert_allclose(each(unbroadcast, (stack, V), {}).data, stack.data.sum(1))
    found = each(lambda parts: {"a": (parts[0] * 2.0, 1)}, ([stack, V],), {})
    np.testing.assert_allclose(found["a"][0].data, stack.data * 2.0)
    assert each(unbroadcast, (np.ones((5, 4)), V), {}).shape == (4,)


@pytest.mark.parametrize(
    "use",
    [bool, float, np.asarray, len, lambda t: np.zeros(4).__iadd__(t), lambda t: t[np.array([0]), :0], hash],
)
def test_what_is_for_one_lane_only(use: Any) -> None:
    with pytest.raises((NotStackable, TypeError)):
        use(Stack(np.ones(3)))


@pytest.mark.parametrize("write", [np.copyto, lambda a, t: np.put(a, 0, t)])
def test_an_array_that_holds_one_lane_is_not_written_for_each(write: Any) -> None:
    with pytest.raises(ValueError, match="read-only"):
        write(np.zeros(()), Stack(np.ones(3)))


def same(a: Any, b: Any) -> None:
    if isinstance(b, dict):
        assert a.keys() == b.keys()
        for k in b:
            same(a[k], b[k])
    elif isinstance(b, (list, tuple)):
        assert type(a) is type(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


def refuse(*args: Any) -> Any:
    raise NotStackable


CASES = [(name, k) for name, (_, args) in programs.PROGRAMS.items() for k, a in enumerate(args) if np.size(a) > 1]


@pytest.mark.parametrize(("name", "k"), CASES)
def test_the_jacobian_is_the_same(name: str, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    f, args = programs.PROGRAMS[name]
    if not isinstance(args[k], np.ndarray) or args[k].dtype.kind not in "fc":
        return
    jacobian = ad.jacobian(f, k, mode="forward")
    try:
        found = jacobian(*args)
    except ad.ThunkadError:
        return  # no Jacobian in one matrix
    monkeypatch.setattr(jacobians, "MOST_LANES", 2)
    same(jacobian(*args), found)
    monkeypatch.setattr(jacobians, "_in_stacks", refuse)
    same(jacobian(*args), found)


def network(w, x):
    return np.sum(np.tanh(np.tanh(x @ w[:3]) @ w[3:].T) ** 2)


def test_one_run_of_the_map_for_many_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    whole = jacobians._in_stacks

    def counted(stacked: Any, *rest: Any) -> Any:
        return whole(lambda number, basis: runs.append(len(basis)) or stacked(number, basis), *rest)

    monkeypatch.setattr(jacobians, "_in_stacks", counted)
    w, x = RNG.normal(size=(6, 4)), RNG.normal(size=(7, 3))
    h = ad.hessian(network)(w, x)
    assert runs == [24]
    monkeypatch.setattr(jacobians, "_in_stacks", refuse)
    np.testing.assert_allclose(h, ad.hessian(network)(w, x), rtol=1e-11, atol=1e-12)
    v = RNG.normal(size=(6, 4))
    np.testing.assert_allclose(np.tensordot(h, v, 2), ad.hvp(network, (w, x), (v, None))[0], rtol=1e-10, atol=1e-12)
