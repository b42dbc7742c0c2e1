"""Generators as objects: what the classes that :mod:`thunkad.normal.suspended` writes have in common."""

from __future__ import annotations

import types
from typing import Any, Literal

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.iterators import EXHAUSTED, drawn


def ended(it: Suspended) -> StopIteration:
    """What ``next`` raises when ``it`` is over."""
    return StopIteration() if it.result is None else StopIteration(it.result)


class Suspended:
    """A generator whose variables are attributes, so that it is an object like any other to the compiler.

    A class for one generator function has a method ``resumed(sent)``: it goes on until the next ``yield`` and returns
    the value, or ``EXHAUSTED``.

    Attributes
    ----------
    at : int
        The number of the ``yield`` where it is suspended; 1 before it has begun, 0 while it runs and when it is over.
    result : object
        What it returned.
    cleans_up : bool
        Whether something is to be done if it is left for good.
    generator : function
        The generator function; None for one that is made inside another function.
    """

    at: int
    result: Any = None
    cleans_up = False
    watched = False
    generator: Any = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What a program that asks for it takes it for."""
        return types.GeneratorType

    def __iter__(self) -> Any:
        return self

    def resumed(self, sent: Any) -> Any:
        """The next value, or ``EXHAUSTED``; ``sent`` is the value of the ``yield`` where it goes on."""
        raise NotImplementedError

    def __next__(self) -> Any:
        item = self.resumed(None)
        if item is EXHAUSTED:
            raise ended(self)
        return item

    def send(self, value: Any) -> Any:
        if value is not None and self.at == 1:
            raise TypeError("can't send non-None value to a just-started generator")
        item = self.resumed(value)
        if item is EXHAUSTED:
            raise ended(self)
        return item

    def close(self) -> None:
        self.at = 0


def watch(it: Suspended) -> None:
    """Note that it is known where ``it`` is left for good."""
    it.watched = True


def begun(it: Suspended) -> None:
    """Refuse a generator that has something to do when it is left for good, if nobody knows where that is."""
    if not it.watched:
        raise _left(it, "is made by a function that is found only when the code runs, or handed on by one")


def settled(it: Suspended) -> None:
    """Refuse such a generator if it is left half-way where others may refer to it; who begins it later watches it."""
    it.watched = it.watched and it.at != 1
    if it.at > 1:
        raise _left(it, "is left half-way, and not closed, where something else may refer to it")


def _left(it: Suspended, why: str) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"the generator {type(it).__name__}, which has a 'finally', a 'with' or the like around a 'yield', {why}; when "
        "that is run is not known then",
        hint="close it (contextlib.closing), or keep it in one variable of the function that makes it",
    )


class CLOSING:
    """What a generator that is closed is sent."""


class Closing(Suspended):
    """A generator that has something to do when it is left for good.

    Attributes
    ----------
    watched : bool
        Whether it is known where that is.
    """

    cleans_up = True
    watched = False

    def close(self) -> None:
        if self.at == 1:
            self.at = 0
        try:
            item = self.resumed(CLOSING)
        except GeneratorExit:
            item = EXHAUSTED
        if item is not EXHAUSTED:
            raise RuntimeError("generator ignored GeneratorExit")


class Thrown:
    """What a generator is sent that is to raise an exception where it is."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Managed(Suspended):
    """A generator that is the context manager that ``contextlib.contextmanager`` makes of it.

    Attributes
    ----------
    catches : bool
        Whether it may deal with an exception that leaves the ``with`` block.
    """

    catches = False

    def __enter__(self) -> Any:
        item = self.resumed(None)
        if item is EXHAUSTED:
            raise RuntimeError("generator didn't yield")
        return item

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:  # type: ignore[exit-return]
        if kind is not None:
            self.at = 0
        elif self.resumed(None) is not EXHAUSTED:
            raise RuntimeError("generator didn't stop")
        return False

    def __call__(self, function: Any) -> Any:
        raise UnsupportedSyntaxError(
            f"the context manager {type(self).__name__} is used as a decorator, which is not differentiated",
            hint="write a 'with' statement inside the function",
        )


class Catching(Managed):
    """One that may deal with such an exception: it is raised where the generator is."""

    catches = True

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        if kind is None:
            if self.resumed(None) is not EXHAUSTED:
                raise RuntimeError("generator didn't stop")
            return False
        try:
            item = self.resumed(Thrown(error))
        except BaseException as raised:
            if raised is error:
                return False
            raise
        if item is not EXHAUSTED:
            raise RuntimeError("generator didn't stop after throw()")
        return True


class ManagedBy:
    """A context manager made of a generator that others may use, too: nothing is to be done when that is left."""

    def __init__(self, it: Any) -> None:
        self.it = it

    def __enter__(self) -> Any:
        item = drawn(self.it)
        if item is EXHAUSTED:
            raise RuntimeError("generator didn't yield")
        return item

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Literal[False]:
        if kind is None and drawn(self.it) is not EXHAUSTED:
            raise RuntimeError("generator didn't stop")
        return False


def managed(it: Any) -> Any:
    """The context manager of a generator."""
    return it if isinstance(it, Managed) else ManagedBy(it)


def managing(function: Any) -> Any:
    """``contextlib.contextmanager`` inside differentiated code."""

    def manager(*args: Any, **kwargs: Any) -> Any:
        return managed(function(*args, **kwargs))

    return manager


def resumed(it: Suspended) -> Any:
    """:func:`thunkad.runtime.iterators.drawn` of a generator."""
    return it.resumed(None)


def resumed_or(it: Suspended, default: Any) -> Any:
    """``next(it, default)``"""
    item = it.resumed(None)
    return default if item is EXHAUSTED else item


class Plain(Suspended):
    """A generator that runs as it stands."""

    def __init__(self, it: Any) -> None:
        self.it, self.result = it, None

    def resumed(self, sent: Any) -> Any:
        try:
            return self.it.send(sent)
        except StopIteration as end:
            self.result = end.value
            return EXHAUSTED


def delegated(over: Any) -> Any:
    """``iter(over)`` for a ``yield from`` whose value is used."""
    it = iter(over)
    return Plain(it) if isinstance(it, types.GeneratorType) else it


def itself(it: Suspended) -> Any:
    """:func:`delegated` of a generator."""
    return it


def handed(it: Any, sent: Any) -> Any:
    """The next item of what a ``yield from`` is at, or ``EXHAUSTED``."""
    if isinstance(it, Suspended):
        return it.resumed(sent)
    return drawn(it) if sent is None else it.send(sent)


def resumed_with(it: Suspended, sent: Any) -> Any:
    """:func:`handed` of a generator."""
    return it.resumed(sent)


def returned(it: Any) -> Any:
    """The value of a ``yield from`` that is over."""
    return it.result if isinstance(it, Suspended) else None


def result_of(it: Suspended) -> Any:
    """:func:`returned` of a generator."""
    return it.result
