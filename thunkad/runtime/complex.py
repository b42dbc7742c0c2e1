"""Cotangents and tangents of functions of complex numbers that are not holomorphic; zero at the origin."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.tangents import ZERO, AbstractZero, Tangent, Thunk, unthunk


def real_part(t: Any) -> Any:
    """The real part; a real ``t`` itself."""
    if isinstance(t, (float, int, AbstractZero)):
        return t
    return np.real(t) if np.iscomplexobj(t) else t


def real_when_read(t: Any) -> Any:
    """The real part, of a thunk when it is forced."""
    return Thunk(lambda: real_part(unthunk(t))) if isinstance(t, Thunk) else real_part(t)


def field_of_result(y: Any) -> Any:
    """What :func:`in_field_of` asks of a result, in place of the result: a number, in containers for each entry."""
    if isinstance(y, (tuple, list)):
        return [field_of_result(v) for v in y]
    if isinstance(y, dict):
        return {k: field_of_result(v) for k, v in y.items()}
    if isinstance(y, (np.ndarray, np.generic)):
        return 1j if y.dtype.kind == "c" else 1.0
    return y


def is_real_number(x: Any) -> bool:
    """Whether ``x`` is a real floating-point number, or an array of these."""
    return isinstance(x, float) or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind == "f")


def in_field_of(t: Any, x: Any) -> Any:
    """``t``, without its imaginary part where ``x`` is real; entry by entry in containers, a thunk as it is."""
    cls = type(t)
    if cls is float or isinstance(t, (AbstractZero, Thunk)) or (cls is np.ndarray and t.dtype.kind == "f"):
        return t
    if isinstance(x, (tuple, list)) and isinstance(t, (tuple, list)) and len(t) == len(x):
        return type(t)(map(in_field_of, t, x)) if cls in (tuple, list) else t
    if isinstance(x, dict) and isinstance(t, dict):
        return {k: in_field_of(v, x.get(k, v)) for k, v in t.items()}
    if isinstance(t, Tangent):
        return Tangent(t.cls, {k: in_field_of(v, getattr(x, k, v)) for k, v in t.fields.items()})
    return t if np.iscomplexobj(x) else real_part(t)


def real_product(a: Any, b: Any) -> Any:
    """``Re(conj(a) · b)``, the product where both are real."""
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        return np.real(np.conjugate(a) * b)
    return a * b


def real_product_dot(a: Any, b: Any, a_dot: Any, b_dot: Any) -> Any:
    """The tangent of :func:`real_product`."""
    from_a = a_dot if isinstance(a_dot, AbstractZero) else real_product(a_dot, b)
    from_b = b_dot if isinstance(b_dot, AbstractZero) else real_product(a, b_dot)
    return from_a + from_b


def sign_bar(y_bar: Any, y: Any, x: Any) -> Any:
    """The cotangent of what ``y = np.sign(x)`` takes: zero for real numbers; ``x / |x|`` turns with ``x``."""
    if not np.iscomplexobj(x):
        return ZERO
    return np.where(x == 0, 0, (y_bar - y * real_product(y, y_bar)) / _nonzero_modulus(x))


def sign_dot(y: Any, x: Any, x_dot: Any) -> Any:
    """The tangent of ``y = np.sign(x)``: the same linear map as its transpose."""
    return sign_bar(x_dot, y, x)


def angle_bar(y_bar: Any, z: Any, deg: Any = False) -> Any:
    """The cotangent of what ``np.angle`` takes; zero at the origin."""
    r = _nonzero_modulus(z)
    turned = 1j * (z / r) / r * real_part(y_bar)
    return turned * (180 / np.pi) if deg else turned


def angle_dot(z: Any, z_dot: Any, deg: Any = False) -> Any:
    """The tangent of ``np.angle``; zero at the origin."""
    r = _nonzero_modulus(z)
    turned = np.imag(np.conjugate(z / r) * z_dot) / r
    return turned * (180 / np.pi) if deg else turned


def _nonzero_modulus(z: Any) -> Any:
    r = np.abs(z)
    return np.where(r == 0, 1.0, r)
