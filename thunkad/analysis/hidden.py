"""Methods of the user's that run where the text calls nothing, and change the object: tests, comparisons, texts.

Neither mode follows such a change, so a statement that makes one is refused if what is changed is differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.special import own_method
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Mapping, Sequence, Tuple, item_of, value_of
from thunkad.source.origin import is_foreign

#: The site of a statement whose operands are lists by now.
TAKEN = "taken"
HINT = "call it by its name, before this statement"
_TESTS = ("__bool__", "__len__")
_COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_ITEMS = ("__iter__", "__getitem__", "__len__")
_TEXTS = ("__format__", "__str__", "__repr__")
_NUMBERS = ("__index__", "__int__", "__float__", "__complex__", "__array__")
_UNSEEN = (*_TESTS, *_COMPARISONS, *_ITEMS, *_TEXTS, *_NUMBERS, "__hash__", "__contains__")
#: What built-in functions run of the items of a list that was made for them.
_OF_ITEMS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("list", "tuple", "len", "reversed", "enumerate", "zip"), ()),
    **dict.fromkeys(("sorted", "max", "min"), _COMPARISONS),
}
#: Functions and methods that hand on what they are given, and look at its class at most.
_HARMLESS = frozenset(
    "isinstance issubclass id type callable hasattr getattr setattr delattr append insert extend iter next super "
    "object __new__ drawn listed enter leave everything is_iterated has_items has_own own_names "
    "check_in_one_step".split()
)


def hidden_method(resolved: Resolved, s: n.Stmt, concerned: Callable[[n.Expr], bool]) -> str | None:
    """The name of a method that ``s`` runs unseen and that changes its object, if that object is ``concerned``."""
    changing = _changing(resolved)
    if not changing:
        return None
    for e, methods in _asked(resolved, s):
        if type(e) in n.ATOMS and concerned(e):
            classes = _classes(resolved.kind(e))
            for (cls, method), name in changing.items():
                if method in methods and (classes is None or cls in classes):
                    return name
    return None


def _changing(resolved: Resolved) -> dict[tuple[type, str], str]:
    """The methods that change their object, of the classes of which the function has objects, with their full names."""
    if "hidden" not in resolved.cache:
        found: dict[tuple[type, str], str] = {}
        kinds = {cls: kind for k in resolved.kinds.values() for kind in _instances(k) for cls in (kind.cls,)}
        for cls, kind in kinds.items() if resolved.mutated_params is not None else ():
            for name in _UNSEEN if not is_foreign(cls) else ():
                method = own_method(kind, name)
                if method is not None and not _is_generated(method) and _changes(resolved, method, kind):
                    found[cls, name] = method.__qualname__
        resolved.cache["hidden"] = found
    return resolved.cache["hidden"]  # type: ignore[no-any-return]


def _is_generated(method: Any) -> bool:
    """Whether ``method`` is the ``__repr__`` of a dataclass, made by its decorator."""
    code = getattr(getattr(method, "__wrapped__", None), "__code__", None)
    return code is not None and code.co_filename.startswith("<string>")


def _changes(resolved: Resolved, method: Any, kind: Kind) -> bool:
    kinds = (kind, *(UNKNOWN,) * (method.__code__.co_argcount - 1))
    return bool(resolved.mutated_params(Site("inside", method, kinds=kinds), changed=True))


def _instances(kind: Kind) -> Iterator[Instance]:
    """The kinds of objects that a value is or holds."""
    if isinstance(kind, Instance):
        yield kind
    elif isinstance(kind, Tuple):
        for item in kind.items:
            yield from _instances(item)
    elif isinstance(kind, Sequence) and kind.item is not None:
        yield from _instances(kind.item)
    elif isinstance(kind, Mapping) and (value := value_of(kind)) is not None:
        yield from _instances(value)


def _classes(kind: Kind) -> list[type] | None:
    """The classes of these objects; None if a container may hold any."""
    values = (
        kind.items if isinstance(kind, Tuple) else (item_of(kind),) if isinstance(kind, (Sequence, Mapping)) else ()
    )
    return None if UNKNOWN in values else [found.cls for found in _instances(kind)]


def _asked(resolved: Resolved, s: Any) -> Iterator[tuple[n.Expr, tuple[str, ...]]]:
    """Operands of ``s``, each with the methods that it may run unseen of what they are or hold."""
    t = type(s)
    if t in (n.If, n.Assert, n.While):
        yield s.test, _TESTS
    elif t is n.Unpack and type(s.value) is n.Name and s.site != TAKEN:
        if not isinstance(resolved.kind(s.value), (Tuple, Sequence)):
            yield s.value, _ITEMS
    elif t in (n.Assign, n.Effect):
        site = resolved.sites.get(id(s))
        e = s.value
        if site is not None and site.how in ("inside", "lifted", "construct", "dynamic"):
            return
        if type(e) is n.Unary and e.op == "not":
            yield e.operand, _TESTS
        elif type(e) is n.Compare and e.op not in ("is", "is not"):
            yield from ((x, (*_COMPARISONS, "__contains__", "__hash__")) for x in (e.left, e.right))
        elif type(e) is n.Index:
            parts = e.index.items if type(e.index) is n.TupleExpr else (e.index,)
            yield from ((x, ("__index__", "__hash__", "__eq__")) for x in parts)
        elif type(e) is n.Binary and e.op == "%":
            yield e.right, _TEXTS
        elif type(e) is n.Call and _name(e.func) not in _HARMLESS:
            values = (*e.args, *(v for _, v in e.kwargs), *((e.func.value,) if type(e.func) is n.Attr else ()))
            of_items = _OF_ITEMS.get(_name(e.func), _UNSEEN) if s.site == TAKEN else _UNSEEN
            for v in (v.value if type(v) is n.Star else v for v in values):
                held = isinstance(resolved.kind(v), (Tuple, Sequence, Mapping))
                yield v, of_items if held else _UNSEEN


def _name(func: n.Expr) -> str:
    return func.name if type(func) in (n.Attr, n.Ref) else func.id if type(func) is n.Global else ""  # type: ignore[union-attr]
