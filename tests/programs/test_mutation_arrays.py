"""In-place writes into arrays: derivatives, values, what the caller sees, exceptions."""

import pytest
from checking import Program, check_program
from mutation_arrays import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_in_place(name):
    text, args = PROGRAMS[name]
    check_program(Program(text, args).build(), args)
