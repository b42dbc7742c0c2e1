"""What a product with the Hessian costs, in units of the gradient of the same function.

``hvp`` and ``grad`` run in turns in one process, each number is the best of many rounds; the product is compared with
a difference of gradients first.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from gradient_ratio import best_times, keep_freed_memory, logistic, network, pendulum, rosenbrock

ROUNDS = 200
#: So short, and in seconds of the processor, that other work seldom comes between.
SECONDS = 5e-4


def chain(x):
    """A chain of products, of which every factor depends on ``x``."""
    return np.sum(x @ x @ x @ x)


def chain_for_one(x, a, b, c):
    return np.sum((a @ b @ x @ c) ** 2)


def smoothed(x):
    """A loop that changes an array in place."""
    y = x.copy()
    for k in range(1, len(x)):
        y[k] = 0.9 * y[k - 1] + np.sin(y[k]) * 0.1
        y[k] *= y[k]
    return np.sum(y * y)


def wandering(x, steps):
    """A loop whose branches keep numbers of their own for the way back."""
    y = x
    for k in range(steps):
        if y > 1.0:
            t = y * 0.3
            y = t * t + x
        elif k % 3:
            y = math.sin(y) + x
        else:
            y = y * x + 0.1
    return y


def cases() -> list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]]:
    """Names, functions, arguments, and a direction for those that move."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((500, 30)), rng.integers(0, 2, 500).astype(float)
    params = {
        "w1": rng.standard_normal((30, 40)) / 6,
        "b1": np.zeros(40),
        "w2": rng.standard_normal((40, 5)) / 6,
        "b2": np.zeros(5),
    }
    along = {name: rng.standard_normal(value.shape) for name, value in params.items()}
    targets = rng.standard_normal((500, 5))
    square, turn = rng.standard_normal((100, 100)) / 10, rng.standard_normal((100, 100))
    others = tuple(rng.standard_normal((100, 100)) / 10 for _ in range(3))
    return [
        ("logistic, 500 x 30", logistic, (0.1 * rng.standard_normal(30), x, y), (rng.standard_normal(30), None, None)),
        ("network, 500 x 30 x 40 x 5", network, (params, x, targets), (along, None, None)),
        ("sum(X @ X @ X @ X), 100", chain, (square,), (turn,)),
        ("sum((A @ B @ X @ C)**2), 100", chain_for_one, (square, *others), (turn, None, None, None)),
        ("Rosenbrock, 100 000", rosenbrock, (rng.standard_normal(100_000),), (rng.standard_normal(100_000),)),
        ("pendulum, loop of 200 with if", pendulum, (1.0, 200), (1.0, None)),
        ("branches in a loop of 200", wandering, (0.7, 200), (1.0, None)),
        ("in place, loop of 200", smoothed, (0.3 * rng.standard_normal(200),), (rng.standard_normal(200),)),
    ]


def moved(x: Any, dot: Any, h: float) -> Any:
    if dot is None:
        return x
    return {k: v + h * dot[k] for k, v in x.items()} if isinstance(x, dict) else x + h * dot


def check(gradient: Callable[..., Any], product: Any, args: tuple[Any, ...], dots: tuple[Any, ...]) -> None:
    """Compare the product with a difference of gradients."""
    h = 1e-5
    up, down = (gradient(*(moved(x, dot, s * h) for x, dot in zip(args, dots))) for s in (1, -1))
    for key in up if isinstance(up, dict) else (...,):
        a, b, c = (np.asarray(x)[...] if key is ... else x[key] for x in (up, down, product))
        scale = max(1.0, float(np.max(np.abs(c))))
        np.testing.assert_allclose(c, (a - b) / (2 * h), rtol=1e-4, atol=1e-5 * scale)


def main() -> None:
    import thunkad as ad

    keep_freed_memory()
    print(f"time of a product with the Hessian over time of the gradient, best of {ROUNDS} rounds in turns")
    print(f"  {'function':32}{'gradient':>13}{'product':>13}{'ratio':>8}")
    worst = 0.0
    for name, function, args, dots in cases():
        gradient = ad.grad(function)

        def product(*args, function=function, dots=dots):
            found = ad.hvp(function, args, dots)
            return found if len(args) == 1 else found[0]

        check(gradient, product(*args), args, dots)
        once, twice = best_times((gradient, product), args, ROUNDS, SECONDS, time.process_time)
        worst = max(worst, twice / once)
        print(f"  {name:32}{once * 1e6:10.1f} us{twice * 1e6:10.1f} us{twice / once:8.2f}")
    print(f"  largest: {worst:.2f} (at most 3)")


if __name__ == "__main__":
    main()
