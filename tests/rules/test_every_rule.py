"""Every function of the rule table, at the points of ``samples``: its rules against differences, and what is compiled from
them against the rules as they stand.
"""

import functools
import importlib.util
import pathlib
import tempfile

import numpy as np
import pytest
import samples
from samples import SAMPLES

import thunkad as ad
from thunkad.rules.entry import ALTERNATIVE, FRULE, RRULE, name_of
from thunkad.rules.load import load_library
from thunkad.rules.table import TABLE
from thunkad.tangents import ZERO, AbstractZero, NotImplementedTangent
from thunkad.testing import check_frule, check_rrule, numerical_vjp
from thunkad.testing.call import candidates
from thunkad.testing.leaves import at, copied, field_of, leaves, random_tangents, same, unthunk_all

load_library()
IDS = [f"{name_of(s.function)}-{k}" for k, s in enumerate(SAMPLES)]
DIRECT = [pytest.param(s, id=i) for s, i in zip(SAMPLES, IDS) if not s.composed]


def test_every_function_has_a_sample():
    have = {id(s.function) for s in SAMPLES} | {s.function for s in SAMPLES if callable(s.function)}
    lacking = []
    for target, entries in TABLE.snapshot.cells.items():
        ours = [e for e in entries if e.layer == "library" and e.kind in (RRULE, ALTERNATIVE)]
        module = getattr(getattr(target, "__objclass__", target), "__module__", None) or ""
        if ours and not module.startswith("thunkad") and not module.startswith(BY_PROGRAMS) and target not in have and name_of(target) not in WITHOUT:
            lacking.append(name_of(target))
    assert not lacking


#: What is tested by programs, for it writes, takes functions or is there for containers only; and what NumPy warns of.
WITHOUT = {
    "functools.update_wrapper", "dict.fromkeys", "dict.keys", "SuperLU.solve", "contextlib.contextmanager", "_operator.setitem", "_operator.delitem", "_operator.or_", "iter", "np.row_stack", "np.vectorize", "set", "frozenset",
           "functools.cache", "functools.lru_cache",
           *(f"{owner}.{name}" for owner in ("set", "frozenset")
             for name in ("union", "intersection", "difference", "symmetric_difference", "copy")),
           "chain.from_iterable"}
#: The same of whole modules: operators of lists and arrays (test_ufuncs_of_lists.py), iterators (test_kept_generators.py),
#: containers and copies (tests/programs); what tests/rules/scipy holds, solvers.
BY_PROGRAMS = ("_operator", "_heapq", "operator", "itertools", "collections", "copy", "scipy.integrate", "scipy.sparse", "scipy.stats", "scipy.optimize")


@functools.cache
def compiled_samples():
    """A module with one function for each sample, so that what is compiled has the call in its text."""
    lines = ["import functools, operator", "import numpy as np, scipy.fft, scipy.linalg, scipy.signal, scipy.stats",
             "from samples import *", "from samples_scipy import *", ""]
    for k, s in enumerate(SAMPLES):
        names = [f"a{i}" for i in range(len(s.args))]
        keywords = [f"{key}=K{k}_{key}" for key in s.kwargs]
        if s.method:
            call = s.method.format(*names, rest=", ".join([*names[1:], *keywords]))
        else:
            call = f"F{k}({', '.join([*names, *keywords])})"
        lines += [f"def f{k}({', '.join(names)}):", f"    return {call}", ""]
    path = pathlib.Path(tempfile.mkdtemp()) / "compiled_samples.py"
    path.write_text("\n".join(lines), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("compiled_samples", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for k, s in enumerate(SAMPLES):
        setattr(module, f"F{k}", s.function)
        for key, value in s.kwargs.items():
            setattr(module, f"K{k}_{key}", value)
    return module


def function_of(sample):
    return getattr(compiled_samples(), f"f{SAMPLES.index_of[id(sample)]}")


class _Indexed(list):
    index_of: dict = {}


SAMPLES = _Indexed(SAMPLES)
SAMPLES.index_of = {id(s): k for k, s in enumerate(SAMPLES)}


def perturbed(value):
    return any(field_of(v) in ("real", "complex") for _, v in leaves(value))


def as_numbers(bar, leaf):
    """A cotangent or tangent of ``leaf`` as an array."""
    bar = np.zeros_like(leaf)[()] if isinstance(bar, AbstractZero) or bar is None else bar
    return np.real(bar) if field_of(leaf) != "complex" else bar


@pytest.mark.parametrize("sample", DIRECT)
def test_rules_against_differences(sample):
    check_rrule(sample.function, *sample.args, **sample.kwargs)
    moving = any(perturbed(a) for a in sample.args)
    if moving and candidates(sample.function, FRULE, sample.args):
        check_frule(sample.function, *sample.args, **sample.kwargs)


@pytest.mark.parametrize("sample", DIRECT)
def test_compiled_is_the_rule(sample):
    rule = candidates(sample.function, RRULE, sample.args)[0]
    value, pullback = rule.function(*copied(sample.args), **sample.kwargs)
    seed = random_tangents(value, np.random.default_rng(0))
    wanted = unthunk_all(pullback(seed))
    parameters = [p for p in rule.signature().parameters.values() if p.kind is not p.KEYWORD_ONLY]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        flat = []
        for p, bar in zip(parameters, wanted):
            flat += list(bar) if p.kind is p.VAR_POSITIONAL and isinstance(bar, (list, tuple)) else [bar]
        wanted = flat + [ZERO] * len(sample.args)
    elif rule.partials is None:
        assert len(wanted) == len(parameters)
    got_value, got_pullback = ad.vjp(function_of(sample), *copied(sample.args))
    assert same(got_value, value)
    got = tuple.__iter__(got_pullback(seed))
    for argument, mine, theirs in zip(sample.args, got, wanted):
        if not perturbed(argument):
            continue
        parts = unthunk_all(mine) if not isinstance(at(theirs, ()), NotImplementedTangent) else None
        for path, leaf in leaves(argument):
            if field_of(leaf) in ("real", "complex") and parts is not None:
                left, right = as_numbers(at(parts, path), leaf), as_numbers(at(theirs, path), leaf)
                np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12)
                assert np.shape(left) == np.shape(leaf)
                if isinstance(leaf, np.ndarray):
                    assert np.asarray(left).dtype == leaf.dtype


@pytest.mark.parametrize("sample", [pytest.param(s, id=i) for s, i in zip(SAMPLES, IDS) if s.composed])
def test_compiled_against_differences(sample):
    f = function_of(sample)
    plain = f(*copied(sample.args))
    value, pullback = ad.vjp(f, *copied(sample.args))
    for (_, got), (_, want) in zip(leaves(value), leaves(plain), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
    seed = random_tangents(plain, np.random.default_rng(0))
    if not perturbed(plain):
        return
    bars = unthunk_all(tuple(tuple.__iter__(pullback(seed))))
    wanted = numerical_vjp(f, sample.args, seed)
    for path, want in wanted.items():
        leaf = at(sample.args, path)
        loose = any(name in sample.method for name in ("float32", "float16", "complex64"))
        rtol, atol = (2e-2, 2e-2) if loose else (1e-5, 1e-7)
        np.testing.assert_allclose(as_numbers(at(bars, path), leaf), want, rtol=rtol, atol=atol)


def test_samples_are_imported_once():
    assert samples.SAMPLES[0] is SAMPLES[0]
