"""Typed signatures: what annotations mean, which registration wins, and the things of a class that rules can be for."""

from __future__ import annotations

import collections.abc
import functools
import numbers
import sys
import warnings
from typing import Annotated, Any, Literal, NewType, Optional, Protocol, TypeVar, Union, runtime_checkable

import numpy as np
import numpy.typing as npt
import pytest

import thunkad as ad
from thunkad.kinds.lattice import NUMERIC, PY_INT, PY_REAL, UNKNOWN, Instance, Known, Num
from thunkad.rules.entry import Entry
from thunkad.rules.resolve import Exact, fits, losers
from thunkad.rules.signatures import ArrayOf, Rest, as_signature, as_type, covers, meet, narrower, signature_types
from thunkad.rules.table import Table


class Animal:
    pass


class Cat(Animal):
    pass


@runtime_checkable
class Sized(Protocol):
    def __len__(self) -> int: ...


class Fielded(Protocol):
    width: int


T = TypeVar("T")
Bounded = TypeVar("Bounded", bound=Animal)
Constrained = TypeVar("Constrained", int, float)
Metres = NewType("Metres", float)


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (Any, object),
        (None, type(None)),
        (float, float),
        (Union[int, float], float),
        (int | float | bool, float),
        (Optional[float], (type(None), float)),
        (Union[Cat, Animal], Animal),
        (Union[int, Any], object),
        (list[float], list),
        (Annotated[float, "in metres"], float),
        (Literal["a", "b"], str),
        (T, object),
        (Bounded, Animal),
        (Constrained, float),
        (Metres, float),
        (Sized, Sized),
        (np.ndarray, np.ndarray),
        (npt.NDArray[Any], np.ndarray),
        (npt.NDArray[np.float32], ArrayOf(np.float32)),
        (npt.NDArray[np.floating[Any]], ArrayOf(np.floating)),
        (npt.NDArray[np.float32] | float, (ArrayOf(np.float32), float)),
        (npt.ArrayLike, object),
        (collections.abc.Callable[[float], float], collections.abc.Callable),
    ],
)
def test_what_annotations_mean(annotation, expected):
    found = as_type(annotation)
    assert found == expected or isinstance(found, tuple) and set(found) == set(expected)


def test_equal_unions_are_equal_however_they_are_written():
    assert as_type(int | float) == as_type(Union[float, int]) == as_type((float, int, bool))
    assert as_signature((float, Any, object)) == (float,)


@pytest.mark.parametrize("annotation", [3, Fielded, "no such name"])
def test_annotations_that_mean_nothing(annotation):
    with pytest.raises(ad.RuleError):
        as_type(annotation)


def test_annotations_that_can_not_be_read():
    def g(x):
        return x

    def rule(x: NoSuchClass):  # noqa: F821
        return x, lambda y_bar: (y_bar,)

    with pytest.raises(ad.RuleError, match="NoSuchClass"):
        ad.rrule(g)(rule)
    assert ad.rules.lookup(g, float).how == "missing"


def test_classes_of_the_enclosing_function_can_be_named():
    class Local:
        pass

    def g(x, y):
        return x

    @ad.rrule(g)
    def rule(x: float, y: Local):
        return x, lambda y_bar: (y_bar, ad.NoTangent())

    assert ad.rules.lookup(g, float, Local).how == "rule"
    assert ad.rules.lookup(g, float, object).how == "missing"
    assert ad.rules.lookup(g, int, Local).how == "rule"  # an int will do where a float is asked for (PEP 484)
    assert ad.rules.lookup(g, complex, Local).how == "missing"


def test_narrower_and_covering():
    assert narrower(bool, int) and not narrower(int, bool)
    assert narrower((int, float), (int, float, str)) and not narrower((int, str), (int, float))
    assert narrower(ArrayOf(np.float32), ArrayOf(np.floating)) and narrower(ArrayOf(np.float32), np.ndarray)
    assert not narrower(np.ndarray, ArrayOf(np.float32)) and narrower(ArrayOf(np.float32), object)
    assert covers((object, Animal), (float, Cat)) and not covers((float, Cat), (object, Cat))
    assert covers((), (float,)) and not covers((float,), ())


def test_what_two_signatures_have_in_common():
    assert meet((float,), (object, int)) == (float, int)
    assert meet((Animal,), (Cat, float)) == (Cat, float)
    assert meet(((bytes, str),), ((str, float),)) == (str,)
    assert meet(((int, str),), (complex,)) == (int,)
    assert meet((int,), (str,)) is None


real_vector, real = Num("array", "real", 1), Num("scalar", "real")


@pytest.mark.parametrize(
    ("kind", "wanted", "expected"),
    [
        (PY_REAL, float, True),
        (PY_REAL, int, False),
        (PY_INT, numbers.Real, True),
        (real, float, None),  # float64 is a float, float32 isn't
        (real, np.floating, True),
        (real, np.float32, None),
        (real, np.integer, False),
        (real, numbers.Real, True),
        (real_vector, np.ndarray, True),
        (real_vector, np.float64, False),
        (real_vector, ArrayOf(np.floating), True),
        (real_vector, ArrayOf(np.float32), None),
        (real_vector, ArrayOf(np.integer), False),
        (real_vector, np.matrix, None),
        (real_vector, Animal, False),
        (real_vector, (float, np.ndarray), True),
        (Num("array", "real"), np.ndarray, None),  # an array, or a scalar where the axes are not known
        (Num("array", "real"), (np.ndarray, np.floating), True),
        (NUMERIC, np.ndarray, None),
        (NUMERIC, str, False),
        (UNKNOWN, float, None),
        (UNKNOWN, object, True),
        (Known(None), type(None), True),
        (Known(np.sin), collections.abc.Callable, True),
        (Instance(Cat), Animal, True),
        (Instance(Animal), Cat, False),
        (Exact(np.float32), np.float32, True),
        (Exact(np.ndarray, np.float32), ArrayOf(np.floating), True),
        (Exact(np.ndarray, np.int64), ArrayOf(np.floating), False),
    ],
)
def test_whether_kinds_fit(kind, wanted, expected):
    assert fits(kind, wanted) is expected


# ---------------------------------------------------------------- rules at work


def test_dtypes_decide_when_the_code_runs():
    def g(x):
        return x * 2.0

    def f(x):
        return np.sum(g(x))

    @ad.rrule(g)
    def of_float32(x: npt.NDArray[np.float32]):
        return x * 2.0, lambda y_bar: (y_bar * np.float32(10.0),)

    gradient = ad.grad(f)
    np.testing.assert_allclose(gradient(np.ones(2)), 2.0)
    np.testing.assert_allclose(gradient(np.ones(2, np.float32)), 10.0)
    assert len(ad.rules.edges(f)) and any(e.how == "undecided" for e in ad.rules.edges(f))


def test_arguments_that_are_passed_by_name():
    def g(x, how=None):
        return x * 2.0

    def f(x, animal):
        return g(x, how=animal)

    @ad.rrule(g)
    def of_cats(x, how: Cat):
        return x * 2.0, lambda y_bar: (y_bar * 10.0, ad.NoTangent())

    ad.opt_out(g, object, type(None))
    gradient = ad.grad(f)
    assert gradient(1.0, Cat()) == 10.0
    assert gradient(1.0, Animal()) == 2.0
    assert ad.grad(lambda x: g(x))(1.0) == 2.0


class Vector:
    def __init__(self, a):
        self.a = a

    def __add__(self, other):
        return Vector(self.a + other.a)

    def norm(self, p=2.0):
        return self.a * p

    @property
    def double(self):
        return 2.0 * self.a

    def __call__(self, x):
        return self.a * x

    @classmethod
    def make(cls, a):
        return cls(a)

    @staticmethod
    def static(x):
        return 3.0 * x


@pytest.fixture
def cleared():
    made = []

    def register(fn, factor, *, with_object=True):
        if with_object:

            @ad.rrule(fn)
            def _(v, *rest):
                return fn(v, *rest), lambda y_bar: (
                    ad.Tangent(Vector, {"a": y_bar * factor}),
                    (ad.ZeroTangent(),) * len(rest),
                )
        else:

            @ad.rrule(fn)
            def _(x):
                return fn(x), lambda y_bar: (y_bar * factor,)

        made.append(fn)

    yield register
    for fn in made:
        ad.rules.remove(fn)


def test_methods(cleared):
    def f(a):
        return Vector(a).norm(3.0)

    assert ad.grad(f)(1.0) == 3.0
    cleared(Vector.norm, 10.0)
    ad.refresh()
    assert ad.grad(f)(1.0) == 10.0
    assert ad.grad(lambda v: v.norm())(Vector(2.0)) == ad.Tangent(Vector, {"a": 10.0})


def test_callable_objects(cleared):
    def f(a):
        return Vector(a)(5.0)

    assert ad.grad(f)(1.0) == 5.0
    cleared(Vector.__call__, 10.0)
    ad.refresh()
    assert ad.grad(f)(1.0) == 10.0


def test_operators_of_users_classes(cleared):
    def f(v):
        return (v + Vector(2.0)).a

    assert ad.grad(f)(Vector(1.0)) == ad.Tangent(Vector, {"a": 1.0})

    @ad.rrule(Vector.__add__)
    def _(v, w):
        def pullback(y_bar):
            bar = ad.unthunk(y_bar)
            return ad.Tangent(Vector, {"a": bar["a"] * 10.0}), ad.Tangent(Vector, {"a": bar["a"] * 10.0})

        return Vector(v.a + w.a), pullback

    ad.refresh()
    try:
        assert ad.grad(f)(Vector(1.0)) == ad.Tangent(Vector, {"a": 10.0})
    finally:
        ad.rules.remove(Vector.__add__)


def test_static_methods_and_class_methods(cleared):
    def f(x):
        return Vector.static(x)

    assert ad.grad(f)(1.0) == 3.0
    cleared(Vector.__dict__["static"], 10.0, with_object=False)
    ad.refresh()
    assert ad.grad(f)(1.0) == 10.0
    with pytest.raises(ad.RuleError, match="bound to an object"):
        ad.rrule(Vector.make)
    with pytest.raises(ad.RuleError, match="Vector.norm"):
        ad.rrule(Vector(1.0).norm)


def test_constructors():
    class Opaque:
        def __init__(self, a):
            self.__dict__["a"] = float(a)

    def f(a):
        return Opaque(a).a

    @ad.rrule(Opaque)
    def _(a):
        return Opaque(a), lambda bar: (ad.unthunk(bar)["a"] * 10.0,)

    assert ad.grad(f)(1.0) == 10.0


@pytest.mark.parametrize("spelling", [lambda x: np.sum(x), lambda x: x.sum()], ids=["np.sum", "method"])
def test_array_methods_and_functions_are_one(spelling):
    @ad.rrule(np.ndarray.sum)
    def _(x):
        return np.sum(x), lambda y_bar: (10.0 * y_bar * np.ones_like(x),)

    try:
        assert ad.rules.lookup(np.sum).entry is ad.rules.lookup(np.ndarray.sum).entry
        with ad.refresh_policy("auto"):
            np.testing.assert_allclose(ad.grad(lambda x: spelling(x))(np.ones(3)), 10.0)
    finally:
        ad.rules.remove(np.ndarray.sum)
    with ad.refresh_policy("auto"):
        np.testing.assert_allclose(ad.grad(lambda x: spelling(x))(np.ones(3)), 1.0)


def test_a_users_registration_goes_before_the_library():
    def f(x):
        return np.sinc(x) * 1.0

    expected = ad.grad(f)(0.3)
    for decide, value in ((lambda: ad.non_differentiable(np.sinc), 0.0), (lambda: rule_for_sinc(np.sinc), 10.0)):
        decide()
        with ad.refresh_policy("auto"):
            assert ad.grad(f)(0.3) == value
    ad.rules.remove(np.sinc)
    with ad.refresh_policy("auto"):
        assert ad.grad(f)(0.3) == expected


def rule_for_sinc(fn):
    @ad.rrule(fn)
    def _(x):
        return fn(x), lambda y_bar: (y_bar * 10.0,)


@pytest.mark.parametrize(
    ("annotation", "takes", "leaves"),
    [
        (float, (1.0, 1, np.float64(1.0)), (1j, np.float32(1.0), np.array(1.0))),
        (complex, (1j, 1.0, 1, np.complex128(1.0)), (np.complex64(1.0), np.array(1j))),
        (int, (1,), (1.0, np.int64(1))),
    ],
)
def test_numbers_are_taken_as_type_checkers_do(annotation, takes, leaves):
    def g(x):
        return x * 2.0

    def rule(x):
        return x * 2.0, lambda y_bar: (y_bar * 10.0,)

    rule.__annotations__["x"] = annotation
    ad.rrule(g)(rule)
    for x in (*takes, *leaves):
        assert (ad.vjp(lambda x: g(x), x)[1](1.0)[0] == 10.0) == (x in takes and type(x) in map(type, takes))
        assert (ad.vjp(g, x)[1](1.0)[0] == 10.0) == (x in takes and type(x) in map(type, takes))


def test_a_rule_for_int_goes_before_one_for_float():
    def g(x):
        return x * 2.0

    @ad.rrule(g)
    def of_float(x: float):
        return x * 2.0, lambda y_bar: (y_bar * 10.0,)

    @ad.rrule(g)
    def of_int(x: int):
        return x * 2.0, lambda y_bar: (y_bar * 20.0,)

    assert ad.grad(g)(1) == 20.0 and ad.grad(g)(1.0) == 10.0


def test_what_an_opt_out_makes_void_is_said():
    def g(x):
        return x * 2.0

    def rule(x):
        return x * 2.0, lambda y_bar: (y_bar * 10.0,)

    ad.opt_out(g)
    with pytest.warns(ad.RuleWarning, match="has no effect: an opt-out"):
        ad.rrule(g)(rule)
    assert ad.grad(g)(1.0) == 2.0
    ad.opt_in(g)
    ad.refresh()
    assert ad.grad(g)(1.0) == 10.0

    def typed(x: float):
        return x * 2.0, lambda y_bar: (y_bar * 20.0,)

    ad.opt_out(g)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ad.RuleWarning)
        ad.rrule(g)(typed)
    ad.refresh()
    assert ad.grad(g)(1.0) == 20.0


def test_what_was_passed_over():
    def g(x):
        return x

    def rule(x: float):
        return x, lambda y_bar: (y_bar,)

    ad.rrule(g)(rule)
    ad.opt_out(g)
    line = sys._getframe().f_lineno - 1
    found = ad.rules.lookup(g, float)
    assert found.entry.function is rule and [reason for _, reason in found.passed_over] == ["(float) is more specific"]
    assert f"test_typed_rules.py:{line}, looked inside: (float) is more specific" in str(found)
    (reason,) = (reason for _, reason in ad.rules.lookup(g, complex).passed_over)
    assert reason == "it is for (float)"
    assert losers(tuple(e for e, _ in found.passed_over), found.entry, [Exact(float)])


# ---------------------------------------------------------------- the table


def an_entry(target, kind="rrule", types=(), layer="user"):
    return Entry(kind, target, lambda x: (x, lambda y: (y,)), layer, types=types)


def test_snapshots_never_change():
    table = Table()

    def g(x):
        return x

    first = table.snapshot
    table.add(an_entry(g))
    second = table.snapshot
    (entry,) = second.entries(g)
    table.remove(entry)
    assert first.entries(g) == () and second.entries(g) == (entry,) and table.snapshot.entries(g) == ()
    assert first.version < second.version < table.snapshot.version
    assert g in second.cells and g not in table.snapshot.cells


def test_changes_made_together_are_seen_together():
    table = Table()

    def g(x):
        return x

    def h(x):
        return x

    with table.bulk():
        table.add(an_entry(g))
        table.add(an_entry(h))
        table.add(an_entry(g))
        assert table.snapshot.entries(g) == () == table.snapshot.entries(h)
    assert table.snapshot.version == 1 and len(table.snapshot.entries(g)) == 1
    with table.bulk():
        pass
    assert table.snapshot.version == 1


def test_one_registration_for_one_thing():
    table = Table()

    def g(x):
        return x

    table.add(an_entry(g, "rrule", (float,)))
    table.add(an_entry(g, "frule", (float,)))
    table.add(an_entry(g, "rrule"))
    assert len(table.snapshot.entries(g)) == 3
    table.add(an_entry(g, "non_differentiable", (float,)))
    assert sorted(e.kind for e in table.snapshot.entries(g)) == ["non_differentiable", "rrule"]
    table.add(an_entry(g, "opt_out"))
    table.add(an_entry(g, "rrule", layer="library"))
    assert len(table.snapshot.entries(g)) == 4


def test_the_library_has_always_been_there():
    table = Table()

    def g(x):
        return x

    before = table.snapshot
    table.add(an_entry(g))
    after = table.snapshot
    library = an_entry(g, layer="library")
    table.add(library)
    assert before.entries(g) == (library,) and library in after.entries(g) and len(after.entries(g)) == 2


def test_callees_that_can_not_be_looked_up():
    class Unhashable:
        __hash__ = None

        def __call__(self, x):
            return x

    table = Table()
    assert table.snapshot.entries(Unhashable()) == ()
    with pytest.raises(ad.RuleError, match="hashable"):
        table.add(an_entry(Unhashable()))


def test_the_handle_is_no_parameter_of_a_call():
    def rule(f, x: Animal, *, scale: float = 1.0, ad):
        return None

    entry = Entry("rrule", rule, rule, "user")
    assert signature_types(entry) == (object, Animal)
    assert list(entry.signature().parameters) == ["f", "x", "scale"] and entry.wants_ad()


def test_a_rule_that_only_returns_none_says_look_inside():
    def g(x):
        return x * 2.0

    def f(x):
        return np.sum(g(x))

    @ad.rrule(g)
    def general(x):
        return x * 2.0, lambda y_bar: (y_bar * 10.0,)

    @ad.rrule(g)
    def not_for_floats(x: float):
        """Floats are looked into."""
        return None

    assert ad.rules.lookup(g, float).how == "inside" and ad.rules.lookup(g, np.ndarray).how == "rule"
    assert ad.grad(f)(1.0) == 2.0
    np.testing.assert_allclose(ad.grad(f)(np.ones(2)), 10.0)
    assert {(e.callee, e.how) for e in ad.rules.edges(f)} >= {(g, "inside"), (g, "rule")}


def test_a_pullback_that_is_a_lambda_is_pasted():
    def g(x, y):
        return x * y

    def f(x):
        return g(x, 3.0)

    @ad.rrule(g)
    def rule(x, y):
        return x * y, lambda z_bar: (ad.thunk(lambda: z_bar * 10.0 * y), z_bar * x)

    assert ad.grad(f)(2.0) == 30.0
    text = ad.adjoint_source(f, args=(2.0,))
    assert "pull" not in text and "pullback" not in text


class Scales:
    def __call__(self, x):
        return 2.0 * x


@pytest.mark.parametrize(
    ("fn", "instead"),
    [(functools.partial(np.multiply, 2.0), "register the rule for np.multiply"), (Scales(), "Scales.__call__")],
    ids=["partial", "object"],
)
def test_objects_that_are_called_have_no_rules_of_their_own(fn, instead):
    """They would count only where the very object is known when the derivative is compiled."""

    def rule(x):
        return fn(x), lambda y_bar: (y_bar * 100.0,)

    for register in (lambda: ad.rrule(fn)(rule), lambda: ad.opt_out(fn), lambda: ad.non_differentiable(fn)):
        with pytest.raises(ad.RuleError, match=instead):
            register()
    assert ad.grad(lambda x: fn(x))(3.0) == ad.grad(fn)(3.0) == 2.0


def test_annotated_further_arguments_are_all_of_that_type() -> None:
    def g(*xs):
        return xs[0] + xs[-1]

    @ad.rrule(g)
    def rule(*xs: float):
        def pullback(y_bar):
            return (tuple(10.0 * (k + 1) * y_bar for k in range(len(xs))),)

        return xs[0] + xs[-1], pullback

    assert ad.grad(lambda x: g(x, 2.0, x))(1.0) == 40.0
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(g(x[0], x)))(np.ones(2)), [3.0, 1.0])
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(g(x, x[0])))(np.ones(2)), [3.0, 1.0])
    assert "*float" in str(ad.rules.lookup(g, float, np.ndarray))
    some, more = as_signature((Rest(float),)), as_signature((float, Rest(float)))
    assert covers(some, more) and not covers(more, (object, float))
    assert covers((float,), some) and not covers(some, (float,))
    assert covers((), some) and as_signature((Rest(Any),)) == ()
    assert meet(some, (object, int)) == (float, int, Rest(float))
    assert meet(some, (np.ndarray,)) is None


@pytest.mark.parametrize("called", [False, True])
def test_a_closure_over_differentiated_values_needs_a_cotangent(called) -> None:
    def apply(f, x):
        return f(x)

    def pasted_rule(f, x):
        def pullback(y_bar):
            return ad.NoTangent(), y_bar

        return f(x), pullback

    def called_rule(f, x):
        def pullback(y_bar):
            if called:
                return ad.NoTangent(), y_bar

        return f(x), pullback

    ad.rrule(apply)(called_rule if called else pasted_rule)
    assert ad.grad(lambda x: apply(lambda t: t * 1.0, x))(3.0) == 1.0
    assert ad.grad(lambda x, k: apply(lambda t: t * k, x))(3.0, 2.0) == 1.0
    with pytest.raises(ad.ThunkadError, match="closes over differentiated values"):
        ad.grad(lambda k: apply(lambda t: t * k, 2.0))(3.0)
