"""Kinds in words, for reports and printed stages."""

from __future__ import annotations

import types
from typing import Any

from thunkad.kinds.lattice import Instance, Kind, Known, Lifted, Mapping, Method, Num, Opaque, Partial, Sequence, Tuple

_PYTHON = {"bool": "bool", "int": "int", "real": "float", "complex": "complex", "any": "Python number"}


def describe(kind: Kind) -> str:
    """``real array``, ``float``, ``tuple[float, real array]``, …"""
    if isinstance(kind, Num):
        if kind.form == "python":
            return _PYTHON[kind.field]
        form = "number or array" if kind.form == "any" else "NumPy scalar" if kind.form == "scalar" else kind.form
        return form if kind.field == "any" else f"{kind.field} {form}"
    if isinstance(kind, Known):
        return _known(kind.value)
    if isinstance(kind, Opaque):
        return kind.cls.__name__
    if isinstance(kind, Tuple):
        return f"{kind.cls.__name__}[{', '.join(map(describe, kind.items))}]"
    if isinstance(kind, Sequence):
        return f"{kind.cls.__name__}[{'' if kind.item is None else describe(kind.item)}]"
    if isinstance(kind, Mapping):
        if kind.entries is not None:
            return "{" + ", ".join(f"{k!r}: {describe(v)}" for k, v in kind.entries) + "}"
        return f"dict[{'' if kind.value is None else describe(kind.value)}]"
    if isinstance(kind, Instance):
        return kind.cls.__name__
    if isinstance(kind, Method):
        return f"method {getattr(kind.function, '__name__', '?')}"
    if isinstance(kind, Partial):
        return f"partial of {describe(kind.function)}"
    if isinstance(kind, Lifted):
        return f"function {kind.closure.function.name}"
    return "unknown"


def _known(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    text = repr(value)
    return text if len(text) <= 40 else type(value).__name__
