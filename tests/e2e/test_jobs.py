"""Jobs: each ends once, as what it was, whatever its worker does and whoever cancels what."""

import json
import random
import re
import threading
import time

import harness
import jobkit as kit
import pytest

READY = """echo '{"type":"ready","protocol":1,"features":["ids","image_path"]}'
read -r line; echo '{"type":"loaded","id":"load"}'
"""
# The id of the request in $line.
ID = """id=${line#*\\"id\\":\\"}; id=${id%%\\"*}
out=${line#*\\"outputs_dir\\":\\"}; out=${out%%\\"*}
"""
DONE = """echo x > "$out/r-$id"; printf '{"type":"done","id":"%s","output_path":"%s/r-%s"}\\n' \\
"$id" "$out" "$id"
"""


def prepare(daemon, **config):
    return daemon(config=kit.config(**config), start=False)


# --- whose result is whose


@pytest.mark.parametrize("parallel", [1, 4])
def test_w17_w23_jobs_of_one_model_never_mix(daemon, parallel):
    one = prepare(daemon, models={"a/run": {"parallel": parallel}})
    model = kit.fake(one, "a", "--echo", "--run-ms", 20)
    one.start()
    jobs = {}

    def client(number):
        params = {"seed": number}
        jobs[number] = kit.submit(one, model, params, collection=f"C{number}")

    threads = [threading.Thread(target=client, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for number, job_id in jobs.items():
        view = kit.wait_state(one, job_id, "done")
        assert kit.output(view)["params"]["seed"] == number
        assert view["workspace_path"].startswith(f"C{number}/"), view
        assert view["result"]["id"] == job_id


def test_w20_a_job_keeps_the_model_it_was_accepted_for(daemon):
    one = prepare(daemon)
    first = kit.fake(one, "a", "--echo", "--load-ms", 200)
    second = kit.fake(one, "b", "--echo")
    one.start()
    job_id = kit.submit(one, first)
    assert one.post(f"/model/switch?model_id={second}").status == 200
    assert kit.wait_state(one, job_id, "done")["model"] == first


def test_a_result_outside_the_workspace_is_refused(daemon):
    one = prepare(daemon)
    text = READY + "read -r line\n" + ID
    text += """printf '{"type":"done","id":"%s","output_path":"/etc/passwd"}\\n' "$id"
cat >/dev/null"""
    model = kit.script(one, "a", text)
    one.start()
    view = kit.run(one, model)
    assert (view["state"], view["error_code"]) == ("error", "bad_output"), view
    assert "/etc/passwd" in view["error"] and view["output_path"] is None


# --- cancel


def test_case_053_w18_a_cancel_reaches_only_its_own_job(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--run-ms", 600)
    one.start()
    running, queued, last = (kit.submit(one, model) for _ in range(3))
    kit.wait_state(one, running, "running")
    kit.cancel(one, queued)
    assert kit.wait_end(one, queued)["state"] == "cancelled"
    assert kit.wait_end(one, running)["state"] == "done"
    assert kit.wait_end(one, last)["state"] == "done"


def test_w21_a_job_cancelled_before_its_start_never_runs(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--load-ms", 500)
    one.start()
    job_id = kit.submit(one, model)
    kit.cancel(one, job_id)
    view = kit.wait_end(one, job_id)
    assert view["state"] == "cancelled" and not view["started_ms"], view


def test_w19_a_cancel_of_a_finished_job_changes_nothing(daemon, tmp_path):
    one = prepare(daemon)
    log = tmp_path / "starts"
    model = kit.fake(one, "a", "--spawn-log", log)
    one.start()
    first = kit.submit(one, model)
    assert kit.wait_end(one, first)["state"] == "done"
    kit.cancel(one, first)
    assert kit.job(one, first)["state"] == "done"
    assert kit.run(one, model)["state"] == "done"
    assert len(kit.starts(log)) == 1


def test_case_053_a_cancel_around_the_end_of_a_job_never_hits_the_next(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--run-ms", 20)
    one.start()
    kit.load(one, model)
    chance = random.Random(53)
    for _ in range(25):
        first, second = kit.submit(one, model), kit.submit(one, model)
        kit.wait_state(one, first, "running", *kit.ENDS)
        time.sleep(chance.uniform(0, 0.03))
        kit.cancel(one, first)
        assert kit.wait_end(one, first)["state"] in ("done", "cancelled")
        assert kit.wait_end(one, second)["state"] == "done"


def test_case_067_a_worker_that_ignores_a_cancel_is_replaced(daemon, tmp_path):
    one = prepare(daemon, cancel_grace=0.4)
    log = tmp_path / "starts"
    flags = ("--run-ms", 60000, "--ignore-cancel", "--spawn-log", log)
    model = kit.fake(one, "a", *flags)
    one.start()
    job_id = kit.submit(one, model)
    kit.wait_state(one, job_id, "running")
    kit.cancel(one, job_id)
    view, seconds = kit.timed(kit.wait_end, one, job_id)
    assert view["state"] == "cancelled" and seconds < 5
    kit.wait_gone([kit.starts(log)[0]["pid"]])
    following = kit.submit(one, model)
    kit.wait_state(one, following, "running")
    assert len(kit.starts(log)) == 2
    kit.cancel(one, following)
    kit.wait_end(one, following)


def test_case_052_only_a_cancel_ends_a_job_not_who_watches_it(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--run-ms", 1200, "--progress-every-ms", 50)
    one.start()
    job_id = kit.submit(one, model)
    kit.wait_state(one, job_id, "running")
    for _ in range(4):
        stream = one.events()
        assert next(stream)[0] in ("job", "worker", "model")
        stream.close()
    assert kit.wait_end(one, job_id)["state"] == "done"


# --- limits


def test_case_055_a_job_past_its_limit_ends_and_its_worker_too(daemon, tmp_path):
    one = prepare(daemon, run_timeout=0.6, cancel_grace=0.3)
    log = tmp_path / "starts"
    stuck = kit.fake(one, "a", "--hang", "run", "--ignore-cancel", "--spawn-log", log)
    one.start()
    kit.load(one, stuck)
    (view, seconds) = kit.timed(kit.run, one, stuck)
    assert (view["state"], view["error_code"]) == ("error", "run_timeout"), view
    assert "0.6" in view["error"] and 0.5 < seconds < 5
    kit.wait_gone([kit.starts(log)[0]["pid"]])
    assert kit.run(one, stuck)["error_code"] == "run_timeout"  # on a fresh worker
    assert len(kit.starts(log)) == 2


def test_case_056_a_silent_job_stalls_and_its_late_result_is_dropped(daemon):
    one = prepare(daemon, stall_timeout=0.4, cancel_grace=5)
    model = kit.fake(one, "a", "--run-ms", 1200, "--ignore-cancel")
    one.start()
    job_id = kit.submit(one, model)
    view = kit.wait_end(one, job_id)
    assert (view["state"], view["error_code"]) == ("error", "stall_timeout"), view
    time.sleep(1.2)
    assert kit.job(one, job_id)["state"] == "error"
    # The worker did answer: it is as good as before.
    harness.wait_until(lambda: kit.model(one, model)["running"] == 0, 10, "the late answer")


def test_case_056_progress_keeps_a_job_alive(daemon):
    one = prepare(daemon, stall_timeout=0.6)
    model = kit.fake(one, "a", "--run-ms", 1500, "--progress-every-ms", 150)
    one.start()
    assert kit.run(one, model)["state"] == "done"


def test_heartbeats_are_no_progress(daemon):
    one = prepare(daemon, stall_timeout=0.5, cancel_grace=0.2)
    model = kit.fake(one, "a", "--run-ms", 30000, "--heartbeat-ms", 50)
    one.start()
    assert kit.run(one, model)["error_code"] == "stall_timeout"


def test_a_job_that_waits_too_long_ends_by_queue_timeout(daemon):
    one = prepare(daemon, queue_timeout=0.5)
    model = kit.fake(one, "a", "--run-ms", 1500)
    one.start()
    kit.load(one, model)
    running, queued = kit.submit(one, model), kit.submit(one, model)
    assert kit.wait_end(one, queued)["error_code"] == "queue_timeout"
    assert kit.wait_end(one, running)["state"] == "done"


def test_case_066_a_worker_that_never_reads_delays_nobody(daemon):
    one = prepare(daemon, run_timeout=1, cancel_grace=0.3)
    deaf = kit.script(one, "a", READY + "exec sleep 1000\n")
    text = """echo '{"type":"ready"}'; read -r line; echo '{"type":"loaded"}'; exec sleep 1000\n"""
    foreign = kit.script(one, "b", text)  # it is sent 2.7 MB in one line
    one.start()
    for model in (deaf, foreign):
        job_id = kit.submit(one, model, image=kit.picture(2 << 20))
        slowest = 0.0
        while kit.job(one, job_id)["state"] not in kit.ENDS:
            answer, seconds = kit.timed(one.get, "/health")
            assert answer.status == 200
            slowest = max(slowest, seconds)
        assert kit.job(one, job_id)["error_code"] == "run_timeout"
        assert slowest < 1.0


# --- what workers say


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(("--noise",), id="case_086_noise"),
        pytest.param(("--noise", "--progress-every-ms", 5, "--heartbeat-ms", 5), id="much_noise"),
        pytest.param(("--double-done",), id="case_083_double_done"),
        pytest.param(("--wrong-id", "extra"), id="case_083_wrong_id"),
        pytest.param(("--stderr-noise", "200K"), id="case_079_stderr"),
        pytest.param(("--no-ids", "modly"), id="foreign_as_modly"),
        pytest.param(("--no-ids", "all"), id="foreign_without_ids"),
        pytest.param(("--no-ids", "all", "--noise"), id="foreign_noisy"),
        pytest.param(("--no-ids", "modly", "--double-done"), id="foreign_double_done"),
    ],
)
def test_whatever_a_worker_says_each_job_gets_its_own_result(daemon, flags):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--echo", "--run-ms", 30, *flags)
    one.start()
    jobs = [kit.submit(one, model, {"seed": n}, image=kit.picture(1000 + n)) for n in range(5)]
    for number, job_id in enumerate(jobs):
        view = kit.wait_state(one, job_id, "done")
        echo = kit.output(view)
        assert (echo["params"]["seed"], echo["image_bytes"]) == (number, 1000 + number)
    assert one.get("/health").status == 200


def test_case_083_an_answer_under_a_wrong_id_ends_nothing(daemon):
    one = prepare(daemon, run_timeout=0.8, cancel_grace=0.2)
    model = kit.fake(one, "a", "--wrong-id", "only")
    one.start()
    view = kit.run(one, model)
    assert (view["state"], view["error_code"]) == ("error", "run_timeout"), view
    assert "dropped a line" in one.get(f"/api/v1/models/{model}/log").text


def test_case_083_a_late_answer_is_not_the_next_jobs(daemon):
    one = prepare(daemon, run_timeout=0.5, cancel_grace=5)
    model = kit.fake(one, "a", "--echo", "--run-ms", 900, "--ignore-cancel")
    one.start()
    first, second = kit.submit(one, model, {"seed": 1}), kit.submit(one, model, {"seed": 2})
    assert kit.wait_end(one, first)["error_code"] == "run_timeout"
    assert kit.wait_end(one, second)["error_code"] == "run_timeout"  # not done with 1's result
    assert kit.job(one, first)["output_path"] is None


def test_case_078_progress_bars_on_stdout(daemon):
    one = prepare(daemon)
    text = READY + "while read -r line; do\n" + ID + "printf '10%%\\r20%%\\r'\n" + DONE + "done\n"
    model = kit.script(one, "a", text)
    one.start()
    assert kit.run(one, model)["state"] == "done"


def test_case_078_text_glued_to_messages_ends_in_bounded_time(daemon):
    one = prepare(daemon, load_timeout=0.5)
    model = kit.fake(one, "a", "--glue")
    one.start()
    view = kit.run(one, model)
    assert (view["state"], view["error_code"]) == ("error", "load_timeout"), view
    assert "loading weights..." in one.get(f"/api/v1/models/{model}/log").text


@pytest.mark.parametrize("size", [1 << 20, (4 << 20) - 1])
def test_case_080_a_long_line_arrives_whole(daemon, size):
    one = prepare(daemon)
    head = """import json, sys
print(json.dumps({"type": "ready", "protocol": 1, "features": ["ids", "image_path"]}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["action"] == "load":
        print(json.dumps({"type": "loaded", "id": "load"}), flush=True)
    elif request["action"] == "generate":
        path = request["outputs_dir"] + "/out.bin"
        open(path, "wb").close()
        answer = {"type": "done", "id": request["id"], "output_path": path, "blob": ""}
        answer["blob"] = "x" * (SIZE - len(json.dumps(answer)))
        data = (json.dumps(answer) + "\\n").encode()
        for at in range(0, len(data), 65537):
            sys.stdout.buffer.write(data[at : at + 65537])
        sys.stdout.buffer.flush()
"""
    model = kit.script(one, "a", head.replace("SIZE", str(size)), program="/usr/bin/python3")
    one.start()
    view = kit.run(one, model)
    assert view["state"] == "done", view
    assert len(json.dumps(view["result"])) == size


def test_case_085_a_helper_that_holds_stdout_does_not_hide_an_exit(daemon):
    one = prepare(daemon)
    model = kit.script(one, "a", READY + "read -r line; sleep 1000 & exit 1\n")
    one.start()
    kit.load(one, model)
    view, seconds = kit.timed(kit.run, one, model)
    assert (view["state"], view["error_code"]) == ("error", "worker_died"), view
    assert "code 1" in view["error"] and seconds < 3


def test_case_086_errors_are_valid_json_whatever_the_worker_wrote(daemon):
    one = prepare(daemon)
    text = READY + "read -r line\n" + "printf '\\377\\376 \\033[31m broken\\n' >&2; exit 1\n"
    model = kit.script(one, "a", text)
    one.start()
    assert kit.run(one, model)["error_code"] == "worker_died"  # parsed, and checked by its schema
    assert one.cli("logs", model, "--json").returncode == 0
    one.get(f"/api/v1/models/{model}/log").body.decode("utf-8")  # as its type says


def test_words_of_a_worker_are_bounded_in_records_and_events(daemon):
    one = prepare(daemon)
    text = READY + "read -r line\n" + ID
    text += """printf '{"type":"error","id":"%s","message":"é' "$id"
head -c 1000000 /dev/zero | tr '\\000' x; echo '"}'; cat >/dev/null"""
    model = kit.script(one, "a", text)
    one.start()
    view = kit.run(one, model)
    assert (view["state"], view["error_code"]) == ("error", "error"), view
    assert view["error"].startswith("éxxx") and 1000 < len(view["error"]) <= 16384


def test_progress_is_told_at_most_ten_times_a_second(daemon):
    one = prepare(daemon)
    model = kit.fake(one, "a", "--run-ms", 1000, "--progress-rate", 3000)
    one.start()
    kit.load(one, model)
    stream = one.events()
    seen = []

    def watch():
        for kind, event in stream:
            if kind == "job":
                seen.append(event)
                if event["state"] in kit.ENDS:
                    return

    watcher = threading.Thread(target=watch)
    watcher.start()
    job_id = kit.submit(one, model)
    watcher.join(20)
    stream.close()
    running = [event["progress"] for event in seen if event["id"] == job_id]
    assert 5 <= len(running) <= 18
    assert running == sorted(running)
    assert seen[-1]["state"] == "done" and seen[-1]["progress"] == 100


@pytest.mark.parametrize("flood", ["yes astray", "yes abc >&2", "cat /dev/zero"])
def test_case_151_a_flood_from_one_worker_disturbs_nobody(daemon, flood):
    one = prepare(daemon, log_file_size="64KiB")
    loud = kit.script(one, "a", READY + f"read -r line; {flood}\n")
    other = kit.fake(one, "b")
    one.start()
    flooding = kit.submit(one, loud)
    kit.wait_state(one, flooding, "running")
    waits = sorted(kit.timed(one.get, "/health")[1] for _ in range(60))
    assert waits[57] < 0.3, waits
    assert kit.run(one, other)["state"] == "done"
    assert sum(file.stat().st_size for file in (one.state_dir / "logs").iterdir()) < 512 << 10
    kit.cancel(one, flooding)
    one.post("/model/unload-all?force=true")
    assert kit.wait_end(one, flooding)["state"] == "cancelled"


def test_the_example_in_the_protocols_document_works(daemon):
    document = (harness.ROOT / "docs" / "worker-protocol.md").read_text(encoding="utf-8")
    manifest, worker = re.findall(r"```(?:json|python)\n(.*?)```", document, re.S)[:2]
    one = prepare(daemon)
    folder = harness.write_extension(one.extensions_dir, json.loads(manifest))
    (folder / "worker.py").write_text(worker, encoding="utf-8")
    one.start()
    answer = one.post("/api/v1/jobs", {"model": "upper/run", "text": "hello"})
    view = kit.wait_state(one, answer.json()["id"], "done")
    with open(view["output_path"], encoding="utf-8") as file:
        assert file.read() == "HELLO"
