#!/usr/bin/python3
"""Sizes: a function, a file and a line that a reader can hold in the head.

Usage: check_sizes.py [ROOT]    Faults end with status 1; warnings are only printed.
"""

import os
import sys

import ccode

FUNCTION_FAIL, FUNCTION_WARN = 80, 50
FILE_FAIL = {".c": 700, ".h": 200}
LINE_COLUMNS = 100
TAB_COLUMNS = 4


def check_file(path, faults):
    text = ccode.read(path)
    lines = text.splitlines()
    limit = FILE_FAIL[os.path.splitext(path)[1]]
    if len(lines) > limit:
        faults.add(path, len(lines), f"{len(lines)} lines, the limit is {limit}: split it by idea")
    for number, line in enumerate(lines, 1):
        width = len(line.expandtabs(TAB_COLUMNS))
        if width > LINE_COLUMNS:
            faults.add(path, number, f"{width} columns, the limit is {LINE_COLUMNS}")
    for name, first, last in ccode.functions(text):
        length = last - first + 1
        if length > FUNCTION_FAIL:
            faults.add(path, first, f"{name}() has {length} lines, the limit is {FUNCTION_FAIL}")
        elif length > FUNCTION_WARN:
            where = os.path.relpath(path, faults.root)
            print(f"{where}:{first}: warning: {name}() has {length} lines (aim 15)")


def main():
    faults = ccode.Faults(ccode.root_of(sys.argv))
    for path in ccode.c_files(faults.root):
        check_file(path, faults)
    faults.exit()


if __name__ == "__main__":
    main()
