"""What :func:`thunkad.grad` returns for a Python function: two small generated functions in front of the compiled code.

The first has the parameters of the user's function and calls ``target``.  That is the second, made for the derivative
that was last used: tests of everything that the derivative rests on, in line, and then its call.  Where a test fails,
the call takes the long way, which finds, or compiles, what fits, and puts its tests into ``target``.
"""

from __future__ import annotations

import types
import weakref
from typing import Any

from thunkad import debugging
from thunkad.compiled import policy
from thunkad.compiled.binding import Absent, Shape, bind, default_of, shape_of
from thunkad.compiled.conditions import GONE, Text, any_of
from thunkad.compiled.guards import NameGuard
from thunkad.compiled.root import Kept, Root, abstract_token
from thunkad.compiled.where import annotate
from thunkad.errors import ArgumentError
from thunkad.rules.table import TABLE


class _Missing:
    """Stands for an argument that was not passed."""

    def __repr__(self) -> str:
        return "<default>"


MISSING = _Missing()


class Entrance:
    """One derivative of one function, asked for in one way.

    Parameters
    ----------
    root : Root
    before : int
        How many leading parameters a bound method fixes.
    general : callable
        ``general(args, kwargs)`` takes the long way; ``general.ready(values)`` finds the derivative for these values of
        the parameters.
    fn : function, optional
        The Python function whose parameters are meant, where that is not the function of ``root``.
    """

    def __init__(self, root: Root, before: int, general: Any, fn: Any = None) -> None:
        self.root, self.before, self.general = root, before, general
        self.fn = root.fn if fn is None else fn
        self.shape: Shape = shape_of(self.fn)
        self.code = self.fn.__code__
        self.target = types.CellType(self.again)
        self.made: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()
        self.fast: dict[Kept, tuple[Any, Any]] = {}
        self._first = self._first_code()

    # ------------------------------------------------------------ the function that users call

    def function(self, fixed: tuple[Any, ...]) -> types.FunctionType:
        """A new function with the parameters of the user's, but those that ``fixed`` are the values of."""
        code, free, count, keywords = self._first
        known = {"target": self.target, "slow": types.CellType(self.slow), "default": types.CellType(self.default)}
        known["missing"] = types.CellType(MISSING)
        known["fixed"] = types.CellType(fixed)
        closure = tuple(known[free[v]] for v in code.co_freevars)
        made = types.FunctionType(code, globals(), "derivative", (MISSING,) * count, closure)
        made.__kwdefaults__ = dict.fromkeys(keywords, MISSING)
        self.made.add(made)
        return made

    def _first_code(self) -> tuple[types.CodeType, dict[str, str], int, tuple[str, ...]]:
        """Its code, what its free names stand for, the number of its positional parameters, its keyword-only ones."""
        shape, before = self.shape, self.before
        own = shape.positional[before:]
        taken = {*shape.names}

        def new(wish: str) -> str:
            while wish in taken:
                wish += "_"
            taken.add(wish)
            return wish

        names = {what: new(what) for what in ("target", "slow", "default", "missing", "fixed")}
        rest, more = new("rest"), new("more")
        params = [f"{p}=None" for p in own]
        only = max(0, shape.only_positional - before)
        if only:
            params.insert(only, "/")
        params += [f"*{rest}", *(f"{p}=None" for p in shape.keyword), f"**{more}"]
        everything = ", ".join((f"*{names['fixed']}", *own, *shape.keyword) if before else (*own, *shape.keyword))
        lines = [
            f"def factory({', '.join(names.values())}):",
            f"    def derivative({', '.join(params)}):",
            f"        if {rest} or {more}:",
            f"            return {names['slow']}({names['fixed']}, ({' '.join(p + ',' for p in own)}), {rest}, "
            f"({' '.join(p + ',' for p in shape.keyword)}), {more}, {names['missing']}, {names['default']})",
        ]
        for p in (*own, *shape.keyword):
            if self._has_default(p):
                lines.append(f"        if {p} is {names['missing']}: {p} = {names['default']}({p!r})")
        lines.append(f"        return {names['target']}({everything})")
        outer = compile("\n".join(lines) + "\n", "<thunkad derivative>", "exec", dont_inherit=True)
        (make,) = (c for c in outer.co_consts if isinstance(c, types.CodeType))
        (code,) = (c for c in make.co_consts if isinstance(c, types.CodeType))
        return code, {name: what for what, name in names.items()}, len(own), shape.keyword

    def _has_default(self, name: str) -> bool:
        try:
            default_of(self.fn, self.shape, name)
        except Absent:
            return False
        return True

    def default(self, name: str) -> Any:
        try:
            return default_of(self.fn, self.shape, name)
        except Absent:
            return MISSING

    # ------------------------------------------------------------ the long way

    def slow(self, fixed: Any, own: Any, rest: Any, keyword: Any, more: Any, *_: Any) -> Any:
        """A call that does not fit the parameters."""
        shape = self.shape
        self.adapt(sure=bool(rest))
        args, kwargs = as_passed(shape.positional[self.before :], own, shape.keyword, keyword)
        return self.general((*fixed, *args, *rest), {**kwargs, **more})

    def again(self, *values: Any) -> Any:
        """A call for which ``target`` does not serve: values of the parameters, in the order of the signature."""
        shape = self.shape
        if self.adapt() or any(v is MISSING for v in values):
            count = len(shape.positional)
            args, kwargs = as_passed(shape.positional, values[:count], shape.keyword, values[count:])
            values = bind(self.fn, args, kwargs)
        kept = self.general.ready(values)
        self.target.cell_contents = self.guarded(kept, values)
        try:
            return kept.specialization.run(values)
        except Exception as error:
            annotate(error)
            raise

    def adapt(self, sure: bool = False) -> bool:
        """Follow a change of the user's code: other parameters need another first function; says whether there are any.

        ``sure``: the arguments were passed in order, so that they mean the same whatever the parameters are called.
        """
        fn = self.fn
        if fn.__code__ is self.code:
            return False
        self.code = fn.__code__
        old, self.shape = self.shape, shape_of(fn)
        if self.shape == old:
            return False
        self._first = self._first_code()
        code, _, count, keywords = self._first
        for made in list(self.made):
            made.__code__, made.__defaults__ = code, (MISSING,) * count
            made.__kwdefaults__ = dict.fromkeys(keywords, MISSING)
        self.fast.clear()
        self.target.cell_contents = self.again
        if not sure and self.shape.names[: len(old.names)] != old.names:
            before, now = ", ".join(old.names), ", ".join(self.shape.names)
            raise ArgumentError(
                f"the parameters of {fn.__name__} have changed from ({before}) to ({now}) "
                "while its derivative was called",
                hint="call it again",
            )
        return True

    # ------------------------------------------------------------ the tests

    def guarded(self, kept: Kept, values: tuple[Any, ...]) -> Any:
        """The function that runs ``kept`` after testing that it still serves, for values of these types."""
        world = kept.specialization.world
        stamp = (kept.token, kept.lags, len(world.guards), tuple(map(type, values)))
        found = self.fast.get(kept)
        if found is None or found[0] != stamp:
            self.fast = {k: v for k, v in list(self.fast.items())[-15:] if k.seen is not None}
            found = self.fast[kept] = stamp, self._guarded(kept, values)
        return found[1]

    def _guarded(self, kept: Kept, values: tuple[Any, ...]) -> Any:
        special = kept.specialization
        world = special.world
        fn = self.fn
        text = Text(fn, {guard.name for guard in world.guards if isinstance(guard, NameGuard)})
        params = [text.new("p") for _ in values]
        changed, error = text.new("changed"), text.new("error")
        tests = [f"{text.ref(TABLE)}.snapshot is not {text.cell(kept.cell)}"]
        tests.append(("not " if special.key.debug else "") + f"{text.ref(debugging)}.enabled")
        tests += [text.argument(p, v, k) for p, v, k in zip(params, values, special.key.kinds)]
        tests += [text.changed(guard) for guard in world.guards]
        if kept.lags:
            tests.append(f"{text.ref(policy.current)}() != 'manual'")
        if kept.is_virtual():
            tests.append(f"{text.ref(abstract_token)}() != {text.ref(kept.token)}")
        arguments = ", ".join(params)
        call = f"{text.ref(special.call)}({arguments})"
        if world.is_dynamic:
            tests.append(f"{text.ref(world)}.late.unseen or not {text.ref(world)}.late.holds()")
            call = f"{text.ref(world.run)}({text.ref(special.call)}, ({arguments}{',' * (len(params) == 1)}))"
        lines = [
            f"    def guarded({arguments}):",
            "        try:",
            f"            {changed} = {any_of(tests)}",
            f"        except {text.ref(GONE)}:",
            f"            {changed} = True",
            f"        if {changed}:",
            f"            return {text.ref(self.again)}({arguments})",
            "        try:",
            f"            return {call}",
            f"        except {text.ref(Exception)} as {error}:",
            f"            {text.ref(annotate)}({error})",
            "            raise",
        ]
        return text.function("guarded", "\n".join(lines) + "\n")


def as_passed(
    names: tuple[str, ...], positional: Any, keyword_names: tuple[str, ...], keyword: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as a call would pass them: in order as far as they go, then by name."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for k, (name, value) in enumerate(zip(names, positional)):
        if value is not MISSING:
            if len(args) == k:
                args.append(value)
            else:
                kwargs[name] = value
    kwargs.update((p, v) for p, v in zip(keyword_names, keyword) if v is not MISSING)
    return tuple(args), kwargs
