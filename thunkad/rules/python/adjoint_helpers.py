"""Forward rules of what generated reverse code calls, so that it can be differentiated again.

All are linear in the cotangents that they take and constant in the values whose shape or structure they read.
"""

from __future__ import annotations

from thunkad.errors import ThunkadError
from thunkad.rules.library import alternative, frule, non_differentiable
from thunkad.rules.linear import jointly_linear, linear
from thunkad.runtime import (
    arrays,
    attributes,
    cotangents,
    dot_changes,
    dots,
    elements,
    left_behind,
    left_elements,
    moves,
    piecewise,
    shadows,
    shapes,
    sharing,
    structures,
    variables,
)
from thunkad.runtime.arrays import conjugate, is_zero, stretch, unbroadcast
from thunkad.runtime.cotangents import add, dense, field_tangent, index_add, own, project, project_copy
from thunkad.runtime.dots import apart_from, outward, view_like
from thunkad.runtime.key_bars import item_add, split_named
from thunkad.runtime.key_dots import add_key, noted
from thunkad.runtime.using import using, using_dot
from thunkad.tangents import ZERO, NotImplementedTangent, thunk, unthunk

linear(cotangents.split, split_named, cotangents.like, cotangents.seed_of, dots.spread, dots.item_dots)
linear(apart_from)
linear(elements.elements_dot, elements.enumerate_dot, elements.zip_dot, elements.dict_dot)
linear(elements.values_dot, elements.items_dot, elements.number_dot)
jointly_linear(elements.sum_dot, "iterable_dot", "start_dot")
jointly_linear(elements.extremum_dot, "args_dot")
jointly_linear(elements.found_dot, "mapping_dot", "default_dot")
jointly_linear(elements.split_starred_dot, "value_dot")
jointly_linear(elements.complex_dot, "real_dot", "imag_dot")
jointly_linear(piecewise.where_dot, "x_dot", "y_dot")
linear(dot_changes.array_dot, dot_changes.live_dots, dot_changes.next_dot)
linear(shadows.take_stored, shadows.keep, structures.structure)
linear(moves.take_moved, moves.chosen, moves.scattered, moves.the_array)
non_differentiable(moves.moves, moves.put_moves, moves.spread)
non_differentiable(
    shadows.Shadows, *(getattr(shadows.Shadows, name) for name in vars(shadows.Shadows) if name[0] != "_")
)
non_differentiable(variables.begin, variables.settle)
# What helpers refuse with: it would lead to the modules that look for the line of a place.
non_differentiable(NotImplementedTangent, *ThunkadError.__subclasses__())
non_differentiable(
    left_behind.note_left, left_behind.note_each, left_behind.note_field, left_behind.note_item, left_behind.check_left,
    left_behind.check_unchanged, left_behind.check_item,
    left_behind.check_each, left_behind.note_made, left_behind.check_field, left_behind.note_constant,
    left_elements.note_element, left_elements.check_element,
)  # fmt: skip
non_differentiable(shadows.then, shadows.shares, shadows.shared_with, attributes.check_delete)
non_differentiable(sharing.check_fresh, sharing.must_be_array, sharing.must_differ)
non_differentiable(
    arrays.zeros,
    arrays.rounds,
    arrays.is_zero,
    cotangents.scalar_seed,
    cotangents.aux_seed,
    shapes.broadcast,
    shapes.matmul_shape,
    dots.check_directions,
)


@frule(view_like)
def _(result_dot, result, x, x_dot, *, result_dot_dot, x_dot_dot):
    value = view_like(result_dot, result, x, x_dot)
    return value, view_like(result_dot_dot, result, x, x_dot_dot)


@frule(sharing.originals)
def _(value, kept, given, *, value_dot, given_dot):
    return sharing.originals(value, kept, given), dots.originals_dot(value_dot, value, kept, given_dot)


@alternative(thunk)
def at_once(compute):
    return compute()


@frule(unbroadcast)
def _(t_bar, x, *, t_bar_dot):
    return unbroadcast(t_bar, x), unbroadcast(t_bar_dot, x)


@frule(stretch)
def _(t_dot, result, *, t_dot_dot):
    return stretch(t_dot, result), stretch(t_dot_dot, result)


@frule(conjugate)
def _(x, *, x_dot):
    return conjugate(x), conjugate(x_dot)


@frule(unthunk)
def _(x, *, x_dot):
    return unthunk(x), unthunk(x_dot)


@frule(own)
def _(x_bar, x, *, x_bar_dot):
    return own(x_bar, x), own(x_bar_dot, x)


@frule(dense)
def _(x_bar, x, *, x_bar_dot):
    return dense(x_bar, x), dense(x_bar_dot, x)


@frule(project)
def _(x_bar, x, *, x_bar_dot):
    return project(x_bar, x), project(x_bar_dot, x)


@frule(project_copy)
def _(x_bar, x, *, x_bar_dot):
    return project_copy(x_bar, x), project_copy(x_bar_dot, x)


@frule(outward)
def _(y_dot, y, *, y_dot_dot):
    return outward(y_dot, y), outward(y_dot_dot, y)


@frule(index_add)
def _(x_bar, index, v, *, x_bar_dot, v_dot):
    return index_add(x_bar, index, v), index_add(x_bar_dot, index, v_dot)


@frule(item_add)
def _(x_bar, position, v, x, item, *, x_bar_dot, v_dot):
    return item_add(x_bar, position, v, x, item), item_add(x_bar_dot, position, v_dot, x, item)


@frule(noted)
def _(key, x, *, key_dot, x_dot):
    add_key(x_dot, key, key_dot)
    return key, key_dot


@frule(add)
def _(a, b, *, a_dot, b_dot):
    if is_zero(a_dot) or is_zero(b_dot):
        return add(a, b), b_dot if is_zero(a_dot) else a_dot
    return add(a, b), add(a_dot, b_dot)


@frule(cotangents.entry)
def _(t_bar, key, *, t_bar_dot):
    return cotangents.entry(t_bar, key), cotangents.entry(t_bar_dot, key)


@frule(cotangents.gather)
def _(parts, x, *, parts_dot):
    return cotangents.gather(parts, x), parts_dot if is_zero(parts_dot) else cotangents.gather(tuple(parts_dot), x)


@frule(field_tangent)
def _(x, name, y_bar, *, y_bar_dot):
    return field_tangent(x, name, y_bar), field_tangent(x, name, y_bar_dot)


@frule(dots.entry_dot)
def _(x_dot, key, y, *, x_dot_dot):
    return dots.entry_dot(x_dot, key, y), dots.entry_dot(x_dot_dot, key, y)


@frule(dots.field_dot)
def _(x_dot, name, x, y, *, x_dot_dot):
    return dots.field_dot(x_dot, name, x, y), dots.field_dot(x_dot_dot, name, x, y)


@frule(dots.closure_dot)
def _(*captures, defaults=None, captures_dot, defaults_dot):
    value = dots.closure_dot(*captures, defaults=defaults)
    if is_zero(captures_dot) and is_zero(defaults_dot):
        return value, captures_dot
    held = (ZERO,) * len(captures) if is_zero(captures_dot) else captures_dot
    return value, dots.closure_dot(*held, defaults=None if is_zero(defaults_dot) else defaults_dot)


@frule(using)
def _(callee, *variables, callee_dot, variables_dot):
    value = using(callee, *variables)
    dots_given = (ZERO,) * len(variables) if is_zero(variables_dot) else variables_dot
    return value, using_dot(callee_dot, dots_given)


@frule(using_dot)
def _(callee_dot, variable_dots, *, callee_dot_dot, variable_dots_dot):
    value = using_dot(callee_dot, variable_dots)
    return value, using_dot(callee_dot_dot, (ZERO,) * len(variable_dots) if is_zero(variable_dots_dot) else variable_dots_dot)


@frule(dots.tangent_buffer)
def _(x_dot, x, *, x_dot_dot):
    return dots.tangent_buffer(x_dot, x), dots.tangent_buffer(x_dot_dot, x)
