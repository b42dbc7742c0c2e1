"""How an argument was before it was changed in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.chosen import is_function
from thunkad.runtime.containers import SEQUENCES, AsItWas, remade
from thunkad.runtime.parts import fields_of
from thunkad.runtime.shadows import VALUES
from thunkad.runtime.walks import Left, complete


def structure(x: Any) -> Any:
    """Containers and objects copied, what they hold as it is: how an argument was before it is changed in place."""
    left: Left = []
    return complete(left, _structure(x, {}, left))


def _structure(x: Any, seen: dict[int, Any], left: Left) -> Any:
    """The same for a part of a value; what lists, dicts and objects hold is left for later."""
    if id(x) in seen:
        return seen[id(x)]
    if type(x) is dict:
        made: Any = {}
        seen[id(x)] = made
        left.append(lambda: made.update([(k, _structure(v, seen, left)) for k, v in x.items()]))
        return made
    if type(x) is list:
        made = seen[id(x)] = []
        left.append(lambda: made.extend([_structure(v, seen, left) for v in x]))
        return made
    if isinstance(x, SEQUENCES):
        return remade(x, [_structure(v, seen, left) for v in x])
    holds = isinstance(getattr(x, "__dict__", None), dict) and not is_function(x)
    if holds and not isinstance(x, (*VALUES, np.ndarray)):
        made = seen[id(x)] = AsItWas(type(x))
        left.append(lambda: made.fields.update([(k, _structure(v, seen, left)) for k, v in fields_of(x).items()]))
        return made
    return x
