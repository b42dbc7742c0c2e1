"""From a user's call of ``jvp`` to the compiled function and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.compiled import entry
from thunkad.errors import ArgumentError, NonDifferentiableArgumentError
from thunkad.kinds.lattice import Known, Opaque, may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.runtime.dots import outward, tangent_for
from thunkad.tangents import ZERO, AbstractZero


def jvp(f: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """See :func:`thunkad.jvp`."""
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise ArgumentError("jvp(f, primals, tangents): primals and tangents are tuples, one entry for each argument")
    if len(primals) != len(tangents):
        raise ArgumentError(f"jvp: {len(primals)} primals and {len(tangents)} tangents")
    call = entry.open_call(f, tuple(primals), {})
    by_name = dict(zip(call.names, call.values))
    dots: dict[str, Any] = {}
    for k, ((name, inside), primal, tangent) in enumerate(zip(call.positional, primals, tangents)):
        dot = tangent_for(tangent, primal, f"argument {k}")
        if isinstance(dot, AbstractZero):
            continue
        kind = kind_of(primal)
        if not may_have_tangent(kind) or isinstance(kind, (Known, Opaque)):
            raise NonDifferentiableArgumentError(
                f"argument {k} can't have a tangent: it is of type {type(primal).__name__}"
            )
        if inside is None:
            dots[name] = dot
        else:
            parts = dots.setdefault(name, [ZERO] * len(by_name[name]))
            parts[inside] = dot
    wanted = tuple(name for name in call.names if name in dots)
    specialization, _ = entry.specialize(call, "jvp", [(name, None) for name in wanted], False, False, call.kinds())
    passed = (tuple(dots[name]) if isinstance(by_name[name], tuple) else dots[name] for name in wanted)
    value, value_dot = entry.run(specialization, (*call.values, *passed))
    return value, outward(value_dot, value)
