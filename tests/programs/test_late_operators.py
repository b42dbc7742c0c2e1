"""Operators on numbers that are found when the code runs: values, errors and derivatives are those of Python's own."""

from __future__ import annotations

import numpy as np
import pytest
import thunkad as ad

from checking import Program, check_program

HEAD = """
class Cell:
    def __init__(self, s):
        self.s = s
def change(c):
    c.s = c.s * 1
def f(s):
    p, k = Cell(s), Cell(3)
    change(p)
    change(k)
    return """

EXPRESSIONS = (
    "p.s / (s - s)", "p.s ** 0.5 + p.s * 2", "(-p.s) ** 0.5", "p.s ** -2", "2 ** p.s - p.s // 0.2", "p.s % 0.2", "k.s ** -1 * p.s",
    "k.s // 2 * p.s + k.s % 2", "True + p.s", "(p.s > 0.1, p.s == s, -p.s, p.s - 1, k.s * 2)", "0.0 ** -p.s",
)  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("number", [0.3, np.float32(0.3)])
def test_value_and_derivative(expression: str, number: float) -> None:
    f = Program(HEAD + expression, ()).build()
    single = isinstance(number, np.float32)
    check_program(f, (number,), 1e-4 if single else 2e-6, 1e-5 if single else 2e-7, kinks=True)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_forward_mode_has_the_value(expression: str) -> None:
    f = Program(HEAD + expression, ()).build()
    try:
        value = f(0.3)
    except ArithmeticError as error:
        with pytest.raises(type(error)):
            ad.jvp(f, (0.3,), (1.0,))
        return
    found = ad.jvp(f, (0.3,), (1.0,))[0]
    parts, wanted = (found, value) if isinstance(value, tuple) else ((found,), (value,))
    assert [(type(x), x) for x in parts] == [(type(x), x) for x in wanted]


def test_second_derivative_of_a_complex_root() -> None:
    f = Program(HEAD + "np.real(p.s ** 0.5 * 1j)", ()).build()
    assert np.isclose(ad.hessian(f)(-0.3), 0.25 * 0.3**-1.5)  # of -sqrt(-s)


METHODS = {
    "of_a_number": "getattr(s, 'conj' + 'ugate')() * s",
    "held": "[s.conjugate][0]() * s",
    "of_a_complex_number": "abs(getattr(complex(s, 2.0 * s), 'conj' + 'ugate')()) * s",
    "of_a_dict": "getattr({'a': s}, 'g' + 'et')('a') * s",
    "of_an_array": "getattr(np.array([s, s * s]), 's' + 'um')() * s",
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_built_in_classes_that_are_values(name: str) -> None:
    f = Program(HEAD + METHODS[name], ()).build()
    check_program(f, (0.3,))
    slope = (f(0.3 + 1e-6) - f(0.3 - 1e-6)) / 2e-6
    assert ad.jvp(f, (0.3,), (1.0,))[1] == pytest.approx(slope, rel=1e-7)
    assert ad.hessian(f)(0.3) == pytest.approx((ad.grad(f)(0.3 + 1e-6) - ad.grad(f)(0.3 - 1e-6)) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("text", ["[s.__abs__][0]()", "[s.__neg__][0]()", "sum([(s, 2.0).__iter__][0]())"])
def test_methods_of_built_in_classes_without_a_rule_are_refused(text: str) -> None:
    with pytest.raises(ad.ThunkadError):
        ad.grad(Program(HEAD + text, ()).build())(0.3)


CHANGES = ["[a.sort][0]()", "{'f': a.fill}['f'](s)", "m = [a, a.put][1]\n    m([0], s)", "getattr(a, 'so' + 'rt')()"]


@pytest.mark.parametrize("text", [*CHANGES, "[xs.append][0](s)"])
def test_methods_that_change_their_owner_and_are_values_are_refused(text: str) -> None:
    head = "import numpy as np\ndef f(s):\n    a, xs = np.array([s, s * s]), [s]\n    "
    with pytest.raises(ad.NoRuleError):
        ad.grad(Program(f"{head}{text}\n    return a[0] * s + xs[-1]", ()).build())(0.3)
