"""``np.fft``: all transforms are linear, so the tangent is the transform of the tangent."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import frule, rrule
from thunkad.rules.linear import linear
from thunkad.runtime.spectra import fft_bar, fftn_bar, hfft_bar, ihfft_bar, irfft_bar, irfftn_bar, rfft_bar, rfftn_bar
from thunkad.tangents import NoTangent, thunk

linear(fft_bar, fftn_bar, hfft_bar, ihfft_bar, irfft_bar, irfftn_bar, rfft_bar, rfftn_bar)


@rrule(np.fft.fft)
def _(a, n=None, axis=-1, norm=None):
    y = np.fft.fft(a, n=n, axis=axis, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: fft_bar(y_bar, a, np.fft.ifft, axis, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.fft)
def _(a, n=None, axis=-1, norm=None, *, a_dot):
    return np.fft.fft(a, n=n, axis=axis, norm=norm), np.fft.fft(a_dot, n=n, axis=axis, norm=norm)


@rrule(np.fft.ifft)
def _(a, n=None, axis=-1, norm=None):
    y = np.fft.ifft(a, n=n, axis=axis, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: fft_bar(y_bar, a, np.fft.fft, axis, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.ifft)
def _(a, n=None, axis=-1, norm=None, *, a_dot):
    return np.fft.ifft(a, n=n, axis=axis, norm=norm), np.fft.ifft(a_dot, n=n, axis=axis, norm=norm)


@rrule(np.fft.rfft)
def _(a, n=None, axis=-1, norm=None):
    y = np.fft.rfft(a, n=n, axis=axis, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: rfft_bar(y_bar, a, n, axis, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.rfft)
def _(a, n=None, axis=-1, norm=None, *, a_dot):
    return np.fft.rfft(a, n=n, axis=axis, norm=norm), np.fft.rfft(a_dot, n=n, axis=axis, norm=norm)


@rrule(np.fft.irfft)
def _(a, n=None, axis=-1, norm=None):
    y = np.fft.irfft(a, n=n, axis=axis, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: irfft_bar(y_bar, a, axis, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.irfft)
def _(a, n=None, axis=-1, norm=None, *, a_dot):
    return np.fft.irfft(a, n=n, axis=axis, norm=norm), np.fft.irfft(a_dot, n=n, axis=axis, norm=norm)


@rrule(np.fft.hfft)
def _(a, n=None, axis=-1, norm=None):
    y = np.fft.hfft(a, n=n, axis=axis, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: hfft_bar(y_bar, a, axis, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.hfft)
def _(a, n=None, axis=-1, norm=None, *, a_dot):
    return np.fft.hfft(a, n=n, axis=axis, norm=norm), np.fft.hfft(a_dot, n=n, axis=axis, norm=norm)


@rrule(np.fft.ihfft)
def _(a, n=None, axis=-1, norm=None):
    y = np.fft.ihfft(a, n=n, axis=axis, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: ihfft_bar(y_bar, a, n, axis, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.ihfft)
def _(a, n=None, axis=-1, norm=None, *, a_dot):
    return np.fft.ihfft(a, n=n, axis=axis, norm=norm), np.fft.ihfft(a_dot, n=n, axis=axis, norm=norm)


@rrule(np.fft.fft2)
def _(a, s=None, axes=(-2, -1), norm=None):
    y = np.fft.fft2(a, s=s, axes=axes, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: fftn_bar(y_bar, a, np.fft.ifftn, s, axes, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.fft2)
def _(a, s=None, axes=(-2, -1), norm=None, *, a_dot):
    return np.fft.fft2(a, s=s, axes=axes, norm=norm), np.fft.fft2(a_dot, s=s, axes=axes, norm=norm)


@rrule(np.fft.ifft2)
def _(a, s=None, axes=(-2, -1), norm=None):
    y = np.fft.ifft2(a, s=s, axes=axes, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: fftn_bar(y_bar, a, np.fft.fftn, s, axes, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.ifft2)
def _(a, s=None, axes=(-2, -1), norm=None, *, a_dot):
    return np.fft.ifft2(a, s=s, axes=axes, norm=norm), np.fft.ifft2(a_dot, s=s, axes=axes, norm=norm)


@rrule(np.fft.fftn)
def _(a, s=None, axes=None, norm=None):
    y = np.fft.fftn(a, s=s, axes=axes, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: fftn_bar(y_bar, a, np.fft.ifftn, s, axes, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.fftn)
def _(a, s=None, axes=None, norm=None, *, a_dot):
    return np.fft.fftn(a, s=s, axes=axes, norm=norm), np.fft.fftn(a_dot, s=s, axes=axes, norm=norm)


@rrule(np.fft.ifftn)
def _(a, s=None, axes=None, norm=None):
    y = np.fft.ifftn(a, s=s, axes=axes, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: fftn_bar(y_bar, a, np.fft.fftn, s, axes, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.ifftn)
def _(a, s=None, axes=None, norm=None, *, a_dot):
    return np.fft.ifftn(a, s=s, axes=axes, norm=norm), np.fft.ifftn(a_dot, s=s, axes=axes, norm=norm)


@rrule(np.fft.rfft2)
def _(a, s=None, axes=(-2, -1), norm=None):
    y = np.fft.rfft2(a, s=s, axes=axes, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: rfftn_bar(y_bar, a, s, axes, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.rfft2)
def _(a, s=None, axes=(-2, -1), norm=None, *, a_dot):
    return np.fft.rfft2(a, s=s, axes=axes, norm=norm), np.fft.rfft2(a_dot, s=s, axes=axes, norm=norm)


@rrule(np.fft.rfftn)
def _(a, s=None, axes=None, norm=None):
    y = np.fft.rfftn(a, s=s, axes=axes, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: rfftn_bar(y_bar, a, s, axes, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.rfftn)
def _(a, s=None, axes=None, norm=None, *, a_dot):
    return np.fft.rfftn(a, s=s, axes=axes, norm=norm), np.fft.rfftn(a_dot, s=s, axes=axes, norm=norm)


@rrule(np.fft.irfft2)
def _(a, s=None, axes=(-2, -1), norm=None):
    y = np.fft.irfft2(a, s=s, axes=axes, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: irfftn_bar(y_bar, a, s, axes, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.irfft2)
def _(a, s=None, axes=(-2, -1), norm=None, *, a_dot):
    return np.fft.irfft2(a, s=s, axes=axes, norm=norm), np.fft.irfft2(a_dot, s=s, axes=axes, norm=norm)


@rrule(np.fft.irfftn)
def _(a, s=None, axes=None, norm=None):
    y = np.fft.irfftn(a, s=s, axes=axes, norm=norm)

    def pullback(y_bar):
        return thunk(lambda: irfftn_bar(y_bar, a, s, axes, norm)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.fft.irfftn)
def _(a, s=None, axes=None, norm=None, *, a_dot):
    return np.fft.irfftn(a, s=s, axes=axes, norm=norm), np.fft.irfftn(a_dot, s=s, axes=axes, norm=norm)


@rrule(np.fft.fftshift)
def _(x, axes=None):
    y = np.fft.fftshift(x, axes=axes)

    def pullback(y_bar):
        return thunk(lambda: np.fft.ifftshift(y_bar, axes=axes)), NoTangent()

    return y, pullback


@frule(np.fft.fftshift)
def _(x, axes=None, *, x_dot):
    return np.fft.fftshift(x, axes=axes), np.fft.fftshift(x_dot, axes=axes)


@rrule(np.fft.ifftshift)
def _(x, axes=None):
    y = np.fft.ifftshift(x, axes=axes)

    def pullback(y_bar):
        return thunk(lambda: np.fft.fftshift(y_bar, axes=axes)), NoTangent()

    return y, pullback


@frule(np.fft.ifftshift)
def _(x, axes=None, *, x_dot):
    return np.fft.ifftshift(x, axes=axes), np.fft.ifftshift(x_dot, axes=axes)


@rrule(np.fft.fftfreq)
def _(n, d=1.0):
    y = np.fft.fftfreq(n, d)

    def pullback(y_bar):
        return NoTangent(), thunk(lambda: -np.sum(y_bar * y) / d)

    return y, pullback


@frule(np.fft.fftfreq)
def _(n, d=1.0, *, d_dot):
    y = np.fft.fftfreq(n, d)
    return y, -y * (d_dot / d)


@rrule(np.fft.rfftfreq)
def _(n, d=1.0):
    y = np.fft.rfftfreq(n, d)

    def pullback(y_bar):
        return NoTangent(), thunk(lambda: -np.sum(y_bar * y) / d)

    return y, pullback


@frule(np.fft.rfftfreq)
def _(n, d=1.0, *, d_dot):
    y = np.fft.rfftfreq(n, d)
    return y, -y * (d_dot / d)
