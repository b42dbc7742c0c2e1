"""Derivatives of functions that take derivatives themselves.

A :class:`~thunkad.compiled.derivation.Derivation` is the function that ``grad(f)``, ``jvp`` or a pullback of ``f``
computes.  Its value is generated reverse or forward code; its own derivatives are forward mode over the *pull*,

    f_pull(x, w) = f(x), J(x)ᵀ w

for all inputs that are active outside, whatever the inner derivative was asked for.  One pass with tangents
``x_dot`` and ``w_dot`` gives the cotangents for every kind of derivation, since ``d(Jᵀw)·x_dot = d/dx (w · J x_dot)``:

    g = grad(f)(x), cotangent u             x_dot = u, w = 1, w_dot = 0   →  cotangent of x
    v, g = value_and_grad(f)(x), (s, u)     x_dot = u, w = 1, w_dot = s
    a = pullback of f at x, seed c, u       x_dot = u, w = c              →  of x; the tangent of the value is that of c
    y, y_dot = jvp(f, x, v), (z, s)         x_dot = v, w = s, w_dot = z   →  of x; Jᵀw is that of v

So only forward mode is ever applied to generated code, at any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.analysis.aliases import aliases_of, has_memory
from thunkad.compiled.derivation import Derivation, Made, part_kind, tangent_kind
from thunkad.compiled.load import Slot, name_of_target, place_of_target
from thunkad.compiled.pulls import PullBody, pull_body, watching
from thunkad.compiled.replay import refuse_replay, refuse_surrogates, watched
from thunkad.compiled.rerun import Look
from thunkad.compiled.sharing import Apart, meetings
from thunkad.errors import UnsupportedSyntaxError
from thunkad.forward.calls import EFFECT
from thunkad.forward.generate import parameters
from thunkad.forward.inline import pasted, polished
from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import UNKNOWN, Kind, Num, Tuple
from thunkad.runtime.cotangents import dense, entry, project, scalar_seed
from thunkad.runtime.shadows import keep
from thunkad.tangents import ZERO

KEEP = n.Ref("keep", keep)
PROJECT, ENTRY, DENSE = n.Ref("project", project), n.Ref("entry", entry), n.Ref("dense", dense)
SCALAR_SEED, ZERO_REF = n.Ref("scalar_seed", scalar_seed), n.Ref("ZERO", ZERO)


class Derivations:
    """The code of derivations in one world."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self._pulls: dict[Any, Made] = {}
        self._values: dict[Any, Slot] = {}
        self.seeding: tuple[Slot, ...] = ()  # what the seed of the derivation in hand is made with

    # ------------------------------------------------------------ the pull of a function

    def pull(self, d: Derivation, kinds: tuple[Kind, ...], demand: tuple[str, ...]) -> Made:
        """``f_pull(params, value_bar) -> value, bars of demand`` of the derivation's target."""
        kinds = kinds[: len(d.params)]
        key = (id(d.target) if not isinstance(d.target, Derivation) else d.target, kinds, demand)
        found = self._pulls.get(key)
        if found is None:
            seed = Names(set(d.params)).new("value_bar")
            made = self.pull_body(d, kinds, demand, Names({*d.params, seed}), lambda value: n.Name(seed))
            body = [*made.statements, n.Return(n.TupleExpr((made.value, made.all_bars())))]
            name = self.world.unique("_".join((name_of_target(d.target), "pull", *demand)))
            function = n.Function(name, [n.Param(p) for p in (*d.params, seed)], body)
            found = self._pulls[key] = self.whole(function, *made.slots)
        return found

    def pull_body(self, d: Derivation, kinds: tuple[Kind, ...], demand: tuple[str, ...], names: Names,
                  seed: Callable[[n.Name], n.Expr], once: bool = False) -> PullBody:  # fmt: skip
        """The body of the pull of the derivation's target, once it is known that it has one.

        ``once``: the target is run by nothing else.
        """
        kinds = kinds[: len(d.params)]
        if not once:
            refuse_replay(self.world, d, kinds)
        pair = self.world.pair_for(d.target, d.owner, kinds, demand)
        refuse_surrogates(self.world)
        written = self.changed(d, kinds)
        apart = self.surely_written(d, kinds, demand) if len(written) > 0 else frozenset()
        several = frozenset(name for name, place in d.picks if place is not None)
        made = pull_body(pair, d.params, dict(zip(d.params, kinds)), demand, names, seed, written, apart, several)
        outside = self.outside(d, kinds, demand)
        if outside.met:
            check = n.Attr(n.Ref("apart", outside), "check")
            made.statements.insert(0, n.Effect(n.Call(check, tuple(map(n.Name, d.params))), site=EFFECT))
        return made

    def outside(self, d: Derivation, kinds: tuple[Kind, ...], demand: tuple[str, ...]) -> Apart:
        """What refuses arguments that share memory with what the target uses from outside."""
        if isinstance(d.target, Derivation):
            return Apart([])
        found = self.world.outside.of(self.world.analysis_of(d.target, d.owner, kinds), frozenset(demand))
        return Apart(meetings(found, {p: k for k, p in enumerate(d.params)}))

    def changed(self, d: Derivation, kinds: tuple[Kind, ...]) -> tuple[str, ...]:
        """The parameters that the target seems to change in place, so that others may see it."""
        kinds = kinds[: len(d.params)]
        if isinstance(d.target, Derivation):
            return self.changed(d.target, kinds)
        found = aliases_of(self.world.analysis_of(d.target, d.owner, kinds)).changed
        return tuple(p for p, kind in zip(d.params, kinds) if p in found and has_memory(kind))

    def surely_written(self, d: Derivation, kinds: tuple[Kind, ...], demand: tuple[str, ...]) -> frozenset[str]:
        """Those into which the text of the target puts differentiated values."""
        if isinstance(d.target, Derivation):
            return self.surely_written(d.target, kinds[: len(d.target.params)], demand)
        found = self.world.outside.of(self.world.analysis_of(d.target, d.owner, kinds), frozenset(demand))
        return frozenset(spot.key for spot in found.writes if spot.where == "parameter")

    def dual(
        self, d: Derivation, kinds: tuple[Kind, ...], seed_kind: Kind, demand: tuple[str, ...], moving: tuple[str, ...]
    ) -> Slot:
        """Forward mode over the pull: ``(params, value_bar, dots) -> (value, bars), (value_dot, bars_dot)``."""
        pull = self.pull(d, kinds, demand)
        return self.world.forwarding.slot_for(pull.function, pull.owner, (*kinds[: len(d.params)], seed_kind), moving)

    def whole(self, function: n.Function, *slots: Slot, kinds: tuple[Kind, ...] = (), owner: Any = None) -> Made:
        """``function`` with the code of ``slots`` pasted, as far as all of it runs in the globals of one function.

        ``kinds``: those of its parameters, where they are known; ``owner``: in whose globals it must run.
        """
        owners: list[Any] = [] if owner is None else [owner]
        chosen: dict[int, n.Function | None] = {}
        for slot in slots:
            if slot.owner is None or not owners or slot.owner is owners[0]:
                owners += [] if slot.owner is None else [slot.owner]
                chosen[id(slot)] = slot.function
        by_name = dict(zip((p.name for p in function.params), kinds))
        made = polished(pasted(function, lambda callee: chosen.get(id(callee))), by_name)
        made.generated = True
        made.filename = made.filename or next((f.filename for f in chosen.values() if f and f.filename), "")
        self.world.keep(made)
        return Made(made, owners[0] if owners else None)

    # ------------------------------------------------------------ values

    def value(self, d: Derivation, kinds: tuple[Kind, ...]) -> Slot:
        """The derivation as a compiled function of its parameters."""
        key = (d, kinds)
        slot = self._values.get(key)
        if slot is None:
            slot = self._values[key] = self.make_value(d, kinds)
        return slot

    def make_value(self, d: Derivation, kinds: tuple[Kind, ...]) -> Slot:
        world = self.world
        if d.product == "checkpoint":
            return self.plain(d)
        if d.product == "jvp":
            return self.jvp_value(d, kinds)
        names = Names(set(d.parameters))
        params = [n.Param(p) for p in d.parameters]
        name = world.unique(d.__name__)
        once = d.product != "pull"
        made = self.pull_body(d, kinds, d.wanted, names, lambda value: self.seed(d, kinds, value), once)
        gradients = self.gradients(d, made.bars, made.originals)
        if d.product == "value_and_grad":
            gradients = n.TupleExpr((made.value, gradients))
        elif d.has_aux:
            gradients = n.TupleExpr((gradients, n.Index(made.value, n.Const(1))))
        function = n.Function(name, params, [*made.statements, n.Return(gradients)])
        return self.compiled(self.whole(function, *made.slots))

    def jvp_value(self, d: Derivation, kinds: tuple[Kind, ...]) -> Slot:
        slot = self.world.forwarding.slot_for(d.target, d.owner, kinds[: len(d.params)], d.wanted)
        if all(k is None for _, k in d.picks):
            return slot
        given = [n.Name(p) for p in d.parameters[len(d.params) :]]
        call = n.Call(ref(slot), (*map(n.Name, d.params), *self.by_parameter(d, kinds, given)))
        both = Names(set(d.parameters)).new("both")
        body: list[n.Stmt] = [n.Assign(both, call), n.Return(n.Name(both))]
        return self.compiled(
            self.whole(n.Function(self.world.unique(d.__name__), [n.Param(p) for p in d.parameters], body), slot)
        )

    def by_parameter(self, d: Derivation, kinds: tuple[Kind, ...], parts: list[n.Expr]) -> list[n.Expr]:
        """One tangent for each wanted parameter, from one for each pick."""
        by_name: dict[str, n.Expr | dict[int, n.Expr]] = {}
        for (p, k), part in zip(d.picks, parts):
            if k is None:
                by_name[p] = part
            else:
                by_name.setdefault(p, {})[k] = part  # type: ignore[index]
        out: list[n.Expr] = []
        for p in d.wanted:
            found = by_name[p]
            if isinstance(found, dict):
                kind = kinds[d.params.index(p)]
                if not isinstance(kind, Tuple):
                    raise UnsupportedSyntaxError(
                        "a nested derivative of a function with that many arguments is not supported",
                        place_of_target(d.target),
                    )
                found = n.TupleExpr(tuple(found.get(k, ZERO_REF) for k in range(len(kind.items))))
            out.append(found)
        return out

    def gradients(self, d: Derivation, bars: dict[str, n.Expr], originals: dict[str, n.Expr]) -> n.Expr:
        """The gradients as the user gets them; ``originals``: parameters that are changed, as they were."""
        projected = []
        for p, k in d.picks:
            bar, like = bars[p], originals.get(p, n.Name(p))
            if k is not None:
                bar, like = n.Call(ENTRY, (bar, n.Const(k))), n.Index(like, n.Const(k))
            projected.append(n.Call(PROJECT, (bar, like)))
        if d.single and len(projected) == 1:
            return projected[0]
        return n.TupleExpr(tuple(projected))

    def seed(self, d: Derivation, kinds: tuple[Kind, ...], value: n.Expr) -> n.Expr:
        """The cotangent of the target's value with which the derivation starts."""
        if d.product == "pull":
            return n.Name(d.parameters[-1])
        if d.has_aux:
            return n.TupleExpr((n.Const(1.0), ZERO_REF))
        kind = self.world.callee_kind(d.target, d.owner, kinds[: len(d.params)])
        known = isinstance(kind, Num) and kind.is_scalar and kind.is_real
        return n.Const(1.0) if known else n.Call(SCALAR_SEED, (value,))

    def seed_ahead(self, d: Derivation, kinds: tuple[Kind, ...], names: Names, body: list[n.Stmt]) -> n.Expr:
        """The same before the target is run; if it must be known for the seed, by a run of its own."""
        self.seeding = ()
        value, saved = n.Name(names.new("value")), names.new("saved")
        found = self.seed(d, kinds, value)
        if type(found) is n.Call:
            pair = self.world.pair_for(d.target, d.owner, kinds[: len(d.params)], d.wanted)
            self.seeding = (pair.forward,)
            body.append(n.Unpack((value.id, saved), n.Call(ref(pair.forward), tuple(map(n.Name, d.params)))))
        return found

    def seed_kind(self, d: Derivation, kinds: tuple[Kind, ...]) -> Kind:
        if d.product in ("grad", "value_and_grad"):
            one = Num("scalar", "real")
            return Tuple((one, UNKNOWN)) if d.has_aux else one
        kind = self.world.callee_kind(d.target, d.owner, kinds[: len(d.params)])
        return tangent_kind(kind)

    def result_kind(self, d: Derivation, kinds: tuple[Kind, ...]) -> Kind:
        """The kind of the derivation's value."""
        by_name = dict(zip(d.params, kinds))
        inner = self.world.callee_kind(d.target, d.owner, kinds[: len(d.params)])
        if d.product == "checkpoint":
            return inner
        if d.product == "jvp":
            return Tuple((inner, tangent_kind(inner)))
        gradients = tuple(tangent_kind(part_kind(by_name[p], k)) for p, k in d.picks)
        found: Kind = gradients[0] if d.single and len(gradients) == 1 else Tuple(gradients)
        if d.product == "value_and_grad":
            return Tuple((inner, found))
        if d.has_aux:
            return Tuple((found, inner.items[1] if isinstance(inner, Tuple) and len(inner.items) == 2 else UNKNOWN))
        return found

    def unloaded(self, made: Made) -> Slot:
        """Something to call in code that is only pasted."""
        slot = Slot(made.function.name, made.function)
        slot.owner = made.owner
        return slot

    def compiled(self, made: Made) -> Slot:
        slot = self.unloaded(made)
        self.world.load([made.function], [slot], made.owner)
        return slot

    # ------------------------------------------------------------ the two halves for reverse mode

    def halves(
        self,
        d: Derivation,
        kinds: tuple[Kind, ...],
        demand: tuple[str, ...],
        forward_name: str,
        reverse_name: str,
        volatile: tuple[str, ...] = (),
    ) -> tuple[Made, Made]:
        """``forward(params) -> (value, saved)`` and ``reverse(saved, value_bar) -> cotangents of demand``.

        The reverse half runs the inner function again, so what it is given is saved as it was (``volatile``: copied).
        """
        params = d.parameters
        if d.product == "checkpoint":
            return self.again(d, kinds, demand, forward_name, reverse_name, volatile)
        names = Names(set(params))
        value, saved, given = names.new("result"), names.new("saved"), names.new("result_bar")
        as_it_was = (n.Call(KEEP, (n.Name(p),)) if p in volatile else n.Name(p) for p in params)
        kept = n.TupleExpr(tuple(as_it_was))
        own = self.value(d, kinds)
        run = n.Assign(value, n.Call(ref(own), tuple(map(n.Name, params))))
        inner, look = names.new("arguments"), Look(self.world, d, kinds, volatile, names)
        handed = tuple(map(n.Name, (value, saved, *look.names)))
        forward: list[n.Stmt] = [
            n.Assign(saved, kept),
            *watching(run, self.changed(d, kinds), name_of_target(d.target), names),
            *look.first,
            n.Return(n.TupleExpr((n.Name(value), n.TupleExpr(handed)))),
        ]
        reverse: list[n.Stmt] = [
            n.Unpack((value, inner, *look.names), n.Name(saved)),
            n.Unpack(params, n.Name(inner)),
            *look.again,
        ]
        outputs, slots = self.reverse(d, kinds, demand, names, n.Name(value), n.Name(given), reverse)
        reverse += look.again
        reverse.append(n.Return(outputs[0] if len(outputs) == 1 else n.TupleExpr(tuple(outputs))))
        return (
            self.whole(n.Function(forward_name, [n.Param(p) for p in params], forward), own, owner=look.owner),
            self.whole(n.Function(reverse_name, [n.Param(saved), n.Param(given)], reverse), *slots, owner=look.owner),
        )

    def again(
        self, d: Derivation, kinds: tuple[Kind, ...], demand: tuple[str, ...], forward_name: str, reverse_name: str,
        volatile: tuple[str, ...]
    ) -> tuple[Made, Made]:  # fmt: skip
        """The halves of a function that keeps its arguments only."""
        unknown = refuse_replay(self.world, d, kinds)
        pair = self.world.pair_for(d.target, d.owner, kinds, demand)
        if pair.shadowed:
            raise UnsupportedSyntaxError(
                "a checkpoint of a function that changes its arguments in place is not supported",
                place_of_target(d.target),
                "build new values: h = step(h) and seen = seen + [h] instead of h[:] = step(h) and seen.append(h)",
            )
        names = Names(set(d.params))
        value, saved, given, kept = (names.new(x) for x in ("value", "saved", "value_bar", "kept"))
        as_it_was = n.TupleExpr(tuple(n.Call(KEEP, (n.Name(p),)) if p in volatile else n.Name(p) for p in d.params))
        own = self.value(d, kinds)
        called = ref(own) if own.function is not None else n.Ref(own.__name__, d.target)
        look = Look(self.world, d, kinds, volatile, names)
        handed: n.Expr = n.Name(saved)
        unpacked: list[n.Stmt] = [n.Unpack(d.params, handed)]
        if look.names:
            inner = names.new("arguments")
            unpacked = [n.Unpack((inner, *look.names), handed), n.Unpack(d.params, n.Name(inner)), *look.again]
            handed = n.TupleExpr(tuple(map(n.Name, (saved, *look.names))))
        rerun = n.Unpack((value, kept), n.Call(ref(pair.forward), tuple(map(n.Name, d.params))))
        forward: list[n.Stmt] = [
            n.Assign(saved, as_it_was),
            n.Assign(value, n.Call(called, tuple(map(n.Name, d.params)))),
            *look.first,
            n.Return(n.TupleExpr((n.Name(value), handed))),
        ]
        reverse: list[n.Stmt] = [
            *unpacked,
            *(watched([rerun], names, d) if unknown else [rerun]),
            *look.again,
            n.Return(n.Call(ref(pair.reverse), (n.Name(kept), n.Name(given)))),
        ]
        return (
            Made(n.Function(forward_name, [n.Param(p) for p in d.params], forward), look.owner),
            Made(n.Function(reverse_name, [n.Param(saved), n.Param(given)], reverse), look.owner),
        )

    def plain(self, d: Derivation) -> Slot:
        """The target itself, to be called with all its parameters in order."""
        if isinstance(d.target, n.Function):
            made, where = d.target, (d.target.line, d.target.filename)
            return self.compiled(Made(n.Function(made.name, parameters(made), made.body, (), *where), d.owner))
        slot = Slot(d.__name__)
        if isinstance(d.target, Derivation):
            raise UnsupportedSyntaxError(
                "a checkpoint of a derivative is not supported", place_of_target(d.target), "checkpoint the function"
            )
        import inspect

        signature = inspect.signature(d.target, follow_wrapped=False)
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in signature.parameters.values()):
            raise UnsupportedSyntaxError(
                "a checkpoint of a function with *args, **kwargs or keyword-only parameters is not supported",
                place_of_target(d.target),
                "checkpoint a function that names its parameters",
            )
        slot.cell.cell_contents = d.target
        return slot

    def reverse(
        self, d: Derivation, kinds: tuple[Kind, ...], demand: tuple[str, ...], names: Names, value: n.Expr,
        given: n.Expr, out: list[n.Stmt],
    ) -> tuple[list[n.Expr], tuple[Slot, ...]]:  # fmt: skip
        """The cotangents of ``demand`` from that of the derivation's value: one pass of forward mode over the pull."""
        extra = dict(zip(d.parameters[len(d.params) :], d.picks if d.product == "jvp" else (("", None),)))
        inner = tuple(p for p in demand if p in d.params)
        bars_wanted = tuple(
            dict.fromkeys((*inner, *(extra[p][0] for p in demand if d.product == "jvp" and p in extra)))
        )
        if not bars_wanted:
            bars_wanted = d.wanted[:1]
        self.seeding = ()
        directions, seed, seed_dot = self.directions(d, kinds, names, value, given, out)
        pull = self.pull(d, kinds, bars_wanted)
        seed_name = pull.function.params[-1].name
        moving = (*d.wanted, *((seed_name,) if seed_dot is not None else ()))
        slot = self.dual(d, kinds, self.seed_kind(d, kinds), bars_wanted, moving)
        dots = [*directions, *([seed_dot] if seed_dot is not None else [])]
        primal, tangent = names.new("primal"), names.new("tangent")
        call = n.Call(ref(slot), (*map(n.Name, d.params), seed, *dots))
        rerun: list[n.Stmt] = [n.Unpack((primal, tangent), call)]
        out += watched(rerun, names, d) if refuse_replay(self.world, d, kinds) else rerun
        first, bars = names.new("value"), names.new("bars")
        first_dot, bars_dot = names.new("value_dot"), names.new("bars_dot")
        out.append(n.Unpack((first, bars), n.Name(primal)))
        last = slot.function.body[-1]
        assert type(last) is n.Return and type(last.value) is n.TupleExpr
        if last.value.items[1] == ZERO_REF:  # nothing that it computes depends on what moves
            out += [
                n.Assign(first_dot, ZERO_REF),
                n.Assign(bars_dot, n.TupleExpr((ZERO_REF,) * max(2, len(bars_wanted)))),
            ]
        else:
            out.append(n.Unpack((first_dot, bars_dot), n.Name(tangent)))
        one = len(bars_wanted) == 1
        still = last.value.items[1] == ZERO_REF
        results: list[n.Expr] = []
        for p in demand:
            if p in extra and d.product == "jvp":
                name, place = extra[p]
                part: n.Expr = n.Name(bars) if one else n.Index(n.Name(bars), n.Const(bars_wanted.index(name)))
                results.append(part if place is None else n.Call(ENTRY, (part, n.Const(place))))
            elif p in extra:
                results.append(n.Name(first_dot))
            elif still:
                results.append(n.Call(DENSE, (ZERO_REF, n.Name(p))))
            else:
                k = bars_wanted.index(p)
                part = n.Name(bars_dot) if one else n.Call(ENTRY, (n.Name(bars_dot), n.Const(k)))
                results.append(n.Call(DENSE, (part, n.Name(p))))
        return results, (slot, *self.seeding)

    def directions(
        self, d: Derivation, kinds: tuple[Kind, ...], names: Names, value: n.Expr, given: n.Expr, out: list[n.Stmt]
    ) -> tuple[list[n.Expr], n.Expr, n.Expr | None]:
        """The tangents of the wanted parameters, the seed, and the tangent of the seed."""

        def part(k: int) -> n.Expr:
            return n.Call(ENTRY, (given, n.Const(k)))

        if d.product == "jvp":
            seed = n.Call(DENSE, (part(1), n.Index(value, n.Const(0))))
            dots = self.by_parameter(d, kinds, [n.Name(p) for p in d.parameters[len(d.params) :]])
            return dots, seed, n.Call(DENSE, (part(0), n.Index(value, n.Const(0))))
        gradients, seed_dot = given, None
        if d.product == "value_and_grad":
            gradients, seed_dot = part(1), part(0)
        elif d.has_aux:
            gradients, seed_dot = part(0), n.TupleExpr((n.Const(0.0), part(1)))
        if d.product == "value_and_grad" and not d.has_aux:
            seed_dot = n.Call(DENSE, (seed_dot, n.Index(value, n.Const(0))))
        found: list[n.Expr] = []
        for j, (p, k) in enumerate(d.picks):
            one = d.single and len(d.picks) == 1
            like = n.Name(p) if k is None else n.Index(n.Name(p), n.Const(k))
            found.append(n.Call(DENSE, (gradients if one else n.Call(ENTRY, (gradients, n.Const(j))), like)))
        return self.by_parameter(d, kinds, found), self.seed_ahead(d, kinds, names, out), seed_dot


def ref(slot: Slot) -> n.Ref:
    return n.Ref(slot.__name__, slot)
