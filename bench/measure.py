"""What the benches share: figures of /proc, percentiles, HTTP connections that are kept, tools."""

import http.client
import json
import os
import socket
import subprocess
import urllib.parse
from pathlib import Path

import harness

TICKS = os.sysconf("SC_CLK_TCK")
HTTP_SECONDS = 30


def cpu_seconds(pid):
    """User and system time of all threads of a process (not of its children), in nanoseconds'
    resolution where the kernel keeps it."""
    try:
        spent_ns = 0
        for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            spent_ns += int(path.read_text(encoding="ascii").split()[0])
        if spent_ns:
            return spent_ns / 1e9
    except OSError:  # no such file in this kernel, or a thread has just ended
        pass
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def status_kib(pid, name):
    """A size of /proc/PID/status, as VmRSS."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    raise KeyError(name)


def quantile(values, share):
    """The smallest value that `share` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def median(values):
    return quantile(values, 0.5)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tool(build, name):
    """The path of a program of bench/meson.build in this build folder; builds it first."""
    target = f"bench/{name}"
    done = subprocess.run(
        ["ninja", "-C", str(build), target], capture_output=True, text=True, timeout=240, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"cannot build {target}:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
    return build / target


def worker_extension(ctx, directory, ext_id, *flags):
    """An extension that takes a text and whose worker is the fake one; its model id."""
    manifest = {
        "id": ext_id,
        "name": ext_id,
        "version": "1.0.0",
        "type": "model",
        "command": [str(tool(ctx.build_dir, "bench-fakeworker")), *map(str, flags)],
        "devices": ["cpu"],
        "vram_gb": 0,
        "ram_mb": 16,
        "nodes": [{"id": "run", "name": "Run", "input": "text", "output": "text"}],
    }
    harness.write_extension(directory, manifest)
    return f"{ext_id}/run"


class Client:
    """One connection that is kept, without Nagle's delay."""

    def __init__(self, url):
        where = urllib.parse.urlsplit(url)
        self.http = http.client.HTTPConnection(where.hostname, where.port, timeout=HTTP_SECONDS)
        self.http.connect()
        self.http.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, method, path, body=None):
        """(status, JSON)"""
        headers = {"Content-Type": "application/json"} if body is not None else {}
        data = json.dumps(body) if body is not None else None
        self.http.request(method, path, data, headers)
        answer = self.http.getresponse()
        text = answer.read()
        return answer.status, json.loads(text)

    def must(self, method, path, body=None):
        """The JSON of an answer below 300."""
        status, answer = self.ask(method, path, body)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def close(self):
        self.http.close()
