"""How far the compiler looks into code that isn't the user's, and what it says where it gives up."""

from __future__ import annotations

import importlib
import sys
import time

import numpy as np
import pytest

import thunkad as ad
from thunkad.compiled import reach
from thunkad.testing import check_grads

SMALL = """
import numpy as np
from {package}.inner import scaled

def energy(x, steps=3):
    total = 0.0
    for k in range(steps):
        x = scaled(x, k)
        total = total + np.sum(x ** 2)
    return total
"""
INNER = """
import numpy as np

def scaled(x, k):
    return np.tanh(x) * (k + 1.0)
"""


def large(functions: int = 80, statements: int = 30) -> str:
    """A chain of functions that has more statements than there is budget."""
    lines = ["import numpy as np", "def f0(x):", "    return np.sin(x)"]
    for k in range(1, functions):
        lines += [f"def f{k}(x):", *(f"    x = x + 0.01 * np.cos(x * {j}.0)" for j in range(statements // 4))]
        lines += [f"    return f{k - 1}(x)"]
    return "\n".join([*lines, f"def last(x):\n    return f{functions - 1}(x)\n"])


@pytest.fixture
def package(tmp_path, monkeypatch, request):
    """Makes packages, installed ones and the user's own."""
    made = []

    def make(modules: dict[str, str], installed: bool = True):
        root = tmp_path / ("lib/site-packages" if installed else "src")
        name = f"reached_{len(made)}_{abs(hash(request.node.name)) % 10**8}"
        (root / name).mkdir(parents=True)
        for module, text in {"__init__": "", **modules}.items():
            (root / name / f"{module}.py").write_text(text.replace("{package}", name))
        monkeypatch.syspath_prepend(str(root))
        made.append(name)
        return importlib.import_module(f"{name}.main")

    yield make
    for name in [m for m in sys.modules if m.split(".")[0] in made]:
        del sys.modules[name]


# ---------------------------------------------------------------- what is looked into


def test_an_installed_package_is_looked_into_through_its_modules(package):
    main = package({"main": SMALL, "inner": INNER})
    assert reach.is_foreign(main.energy)
    check_grads(lambda x: main.energy(np.sin(x)), np.array([0.3, -0.7, 1.1]))


def test_code_of_ones_own_has_no_budget(package):
    main = package({"main": large()}, installed=False)
    assert not reach.is_foreign(main.last)
    check_grads(lambda x: np.sum(main.last(x)), np.array([0.3, -0.7]))


def test_the_library_itself_is_not_foreign():
    from thunkad.runtime.shapes import matmul_shape

    assert not reach.is_foreign(matmul_shape)
    assert reach.is_foreign(importlib.import_module)


# ---------------------------------------------------------------- what is given up



def test_linprog_is_refused_soon_with_the_users_line():
    scipy_optimize = pytest.importorskip("scipy.optimize")

    def cheapest(a):
        return scipy_optimize.linprog([a, 1.0], bounds=(0, 1)).fun

    start = time.process_time()
    with pytest.raises(ad.NoRuleError) as info:
        ad.grad(cheapest)(1.0)
    assert time.process_time() - start < 5.0
    error = info.value
    line = cheapest.__code__.co_firstlineno + 1
    assert (error.place.filename, error.place.line) == (__file__, line)
    assert error.place.text.strip() == "return scipy_optimize.linprog([a, 1.0], bounds=(0, 1)).fun"
    assert "scipy.optimize.linprog is library code without a rule, and looking inside was given up after" in error.message
    for remedy in ("thunkad.rrule(scipy.optimize.linprog)", "thunkad.non_differentiable(scipy.optimize.linprog)"):
        assert remedy in error.hint


@pytest.mark.parametrize("mode", ["grad", "jvp", "vjp", "linearize", "late"])
def test_what_reaches_too_far_counts_as_one_without_a_rule(package, mode):
    main = package({"main": large()})
    table = {"last": main.last}

    def f(x):
        return np.sum(main.last(x) * x)

    def late(x):
        return np.sum(table["last"](x) * x)

    x = np.array([0.3, 0.5])
    runs = {
        "grad": lambda: ad.grad(f)(x),
        "jvp": lambda: ad.jvp(f, (x,), (x,)),
        "vjp": lambda: ad.vjp(f, x),
        "linearize": lambda: ad.linearize(f, x),
        "late": lambda: ad.grad(late)(x),
    }
    for _ in range(2):  # nothing is kept of the attempt
        with pytest.raises(ad.NoRuleError, match=r"given up after 2\d\d\d statements of \d+ functions") as info:
            runs[mode]()
        rule = "frule" if mode in ("jvp", "linearize") else "rrule"
        assert f"thunkad.{rule}(" in str(info.value) and ".last" in str(info.value)
        if mode != "late":
            assert info.value.place.line == f.__code__.co_firstlineno + 1
            assert info.value.place.text.strip() == "return np.sum(main.last(x) * x)"


def test_a_part_of_what_was_given_up_is_differentiated(package):
    main = package({"main": large()})
    with pytest.raises(ad.NoRuleError):
        ad.grad(lambda x: main.last(x))(0.3)
    check_grads(lambda x: main.f20(x), 0.3)
    check_grads(lambda x: main.f19(x) + main.f2(x), 0.3)


@pytest.mark.parametrize("how", ["rrule", "non_differentiable", "inner"])
def test_a_rule_heals(package, how):
    main = package({"main": large()})

    def f(x):
        return main.last(x) * 2.0

    gradient = ad.grad(f)
    with pytest.raises(ad.NoRuleError):
        gradient(0.3)
    expected = (f(0.3 + 1e-6) - f(0.3 - 1e-6)) / 2e-6
    if how == "rrule":

        @ad.rrule(main.last)
        def _(x):
            return main.last(x), lambda y_bar: (y_bar * expected / 2.0,)

    elif how == "non_differentiable":
        ad.non_differentiable(main.last)
        expected = 0.0
    else:  # of a function on the way

        @ad.rrule(main.f60)
        def _(x):
            slope = (main.f60(x + 1e-6) - main.f60(x - 1e-6)) / 2e-6
            return main.f60(x), lambda y_bar: (y_bar * slope,)

    np.testing.assert_allclose(gradient(0.3), expected, rtol=1e-5)


# ---------------------------------------------------------------- calls that nothing differentiated goes into


def test_a_call_with_nothing_differentiated_in_it_runs_as_it_stands(package):
    main = package({"main": large()})
    y = np.array([0.3, 0.5])
    check_grads(lambda x: np.sum(x * main.last(y)), np.array([1.0, 2.0]))


@pytest.mark.parametrize("run", [ad.grad, lambda f: lambda x, y: ad.jvp(f, (x, y), (x, y))])
def test_it_must_not_write_into_arrays(package, run):
    main = package({"main": large() + "\ndef scramble(y):\n    y[:] = last(y)\n"})

    def f(x, y):
        y = np.round(y)
        z = x * y
        main.scramble(y)
        return np.sum(z * z)

    with pytest.raises(ad.UnsupportedSyntaxError, match="scramble, library code .* changes an array") as info:
        run(f)(np.array([1.0, 2.0]), np.array([0.3, 0.5]))
    assert f"line {f.__code__.co_firstlineno + 3}" in "".join(getattr(info.value, "__notes__", ()))


def test_each_call_has_a_budget_of_its_own(package):
    main = package({"main": large(40)})
    y = 0.5
    check_grads(lambda x: main.f38(x) * main.f39(y) + main.f37(x), 0.3)


# ---------------------------------------------------------------- recursion that builds something up


def test_a_recursion_that_builds_tuples_ends():
    def build(t, k):
        return t[0] if k == 0 else build((t[0] * 2.0, t), k - 1)

    assert ad.grad(lambda x: build((x, 1.0), 20) ** 2)(0.5) == 2 * 0.5 * 2.0**40


def test_a_recursion_that_builds_functions_ends():
    def build(f, k, x):
        return f(x) if k == 0 else build(lambda y: f(y) * x, k - 1, x)

    assert ad.grad(lambda x: build(lambda y: y, 4, x))(2.0) == 5 * 2.0**4


def test_a_recursion_that_adds_axes_ends():
    def build(x, k):
        return np.sum(x**2) if k == 0 else build(x[None] * 2.0, k - 1)

    x = np.array([1.0, 3.0])
    np.testing.assert_allclose(ad.grad(lambda x: build(x, 20))(x), 2 * x * 4.0**20)


def test_a_recursion_into_a_structure_stays_exact():
    def total(t):
        return t if isinstance(t, float) else total(t[0]) * t[1]

    tree = (0.5, 2.0)
    for k in range(12):
        tree = (tree, k + 1.0)
    gradient = ad.grad(total)(tree)
    for _ in range(12):
        gradient = gradient[0]
    expected = total(tree) / 0.5
    np.testing.assert_allclose(gradient[0], expected)
