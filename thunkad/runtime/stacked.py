"""Helpers of generated code on stacks of lanes as a whole, where they would otherwise be called for each lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.runtime import arrays, cotangents, products, uniform
from thunkad.runtime.accumulate import accumulate, is_buffer
from thunkad.runtime.complex import real_part
from thunkad.runtime.lanes import NotStackable, Stack, aligned, each
from thunkad.tangents import AbstractZero


def whole(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """``function`` of what is stacked in its arguments, at once if that is known how, else lane by lane."""
    form = _FORMS.get(function) if args else None
    if form is not None and not isinstance(args[0], Stack):
        form = None
        if function in _IN_PLACE and isinstance(args[0], np.ndarray) and any(isinstance(a, Stack) for a in args):
            raise NotStackable("an array that holds one lane is changed")
    found = None if form is None else form(*args, **kwargs)
    return each(function, args, kwargs) if found is None else found


def _accumulate(x_bar: Stack, more: Any) -> Any:
    if not isinstance(more, (Stack, np.ndarray)) or np.shape(more) != x_bar.shape:
        return None
    given = more.data if isinstance(more, Stack) else more
    if x_bar.shape and is_buffer(x_bar.data) and x_bar.dtype is given.dtype:
        if not np.may_share_memory(x_bar.data, given):
            x_bar.data[...] += given
            return x_bar
    return x_bar + more


def _index_add(x_bar: Stack, index: Any, v: Any) -> Any:
    if not isinstance(v, (Stack, float)):
        return None
    place = x_bar.place(index)
    part = aligned(v, x_bar.data[place].ndim)
    if any(isinstance(p, (list, np.ndarray)) for p in place):
        np.add.at(x_bar.data, place, part)
    else:
        x_bar.data[place] += part
    return x_bar


def _expand(t_bar: Stack, x: Any, axis: Any = None, keepdims: Any = False, where: Any = True, dtype: Any = None) -> Any:
    if where is not True or dtype is not None:
        return None
    shape, data = np.shape(x), t_bar.data
    if not keepdims and axis is None:
        data = data.reshape((t_bar.lanes, *(1,) * len(shape)))
    elif not keepdims:
        data = np.expand_dims(data, tuple(k % len(shape) + 1 for k in (axis if isinstance(axis, tuple) else (axis,))))
    return Stack(np.broadcast_to(data, (t_bar.lanes, *shape)))


def _project(x_bar: Stack, x: Any) -> Any:
    same = isinstance(x, (np.ndarray, np.generic)) and x_bar.dtype is x.dtype and x_bar.shape == x.shape
    return x_bar if same else None


def _fitted(product: Stack, y: Any, x: Any) -> Any:
    return product if product.shape == np.shape(x) == np.shape(y) else None


def _as_it_stands(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of a function that does to a stack what it does to an array, the other arguments being plain arrays."""

    def form(x: Stack, *others: Any) -> Any:
        return function(x, *others) if all(type(a) is np.ndarray for a in others) else None

    return form


#: Functions that may change their first argument.
_IN_PLACE = (accumulate, cotangents.index_add)

_FORMS: dict[Any, Callable[..., Any]] = {
    accumulate: _accumulate,
    arrays.expand: _expand,
    arrays.unbroadcast: _as_it_stands(arrays.unbroadcast),
    arrays.conjugate: _as_it_stands(arrays.conjugate),
    real_part: lambda x: None if np.iscomplexobj(x.data) else x,
    uniform.fitted: _fitted,
    cotangents.index_add: _index_add,
    cotangents.project: _project,
    products.matmul_left_bar: _as_it_stands(products.matmul_left_bar),
    products.matmul_right_bar: _as_it_stands(products.matmul_right_bar),
}


class Lanes:
    """What the stacked form of a linear map calls: helpers in every lane, and buffers of its own for each."""

    def __init__(self, count: int) -> None:
        self.count = count

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """A function of one lane, for all of them."""
        return whole(function, args, kwargs)

    def make(self, function: Callable[..., Any], *args: Any) -> Any:
        """What makes a buffer that is changed later, once for all lanes."""
        found = each(function, args, {})
        if isinstance(found, np.ndarray):
            return Stack(np.repeat(found[None], self.count, axis=0))
        if isinstance(found, (Stack, AbstractZero, float)):
            return found
        raise NotStackable("a buffer that is no array")
