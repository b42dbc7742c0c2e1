"""Debug mode: checks at the boundaries of rules, switched on by ``thunkad.debug()`` or ``THUNKAD_DEBUG=1``."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

#: Whether debug mode is on; read at each check.
enabled: bool = os.environ.get("THUNKAD_DEBUG", "") not in ("", "0")
_lock = threading.Lock()
_depth = 0
_outside = enabled


@contextlib.contextmanager
def debug() -> Iterator[None]:
    """Check cotangents where they leave a rule while the block runs (in all threads).

    Every cotangent must have the dtype, shape and kind of what it is the cotangent of, and be finite; ``add`` of an
    :class:`thunkad.InplaceableThunk` must return its buffer.  The error names the line of the primal where the first
    bad cotangent appeared.  Derivatives are compiled anew for debug mode, so the first call takes longer.
    """
    global enabled, _depth, _outside
    with _lock:
        if not _depth:
            _outside = enabled
        _depth += 1
        enabled = True
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if not _depth:
                enabled = _outside
