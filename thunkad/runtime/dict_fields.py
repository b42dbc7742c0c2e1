"""Attributes of objects whose class is derived from ``dict``: which place of its shadow is that of one."""

from __future__ import annotations

import dis
import functools
import types
from typing import Any

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.attributes import check_read, check_write, is_own_dictionary


class FIELD:
    """What the place of an attribute begins with, which is none of an item."""


def _sets_item(self: Any, k: Any, v: Any) -> None:
    self[k] = v


@functools.lru_cache(maxsize=256)
def returns_item(code: types.CodeType) -> bool:
    """Whether all that a method ``__getattr__(self, name)`` returns is ``self[name]``."""
    steps = [(i.opname, i.argval) for i in dis.get_instructions(code) if i.opname not in ("NOP", "RESUME", "CACHE")]
    returned = [steps[max(k - 3, 0) : k] for k, (name, _) in enumerate(steps) if name.startswith("RETURN")]
    item = [("LOAD_FAST", code.co_varnames[0]), ("LOAD_FAST", code.co_varnames[1]), ("BINARY_SUBSCR", None)]
    return bool(returned) and all(found == item for found in returned)


def slot_of_read(x: Any, name: str, value: Any) -> Any:
    """The place of ``value = x.name``: that of an item, if the attribute is one."""
    own = getattr(x, "__dict__", {})
    if is_own_dictionary(x):
        return name
    if name not in own and not hasattr(type(x), name):
        getter = getattr(type(x), "__getattr__", None)
        by_code = isinstance(getter, types.FunctionType) and returns_item(getter.__code__)
        if getter is dict.__getitem__ or by_code or dict.get(x, name, own) is value:
            return name
    check_read(x, name)
    return FIELD, name


def slot_of_write(x: Any, name: str, past: bool) -> Any:
    """The place of what ``x.name = value`` has stored, ``past`` what the class does."""
    setter: Any = type(x).__setattr__
    if is_own_dictionary(x) or (setter is dict.__setitem__ and not past):
        return name
    if past or setter is object.__setattr__:
        check_write(x, name)
    elif not (isinstance(setter, types.FunctionType) and setter.__code__.co_code == _sets_item.__code__.co_code):
        raise UnsupportedSyntaxError(
            f"setting {type(x).__qualname__}.{name} runs code, and that the object is of this class is known only when "
            "the code runs",
            hint=f"set the item: x[{name!r}] = …",
        )
    else:
        return name
    return FIELD, name
