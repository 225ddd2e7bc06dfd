"""A fake of the daemon's native interface, for what a good daemon never says.

with FakeDaemon() as fake:          # answers as a daemon with two models does
    fake.answers["GET", "/api/v1/workers"] = (503, {"detail": "stopping"})
    fake.script = [(0.1, {"state": "running", "progress": 35, "step": "mesh"}), ...]
An answer is (status, JSON or bytes), raw bytes for the whole connection, or a function of the
handler. What was asked is in fake.requests.
"""

import http.server
import json
import threading
import time
import urllib.parse

MESH = {"id": "relief/photo", "name": "Relief", "input": "image", "output": "mesh", "active": True}
AUDIO = {"id": "flite/say", "name": "Flite", "input": "text", "output": "audio", "active": False}
DEFAULTS = {
    "state": "ready",
    "reason": "",
    "loaded": True,
    "downloaded": True,
    "running": 0,
    "queued": 0,
    "reserved_bytes": 67108864,
    "held_bytes": 33554432,
    "last_load_ms": 120,
    "pid": 4242,
    "vram_gb": 0,
    "aliases": [],
    "params_schema": [],
}
JOB = {
    "id": "6f9619ff-8b86-4d01-b42d-00c04fc964ff",
    "model": "relief/photo",
    "state": "queued",
    "progress": 0,
    "step": "",
    "why": "",
    "error_code": None,
    "error": None,
    "output_path": None,
    "media_type": None,
    "load_ms": 0,
    "run_ms": 0,
    "queue_ms": 0,
    "held_bytes": 0,
}
DONE = {
    "state": "done",
    "progress": 100,
    "output_path": "/somewhere/out/result.glb",
    "media_type": "model/gltf-binary",
    "load_ms": 410,
    "run_ms": 2100,
    "queue_ms": 3,
    "held_bytes": 85157478,
}
OUTPUT = b"glTF" + bytes(range(256)) * 40
WAIT_SECONDS = 20.0
ENDED = ("done", "error", "cancelled")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake = None

    def log_message(self, *_args):
        pass

    def send(self, status, body, kind="application/json", headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def handle_any(self):
        url = urllib.parse.urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        self.query = dict(urllib.parse.parse_qsl(url.query))
        path = urllib.parse.unquote(url.path)
        self.fake.requests.append((self.command, self.path, dict(self.headers), body))
        answer = self.fake.answers.get((self.command, path))
        try:
            if answer is None:
                self.fake.answer(self, self.command, path)
            elif callable(answer):
                answer(self)
            elif isinstance(answer, bytes):
                self.wfile.write(answer)
            else:
                self.send(*answer)
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.close_connection = True

    do_GET = do_POST = handle_any


class FakeDaemon:
    def __init__(self):
        self.answers = {}
        self.requests = []
        self.models = [{**DEFAULTS, **MESH}, {**DEFAULTS, **AUDIO}]
        self.errors = []
        self.script = [(0.05, {"state": "running", "progress": 35, "step": "mesh"}), (0.05, DONE)]
        self.job = dict(JOB)
        self.cancelled = threading.Event()
        self._changed = threading.Condition()
        handler = type("Bound", (Handler,), {"fake": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_args):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def asked(self, method, start):
        """The requests of a method whose target begins with `start`."""
        return [row for row in self.requests if row[0] == method and row[1].startswith(start)]

    # --- the job

    def update(self, changes):
        with self._changed:
            self.job = {**self.job, **changes}
            self._changed.notify_all()

    def _play(self):
        for seconds, changes in self.script:
            if self.cancelled.wait(seconds):
                self.update({"state": "cancelled"})
                return
            self.update(changes)

    def wait(self, before, seconds):
        """The job once it differs from `before`, or after `seconds`."""
        until = time.monotonic() + min(seconds, WAIT_SECONDS)
        with self._changed:
            while self.job == before and time.monotonic() < until:
                self._changed.wait(until - time.monotonic())
            return dict(self.job)

    def wait_end(self, seconds):
        job, until = self.job, time.monotonic() + min(seconds, WAIT_SECONDS)
        while job["state"] not in ENDED and time.monotonic() < until:
            job = self.wait(job, until - time.monotonic())
        return job

    # --- what a good daemon answers

    def answer(self, handler, method, path):
        job = f"/api/v1/jobs/{self.job['id']}"
        routes = {
            ("GET", "/api/v1/models"): lambda h: h.send(
                200, {"models": self.models, "errors": self.errors, "active": "relief/photo"}
            ),
            ("GET", "/api/v1/version"): lambda h: h.send(
                200, {"name": "hotbunk", "version": "0.1.0", "pid": 1}
            ),
            ("GET", "/api/v1/workers"): lambda h: h.send(200, {"workers": []}),
            ("GET", "/api/v1/devices"): lambda h: h.send(200, {"devices": []}),
            ("GET", "/api/v1/jobs"): lambda h: h.send(200, {"jobs": []}),
            ("POST", "/api/v1/jobs"): self.submit,
            ("GET", "/api/v1/events"): self.events,
            ("GET", job): lambda h: h.send(200, self.wait_end(float(h.query.get("wait", 0)))),
            ("POST", job + "/cancel"): self.cancel,
            ("GET", job + "/output"): lambda h: h.send(200, OUTPUT, "model/gltf-binary"),
        }
        found = routes.get((method, path))
        if found:
            found(handler)
        else:
            handler.send(404, {"detail": f"there is no {path}", "code": "not_found"})

    def submit(self, handler):
        self.job = dict(JOB)
        handler.send(202, self.job)
        threading.Thread(target=self._play, daemon=True).start()

    def cancel(self, handler):
        self.cancelled.set()
        handler.send(200, self.job)

    def events(self, handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        seen, until = None, time.monotonic() + WAIT_SECONDS
        while time.monotonic() < until:
            job = self.wait(seen, 1.0)
            if job != seen:
                text = f"event: job\ndata: {json.dumps(job)}\n\n"
                handler.wfile.write(text.encode())
                handler.wfile.flush()
                seen = job
            if job["state"] in ENDED:
                return
