"""What happens when the rules of a compiled derivative have changed."""

from __future__ import annotations

import os

from thunkad.errors import ArgumentError

POLICIES = ("manual", "auto", "error")
_policy: str | None = None


def set_refresh_policy(policy: str) -> None:
    """Choose what a call does when rules that its derivative was compiled with have changed.

    Parameters
    ----------
    policy : {'manual', 'auto', 'error'}
        'manual' (the default): the derivative keeps the rules it was compiled with and warns once, until ``refresh()``;
        'auto': it is rebuilt; 'error': :class:`StaleRuleError` is raised.  The environment variable ``THUNKAD_REFRESH`` sets
        the initial policy.
    """
    global _policy
    if policy not in POLICIES:
        raise ArgumentError(f"the refresh policy is one of {', '.join(POLICIES)}, not {policy!r}")
    _policy = policy


def current() -> str:
    """The policy in force."""
    return _policy or os.environ.get("THUNKAD_REFRESH", "manual")
