#!/usr/bin/python3
"""Banned functions: each row says what, where it is allowed all the same, and what to use.

Usage: check_banned.py [ROOT]
A line that must break a rule says why:  x = setenv(...); /* banned-ok: before any thread */
"""

import os
import re
import sys

import ccode

# Programs of their own: they may not link the daemon's libraries, or are not shipped.
PROGRAMS = ("src/shim/", "src/fetch/", "extensions/", "tests/", "tools/")

RULES = [
    # functions, folders or files where they are allowed, remedy
    ("strcpy strcat stpcpy sprintf vsprintf gets strncat", (), "use buf_* or snprintf"),
    ("strtok", (), "use slice_*"),
    ("atoi atol atoll atof", (), "use num_*"),
    ("rand srand random drand48", (), "use loop_random, or take a seed as an argument"),
    ("system popen", (), "use spawn_*: no shell"),
    ("fork vfork daemon", ("src/shim/",), "use spawn_*: the shim forks, nobody else"),
    ("alloca", (), "use a fixed array or an arena"),
    ("setenv putenv unsetenv", (), "the environment is fixed after start"),
    ("asctime ctime gmtime localtime", (), "not reentrant: use the _r form"),
    ("signal", PROGRAMS, "use loop_signal_new or sigaction"),
    (
        "malloc calloc realloc reallocarray free strdup strndup asprintf vasprintf",
        ("src/base/mem.c",) + PROGRAMS,
        "use mem_*, buf_* or arena_*",
    ),
    (
        "strtol strtoll strtoul strtoull strtod strtof strtold sscanf",
        ("src/base/num.c",) + PROGRAMS,
        "use num_*",
    ),
    (
        "printf fprintf vprintf vfprintf puts putchar perror",
        ("src/cli/",) + PROGRAMS,
        "log_* in the daemon, err_set in libraries",
    ),
    ("time gettimeofday clock_gettime", ("src/os/loop",) + PROGRAMS, "time comes from the loop"),
]


def patterns():
    """[(regex, allowed prefixes, remedy)]: a call, not a member, not a part of a longer name."""
    return [
        (re.compile(r"(?<![\w.])(?<!->)(%s)\s*\(" % names.replace(" ", "|")), allowed, remedy)
        for names, allowed, remedy in RULES
    ]


def check_file(path, rules, faults):
    text = ccode.read(path)
    where = os.path.relpath(path, faults.root)
    raw = text.split("\n")
    active = [(regex, remedy) for regex, allowed, remedy in rules if not where.startswith(allowed)]
    for number, line in enumerate(ccode.blank(text).split("\n"), 1):
        for regex, remedy in active:
            match = regex.search(line)
            if match and not re.search(r"banned-ok: \w", raw[number - 1]):
                faults.add(path, number, f"{match.group(1)}() is banned here: {remedy}")


def main():
    faults = ccode.Faults(ccode.root_of(sys.argv))
    rules = patterns()
    for path in ccode.c_files(faults.root):
        check_file(path, rules, faults)
    faults.exit()


if __name__ == "__main__":
    main()
