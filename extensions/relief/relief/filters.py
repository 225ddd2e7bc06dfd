"""Small image filters on 2-D float32 arrays. Sigmas are in pixels; edges are mirrored outwards."""

from __future__ import annotations

import numpy as np

MAX_RADIUS = 256


def gaussian(channel: np.ndarray, sigma: float) -> np.ndarray:
    """Blur by two passes of a one-dimensional kernel."""
    if sigma < 0.3:
        return channel.astype(np.float32)
    radius = min(MAX_RADIUS, max(1, int(3 * sigma + 0.5)))
    offsets = np.arange(-radius, radius + 1, dtype=np.float32)
    kernel = np.exp(-0.5 * (offsets / np.float32(sigma)) ** 2)
    kernel /= kernel.sum()
    return _blur_rows(_blur_rows(channel.astype(np.float32), kernel).T, kernel).T


def _blur_rows(channel: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Convolve along the first axis."""
    radius = len(kernel) // 2
    padded = np.pad(channel, ((radius, radius), (0, 0)), mode="edge")
    count = channel.shape[0]
    result = np.zeros_like(channel)
    for index, weight in enumerate(kernel):
        result += weight * padded[index : index + count]
    return result


def edge_preserving(guide: np.ndarray, channel: np.ndarray, sigma: float, eps: float) -> np.ndarray:
    """Smooth `channel`, but keep its edges where `guide` has one.

    In each window the result is a linear function of the guide; eps is the variance of the guide
    below which a window counts as flat.
    """
    mean_guide, mean_channel = gaussian(guide, sigma), gaussian(channel, sigma)
    covariance = gaussian(guide * channel, sigma) - mean_guide * mean_channel
    variance = gaussian(guide * guide, sigma) - mean_guide * mean_guide
    slope = covariance / (np.maximum(variance, 0) + np.float32(eps))
    offset = mean_channel - slope * mean_guide
    return gaussian(slope, sigma) * guide + gaussian(offset, sigma)


def without_specks(channel: np.ndarray, radius: int) -> np.ndarray:
    """Flatten what is brighter than its surroundings and narrower than 2 x radius + 1 pixels."""
    if radius < 1:
        return channel
    return _extreme(_extreme(channel, radius, np.minimum), radius, np.maximum)


def _extreme(channel: np.ndarray, radius: int, choose: np.ufunc) -> np.ndarray:
    """The least or greatest value in an octagon around each pixel: crosses and squares in turn."""
    for step in range(radius):
        padded = np.pad(channel, 1, mode="edge")
        rows = choose.reduce([padded[:-2], padded[1:-1], padded[2:]])
        columns = rows if step % 2 else padded[1:-1]
        columns = choose.reduce([columns[:, :-2], columns[:, 1:-1], columns[:, 2:]])
        channel = choose(rows[:, 1:-1], columns)
    return channel


def smoothstep(channel: np.ndarray, low: float, high: float) -> np.ndarray:
    """0 up to low, 1 from high on, a soft step between."""
    t = np.clip((channel - low) / (high - low), 0, 1)
    return (t * t * (3 - 2 * t)).astype(np.float32)


def neighbours(channel: np.ndarray, outside: float) -> list[np.ndarray]:
    """The four arrays that hold each pixel's upper, lower, left and right neighbour."""
    padded = np.pad(channel, 1, constant_values=outside)
    return [padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]]
