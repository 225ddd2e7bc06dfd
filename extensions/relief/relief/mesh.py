"""Builds the closed body: a raised front, a flat back and a rim between them.

x points right, y up, z towards the viewer; the longer side of the grid is one unit long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relief.outline import FlatMesh, cut_grid

BASE_THICKNESS = 0.03


@dataclass(frozen=True)
class Mesh:
    """positions, normals: N x 3; uvs: N x 2 (v down, as glTF has it); triangles: M x 3."""

    positions: np.ndarray
    normals: np.ndarray
    uvs: np.ndarray
    triangles: np.ndarray


def build_mesh(field: np.ndarray, height: np.ndarray, depth: float) -> Mesh:
    """Cut the grid along the field, raise it by height x depth and close it at the back.

    The corners of front, back and rim are doubled where their normals differ; merged by position
    they close without a gap.
    """
    flat = cut_grid(field)
    rows, columns = field.shape[0] - 1, field.shape[1] - 1
    flat_xy = _to_world(flat.points, rows, columns)
    uvs = (flat.points / np.float32([columns, rows])).astype(np.float32)
    front = np.column_stack([flat_xy, _sample(height, flat) * np.float32(depth)])
    back = np.column_stack([flat_xy, np.full(len(flat_xy), -BASE_THICKNESS)])
    front, back = front.astype(np.float32), back.astype(np.float32)
    facing = flat.triangles[:, ::-1]
    normals = _smooth_normals(front, facing)
    behind = np.tile(np.float32([0, 0, -1]), (len(back), 1))
    rim = _rim(flat, front, back)
    count = len(front)
    return Mesh(
        np.concatenate([front, back, rim.positions]),
        np.concatenate([normals, behind, rim.normals]).astype(np.float32),
        np.clip(np.concatenate([uvs, uvs, np.tile(uvs[flat.outline], (2, 1))]), 0, 1),
        np.concatenate([facing, flat.triangles + count, rim.triangles + 2 * count]),
    )


def _to_world(points: np.ndarray, rows: int, columns: int) -> np.ndarray:
    scale = np.float32(1 / max(rows, columns))
    centred = points - np.float32([columns / 2, rows / 2])
    return centred * scale * np.float32([1, -1])


def _sample(height: np.ndarray, flat: FlatMesh) -> np.ndarray:
    """Heights at the points; the outline lies at 0, where the rim begins."""
    result = np.zeros(len(flat.points), dtype=np.float32)
    columns, rows = flat.points[~flat.outline].astype(int).T
    result[~flat.outline] = height[rows, columns]
    return result


def _smooth_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Average the faces around each vertex, weighted by their area."""
    a, b, c = (positions[triangles[:, index]] for index in range(3))
    faces = np.cross(b - a, c - a)
    sums = np.zeros((len(positions), 3))
    for axis in range(3):
        for corner in range(3):
            sums[:, axis] += np.bincount(
                triangles[:, corner], weights=faces[:, axis], minlength=len(positions)
            )
    return _unit(sums, (0, 0, 1))


def _rim(flat: FlatMesh, front: np.ndarray, back: np.ndarray) -> Mesh:
    """The wall along the outline; its front corners come first, then those of the back."""
    on_outline = np.flatnonzero(flat.outline)
    local = np.full(len(front), -1, dtype=np.int32)
    local[on_outline] = np.arange(len(on_outline))
    count = len(on_outline)
    start, end = local[flat.rim[:, 1]], local[flat.rim[:, 0]]
    triangles = np.concatenate(
        [
            np.column_stack([end, start, start + count]),
            np.column_stack([end, start + count, end + count]),
        ]
    )
    along = front[on_outline[end], :2] - front[on_outline[start], :2]
    outward = np.column_stack([along[:, 1], -along[:, 0], np.zeros(len(along))])
    sums = np.zeros((count, 3))
    for axis in range(2):
        for corner in (start, end):
            sums[:, axis] += np.bincount(corner, weights=outward[:, axis], minlength=count)
    normals = np.tile(_unit(sums, (1, 0, 0)), (2, 1))
    positions = np.concatenate([front[on_outline], back[on_outline]])
    return Mesh(positions, normals, np.zeros((0, 2)), triangles)


def _unit(vectors: np.ndarray, fallback: tuple[int, int, int]) -> np.ndarray:
    """Scale to length 1; vectors of no length become the fallback."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    safe = np.where(lengths > 1e-20, vectors / np.maximum(lengths, 1e-20), np.float64(fallback))
    return safe.astype(np.float32)
