"""Generator functions made inside a function of which ``contextlib.contextmanager`` makes context managers."""

from __future__ import annotations

import contextlib
from typing import Any

from thunkad.normal.scope import Scope
from thunkad.source.names import lookup
from thunkad.tree.parse import gast


def makes_manager(source: Any, scope: Scope) -> bool:
    """Whether a generator function inside the function of ``source`` is all for ``contextlib.contextmanager``.

    It is decorated with it, or given to it and used for nothing else.
    """
    node, around = scope.node, scope.parent
    function = getattr(source, "function", None)
    if function is None or around is None or not scope.generator:
        return False
    if any(_names_it(function, around, d) for d in node.decorator_list[-1:]):
        return True
    inside = list(gast.walk(around.node))
    calls = [x for x in inside if isinstance(x, gast.Call) and len(x.args) == 1 and _names_it(function, around, x.func)]
    given = [x.args[0] for x in calls if isinstance(x.args[0], gast.Name) and x.args[0].id == node.name]
    uses = [x for x in inside if isinstance(x, gast.Name) and x.id == node.name and isinstance(x.ctx, gast.Load)]
    return bool(given) and len(uses) == len(given)


def _names_it(function: Any, scope: Scope, node: Any) -> bool:
    """Whether an expression in ``scope`` stands for ``contextlib.contextmanager``."""
    path: list[str] = []
    while isinstance(node, gast.Attribute):
        path.insert(0, node.attr)
        node = node.value
    if not isinstance(node, gast.Name):
        return False
    owner = scope.owner(node.id)
    try:
        value = lookup(function, node.id) if owner is None else _imported(owner, node.id)
        for name in path:
            value = getattr(value, name)
    except (KeyError, AttributeError):
        return False
    return value is contextlib.contextmanager


def _imported(scope: Scope, name: str) -> Any:
    """What an import of :mod:`contextlib` in ``scope`` binds ``name`` to."""
    for x in gast.walk(scope.node):
        for alias in x.names if isinstance(x, (gast.Import, gast.ImportFrom)) else ():
            if (alias.asname or alias.name) == name:
                if isinstance(x, gast.Import) and alias.name == "contextlib":
                    return contextlib
                if isinstance(x, gast.ImportFrom) and x.module == "contextlib" and not x.level:
                    return getattr(contextlib, alias.name)
    raise KeyError(name)
