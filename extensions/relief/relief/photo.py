"""Decodes a photograph of any common kind to 8-bit RGB, and its alpha if that says anything."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import Optional

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from relief.errors import BadInput

MAX_SIDE_PIXELS = 2048
WIDE_MODES = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")
DECODER_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    struct.error,
    Image.DecompressionBombError,
)


@dataclass(frozen=True)
class Photo:
    """rgb: height x width x 3, uint8; alpha: height x width, 0..1, or None if fully opaque."""

    rgb: np.ndarray
    alpha: Optional[np.ndarray]


def read_photo(data: bytes) -> Photo:
    """Decode, turn upright and shrink to MAX_SIDE_PIXELS; raises BadInput."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.draft("RGB", (MAX_SIDE_PIXELS, MAX_SIDE_PIXELS))
            image.load()
            upright = ImageOps.exif_transpose(_shrink(_to_8_bit(image)))
    except UnidentifiedImageError as exc:
        raise BadInput("not an image of a known format, or one without a usable header") from exc
    except DECODER_ERRORS as exc:
        raise BadInput(f"the image cannot be decoded, it may be cut off: {exc}") from exc
    return _to_arrays(upright)


def resample(channel: np.ndarray, width: int, height: int) -> np.ndarray:
    """Resize a 2-D float array; averages when shrinking, interpolates when growing."""
    image = Image.fromarray(np.ascontiguousarray(channel, dtype=np.float32), mode="F")
    return np.asarray(image.resize((width, height), Image.Resampling.BILINEAR), dtype=np.float32)


def resample_rgb(rgb: np.ndarray, width: int, height: int) -> np.ndarray:
    """Resize an RGB picture and return it as floats from 0 to 1."""
    image = Image.fromarray(rgb, mode="RGB").resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(image, dtype=np.float32) / np.float32(255.0)


def _to_8_bit(image: Image.Image) -> Image.Image:
    """Bring any mode to RGB or, where there is transparency, to RGBA; keeps the EXIF data."""
    if image.mode in WIDE_MODES:
        return _stretch(image)
    transparent = image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info
    mode = "RGBA" if transparent else "RGB"
    return image if image.mode == mode else image.convert(mode)


def _stretch(image: Image.Image) -> Image.Image:
    """Map 16-bit, 32-bit and float greys to 8 bits."""
    values = np.nan_to_num(np.asarray(image, dtype=np.float32))
    low, high = float(values.min()), float(values.max())
    if image.mode.startswith("I") and low >= 0 and high <= 65535:
        low, high = 0.0, 65535.0 if high > 255 else 255.0
    grey = (values - low) * np.float32(255.0 / max(high - low, 1e-6))
    result = Image.fromarray(grey.astype(np.uint8), mode="L").convert("RGB")
    result.info.update({key: image.info[key] for key in ("exif",) if key in image.info})
    return result


def _shrink(image: Image.Image) -> Image.Image:
    """Scale in place, before anything makes a copy of a large picture."""
    if max(image.size) > MAX_SIDE_PIXELS:
        image.thumbnail((MAX_SIDE_PIXELS, MAX_SIDE_PIXELS), Image.Resampling.BILINEAR)
    return image


def _to_arrays(image: Image.Image) -> Photo:
    if image.mode != "RGBA":
        return Photo(np.asarray(image.convert("RGB")), None)
    pixels = np.asarray(image)
    alpha = pixels[:, :, 3].astype(np.float32) / np.float32(255.0)
    opaque = bool(alpha.min() > 0.98)
    return Photo(np.ascontiguousarray(pixels[:, :, :3]), None if opaque else alpha)
