"""Every error and warning of the library.  Each names the user's file, line and source text, and what to do."""

from __future__ import annotations

from thunkad.records import record


@record(frozen=True)
class Place:
    """A position in the user's source."""

    filename: str = "<unknown>"
    line: int = 0
    text: str = ""

    def __str__(self) -> str:
        where = f'File "{self.filename}", line {self.line}'
        return f"{where}\n    {self.text.strip()}" if self.text.strip() else where


class ThunkadError(Exception):
    """Base class of the errors that this library raises on purpose.

    Parameters
    ----------
    message : str
        What happened.
    place : Place, optional
        Where in the user's source.
    hint : str, optional
        What to do about it.
    """

    def __init__(self, message: str, place: Place | None = None, hint: str = "") -> None:
        self.message, self.place, self.hint = message, place, hint
        parts = [message]
        if place is not None:
            parts.append(f"  {place}")
        if hint:
            parts.append(f"  {hint}")
        super().__init__("\n".join(parts))

    def at(self, place: Place) -> ThunkadError:
        """The same error with ``place``, if it has none."""
        return self if self.place is not None else type(self)(self.message, place, self.hint)


class UnsupportedSyntaxError(ThunkadError):
    """The function uses a construct that can't be differentiated."""


class SourceUnavailableError(ThunkadError):
    """The source of a function that has to be looked into can't be found."""


class NoRuleError(ThunkadError):
    """A function without Python source, or one of a library that can't be looked into, has no rule."""


class RuleError(ThunkadError):
    """A rule is wrong: its signature, its result, or the way it is called."""


class RuleWarning(UserWarning):
    """A registration has no effect."""


class AmbiguousRuleError(RuleError):
    """Two rules apply and neither is more specific."""


class StaleRuleError(ThunkadError):
    """A compiled derivative no longer matches the rule table and the policy is ``"error"``."""


class NonScalarOutputError(ThunkadError):
    """A derivative of a function whose result does not have it: ``grad`` where it is not one real number."""


class NonDifferentiableArgumentError(ThunkadError):
    """A derivative was asked for with respect to a value that has none (a string, a flag, None)."""


class ArgumentError(ThunkadError, ValueError):
    """``argnums``, ``argnames`` or another option does not fit the function."""


class CotangentError(ThunkadError):
    """A cotangent does not fit its primal (shape, dtype or structure)."""


class NotImplementedDerivativeError(ThunkadError, NotImplementedError):
    """A derivative was asked for that a rule declares as not implemented."""


class KeptValueWarning(UserWarning):
    """A function that is differentiated has read what an earlier call has left in a variable, container or object.

    That counts as a constant, which is wrong if it is a memo.
    """


class StaleRuleWarning(UserWarning):
    """A compiled derivative runs with rules that have changed since; ``refresh()`` rebuilds it."""
