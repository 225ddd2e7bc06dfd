"""The parameters, read from JSON values and checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from relief.errors import BadInput

BACKGROUNDS = ("auto", "keep")


@dataclass(frozen=True)
class Options:
    """resolution: grid cells along the longer side; depth: share of the longer side."""

    resolution: int = 256
    depth: float = 0.25
    smoothing: float = 0.3
    background: str = "auto"


def read_options(params: dict[str, Any]) -> Options:
    """Take what is known from `params`, defaults for the rest; raises BadInput."""
    default = Options()
    background = params.get("background", default.background)
    if background not in BACKGROUNDS:
        raise BadInput(f"background must be one of {', '.join(BACKGROUNDS)}, not {background!r}")
    return Options(
        resolution=int(_number(params, "resolution", default.resolution, 16, 1024)),
        depth=_number(params, "depth", default.depth, 0.0, 1.0),
        smoothing=_number(params, "smoothing", default.smoothing, 0.0, 1.0),
        background=background,
    )


def _number(params: dict[str, Any], name: str, default: float, low: float, high: float) -> float:
    """A number or a numeric text between low and high; raises BadInput."""
    value = params.get(name)
    if value is None:
        return default
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not low <= number <= high:
        raise BadInput(f"{name} must be a number from {low:g} to {high:g}, not {value!r}"[:200])
    return number
