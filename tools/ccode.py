"""Shared by the checks: which files there are, C text without comments and strings, functions."""

import os
import re
import sys

SKIPPED_DIRS = {".git", "__pycache__", ".pytest_cache", "node_modules"}
C_ROOTS = ("include", "src", "extensions", "tests", "tools")

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)


class Faults:
    """Collects `file:line: text` lines; the exit status says whether there were any."""

    def __init__(self, root):
        self.root = root
        self.count = 0

    def add(self, path, line, text):
        self.count += 1
        print(f"{os.path.relpath(path, self.root)}:{line}: {text}")

    def exit(self):
        sys.exit(1 if self.count else 0)


def root_of(argv):
    """The tree to check: the first argument, or the one this script stands in."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.abspath(argv[1]) if len(argv) > 1 else here


def files(root, suffixes, roots=("",)):
    """Every file below root/<roots> that ends in one of `suffixes`; build folders left out."""
    found = []
    for part in roots:
        for folder, dirs, names in os.walk(os.path.normpath(os.path.join(root, part))):
            dirs[:] = sorted(
                name
                for name in dirs
                if name not in SKIPPED_DIRS and not (folder == root and name.startswith("build"))
            )
            found += [os.path.join(folder, n) for n in sorted(names) if n.endswith(suffixes)]
    return found


def c_files(root):
    return files(root, (".c", ".h"), C_ROOTS)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def blank(text):
    """`text` with comments and literals replaced by spaces, so that lines and columns stay."""

    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())

    return _TOKEN.sub(spaces, text)


def functions(text):
    """(name, first line, last line) of each function; clang-format puts its braces in column 0."""
    lines = blank(text).split("\n")
    found, opened = [], None
    for number, line in enumerate(lines, 1):
        if line == "{":
            opened = _signature(lines, number)
        elif line.startswith("}") and opened:
            found.append((opened[0], opened[1], number))
            opened = None
    return found


def _signature(lines, brace):
    """Name and first line of the function whose `{` stands on line `brace`, or None."""
    first = brace
    while first > 1 and re.search(r"[^\s;}/]\s*$", lines[first - 2]) and lines[first - 2][0] != "#":
        first -= 1
    head = " ".join(lines[first - 1 : brace - 1])
    head = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head)
    name = re.search(r"(\w+)\s*\(", head)
    return (name.group(1), first) if name else None
