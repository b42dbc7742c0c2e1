"""Random programs over objects and containers that change: everything observable, and gradients against differences."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from choosing import Seeded
from checking import Program, check_program, observe
from object_programs import Maker
from thunkad import UnsupportedSyntaxError, vjp
from thunkad.analysis import aliases
from thunkad.ir import nodes as n


@pytest.mark.parametrize("seed", range(2000, 2040))
def test_random_programs(seed: int) -> None:
    text = Maker(Seeded(seed)).program()
    rng = np.random.default_rng(seed)
    args = (*map(float, rng.uniform(-1, 1.5, 2)), rng.uniform(-1, 1.5, 3), rng.uniform(-1, 1.5, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused = observe(lambda: vjp(Program(text, args).build(), *args)).error
        if isinstance(refused, UnsupportedSyntaxError):
            return  # a write by a callee that is known only when the code runs
        check_program(Program(text, args).build(), args, kinks=True)


@pytest.mark.parametrize("seed", range(2000, 2012))
def test_writes_that_never_happen_change_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What every opaque call is given, numbers too, counts as written: more copies, the same gradients."""
    found = aliases._Finder.written

    def too_much(self: aliases._Finder, s: n.Stmt) -> list[str]:
        names, site = found(self, s), self.resolved.sites.get(id(s))
        if type(s) not in (n.Assign, n.Effect) or type(s.value) is not n.Call or site is None:
            return names
        if not aliases.is_opaque(site):
            return names
        more = [i for a in site.args for i in self.memory(a) if i not in names]
        self.aliases.perhaps.setdefault(id(s), []).extend(more)
        return [*names, *more]

    monkeypatch.setattr(aliases._Finder, "written", too_much)
    test_random_programs(seed)
