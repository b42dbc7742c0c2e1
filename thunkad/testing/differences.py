"""Derivatives by central differences, extrapolated once (Richardson): error O(h⁴)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.tangents import AbstractZero
from thunkad.testing.leaves import Path, field_of, leaves, map_leaves, widened

STEP = 1e-3


def pairing(cotangent: Any, value: Any) -> float:
    """``Re Σ conj(cotangent) · value`` over all leaves of ``value``; a missing or zero cotangent counts nothing."""
    bars = dict(leaves(cotangent))
    total = 0.0
    for path, leaf in leaves(value):
        bar = bars.get(path)
        if bar is None or isinstance(bar, AbstractZero) or not field_of(leaf):
            continue
        total += float(np.real(np.sum(np.conjugate(bar) * leaf)))
    return total


def numerical_vjp(
    f: Callable[..., Any], args: tuple[Any, ...], seed: Any, only: set[Path] | None = None
) -> dict[Path, Any]:
    """The cotangents of all leaves of ``args``, by differences.

    Parameters
    ----------
    f : callable
        The function.
    args : tuple
        Its arguments; numbers and arrays may be nested in lists, tuples and dicts.
    seed : nested
        The cotangent of the result.
    only : set of paths, optional
        The leaves to perturb; by default all of float or complex type.

    Returns
    -------
    dict
        The cotangent by path.  ``Re Σ conj(x_bar) · dx == Re Σ conj(seed) · df`` for every perturbation ``dx``.
    """
    chosen = {p for p, v in leaves(args) if field_of(v) in ("real", "complex")} if only is None else only
    wide = map_leaves(lambda _, v: widened(v), args)
    return {path: _leaf_vjp(f, wide, seed, path, leaf) for path, leaf in leaves(wide) if path in chosen}


def _leaf_vjp(f: Callable[..., Any], args: Any, seed: Any, path: Path, leaf: Any) -> Any:
    is_complex = field_of(leaf) == "complex"
    scalar = not isinstance(leaf, np.ndarray)
    base: Any = leaf * 1.0
    result = np.zeros(np.shape(leaf), complex if is_complex else float)
    for index in np.ndindex(np.shape(leaf)):
        for unit in (1.0, 1j) if is_complex else (1.0,):

            def along(t: float, index: Any = index, unit: Any = unit) -> float:
                if scalar:
                    moved = base + t * unit
                else:
                    moved = np.array(base, copy=True, subok=True)
                    moved[index] += t * unit
                return pairing(seed, f(*_replaced(args, {path: moved})))

            result[index] += unit * _derivative(along, STEP * max(1.0, float(abs(leaf if scalar else base[index]))))
    return result[()]


def numerical_jvp(f: Callable[..., Any], args: tuple[Any, ...], tangents: dict[Path, Any]) -> dict[Path, Any]:
    """The directional derivative of every float leaf of ``f(*args)``, by differences, by path.

    ``tangents`` has the direction of each perturbed leaf of ``args`` by path.
    """
    wide = map_leaves(lambda _, v: widened(v), args)
    start = dict(leaves(wide))

    def along(t: float) -> dict[Path, Any]:
        moved = {path: start[path] + t * widened(dot) for path, dot in tangents.items()}
        return {p: v for p, v in leaves(f(*_replaced(wide, moved))) if field_of(v) in ("real", "complex")}

    parts = {t: along(t) for t in (STEP, -STEP, STEP / 2, -STEP / 2)}
    return {
        path: _derivative(lambda t, path=path: parts[t][path], STEP)  # type: ignore[misc]
        for path in parts[STEP]
    }


def _replaced(args: Any, new: dict[Path, Any]) -> Any:
    def change(path: Path, v: Any) -> Any:
        if path in new:
            return new[path]
        return np.array(v, copy=True, subok=True) if isinstance(v, np.ndarray) else v  # f may write into its arguments

    return map_leaves(change, args)


def _derivative(along: Callable[[float], Any], step: float) -> Any:
    coarse = (along(step) - along(-step)) / (2 * step)
    fine = (along(step / 2) - along(-step / 2)) / step
    return (4 * fine - coarse) / 3
