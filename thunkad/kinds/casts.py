"""The kind of a call of one of NumPy's scalar types."""

from __future__ import annotations

from thunkad.kinds.lattice import PY_INT, Kind, Num


def real_type(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    """``np.float64(x)``: a number from a number, an array from an array (or from a list)."""
    a = args[0] if args else PY_INT
    if isinstance(a, Num) and a.form == "array":
        return Num("array", "real", a.ndim)
    return Num("scalar" if isinstance(a, Num) and a.is_scalar else "any", "real")
