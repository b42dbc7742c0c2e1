"""Private names are spelled as Python's compiler spells them."""

from __future__ import annotations

import ast

from thunkad.tree.parse import gast, to_gast
from thunkad.tree.private import mangle, write_out_private_names

TEXT = """
class {cls}:
    def __m(self, __a, f, *args, __k=1, **__kw):
        global __g
        __g = 1
        import math as __p
        from math import sin as __s
        def __inner(__z):
            return __z + __w__ + self.__x.__y__
        try:
            pass
        except ValueError as __e:
            pass
        f(__kw=1)
        match f:
            case [*__r]:
                pass
            case {{'a': 1, **__rest}}:
                pass
            case __cap:
                pass
        return [__i for __i in __a], (__walrus := 1), __inner
"""


def names(code) -> set[str]:
    found = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    return found.union(*(names(c) for c in code.co_consts if hasattr(c, "co_names")))


def test_mangle():
    assert mangle("__x", "_Layer") == "_Layer__x"
    assert [mangle(name, "C") for name in ("__x__", "_x", "x", "__", "___x")] == ["__x__", "_x", "x", "__", "_C___x"]
    assert mangle("__x", "__") == "__x"


def test_same_names_as_the_compiler_makes():
    for cls in ("C", "_C", "__"):
        text = TEXT.format(cls=cls)
        compiled = compile(text, "m.py", "exec").co_consts[0].co_consts
        method = next(c for c in compiled if hasattr(c, "co_names"))
        node = to_gast(ast.parse(text).body[0].body[0])
        write_out_private_names(node, cls)
        alone = compile(ast.unparse(gast.gast_to_ast(node)), "m.py", "exec").co_consts
        function = next(c for c in alone if hasattr(c, "co_names"))
        assert function.co_name == "__m"
        assert names(function) == names(method)


def test_a_class_inside_has_private_names_of_its_own():
    text = "class C:\n def m(self):\n  class D(self.__b):\n   def q(self): return self.__y\n  return D\n"
    node = to_gast(ast.parse(text).body[0].body[0])
    write_out_private_names(node, "C")
    inner = node.body[0]
    assert inner.bases[0].attr == "_C__b"
    assert inner.body[0].body[0].value.attr == "_D__y"
