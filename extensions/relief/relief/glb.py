"""Packs a mesh and its texture into a binary glTF 2.0 file (.glb)."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from relief.mesh import Mesh

MAGIC, VERSION = 0x46546C67, 2
CHUNK_JSON, CHUNK_BINARY = 0x4E4F534A, 0x004E4942
FLOAT, UNSIGNED_SHORT, UNSIGNED_INT = 5126, 5123, 5125
ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
LINEAR, LINEAR_MIPMAP_LINEAR, CLAMP_TO_EDGE = 9729, 9987, 33071
MAX_SHORT_INDEX = 65534


def pack_glb(mesh: Mesh, jpeg: bytes) -> bytes:
    """Return the whole file."""
    views = _Views()
    attributes = {
        "POSITION": views.add_vectors(mesh.positions, "VEC3", bounds=True),
        "NORMAL": views.add_vectors(mesh.normals, "VEC3"),
        "TEXCOORD_0": views.add_vectors(mesh.uvs, "VEC2"),
    }
    indices = views.add_indices(mesh.triangles, len(mesh.positions))
    document = {
        "asset": {"version": "2.0", "generator": "Hotbunk relief"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "relief"}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": indices, "material": 0}]}],
        "materials": [
            {
                "pbrMetallicRoughness": {
                    "baseColorTexture": {"index": 0},
                    "metallicFactor": 0.0,
                    "roughnessFactor": 0.8,
                }
            }
        ],
        "textures": [{"source": 0, "sampler": 0}],
        "samplers": [
            {
                "magFilter": LINEAR,
                "minFilter": LINEAR_MIPMAP_LINEAR,
                "wrapS": CLAMP_TO_EDGE,
                "wrapT": CLAMP_TO_EDGE,
            }
        ],
        "images": [{"bufferView": views.add(jpeg), "mimeType": "image/jpeg"}],
        "accessors": views.accessors,
        "bufferViews": views.views,
        "buffers": [{"byteLength": views.size_bytes}],
    }
    return _container(json.dumps(document, separators=(",", ":")).encode(), views.parts)


class _Views:
    """Collects buffer views, each starting at a multiple of four bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.size_bytes = 0

    def add(self, data: bytes, target: int = 0) -> int:
        """Append bytes; returns the index of their view."""
        view = {"buffer": 0, "byteOffset": self.size_bytes, "byteLength": len(data)}
        if target:
            view["target"] = target
        padded = _pad(data, b"\0")
        self.parts.append(padded)
        self.size_bytes += len(padded)
        self.views.append(view)
        return len(self.views) - 1

    def add_vectors(self, values: np.ndarray, kind: str, bounds: bool = False) -> int:
        """Append float vectors; returns the index of their accessor."""
        values = np.ascontiguousarray(values, dtype="<f4")
        view = self.add(values.tobytes(), ARRAY_BUFFER)
        accessor = {"bufferView": view, "componentType": FLOAT, "count": len(values), "type": kind}
        if bounds:
            accessor["min"] = values.min(axis=0).tolist()
            accessor["max"] = values.max(axis=0).tolist()
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def add_indices(self, triangles: np.ndarray, vertex_count: int) -> int:
        """Append indices, two bytes each where that suffices; returns the accessor's index."""
        short = vertex_count <= MAX_SHORT_INDEX
        flat = np.ascontiguousarray(triangles, dtype="<u2" if short else "<u4").ravel()
        accessor = {
            "bufferView": self.add(flat.tobytes(), ELEMENT_ARRAY_BUFFER),
            "componentType": UNSIGNED_SHORT if short else UNSIGNED_INT,
            "count": len(flat),
            "type": "SCALAR",
        }
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def _container(document: bytes, parts: list[bytes]) -> bytes:
    text = _pad(document, b" ")
    binary = b"".join(parts)
    total = 12 + 8 + len(text) + 8 + len(binary)
    return b"".join(
        [
            struct.pack("<III", MAGIC, VERSION, total),
            struct.pack("<II", len(text), CHUNK_JSON),
            text,
            struct.pack("<II", len(binary), CHUNK_BINARY),
            binary,
        ]
    )


def _pad(data: bytes, filler: bytes) -> bytes:
    return data + filler * (-len(data) % 4)
