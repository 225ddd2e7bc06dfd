"""Fixtures of the end-to-end tests; what they hand out is in harness.py."""

import os
import shutil
import signal
import subprocess

import harness
import pytest

TEST_SECONDS = 180


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """No test may hang: SIGALRM ends it, with a traceback of where it stood."""
    marker = item.get_closest_marker("seconds")
    seconds = marker.args[0] if marker else TEST_SECONDS

    def on_alarm(_signum, _frame):
        raise TimeoutError(f"the test ran longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def build_dir():
    try:
        return harness.build_dir()
    except FileNotFoundError as error:
        return pytest.fail(str(error))


@pytest.fixture
def daemon(tmp_path, build_dir):
    """A factory: daemon(args=[...], env={...}, config={...}) starts one and returns it.

    Several per test are fine; each has its own directories unless `directory` says otherwise.
    `start=False` only prepares it. At the end each is stopped and checked."""
    made = []

    def make(args=(), env=None, config=None, directory=None, start=True, port=0):
        folder = directory or tmp_path / f"d{len(made)}"
        one = harness.Daemon(folder, build_dir, args, env, config, port)
        made.append(one)
        return one.start() if start else one

    yield make
    faults = []
    for one in made:
        try:
            one.close()
        except Exception as error:  # the others must be ended, too
            one.end()
            faults.append(f"{one.dir.name}: {error}")
    assert not faults, "\n".join(faults)


@pytest.fixture
def fakeworker_extension(build_dir):
    """fakeworker_extension(one.extensions_dir, "a", "--load-ms", 50) -> the model id "a/run"."""

    def make(directory, ext_id, *flags, **more):
        return harness.fakeworker_extension(directory, ext_id, *flags, build=build_dir, **more)

    return make


@pytest.fixture(scope="session")
def gltf_validate():
    """gltf_validate(path): fails the test on any error of Khronos's validator; skips without it."""
    default = harness.ROOT / "build" / "node" / "node_modules"
    modules = os.environ.get("HOTBUNK_NODE_MODULES") or str(default)
    node = shutil.which("node")
    if not node or not os.path.isdir(os.path.join(modules, "gltf-validator")):
        pytest.skip("the glTF validator is not installed: ./dev test gltf-validator")

    def validate(path):
        script = harness.ROOT / "tests" / "support" / "gltf_validate.js"
        done = subprocess.run(
            [node, str(script), str(path)],
            env=dict(os.environ, HOTBUNK_NODE_MODULES=modules),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return validate
