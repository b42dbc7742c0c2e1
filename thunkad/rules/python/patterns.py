"""What lowering makes of ``match``: tests without a derivative, and fields that are read by their position."""

from __future__ import annotations

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.runtime.cotangents import field_tangent
from thunkad.runtime.dots import field_dot
from thunkad.runtime.patterns import field_name, has_field, has_keys, is_instance, is_sequence, matched_field
from thunkad.tangents import NoTangent, thunk

non_differentiable(is_sequence, has_keys, is_instance, field_name, has_field)


@rrule(matched_field)
def _(subject, cls, k):
    y = matched_field(subject, cls, k)

    def pullback(y_bar):
        return thunk(lambda: field_tangent(subject, field_name(cls, k), y_bar)), NoTangent(), NoTangent()

    return y, pullback


@frule(matched_field)
def _(subject, cls, k, *, subject_dot):
    y = matched_field(subject, cls, k)
    return y, field_dot(subject_dot, field_name(cls, k), subject, y)
