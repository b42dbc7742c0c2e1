"""Products with the Hessian: the tangent of a gradient, whose value nobody wants, for a function and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.compiled import entry
from thunkad.compiled.entrance import Entrance
from thunkad.compiled.forward import check_moving, is_empty
from thunkad.compiled.root import Kept, root_of
from thunkad.compiled.target import Target, target_of
from thunkad.runtime.dots import outward, tangent_for
from thunkad.tangents import AbstractZero

#: ``gradient(f, argnums)`` is the gradient function of ``f``.
MakeGradient = Callable[[Any, tuple[int, ...]], Callable[..., Any]]


class Curvature:
    """The long way to the compiled code for one function, number of arguments, and choice of those that move."""

    def __init__(self, gradient: Callable[..., Any], moving: tuple[int, ...], count: int) -> None:
        self.gradient, self.moving, self.count = gradient, moving, count

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.ready(args).specialization.run(args)

    def ready(self, values: tuple[Any, ...]) -> Kept:
        """The compiled code for these arguments, after which the tangents follow."""
        call = entry.open_call(self.gradient, values[: self.count], {})
        kinds = call.kinds()
        for k in self.moving:
            check_moving(values[k], kinds[k], f"argument {k}")
        return entry.specialized(call, "tangent", [(call.names[k], None) for k in self.moving], False, False, kinds)[0]


def curvature(
    f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], gradient: MakeGradient
) -> Any:
    """The products for the arguments that have tangents, as a tuple; None if this is no plain call."""
    target = target_of(f)
    moving = tuple(k for k, dot in enumerate(tangents) if dot is not None)
    dots = tuple(tangent_for(tangents[k], primals[k], f"argument {k}") for k in moving)
    if target.keywords or not moving or any(isinstance(dot, AbstractZero) or is_empty(dot) for dot in dots):
        return None
    values = (*target.before, *primals)
    found = entrance(target, tuple(k + len(target.before) for k in moving), len(values), gradient)(*values, *dots)
    return tuple(outward(dot, primals[k]) for dot, k in zip(found, moving))


def entrance(target: Target, moving: tuple[int, ...], count: int, gradient: MakeGradient) -> Callable[..., Any]:
    """The function of arguments and tangents, always the same one for a function and what moves."""
    root = root_of(target.fn)
    asked = "curvature", moving, count
    with root.lock:
        if asked not in root.entries:
            made = gradient(target.fn, moving)
            general = Curvature(made, moving, count)
            stand_in = entry.stand_in(tuple(f"x{k}" for k in range(count + len(moving))))
            root.entries[asked] = Entrance(root_of(made), 0, general, stand_in).function(())
        return root.entries[asked]  # type: ignore[no-any-return]
