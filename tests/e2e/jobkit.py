"""What the tests of jobs, memory and supervision share: fake models, jobs and their ends."""

import json
import re
import time

import harness
import procs

ENDS = ("done", "error", "cancelled")
SMALL_MB = 16  # what a fake model declares; an unknown size would load with no other beside it
# Other programs on the test machine must not decide whether a fake model fits.
CONFIG = {"host_reserve": "64MiB"}
STATE_LINE = re.compile(r" worker\.state model=(\S+) worker=(\d+) from=(\w+) to=(\w+)")


def config(**more):
    return {**CONFIG, **more}


def fake(one, ext_id, *flags, **more):
    """A model whose worker is fakeworker with these flags; its id."""
    more.setdefault("ram_mb", SMALL_MB)
    return harness.fakeworker_extension(
        one.extensions_dir, ext_id, *flags, build=one.build, **more
    )


def script(one, ext_id, text, program="/bin/sh"):
    """A model whose worker is a script that speaks the protocol itself; its id."""
    folder = harness.write_extension(
        one.extensions_dir,
        {
            "id": ext_id,
            "name": ext_id,
            "version": "1.0.0",
            "type": "model",
            "command": [program, "${DIR}/worker"],
            "devices": ["cpu"],
            "ram_mb": SMALL_MB,
            "nodes": [{"id": "run", "name": "run", "input": "image", "output": "mesh"}],
        },
    )
    (folder / "worker").write_text(text, encoding="utf-8")
    return f"{ext_id}/run"


def picture(size=64):
    """So many bytes that begin as a PNG of one pixel; no fake model looks further."""
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0"
    return head + bytes(size - len(head))


def submit(one, model, params=None, image=picture(), collection="Default"):
    """Modly's way; the id of the accepted job."""
    fields = {"model_id": model, "collection": collection, "params": json.dumps(params or {})}
    body, headers = harness.multipart(fields, [("image", "in.png", "image/png", image)])
    answer = one.post("/generate/from-image", body, headers=headers)
    assert answer.status == 200, answer
    return answer.json()["job_id"]


def job(one, job_id):
    answer = one.get(f"/api/v1/jobs/{job_id}")
    assert answer.status == 200, answer
    return answer.json()


def wait_state(one, job_id, *states, seconds=30):
    def reached():
        view = job(one, job_id)
        assert view["state"] in states or view["state"] not in ENDS, view
        return view if view["state"] in states else None

    return harness.wait_until(reached, seconds, f"job {job_id} to be {states}")


def wait_end(one, job_id, seconds=30):
    return wait_state(one, job_id, *ENDS, seconds=seconds)


def run(one, model, **more):
    return wait_end(one, submit(one, model, **more))


def cancel(one, job_id):
    answer = one.post(f"/generate/cancel/{job_id}")
    assert answer.status == 200 and answer.json() == {"cancelled": True}, answer


def output(view):
    """What the fake worker wrote with --echo: the first line is JSON."""
    with open(view["output_path"], "rb") as file:
        return json.loads(file.readline())


def model(one, model_id):
    answer = one.get(f"/api/v1/models/{model_id}")
    assert answer.status == 200, answer
    return answer.json()


def load(one, model_id, wait=20):
    answer = one.post(f"/api/v1/models/{model_id}/load?wait={wait}")
    assert answer.status == 200, answer
    assert answer.json()["state"] == "ready", answer
    return wait_pid(one, model_id)


def wait_pid(one, model_id):
    """The pid comes on another descriptor than the worker's words: perhaps a moment later."""
    return harness.wait_until(lambda: model(one, model_id)["pid"], 10, f"the pid of {model_id}")


def wait_model(one, model_id, state, seconds=20):
    return harness.wait_until(
        lambda: model(one, model_id)["state"] == state, seconds, f"{model_id} to be {state}"
    )


def wait_no_workers(one):
    """A worker is listed until it is proven that its memory is back."""
    harness.wait_until(
        lambda: one.get("/api/v1/workers").json()["workers"] == [], 10, "the last worker's end"
    )


def starts(path):
    """How often a worker with --spawn-log was started."""
    return [line for line in spawn_log(path) if line["event"] == "start"]


def spawn_log(path):
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def wait_gone(pids, seconds=harness.GONE_SECONDS):
    harness.wait_until(lambda: all(map(procs.is_gone, pids)), seconds, f"the end of {pids}")


def worker_states(one):
    """(model, worker, from, to) of each change, in order, out of the daemon's log."""
    return [match.groups() for match in STATE_LINE.finditer(one.log_text)]


def most_resident(one, models):
    """The most workers of `models` that existed at one moment."""
    living, most = set(), 0
    for name, worker, _before, after in worker_states(one):
        if name not in models:
            continue
        if after == "cold":
            living.discard(worker)
        else:
            living.add(worker)
        most = max(most, len(living))
    return most


def timed(call, *args, **more):
    """(result, seconds)."""
    start = time.monotonic()
    result = call(*args, **more)
    return result, time.monotonic() - start
