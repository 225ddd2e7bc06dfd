"""From a request's last byte to the worker's first read, against the same over a bare pipe.

The worker stamps each request with the monotonic clock right after the read() that brought its
end; the client stamps right before the send() of its last byte. A job is in the store before it is
given to a worker: that commit is measured by itself, through the store's own code on the same disk,
before and after the requests, and printed apart; the limit is on what is left. What is taken off is
what nine in ten commits took at least, so that a slow disk cannot hide a slow daemon."""

import json
import subprocess
import time

import measure

LIMIT_US = 300
SAMPLES = 300
WARM_UP = 20
COMMIT_SHARE = 0.1
PAUSE_SECONDS = 0.003  # everybody sleeps again, as between real requests
TEXT = "a text of some length, as a request would have"


def bare_pipe_us(worker, folder, count):
    """The same worker, its stdin and stdout held by this process."""
    process = subprocess.Popen(
        [str(worker), "--stamp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    times = []
    try:
        for i in range(count + WARM_UP):
            message = {
                "action": "generate",
                "id": f"00000000-0000-4000-8000-{i:012x}",
                "text": TEXT,
                "outputs_dir": str(folder),
                "params": {},
            }
            line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
            time.sleep(PAUSE_SECONDS)
            sent = time.monotonic_ns()
            process.stdin.write(line)
            times.append((pipe_done(process)["read_ns"] - sent) / 1000)
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()
    return times[WARM_UP:]


def pipe_done(process):
    while True:
        message = json.loads(process.stdout.readline())
        if message["type"] == "done":
            return message
        if message["type"] == "error":
            raise RuntimeError(message)


def store_commit_us(ctx, name, count):
    tool = measure.tool(ctx.build_dir, "bench-store-commit")
    done = subprocess.run(
        [str(tool), str(ctx.scratch / name), str(count)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [int(line) / 1000 for line in done.stdout.split()]


def daemon_us(daemon, model, count):
    """[microseconds to the worker's read], [microseconds to the answer of the submission]"""
    client = measure.Client(daemon.url)
    body = json.dumps({"model": model, "text": TEXT}).encode()
    head = (
        f"POST /api/v1/jobs HTTP/1.1\r\nHost: {client.http.host}:{client.http.port}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    to_worker, to_answer = [], []
    try:
        for _ in range(count + WARM_UP):
            time.sleep(PAUSE_SECONDS)
            sent = time.monotonic_ns()
            client.http.sock.send(head + body)
            answer = read_answer(client.http.sock)
            to_answer.append((time.monotonic_ns() - sent) / 1000)
            job = wait_done(client, answer)
            to_worker.append((job["result"]["read_ns"] - sent) / 1000)
    finally:
        client.close()
    return to_worker[WARM_UP:], to_answer[WARM_UP:]


def read_answer(sock):
    """The JSON of one answer with Content-Length."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += sock.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(fields[b"content-length"]):
        body += sock.recv(65536)
    if not head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201", b"HTTP/1.1 202")):
        raise RuntimeError(data)
    return json.loads(body)


def wait_done(client, answer):
    job = client.must("GET", f"/api/v1/jobs/{answer['id']}?wait=30")
    if job["state"] != "done":
        raise RuntimeError(job)
    return job


def run(ctx):
    count = SAMPLES // 3 if ctx.is_quick else SAMPLES
    worker = measure.tool(ctx.build_dir, "bench-fakeworker")
    daemon = ctx.daemon(start=False)
    model = measure.worker_extension(ctx, daemon.extensions_dir, "bench0", "--stamp")
    daemon.start()
    daemon.post(f"/api/v1/models/{model}/load?wait=30", {})
    pipe = measure.median(bare_pipe_us(worker, ctx.scratch, count))
    commits = store_commit_us(ctx, "before.db", count)
    to_worker, to_answer = daemon_us(daemon, model, count)
    commits += store_commit_us(ctx, "after.db", count)
    least = measure.quantile(commits, COMMIT_SHARE)
    beyond = measure.median(to_worker) - pipe
    yield ctx.row("bare pipe", pipe, unit="us")
    yield ctx.row("store: put to committed", measure.median(commits), unit="us")
    yield ctx.row("store: put to committed, 10 %", least, unit="us")
    yield ctx.row("request to its own answer", measure.median(to_answer), unit="us")
    yield ctx.row("request to the worker, 90 %", measure.quantile(to_worker, 0.9), unit="us")
    yield ctx.row("request to the worker", measure.median(to_worker), unit="us")
    yield ctx.row("beyond the pipe, with the commit", beyond, unit="us")
    yield ctx.row("beyond the pipe and the commit", beyond - least, LIMIT_US, "us")
