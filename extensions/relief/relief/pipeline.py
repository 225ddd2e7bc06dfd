"""The way from a photograph's bytes to a .glb file's bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable

from relief.crop import crop_subject
from relief.foreground import find_foreground
from relief.glb import pack_glb
from relief.height import estimate_height
from relief.mesh import build_mesh
from relief.options import read_options
from relief.photo import read_photo
from relief.texture import encode_texture


def build_relief(
    image_bytes: bytes, params: dict[str, Any], checkpoint: Callable[[int, str], None]
) -> bytes:
    """Return the .glb; `checkpoint(percent, step)` is called before each step and may raise.

    Raises BadInput for an unreadable picture or a parameter out of its bounds.
    """
    options = read_options(params)
    checkpoint(0, "Reading the picture")
    photo = read_photo(image_bytes)
    checkpoint(10, "Finding the object")
    field = find_foreground(photo) if options.background == "auto" else None
    subject = crop_subject(photo, field, options.resolution)
    checkpoint(45, "Estimating heights")
    height = estimate_height(subject, options.smoothing)
    checkpoint(65, "Building the mesh")
    mesh = build_mesh(subject.field, height, options.depth)
    checkpoint(80, "Making the texture")
    jpeg = encode_texture(subject)
    checkpoint(88, "Packing")
    return pack_glb(mesh, jpeg)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that appears complete or not at all; makes its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "wb") as stream:
            stream.write(data)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
