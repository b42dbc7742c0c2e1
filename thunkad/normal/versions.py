"""Versions: every binding of a variable gets a name of its own, with structured joins and carried names.

One walk in program order keeps an environment, variable → current version.  What the walk has to know beforehand is
small: liveness (joins and carried names are made for live variables only) and which variables a block binds.

*Joins are claimed, not patched in.*  Before an arm of an ``If`` is walked, the last statement of the arm that binds a
joined variable is told the name of the join and binds it directly; only where there is no such statement (the arm
leaves the variable alone, or a loop binds it) a copy is added at the end of the arm.

*Variables that may be unbound.*  Joins and carried names copy variables, and copying one that isn't bound would raise
where the user's program, which may never read it, would not.  The walk notes each such variable, and the function is
versioned anew with those variables bound to :class:`~thunkad.runtime.unbound.Unbound` at the start; reads that may meet
that value are guarded by a test that raises ``UnboundLocalError``.
"""

from __future__ import annotations

from enum import IntEnum

from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.ir.live import endless, liveness
from thunkad.normal.guarded import Careful, cut_tries
from thunkad.normal.while_tests import move_tests
from thunkad.records import record
from thunkad.runtime.unbound import Unbound


def version(function: n.Function, names: Names, careful: Careful = False) -> n.Function:
    """``function`` in normal form with versions (see ``docs/internals.md``).

    Parameters
    ----------
    function : Function
        Lowered, with structured exits; it is left as it is.
    names : Names
        Names that are taken; it learns those that are chosen here.
    careful : bool or EXITS
        See :func:`thunkad.normal.guarded.cut_tries`.

    Returns
    -------
    Function
    """
    names.reserve(walk.taken_names(function))
    # facts are keyed by the identity of a statement, and earlier passes may have put one statement into two blocks
    function = _with_body(function, [walk.map_stmt(s, lambda e: e) for s in function.body])
    for s in walk.statements(function.body):
        if s.site == "carried":  # of code that had versions before: only the copies that are made here are carried
            s.site = None
    function = cut_tries(function, names, careful)
    function = _with_body(function, move_tests(function.body, liveness(function, compound_only=True), names))
    soft: dict[str, None] = {}
    while True:
        attempt = names.copy()
        walker = _Versioner(function, attempt, soft, careful)
        body = walker.function_body()
        if not walker.uncertain:
            names.__dict__.update(attempt.__dict__)
            return _with_body(function, body)
        if walker.uncertain.keys() <= soft.keys():
            raise UnsupportedSyntaxError(
                f"{', '.join(walker.uncertain)} may be unbound where it is read in {function.name}, which is made code "
                "that is differentiated again",
                hint="bind the variables of a branch or a try statement before it",
            )
        soft.update(walker.uncertain)


class _State(IntEnum):
    """What is known of a version; the greater wins at a join."""

    BOUND = 0
    MAYBE = 1  # may be unbound: reading it raises by itself, copying it must not happen
    HOLLOW = 2  # may hold ``Unbound``


@record(frozen=True, slots=True)
class _Version:
    name: str
    state: _State


@record(slots=True)
class _Join:
    """The name that a join will have; spelled at its first binding, so that names are numbered in program order."""

    var: str
    name: str | None = None


_Env = dict[str, _Version]
_Claims = dict[str, _Join]


class _Versioner:
    """One attempt at a function.  ``soft``: variables that start out as ``Unbound``."""

    def __init__(self, function: n.Function, names: Names, soft: dict[str, None], careful: Careful) -> None:
        self.function, self.names, self.soft, self.careful = function, names, soft, careful
        self.live = liveness(function, compound_only=True)
        self.uncertain: dict[str, None] = {}
        self.deleted = {  # variables that may be read after a `del`
            s.target.id
            for s in walk.statements(function.body)
            if type(s) is n.Delete and type(s.target) is n.Name and s.target.id in self.live.after[id(s)]
        }
        self.spelled: set[str] = set()  # variables whose own spelling is in use
        self.unread: set[str] = set()  # versions bound by a copy or a constant that nothing has read yet
        self._binds_memo: dict[int, dict[str, None]] = {}
        self._ends_memo: dict[int, bool] = {}

    def function_body(self) -> list[n.Stmt]:
        env: _Env = {}
        for name in (*self.function.captures, *(p.name for p in self.function.params)):
            env[name] = _Version(name, _State.BOUND)
            self.spelled.add(name)
        start: list[n.Stmt] = [n.Assign(var, n.Ref("Unbound", Unbound), line=self.function.line) for var in self.soft]
        movable = set(self.soft)
        for var in self.soft:
            env[var] = _Version(var, _State.HOLLOW)
            self.spelled.add(var)
            self.unread.add(var)
        body = start + self._block(self.function.body, env, {}, movable)
        if not body or type(body[-1]) is not n.Return:  # all paths raise
            body.append(n.Return(n.Const(None), line=self.function.line))
        return body

    # ------------------------------------------------------------ what blocks do

    def _binds(self, s: n.Stmt) -> dict[str, None]:
        """Variables whose version differs after ``s``, in program order; arms that raise don't count."""
        if not isinstance(s, (n.If, n.For, n.While, n.With, n.Try)):
            if type(s) is n.Delete and type(s.target) is n.Name:
                return {s.target.id: None}
            return dict.fromkeys(walk.writes(s))
        known = self._binds_memo.get(id(s))
        if known is None:
            if type(s) is n.Try:
                completes = not self._ends(s.body) and not self._ends(s.orelse)
                blocks = [*((s.body, s.orelse) if completes else ()), *(() if self._ends(s.handler) else (s.handler,))]
                known = {}
            else:
                once = type(s) is not n.If and self._ends(s.body)
                known = {} if once else dict.fromkeys(walk.writes(s))
                blocks = [b for b in walk.blocks(s) if not self._ends(b)]
            for b in blocks:
                for inner in b:
                    known.update(self._binds(inner))
            self._binds_memo[id(s)] = known
        return known

    def _ends(self, block: list[n.Stmt]) -> bool:
        """Whether ``block`` always raises."""
        known = self._ends_memo.get(id(block))
        if known is None:
            known = self._ends_memo[id(block)] = any(self._stops(s) for s in block)
        return known

    def _stops(self, s: n.Stmt) -> bool:
        if type(s) is n.Try:
            return self._ends(s.handler) and (self._ends(s.body) or self._ends(s.orelse))
        if type(s) is n.With:
            return self._ends(s.body)
        return type(s) is n.Raise or (type(s) is n.If and self._ends(s.body) and self._ends(s.orelse))

    def _claims(self, block: list[n.Stmt], wanted: _Claims) -> dict[int, _Claims]:
        """For each join wanted of ``block``, the statement that is to bind it: the last one that binds the variable."""
        claims: dict[int, _Claims] = {}
        left = dict(wanted)
        for s in reversed(block):
            if not left:
                break
            mine = {var: left.pop(var) for var in self._binds(s) if var in left}
            if mine and type(s) in (n.Assign, n.Unpack, n.Update, n.If, n.With, n.Try):
                claims[id(s)] = mine
        return claims

    # ------------------------------------------------------------ names

    def _new(self, var: str) -> str:
        """The next version's name: the user's spelling first, then ``var_1``, …"""
        if var in self.spelled:
            return self.names.new(var)
        self.spelled.add(var)
        return var

    def _spell(self, join: _Join) -> str:
        if join.name is None:
            join.name = self._new(join.var)
        return join.name

    def _bind(self, var: str, env: _Env, claims: _Claims) -> str:
        join = claims.get(var)
        name = self._new(var) if join is None else self._spell(join)
        env[var] = _Version(name, _State.BOUND)
        return name

    def _copied(self, var: str, v: _Version) -> n.Name:
        """``v`` as the source of a copy that the user didn't write."""
        if v.state is _State.MAYBE:
            self.uncertain[var] = None
        self.unread.discard(v.name)
        return n.Name(v.name)

    def _read(self, e: n.Expr, env: _Env, out: list[n.Stmt], line: int) -> n.Expr:
        """``e`` over current versions; tests of versions that may hold ``Unbound`` go to ``out``."""
        mapping: dict[str, n.Expr] = {}
        for var in walk.names(e):
            v = env.get(var)
            if v is None:
                self.uncertain[var] = None
                continue
            if v.state is _State.HOLLOW:
                out.extend(self._guard(var, v.name, line))
            if v.state is not _State.BOUND:
                env[var] = _Version(v.name, _State.BOUND)
            self.unread.discard(v.name)
            if v.name != var:
                mapping[var] = n.Name(v.name)
        e = walk.substitute(e, mapping) if mapping else e
        if type(e) is n.Closure:  # its function is versioned in a namespace of its own
            inner = version(e.function, Names(self.names.taken), self.careful)
            return n.Closure(inner, e.captures, e.defaults, e.kw_defaults)
        return e

    def _guard(self, var: str, name: str, line: int) -> list[n.Stmt]:
        self.unread.discard(name)
        test = self.names.temporary()
        message = n.Const(f"cannot access local variable {var!r} where it is not associated with a value")
        error = n.Call(n.Ref("UnboundLocalError", UnboundLocalError), (message,))
        made = self.names.temporary()
        return [
            n.Assign(test, n.Compare("is", n.Name(name), n.Ref("Unbound", Unbound)), line=line),
            n.If(
                n.Name(test),
                [n.Assign(made, error, line=line), n.Raise(n.Name(made), None, line=line)],
                [],
                line=line,
            ),
        ]

    # ------------------------------------------------------------ statements

    def _block(self, block: list[n.Stmt], env: _Env, wanted: _Claims, movable: set[str] | None = None) -> list[n.Stmt]:
        """``block`` renamed.  ``movable``: versions that this block binds by a copy or a constant (for headers)."""
        claims = self._claims(block, wanted)
        out: list[n.Stmt] = []
        movable = set() if movable is None else movable
        for s in block:
            self._statement(s, env, out, claims.get(id(s), {}), movable)
            if self._stops(s):
                break  # what follows is never executed
        return out

    def _statement(self, s: n.Stmt, env: _Env, out: list[n.Stmt], claims: _Claims, movable: set[str]) -> None:
        t = type(s)
        where = {"line": s.line, "site": s.site}
        if t is n.Assign:
            value = self._read(s.value, env, out, s.line)
            target = self._bind(s.target, env, claims)
            out.append(n.Assign(target, value, **where))
            if s.target not in claims and type(value) in (n.Const, n.Name, n.Ref):
                movable.add(target)
                self.unread.add(target)
        elif t is n.Unpack:
            value = self._read(s.value, env, out, s.line)
            targets = []
            for k, var in enumerate(s.targets):
                last = var not in s.targets[k + 1 :]
                targets.append(self._bind(var, env, claims if last else {}))
            out.append(n.Unpack(tuple(targets), value, **where))
        elif t is n.Update and type(s.target) is n.Name:
            left = self._read(s.target, env, out, s.line)
            right = self._read(s.value, env, out, s.line)
            out.append(n.Assign(self._bind(s.target.id, env, claims), n.Inplace(s.op, left, right), **where))
        elif t is n.Append:
            appended = self._read(n.Name(s.target), env, out, s.line)
            value = self._read(s.value, env, out, s.line)
            out.append(n.Append(appended.id if type(appended) is n.Name else s.target, value, **where))
        elif t is n.Delete and type(s.target) is n.Name:
            self._delete(s, s.target.id, env, out, movable)
        elif t is n.If:
            self._if(s, env, out, claims)
        elif t is n.With:
            item = self._read(s.item, env, out, s.line)
            entered = None if s.target is None else self._bind(s.target, env, {})
            out.append(n.With(item, entered, self._block(s.body, env, claims), **where))
        elif t is n.Try:
            self._try(s, env, out, claims)
        elif t is n.For:
            self._for(s, env, out, movable)
        elif t is n.While:
            self._while(s, env, out, movable)
        elif t is n.Assert:
            test = self._read(s.test, env, out, s.line)
            inner = dict(env)
            body = self._block(s.message_body, inner, {})
            message = None if s.message is None else self._read(s.message, inner, body, s.line)
            out.append(n.Assert(test, body, message, **where))
        else:
            out.append(walk.map_stmt(s, lambda e: self._read(e, env, out, s.line)))

    def _delete(self, s: n.Delete, var: str, env: _Env, out: list[n.Stmt], movable: set[str]) -> None:
        v = env.get(var)
        if v is None or v.state is not _State.BOUND:
            read = self._read(n.Name(var), env, out, s.line)  # with the test that raises if it is unbound
            if v is None or v.state is _State.MAYBE:
                out.append(n.Effect(read, line=s.line))
        if var not in self.live.after[id(s)]:
            env.pop(var, None)
            return
        name = self._new(var)
        out.append(n.Assign(name, n.Ref("Unbound", Unbound), line=s.line))
        env[var] = _Version(name, _State.HOLLOW)
        movable.add(name)
        self.unread.add(name)

    def _if(self, s: n.If, env: _Env, out: list[n.Stmt], claims: _Claims) -> None:
        test = self._read(s.test, env, out, s.line)
        ends = self._ends(s.body), self._ends(s.orelse)
        joins = self._joins(s, env, ends, claims)
        arms, envs = [], []
        for block, end in zip((s.body, s.orelse), ends):
            arm_env = dict(env)
            arms.append(self._arm(block, arm_env, joins if not any(ends) else {} if end else claims, s.line))
            envs.append(arm_env)
        out.append(n.If(test, arms[0], arms[1], line=s.line, site=s.site))
        self._merge(s, env, (envs[0], envs[1]), ends, joins)

    def _joins(self, s: n.If | n.Try, env: _Env, ends: tuple[bool, bool], claims: _Claims) -> _Claims:
        """The variables that have one name after both arms, if both get there."""
        if any(ends):
            return {}
        live = self.live.after[id(s)]
        joins = {var: claims.get(var) or _Join(var) for var in self._binds(s) if var in live}
        for var, join in joins.items():
            if var not in env:
                self._spell(join)
        return joins

    def _merge(
        self, s: n.If | n.Try, env: _Env, envs: tuple[_Env, _Env], ends: tuple[bool, bool], joins: _Claims
    ) -> None:
        if any(ends):
            survivor = envs[1] if ends[0] else envs[0]
            env.clear()
            env.update(survivor)
            return
        for var in self._binds(s):
            env.pop(var, None)
            found = [e.get(var) for e in envs]
            if var in joins and any(found):
                state = max(_State.MAYBE if v is None else v.state for v in found)
                env[var] = _Version(self._spell(joins[var]), state)

    def _try(self, s: n.Try, env: _Env, out: list[n.Stmt], claims: _Claims) -> None:
        """Like :meth:`_if`, with the body and its ``else`` as one arm and the handler as the other."""
        ends = self._ends(s.body) or self._ends(s.orelse), self._ends(s.handler)
        joins = self._joins(s, env, ends, claims)
        wanted = [joins if not any(ends) else {} if end else claims for end in ends]
        late = {var for inner in s.orelse for var in self._binds(inner)}
        first, second = dict(env), dict(env)
        body = self._block(s.body, first, {var: join for var, join in wanted[0].items() if var not in late})
        orelse = self._arm(s.orelse, first, wanted[0], s.line)
        error = None if s.error is None else self._bind(s.error, second, {})
        handler = self._arm(s.handler, second, wanted[1], s.line)
        out.append(n.Try(body, handler, orelse, s.types, error, line=s.line, site=s.site))
        self._merge(s, env, (first, second), ends, joins)

    def _arm(self, block: list[n.Stmt], env: _Env, wanted: _Claims, line: int) -> list[n.Stmt]:
        out = self._block(block, env, wanted)
        for var, join in wanted.items():
            v = env.get(var)
            if v is not None and v.name != join.name:
                name = self._spell(join)
                out.append(n.Assign(name, self._copied(var, v), line=line))
                env[var] = _Version(name, v.state)
        return out

    # ------------------------------------------------------------ loops

    def _for(self, s: n.For, env: _Env, out: list[n.Stmt], movable: set[str]) -> None:
        iterable = self._read(s.iter, env, out, s.line)
        headers = self._enter(s, env, out, movable)
        inner = dict(env)
        target = self._bind(s.target, inner, {})
        count = None if s.count is None else self._bind(s.count, inner, {})
        body = self._block(s.body, inner, {})
        stop = self._stop(s, inner)
        body += self._close(headers, inner, s.line)
        out.append(n.For(target, iterable, body, stop, count, line=s.line, site=s.site))
        self._leave(s, headers, env)

    def _while(self, s: n.While, env: _Env, out: list[n.Stmt], movable: set[str]) -> None:
        headers = self._enter(s, env, out, movable)
        inner = dict(env)
        test_body = self._block(s.test_body, inner, {})
        test = self._read(s.test, inner, test_body, s.line)
        body = self._block(s.body, inner, {})
        stop = self._stop(s, inner)
        body += self._close(headers, inner, s.line)
        out.append(n.While(test_body, test, body, stop, line=s.line, site=s.site))
        self._leave(s, headers, env)
        if endless(s):
            env.update({var: _Version(headers[var], inner[var].state) for var in headers if var in inner})

    def _stop(self, s: n.For | n.While, inner: _Env) -> str | None:
        """The version of the stop flag at the end of the body."""
        if s.stop is None or self._ends(s.body):
            return None  # a body that always raises sets no flag
        if s.stop not in inner or inner[s.stop].state is not _State.BOUND:
            self.uncertain[s.stop] = None
            return s.stop
        return inner[s.stop].name

    def _enter(self, s: n.For | n.While, env: _Env, out: list[n.Stmt], movable: set[str]) -> dict[str, str]:
        """Bind the carried names of ``s``; returns variable → carried name."""
        head, after = self.live.at_head[id(s)], self.live.after[id(s)]
        headers: dict[str, str] = {}
        for var in self._binds(s):
            if var not in head and var not in after:
                continue
            before = env.get(var) if var in head else None  # else: `while True` binds it before anything reads it
            if before is None:
                name, state = self._new(var), _State.MAYBE
                if var in head and var in self.deleted:
                    self.uncertain[var] = None  # it may come to hold `Unbound`, so it has to from the start
            elif before.name in movable and before.name in self.unread:
                # nothing but the loop reads this copy or constant, so its name may be rebound
                name, state = before.name, before.state
                movable.discard(name)
            else:
                name, state = self._new(var), before.state
                out.append(n.Assign(name, self._copied(var, before), line=s.line))
            if var in self.deleted:
                state = _State.HOLLOW
            headers[var] = name
            env[var] = _Version(name, state)
        return headers

    def _close(self, headers: dict[str, str], inner: _Env, line: int) -> list[n.Stmt]:
        """The copies at the end of a body.  Their sources are bound in the body and are never headers of this loop."""
        copies: list[n.Stmt] = []
        for var, name in headers.items():
            v = inner.get(var)
            if v is not None and v.name != name:
                copies.append(n.Assign(name, self._copied(var, v), line=line, site="carried"))
        return copies

    def _leave(self, s: n.For | n.While, headers: dict[str, str], env: _Env) -> None:
        for var in self._binds(s):  # without those of a body that always raises: nothing leaves that
            if var not in headers:
                env.pop(var, None)


def _with_body(f: n.Function, body: list[n.Stmt]) -> n.Function:
    return n.Function(f.name, f.params, body, f.captures, f.line, f.filename)
