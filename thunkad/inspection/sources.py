"""Generated source as a module of its own, and the forms of a function on its way there."""

from __future__ import annotations

from typing import Any

from thunkad import pipeline
from thunkad.compiled.build import Specialization, build, resolved_for
from thunkad.compiled.entry import ArgNames, ArgNums
from thunkad.compiled.following import built
from thunkad.compiled.printed import rule_function
from thunkad.compiled.root import Root
from thunkad.compiled.target import target_of
from thunkad.compiled.world import World, namespace_of
from thunkad.emit.module import emit
from thunkad.emit.standalone import Written, standalone
from thunkad.errors import ArgumentError
from thunkad.inspection.modules import one_module
from thunkad.inspection.requests import Request, request
from thunkad.rules.load import load_library
from thunkad.rules.table import TABLE


def adjoint_source(
    f: Any,
    argnums: ArgNums = 0,
    argnames: ArgNames = None,
    mode: str = "grad",
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
) -> str:
    """The Python source of a derivative of ``f``.

    Parameters
    ----------
    f : callable
    argnums, argnames
        The arguments to differentiate for, as for :func:`thunkad.grad`; ``vjp`` is for all of them.
    mode : {'grad', 'value_and_grad', 'vjp', 'jvp'}
    args, kwargs : optional
        Example arguments: the source for arguments of their types.  Without, that of the derivative last used; if
        there is none, that for numbers and arrays of which nothing more is known.

    Returns
    -------
    str
        A module: imports, data, functions.  Each group of lines that differentiates a line of ``f`` stands under a
        comment with that line.
    """
    wish = request(f, argnums, argnames, mode, args, kwargs)
    specialization, world = specialization_of(wish)
    owner = None if wish.key.library is not None else wish.root.fn
    return module_text(specialization, world, owner)


def specialization_of(wish: Request) -> tuple[Specialization, World]:
    """The compiled derivative; looking at one that was never used pins no rules for later."""
    load_library()
    root = wish.root
    with root.lock:
        found = root.specializations.get(wish.key)
        if found is not None:
            return found, found.world
        made = built(root.fn, wish.key, lambda: scratch_world(root))
    return made, made.world


def scratch_world(root: Root) -> World:
    """A world of its own with the rules that ``root`` is pinned to."""
    return World(root.snapshot or TABLE.snapshot, root.name)


def module_text(specialization: Specialization, world: World, owner: Any) -> str:
    """``specialization`` with the callees that were compiled for it."""
    namespace = namespace_of(owner) or {}
    functions, rules = one_module(specialization.function, world, owner)
    emitted = emit(functions, namespace, nest=True)
    return standalone(emitted, namespace, getattr(owner, "__module__", None), Written(rules, rule_function))


def show_stage(
    f: Any,
    stage: str,
    args: tuple[Any, ...] | None = None,
    argnums: ArgNums = 0,
    argnames: ArgNames = None,
    mode: str = "grad",
) -> str:
    """``f`` as it is after one stage of the compiler.

    Parameters
    ----------
    f : callable
    stage : str
        A name in :data:`thunkad.pipeline.STAGES`.
    args, argnums, argnames, mode
        As for :func:`adjoint_source`.
    """
    if stage not in pipeline.BY_NAME:
        raise ArgumentError(f"no stage {stage!r}; there are {', '.join(pipeline.BY_NAME)}")
    found: list[str] = []
    target = target_of(f)

    def watch(reached: str, form: Any) -> None:
        if reached == stage:
            found.append(pipeline.BY_NAME[stage].show(form))

    with pipeline.watching(watch):
        if pipeline.BY_NAME[stage].run is not None and not target.is_library:
            pipeline.normal_form(target.fn)
        else:
            wish = request(f, argnums, argnames, mode, args, None)
            load_library()
            world = scratch_world(wish.root)
            if stage == "resolved":
                return pipeline.BY_NAME[stage].show(resolved_for(wish.root.fn, world, wish.key))
            build(wish.root.fn, world, wish.key)
    if not found:
        raise ArgumentError(f"{target.name} has no stage {stage!r}: it is a library function, known by its rule alone")
    return found[0] if stage in (*_FRONT, "activity") else found[-1]  # callees are finished first


_FRONT = tuple(stage.name for stage in pipeline.STAGES if stage.run is not None)
