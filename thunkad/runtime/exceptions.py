"""What lowered ``try`` and ``with`` statements ask at run time."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from thunkad.errors import ThunkadError, UnsupportedSyntaxError


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


def entered(manager: Any) -> Any:
    """The same for a manager of the library's, of which no derivative is known."""
    value = enter(manager)
    if isinstance(value, (float, complex, np.ndarray, np.generic)):
        raise UnsupportedSyntaxError(
            f"the value of the context manager {type(manager).__name__}, which is known only at run time, is used",
            hint="compute the value outside of the 'with' statement, or write the manager as a class",
        )
    return value


def leave(manager: Any, kind: Any, error: BaseException | None, traceback: Any) -> Any:
    """End the block of ``manager``; whether it swallows ``error``."""
    return type(manager).__exit__(manager, kind, error, traceback)


def shown(error: BaseException) -> BaseException:
    """The exception itself, of which only is seen that it was raised."""
    return error


def traceback_of(error: BaseException) -> Any:
    return error.__traceback__


def attempt(fn: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, BaseException | None]:
    """The result of a call and None, or None and what it raises."""
    try:
        return fn(*args, **kwargs), None
    except ThunkadError:
        raise
    except BaseException as error:
        return None, error


def paired(fn: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, None]:
    """The outcome of a call that raises nothing that has to be followed."""
    return fn(*args, **kwargs), None


def paired_one(fn: Any, x: Any) -> tuple[Any, None]:
    """The same for one operand, so that it is known what is called."""
    return fn(x), None


def paired_two(fn: Any, x: Any, y: Any) -> tuple[Any, None]:
    """The same for two operands."""
    return fn(x, y), None


def paired_for(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The one of these functions for a function and its arguments."""
    return paired if kwargs else {2: paired_one, 3: paired_two}.get(len(args), paired)


def operated(direct: Any, reflected: Any, /, *operands: Any) -> tuple[Any, BaseException | None]:
    """The outcome of an operator: of the method that is tried first, or of the one of the right operand."""
    if direct is not None:
        value, error = attempt(direct, *operands)
        if error is not None or reflected is None or value is not NotImplemented:
            return value, error
    return attempt(reflected, operands[1], operands[0])


def got(function: Any, names: Any, x: Any, name: str) -> tuple[Any, BaseException | None]:
    """The outcome of ``getattr(x, name)``, which ``function`` computes; it is given ``names``, too."""
    return attempt(function, x, *names)


def put(function: Any, x: Any, name: str, value: Any) -> tuple[Any, BaseException | None]:
    """The outcome of ``setattr(x, name, value)``, which ``function`` does."""
    return attempt(function, x, value)


def told(error: Any, *cause: Any) -> BaseException:
    """The exception that ``raise error`` (``from cause``) raises, with its traceback."""
    try:
        if cause:
            raise error from cause[0]
        raise error
    except BaseException as raised:
        return raised


def held_by(error: BaseException) -> dict[str, Any]:
    """What an exception holds that is not in its dictionary."""
    held: dict[str, Any] = {"args": error.args}
    if error.__cause__ is not None:
        held["__cause__"] = error.__cause__
    if isinstance(error, StopIteration):
        held["value"] = error.value
    return held


def are_exceptions(*values: Any) -> bool:
    """Whether all of these are exceptions, no classes of such."""
    return all(isinstance(x, BaseException) for x in values)


def note(raised: list[BaseException], error: BaseException) -> None:
    """Hand over what a function raised to its caller."""
    raised.append(error)


def raise_noted(raised: list[BaseException]) -> None:
    """Raise what a function has handed over."""
    if raised:
        raise raised.pop()


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
