"""A generated module with a header of imports and data, so that it runs by itself."""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from thunkad.emit.module import Emitted
from thunkad.ir.fresh import Names
from thunkad.normal.suspended_class import class_of
from thunkad.records import record
from thunkad.runtime.suspended import Suspended

_SMALL = 100  # elements of data that are written out
_NUMBERS = {"bool", "float16", "float32", "float64", "complex64", "complex128"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_MISSING = object()
_WIDTH = 100


@record(frozen=True)
class Written:
    """Objects without a name of their own: ``id`` to the arguments of ``make`` that returns the object."""

    arguments: Mapping[int, tuple[Any, int]]
    make: Any


def standalone(
    emitted: Emitted,
    globals_of: Mapping[str, Any] | None = None,
    module: str | None = None,
    written: Written | None = None,
) -> str:
    """The text of ``emitted`` after everything that it refers to.

    Parameters
    ----------
    emitted : Emitted
        The generated module.
    globals_of : mapping, optional
        What the user's globals and closure variables are bound to.
    module : str, optional
        Name of the module in which the user's function stands.
    written : Written, optional
        How to come by objects that can't be imported (rules that are called as they stand).

    Returns
    -------
    str
        Python source: imports, data, remarks on what can't be written down, functions.
    """
    header = _Header(emitted, globals_of or {}, written)
    for name, value in emitted.refs.items():
        header.define(name, value, None)
    for name in emitted.globals:
        value = (globals_of or {}).get(name, _MISSING)
        if value is _MISSING:
            if not hasattr(builtins, name):
                header.missing(name)
        else:
            header.define(name, value, module)
    return header.text() + emitted.text


class _Header:
    def __init__(self, emitted: Emitted, globals_of: Mapping[str, Any], written: Written | None) -> None:
        self._written = written
        self._imports: set[str] = set()
        self._data: list[str] = []
        self._remarks: list[str] = []
        self._fetched: dict[tuple[str, str], str] = {}
        self._names = Names((*emitted.refs, *emitted.globals, *emitted.functions))
        self._numpy: str | None = None
        for name in (*emitted.refs, *emitted.globals):
            if emitted.refs.get(name, globals_of.get(name)) is np:
                self._numpy = self._numpy or name

    def define(self, name: str, value: Any, users_module: str | None) -> None:
        """Make ``name`` stand for ``value``."""
        if getattr(builtins, name, _MISSING) is value:
            return
        if isinstance(value, ModuleType):
            self._import_module(name, value)
            return
        home = self._home(value, name, users_module)
        if home is not None:
            module, path = home
            top, *rest = path.split(".")
            if rest:  # a nested name: import its outermost owner and take the attribute
                self._data.append(f"{name} = {self._imported(value, users_module)}")
            else:
                self._imports.add(_import_from(module, top, name))
            return
        text = self._literal(value) or self._call(value, users_module)
        if text is None:
            self.missing(name)
        else:
            self._data.append(f"{name} = {text}")

    def _call(self, value: Any, users_module: str | None) -> str | None:
        """The call that returns ``value``."""
        if isinstance(value, type) and issubclass(value, Suspended) and value.generator is not None:
            found = self._imported(value.generator, users_module)
            return None if found is None else f"{self._imported(class_of, users_module)}({found})"
        if self._written is None or id(value) not in self._written.arguments:
            return None
        target, place = self._written.arguments[id(value)]
        found = self._imported(target, users_module)
        make = None if found is None else self._imported(self._written.make, users_module)
        return None if make is None else f"{make}({found}{f', {place}' if place else ''})"

    def _imported(self, value: Any, users_module: str | None) -> str | None:
        """An expression for ``value``, imported under a new name."""
        wish = getattr(value, "__name__", "")
        if getattr(builtins, wish, _MISSING) is value:
            return str(wish)
        home = self._home(value, wish, users_module)
        if home is None:
            return None
        module, path = home
        top, *rest = path.split(".")
        known = self._fetched.get((module, top))
        if known is None:
            known = self._fetched[module, top] = self._names.new("_" + top.strip("_"))
            self._imports.add(_import_from(module, top, known))
        return ".".join((known, *rest))

    def missing(self, name: str) -> None:
        """Say that ``name`` can't be written down."""
        self._remarks.append(f"# {name}: must be defined here")

    def text(self) -> str:
        """The header, ending in two blank lines, or nothing."""
        parts = [_grouped(self._imports), self._data, self._remarks]
        blocks = ["\n".join(p) for p in parts if p]
        return "\n\n".join(blocks) + "\n\n\n" if blocks else ""

    def _import_module(self, name: str, module: ModuleType) -> None:
        full = module.__name__
        if sys.modules.get(full) is not module or full == "__main__":
            self.missing(name)
        elif full == name:
            self._imports.add(f"import {full}")
        else:
            self._imports.add(f"import {full} as {name}")

    def _home(self, value: Any, name: str, users_module: str | None) -> tuple[str, str] | None:
        """(module, dotted name) under which ``value`` can be imported."""
        own = getattr(value, "__name__", None)
        path = getattr(value, "__qualname__", own)
        candidates = [(getattr(value, "__module__", None), path)]
        candidates.append((type(value).__module__, name))  # an object that its class's module keeps, such as ZERO
        owner = getattr(value, "__objclass__", None)
        if isinstance(owner, type):  # a method of a built-in class
            candidates.append((owner.__module__, f"{owner.__qualname__}.{own}"))
        candidates.append(("numpy", "_NoValue"))
        if isinstance(value, np.ufunc):
            candidates.append(("numpy", own))
            candidates.append(("scipy.special", own))
        candidates.append((users_module, name))
        for module, where in candidates:
            if isinstance(module, str) and isinstance(where, str) and _importable(module, where, value):
                return module, where
        return None

    def _literal(self, value: Any) -> str | None:
        if isinstance(value, np.ndarray) and type(value) is np.ndarray and value.size <= _SMALL:
            if value.dtype.name in _NUMBERS and value.dtype.isnative and np.all(np.isfinite(value)):
                if value.size or value.ndim == 1:  # the shape of other empty arrays is not in the list
                    return f"{self._numpy_name()}.array({value.tolist()!r}, dtype={value.dtype.name!r})"
            return None
        if isinstance(value, np.generic):
            if value.dtype.name in _NUMBERS and np.isfinite(value):
                return f"{self._numpy_name()}.{value.dtype.type.__name__}({value.item()!r})"
            return None
        return _plain(value)

    def _numpy_name(self) -> str:
        if self._numpy is None:
            self._numpy = self._names.new("numpy")
            self._import_module(self._numpy, np)
        return self._numpy


def _grouped(imports: set[str]) -> list[str]:
    """Import statements in order, one for each module that names are imported from."""
    whole = sorted(line for line in imports if not line.startswith("from "))
    names: dict[str, list[str]] = {}
    for line in sorted(imports.difference(whole)):
        module, name = line.removeprefix("from ").split(" import ")
        names.setdefault(module, []).append(name)
    for module, wanted in names.items():
        line = f"from {module} import {', '.join(wanted)}"
        if len(line) > _WIDTH:
            line = f"from {module} import (\n    " + ",\n    ".join(wanted) + ",\n)"
        whole.append(line)
    return whole


def _plain(value: Any, depth: int = 5) -> str | None:
    """The literal of ``value`` if it has one that evaluates to an equal object."""
    t = type(value)
    if t in (int, bool, str, bytes, type(None)):
        text = repr(value)
        return text if len(text) <= 2000 else None
    if value is Ellipsis:
        return "..."
    if t is float:
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    if t is complex:
        return f"complex({_plain(value.real)}, {_plain(value.imag)})"
    if depth and t in (tuple, list) and len(value) <= _SMALL:
        items = [_plain(v, depth - 1) for v in value]
        if any(i is None for i in items):
            return None
        inside = ", ".join(i for i in items if i is not None)
        return f"[{inside}]" if t is list else f"({inside},)" if len(items) == 1 else f"({inside})"
    if depth and t is dict and len(value) <= _SMALL:
        pairs = [(_plain(k, depth - 1), _plain(v, depth - 1)) for k, v in value.items()]
        if any(k is None or v is None for k, v in pairs):
            return None
        return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
    return None


def _importable(module: str, path: str, value: Any) -> bool:
    if module == "__main__":  # another one when the text is run
        return False
    found: Any = sys.modules.get(module)
    if found is None or getattr(found, "__spec__", None) is None:
        return False
    for part in path.split("."):
        found = getattr(found, part, _MISSING)
    return found is value


def _import_from(module: str, name: str, printed: str) -> str:
    return f"from {module} import {name}" + ("" if name == printed else f" as {printed}")
