"""What resolution finds: for each operation and call a :class:`Site`, for a function a :class:`Resolved`."""

from __future__ import annotations

import random
import types
from typing import Any, Protocol

import numpy as np

from thunkad.errors import Place
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Known, Mapping, Sequence, Tuple
from thunkad.kinds.observe import kind_of
from thunkad.records import field, record
from thunkad.rules.entry import Entry
from thunkad.rules.resolve import Decision
from thunkad.source.names import lookup


class Context(Protocol):
    """What resolution asks of the world that it happens in."""

    writes_late: bool
    suspends: bool  # whether generators are kept
    own_operators: bool  # whether functions share variables, and classes have operators of their own
    computed: frozenset[str]  # names of attributes that are code in some class
    members: frozenset[str] | None  # names of all that the classes have that are known, None if there may be others
    set_names: frozenset[str]  # names of the attributes that the program sets
    stale: frozenset[Any]  # functions of properties that remember what may have changed
    busy: frozenset[str]  # names of the functions and methods that may change what they are given

    def lookup(self, fn: Any, kinds: list[Kind], named: dict[str, Kind] | None = None) -> Decision: ...
    def begin_pass(self) -> None: ...
    def imports(self, name: str | None) -> None: ...
    def class_member(self, cls: type, name: str, after: type | None = None) -> None: ...
    def chosen(self, fn: Any, classes: tuple[type, ...], found: Any) -> None: ...
    def left_to_defaults(self, fn: Any) -> None: ...
    def result_kind(self, fn: Any, kinds: tuple[Kind, ...]) -> Kind: ...
    def lifted_result_kind(self, closure: n.Closure, kinds: tuple[Kind, ...], owner: Any) -> Kind: ...
    def global_value(self, fn: Any, name: str) -> Any: ...
    def pin(self, fn: Any, name: str, value: Any) -> None: ...
    def attribute_value(self, fn: Any, path: str, owner: Any, name: str) -> Any: ...
    def array_member(self, name: str) -> Any: ...
    def site_mutates(self, owner: Any) -> Any: ...
    def array_attribute(self, name: str) -> Any: ...
    def compiled_result_kind(self, compiled: Any, kinds: tuple[Kind, ...]) -> Kind: ...
    def nested(self, fn: Any, args: Any, kwargs: Any) -> Site | None: ...
    def run_again(self, function: n.Function, owner: Any) -> Any: ...
    def bounded(self, fn: Any, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]: ...
    def given_up(self, fn: Any) -> tuple[str, str] | None: ...
    def only_yields(self, site: Any) -> bool: ...
    def raises(self, site: Any, owner: Any) -> bool: ...
    def form_of(self, fn: Any) -> n.Function: ...
    def variable_kinds(self) -> tuple[Kind, ...]: ...
    def refuse_use(self, target: Any, owner: Any, kinds: tuple[Kind, ...]) -> None: ...
    def variable_place(self, module: types.ModuleType, name: str) -> tuple[int, str] | None: ...
    def variable_params(self, fn: Any) -> tuple[str, ...]: ...
    def numeric_meaning(self, fn: Any, kinds: tuple[Kind, ...]) -> Any: ...


@record
class Site:
    """What one operation or call stands for.

    ``how``: 'rule' (``entry``), 'constant' (no derivative flows), 'inside' (a Python function to look into,
    ``callee``), 'lifted' (a function made here), 'dynamic' (decided at run time), 'missing' (nothing is known to
    differentiate it), 'inplace' (an operator that may change its left operand).  ``args`` and ``kwargs`` are the
    operands, a method's owner first.
    """

    how: str
    callee: Any = None
    entry: Entry | None = None
    args: tuple[n.Expr, ...] = ()
    kwargs: tuple[tuple[str | None, n.Expr], ...] = ()
    kinds: tuple[Kind, ...] = ()
    result: Kind = UNKNOWN
    infix: bool = False
    why: tuple[str, str] | None = None  # 'missing': message and hint, where more is known than that there is no rule
    bound: tuple[tuple[str, n.Expr], ...] = ()  # 'inside' and 'lifted': parameter → operand
    only_reads: bool = False  # 'dynamic': the callee is known not to change what it is given


@record
class Resolved:
    """A function in normal form with what is known of it."""

    function: n.Function
    owner: Any  # the Python function whose globals and cells the code reads
    kinds: dict[str, Kind] = field(default_factory=dict)
    sites: dict[int, Site] = field(default_factory=dict)
    result: Kind = UNKNOWN
    hollow: set[str] = field(default_factory=set)  # names that may hold no value yet
    cache: dict[str, Any] = field(default_factory=dict)  # facts that later analyses found
    captured: Any = None  # where captured parameters are found, see thunkad.analysis.sources
    reads_captured: Any = None  # for a site of a user's function: whether it reads some
    mutated_params: Any = None  # for a site of a user's function: the parameters that it writes into
    writes_late: bool = False  # whether a callee that is found at run time may change what it is given
    members: frozenset[str] | None = None  # names of all that the classes have, None if there may be others

    def kind(self, e: n.Expr) -> Kind:
        """The kind of an operand."""
        if type(e) is n.Name:
            return self.kinds.get(e.id, UNKNOWN)
        if type(e) is n.Const:
            return kind_of(e.value)
        if type(e) is n.Ref:
            return kind_of(e.value)
        return UNKNOWN

    def place(self, line: int) -> Place:
        import linecache

        filename = self.function.filename
        return Place(filename, line, linecache.getline(filename, line))


def weaken(kind: Kind) -> Kind:
    """What is still known of a container or object after others may have changed what is in it."""
    if isinstance(kind, Instance):
        return Instance(kind.cls)
    if isinstance(kind, Sequence) and kind.cls is list:
        return Sequence(UNKNOWN)
    if isinstance(kind, Mapping):
        return Mapping(None, UNKNOWN)
    if isinstance(kind, Tuple):
        return Tuple(tuple(map(weaken, kind.items)), kind.cls)
    return kind


def weaken_entries(kind: Kind) -> Kind:
    """What is still known of a container after others may have changed the objects in it, but not the container."""
    if isinstance(kind, Sequence) and kind.item is not None:
        return Sequence(weaken(kind.item), kind.cls)
    if isinstance(kind, Mapping):
        entries = kind.entries and tuple((key, weaken(k)) for key, k in kind.entries)
        return Mapping(entries, kind.value and weaken(kind.value))
    return kind


#: Owners whose attributes are read without running code of the user's.
_READABLE = (types.ModuleType, type, np.random.RandomState, np.random.Generator, random.Random)


def called(site: Site, resolved: Resolved) -> Any:
    """The callee of a call; what a dotted path of names from outside stands for at this moment."""
    path: list[str] = []
    e = site.callee
    while type(e) is n.Attr:
        path.append(e.name)
        e = e.value
    found: Any = None
    if type(e) is n.Global and resolved.owner is not None:
        try:
            found = lookup(resolved.owner, e.id)
        except KeyError:
            return site.callee
    elif isinstance(e, (n.Name, n.Ref)):
        kind = resolved.kind(e)
        found = kind.value if isinstance(kind, Known) else None
    for name in reversed(path):
        found = getattr(found, name, None) if isinstance(found, _READABLE) else None
    return site.callee if found is None else found


def path_of(e: n.Expr) -> str:
    """``np.linalg.norm`` as text."""
    if type(e) is n.Attr:
        return f"{path_of(e.value)}.{e.name}"
    return e.id if type(e) in (n.Name, n.Global) else e.name if type(e) is n.Ref else "…"
