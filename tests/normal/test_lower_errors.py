"""What can't be lowered is refused with the user's line and a rewrite."""

from __future__ import annotations

import pytest
from thunkad.errors import UnsupportedSyntaxError

from lowering import lowered

REFUSED = {
    "class": ("def f(x):\n    class A: pass", 2),
    "global_delete": ("def f(x):\n    global g\n    del g", 3),
    "global_shared": ("def f(x):\n    global g\n    g = x\n    return [lambda: g]", 1),
    "nonlocal_outside": ("def f(x):\n    nonlocal g\n    g = x", 3),
    "async": ("async def f(x):\n    return x", 1),
    "async_nested": ("def f(x):\n    async def g(): return x\n    return g", 2),
    "super": ("def f(self):\n    return [super().f() for x in self]", 2),
    "locals": ("def f(x):\n    return locals()", 2),
    "eval": ("def f(x):\n    return eval('x')", 2),
    "async_comprehension": ("def f(x):\n    g = 1\n    return [y async for y in x]", 3),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unsupported_syntax_is_refused_where_it_stands(name: str) -> None:
    text, line = REFUSED[name]
    with pytest.raises(UnsupportedSyntaxError) as caught:
        lowered(text)
    place = caught.value.place
    assert place is not None and (place.filename, place.line) == ("program.py", line)
    assert place.text == text.splitlines()[line - 1]
    assert caught.value.hint.endswith(".") or caught.value.hint.endswith("].")
    assert text.splitlines()[line - 1].strip() in str(caught.value)


def test_the_name_of_an_outside_variable_is_in_the_message() -> None:
    with pytest.raises(UnsupportedSyntaxError, match="assigns 'g', a variable from outside"):
        lowered(REFUSED["nonlocal_outside"][0])
