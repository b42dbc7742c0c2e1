"""The text of the module that a function was made from, and its parse, kept for the next function of that module."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from types import FunctionType

from thunkad.records import record
from thunkad.source.locate import imported_names
from thunkad.tree.parse import parse_module

KEPT = 32


@record(frozen=True, eq=False)
class ParsedModule:
    """``tree`` is shared by all who ask: it must not be changed."""

    filename: str
    lines: tuple[str, ...]
    tree: ast.Module
    imported: tuple[str, ...]


_lock = threading.Lock()
_parsed: OrderedDict[tuple[str, str], ParsedModule] = OrderedDict()


def texts_of(fn: FunctionType) -> Iterator[tuple[str, str]]:
    """``(filename, text)`` of whatever may be the source of ``fn``, likeliest first, without repetition.

    What ``linecache`` holds comes first: notebooks, doctests and generated code put their text there.  It may be older
    than the code (a module that was reloaded), so the file as it is now comes next; then ``__file__``, for a relative
    file name and a changed working directory.
    """
    filename, namespace = fn.__code__.co_filename, fn.__globals__
    seen = set()
    text = "".join(linecache.getlines(filename, namespace))
    if text:
        seen.add(text)
        yield filename, text
    if os.path.exists(filename):  # otherwise checkcache might drop an entry that nobody can make again
        linecache.checkcache(filename)
        text = "".join(linecache.getlines(filename, namespace))
        if text and text not in seen:
            seen.add(text)
            yield filename, text
    module_file = namespace.get("__file__")
    if isinstance(module_file, str) and module_file != filename:
        if os.path.basename(module_file) == os.path.basename(filename):
            text = "".join(linecache.getlines(module_file))
            if text and text not in seen:
                yield module_file, text


def parsed(filename: str, text: str) -> ParsedModule:
    """The parse of ``text``; from the cache if it was parsed lately.

    Raises
    ------
    SyntaxError, ValueError, RecursionError
        As :func:`ast.parse`.
    """
    key = filename, text
    with _lock:
        found = _parsed.get(key)
        if found is not None:
            _parsed.move_to_end(key)
            return found
    tree = parse_module(text, filename)
    module = ParsedModule(filename, _lines(text), tree, imported_names(tree))
    with _lock:
        module = _parsed.setdefault(key, module)
        while len(_parsed) > KEPT:
            _parsed.popitem(last=False)
    return module


def parsed_around(filename: str, text: str, line: int) -> ParsedModule:
    """The parse of the outermost statement that ``line`` is in, at its own lines, for text in this library's style.

    Where no statement can be cut out, the whole text.
    """
    lines = _lines(text)
    start = line
    while start > 1 and not lines[start - 1][:1].isidentifier() and lines[start - 1][:1] != "@":
        start -= 1
    end = start
    if lines[start - 1].startswith("@"):
        while end < len(lines) and not lines[end].startswith(("def ", "class ")):
            end += 1
        end += 1
    while end < len(lines) and (not lines[end] or lines[end][0] in " )]}#"):
        end += 1
    try:
        tree = parse_module("\n" * (start - 1) + "\n".join(lines[start - 1 : end]), filename)
    except SyntaxError:
        return parsed(filename, text)
    return ParsedModule(filename, lines, tree, ())


@functools.lru_cache(KEPT)
def _lines(text: str) -> tuple[str, ...]:
    # at "\n" only: str.splitlines also splits at form feeds, where Python counts no line
    return tuple(text.split("\n"))
