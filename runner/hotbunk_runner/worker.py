"""Loads, runs and unloads the generator; runs in the main thread, one request at a time.

Each method answers its request with exactly one terminal message. Memory is given back before
that message goes out, so that a host that measures on it sees what the job really left behind.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Optional

from services.generators.base import GenerationCancelled

from hotbunk_runner import memory
from hotbunk_runner.channel import Channel
from hotbunk_runner.extension import Extension
from hotbunk_runner.failures import describe, is_cancelled
from hotbunk_runner.job import Job

GPU_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")


class Worker:
    """Owns the extension's instance."""

    def __init__(self, channel: Channel, extension: Extension) -> None:
        self._channel = channel
        self._extension = extension
        self._gpu_environment = {name: os.environ.get(name) for name in GPU_VARIABLES}

    def load(self, message: dict[str, Any]) -> None:
        """Make the model resident; answers loaded or error."""
        request_id = message.get("id")
        failure = None
        try:
            self._use_device(message.get("execution_device"))
            self._ensure_loaded()
        except BaseException as exc:
            failure = describe(exc)
        if failure is None:
            self._channel.send({"type": "loaded", "id": request_id})
            return
        memory.release_cached_memory()
        self._send_error(request_id, failure)

    def generate(self, job: Job) -> None:
        """Do one job; answers done, cancelled or error."""
        memory.reset_peak()
        answer = self._attempt(job)
        job.message.clear()
        memory.clear_after_job()
        job.close()
        if answer["type"] == "error":
            self._send_error(job.id, answer)
            return
        if answer["type"] == "done":
            answer["rss_peak_bytes"] = memory.rss_peak_bytes()
        self._channel.send({**answer, "id": job.id})

    def unload(self, message: Optional[dict[str, Any]] = None) -> None:
        """Drop the model, then collect, empty the caches and trim the heap; answers unloaded."""
        generator = self._extension.generator
        if generator is not None:
            try:
                generator.unload()
            except BaseException as exc:
                self._channel.log("warning", f"unload() failed: {describe(exc)['message']}")
                generator._model = None
        memory.release_cached_memory()
        memory.trim_heap()
        if message is not None:
            self._channel.send({"type": "unloaded", "id": message.get("id")})

    def _attempt(self, job: Job) -> dict[str, Any]:
        """Run the job and return its terminal message; on return no exception is alive."""
        try:
            if job.cancel_event.is_set():
                return {"type": "cancelled"}
            return {"type": "done", "output_path": self._run(job)}
        except BaseException as exc:
            if is_cancelled(exc):
                return {"type": "cancelled"}
            return {"type": "error", **describe(exc)}

    def _run(self, job: Job) -> str:
        params = job.params()
        data = job.input_bytes(self._extension.wants_image)
        if isinstance(job.message.get("text"), str):
            params.setdefault("text", job.message["text"])
        outputs_dir = job.outputs_dir()
        generator = self._ensure_loaded()
        if job.cancel_event.is_set():
            raise GenerationCancelled()
        generator.outputs_dir = outputs_dir or self._extension.outputs_dir
        generator.outputs_dir.mkdir(parents=True, exist_ok=True)
        result = generator.generate(data, params, job.progress, job.cancel_event)
        return result_path(result, Path(generator.outputs_dir))

    def _ensure_loaded(self) -> Any:
        """Load unless loaded; a generator may also have dropped its model inside a job."""
        generator = self._extension.build()
        if not self._is_loaded():
            generator.load()
        return generator

    def _is_loaded(self) -> bool:
        generator = self._extension.generator
        try:
            return generator is not None and bool(generator.is_loaded())
        except Exception:
            return False

    def _use_device(self, device: Any) -> None:
        """Hide the GPUs for `cpu`; effective as long as no GPU context exists yet."""
        for name, original in self._gpu_environment.items():
            value = "" if device == "cpu" else original
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if device is not None:
            self._extension.build().execution_device = device

    def _send_error(self, request_id: Any, failure: dict[str, Any]) -> None:
        message = {**failure, "type": "error", "id": request_id, "loaded": self._is_loaded()}
        self._channel.send(message)


def result_path(result: Any, outputs_dir: Path) -> str:
    """The absolute path of what generate() returned; raises if it is no existing file."""
    if not isinstance(result, (str, os.PathLike)):
        raise TypeError(f"generate() returned {type(result).__name__} instead of a path")
    path = Path(os.fspath(result))
    if not path.is_absolute() and not path.exists():
        path = outputs_dir / path
    if not path.is_file():
        raise FileNotFoundError(f"generate() returned a path that is no file: {path}")
    return os.path.abspath(path)
