"""Rules of the runtime helpers that the array rules call: for derivatives of derivatives.

A helper that selects by value (the largest entry, the sorted order) is constant in the values that it selects by: what
it selects changes at isolated points only.
"""

from __future__ import annotations

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.rules.linear import bilinear, linear
from thunkad.runtime import arrays, indexing, joining, methods, padding, ranges, reductions, scans, shaping, sorting
from thunkad.runtime.padding import margin_dot, pad_dot, padded
from thunkad.runtime.precision import as_precise_as, float_type, unit_matrix
from thunkad.runtime.products_of_many import cumprod_bar_dot, cumprod_dot_dot, prod_bar_dot, prod_dot_dot
from thunkad.runtime.reductions import prod_bar, prod_dot
from thunkad.runtime.scans import cumprod_bar, cumprod_dot
from thunkad.tangents import NoTangent, thunk

linear(
    arrays.expand,
    indexing.index_bar,
    indexing.selection_bar,
    indexing.take_bar,
    indexing.take_along_axis_bar,
    indexing.compress_bar,
    indexing.diagonal_bar,
    indexing.insert_bars,
    joining.join_bar,
    joining.stack_bar,
    joining.hstack_bar,
    joining.vstack_bar,
    joining.dstack_bar,
    joining.column_stack_bar,
    joining.append_bars,
    joining.block_bars,
    joining.nested_bar,
    joining.nested_dot,
    joining.fill_bar,
    joining.fill_dot,
    methods.item_bar,
    methods.item_dot,
    methods.tolist_bar,
    methods.tolist_dot,
    padding.margin_bar,
    padding.margin_dot,
    padding.pad_bar,
    padding.pad_dot,
    ranges.start_bar,
    ranges.stop_bar,
    ranges.arange_bars,
    reductions.mean_bar,
    reductions.mean_dot,
    reductions.sum_dot,
    reductions.extreme_bar,
    reductions.extreme_dot,
    reductions.range_bar,
    reductions.range_dot,
    scans.reverse_cumsum,
    scans.cumsum_bar,
    scans.cumsum_dot,
    scans.without_initial,
    scans.with_initial,
    scans.diff_bars,
    scans.ediff1d_bars,
    shaping.in_memory_like,
    shaping.reshape_like,
    shaping.triangle_bar,
    shaping.transpose_bar,
    shaping.rollaxis_bar,
    shaping.astype_bar,
    shaping.astype_dot,
    shaping.tile_bar,
    shaping.repeat_bar,
    shaping.resize_bar,
    shaping.each_reshaped,
    shaping.each_unbroadcast,
    shaping.meshgrid_bars,
    shaping.split_bar,
    shaping.unstack_bar,
    shaping.diag_bar,
    sorting.sort_bar,
    sorting.sort_dot,
    sorting.partition_bar,
    sorting.partition_dot,
    sorting.unique_bar,
)
bilinear(1, reductions.var_bar, reductions.var_dot, scans.trapezoid_x_bar, scans.trapezoid_dx_bar)
bilinear(1, scans.convolve_right_bar, scans.correlate_right_bar)
bilinear(2, scans.convolve_left_bar, scans.correlate_left_bar)
non_differentiable(
    indexing.may_repeat,
    indexing.assigned_last,
    indexing.numbered,
    methods.method_axes,
    reductions.not_nan,
    reductions.count_reduced,
    reductions.extreme_share,
    sorting.median_rank,
    sorting.quantile_rank,
    sorting.percentile_rank,
)


@frule(prod_bar)
def _(y_bar, y, a, axis=None, keepdims=False, initial=1, where=True, dtype=None, *, y_bar_dot, a_dot):
    value = prod_bar(y_bar, y, a, axis, keepdims, initial, where, dtype)
    return value, prod_bar_dot((y_bar_dot, a_dot), y_bar, y, a, axis, keepdims, initial, where, dtype)


@frule(prod_dot)
def _(step, y, a, axis=None, keepdims=False, initial=1, where=True, dtype=None, *, step_dot, a_dot):
    value = prod_dot(step, y, a, axis, keepdims, initial, where, dtype)
    return value, prod_dot_dot((step_dot, a_dot), step, y, a, axis, keepdims, initial, where, dtype)


@frule(cumprod_bar)
def _(y_bar, y, a, axis=None, dtype=None, *, y_bar_dot, a_dot):
    value = cumprod_bar(y_bar, y, a, axis, dtype)
    return value, cumprod_bar_dot((y_bar_dot, a_dot), y_bar, y, a, axis, dtype)


@frule(cumprod_dot)
def _(step, y, a, axis=None, dtype=None, *, step_dot, a_dot):
    value = cumprod_dot(step, y, a, axis, dtype)
    return value, cumprod_dot_dot((step_dot, a_dot), step, y, a, axis, dtype)


@frule(padded)
def _(
    array,
    pad_width,
    mode="constant",
    *,
    constant_values=None,
    end_values=None,
    reflect_type=None,
    stat_length=None,
    array_dot,
    constant_values_dot,
    end_values_dot,
):
    value = padded(
        array,
        pad_width,
        mode,
        constant_values=constant_values,
        end_values=end_values,
        reflect_type=reflect_type,
        stat_length=stat_length,
    )
    value_dot = pad_dot(array_dot, array, pad_width, mode, reflect_type, stat_length)
    value_dot = value_dot + margin_dot(constant_values_dot, constant_values, array, pad_width, mode)
    return value, value_dot + margin_dot(end_values_dot, end_values, array, pad_width, mode)


@frule(sorting.quantile_bar)
def _(y_bar, a, axis, rank_of, q=None, method=None, skip_nan=False, *, y_bar_dot, q_dot):
    value = sorting.quantile_bar(y_bar, a, axis, rank_of, q, method, skip_nan)
    return value, sorting.with_levels(
        sorting.quantile_bar, (y_bar_dot, q_dot), y_bar, a, axis, rank_of, q, method, skip_nan
    )


@frule(sorting.quantile_dot)
def _(a_dot, y, a, axis, rank_of, q=None, method=None, skip_nan=False, *, a_dot_dot, q_dot):
    value = sorting.quantile_dot(a_dot, y, a, axis, rank_of, q, method, skip_nan)
    return value, sorting.with_levels(
        sorting.quantile_dot, (a_dot_dot, q_dot), a_dot, y, a, axis, rank_of, q, method, skip_nan
    )


@frule(sorting.quantile_level_slope)
def _(y, a, q, axis, rank_of, method, unit=1.0, skip_nan=False, *, a_dot):
    value = sorting.quantile_level_slope(y, a, q, axis, rank_of, method, unit, skip_nan)
    if arrays.is_zero(a_dot):
        return value, a_dot
    return value, sorting.quantile_level_slope(y, a, q, axis, rank_of, method, unit, skip_nan, a_dot)


non_differentiable(float_type, unit_matrix, joining.still)
linear(as_precise_as)


@rrule(as_precise_as)
def _(t, x):
    y = as_precise_as(t, x)

    def pullback(y_bar):
        return thunk(lambda: as_precise_as(y_bar, t)), NoTangent()

    return y, pullback
