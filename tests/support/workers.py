"""Helpers for tests that start Hotbunk's small executables: finding them, talking to workers in
JSON lines, driving a shim as the daemon does, and looking at processes. Every wait is bounded."""

import json
import os
import queue
import select
import socket
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HOTBUNK_BUILD_DIR", ROOT / "build"))
PLACES = (".", "src/shim", "extensions/flite", "tests/support/fakeworker")
PYTHON = "/usr/bin/python3"
WAIT_S = 10.0


def find_exe(name):
    """The path of a built executable; fails with what to do."""
    for place in PLACES:
        path = BUILD / place / name
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    raise FileNotFoundError(f"{name} is not in {BUILD}: build it, or set HOTBUNK_BUILD_DIR")


def wait_until(condition, what, timeout_s=WAIT_S):
    """Poll until condition() is true and return its value."""
    end = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout_s} s: {what}")
        time.sleep(0.005)


def is_gone(pid):
    """True when the process is absent, or only its zombie is left for PID 1 to collect."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] in ("Z", "X")


def wait_gone(pids, timeout_s=WAIT_S):
    """Wait until none of the processes is alive."""
    pids = list(pids)
    wait_until(lambda: all(map(is_gone, pids)), f"end of {pids}", timeout_s)


def memory_kib(pid):
    """RssAnon + RssFile of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return sum(int(fields[key].split()[0]) for key in ("RssAnon", "RssFile"))


def read_json_lines(path):
    """The objects in a file of JSON lines that others may still be writing to."""
    try:
        text = Path(path).read_text()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.split("\n")[:-1]]


class Worker:
    """An ndjson worker on two pipes. Messages that are not asked for are kept in `seen`."""

    def __init__(self, argv, env=None):
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
        )
        self.pid = self.process.pid
        self.seen = []
        self.strays = []
        self.errors = b""
        self._queue = queue.Queue()
        self._threads = [
            threading.Thread(target=self._read_out, daemon=True),
            threading.Thread(target=self._read_err, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_exc):
        self.process.kill()
        self.process.wait(WAIT_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def _read_out(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if isinstance(message, dict) and isinstance(message.get("type"), str):
                self._queue.put(message)
            else:
                self.strays.append(line)
        self._queue.put(None)

    def _read_err(self):
        for line in self.process.stderr:
            self.errors = (self.errors + line)[-65536:]

    def send(self, **message):
        self.send_raw(json.dumps(message).encode() + b"\n")

    def send_raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def next(self, timeout_s=WAIT_S):
        """The next message, None at the end of output; fails when none comes."""
        try:
            message = self._queue.get(timeout=timeout_s)
        except queue.Empty:
            raise AssertionError(f"no message in {timeout_s} s; stderr: {self.errors!r}") from None
        if message is not None:
            self.seen.append(message)
        return message

    def expect(self, *types, timeout_s=WAIT_S, **fields):
        """Skip to the next message of one of these types that has these fields."""
        end = time.monotonic() + timeout_s
        while True:
            message = self.next(max(0.001, end - time.monotonic()))
            if message is None:
                raise AssertionError(f"the worker ended; wanted {types}; saw {self.seen[-5:]}")
            if message["type"] in types and all(message.get(k) == v for k, v in fields.items()):
                return message

    def generate(self, job_id, **request):
        """Run one job to its end and return its terminal message."""
        self.send(action="generate", id=job_id, **request)
        return self.expect("done", "error", "cancelled", id=job_id)

    def wait(self, timeout_s=WAIT_S):
        return self.process.wait(timeout_s)


class Shim:
    """hotbunk-shim with a worker below it, driven as the daemon does."""

    def __init__(self, argv, options=(), stdin=subprocess.PIPE, stderr=None):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        command = [find_exe("hotbunk-shim"), "--control", str(theirs.fileno()), *options]
        self.process = subprocess.Popen(
            [*command, "--", *argv],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            pass_fds=(theirs.fileno(),),
        )
        theirs.close()
        self.pid = self.process.pid
        self.lines = []
        self._buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_exc):
        self.control.close()
        try:
            self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(WAIT_S)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def say(self, text):
        self.control.sendall(text.encode() + b"\n")

    def line(self, timeout_s=WAIT_S):
        """The next line from the shim, "" at its end."""
        end = time.monotonic() + timeout_s
        while b"\n" not in self._buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.control], [], [], left)[0]:
                raise AssertionError(f"no line in {timeout_s} s; so far {self.lines}")
            data = self.control.recv(4096)
            if not data:
                return ""
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\n")
        self.lines.append(text.decode())
        return self.lines[-1]

    def started(self):
        """Wait for the worker; returns its pid."""
        word, pid = self.line().split()
        assert word == "started", word
        return int(pid)

    def rest(self, timeout_s=WAIT_S):
        """All lines up to the end of the control socket."""
        lines = []
        while text := self.line(timeout_s):
            lines.append(text)
        return lines

    def wait(self, timeout_s=WAIT_S):
        return self.process.wait(timeout_s)
