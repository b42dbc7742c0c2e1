"""What the rules of ``scipy.fft`` compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import fft

from thunkad.errors import NotImplementedDerivativeError
from thunkad.runtime.complex import real_part
from thunkad.runtime.shaped import shape_only
from thunkad.runtime.spectra import fitted, swapped

#: The type of the transform that the adjoint of one of a type is, but for the weights of some entries.
_ADJOINT = {1: 1, 2: 3, 3: 2, 4: 4}
_INVERSES = {fft.idct: fft.dct, fft.idst: fft.dst}


@shape_only("x")
def trigonometric_bar(
    y_bar: Any, x: Any, function: Callable[..., Any], type: int, axis: int, norm: str | None, orthogonalize: bool | None
) -> Any:
    """The cotangent of ``x`` in ``y = function(x, type, n, axis, norm)``, a cosine or sine transform or its inverse.

    From the definitions of the transforms in SciPy's manual: with ``orthogonalize`` the matrix of each type is that of
    another type transposed.  Without it that holds once every entry that a sum counts once, where it counts the others
    twice, has the weight 2.
    """
    ortho = norm == "ortho"
    orthogonalize = ortho if orthogonalize is None else orthogonalize
    if not np.iscomplexobj(x):
        y_bar = real_part(y_bar)
    elif orthogonalize != ortho:  # some releases of SciPy leave it out of account for complex numbers
        raise NotImplementedDerivativeError(
            "cosine and sine transforms of complex numbers have derivatives with the default orthogonalize= only; "
            "transform the real and the imaginary part"
        )
    if function in _INVERSES:  # the transform of the adjoint type, scaled as by the other norm
        function, type, norm = _INVERSES[function], _ADJOINT[type], swapped(norm)
    if orthogonalize:
        return fitted(function(y_bar, _ADJOINT[type], axis=axis, norm=norm, orthogonalize=True), x, (axis,))
    once = _counted_once(function, type)
    weighted = _scaled(y_bar, once if type in (1, 2) else (), axis, 2.0)
    spectrum = function(weighted, _ADJOINT[type], axis=axis, norm=norm, orthogonalize=False)
    return fitted(_scaled(spectrum, once if type in (1, 3) else (), axis, 0.5), x, (axis,))


def _counted_once(function: Any, type: int) -> tuple[int, ...]:
    """The places that a transform and its adjoint count once."""
    if type == 4:
        return ()
    if function is fft.dst:
        return () if type == 1 else (-1,)
    return (0, -1) if type == 1 else (0,)


def _scaled(x: Any, places: tuple[int, ...], axis: int, factor: float) -> Any:
    if not places:
        return x
    weights = np.ones(np.shape(x)[axis], np.asarray(x).real.dtype)
    weights[list(places)] = factor
    return x * weights.reshape([-1 if k == axis % np.ndim(x) else 1 for k in range(np.ndim(x))])


def all_axes(x: Any, s: Any, axes: Any) -> list[tuple[int, int | None]]:
    """The axes that a transform of several axes goes along, each with the length that it is brought to."""
    if axes is None:
        axes = range(np.ndim(x)) if s is None else range(np.ndim(x) - len(s), np.ndim(x))
    axes = [axes] if np.ndim(axes) == 0 else list(axes)
    return list(zip(axes, [None] * len(axes) if s is None else list(s)))
