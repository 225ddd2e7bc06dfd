"""Makes the JPEG that the mesh wears."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from relief.crop import Subject
from relief.filters import gaussian
from relief.photo import resample, resample_rgb

QUALITY = 90
BLEED_SIDE = 128
BLEED_SIGMA = 4.0


def encode_texture(subject: Subject) -> bytes:
    """Return the cropped picture as JPEG, the object's colours spread beyond its outline.

    Without that, filtering at the outline would draw a seam in the background's colour.
    """
    rgb = subject.rgb if subject.whole else _bleed(subject)
    stream = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(rgb), mode="RGB").save(stream, "JPEG", quality=QUALITY)
    return stream.getvalue()


def _bleed(subject: Subject) -> np.ndarray:
    height, width = subject.rgb.shape[:2]
    scale = min(1.0, BLEED_SIDE / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    solid = (resample(subject.field, *size) > 0.2).astype(np.float32)
    weight = gaussian(solid, BLEED_SIGMA) + np.float32(1e-4)
    small = resample_rgb(np.ascontiguousarray(subject.rgb), *size)
    spread = [gaussian(small[:, :, c] * solid, BLEED_SIGMA) / weight for c in range(3)]
    keep = np.clip(resample(subject.field, width, height) * 4 + 0.5, 0, 1)
    result = np.empty_like(subject.rgb)
    for channel, colours in enumerate(spread):
        fill = resample(colours, width, height) * np.float32(255)
        mixed = subject.rgb[:, :, channel] * keep + fill * (1 - keep)
        result[:, :, channel] = np.clip(mixed + np.float32(0.5), 0, 255)
    return result
