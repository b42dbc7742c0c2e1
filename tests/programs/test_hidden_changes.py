"""What changes or computes where the text doesn't show it: methods behind ``super()``, methods that a variable holds,
functions without source, classes derived from arrays, lists and dicts with their own way to what they hold."""

from __future__ import annotations

import pytest
import thunkad as ad
from thunkad.errors import ThunkadError

from checking import Program
from tables import check, programs

BEHIND_SUPER = programs("""
    === static_method | x = 1.5
    class Base:
        @staticmethod
        def square(x): return x * x
    class Derived(Base):
        def both(self, x): return super().square(x) * x
    def f(x):
        return Derived().both(x)
    === class_method | x = 1.5
    class Base:
        k = 3.0
        @classmethod
        def scaled(cls, x): return cls.k * x * x
    class Derived(Base):
        k = 4.0
        def both(self, x): return super().scaled(x)
    def f(x):
        return Derived().both(x)
    === method_of_an_object_that_is_differentiated | x = 1.5
    class Base:
        def __init__(self, w): self.w = w
        @staticmethod
        def square(x): return x * x
        def product(self, x): return self.w * x
    class Derived(Base):
        def both(self, x): return super().square(self.w) * super().product(x)
    def f(x):
        return Derived(x).both(x)
    === cached_method | x = 1.5
    import functools
    class Base:
        w = 2.0
        cube = functools.lru_cache(lambda self, x: x**3 * self.w)
    class Derived(Base):
        def both(self, x): return super().cube(x)
    def f(x):
        return Derived().both(x)
    === function_of_the_library | x = 0.7
    class Base:
        wave = np.sin
    class Derived(Base):
        def both(self, x): return super().wave(x)
    def f(x):
        return Derived().both(x)
    === callable_object | x = 1.5
    class Square:
        def __call__(self, x): return x * x
    class Base:
        square = Square()
    class Derived(Base):
        def both(self, x): return super().square(x)
    def f(x):
        return Derived().both(x)
""")

HELD_METHODS = programs("""
    === append | x = 1.5
    out = []
    put = out.append
    for k in range(4):
        put(x * k)
    return sum(out) * x
    === append_in_branches | x = 1.5
    out = [x]
    put = out.append
    for k in range(4):
        if k % 2:
            put(x * k)
        else:
            put(x * out[-1])
    return sum(out)
    === append_to_a_new_list_each_time | A = A
    total = 0.0
    for a in A:
        row = []
        put = row.append
        put(a * a)
        put(a)
        total += row[0] * row[1]
    return total
    === update | x = 1.5
    found = {}
    note = found.update
    note(a=x * x)
    note({"b": x})
    return found["a"] * found["b"]
    === fill | x = 1.5
    buffer = np.zeros(3)
    set_all = buffer.fill
    set_all(x * x)
    return np.sum(buffer) * x
    === callback_of_a_function_made_here | x = 1.5
    seen = []
    def report(v): seen.append(v * v)
    def run(y, callback):
        callback(y)
        return y * y
    return run(x, report) * seen[0]
    === callback_that_appends | x = 1.5
    xs = []
    def run(y, callback):
        callback(y)
        return y * y
    run(x, xs.append)
    return xs[0] * x
    === log_that_nobody_reads | x = 1.5
    log = []
    def run(y, callback):
        callback(float(y))
        return y * y
    return run(x, log.append) * x
""")


@pytest.mark.parametrize("program", [*BEHIND_SUPER, *HELD_METHODS])
def test_what_is_found_behind_another_name_is_differentiated(program: Program) -> None:
    check(program)


REFUSED = programs("""
    === partial_behind_super | x = 1.5
    import functools
    class Twice(functools.partial):
        def __call__(self, x): return super().__call__(x)
    twice = Twice(np.multiply, 2.0)
    def f(x):
        return twice(x)
    === items_of_a_list_class | x = 1.5
    class Doubled(list):
        def append(self, v): super().append(2.0 * v)
    def f(x):
        xs = Doubled()
        xs.append(x)
        return xs[0] * x
    === iteration_over_a_list_class | x = 1.5
    class Doubled(list):
        def __iter__(self): return iter([2.0 * v for v in list.__iter__(self)])
    def f(x):
        xs = Doubled()
        xs.append(x)
        return sum([v * x for v in xs])
    === items_of_a_dict_class | x = 1.5
    class Doubled(dict):
        def __getitem__(self, k): return 2.0 * super().__getitem__(k)
    def f(x):
        d = Doubled()
        d["a"] = x
        return d["a"] * x
    === stores_into_a_dict_class | x = 1.5
    class Tripled(dict):
        def __setitem__(self, k, v): dict.__setitem__(self, k, 3.0 * v)
    def f(x):
        d = Tripled()
        d["a"] = x
        return d["a"] * x
    === arrays_in_a_dict_class | A = A
    class Tripled(dict):
        def __setitem__(self, k, v): dict.__setitem__(self, k, 3.0 * v)
    def f(A):
        d = Tripled()
        d["a"] = A * A
        return np.sum(d["a"])
    === array_class_with_its_own_items | x = 1.5
    class Doubled(np.ndarray):
        def __getitem__(self, i): return np.asarray(self)[i] * 2.0
    def f(x):
        return np.array([x, x]).view(Doubled)[0] * x
    === array_class_with_its_own_sum | x = 1.5
    class Doubled(np.ndarray):
        def sum(self, *args, **kwargs): return np.asarray(self).sum() * 2.0
    def f(x):
        return np.array([x, x]).view(Doubled).sum() * x
    === records | x = 1.5
    r = np.zeros(2, [("a", float), ("b", float)])
    part = r["a"]
    part += x
    return np.sum(r["a"]) * x
    === records_made | x = 1.5
    return np.array([(x, 2.0)], [("a", float), ("b", float)])["a"][0]
    === objects_made | x = 1.5
    return np.array([x, 2.0], dtype=object)[0]
    === insort | x = 1.5
    import bisect
    def f(x):
        xs = [1.0]
        bisect.insort(xs, x)
        return xs[1] * x
    === unbound_append | x = 1.5
    xs = []
    list.append(xs, x)
    return xs[0] * x
    === unbound_setitem | x = 1.5
    d = {}
    dict.__setitem__(d, "a", x)
    return d["a"] * x
    === setitem_of_an_array | x = 1.5
    a = np.zeros(2)
    a.__setitem__(0, x)
    return a[0] * x
    === method_handed_to_map | x = 1.5
    xs = []
    list(map(xs.append, [x, 2.0 * x]))
    return xs[0] * xs[1]
    === method_handed_to_a_function | x = 1.5
    def run(y, callback):
        callback(y)
        return y * y
    def f(x):
        xs = []
        run(x, xs.append)
        return xs[0] * x
    === memoryview | x = 1.5
    a = np.zeros(2)
    m = memoryview(a)
    m[0] = x
    return a[0] * x
    === exec | x = 1.5
    names = {"x": x}
    exec("y = x * x", names)
    return names["y"]
    === globals | x = 1.5
    globals()["kept"] = x
    return kept * x
""")


@pytest.mark.parametrize("program", REFUSED)
def test_what_cannot_be_followed_is_refused_in_both_modes(program: Program) -> None:
    f = program.build()
    with pytest.raises(ThunkadError):
        ad.grad(f)(*program.args)
    with pytest.raises(ThunkadError):
        ad.jvp(f, program.args, program.args)


def test_a_class_with_its_own_items_is_no_obstacle_where_nothing_is_differentiated() -> None:
    class Settings(dict):  # type: ignore[type-arg]
        def __getitem__(self, key: str) -> float:
            return float(super().__getitem__(key))

    settings = Settings(scale="2.5")

    def f(x: float) -> float:
        return x * x * settings["scale"]

    assert ad.grad(f)(3.0) == 15.0
    assert ad.jvp(f, (3.0,), (1.0,))[1] == 15.0


def test_the_error_names_the_method_that_does_something_else() -> None:
    with pytest.raises(ThunkadError, match=r"Doubled.*__getitem__ of its own"):
        ad.grad(REFUSED[3].values[0].build())(1.5)
