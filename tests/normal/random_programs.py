"""Random structured programs over ints: assignments, updates, unpackings, branches, loops with stop flags, deletions."""

from __future__ import annotations

import random

from thunkad.ir import nodes as n

VARIABLES = ["a", "b", "c", "d"]


class Maker:
    """Programs from a seed.  Flags that stop loops are bound on every path, as ``exits`` does it."""

    def __init__(self, seed: int, unbound: bool) -> None:
        self.r = random.Random(seed)
        self.unbound = unbound
        self.fresh = 0

    def temporary(self, prefix: str = "t") -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def atom(self) -> n.Expr:
        if self.r.random() < 0.3:
            return n.Const(self.r.randint(0, 4))
        return n.Name(self.r.choice([*VARIABLES, "p"]))

    def block(self, depth: int, length: int = 5) -> list[n.Stmt]:
        return [s for _ in range(self.r.randint(1, length)) for s in self.statement(depth)]

    def test(self) -> tuple[list[n.Stmt], n.Name]:
        t = self.temporary()
        return [n.Assign(t, n.Compare(self.r.choice("<>"), self.atom(), self.atom()))], n.Name(t)

    def flagged(self, depth: int, stop: str) -> list[n.Stmt]:
        """A body that binds ``stop`` on every path."""
        before, test = self.test()
        if self.r.random() < 0.5:
            return [*self.block(depth, 3), *before, n.Assign(stop, test)]
        body = [*self.block(depth, 2), n.Assign(stop, n.Const(True))]
        orelse = [*self.block(depth, 2), n.Assign(stop, n.Const(False))]
        return [*before, n.If(test, body, orelse)]

    def statement(self, depth: int) -> list[n.Stmt]:
        r, k = self.r, self.r.random()
        var = r.choice(VARIABLES)
        if depth > 0 and k < 0.2:
            before, test = self.test()
            orelse = self.block(depth - 1) if r.random() < 0.6 else []
            if r.random() < 0.1:
                error = self.temporary()
                made = n.Assign(error, n.Call(n.Ref("KeyError", KeyError), ()))
                orelse = [*orelse, made, n.Raise(n.Name(error), None)]
            return [*before, n.If(test, self.block(depth - 1), orelse)]
        if depth > 0 and k < 0.32:
            stop = self.temporary("stop") if r.random() < 0.4 else None
            body = self.block(depth - 1) if stop is None else self.flagged(depth - 1, stop)
            items = self.temporary()
            display = n.TupleExpr(tuple(self.atom() for _ in range(r.randint(0, 3))))
            count = r.choice(VARIABLES) if r.random() < 0.2 else None
            target = var if count != var else "e"
            return [n.Assign(items, display), n.For(target, n.Name(items), body, stop, count)]
        if depth > 0 and k < 0.42:
            test_body, test = self.test()
            if r.random() < 0.3:
                test_body = [*self.block(0, 2), *test_body]
            stop = self.temporary("stop") if r.random() < 0.4 else None
            body = self.block(depth - 1) if stop is None else self.flagged(depth - 1, stop)
            counter = self.temporary("n")
            t1, t2 = self.temporary(), self.temporary()
            test_body += [n.Assign(t1, n.Compare("<", n.Name(counter), n.Const(3)))]
            test_body += [n.If(test, [n.Assign(t2, n.Name(t1))], [n.Assign(t2, n.Const(False))])]
            body = [n.Update(n.Name(counter), "+", n.Const(1)), *body]
            return [n.Assign(counter, n.Const(0)), n.While(test_body, n.Name(t2), body, stop)]
        if k < 0.6:
            return [n.Assign(var, self.atom())]
        if k < 0.68:
            t = self.temporary()
            return [n.Assign(t, n.Binary(r.choice("+-*"), self.atom(), self.atom())), n.Assign(var, n.Name(t))]
        if k < 0.76:
            return [n.Update(n.Name(var), r.choice("+-"), self.atom())]
        if k < 0.88:
            t = self.temporary()
            targets = r.sample(VARIABLES, 2) if r.random() < 0.9 else [var, var]
            return [n.Assign(t, n.TupleExpr((self.atom(), self.atom()))), n.Unpack(tuple(targets), n.Name(t))]
        if k < 0.91:
            t = self.temporary()
            pair = n.TupleExpr((self.atom(), self.atom()))
            return [n.Assign(t, pair), n.Assign(var, n.Index(n.Name(t), n.Const(r.choice([0, 1, -1]))))]
        if k < 0.93 and self.unbound:
            return [n.Delete(n.Name(var))]
        return [n.Effect(n.Unary("-", n.Name(var)))]

    def function(self) -> n.Function:
        body: list[n.Stmt] = []
        for k, var in enumerate(VARIABLES):
            if not self.unbound or self.r.random() < 0.4:
                body.append(n.Assign(var, n.Const(k)))
        body += self.block(3, 8)
        if self.unbound:
            return n.Function("f", [n.Param("p")], [*body, n.Return(n.Name(self.r.choice(VARIABLES)))])
        result = n.TupleExpr(tuple(map(n.Name, VARIABLES)))
        return n.Function("f", [n.Param("p")], [*body, n.Assign("result", result), n.Return(n.Name("result"))])
