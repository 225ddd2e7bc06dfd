#!/usr/bin/python3
"""JUnit results: read, merged, written, and the closing line.

Usage: report.py RESULTS [--add NAME:pass|fail:SECONDS]...
Adds test cases to RESULTS (made when absent) and prints the closing line `N passed, N failed`.
"""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import namedtuple

# `failure` and `skipped` are a text or None.
Case = namedtuple("Case", "suite name seconds failure skipped", defaults=(0.0, None, None))

_FORBIDDEN_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
TEXT_LIMIT = 20000


def _text_of(element):
    return "\n".join(filter(None, [element.get("message"), element.text]))


def read_cases(path, suite=None):
    """The cases of a JUnit file; `suite` replaces the class name where a tool gives none."""
    cases = []
    for element in ElementTree.parse(path).getroot().iter("testcase"):
        bad = element.find("failure")
        bad = element.find("error") if bad is None else bad
        skip = element.find("skipped")
        cases.append(
            Case(
                element.get("classname") or suite or "",
                element.get("name") or "",
                float(element.get("time") or 0),
                None if bad is None else _text_of(bad) or "failed",
                None if skip is None else _text_of(skip) or "skipped",
            )
        )
    return cases


def _clean(text):
    return _FORBIDDEN_IN_XML.sub("?", text[-TEXT_LIMIT:])


def write_cases(path, cases):
    """One JUnit file; replaced at once, so that a reader never sees half of it."""
    passed, failed, skipped = counts(cases)
    totals = {"tests": str(passed + failed + skipped), "failures": str(failed), "errors": "0"}
    totals["skipped"] = str(skipped)
    totals["time"] = f"{sum(case.seconds for case in cases):.3f}"
    root = ElementTree.Element("testsuites", totals)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "hotbunk", **totals})
    for case in cases:
        element = ElementTree.SubElement(
            suite,
            "testcase",
            {"classname": case.suite, "name": _clean(case.name), "time": f"{case.seconds:.3f}"},
        )
        if case.failure is not None:
            first = case.failure.strip().split("\n")[0]
            bad = ElementTree.SubElement(element, "failure", {"message": _clean(first)})
            bad.text = _clean(case.failure)
        elif case.skipped is not None:
            ElementTree.SubElement(element, "skipped", {"message": _clean(case.skipped)})
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    ElementTree.ElementTree(root).write(path + ".new", encoding="utf-8", xml_declaration=True)
    os.replace(path + ".new", path)


def counts(cases):
    """(passed, failed, skipped)"""
    failed = sum(case.failure is not None for case in cases)
    skipped = sum(case.failure is None and case.skipped is not None for case in cases)
    return len(cases) - failed - skipped, failed, skipped


def closing_line(cases):
    passed, failed, _ = counts(cases)
    return f"{passed} passed, {failed} failed"


def main(argv):
    if not argv or (len(argv) > 1 and argv[1] != "--add"):
        sys.exit(__doc__)
    path, added = argv[0], argv[2:]
    cases = read_cases(path) if os.path.exists(path) else []
    for text in added:
        name, outcome, seconds = text.rsplit(":", 2)
        failure = None if outcome == "pass" else "failed: see the output above"
        cases.append(Case("dev", name, float(seconds), failure))
    if added:
        write_cases(path, cases)
    print(closing_line(cases))
    sys.exit(1 if counts(cases)[1] or not cases else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
