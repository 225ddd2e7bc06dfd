"""Colours as the eye compares them, and a mixture of Gaussians over them."""

from __future__ import annotations

import numpy as np

CLUSTERS = 5
CLUSTER_ROUNDS = 8
MAX_SAMPLES = 8000
MIN_VARIANCE = 2e-4

_RGB_TO_XYZ = np.array(
    [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]],
    dtype=np.float32,
)
_WHITE = _RGB_TO_XYZ.sum(axis=1)


def to_lab(rgb: np.ndarray) -> np.ndarray:
    """sRGB from 0 to 1 to CIE L*a*b*, divided by 100."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = linear.astype(np.float32) @ _RGB_TO_XYZ.T / _WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = f[..., 0], f[..., 1], f[..., 2]
    return np.stack([1.16 * y - 0.16, 5 * (x - y), 2 * (y - z)], axis=-1).astype(np.float32)


class Mixture:
    """Gaussians with full covariance around the clusters of some colours."""

    def __init__(self, samples: np.ndarray) -> None:
        """Fit to an N x 3 array with N >= 1; deterministic."""
        step = max(1, len(samples) // MAX_SAMPLES)
        samples = samples[::step].astype(np.float64)
        self._parts = []
        owners = _cluster(samples, min(CLUSTERS, len(samples)))
        for owner in np.unique(owners):
            members = samples[owners == owner]
            centred = members - members.mean(axis=0)
            covariance = centred.T @ centred / len(members) + MIN_VARIANCE * np.eye(3)
            constant = np.log(len(members) / len(samples)) - 0.5 * np.linalg.slogdet(covariance)[1]
            self._parts.append((members.mean(axis=0), np.linalg.inv(covariance), constant))

    def log_likelihood(self, pixels: np.ndarray) -> np.ndarray:
        """The log density at each of N x 3 colours, up to one constant."""
        terms = []
        for mean, inverse, constant in self._parts:
            centred = pixels - mean
            terms.append(constant - 0.5 * np.einsum("ni,ij,nj->n", centred, inverse, centred))
        return np.logaddexp.reduce(terms, axis=0)


def _cluster(samples: np.ndarray, count: int) -> np.ndarray:
    """k-means, started from samples spread along the brightness; returns each sample's cluster."""
    order = np.argsort(samples.sum(axis=1), kind="stable")
    picks = np.linspace(0, len(samples) - 1, 2 * count + 1).astype(int)[1::2]
    centres = samples[order[picks]]
    owners = np.zeros(len(samples), dtype=int)
    for _ in range(CLUSTER_ROUNDS):
        squares = ((samples[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        owners = squares.argmin(axis=1)
        for index in np.unique(owners):
            centres[index] = samples[owners == index].mean(axis=0)
    return owners
