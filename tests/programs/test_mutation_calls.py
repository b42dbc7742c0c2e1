"""Functions and objects that change what they are given or hold: derivatives, values, what the caller sees."""

import pytest
from checking import Program, check_program
from mutation_calls import PROGRAMS, REFUSED


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in REFUSED])
def test_calls_and_objects(name):
    text, args = PROGRAMS[name]
    check_program(Program(text, args).build(), args)
