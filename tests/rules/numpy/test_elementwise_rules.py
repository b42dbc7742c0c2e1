"""Elementwise rules against differences, and the values decided at points without a derivative."""

import numpy as np
import pytest

import thunkad.rules.numpy.complex
import thunkad.rules.numpy.elementwise
import thunkad.rules.numpy.piecewise  # noqa: F401
from thunkad.rules.entry import NON_DIFFERENTIABLE, RRULE
from thunkad.rules.table import TABLE
from thunkad.rules.template import template_of
from thunkad.tangents import AbstractZero, unthunk
from thunkad.testing import check_frule, check_rrule

R = np.array([[0.31, -0.72, 0.55], [0.13, 0.81, -0.27]])  # inside (-1, 1), nothing zero
P = np.abs(R)
Z = R + 1j * np.array([[0.4, 0.3, -0.6], [-0.2, 0.7, 0.5]])

UNARY = {
    "all": [
        (R, "negative positive square exp exp2 expm1 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh"),
        (P, "reciprocal sqrt log log2 log10 log1p"),
        (P + 1, "arccosh"),
    ],
    "real": [(R, "cbrt fabs deg2rad radians rad2deg degrees i0"), (R, "absolute sign conjugate sinc real imag")],
}
LINEAR_ALGEBRA = {"matmul", "matvec", "vecmat", "vecdot"}

UNARY_REAL = [(name, x) for rows in UNARY.values() for x, names in rows for name in names.split()]
UNARY_COMPLEX = [(name, Z) for _, names in UNARY["all"] for name in names.split()]
UNARY_COMPLEX += [(name, Z) for name in "arccosh absolute sign conjugate sinc real imag angle".split()]
UNARY_COMPLEX = [(name, z) for name, z in UNARY_COMPLEX if name != "cbrt"]

BINARY_REAL = (
    "add subtract multiply divide remainder fmod hypot copysign logaddexp logaddexp2 arctan2 maximum minimum fmax"
)
BINARY_REAL = [*BINARY_REAL.split(), "fmin", "power", "float_power"]
BINARY_COMPLEX = "add subtract multiply divide power maximum minimum".split()


def check_both(name, *args, **kwargs):
    function = getattr(np, name)
    check_rrule(function, *args, **kwargs)
    check_frule(function, *args, **kwargs)


def shapes_of(x):
    flat = x.ravel()
    return [x, flat[0], np.array(flat[1]), flat[:0], flat[::2], x.T]


@pytest.mark.parametrize("name, x", UNARY_REAL)
def test_unary_real(name, x):
    for shape in shapes_of(x):
        check_both(name, shape)
    check_both(name, float(x[0, 0]))
    if name != "i0":  # always in double precision
        check_rrule(getattr(np, name), x.astype("f4"))


@pytest.mark.parametrize("name, z", UNARY_COMPLEX)
def test_unary_complex(name, z):
    for shape in shapes_of(z):
        check_both(name, shape)
    check_rrule(getattr(np, name), z.astype(np.complex64))


OTHER = np.array([0.37, -1.3, 0.52])


@pytest.mark.parametrize("name", BINARY_REAL)
def test_binary_real(name):
    a, b = (P, abs(OTHER)) if "power" in name else (R, OTHER)
    for left, right in [
        (a, b),
        (b, a),
        (a, b[0]),
        (a[0, 0], b),
        (a[:, :1], b),
        (a[:0], b),
        (float(a[0, 0]), float(b[2])),
    ]:
        check_both(name, left, right)
    if name != "float_power":
        check_rrule(getattr(np, name), a.astype("f4"), b.astype("f4"))
        check_rrule(getattr(np, name), a.astype("f4"), 0.4)


@pytest.mark.parametrize("name", BINARY_COMPLEX)
def test_binary_complex(name):
    w = OTHER + 0.3j
    for left, right in [(Z, w), (Z[:, :1], w), (Z, OTHER), (P, w), (Z[0, 0], w), (Z, 0.4j)]:
        check_both(name, left, right)


@pytest.mark.parametrize("name", "add subtract multiply divide hypot maximum arctan2".split())
def test_integers_have_float_cotangents(name):
    check_rrule(getattr(np, name), np.array([1, 2, 3]), np.array([4.5, 2.5, -1.5]))


@pytest.mark.parametrize("p", [0, 1, 2, 3, -1, -2, 0.5, 2.0, -0.5, np.float64(3), np.array(2.0)])
def test_constant_exponents(p):
    check_rrule(np.power, P, p)
    check_rrule(np.power, float(P[0, 0]), p)
    check_rrule(np.power, Z, p)


def test_integer_base_and_exponent_arrays():
    bases = np.array([1, 2, 3])
    for p in (0, 1, 2, np.array([0, 1, 2])):
        got = pulled(np.power, bases, p)[0]
        np.testing.assert_allclose(got, p * bases.astype(float) ** (np.asarray(p) - 1.0))
        assert got.dtype == float


def pulled(function, *args, seed=1.0, **kwargs):
    """The cotangents of the rule, as plain values of the arguments' shapes."""
    (entry,) = [e for e in TABLE.snapshot.entries(function) if e.kind == RRULE]
    value, pullback = entry.function(*args, **kwargs)
    seed = np.broadcast_to(np.asarray(seed, dtype=float), np.shape(value))[()] if not isinstance(value, tuple) else seed
    bars = [unthunk(bar) for bar in pullback(seed)]
    return [0.0 if isinstance(bar, AbstractZero) else bar for bar in bars]


def flowed(function, *args, dots):
    (entry,) = [e for e in TABLE.snapshot.entries(function) if e.kind == "frule"]
    names = [name for name in entry.signature().parameters if name.endswith("_dot")]
    return entry.function(*args, **dict(zip(names, dots)))[1]


nan, inf = np.nan, np.inf

POWERS_OF_ZERO = [(2, 0, 0), (1, 1, 0), (0, 0, nan), (-1, -inf, nan), (0.5, inf, 0), (3.5, 0, 0)]


@pytest.mark.parametrize("p, base_bar, exponent_bar", POWERS_OF_ZERO)
@pytest.mark.parametrize("form", [float, np.float64, np.array, lambda v: np.array([v])])
def test_powers_of_zero(p, base_bar, exponent_bar, form):
    with np.errstate(all="ignore"):
        got = pulled(np.power, form(0.0), form(float(p)))
    np.testing.assert_array_equal(np.ravel(got[0]), base_bar)
    np.testing.assert_array_equal(np.ravel(got[1]), exponent_bar)


def test_negative_base():
    got = pulled(np.power, -2.0, 3.0)
    np.testing.assert_allclose(got, [12.0, -8 * np.log(2)])
    got = pulled(np.power, np.array([-2.0, 3.0]), np.array([2.0, 2.0]))
    np.testing.assert_allclose(got, [[-4.0, 6.0], [4 * np.log(2), 9 * np.log(3)]])


DECIDED = [
    (np.absolute, (0.0,), [0.0]),
    (np.absolute, (0j,), [0.0]),
    (np.fabs, (0.0,), [0.0]),
    (np.sign, (0j,), [0.0]),
    (np.angle, (0j,), [0.0, 0.0]),
    (np.hypot, (0.0, 0.0), [0.0, 0.0]),
    (np.arctan2, (0.0, 0.0), [0.0, 0.0]),
    (np.sinc, (0.0,), [0.0]),
    (np.i0, (0.0,), [0.0]),
    (np.maximum, (1.0, 1.0), [0.5, 0.5]),
    (np.minimum, (1.0, 1.0), [0.5, 0.5]),
    (np.fmax, (1.0, 1.0), [0.5, 0.5]),
    (np.maximum, (nan, 1.0), [1.0, 0.0]),
    (np.maximum, (1.0, nan), [0.0, 1.0]),
    (np.minimum, (1.0, nan), [0.0, 1.0]),
    (np.fmax, (nan, 1.0), [0.0, 1.0]),
    (np.fmin, (1.0, nan), [1.0, 0.0]),
    (np.copysign, (-2.0, 3.0), [-1.0, 0.0]),
    (np.copysign, (-2.0, -3.0), [1.0, 0.0]),
    (np.copysign, (2.0, -0.0), [-1.0, 0.0]),
    (np.remainder, (6.0, 3.0), [1.0, -2.0]),
    (np.fmod, (-7.0, 3.0), [1.0, 2.0]),
    (np.heaviside, (0.0, 0.5), [0.0, 1.0]),
    (np.heaviside, (2.0, 0.5), [0.0, 0.0]),
    (np.logaddexp, (-inf, 1.0), [0.0, 1.0]),
    (np.logaddexp, (-inf, -inf), [0.0, 0.0]),
    (np.clip, (1.0, 1.0, 2.0), [1.0, 0.0, 0.0]),
    (np.clip, (2.0, 1.0, 2.0), [1.0, 0.0, 0.0]),
    (np.clip, (1.0, 1.0, 1.0), [0.0, 0.0, 0.0]),
    (np.clip, (3.0, 1.0, 1.0), [0.0, 0.0, 1.0]),
    (np.clip, (0.0, 1.0, 1.0), [0.0, 0.5, 0.5]),
    (np.clip, (0.0, 2.0, 1.0), [0.0, 0.0, 1.0]),
    (np.clip, (nan, 1.0, 2.0), [1.0, 0.0, 0.0]),
]


@pytest.mark.parametrize("function, args, want", DECIDED)
def test_decided_values(function, args, want):
    with np.errstate(all="raise"):
        got = pulled(function, *args)
        inside_array = pulled(function, *(np.array([a]) for a in args))
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal([np.ravel(bar)[0] for bar in inside_array], want)


FORWARD_DECIDED = [row for row in DECIDED if row[0] not in (np.angle,)]


@pytest.mark.parametrize("function, args, want", FORWARD_DECIDED)
def test_forward_rules_decide_alike(function, args, want):
    dots = [np.array([k + 1.0]) for k in range(len(args))]
    got = flowed(function, *(np.array([a]) for a in args), dots=dots)
    got = 0.0 if isinstance(got, AbstractZero) else got
    np.testing.assert_array_equal(got, np.sum([w * d for w, d in zip(want, dots)], axis=0))


def test_infinite_slopes():
    with np.errstate(divide="ignore"):
        for function, x in [(np.sqrt, 0.0), (np.cbrt, 0.0), (np.arcsin, 1.0), (np.log, 0.0)]:
            assert pulled(function, np.array([x]))[0] == inf


def test_ties_in_part_of_an_array():
    got = pulled(np.maximum, np.array([1.0, 2.0, 3.0]), 2.0)
    np.testing.assert_array_equal(got[0], [0.0, 0.5, 1.0])
    assert got[1] == 1.5


def test_unselected_arm_gets_zero_from_an_infinite_cotangent():
    got = pulled(np.where, np.array([True, False]), np.ones(2), np.ones(2), seed=[inf, nan])
    np.testing.assert_array_equal(got[1], [inf, 0.0])
    np.testing.assert_array_equal(got[2], [0.0, nan])


def test_arctan2_far_from_one():
    got = pulled(np.arctan2, np.array(1e-200), np.array(1e-200))
    np.testing.assert_allclose(got, [5e199, -5e199])


def test_sinc_near_zero():
    for x in (1e-9, 1e-3, 0.0317, 0.0319):
        got = pulled(np.sinc, x)[0]
        u = np.pi * x
        np.testing.assert_allclose(got, np.pi * (-u / 3 + u**3 / 30 - u**5 / 840 + u**7 / 45360), rtol=1e-12)


def test_i0_against_scipy():
    special = pytest.importorskip("scipy.special")
    x = np.array([-40.0, -3.0, -1e-8, 0.5, 1.0, 8.0, 30.0, 600.0])
    np.testing.assert_allclose(pulled(np.i0, x)[0], special.i1(x), rtol=1e-11)


def test_results_of_two_parts():
    x = np.array([3.3, -5.1, 0.4])
    for function in (np.frexp, np.modf):
        check_both(function.__name__, x)
        check_both(function.__name__, 3.3)
    check_both("divmod", x, np.array([1.3, 2.0, -0.3]))
    check_both("divmod", x, 1.3)
    check_both("ldexp", x, np.array([1, -2, 3]))
    check_both("ldexp", 1.5, 3)
    check_rrule(np.ldexp, x.astype("f4"), np.array([[1], [2]]))


def test_unwrap():
    p = np.array([[0.1, 3.0, -3.0, 1.0], [0.3, 7.0, 1.0, -4.0]])
    check_both("unwrap", p)
    check_both("unwrap", p, axis=0, period=4.0)


@pytest.mark.parametrize("low, high", [(-0.3, 0.4), (None, 0.4), (-0.3, None), (np.array([-0.3, -0.9, 0.1]), 0.4)])
def test_clip(low, high):
    check_both("clip", R, low, high)
    check_both("clip", 0.7, -0.3, 0.4)
    check_rrule(np.clip, R.astype("f4"), -0.3, 0.4)


def test_clip_with_crossed_bounds():
    check_both("clip", R, np.array([0.5, 0.5, -0.5]), np.array([0.1, 0.1, 0.9]))


def test_where():
    condition = np.array([True, False, True])
    for x, y in [(R, R * 2), (R, 0.5), (0.5, R[:1]), (0.5, 0.25), (Z, R), (R.astype("f4"), R.astype("f4"))]:
        check_both("where", condition, x, y)
    check_both("where", True, 0.5, 0.25)


def test_select_and_choose():
    conditions = [R[0] > 0.4, R[0] > 0]
    check_both("select", conditions, [R[0], R[1]], 0.5)
    check_both("select", conditions, [R[0], R], default=OTHER)
    check_rrule(np.select, conditions, [R[0], 0.3])
    index = np.array([0, 1, 1])
    check_both("choose", index, [R[0], R[1]])
    check_both("choose", index, (R[0], R))
    check_both("choose", index, R)


def test_nan_to_num():
    x = np.array([1.0, nan, inf, -inf])
    np.testing.assert_array_equal(pulled(np.nan_to_num, x)[0], [1, 0, 0, 0])
    check_both("nan_to_num", R, nan=3.0)
    check_both("nan_to_num", Z)


def test_angle_and_real_if_close():
    check_both("angle", Z)
    check_both("angle", Z, deg=True)
    check_both("angle", Z[0, 0], True)
    check_rrule(np.angle, R)
    check_rrule(np.real_if_close, Z)
    np.testing.assert_array_equal(pulled(np.real_if_close, R + 0j)[0], np.ones_like(R))


def test_complex_cotangents_of_real_results_are_made_real():
    """They come from complex operations on the result; their imaginary part must not leak into a complex operand."""
    for function in (np.absolute, np.real, np.imag, np.angle):
        (entry,) = [e for e in TABLE.snapshot.entries(function) if e.kind == RRULE]
        _, pullback = entry.function(0.3 + 0.4j)
        assert unthunk(pullback(1.5 + 7j)[0]) == unthunk(pullback(1.5)[0])


def test_every_ufunc_is_decided():
    ufuncs = {u for u in vars(np).values() if isinstance(u, np.ufunc) and u.__name__ not in LINEAR_ALGEBRA}
    assert len(ufuncs) > 80
    for ufunc in ufuncs:
        kinds = {e.kind for e in TABLE.snapshot.entries(ufunc) if not e.keywords}
        assert kinds in ({RRULE, "frule"}, {NON_DIFFERENTIABLE}), ufunc


OF_THESE_MODULES = [
    e
    for cell in TABLE.snapshot.cells.values()
    for e in cell
    if e.kind == RRULE
    and (e.partials or (e.function,))[0].__module__
    in ("thunkad.rules.numpy.elementwise", "thunkad.rules.numpy.complex", "thunkad.rules.numpy.piecewise")
]


@pytest.mark.parametrize("entry", OF_THESE_MODULES, ids=lambda e: e.target.__name__)
def test_rules_can_be_inlined(entry):
    template = template_of(entry)
    assert template is not None
    assert template.plain
