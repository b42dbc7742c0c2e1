"""Containers that nothing else leads to keep what is known of the classes of their entries."""

import numpy as np
import pytest

import thunkad as ad


class Scaled:
    def __init__(self, value, by=2.0):
        self.value, self.by, self.log = value, by, []

    def grow(self):
        self.value = self.value * self.by
        self.log.append(self.by)
        return self

    @property
    def square(self):
        return self.value**2

    def half(self):
        return 0.5 * self.value


class Other(Scaled):
    @property
    def square(self):
        return self.value**3

    def half(self):
        return 0.25 * self.value


def of_a_display(x):
    parts = [Scaled(x), Scaled(2.0 * x)]
    for p in parts:
        p.grow()
    return sum(p.square for p in parts)


def of_a_comprehension(x):
    parts = [Scaled(k * x) for k in range(3)]
    for i, p in enumerate(parts):
        p.grow()
        parts[i].grow()
    return sum(p.square * p.half() for p in parts)


def of_a_dict(x):
    parts = {k: Scaled(k * x) for k in range(1, 3)}
    for p in parts.values():
        p.grow()
    return parts[1].square + parts[2].half() + sum(p.square for _, p in parts.items())


def appended(x):
    parts = []
    for k in range(3):
        parts.append(Scaled(k * x).grow())
    parts[-1].grow()
    return max(parts, key=lambda p: p.value).square + len(parts)


PRIVATE = [of_a_display, of_a_comprehension, of_a_dict, appended]


def stored_later(x):
    parts = [Scaled(x), Scaled(2.0 * x)]
    parts[0].grow()
    parts[1] = Other(x)
    return sum(p.square * p.half() for p in parts)


def stored_in_a_copy(x):
    parts = [Scaled(x), Scaled(2.0 * x)]
    same = parts
    parts[0].grow()
    same[1] = Other(x)
    return sum(p.square * p.half() for p in parts)


def appended_to_a_copy(x):
    parts = [Scaled(x)]
    same = parts
    parts[0].grow()
    same.append(Other(x))
    return sum(p.square * p.half() for p in parts)


def replaced_by_a_callee(x):
    def replace(xs):
        xs[0] = Other(xs[0].value)

    parts = [Scaled(x), Scaled(2.0 * x)]
    parts[1].grow()
    replace(parts)
    return sum(p.square * p.half() for p in parts)


class Holder:
    def __init__(self, parts):
        self.parts = parts

    def replace(self):
        self.parts[0] = Other(self.parts[0].value)


def replaced_by_a_holder(x):
    parts = [Scaled(x), Scaled(2.0 * x)]
    holder = Holder(parts)
    holder.replace()
    return sum(p.square * p.half() for p in parts)


def replaced_in_a_closure(x):
    parts = [Scaled(x), Scaled(2.0 * x)]

    def replace():
        parts[0] = Other(parts[0].value)

    parts[1].grow()
    replace()
    return sum(p.square * p.half() for p in parts)


def extended(x):
    parts = [Scaled(x)]
    parts[0].grow()
    parts += [Other(x)]
    parts.extend([Other(x)])
    parts.insert(0, Other(3.0 * x))
    return sum(p.square * p.half() for p in parts)


def carried(x):
    parts, others = [Scaled(x)], [Other(x)]
    for _ in range(3):
        parts[0].grow()
        parts, others = others, parts
    return parts[0].square + others[0].half()


def replaced_inside(x):
    rows = [[Scaled(x)], [Scaled(2.0 * x)]]
    for row in rows:
        row[0].grow()
        row[0] = Other(row[0].value)
    return sum(p.square * p.half() for row in rows for p in row)


OPEN = [
    stored_later,
    stored_in_a_copy,
    appended_to_a_copy,
    replaced_by_a_callee,
    replaced_by_a_holder,
    replaced_in_a_closure,
    extended,
    carried,
    replaced_inside,
]


@pytest.mark.parametrize("f", PRIVATE + OPEN)
def test_derivatives(f):
    x = 1.3
    expected = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    assert ad.value_and_grad(f)(x)[0] == f(x)
    np.testing.assert_allclose(ad.grad(f)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(ad.jvp(f, (x,), (1.0,))[1], expected, rtol=1e-7)


@pytest.mark.parametrize("f", PRIVATE)
def test_methods_and_properties_of_entries_are_called_by_name(f):
    text = ad.adjoint_source(f, args=(1.3,))
    assert "grow_forward" in text and "square_forward" in text
    assert "pull_shared(getattr" not in text
