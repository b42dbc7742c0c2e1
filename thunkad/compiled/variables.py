"""Which variables outside of functions a program assigns and shares between its functions.

A global variable that one function assigns and nobody else uses is mirrored by a local of that function.  All others
become objects (:mod:`thunkad.runtime.variables`): global variables that several functions use, or one that may outlive
the call; variables of enclosing functions; attributes of modules.  Found by the byte code of all that the function to
be differentiated can reach, before anything is compiled.  Lists, dicts and objects that are to be followed
(:mod:`thunkad.compiled.following`) become the attributes of one more such object, under the names that lead to them.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from thunkad.analysis.sites import weaken
from thunkad.compiled.forms import normal_form
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Instance, Kind, Known
from thunkad.kinds.observe import kind_of
from thunkad.normal.shared_names import NOTHING, SharedNames
from thunkad.records import record
from thunkad.runtime.marks import derivative_of
from thunkad.runtime.variables import Outside, Variable, of_cell, of_module, of_objects
from thunkad.source.origin import is_foreign

_MOST = 400  # values that are looked at
_GLOBAL = {dis.opmap["STORE_GLOBAL"], dis.opmap["DELETE_GLOBAL"]}
_OUTER = {dis.opmap["STORE_DEREF"], dis.opmap["DELETE_DEREF"]}
_ATTRIBUTE = {dis.opmap["STORE_ATTR"], dis.opmap["DELETE_ATTR"]}
_IMPORT = {dis.opmap["IMPORT_NAME"], dis.opmap["IMPORT_FROM"]}
_OPERATORS = frozenset(
    f"__{prefix}{name}__" for prefix in ("", "r", "i")
    for name in "add sub mul truediv floordiv mod pow matmul neg pos abs getitem contains eq ne lt le gt ge".split()
)  # fmt: skip
_IN_PLACE = ("<listcomp>", "<setcomp>", "<dictcomp>")  # code of its own before Python 3.12


@record(frozen=True, eq=False)
class Shared:
    """A shared variable: in the namespace of a module or, without that, in a cell."""

    name: str
    variable: Variable
    namespace: dict[str, Any] | None = None
    cell: Any = None
    attribute: str = "value"  # under which the object has it
    parts: tuple[Shared, ...] = ()  # of the object for all that is followed

    @property
    def all(self) -> tuple[Shared, ...]:
        """Itself, or its parts."""
        return self.parts or (self,)

    def is_in(self, module: types.ModuleType, name: str) -> bool:
        """Whether it is the attribute ``name`` of ``module``."""
        return self.namespace is vars(module) and self.name == name

    def spellings(self, fn: types.FunctionType) -> Iterator[str]:
        """How ``fn`` may spell it."""
        if self.namespace is None:
            cells = zip(fn.__code__.co_freevars, fn.__closure__ or ())
            yield from (name for name, cell in cells if cell is self.cell)
            return
        if fn.__globals__ is self.namespace and self.name not in fn.__code__.co_freevars:
            yield self.name
        names = [name for name in _names(fn) if isinstance(fn.__globals__.get(name), types.ModuleType)]
        for name in names:
            module = vars(fn.__globals__[name])
            if module is self.namespace:
                yield f"{name}.{self.name}"
            for inner in _names(fn):
                if isinstance(module.get(inner), types.ModuleType) and vars(module[inner]) is self.namespace:
                    yield f"{name}.{inner}.{self.name}"


def shared_names(fn: types.FunctionType, shared: tuple[Shared, ...]) -> SharedNames:
    """What ``fn`` calls the variables that are shared."""
    if not shared:
        return NOTHING
    parts = ((part, place) for place, v in enumerate(shared) for part in v.all)
    own = ((spelled, place, part.attribute) for part, place in parts for spelled in part.spellings(fn))
    return SharedNames(tuple(v.name if v.parts else f"{v.name}_cell" for v in shared), tuple(own))


def find_shared(fn: Any, kinds: Iterable[Kind], followed: tuple[Any, ...]) -> tuple[tuple[Shared, ...], bool]:
    """The variables that what ``fn`` reaches, called with arguments of these kinds, assigns and shares.

    ``followed``: lists, dicts and objects that it writes into and reads.  The second result: whether there are some,
    and classes with operators of their own.
    """
    survey = _Survey()
    survey.left += [fn, *(v for kind in kinds for v in _in_kind(kind))]
    survey.run()
    found = survey.shared(followed)
    if followed:
        found += survey.objects(followed, found)
    return found, bool(found) and survey.operators


def found_changing(fn: Any, kinds: Iterable[Kind], may_change: Callable[[Any], bool]) -> tuple[Any, ...]:
    """The lists, dicts, arrays and objects with a name that ``fn`` reaches and may change.

    None where it takes derivatives itself, since what is run by itself does not use what functions share.
    """
    survey = _Survey()
    survey.left += [fn, *(v for kind in kinds for v in _in_kind(kind))]
    survey.run()
    if any(_differentiates(value) for value in survey.seen.values()):
        return ()
    named = {id(value): value for value, *_ in survey.named()}
    return tuple(value for value in named.values() if may_change(value))


class _Survey:
    def __init__(self) -> None:
        self.left: list[Any] = []
        self.seen: dict[int, Any] = {}
        self.functions: list[types.FunctionType] = []
        self.assigned: dict[tuple[int, str], tuple[dict[str, Any], list[types.FunctionType]]] = {}
        self.attributes: dict[tuple[int, str], dict[str, Any]] = {}
        self.cells: dict[int, tuple[str, Any]] = {}
        self.operators = False  # whether a class has operators of its own

    def run(self) -> None:
        while self.left and len(self.seen) < _MOST:
            value = self.left.pop()
            if id(value) not in self.seen:
                self.seen[id(value)] = value
                self.one(value)

    def one(self, value: Any) -> None:
        if isinstance(value, types.FunctionType):
            if not is_foreign(value):
                self.function(value)
            elif hasattr(value, "__wrapped__"):
                self.left.append(value.__wrapped__)
        elif isinstance(value, type):
            if not is_foreign(value):
                self.left += [*value.__bases__, *vars(value).values()]
                self.operators |= any(
                    name in _OPERATORS and isinstance(v, types.FunctionType) for name, v in vars(value).items()
                )
        elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
            self.left += [value.__func__, getattr(value, "__self__", None)]
        elif isinstance(value, property):
            self.left += [value.fget, value.fset, value.fdel]
        elif isinstance(value, functools.partial):
            self.left += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, (list, tuple, set)):
            self.left += list(value)[:_MOST]
        elif isinstance(value, dict):
            self.left += list(value.values())[:_MOST]
        elif hasattr(value, "__wrapped__"):
            self.left.append(value.__wrapped__)
        elif not isinstance(value, types.ModuleType) and isinstance(getattr(value, "__dict__", None), dict):
            self.left += [type(value), *vars(value).values()]

    def function(self, fn: types.FunctionType) -> None:
        self.functions.append(fn)
        self.left += [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
        for name, value in vars(fn).items():  # what is the library's own leads to all that it has compiled
            self.left.append(getattr(value, "f", None) if name.startswith("__thunkad") else value)
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
        for cell in cells.values():
            try:
                self.left.append(cell.cell_contents)
            except ValueError:
                continue
        space = fn.__globals__
        imports = {name for code in _codes(fn.__code__) for name in _operands(code, _IMPORT)}
        modules = {}
        for name in _names(fn):
            value = space.get(name)
            if name in imports:
                value = _imported(fn, name)
            if isinstance(value, types.ModuleType) and not is_foreign(value):
                modules[name] = value
            elif value is not None:
                self.left.append(value)
        for name in _names(fn) if modules else ():
            for module in tuple(modules.values()):
                inner = vars(module).get(name)
                if isinstance(inner, types.ModuleType) and not is_foreign(inner):
                    modules.setdefault(name, inner)
                elif inner is not None:
                    self.left.append(inner)
        for code in _codes(fn.__code__):
            self.code(fn, code, cells, modules)

    def code(
        self, fn: types.FunctionType, code: types.CodeType, cells: dict[str, Any], modules: dict[str, Any]
    ) -> None:
        """Note what ``code``, that of ``fn`` or of a function made in it, assigns outside of ``fn``."""
        operations = set(code.co_code[::2])
        if not operations.isdisjoint(_GLOBAL):
            for name in _operands(code, _GLOBAL):
                self.assigned.setdefault((id(fn.__globals__), name), (fn.__globals__, []))[1].append(fn)
        if cells and not operations.isdisjoint(_OUTER):
            for name in _operands(code, _OUTER):
                if name in cells and name in code.co_freevars:
                    self.cells[id(cells[name])] = name, cells[name]
        if modules and "setattr" in code.co_names:
            for name in (c for c in code.co_consts if isinstance(c, str)):
                spaces = (vars(module) for module in modules.values())
                self.attributes.update({(id(space), name): space for space in spaces if name in space})
        if modules and not operations.isdisjoint(_ATTRIBUTE):
            before: Any = None
            imported: dict[str, str] = {}  # names of modules that are imported here
            for instruction in dis.get_instructions(code):
                owner = None if before is None else imported.get(before.argval, before.argval)
                if instruction.opcode in _ATTRIBUTE and owner in modules:
                    space = vars(modules[owner])
                    self.attributes[id(space), instruction.argval] = space
                if before is not None and before.opcode in _IMPORT and instruction.opname.startswith("STORE_"):
                    imported[instruction.argval] = before.argval
                before = instruction if instruction.opname.startswith(("LOAD_", "IMPORT_")) else None

    def shared(self, followed: tuple[Any, ...]) -> tuple[Shared, ...]:
        found: dict[tuple[int, str], dict[str, Any]] = dict(self.attributes)
        for key, (space, writers) in self.assigned.items():
            is_followed = _leads_to(space.get(key[1]), set(map(id, followed)))
            if is_followed or self.used_elsewhere(space, key[1], writers[0]) or needs_object(writers[0], key[1]):
                found.setdefault(key, space)
        made = [Shared(name, of_module(space, name), space) for (_, name), space in found.items()]
        made += [Shared(name, of_cell(cell, name), None, cell) for name, cell in self.cells.values()]
        return tuple(made)

    def objects(self, followed: tuple[Any, ...], variables: tuple[Shared, ...]) -> tuple[Shared, ...]:
        """The object that has those of ``followed`` which have names, other than the ``variables``."""
        taken = {(id(v.namespace or v.cell), v.name) for v in variables}
        wanted = {id(x) for x in followed}
        places: dict[tuple[int, str], tuple[dict[str, Any] | None, Any]] = {}
        for value, name, space, cell in self.named():
            if _leads_to(value, wanted):
                places[id(cell if space is None else space), name] = space, cell
        left = {key: place for key, place in places.items() if key not in taken}
        if not left:
            return ()
        reads: dict[str, Any] = {}
        parts = []
        for (_, name), (space, cell) in left.items():
            attribute = name
            while attribute in reads or hasattr(Outside, attribute):
                attribute += "_"
            made = of_cell(cell, name) if space is None else of_module(space, name)
            reads[attribute] = made.read
            parts.append(Shared(name, made, space, cell, attribute))
        kinds = {attribute: weaken(kind_of(read())) for attribute, read in reads.items()}
        return (Shared("outside", of_objects(reads, kinds), parts=tuple(parts)),)

    def named(self) -> Iterator[tuple[Any, str, dict[str, Any] | None, Any]]:
        """What the functions name from outside: a value, its name, and the namespace or the cell that it is in."""
        for fn in self.functions:
            for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
                with contextlib.suppress(ValueError):
                    yield cell.cell_contents, name, None, cell
            modules = [v for v in map(fn.__globals__.get, _names(fn)) if isinstance(v, types.ModuleType)]
            for space in (fn.__globals__, *(vars(m) for m in modules if not is_foreign(m))):
                yield from ((space[name], name, space, None) for name in _names(fn) if name in space)

    def used_elsewhere(self, space: dict[str, Any], name: str, writer: types.FunctionType) -> bool:
        """Whether another function than ``writer`` uses the global variable, as far as its code tells."""
        for fn in self.functions:
            if fn.__code__ is writer.__code__ or name not in _names(fn):
                continue
            if fn.__globals__ is space:
                return True
            if any(isinstance(v, types.ModuleType) and vars(v) is space for v in map(fn.__globals__.get, _names(fn))):
                return True
        return False


def _differentiates(value: Any) -> bool:
    """Whether this is a function, or the module, of this library."""
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return derivative_of(value) is not None or (isinstance(name, str) and name.split(".")[0] == "thunkad")


def _leads_to(value: Any, wanted: set[int]) -> bool:
    """Whether ``value`` is one of some objects, a method of one, or a tuple of these."""
    if isinstance(value, tuple):
        return any(_leads_to(v, wanted) for v in value)
    return id(value.__self__ if isinstance(value, types.MethodType) else value) in wanted


def needs_object(fn: types.FunctionType, name: str) -> bool:
    """Whether a mirror won't do for a global variable that only ``fn`` uses.

    That is so if a function made in it uses the variable, if it calls itself, if it unbinds the variable, and if it may
    read, without assigning, what an earlier call has left there.
    """
    if any(name in code.co_names for code in _codes(fn.__code__) if code is not fn.__code__ and not _in_place(code)):
        return True
    if reaches_itself(fn):
        return True
    if name in _operands(fn.__code__, {dis.opmap["DELETE_GLOBAL"]}):
        return True
    try:
        body = normal_form(fn).body
    except Exception:
        return False  # what is wrong with it is said where it is looked into
    always = any(type(s) is n.SetGlobal and s.name == name for s in body)
    return not always and any(type(s) is n.Assign and s.value == n.Global(name) for s in walk.statements(body))


def reaches_itself(fn: types.FunctionType) -> bool:
    """Whether ``fn`` may be called while it runs."""
    survey = _Survey()
    survey.function(fn)
    survey.run()
    return survey.functions.count(fn) > 1


def _in_place(code: types.CodeType) -> bool:
    return code.co_name in _IN_PLACE


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """``code`` and that of all functions made in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


def _names(fn: types.FunctionType) -> list[str]:
    """Names of globals and attributes in a function, and in those that are made in it."""
    return list(dict.fromkeys(name for code in _codes(fn.__code__) for name in code.co_names))


def _operands(code: types.CodeType, operations: set[int]) -> list[str]:
    if operations.isdisjoint(code.co_code[::2]):
        return []
    found = (i.argval for i in dis.get_instructions(code) if i.opcode in operations)
    return list(dict.fromkeys(found))


def _imported(fn: types.FunctionType, name: str) -> Any:
    """The module that ``import name``, or ``from . import name``, gives in ``fn``, if it is there already."""
    package = fn.__globals__.get("__package__") or ""
    parents = [package.rsplit(".", k)[0] for k in range(package.count(".") + 1)]
    names = (name, *(f"{parent}.{name}" for parent in parents))
    return next((sys.modules[full] for full in names if full in sys.modules), None)


def _in_kind(kind: Any) -> Iterator[Any]:
    """Functions and classes that an argument of this kind brings."""
    if isinstance(kind, Known):
        yield kind.value
        return
    if isinstance(kind, Instance):
        yield kind.cls
    for name in getattr(type(kind), "__record__", ()):
        part = getattr(kind, name, None)
        for item in part if isinstance(part, tuple) else (part,):
            for inner in item if isinstance(item, tuple) else (item,):
                if inner is not None and type(inner).__module__ == type(kind).__module__:
                    yield from _in_kind(inner)
                elif isinstance(inner, types.FunctionType):
                    yield inner
