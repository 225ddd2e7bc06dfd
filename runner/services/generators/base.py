"""What a generator extends and raises. Standard library only.

An extension's generator.py subclasses BaseGenerator and provides load() and generate(). The host
constructs it with two directories, then sets the attributes that the manifest names.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Callable, Optional

from hotbunk_runner.memory import release_cached_memory

ProgressCallback = Callable[[int, str], None]


class GenerationCancelled(Exception):
    """Raised out of generate() once its cancel event is set; the job ends as cancelled."""


class BadInput(ValueError):
    """Raised out of generate() when the input is at fault; its text is shown as it is."""


class BaseGenerator(ABC):
    """One model node. All calls come from one thread, one at a time."""

    MODEL_ID: str = ""
    DISPLAY_NAME: str = ""
    VRAM_GB: float = 0

    hf_repo: str = ""
    download_check: str = ""

    def __init__(self, model_dir: Path, outputs_dir: Path) -> None:
        """Remember where weights lie (model_dir) and where results go (outputs_dir)."""
        self.model_dir = Path(model_dir)
        self.outputs_dir = Path(outputs_dir)
        self.hf_skip_prefixes: list[str] = []
        self.hf_include_prefixes: list[str] = []
        self.shared_model_dirs: dict[str, Path] = {}
        self._params_schema: list[dict[str, Any]] = []
        self._model: Any = None

    @abstractmethod
    def load(self) -> None:
        """Make the model resident and set self._model."""

    @abstractmethod
    def generate(
        self,
        image_bytes: bytes,
        params: dict[str, Any],
        progress_cb: Optional[ProgressCallback] = None,
        cancel_event: Optional[threading.Event] = None,
    ) -> Path:
        """Do one job and return the path of its file.

        Raises BadInput for an unusable input and GenerationCancelled once cancel_event is set.
        """

    def unload(self) -> None:
        """Drop the model and give its memory back."""
        self._model = None
        release_cached_memory()

    def is_loaded(self) -> bool:
        """True while a model is held."""
        return self._model is not None

    def is_downloaded(self) -> bool:
        """True if the check file exists or, without one, if model_dir holds anything."""
        if self.download_check:
            return (self.model_dir / self.download_check).exists()
        try:
            with os.scandir(self.model_dir) as entries:
                return next(entries, None) is not None
        except OSError:
            return False

    def params_schema(self) -> list[dict[str, Any]]:
        """The node's parameters as the manifest lists them."""
        return list(self._params_schema)

    def _auto_download(self) -> None:
        """Fetch hf_repo into model_dir with huggingface_hub; raises if that is not installed."""
        if not self.hf_repo:
            raise RuntimeError("the manifest names no hf_repo, so there is nothing to download")
        from huggingface_hub import snapshot_download

        self.model_dir.mkdir(parents=True, exist_ok=True)
        snapshot_download(
            repo_id=self.hf_repo,
            local_dir=str(self.model_dir),
            ignore_patterns=_prefix_patterns(self.hf_skip_prefixes),
            allow_patterns=_prefix_patterns(self.hf_include_prefixes),
        )

    def _report(self, progress_cb: Optional[ProgressCallback], pct: int, step: str = "") -> None:
        """Report progress in percent, if anyone listens."""
        if progress_cb is not None:
            progress_cb(pct, step)

    def _check_cancelled(self, cancel_event: Optional[threading.Event]) -> None:
        """Raise GenerationCancelled if the job is to stop."""
        if cancel_event is not None and cancel_event.is_set():
            raise GenerationCancelled()


def smooth_progress(
    progress_cb: Optional[ProgressCallback],
    start: int,
    end: int,
    label: str,
    stop_event: threading.Event,
    interval: float = 3.0,
) -> None:
    """Creep from start towards end, in percent, until stop_event is set; run it in a thread.

    Each tick, `interval` seconds apart, covers a tenth of what is left, so that a step of unknown
    length keeps moving without ever reaching its end by itself.
    """
    position = float(start)
    while not stop_event.wait(interval):
        position += (end - position) * 0.1
        if progress_cb is not None and not stop_event.is_set():
            progress_cb(int(position), label)


def _prefix_patterns(prefixes: list[str]) -> Optional[list[str]]:
    """Turn path prefixes into the glob patterns of huggingface_hub; None for none."""
    return [prefix.rstrip("*") + "*" for prefix in prefixes] or None
