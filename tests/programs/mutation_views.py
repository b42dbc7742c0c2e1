"""Programs that write through views and aliases, in loops and branches."""

from __future__ import annotations

import numpy as np
from mutation_arrays import A, F, S, V, X, C

#: What is refused, with a rewrite in the message.
REFUSED = {"flat_item", "flat_fancy", "flat_all", "einsum_diag", "nan_to_num"}
PROGRAMS: dict[str, tuple[str, tuple]] = {}


def p(name: str, args: tuple, text: str) -> None:
    assert name not in PROGRAMS, name
    PROGRAMS[name] = text, args


def lines(name: str, args: tuple, params: str, body: str, result: str) -> None:
    first = params.split(",")[0]
    p(name, args, f"def f({params}):\n    y = {first} * 1.5\n" + "".join(f"    {x.strip()}\n" for x in body.split(";"))
      + f"    return {result}\n")  # fmt: skip


W = "np.sum(y * y * np.arange(1.0, y.size + 1).reshape(y.shape))"

# ------------------------------------------------------------ views of a local
lines("row_mul", (A, S), "x, s", "row = y[1]; row *= s", W)
lines("row_item", (A, S), "x, s", "row = y[1]; row[2] = s * row[0]", W)
lines("row_then_base", (A, S), "x, s", "row = y[1]; y[1, 0] = s; row *= s; y[0] = row", W)
lines("base_then_row", (A, S), "x, s", "row = y[1]; y *= s; t = np.sum(row * row); row[:] = 0", W + " * t")
lines("alias", (X, S), "x, s", "b = y; b[0] = s * s; y[1] = b[0]", W)
lines("alias_of_alias", (X, S), "x, s", "b = y; c = b; c *= s; b += c", W)
lines("alias_rebound", (X, S), "x, s", "b = y; b = b * s; b[0] = 0.0", W + " + np.sum(b)")
lines("alias_inplace_rebound", (X, S), "x, s", "b = y; y = y * s; b[0] = s", W + " + np.sum(b)")
lines("transpose", (A, S), "x, s", "y.T[0] = s", W)
lines("transpose_name", (A, V), "x, v", "c = y.T; c[0] *= v; c[1] = c[0]", W)
lines("np_transpose", (A, V), "x, v", "c = np.transpose(y); c[0] *= v; c += v", W)
lines("swapaxes", (A, V), "x, v", "c = np.swapaxes(y, 0, 1); c[2] = v * c[0]", W)
lines("moveaxis", (A, V), "x, v", "c = np.moveaxis(y, 0, 1); c[2] = v * c[0]", W)
lines("reshape_c", (A, S), "x, s", "c = y.reshape(-1); c[5] = s; c[:3] *= s", W)
lines("reshape_f", (F, S), "x, s", "c = y.reshape(-1); c[5] = s; c[:3] *= s", W + " + np.sum(c ** 3)")
lines("reshape_f_order", (F, S), "x, s", "c = y.reshape(-1, order='F'); c[5] = s; c[:3] *= s", W + " + np.sum(c ** 3)")
lines("reshape_np", (A, S), "x, s", "c = np.reshape(y, (4, 3)); c[2] *= s", W)
lines("reshape_of_view", (A, S), "x, s", "c = y[:, :2].reshape(-1); c[2] = s; y[0, 0] = s", W + " + np.sum(c ** 3)")
lines("ravel_c", (A, S), "x, s", "c = y.ravel(); c *= s; c[0] = 1.0", W + " + np.sum(c ** 3)")
lines("ravel_f", (F, S), "x, s", "c = y.ravel(); c *= s; c[0] = 1.0", W + " + np.sum(c ** 3)")
lines("np_ravel", (A, S), "x, s", "c = np.ravel(y); c *= s", W + " + np.sum(c ** 3)")
lines("flatten_copies", (A, S), "x, s", "c = y.flatten(); c *= s; y[0] = s", W + " + np.sum(c ** 3)")
lines("flat_item", (A, S), "x, s", "y.flat[5] = s", W)
lines("flat_fancy", (A, V), "x, v", "y.flat[[1, 5, 7]] = v", W)
lines("flat_all", (A, S), "x, s", "y.flat = s", W)
lines("flip", (X, S), "x, s", "c = y[::-1]; c[0] = s; c *= c[1]", W)
lines("np_flip", (X, S), "x, s", "c = np.flip(y); c[0] = s", W)
lines("stride_view", (X, S), "x, s", "c = y[::2]; c *= s; c += y[1::2]", W)
lines("view_of_view", (A, S), "x, s", "c = y[1:]; d = c[:, ::2]; d[0] *= s; c[1] = s", W)
lines("diagonal_read", (A, S), "x, s", "d = np.diagonal(y); t = np.sum(d * d); y[1, 1] = s", W + " * t")
lines("diag_view_read_after", (A, S), "x, s", "d = np.diag(y); y[1, 1] = s", W + " * np.sum(d)")
lines("einsum_diag", (A[:, :3], V), "x, v", "d = np.einsum('ii->i', y); d *= v", W)
lines("squeeze", (X[None], S), "x, s", "c = y.squeeze(); c[0] = s; c *= c", W)
lines("expand_dims", (X, S), "x, s", "c = np.expand_dims(y, 0); c[0, 1] = s", W)
lines("newaxis_view", (X, S), "x, s", "c = y[:, None]; c *= s; c[0] = 1.0", W)
lines("atleast_2d", (X, S), "x, s", "c = np.atleast_2d(y); c[0] *= s", W)
lines("asarray", (X, S), "x, s", "c = np.asarray(y); c *= s", W)
lines("asarray_dtype", (X, S), "x, s", "c = np.asarray(y, dtype=complex); c *= 2j; y[0] = s", W + " + np.sum(c.imag)")
lines("array_copies", (X, S), "x, s", "c = np.array(y); c *= s; y[0] = s", W + " + np.sum(c ** 3)")
lines("array_no_copy", (X, S), "x, s", "c = np.array(y, copy=None); c *= s; y[0] = s", W + " + np.sum(c ** 3)")
lines("copy_method", (X, S), "x, s", "c = y.copy(); c *= s; y[0] = s", W + " + np.sum(c ** 3)")
lines("astype_copies", (X, S), "x, s", "c = y.astype(float); c *= s; y[0] = s", W + " + np.sum(c ** 3)")
lines("astype_no_copy", (X, S), "x, s", "c = y.astype(float, copy=False); c *= s; y[0] = s", W + " + np.sum(c ** 3)")
lines("ascontiguous_c", (A, S), "x, s", "c = np.ascontiguousarray(y); c[0] *= s", W + " + np.sum(c ** 3)")
lines("ascontiguous_f", (F, S), "x, s", "c = np.ascontiguousarray(y); c[0] *= s", W + " + np.sum(c ** 3)")
lines("nan_to_num", (X, S), "x, s", "c = np.nan_to_num(y, copy=False); c *= s", W)
lines("split", (A, S), "x, s", "a, b = np.split(y, 2, axis=1); a *= b; b[0] = s", W)
lines("vsplit", (A, S), "x, s", "a, b, c = np.vsplit(y, 3); a *= b; b[0] = s", W)
lines("split_parts", (A, S), "x, s", "ps = np.split(y, 2, axis=1); ps[0] *= ps[1]; ps[1][0] = s; ps.append(y[0] * s); ps[-1][0] = s", W + " * np.sum(ps[2])")
lines("unpack_rows", (A, S), "x, s", "a, b, c = y; a *= b; b[0] = s; c += a", W)
lines("iterate_rows", (A, S), "x, s", "k = 0;\n    for r in y: r *= s + k; k += 1", W)
lines("real_of_real", (X, S), "x, s", "r = y.real; r[0] = s; np.real(y)[1] = s", W)
lines("positive_copies", (X, S), "x, s", "c = +y; c *= s", W + " + np.sum(c)")
lines("conj_copies", (X, S), "x, s", "c = y.conj(); c *= s; y[0] = s", W + " + np.sum(c)")
lines("complex_views", (C, S), "x, s", "r = y.real; i = y.imag; r *= s; i[:] = r * s; y[0] = s", "np.sum(np.abs(y) ** 2) + np.sum(r * i)")
lines("broadcast_copy", (X, S), "x, s", "c = np.broadcast_to(y, (3, 4)).copy(); c[1] *= s; y[0] = s", W + " + np.sum(c ** 2)")
lines("view_kept_in_tuple", (A, S), "x, s", "t = (y[0], y[1]); t[0][1] = s; a, b = t; b *= a", W)
lines("view_kept_in_list", (A, S), "x, s", "t = [y[0], y[1]]; t[0][1] = s; t[1][:] = t[0] * s", W)
lines("view_kept_in_dict", (A, S), "x, s", "t = {'a': y[0], 'b': y}; t['a'][1] = s; t['b'][2] = t['a']", W)
lines("gathered_is_copy", (X, S), "x, s", "c = y[[0, 1]]; c *= s; y[0] = s", W + " + np.sum(c ** 2)")
lines("masked_is_copy", (X, S), "x, s", "c = y[y > 0]; c *= s; y[0] = s", W + " + np.sum(c ** 2)")
lines("index_or_view", (A, S, 1), "x, s, i", "c = y[i]; c *= s", W)
lines("conditional_alias", (X, S), "x, s", "b = y if s > 1 else y * 2; b[0] = s", W + " + np.sum(b ** 3)")
lines("conditional_copy", (X, S), "x, s", "b = y if s < 1 else y * 2; b[0] = s", W + " + np.sum(b ** 3)")
lines("where_copies", (X, S), "x, s", "c = np.where(y > 0, y, s); c[0] = s; y *= s", W + " + np.sum(c ** 2)")
lines("max_of_arrays", (X, S), "x, s", "c = np.maximum(y, 0.1); c[0] = s; y *= s", W + " + np.sum(c ** 2)")
lines("stack_then_write", (X, S), "x, s", "c = np.stack([y, y * s]); y *= s; c[0] *= y", W + " + np.sum(c ** 2)")
lines("sum_of_view_later", (A, S), "x, s", "t = y[0] * y[1]; y[0] = s; u = y[0] * y[1]", "np.sum(t * u)")
lines("matmul_operand_overwritten", (A, S), "x, s", "t = y @ y.T; y *= s; u = y @ y.T", "np.sum(t * u)")
lines("operand_of_outlined", (A, S), "x, s", "t = np.linalg.svd(y, compute_uv=False); y *= s", W + " * np.sum(t)")
lines("result_of_svd_written", (A, S), "x, s", "t = np.linalg.svd(y, compute_uv=False); t *= s; t[0] = t[1]", W + " * np.sum(t * t)")
lines("result_of_solve_written", (A[:, :3], V), "x, v", "t = np.linalg.solve(y, v); t *= v; y[0] = t", W + " * np.sum(t * t)")
lines("broadcast_refused", (X, S), "x, s", "c = np.broadcast_to(y, (3, 4)); t = np.sum(c * c); y = y * s; y[0] = s", W + " * t")

# ------------------------------------------------------------ loops
p("recurrence", (X, S), """
def f(x, s):
    y = np.empty(len(x))
    y[0] = s * s
    for i in range(1, len(x)):
        y[i] = 0.9 * y[i - 1] + x[i]
    return np.sum(y * y)
""")
p("recurrence_in_argument", (X, S), """
def f(x, s):
    for i in range(1, len(x)):
        x[i] = s * x[i - 1] + x[i] ** 2
    return np.sum(x * x)
""")
p("recurrence_augmented", (X, S), """
def f(x, s):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] += s * y[i - 1]
        y[i - 1] *= y[i]
        y[i] -= y[0] / 3
        y[0] /= 1.5
    return np.sum(y * y)
""")
p("nested_loops", (A, S), """
def f(x, s):
    y = np.zeros((3, 4))
    for i in range(3):
        for j in range(4):
            y[i, j] = x[i, j] * s
            if j > 0:
                y[i, j] += y[i, j - 1] * y[i - 1, j]
    return np.sum(y * y)
""")
p("nested_loops_break", (A, S), """
def f(x, s):
    y = x * 1.0
    for i in range(3):
        for j in range(4):
            if y[i, j] > 1.0:
                break
            y[i, j] = s * y[i, j] ** 2
        else:
            continue
        y[i] *= s
    return np.sum(y * y)
""")
p("early_return", (X, S), """
def f(x, s):
    y = x * 1.0
    for i in range(4):
        y[i] *= s
        if y[i] < 0:
            y[0] = y[i] * 3
            return np.sum(y * y)
        y += y[i]
    return y[0]
""")
p("while_loop", (X, S), """
def f(x, s):
    y = x * 1.0
    k = 0
    while np.sum(y * y) < 30 and k < 10:
        y *= s
        y[k % 4] += 1.0
        k += 1
    return np.sum(y * y)
""")
p("branch_writes", (X, S), """
def f(x, s):
    y = x * 1.0
    for i in range(4):
        if x[i] > 0.5:
            y[i] = s * s
        elif x[i] > 0:
            y[i] *= s
        else:
            y = y * 2
            y[i] = y[0]
    return np.sum(y * y)
""")
p("branch_of_aliases", (X, V, S), """
def f(x, v, s):
    a, b = x * 1.0, v * 1.0
    if s > 1:
        c = a
    else:
        c = b
    c[0] = s
    c[1:3] *= b[:2]
    return np.sum(a * a) + np.sum(b ** 3)
""")
p("double_buffer", (X, S), """
def f(x, s):
    old = x * 1.0
    new = np.empty_like(old)
    last = old[:1]
    for i in range(3):
        new[1:] = old[1:] * old[:-1]
        new[0] = old[0] + last[0] * s
        last = new[i:i + 1]
        old, new = new, old
    return np.sum(old * old) + last[0]
""")
p("view_carried", (X, S), """
def f(x, s):
    y = x * 1.0
    v = y[0:2]
    for i in range(3):
        v *= s
        w = y[i:i + 2]
        w += v[0]
        v = w
    return np.sum(y * y) + v[0]
""")
p("alternating_buffers", (X, V, S), """
def f(x, v, s):
    a, b = x[:3] * 1.0, v * 1.0
    for i in range(4):
        c = a if i % 2 else b
        c *= s
        c[0] = a[1] * b[1]
    return np.sum(a * a) + np.sum(b * b)
""")
p("rows_of_loop", (A, X), """
def f(x, v):
    y = np.zeros((3, 4))
    for i, row in enumerate(x):
        y[i] = row * v
        row[0] = y[i, 1]
    return np.sum(y * y) + np.sum(x ** 3)
""")
p("iterate_while_writing", (X, S), """
def f(x, s):
    y = x * 1.0
    t = 0.0
    for i, e in enumerate(y):
        t += e * s
        y[(i + 1) % 4] = t * e
    return t * np.sum(y)
""")
p("scalar_accumulator", (X,), """
def f(x):
    s = 0.0
    for i in range(len(x)):
        s += np.sin(x[i]) * x[i]
    return s
""")
p("array_accumulator", (A, S), """
def f(x, s):
    t = np.zeros(4)
    for row in x:
        t += row * row * s
        t *= 0.9
    return np.sum(t * t)
""")
p("accumulator_from_zero", (A, S), """
def f(x, s):
    t = 0
    for row in x:
        t += row * row * s
    return np.sum(t * t)
""")
p("accumulator_is_first_row", (A, S), """
def f(x, s):
    t = x[0]
    for row in x[1:]:
        t += row * s
    return np.sum(x * x)
""")
p("in_place_residuals", (X, S), """
def f(x, s):
    y = x * 1.0
    t = 0.0
    for _ in range(3):
        e = np.exp(-y * y)
        y += e * s
        e *= y
        t += np.sum(e * e)
    return t
""")
p("buffer_reused", (A, S), """
def f(x, s):
    buf = np.empty(4)
    t = 0.0
    for row in x:
        np.multiply(row, s, out=buf)
        np.sin(buf, out=buf)
        buf[0] = t
        t += np.sum(buf * buf)
    return t
""")
p("mask_reused", (A, S), """
def f(x, s):
    m = np.zeros(4, bool)
    y = x[0] * 1.0
    for row in x:
        m[:] = row > 0
        y[m] *= row[m] * s
    return np.sum(y * y)
""")
p("index_list_grows", (X, S), """
def f(x, s):
    y = x * 1.0
    idx = []
    for i in range(3):
        idx.append(i)
        y[idx] *= s
        y[idx] += y[3]
    return np.sum(y * y)
""")
p("index_reused", (X, S), """
def f(x, s):
    y = x * 1.0
    idx = [0, 0]
    for i in range(3):
        idx[0] = i
        y[idx] = y[idx] * s
    return np.sum(y * y)
""")
p("bubble_sort", (X,), """
def f(x):
    y = x * 1.0
    for i in range(4):
        for j in range(3 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return np.sum(y * y * np.arange(4.0))
""")
p("gauss_elimination", (A[:, :3] + 3 * np.eye(3), V), """
def f(a, b):
    a = a.copy()
    b = b.copy()
    n = len(b)
    for i in range(n):
        for k in range(i + 1, n):
            m = a[k, i] / a[i, i]
            a[k, i:] -= m * a[i, i:]
            b[k] -= m * b[i]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1:] @ x[i + 1:]) / a[i, i]
    return np.sum(x * x)
""")
p("cholesky_in_place", (A[:, :3] @ A[:, :3].T + 3 * np.eye(3),), """
def f(a):
    a = (a + a.T) / 2
    n = len(a)
    for j in range(n):
        a[j, j] = np.sqrt(a[j, j] - np.sum(a[j, :j] ** 2))
        for i in range(j + 1, n):
            a[i, j] = (a[i, j] - np.sum(a[i, :j] * a[j, :j])) / a[j, j]
    return np.sum(np.tril(a) ** 3)
""")
p("heat_equation", (X, S), """
def f(u, k):
    u = u.copy()
    for _ in range(3):
        u[1:-1] += 0.1 * k * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[-1]
    return np.sum(u * u)
""")
p("leapfrog", (X, X + 0.3, S), """
def f(q, v, h):
    for _ in range(3):
        v -= 0.5 * h * q
        q += h * v
        v -= 0.5 * h * np.sin(q)
    return np.sum(q * q) + np.sum(v * v)
""")
p("game_of_neighbours", (A, S), """
def f(g, s):
    for _ in range(2):
        n = np.zeros_like(g)
        n[1:, :] += g[:-1, :]
        n[:-1, :] += g[1:, :]
        n[:, 1:] += g[:, :-1] * s
        g = np.tanh(n)
        g[0, 0] = 0.5
    return np.sum(g)
""")
p("zero_trips", (X, S), """
def f(x, s):
    y = x * s
    for i in range(0):
        y[i] = s
        y *= y
    return np.sum(y * y)
""")
p("prefix_products", (X,), """
def f(x):
    y = np.ones(len(x) + 1)
    for i in range(len(x)):
        y[i + 1] = y[i] * x[i]
    return y[-1] + y[2]
""")
p("scatter_loop", (X, S), """
def f(x, s):
    y = np.zeros(3)
    for i, k in enumerate([0, 2, 2, 1]):
        y[k] += x[i] * s
    return np.sum(y * y)
""")
p("rebinding_in_loop", (X, S), """
def f(x, s):
    y = x
    for i in range(3):
        y = y * s
        y[i] = y[3]
    return np.sum(y * y)
""")
p("rebinding_alias_of_argument", (X, S), """
def f(x, s):
    y = x
    y[0] = s
    y = y * 2
    y[1] = s
    return np.sum(y * y) + np.sum(x * x)
""")
p("mutate_after_use_in_branch", (X, S), """
def f(x, s):
    y = x * 1.0
    t = 0.0
    for i in range(3):
        if i != 1:
            t = t + np.sum(np.exp(y) * s)
        else:
            y[:] = t
    return t
""")
p("dependent_shapes", (X, S), """
def f(x, s):
    y = x * 1.0
    for i in range(3):
        y = y[:-1]
        y *= s
        y[0] += y[-1]
    return np.sum(y * y) + np.sum(x)
""")
p("views_of_argument", (A, S), """
def f(x, s):
    a, b = x[0], x[:, 0]
    a *= s
    b += a[:3]
    a[1] = b[2]
    return np.sum(x * x)
""")
p("flat_argument", (A, S), """
def f(x, s):
    v = x.reshape(-1)
    for i in range(1, 12):
        v[i] += s * v[i - 1]
    return np.sum(x * x)
""")
