"""What isn't asked for isn't computed: a chain of products whose rule says when a cotangent is worked out."""

import numpy as np
from common import heading

import thunkad as ad

computed: list[str] = []


def mul(a, b):
    return a @ b


def logged(what, value):
    """Note that a thunk ran; its value passes through."""
    computed.append(what)
    print(f"    computed: the cotangent of the {what} operand, shape {value.shape}")
    return value


@ad.rrule(mul)
def _(a, b):
    def pullback(z_bar):
        return ad.thunk(lambda: logged("left", z_bar @ b.T)), ad.thunk(lambda: logged("right", a.T @ z_bar))

    return a @ b, pullback


@ad.differentiable
def chain(a, b, c, x):
    return np.sum(mul(mul(mul(a, b), c), x))


def thunks_run(expected: int) -> None:
    print(f"  {len(computed)} of the 6 thunks ran")
    if len(computed) != expected:
        raise SystemExit(f"{expected} should have run")
    computed.clear()


def main() -> None:
    heading("The matrix chain sum(A @ B @ C @ X): thunks that nobody asks for don't run")
    computed.clear()
    rng = np.random.default_rng(4)
    a, b, c, x = (rng.standard_normal(shape) for shape in ((2, 3), (3, 4), (4, 5), (5, 6)))
    ones = np.ones((2, 6))

    print("  the gradient for X:")
    x_bar = ad.grad(chain, argnums=3)(a, b, c, x)
    np.testing.assert_allclose(x_bar, (a @ b @ c).T @ ones)
    thunks_run(1)

    print("\n  the gradient for A:")
    a_bar = ad.grad(chain, argnums=0)(a, b, c, x)
    np.testing.assert_allclose(a_bar, ones @ (b @ c @ x).T)
    thunks_run(3)

    print("\n  the adjoint for X, in which the other thunks don't occur:\n")
    print(chain.adjoint_source(argnums=3))

    print("  a pullback whose demand is known only when its tuple is read; first X:")
    _, pullback = ad.vjp(chain, a, b, c, x)
    cotangents = pullback(1.0)
    np.testing.assert_allclose(cotangents[3], x_bar)
    thunks_run(1)
    print("\n  then A:")
    np.testing.assert_allclose(cotangents[0], a_bar)
    thunks_run(3)
    print("\n  then A again, nothing is left to do:")
    np.testing.assert_allclose(cotangents[0], a_bar)
    thunks_run(0)


if __name__ == "__main__":
    main()
