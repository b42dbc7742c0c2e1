"""What lowered ``try`` and ``with`` statements ask at run time."""

from __future__ import annotations

from typing import Any, Literal

from thunkad.errors import UnsupportedSyntaxError


def matches(error: BaseException, types: Any) -> bool:
    """Whether ``except types`` catches ``error``."""
    kinds = types if isinstance(types, tuple) else (types,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    mro = type(error).__mro__
    return any(kind in mro for kind in kinds)


def enter(manager: Any) -> Any:
    """What ``with manager as`` binds."""
    return type(manager).__enter__(manager)


def leave(manager: Any, error: BaseException | None) -> bool:
    """End the block of ``manager``; whether it swallows ``error``."""
    if error is None:
        type(manager).__exit__(manager, None, None, None)
        return True
    return bool(type(manager).__exit__(manager, type(error), error, error.__traceback__))


class Unswallowing:
    """A context manager whose ``with`` block always goes on as the derivative assumes: an exception leaves it.

    Parameters
    ----------
    manager : context manager
        The user's.
    """

    __slots__ = ("manager",)

    def __init__(self, manager: Any) -> None:
        self.manager = manager

    def __enter__(self) -> Any:
        return enter(self.manager)

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> Literal[False]:
        if type(self.manager).__exit__(self.manager, kind, error, traceback) and error is not None:
            name = type(self.manager).__name__
            raise UnsupportedSyntaxError(
                f"the context manager {name} swallowed {error!r}, which can't be differentiated",
                hint="use 'try' and 'except' or contextlib.suppress() for what may be raised in the block",
            ) from error
        return False
