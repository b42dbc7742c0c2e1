"""What a compiled derivative took for granted of the user's world, checked before it is used again."""

from __future__ import annotations

import types
from typing import Any

from thunkad.kinds.lattice import Kind, Known
from thunkad.kinds.observe import kind_of
from thunkad.source.names import lookup


class Guards:
    """Names, attributes and code objects that were resolved, each with what it was."""

    def __init__(self) -> None:
        self.names: dict[tuple[int, str], tuple[Any, str, Any, Kind]] = {}
        self.attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self.codes: dict[int, tuple[Any, types.CodeType]] = {}

    def name(self, owner: Any, name: str, value: Any) -> None:
        if owner is not None:
            self.names.setdefault((id(owner), name), (owner, name, value, kind_of(value)))

    def attribute(self, base: Any, name: str, value: Any) -> None:
        if isinstance(base, types.ModuleType) and base.__name__.split(".")[0] in ("numpy", "scipy", "math"):
            return
        self.attributes.setdefault((id(base), name), (base, name, value))

    def code(self, fn: Any) -> None:
        if isinstance(fn, types.FunctionType):
            self.codes.setdefault(id(fn), (fn, fn.__code__))

    def hold(self) -> bool:
        """Whether everything still is what it was."""
        for fn, code in self.codes.values():
            if fn.__code__ is not code:
                return False
        for base, name, value in self.attributes.values():
            now = getattr(base, name, None)
            if now is not value and kind_of(now) != kind_of(value):
                return False
        for owner, name, value, kind in self.names.values():
            try:
                now = lookup(owner, name)
            except KeyError:
                return False
            if now is not value and (isinstance(kind, Known) or kind_of(now) != kind):
                return False
        return True
