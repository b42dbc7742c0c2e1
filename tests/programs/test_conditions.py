"""Branches, comparisons, boolean operators and conditional expressions."""

from __future__ import annotations

import pytest

from checking import Program
from tables import check, programs

TABLE = """
=== taken | x = 0.7
if x > 0:
    y = x * x
else:
    y = -x
return y
=== not_taken | x = -0.7
if x > 0:
    y = x * x
else:
    y = -x * 3
return y
=== without_else | x = -0.7
y = x
if x > 0:
    y = x * x
return y * 2
=== elif_chain | x = 0.7
if x > 2:
    y = x
elif x > 1:
    y = x * 2
elif x > 0.5:
    y = x ** 3
else:
    y = 0.0
return y
=== nested | x = 0.7, y = 1.3
if x > 0:
    if y > 1:
        z = x * y
    else:
        z = x
    z = z * 2
else:
    z = y
return z + x
=== both_arms_return | x = 0.7
if x > 0:
    return x * x
else:
    return x
=== return_then_code | x = -0.7
if x > 0:
    return x * x
y = x * 3
return y
=== returns_of_several_types | x = A, y = 0.3
if y > 1:
    return x
return y
=== may_fall_off_the_end | x = 0.7
if x > 0.5:
    return x * x
=== arm_without_return | x = 0.7
y = 0.0
if x > 0.5:
    y = y + x
if x > 0.6:
    y = y * x
if x > 0.8:
    y = y + 100.0
return y
=== variable_of_one_arm | x = 0.7
if x > 0:
    t = x * 2
if x > 0:
    x = x * t
return x
=== variable_rebound_in_arm | x = 0.7
t = x
if x > 0:
    t = t * t
    t = t * x
return t
=== constant_or_active | x = 0.7
t = 1.0 if x > 5 else x
return t * x
=== number_or_array | x = A, y = 0.3
t = x if y > 1 else y
return t * x
=== conditional_expression | x = 0.7, y = 1.3
return (x if x > y else y) * (x * 2 if x < y else 1)
=== nested_conditional_expression | x = 0.7
return x if x > 1 else x ** 2 if x > 0.5 else x ** 3
=== chained_comparison | x = 0.7, y = 1.3
return x * y if 0 < x < y < 2 else x
=== chained_comparison_false | x = 0.7, y = 1.3
return x * y if 0 < x < 0.5 < y else x
=== chained_evaluated_once | x = 0.7
def side(v):
    print("side")
    return v
return x if 0 < side(x) < 1 else -x
=== chained_stops | x = 0.7
def side(k, v):
    print(k)
    return v
return x if 1 < side("a", x) < side("b", 2) else -x
=== comparisons | x = 0.7, y = 1.3
return x * (x < y) + y * (x <= y) + (x == 2.5) * x - (x != y) * y + (x > y) * 9 + (x >= 0.6) * x
=== is_none | x = 0.7
y = None
if y is None:
    y = x * x
return y if y is not None else x
=== membership | x = 0.7
return x * 2 if "a" in ("a", "b") and "c" not in {"d": 1} else x
=== and_value | x = 0.7, y = 1.3
return (x and y) * x
=== or_value | x = 0.7, y = 1.3
return (x or y) * y
=== and_of_zero | x = 0, y = 1.3
return (x and y * 5) + y
=== or_of_zero | x = 0, y = 1.3
return (x or y) * y
=== and_or_chain | x = 0.7, y = 1.3
return (x > 0 and y > 2 and x) or (x and y and x * y)
=== short_circuit | x = 0.7
return x if x > 0 or undefined_name else -x
=== not_operator | x = 0.7
return x if not x > 1 else -x
=== not_of_container | x = 0.7
return x * (3 if not [] else 2)
=== truth_of_number | x = 0.7
if x:
    return x * x
return 0.0
=== truth_of_list | x = 0.7
items = [x]
if items:
    x = items[0] * 2
return x
=== array_condition | x = A
if np.sum(x) > 0:
    return x * x
return -x
=== any_all | x = A
if np.any(x > 1) and not np.all(x > 0):
    return np.sum(x ** 3)
return np.sum(x)
=== kink_by_hand | x = -0.7
return x if x > 0 else 0.1 * x
=== flag | x = 0.7, flag = True
return x * 2 if flag else x * 3
=== string_switch | x = 0.7, kind = "cube"
if kind == "square":
    return x ** 2
elif kind == "cube":
    return x ** 3
raise ValueError(kind)
=== isinstance_switch | x = 0.7
if isinstance(x, float):
    return x * x
return x
=== shape_switch | m = M
if m.ndim == 2 and m.shape[0] == 2:
    m = m.T
return m * m
=== condition_on_computed | x = 0.7
y = x * 2
if y > 1 and (z := y * x) < 1:
    return z * y
return y
=== same_name_in_arms | x = 0.7, y = 1.3
if x > y:
    a, b = x, y
else:
    a, b = y, x
return a * a - b
=== deep_ifs | x = 0.7
y = x
if x > 0.1:
    y = y * x
    if x > 0.2:
        y = y + x
        if x > 0.3:
            y = y * y
            if x > 5:
                return 0.0
        else:
            return y
    else:
        y = 1
return y
=== unbound_raises | x = 0.7
if x > 5:
    y = x
return y
=== assert_holds | x = 0.7
assert x > 0, "positive"
return x * x
=== conditional_callee | x = 0.7
g = np.sin if x > 0 else np.cos
return g(x)
=== conditional_lambda | x = 0.7
g = (lambda t: t * t) if x > 0 else (lambda t: t)
return g(x)
"""


@pytest.mark.parametrize("program", programs(TABLE))
def test_conditions(program: Program) -> None:
    check(program)
