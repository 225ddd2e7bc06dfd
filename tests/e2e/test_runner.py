"""runner/runner.py over its pipes, with the fixture extensions of tests/support/extensions."""

import base64
import io
import json
import os
import queue
import random
import struct
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ROOT / "runner" / "runner.py"
EXTENSIONS = ROOT / "tests" / "support" / "extensions"
STUBS = ROOT / "tests" / "support" / "stubs"
PYTHON = "/usr/bin/python3"
WAIT_S = 10
TERMINAL = ("done", "cancelled", "error")

sys.path.insert(0, str(ROOT / "runner"))
from hotbunk_runner.images import BadInput, check_image, sniff  # noqa: E402


def png(width=2, height=2):
    """A PNG whose header claims this size; its data is that of one black pixel."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\0\0\0")
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


class Runner:
    """A running runner.py; every line of its stdout must be a JSON object."""

    def __init__(self, extension, directory, node="run", env=None):
        self.outputs = directory / "workspace" / "Default"
        self.models = directory / "models"
        settings = {
            "EXTENSION_DIR": str(EXTENSIONS / extension),
            "MODELS_DIR": str(self.models),
            "WORKSPACE_DIR": str(directory / "workspace"),
            "MODEL_DIR": str(self.models / extension / node),
            "MODEL_ID": f"{extension}/{node}",
            "MODEL_NODE_ID": node,
            "PATH": os.environ["PATH"],
            "PYTHONDONTWRITEBYTECODE": "1",
            "LC_ALL": "C",
        }
        self.stderr_path = directory / "stderr.txt"
        with open(self.stderr_path, "wb") as stderr:
            self.process = subprocess.Popen(
                [PYTHON, str(RUNNER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**settings, **(env or {})},
            )
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, **message):
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def next(self, timeout_s=WAIT_S):
        """The next message that is no heartbeat; None at the end of output."""
        deadline = time.monotonic() + timeout_s
        while True:
            line = self.lines.get(timeout=max(0.001, deadline - time.monotonic()))
            if line is None:
                return None
            message = json.loads(line)
            assert isinstance(message, dict)
            if message["type"] != "heartbeat":
                return message

    def expect(self, *types):
        """The next message of one of these types; anything between may only be progress or log."""
        while True:
            message = self.next()
            assert message is not None, self.stderr()
            if message["type"] in types:
                return message
            assert message["type"] in ("progress", "log"), message

    def run(self, job="j1", image=None, params=None, **more):
        """Generate and return the terminal message."""
        if not more:
            more = {"image_b64": base64.b64encode(png() if image is None else image).decode()}
        self.send(
            action="generate", id=job, params=params or {}, outputs_dir=str(self.outputs), **more
        )
        return self.expect(*TERMINAL)

    def wait(self, timeout_s=WAIT_S):
        return self.process.wait(timeout_s)

    def stderr(self):
        return self.stderr_path.read_text(encoding="utf-8", errors="replace")

    def close(self):
        self.process.kill()
        self.process.wait(WAIT_S)
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass


@pytest.fixture
def start(tmp_path):
    """A function that starts a runner and, unless told otherwise, waits until it is ready."""
    started = []

    def _start(extension, node="run", env=None, ready=True):
        runner = Runner(extension, tmp_path, node, env)
        started.append(runner)
        if ready:
            runner.ready = runner.expect("ready")
        return runner

    yield _start
    for runner in started:
        runner.close()


# Life cycle


def test_whole_life_echoes_ids_and_exits_zero(start):
    runner = start("echo")
    assert runner.ready["protocol"] == 1
    assert set(runner.ready["features"]) >= {"ids", "image_path", "heartbeat", "cancel"}
    runner.send(action="load", id="l1")
    assert runner.next() == {"type": "loaded", "id": "l1"}
    done = runner.run("j1", params={"detail": 5})
    assert done["id"] == "j1" and done["rss_peak_bytes"] > 1_000_000
    seen = json.loads(Path(done["output_path"]).read_text())
    assert seen["params"] == {"detail": 5} and seen["bytes"] == len(png())
    assert seen["model_dir"] == str(runner.models / "echo" / "run")
    runner.send(action="unload", id="u1")
    assert runner.next() == {"type": "unloaded", "id": "u1"}
    runner.send(action="shutdown")
    assert runner.next() is None
    assert runner.wait() == 0


def test_modly_messages_without_ids_are_answered_with_null_ids(start):
    runner = start("echo")
    runner.send(action="load")
    assert runner.next() == {"type": "loaded", "id": None}
    runner.send(action="unload")
    assert runner.next() == {"type": "unloaded", "id": None}


def test_generate_loads_first_and_makes_the_output_folder(start):
    runner = start("echo")
    assert not runner.outputs.exists()
    done = runner.run()
    assert Path(done["output_path"]).parent == runner.outputs


def test_two_jobs_sent_at_once_are_answered_in_order_with_their_ids(start):
    runner = start("echo")
    for job in ("a", "b"):
        runner.send(action="generate", id=job, image_b64=base64.b64encode(png()).decode())
    assert [runner.expect(*TERMINAL)["id"] for _ in range(2)] == ["a", "b"]


def test_model_dropped_inside_generate_is_loaded_again_w11(start):
    runner = start("forgetful")
    loads = [Path(runner.run(job)["output_path"]).read_text() for job in ("a", "b")]
    assert loads == ["1", "2"]


def test_unload_without_load_is_answered(start):
    runner = start("echo")
    runner.send(action="unload", id=7)
    assert runner.next() == {"type": "unloaded", "id": 7}


def test_end_of_input_while_idle_exits_zero(start):
    runner = start("echo")
    runner.process.stdin.close()
    assert runner.wait(3) == 0


def test_end_of_input_cancels_the_running_job_and_exits(start):
    runner = start("slow")
    runner.send(action="generate", id="j", image_b64=base64.b64encode(png()).decode())
    runner.expect("progress")
    runner.process.stdin.close()
    assert runner.expect(*TERMINAL)["type"] == "cancelled"
    assert runner.wait(3) == 0


def test_end_of_input_ends_a_runner_that_hangs_in_load(start):
    runner = start("hangs")
    runner.send(action="load", id="l")
    runner.process.stdin.close()
    began = time.monotonic()
    assert runner.wait(4) == 0
    assert time.monotonic() - began < 3.5


def test_worker_that_dies_ends_its_output(start):
    runner = start("dies")
    runner.send(action="generate", id="j", image_b64=base64.b64encode(png()).decode())
    assert runner.next() is None
    assert runner.wait() == 7


def test_heartbeats_also_come_while_the_model_loads(start):
    runner = start("hangs", env={"HOTBUNK_HEARTBEAT_MS": "50"})
    runner.send(action="load", id="l")
    beats = [json.loads(runner.lines.get(timeout=WAIT_S)) for _ in range(4)]
    assert beats == [{"type": "heartbeat"}] * 4


def test_execution_device_cpu_reaches_the_generator(start):
    runner = start("echo")
    runner.send(action="load", id="l", execution_device="cpu")
    runner.expect("loaded")
    assert json.loads(Path(runner.run()["output_path"]).read_text())["device"] == "cpu"


# What must not harm the protocol


def test_prints_and_native_output_go_to_stderr(start):
    runner = start("noisy")
    runner.send(action="load", id="l")
    assert runner.next() == {"type": "loaded", "id": "l"}
    assert runner.run("j")["id"] == "j"
    text = runner.stderr()
    assert "native, no newline" in text and "forged" in text and "lone surrogate" in text


@pytest.mark.parametrize(
    "line",
    [b"nonsense", b"null", b"42", b"[1]", b"\xff\xfe", b"{", b"[" * 5000, b'{"a":' * 5000, b""],
)
def test_lines_that_are_no_object_are_skipped(start, line):
    runner = start("echo")
    runner.write(line + b"\n")
    runner.send(action="unload", id="after")
    assert runner.expect("unloaded")["id"] == "after"


def test_unknown_actions_are_ignored_silently(start):
    runner = start("echo")
    runner.send(action="dance", id="x")
    runner.send(no_action=True)
    runner.send(action=["load"], id="x")
    runner.send(action="unload", id="after")
    assert runner.next() == {"type": "unloaded", "id": "after"}


def test_line_over_the_limit_is_dropped_and_reported(start):
    runner = start("echo")
    block = b"x" * (1024 * 1024)
    for _ in range(65):
        runner.write(block)
    runner.write(b"\n")
    runner.send(action="unload", id="after")
    assert runner.next()["type"] == "log"
    assert runner.next() == {"type": "unloaded", "id": "after"}


def test_progress_is_clamped_never_goes_back_and_ends_with_the_job_w27(start):
    runner = start("late_progress")
    seen = []
    runner.send(action="generate", id="j", image_b64=base64.b64encode(png()).decode())
    while (message := runner.next())["type"] == "progress":
        seen.append(message["pct"])
    assert message["type"] == "done"
    assert seen[:8] == [0, 10, 60, 60, 70, 70, 70, 100]
    time.sleep(0.2)
    runner.send(action="unload", id="u")
    assert runner.next() == {"type": "unloaded", "id": "u"}


# Cancel


def test_cancel_reaches_a_running_job(start):
    runner = start("slow")
    runner.send(action="generate", id="j", image_b64=base64.b64encode(png()).decode())
    runner.expect("progress")
    runner.send(action="cancel", id="j")
    assert runner.expect(*TERMINAL) == {"type": "cancelled", "id": "j"}


def test_cancel_of_a_waiting_job_spares_the_running_one_w18(start):
    runner = start("slow")
    image = base64.b64encode(png()).decode()
    runner.send(action="generate", id="a", image_b64=image, params={"seconds": 0.3})
    runner.send(action="generate", id="b", image_b64=image)
    runner.send(action="cancel", id="b")
    assert runner.expect(*TERMINAL)["type"] == "done"
    assert runner.expect(*TERMINAL) == {"type": "cancelled", "id": "b"}


def test_cancel_of_unknown_and_finished_jobs_is_ignored_w19(start):
    runner = start("slow")
    runner.send(action="cancel", id="never")
    assert runner.run("a", params={"seconds": 0})["type"] == "done"
    runner.send(action="cancel", id="a")
    assert runner.run("a", params={"seconds": 0})["type"] == "done"


def test_cancel_that_is_not_heeded_leaves_the_result(start):
    runner = start("slow")
    image = base64.b64encode(png()).decode()
    params = {"seconds": 0.2, "stubborn": True}
    runner.send(action="generate", id="j", image_b64=image, params=params)
    runner.expect("progress")
    runner.send(action="cancel", id="j")
    assert runner.expect(*TERMINAL)["type"] == "done"


# Nodes and schemas


def test_instance_method_schema_is_announced(start):
    assert start("echo").ready["params_schema"][0]["id"] == "detail"


@pytest.mark.parametrize(
    "node, parameter", [("first", "one"), ("second", "two"), ("third", "top"), ("other", "top")]
)
def test_schema_is_that_of_the_node_w32(start, node, parameter):
    assert [p["id"] for p in start("two_nodes", node).ready["params_schema"]] == [parameter]


def test_node_values_win_over_the_top_level(start):
    runner = start("two_nodes", "second")
    seen = json.loads(Path(runner.run()["output_path"]).read_text())
    assert seen == {
        "hf_repo": "second/repo",
        "hf_skip_prefixes": ["top/"],
        "download_check": "weights.bin",
        "MODEL_NODE_ID": "second",
    }


def test_node_is_found_by_the_last_part_of_the_model_folder(start):
    runner = start("two_nodes", "second", env={"MODEL_NODE_ID": ""})
    assert runner.ready["params_schema"][0]["id"] == "two"


# Failures


def test_missing_module_at_import_is_named(start):
    runner = start("broken_import", ready=False)
    message = runner.next()
    assert message["type"] == "error" and message["id"] is None
    assert message["code"] == "missing_module"
    assert message["module"] == "hotbunk_no_such_package"
    assert runner.wait() == 1


def test_error_at_import_is_told(start):
    runner = start("broken_import", env={"FIXTURE_IMPORT": "error"}, ready=False)
    message = runner.next()
    assert message["code"] == "import" and message["message"] == "not today"
    assert "generator.py" in message["traceback"]
    assert runner.wait() == 1


def test_missing_extension_is_told(start, tmp_path):
    runner = start("echo", env={"EXTENSION_DIR": str(tmp_path / "gone")}, ready=False)
    message = runner.next()
    assert message["code"] == "import" and "manifest.json" in message["message"]
    assert runner.wait() == 1


@pytest.mark.parametrize("where, text", [("in_init", "construction"), ("in_load", "load failed")])
def test_failing_load_is_answered_and_the_runner_lives(start, where, text):
    runner = start("failing", env={"FIXTURE_FAIL": where})
    for request in ("l1", "l2"):
        runner.send(action="load", id=request)
        message = runner.expect("error", "loaded")
        assert message["type"] == "error" and message["id"] == request
        assert text in message["message"] and message["loaded"] is False


@pytest.mark.parametrize(
    "how, code, text",
    [
        ("bad_input", "bad_input", "the picture shows nothing"),
        ("memory_error", "out_of_memory", "MemoryError"),
        ("oom_class", "out_of_memory", "Tried to allocate"),
        ("oom_message", "out_of_memory", "CUDA out of memory"),
        ("oom_cause", "out_of_memory", "stage two failed"),
        ("missing_module", "missing_module", "hotbunk_no_such_module"),
        ("value_error", "error", "plain failure"),
        ("key_error", "error", "KeyError"),
        ("exit", "error", "SystemExit"),
        ("no_path", "error", "NoneType"),
        ("no_file", "error", "nowhere.glb"),
        ("unprintable", "error", "Unprintable"),
    ],
)
def test_failing_job_has_a_code_and_the_runner_lives(start, how, code, text):
    runner = start("failing")
    message = runner.run("j1", params={"how": how})
    assert (message["type"], message["id"], message["code"]) == ("error", "j1", code)
    assert text in message["message"] and message["traceback"] and message["loaded"] is True
    assert runner.run("j2", params={"how": "relative"})["type"] == "done"


def test_error_says_when_the_model_is_lost(start):
    runner = start("failing")
    assert runner.run(params={"how": "lost_model"})["loaded"] is False


def test_relative_result_is_found_in_the_output_folder(start):
    runner = start("failing")
    done = runner.run(params={"how": "relative"})
    assert done["output_path"] == str(runner.outputs / "relative.glb")


def test_params_that_are_no_object_are_bad_input_w29(start):
    runner = start("echo")
    message = runner.run(params=[1])
    assert message["code"] == "bad_input" and "params" in message["message"]


# Input


def test_image_path_is_read(start, tmp_path):
    (tmp_path / "in.png").write_bytes(png())
    done = start("echo").run(image_path=str(tmp_path / "in.png"))
    assert json.loads(Path(done["output_path"]).read_text())["bytes"] == len(png())


def test_missing_image_path_is_an_error(start, tmp_path):
    assert start("echo").run(image_path=str(tmp_path / "no.png"))["type"] == "error"


def test_text_reaches_a_text_node(start):
    done = start("words").run(text="grüß dich")
    assert Path(done["output_path"]).read_text(encoding="utf-8") == "grüß dich|grüß dich"


@pytest.mark.parametrize(
    "data, text",
    [
        (b"this is a text file", "not an image"),
        (b"", "empty"),
        (png()[:20], "cut off"),
        (png(0, 5), "damaged"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "cut off"),
    ],
)
def test_bytes_that_are_no_image_are_bad_input(start, data, text):
    message = start("echo").run(image=data)
    assert message["code"] == "bad_input" and text in message["message"]


def test_too_many_pixels_are_bad_input_and_name_the_limit(start):
    runner = start("echo", env={"HOTBUNK_MAX_IMAGE_PIXELS": "1000"})
    assert runner.run(image=png(40, 25))["type"] == "done"
    message = runner.run(image=png(40, 26))
    assert message["code"] == "bad_input"
    assert "1000" in message["message"] and "max_image_pixels" in message["message"]


def test_default_limit_is_40_megapixels():
    assert check_image(png(8000, 5000)).width == 8000
    with pytest.raises(BadInput, match="40000000"):
        check_image(png(8000, 5001))


@pytest.mark.parametrize(
    "name, options",
    [
        ("PNG", {}),
        ("JPEG", {}),
        ("JPEG", {"progressive": True}),
        ("WEBP", {}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\0\0"}),
        ("GIF", {}),
        ("BMP", {}),
        ("TIFF", {}),
        ("TIFF", {"compression": "tiff_lzw"}),
    ],
)
def test_size_is_read_as_pillow_reads_it(name, options):
    stream = io.BytesIO()
    Image.new("RGB", (123, 45), (200, 100, 50)).save(stream, name, **options)
    info = sniff(stream.getvalue())
    assert (info.format.upper(), info.width, info.height) == (name, 123, 45)


def test_damaged_headers_are_refused_or_read_but_never_crash():
    rng = random.Random(4)
    seeds = []
    for name in ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"):
        stream = io.BytesIO()
        Image.new("RGB", (30, 20)).save(stream, name)
        seeds.append(stream.getvalue()[:400])
    for _ in range(20000):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            info = sniff(bytes(data[: rng.randrange(len(data) + 1)]))
        except BadInput:
            continue
        assert info.width > 0 and info.height > 0


# Memory


def stub_environment(tmp_path, **more):
    return {"PYTHONPATH": str(STUBS), "HOTBUNK_STUB_LOG": str(tmp_path / "log"), **more}


def words(tmp_path):
    return (tmp_path / "log").read_text().split()


def test_torch_is_never_imported_for_an_extension_without_it(start, tmp_path):
    runner = start("echo", env=stub_environment(tmp_path))
    assert runner.run()["type"] == "done"
    runner.send(action="unload", id="u")
    runner.expect("unloaded")
    assert not (tmp_path / "log").exists()


def test_unload_drops_then_collects_then_empties_then_trims(start, tmp_path):
    runner = start("torchy", env=stub_environment(tmp_path))
    runner.send(action="load", id="l")
    runner.expect("loaded")
    (tmp_path / "log").write_text("")
    runner.send(action="unload", id="u")
    runner.expect("unloaded")
    assert words(tmp_path) == ["gc", "drop", "empty_cache", "trim"]


@pytest.mark.parametrize("params", [{}, {"fail": True}, {"cancel": True}])
def test_cache_is_emptied_before_a_job_is_answered(start, tmp_path, params):
    runner = start("torchy", env=stub_environment(tmp_path))
    assert runner.run(params=params)["type"] in TERMINAL
    seen = words(tmp_path)
    assert seen[seen.index("generate") :] == ["generate", "gc", "drop", "empty_cache"]


@pytest.mark.parametrize(
    "mode, free, emptied",
    [("never", "0.01", False), ("pressure", "0.5", False), ("pressure", "0.05", True)],
)
def test_clear_after_is_respected(start, tmp_path, mode, free, emptied):
    env = stub_environment(tmp_path, HOTBUNK_CLEAR_AFTER=mode, HOTBUNK_STUB_FREE=free)
    assert start("torchy", env=env).run()["type"] == "done"
    assert ("empty_cache" in words(tmp_path)) is emptied
