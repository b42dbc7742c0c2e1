"""Arrays computed where they are needed: a temporary that is read once stands right before the statement that reads it.

    t1 = 1 - x[:-1]                             x_bar = zeros(x)
    x_bar = zeros(x)                            t1 = 1 - x[:-1]
    x_bar[:-1] += 2 * t1                        x_bar[:-1] += 2 * t1

What it is computed from is there anyway, so less memory is held, not more.  Only elementwise arithmetic is moved, and
only past statements that neither change what it reads nor do anything else that could be noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from thunkad.analysis.sites import Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Num, Opaque
from thunkad.optimise.comments import is_bar
from thunkad.optimise.nest import TEMPORARY, counts
from thunkad.optimise.purity import CHANGING

IsArray = Callable[[str], bool]


def delayed(function: n.Function, is_array: IsArray, buffers: Collection[str]) -> list[n.Stmt]:
    """The body of ``function`` with its temporaries where they are read; ``buffers``: names of cotangents."""
    body = list(function.body)
    read, written = counts(body)
    free = {p.name for p in function.params}  # what holds no memory of this function's
    free.update(s.target for s in body if _is_view(s, is_array))  # type: ignore[attr-defined]
    place = {id(s): k for k, s in enumerate(body)}
    readers: dict[str, list[n.Stmt]] = {}
    for s in body:
        for name in walk.read_anywhere(s.function.body if type(s) is n.Define else [s]):
            readers.setdefault(name, []).append(s)
    for s in reversed(function.body):
        if type(s) is not n.Assign or read[s.target] != 1 or written[s.target] != 1:
            continue
        if not TEMPORARY.match(s.target) or not is_array(s.target) or not (_is_step(s) or _is_view(s, is_array)):
            continue
        at, reader = place[id(s)], readers[s.target][0]
        if s.target not in walk.reads(reader):
            continue
        to = _place(s.target, body, at, place[id(reader)])
        operands = set(walk.names(s.value))
        lost = [i for i in operands - free if is_array(i) and not any(place[id(x)] >= to for x in readers[i])]
        if len(lost) <= 1 and all(_may_pass(operands, x, buffers) or _is_view(x, is_array) for x in body[at + 1 : to]):
            body[at:to] = [*body[at + 1 : to], s]
            place.update((id(x), k) for k, x in enumerate(body[at:to], at))
    return body


def _place(name: str, body: list[n.Stmt], at: int, reader: int) -> int:
    """Where ``name`` is computed for ``body[reader]``: before what is read there after it."""
    order = [i for e in walk.expressions(body[reader]) for i in walk.names(e)]
    leads: dict[str, str] = {}  # steps right before the reader → the operand that they are for
    to = reader
    while to - 1 > at:
        step = body[to - 1]
        if type(step) is not n.Assign or not TEMPORARY.match(step.target):
            break
        operand = leads.get(step.target, step.target)
        if operand not in order or order.index(operand) < order.index(name):
            break
        leads.update(dict.fromkeys(walk.names(step.value), operand))
        to -= 1
    return to


def _is_step(s: n.Stmt) -> bool:
    """Whether ``s`` computes elements from elements."""
    if type(s) is not n.Assign:
        return False
    site = s.site
    if isinstance(site, Site):
        numbers = all(isinstance(k, (Num, Opaque)) for k in site.kinds) and site.how in ("rule", "constant")
        elementwise = isinstance(site.callee, np.ufunc) and site.callee.signature is None
        if not elementwise:
            return False
        step = type(s.value) in (n.Binary, n.Unary) or (type(s.value) is n.Call and len(site.args) == site.callee.nin)
        return numbers and step and not site.kwargs
    return is_bar(s.target) and type(s.value) in (n.Binary, n.Unary) and all(map(_is_plain, walk.parts(s.value)))


def _is_view(s: n.Stmt, is_array: IsArray) -> bool:
    """Whether ``s`` takes a part of an array that is the same memory: constant bounds only."""
    if type(s) is not n.Assign or type(s.value) is not n.Index or type(s.value.value) is not n.Name:
        return False
    constant = all(type(x) in (n.Slice, n.TupleExpr, n.Const) for x in walk.parts(s.value.index))
    return constant and is_array(s.value.value.id) and not is_bar(s.target)


def _is_plain(e: n.Expr) -> bool:
    return type(e) in (n.Binary, n.Unary, *n.ATOMS) and getattr(e, "op", "") != "@"


def _may_pass(operands: set[str], s: n.Stmt, buffers: Collection[str]) -> bool:
    """Whether what reads ``operands`` is the same before and after ``s``."""
    if type(s) is n.Comment:
        return True
    if operands.intersection(walk.writes(s)):
        return False
    if type(s) is n.Update and type(s.target) is n.Index and type(s.target.value) is n.Name:
        return s.target.value.id in buffers and not any(map(is_bar, operands)) and _is_quiet(s.value)
    if type(s) is n.Effect:
        return _is_quiet(s.value)
    return _is_step(s) or (type(s) is n.Assign and not isinstance(s.site, Site) and _is_quiet(s.value))


def _is_quiet(e: n.Expr) -> bool:
    """Whether evaluating ``e`` runs arithmetic and helpers that change nothing."""
    for x in walk.parts(e):
        if type(x) is n.Call:
            helper = type(x.func) is n.Ref and str(getattr(x.func.value, "__module__", "")).startswith(
                "thunkad.runtime."
            )
            if not helper or x.func.name in CHANGING:  # type: ignore[union-attr]
                return False
        elif type(x) not in (n.Binary, n.Unary, n.Index, n.Slice, n.TupleExpr, *n.ATOMS):
            return False
    return True
