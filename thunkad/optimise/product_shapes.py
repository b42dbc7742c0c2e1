"""Matrix products that only their shapes keep alive let go of: the shape is that of the operands.

    t1 = x @ w                                  t1 = x @ w
    y = np.tanh(t1 + b)                         y = np.tanh(t1 + b)
    …                                           …
    t1_bar = unbroadcast(t2_bar, t1)            t1_bar = unbroadcast(t2_bar, matmul_shape(x, w))

The product then is a step among others, which :mod:`thunkad.optimise.nest` puts into the line that it belongs to.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from thunkad.analysis.sites import Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.optimise.dead import Live
from thunkad.optimise.purity import MATMUL_SHAPE


def let_go(block: list[n.Stmt], params: set[str]) -> list[n.Stmt]:
    """The body of a function with these parameters, of which the straight line alone is looked at."""
    if not any(_is_product(s) for s in block):
        return block
    body = list(block)
    bound = Counter(w for s in walk.statements(body) for w in walk.writes(s))
    bound.update(params)
    read = [_read(s) for s in body]
    for at, s in enumerate(body):
        if not _is_product(s) or bound[s.target] != 1:  # type: ignore[attr-defined]
            continue
        product, operands = s.target, s.site.args  # type: ignore[attr-defined]
        last = max((k for k, live in enumerate(read) if product in live.values), default=at)
        later = [k for k, live in enumerate(read) if k > last and product in live.shapes]
        if not later or any(type(x) is not n.Name or bound[x.id] > 1 for x in operands):
            continue
        needed = {i for live in read[later[-1] :] for i in live.values | live.shapes} | params
        if all(x.id in needed for x in operands):
            shape = {product: n.Call(MATMUL_SHAPE, operands)}
            for k in later:
                body[k] = walk.map_stmt(body[k], lambda e: walk.substitute(e, shape))  # noqa: B023
    return body


def _is_product(s: n.Stmt) -> bool:
    return type(s) is n.Assign and isinstance(s.site, Site) and s.site.callee is np.matmul and len(s.site.args) == 2


def _read(s: n.Stmt) -> Live:
    """What ``s`` reads; in a nested block everything counts as a value."""
    live = Live(set(), set())
    if walk.blocks(s) or type(s) is n.Define:
        inner = [s] if type(s) is not n.Define else s.function.body
        live.values = walk.read_anywhere(inner)
        return live
    for e in walk.expressions(s):
        live.read(e)
    live.shapes -= live.values
    return live
