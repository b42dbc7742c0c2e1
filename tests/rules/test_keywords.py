"""Every keyword argument of every NumPy function that is differentiated works, or is refused by its name."""

import importlib.util
import inspect
import pathlib
import tempfile

import numpy as np
import pytest
from test_every_rule import SAMPLES, perturbed

import thunkad as ad
from thunkad.rules import catalogue
from thunkad.testing.leaves import copied, field_of, leaves, random_tangents, unthunk_all

#: A value for a keyword whose default stands for "not given".
VALUES = {"keepdims": True, "initial": 0.5, "where": True, "correction": 1, "mean": 0.0, "axes": None}
#: What would be an error in NumPy too, with the argument that the sample has, or that is of no array.
LEFT_OUT = ("out", "like", "casting", "signature", "rtol", "rcond")


def cases():
    """(identifier, sample, keyword, value) for each keyword that the sample does not have yet."""
    seen = set()
    names = {id(t): name for name, t in catalogue.numpy_names() if name.startswith("np.") and not isinstance(t, np.ufunc)}
    for sample in SAMPLES:
        fn = sample.function
        if sample.method or id(fn) not in names or id(fn) in seen or not any(map(perturbed, sample.args)):
            continue
        seen.add(id(fn))
        try:
            parameters = list(inspect.signature(fn).parameters.values())
        except (TypeError, ValueError):
            continue
        for k, p in enumerate(parameters):
            given = (k < len(sample.args) and p.kind is p.POSITIONAL_OR_KEYWORD) or p.name in sample.kwargs
            if given or p.default is p.empty or p.kind is p.POSITIONAL_ONLY or p.name in LEFT_OUT:
                continue
            value = VALUES.get(p.name) if p.default is np._NoValue else p.default
            if value is not None or p.default is None:
                yield names[id(fn)], sample, p.name, value


CASES = [pytest.param(*case[1:], id=f"{case[0]}-{case[2]}") for case in cases()]


def called(sample, keyword, value):
    """A function of the sample's arguments that calls it with the keyword, written out."""
    names = ", ".join(f"a{k}" for k in range(len(sample.args)))
    keywords = ", ".join(f"{key}=KEYWORDS[{key!r}]" for key in sample.kwargs)
    text = f"def f({names}):\n    return FN({', '.join(x for x in (names, keywords) if x)}, {keyword}=VALUE)\n"
    path = pathlib.Path(tempfile.mkdtemp()) / "keyword_call.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("keyword_call", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.FN, module.VALUE, module.KEYWORDS = sample.function, value, sample.kwargs
    return module.f


def test_there_are_many():
    assert len(CASES) > 300


@pytest.mark.parametrize(("sample", "keyword", "value"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_works_or_is_refused_by_name(sample, keyword, value):
    f = called(sample, keyword, value)
    try:
        plain = f(*copied(sample.args))
    except Exception:
        return  # not together with the other arguments
    try:
        found, pullback = ad.vjp(f, *copied(sample.args))
        seed = random_tangents(plain, np.random.default_rng(0))
        unthunk_all(tuple(tuple.__iter__(pullback(seed))))
    except ad.ThunkadError as error:
        assert keyword in str(error)
        return
    for (_, got), (_, want) in zip(leaves(found), leaves(plain), strict=True):
        if field_of(want):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
