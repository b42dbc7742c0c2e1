"""Generated text → functions that run in the user's globals and share the user's closure cells.

The names that the text adds to the user's world (pinned objects, other generated functions) are closure cells of the
generated functions, so nothing is ever written into the user's module.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import linecache
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from thunkad.emit.module import Emitted
from thunkad.errors import Place, ThunkadError
from thunkad.ir import nodes as n
from thunkad.records import field, record
from thunkad.tree.parse import deep_recursion, quiet


class Slot:
    """A compiled function that others refer to before it exists (recursion); ``cell`` is filled when it is loaded."""

    __slots__ = ("__name__", "cell", "function", "owner")

    def __init__(self, name: str, function: n.Function | None = None) -> None:
        self.__name__ = name
        self.function = function
        self.owner: Any = None  # the function in whose globals it runs
        self.cell = types.CellType()

    def __call__(self, *args: Any) -> Any:
        return self.cell.cell_contents(*args)

    def fill(self, fn: Any) -> None:
        """Let it be the loaded function ``fn``, which leads back here where it is found when the code runs."""
        self.cell.cell_contents = fn
        fn.slot = self


def slot_of(fn: Any) -> Slot | None:
    """The slot of a loaded function; None for any other function."""
    return getattr(fn, "slot", None) if fn.__code__.co_filename.startswith("<thunkad ") else None


@record(frozen=True)
class Generated:
    """A loaded module: what it is called in messages, its text, and where its lines came from."""

    label: str
    text: str
    lines: dict[int, tuple[str, int]]
    rules: dict[int, Place] = field(default_factory=dict)  # the rule of a user's that a line was pasted from


#: Loaded modules by the file name of their code.
generated: dict[str, Generated] = {}
_counter = itertools.count(1)


def load(
    emitted: Emitted,
    main_names: list[str],
    fn: Callable[..., Any] | None,
    label: str,
    defaults: dict[str, tuple[tuple[Any, ...] | None, dict[str, Any] | None]] | None = None,
) -> dict[str, Callable[..., Any]]:
    """Compile ``emitted`` for the globals and closure of ``fn``.

    Parameters
    ----------
    emitted : Emitted
        What to compile.
    main_names : list of str
        The functions to return, by the names they were emitted for.
    fn : function or None
        The user's function.
    label : str
        For file names and messages: ``"grad of module.qualname"``.
    defaults : dict, optional
        Name to (``__defaults__``, ``__kwdefaults__``); normally none, since callers pass every argument.

    Returns
    -------
    dict
        Name to function; functions that were not asked for by their printed names.
    """
    filename = f"<thunkad {label} #{next(_counter)}>"
    codes = _compile(emitted, filename, fn)
    cells = {
        name: value.cell if isinstance(value, Slot) else types.CellType(value) for name, value in emitted.refs.items()
    }
    if fn is not None:
        own_cells = zip(fn.__code__.co_freevars, fn.__closure__ or ())
        # Others may be spelled like a pinned object.
        cells.update((v, cell) for v, cell in own_cells if v in emitted.globals)
        namespace = fn.__globals__
    else:
        namespace = {"__builtins__": builtins, "__name__": "thunkad.generated"}
    own = {name: types.CellType() for name in codes}
    cells.update(own)
    functions: dict[str, types.FunctionType] = {}
    for name, code in codes.items():
        function = types.FunctionType(code, namespace, name, None, tuple(cells[v] for v in code.co_freevars))
        own[name].cell_contents = functions[name] = function
    _register(filename, Generated(label, emitted.text, emitted.lines, emitted.rules), list(codes.values()))
    out: dict[str, Callable[..., Any]] = {**functions, **{name: functions[emitted.names[name]] for name in main_names}}
    for name, (positional, keyword) in (defaults or {}).items():
        function = functions[emitted.names[name]]
        function.__defaults__, function.__kwdefaults__ = positional, keyword
    return out


def _compile(emitted: Emitted, filename: str, fn: Callable[..., Any] | None) -> dict[str, types.CodeType]:
    """The code of each function, compiled where its free names are variables of an enclosing function."""
    free = () if fn is None else tuple(v for v in fn.__code__.co_freevars if v in emitted.globals)
    clash = (set(emitted.refs) | set(emitted.functions)) & set(emitted.globals)
    if clash:
        raise ThunkadError(f"generated names hide the user's: {sorted(clash)}")
    factory = ast.parse(f"def factory({', '.join((*emitted.refs, *free))}): pass")
    factory.body[0].body = emitted.tree.body  # type: ignore[attr-defined]
    with deep_recursion(), quiet():
        outer = compile(factory, filename, "exec", dont_inherit=True)
    (make,) = (c for c in outer.co_consts if isinstance(c, types.CodeType))
    inner = {c.co_name: c for c in make.co_consts if isinstance(c, types.CodeType)}
    return {name: _with_qualname(inner[name], "") for name in emitted.functions}


def _with_qualname(code: types.CodeType, prefix: str) -> types.CodeType:
    """``code`` named as if it stood at the top of its module, nested functions likewise."""
    if not hasattr(code, "co_qualname"):  # before 3.11 the constants hold the names of nested functions
        constants = tuple(
            c.replace("factory.<locals>.", "", 1) if isinstance(c, str) and c.startswith("factory.<locals>.") else c
            for c in code.co_consts
        )
        return code.replace(
            co_consts=tuple(_with_qualname(c, "") if isinstance(c, types.CodeType) else c for c in constants)
        )
    name = prefix + code.co_name
    constants = tuple(
        _with_qualname(c, name + ".<locals>.") if isinstance(c, types.CodeType) else c for c in code.co_consts
    )
    return code.replace(co_qualname=name, co_consts=constants)


def _register(filename: str, record: Generated, codes: list[types.CodeType]) -> None:
    """Let ``inspect``, ``pdb`` and tracebacks see the text for as long as any of its code can run."""
    text = record.text
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    generated[filename] = record
    everything = list(_nested(codes))
    remaining = [len(everything)]
    lock = threading.RLock()  # a finalizer may run inside another one

    def died() -> None:
        with lock:
            remaining[0] -= 1
            if remaining[0]:
                return
        generated.pop(filename, None)
        linecache.cache.pop(filename, None)

    for code in everything:
        weakref.finalize(code, died).atexit = False


def _nested(codes: list[types.CodeType]) -> Iterator[types.CodeType]:
    for code in codes:
        yield code
        yield from _nested([c for c in code.co_consts if isinstance(c, types.CodeType)])


def name_of_target(target: Any) -> str:
    """What code generated for a function, the user's or one of the compiler's own, is called after."""
    name = target.name if isinstance(target, n.Function) else getattr(target, "__name__", "function")
    return name if name.isidentifier() else "lambda_"


def place_of_target(target: Any) -> Place | None:
    """Where the user's function begins that a target is, or is a derivative of."""
    while hasattr(target, "target"):
        target = target.target
    code = getattr(target, "__code__", None)
    if code is None:
        filename, line = getattr(target, "filename", ""), getattr(target, "line", 0)
    else:
        filename, line = code.co_filename, code.co_firstlineno
    return Place(filename, line, linecache.getline(filename, line)) if filename else None


def lifted_of(fn: Any) -> Any:
    """The generated function behind a copy that only adds defaults."""
    return fn.__dict__.get("lifted", fn)
