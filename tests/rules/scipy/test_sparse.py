"""Sparse matrices: constants and matrices of differentiated entries, against dense ones."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import thunkad as ad

X = np.array([1.0, -2.0, 0.5])
ROW, COLUMN = np.array([0, 0, 1, 2, 2, 0, 1]), np.array([0, 1, 1, 0, 2, 0, 2])  # one place twice
A = sparse.csr_matrix(np.array([[2.0, 1.0, 0.0], [0.0, 3.0, -1.0], [1.0, 0.0, 4.0]]))
B = sparse.csr_array(A)
FACTORS = linalg.splu(A.tocsc())


def entries(x):
    return np.concatenate([x, x * x, x[:1] + 3.0])


def dense(x):
    made = np.zeros((3, 3))
    np.add.at(made, (ROW, COLUMN), entries(x))
    return made


def assembled(cls, x):
    return cls((entries(x), (ROW, COLUMN)), shape=(3, 3))


class Model:
    def __init__(self, matrix):
        self.matrix = matrix

    def __call__(self, x):
        return np.sum((self.matrix @ x) ** 3)


MODEL = Model(B)

#: A program with sparse matrices, and the same with dense ones.
PROGRAMS = {
    "products": (
        lambda x: np.sum((A @ x) ** 2 + (x @ B) ** 3 + A.dot(x) * (A * x) + A.T @ x),
        lambda x: np.sum((A.toarray() @ x) ** 2 + (x @ A.toarray()) ** 3 + (A.toarray() @ x) ** 2 + A.toarray().T @ x),
    ),
    "of_matrices": (
        lambda x: np.sum((A @ np.outer(x, x)) ** 2) + np.sum(np.outer(x, x) @ B),
        lambda x: np.sum((A.toarray() @ np.outer(x, x)) ** 2) + np.sum(np.outer(x, x) @ A.toarray()),
    ),
    "in_an_object": (lambda x: MODEL(x), lambda x: np.sum((A.toarray() @ x) ** 3)),
    "factors": (
        lambda x: np.sum(FACTORS.solve(x * x) ** 3 + FACTORS.solve(x, "T")),
        lambda x: np.sum(np.linalg.solve(A.toarray(), x * x) ** 3 + np.linalg.solve(A.toarray().T, x)),
    ),
    "a_stencil_made_inside": (
        lambda x: linalg.spsolve(sparse.identity(3, format="csr") - 0.1 * sparse.diags([-2.0, 1.0], [0, 1], (3, 3)), x) @ x,
        lambda x: np.linalg.solve(np.eye(3) * 1.2 - 0.1 * np.eye(3, k=1), x) @ x,
    ),
    "assembled": (
        lambda x: np.sum((assembled(sparse.csr_matrix, x) @ X) ** 2 + assembled(sparse.coo_array, x) @ x),
        lambda x: np.sum((dense(x) @ X) ** 2 + dense(x) @ x),
    ),
    "assembled_of_a_list": (
        lambda x: np.sum((sparse.coo_matrix(([x[0] ** 2, 3.0, x[1]], ([0, 0, 2], [0, 1, 2])), shape=(3, 3)).tocsr() @ x) ** 2),
        lambda x: (x[0] ** 3 + 3.0 * x[1]) ** 2 + (x[1] * x[2]) ** 2,
    ),
    "solved": (
        lambda x: np.sum(linalg.spsolve(assembled(sparse.coo_matrix, x).tocsc(), x) ** 2),
        lambda x: np.sum(np.linalg.solve(dense(x), x) ** 2),
    ),
    "of_a_dense_one": (
        lambda x: np.sum(linalg.spsolve(sparse.csc_array(np.diag(x) + np.eye(3, k=1)), X) ** 2),
        lambda x: np.sum(np.linalg.solve(np.diag(x) + np.eye(3, k=1), X) ** 2),
    ),
    "combined": (
        lambda x: combined(assembled(sparse.csr_matrix, x), x),
        lambda x: combined_dense(dense(x), x),
    ),
}  # fmt: skip


def combined(k, x):
    m = 2 * k + A * x[0] - k.T / x[1]
    return np.sum((-m @ x) ** 2) + np.sum(m.toarray() ** 2) + m.diagonal() @ x + m.sum() * x[2]


def combined_dense(k, x):
    m = 2 * k + A.toarray() * x[0] - k.T / x[1]
    return np.sum((-m @ x) ** 2) + np.sum(m**2) + np.diagonal(m) @ x + np.sum(m) * x[2]


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_dense_matrices(name):
    f, same = PROGRAMS[name]
    value, gradient = ad.value_and_grad(f)(X)
    assert value == pytest.approx(f(X), rel=1e-14)
    np.testing.assert_allclose(gradient, ad.grad(same)(X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(ad.jvp(f, (X,), (X,))[1], gradient @ X)
    np.testing.assert_allclose(ad.hvp(f, (X,), (X,)), ad.hvp(same, (X,), (X,)), rtol=1e-10, atol=1e-11)


def test_a_multiple_is_of_what_the_matrix_was():
    def f(x):
        k = assembled(sparse.csr_matrix, x)
        multiple = k * x[0]
        k.data *= 2
        return np.sum((multiple @ X) ** 2) + np.sum((k @ x) ** 2)

    def same(x):
        return np.sum((dense(x) * x[0] @ X) ** 2) + np.sum((2 * dense(x) @ x) ** 2)

    np.testing.assert_allclose(ad.grad(f)(X), ad.grad(same)(X))
    np.testing.assert_allclose(ad.hvp(f, (X,), (X,)), ad.hvp(same, (X,), (X,)))


def test_complex_numbers():
    matrix = sparse.csr_matrix(np.array([[1.0 + 2.0j, 0.0], [0.5, 1.0j]]))

    def f(x):
        return np.sum(np.abs(matrix @ x) ** 2)

    x = np.array([0.3, -1.2])
    np.testing.assert_allclose(ad.grad(f)(x), 2 * np.real(matrix.toarray().conj().T @ (matrix.toarray() @ x)))


def changed_afterwards(x):
    d = entries(x)
    whole = sparse.csr_matrix((d, (ROW, COLUMN)), shape=(3, 3), dtype=int)
    own = sparse.coo_matrix((d, (ROW, COLUMN)), shape=(3, 3), copy=True)
    k = sparse.csr_matrix((d, (ROW, COLUMN)), shape=(3, 3))
    t = k.T
    d *= 2
    k *= 3
    return np.sum((own @ x) ** 2 + (t @ x) ** 2 + (whole @ x) ** 2)


def changed_afterwards_dense(x):
    whole = np.zeros((3, 3))
    np.add.at(whole, (ROW, COLUMN), np.trunc(entries(x)))
    return np.sum((dense(x) @ x) ** 2 + (3 * dense(x).T @ x) ** 2 + (whole @ x) ** 2)


def test_copies_and_shared_entries():
    value, gradient = ad.value_and_grad(changed_afterwards)(X)
    assert value == pytest.approx(changed_afterwards(X), rel=1e-14)
    np.testing.assert_allclose(gradient, ad.grad(changed_afterwards_dense)(X), rtol=1e-11)
    np.testing.assert_allclose(ad.jvp(changed_afterwards, (X,), (X,))[1], gradient @ X)
    np.testing.assert_allclose(ad.linearize(changed_afterwards, X)[1](X), gradient @ X)


def test_entries_out_of_order_that_scipy_sorts_in_place():
    def f(x):
        k = sparse.csr_matrix((entries(x) + 5.0, np.array([1, 0, 2, 1, 2, 2, 0]), np.array([0, 2, 4, 7])), shape=(3, 3))
        y = k.dot(x)
        y[0] = 1.0
        return np.sum(y * linalg.spsolve(k, x)) + np.sum(k @ y)

    h = 1e-6
    wanted = (f(X + h * X) - f(X - h * X)) / (2 * h)
    for found in (ad.grad(f)(X) @ X, ad.jvp(f, (X,), (X,))[1], ad.linearize(f, X)[1](X)):
        assert found == pytest.approx(wanted, rel=1e-7)


def test_a_matrix_that_is_changed_after_its_use_is_refused():
    def f(x):
        k = sparse.csr_matrix(np.diag(x))
        y = k @ x
        k.data *= 2
        return np.sum(y**2)

    with pytest.raises(ad.UnsupportedSyntaxError, match="changed in place"):
        ad.grad(f)(X)
    assert ad.jvp(f, (X,), (X,))[1] == pytest.approx(4 * np.sum(X**4))


def test_what_is_refused():
    with pytest.raises(ad.NoRuleError, match="toarray"):
        ad.grad(lambda x: np.sum((sparse.csr_array(np.diag(x)) @ B).toarray()))(X)
    with pytest.raises(ad.NoRuleError, match="toarray"):
        ad.grad(lambda x: sparse.csr_array(np.diag(x))[1, 1])(X)
    with pytest.raises(ad.NoRuleError, match="csr, csc and coo"):
        ad.grad(lambda x: np.sum(sparse.kron(sparse.csr_matrix(np.diag(x)), A).toarray()))(X)
    with pytest.raises(ad.ThunkadError, match="entry by entry"):
        ad.grad(lambda x: sparse.csr_array(np.diag(x)).multiply(B).sum())(X)
    with pytest.raises(ad.NoRuleError, match="spsolve"):
        ad.grad(lambda x: np.sum(linalg.cg(A, x)[0]))(X)
