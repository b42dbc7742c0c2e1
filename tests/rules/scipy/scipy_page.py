"""Writes docs/scipy.md: what of SciPy has rules.  Run it after a change of ``thunkad/rules/scipy``."""

import importlib
import textwrap
from pathlib import Path

import numpy as np

from thunkad.rules.entry import ALTERNATIVE, RRULE
from thunkad.rules.load import load_library
from thunkad.rules.table import TABLE

PAGE = Path(__file__).parents[3] / "docs" / "scipy.md"
MODULES = "special linalg fft integrate optimize sparse sparse.linalg ndimage signal"

HEAD = """\
# SciPy

Rules for a part of SciPy are read in once the program has imported that part; ThunkAD itself does not need SciPy.  What has
no rule here is looked into like any library (see [limits.md](limits.md#library-code)), or refused with its reason and what to
write instead.  A rule of yours (`thunkad.rrule`) goes before all of this.  Written by `tests/rules/scipy/scipy_page.py`.

## How some of them are differentiated

- **`integrate.quad`**: SciPy subdivides the interval with plain numbers.  The derivative is that of the Gauss-Kronrod sum over
  these parts, refined until the sum is the integral (where SciPy extrapolates at a singular end), in what the integrand
  captures, in `args` and in both limits.  The value is SciPy's.
- **`integrate.solve_ivp`** with `RK45`, `RK23` and `DOP853`: the steps are found with plain numbers, for the solution and for a small
  change of it together, so that they suit the derivative also where the solution rests; the derivative is that of the method
  with these steps, in `y0`, `args`, captured values and all times.  The value is SciPy's.  `events`, `dense_output` and the
  implicit methods are refused.
- **Root finders**: by the implicit function theorem, to any order ([`thunkad.root`](../README.md)); the way to the root is not
  looked at.  Minimizers are refused: write `thunkad.root(thunkad.grad(f), x0, *args)` with SciPy's solution as `x0`.
- **Sparse matrices** (`csr`, `csc` and `coo`, as arrays or matrices) have derivatives of the entries that they store.  Constant
  ones may have any format but `dok`.  Products, sums, multiples, `.T`, `toarray`, `diagonal`, `sum()`, `spsolve` and the `solve` of `splu(...)` of a
  constant matrix are differentiated, to second order.
- **Distributions** of `stats`: `norm` in all its methods; `logpdf` and `pdf` of `expon`, `uniform`, `laplace`, `logistic`, `cauchy`, `halfnorm`,
  `gumbel_r`, `rayleigh` with `cdf`, `sf` and `ppf`, of `gamma`, `chi2`, `t`, `lognorm`, `beta`; `logpdf` of `invgamma`, `weibull_min`, `pareto`;
  `logpmf` and `pmf` of `poisson`, `binom`, `bernoulli`; `multivariate_normal.logpdf` and `pdf`; frozen ones (`stats.gamma(a).logpdf(x)`) likewise.
- **`interpolate`**: objects made of constants (`CubicSpline`, `PchipInterpolator`, `Akima1DInterpolator`, `PPoly`, linear `interp1d` and
  `RegularGridInterpolator`) may be called at differentiated points.  For tables of differentiated values there is `np.interp`.

## Functions with rules
"""


def names_with_rules(module):
    found = []
    for name in dir(module):
        function = getattr(module, name)
        try:
            kinds = {e.kind for e in TABLE.snapshot.entries(function)} if callable(function) else set()
        except TypeError:
            continue
        of_scipy = isinstance(function, np.ufunc) or (getattr(function, "__module__", "") or "").startswith("scipy")
        if kinds & {RRULE, ALTERNATIVE} and of_scipy and not name.startswith("_"):
            found.append(name)
    return found


def page():
    parts = [HEAD]
    modules = [(name, importlib.import_module(f"scipy.{name}")) for name in MODULES.split()]
    load_library()
    for name, module in modules:
        found = names_with_rules(module)
        listed = textwrap.fill(", ".join(f"`{f}`" for f in found), 120, break_on_hyphens=False)
        parts.append(f"**`scipy.{name}`** ({len(found)}): {listed}.\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
