"""Find the scopes of a function and every use of a name in it, in the order of evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from thunkad.normal.scope import COMPREHENSIONS, FUNCTIONS, Point, Scope, Use, bind_call, takes_all
from thunkad.tree.generators import as_generator_function


def fields(node: Any) -> Iterator[Any]:
    """Direct child nodes in the order of the syntax."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from (v for v in value if hasattr(v, "_fields"))
        elif hasattr(value, "_fields"):
            yield value


class Walk:
    """One pass over the tree; the results are in the attributes."""

    def __init__(self) -> None:
        self.scopes: dict[int, Scope] = {}
        self.candidates: list[tuple[Scope, str]] = []  # nested functions and the only name they are bound to
        self.loads: list[Use] = []
        self.bindings: list[Use] = []
        self.used_up: set[int] = set()  # what stands where all of its values are taken at once
        self._scope: Scope
        self._position = 0
        self._serial = 0
        self._blocks: tuple[int, ...] = ()
        self._loops: tuple[int, ...] = ()

    # ------------------------------------------------------------ places

    def _point(self) -> Point:
        self._position += 1
        return Point(self._position, self._blocks, self._loops)

    @contextmanager
    def _inside(self, *, loop: bool = False) -> Iterator[None]:
        blocks, loops = self._blocks, self._loops
        self._serial += 1
        self._blocks += (self._serial,)
        if loop:
            self._loops += (self._serial,)
        yield
        self._blocks, self._loops = blocks, loops

    def _bind(self, name: str, scope: Scope | None = None, *, delete: bool = False) -> None:
        scope = scope or self._scope
        if name not in scope.globals:
            scope.bound.add(name)
        self.bindings.append(Use(name, scope, self._point(), delete=delete))

    # ------------------------------------------------------------ scopes

    def function(self, node: Any, parent: Scope | None) -> Scope:
        """A function or lambda; its defaults and decorators belong to the scope around it."""
        if parent is not None:
            for part in (*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults):
                if part is not None:
                    self.visit(part)
        scope = Scope(node, parent, self._point())
        self.scopes[id(node)] = scope
        outer, loops = getattr(self, "_scope", None), self._loops
        self._scope, self._loops = scope, ()
        with self._inside():
            args = node.args
            params = [*args.posonlyargs, *args.args, *args.kwonlyargs]
            params += [p for p in (args.vararg, args.kwarg) if p is not None]
            body = node.body if isinstance(node.body, list) else [node.body]
            for statement in body:
                self._declarations(statement, scope)
            for p in params:
                scope.params.append(p.id)
                self._bind(p.id)
            for statement in body:
                self.visit(statement)
        if outer is not None:
            self._scope = outer
        self._loops = loops
        return scope

    def _declarations(self, node: Any, scope: Scope) -> None:
        kind = type(node).__name__
        if kind == "Global":
            scope.globals.update(node.names)
        elif kind == "Nonlocal":
            scope.nonlocals.update(node.names)
        elif kind not in (*FUNCTIONS, "ClassDef"):
            for child in fields(node):
                self._declarations(child, scope)

    def _comprehension(self, node: Any) -> None:
        self.visit(node.generators[0].iter)
        if type(node).__name__ == "GeneratorExp" and id(node) not in self.used_up:
            node.function = as_generator_function(node)
            self.function(node.function, self._scope)
            return
        outer = self._scope
        scope = Scope(node, outer, self._point())
        self.scopes[id(node)] = scope
        self._scope = scope
        for generator in node.generators:  # bound first: a name is the comprehension's own wherever it stands in it
            for part in targets_of(generator.target):
                scope.bound.add(part)
        with self._inside(loop=True):
            for k, generator in enumerate(node.generators):
                if k:
                    self.visit(generator.iter)
                self.visit(generator.target)
                for test in generator.ifs:
                    self.visit(test)
            for part in (node.key, node.value) if type(node).__name__ == "DictComp" else (node.elt,):
                self.visit(part)
        self._scope = outer

    # ------------------------------------------------------------ nodes

    def visit(self, node: Any) -> None:
        method: Callable[[Any], None] | None = getattr(self, f"_visit_{type(node).__name__}", None)
        if method is not None:
            method(node)
        elif type(node).__name__ in COMPREHENSIONS:
            self._comprehension(node)
        else:
            for child in fields(node):
                self.visit(child)

    def _block(self, body: list[Any], *, loop: bool = False) -> None:
        with self._inside(loop=loop):
            for statement in body:
                self.visit(statement)

    def _visit_Name(self, node: Any) -> None:
        kind = type(node.ctx).__name__
        if kind == "Load":
            self.loads.append(Use(node.id, self._scope, self._point()))
        else:
            self._bind(node.id, delete=kind == "Del")

    def _visit_Call(self, node: Any) -> None:
        if takes_all(node):
            self.used_up.add(id(node.args[0]))
        if type(node.func).__name__ == "Name":
            self.loads.append(Use(node.func.id, self._scope, self._point(), call=node))
        elif type(node.func).__name__ == "Lambda":
            scope = self.function(node.func, self._scope)
            scope.inline = can_inline_directly(scope, node)
        else:
            self.visit(node.func)
        for part in (*node.args, *node.keywords):
            self.visit(part)

    def _visit_Lambda(self, node: Any) -> None:
        self.function(node, self._scope)

    def _visit_FunctionDef(self, node: Any) -> None:
        scope = self.function(node, self._scope)
        self.candidates.append((scope, node.name))
        self._bind(node.name)

    _visit_AsyncFunctionDef = _visit_FunctionDef

    def _visit_ClassDef(self, node: Any) -> None:
        self._bind(node.name)

    def _visit_Yield(self, node: Any) -> None:
        self._scope.generator = True
        if node.value is not None:
            self.visit(node.value)

    def _visit_YieldFrom(self, node: Any) -> None:
        self.used_up.add(id(node.value))
        self._visit_Yield(node)

    def _visit_Await(self, node: Any) -> None:
        self._scope.generator = self._scope.awaits = True
        self.visit(node.value)

    def _visit_Starred(self, node: Any) -> None:
        if type(node.value).__name__ == "GeneratorExp":
            self.used_up.add(id(node.value))
        self.visit(node.value)

    def _visit_Assign(self, node: Any) -> None:
        if type(node.value).__name__ == "GeneratorExp" and all(map(takes_all_of, node.targets)):
            self.used_up.add(id(node.value))
        self.visit(node.value)
        target = node.targets[0]
        if type(node.value).__name__ == "Lambda" and len(node.targets) == 1 and type(target).__name__ == "Name":
            self.candidates.append((self.scopes[id(node.value)], target.id))
        for target in node.targets:
            self.visit(target)

    def _visit_AugAssign(self, node: Any) -> None:
        if type(node.op).__name__ == "Add" and type(node.value).__name__ == "GeneratorExp":  # it extends a list
            self.used_up.add(id(node.value))
        if type(node.target).__name__ == "Name":
            self.loads.append(Use(node.target.id, self._scope, self._point()))
            self.visit(node.value)
        else:
            self.visit(node.value)
        self.visit(node.target)

    def _visit_AnnAssign(self, node: Any) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)
        elif type(node.target).__name__ == "Name":
            self._scope.bound.add(node.target.id)

    def _visit_NamedExpr(self, node: Any) -> None:
        self.visit(node.value)
        scope = self._scope
        while scope.is_comprehension and scope.parent is not None:
            scope = scope.parent
        self._bind(node.target.id, scope)

    def _visit_If(self, node: Any) -> None:
        self.visit(node.test)
        self._block(node.body)
        self._block(node.orelse)

    def _visit_IfExp(self, node: Any) -> None:
        self.visit(node.test)
        self._block([node.body])
        self._block([node.orelse])

    def _visit_BoolOp(self, node: Any) -> None:
        self.visit(node.values[0])
        self._block(node.values[1:])

    def _visit_For(self, node: Any) -> None:
        self.used_up.add(id(node.iter))
        self.visit(node.iter)
        with self._inside(loop=True):
            self.visit(node.target)
            for statement in node.body:
                self.visit(statement)
        self._block(node.orelse)

    _visit_AsyncFor = _visit_For

    def _visit_While(self, node: Any) -> None:
        with self._inside(loop=True):
            self.visit(node.test)
            for statement in node.body:
                self.visit(statement)
        self._block(node.orelse)

    def _visit_Try(self, node: Any) -> None:
        self._block(node.body)
        for handler in node.handlers:
            with self._inside():
                if handler.type is not None:
                    self.visit(handler.type)
                if handler.name is not None:
                    self.visit(handler.name)
                for statement in handler.body:
                    self.visit(statement)
        self._block(node.orelse)
        for statement in node.finalbody:
            self.visit(statement)

    def _visit_Match(self, node: Any) -> None:
        self.visit(node.subject)
        for case in node.cases:
            with self._inside():
                self.visit(case.pattern)
                if case.guard is not None:
                    self.visit(case.guard)
                for statement in case.body:
                    self.visit(statement)

    def _visit_MatchAs(self, node: Any) -> None:
        if node.pattern is not None:
            self.visit(node.pattern)
        if node.name is not None:
            self._bind(node.name)

    def _visit_MatchStar(self, node: Any) -> None:
        if node.name is not None:
            self._bind(node.name)

    def _visit_MatchMapping(self, node: Any) -> None:
        for part in (*node.keys, *node.patterns):
            self.visit(part)
        if node.rest is not None:
            self._bind(node.rest)

    def _visit_Import(self, node: Any) -> None:
        for alias in node.names:
            self._bind(alias.asname or alias.name.partition(".")[0])

    def _visit_ImportFrom(self, node: Any) -> None:
        for alias in node.names:
            self._bind(alias.asname or alias.name)


def can_inline_directly(scope: Scope, call: Any) -> bool:
    """Whether a lambda that stands as a callee can be copied in place of its call."""
    return not scope.generator and bind_call(scope.node.args, call) is not None


def targets_of(node: Any) -> Iterator[str]:
    if type(node).__name__ == "Name":
        yield node.id
    elif type(node).__name__ in ("Tuple", "List", "Starred"):
        for child in fields(node):
            if type(child).__name__ not in ("Store", "Load"):
                yield from targets_of(child)


def is_display(target: Any) -> bool:
    """Whether an assignment to ``target`` takes a value apart."""
    return type(target).__name__ in ("Tuple", "List")


def takes_all_of(target: Any) -> bool:
    """Whether an assignment to it takes all values of an iterator: a display, or a slice of a list."""
    return is_display(target) or (type(target).__name__ == "Subscript" and type(target.slice).__name__ == "Slice")
