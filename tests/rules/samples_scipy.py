"""Arguments for ``scipy.signal`` and ``scipy.ndimage``: see ``samples``, whose list these are added to."""

import numpy as np
import scipy.interpolate as si
import scipy.ndimage as nd
import scipy.signal as sg
from samples import EMPTY, CUBE, INSIDE, M, V, W, Z, add, composed, random, written

LONG, TAPS, KERNEL = random(12), random(3), random(2, 3)

# ---------------------------------------------------------------- signal

for mode in ("full", "same", "valid"):
    add(sg.convolve, LONG, TAPS, mode)
    add(sg.fftconvolve, KERNEL, M, mode)
    add(sg.correlate, TAPS, LONG, mode)
    add(sg.convolve2d, M, KERNEL, mode, "wrap")
    add(sg.correlate2d, M, KERNEL, mode)
add(sg.convolve, Z, KERNEL, "same", "direct")
add(sg.correlate, M, Z, method="fft")
add(sg.convolve, V.astype(np.float32), TAPS.astype(np.float32))
add(sg.fftconvolve, M, M[:1, :2], "same", -1)
add(sg.fftconvolve, Z, M[:2], axes=0)
add(sg.oaconvolve, LONG, TAPS, "same")
add(sg.convolve2d, M, KERNEL, "same", "symm")
composed(sg.convolve2d, M, Z[:2], fillvalue=0.7)
composed(sg.correlate2d, M, KERNEL, "same", "fill", 0.7)
add(sg.correlate2d, KERNEL, Z, "valid")
add(sg.lfilter, TAPS, np.array([1.3, -0.4, 0.2]), M, axis=0)
add(sg.lfilter, V, np.array([2.0]), Z)
add(sg.lfilter, np.array([0.7]), np.array([1.0, 0.3]), EMPTY[:, :1])
composed(sg.lfilter, TAPS, np.array([1.3, -0.4]), V, zi=W[:2])
composed(sg.lfilter_zi, TAPS, np.array([1.3, -0.4]))
SECTIONS = np.array([[0.3, 0.5, 0.1, 1.0, -0.4, 0.2]])
written("scipy.signal.sosfilt(np.concatenate(({0}, SECTIONS[:, 3:]), axis=1), {1}, 0)", sg.sosfilt, SECTIONS[:, :3], M)
written("scipy.signal.sosfilt(SECTIONS, {0}, zi={1})[1]", sg.sosfilt, V, random(1, 2))
written("scipy.signal.sosfilt_zi(np.append({0}, SECTIONS[:, 3:], axis=1))", sg.sosfilt_zi, SECTIONS[:, :3])
written("scipy.signal.filtfilt({0}, [1.0, 0.3], {1}, padlen=2)", sg.filtfilt, TAPS, V)
written("scipy.signal.sosfiltfilt(SECTIONS, {0}, padtype='even', padlen=3)", sg.sosfiltfilt, V)
composed(sg.deconvolve, LONG, TAPS + 3)
add(sg.detrend, M)
add(sg.detrend, CUBE, 0, "constant")
composed(sg.hilbert, V)
composed(sg.hilbert, M, N=5, axis=0)
composed(sg.savgol_filter, LONG, 5, 2)
composed(sg.savgol_filter, LONG, 4, 1, deriv=1, delta=0.5, mode="wrap")
composed(sg.resample, LONG, 7)
composed(sg.resample, LONG, 20, window="hamming")
composed(sg.resample, Z, 2, axis=-1)
written("scipy.signal.find_peaks({0}, height=0)[1]['peak_heights']", sg.find_peaks, LONG)

# ---------------------------------------------------------------- ndimage

add(nd.correlate1d, M, TAPS, 0, mode="constant", cval=0.7, origin=1)
add(nd.correlate1d, Z, V[:4], mode="mirror")
add(nd.correlate, M, KERNEL, mode="nearest", origin=(0, -1))
add(nd.correlate, Z, Z[:2], mode="grid-constant", cval=0.3)
add(nd.correlate1d, M.astype(np.float32), TAPS)
composed(nd.convolve1d, M, V[:4], output=np.float64)
composed(nd.convolve, M, KERNEL)
composed(nd.gaussian_filter1d, M, 0.8, order=1)
composed(nd.gaussian_filter, M, 0.7, mode="wrap")
add(nd.uniform_filter1d, M, 3, mode="wrap", origin=1)
composed(nd.uniform_filter, M, 2)
composed(nd.prewitt, M)
composed(nd.sobel, M, 0)
composed(nd.laplace, M, mode="constant")
composed(nd.gaussian_laplace, M, 0.5, truncate=2.0)
composed(nd.gaussian_gradient_magnitude, M, 0.5, truncate=2.0)
add(nd.spline_filter1d, M, 3, 0)
add(nd.spline_filter1d, Z, 2, mode="reflect")
composed(nd.spline_filter, M, mode="grid-wrap")
AT = INSIDE[:2] + 1.1
composed(nd.map_coordinates, M, AT, order=1, mode="nearest")
composed(nd.map_coordinates, M, AT)
composed(nd.shift, M, 0.37, order=1)
composed(nd.zoom, M, 1.7, order=1, mode="reflect")
composed(nd.rotate, M, 21.3, order=1, reshape=False)
composed(nd.affine_transform, M, np.array([[0.91, 0.07], [-0.13, 1.03]]), 0.21, order=1, mode="mirror")
for f in (nd.maximum_filter, nd.minimum_filter, nd.median_filter):
    composed(f, M, 2)
composed(nd.rank_filter, M, 1, 2)
LABELS = np.arange(12).reshape(3, 4) // 5
for f in (nd.sum, nd.sum_labels, nd.mean, nd.variance, nd.standard_deviation, nd.maximum, nd.minimum):
    composed(f, M, LABELS, np.array([1, 2]))
composed(nd.center_of_mass, M + 3)

# ---------------------------------------------------------------- interpolate, of constants

SPLINE = si.PchipInterpolator(np.arange(5.0), np.stack((V, W)), axis=1, extrapolate=False)
LINE = si.interp1d(np.arange(5.0), V, bounds_error=False, fill_value=0.5)
GRID = si.RegularGridInterpolator((np.arange(3.0), np.arange(4.0)), M)
written("SPLINE({0})", si.PPoly.__call__, AT)
written("SPLINE({0}, 1)", si.PPoly.__call__, AT)
written("LINE({0} * 3)", si.interp1d.__call__, AT)
written("GRID({0}.T)", si.RegularGridInterpolator.__call__, AT)
