"""Whether a program has functions that write into what they are given and may be called where nobody foresees it.

Generators that are kept are among these: each step changes them.

A call whose callee is only known when the code runs is taken to change nothing, unless the program has a closure that
rebinds or changes what it captures, or a method or function that changes an argument.  What is looked at is all that
the differentiated function can name.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections import Counter
from collections.abc import Iterable
from typing import Any

from thunkad.analysis.changing import writes_given
from thunkad.analysis.remembered import changed_attributes, stale
from thunkad.analysis.stand_ins import MANAGING
from thunkad.compiled.forms import normal_form
from thunkad.compiled.keeping import Keeping
from thunkad.compiled.variables import find_shared
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Known, Mapping, Sequence, Tuple
from thunkad.normal.guarded import MUTATING
from thunkad.normal.lower_builder import CELL
from thunkad.runtime.attributes import is_code
from thunkad.runtime.marks import derivative_of
from thunkad.runtime.memos import remembered
from thunkad.runtime.suspended import Managed, Suspended
from thunkad.source.names import lookup
from thunkad.source.origin import is_foreign

_MOST = 200  # functions and objects that are looked at
#: Methods that the language calls, and that may make values, of objects of which nothing is known.
_CALLED_UNSEEN = """
    __getitem__ __setitem__ __delitem__ __iter__ __float__ __complex__ __round__ __floor__ __ceil__ __trunc__
""".split()
#: Methods that change their owner.
_CHANGING = MUTATING | {"fill", "partition", "put", "resize", "__setitem__", "__iadd__"}
GETATTR = n.Global("getattr")


def look_ahead(world: Any, fn: Any, kinds: Iterable[Kind]) -> bool:
    """Find that out for the first function that is looked at in a world, the one that is differentiated.

    Whether this is the first.
    """
    if world.begun:
        return False
    search = _Search()
    kinds = tuple(kinds)
    world.began_with = fn, kinds
    writes = search.reaches(fn, kinds)
    world.shared, world.own_operators = find_shared(fn, kinds, world.followed or ())
    for v in world.shared:
        world.guards.outside(v.variable)
    world.begun, world.writes_late = True, writes or bool(world.shared)
    world.suspends, world.computed = search.suspends, frozenset(search.computed)
    world.busy, world.members = frozenset(search.busy), None if search.anything else frozenset(search.members)
    world.raises_unseen = not search.unseen.isdisjoint(search.raising)
    world.set_names = frozenset(search.set_names)
    world.stale = search.stale()
    world.keeping = search.keeping
    world.stores = world.stores or search.keeping.stores
    world.keeps = world.keeps or search.keeping.keeps or world.followed is not None
    return True


def look_at_what_is_left(world: Any, fn: Any) -> None:
    """Find out whether ``fn``, a derivative, may leave values in objects that outlive the call."""
    search = _Search()
    search.reaches(fn, ())
    world.stores, world.keeps = search.keeping.stores, search.keeping.keeps


class _Search:
    def __init__(self) -> None:
        self.seen: dict[int, Any] = {}
        self.left: list[Any] = []
        self.iterates = False
        self.suspends = False  # whether there may be an iterator that nobody knows of when it is used
        self.unseen: set[str] = set()  # names of methods that are called unseen, by operators most of all
        self.raising: set[str] = set()  # names of what raises an exception that holds something
        self.called: set[int] = set()  # generator functions that are called by their names
        self.computed: set[str] = set()  # names of attributes that are code, in the classes that are reached
        self.members: set[str] = set()  # names of all that these classes have
        self.set_names: set[str] = set()  # names of the attributes that are set
        self.changed: dict[str, set[str]] = {}  # function → the attributes that it changes
        self.remembering: list[tuple[type, str, Any]] = []  # the properties that remember what they have given
        self.keeping = Keeping()
        self.anything = False  # whether there may be objects of any class
        self.busy: set[str] = set()  # names of functions and methods that change what they are given
        self.calls: dict[str, set[str]] = {}  # what functions and methods of a name call by name

    def reaches(self, fn: Any, kinds: Iterable[Kind]) -> bool:
        """Whether something that ``fn`` can reach, or that is an argument of these kinds, changes what it is given."""
        self.left.append(fn)
        for kind in kinds:
            self.add_kind(kind)
        writes = False
        while self.left and len(self.seen) < _MOST:
            value = self.left.pop()
            if id(value) in self.seen:
                continue
            self.seen[id(value)] = value
            writes = self.one(value, value is not fn) or writes
        if self.left:
            self.anything = self.keeping.anything = True
            self.computed.update(_CALLED_UNSEEN)
            self.busy.update(_CALLED_UNSEEN)
        for names in (self.busy, self.raising):
            while more := {name for name, called in self.calls.items() if called & names} - names:
                names |= more
        return writes or self.iterates or self.suspends

    def add_kind(self, kind: Kind) -> None:
        if isinstance(kind, Known):
            self.left.append(kind.value)
        elif isinstance(kind, Instance):
            self.left.append(kind.cls)
            for _, part in kind.fields:
                self.add_kind(part)
        elif kind is UNKNOWN:
            self.computed.update(_CALLED_UNSEEN)  # it may be of any class
            self.busy.update(_CALLED_UNSEEN)
            self.anything = True
        elif isinstance(kind, Tuple):
            for k in kind.items:
                self.add_kind(k)
        elif isinstance(kind, Sequence) and kind.item is not None:
            self.add_kind(kind.item)
        elif isinstance(kind, Mapping):
            for _, part in kind.entries or ():
                self.add_kind(part)
            if kind.value is not None:
                self.add_kind(kind.value)

    def one(self, value: Any, passed: bool) -> bool:
        """Whether ``value`` is a function that writes; what it leads to is put on the list.

        ``passed``: it may be called where nobody foresees it.
        """
        self.keeping.value(value)
        if isinstance(value, types.FunctionType):
            if value is functools.cache or value is functools.lru_cache:  # it makes a memo
                return self.function(remembered, True)
            spec = derivative_of(value)
            if spec is not None and value is not spec.f:
                self.left.append(spec.f)
            return not is_foreign(value) and self.function(value, passed)
        if isinstance(value, type):
            if not is_foreign(value):
                self.suspends |= "__next__" in vars(value)
                self.members.update(vars(value))
                self.computed.update(name for name, v in vars(value).items() if is_code(v))
                self.computed.update(m for m in _CALLED_UNSEEN if isinstance(vars(value).get(m), types.FunctionType))
                self.unseen.update(filter(_is_unseen, vars(value)))
                remember = ((k, v) for k, v in vars(value).items() if isinstance(v, functools.cached_property))
                self.remembering += [(value, k, v.func) for k, v in remember]
                makers = {id(vars(value).get(name)) for name in ("__init__", "__new__", "__post_init__")}
                self.left += [*value.__bases__, *(v for k, v in vars(value).items() if _is_member(k, v, makers))]
                self.left += [f.default_factory for f in vars(value).get("__dataclass_fields__", {}).values()]
                # What makes an object fills it, and may make others.
                writing = [self.maker(v) for v in vars(value).values() if id(v) in makers]
                return any(writing)
        elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
            self.left.append(value.__func__)
            if isinstance(value, types.MethodType):
                self.keeping.value(value.__self__)
        elif isinstance(value, property):
            self.left += [value.fget, value.fset]
        elif isinstance(value, functools.partial):
            self.left += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, (list, tuple)):
            self.left += value[:_MOST]
        elif isinstance(value, dict):
            self.left += list(value.values())[:_MOST]
        elif not isinstance(value, (int, float, complex, str, bytes, types.ModuleType)) and hasattr(value, "__dict__"):
            self.left += [type(value), *vars(value).values()]
        return False

    def maker(self, value: Any) -> bool:
        value = value.__func__ if isinstance(value, staticmethod) else value  # __new__ is one
        return isinstance(value, types.FunctionType) and self.function(value, False, makes=True)

    def function(self, fn: Any, passed: bool, makes: bool = False) -> bool:
        self.keeping.defaults(fn)
        if fn.__code__ is MANAGING:
            return False  # it is not looked into
        try:
            form = normal_form(fn)
        except Exception:
            return False  # what is wrong with it is said where it is called
        self.keeping.function(form, fn, makes)
        self.suspends |= inspect.isgeneratorfunction(fn) and id(fn) not in self.called
        writes, closes = writes_given(form), self.body(form, fn)
        if writes or closes or inspect.isgeneratorfunction(fn):
            self.busy.add(fn.__name__)
        if not makes:
            self.changed.setdefault(fn.__name__, set()).update(changed_attributes(form))
        if _raises_something(form):
            self.raising.add(fn.__name__)
        self.calls.setdefault(fn.__name__, set()).update(_called(form))
        return (passed and writes) or closes

    def stale(self) -> frozenset[Any]:
        """The functions of properties that remember what may be changed, once their object is made."""
        if not self.remembering:
            return frozenset()
        makers = ("__init__", "__new__", "__post_init__")
        others = set().union(*(called for name, called in self.calls.items() if name not in makers))
        making = set().union(*(self.calls.get(name, set()) for name in makers)) - others
        changed = set().union(*(names for name, names in self.changed.items() if name not in making))
        return stale(self.remembering, changed, normal_form)

    def body(self, function: n.Function, owner: Any) -> bool:
        """Whether a closure made in ``function`` writes; what its statements name is put on the list.

        What a closure reads of a variable that is rebound is what that holds at the time of the call, too.
        """
        writes = rebinds_captured(function.body) or hands_on_changes(function)
        for s in walk.statements(function.body):
            self.calling(s, owner)
            if type(s) in (n.Store, n.Update) and type(s.target) is n.Attr:  # type: ignore[attr-defined]
                self.set_names.add(s.target.name)  # type: ignore[attr-defined]
            for e in walk.parts(*walk.expressions(s)):
                made = generator_made(e.function) if type(e) is n.Closure else None
                managed = made is not None and issubclass(made, Managed)
                writes |= managed  # it changes as it is used, but nothing goes through it
                self.suspends |= made is not None and not managed
                if type(e) is n.Closure:
                    writes |= self.body(e.function, owner) or writes_given(e.function)
                self.named(e, owner)
        return writes

    def calling(self, s: Any, owner: Any) -> None:
        """Note the generator function that ``s`` calls by its name."""
        if type(s) is n.Assign and type(s.value) is n.Call and type(s.value.func) is n.Global:
            with contextlib.suppress(KeyError):
                value = lookup(owner, s.value.func.id)
                if inspect.isgeneratorfunction(value):
                    self.called.add(id(value))

    def named(self, e: n.Expr, owner: Any) -> None:
        """Note what ``e`` names."""
        name = e if type(e) is n.Global else e.value if type(e) is n.Attr else None
        if type(name) is not n.Global:
            return
        try:
            value = lookup(owner, name.id)
        except KeyError:
            return
        if value is iter or value is next:  # an iterator changes as it is used
            self.iterates = True
        elif isinstance(value, types.ModuleType):
            if type(e) is n.Attr and (value is functools or not is_foreign(value)):
                self.left.append(getattr(value, e.name, None))
        elif not isinstance(value, types.BuiltinFunctionType):
            self.left.append(value)


def _is_member(name: str, value: Any, makers: set[int]) -> bool:
    """Whether a program can reach what a class holds under this name without making an object."""
    return id(value) not in makers and not (name.startswith("__") and isinstance(value, dict))


def rebinds_captured(body: list[n.Stmt]) -> bool:
    """Whether a variable that a closure captures is bound more than once, unlike a function that calls itself."""
    made = [
        s for s in walk.statements(body) if type(s) is n.Assign and type(s.value) is n.Call and s.value.func == CELL
    ]
    if not made:
        return False
    counts = Counter(s.target for s in made if s.value.args)  # type: ignore[union-attr]
    cells = {s.target for s in made}

    def count(block: list[n.Stmt], times: int) -> None:
        for s in block:
            target = s.target if type(s) in (n.Store, n.Update, n.Delete) else None  # type: ignore[attr-defined]
            if type(target) is n.Attr and type(target.value) is n.Name and target.value.id in cells:
                counts[target.value.id] += times
            for inner in walk.blocks(s):
                count(inner, 2 if type(s) in (n.For, n.While) else times)

    count(body, 1)
    return any(count > 1 for count in counts.values())


def hands_on_changes(function: n.Function) -> bool:
    """Whether a method that changes its owner (``a.sort``) is a value, to be called where nobody sees what it is."""
    statements = list(walk.statements(function.body))
    parts = [e for s in statements for e in walk.parts(*walk.expressions(s))]
    called = {id(e.func) for e in parts if type(e) is n.Call}
    named = {id(s.value): s.target for s in statements if type(s) is n.Assign}
    methods = (e for e in parts if type(e) is n.Attr and e.name in _CHANGING and type(e.value) is n.Name)
    names = {named.get(id(e)) for e in methods if id(e) not in called}
    if None in names or any(type(e) is n.Name and e.id in names and id(e) not in called for e in parts):
        return True
    computed = {named.get(id(e)) for e in parts if type(e) is n.Call and e.func == GETATTR and _is_computed(e.args)}
    effects = (s.value.func for s in statements if type(s) is n.Effect and type(s.value) is n.Call)
    return any(type(f) is n.Name and f.id in computed for f in effects)


def _is_computed(args: tuple[n.Expr, ...]) -> bool:
    return len(args) == 2 and type(args[1]) is not n.Const


def generator_made(function: n.Function) -> Any:
    """The class of the generators that a function made inside another one returns, see :mod:`thunkad.normal.suspended`.

    None if it is no generator function.
    """
    for s in function.body:
        if type(s) is n.Assign and type(s.value) is n.Call and type(s.value.func) is n.Ref:
            made = s.value.func.value
            if isinstance(made, type) and issubclass(made, Suspended):
                return made
    return None


def _is_unseen(name: str) -> bool:
    """Whether a method of this name runs unseen, or is named like one of a list."""
    return name in MUTATING or (name.startswith("__") and name not in ("__init__", "__new__", "__call__"))


def _raises_something(form: n.Function) -> bool:
    """Whether a function raises an exception that holds something."""
    statements = list(walk.statements(form.body))
    plain = {s.target for s in statements if type(s) is n.Assign and _holds_nothing(s.value)}
    return any(type(s) is n.Raise and type(s.exc) is n.Name and s.exc.id not in plain for s in statements)


def _holds_nothing(e: n.Expr) -> bool:
    return type(e) is n.Call and all(type(a) is n.Const for a in (*e.args, *(v for _, v in e.kwargs)))


def _called(function: n.Function) -> set[str]:
    """The names of what ``function`` calls."""
    calls = (e.func for s in walk.statements(function.body) for e in walk.expressions(s) if type(e) is n.Call)
    return {f.name if type(f) is n.Attr else f.id for f in calls if type(f) in (n.Attr, n.Global)}  # type: ignore[union-attr]
