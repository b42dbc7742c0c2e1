"""Programs whose printed derivatives are run as modules: (function, arguments)."""

import math
from collections import namedtuple

import numpy as np

import thunkad as ad

SCALE = 1.5
WEIGHTS = np.array([0.5, -1.0, 2.0])
A = np.array([0.5, -1.25, 2.0])
M = np.arange(6.0).reshape(2, 3) / 4 - 0.6

Pair = namedtuple("Pair", "first second")


def straight(x, y):
    a = x * y
    return np.sum(np.sin(a) + x**2)


def with_globals(x):
    return np.sum(x * WEIGHTS) * SCALE


def branch(x):
    if x > 1.0:
        return x * x
    return -x


def loop(x, n):
    h = x
    for _ in range(n):
        h = np.tanh(h) * x
    return np.sum(h)


def leaves(x):
    total = 0.0
    for v in x:
        if v < -1.0:
            continue
        if v > 1.0:
            break
        total = total + v * v
    return total


def while_loop(x):
    while x < 100.0:
        x = x * x
    return x


def nested(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total = total + a[i, j] ** 3
    return total


def helper(x, k):
    return np.exp(x) * k


def callee(x):
    return np.sum(helper(x, 2.0) * helper(x, 3.0))


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def closure(x):
    c = x * 2.0

    def inner(t):
        return t * c

    return inner(x) + inner(c)


def mapped(x):
    return sum(map(lambda v: v * v * x, [x, 2.0]))


def containers(d):
    a, b = d["a"], d["b"]
    return np.sum(a * b)


def of_namedtuple(p):
    return p.first * p.second**2


def comprehension(xs):
    return sum([v * v for v in xs])


def matrix(w, x):
    return np.sum(np.maximum(x @ w, 0.0))


def outlined(x):
    return np.sum(np.sort(x)[:2] * np.cumsum(x)[1:])


def linear_algebra(a):
    return np.linalg.norm(a @ a.T) + np.trace(a @ a.T)


def scalars(x):
    return math.sin(x) * math.sqrt(x) + abs(x)


def starred(x, *rest):
    return x * sum(rest)


def keywords(x, *, scale=2.0, flag=True):
    return x * scale if flag else x


def method_calls(x):
    return (x.reshape(-1, 1) * x).sum(axis=0).mean()


PROGRAMS = [
    (straight, (A, A + 1)),
    (with_globals, (A,)),
    (branch, (1.5,)),
    (branch, (0.5,)),
    (loop, (A, 3)),
    (leaves, (A,)),
    (while_loop, (1.5,)),
    (nested, (M,)),
    (callee, (A,)),
    (power, (1.5, 3)),
    (closure, (1.5,)),
    (mapped, (1.5,)),
    (containers, ({"a": A, "b": A + 2},)),
    (of_namedtuple, (Pair(2.0, 3.0),)),
    (comprehension, ([1.0, 2.0],)),
    (matrix, (A, M)),
    (outlined, (A,)),
    (linear_algebra, (M,)),
    (scalars, (1.5,)),
    (starred, (1.5, 2.0, 3.0)),
    (keywords, (1.5,)),
    (method_calls, (A,)),
]


def looped(x):
    h = x
    for _ in ad.checkpointed(range(4)):
        h = np.sin(h) * x
    return np.sum(h)


def step(y):
    return np.sin(y) * y


STEPS = {"a": step}


def checkpointed(x):
    return np.sum(ad.checkpoint(step)(x) * x)


def checkpointed_at_run_time(x):
    return np.sum(ad.checkpoint(lambda y: STEPS["a"](y))(x))
