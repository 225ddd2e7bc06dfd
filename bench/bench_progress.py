"""Ten workers, each with 5,000 progress lines a second: what the daemon spends, whether it still
answers, and how often it writes."""

import struct
import threading
import time

import harness
import measure

WORKERS = 10
LINES_A_SECOND = 5000
MEASURE_SECONDS = 10
MARGIN_SECONDS = 3
PROBES_A_SECOND = 50
LIMIT_CORE = 0.30
LIMIT_P99_MS = 20
LIMIT_WRITES = 10
LINES_SHARE_MIN = 0.98  # of what the workers were to send: else the figures mean nothing
WAL_HEADER = 32
WAL_FRAME_HEADER = 24


class Commits:
    """Counts the transactions in SQLite's write-ahead log: a frame that ends one says so."""

    def __init__(self, path):
        self.path = path
        self.salt = None
        self.seen = 0
        self.count = 0

    def poll(self):
        """To be called before the log can wrap around twice; the number since the first call."""
        data = self.path.read_bytes()
        if len(data) < WAL_HEADER:
            return self.count
        page_size, salt = struct.unpack(">I", data[8:12])[0], data[16:24]
        found, at = 0, WAL_HEADER
        while at + WAL_FRAME_HEADER <= len(data) and data[at + 8 : at + 16] == salt:
            found += struct.unpack(">I", data[at + 4 : at + 8])[0] != 0
            at += WAL_FRAME_HEADER + page_size
        if self.salt is not None:
            self.count += found - (self.seen if salt == self.salt else 0)
        self.salt, self.seen = salt, found
        return self.count


class Prober(threading.Thread):
    """GET /health at a constant rate over one kept connection."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.client = measure.Client(url)
        self.is_over = False
        self.times_ms = []
        self.error = None

    def run(self):
        due = time.monotonic()
        try:
            while not self.is_over:
                due += 1 / PROBES_A_SECOND
                time.sleep(max(0, due - time.monotonic()))
                began = time.monotonic()
                self.client.must("GET", "/health")
                # counted from when it was due: a slow answer must not hide those behind it
                self.times_ms.append((time.monotonic() - min(began, due)) * 1000)
        except Exception as error:  # told by finish(), in the main thread
            self.error = error

    def finish(self):
        self.is_over = True
        self.join(30)
        if self.error:
            raise self.error
        return self.times_ms


def submit_all(client, models):
    """One job each; the ids, once all of them run."""
    jobs = [client.must("POST", "/api/v1/jobs", {"model": m, "text": "x"})["id"] for m in models]

    def all_run():
        states = [client.must("GET", f"/api/v1/jobs/{job}")["state"] for job in jobs]
        assert set(states) <= {"queued", "running"}, states
        return set(states) == {"running"}

    harness.wait_until(all_run, 20, f"{WORKERS} running jobs")
    return jobs


def run(ctx):
    run_ms = (MEASURE_SECONDS + 2 * MARGIN_SECONDS) * 1000
    flags = ("--run-ms", run_ms, "--progress-rate", LINES_A_SECOND)
    daemon = ctx.daemon(start=False)
    models = [
        measure.worker_extension(ctx, daemon.extensions_dir, f"bench{i}", *flags)
        for i in range(WORKERS)
    ]
    daemon.start()
    for model in models:
        daemon.post(f"/api/v1/models/{model}/load?wait=30", {})
    client = measure.Client(daemon.url)
    jobs = submit_all(client, models)
    time.sleep(1)
    commits = Commits(daemon.state_dir / "jobs.db-wal")
    prober = Prober(daemon.url)
    commits.poll()
    cpu, began = measure.cpu_seconds(daemon.pid), time.monotonic()
    prober.start()
    while time.monotonic() < began + MEASURE_SECONDS:
        time.sleep(0.25)
        commits.poll()
    seconds = time.monotonic() - began
    cpu = (measure.cpu_seconds(daemon.pid) - cpu) / seconds
    writes = commits.poll() / seconds
    times_ms = prober.finish()
    ended = [client.must("GET", f"/api/v1/jobs/{job}?wait=30") for job in jobs]
    if [job["state"] for job in ended] != ["done"] * WORKERS:
        raise RuntimeError(ended)
    slowest_ms = max(job["run_ms"] for job in ended)
    yield ctx.row("lines sent, share", run_ms / slowest_ms, LINES_SHARE_MIN, at_least=True)
    yield ctx.row("lines a second", WORKERS * LINES_A_SECOND * run_ms / slowest_ms)
    yield ctx.row("daemon, share of a core", cpu, LIMIT_CORE)
    yield ctx.row("GET /health, median", measure.median(times_ms), unit="ms")
    yield ctx.row("GET /health, 99 %", measure.quantile(times_ms, 0.99), LIMIT_P99_MS, "ms")
    yield ctx.row("store writes a second", writes, LIMIT_WRITES)
