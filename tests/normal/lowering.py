"""Programs given as text, run by Python and by the interpreter of the intermediate representation."""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from thunkad.errors import Place
from thunkad.ir import nodes as n
from thunkad.normal.lower import lower
from thunkad.tree.parse import deep_recursion, gast

from ir_exec import run


@dataclass
class TextSource:
    """A stand-in for :class:`thunkad.source.functions.Source`: the last function of a text."""

    text: str
    filename: str = "program.py"
    function: Any = None

    def __post_init__(self) -> None:
        with deep_recursion():
            self.node = gast.parse(self.text).body[-1]
        self.name = self.node.name

    def place(self, lineno: int) -> Place:
        return Place(self.filename, lineno, self.text.splitlines()[lineno - 1])


def lowered(text: str) -> n.Function:
    return lower(TextSource(textwrap.dedent(text)))


def namespace_of(text: str, log: list[Any]) -> dict[str, Any]:
    """What ``text`` defines; ``say(x)`` and ``print`` write to ``log``."""

    def say(x: Any) -> Any:
        log.append(copy.deepcopy(x))
        return x

    namespace: dict[str, Any] = {"say": say, "print": lambda *a: log.append(a), "np": np}
    exec(compile(textwrap.dedent(text), "program.py", "exec"), namespace)
    return namespace


def outcome(f: Callable[..., Any], args: tuple[Any, ...], log: list[Any], given: int) -> tuple[Any, ...]:
    """What a call does: its result or exception, what it has said, and what became of the arguments given to it."""
    args = copy.deepcopy(args)
    try:
        value = f(*args)
        result: Any = ("returned", value)
    except Exception as error:
        result = ("raised", type(error), "" if isinstance(error, (NameError, TypeError)) else str(error))
    return result, list(log), args[:given]


def behaviour(text: str, args: tuple[Any, ...], change: Callable[[n.Function], n.Function] | None) -> Any:
    """The outcome of the last function of ``text``: by Python, or if ``change`` is given lowered and changed by it."""
    log: list[Any] = []
    namespace = namespace_of(text, log)
    source = TextSource(textwrap.dedent(text))
    f = namespace[source.name]
    if change is None:
        return outcome(f, args, log, len(args))
    function = change(lower(source))
    missing = f.__code__.co_argcount - len(args)
    filled = (*args, *f.__defaults__[-missing:]) if missing > 0 else args
    return outcome(lambda *a: run(function, a, f.__kwdefaults__, namespace), filled, log, len(args))


def same(a: Any, b: Any) -> bool:
    """Equality that knows arrays, NaN and functions."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, float) and a != a:
        return b != b
    return bool(a == b)
