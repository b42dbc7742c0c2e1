"""The cotangents that live at one point of the reverse sweep, and the statements that build them up."""

from __future__ import annotations

from typing import Any

from thunkad.analysis.shapes import shape_classes
from thunkad.analysis.sites import Resolved
from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Kind, Num, Sequence
from thunkad.records import record, replace
from thunkad.runtime import arrays, cotangents
from thunkad.runtime.accumulate import accumulate, summed
from thunkad.runtime.complex import in_field_of
from thunkad.tangents import ZERO

ZEROS = n.Ref("zeros", arrays.zeros)
IN_FIELD_OF = n.Ref("in_field_of", in_field_of)
ADD = n.Ref("add", cotangents.add)
OWN = n.Ref("own", cotangents.own)
EXPAND = n.Ref("expand", arrays.expand)
ACCUMULATE, SUMMED = n.Ref("accumulate", accumulate), n.Ref("summed", summed)
DENSE = n.Ref("dense", cotangents.dense)
INDEX_ADD = n.Ref("index_add", cotangents.index_add)
SHADOW = "shadow"  # the ``site`` of a statement that makes the cotangent of an array that is written in place
ZERO_REF = n.Ref("ZERO", ZERO)


@record(frozen=True)
class Bar:
    """One live cotangent: an atom that holds it, whether the adjoint owns its memory, whether it may be zero."""

    expr: n.Expr
    owned: bool = False
    maybe_zero: bool = False
    uniform: bool = False  # a number that stands for an array, see thunkad.adjoint.uniform
    line: int = 0  # where a uniform one came from


class Bars:
    """State of the reverse sweep while it emits into ``out``."""

    def __init__(self, resolved: Resolved, active: frozenset[str], names: Names, maybe_unbound: frozenset[str]) -> None:
        self.resolved, self.active, self.names, self.maybe_unbound = resolved, active, names, maybe_unbound
        self.live: dict[str, Bar] = {}
        self.shapes = shape_classes(resolved)
        self.out: list[n.Stmt] = []
        self.line = 0
        self.rule: Place | None = None  # where the user's rule stands that is being pasted
        self.spelled: dict[str, str] = {}
        self.links: list[Any] = []  # branches and loops emitted so far, with their forward twins
        self.shadowed: dict[str, str] = {}  # names whose cotangent follows memory, see thunkad.adjoint.mutation
        # Of these, those whose shadow is a buffer of its own, see thunkad.analysis.plain.
        self.plain: dict[str, str] = {}
        self.shadows = ""  # the name of the run's Shadows
        # Containers that were changed since → what they were where this step's statement ran.
        self.then: dict[str, str] = {}
        self.fetched: set[str] = set()  # shadowed names whose shadow is at hand under the name of their cotangent

    # ------------------------------------------------------------ names and kinds

    def bar_name(self, x: str) -> str:
        x = self.plain.get(x, x)
        if x not in self.spelled:
            self.spelled[x] = self.names.new(f"{x}_bar")
        return self.spelled[x]

    def kind(self, x: str) -> Kind:
        return self.resolved.kind(n.Name(x))

    def is_number(self, x: str) -> bool:
        return isinstance(self.kind(x), Num)

    def is_array(self, x: str) -> bool:
        kind = self.kind(x)
        return isinstance(kind, Num) and kind.form == "array"

    def uncertain(self, x: str) -> bool:
        """Whether the cotangent of ``x`` may be a structural zero at a loop head."""
        return x in self.maybe_unbound or not self.is_number(x)

    def settle_spelling(self, x: str) -> None:
        """Give the cotangent of ``x`` a variable of its own."""
        bar = self.live[x]
        self.assign(x, bar.expr, bar.owned, bar.maybe_zero)

    def is_scalar(self, x: str) -> bool:
        kind = self.kind(x)
        return isinstance(kind, Num) and kind.is_scalar

    def may_be_number(self, x: str) -> bool:
        """Whether what is written into where it is an array may be a number on another path."""
        kind = self.kind(x)
        return self.shadowed.get(x) == "array" and x not in self.plain and isinstance(kind, Num) and kind.form == "any"

    def only_memory(self, x: str) -> bool:
        """Whether all of the cotangent of ``x`` is in the shadow of an array."""
        return self.shadowed.get(x) == "array" and not self.may_be_number(x)

    # ------------------------------------------------------------ emission

    def emit(self, s: n.Stmt) -> None:
        """Append ``s``; cotangents that only spell a name it rebinds get a name of their own first."""
        if type(s) is n.Assign:
            self.free(s.target, s.value)
        elif type(s) is n.Update and type(s.target) is n.Name:
            self.free(s.target.id, s.value)
        s.line = s.line or self.line
        s.site = s.site or self.rule
        self.out.append(s)

    def free(self, name: str, pending: n.Expr | None = None) -> None:
        """Before ``name`` is rebound to ``pending``: move cotangents that live under that name elsewhere."""
        there = n.Name(name)
        for x, bar in [(x, bar) for x, bar in self.live.items() if bar.expr == there]:
            own = self.bar_name(x)
            if own == name:
                continue
            read = set(walk.names(pending)) if pending is not None else set()
            if own in read or any(b.expr == n.Name(own) for y, b in self.live.items() if y != x):
                own = self.names.new(own)
            self.out.append(n.Assign(own, bar.expr, line=self.line))
            self.live[x] = replace(bar, expr=n.Name(own))

    def stable(self, seed: n.Expr, operands: list[n.Expr]) -> n.Expr:
        """``seed`` under a name that contributing to ``operands`` does not rebind."""
        if type(seed) is not n.Name or len(operands) < 2:
            return seed
        if any(self.bar_name(i) == seed.id for e in operands for i in walk.names(e) if i in self.active):
            name = self.names.new(seed.id)
            self.emit(n.Assign(name, seed))
            return n.Name(name)
        return seed

    def in_field(self, seed: n.Expr, x: str) -> n.Expr:
        """``seed``, the cotangent of ``x``, as a rule that the library did not write takes it: real where ``x`` is."""
        name = self.names.new(self.bar_name(x))
        self.emit(n.Assign(name, n.Call(IN_FIELD_OF, (seed, n.Name(x)))))
        return n.Name(name)

    def as_atom(self, e: n.Expr) -> n.Expr:
        """``e`` under a name of its own, which nothing rebinds; a constant itself."""
        if type(e) in (n.Const, n.Ref):
            return e
        name = self.names.new("seed_bar")
        self.emit(n.Assign(name, e))
        return n.Name(name)

    def assign(self, x: str, expr: n.Expr, owned: bool, maybe_zero: bool = False) -> None:
        name = self.bar_name(x)
        self.live.pop(x, None)
        if expr != n.Name(name):
            self.emit(n.Assign(name, expr))
        self.live[x] = Bar(n.Name(name), owned, maybe_zero)

    # ------------------------------------------------------------ the algebra of cotangents

    def contribute(self, x: str, expr: n.Expr, owned: bool = False, maybe_zero: bool = False) -> None:
        """Add ``expr`` to the cotangent of ``x``."""
        mode = self.shadowed.get(x)
        if mode == "any":
            bar = self.live.get(x)
            args = (n.Name(self.then.get(x, x)), ZERO_REF if bar is None else bar.expr, expr)
            self.assign(x, n.Call(n.Attr(n.Name(self.shadows), "accumulate"), args), False, True)
            return
        if mode is not None:
            self.shade(x, expr, maybe_zero)
            return
        if maybe_zero or not isinstance(self.kind(x), Num):
            self.expand(x)
        bar = self.live.get(x)
        if bar is None:
            if type(expr) in (n.Name, n.Const, n.Ref) or _is_fixed(expr):
                self.live[x] = Bar(expr, owned, maybe_zero)
            else:
                self.assign(x, expr, owned, maybe_zero)
            return
        both_zero = bar.maybe_zero and maybe_zero
        name = self.bar_name(x)
        kind = self.kind(x)
        if not isinstance(kind, Num):
            self.assign(x, n.Call(ADD, (bar.expr, expr)), False, both_zero)
        elif bar.owned and kind.form == "array" and bar.expr == n.Name(name) and not bar.maybe_zero:
            self.emit(n.Assign(name, n.Call(ACCUMULATE, (n.Name(name), expr))))
        elif (bar.maybe_zero or maybe_zero) and self.is_array(x) and x not in self.maybe_unbound:
            self.assign(x, n.Call(SUMMED, (bar.expr, expr, n.Name(x))), True)
        else:
            self.assign(x, n.Binary("+", bar.expr, expr), not (bar.maybe_zero or maybe_zero), both_zero)

    def take(self, x: str) -> n.Expr | None:
        """End the life of the cotangent of ``x`` and return it, dense; None if nothing depends on ``x``."""
        bar = self.taken(x)
        if bar is None:
            return None
        return self.as_dense(x, bar)

    def as_dense(self, x: str, bar: Bar) -> n.Expr:
        """The cotangent with a structural zero made an array of zeros."""
        if not bar.maybe_zero:
            return bar.expr
        name = self.bar_name(x) if x not in self.shadowed else self.names.new(f"{x}_bar")
        self.emit(n.Assign(name, n.Call(DENSE, (bar.expr, n.Name(x)))))
        return n.Name(name)

    def taken(self, x: str, value: str | None = None) -> Bar | None:
        """Like :meth:`take`, with what is known of the cotangent and structural zeros as they are.

        ``value`` names the same object, as in :meth:`number_part`.
        """
        mode = self.shadowed.get(x)
        if mode is None:
            self.expand(x)
            return self.live.pop(x, None)
        if mode == "array":
            return Bar(n.Name(self.bar_name(x)), maybe_zero=self.may_be_number(x))
        bar = self.live.pop(x, None)
        operands = n.Name(value or self.then.get(x, x)), ZERO_REF if bar is None else bar.expr
        take = n.Call(n.Attr(n.Name(self.shadows), "take"), operands)
        name = self.names.new(f"{x}_bar")
        self.emit(n.Assign(name, take))
        return Bar(n.Name(name), False, True)

    def moved(self, x: str) -> Bar | None:
        """The cotangent of ``x``, whose memory a callee may have found: it hands that back to where it is from."""
        if self.shadowed.get(x) != "array":
            return self.taken(x)
        name, move = self.moving(x)
        for s in move:
            self.emit(s)
        return Bar(n.Name(name), True)

    def moving(self, x: str) -> tuple[str, list[n.Stmt]]:
        """A name for what the shadow of ``x`` holds, and the statements that move it there."""
        shadow, name = n.Name(self.bar_name(x)), self.names.new("taken_bar")
        copy = n.Assign(name, n.Call(n.Attr(shadow, "copy")), line=self.line)
        return name, [copy, n.Store(n.Index(shadow, n.Const(Ellipsis)), n.Const(0.0), line=self.line)]

    def number_part(self, x: str, value: str | None = None) -> n.Expr:
        """The cotangent of ``x`` as far as it is not in shadows that the one who made ``x`` sees, too.

        ``value`` names the same object: a name that a loop carries is bound to an older one again by then.
        """
        bar = self.live.pop(x, None)
        if self.may_be_number(x):
            bar = Bar(n.Name(self.bar_name(x)))
        elif self.shadowed[x] != "any" or bar is None:
            return ZERO_REF
        name = self.names.new(f"{x}_bar")
        self.emit(n.Assign(name, n.Call(n.Attr(n.Name(self.shadows), "number_part"), (n.Name(value or x), bar.expr))))
        return n.Name(name)

    def entry_of(self, x: str) -> Bar | None:
        """The cotangent of ``x`` that its slot in a container gets: none of what its memory has."""
        if x not in self.shadowed:
            return self.taken(x)
        part = self.number_part(x)
        return None if part == ZERO_REF else Bar(part, False, True)

    def shade(self, x: str, expr: n.Expr, maybe_zero: bool = False) -> None:
        """Add ``expr`` to the shadow of ``x``."""
        if expr == ZERO_REF:
            return
        mode, bar = self.shadowed[x], n.Name(self.bar_name(x))
        if self.may_be_number(x):
            self.emit(n.Assign(bar.id, n.Call(n.Attr(n.Name(self.shadows), "accumulate"), (n.Name(x), bar, expr))))
        elif mode == "array" and not maybe_zero:
            self.emit(n.Update(bar, "+", expr))
        elif x in self.plain:
            self.emit(n.Update(bar, "+", n.Call(DENSE, (expr, n.Name(x)))))
        else:
            self.emit(n.Effect(n.Call(n.Attr(n.Name(self.shadows), "add"), (n.Name(self.then.get(x, x)), expr))))

    def fetch(self, names: Any) -> None:
        """Bring the shadows of these names to hand, once in a block."""
        for x in sorted(set(names)):
            made = self.plain.get(x, x)
            if self.shadowed.get(x) == "array" and made not in self.fetched:
                self.fetched.add(made)
                call = n.Call(ZEROS if x in self.plain else n.Attr(n.Name(self.shadows), "of"), (n.Name(made),))
                self.emit(n.Assign(self.bar_name(x), call, site=SHADOW if x in self.plain else None))

    def unsupported(self, line: int, what: str) -> UnsupportedSyntaxError:
        return UnsupportedSyntaxError(f"{what} is not supported", self.resolved.place(line))

    def zero_of(self, x: str) -> tuple[n.Expr, bool, bool]:
        """A zero cotangent of ``x`` as (expression, owned, maybe_zero)."""
        kind = self.kind(x)
        if self.shadowed.get(x) == "any":
            return ZERO_REF, False, True
        if isinstance(kind, Num) and kind.is_scalar:
            return n.Const(0.0), True, False
        if x in self.maybe_unbound:
            return ZERO_REF, False, True
        sure = (isinstance(kind, Num) and kind.form == "array" and kind.field != "any") or isinstance(kind, Sequence)
        return n.Call(ZEROS, (n.Name(x),)), True, not sure

    def contribute_uniform(self, x: str, expr: n.Expr) -> None:
        """Add a number that stands for an array of the shape of ``x``."""
        bar = self.live.get(x)
        if x in self.shadowed or (bar is not None and bar.maybe_zero) or not isinstance(self.kind(x), Num):
            self.contribute(x, n.Call(EXPAND, (expr, n.Name(x))))
        elif bar is None or bar.uniform:
            total = expr if bar is None else n.Binary("+", bar.expr, expr)
            if type(total) in (n.Name, n.Const, n.Ref):
                self.live[x] = Bar(total, uniform=True, line=self.line)
            else:
                self.assign(x, total, False)
                self.live[x] = replace(self.live[x], uniform=True, line=self.line)
        else:
            self.contribute(x, expr)

    def expand(self, x: str) -> None:
        """Make a uniform cotangent of ``x`` an array (a read-only view of the number)."""
        bar = self.live.get(x)
        if bar is not None and bar.uniform:
            line, self.line = self.line, bar.line or self.line
            self.assign(x, n.Call(EXPAND, (bar.expr, n.Name(x))), False)
            self.line = line

    def expand_all(self) -> None:
        """Before code runs that knows nothing of uniform cotangents."""
        for x in list(self.live):
            self.expand(x)

    def settle(self, x: str, own: bool) -> None:
        """Make the cotangent of ``x`` a variable of its own name, definite, and (``own``) a buffer of the adjoint's."""
        self.expand(x)
        bar = self.live.get(x)
        if bar is None:
            self.assign(x, *self.zero_of(x))
        elif x in self.shadowed:
            self.assign(x, bar.expr, False, True)
        elif own and not bar.owned and not self.is_scalar(x):
            self.assign(x, n.Call(OWN, (bar.expr, n.Name(x))), True, False)
        elif bar.maybe_zero and x not in self.maybe_unbound and self.is_number(x):
            self.assign(x, n.Call(DENSE, (bar.expr, n.Name(x))), False, False)
        else:
            self.assign(x, bar.expr, bar.owned, bar.maybe_zero)

    def buffer(self, x: str) -> n.Name:
        """The cotangent of ``x`` as a buffer that may be written in place."""
        if x in self.shadowed:
            return n.Name(self.bar_name(x))
        bar = self.live.get(x)
        if bar is None and x in self.maybe_unbound:  # it is bound here, for an entry of it was read
            self.assign(x, n.Call(OWN, (ZERO_REF, n.Name(x))), True)
        elif bar is None or not bar.owned or bar.expr != n.Name(self.bar_name(x)):
            self.settle(x, own=True)
        return n.Name(self.bar_name(x))

    def branch(self) -> Bars:
        """A copy of the state that emits into a list of its own."""
        other = Bars.__new__(Bars)
        other.__dict__.update(self.__dict__)
        other.live, other.out, other.links, other.fetched = dict(self.live), [], [], set(self.fetched)
        return other


def _is_fixed(e: n.Expr) -> bool:
    """Whether ``e`` is a tuple of constants and seeds, which is the same wherever it is written."""
    return (
        type(e) is n.TupleExpr
        and all(type(x) is not n.Name or x.id.startswith("seed_bar") for x in e.items)
        and all(type(x) in (n.Name, n.Const, n.Ref) for x in e.items)
    )


def merge_arms(bars: Bars, first: Bars, second: Bars, gone: set[str]) -> None:
    """After both arms of an ``if``: one state that holds on either path (``gone``: names bound inside the arms)."""
    for arm in (first, second):
        arm.expand_all()
        for x in gone:
            arm.live.pop(x, None)
    names = [*first.live, *(y for y in second.live if y not in first.live)]
    while differing := [x for x in names if _expr(first, x) != _expr(second, x)]:
        x = differing[0]  # giving it its own name may move others that went by that name, so look again
        for arm in (first, second):
            if arm.live.get(x) is None:
                arm.assign(x, *arm.zero_of(x))
            elif arm.live[x].expr != n.Name(arm.bar_name(x)):
                arm.assign(x, arm.live[x].expr, arm.live[x].owned, arm.live[x].maybe_zero)
    bars.live = {
        x: Bar(a.expr, a.owned and b.owned, a.maybe_zero or b.maybe_zero)
        for x, a, b in ((x, first.live[x], second.live[x]) for x in names)
    }


def _expr(bars: Bars, x: str) -> n.Expr | None:
    bar = bars.live.get(x)
    return None if bar is None else bar.expr
