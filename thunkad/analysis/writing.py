"""Which calls of library functions write into an argument, and which argument it is."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from thunkad.analysis.sites import Site
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import Num
from thunkad.lifetimes import remembered
from thunkad.runtime.containers import CONTAINERS, SETS
from thunkad.source.origin import library_of

#: Methods that change their owner.
MUTATING_METHODS = frozenset(
    "append appendleft extend extendleft insert pop popleft remove rotate sort reverse clear update setdefault popitem "
    "move_to_end fill put partition itemset resize "
    "add discard setfield setflags byteswap".split()
)
#: What to write instead of putting a value into an object that nothing follows.
LOOKED_AT = "put stop_gradient(value) there if it is only looked at, else into a list that the function makes"
#: Functions that write into their first argument.
WRITING_FUNCTIONS = frozenset(("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "shuffle"))

#: Functions that move values into an array: their parameters, the first of which is the array; ``=`` marks the values.
MOVERS: dict[Any, tuple[str, ...]] = {
    np.put: ("a", "ind", "=v", "mode"),
    np.place: ("arr", "mask", "=vals"),
    np.putmask: ("a", "mask", "=values"),
    np.copyto: ("dst", "=src", "casting", "where"),
    np.fill_diagonal: ("a", "=val", "wrap"),
    np.put_along_axis: ("arr", "indices", "=values", "axis"),
}


@remembered
def out_position(fn: Any) -> int | None:
    """The place at which ``fn`` takes ``out`` by position, or None."""
    if isinstance(fn, np.ufunc):
        return fn.nin
    if fn in (np.dot, np.ndarray.dot):
        return 2
    name = getattr(fn, "__name__", "")
    if getattr(fn, "__objclass__", None) is np.ndarray:
        fn = getattr(np, name, None)  # the method has the parameters of the function
    text = getattr(fn, "__text_signature__", None)
    if text is not None and "out" not in text:
        return None  # reading it takes a tokenizer
    try:
        parameters = list(inspect.signature(fn).parameters.values()) if fn is not None else []
    except (TypeError, ValueError):
        return None
    for k, p in enumerate(parameters):
        if p.name == "out":
            return k if p.kind is p.POSITIONAL_OR_KEYWORD else None
    return None


#: What is refused where starred arguments reach the place of ``out``.
STARRED_OUT = "a call with starred arguments, of which one may be out=,"


def out_operands(site: Site | None, e: n.Call) -> tuple[n.Expr, ...]:
    """What a call is given as ``out``."""
    found = tuple(v for k, v in e.kwargs if k == "out")
    if found or site is None or not is_numpy(site.callee):
        return found
    place = out_position(site.callee)
    return () if place is None else site.args[place : place + getattr(site.callee, "nout", 1)]


#: The dispatchers of changes that are decided when the code runs, with the places of what they change.
_DISPATCHED = {
    "Pull.update": (1,), "Pull.update_entry": (1,), "Pull.update_attribute": (1,), "Pull.change": (0,),
    "Push.update": (1, 2), "Push.update_entry": (1, 2), "Push.update_attribute": (1, 2), "Push.change": (0, 1),
}  # fmt: skip


def dispatched_writes(site: Site | None) -> tuple[n.Expr, ...]:
    """What generated code changes through the run-time dispatch, in such code that is differentiated again."""
    if site is None:
        return ()
    name = _dispatcher(site)
    if name.startswith(("SharedPull.", "SharedPush.")):
        return (*site.args, *(v for _, v in site.kwargs))
    return tuple(site.args[k] for k in _DISPATCHED.get(name, ()) if k < len(site.args))


def is_shared_dispatch(site: Site) -> bool:
    """Whether a call goes to a callee, found when the code runs, that may put what it is given into one another."""
    return _dispatcher(site).startswith(("SharedPull.", "SharedPush."))


def _dispatcher(site: Site) -> str:
    fn = getattr(site.callee, "value", site.callee)
    return getattr(getattr(fn, "__func__", None), "__qualname__", "")


def first_is_written(site: Site | None, e: n.Call) -> n.Expr | None:
    """The argument that a function such as ``np.copyto`` writes into, or the owner of a method that changes it."""
    if site is not None and site.callee is setattr and len(site.args) == 3:
        return site.args[0]
    if type(e.func) is n.Attr:
        name = e.func.name
        if name in MUTATING_METHODS and not (site is not None and is_numpy(site.callee) and not is_method(site)):
            return e.func.value
        known = site is not None and site.how not in ("dynamic", "missing")
        if name in WRITING_FUNCTIONS or (name == "at" and not known):
            return e.args[0] if e.args else next((v for k, v in e.kwargs if k in ("dst", "a", "arr")), None)
        return None
    if (
        site is not None
        and is_numpy(site.callee)
        and getattr(site.callee, "__name__", "") in (*WRITING_FUNCTIONS, "at")
    ):
        return site.args[0] if site.args else next((v for _, v in site.kwargs), None)
    return None


def writes(site: Site | None, e: n.Call) -> bool:
    """Whether a call writes into memory that it is given."""
    return bool(out_operands(site, e)) or first_is_written(site, e) is not None or bool(dispatched_writes(site))


def is_method(site: Site) -> bool:
    """Whether the callee is a method of an array, its owner the first argument."""
    return getattr(site.callee, "__objclass__", None) is np.ndarray or (
        bool(site.kinds) and not isinstance(site.kinds[0], Num)
    )


def is_product(site: Site) -> bool:
    """Whether a call of ``np.einsum`` surely has more than one operand, so that its result is no view of one."""
    first = site.args[0] if site.args else None
    return type(first) is n.Const and isinstance(first.value, str) and "," in first.value


def is_numpy(fn: Any) -> bool:
    return isinstance(fn, np.ufunc) or isinstance(getattr(fn, "__self__", None), np.ufunc) or library_of(fn) == "numpy"


def outlives(site: Site) -> bool:
    """Whether a method of a list, dict or the like is called, whose owner no variable of the function holds."""
    owner = getattr(site.callee, "__objclass__", None) or type(getattr(site.callee, "__self__", None))
    return owner in (*CONTAINERS, *SETS) and not (site.args and type(site.args[0]) is n.Name)
