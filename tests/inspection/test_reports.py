"""``explain`` says what every call resolved to; ``coverage`` which have no rule."""

import zlib

import numpy as np
import other_scale
import pytest
import source_programs as programs

import thunkad as ad

A = programs.A


def sites(report, callee):
    return [s for s in report if s.callee == callee]


def test_rules_are_named_with_their_place_and_line():
    report = ad.explain(programs.straight, A, A)
    (sine,) = sites(report, "np.sin")
    assert sine.how == "rule" and "elementwise.py:" in sine.why and "inlined" in sine.why
    assert sine.source == "return np.sum(np.sin(a) + x**2)"
    assert sine.source in str(report) and sine.why in str(report)


def test_thunks_that_nobody_needs_are_dropped():
    ad.grad(programs.straight, argnums=1)(A, A)
    (product,) = sites(ad.explain(programs.straight, A, A), "*")
    assert dict(product.thunks) == {"x1": "dropped", "x2": "inlined"}
    ad.grad(programs.straight, argnums=(0, 1))(A, A)
    (product,) = sites(ad.explain(programs.straight), "*")
    assert dict(product.thunks) == {"x1": "inlined", "x2": "inlined"}


def test_callees_are_looked_into_once_per_demand():
    report = ad.explain(programs.callee, A)
    assert [f.name for f in report.functions] == ["callee", "helper"]
    first, second = sites(report, "source_programs.helper")
    assert first.how == second.how == "inside" and dict(first.thunks) == {"x": "compiled", "k": "dropped"}


def test_a_rule_that_is_called_as_it_stands_keeps_its_thunks():
    def doubled(x):
        return 2.0 * x

    @ad.rrule(doubled)
    def _(x):
        if np.ndim(x) > 5:
            return None
        return 2.0 * x, lambda y_bar: (2.0 * y_bar,)

    def f(x):
        return doubled(x)

    (site,) = sites(ad.explain(f, 1.0), "test_reports.test_a_rule_that_is_called_as_it_stands_keeps_its_thunks.<locals>.doubled")
    assert site.how == "rule" and "your rule at" in site.why and "called as it stands" in site.why
    assert dict(site.thunks) == {"x": "kept"}


def test_opting_out_is_told():
    def triple(x):
        return 3.0 * x

    @ad.rrule(triple)
    def _(x):
        return 3.0 * x, lambda y_bar: (3.0 * y_bar,)

    ad.opt_out(triple, float)

    def f(x):
        return triple(x)

    (site,) = [s for s in ad.explain(f, 1.0) if s.how == "inside"]
    assert "looked inside" in site.why


def test_what_is_decided_at_run_time():
    def f(x, g):
        return g(x)

    (site,) = ad.explain(f)
    assert site.how == "dynamic" and site.callee == "g"


def test_nothing_runs():
    def f(x):
        raise AssertionError("it ran")
        return x

    ad.explain(f, 1.0)
    ad.coverage(f)


def test_a_covered_function_has_an_empty_report():
    report = ad.coverage(programs.straight)
    assert len(report) == 0 and "every call has a rule" in str(report)


def test_calls_without_a_rule_are_found_through_callees():
    def inner(x):
        y = np.sin(x)
        return zlib.adler32(y)

    def f(x):
        a = zlib.crc32(x)
        return a + inner(x)

    report = ad.coverage(f)
    assert [s.callee for s in report] == ["zlib.crc32", "zlib.adler32"]
    assert [s.source for s in report] == ["a = zlib.crc32(x)", "return zlib.adler32(y)"]
    assert "zlib.adler32: no rule" in str(report)


def test_calls_on_constants_need_no_rule():
    def f(x):
        k = zlib.crc32(b"text")
        return x * k

    assert len(ad.coverage(f)) == 0


def test_a_callee_without_source_is_told():
    names = {}
    exec("def hidden(x):\n    return x * 2.0", names)
    hidden = names["hidden"]

    def f(x):
        return hidden(x)

    assert "can't be looked into" in str(ad.coverage(f))


def test_differentiable_attaches_both():
    @ad.differentiable
    def f(x):
        return np.sum(other_scale.scaled(x))

    assert "f_grad" in f.adjoint_source(args=(A,))
    assert "np.sum" in str(f.explain(A))


@pytest.mark.parametrize("f, args", programs.PROGRAMS, ids=lambda x: getattr(x, "__name__", None))
def test_every_program_can_be_explained(f, args):
    assert str(ad.explain(f, *args)).startswith("explain source_programs.")
    assert len(ad.coverage(f)) == 0
