"""Long chains of callees are compiled although each is compiled from within the one that calls it."""

import importlib.util

import numpy as np

import thunkad as ad


def test_a_chain_of_a_hundred_and_fifty_functions(tmp_path):
    lines = ["import numpy as np", "def f0(x):", "    return np.sin(x)"]
    for k in range(1, 150):
        lines += [f"def f{k}(x):", f"    return f{k - 1}(x * 1.0)"]
    path = tmp_path / "chain_of_functions.py"
    path.write_text("\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location("chain_of_functions", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    np.testing.assert_allclose(ad.grad(module.f149)(0.3), np.cos(0.3), rtol=1e-15)
    table = {"f": module.f148}  # decided when the code runs
    np.testing.assert_allclose(ad.grad(lambda x: table["f"](x))(0.3), np.cos(0.3), rtol=1e-15)
    assert ad.jvp(module.f147, (0.3,), (1.0,))[1] == np.cos(0.3)


class Node:
    def __init__(self, v, following=None):
        self.v, self.following = v, following


def doubled_sum(head, x):
    node, total = head, 0.0
    while node is not None:
        node.v = node.v * x
        node = node.following
    while head is not None:
        total, head = total + head.v * head.v, head.following
    return total


def test_a_list_of_a_thousand_linked_objects():
    def chain():
        head = None
        for _ in range(1000):
            head = Node(0.1, head)
        return head

    def f(x):
        head = None
        for _ in range(1000):
            head = Node(0.1 * x, head)
        return doubled_sum(head, x)

    g = ad.grad(doubled_sum)(chain(), 2.0)
    for _ in range(999):
        g = g["following"]
    np.testing.assert_allclose(g["v"], 0.8)
    np.testing.assert_allclose(ad.grad(doubled_sum, argnums=1)(chain(), 2.0), 40.0)
    np.testing.assert_allclose([ad.grad(f)(2.0), ad.jvp(f, (2.0,), (1.0,))[1]], 320.0)
    np.testing.assert_allclose(ad.jvp(ad.grad(f), (2.0,), (1.0,))[1], 480.0)
