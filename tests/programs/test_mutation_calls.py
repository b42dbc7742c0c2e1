"""Functions and objects that change what they are given or hold: derivatives, values, what the caller sees."""

import pytest
import thunkad as ad
from checking import Program, check_program
from mutation_calls import PROGRAMS, REFUSED


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in REFUSED])
def test_calls_and_objects(name):
    text, args = PROGRAMS[name]
    check_program(Program(text, args).build(), args)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused(name):
    text, args = PROGRAMS[name]
    with pytest.raises((ad.UnsupportedSyntaxError, ad.NoRuleError, ad.RuleError)):
        ad.vjp(Program(text, args).build(), *args)
