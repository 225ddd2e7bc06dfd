"""The runner's life: announce, then serve requests until shutdown or end of input.

Protocol, one JSON object a line; ids are the host's and are echoed:
  out  ready {params_schema, protocol, features} | error {id: null, ...} and exit 1
  in   load {id, execution_device?}                     out  loaded | error
  in   generate {id, image_path | image_b64 | text,     out  progress*, then one of
                 params, outputs_dir}                        done | cancelled | error
  in   cancel {id}                                      (its job ends as cancelled)
  in   unload {id}                                      out  unloaded
  in   shutdown, or end of input                        exit 0
  out  heartbeat and log at any time
Errors carry message, traceback, code and loaded. Codes: import, missing_module, bad_input,
out_of_memory, busy, error.

Threads: the main one runs user code, one reads, one sends heartbeats.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import Any, Optional

from hotbunk_runner import FEATURES, PROTOCOL
from hotbunk_runner.channel import Channel, open_channel
from hotbunk_runner.extension import BadExtension, Extension
from hotbunk_runner.failures import describe
from hotbunk_runner.job import Job
from hotbunk_runner.memory import spare_imports
from hotbunk_runner.settings import env_positive
from hotbunk_runner.worker import Worker

MAX_QUEUED = 256
EXIT_GRACE_S = 2.0
HEARTBEAT_MS = 5000
ACTIONS = ("load", "generate", "unload", "shutdown")


class Reader(threading.Thread):
    """Takes messages off the channel, so that a cancel arrives while a job runs."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(name="hotbunk-reader", daemon=True)
        self.requests: queue.Queue[Optional[Any]] = queue.Queue(MAX_QUEUED)
        self._channel = channel
        self._lock = threading.Lock()
        self._jobs: dict[Any, Job] = {}
        self.ended = False

    def run(self) -> None:
        for message in self._channel.messages():
            self._accept(message)
        self._end()

    def _accept(self, message: dict[str, Any]) -> None:
        action, request_id = message.get("action"), message.get("id")
        if not isinstance(request_id, (str, int, type(None))):
            self._channel.log("warning", "ignored a message whose id is neither text nor number")
        elif action == "cancel":
            self._cancel(request_id)
        elif action == "generate":
            self._add_job(message)
        elif action in ACTIONS:
            self._put(message, request_id)

    def _add_job(self, message: dict[str, Any]) -> None:
        job = Job(self._channel, message, self._forget)
        with self._lock:
            known = job.id in self._jobs
            if not known:
                self._jobs[job.id] = job
        if known:
            self._channel.log("warning", f"ignored a second job with the id {job.id!r}")
        elif not self._put(job, job.id):
            self._forget(job)

    def _put(self, request: Any, request_id: Any) -> bool:
        try:
            self.requests.put_nowait(request)
            return True
        except queue.Full:
            text = f"more than {MAX_QUEUED} requests are waiting"
            self._channel.send({"type": "error", "id": request_id, "message": text, "code": "busy"})
            return False

    def _cancel(self, request_id: Any) -> None:
        with self._lock:
            job = self._jobs.get(request_id)
        if job is not None:
            job.cancel_event.set()

    def _forget(self, job: Job) -> None:
        """Forget a job; a later cancel of its id is ignored."""
        with self._lock:
            self._jobs.pop(job.id, None)

    def _end(self) -> None:
        """End of input: cancel everything; leave by force if user code does not return."""
        self.ended = True
        exit_after_grace(0)
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.cancel_event.set()
        self.requests.put(None)


def main() -> int:
    """Run the worker; returns the exit status."""
    channel = open_channel()
    start_heartbeat(channel)
    extension = start_extension(channel)
    if extension is None:
        exit_after_grace(1)
        return 1
    reader = Reader(channel)
    reader.start()
    serve(Worker(channel, extension), reader)
    exit_after_grace(0)
    return 0


def start_extension(channel: Channel) -> Optional[Extension]:
    """Import the extension and announce it; on failure say why and return None."""
    try:
        extension = Extension()
        extension.import_generator()
        schema = extension.params_schema()
        spare_imports()
    except BaseException as exc:
        channel.send({"type": "error", "id": None, **describe(exc, "import")})
        if not isinstance(exc, BadExtension):
            sys.excepthook(type(exc), exc, exc.__traceback__)
        return None
    channel.send(
        {"type": "ready", "params_schema": schema, "protocol": PROTOCOL, "features": FEATURES}
    )
    return extension


def serve(worker: Worker, reader: Reader) -> None:
    """Answer requests in their order until shutdown or end of input."""
    while True:
        request = reader.requests.get()
        if request is None or reader.ended:
            return
        if isinstance(request, Job):
            worker.generate(request)
        elif request["action"] == "load":
            worker.load(request)
        elif request["action"] == "unload":
            worker.unload(request)
        else:
            worker.unload()
            return


def start_heartbeat(channel: Channel) -> None:
    """Say that the process lives, also while it imports or computes."""
    interval_ms = env_positive("HOTBUNK_HEARTBEAT_MS", HEARTBEAT_MS)
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(interval_ms / 1000):
            channel.send({"type": "heartbeat"})

    threading.Thread(target=beat, name="hotbunk-heartbeat", daemon=True).start()


def exit_after_grace(status: int) -> None:
    """End the process if user code still keeps it alive after EXIT_GRACE_S."""
    timer = threading.Timer(EXIT_GRACE_S, os._exit, (status,))
    timer.daemon = True
    timer.start()
