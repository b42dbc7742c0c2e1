"""Every public name of the installed NumPy is in exactly one state, and what is refused says why."""

import pathlib

import numpy as np
import pytest

import thunkad as ad
from thunkad.rules import catalogue
from thunkad.rules.refused import MODULES, REASONS, reason_for

NAMES = dict(catalogue.numpy_names())
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "coverage.md"

# What autograd lacks though it has a derivative (np.fill_diagonal and np.put_along_axis write in place).
LACKING_ELSEWHERE = """cbrt copysign float_power fmod ldexp heaviside modf positive divmod cumprod nanprod nancumsum
cumulative_sum nansum nanmean nanmax nanmin nanstd nanvar average median percentile quantile ptp cov corrcoef interp trapezoid
convolve correlate ediff1d unwrap take take_along_axis choose compress extract insert delete asarray copy ascontiguousarray
broadcast_arrays flip block dstack concat unstack matrix_transpose meshgrid diagflat vander vdot vecdot matvec vecmat polyval
poly polyfit roots piecewise apply_along_axis apply_over_axes geomspace logspace arange linalg.qr linalg.lstsq
linalg.matrix_power linalg.multi_dot linalg.eigvals linalg.eigvalsh linalg.svdvals linalg.cond linalg.tensorinv
linalg.tensorsolve linalg.matrix_norm linalg.vector_norm linalg.cross linalg.diagonal linalg.matmul linalg.outer
linalg.trace""".split()


def test_names_are_found():
    assert len(NAMES) > 900
    for name in ("np.sum", "np.linalg.svd", "np.add.reduce", "ndarray.T", "ndarray.__add__", "Generator.normal"):
        assert name in NAMES


@pytest.mark.parametrize("prefix", [*catalogue.MODULES, *catalogue.CLASSES])
def test_every_name_is_in_one_state(prefix):
    wrong = {
        name: found
        for name, target in NAMES.items()
        if name.startswith(f"{prefix}.") and (len(found := catalogue.states(name, target)) != 1 or "only" in found[0])
    }
    assert not wrong


@pytest.mark.parametrize("name", LACKING_ELSEWHERE)
def test_more_than_elsewhere(name):
    assert catalogue.states(f"np.{name}", NAMES[f"np.{name}"])[0] in ("rule", "composed")


def test_what_is_refused_is_in_the_documentation():
    text = PAGE.read_text(encoding="utf-8")
    for name, target in NAMES.items():
        if catalogue.states(name, target) == ["refused"]:
            reason = reason_for(getattr(target, "__func__", target))
            assert reason in text and len(reason) > 15
            assert name in text


def test_page_is_current():
    text = PAGE.read_text(encoding="utf-8")
    if f"NumPy {np.__version__}," not in text:
        pytest.skip("the page was written for another NumPy")
    assert text == catalogue.page(), "write it anew: python benchmarks/count_rules.py --page"


REFUSED = {
    "poly1d": lambda x: np.poly1d(x)(2.0),
    "Polynomial": lambda x: np.polynomial.Polynomial(x)(2.0),
    "matrix": lambda x: np.sum(np.asmatrix(x)),
    "made matrix": lambda x: np.sum(np.matrix(x)),
    "masked array": lambda x: np.ma.sum(np.ma.masked_array(x, [True, False, False])),
    "records": lambda x: np.rec.array(x),
    "strides": lambda x: np.sum(np.lib.stride_tricks.as_strided(x, (2,), (8,))),
    "flat": lambda x: np.sum(x.flat[1:]),
    "one entry of flat": lambda x: x.flat[0],
    "rejection": lambda x: np.sum(np.random.default_rng(0).beta(x, 1.0)),
    "legacy rejection": lambda x: np.sum(np.random.standard_gamma(x)),
}


@pytest.mark.parametrize("f", REFUSED.values(), ids=REFUSED)
def test_refusals_give_the_reason(f):
    with pytest.raises(ad.NoRuleError, match="is not differentiated: ") as caught:
        ad.grad(f)(np.array([0.5, 1.0, 2.0]))
    assert any(reason in str(caught.value) for reason in [*REASONS.values(), *MODULES.values()])


MATRIX, MASKED = np.asmatrix(np.eye(2)), np.ma.masked_less(np.array([0.5, 1.5]), 1.0)


def made_matrix(x):
    c = np.asmatrix(np.ones((2, 2)))
    return np.sum(c * x)


def made_mask(x):
    c = np.ma.masked_less(np.array([0.5, 1.5]), 1.0)
    return np.sum(c * x)


@pytest.mark.parametrize("other", [MATRIX, MASKED], ids=["matrix", "masked"])
def test_arrays_on_which_operators_mean_something_else_are_refused(other):
    for f in (lambda x, c: np.sum(x * c), lambda x, c: np.sum(c * x), lambda x, c: np.sum(np.add(c, x))):
        with pytest.raises(ad.NoRuleError, match="is not differentiated"):
            ad.grad(f)(np.ones(np.shape(other)), other)
        with pytest.raises(ad.NoRuleError, match="is not differentiated"):
            ad.grad(f, argnums=1)(np.ones(np.shape(other)), other)
        with pytest.raises(ad.NoRuleError, match="is not differentiated"):
            ad.grad(lambda x: f(x, other))(np.ones(np.shape(other)))  # noqa: B023
    inside = made_matrix if other is MATRIX else made_mask
    with pytest.raises(ad.NoRuleError, match="is not differentiated"):
        ad.grad(inside)(np.ones(np.shape(other)))
    with pytest.raises(ad.NoRuleError, match="is not differentiated"):
        ad.jvp(inside, (np.ones(np.shape(other)),), (np.ones(np.shape(other)),))


def test_a_refused_function_of_constants_runs():
    def f(x, c):
        return np.sum(x) * np.poly1d(c)(2.0)

    np.testing.assert_allclose(ad.grad(f)(np.ones(2), [1.0, 3.0]), [5.0, 5.0])


def test_a_rule_of_the_users_goes_before_a_refusal():
    @ad.rrule(np.poly1d)
    def _(p):
        return np.sum(p), lambda y_bar: (y_bar * np.ones(3),)

    try:
        np.testing.assert_allclose(ad.grad(lambda x: np.poly1d(x))(np.ones(3)), np.ones(3))
    finally:
        ad.rules.remove(np.poly1d)


def test_unknown_keywords_are_refused_by_name():
    with pytest.raises(ad.ThunkadError, match="signature"):
        ad.grad(lambda x: np.sum(np.add(x, x, signature="dd->d")))(np.ones(2))
    with pytest.raises(ad.ThunkadError, match="where"):
        ad.grad(lambda x: np.sum(np.exp(x, where=[True, False])))(np.ones(2))
    with pytest.raises(ad.ThunkadError, match="copy"):
        ad.grad(lambda x: np.sum(np.nan_to_num(x, copy=False)))(np.ones(2))
    with pytest.raises(ad.ThunkadError, match="like"):
        ad.grad(lambda x: np.sum(np.asarray(x, like=x)))(np.ones(2))
