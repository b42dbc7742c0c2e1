"""The kinds of calls of NumPy's scalar types, and of functions that rules declare to be numeric."""

from __future__ import annotations

from thunkad.kinds.lattice import PY_INT, Kind, Known, Num, Opaque


def real_type(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    """``np.float64(x)``: a number from a number, an array from an array (or from a list)."""
    a = args[0] if args else PY_INT
    if isinstance(a, Num) and a.form == "array":
        return Num("array", "real", a.ndim)
    return Num("scalar" if isinstance(a, Num) and a.is_scalar else "any", "real")


def any_number(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    """A function of numbers and arrays that gives one such: complex if an argument is."""
    fields = {a.field for a in (*args, *kwargs.values()) if isinstance(a, Num)}
    known = all(isinstance(a, (Num, Known, Opaque)) for a in args)
    return Num("any", "complex" if "complex" in fields else "real" if known and "any" not in fields else "any")
