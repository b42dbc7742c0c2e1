"""Generator functions as classes: source in, source out.

The variables that outlive a ``yield`` become attributes.  A method runs the body from the ``yield`` where it was left
to the next one; everything keeps its place, and is skipped while the way back to that ``yield`` leads past it::

    def powers(x, n):                   def resumed(self, sent):
        p = 1.0                             if self.at == 0: return EXHAUSTED
        for k in range(n):                  if self.at == 1:
            p = p * x                           self.at = 0
            yield p                             self.p = 1.0
            print(k)                            self.items = iter(range(self.n))
                                            while True:
                                                if self.at == 0:
                                                    item = drawn(self.items)
                                                    if item is EXHAUSTED: break
                                                    self.k = item
                                                    self.p = self.p * self.x
                                                    value = self.p
                                                    self.at = 2
                                                    return value
                                                self.at = 0
                                                print(self.k)
                                            return EXHAUSTED

``at`` is the number of the ``yield``, 1 before the generator has begun, and 0 while it runs; so whatever leaves it, an
exception too, leaves it finished.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.ir.fresh import Names
from thunkad.normal.code_text import CodeText
from thunkad.normal.resumable import Resumable
from thunkad.normal.scope import FUNCTIONS, Scope
from thunkad.normal.scope_walk import fields
from thunkad.normal.scopes import Scopes
from thunkad.normal.suspended_names import Attributes, Refuse
from thunkad.normal.yields import YIELDS, Outliving, has_yield, yields_in
from thunkad.tree.parse import gast

#: Attributes of every generator, and what the written code refers to.
MACHINE = ("at", "cleans_up", "close", "generator", "result", "resumed", "send", "throw")
HELPERS = (
    "CLOSING", "EXHAUSTED", "Thrown", "begun", "behind",
    "delegated", "drawn", "enter", "following", "handed", "iter", "leave", "returned",
    "shown", "traceback_of", "zipped",
    "enumerated",
    "mapped", "filtered",
)  # fmt: skip
#: Built-in functions by the ones that stand for them inside a generator.
LAZY = {"zip": "zipped", "enumerate": "enumerated", "map": "mapped", "filter": "filtered"}


class Suspension:
    """The two methods of the class for one generator function.

    Attributes
    ----------
    names : dict of str to str
        How each of ``HELPERS`` is spelled in the methods.
    captured : dict of str to str
        The attribute for each variable that was captured where the generator function was made.
    methods : list of gast.FunctionDef
        ``__init__`` and ``resumed``.
    """

    def __init__(
        self, scope: Scope, scopes: Scopes, captured: dict[str, bool] | None, refuse: Refuse, managed: bool = False
    ) -> None:
        """``captured``: the variables of functions around it, and whether they live in cells; None: there are none.

        ``managed``: it makes a context manager, which throws into it what leaves the ``with`` block.
        """
        self.managed = managed
        self.own, self.scopes, self.refuse = scope, scopes, refuse
        self.nested, captured = captured is not None, captured or {}
        self.cells = captured
        node = scope.node
        taken = {x.id for x in gast.walk(node) if isinstance(x, gast.Name)} | scope.bound | set(captured)
        fresh = Names(taken)
        self.frame = "self" if "self" not in taken else fresh.new("frame")
        fresh.reserve((self.frame,))
        self.names = {name: fresh.new(name) for name in HELPERS}
        self.sent, self.item, self.value = (fresh.new(name) for name in ("sent", "item", "value"))
        self.fresh, self.written = fresh, CodeText(node)
        node.body = Resumable(scope, CodeText(node), fresh, self.names, refuse).block(node.body)
        self.kept = Outliving(scope, scopes).found
        attributes = Names(MACHINE)
        self.attributes = {name: attributes.new(name) for name in sorted(self.kept)}
        self.captured = {name: attributes.new(f"{name}_cell" if cell else name) for name, cell in captured.items()}
        self.machine = attributes
        self.cleans_up = any(map(cleans_up, statements_in(node.body)))
        self.closes = self.cleans_up and not managed  # what manages is thrown into
        self.catches = self.managed and any(
            type(s).__name__ == "Try" and has_yield(*s.body, *s.orelse) for s in statements_in(node.body)
        )
        self.numbers = {id(y): k for k, y in enumerate(yields_in_body(node), 2)}
        self.returns_value = any(type(x).__name__ == "Return" and x.value is not None for x in statements_in(node.body))
        body = self.block(node.body, self.all_in(*node.body), begin=True)
        head = self.written.code(f"if {self.frame}.at == 0:\n return {self.names['EXHAUSTED']}")
        if self.returns_value:
            head[0].body.insert(0, *self.written.code(f"{self.frame}.result = None"))
        resumed = self.written.code(f"def resumed({self.frame}, {self.sent}):\n pass")[0]
        named = Attributes(
            scope, scopes, self.frame, self.attributes, self.captured, self.cells, self.names, self.written, refuse
        )
        resumed.body = [*head, *named.renamed(body)]
        if type(resumed.body[-1]).__name__ != "Return":
            resumed.body += self.written.code(f"return {self.names['EXHAUSTED']}")
        self.methods = [self.made(), resumed]

    # ------------------------------------------------------------ writing

    def place(self, name: str) -> Any:
        """A new attribute of the generator's own, as an expression."""
        return self.machine.new(name)

    def is_at(self, numbers: set[int]) -> str:
        """The test whether the generator goes on behind one of these yields."""
        if len(numbers) == 1:
            return f"{self.frame}.at == {min(numbers)}"
        return f"{self.frame}.at in ({', '.join(map(str, sorted(numbers)))})"

    def all_in(self, *nodes: Any) -> set[int]:
        return {self.numbers[id(y)] for node in nodes for y in yields_in(node)}

    def made(self) -> Any:
        """``__init__``: parameters and captured variables become attributes."""
        init = self.written.code(f"def __init__({self.frame}):\n pass")[0]
        args, own = self.own.node.args, init.args
        for field in ("posonlyargs", "args", "kwonlyargs"):
            setattr(own, field, getattr(own, field) + [self.parameter(p.id) for p in getattr(args, field)])
        if own.posonlyargs:
            own.posonlyargs, own.args = own.args[:1] + own.posonlyargs, own.args[1:]
        own.vararg = None if args.vararg is None else self.parameter(args.vararg.id)
        own.kwarg = None if args.kwarg is None else self.parameter(args.kwarg.id)
        own.defaults = [self.written.expr("None") for _ in args.defaults]
        own.kw_defaults = [None if d is None else self.written.expr("None") for d in args.kw_defaults]
        given = self.own.params
        if self.nested:  # every parameter by its place, then what was captured
            parts = [*given, *self.captured.values()]
            init = self.written.code(f"def __init__({', '.join([self.frame, *parts])}):\n pass")[0]
        init.body = self.written.code(f"{self.frame}.at = 1")
        for name in given:
            init.body += self.written.code(f"{self.frame}.{self.attributes[name]} = {name}")
        for name in self.captured.values():
            init.body += self.written.code(f"{self.frame}.{name} = {name}")
        return init

    def parameter(self, name: str) -> Any:
        return self.written.code(f"def f({name}): pass")[0].args.args[0]

    # ------------------------------------------------------------ blocks

    def block(self, body: list[Any], possible: set[int], begin: bool = False) -> list[Any]:
        """``body``, to be entered running, or on the way back to one of the yields ``possible``.

        ``begin``: it is the body of the generator; it is entered with ``at`` 1 for the first time.
        """
        out: list[Any] = []
        start = f"{self.names['begun']}({self.frame})\n" if self.closes else ""
        run: list[Any] = self.written.code(f"{start}{self.frame}.at = 0") if begin else []
        rest = set(possible)

        def flush() -> None:
            if run:
                start = 1 if begin and not out else 0
                out.extend([self.guarded_by(f"{self.frame}.at == {start}", run)] if rest else run)
            run.clear()

        for s in body:
            self.written.line = s
            own = self.all_in(s)
            if not own:
                run += self.plain(s)
                continue
            found = self.yielding(s)
            if found is not None:
                target, expression = found
                before, new = self.give(expression, min(own), target)
                test = self.is_at(own)
            else:
                before, new = self.compound(s)
                test = self.is_at({0} | own)
            self.written.line = s
            run += before
            flush()
            rest -= own
            if rest:
                out.append(self.guarded_by(test, new))
            else:
                out += new
        flush()
        return out

    def guarded_by(self, test: str, body: list[Any]) -> Any:
        choice = self.written.code(f"if {test}:\n pass")[0]
        choice.body = list(body)
        return choice

    def yielding(self, s: Any) -> tuple[Callable[[str], list[Any]] | None, Any] | None:
        """What a statement that consists of one ``yield`` does with its value, and the ``yield``; None for another."""
        kind, value = type(s).__name__, getattr(s, "value", None)
        if type(value).__name__ not in YIELDS or has_yield(*fields(value)):
            return None
        if kind == "Expr":
            return None, value
        if kind == "AugAssign" and type(s.target).__name__ != "Name":
            return None
        if kind not in ("Assign", "AnnAssign", "AugAssign", "Return"):
            return None

        def bind(name: str) -> list[Any]:
            s.value = self.written.expr(name)
            return self.plain(s)

        return bind, value

    def give(self, node: Any, k: int, target: Callable[[str], list[Any]] | None) -> tuple[list[Any], list[Any]]:
        """What comes before a ``yield`` is left, and what after it is gone on from."""
        f = self.frame
        closing = f"\nif {self.sent} is {self.names['CLOSING']}:\n raise GeneratorExit" if self.closes else ""
        if self.catches:
            closing += f"\nif isinstance({self.sent}, {self.names['Thrown']}):\n raise {self.sent}.error"
        if type(node).__name__ == "Yield":
            value = self.written.expr("None") if node.value is None else node.value
            before = self.written.code(f"{self.value} = _value\n{f}.at = {k}\nreturn {self.value}", _value=value)
            after = self.written.code(f"{f}.at = 0" + closing)
            return before, after + ([] if target is None else target(self.sent))
        items = self.place("items")
        begin = self.names["iter" if target is None else "delegated"]
        before = self.written.code(
            f"{f}.{items} = {begin}(_over)\n{self.sent} = None\n{f}.at = {k}",
            _over=self.lazily(node.value),
        )
        after = self.written.code(
            f"{f}.at = 0{closing}\n{self.item} = {self.names['handed']}({f}.{items}, {self.sent})\n"
            f"if {self.item} is not {self.names['EXHAUSTED']}:\n {f}.at = {k}\n return {self.item}"
        )
        if target is not None:
            after += self.written.code(f"{self.value} = {self.names['returned']}({f}.{items})") + target(self.value)
        return before, after

    # ------------------------------------------------------------ statements without a yield

    def plain(self, s: Any) -> list[Any]:
        """A statement that holds no ``yield``, with what leaves the generator in it put right."""
        kind = type(s).__name__
        if kind == "Return":
            return self.left(s)
        if kind == "Try":
            self.mark(s.body)
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            block = getattr(s, name, None)
            if isinstance(block, list) and kind not in FUNCTIONS:
                setattr(s, name, [y for x in block for y in self.plain(x)])
        return [s]

    def mark(self, body: list[Any]) -> None:
        """Note that ``body`` is what a ``try`` protects: there ``StopIteration`` may be caught."""
        for s in body:
            for x in gast.walk(s):
                x.in_try = True

    def left(self, s: Any) -> list[Any]:
        """``return`` of a generator."""
        out: list[Any] = []
        if s.value is not None:
            out += self.written.code(f"{self.frame}.result = _value", _value=s.value)
        return out + self.written.code(f"return {self.names['EXHAUSTED']}")

    def lazily(self, node: Any) -> Any:
        """What is iterated over while the generator is left and gone on with."""
        if type(node).__name__ == "Call" and type(node.func).__name__ == "Name":
            if node.func.id in LAZY and self.own.owner(node.func.id) is None:
                node.func = self.written.expr(self.names[LAZY[node.func.id]])
        return node

    # ------------------------------------------------------------ statements with a yield inside

    def compound(self, s: Any) -> tuple[list[Any], list[Any]]:
        """What is done once before the statement, and the statement."""
        method = getattr(self, f"_{type(s).__name__}", None)
        header = [x for name in ("test", "iter", "subject", "items") for x in listed(getattr(s, name, None))]
        if method is None or has_yield(*header):
            self.refuse(
                self.written.line,
                "a 'yield' inside of an expression can't be differentiated where the generator is kept",
                "Give it a statement of its own: y = yield x.",
            )
        return method(s)  # type: ignore[no-any-return]

    def _If(self, s: Any) -> tuple[list[Any], list[Any]]:
        choice = self.written.code("if _test:\n pass", _test=s.test)[0]
        inside, other = self.all_in(*s.body), self.all_in(*s.orelse)
        if inside or other:
            choice.test = self.entered(inside, other, s.test)
        choice.body, choice.orelse = self.block(s.body, inside), self.block(s.orelse, other)
        return [], [choice]

    def entered(self, inside: set[int], other: set[int], test: Any) -> Any:
        """Whether a block is run: the generator goes on in it, or it does not go on elsewhere and ``test`` holds."""
        if other:
            test = self.written.expr(f"{self.frame}.at == 0 and _test", _test=test)
        return self.written.expr(f"{self.is_at(inside)} or _test", _test=test) if inside else test

    def _While(self, s: Any) -> tuple[list[Any], list[Any]]:
        inside, other = self.all_in(*s.body), self.all_in(*s.orelse)
        loop = self.written.code("while True:\n pass")[0]
        if not (type(s.test).__name__ == "Constant" and s.test.value):
            loop.test = self.entered(inside, other, s.test)
        loop.body, loop.orelse = self.block(s.body, inside), self.block(s.orelse, other)
        return [], [loop]

    def _For(self, s: Any) -> tuple[list[Any], list[Any]]:
        f, items = self.frame, self.place("items")
        inside, other = self.all_in(*s.body), self.all_in(*s.orelse)
        before = self.written.code(f"{f}.{items} = {self.names['iter']}(_over)", _over=self.lazily(s.iter))
        out: list[Any] = []
        ended = self.fresh.new("ended") if s.orelse else None
        if ended is not None:
            out += self.written.code(f"{ended} = False")
        loop = self.written.code("while True:\n pass")[0]
        head = self.written.code(
            f"{self.item} = {self.names['drawn']}({f}.{items})\n"
            f"if {self.item} is {self.names['EXHAUSTED']}:\n{'' if ended is None else f' {ended} = True'}\n break\n"
            f"target = {self.item}"
        )
        head[-1].targets = [s.target]
        loop.body = self.block([*head, *s.body], inside)
        if other and inside:
            out.append(self.guarded_by(self.is_at({0} | inside), [loop]))
        elif other:
            out.append(self.guarded_by(f"{f}.at == 0", [loop]))
        else:
            out.append(loop)
        if ended is not None:
            choice = self.guarded_by(f"{self.is_at(other)} or {ended}" if other else ended, [])
            choice.body = self.block(s.orelse, other)
            out.append(choice)
        return before, out

    def _Try(self, s: Any) -> tuple[list[Any], list[Any]]:
        self.mark(s.body)
        new = self.written.code("try:\n pass\nfinally:\n pass")[0]
        new.handlers = [x for h in s.handlers for x in self.plain(h)]
        possible = self.all_in(*s.body, *s.orelse)
        new.body = self.block(s.body, possible)
        new.orelse = self.block(s.orelse, self.all_in(*s.orelse))
        final = [y for x in s.finalbody for y in self.plain(x)]
        new.finalbody = [self.guarded_by(f"{self.frame}.at == 0", final)] if final else []
        return [], [new]

    def _Match(self, s: Any) -> tuple[list[Any], list[Any]]:
        f, chosen = self.frame, self.place("chosen")
        out: list[Any] = []
        for k, case in enumerate(s.cases):
            body, case.body = case.body, self.written.code(f"{f}.{chosen} = {k}")
            choice = self.guarded_by(f"{f}.{chosen} == {k}", [])
            choice.body = self.block(body, self.all_in(*body))
            out.append(choice)
        select = [*self.written.code(f"{f}.{chosen} = -1"), *self.plain(s)]
        chain = out[0]
        for choice in out[1:]:
            chain.orelse = [choice]
            chain = choice
        return select, out[:1]


def yields_in_body(node: Any) -> list[Any]:
    return [y for s in node.body for y in yields_in(s)]


def statements_in(body: list[Any]) -> list[Any]:
    """Statements of a function itself at any depth."""
    out: list[Any] = []
    for s in body:
        out.append(s)
        if type(s).__name__ not in FUNCTIONS:
            for part in fields(s):
                if isinstance(part, (gast.stmt, gast.ExceptHandler, gast.match_case)):
                    out += statements_in([part])
    return out


def cleans_up(s: Any) -> bool:
    """Whether a statement has something to do if the generator is closed while it is in it."""
    if type(s).__name__ != "Try" or not has_yield(*s.body, *s.orelse):
        return False
    caught = [x for h in s.handlers if h.type is not None for x in gast.walk(h.type)]
    names = {x.id for x in caught if isinstance(x, gast.Name)}
    return bool(s.finalbody or names & {"BaseException", "GeneratorExit"} or any(h.type is None for h in s.handlers))


def listed(x: Any) -> list[Any]:
    return x if isinstance(x, list) else [] if x is None else [x]
