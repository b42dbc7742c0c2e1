"""Tangent types: thunks, zeros, and structural tangents."""

from __future__ import annotations

import linecache
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

from thunkad.errors import NotImplementedDerivativeError, Place


class AbstractZero:
    """What :class:`ZeroTangent` and :class:`NoTangent` share: neutral for ``+``, absorbing for linear operations."""

    __slots__ = ()
    __iter__ = None  # it has no length; `__getitem__` below would go on for ever
    __array_ufunc__ = None  # an array on the left hands the operation to the methods below

    def __add__(self, other: Any) -> Any:
        return other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return -other

    def __rsub__(self, other: Any) -> Any:
        return other

    def _absorb(self, *_: Any) -> Any:
        return self

    __mul__ = __rmul__ = __truediv__ = __matmul__ = __rmatmul__ = __getitem__ = _absorb
    __neg__ = __pos__ = conj = conjugate = _absorb

    @property
    def T(self) -> Any:
        return self

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> Any:
        return type(self), ()


class ZeroTangent(AbstractZero):
    """The tangent of what nothing depends on (or that depends on nothing): zero without a shape.  A singleton."""

    __slots__ = ()
    _instance: ZeroTangent | None = None

    def __new__(cls) -> ZeroTangent:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance


class NoTangent(AbstractZero):
    """The tangent of a value that can't be perturbed: a string, a flag, an index.  A singleton."""

    __slots__ = ()
    _instance: NoTangent | None = None

    def __new__(cls) -> NoTangent:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __add__(self, other: Any) -> Any:
        return self if isinstance(other, ZeroTangent) else other

    __radd__ = __add__


ZERO: Final = ZeroTangent()
NO_TANGENT: Final = NoTangent()


def _place_of(frame: FrameType) -> Place:
    """Where ``frame`` stands: the line of the rule that says that it has no derivative."""
    filename, line = frame.f_code.co_filename, frame.f_lineno
    return Place(filename, line, linecache.getline(filename, line))


#: What NumPy says of the shape of a number.
_OF_A_NUMBER: dict[str, Any] = {"shape": (), "ndim": 0, "size": 1, "iscomplexobj": False}


class NotImplementedTangent:
    """A derivative that its rule does not implement: silent until it is demanded, then an error with ``reason``.

    What is computed from it is it again; only a product with a structural zero is zero.
    """

    __slots__ = ("place", "reason")

    def __init__(self, reason: str, place: Place | None = None) -> None:
        self.reason, self.place = reason, place or _place_of(sys._getframe(1))

    def demand(self) -> Any:
        raise NotImplementedDerivativeError(self.reason, self.place if self.place.line else None)

    def __iter__(self) -> Iterator[Any]:
        self.demand()
        return iter(())

    def _poison(self, *_: Any) -> Any:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __neg__ = __pos__ = __truediv__ = __getitem__ = _poison
    __matmul__ = __rmatmul__ = _poison

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return self

    def __array_function__(self, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _OF_A_NUMBER.get(fn.__name__, self)

    @property
    def T(self) -> Any:
        return self

    def __mul__(self, other: Any) -> Any:
        return other if isinstance(other, AbstractZero) else self

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"NotImplementedTangent({self.reason!r})"


class Thunk:
    """A value computed when it is first read, once.

    The function is dropped after it ran, so what it captured can be freed; an error that it raised is raised again at
    every later reading.  Two threads that read at once evaluate once.  To code that does not know thunks it behaves as
    its value: operators, indexing, iteration and NumPy functions force it.
    """

    __slots__ = ("_compute", "_error", "_lock", "_value")

    def __init__(self, compute: Callable[[], Any]) -> None:
        self._compute: Callable[[], Any] | None = compute
        self._lock = threading.RLock()
        self._value: Any = None
        self._error: BaseException | None = None

    @property
    def forced(self) -> bool:
        """Whether the computation has run."""
        return self._compute is None

    def force(self) -> Any:
        """The value, with nested thunks resolved."""
        if self._compute is not None:
            with self._lock:
                if self._compute is not None:
                    try:
                        self._value = unthunk(self._compute())
                    except Exception as error:
                        self._error = error
                    self._compute = None
        if self._error is not None:
            raise self._error
        return self._value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy as np

        return np.array(self.force(), dtype=dtype, copy=copy) if copy else np.asarray(self.force(), dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        values = [unthunk(x) for x in inputs]
        if method == "__call__" and any(isinstance(x, AbstractZero) for x in values):
            return _of_zeros(ufunc, values, **kwargs)
        return getattr(ufunc, method)(*values, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func(*_unthunk_inside(args), **_unthunk_inside(kwargs))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.force(), name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._value!r})" if self.forced else f"{type(self).__name__}(<not forced>)"


def _of_zeros(ufunc: Any, values: list[Any], out: Any = (None,), **kwargs: Any) -> Any:
    """What an operator that NumPy took for its own gives where thunks turn out to be zero tangents."""
    import operator

    names = {"subtract": "sub", "multiply": "mul", "divide": "truediv", "negative": "neg"}
    of_python = getattr(operator, names.get(ufunc.__name__, ufunc.__name__), None)
    if of_python is None or kwargs:
        return ufunc(*values, out=out, **kwargs)  # which says what is wrong
    found = of_python(*values)
    if out[0] is None:
        return found
    if found is not out[0]:
        out[0][...] = 0 if isinstance(found, AbstractZero) else found
    return out[0]


def _unthunk_inside(x: Any) -> Any:
    if isinstance(x, Thunk):
        return x.force()
    if type(x) in (tuple, list):
        return type(x)(_unthunk_inside(v) for v in x)
    if type(x) is dict:
        return {k: _unthunk_inside(v) for k, v in x.items()}
    return x


def _forward_specials() -> None:
    import math
    import operator

    def unary(op: Callable[[Any], Any]) -> Callable[[Thunk], Any]:
        return lambda self: op(self.force())

    def binary(op: Callable[[Any, Any], Any]) -> Callable[[Thunk, Any], Any]:
        return lambda self, other: op(self.force(), unthunk(other))

    def with_option(op: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, *option: op(self.force(), *option)

    def reflected(op: Callable[[Any, Any], Any]) -> Callable[[Thunk, Any], Any]:
        return lambda self, other: op(unthunk(other), self.force())

    for name in ("neg", "pos", "abs", "invert"):
        setattr(Thunk, f"__{name}__", unary(getattr(operator, f"__{name}__")))
    for name, op in (
        ("len", len),
        ("iter", iter),
        ("float", float),
        ("int", int),
        ("complex", complex),
        ("bool", bool),
        ("index", operator.index),
        ("trunc", math.trunc),
        ("floor", math.floor),
        ("ceil", math.ceil),
        ("reversed", reversed),
    ):
        setattr(Thunk, f"__{name}__", unary(op))
    setattr(Thunk, "__round__", with_option(round))
    setattr(Thunk, "__format__", with_option(format))
    for name in ("lt", "le", "gt", "ge", "eq", "ne", "getitem", "contains"):
        setattr(Thunk, f"__{name}__", binary(getattr(operator, f"__{name}__")))
    arithmetic = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "divmod")
    for name in (*arithmetic, "and", "or", "xor", "lshift", "rshift"):
        of_two: Callable[[Any, Any], Any] = divmod if name == "divmod" else getattr(operator, f"__{name}__")
        setattr(Thunk, f"__{name}__", binary(of_two))
        setattr(Thunk, f"__r{name}__", reflected(of_two))
    setattr(Thunk, "__hash__", object.__hash__)


class InplaceableThunk(Thunk):
    """A thunk that can also add its value into a buffer.

    Parameters
    ----------
    value : callable
        Computes the value.
    add : callable
        ``add(buffer)`` adds the value into ``buffer`` in place and returns ``buffer``.
    """

    __slots__ = ("add",)

    def __init__(self, value: Callable[[], Any], add: Callable[[Any], Any]) -> None:
        super().__init__(value)
        self.add = add


def thunk(compute: Callable[[], Any]) -> Thunk:
    """A :class:`Thunk` of ``compute``: how a rule hands out a cotangent that may not be needed."""
    return Thunk(compute)


def unthunk(x: Any) -> Any:
    """The value of ``x`` if it is a thunk, else ``x`` itself."""
    while isinstance(x, Thunk):
        x = x.force()
    return x


def resolved(x: Any) -> Any:
    """``x`` with every thunk in it forced, inside tuples, lists, dicts, object arrays and structural tangents too."""
    x = unthunk(x)
    if type(x) in (float, int):
        return x
    if isinstance(x, tuple):
        new = tuple(map(resolved, tuple.__iter__(x)))
        if all(a is b for a, b in zip(new, tuple.__iter__(x))) and type(x) is not LazyTuple:
            return x
        return type(x)(*new) if hasattr(x, "_fields") else new
    if type(x) is list:
        return [resolved(v) for v in x]
    if type(x) is dict:
        return {k: resolved(v) for k, v in x.items()}
    if isinstance(x, Tangent):
        return Tangent(x.cls, {k: resolved(v) for k, v in x.fields.items()})
    if getattr(getattr(x, "dtype", None), "kind", "") == "O" and hasattr(x, "flat"):
        out = x.copy()
        for k, v in enumerate(x.flat):
            out.flat[k] = resolved(v)
        return out
    return x


class Tangent:
    """The tangent of a structured value: one entry per field, missing fields are zero.

    Parameters
    ----------
    cls : type
        The class of the primal.
    fields : dict
        Tangents by field name.
    """

    __slots__ = ("cls", "fields")

    def __init__(self, cls: type, fields: dict[str, Any] | None = None, **more: Any) -> None:
        self.cls = cls
        self.fields: dict[str, Any] = {**(fields or {}), **more}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return unthunk(self.fields.get(name, ZERO))

    def __getitem__(self, name: str) -> Any:
        return unthunk(self.fields.get(name, ZERO))

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tangent) or other.cls is not self.cls:
            return NotImplemented
        import numpy as np

        keys = {*self.fields, *other.fields}
        return all(np.array_equal(_as_number(self[k]), _as_number(other[k])) for k in keys)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={v!r}" for k, v in self.fields.items())
        return f"Tangent({self.cls.__name__}, {inside})" if inside else f"Tangent({self.cls.__name__})"


def _as_number(x: Any) -> Any:
    return 0.0 if isinstance(x, AbstractZero) else x


class LazyTuple(tuple):  # type: ignore[type-arg]
    """What the pullback of ``vjp`` returns: an entry is computed when it is first read."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return tuple(map(unthunk, found)) if isinstance(key, slice) else unthunk(found)

    def __iter__(self) -> Iterator[Any]:
        return map(unthunk, tuple.__iter__(self))

    def __eq__(self, other: object) -> bool:
        return tuple(self) == other

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        shown = (repr(x) if not isinstance(x, Thunk) or x.forced else "<not computed>" for x in tuple.__iter__(self))
        return f"LazyTuple({', '.join(shown)})"

    def __reduce__(self) -> Any:
        return tuple, (list(self),)


_forward_specials()
