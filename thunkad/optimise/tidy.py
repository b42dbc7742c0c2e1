"""The last touch before printing: statements that say nothing, and branches that only have an ``else``."""

from __future__ import annotations

from thunkad.ir import nodes as n


def tidy(block: list[n.Stmt]) -> list[n.Stmt]:
    """``block`` as a person would have written it."""
    out: list[n.Stmt] = []
    for s in block:
        if type(s) is n.Effect and type(s.value) in (n.Name, n.Const, n.Ref):
            continue
        if type(s) is n.If:
            body, orelse = tidy(s.body), tidy(s.orelse)
            if not body and not orelse:
                continue
            test = s.test
            if not body:
                test, body, orelse = _negated(test), orelse, []
            out.append(n.If(test, body, orelse, line=s.line, site=s.site))
            continue
        if type(s) in (n.For, n.While, n.With):
            s.body = tidy(s.body)  # type: ignore[attr-defined]
        elif type(s) is n.Try:
            s.handler, s.orelse = tidy(s.handler), tidy(s.orelse)
        elif type(s) is n.Define:
            s.function.body = tidy(s.function.body)
        out.append(s)
    return out


def _negated(e: n.Expr) -> n.Expr:
    return e.operand if type(e) is n.Unary and e.op == "not" else n.Unary("not", e)
