"""Attributes of objects that are code: found where the class of an object is known only when the code runs."""

from __future__ import annotations

import dis
import functools
import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.variables import Location

_sharing: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()
_PLAIN = (np.ndarray, list, tuple, dict, np.generic, float, str)
SHARED_HINT = "it outlives the call: keep the value in a variable, or in an attribute of an object made in the call"


class Holding:
    """A function whose cotangent is that of copies that it holds."""

    def holding(self, copied: Callable[[Any], Any]) -> Any:
        """The same function with copies of what it holds."""
        raise NotImplementedError


def is_descriptor(found: Any) -> bool:
    """Whether a member of a class is an object of a user's class that defines ``__get__`` or ``__set__``."""
    cls = type(found)
    if isinstance(found, (types.FunctionType, type, Location)) or cls.__module__ in (
        "builtins",
        "collections",
        "functools",
    ):
        return False
    hooks = (inspect.getattr_static(cls, name, None) for name in ("__get__", "__set__"))
    return any(isinstance(hook, types.FunctionType) for hook in hooks)


def is_code(found: Any) -> bool:
    """Whether reading or setting such a member of a class, as an attribute of its objects, runs code."""
    return isinstance(found, (property, functools.cached_property)) or is_descriptor(found)


def gone_through(x: Any) -> UnsupportedSyntaxError:
    """The error for an object whose items are taken by code that can't be looked into."""
    return UnsupportedSyntaxError(
        f"going through an object of the class {type(x).__qualname__}, which is no list, tuple or dict,",
        hint="give the class an __iter__ that is a Python function, or go through the list that it holds",
    )


def check_read(x: Any, name: str) -> None:
    """Refuse to follow ``x.name`` as a part of ``x`` where reading it runs code."""
    if isinstance(x, super):
        if not callable(getattr(x, name)):
            raise behind(name)
        return
    cls: Any = type(x)
    found = inspect.getattr_static(cls, name, None)
    if is_code(found) or isinstance(cls.__getattribute__, types.FunctionType):
        raise UnsupportedSyntaxError(
            f"{cls.__qualname__}.{name} is computed when it is read, and that the object is of this class is known "
            "only when the code runs",
            hint=f"make the object by the name of its class where .{name} is read",
        )
    own = name in getattr(x, "__dict__", ()) or (is_result(x) and name in x)
    if found is None and not own and hasattr(cls, "__getattr__"):
        raise UnsupportedSyntaxError(
            f"{cls.__qualname__}.{name} is computed by __getattr__", hint="write a property, or a method that is called"
        )
    if name == "__dict__":
        raise UnsupportedSyntaxError(
            "the dictionary of the attributes of an object that is differentiated",
            hint="read and set the attributes by name: x.name, getattr(x, 'name')",
        )


def read_behind(start: type, owner: Any, name: str) -> Any:
    """The function that reads ``super(start, owner).name`` of ``owner``."""
    mro = type(owner).__mro__
    members = [vars(cls)[name] for cls in mro[mro.index(start) + 1 :] if name in vars(cls)]
    if members and isinstance(members[0], property):
        return members[0].fget
    return lambda owner: getattr(super(start, owner), name)


def behind(name: str) -> UnsupportedSyntaxError:
    """The error for what ``super()`` finds that is no method."""
    return UnsupportedSyntaxError(
        f"super().{name}, which is no method, where the class is known only when the code runs",
        hint="read it by the name of its class",
    )


def check_write(x: Any, name: str) -> None:
    """Refuse to follow ``x.name = value`` as a change of a part of ``x`` where it is none, or runs code."""
    if isinstance(x, (type, types.ModuleType, types.FunctionType)):
        raise outside(x, name)
    cls: Any = type(x)
    found = inspect.getattr_static(cls, name, None)
    own = cls.__setattr__ is not object.__setattr__ and isinstance(cls.__setattr__, types.FunctionType)
    frozen = "__dataclass_params__" in cls.__dict__
    if is_code(found) or (own and not frozen):
        raise UnsupportedSyntaxError(
            f"setting {cls.__qualname__}.{name} runs code, and that the object is of this class is known only when "
            "the code runs",
            hint=f"make the object by the name of its class where .{name} is set",
        )


def is_result(x: Any) -> bool:
    """Whether ``x`` is a result of SciPy's: a dict whose ``__getattr__`` reads its items."""
    return is_class_of_results(type(x))


def is_class_of_results(cls: type) -> bool:
    return issubclass(cls, dict) and cls.__module__.startswith("scipy.")


def is_own_dictionary(x: Any) -> bool:
    """Whether the attributes of ``x`` are its items: a dict with ``self.__dict__ = self``."""
    return isinstance(x, dict) and getattr(x, "__dict__", None) is x


def shares_dictionary(cls: type) -> bool:
    """Whether a function in the class gives an object another dictionary of attributes, which others may have, too."""
    found = _sharing.get(cls)
    if found is None and cls.__module__.startswith("scipy."):
        found = _sharing[cls] = False  # sparse matrices, which take over what another one of them has
    if found is None:
        members = (getattr(v, "__func__", v) for c in cls.__mro__ for v in vars(c).values())
        found = any(isinstance(f, types.FunctionType) and sets_dictionary(f) for f in members)
        _sharing[cls] = found
    return found


def sets_dictionary(f: types.FunctionType) -> bool:
    """Whether ``f`` sets the attribute ``__dict__`` of something."""
    code = f.__code__
    if "__dict__" in code.co_names:
        return any(i.opname == "STORE_ATTR" and i.argval == "__dict__" for i in dis.get_instructions(code))
    return "__dict__" in code.co_consts and not {"setattr", "__setattr__"}.isdisjoint(code.co_names)


def another_dictionary(cls: type) -> UnsupportedSyntaxError:
    """The error for a change of an object whose attributes may be those of another one."""
    return UnsupportedSyntaxError(
        f"an object that is given another dictionary can't be differentiated ({cls.__qualname__}): what is set of one "
        "object changes others",
        hint="keep what objects share in an attribute of theirs: self.shared = shared",
    )


def check_items(x: Any, method: str) -> None:
    """Refuse to follow ``x[key]`` as a part of ``x`` where code of the user's computes or stores it."""
    if isinstance(getattr(type(x), method, None), types.FunctionType) and not isinstance(x, (list, tuple, dict)):
        raise UnsupportedSyntaxError(
            f"{type(x).__qualname__}.{method} computes an item, and that the object is of this class is known only "
            "when the code runs",
            hint="make the object by the name of its class where the item is read or set",
        )


def check_delete(x: Any, name: str) -> None:
    """Refuse to follow ``del x.name`` where it is no part of ``x`` that goes, or where that runs code."""
    cls: Any = type(x)
    if isinstance(x, (type, types.ModuleType, types.FunctionType)):
        raise outside(x, name)
    if is_code(inspect.getattr_static(cls, name, None)) or isinstance(cls.__delattr__, types.FunctionType):
        raise UnsupportedSyntaxError(
            f"deleting {cls.__qualname__}.{name} runs code", hint="write a method, and call it by its name"
        )


def outside(x: Any, name: str) -> UnsupportedSyntaxError:
    """The error for an attribute of a class, module or function that is set to what is differentiated."""
    sort = "class" if isinstance(x, type) else "module" if isinstance(x, types.ModuleType) else "function"
    label = getattr(x, "__qualname__", None) or x.__name__
    return UnsupportedSyntaxError(
        f"setting {label}.{name}, an attribute of a {sort}, to a value that is differentiated is not supported",
        hint=SHARED_HINT,
    )


def has_own(x: Any, name: Any) -> bool:
    """``name in x.__dict__``"""
    return name in x.__dict__


def has_items(x: Any) -> bool:
    """Whether ``x[key]`` calls a Python function of a class."""
    if isinstance(x, _PLAIN):  # of those derived from them, code of their own is refused by name
        return False
    return isinstance(inspect.getattr_static(type(x), "__getitem__", None), types.FunctionType)


def is_iterated(x: Any) -> bool:
    """Whether iterating over ``x`` calls a Python function of a class, its ``__iter__`` or else its ``__getitem__``."""
    if isinstance(x, _PLAIN):
        return False
    found = inspect.getattr_static(type(x), "__iter__", None)
    return isinstance(found, types.FunctionType) if found is not None else has_items(x)


def check_in_one_step(x: Any) -> None:
    """Refuse to take ``x`` apart in a ``try`` if that draws its items one by one, since it may be left half-way."""
    if is_iterated(x):
        raise UnsupportedSyntaxError(
            f"an item of type {type(x).__name__}, which makes its own items one by one, is taken apart in a 'try' "
            "whose handler may see what has been done",
            hint="let the iterator give tuples or lists",
        )


def own_names(x: Any) -> list[str]:
    """The names in ``x.__dict__``."""
    return list(x.__dict__)


def own_dict(x: Any) -> dict[str, Any]:
    """What ``x.__dict__`` holds, in a dict of its own."""
    found = {}
    for name in own_names(x):
        found[name] = getattr(x, name)
    return found


def set_all(x: Any, given: Any) -> None:
    """``x.__dict__.update(given)``"""
    for name in given:
        setattr(x, name, given[name])
