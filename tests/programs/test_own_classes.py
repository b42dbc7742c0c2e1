"""Named tuples, dataclasses and objects: computed attributes, operators, attributes by name; and what is refused."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
import pytest
import thunkad as ad
from thunkad.errors import NonDifferentiableArgumentError, ThunkadError

from checking import Program
from tables import check, programs


@dataclasses.dataclass
class Data:
    a: Any = 1.0
    b: Any = 2.0

    @property
    def square(self) -> Any:
        return self.a * self.a

    @square.setter
    def square(self, value: Any) -> None:
        self.a = value * value

    def product(self) -> Any:
        return self.a * self.b


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: Any

    def squared(self) -> Frozen:
        return dataclasses.replace(self, w=self.w * self.w)


#: What needs the module that it is defined in.
CLASSES_HERE = {"dataclasses": dataclasses, "Data": Data, "Frozen": Frozen}
PAIR = """
from typing import NamedTuple
class Pair(NamedTuple):
    a: float
    b: float = 2.0
    @property
    def area(self):
        return self.a * self.a * self.b
    def scaled(self, k):
        return Pair(self.a * k, self.b)
    def __mul__(self, k):
        return Pair(self.a * k, self.b * k * k)
    __rmul__ = __mul__
    def __add__(self, other):
        return Pair(self.a + other.a, self.b * other.b)
    def __neg__(self):
        return Pair(-self.a, self.b)
"""
PLAIN = """
class Plain:
    w = 0.0
    def __init__(self, w):
        self.w = w
    @property
    def kept(self):
        if self._kept is None:
            self._kept = self.w ** 2
        return self._kept
    _kept = None
    def __add__(self, other):
        return Plain(self.w + other.w * other.w)
    def __rsub__(self, number):
        return number - self.w * self.w
    def __abs__(self):
        return self.w * self.w
    @property
    def double(self):
        return 2.0 * self.w * self.w
"""
DESCRIPTOR = """
class Squared:
    def __get__(self, owner, cls=None):
        return owner.held * 3.0
    def __set__(self, owner, value):
        owner.held = value * value
class Held:
    value = Squared()
"""


def written(text: str, table: str) -> list[Any]:
    """Programs of a table with ``text``, which defines a class, before each."""
    out = []
    for p in programs(table):
        (program,) = p.values
        out.append(pytest.param(Program(text + program.text, program.args, CLASSES_HERE), id=p.id))
    return out


NAMED_TUPLES = written(
    PAIR,
    """
    === property | x = 0.7
    return Pair(x, 2.0).area
    === property_of_a_default | x = 0.7
    return Pair(x).area * Pair(b=x, a=x).area
    === method | x = 0.7
    return Pair(x, x).scaled(x).area
    === multiplied_by_an_int | x = 0.7
    return (Pair(x, x) * 3).a * (3 * Pair(x, x)).b
    === added | x = 0.7, y = 1.3
    p = Pair(x, y) + Pair(y, x)
    return p.a * p.b
    === added_in_place | x = 0.7, y = 1.3
    p = Pair(x, y)
    p += Pair(y, x)
    return p.a * p.b
    === negated | x = 0.7
    return (-Pair(x, x)).area * x
    === in_containers | x = 0.7
    pairs = {}
    for k in range(2):
        pairs[k] = Pair(x, x * k)
    return pairs[0].area + pairs[1].area
    === replaced | x = 0.7, y = 1.3
    p = Pair(x, y)._replace(b=x * x)
    return p.area
    === as_dict | x = 0.7, y = 1.3
    d = Pair(x, y)._asdict()
    return d["a"] * d["b"] * d["b"]
    === made_of_a_list | x = 0.7, y = 1.3
    return Pair._make([x * x, y]).area
    === by_field_names | x = 0.7, y = 1.3
    t = 1.0
    for name in Pair._fields:
        t = t * getattr(Pair(x, y), name)
    return t * x
    === passed_on | x = 0.7
    def area(p):
        return p.area
    return area(Pair(x, x)) * area(Pair(x, 1.0) * 2)
    """,
)
DATACLASSES = written(
    "",
    """
    === property | x = 0.7
    return Data(x).square
    === setter | x = 0.7
    d = Data(x)
    d.square = x ** 4
    return d.a
    === setter_in_place | x = 0.7
    d = Data(x)
    d.square *= x
    return d.a
    === property_in_a_loop | x = 0.7
    t = 0.0
    for d in [Data(x), Data(x * x)]:
        t = t + d.square
    return t
    === default_of_another_kind | x = 0.7, y = A
    d = Data(y)
    d.a[0] = x * x
    return np.sum(d.a * d.a) + Data(y * x).square[1]
    === replaced | x = 0.7, y = 1.3
    d = dataclasses.replace(Data(x, y), a=x * y)
    return d.product() * x
    === replaced_nothing | x = 0.7, y = 1.3
    return dataclasses.replace(Data(x, y)).product()
    === as_dict | x = 0.7, y = 1.3
    d = dataclasses.asdict(Data(x, y))
    return d["a"] * d["b"] * d["b"]
    === frozen | x = 0.7
    return Frozen(x).squared().w * x
    """,
)
OBJECTS = written(
    PLAIN,
    """
    === computed_once | x = 0.7
    return Plain(x).kept
    === computed_once_read_twice | x = 0.7
    p = Plain(x)
    return p.kept * p.kept + p.kept
    === property_of_a_sum | x = 0.7, y = 1.3
    return (Plain(x) + Plain(y)).double
    === reflected | x = 0.7
    return (2.0 - Plain(x)) * x
    === absolute | x = 0.7
    return abs(Plain(x)) * x
    === class_attribute_of_another_kind | x = 0.7, y = A
    p = Plain(y * x)
    return np.sum(p.w * p.w * np.arange(3))
    === by_name | x = 0.7
    p = Plain(x)
    return getattr(p, "w") * getattr(p, "w", 2.0) * getattr(p, "nothing", x)
    === property_by_name | x = 0.7
    return getattr(Plain(x), "double") * x
    === by_names_of_a_loop | x = 0.7
    p = Plain(x)
    t = 0.0
    for name in ("w", "double", "nothing"):
        t = t + getattr(p, name, x) * x
    return t
    === set_by_name | x = 0.7
    p = Plain(1.0)
    setattr(p, "w", x * x)
    object.__setattr__(p, "v", x)
    return p.w * p.v
    === dictionary_read | x = 0.7
    return Plain(x).__dict__["w"] * vars(Plain(x * x))["w"]
    === dictionary_written | x = 0.7, y = 1.3
    p = Plain(y)
    p.__dict__["w"] = x * y
    vars(p)["w"] *= x
    return p.w * p.w
    """,
)
OTHERS = [
    *written(
        DESCRIPTOR,
        """
        === descriptor | x = 0.7
        h = Held()
        h.value = x * x
        return h.value * h.held
        """,
    ),
    *programs("""
    === cached_property | x = 0.7
    import functools
    class Cached:
        def __init__(self, w):
            self.w = w
        @functools.cached_property
        def square(self):
            return self.w * self.w
    def f(x):
        c = Cached(x)
        return c.square * c.square * x
    === manager_that_changes_itself | x = 0.7
    class Squaring:
        def __init__(self, w):
            self.w = w
        def __enter__(self):
            return self
        def __exit__(self, *error):
            self.w = self.w * self.w
    def f(x):
        m = Squaring(x)
        with m:
            y = m.w
        return m.w * y
    === property_of_a_base | x = 0.7
    class Base:
        def __init__(self, w):
            self.w = w
        @property
        def square(self):
            return self.w * self.w
    class Derived(Base):
        @property
        def square(self):
            return super().square * self.w
    def f(x):
        return Derived(x).square
    === key_that_is_missing | x = 0.7
    class Doubling(dict):
        def __missing__(self, key):
            return 2.0 * key * key
    def f(x):
        return Doubling()[x] * x
    """),
]


@pytest.mark.parametrize("program", [*NAMED_TUPLES, *DATACLASSES, *OBJECTS, *OTHERS])
def test_objects_of_own_classes(program: Program) -> None:
    check(program)


class Pair(NamedTuple):
    a: float
    b: float

    @property
    def area(self) -> Any:
        return self.a * self.b


class Lazy:
    def __init__(self, w: Any) -> None:
        self.w, self._square = w, None

    @property
    def square(self) -> Any:
        if self._square is None:
            self._square = self.w**2
        return self._square

    @functools.cached_property
    def cube(self) -> Any:
        return self.w**3

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return 5.0 * self.w


def test_computed_attributes_of_arguments() -> None:
    assert ad.grad(lambda p: p.area * p.a)(Pair(1.5, 2.0)) == (6.0, 2.25)
    assert ad.grad(lambda d: d.square)(Data(1.5)).a == 3.0
    assert ad.grad(lambda ds: ds[0].square)([Data(1.5)])[0].a == 3.0
    assert ad.grad(lambda o: o.square)(Lazy(1.5))["w"] == 3.0
    lazy = Lazy(1.5)
    assert lazy.cube == 1.5**3  # what is kept is no input: the derivative is that of what it was computed from
    assert ad.grad(lambda o: o.cube)(lazy)["w"] == 3 * 1.5**2
    assert ad.grad(lambda o: o.anything)(Lazy(1.5))["w"] == 5.0
    assert ad.jvp(lambda o: o.anything * o.square, (Lazy(1.5),), (ad.Tangent(Lazy, {"w": 1.0}),))[1] == 15 * 1.5**2


REFUSED = {
    "attribute of a class": ("K.c = x * x\nreturn K.c", "K.c outlives the call"),
    "attribute of the class of an object": ("o = K()\no.__class__.c = x * x\nreturn o.c", "setting .c of a class"),
    "attribute of a type": ("o = K()\ntype(o).c = x * x\nreturn o.c", "setting .c of a class"),
    "attribute of a function": ("g.last = x * x\nreturn g.last", "g.last outlives the call"),
    "attribute of a module": ("np.last = x * x\nreturn np.last", "setting .last of a class, module or function"),
    "attribute in place": ("K.c += x * x\nreturn K.c", "K.c outlives the call"),
    "dictionary of attributes": ("o = K()\no.c = x\nd = [o.__dict__]\nreturn d[0]['c']", "dictionary"),
    "dictionary with less": ("o = K()\no.c = x\no.__dict__.pop('c')\nreturn o.c * x", "dictionary"),
    "dictionary with more": ("o = K()\no.__dict__ |= {'c': x}\nreturn o.c", "given another dictionary"),
    "dictionary assigned": ("o = K()\no.__dict__ = {'c': x}\nreturn o.c", "given another dictionary"),
    "own __new__": ("return N(x).a", "makes or iterates over them in its own way"),
    "own __iter__": ("a, b = I(x, 1.0)\nreturn a", "makes or iterates over them in its own way"),
}
CLASSES = """
from collections import namedtuple
class K:
    c = 1.0
def g():
    pass
class S:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, 2.0 * value)
Two = namedtuple("Two", "a b")
class N(Two):
    def __new__(cls, a):
        return super().__new__(cls, a * a, a)
class I(Two):
    def __iter__(self):
        return iter([self.a * self.a, self.b])
class P:
    def __init__(self, w):
        self.w = w
    @property
    def p(self):
        return self.w * self.w
class Q(P):
    pass
"""


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, mode: str) -> None:
    body, message = REFUSED[name]
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    f = Program(f"{CLASSES}def f(x):\n{lines}", ()).build()
    with pytest.raises(ThunkadError, match=message) as caught:
        ad.grad(f)(2.0) if mode == "grad" else ad.jvp(f, (2.0,), (1.0,))
    told = str(caught.value) + "\n".join(getattr(caught.value, "__notes__", ()))
    assert "<program" in told and any(line.strip() in told for line in body.split("\n"))
    assert caught.value.hint
    vars(np).pop("last", None)


@pytest.mark.parametrize("value", [{1.0, 2.0}, frozenset({1.0}), iter([1.0]), (v for v in [1.0])])
def test_arguments_without_places_for_a_derivative(value: Any) -> None:
    with pytest.raises(NonDifferentiableArgumentError, match="the argument 'values' of .* has no derivative"):
        ad.grad(lambda values: sum(values))(value)
