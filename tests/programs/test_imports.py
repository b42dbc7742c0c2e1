"""Imports inside of differentiated functions, relative ones too."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import thunkad as ad

FILES = {
    "__init__.py": "FACTOR = 2.0\n",
    "other.py": "def square(x):\n    return x * x\n",
    "config.py": "S = 1.0\nMEMO = {}\n",
    "inner/__init__.py": "",
    "inner/helper.py": "import numpy as np\n\ndef h(x):\n    return np.sin(x)\n",
    "inner/main.py": """\
def uses(x):
    from ..other import square
    from .. import FACTOR, other
    from . import helper as h
    return square(x) * FACTOR * h.h(x) + other.square(x)

def missing(x):
    from . import nothing
    return x

def missing_module(x):
    from .nothing import y
    return x

def use(y):
    from .. import config as c
    return y * c.S

def sets(x):
    from .. import config
    config.S = x * x
    return use(x)

def memo(x):
    from ..config import MEMO
    if x not in MEMO:
        MEMO[x] = x * x
    return MEMO[x] * x
""",
}


@pytest.fixture
def main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    for name, text in FILES.items():
        path = tmp_path / "package_of_test" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("package_of_test.inner.main")
    for name in [name for name in sys.modules if name.split(".")[0] == "package_of_test"]:
        del sys.modules[name]


@pytest.mark.parametrize("name", ["uses", "sets"])
def test_relative_imports(main: ModuleType, name: str) -> None:
    f = getattr(main, name)
    expected = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    second = (f(1.3 + 1e-4) - 2.0 * f(1.3) + f(1.3 - 1e-4)) / 1e-8
    assert np.isclose(ad.grad(f)(1.3), expected)
    assert np.isclose(ad.vjp(f, 1.3)[1](1.0)[0], expected)
    assert np.isclose(ad.jvp(f, (1.3,), (1.0,))[1], expected)
    assert np.isclose(ad.hessian(f)(1.3), second, rtol=1e-4)


@pytest.mark.parametrize("name", ["missing", "missing_module"])
def test_what_is_not_there_raises_what_python_raises(main: ModuleType, name: str) -> None:
    f = getattr(main, name)
    with pytest.raises(ImportError) as plain:
        f(1.3)
    for take in (ad.grad(f), lambda x: ad.vjp(f, x), lambda x: ad.jvp(f, (x,), (1.0,))):
        with pytest.raises(ImportError) as caught:
            take(1.3)
        assert type(caught.value) is type(plain.value) and str(caught.value) == str(plain.value)


def test_a_memo_of_a_module_that_is_imported_inside_is_named(main: ModuleType) -> None:
    assert np.isclose(ad.grad(main.memo)(1.3), 3.0 * 1.3**2)  # it is imported, and empty, only now
    for take in (ad.grad(main.memo), lambda x: ad.jvp(main.memo, (x,), (1.0,))):
        with pytest.raises(ad.UnsupportedSyntaxError, match="MEMO outlives the call"):
            take(1.3)
