"""Kinds of the objects that stand for variables."""

from __future__ import annotations

from typing import TypeGuard

from thunkad.kinds.lattice import Instance, Kind
from thunkad.runtime.cells import Cell
from thunkad.runtime.variables import Outside, Variable


def is_variable(kind: Kind | None) -> TypeGuard[Instance]:
    """Whether this is the kind of an object for a variable."""
    return isinstance(kind, Instance) and issubclass(kind.cls, (Cell, Variable))


def is_shared(kind: Kind | None) -> TypeGuard[Instance]:
    """Whether this is the kind of the object for a variable that functions share."""
    return isinstance(kind, Instance) and issubclass(kind.cls, Variable)


def is_outside(kind: Kind | None) -> TypeGuard[Instance]:
    """Whether this is the kind of the object for all that is followed from outside."""
    return isinstance(kind, Instance) and issubclass(kind.cls, Outside)
