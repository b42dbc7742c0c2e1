"""Calls of every form, closures, lambdas, nested functions and recursion."""

from __future__ import annotations

import pytest

from checking import Program
from tables import check, programs

CALLS = """
=== user_function | x = 0.7
def g(t):
    return t * t
def f(x):
    return g(x) + g(2 * x)
=== defined_later | x = 0.7
def f(x):
    return later(x) * x
def later(t):
    return t + 1
=== depth_three | x = 0.7
def a(t): return t * t
def b(t): return a(t) + a(t * 2)
def c(t): return b(t) * a(t)
def f(x):
    return c(x) + b(x)
=== keywords | x = 0.7, y = 1.3
def g(a, b):
    return a * a - b
def f(x, y):
    return g(b=x, a=y) * g(y, b=x)
=== defaults | x = 0.7
def g(a, b=2.0, c=None):
    return a * b if c is None else a * c
def f(x):
    return g(x) + g(x, x) + g(x, c=x * x)
=== keyword_only | x = 0.7
def g(a, *, b, c=3.0):
    return a * b + c
def f(x):
    return g(x, b=x) * g(1.0, b=x, c=x)
=== positional_only | x = 0.7
def g(a, /, b):
    return a * b
def f(x):
    return g(x, b=x) + g(x, 2)
=== star_args | x = 0.7, y = 1.3
def g(*args):
    return args[0] * args[-1] + len(args)
def f(x, y):
    return g(x, y) + g(x) + g(y, x, 2.0)
=== star_kwargs | x = 0.7, y = 1.3
def g(**options):
    return options["a"] * options.get("b", 2.0)
def f(x, y):
    return g(a=x) + g(b=x, a=y)
=== all_sorts_of_parameters | x = 0.7, y = 1.3
def g(a, b=0.5, *rest, c, d=4.0, **more):
    t = a * b + c * d
    for r in rest:
        t = t + r * r
    for k in more:
        t = t - more[k]
    return t
def f(x, y):
    return g(x, c=y) + g(x, y, x * y, 2.0, c=x, e=y, d=x)
=== spread_arguments | x = 0.7, y = 1.3
def g(a, b, c=1.0):
    return a * b + c
def f(x, y):
    args = (x, y)
    options = {"c": x * y}
    return g(*args) + g(*args, **options) + g(x, *[y]) + g(**{"a": x, "b": y})
=== spread_array | x = A
def g(a, b, c):
    return a * b - c
def f(x):
    return g(*x)
=== spread_into_star | x = A
def g(*args):
    return sum(args)
def f(x):
    return g(*x, *x[:1])
=== forwarded_arguments | x = 0.7, y = 1.3
def inner(a, b, c=2.0):
    return a * b * c
def outer(*args, **options):
    return inner(*args, **options)
def f(x, y):
    return outer(x, y) + outer(x, b=y, c=x)
=== several_results | x = 0.7, y = 1.3
def g(a, b):
    return a * b, a - b
def f(x, y):
    p, q = g(x, y)
    return p * q + g(y, x)[0]
=== result_unused | x = 0.7
def g(a):
    return a * a
def f(x):
    g(x)
    return x * 3
=== result_none | x = 0.7
def g(a):
    pass
def f(x):
    r = g(x)
    return x * (2 if r is None else 3)
=== callee_ignores_argument | x = 0.7, y = 1.3
def g(a, b):
    return a * a
def f(x, y):
    return g(x, y)
=== callee_returns_argument | x = A
def g(a):
    return a
def f(x):
    return g(x) * x
=== callee_with_branches | x = 0.7
def g(a):
    if a > 1:
        return a * a
    for i in range(3):
        a = a * 1.1
        if a > 0.8:
            return a
    return -a
def f(x):
    return g(x) + g(x + 1) + g(x / 10)
=== callee_with_loop | x = A
def g(a, k):
    t = 0.0
    for e in a:
        t = t * k + e
    return t
def f(x):
    return g(x, 0.5) * g(x[::-1], x[0])
=== called_in_loop | x = 0.7
def g(a, i):
    return a * a + i
def f(x):
    for i in range(3):
        x = g(x, i) * 0.5
    return x
=== different_types | x = 0.7, y = A
def g(a, b):
    return a * b
def f(x, y):
    return g(x, x) + np.sum(g(x, y)) + g(y, y)
=== function_as_argument | x = 0.7
def apply(g, v):
    return g(v) * 2
def square(t):
    return t * t
def f(x):
    return apply(square, x) + apply(np.sin, x) + apply(lambda t: t * x, x)
=== functions_in_containers | x = 0.7
def f(x):
    table = {"sin": np.sin, "square": lambda t: t * t}
    total = 0.0
    for g in [np.cos, table["sin"], table["square"]]:
        total = total + g(x)
    return total
=== chosen_function | x = 0.7
def f(x):
    g = np.sin if x > 0 else np.cos
    h = g
    return h(x) * g(x)
=== method_of_module_alias | x = A
def f(x):
    norm = np.linalg.norm
    return norm(x) * np.linalg.norm(x[:2])
=== partial | x = 0.7, y = 1.3
import functools
def g(a, b, c=1.0):
    return a * b + c
def f(x, y):
    p = functools.partial(g, x, c=y)
    q = functools.partial(p, y)
    return p(y) + q() * p(2.0, c=x)
=== partial_of_library | x = 0.7, y = A
import functools
def f(x, y):
    p = functools.partial(np.multiply, x)
    return p(y) + p(2.0)
=== reduce | x = A
import functools
def f(x):
    return functools.reduce(lambda a, b: a * b, x)
=== wrapped | x = 0.7
import functools
def twice(g):
    @functools.wraps(g)
    def inner(*args):
        return g(*args) * 2
    return inner
@twice
def g(a):
    return a * a
def f(x):
    return g(x)
=== evaluation_order | x = 0.7
def say(k, v):
    print(k)
    return v
def f(x):
    return say("f", max)(say("a", x), say("b", 0.5)) + say("c", x)
=== argument_rebound | x = 0.7
def g(a):
    a = a * a
    a = a + 1
    return a
def f(x):
    y = g(x)
    return y * x
=== same_argument_twice | x = 0.7
def g(a, b):
    return a * a * b
def f(x):
    return g(x, x)
=== container_argument | x = 0.7, y = A
def g(p):
    return p["a"] * np.sum(p["b"][0])
def f(x, y):
    return g({"a": x, "b": (y, 3)})
=== container_result | x = 0.7
def g(a):
    return {"p": [a, a * a], "q": (a, "text")}
def f(x):
    r = g(x)
    return r["p"][1] * r["q"][0]
=== early_print | x = 0.7
def g(a):
    print("in g")
    return a * 2
def f(x):
    y = g(x)
    print("after")
    return y
=== global_function_table | x = 0.7
TABLE = [np.sin, np.cos]
def f(x):
    return TABLE[0](x) * TABLE[1](x)
"""

CLOSURES = """
=== lambda_ | x = 0.7
g = lambda t: t * t
return g(x) + g(x * 2)
=== lambda_called_at_once | x = 0.7
return (lambda a, b=2.0: a * b)(x)
=== lambda_over_active | x = 0.7, y = 1.3
g = lambda t: t * x
return g(y) * g(2.0)
=== lambda_default_active | x = 0.7
g = lambda t, s=x * 2: t * s
x = x * 3
return g(x)
=== nested_def | x = 0.7
def g(t):
    return t * x
return g(x) + g(2.0)
=== nested_two_levels | x = 0.7
def outer(a):
    def inner(b):
        return a * b * x
    return inner(a + 1)
return outer(x)
=== returned_closure | x = 0.7, y = 1.3
def make(k):
    def g(t):
        return t * k
    return g
g = make(x)
h = make(y)
return g(y) + h(h(2.0))
=== closure_of_the_module | x = 0.7
def make(k):
    return lambda t: t * k + t
g = make(3.0)
def f(x):
    return g(x) * x
=== captured_rebound | x = 0.7
k = x
def g(t):
    return t * k
a = g(2.0)
k = x * x
return a + g(3.0)
=== captured_loop_variable | x = 0.7
fs = []
for i in range(3):
    fs = fs + [lambda t, i=i: t * (i + 1)]
return sum([g(x) for g in fs])
=== captured_late_binding | x = 0.7
fs = [lambda t: t * i for i in range(3)]
return sum([g(x) for g in fs])
=== nonlocal_counter | x = 0.7
n = 0
def g(t):
    nonlocal n
    n += 1
    return t * n
return g(x) + g(x)
=== nonlocal_active | x = 0.7
total = 0.0
def add(t):
    nonlocal total
    total = total + t * t
add(x)
add(2 * x)
return total
=== closure_in_loop | x = 0.7
t = x
for i in range(3):
    g = lambda s: s * x + i
    t = g(t)
return t
=== closure_with_branch | x = 0.7
def g(t):
    if t > 1:
        return t * x
    return t - x
return g(x) * g(3.0)
=== closure_with_array | x = A, y = B
def g(t):
    return t * y
return g(x) + g(g(x))
=== closure_as_argument | x = 0.7, y = 1.3
def apply(h, v):
    return h(v) + h(h(v))
return apply(lambda t: t * x, y)
=== composed | x = 0.7
def compose(*fs):
    def run(t):
        for g in fs:
            t = g(t)
        return t
    return run
return compose(np.sin, lambda t: t * x, np.cos)(x)
=== sorted_by_key | x = A
return sorted(x, key=lambda e: -e)[0] * 2
=== name_of_outer_shadowed | x = 0.7
def g(x):
    x = x * 2
    return x
return g(x * x) + x
"""

RECURSION = """
=== factorial_like | x = 0.7
def g(t, n):
    if n == 0:
        return 1.0
    return t * g(t, n - 1)
def f(x):
    return g(x, 4)
=== tail | x = 0.7
def g(t, n):
    return t if n == 0 else g(t * t + 0.1, n - 1)
def f(x):
    return g(x, 3)
=== two_branches | x = 0.7
def fib(t, n):
    if n < 2:
        return t + n
    return fib(t, n - 1) * fib(t, n - 2)
def f(x):
    return fib(x, 5)
=== itself | x = 0.7, n = 3
def f(x, n):
    if n == 0:
        return x
    return f(x * x + 0.3, n - 1) * x
=== mutual | x = 0.7
def even(t, n):
    return t if n == 0 else odd(t * 1.1, n - 1)
def odd(t, n):
    return t * t if n == 0 else even(t + 0.2, n - 1)
def f(x):
    return even(x, 5) + odd(x, 2)
=== depends_on_data | x = 0.7
def g(t):
    if t > 3:
        return t
    return g(t * 1.7) * 0.5
def f(x):
    return g(x)
=== over_array | x = A
def total(a):
    if len(a) == 1:
        return a[0] * a[0]
    k = len(a) // 2
    return total(a[:k]) * 0.5 + total(a[k:])
def f(x):
    return total(x)
=== over_tree | x = 0.7, y = 1.3
def total(tree):
    if isinstance(tree, tuple):
        return total(tree[0]) * total(tree[1])
    return tree + 1
def f(x, y):
    return total((x, ((y, x), 2.0)))
=== nested_function | x = 0.7
def f(x):
    def g(n):
        if n == 0:
            return x
        return g(n - 1) * x
    return g(3)
=== inside_loop | x = 0.7
def g(t, n):
    return t if n == 0 else g(np.sin(t), n - 1)
def f(x):
    s = 0.0
    for n in range(3):
        s = s + g(x, n)
    return s
=== ackermann_shape | x = 0.7
def g(t, m, n):
    if m == 0:
        return t + n
    if n == 0:
        return g(t, m - 1, 1)
    return g(t * 1.01, m - 1, n - 1) + t
def f(x):
    return g(x, 2, 2)
"""


@pytest.mark.parametrize("program", programs(CALLS))
def test_calls(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(CLOSURES))
def test_closures(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(RECURSION))
def test_recursion(program: Program) -> None:
    check(program)
