"""The stages of the compiler in order, each with a name, a meaning and a printed form.

A stage is *reached* each time something is compiled; whoever wants to see it watches: ``THUNKAD_DUMP=normal,clean``
prints those stages to stderr, :func:`thunkad.inspection.show_stage` collects one.  ``THUNKAD_CHECK=1`` checks the
normal form wherever it is handed on.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from thunkad.emit.linker import Scan
from thunkad.emit.module import emit
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.check import check_normal
from thunkad.ir.fresh import Names
from thunkad.kinds.describe import describe
from thunkad.normal.appends import plain_appends
from thunkad.normal.attempted import attempted, with_outcome
from thunkad.normal.exits import single_exit
from thunkad.normal.forward_tuples import forward_tuples
from thunkad.normal.guarded import Careful
from thunkad.normal.held_methods import called_by_name
from thunkad.normal.lower import lower
from thunkad.normal.shared_names import NOTHING, SharedNames
from thunkad.normal.versions import version
from thunkad.records import record
from thunkad.rules.entry import name_of
from thunkad.source.functions import find_source
from thunkad.tree.parse import deep_recursion, gast


@record(frozen=True)
class Stage:
    """One form of a function on its way.

    ``run`` makes it from the form of the stage before, for the stages that need nothing but the function itself; the
    later ones are reached inside :mod:`thunkad.compiled` and :mod:`thunkad.adjoint`.  ``show`` prints it.
    """

    name: str
    meaning: str
    show: Callable[[Any], str]
    run: Callable[[Any], Any] | None = None


# ---------------------------------------------------------------- printing


def _source_text(source: Any) -> str:
    node = source.node
    last = max((getattr(x, "end_lineno", None) or 0 for x in gast.walk(node)), default=source.first_line)
    return "\n".join(source.line_text(k) for k in range(source.first_line, last + 1)) + "\n"


def _ir_text(function: n.Function) -> str:
    return emit([function], {}).text


def _loose_text(function: n.Function) -> str:
    """The same before residuals are handed over: what is read without being bound comes as keyword parameters."""
    missing = [n.Param(name, "keyword") for name in Scan(function).unbound]
    return _ir_text(n.Function(function.name, function.params + missing, function.body, (), 0, function.filename))


def _tree_text(source: Any) -> str:
    return str(gast.dump(source.node, indent=2)) + "\n"


def _resolved_text(resolved: Any) -> str:
    """Normal form with a remark before each operation: what it stands for, and the kind of its result."""
    marks: dict[int, str] = {}
    for key, site in resolved.sites.items():
        rule = f"rule of {name_of(site.callee)}" if site.how == "rule" else site.how
        marks[key] = f"{rule} -> {describe(site.result)}"
    kinds = ", ".join(f"{p.name}: {describe(resolved.kind(n.Name(p.name)))}" for p in resolved.function.params)
    head: list[n.Stmt] = [n.Comment(kinds)] if kinds else []
    return _ir_text(_remarked(resolved.function, lambda s: marks.get(id(s)), head))


def _activity_text(found: tuple[Any, frozenset[str], tuple[str, ...]]) -> str:
    """Normal form with a remark before each statement that binds an active name."""
    resolved, active, wanted = found

    def remark(s: n.Stmt) -> str | None:
        names = [w for w in walk.writes(s) if w in active]
        return "active: " + ", ".join(names) if names and type(s) is not n.If else None

    return _ir_text(_remarked(resolved.function, remark, [n.Comment("wanted: " + ", ".join(wanted))]))


def _remarked(function: n.Function, remark: Callable[[n.Stmt], str | None], head: list[n.Stmt]) -> n.Function:
    def block(body: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in body:
            text = remark(s)
            if text:
                out.append(n.Comment(text))
            out.append(s if type(s) is n.Assert else walk.map_blocks(s, block))
        return out

    return n.Function(
        function.name, function.params, head + block(function.body), function.captures, function.line, function.filename
    )


# ---------------------------------------------------------------- the list


def _normal(function: n.Function, careful: Careful = False) -> n.Function:
    return plain_appends(called_by_name(forward_tuples(version(function, Names(), careful))))


STAGES = (
    Stage("source", "the text of the function, as found", _source_text, find_source),
    Stage("gast", "its syntax tree", _tree_text, lambda source: source),
    Stage("lowered", "one operation a statement", _loose_text, lower),
    Stage("exits", "one return, loops left through their stop name", _loose_text, single_exit),
    Stage("normal", "normal form: a name for each version of a variable", _ir_text, _normal),
    Stage("resolved", "what each operation stands for, and the kind of its result", _resolved_text),
    Stage("activity", "what depends on a wanted argument", _activity_text),
    Stage("adjoint", "forward and reverse code as generated", _loose_text),
    Stage("saved", "without what isn't demanded; loops hand their residuals over", _ir_text),
    Stage("clean", "what runs", _ir_text),
)
BY_NAME = {stage.name: stage for stage in STAGES}


def outcome_form(function: n.Function) -> n.Function:
    """A function made inside another one, in normal form, as one that hands over what it raises."""
    form = _normal(with_outcome(function))
    reached("normal", form)
    return form


def normal_form(fn: Any, attempt: bool = False, careful: Careful = False, shared: SharedNames = NOTHING) -> n.Function:
    """``fn`` in normal form: through every stage that needs nothing but the function.

    ``attempt``: as a function that hands over what it raises, see :mod:`thunkad.normal.attempted`; ``careful``: with
    ``try`` blocks that are right whatever the functions that they call do, see :mod:`thunkad.normal.guarded`;
    ``shared``: with variables that it shares with others in objects, see :mod:`thunkad.normal.shared_names`.
    """
    with deep_recursion():
        form = fn
        for stage in STAGES:
            if stage.run is None:
                break
            if stage.run is lower:
                form = lower(form, shared)
            else:
                form = _normal(form, careful) if stage.run is _normal else stage.run(form)
            if attempt and stage.name == "exits":
                form = attempted(form)
            reached(stage.name, form)
        return form  # type: ignore[no-any-return]


# ---------------------------------------------------------------- watching

Watcher = Callable[[str, Any], None]
_watchers: contextvars.ContextVar[tuple[Watcher, ...]] = contextvars.ContextVar("thunkad_watchers", default=())


@contextlib.contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Have ``watcher(stage, form)`` called for everything that this thread compiles meanwhile."""
    token = _watchers.set((*_watchers.get(), watcher))
    try:
        yield
    finally:
        _watchers.reset(token)


def reached(stage: str, form: Any) -> None:
    """Say that ``form`` has reached ``stage``."""
    if stage == "normal" and os.environ.get("THUNKAD_CHECK", "0") not in ("", "0"):
        check_normal(form, versioned=True)
    for watcher in _watchers.get():
        watcher(stage, form)
    wanted = os.environ.get("THUNKAD_DUMP")
    if wanted:
        dump(stage, form, wanted)


def dump(stage: str, form: Any, wanted: str) -> None:
    """Print ``form`` to stderr if ``wanted``, a list of stages with commas, names its stage (``all``: each does)."""
    names = {name.strip() for name in wanted.split(",")} - {""}
    unknown = names - set(BY_NAME) - {"all"}
    if unknown:
        raise ValueError(f"THUNKAD_DUMP: no stage {min(unknown)!r}; there are {', '.join(BY_NAME)} and all")
    if stage in names or "all" in names:
        print(f"# ---- {stage}: {name_of_form(form)}\n{BY_NAME[stage].show(form)}", file=sys.stderr)


def name_of_form(form: Any) -> str:
    """Of which function ``form`` is a form."""
    form = form[0] if isinstance(form, tuple) else form
    return str(getattr(form, "function", form).name)
