"""Solutions of equations, differentiated through the implicit function theorem: no step of the solver is looked at.

At ``x = f(x, *args)`` a change of ``args`` moves ``x`` by ``(I - ∂f/∂x)⁻¹ ∂f/∂args``; at ``g(x, *args) = 0`` by
``-(∂g/∂x)⁻¹ ∂g/∂args``.  Where the solution is not isolated that matrix is singular and the derivative an error.

Derivatives of higher order solve the same equation for values with tangents (:mod:`thunkad.compiled.bundles`): with the
matrix at the solution each step of Newton's method is right to one order more, since products of as many tangents as
there are orders vanish.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from thunkad.compiled.bundles import Args, Bundle, Found, Kwargs, named_values, values
from thunkad.errors import ArgumentError, SourceUnavailableError, ThunkadError
from thunkad.jacobians import jacobian_of
from thunkad.records import record
from thunkad.rules.library import frule, rrule
from thunkad.runtime.cotangents import add, describe
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, ZeroTangent, unthunk

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["ConvergenceError", "fixed_point", "root"]


class ConvergenceError(ThunkadError):
    """An iteration did not reach its tolerance."""


def fixed_point(
    f: Callable[..., Any], x0: Any, *args: Any, tolerance: float = 1e-12, max_iterations: int = 1000
) -> Any:
    """The solution of ``x = f(x, *args)`` that iterating ``f`` from ``x0`` leads to.

    Parameters
    ----------
    f : callable
        Takes a number or a real array and gives one of the same shape.
    x0 : float or array
        Where the iteration starts; the solution does not depend on it, so it has no derivative.
    *args
        Further arguments of ``f``.  Derivatives flow to these and to what ``f`` captures.
    tolerance : float
        The iteration ends when no entry changes by more than this, relative to one or to its size.
    max_iterations : int

    Raises
    ------
    ConvergenceError
    """
    x = _start(x0, "fixed_point")
    for _ in range(max_iterations):
        new = f(x, *args)
        if np.all(np.abs(new - x) <= tolerance * np.maximum(1.0, np.abs(new))):
            return new
        x = new
    raise ConvergenceError(f"fixed_point: not within {tolerance} after {max_iterations} iterations")


def root(g: Callable[..., Any], x0: Any, *args: Any, tolerance: float = 1e-12, max_iterations: int = 100) -> Any:
    """The solution of ``g(x, *args) = 0`` that Newton's method finds from ``x0``.

    Parameters
    ----------
    g : callable
        Takes a number or a real array and gives one of the same size.
    x0 : float or array
        Where the method starts; the solution does not depend on it, so it has no derivative.
    *args
        Further arguments of ``g``.  Derivatives flow to these and to what ``g`` captures.
    tolerance : float
        The method ends when no entry changes by more than this, relative to one or to its size.
    max_iterations : int

    Raises
    ------
    ConvergenceError
    """
    derivative = jacobian_of(g, 0, "forward")

    def matrix(x: Any) -> Any:
        try:
            return np.reshape(derivative(x, *args), (np.size(x), np.size(x)))
        except SourceUnavailableError:  # a function of generated code; differences lead to the same solution
            return _differences(g, x, args)

    return _newton(g, matrix, x0, args, tolerance, max_iterations)


def _newton(g: Any, matrix: Callable[[Any], Any], x0: Any, args: Any, tolerance: float, max_iterations: int) -> Any:
    x = _start(x0, "root")
    for _ in range(max_iterations):
        left = g(x, *args)
        if np.size(left) != np.size(x):
            raise ArgumentError(
                f"root: the function gives {np.size(left)} numbers for {np.size(x)} unknowns",
                hint="as many equations as unknowns have a solution that can be found and differentiated",
            )
        new = x - _solved(matrix(x), left, x)
        if np.all(np.abs(new - x) <= tolerance * np.maximum(1.0, np.abs(new))):
            return new
        x = new
    raise ConvergenceError(f"root: not within {tolerance} after {max_iterations} iterations")


def _differences(g: Any, x: Any, args: Any) -> Any:
    step = np.sqrt(np.finfo(np.asarray(x).dtype).eps) * max(1.0, float(np.max(np.abs(x), initial=0.0)))
    here = np.ravel(g(x, *args))
    return np.stack([(np.ravel(g(x + step * e, *args)) - here) / step for e in _basis(x)], axis=-1)


def _start(x0: Any, what: str) -> Any:
    if not isinstance(x0, (float, int, np.ndarray, np.generic, list)) or np.asarray(x0).dtype.kind not in "iuf":
        raise ArgumentError(
            f"{what}: x0 is a number or a real array, not {describe(x0)}",
            hint="put the unknowns into one array, and take it apart in the function",
        )
    start = np.asarray(x0)
    return np.array(x0, dtype=np.result_type(start.dtype, np.float32)) if start.ndim else float(start)


def _basis(x: Any) -> list[Any]:
    rows = np.eye(np.size(x), dtype=np.asarray(x).dtype)
    return [np.reshape(row, np.shape(x)) if np.ndim(x) else row[0] for row in rows]


def _flat(bar: Any, x: Any) -> Any:
    return np.zeros(np.size(x)) if isinstance(bar, AbstractZero) else np.ravel(bar)


def _solved(matrix: Any, right: Any, x: Any) -> Any:
    """The solution of a linear system, in the shape of ``x``."""
    found = np.linalg.solve(matrix, _flat(right, x))
    return np.reshape(found, np.shape(x)) if np.ndim(x) else found[0]


def _transposed(back: Any, x: Any) -> Any:
    """The transposed Jacobian for ``x``, the first argument of the function that ``back`` is the pullback of."""
    return np.stack([_flat(back(e)[0], x) for e in _basis(x)], axis=-1)


def _columns(f: Any, x: Any, args: Any, ad: Any) -> Any:
    """The Jacobian of ``f`` for its first argument."""
    still = tuple(ZeroTangent() for _ in args)
    return np.stack([_flat(ad.jvp(f, (x, *args), (e, *still))[1], x) for e in _basis(x)], axis=-1)


# ---------------------------------------------------------------- derivatives of derivatives


@record(frozen=True)
class _Equation:
    """``x = f(x, *args)`` or ``f(x, *args) = 0``, for values with tangents.

    ``solve(f, x0, args, ad, **options)`` finds the value of the solution.
    """

    solve: Callable[..., Any]
    is_fixed_point: bool

    def remainder(self, found: Bundle, x: Bundle) -> Bundle:
        """What has to vanish, where ``f`` gives ``found`` at ``x``."""
        return tuple(map(_difference, found, x)) if self.is_fixed_point else found

    def matrix(self, columns: Any) -> Any:
        """Its derivative for ``x``, negated, from that of ``f``."""
        return np.eye(len(columns)) - columns if self.is_fixed_point else -columns

    def at(self, world: Any, args: Args, kwargs: Kwargs) -> _Solution:
        f, x0, *rest = args
        given, ad = values(tuple(rest)), world.handle()
        x = self.solve(f[0], x0[0], given, ad, **named_values(kwargs))
        return _Solution(self, f, tuple(rest), x, self.matrix(_columns(f[0], x, given, ad)))

    def push(self, push: Any, args: Args, kwargs: Kwargs) -> Bundle:
        """The solution with its tangents."""
        return self.at(push.world, args, kwargs).bundle(push)

    def pull(self, again: Any, args: Args, kwargs: Kwargs) -> Found:
        """The solution with its tangents, and its pullback."""
        at = self.at(again.world, args, kwargs)
        x = at.bundle(again.world.forwarding.pushed_again)
        _, back = again.whole(again.world.dispatch, at.f, (x, *at.args), {})

        def pullback(x_bar: Bundle, shadows: Any) -> list[Any]:
            def remainder(u: Bundle) -> Bundle:
                moved = (ZERO if isinstance(p, AbstractZero) else unthunk(p[1][0]) for p in back(u, None))
                return self.remainder(tuple(map(add, x_bar, moved)), u)

            u = at.refined((at.zero,) * len(x), remainder, at.matrix.T, at.order + 1)
            return [
                ZERO if isinstance(p, AbstractZero) else (NO_TANGENT, [p[0], ZERO, *p[1][1:]], {})
                for p in back(u, None)
            ]

        return x, pullback

    def pushes(self, rule: F) -> F:
        """Mark the forward rule; see :mod:`thunkad.compiled.rules_again`."""
        setattr(rule, "on_bundles", self.push)
        return rule

    def pulls(self, rule: F) -> F:
        """Mark the reverse rule."""
        setattr(rule, "on_bundles", self.pull)
        return rule


@record(frozen=True)
class _Solution:
    """An equation at its solution ``x``; ``f`` and ``args`` have tangents."""

    equation: _Equation
    f: Bundle
    args: Args
    x: Any
    matrix: Any

    @property
    def order(self) -> int:
        return len(self.f).bit_length() - 1

    @property
    def zero(self) -> Any:
        return np.zeros(np.shape(self.x)) if np.ndim(self.x) else 0.0

    def bundle(self, push: Any) -> Bundle:
        def remainder(x: Bundle) -> Bundle:
            return self.equation.remainder(push.whole(self.f, (x, *self.args), {}), x)

        start = (self.x, *(self.zero,) * (len(self.f) - 1))
        return (self.x, *self.refined(start, remainder, self.matrix, self.order)[1:])

    def refined(self, x: Bundle, remainder: Callable[[Bundle], Bundle], matrix: Any, steps: int) -> Bundle:
        """Steps of Newton's method, with the matrix of the value at each."""
        for _ in range(steps):
            x = tuple(v + _solved(matrix, r, self.x) for v, r in zip(x, remainder(x)))
        return x


def _difference(a: Any, b: Any) -> Any:
    return -b if isinstance(a, AbstractZero) else a - b


def _iterated(f: Any, x0: Any, args: Any, ad: Any, **options: Any) -> Any:
    return fixed_point(f, x0, *args, **options)


def _by_newton(g: Any, x0: Any, args: Any, ad: Any, tolerance: float = 1e-12, max_iterations: int = 100) -> Any:
    return _newton(g, lambda x: _columns(g, x, args, ad), x0, args, tolerance, max_iterations)


_FIXED_POINT, _ROOT = _Equation(_iterated, True), _Equation(_by_newton, False)


# ---------------------------------------------------------------- rules

# The rules have no annotations, which would make them typed rules.


@_FIXED_POINT.pulls
@rrule(fixed_point)
def _(f, x0, *args, tolerance=1e-12, max_iterations=1000, ad):  # type: ignore[no-untyped-def]
    x = fixed_point(f, x0, *args, tolerance=tolerance, max_iterations=max_iterations)
    _, back = ad.vjp(f, x, *args)

    def pullback(x_bar: Any) -> Any:
        if isinstance(x_bar, AbstractZero):
            return ZeroTangent(), ZeroTangent(), tuple(ZeroTangent() for _ in args)
        u = _solved(np.eye(np.size(x)) - _transposed(back, x), x_bar, x)
        of_f, _, *of_args = back.with_callee(u)
        return of_f, ZeroTangent(), tuple(of_args)

    return x, pullback


@_FIXED_POINT.pushes
@frule(fixed_point)
def _(f, x0, *args, tolerance=1e-12, max_iterations=1000, ad, f_dot, args_dot):  # type: ignore[no-untyped-def]
    x = fixed_point(f, x0, *args, tolerance=tolerance, max_iterations=max_iterations)
    moved = ad.jvp(f, (x, *args), (ZeroTangent(), *_each(args_dot, args)), f_dot)[1]
    return x, _solved(np.eye(np.size(x)) - _columns(f, x, args, ad), moved, x)


@_ROOT.pulls
@rrule(root)
def _(g, x0, *args, tolerance=1e-12, max_iterations=100, ad):  # type: ignore[no-untyped-def]
    x = _by_newton(g, x0, args, ad, tolerance, max_iterations)
    _, back = ad.vjp(g, x, *args)

    def pullback(x_bar: Any) -> Any:
        if isinstance(x_bar, AbstractZero):
            return ZeroTangent(), ZeroTangent(), tuple(ZeroTangent() for _ in args)
        u = _solved(-_transposed(back, x), x_bar, x)
        of_g, _, *of_args = back.with_callee(u)
        return of_g, ZeroTangent(), tuple(of_args)

    return x, pullback


@_ROOT.pushes
@frule(root)
def _(g, x0, *args, tolerance=1e-12, max_iterations=100, ad, g_dot, args_dot):  # type: ignore[no-untyped-def]
    x = _by_newton(g, x0, args, ad, tolerance, max_iterations)
    moved = ad.jvp(g, (x, *args), (ZeroTangent(), *_each(args_dot, args)), g_dot)[1]
    return x, _solved(-_columns(g, x, args, ad), moved, x)


def _each(dots: Any, args: Any) -> Any:
    return tuple(ZeroTangent() for _ in args) if isinstance(dots, AbstractZero) else dots
