"""Rules of matrix, inner, outer and tensor products against finite differences."""

import numpy as np
import pytest

import thunkad.rules.numpy.linalg_products
import thunkad.rules.numpy.products  # noqa: F401
from thunkad.rules.table import TABLE
from thunkad.runtime import products
from thunkad.runtime.einsum import einsum_bars, einsum_bars_dot, multi_dot_bars, multi_dot_bars_dot
from thunkad.runtime.products import matmul_left_bar
from thunkad.tangents import ZERO
from thunkad.testing import check_frule, check_grads, check_rrule

RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order():
    RNG.bit_generator.state = np.random.default_rng(7).bit_generator.state


def real(*shape):
    return RNG.normal(size=shape)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def check(fn, *args, **kwargs):
    check_rrule(fn, *args, **kwargs)
    check_frule(fn, *args, **kwargs)


MATMUL = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)),
          ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (4, 3, 2)), ((1, 2, 3), (5, 3, 2)),
          ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((0, 2, 3), (3, 2))]  # fmt: skip


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("a, b", MATMUL)
def test_matmul(make, a, b):
    check(np.matmul, make(*a), make(*b))
    check(np.linalg.matmul, make(2, 3), make(3, 2))


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize(
    "a, b",
    [((), ()), ((), (2, 3)), ((2, 3), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((4, 2, 3), (3,)),
     ((3,), (4, 3, 2)), ((5, 2, 3), (4, 3, 2)), ((2, 3), (4, 3, 2)), ((2, 4, 3), (3, 2)), ((0, 3), (3, 2))],
)  # fmt: skip
def test_dot(make, a, b):
    check(np.dot, make(*a), make(*b))


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize(
    "a, b",
    [
        ((), ()),
        ((), (2, 3)),
        ((3,), ()),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (2, 3)),
        ((2, 4, 3), (5, 3)),
        ((0,), (0,)),
    ],
)
def test_inner(make, a, b):
    check(np.inner, make(*a), make(*b))


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("a, b", [((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (6,)), ((0,), (0,))])
def test_vdot(make, a, b):
    check(np.vdot, make(*a), make(*b))


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("a, b", [((3,), (2,)), ((2, 2), (3,)), ((), (3,)), ((0,), (3,))])
def test_outer(make, a, b):
    check(np.outer, make(*a), make(*b))
    check(np.linalg.outer, make(3), make(2))


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize(
    "a, b, axes",
    [((2, 3, 4), (3, 4, 5), 2), ((2, 3), (4,), 0), ((2, 3, 4), (4, 3, 2), ([1, 0], [1, 2])), ((2, 3, 4), (2, 4), ((0, 2), (0, 1))),
     ((2, 3, 4), (3, 5), (1, 0)), ((3, 2), (2, 5), (-1, 0)), ((2, 3, 4), (4, 5, 2, 3), ([2, 0, 1], [0, 2, 3])),
     ((2, 3, 4), (3, 2, 6, 4), ([0, 2, 1], [1, 3, 0])), ((3,), (3,), 1)],
)  # fmt: skip
def test_tensordot(make, a, b, axes):
    check(np.tensordot, make(*a), make(*b), axes=axes)
    check(np.linalg.tensordot, make(*a), make(*b), axes=axes)


EINSUM = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ji,jk", (2, 3), (2, 4)), ("ii", (3, 3)), ("ii->i", (3, 3)),
    ("ij->", (2, 3)), ("ij->j", (2, 3)), ("ij->ji", (2, 3)), ("iij->j", (2, 2, 3)), ("i,j->ij", (2,), (3,)), ("i,i", (3,), (3,)),
    ("...ij,...jk->...ik", (5, 2, 3), (5, 3, 4)), ("...ij,...jk->...ik", (5, 2, 3), (3, 4)), ("...ij,jk", (5, 2, 3), (3, 4)),
    ("...i->...", (2, 3)), ("i...->...", (2, 3, 4)), ("...,...", (2, 3), (3,)), ("ij,ij->ij", (1, 3), (2, 3)),
    ("ij,jk->ik", (2, 1), (3, 4)), ("ij,jk->ik", (2, 3), (1, 4)), ("ijk,jil,kl->il", (2, 3, 4), (3, 2, 5), (4, 5)),
    ("iji,j->i", (3, 2, 3), (2,)), (",ij->ij", (), (2, 3)), ("i,", (3,), ()), ("iii->i", (2, 2, 2)), ("a...a->...", (3, 2, 3)),
    ("i j , j k -> i k", (2, 3), (3, 4)), ("ij,k->k", (2, 3), (4,)), ("...a,...b->ab...", (3, 2), (3, 4)), ("ij,jk->ik", (0, 3), (3, 4)),
]  # fmt: skip


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("spec", EINSUM, ids=str)
def test_einsum(make, spec):
    check(np.einsum, spec[0], *[make(*s) for s in spec[1:]])


@pytest.mark.parametrize("optimize", [True, "greedy", "optimal"])
def test_einsum_optimized(optimize):
    check(np.einsum, "ij,jk,kl->il", real(2, 3), real(3, 4), real(4, 2), optimize=optimize)
    check(np.einsum, "ii,i->", real(3, 3), real(3), optimize=optimize)
    check(np.einsum, "...ij,...jk->...ik", real(5, 2, 3), real(1, 3, 4), optimize=optimize)


def test_einsum_sublists():
    check(np.einsum, real(2, 3), [0, 1], real(3, 4), [1, 2], [0, 2])
    check(np.einsum, real(2, 3), [0, 1], real(3, 4), [1, 2])
    check(np.einsum, real(2, 3), [5, 1])
    check(np.einsum, real(3, 3), [0, 0], [])
    check(np.einsum, real(5, 2, 3), [Ellipsis, 1], real(3), [1], [Ellipsis])
    check(np.einsum, real(2, 3), [30, 2])


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize(
    "a, b", [((2,), (3,)), ((2, 3), (3, 2)), ((2,), (3, 2)), ((2, 3), (4,)), ((2, 1, 3), (2, 2)), ((), (2, 3))]
)
def test_kron(make, a, b):
    check(np.kron, make(*a), make(*b))


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize(
    "a, b, options",
    [((3,), (3,), {}), ((4, 3), (3,), {}), ((1, 3), (4, 3), {}), ((3, 4), (3, 4), {"axis": 0}), ((3, 4), (4, 3), {"axisa": 0}),
     ((3, 4), (4, 3), {"axisa": 0, "axisc": 0}), ((2, 3), (5, 2, 3), {})],
)  # fmt: skip
def test_cross(make, a, b, options):
    check(np.cross, make(*a), make(*b), **options)
    check(np.linalg.cross, make(4, 3), make(4, 3))


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("a, b", [((2,), (2,)), ((4, 2), (2,)), ((2,), (4, 3)), ((3,), (2,))])
def test_cross_of_plane_vectors(a, b):
    check(np.cross, real(*a), real(*b))


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize(
    "a, b, axis", [((3,), (3,), -1), ((4, 3), (3,), -1), ((4, 3), (5, 1, 3), -1), ((3, 4), (3, 4), 0)]
)
def test_vecdot(make, a, b, axis):
    check(np.vecdot, make(*a), make(*b), axis=axis)
    if axis < 0:
        check(np.linalg.vecdot, make(*a), make(*b), axis=axis)


@pytest.mark.skipif(not hasattr(np, "matvec"), reason="NumPy 2.2")
@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("batch_a, batch_b", [((), ()), ((5,), ()), ((), (5,)), ((5, 1), (4,))])
def test_matvec_and_vecmat(make, batch_a, batch_b):
    check(np.matvec, make(*batch_a, 2, 3), make(*batch_b, 3))
    check(np.vecmat, make(*batch_a, 2), make(*batch_b, 2, 3))


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("offset", [-3, -1, 0, 1, 5])
def test_trace_and_diagonal(make, offset):
    check(np.trace, make(3, 4), offset=offset)
    check(np.trace, make(3, 2, 4), offset, axis1=2, axis2=0)
    check(np.linalg.trace, make(2, 3, 4), offset=offset)
    check(np.linalg.diagonal, make(2, 3, 4), offset=offset)


def test_matrix_transpose():
    check(np.linalg.matrix_transpose, cplx(2, 3, 4))


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize(
    "shapes", [((2, 3), (3, 4)), ((3,), (3, 4), (4,)), ((2, 3), (3, 4), (4, 2), (2, 5)), ((3,), (3,))]
)
def test_multi_dot(make, shapes):
    check(np.linalg.multi_dot, [make(*s) for s in shapes])


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 7])
def test_matrix_power(make, n):
    check(np.linalg.matrix_power, make(2, 3, 3) + 2 * np.eye(3), n)


@pytest.mark.parametrize(
    "fn, shapes",
    [(np.matmul, ((2, 3), (3,))), (np.dot, ((2, 3), (3, 2))), (np.outer, ((2,), (3,))), (np.inner, ((3,), (3,)))],
)
def test_single_precision_is_kept(fn, shapes):
    check(fn, *[real(*s).astype(np.float32) for s in shapes])


def test_left_cotangent_reads_only_the_shape_of_the_left_operand():
    y_bar, b = real(2, 4), real(3, 4).T.copy().T
    poisoned = np.full((2, 3), np.nan)
    assert np.array_equal(matmul_left_bar(y_bar, poisoned, b), y_bar @ b.T)


def test_only_the_operand_that_is_read_is_computed(monkeypatch):
    (entry,) = [e for e in TABLE.snapshot.entries(np.einsum) if e.kind == "rrule"]
    y, pullback = entry.function("ij,jk->ik", real(2, 3), real(3, 4))
    (bars,) = (b.force() for b in pullback(np.ones_like(y)))
    calls = []
    plain = np.einsum
    monkeypatch.setattr(np, "einsum", lambda *a, **k: calls.append(a) or plain(*a, **k))
    assert bars[1].shape == (2, 3) and len(calls) == 1


SECOND_ORDER = [
    (products.matmul_left_bar, (2, 4), (2, 3), (3, 4)), (products.matmul_right_bar, (2, 4), (2, 3), (3, 4)),
    (products.dot_left_bar, (2,), (2, 3), (3,)), (products.inner_right_bar, (2, 4), (2, 3), (4, 3)),
    (products.vdot_left_bar, (), (3,), (3,)), (products.outer_right_bar, (2, 3), (2,), (3,)),
    (products.kron_left_bar, (4, 9), (2, 3), (2, 3)), (products.cross_right_bar, (4, 3), (4, 3), (3,)),
]  # fmt: skip


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize(
    "helper, shapes", [(s[0], s[1:]) for s in SECOND_ORDER], ids=lambda x: getattr(x, "__name__", "")
)
def test_tangents_of_cotangents(make, helper, shapes):
    y_bar, a, b = (make(*s) for s in shapes)
    (entry,) = TABLE.snapshot.entries(helper)
    y_bar_dot, a_dot, b_dot = (make(*s) for s in shapes)
    value, dot = entry.function(y_bar, a, b, first_dot=y_bar_dot, rest_dot=(a_dot, b_dot))
    h = 1e-6
    ahead = helper(y_bar + h * y_bar_dot, a + h * a_dot, b + h * b_dot)
    behind = helper(y_bar - h * y_bar_dot, a - h * a_dot, b - h * b_dot)
    assert np.array_equal(value, helper(y_bar, a, b)) and np.allclose(dot, (ahead - behind) / (2 * h), atol=1e-7)
    alone = entry.function(y_bar, a, b, first_dot=y_bar_dot, rest_dot=ZERO)[1]
    assert np.allclose(alone, helper(y_bar_dot, a, b))


def test_tangents_of_the_cotangents_of_einsum_and_multi_dot():
    arrays, dots = [real(2, 3), real(3, 4), real(4, 2)], [real(2, 3), ZERO, real(4, 2)]
    y_bar, y_bar_dot, h = real(2, 2), real(2, 2), 1e-6
    moved = lambda t: [a if d is ZERO else a + t * d for a, d in zip(arrays, dots)]  # noqa: E731
    chain = lambda t: ("ij,jk,kl->il", *moved(t))  # noqa: E731
    got = einsum_bars_dot(y_bar, chain(0), False, y_bar_dot, (ZERO, *dots))
    ahead, behind = (einsum_bars(y_bar + t * y_bar_dot, chain(t)) for t in (h, -h))
    assert all(np.allclose(g, (p - q) / (2 * h), atol=1e-7) for g, p, q in list(zip(got, ahead, behind))[1:])
    got = multi_dot_bars_dot(y_bar, arrays, y_bar_dot, dots)
    ahead, behind = (multi_dot_bars(y_bar + t * y_bar_dot, moved(t)) for t in (h, -h))
    assert all(np.allclose(g, (p - q) / (2 * h), atol=1e-7) for g, p, q in zip(got, ahead, behind))


LISTS = [
    (np.matmul, [[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0]), (np.matmul, [5.0, 6.0], [[1.0, 2.0], [3.0, 4.0]]), (np.dot, [1.0, 2.0], [3.0, 4.0]),
    (np.dot, 2.0, [3.0, 4.0]), (np.inner, [1.0, 2.0], [3.0, 4.0]), (np.vdot, [1.0, 2.0], [3.0, 4.0]), (np.outer, [1.0, 2.0], [3.0, 4.0]),
    (np.kron, [1.0, 2.0], [3.0, 4.0]), (np.cross, [1.0, 2.0, 3.0], [3.0, 4.0, 5.0]), (np.tensordot, [[1.0, 2.0]], [[3.0, 4.0]]),
    (np.vecdot, [1.0, 2.0], [3.0, 4.0]),
]  # fmt: skip


@pytest.mark.parametrize("fn, a, b", LISTS)
def test_operands_given_as_lists(fn, a, b):
    (entry,) = [e for e in TABLE.snapshot.entries(fn) if e.kind == "rrule"]
    y, pullback = entry.function(a, b)
    y_bar = np.ones_like(y) * 2 if np.ndim(y) else 2.0  # a number's cotangent may be a Python float
    got = [bar.force() for bar in pullback(y_bar)[:2]]
    want = [bar.force() for bar in entry.function(np.asarray(a), np.asarray(b))[1](y_bar)[:2]]
    assert all(np.array_equal(g, w) and np.shape(g) == np.shape(x) for g, w, x in zip(got, want, (a, b)))


def test_a_product_by_einsum_is_no_view_of_what_is_written():
    def f(x, w):
        p = np.exp(x)
        p /= np.sum(p, axis=1, keepdims=True)
        return np.einsum("ij,jk->ik", p, w)

    check_grads(f, np.array([[0.3, 0.5], [0.7, 0.2]]), np.array([[1.0, 2.0, 0.5], [0.4, 0.1, 0.9]]))
