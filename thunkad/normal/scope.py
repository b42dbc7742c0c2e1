"""Scopes, places and uses of names: the records that the scope analysis works on."""

from __future__ import annotations

from typing import Any

from thunkad.records import field, record

FUNCTIONS = ("FunctionDef", "AsyncFunctionDef", "Lambda")
#: Functions that take all of an iterator at once, so that a list serves as well.
CONSUMERS = (
    "sum", "any", "all", "max", "min", "list", "tuple", "sorted", "set", "frozenset", "dict", "prod", "fsum", "join",
    "fromiter", "deque", "Counter", "extend", "update",
)  # fmt: skip
COMPREHENSIONS = ("ListComp", "SetComp", "DictComp", "GeneratorExp")


@record(frozen=True)
class Point:
    """A place in the program: its position in reading order, the blocks and the loops of its function around it."""

    position: int
    blocks: tuple[int, ...]
    loops: tuple[int, ...]

    def dominates(self, other: Point) -> bool:
        """Whether ``other`` can only be reached through this place."""
        return self.position < other.position and other.blocks[: len(self.blocks)] == self.blocks


@record(frozen=True)
class Use:
    """A name read, bound or deleted.  ``call``: the call whose callee the name is."""

    name: str
    scope: Scope
    at: Point
    call: Any = None
    delete: bool = False


@record(eq=False)
class Scope:
    """A function, lambda or comprehension."""

    node: Any
    parent: Scope | None
    created: Point
    params: list[str] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    generator: bool = False
    awaits: bool = False
    inline: bool = False
    functions: dict[str, Scope] = field(default_factory=dict)  # nested functions that are inlined, by their names
    cells: set[str] = field(default_factory=set)
    outside: Scope | None = None  # what holds the global variables that the function assigns

    @property
    def is_comprehension(self) -> bool:
        return type(self.node).__name__ in COMPREHENSIONS

    def owner(self, name: str) -> Scope | None:
        """The scope whose variable ``name`` is here; None for a name from outside the whole function."""
        if name in self.globals:
            return self.outer(name)
        if name in self.bound and name not in self.nonlocals:
            return self
        return self.outer(name) if self.parent is None else self.parent.owner(name)

    def outer(self, name: str) -> Scope | None:
        """The scope of global variables if the function assigns ``name`` there; else None."""
        return self.outside if self.outside is not None and name in self.outside.bound else None

    def inside(self, other: Scope) -> bool:
        """Whether this is ``other`` or lies within it."""
        scope: Scope | None = self
        while scope is not None:
            if scope is other:
                return True
            scope = scope.parent
        return False


def bind_call(args: Any, call: Any) -> dict[str, Any] | None:
    """Match a call's arguments to parameters without running it.

    Parameters
    ----------
    args : gast.arguments
    call : gast.Call

    Returns
    -------
    dict or None
        Parameter name to the index of an operand of the call (positional arguments first, then keywords), a list of
        indices (``*args``), a dict of these (``**kwargs``), or None for "its default"; None if it can't be matched.
    """
    if any(type(a).__name__ == "Starred" for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    positional = [p.id for p in (*args.posonlyargs, *args.args)]
    by_keyword = {p.id for p in (*args.args, *args.kwonlyargs)}
    out: dict[str, Any] = dict(zip(positional, range(len(call.args))))
    extra = list(range(len(positional), len(call.args)))
    if args.vararg is not None:
        out[args.vararg.id] = extra
    elif extra:
        return None
    rest: dict[str, int] = {}
    for index, keyword in enumerate(call.keywords, len(call.args)):
        if keyword.arg in by_keyword:
            if keyword.arg in out:
                return None
            out[keyword.arg] = index
        elif args.kwarg is not None and keyword.arg not in rest:
            rest[keyword.arg] = index
        else:
            return None
    if args.kwarg is not None:
        out[args.kwarg.id] = rest
    without_default = positional[: len(positional) - len(args.defaults)]
    required = [*without_default, *(p.id for p, d in zip(args.kwonlyargs, args.kw_defaults) if d is None)]
    if any(name not in out for name in required):
        return None
    for name in [*positional, *(p.id for p in args.kwonlyargs)]:
        out.setdefault(name, None)
    return out


def takes_all(call: Any) -> bool:
    """Whether a call takes all of its first argument at once."""
    if not call.args:
        return False
    func = call.func
    name = func.attr if type(func).__name__ == "Attribute" else getattr(func, "id", None)
    rest = [*call.args[1:], *(k.value for k in call.keywords)]
    if type(call.args[0]).__name__ == "GeneratorExp":
        return name in CONSUMERS
    harmless = ("Constant", "Name", "Lambda", "Attribute")  # evaluated before the elements by Python, after them here
    return name in CONSUMERS and all(type(a).__name__ in harmless for a in rest)
