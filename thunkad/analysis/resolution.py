"""Kinds and rules resolved: what every name may hold, and what every operation and call stands for.

One abstract run over normal form, repeated until the kinds at loop heads and joins settle.  The result is a table of kinds
by name and of :class:`Site` by statement; the function itself is not changed.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from thunkad.errors import Place
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds import results
from thunkad.kinds.lattice import (
    NUMERIC,
    PY_BOOL,
    PY_INT,
    UNKNOWN,
    Instance,
    Kind,
    Known,
    Lifted,
    Mapping,
    Method,
    Num,
    Opaque,
    Sequence,
    Tuple,
    item_of,
    join,
)
from thunkad.kinds.observe import kind_of
from thunkad.rules.entry import Entry
from thunkad.rules.python.operators import numeric_function
from thunkad.rules.keywords import renamed
from thunkad.rules.refused import reason_for
from thunkad.rules.resolve import Decision
from thunkad.runtime.unbound import Unbound


class Context(Protocol):
    """What resolution asks of the world that it happens in."""

    def lookup(self, fn: Any, kinds: list[Kind]) -> Decision: ...
    def result_kind(self, fn: Any, kinds: tuple[Kind, ...]) -> Kind: ...
    def lifted_result_kind(self, closure: n.Closure, kinds: tuple[Kind, ...], owner: Any) -> Kind: ...
    def global_value(self, fn: Any, name: str) -> Any: ...
    def attribute_value(self, fn: Any, path: str, owner: Any, name: str) -> Any: ...
    def array_member(self, name: str) -> Any: ...
    def site_mutates(self, owner: Any) -> Any: ...
    def array_attribute(self, name: str) -> Any: ...
    def compiled_result_kind(self, compiled: Any, kinds: tuple[Kind, ...]) -> Kind: ...
    def nested(self, fn: Any, args: Any, kwargs: Any) -> Site | None: ...
    def numeric_meaning(self, fn: Any, kinds: tuple[Kind, ...]) -> Any: ...


@dataclass
class Site:
    """What one operation or call stands for.

    ``how``: 'rule' (``entry``), 'constant' (no derivative flows), 'inside' (a Python function to look into, ``callee``),
    'lifted' (a function made here), 'dynamic' (decided at run time), 'missing' (nothing is known to differentiate it),
    'inplace' (an operator that may change its left operand).  ``args`` and ``kwargs`` are the operands, a method's owner first.
    """

    how: str
    callee: Any = None
    entry: Entry | None = None
    args: tuple[n.Expr, ...] = ()
    kwargs: tuple[tuple[str | None, n.Expr], ...] = ()
    kinds: tuple[Kind, ...] = ()
    result: Kind = UNKNOWN
    infix: bool = False
    bound: tuple[tuple[str, n.Expr], ...] = ()  # 'inside' and 'lifted': parameter → operand


@dataclass
class Resolved:
    """A function in normal form with what is known of it."""

    function: n.Function
    owner: Any  # the Python function whose globals and cells the code reads
    kinds: dict[str, Kind] = field(default_factory=dict)
    sites: dict[int, Site] = field(default_factory=dict)
    result: Kind = UNKNOWN
    hollow: set[str] = field(default_factory=set)  # names that may hold no value yet
    cache: dict[str, Any] = field(default_factory=dict)  # facts that later analyses found
    mutated_params: Any = None  # for a site of a user's function: the parameters that it writes into

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


def resolve(function: n.Function, owner: Any, params: dict[str, Kind], context: Context) -> Resolved:
    """Run the abstract interpretation of ``function`` for parameters of these kinds."""
    run = _settled(_Run(function, owner, params, context))
    unsure = run.changed_elsewhere()
    if unsure:
        weakened = {p: weaken(k) if p in unsure else k for p, k in params.items()}
        again = _Run(function, owner, weakened, context)
        again.unsure = unsure
        run = _settled(again)
    kinds = {k: v for k, v in run.kinds.items() if v is not None}
    return Resolved(function, owner, kinds, run.sites, run.result or Known(None), run.hollow)


def _settled(run: _Run) -> _Run:
    for attempt in range(12):
        run.changed = False
        run.block(run.function.body)
        if not run.changed:
            break
        run.widen = attempt >= 8
    return run


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


class _Run:
    def __init__(self, function: n.Function, owner: Any, params: dict[str, Kind], context: Context) -> None:
        self.function, self.owner, self.context = function, owner, context
        self.kinds: dict[str, Kind | None] = dict(params)
        self.sites: dict[int, Site] = {}
        self.result: Kind | None = None
        self.hollow: set[str] = unbound_at_heads(function)
        self.direct: dict[str, n.Closure] = {}
        self.unsure: frozenset[str] = frozenset()  # names whose contents may be changed under another name, or by a callee
        self.changed = False
        self.widen = False

    # ------------------------------------------------------------ statements

    def changed_elsewhere(self) -> frozenset[str]:
        """Names of containers and objects whose contents are changed in a way that :meth:`stored` does not see."""
        from thunkad.analysis.aliases import find_aliases

        kinds = {k: v for k, v in self.kinds.items() if v is not None}
        found = Resolved(self.function, self.owner, kinds, self.sites, hollow=self.hollow)
        found.mutated_params = self.context.site_mutates(self.owner)
        aliases = find_aliases(found)
        if not aliases.mutated:
            return frozenset()
        contained = [x for x, k in kinds.items() if weaken(k) != k]
        by_class: dict[str, set[str]] = {}
        unsure: set[str] = set()
        copied = {s.target for s in walk.statements(self.function.body) if type(s) is n.Assign and type(s.value) is not n.ListExpr
                  and type(s.value) is not n.DictExpr}  # fmt: skip
        for s in walk.statements(self.function.body):
            for name in aliases.written_by.get(id(s), ()):
                cls = aliases.find(name)
                by_class.setdefault(cls, set()).add(name)
                simple = type(s) in (n.Store, n.Append) and type(getattr(s, "target", None)) is not n.Attr
                if weaken(kinds.get(name, UNKNOWN)) != kinds.get(name, UNKNOWN) and (not simple or name in copied):
                    unsure.add(cls)
        unsure |= {cls for cls, names in by_class.items() if len([x for x in names if x in contained]) > 1}
        return frozenset(x for x in contained if aliases.find(x) in unsure)

    def bind(self, name: str, kind: Kind | None) -> None:
        if name in self.unsure and kind is not None:
            kind = weaken(kind)
        old = self.kinds.get(name)
        new = join(old, kind)
        if new != old:
            self.kinds[name] = UNKNOWN if self.widen and old is not None else new
            self.changed = True

    def block(self, block: list[n.Stmt]) -> None:
        for s in block:
            self.statement(s)

    def statement(self, s: n.Stmt) -> None:
        t = type(s)
        if t is n.Assign:
            self.bind(s.target, self.value(s, s.value))
            if type(s.value) is n.Closure:
                self.direct[s.target] = s.value
            elif s.target not in self.hollow and is_hollow(s.value, self.hollow):
                self.hollow.add(s.target)
                self.changed = True
        elif t is n.Unpack:
            kind = self.atom(s.value) if not isinstance(s.value, n.Call) else self.value(s, s.value)
            for k, name in enumerate(s.targets):
                exact = isinstance(kind, Tuple) and len(kind.items) == len(s.targets)
                self.bind(name, kind.items[k] if exact else None if kind is None else item_of(kind))
        elif t is n.If:
            self.block(s.body)
            self.block(s.orelse)
        elif t is n.For:
            kind = self.value(s, s.iter)
            if kind is not None:
                self.bind(s.target, item_of(kind))
            if s.count is not None:
                self.bind(s.count, PY_INT)
            self.block(s.body)
        elif t is n.While:
            self.block(s.test_body)
            self.block(s.body)
        elif t is n.Append:
            self.bind(s.target, Sequence(self.atom(s.value)))
        elif t is n.Effect:
            self.value(s, s.value)
            self.grown(s.value)
        elif t is n.Assert:
            self.block(s.message_body)
        elif t is n.Return:
            self.result = join(self.result, self.atom(s.value))
        elif t is n.Store and type(s.target) is n.Index and type(s.target.value) is n.Name:
            self.stored(s.target.value.id, self.atom(s.value))

    def stored(self, name: str, kind: Kind | None) -> None:
        """After ``name[…] = value``: a container's entries may be of the value's kind, too."""
        old = self.kinds.get(name)
        if isinstance(old, Mapping):
            self.bind(name, Mapping(None, kind))
        elif isinstance(old, Sequence):
            self.bind(name, Sequence(kind, old.cls))

    def grown(self, e: n.Expr) -> None:
        """After ``name.append(value)`` and the like."""
        if type(e) is not n.Call or type(e.func) is not n.Attr or type(e.func.value) is not n.Name or not e.args:
            return
        if e.func.name in ("append", "insert"):
            self.stored(e.func.value.id, self.atom(e.args[-1]))
        elif e.func.name == "extend":
            kind = self.atom(e.args[0])
            self.stored(e.func.value.id, None if kind is None else item_of(kind))

    # ------------------------------------------------------------ operands

    def atom(self, e: n.Expr) -> Kind | None:
        t = type(e)
        if t is n.Name:
            return self.kinds.get(e.id)
        if t is n.Const:
            return Known(e.value) if isinstance(e.value, (str, type(None), type(Ellipsis))) else kind_of(e.value)
        if t is n.Ref:
            return None if e.value is Unbound else kind_of(e.value)
        if t is n.Global:
            try:
                return kind_of(self.context.global_value(self.owner, e.id))
            except KeyError:
                return UNKNOWN
        if t is n.Star:
            return self.atom(e.value)
        if t is n.Slice:
            return Opaque(slice)
        if t in (n.TupleExpr, n.ListExpr, n.SetExpr, n.DictExpr):
            return self.display(e)
        return UNKNOWN

    def known(self, e: n.Expr) -> Kind:
        found = self.atom(e)
        return UNKNOWN if found is None else found

    def display(self, e: n.Expr) -> Kind | None:
        if type(e) is n.TupleExpr:
            if not any(type(x) is n.Star for x in e.items):
                items = [self.atom(x) for x in e.items]
                return None if any(k is None for k in items) else Tuple(tuple(items))  # type: ignore[arg-type]
            return Sequence(self.joined(e.items), tuple)
        if type(e) is n.ListExpr:
            return Sequence(self.joined(e.items))
        if type(e) is n.DictExpr:
            constant = all(type(k) is n.Const for k in e.keys)
            values = [self.atom(v) for v in e.values]
            if constant and not any(v is None for v in values):
                return Mapping(tuple({k.value: v for k, v in zip(e.keys, values)}.items()))  # type: ignore[union-attr,misc]
            return Mapping(None, self.joined(v for k, v in zip(e.keys, e.values) if k is not None))
        return UNKNOWN

    def joined(self, items: Any) -> Kind | None:
        out: Kind | None = None
        for x in items:
            kind = self.atom(x)
            out = join(out, item_of(kind) if type(x) is n.Star and kind is not None else kind)
        return out

    # ------------------------------------------------------------ right-hand sides

    def value(self, s: n.Stmt, e: n.Expr) -> Kind | None:
        """The kind of ``e``, None while an operand is not known to exist; records the site of ``s``."""
        t = type(e)
        if t in (n.Name, n.Const, n.Ref, n.Global, n.TupleExpr, n.ListExpr, n.DictExpr, n.SetExpr, n.Slice):
            return self.atom(e)
        if t is n.Closure:
            return Lifted(e)
        if t in (n.Binary, n.Inplace, n.Compare):
            left, right = self.atom(e.left), self.atom(e.right)
            if left is None or right is None:
                return None if left is None and right is None else UNKNOWN if t is not n.Compare else PY_BOOL
            return self.operator(s, e, left, right)
        if t is n.Unary:
            operand = self.atom(e.operand)
            return None if operand is None else self.unary(s, e, operand)
        if t is n.Index:
            return self.index(s, e)
        if t is n.Attr:
            return self.attribute(s, e)
        if t is n.Call:
            return self.call(s, e)
        return UNKNOWN

    def site(self, s: n.Stmt, site: Site) -> Kind:
        self.sites[id(s)] = site
        return site.result

    def operator(self, s: n.Stmt, e: Any, left: Kind, right: Kind) -> Kind:
        args, kinds = (e.left, e.right), (left, right)
        if type(e) is n.Compare:
            return self.site(s, Site("constant", args=args, kinds=kinds, result=results.compare(e.op, left, right), infix=True))
        result = results.binary(e.op, left, right)
        if type(e) is n.Inplace and not (isinstance(left, Num) and left.is_scalar or isinstance(left, (Tuple, Opaque))):
            return self.site(s, Site("inplace", args=args, kinds=kinds, result=left if isinstance(left, Num) else result, infix=True))
        if isinstance(left, Num) and isinstance(right, Num):
            function: Any = results.UFUNC_OF_OPERATOR[e.op]
        elif left is UNKNOWN or right is UNKNOWN or isinstance(left, Instance) or isinstance(right, Instance):
            function = results.FUNCTION_OF_OPERATOR[e.op]
            return self.site(s, Site("dynamic", function, args=args, kinds=kinds, result=result, infix=True))
        else:
            function = results.FUNCTION_OF_OPERATOR[e.op]
        return self.looked_up(s, function, args, (), kinds, result, infix=True)

    def unary(self, s: n.Stmt, e: n.Unary, operand: Kind) -> Kind:
        args, kinds, result = (e.operand,), (operand,), results.unary(e.op, operand)
        if e.op == "not":
            return self.site(s, Site("constant", args=args, kinds=kinds, result=result, infix=True))
        if isinstance(operand, Num):
            return self.looked_up(s, results.UFUNC_OF_UNARY[e.op], args, (), kinds, result, infix=True)
        return self.site(s, Site("dynamic", results.FUNCTION_OF_UNARY[e.op], args=args, kinds=kinds, result=result, infix=True))

    def index(self, s: n.Stmt, e: n.Index) -> Kind | None:
        container, position = self.atom(e.value), self.atom(e.index)
        if container is None or position is None:
            return None
        if isinstance(container, Instance):
            import operator

            args, kinds = (e.value, e.index), (container, position)
            return self.site(s, Site("dynamic", operator.getitem, args=args, kinds=kinds, infix=True))
        constant = (e.index.value,) if type(e.index) is n.Const else None
        if type(e.index) is n.Name and isinstance(position, Known) and isinstance(position.value, str):
            constant = (position.value,)
        return results.element(container, position, constant)

    def attribute(self, s: n.Stmt, e: n.Attr) -> Kind | None:
        base = self.base(e.value)
        if base is None:
            return None
        if isinstance(base, Num):
            found = results.array_attribute(base, e.name)
            function = self.context.array_attribute(e.name)
            if found is not None and function is not None:
                return self.looked_up(s, function, (e.value,), (), (base,), found, infix=True)
            if found is not None:
                return self.site(s, Site("constant", args=(e.value,), kinds=(base,), result=found, infix=True))
            member = getattr(np.ndarray, e.name, None)
            if reason_for(member) is not None:
                return self.site(s, Site("missing", member, args=(e.value,), kinds=(base,), infix=True))
        return self.member(base, e)

    def base(self, e: n.Expr) -> Kind | None:
        return self.attribute_path(e) if type(e) is n.Attr else self.atom(e)

    def attribute_path(self, e: n.Attr) -> Kind | None:
        base = self.base(e.value)
        return None if base is None else self.member(base, e)

    def member(self, base: Kind, e: n.Attr) -> Kind:
        """The kind of ``value.name`` where ``value`` is of kind ``base``."""
        if isinstance(base, Known):
            try:
                return kind_of(self.context.attribute_value(self.owner, path_of(e), base.value, e.name))
            except AttributeError:
                return UNKNOWN
        if isinstance(base, Instance):
            own = dict(base.fields)
            if e.name in own:
                return own[e.name]
            found = inspect.getattr_static(base.cls, e.name, None)
            if isinstance(found, types.FunctionType) or type(found).__name__ == "cython_function_or_method":
                return Method(found, base)
            if isinstance(found, classmethod):
                return Method(found.__func__, Known(base.cls))
            if isinstance(found, staticmethod):
                return Known(found.__func__)
            if found is not None and not hasattr(found, "__get__"):
                return kind_of(found)
            return UNKNOWN
        if isinstance(base, Tuple) and e.name in getattr(base.cls, "_fields", ()):
            return base.items[base.cls._fields.index(e.name)]  # type: ignore[attr-defined]
        from thunkad.rules.resolve import class_of

        cls = class_of(base)
        if cls is None and isinstance(base, Num):
            cls = np.ndarray
        found = getattr(cls, e.name, None) if cls is not None else None
        return Method(found, base) if callable(found) else UNKNOWN

    # ------------------------------------------------------------ calls

    def call(self, s: n.Stmt, e: n.Call) -> Kind | None:
        values = [self.atom(a) for a in e.args] + [self.atom(v) for _, v in e.kwargs]
        callee = self.base(e.func)
        if callee is None or any(v is None for v in values):
            return None
        kinds = tuple(v for v in values if v is not None)
        return self.apply(s, e, callee, e.args, e.kwargs, kinds)

    def apply(self, s: n.Stmt, e: n.Call, callee: Kind, args: Any, kwargs: Any, kinds: tuple[Kind, ...]) -> Kind:
        if isinstance(callee, Method) and type(e.func) is n.Attr and not isinstance(callee.owner, Known):
            function = callee.function
            if isinstance(callee.owner, Num):
                function = self.context.array_member(e.func.name) or function
            args, kinds = (e.func.value, *args), (callee.owner, *kinds)
            if isinstance(callee.owner, Instance) and type(e.func.value) is n.Attr:
                return self.dynamic(s, e.func, e.args, e.kwargs, kinds[1:])
            return self.looked_up(s, function, args, kwargs, kinds, None)
        if isinstance(callee, Known):
            callee = Known(self.context.numeric_meaning(callee.value, kinds))
            if any(type(a) is n.Star for a in args) or any(k is None for k, _ in kwargs):
                decision = self.context.lookup(callee.value, list(kinds[: len(args)]))
                if decision.how != "constant":
                    return self.dynamic(s, e.func, args, kwargs, kinds, results.call(callee.value, [NUMERIC], {}))
            function = numeric_function(callee.value, kinds)
            if function is None:
                return self.dynamic(s, e.func, args, kwargs, kinds)
            return self.looked_up(s, function, args, kwargs, kinds, None)
        if isinstance(callee, Lifted) and type(e.func) is n.Name and not any(type(a) is n.Star for a in args):
            return self.lifted(s, e, callee, args, kwargs, kinds)
        return self.dynamic(s, e.func, args, kwargs, kinds)

    def dynamic(self, s: n.Stmt, func: n.Expr, args: Any, kwargs: Any, kinds: tuple[Kind, ...], result: Kind = UNKNOWN) -> Kind:
        return self.site(s, Site("dynamic", func, args=tuple(args), kwargs=tuple(kwargs), kinds=kinds, result=result))

    def lifted(self, s: n.Stmt, e: n.Call, callee: Lifted, args: Any, kwargs: Any, kinds: tuple[Kind, ...]) -> Kind:
        closure = callee.closure
        bound = bind_lifted(closure, args, kwargs)
        if bound is None or self.direct.get(e.func.id) is not closure:
            return self.dynamic(s, e.func, args, kwargs, kinds)
        kinds = tuple(self.known(a) for _, a in bound)
        result = self.context.lifted_result_kind(closure, kinds, self.owner)
        site = Site("lifted", closure, args=tuple(args), kwargs=tuple(kwargs), kinds=kinds, result=result, bound=bound)
        return self.site(s, site)

    def looked_up(
        self, s: n.Stmt, fn: Any, args: Any, kwargs: Any, kinds: tuple[Kind, ...], result: Kind | None, infix: bool = False
    ) -> Kind:
        """Ask the table about ``fn``, then look at what it is."""
        args, kwargs = tuple(args), renamed(fn, tuple(kwargs))
        positional = list(kinds[: len(args)])
        decision = self.context.lookup(fn, positional)
        named = {k: v for (k, _), v in zip(kwargs, kinds[len(args) :]) if k is not None}
        if result is None:
            result = results.call(fn, positional, named)
        site = Site(decision.how, fn, decision.entry, args, kwargs, kinds, result, infix)
        if fn is np.sign and decision.how == "rule" and all(isinstance(k, Num) and k.is_real for k in kinds):
            site.how = "constant"  # it has a derivative for complex arguments only
        if decision.how == "undecided":
            site.how = "dynamic"
        elif decision.how in ("inside", "missing", "alternative"):
            body = decision.entry.function if decision.how == "alternative" and decision.entry is not None else fn
            self.look_inside(site, body)
        elif infix and any(isinstance(k, Instance) for k in kinds):
            site.how = "dynamic"
        return self.site(s, site)

    def construct(self, site: Site, cls: type) -> bool:
        """An object of a user's class: made empty, then what ``__init__`` does to it."""
        init = cls.__init__
        plain = cls.__new__ is object.__new__ and type(cls).__call__ is type.__call__
        made = dataclasses.is_dataclass(cls) and getattr(getattr(init, "__code__", None), "co_filename", "") == "<string>"
        if not plain or made:
            return False
        if init is object.__init__:
            site.how, site.result, site.bound = "construct", Instance(cls), ()
            return not site.args and not site.kwargs
        if not isinstance(init, types.FunctionType):
            return False
        bound = bind_call(init, (n.Const(None), *site.args), site.kwargs)
        if bound is None:
            return False
        site.how, site.result, site.bound = "construct", Instance(cls), bound
        site.kinds = (Instance(cls), *(self.known(e) for _, e in bound[1:]))
        return True

    def look_inside(self, site: Site, body: Any) -> None:
        if isinstance(body, type) and not _is_library(body) and self.construct(site, body):
            return
        if reason_for(body) is not None:
            site.how = "missing"
            return
        generated = getattr(body, "function", None)
        if isinstance(generated, n.Function) and not site.kwargs:  # compiled code, when it is differentiated again
            site.how, site.kinds = "lifted", tuple(map(self.known, site.args))
            site.bound = tuple(zip((p.name for p in generated.params), site.args))
            site.result = self.context.compiled_result_kind(body, site.kinds)
            return
        nested = self.context.nested(body, site.args, site.kwargs)
        if nested is not None:  # a derivative inside differentiated code
            site.how = nested.how
            if nested.how == "inside":
                site.callee, site.bound = nested.callee, nested.bound
                site.kinds = tuple(self.known(e) for _, e in nested.bound)
                site.result = self.context.result_kind(nested.callee, site.kinds)
            return
        if not isinstance(body, types.FunctionType):
            python = isinstance(body, type) or isinstance(getattr(type(body), "__call__", None), types.FunctionType)
            site.how = "dynamic" if python or not _is_library(body) else "missing"
            return
        bound = bind_call(body, site.args, site.kwargs)
        if bound is None or inspect.isgeneratorfunction(body) or inspect.iscoroutinefunction(body):
            site.how = "dynamic"
            return
        site.how, site.callee, site.bound = "inside", body, bound
        kinds = tuple(self.known(e) for _, e in bound)
        site.kinds = kinds
        site.result = self.context.result_kind(body, kinds)


def unbound_at_heads(function: n.Function) -> set[str]:
    """Names that a loop carries from one iteration to the next and that nothing binds before it."""
    out: set[str] = set()
    bound = {*function.captures, *(p.name for p in function.params)}

    def scan(block: list[n.Stmt]) -> None:
        for s in block:
            if type(s) in (n.For, n.While):
                carried = {x.target for x in s.body if type(x) is n.Assign and x.site == "carried"}
                out.update(carried - bound)
            for inner in walk.blocks(s):
                scan(inner)
            bound.update(walk.writes(s))

    scan(function.body)
    return out


def is_hollow(e: n.Expr, hollow: set[str]) -> bool:
    """Whether ``e`` may be the mark of an unbound variable."""
    return type(e) is n.Ref and e.value is Unbound or type(e) is n.Name and e.id in hollow


def _is_library(fn: Any) -> bool:
    module = getattr(fn, "__module__", None) or getattr(getattr(fn, "__objclass__", None), "__module__", "") or ""
    return module.split(".")[0] in ("numpy", "scipy", "builtins", "math", "cmath", "_operator", "operator", "itertools")


def path_of(e: n.Expr) -> str:
    """``np.linalg.norm`` as text."""
    if type(e) is n.Attr:
        return f"{path_of(e.value)}.{e.name}"
    return e.id if type(e) in (n.Name, n.Global) else e.name if type(e) is n.Ref else "…"


_SIGNATURES: dict[types.CodeType, inspect.Signature] = {}


def bind_call(fn: types.FunctionType, args: Any, kwargs: Any) -> tuple[tuple[str, n.Expr], ...] | None:
    """Each parameter of ``fn`` with its operand at this call, defaults included; None if that is decided at run time."""
    if any(type(a) is n.Star for a in args) or any(k is None for k, _ in kwargs):
        return None
    signature = inspect.signature(fn, follow_wrapped=False)
    try:
        bound = signature.bind(*args, **dict(kwargs))
    except TypeError:
        return None
    out: list[tuple[str, n.Expr]] = []
    for name, p in signature.parameters.items():
        if name in bound.arguments:
            value = bound.arguments[name]
            if p.kind is p.VAR_POSITIONAL:
                value = n.TupleExpr(tuple(value))
            elif p.kind is p.VAR_KEYWORD:
                value = n.DictExpr(tuple(n.Const(k) for k in value), tuple(value.values()))
        elif p.kind is p.VAR_POSITIONAL:
            value = n.TupleExpr(())
        elif p.kind is p.VAR_KEYWORD:
            value = n.DictExpr((), ())
        else:
            value = as_operand(name, p.default)
        out.append((name, value))
    return tuple(out)


def bind_lifted(closure: n.Closure, args: Any, kwargs: Any) -> tuple[tuple[str, n.Expr], ...] | None:
    """Each parameter of a function made here, captures first, with its operand; None if that is decided at run time."""
    function = closure.function
    if any(type(a) is n.Star for a in args) or any(k is None for k, _ in kwargs):
        return None
    captured = tuple(zip(function.captures, closure.captures))
    own = [p for p in function.params if p.name not in function.captures]
    if any(p.kind not in ("positional", "keyword") for p in own):
        return None
    given = dict(kwargs)
    positional = [p for p in own if p.kind == "positional"]
    if len(args) > len(positional):
        return None
    out: dict[str, n.Expr] = {p.name: a for p, a in zip(positional, args)}
    if set(given) & set(out) or not set(given) <= {p.name for p in own}:
        return None
    out.update(given)
    defaults = dict(zip([p.name for p in positional][len(positional) - len(closure.defaults) :], closure.defaults))
    defaults.update(dict(closure.kw_defaults))
    for p in own:
        if p.name not in out:
            if p.name not in defaults:
                return None
            out[p.name] = defaults[p.name]
    return (*captured, *((p.name, out[p.name]) for p in own))


def as_operand(name: str, value: Any) -> n.Expr:
    """A constant of the source if ``value`` can be written as one, else the object itself."""
    plain = value is None or value is Ellipsis or type(value) in (bool, int, float, complex, str)
    return n.Const(value) if plain else n.Ref(f"{name}_default", value)
