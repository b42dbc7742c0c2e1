"""The library of rules, read in at the first derivative; SciPy's part once SciPy has been imported."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import threading

from thunkad.rules.table import TABLE

#: The parts of SciPy that have rules, each read in once that part has been imported.
SCIPY_PARTS = ("special", "linalg", "stats")

_lock = threading.Lock()
_loaded: set[str] = set()


def load_library() -> None:
    """Make sure that the rules of NumPy, of Python and, if it is in use, of SciPy are in the table."""
    wanted = ["thunkad.rules.python", "thunkad.rules.numpy"]
    wanted += [f"thunkad.rules.scipy.{part}" for part in SCIPY_PARTS if f"scipy.{part}" in sys.modules]
    if _loaded.issuperset(wanted):
        return
    with _lock:
        importlib.import_module("thunkad.nesting")  # rules of grad itself
        for package in wanted:
            if package not in _loaded:
                with TABLE.bulk():
                    found = importlib.import_module(package)
                    for module in pkgutil.iter_modules(getattr(found, "__path__", ()), f"{package}."):
                        importlib.import_module(module.name)
                _loaded.add(package)
