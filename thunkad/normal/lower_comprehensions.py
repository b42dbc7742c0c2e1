"""Comprehensions, as loops that fill a container."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.ir import nodes as n
from thunkad.normal.lower_builder import Builder, Env, lowers
from thunkad.normal.lower_expressions import callee, item, truth
from thunkad.normal.lower_iterables import Run, iterable, loop_target
from thunkad.normal.scope import takes_all
from thunkad.records import replace

NEW = {
    "ListComp": ("rows", n.ListExpr(())),
    "SetComp": ("members", n.Call(n.Ref("set", set))),
    "DictComp": ("entries", n.DictExpr((), ())),
}


@lowers("ListComp", "SetComp", "DictComp")
def comprehension(b: Builder, node: Any) -> n.Expr:
    """The container, filled."""
    return _filled(b, node, iterable(b, node.generators[0].iter))  # belongs to the scope around


def _filled(b: Builder, node: Any, run: Run, until: bool | None = None) -> n.Expr:
    """The container; ``run``: what is looped over; ``until``: an element of this truth is the last."""
    wish, empty = NEW.get(type(node).__name__, NEW["ListComp"])
    env = Env(b.scopes.of(node), b.env)
    out = b.names.new(wish)
    b.stable.add(out)
    with b.within(env):
        b.enter(env, {})
        b.assign(out, empty)
        _generators(b, node, 0, run, lambda k: _element(b, node, out, until if k == 0 else None))
    return n.Name(out)


def comprehension_loops(b: Builder, node: Any, env: Env, consume: Callable[[n.Expr], None]) -> None:
    """The loops of a generator expression with ``consume`` in place of handing its values over."""
    run = iterable(b, node.generators[0].iter)
    with b.within(env):
        b.enter(env, {})
        _generators(b, node, 0, run, lambda _: consume(b.atom(node.elt)))


def _generators(b: Builder, node: Any, k: int, run: Run, element: Callable[[int], None]) -> None:
    generator = node.generators[k]
    if generator.is_async:
        b.unsupported(node, "an asynchronous comprehension can't be differentiated", "Use a plain one.")
    with b.into([]) as body:
        target = loop_target(b, run, generator.target)
        for test in generator.ifs:
            inner_test = truth(b, test)
            inner: list[n.Stmt] = []
            b.emit(n.If(inner_test, inner, []))
            b.block = inner
        if k + 1 < len(node.generators):
            _generators(b, node, k + 1, iterable(b, node.generators[k + 1].iter), element)
        else:
            element(k)
    b.emit(n.For(target, run.over, body))


def _element(b: Builder, node: Any, out: str, until: bool | None) -> None:
    kind = type(node).__name__
    if kind == "DictComp":
        key, value = b.operands(node.key, node.value)
        b.emit(n.Store(n.Index(n.Name(out), key), value))
    elif kind == "SetComp":
        b.emit(n.Effect(n.Call(n.Attr(n.Name(out), "add"), (b.atom(node.elt),))))
    else:
        element = b.atom(node.elt)
        b.emit(n.Append(out, element))
        if until is not None:
            leave: list[n.Stmt] = [n.Break(line=b.line)]
            b.emit(n.If(element, leave, []) if until else n.If(element, [], leave))


# ---------------------------------------------------------------- generator expressions


def materialised(call: Any) -> bool:
    """Whether the first argument of a call is a generator expression that it takes all of at once."""
    return bool(call.args) and type(call.args[0]).__name__ == "GeneratorExp" and takes_all(call)


def materialised_call(b: Builder, call: Any) -> n.Call:
    """Such a call, of the list of the elements; ``any`` and ``all`` stop at the element that decides.

    As in Python, what the generator expression loops over comes first, then the other arguments, then the elements.
    """
    generator, *others = call.args
    func_held, run = callee(b, call.func), iterable(b, generator.generators[0].iter)
    held = [func_held, b.hold(run.over)]
    held += [b.hold(item(b, a)) for a in others]
    held += [b.hold(b.atom(k.value), mapping=k.arg is None) for k in call.keywords]
    func, over, *rest = b.settle(held)
    held = [b.hold(func, callee=True), *map(b.hold, rest)]
    name = getattr(call.func, "id", None)
    elements = _filled(b, generator, replace(run, over=over), {"any": True, "all": False}.get(name) if name else None)
    func, *rest = b.settle(held)
    b.calls += 1
    count = len(others)
    return n.Call(func, (elements, *rest[:count]), tuple((k.arg, v) for k, v in zip(call.keywords, rest[count:])))
