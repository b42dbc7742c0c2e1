"""What forward mode takes for changed: only memory that may be the argument's."""

import numpy as np
import pytest

import thunkad as ad


def copied_under_its_name(x):
    x = x.copy()
    x[0] = x[1] * x[1]
    return np.sum(x * x)


def copied_by_array(x):
    y = np.array(x)
    y[0] = y[1] * y[1]
    return np.sum(y * x)


def copied_by_astype(x):
    y = x.astype(float)
    y *= x
    return np.sum(y)


def put_into_a_list(x):
    parts = []
    for k in range(0, len(x), 2):
        parts.append(x[k : k + 2])
    parts[0] = 2.0 * parts[0]
    return sum(np.prod(p) for p in parts)


def from_a_generator(x):
    def pairs(a):
        for k in range(0, len(a), 2):
            yield a[k : k + 2]

    return sum(np.prod(p) for p in pairs(x))


def put_where_a_dict_says(x):
    p = {"a": {"b": [x * 2.0, x]}}
    q = {k: dict(v) for k, v in p.items()}
    q["a"]["b"].append(q["a"]["b"][0] * x)
    first, *rest = q["a"]["b"]
    return np.sum(first) + sum(np.sum(r * r) for r in rest)


class Layer:
    def __init__(self):
        self.w, self.b = np.zeros(2), np.zeros(2)

    def load(self, theta):
        for k, name in enumerate(("w", "b")):
            setattr(self, name, theta[2 * k : 2 * k + 2])


def set_by_name(x):
    layer = Layer()
    layer.load(x)
    return np.sum(np.tanh(layer.w) * layer.b)


def apply(f, *args):
    return f(*args)


@pytest.mark.parametrize(
    "f",
    [
        copied_under_its_name,
        copied_by_array,
        copied_by_astype,
        put_into_a_list,
        from_a_generator,
        put_where_a_dict_says,
        set_by_name,
    ],
)
def test_functions_found_at_run_time_that_leave_their_arrays_alone(f):
    x, d = np.array([0.5, 1.5, -2.0, 0.7]), np.array([1.0, -2.0, 0.5, 3.0])
    value, dot = ad.jvp(lambda v: apply([f][0], *(v,)), (x,), (d,))
    assert value == f(x)
    np.testing.assert_allclose(dot, (f(x + 1e-6 * d) - f(x - 1e-6 * d)) / 2e-6, rtol=1e-7)


def test_a_list_that_the_callee_fills_holds_what_it_held():
    def fill(xs, x):
        xs.append(x)
        xs[0] = xs[0] * x[0]

    def f(x):
        xs = [x]
        [fill][0](xs, 2.0 * x)
        return np.sum(xs[0] * xs[1]) + np.sum(x)

    x, d = np.array([0.5, 1.5]), np.array([1.0, -2.0])
    _, dot = ad.jvp(f, (x,), (d,))
    np.testing.assert_allclose(dot, (f(x + 1e-6 * d) - f(x - 1e-6 * d)) / 2e-6, rtol=1e-7)


@pytest.mark.parametrize("copy", [False, None])
def test_an_array_that_may_not_be_copied_is_the_argument(copy):
    def overwrite(x):
        y = np.array(x, copy=copy)
        y[0] = y[1] * y[1]
        return np.sum(y * x)

    with pytest.raises(ad.UnsupportedSyntaxError, match="changes its argument 'x' in place"):
        ad.jvp(lambda v: apply([overwrite][0], *(1.0 * v,)), (np.arange(3.0),), (np.ones(3),))


def test_what_only_may_write_into_its_argument_is_looked_at_when_it_runs():
    def either(x, k):
        y = x if k else 2.0 * x
        y[0] = y[1] * y[1]
        return np.sum(y * y)

    x, d = np.array([0.5, 1.5]), np.array([1.0, -2.0])
    value, dot = ad.jvp(lambda v: apply([either][0], v, 0), (x,), (d,))
    assert value == either(x.copy(), 0)
    np.testing.assert_allclose(dot, (either(x + 1e-6 * d, 0) - either(x - 1e-6 * d, 0)) / 2e-6, rtol=1e-7)
    changed = x.copy()
    value, dot = ad.jvp(lambda v: apply([either][0], v, 1), (changed,), (d,))
    np.testing.assert_array_equal(changed, [2.25, 1.5])  # as the plain function leaves it
    np.testing.assert_array_equal(d, [1.0, -2.0])
    plus, minus = either(x + 1e-6 * d, 1), either(x - 1e-6 * d, 1)
    np.testing.assert_allclose(dot, (plus - minus) / 2e-6, rtol=1e-7)


def test_second_derivatives_of_copies_that_are_written():
    def f(s):
        y = np.zeros(())
        y[()] = s * s
        y[...] *= s
        return y * s

    np.testing.assert_allclose(ad.hessian(f)(1.3), 12 * 1.3**2, rtol=1e-12)


def test_writing_what_is_there_already_changes_the_tangent():
    def overwrite(x):
        x[0] = 2.0
        return np.sum(x * x)

    def fill(buffer, x):
        buffer[0] = x
        return x

    def held(x):
        buffer = np.zeros(2)
        return apply([fill][0], buffer, x) + buffer[0]

    found = ad.jvp(lambda v: apply([overwrite][0], v) + np.sum(v), (np.array([2.0, 3.0]),), (np.ones(2),))
    assert found == (18.0, 7.0)
    assert ad.jvp(held, (0.0,), (1.0,)) == (0.0, 2.0)


@pytest.mark.parametrize(
    "g", [lambda a: +a, lambda a: a + 0.0, np.asarray_chkfinite, np.float64, lambda a: np.asarray(a), np.trim_zeros]
)
def test_results_share_memory_with_what_is_changed_later_or_do_not(g):
    gs = [lambda a: g(a)]

    def f(x):
        a = np.array([x, x * x])
        b = gs[0](a)
        a[0] = x * 3
        return np.sum(b * b)

    shared = np.shares_memory(g(a := np.ones(2)), a)
    assert np.isclose(ad.jvp(f, (1.5,), (1.0,))[1], 40.5 if shared else 16.5)
    assert np.isclose(ad.hvp(f, (1.5,), (1.0,)), 45.0 if shared else 29.0)
