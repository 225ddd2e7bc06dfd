"""Relief: a photograph becomes a closed, textured, UV-mapped mesh in a .glb file.

The steps live in the package `relief`; here they are put in order, with progress and cancel between
them. Nothing is downloaded, and the CPU is enough.
"""

from __future__ import annotations

import secrets
import threading
import time
from pathlib import Path
from typing import Any, Callable, Optional

from services.generators.base import BaseGenerator


class ReliefGenerator(BaseGenerator):
    """The model behind relief/mesh."""

    MODEL_ID = "relief"
    DISPLAY_NAME = "Relief"
    VRAM_GB = 0

    def load(self) -> None:
        """Import numpy and Pillow, which is all the loading there is."""
        from relief import pipeline

        self._model = pipeline

    def is_downloaded(self) -> bool:
        """There are no weights."""
        return True

    def generate(
        self,
        image_bytes: bytes,
        params: dict[str, Any],
        progress_cb: Optional[Callable[[int, str], None]] = None,
        cancel_event: Optional[threading.Event] = None,
    ) -> Path:
        """Write one .glb under outputs_dir and return its path.

        Raises BadInput for an unreadable picture or a parameter out of its bounds.
        """

        def checkpoint(pct: int, step: str) -> None:
            self._check_cancelled(cancel_event)
            self._report(progress_cb, pct, step)

        glb = self._model.build_relief(image_bytes, params, checkpoint)
        checkpoint(95, "Writing the file")
        path = self.outputs_dir / f"relief_{int(time.time())}_{secrets.token_hex(4)}.glb"
        self._model.write_atomically(path, glb)
        self._report(progress_cb, 100, "Done")
        return path
