"""Arguments for every function that has a rule, and for every one that is written out: one or more calls of each.

Each is a point at which the function is differentiable.  ``test_every_rule`` goes through the table and fails if a function
of the rule table has no sample.
"""

import builtins
import cmath
import functools
import math
import operator
from typing import Any, NamedTuple

import numpy as np
import scipy.fft
import scipy.linalg
import scipy.special
import scipy.stats

RNG = np.random.default_rng(7)


class Sample(NamedTuple):
    """The call ``function(*args, **kwargs)``.

    ``composed``: the function is looked inside, so that only its compiled derivative is checked.  ``method``: how the call is
    written, where that is not by the function's name (``{0}`` is the first argument, ``{rest}`` all others).
    """

    function: Any
    args: tuple
    kwargs: dict
    composed: bool = False
    method: str = ""


SAMPLES: list[Sample] = []


def add(function, *args, **kwargs):
    SAMPLES.append(Sample(function, args, kwargs))


def composed(function, *args, **kwargs):
    SAMPLES.append(Sample(function, args, kwargs, composed=True))


def method(name, *args, **kwargs):
    SAMPLES.append(Sample(getattr(np.ndarray, name), args, kwargs, method="{0}." + name + "({rest})"))


def composed_method(name, *args, **kwargs):
    SAMPLES.append(Sample(getattr(np.ndarray, name), args, kwargs, True, "{0}." + name + "({rest})"))


def written(text, function, *args):
    """A call written as ``text``: of a function that needs something around it to have a derivative by differences."""
    SAMPLES.append(Sample(function, args, {}, True, text))


def each(module, names, *args, **kwargs):
    for name in names.split():
        add(getattr(module, name), *args, **kwargs)


def random(*shape):
    """Numbers apart from each other, from zero and from whole numbers."""
    size = int(np.prod(shape))
    values = np.linspace(-1.93, 2.17, size) if size > 1 else np.array([0.7])
    return RNG.permutation(values + 0.013 * RNG.random(size)).reshape(shape)


V, M, CUBE = random(5), random(3, 4), random(2, 3, 4)
W = random(5)
POSITIVE = np.abs(M) + 0.3
INSIDE = M / 3.1
Z = M + 1j * random(3, 4)
SQUARE = random(3, 3) + 3 * np.eye(3)
SQUARES = random(2, 3, 3) + 4 * np.eye(3)
Z_SQUARE = SQUARE + 1j * random(3, 3)
SPD = SQUARE @ SQUARE.T
NAN = M.copy()
NAN[1, 2] = np.nan
EMPTY = np.zeros((0, 3))

# ---------------------------------------------------------------- elementwise

UNARY = {
    "negative positive square exp exp2 expm1 sin cos sinh cosh tanh arcsinh conjugate real imag": (M, Z),
    "tan arcsin arccos arctan arctanh": (INSIDE, Z / 3),
    "reciprocal sqrt log log2 log10 log1p": (POSITIVE, Z),
    "arccosh": (POSITIVE + 1, Z),
    "absolute sign sinc": (M, Z),
    "cbrt fabs deg2rad radians rad2deg degrees i0 nan_to_num": (M,),
    "frexp modf": (INSIDE + 0.031,),
    "angle": (Z,),
}
for names, points in UNARY.items():
    for point in points:
        each(np, names, point)
    if names != "angle":
        each(np, names, points[0][1])
        each(np, names, np.array(points[0][0, 0]))
        each(np, names, float(points[0][0, 1]))
        if "frexp" not in names:
            each(np, names, points[0][:0])
each(np, "add subtract multiply divide maximum minimum fmax fmin hypot arctan2 copysign logaddexp logaddexp2", M, V[:4])
each(np, "add subtract multiply divide maximum minimum hypot arctan2", M[:, :1], 0.37)
each(np, "add subtract multiply divide maximum minimum hypot arctan2", 0.37, M[0, 1])
each(np, "add subtract multiply divide", Z, M[:1])
each(np, "add subtract multiply divide", EMPTY, V[:3])
each(np, "remainder fmod divmod", M, np.array([0.7, -1.3, 0.45, 2.2]))
each(np, "power float_power", POSITIVE, V[:4])
each(np, "power", POSITIVE[0, 0], 3)
each(np, "power", Z, 2.0)
each(np, "nextafter", M, V[:4])
add(np.heaviside, V[:3], random(2, 3))
add(np.ldexp, M, np.array([1, 2, -1, 0]))
add(np.unwrap, np.array([0.1, 2.5, 6.1, 0.2]))
add(np.angle, Z, deg=True)
add(np.real_if_close, M)
add(np.nan_to_num, NAN, nan=1.0)

# ---------------------------------------------------------------- selection

add(np.clip, M, -0.4, 0.9)
add(np.clip, M, V[:4] - 2.5, 1.1)
add(np.where, M > 0, M, V[:4])
add(np.where, M[0] > 0, 1.5, M)
add(np.select, [M > 1, M > 0], [M, 2 * M], 0.7)
add(np.choose, np.array([0, 1, 1]), [V[:3], W[:3]])
add(np.choose, np.array([0, 3, 1]), [V[:3], W[:3]], mode="wrap")

# ---------------------------------------------------------------- reductions and scans

for axis in (None, 0, -1):
    each(
        np,
        "sum mean prod max min var std ptp median nansum nanmean nanprod nanmax nanmin nanvar nanstd nanmedian",
        M,
        axis,
    )
each(np, "sum mean prod max min var std nansum nanmean", CUBE, (0, 2), keepdims=True)
each(np, "sum mean var std", Z, 0)
for name in "sum mean prod var std".split():
    add(getattr(np, name), M, axis=1, where=np.array([True, False, True, True]))
each(np, "sum prod", M, 1, initial=2.5)
each(np, "max min", M, 1, initial=0.2)
each(np, "var std nanvar nanstd", M, 0, ddof=1)
each(np, "nansum nanmean nanprod nanmax nanmin nanvar nanstd nanmedian", NAN, 1)
written("np.sum({0}, dtype=np.float32) + np.mean({0}, None, np.float32)", np.sum, M)
each(np, "sum prod", EMPTY, 0)
add(np.average, M, 1, V[:4] ** 2)
add(np.average, M)
add(np.cov, M)
add(np.cov, V, W)
add(np.corrcoef, M)
each(np, "quantile nanquantile", M, 0.3, 1)
each(np, "percentile nanpercentile", M, [25.0, 60.0], 0)
add(np.quantile, V, 0.4, method="lower")
for axis in (None, 0, -1):
    each(np, "cumsum cumprod nancumsum nancumprod", M, axis)
each(np, "cumulative_sum cumulative_prod", M, axis=1, include_initial=True)
each(np, "cumulative_sum cumulative_prod", V)
for ufunc, kwargs in ((np.add, {}), (np.multiply, {}), (np.maximum, {}), (np.minimum, {})):
    add(ufunc.reduce, M)
    add(ufunc.reduce, M, axis=1, keepdims=True)
add(np.add.accumulate, M, axis=1)
add(np.diff, M)
add(np.diff, V, 2, prepend=0.5, append=V[:2])
add(np.ediff1d, V, W[:2], 0.3)
composed(np.gradient, V)
composed(np.gradient, M, 0.5, axis=1, edge_order=2)
composed(np.gradient, V, np.array([0.1, 0.4, 1.3, 1.5, 2.2]), edge_order=2)
add(np.trapezoid, M, np.array([0.1, 0.4, 1.3, 1.5]))
add(np.trapezoid, M, dx=0.3, axis=0)
add(np.interp, np.array([0.2, 0.75, 1.4, -0.5]), np.array([0.1, 0.6, 1.0]), V[:3])
add(np.interp, np.array([0.2, 1.4, -0.5]), np.array([0.1, 0.6, 1.0]), V[:3], 0.4, 0.2)
add(np.interp, np.array([0.2, 1.44, -0.5]), np.array([0.1, 0.6, 1.0]), V[:3], period=1.7)
for mode in ("full", "same", "valid"):
    each(np, "convolve correlate", V, W[:3], mode)

# ---------------------------------------------------------------- shape

add(np.reshape, M, (2, 6))
add(np.reshape, M, (4, -1), "F")
add(np.ravel, M)
add(np.ravel, M, "F")
add(np.squeeze, M[None, :, None])
add(np.squeeze, M[None], 0)
add(np.expand_dims, M, (0, 2))
add(np.transpose, CUBE, (1, 2, 0))
add(np.transpose, M)
each(np, "matrix_transpose fliplr flipud", M)
add(np.swapaxes, CUBE, 0, 2)
add(np.moveaxis, CUBE, 0, -1)
add(np.rollaxis, CUBE, 2)
add(np.roll, M, 2)
add(np.roll, M, (1, -1), (0, 1))
add(np.rot90, M, 3)
add(np.flip, M)
add(np.flip, CUBE, (0, 2))
add(np.broadcast_to, V, (3, 5))
written("np.astype({0}, np.float32)", np.astype, M)
add(np.repeat, M, 2)
add(np.repeat, M, np.array([1, 0, 2]), 0)
add(np.tile, M, (2, 1, 2))
add(np.resize, V, (2, 4))
each(np, "tril triu", M)
each(np, "tril triu", M, 1)
each(np, "diag diagflat", V)
add(np.diag, M, -1)
for mode in "constant edge reflect symmetric wrap linear_ramp mean maximum".split():
    add(np.pad, M, ((1, 2), (0, 1)), mode)
add(np.split, V, 5)
add(np.array_split, V, 2)
add(np.split, M, [1], 1)
add(np.hsplit, M, 2)
add(np.vsplit, M, [1, 2])
add(np.dsplit, CUBE, 2)
add(np.unstack, M, axis=1)
each(np, "atleast_1d atleast_2d atleast_3d", V, 0.4)
add(np.broadcast_arrays, M, V[:4])
add(np.meshgrid, V[:2], W[:3])
add(np.meshgrid, V[:2], W[:3], indexing="ij", sparse=True)

# ---------------------------------------------------------------- joining and making

for name in "concatenate stack vstack hstack dstack column_stack".split():
    add(getattr(np, name), [M, 2 * M])
BRACKETS = type(np.r_).__getitem__
written("np.r_[{0}, 0.5, {1}]", BRACKETS, V, W[0])
written("np.r_[{0}]", BRACKETS, V)
written("np.r_['1', {0}, {1}]", BRACKETS, M, 2 * M)
written("np.c_[{0}, {1}, np.ones(5), {2}]", BRACKETS, V, W, random(5, 2))
add(np.concatenate, (M, M[:1]), 0)
add(np.concatenate, [M, V], None)
add(np.stack, [V, W], 1)
add(np.hstack, [V, W])
add(np.block, [[M, M], [M[:1], M[:1]]])
add(np.append, M, M[:1], 0)
add(np.append, V, 0.5)
add(np.insert, V, 2, 0.5)
add(np.insert, M, [0, 2], V[:4], 0)
add(np.delete, V, [0, 3])
add(np.delete, M, 1, 1)
each(np, "array asarray asanyarray", [1.5, 2.5])
each(np, "array asarray asanyarray ascontiguousarray asfortranarray asarray_chkfinite require copy", M)
add(np.array, [[0.5, 1.5], V[:2]], ndmin=3)
written("np.float64(np.float16({0})) * 0.0 + np.float64({0})", np.float16, 0.75)
each(np, "float64 longdouble", 0.75)
each(np, "complex128 clongdouble", 0.5 + 0.25j)
for name in ("float32", "complex64"):
    written(f"np.{name}({{0}})", getattr(np, name), 0.75)
add(np.float64, M)
add(np.full, (2, 3), 0.7)
add(np.full, (2, 3), V[:3])
add(np.full_like, M, 0.7)
add(np.linspace, 0.2, 1.7, 4)
add(np.linspace, V[:2], 3.0, 3, endpoint=False, axis=1)
add(np.logspace, 0.2, 1.1, 3)
add(np.geomspace, 0.5, 4.0, 4)
add(np.arange, 0.1, 2.0, 0.45)
add(np.vander, V)
add(np.vander, V[:3], 4, increasing=True)

# ---------------------------------------------------------------- indexing and order

for index in (1, slice(1, None), (slice(None), -1), (Ellipsis, None), np.array([0, 2, 2]), M > 0, ([0, 1], [1, 1])):
    SAMPLES.append(Sample(operator.getitem, (M, index), {}, method="{0}[{rest}]"))
add(np.take, V, np.array([0, 4, 4]))
add(np.take, M, [1, 0], 1)
add(np.take_along_axis, M, np.argsort(M, axis=1), 1)
add(np.compress, [True, False, True], M, 0)
add(np.extract, M > 0, M)
add(np.diagonal, M, 1)
add(np.diagonal, CUBE, 0, 1, 2)
add(np.bincount, np.array([0, 2, 2, 1, 0]), V)
add(np.lib.stride_tricks.sliding_window_view, V, 3)
each(np, "sort", M)
add(np.sort, M, None)
add(np.sort, M, 0)
add(np.partition, V, 2)
add(np.unique, np.array([0.5, 1.5, 0.25]))
add(np.unique, M, axis=0)
add(np.unique, V, return_index=True)

# ---------------------------------------------------------------- products and linear algebra

each(np, "matmul dot", M, random(4, 2))
each(np, "matmul dot inner vdot", V, W)
each(np, "matmul dot", M, V[:4])
add(np.matmul, CUBE, random(4, 2))
add(np.matmul, Z, random(4, 2))
each(np, "inner", M, random(2, 4))
each(np, "outer kron", V, W[:3])
add(np.outer, M, V)
add(np.kron, M, random(2, 2))
add(np.tensordot, CUBE, random(4, 3, 2), ([2, 1], [0, 1]))
add(np.tensordot, M, random(4, 2), 1)
add(np.cross, random(2, 3), random(2, 3))
add(np.cross, V[:3], random(2, 3))
add(np.einsum, "ij,jk->ik", M, random(4, 2))
add(np.einsum, "ii->i", SQUARE)
add(np.einsum, "...i,i", CUBE, V[:4])
add(np.einsum, M, [0, 1], V[:4], [1], [0])
add(np.trace, M, 1)
add(np.vecdot, M, V[:4])
add(np.matvec, M, V[:4])
add(np.vecmat, V[:3], M)
LA = np.linalg
each(LA, "inv det slogdet pinv svdvals", SQUARE)
each(LA, "inv det slogdet", SQUARES)
each(LA, "inv det slogdet", Z_SQUARE)
add(LA.pinv, M)
add(LA.solve, SQUARE, V[:3])
add(LA.solve, SQUARES, random(3, 2))
add(LA.lstsq, random(4, 2), V[:4])
add(LA.tensorinv, random(4, 2, 2) + np.eye(4).reshape(4, 2, 2) * 3, 1)
add(LA.tensorsolve, random(4, 2, 2) + np.eye(4).reshape(4, 2, 2) * 3, V[:4])
for order in (None, 1, 3):
    add(LA.norm, V, order)
for order in (None, "nuc", 1, 2):
    add(LA.norm, M, order)
for order in ("np.inf", "-np.inf"):
    written(f"np.linalg.norm({{0}}, {order})", LA.norm, V)
    written(f"np.linalg.norm({{0}}, {order})", LA.norm, M)
add(LA.norm, M, 2, 1, keepdims=True)
add(LA.vector_norm, M, axis=0, ord=3)
add(LA.matrix_norm, M)
add(LA.cond, SQUARE)
add(LA.cond, SQUARE, 1)
add(LA.qr, random(4, 3))
add(LA.qr, SQUARE, "r")
add(LA.eigvals, np.array([[1.0, 2.0], [0.5, 3.0]]))
add(LA.matmul, M, random(4, 2))
add(LA.outer, V, W[:3])
add(LA.tensordot, CUBE, random(3, 4, 2))
add(LA.vecdot, M, V[:4])
add(LA.cross, random(2, 3), V[:3])
each(LA, "trace diagonal", M, offset=1)
add(LA.matrix_transpose, M)
add(LA.multi_dot, [M, random(4, 2), random(2, 3)])
for power in (3, -2, 0):
    add(LA.matrix_power, SQUARE, power)
# What reads one triangle, or leaves signs and phases open, in a form that moves smoothly.
SYMMETRIC = "({0} + {0}.T) / 2"
written(f"np.linalg.cholesky({SYMMETRIC})", LA.cholesky, SPD)
written(f"np.linalg.cholesky({SYMMETRIC}, upper=True)", LA.cholesky, SPD)
written(f"np.linalg.eigh({SYMMETRIC})[0]", LA.eigh, SPD)
written(f"np.abs(np.linalg.eigh({SYMMETRIC})[1])", LA.eigh, SPD)
written(f"np.linalg.eigvalsh({SYMMETRIC})", LA.eigvalsh, SPD)
written("np.linalg.eig({0})[0]", LA.eig, np.array([[1.0, 2.0], [0.5, 3.0]]))
written("np.abs(np.linalg.eig({0})[1])", LA.eig, np.array([[1.0, 2.0], [0.5, 3.0]]))
written("np.linalg.svd({0})[1]", LA.svd, M)
written("np.linalg.svd({0}, False)[0] @ np.linalg.svd({0}, False)[2]", LA.svd, M)
written(f"scipy.linalg.cholesky({SYMMETRIC})", scipy.linalg.cholesky, SPD)
written(f"scipy.linalg.cholesky({SYMMETRIC}, lower=True)", scipy.linalg.cholesky, SPD)
written(f"np.tril(scipy.linalg.cho_factor({SYMMETRIC}, lower=True)[0])", scipy.linalg.cho_factor, SPD)


# ---------------------------------------------------------------- transforms

for name in "fft ifft rfft ihfft".split():
    add(getattr(np.fft, name), V)
    add(getattr(np.fft, name), M, 3, 0, "ortho")
for name in "fft ifft irfft hfft".split():
    add(getattr(np.fft, name), Z)
    add(getattr(np.fft, name), Z, 5, norm="forward")
each(np.fft, "fft2 ifft2 fftn ifftn irfft2 irfftn", Z)
each(np.fft, "rfft2 rfftn", M)
each(np.fft, "fftshift ifftshift", M)
each(np.fft, "fftfreq rfftfreq", 5, 0.3)

# ---------------------------------------------------------------- polynomials

C, D, X = np.array([1.0, 2.0, -3.0, 0.5]), np.array([2.0, 0.7, 1.5]), np.array([0.3, -0.5, 0.7, 0.1, 0.9])
Y = np.array([1.0, 2.0, 0.0, -1.0, 0.5])
add(np.polyval, C, X)
add(np.polyval, C, 0.3)
add(np.roots, C)
for name in "polyadd polysub polymul polydiv".split():
    composed(getattr(np, name), C, D)
composed(np.polyder, C, 2)
composed(np.polyint, C, 2, D[:2])
composed(np.poly, C)
composed(np.poly, SQUARE)
composed(np.polyfit, X, Y, 2)
composed(np.polyfit, X, Y, 2, w=1 + X * X)
FAMILIES = {
    "poly": "polynomial",
    "cheb": "chebyshev",
    "leg": "legendre",
    "herm": "hermite",
    "herme": "hermite_e",
    "lag": "laguerre",
}
for prefix, module_name in FAMILIES.items():
    module = getattr(np.polynomial, module_name)
    named = functools.partial(lambda module, prefix, name: getattr(module, prefix + name), module, prefix)
    add(named("der"), C)
    add(named("der"), np.outer(D, C), 2, axis=1)
    add(named("int"), C, 2, [0.3, 0.7])
    add(named("mul"), C, D)
    add(named("mulx"), C)
    add(named("vander"), X, 3)
    add(named("roots"), C)
    add(named("fromroots"), C)
    for name in ("add", "sub", "div"):
        composed(named(name), C, D)
    composed(named("pow"), D, 3)
    composed(named("val"), X, C)
    composed(named("vander2d"), X, Y, [2, 3])
    composed(named("vander3d"), X, Y, X, [2, 1, 1])
    composed(named("val2d"), X, Y, np.outer(C, D))
    composed(named("grid2d"), X, Y, np.outer(C, D))
    composed(named("val3d"), X, Y, X, np.multiply.outer(D, np.outer(C, D)))
    composed(named("grid3d"), X[:2], Y, X, np.multiply.outer(D, np.outer(C, D)))
    composed(named("fit"), X, Y, 2)
    composed(named("fit"), X, Y, [0, 2], w=1 + X * X)
    if prefix != "poly":
        add(getattr(module, f"{prefix}2poly"), C)
        add(getattr(module, f"poly2{prefix}"), C)
        composed(named("weight"), np.abs(X) / 2)


written(
    "np.polynomial.chebyshev.chebinterpolate(lambda u: np.sin(u * {0}), 4)",
    np.polynomial.chebyshev.chebinterpolate,
    0.7,
)


# ---------------------------------------------------------------- methods of arrays and ufuncs

method("reshape", M, 2, 6)
method("reshape", M, (2, 6), order="F")
method("transpose", CUBE, 2, 0, 1)
method("flatten", M, "F")
method("copy", M)
written("{0}.astype(np.float32)", np.ndarray.astype, M)
method("clip", M, -0.3, 0.9)
method("compress", M, [True, False, True], 0)
method("item", M, 1, 2)
method("tolist", M)
method("view", M)
method("view", M, complex)
for name in "__radd__ __rsub__ __rmul__ __rtruediv__ __rmod__ __rdivmod__".split():
    composed_method(name, POSITIVE, 1.7)
composed_method("__rpow__", POSITIVE, 1.7)
composed_method("__rmatmul__", M, random(2, 3))
composed_method("__getitem__", M, 1)
composed_method("__copy__", M)
composed_method("__deepcopy__", M, {})
composed_method("__array__", M)
written("list({0}.__iter__())", np.ndarray.__iter__, M)
composed_method("to_device", M, "cpu")
OF_NUMBERS = """add subtract multiply divide arctan2 copysign float_power fmax fmin fmod hypot logaddexp logaddexp2 maximum minimum
nextafter power remainder heaviside"""
for ufunc in (getattr(np, name) for name in OF_NUMBERS.split()):
    left, right = (POSITIVE[:2], POSITIVE[0] + 0.21)
    composed(ufunc.outer, left, right)
    composed(ufunc.accumulate, POSITIVE, axis=1)
    if ufunc not in (np.power, np.arctan2):
        composed(ufunc.reduce, POSITIVE, axis=1)
        composed(ufunc.reduce, POSITIVE, axis=1, where=POSITIVE > np.median(POSITIVE), initial=1.5)
        composed(ufunc.reduceat, POSITIVE, [0, 2, 1], axis=1)
composed(np.ldexp.outer, V, np.array([1, 2]))

# ---------------------------------------------------------------- functions of functions, and composed ones


def on_points(u):
    return u * u * 0.5


def on_row(row):
    return row[:2] * row[1]


def on_numbers(a, b):
    return a * b if a > 0 else a


composed(np.apply_along_axis, on_row, 1, M)
composed(np.apply_over_axes, np.sum, CUBE, [0, 2])
composed(np.piecewise, M, [M < 0, M > 1], [np.square, np.sin, 0.5])
written("np.vectorize(on_numbers)({0}, {1})", np.vectorize.__call__, V, 2.0)
written("np.fromfunction(lambda i, j: {0} * i + j * {1}, (3, 2))", np.fromfunction, 0.4, 1.5)
written("sum([v * i[0] for i, v in list(np.ndenumerate({0}))])", np.ndenumerate, M)
composed(np.amax, M, 1)
composed(np.amin, M, 1)
composed(np.sort_complex, V)
written("np.trim_zeros(np.concatenate([np.zeros(1), {0}, np.zeros(2)]))", np.trim_zeros, V)
written("np.union1d({0}, {1} + 7.0)", np.union1d, V, W[:2])
written("np.intersect1d({0}, np.concatenate([{0}[:2], [17.0]]))", np.intersect1d, V)
written("np.setdiff1d({0}, np.concatenate([{0}[:2], [17.0]]))", np.setdiff1d, V)
written("np.setxor1d({0}, np.concatenate([{0}[:2], [17.0]]))", np.setxor1d, V)
for name in "unique_values unique_counts unique_inverse unique_all".split():
    composed(getattr(np, name), V)
composed(np.fromiter, [0.5, 1.5, 2.5], float)
composed(np.kaiser, 5, 3.0)
for name in "sqrt log log10 log2".split():
    composed(getattr(np.emath, name), V)
    composed(getattr(np.emath, name), np.abs(V))
for name in "arccos arcsin arctanh".split():
    composed(getattr(np.emath, name), V)
    composed(getattr(np.emath, name), V / 3)
composed(np.emath.logn, 2.0, V)
composed(np.emath.power, V, 1.5)
composed(np.histogram, np.array([0.1, 0.2, 0.7, 0.9, 0.4]), 3, weights=V)
OFF_EDGES = np.array([1.1, 2.0, 0.3, -1.0, 0.6])
composed(np.histogram_bin_edges, OFF_EDGES, 3)
composed(np.histogram2d, X, OFF_EDGES, 3, weights=np.abs(V), density=True)
composed(np.histogramdd, np.stack([X, OFF_EDGES], 1), (2, 3), weights=V)

# ---------------------------------------------------------------- random draws, with the state that is put back

for make, cls in (("default_rng", np.random.Generator), ("RandomState", np.random.RandomState)):
    draw = f"np.random.{make}(3)."
    for name in "normal laplace logistic gumbel lognormal uniform".split():
        written(draw + name + "({0}, {1})", getattr(cls, name), V - 3.0, 1.5)
        written(draw + name + "({0}, {1}, size=(2, 5))", getattr(cls, name), V - 3.0, 1.5)
    for name in "exponential rayleigh weibull power pareto".split():
        written(draw + name + "({0})", getattr(cls, name), np.abs(V) + 0.5)
    written(draw + "triangular({0}, {1}, {2}, 6)", cls.triangular, 0.2, 0.7, 1.9)
    written(draw + "gamma(2.0, {0}, 4)", cls.gamma, 1.5)
    written(draw + "vonmises({0}, 3.0, 4)", cls.vonmises, 0.2)
    written(draw + "multivariate_normal({0}, np.eye(3), 2)", cls.multivariate_normal, V[:3])
    written(draw + "permutation({0})", cls.permutation, M)
    written(draw + "choice({0}, 7)", cls.choice, V)

# ---------------------------------------------------------------- Python

each(
    math,
    "sqrt exp expm1 log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh atanh degrees radians erf erfc",
    0.4,
)
each(math, "gamma lgamma fabs log modf frexp", 1.4)
each(math, "acosh", 1.4)
each(math, " ".join(name for name in ("exp2", "cbrt") if hasattr(math, name)), 1.4)
each(math, "pow atan2 copysign fmod remainder nextafter hypot log", 1.4, 0.6)
add(math.dist, [1.5, 0.5], [0.3, 2.5])
add(math.fsum, [0.5, 1.5, 2.5])
add(math.prod, [0.5, 1.5, 2.5])
add(math.ldexp, 0.7, 3)
each(cmath, "sqrt exp log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh log phase polar", 0.4 + 0.3j)
add(cmath.rect, 1.3, 0.4)
add(float, 0.7)
add(float, np.array(0.7))
add(complex, 0.7, 0.2)
add(sum, [0.5, 1.5, V[0]])
add(sum, [0.5, 1.5], 2.5)
each(builtins, "max min list tuple sorted", [0.5, 1.5, 0.25])
each(builtins, "max min", 0.5, 1.5)
for name in ("reversed", "enumerate"):
    written(f"list({name}({{0}}))", getattr(builtins, name), [0.5, 1.5])
written("list(zip({0}, {1}))", zip, [0.5, 1.5], [2.5, 3.5])
written("list(map(on_points, {0}))", map, [0.5, 1.5])
written("list(filter(None, {0}))", filter, [0.5, 1.5])
written("functools.reduce(operator.mul, {0})", functools.reduce, [0.5, 1.5, 2.5])
written("functools.reduce(operator.mul, {0}, {1})", functools.reduce, [0.5, 1.5, 2.5], 0.7)
add(complex.conjugate, 0.5 + 0.2j)
add(float.conjugate, 0.5)
written("dict({0})", dict, {"a": 0.5, "b": 1.5})
written("list({0}.values())", dict.values, {"a": 0.5, "b": 1.5})
written("[v * len(k) for k, v in {0}.items()]", dict.items, {"a": 0.5, "bb": 1.5})
written("{0}.get('a') + {0}.get('c', {1})", dict.get, {"a": 0.5, "b": 1.5}, 0.3)
written("{0}.copy()['a']", dict.copy, {"a": 0.5, "b": 1.5})
written("{0}.copy()", list.copy, [0.5, 1.5])
written("operator.concat({0}, {1})", operator.concat, [0.5, 1.5], [2.5])
written("operator.add({0}, {1})", operator.add, [0.5, 1.5], [2.5])
written("operator.mul({0}, 2)", operator.mul, [0.5, 1.5])
for name in "iadd isub imul itruediv ipow imatmul".split():
    written(
        f"operator.{name}({{0}} * 1.0, {{1}})",
        getattr(operator, name),
        np.abs(SPD),
        SQUARE if name == "imatmul" else 1.5,
    )
composed(pow, 1.5, 2.5)
composed(divmod, 3.7, 1.5)

# ---------------------------------------------------------------- SciPy

SP, SL = scipy.special, scipy.linalg
U, R = np.array([0.2, 0.5, 0.8]), np.array([0.3, -0.7, 1.2])
P3, B2 = np.array([0.3, 0.7, 1.9]), np.array([[1.2], [2.5]])
each(
    SP,
    "expit log_expit erf erfc erfcx erfi dawsn ndtr log_ndtr log1p expm1 exp2 exp10 cosm1 cbrt sindg cosdg tandg exprel",
    P3,
)
each(SP, "gamma gammaln loggamma rgamma psi j0 j1 y0 y1 i0 i1 i0e i1e k0 k1 k0e k1e expi exp1", P3)
each(SP, "logit erfinv erfcinv ndtri entr ellipk ellipe spence", U)
each(SP, "wofz gamma loggamma erf", R + 0.4j)
each(SP, "beta betaln poch xlogy xlog1py rel_entr kl_div boxcox", P3, B2)
add(SP.ndtri_exp, -P3)
add(SP.binom, P3 + 3, B2)
add(SP.huber, B2 * 0.9, R)
add(SP.pseudo_huber, B2, R)
each(SP, "jv iv ive eval_chebyt eval_hermite", 2, R)
each(SP, "yn kn expn", 2, P3)
each(SP, "yv kv kve hyp0f1", 1.5, P3)
each(SP, "hankel1 hankel2", 1, P3 + 1j)
each(SP, "polygamma", 2, P3)
each(SP, "zeta", 2.0, P3 + 1)
each(SP, "gammainc gammaincc", 2.0, P3)
each(SP, "gammaincinv gammainccinv", 2.0, U)
each(SP, "betainc betaincc betaincinv", 2.0, 3.0, U)
each(SP, "pdtr", 2, P3)
each(SP, "chdtr stdtr", 3.0, P3)
add(SP.hyp1f1, 1.5, 2.5, R)
add(SP.hyp2f1, 1.5, 0.5, 2.5, U)
add(SP.multigammaln, 4.3, 2)
each(SP, "cotdg ellipkm1 wrightomega softplus lambertw", U)
each(SP, "fresnel sici shichi airy", P3)
each(SP, "fresnel airy wrightomega", U + 0.3j)
add(SP.lambertw, U + 0.3j, -1)
add(SP.radian, 3.0, 20.0, U)
each(SP, "powm1 boxcox1p inv_boxcox inv_boxcox1p", P3, B2 / 3)
each(SP, "ellipkinc ellipeinc", P3, np.array([[0.3], [0.7]]))
each(SP, "ellipkinc ellipeinc", P3, 0.0)
each(SP, "boxcox boxcox1p inv_boxcox inv_boxcox1p", P3, 0.0)
each(SP, "struve modstruve", 1.5, P3)
each(SP, "hankel1e hankel2e", 1, P3 + 1j)
for kind in "jn yn in kn".split():
    add(getattr(SP, f"spherical_{kind}"), 2, P3)
    add(getattr(SP, f"spherical_{kind}"), 1, P3, True)
each(SP, "eval_legendre eval_chebyu eval_hermitenorm eval_laguerre eval_hermite", 3, R)
each(SP, "eval_legendre eval_chebyu eval_hermitenorm eval_laguerre eval_hermite", 0, R)
each(SP, "eval_genlaguerre eval_gegenbauer", 3, 1.5, R)
add(SP.eval_jacobi, 3, 0.5, 1.5, R)
add(SP.hyperu, 1.5, 2.5, P3)
add(SP.pdtrc, 2, P3)
add(SP.chdtrc, 3.0, P3)
each(SP, "gdtr gdtrc", 1.3, 2.5, P3)
each(SP, "fdtr fdtrc", 3.0, 4.0, P3)
each(SP, "bdtr bdtrc nbdtr", 2, 5, U)
add(SP.owens_t, P3, R)
add(SP.voigt_profile, R, 0.8, P3)
composed(SP.comb, P3 + 3, 2)
composed(SP.perm, P3 + 3, 2)
composed(SP.factorial, P3)
add(SP.logsumexp, M, 1)
add(SP.logsumexp, M, b=POSITIVE, keepdims=True)
each(SP, "softmax log_softmax", M, 1)
each(SP, "softmax log_softmax logsumexp", Z, 0)
add(SL.solve, SQUARE, random(3, 2))
add(SL.solve, SQUARE, V[:3], transposed=True)
for trans in (0, 1):
    for lower in (False, True):
        add(SL.solve_triangular, SQUARE, V[:3], trans, lower)
add(SL.solve_banded, (1, 1), random(3, 5) + np.array([[0.0], [6.0], [0.0]]), V)
each(SL, "inv det", SQUARE)
add(SL.expm, SQUARE / 4)
each(SL, "logm sqrtm", SPD)
add(SL.lu_factor, SQUARE)
for trans in (0, 1):
    add(SL.lu_solve, SL.lu_factor(SQUARE), random(3, 2), trans)
add(SL.cho_solve, (SL.cholesky(SPD, lower=True), True), V[:3])
add(SL.cho_solve, (SL.cholesky(SPD), False), random(3, 2))
add(SL.solve_sylvester, SQUARE, SPD, random(3, 3))
add(SL.solve_continuous_lyapunov, SQUARE, random(3, 3))
add(SL.solve_discrete_lyapunov, SQUARE / 9, random(3, 3))
add(SL.block_diag, M, V, SQUARE)
composed(SL.norm, M)
each(SL, "eigvals pinv", SQUARE)
add(SL.pinv, random(2, 4, 3), return_rank=True)
add(SL.svdvals, M)
add(SL.eigvals, np.array([[1.0, 2.0], [0.5, 3.0]]))
add(SL.lstsq, random(5, 2), V)
add(SL.lstsq, random(5, 2), random(5, 3), lapack_driver="gelsy")
for mode in ("full", "economic", "r"):
    add(SL.qr, SQUARE, mode=mode)
add(SL.qr, random(4, 3), mode="economic")
add(SL.qr, random(4, 3), mode="r")
add(SL.qr, SQUARE, mode="full", pivoting=True)
written("scipy.linalg.qr({0}, mode='economic', pivoting=True)[1]", SL.qr, random(4, 3))
for matrix in (SQUARE, random(4, 3), random(3, 4), SQUARES, Z_SQUARE):
    add(SL.lu, matrix)
    add(SL.lu, matrix, permute_l=True)
add(SL.lu, SQUARE, p_indices=True)
written("scipy.linalg.svd({0})[1]", SL.svd, M)
written("scipy.linalg.svd({0}, False)[0] @ scipy.linalg.svd({0}, False)[2]", SL.svd, M)
written("scipy.linalg.svd({0}, compute_uv=False)", SL.svd, M)
written("scipy.linalg.eig({0})[0]", SL.eig, np.array([[1.0, 2.0], [0.5, 3.0]]))
written("np.abs(scipy.linalg.eig({0})[1])", SL.eig, np.array([[1.0, 2.0], [0.5, 3.0]]))
PAIR = "({0} + {0}.T) / 2, ({1} + {1}.T) / 2"
OTHER = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.1]])
written(f"scipy.linalg.eigh({SYMMETRIC})[0]", SL.eigh, SPD)
written(f"np.abs(scipy.linalg.eigh({SYMMETRIC}, lower=False)[1])", SL.eigh, SPD)
written(f"scipy.linalg.eigh({SYMMETRIC}, eigvals_only=True, subset_by_index=[0, 1])", SL.eigh, SPD)
written(f"scipy.linalg.eigh({PAIR})[0]", SL.eigh, SPD, OTHER)
written(f"np.abs(scipy.linalg.eigh({PAIR})[1])", SL.eigh, SPD, OTHER)
written(f"scipy.linalg.eigvalsh({SYMMETRIC})", SL.eigvalsh, SPD)
written(f"scipy.linalg.eigvalsh({PAIR})", SL.eigvalsh, SPD, OTHER)
written(f"scipy.linalg.pinvh({SYMMETRIC})", SL.pinvh, SPD)
BANDS = np.array([[0.0, 0.3, -0.2, 0.5, 0.1], [3.0, 4.0, 5.0, 3.5, 2.5]])
add(SL.solveh_banded, BANDS, V)
add(SL.solveh_banded, BANDS[::-1, [1, 2, 3, 4, 0]] + 0.0, random(5, 2), lower=True)
composed(SL.toeplitz, V)
composed(SL.toeplitz, V[:3], W)
composed(SL.hankel, V[:3], W)
composed(SL.circulant, V)
composed(SL.solve_toeplitz, (V + 4 * (np.arange(5) == 0), W), random(5, 2))
composed(SL.matmul_toeplitz, (V, W), random(5))
composed(SL.khatri_rao, random(2, 3), random(4, 3))
each(SL, "fractional_matrix_power", SPD, 0.4)
for name in "cosm sinm tanm coshm sinhm tanhm".split():
    composed(getattr(SL, name), SQUARE / 4)
NORM = scipy.stats.rv_continuous
for name in "pdf logpdf cdf logcdf sf logsf".split():
    written(f"scipy.stats.norm.{name}({{0}}, {{1}}, {{2}})", getattr(NORM, name), R, 0.3, 1.4)
for name in "ppf isf".split():
    written(f"scipy.stats.norm.{name}({{0}}, {{1}}, {{2}})", getattr(NORM, name), U, 0.3, 1.4)
for name in "entropy mean median std var".split():
    written(f"scipy.stats.norm.{name}({{0}}, {{1}})", getattr(NORM, name), 0.3, 1.4)
written("scipy.stats.norm.rvs({0}, {1}, size=3, random_state=5)", NORM.rvs, 0.3, 1.4)

# What may be overwritten

composed(SL.solve, SPD, R, overwrite_a=True, overwrite_b=True)
composed(SL.solve_triangular, SPD, R, lower=True, overwrite_b=True)
composed(SL.solve_banded, (1, 1), np.array([[0.0, 0.5, 0.4], [3.0, 4.0, 5.0], [0.3, 0.2, 0.0]]), R, overwrite_ab=True)
written(f"scipy.linalg.cholesky({SYMMETRIC}, overwrite_a=True)", SL.cholesky, SPD)
written(f"np.tril(scipy.linalg.cho_factor({SYMMETRIC}, True, True)[0])", SL.cho_factor, SPD)
written(f"scipy.linalg.cho_solve(scipy.linalg.cho_factor({SYMMETRIC}), {{1}}, overwrite_b=True)", SL.cho_solve, SPD, R)
written("scipy.linalg.lu_solve(scipy.linalg.lu_factor({0}, overwrite_a=True), {1}, 0, True)", SL.lu_solve, SPD, R)
composed(SL.det, SPD, overwrite_a=True)
composed(SL.inv, SPD, True)

# scipy.fft

SF = scipy.fft
for name in "fft ifft rfft ihfft".split():
    add(getattr(SF, name), V)
    add(getattr(SF, name), M, 3, 0, "ortho", workers=1)
for name in "fft ifft irfft hfft".split():
    add(getattr(SF, name), Z, 5, norm="forward")
    composed(getattr(SF, name), Z, overwrite_x=True)
each(SF, "fftn ifftn irfftn", Z)
add(SF.rfftn, M)
for name in "fft2 ifft2 irfft2".split():
    composed(getattr(SF, name), Z)
composed(SF.rfft2, M)
composed(SF.fftshift, M)
composed(SF.ifftshift, M, 0)
for name in "dct idct dst idst".split():
    for kind in (1, 2, 3, 4):
        add(getattr(SF, name), M, kind)
        add(getattr(SF, name), M, kind, 5, 0, "forward", orthogonalize=True)
    add(getattr(SF, name), M, 2, 2, norm="ortho")
    add(getattr(SF, name), M, 1, norm="ortho", orthogonalize=False)
    composed(getattr(SF, name + "n"), M, norm="ortho")
    composed(getattr(SF, name + "n"), M, 3, (3,), (1,))

import samples_scipy  # noqa: E402, F401 - more of them
