"""What the bodies that are written out for ``scipy.ndimage`` have in common: options for each axis, where results go."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.rules.library import alternative, non_differentiable


def at(option: Any, k: Any) -> Any:
    """An option for axis number ``k``, which may be given for each axis or for all of them."""
    return option[k] if isinstance(option, (list, tuple, np.ndarray)) else option


def option(given: Any, k: Any) -> Any:
    """The same of an option that has no derivative."""
    return at(given, k)


def turned_origin(origin: Any, weights: Any) -> Any:
    """The origin of a correlation with the reversed ``weights`` that is the convolution with ``weights`` at ``origin``."""
    return [-at(origin, k) if n % 2 else -at(origin, k) - 1 for k, n in enumerate(np.shape(weights))]


def delivered(y: Any, output: Any) -> Any:
    """``y`` as ``output`` says: as it is, in another precision, or in an array that is there."""
    return y if output is None else y.astype(precision(output, np.iscomplexobj(y)))


def precision(output: Any, of_complex: bool) -> Any:
    """The dtype ``output``, or the complex one of its precision."""
    return np.promote_types(output, np.complex64) if of_complex else output


@alternative(delivered, types=(object, type(None)))
def as_it_is(y, output):
    return y


@alternative(delivered, types=(object, np.ndarray))
def into(y, output):
    output[...] = y
    return output


non_differentiable(option, turned_origin, precision)
