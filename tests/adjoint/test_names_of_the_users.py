"""What the user calls things changes nothing: names that the compiler would choose or import, bound to something else."""

import ast
import itertools
import linecache

import numpy as np
import pytest

import thunkad as ad
from thunkad.inspection import adjoint_source
from thunkad.tangents import unthunk

A = np.array([0.5, -1.25, 2.0])
_count = itertools.count()

# Names that generated code binds or imports; those in the tests below stand for locals, parameters and globals.
GENERATED = (
    "t1 t2 x_bar y_bar value_bar pullback shared shared_thunk x_entry x_entry_thunk saved kept step step_1 _ k stop stop_1 "
    "returned result zeros unbroadcast expand stretch project project_copy scalar_seed accumulate unthunk dense own entry "
    "index_add broadcast np_1 pull add mul reversed enumerate len LazyTuple Thunk seed_of partial Unbound ZERO shadows "
    "f_grad f_vjp helper_forward_x helper_reverse_x t1_saved h_1 x_1 sum zip"
).split()

PROGRAMS = {
    "straight": "def f(x, n):\n    NAME = x * x\n    return np.sum(np.sin(NAME) * x[0] + NAME ** 2)\n",
    "loop": (
        "def f(x, n):\n    NAME = x\n    for i in range(n):\n        NAME = np.tanh(NAME) * x\n"
        "    return np.sum(NAME)\n"
    ),
    "target": "def f(x, n):\n    h = 0.0\n    for NAME in x:\n        h = h + NAME * NAME\n    return h\n",
    "leaves": (
        "def f(x, n):\n    NAME = 1.0\n    for v in x:\n        if v > 1.0:\n            break\n"
        "        NAME = NAME * v\n        if NAME > 100.0:\n            return NAME * 2.0\n    return NAME * x[1]\n"
    ),
    "branch": "def f(x, n):\n    if n > 2:\n        NAME = x * x\n    else:\n        NAME = x\n    return np.sum(NAME * x)\n",
    "callee": (
        "def helper(x, factor):\n    NAME = np.exp(x)\n    return NAME * factor * x\n\n"
        "def f(x, n):\n    NAME = helper(x, 2.0)\n    return np.sum(NAME * helper(x, 3.0))\n"
    ),
    "closure": "def f(x, n):\n    NAME = x * 2.0\n    g = lambda v: v * NAME\n    return np.sum(g(x) + g(NAME))\n",
    "containers": "def f(x, n):\n    NAME = [x * k0 for k0 in (1.0, 2.0)]\n    return np.sum(NAME[0] * NAME[1])\n",
    "parameter": "def f(NAME, n):\n    y = NAME * NAME[0]\n    for i in range(n):\n        y = y * NAME\n    return np.sum(y)\n",
    "global": "NAME = 3.0\ndef f(x, n):\n    y = x\n    for i in range(n):\n        y = y * x * NAME\n    return np.sum(y)\n",
    "global function": "def NAME(v):\n    return v * v\n\ndef f(x, n):\n    return np.sum(NAME(x) * x) + NAME(x[0])\n",
}


def made(program, name):
    text = program.replace("NAME", name)
    filename = f"<names {next(_count)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"np": np, "__name__": "program_with_names"}
    exec(compile(text, filename, "exec", dont_inherit=True), namespace)
    return namespace["f"]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_generated_names(program):
    plain = made(program, "plain_name")
    expected = ad.grad(plain)(A, 3)
    for name in GENERATED:
        f = made(program, name)
        np.testing.assert_array_equal(ad.grad(f)(A, 3), expected, err_msg=name)
        if not any(part in name for part in ("bar", "pull", "shared", "entry", "saved", "Thunk", "Lazy", "seed", "f_")):
            continue  # a pullback adds these alone
        value, pullback = ad.vjp(f, A, 3)
        np.testing.assert_array_equal(unthunk(pullback(1.0)[0]), expected, err_msg=name)
        assert value == plain(A, 3)


def test_np_may_be_anything():
    import math

    source = "def f(x):\n    return np.sin(x) * x + helper(x)\n\ndef helper(x):\n    return x * np.cos(x)\n"
    namespace = {"np": math}
    filename = f"<names {next(_count)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), namespace)
    x = 0.75
    expected = math.cos(x) * x + math.sin(x) + math.cos(x) - x * math.sin(x)
    assert ad.grad(namespace["f"])(x) == pytest.approx(expected, rel=1e-14)


def test_np_may_be_a_local():
    def f(x):
        np = x * x  # noqa: N806
        return abs(np) * np

    def g(np):
        return np**3

    assert ad.grad(f)(2.0) == 32.0 and ad.grad(g)(2.0) == 12.0


def test_underscore_keeps_its_last_value():
    def f(x):
        _ = 0.0
        for _ in x:
            pass
        a, _, b = x
        return a * _ * b

    np.testing.assert_array_equal(ad.grad(f)(A), [A[1] * A[2], A[0] * A[2], A[0] * A[1]])


# What a slice must not hold ------------------------------------------------------------------------------------------


def loss(w, b, x, y):
    p = 1 / (1 + np.exp(-(x @ w + b)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def code_of(text):
    """Without comments."""
    return "\n".join(line for line in text.splitlines() if not line.strip().startswith("#"))


def needed_for(text, name):
    """The statements of the function that its result depends on, and all of them."""
    (function,) = [d for d in ast.parse(text).body if isinstance(d, ast.FunctionDef) and d.name == name]
    needed, serving = set(), []
    body = [s for s in function.body if not isinstance(s, ast.Delete)]
    for s in reversed(body):
        targets = {x.id for x in ast.walk(s) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
        if isinstance(s, ast.Return) or targets & needed:
            serving.append(s)
            needed |= {x.id for x in ast.walk(s) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}
    return serving, body


def test_the_gradient_for_one_argument_computes_nothing_else():
    x, y = np.ones((4, 3)), np.array([0.0, 1.0, 1.0, 0.0])
    text = code_of(adjoint_source(loss, argnames="w", args=(A, 0.5, x, y)))
    serving, body = needed_for(text, "loss_grad")
    assert len(serving) == len(body)
    assert "b_bar" not in text and "y_bar" not in text and "x_bar" not in text
    assert "np.log" not in text and "np.mean" not in text  # of the value only their shapes are left
    both = code_of(adjoint_source(loss, argnames=("w", "b"), args=(A, 0.5, x, y)))
    assert "b_bar" in both and len(both.splitlines()) > len(text.splitlines())


def test_the_gradient_for_one_argument_keeps_no_matrix_product_for_another():
    text = code_of(adjoint_source(loss, argnames="b", args=(A, 0.5, np.ones((4, 3)), np.zeros(4))))
    assert "w_bar" not in text and text.count("@") + text.count("matmul") == 1  # the primal's own
