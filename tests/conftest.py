"""Options and marks that hold for the whole suite."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ["THUNKAD_CHECK"] = "1"  # the normal form is checked wherever a stage hands it on

# What differs between versions of Python: where source is found, its grammar, and how it is printed.
SMOKE_FOLDERS = {"smoke", "source", "tree", "emit"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files as they come out now instead of comparing"
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether a golden test accepts what it gets as the new expectation."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="module", autouse=True)
def garbage_of_one_module() -> Iterator[None]:
    """What a module of tests has left is collected at its end; what stays is not gone through by later collections.

    Compiled code lives as long as what it was made of, so a collection in between goes through much and finds little.
    """
    gc.set_threshold(20_000, 20, 20)
    yield
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        folders = item.path.relative_to(here).parts[:-1] if item.path.is_relative_to(here) else ()
        if SMOKE_FOLDERS.intersection(folders):
            item.add_marker(pytest.mark.smoke)
        if "update_golden" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.golden)
