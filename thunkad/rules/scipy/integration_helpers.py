"""What the rules of ``scipy.integrate`` find out with plain numbers: subdivisions and steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate
from scipy.integrate import DOP853, RK23, RK45

from thunkad.errors import NoRuleError, NotImplementedDerivativeError

#: Nodes and weights of the Gauss–Kronrod rules that QUADPACK uses, for half of (-1, 1): 21 points on finite intervals,
#: 15 on infinite ones (Piessens, de Doncker-Kapenga, Überhuber, Kahaner: QUADPACK, Springer 1983).
_KRONROD_21 = np.array(
    [
        (0.99565716302580808, 0.011694638867371874), (0.97390652851717172, 0.032558162307964727),
        (0.93015749135570823, 0.054755896574351996), (0.86506336668898451, 0.075039674810919953),
        (0.78081772658641690, 0.093125454583697606), (0.67940956829902441, 0.10938715880229764),
        (0.56275713466860468, 0.12349197626206585), (0.43339539412924719, 0.13470921731147333),
        (0.29439286270146020, 0.14277593857706008), (0.14887433898163121, 0.14773910490133849),
        (0.0, 0.14944555400291691),
    ]
)  # fmt: skip
_KRONROD_15 = np.array(
    [
        (0.99145537112081264, 0.022935322010529225), (0.94910791234275852, 0.063092092629978553),
        (0.86486442335976907, 0.10479001032225018), (0.74153118559939444, 0.14065325971552592),
        (0.58608723546769113, 0.16900472663926790), (0.40584515137739717, 0.19035057806478541),
        (0.20778495500789847, 0.20443294007529889), (0.0, 0.20948214108472783),
    ]
)  # fmt: skip


def _rule(half: Any) -> tuple[Any, Any]:
    """The nodes in (-1, 1) and the weights."""
    nodes, weights = half.T
    return np.concatenate([-nodes, nodes[-2::-1]]), np.concatenate([weights, weights[-2::-1]])


_FINITE, _INFINITE = _rule(_KRONROD_21), _rule(_KRONROD_15)


# Quadrature


def check_quad(weight: Any, complex_func: bool) -> None:
    if weight is not None or complex_func:
        raise NoRuleError(
            "scipy.integrate.quad with weight= or complex_func= is not differentiated; "
            "write the weight as a factor, integrate the real and the imaginary part"
        )


def subdivision(
    func: Callable[..., Any], a: Any, b: Any, args: tuple[Any, ...], epsabs: float, epsrel: float, limit: int,
    points: Any, full_output: Any,
) -> tuple[Any, str, Any, Any, Any]:  # fmt: skip
    """What ``quad`` returns; nodes and weights of a sum that is the integral, and how they are given; and the ends.

    The nodes are 'fixed' points, and the finite ends with their signs say how the integral depends on them.  Where the
    integrand has no value at such an end, the nodes move along: they are fractions of the interval where that is
    'finite', else distances from the end 'a' or 'b' in the direction of infinity.
    """
    a, b = float(a), float(b)
    found = integrate.quad(func, a, b, args, 1, epsabs, epsrel, limit, points)
    if len(found) > 3 and not full_output:
        warnings.warn(found[3], integrate.IntegrationWarning, stacklevel=2)
    if a == b:
        return found, "fixed", (), (), _ends(func, a, b, args) or ()
    over, info = _Range(a, b), found[2]
    parts = [_Part(over, func, args, *ends) for ends in zip(info["alist"][: info["last"]], info["blist"])]
    accuracy = max(epsabs, epsrel * abs(found[0]), found[1])
    for _ in range(60):
        if abs(sum(p.value for p in parts) - found[0]) <= accuracy:
            break
        parts = [half for p in parts for half in p.refined(1e-3 * accuracy)]
        if len(parts) > 20 * limit:
            parts = []
    else:
        parts = []
    if not parts:  # SciPy has extrapolated from sums that are far from it
        raise NotImplementedDerivativeError(
            "this integral converges by extrapolation only, so that no sum of values of the integrand has its "
            "derivative; take the singularity out of it by a substitution"
        )
    u, w = np.concatenate([p.u for p in parts]), np.concatenate([p.w for p in parts])
    ends = _ends(func, a, b, args)
    return (found, over.form, u, w, ()) if ends is None else (found, "fixed", *over.fixed(u, w), ends)


def _ends(func: Callable[..., Any], a: float, b: float, args: tuple[Any, ...]) -> Any:
    """The finite ends, each with its sign; None where the integrand has no value at one of them."""
    ends = tuple((sign, end) for sign, end in ((-1.0, a), (1.0, b)) if np.isfinite(end))
    try:
        with np.errstate(all="ignore"):
            return ends if np.all(np.isfinite([np.sum(func(end, *args)) for _, end in ends])) else None
    except (ArithmeticError, ValueError):
        return None


class _Range:
    """What is integrated over, as QUADPACK sees it: an infinite range is the interval (0, 1) of another variable."""

    def __init__(self, a: float, b: float) -> None:
        self.a, self.b = a, b
        infinite = [np.isinf(a), np.isinf(b)]
        self.form = "both" if all(infinite) else "finite" if not any(infinite) else "b" if infinite[0] else "a"
        self.bound = {"a": a, "b": b}.get(self.form, 0.0)
        self.upwards = max(a, b) == np.inf

    def placed(self, low: float, high: float) -> tuple[Any, Any]:
        """The nodes and weights on a part: of a finite interval as fractions of it, else as distances from the end."""
        half = (high - low) / 2
        nodes, weights = _FINITE if self.form == "finite" else _INFINITE
        t, w = low + half * (1 + nodes), abs(half) * weights
        if self.form == "finite":
            return (t - self.a) / (self.b - self.a), w / abs(self.b - self.a)
        u = (1 - t) / t if self.upwards else (t - 1) / t
        return u, w / t**2 * (1 if self.a < self.b else -1)

    def fixed(self, u: Any, w: Any) -> tuple[Any, Any]:
        """Points and their weights."""
        if self.form == "finite":
            return self.a + (self.b - self.a) * u, (self.b - self.a) * w
        return (np.concatenate([u, -u]), np.concatenate([w, w])) if self.form == "both" else (self.bound + u, w)

    def total(self, func: Callable[..., Any], args: tuple[Any, ...], u: Any, w: Any) -> Any:
        x, weights = self.fixed(u, w)
        return sum(wk * func(xk, *args) for xk, wk in zip(x.tolist(), weights.tolist()))


class _Part:
    """A part of the range with its share of the integral."""

    def __init__(self, over: _Range, func: Callable[..., Any], args: tuple[Any, ...], low: float, high: float) -> None:
        self.given = over, func, args
        self.low, self.high = low, high
        self.u, self.w = over.placed(low, high)
        self.value = over.total(func, args, self.u, self.w)

    def refined(self, accuracy: float) -> list[_Part]:
        """Its halves, or itself where these add up to the same."""
        middle = (self.low + self.high) / 2
        halves = [_Part(*self.given, self.low, middle), _Part(*self.given, middle, self.high)]
        return [self] if abs(sum(p.value for p in halves) - self.value) <= accuracy else halves


# Differential equations

_METHODS = {"RK23": RK23, "RK45": RK45, "DOP853": DOP853}


def check_ivp(method: Any, dense_output: bool, events: Any) -> None:
    if method not in _METHODS and method not in _METHODS.values():
        raise NoRuleError(
            f"scipy.integrate.solve_ivp with method={method!r} is not differentiated: it solves equations inside, "
            "in compiled code; use 'RK45', 'RK23' or 'DOP853'"
        )
    if dense_output or events is not None:
        raise NoRuleError(
            "scipy.integrate.solve_ivp with events= or dense_output=True is not differentiated; "
            "give the times as t_eval="
        )


def steps_of(
    fun: Callable[..., Any], t_span: Any, y0: Any, method: Any, t_eval: Any, vectorized: bool, args: Any, options: Any
) -> tuple[Any, Any, list[int]]:
    """SciPy's solution; where steps end, as fractions of the time; and how many of its times are in each.

    The steps are small enough for the derivative of the solution, too, which may move where the solution rests.
    """
    found = integrate.solve_ivp(fun, t_span, y0, method, t_eval, False, None, vectorized, args, **options)
    start, end = map(float, t_span)
    if not found.success:
        raise NotImplementedDerivativeError(f"SciPy did not reach the end of the time: {found.message}")
    ends = _steps_for_both(fun, t_span, np.asarray(y0), method, vectorized, args or (), dict(options))
    if t_eval is None:  # SciPy's own steps, each in as many parts as are needed
        reached = found.t
        needed = np.abs(np.interp(reached[:-1], *_in_order(ends[:-1], np.diff(ends))))
        needed[needed == 0] = np.inf  # no time at all
        parts = np.ceil(np.abs(np.diff(reached)) / needed - 0.25).clip(1).astype(int)
        inside = [np.linspace(low, high, k + 1)[1:] for low, high, k in zip(reached, reached[1:], parts)]
        counts = [int(last) for k in parts for last in [*[0] * (k - 1), 1]]
        ends = np.concatenate([reached[:1], *inside])
    else:
        step = np.searchsorted(np.abs(ends - start), np.abs(np.asarray(t_eval, float) - start), "left") - 1
        counts = np.bincount(step.clip(0), minlength=len(ends) - 1).tolist()
    return found, (ends - start) / (end - start) if end != start else np.zeros(len(ends)), counts


def _in_order(t: Any, values: Any) -> tuple[Any, Any]:
    order = np.argsort(t)
    return t[order], values[order]


def _steps_for_both(
    fun: Callable[..., Any], t_span: Any, y0: Any, method: Any, vectorized: bool, args: Any, options: dict[str, Any]
) -> Any:
    """The ends of the steps that suit the solution and, beside it, how a small change of ``y0`` moves it."""
    size = len(y0)

    def slope(t: float, y: Any) -> Any:
        value = np.ravel(fun(t, y[:, None], *args)) if vectorized else fun(t, y, *args)
        return value + np.zeros(size)

    def both(t: float, pair: Any) -> Any:
        y, change = pair[:size], pair[size:]
        here, length = slope(t, y), max(1.0, float(np.linalg.norm(change)))
        step = 1.5e-8 * max(1.0, float(np.linalg.norm(y))) / length
        return np.concatenate([here, (slope(t, y + step * change) - here) / step])

    # the change is known to about eight digits, so that no more can be asked of it
    rtol, atol = options.pop("rtol", 1e-3), options.pop("atol", 1e-6)
    rtol, atol = np.broadcast_to(rtol, size), np.broadcast_to(atol, size)
    tolerances = [np.concatenate([tol, np.maximum(tol, 1e-6)]) for tol in (rtol, atol)]
    change = np.resize([1.0, -1.0], size) / max(1.0, size) ** 0.5
    pair = np.concatenate([y0, change])
    return integrate.solve_ivp(both, t_span, pair, method, rtol=tolerances[0], atol=tolerances[1], **options).t


def tableau_of(method: Any) -> tuple[Any, ...]:
    """The stages of a method ``(c, row of A)``, the weights of the result, further stages that its interpolation needs,
    and the matrix of that: the weight of each stage is a polynomial in the fraction of the step, without constant term.
    """
    cls = _METHODS.get(method, method)
    stages = [(float(c), row[: k + 1]) for k, (c, row) in enumerate(zip(cls.C[1:], cls.A[1:]))]
    if cls is not DOP853:
        return stages, cls.B, [], cls.P
    count = cls.n_stages + 1
    further = [(float(c), row[: count + k]) for k, (c, row) in enumerate(zip(cls.C_EXTRA, cls.A_EXTRA))]
    unit = np.eye(count + len(further))
    difference = np.append(cls.B, np.zeros(len(unit) - len(cls.B)))
    first, last = unit[0], unit[count - 1]
    rows = [difference, first - difference, 2 * difference - (first + last), *cls.D]
    weights = [np.poly1d([0.0])] * len(unit)
    for k, row in enumerate(reversed(rows)):  # nested products with x and 1 - x in turn
        factor = np.poly1d([1.0, 0.0]) if k % 2 == 0 else np.poly1d([-1.0, 1.0])
        weights = [(w + r) * factor for w, r in zip(weights, row)]
    matrix = np.zeros((len(unit), len(rows)))
    for line, w in zip(matrix, weights):
        powers = w.coeffs[::-1][1:]
        line[: len(powers)] = powers
    return stages, cls.B, further, matrix
