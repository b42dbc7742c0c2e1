"""Every stage can be printed, on demand and as compilation reaches it."""

import numpy as np
import pytest
import source_programs as programs

import thunkad as ad
from thunkad import pipeline
from thunkad.inspection import show_stage


@pytest.mark.parametrize("stage", [s.name for s in pipeline.STAGES])
@pytest.mark.parametrize("f, args", programs.PROGRAMS, ids=lambda x: getattr(x, "__name__", None))
def test_every_stage_of_every_program_prints(f, args, stage):
    text = show_stage(f, stage, args=args)
    assert text.endswith("\n") and f.__name__ in text


def test_the_source_stage_is_the_users_text():
    text = show_stage(programs.branch, "source")
    assert text == "def branch(x):\n    if x > 1.0:\n        return x * x\n    return -x\n"


def test_kinds_and_activity_are_remarks():
    resolved = show_stage(programs.branch, "resolved", args=(2.0,))
    assert "# x: float" in resolved and "rule of np.multiply -> float" in resolved
    assert "# active: result" in show_stage(programs.branch, "activity", args=(2.0,))


def test_an_unknown_stage_is_refused():
    with pytest.raises(ad.ArgumentError, match="nowhere"):
        show_stage(programs.branch, "nowhere")


def test_dumped_stages_go_to_stderr_in_order(monkeypatch, capsys):
    monkeypatch.setenv("THUNKAD_DUMP", "clean, normal")

    def f(x):
        return np.sum(x * x)

    ad.grad(f)(np.ones(2))
    marks = [line for line in capsys.readouterr().err.splitlines() if line.startswith("# ----")]
    assert marks == ["# ---- normal: f", "# ---- clean: f_grad"]


def test_a_misspelled_stage_is_told(monkeypatch):
    monkeypatch.setenv("THUNKAD_DUMP", "norml")

    def f(x):
        return x * x

    with pytest.raises(ValueError, match="norml"):
        ad.grad(f)(1.0)


def test_the_normal_form_is_checked_where_it_is_handed_on(monkeypatch):
    from thunkad.ir import nodes as n
    from thunkad.ir.check import NotNormalForm

    broken = n.Function("f", [], [n.Assign("x", n.Const(1)), n.Assign("x", n.Const(2)), n.Return(n.Name("x"))])
    with pytest.raises(NotNormalForm):
        pipeline.reached("normal", broken)
    monkeypatch.setenv("THUNKAD_CHECK", "0")
    pipeline.reached("normal", broken)
