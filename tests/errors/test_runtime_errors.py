"""What the user's function raises comes out of its derivatives as it is, with the user's file, line and text.

Each program is run as it stands first; its derivative has to raise the same type with the same message, and to name the
line that the plain run names: in a note (Python 3.11), in a cause (3.10), or because the user's own frame is there.
(PYTEST_DONT_REWRITE: an assertion should say here what it says in Python.)
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import thunkad as ad

V = np.array([0.3, -0.7, 1.1])
W = np.array([1.0, 2.0])
M = np.arange(6.0).reshape(2, 3) + 1.0


# ---------------------------------------------------------------- programs


def matmul_of_wrong_shapes(x):
    y = np.sin(x)
    return np.sum(M @ M * y)


def sum_of_wrong_shapes(x):
    y = x * 2.0
    z = y + W
    return np.sum(z)


def product_of_wrong_shapes_that_is_not_needed(x):
    np.multiply(x, W)
    return np.sum(x)


def reshape_that_does_not_fit(x):
    y = x.reshape(2, 2)
    return np.sum(y)


def concatenate_of_other_axes(x):
    y = np.concatenate([x, M], axis=0)
    return np.sum(y)


def index_out_of_range(x):
    y = x * x
    return y[7] * 2.0


def index_of_a_list_out_of_range(x):
    parts = [x[0], x[1]]
    return parts[2] * 2.0


def index_of_a_tuple_out_of_range(x):
    parts = (x[0], x[1])
    k = int(x.size)
    return parts[k] * 2.0


def a_key_that_is_missing(x):
    parameters = {"w": x, "b": 1.0}
    return np.sum(parameters["w"]) + parameters["c"]


def a_key_that_is_missing_in_a_loop(x):
    parameters = {"a": x[0], "b": x[1]}
    total = 0.0
    for name in ("a", "b", "d"):
        total = total + parameters[name] ** 2
    return total


def pop_from_an_empty_list(x):
    stack = [x[0]]
    stack.pop()
    return stack.pop() * x[1]


def an_attribute_that_is_missing(x):
    holder = Holder(x)
    return np.sum(holder.values) * holder.scale


def append_inside_an_object(x):
    holder = Holder(x)
    return take_third(holder)


def take_third(holder):
    holder.seen.append(holder.values[0])
    return holder.seen[3] * 2.0


def unpack_of_too_few(x):
    a, b = x
    return a * b


def unpack_of_too_many(x):
    a, b, c, d = [x[0], x[1], x[2]]
    return a * b * c * d


def a_name_that_is_not_bound(x):
    if x[0] > 100.0:
        y = x * 2.0
    return np.sum(y)


def a_global_that_is_missing(x):
    y = x * 2.0
    return np.sum(y) * nowhere_to_be_found  # noqa: F821


def division_by_zero(x):
    n = x.size - 3
    return float(x[0]) / n


def log_of_a_negative_number(x):
    import math

    y = float(x[1])
    return math.log(y) * x[0]


def raise_at_the_top(x):
    if x[1] < 0.0:
        raise ValueError(f"not positive: {x[1]}")
    return np.sum(x)


def raise_in_a_callee(x):
    y = x * 2.0
    return checked(y) + 1.0


def checked(y):
    z = np.sum(y)
    return refuse_large(z * z)


def refuse_large(z):
    if z > 0.1:
        raise Refused("too large", 3)
    return z


def raise_in_a_loop(x):
    total = 0.0
    for k in range(x.size):
        if k == 2:
            raise RuntimeError(f"step {k}")
        total = total + x[k] ** 2
    return total


def raise_in_a_while_loop(x):
    k, total = 0, 0.0
    while True:
        total = total + x[k] ** 2
        k += 1
    return total


def raise_in_a_comprehension(x):
    parts = [refuse_negative(v) * 2.0 for v in x]
    return sum(parts)


def refuse_negative(v):
    if v < 0.0:
        raise ValueError("negative")
    return v * v


def raise_in_a_lambda(x):
    f = lambda v: v[5] * 2.0  # noqa: E731
    return f(x) + x[0]


def raise_in_an_inner_function(x):
    def inner(k):
        return x[k] * 2.0

    return inner(0) + inner(9)


def raise_from_another(x):
    try:
        y = x[9]
    except IndexError as error:
        raise LookupError("no ninth") from error
    return y


def an_assertion(x):
    assert x[0] > 1.0, "the first must be larger"
    return np.sum(x)


def wrong_number_of_arguments(x):
    return refuse_negative(x[0], 2.0)


def not_callable(x):
    f = 3.0
    return f(x)


def not_iterable(x):
    total = 0.0
    for v in x[0]:
        total = total + v
    return total


def a_string_plus_a_number(x):
    y = x[0] * 2.0
    return y + "1"


def linear_algebra_error(x):
    a = np.outer(x, np.zeros(3))
    return np.sum(np.linalg.inv(a))


def store_out_of_range(x):
    y = np.zeros(2)
    y[2] = x[0]
    return np.sum(y)


def store_of_a_wrong_shape(x):
    y = np.zeros((3, 2))
    y[0] = x
    return np.sum(y)


def update_of_a_wrong_shape(x):
    y = np.ones(2)
    y += x
    return np.sum(y)


def raise_in_a_method(x):
    return Holder(x).at(5) * 2.0


def raise_in_a_function_found_when_it_runs(x):
    table = {"f": refuse_negative}
    return table["f"](x[1]) * 2.0


def raise_in_a_helper_without_derivative(x):
    return np.sum(x) * steps_of("many")


def steps_of(text):
    return int(text)


class Refused(Exception):
    def __init__(self, message, code):
        super().__init__(message, code)
        self.code = code


@dataclass
class Holder:
    values: Any
    seen: list = field(default_factory=list)

    def at(self, k):
        return self.values[k]


PROGRAMS = [
    matmul_of_wrong_shapes, sum_of_wrong_shapes, product_of_wrong_shapes_that_is_not_needed, reshape_that_does_not_fit,
    concatenate_of_other_axes, index_out_of_range, index_of_a_list_out_of_range, index_of_a_tuple_out_of_range,
    a_key_that_is_missing, a_key_that_is_missing_in_a_loop, pop_from_an_empty_list, an_attribute_that_is_missing,
    append_inside_an_object, unpack_of_too_few, unpack_of_too_many, a_name_that_is_not_bound, a_global_that_is_missing,
    division_by_zero, log_of_a_negative_number, raise_at_the_top, raise_in_a_callee, raise_in_a_loop,
    raise_in_a_while_loop, raise_in_a_comprehension, raise_in_a_lambda, raise_in_an_inner_function, raise_from_another,
    an_assertion, wrong_number_of_arguments, not_callable, not_iterable, a_string_plus_a_number, linear_algebra_error,
    store_out_of_range, store_of_a_wrong_shape, update_of_a_wrong_shape, raise_in_a_method,
    raise_in_a_function_found_when_it_runs, raise_in_a_helper_without_derivative,
]  # fmt: skip

MODES = {
    "grad": lambda f: ad.grad(f)(V),
    "value_and_grad": lambda f: ad.value_and_grad(f)(V),
    "vjp": lambda f: ad.vjp(f, V),
    "jvp": lambda f: ad.jvp(f, (V,), (np.ones(3),)),
    "linearize": lambda f: ad.linearize(f, V),
    "jacobian": lambda f: ad.jacobian(f)(V),
    "hessian": lambda f: ad.hessian(f)(V),
    "inside": lambda f: ad.grad(lambda x: 2.0 * f(x) + x[0])(V),
    "late": lambda f: ad.grad(lambda x: {"f": f}["f"](x) + x[0])(V),
}


# The Hessian is zero whatever is there: what no derivative needs is not run.
NOT_RUN = {("a_name_that_is_not_bound", "hessian")}
# Without that, it returns None, of which there is no Hessian.
WITHOUT_RESULT = {("raise_in_a_while_loop", "hessian")}

# ---------------------------------------------------------------- the comparison


def user_frames(error):
    """(line, text) of the frames of this file, the outermost first."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == __file__]
    return [(f.lineno, (f.line or "").strip()) for f in frames]


def raised(run):
    try:
        run()
    except Exception as error:
        return error
    return None


def named_places(error):
    """What the notes of ``error`` or (3.10) its causes say."""
    notes = list(getattr(error, "__notes__", ()))
    cause = error.__cause__
    while cause is not None:
        notes += [str(cause), *getattr(cause, "__notes__", ())]
        cause = cause.__cause__
    return notes


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_an_error_comes_out_as_it_is(program, mode):
    plain = raised(lambda: program(V))
    assert plain is not None
    found = raised(lambda: MODES[mode](program))
    case = program.__name__, mode
    if case in NOT_RUN:
        assert found is None
        return
    assert found is not None, "no error at all"
    if case in WITHOUT_RESULT:
        assert isinstance(found, ad.NonScalarOutputError)
        return
    assert type(found) is type(plain), "".join(traceback.format_exception(found))
    assert str(found) == str(plain)
    assert found.args == plain.args
    line, text = user_frames(plain)[-1]
    there = [note for note in named_places(found) if f'File "{__file__}", line {line}' in note and text in note]
    own = (line, text) in user_frames(found)
    assert there or own, f"line {line}: {text}\n" + "".join(traceback.format_exception(found))
    if plain.__cause__ is not None:
        assert type(found.__cause__) is type(plain.__cause__)
