"""Real results of complex arguments: a cotangent that reaches them complex counts with its real part."""

import warnings

import numpy as np
import pytest

import thunkad as ad

RNG = np.random.default_rng(11)
X = RNG.standard_normal((3, 3)) + 3 * np.eye(3) + 1j * RNG.standard_normal((3, 3))
X_DOT = RNG.standard_normal((3, 3)) + 1j * RNG.standard_normal((3, 3))

REAL = {
    "abs": lambda x: np.abs(x),
    "angle": lambda x: np.angle(x),
    "cond": lambda x: np.linalg.cond(np.stack([x, x @ x])),
    "cond_1": lambda x: np.linalg.cond(x, 1),
    "eigvalsh": lambda x: np.linalg.eigvalsh(x + np.conj(x.T)),
    "eigh": lambda x: np.linalg.eigh(x + np.conj(x.T))[0],
    "hfft": lambda x: np.fft.hfft(x),
    "irfft": lambda x: np.fft.irfft(x),
    "lstsq": lambda x: np.linalg.lstsq(x, np.ones(3), rcond=None)[3],
    "matrix_norm": lambda x: np.linalg.matrix_norm(np.stack([x, x @ x]), ord="nuc"),
    "method": lambda x: x.var(axis=1),
    "nanstd": lambda x: np.nanstd(x, axis=1),
    "nanvar": lambda x: np.nanvar(x, axis=1),
    "norm": lambda x: np.linalg.norm(x),
    "norm_1": lambda x: np.linalg.norm(x, 1, axis=-1),
    "slogdet": lambda x: np.linalg.slogdet(np.stack([x, x @ x]))[1],
    "std": lambda x: np.std(x, axis=0),
    "svd": lambda x: np.linalg.svd(x)[1],
    "svdvals": lambda x: np.linalg.svdvals(x),
    "var": lambda x: np.var(x, axis=0),
    "vector_norm": lambda x: np.linalg.vector_norm(x, axis=0),
    "view": lambda x: x.view(float),
}

#: What is done with the real result before it becomes complex.
USES = {
    "as it is": lambda y: y,
    "an axis more": lambda y: y[..., None],
    "a slice": lambda y: np.ravel(y)[1:] if np.ndim(y) else y,
    "items": lambda y: np.ravel(y)[0] * np.ravel(y)[-1],
    "a gather": lambda y: np.ravel(y)[[0, 0]],
    "a loop": lambda y: sum([t * t for t in np.ravel(y)]),
    "max": lambda y: max(np.ravel(y)),
    "a fold": lambda y: np.logaddexp.reduce(np.ravel(y)),
    "a cast": lambda y: np.ravel(y).astype(np.float64)[:1],
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", REAL)
def test_times_a_complex_number(name, use):
    of, then = REAL[name], USES[use]

    def f(x):
        return then(of(x)) * (1.0 + 2.0j)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y, y_dot = ad.jvp(f, (X,), (X_DOT,))
        y_bar = RNG.standard_normal(np.shape(y)) + 1j * RNG.standard_normal(np.shape(y))
        (x_bar,) = ad.vjp(f, X)[1](y_bar)
    by_differences = (f(X + 1e-6 * X_DOT) - f(X - 1e-6 * X_DOT)) / 2e-6
    np.testing.assert_allclose(np.vdot(x_bar, X_DOT).real, np.vdot(y_bar, y_dot).real, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.vdot(x_bar, X_DOT).real, np.vdot(y_bar, by_differences).real, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 3, 3), (3, 4)])
def test_function_of_a_matrix_through_its_svd(shape):
    x, x_dot, y_bar = (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape) for _ in range(3))

    def f(x):
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        return (u * (s**2)[..., None, :]) @ vh

    y_dot = ad.jvp(f, (x,), (x_dot,))[1]
    (x_bar,) = ad.vjp(f, x)[1](y_bar)
    np.testing.assert_allclose(np.vdot(x_bar, x_dot).real, np.vdot(y_bar, y_dot).real, rtol=1e-9)


def _squares(y):
    total = 0.0
    for k in range(3):
        total = total + y[k] * y[k]
    return total


def test_callee_found_when_the_code_runs():
    def f(x):
        callees = [np.sum, _squares]
        return callees[len(x) - 2](x) * (1.0 + 2.0j)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (x_bar,) = ad.vjp(f, np.arange(3.0))[1](1.0j)
    np.testing.assert_allclose(x_bar, 4.0 * np.arange(3.0))


# A user's rule is sent a real cotangent for a real result, however the rule is called.


def _power(z):
    return np.sum(np.abs(np.fft.fft(z)) ** 2)


def _power_and_phase(z):
    return np.abs(z), z / np.abs(z)


def _named(z):
    return {"power": np.abs(z) ** 2, "turned": 1j * z}


def _sum_of_moduli(*zs):
    return sum(np.abs(z) for z in zs)


def pasted_power(z):
    return _power(z)


def called_power(z):
    return _power(z)


def known_power(z):
    return _power(z)


def lazy_power(z):
    return _power(z)


def parts(z):
    return _power_and_phase(z)


def named(z):
    return _named(z)


def moduli(*zs):
    return _sum_of_moduli(*zs)


def _needs_real(y_bar):
    assert not np.iscomplexobj(y_bar)
    return y_bar


@ad.rrule(pasted_power)
def _(z):
    y = pasted_power(z)

    def pullback(y_bar):
        return ad.thunk(lambda: np.fft.ifft(2 * len(z) * _needs_real(y_bar) * np.fft.fft(z)))

    return y, pullback


@ad.rrule(called_power)
def _(z):
    def pullback(y_bar):
        if np.iscomplexobj(z):
            return (np.fft.ifft(2 * len(z) * _needs_real(y_bar) * np.fft.fft(z)),)
        return (np.real(np.fft.ifft(2 * len(z) * _needs_real(y_bar) * np.fft.fft(z))),)

    return called_power(z), pullback


@ad.rrule(known_power)
def _(z):
    y = np.sum(np.abs(np.fft.fft(z)) ** 2)

    def pullback(y_bar):
        return ad.thunk(lambda: np.fft.ifft(2 * len(z) * _needs_real(y_bar) * np.fft.fft(z)))

    return y, pullback


@ad.rrule(lazy_power, keep_thunks=True)
def _(z):
    def pullback(y_bar):
        return (ad.thunk(lambda: np.fft.ifft(2 * len(z) * _needs_real(np.real(ad.unthunk(y_bar))) * np.fft.fft(z))),)

    return lazy_power(z), pullback


@ad.rrule(parts)
def _(z):
    r, u = parts(z)

    def pullback(y_bar):
        r_bar, u_bar = y_bar
        return (_needs_real(r_bar) * u + (u_bar - u * np.real(np.conj(u) * u_bar)) / r,)

    return (r, u), pullback


@ad.rrule(named)
def _(z):
    def pullback(y_bar):
        return (2 * z * _needs_real(y_bar["power"]) - 1j * y_bar["turned"],)

    return named(z), pullback


@ad.rrule(moduli)
def _(*zs):
    def pullback(y_bar):
        return (tuple(_needs_real(y_bar) * z / np.abs(z) for z in zs),)

    return moduli(*zs), pullback


def _in_a_loop(z):
    total = 0.0
    for k in range(2):
        total = total + pasted_power(z * (k + 1)) * 1j
    return total


def _of_both_names(z):
    found = named(z)
    return found["power"] * (1 + 2j) + found["turned"]


def _choose(fs, z):
    return fs[len(z) - 3](z)


BY_USERS = {
    "pasted": (lambda z: pasted_power(z) * (1 + 2j), lambda z: _power(z) * (1 + 2j)),
    "called": (lambda z: called_power(z) * (1 + 2j), lambda z: _power(z) * (1 + 2j)),
    "pasted, of a known field": (lambda z: known_power(z) * (1 + 2j), lambda z: _power(z) * (1 + 2j)),
    "keeps thunks": (lambda z: lazy_power(z) * (1 + 2j), lambda z: _power(z) * (1 + 2j)),
    "found when the code runs": (lambda z: _choose([pasted_power], z) * (1 + 2j), lambda z: _power(z) * (1 + 2j)),
    "in a loop": (_in_a_loop, lambda z: 5j * _power(z)),
    "two results": (
        lambda z: parts(z)[0] * (1 + 2j) + parts(z)[1],
        lambda z: np.abs(z) * (1 + 2j) + z / np.abs(z),
    ),
    "named results": (
        _of_both_names,
        lambda z: np.abs(z) ** 2 * (1 + 2j) + 1j * z,
    ),
    "of any number": (
        lambda z: moduli(z, 2 * z) * (1 + 2j),
        lambda z: 3 * np.abs(z) * (1 + 2j),
    ),
}


@pytest.mark.parametrize("z", [X[0], np.real(X[0])], ids=["complex", "real"])
@pytest.mark.parametrize("name", BY_USERS)
def test_rules_of_users_are_sent_real_cotangents(name, z):
    by_rule, plain = BY_USERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y, pullback = ad.vjp(by_rule, z)
        y_bar = RNG.standard_normal(np.shape(y)) + 1j * RNG.standard_normal(np.shape(y))
        (z_bar,), (wanted,) = pullback(y_bar), ad.vjp(plain, z)[1](y_bar)
    np.testing.assert_allclose(z_bar, wanted, rtol=1e-12)
    assert np.asarray(z_bar).dtype == z.dtype
