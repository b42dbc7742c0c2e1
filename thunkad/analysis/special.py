"""Attributes and items of users' objects that are code: properties, ``__getitem__``, operators in place etc."""

from __future__ import annotations

import inspect
import math
import sys
import types
from typing import Any

from thunkad.ir import nodes as n
from thunkad.kinds.lattice import Instance, Kind, Known, Opaque
from thunkad.records import record
from thunkad.runtime.exceptions import enter, entered, leave

#: The special methods of operators in place.
IN_PLACE = {
    "+": "__iadd__", "-": "__isub__", "*": "__imul__", "/": "__itruediv__", "//": "__ifloordiv__", "%": "__imod__",
    "**": "__ipow__", "@": "__imatmul__", "|": "__ior__", "&": "__iand__", "^": "__ixor__", "<<": "__ilshift__",
    ">>": "__irshift__",
}  # fmt: skip


#: Built-in functions that do no more than call a special method.
BY_METHOD: dict[Any, str] = {
    len: "__len__", abs: "__abs__", round: "__round__", float: "__float__", int: "__int__", bool: "__bool__",
    complex: "__complex__", str: "__str__", repr: "__repr__", format: "__format__", divmod: "__divmod__",
    iter: "__iter__", next: "__next__", reversed: "__reversed__", math.floor: "__floor__", math.ceil: "__ceil__",
    math.trunc: "__trunc__", enter: "__enter__", leave: "__exit__",
}  # fmt: skip
#: Comparisons, by the method of the left operand; ``in`` is one of the right operand.
COMPARISONS = {
    "==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__",
    "in": "__contains__", "not in": "__contains__",
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


def is_made_by_init(cls: type) -> bool:
    """Whether an object of this class is an empty one to which a Python function does the rest."""
    plain = cls.__new__ is object.__new__ and type(cls).__call__ is type.__call__  # type: ignore[comparison-overlap]
    init = cls.__init__  # type: ignore[misc]
    return plain and isinstance(init, types.FunctionType) and init.__code__.co_filename != "<string>"


def method_for(fn: Any, args: Any) -> Any:
    """The user's method that a built-in function calls for these values, or the function itself."""
    name = BY_METHOD.get(fn) if args else None
    if name is None:
        return fn
    found = own_method(Instance(type(args[0])), name)
    return found if found is not None else entered if fn is enter else fn


def own_method(kind: Kind | None, name: str) -> Any:
    """The same, if it is neither generated (as those of a dataclass are) nor part of Python's own library."""
    found = special_method(kind, name)
    if found is None or found.__code__.co_filename.startswith("<string>"):
        return None
    return None if (found.__module__ or "").split(".")[0] in sys.stdlib_module_names else found


def comparison(op: str, left: Kind, right: Kind) -> Any:
    """The user's method that ``left op right`` calls first, or None."""
    return own_method(right if op in ("in", "not in") else left, COMPARISONS.get(op, ""))


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
