"""Reading and writing ``*.case`` files: a program, how it is called, and what each stage makes of it.

    A line or two on what the case is about.

    ==== program
    def f(x):
        return x * x

    ==== call
    f(2.0)

    ==== normal
    …
    ==== grad
    …

The function called is the one under test.  ``call`` may end in options of ``adjoint_source`` behind a semicolon:
``f(A, B); argnums=1``; ``f; argnums=0`` is the derivative for arguments of which nothing is known.  The sections after
``call`` are the stages that the case expects: ``source``, ``normal`` and the other names of stages, or a mode (``grad``,
``value_and_grad``, ``vjp``) for the whole generated module.
"""

from __future__ import annotations

import ast
import itertools
import linecache
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MARK = "==== "
_count = itertools.count()


@dataclass
class Case:
    """One case file."""

    path: Path
    about: str
    sections: dict[str, str]

    @property
    def stages(self) -> list[str]:
        return [name for name in self.sections if name not in ("program", "call")]

    def text(self) -> str:
        parts = [self.about.strip() + "\n"]
        parts += [f"{MARK}{name}\n{body.strip(chr(10))}\n" for name, body in self.sections.items()]
        return "\n".join(parts)


def read(path: Path) -> Case:
    sections: dict[str, str] = {}
    about: list[str] = []
    name = None
    for line in path.read_text("utf-8").splitlines(keepends=True):
        if line.startswith(MARK):
            name = line[len(MARK) :].strip()
            assert name not in sections, f"{path.name}: two sections {name}"
            sections[name] = ""
        elif name is None:
            about.append(line)
        else:
            sections[name] += line
    return Case(path, "".join(about), sections)


@dataclass
class Loaded:
    """The function of a case, its example arguments (None: a derivative for any), the options."""

    function: Any
    args: tuple[Any, ...] | None
    options: dict[str, Any]


def load(case: Case) -> Loaded:
    """Run the program of ``case`` in a module of its own, as if it were a file."""
    filename = f"<{case.path.stem} {next(_count)}>"
    program = case.sections["program"].strip("\n") + "\n"
    linecache.cache[filename] = (len(program), None, program.splitlines(True), filename)
    namespace: dict[str, Any] = {"__name__": "program", "np": np}
    exec(compile(program, filename, "exec", dont_inherit=True), namespace)
    called, _, options = case.sections["call"].strip().partition(";")
    values = {"np": np, "A": np.array([0.5, -1.25, 2.0]), "B": np.array([1.5, 0.25, -0.75])}
    values["M"] = np.arange(6.0).reshape(2, 3) / 4 - 0.6
    keywords: dict[str, Any] = eval(f"dict({options})", dict(values))
    node = ast.parse(called.strip(), mode="eval").body
    if isinstance(node, ast.Name):
        return Loaded(namespace[node.id], None, keywords)
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    args = eval("(" + "".join(ast.unparse(a) + "," for a in node.args) + ")", {**namespace, **values})
    return Loaded(namespace[node.func.id], args, keywords)
