"""Normal form, resolved → a function that computes values together with tangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.analysis.sites import Resolved
from thunkad.forward.calls import EFFECT, TANGENT, Pushed
from thunkad.forward.memory import Memory, memory_of
from thunkad.forward.push import Push
from thunkad.forward.template import ZERO_REF
from thunkad.forward.varied import moving_names
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Num
from thunkad.optimise.copies import propagate
from thunkad.optimise.dead import Purity, eliminate
from thunkad.optimise.fold import folder
from thunkad.optimise.purity import is_changing_call, make_purity
from thunkad.records import replace


def pushforward(
    name: str,
    resolved: Resolved,
    wanted: tuple[str, ...],
    callees: Pushed,
    user_pure: Callable[[Any], bool],
    public: bool = False,
    own_result: bool = False,
    only_tangent: bool = False,
) -> n.Function:
    """``name(params, dots of wanted) -> (value, value_dot)``.

    Parameters
    ----------
    name : str
    resolved : Resolved
        The function, with forward rules at its sites.
    wanted : tuple of str
        Parameters that carry tangents.
    callees : Pushed
    user_pure : callable
        Whether calling the user's function of a site has no effect.
    public : bool
        Called from outside: tangents of parameters that are changed in place are copied first.
    own_result : bool
        The caller changes the result in place, so its tangent must be laid out like it.
    only_tangent : bool
        Return ``value_dot`` alone; what only the value needs is left out.
    """
    resolved = replace(resolved, kinds=dict(resolved.kinds))
    function = resolved.function
    memory = memory_of(resolved, callees.summary)
    last = function.body[-1]
    assert type(last) is n.Return
    if own_result and returns_own(function):
        memory.change(last.value.id)
    moving = moving_names(resolved, wanted, memory, callees.summary)
    push = Push(resolved, moving, memory, Names(walk.taken_names(function)), callees)
    params = parameters(function)
    dots, start = tangents_of_params(push, params, wanted, memory, public)
    body = push.block(function.body[:-1])
    value_dot = result_dot(push, last.value)
    results = value_dot if only_tangent else n.TupleExpr((last.value, value_dot))
    body = [*start, *body, n.Return(results, line=last.line)]
    return n.Function(
        name, [*params, *dots], cleaned(body, user_pure, folds(push)), (), function.line, function.filename
    )


def returns_own(function: n.Function) -> bool:
    """Whether ``function`` returns what a name holds, and not what it has only read from outside: that has no tangent
    which others could find again."""
    e = function.body[-1].value  # type: ignore[attr-defined]
    outside = (n.Global, n.Ref)
    return type(e) is n.Name and not any(
        type(s) is n.Assign and s.target == e.id and type(s.value) in outside for s in walk.statements(function.body)
    )


def tangents_of_params(
    push: Push, params: list[n.Param], wanted: tuple[str, ...], memory: Memory, public: bool
) -> tuple[list[n.Param], list[n.Stmt]]:
    """The parameters that bring tangents, and the statements that make those of the others that move."""
    start: list[n.Stmt] = []
    if push.together is not None:
        start.append(n.Assign(push.together, n.DictExpr((), ()), site=TANGENT))
    dots = [n.Param(push.dot_name(p)) for p in wanted]
    for p in params:
        if p.name in push.moving and memory.is_mutated(p.name) and (public or p.name not in wanted):
            value = n.Name(push.dot_name(p.name)) if p.name in wanted else ZERO_REF
            start.append(n.Assign(push.dot_name(p.name), push.buffer(value, p.name), site=TANGENT))
        elif p.name in push.moving and p.name not in wanted:
            start.append(n.Assign(push.dot_name(p.name), push.zero_of(p.name), site=TANGENT))
    return dots, start


def result_dot(push: Push, e: n.Expr) -> n.Expr:
    if type(e) is n.Name and e.id in push.moving:
        return push.dot(e)
    return push.zero_of(e.id) if type(e) is n.Name else ZERO_REF


def parameters(function: n.Function) -> list[n.Param]:
    """Captures first, then the function's own."""
    own = [p.name for p in function.params]
    return [n.Param(c) for c in function.captures if c not in own] + [n.Param(p) for p in own]


def folds(push: Push) -> Callable[[n.Expr], n.Expr]:
    """What is simpler for what is known of values and tangents; a tangent of a real value may be complex."""
    kinds = dict(push.resolved.kinds)
    for x, dot in push.spelled.items():
        kind = kinds.get(x)
        if isinstance(kind, Num) and kind.field != "any":
            kinds[dot] = Num("scalar" if kind.form == "python" else kind.form, "complex", kind.ndim)
    return folder(kinds)


def cleaned(
    body: list[n.Stmt], user_pure: Callable[[Any], bool], fold: Callable[[n.Expr], n.Expr] = lambda e: e
) -> list[n.Stmt]:
    purity = make_purity(user_pure)

    def pure(s: n.Stmt) -> bool:
        e = s.value  # type: ignore[attr-defined]
        if s.site == TANGENT:
            return not is_changing_call(e)
        return s.site != EFFECT and type(e) is not n.Inplace and purity.pure(s)

    with_tangents = Purity(pure, purity.check, purity.stand_in)
    for _ in range(2):
        body = eliminate(propagate(body, fold), set(), with_tangents)
    return body
