"""Lists that shrink while their entries are used: each cotangent goes back to where its entry was."""

from __future__ import annotations

import pytest

import thunkad as ad


def popped(x):
    stack = [x, 2 * x, x * x]
    total = 0.0
    while stack:
        total = total * x + stack.pop()
    return total


def both_ends(x):
    queue = [x, 2 * x, x * x, x + 1]
    total = 0.0
    while len(queue) > 1:
        total = total * x + queue.pop(0) * queue.pop(-1)
    return total


def middle(x):
    stack = [x, 2 * x, x * x, x + 1, 3 * x]
    total = 0.0
    while len(stack) > 2:
        total = total * x + stack.pop(-2)
        stack.append(total)
        total = total + stack.pop() * stack.pop(0)
    return total


def deleted(x):
    entries = [x, 2 * x, x * x, x + 1, 3 * x]
    total = 0.0
    for k in range(3):
        total = total * x + entries[-1] * entries[0]
        del entries[-1]
    del entries[0]
    return total * entries[0]


@pytest.mark.parametrize("f", [popped, both_ends, middle, deleted])
def test_entries_taken_off_a_list(f) -> None:
    eps = 1e-6
    assert ad.grad(f)(0.7) == pytest.approx((f(0.7 + eps) - f(0.7 - eps)) / (2 * eps), rel=1e-6)
