"""The library of rules, read in at the first derivative; some parts once the module that they are for is imported."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import threading

from thunkad.rules.table import TABLE

#: Modules whose rules are read in once they have been imported, with where the rules are: importing them takes time.
PARTS = {
    "numpy.random": "thunkad.rules.numpy.randomness",
    "scipy.special": "thunkad.rules.scipy.special",
    "scipy.fft": "thunkad.rules.scipy.fourier",
    "scipy.integrate": "thunkad.rules.scipy.integration",
    "scipy.interpolate": "thunkad.rules.scipy.interpolate",
    "scipy.linalg": "thunkad.rules.scipy.linalg",
    "scipy.ndimage": "thunkad.rules.scipy.ndimage",
    "scipy.optimize": "thunkad.solvers",
    "scipy.signal": "thunkad.rules.scipy.signal",
    "scipy.sparse": "thunkad.rules.scipy.sparse",
    "scipy.stats": "thunkad.rules.scipy.distributions",
    "statistics": "thunkad.rules.python.statistics",
}

_lock = threading.Lock()
_loaded: set[str] = set()


def load_library() -> None:
    """Make sure that the rules of NumPy, of Python and, if it is in use, of SciPy are in the table."""
    wanted = ["thunkad.rules.python", "thunkad.rules.numpy"]
    wanted += [rules for module, rules in PARTS.items() if module in sys.modules]
    if _loaded.issuperset(wanted):
        return
    with _lock:
        importlib.import_module("thunkad.nesting")  # rules of grad itself
        for package in wanted:
            if package not in _loaded:
                with TABLE.bulk():
                    found = importlib.import_module(package)
                    for module in pkgutil.iter_modules(getattr(found, "__path__", ()), f"{package}."):
                        if module.name not in PARTS.values():
                            importlib.import_module(module.name)
                _loaded.add(package)
