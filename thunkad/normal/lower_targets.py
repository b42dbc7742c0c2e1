"""What stands on the left of ``=``: names, elements, attributes, and tuples of these."""

from __future__ import annotations

from typing import Any

from thunkad.ir import nodes as n
from thunkad.normal.lower_builder import Builder
from thunkad.normal.lower_expressions import held_index
from thunkad.runtime.unpacking import split_starred

SPLIT_STARRED = n.Ref("split_starred", split_starred)


def bind(b: Builder, target: Any, value: n.Expr) -> None:
    """Assign ``value``, one operation, to a target of any form."""
    kind = type(target).__name__
    if kind == "Name":
        b.write(target.id, value, target)
        return
    atom = value if isinstance(value, n.ATOMS) else b.temp(value)
    if kind in ("Tuple", "List"):
        _unpack(b, target.elts, atom)
    elif kind == "Starred":
        bind(b, target.value, atom)
    else:
        held = b.hold(atom)
        place, (settled,) = location(b, target, [held])
        b.emit(n.Store(place, settled))


def location(b: Builder, target: Any, before: list[Any] | None = None) -> tuple[n.Index | n.Attr, list[n.Expr]]:
    """The place that a subscript or an attribute denotes, over atoms; ``before`` are operands evaluated earlier."""
    before = before or []
    shared = b.shared_attribute(target)
    if shared is not None:
        return shared, b.settle(before)
    base = b.hold(b.atom(target.value))
    if type(target).__name__ == "Attribute":
        if target.attr == "__class__":  # methods and fields are resolved for the class that it had
            b.unsupported(target, "an object that is given another class can't be differentiated", "Make a new object.")
        if target.attr == "__dict__":
            b.unsupported(
                target,
                "an object that is given another dictionary can't be differentiated",
                "Write x.__dict__.update(...).",
            )
        *rest, value = b.settle([*before, base])
        return n.Attr(value, target.attr), rest
    index, rebuild = held_index(b, target.slice)
    settled = b.settle([*before, base, *index])
    rest, value, parts = settled[: len(before)], settled[len(before)], settled[len(before) + 1 :]
    return n.Index(value, rebuild(parts)), rest


def simple(b: Builder, target: Any) -> str | None:
    """The local that a target names; None if the target is of another form."""
    return b.local(target.id, target) if type(target).__name__ == "Name" else None


def _unpack(b: Builder, targets: list[Any], value: n.Expr) -> None:
    stars = [k for k, t in enumerate(targets) if type(t).__name__ == "Starred"]
    if stars:
        before, after = stars[0], len(targets) - stars[0] - 1
        value = b.temp(n.Call(SPLIT_STARRED, (value, n.Const(before), n.Const(after))))
    spellings: list[str] = []
    late: list[tuple[Any, str]] = []  # assigned one by one after the unpacking, in order
    names = [simple(b, t.value if type(t).__name__ == "Starred" else t) for t in targets]
    for k, (target, name) in enumerate(zip(targets, names)):
        if late or name is None or name in names[k + 1 :]:
            spellings.append(b.temporary())
            late.append((target, spellings[-1]))
        else:
            spellings.append(name)
    b.emit(n.Unpack(tuple(spellings), value))
    for target, spelling in late:
        bind(b, target, n.Name(spelling))


def bind_display(b: Builder, targets: list[Any], values: list[Any]) -> None:
    """``a, b = b, a + b``: no tuple is made."""
    atoms = b.operands(*values)
    bound = {name for t in targets if (name := simple(b, t)) is not None}
    copied = [b.temp(a) if type(a) is n.Name and a.id in bound else a for a in atoms]
    for target, atom in zip(targets, copied):
        bind(b, target, atom)


def names_bound(target: Any) -> set[str]:
    """Names that a target binds."""
    kind = type(target).__name__
    if kind == "Name":
        return {target.id}
    if kind == "Starred":
        return names_bound(target.value)
    if kind in ("Tuple", "List"):
        return {name for t in target.elts for name in names_bound(t)}
    return set()
