"""What is known of a value at transform time: a small lattice of kinds.

``Unknown`` is the top.  Kinds are hashable, so that the kinds of the arguments are the key of a specialization.
"""

from __future__ import annotations

from typing import Any, Union

from thunkad.ir import nodes as n
from thunkad.records import record


@record(frozen=True, slots=True)
class Num:
    """A number or an array of numbers.

    ``form``: 'python' (float, int, bool, complex), 'scalar' (a NumPy scalar), 'number' (one of these two), 'array', or
    'any' of these.  ``field``: 'bool', 'int', 'real', 'complex' or 'any'.  ``ndim``: the number of axes of an array,
    None if it is not known.  An operation whose result has no axes gives a 'scalar', as NumPy does; an 'array' may be
    one of those if ``ndim`` is None.
    """

    form: str
    field: str
    ndim: int | None = None

    @property
    def is_scalar(self) -> bool:
        return self.form in ("python", "scalar", "number")

    @property
    def is_real(self) -> bool:
        return self.field in ("bool", "int", "real")


@record(frozen=True, slots=True, eq=False)
class Known:
    """This very object: a function, a module, a class, None, a constant string."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known):
            return False
        if self.value is other.value:
            return True
        return type(self.value) in (str, bytes) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value) if type(self.value) in (str, bytes) else id(self.value)


@record(frozen=True, slots=True)
class Opaque:
    """An instance of a class whose values have no tangent: a string, a slice, a range, a dtype."""

    cls: type


@record(frozen=True, slots=True)
class Tuple:
    """A tuple (``cls`` is tuple or a namedtuple class) with the kinds of its items."""

    items: tuple[Kind, ...]
    cls: type = tuple


@record(frozen=True, slots=True)
class Sequence:
    """A list, or a tuple of unknown length, whose items are all of one kind (None: it is empty)."""

    item: Kind | None
    cls: type = list


@record(frozen=True, slots=True)
class Mapping:
    """A dict: entries with known keys, or (``entries`` None) values of one kind."""

    entries: tuple[tuple[Any, Kind], ...] | None
    value: Kind | None = None


@record(frozen=True, slots=True)
class Instance:
    """An object of a user's class, with the kinds of its attributes."""

    cls: type
    fields: tuple[tuple[str, Kind], ...] = ()


@record(frozen=True, slots=True)
class Method:
    """A bound method."""

    function: Any
    owner: Kind


@record(frozen=True, slots=True)
class Partial:
    """A ``functools.partial``."""

    function: Kind
    args: tuple[Kind, ...] = ()
    kwargs: tuple[tuple[str, Kind], ...] = ()


@record(frozen=True, slots=True, eq=False)
class Lifted:
    """A function made inside a function that is being compiled, the same for the same place in its text."""

    closure: n.Closure

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lifted) and self.closure is other.closure

    def __hash__(self) -> int:
        return id(self.closure)


@record(frozen=True, slots=True)
class Unknown:
    """Nothing is known."""


Kind = Union[Num, Known, Opaque, Tuple, Sequence, Mapping, Instance, Method, Partial, Lifted, Unknown]

UNKNOWN = Unknown()
NUMERIC = Num("any", "any")
ARRAY = Num("array", "any")
PY_BOOL, PY_INT = Num("python", "bool"), Num("python", "int")
PY_REAL, PY_COMPLEX = Num("python", "real"), Num("python", "complex")


def shaped(field: str, ndim: int | None, array: bool = False) -> Num:
    """What an operation gives whose result has ``ndim`` axes: a scalar if none, an array if some.

    ``array``: surely not a scalar.
    """
    if ndim is None:
        return Num("array" if array else "any", field)
    return Num("array", field, ndim) if ndim > 0 else Num("scalar", field)


_FIELDS = ("bool", "int", "real", "complex")


def join_fields(a: str, b: str) -> str:
    """The field of a result that mixes two fields, by promotion."""
    if "any" in (a, b):
        return "complex" if "complex" in (a, b) else "any"
    return _FIELDS[max(_FIELDS.index(a), _FIELDS.index(b))]


def join(a: Kind | None, b: Kind | None) -> Kind | None:
    """The least kind that covers both; None stands for a value that is never there."""
    if a is None or b is None:
        return b if a is None else a
    if a == b:
        return a
    if isinstance(a, Num) and isinstance(b, Num):
        form = a.form if a.form == b.form else "number" if a.is_scalar and b.is_scalar else "any"
        field = a.field if a.field == b.field else "any"
        if "any" not in (a.field, b.field) and a.is_real and b.is_real:
            field = join_fields(a.field, b.field)
        return Num(form, field, a.ndim if a.ndim == b.ndim and form == "array" else None)
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items) and a.cls is b.cls:
        return Tuple(tuple(join_known(x, y) for x, y in zip(a.items, b.items)), a.cls)
    if isinstance(a, Sequence) and isinstance(b, Sequence) and a.cls is b.cls:
        return Sequence(join(a.item, b.item), a.cls)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if a.entries is not None and b.entries is not None and [k for k, _ in a.entries] == [k for k, _ in b.entries]:
            return Mapping(tuple((k, join_known(x, y)) for (k, x), (_, y) in zip(a.entries, b.entries)))
        return Mapping(None, join(value_of(a), value_of(b)))
    if isinstance(a, Instance) and isinstance(b, Instance) and a.cls is b.cls:
        theirs = dict(b.fields)
        return Instance(a.cls, tuple((k, join_known(v, theirs[k])) for k, v in a.fields if k in theirs))
    if isinstance(a, Lifted) and isinstance(b, Lifted) and a.closure is b.closure:
        return a
    return UNKNOWN


def join_known(a: Kind, b: Kind) -> Kind:
    found = join(a, b)
    assert found is not None
    return found


def value_of(m: Mapping) -> Kind | None:
    """The kind that covers every value of a dict."""
    if m.entries is None:
        return m.value
    out: Kind | None = None
    for _, v in m.entries:
        out = join(out, v)
    return out


def item_of(k: Kind) -> Kind:
    """The kind of what iterating over a value of kind ``k`` gives."""
    if isinstance(k, Num) and k.form in ("array", "any"):
        return shaped(k.field, None if k.ndim is None else k.ndim - 1)
    if isinstance(k, Tuple):
        out: Kind | None = None
        for v in k.items:
            out = join(out, v)
        return UNKNOWN if out is None else out
    if isinstance(k, Sequence):
        return UNKNOWN if k.item is None else k.item
    if isinstance(k, Mapping):
        return Known(k.entries[0][0]) if k.entries and len(k.entries) == 1 else UNKNOWN
    if isinstance(k, Opaque) and k.cls is range:
        return PY_INT
    if isinstance(k, Opaque) and k.cls is str:
        return Opaque(str)
    return UNKNOWN


def items_around_star(value: Kind, before: int, after: int) -> Kind:
    """What ``a, *rest, b = value`` unpacks, ``before`` and ``after`` names beside the starred one."""
    if isinstance(value, Tuple) and len(value.items) >= before + after:
        first, rest = value.items[:before], value.items[before:]
        last, rest = rest[len(rest) - after :], rest[: len(rest) - after]
        return Tuple((*first, Sequence(item_of(Tuple(rest)) if rest else None), *last))
    item = item_of(value)
    return Tuple((*(item,) * before, Sequence(item), *(item,) * after))


def is_iterable(k: Kind) -> bool:
    """Whether a value of this kind can surely be iterated over."""
    if isinstance(k, Num):
        return bool(k.ndim)
    return isinstance(k, (Tuple, Sequence, Mapping)) or (isinstance(k, Opaque) and k.cls in (range, str))


def is_sequence(k: Kind) -> bool:
    """Whether a value of this kind surely is an array with axes, a list or a tuple: items are had by their number."""
    if isinstance(k, Num):
        return k.form == "array" and not k.is_scalar
    return isinstance(k, Tuple) or (isinstance(k, Sequence) and k.cls is list)


def may_have_tangent(k: Kind) -> bool:
    """Whether a value of this kind can carry a derivative at all."""
    if isinstance(k, Num):
        return k.field != "bool"
    if isinstance(k, (Opaque, Known)):
        return False
    if isinstance(k, Tuple):
        return any(map(may_have_tangent, k.items))
    if isinstance(k, Sequence):
        return k.item is not None and may_have_tangent(k.item)
    if isinstance(k, Mapping):
        value = value_of(k)  # where the keys are not known, they may
        return value is not None and (k.entries is None or may_have_tangent(value))
    return True


def has_known_keys(kinds: tuple[Kind, ...]) -> bool:
    """Whether the first of these is of a dict whose keys are known constants; a number may be given."""
    entries = kinds[0].entries if kinds and isinstance(kinds[0], Mapping) else None
    return entries is not None and all(isinstance(key, (str, bytes, int, type(None))) for key, _ in entries)


def has_field(k: Kind) -> bool:
    """Whether it is known of each number in a value of this kind if it is real or complex."""
    if isinstance(k, Num):
        return k.field != "any"
    return all(map(has_field, k.items)) if isinstance(k, Tuple) else not may_have_tangent(k)


def is_hashable(x: Any) -> bool:
    """Whether ``x`` can be looked up in a table."""
    try:
        hash(x)
    except TypeError:
        return False
    return True
