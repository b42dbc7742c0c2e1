"""What happens when the rules of a compiled derivative have changed."""

from __future__ import annotations

import contextlib
import contextvars
import os
from collections.abc import Iterator

from thunkad.errors import ArgumentError

POLICIES = ("manual", "auto", "error")
VARIABLE = "THUNKAD_REFRESH"
_policy: str | None = None
_here: contextvars.ContextVar[str | None] = contextvars.ContextVar("refresh_policy", default=None)


def set_refresh_policy(policy: str) -> None:
    """Choose what a call does when rules that its derivative was compiled with have changed.

    Parameters
    ----------
    policy : {'manual', 'auto', 'error'}
        'manual' (the default): the derivative keeps the rules it was compiled with and warns once, until ``refresh()``;
        'auto': it is rebuilt; 'error': :class:`StaleRuleError` is raised.  The environment variable ``THUNKAD_REFRESH``
        sets the policy for as long as this function isn't called.
    """
    global _policy
    _policy = _checked(policy)


@contextlib.contextmanager
def refresh_policy(policy: str) -> Iterator[None]:
    """Another policy within the ``with`` block, in this thread or task only; see :func:`set_refresh_policy`."""
    token = _here.set(_checked(policy))
    try:
        yield
    finally:
        _here.reset(token)


def current() -> str:
    """The policy in force."""
    return _here.get() or _policy or _checked(os.environ.get(VARIABLE, "manual"), f" (set by {VARIABLE})")


def _checked(policy: str, source: str = "") -> str:
    if policy not in POLICIES:
        raise ArgumentError(f"the refresh policy is one of {', '.join(POLICIES)}, not {policy!r}{source}")
    return policy
