"""Numbers from the environment."""

from __future__ import annotations

import os

MAX_DIGITS = 18


def env_positive(name: str, default: int) -> int:
    """The variable's value if it is a plain positive number, else the default."""
    text = os.environ.get(name, "")
    usable = text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS
    return (int(text) if usable else 0) or default
