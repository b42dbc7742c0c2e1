"""Second derivatives of programs of every sort: Hessian-vector products against differences of the gradient."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import thunkad as ad
from thunkad.testing.leaves import leaves

sys.path.insert(0, str(Path(__file__).parent.parent / "forward"))
import forward_programs as programs  # noqa: E402

#: Not asked here: containers, objects and complex numbers as arguments, whole-number arguments only.
LEFT_OUT = {"tuples", "complex numbers"}


def scalar(f, args):
    """A function of the same number of arguments whose result is one number."""
    if isinstance(f(*args), dict):
        if len(args) == 1:
            return lambda x: weighted(f(x)["s"])
    if len(args) == 1:
        return lambda x: weighted(f(x))
    if len(args) == 2:
        return lambda x, y: weighted(f(x, y))
    return lambda x, y, z: weighted(f(x, y, z))


def weighted(y):
    return np.sum(np.sin(y) * y)


def numbers(x):
    parts = [np.ravel(np.asarray(v)) for _, v in leaves(x) if np.asarray(v).dtype.kind == "f"]
    return np.concatenate(parts)


@pytest.mark.parametrize("name", [name for name in programs.PROGRAMS if name not in LEFT_OUT])
def test_hessian_vector_product(name: str) -> None:
    f, args = programs.PROGRAMS[name]
    rng = np.random.default_rng(8)
    moving = tuple(k for k, a in enumerate(args) if np.asarray(a).dtype.kind == "f")
    dots = tuple(rng.normal(size=np.shape(a))[()] if k in moving else None for k, a in enumerate(args))
    total = scalar(f, args)
    gradient = ad.grad(total, moving)
    found = ad.jvp(gradient, args, dots)[1]
    step = 1e-5
    up = gradient(*(a if d is None else a + step * d for a, d in zip(args, dots)))
    down = gradient(*(a if d is None else a - step * d for a, d in zip(args, dots)))
    want = (numbers(up) - numbers(down)) / (2 * step)
    np.testing.assert_allclose(numbers(found), want, rtol=1e-5, atol=1e-6)
