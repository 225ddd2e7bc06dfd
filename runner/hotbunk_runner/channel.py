"""The protocol's two descriptors: whole JSON lines out, bounded JSON lines in.

open_channel() runs before any user code: it keeps the real stdin and stdout for the protocol
(close-on-exec) and points descriptor 0 at /dev/null and 1 at stderr, so that neither print() nor a
native printf can damage a line. send() may be called from any thread.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any, Iterator, Optional

from services.stdio_utf8 import ensure_utf8_stdio

MAX_LINE_BYTES = 64 * 1024 * 1024
READ_BYTES = 1024 * 1024
MAX_LOG_CHARS = 500


class Channel:
    """Reads and writes protocol lines on private descriptors."""

    def __init__(self, in_fd: int, out_fd: int) -> None:
        self._in_fd = in_fd
        self._out_fd = out_fd
        self._lock = threading.Lock()
        self._broken = False

    def send(self, message: dict[str, Any]) -> None:
        """Write one message as one line; once the reader is gone, do nothing."""
        data = encode(message)
        with self._lock:
            if not self._broken:
                self._write(data)

    def log(self, level: str, text: str) -> None:
        """Tell the host something that belongs to no job."""
        self.send({"type": "log", "level": level, "message": text[:MAX_LOG_CHARS]})

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yield each object that arrives until end of input; report and skip anything else."""
        for line in self._lines():
            message = self._decode(line)
            if message is not None:
                yield message

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._out_fd, view) :]
        except OSError:
            self._broken = True

    def _lines(self) -> Iterator[bytes]:
        """Yield lines without their end; an over-long one is dropped up to its end."""
        buffer = bytearray()
        dropping = False
        while True:
            chunk = self._read()
            if not chunk:
                return
            start = 0
            while (end := chunk.find(b"\n", start)) >= 0:
                buffer += chunk[start:end]
                start = end + 1
                if not dropping and len(buffer) <= MAX_LINE_BYTES:
                    yield bytes(buffer)
                buffer.clear()
                dropping = False
            buffer += chunk[start:]
            if len(buffer) > MAX_LINE_BYTES:
                if not dropping:
                    self.log("error", f"dropped a line of more than {MAX_LINE_BYTES} bytes")
                buffer.clear()
                dropping = True

    def _read(self) -> bytes:
        try:
            return os.read(self._in_fd, READ_BYTES)
        except OSError:
            return b""

    def _decode(self, line: bytes) -> Optional[dict[str, Any]]:
        if not line.strip():
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as exc:
            self.log("warning", f"ignored a line that is not JSON: {exc}")
            return None
        if not isinstance(message, dict):
            self.log("warning", "ignored a line that is not a JSON object")
            return None
        return message


def open_channel() -> Channel:
    """Move the protocol to private descriptors and make 0 and 1 harmless."""
    in_fd, out_fd = os.dup(0), os.dup(1)
    os.set_blocking(in_fd, True)
    os.set_blocking(out_fd, True)
    null_fd = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_fd, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(null_fd, 1)
        os.dup2(null_fd, 2)
    os.close(null_fd)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)
    ensure_utf8_stdio()
    return Channel(in_fd, out_fd)


def encode(message: dict[str, Any]) -> bytes:
    """One ASCII line of strict JSON; what JSON cannot say becomes text, NaN becomes null."""
    try:
        text = json.dumps(message, default=str, allow_nan=False, separators=(",", ":"))
    except ValueError:
        loose = json.dumps(message, default=str, skipkeys=True)
        text = json.dumps(json.loads(loose, parse_constant=lambda _: None), separators=(",", ":"))
    return text.encode("ascii") + b"\n"
