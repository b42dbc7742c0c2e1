"""The text after each stage for small programs, next to the file that says what it should be.

``make golden`` accepts what comes out now; read the difference before committing it.
"""

from __future__ import annotations

import difflib
from pathlib import Path

import numpy as np
import pytest
from golden_cases import Case, load, read

import thunkad as ad
from thunkad import pipeline
from thunkad.inspection import adjoint_source, show_stage
from thunkad.inspection.requests import MODES
from thunkad.testing.differences import numerical_vjp
from thunkad.testing.leaves import at

CASES = [read(path) for path in sorted(Path(__file__).parent.glob("*.case"))]
IDS = [case.path.stem for case in CASES]


def made(case: Case, stage: str) -> str:
    loaded = load(case)
    if stage in MODES:
        return adjoint_source(loaded.function, mode=stage, args=loaded.args, **loaded.options)
    return show_stage(loaded.function, stage, args=loaded.args, **loaded.options)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_golden(case: Case, update_golden: bool) -> None:
    assert case.stages, "a case expects something"
    got = {stage: made(case, stage) for stage in case.stages}
    if update_golden:
        case.sections.update(got)
        case.path.write_text(case.text(), "utf-8")
        return
    for stage, text in got.items():
        expected = case.sections[stage].strip("\n").splitlines()
        difference = "\n".join(difflib.unified_diff(expected, text.strip("\n").splitlines(), "expected", "got", lineterm=""))
        assert not difference, f"{stage} of {case.path.name}:\n{difference}"


RUNNABLE = [(case, id) for case, id in zip(CASES, IDS) if load(case).args is not None]


@pytest.mark.parametrize("case", [c for c, _ in RUNNABLE], ids=[i for _, i in RUNNABLE])
def test_the_gradient_of_the_case_is_right(case: Case) -> None:
    """A golden file shows what a reader may trust."""
    loaded = load(case)
    assert loaded.args is not None
    argnums = loaded.options.get("argnums", 0)
    places = (argnums,) if isinstance(argnums, int) else argnums
    found = dict(zip(places, ad.grad(loaded.function, argnums=places)(*loaded.args)))
    for path, wanted in numerical_vjp(loaded.function, loaded.args, 1.0).items():
        if path[0] in places:
            np.testing.assert_allclose(at(found, path), wanted, rtol=1e-6, atol=1e-7)


def test_every_stage_is_shown_by_some_case() -> None:
    shown = {stage for case in CASES for stage in case.stages}
    assert shown >= {s.name for s in pipeline.STAGES} - {"gast", "lowered", "exits", "clean"} | set(MODES)
    assert len(CASES) >= 30


def test_a_case_can_be_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "x.case"
    text = "About it.\n\n==== program\ndef f(x):\n    return x\n\n==== call\nf(1.0)\n\n==== normal\ndef f(x):\n    return x\n"
    path.write_text(text, "utf-8")
    assert read(path).text() == text
