"""Liveness as one of the analyses of normal form; it lives in :mod:`thunkad.ir.live`, as ``versions`` needs it too."""

from __future__ import annotations

from thunkad.ir.live import Liveness, live_after, live_at_head, liveness

__all__ = ["Liveness", "live_after", "live_at_head", "liveness"]
