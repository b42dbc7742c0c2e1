from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from thunkad.runtime.unpacking import split_starred


def unpack_1_1(v: Any) -> tuple[Any, ...]:
    a, *b, c = v
    return a, b, c


def unpack_2_0(v: Any) -> tuple[Any, ...]:
    a, b, *c = v
    return a, b, c


def unpack_0_0(v: Any) -> tuple[Any, ...]:
    (*a,) = v
    return (a,)


@pytest.mark.parametrize("value", ["abcd", (1, 2), [1], {}, {1: 2, 3: 4, 5: 6}, range(3), 5, None])
@pytest.mark.parametrize(("python", "before", "after"), [(unpack_1_1, 1, 1), (unpack_2_0, 2, 0), (unpack_0_0, 0, 0)])
def test_split_starred_does_what_python_does(python: Callable[[Any], Any], before: int, after: int, value: Any) -> None:
    try:
        expected = python(value)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)) as caught:
            split_starred(value, before, after)
        if "after *" not in str(error) and "cannot unpack" not in str(error) and "not iterable" not in str(error):
            assert str(caught.value) == str(error)
    else:
        assert split_starred(value, before, after) == expected


def test_an_iterator_that_fails_keeps_its_error() -> None:
    class Broken:
        def __iter__(self) -> Any:
            raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        split_starred(Broken(), 1, 0)
