"""Which variable a name means, and how each variable and each nested function has to be represented.

The compiler's own view of Python's scoping: one :class:`Scope` for each function, lambda and comprehension, and, for
every variable, where it is bound and read.  From these follow two decisions that lowering relies on:

inline
    a nested function that is bound once and only ever called by its name, after it was defined, is copied into its
    call sites, so captured variables are simply the variables of the enclosing function;
cells
    a variable that an escaping nested function captures and that may be rebound after the function was made lives in
    a cell, because Python looks captured variables up when the function runs, not when it is made.
"""

from __future__ import annotations

from typing import Any

from thunkad.normal.scope import Scope, Use, bind_call
from thunkad.normal.scope_walk import Walk
from thunkad.normal.shared_names import NOTHING, SharedNames
from thunkad.records import field, record

MOST_INSTANCES = 40  # copies of one nested function; beyond this it is compiled once, as a closure


@record(eq=False)
class Variable:
    owner: Scope
    name: str
    bindings: list[Use] = field(default_factory=list)
    loads: list[Use] = field(default_factory=list)


class Scopes:
    """The scopes of a function and the facts about its variables.

    Attributes
    ----------
    root : Scope
    global_names : set of str
        Names that come from outside the function.
    constant : set of (Scope, str)
        Parameters that nothing rebinds.
    """

    def __init__(self, node: Any, shared: SharedNames = NOTHING) -> None:
        walk = Walk()
        self.root = walk.function(node, None)
        self._scopes: dict[int, Scope] = walk.scopes
        self._candidates: list[tuple[Scope, str]] = walk.candidates
        self._used_up = walk.used_up
        self.uses: list[Use] = walk.loads + walk.bindings
        self.global_names: set[str] = set()
        self.outside = Scope(None, None, self.root.created)
        assigned = {use.name for use in walk.bindings if use.name in use.scope.globals}
        self.shared = shared
        self.outside.bound = assigned | shared.names()
        for scope in walk.scopes.values():
            scope.outside = self.outside
        self.variables: dict[tuple[Scope, str], Variable] = {}
        self._resolve(walk.loads, walk.bindings)
        self.constant = {key for key, v in self.variables.items() if len(v.bindings) == 1 and v.name in v.owner.params}
        self._captured: set[Variable] = set()
        self._choose_inline()
        self._choose_cells()

    def of(self, node: Any) -> Scope:
        return self._scopes[id(node)]

    def captures(self, scope: Scope) -> list[Variable]:
        """Variables of enclosing functions that ``scope`` uses, itself or through functions inlined into it."""
        found: dict[Variable, None] = {}
        for use in self._used_by(scope):
            owner = use.scope.owner(use.name)
            if owner is not None and not owner.inside(scope) and use.name not in owner.functions:
                found[self.variables[owner, use.name]] = None
        return [v for v in found if not self.is_shared(v)]

    def is_shared(self, variable: Variable) -> bool:
        """Whether it is one of the variables that functions share, which every function has."""
        return variable.owner is self.outside and self.shared.place(variable.name) is not None

    def outside_names(self, scope: Scope) -> set[str]:
        """Names from outside the whole function that ``scope`` uses, itself or through functions inlined into it."""
        return {use.name for use in self._used_by(scope) if use.scope.owner(use.name) is None}

    def shared_outside(self) -> list[str]:
        """Global variables that the function assigns and that a function made in it, which may escape, uses."""
        return sorted(v.name for v in self._captured if v.owner is self.outside)

    def read_first(self, name: str) -> bool:
        """Whether the function may read the global variable ``name`` before it assigns it."""
        variable = self.variables[self.outside, name]
        own = [b.at for b in variable.bindings if b.scope is self.root and not b.delete]
        return any(
            use.scope is not self.root or not any(made.dominates(use.at) for made in own)
            for use in (*variable.loads, *(b for b in variable.bindings if b.scope is not self.root))
        )

    def is_captured(self, scope: Scope, name: str) -> bool:
        """Whether a nested function that is not inlined uses the variable that ``name`` means in ``scope``."""
        owner = scope.owner(name)
        return owner is not None and self.variables[owner, name] in self._captured

    def _used_by(self, scope: Scope) -> list[Use]:
        """Uses of names in ``scope`` and in functions inlined into it, except uses of their own variables by these."""
        parts = [scope]
        uses: dict[int, tuple[Use, Scope | None]] = {}
        for part in parts:
            for use in self.uses:
                if use.scope.inside(part):
                    owner = use.scope.owner(use.name)
                    if owner is not None and use.name in owner.functions:
                        if owner.functions[use.name] not in parts:
                            parts.append(owner.functions[use.name])
                    else:
                        uses[id(use)] = (use, owner)
        return [u for u, owner in uses.values() if owner is None or not any(owner.inside(p) for p in parts)]

    # ------------------------------------------------------------ decisions

    def _resolve(self, loads: list[Use], bindings: list[Use]) -> None:
        for uses, kind in ((bindings, "bindings"), (loads, "loads")):
            for use in uses:
                owner = use.scope.owner(use.name)
                if owner is None or owner is self.outside:
                    self.global_names.add(use.name)
                if owner is None:
                    continue
                variable = self.variables.setdefault((owner, use.name), Variable(owner, use.name))
                getattr(variable, kind).append(use)

    def _choose_inline(self) -> None:
        chosen: dict[Variable, Scope] = {}
        for scope, name in self._candidates:
            owner = scope.parent
            assert owner is not None
            variable = self.variables.get((owner, name))
            if variable is not None and self._can_inline(scope, variable):
                chosen[variable] = scope
        while True:
            for variable, scope in chosen.items():
                scope.inline = True
                variable.owner.functions[variable.name] = scope
            refused = [v for v, scope in chosen.items() if self._must_not_inline(v, scope)]
            if not refused:
                return
            for variable in refused:
                scope = chosen.pop(variable)
                scope.inline = False
                del variable.owner.functions[variable.name]

    def _can_inline(self, scope: Scope, variable: Variable) -> bool:
        if len(variable.bindings) != 1 or scope.awaits or type(scope.node).__name__ == "AsyncFunctionDef":
            return False
        if variable.owner.is_comprehension or getattr(scope.node, "decorator_list", None):
            return False
        made = variable.bindings[0].at
        return all(
            load.call is not None
            and made.dominates(load.at)
            and not load.scope.inside(scope)
            and bind_call(scope.node.args, load.call) is not None
            and (not scope.generator or id(load.call) in self._used_up)
            for load in variable.loads
        )

    def _must_not_inline(self, variable: Variable, scope: Scope) -> bool:
        if self._instances(variable) > MOST_INSTANCES:
            return True
        if any(self._in_generator(load.scope, variable.owner) for load in variable.loads):
            return True  # a generator that is kept is compiled by itself
        args = scope.node.args
        defaults = [*args.defaults, *(d for d in args.kw_defaults if d is not None)]
        # The values of defaults are names of the defining function: an escaping function would have to capture them.
        return bool(defaults) and any(self._escapes(load.scope, variable.owner) for load in variable.loads)

    def _instances(self, variable: Variable) -> int:
        count = 0
        for load in variable.loads:
            around: Scope | None = load.scope
            product = 1
            while around is not None and around is not variable.owner:
                if around.inline and around.parent is not None:
                    name = next((n for n, s in around.parent.functions.items() if s is around), None)
                    if name is not None:
                        product *= self._instances(self.variables[around.parent, name])
                around = around.parent
            count += product
            if count > MOST_INSTANCES:
                break
        return count

    @staticmethod
    def _in_generator(scope: Scope, top: Scope) -> bool:
        """Whether a generator function that is not inlined lies between ``scope`` and ``top``."""
        around: Scope | None = scope
        while around is not None and around is not top:
            if around.generator and not around.inline:
                return True
            around = around.parent
        return False

    @staticmethod
    def _escapes(scope: Scope, top: Scope) -> bool:
        """Whether a function that is not inlined lies between ``scope`` and ``top``."""
        around: Scope | None = scope
        while around is not None and around is not top:
            if not around.is_comprehension and not around.inline:
                return True
            around = around.parent
        return False

    def _choose_cells(self) -> None:
        for scope in self._scopes.values():
            if scope is self.root or scope.is_comprehension or scope.inline:
                continue
            for variable in self.captures(scope):
                self._captured.add(variable)
                if self._needs_cell(variable, scope):
                    variable.owner.cells.add(variable.name)

    @staticmethod
    def _needs_cell(variable: Variable, scope: Scope) -> bool:
        made = scope.created
        around: Scope | None = scope
        while around is not None and around is not variable.owner:
            if not around.is_comprehension:
                made = around.created  # in the end: the function that lies directly in the variable's own scope
            around = around.parent
        if any(b.scope is not variable.owner for b in variable.bindings):
            return True
        if any(b.at.position > made.position or set(b.at.loops) & set(made.loops) for b in variable.bindings):
            return True
        return not any(b.at.dominates(made) for b in variable.bindings)
