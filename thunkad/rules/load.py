"""The library of rules, read in at the first derivative; SciPy's part once SciPy has been imported."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import threading

from thunkad.rules.table import TABLE

_lock = threading.Lock()
_loaded: set[str] = set()


def load_library() -> None:
    """Make sure that the rules of NumPy, of Python and, if it is in use, of SciPy are in the table."""
    wanted = ["thunkad.rules.python", "thunkad.rules.numpy"]
    if "scipy" in sys.modules:
        wanted.append("thunkad.rules.scipy")
    if _loaded.issuperset(wanted):
        return
    with _lock:
        for package in wanted:
            if package not in _loaded:
                with TABLE.bulk():
                    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
                        importlib.import_module(module.name)
                _loaded.add(package)
