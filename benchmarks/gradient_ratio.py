"""What a gradient costs, in units of its function, next to a gradient written by hand.

Function, gradient and hand-written gradient run in turns in one process; each number is the best of many rounds.  The
hand-written ones share work between the passes as a careful person would, and must give the same result.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

ROUNDS = 40


def logistic(w, x, y):
    p = 1 / (1 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def logistic_by_hand(w, x, y):
    p = 1 / (1 + np.exp(-(x @ w)))
    return x.T @ ((p - y) / len(y))


def network(params, x, y):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    error = hidden @ params["w2"] + params["b2"] - y
    return np.mean(error**2)


def network_by_hand(params, x, y):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    error = hidden @ params["w2"] + params["b2"] - y
    error_bar = error * (2 / error.size)
    inner_bar = (error_bar @ params["w2"].T) * (1 - hidden * hidden)
    return {"w1": x.T @ inner_bar, "b1": inner_bar.sum(0), "w2": hidden.T @ error_bar, "b2": error_bar.sum(0)}


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_by_hand(x):
    inner = x[1:] - x[:-1] ** 2
    g = np.zeros_like(x)
    g[1:] = 200.0 * inner
    g[:-1] += -400.0 * inner * x[:-1] - 2 * (1 - x[:-1])
    return g


def horner(x, coefficients):
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total


def horner_by_hand(x, coefficients):
    total = derivative = 0.0
    for c in coefficients:
        derivative = derivative * x + total
        total = total * x + c
    return derivative


def pendulum(angle, steps):
    speed = 0.0
    for _ in range(steps):
        speed = speed - 0.01 * math.sin(angle)
        if speed > 1.0:
            speed = 1.0
        angle = angle + 0.01 * speed
    return angle


def pendulum_by_hand(angle, steps):
    speed, saved = 0.0, []
    for _ in range(steps):
        speed = speed - 0.01 * math.sin(angle)
        fast = speed > 1.0
        if fast:
            speed = 1.0
        saved.append((angle, fast))
        angle = angle + 0.01 * speed
    angle_bar, speed_bar = 1.0, 0.0
    for before, fast in reversed(saved):
        speed_bar += 0.01 * angle_bar
        if fast:
            speed_bar = 0.0
        angle_bar -= 0.01 * speed_bar * math.cos(before)
    return angle_bar


def chain(x, a, b, c):
    return np.sum(a @ b @ c @ x)


def chain_by_hand(x, a, b, c):
    return np.broadcast_to((a @ b @ c).sum(0)[:, None], x.shape)


def cases() -> list[tuple[str, Callable[..., Any], Callable[..., Any], tuple[Any, ...]]]:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((500, 30)), rng.integers(0, 2, 500).astype(float)
    params = {
        "w1": rng.standard_normal((30, 40)) / 6,
        "b1": np.zeros(40),
        "w2": rng.standard_normal((40, 5)) / 6,
        "b2": np.zeros(5),
    }
    targets = rng.standard_normal((500, 5))
    square = [rng.standard_normal((120, 120)) for _ in range(4)]
    return [
        ("logistic, 500 x 30", logistic, logistic_by_hand, (0.1 * rng.standard_normal(30), x, y)),
        ("network, 500 x 30 x 40 x 5", network, network_by_hand, (params, x, targets)),
        ("Rosenbrock, 10", rosenbrock, rosenbrock_by_hand, (rng.standard_normal(10),)),
        ("Rosenbrock, 100 000", rosenbrock, rosenbrock_by_hand, (rng.standard_normal(100_000),)),
        ("Horner, loop of 50 on numbers", horner, horner_by_hand, (0.7, [float(k) for k in range(50)])),
        ("pendulum, loop of 200 with if", pendulum, pendulum_by_hand, (1.0, 200)),
        ("sum(A @ B @ C @ X) for X, 120", chain, chain_by_hand, tuple(square)),
    ]


def same(a: Any, b: Any) -> None:
    if isinstance(b, dict):
        assert a.keys() == b.keys()
        for key in b:
            np.testing.assert_allclose(a[key], b[key], rtol=1e-8, atol=1e-12)
    else:
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-12)


def keep_freed_memory() -> None:
    """Free a large array, as every program does that has read some data.

    Before that, the C library of Linux gives memory back to the system as soon as some 100 kB of it are free at the end
    of the heap, and what runs next pays for each page again: times depend on what has run before in the process.
    """
    np.ones(2_000_000)


def best_times(
    functions: tuple[Callable[..., Any], ...],
    args: tuple[Any, ...],
    rounds: int = ROUNDS,
    seconds: float = 2e-3,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Seconds by ``clock`` for a call of each, the functions taking turns: the best of rounds of about ``seconds``."""
    best = [math.inf] * len(functions)
    for _ in range(rounds):
        for k, function in enumerate(functions):
            number = max(1, int(seconds / min(best[k], 1.0)))
            start = clock()
            for _ in range(number):
                function(*args)
            best[k] = min(best[k], (clock() - start) / number)
    return best


def main() -> None:
    import thunkad as ad

    keep_freed_memory()
    print(f"gradient time over function time, best of {ROUNDS} rounds in turns")
    print(f"  {'function':32}{'function':>12}{'gradient':>12}{'by hand':>12}{'ratio':>8}{'by hand':>9}")
    for name, function, by_hand, args in cases():
        gradient = ad.grad(function)
        same(gradient(*args), by_hand(*args))
        value, mine, hand = best_times((function, gradient, by_hand), args)
        times = "".join(f"{t * 1e6:9.1f} us" for t in (value, mine, hand))
        print(f"  {name:32}{times}{mine / value:8.2f}{hand / value:9.2f}")


if __name__ == "__main__":
    main()
