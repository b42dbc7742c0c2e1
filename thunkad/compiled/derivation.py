"""What a derivation is: the derivative of a function, taken inside differentiated code."""

from __future__ import annotations

from typing import Any

from thunkad.compiled.load import name_of_target
from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import UNKNOWN, Kind, Num, Tuple
from thunkad.records import record

#: A parameter, and the place in it if it is a ``*args``.
Pick = tuple[str, int | None]


@record(frozen=True, eq=False)
class Derivation:
    """The derivative of ``target`` (a Python function, an IR function, a derivation) as a function of its arguments.

    ``product``: 'grad', 'value_and_grad', 'jvp' (then the tangents of ``picks`` are further parameters), 'pull' (then a
    cotangent of the value is) or 'checkpoint'.  ``picks``: what is differentiated for, parameters or places inside a
    ``*args`` parameter.  ``owner``: the Python function whose globals an IR function reads.
    """

    target: Any
    owner: Any
    params: tuple[str, ...]  # of the target
    product: str
    picks: tuple[Pick, ...]
    single: bool = True
    has_aux: bool = False

    @property
    def __name__(self) -> str:  # type: ignore[override]
        return f"{name_of_target(self.target)}_{self.product}"

    def key(self) -> Any:
        target = self.target.key() if isinstance(self.target, Derivation) else id(self.target)
        return target, self.product, self.picks, self.single, self.has_aux

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Derivation) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    @property
    def wanted(self) -> tuple[str, ...]:
        """The parameters that are differentiated for."""
        return tuple(dict.fromkeys(p for p, _ in self.picks))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Those of the derivation: of the target, then tangents or the seed."""
        names = Names(set(self.params))
        if self.product == "jvp":
            return (*self.params, *(names.new(f"{p}_dot") for p, _ in self.picks))
        return (*self.params, names.new("value_bar")) if self.product == "pull" else self.params


@record(frozen=True)
class Made:
    """A function that was put together here, in normal form, and the Python function in whose globals it runs."""

    function: n.Function
    owner: Any


def part_kind(kind: Kind, k: int | None) -> Kind:
    if k is None:
        return kind
    return kind.items[k] if isinstance(kind, Tuple) else UNKNOWN


def tangent_kind(kind: Kind) -> Kind:
    if isinstance(kind, Num):
        field = "real" if kind.is_real else kind.field
        return Num("scalar" if kind.form == "python" else kind.form, field, kind.ndim)
    if isinstance(kind, Tuple):
        return Tuple(tuple(map(tangent_kind, kind.items)))
    return UNKNOWN
