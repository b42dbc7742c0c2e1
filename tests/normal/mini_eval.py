"""A small evaluator of IR for the tests of the passes in this folder, independent of the emitter."""

from __future__ import annotations

import operator
from typing import Any

from thunkad.ir import nodes as n

BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "%": operator.mod, "//": operator.floordiv,
    "<": operator.lt, ">": operator.gt, "==": operator.eq, "!=": operator.ne, "is": operator.is_,
    "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
UNARY = {"-": operator.neg, "not": operator.not_}
MAX_STEPS = 3000


class TooLong(Exception):
    pass


class Machine:
    def __init__(self, env: dict[str, Any]) -> None:
        self.env = env
        self.steps = 0
        self.trace: list[Any] = []

    def value(self, e: n.Expr) -> Any:
        t = type(e)
        if t is n.Name:
            if e.id not in self.env:
                raise UnboundLocalError(e.id)
            return self.env[e.id]
        if t in (n.Const, n.Ref):
            return e.value
        if t in (n.Binary, n.Compare):
            return BINARY[e.op](self.value(e.left), self.value(e.right))
        if t is n.Inplace:
            left, right = self.value(e.left), self.value(e.right)
            if isinstance(left, list):
                left += right
                return left
            return BINARY[e.op](left, right)
        if t is n.Unary:
            return UNARY[e.op](self.value(e.operand))
        if t is n.Call:
            return self.value(e.func)(*(self.value(a) for a in e.args))
        if t in (n.TupleExpr, n.ListExpr):
            items: list[Any] = []
            for item in e.items:
                items.extend(self.value(item.value)) if type(item) is n.Star else items.append(self.value(item))
            return tuple(items) if t is n.TupleExpr else items
        if t is n.Index:
            return self.value(e.value)[self.value(e.index)]
        if t is n.Closure:
            captured = [self.value(c) for c in e.captures]
            return lambda *args: run(e.function, *captured, *args)[0]
        raise TypeError(e)

    def block(self, block: list[n.Stmt]) -> None:
        for s in block:
            self.statement(s)

    def statement(self, s: n.Stmt) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooLong
        t = type(s)
        if t is n.Assign:
            self.env[s.target] = self.value(s.value)
        elif t is n.Unpack:
            values = tuple(self.value(s.value))
            if len(values) != len(s.targets):
                raise ValueError("unpack")
            self.env.update(zip(s.targets, values))
        elif t is n.Update and type(s.target) is n.Name:
            self.env[s.target.id] = self.value(n.Inplace(s.op, s.target, s.value))
        elif t is n.Append:
            self.value(n.Name(s.target)).append(self.value(s.value))
        elif t is n.Delete and type(s.target) is n.Name:
            self.value(s.target)
            del self.env[s.target.id]
        elif t is n.Effect:
            value = self.value(s.value)
            if type(s.value) is not n.Name:  # a mere read only tests that the variable is bound
                self.trace.append(value)
        elif t is n.If:
            self.block(s.body if self.value(s.test) else s.orelse)
        elif t is n.For:
            for k, item in enumerate(self.value(s.iter)):
                self.env[s.target] = item
                if s.count is not None:
                    self.env[s.count] = k
                self.block(s.body)
                if s.stop is not None and self.value(n.Name(s.stop)):
                    break
        elif t is n.While:
            while True:
                self.block(s.test_body)
                if not self.value(s.test):
                    break
                self.statement(n.Comment(""))
                self.block(s.body)
                if s.stop is not None and self.value(n.Name(s.stop)):
                    break
        elif t is n.Raise:
            raise self.value(s.exc)
        elif t is n.Assert:
            if not self.value(s.test):
                self.block(s.message_body)
                raise AssertionError(None if s.message is None else self.value(s.message))
        elif t is not n.Comment:
            raise TypeError(s)


def run(f: n.Function, *args: Any) -> tuple[Any, list[Any]]:
    """The result of ``f`` and the values of its ``Effect`` statements."""
    m = Machine(dict(zip((*f.captures, *(p.name for p in f.params)), args)))
    m.block(f.body[:-1])
    assert type(f.body[-1]) is n.Return
    return m.value(f.body[-1].value), m.trace


def outcome(f: n.Function, *args: Any) -> tuple[str, Any]:
    """What calling ``f`` does: its result and effects, or the type of what it raises."""
    try:
        return "value", run(f, *args)
    except TooLong:
        raise
    except Exception as error:
        return "raises", type(error)


def show(block: list[n.Stmt], indent: str = "") -> str:
    """A readable listing, close to the Python that it stands for."""
    lines: list[str] = []
    for s in block:
        t = type(s)
        if t is n.Assign:
            lines.append(f"{indent}{s.target} = {text(s.value)}")
        elif t is n.Unpack:
            lines.append(f"{indent}{', '.join(s.targets)} = {text(s.value)}")
        elif t is n.Update:
            lines.append(f"{indent}{text(s.target)} {s.op}= {text(s.value)}")
        elif t is n.If:
            lines += [f"{indent}if {text(s.test)}:", show(s.body, indent + "    ")]
            lines += [f"{indent}else:", show(s.orelse, indent + "    ")] if s.orelse else []
        elif t is n.For:
            stop = f"  # until {s.stop}" if s.stop else ""
            count = f" (count {s.count})" if s.count else ""
            lines += [f"{indent}for {s.target}{count} in {text(s.iter)}:{stop}", show(s.body, indent + "    ")]
        elif t is n.While:
            stop = f"  # until {s.stop}" if s.stop else ""
            lines += [f"{indent}while:", show(s.test_body, indent + "    "), f"{indent}do {text(s.test)}:{stop}"]
            lines += [show(s.body, indent + "    ")]
        elif t is n.Return:
            lines.append(f"{indent}return {text(s.value)}")
        elif t is n.Raise:
            lines.append(f"{indent}raise {s.exc and text(s.exc)}")
        elif t is n.Effect:
            lines.append(f"{indent}{text(s.value)}")
        else:
            lines.append(f"{indent}{s}")
    return "\n".join(line for line in lines if line)


def text(e: n.Expr) -> str:
    t = type(e)
    if t in (n.Name, n.Global):
        return e.id
    if t is n.Const:
        return repr(e.value)
    if t is n.Ref:
        return e.name
    if t in (n.Binary, n.Compare):
        return f"{text(e.left)} {e.op} {text(e.right)}"
    if t is n.Inplace:
        return f"inplace({text(e.left)} {e.op} {text(e.right)})"
    if t is n.Unary:
        return f"{e.op} {text(e.operand)}"
    if t is n.Index:
        return f"{text(e.value)}[{text(e.index)}]"
    if t is n.TupleExpr:
        return f"({', '.join(map(text, e.items))})"
    if t is n.Call:
        return f"{text(e.func)}({', '.join(map(text, e.args))})"
    if t is n.Star:
        return f"*{text(e.value)}"
    return str(e)
