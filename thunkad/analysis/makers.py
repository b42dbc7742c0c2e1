"""Classes whose objects begin as more than empty ones, as Python functions: exceptions, and those with a ``__new__``.

::

    class Stop(Exception):                      def Stop(given_0):
        def __init__(self, value):                  made = Exception.__new__(Stop)
            self.value = value                      made.args = (given_0,)
                                                    initialized(made, given_0)
                                                    return made
"""

from __future__ import annotations

import types
from typing import Any

from thunkad.analysis.constructors import init_of, is_generated, written_out
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Kind, Known
from thunkad.lifetimes import attached, written
from thunkad.runtime.ducks import is_duck

#: Exceptions of Python's that take apart what they are given, beyond ``args``.
_TAKING_APART = (OSError, ImportError, SyntaxError, UnicodeError, SystemExit, AttributeError, NameError)
_of_python: dict[Any, dict[Any, Any]] = {}  # what was made for exceptions of Python's
#: The flag of classes that are made by a ``class`` statement.
_MADE = 1 << 9


def maker_of(cls: Any, count: int, names: tuple[str, ...]) -> Any:
    """A Python function that does what calling ``cls`` with so many arguments, and these keywords, does.

    None for a class whose objects are made in another way.
    """
    if not isinstance(cls, type) or type(cls).__call__ is not type.__call__:  # type: ignore[comparison-overlap]
        return None
    if issubclass(cls, BaseException):
        return _made_once(cls, (_exception, count, names)) if base_of(cls) is not None else None
    own = isinstance(cls.__new__, types.FunctionType) and not is_duck(cls)
    own = own and all(c is object or c.__flags__ & _MADE for c in cls.__mro__)
    return _made_once(cls, (_by_new, count, names)) if own else None


def _made_once(cls: Any, how: tuple[Any, ...]) -> Any:
    """What ``how[0]`` makes for a class, made anew where its ``__init__`` or ``__new__`` is another one."""
    known = _of_python.setdefault(cls, {}) if cls.__module__ == "builtins" else attached(cls)
    methods = cls.__init__, cls.__new__
    found = known.get(how)
    if found is None or found[0] != methods:
        found = known[how] = methods, how[0](cls, *how[1:])
    return found[1]


def base_of(cls: type) -> Any:
    """The built-in class that makes an exception of class ``cls``; None if that does more than to keep ``args``."""
    for base in cls.__mro__:
        if "__new__" in base.__dict__:
            plain = base.__module__ == "builtins" and not issubclass(base, _TAKING_APART)
            return base if plain and "Group" not in base.__name__ else None
    return None


def empty_class(fn: Any, kinds: tuple[Kind, ...]) -> Any:
    """The class of which ``fn``, called with operands of these kinds, makes an empty object; None if it makes none."""
    if len(kinds) != 1 or not isinstance(kinds[0], Known) or not isinstance(kinds[0].value, type):
        return None
    cls = kinds[0].value
    if fn is object.__new__:
        return cls
    owner = getattr(fn, "__self__", None)
    makes = isinstance(fn, types.BuiltinFunctionType) and fn.__name__ == "__new__"
    return cls if makes and issubclass(cls, BaseException) and owner is base_of(cls) else None


def new_of(cls: type) -> Any:
    """The function that makes an empty object of class ``cls``."""
    return base_of(cls).__new__ if issubclass(cls, BaseException) else object.__new__


def by_init(cls: Any, count: int, names: tuple[str, ...]) -> Any:
    """The same for a class whose objects are empty ones to which ``__init__`` does the rest."""
    return _made_once(cls, (_by_init, count, names))


def _by_init(cls: Any, count: int, names: tuple[str, ...]) -> Any:
    fresh = Names({*names, "cls", "new", "initialized"})
    given = [fresh.new(f"given_{k}") for k in range(count)]
    made = fresh.new("made")
    rest = ", ".join((made, *given, *(f"{x}={x}" for x in names)))
    lines = [f"{made} = new(cls)", f"initialized({rest})", f"return {made}"]
    return _function(cls, [*given, *names], lines, {"new": object.__new__})


def _exception(cls: Any, count: int, names: tuple[str, ...]) -> Any:
    fresh = Names({*names, "cls", "base", "initialized"})
    given = [fresh.new(f"given_{k}") for k in range(count)]
    made = fresh.new("made")
    own = init_of(cls) if isinstance(cls.__init__, types.FunctionType) else None
    if own is not None and is_generated(own):
        own = written_out(cls)
    if own is None and names:
        return None  # which raises
    lines = [f"{made} = base.__new__(cls)", *_kept(made, given, issubclass(cls, StopIteration) and own is None)]
    if own is not None:
        lines.append(f"initialized({', '.join((made, *given, *(f'{x}={x}' for x in names)))})")
    lines.append(f"return {made}")
    return _function(cls, [*given, *names], lines, {"base": base_of(cls), "initialized": own})


def _by_new(cls: Any, count: int, names: tuple[str, ...]) -> Any:
    fresh = Names({*names, "cls", "new", "initialized"})
    given = [fresh.new(f"given_{k}") for k in range(count)]
    made = fresh.new("made")
    rest = ", ".join((*given, *(f"{x}={x}" for x in names)))
    lines = [f"{made} = new(cls, {rest})"]
    if cls.__init__ is not object.__init__:
        lines += [f"if isinstance({made}, cls):", f"    initialized({made}, {rest})"]
    return _function(cls, [*given, *names], [*lines, f"return {made}"], {"new": cls.__new__})


def _function(cls: Any, params: list[str], lines: list[str], names: dict[str, Any]) -> Any:
    """A function of these lines, under the name of the class if it isn't taken."""
    name = "made_object" if cls.__name__ in (*params, *names, "cls", "initialized", "base") else cls.__name__
    text = f"def {name}({', '.join(params)}):\n" + "".join(f"    {line}\n" for line in lines)
    space = {"cls": cls, "initialized": init_of(cls), "__name__": cls.__module__, **names}
    made = written(text, name, space, f"{name} of {cls.__module__}")
    made.__wrapped_class__ = cls
    return made


def _kept(made: str, given: list[str], value: bool) -> list[str]:
    """The lines that keep what an exception is given."""
    lines = [f"{made}.args = ({''.join(f'{x}, ' for x in given)})"]
    return [*lines, f"{made}.value = {given[0] if given else None}"] if value else lines


def initializer_of(fn: Any, count: int) -> Any:
    """The ``__init__`` of a built-in exception, called with so many operands, as a Python function; None for others."""
    cls = getattr(fn, "__objclass__", None)
    if not isinstance(fn, types.WrapperDescriptorType) or fn.__name__ != "__init__" or count < 1:
        return None
    is_one = issubclass(cls, BaseException) and base_of(cls) is not None
    return _made_once(cls, (_initializer, count)) if is_one else None


def _initializer(cls: Any, count: int) -> Any:
    given = [f"given_{k}" for k in range(count - 1)]
    lines = _kept("made", given, issubclass(cls, StopIteration))
    text = f"def __init__({', '.join(('made', *given))}):\n" + "".join(f"    {line}\n" for line in lines)
    return written(text, "__init__", {"__name__": "builtins"}, f"__init__ of {cls.__name__}")
