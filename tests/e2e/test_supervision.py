"""Workers that fail, daemons that end: nothing hangs, is lost, or outlives the daemon."""

import json
import os
import random
import re
import shutil
import signal
import threading
import time
from pathlib import Path

import harness
import jobkit as kit
import procs
import pytest


def prepare(daemon, **config):
    return daemon(config=kit.config(**config), start=False)


def again(daemon, one, **config):
    """A new daemon where the former one has ended."""
    return daemon(config=kit.config(**config), directory=one.dir)


def pids_of(log):
    return [line["pid"] for line in kit.spawn_log(log)]


# --- workers that fail


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (("--crash", "start", "--exit-code", 3), "crash", "code 3"),
        (("--crash", "load", "--signal", 11), "crash", "Segmentation fault"),
        (("--crash", "load", "--exit-code", 2), "bad_arguments", "code 2"),
    ],
    ids=["start", "load", "usage"],
)
def test_a_worker_that_dies_before_it_is_loaded_fails_the_job(daemon, flags, code, words):
    one = prepare(daemon)
    model = kit.fake(one, "a", *flags)
    one.start()
    view, seconds = kit.timed(kit.run, one, model)
    assert (view["state"], view["error_code"]) == ("error", code), view
    assert words in view["error"] and seconds < 10
    kit.wait_no_workers(one)


def test_a_worker_that_dies_in_a_job_fails_that_job_and_the_next_gets_another(daemon, tmp_path):
    one = prepare(daemon)
    log = tmp_path / "starts"
    model = kit.fake(one, "a", "--crash", "run", "--signal", 6, "--spawn-log", log)
    one.start()
    for number in (1, 2):
        view = kit.run(one, model)
        assert (view["state"], view["error_code"]) == ("error", "worker_died"), view
        assert "signal 6" in view["error"]
        assert len(kit.starts(log)) == number


def test_a_worker_that_is_killed_from_outside_fails_its_job(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--run-ms", 60000)
    one.start()
    job_id = kit.submit(one, model)
    kit.wait_state(one, job_id, "running")
    os.kill(kit.wait_pid(one, model), signal.SIGKILL)
    view = kit.wait_end(one, job_id)
    assert (view["state"], view["error_code"]) == ("error", "worker_died"), view
    assert "signal 9" in view["error"]


def test_an_idle_worker_that_dies_is_replaced_by_the_next_job(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a")
    one.start()
    os.kill(kit.load(one, model), signal.SIGKILL)
    harness.wait_until(lambda: kit.model(one, model)["state"] != "ready", 10, "the end")
    assert kit.run(one, model)["state"] == "done"


@pytest.mark.parametrize("stage", ["start", "load"])
def test_a_worker_that_hangs_before_it_is_loaded_ends_by_load_timeout(daemon, stage, tmp_path):
    one = prepare(daemon, load_timeout=0.5)
    log = tmp_path / "starts"
    model = kit.fake(one, "a", "--hang", stage, "--ignore-term", "--spawn-log", log)
    one.start()
    view, seconds = kit.timed(kit.run, one, model)
    assert (view["state"], view["error_code"]) == ("error", "load_timeout"), view
    assert "0.5" in view["error"] and seconds < 10
    kit.wait_gone(pids_of(log))


def test_case_063_a_load_that_fails_once_is_tried_again(daemon, tmp_path):
    one = prepare(daemon)
    log = tmp_path / "starts"
    flags = ("--fail-load", 1, "--state", tmp_path / "count", "--spawn-log", log)
    model = kit.fake(one, "a", *flags)
    one.start()
    assert kit.run(one, model)["state"] == "done"
    assert len(kit.starts(log)) == 2


def test_case_063_after_a_failed_load_the_next_request_works(daemon, tmp_path):
    one = prepare(daemon)
    flags = ("--fail-load", 2, "--state", tmp_path / "count", "--fail-code", "error")
    model = kit.fake(one, "a", *flags)
    one.start()
    view = kit.run(one, model)
    assert (view["state"], view["error_code"]) == ("error", "load_failed"), view
    assert "told to fail" in view["error"]
    kit.load(one, model)  # a person asks: no back-off
    assert kit.run(one, model)["state"] == "done"


def test_case_128_a_model_that_always_fails_is_not_started_for_every_request(daemon, tmp_path):
    one = prepare(daemon)
    log = tmp_path / "starts"
    model = kit.fake(one, "a", "--crash", "load", "--spawn-log", log)
    one.start()
    until = time.monotonic() + 2.5
    jobs = []
    while time.monotonic() < until:
        jobs.append(kit.submit(one, model))
        time.sleep(0.05)
    assert len(jobs) > 20
    assert len(kit.starts(log)) <= 3
    assert kit.wait_end(one, jobs[0])["state"] == "error"
    state = kit.model(one, model)
    assert state["state"] in ("crashed", "broken", "releasing") and not state["loaded"]
    if state["state"] == "crashed":
        assert "crash" in state["reason"]
    for job_id in jobs:
        kit.cancel(one, job_id)


def test_a_program_that_does_not_exist_is_an_extension_error(daemon):
    one = prepare(daemon)
    kit.fake(one, "a", command=["/no/such/program"])
    good = kit.fake(one, "b")
    one.start()
    assert "/no/such/program" in json.dumps(one.get("/extensions/errors").json())
    assert kit.run(one, good)["state"] == "done"


def test_a_program_that_vanishes_fails_the_load_with_its_name(daemon, tmp_path):
    one = prepare(daemon)
    program = tmp_path / "program"
    shutil.copy("/bin/true", program)
    model = kit.fake(one, "a", command=[str(program)])
    one.start()
    program.unlink()
    view = kit.run(one, model)
    assert (view["state"], view["error_code"]) == ("error", "cannot_start"), view
    assert str(program) in view["error"]


# --- what a worker gets


def test_case_094_a_worker_holds_only_its_stdio(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--stderr-noise", 10)
    one.start()
    pid = kit.load(one, model)
    names = sorted(os.listdir(f"/proc/{pid}/fd"), key=int)
    assert names == ["0", "1", "2"]
    assert all(os.readlink(f"/proc/{pid}/fd/{name}").startswith("pipe:") for name in names)


def test_w45_keys_and_tokens_do_not_reach_a_worker(daemon):
    secrets = {
        "HOTBUNK_API_KEY": "secret-of-the-daemon",
        "MODLY_API_TOKEN": "secret-of-modly",
        "SOME_TOKEN": "secret-of-others",
    }
    one = daemon(config=kit.config(), env=secrets, start=False)
    model = kit.fake(one, "a")
    one.start()
    headers = {"Authorization": "Bearer secret-of-the-daemon"}
    answer = one.post(f"/api/v1/models/{model}/load?wait=20", headers=headers)
    assert answer.status == 200, answer
    pid = harness.wait_until(
        lambda: one.get(f"/api/v1/models/{model}", headers=headers).json()["pid"], 10, "its pid"
    )
    environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    assert not [entry for entry in environ if b"secret-of" in entry]
    assert b"MODEL_ID=a/run" in environ and b"PYTHONUNBUFFERED=1" in environ


# --- nothing outlives the daemon


@pytest.mark.parametrize("grandchild", ["same", "setsid", "double"])
@pytest.mark.parametrize("activity", ["idle", "busy"])
def test_case_001_case_004_kill_9_leaves_nobody(daemon, tmp_path, grandchild, activity):
    one = prepare(daemon)
    log = tmp_path / "starts"
    flags = ("--grandchild", grandchild, "--ignore-term", "--ignore-eof", "--spawn-log", log)
    model = kit.fake(one, "a", "--run-ms", 60000, *flags)
    one.start()
    kit.load(one, model)
    if activity == "busy":
        kit.wait_state(one, kit.submit(one, model), "running")
    harness.wait_until(lambda: len(kit.spawn_log(log)) >= 2, 10, "the grandchild")
    below = one.kill9()
    assert set(pids_of(log)) <= set(below)
    one.wait_tree_gone(5)
    second = again(daemon, one)  # case_094: its port and its state are free
    assert second.get("/health").status == 200


def test_case_004_a_dead_workers_descendants_end_before_the_next_load(daemon, tmp_path):
    one = prepare(daemon)
    log = tmp_path / "starts"
    model = kit.fake(one, "a", "--grandchild", "double", "--spawn-log", log)
    one.start()
    pid = kit.load(one, model)
    harness.wait_until(lambda: len(pids_of(log)) == 2, 10, "the grandchild")
    first = pids_of(log)
    os.kill(pid, signal.SIGKILL)
    harness.wait_until(lambda: kit.model(one, model)["state"] != "ready", 10, "the end")
    assert kit.run(one, model)["state"] == "done"
    assert all(map(procs.is_gone, first))


def test_case_004_an_unload_just_after_the_start_leaves_nobody(daemon, tmp_path):
    one = prepare(daemon)
    log = tmp_path / "starts"
    flags = ("--grandchild", "setsid", "--late-ready", 60000, "--ignore-term", "--spawn-log", log)
    model = kit.fake(one, "a", *flags)
    one.start()
    job_id = kit.submit(one, model)
    harness.wait_until(lambda: len(kit.spawn_log(log)) >= 2, 10, "the grandchild")
    assert one.post(f"/model/unload/{model}").json()["unloaded"] is True
    assert all(map(procs.is_gone, pids_of(log)))
    assert kit.wait_end(one, job_id)["error_code"] == "unloaded"


def test_a_stop_ends_idle_workers_at_once(daemon):
    one = prepare(daemon)
    models = [kit.fake(one, ext_id) for ext_id in ("a", "b")]
    one.start()
    for model in models:
        kit.load(one, model)
    status, seconds = kit.timed(one.stop)
    assert status == 0 and seconds < 3
    one.wait_tree_gone(1)


def test_w14_a_stop_lets_a_short_job_finish_and_the_next_daemon_shows_it(daemon):
    one = prepare(daemon, stop_grace=10)
    model = kit.fake(one, "a", "--run-ms", 800)
    one.start()
    job_id = kit.submit(one, model)
    kit.wait_state(one, job_id, "running")
    assert one.stop() == 0
    two = again(daemon, one)
    assert kit.job(two, job_id)["state"] == "done"
    assert two.get(f"/generate/status/{job_id}").json()["status"] == "done"


def test_case_132_a_stop_is_bounded_by_its_grace(daemon, tmp_path):
    one = prepare(daemon, stop_grace=0.6)
    log = tmp_path / "starts"
    stubborn = ("--ignore-cancel", "--ignore-term", "--ignore-shutdown", "--ignore-eof")
    busy = kit.fake(one, "a", "--run-ms", 60000, *stubborn, "--spawn-log", log)
    idle = kit.fake(one, "b", *stubborn, "--spawn-log", log)
    loud = kit.fake(one, "c", "--run-ms", 60000, "--progress-rate", 5000, "--spawn-log", log)
    one.start()
    kit.load(one, idle)
    jobs = [kit.submit(one, busy), kit.submit(one, loud)]
    for job_id in jobs:
        kit.wait_state(one, job_id, "running")
    status, seconds = kit.timed(one.stop)
    assert status == 0 and 0.4 < seconds < 6
    assert all(map(procs.is_gone, pids_of(log)))
    two = again(daemon, one)
    for job_id in jobs:
        view = kit.job(two, job_id)
        assert (view["state"], view["error_code"]) == ("error", "stopping"), view


def test_case_132_a_second_signal_ends_it_at_once(daemon):
    one = prepare(daemon, stop_grace=60)
    model = kit.fake(one, "a", "--run-ms", 60000, "--ignore-term", "--ignore-shutdown")
    one.start()
    job_id = kit.submit(one, model)
    kit.wait_state(one, job_id, "running")
    one.signal(signal.SIGINT)
    time.sleep(0.5)
    assert one.process.poll() is None
    status, seconds = kit.timed(one.stop)
    assert status == 0 and seconds < 3
    one.wait_tree_gone(1)


def test_while_it_stops_no_work_is_taken(daemon):
    one = prepare(daemon, stop_grace=10)
    model = kit.fake(one, "a", "--run-ms", 1500)
    one.start()
    job_id = kit.submit(one, model)
    kit.wait_state(one, job_id, "running")
    one.signal(signal.SIGTERM)
    harness.wait_until(lambda: "daemon.stop" in one.log_text, 5, "the signal")
    body, headers = harness.multipart({"model_id": model}, [("image", "i", "image/png", b"x")])
    answer = one.post("/generate/from-image", body, headers=headers)
    assert answer.status == 503, answer
    assert kit.job(one, job_id)["state"] == "running"
    assert one.process.wait(10) == 0


# --- nothing is lost


def test_w30_after_kill_9_done_jobs_are_shown_and_the_others_end(daemon):
    one = prepare(daemon)
    quick = kit.fake(one, "a", "--echo")
    slow = kit.fake(one, "b", "--run-ms", 60000)
    one.start()
    done = kit.run(one, quick, params={"seed": 7})
    assert done["state"] == "done"
    running, queued = kit.submit(one, slow), kit.submit(one, slow)
    kit.wait_state(one, running, "running")
    one.kill9()
    two = again(daemon, one)
    view = kit.job(two, done["id"])
    assert view["state"] == "done" and kit.output(view)["params"]["seed"] == 7
    assert two.get(view["output_url"]).status == 200
    for job_id in (running, queued):
        view = kit.job(two, job_id)
        assert (view["state"], view["error_code"]) == ("error", "daemon_restarted"), view
        assert two.get(f"/generate/status/{job_id}").json()["status"] == "error"
    assert not list((two.state_dir / "uploads").iterdir())


def test_jobs_that_wait_at_a_stop_are_told_so(daemon):
    one = prepare(daemon, stop_grace=0.3)
    model = kit.fake(one, "a", "--run-ms", 60000)
    one.start()
    running, queued = kit.submit(one, model), kit.submit(one, model)
    kit.wait_state(one, running, "running")
    assert one.stop() == 0
    two = again(daemon, one)
    assert kit.job(two, running)["error_code"] == "stopping"
    assert kit.job(two, queued)["error_code"] == "stopping"


def test_every_accepted_job_is_known_after_kill_9_in_the_middle(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--run-ms", 5)
    one.start()
    kit.load(one, model)
    accepted = []

    def client():
        try:
            while True:
                accepted.append(kit.submit(one, model))
        except (OSError, AssertionError, ValueError, harness.http.client.HTTPException):
            return

    threads = [threading.Thread(target=client) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.7)
    one.kill9()
    for thread in threads:
        thread.join(10)
    two = again(daemon, one)
    assert len(accepted) > 10
    for job_id in accepted:
        assert kit.job(two, job_id)["state"] in ("done", "error")


# --- reload


def reload(one):
    answer = one.post("/extensions/reload")
    assert answer.status == 200, answer
    return answer.json()


def test_a_changed_extension_is_restarted_when_its_job_is_done(daemon, tmp_path):
    one = prepare(daemon)
    log = tmp_path / "starts"
    model = kit.fake(one, "a", "--run-ms", 800, "--spawn-log", log)
    one.start()
    running = kit.submit(one, model)
    kit.wait_state(one, running, "running")
    kit.fake(one, "a", "--run-ms", 10, "--tag", "new", "--spawn-log", log)
    assert reload(one)["reloaded"] is True
    waiting = kit.submit(one, model)
    assert kit.wait_end(one, running)["state"] == "done"
    assert kit.wait_end(one, waiting)["state"] == "done"
    first, second = kit.starts(log)
    assert "new" in second["argv"] and procs.is_gone(first["pid"])
    assert kit.most_resident(one, (model,)) == 1


def test_an_unchanged_extension_stays_loaded(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a")
    one.start()
    pid = kit.load(one, model)
    kit.fake(one, "b")
    assert "b/run" in reload(one)["models"]
    time.sleep(0.2)
    assert kit.model(one, model)["pid"] == pid and not procs.is_gone(pid)


def test_a_removed_extension_ends_its_waiting_jobs_and_its_worker(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--run-ms", 800)
    one.start()
    running, queued = kit.submit(one, model), kit.submit(one, model)
    kit.wait_state(one, running, "running")
    pid = kit.wait_pid(one, model)
    shutil.rmtree(one.extensions_dir / "a")
    assert model not in reload(one)["models"]
    view = kit.wait_end(one, queued)
    assert (view["state"], view["error_code"]) == ("error", "model_removed"), view
    assert kit.wait_end(one, running)["state"] == "done"
    kit.wait_gone([pid])
    kit.wait_no_workers(one)
    kit.fake(one, "a")  # and back again
    assert model in reload(one)["models"]
    assert kit.run(one, model)["state"] == "done"


def test_w5_reloads_leak_no_processes(daemon, tmp_path):
    one = prepare(daemon)
    log = tmp_path / "starts"
    model = kit.fake(one, "a", "--spawn-log", log)
    one.start()
    for number in range(4):
        kit.load(one, model)
        kit.fake(one, "a", "--tag", number, "--spawn-log", log)
        reload(one)
    kit.load(one, model)
    living = [pid for pid in pids_of(log) if not procs.is_gone(pid)]
    assert len(kit.starts(log)) == 5 and len(living) == 1
    assert len(one.tree()) == 2  # a worker and its guardian


def test_reloads_at_the_same_time_are_all_answered(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--run-ms", 20)
    one.start()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(reload(one))) for _ in range(6)]
    for thread in threads:
        thread.start()
    jobs = [kit.submit(one, model) for _ in range(5)]
    for thread in threads:
        thread.join(20)
    assert len(answers) == 6 and all(model in answer["models"] for answer in answers)
    for job_id in jobs:
        assert kit.wait_end(one, job_id)["state"] == "done"


def test_w33_broken_manifests_are_listed_and_the_others_load(daemon):
    one = prepare(daemon)
    good = kit.fake(one, "good")
    broken = {
        "half": '{"id": "half", "nodes": [',
        "list": "[]",
        "types": '{"id": "types", "type": "model", "nodes": "many"}',
        "empty": "",
    }
    for name, text in broken.items():
        (one.extensions_dir / name).mkdir()
        (one.extensions_dir / name / "manifest.json").write_text(text, encoding="utf-8")
    one.start()
    errors = one.get("/extensions/errors").json()
    for name in broken:
        assert any(name in key or name in str(text) for key, text in errors.items()), errors
    assert kit.run(one, good)["state"] == "done"
    (one.extensions_dir / "half" / "manifest.json").write_text(
        (one.extensions_dir / "good" / "manifest.json").read_text().replace("good", "half"),
        encoding="utf-8",
    )
    assert "half/run" in reload(one)["models"]
    assert "half" not in one.get("/extensions/errors").json()


# --- all of it at once

MIXED = (
    ("--run-ms", 30, "--progress-every-ms", 3),
    ("--load-ms", 150, "--grandchild", "double"),
    ("--run-ms", 300, "--ignore-cancel"),
    ("--hang", "run"),
    ("--crash", "run"),
    ("--noise", "--no-ids", "all"),
)


def use_at_random(one, models, chance, until, accepted):
    """Requests of all kinds, some of which nobody waits for."""
    while time.monotonic() < until:
        model = chance.choice(models)
        action = chance.randrange(10)
        if action < 4 or not accepted:
            accepted.append(kit.submit(one, model))
        elif action == 4:
            kit.cancel(one, chance.choice(accepted))
        elif action == 5:
            one.post(f"/model/unload/{model}?force=true")
        elif action == 6:
            one.post(f"/api/v1/models/{model}/unload?wait=0.1")
        elif action == 7:
            one.post(f"/model/switch?model_id={model}")
        elif action == 8:
            stream = one.events()
            next(stream)
            stream.close()
        else:
            reload(one)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_use_ends_every_job_once_and_leaves_nobody(daemon, seed):
    limits = {"cancel_grace": 0.2, "run_timeout": 0.6, "queue_timeout": 3, "ttl": 0.4}
    one = prepare(daemon, stop_grace=0.5, drain_timeout=0.4, **limits)
    models = [kit.fake(one, f"m{number}", *flags) for number, flags in enumerate(MIXED)]
    one.start()
    accepted, faults = [], []
    until = time.monotonic() + 2.5

    def client(number):
        try:
            use_at_random(one, models, random.Random(10 * seed + number), until, accepted)
        except Exception as error:  # told by the test's own thread
            faults.append(error)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not faults, faults
    for job_id in accepted:
        kit.wait_end(one, job_id)
    kit.wait_no_workers(one)  # the idle ones leave by their ttl
    assert one.tree() == []
    ends = re.findall(r" job\.end job=(\S+)", one.log_text)
    assert sorted(ends) == sorted(accepted)
