"""Rules of Python's built-in functions and of the methods of its containers."""

import functools
import operator

import numpy as np
import pytest

from thunkad.rules.entry import ALTERNATIVE, NON_DIFFERENTIABLE
from thunkad.rules.python import builtins, containers  # noqa: F401
from thunkad.rules.python.operators import OPERATORS
from thunkad.rules.table import TABLE
from thunkad.runtime.elements import position_of, shaped_like, sum_bar
from thunkad.runtime.unpacking import split_starred
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, unthunk
from thunkad.testing import CheckError, check_frule, check_rrule

A = np.array


def rule_of(fn, kind="rrule"):
    (entry,) = [e for e in TABLE.snapshot.entries(fn) if e.kind == kind]
    return entry.function


def check(fn, *args, **kwargs):
    check_rrule(fn, *args, **kwargs)
    check_frule(fn, *args, **kwargs)


def check_listed(fn, *args, **kwargs):
    """Check a rule whose value is the list of what ``fn`` yields."""
    check_rrule(lambda *a, **k: list(fn(*a, **k)), *args, rule=rule_of(fn), **kwargs)
    check_frule(lambda *a, **k: list(fn(*a, **k)), *args, rule=rule_of(fn, "frule"), **kwargs)


def bars(fn, y_bar, *args, **kwargs):
    value, pullback = rule_of(fn)(*args, **kwargs)
    return value, tuple(map(unthunk, pullback(y_bar)))


@pytest.mark.parametrize("x", [1.5, A(1.5), A(1.5, np.float32), np.float32(1.5), np.float64(2)], ids=repr)
def test_float(x):
    check(float, x)


def test_shaped_like_an_array_of_one_element():  # older NumPy converts these
    got = shaped_like(2.0, A([[1.5]], np.float32))
    assert got.shape == (1, 1) and got.dtype == np.float32 and got[0, 0] == 2
    assert shaped_like(2.0, A([3])).dtype == float and shaped_like(2 + 1j, 1.5) == 2.0


def test_float_of_what_is_no_number():
    assert bars(float, 1.0, "1.5") == (1.5, (NO_TANGENT,))
    assert bars(float, 2.0, 3)[1] == (2.0,)


def test_complex():
    check(complex, 1.5, 2.5)
    check(complex, 1.5)
    check(complex, 1 + 2j, 3 - 1j)
    check(complex, A(1.5), A(0.5))
    check(complex.conjugate, 1 + 2j)
    check(float.conjugate, 1.5)


@pytest.mark.parametrize(
    "iterable, start",
    [([1.0, 2.0], ()), ((1.0, 2.0), (3.0,)), ([A([1.0, 2.0]), A([3.0, 4.0])], ()), ([A([1.0, 2.0]), 3.0], ()), (A([1.0, 2.0]), ()),
     (A([[1.0, 2.0], [3.0, 4.0]]), ()), (A([[1.0, 2.0], [3.0, 4.0]]), (1.0,)), ([1.0, 2.0], (A([1.0, 2.0]),)), ([], (1.0,)),
     ([1 + 2j, 3.0], ()), ([[1.0, 2.0], [3.0]], ([],)), ([(1.0,), (2.0, 3.0)], ((4.0,),)), ([A([[1.0, 2.0]]), A([3.0, 4.0])], ())],
    ids=str,
)  # fmt: skip
def test_sum(iterable, start):
    check(sum, iterable, *start)


def test_sum_of_flags_and_of_objects():
    assert bars(sum, 2.0, [True, 1.5])[1][0] == [NO_TANGENT, 2.0]

    class Length:
        def __radd__(self, other):
            return self

    with pytest.raises(NotImplementedError, match="Length"):
        bars(sum, 1.0, [Length()])


@pytest.mark.parametrize("fn", [max, min])
def test_extremum(fn):
    check(fn, 1.0, 3.0, 2.0)
    check(fn, [1.0, 3.0, 2.0])
    check(fn, (1.0, 3.0, -2.0), key=abs)
    check(fn, A([1.0, 3.0, -2.0]))
    check(fn, A([1.0, 3.0, -2.0]), key=abs)
    check(fn, [(1.0, "a"), (3.0, "b")])
    check(fn, [A(1.0), A(3.0)])


@pytest.mark.parametrize("fn", [max, min])
def test_ties_go_to_the_first(fn):
    assert bars(fn, 1.0, [1.0, float("1.0"), 1.0])[1][0][0] == [1.0, ZERO, ZERO]
    assert bars(fn, 1.0, 2.0, float("2.0"))[1][0] == (1.0, ZERO)
    assert np.array_equal(bars(fn, 1.0, A([2.0, 2.0]))[1][0][0], [1, 0])
    assert bars(fn, 1.0, [-3.0, 3.0], key=abs)[1][0][0] == [1.0, ZERO]
    assert np.array_equal(bars(fn, 1.0, A([np.nan, 2.0]))[1][0][0], [1, 0])


def test_position_of_prefers_the_object_itself():
    x, y = float("1.5"), float("1.5")
    assert position_of(y, [x, y]) == 1 and position_of(float("1.5"), [0.0, x, y]) == 1


@pytest.mark.parametrize(
    "x", [[1.0, 2.0], (1.0, A([2.0, 3.0])), A([1.0, 2.0]), A([[1.0], [2.0]]), [], A([1 + 2j, 2])], ids=str
)
def test_list_tuple_and_reversed(x):
    if len(x):
        check(list, x)
        check(tuple, x)
        check_listed(reversed, x)
        check_listed(enumerate, x)
        check_listed(enumerate, x, 5)
    assert bars(list, [], []) == ([], ([],))


def test_elements_that_can_not_be_perturbed():
    assert bars(list, [ZERO] * 2, "ab")[1] == (NO_TANGENT,)
    assert bars(list, [ZERO] * 2, {"a": 1.0, "b": 2.0})[1] == (NO_TANGENT,)
    assert bars(tuple, (ZERO,) * 3, range(3))[1] == (NO_TANGENT,)


def test_zip():
    check_listed(zip, [1.0, 2.0], (3.0, 4.0), A([5.0, 6.0]))
    check_listed(zip, [1.0, 2.0, 3.0], A([5.0, 6.0, 7.0, 8.0]), range(2))
    check_listed(zip, [1.0], [2.0], strict=True)
    assert bars(zip, [ZERO, (1.0, ZERO)], [1.0, 2.0], "ab")[1][0] == ([ZERO, 1.0], NO_TANGENT)
    with pytest.raises(ValueError):
        rule_of(zip)([1.0], [], strict=True)


def test_sorted():
    check(sorted, [3.0, 1.0, 2.0])
    check(sorted, (3.0, -4.0, 2.0), key=abs)
    check(sorted, A([3.0, 1.0, 2.0]), reverse=True)
    check(sorted, [(2.0, "x", 5.0), (1.0, "y", 6.0)])
    tie = bars(sorted, ["first", "second"], [1.0, float("1.0")], reverse=True)[1][0]
    assert tie == ["first", "second"]  # stable in both directions


def test_dict():
    check(dict, {"a": 1.0, "b": A([2.0, 3.0])})
    check(dict, [("a", 1.0), ("b", 2.0), ("a", 3.0)])
    assert bars(dict, {"a": 5.0}, [("a", 1.0), ("a", 3.0)])[1][0] == [(ZERO, ZERO), (ZERO, 5.0)]


def test_methods_of_dicts_and_lists():
    d = {"a": 1.0, "b": A([2.0, 3.0]), "c": "text"}
    check(dict.get, d, "a")
    check(dict.get, d, "z", 2.5)
    check(dict.get, d, "a", 2.5)
    check_listed(dict.items, d)
    check_listed(dict.values, d)
    check(dict.copy, d)
    check(list.copy, [1.0, 2.0])


def test_split_starred():
    check(split_starred, [1.0, 2.0, 3.0, 4.0], 1, 1)
    check(split_starred, A([[1.0], [2.0], [3.0]]), 0, 1)
    check(split_starred, (1.0, 2.0), 1, 1)
    assert bars(split_starred, (1.0, ZERO, ZERO), [1.0, 2.0, 3.0], 1, 1)[1][0] == [1.0, ZERO, ZERO]


@pytest.mark.parametrize(
    "fn", [len, int, isinstance, print, round, range, str.join, str.upper, list.index, operator.lt]
)
def test_not_differentiable(fn):
    assert [e.kind for e in TABLE.snapshot.entries(fn)] == [NON_DIFFERENTIABLE]


BODIES = [
    (map, (lambda x, y: x * y, [1.0, 2.0], (3.0, 4.0, 5.0)), [3.0, 8.0]),
    (map, (abs, [-1.0]), [1.0]),
    (filter, (lambda x: x > 1, [1.0, 2.0, 3.0]), [2.0, 3.0]),
    (filter, (None, [0.0, 2.0, None]), [2.0]),
    (functools.reduce, (operator.mul, [2.0, 3.0, 4.0]), 24.0),
    (functools.reduce, (operator.mul, [2.0, 3.0], 5.0), 30.0),
    (functools.reduce, (operator.mul, [], 5.0), 5.0),
    (pow, (2.0, 3.0), 8.0),
    (divmod, (7.5, 2.0), (3.0, 1.5)),
    (operator.iadd, ([1.0], [2.0]), [1.0, 2.0]),
    (operator.concat, ([1.0], [2.0]), [1.0, 2.0]),
]


@pytest.mark.parametrize("fn, args, want", BODIES, ids=lambda x: getattr(x, "__name__", ""))
def test_alternative_bodies_compute_the_same(fn, args, want):
    assert rule_of(fn, ALTERNATIVE)(*args) == want


def test_reduce_of_nothing():
    with pytest.raises(TypeError, match="empty iterable"):
        rule_of(functools.reduce, ALTERNATIVE)(operator.add, [])


@pytest.mark.parametrize("fn", OPERATORS, ids=lambda f: f.__name__)
def test_operators_mean_their_numpy_function(fn):
    discrete = fn in (operator.invert, operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)
    a, b = (A([5, 3]), A([2, 1])) if discrete else (A([[1.5, -2.0], [3.0, 4.0]]), A([[2.0, 0.5], [1.5, -1.0]]))
    args = (a,) if fn in (operator.neg, operator.pos, operator.abs, abs, operator.invert) else (np.abs(a), b)
    assert np.array_equal(fn(*args), OPERATORS[fn](*args))


def test_the_checker_sees_a_wrong_rule():
    def wrong(iterable, start=0):
        return sum(iterable, start), lambda y_bar: ([y_bar] * (len(iterable) - 1) + [2 * y_bar], ZERO)

    with pytest.raises(CheckError):
        check_rrule(sum, [1.0, 2.0], rule=wrong)
    assert isinstance(NO_TANGENT, AbstractZero)


def test_forward_rules_of_linear_helpers():
    rule = rule_of(sum_bar, "frule")
    value, dot = rule(2.0, [1.0, 3.0], 0, first_dot=5.0, rest_dot=([7.0, 8.0], ZERO))
    assert value == [2.0, 2.0] and dot == [5.0, 5.0]
    assert rule(2.0, [1.0, 3.0], 0, first_dot=ZERO, rest_dot=ZERO)[1] is ZERO
