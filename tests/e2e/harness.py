"""What the end-to-end tests and the benchmarks stand on: a daemon of their own, HTTP, fakes.

Every daemon has its own directories and a free loopback port. Everything here is bounded in time.
"""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import uuid
from pathlib import Path

import openapi_check

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import procs  # noqa: E402

START_SECONDS = 30.0
STOP_SECONDS = 30.0
GONE_SECONDS = 5.0
HTTP_SECONDS = 30.0
BODY_LIMIT = 256 * 1024 * 1024
SANITIZER_REPORT = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|: runtime error: ")
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}


def build_dir():
    """The build under test: HOTBUNK_BUILD_DIR, else the sanitizers' build, else build/."""
    named = os.environ.get("HOTBUNK_BUILD_DIR")
    candidates = [Path(named)] if named else [ROOT / "build-asan", ROOT / "build"]
    for path in candidates:
        if (path / "hotbunk").exists():
            return path.resolve()
    raise FileNotFoundError(f"no hotbunk in {', '.join(map(str, candidates))}: run ./dev test")


def is_sanitized(build):
    """Whether limits on speed and memory mean anything for this build."""
    binary = (build / "hotbunk").read_bytes()
    return b"__asan_init" in binary or b"__tsan_init" in binary


def wait_until(check, seconds, what):
    """The first true result of check(), or AssertionError naming `what` after `seconds`."""
    until = time.monotonic() + seconds
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


# --- HTTP


class Answer:
    """One HTTP response, read to its end."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers  # http.client's message: names in any case
        self.body = body

    @property
    def text(self):
        return self.body.decode("utf-8")

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.body[:300]!r}>"


def request(url, method, path, body=None, headers=None, timeout=HTTP_SECONDS):
    """One request on its own connection. A dict or list is sent as JSON. The answer of a route
    in docs/openapi.yaml is validated against it."""
    headers = dict(headers or {})
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
        headers.setdefault("Content-Type", "application/json")
    where = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=timeout)
    try:
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        answer = Answer(response.status, response.headers, response.read(BODY_LIMIT))
    finally:
        connection.close()
    openapi_check.check_answer(method, path, answer)
    return answer


def multipart(fields, files=()):
    """(body, headers) of a multipart/form-data request. `files`: (name, file name, type, bytes)."""
    boundary = uuid.uuid4().hex
    parts = []
    for name, value in dict(fields).items():
        parts.append(f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode())
    for name, filename, kind, data in files:
        head = f'Content-Disposition: form-data; name="{name}"; filename="{filename}"\r\n'
        parts.append(f"{head}Content-Type: {kind}\r\n\r\n".encode() + data)
    line = f"--{boundary}\r\n".encode()
    body = b"".join(line + part + b"\r\n" for part in parts) + f"--{boundary}--\r\n".encode()
    return body, {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def raw(url, data, timeout=HTTP_SECONDS):
    """Sends bytes as they are and returns all that comes back until the peer closes."""
    where = urllib.parse.urlsplit(url)
    with socket.create_connection((where.hostname, where.port), timeout=timeout) as conn:
        conn.sendall(data)
        received = b""
        while len(received) < BODY_LIMIT:
            try:
                chunk = conn.recv(65536)
            except ConnectionResetError:
                break
            if not chunk:
                break
            received += chunk
        return received


def events(url, path="/api/v1/events", headers=None, timeout=HTTP_SECONDS):
    """Yields (type, data) of a server-sent event stream until it ends or is silent too long."""
    where = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=timeout)
    try:
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        assert response.status == 200, response.status
        kind, data = "message", []
        for line in response:
            line = line.decode("utf-8").rstrip("\r\n")
            if not line:
                if data:
                    yield kind, json.loads("\n".join(data))
                kind, data = "message", []
            elif line.startswith("event:"):
                kind = line[6:].strip()
            elif line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
    finally:
        connection.close()


# --- the daemon


KEPT_ENV = ("PATH", "LANG", "TMPDIR", "HOTBUNK_DATA_DIR")


class Daemon:
    """`hotbunk serve` on a free port. Use as a context manager, or through the fixture `daemon`."""

    def __init__(self, directory, build=None, args=(), env=None, config=None, port=0):
        self.build = build or build_dir()
        self.dir = Path(directory)
        self.state_dir = self.dir / "state"
        self.workspace_dir = self.dir / "workspace"
        self.models_dir = self.dir / "models"
        self.extensions_dir = self.dir / "extensions"
        self.runtime_dir = self.dir / "run"
        self.log = self.dir / "daemon.log"
        for path in (self.dir, self.extensions_dir, self.runtime_dir):
            path.mkdir(parents=True, exist_ok=True)
        self.args = ["--port", str(port), *self._config_args(config), *args]
        self.env = self._environment(env or {})
        self.process = None
        self.url = None
        self._below = set()

    def _config_args(self, config):
        """`config`: text of a config.yaml, or a dict (JSON is YAML)."""
        if config is None:
            return []
        path = self.dir / "config.yaml"
        path.write_text(config if isinstance(config, str) else json.dumps(config), encoding="utf-8")
        return ["-c", str(path)]

    def _environment(self, more):
        env = {name: os.environ[name] for name in KEPT_ENV if name in os.environ}
        env.update(SANITIZER_ENV, HOME=str(self.dir), HOTBUNK_RUNTIME_DIR=str(self.runtime_dir))
        env.update(more)
        return env

    @property
    def pid(self):
        return self.process.pid

    @property
    def log_text(self):
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def command(self):
        flags = {
            "--state-dir": self.state_dir,
            "--workspace-dir": self.workspace_dir,
            "--models-dir": self.models_dir,
            "--extensions-dir": self.extensions_dir,
        }
        command = [str(self.build / "hotbunk"), "serve"]
        for name, value in flags.items():
            command += [] if name in self.args else [name, str(value)]
        return command + list(self.args)

    def spawn(self):
        """Starts it and does not wait for it."""
        address = self.runtime_dir / "address"
        address.unlink(missing_ok=True)
        procs.become_subreaper()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env
            )
        return self

    def start(self):
        """Starts it and waits until it answers."""
        self.spawn()
        address = self.runtime_dir / "address"

        def answered():
            status = self.process.poll()
            assert status is None, f"it ended with status {status}\n{self.log_text}"
            return address.exists() and address.read_text(encoding="utf-8").strip()

        try:
            self.url = wait_until(answered, START_SECONDS, "the daemon's address file")
        except AssertionError:
            self.end()
            raise
        return self

    def tree(self):
        """Living processes below the daemon now; remembered, so that end() can check them all."""
        below = procs.descendants(self.pid)
        self._below.update(below)
        return below

    def signal(self, signum):
        self.tree()
        self.process.send_signal(signum)

    def stop(self, seconds=STOP_SECONDS):
        """SIGTERM; its exit status."""
        self.signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def kill9(self):
        """kill -9; returns the processes that were below it. end() checks that they go."""
        below = self.tree()
        self.process.kill()
        self.process.wait(STOP_SECONDS)
        return below

    def wait_tree_gone(self, seconds=GONE_SECONDS):
        """All processes it ever had are gone, or AssertionError naming those that live."""

        def living():
            return [pid for pid in self._below if not procs.is_gone(pid)]

        until = time.monotonic() + seconds
        while living() and time.monotonic() < until:
            time.sleep(0.02)
        left = [f"{pid} {procs.command_of(pid)}" for pid in living()]
        assert not left, f"left behind after {seconds} s: {left}"

    def end(self):
        """Ends it whatever its state is, and everything below it. Never raises."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.tree()
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.tree()
                self.process.kill()
                self.process.wait()
        try:
            self.wait_tree_gone()
        except AssertionError:
            for pid in self._below:
                if not procs.is_gone(pid):
                    os.kill(pid, signal.SIGKILL)

    def close(self):
        """Ends it and asserts what holds for all: exit 0, no sanitizer's report, nobody left."""
        try:
            if self.process is not None and self.process.poll() is None:
                status = self.stop()
                assert status == 0, f"exit status {status}\n{self.log_tail()}"
            report = SANITIZER_REPORT.search(self.log_text)
            assert not report, self.log_text[report.start() : report.start() + 6000]
            self.wait_tree_gone()
        finally:
            self.end()

    def log_tail(self, lines=60):
        return "\n".join(self.log_text.splitlines()[-lines:])

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_rest):
        if kind:
            self.end()
        else:
            self.close()

    # what most tests do with it

    def request(self, method, path, body=None, headers=None, timeout=HTTP_SECONDS):
        return request(self.url, method, path, body, headers, timeout)

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.request("POST", path, body, **more)

    def events(self, path="/api/v1/events", **more):
        return events(self.url, path, **more)

    def cli(self, *args, timeout=60, env=None, text=True, stdin=None):
        """Runs a `hotbunk` subcommand against this daemon; a subprocess.CompletedProcess."""
        return subprocess.run(
            [str(self.build / "hotbunk"), *args],
            env=dict(self.env, **(env or {})),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=text,
            timeout=timeout,
            check=False,
        )

    def wait_job(self, job_id, seconds=60):
        """Polls Modly's status route until the job has ended; its last answer."""

        def ended():
            status = self.get(f"/generate/status/{job_id}").json()
            return status if status["status"] in ("done", "error", "cancelled") else None

        return wait_until(ended, seconds, f"the end of job {job_id}")


# --- fake extensions


def write_extension(directory, manifest):
    """A manifest in a folder named by its id; the folder."""
    folder = Path(directory) / manifest["id"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    return folder


def fakeworker_extension(directory, ext_id, *flags, node="run", build=None, **more):
    """An extension whose worker is tests/support/fakeworker with `flags`; its model id.

    `more` goes into the manifest: vram_gb=2, ram_mb=64, ..."""
    program = (build or build_dir()) / "tests" / "support" / "fakeworker" / "fakeworker"
    manifest = {
        "id": ext_id,
        "name": ext_id,
        "version": "1.0.0",
        "type": "model",
        "command": [str(program), *map(str, flags)],
        "devices": ["cpu"],
        "nodes": [{"id": node, "name": node, "input": "image", "output": "mesh"}],
        **more,
    }
    write_extension(directory, manifest)
    return f"{ext_id}/{node}"
