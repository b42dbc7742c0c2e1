"""The printed derivative is a module of its own, the same in every process, and finds the right specialization."""

import linecache
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import source_programs as programs

import thunkad as ad
from thunkad.inspection import adjoint_source
from thunkad.tangents import unthunk

HERE = Path(__file__).parent


def run(text):
    name = f"<printed {len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)  # functions made here may be looked into
    namespace = {}
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    return namespace


def entry_of(namespace, end):
    (name,) = [k for k in namespace if k.endswith(end)]
    return namespace[name]


def complete(f, args):
    """The arguments with defaults, since printed functions have none, and ``*args`` as a tuple."""
    import inspect

    bound = inspect.signature(f).bind(*args)
    bound.apply_defaults()
    return tuple(bound.arguments.values())


def assert_same(a, b):
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for k in a:
            assert_same(a[k], b[k])
    elif isinstance(a, (tuple, list)):
        assert type(a) is type(b) and len(a) == len(b)
        for x, y in zip(a, b):
            assert_same(x, y)
    else:
        np.testing.assert_array_equal(unthunk(a), unthunk(b))


@pytest.mark.parametrize("f, args", programs.PROGRAMS, ids=lambda x: getattr(x, "__name__", None))
def test_the_text_runs_by_itself(f, args):
    text = adjoint_source(f, args=args)
    assert "must be defined here" not in text
    assert_same(entry_of(run(text), "_grad")(*complete(f, args)), ad.grad(f)(*args))


@pytest.mark.parametrize("f, args", programs.PROGRAMS, ids=lambda x: getattr(x, "__name__", None))
def test_the_text_of_a_pullback_runs_by_itself(f, args):
    value, pullback = ad.vjp(f, *args)
    other, printed = entry_of(run(adjoint_source(f, mode="vjp", args=args)), "_vjp")(*complete(f, args))
    assert_same(value, other)
    assert_same(unthunk(pullback(1.0)[0]), unthunk(printed(1.0)[0]))


@pytest.mark.parametrize("f, args", programs.PROGRAMS, ids=lambda x: getattr(x, "__name__", None))
def test_the_text_of_a_forward_derivative_runs_by_itself(f, args):
    x = args[0]
    if not isinstance(x, (float, np.ndarray)):
        pytest.skip("the direction is an array or a number")
    dot = np.ones_like(x) if isinstance(x, np.ndarray) else 1.0
    try:
        value, value_dot = ad.jvp(f, args, (dot, *(None for _ in args[1:])))
    except ad.UnsupportedSyntaxError:
        assert f is programs.mapped  # map() of a function made here may be refused in forward mode
        return
    found = entry_of(run(adjoint_source(f, mode="jvp", args=args)), "_jvp")(*complete(f, args), dot)
    assert_same(value, found[0])
    assert_same(value_dot, found[1])


def test_value_and_gradient():
    text = adjoint_source(programs.straight, argnums=(0, 1), mode="value_and_grad", args=(programs.A, programs.A))
    found = run(text)["straight_value_and_grad"](programs.A, programs.A)
    assert_same(found, ad.value_and_grad(programs.straight, argnums=(0, 1))(programs.A, programs.A))


def test_the_text_is_the_same_in_every_process():
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
        "import source_programs as p\nfrom thunkad.inspection import adjoint_source\n"
        "for f, args in p.PROGRAMS:\n"
        "    for mode in ('grad', 'vjp'):\n"
        "        print(adjoint_source(f, mode=mode, args=args))\n"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True, text=True
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert texts[0] and texts[0] == texts[1] == texts[2]


def test_without_arguments_it_is_the_one_last_used():
    def f(x):
        return np.sum(x * x)

    generic = adjoint_source(f)
    assert "scalar_seed" in generic  # nothing is known of x, so the result may be anything
    ad.grad(f)(2.0)
    of_float = adjoint_source(f)
    ad.grad(f)(programs.A)
    of_array = adjoint_source(f)
    assert of_float == adjoint_source(f, args=(2.0,)) != of_array == adjoint_source(f, args=(programs.A,))
    ad.grad(f)(2.0)
    assert adjoint_source(f) == of_float


def test_looking_pins_no_rules():
    def g(x):
        return x * 3.0

    def f(x):
        return g(x)

    assert "3.0" in adjoint_source(f, args=(1.0,))

    @ad.rrule(g)
    def _(x):
        return x * 3.0, lambda y_bar: (y_bar * 7.0,)

    assert ad.grad(f)(1.0) == 7.0


def test_callees_of_other_modules_keep_their_globals():
    import types

    other = types.ModuleType("other_module_of_a_test")
    other.SCALE = 10.0
    path = HERE / "other_scale.py"
    sys.path.insert(0, str(HERE))
    try:
        import other_scale
    finally:
        sys.path.remove(str(HERE))
    assert path.exists()

    def f(x):
        return other_scale.scaled(x) * programs.SCALE

    text = adjoint_source(f, args=(2.0,))
    assert entry_of(run(text), "_grad")(2.0) == ad.grad(f)(2.0) == 2 * 2.0 * other_scale.SCALE * programs.SCALE


def test_captured_values_become_assignments():
    c = 4.0
    table = np.array([1.0, 2.0])

    def f(x):
        return np.sum(x * table) * c

    text = adjoint_source(f, args=(programs.A[:2],))
    assert "c = 4.0" in text
    assert_same(run(text)["f_grad"](programs.A[:2]), ad.grad(f)(programs.A[:2]))


def test_lines_of_the_adjoint_stand_under_the_line_that_they_differentiate():
    text = adjoint_source(programs.straight, args=(programs.A, programs.A))
    lines = [line.strip() for line in text.splitlines()]
    mark = next(k for k, line in enumerate(lines) if line.startswith("# line") and line.endswith("a = x * y"))
    assert any("a_bar" in line for line in lines[mark + 1 :])
    assert not any("a_bar *" in line for line in lines[:mark])


def test_methods_and_partials():
    import functools

    class Model:
        scale = 3.0

        @ad.differentiable
        def energy(self, x):
            return self.scale * x * x

    model = Model()
    assert "x_bar" in adjoint_source(model.energy, args=(2.0,))
    assert "x_bar" in model.energy.__func__.adjoint_source(argnames="x", args=(model, 2.0))
    assert "y_bar" in adjoint_source(functools.partial(programs.straight, programs.A), args=(programs.A,))


def test_library_functions():
    assert "cos" in adjoint_source(np.sin)
    assert run(adjoint_source(np.sin, args=(1.0,)))["sin_grad"](1.0) == ad.grad(np.sin)(1.0)


def test_an_unknown_mode_is_refused():
    with pytest.raises(ad.ArgumentError, match="sideways"):
        adjoint_source(programs.straight, mode="sideways")


def test_checkpoints():
    for f in (programs.looped, programs.checkpointed, programs.checkpointed_at_run_time):
        x = np.arange(3.0)
        for mode in ("grad", "vjp", "jvp"):
            assert "def " in adjoint_source(f, mode=mode)
        found = entry_of(run(adjoint_source(f, args=(x,))), "_grad")(x)
        np.testing.assert_array_equal(found, ad.grad(f)(x))
