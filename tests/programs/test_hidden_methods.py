"""Methods that run where the text calls nothing, and change the object: followed, or refused in every mode.

Each function is differentiated by every mode; what comes out is the derivative or an error that names the method.
"""

from __future__ import annotations

import pytest

import thunkad as ad

CLASSES = """
class Box:
    def __init__(self, x):
        self.x = x

class Test(Box):
    def __bool__(self):
        self.x = self.x * 2.0
        return True

class Sized(Box):
    def __len__(self):
        self.x = self.x * self.x
        return 2

class Equal(Box):
    def __eq__(self, other):
        self.x = self.x * 3.0
        return True
    __hash__ = object.__hash__

class Less(Box):
    def __lt__(self, other):
        self.x = self.x * 5.0
        return True

class Text(Box):
    def __str__(self):
        self.x = self.x * 7.0
        return "text"

class Place(Box):
    def __index__(self):
        self.x = self.x * 11.0
        return 0

class Inside(Box):
    def __contains__(self, k):
        self.x = self.x * 13.0
        return True

class Many(Box):
    def __iter__(self):
        self.x = self.x * 17.0
        yield 1.0
"""

#: Class, statement; the statements are those of functions that make the object ``c`` and return ``c.x``.
STATEMENTS = {
    "if": ("Test", "if c: pass"),
    "while": ("Test", "while c: break"),
    "not": ("Test", "d = not c"),
    "and": ("Test", "d = c and 1.0"),
    "conditional expression": ("Test", "d = 1.0 if c else 2.0"),
    "assert": ("Test", "assert c"),
    "comprehension": ("Test", "d = [k for k in (1, 2) if c]"),
    "any": ("Test", "any([c])"),
    "filter": ("Test", "list(filter(None, [c]))"),
    "bool": ("Test", "d = bool(c)"),
    "test by length": ("Sized", "if c: pass"),
    "len": ("Sized", "d = len(c)"),
    "equal": ("Equal", "d = c == 3"),
    "unequal": ("Equal", "d = c != 3"),
    "in a list": ("Equal", "d = c in [1, 2]"),
    "match": ("Equal", "match c:\n        case 3: pass"),
    "less": ("Less", "d = c < 3"),
    "sorted": ("Less", "d = sorted([Less(1.0), c])"),
    "text": ("Text", "d = str(c)"),
    "formatted": ("Text", "d = f'{c}'"),
    "printed": ("Text", "print(c)"),
    "index": ("Place", "d = [1, 2][c]"),
    "contains": ("Inside", "d = 3 in c"),
    "loop": ("Many", "for k in c: pass"),
    "unpacked": ("Many", "k, = c"),
}
MODES = {
    "grad": lambda f: ad.grad(f)(1.3),
    "vjp": lambda f: ad.vjp(f, 1.3)[1](1.0)[0],
    "jvp": lambda f: ad.jvp(f, (1.3,), (1.0,))[1],
    "linearize": lambda f: ad.linearize(f, 1.3)[1](1.0),
}


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    path = tmp_path_factory.mktemp("hidden") / "hidden_methods.py"
    text = CLASSES
    for k, (cls, statement) in enumerate(STATEMENTS.values()):
        text += f"\ndef f{k}(x):\n    c = {cls}(x)\n    {statement}\n    return c.x\n"
    path.write_text(text)
    namespace: dict[str, object] = {"__name__": "hidden_methods"}
    exec(compile(text, str(path), "exec"), namespace)
    return {name: namespace[f"f{k}"] for k, name in enumerate(STATEMENTS)}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", STATEMENTS)
def test_the_derivative_or_an_error(name: str, mode: str, functions, capsys: pytest.CaptureFixture[str]) -> None:
    f = functions[name]
    want = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    try:
        found = MODES[mode](f)
    except ad.UnsupportedSyntaxError as error:
        assert "called unseen" in str(error) or "__iter__" in str(error)
        assert "call it by its name" in str(error) or "list" in str(error)
    else:
        assert found == pytest.approx(want, rel=1e-6)


def test_methods_that_change_nothing_are_run() -> None:
    class Kept:
        def __init__(self, x):
            self.x = x

        def __bool__(self):
            return self.x > 0.0

    def f(kept, x):
        kept.x = x * x
        return kept.x if kept else 0.0

    assert ad.grad(lambda x: f(Kept(1.0), x))(3.0) == 6.0
    assert ad.jvp(lambda x: f(Kept(1.0), x), (3.0,), (1.0,)) == (9.0, 6.0)
