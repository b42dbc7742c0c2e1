"""One derivative of one function, compiled in one world."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from thunkad import debugging
from thunkad.adjoint.generate import Generator
from thunkad.analysis.aliases import NOTHING_SHARED, Sharing
from thunkad.analysis.sites import Resolved
from thunkad.analysis.sources import Captured
from thunkad.compiled.binding import signature_of
from thunkad.compiled.both import three_parts
from thunkad.compiled.derivation import Derivation, tangent_kind
from thunkad.compiled.finish import finished
from thunkad.compiled.late_writes import look_at_what_is_left
from thunkad.compiled.load import Slot
from thunkad.compiled.sharing import Check, checking, sharing_check
from thunkad.compiled.target import library_call, own_call
from thunkad.compiled.world import World
from thunkad.errors import UnsupportedSyntaxError
from thunkad.forward.generate import pushforward
from thunkad.forward.lanes import has_shadows, in_lanes
from thunkad.forward.linear import NotSeparable, halves
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Num
from thunkad.pipeline import reached
from thunkad.records import field, record, replace
from thunkad.runtime.left_behind import beginning
from thunkad.runtime.marks import derivative_of

_ON_COPIES = ("linearize", "both", "rows")  # products whose code is given copies of the arguments


@record(frozen=True)
class Key:
    """What a specialization is compiled for, besides the function.

    ``product``: 'grad', 'value_and_grad', 'vjp', 'jvp', 'tangent' (of that alone), 'linearize', 'both' or 'rows' (for
    Jacobians) or 'captured'.
    """

    product: str
    wanted: tuple[str, ...]
    single: bool
    has_aux: bool
    kinds: tuple[Kind, ...]
    library: tuple[int, tuple[str, ...]] | None = None
    debug: bool = field(default_factory=lambda: debugging.enabled)
    places: Captured | None = None  # where the captured parameters are found, told apart by identity

    def __str__(self) -> str:
        if self.places is not None:
            return "derivative for captured parameters"
        return f"{self.product} for {', '.join(self.wanted) or 'nothing'}"


@record(eq=False)
class Specialization:
    """One compiled derivative, the IR that it was printed from, and the world that it was compiled in."""

    call: Callable[..., Any]
    function: n.Function
    key: Key
    world: World
    linear: Callable[..., Any] | None = None  # the second half, of ``linearize`` and for captured parameters
    second: n.Function | None = None  # that of ``linearize``, the reverse half of 'rows'
    owner: Any = None
    reverse: Callable[..., Any] | None = None  # where there is a pullback too, see :mod:`thunkad.compiled.both`
    check: Check | None = None  # looks at the arguments, of which the code is given copies
    many: Callable[..., Any] | None = None  # ``second`` for a stack of tangents, compiled when it is first asked for

    def in_lanes(self) -> Callable[..., Any]:
        """The second half for many tangents, or cotangents, at once."""
        if self.many is None:
            assert self.second is not None
            with self.world.lock:
                function = in_lanes(self.second)
                (self.many,) = self.world.load([function], [Slot(function.name, function)], self.owner)
        return self.many

    @property
    def late(self) -> Any:
        """The late world of a call that begins now, None if nothing is decided while the code runs."""
        return self.world.late_of_calls() if self.world.is_dynamic else None

    def run(self, values: tuple[Any, ...], late: Any = None) -> Any:
        """Call the compiled code."""
        return self.world.run(self.call, values, late) if self.world.is_dynamic else self.call(*values)


def has_own_rule(fn: Any, world: World, kinds: tuple[Kind, ...]) -> bool:
    """Whether the table says something of the function itself, so that it is not looked into."""
    parameters = signature_of(fn).parameters.values()
    plain = [p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters]
    decision = world.lookup(fn, [k for k, positional in zip(kinds, plain) if positional])
    return decision.how in ("rule", "constant", "alternative", "undecided")


def resolved_for(fn: Any, world: World, key: Key) -> Resolved:
    """The function that is differentiated: ``fn`` itself, or the plain call of it where only a rule counts."""
    if key.library is not None:
        return world.analysis_of_ir(library_call(fn, *key.library), None, key.kinds)
    if has_own_rule(fn, world, key.kinds):
        return world.analysis_of_ir(own_call(fn), fn, key.kinds)
    return world.analysis(fn, key.kinds)


def build(fn: Any, world: World, key: Key) -> Specialization:
    """Compile one derivative."""
    if derivative_of(fn) is not None:
        look_at_what_is_left(world, fn)
    if key.product in ("jvp", "tangent", "linearize"):
        return build_jvp(fn, world, key)
    if key.product == "both":
        return build_both(fn, world, key)
    if key.product == "rows":
        return build_rows(fn, world, key)
    if key.places is not None:
        return build_captured(fn, world, key, key.places)
    world.outlives = key.product == "vjp"
    resolved = noted(resolved_for(fn, world, key), world, key)
    owner = resolved.owner
    # what vjp keeps for its pullback must survive that the caller changes the arguments or the value meanwhile
    sharing = Sharing(volatile=names_outside(resolved)) if key.product == "vjp" else NOTHING_SHARED
    generator = Generator(resolved, world, world.is_pure, reached, sharing)
    base, nest = resolved.function.name, True
    if key.product == "vjp":
        function = generator.vjp(f"{base}_vjp", key.wanted, key.has_aux)
    else:
        with_value = key.product == "value_and_grad"
        name = f"{base}_value_and_grad" if with_value else f"{base}_grad"
        alone = derivative_of(fn) is None
        function = generator.gradient(name, key.wanted, key.single, with_value, key.has_aux, compose=alone)
        nest = not alone
    if derivative_of(fn) is not None and key.product != "vjp":
        function, owner = whole(function, world, key.kinds)
    slot = Slot(function.name, function)
    (call,) = world.load([function], [slot], owner, nest)
    return Specialization(begun(call, resolved, world, key), function, key, world)


def build_captured(fn: Any, world: World, key: Key, places: Captured) -> Specialization:
    """Compile two halves of which the reverse one collects cotangents by identity."""
    world.captured = places
    resolved = noted(world.analysis(fn, key.kinds), world, key)
    sharing = Sharing(volatile=names_outside(resolved)) if places.volatile else NOTHING_SHARED
    generator = Generator(resolved, world, world.is_pure, sharing=sharing)
    base = resolved.function.name
    names = f"{base}_forward", f"{base}_reverse"
    functions = list(generator.pair(*names, key.wanted, (0,) if key.has_aux else None))[:2]
    if len(functions[1].params) > 2:
        raise UnsupportedSyntaxError(
            f"{base} writes in place into an object that holds a captured parameter",
            resolved.place(resolved.function.line),
            "make a new object or array instead",
        )
    call, linear = world.load(functions, list(map(Slot, names, functions)), fn)
    return Specialization(begun(call, resolved, world, key), functions[0], key, world, linear)


def build_both(fn: Any, world: World, key: Key) -> Specialization:
    """Compile a pullback and a linear map that share one run."""
    world.outlives = True
    resolved = noted(resolved_for(fn, world, key), world, key)
    parts = three_parts(world, resolved, key.kinds, key.wanted, names_outside(resolved))
    call, linear, reverse = world.load(parts, [Slot(part.name, part) for part in parts], resolved.owner)
    call = begun(call, resolved, world, key)
    check = sharing_check(resolved, key.wanted, world.outside)
    return Specialization(call, parts[0], key, world, linear, parts[1], resolved.owner, reverse=reverse, check=check)


def noted(resolved: Resolved, world: World, key: Key) -> Resolved:
    """``resolved``, the function that is differentiated, with what tells of values that earlier calls have left behind.

    An object that is not differentiated, such as that of a bound method, lives on as one from outside does.
    """
    kinds = zip(resolved.function.params, key.kinds)
    world.keeps |= world.stores and any(isinstance(k, Instance) and p.name not in key.wanted for p, k in kinds)
    return world.noted(resolved, key.wanted)


def begun(call: Callable[..., Any], resolved: Resolved, world: World, key: Key) -> Callable[..., Any]:
    """``call`` as one that refuses arguments which share memory that is changed, where there may be such.

    Where the program needs it, it also tells what it leaves behind from what earlier calls have.  What is in the
    arguments that are differentiated, and in containers that the user passes, is given anew.
    """
    check = None if key.product in _ON_COPIES else sharing_check(resolved, key.wanted, world.outside)
    if check is not None:
        call = checking(call, check)
    if not world.keeps:
        return call
    kinds = enumerate(zip(resolved.function.params, key.kinds))
    return beginning(
        call, (k for k, (p, kind) in kinds if p.name in key.wanted or not (isinstance(kind, Instance) or p.has_default))
    )


def build_rows(fn: Any, world: World, key: Key) -> Specialization:
    """Compile the two halves of reverse mode, of which the second may run for many cotangents at once."""
    world.outlives = True
    resolved = resolved_for(fn, world, key)
    generator = Generator(resolved, world, world.is_pure, sharing=Sharing(volatile=names_outside(resolved)))
    base = resolved.function.name
    forward, reverse = generator.pair(f"{base}_forward", f"{base}_reverse", key.wanted)
    if has_shadows(reverse):
        raise NotSeparable("shadows go by the identity of memory")
    halves = [forward, reverse]
    call, back = world.load(halves, [Slot(half.name, half) for half in halves], resolved.owner)
    check = sharing_check(resolved, key.wanted, world.outside)
    return Specialization(call, forward, key, world, None, reverse, resolved.owner, reverse=back, check=check)


def whole(function: n.Function, world: World, kinds: tuple[Kind, ...]) -> tuple[n.Function, Any]:
    """A derivative of a derivative with all that it calls pasted, and in whose globals it runs."""
    halves = [s for key, p in world.pairs.items() if isinstance(key[0], Derivation) for s in (p.forward, p.reverse)]
    made = world.derivations.whole(function, *halves, kinds=kinds if len(kinds) == len(function.params) else ())
    return made.function, made.owner


def names_outside(resolved: Resolved) -> tuple[str, ...]:
    """The parameters and what is returned: values that the caller has hold of, too."""
    function = resolved.function
    return (*function.captures, *(p.name for p in function.params), *walk.names(function.body[-1].value))  # type: ignore[attr-defined]


def build_jvp(fn: Any, world: World, key: Key) -> Specialization:
    """Compile a function of values and tangents."""
    forwarding = world.forwarding
    world.outlives = key.product == "linearize"
    target, owner = fn, fn
    if key.library is not None:
        target, owner = library_call(fn, *key.library), None
    elif forwarding.lookup(fn, list(key.kinds)).how in ("rule", "constant", "undecided"):
        target = own_call(fn)
    resolved = forwarding.analysis(target, owner, key.kinds)
    if isinstance(target, types.FunctionType):
        forwarding.differentiated(resolved, key.wanted)
    resolved = noted(resolved, world, key)
    if key.product == "linearize":
        names = f"{resolved.function.name}_primal", f"{resolved.function.name}_linear"
        # arrays among the arguments are copies already
        objects = tuple(p.name for p, k in zip(resolved.function.params, key.kinds) if not isinstance(k, Num))
        both = halves(*names, resolved, key.wanted, forwarding, world.is_pure, public=True, volatile=objects)
        call, linear = world.load(list(both), list(map(Slot, names, both)), owner)
        check = sharing_check(resolved, key.wanted, world.outside)
        call = begun(call, resolved, world, key)
        return Specialization(call, both[0], key, world, linear, both[1], owner, check=check)
    name = f"{resolved.function.name}_jvp"
    only_tangent = key.product == "tangent"
    function = pushforward(name, resolved, key.wanted, forwarding, world.is_pure, True, only_tangent=only_tangent)
    if derivative_of(fn) is not None:
        inner = [slot for (target, *_), slot in forwarding.slots.items() if isinstance(target, Derivation)]
        made = world.derivations.whole(function, *inner)
        kinds = kinds_of_parameters(function, key).values()
        function, owner = made.function, made.owner
        function = finished(world, function, owner, dict(zip((p.name for p in function.params), kinds)))
    (call,) = world.load([function], [Slot(name, function)], owner)
    check = sharing_check(resolved, key.wanted, world.outside)
    return Specialization(begun(call, resolved, world, key), function, key, world, check=check)


def kinds_of_parameters(function: n.Function, key: Key) -> dict[str, Kind]:
    """The kinds of the parameters of a function of values and tangents; a tangent may be complex."""
    names = [p.name for p in function.params]
    kinds = dict(zip(names, key.kinds))
    for p, dot in zip(key.wanted, names[len(key.kinds) :]):
        kind = tangent_kind(kinds[p])
        kinds[dot] = replace(kind, field="complex") if isinstance(kind, Num) and kind.field != "any" else UNKNOWN
    return kinds
