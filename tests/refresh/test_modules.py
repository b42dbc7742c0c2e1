"""R32, R35, R39: imports, reloading, other processes."""

from __future__ import annotations

import copy
import functools
import importlib
import os
import pickle
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest
from scenarios import Story, form, quiet, rule, without_source

import thunkad as ad
from thunkad.compiled.root import root_of


RULES = {
    "inlined": """
        @ad.rrule(g)
        def _(x):
            def pullback(y_bar):
                return (y_bar * {factor},)

            return g(x), pullback
    """,
    "outlined": """
        @ad.rrule(g)
        def _(x):
            for _ in range(1):
                y = g(x)
            return y, lambda y_bar: (y_bar * {factor},)
    """,
}


def module_text(before, form, factor, after=""):
    """The text of a module with a rule for ``g`` in this form."""
    return "\n".join(map(textwrap.dedent, (before, RULES[form].format(factor=factor), after)))


@form
def test_r32_a_rule_comes_with_an_import_in_the_forward_pass(policy, form, tmp_path, monkeypatch):
    def g(x):
        return x * x

    monkeypatch.setitem(sys.modules, "holder_of_g", types.SimpleNamespace(g=g))
    head = "import thunkad as ad\nfrom holder_of_g import g\n"
    (tmp_path / "brings_a_rule.py").write_text(module_text(head, form, 10.0))
    monkeypatch.syspath_prepend(str(tmp_path))
    table = [g, None]

    def load():
        importlib.import_module("brings_a_rule")

    ad.non_differentiable(load)

    def f(x):
        load()
        return table[0](x) + g(x)

    story = Story(f, policy=policy)
    assert story.gradient(2.0) == 8.0
    story.changes(8.0, 20.0)
    assert story.edges() >= {("load", "constant", False), ("g", "rule", False), ("g", "rule", True)}
    del sys.modules["brings_a_rule"]


@form
def test_r35_a_module_is_reloaded(policy, form, tmp_path, monkeypatch):
    head = """
        import thunkad as ad

        def g(x):
            return x * x
    """
    tail = """
        def f(x):
            return g(x) + {extra} * x
    """
    path = tmp_path / "reloaded_module.py"
    path.write_text(module_text(head, form, 10.0, tail.format(extra="1.0")))
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("reloaded_module")
    old, old_g = module.f, module.g
    old_gradient = ad.grad(old)

    def outer(x):
        return module.f(x)

    gradient = ad.grad(outer)
    with quiet():
        assert old_gradient(2.0) == gradient(2.0) == 11.0
        path.write_text(module_text(head, form, 20.0, tail.format(extra="-5.25")))
        importlib.invalidate_caches()
        importlib.reload(module)
        del sys.modules["reloaded_module"]
        assert ad.grad(module.f)(2.0) == 14.75
    assert ad.rules.lookup(module.g).how == "rule"
    if policy == "manual":  # what is compiled anew still resolves in the pinned table, which knows no rule of the new g
        with pytest.warns(ad.StaleRuleWarning, match="g: no rule -> a rule"):
            assert gradient(2.0) == -1.25
        ad.refresh()
    with quiet():
        assert gradient(2.0) == 14.75
    assert root_of(outer).rebuilds == (2 if policy == "manual" else 1)
    found = {(e.callee, e.how) for e in ad.rules.edges(outer) if not isinstance(e.callee, np.ufunc)}
    assert found == {(outer, "missing"), (module.f, "missing"), (module.g, "rule")} and module.g is not old_g


def of_this_module(x, n=2.0):
    return n * x * x


@ad.differentiable
def decorated(x):
    return of_this_module(x)


class Model:
    def __init__(self, w):
        self.w = w

    def energy(self, x):
        return self.w * of_this_module(x)

    @classmethod
    def of_class(cls, x):
        return of_this_module(x)

    @staticmethod
    def static(x):
        return of_this_module(x)


class Other(Model):
    @classmethod
    def of_class(cls, x):
        return 10.0 * of_this_module(x)


class Inheriting(Other):
    pass


def by_name():
    """Derivatives that are found by their names, each with its value at 2."""
    return [
        (ad.grad(decorated), 8.0),
        (ad.value_and_grad(of_this_module, argnames=("x", "n")), (8.0, (8.0, 4.0))),
        (ad.grad(Model.static), 8.0),
        (ad.grad(Model.of_class), 8.0),
        (ad.grad(Inheriting.of_class), 80.0),
        (ad.grad(np.sin), np.cos(2.0)),
        (ad.grad(ad.grad(decorated)), 4.0),
        (ad.derivative(Model.static, 3), 0.0),
    ]


def in_another_process(data, policy):
    """What the function that was pickled gives at 2 there; then with the rule of that process."""
    text = """
        import pickle, sys, warnings
        import thunkad as ad
        warnings.simplefilter("error")
        f = pickle.loads(bytes.fromhex(sys.argv[1]))
        print(f(2.0))
        import test_modules
        ad.rrule(test_modules.of_this_module)(lambda x, n=2.0: (n * x * x, lambda y_bar: (y_bar * 50.0, None)))
        ad.refresh()
        print(f(2.0))
    """
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "THUNKAD_REFRESH": policy}
    command = [sys.executable, "-c", textwrap.dedent(text), data.hex()]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.split()]


@form
def test_r39_copies_and_pickles(policy, form):
    assert ad.grad(decorated)(2.0) == 8.0
    method = functools.partial(ad.grad(Model.energy, argnums=1), Model(3.0))
    rule(of_this_module, 5.0, form)
    root = root_of(decorated)
    before = root.rebuilds
    try:
        assert pickle.loads(pickle.dumps(decorated)) is decorated
        assert copy.deepcopy(decorated) is decorated
        for derivative, _ in by_name():
            assert pickle.loads(pickle.dumps(derivative)) is copy.deepcopy(derivative) is derivative
        # another process has a table of its own
        assert in_another_process(pickle.dumps(ad.grad(decorated)), policy) == [8.0, 50.0]
        assert in_another_process(pickle.dumps(method), policy) == [24.0, 150.0]
        assert root.rebuilds == before
    finally:
        ad.rules.remove(of_this_module)
    assert pickle.loads(pickle.dumps(method))(2.0) == method(2.0) == 24.0


def test_r39_the_names_lead_to_the_derivatives():
    for derivative, expected in by_name():
        found = derivative(2.0)
        assert found == expected, derivative


def test_r39_what_has_no_name_says_so():
    def local(x):
        return x

    unnamed = [local, lambda x: x, Model(3.0).energy, Model(3.0), functools.partial(decorated)]
    for f in unnamed:
        for derivative in (ad.grad(f), ad.grad(ad.grad(f))):
            with pytest.raises((pickle.PicklingError, AttributeError), match=r"grad\("):
                pickle.dumps(derivative)


@form
def test_r39_functions_by_value(policy, form):
    f = without_source("def opaque(x): return x")
    rule(f, 3.0, form)
    ad.grad(f)(2.0)
    again = pickle.loads(pickle.dumps(dict(f.__dict__)))  # as cloudpickle writes a function
    made = types.FunctionType(f.__code__, f.__globals__)
    made.__dict__.update(again)
    assert ad.rules.lookup(made).how == "missing"
    rule(made, 4.0, form)
    assert ad.grad(made)(2.0) == 4.0 and ad.grad(f)(2.0) == 3.0
