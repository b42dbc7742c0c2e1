"""Partial derivatives of special functions that need more than one expression, and the softmax family."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from thunkad.errors import NotImplementedDerivativeError
from thunkad.runtime.arrays import conjugate, expand, is_zero, unbroadcast
from thunkad.tangents import ZERO


def share(a: Any, b: Any) -> Any:
    """``a / b``, zero where ``b`` is zero."""
    flat = np.equal(b, 0)
    return np.where(flat, 0.0, a / np.where(flat, 1.0, b))


def ratio(a: Any, b: Any) -> Any:
    """``a / b``, zero where ``a`` is zero even if ``b`` is."""
    none = np.equal(a, 0)
    return np.where(none, 0.0, a / np.where(none, 1.0, b))


def real_sign(z: Any) -> Any:
    """The sign of a real number; scaled functions of complex numbers are not holomorphic."""
    if np.iscomplexobj(z):
        raise NotImplementedDerivativeError("scaled Bessel functions of complex numbers are not differentiated")
    return np.sign(z)


def half_at_zero(y: Any, x: Any) -> Any:
    """``y / x`` of ``y = j1(x)``, one half at zero."""
    return np.where(np.equal(x, 0), 0.5, share(y, x))


def rgamma_partial(y: Any, z: Any) -> Any:
    """The derivative of ``1 / gamma``; at the poles of gamma it is ``(-1)**n * n!``."""
    pole = np.isrealobj(z) & np.less_equal(np.real(z), 0) & np.equal(np.real(z), np.round(np.real(z)))
    n = np.where(pole, -np.real(z), 0.0)
    return np.where(
        pole, (1 - 2 * (n % 2)) * special.gamma(n + 1), -y * special.psi(np.where(pole, 1.0, z))
    )


def trigamma(z: Any) -> Any:
    """The derivative of the digamma function."""
    if np.iscomplexobj(z):
        raise NotImplementedDerivativeError("the digamma function of complex numbers is not differentiated")
    return special.zeta(2, z)


def log_density_of_beta(a: Any, b: Any, x: Any) -> Any:
    """The logarithm of the density of the beta distribution."""
    return special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b)


def boxcox_growth(y: Any, x: Any, lmbda: Any) -> Any:
    """The derivative of ``y = boxcox(x, lmbda)`` by ``lmbda``."""
    logarithm = np.log(x)
    return np.where(np.equal(lmbda, 0), logarithm**2 / 2, share(np.power(x, lmbda) * logarithm - y, lmbda))


def inverse_boxcox_growth(x: Any, y: Any, lmbda: Any) -> Any:
    """The derivative of ``x = inv_boxcox(y, lmbda)`` by ``lmbda``."""
    inner = share(y / (lmbda * y + 1) - np.log(x), lmbda)
    return x * np.where(np.equal(lmbda, 0), -y * y / 2, inner)


def elliptic_f_growth(y: Any, phi: Any, m: Any) -> Any:
    """The derivative of the incomplete elliptic integral of the first kind by its parameter."""
    sine, cosine = np.sin(phi), np.cos(phi)
    root = np.sqrt(1 - m * sine**2)
    closed = special.ellipeinc(phi, m) / (1 - m) - y - m * sine * cosine / ((1 - m) * root)
    return np.where(np.equal(m, 0), (phi - sine * cosine) / 4, share(closed, 2 * m))


def elliptic_e_growth(y: Any, phi: Any, m: Any) -> Any:
    """The derivative of the incomplete elliptic integral of the second kind by its parameter."""
    at_zero = -(phi - np.sin(phi) * np.cos(phi)) / 4
    return np.where(np.equal(m, 0), at_zero, share(y - special.ellipkinc(phi, m), 2 * m))


def _at_origin(n: Any, sign: float) -> Any:
    """The second derivative at zero of a spherical Bessel function of the first kind."""
    return np.where(np.equal(n, 0), sign / 3, np.where(np.equal(n, 2), 2 / 15, 0.0))


def spherical_curvature(function: Any, n: Any, z: Any) -> Any:
    """The second derivative of a spherical Bessel function."""
    inside = -2 * share(function(n, z, True), z) - function(n, z) * (1 - share(n * (n + 1), np.square(z)))
    return np.where(np.equal(z, 0), _at_origin(n, -1.0), inside)


def modified_curvature(function: Any, n: Any, z: Any) -> Any:
    """The second derivative of a modified spherical Bessel function."""
    inside = -2 * share(function(n, z, True), z) + function(n, z) * (1 + share(n * (n + 1), np.square(z)))
    return np.where(np.equal(z, 0), _at_origin(n, 1.0), inside)


def density_of_t(df: Any, t: Any) -> Any:
    """The density of Student's t distribution."""
    return np.exp(-(df + 1) / 2 * np.log1p(t * t / df)) / (np.sqrt(df) * special.beta(df / 2, 0.5))


def expint_below(n: Any, x: Any) -> Any:
    """``expn(n - 1, x)``, also for ``n = 0``."""
    below = np.exp(-x) * (1 + 1 / x) / x
    return np.where(np.equal(n, 0), below, special.expn(np.maximum(n - 1, 0), x))


def digamma_sum(a: Any, d: int) -> Any:
    """The derivative of ``multigammaln``."""
    return sum(special.psi(a - j / 2) for j in range(d))


# The softmax family


def _weights(y: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """``exp(a - y)``, zero where both are minus infinity."""
    full = expand(y, a, axis, keepdims)
    return np.exp(a - np.where(np.isneginf(np.real(full)), 0, full))


def _parts(y: Any) -> tuple[Any, Any]:
    return y if isinstance(y, tuple) else (y, 1)


def _slope(result: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """``exp(a - y)`` with the sign of the sum."""
    y, sign = _parts(result)
    return _weights(y, a, axis, keepdims) * (sign if np.ndim(sign) == 0 else expand(sign, a, axis, keepdims))


def logsumexp_bar(y_bar: Any, y: Any, a: Any, axis: Any, b: Any, keepdims: Any) -> Any:
    """The cotangent of ``a`` for ``special.logsumexp``."""
    y_bar = _parts(y_bar)[0]
    if is_zero(y_bar):
        return y_bar
    weights = 1.0 if b is None else b
    slope = conjugate(
        _slope(y, np.broadcast_to(a, np.broadcast_shapes(np.shape(a), np.shape(weights))), axis, keepdims)
    )
    return unbroadcast(expand(y_bar, slope, axis, keepdims) * slope * conjugate(weights), a)


def logsumexp_weights_bar(y_bar: Any, y: Any, a: Any, axis: Any, b: Any, keepdims: Any) -> Any:
    """The cotangent of the weights ``b`` for ``special.logsumexp``."""
    y_bar = _parts(y_bar)[0]
    if b is None or is_zero(y_bar):
        return ZERO
    slope = conjugate(_slope(y, np.broadcast_to(a, np.broadcast_shapes(np.shape(a), np.shape(b))), axis, keepdims))
    return unbroadcast(expand(y_bar, slope, axis, keepdims) * slope, b)


def logsumexp_dot(a_dot: Any, b_dot: Any, result: Any, a: Any, axis: Any, b: Any, keepdims: Any) -> Any:
    """The tangent of ``special.logsumexp``."""
    weights = 1.0 if b is None else b
    slope = _slope(result, np.broadcast_to(a, np.broadcast_shapes(np.shape(a), np.shape(weights))), axis, keepdims)
    total: Any = ZERO
    if not is_zero(a_dot):
        total = total + slope * weights * a_dot
    if b is not None and not is_zero(b_dot):
        total = total + slope * b_dot
    if is_zero(total):
        return total
    y_dot = np.sum(total, axis=axis, keepdims=bool(keepdims))
    return (y_dot, ZERO) if isinstance(result, tuple) else y_dot


def softmax_bar(y_bar: Any, y: Any, axis: Any) -> Any:
    """The cotangent of ``x`` for ``y = softmax(x)``; the derivative is symmetric, so the tangent of ``y`` as well."""
    weighted = y_bar * y
    return weighted - y * np.sum(weighted, axis=axis, keepdims=True)


def log_softmax_bar(y_bar: Any, y: Any, axis: Any) -> Any:
    """The cotangent of ``x`` for ``y = log_softmax(x)``."""
    return y_bar - np.exp(y) * np.sum(y_bar, axis=axis, keepdims=True)


def log_softmax_dot(x_dot: Any, y: Any, axis: Any) -> Any:
    """The tangent of ``y = log_softmax(x)``."""
    return x_dot - np.sum(np.exp(y) * x_dot, axis=axis, keepdims=True)
