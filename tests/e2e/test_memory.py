"""Memory: what is loaded when, what leaves for whom, and that what left is really back."""

import os
import random
import threading
import time

import harness
import jobkit as kit
import procs
import pytest

MIB = 1 << 20
GIB = 1 << 30


def prepare(daemon, **config):
    return daemon(config=kit.config(**config), start=False)


# --- load


def test_concurrent_first_requests_cause_one_start(daemon, tmp_path):
    one = prepare(daemon)
    log = tmp_path / "starts"
    model = kit.fake(one, "a", "--load-ms", 300, "--spawn-log", log)
    one.start()
    jobs = []
    threads = [
        threading.Thread(target=lambda: jobs.append(kit.submit(one, model))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(jobs) == 8
    for job_id in jobs:
        assert kit.wait_end(one, job_id)["state"] == "done"
    assert len(kit.starts(log)) == 1


def test_case_157_loaded_is_said_when_it_is_true(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--load-ms", 800)
    one.start()
    answer = one.post(f"/api/v1/models/{model}/load")
    assert answer.status == 202 and answer.json()["loaded"] is False, answer
    assert not one.get("/model/status").json()["loaded"]
    answer, seconds = kit.timed(one.post, f"/api/v1/models/{model}/load?wait=20")
    assert answer.status == 200 and answer.json()["loaded"] is True, answer
    assert 0.2 < seconds < 5
    assert one.get("/model/status").json()["loaded"]


def test_what_a_model_holds_is_measured_and_told(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--alloc", "64M", "--job-alloc", "32M", "--run-ms", 300)
    one.start()
    kit.load(one, model)
    harness.wait_until(
        lambda: kit.model(one, model)["held_bytes"] >= 64 * MIB, 10, "the first sample"
    )
    view = kit.run(one, model)
    assert 96 * MIB <= view["held_bytes"] < 160 * MIB, view


# --- unload


def test_w1_unload_gives_the_memory_back_and_says_how_much(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--alloc", "96M")
    one.start()
    pid = kit.load(one, model)
    harness.wait_until(lambda: kit.model(one, model)["held_bytes"] >= 96 * MIB, 10, "a sample")
    answer = one.post(f"/model/unload/{model}").json()
    assert answer["unloaded"] is True and answer["state"] == "cold", answer
    assert 96 * MIB <= answer["freed_bytes"] < 160 * MIB
    assert procs.is_gone(pid)
    assert one.get("/api/v1/workers").json()["workers"] == []
    assert kit.run(one, model)["state"] == "done"  # W6: the next job works at once


def test_case_161_unload_of_what_is_not_loaded_is_fine(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a")
    one.start()
    for path in (f"/model/unload/{model}", "/model/unload/no/such", "/model/unload-all"):
        answer = one.post(path).json()
        assert answer["unloaded"] is True and answer["freed_bytes"] == 0, answer


def test_unload_all_ends_every_worker(daemon):
    one = prepare(daemon)
    models = [kit.fake(one, ext_id) for ext_id in ("a", "b", "c")]
    one.start()
    pids = [kit.load(one, model) for model in models]
    answer = one.post("/model/unload-all", {}).json()
    assert answer["unloaded"] is True and answer["freed_bytes"] > 0, answer
    assert all(map(procs.is_gone, pids))


def test_unload_of_a_busy_model_waits_for_its_job(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--run-ms", 1000)
    one.start()
    job_id = kit.submit(one, model)
    kit.wait_state(one, job_id, "running")
    answer = one.post(f"/model/unload/{model}").json()
    assert answer["unloaded"] is True, answer
    assert kit.job(one, job_id)["state"] == "done"


def test_an_unload_that_takes_longer_says_what_is_true_then(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--run-ms", 1500)
    one.start()
    job_id = kit.submit(one, model)
    kit.wait_state(one, job_id, "running")
    answer, seconds = kit.timed(one.post, f"/api/v1/models/{model}/unload?wait=0.3")
    assert answer.json()["unloaded"] is False and answer.json()["state"] == "draining", answer
    assert seconds < 1.2
    following = kit.submit(one, model)  # waits for a worker of its own
    assert kit.wait_end(one, job_id)["state"] == "done"
    assert kit.wait_end(one, following)["state"] == "done"


def test_w3_a_busy_model_does_not_hold_up_the_routes(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--hang", "run")
    one.start()
    job_id = kit.submit(one, model)
    kit.wait_state(one, job_id, "running")
    waiter = threading.Thread(target=one.post, args=(f"/model/unload/{model}",))
    waiter.start()
    for _ in range(20):
        answer, seconds = kit.timed(one.get, "/health")
        assert answer.status == 200 and seconds < 1.0
        time.sleep(0.02)
    assert one.post(f"/model/unload/{model}?force=true").json()["unloaded"] is True
    waiter.join(10)
    assert not waiter.is_alive()
    assert kit.job(one, job_id)["error_code"] == "unloaded"


def test_case_158_a_drain_is_bounded(daemon):
    one = prepare(daemon, drain_timeout=0.5)
    model = kit.fake(one, "a", "--hang", "run")
    one.start()
    job_id = kit.submit(one, model)
    kit.wait_state(one, job_id, "running")
    answer = one.post(f"/model/unload/{model}").json()
    assert answer["unloaded"] is True, answer
    view = kit.wait_end(one, job_id)
    assert (view["state"], view["error_code"]) == ("error", "unloaded"), view


def test_case_158_force_ends_jobs_as_unloaded_and_the_next_one_works(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--run-ms", 700, "--ignore-cancel", "--ignore-term")
    one.start()
    running, queued = kit.submit(one, model), kit.submit(one, model)
    kit.wait_state(one, running, "running")
    answer, seconds = kit.timed(one.post, f"/model/unload/{model}?force=true")
    assert answer.json()["unloaded"] is True and seconds < 0.6, answer
    for job_id in (running, queued):
        view = kit.wait_end(one, job_id)
        assert (view["state"], view["error_code"]) == ("error", "unloaded"), view
    assert kit.run(one, model)["state"] == "done"


def test_unload_of_a_model_that_is_loading_ends_the_load(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--load-ms", 60000)
    one.start()
    job_id = kit.submit(one, model)
    kit.wait_model(one, model, "loading")
    assert one.post(f"/model/unload/{model}").json()["unloaded"] is True
    assert kit.wait_end(one, job_id)["error_code"] == "unloaded"


def test_an_idle_model_leaves_after_its_ttl(daemon):
    one = prepare(daemon, ttl=0.6)
    model = kit.fake(one, "a", "--run-ms", 900)
    one.start()
    job_id = kit.submit(one, model)
    view = kit.wait_end(one, job_id)
    assert view["state"] == "done"  # case_071: not counted from the job's start
    assert kit.model(one, model)["state"] == "ready"
    kit.wait_model(one, model, "cold", seconds=5)


def test_case_152_loads_and_unloads_leave_no_descriptor_behind(daemon):
    one = prepare(daemon)
    good = kit.fake(one, "a")
    bad = kit.fake(one, "b", "--crash", "load")
    one.start()

    def cycle():
        kit.load(one, good)
        one.post(f"/api/v1/models/{bad}/load?wait=10")
        one.post("/model/unload-all?force=true")

    def descriptors():
        return len(os.listdir(f"/proc/{one.pid}/fd"))

    cycle()
    before = descriptors()
    for _ in range(12):
        cycle()
    harness.wait_until(lambda: descriptors() <= before, 5, f"{before} descriptors")


# --- switch


def test_w2_after_a_switch_the_next_model_loads_only_when_the_first_is_gone(daemon, tmp_path):
    one = prepare(daemon)
    log = tmp_path / "starts"
    first = kit.fake(one, "a", "--run-ms", 900, "--alloc", "32M", "--spawn-log", log)
    second = kit.fake(one, "b", "--alloc", "32M", "--spawn-log", log)
    one.start()
    assert one.get("/model/status").json()["id"] == first
    running = kit.submit(one, first)
    kit.wait_state(one, running, "running")
    pid = kit.starts(log)[0]["pid"]
    answer = one.post("/model/switch", {"model_id": second})
    assert answer.json() == {"active": second}, answer
    waiting = kit.submit(one, second)
    view = kit.wait_state(one, waiting, "queued")
    assert first in kit.job(one, waiting)["why"], view
    kit.wait_state(one, waiting, "running", "done")
    assert procs.is_gone(pid)
    assert kit.wait_end(one, running)["state"] == "done"  # it was drained, not cut off
    assert kit.wait_end(one, waiting)["state"] == "done"
    assert kit.most_resident(one, (first, second)) == 1


def test_a_switch_leaves_other_models_alone(daemon):
    one = prepare(daemon)
    models = [kit.fake(one, ext_id) for ext_id in ("a", "b", "c")]
    one.start()
    pids = [kit.load(one, model) for model in models]
    assert one.post(f"/model/switch?model_id={models[1]}").json() == {"active": models[1]}
    kit.wait_gone(pids[:1])
    assert [kit.model(one, model)["state"] for model in models[1:]] == ["ready", "ready"]
    assert not any(map(procs.is_gone, pids[1:]))


def test_a_switch_to_the_active_model_changes_nothing(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a")
    one.start()
    pid = kit.load(one, model)
    assert one.post(f"/model/switch?model_id={model}").json() == {"active": model}
    time.sleep(0.2)
    assert not procs.is_gone(pid)


def test_twenty_random_switches_never_hold_two_models(daemon):
    one = prepare(daemon)
    flags = ("--load-ms", 30, "--run-ms", 30, "--alloc", "8M")
    models = [kit.fake(one, ext_id, *flags) for ext_id in ("a", "b")]
    one.start()
    chance = random.Random(20)
    jobs = []
    for _ in range(20):
        model = chance.choice(models)
        assert one.post(f"/model/switch?model_id={model}").status == 200
        jobs.append(kit.submit(one, model))
        # Its worker may be busy or idle at the next switch; a job that waits would load it again.
        kit.wait_state(one, jobs[-1], "running", "done")
        time.sleep(chance.uniform(0, 0.06))
    for job_id in jobs:
        assert kit.wait_end(one, job_id)["state"] == "done"
    assert kit.most_resident(one, models) == 1


# --- what fits


def host(one):
    return one.get("/api/v1/devices").json()["devices"][0]


def with_room(daemon, bytes_free):
    """A daemon that may give out about so many bytes of this machine's free memory."""
    probe = daemon()
    harness.wait_until(lambda: host(probe)["free_bytes"], 10, "the first sample")
    free = host(probe)["free_bytes"]
    probe.close()
    if free < bytes_free + 2 * GIB:
        pytest.skip(f"only {free >> 20} MiB of memory are free")
    return daemon(config={"host_reserve": str(free - bytes_free)}, start=False)


def test_case_015_two_models_that_do_not_fit_together_take_turns(daemon):
    one = with_room(daemon, 4 * GIB)
    first, second = (kit.fake(one, ext_id, ram_mb=2600) for ext_id in ("a", "b"))
    one.start()
    assert kit.run(one, first)["state"] == "done"
    assert kit.run(one, second)["state"] == "done"
    assert kit.run(one, first)["state"] == "done"
    assert kit.most_resident(one, (first, second)) == 1
    assert "makes room for b/run" in one.log_text


def test_a_busy_model_is_not_evicted_and_the_wait_has_numbers(daemon):
    one = with_room(daemon, 4 * GIB)
    first = kit.fake(one, "a", "--run-ms", 1200, ram_mb=2600)
    second = kit.fake(one, "b", ram_mb=2600)
    one.start()
    running = kit.submit(one, first)
    kit.wait_state(one, running, "running")
    waiting = kit.submit(one, second)
    harness.wait_until(
        lambda: "GiB" in kit.job(one, waiting)["why"], 1.0, "a reason with its numbers"
    )
    assert kit.wait_end(one, running)["state"] == "done"
    assert kit.wait_end(one, waiting)["state"] == "done"
    assert kit.most_resident(one, (first, second)) == 1


def test_two_models_that_fit_together_stay_together(daemon):
    one = prepare(daemon)
    models = [kit.fake(one, ext_id, ram_mb=64) for ext_id in ("a", "b")]
    one.start()
    for model in models * 2:
        assert kit.run(one, model)["state"] == "done"
    assert [kit.model(one, model)["state"] for model in models] == ["ready", "ready"]
    assert kit.most_resident(one, models) == 2


def test_case_018_what_can_never_fit_is_refused_at_once_with_numbers(daemon):
    one = prepare(daemon, models={"a/run": {"ram": "900TiB"}})
    model = kit.fake(one, "a")
    one.start()
    view, seconds = kit.timed(kit.run, one, model)
    assert (view["state"], view["error_code"]) == ("error", "never_fits"), view
    assert "900" in view["error"] or "921600" in view["error"], view
    assert seconds < 3
    assert one.get("/api/v1/workers").json()["workers"] == []


def test_a_model_of_unknown_size_loads_with_no_other_beside_it(daemon):
    one = prepare(daemon)
    unknown = harness.fakeworker_extension(
        one.extensions_dir, "u", "--load-ms", 600, "--alloc", "16M", build=one.build
    )
    known = kit.fake(one, "k")
    one.start()
    first = kit.submit(one, unknown)
    kit.wait_model(one, unknown, "loading")
    second = kit.submit(one, known)
    harness.wait_until(lambda: unknown in kit.job(one, second)["why"], 0.5, "the reason")
    assert kit.wait_end(one, first)["state"] == "done"
    assert kit.wait_end(one, second)["state"] == "done"
    changes = kit.worker_states(one)
    order = [(name, after) for name, _worker, _before, after in changes]
    assert order.index((unknown, "ready")) < order.index((known, "starting"))
