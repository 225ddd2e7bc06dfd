"""One generate request: its input, its progress and its cancel event.

The reader thread makes a Job and may cancel it; the main thread runs it; any thread of the
extension may report progress. After close() no progress leaves, so a terminal message is the last.
"""

from __future__ import annotations

import base64
import binascii
import threading
from pathlib import Path
from typing import Any, Callable, Optional

from services.generators.base import BadInput

from hotbunk_runner.channel import Channel
from hotbunk_runner.images import check_image

MAX_STEP_CHARS = 500
MAX_INPUT_BYTES = 512 * 1024 * 1024


class Job:
    """A request and what happened to it so far."""

    def __init__(
        self, channel: Channel, message: dict[str, Any], forget: Callable[[Job], None]
    ) -> None:
        """`forget` is called once at the end, before the terminal message goes out."""
        self.id = message.get("id")
        self.message = message
        self.cancel_event = threading.Event()
        self._channel = channel
        self._forget = forget
        self._lock = threading.Lock()
        self._closed = False
        self._pct = 0

    def progress(self, pct: Any = 0, step: Any = "") -> None:
        """Report percent and what is being done; percent is clamped and never goes back."""
        text = "" if step is None else str(step)[:MAX_STEP_CHARS]
        with self._lock:
            if self._closed:
                return
            self._pct = max(self._pct, _percent(pct))
            self._channel.send({"type": "progress", "id": self.id, "pct": self._pct, "step": text})

    def close(self) -> None:
        """Let no more progress through and free the id, which the host may use again at once."""
        with self._lock:
            self._closed = True
        self._forget(self)

    def params(self) -> dict[str, Any]:
        """The request's parameters; raises BadInput if they are no object."""
        params = self.message.get("params")
        if params is None:
            return {}
        if not isinstance(params, dict):
            raise BadInput("params must be a JSON object")
        return dict(params)

    def outputs_dir(self) -> Optional[Path]:
        """Where the result goes; None if the request names no place."""
        name = self.message.get("outputs_dir")
        return Path(str(name)) if name else None

    def input_bytes(self, wants_image: bool) -> bytes:
        """The input's bytes, its header checked if an image is wanted; raises BadInput."""
        text = self.message.get("text")
        if isinstance(text, str):
            return text.encode("utf-8", "surrogatepass")
        data = self._file_bytes()
        if wants_image:
            check_image(data)
        return data

    def _file_bytes(self) -> bytes:
        path = self.message.get("image_path")
        if path:
            return read_bounded(Path(str(path)))
        encoded = self.message.get("image_b64") or ""
        try:
            return base64.b64decode(encoded, validate=False)
        except (binascii.Error, ValueError, TypeError) as exc:
            raise BadInput(f"image_b64 is not base64: {exc}") from exc


def read_bounded(path: Path) -> bytes:
    """Read a whole file; raises OSError, or BadInput if it exceeds MAX_INPUT_BYTES."""
    with open(path, "rb") as stream:
        data = stream.read(MAX_INPUT_BYTES + 1)
    if len(data) > MAX_INPUT_BYTES:
        raise BadInput(f"the input is larger than {MAX_INPUT_BYTES} bytes")
    return data


def _percent(value: Any) -> int:
    """An integer from 0 to 100 out of whatever the extension gave; 0 for nonsense."""
    try:
        return max(0, min(100, int(float(value))))
    except (TypeError, ValueError, OverflowError):
        return 100 if value == float("inf") else 0
