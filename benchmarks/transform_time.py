"""How long it takes to turn a function of 100 lines into its gradient.

The first gradient of a function pays for reading its source, transforming it and compiling the result; later ones
don't.  Each measurement takes a process of its own, since what is compiled stays compiled.  "Warm" has differentiated
another function before, so that the library's own modules are loaded; "cold" has not.  A later call's time is
subtracted, so that what is left is the transformation alone.  Then a table: how that time grows with the function.
All times but those of the later calls are of the processor, which a busy machine leaves alone.
"""

import inspect
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RUNS = 7


def hundred_lines(w, x, y, rate):
    n = x.shape[0]
    d = x.shape[1]
    w1 = w[:d, :]
    w2 = w[d : 2 * d, :]
    w3 = w[2 * d :, :]
    # an elementwise beginning
    a = np.tanh(x)
    b = np.exp(-a * a)
    c = a + b
    e = np.sin(c) * np.cos(b)
    u = e / (1.0 + b)
    v = u - a * 0.5
    h = np.where(v > 0, v, 0.1 * v)
    # a first layer
    z1 = h @ w1
    m1 = np.mean(z1, axis=0)
    s1 = np.mean((z1 - m1) ** 2, axis=0)
    z1 = (z1 - m1) / np.sqrt(s1 + 1e-5)
    h1 = np.tanh(z1)
    # a second layer
    z2 = h1 @ w2
    m2 = np.mean(z2, axis=0)
    s2 = np.mean((z2 - m2) ** 2, axis=0)
    z2 = (z2 - m2) / np.sqrt(s2 + 1e-5)
    h2 = np.maximum(z2, 0.0) + h1
    # attention over the rows
    scores = h2 @ h1.T
    scores = scores / np.sqrt(1.0 * d)
    top = np.max(scores, axis=1, keepdims=True)
    weights = np.exp(scores - top)
    weights = weights / np.sum(weights, axis=1, keepdims=True)
    mixed = weights @ h2
    h3 = mixed + h2
    # a loop with a branch
    total = 0.0
    scale = 1.0
    for i in range(4):
        part = h3[i]
        size = np.sum(part * part)
        if size > 1.0:
            part = part / np.sqrt(size)
            total = total + np.sum(part * y[i])
        else:
            total = total + 0.5 * size
        scale = scale * rate
        total = total * scale
    # a loop that carries an array
    state = np.zeros(d)
    k = 0
    while k < 3:
        moved = state @ w3
        state = np.tanh(moved + h3[k])
        gate = 1.0 / (1.0 + np.exp(-state))
        state = gate * state + (1.0 - gate) * moved
        k = k + 1
    # reshaping and joining
    left = h3.reshape(n, d)
    right = np.transpose(h2)
    right = right.T
    both = np.concatenate([left, right], axis=1)
    first = both[:, :d]
    second = both[:, d:]
    stacked = np.stack([first, second])
    middle = np.mean(stacked, axis=0)
    clipped = np.clip(middle, -2.0, 2.0)
    outer = np.outer(state, state)
    trace = np.trace(outer)
    # statistics
    centre = clipped - np.mean(clipped, axis=0)
    spread = centre.T @ centre / n
    diagonal = np.diag(spread)
    log_spread = np.log(1.0 + diagonal)
    size = np.sqrt(np.sum(log_spread**2) + 1e-8)
    ratio = trace / (1.0 + size)
    # a polynomial
    p = ratio
    p = p * 0.5 + 1.0
    p = p * ratio - 0.25
    p = p * ratio + 0.125
    # a recurrence over two names
    old = np.ones(d)
    new = centre[0]
    for j in range(1, 4):
        kept = new
        new = new * 0.5 + old * centre[j]
        old = kept
    energy = np.sum(new * old)
    # a smooth minimum
    sharp = -5.0 * clipped
    low = np.min(clipped)
    soft = np.log(np.sum(np.exp(sharp + 5.0 * low)))
    soft = low - soft / 5.0
    swing = np.arctan(soft)
    swing = swing + np.sqrt(1.0 + soft * soft)
    # the loss
    logits = clipped @ w3
    top2 = np.max(logits, axis=1, keepdims=True)
    log_total = top2 + np.log(np.sum(np.exp(logits - top2), axis=1, keepdims=True))
    log_p = logits - log_total
    loss = -np.mean(np.sum(log_p * y, axis=1))
    penalty = np.sum(w1**2) + np.sum(w2**2) + np.sum(np.abs(w3))
    smooth = np.sum(np.sqrt(centre**2 + 1.0) - 1.0)
    bound = np.logaddexp(loss, p)
    result = loss + 1e-3 * penalty
    result = result + 1e-2 * total
    result = result + 1e-2 * smooth
    result = result + 1e-1 * bound
    result = result + 1e-2 * energy
    result = result + 1e-2 * swing
    result = result / (1.0 + 1e-3 * penalty)
    return result


def warm_up(x):
    total = 0.0
    for i in range(2):
        if i:
            total = total + np.sum(np.tanh(x) * i)
    return total


def arguments():
    rng = np.random.default_rng(0)
    n, d = 12, 6
    return rng.standard_normal((3 * d, d)), rng.standard_normal((n, d)), rng.random((n, d)), 0.9


def measure(warm: bool) -> None:
    """Print the seconds of the first and of a later gradient; runs in a process of its own."""
    import thunkad as ad

    if warm:
        ad.grad(warm_up)(np.ones(3))
    args = arguments()
    start = time.process_time()
    gradient = ad.grad(hundred_lines)
    gradient(*args)
    first = time.process_time() - start
    later = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        gradient(*args)
        later = min(later, time.perf_counter() - start)
    print(first, later)


def check() -> None:
    """The function that is timed has its right gradient."""
    import thunkad as ad

    w, *rest = arguments()
    gradient = ad.grad(hundred_lines)(w, *rest)
    direction = np.random.default_rng(1).standard_normal(w.shape)
    step = 1e-6
    numeric = (hundred_lines(w + step * direction, *rest) - hundred_lines(w - step * direction, *rest)) / (2 * step)
    np.testing.assert_allclose(np.sum(gradient * direction), numeric, rtol=1e-5)


# ---------------------------------------------------------------- growth


def straight(count: int) -> str:
    """A function of ``count`` lines without a branch."""
    forms = ("np.tanh(a{1}) * y", "a{1} + 0.5 * a{0}", "np.exp(-a{1} * a{1})", "a{1} / (1.0 + a{0} ** 2)")
    lines = [f"    a{k} = " + forms[k % 4].format(k - 2, k - 1) for k in range(2, count - 1)]
    return "\n".join(["def f(x, y):", "    a0, a1 = x, x * y", *lines, f"    return np.sum(a{count - 2})"])


def nested(depth: int) -> str:
    """Loops inside each other, a line of work in each."""
    lines = ["def f(x, y):", "    s = 0.0"]
    for k in range(depth):
        lines += [f"{'    ' * (k + 1)}for i{k} in range(2):", f"{'    ' * (k + 2)}s = np.sin(s) + np.sum(x) * i{k}"]
    return "\n".join([*lines, f"{'    ' * (depth + 1)}s = s + np.sum(x * y)", "    return s"])


def chain(count: int) -> str:
    """``count`` functions, each of which calls the one before."""
    lines = ["def f0(x, y):", "    return np.sum(x * y)"]
    for k in range(1, count):
        lines += [f"def f{k}(x, y):", f"    z = np.tanh(x) * {k}.0", f"    return f{k - 1}(z, y) + np.sum(z)"]
    return "\n".join([*lines, f"f = f{count - 1}"])


GROWTH = {
    "straight lines": (straight, (50, 100, 200, 400, 800)),
    "loops inside each other": (nested, (1, 2, 3, 4, 5, 6)),
    "functions in a chain": (chain, (12, 25, 50, 100)),
}


def grow(kind: str) -> None:
    """Print the seconds that the first gradient takes for each size; runs in a process of its own."""
    import thunkad as ad

    make, sizes = GROWTH[kind]
    with tempfile.TemporaryDirectory() as folder:
        for k, size in enumerate((sizes[0], *sizes)):  # the first one pays for the rules that all share
            path = Path(folder, f"growth_{k}.py")
            path.write_text(f"import numpy as np\n{make(size)}\n")
            namespace: dict[str, object] = {"__name__": path.stem, "__file__": str(path)}
            exec(compile(path.read_text(), path, "exec"), namespace)
            gradient = ad.grad(namespace["f"])
            start = time.process_time()
            gradient(np.ones(3), np.full(3, 0.5))
            if k:
                print(time.process_time() - start)


def print_growth() -> None:
    for kind, (_, sizes) in GROWTH.items():
        runs = [
            list(map(float, subprocess.run([sys.executable, __file__, kind], check=True, capture_output=True, text=True)
                     .stdout.split()))
            for _ in range(3)
        ]  # fmt: skip
        best = [min(times) for times in zip(*runs)]
        print(f"  {kind}: " + ", ".join(f"{size}: {1e3 * t:.0f} ms" for size, t in zip(sizes, best)))


def main() -> None:
    check()
    lines = [line for line in inspect.getsource(hundred_lines).splitlines() if line.split("#")[0].strip()]
    print(f"first gradient of a function of {len(lines)} lines, comments not counted; {RUNS} processes each")
    for kind in ("warm", "cold"):
        taken, later = [], 0.0
        for _ in range(RUNS):
            done = subprocess.run([sys.executable, __file__, kind], check=True, capture_output=True, text=True)
            first, later = map(float, done.stdout.split())
            taken.append(first - later)
        best, median = min(taken) * 1e3, statistics.median(taken) * 1e3
        print(f"  {kind}: transformed in {best:.0f} ms at best, {median:.0f} ms in the median", end="")
        print(f"; a later gradient takes {later * 1e3:.2f} ms")
    print("how the time of a first gradient grows")
    print_growth()


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in GROWTH:
        grow(sys.argv[1])
    elif len(sys.argv) > 1:
        measure(warm=sys.argv[1] == "warm")
    else:
        main()
