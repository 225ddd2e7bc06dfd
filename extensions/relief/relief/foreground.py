"""Finds the object in a photograph: a field that is positive on it and negative beside it.

An alpha channel is taken at its word. Otherwise two colour models, one learned at the picture's
border and one inside, compete for each pixel, and what wins near the centre is kept.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from relief.colour import Mixture, to_lab
from relief.filters import edge_preserving, gaussian, neighbours, without_specks
from relief.photo import Photo, resample, resample_rgb

WORK_SIDE = 192
MIN_SIDE = 16
BORDER_SHARE = 0.06
ROUNDS = 6
CENTRE_WEIGHT = 3.0
MIN_SHARE, MAX_SHARE = 0.02, 0.92
KEEP_COMPONENT_SHARE = 0.15
SILHOUETTE_SIGMA = 2.2
SPUR_PIXELS = 5


def find_foreground(photo: Photo) -> Optional[np.ndarray]:
    """Return the field at work size, or None if no object stands out and all is to be kept."""
    height, width = photo.rgb.shape[:2]
    scale = WORK_SIDE / max(height, width)
    size = max(2, round(width * scale)), max(2, round(height * scale))
    if photo.alpha is not None:
        field = resample(photo.alpha, *size) - np.float32(0.5)
        return field if (field > 0).any() else None
    if min(height, width) < MIN_SIDE:
        return None
    return _from_colours(resample_rgb(photo.rgb, *size))


def _from_colours(rgb: np.ndarray) -> Optional[np.ndarray]:
    lab = to_lab(rgb)
    if float(lab.std(axis=(0, 1)).max()) < 1e-3:
        return None
    score = _separate(lab)
    mask = _fill_holes(_main_components(score > 0))
    mask = _main_components(without_specks(mask.astype(np.float32), SPUR_PIXELS) > 0.5)
    share = float(mask.mean())
    if not MIN_SHARE <= share <= MAX_SHARE:
        return None
    return gaussian(np.where(mask, 1, -1), SILHOUETTE_SIGMA)


def _separate(lab: np.ndarray) -> np.ndarray:
    """Refine the two colour models in turns; returns the log odds of being object."""
    height, width = lab.shape[:2]
    pixels = lab.reshape(-1, 3)
    border = _border(height, width)
    centre = _centre_prior(height, width)
    background = Mixture(pixels[border.ravel()])
    distance = -background.log_likelihood(pixels).reshape(height, width)
    limit = np.median(distance[~border])
    mask = (distance > limit) & (centre > 0) & ~border
    score = centre
    for _ in range(ROUNDS):
        if mask.sum() < 16 or (~mask).sum() < 16:
            break
        odds = Mixture(pixels[mask.ravel()]).log_likelihood(pixels)
        odds -= Mixture(pixels[~mask.ravel()]).log_likelihood(pixels)
        odds = np.clip(odds.reshape(height, width), -6, 6).astype(np.float32)
        score = edge_preserving(lab[:, :, 0], odds, 2.5, 0.002) + centre
        mask = _main_components(score > 0) & ~border
    return score


def _border(height: int, width: int) -> np.ndarray:
    """True in a frame along the picture's edge."""
    band = max(1, round(min(height, width) * BORDER_SHARE))
    mask = np.ones((height, width), dtype=bool)
    mask[band:-band, band:-band] = False
    return mask


def _centre_prior(height: int, width: int) -> np.ndarray:
    """Positive in the middle, negative towards the edges: photographers aim at their subject."""
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    return np.float32(CENTRE_WEIGHT) * (np.float32(0.45) - (x * x + y * y) / 2)


def _main_components(mask: np.ndarray) -> np.ndarray:
    """Keep the largest connected part and those not much smaller."""
    labels = _label(mask)
    sizes = np.bincount(labels[mask], minlength=1) if mask.any() else np.zeros(1, dtype=int)
    return mask & (sizes[labels] >= max(1, sizes.max() * KEEP_COMPONENT_SHARE))


def _fill_holes(mask: np.ndarray) -> np.ndarray:
    """Close every gap that does not reach the picture's edge."""
    padded = np.pad(~mask, 1, constant_values=True)
    labels = _label(padded)
    return ~(padded & (labels == labels[0, 0]))[1:-1, 1:-1]


def _label(mask: np.ndarray) -> np.ndarray:
    """Give the pixels of each 4-connected part one number, the largest index inside it."""
    labels = np.where(mask, np.arange(1, mask.size + 1).reshape(mask.shape), 0)
    for _ in range(mask.size):
        spread = labels
        for moved in neighbours(labels, 0):
            spread = np.maximum(spread, moved)
        spread = np.where(mask, spread, 0)
        jumped = np.where(mask, np.append(0, spread.ravel())[spread], 0)
        if np.array_equal(jumped, labels):
            break
        labels = jumped
    return labels
