"""IR statements and functions → Python ``ast``.

Every statement carries ``origin``, the line in the user's file that it came from.  A comment has no ``ast`` node; it is
a statement that reads a marker name, which the printer replaces.
"""

from __future__ import annotations

import ast
import sys
from typing import Any

from thunkad.emit.expressions import BINARY, Expressions, arguments, read, write
from thunkad.emit.linker import Linker, Scan, all_parameters
from thunkad.errors import Place, ThunkadError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.optimise.nest import nested

COMMENT = "__comment_%d__"


class Statements:
    """Converts the functions of one module; ``comments`` are the texts of its comments, by number."""

    def __init__(self, linker: Linker) -> None:
        self._linker = linker
        self.comments: list[str] = []

    def function(self, f: n.Function, nest: bool = False) -> ast.FunctionDef:
        """A function of the module; ``nest``: its steps put together where they were one line."""
        scan = self._linker.scans[id(f)]
        return _Body(self._linker, scan, self.comments).define(nested(f) if nest else f, self._linker.function_name(f))


class _Body:
    def __init__(self, linker: Linker, scan: Scan, comments: list[str]) -> None:
        self._linker, self._scan, self._comments = linker, scan, comments
        self._convert = Expressions(linker, scan)
        self._expr = self._convert.expr

    def define(self, f: n.Function, name: str) -> ast.FunctionDef:
        body = self.block(f.body)
        written = dict.fromkeys(s.name for s in walk.statements(f.body) if type(s) is n.SetGlobal)
        if written:
            body.insert(0, _at(ast.Global(list(written)), f.line))
        more: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}
        out = ast.FunctionDef(
            name=name, args=arguments(all_parameters(f)), body=body, decorator_list=[], returns=None, **more
        )
        out.origin = f.line
        return out

    def block(self, statements: list[n.Stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        bare = True
        skip = False
        for s, following in zip(statements, [*statements[1:], None]):
            if skip:
                skip = False
                continue
            if type(following) is n.If:
                # `t = a < b; if t:` reads better as `if a < b:`, and a chain of them then is a flat `elif`, not a
                # staircase of blocks that soon is too high for Python
                test = self._folded([s], following.test)
                if test is not None:
                    s = n.If(test, following.body, following.orelse, line=following.line or s.line)
                    skip = True
            new = self._statement(s)
            if (
                type(s) is n.Delete
                and type(s.target) is n.Name
                and out
                and isinstance(out[-1], ast.Delete)
                and len(out[-1].targets) < 8
            ):
                out[-1].targets += new[0].targets  # type: ignore[attr-defined]
                continue
            bare = bare and type(s) is n.Comment
            for node in new:
                if not hasattr(node, "origin"):
                    node.origin = s.line
                    if isinstance(s.site, Place):
                        node.rule = s.site
            out += new
        if bare:
            out.append(_at(ast.Pass(), 0))
        return out

    def _statement(self, s: Any) -> list[ast.stmt]:
        t, expr = type(s), self._expr
        if t is n.Assign:
            if type(s.value) is n.Inplace:
                return self._inplace(s.target, s.value)
            return [_assign(write(s.target), expr(s.value))]
        if t is n.Unpack:
            targets = ast.Tuple([write(x) for x in s.targets], ast.Store())
            # `() = x` and `(a,) = x` read badly but say what they mean
            return [_assign(targets, expr(s.value))]
        if t is n.Store and s.past:
            owner, name = expr(s.target.value), ast.Constant(s.target.name)
            setter = ast.Attribute(ast.Name("object", ast.Load()), "__setattr__", ast.Load())
            return [ast.Expr(ast.Call(setter, [owner, name, expr(s.value)], []))]
        if t is n.Store:
            return [_assign(self._target(s.target), expr(s.value))]
        if t is n.Update:
            return [ast.AugAssign(self._target(s.target), BINARY[s.op](), expr(s.value))]
        if t is n.Append:
            return [ast.Expr(ast.Call(ast.Attribute(read(s.target), "append", ast.Load()), [expr(s.value)], []))]
        if t is n.Delete:
            return [ast.Delete([self._target(s.target, ast.Del())])]
        if t is n.Effect:
            return [ast.Expr(expr(s.value))]
        if t is n.SetGlobal:
            return [_assign(write(s.name), expr(s.value))]
        if t is n.If:
            return [ast.If(expr(s.test), self.block(s.body), self.block(s.orelse) if s.orelse else [])]
        if t is n.For:
            return [self._for(s)]
        if t is n.While:
            return [self._while(s)]
        if t is n.With:
            target = None if s.target is None else write(s.target)
            return [ast.With([ast.withitem(expr(s.item), target)], self.block(s.body))]
        if t is n.Try:
            return [self._try(s)]
        if t is n.Raise:
            return [ast.Raise(s.exc and expr(s.exc), s.cause and expr(s.cause))]
        if t is n.Assert:
            return self._assert(s)
        if t is n.Return:
            return [ast.Return(expr(s.value))]
        if t is n.Break:
            return [ast.Break()]
        if t is n.Continue:
            return [ast.Continue()]
        if t is n.Comment:
            return [self._comment(line) for line in s.text.splitlines() or [""]]
        if t is n.Define:
            return [self.define(s.function, s.function.name)]
        raise TypeError(f"not a statement: {s!r}")

    def _target(self, e: n.Expr, context: ast.expr_context | None = None) -> ast.expr:
        context = context or ast.Store()
        if type(e) is n.Name:
            return ast.Name(e.id, context)
        node = self._expr(e)
        assert isinstance(node, (ast.Attribute, ast.Subscript)), e
        node.ctx = context
        return node

    def _inplace(self, target: str, e: n.Inplace) -> list[ast.stmt]:
        def update(name: str) -> ast.stmt:
            return ast.AugAssign(write(name), BINARY[e.op](), self._expr(e.right))

        if e.left == n.Name(target):
            return [update(target)]
        if target not in walk.names(e.right):
            return [_assign(write(target), self._expr(e.left)), update(target)]
        new = self._linker.fresh(target)  # `x = y; x += x` would add the wrong x
        return [_assign(write(new), self._expr(e.left)), update(new), _assign(write(target), read(new))]

    def _folded(self, body: list[n.Stmt], result: n.Expr) -> n.Expr | None:
        """``result`` as one expression, if all that ``body`` does is compute the name it reads."""
        if not body:
            return result
        if len(body) != 1 or type(body[0]) is not n.Assign or type(body[0].value) is n.Inplace:
            return None
        name = body[0].target
        if self._scan.reads[name] != 1 or type(result) not in (n.Name, n.Unary) or name not in walk.names(result):
            return None
        return walk.substitute(result, {name: body[0].value})

    def _for(self, s: n.For) -> ast.For:
        target: ast.expr = write(s.target)
        body = s.body
        if body and type(body[0]) is n.Unpack and body[0].value == n.Name(s.target) and self._scan.reads[s.target] == 1:
            # `for step in saved: a, b = step` is written `for a, b in saved`
            target = ast.Tuple([write(x) for x in body[0].targets], ast.Store())
            body = body[1:]
        sequence = self._expr(s.iter)
        if s.count is not None:
            target = ast.Tuple([write(s.count), target], ast.Store())
            sequence = ast.Call(self._convert.builtin("enumerate", enumerate), [sequence], [])
        return ast.For(target, sequence, self._loop_body(body, s.stop, s.line), [])

    def _loop_body(self, body: list[n.Stmt], stop: str | None, line: int) -> list[ast.stmt]:
        out = self.block(body)
        if stop is not None:
            out.append(_break_if(read(stop), line))
        return out

    def _while(self, s: n.While) -> ast.While:
        test = self._folded(s.test_body, s.test)
        body = self._loop_body(s.body, s.stop, s.line)
        if test is not None:
            return ast.While(self._expr(test), body, [])
        if type(s.test) is n.Unary and s.test.op == "not":
            leave = self._expr(s.test.operand)
        else:
            leave = ast.UnaryOp(ast.Not(), self._expr(s.test))
        body = [*self.block(s.test_body), _break_if(leave, s.line), *body]
        return ast.While(ast.Constant(True), body, [])

    def _try(self, s: n.Try) -> ast.Try:
        """``raised`` is set where the ways part."""
        handlers = []
        if s.shielded:
            # what this library refuses is for the caller, not for the handlers of the function
            ours = self._expr(n.Ref("ThunkadError", ThunkadError))
            handlers.append(ast.ExceptHandler(ours, None, [_at(ast.Raise(None, None), s.line)]))
        noted, completed = list(s.handler), list(s.orelse)
        if s.raised is not None:
            noted.insert(0, n.Assign(s.raised, n.Const(True), line=s.line))
            completed.insert(0, n.Assign(s.raised, n.Const(False), line=s.line))
        types = n.Ref("BaseException", BaseException) if s.types is None else s.types
        named = s.error if s.error is not None and self._scan.reads[s.error] else None
        handlers.append(ast.ExceptHandler(self._expr(types), named, self.block(noted)))
        return ast.Try(self.block(s.body), handlers, self.block(completed) if completed else [], [])

    def _assert(self, s: n.Assert) -> list[ast.stmt]:
        message = None if s.message is None else self._folded(s.message_body, s.message)
        if message is not None or (s.message is None and not s.message_body):
            return [ast.Assert(self._expr(s.test), None if message is None else self._expr(message))]
        # the message is computed only if the test fails
        failure = _at(ast.Assert(ast.Constant(False), s.message and self._expr(s.message)), s.line)
        failed = [*self.block(s.message_body), failure]
        return [ast.If(ast.UnaryOp(ast.Not(), self._expr(s.test)), failed, [])]

    def _comment(self, text: str) -> ast.stmt:
        marker = read(COMMENT % len(self._comments))
        self._comments.append(text)
        node = ast.Expr(marker)
        node.comment = True
        return node


def _at(node: ast.stmt, line: int) -> ast.stmt:
    node.origin = line
    return node


def _assign(target: ast.expr, value: ast.expr) -> ast.stmt:
    return ast.Assign([target], value)


def _break_if(test: ast.expr, line: int) -> ast.stmt:
    return _at(ast.If(test, [_at(ast.Break(), line)], []), line)
