"""SciPy's solvers of equations, differentiated through the implicit function theorem (:mod:`thunkad.implicit`).

SciPy finds the solution with plain numbers; its derivative is that of the solution of the equation that is near it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from thunkad.errors import NoRuleError
from thunkad.implicit import fixed_point, root
from thunkad.rules.library import alternative, non_differentiable
from thunkad.rules.refused import refuse
from thunkad.rules.scipy.found import completed, same_value

refuse(
    "a minimizer's way to its solution has no derivative, but the solution is where the gradient vanishes: "
    "thunkad.root(thunkad.grad(f), x0, *args), from SciPy's solution as x0, has one",
    *(
        getattr(optimize, name)
        for name in "minimize minimize_scalar least_squares curve_fit leastsq basinhopping differential_evolution "
        "dual_annealing shgo brute fmin fmin_bfgs fmin_cg fmin_powell fmin_l_bfgs_b fmin_tnc fmin_ncg".split()
    ),
)


#: SciPy's default.
RTOL = 4 * np.finfo(float).eps

# Plain operations


def found_by(solver: Any, *args: Any, **kwargs: Any) -> Any:
    return solver(*args, **kwargs)


def refuse_solver(what: str) -> None:
    raise NoRuleError(f"{what} is not differentiated; give the function alone, without its derivative")


non_differentiable(found_by, refuse_solver)


def at_root(found, f, args):
    """``found`` as the solution of ``f(x, *args) = 0``, where ``f`` may give a list."""
    if np.ndim(found) == 0:
        return same_value(found, root(f, found, *args, tolerance=np.inf))

    def residual(x, *given):
        return np.asarray(f(x, *given))

    return same_value(found, root(residual, found, *args, tolerance=np.inf))


# One unknown


def between(solver: Any) -> None:
    """A solver that is given an interval with the root in it."""

    @alternative(solver)
    def solve(f, a, b, args=(), xtol=2e-12, rtol=RTOL, maxiter=100, full_output=False, disp=True):
        args = args if isinstance(args, tuple) else (args,)
        x, report = found_by(solver, f, a, b, args, xtol, rtol, maxiter, True, disp)
        x = at_root(x, f, args)
        return (x, report) if full_output else x


for _solver in (optimize.brentq, optimize.brenth, optimize.ridder, optimize.bisect):
    between(_solver)


@alternative(optimize.toms748)
def toms748(f, a, b, args=(), k=1, xtol=2e-12, rtol=RTOL, maxiter=100, full_output=False, disp=True):
    args = args if isinstance(args, tuple) else (args,)
    x, report = found_by(optimize.toms748, f, a, b, args, k, xtol, rtol, maxiter, True, disp)
    x = at_root(x, f, args)
    return (x, report) if full_output else x


@alternative(optimize.newton)
def newton(
    func,
    x0,
    fprime=None,
    args=(),
    tol=1.48e-8,
    maxiter=50,
    fprime2=None,
    x1=None,
    rtol=0.0,
    full_output=False,
    disp=True,
):
    args = args if isinstance(args, tuple) else (args,)
    found = found_by(optimize.newton, func, x0, fprime, args, tol, maxiter, fprime2, x1, rtol, full_output, disp)
    x = at_root(found[0] if full_output else found, func, args)
    return (x, *found[1:]) if full_output else x


@alternative(optimize.root_scalar)
def root_scalar(f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None, **options):
    if fprime is True or fprime2 is True:
        refuse_solver("scipy.optimize.root_scalar of a function that returns its derivative, too,")
    args = args if isinstance(args, tuple) else (args,)
    found = found_by(optimize.root_scalar, f, args, method, bracket, fprime, fprime2, x0, x1, **options)
    return completed(found, ("root",), (at_root(found.root, f, args),))


# Several unknowns


@alternative(optimize.fsolve)
def fsolve(func, x0, args=(), fprime=None, full_output=False, **options):
    args = args if isinstance(args, tuple) else (args,)
    found = found_by(optimize.fsolve, func, x0, args, fprime, full_output, **options)
    x = at_root(found[0] if full_output else found, func, args)
    return (x, *found[1:]) if full_output else x


@alternative(optimize.root)
def root_of_system(fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None):
    if jac is True:
        refuse_solver("scipy.optimize.root of a function that returns its derivative, too,")
    args = args if isinstance(args, tuple) else (args,)
    found = found_by(optimize.root, fun, x0, args, method, jac, tol, callback, options)
    return completed(found, ("x",), (at_root(found.x, fun, args),))


@alternative(optimize.fixed_point)
def fixed_point_of(func, x0, args=(), xtol=1e-8, maxiter=500, method="del2"):
    found = found_by(optimize.fixed_point, func, x0, args, xtol, maxiter, method)
    return same_value(found, fixed_point(func, found, *args, tolerance=np.inf))
