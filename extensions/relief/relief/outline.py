"""Cuts a grid along the zero line of a field: marching squares, all cells of a kind at once.

Vertices are the grid points inside and one point on each grid edge that the line crosses. Each
cell becomes one convex polygon, so the triangles join without gaps and the outline never touches
itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MIN_CUT, MAX_CUT = 0.1, 0.9


@dataclass(frozen=True)
class FlatMesh:
    """points: N x 2, (column, row) on the grid; outline: which points lie on the zero line.

    triangles: M x 3, clockwise as seen in the picture. rim: K x 2, the outline's pieces, directed
    like the triangles' edges.
    """

    points: np.ndarray
    outline: np.ndarray
    triangles: np.ndarray
    rim: np.ndarray


def cut_grid(field: np.ndarray) -> FlatMesh:
    """Mesh the part of the grid where field > 0; its outermost ring must not be positive."""
    inside = field > 0
    corner_ids = np.full(field.shape, -1, dtype=np.int32)
    corner_ids[inside] = np.arange(inside.sum())
    across = inside[:, :-1] != inside[:, 1:]
    along = inside[:-1, :] != inside[1:, :]
    across_ids = _number(across, inside.sum())
    along_ids = _number(along, inside.sum() + across.sum())
    points = np.concatenate(
        [
            np.argwhere(inside)[:, ::-1].astype(np.float32),
            _crossings(field, across, (0, 1)),
            _crossings(field, along, (1, 0)),
        ]
    )
    outline = np.arange(len(points)) >= inside.sum()
    triangles, rim = _cells(inside, corner_ids, across_ids, along_ids)
    return FlatMesh(points, outline, triangles, rim)


def _number(mask: np.ndarray, first: int) -> np.ndarray:
    ids = np.full(mask.shape, -1, dtype=np.int32)
    ids[mask] = first + np.arange(mask.sum())
    return ids


def _crossings(field: np.ndarray, mask: np.ndarray, step: tuple[int, int]) -> np.ndarray:
    """Where the field crosses zero on the edges from (row, column) to (row, column) + step."""
    rows, columns = np.nonzero(mask)
    start = field[rows, columns]
    end = field[rows + step[0], columns + step[1]]
    cut = np.clip(start / (start - end), MIN_CUT, MAX_CUT)
    return np.stack([columns + cut * step[1], rows + cut * step[0]], axis=1).astype(np.float32)


def _cells(
    inside: np.ndarray, corner_ids: np.ndarray, across_ids: np.ndarray, along_ids: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Turn every cell into triangles and rim pieces."""
    slots = np.stack(
        [
            corner_ids[:-1, :-1],
            across_ids[:-1, :],
            corner_ids[:-1, 1:],
            along_ids[:, 1:],
            corner_ids[1:, 1:],
            across_ids[1:, :],
            corner_ids[1:, :-1],
            along_ids[:, :-1],
        ],
        axis=-1,
    ).reshape(-1, 8)
    corners = inside.astype(np.uint8)
    kinds = corners[:-1, :-1] + 2 * corners[:-1, 1:] + 4 * corners[1:, 1:] + 8 * corners[1:, :-1]
    triangles, rim = [], []
    for kind in range(1, 16):
        cells = slots[kinds.ravel() == kind]
        polygon = _polygon(kind)
        for second, third in zip(polygon[1:-1], polygon[2:]):
            triangles.append(cells[:, [polygon[0], second, third]])
        for start, end in zip(polygon, polygon[1:] + polygon[:1]):
            if start % 2 and end % 2:
                rim.append(cells[:, [start, end]])
    return np.concatenate(triangles), np.concatenate(rim)


def _polygon(kind: int) -> list[int]:
    """The slots around a cell, clockwise: inside corners (even) and crossed edges (odd)."""
    polygon = []
    for corner in range(4):
        here, there = kind >> corner & 1, kind >> (corner + 1) % 4 & 1
        if here:
            polygon.append(2 * corner)
        if here != there:
            polygon.append(2 * corner + 1)
    return polygon
