"""Calls that Hypothesis generates: shapes, axes, broadcasts, precisions, keywords, empty and 0-d arrays, for each family.

Every call goes through the public checker of rules where the function has one, and through ``check_grads`` where it is
looked inside.  The numbers are drawn from a seed, apart from each other, so that every point is smooth.
"""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import thunkad as ad
from thunkad.testing import check_frule, check_grads, check_rrule

#: The same examples in each run, few of them.
FEW = settings(
    max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
FULL = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3)
SEEDS = st.integers(0, 2**32 - 1)
DTYPES = st.sampled_from([np.float64, np.float64, np.float32, np.complex128])
REAL = st.sampled_from([np.float64, np.float64, np.float32])


def numbers(seed, shape, dtype=np.float64, low=0.35, high=1.6):
    """Numbers apart from each other, between ``low`` and ``high``."""
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape, dtype=int))

    def some():
        return rng.permutation(np.linspace(low, high, max(size, 2))[:size]).reshape(shape)

    values = some() + 1j * some() if np.dtype(dtype).kind == "c" else some()
    return np.asarray(values, dtype)[()] if shape == () and seed % 2 else np.asarray(values, dtype)


def check(fn, *args, **kwargs):
    with np.errstate(all="ignore"):
        check_rrule(fn, *args, **kwargs)
        check_frule(fn, *args, **kwargs)


def function(name):
    found = np
    for part in name.split("."):
        found = getattr(found, part)
    return found


def each(names):
    return pytest.mark.parametrize("fn", [pytest.param(function(name), id=name) for name in names.split()])


# elementwise


@each("exp sin cosh tanh sqrt log square reciprocal negative conjugate absolute sinc arctan log1p")
@FEW
@given(shape=SHAPES, dtype=DTYPES, seed=SEEDS)
def test_functions_of_one(fn, shape, dtype, seed):
    if dtype is np.complex128 and fn in (np.sinc,):
        dtype = np.float64
    check(fn, numbers(seed, shape, dtype))


@each("add multiply divide subtract power arctan2 hypot maximum fmin logaddexp copysign")
@FEW
@given(shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=3), dtype=REAL, seed=SEEDS)
def test_functions_of_two(fn, shapes, dtype, seed):
    first, second = shapes.input_shapes
    check(fn, numbers(seed, first, dtype), numbers(seed + 1, second, dtype, 0.41, 1.73))


@FEW
@given(shapes=hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, min_side=0, max_side=3), dtype=REAL, seed=SEEDS)
def test_where_and_clip(shapes, dtype, seed):
    a, b, c = shapes.input_shapes
    x, y, low = numbers(seed, a, dtype), numbers(seed + 1, b, dtype), numbers(seed + 2, c, dtype, 0.2, 0.9)
    check(np.where, np.asarray(y) > 1.0, x, low)
    check(np.clip, x, low, 1.31)


# reductions


@st.composite
def reduced(draw, shapes=FULL):
    """(shape, axis, keepdims)"""
    shape = draw(shapes)
    axes = st.integers(-len(shape), len(shape) - 1)
    several = hnp.valid_tuple_axes(len(shape), min_size=1)
    return shape, draw(st.none() | axes | several), draw(st.booleans())


@each("sum mean prod max min var std nansum nanmean nanvar nanmax linalg.vector_norm")
@FEW
@given(how=reduced(), dtype=REAL, seed=SEEDS, data=st.data())
def test_reductions(fn, how, dtype, seed, data):
    shape, axis, keepdims = how
    a = numbers(seed, shape, dtype)
    kwargs = {}
    if fn in (np.sum, np.mean, np.prod, np.var, np.std, np.nansum) and data.draw(st.booleans()):
        kwargs["where"] = np.random.default_rng(seed).random(shape) < 0.8
        if fn in (np.mean, np.var, np.std):
            kwargs["where"] |= np.arange(a.size).reshape(shape) % 2 == 0
            if not np.all(np.sum(kwargs["where"], axis=axis) > 1):
                del kwargs["where"]
    if fn in (np.sum, np.prod, np.max, np.min) and data.draw(st.booleans()):
        kwargs["initial"] = 0.3
    if fn in (np.var, np.std, np.nanvar) and np.size(a) > 2:
        kwargs["ddof"] = data.draw(st.sampled_from([0, 0.5]))
    if fn is np.std and np.any(np.ptp(a, axis=axis) == 0):
        return  # not smooth
    if fn is np.linalg.vector_norm:
        kwargs["ord"] = data.draw(st.sampled_from([2, 1, 3]))
    check(fn, a, axis=axis, keepdims=keepdims, **kwargs)


@each("cumsum cumprod nancumsum sort flip diff")
@FEW
@given(shape=FULL, dtype=REAL, seed=SEEDS, data=st.data())
def test_along_an_axis(fn, shape, dtype, seed, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    check(fn, numbers(seed, shape, dtype), axis=axis)


@each("median quantile percentile nanmedian")
@FEW
@given(how=reduced(hnp.array_shapes(min_dims=1, max_dims=2, min_side=2, max_side=3)), seed=SEEDS, q=st.sampled_from([0.311, [0.153, 0.827]]))
def test_order_statistics(fn, how, seed, q):
    shape, axis, keepdims = how
    a = numbers(seed, shape)
    if fn in (np.median, np.nanmedian):
        check(fn, a, axis, keepdims=keepdims)
    else:
        check(fn, a, np.asarray(q)[()] if fn is np.quantile else 90 * np.asarray(q)[()], axis, keepdims=keepdims)


# shapes, joining and splitting


@FEW
@given(shape=SHAPES, dtype=DTYPES, seed=SEEDS, data=st.data())
def test_shapes(shape, dtype, seed, data):
    a = np.asarray(numbers(seed, shape, dtype))
    order = data.draw(st.sampled_from("CF"))
    check(np.reshape, a, (-1,) if a.size else a.shape, order)
    check(np.ravel, a, order)
    check(np.transpose, a, tuple(data.draw(st.permutations(range(a.ndim)))))
    check(np.expand_dims, a, data.draw(st.integers(-a.ndim - 1, a.ndim)))
    check(np.broadcast_to, a, (2, *shape))
    check(np.tile, a, data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=2)))
    if a.ndim:
        axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
        check(np.roll, a, data.draw(st.integers(-3, 3)), axis)
        check(np.repeat, a, data.draw(st.integers(0, 2)), axis)
        check(np.moveaxis, a, axis, 0)


@FEW
@given(shape=FULL, dtype=DTYPES, seed=SEEDS, data=st.data())
def test_joining_and_splitting(shape, dtype, seed, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    other = list(shape)
    other[axis] = data.draw(st.integers(0, 3))
    a, b = numbers(seed, shape, dtype), numbers(seed + 1, tuple(other), dtype)
    check(np.concatenate, [a, b], axis)
    check(np.stack, [a, 2 * a], axis)
    check(np.append, a, b, axis)
    check(np.array_split, a, data.draw(st.integers(1, 4)), axis)
    places = data.draw(st.lists(st.integers(0, shape[axis]), max_size=2))
    check(np.split, a, sorted(places), axis)
    check(np.delete, a, data.draw(st.integers(0, shape[axis] - 1)), axis)
    check(np.insert, a, data.draw(st.integers(0, shape[axis])), 0.5, axis)


# indexing


@FEW
@given(shape=FULL, seed=SEEDS, dtype=DTYPES, data=st.data())
def test_indices(shape, seed, dtype, data):
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True) | hnp.integer_array_indices(shape))
    a = numbers(seed, shape, dtype)

    def read(x):
        return x[index]

    def written(x, v):
        y = x * 1.0
        y[index] = v
        return y

    check_grads(read, a, **loose(dtype))
    check_grads(written, a, numbers(seed + 1, np.shape(a[index]), dtype), **loose(dtype))


@FEW
@given(shape=FULL, seed=SEEDS, data=st.data())
def test_masks_and_take(shape, seed, data):
    a = numbers(seed, shape)
    mask = data.draw(hnp.arrays(bool, shape))
    check_grads(lambda x: x[mask], a)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    indices = data.draw(hnp.arrays(int, hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3), elements=st.integers(0, shape[axis] - 1)))
    check(np.take, a, indices, axis)


def loose(dtype):
    return {"rtol": 1e-3, "atol": 1e-4} if dtype is np.float32 else {}


# products


@FEW
@given(
    shapes=hnp.mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=2, min_side=1, max_side=3),
    dtype=DTYPES,
    seed=SEEDS,
)
def test_matmul(shapes, dtype, seed):
    a, b = (numbers(seed + k, shape, dtype) for k, shape in enumerate(shapes.input_shapes))
    check(np.matmul, a, b)
    check_grads(lambda x, y: x @ y, a, b, **loose(dtype))


@st.composite
def subscripts(draw):
    """A call of einsum: subscripts and operands, with sums, repeated indices and an ellipsis."""
    sizes = {letter: draw(st.integers(1, 3)) for letter in "ijkl"}
    parts = ["".join(draw(st.lists(st.sampled_from("ijkl"), max_size=3))) for _ in range(draw(st.integers(1, 3)))]
    used = sorted(set("".join(parts)))
    output = draw(st.none() | st.lists(st.sampled_from(used), unique=True, max_size=3) if used else st.none())
    dots = draw(st.booleans())
    shapes = [((2,) if dots and k == 0 else ()) + tuple(sizes[letter] for letter in part) for k, part in enumerate(parts)]
    written = ["..." + part if dots and k == 0 else part for k, part in enumerate(parts)]
    text = ",".join(written)
    if output is not None:
        text += "->" + ("..." if dots else "") + "".join(output)
    return text, shapes


@FEW
@given(call=subscripts(), dtype=DTYPES, seed=SEEDS, optimize=st.booleans())
def test_einsum(call, dtype, seed, optimize):
    text, shapes = call
    check(np.einsum, text, *(numbers(seed + k, shape, dtype) for k, shape in enumerate(shapes)), optimize=optimize)


# linear algebra with batches


@each("linalg.inv linalg.det linalg.slogdet linalg.cholesky linalg.eigvalsh linalg.svdvals linalg.pinv")
@FEW
@given(batch=hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=2), n=st.integers(1, 3), seed=SEEDS, dtype=st.sampled_from([np.float64, np.complex128]))
def test_batches_of_matrices(fn, batch, n, seed, dtype):
    a = numbers(seed, (*batch, n, n), dtype) + 3 * np.diag(np.arange(1.0, n + 1))
    if fn in (np.linalg.cholesky, np.linalg.eigvalsh):
        check_grads(lambda m: fn(m @ np.conj(np.swapaxes(m, -1, -2))), a, rtol=1e-5, atol=1e-6)
    else:
        check_grads(lambda m: fn(m), a, rtol=1e-5, atol=1e-6)


@FEW
@given(batch=hnp.array_shapes(min_dims=0, max_dims=1, min_side=0, max_side=2), n=st.integers(1, 3), m=st.integers(0, 2), seed=SEEDS)
def test_solve(batch, n, m, seed):
    a = numbers(seed, (*batch, n, n)) + 3 * np.eye(n)
    check(np.linalg.solve, a, numbers(seed + 1, (*batch, n, m)))


# transforms


@each("fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft")
@FEW
@given(shape=FULL, seed=SEEDS, norm=st.sampled_from([None, "ortho", "forward"]), data=st.data())
def test_transforms(fn, shape, seed, norm, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    length = data.draw(st.none() | st.integers(2, 5))
    if length is None and fn in (np.fft.irfft, np.fft.hfft) and shape[axis] < 2:
        length = 3
    dtype = np.float64 if fn in (np.fft.rfft, np.fft.ihfft) else np.complex128
    check(fn, numbers(seed, shape, dtype), length, axis, norm)


@each("fft.fftn fft.ifftn fft.rfftn fft.irfftn")
@FEW
@given(how=reduced(hnp.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=3)), seed=SEEDS)
def test_transforms_over_axes(fn, how, seed):
    shape, axis, _ = how
    axes = None if axis is None else axis if isinstance(axis, tuple) else (axis,)
    check(fn, numbers(seed, shape, np.float64 if fn is np.fft.rfftn else np.complex128), None, axes)


@FEW
@given(shape=SHAPES, seed=SEEDS)
def test_gradients_keep_precision_and_shape(shape, seed):
    a = np.asarray(numbers(seed, shape, np.float32))
    found = ad.grad(lambda x: np.sum(np.exp(x) * x + np.mean(x) if x.size else x))(a)
    assert found.dtype == np.float32 and found.shape == a.shape
