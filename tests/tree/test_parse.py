"""Parsing, conversion of one node, and the recursion limit."""

from __future__ import annotations

import ast
import sys
import threading

import pytest

from thunkad.tree.parse import DEEP_LIMIT, deep_recursion, gast, parse_module, to_gast


def test_one_node_is_converted_and_the_tree_is_left_alone():
    tree = parse_module("\n@deco(1)\ndef f(x, *, y=2):\n    return x\n", "m.py")
    before = ast.dump(tree, include_attributes=True)
    node = to_gast(tree.body[0])
    assert isinstance(node, gast.FunctionDef) and not node.decorator_list
    assert (node.lineno, node.end_lineno, node.body[0].lineno) == (3, 4, 4)
    node.body.clear()
    node.args.args.clear()
    assert ast.dump(tree, include_attributes=True) == before


def test_the_limit_is_raised_inside_and_restored():
    limit = sys.getrecursionlimit()
    with deep_recursion():
        assert sys.getrecursionlimit() == DEEP_LIMIT
        with deep_recursion():
            pass
        assert sys.getrecursionlimit() == DEEP_LIMIT
    assert sys.getrecursionlimit() == limit
    with pytest.raises(ZeroDivisionError), deep_recursion():
        1 / 0
    assert sys.getrecursionlimit() == limit


def test_the_limit_is_shared_by_threads():
    limit = sys.getrecursionlimit()
    inside, leave = threading.Event(), threading.Event()

    def other():
        with deep_recursion():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with deep_recursion():
        thread.start()
        assert inside.wait(10)
    assert sys.getrecursionlimit() == DEEP_LIMIT
    leave.set()
    thread.join()
    assert sys.getrecursionlimit() == limit


def test_a_limit_set_meanwhile_stays():
    limit = sys.getrecursionlimit()
    try:
        with deep_recursion():
            sys.setrecursionlimit(DEEP_LIMIT + 5)
        assert sys.getrecursionlimit() == DEEP_LIMIT + 5
        with deep_recursion():  # never lowered
            assert sys.getrecursionlimit() == DEEP_LIMIT + 5
        assert sys.getrecursionlimit() == DEEP_LIMIT + 5
    finally:
        sys.setrecursionlimit(limit)


def test_near_the_limit_nothing_is_lost():
    limit = sys.getrecursionlimit()

    def down():
        try:
            down()
        except RecursionError:
            pass
        try:
            with deep_recursion():
                pass
        except RecursionError:
            pass

    down()
    with deep_recursion():
        pass
    assert sys.getrecursionlimit() == limit
