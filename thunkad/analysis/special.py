"""Attributes and items of users' objects that are code: properties, ``__getitem__``, operators in place etc."""

from __future__ import annotations

import inspect
import types
from typing import Any

from thunkad.ir import nodes as n
from thunkad.kinds.lattice import Instance, Kind, Known, Opaque
from thunkad.records import record

#: The special methods of operators in place.
IN_PLACE = {
    "+": "__iadd__", "-": "__isub__", "*": "__imul__", "/": "__itruediv__", "//": "__ifloordiv__", "%": "__imod__",
    "**": "__ipow__", "@": "__imatmul__", "|": "__ior__", "&": "__iand__", "^": "__ixor__", "<<": "__ilshift__",
    ">>": "__irshift__",
}  # fmt: skip


@record(frozen=True, slots=True)
class Super(Opaque):
    """``super(start, owner)``: looks up methods behind ``start`` in the classes of ``owner``."""

    start: type
    instance: Instance
    owner: n.Expr

    def method(self, name: str) -> Any:
        mro = self.instance.cls.__mro__
        for cls in mro[mro.index(self.start) + 1 :]:
            if name in cls.__dict__:
                return cls.__dict__[name]
        return None


def super_kind(callee: Any, args: Any, kinds: tuple[Kind, ...]) -> Super | None:
    """The kind of ``super(cls, self)``, or None if the call is none or its class is not known."""
    if callee is not super or len(kinds) != 2 or not isinstance(kinds[0], Known) or not isinstance(kinds[1], Instance):
        return None
    start = kinds[0].value
    if not isinstance(start, type) or start not in kinds[1].cls.__mro__:
        return None
    return Super(super, start, kinds[1], args[1])


@record(frozen=True)
class Access:
    """The functions that read and write an attribute or an item; None where that is no Python function."""

    read: Any
    write: Any


def special_method(kind: Kind | None, name: str) -> Any:
    """A special method of a user's class, if it is a Python function."""
    if not isinstance(kind, Instance):
        return None
    found = inspect.getattr_static(kind.cls, name, None)
    return found if isinstance(found, types.FunctionType) else None


def attribute_access(kind: Kind | None, name: str) -> Access | None:
    """How the attribute ``name`` of an object is read and written if that runs code; None if it is plain."""
    if not isinstance(kind, Instance):
        return None
    cls = kind.cls
    found = inspect.getattr_static(cls, name, None)
    if isinstance(found, property):
        return Access(_function(found.fget), _function(found.fset))
    own = [inspect.getattr_static(cls, hook, None) for hook in ("__getattribute__", "__setattr__")]
    hooks = [isinstance(f, types.FunctionType) for f in own]
    getter = inspect.getattr_static(cls, "__getattr__", None)
    unknown = found is None and name not in dict(kind.fields) and isinstance(getter, types.FunctionType)
    cached = type(found).__name__ == "cached_property"
    if any(hooks) or unknown or cached:
        generated = hooks == [False, True] and "__dataclass_params__" in cls.__dict__  # a frozen dataclass
        return None if generated and not cached else Access(None, None)
    return None


def item_access(kind: Kind | None) -> Access | None:
    """How items of a user's object are read and written; None if it is not one."""
    if not isinstance(kind, Instance):
        return None
    return Access(special_method(kind, "__getitem__"), special_method(kind, "__setitem__"))


def _function(f: Any) -> Any:
    return f if isinstance(f, types.FunctionType) else None
