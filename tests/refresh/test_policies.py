"""The policies, where they are set, and what the messages say; the example on the page."""

from __future__ import annotations

import contextvars
import os
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from scenarios import quiet, rule

import thunkad as ad
from thunkad.compiled import policy

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture
def stale(monkeypatch):
    """A gradient whose rule has changed."""
    monkeypatch.setattr(policy, "_policy", None)

    def g(x):
        return x * x

    def f(x):
        return g(x)

    rule(g, 10.0)
    gradient = ad.grad(f)
    assert gradient(2.0) == 10.0
    rule(g, 20.0)
    return gradient


def test_manual_is_the_default(stale, monkeypatch):
    monkeypatch.delenv("THUNKAD_REFRESH", raising=False)
    with pytest.warns(ad.StaleRuleWarning):
        assert stale(2.0) == 10.0


def test_the_environment_says_so(stale, monkeypatch):
    monkeypatch.setenv("THUNKAD_REFRESH", "auto")
    with quiet():
        assert stale(2.0) == 20.0
    monkeypatch.setenv("THUNKAD_REFRESH", "always")
    with pytest.raises(ad.ArgumentError, match="THUNKAD_REFRESH"):
        policy.current()


def test_for_the_process(stale, monkeypatch):
    monkeypatch.setenv("THUNKAD_REFRESH", "auto")
    ad.set_refresh_policy("error")
    for _ in range(2):
        with pytest.raises(ad.StaleRuleError, match="refresh"):
            stale(2.0)
    ad.set_refresh_policy("auto")
    assert stale(2.0) == 20.0
    with pytest.raises(ad.ArgumentError, match="manual, auto, error"):
        ad.set_refresh_policy("never")


def test_for_a_block_in_one_thread(stale):
    with ad.refresh_policy("error"):
        with pytest.raises(ad.StaleRuleError):
            stale(2.0)
        seen = []
        thread = threading.Thread(target=lambda: seen.append(policy.current()))
        thread.start()
        thread.join()
        assert seen == ["manual"]
        with ad.refresh_policy("auto"):
            assert policy.current() == "auto"
        assert policy.current() == "error"
    assert policy.current() == "manual"
    assert contextvars.copy_context().run(policy.current) == "manual"


def test_the_policy_counts_though_the_warning_is_long_given(stale):
    with pytest.warns(ad.StaleRuleWarning):
        stale(2.0)
    with quiet():
        assert stale(2.0) == 10.0
        with ad.refresh_policy("auto"):
            assert stale(2.0) == 20.0
        assert stale(2.0) == 20.0


def test_a_call_decided_at_run_time_follows_the_policy_though_nothing_is_stale():
    def g(x):
        return x * x

    table = [np.sin, None]

    def f(x):
        return table[0](x)

    gradient = ad.grad(f)
    assert gradient(2.0) == np.cos(2.0)
    rule(g, 10.0)
    assert gradient(2.0) == np.cos(2.0)
    table[0] = g
    with ad.refresh_policy("auto"):
        assert gradient(2.0) == 10.0


def test_the_warning_names_rules_function_and_remedy_where_the_call_is(stale):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = sys._getframe().f_lineno + 1
        stale(2.0)
    (warning,) = caught
    text = str(warning.message)
    assert warning.filename == __file__ and warning.lineno == line
    assert re.search(r"the derivative of \S*f was compiled with rules that have changed", text)
    assert text.count("scenarios.py") == 2  # where the rule was, and where it is
    assert "thunkad.refresh()" in text and "set_refresh_policy('auto')" in text


def test_one_warning_for_each_change_not_for_each_derivative(stale):
    f = stale.__thunkad_derivative__.f
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            stale(2.0)
            ad.vjp(f, 2.0)
            ad.grad(f)(np.float64(2.0))
    assert len(caught) == 1


def test_override_for_a_while():
    def g(x):
        return x * x

    def f(x):
        return g(x)

    gradient = ad.grad(f)
    rule(g, 10.0)
    before = ad.rules.lookup(g).entry
    with ad.refresh_policy("auto"), quiet():
        assert gradient(2.0) == 10.0
        with ad.rules.override(g, lambda x: (x * x, lambda y_bar: (y_bar * 5.0,))):
            assert gradient(2.0) == 5.0
            with ad.rules.override(g, None):
                assert gradient(2.0) == 4.0
            assert gradient(2.0) == 5.0
        assert gradient(2.0) == 10.0
    assert ad.rules.lookup(g).entry is before
    with pytest.raises(KeyError), ad.rules.override(g, None):
        raise KeyError
    assert ad.rules.lookup(g).how == "rule"


def test_an_override_that_ends_before_the_next_call_changes_nothing():
    def g(x):
        return x * x

    def f(x):
        return g(x)

    gradient = ad.grad(f)
    assert gradient(2.0) == 4.0
    with ad.rules.override(g, lambda x: (x, lambda y_bar: (y_bar,))):
        pass
    with quiet():
        assert gradient(2.0) == 4.0
    assert len(ad.refresh(f)) == 0


def test_the_same_registration_again_changes_nothing():
    def g(x):
        return x * x

    def made(x):
        return x * x, lambda y_bar: (y_bar * 10.0,)

    ad.rrule(g)(made)
    version = ad.rules.version
    ad.rrule(g)(made)
    assert ad.rules.version == version
    ad.opt_out(g, float)
    version = ad.rules.version
    ad.opt_out(g, float)
    ad.opt_in(g, int)
    assert ad.rules.version == version
    ad.opt_in(g)
    assert ad.rules.version > version and ad.rules.lookup(g, float).how == "rule"


def test_the_report_of_refresh_reads_well():
    def g(x):
        return x * x

    def f(x):
        return g(x)

    ad.grad(f)(2.0)
    rule(g, 10.0)
    report = ad.refresh(f)
    assert len(report) == 1
    text = str(report)
    assert "f: grad for x rebuilt" in text and "g: no rule -> a rule" in text and "scenarios.py" in text
    assert text == repr(report)
    assert "g: no rule -> a rule" in str(ad.explain(f, 2.0))


def test_explain_and_edges_show_what_was_passed_over_and_where():
    def g(x):
        return x * x

    def f(x, table):
        return g(x) + table[0](x)

    @ad.rrule(g)
    def of_arrays(x: np.ndarray):
        return x * x, lambda y_bar: (y_bar,)

    ad.opt_out(g, int)
    line = sys._getframe().f_lineno - 1
    table = [g, None]
    assert ad.grad(f)(2.0, table) == 8.0
    rule_line = of_arrays.__code__.co_firstlineno
    text = str(ad.explain(f, 2.0, table))
    (looked,) = (line for line in text.splitlines() if "looked inside; not" in line)
    for part in (f"not that at {os.path.relpath(__file__)}:{rule_line}: it is for (ndarray)",
                 f"not that at {os.path.relpath(__file__)}:{line}: it is for (int)"):  # fmt: skip
        assert part in looked
    (late,) = (line for line in text.splitlines() if "g(float): no rule;" in line)
    assert f"test_policies.py:{rule_line}: it is for (ndarray)" in late
    assert f"opted out at {os.path.relpath(__file__)}:{line}, looked inside: it is for (int)" in late
    edges = [e for e in ad.rules.edges(f) if e.callee is g]
    assert len(edges) == 2
    for edge in edges:
        assert [(entry.place.line, reason) for entry, reason in edge.passed_over] == [
            (rule_line, "it is for (ndarray)"),
            (line, "it is for (int)"),
        ]


def test_an_ambiguity_with_an_opt_out_names_where_that_is():
    def g(x, y):
        return x * y

    @ad.rrule(g)
    def first(x: float, y):
        return x * y, lambda z_bar: (z_bar * y, z_bar * x)

    with pytest.raises(ad.AmbiguousRuleError) as error:
        ad.opt_out(g, object, float)
    line = sys._getframe().f_lineno - 1
    assert f"line {first.__code__.co_firstlineno}" in str(error.value)
    assert f'File "{__file__}", line {line}' in str(error.value) and "ad.opt_out(g, object, float)" in str(error.value)


def test_the_example():
    done = subprocess.run([sys.executable, str(EXAMPLES / "refresh.py")], capture_output=True, text=True, check=False, cwd=EXAMPLES,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = (EXAMPLES / "refresh.py").read_text().splitlines()
    rule, out = (k + 1 for what in ("@ad.rrule(soften)", "ad.opt_out(soften") for k, line in enumerate(text) if what in line)
    change = f"__main__.soften: no rule -> a rule at refresh.py:{rule}"
    told = [
        "1. No rule: the function is looked into",
        "gradient: [-4.  1.  6.]",
        "soften(real array): missing",
        "2. A rule is registered: the old gradient is pinned, and says so once",
        "first call : [-4.  1.  6.]",
        "second call: [-4.  1.  6.]",
        "StaleRuleWarning: the derivative of __main__.energy was compiled with rules that have changed:",
        change,
        "__main__.soften: looked inside",
        "3. refresh() brings everything up to date, and reports",
        "__main__.energy: grad for x, vjp for x rebuilt",
        change,
        "gradient            : [-1.  1.  1.]",
        "pullback from before: [-4.  1.  6.]",
        f"__main__.soften: your rule at refresh.py:{rule}, inlined",
        f"last rebuilt: {change}",
        "and nothing is left to do: nothing was stale",
        "4. Another rule for a while, under the policy that follows every change by itself",
        "inside : [-2.   0.5  3. ]",
        "outside: [-1.  1.  1.]",
        "5. Opting out: arrays are looked into again, though there is a rule",
        "gradient: [-4.  1.  6.]",
        f"__main__.soften: opted out at refresh.py:{out}, looked inside",
        f"not a rule at refresh.py:{rule}: (ndarray) is more specific",
        "6. A function that is defined again is no change of a rule: it is followed without being asked",
        "gradient: [12.    0.75 27.  ]",
    ]
    lines = iter([line.strip() for line in done.stdout.splitlines()])
    for line in told:  # in this order
        assert line in lines, (line, done.stdout)


def test_derivatives_of_derivatives_are_reported_by_what_they_are_of():
    def g(x):
        return x * x * x

    def f(x):
        return g(x)

    second = ad.grad(ad.grad(f))
    assert second(2.0) == 12.0
    with ad.rules.together():

        @ad.rrule(g)
        def _(x):
            def pullback(y_bar):
                return (y_bar * x,)

            return x * x * x, pullback

        @ad.frule(g)
        def _(x, *, x_dot):
            return x * x * x, x_dot * x

    report = str(ad.refresh(ad.grad(f)))
    assert re.match(r"grad\(\S*f\): grad for x rebuilt\n", report) and "g: no rule -> a rule" in report
    text = str(ad.explain(ad.grad(f), 2.0))
    assert re.match(r"explain grad\(\S*f\)", text) and "your rule at" in text
    assert second(2.0) == 1.0
