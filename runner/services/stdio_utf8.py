"""UTF-8 on the standard streams, whatever the locale says."""

from __future__ import annotations

import sys


def ensure_utf8_stdio() -> None:
    """Make prints never fail on a character: UTF-8 out, escapes for lone surrogates."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
