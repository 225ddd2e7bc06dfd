"""What the daemon holds when idle with 100 models, and how soon it answers after its start."""

import socket
import subprocess
import time

import harness
import measure

MODELS = 100
LIMIT_KIB = 8 * 1024
LIMIT_START_MS = 30
STARTS = 10
ANSWER_SECONDS = 10
SETTLE_SECONDS = 2
PAUSE_SECONDS = 0.0002  # leaves the processor to the daemon
REQUEST = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def write_models(directory):
    """As real ones: a few sentences and a handful of parameters each."""
    params = [
        {
            "id": f"option_{i}",
            "label": f"Option {i}",
            "type": "float",
            "default": 0.5,
            "min": 0,
            "max": 1,
            "tooltip": "What this option does, in a sentence of usual length.",
        }
        for i in range(4)
    ]
    for i in range(MODELS):
        manifest = {
            "id": f"model{i}",
            "name": f"Model {i}",
            "version": "1.0.0",
            "type": "model",
            "description": "What this model does, in a sentence of usual length or even two.",
            "command": ["/bin/cat"],
            "devices": ["cpu"],
            "vram_gb": 0,
            "ram_mb": 64,
            "nodes": [{"id": "run", "name": "Run", "input": "image", "output": "mesh"}],
            "params_schema": params,
        }
        harness.write_extension(directory, manifest)


def answered(port):
    with socket.socket() as client:
        if client.connect_ex(("127.0.0.1", port)) != 0:
            return False
        client.settimeout(ANSWER_SECONDS)
        client.sendall(REQUEST)
        return client.recv(4096).startswith(b"HTTP/1.1 200 ")


def start_ms(daemon, port):
    """From the call that starts the process to the first 200. Leaves the process running."""
    began = time.monotonic()
    with open(daemon.log, "ab") as log:
        daemon.process = subprocess.Popen(
            daemon.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=daemon.env
        )
    while not answered(port):
        time.sleep(PAUSE_SECONDS)
        if time.monotonic() > began + ANSWER_SECONDS or daemon.process.poll() is not None:
            raise RuntimeError(f"no answer\n{daemon.log_tail()}")
    return (time.monotonic() - began) * 1000


def starts(ctx, has_models):
    """[ms] of STARTS starts of a daemon; the last one is left running: (times, daemon)."""
    port = measure.free_port()
    daemon = ctx.daemon(args=["--port", str(port)], start=False)
    if has_models:
        write_models(daemon.extensions_dir)
    times = []
    for i in range(STARTS):
        times.append(start_ms(daemon, port))
        if i + 1 < STARTS or not has_models:
            daemon.stop()
    daemon.url = f"http://127.0.0.1:{port}"
    return times, daemon


def run(ctx):
    bare, _ = starts(ctx, has_models=False)
    full, daemon = starts(ctx, has_models=True)
    known = len(daemon.get("/model/all").json())
    if known < MODELS:
        raise RuntimeError(f"only {known} of {MODELS} models are known\n{daemon.log_tail()}")
    yield ctx.row("start to first answer, no model of ours", measure.median(bare), unit="ms")
    yield ctx.row(
        f"start to first answer, {MODELS} models", measure.median(full), LIMIT_START_MS, "ms"
    )
    daemon.stop()
    daemon.start()
    time.sleep(SETTLE_SECONDS)
    yield ctx.row("resident, its own pages", measure.status_kib(daemon.pid, "RssAnon"), unit="KiB")
    yield ctx.row("resident, mapped files", measure.status_kib(daemon.pid, "RssFile"), unit="KiB")
    yield ctx.row(
        f"resident, idle, {MODELS} models",
        measure.status_kib(daemon.pid, "VmRSS"),
        LIMIT_KIB,
        "KiB",
    )
    daemon.get("/model/all")
    daemon.get("/api/v1/models")
    time.sleep(SETTLE_SECONDS)
    yield ctx.row(
        "resident after all models were listed", measure.status_kib(daemon.pid, "VmRSS"), unit="KiB"
    )
