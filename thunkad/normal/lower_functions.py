"""Calls and functions: nested functions are copied into their calls, or become closures with explicit captures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.normal.exits import left_early, single_exit_block
from thunkad.normal.lower_builder import Builder, Env, Slot, lowers
from thunkad.normal.lower_comprehensions import comprehension, materialised, materialised_call
from thunkad.normal.lower_expressions import plain_call
from thunkad.normal.lower_targets import bind
from thunkad.normal.managers import makes_manager
from thunkad.normal.scope import Scope, bind_call, takes_all
from thunkad.normal.suspended import LAZY
from thunkad.normal.suspended_class import class_inside
from thunkad.runtime import lazy


def function_body(b: Builder, node: Any, name: str, captures: tuple[str, ...] = ()) -> n.Function:
    """The function of ``node``, whose scope ``b.env`` is."""
    args, scope = node.args, b.env.scope
    for taken in sorted(b.names.taken.intersection(scope.params)):
        b.unsupported(node, f"'{taken}' is a parameter and a global variable here", "Rename one of them.")
    b.names.reserve(scope.params)
    b.line = node.lineno
    b.stable.update(p for p in scope.params if (scope, p) in b.scopes.constant)
    b.enter(b.env, {p: n.Name(p) for p in scope.params})
    if isinstance(node.body, list):
        b.statements(node.body)
    else:
        b.line = node.body.lineno
        b.emit(n.Return(b.atom(node.body)))
    return n.Function(name, parameters(args), b.block, captures, node.lineno, b.source.filename)


def parameters(args: Any) -> list[n.Param]:
    """The parameters of a function or lambda."""
    without = len(args.posonlyargs) + len(args.args) - len(args.defaults)
    params = [n.Param(p.id, has_default=k >= without) for k, p in enumerate((*args.posonlyargs, *args.args))]
    if args.vararg is not None:
        params.append(n.Param(args.vararg.id, "var_positional"))
    params += [n.Param(p.id, "keyword", d is not None) for p, d in zip(args.kwonlyargs, args.kw_defaults)]
    if args.kwarg is not None:
        params.append(n.Param(args.kwarg.id, "var_keyword"))
    return params


def generator_maker(b: Builder, scope: Scope, name: str, captures: tuple[str, ...], cells: set[str]) -> n.Function:
    """A generator function as one that makes an object, see :mod:`thunkad.normal.suspended`."""
    node = scope.node
    if type(node).__name__ == "Lambda":
        b.unsupported(node, "a lambda with 'yield' can't be differentiated", "Make it a function.")
    variables = b.scopes.captures(scope)
    cls = class_inside(
        b.source,
        scope,
        b.scopes,
        {v.name: c in cells for v, c in zip(variables, captures)},  # type: ignore[arg-type]
        makes_manager(b.source, scope),
    )
    b.line = node.lineno
    given = tuple(map(n.Name, (*scope.params, *captures)))
    b.emit(n.Return(b.temp(n.Call(n.Ref(cls.__name__, cls), given))))
    return n.Function(name, parameters(node.args), b.block, captures, node.lineno, b.source.filename)


# ---------------------------------------------------------------- definitions


@lowers("FunctionDef")
def _define(b: Builder, node: Any) -> None:
    scope = b.scopes.of(node)
    if scope.awaits:
        b.unsupported(node, f"the asynchronous function '{node.name}' can't be differentiated", "Make it a plain one.")
    if scope.inline:
        _keep_defaults(b, scope, node.name)
        return
    kept = node.decorator_list[:-1] if makes_manager(b.source, scope) else node.decorator_list
    decorators = [b.atom(d) for d in kept]
    value: n.Expr = _closure(b, scope, node.name)
    for decorator in reversed(decorators):
        value = n.Call(decorator, (b.temp(value),))
        b.calls += 1
    b.write(node.name, value)


@lowers("Lambda")
def _lambda(b: Builder, node: Any) -> n.Expr:
    return _closure(b, b.scopes.of(node), "function")


def define_lambda(b: Builder, name: str, node: Any) -> bool:
    """``name = lambda …``: whether it is a function that is copied into its calls."""
    scope = b.scopes.of(node)
    if scope.inline:
        _keep_defaults(b, scope, name)
    return scope.inline


def _keep_defaults(b: Builder, scope: Scope, name: str) -> None:
    """Defaults are evaluated once, where the function is defined."""
    args = scope.node.args
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults)]
    pairs += [(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults) if d is not None]
    b.env.defaults[name] = {p.id: _fixed(b, b.expression(d)) for p, d in pairs}


def _fixed(b: Builder, value: n.Expr) -> n.Expr:
    """An atom with the value that ``value`` has now."""
    if type(value) is n.Const or (type(value) is n.Name and value.id in b.stable):
        return value
    return b.temp(value)


def _closure(b: Builder, scope: Scope, name: str) -> n.Closure:
    node = scope.node
    given = [d for d in node.args.kw_defaults if d is not None]
    settled = b.operands(*node.args.defaults, *given)
    count = len(node.args.defaults)
    named = [p.id for p, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is not None]
    names = Names(b.scopes.outside_names(scope))
    names.reserve(scope.params)
    env = _captured_env(b.env)
    outer: list[n.Expr] = []
    inner: list[str] = []
    cells: set[str] = set()
    for variable in b.scopes.captures(scope):
        slot = b.env.of(variable.owner).slots[variable.name]
        outer.append(slot.atom)
        inner.append(names.new(slot.atom.id if type(slot.atom) is n.Name and slot.cell else variable.name))
        env.of(variable.owner).slots[variable.name] = Slot(n.Name(inner[-1]), slot.cell)
        if slot.cell:
            cells.add(inner[-1])
    shared = tuple(map(names.new, b.shared))
    names.taken.difference_update(scope.params)
    inside = Builder(b.source, b.scopes, names, Env(scope, env))
    inside.shared = shared
    inside.stable.update(inner)
    if shared:
        inside.enter_shared(env.of(b.scopes.outside))
    if scope.generator:
        function = generator_maker(inside, scope, name, tuple(inner), cells)
    else:
        function = function_body(inside, node, name, (*inner, *shared))
        outer += map(n.Name, b.shared)
    return n.Closure(function, tuple(outer), tuple(settled[:count]), tuple(zip(named, settled[count:])))


def _captured_env(env: Env) -> Env:
    """The scopes around an escaping function, without any of their variables."""
    return Env(env.scope, None if env.parent is None else _captured_env(env.parent))


# ---------------------------------------------------------------- calls


@lowers("Call")
def _call(b: Builder, node: Any) -> n.Expr:
    func = node.func
    if type(func).__name__ == "Lambda" and b.scopes.of(func).inline:
        _keep_defaults(b, b.scopes.of(func), "")
        return _inline(b, node, b.scopes.of(func), b.env, b.env.defaults.pop(""))
    if type(func).__name__ == "Name":
        owner = b.env.scope.owner(func.id)
        if owner is not None and func.id in owner.functions:
            env = b.env.of(owner)
            return _inline(b, node, owner.functions[func.id], env, env.defaults.get(func.id, {}))
        if owner is None and func.id == "super" and not node.args and (call := _method_super(b)) is not None:
            return call
        if owner is None and func.id in NEEDS_FRAME and len(node.args) < (2 if func.id in ("eval", "exec") else 1):
            b.unsupported(node, f"'{func.id}()' looks at the running function", NEEDS_FRAME[func.id])
    if materialised(node):
        return materialised_call(b, node)
    if takes_all(node) and (generator := generator_call(b, node.args[0])) is not None:
        return plain_call(b, node, first=lambda b, _: listed(b, node.args[0], generator))
    return plain_call(b, node)


def _method_super(b: Builder) -> n.Expr | None:
    """``super()`` in a method: its class is a closure variable that the compiler of Python made; None elsewhere."""
    if b.env.scope is not b.scopes.root:
        return None
    args = b.env.scope.node.args
    positional = [*args.posonlyargs, *args.args]
    if not positional:
        return None
    first = b.read(positional[0].id)
    return n.Call(n.Global("super"), (n.Global("__class__"), first if isinstance(first, n.ATOMS) else b.temp(first)))


NEEDS_FRAME = {
    "super": "Name the class: super(Base, self).method(...), or call Base.method(self, ...).",
    "globals": "Name the variable; one that is found by its name can be kept in a dictionary of your own.",
    "locals": "Build the dictionary that is needed.",
    "vars": "Build the dictionary that is needed.",
    "dir": "Name what is needed.",
    "eval": "Write the expression itself, or give eval() a namespace.",
    "exec": "Write the statements themselves.",
}


def generator_call(b: Builder, node: Any) -> tuple[Scope, Env] | None:
    """The nested generator function that ``node`` calls, and where it was made."""
    if type(node).__name__ != "Call" or type(node.func).__name__ != "Name":
        return None
    owner = b.env.scope.owner(node.func.id)
    scope = None if owner is None else owner.functions.get(node.func.id)
    if owner is None or scope is None or not scope.generator:
        return None
    return scope, b.env.of(owner)


def run_generator(
    b: Builder, node: Any, generator: tuple[Scope, Env], consume: Callable[[n.Expr], None]
) -> list[n.Stmt]:
    """The body of a nested generator function in place of a call; ``consume`` stands in place of ``yield``."""
    scope, made = generator
    env = _entered(b, node, scope, made, made.defaults.get(node.func.id, {}))
    outer = b.env

    def give(value: n.Expr) -> None:
        with b.within(outer):
            consume(value)

    line = b.line
    b.yielding.append(give)
    with b.within(env), b.into([]) as body:
        b.enter(env, env.params)
        b.statements(scope.node.body)
    b.yielding.pop()
    b.line = line
    b.rebindings += 1
    return left_early(body, b.names)


@lowers("GeneratorExp")
def _generator_expression(b: Builder, node: Any) -> n.Expr:
    """A list where it is used up at once; else its function is made, and called with what it goes through first."""
    if not hasattr(node, "function"):
        return comprehension(b, node)
    first = node.generators[0].iter
    over: n.Expr
    if type(first).__name__ == "Call" and getattr(first.func, "id", None) in LAZY and b.slot(first.func.id) is None:
        call = plain_call(b, first)
        assert isinstance(call, n.Call)
        function = LAZY[first.func.id]
        over = b.temp(n.Call(n.Ref(function, getattr(lazy, function)), call.args, call.kwargs))
    else:
        over = b.atom(first)
    over = b.settle([b.hold(over)])[0]
    return n.Call(b.temp(_closure(b, b.scopes.of(node.function), "generator_expression")), (over,))


def listed(b: Builder, node: Any, generator: tuple[Scope, Env]) -> n.Expr:
    """The list of the values of a call of a nested generator function."""
    rows = b.names.new("rows")
    b.stable.add(rows)
    b.assign(rows, n.ListExpr(()))
    b.block += run_generator(b, node, generator, lambda value: b.emit(n.Append(rows, value)))
    return n.Name(rows)


def _inline(b: Builder, node: Any, scope: Scope, outside: Env, defaults: dict[str, n.Expr]) -> n.Expr:
    """The body of a nested function in place of a call."""
    env = _entered(b, node, scope, outside, defaults)
    line = b.line
    yielding, b.yielding = b.yielding, []
    with b.within(env), b.into([]) as body:
        b.enter(env, env.params)
        if isinstance(scope.node.body, list):
            b.statements(scope.node.body)
        else:
            b.line = scope.node.body.lineno
            b.emit(n.Return(b.atom(scope.node.body)))
    b.line, b.yielding = line, yielding
    body, result = single_exit_block(body, b.names)
    b.block += body
    b.rebindings += 1
    return result


def _entered(b: Builder, node: Any, scope: Scope, outside: Env, defaults: dict[str, n.Expr]) -> Env:
    """The variables of one call of a nested function; the operands are evaluated here."""
    operands = b.operands(*node.args, *(k.value for k in node.keywords))
    bound = bind_call(scope.node.args, node)
    assert bound is not None
    env = Env(scope, outside)
    env.params = {p: _argument(b, scope, p, bound[p], operands, node, defaults) for p in scope.params}
    return env


def _argument(
    b: Builder, scope: Scope, param: str, given: Any, operands: list[n.Expr], call: Any, defaults: dict[str, n.Expr]
) -> n.Expr:
    """The value of a parameter: an atom that stands for it as it is, or a new local that is bound to it."""
    value: n.Expr
    if isinstance(given, list):
        value = n.TupleExpr(tuple(operands[i] for i in given))
    elif isinstance(given, dict):
        value = n.DictExpr(tuple(n.Const(k) for k in given), tuple(operands[i] for i in given.values()))
    else:
        value = defaults[param] if given is None else operands[given]
    if param in scope.cells:
        return value if isinstance(value, n.ATOMS) else b.temp(value)
    fixed = type(value) is n.Const or (type(value) is n.Name and value.id in b.stable)
    if fixed and (scope, param) in b.scopes.constant:
        return value
    local = b.names.new(param)
    if (scope, param) in b.scopes.constant:
        b.stable.add(local)
    b.assign(local, value)
    return n.Name(local)


def bind_function(b: Builder, target: Any, node: Any) -> None:
    """``f = lambda …``."""
    if type(target).__name__ != "Name" or not define_lambda(b, target.id, node):
        bind(b, target, b.expression(node))
