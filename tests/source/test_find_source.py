"""find_source: the right node, in the right file, or a clear error."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import subprocess
import sys
import textwrap
import threading
import types
from types import ModuleType

import pytest

import thunkad.source.modules as modules
from thunkad.errors import SourceUnavailableError
from thunkad.source.functions import find_source
from thunkad.tree.parse import gast


def code_text(fn) -> str:
    return gast.unparse(find_source(fn).node).strip()


def load(path, text: str, **names) -> ModuleType:
    """Import ``text`` from a file of its own, as the import system would."""
    path.write_text(text)
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    module.__dict__.update(names)
    exec(compile(text, str(path), "exec", dont_inherit=True), module.__dict__)
    return module


@pytest.fixture
def module(tmp_path):
    return lambda text, **names: load(tmp_path / "m.py", textwrap.dedent(text), **names)


# ---------------------------------------------------------------- def


def wrapped(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        return fn(*args)

    return wrapper


def kept(fn):
    return fn


@kept
@kept
def decorated(x):
    return x + 1


def test_decorators_are_left_out_and_lines_are_those_of_the_file():
    source = find_source(decorated)
    assert isinstance(source.node, gast.FunctionDef)
    assert code_text(decorated) == "def decorated(x):\n    return x + 1"
    assert source.name == "decorated" and source.filename == __file__
    assert source.line_text(source.first_line) == "def decorated(x):"
    assert source.line_text(source.node.body[0].lineno) == "    return x + 1"
    assert source.node.end_lineno == source.first_line + 1
    place = source.place(source.first_line + 1)
    assert (place.filename, place.line, place.text) == (__file__, source.first_line + 1, "    return x + 1")
    assert source.line_text(0) == source.line_text(10**6) == ""


def test_a_wrapper_is_itself():
    assert code_text(wrapped(decorated)).startswith("def wrapper(*args):")
    assert find_source(wrapped(decorated)).name == "wrapper"


def test_indentation_that_dedent_cannot_undo():
    def inner(x):
        text = """
flush left
  """
# a comment at the margin
        return x, text

    assert code_text(inner) == "def inner(x):\n    text = '\\nflush left\\n  '\n    return (x, text)"


def test_async_and_generator_functions():
    async def later(x):
        return x

    def several(x):
        yield x

    assert isinstance(find_source(later).node, gast.AsyncFunctionDef)
    assert code_text(several) == "def several(x):\n    yield x"


def test_defined_twice(module):
    m = module("""
        def f(x):
            return x
        first = f
        if True:
            def f(x):
                return 2 * x
        try:
            1 / 0
        except ZeroDivisionError:
            def f3(x):
                return 3 * x
        """)
    assert code_text(m.first) == "def f(x):\n    return x"
    assert code_text(m.f) == "def f(x):\n    return 2 * x"
    assert code_text(m.f3) == "def f3(x):\n    return 3 * x"


def test_compiler_context_of_the_module_is_kept(module):
    m = module("""
        from __future__ import annotations
        class Outer:
            class __Layer(list):
                x: int = 3
                def __len__(self, y: Outer = None):
                    def inner(z: Outer): return super().__len__() + y
                    return inner
        def clean(a, b=1, /, c=2, *args, d, e=3, **rest) -> Outer:
            nonlocal_ = 0
            def up():
                nonlocal nonlocal_
                nonlocal_ += 1
                return rest
            return up
        """)
    layer = m.Outer._Outer__Layer
    assert code_text(layer.__len__).startswith("def __len__(self, y: Outer=None):")
    assert code_text(layer.__len__(layer(), 1)).startswith("def inner(z: Outer):")
    assert code_text(m.clean).startswith("def clean(a, b=1, /, c=2, *args, d, e=3, **rest) -> Outer:")
    assert code_text(m.clean(1, d=1)).startswith("def up():")


def test_imports_change_how_calls_are_compiled(module):
    m = module("""
        import math, os.path
        try:
            import numpy as np
        except ImportError:
            np = None
        def f(x):
            import sys
            return np.sin(x) + math.sin(x) + os.path.join(x) + sys.exit(x) + x.y(np)
        class C:
            import cmath
            f = [lambda x: np.sin(x), lambda x: np.cos(x), lambda x: cmath.cos(x)]
        """)
    assert code_text(m.f).startswith("def f(x):")
    assert [code_text(f) for f in m.C.f] == [f"lambda x: {g}(x)" for g in ("np.sin", "np.cos", "cmath.cos")]


def test_other_statements_that_change_how_a_function_is_compiled(module):
    m = module("""
        base = super
        class C:
            def f(self): return super().f()
            g = [lambda self: super().f, lambda self: super().g]
        """)
    assert code_text(m.C.f) == "def f(self):\n    return super().f()"
    assert code_text(m.C.g[1]) == "lambda self: super().g"


def test_flags_set_afterwards():
    @types.coroutine
    def old_style(x):
        yield x

    assert code_text(old_style).startswith("def old_style(x):")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters")
def test_type_parameters(module):
    m = module("""
        class C[T]:
            def f[U: T](self, x: U) -> T:
                return x, U, T, __class__
        def g[T](x: T) -> T:
            return lambda: (x, T)
        """)
    assert code_text(m.C.f).startswith("def f[U: T](self, x: U)")
    assert code_text(m.g).startswith("def g[T](x: T)")
    assert code_text(m.g(1)) == "lambda: (x, T)"


def test_private_names_are_written_out():
    class _Model:
        __scale = 2.0

        def energy(self, x):
            return self.__scale * x + self.__init__.__k

        cost = lambda self, __x: self.__scale * __x  # noqa: E731

    assert "self._Model__scale * x + self.__init__._Model__k" in code_text(_Model.energy)
    assert code_text(_Model.cost) == "lambda self, _Model__x: self._Model__scale * _Model__x"


def test_a_function_inside_a_method_sees_the_private_names_too():
    class Model:
        def make(self):
            return [lambda: self.__w, decorated]

    assert code_text(Model().make()[0]) == "lambda: self._Model__w"


def test_assertions_rewritten_by_pytest():
    def checked(x):
        assert x > 0, "positive"
        inner = lambda y: y + 1  # noqa: E731
        return inner(x) * 2

    assert "@pytest_ar" in checked.__code__.co_names
    assert "assert x > 0, 'positive'" in code_text(checked)


@pytest.mark.parametrize("change", ["x + 2", "x * 3", "x * y", "abs(x) * 2", "x * 2.0"])
def test_rewritten_assertions_do_not_hide_a_change(module, change):
    text = "def f(x, y):\n    assert x > 0\n    return x * 2\n"
    m = module(text, **{"@pytest_ar": globals()["@pytest_ar"]})
    assert code_text(m.f)
    open(m.__file__, "w").write(text.replace("x * 2", change).replace("> 0", "> 1"))
    linecache.clearcache()
    with pytest.raises(SourceUnavailableError):
        find_source(m.f)


# ---------------------------------------------------------------- lambda


def test_several_lambdas_on_a_line():
    two, three, real, other = lambda x: x * 2, lambda x: x * 3, lambda x: x * 2.0, lambda y: y * 2
    assert [code_text(f) for f in (two, three, real, other)] == [
        "lambda x: x * 2", "lambda x: x * 3", "lambda x: x * 2.0", "lambda y: y * 2",
    ]  # fmt: skip


def test_constants_that_are_equal_but_not_the_same():
    fs = [lambda: 0.0, lambda: -0.0, lambda: 0, lambda: False, lambda: 0j, lambda: (0, 1), lambda: (0.0, 1), lambda: 1]
    texts = ["0.0", "-0.0", "0", "False", "0j", "(0, 1)", "(0.0, 1)", "1"]
    assert [code_text(f) for f in fs] == ["lambda: " + text for text in texts]


def test_lambdas_that_differ_only_inside():
    fs = [lambda x: [lambda: x + 1], lambda x: [lambda: x + 2], lambda x: x in {1, 2}, lambda x: x in {1, 2.0}]
    assert [code_text(f) for f in fs] == [
        "lambda x: [lambda: x + 1]", "lambda x: [lambda: x + 2]", "lambda x: x in {1, 2}", "lambda x: x in {1, 2.0}",
    ]  # fmt: skip
    assert [code_text(f(0)[0]) for f in fs[:2]] == ["lambda: x + 1", "lambda: x + 2"]


def test_identical_lambdas():
    a, b = lambda x: x + 1, lambda x: x + 1
    assert code_text(a) == code_text(b) == "lambda x: x + 1"


def test_lambdas_with_different_defaults_or_captures():
    def make(n):
        return lambda x, k=n: x + k + n, lambda x, *, k=n: x + k + n

    positional, keyword = make(1)
    assert code_text(positional) == "lambda x, k=n: x + k + n"
    assert code_text(keyword) == "lambda x, *, k=n: x + k + n"


def test_lambdas_inside_lambdas_and_their_defaults():
    # fmt: off
    outer = lambda x, k=lambda x: x: (lambda x: (x, lambda x: x + 1)); other = lambda x, k=(  # noqa: E702,E731
        lambda x: -x), j=lambda x: 3: x if x else (
            2)
    # fmt: on
    middle = outer(0)
    assert code_text(outer) == "lambda x, k=lambda x: x: lambda x: (x, lambda x: x + 1)"
    assert code_text(middle) == "lambda x: (x, lambda x: x + 1)"
    assert code_text(middle(0)[1]) == "lambda x: x + 1"
    assert code_text(outer.__defaults__[0]) == "lambda x: x"
    assert code_text(other) == "lambda x, k=lambda x: -x, j=lambda x: 3: x if x else 2"
    assert [code_text(f) for f in other.__defaults__] == ["lambda x: -x", "lambda x: 3"]


def test_lambdas_over_several_lines():
    # fmt: off
    fs = list(map(kept, [lambda x,
            y: x +
        y, lambda: (
            lambda z: z)
    ]))
    # fmt: on
    assert [code_text(f) for f in (*fs, fs[1]())] == ["lambda x, y: x + y", "lambda: lambda z: z", "lambda z: z"]


def test_lambdas_in_odd_places(module):
    m = module("""
        kept = []
        def keep(f):
            kept.append(f)
            return lambda g: g
        @keep(lambda: 1)
        def f(x=keep(lambda: 2)): pass
        @keep(lambda: 3)
        class C(keep(lambda: 4)(object)):
            a = keep(lambda self: 5)
        try:
            raise ValueError
        except (ValueError, keep(lambda: 6)(TypeError)):
            pass
        match 1:
            case y if keep(lambda: 7): pass
        with open(__file__) as g, open(keep(lambda: 8)(__file__)): pass
        for i in keep(lambda: 9)([0]): kept.append([keep(lambda: 10) for _ in [1]])
        text = f"{keep(lambda: 11)}"
        """)
    kept = [f for f in m.kept if callable(f) and f.__code__.co_argcount <= 1]
    numbers = [ast.parse(code_text(f)).body[0].value.body.value for f in kept]
    assert sorted(numbers) == list(range(1, 12))
    assert all(f(*[None] * f.__code__.co_argcount) == number for f, number in zip(kept, numbers))


# ---------------------------------------------------------------- where the text comes from


def cell(text: str, name: str, namespace: dict) -> None:
    """Run a notebook cell: IPython puts its text into linecache without a modification time."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), namespace)


def test_notebook_cell_and_its_redefinition():
    namespace: dict = {}
    name = "/tmp/ipykernel_0/1234.py"
    try:
        cell("def f(x):\n    return x * 2\n", name, namespace)
        first = namespace["f"]
        assert code_text(first) == "def f(x):\n    return x * 2"
        cell("def f(x):\n    return x * 3\n", name, namespace)
        assert code_text(namespace["f"]) == "def f(x):\n    return x * 3"
        with pytest.raises(SourceUnavailableError, match="does not compile to its code"):
            find_source(first)
        assert name in linecache.cache
    finally:
        linecache.cache.pop(name, None)


def test_the_file_was_changed_before_it_was_first_read(module):
    m = module("def f(x):\n    return x\n")
    open(m.__file__, "w").write("def f(x):\n    return -x\n")
    with pytest.raises(SourceUnavailableError, match="'f'.*line 1 of .*m.py.* changed since") as caught:
        find_source(m.f)
    assert caught.value.place.line == 1 and caught.value.hint


def test_lines_were_added_above(module):
    text = "def f(x):\n    return x\ng = lambda x: x, lambda x: -x\n"
    m = module(text)
    open(m.__file__, "w").write("import os\n\ndef f(x, y):\n    return y\n" + text)
    assert find_source(m.f).first_line == 5
    assert [code_text(g) for g in m.g] == ["lambda x: x", "lambda x: -x"]
    assert find_source(m.g[1]).first_line == 7


def test_old_text_in_linecache_after_a_reload(module):
    m = module("def f(x):\n    return x\n")
    find_source(m.f)
    m = module("def g():\n    pass\ndef f(x):\n    return -x  # longer\n")
    assert code_text(m.f) == "def f(x):\n    return -x"


def test_the_file_no_longer_parses(module):
    m = module("def f(x):\n    return x\n")
    open(m.__file__, "w").write("def f(x:\n    return x\n")
    with pytest.raises(SourceUnavailableError, match="can't be parsed"):
        find_source(m.f)


def test_the_file_is_gone(module):
    m = module("def f(x):\n    return x\n")
    os.remove(m.__file__)
    with pytest.raises(SourceUnavailableError, match="does not exist"):
        find_source(m.f)


def test_relative_file_name_and_another_directory(tmp_path, monkeypatch):
    path = tmp_path / "rel.py"
    path.write_text("def f(x):\n    return x\n")
    namespace = {"__file__": str(path), "__name__": "rel"}
    exec(compile(path.read_text(), "rel.py", "exec"), namespace)
    monkeypatch.chdir(tmp_path.parent)
    source = find_source(namespace["f"])
    assert source.filename == str(path) and source.line_text(1) == "def f(x):"


def test_form_feeds_do_not_count_as_lines(module):
    m = module("a = '\\x0c'\n\x0c\nb = '''\x0c'''\ndef f(x):\n    return x\n")
    source = find_source(m.f)
    assert source.line_text(source.first_line) == "def f(x):"


def test_warnings_of_the_text_are_not_repeated(module, recwarn):
    with pytest.warns(Warning):
        m = module("def f(x):\n    '\\d'\n    return x is 3\n")
    recwarn.clear()
    assert find_source(m.f).name == "f"
    assert not recwarn.list


def test_deep_expressions(module):
    m = module("def f(x):\n    return " + " + ".join(["x"] * 1000) + "\n")
    limit = sys.getrecursionlimit()
    node = find_source(m.f).node.body[0].value
    depth = 0
    while isinstance(node, gast.BinOp):
        node, depth = node.left, depth + 1
    assert depth == 999 and sys.getrecursionlimit() == limit


@pytest.mark.parametrize("how", ["argument", "stdin"])
def test_programs_without_a_file(how):
    program = textwrap.dedent("""
        from thunkad.source.functions import find_source
        from thunkad.errors import SourceUnavailableError
        def f(x): return x
        try:
            print(find_source(f).line_text(4))
        except SourceUnavailableError as error:
            print(error)
        """)
    command = [sys.executable, *(["-c", program] if how == "argument" else ["-"])]
    text = subprocess.run(command, input=program, capture_output=True, text=True, check=True).stdout
    if how == "argument" and sys.version_info >= (3, 13):  # this Python keeps the text
        assert text == "def f(x): return x\n"
    else:
        assert "'f' can't be had" in text and "prompt" in text and "thunkad.rrule" in text


# ---------------------------------------------------------------- no source


def test_exec_without_text():
    namespace: dict = {}
    exec("def f(x): return x", namespace)
    with pytest.raises(SourceUnavailableError, match="exec") as caught:
        find_source(namespace["f"])
    assert "thunkad.rrule" in str(caught.value)


@pytest.mark.parametrize("value", [len, functools.partial(len), int, 3, "abc".upper, [].append])
def test_not_a_python_function(value):
    with pytest.raises(SourceUnavailableError, match="no Python function"):
        find_source(value)


# ---------------------------------------------------------------- cache


def test_nodes_belong_to_the_caller():
    first = find_source(decorated).node
    first.body.clear()
    assert find_source(decorated).node.body


def test_a_module_is_parsed_once_and_few_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(modules, "KEPT", 2)
    calls = []
    real = modules.parse_module
    monkeypatch.setattr(modules, "parse_module", lambda text, name: calls.append(name) or real(text, name))
    loaded = [load(tmp_path / f"k{i}.py", "def f(x): return x\ng = lambda: 1\n") for i in range(3)]
    for m in loaded:
        find_source(m.f)
        find_source(m.g)
    assert len(calls) == 3 and len(modules._parsed) <= 2
    find_source(loaded[0].f)
    assert len(calls) == 4


def test_threads(module):
    m = module("fs = [" + ", ".join(f"lambda x: x + {i}" for i in range(20)) + "]\n")
    wrong = []

    def look():
        for i, f in enumerate(m.fs):
            source = find_source(f)
            if source.first_line != 1 or source.node.body.right.value != i:
                wrong.append(i)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
