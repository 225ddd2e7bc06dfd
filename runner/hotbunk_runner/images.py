"""Tells from an image file's first bytes what it is and how many pixels it claims.

No pixel is decoded: this stands before the decoder, so that a file that is no image, or a small
file that would unpack to gigabytes, ends as a clear error. Pure, bounded, safe on any bytes.
"""

from __future__ import annotations

import struct
from typing import NamedTuple, Optional

from services.generators.base import BadInput

from hotbunk_runner.settings import env_positive

DEFAULT_MAX_PIXELS = 40_000_000
MAX_JPEG_SEGMENTS = 4096
MAX_TIFF_ENTRIES = 4096
KNOWN = "PNG, JPEG, WebP, GIF, BMP or TIFF"


class ImageInfo(NamedTuple):
    """Format name and size in pixels."""

    format: str
    width: int
    height: int


def max_pixels() -> int:
    """The limit from HOTBUNK_MAX_IMAGE_PIXELS, or the default if that is no positive number."""
    return env_positive("HOTBUNK_MAX_IMAGE_PIXELS", DEFAULT_MAX_PIXELS)


def check_image(data: bytes, limit: Optional[int] = None) -> ImageInfo:
    """Return what the header says.

    Raises BadInput if the bytes are no image, if the header is damaged or cut off, or if the
    image has more than `limit` pixels (default: max_pixels()).
    """
    info = sniff(data)
    limit = max_pixels() if limit is None else limit
    pixels = info.width * info.height
    if pixels > limit:
        raise BadInput(
            f"the image has {info.width} x {info.height} = {pixels} pixels; the limit is {limit} "
            "(max_image_pixels): scale it down or raise the limit"
        )
    return info


def sniff(data: bytes) -> ImageInfo:
    """Read format and size from the header; raises BadInput."""
    if not data:
        raise BadInput(f"not an image: the file is empty; send a {KNOWN} file")
    name, reader = _identify(data)
    try:
        width, height = reader(data)
    except (struct.error, IndexError) as exc:
        raise BadInput(f"the {name} file is cut off or damaged: no size in its header") from exc
    if width <= 0 or height <= 0:
        raise BadInput(f"the {name} file is damaged: its size is {width} x {height}")
    return ImageInfo(name, width, height)


def _identify(data: bytes):
    """Find the format by its signature; raises BadInput."""
    for name, signatures, reader in _FORMATS:
        if data.startswith(signatures):
            return name, reader
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP", _webp_size
    raise BadInput(f"not an image: unknown file signature; send a {KNOWN} file")


def _png_size(data: bytes) -> tuple[int, int]:
    if data[12:16] != b"IHDR":
        raise IndexError("no IHDR")
    return struct.unpack_from(">II", data, 16)


def _gif_size(data: bytes) -> tuple[int, int]:
    return struct.unpack_from("<HH", data, 6)


def _bmp_size(data: bytes) -> tuple[int, int]:
    (header_bytes,) = struct.unpack_from("<I", data, 14)
    if header_bytes == 12:
        return struct.unpack_from("<HH", data, 18)
    width, height = struct.unpack_from("<ii", data, 18)
    return width, abs(height)


def _webp_size(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X":
        flags_and_size = struct.unpack_from("<6B", data, 24)
        return _u24(flags_and_size[:3]) + 1, _u24(flags_and_size[3:]) + 1
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF


def _u24(octets: tuple[int, ...]) -> int:
    return octets[0] | octets[1] << 8 | octets[2] << 16


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Walk the segments to the frame header (ITU T.81, B.2.2)."""
    at = 2
    for _ in range(MAX_JPEG_SEGMENTS):
        while data[at] == 0xFF and data[at + 1] == 0xFF:
            at += 1
        if data[at] != 0xFF:
            break
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        if marker in (0xD9, 0xDA):
            break
        standalone = marker == 0x01 or 0xD0 <= marker <= 0xD8
        at += 2 if standalone else 2 + max(2, struct.unpack_from(">H", data, at + 2)[0])
    raise IndexError("no frame header")


def _tiff_size(data: bytes) -> tuple[int, int]:
    """Read width and height (tags 256 and 257) from the first directory; BigTIFF too."""
    order = "<" if data[:2] == b"II" else ">"
    big = struct.unpack_from(order + "H", data, 2)[0] == 43
    count_code, offset_code, entry_bytes, value_at = (
        ("Q", "Q", 20, 12) if big else ("H", "I", 12, 8)
    )
    (start,) = struct.unpack_from(order + offset_code, data, 8 if big else 4)
    if start >= len(data):
        raise IndexError("directory behind the end")
    (count,) = struct.unpack_from(order + count_code, data, start)
    start += struct.calcsize(order + count_code)
    size = {256: 0, 257: 0}
    for index in range(min(count, MAX_TIFF_ENTRIES)):
        entry = start + index * entry_bytes
        tag, kind = struct.unpack_from(order + "HH", data, entry)
        if tag in size:
            code = {3: "H", 4: "I", 16: "Q"}.get(kind, "I")
            (size[tag],) = struct.unpack_from(order + code, data, entry + value_at)
    return size[256], size[257]


_FORMATS = (
    ("PNG", (b"\x89PNG\r\n\x1a\n",), _png_size),
    ("JPEG", (b"\xff\xd8\xff",), _jpeg_size),
    ("GIF", (b"GIF87a", b"GIF89a"), _gif_size),
    ("BMP", (b"BM",), _bmp_size),
    ("TIFF", (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"), _tiff_size),
)
