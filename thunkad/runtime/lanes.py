"""Many tangents at once: a linear map run for a stack of directions, whose lanes are the first axis of every array.

The code of a linear map is run with :class:`Stack` in place of each tangent.  Arithmetic, products and NumPy's
reductions work on whole stacks; any other function is applied lane by lane, so nothing has to be known of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.lib.stride_tricks import as_strided

from thunkad.tangents import AbstractZero, Tangent, Thunk


class NotStackable(Exception):
    """What was asked of a stack makes sense for one lane only."""


_BASIC = (int, np.integer, slice, type(Ellipsis), type(None))
_OF_SHAPE = {np.shape: "shape", np.ndim: "ndim", np.size: "size"}


class Stack(NDArrayOperatorsMixin):
    """Arrays or numbers of one shape, along the first axis of ``data``; to what reads it, one of them."""

    __slots__ = ("data",)  # setting any other attribute is an error

    def __init__(self, data: np.ndarray) -> None:
        self.data = data

    @property
    def lanes(self) -> int:
        return len(self.data)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape[1:]

    @property
    def ndim(self) -> int:
        return self.data.ndim - 1

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    @property
    def T(self) -> Stack:
        return Stack(np.transpose(self.data, (0, *range(self.data.ndim - 1, 0, -1))))

    @property
    def real(self) -> Stack:
        return Stack(self.data.real)

    @real.setter
    def real(self, value: Any) -> None:
        self.data.real = aligned(value, self.data.ndim)

    @property
    def imag(self) -> Stack:
        return Stack(self.data.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.data.imag = aligned(value, self.data.ndim)

    def __len__(self) -> int:
        if not self.shape:
            raise NotStackable("the length of a number")
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def _refused(self, *_: Any, **__: Any) -> Any:
        raise NotStackable("the value of a tangent")

    __array__ = __bool__ = __float__ = __int__ = __complex__ = __index__ = _refused
    __hash__ = None  # type: ignore[assignment]

    # ------------------------------------------------------------ parts

    def place(self, key: Any) -> tuple[Any, ...]:
        """The index of ``data`` that ``key`` is in every lane."""
        parts = key if isinstance(key, tuple) else (key,)
        one_array = len(parts) == 1 and isinstance(parts[0], (list, np.ndarray))
        if not one_array and not all(isinstance(p, _BASIC) and not isinstance(p, bool) for p in parts):
            raise NotStackable("an index of several arrays")
        return (slice(None), *parts)

    def __getitem__(self, key: Any) -> Stack:
        place = self.place(key)
        found = self.data[place]
        is_number = found.ndim == 1 and not any(p is Ellipsis for p in place)  # which is no view
        return Stack(found.copy() if is_number else found)

    def __setitem__(self, key: Any, value: Any) -> None:
        place = self.place(key)
        self.data[place] = aligned(value, self.data[place].ndim)

    # ------------------------------------------------------------ NumPy's functions

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if method == "__call__" and ufunc is np.matmul and out is None and not kwargs:
            found = _product(*inputs)
            return each(np.matmul, inputs, {}) if found is None else Stack(found)
        if method == "__call__" and ufunc.signature is None and not kwargs:
            axes = max(_axes(x) for x in inputs)
            found = ufunc(*(aligned(x, axes) for x in inputs))
            if out is None:
                return tuple(map(Stack, found)) if isinstance(found, tuple) else Stack(found)
            if len(out) != 1 or not isinstance(out[0], Stack) or out[0].data.shape != found.shape:
                raise NotStackable("an array that holds one lane is changed")
            out[0].data[...] = found
            return out[0]
        if method == "reduce" and out is None and len(inputs) == 1 and kwargs.keys() <= {"axis", "keepdims"}:
            return Stack(ufunc.reduce(self.data, axis=self._axis(kwargs.get("axis", 0)), **_only(kwargs, "keepdims")))
        if out is not None or method == "at":
            raise NotStackable("an array that holds one lane is changed")
        return each(getattr(ufunc, method), inputs, kwargs)

    def _axis(self, axis: Any) -> tuple[int, ...]:
        """The axes of ``data`` that are these of a lane."""
        if axis is None:
            return tuple(range(1, self.data.ndim))
        return tuple(k % self.ndim + 1 for k in (axis if isinstance(axis, tuple) else (axis,)))

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if func in _OF_SHAPE and len(args) == 1 and not kwargs:
            return getattr(self, _OF_SHAPE[func])
        if func is np.sum and len(args) == 1 and isinstance(args[0], Stack) and kwargs.keys() <= {"axis", "keepdims"}:
            return np.add.reduce(args[0], **{"axis": None, **kwargs})
        return each(func, args, kwargs)


def _only(kwargs: dict[str, Any], *names: str) -> dict[str, Any]:
    return {k: v for k, v in kwargs.items() if k in names}


def _axes(x: Any) -> int:
    """The number of axes of one lane, and one more for that of the lanes."""
    return x.data.ndim if isinstance(x, Stack) else np.ndim(x) + 1


def aligned(x: Any, axes: int) -> Any:
    """What broadcasts like ``x`` in every lane, beside stacks with ``axes`` axes."""
    if not isinstance(x, Stack):
        return x
    missing = axes - x.data.ndim
    if missing < 0:
        raise NotStackable("a part of an array takes one with more axes")
    return x.data if not missing else x.data.reshape((x.lanes, *(1,) * missing, *x.shape))


def _product(a: Any, b: Any) -> Any:
    """The matrix product of a stack and an array, all lanes at once; None for other operands."""
    if isinstance(a, Stack) and isinstance(b, np.ndarray):
        if a.ndim == 2 and b.ndim == 2:
            return a.data @ b
        if a.ndim == 1 and b.ndim <= 2:
            return a.data @ b
        return a.data @ b if a.ndim == 2 and b.ndim == 1 else None
    if isinstance(b, Stack) and isinstance(a, np.ndarray):
        if b.ndim == 2 and a.ndim <= 2:
            return a @ b.data
        return b.data @ a.T if b.ndim == 1 and a.ndim <= 2 else None
    return None


# ---------------------------------------------------------------- lane by lane


def each(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """``function`` applied to every lane of what is stacked in its arguments, the results stacked again."""
    stacks = list(_stacks((args, kwargs)))
    if not stacks:
        return function(*args, **kwargs)
    args, kwargs = _frozen(args), _frozen(kwargs)
    found = [function(*_lane(args, k), **_lane(kwargs, k)) for k in range(stacks[0].lanes)]
    return stacked(found, [x.data for x in stacks])


def _stacks(x: Any) -> Iterator[Stack]:
    if isinstance(x, Stack):
        yield x
    elif isinstance(x, Tangent):
        yield from _stacks(x.fields)
    elif isinstance(x, dict):
        for v in x.values():
            yield from _stacks(v)
    elif isinstance(x, (list, tuple)):
        for v in x:
            yield from _stacks(v)
    elif isinstance(x, Thunk):
        raise NotStackable("a value that is computed later")


def _frozen(x: Any) -> Any:
    """The same where arrays that hold one lane can't be changed: that would be done once for each of them."""
    if isinstance(x, np.ndarray):
        x = x.view()
        x.flags.writeable = False
    elif type(x) is dict:
        return {key: _frozen(v) for key, v in x.items()}
    elif type(x) in (list, tuple):
        return type(x)(map(_frozen, x))
    return x


def _lane(x: Any, k: int) -> Any:
    """Lane ``k`` of what may hold stacks."""
    if isinstance(x, Stack):
        return x.data[k]
    if isinstance(x, Tangent):
        return Tangent(x.cls, _lane(x.fields, k))
    if type(x) is dict:
        return {key: _lane(v, k) for key, v in x.items()}
    if type(x) in (list, tuple):
        return type(x)(_lane(v, k) for v in x)
    if isinstance(x, tuple):
        return type(x)(*(_lane(v, k) for v in x)) if hasattr(x, "_fields") else x
    return x


def stacked(found: list[Any], given: list[np.ndarray]) -> Any:
    """One value for the results of all lanes; a view of what was ``given`` if each is one of its lane."""
    first = found[0]
    if isinstance(first, (np.ndarray, np.generic, float, int, complex)) and not isinstance(first, bool):
        if any(np.shape(x) != np.shape(first) or isinstance(x, AbstractZero) for x in found):
            raise NotStackable("lanes of several shapes")
        owner = next((data for data in given if _shares(first, data)), None)
        return Stack(np.stack([np.asarray(x) for x in found]) if owner is None else _view(found, owner))
    if isinstance(first, Tangent):
        fields = {k: stacked([x.fields[k] for x in found], given) for k in first.fields}
        return Tangent(first.cls, fields)
    if type(first) is dict:
        return {k: stacked([x[k] for x in found], given) for k in first}
    if type(first) in (list, tuple):
        return type(first)(stacked(list(parts), given) for parts in zip(*found, strict=True))
    if all(x is first for x in found):
        return first
    raise NotStackable(f"a tangent of type {type(first).__name__}")


def _shares(x: Any, data: np.ndarray) -> bool:
    return isinstance(x, np.ndarray) and np.may_share_memory(x, data)


def _view(found: list[np.ndarray], data: np.ndarray) -> np.ndarray:
    """Views of the lanes of ``data`` as one view of it, so that a change of the one is a change of the other."""
    first, step = found[0], data.strides[0]
    start = _address(first)
    if any(x.strides != first.strides or _address(x) != start + k * step for k, x in enumerate(found)):
        raise NotStackable("views that differ from lane to lane")
    return as_strided(first, (len(found), *first.shape), (step, *first.strides))


def _address(x: np.ndarray) -> int:
    return int(x.__array_interface__["data"][0])
