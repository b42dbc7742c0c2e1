"""A lazy pullback: reverse statements grouped by which entries of the result need them, one memoised thunk per group.

    def pullback(value_bar):
        value_bar = seed_of(value_bar, value)

        def shared():                      # needed by the entries a and b
            …
            return t1_bar
        shared = Thunk(shared)

        def a_bar():
            t1_bar = shared.force()
            return t1_bar @ b.T
        …
        return LazyTuple((Thunk(a_bar), Thunk(b_bar)))

A loop or branch is one statement here: its label is the union of what it feeds.
"""

from __future__ import annotations

from thunkad.adjoint.bars import SHADOW
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.optimise.copies import _bindings
from thunkad.optimise.dead import free_reads
from thunkad.runtime.cotangents import seed_of
from thunkad.runtime.shadows import Shadows
from thunkad.tangents import LazyTuple, Thunk

THUNK = n.Ref("Thunk", Thunk)
LAZY_TUPLE = n.Ref("LazyTuple", LazyTuple)
SHADOWS = n.Ref("Shadows", Shadows)
SEED_OF = n.Ref("seed_of", seed_of)


def lazy_pullback(
    reverse: list[n.Stmt], outputs: list[n.Expr], wanted: tuple[str, ...], seed: str, result: n.Expr, names: Names
) -> n.Function:
    """The nested function ``pullback(value_bar)``."""
    check = n.Assign(seed, n.Call(SEED_OF, (n.Name(seed), result)))
    body = [check, *_groups(reverse, outputs, wanted, names)]
    return n.Function(names.new("pullback"), [n.Param(seed)], body)


def in_groups(reverse: list[n.Stmt], wanted: tuple[str, ...], names: Names) -> list[n.Stmt]:
    """The body of a callee's reverse half, which returns a tuple of cotangents, as one that returns a lazy tuple."""
    *body, last = reverse
    first = body[:1] if body and type(body[0]) is n.Unpack else []  # what the forward half saved
    outputs = list(last.value.items)  # type: ignore[attr-defined]
    return [*first, *_groups(body[len(first) :], outputs, wanted, names)]


def _groups(reverse: list[n.Stmt], outputs: list[n.Expr], wanted: tuple[str, ...], names: Names) -> list[n.Stmt]:
    reverse, outputs = _separated(reverse, outputs, names)
    labels = _labels(reverse, outputs)
    groups: dict[frozenset[int], list[n.Stmt]] = {}
    for s, label in zip(reverse, labels):
        if label:
            groups.setdefault(label, []).append(s)
    for k in range(len(outputs)):
        groups.setdefault(frozenset((k,)), [])
    home = {name: label for s, label in zip(reverse, labels) for name in _bound(s)}
    body: list[n.Stmt] = []
    thunks: dict[frozenset[int], str] = {}
    exports: dict[frozenset[int], tuple[str, ...]] = {
        label: tuple(x for x in _order(stmts) if _read_elsewhere(x, label, groups, outputs))
        for label, stmts in groups.items()
    }
    for label in sorted(groups, key=lambda g: (-len(g), sorted(g))):
        single = len(label) == 1
        (first, *_) = sorted(label)
        name = names.new(f"{wanted[first]}_entry" if single else "shared")
        last = outputs[first] if single else n.TupleExpr(tuple(map(n.Name, exports[label])))
        inside = [*groups[label], n.Return(last)]
        needs = free_reads(inside)
        sources = dict.fromkeys(home[x] for x in sorted(needs) if x in home and home[x] != label)
        imports: list[n.Stmt] = []
        for source in sources:
            got = tuple(exports[source])
            imports.append(n.Unpack(got, n.Call(n.Attr(n.Name(thunks[source]), "force"))))
        body.append(n.Define(n.Function(name, [], _closed([*imports, *inside], names))))
        thunks[label] = names.new(f"{name}_thunk")
        body.append(n.Assign(thunks[label], n.Call(THUNK, (n.Name(name),))))
    entries = n.TupleExpr(tuple(n.Name(thunks[frozenset((k,))]) for k in range(len(outputs))))
    body.append(n.Return(n.Call(LAZY_TUPLE, (entries,))))
    return body


def _bound(s: n.Stmt) -> set[str]:
    return {w for x in walk.statements([s]) for w in _bindings(x)} | _popped(s)


def _popped(s: n.Stmt) -> set[str]:
    """Lists that ``s`` takes an entry off, anywhere in it."""
    out: set[str] = set()
    for x in walk.statements([s]):
        for e in walk.parts(*walk.expressions(x)):
            if type(e) is n.Call and type(e.func) is n.Attr and e.func.name == "pop" and type(e.func.value) is n.Name:
                out.add(e.func.value.id)
    return out


def _labels(reverse: list[n.Stmt], outputs: list[n.Expr]) -> list[frozenset[int]]:
    """For each statement, the entries that need it."""
    need: dict[str, frozenset[int]] = {}
    for k, output in enumerate(outputs):
        for name in walk.names(output):
            need[name] = need.get(name, frozenset()) | {k}
    labels: list[frozenset[int]] = [frozenset()] * len(reverse)
    ordered = _on_shadows(reverse)
    changed = True
    while changed:
        changed = False
        for k in range(len(reverse) - 1, -1, -1):
            s = reverse[k]
            bound = _bound(s)
            label = (
                frozenset().union(*(need.get(b, frozenset()) for b in bound))
                if bound
                else frozenset(range(len(outputs)))
            )
            label = label or frozenset(range(len(outputs)))  # kept for its effect
            if k in ordered and label:
                label = frozenset(range(len(outputs)))
            if label != labels[k]:
                labels[k], changed = label, True
            for name in free_reads([s]) | bound:
                grown = need.get(name, frozenset()) | label
                if grown != need.get(name):
                    need[name], changed = grown, True
    return labels


def _on_shadows(reverse: list[n.Stmt]) -> set[int]:
    """Statements that read or change the cotangents of memory: their order matters, so they run together."""
    memory: set[str] = set()
    out: set[int] = set()
    for k, s in enumerate(reverse):
        made = type(s) is n.Assign and type(s.value) is n.Call and (s.value.func == SHADOWS or s.site == SHADOW)
        if not made and memory.isdisjoint(walk.read_anywhere([s]) | _bound(s)):
            continue
        out.add(k)
        for x in walk.statements([s]):
            e = x.value if type(x) is n.Assign else None
            if type(e) is n.Call and (
                e.func == SHADOWS or x.site == SHADOW or (type(e.func) is n.Attr and e.func.name == "of")
            ):
                memory.add(x.target)  # type: ignore[union-attr]
    return out


def _separated(reverse: list[n.Stmt], outputs: list[n.Expr], names: Names) -> tuple[list[n.Stmt], list[n.Expr]]:
    """The same code in which no statement rebinds a name that a statement of another group, which may run later, reads.

    Such a statement (a loop that rebinds what the primal carried) and all that follows use a spelling of their own.
    """
    labels = _labels(reverse, outputs)
    readers: dict[str, set[frozenset[int]]] = {}
    spelled: dict[str, str] = {}
    out: list[n.Stmt] = []
    for k, s in enumerate(reverse):
        read = free_reads([s])
        for x in read:
            readers.setdefault(x, set()).add(labels[k])
        bound = {w for inner in walk.statements([s]) for w in walk.writes(inner)}
        local: dict[str, str] = {}
        for x in sorted(bound):
            if not readers.get(x, set()) - {labels[k]}:
                continue
            before, spelled[x] = spelled.get(x, x), names.new(x)
            if x in free_reads(reverse[k + 1 :]) or any(x in walk.names(o) for o in outputs):
                out.append(n.Assign(spelled[x], n.Name(before), line=s.line))
            else:
                local[x] = before
        renamed = walk.rename([s], spelled) if spelled else [s]
        for x, before in local.items():
            _copy_first(renamed, spelled[x], before)
        out += renamed
    mapping: dict[str, n.Expr] = {x: n.Name(new) for x, new in spelled.items()}
    return out, [walk.substitute(o, mapping) for o in outputs]


def _order(statements: list[n.Stmt]) -> list[str]:
    return list(dict.fromkeys(w for s in statements for w in sorted(_bound(s))))


def _read_elsewhere(
    name: str, label: frozenset[int], groups: dict[frozenset[int], list[n.Stmt]], outputs: list[n.Expr]
) -> bool:
    for other, statements in groups.items():
        if other == label:
            continue
        if name in free_reads(statements):
            return True
        if len(other) == 1 and name in set(walk.names(outputs[next(iter(other))])):
            return True
    return False


def _closed(body: list[n.Stmt], names: Names) -> list[n.Stmt]:
    """``body`` such that no name is both read from the enclosing function and bound here: those get a copy first."""
    bound = {w for s in walk.statements(body) for w in _bindings(s)}
    clash = sorted(bound & free_reads(body))
    if not clash:
        return body
    mapping = {x: names.new(x) for x in clash}
    body = walk.rename(body, mapping)
    for x in clash:
        _copy_first(body, mapping[x], x)
    return body


def _copy_first(block: list[n.Stmt], name: str, source: str) -> None:
    """Bind ``name`` to ``source`` where ``block`` first reads it.

    In an arm that is alone to use it, for it may be bound there only.
    """
    users = [k for k, s in enumerate(block) if name in walk.read_anywhere([s]) | walk.assigned([s])]
    if name not in free_reads(block):
        return
    first = block[users[0]]
    if len(users) == 1 and type(first) is n.If and name not in walk.names(first.test):
        _copy_first(first.body, name, source)
        _copy_first(first.orelse, name, source)
    else:
        block.insert(users[0], n.Assign(name, n.Name(source), line=first.line))
