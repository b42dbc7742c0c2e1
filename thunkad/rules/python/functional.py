"""Functions that make or choose functions: of ``operator`` and ``functools``."""

from __future__ import annotations

import operator

from thunkad.rules.library import alternative, non_differentiable
from thunkad.runtime.chosen import implementation

non_differentiable(implementation, operator.itemgetter, operator.attrgetter)


@alternative(operator.methodcaller)
def methodcaller(name, /, *args, **kwargs):
    return lambda x: getattr(x, name)(*args, **kwargs)
