"""f-strings: ``'…{}…'.format(…)``."""

from __future__ import annotations

from typing import Any

from thunkad.ir import nodes as n
from thunkad.normal.lower_builder import Builder, Held, lowers


@lowers("JoinedStr")
def _joined(b: Builder, node: Any) -> n.Expr:
    held: list[Held] = []
    text = "".join(_part(b, part, held) for part in node.values)
    if not held:
        return n.Const(text.format())
    return n.Call(n.Attr(n.Const(text), "format"), tuple(b.settle(held)))


@lowers("FormattedValue")
def _formatted(b: Builder, node: Any) -> n.Expr:
    held: list[Held] = []
    text = _part(b, node, held)
    return n.Call(n.Attr(n.Const(text), "format"), tuple(b.settle(held)))


def _part(b: Builder, node: Any, held: list[Held]) -> str:
    """The text of one part in a format string; its operands are added to ``held``, in the order of their fields."""
    if type(node).__name__ == "Constant":
        return str(node.value).replace("{", "{{").replace("}", "}}")
    if type(node).__name__ != "FormattedValue":
        held.append(b.hold(b.atom(node)))
        return "{}"
    held.append(b.hold(b.atom(node.value)))
    conversion = "" if node.conversion in (-1, None) else f"!{chr(node.conversion)}"
    spec = "" if node.format_spec is None else f":{_spec(b, node.format_spec, held)}"
    return f"{{{conversion}{spec}}}"


def _spec(b: Builder, node: Any, held: list[Held]) -> str:
    """A format specification; one that braces can't express in place is a string computed before."""
    parts = node.values if type(node).__name__ == "JoinedStr" else [node]
    plain = all(
        (type(p).__name__ == "FormattedValue" and p.format_spec is None)
        or (type(p).__name__ == "Constant" and not {"{", "}"} & set(str(p.value)))
        for p in parts
    )
    if not plain:
        held.append(b.hold(b.atom(node)))
        return "{}"
    return "".join(_part(b, p, held) for p in parts)
