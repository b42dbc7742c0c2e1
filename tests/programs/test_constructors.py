"""How objects of the user's classes are made: by generated and by own code, by ``type(self)``, found at run time."""

from __future__ import annotations

import pytest
import thunkad as ad

from checking import Program
from tables import check, programs

POST_INIT = """
    import dataclasses, typing
    @dataclasses.dataclass(order=True)
    class Part:
        a: float
        b: float = 2.0
        seen: list = dataclasses.field(default_factory=list, compare=False)
        scale: dataclasses.InitVar[float] = 3.0
        made: list = dataclasses.field(init=False, default_factory=list, compare=False)
        k: typing.ClassVar[float] = 5.0
        def __post_init__(self, scale):
            self.c = self.a * scale
            self.seen.append(self.a * self.b)
            self.made.append(self.c)
        def area(self):
            return self.a * self.b * self.c * self.k * self.seen[0] * self.made[-1]
"""
MADE = programs(f"""
    === post_init | x = 1.3
    {POST_INIT}
    def f(x):
        return Part(x).area()
    === post_init_with_an_init_variable | x = 1.3
    {POST_INIT}
    def f(x):
        return Part(2.0, b=x * x, scale=x).area()
    === post_init_of_parts_that_are_sorted | x = 1.3
    {POST_INIT}
    def f(x):
        return sorted([Part(x * x), Part(x, scale=x)])[0].area() * x
    === post_init_changes_a_list_that_is_given | x = 1.3
    {POST_INIT}
    def f(x):
        shared = [x * x]
        part = Part(x, seen=shared)
        return part.area() * shared[-1]
    === post_init_found_at_run_time | x = 1.3
    {POST_INIT}
    def f(x):
        total = 0.0
        for make in [Part, Part]:
            part = make(x, scale=x)
            part.a *= x
            total += part.area()
        return total
    === post_init_of_a_frozen_dataclass_by_keyword_only | x = 1.3
    import dataclasses
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Part:
        a: float
        b: float = 2.0
        def __post_init__(self):
            object.__setattr__(self, "c", self.a * self.b)
    def f(x):
        part = Part(b=x, a=x * x)
        return part.c * part.a
    === by_the_type_of_self | x = 1.3
    class Vector:
        def __init__(self, x, y): self.x, self.y = x, y
        def __add__(self, other): return type(self)(self.x + other.x, self.y * other.y)
        def __mul__(self, k): return self.__class__(self.x * k, self.y * k)
        __rmul__ = __mul__
        def __iadd__(self, other):
            self.x += other.x
            return self
        def __abs__(self): return (self.x**2 + self.y**2) ** 0.5
    def f(x):
        v = Vector(x, 3.0)
        w = v + Vector(2.0, x)
        w += v
        return abs(2.0 * w * x) * v.x
    === objects_folded_by_reduce | x = 1.3
    import functools, operator
    class Vector:
        def __init__(self, x, y): self.x, self.y = x, y
        def __add__(self, other): return Vector(self.x + other.x, self.y * other.y)
    def f(x):
        v = functools.reduce(operator.add, [Vector(x, 1.0), Vector(x * x, x), Vector(2.0, x)])
        return v.x * v.y
    === fields_set_by_their_names | x = 1.3
    class Options:
        def __init__(self, **given):
            for name, value in given.items():
                setattr(self, name, value)
        def scaled(self, k):
            for name in ("a", "b"):
                setattr(self, name, getattr(self, name) * k)
            return self.a * self.b
    def f(x):
        empty = Options()
        for i in range(3):
            setattr(empty, f"w{{i}}", x**i)
        return Options(a=x, b=x * x).scaled(x) * empty.w2 + getattr(empty, "w" + str(1))
    === items_that_are_fields | x = 1.3
    class Vector:
        def __init__(self, x, y): self.x, self.y = x, y
        def __setitem__(self, i, v): setattr(self, "xy"[i], v)
        def __getitem__(self, i): return getattr(self, "xy"[i])
    def f(x):
        v = Vector(x, np.array([x, 2.0]))
        v[0] *= x
        setattr(v, "y" if x > 0 else "z", v.y * x)
        v.y[0] *= x
        return v[0] * v[1][0] * v.y[1]
    === simple_namespace | x = 1.3
    import types
    def f(x):
        s = types.SimpleNamespace(a=x, b=[x])
        s.b.append(s.a * 2.0)
        s.a = s.b[1] * s.b[0]
        return s.a * x
    === dict_with_names_spread_into_it | x = 1.3
    rest = {{"b": x * x}}
    both = dict([("a", x)], c=2.0, **rest)
    both["b"] *= x
    return both["a"] * both["b"] * both["c"] * rest["b"]
""")


@pytest.mark.parametrize("program", MADE)
def test_objects_however_made(program: Program) -> None:
    check(program)
    f = program.build()
    assert ad.jvp(f, program.args, (1.0,))[1] == pytest.approx(ad.grad(f)(*program.args), rel=1e-9)
