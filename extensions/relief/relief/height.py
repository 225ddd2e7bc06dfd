"""Estimates how far each point of the object stands out, from 0 at its outline to 1.

Three layers are added: a balloon that rises with the distance from the silhouette, the large
shapes of the shading with their edges kept, and a little fine detail.
"""

from __future__ import annotations

import numpy as np

from relief.crop import Subject
from relief.filters import (
    edge_preserving,
    gaussian,
    neighbours,
    smoothstep,
    without_specks,
)
from relief.photo import resample, resample_rgb

BALLOON_SIDE = 96
BALLOON_ROUNDS = 60
SPECK_CELLS = 4
SPECK_RISE = 0.2
OBJECT_WEIGHTS = (0.50, 0.42, 0.08)
WHOLE_WEIGHTS = (0.15, 0.75, 0.10)
LUMA = np.array([0.2126, 0.7152, 0.0722], dtype=np.float32)


def estimate_height(subject: Subject, smoothing: float) -> np.ndarray:
    """Return heights from 0 to 1 on the subject's grid; smoothing from 0 to 1."""
    rows, columns = subject.field.shape
    unit = max(rows, columns) / 256
    inside = subject.field > 0
    brightness = _brightness(subject, columns, rows, inside)
    balloon = _balloon(inside)
    floor = gaussian(without_specks(brightness, round(SPECK_CELLS * unit)), 2.0 * unit)
    calm = np.minimum(brightness, floor + np.float32(SPECK_RISE))
    shapes = edge_preserving(calm, calm, 3.0 * unit, 0.02)
    detail = calm - gaussian(calm, 4.0 * unit)
    weights = WHOLE_WEIGHTS if subject.whole else OBJECT_WEIGHTS
    ramp = smoothstep(balloon, 0.0, 0.35)
    height = weights[0] * balloon + ramp * (weights[1] * shapes + weights[2] * detail)
    height = gaussian(height, (0.4 + 5.0 * smoothing * smoothing) * unit)
    return _normalise(np.where(inside, height, 0))


def _brightness(subject: Subject, columns: int, rows: int, inside: np.ndarray) -> np.ndarray:
    """Brightness on the grid, stretched to 0..1 over the object without its extremes."""
    grey = np.sqrt(resample_rgb(subject.rgb, columns, rows) @ LUMA)
    low, high = np.percentile(grey[inside], [2, 98])
    if high - low < 0.02:
        return np.full_like(grey, 0.5)
    return np.clip((grey - low) / (high - low), 0, 1).astype(np.float32)


def _balloon(inside: np.ndarray) -> np.ndarray:
    """A membrane held at the outline and blown up evenly; 0 outside, 1 at its top.

    It solves Poisson's equation from a coarse grid to finer ones; the square root of that rises
    steeply at the outline, as a round body does.
    """
    rows, columns = inside.shape
    solid = inside.astype(np.float32)
    membrane = np.zeros((1, 1), dtype=np.float32)
    side = 6
    while side <= BALLOON_SIDE:
        scale = side / max(rows, columns)
        size = max(3, round(columns * scale)), max(3, round(rows * scale))
        share = resample(solid, *size)
        membrane = _relax(resample(membrane, *size) * 4, share)
        side *= 2
    full = resample(membrane, columns, rows) * solid
    return np.sqrt(np.maximum(full, 0) / max(float(full.max()), 1e-6))


def _relax(membrane: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Jacobi steps; cells outside the object hold the membrane down."""
    for _ in range(BALLOON_ROUNDS):
        up, down, left, right = neighbours(membrane, 0)
        membrane = (0.25 * (up + down + left + right) + 1) * share
    return membrane


def _normalise(height: np.ndarray) -> np.ndarray:
    low, high = float(height.min()), float(height.max())
    if high - low < 1e-6:
        return np.zeros_like(height)
    return ((height - low) / (high - low)).astype(np.float32)
