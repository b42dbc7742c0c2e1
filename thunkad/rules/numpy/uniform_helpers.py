"""Forward rules of the helpers for uniform cotangents and for accumulation."""

from __future__ import annotations

from thunkad.rules.library import frule, non_differentiable
from thunkad.rules.linear import bilinear, linear
from thunkad.runtime.accumulate import accumulate, fit
from thunkad.runtime.arrays import is_zero
from thunkad.runtime.cotangents import add
from thunkad.runtime.uniform import count, fitted, matmul_left_share, matmul_right_share, share

linear(share, fit, fitted)
bilinear(2, matmul_left_share)
bilinear(1, matmul_right_share)
non_differentiable(count)


@frule(accumulate)
def _(x_bar, more, *, x_bar_dot, more_dot):
    total = more_dot if is_zero(x_bar_dot) else x_bar_dot if is_zero(more_dot) else add(x_bar_dot, more_dot)
    return accumulate(x_bar, more), total
