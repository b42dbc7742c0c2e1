"""Cotangents of the discrete Fourier transforms: transforms in the other direction, with the other scaling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from thunkad.errors import NotImplementedDerivativeError
from thunkad.runtime.arrays import conjugate, shape_only
from thunkad.runtime.complex import real_part

_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def swapped(norm: str | None) -> str:
    """The ``norm`` under which the opposite transform is the adjoint of the one with this ``norm``."""
    return _SWAPPED[norm]


@shape_only("a")
def fitted(spectrum: Any, a: Any, axes: Sequence[int]) -> Any:
    """Undo the cropping or zero padding of ``a`` along ``axes``; for a real ``a`` only the real part counts."""
    shape = np.shape(a)
    if not np.iscomplexobj(a) and np.iscomplexobj(spectrum):
        spectrum = spectrum.real
    if spectrum.shape == shape:
        return spectrum
    for axis in axes:
        have, want = spectrum.shape[axis], shape[axis]
        if have > want:
            spectrum = np.take(spectrum, range(want), axis=axis)
        elif have < want:
            widths = [(0, 0)] * len(shape)
            widths[axis] = (0, want - have)
            spectrum = np.pad(spectrum, widths)
    return spectrum


@shape_only("a")
def _axes(a: Any, s: Any, axes: Any) -> tuple[int, ...]:
    """The axes that an n-dimensional transform runs over."""
    if axes is None:
        return tuple(range(np.ndim(a))) if s is None else tuple(range(-len(s), 0))
    if s is not None and len({axis % np.ndim(a) for axis in axes}) < len(axes):
        raise NotImplementedDerivativeError(
            "a Fourier transform that goes over an axis twice, with s=, has no reverse rule; write two transforms"
        )
    return tuple(axes)


@shape_only("a")
def fft_bar(y_bar: Any, a: Any, inverse: Callable[..., Any], axis: int, norm: str | None) -> Any:
    """The cotangent of ``a`` in a complex transform; ``inverse`` is the transform in the other direction."""
    return fitted(inverse(y_bar, axis=axis, norm=swapped(norm)), a, (axis,))


@shape_only("a")
def fftn_bar(y_bar: Any, a: Any, inverse: Callable[..., Any], s: Any, axes: Any, norm: str | None) -> Any:
    """The cotangent of ``a`` in a complex transform over several axes; ``inverse`` runs in the other direction."""
    axes = _axes(a, s, axes)
    return fitted(inverse(y_bar, axes=axes, norm=swapped(norm)), a, axes)


def _paired_bins(n: int, axis: int, ndim: int, weight: float, dtype: Any) -> Any:
    """``weight`` for the bins of a half spectrum that stand for two of the full one, 1 for the others."""
    weights = np.full(n // 2 + 1, weight, dtype)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    shape = [1] * ndim
    shape[axis] = -1
    return weights.reshape(shape)


@shape_only("a")
def rfft_bar(y_bar: Any, a: Any, n: int | None, axis: int, norm: str | None) -> Any:
    """The cotangent of ``a`` in ``y = np.fft.rfft(a, n, axis, norm)``: a paired bin is there once: it counts half."""
    n = np.shape(a)[axis] if n is None else n
    halved = y_bar * _paired_bins(n, axis, np.ndim(y_bar), 0.5, y_bar.real.dtype)
    return fitted(np.fft.irfft(halved, n, axis=axis, norm=swapped(norm)), a, (axis,))


@shape_only("a")
def irfft_bar(y_bar: Any, a: Any, axis: int, norm: str | None) -> Any:
    """The cotangent of ``a`` in ``y = np.fft.irfft(a, n, axis, norm)``: each paired bin was used twice."""
    n, y_bar = np.shape(y_bar)[axis], real_part(y_bar)
    spectrum = np.fft.rfft(y_bar, axis=axis, norm=swapped(norm))
    return fitted(spectrum * _paired_bins(n, axis, np.ndim(y_bar), 2.0, y_bar.dtype), a, (axis,))


@shape_only("a")
def hfft_bar(y_bar: Any, a: Any, axis: int, norm: str | None) -> Any:
    """The cotangent of ``a`` in ``y = np.fft.hfft(a, n, axis, norm)``, which is ``irfft`` of the conjugate."""
    return conjugate(irfft_bar(y_bar, a, axis, swapped(norm)))


@shape_only("a")
def ihfft_bar(y_bar: Any, a: Any, n: int | None, axis: int, norm: str | None) -> Any:
    """The cotangent of ``a`` in ``y = np.fft.ihfft(a, n, axis, norm)``, which is the conjugate of ``rfft``."""
    return rfft_bar(conjugate(y_bar), a, n, axis, swapped(norm))


@shape_only("a")
def rfftn_bar(y_bar: Any, a: Any, s: Any, axes: Any, norm: str | None) -> Any:
    """The cotangent of ``a`` in ``y = np.fft.rfftn(a, s, axes, norm)``."""
    axes = _axes(a, s, axes)
    if len(axes) > 1:
        others = np.fft.ifftn(y_bar, axes=axes[:-1], norm=swapped(norm))
        y_bar = _resized(others, np.shape(a), axes[:-1])
    return rfft_bar(y_bar, a, None if s is None or s[-1] == -1 else s[-1], axes[-1], norm)


@shape_only("a")
def irfftn_bar(y_bar: Any, a: Any, s: Any, axes: Any, norm: str | None) -> Any:
    """The cotangent of ``a`` in ``y = np.fft.irfftn(a, s, axes, norm)``."""
    axes = _axes(a, s, axes)
    last = axes[-1]
    n, y_bar = np.shape(y_bar)[last], real_part(y_bar)
    spectrum = np.fft.rfft(y_bar, axis=last, norm=swapped(norm))
    spectrum = spectrum * _paired_bins(n, last, np.ndim(y_bar), 2.0, y_bar.dtype)
    if len(axes) > 1:
        spectrum = np.fft.fftn(spectrum, axes=axes[:-1], norm=swapped(norm))
    return fitted(spectrum, a, axes)


def _resized(spectrum: Any, shape: tuple[int, ...], axes: Sequence[int]) -> Any:
    """Cropping or padding undone along ``axes`` alone, with the spectrum still complex."""
    target = list(spectrum.shape)
    for axis in axes:
        target[axis] = shape[axis]
    return fitted(spectrum, np.broadcast_to(np.complex64(0), target), axes)
