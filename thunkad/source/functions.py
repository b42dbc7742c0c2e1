"""A Python function -> the tree of its source, with the lines of its file."""

from __future__ import annotations

import copy
import os
import weakref
from types import CodeType, FunctionType
from typing import Any

from thunkad.errors import Place, SourceUnavailableError
from thunkad.records import field, record
from thunkad.source.locate import Candidate, functions
from thunkad.source.match import matching
from thunkad.source.modules import ParsedModule, parsed, parsed_around, texts_of
from thunkad.tree.parse import GastFunction, to_gast
from thunkad.tree.private import write_out_private_names


@record(frozen=True, eq=False)
class Source:
    """The source of one function.

    Attributes
    ----------
    node : gast.FunctionDef, gast.AsyncFunctionDef or gast.Lambda
        The function without its decorators.  Line numbers are those of the file; private names of a class are written
        out (``self._C__x``).  It belongs to the caller, who may change it.
    filename : str
        The file, or the name of a notebook cell.
    first_line : int
        The line of ``def`` or ``lambda``.
    name : str
        The name after ``def``; ``"<lambda>"`` for a lambda.
    function : function
        The function itself.
    """

    node: GastFunction
    filename: str
    first_line: int
    name: str
    _lines: tuple[str, ...] = field(repr=False)
    function: Any = field(default=None, repr=False)

    def line_text(self, lineno: int) -> str:
        """Line ``lineno`` of the file; empty if there is no such line."""
        return self._lines[lineno - 1] if 1 <= lineno <= len(self._lines) else ""

    def place(self, lineno: int) -> Place:
        """The position of line ``lineno``, for error messages."""
        return Place(self.filename, lineno, self.line_text(lineno))


_noted: dict[int, tuple[weakref.ref[CodeType], Source]] = {}  # by identity: equal code may stand in two files


def note_source(code: CodeType, source: Source) -> None:
    """Have ``source`` found for functions with ``code``, which the compiler made."""
    key = id(code)
    _noted[key] = weakref.ref(code, lambda _: _noted and _noted.pop(key, None)), source  # at exit it may be gone


def find_source(fn: FunctionType) -> Source:
    """The source of a Python function or lambda, verified: it compiles to the code that the function runs.

    Parameters
    ----------
    fn : function
        Its own code counts: a wrapper is not followed to what it wraps.

    Raises
    ------
    SourceUnavailableError
        There is no source (a builtin, a function made by ``exec``), or it is not the source of this function any more.
    """
    if not isinstance(fn, FunctionType):
        raise _unavailable(fn, f"it is no Python function but a '{type(fn).__name__}'", _RULE)
    code = fn.__code__
    found = _noted.get(id(code))
    if found is not None and found[0]() is code:
        noted = found[1]
        return Source(copy.deepcopy(noted.node), noted.filename, noted.first_line, noted.name, noted._lines, fn)
    failure: tuple[str, str] | None = None
    for filename, text in texts_of(fn):
        try:
            module = parsed(filename, text)
            candidate = _find(fn, module)
            if candidate is not None:
                return _source(candidate, module, fn)
            failure = failure or (_what_differs(fn, module), _CHANGED)
        except (SyntaxError, ValueError) as error:
            failure = failure or (f"'{filename}' can't be parsed any more ({error})", _CHANGED)
        except RecursionError:
            failure = ("an expression in it is nested too deeply", "Split the expression into several statements.")
    if failure is None:
        failure = (_why_no_text(code.co_filename), _NO_TEXT)
    raise _unavailable(fn, *failure)


def find_own_source(fn: FunctionType, place: int = 0) -> Source:
    """:func:`find_source` for functions of this library, whose files don't change while in use: not compiled again.

    Only the statement that the function is in is parsed.

    ``place`` says which lambda it is, counted from the left, where several begin on one line.
    """
    code = fn.__code__
    for filename, text in texts_of(fn):
        module = parsed_around(filename, text, code.co_firstlineno)
        here = [c for c in functions(module.tree, code.co_name, code.co_firstlineno) if _names_fit(c, fn)]
        here.sort(key=lambda c: c.node.col_offset)
        if len(here) == 1 or (here and place < len(here) and code.co_name == "<lambda>"):
            return _source(here[place if len(here) > 1 else 0], module, fn)
    return find_source(fn)


def _find(fn: FunctionType, module: ParsedModule) -> Candidate | None:
    code = fn.__code__
    here = list(functions(module.tree, code.co_name, code.co_firstlineno))
    if found := matching(module, here, code):
        return found
    rewriter = fn.__globals__.get("@pytest_ar")  # a test module: pytest compiles other code in place of each `assert`
    if rewriter is not None:
        if found := matching(module, here, code, rewrite=lambda tree: rewriter.rewrite_asserts(tree, b"")):
            return found
    # lines were added or taken away above it since: the same code elsewhere is the same function
    everywhere = [c for c in functions(module.tree, code.co_name) if _names_fit(c, fn)]
    return matching(module, everywhere, code) or matching(module, here, code, whole=True)


def _names_fit(candidate: Candidate, fn: FunctionType) -> bool:
    """A cheap look before compiling: as many parameters as ``fn`` has."""
    args, code = candidate.node.args, fn.__code__
    return len(args.posonlyargs) + len(args.args) == code.co_argcount and len(args.kwonlyargs) == code.co_kwonlyargcount


def _source(found: Candidate, module: ParsedModule, fn: FunctionType) -> Source:
    node = to_gast(found.node)
    if found.class_name is not None:
        write_out_private_names(node, found.class_name)
    name = getattr(found.node, "name", "<lambda>")
    return Source(node, module.filename, found.node.lineno, name, module.lines, fn)


# ---------------------------------------------------------------- messages

_RULE = "Register a rule for it with thunkad.rrule."
_NO_TEXT = "Put it in a file or a notebook cell, or register a rule for it with thunkad.rrule."
_CHANGED = "Import the module afresh or run the cell again, so that the code and its source agree."


def _unavailable(fn: Any, why: str, hint: str) -> SourceUnavailableError:
    name = getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None) or repr(fn)
    code = getattr(fn, "__code__", None)
    place = None if code is None else Place(code.co_filename, code.co_firstlineno)
    return SourceUnavailableError(f"the source of '{name}' can't be had: {why}.", place, hint)


def _why_no_text(filename: str) -> str:
    if filename.startswith("<"):
        return f"it was made by exec or typed at a prompt ('{filename}'), and its text was not kept"
    if os.path.exists(filename):
        return f"'{filename}' can't be read as text"
    return f"the file '{filename}' does not exist"


def _what_differs(fn: FunctionType, module: ParsedModule) -> str:
    code = fn.__code__
    where = f"line {code.co_firstlineno} of '{module.filename}'"
    if any(functions(module.tree, code.co_name, code.co_firstlineno)):
        return f"{where} does not compile to its code: the text was changed since, or an import hook rewrote it"
    what = "lambda" if code.co_name == "<lambda>" else f"function '{code.co_name}'"
    return f"no {what} begins at {where}: the text was changed since"
