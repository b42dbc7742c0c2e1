"""Errors out of generated code: which line of the user's they belong to."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from types import TracebackType

from thunkad.compiled.load import Generated, generated


class DerivativeOf(Exception):
    """Names the user's line for an error that came out of generated code, where exceptions can't carry notes (3.10)."""


def place(error: BaseException, registry: Mapping[str, Generated] | None = None) -> tuple[str, int] | None:
    """User's (file, line) of the innermost generated frame that ``error`` passed through and whose line has one."""
    found = _innermost(error, generated if registry is None else registry)
    return None if found is None else found[0].lines.get(found[1])


def annotate(error: BaseException, registry: Mapping[str, Generated] | None = None) -> None:
    """Add a note to ``error`` that says which of the user's lines was being differentiated.

    The error keeps its type and is to be raised on; calling this at every level of nested derivatives adds one note for
    each generated frame in which an error arose, never two.
    """
    found = _innermost(error, generated if registry is None else registry)
    if found is None:
        return
    record, line = found
    note = _describe(record, line)
    if note in getattr(error, "__notes__", ()):
        return
    if hasattr(error, "add_note"):
        error.add_note(note)
        return
    try:
        error.__notes__ = [*getattr(error, "__notes__", ()), note]  # type: ignore[attr-defined]
    except AttributeError:  # an exception class with slots
        pass
    if error.__cause__ is None and not error.__suppress_context__:
        reason = DerivativeOf(note)
        reason.__context__ = error.__context__  # stays visible: the traceback shows it before the reason
        error.__cause__ = reason


def _innermost(error: BaseException, registry: Mapping[str, Generated]) -> tuple[Generated, int] | None:
    found = None
    tb: TracebackType | None = error.__traceback__
    while tb is not None:
        record = registry.get(tb.tb_frame.f_code.co_filename)
        if record is not None:
            found = record, tb.tb_lineno
        tb = tb.tb_next
    return found


def _describe(record: Generated, line: int) -> str:
    origin = record.lines.get(line)
    if origin is None:
        generated_text = "".join(record.text.splitlines()[line - 1 : line]).strip()
        return f"in the {record.label}, generated line {line}: {generated_text}"
    filename, number = origin
    text = linecache.getline(filename, number).strip()
    rule = record.rules.get(line)
    pasted = "" if rule is None else f"\nin a line pasted from the rule at {rule}"
    return f'in the {record.label}, from File "{filename}", line {number}' + (f": {text}" if text else "") + pasted
