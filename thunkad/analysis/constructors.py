"""What makes an object of a user's class: an empty one, to which a Python function does the rest."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

from thunkad.analysis.members import member
from thunkad.ir import nodes as n
from thunkad.lifetimes import attached, written
from thunkad.runtime.ducks import is_duck

_GENERATED = "<string>"


def init_of(cls: type) -> Any:
    """``cls.__init__``; for a dataclass with a ``__post_init__``, the generated one with a source that can be read."""
    member(cls, "__init__")
    init = cls.__init__  # type: ignore[misc]  # of this very class: what a subclass has doesn't matter
    if dataclasses.is_dataclass(cls) and is_generated(init) and calls_post_init(init):
        known = attached(cls)
        if known.get("init", (None,))[0] is not init:
            known["init"] = init, written_out(cls)
        return known["init"][1]
    return init


def calls_post_init(init: Any) -> bool:
    """Whether a generated ``__init__`` ends in a call of ``__post_init__``, which was there when it was generated."""
    return "__post_init__" in init.__code__.co_names


def is_generated(init: Any) -> bool:
    """Whether this is the ``__init__`` of a dataclass as it is generated, of which there is no source."""
    return getattr(getattr(init, "__code__", None), "co_filename", "") == _GENERATED


def is_made_empty(cls: type) -> bool:
    """Whether an object of this class begins as an empty one, of which only its attributes count."""
    member(cls, "__new__")
    plain = cls.__new__ is object.__new__ and type(cls).__call__ is type.__call__  # type: ignore[comparison-overlap]
    return plain and not is_duck(cls)


def is_made_by_init(cls: type) -> bool:
    """Whether an object of this class is an empty one to which a Python function with a source does the rest."""
    init = init_of(cls)
    return is_made_empty(cls) and isinstance(init, types.FunctionType) and not is_generated(init)


def written_out(cls: Any) -> Any:
    """A function that does what the ``__init__`` of a dataclass does; its parameters and defaults are those of that."""
    init = cls.__init__
    names: dict[str, Any] = {}
    body: list[str] = []
    rest: list[str] = []
    setting = "    object.__setattr__(self, {0!r}, {1})" if cls.__dataclass_params__.frozen else "    self.{0} = {1}"
    for f in cls.__dataclass_fields__.values():
        if f._field_type is dataclasses._FIELD_CLASSVAR:  # type: ignore[attr-defined]
            continue
        if f._field_type is dataclasses._FIELD_INITVAR:  # type: ignore[attr-defined]
            rest.append(f.name)
            continue
        if f.default_factory is not dataclasses.MISSING:
            names[f"make_{f.name}"] = f.default_factory
            value = f"make_{f.name}()"
            if f.init:
                names["left_out"] = dataclasses._HAS_DEFAULT_FACTORY  # type: ignore[attr-defined]
                value = f"{value} if {f.name} is left_out else {f.name}"
            body.append(setting.format(f.name, value))
        elif f.init:
            body.append(setting.format(f.name, f.name))
    if calls_post_init(init):
        body.append(f"    self.__post_init__({', '.join(rest)})")
    code = init.__code__
    positional = code.co_varnames[: code.co_argcount]
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    parameters = ", ".join((*positional, *(("*", *keywords) if keywords else ())))
    text = f"def __init__({parameters}):\n" + "\n".join(body) + "\n"
    made = written(text, "__init__", names, f"__init__ of {cls.__module__}.{cls.__qualname__}")
    made.__defaults__, made.__kwdefaults__ = init.__defaults__, init.__kwdefaults__
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return made


def makes_empty(e: Any) -> bool:
    """Whether a call is ``cls.__new__(cls)``, as generated code has it."""
    return type(e.func) is n.Attr and e.func.name == "__new__"
