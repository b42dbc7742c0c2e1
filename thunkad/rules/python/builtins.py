"""Python's built-in functions with active values.

Iterators (``zip``, ``enumerate``, ``reversed``, ``map``, ``filter``) are made into lists: their elements are needed
again in reverse order.  ``abs`` is in :data:`thunkad.rules.python.operators.OPERATORS`.
"""

from __future__ import annotations

import bisect
import builtins
import collections
import functools

import numpy as np

from thunkad.rules.entry import FRULE
from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.linear import linear
from thunkad.rules.refused import refuse
from thunkad.runtime import keyed
from thunkad.runtime.attributes import read_behind
from thunkad.runtime.choices import (
    CHOICES,
    places_of_combinations,
    places_of_permutations,
    places_of_product,
    places_of_repetitions,
)
from thunkad.runtime.elements import (
    complex_dot,
    dict_bar,
    dict_dot,
    elements_bar,
    elements_dot,
    enumerate_bar,
    enumerate_dot,
    extremum_bars,
    extremum_dot,
    last_bar,
    last_of,
    number_dot,
    ordered,
    place_by,
    place_of,
    shaped_like,
    sorted_bar,
    sorted_order,
    sum_bar,
    sum_dot,
    sum_start_bar,
    zip_bars,
    zip_dot,
)
from thunkad.runtime.iterators import drawn, drawn_or, items_of, keys_of, steps_of
from thunkad.runtime.keyed import KEYED
from thunkad.runtime.lazy import OF_ITERTOOLS, check_lengths, refuse_lengths
from thunkad.runtime.suspended import (
    Suspended,
    begun,
    delegated,
    handed,
    itself,
    result_of,
    resumed,
    resumed_or,
    resumed_with,
    returned,
    settled,
    watch,
)
from thunkad.tangents import NoTangent, thunk

_DISCRETE = (
    "all any ascii bin bool bytearray bytes callable chr dir format hasattr hash help hex id input int isinstance issubclass "
    "len oct open ord print range repr round slice str type"
)
non_differentiable(*(getattr(builtins, name) for name in _DISCRETE.split() if hasattr(builtins, name)))
linear(shaped_like, sum_bar, sum_start_bar, extremum_bars, elements_bar, enumerate_bar, zip_bars, sorted_bar, dict_bar)
linear(last_bar, last_of)
non_differentiable(bisect.bisect_left, bisect.bisect_right)
non_differentiable(float.is_integer, float.hex, int.bit_length, int.bit_count, int.to_bytes)


# ---------------------------------------------------------------- numbers


@rrule(float)
def _(x=0.0):
    y = float(x)

    def pullback(y_bar):
        return (thunk(lambda: shaped_like(y_bar, x)),)

    return y, pullback


@frule(float)
def _(x=0.0, *, x_dot):
    y = float(x)
    return y, number_dot(x_dot, y)


@rrule(complex)
def _(real=0.0, imag=0.0):
    y = complex(real, imag)

    def pullback(y_bar):
        return thunk(lambda: shaped_like(y_bar, real)), thunk(lambda: shaped_like(-1j * y_bar, imag))

    return y, pullback


@frule(complex)
def _(real=0.0, imag=0.0, *, real_dot, imag_dot):
    return complex(real, imag), complex_dot(real_dot, imag_dot)


@rrule(complex.conjugate)
def _(self):
    y = complex.conjugate(self)

    def pullback(y_bar):
        return (thunk(lambda: y_bar.conjugate()),)

    return y, pullback


@frule(complex.conjugate)
def _(self, *, self_dot):
    return complex.conjugate(self), self_dot.conjugate()


@rrule(float.conjugate)
def _(self):
    y = float.conjugate(self)

    def pullback(y_bar):
        return (y_bar,)

    return y, pullback


@frule(float.conjugate)
def _(self, *, self_dot):
    return float.conjugate(self), self_dot


@alternative(pow)
def power(base, exp, mod=None):
    return base**exp if mod is None else power_modulo(base, exp, mod)


def power_modulo(base, exp, mod):
    """The power of whole numbers modulo another."""
    return pow(base, exp, mod)


non_differentiable(power_modulo)
refuse("an iterator has a position that moves; use indices, or a for loop", iter, next)
refuse("look names up in a list of dicts, the last one first", collections.ChainMap)
refuse("it shows the memory of an array; use the array", memoryview)
refuse("it takes a number apart into integers; use the number", float.as_integer_ratio)
non_differentiable(places_of_product, places_of_combinations, places_of_repetitions, places_of_permutations)
for _fn, _body in (OF_ITERTOOLS | CHOICES).items():
    alternative(_fn)(_body)


alternative(iter, types=(list,))(items_of)
alternative(iter, types=(tuple,))(items_of)
alternative(iter, types=(np.ndarray,))(items_of)
alternative(iter, types=(range,))(steps_of)
_sort: type
for _sort in (str, dict, type({}.keys()), type({}.values()), type({}.items())):
    alternative(iter, types=(_sort,))(keys_of)
alternative(drawn, types=(Suspended,))(resumed)
alternative(drawn_or, types=(Suspended,))(resumed_or)
alternative(delegated, types=(Suspended,))(itself)
alternative(handed, types=(Suspended,))(resumed_with)
alternative(returned, types=(Suspended,))(result_of)
non_differentiable(check_lengths, refuse_lengths, watch, begun, settled, read_behind)


@alternative(divmod)
def quotient_and_remainder(x, y):
    return x // y, x % y


# ---------------------------------------------------------------- reductions


@rrule(sum)
def _(iterable, start=0):
    y = sum(iterable, start)

    def pullback(y_bar):
        return thunk(lambda: sum_bar(y_bar, iterable, start)), thunk(lambda: sum_start_bar(y_bar, start))

    return y, pullback


@frule(sum)
def _(iterable, start=0, *, iterable_dot, start_dot):
    y = sum(iterable, start)
    return y, sum_dot(y, iterable, start, iterable_dot, start_dot)


@rrule(max)
def _(*args, key=None):
    y = max(*args, key=key)

    def pullback(y_bar):
        return (thunk(lambda: extremum_bars(y_bar, y, args)),)

    return y, pullback


@frule(max)
def _(*args, key=None, args_dot):
    y = max(*args, key=key)
    return y, extremum_dot(y, args, args_dot)


@rrule(min)
def _(*args, key=None):
    y = min(*args, key=key)

    def pullback(y_bar):
        return (thunk(lambda: extremum_bars(y_bar, y, args)),)

    return y, pullback


@frule(min)
def _(*args, key=None, args_dot):
    y = min(*args, key=key)
    return y, extremum_dot(y, args, args_dot)


@alternative(max, keywords=("default",))
def largest(iterable, *, key=None, default):
    found = list(iterable)
    return max(found, key=key) if found else default


@alternative(min, keywords=("default",))
def smallest(iterable, *, key=None, default):
    found = list(iterable)
    return min(found, key=key) if found else default


@alternative(max, keywords=("key",), mode=FRULE)  # the keys are asked once, in the half that computes values
def largest_by(*args, key):
    elements = list(args[0]) if len(args) == 1 else args
    return elements[place_by(max, elements, key)]


@alternative(min, keywords=("key",), mode=FRULE)
def smallest_by(*args, key):
    elements = list(args[0]) if len(args) == 1 else args
    return elements[place_by(min, elements, key)]


KEYED[largest_by], KEYED[smallest_by] = keyed.largest_by, keyed.smallest_by
non_differentiable(place_by)


# ---------------------------------------------------------------- containers


@rrule(list)
def _(iterable=()):
    y = list(iterable)

    def pullback(y_bar):
        return (thunk(lambda: elements_bar(y_bar, iterable)),)

    return y, pullback


@frule(list)
def _(iterable=(), *, iterable_dot):
    y = list(iterable)
    return y, elements_dot(iterable_dot, iterable, y)


@rrule(collections.deque)
def _(iterable=(), maxlen=None):
    y = collections.deque(iterable, maxlen)

    def pullback(y_bar):
        return thunk(lambda: elements_bar(last_bar(y_bar, iterable, y), iterable)), NoTangent()

    return y, pullback


@frule(collections.deque)
def _(iterable=(), maxlen=None, *, iterable_dot):
    y = collections.deque(iterable, maxlen)
    return y, last_of(elements_dot(iterable_dot, iterable, y), maxlen)


@rrule(tuple)
def _(iterable=()):
    y = tuple(iterable)

    def pullback(y_bar):
        return (thunk(lambda: elements_bar(y_bar, iterable)),)

    return y, pullback


@frule(tuple)
def _(iterable=(), *, iterable_dot):
    y = tuple(iterable)
    return y, tuple(elements_dot(iterable_dot, iterable, y))


@rrule(dict)
def _(mapping=()):
    y = dict(mapping)

    def pullback(y_bar):
        return (thunk(lambda: dict_bar(y_bar, mapping)),)

    return y, pullback


@frule(dict)
def _(mapping=(), *, mapping_dot):
    return dict(mapping), dict_dot(mapping_dot, mapping)


@rrule(reversed)
def _(sequence):
    y = list(reversed(sequence))

    def pullback(y_bar):
        return (thunk(lambda: elements_bar(y_bar[::-1], sequence)),)

    return y, pullback


@frule(reversed)
def _(sequence, *, sequence_dot):
    return list(reversed(sequence)), elements_dot(sequence_dot, sequence)[::-1]


@rrule(enumerate)
def _(iterable, start=0):
    y = list(enumerate(iterable, start))

    def pullback(y_bar):
        return thunk(lambda: enumerate_bar(y_bar, iterable)), NoTangent()

    return y, pullback


@frule(enumerate)
def _(iterable, start=0, *, iterable_dot):
    return list(enumerate(iterable, start)), enumerate_dot(iterable_dot, iterable)


@rrule(zip)
def _(*iterables, strict=False):
    y = list(zip(*iterables, strict=strict))

    def pullback(y_bar):
        return (thunk(lambda: zip_bars(y_bar, iterables)),)

    return y, pullback


@frule(zip)
def _(*iterables, strict=False, iterables_dot):
    return list(zip(*iterables, strict=strict)), zip_dot(iterables_dot, iterables)


@rrule(sorted)
def _(iterable, *, key=None, reverse=False):
    order = sorted_order(iterable, key, reverse)
    y = ordered(iterable, order)

    def pullback(y_bar):
        return (thunk(lambda: sorted_bar(y_bar, iterable, order)),)

    return y, pullback


@frule(sorted)
def _(iterable, *, key=None, reverse=False, iterable_dot):
    order = sorted_order(iterable, key, reverse)
    y = ordered(iterable, order)
    return y, ordered(elements_dot(iterable_dot, iterable), order)


non_differentiable(place_of, sorted_order)


@rrule(ordered)
def _(iterable, order):
    def pullback(y_bar):
        return thunk(lambda: sorted_bar(y_bar, iterable, order)), NoTangent()

    return ordered(iterable, order), pullback


@frule(ordered)
def _(iterable, order, *, iterable_dot):
    return ordered(iterable, order), ordered(elements_dot(iterable_dot, iterable), order)


# ---------------------------------------------------------------- functions of functions


@alternative(map)
def apply_to_each(function, *iterables):
    return [function(*items) for items in zip(*iterables)]


@alternative(filter)
def keep_where(function, iterable):
    return [item for item in iterable if (item if function is None else function(item))]


@alternative(functools.reduce)
def fold(function, iterable, *initial):
    items = list(iterable)
    if initial:
        total = initial[0]
        rest = items
    else:
        if len(items) == 0:
            raise TypeError("reduce() of empty iterable with no initial value")
        total = items[0]
        rest = items[1:]
    for item in rest:
        total = function(total, item)
    return total
