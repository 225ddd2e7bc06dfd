#!/usr/bin/python3
"""Floors: a file includes only what the table in docs/architecture.md allows its folder.

Usage: check_floors.py [ROOT]
The table's columns `folder`, `may include`, `alone` and `never` are read: names in backticks.
`may include` lists folders, or one header of a folder; `alone` lists system headers that only
this folder (and others that list them) may include; `never` lists system headers it may not
include and, with (), functions it may not call.
A departure says why on its line, in a comment:  #include <x.h>  floors-ok: why
"""

import fnmatch
import os
import re
import sys

import ccode

TABLE = "docs/architecture.md"
COLUMNS = ("floor", "folder", "may include", "alone", "never")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def read_table(path):
    """{folder: row}, row = {column: cell}. Ends with a message when the table cannot be read."""
    header, rows = None, {}
    for line in ccode.read(path).splitlines() if os.path.exists(path) else []:
        if not line.lstrip().startswith("|"):
            if rows:
                break
            continue
        row = cells(line)
        if header is None:
            header = row if all(column in row for column in COLUMNS) else None
        elif not set(line) <= set("|-: \t"):
            named = dict(zip(header, row))
            for folder in names(named["folder"]):
                rows[folder.rstrip("/")] = named
    if not rows:
        sys.exit(f"{path}:1: no table of floors with the columns {', '.join(COLUMNS)}")
    return rows


def check_order(rows, faults, table):
    """The table itself: a folder may list only folders of lower floors."""
    for folder, row in rows.items():
        for name in names(row["may include"]):
            other = rows.get("src/" + name.split("/")[0])
            if not other:
                faults.add(table, 1, f"{folder} lists `{name}`, which is no folder of the table")
            elif other["floor"] >= row["floor"] and "/" not in name:
                faults.add(table, 1, f"{folder} may not list `{name}`: it is not a lower floor")


def own_include_fault(target, folder, row):
    if "/" not in target:
        return None
    allowed = names(row["may include"])
    head = target.split("/")[0]
    if head == os.path.basename(folder) or head in allowed or target in allowed:
        return None
    return f'"{target}" stands on a floor that {folder} may not include'


def system_include_fault(target, folder, rows):
    if any(fnmatch.fnmatch(target, pattern) for pattern in names(rows[folder]["never"])):
        return f"<{target}> is forbidden in {folder}"
    owners = [
        other
        for other, row in rows.items()
        if any(fnmatch.fnmatch(target, pattern) for pattern in names(row["alone"]))
    ]
    if owners and folder not in owners:
        return f"<{target}> belongs to {', '.join(owners)} alone"
    return None


def check_calls(path, text, folder, rows, faults):
    """Functions that the folder may never call; a member of a struct may have their name."""
    banned = [name[:-2] for name in names(rows[folder]["never"]) if name.endswith("()")]
    if not banned:
        return
    regex = re.compile(r"(?<![\w.])(?<!->)(%s)\s*\(" % "|".join(map(re.escape, banned)))
    raw = text.split("\n")
    for number, line in enumerate(ccode.blank(text).split("\n"), 1):
        match = regex.search(line)
        if match and not re.search(r"floors-ok: \w", raw[number - 1]):
            faults.add(path, number, f"{match.group(1)}() is forbidden in {folder}")


def check_file(path, folder, rows, faults):
    text = ccode.read(path)
    check_calls(path, text, folder, rows, faults)
    for number, line in enumerate(text.split("\n"), 1):
        match = INCLUDE.match(line)
        if not match or re.search(r"floors-ok: \w", line):
            continue
        kind, target = match.groups()
        if kind == '"' and target != "hotbunk.h":
            fault = own_include_fault(target, folder, rows[folder])
        else:
            fault = system_include_fault(target, folder, rows)
        if fault:
            faults.add(path, number, fault)


def main():
    root = ccode.root_of(sys.argv)
    faults = ccode.Faults(root)
    table = os.path.join(root, TABLE)
    rows = read_table(table)
    check_order(rows, faults, table)
    for path in ccode.files(root, (".c", ".h"), ("src",)):
        folder = "/".join(os.path.relpath(path, root).split("/")[:2])
        if folder in rows:
            check_file(path, folder, rows, faults)
        else:
            faults.add(path, 1, f"{folder} is missing from the table of floors in {TABLE}")
    faults.exit()


if __name__ == "__main__":
    main()
