"""The main paths from end to end, on every supported Python."""

from __future__ import annotations

import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import thunkad as ad

ROOT = Path(__file__).parent.parent.parent


def loss(w, b, x, y):
    p = 1 / (1 + np.exp(-(x @ w + b)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def piecewise(x, limit):
    total = 0.0
    for k, v in enumerate(x):
        if v > limit:
            total += v * v * k
            continue
        while v < limit:
            v = v + 1.0
        total -= v
    return total


def arguments():
    rng = np.random.default_rng(0)
    return rng.standard_normal(3), 0.2, rng.standard_normal((8, 3)), rng.integers(0, 2, 8)


def expected(w, b, x, y):
    error = (1 / (1 + np.exp(-(x @ w + b))) - y) / len(y)
    return x.T @ error, error.sum()


def test_gradients_of_a_loss() -> None:
    w_bar, b_bar = ad.grad(loss, argnums=(0, 1))(*arguments())
    np.testing.assert_allclose(w_bar, expected(*arguments())[0])
    np.testing.assert_allclose(b_bar, expected(*arguments())[1])


def test_value_and_gradient_by_name() -> None:
    value, b_bar = ad.value_and_grad(loss, argnames="b")(*arguments())
    np.testing.assert_allclose(value, loss(*arguments()))
    np.testing.assert_allclose(b_bar, expected(*arguments())[1])


def test_a_pullback() -> None:
    value, pullback = ad.vjp(loss, *arguments())
    cotangents = pullback(2.0)
    assert len(cotangents) == 4
    np.testing.assert_allclose(value, loss(*arguments()))
    np.testing.assert_allclose(cotangents[0], 2 * expected(*arguments())[0])


def test_control_flow() -> None:
    x = np.array([-1.5, 0.75, 2.0, 3.0])
    np.testing.assert_allclose(ad.grad(piecewise)(x, 1.0), [-1.0, -1.0, 8.0, 18.0])


def test_a_lambda_among_others_on_a_line() -> None:
    pair = (lambda x: x * 2.0), (lambda x: x * 3.0)
    assert [ad.grad(f)(1.0) for f in pair] == [2.0, 3.0]


def test_the_generated_source_runs_as_a_module() -> None:
    source = ad.adjoint_source(loss, argnums=(0, 1))
    names: dict = {}
    exec(compile(source, "<generated>", "exec"), names)
    w_bar, b_bar = names["loss_grad"](*arguments())
    np.testing.assert_allclose(w_bar, expected(*arguments())[0])
    np.testing.assert_allclose(b_bar, expected(*arguments())[1])


def test_an_error_keeps_its_type_and_names_the_line() -> None:
    def misfit(x):
        scaled = x * 2.0
        return np.sum(scaled @ np.ones(3))

    with pytest.raises(ValueError) as caught:
        ad.grad(misfit)(np.ones(2))
    shown = "".join(traceback.format_exception(caught.type, caught.value, caught.tb))
    assert f"line {misfit.__code__.co_firstlineno + 2}" in shown
    assert "np.sum(scaled @ np.ones(3))" in shown


def test_nothing_warns(tmp_path: Path) -> None:
    """Neither the import nor a first derivative, which loads gast and astor."""
    script = tmp_path / "script.py"
    script.write_text("import thunkad as ad\ndef f(x):\n    return x * x\nprint(ad.grad(f)(3.0))\n")
    done = subprocess.run([sys.executable, "-W", "error", str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout) == 6.0


@pytest.mark.parametrize("example", ["robust_regression", "matrix_chain", "refresh"])
def test_an_example(example: str) -> None:
    """Scripts in processes of their own: two of them change the rule table."""
    script = ROOT / "examples" / f"{example}.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
