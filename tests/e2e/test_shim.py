"""hotbunk-shim: the worker's guardian, driven over its control socket as the daemon does."""

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from workers import (  # noqa: E402
    PYTHON,
    Shim,
    find_exe,
    is_gone,
    read_json_lines,
    wait_gone,
    wait_until,
)

SLEEP = ["/bin/sleep", "60"]
GRANDCHILDREN = ["same", "setsid", "double"]


def start_with_grandchild(tmp_path, kind, *flags, options=()):
    """A fake worker with a sleeping grandchild; returns the shim and the pids below it."""
    log = tmp_path / "spawn.log"
    worker = [find_exe("fakeworker"), "--grandchild", kind, "--spawn-log", str(log), *flags]
    shim = Shim(worker, options)
    pid = shim.started()

    def sleepers():
        return [line["pid"] for line in read_json_lines(log) if line["event"] == "sleeper"]

    wait_until(sleepers, "the grandchild's start")
    return shim, [pid, *sleepers()]


def python(code):
    return [PYTHON, "-c", code]


# Exit status


@pytest.mark.parametrize("code", [0, 1, 42, 255])
def test_exit_code_is_mirrored(code):
    with Shim(["/bin/sh", "-c", f"exit {code}"]) as shim:
        shim.started()
        assert shim.rest() == [f"exited {code}", "gone"]
        assert shim.wait() == code


@pytest.mark.parametrize("signo", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_signal_of_the_worker_is_mirrored(signo):
    with Shim(python(f"import os; os.kill(os.getpid(), {int(signo)})")) as shim:
        shim.started()
        assert shim.rest() == [f"signaled {int(signo)}", "gone"]
        assert shim.wait() == 128 + signo


def test_missing_program_is_reported():
    with Shim(["/nonexistent/program"]) as shim:
        assert shim.rest() == ["failed 2 exec", "gone"]
        assert shim.wait() == 127


def test_program_without_execute_bit_is_reported(tmp_path):
    path = tmp_path / "data"
    path.write_text("no program")
    with Shim([str(path)]) as shim:
        assert shim.rest() == ["failed 13 exec", "gone"]
        assert shim.wait() == 126


@pytest.mark.parametrize(
    "options, step",
    [(["--chdir", "/nonexistent"], "chdir"), (["--cgroup", "/nonexistent"], "cgroup")],
)
def test_failed_step_is_named(options, step):
    with Shim(SLEEP, options) as shim:
        assert shim.rest() == [f"failed 2 {step}", "gone"]
        assert shim.wait() == 126


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--control", "1", "--", "/bin/true"],
        ["--control", "x", "--", "/bin/true"],
        ["--control", "3"],
        ["--control", "3", "--"],
        ["--control"],
        ["--nice", "99", "--control", "3", "--", "/bin/true"],
        ["--no-such", "1", "--control", "3", "--", "/bin/true"],
    ],
)
def test_bad_usage_is_refused(arguments):
    result = subprocess.run(
        [find_exe("hotbunk-shim"), *arguments], capture_output=True, text=True, timeout=10
    )
    assert result.returncode == 64
    assert "usage:" in result.stderr


# What the worker is given


def test_worker_has_its_own_session_directory_and_nice(tmp_path):
    code = "import os; print(os.getsid(0) == os.getpid(), os.getcwd(), os.nice(0))"
    with Shim(python(code), ["--chdir", str(tmp_path), "--nice", "7"]) as shim:
        assert shim.process.stdout.read().decode().split() == ["True", str(tmp_path), "7"]


def test_worker_has_no_descriptor_but_its_own_three():
    spare = [os.open("/dev/null", os.O_RDONLY) for _ in range(5)]
    for fd in spare:
        os.set_inheritable(fd, True)
    try:
        with Shim(["/bin/sh", "-c", "ls /proc/$$/fd; exit"]) as shim:
            assert shim.process.stdout.read().decode().split() == ["0", "1", "2"]
    finally:
        for fd in spare:
            os.close(fd)


def test_worker_has_default_signals_and_an_empty_mask():
    with Shim(["/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]) as shim:
        text = shim.process.stdout.read().decode()
    assert re.findall(r"Sig(\w+):\s+(\w+)", text) == [
        ("Blk", "0" * 16),
        ("Ign", "0" * 16),
    ]


def test_worker_joins_the_cgroup_leaf(tmp_path):
    (tmp_path / "cgroup.procs").write_text("")
    with Shim(SLEEP, ["--cgroup", str(tmp_path)]) as shim:
        pid = shim.started()
        assert (tmp_path / "cgroup.procs").read_text() == f"{pid}\n"


def test_cgroup_leaf_is_killed_whole(tmp_path):
    (tmp_path / "cgroup.procs").write_text("")
    (tmp_path / "cgroup.kill").write_text("")
    with Shim(SLEEP, ["--cgroup", str(tmp_path)]) as shim:
        shim.started()
        shim.say("kill")
        assert shim.rest() == ["signaled 9", "gone"]
    assert (tmp_path / "cgroup.kill").read_text() == "1"


@pytest.fixture
def real_leaf():
    """A new leaf of the cgroup v2 tree with cgroup.kill."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    trees = [fields[1] for fields in mounts if fields[2] == "cgroup2"]
    leaf = Path(trees[0] if trees else "/nonexistent") / f"hotbunk-test-{os.getpid()}"
    try:
        leaf.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup v2 leaf can be made: {error}")
    yield leaf
    wait_until(lambda: not (leaf / "cgroup.procs").read_text(), "the leaf's end")
    leaf.rmdir()


@pytest.mark.parametrize("kind", GRANDCHILDREN)
def test_real_cgroup_leaf_is_empty_after_gone(tmp_path, real_leaf, kind):
    options = ["--cgroup", str(real_leaf)]
    shim, pids = start_with_grandchild(tmp_path, kind, "--ignore-term", options=options)
    with shim:
        inside = {int(pid) for pid in (real_leaf / "cgroup.procs").read_text().split()}
        assert inside == set(pids)
        shim.say("kill")
        assert shim.rest() == ["signaled 9", "gone"]
        assert (real_leaf / "cgroup.procs").read_text() == ""


# Pipes


def test_worker_reads_its_stdin_until_the_daemon_closes_it():
    with Shim(["/bin/cat"]) as shim:
        shim.started()
        shim.process.stdin.write(b"hello")
        shim.process.stdin.close()
        assert shim.process.stdout.read() == b"hello"
        assert shim.rest() == ["exited 0", "gone"]
        shim.process.stdin = None


def test_stdout_ends_when_the_worker_closes_it_though_it_lives():
    with Shim(["/bin/sh", "-c", "echo out; exec >&-; sleep 60"]) as shim:
        pid = shim.started()
        assert shim.process.stdout.read() == b"out\n"
        assert not is_gone(pid)


def test_shim_holds_none_of_the_workers_pipes():
    with Shim(SLEEP) as shim:
        shim.started()
        held = {os.readlink(f"/proc/{shim.pid}/fd/{fd}") for fd in "012"}
        assert held == {"/dev/null"}


# The end


def test_term_reaches_the_workers_group():
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)"
    )
    with Shim(python(code)) as shim:
        shim.started()
        assert shim.process.stdout.readline() == b"ready\n"
        shim.say("term")
        assert shim.rest() == ["exited 9", "gone"]


def test_term_sent_to_the_shim_is_passed_on():
    with Shim(SLEEP) as shim:
        shim.started()
        os.kill(shim.pid, signal.SIGTERM)
        assert shim.rest() == ["signaled 15", "gone"]


def test_term_wakes_a_stopped_worker():
    with Shim(SLEEP) as shim:
        pid = shim.started()
        os.kill(pid, signal.SIGSTOP)
        shim.say("term")
        assert shim.rest() == ["signaled 15", "gone"]


def test_terminal_signals_do_not_end_the_shim():
    with Shim(SLEEP) as shim:
        pid = shim.started()
        for signo in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
            os.kill(shim.pid, signo)
        shim.say("no such order")
        shim.say("x" * 1000)
        time.sleep(0.05)
        assert not is_gone(pid) and shim.process.poll() is None


@pytest.mark.parametrize("kind", GRANDCHILDREN)
def test_control_end_of_file_ends_everything(tmp_path, kind):
    shim, pids = start_with_grandchild(tmp_path, kind, "--ignore-term", "--ignore-eof")
    with shim:
        shim.control.close()
        assert shim.wait() == 128 + 9
        assert all(map(is_gone, pids))


@pytest.mark.parametrize("kind", GRANDCHILDREN)
def test_kill_ends_everything_before_gone(tmp_path, kind):
    shim, pids = start_with_grandchild(tmp_path, kind, "--ignore-term")
    with shim:
        shim.say("kill")
        assert shim.rest() == ["signaled 9", "gone"]
        assert all(map(is_gone, pids))


@pytest.mark.parametrize("kind", GRANDCHILDREN)
def test_worker_exit_ends_its_descendants_before_gone(tmp_path, kind):
    shim, pids = start_with_grandchild(tmp_path, kind)
    with shim:
        shim.process.stdin.close()
        shim.process.stdin = None
        assert shim.rest() == ["exited 0", "gone"]
        assert all(map(is_gone, pids))


def test_kill_of_the_shim_ends_the_worker():
    with Shim(SLEEP) as shim:
        pid = shim.started()
        os.kill(shim.pid, signal.SIGKILL)
        wait_gone([pid])


def test_kill_of_the_daemon_ends_everything(tmp_path):
    log = tmp_path / "spawn.log"
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); import workers\n"
        "shim = workers.Shim([workers.find_exe('fakeworker'), '--grandchild', 'double',\n"
        "                   '--spawn-log', sys.argv[2], '--ignore-eof'])\n"
        "print(shim.pid, shim.started(), flush=True); time.sleep(60)"
    )
    support = str(Path(__file__).resolve().parents[1] / "support")
    daemon = subprocess.Popen([*python(code), support, str(log)], stdout=subprocess.PIPE)
    with daemon:
        pids = [int(word) for word in daemon.stdout.readline().split()]
        wait_until(lambda: len(read_json_lines(log)) == 2, "the grandchild's start")
        pids += [line["pid"] for line in read_json_lines(log)]
        daemon.kill()
        wait_gone(pids, timeout_s=5)


BOMB = """
import os, time
end = time.monotonic() + 10
while time.monotonic() < end:
    try:
        os.fork()
    except OSError:
        pass
    time.sleep(0.05)
"""

HOPPERS = """
import os, time
end = time.monotonic() + 10
for _ in range(20):
    if os.fork() == 0:
        break
else:
    time.sleep(60)
while time.monotonic() < end:
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
"""


@pytest.mark.parametrize("code", [BOMB, HOPPERS], ids=["exponential", "hopping between sessions"])
def test_fork_bomb_is_ended(tmp_path, code):
    with Shim([*python(code), str(tmp_path)]) as shim:
        shim.started()
        time.sleep(0.3)
        begin = time.monotonic()
        shim.say("kill")
        assert "gone" in shim.rest()
        assert time.monotonic() - begin < 5
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if holds(path, str(tmp_path))]


def holds(path, text):
    try:
        return text.encode() in path.read_bytes()
    except OSError:
        return False


def test_worker_whose_first_thread_has_ended_is_killed():
    code = (
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "print('ready', flush=True)\n"
        "ctypes.CDLL(None).pthread_exit(None)"
    )
    with Shim(python(code)) as shim:
        pid = shim.started()
        assert shim.process.stdout.readline() == b"ready\n"
        wait_until(lambda: " Z " in Path(f"/proc/{pid}/stat").read_text(), "the leader's end")
        shim.say("kill")
        assert shim.rest() == ["signaled 9", "gone"]


@pytest.fixture
def open_dir():
    """A directory that every user may enter; pytest's own are private."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a process that cannot be killed")
def test_process_that_cannot_be_killed_is_reported_stuck(open_dir):
    """A worker that has become root cannot be signalled by a shim that is nobody."""
    if os.statvfs(open_dir).f_flag & os.ST_NOSUID:
        pytest.skip("the temporary directory is nosuid")
    shim = shutil.copy(find_exe("hotbunk-shim"), open_dir / "shim")
    root_python = shutil.copy(PYTHON, open_dir / "python")
    os.chmod(root_python, 0o755 | stat.S_ISUID)
    code = (
        "import os, time; os.setresuid(0, 0, 0); "
        "print(os.getpid(), flush=True); time.sleep(60)"
    )
    nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    middle = [PYTHON, "-c", RUN_AS_NOBODY, str(shim), str(root_python), code]
    with Shim([*nobody, *middle]) as outer:
        outer.started()
        pid = int(outer.process.stdout.readline())
        try:
            lines = [outer.process.stdout.readline().decode().strip() for _ in range(2)]
            assert lines == [f"stuck {pid}", "75"]
        finally:
            os.kill(pid, signal.SIGKILL)


RUN_AS_NOBODY = """
import socket, subprocess, sys, time
ours, theirs = socket.socketpair()
shim = subprocess.Popen([sys.argv[1], "--control", str(theirs.fileno()), "--", sys.argv[2], "-c",
                         sys.argv[3]], pass_fds=[theirs.fileno()])
theirs.close()
lines = ours.makefile()
lines.readline()
time.sleep(0.3)
ours.sendall(b"kill\\n")
print(lines.readline().strip(), shim.wait(), sep="\\n", flush=True)
time.sleep(60)
"""
