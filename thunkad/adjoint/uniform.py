"""Uniform cotangents: those of ``np.sum``, ``np.mean`` and broadcasts stay one number while rules have a form for it.

``Bar.uniform`` says so statically; the shape is that of the name that the cotangent belongs to.  A rule receives the
number only through the forms below; everything else takes the cotangent expanded (:meth:`Bars.take`).  A number handed
to code that expects an array would be wrong without an error: ``unbroadcast(1.0, b)`` is 1 where the size is right.

``step`` is always a :class:`thunkad.adjoint.steps.InlineStep`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.adjoint.bars import Bar, Bars
from thunkad.adjoint.inline import is_fresh, real_part, simplify
from thunkad.analysis.shapes import SCALAR, Shape, shape_of
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Num
from thunkad.runtime import uniform
from thunkad.runtime.arrays import conjugate, stretch, unbroadcast

COUNT, SHARE = n.Ref("count", uniform.count), n.Ref("share", uniform.share)
FITTED = n.Ref("fitted", uniform.fitted)
STRETCH, UNBROADCAST = n.Ref("stretch", stretch), n.Ref("unbroadcast", unbroadcast)
MATMUL = (
    n.Ref("matmul_left_share", uniform.matmul_left_share),
    n.Ref("matmul_right_share", uniform.matmul_right_share),
)
SUM, SIZE = (n.Attr(n.Ref("np", np), name) for name in ("sum", "size"))

#: Functions that only move elements: each element of the operand is one of the result.
_MOVES = (
    np.transpose,
    np.ravel,
    np.reshape,
    np.swapaxes,
    np.moveaxis,
    np.squeeze,
    np.expand_dims,
    np.copy,
    np.flip,
    np.roll,
)


def reverse_uniform(step: Any, bars: Bars) -> bool:
    """Reverse ``step`` in a form for uniform cotangents; False if it has none."""
    if step.template.entry.layer != "library" or step.target in bars.shadowed:
        return False
    bar = bars.live.get(step.target)
    if bar is None:
        return False
    fn = step.site.callee
    if _is_reduction(fn, step, bars):
        return _reduction(step, bars, bar)
    if not bar.uniform:
        return False
    if step.template.entry.partials is not None:
        _Elementwise(step, bars, bars.live.pop(step.target).expr).run()
        return True
    if fn in _MOVES and type(step.site.args[0]) is n.Name:
        bars.live.pop(step.target)
        give_uniform(bars, step, step.site.args[0], bar.expr)
        return True
    if fn is np.matmul and len(step.site.args) == 2 and not step.site.kwargs:
        seed = bars.live.pop(step.target).expr
        if type(seed) is n.Name and any(bars.bar_name(i) == seed.id for a in step.site.args for i in walk.names(a)):
            seed = bars.stable(seed, list(step.site.args))
        for helper, operand in zip(MATMUL, step.site.args):
            if type(operand) is n.Name and operand.id in bars.active:
                value = n.Call(helper, (seed, *step.site.args))
                bars.contribute(operand.id, real_part(value, step.kind(bars, operand), step.site))
        return True
    return False


def give_uniform(bars: Bars, step: Any, operand: n.Expr, value: n.Expr) -> None:
    if type(operand) is n.Name and operand.id in bars.active:
        bars.contribute_uniform(operand.id, real_part(value, step.kind(bars, operand), step.site))


def _is_reduction(fn: Any, step: Any, bars: Bars) -> bool:
    """A sum or a mean of an array over all elements, or over some axes."""
    site = step.site
    if fn not in (np.sum, np.mean) or not site.args or len(site.args) > 2 or type(site.args[0]) is not n.Name:
        return False
    kind = step.kind(bars, site.args[0])
    return isinstance(kind, Num) and not kind.is_scalar and all(k in ("axis", "keepdims") for k, _ in site.kwargs)


def _reduction(step: Any, bars: Bars, bar: Bar) -> bool:
    site = step.site
    whole = len(site.args) == 1 and not site.kwargs
    if (not whole and not bar.uniform) or bar.maybe_zero:
        return False
    if whole and not bar.uniform and not bars.is_scalar(step.target):
        return False
    operand = site.args[0]
    seed = bars.live.pop(step.target).expr
    if site.callee is np.mean:
        if whole:
            seed = n.Binary("/", seed, n.Call(COUNT, (operand,)))
        else:
            seed = n.Call(SHARE, (seed, n.Name(step.target), operand))
    give_uniform(bars, step, operand, seed)
    return True


class _Elementwise:
    """The reverse of an elementwise function whose result has a uniform cotangent."""

    def __init__(self, step: Any, bars: Bars, seed: n.Expr) -> None:
        self.step, self.bars, self.result = step, bars, n.Name(step.target)
        self.seed = bars.stable(seed, [operand for operand, _ in step.operands])
        self.names = {**step.names, step.template.seed: self.seed}

    def shape(self, e: n.Expr) -> Shape:
        if type(e) is n.Name:
            return self.bars.shapes.get(e.id)
        kind = self.step.kind(self.bars, e)
        return SCALAR if isinstance(kind, Num) and kind.is_scalar else None

    def product_shape(self, e: n.Expr) -> Shape:
        """The shape of the seed times a partial, the seed being a number."""
        e = walk.substitute(_without_conjugates(e), {**self.names, self.step.template.seed: n.Const(1.0)})
        return shape_of(e, lambda ident: self.shape(n.Name(ident)), _pinned)

    def run(self) -> None:
        for operand, result in self.step.operands:
            if type(operand) is not n.Name or operand.id not in self.bars.active:
                continue
            assert type(result) is n.Call and result.func == UNBROADCAST
            product = result.args[0]
            shape = self.product_shape(product)
            value = simplify(walk.substitute(product, self.names), self.step.kinds, self.step.site.result)
            self.give(operand, value, shape)

    def give(self, operand: n.Name, value: n.Expr, shape: Shape) -> None:
        kind = self.step.kind(self.bars, operand)
        whole, own = self.shape(self.result), self.shape(operand)
        scalar = isinstance(kind, Num) and kind.is_scalar
        if shape == SCALAR and not scalar:
            same = whole is not None and whole == own
            give_uniform(self.bars, self.step, operand, value if same else n.Call(SHARE, (value, self.result, operand)))
            return
        if shape == SCALAR:
            value = n.Binary("*", value, n.Call(SIZE, (self.result,)))
        else:
            partial = shape is None or shape != whole
            if partial and not scalar and is_fresh(value):
                value = n.Call(FITTED, (value, self.result, operand))
                self.bars.contribute(operand.id, real_part(value, kind, self.step.site), True)
                return
            if partial:
                value = n.Call(STRETCH, (value, self.result))
            if scalar:
                value = n.Call(SUM, (value,))
            elif whole is None or whole != own:
                value = n.Call(UNBROADCAST, (value, operand))
        value = real_part(value, kind, self.step.site)
        self.bars.contribute(operand.id, value, is_fresh(value))


def _without_conjugates(e: n.Expr) -> n.Expr:
    if type(e) is n.Call and type(e.func) is n.Ref and e.func.value is conjugate:
        return _without_conjugates(e.args[0])
    return walk.map_expr(e, _without_conjugates)


def _pinned(e: n.Expr) -> Any:
    """The object that an expression over pinned objects stands for."""
    if type(e) is n.Ref:
        return e.value
    if type(e) is n.Attr:
        return getattr(_pinned(e.value), e.name, None)
    return None
