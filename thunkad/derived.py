"""Derivatives made of ``grad``, ``vjp`` and ``jvp``: Jacobians, Hessians, products with them, higher orders."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from thunkad.api import grad, jvp, vjp
from thunkad.compiled import forward as linear
from thunkad.compiled.curvature import curvature
from thunkad.errors import ArgumentError
from thunkad.jacobians import jacobian_of
from thunkad.runtime.dots import check_directions
from thunkad.runtime.maps import Linearized, linear_map
from thunkad.runtime.marks import Derivative, marked, nests
from thunkad.runtime.residuals import snapshot

F = TypeVar("F", bound=Callable[..., Any])


def jacobian(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, mode: str | None = None) -> Callable[..., Any]:
    """The matrix of derivatives of ``f``, of shape ``result.shape + argument.shape``.

    Parameters
    ----------
    f : callable
        Returns an array, a number, or a list, tuple, dict or dataclass of these (then one of Jacobians).  An argument
        of this sort gives one of its structure at each place: ``j["y"]["w"]`` of shape ``y.shape + w.shape``.
    argnums : int or tuple of int
    mode : {None, 'reverse', 'forward'}
        By pullbacks, one for each element of the result, or by pushforwards, one for each element of the arguments;
        ``f`` runs once.  None is the one of which there are fewer (pullbacks where they are as many).

    Notes
    -----
    For real arguments ``jacobian(f)(x) @ dx`` is the change of the result, which may be complex.  By complex arguments
    ``z = a + i b``: for a real result as in a gradient, ``∂y/∂a + i ∂y/∂b``; for a complex one ``dy/dz``, and an error
    if the function is not holomorphic.
    """
    made = _named(f, "jacobian", jacobian_of(f, argnums, mode))
    return marked(made, Derivative(f, "columns", argnums))


def hessian(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The matrix of second derivatives of a function whose result is one real number: forward mode over the gradient.

    Parameters
    ----------
    f : callable
    argnums : int or tuple of int
        A tuple gives a tuple of tuples, one block for each pair of arguments.

    Returns
    -------
    callable
        Takes the arguments of ``f``; the result has the shape ``argument.shape + argument.shape``.  By an argument that
        is a list, tuple, dict or dataclass it has that structure twice: ``h["a"]["b"]`` of shape ``a.shape + b.shape``.
    """

    columns = jacobian_of(grad(f, argnums), argnums, "forward")

    def derivative(*args: Any, **kwargs: Any) -> Any:
        found = columns(*args, **kwargs)
        if isinstance(argnums, int):
            return found
        return tuple(tuple(block[k] for block in found) for k in range(len(argnums)))

    made = _named(f, "hessian", derivative)
    return marked(made, Derivative(grad(f, argnums), "columns" if isinstance(argnums, int) else "blocks", argnums))


def hvp(f: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """The product of the Hessian of ``f`` with a vector, as the gradient's derivative in one direction.

    Parameters
    ----------
    f : callable
        Returns one real number.
    primals, tangents : sequence
        The arguments of ``f`` and a tangent for each (None: it does not move).

    Returns
    -------
    array or tuple
        For one argument the product, for several a tuple with one entry for each argument that has a tangent.
    """
    check_directions(primals, tangents, "hvp", "tangents")
    return product_with_hessian(f, primals, tangents)


def vhp(f: Callable[..., Any], primals: Any, cotangents: Any) -> Any:
    """The product of a vector with the Hessian of ``f``; the Hessian is symmetric, so this is :func:`hvp`."""
    check_directions(primals, cotangents, "vhp", "cotangents")
    return product_with_hessian(f, primals, cotangents)


def product_with_hessian(f: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    found = curvature(f, tuple(primals), tuple(tangents), grad)
    if found is None:
        return tangent_of_gradient(f, primals, tangents)
    return found[0] if len(primals) == 1 else found


def tangent_of_gradient(f: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """The same, written out: what is looked into in differentiated code."""
    if len(primals) == 1:
        return jvp(grad(f), primals, tangents)[1]
    return jvp(grad(f, tuple(k for k, dot in enumerate(tangents) if dot is not None)), primals, tangents)[1]


def gauss_newton_product(f: Callable[..., Any], loss: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """``Jᵀ H J v`` for ``loss(f(x))``: ``J`` of ``f``, ``H`` the Hessian of ``loss`` at ``f(x)``; none is built."""
    check_directions(primals, tangents, "gauss_newton_product", "tangents")
    value, value_dot = jvp(f, primals, tangents)
    curved = hvp(loss, (value,), (value_dot,))
    bars = tuple(vjp(f, *primals)[1](curved))
    return bars[0] if len(bars) == 1 else bars


@nests("linearize")
def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of ``f`` and its derivative at ``primals`` as a function of tangents, one for each argument.

    ``f`` runs once, here; the function reads what that run left behind and may be called any number of times.  For code
    whose tangents can't be told apart from its values (see the page on forward mode) each call runs ``f`` once more.
    """
    primals = snapshot(primals)  # the map stays at the point that it was made at
    value, push = linear.linearize(f, primals)
    return value, linear_map(push, Linearized(f, primals))


def elementwise_grad(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The derivatives of a function that acts on each element by itself: the gradient of the sum of its result."""
    return _named(f, "elementwise_grad", gradient_of_sum(f, argnums))


def gradient_of_sum(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The same without a name of its own: what is looked into in differentiated code."""

    def total(*args: Any, **kwargs: Any) -> Any:
        return np.sum(f(*args, **kwargs))

    return grad(total, argnums)


def derivative(f: Callable[..., Any], n: int = 1) -> Callable[..., Any]:
    """The ``n``-th derivative of a function of one number."""
    if not isinstance(n, int) or n < 0:
        raise ArgumentError(f"the order of a derivative is a number of at least 0, not {n!r}")
    for _ in range(n):
        f = grad(f)
    return f


def checkpoint(f: F) -> F:
    """``f`` with nothing kept for the reverse sweep but its arguments: it is run a second time there.

    The result computes what ``f`` computes.  Derivatives are the same to the last bit; each call costs one more run of
    ``f``, and ``f`` must do the same when it is run again (no random numbers, no effects).
    """

    @functools.wraps(f)
    def again(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return cast("F", marked(again, Derivative(f, "checkpoint")))


def stop_gradient(x: Any) -> Any:
    """``x`` itself, as a constant: no derivative flows through it."""
    return x


def hook(x: Any, fn: Callable[[Any], Any]) -> Any:
    """``x`` itself; in reverse its cotangent is replaced by ``fn(cotangent)`` (left as it is if that is None).

    ``fn`` is called once for each time that the value is reached in the reverse sweep.  A hook changes derivatives, so
    it has none itself in forward mode and in second derivatives: they refuse it.
    """
    return x


def _named(f: Any, what: str, made: Callable[..., Any]) -> Callable[..., Any]:
    name = getattr(f, "__name__", type(f).__name__)
    made.__name__ = made.__qualname__ = f"{what}({name})"
    made.__doc__ = f"{what} of {name}."
    return made
