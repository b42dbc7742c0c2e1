"""Private names: inside ``class C``, Python reads ``self.__x`` as ``self._C__x``.

Generated code stands outside the class, so the names are written out in the tree before anything else looks at it.
"""

from __future__ import annotations

from thunkad.tree.parse import GastFunction, deep_recursion, gast


def mangle(name: str, class_name: str) -> str:
    """``name`` as the compiler spells it inside ``class_name``.

    >>> mangle("__x", "_Layer"), mangle("__init__", "Layer"), mangle("_x", "Layer")
    ('_Layer__x', '__init__', '_x')
    """
    stem = class_name.lstrip("_")
    if not name.startswith("__") or name.endswith("__") or not stem:
        return name
    return f"_{stem}{name}"


def write_out_private_names(function: GastFunction, class_name: str) -> None:
    """Mangle, in place, the names in ``function``, which stands in the class ``class_name``; its own name is kept."""
    with deep_recursion():
        for part in gast.iter_child_nodes(function):
            _visit(part, class_name)


def _visit(node: gast.AST, cls: str) -> None:
    if isinstance(node, gast.ClassDef):
        node.name = mangle(node.name, cls)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            _visit(part, cls)
        for part in node.body:
            _visit(part, node.name)
        return
    if isinstance(node, gast.Name):
        node.id = mangle(node.id, cls)
    elif isinstance(node, gast.Attribute):
        node.attr = mangle(node.attr, cls)
    elif isinstance(node, (gast.Global, gast.Nonlocal)):
        node.names = [mangle(name, cls) for name in node.names]
    elif isinstance(node, gast.alias):
        if (bound := mangle(node.asname or node.name, cls)) != (node.asname or node.name):
            node.asname = bound
    elif isinstance(node, gast.MatchMapping):
        node.rest = node.rest and mangle(node.rest, cls)
    elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.MatchAs, gast.MatchStar)):
        node.name = node.name and mangle(node.name, cls)
    elif isinstance(node, gast.ExceptHandler) and isinstance(node.name, str):
        node.name = mangle(node.name, cls)
    for part in gast.iter_child_nodes(node):
        _visit(part, cls)
