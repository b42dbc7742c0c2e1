"""What is printed parses to what was built, for random programs; astor is right without the fallback."""

import ast
import random
import subprocess
import sys

import pytest

from thunkad.emit.linker import Linker
from thunkad.emit.module import _without_comments, emit
from thunkad.emit.printer import print_module, print_plainly
from thunkad.emit.statements import Statements
from thunkad.ir.nodes import (
    Append, Assert, Assign, Attr, Binary, Call, Closure, Comment, Compare, Const, Define, Delete, DictExpr, Effect, For,
    Function, Global, If, IfExp, Index, Inplace, Lambda, ListExpr, Name, Param, Raise, Ref, Return, SetExpr, Slice,
    Star, Store, TupleExpr, Unary, Unpack, Update, While,
)  # fmt: skip

BINARY = ["+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "|", "^", "&"]
COMPARE = ["<", "<=", "==", "!=", ">", ">=", "is", "is not", "in", "not in"]
CONSTANTS = [0, -1, 7, 1.5, -2.5e-30, float("inf"), 3j, "a'\"\n", "long " * 30, b"\xff", None, True, ..., -0.0]
NAMES = ["x", "y", "a_rather_long_name_of_the_users", "t1"]
OBJECTS = [Ref("np", object()), Ref("unbroadcast", object()), Ref("x", object())]


class Programs:
    """Random IR; far more nested than what the compiler makes."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def atom(self):
        pick = self.random.random()
        if pick < 0.5:
            return Name(self.random.choice(NAMES))
        if pick < 0.75:
            return Const(self.random.choice(CONSTANTS))
        return self.random.choice([Global("g"), Global("len"), *OBJECTS])

    def items(self, depth, star=True):
        out = [self.expr(depth - 1) for _ in range(self.random.randrange(4))]
        return tuple(Star(e) if star and self.random.random() < 0.15 else e for e in out)

    def maybe(self, depth):
        return self.expr(depth - 1) if self.random.random() < 0.6 else None

    def expr(self, depth=3):
        if depth <= 0:
            return self.atom()
        r, d = self.random, depth - 1
        kind = r.randrange(15)
        if kind < 3:
            return Binary(r.choice(BINARY), self.expr(d), self.expr(d))
        if kind == 3:
            return Unary(r.choice(["-", "+", "~", "not"]), self.expr(d))
        if kind == 4:
            return Compare(r.choice(COMPARE), self.expr(d), self.expr(d))
        if kind == 5:
            keywords = [("k", self.expr(d)), (None, self.expr(d))][: r.randrange(3)]
            return Call(self.expr(d), self.items(depth), tuple(keywords))
        if kind == 6:
            return Attr(self.expr(d), "shape")
        if kind == 7:
            return Index(self.expr(d), self.index(depth))
        if kind == 8:
            return TupleExpr(self.items(depth))
        if kind == 9:
            return r.choice([ListExpr, SetExpr])(self.items(depth))
        if kind == 10:
            values = self.items(depth, star=False)
            return DictExpr(tuple(self.maybe(depth) for _ in values), values)
        if kind == 11:
            return IfExp(self.expr(d), self.expr(d), self.expr(d))
        if kind == 12:
            return Lambda(tuple(r.sample(["u", "v"], r.randrange(3))), self.expr(d))
        if kind == 13:
            inner = Function("<lambda>", [Param("p")], [Return(Name("p"))], captures=("c",) if r.random() < 0.5 else ())
            return Closure(inner, (self.expr(d),) if inner.captures else ())
        return self.atom()

    def slice(self, depth):
        return Slice(self.maybe(depth), self.maybe(depth), self.maybe(depth))

    def index(self, depth):
        parts = [self.slice(depth) if self.random.random() < 0.4 else e for e in self.items(depth)]
        return self.random.choice([self.expr(depth - 1), self.slice(depth), TupleExpr(tuple(parts))])

    def block(self, depth, least=0):
        return [self.statement(depth - 1) for _ in range(self.random.randrange(least, 4))]

    def place(self):
        return self.random.choice([Index(Name("x"), self.index(2)), Attr(self.expr(1), "field")])

    def statement(self, depth):
        r, name = self.random, self.random.choice(NAMES)
        kind = r.randrange(18 if depth > 0 else 13)
        if kind < 3:
            return Assign(name, self.expr())
        simple = {
            3: lambda: Assign(name, Inplace(r.choice(BINARY), Name(r.choice(NAMES)), self.expr(2))),
            4: lambda: Unpack(tuple(r.sample(NAMES, r.randrange(4))), self.expr()),
            5: lambda: Store(self.place(), self.expr()),
            6: lambda: Update(self.place(), r.choice(BINARY), self.expr()),
            7: lambda: Append(name, self.expr()),
            8: lambda: Delete(r.choice([Name(name), self.place()])),
            9: lambda: Effect(self.expr()),
            10: lambda: Comment("a note, # and \\ and 'quotes'"),
            11: lambda: Raise(self.expr(1), self.maybe(1)),
            12: lambda: Assert(self.expr(1), [], self.maybe(2)),
            13: lambda: If(self.expr(2), self.block(depth), self.block(depth)),
            14: lambda: For(name, self.expr(2), self.block(depth), r.choice([None, "y"]), r.choice([None, "t1"])),
            15: lambda: While(self.block(depth), self.expr(1), self.block(depth), r.choice([None, "y"])),
            16: lambda: Define(Function("inner", [Param("q")], self.block(depth), line=3)),
            17: lambda: Assert(self.expr(1), self.block(depth), self.maybe(2)),
        }
        return simple[kind]()

    def function(self):
        return Function("f", [Param(p) for p in NAMES], [*self.block(4, 2), Return(self.expr())])


def built(function):
    linker = Linker([function])
    convert = Statements(linker)
    return ast.Module([convert.function(f) for f in linker.functions], []), convert.comments


@pytest.mark.parametrize("seed", range(150))
def test_text_and_tree_agree(seed):
    function = Programs(seed).function()
    tree, comments = built(function)
    text = print_module(tree, comments)
    plain_text = print_plainly(tree, comments)
    assert text.count("# a note, # and \\ and 'quotes'") == len(comments) and "__comment_" not in text
    expected = ast.dump(ast.Module(_without_comments(tree.body), []))
    assert ast.dump(ast.parse(text)) == expected
    assert ast.dump(ast.parse(plain_text)) == expected
    assert emit([function]).text == text  # deterministic, and without the fallback


def test_a_wrong_text_is_never_used(monkeypatch):
    function = Function("f", [Param("x")], [Return(Binary("+", Name("x"), Const(1)))])
    for wrong in ("def f(x):\n    return x - 1\n", "def f(x:\n"):
        monkeypatch.setattr("thunkad.emit.module.print_module", lambda tree, comments, wrong=wrong: wrong)
        assert emit([function]).text == "def f(x):\n    return x + 1\n"


def test_astor_is_imported_late_and_without_warnings():
    code = (
        "import sys, thunkad.emit.module as m; assert 'astor' not in sys.modules\n"
        "from thunkad.ir.nodes import Const, Function, Return\n"
        "m.emit([Function('f', [], [Return(Const(1))])]); assert 'astor' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
