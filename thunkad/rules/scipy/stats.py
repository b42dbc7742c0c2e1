"""``scipy.stats.norm``, and what is refused of all others (:mod:`thunkad.rules.scipy.distributions` has more of them).

The methods are those of all continuous distributions; what is written out here holds for the class of ``norm``.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats
from scipy.stats import rv_continuous, rv_discrete

from thunkad.rules.library import alternative, non_differentiable
from thunkad.rules.refused import refuse

NORMAL = (type(stats.norm),)
ROOT_TWO_PI = math.sqrt(2 * math.pi)

for _cls in (rv_continuous, rv_discrete):
    refuse(
        "of this distribution of scipy.stats this method has no rule; write it out with scipy.special",
        *(f for name in dir(_cls) if not name.startswith("__") and callable(f := getattr(_cls, name))),
    )


def doubled(x):
    """``x`` in the precision in which SciPy computes."""
    x = np.asarray(x)
    return x.astype(np.result_type(x.dtype, np.float64))


def positive(x):
    """``x``, or NaN where a scale or a shape is not positive."""
    return np.where(np.asarray(x) > 0, x, np.nan)


def standardized(x, loc, scale):
    return (doubled(x) - loc) / positive(scale)


@alternative(rv_continuous.pdf, types=NORMAL)
def pdf(self, x, loc=0, scale=1):
    z = standardized(x, loc, scale)
    return np.exp(-z * z / 2) / (ROOT_TWO_PI * scale)


@alternative(rv_continuous.logpdf, types=NORMAL)
def logpdf(self, x, loc=0, scale=1):
    z = (doubled(x) - loc) / scale
    return -z * z / 2 - np.log(ROOT_TWO_PI * scale)


@alternative(rv_continuous.cdf, types=NORMAL)
def cdf(self, x, loc=0, scale=1):
    return special.ndtr(standardized(x, loc, scale))


@alternative(rv_continuous.logcdf, types=NORMAL)
def logcdf(self, x, loc=0, scale=1):
    return special.log_ndtr(standardized(x, loc, scale))


@alternative(rv_continuous.sf, types=NORMAL)
def sf(self, x, loc=0, scale=1):
    return special.ndtr(-standardized(x, loc, scale))


@alternative(rv_continuous.logsf, types=NORMAL)
def logsf(self, x, loc=0, scale=1):
    return special.log_ndtr(-standardized(x, loc, scale))


@alternative(rv_continuous.ppf, types=NORMAL)
def ppf(self, q, loc=0, scale=1):
    return loc + positive(scale) * special.ndtri(doubled(q))


@alternative(rv_continuous.isf, types=NORMAL)
def isf(self, q, loc=0, scale=1):
    return loc - positive(scale) * special.ndtri(doubled(q))


@alternative(rv_continuous.entropy, types=NORMAL)
def entropy(self, loc=0, scale=1):
    return 0.5 * math.log(2 * math.pi * math.e) + np.log(scale) + 0.0 * loc


@alternative(rv_continuous.mean, types=NORMAL)
def mean(self, loc=0, scale=1):
    return loc + 0.0 * scale


@alternative(rv_continuous.median, types=NORMAL)
def median(self, loc=0, scale=1):
    return loc + 0.0 * scale


@alternative(rv_continuous.std, types=NORMAL)
def std(self, loc=0, scale=1):
    return scale + 0.0 * loc


@alternative(rv_continuous.var, types=NORMAL)
def var(self, loc=0, scale=1):
    return scale * scale + 0.0 * loc


def standard_draws(distribution, loc, scale, size, random_state):
    """Draws that are moved by ``loc`` and stretched by ``scale`` afterwards."""
    return distribution.rvs(np.zeros_like(loc, float), np.ones_like(scale, float), size=size, random_state=random_state)


non_differentiable(standard_draws)


@alternative(rv_continuous.rvs, types=NORMAL)
def rvs(self, loc=0, scale=1, size=1, random_state=None):
    return loc + scale * standard_draws(self, loc, scale, size, random_state)
