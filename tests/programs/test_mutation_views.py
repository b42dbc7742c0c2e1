"""Writes through views and aliases, in loops and branches: derivatives, values, what the caller sees."""

import pytest
from checking import Program, check_program
from mutation_views import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_views(name):
    text, args = PROGRAMS[name]
    check_program(Program(text, args).build(), args)
