"""All tables of small programs of the suite under one roof."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from checking import Program
from tables import programs

sys.path.insert(0, str(Path(__file__).parents[1] / "language"))

WRITING = ("mutation_arrays", "mutation_views", "mutation_containers", "mutation_calls")
TABLES = (
    "test_arithmetic", "test_assignment", "test_calls", "test_conditions", "test_found", "test_loops", "test_results_written",
    "test_standard_library", "test_values", "test_vanishing",
)  # fmt: skip


def every_program() -> dict[str, Program]:
    """Each program that reverse mode accepts, by a name that no other one has."""
    out: dict[str, Program] = {}
    for module in map(importlib.import_module, WRITING):
        for name, (text, args) in module.PROGRAMS.items():
            if name not in module.REFUSED:
                out[f"{module.__name__[9:]}-{name}"] = Program(text, args)
    for module in map(importlib.import_module, TABLES):
        tables = {k: v for k, v in vars(module).items() if isinstance(v, str) and "\n=== " in v}
        for table, text in tables.items():
            out.update((f"{module.__name__[5:]}-{table}-{p.id}", p.values[0]) for p in programs(text))
    guarded = importlib.import_module("test_guarded_programs")
    for name, (text, inputs) in guarded.PROGRAMS.items():
        out.update((f"guarded-{name}-{k}", Program(guarded.HELPERS + text, args)) for k, args in enumerate(inputs))
    made = importlib.import_module("test_generator_programs")
    out.update((f"generators-{name}", Program(made.HELPERS + text, args)) for name, (text, args) in made.PROGRAMS.items())
    kept = importlib.import_module("test_kept_generators")
    out.update((f"kept-{name}", Program(kept.HELPERS + text, args)) for name, (text, args) in kept.PROGRAMS.items())
    matched = importlib.import_module("test_match_programs")
    classes = {"Point": matched.Point, "Scaled": matched.Scaled}
    for name, (text, inputs) in matched.PROGRAMS.items():
        out.update((f"match-{name}-{k}", Program(text, args, classes)) for k, args in enumerate(inputs))
    language = importlib.import_module("language_programs")
    for node in (*language.STATEMENTS, *language.EXPRESSIONS, *language.PATTERNS):
        if node.derivative is not None:
            out[f"language-{node.name}"] = Program(node.text, (1.5,))
    return out
