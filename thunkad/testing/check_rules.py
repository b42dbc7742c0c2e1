"""Check a rule against its function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.rules.entry import FRULE, RRULE, name_of
from thunkad.tangents import ZERO, AbstractZero, NoTangent, NotImplementedTangent, thunk
from thunkad.testing.call import Call, Rule, candidates, find_entry, tolerances
from thunkad.testing.differences import numerical_jvp, numerical_vjp, pairing
from thunkad.testing.leaves import (
    Path,
    at,
    copied,
    field_of,
    leaves,
    map_leaves,
    random_tangents,
    same,
    shown_path,
    unthunk_all,
)
from thunkad.testing.report import expect_close, fail


def check_rrule(
    fn: Any, *args: Any, rtol: float | None = None, atol: float | None = None, rule: Rule | None = None, **kwargs: Any
) -> None:
    """Check the reverse rule of ``fn`` at these arguments.

    The value must be that of ``fn``; the cotangents must agree with finite differences in value, shape and precision,
    be linear in the seed and the same at a second call; nothing that is passed in or was handed out may be modified;
    and if ``fn`` has a forward rule too, the two must be transposes of each other.

    Parameters
    ----------
    fn : callable
        The function.
    *args, **kwargs
        Arguments of ``fn``: a point at which it is differentiable.
    rtol, atol : float, optional
        Tolerances against finite differences; by default chosen from the precision of the arguments.
    rule : callable, optional
        The rule to check in place of the one in the table.

    Raises
    ------
    CheckError
        If a check fails.
    """
    subject = f"check_rrule({name_of(fn)})"
    entry = find_entry(fn, RRULE, rule, args, subject)
    call = Call(fn, entry, args, kwargs, subject)
    rtol, atol = tolerances(call, rtol, atol)
    rng = np.random.default_rng(0)

    value, pullback = _value_and_pullback(call)
    seed = random_tangents(value, rng)
    kept_value, kept_seed = copied(value), copied(seed)
    bars = _cotangents(call, pullback, seed)
    before = copied(bars)
    call.expect_inputs_unchanged("by the pullback")
    if not same(value, kept_value):
        fail(subject, "the pullback modified the value", value, kept_value)
    if not same(seed, kept_seed):
        fail(subject, "the pullback modified its seed", seed, kept_seed)

    _compare_cotangents(call, bars, seed, rtol, atol)

    again = _cotangents(call, pullback, seed)
    if not same(bars, before):
        fail(subject, "a second call of the pullback modified the cotangents of the first", bars, before)
    if not same(again, before):
        fail(subject, "a second call of the pullback gives other cotangents", again, before)
    double = map_leaves(lambda _, v: v if isinstance(v, AbstractZero) else v * 2, seed)
    _expect_doubled(call, bars, _cotangents(call, pullback, double))
    _check_partial_seeds(call, pullback, seed, rtol, atol)
    if entry.layer == "library":
        _check_complex_seed(call, pullback, seed, bars)
    fresh_value, fresh_pullback = _value_and_pullback(call)
    if not same(fresh_value, kept_value) or not same(_cotangents(call, fresh_pullback, seed), before):
        fail(subject, "a second call of the rule gives other results")

    if rule is None and candidates(fn, FRULE, args):
        _check_transposed(call, bars, seed, rng, rtol, atol)


def check_frule(
    fn: Any, *args: Any, rtol: float | None = None, atol: float | None = None, rule: Rule | None = None, **kwargs: Any
) -> None:
    """Check the forward rule of ``fn`` at these arguments.

    The value must be that of ``fn``, the tangent must agree with finite differences in value, shape and precision, for
    tangents of all arguments at once and of each alone (the others are ``ZeroTangent``); inputs may not be modified.

    Parameters
    ----------
    fn : callable
        The function.
    *args, **kwargs
        Arguments of ``fn``: a point at which it is differentiable.
    rtol, atol : float, optional
        Tolerances against finite differences; by default chosen from the precision of the arguments.
    rule : callable, optional
        The rule to check in place of the one in the table.

    Raises
    ------
    CheckError
        If a check fails.
    """
    subject = f"check_frule({name_of(fn)})"
    entry = find_entry(fn, FRULE, rule, args, subject)
    call = Call(fn, entry, args, kwargs, subject)
    rtol, atol = tolerances(call, rtol, atol)
    rng = np.random.default_rng(1)
    names = [n for n in call.operands if f"{n}_dot" in call.dots]
    tangents = {n: _tangent(call.operands[n], rng) for n in names}
    moving = [n for n in names if not isinstance(tangents[n], AbstractZero)]
    moving = [n for n in moving if not _not_implemented(call, {m: tangents[m] if m == n else ZERO for m in names})]
    if not moving:
        fail(subject, f"no argument can be perturbed; the rule takes {sorted(call.dots) or 'no tangents'}")
    for active in [moving] if len(moving) == 1 else [moving, *([n] for n in moving)]:
        dots = {n: tangents[n] if n in active else ZERO for n in names}
        kept = copied(dots)
        value, value_dot = _value_and_tangent(call, dots)
        _expect_value(call, value)
        call.expect_inputs_unchanged("by the rule")
        if not same(dots, kept):
            fail(subject, "the rule modified a tangent that it was given", dots, kept)
        directions = {(n, *p): v for n in active for p, v in leaves(tangents[n]) if not isinstance(v, AbstractZero)}
        want = numerical_jvp(call.of_operands, (call.operands,), {(0, *p): v for p, v in directions.items()})
        for path, leaf in leaves(value):
            if path in want:
                what = f"the tangent of the result{shown_path(path)} for tangents of {', '.join(active)}"
                got = at(value_dot, path)
                got = np.zeros_like(leaf)[()] if isinstance(got, AbstractZero) else got
                expect_close(subject, what, got, want[path], rtol, atol)
                _expect_precision(call, what, got, leaf)


# reverse


def _value_and_pullback(call: Call) -> tuple[Any, Callable[[Any], Any]]:
    assert call.entry.function is not None
    result = call.entry.function(*call.args, **call.kwargs)
    if not isinstance(result, tuple) or len(result) != 2 or not callable(result[1]):
        fail(call.subject, "the rule must return (value, pullback)", result, "(value, pullback)")
    call.expect_inputs_unchanged("by the rule")
    _expect_value(call, result[0])
    return result[0], result[1]


def _expect_value(call: Call, value: Any) -> None:
    want = call.fn(*copied(call.args), **copied(call.kwargs))
    mine, others = list(leaves(value)), list(leaves(want))
    if [p for p, _ in mine] != [p for p, _ in others]:
        fail(call.subject, "the value has another structure than the function's", value, want)
    for (path, got), (_, leaf) in zip(mine, others):
        if not field_of(leaf):
            if not same(got, leaf):
                fail(call.subject, f"the value{shown_path(path)} is not the function's", got, leaf)
            continue
        tight = 1e-12 if np.asarray(leaf).dtype.itemsize > 4 and np.asarray(leaf).dtype != np.complex64 else 1e-5
        expect_close(call.subject, f"the value{shown_path(path)}", got, leaf, tight, tight)
        if np.asarray(got).dtype != np.asarray(leaf).dtype:
            fail(
                call.subject,
                f"the value{shown_path(path)} has another dtype",
                np.asarray(got).dtype,
                np.asarray(leaf).dtype,
            )


def _cotangents(call: Call, pullback: Callable[[Any], Any], seed: Any) -> dict[str, Any]:
    """The cotangents by the names of the parameters.  A rule that keeps thunks is given one."""
    found = pullback(thunk(lambda: seed) if call.entry.keep_thunks else seed)
    if not isinstance(found, tuple) or len(found) != len(call.positional):
        if not (call.entry.partials and isinstance(found, tuple)):
            want = f"a tuple of {len(call.positional)}, one for each positional parameter of the rule"
            fail(call.subject, "the pullback returns the wrong number of cotangents", found, want)
    return {p.name: unthunk_all(bar) for p, bar in zip(call.positional, found)}


def _claimed(call: Call, bars: dict[str, Any]) -> dict[Path, Any]:
    """The leaves of the operands that the rule says something about, with the cotangents."""
    found: dict[Path, Any] = {}
    for name, operand in call.operands.items():
        bar = bars[name]
        if isinstance(operand, (list, tuple)) and not isinstance(bar, (list, tuple, AbstractZero)):
            fail(
                call.subject,
                f"the cotangent of {name!r} must be one for each of its {len(operand)} entries",
                bar,
                operand,
            )
        if isinstance(operand, (list, tuple)) and isinstance(bar, (list, tuple)) and len(bar) != len(operand):
            fail(call.subject, f"the cotangent of {name!r} must have {len(operand)} entries", bar, operand)
        for path, leaf in leaves(operand):
            part = at(bar, path)
            if isinstance(part, NotImplementedTangent):
                continue  # nothing is claimed
            if not field_of(leaf):
                if not isinstance(part, AbstractZero):
                    fail(
                        call.subject,
                        f"{name}{shown_path(path)} can't be perturbed, its cotangent must be NoTangent()",
                        part,
                        NoTangent(),
                    )
            elif field_of(leaf) != "int" or not isinstance(part, AbstractZero):
                found[(name, *path)] = part
    return found


def _compare_cotangents(call: Call, bars: dict[str, Any], seed: Any, rtol: float, atol: float) -> None:
    claimed = _claimed(call, bars)
    want = numerical_vjp(call.of_operands, (call.operands,), seed, {(0, *p) for p in claimed})
    for path, bar in claimed.items():
        leaf = at(call.operands, path)
        what = f"the cotangent of {path[0]}{shown_path(path[1:])}"
        if isinstance(bar, AbstractZero):
            bar = np.zeros(np.shape(leaf), np.asarray(leaf).dtype)[()]
        if bar is None or np.asarray(bar).dtype.kind not in "fc":
            fail(call.subject, f"{what} must be of a float type", bar, want[(0, *path)])
        if field_of(leaf) != "complex":
            bar = np.real(bar)  # where a complex cotangent reaches a real argument the compiler does this
        expect_close(call.subject, what, bar, want[(0, *path)], rtol, atol)
        _expect_precision(call, what, bar, leaf)


def _expect_precision(call: Call, what: str, got: Any, primal: Any) -> None:
    """Single precision in must give single precision out; where precisions are mixed the compiler projects."""
    if not isinstance(primal, (np.ndarray, np.generic)) or primal.dtype.kind not in "fc":
        return
    numbers = [
        v
        for _, v in leaves((call.args, call.kwargs))
        if isinstance(v, (np.ndarray, np.generic)) and v.dtype.kind != "b"
    ]
    if len({np.finfo(v.dtype).dtype if v.dtype.kind in "fc" else v.dtype for v in numbers}) > 1:
        return
    have, want = np.finfo(np.asarray(got).dtype).dtype, np.finfo(primal.dtype).dtype
    if have != want:
        fail(call.subject, f"{what} has another precision than the argument", have, want)


def _expect_doubled(call: Call, bars: dict[str, Any], doubled: dict[str, Any]) -> None:
    for (path, one), (_, two) in zip(leaves(bars), leaves(doubled)):
        if not isinstance(one, AbstractZero) and field_of(one):
            expect_close(
                call.subject,
                f"the cotangent of {path[0]}{shown_path(path[1:])} for a doubled seed",
                two,
                one * 2,
                1e-5,
                1e-5,
            )


def _check_partial_seeds(call: Call, pullback: Callable[[Any], Any], seed: Any, rtol: float, atol: float) -> None:
    """A result of several parts may come back with cotangents for some of them only."""
    if not isinstance(seed, tuple) or len(seed) < 2:
        return
    for k, part in enumerate(seed):
        if not isinstance(part, AbstractZero):
            alone = tuple(s if j == k else ZERO for j, s in enumerate(seed))
            _compare_cotangents(call, _cotangents(call, pullback, alone), alone, rtol, atol)


def _check_complex_seed(call: Call, pullback: Callable[[Any], Any], seed: Any, bars: dict[str, Any]) -> None:
    """A cotangent that reaches a real result complex counts with its real part; users' rules are sent only that."""
    turned = map_leaves(lambda _, v: v * (1 + 2j) if field_of(v) == "real" else v, seed)
    if not any(field_of(v) == "real" for _, v in leaves(seed)):
        return
    found = _cotangents(call, pullback, turned)
    for (path, bar), (_, other) in zip(leaves(bars), leaves(found), strict=True):
        if field_of(bar):
            leaf = at(call.operands, path)
            bar, other = (bar, other) if field_of(leaf) == "complex" else (np.real(bar), np.real(other))
            what = f"the cotangent of {path[0]}{shown_path(path[1:])} for a seed with an imaginary part"
            expect_close(call.subject, what, other, bar, 1e-5, 1e-5)


# forward


def _tangent(operand: Any, rng: np.random.Generator) -> Any:
    if isinstance(operand, (list, tuple, dict)):
        nested = random_tangents(operand, rng)
        return nested if any(not isinstance(v, AbstractZero) for _, v in leaves(nested)) else ZERO
    return random_tangents(operand, rng)


def _value_and_tangent(call: Call, dots: dict[str, Any]) -> tuple[Any, Any]:
    assert call.entry.function is not None
    given = {d: dots.get(d[: -len("_dot")], ZERO) for d in _ordered(call)}
    result = call.entry.function(*call.args, **call.kwargs, **given)
    if not isinstance(result, tuple) or len(result) != 2:
        fail(call.subject, "the rule must return (value, value_dot)", result, "(value, value_dot)")
    return result[0], unthunk_all(result[1])


def _not_implemented(call: Call, dots: dict[str, Any]) -> bool:
    """Whether the forward rule says that it has no derivative for this tangent."""
    return isinstance(_value_and_tangent(call, dots)[1], NotImplementedTangent)


def _ordered(call: Call) -> list[str]:
    """The tangent parameters of the operands present, in the order of the signature."""
    return [name for name in call.entry.signature().parameters if name in call.dots]


def _check_transposed(
    call: Call, bars: dict[str, Any], seed: Any, rng: np.random.Generator, rtol: float, atol: float
) -> None:
    entry = candidates(call.fn, FRULE, call.args)[0]
    forward = Call(call.fn, entry, call.args, call.kwargs, f"{call.subject}, against the forward rule")
    tangents = {n: _tangent(v, rng) for n, v in forward.operands.items() if f"{n}_dot" in forward.dots}
    tangents = {n: ZERO if isinstance(bars.get(n), NotImplementedTangent) else t for n, t in tangents.items()}
    if all(isinstance(t, AbstractZero) for t in tangents.values()):
        return
    _, value_dot = _value_and_tangent(forward, tangents)
    one = pairing(seed, value_dot)
    two = pairing({n: bars[n] for n in tangents if n in bars}, tangents)
    expect_close(
        forward.subject,
        "⟨seed, value_dot⟩ (forward) against ⟨cotangents, tangents⟩ (reverse)",
        one,
        two,
        max(rtol, 1e-9),
        10 * atol,
    )
