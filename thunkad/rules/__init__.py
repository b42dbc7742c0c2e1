"""The rule language, the rule table, and the library of rules.

For users, ``thunkad.rules`` is also the table itself: its functions ``lookup``, ``edges``, ``remove``, ``override`` and
``together``, and its ``version``, are those of :mod:`thunkad.rules.registry`.
"""

from typing import Any

_PUBLIC = ("edges", "lookup", "override", "remove", "together", "version")


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'thunkad.rules' has no attribute {name!r}")
    from thunkad.refreshing import rules

    return getattr(rules, name)
