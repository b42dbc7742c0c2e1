import inspect

import numpy as np
import pytest

import thunkad.rules.numpy.complex
import thunkad.rules.numpy.construction
import thunkad.rules.numpy.elementwise
import thunkad.rules.numpy.indexing
import thunkad.rules.numpy.piecewise
import thunkad.rules.numpy.products
import thunkad.rules.numpy.reductions
import thunkad.rules.numpy.repeating
import thunkad.rules.numpy.scans
import thunkad.rules.numpy.shaping
import thunkad.rules.numpy.sorting  # noqa: F401
from thunkad.rules.numpy.methods import ATTRIBUTES, METHODS, NON_DIFFERENTIABLE_ATTRIBUTES
from thunkad.rules.table import TABLE
from thunkad.tangents import ZERO, unthunk
from thunkad.testing import check_rrule

RNG = np.random.default_rng(13)
VECTOR = RNG.normal(size=6)
MATRIX = RNG.normal(size=(3, 4))
CUBE = RNG.normal(size=(2, 3, 4))
COMPLEX = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))

CALLS = {
    "all": [(), (0,)],
    "any": [(), (0,)],
    "argmax": [(), (1,)],
    "argmin": [(), (1,)],
    "argpartition": [(1,), (1, 0)],
    "argsort": [(), (0,)],
    "choose": [([RNG.normal(size=4), 2.0],)],
    "conj": [()],
    "conjugate": [()],
    "cumprod": [(), (1,)],
    "cumsum": [(), (1,)],
    "diagonal": [(), (1,), (0, 1, 0)],
    "dot": [(VECTOR[:4],), (MATRIX.T,)],
    "max": [(), (1,)],
    "mean": [(), (1,), (1, np.float32)],
    "min": [(), (1,)],
    "nonzero": [()],
    "prod": [(), (1,)],
    "ravel": [(), ("F",)],
    "repeat": [(2,), (2, 1)],
    "round": [(), (1,)],
    "searchsorted": [(0.5,), (0.5, "right")],
    "squeeze": [()],
    "std": [(), (1,)],
    "sum": [(), (1,), (1, complex)],
    "swapaxes": [(0, 1)],
    "take": [([0, 5, 5],), ([0, 1], 1)],
    "trace": [(), (1,)],
    "var": [(), (1,)],
}


#: Without special methods, which are tested as operators; they join once their module is loaded.
NAMED = sorted(name for name in METHODS if not name.startswith("__"))


def rule(fn, kind):
    return next(e.function for e in TABLE.snapshot.entries(fn) if e.kind == kind)


@pytest.mark.parametrize("name", NAMED)
def test_the_function_means_what_the_method_means(name):
    x = np.array([[0, 1, 1, 0]]) if name == "choose" else np.sort(VECTOR) if name == "searchsorted" else MATRIX
    for arguments in CALLS[name]:
        np.testing.assert_array_equal(getattr(x, name)(*arguments), METHODS[name](x, *arguments))


@pytest.mark.parametrize("name", NAMED)
def test_the_function_is_known(name):
    assert TABLE.snapshot.entries(METHODS[name])


@pytest.mark.parametrize("name", NAMED)
def test_positions_agree(name):
    """Arguments given by position reach the parameter of that name, or are refused."""
    for entry in TABLE.snapshot.entries(METHODS[name]):
        if entry.kind != "rrule":
            continue
        method = [p.name for p in inspect.signature(getattr(np.ndarray, name)).parameters.values()][1:]
        rule_names = [p.name for p in entry.signature().parameters.values() if p.kind is not p.KEYWORD_ONLY][1:]
        for mine, its in zip(rule_names, method):
            assert mine == its or (name, mine, its) == ("dot", "b", "other")


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_attributes(name):
    for x in (MATRIX, COMPLEX):
        np.testing.assert_array_equal(getattr(x, name), ATTRIBUTES[name](x))
    assert TABLE.snapshot.entries(ATTRIBUTES[name])


def test_attributes_without_derivative_exist():
    for name in NON_DIFFERENTIABLE_ATTRIBUTES:
        assert hasattr(MATRIX, name)
    assert not NON_DIFFERENTIABLE_ATTRIBUTES & set(ATTRIBUTES)


@pytest.mark.parametrize(
    "name, x, arguments, keywords",
    [
        ("reshape", MATRIX, (2, 6), {}),
        ("reshape", MATRIX, ((2, -1),), {}),
        ("reshape", CUBE, (-1,), {"order": "F"}),
        ("transpose", CUBE, (), {}),
        ("transpose", CUBE, (None,), {}),
        ("transpose", CUBE, (1, 2, 0), {}),
        ("transpose", CUBE, ((-1, 0, 1),), {}),
        ("transpose", CUBE, ([2, 0, 1],), {}),
        ("flatten", MATRIX, (), {}),
        ("flatten", MATRIX, ("F",), {}),
        ("copy", np.asfortranarray(MATRIX), (), {}),
        ("astype", MATRIX, (complex,), {}),
        ("astype", COMPLEX, (), {"dtype": complex, "copy": False}),
        ("clip", MATRIX, (-0.5, 0.7), {}),
        ("clip", MATRIX, (), {"max": 0.3}),
        ("compress", MATRIX, ([True, False, True],), {"axis": 0}),
        ("compress", MATRIX, ([True, False, True],), {}),
        ("item", np.array([[1.5]]), (), {}),
        ("item", np.array(1.5), (), {}),
        ("item", MATRIX, (5,), {}),
        ("item", MATRIX, (1, 2), {}),
        ("item", COMPLEX, ((1, -1),), {}),
        ("tolist", VECTOR, (), {}),
        ("tolist", CUBE, (), {}),
        ("tolist", np.array(1.5), (), {}),
    ],
)
def test_methods_with_own_rules(name, x, arguments, keywords):
    method = getattr(np.ndarray, name)

    def reverse(x):
        y, pullback = rule(method, "rrule")(x, *arguments, **keywords)
        return y, lambda y_bar: pullback(y_bar)[:1]

    check_rrule(lambda x: method(x, *arguments, **keywords), x, rule=reverse)
    x_dot = RNG.normal(size=x.shape).astype(x.dtype)
    extra = {"min_dot": ZERO, "max_dot": ZERO} if name == "clip" else {}
    y, y_dot = rule(method, "frule")(x, *arguments, **keywords, a_dot=x_dot, **extra)
    np.testing.assert_array_equal(y, method(x, *arguments, **keywords))
    if name == "clip":
        eps = 1e-6
        want = (method(x + eps * x_dot, *arguments, **keywords) - y) / eps
        np.testing.assert_allclose(y_dot, want, atol=1e-6)
    else:
        np.testing.assert_array_equal(y_dot, method(x_dot, *arguments, **keywords))


def test_rounding_conversion_is_flat():
    y, pullback = rule(np.ndarray.astype, "rrule")(VECTOR, int)
    np.testing.assert_array_equal(unthunk(pullback(np.ones(6))[0]), np.zeros(6))


def test_a_list_with_zero_entries():
    _, pullback = rule(np.ndarray.tolist, "rrule")(np.zeros((2, 2)))
    np.testing.assert_array_equal(unthunk(pullback([[ZERO, 2.0], ZERO])[0]), [[0, 2], [0, 0]])
