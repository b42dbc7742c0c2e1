"""Forward mode of any order over code that is found when the program runs.

A *bundle* is a value with its tangents of order ``k``, a tuple of ``2**k``: at place ``i`` is the tangent with respect
to the directions that are the binary digits of ``i``.  Forward mode applied ``k`` times to a function takes bundles to
bundles; what only puts values together or takes them apart does the same at each place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.analysis.sites import weaken
from thunkad.compiled.derivation import Derivation
from thunkad.compiled.load import Slot
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind
from thunkad.kinds.observe import kind_of
from thunkad.runtime.cells import Cell
from thunkad.runtime.chosen import is_function
from thunkad.runtime.containers import LISTS
from thunkad.runtime.cotangents import entry
from thunkad.runtime.dots import tangent_buffer
from thunkad.runtime.shadows import Shadows, keep
from thunkad.runtime.variables import Variable
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, Tangent

Bundle = tuple[Any, ...]
Args = tuple[Bundle, ...]
Kwargs = dict[str, Bundle]


def constant(x: Any, like: Bundle) -> Bundle:
    """``x`` with no tangent of the order that ``like`` has."""
    return (x, *(ZERO,) * (len(like) - 1))


def part(b: Bundle, key: Any) -> Bundle:
    """The entry ``key`` of a container."""
    return (b[0][key], *(entry(t, key) for t in b[1:]))


def unpacked(b: Bundle) -> Args:
    """The entries of a tuple."""
    return tuple(part(b, k) for k in range(len(b[0])))


def unpacked_named(b: Bundle) -> Kwargs:
    """The entries of a dict."""
    return {k: part(b, k) for k in b[0]}


def values(args: Args) -> tuple[Any, ...]:
    return tuple(a[0] for a in args)


def named_values(kwargs: Kwargs) -> dict[str, Any]:
    return {k: v[0] for k, v in kwargs.items()}


def at_places(args: Args, kwargs: Kwargs, order: int) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The tangents of the arguments of a call, place by place, of bundles of length ``order``."""
    return [(tuple(a[i] for a in args), {k: v[i] for k, v in kwargs.items()}) for i in range(1, order)]


def partial_bundles(fn: Bundle) -> tuple[Bundle, Args, Kwargs]:
    """The function of a ``functools.partial``, and what it fixes."""
    f = fn[0]
    fixed = tuple((x, *(entry(entry(t, "args"), k) for t in fn[1:])) for k, x in enumerate(f.args))
    named = {k: (x, *(entry(entry(t, "keywords"), k) for t in fn[1:])) for k, x in f.keywords.items()}
    return (f.func, *(entry(t, "func") for t in fn[1:])), fixed, named


def moves(b: Bundle) -> bool:
    """Whether there is a tangent; an empty container may receive one."""
    return not all(map(still, b[1:]))


def still(dot: Any) -> bool:
    return isinstance(dot, AbstractZero) or (isinstance(dot, tuple) and all(map(still, dot)))


def flat(found: Any, directions: list[bool]) -> list[Any]:
    """The bundle of which forward-mode code has computed the tangents in those ``directions`` that are true."""
    if not directions:
        return [found]
    *inner, last = directions
    if isinstance(found, AbstractZero):
        return [ZERO] * 2 ** len(directions)
    if not last:
        return [*flat(found, inner), *[ZERO] * 2 ** len(inner)]
    return [*flat(found[0], inner), *flat(found[1], inner)]


#: The tangents of shadows are shadows.
SHADOWS = Instance(Shadows)


class Bundles:
    """Runs compiled code on bundles, in one world."""

    def __init__(self, world: Any) -> None:
        self.world = world

    def run(
        self, target: Any, owner: Any, given: dict[str, Bundle], plain: Callable[..., Any],
        kinds: dict[str, Kind] | None = None,
    ) -> Bundle:  # fmt: skip
        """``target`` (a Python function, an IR function of ``owner``'s, a derivation) on bundles by parameter.

        ``plain`` is ``target`` for values without tangents; ``kinds`` those of parameters that are known already.
        """
        left, count = dict(given), len(next(iter(given.values())))
        known = dict(kinds or {})
        directions: list[bool] = []
        names = tuple(left)
        while count > 2:
            picks = tuple(p for p in names if any(not still(t) for t in left[p][1::2]))
            directions.append(bool(picks))
            if picks:
                d = Derivation(target, owner, names, "jvp", tuple((p, None) for p in picks), False)
                dots = {}
                for p, dot in zip(picks, d.parameters[len(names) :]):
                    whole = left[p][1::2]
                    first = tangent_buffer(ZERO, left[p][0]) if isinstance(whole[0], AbstractZero) else whole[0]
                    dots[dot] = (first, *whole[1:])
                    if p in known:
                        known[dot] = known[p] if known[p] == SHADOWS else UNKNOWN
                target, owner, names = d, None, d.parameters
                left = {**{p: b[::2] for p, b in left.items()}, **dots}
                plain = self._value_of(d)
            else:
                left = {p: b[::2] for p, b in left.items()}
            count //= 2
        found = tuple(b[0] for b in left.values())
        demand = tuple(p for p in names if count > 1 and not still(left[p][1]))
        if count > 1:
            directions.append(bool(demand))
        if not demand:
            return tuple(flat(plain(*found), directions))
        forwarding = self.world.forwarding
        all_kinds = tuple(known.get(p) or bundle_kind(v) for p, v in zip(names, found))
        with self.world.lock:
            slot = forwarding.slot_for(target, owner, all_kinds, demand)
        return tuple(flat(slot.cell.cell_contents(*found, *(left[p][1] for p in demand)), directions))

    def run_slot(self, slot: Slot, given: dict[str, Bundle], kinds: dict[str, Kind] | None = None) -> Bundle:
        """Compiled code on bundles by parameter."""
        self.world.forwarding.made.add(id(slot.function))
        return self.run(slot.function, slot.owner, given, slot, kinds)

    def run_call(self, slot: Slot, args: Args) -> Bundle:
        """The same for a call without keywords."""
        assert slot.function is not None
        return self.run_slot(slot, dict(zip((p.name for p in slot.function.params), args)))

    def _value_of(self, d: Derivation) -> Callable[..., Any]:
        def value(*args: Any) -> Any:
            with self.world.lock:
                slot = self.world.derivations.value(d, tuple(map(bundle_kind, args)))
            return slot.cell.cell_contents(*args)

        return value

    def blind(self, target: Any, owner: Any, given: dict[str, Bundle], foreseen: bool) -> list[str]:
        """The parameters that a function may change and in whose tangents that could not be followed."""
        if not any(map(moves, given.values())):
            return []
        with self.world.lock:
            kinds = tuple(bundle_kind(b[0]) for b in given.values())
            mutated = self.world.forwarding.summary_for(target, owner, kinds).mutated
        return [p for p, b in given.items() if p in mutated and self.is_blind(b, foreseen)]

    def is_blind(self, b: Bundle, foreseen: bool) -> bool:
        if hasattr(b[0], "dtype"):
            return not foreseen
        return has_parts(b[0]) and any(isinstance(t, AbstractZero) for t in b[1:])


def bundle_kind(x: Any) -> Kind:
    """The kind of an argument of code that is differentiated; of a container of tangents nothing is taken for known."""
    if isinstance(x, (*LISTS, dict)) and not x:
        return weaken(kind_of(x))
    return UNKNOWN if isinstance(x, (Tangent, AbstractZero)) else kind_of(x)


def has_parts(x: Any) -> bool:
    """Whether ``x`` is a container or an object, which a function may change."""
    return isinstance(x, (*LISTS, dict, Cell, Variable)) or (hasattr(x, "__dict__") and not is_function(x))


def dense_in(dot: Any, x: Any) -> Any:
    """A tangent or cotangent of ``x`` that is no structural zero."""
    return tangent_buffer(dot, x) if isinstance(dot, AbstractZero) else dot


# ---------------------------------------------------------------- pullbacks on bundles

#: From the bundle of a cotangent, and that of the shadows where there are any, to cotangents and their tangents.
Back = Callable[[Bundle, Bundle | None], list[Any]]
Found = tuple[Bundle, Back]


def owner_of(fn: Bundle) -> Bundle:
    """The object of a bound method; its tangents are those of the method."""
    return (fn[0].__self__, *fn[1:])


def rearranged(back: Back, how: Callable[[Any], Any]) -> Back:
    """``back`` with its cotangents in another order."""
    return lambda bars, shadows: [p if isinstance(p, AbstractZero) else how(p) for p in back(bars, shadows)]


def linear(back: Callable[[Any], Any]) -> Back:
    """A pullback that reads nothing but the cotangent."""
    return lambda bars, _: [ZERO if isinstance(b, AbstractZero) else back(b) for b in bars]


def nothing(args: Args) -> Back:
    return lambda bars, _: [(NO_TANGENT, [NO_TANGENT] * len(args), {})] * len(bars)


def triple(args: Args) -> Callable[[Any], Any]:
    """Cotangents of a call, zeros where there are none."""
    none: Any = (NO_TANGENT, [ZERO] * (len(args) + 1), {})
    return lambda parts: none if isinstance(parts, AbstractZero) else parts


def copied(b: Bundle) -> Bundle:
    return tuple(map(keep, b))
