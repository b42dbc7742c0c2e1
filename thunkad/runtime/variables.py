"""Variables that functions share, of modules and of enclosing functions, as objects with an attribute ``value``.

Derivatives flow through such a variable as they do through an attribute of an object that is passed to every function.
Reading and setting ``value`` reads and sets the variable itself.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
import warnings
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

from thunkad.errors import KeptValueWarning


class Location:
    """The attribute ``value`` of a variable."""

    def __get__(self, x: Any, cls: Any = None) -> Any:
        if x is None:
            return self
        value = x.read()
        cls.found = cls.found or not cls.assigned
        return value

    def __set__(self, x: Any, value: Any) -> None:
        x.write(value)
        type(x).assigned = True

    def __delete__(self, x: Any) -> None:
        x.delete()


class Variable:
    """One variable; each has a class of its own, so that it is known which one an object of that class is."""

    __slots__ = ("__weakref__",)
    label = ""
    kinds: dict[str, Any] = {}  # of its attributes, as far as they are known
    differentiated = False  # whether some function assigns what is differentiated
    assigned = found = False  # in the call that is running: whether it was assigned, and whether read before that
    namespace: dict[str, Any] | None = None  # of the module that it belongs to
    value = Location()
    read: Callable[[], Any]
    write: Callable[[Any], None]
    delete: Callable[[], None]

    @classmethod
    def held(cls) -> Any:
        """What the variable holds; None if that is nothing."""
        try:
            return cls.read()  # type: ignore[call-arg]
        except NameError:
            return None

    def fields(self) -> dict[str, Any]:
        """What the object holds, as its attributes."""
        try:
            return {"value": self.value}
        except NameError:
            return {}


class Place(Location):
    """An attribute of :class:`Outside`: what a variable holds, which nobody assigns."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self.read = read

    def __get__(self, x: Any, cls: Any = None) -> Any:
        return self if x is None else self.read()


class Outside(Variable):
    """What outlives the calls, and is written into and read by them: lists, dicts and objects as attributes of one."""

    __slots__ = ()
    places: dict[str, Callable[[], Any]] = {}  # each class has its own

    def fields(self) -> dict[str, Any]:
        found = {}
        for name, read in self.places.items():
            with contextlib.suppress(NameError):
                found[name] = read()
        return found


def begin(*variables: Variable) -> None:
    """A call begins that may read what an earlier one has left in these variables."""
    for v in variables:
        type(v).assigned = type(v).found = False


def settle(*variables: Variable) -> None:
    """The call is over: warn of those that were read and not assigned, where differentiated values are assigned."""
    names = [repr(v.label) for v in variables if v.differentiated and v.found and not v.assigned and _holds_numbers(v)]
    if names:
        what = f"the variable {names[0]} was" if len(names) == 1 else f"the variables {', '.join(names)} were"
        warnings.warn(
            f"{what} read, and not assigned, in this call: what an earlier call has left there counts as a constant.  "
            "For a memo use functools.cache, or clear it before the derivative is taken",
            KeptValueWarning,
            stacklevel=level_of_user(),
        )


def _holds_numbers(v: Variable) -> bool:
    try:
        return not isinstance(v.read(), (bool, str, type(None), FunctionType, type))
    except NameError:
        return False


def level_of_user() -> int:
    """The stack level of the first caller outside this package and generated code."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_globals.get("__name__", "").split(".")[0] == "thunkad"
        or frame.f_code.co_filename.startswith("<thunkad ")
    ):
        frame = frame.f_back
        level += 1
    return level


def of_module(namespace: dict[str, Any], name: str) -> Variable:
    """The global variable ``name`` of the module with this namespace."""

    def read() -> Any:
        try:
            return namespace[name]
        except KeyError:
            if hasattr(builtins, name):
                return getattr(builtins, name)
            raise NameError(f"name {name!r} is not defined", name=name) from None

    def delete() -> None:
        if name not in namespace:
            raise NameError(f"name {name!r} is not defined", name=name)
        del namespace[name]

    made = _made(name, read, lambda value: namespace.__setitem__(name, value), delete)
    type(made).namespace = namespace
    return made


def of_cell(cell: CellType, name: str) -> Variable:
    """The variable ``name`` of an enclosing function, which lives in ``cell``."""
    missing = f"cannot access free variable {name!r} where it is not associated with a value in enclosing scope"

    def read() -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            raise NameError(missing, name=name) from None

    def write(value: Any) -> None:
        cell.cell_contents = value

    def delete() -> None:
        read()
        del cell.cell_contents

    return _made(name, read, write, delete)


def of_objects(reads: dict[str, Callable[[], Any]], kinds: dict[str, Any]) -> Outside:
    """The object with these attributes."""
    places = {name: Place(read) for name, read in reads.items()}
    facts = {"__slots__": (), "label": ", ".join(reads), "places": reads, "kinds": kinds}
    cls = type("Outside", (Outside,), {**facts, **places})
    return cls()  # type: ignore[no-any-return]


def _made(name: str, read: Any, write: Any, delete: Any) -> Variable:
    functions = {"read": staticmethod(read), "write": staticmethod(write), "delete": staticmethod(delete)}
    cls = type(f"{name}_variable", (Variable,), {"__slots__": (), "label": name, **functions})
    return cls()  # type: ignore[no-any-return]
