"""Errors out of generated code name the user's line."""

import inspect
import sys
import traceback

import pytest

from thunkad.compiled.load import load
from thunkad.compiled.where import DerivativeOf, annotate, place
from thunkad.emit.module import emit
from thunkad.ir.nodes import Assign, Binary, Call, Const, Function, Name, Param, Ref, Return

HERE = __file__


def users(x):
    return 1 / x


LINE = inspect.getsourcelines(users)[1] + 1


def divide(line=LINE):
    return Function(
        "f", [Param("x")], [Assign("y", Binary("/", Const(1), Name("x")), line=line), Return(Name("y"))], filename=HERE
    )


def caught(f, *args):
    try:
        f(*args)
    except Exception as error:
        return error
    raise AssertionError("no error")


def notes(error):
    return getattr(error, "__notes__", [])


def test_the_note_names_the_users_line_once():
    f = load(emit([divide()]), ["f"], None, "grad of m.users")["f"]
    error = caught(f, 0)
    annotate(error)
    annotate(error)
    assert notes(error) == [f'in the grad of m.users, from File "{HERE}", line {LINE}: return 1 / x']
    assert place(error) == (HERE, LINE)
    assert notes(error)[0] in "".join(traceback.format_exception(error))
    assert type(error) is ZeroDivisionError


def test_nested_derivatives_add_one_note_each():
    inner = load(emit([divide()]), ["f"], None, "inner")["f"]

    def entry(x):
        try:
            return inner(x)
        except Exception as error:
            annotate(error)
            raise

    body = [Return(Call(Ref("entry", entry), (Name("x"),)), line=LINE - 1)]
    outer = load(emit([Function("g", [Param("x")], body, filename=HERE)]), ["g"], None, "outer")["g"]
    error = caught(outer, 0)
    annotate(error)  # the innermost generated frame is the same: nothing new
    assert len(notes(error)) == 1 and "inner" in notes(error)[0]


def test_lines_without_an_origin_show_the_generated_line():
    error = caught(load(emit([divide(line=0)]), ["f"], None, "grad of m.users")["f"], 0)
    annotate(error)
    assert notes(error) == ["in the grad of m.users, generated line 2: y = 1 / x"]
    assert place(error) is None


def test_errors_from_elsewhere_are_left_alone():
    error = caught(users, 0)
    annotate(error)
    assert notes(error) == [] and error.__cause__ is None and place(error) is None


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="notes are printed by the interpreter")
def test_before_notes_existed_the_cause_says_it():
    error = caught(load(emit([divide()]), ["f"], None, "grad of m.users")["f"], 0)
    annotate(error)
    assert isinstance(error.__cause__, DerivativeOf) and str(LINE) in str(error.__cause__)
