#!/usr/bin/python3
"""Runs the tests in parts, each under its own time limit, and merges their results.

Usage: test.py [--no-results] [PART|GROUP]...      test.py --list
Without names, all parts run. Every part leaves its log in build/log and its cases in
build/results.xml (JUnit). The last line is `N passed, N failed`.
"""

import argparse
import collections
import os
import signal
import sys
import time

import procs
import report
import test_parts

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = "build/results.xml"
TOTAL_SECONDS = 60 * 60
LEAVES_NOTHING = {"unit-asan", "unit-tsan", "e2e"}

Part = collections.namedtuple("Part", "group name seconds run")


def parts():
    """In this order: what is quick and often red comes first."""
    rows = [("checks", name, 60, run) for name, run in test_parts.CHECKS]
    rows += [
        ("build", "build-asan", 900, test_parts.build_asan),
        ("build", "build-tsan", 900, test_parts.build_tsan),
        ("checks", "man-pages", 120, test_parts.check_pages),
        ("unit", "unit-asan", 600, test_parts.unit_asan),
        ("unit", "unit-tsan", 600, test_parts.unit_tsan),
        ("e2e", "gltf-validator", 180, test_parts.install_validator),
        ("e2e", "e2e", 1200, test_parts.e2e),
        ("fuzz", "build-fuzz", 600, test_parts.build_fuzz),
        ("fuzz", "fuzz", 900, test_parts.fuzz),
        ("lint", "cppcheck", 180, test_parts.cppcheck),
        ("lint", "clang-tidy", 180, test_parts.clang_tidy),
    ]
    return [Part(*row) for row in rows]


NEEDS = {
    "man-pages": ["build-asan"],
    "unit-asan": ["build-asan"],
    "unit-tsan": ["build-tsan"],
    "e2e": ["build-asan", "gltf-validator"],
    "fuzz": ["build-fuzz"],
    "clang-tidy": ["build-tsan"],
}


def chosen(names):
    """The parts of these names or groups and what they need, in order."""
    everything = parts()
    if not names:
        return everything
    known = {part.name for part in everything} | {part.group for part in everything}
    for name in names:
        if name not in known:
            sys.exit(f"test: no part '{name}'; there are: {' '.join(sorted(known))}")
    wanted = {part.name for part in everything if part.name in names or part.group in names}
    for name in list(wanted):
        wanted.update(NEEDS.get(name, []))
    return [part for part in everything if part.name in wanted]


def run_part(part, seconds):
    """[Case]. Whatever goes wrong inside becomes a failed case."""
    started = time.monotonic()
    try:
        cases = part.run(seconds)
    except Exception as error:  # a part must not take the other parts' results with it
        cases = [report.Case(part.group, part.name, 0, f"{type(error).__name__}: {error}")]
    left = procs.end_leftovers()
    if part.name in LEAVES_NOTHING:
        failure = "left behind:\n" + "\n".join(left) if left else None
        cases.append(report.Case(part.group, part.name + " leaves no process behind", 0, failure))
    return cases, time.monotonic() - started


def show(part, cases, seconds):
    passed, failed, skipped = report.counts(cases)
    tail = f", {skipped} skipped" if skipped else ""
    print(f"{part.name:<16} {seconds / 60:5.1f} min   {passed} passed, {failed} failed{tail}")
    for case in cases:
        if case.failure is not None:
            print(f"--- {case.suite} {case.name}\n{case.failure.rstrip()}")
        elif case.skipped is not None:
            print(f"    skipped: {case.name}: {case.skipped.splitlines()[0]}")
    sys.stdout.flush()


def on_signal(signum, _frame):
    procs.end_leftovers()
    sys.exit(128 + signum)


def run_all(selected):
    cases, table, broken = [], [], set()
    until = time.monotonic() + TOTAL_SECONDS
    for part in selected:
        blocker = next((need for need in NEEDS.get(part.name, []) if need in broken), None)
        left = until - time.monotonic()
        if blocker:
            new, seconds = [report.Case(part.group, part.name, 0, f"{blocker} failed")], 0.0
        elif left < 1:
            text = f"the {TOTAL_SECONDS // 60} minutes for all parts are over"
            new, seconds = [report.Case(part.group, part.name, 0, text)], 0.0
        else:
            new, seconds = run_part(part, min(part.seconds, left))
        if part.name.startswith("build-") and report.counts(new)[1]:
            broken.add(part.name)
        show(part, new, seconds)
        table.append((part.name, seconds))
        cases += new
    return cases, table


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--no-results", action="store_true", help=f"do not write {RESULTS}")
    parser.add_argument("--list", action="store_true", help="print the parts and end")
    parser.add_argument("names", nargs="*", metavar="PART")
    args = parser.parse_args()
    os.chdir(ROOT)
    if args.list:
        print("\n".join(f"{part.group:<8} {part.name}" for part in parts()))
        return
    procs.become_subreaper()
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    cases, table = run_all(chosen(args.names))
    if not args.no_results:
        report.write_cases(RESULTS, cases)
    minutes = sum(seconds for _, seconds in table) / 60
    parts_text = ", ".join(f"{name} {seconds / 60:.1f}" for name, seconds in table)
    print(f"\nminutes: {parts_text}; {minutes:.1f} in all")
    skipped = report.counts(cases)[2]
    if skipped:
        print(f"skipped: {skipped} (named above and in {RESULTS})")
    print(report.closing_line(cases), flush=True)
    sys.exit(1 if report.counts(cases)[1] else 0)


if __name__ == "__main__":
    main()
