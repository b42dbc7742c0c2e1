"""Rules of np.linalg against finite differences."""

import numpy as np
import pytest

import thunkad.rules.numpy.linalg  # noqa: F401
from thunkad.errors import NotImplementedDerivativeError
from thunkad.rules.table import TABLE
from thunkad.runtime.linalg import cofactors, cofactors_dot
from thunkad.tangents import ZERO, unthunk
from thunkad.testing import check_frule, check_rrule

RNG = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order():
    RNG.bit_generator.state = np.random.default_rng(11).bit_generator.state


BATCHES = [(), (2,)]


def real(*shape):
    return RNG.normal(size=shape)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def adjoint(a):
    return np.conjugate(np.swapaxes(a, -1, -2))


def hermitian(make, *shape):
    a = make(*shape)
    return a + adjoint(a)


def positive(make, *shape):
    a = make(*shape)
    return a @ adjoint(a) + np.eye(shape[-1])


def rule_of(fn, kind="rrule"):
    (entry,) = [e for e in TABLE.snapshot.entries(fn) if e.kind == kind]
    return entry.function


def check(fn, *args, **kwargs):
    check_rrule(fn, *args, **kwargs)
    check_frule(fn, *args, **kwargs)


def check_for(fn, x, *args, **kwargs):
    """Check the derivative by ``x`` alone: an infinite order can't be perturbed."""

    def rule(x):
        y, pullback = rule_of(fn)(x, *args, **kwargs)
        return y, lambda y_bar: pullback(y_bar)[:1]

    def forward_rule(x, *, x_dot):
        dots = {"x_dot": x_dot, "ord_dot": ZERO} if fn is np.linalg.norm else {"x_dot": x_dot}
        return rule_of(fn, "frule")(x, *args, **kwargs, **dots)

    check_rrule(lambda x: fn(x, *args, **kwargs), x, rule=rule)
    check_frule(lambda x: fn(x, *args, **kwargs), x, rule=forward_rule)


def check_on_hermitian(fn, a, rtol=None, **kwargs):
    """The rules speak of the function of the Hermitian part: NumPy reads one triangle."""

    def of_hermitian_part(a, **kwargs):
        return fn((a + adjoint(a)) / 2, **kwargs)

    check_rrule(of_hermitian_part, a, rule=rule_of(fn), rtol=rtol, **kwargs)
    check_frule(of_hermitian_part, a, rule=rule_of(fn, "frule"), rtol=rtol, **kwargs)
    rng = np.random.default_rng(0)
    da = rng.normal(size=a.shape) + (1j * rng.normal(size=a.shape) if np.iscomplexobj(a) else 0)
    y, y_dot = rule_of(fn, "frule")(a, **kwargs, a_dot=da)
    if not isinstance(y, tuple):
        seed = rng.normal(size=y.shape).astype(y.dtype)
        bar = unthunk(rule_of(fn)(a, **kwargs)[1](seed)[0])
        assert np.isclose(np.sum(np.conjugate(seed) * y_dot).real, np.sum(np.conjugate(bar) * da).real)


makes = pytest.mark.parametrize("make", [real, cplx])
batches = pytest.mark.parametrize("batch", BATCHES)


@makes
@batches
def test_inv(make, batch):
    check(np.linalg.inv, make(*batch, 3, 3))


@makes
@pytest.mark.parametrize(
    "a, b",
    [
        ((3, 3), (3,)),
        ((3, 3), (3, 2)),
        ((2, 3, 3), (3,)),
        ((2, 3, 3), (2, 3, 2)),
        ((3, 3), (2, 3, 2)),
        ((2, 3, 3), (3, 2)),
    ],
)
def test_solve(make, a, b):
    check(np.linalg.solve, make(*a) + 2 * np.eye(3), make(*b))


@makes
@batches
def test_det_and_slogdet(make, batch):
    check(np.linalg.det, make(*batch, 3, 3))
    check(np.linalg.slogdet, make(*batch, 3, 3))


@makes
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_det_of_a_singular_matrix(make, rank):
    a = make(3, rank) @ make(rank, 3) if rank else np.zeros((3, 3)) + 0 * make(3, 3)
    a[:, 2] = a[:, 1]
    check(np.linalg.det, a)
    check(np.linalg.det, np.stack([a, make(3, 3)]))


@makes
@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_second_derivative_of_det(make, rank):
    a = make(3, rank) @ make(rank, 3) if rank else np.zeros((3, 3))
    da, h = make(3, 3), 1e-5
    minors = lambda a: cofactors(a, 0.0)  # noqa: E731
    want = (minors(a + h * da) - minors(a - h * da)) / (2 * h)
    assert np.allclose(cofactors_dot(a, 0.0, da), want, atol=1e-8)


@makes
@batches
def test_second_derivative_of_det_of_a_regular_matrix(make, batch):
    check_frule(lambda a: cofactors(a, np.linalg.det(a)), make(*batch, 3, 3), rule=lambda a, *, a_dot: (
        cofactors(a, np.linalg.det(a)), cofactors_dot(a, np.linalg.det(a), a_dot)))  # fmt: skip


def test_det_of_a_one_by_one_zero():
    check(np.linalg.det, np.zeros((1, 1)))


@makes
@batches
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_pinv(make, batch, shape):
    check(np.linalg.pinv, make(*batch, *shape))


@makes
def test_pinv_of_hermitian(make):
    check_on_hermitian(np.linalg.pinv, hermitian(make, 3, 3), hermitian=True)


@makes
@pytest.mark.parametrize("a, b", [((4, 2), (4,)), ((4, 2), (4, 3)), ((3, 3), (3,)), ((2, 4), (2, 3))])
def test_lstsq(make, a, b):
    check(np.linalg.lstsq, make(*a), make(*b))
    check(np.linalg.lstsq, make(*a), make(*b), -1)


@makes
def test_tensorinv_and_tensorsolve(make):
    check(np.linalg.tensorinv, make(4, 6, 8, 3), ind=2)
    check(np.linalg.tensorinv, make(6, 2, 3), ind=1)
    check(np.linalg.tensorsolve, make(2, 3, 6), make(2, 3))
    check(np.linalg.tensorsolve, make(2, 6, 3), make(2, 3), axes=(1,))
    check(np.linalg.tensorsolve, make(3, 8, 6, 4), make(6, 4), axes=(0, 1))


VECTOR_ORDS = [None, 1, 2, 3, 2.5, 0.5, -1, -2, np.inf, -np.inf]
MATRIX_ORDS = [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]


@makes
@pytest.mark.parametrize("ord", VECTOR_ORDS)
def test_norm_of_vectors(make, ord):
    check_for(np.linalg.norm, make(4), ord)
    check_for(np.linalg.norm, make(3, 4), ord, axis=0)
    check_for(np.linalg.norm, make(3, 4), ord, axis=(-1,), keepdims=True)
    check_for(np.linalg.vector_norm, make(2, 3, 2), axis=(0, 2), ord=2 if ord is None else ord)
    check_for(np.linalg.vector_norm, make(3, 2), keepdims=True, ord=2 if ord is None else ord)


@makes
@pytest.mark.parametrize("ord", MATRIX_ORDS)
def test_norm_of_matrices(make, ord):
    check_for(np.linalg.norm, make(3, 4), ord)
    check_for(np.linalg.norm, make(3, 2, 4), ord, axis=(2, 0))
    check_for(np.linalg.norm, make(2, 3, 4), ord, axis=(-2, -1), keepdims=True)
    check_for(np.linalg.matrix_norm, make(2, 3, 4), ord="fro" if ord is None else ord)


@makes
@pytest.mark.parametrize("p", [1.5, 3.0, -1.5])
def test_derivative_of_a_norm_by_its_order(make, p):
    check(np.linalg.norm, make(4), p)
    check(np.linalg.norm, make(3, 4), p, axis=1, keepdims=True)


def test_norm_of_everything():
    check(np.linalg.norm, real(2, 3, 4))
    check(np.linalg.norm, real(2, 3, 4), keepdims=True)
    check(np.linalg.norm, real(3).astype(np.float32))
    check(np.linalg.norm, real(3, 2).astype(np.float32), axis=1)


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("ord", VECTOR_ORDS + [0])
def test_vector_norm_at_zero_has_a_zero_gradient(ord):
    for x, axis in ((np.zeros(3), None), (np.zeros((2, 3)), 1)):
        y, pullback = rule_of(np.linalg.norm)(x, ord, axis)
        assert np.array_equal(unthunk(pullback(np.ones_like(y))[0]), np.zeros_like(x))


@pytest.mark.parametrize("ord", MATRIX_ORDS)
def test_matrix_norm_at_zero_has_a_zero_gradient(ord):
    y, pullback = rule_of(np.linalg.norm)(np.zeros((2, 3)), ord)
    assert np.array_equal(unthunk(pullback(np.ones_like(y))[0]), np.zeros((2, 3)))


def test_ties_share_the_gradient():
    _, pullback = rule_of(np.linalg.norm)(np.array([2.0, -2.0, 1.0]), np.inf)
    assert np.array_equal(unthunk(pullback(1.0)[0]), [0.5, -0.5, 0])
    _, pullback = rule_of(np.linalg.norm)(np.eye(2), 2)
    assert np.allclose(unthunk(pullback(1.0)[0]), np.eye(2) / 2)
    _, pullback = rule_of(np.linalg.norm)(np.array([[1.0, 2.0], [2.0, -1.0]]), 1)
    assert np.allclose(unthunk(pullback(1.0)[0]), [[0.5, 0.5], [0.5, -0.5]])


@makes
@batches
@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro"])
def test_cond(make, batch, p):
    check_for(np.linalg.cond, make(*batch, 3, 3) + 2 * np.eye(3), p)


@makes
@batches
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(make, batch, upper):
    check_on_hermitian(np.linalg.cholesky, positive(make, *batch, 3, 3), upper=upper)


@batches
@pytest.mark.parametrize("UPLO", ["L", "U"])
def test_eigh(batch, UPLO):
    check_on_hermitian(np.linalg.eigh, hermitian(real, *batch, 4, 4) + np.diag([0.0, 8, 16, 24]), UPLO=UPLO)


@makes
@batches
def test_eigvalsh(make, batch):
    check_on_hermitian(np.linalg.eigvalsh, hermitian(make, *batch, 4, 4))


def composed(fn, use, use_bar):
    """A rule for ``use(fn(a))`` with a cotangent that respects the freedom of the decomposition."""

    def rule(a):
        y, pullback = rule_of(fn)(a)
        return use(y), lambda z_bar: (unthunk(pullback(use_bar(y, z_bar))[0]),)

    return lambda a: use(fn(a)), rule


@batches
def test_eigh_of_complex_matrices(batch):
    weights = np.arange(1.0, 4)

    def use(y):
        return (y[1] * (weights * y[0] ** 2)[..., None, :]) @ adjoint(y[1])

    def use_bar(y, z_bar):
        w, v = y
        scaled = weights * w**2
        v_bar = (z_bar + adjoint(z_bar)) @ v * scaled[..., None, :]
        w_bar = np.real(np.einsum("...ji,...jk,...ki->...i", np.conjugate(v), z_bar, v)) * 2 * weights * w
        return w_bar, v_bar

    fn, rule = composed(np.linalg.eigh, use, use_bar)
    check_rrule(lambda a: fn((a + adjoint(a)) / 2), hermitian(cplx, *batch, 3, 3), rule=rule)


def test_eigh_of_equal_eigenvalues_is_finite_and_exact_for_the_values():
    y, pullback = rule_of(np.linalg.eigh)(np.eye(3))
    assert np.allclose(unthunk(pullback((np.ones(3), ZERO))[0]), np.eye(3))
    assert np.all(np.isfinite(unthunk(pullback((ZERO, real(3, 3)))[0])))


def test_a_result_that_depends_on_the_phase_is_refused():
    _, pullback = rule_of(np.linalg.eigh)(hermitian(cplx, 3, 3))
    with pytest.raises(NotImplementedDerivativeError, match="phase"):
        unthunk(pullback((ZERO, cplx(3, 3)))[0])
    _, pullback = rule_of(np.linalg.svd)(cplx(3, 3))
    with pytest.raises(NotImplementedDerivativeError, match="phase"):
        unthunk(pullback((cplx(3, 3), ZERO, ZERO))[0])


def with_signs(y):
    """Eigenvectors whose largest entry is positive: LAPACK's sign is erratic for real matrices."""
    w, v = y
    largest = np.take_along_axis(v, np.argmax(np.abs(v), axis=-2)[..., None, :], axis=-2)
    return w, v * np.sign(largest.real)


def check_eig(a):
    def rule(a):
        y, pullback = rule_of(np.linalg.eig)(a)
        signs = np.sign(np.real(with_signs(y)[1] / y[1]))
        return with_signs(y), lambda bar: pullback((bar[0], ZERO if bar[1] is ZERO else bar[1] * signs))

    def forward_rule(a, *, a_dot):
        y, (w_dot, v_dot) = rule_of(np.linalg.eig, "frule")(a, a_dot=a_dot)
        return with_signs(y), (w_dot, v_dot * np.sign(np.real(with_signs(y)[1] / y[1])))

    check_rrule(lambda a: with_signs(np.linalg.eig(a)), a, rule=rule)
    check_frule(lambda a: with_signs(np.linalg.eig(a)), a, rule=forward_rule)


@makes
@batches
def test_eig_and_eigvals(make, batch):
    spread = np.array([[1.0, -4, 0, 0], [1, 1, 0, 0], [0, 0, 6, -1], [0, 0, 4, 6]])
    a = make(*batch, 4, 4) * 0.1 + spread
    check_eig(a)
    check(np.linalg.eigvals, a)


def test_eig_with_real_eigenvalues():
    a = np.diag([1.0, 2.0, 4.0]) + 0.1 * real(3, 3)
    check_eig(a)
    check(np.linalg.eigvals, a)


def test_eigenvalues_in_another_order_are_matched():
    from thunkad.runtime.decompositions import eigenvectors_for

    a = cplx(2, 4, 4)
    w, v = np.linalg.eig(a)
    order = [2, 0, 3, 1]
    assert np.array_equal(eigenvectors_for(w[..., order], a), v[..., order])


@batches
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (1, 3)])
def test_svd_thin(batch, shape):
    check(np.linalg.svd, real(*batch, *shape), full_matrices=False, rtol=1e-5)


@makes
@batches
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_singular_values(make, batch, shape):
    check(np.linalg.svd, make(*batch, *shape), compute_uv=False)
    check(np.linalg.svdvals, make(*batch, *shape))


def test_svd_full_square():
    check(np.linalg.svd, real(3, 3), rtol=1e-5)


@makes
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
@pytest.mark.parametrize("full", [False, True])
def test_svd_used_independently_of_the_choice_of_vectors(make, shape, full):
    size = min(shape)
    weights = np.arange(1.0, size + 1)
    rest = np.ones(max(shape) - size)

    def use(y):
        u, s, vh = y
        thin = (u[:, :size] * (weights * s**3)) @ vh[:size]
        beside = u[:, size:] @ adjoint(u[:, size:]) if u.shape[1] > size else 0.0
        above = adjoint(vh[size:]) @ vh[size:] if vh.shape[0] > size else 0.0
        return thin, beside + 0 * u @ adjoint(u), above + 0 * adjoint(vh) @ vh

    def use_bar(y, z_bar):
        (u, s, vh), (thin, beside, above) = y, z_bar
        u_bar, vh_bar = np.zeros_like(u), np.zeros_like(vh)
        scaled = weights * s**3
        if not np.ndim(thin):
            thin = np.zeros((len(u), vh.shape[1]))
        u_bar[:, :size] = thin @ adjoint(vh[:size]) * scaled
        vh_bar[:size] = scaled[:, None] * (adjoint(u[:, :size]) @ thin)
        s_bar = (
            np.real(np.einsum("ji,jk,ik->i", np.conjugate(u[:, :size]), thin, np.conjugate(vh[:size])))
            * 3
            * weights
            * s**2
        )
        if np.ndim(beside):
            u_bar[:, size:] += (beside + adjoint(beside)) @ u[:, size:]
        if np.ndim(above):
            vh_bar[size:] += vh[size:] @ (above + adjoint(above))
        return u_bar, s_bar, vh_bar

    def rule(a):
        y, pullback = rule_of(np.linalg.svd)(a, full)
        return use(y), lambda z_bar: (unthunk(pullback(use_bar(y, z_bar))[0]),)

    assert rest.size == abs(shape[0] - shape[1])
    check_rrule(lambda a: use(np.linalg.svd(a, full)), make(*shape), rule=rule)


def test_svd_full_refuses_what_depends_on_the_complement():
    _, pullback = rule_of(np.linalg.svd)(real(5, 2))
    with pytest.raises(NotImplementedDerivativeError, match="complement"):
        unthunk(pullback((real(5, 5), ZERO, ZERO))[0])


def test_svd_of_equal_or_zero_singular_values_is_finite():
    for a in (np.eye(3), np.zeros((3, 2)), np.diag([1.0, 1.0, 0.0])):
        y, pullback = rule_of(np.linalg.svd)(a, False)
        bar = unthunk(pullback(tuple(real(*np.shape(v)) for v in y))[0])
        assert np.all(np.isfinite(bar))


def test_svd_of_hermitian():
    check_on_hermitian(np.linalg.svd, positive(real, 3, 3), hermitian=True, rtol=1e-5)
    check_on_hermitian(np.linalg.svd, hermitian(real, 3, 3), hermitian=True, compute_uv=False)


@makes
@batches
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
@pytest.mark.parametrize("mode", ["reduced", "r"])
def test_qr(make, batch, shape, mode):
    check(np.linalg.qr, make(*batch, *shape) + 3 * np.eye(*shape), mode=mode)


def test_qr_complete():
    check(np.linalg.qr, real(2, 4) + 3 * np.eye(2, 4), mode="complete")
    y, pullback = rule_of(np.linalg.qr)(real(5, 2), "complete")
    with pytest.raises(NotImplementedDerivativeError, match="complement"):
        unthunk(pullback((real(5, 5), ZERO))[0])
    a = real(5, 2)
    q_bar = np.zeros((5, 5))
    q_bar[:, :2], r_bar = real(5, 2), np.vstack([real(2, 2), np.zeros((3, 2))])
    thin = unthunk(rule_of(np.linalg.qr)(a)[1]((q_bar[:, :2], r_bar[:2]))[0])
    full = unthunk(rule_of(np.linalg.qr)(a, "complete")[1]((q_bar, r_bar))[0])
    assert np.allclose(thin, full)
    with pytest.raises(NotImplementedDerivativeError, match="raw"):
        unthunk(rule_of(np.linalg.qr)(a, "raw")[1]((ZERO, ZERO))[0])


@pytest.mark.parametrize(
    "fn", [np.linalg.inv, np.linalg.det, np.linalg.pinv, np.linalg.eigvals, np.linalg.qr, np.linalg.slogdet]
)
def test_linalg_keeps_single_precision(fn):
    a = (np.diag([1.0, 2.0, 4.0]) + 0.1 * real(3, 3)).astype(np.float32)
    check(fn, a, rtol=2e-3, atol=2e-3)


def test_lists_and_python_cotangents():
    assert np.allclose(unthunk(rule_of(np.linalg.norm)([3.0, 4.0])[1](1.0)[0]), [0.6, 0.8])
    assert np.allclose(unthunk(rule_of(np.linalg.det)([[2.0, 0.0], [0.0, 4.0]])[1](1.0)[0]), [[4, 0], [0, 2]])
    for fn in (np.linalg.inv, np.linalg.pinv, np.linalg.eigvals, np.linalg.cond):
        a = [[2.0, 1.0], [0.5, 4.0]]
        y, pullback = rule_of(fn)(a)
        got, want = unthunk(pullback(np.ones_like(y))[0]), unthunk(rule_of(fn)(np.array(a))[1](np.ones_like(y))[0])
        assert np.array_equal(got, want)
    q, r = np.ones((2, 2)), np.ones((2, 2))
    assert unthunk(rule_of(np.linalg.qr)(a)[1]((q, r))[0]).shape == (2, 2)
