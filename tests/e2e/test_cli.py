"""The command line: against a daemon with fake workers, and against a fake daemon for odd answers."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import harness
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import fake_daemon  # noqa: E402

SUBCOMMANDS = "serve models ps load unload switch generate say logs version help".split()
NOBODY = "http://127.0.0.1:1"
PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde"
    b"\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef"
    b"\x00\x00\x00\x00IEND\xaeB`\x82"
)


class Cli:
    """Runs the program in a directory of its own, with an environment without surprises."""

    def __init__(self, build, directory):
        self.program = str(build / "hotbunk")
        self.dir = directory
        self.env = {"PATH": os.environ["PATH"], "HOME": str(directory), **harness.SANITIZER_ENV}
        self.env["HOTBUNK_RUNTIME_DIR"] = str(directory / "nobody")
        (directory / "photo.png").write_bytes(PNG)

    def start(self, *args, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen([self.program, *args], cwd=self.dir, env=self.env, **more)

    def run(self, *args, stdin=None, timeout=60):
        done = subprocess.run(
            [self.program, *args],
            cwd=self.dir,
            env=self.env,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        done.stdout = done.stdout if "-" in args else done.stdout.decode()
        done.stderr = done.stderr.decode()
        assert not harness.SANITIZER_REPORT.search(done.stderr), done.stderr
        return done


@pytest.fixture
def cli(build_dir, tmp_path):
    return Cli(build_dir, tmp_path)


@pytest.fixture
def fake(cli):
    with fake_daemon.FakeDaemon() as one:
        cli.env["HOTBUNK_URL"] = one.url
        yield one


@pytest.fixture
def real(daemon, cli, fakeworker_extension):
    """A daemon with an image-to-mesh model `mesh/run`; more(id, *flags) adds others."""
    one = daemon(start=False)
    flags = ("--run-ms", 600, "--progress-every-ms", 50, "--output-ext", ".glb")
    flags += ("--output-bytes", 5000, "--alloc", "4M")
    fakeworker_extension(one.extensions_dir, "mesh", *flags)
    fakeworker_extension(one.extensions_dir, "endless", "--run-ms", 600000, "--progress-every-ms", 50)
    speech = [{"id": "say", "name": "say", "input": "text", "output": "audio"}]
    fakeworker_extension(
        one.extensions_dir, "voice", "--echo", "--output-ext", ".wav", nodes=speech
    )
    one.start()
    cli.env["HOTBUNK_RUNTIME_DIR"] = str(one.runtime_dir)
    return one


# --- the program by itself


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_has_help(cli, name):
    done = cli.run(name, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: hotbunk {name}")
    assert "--json" in done.stdout and "--help" in done.stdout
    assert cli.run("help", name).stdout == done.stdout


def test_help_lists_the_subcommands(cli):
    text = cli.run("--help").stdout
    assert re.findall(r"^  ([a-z]+) ", text, re.MULTILINE) == SUBCOMMANDS


def test_the_version_is_the_projects(cli):
    project = (harness.ROOT / "meson.build").read_text(encoding="utf-8")
    version = re.search(r"version: '([0-9.]+)'", project).group(1)
    assert cli.run("version").stdout == f"hotbunk {version}\n"
    assert cli.run("--version").stdout == f"hotbunk {version}\n"
    answer = json.loads(cli.run("version", "--json").stdout)
    assert answer == {"name": "hotbunk", "version": version, "daemon": None}


@pytest.mark.parametrize(
    "args, named",
    [
        (["genrate"], "hotbunk generate"),
        (["ps", "--jsno"], "--json"),
        (["generate", "x.png", "--modle", "y"], "--model"),
        (["serve", "--prot", "1"], "--port"),
        (["serve", "--state-dri=/x"], "--state-dir"),
    ],
)
def test_a_typing_error_names_the_nearest_word(cli, args, named):
    done = cli.run(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"did you mean {named}" in done.stderr.replace("`", "")


@pytest.mark.parametrize(
    "args", [["models"], ["ps"], ["load", "x"], ["unload", "--all"], ["switch", "x"], ["logs", "x"]]
)
def test_without_a_daemon_the_remedy_is_named(cli, args):
    for more in ([], ["--url", NOBODY]):
        done = cli.run(*args, *more)
        assert done.returncode == 3
        assert "no daemon answers" in done.stderr and "`hotbunk serve`" in done.stderr
    assert NOBODY in done.stderr


def test_generate_and_say_without_a_daemon(cli):
    assert cli.run("generate", "photo.png").returncode == 3
    assert cli.run("say", "hello").returncode == 3


def test_a_key_that_cannot_be_sent_is_refused(cli, fake):
    cli.env["HOTBUNK_API_KEY"] = "a\r\nX: y"
    done = cli.run("models")
    assert done.returncode == 2 and "HOTBUNK_API_KEY" in done.stderr
    assert not fake.requests


def test_a_reader_that_leaves_early_is_no_error(cli, fake):
    fake.models = [{**fake.models[0], "id": f"m/{i}"} for i in range(5000)]
    with cli.start("models") as process:
        process.stdout.read(10)
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(30) == 0
    assert errors == b""


def test_stdout_that_cannot_be_written_is_an_error(cli, fake):
    with open("/dev/full", "wb") as full, cli.start("models", stdout=full) as process:
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert b"cannot write to stdout" in errors
    assert fake.requests


# --- a fake daemon: odd answers


@pytest.mark.parametrize(
    "status, code",
    [(400, 2), (401, 2), (403, 2), (404, 2), (409, 4), (429, 4), (500, 1), (503, 4), (504, 5)],
)
def test_refusals_become_exit_codes(cli, fake, status, code):
    fake.answers["POST", "/api/v1/models/a/b/load"] = (status, {"detail": "because of x"})
    done = cli.run("load", "a/b")
    assert done.returncode == code
    assert "because of x" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnot JSON!",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"models\":",
        b"",
    ],
)
def test_an_answer_of_something_else_is_named(cli, fake, answer):
    fake.answers["GET", "/api/v1/models"] = answer
    done = cli.run("models")
    assert done.returncode == 3
    assert fake.url in done.stderr
    assert done.stdout == ""


def test_texts_of_a_daemon_cannot_steer_the_terminal(cli, fake):
    fake.models[0]["name"] = "a\x1b[2Jb"
    fake.errors = [{"id": "x", "where": "m.json:1:2", "text": "bad\x1b]0;t\x07"}]
    done = cli.run("models")
    assert "\x1b" not in done.stdout + done.stderr
    assert "extension x: m.json:1:2: bad" in done.stderr


def test_generate_fetches_the_result_and_tells_the_figures(cli, fake):
    done = cli.run("generate", "photo.png", "-o", "mesh.glb", "--param", "grid=64", "-c", "Mine")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "mesh.glb\n"
    assert (cli.dir / "mesh.glb").read_bytes() == fake_daemon.OUTPUT
    assert "35 % mesh" in done.stderr.splitlines()
    assert "loaded in 410 ms, ran 2.1 s, held 81.2 MiB" in done.stderr
    body = fake.asked("POST", "/api/v1/jobs")[0][3]
    assert PNG in body and b"image/png" in body and b'filename="photo.png"' in body
    assert b'{"grid":64}' in body and b"relief/photo" in body and b"Mine" in body


def test_generate_json_is_one_object(cli, fake):
    done = cli.run("generate", "photo.png", "--json")
    assert json.loads(done.stdout) == {
        "job": fake_daemon.JOB["id"],
        "model": "relief/photo",
        "output": "./result.glb",
        "load_ms": 410,
        "run_ms": 2100,
        "queue_ms": 3,
        "held_bytes": 85157478,
        "media_type": "model/gltf-binary",
        "bytes": len(fake_daemon.OUTPUT),
    }
    assert (cli.dir / "result.glb").read_bytes() == fake_daemon.OUTPUT


def test_a_file_of_the_same_name_is_kept(cli, fake):
    (cli.dir / "result.glb").write_text("mine", encoding="utf-8")
    assert cli.run("generate", "photo.png").stdout == "./result-2.glb\n"
    assert (cli.dir / "result.glb").read_text(encoding="utf-8") == "mine"


def test_the_result_can_go_to_stdout(cli, fake):
    done = cli.run("generate", "photo.png", "-o", "-")
    assert done.returncode == 0
    assert done.stdout == fake_daemon.OUTPUT


def test_a_download_that_breaks_off_leaves_no_file(cli, fake):
    target = f"/api/v1/jobs/{fake_daemon.JOB['id']}/output"
    fake.answers["GET", target] = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\npart"
    before = sorted(os.listdir(cli.dir))
    done = cli.run("generate", "photo.png", "-o", "mesh.glb")
    assert done.returncode == 3
    assert sorted(os.listdir(cli.dir)) == before


def test_progress_goes_on_without_the_event_stream(cli, fake):
    fake.answers["GET", "/api/v1/events"] = (404, {"detail": "none"})
    fake.script = [(0.2, {"state": "running", "progress": 35, "step": "mesh"}), (2.5, fake_daemon.DONE)]
    done = cli.run("generate", "photo.png", "-o", "mesh.glb")
    assert done.returncode == 0
    assert "35 % mesh" in done.stderr


def test_broken_events_are_no_harm(cli, fake):
    fake.answers["GET", "/api/v1/events"] = (
        200,
        b"event: job\ndata: {nonsense\n\ndata: \xff\n\nevent: job\ndata: []\n\n",
        "text/event-stream",
    )
    assert cli.run("generate", "photo.png", "-o", "mesh.glb").returncode == 0


def test_a_failed_job_ends_with_1_and_its_reason(cli, fake):
    fake.script = [(0.1, {"state": "error", "error_code": "bad_input", "error": "no picture"})]
    done = cli.run("generate", "photo.png", "--json")
    assert done.returncode == 1
    assert "bad_input: no picture" in done.stderr
    assert json.loads(done.stdout)["error_code"] == "bad_input"


def test_a_job_that_takes_too_long_is_cancelled(cli, fake):
    fake.script = [(0.1, {"state": "running"}), (30, fake_daemon.DONE)]
    done = cli.run("generate", "photo.png", "--timeout", "500ms")
    assert done.returncode == 5
    assert fake.cancelled.is_set()


def test_why_a_job_waits_is_told(cli, fake):
    fake.script = [(0.2, {"why": "2 jobs are ahead of it"}), (0.2, fake_daemon.DONE)]
    done = cli.run("generate", "photo.png", "-o", "mesh.glb")
    assert "waiting: 2 jobs are ahead of it" in done.stderr.splitlines()


def test_a_place_that_cannot_be_written_is_told_before_the_work(cli, fake):
    done = cli.run("generate", "photo.png", "-o", "no/such/mesh.glb")
    assert done.returncode == 2 and "no/such" in done.stderr
    assert not fake.requests


def test_say_reads_stdin_and_passes_its_options(cli, fake):
    args = ["say", "-", "--voice", "slt", "--speed", "1.5", "-o", "hello.mp3"]
    done = cli.run(*args, stdin="Grüße\n".encode())
    assert done.returncode == 0, done.stderr
    body = json.loads(fake.asked("POST", "/api/v1/jobs")[0][3])
    assert body["model"] == "flite/say" and body["text"] == "Grüße\n"
    assert body["params"] == {"voice": "slt", "speed": 1.5, "response_format": "mp3"}


def test_say_asks_for_a_choice_between_several(cli, fake):
    fake.models.append({**fake.models[1], "id": "other/say"})
    done = cli.run("say", "hello")
    assert done.returncode == 2
    assert "flite/say, other/say" in done.stderr and "--model" in done.stderr
    assert cli.run("say", "hello", "--model", "other/say").returncode == 0


def test_a_parameter_that_is_not_listed_names_the_nearest(cli, fake):
    fake.models[0]["params_schema"] = [{"id": "grid", "type": "int", "default": 256}]
    done = cli.run("generate", "photo.png", "-p", "gird=1")
    assert done.returncode == 0
    assert "did you mean `grid`?" in done.stderr


def test_the_key_is_sent(cli, fake):
    cli.env["HOTBUNK_API_KEY"] = "s3cret"
    assert cli.run("models").returncode == 0
    assert fake.requests[0][2]["Authorization"] == "Bearer s3cret"


def test_a_load_that_goes_on_is_a_timeout(cli, fake):
    model = {**fake.models[0], "loaded": False, "state": "loading", "reason": "reads weights"}
    fake.answers["POST", "/api/v1/models/relief/photo/load"] = (202, model)
    done = cli.run("load", "relief/photo", "--wait", "1s")
    assert done.returncode == 5
    assert "still loading: reads weights" in done.stderr
    assert fake.asked("POST", "/api/v1/models/relief%2Fphoto/load?wait=1")


def test_an_unload_that_is_not_through_is_a_timeout(cli, fake):
    answer = {"id": "a/b", "unloaded": False, "freed_bytes": 0, "state": "draining"}
    fake.answers["POST", "/api/v1/models/a/b/unload"] = (200, answer)
    done = cli.run("unload", "a/b", "--force", "--json")
    assert done.returncode == 5
    assert json.loads(done.stdout) == answer
    assert fake.asked("POST", "/api/v1/models/a%2Fb/unload?force=1&wait=75")


# --- terminals


def run_on_terminal(cli, *args, columns=80, timeout=30):
    """(exit code, what the terminal got): stderr and stdout on a pty."""
    main, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = cli.start(*args, stdout=child, stderr=child)
    os.close(child)
    text, until = b"", time.monotonic() + timeout
    while time.monotonic() < until:
        if not select.select([main], [], [], 0.2)[0]:
            continue
        try:
            piece = os.read(main, 65536)
        except OSError:  # EIO: the other side is closed
            break
        text += piece
    os.close(main)
    return process.wait(10), text.decode()


def screen(text):
    """The lines as they stand at the end: a carriage return goes back to the first column."""
    lines = []
    for raw in text.replace("\r\n", "\n").split("\n"):
        line = []
        for part in raw.split("\r"):
            line[: len(part)] = part
        lines.append("".join(line).rstrip())
    return lines


@pytest.mark.parametrize(
    "env, full",
    [
        ({"LANG": "C.UTF-8"}, "█"),
        ({"LANG": "C"}, "#"),
        ({"LANG": "C.UTF-8", "NO_COLOR": "1"}, "#"),
    ],
)
def test_a_terminal_gets_a_bar_that_is_gone_at_the_end(cli, fake, env, full):
    cli.env.update(env, TERM="xterm")
    code, text = run_on_terminal(cli, "generate", "photo.png", "-o", "mesh.glb", columns=60)
    assert code == 0, text
    assert re.search(r"\r 35 % \[" + full + r"{10,}.* mesh", text)
    left = screen(text)
    assert left[0] == "mesh.glb"
    assert not any("%" in line for line in left)
    assert max(len(part) for part in re.split("[\r\n]", text.split("mesh.glb")[0])) < 60


def test_a_dumb_terminal_gets_plain_lines(cli, fake):
    cli.env.update(LANG="C.UTF-8", TERM="dumb")
    _, text = run_on_terminal(cli, "generate", "photo.png", "-o", "mesh.glb")
    assert "35 % mesh\r\n" in text and "█" not in text


def test_tables_are_cut_to_the_terminal_and_whole_in_a_pipe(cli, fake):
    fake.models[0]["name"] = "a very long name " * 10
    cli.env["LANG"] = "C.UTF-8"
    _, text = run_on_terminal(cli, "models", columns=70)
    assert all(len(line) <= 70 for line in text.splitlines())
    assert "…" in text
    assert fake.models[0]["name"].strip() in cli.run("models").stdout


# --- a real daemon with fake workers


def test_models_and_ps(cli, real):
    text = cli.run("models").stdout
    assert re.search(r"^mesh/run .*cold.*image to mesh", text, re.MULTILINE)
    answer = json.loads(cli.run("models", "--json").stdout)
    assert {"mesh/run", "endless/run", "voice/say"} <= {row["id"] for row in answer["models"]}
    assert cli.run("load", "mesh/run").returncode == 0
    answer = json.loads(cli.run("ps", "--json").stdout)
    assert [row["model"] for row in answer["workers"]] == ["mesh/run"]
    assert answer["devices"][0]["id"] == "host" and answer["jobs"] == []
    assert re.search(r"^mesh/run +ready", cli.run("ps").stdout, re.MULTILINE)


def test_the_daemon_is_found_by_all_three_ways(cli, real):
    assert cli.run("ps").returncode == 0
    cli.env["HOTBUNK_URL"] = NOBODY
    assert cli.run("ps").returncode == 3
    assert cli.run("ps", "--url", real.url).returncode == 0
    cli.env["HOTBUNK_URL"] = real.url
    assert cli.run("ps").returncode == 0
    version = json.loads(cli.run("version", "--json").stdout)
    assert version["daemon"]["pid"] == real.pid


def test_load_switch_unload(cli, real):
    done = cli.run("load", "mesh/run", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["loaded"] is True
    done = cli.run("unload", "mesh/run")
    assert done.returncode == 0 and "came back" in done.stdout
    assert cli.run("switch", "mesh/run").stdout == "mesh/run is the active model\n"
    assert json.loads(cli.run("switch", "voice/say", "--json").stdout) == {"active": "voice/say"}


def test_unload_all(cli, real):
    assert cli.run("load", "mesh/run").returncode == 0
    assert cli.run("load", "voice/say").returncode == 0
    answer = json.loads(cli.run("unload", "--all", "--json").stdout)
    assert answer["unloaded"] is True and answer["freed_bytes"] >= 4 << 20
    assert json.loads(cli.run("ps", "--json").stdout)["workers"] == []


def test_an_unknown_model_names_the_known_ones(cli, real):
    for args in (["load", "nosuch"], ["switch", "nosuch"], ["generate", "photo.png", "-m", "nosuch"]):
        done = cli.run(*args)
        assert done.returncode == 2, done.stderr
        assert "mesh/run" in done.stderr


def test_generate(cli, real):
    done = cli.run("generate", "photo.png", "--model", "mesh/run", "-o", "m.glb", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["model"] == "mesh/run" and answer["output"] == "m.glb"
    assert answer["bytes"] == (cli.dir / "m.glb").stat().st_size == 5000
    assert answer["run_ms"] >= 500 and answer["held_bytes"] > 0
    assert re.search(r"^\d+ %", done.stderr, re.MULTILINE)


def test_generate_of_what_is_no_image_is_refused(cli, real):
    (cli.dir / "note.txt").write_text("hello", encoding="utf-8")
    done = cli.run("generate", "note.txt", "--model", "mesh/run")
    assert done.returncode in (1, 2) and "image" in done.stderr


def test_say(cli, real):
    done = cli.run("say", "hello", "-m", "voice/say", "--voice", "x", "-o", "hello.wav")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "hello.wav\n"
    assert b"hello" in (cli.dir / "hello.wav").read_bytes()


def test_logs(cli, real):
    assert cli.run("load", "mesh/run").returncode == 0
    assert cli.run("logs", "mesh/run").returncode == 0
    answer = json.loads(cli.run("logs", "mesh/run", "--json", "--bytes", "1KiB").stdout)
    assert answer["id"] == "mesh/run" and isinstance(answer["text"], str)


@pytest.mark.parametrize("signum, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_cancels_the_job(cli, real, signum, code):
    with cli.start("generate", "photo.png", "-m", "endless/run") as process:
        line = b""
        while b"%" not in line:
            line = process.stderr.readline()
            assert line, "it ended early"
        process.send_signal(signum)
        errors = process.stderr.read().decode()
        assert process.wait(30) == code
    assert "is cancelled" in errors
    jobs = real.get("/api/v1/jobs").json()["jobs"]
    harness.wait_until(
        lambda: real.get(f"/api/v1/jobs/{jobs[0]['id']}").json()["state"] == "cancelled",
        20,
        "the job's end",
    )


def test_a_daemon_that_ends_meanwhile_is_told(cli, real):
    with cli.start("generate", "photo.png", "-m", "endless/run") as process:
        line = b""
        while b"%" not in line:
            line = process.stderr.readline()
            assert line, "it ended early"
        real.kill9()
        errors = process.stderr.read().decode()
        assert process.wait(30) == 3
    assert "hotbunk serve" in errors
    real.wait_tree_gone()


def test_serve_names_the_holder_of_the_port(cli, real, daemon):
    port = real.url.rsplit(":", 1)[1]
    other = daemon(port=port, start=False)
    done = cli.run(*other.command()[1:], timeout=30)
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if port in line]
    assert len(lines) == 1 and str(real.pid) in lines[0]


def test_serve_json_tells_where_it_answers(cli):
    args = ["--port", "0", "--state-dir", "st", "--workspace-dir", "w", "--models-dir", "m"]
    with cli.start("serve", *args, "--json", stderr=subprocess.DEVNULL) as process:
        try:
            assert select.select([process.stdout], [], [], 15)[0], "it says nothing"
            answer = json.loads(process.stdout.readline())
        finally:
            process.terminate()
            code = process.wait(30)
    assert code == 0
    assert answer["pid"] == process.pid and answer["url"].startswith("http://127.0.0.1:")
