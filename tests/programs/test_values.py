"""Containers, named tuples, indices, methods, printing, losses, scalars, complex numbers, float32 and small shapes."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

import pytest

from checking import Program
from tables import VALUES, check, programs

Pair = namedtuple("Pair", "p q")
VALUES.update(Pair=Pair, OrderedDict=OrderedDict)

CONTAINERS = """
=== tuple_built_and_indexed | x = 0.7, y = 1.3
t = (x, y, x * y)
return t[0] * t[-1] + t[1:][0]
=== list_built_and_indexed | x = 0.7, y = 1.3
t = [x, y, x * y]
return t[0] * t[-1] + t[::2][1]
=== dict_built_and_indexed | x = 0.7, y = 1.3
d = {"a": x, "b": y, 3: x * y}
return d["a"] * d[3] + d["b"]
=== dict_spread_among_others | x = 1.5
given = {"a": x}
d = {**given, "s": "text"}
t = 0.0
for k in d:
    if k == "a":
        t = t + d[k] * x
return t
=== dict_spread_over_others | x = 0.7, y = 1.3
plain = {"a": 2.0}
d = {"a": x, **plain, "b": x * y}
e = {**d, **{"c": y}, "a": y * y}
return d["a"] * d["b"] + e["a"] * e["b"] * e["c"]
=== dict_spread_and_changed | x = 0.7, y = 1.3
first = {"a": x, "b": y}
second = {"a": y * y, **first, "b": x * x, "b": x * y}
second["c"] = second["a"] * 2.0
first["a"] = second["b"]
t = 0.0
for k in second:
    t = t + second[k] * second[k]
return t * first["a"] + first["b"]
=== dict_from_call | x = 0.7
d = dict(a=x, b=2.0)
return d["a"] * d["b"] + d.get("c", x) + d.get("a")
=== dict_merge | x = 0.7
d = {**{"a": x, "b": 2.0}, "b": x * x}
return d["a"] * d["b"]
=== nested | x = 0.7, y = A
s = {"p": [x, (y, x * 2)], "q": {"r": y}}
return s["p"][1][0] * s["p"][0] + s["q"]["r"] * s["p"][1][1]
=== starred_displays | x = 0.7, y = A
t = [x, *y, *(x, 2.0)]
return t[0] * t[2] + t[-2] + len(t)
=== concatenated | x = 0.7
t = (x,) + (x * 2, 3) + (x,) * 2
return t[1] * t[-1]
=== repeated_list | x = 0.7
return sum([x] * 3) + sum(2 * [x, 1.0])
=== list_of_tuple | x = 0.7, y = 1.3
t = list((x, y))
u = tuple(t)
return t[0] * u[1]
=== list_of_array | x = A
return list(x)[1] * tuple(x)[0]
=== length_and_membership | x = 0.7
t = [x, 2.0]
return x * len(t) if 2.0 in t else x
=== tuple_argument | t = (0.7, A)
return t[0] * t[1]
=== list_argument | t = [0.7, A, "text", None, 3]
return t[0] * t[1] * t[4]
=== dict_argument | d = dict(w = M, b = A, name = "layer")
return np.tanh(d["w"] + d["b"])
=== nested_argument | d = dict(layers = [(M, 0.3), (N, 1.2)], flag = True)
h = d["layers"][0][0]
for w, b in d["layers"][1:]:
    h = h @ w + b
return h
=== entry_unused | d = dict(a = 0.7, b = A)
return d["a"] * 2
=== unpacked_argument | t = (0.7, [1.3, A])
a, (b, c) = t
return a * b * c
=== key_computed | d = dict(a0 = 0.7, a1 = 1.3)
s = 0.0
for i in range(2):
    s = s + d["a" + str(i)] * (i + 1)
return s
=== result_dict | x = 0.7, y = A
return {"v": x * y, "n": {"m": (x, 2)}}
=== min_of_list | x = 0.7, y = 1.3
return min([x, y]) * max((x, y, 0.1))
=== sorted_list | x = 0.7, y = 1.3
a, b = sorted([y, x])
return a * a - b
=== zip_into_dict | x = A
d = dict(zip("abc", x))
return d["a"] * d["c"]
=== slice_of_tuple_unpacked | x = 0.7, y = 1.3
a, b = (x, y, x * y)[1:]
return a * a * b
=== ordered_dict | d = OrderedDict(a = 0.7, b = 1.3)
return d["a"] * d["b"]
=== any_all_of_list | x = 0.7
return x * x if any([x > 1, x > 0]) and all([True, x < 1]) else x
=== conditional_container | x = 0.7, y = 1.3
t = (x, y) if x > 0 else (y, x)
return t[0] * t[0] * t[1]
=== container_in_loop | x = 0.7
t = (x, 1.0)
for i in range(3):
    a, b = t
    t = (a * b, a + b)
return t[0] * t[1]
=== namedtuple_built | x = 0.7, y = 1.3
from collections import namedtuple
Pair = namedtuple("Pair", "p q")
def f(x, y):
    t = Pair(x, q=y)
    return t.p * t.q + t[0]
=== namedtuple_argument | t = Pair(0.7, A)
return t.p * t.q + t[1]
=== namedtuple_unpacked | t = Pair(0.7, A)
a, b = t
return a * b
=== namedtuple_replaced | x = 0.7
from collections import namedtuple
Pair = namedtuple("Pair", "p q")
def f(x):
    t = Pair(x, 2.0)
    u = Pair(t.q * x, t.p)
    return u.p * u.q
=== namedtuple_returned | x = 0.7
from collections import namedtuple
Pair = namedtuple("Pair", "p q")
def f(x):
    return Pair(x * x, [x])
"""

INDEXING = """
=== integer | x = A
return x[1] * x[-1]
=== two_integers | m = M
return m[1, 2] * m[0][1]
=== slice_ | x = A
return x[1:] * x[:-1]
=== slice_with_step | x = A
return x[::2] * x[::-2]
=== row_and_column | m = M
return m[0] * m[1] + m[:, 1][0]
=== block | m = M
return m[:, 1:] * m[1, :2]
=== ellipsis_ | m = M
return m[..., 0] * m[..., -1] + m[...][:, 1]
=== new_axis | x = A
return x[:, None] * x[np.newaxis, :]
=== fancy | x = A
return x[[2, 0, 2]] * 3
=== fancy_array | x = A
i = np.array([[0, 1], [2, 2]])
return x[i] * x[i.T]
=== fancy_pairs | m = M
return m[[0, 1, 1], [2, 0, 0]] ** 2
=== mixed | m = M
return m[1, [0, 2]] * m[:, [1, 1]]
=== mask | x = A
return x[x > 0] * 2
=== mask_of_matrix | m = M
return m[m > 0] ** 2
=== mask_computed | x = A, y = B
keep = (x > 0) | (y > 0)
return x[keep] * y[keep]
=== computed_index | x = A
k = int(np.argmax(x))
return x[k] * x[(k + 1) % 3]
=== index_in_loop | m = M
s = 0.0
for i in range(2):
    for j in range(3):
        s = s + m[i, j] * m[i, (j + 1) % 3]
return s
=== negative_step_slices | x = A
return x[2:0:-1] * x[:2]
=== slice_object | x = A
s = slice(1, None)
return x[s] * 2
=== tuple_index | m = M
i = (1, slice(0, 2))
return m[i] * 3
=== zero_index_of_number | x = np.array(0.7)
return x[()] * x[...]
=== empty_slice | x = A
return np.sum(x[3:]) + x[0]
=== take | x = A
return np.take(x, [0, 2]) * x.take(1)
=== nested_indexing | m = M
return m.T[1:][0][1] * m[0][::-1][0]
=== where_index | x = A
i = np.where(x > 0)[0]
return x[i] * 2
=== argsort | x = A
return x[np.argsort(x)] * np.arange(3)
=== index_of_expression | x = A, y = B
return (x * y)[1] * (x + y)[1:][0]
=== bool_scalar_index | x = A
return x[True][0] * 2
=== same_element_twice | x = A
return x[0] * x[0] + x[0]
=== diagonal | s = S
return np.diag(s) * s[np.arange(3), np.arange(3)] + np.diagonal(s)
=== shape_unpacked | m = M
r, c = m.shape
return m[r - 1, c - 1] * r
"""

METHODS = """
=== reductions | m = M
return m.sum() + m.mean() * m.max() - m.min() + m.prod()
=== axes | m = M
return m.sum(axis=0) * m.mean(0) + m.max(axis=0, keepdims=True)
=== transposes | m = M
return m.T @ m + m.transpose() @ m.transpose(0, 1)
=== reshapes | m = M
return m.reshape(3, 2) @ m.ravel()[:2] + m.reshape(-1)[:3] + m.flatten()[3:]
=== statistics | x = A
return x.std() + x.var(ddof=1)
=== dots | m = M, n = N
return m.dot(n) + n.T.dot(m.T)
=== copies | x = A
return x.copy() * x.astype(float)
=== item | x = A
return x.item(1) * x[2].item()
=== shapes | m = M
return m * m.shape[0] + m.ndim * m.size
=== cumulative | x = A
return x.cumsum() * x.cumprod()
=== clipped | x = A
return x.clip(-0.2, 1.0) * x.round(1)
=== repeated | x = A
return x.repeat(2)[1:5] * np.tile(x, 2)[:4]
=== squeezed | x = A
return x[None].squeeze() * x[:, None].squeeze(1)
=== swapped | m = M
return m.swapaxes(0, 1) * 2
=== traced | s = S
return s.trace() * s.diagonal()
=== chained | m = M
return m.T.reshape(2, 3).sum(axis=1).cumsum()[1]
=== of_expression | x = A, y = B
return (x * y).sum() * (x + y).mean()
=== of_index | m = M
return m[0].sum() * m[:, 1].max()
=== bound_method | x = A
total = x.sum
return total() * x
=== sorted_ | x = A
return np.sort(x) * x.argsort()
=== object_argument | x = 0.7
class Scale:
    def __init__(self, k):
        self.k = k
    def __call__(self, t):
        return t * self.k
scale = Scale(3.0)
def f(x):
    return scale(x) * scale.k
=== method_of_object | x = 0.7
class Model:
    power = 2
    def energy(self, t):
        return self.square(t) * self.power
    def square(self, t):
        return t * t
    @property
    def gain(self):
        return 3.0
    @staticmethod
    def half(t):
        return t / 2
    @classmethod
    def scaled(cls, t):
        return t * cls.power
model = Model()
def f(x):
    return model.energy(x) * model.half(x) + model.scaled(x)
=== string_methods | x = 0.7
return x * len("a b c".split()) if "abc".upper() == "ABC" else x
"""

PRINTING = """
=== print_ | x = 0.7
print("x is", x > 0, sep=": ")
return x * x
=== print_value | x = 0.7
y = x * 2
print(y)
return y
=== f_string | x = 0.7
name = f"{'a'!r:>5}|{3:04d}"
print(name, f"{x:.2f}")
return x * len(name)
=== f_string_of_computed | x = 0.7
y = x * x
print(f"{y=:.3f} {y > 0}")
return y
=== percent_format | x = 0.7
print("%.3f and %s" % (x, "text"))
return x * 2
=== print_in_loop | x = A
for i, e in enumerate(x):
    print(i, e > 0)
return x
=== print_in_unused_branch | x = 0.7
if x > 1:
    print("never")
else:
    print("always")
return x
=== assert_true | x = 0.7
assert x > 0
assert x < 1, f"too large: {x}"
return x * x
=== assert_false | x = 0.7
assert x > 1, f"too small: {x:.2f}"
return x * x
=== assert_without_message | x = 0.7
y = x * 2
assert y < 1
return y
=== assert_message_evaluated | x = 0.7
def message():
    print("made")
    return "m"
assert x > 0, message()
assert x < 0, message()
return x
=== raise_ | x = 0.7
if x > 0:
    raise ValueError("positive", 3)
return x
=== raise_class | x = 0.7
if x > 0:
    raise KeyError
return x
=== raise_from | x = 0.7
raise RuntimeError("late") from ValueError("cause")
=== raise_in_callee | x = 0.7
def g(t):
    if t > 1:
        raise ArithmeticError(f"bad {t:.1f}")
    return t
def f(x):
    return g(x) + g(x + 1)
=== raise_after_print | x = 0.7
print("before")
y = x * x
raise OverflowError(str(y > 0))
=== raise_in_loop | x = A
for e in x:
    if e < 0:
        raise ValueError("negative entry")
return x
=== raise_unless | x = 0.7
if x < 0:
    raise ValueError("negative")
return np.sqrt(x)
=== division_by_zero | x = 0.7
return x / 0
=== index_error | x = A
return x[5]
=== key_error | x = 0.7
return {"a": x}["b"]
=== type_error | x = 0.7
return x + "a"
=== attribute_error | x = 0.7
return x.nothing
=== name_error | x = 0.7
return x * nothing
=== shape_error | x = A
return x + np.ones(2)
=== matmul_error | m = M
return m @ m
=== unpack_too_few | x = 0.7
a, b = (x,)
return a
=== unpack_too_many | x = A
a, b = x
return a
=== wrong_arguments | x = 0.7
def g(a):
    return a
def f(x):
    return g(x, x)
=== domain_error | x = -0.7
return math.sqrt(x)
=== linalg_error | x = 0.0
return np.linalg.inv(np.array([[x, x], [x, x]]))
=== own_exception | x = 0.7
class Bad(Exception):
    pass
def f(x):
    raise Bad("own")
=== not_callable | x = 0.7
return x(2)
=== not_iterable | x = 0.7
for e in x:
    pass
return x
"""

LOSSES = """
=== linear_regression | w = A, b = 0.3
x = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])
y = np.array([0.7, -0.2])
r = x @ w + b - y
return np.mean(r ** 2) + 0.1 * np.sum(w ** 2)
=== logistic | w = A, b = 0.3
x = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])
y = np.array([1.0, 0.0])
p = 1 / (1 + np.exp(-(x @ w + b)))
return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
=== softmax | w = N
x = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])
z = x @ w
z = z - np.max(z, axis=1, keepdims=True)
logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
return -np.mean(logp[np.arange(2), [1, 0]])
=== two_layers | p = dict(w1 = N, b1 = np.array([0.1, -0.2]), w2 = np.array([0.4, -1.1]), b2 = 0.3)
x = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])
h = np.tanh(x @ p["w1"] + p["b1"])
return np.sum((h @ p["w2"] + p["b2"]) ** 2)
=== relu_layers | layers = [(N, 0.2), (np.array([[0.3, 1.2], [-0.7, 0.4]]), -0.1)]
h = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])
for w, b in layers:
    h = np.maximum(h @ w + b, 0)
return np.sum(h ** 2)
=== huber | x = A
total = 0.0
for e in x:
    a = abs(e)
    if a < 1:
        total = total + 0.5 * a * a
    else:
        total = total + a - 0.5
return total
=== gaussian | x = A, mu = 0.3, s = 1.2
z = (x - mu) / s
return np.sum(0.5 * z * z + np.log(s) + 0.5 * np.log(2 * np.pi))
=== recurrent | w = S, h = A
for t in range(4):
    h = np.tanh(w @ h + t * 0.1)
return np.sum(h * h)
=== euler | y = A, k = 0.3
dt = 0.1
for step in range(5):
    y = y + dt * (-k * y + np.sin(step * dt))
return np.sum(y)
=== attention | q = M, k = M, v = N
s = q @ k.T / np.sqrt(q.shape[1])
a = np.exp(s) / np.sum(np.exp(s), axis=1, keepdims=True)
return a @ v.T[:, :2]
=== distances | m = M
d = m[:, None, :] - m[None, :, :]
return np.sum(np.sqrt(np.sum(d * d, axis=-1) + 1e-3))
=== kernel | x = A, length = 0.7
d = x[:, None] - x[None, :]
k = np.exp(-0.5 * (d / length) ** 2) + 0.1 * np.eye(3)
return 0.5 * np.log(np.linalg.det(k)) + 0.5 * x @ np.linalg.solve(k, x)
=== quadratic_form | s = S, x = A
return x @ s @ x + np.trace(s) + np.linalg.det(s)
=== power_iteration | s = S
v = np.ones(3)
for i in range(5):
    v = s @ v
    v = v / np.linalg.norm(v)
return v @ s @ v
=== gradient_descent_inside | lr = 0.1
x = 2.0
for i in range(5):
    x = x - lr * 2 * x
return x * x
=== normalised | x = A
return (x - x.mean()) / (x.std() + 1e-5)
=== convolution | x = A, k = np.array([0.3, -1.1])
return np.convolve(x, k)
=== polynomial | c = A, x = 0.7
return sum([c[i] * x ** i for i in range(len(c))])
"""

SCALARS = """
=== numpy_scalar | x = np.float64(0.7)
return x * x + np.sin(x)
=== mixed_scalars | x = np.float64(0.7), y = 1.3
return x * y + y ** x
=== math_and_cmath_free | x = 0.7
return math.hypot(x, 1.0) + math.atan2(x, 2.0) + math.log1p(x) + math.expm1(x) + math.tanh(x) + math.erf(x)
=== int_to_float | k = 3
return k * 2
=== float_division_of_ints | x = 0.7
return x * (3 / 2) + x * (3 // 2)
=== fractions_of_powers | x = 0.7
return x ** 0.5 + x ** (1 / 3) + 2.0 ** x
=== abs_and_sign | x = -0.7
return abs(x) + np.abs(x) * np.sign(x) + math.fabs(x)
=== comparisons_as_numbers | x = 0.7
return x * float(x > 0) + x * int(x < 0)
=== scalar_from_array | x = A
return float(x[0]) * 2 + float(np.sum(x))
=== number_to_array_and_back | x = 0.7
return np.array([x, x * 2]).sum() * np.asarray(x)[()]
=== large_ints | x = 0.7
return x * 10 ** 12 / 10 ** 12
=== rounding | x = 1.7
return x * math.floor(x) + np.floor(x) * x + round(x, 1) * 0
"""

COMPLEX = """
=== python_complex | z = 0.3 + 0.7j
return z * z + 1 / z
=== array | z = Z
return z * z - np.exp(z)
=== conjugate | z = Z
return np.conj(z) * z + z.conjugate()
=== parts | z = Z
return z.real * z.imag + np.real(z) * np.imag(z) + np.abs(z)
=== angle | z = Z
return np.angle(z)
=== real_times_complex | x = A, z = Z
return x * z
=== complex_of_parts | x = A, y = B
return x + 1j * y
=== real_result | x = A, z = Z
return np.sum(np.abs(x * z) ** 2)
=== matmul | z = Z, x = S
return x @ z
=== fft | x = A
return np.fft.fft(x)
=== loop | z = 0.3 + 0.7j
for i in range(3):
    z = z * z + 0.1
return z
=== branch | z = 0.3 + 0.7j
return z * 2 if z.real > 0 else z
=== builtin_complex | x = 0.7, y = 1.3
return complex(x, y) * 2j
"""

FLOAT32 = """
=== product | x = F, y = G
return x * y
=== functions | x = F
return np.tanh(x) * 2 + np.exp(x)
=== reductions | x = F, y = G
return np.sum(x * y) * np.mean(x)
=== with_python_number | x = F, k = 0.5
return x * k + k
=== loop | x = F
for i in range(3):
    x = x * x + np.float32(0.1)
return x
=== indexing | x = F
return x[1:] * x[:-1]
=== scalar | x = np.float32(0.7)
return x * x
=== mixed_with_double | x = F, y = B
return x * y
=== matmul | x = F, y = G
return np.outer(x, y) @ x
"""

SHAPES = """
=== zero_d | x = np.array(0.7)
return x * x + np.sin(x)
=== zero_d_and_number | x = np.array(0.7), y = 1.3
return x * y
=== zero_d_in_loop | x = np.array(0.7)
for i in range(3):
    x = x * 1.5 + i
return x
=== one_element | x = np.array([0.7])
return x * x
=== one_by_one | x = np.array([[0.7]])
return x @ x + x
=== one_element_broadcast | x = np.array([0.7]), y = A
return x * y
=== empty | x = np.zeros(0)
return np.sum(x * x) + 0.0
=== empty_matrix | m = np.zeros((0, 3)), x = A
return m @ x
=== empty_loop | x = np.zeros(0), y = 0.7
for e in x:
    y = y * e
return y * 2
=== row_and_column | x = A
return x.reshape(1, 3) + x.reshape(3, 1)
=== three_axes | x = np.arange(8.0).reshape(2, 2, 2) + 0.5
return x.sum(axis=1) * x[:, 0] + x.transpose(2, 0, 1)[0]
=== stacked_zero_d | x = 0.7
return np.stack([np.asarray(x), np.asarray(x * 2)])
=== scalar_from_zero_d | x = np.array(0.7)
return x[()] * 3 + float(x)
=== broadcast_to | x = 0.7
return np.broadcast_to(x, (2, 3)) * 1.0
=== fortran_order | m = np.asfortranarray(M)
return m * m.T.T
=== strided | x = np.arange(6.0)[::2] + 0.3
return x * x
"""


@pytest.mark.parametrize("program", programs(CONTAINERS))
def test_containers(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(INDEXING))
def test_indexing(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(METHODS))
def test_methods_and_attributes(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(PRINTING))
def test_printing_asserting_raising(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(LOSSES))
def test_losses(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(SCALARS))
def test_scalars(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(COMPLEX))
def test_complex(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(FLOAT32))
def test_float32(program: Program) -> None:
    check(program, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("program", programs(SHAPES))
def test_small_shapes(program: Program) -> None:
    check(program)
