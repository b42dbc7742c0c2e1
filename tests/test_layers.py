"""The architecture as a test: which part imports which, where gast, astor and SciPy occur, how long a file may be.

Imports inside functions count like any other: they avoid a cycle at import time, not a dependence.  The few that point
backwards on purpose stand in ``LAZY``, each with its reason.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parent.parent / "thunkad"
FILES = sorted(PACKAGE.rglob("*.py"))

# Each part may import those before it (and itself).  A new module has to be given its place here.
ORDER = (
    "records",
    "lifetimes",
    "errors",
    "debugging",
    "captured",
    "tangents",
    "ir",
    "runtime",
    "tree",
    "source",
    "normal",
    "kinds",
    "rules",
    "analysis",
    "optimise",
    "adjoint",
    "forward",
    "emit",
    "pipeline",
    "by_name",
    "compiled",
    "refreshing",
    "inspection",
    "api",
    "jacobians",
    "implicit",
    "solvers",  # rules for SciPy's, by the one above; read in like the rule modules, once scipy.optimize is imported
    "derived",
    "nesting",
    "",  # thunkad itself: the public names and nothing else
    "testing",  # a client of the public names, not a part of the compiler
)

# (importing module, imported module) -> why it has to be, and why it does no harm.
LAZY: dict[tuple[str, str], str] = {
    ("thunkad.rules", "thunkad.refreshing"): "`thunkad.rules` is the table for users; only what they ask of it is imported",
}

# The third-party packages, and the places that may import each.
EXTERNAL = {
    "numpy": ("thunkad",),
    "gast": ("thunkad.tree",),
    "astor": ("thunkad.emit.printer",),
    "scipy": ("thunkad.rules.scipy", "thunkad.solvers"),
}

LONGEST = 500
RULE_TABLES = ("thunkad.rules.numpy", "thunkad.rules.python", "thunkad.rules.scipy")


class Import(NamedTuple):
    """``importer`` imports ``imported`` (a dotted name, as written) on ``line``."""

    importer: str
    imported: str
    line: int


def module_of(path: Path, root: Path = PACKAGE) -> str:
    """``thunkad/rules/table.py`` -> ``thunkad.rules.table``; a package is named like its folder."""
    parts = list(path.relative_to(root.parent).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_in(text: str, importer: str, modules: set[str], is_package: bool = False) -> list[Import]:
    """Every import in ``text``, at any depth; ``from a import b`` is of ``a.b`` where that is one of ``modules``."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [Import(importer, alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = importer.split(".")
                package = package[: len(package) - node.level + is_package]
                base = ".".join(package + ([base] if base else []))
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                found.append(Import(importer, whole if whole in modules else base, node.lineno))
    return found


def part_of(module: str) -> str:
    """The entry of ``ORDER`` that ``module`` belongs to."""
    return (module.split(".") + [""])[1]


def inside(module: str, places: tuple[str, ...]) -> bool:
    return any(module == place or module.startswith(place + ".") for place in places)


def out_of_order(imports: list[Import]) -> list[str]:
    wrong = []
    for importer, imported, line in imports:
        if imported.split(".")[0] != "thunkad" or (importer, imported) in LAZY:
            continue
        if ORDER.index(part_of(imported)) > ORDER.index(part_of(importer)):
            wrong.append(f"{importer}, line {line}: imports {imported}, which comes later")
    return wrong


def misplaced(imports: list[Import]) -> list[str]:
    return [
        f"{importer}, line {line}: imports {imported}"
        for importer, imported, line in imports
        for package, places in EXTERNAL.items()
        if imported.split(".")[0] == package and not inside(importer, places)
    ]


def cycle_in(imports: list[Import]) -> list[str]:
    """Modules that import each other in a circle, or nothing."""
    edges: dict[str, set[str]] = {}
    for importer, imported, _ in imports:
        if imported.split(".")[0] == "thunkad" and importer != imported and (importer, imported) not in LAZY:
            edges.setdefault(importer, set()).add(imported)
    done: set[str] = set()

    def search(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        for following in sorted(edges.get(module, ())):
            if cycle := search(following, [*path, module]):
                return cycle
        done.add(module)
        return []

    for module in sorted(edges):
        if cycle := search(module, []):
            return cycle
    return []


MODULES = {module_of(path) for path in FILES}
IMPORTS = [
    found
    for path in FILES
    for found in imports_in(path.read_text("utf-8"), module_of(path), MODULES, path.name == "__init__.py")
]


def test_every_module_has_its_place_in_the_order() -> None:
    assert {part_of(module) for module in MODULES} <= set(ORDER)


def test_a_part_imports_earlier_parts_only() -> None:
    assert not out_of_order(IMPORTS)


def test_no_modules_import_each_other() -> None:
    assert not cycle_in(IMPORTS)


def test_every_exception_is_still_needed() -> None:
    assert set(LAZY) <= {(importer, imported) for importer, imported, _ in IMPORTS}


def test_imported_modules_exist() -> None:
    ours = {imported for _, imported, _ in IMPORTS if imported.split(".")[0] == "thunkad"}
    assert ours <= MODULES


def test_third_party_packages_stay_in_their_places() -> None:
    assert not misplaced(IMPORTS)


def test_nothing_else_is_needed_at_run_time() -> None:
    import sys

    roots = {imported.split(".")[0] for _, imported, _ in IMPORTS}
    assert roots - {"thunkad", *EXTERNAL} - sys.stdlib_module_names - {"__future__"} == set()


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_no_file_is_long_but_the_rule_tables(path: Path) -> None:
    if not inside(module_of(path), RULE_TABLES):
        assert len(path.read_text("utf-8").splitlines()) <= LONGEST


def test_test_files_have_names_of_their_own() -> None:
    """Test folders are no packages, so two files of one name would hide each other."""
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


# The checks themselves, on made-up modules ---------------------------------------------------------------------------


def made_up(text: str, importer: str) -> list[Import]:
    return imports_in(text, importer, {"thunkad.ir.nodes", "thunkad.ir.walk", "thunkad.emit.printer"})


def test_a_later_part_is_noticed_even_inside_a_function() -> None:
    assert out_of_order(made_up("def f():\n    from thunkad.emit import printer\n", "thunkad.ir.walk"))
    assert not out_of_order(made_up("from thunkad.ir import nodes\n", "thunkad.emit.printer"))
    assert out_of_order(made_up("import thunkad as ad\n", "thunkad.rules.table"))


def test_relative_imports_are_resolved() -> None:
    assert made_up("from . import nodes\n", "thunkad.ir.walk")[0].imported == "thunkad.ir.nodes"
    assert made_up("from ..emit.printer import text\n", "thunkad.ir.walk")[0].imported == "thunkad.emit.printer"
    inside_package = imports_in("from .nodes import Name\n", "thunkad.ir", {"thunkad.ir.nodes"}, is_package=True)
    assert inside_package[0].imported == "thunkad.ir.nodes"


def test_a_cycle_is_noticed() -> None:
    there = made_up("from thunkad.ir import nodes\n", "thunkad.ir.walk")
    back = made_up("from thunkad.ir.walk import children\n", "thunkad.ir.nodes")
    assert cycle_in(there) == []
    assert cycle_in(there + back) == ["thunkad.ir.nodes", "thunkad.ir.walk", "thunkad.ir.nodes"]


def test_a_misplaced_package_is_noticed() -> None:
    assert misplaced(made_up("import gast\n", "thunkad.normal.lower"))
    assert misplaced(made_up("from astor.code_gen import SourceGenerator\n", "thunkad.emit.comments"))
    assert not misplaced(made_up("import gast\n", "thunkad.tree.parse"))
