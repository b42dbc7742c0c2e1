"""Results of rules that are lists or tuples, in functions that write in place: their cotangents reach what they were made of."""

import numpy as np
import pytest

import thunkad as ad
from thunkad.testing import check_grads

M = np.array([[2.0, 0.3, 0.1], [0.4, 3.0, 0.2], [0.1, 0.6, 2.5]])


def nested_list(x):
    rows = [a.tolist() for a in [x]]
    return rows[0][1][0] * rows[0][2][2]


def appended_lists(x):
    rows = []
    for k in range(3):
        rows.append(x[k].tolist())
    return rows[0][1] * rows[1][2]


def appended_arrays_of_a_tuple(x):
    rows = []
    for k in range(3):
        rows.append(np.linalg.svd(x * (k + 1))[1])
    return np.sum(np.array(rows) ** 2)


def list_of_arrays(x):
    y = x * 1.0
    y[0, 1] = 2 * x[1, 1]
    g = np.gradient(y)
    return np.sum(g[0] * g[1])


def list_of_views(x):
    y = x * 1.0
    y[0, 1] = 2 * x[1, 1]
    g = np.split(y, 3)
    return np.sum(g[0] * g[1])


def sorted_lists(x):
    rows = []
    for k in range(3):
        rows.append(sorted(x[k].tolist()))
    return rows[0][1] * rows[1][2]


@pytest.mark.parametrize(
    "f", [nested_list, appended_lists, appended_arrays_of_a_tuple, list_of_arrays, list_of_views, sorted_lists]
)
def test_gradients(f):
    check_grads(f, M)


def test_an_array_made_of_a_number_by_its_item_is_refused():
    def f(y):
        rows = [y * 1.0]
        rows.append(rows[0][1] * rows[0][0])
        return np.sum(rows[1][None] ** 2)

    with pytest.raises(ad.UnsupportedSyntaxError, match="x\\[None\\]"):
        ad.grad(f)(np.array([1.0, 2.0]))
