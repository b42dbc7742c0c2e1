"""Single precision in, single precision out: cotangents have the type of the argument, tangents that of the result.

Rules are checked as they stand, too: what they compute in double precision would be twice the memory and the time.
"""

import numpy as np
import pytest
from test_every_rule import IDS, SAMPLES, compiled_samples, function_of, perturbed

import thunkad as ad
from thunkad.rules.entry import FRULE, RRULE
from thunkad.tangents import ZERO, AbstractZero, NotImplementedTangent
from thunkad.testing.call import Call, candidates
from thunkad.testing.leaves import at, copied, leaves, map_leaves, random_tangents, unthunk_all

SINGLE = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}


def is_inexact(x):
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc"


def single(value):
    """``value`` with single precision; Python's numbers have none of their own."""
    return map_leaves(lambda _, v: v.astype(SINGLE.get(v.dtype, v.dtype)) if is_inexact(v) else v, value)


def precision(x):
    return np.finfo(np.asarray(x).dtype).dtype


def is_single(value):
    """Whether all numbers in ``value`` are of single precision."""
    found = [v for _, v in leaves(value) if is_inexact(v)]
    return bool(found) and all(precision(v) == np.float32 for v in found)


def chosen():
    """The first two samples of each function: numbers and arrays, or two forms of a call."""
    seen: dict[int, int] = {}
    for k, (sample, name) in enumerate(zip(SAMPLES, IDS)):
        wide = any(word in sample.method for word in ("float", "complex", "longdouble")) or any(
            a is complex for a in sample.args
        )
        if wide or not is_single(single((sample.args, sample.kwargs))) or seen.get(id(sample.function), 0) == 2:
            continue
        seen[id(sample.function)] = seen.get(id(sample.function), 0) + 1
        yield pytest.param(k, id=name)


def found(tangent, path):
    """The part of a tangent at ``path``, None if it says nothing."""
    part = at(tangent, path)
    return None if part is None or isinstance(part, (AbstractZero, NotImplementedTangent)) else np.asarray(part)


def dots_of(args, rng):
    return tuple(random_tangents(a, rng) if perturbed(a) else ZERO for a in args)


@pytest.fixture
def sample(request, monkeypatch):
    """A sample with single precision, and the function that calls it."""
    k, whole = request.param, SAMPLES[request.param]
    for key, value in whole.kwargs.items():
        monkeypatch.setattr(compiled_samples(), f"K{k}_{key}", single(value))
    return whole._replace(args=single(whole.args), kwargs=single(whole.kwargs)), function_of(whole)


@pytest.mark.parametrize("sample", list(chosen()), indirect=True)
@pytest.mark.filterwarnings("ignore")
def test_compiled_derivatives_have_the_type_of_what_they_belong_to(sample):
    sample, f = sample
    rng = np.random.default_rng(0)
    plain = f(*copied(sample.args))
    value, pullback = ad.vjp(f, *copied(sample.args))
    for (_, mine), (_, theirs) in zip(leaves(value), leaves(plain), strict=True):
        assert not is_inexact(theirs) or mine.dtype == theirs.dtype
    for argument, bar in zip(sample.args, tuple.__iter__(pullback(random_tangents(value, rng)))):
        try:
            bar = unthunk_all(bar)
        except ad.NotImplementedDerivativeError:
            continue
        for path, leaf in leaves(argument):
            part = found(bar, path)
            assert not is_inexact(leaf) or part is None or part.dtype == leaf.dtype
    try:
        value, value_dot = ad.jvp(f, copied(sample.args), dots_of(sample.args, rng))
    except ad.NotImplementedDerivativeError:
        return
    for path, leaf in leaves(value):
        part = found(value_dot, path)
        assert not is_inexact(leaf) or part is None or part.dtype == leaf.dtype


@pytest.mark.parametrize("sample", [p for p in chosen() if not SAMPLES[p.values[0]].composed], indirect=True)
@pytest.mark.filterwarnings("ignore")
def test_rules_compute_in_the_precision_of_their_arguments(sample):
    sample, _ = sample
    rng = np.random.default_rng(0)
    args, kwargs, fn = sample.args, sample.kwargs, sample.function
    value = fn(*copied(args), **kwargs)
    for entry in candidates(fn, RRULE, args)[:1]:
        call = Call(fn, entry, args, kwargs, "")
        bars = entry.function(*copied(args), **kwargs)[1](random_tangents(value, rng)) if is_single(value) else ()
        for parameter, bar in zip(call.positional, bars):
            for path, leaf in leaves(call.operands.get(parameter.name)):
                part = found(unthunk_all(bar), path)
                assert not is_inexact(leaf) or part is None or precision(part) == precision(leaf)
    for entry in candidates(fn, FRULE, args)[:1]:
        call = Call(fn, entry, args, kwargs, "")
        dots = {d: random_tangents(call.operands[d[:-4]], rng) for d in sorted(call.dots) if d[:-4] in call.operands}
        dots = {d: t if perturbed(t) else ZERO for d, t in dots.items()}
        if any(map(perturbed, dots.values())):
            given = {d: dots.get(d, ZERO) for d in call.dots}
            value, value_dot = entry.function(*copied(args), **kwargs, **given)
            for path, leaf in leaves(value):
                part = found(unthunk_all(value_dot), path)
                assert not is_inexact(leaf) or part is None or precision(part) == precision(leaf)
