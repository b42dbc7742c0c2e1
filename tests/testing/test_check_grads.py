"""check_grads against stand-ins for the derivatives, some of them wrong."""

import numpy as np
import pytest

import thunkad
from thunkad.testing import CheckError, check_grads

X = np.array([0.3, -0.4, 0.9])


def energy(x, scale, name="plain"):
    return scale * np.sum(x**3)


def install(monkeypatch, factor=1.0, forward_factor=1.0, shift=0.0):
    """Derivatives of ``energy`` by hand; a gradient's own are taken to be those of ``3 scale x²``."""

    def vjp(f, *args):
        x, scale = args[:2]
        if f is energy:
            return energy(*args) + shift, lambda s: (factor * s * 3 * scale * x**2, s * np.sum(x**3), None)
        return f(*args), lambda s: (factor * 6 * scale * x * s[0], np.sum(3 * x**2 * s[0]), None)

    def jvp(f, primals, tangents):
        x, scale = primals[:2]
        x_dot, scale_dot = (0.0 if isinstance(t, thunkad.tangents.ZeroTangent) else t for t in tangents[:2])
        if f is energy:
            return f(*primals), forward_factor * np.sum(3 * scale * x**2 * x_dot) + np.sum(x**3) * scale_dot
        return f(*primals), (6 * scale * x * x_dot + 3 * x**2 * scale_dot,)

    monkeypatch.setattr(thunkad, "vjp", vjp, raising=False)
    monkeypatch.setattr(thunkad, "jvp", jvp, raising=False)
    monkeypatch.setattr(thunkad, "grad", lambda f, argnums: lambda x, scale: (3 * scale * x**2,), raising=False)


def test_right_derivatives_pass(monkeypatch):
    install(monkeypatch)
    check_grads(energy, X, 0.5, "plain")
    check_grads(energy, X, 0.5, argnums=0, order=2)


@pytest.mark.parametrize(
    "message, wrong",
    [
        ("cotangent of argument 0", {"factor": 1.01}),
        ("tangent of the result", {"forward_factor": 1.01}),
        ("the value", {"shift": 0.1}),
    ],
)
def test_wrong_derivatives_are_found(monkeypatch, message, wrong):
    install(monkeypatch, **wrong)
    with pytest.raises(CheckError, match=message) as error:
        check_grads(energy, X, 0.5)
    assert "energy" in str(error.value)


def test_only_the_chosen_arguments_are_checked(monkeypatch):
    install(monkeypatch, factor=1.01)
    check_grads(energy, X, 0.5, argnums=1)
