"""BadInput, taken from the host where it has one."""

from __future__ import annotations

try:
    from services.generators.base import BadInput
except ImportError:

    class BadInput(ValueError):  # type: ignore[no-redef]
        """The photograph or a parameter is at fault; hosts know it by its class name."""


__all__ = ["BadInput"]
