"""Forward rules as templates that the compiler pastes into generated code.

    def _(x, y, *, x_dot, y_dot):               dots      x → x_dot, y → y_dot
        z = np.multiply(x, y)                   forward   z = np.multiply(x, y)
        return z, x_dot * y + x * y_dot         value, tangent

A tangent that is statically zero drops what depends linearly on it: every factor of a product and every term of a sum.
"""

from __future__ import annotations

import inspect
from typing import Any

from thunkad.errors import SourceUnavailableError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.records import record, replace
from thunkad.rules.entry import Entry
from thunkad.rules.template import (
    _assign,
    _bound,
    _is_plain_call,
    _resolver,
    _value_of,
    _without_docstring,
    bound_once,
    partial_expressions,
)
from thunkad.runtime.arrays import stretch
from thunkad.source.functions import find_source
from thunkad.tangents import ZERO, NoTangent, ZeroTangent
from thunkad.tree.convert import NotInlineable, convert
from thunkad.tree.parse import gast

ZERO_REF = n.Ref("ZERO", ZERO)
STRETCH = n.Ref("stretch", stretch)


@record(frozen=True)
class ForwardTemplate:
    """A forward rule as data.  ``dots`` maps a positional parameter to the name of its tangent in the rule."""

    entry: Entry
    forward: tuple[n.Stmt, ...]
    value: n.Expr
    plain: bool  # the value is the plain call of the function with the rule's own parameters
    tangent: n.Expr
    dots: dict[str, str]
    elementwise: bool = False
    linear: bool = False  # the tangent is a helper's, which takes no structural zero

    @property
    def locals(self) -> set[str]:
        return walk.assigned(list(self.forward))


def forward_template(entry: Entry) -> ForwardTemplate | None:
    """The template of a forward rule, or None if it can't be pasted; remembered on the entry."""
    if "forward_template" not in entry.cache:
        try:
            helper = getattr(entry.function, "linear_helper", None)
            make = _elementwise if entry.partials else _explicit if helper is None else _linear
            entry.cache["forward_template"] = make(entry)
        except (NotInlineable, SourceUnavailableError):
            entry.cache["forward_template"] = None
    return entry.cache["forward_template"]


def dots_of(entry: Entry) -> dict[str, str]:
    """The tangent parameters of a forward rule by the parameters that they belong to."""
    parameters = entry.signature().parameters
    return {
        p: f"{p}_dot"
        for p in parameters
        if f"{p}_dot" in parameters and parameters[f"{p}_dot"].kind is inspect.Parameter.KEYWORD_ONLY
    }


def without_dots(entry: Entry) -> Entry:
    """The rule as a call of its function sees it: without the parameters for tangents."""
    found = entry.cache.get("without_dots")
    if found is None:
        dots = set(dots_of(entry).values())
        helper = getattr(entry.function, "linear_helper", None)
        signature = entry.signature() if helper is None else inspect.signature(helper)
        kept = [p for p in signature.parameters.values() if p.name not in dots]
        found = entry.cache["without_dots"] = replace(entry, cache={"signature": signature.replace(parameters=kept)})
    return found


def _explicit(entry: Entry) -> ForwardTemplate:
    function: Any = entry.function
    if not inspect.isfunction(function):
        raise NotInlineable("not a Python function")
    if entry.wants_ad():
        raise NotInlineable("derivatives inside the rule")
    parameters = entry.signature().parameters
    if any(p.kind is p.VAR_POSITIONAL or p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise NotInlineable("any number of arguments")
    node = find_source(function).node
    if not isinstance(node, gast.FunctionDef):
        raise NotInlineable("a lambda")
    body = _without_docstring(node.body)
    name = _resolver(function, {*parameters, *_bound(body)}, entry)
    forward, then = bound_once([s for stmt in body[:-1] for s in _assign(stmt, name)], set(parameters))
    last = body[-1]
    if not (isinstance(last, gast.Return) and isinstance(last.value, gast.Tuple) and len(last.value.elts) == 2):
        raise NotInlineable("no plain return of (value, tangent)")
    value, tangent = (walk.substitute(convert(e, name), then) for e in last.value.elts)
    dots = dots_of(entry)
    return ForwardTemplate(entry, tuple(forward), value, _is_plain(forward, value, entry, dots), tangent, dots)


def _is_plain(forward: list[n.Stmt], value: n.Expr, entry: Entry, dots: dict[str, str]) -> bool:
    if type(value) is n.Name:
        sources = [s.value for s in forward if type(s) is n.Assign and s.target == value.id]
        return len(sources) == 1 and _is_plain_call(sources[0], entry, frozenset(dots.values()))
    return _is_plain_call(value, entry, frozenset(dots.values()))


def _linear(entry: Entry) -> ForwardTemplate:
    """The rule of a helper that is linear in each of one or two arguments: the helper, applied to their tangents."""
    rule: Any = entry.function
    helper = rule.linear_helper
    parameters = list(inspect.signature(helper).parameters.values())
    if any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
        raise NotInlineable("any number of arguments")
    names = [p.name for p in parameters]
    func, moving = n.Ref(helper.__name__, helper), [names[k] for k in rule.linear_in]
    terms = [n.Call(func, tuple(n.Name(f"{p}_dot" if p == moved else p) for p in names)) for moved in moving]
    tangent: n.Expr = terms[0] if len(terms) == 1 else n.Binary("+", *terms)
    value = n.Call(func, tuple(map(n.Name, names)))
    return ForwardTemplate(entry, (), value, True, tangent, {p: f"{p}_dot" for p in moving}, linear=True)


def _elementwise(entry: Entry) -> ForwardTemplate:
    parameters = [p for p in entry.signature().parameters.values() if p.kind is not p.KEYWORD_ONLY]
    names = [p.name for p in parameters]
    total: n.Expr | None = None
    for partial, param in zip(partial_expressions(entry, names), names):
        if type(partial) is n.Call and _value_of(partial.func) in (ZeroTangent, NoTangent):
            continue
        term = times(partial, n.Name(f"{param}_dot"))
        total = term if total is None else n.Binary("+", total, term)
    value = n.Call(n.Ref(getattr(entry.target, "__name__", "function"), entry.target), tuple(map(n.Name, names)))
    dots = {p: f"{p}_dot" for p in names}
    return ForwardTemplate(entry, (n.Assign("result", value),), n.Name("result"), True, total or ZERO_REF, dots, True)


def times(partial: n.Expr, dot: n.Expr) -> n.Expr:
    """``partial * dot`` as a person would write it."""
    if partial == n.Const(1) or partial == n.Const(1.0):
        return dot
    if partial == n.Const(-1) or partial == n.Const(-1.0):
        return n.Unary("-", dot)
    if type(partial) is n.Binary and partial.op == "/" and partial.left in (n.Const(1), n.Const(1.0)):
        return n.Binary("/", dot, partial.right)
    if type(partial) is n.Unary and partial.op == "-":
        return n.Unary("-", n.Binary("*", partial.operand, dot))
    return n.Binary("*", partial, dot)


# ---------------------------------------------------------------- statically zero tangents


def is_zero(e: n.Expr) -> bool:
    return type(e) is n.Ref and e.value is ZERO


def drop_zeros(e: n.Expr, zero: set[str], dots: set[str]) -> n.Expr:
    """``e``, linear in all of ``dots`` together, without what depends on the ``zero`` ones only."""
    if type(e) is n.Name:
        return ZERO_REF if e.id in zero else e
    if type(e) is n.Binary and e.op in ("+", "-"):
        left, right = drop_zeros(e.left, zero, dots), drop_zeros(e.right, zero, dots)
        if is_zero(right):
            return left
        if is_zero(left):
            return right if e.op == "+" else n.Unary("-", right)
        return n.Binary(e.op, left, right)
    read = dots.intersection(walk.names(e))
    if read and read <= zero:
        return ZERO_REF
    if not read & zero:
        return e
    if type(e) in (n.Binary, n.Unary, n.Index):
        return walk.map_expr(e, lambda x: drop_zeros(x, zero, dots))
    if type(e) is n.Call and type(e.func) is n.Attr and dots.intersection(walk.names(e.func.value)):
        return n.Call(n.Attr(drop_zeros(e.func.value, zero, dots), e.func.name), e.args, e.kwargs)
    # a call of several tangents: it takes structural zeros as any rule does
    return walk.substitute(e, dict.fromkeys(zero, ZERO_REF))
