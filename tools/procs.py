"""Commands with a time limit that leave no process behind (Linux)."""

import ctypes
import os
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
KILL_SECONDS = 5.0


def become_subreaper():
    """Orphans below this process become its children instead of init's, so that it can see them."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _stat(pid):
    """(parent pid, state) of a process, or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return int(fields[1]), fields[0]


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()[:160]
    except OSError:
        return ""


def is_gone(pid):
    """Absent, or only a zombie that nobody has collected yet."""
    stat = _stat(pid)
    return stat is None or stat[1] in "ZX"


def descendants(pid):
    """All living processes below `pid`."""
    children = {}
    for name in os.listdir("/proc"):
        stat = _stat(name) if name.isdigit() else None
        if stat and stat[1] not in "ZX":
            children.setdefault(stat[0], []).append(int(name))
    found, queue = [], [pid]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def _collect_zombies():
    """Only for a process that waits for none of its children any more."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def end_leftovers():
    """Kills every process below this one. Returns what they were, as text lines."""
    seen = {}
    until = time.monotonic() + KILL_SECONDS
    while time.monotonic() < until:
        _collect_zombies()
        living = descendants(os.getpid())
        if not living:
            break
        for pid in living:
            seen.setdefault(pid, f"{pid} {command_of(pid)}")
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
    return list(seen.values())


def end_group(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def run(command, seconds, log, env=None, echo=False):
    """Runs `command` in a group of its own, output into the file `log` (also shown with `echo`).

    Returns the exit status, or None when it ran into the limit and was ended."""
    os.makedirs(os.path.dirname(log), exist_ok=True)
    with open(log, "wb") as file:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=None if echo else file,
            stderr=None if echo else subprocess.STDOUT,
            env=dict(os.environ, **(env or {})),
            start_new_session=True,
        )
        try:
            return child.wait(max(1.0, seconds))
        except subprocess.TimeoutExpired:
            end_group(child)
            return None
        except BaseException:
            end_group(child)
            raise


def tail(path, lines=60):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "\n".join(file.read().splitlines()[-lines:])
    except OSError:
        return ""
