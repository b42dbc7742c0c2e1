"""The value of a variable that isn't bound yet."""

from __future__ import annotations


class Unbound:
    """Stands, itself and not as an instance, for "no value" where a variable that may be unbound has to be copied.

    Generated code tests ``x is Unbound`` before each read of such a variable and raises ``UnboundLocalError``.
    """
