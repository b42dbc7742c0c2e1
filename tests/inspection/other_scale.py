"""A module with a global of the same name as one in ``source_programs``."""

SCALE = 10.0


def square(x):
    return x * x


def scaled(x):
    return square(x) * SCALE
