#!/usr/bin/python3
"""Words: no path of one person's machine, no to-do without an issue.

Usage: check_words.py [ROOT]
A line that needs such a text (a test of path checks) carries the word  words-ok.
"""

import re
import sys

import ccode

SUFFIXES = (
    ".c", ".h", ".py", ".sh", ".md", ".scd", ".yaml", ".yml", ".json", ".build", ".txt",
    ".html", ".js", ".css", ".service", ".dict", ".toml", ".ini",
)  # fmt: skip
SCRIPTS = ("dev", ".ci/run")

_TODO = "TO" + "DO|FIX" + "ME|XX" + "X|HA" + "CK"
RULES = [
    (
        re.compile(r"(?<![\w.}$*)-])/(?:root|work|home/\w+|Users/\w+|mnt/\w+|tmp/\w+)/"),
        "a path of one machine: take it from an option, the environment or mkdtemp",
    ),
    (
        re.compile(r"\b(?:%s)\b(?!\s*\(#\d+\))" % _TODO),
        "an open end without an issue: write it as `%s (#12): ...` or solve it" % _TODO[:4],
    ),
]


def check_file(path, faults):
    for number, line in enumerate(ccode.read(path).split("\n"), 1):
        if "words-ok" in line:
            continue
        for regex, text in RULES:
            match = regex.search(line)
            if match:
                faults.add(path, number, f"`{match.group().strip()}`: {text}")


def main():
    root = ccode.root_of(sys.argv)
    faults = ccode.Faults(root)
    for path in ccode.files(root, SUFFIXES):
        check_file(path, faults)
    for name in SCRIPTS:
        try:
            check_file(f"{root}/{name}", faults)
        except FileNotFoundError:
            pass
    faults.exit()


if __name__ == "__main__":
    main()
