"""Calls of functions that have no rule, of values that have a tangent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thunkad.analysis.sites import Site
from thunkad.errors import NoRuleError
from thunkad.ir import nodes as n
from thunkad.rules.refused import no_rule_message
from thunkad.runtime.dots import check_still

STILL = n.Ref("check_still", check_still)


def without_rule(push: Any, s: n.Stmt, site: Site, operands: Iterable[n.Expr]) -> n.Effect:
    """The check that nothing moves, in code that is differentiated again; in the user's own, an error.

    A constant of reverse mode may share memory with what moves, and then has a tangent, which is zero.
    """
    message, hint = site.why or no_rule_message(site.callee)
    hint = hint.replace("rrule", "frule")
    if not push.resolved.function.generated:
        raise NoRuleError(message, push.resolved.place(s.line), hint)
    dots = n.TupleExpr(tuple(push.dot(a) for a in operands if push.moves(a)))
    return n.Effect(n.Call(STILL, (dots, n.Const(message), n.Const(hint))), line=s.line)
