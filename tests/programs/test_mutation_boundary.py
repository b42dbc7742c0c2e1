"""What the user does between the forward and the reverse code changes nothing: arguments, results and seeds are
written over."""

import mutation_arrays
import mutation_calls
import mutation_containers
import mutation_views
import numpy as np
import pytest
import thunkad as ad
from checking import Program
from thunkad.testing.leaves import copied, leaves, random_tangents, unthunk_all

#: Their results are lists that the test makes longer: their seeds no longer fit, and an error says so.
LONGER = {"result_in_dict", "argument_returned_list", "result_list_of_arrays"}
CASES = {
    name: program
    for module in (mutation_arrays, mutation_views, mutation_containers, mutation_calls)
    for name, program in module.PROGRAMS.items()
    if name not in module.REFUSED | LONGER and not name.startswith("raises")
}


def write_over(x):
    if isinstance(x, np.ndarray):
        if x.flags.writeable:
            x[...] = 7
    elif isinstance(x, (list, tuple)):
        for v in x:
            write_over(v)
        if isinstance(x, list):
            x.reverse()
            x.append(3.0)
    elif isinstance(x, dict):
        for k, v in x.items():
            write_over(v)
            if isinstance(v, float):
                x[k] = 9.0


def same(a, b):
    mine, others = dict(leaves(a)), dict(leaves(b))
    return mine.keys() == others.keys() and all(
        np.array_equal(v, others[path], equal_nan=True)
        for path, v in mine.items()
        if isinstance(v, (np.ndarray, np.generic, float, complex))
    )


@pytest.mark.parametrize("name", [n for n in CASES if n != "arg_read_only_raises"])
def test_between_the_halves(name):
    text, args = CASES[name]
    f = Program(text, args).build()
    value, pullback = ad.vjp(f, *copied(args))
    seed = random_tangents(value, np.random.default_rng(1))
    expected = unthunk_all(tuple(pullback(copied(seed))))
    given = copied(args)
    value, pullback = ad.vjp(f, *given)
    write_over(given)
    write_over(value)
    mine = copied(seed)
    bars = pullback(mine)
    write_over(mine)
    found = unthunk_all(tuple(bars))
    assert same(found, expected)
    write_over(found)
    assert same(unthunk_all(tuple(pullback(copied(seed)))), expected)


def both_written(u, v):
    u[0] = v[1] * 2.0
    v *= u
    return np.sum(u * v)


def test_two_arguments_of_one_memory_are_refused() -> None:
    x = np.array([1.0, 2.0, 3.0])
    for same in (x, x[::-1]):
        with pytest.raises(ad.ArgumentError, match="share memory"):
            ad.grad(both_written, argnums=(0, 1))(x, same)
        with pytest.raises(ad.ArgumentError, match="share memory"):
            ad.vjp(both_written, x, same)
    assert np.array_equal(x, [1.0, 2.0, 3.0])
    ad.grad(both_written, argnums=(0, 1))(x, x.copy())


def several_written(*args):
    return both_written(*args)


def test_so_are_those_of_star_args_and_of_linear_maps() -> None:
    x = np.array([1.0, 2.0, 3.0])
    for f in (both_written, several_written):
        for take in (ad.hessian(f), ad.grad(f), ad.jacobian(f), lambda *a, f=f: ad.linearize(f, *a)):
            with pytest.raises(ad.ArgumentError, match="share memory"):
                take(x, x)
            take(x, x.copy())


class Held:
    pass


def in_dict(u, v):
    d = {}
    d["u"] = u
    d["v"] = v
    return np.sum(d["u"] * d["v"] * d["v"])


def in_object(u, v):
    held = Held()
    held.u, held.v = u, v
    held.v = held.v * 1.0
    return np.sum(held.u * held.v * held.v)


@pytest.mark.parametrize("f", [in_dict, in_object])
def test_two_arguments_of_one_memory_that_are_not_written(f) -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert f(x, x) == ad.value_and_grad(f)(x, x)[0]
    for u_bar, v_bar in (ad.grad(f, argnums=(0, 1))(x, x), tuple(ad.vjp(f, x, x)[1](1.0))):
        assert np.allclose(u_bar, x * x) and np.allclose(v_bar, 2 * x * x)
    u_bar, v_bar = ad.grad(f, argnums=(0, 1))(x, x[::-1])
    assert np.allclose(u_bar, x[::-1] ** 2) and np.allclose(v_bar, 2 * x * x[::-1])


def test_arguments_that_share_memory_inside_are_refused() -> None:
    def f(p, q):
        p = dict(p)
        p["w"] = p["w"] * 2.0
        return np.sum(p["w"] * q["w"])

    x = np.array([1.0, 2.0])
    with pytest.raises(ad.ArgumentError, match="share memory"):
        ad.grad(f, argnums=(0, 1))({"w": x}, {"w": x})
    p_bar, q_bar = ad.grad(f, argnums=(0, 1))({"w": x}, {"w": x.copy()})
    assert np.allclose(p_bar["w"], 2 * x) and np.allclose(q_bar["w"], 2 * x)
