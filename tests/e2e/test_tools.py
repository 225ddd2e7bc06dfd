"""The checks themselves: each one catches a deliberately bad sample and lets a good one pass."""

import re
import subprocess
import textwrap

import harness
import pytest

PYTHON = "/usr/bin/python3"
TOOLS = harness.ROOT / "tools"
FLOORS = """\
| floor | folder | holds | may include | alone | never |
|---|---|---|---|---|---|
| 0 | `src/base` | x | | | `unistd.h` `time.h` `write()` |
| 1 | `src/os` | x | `base` | `uv.h` | |
| 1 | `src/core` | x | `base` | | `time.h` |
| 5 | `src/daemon` | x | `base` `os` `core` | | |
| 6 | `src/cli` | x | `base` `daemon/daemon.h` | | |
"""


def check(name, root, *more):
    return subprocess.run(
        [PYTHON, str(TOOLS / f"check_{name}.py"), str(root), *more],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def write(root, path, text):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(textwrap.dedent(text), encoding="utf-8")


def assert_caught(done, *patterns):
    lines = done.stdout.splitlines()
    assert done.returncode == 1, done
    assert len(lines) == len(patterns), done.stdout
    for line, pattern in zip(lines, patterns):
        assert re.search(pattern, line), line


def assert_clean(done):
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# --- floors


@pytest.fixture
def floors(tmp_path):
    write(tmp_path, "docs/architecture.md", FLOORS)
    return tmp_path


def test_floors_let_lower_floors_and_the_own_folder_pass(floors):
    write(floors, "src/os/a.c", '#include "os/a.h"\n#include "b.h"\n#include <uv.h>\n')
    write(floors, "src/daemon/a.c", '#include "core/core.h"\n#include <time.h>\n')
    write(floors, "src/cli/a.c", '#include "daemon/daemon.h"\n#include "hotbunk.h"\n')
    assert_clean(check("floors", floors))


@pytest.mark.parametrize(
    "path, line, text",
    [
        ("src/base/a.c", '#include "os/loop.h"', "floor that src/base"),
        ("src/core/a.c", '#include "os/loop.h"', "floor that src/core"),
        ("src/cli/a.c", '#include "daemon/app.h"', "floor that src/cli"),
        ("src/base/a.c", "    write(2, a, 1);", r"write\(\) is forbidden in src/base"),
        ("src/core/a.h", "#  include <time.h>", "<time.h> is forbidden"),
        ("src/daemon/a.c", "#include <uv.h>", "<uv.h> belongs to src/os alone"),
        ("src/new/a.c", "", "src/new is missing from the table"),
    ],
)
def test_floors_catch(floors, path, line, text):
    write(floors, path, f"\n{line}\n")
    assert_caught(check("floors", floors), rf"^{path}:\d: .*{text}")


def test_floors_take_a_reason_for_a_departure(floors):
    write(floors, "src/base/a.c", "#include <unistd.h> /* floors-ok: the last message */\n")
    assert_clean(check("floors", floors))


def test_floors_catch_a_table_that_lists_a_higher_floor(floors):
    write(floors, "docs/architecture.md", FLOORS.replace("| `base` | `uv.h`", "| `core` | `uv.h`"))
    assert_caught(check("floors", floors), "src/os may not list `core`")


def test_floors_fail_without_a_table(tmp_path):
    write(tmp_path, "src/base/a.c", "")
    done = check("floors", tmp_path)
    assert done.returncode == 1 and "no table of floors" in done.stderr


# --- sizes


def function(lines):
    return "int f(int a,\n      int b)\n{\n" + "    a++;\n" * (lines - 4) + "}\n"


def test_sizes_let_a_function_of_80_lines_pass_with_a_warning(tmp_path):
    write(tmp_path, "src/base/a.c", function(80))
    done = check("sizes", tmp_path)
    assert done.returncode == 0
    assert re.match(r"src/base/a.c:1: warning: f\(\) has 80 lines", done.stdout)


@pytest.mark.parametrize(
    "path, text, fault",
    [
        ("src/a.c", function(81), r"src/a.c:1: f\(\) has 81 lines"),
        ("src/a.c", "int a;\n" * 701, r"src/a.c:701: 701 lines, the limit is 700"),
        ("src/a.h", "int a;\n" * 201, r"src/a.h:201: 201 lines, the limit is 200"),
        ("src/a.c", "/* " + "x" * 95 + " */\n", "src/a.c:1: 101 columns"),
    ],
)
def test_sizes_catch(tmp_path, path, text, fault):
    (tmp_path / "src").mkdir()
    (tmp_path / path).write_text(text, encoding="utf-8")
    assert_caught(check("sizes", tmp_path), fault)


# --- banned functions


@pytest.mark.parametrize(
    "path, call",
    [
        ("src/base/a.c", "strcpy(a, b)"),
        ("src/base/a.c", "sprintf(a, b)"),
        ("src/shim/a.c", "system(a)"),
        ("src/daemon/a.c", "fork()"),
        ("src/net/a.c", "x = malloc(3)"),
        ("src/net/a.c", "free (x)"),
        ("src/net/a.c", "n = strtol(a, NULL, 10)"),
        ("src/net/a.c", 'printf("x")'),
        ("src/core/a.c", "t = time(NULL)"),
        ("src/os/spawn.c", "alloca(4)"),
    ],
)
def test_banned_catches(tmp_path, path, call):
    write(tmp_path, path, f"void f(void)\n{{\n    {call};\n}}\n")
    assert_caught(check("banned", tmp_path), rf"^{path}:3: \w+\(\) is banned here: ")


def test_banned_lets_members_comments_texts_reasons_and_owners_pass(tmp_path):
    sample = """\
        /* malloc(3) strcpy(a, b) */
        const char *text = "free(x) and \\" fork()";
        void f(struct x *x)
        {
            x->free(x);
            x->ops.time(x);
            mem_free(x);
            setenv("A", "b", 1); /* banned-ok: before any thread */
        }
        """
    write(tmp_path, "src/net/a.c", sample)
    write(tmp_path, "src/base/mem.c", "void *p = malloc(3);\n")
    write(tmp_path, "src/base/num.c", "long n = strtol(a, b, 10);\n")
    write(tmp_path, "src/cli/a.c", 'int n = printf("x");\n')
    write(tmp_path, "src/os/loop.c", "int n = clock_gettime(a, b);\n")
    assert_clean(check("banned", tmp_path))


# --- words


@pytest.mark.parametrize(
    "line", ["/" + "root/x/y", "see /" + "home/ann/z", "TO" + "DO: later", "# FIX" + "ME"]
)
def test_words_catch(tmp_path, line):
    write(tmp_path, "docs/a.md", f"\n{line}\n")
    assert_caught(check("words", tmp_path), r"^docs/a.md:2: `")


def test_words_let_system_paths_urls_and_issues_pass(tmp_path):
    write(tmp_path, "a.md", "/usr/bin/python3 http://x/work/y ~/.cache TO" + "DO (#12): later\n")
    write(tmp_path, "build/a.md", "/" + "root/x/y\n")
    assert_clean(check("words", tmp_path))


# --- documents


def test_docs_catch_links_that_lead_nowhere(tmp_path):
    write(tmp_path, "docs/a.md", "[x](b.md) [y](#no) [z](../c.md#part-one) [w](https://x/y)\n")
    write(tmp_path, "c.md", "# Part one\n")
    assert_caught(check("docs", tmp_path), r"a.md:1: .*b.md leads nowhere", "#no: there is no such")


def fake_program(root):
    program = root / "hotbunk"
    program.write_text(
        "#!/bin/sh\n"
        'case $1 in\n'
        '--help) printf "usage: hotbunk SUBCOMMAND\\n\\n  say    speaks\\n  ps     lists\\n" ;;\n'
        '*) printf "  --json  as JSON\\n  --speed N\\n" ;;\nesac\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    return str(program)


def test_docs_catch_a_missing_page_and_a_missing_flag(tmp_path):
    write(tmp_path, "docs/man/hotbunk-say.scd", "*--json*\n\tAs JSON. *--speeding* is not it.\n")
    done = check("docs", tmp_path, "--binary", fake_program(tmp_path))
    assert_caught(done, r"hotbunk-ps.scd:1: there is no man page", "say.scd:1: --speed is not")


def test_docs_let_documented_flags_pass(tmp_path):
    for name in ("say", "ps"):
        write(tmp_path, f"docs/man/hotbunk-{name}.scd", "*--json*, *\\--speed* _N_\n")
    assert_clean(check("docs", tmp_path, "--binary", fake_program(tmp_path)))


# --- the report

JUNIT = """\
<testsuites><testsuite><testcase classname="a" name="ok" time="1"/>
<testcase classname="a" name="case_001"><failure message="no">why</failure></testcase>
<testcase name="w02"><skipped/></testcase></testsuite></testsuites>
"""


def test_report_adds_cases_and_counts_them(tmp_path):
    results = tmp_path / "r.xml"
    results.write_text(JUNIT, encoding="utf-8")
    command = [PYTHON, str(TOOLS / "report.py"), str(results), "--add", "demo:pass:3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "2 passed, 1 failed\n")
    text = results.read_text(encoding="utf-8")
    assert 'name="case_001"' in text and 'name="demo"' in text and "<skipped" in text
