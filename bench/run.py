#!/usr/bin/python3
"""Runs the benchmarks (bench/bench_*.py) and prints values, limits and ratios.

Usage: run.py [--only NAME]... [--json FILE] [--quick]
A bench is a module with `run(ctx)` that returns rows, each a dict made by ctx.row(): a value and
the limit it must keep. The exit status is 1 when a row misses its limit or a bench fails.
"""

import argparse
import importlib.util
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(ROOT / "tools"), str(ROOT / "bench")]
import harness  # noqa: E402
import procs  # noqa: E402

BENCH_SECONDS = 300


class Context:
    """What a bench gets: the optimised build, a scratch folder, daemons that are ended for it."""

    def __init__(self, name, scratch, is_quick):
        self.name = name
        self.root = ROOT
        self.build_dir = harness.build_dir()
        self.scratch = Path(scratch)
        self.is_quick = is_quick  # fewer repetitions, for a first look
        self._daemons = []

    def daemon(self, args=(), env=None, config=None, start=True):
        """A harness.Daemon in a directory of its own."""
        folder = self.scratch / f"d{len(self._daemons)}"
        one = harness.Daemon(folder, self.build_dir, args, env, config)
        self._daemons.append(one)
        return one.start() if start else one

    @staticmethod
    def row(name, value, limit=None, unit="", at_least=False):
        """A row; `limit` None = printed only."""
        ok = limit is None or (value >= limit if at_least else value <= limit)
        sign = ">=" if at_least else "<="
        return {"name": name, "value": value, "limit": limit, "unit": unit, "ok": ok, "sign": sign}

    def explain(self):
        """What the daemons said last, for a bench that failed."""
        for one in self._daemons:
            state = one.process.poll() if one.process else "not started"
            print(f"{one.dir}: exit status {state}\n{one.log_tail(20)}", file=sys.stderr)

    def close(self):
        for one in self._daemons:
            one.end()


def discover(only):
    """[(name, path)] of the chosen benches."""
    found = {path.stem[len("bench_") :]: path for path in sorted(ROOT.glob("bench/bench_*.py"))}
    for name in only:
        if name not in found:
            sys.exit(f"bench: no bench '{name}'; there are: {' '.join(found) or 'none'}")
    return [(name, path) for name, path in found.items() if not only or name in only]


def load(name, path):
    spec = importlib.util.spec_from_file_location(f"bench_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def on_alarm(_signum, _frame):
    raise TimeoutError(f"longer than {BENCH_SECONDS} s")


def run_one(name, path, is_quick):
    """The rows of one bench. A failure is a row, too."""
    scratch = tempfile.mkdtemp(prefix=f"hotbunk-bench-{name}-")
    ctx = None
    signal.alarm(BENCH_SECONDS)
    try:
        ctx = Context(name, scratch, is_quick)
        return list(load(name, path).run(ctx))
    except Exception:  # the other benches still run
        traceback.print_exc()
        if ctx:
            ctx.explain()
        return [Context.row("failed", 1, limit=0)]
    finally:
        signal.alarm(0)
        if ctx:
            ctx.close()
        procs.end_leftovers()
        shutil.rmtree(scratch, ignore_errors=True)


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def show(name, rows):
    """One line a row: value, limit, and the share of the limit that is used."""
    for row in rows:
        limit = used = ""
        if row["limit"] is not None:
            limit = f"{row.get('sign', '<=')} {number(row['limit'])}"
            used = f"{row['value'] / row['limit']:.2f} x" if row["limit"] else ""
        mark = "ok" if row["ok"] else "MISSED"
        mark = mark if row["limit"] is not None else ""
        label = f"{name}: {row['name']}"
        value = f"{number(row['value']):>10} {row['unit']:<6}"
        print(f"{label:<58} {value} {limit:>11} {used:>8} {mark}".rstrip())
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--json", metavar="FILE", help="also write all rows there")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    args = parser.parse_args()
    os.environ.setdefault("HOTBUNK_BUILD_DIR", str(ROOT / "build"))
    procs.become_subreaper()
    signal.signal(signal.SIGALRM, on_alarm)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen, results = discover(args.only), {}
    if not chosen:
        sys.exit("bench: there is no bench/bench_*.py yet")
    for name, path in chosen:
        started = time.monotonic()
        results[name] = run_one(name, path, args.quick)
        show(name, results[name])
        print(f"{'':<4}({name}: {time.monotonic() - started:.1f} s)")
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=2), encoding="utf-8")
    rows = [(name, row) for name in results for row in results[name]]
    missed = [f"{name}: {row['name']}" for name, row in rows if not row["ok"]]
    print(f"missed: {', '.join(missed)}" if missed else "every limit is kept")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
