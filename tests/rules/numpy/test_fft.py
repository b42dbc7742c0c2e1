"""Rules of np.fft against finite differences."""

import numpy as np
import pytest

import thunkad.rules.numpy.fft  # noqa: F401
from thunkad.testing import check_frule, check_rrule

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order():
    RNG.bit_generator.state = np.random.default_rng(5).bit_generator.state


NORMS = [None, "backward", "ortho", "forward"]


def real(*shape):
    return RNG.normal(size=shape)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def check(fn, *args, **kwargs):
    check_rrule(fn, *args, **kwargs)
    check_frule(fn, *args, **kwargs)


makes = pytest.mark.parametrize("make", [real, cplx])
norms = pytest.mark.parametrize("norm", NORMS)


@norms
@makes
@pytest.mark.parametrize("fn", [np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft])
@pytest.mark.parametrize("n", [None, 1, 2, 3, 4, 5, 7, 8, 11])
def test_transforms_of_complex_signals(fn, make, n, norm):
    check(fn, make(5), n, norm=norm)
    check(fn, make(3, 4, 2), n, 1, norm)


@norms
@pytest.mark.parametrize("fn", [np.fft.rfft, np.fft.ihfft])
@pytest.mark.parametrize("n", [None, 1, 2, 4, 5, 8, 9])
def test_transforms_of_real_signals(fn, n, norm):
    check(fn, real(5), n, norm=norm)
    check(fn, real(6), n, norm=norm)
    check(fn, real(3, 4, 2), n, axis=-2, norm=norm)


PLANES = [
    {},
    {"s": (2, 3)},
    {"s": (4, 5)},
    {"s": (4, 2), "axes": (0, 1)},
    {"axes": (1, 0)},
    {"s": (5, 3), "axes": (-1, -3)},
]
SPACES = [*PLANES, {"s": (2, 5, 4), "axes": (0, 1, 2)}, {"axes": (1,)}, {"s": (5,), "axes": (0,)}]


@norms
@pytest.mark.filterwarnings("ignore:`axes` should not be `None`")
@pytest.mark.parametrize("options", SPACES, ids=str)
def test_transforms_over_several_axes(options, norm):
    for make in (real, cplx):
        for fn in (np.fft.fftn, np.fft.ifftn, np.fft.irfftn):
            check(fn, make(3, 4, 3), norm=norm, **options)
        if options in PLANES:
            for fn in (np.fft.fft2, np.fft.ifft2, np.fft.irfft2):
                check(fn, make(3, 4, 3), norm=norm, **options)
    check(np.fft.rfftn, real(3, 4, 3), norm=norm, **options)
    if options in PLANES:
        check(np.fft.rfft2, real(3, 4, 3), norm=norm, **options)


@makes
@pytest.mark.parametrize("fn", [np.fft.fftshift, np.fft.ifftshift])
def test_shifts(fn, make):
    check(fn, make(5))
    check(fn, make(3, 4, 5), axes=(0, 2))
    check(fn, make(3, 4), 1)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies_by_the_spacing(n):
    check(np.fft.fftfreq, n, 0.5)
    check(np.fft.rfftfreq, n, 0.5)


def test_fft_keeps_single_precision():
    check(np.fft.fft, cplx(4).astype(np.complex64))
    check(np.fft.rfft, real(4).astype(np.float32))
    check(np.fft.irfft, cplx(4).astype(np.complex64))
