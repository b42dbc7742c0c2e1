"""Arrays are let go of after their last use, in long functions only."""

from __future__ import annotations

import tracemalloc

import numpy as np

import thunkad as ad
from thunkad.ir import nodes as n
from thunkad.optimise.release import FEWEST, release


def long_chain(count):
    body = [n.Assign("v0", n.Call(n.Global("f"), (n.Name("x"),)))]
    for k in range(1, count):
        body.append(n.Assign(f"v{k}", n.Binary("*", n.Name(f"v{k - 1}"), n.Name("x"))))
    return [*body, n.Return(n.Name(f"v{count - 1}"))]


def deleted(block):
    return [s.target.id for s in block if type(s) is n.Delete]


def test_a_short_function_keeps_its_look() -> None:
    block = long_chain(FEWEST - 1)
    assert release(block, lambda x: True) == block


def test_each_array_goes_after_its_last_use_and_the_result_stays() -> None:
    block = release(long_chain(FEWEST + 4), lambda x: x != "v3")
    want = [f"v{k}" for k in range(FEWEST + 2) if k != 3]
    assert deleted(block) == want
    for k in want:
        at = block.index(n.Delete(n.Name(k)))
        assert not any(k in s_reads for s_reads in (str(s) for s in block[at + 1 :]) if f"'{k}'" in s_reads)


def test_what_is_bound_in_a_branch_or_read_by_an_inner_function_stays() -> None:
    block = long_chain(FEWEST + 4)
    branch = n.If(n.Name("x"), [n.Assign("v2", n.Const(1.0))], [])
    inner = n.Define(n.Function("inner", [], [n.Return(n.Name("v5"))]))
    out = release([*block[:3], branch, *block[3:7], inner, *block[7:]], lambda x: True)
    assert "v2" not in deleted(out) and "v5" not in deleted(out) and "v4" in deleted(out)


def test_a_loop_counts_as_one_statement() -> None:
    block = long_chain(FEWEST + 4)
    loop = n.For("k", n.Name("r"), [n.Assign("w", n.Binary("+", n.Name("v1"), n.Name("k")))])
    out = release([*block[:-1], loop, n.Return(n.Name("w"))], lambda x: True)
    assert "v1" not in deleted(out)  # the loop is the last statement before the return


def test_the_gradient_of_a_long_chain_holds_what_it_needs_only() -> None:
    def chain(x):
        for_sum = x
        t = np.sin(x)
        t = np.exp(t)
        t = np.tanh(t)
        t = np.cos(t)
        t = t * 2.0 + 1.0
        t = np.sin(t) + 2.0
        t = np.log(t)
        t = np.exp(-t)
        t = np.arctan(t)
        t = np.sinh(t)
        t = np.cosh(t)
        t = np.sqrt(t)
        return np.sum(t) + np.sum(for_sum * 0.0)

    x = np.linspace(0.1, 1.0, 50_000)
    gradient = ad.grad(chain)
    gradient(x)
    tracemalloc.start()
    gradient(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * x.nbytes  # 12 residuals and a few at work; without letting go, more than 30
