"""``ad``, as a rule receives it that differentiates a function argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.compiled.dynamic import Back, entering
from thunkad.tangents import ZERO, AbstractZero, LazyTuple


class Pullback:
    """The pullback of a call that a rule made: cotangents of the positional arguments.

    ``with_callee(value_bar)`` has the cotangent of the function itself in front, for functions that carry derivatives
    of their own (closures, partials, methods).
    """

    def __init__(self, back: Back, count: int) -> None:
        self._back, self._count = back, count

    def __call__(self, value_bar: Any) -> LazyTuple:
        return LazyTuple(self._all(value_bar)[1:])

    def with_callee(self, value_bar: Any) -> LazyTuple:
        """The cotangent of the function, then those of its positional arguments."""
        return LazyTuple(self._all(value_bar))

    def _all(self, value_bar: Any) -> tuple[Any, ...]:
        value_bar = entering(self._back, value_bar)
        if isinstance(value_bar, AbstractZero):
            return (ZERO,) * (self._count + 1)
        of_callee, of_args, _ = self._back(value_bar)
        return (of_callee, *of_args)


class Handle:
    """Derivatives with the rules of the call that the rule was asked for; look-ups leave edges there."""

    def __init__(self, world: Any) -> None:
        self._world = world

    def vjp(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Pullback]:
        """The value of ``f(*args, **kwargs)`` and its :class:`Pullback`."""
        value, back = self._world.dispatch.whole(f, args, kwargs)
        return value, Pullback(back, len(args))

    def value_and_grad(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The value of ``f``, one real number, and its gradient for the first argument."""
        value, pullback = self.vjp(f, *args, **kwargs)
        return value, pullback(1.0)[0]

    def grad(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """The gradient of ``f``, whose value is one real number, for the first argument."""
        return self.value_and_grad(f, *args, **kwargs)[1]

    def jvp(
        self, f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], f_dot: Any = ZERO
    ) -> tuple[Any, Any]:
        """The value of ``f(*primals)`` and its tangent; ``f_dot`` is the tangent of ``f``, of what it captured."""
        return self._world.forwarding.dispatch.whole(f, f_dot, tuple(primals), tuple(tangents), {}, {})
