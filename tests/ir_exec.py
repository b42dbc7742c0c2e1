"""An interpreter of the intermediate representation, so that a pass can be tested without printing what it makes.

``run(function, args, namespace)`` runs lowered code, normal form, and everything between.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir import walk

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
    "|": operator.or_, "^": operator.xor, "&": operator.and_,
}  # fmt: skip
INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
    "%": operator.imod, "**": operator.ipow, "@": operator.imatmul, "<<": operator.ilshift, ">>": operator.irshift,
    "|": operator.ior, "^": operator.ixor, "&": operator.iand,
}  # fmt: skip
UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_,
}  # fmt: skip
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
    "is": operator.is_, "is not": operator.is_not, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


def run(
    function: n.Function,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    namespace: Mapping[str, Any] | None = None,
) -> Any:
    """Call ``function``; captured values come first in ``args``, every parameter without a default must be given."""
    return as_callable(function, namespace or {})(*args, **(kwargs or {}))


def as_callable(
    function: n.Function,
    namespace: Mapping[str, Any],
    defaults: tuple[Any, ...] = (),
    kw_defaults: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """A Python function that interprets ``function``."""

    def call(*args: Any, **kwargs: Any) -> Any:
        env = _bind(function, args, kwargs, defaults, kw_defaults or {})
        try:
            _Run(env, namespace).block(function.body)
        except _Return as leaving:
            return leaving.value
        return None

    return call


def _bind(
    function: n.Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    defaults: tuple[Any, ...],
    kw_defaults: Mapping[str, Any],
) -> dict[str, Any]:
    positional = [*function.captures, *(p.name for p in function.params if p.kind == "positional")]
    env = dict(zip(positional, args))
    kinds = {p.kind: p.name for p in function.params}
    extra, named = args[len(positional) :], {}
    if "var_positional" in kinds:
        env[kinds["var_positional"]] = extra
    elif extra:
        raise TypeError(f"{function.name}() takes {len(positional)} positional arguments but {len(args)} were given")
    allowed = {p.name for p in function.params if p.kind in ("positional", "keyword")}
    for key, value in kwargs.items():
        if key in allowed and key not in env:
            env[key] = value
        elif "var_keyword" in kinds:
            named[key] = value
        else:
            raise TypeError(f"{function.name}() got an unexpected keyword argument {key!r}")
    if "var_keyword" in kinds:
        env[kinds["var_keyword"]] = named
    for name, value in zip(positional[len(positional) - len(defaults) :], defaults):
        env.setdefault(name, value)
    for name, value in kw_defaults.items():
        env.setdefault(name, value)
    for name in [*positional, *(p.name for p in function.params)]:
        if name not in env:
            raise TypeError(f"{function.name}() missing a required argument: {name!r}")
    return env


class _Run:
    def __init__(self, env: dict[str, Any], namespace: Mapping[str, Any]) -> None:
        self.env, self.namespace = env, namespace

    # ------------------------------------------------------------ expressions

    def value(self, e: Any) -> Any:
        return getattr(self, f"_e_{type(e).__name__}")(e)

    def _e_Name(self, e: n.Name) -> Any:
        if e.id not in self.env:
            raise UnboundLocalError(f"local variable {e.id!r} is unbound")
        return self.env[e.id]

    def _e_Const(self, e: n.Const) -> Any:
        return e.value

    def _e_Global(self, e: n.Global) -> Any:
        if e.id in self.namespace:
            return self.namespace[e.id]
        if not hasattr(builtins, e.id):
            raise NameError(f"name {e.id!r} is not defined")
        return getattr(builtins, e.id)

    def _e_Ref(self, e: n.Ref) -> Any:
        return e.value

    def _e_Attr(self, e: n.Attr) -> Any:
        return getattr(self.value(e.value), e.name)

    def _e_Index(self, e: n.Index) -> Any:
        return self.value(e.value)[self.value(e.index)]

    def _e_Slice(self, e: n.Slice) -> Any:
        return slice(*(None if p is None else self.value(p) for p in (e.lower, e.upper, e.step)))

    def _e_Unary(self, e: n.Unary) -> Any:
        return UNARY[e.op](self.value(e.operand))

    def _e_Binary(self, e: n.Binary) -> Any:
        return BINARY[e.op](self.value(e.left), self.value(e.right))

    def _e_Inplace(self, e: n.Inplace) -> Any:
        return INPLACE[e.op](self.value(e.left), self.value(e.right))

    def _e_Compare(self, e: n.Compare) -> Any:
        return COMPARE[e.op](self.value(e.left), self.value(e.right))

    def _e_IfExp(self, e: n.IfExp) -> Any:
        return self.value(e.body) if self.value(e.test) else self.value(e.orelse)

    def _items(self, items: tuple[Any, ...]) -> list[Any]:
        out: list[Any] = []
        for i in items:
            if type(i) is n.Star:
                out.extend(self.value(i.value))
            else:
                out.append(self.value(i))
        return out

    def _e_Call(self, e: n.Call) -> Any:
        func, args = self.value(e.func), self._items(e.args)
        kwargs: dict[str, Any] = {}
        for key, v in e.kwargs:
            more = dict(self.value(v)) if key is None else {key: self.value(v)}
            if repeated := kwargs.keys() & more.keys():
                raise TypeError(f"got multiple values for keyword argument {min(repeated)!r}")
            kwargs.update(more)
        return func(*args, **kwargs)

    def _e_TupleExpr(self, e: n.TupleExpr) -> Any:
        return tuple(self._items(e.items))

    def _e_ListExpr(self, e: n.ListExpr) -> Any:
        return self._items(e.items)

    def _e_SetExpr(self, e: n.SetExpr) -> Any:
        return set(self._items(e.items))

    def _e_DictExpr(self, e: n.DictExpr) -> Any:
        out: dict[Any, Any] = {}
        for k, v in zip(e.keys, e.values):
            out.update(self.value(v) if k is None else {self.value(k): self.value(v)})
        return out

    def _e_Closure(self, e: n.Closure) -> Any:
        captures = [self.value(c) for c in e.captures]
        defaults = tuple(self.value(d) for d in e.defaults)
        function = as_callable(e.function, self.namespace, defaults, {k: self.value(v) for k, v in e.kw_defaults})
        return functools.partial(function, *captures)

    # ------------------------------------------------------------ statements

    def block(self, block: list[n.Stmt]) -> None:
        for s in block:
            getattr(self, f"_s_{type(s).__name__}")(s)

    def _s_Assign(self, s: n.Assign) -> None:
        self.env[s.target] = self.value(s.value)

    def _s_Unpack(self, s: n.Unpack) -> None:
        value = self.value(s.value)
        try:
            values = list(value)
        except TypeError:
            raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object") from None
        if len(values) > len(s.targets):
            raise ValueError(f"too many values to unpack (expected {len(s.targets)})")
        if len(values) < len(s.targets):
            raise ValueError(f"not enough values to unpack (expected {len(s.targets)}, got {len(values)})")
        self.env.update(zip(s.targets, values))

    def _store(self, target: Any, value: Any) -> None:
        if type(target) is n.Name:
            self.env[target.id] = value
        elif type(target) is n.Index:
            self.value(target.value)[self.value(target.index)] = value
        else:
            setattr(self.value(target.value), target.name, value)

    def _s_Store(self, s: n.Store) -> None:
        self._store(s.target, self.value(s.value))

    def _s_Update(self, s: n.Update) -> None:
        old = self.value(s.target)
        self._store(s.target, INPLACE[s.op](old, self.value(s.value)))

    def _s_Append(self, s: n.Append) -> None:
        self.env[s.target].append(self.value(s.value))

    def _s_Delete(self, s: n.Delete) -> None:
        if type(s.target) is n.Name:
            self._e_Name(s.target)
            del self.env[s.target.id]
        elif type(s.target) is n.Index:
            del self.value(s.target.value)[self.value(s.target.index)]
        else:
            delattr(self.value(s.target.value), s.target.name)

    def _s_SetGlobal(self, s: n.SetGlobal) -> None:
        self.namespace[s.name] = self.value(s.value)  # type: ignore[index]

    def _s_Effect(self, s: n.Effect) -> None:
        self.value(s.value)

    def _s_If(self, s: n.If) -> None:
        self.block(s.body if self.value(s.test) else s.orelse)

    def _iteration(self, s: n.For | n.While) -> bool:
        """Run the body once; whether the loop is left."""
        try:
            self.block(s.body)
        except _Continue:
            return False
        except _Break:
            return True
        return s.stop is not None and bool(self.env.get(s.stop))

    def _has_break(self, block: list[n.Stmt]) -> bool:
        return any(
            type(s) is n.Break or (type(s) in (n.If, n.With, n.Try) and any(map(self._has_break, walk.blocks(s))))
            for s in block
        )

    def _loop(self, s: n.For | n.While, go: Callable[[], bool]) -> None:
        """Before :mod:`thunkad.normal.exits`, ``stop`` tells whether the loop was left by ``Break``."""
        before_exits = s.stop is not None and self._has_break(s.body)
        if before_exits:
            self.env[s.stop] = False  # type: ignore[index]
        while go():
            if self._iteration(s):
                if before_exits:
                    self.env[s.stop] = True  # type: ignore[index]
                break

    def _s_For(self, s: n.For) -> None:
        numbered = enumerate(self.value(s.iter))

        def go() -> bool:
            for count, item in numbered:
                self.env[s.target] = item
                if s.count is not None:
                    self.env[s.count] = count
                return True
            return False

        self._loop(s, go)

    def _s_While(self, s: n.While) -> None:
        def go() -> bool:
            self.block(s.test_body)
            return bool(self.value(s.test))

        self._loop(s, go)

    def _s_With(self, s: n.With) -> None:
        leaving: Exception | None = None
        with self.value(s.item) as value:
            if s.target is not None:
                self.env[s.target] = value
            try:
                self.block(s.body)
            except (_Return, _Break, _Continue) as exit:  # no exceptions of the program's
                leaving = exit
        if leaving is not None:
            raise leaving

    def _s_Try(self, s: n.Try) -> None:
        try:
            self.block(s.body)
        except (_Return, _Break, _Continue):
            raise
        except BaseException as error:
            if s.types is not None:
                try:
                    raise error
                except self.value(s.types):
                    pass
            if s.error is not None:
                self.env[s.error] = error
            self.block(s.handler)
        else:
            self.block(s.orelse)

    def _s_Raise(self, s: n.Raise) -> None:
        if s.exc is None:
            raise RuntimeError("No active exception to reraise")
        exc = self.value(s.exc)
        if s.cause is None:
            raise exc
        raise exc from self.value(s.cause)

    def _s_Assert(self, s: n.Assert) -> None:
        if not self.value(s.test):
            self.block(s.message_body)
            raise AssertionError(*(() if s.message is None else (self.value(s.message),)))

    def _s_Return(self, s: n.Return) -> None:
        raise _Return(self.value(s.value))

    def _s_Break(self, s: n.Break) -> None:
        raise _Break

    def _s_Continue(self, s: n.Continue) -> None:
        raise _Continue

    def _s_Comment(self, s: n.Comment) -> None:
        pass
