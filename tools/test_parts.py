"""The parts of the tests: each is a function of its seconds and returns a list of report.Case."""

import concurrent.futures
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import time

import ccode
import procs
from report import Case, read_cases

PYTHON = "/usr/bin/python3"
LOGS = "build/log"
JUNIT = "build/junit"
NODE_DIR = "build/node"
VALIDATOR = "gltf-validator@2.0.0-dev.3.10"
TIDY_CACHE = "build/tidy"
CORES = os.cpu_count() or 1
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


def one(suite, name, command, seconds, env=None):
    """A command as one case: it passes with status 0, and its output is the failure's text."""
    log = f"{LOGS}/{name}.log"
    started = time.monotonic()
    status = procs.run(command, seconds, log, env)
    took = time.monotonic() - started
    if status == 0:
        return Case(suite, name, took)
    why = f"over its limit of {seconds:.0f} s" if status is None else f"status {status}"
    return Case(suite, name, took, f"{' '.join(command[:6])}: {why}\n{procs.tail(log)}")


# --- checks: quick, on the text alone


def check_format(seconds):
    sources = [os.path.relpath(path) for path in ccode.c_files(os.getcwd())]
    command = ["clang-format", "--dry-run", "-Werror", *sources]
    case = one("checks", "format", command, seconds)
    hint = "\n`./dev format` mends it" if case.failure else ""
    return [case._replace(failure=case.failure + hint if case.failure else None)]


def check_script(name):
    return lambda seconds: [one("checks", name, [PYTHON, f"tools/check_{name}.py"], seconds)]


CHECKS = [("format", check_format)]
CHECKS += [(name, check_script(name)) for name in ("floors", "sizes", "banned", "words", "docs")]


def check_pages(seconds):
    command = [PYTHON, "tools/check_docs.py", "--binary", "build-asan/hotbunk"]
    return [one("checks", "man-pages", command, seconds, SANITIZER_ENV)]


# --- builds


def build(folder, options, seconds, compiler, targets=()):
    """Configures once, then builds. One case."""
    if not os.path.exists(f"{folder}/build.ninja"):
        setup = ["meson", "setup", folder, "-Db_lundef=false", "-Doptimization=1", *options]
        case = one("build", folder, setup, seconds, {"CC": compiler})
        if case.failure:
            shutil.rmtree(folder, ignore_errors=True)
            return case
    return one("build", folder, ["ninja", "-C", folder, *targets], seconds)


def build_asan(seconds):
    return [build("build-asan", ["-Db_sanitize=address,undefined"], seconds, "gcc")]


def build_tsan(seconds):
    """Clang's turn, too: both compilers must be silent."""
    return [build("build-tsan", ["-Db_sanitize=thread"], seconds, "clang")]


def fuzz_targets():
    """The programs tests/fuzz builds; known only after meson has configured build-fuzz."""
    command = ["meson", "introspect", "--targets", "build-fuzz"]
    rows = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    return sorted(
        os.path.relpath(row["filename"][0], os.path.abspath("build-fuzz"))
        for row in rows
        if row["type"] == "executable" and row["name"].startswith("fuzz_")
    )


def build_fuzz(seconds):
    options = ["-Dfuzz=true", "-Db_sanitize=address,undefined"]
    options += ["-Dc_args=-fsanitize=fuzzer-no-link"]
    case = build("build-fuzz", options, seconds, "clang", ["build.ninja"])
    if case.failure:
        return [case]
    return [build("build-fuzz", options, seconds, "clang", fuzz_targets())]


# --- unit tests


def unit(folder, seconds):
    """meson's own JUnit file, the folder in front of each name."""
    name = folder.replace("build", "unit")
    command = ["meson", "test", "-C", folder, "--no-rebuild", "--print-errorlogs"]
    results = f"{folder}/meson-logs/testlog.junit.xml"
    if os.path.exists(results):
        os.remove(results)
    whole = one("unit", name, command, seconds, SANITIZER_ENV)
    cases = read_cases(results) if os.path.exists(results) else []
    cases = [case._replace(suite=f"{name}.{case.suite}") for case in cases]
    if whole.failure and not any(case.failure for case in cases):
        cases.append(whole)
    elif not cases:
        cases.append(whole._replace(failure="no unit test ran"))
    return cases


def unit_asan(seconds):
    return unit("build-asan", seconds)


def unit_tsan(seconds):
    return unit("build-tsan", seconds)


# --- end to end


def install_validator(seconds):
    """Khronos's glTF validator from npm. Without npm's registry its tests are skipped."""
    if os.path.isdir(f"{NODE_DIR}/node_modules/gltf-validator"):
        return [Case("e2e", "gltf-validator")]
    os.makedirs(NODE_DIR, exist_ok=True)
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
    command += ["--prefix", NODE_DIR, "--fetch-retries", "1", VALIDATOR]
    command += ["--fetch-retry-maxtimeout", "2000"]
    case = one("e2e", "gltf-validator", command, seconds)
    if case.failure:
        text = "npm's registry cannot be reached, .glb files are not validated: " + case.failure
        case = case._replace(failure=None, skipped=text)
    return [case]


def e2e(seconds):
    results = f"{JUNIT}/e2e.xml"
    if os.path.exists(results):
        os.remove(results)
    command = [PYTHON, "-m", "pytest", "-c", "tests/e2e/pytest.ini", "tests/e2e", "-q", "-n", "2"]
    command += ["--junitxml", results]
    env = dict(SANITIZER_ENV, HOTBUNK_BUILD_DIR=os.path.abspath("build-asan"))
    env["HOTBUNK_NODE_MODULES"] = os.path.abspath(f"{NODE_DIR}/node_modules")
    whole = one("e2e", "pytest", command, seconds, env)
    cases = read_cases(results) if os.path.exists(results) else []
    if whole.failure and not any(case.failure for case in cases):
        cases.append(whole)
    return cases


# --- fuzzing


def fuzz_one(target, seconds):
    """Runs one libFuzzer target for `seconds`; what it finds stays in build/fuzz."""
    name = os.path.basename(target)[len("fuzz_") :]
    found = f"build/fuzz/{name}"
    os.makedirs(f"{found}/corpus", exist_ok=True)
    command = [f"build-fuzz/{target}", f"-max_total_time={max(1, int(seconds))}", "-timeout=10"]
    command += ["-rss_limit_mb=1024", "-print_final_stats=1", f"-artifact_prefix={found}/"]
    dictionary = f"tests/fuzz/{name}.dict"
    command += [f"-dict={dictionary}"] if os.path.exists(dictionary) else []
    command += [f"{found}/corpus"]
    corpus = f"tests/fuzz/corpus/{name}"
    command += [corpus] if os.path.isdir(corpus) else []
    case = one("fuzz", f"fuzz_{name}", command, seconds + 60, SANITIZER_ENV)
    if case.failure:
        inputs = glob.glob(f"{found}/*-*")
        text = f"reproduce with: build-fuzz/{target} {' '.join(sorted(inputs)[-1:])}\n"
        case = case._replace(failure=text + case.failure)
    return case


def fuzz(seconds):
    """HOTBUNK_FUZZ_SECONDS in total, shared by all targets; as many run at a time as cores."""
    total = min(float(os.environ.get("HOTBUNK_FUZZ_SECONDS") or 20), max(1, seconds - 60) * CORES)
    targets = fuzz_targets()
    if not targets:
        return [Case("fuzz", "fuzz", 0, "there is no fuzz target")]
    share = total / len(targets)
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        return list(pool.map(lambda target: fuzz_one(target, share), targets))


# --- lint


def cppcheck(seconds):
    command = ["cppcheck", "-q", f"-j{CORES}", "--enable=warning,portability", "--inline-suppr"]
    command += ["--error-exitcode=1", "--std=c11", "-D_GNU_SOURCE", "-Isrc", "-Iinclude"]
    return [one("lint", "cppcheck", [*command, "src", "extensions"], seconds)]


def tidy_key(source, shared):
    """Changes whenever the file, a header, the rules or the tool do."""
    return hashlib.sha256(shared + source.encode() + ccode.read(source).encode()).hexdigest()


def tidy_shared():
    headers = [path for path in ccode.c_files(os.getcwd()) if path.endswith(".h")]
    text = "".join(ccode.read(path) for path in [*headers, ".clang-tidy"])
    command = ["clang-tidy", "--version"]
    version = subprocess.run(command, capture_output=True, check=True, timeout=30).stdout
    return text.encode() + version


def tidy_one(source, key, until):
    """None when clean, a text when not; what the time does not reach is ''."""
    left = until - time.monotonic()
    if left < 1:
        return ""
    command = ["clang-tidy", "--quiet", "-p", "build-tsan", source]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=left, check=False)
    except subprocess.TimeoutExpired:
        return ""
    if done.returncode != 0:
        faults = [line for line in done.stdout.splitlines() if re.search(r": error: ", line)]
        return "\n".join(faults) or done.stderr or f"{source}: status {done.returncode}"
    with open(f"{TIDY_CACHE}/{key}", "w", encoding="utf-8"):
        return None


def clang_tidy(seconds):
    """Every file of the build, but for those that were clean the last time and did not change."""
    os.makedirs(TIDY_CACHE, exist_ok=True)
    with open("build-tsan/compile_commands.json", encoding="utf-8") as file:
        paths = {os.path.join(row["directory"], row["file"]) for row in json.load(file)}
    inside = sorted(p for p in map(os.path.relpath, paths) if not p.startswith(("..", "build")))
    shared = tidy_shared()
    keys = {path: tidy_key(path, shared) for path in inside}
    todo = [path for path in inside if not os.path.exists(f"{TIDY_CACHE}/{keys[path]}")]
    started = time.monotonic()
    until = started + seconds - 10
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        texts = list(pool.map(lambda path: tidy_one(path, keys[path], until), todo))
    took = time.monotonic() - started
    faults = "\n".join(filter(None, texts))
    cases = [Case("lint", "clang-tidy", took, faults or None)]
    late = texts.count("")
    if late:
        text = f"the time was over before {late} of {len(inside)} files; they come first next time"
        cases.append(Case("lint", "clang-tidy of the rest", 0, None, text))
    return cases
