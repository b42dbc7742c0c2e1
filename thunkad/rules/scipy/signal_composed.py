"""``scipy.signal``: what is made of recursive filters, Fourier transforms and convolutions, written out."""

from __future__ import annotations

import numpy as np
from scipy import ndimage, signal

from thunkad.rules.library import alternative, non_differentiable


def filled(in1, in2, fillvalue):
    """``in1`` with the number around it that ``in2`` sees there."""
    rows, columns = np.shape(in2)
    return np.pad(in1, ((rows - 1, rows - 1), (columns - 1, columns - 1)), constant_values=fillvalue)


@alternative(signal.convolve2d, keywords=("fillvalue",))
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    if boundary != "fill" or mode == "valid":
        return signal.convolve2d(in1, in2, mode, boundary)
    y, (n, m), (k, j) = signal.convolve2d(filled(in1, in2, fillvalue), in2, "valid"), np.shape(in1), np.shape(in2)
    return y if mode == "full" else y[(k - 1) // 2 : (k - 1) // 2 + n, (j - 1) // 2 : (j - 1) // 2 + m]


@alternative(signal.correlate2d, keywords=("fillvalue",))
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    if boundary != "fill" or mode == "valid":
        return signal.correlate2d(in1, in2, mode, boundary)
    y, (n, m), (k, j) = signal.correlate2d(filled(in1, in2, fillvalue), in2, "valid"), np.shape(in1), np.shape(in2)
    return y if mode == "full" else y[k // 2 : k // 2 + n, j // 2 : j // 2 + m]


@alternative(signal.lfilter, keywords=("zi",))
def lfilter(b, a, x, axis=-1, zi=None):
    if zi is None:
        return signal.lfilter(b, a, x, axis)
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    x, zi = np.moveaxis(np.asarray(x), axis, -1), np.moveaxis(np.asarray(zi), axis, -1)
    n, delays = x.shape[-1], max(a.shape[0], b.shape[0]) - 1
    zi = np.broadcast_to(zi, (*x.shape[:-1], delays))
    # what is in the delays comes out as the answer to its numbers, and goes on after the end of x
    y = signal.lfilter(b, a, np.concatenate((x, np.zeros_like(zi)), axis=-1))
    y = y + signal.lfilter(a[:1], a, np.concatenate((zi, np.zeros_like(x)), axis=-1))
    zf = signal.lfilter(a / a[0], np.ones(1, a.dtype), y[..., n:])
    return np.moveaxis(y[..., :n], -1, axis), np.moveaxis(zf, -1, axis)


@alternative(signal.lfilter_zi)
def lfilter_zi(b, a):
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    b, a = b / a[0], a / a[0]
    delays = max(a.shape[0], b.shape[0]) - 1
    b = np.concatenate((b, np.zeros(delays + 1 - b.shape[0], b.dtype)))
    a = np.concatenate((a, np.zeros(delays + 1 - a.shape[0], a.dtype)))
    steps = b[1:] - a[1:] * b[0]
    first = np.sum(steps) / np.sum(a)
    return first * np.cumsum(a)[:delays] - (np.cumsum(steps) - steps)


@alternative(signal.sosfilt)
def sosfilt(sos, x, axis=-1, zi=None):
    y = np.asarray(x)
    if np.any(np.asarray(sos)[:, 3] != 1):
        raise ValueError("sos[:, 3] should be all ones")
    if zi is None:
        for k in range(len(sos)):
            y = signal.lfilter(sos[k][:3], sos[k][3:], y, axis)
        return y
    states = []
    for k in range(len(sos)):
        y, state = signal.lfilter(sos[k][:3], sos[k][3:], y, axis, zi[k])
        states.append(state)
    return y, np.stack(states)


@alternative(signal.sosfilt_zi)
def sosfilt_zi(sos):
    scale, states = 1.0, []
    for section in np.asarray(sos):
        states.append(scale * signal.lfilter_zi(section[:3], section[3:]))
        scale = scale * np.sum(section[:3]) / np.sum(section[3:])
    return np.stack(states)


def extended(x, edge, padtype):
    """``x`` with ``edge`` more numbers at both ends of its last axis."""
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(f"Unknown value '{padtype}' given to padtype. padtype must be 'even', 'odd', 'constant', or None.")
    if x.shape[-1] <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    if edge == 0:
        return x
    before, after = x[..., edge:0:-1], x[..., -2 : -(edge + 2) : -1]
    if padtype == "odd":
        before, after = 2 * x[..., :1] - before, 2 * x[..., -1:] - after
    elif padtype == "constant":
        before, after = x[..., :1] + np.zeros(before.shape), x[..., -1:] + np.zeros(after.shape)
    return np.concatenate((before, x, after), axis=-1)


@alternative(signal.filtfilt)
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None):
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.moveaxis(np.asarray(x), axis, -1)
    edge = 0 if padtype is None else 3 * max(a.shape[0], b.shape[0]) if padlen is None else padlen
    y = extended(x, edge, padtype)
    zi = signal.lfilter_zi(b, a)
    for _ in range(2):
        y = signal.lfilter(b, a, y, -1, zi * y[..., :1])[0][..., ::-1]
    return np.moveaxis(y[..., edge : y.shape[-1] - edge], -1, axis)


def order_of_sections(sos):
    """How many coefficients the sections have together, those that are zero for want of an order not counted."""
    sos = np.asarray(sos)
    return 2 * len(sos) + 1 - min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())


non_differentiable(order_of_sections)


@alternative(signal.sosfiltfilt)
def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None):
    x = np.moveaxis(np.asarray(x), axis, -1)
    edge = 0 if padtype is None else 3 * order_of_sections(sos) if padlen is None else padlen
    y = extended(x, edge, padtype)
    states = signal.sosfilt_zi(sos)
    for _ in range(2):
        first = y[..., :1]
        y = signal.sosfilt(sos, y, -1, [state * first for state in states])[0][..., ::-1]
    return np.moveaxis(y[..., edge : y.shape[-1] - edge], -1, axis)


@alternative(signal.deconvolve)
def deconvolve(signal_, divisor):
    whole, divisor = np.atleast_1d(signal_), np.atleast_1d(divisor)
    n, m = whole.shape[0], divisor.shape[0]
    if m > n:
        return np.zeros(0), whole
    impulse = np.zeros(n - m + 1)
    impulse[0] = 1.0
    quotient = signal.lfilter(whole, divisor, impulse)
    return quotient, whole - signal.convolve(divisor, quotient, mode="full")


def one_sided(n):
    """What ``signal.hilbert`` makes of the spectrum of ``n`` numbers: twice the positive frequencies."""
    weights = np.zeros(n)
    weights[: n // 2 + 1] = 1
    weights[1 : (n + 1) // 2] = 2
    return weights


def edge_polynomials(window_length, polyorder, deriv, dtype):
    """What ``signal.savgol_filter`` does to a signal of one window: at its ends it fits a polynomial."""
    ends = signal.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, axis=0, mode="interp")
    return ends.T.astype(np.result_type(dtype, np.float32))


def spectral_weights(window, n):
    """The weights of ``n`` frequencies that ``signal.resample`` makes of its ``window``."""
    if callable(window):
        return window(np.fft.fftfreq(n))
    return np.fft.fftshift(signal.get_window(window, n))


def polynomial_taps(window_length, polyorder, deriv):
    """The weights of ``signal.savgol_filter`` for samples at distance one."""
    return signal.savgol_coeffs(window_length, polyorder, deriv=deriv)


non_differentiable(one_sided, edge_polynomials, polynomial_taps, spectral_weights)


@alternative(signal.hilbert)
def hilbert(x, N=None, axis=-1):
    x = np.moveaxis(np.asarray(x), axis, -1)
    n = x.shape[-1] if N is None else N
    return np.moveaxis(np.fft.ifft(np.fft.fft(x, n) * one_sided(n).astype(x.dtype)), -1, axis)


@alternative(signal.savgol_filter)
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    taps, scale = polynomial_taps(window_length, polyorder, deriv), 1.0 / delta**deriv
    if mode != "interp":
        return scale * ndimage.convolve1d(x, taps, axis=axis, mode=mode, cval=cval)
    x = np.moveaxis(np.asarray(x), axis, -1)
    if window_length > x.shape[-1]:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    half = window_length // 2
    ends = edge_polynomials(window_length, polyorder, deriv, x.dtype)
    before = x[..., :window_length] @ ends[:, :half]
    inside = ndimage.convolve1d(x, taps, mode="constant")[..., half : x.shape[-1] - half]
    after = x[..., -window_length:] @ ends[:, window_length - half :]
    return scale * np.moveaxis(np.concatenate((before, inside, after), axis=-1), -1, axis)


@alternative(signal.resample)
def resample(x, num, t=None, axis=0, window=None, domain="time"):
    x = np.moveaxis(np.asarray(x), axis, -1)
    n = x.shape[-1]
    spectrum = np.fft.fft(x) if domain == "time" else x
    if window is not None:
        weights = window if isinstance(window, np.ndarray) else spectral_weights(window, n)
        spectrum = spectrum * (weights if np.iscomplexobj(x) else weights.astype(np.real(spectrum).dtype))
    spectrum = spectrum * (num / n)
    m, half = min(num, n), min(num, n) // 2
    back = spectrum[..., n - (m - half - 1) :]
    if m % 2 == 1 or num == n:
        front, middle = spectrum[..., : half + 1], num - m
    elif num < n:
        front, middle = spectrum[..., :half], 0
        front = np.concatenate((front, spectrum[..., half : half + 1] + spectrum[..., n - half : n - half + 1]), axis=-1)
    else:
        edge = spectrum[..., half : half + 1] / 2
        front, middle = np.concatenate((spectrum[..., :half], edge), axis=-1), num - m - 1
        back = np.concatenate((edge, back), axis=-1)
    zeros = np.zeros((*x.shape[:-1], middle), spectrum.dtype)
    y = np.fft.ifft(np.concatenate((front, zeros, back), axis=-1))
    if domain == "time" and not np.iscomplexobj(x):
        y = np.real(y)
    y = np.moveaxis(y, -1, axis)
    return y if t is None else (y, t[0] + (t[1] - t[0]) * (n / num) * np.arange(num))


def peak_places(x, height, threshold, distance):
    """Where ``signal.find_peaks`` finds peaks."""
    return signal.find_peaks(x, height=height, threshold=threshold, distance=distance)[0]


non_differentiable(peak_places)


@alternative(signal.find_peaks)
def find_peaks(x, height=None, threshold=None, distance=None):
    x = np.asarray(x).astype(np.float64)
    peaks, properties = peak_places(x, height, threshold, distance), {}
    if height is not None:
        properties["peak_heights"] = x[peaks]
    if threshold is not None:
        properties["left_thresholds"] = x[peaks] - x[peaks - 1]
        properties["right_thresholds"] = x[peaks] - x[peaks + 1]
    return peaks, properties
