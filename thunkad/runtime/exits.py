"""``contextlib.ExitStack`` as a class that the compiler looks into."""

from __future__ import annotations

from typing import Any

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.exceptions import enter, leave


class Managing:
    """What leaves a context manager."""

    def __init__(self, manager: Any) -> None:
        self.manager = manager

    def leaves(self, kind: Any, error: Any, traceback: Any) -> Any:
        return leave(self.manager, kind, error, traceback)


class Calling:
    """A function that is called when the block is left."""

    def __init__(self, function: Any, args: Any, kwargs: Any) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs

    def leaves(self, kind: Any, error: Any, traceback: Any) -> Any:
        self.function(*self.args, **self.kwargs)
        return False


class Telling:
    """A function that is told of what has been raised."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def leaves(self, kind: Any, error: Any, traceback: Any) -> Any:
        return self.function(kind, error, traceback)


class Exits:
    """See the module's docstring."""

    def __init__(self) -> None:
        self.exits: list[Any] = []

    def enter_context(self, cm: Any) -> Any:
        value = enter(cm)
        self.exits.append(Managing(cm))
        return value

    def push(self, exit: Any) -> Any:
        self.exits.append(Managing(exit) if hasattr(type(exit), "__exit__") else Telling(exit))
        return exit

    def callback(self, callback: Any, /, *args: Any, **kwds: Any) -> Any:
        self.exits.append(Calling(callback, args, kwds))
        return callback

    def pop_all(self) -> Any:
        other = Exits()
        other.exits, self.exits = self.exits, []
        return other

    def close(self) -> None:
        self.__exit__(None, None, None)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        swallowed = False
        while self.exits:
            last = self.exits.pop()
            try:
                done = last.leaves(kind, error, traceback)
            except BaseException:
                if self.exits:
                    raise unfinished() from None
                raise
            if done:
                swallowed, kind, error, traceback = True, None, None, None
        return swallowed and error is None


def unfinished() -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        "an exception that is raised while a contextlib.ExitStack is left, which has more to leave, is not followed",
        hint="write nested 'with' statements",
    )
