#!/usr/bin/python3
"""Documents: links lead somewhere, and every subcommand and flag stands in its man page.

Usage: check_docs.py [ROOT] [--binary build/hotbunk]
The program itself is asked what it has: `hotbunk --help` (one subcommand a line, indented) and
`hotbunk SUBCOMMAND --help`. Without --binary only links are checked.
"""

import argparse
import os
import re
import subprocess
import sys

import ccode

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SUBCOMMAND = re.compile(r"^ {2,4}([a-z][a-z-]*)(?: |$)", re.MULTILINE)
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
EVERYWHERE = {"--help"}
HELP_SECONDS = 20


def anchors(text):
    """The ids of a Markdown text's headings, as GitHub makes them."""
    heads = re.findall(r"^#+\s+(.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def link_fault(path, target):
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    goal = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
    if not os.path.exists(goal):
        return f"the link to {target} leads nowhere"
    if anchor and goal.endswith(".md") and anchor not in anchors(ccode.read(goal)):
        return f"the link to {target}: there is no such heading"
    return None


def check_links(path, faults):
    fenced = False
    for number, line in enumerate(ccode.read(path).split("\n"), 1):
        fenced ^= line.lstrip().startswith("```")
        for target in [] if fenced else LINK.findall(line):
            fault = link_fault(path, target)
            if fault:
                faults.add(path, number, fault)


def help_of(binary, *words):
    command = [binary, *words, "--help"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=HELP_SECONDS, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def check_page(root, name, flags, faults):
    path = os.path.join(root, "docs", "man", name + ".scd")
    if not os.path.exists(path):
        faults.add(path, 1, f"there is no man page for `{name.replace('-', ' ')}`")
        return
    text = ccode.read(path).replace("\\", "")
    for flag in sorted(flags - EVERYWHERE):
        if not re.search(re.escape(flag) + r"(?![\w-])", text):
            faults.add(path, 1, f"{flag} is not documented")


def check_pages(root, binary, faults):
    overview = help_of(binary)
    subcommands = sorted(set(SUBCOMMAND.findall(overview)))
    if not subcommands:
        faults.add(binary, 1, "`hotbunk --help` lists no subcommand on an indented line")
    for name in subcommands:
        flags = set(FLAG.findall(help_of(binary, name)))
        check_page(root, "hotbunk-" + name, flags, faults)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", nargs="?", default=ccode.root_of([""]))
    parser.add_argument("--binary")
    args = parser.parse_args()
    root = os.path.abspath(args.root)
    faults = ccode.Faults(root)
    for path in ccode.files(root, (".md",)):
        check_links(path, faults)
    if args.binary:
        check_pages(root, args.binary, faults)
    faults.exit()


if __name__ == "__main__":
    main()
