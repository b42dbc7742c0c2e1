"""The source of the library's own rules is cut out of its file without parsing all of it."""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path

import pytest

from thunkad.rules.load import load_library
from thunkad.rules.table import TABLE
from thunkad.source.functions import find_own_source
from thunkad.source.locate import functions
from thunkad.source.modules import parsed, parsed_around, texts_of
from thunkad.tree.parse import gast, to_gast


def own_functions():
    load_library()
    found = {}
    for entries in TABLE.snapshot.cells.values():
        for entry in entries:
            for fn in entry.partials or (entry.function,):
                in_a_file = inspect.isfunction(fn) and Path(fn.__code__.co_filename).is_file()  # not written at run time
                if entry.layer == "library" and in_a_file:
                    found[fn.__code__] = fn
    return list(found.values())


def test_every_rule_is_found_in_its_statement_alone_as_in_the_whole_file():
    rules = own_functions()
    assert len(rules) > 500
    cut = 0
    for fn in rules:
        ((filename, text), *_) = texts_of(fn)
        name, line = fn.__code__.co_name, fn.__code__.co_firstlineno
        whole = [c.node for c in functions(parsed(filename, text).tree, name, line)]
        part = [c.node for c in functions(parsed_around(filename, text, line).tree, name, line)]
        assert list(map(dump, part)) == list(map(dump, whole)), f"{filename}:{line}"
        cut += len(parsed_around(filename, text, line).tree.body) == 1
    assert cut == len(rules)


def dump(node):
    return gast.dump(to_gast(node), include_attributes=True)


def test_lambdas_of_one_line_are_told_apart_by_their_place():
    lines = Counter((fn.__code__.co_filename, fn.__code__.co_firstlineno) for fn in own_functions() if is_lambda(fn))
    shared = {place for place, count in lines.items() if count > 1}
    assert shared
    for fn in own_functions():
        if is_lambda(fn) and (fn.__code__.co_filename, fn.__code__.co_firstlineno) in shared:
            assert find_own_source(fn, 0).node.args.args[0].id == fn.__code__.co_varnames[0]


def is_lambda(fn):
    return fn.__code__.co_name == "<lambda>"


@pytest.mark.parametrize(
    ("text", "line", "statements"),
    [
        ("a = 1\n\n@d\n@e(\n    1,\n)\ndef f(x):\n    # one\n\n# two\n    return x\n\n\nb = 2\n", 3, 1),
        ("if a:\n    f = lambda x: x\nelse:\n    f = lambda x: -x\n", 4, 1),
        ("f = g(\n    lambda x: x,\n    lambda x: (\n        x\n    ),\n)\nh = 1\n", 3, 1),
    ],
)
def test_the_statement_around_a_line(text, line, statements):
    module = parsed_around("file.py", text, line)
    assert len(module.tree.body) == statements
    (statement,) = module.tree.body
    assert statement.lineno <= line + 6 and statement.end_lineno >= line
