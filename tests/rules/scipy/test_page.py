"""docs/scipy.md names every function of SciPy that has a rule."""

import importlib

import pytest
from scipy_page import MODULES, PAGE, names_with_rules

from thunkad.rules.load import load_library


@pytest.mark.parametrize("name", MODULES.split())
def test_the_page_is_complete(name):
    module = importlib.import_module(f"scipy.{name}")
    load_library()
    text = PAGE.read_text(encoding="utf-8")
    assert [f for f in names_with_rules(module) if f"`{f}`" not in text] == []
