"""``match``: each case is a test and an ``if``; what it captures is read off the subject once the test has succeeded.

::

    match p:                        t1 = p
        case (0, y):                t2 = is_sequence(t1, 2, True)
            return y                if t2:
        case _:                         t3 = t1[0]
            return 1.0                  t2 = t3 == 0
                                    if t2:
                                        y = t1[1]
                                        return y
                                    else:
                                        return 1.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.ir import nodes as n
from thunkad.normal.lower_builder import Builder, lowers
from thunkad.normal.lower_expressions import truth
from thunkad.records import record
from thunkad.runtime import patterns
from thunkad.runtime.unbound import Unbound
from thunkad.runtime.unpacking import split_starred

IS_SEQUENCE = n.Ref("is_sequence", patterns.is_sequence)
HAS_KEYS = n.Ref("has_keys", patterns.has_keys)
IS_INSTANCE = n.Ref("is_instance", patterns.is_instance)
HAS_FIELD = n.Ref("has_field", patterns.has_field)
FIELD_NAME = n.Ref("field_name", patterns.field_name)
MATCHED_FIELD = n.Ref("matched_field", patterns.matched_field)
SPLIT_STARRED = n.Ref("split_starred", split_starred)
DICT = n.Ref("dict", dict)
UNBOUND = n.Ref("Unbound", Unbound)


@record
class Part:
    """A part of the subject: the subject itself (``atom``), or ``take`` of another part."""

    atom: n.Expr | None = None
    whole: Part | None = None
    take: Callable[[n.Expr], n.Expr] | None = None

    def read(self, b: Builder) -> n.Expr:
        """One operation that reads it."""
        if self.whole is None or self.take is None:
            assert self.atom is not None
            return self.atom
        whole = self.whole.read(b)
        return self.take(whole if isinstance(whole, n.ATOMS) else b.temp(whole))

    def value(self, b: Builder) -> n.Expr:
        value = self.read(b)
        return value if isinstance(value, n.ATOMS) else b.temp(value)


Captures = list[tuple[str, Part]]
Test = Callable[[], "n.Expr | None"]  # emits what it needs; None: it always succeeds (and emits nothing)


@lowers("Match")
def _match(b: Builder, node: Any) -> None:
    subject = b.atom(node.subject)
    if type(subject) is n.Name and subject.id not in b.stable:
        subject = b.temp(subject)
    _cases(b, Part(subject), list(node.cases))


def _cases(b: Builder, subject: Part, cases: list[Any]) -> None:
    if not cases:
        return
    case, *rest = cases
    line = b.line
    captures: Captures = []
    test = _test(b, case.pattern, subject, captures)
    if test is not None and type(test) is not n.Name:
        test = b.temp(test)
    bind_again = True
    if case.guard is not None:
        with b.into(b.block if test is None else []) as guarded:
            _bind(b, captures)
            rebindings = b.rebindings
            value = truth(b, case.guard)
            bind_again = test is not None and b.rebindings == rebindings
            if test is not None:
                assert type(test) is n.Name
                b.assign(test.id, value)
        if test is None:
            test = value
        else:
            b.emit(n.If(test, guarded, []))
    if test is None:
        _bind(b, captures)
        b.statements(case.body)
        return
    with b.into([]) as body:
        if bind_again:
            _bind(b, captures)
        b.statements(case.body)
    b.line = line
    with b.into([]) as orelse:
        _cases(b, subject, rest)
    b.line = line
    b.emit(n.If(test, body, orelse))


def _bind(b: Builder, captures: Captures) -> None:
    for name, part in captures:
        b.write(name, part.read(b))


# ---------------------------------------------------------------- patterns


def _test(b: Builder, pattern: Any, part: Part, captures: Captures) -> n.Expr | None:
    kind = type(pattern).__name__
    if kind == "MatchAs":
        found = None if pattern.pattern is None else _test(b, pattern.pattern, part, captures)
        if pattern.name is not None:
            captures.append((pattern.name, part))
        return found
    if kind == "MatchValue":
        value, against = part.value(b), b.atom(pattern.value)
        return n.Compare("==", value, against)
    if kind == "MatchSingleton":
        return n.Compare("is", part.value(b), n.Const(pattern.value))
    if kind == "MatchSequence":
        return _sequence(b, pattern, part, captures)
    if kind == "MatchMapping":
        return _mapping(b, pattern, part, captures)
    if kind == "MatchClass":
        return _class(b, pattern, part, captures)
    if kind == "MatchOr":
        return _or(b, pattern, part, captures)
    b.unsupported(pattern, f"the pattern '{kind}' can't be differentiated", "Use 'if' and 'elif'.")


def _all(b: Builder, tests: list[Test]) -> n.Expr | None:
    """``and`` of the tests; each is made only if those before it have succeeded."""
    out: str | None = None
    outer = b.block
    for test in tests:
        with b.into([]) as block:
            value = test()
            if value is None:
                continue
            found = b.temporary() if out is None else out
            b.assign(found, value)
        if out is None:
            b.block += block
            out = found
        else:
            b.emit(n.If(n.Name(out), block, []))
            b.block = block
    b.block = outer
    return None if out is None else n.Name(out)


def _sequence(b: Builder, pattern: Any, part: Part, captures: Captures) -> n.Expr | None:
    inner = pattern.patterns
    stars = [k for k, p in enumerate(inner) if type(p).__name__ == "MatchStar"]
    least = len(inner) - len(stars)
    whole = part
    if stars and (inner[stars[0]].name is not None or stars[0] < len(inner) - 1):
        counts = n.Const(stars[0]), n.Const(least - stars[0])
        whole = Part(whole=part, take=lambda e: n.Call(SPLIT_STARRED, (e, *counts)))
    tests: list[Test] = [lambda: n.Call(IS_SEQUENCE, (part.value(b), n.Const(least), n.Const(not stars)))]
    for k, p in enumerate(inner):
        item = Part(whole=whole, take=lambda e, k=k: n.Index(e, n.Const(k)))  # type: ignore[misc]
        if type(p).__name__ != "MatchStar":
            tests.append(lambda p=p, item=item: _test(b, p, item, captures))  # type: ignore[misc]
        elif p.name is not None:
            captures.append((p.name, item))
    return _all(b, tests)


def _mapping(b: Builder, pattern: Any, part: Part, captures: Captures) -> n.Expr | None:
    keys: list[n.Expr] = []

    def present() -> n.Expr:
        subject = part.value(b)
        keys.extend(b.operands(*pattern.keys))
        return n.Call(HAS_KEYS, (subject, *keys))

    tests: list[Test] = [present]
    for k, p in enumerate(pattern.patterns):
        item = Part(whole=part, take=lambda e, k=k: n.Index(e, keys[k]))  # type: ignore[misc]
        tests.append(lambda p=p, item=item: _test(b, p, item, captures))  # type: ignore[misc]
    found = _all(b, tests)
    if pattern.rest is not None:

        def rest(e: n.Expr) -> n.Expr:
            left = b.temp(n.Call(DICT, (e,)))
            for key in keys:
                b.emit(n.Delete(n.Index(left, key)))
            return left

        captures.append((pattern.rest, Part(whole=part, take=rest)))
    return found


def _class(b: Builder, pattern: Any, part: Part, captures: Captures) -> n.Expr | None:
    by_place, names = list(pattern.patterns), list(pattern.kwd_attrs)
    itself = _is_self_matching(b, pattern)
    cls: list[n.Expr] = []

    def about() -> n.Expr:
        subject = part.value(b)
        cls.append(b.atom(pattern.cls))
        count = n.Const(0 if itself else len(by_place))
        return n.Call(IS_INSTANCE, (subject, cls[0], count, *map(n.Const, names)))

    tests: list[Test] = [about]
    for k, p in enumerate(by_place):
        if itself:
            tests.append(lambda p=p: _test(b, p, part, captures))  # type: ignore[misc]
            continue
        item = Part(whole=part, take=lambda e, k=k: n.Call(MATCHED_FIELD, (e, cls[0], n.Const(k))))  # type: ignore[misc]

        def has(k: int = k) -> n.Expr:
            spelled = b.temp(n.Call(FIELD_NAME, (cls[0], n.Const(k))))
            return n.Call(HAS_FIELD, (part.value(b), spelled))

        tests += [has, lambda p=p, item=item: _test(b, p, item, captures)]  # type: ignore[misc]
    for attribute, p in zip(names, pattern.kwd_patterns):
        item = Part(whole=part, take=lambda e, a=attribute: n.Attr(e, a))  # type: ignore[misc]
        tests.append(lambda a=attribute: n.Call(HAS_FIELD, (part.value(b), n.Const(a))))  # type: ignore[misc]
        tests.append(lambda p=p, item=item: _test(b, p, item, captures))  # type: ignore[misc]
    return _all(b, tests)


def _is_self_matching(b: Builder, pattern: Any) -> bool:
    cls = pattern.cls
    if len(pattern.patterns) != 1 or type(cls).__name__ != "Name":
        return False
    return cls.id in patterns.SELF_MATCHING and b.slot(cls.id) is None


def _or(b: Builder, pattern: Any, part: Part, captures: Captures) -> n.Expr | None:
    out = b.temporary()
    kept: dict[str, str] = {}
    outer = b.block
    for k, alternative in enumerate(pattern.patterns):
        own: Captures = []
        with b.into([]) as block:
            test = _test(b, alternative, part, own)
            if own:
                if not kept:
                    kept = {name: b.temporary() for name, _ in own}
                    first = [n.Assign(temporary, UNBOUND, line=b.line) for temporary in kept.values()]
                    outer += first
                with b.into([]) as success:
                    for name, place in own:
                        b.assign(kept[name], place.read(b))
                    b.assign(out, n.Const(True))
                b.assign(out, n.Const(False))
                if test is None:
                    block += success
                else:
                    b.emit(n.If(test if type(test) is n.Name else b.temp(test), success, []))
            else:
                b.assign(out, n.Const(True) if test is None else test)
        b.block += block
        if k + 1 < len(pattern.patterns):
            rest: list[n.Stmt] = []
            b.emit(n.If(n.Name(out), [], rest))
            b.block = rest
    b.block = outer
    captures += [(name, Part(n.Name(temporary))) for name, temporary in kept.items()]
    return n.Name(out)
