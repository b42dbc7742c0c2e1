"""Forward mode over programs that write in place: it is right, or it says that it is not supported."""

import mutation_arrays
import mutation_calls
import mutation_containers
import mutation_views
import numpy as np
import pytest
import thunkad as ad
from checking import Program
from thunkad.tangents import AbstractZero
from thunkad.testing.differences import numerical_jvp
from thunkad.testing.leaves import copied, leaves, random_tangents, unthunk_all

CASES = {
    name: program
    for module in (mutation_arrays, mutation_views, mutation_containers, mutation_calls)
    for name, program in module.PROGRAMS.items()
    if name not in module.REFUSED and not name.startswith("raises") and name not in ("arg_read_only_raises", "deque_refused")
}


def laid_out(dot, arg):
    """The direction in the layout of the argument, since differences are taken at their sum."""
    fortran = isinstance(arg, np.ndarray) and arg.flags.f_contiguous and not arg.flags.c_contiguous
    return np.asfortranarray(dot) if fortran else dot


@pytest.mark.parametrize("name", CASES)
def test_right_or_refused(name):
    text, args = CASES[name]
    f = Program(text, args).build()
    dots = tuple(map(laid_out, random_tangents(args, np.random.default_rng(3)), args))
    value = f(*copied(args))
    try:
        found, dot = ad.jvp(f, copied(args), dots)
    except (ad.UnsupportedSyntaxError, ad.NoRuleError, ad.RuleError) as error:
        pytest.skip(str(error).splitlines()[0])
    mine = dict(leaves(unthunk_all(found)))
    for path, v in leaves(value):
        assert np.allclose(mine[path], v, rtol=1e-10)
    directions = {path: d for path, d in leaves(dots) if not isinstance(d, AbstractZero)}
    got = dict(leaves(unthunk_all(dot)))
    for path, want in numerical_jvp(f, copied(args), directions).items():
        have = got.get(path, 0.0)
        assert np.allclose(0.0 if isinstance(have, AbstractZero) else have, want, rtol=1e-5, atol=1e-6)
