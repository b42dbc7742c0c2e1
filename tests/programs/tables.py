"""Tables of small programs written as text.

=== name | x = 0.7, y = A
t = x * y            the body of f(x, y); or a whole module that defines f, helpers before it
return np.sum(t)
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

import numpy as np
import pytest

from checking import Program, check_program

VALUES: dict[str, Any] = {
    "np": np,
    "A": np.array([0.9, -0.4, 1.3]),
    "B": np.array([0.2, 0.8, -1.1]),
    "M": np.array([[0.5, -1.2, 0.3], [1.1, 0.4, -0.7]]),
    "N": np.array([[0.6, 0.1], [-0.3, 1.4], [0.8, -0.9]]),
    "S": np.array([[2.1, 0.3, -0.2], [0.3, 1.7, 0.4], [-0.2, 0.4, 2.6]]),
    "Z": np.array([0.3 + 0.7j, -1.1 + 0.2j, 0.4 - 0.9j]),
    "F": np.array([0.9, -0.4, 1.3], np.float32),
    "G": np.array([0.2, 0.8, -1.1], np.float32),
}


def programs(text: str) -> list[Any]:
    """The programs of a table as parameters of a test."""
    out = []
    for part in re.split(r"(?m)^=== ", textwrap.dedent(text))[1:]:
        head, body = part.split("\n", 1)
        name, _, given = head.partition("|")
        values: dict[str, Any] = eval(f"dict({given})", dict(VALUES))
        if not re.search(r"(?m)^(def|f =|class)\b.*\bf\b", body):
            body = f"def f({', '.join(values)}):\n" + textwrap.indent(body, "    ")
        out.append(pytest.param(Program(body, tuple(values.values())), id=name.strip()))
    names = [p.id for p in out]
    assert len(set(names)) == len(names), "two programs of one name"
    return out


def check(program: Program, rtol: float = 2e-6, atol: float = 2e-7) -> None:
    check_program(program.build(), program.args, rtol, atol)
