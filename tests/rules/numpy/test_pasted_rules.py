"""The rules of these modules are straight lines, so that the compiler pastes them; and keep the user's own call."""

import importlib

import numpy as np
import pytest

from thunkad.rules.entry import name_of
from thunkad.rules.table import TABLE
from thunkad.rules.template import template_of

MODULES = [
    "construction",
    "indexing",
    "joining",
    "methods",
    "reductions",
    "repeating",
    "scans",
    "shaping",
    "sorting",
    "splitting",
]


def entries(kind):
    modules = {importlib.import_module(f"thunkad.rules.numpy.{m}").__name__ for m in MODULES}
    return [
        entry
        for cell in TABLE.snapshot.cells.values()
        for entry in cell
        if entry.kind == kind and entry.layer == "library" and entry.function.__module__ in modules
    ]


@pytest.mark.parametrize("entry", entries("rrule"), ids=lambda e: name_of(e.target))
def test_templates(entry):
    template = template_of(entry)
    assert template is not None
    of_ufunc = isinstance(getattr(entry.target, "__self__", None), np.ufunc)  # another object at each look-up
    assert template.plain or entry.target is np.pad or of_ufunc


def test_every_reverse_rule_has_a_forward_rule():
    forward = {e.target: e for e in entries("frule")}
    assert {e.target for e in entries("rrule")} == set(forward)
    for entry in entries("rrule"):
        names = set(entry.signature().parameters)
        theirs = set(forward[entry.target].signature().parameters)
        dots = theirs - names
        assert names <= theirs and dots and all(d.endswith("_dot") and d[:-4] in names for d in dots)
