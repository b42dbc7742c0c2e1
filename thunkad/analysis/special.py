"""Attributes and items of users' objects that are code: properties, ``__getitem__``, operators in place etc."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import inspect
import math
import operator
import sys
import types
from typing import Any, TypeGuard

import numpy as np

from thunkad.analysis.constructors import calls_post_init, is_generated, is_made_empty
from thunkad.analysis.members import member
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Known, Mapping, Method, Num, Opaque, Sequence, Tuple
from thunkad.kinds.observe import kind_of
from thunkad.records import record
from thunkad.runtime.attributes import is_descriptor
from thunkad.runtime.exceptions import enter, entered, leave
from thunkad.runtime.folded import added_up, largest, mapped, multiplied, ordered, smallest, tupled
from thunkad.runtime.iterators import contained, drawn_or, everything, found_in, listed, listed_by_index, unpacked
from thunkad.runtime.suspended import Suspended
from thunkad.source.wrapped import python_function

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
    operator.getitem: "__getitem__", operator.setitem: "__setitem__", operator.delitem: "__delitem__",
    math.trunc: "__trunc__", copy.copy: "__copy__", enter: "__enter__", leave: "__exit__",
}  # fmt: skip
#: Built-in functions that apply an operator again and again, by the function that does so before the compiler's eyes.
FOLDS: dict[Any, Any] = {sum: added_up, math.prod: multiplied}
#: Built-in functions that use up a generator which is found when the code runs, in the same way.
USED_UP: dict[Any, Any] = {
    list: listed, tuple: tupled, dict: mapped, sorted: ordered, max: largest, min: smallest, **FOLDS,
}  # fmt: skip
_FOLDING = ("__add__", "__radd__", "__mul__", "__rmul__")
_CONTAINERS: tuple[type, ...] = (list, tuple, collections.deque, type({}.values()))
_NUMBERS = (int, float, complex, np.ndarray, np.generic)
#: Comparisons, by the method of the left operand; ``in`` is one of the right operand.
COMPARISONS = {
    "==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__",
    "in": "__contains__", "not in": "__contains__",
}  # fmt: skip


#: Methods of ``object`` that neither read nor write what an object holds.
HARMLESS = (object.__init__, object.__init_subclass__, object.__repr__, object.__str__, object.__hash__, object.__eq__)


@record(frozen=True, slots=True)
class Super(Opaque):
    """``super(start, owner)``: looks up methods behind ``start`` in the classes of ``owner``."""

    start: type
    instance: Instance
    owner: n.Expr
    of_class: bool = False  # ``owner`` is the class itself

    def method(self, name: str) -> Any:
        return member(self.instance.cls, name, self.start)

    def member(self, name: str) -> Kind:
        """The kind of ``super(start, owner).name``."""
        found = self.method(name)
        if name == "__new__" and isinstance(found, types.BuiltinFunctionType):
            return Known(found)
        if isinstance(found, classmethod):
            return Method(found.__func__, Known(self.instance.cls))
        if isinstance(found, staticmethod):
            return Known(found.__func__)
        found = python_function(found) or found
        return Method(found, self) if hasattr(type(found), "__get__") and not self.of_class else UNKNOWN

    def getter(self, name: str) -> Any:
        """The function that computes the attribute ``name``, if one does."""
        if self.of_class:
            return None
        found = self.method(name)
        if isinstance(found, property):
            return _function(found.fget)
        return _function(found.func) if isinstance(found, functools.cached_property) else None


def super_kind(callee: Any, args: Any, kinds: tuple[Kind, ...]) -> Super | None:
    """The kind of ``super(cls, self)``, or None if the call is none or its class is not known."""
    if callee is not super or len(kinds) != 2 or not isinstance(kinds[0], Known):
        return None
    start = kinds[0].value
    if isinstance(kinds[1], Known) and isinstance(kinds[1].value, type) and start in kinds[1].value.__mro__:
        return Super(super, start, Instance(kinds[1].value), args[1], True)
    if not isinstance(kinds[1], Instance):
        return None
    if not isinstance(start, type) or start not in kinds[1].cls.__mro__:
        return None
    return Super(super, start, kinds[1], args[1])


@record(frozen=True)
class Access:
    """The functions that read and write an attribute or an item; None where that is no Python function.

    Those of a ``descriptor`` are methods of its own.
    """

    read: Any
    write: Any
    descriptor: Any = None
    name: str | None = None  # of the attribute, where ``write`` is the class's ``__setattr__``

    def read_args(self, owner: n.Expr, cls: type) -> tuple[n.Expr, ...]:
        """What ``read`` is called with to read an attribute of ``owner``."""
        if self.descriptor is None:
            return (owner,)
        return n.Ref("descriptor", self.descriptor), owner, n.Ref(cls.__name__, cls)

    def write_args(self, owner: n.Expr, value: n.Expr) -> tuple[n.Expr, ...]:
        """What ``write`` is called with to set an attribute of ``owner``."""
        if self.name is not None:
            return owner, n.Const(self.name), value
        return (owner, value) if self.descriptor is None else (n.Ref("descriptor", self.descriptor), owner, value)


def is_own_class(kind: Kind | None) -> TypeGuard[Instance | Tuple]:
    """Whether a value of this kind is of a class of the user's: an object, or a tuple with methods."""
    return isinstance(kind, Instance) or (isinstance(kind, Tuple) and kind.cls is not tuple)


def makes_itself(cls: type) -> bool:
    """Whether a named tuple or dataclass is made of its fields by generated code, without code of its own."""
    if hasattr(cls, "_fields") and issubclass(cls, tuple):
        code = getattr(cls.__new__, "__code__", None)
        plain = cls.__init__ is object.__init__ and not isinstance(cls.__iter__, types.FunctionType)  # type: ignore[misc]
        return plain and code is not None and "_tuple_new" in code.co_names
    init = member(cls, "__init__")
    return dataclasses.is_dataclass(cls) and is_made_empty(cls) and is_generated(init) and not calls_post_init(init)


def fields_of_init(cls: Any) -> tuple[str, ...]:
    """The fields that the ``__init__`` of a dataclass takes."""
    return tuple(f.name for f in dataclasses.fields(cls) if f.init)


def is_by_fields(fn: Any) -> bool:
    """Whether ``fn`` makes one value of the fields of another: ``replace`` and the like."""
    if fn is dataclasses.replace or fn is dataclasses.asdict or fn is dataclasses.astuple:
        return True
    name, code = getattr(fn, "__name__", ""), getattr(fn, "__code__", None)
    return name in ("_replace", "_asdict", "_make") and code is not None and code.co_filename == _NAMED_TUPLES


def collected_kind(fn: Any) -> Kind:
    """The kind of what a function of :func:`is_by_fields` collects the fields in."""
    if fn is dataclasses.astuple:
        return Sequence(UNKNOWN, tuple)
    return Mapping(None, UNKNOWN) if fn is dataclasses.asdict or getattr(fn, "__name__", "") == "_asdict" else UNKNOWN


_NAMED_TUPLES = collections.namedtuple.__code__.co_filename


def made_kind(cls: type, args: Any, kwargs: Any, kinds: tuple[Kind, ...]) -> Kind:
    """The kind of a named tuple or dataclass made by ``cls(*args, **kwargs)``; nothing is known of other classes."""
    own_missing = isinstance(getattr(cls, "__missing__", None), types.FunctionType)
    if issubclass(cls, dict) and own_missing and cls is not collections.Counter:
        return Instance(cls)
    if not makes_itself(cls):
        return UNKNOWN
    if any(type(a) is n.Star for a in args) or any(k is None for k, _ in kwargs):
        return UNKNOWN if issubclass(cls, tuple) else Instance(cls)
    try:
        bound = inspect.signature(cls).bind(
            *kinds[: len(args)], **{k: v for (k, _), v in zip(kwargs, kinds[len(args) :])}
        )
    except TypeError:
        return UNKNOWN
    if not issubclass(cls, tuple):
        return Instance(cls, fields_made(cls, bound.arguments))
    defaults = {name: kind_of(value) for name, value in getattr(cls, "_field_defaults", {}).items()}
    return Tuple(tuple({**defaults, **bound.arguments}[name] for name in cls._fields), cls)  # type: ignore[attr-defined]


def fields_made(cls: type, given: dict[str, Kind]) -> tuple[tuple[str, Kind], ...]:
    """The kinds of the fields of a new dataclass; none if one is made by a factory, or is an argument of no field."""
    out = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        if field.name in given:
            out[field.name] = given[field.name]
        elif field.default is not dataclasses.MISSING:
            out[field.name] = kind_of(field.default)
        else:
            return ()
    return tuple(out.items())


def special_method(kind: Kind | None, name: str) -> Any:
    """A special method of a user's class, if it is a Python function."""
    if not is_own_class(kind):
        return None
    return _function(member(kind.cls, name))


def method_for(fn: Any, args: Any) -> Any:
    """The user's method that a built-in function calls for these values, or the function itself."""
    if fn is everything:
        if own_method(Instance(type(args[0])), "__iter__") is not None:
            return listed if len(args) == 1 else unpacked
        by_index = not hasattr(type(args[0]), "__iter__") and own_method(Instance(type(args[0])), "__getitem__")
        return listed_by_index if by_index else fn
    if fn is contained:
        own = own_method(Instance(type(args[0])), "__iter__"), own_method(Instance(type(args[0])), "__contains__")
        return found_in if own[0] is not None and own[1] is None else fn
    if fn in USED_UP and args and isinstance(args[0], Suspended):
        return USED_UP[fn]
    if fn in FOLDS:
        return FOLDS[fn] if holds_objects(args) else fn
    name = BY_METHOD.get(fn) if args else None
    if name is None:
        return fn
    found = own_method(Instance(type(args[0])), name)
    if fn is next and len(args) == 2 and found is not None:
        return drawn_or
    return found if found is not None else entered if fn is enter else fn


def holds_objects(args: Any) -> bool:
    """Whether the first argument is a container with objects of the user's classes in it, or the second is one."""
    if len(args) > 1 and has_operators(type(args[1])):
        return True
    items: Any = args[0] if args else ()
    items = items.values() if isinstance(items, dict) else items
    return isinstance(items, _CONTAINERS) and any(has_operators(cls) for cls in {type(x) for x in items})


def has_operators(cls: type) -> bool:
    """Whether ``+`` or ``*`` with an object of this class runs code of the user's."""
    return not issubclass(cls, _NUMBERS) and any(own_method(Instance(cls), name) is not None for name in _FOLDING)


def own_method(kind: Kind | None, name: str) -> Any:
    """The same, if it is neither generated (as those of a dataclass are) nor part of Python's own library."""
    found = special_method(kind, name)
    if found is None or found.__code__.co_filename.startswith("<string>"):
        return None
    module = (found.__module__ or "").split(".")[0]
    manages = module == "contextlib" and name in ("__enter__", "__exit__")  # of what it is given, which is the user's
    return found if manages or module not in sys.stdlib_module_names else None


def comparison(op: str, left: Kind, right: Kind) -> Any:
    """The user's method that ``left op right`` calls first, or None."""
    return own_method(right if op in ("in", "not in") else left, COMPARISONS.get(op, ""))


def operator_method(function: Any, left: Kind, right: Kind) -> Any:
    """The method that Python asks first for an operator on two such operands, if that is known and no library's."""
    name = function.__name__.strip("_")
    own = special_method(left, f"__{name}__")
    reflected = special_method(right, f"__r{name}__")
    if is_own_class(left):
        derived = is_own_class(right) and left.cls is not right.cls and issubclass(right.cls, left.cls)
        return own if not derived else None
    return reflected if isinstance(left, Num) and left.form == "python" else None


UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


def attribute_access(kind: Kind | None, name: str, write: bool = False, past: bool = False) -> Access | None:
    """How the attribute ``name`` of an object is read (or written) if that runs code; None if it is plain.

    ``past``: it is written by ``object.__setattr__``.
    """
    if not is_own_class(kind):
        return None
    cls = kind.cls
    hook = member(cls, "__setattr__" if write else "__getattribute__")
    if isinstance(kind, Instance) and isinstance(hook, types.FunctionType) and not past:
        frozen = write and "__dataclass_params__" in cls.__dict__  # a frozen dataclass
        if not frozen:
            return Access(None, hook, name=name) if write else Access(None, None)
    found = member(cls, name)
    if isinstance(found, property):
        return Access(_function(found.fget), _function(found.fset))
    if isinstance(found, functools.cached_property):
        return Access(_function(found.func), None)
    if is_descriptor(found):
        if name in (dict(kind.fields) if isinstance(kind, Instance) else ()) and not hasattr(type(found), "__set__"):
            return None  # an attribute of the object's own goes before
        get, put = (inspect.getattr_static(type(found), method, None) for method in ("__get__", "__set__"))
        return Access(_function(get), _function(put), found)
    if isinstance(kind, Tuple) or past:
        return None
    if found is not None or write or name in dict(kind.fields):
        return None
    return None if _function(member(cls, "__getattr__")) is None else Access(None, None)


def runs_code(kind: Kind, access: Access, name: str) -> bool:
    """Whether reading an attribute in this way runs a function of the user's each time, as a property does."""
    found = inspect.getattr_static(kind.cls, name, None) if isinstance(kind, Instance) else None
    return access.read is not None and not isinstance(found, functools.cached_property)


def update_access(kind: Kind | None, target: n.Index | n.Attr) -> Access | None:
    """How what ``target op= value`` reads and writes is read and written if that runs code."""
    if type(target) is n.Index:
        return item_access(kind)
    return attribute_access(kind, target.name) or attribute_access(kind, target.name, True)  # type: ignore[union-attr]


def item_access(kind: Kind | None) -> Access | None:
    """How items of a user's object are read and written; None if it is not one."""
    if not isinstance(kind, Instance):
        return None
    return Access(special_method(kind, "__getitem__"), special_method(kind, "__setitem__"))


def _function(f: Any) -> Any:
    return f if isinstance(f, types.FunctionType) else None


def is_class_of(e: n.Expr) -> bool:
    """Whether ``e`` is ``x.__class__`` or ``type(x)``."""
    if type(e) is n.Attr:
        return e.name == "__class__"
    return type(e) is n.Call and type(e.func) is n.Global and e.func.id == "type" and len(e.args) == 1


def iterating_class(kind: Kind) -> type | None:
    """The class of a named tuple in a value of this kind that says itself how it is iterated over."""
    inner: tuple[Kind, ...] = ()
    if isinstance(kind, Tuple):
        if special_method(kind, "__iter__") is not None:
            return kind.cls
        inner = kind.items
    elif isinstance(kind, Sequence) and kind.item is not None:
        inner = (kind.item,)
    elif isinstance(kind, Mapping):
        inner = tuple(v for _, v in kind.entries or ()) or ((kind.value,) if kind.value is not None else ())
    elif isinstance(kind, Instance):
        inner = tuple(v for _, v in kind.fields)
    return next((cls for cls in map(iterating_class, inner) if cls is not None), None)
