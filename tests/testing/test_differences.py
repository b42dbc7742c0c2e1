import numpy as np

from thunkad.testing.differences import numerical_jvp, numerical_vjp, pairing


def test_numerical_vjp_of_a_holomorphic_function_has_the_conjugate():
    z, seed = np.array([0.3 + 0.4j, 1 - 2j]), np.array([1 - 1j, 0.5j])
    (got,) = numerical_vjp(np.sin, (z,), seed).values()
    np.testing.assert_allclose(got, np.conj(np.cos(z)) * seed, rtol=1e-9)


def test_numerical_vjp_of_single_precision_is_accurate():
    x = np.array([0.3, 0.5], "f4")
    (got,) = numerical_vjp(np.exp, (x,), np.ones(2)).values()
    np.testing.assert_allclose(got, np.exp(x.astype(float)), rtol=1e-9)


def test_numerical_jvp_by_path():
    def f(pair, s):
        return {"a": pair[0] * s, "n": 3}

    got = numerical_jvp(f, ([np.array([1.0, 2.0]), "text"], 2.0), {(0, 0): np.array([1.0, 0.0]), (1,): 1.0})
    assert list(got) == [("a",)]
    np.testing.assert_allclose(got["a",], [3.0, 2.0])


def test_pairing_skips_what_has_no_cotangent():
    assert pairing((np.array([1j]), None), (np.array([2j]), 3.0)) == 2.0
