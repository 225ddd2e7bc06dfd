"""Cuts the picture down to its object, so that the whole grid is spent on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from relief.photo import Photo, resample

MARGIN_SHARE = 0.02


@dataclass(frozen=True)
class Subject:
    """rgb: the cropped picture; field: (rows + 1) x (columns + 1) grid, positive on the object.

    The field's outermost ring is always negative: the outline closes inside the grid.
    """

    rgb: np.ndarray
    field: np.ndarray
    whole: bool


def crop_subject(photo: Photo, field: Optional[np.ndarray], resolution: int) -> Subject:
    """Sample the field on a grid of `resolution` cells along the longer side of the crop."""
    height, width = photo.rgb.shape[:2]
    whole = field is None
    left, top, right, bottom = (0.0, 0.0, 1.0, 1.0) if field is None else _bounds(field)
    box = (
        min(width - 1, int(left * width)),
        min(height - 1, int(top * height)),
        max(1, round(right * width)),
        max(1, round(bottom * height)),
    )
    rgb = photo.rgb[box[1] : max(box[3], box[1] + 1), box[0] : max(box[2], box[0] + 1)]
    rows, columns = _grid(rgb.shape[0], rgb.shape[1], resolution)
    grid = np.ones((rows + 1, columns + 1), dtype=np.float32)
    if field is not None:
        scaled = resample(field, width, height)[box[1] : box[3], box[0] : box[2]]
        grid = resample(scaled, columns + 1, rows + 1)
    return Subject(rgb, _close(grid), whole)


def _bounds(field: np.ndarray) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what is positive, with a margin, as shares of the size."""
    rows = np.flatnonzero((field > 0).any(axis=1))
    columns = np.flatnonzero((field > 0).any(axis=0))
    height, width = field.shape
    return (
        max(0.0, columns[0] / width - MARGIN_SHARE),
        max(0.0, rows[0] / height - MARGIN_SHARE),
        min(1.0, (columns[-1] + 1) / width + MARGIN_SHARE),
        min(1.0, (rows[-1] + 1) / height + MARGIN_SHARE),
    )


def _grid(height: int, width: int, resolution: int) -> tuple[int, int]:
    """Rows and columns of nearly square cells, at least two each way."""
    cell = max(height, width) / resolution
    return max(2, round(height / cell)), max(2, round(width / cell))


def _close(grid: np.ndarray) -> np.ndarray:
    """Make the outermost ring negative and make sure that something inside is positive."""
    closed = np.array(grid, dtype=np.float32)
    magnitude = max(1e-3, float(np.abs(closed).max()))
    ring = np.ones(closed.shape, dtype=bool)
    ring[1:-1, 1:-1] = False
    closed[ring] = np.minimum(closed[ring], -magnitude)
    if not (closed > 0).any():
        closed[closed.shape[0] // 2, closed.shape[1] // 2] = magnitude
    return closed
