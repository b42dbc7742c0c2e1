"""Second derivatives through every rule: the derivative of a pullback's cotangents, in both modes, against differences.

For each sample a function is written out that returns the cotangents of all its arguments, by ``vjp``; so every helper that
a pullback calls is differentiated itself.
"""

import functools
import importlib.util
import pathlib
import tempfile

import numpy as np
import pytest
from test_every_rule import IDS, SAMPLES, function_of, perturbed

import thunkad as ad
from thunkad.tangents import ZERO, AbstractZero
from thunkad.testing import numerical_jvp
from thunkad.testing.differences import pairing
from thunkad.testing.leaves import at, copied, field_of, leaves, map_leaves, random_tangents, unthunk_all

ORDERS = [
    f"special.{name}-"
    for name in """jv iv ive yn kn expn yv kv kve hankel1 hankel2 eval_chebyt eval_hermite hyp0f1 hyp1f1 hyp2f1 gammainc
    gammaincc struve modstruve gdtr gdtrc hankel1e hankel2e fdtr fdtrc eval_chebyu eval_gegenbauer bdtr bdtrc eval_jacobi nbdtr hyperu
    pdtrc chdtrc eval_legendre eval_hermitenorm eval_laguerre eval_genlaguerre gammaincinv gammainccinv betainc betaincc betaincinv pdtr chdtr stdtr _basic.polygamma _basic.zeta""".split()
]
#: Samples that can't be differentiated twice, each with the reason.
ONCE = {
    "np.random": "what is drawn inside a derivative that is differentiated is refused",
    "scipy.special.gamma-": "of complex numbers: SciPy has no trigamma function of these",
    "scipy.special.loggamma-": "of complex numbers: SciPy has no trigamma function of these",
    **dict.fromkeys(ORDERS, "its order or shape parameter has no derivative, of which a nested vjp says so at once"),
    "fractional_matrix_power": "the exponent has no derivative, of which a nested vjp says so at once",
    "hypot.reduceat": "it is written out with updates in place, and so is looked into by a nested vjp",
    "kaiser": "a vjp is by its length, too, at which a root has no finite slope",
    "imatmul": "it updates its argument in place",
    "ndarray.__getitem__": "called by its name, with an index that is known when the code runs",
}


#: Loops over coefficients, of which each step is compiled by itself when it is differentiated twice: seconds for each.
SLOW = ("chebder", "chebint", "polyder", "polyint")
#: Families of which every member has the same rule: the first is enough.
LIKE_ANOTHER = ("legendre", "hermite_e", "hermite", "laguerre")
METHODS = ("outer", "accumulate", "reduce", "reduceat")


def chosen():
    """The first sample of each function."""
    seen = set()
    for k, (sample, name) in enumerate(zip(SAMPLES, IDS)):
        parts = name.rpartition("-")[0].split(".")
        repeated = parts[-1] in METHODS and parts[-2] not in ("multiply", "hypot", "maximum")
        if repeated or id(sample.function) in seen or any(part in name for part in (*LIKE_ANOTHER, *SLOW)):
            continue
        seen.add(id(sample.function))
        if not any(part in name for part in ONCE) and any(map(perturbed, sample.args)):
            if not any(precise in sample.method for precise in ("float32", "float16", "complex64")):
                yield pytest.param(k, id=name)


def demanded(f, sample, seed):
    """The arguments by which the sample has a derivative."""
    _, pullback = ad.vjp(f, *copied(sample.args))
    bars, found = pullback(seed), []
    for j, argument in enumerate(sample.args):
        if perturbed(argument):
            try:
                if not isinstance(unthunk_all(bars[j]), AbstractZero):
                    found.append(j)
            except ad.NotImplementedDerivativeError:
                pass
    return found


@functools.cache
def cotangents_of(k):
    """A function of the sample's arguments that returns their cotangents, and by which of them it is differentiated."""
    sample, f = SAMPLES[k], function_of(SAMPLES[k])
    seed = random_tangents(f(*copied(sample.args)), np.random.default_rng(0))
    if all(isinstance(s, AbstractZero) for _, s in leaves(seed)):
        return None, []
    numbers = demanded(f, sample, seed)
    names = ", ".join(f"a{j}" for j in range(len(sample.args)))
    text = [
        "import thunkad as ad",
        f"def cotangents({names}):",
        f"    value, pullback = ad.vjp(f, {names})",
        "    bars = pullback(seed)",
        f"    return ({''.join(f'bars[{j}], ' for j in numbers)})",
    ]
    path = pathlib.Path(tempfile.mkdtemp()) / f"cotangents_{k}.py"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.f, module.seed = f, seed
    return module.cotangents, numbers


def plain(bars):
    return map_leaves(lambda _, v: 0.0 if v is None or isinstance(v, AbstractZero) else v, unthunk_all(bars))


@pytest.mark.parametrize("k", list(chosen()))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_second_derivatives(k):
    g, numbers = cotangents_of(k)
    if not numbers:
        return
    args = SAMPLES[k].args
    rng = np.random.default_rng(1)
    dots = tuple(random_tangents(a, rng) if j in numbers else ZERO for j, a in enumerate(args))
    _, bars_dot = ad.jvp(g, copied(args), dots)
    bars_dot = unthunk_all(bars_dot)
    directions = {p: d for p, d in leaves(dots) if not isinstance(d, AbstractZero)}
    for path, want in numerical_jvp(lambda *a: plain(g(*a)), args, directions).items():
        got = at(bars_dot, path)
        got = np.zeros(np.shape(want)) if got is None or isinstance(got, AbstractZero) else got
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=3e-6, err_msg=f"jvp of the cotangent {path}")

    value, pullback = ad.vjp(g, *copied(args))
    seed = random_tangents(unthunk_all(value), rng)
    back = {j: b for j, b in enumerate(unthunk_all(tuple(tuple.__iter__(pullback(seed)))))}
    forward = {j: d for j, d in enumerate(dots) if any(field_of(v) for _, v in leaves(d))}
    np.testing.assert_allclose(pairing(back, forward), pairing(seed, bars_dot), rtol=1e-6, atol=1e-7)
