"""``scipy.fft``: like ``np.fft``, and the cosine and sine transforms, all of them linear.

The transforms of several axes at once are those of one axis after the other where SciPy has them so.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import fft

from thunkad.kinds.casts import any_number
from thunkad.kinds.results import RESULT_KINDS, call
from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.linear import linear
from thunkad.rules.refused import refuse
from thunkad.rules.scipy.fourier_helpers import all_axes, trigonometric_bar
from thunkad.runtime.spectra import fft_bar, fftn_bar, hfft_bar, ihfft_bar, irfft_bar, irfftn_bar, rfft_bar, rfftn_bar
from thunkad.tangents import NoTangent, thunk

linear(trigonometric_bar)
for _name in "fft ifft rfft irfft hfft ihfft fftn ifftn rfftn irfftn".split():
    RESULT_KINDS[getattr(fft, _name)] = partial(call, getattr(np.fft, _name))
RESULT_KINDS.update(dict.fromkeys((fft.dct, fft.idct, fft.dst, fft.idst), any_number))
non_differentiable(fft.fftfreq, fft.rfftfreq, fft.next_fast_len, fft.prev_fast_len, fft.get_workers, all_axes)
refuse(
    "no derivative of this transform is written down yet; np.fft.hfft and ihfft along each axis are differentiated",
    fft.hfft2, fft.hfftn, fft.ihfft2, fft.ihfftn,
)  # fmt: skip
refuse("no derivative of the Hankel transform is written down yet; write a rule with thunkad.rrule", fft.fht, fft.ifht)


def complex_transform(function: Any, inverse: Any) -> None:
    @rrule(function)
    def _(x, n=None, axis=-1, norm=None, *, workers=None):
        y = function(x, n=n, axis=axis, norm=norm, workers=workers)

        def pullback(y_bar):
            return (
                thunk(lambda: fft_bar(y_bar, x, inverse, axis, norm)),
                NoTangent(),
                NoTangent(),
                NoTangent(),
            )

        return y, pullback


def to_half_spectrum(function: Any, bar: Any) -> None:
    @rrule(function)
    def _(x, n=None, axis=-1, norm=None, *, workers=None):
        y = function(x, n=n, axis=axis, norm=norm, workers=workers)

        def pullback(y_bar):
            return (
                thunk(lambda: bar(y_bar, x, n, axis, norm)),
                NoTangent(),
                NoTangent(),
                NoTangent(),
            )

        return y, pullback


def from_half_spectrum(function: Any, bar: Any) -> None:
    @rrule(function)
    def _(x, n=None, axis=-1, norm=None, *, workers=None):
        y = function(x, n=n, axis=axis, norm=norm, workers=workers)

        def pullback(y_bar):
            return (
                thunk(lambda: bar(y_bar, x, axis, norm)),
                NoTangent(),
                NoTangent(),
                NoTangent(),
            )

        return y, pullback


def along_one(function: Any) -> None:
    """The forward rule, and calls that allow the operand, of which pullbacks of others may read, to be overwritten."""

    @alternative(function, keywords=("overwrite_x",))
    def call(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
        return function(x, n, axis, norm, workers=workers)

    @frule(function)
    def _(x, n=None, axis=-1, norm=None, *, workers=None, x_dot):
        y = function(x, n=n, axis=axis, norm=norm, workers=workers)
        return y, function(x_dot, n=n, axis=axis, norm=norm, workers=workers)


complex_transform(fft.fft, fft.ifft)
complex_transform(fft.ifft, fft.fft)
to_half_spectrum(fft.rfft, rfft_bar)
to_half_spectrum(fft.ihfft, ihfft_bar)
from_half_spectrum(fft.irfft, irfft_bar)
from_half_spectrum(fft.hfft, hfft_bar)
for _function in (fft.fft, fft.ifft, fft.rfft, fft.irfft, fft.hfft, fft.ihfft):
    along_one(_function)


def of_planes(function: Any, general: Any) -> None:
    @alternative(function)
    def planes(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None):
        return general(x, s=s, axes=axes, norm=norm, workers=workers)


def complex_of_axes(function: Any, inverse: Any) -> None:
    @rrule(function)
    def _(x, s=None, axes=None, norm=None, *, workers=None):
        y = function(x, s=s, axes=axes, norm=norm, workers=workers)

        def pullback(y_bar):
            return (
                thunk(lambda: fftn_bar(y_bar, x, inverse, s, axes, norm)),
                NoTangent(),
                NoTangent(),
                NoTangent(),
            )

        return y, pullback


def real_of_axes(function: Any, bar: Any) -> None:
    @rrule(function)
    def _(x, s=None, axes=None, norm=None, *, workers=None):
        y = function(x, s=s, axes=axes, norm=norm, workers=workers)

        def pullback(y_bar):
            return (
                thunk(lambda: bar(y_bar, x, s, axes, norm)),
                NoTangent(),
                NoTangent(),
                NoTangent(),
            )

        return y, pullback


def along_some(function: Any) -> None:
    @alternative(function, keywords=("overwrite_x",))
    def call(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
        return function(x, s, axes, norm, workers=workers)

    @frule(function)
    def _(x, s=None, axes=None, norm=None, *, workers=None, x_dot):
        y = function(x, s=s, axes=axes, norm=norm, workers=workers)
        return y, function(x_dot, s=s, axes=axes, norm=norm, workers=workers)


complex_of_axes(fft.fftn, fft.ifftn)
complex_of_axes(fft.ifftn, fft.fftn)
real_of_axes(fft.rfftn, rfftn_bar)
real_of_axes(fft.irfftn, irfftn_bar)
for _function, _planes in (
    (fft.fftn, fft.fft2),
    (fft.ifftn, fft.ifft2),
    (fft.rfftn, fft.rfft2),
    (fft.irfftn, fft.irfft2),
):
    along_some(_function)
    of_planes(_planes, _function)


@alternative(fft.fftshift)
def fftshift(x, axes=None):
    return np.fft.fftshift(x, axes)


@alternative(fft.ifftshift)
def ifftshift(x, axes=None):
    return np.fft.ifftshift(x, axes)


def trigonometric(function: Any) -> None:
    """A cosine or sine transform along one axis."""

    @alternative(function, keywords=("overwrite_x",))
    def call(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
        return function(x, type, n, axis, norm, workers=workers, orthogonalize=orthogonalize)

    @rrule(function)
    def _(x, type=2, n=None, axis=-1, norm=None, *, workers=None, orthogonalize=None):
        y = function(x, type, n, axis, norm, workers=workers, orthogonalize=orthogonalize)

        def pullback(y_bar):
            return (
                thunk(lambda: trigonometric_bar(y_bar, x, function, type, axis, norm, orthogonalize)),
                NoTangent(),
                NoTangent(),
                NoTangent(),
                NoTangent(),
            )

        return y, pullback

    @frule(function)
    def _(x, type=2, n=None, axis=-1, norm=None, *, workers=None, orthogonalize=None, x_dot):
        y = function(x, type, n, axis, norm, workers=workers, orthogonalize=orthogonalize)
        return y, function(x_dot, type, n, axis, norm, workers=workers, orthogonalize=orthogonalize)


def trigonometric_of_axes(function: Any, along: Any) -> None:
    """A cosine or sine transform along several axes: ``along`` is the one along one axis."""

    @alternative(function)
    def transformed(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
        for axis, n in all_axes(x, s, axes):
            x = along(x, type, n, axis, norm, orthogonalize=orthogonalize)
        return x


for _function, _several in ((fft.dct, fft.dctn), (fft.idct, fft.idctn), (fft.dst, fft.dstn), (fft.idst, fft.idstn)):
    trigonometric(_function)
    trigonometric_of_axes(_several, _function)
