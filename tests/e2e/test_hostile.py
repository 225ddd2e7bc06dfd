"""What a careless parent, a second daemon, a client or a worker may do to the daemon."""

import json
import signal
import subprocess

import jobkit as kit

PYTHON = "/usr/bin/python3"
IGNORE_SIGCHLD = (
    "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN);"
    "os.execv(sys.argv[1], sys.argv[1:])"
)

# Speaks the protocol; DONE is the terminal message's further fields.
WORKER = """
import json, os, sys
def say(**message): print(json.dumps(message), flush=True)
say(type="ready", params_schema=[], protocol=1, features=["ids", "image_path"])
for line in sys.stdin:
    message = json.loads(line)
    if message["action"] == "load":
        say(type="loaded", id=message["id"])
    elif message["action"] == "generate":
        path = os.path.join(message["outputs_dir"], message["id"] + ".glb")
        open(path, "wb").write(b"glTF")
        say(type="done", id=message["id"], output_path=path, **DONE)
    elif message["action"] == "shutdown":
        break
"""


def hostile(one, ext_id, **done):
    text = WORKER.replace("DONE", repr(done))
    return kit.script(one, ext_id, text, program=PYTHON)


def test_a_second_daemon_leaves_the_first_ones_inputs_alone(daemon):
    one = daemon(start=False, config=kit.config())
    model = kit.fake(one, "a", "--run-ms", 1500)
    one.start()
    jobs = [kit.submit(one, model) for _ in range(2)]
    other = subprocess.run(
        [one.build / "hotbunk", "serve", "--port", "0", "--state-dir", one.state_dir],
        env={"HOME": str(one.dir), "HOTBUNK_RUNTIME_DIR": str(one.dir / "run2")},
        capture_output=True, text=True, timeout=30, check=False,
    )
    assert other.returncode == 2 and "another hotbunk" in other.stderr
    assert [kit.wait_end(one, job)["state"] for job in jobs] == ["done", "done"]


def test_commands_still_find_the_first_daemon_after_a_second_one_ended(daemon):
    one = daemon(start=False)
    one.start()
    other = subprocess.Popen(
        [one.build / "hotbunk", "serve", "--port", "0", "--state-dir", one.dir / "state2", "--json"],
        env={"HOME": str(one.dir), "HOTBUNK_RUNTIME_DIR": str(one.runtime_dir)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    with other:
        assert json.loads(other.stdout.readline())["url"] != one.url
        assert (one.runtime_dir / "address").read_text(encoding="utf-8").strip() == one.url
        other.send_signal(signal.SIGTERM)
        assert other.wait(30) == 0
        assert "another daemon" in other.stderr.read()
    assert (one.runtime_dir / "address").read_text(encoding="utf-8").strip() == one.url


def test_a_parent_that_ignores_sigchld_does_not_hide_exits(daemon):
    one = daemon(start=False, config=kit.config())
    model = kit.fake(one, "a")
    command = one.command()
    one.command = lambda: [PYTHON, "-c", IGNORE_SIGCHLD, *command]  # exec hands it on
    one.start()
    kit.load(one, model)
    assert one.post("/model/unload/" + model).json()["unloaded"] is True


def test_an_event_id_beyond_the_end_replays_nothing(daemon):
    one = daemon(start=False, config=kit.config())
    model = kit.fake(one, "a")
    one.start()
    kit.run(one, model)
    for wild in ("18446744073709551615", "999999999"):
        stream = one.events("/api/v1/events?job=none", headers={"Last-Event-ID": wild})
        stream.close()
    assert one.get("/health").status == 200


def test_a_media_type_cannot_split_the_answer(daemon):
    one = daemon(start=False, config=kit.config())
    model = hostile(one, "a", media_type="text/html\r\nSet-Cookie: a=b")
    one.start()
    view = kit.run(one, model)
    assert view["state"] == "done"
    answer = one.get(f"/api/v1/jobs/{view['id']}/output")
    assert answer.status == 200 and "set-cookie" not in {name.lower() for name in answer.headers}
    assert answer.headers["content-type"] == "model/gltf-binary"


def test_a_wild_memory_figure_does_not_spoil_the_model(daemon):
    one = daemon(start=False, config=kit.config())
    models = [hostile(one, "a", rss_peak_bytes=-1), hostile(one, "b", rss_peak_bytes=10**15)]
    one.start()
    for model in models:
        assert [kit.run(one, model)["state"] for _ in range(2)] == ["done", "done"]
