"""Numbers under which something is put into a dict: what goes through its keys reads them."""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.bars import ZERO_REF, Bars
from thunkad.adjoint.steps import Block, Step, give
from thunkad.analysis.keys import may_be_number, read_key
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Mapping
from thunkad.records import record, replace
from thunkad.runtime.key_dots import noted

NOTED = n.Ref("noted", noted)


@record
class PutTupleStep(Step):
    """Something was put into a dict under ``key``, which is the display."""

    key: str
    display: n.TupleExpr

    def reads(self) -> set[str]:
        return {self.key, *walk.names(self.display)}

    def reverse(self, bars: Bars) -> None:
        taken = bars.names.new("key_bar")
        operands = n.Name(self.key), ZERO_REF
        bars.emit(n.Assign(taken, n.Call(n.Attr(n.Name(bars.shadows), "take"), operands)))
        give(bars, self.display, n.Name(taken), maybe_zero=True)


@record
class PutKeyStep(Step):
    """Something was put into ``target`` under ``key``."""

    target: str
    key: n.Name
    how: str = "take_key"

    def reads(self) -> set[str]:
        return {self.target, self.key.id}

    def reverse(self, bars: Bars) -> None:
        take_key(bars, self.target, self.key, self.how)


def take_keys(bars: Bars, target: str, display: n.Expr) -> None:
    """The same for the keys of a display."""
    for key in dict.fromkeys(getattr(display, "keys", ())):
        if type(key) is n.Name and key.id in bars.active and may_be_number(bars.kind(key.id)):
            take_key(bars, target, key)


def take_key(bars: Bars, target: str, key: n.Expr, how: str = "take_key") -> None:
    """Give ``key`` its cotangent, which is in the shadow of ``target``."""
    taken = bars.names.new("key_bar")
    call = n.Call(n.Attr(n.Name(bars.shadows), how), (n.Name(target), key))
    bars.emit(n.Assign(taken, call))
    give(bars, key, n.Name(taken), maybe_zero=True)


def named_tuple(mutation: Any, s: Any, out: list[n.Stmt], steps: Block) -> Any:
    """``s``, which stores under a tuple of numbers that are differentiated into what may be a dict: the tuple named."""
    key, resolved = getattr(s.target, "index", None), mutation.fw.resolved
    kind = resolved.kind(s.target.value)
    if type(key) is not n.TupleExpr or not (isinstance(kind, Mapping) or kind is UNKNOWN):
        return s
    named = [k for k in key.items if type(k) is n.Name and k.id in mutation.fw.active]
    if not any(resolved.kind(k) is not UNKNOWN and may_be_number(resolved.kind(k)) for k in named):
        return s
    name = mutation.temporary(mutation.kind(key))
    out.append(n.Assign(name, key, line=s.line))
    steps.steps.append(PutTupleStep(s.line, name, key))
    return replace(s, target=n.Index(s.target.value, n.Name(name)))


def key_of_read(forward: Any, s: n.Stmt, steps: Block) -> None:
    """The step of a number by which ``s`` reads from what may be a ``defaultdict``."""
    read = read_key(forward.resolved, s)
    if read is not None and read[1] in forward.active:
        steps.steps.append(PutKeyStep(s.line, read[0], n.Name(read[1]), "take_default_key"))


def noted_key(mutation: Any, s: n.Stmt, target: Any, key: n.Expr, out: list[n.Stmt], steps: Block) -> n.Expr:
    """The same for an update that is known only when the code runs; the key for it, of which a tangent is noted."""
    if not put_key(mutation.fw, s, target, steps):
        return key
    name = mutation.temporary(mutation.kind(key))
    out.append(n.Assign(name, n.Call(NOTED, (key, target.value)), line=s.line))
    return n.Name(name)


def put_key(forward: Any, s: n.Stmt, target: n.Index | n.Attr, steps: Block) -> bool:
    """Add the step of a number that is differentiated and under which ``s`` puts something into a dict."""
    key, resolved = getattr(target, "index", None), forward.resolved
    container = resolved.kind(target.value)
    if type(key) is n.Name and key.id in forward.active and (isinstance(container, Mapping) or container is UNKNOWN):
        if may_be_number(resolved.kind(key)):
            assert type(target.value) is n.Name
            steps.steps.append(PutKeyStep(s.line, target.value.id, key))
            return True
    return False
