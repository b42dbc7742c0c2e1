"""What the rule table holds: one :class:`Entry` for each rule, opt-out or declaration."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from typing import Any

from thunkad.errors import Place, RuleError
from thunkad.records import field, record

RRULE, FRULE, OPT_OUT, NON_DIFFERENTIABLE, ALTERNATIVE = (
    "rrule",
    "frule",
    "opt_out",
    "non_differentiable",
    "alternative",
)


@record(eq=False)
class Entry:
    """One registration.

    ``function`` is the rule as written (an ``rrule``, an ``frule``, the Python body of an ``alternative``); for an
    elementwise rule it is built from ``partials``.  ``types`` is the typed signature, one type for each leading
    positional parameter (``object`` where nothing is said).
    """

    kind: str
    target: Any
    function: Callable[..., Any] | None
    layer: str  # 'user' or 'library'
    types: tuple[Any, ...] | None = None  # None: read from the annotations when first needed
    keep_thunks: bool = False
    surrogate: bool = False
    partials: tuple[Callable[..., Any], ...] | None = None  # elementwise rules only
    linear: bool = False  # an elementwise rule whose partials read nothing
    declared: Place | None = None  # where a registration without a function was made
    keywords: tuple[str, ...] = ()  # an alternative for calls that give one of these parameters of the function
    mode: str | None = None  # an alternative for rules of this kind only: reverse or forward mode
    cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def place(self) -> Place:
        """Where the rule is written."""
        source = self.partials[0] if self.partials else self.function
        code = getattr(source, "__code__", None)
        if code is None:
            return self.declared or Place()
        return place_at(code.co_filename, code.co_firstlineno)

    def same_registration(self, other: Entry) -> bool:
        """Whether registering ``other`` on top of this one would change nothing (the typed signatures apart)."""
        mine = (self.kind, self.layer, self.keep_thunks, self.surrogate, self.linear)
        if self.target is not other.target or mine != (
            other.kind,
            other.layer,
            other.keep_thunks,
            other.surrogate,
            other.linear,
        ):
            return False
        if self.partials is not None or other.partials is not None:
            return self.partials == other.partials
        return self.function is other.function

    def signature(self) -> inspect.Signature:
        """The parameters of the rule (for an elementwise rule: those of the partials but the result)."""
        found = self.cache.get("signature")
        if found is None:
            assert self.function is not None
            try:
                found = inspect.signature(self.function)
                own = [p for p in found.parameters.values() if not _is_handle(p)]
                self.cache["ad"] = len(own) < len(found.parameters)
                found = self.cache["signature"] = found.replace(parameters=own)
            except (TypeError, ValueError) as error:
                raise RuleError(f"the rule for {name_of(self.target)} has no readable signature", self.place) from error
        return found

    def is_asked_by(self, count: int, named: Iterable[str]) -> bool:
        """Whether a call with ``count`` positional arguments and these keywords gives one of :attr:`keywords`."""
        if any(name in self.keywords for name in named):
            return True
        if "places" not in self.cache:
            self.cache["places"] = _places(self.target, self.keywords)
        return any(place < count for place in self.cache["places"])

    def takes(self, keywords: tuple[str, ...], named: Iterable[str]) -> bool:
        """Whether the rule has all parameters that are among these keywords and named in a call."""
        return all(name in self.signature().parameters for name in named if name in keywords)

    def wants_ad(self) -> bool:
        """Whether the rule takes ``ad``, to differentiate a function argument."""
        return self.function is not None and bool(self.signature() and self.cache.get("ad"))


def _places(target: Any, names: tuple[str, ...]) -> tuple[int, ...]:
    """Where these parameters of ``target`` may be given by position."""
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return ()
    return tuple(k for k, p in enumerate(parameters) if p.name in names and p.kind is p.POSITIONAL_OR_KEYWORD)


def place_at(filename: str, line: int) -> Place:
    """A line of a file, with its text."""
    import linecache

    return Place(filename, line, linecache.getline(filename, line))


_OURS = ("thunkad", "contextlib")


def place_of_user() -> Place:
    """Where the user's code is that called this library."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        frame = frame.f_back
    return place_at(frame.f_code.co_filename, frame.f_lineno)


def _is_handle(p: inspect.Parameter) -> bool:
    return p.name == "ad" and p.kind is p.KEYWORD_ONLY


def name_of(target: Any) -> str:
    """How a callee is called in messages: ``np.sum``, ``ndarray.sum``, ``module.function``."""
    name: str | None = getattr(target, "__qualname__", None) or getattr(target, "__name__", None)
    if name is None:
        return repr(target)
    module: str = getattr(target, "__module__", None) or ""
    bound = getattr(target, "__self__", None)
    if type(bound).__name__ == "ufunc":
        return f"{name_of(bound)}.{target.__name__}"
    owner = getattr(target, "__objclass__", None)
    if owner is not None:
        return f"{owner.__name__}.{target.__name__}"
    if type(target).__name__ == "ufunc" and getattr(sys.modules.get("scipy.special"), name, None) is target:
        return f"scipy.special.{name}"
    if type(target).__name__ == "ufunc" or module == "numpy" or module.startswith("numpy."):
        prefix = (
            "np."
            if module in ("", "numpy") or type(target).__name__ == "ufunc"
            else module.replace("numpy", "np", 1) + "."
        )
        return prefix + name
    return name if module in ("builtins", "") else f"{module}.{name}"
