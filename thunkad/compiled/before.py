"""What a function may change around it, kept: so that another run begins where the first one did."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.compiled.surroundings import free_value, is_library, read_by
from thunkad.runtime import left_behind, left_elements
from thunkad.runtime.marks import derivative_of
from thunkad.runtime.parts import fields_of

_MOST = 20000  # objects that are looked at
_MISSING = object()
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc)


class Before:
    """The variables, lists, dicts, sets, arrays and objects that ``roots`` lead to, and what is in them now."""

    def __init__(self, *roots: Any) -> None:
        self.undo: list[Callable[[], None]] = []
        self.time = left_behind.mark()
        self.seen: dict[int, Any] = {}
        left = list(roots)
        while left and len(self.seen) < _MOST:
            x = left.pop()
            if id(x) not in self.seen:
                self.seen[id(x)] = x
                left += self.parts(x)

    def restore(self) -> None:
        """Put everything back."""
        for undo in self.undo:
            undo()
        left_behind.forget_since(self.time)
        left_elements.forget_since(self.time)

    def parts(self, x: Any) -> Any:
        """Keep what ``x`` holds, which is the result."""
        if isinstance(x, types.FunctionType):
            return self.function(x)
        if isinstance(x, types.MethodType):
            return x.__func__, x.__self__
        if isinstance(x, functools.partial):
            return x.func, *x.args, *x.keywords.values()
        if isinstance(x, np.ndarray):
            self.array(x)
            return ()
        if isinstance(x, (list, tuple)):
            return self.sequence(x)
        if isinstance(x, dict):
            return self.table(x)
        if isinstance(x, set):
            now = set(x)
            self.undo.append(lambda: (x.clear(), x.update(now)) and None)  # type: ignore[func-returns-value]
            return now
        if isinstance(x, type):
            return self.attributes(x, dict(vars(x)), type.__setattr__) if not is_library(x) else ()
        if isinstance(x, _CODE) or is_library(type(x)):
            return ()
        return (type(x), *self.attributes(x, fields_of(x), object.__setattr__))

    def function(self, fn: types.FunctionType) -> Any:
        spec = derivative_of(fn)
        if spec is not None:
            return (spec.f,)
        if is_library(fn):
            return (fn.__wrapped__,) if hasattr(fn, "__wrapped__") else ()
        found = [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values(), *vars(fn).values()]
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
        for path in read_by(fn):
            name = path.removesuffix("()").partition(".")[0]
            try:
                value = free_value(fn, name)
            except KeyError:
                continue
            if isinstance(value, types.ModuleType):
                found += self.attribute_of_module(value, path)
                continue
            found.append(value)
            if name in cells:
                self.cell(cells[name], value)
            elif name in fn.__globals__:
                self.entry(fn.__globals__, name, value)
        return found

    def attribute_of_module(self, module: types.ModuleType, path: str) -> list[Any]:
        name = path.removesuffix("()").split(".")[1:2]
        if is_library(module) or not name or name[0] not in vars(module):
            return []
        value = vars(module)[name[0]]
        self.entry(vars(module), name[0], value)
        return [value]

    def cell(self, cell: types.CellType, value: Any) -> None:
        def undo() -> None:
            cell.cell_contents = value

        self.undo.append(undo)

    def entry(self, space: dict[str, Any], name: str, value: Any) -> None:
        self.undo.append(lambda: space.__setitem__(name, value))

    def array(self, x: np.ndarray) -> None:
        now = x.copy()

        def undo() -> None:
            if not np.array_equal(x, now) and x.flags.writeable:
                x[...] = now

        self.undo.append(undo)

    def sequence(self, x: Any) -> Any:
        now = list(x)
        if isinstance(x, list):

            def undo() -> None:
                x[:] = now

            self.undo.append(undo)
        return now

    def table(self, x: dict[Any, Any]) -> Any:
        now = dict(x)

        def undo() -> None:
            if x.keys() != now.keys():
                x.clear()
            x.update(now)

        self.undo.append(undo)
        return now.values()

    def attributes(self, x: Any, now: dict[str, Any], put: Callable[[Any, str, Any], None]) -> Any:
        own = {name: v for name, v in now.items() if not (name.startswith("__") and name.endswith("__"))}
        fields = now.get("__dataclass_fields__", {}) if isinstance(x, type) else {}

        def undo() -> None:
            left = dict(vars(x)) if isinstance(x, type) else fields_of(x)
            for name in left.keys() - now.keys():
                delattr(x, name)
            for name, value in own.items():
                if left.get(name, _MISSING) is not value:
                    put(x, name, value)

        self.undo.append(undo)
        return *now.values(), *(f.default_factory for f in fields.values())
