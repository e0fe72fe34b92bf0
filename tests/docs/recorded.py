# SPDX-License-Identifier: MIT
"""recorded - records a program and reads its events, for the tests of the examples."""
import sys
import tempfile
from collections import Counter
from pathlib import Path

import hodo_test
from hodo_test import HODO, compare, environment, events, stat

PROGRAM = sys.argv[2]


def run(*cmd, cwd=None):
    """Standard output of a command that must succeed; without the caller's settings."""
    return hodo_test.run(*cmd, cwd=cwd, env=environment(**({"TMPDIR": cwd} if cwd else {})), status=0).stdout


class Recording:
    """One recorded run: output, events (as hodo print --json gives them), counts by name, stat."""

    def __init__(self, *args, options=()):
        with tempfile.TemporaryDirectory(prefix="hodo-examples.") as folder:
            trace = Path(folder) / "trace"
            work = Path(folder) / "work"
            work.mkdir()
            self.output = run(HODO, "record", "-o", trace, *options, "--", PROGRAM, *args, cwd=work)
            self.left_behind = [path.name for path in work.iterdir()]
            self.events, self.stat = events(trace), stat(trace)
            compare(trace)
        self.counts = Counter(event["name"] for event in self.events)

    def named(self, name):
        return [event for event in self.events if event["name"] == name]


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: got {got!r}, expected {wanted!r}")


def expect_complete(recording):
    """Nothing lost, and print and stat agree."""
    stat = recording.stat
    expect("lost events", (stat["discarded"], stat["overwritten"]), (0, 0))
    expect("recorded events", stat["recorded"], len(recording.events))
    expect("hodo stat's counts", {e["name"]: e["count"] for e in stat["events"] if e["count"]},
           dict(recording.counts))
    stamps = [event["ts"] for event in recording.events]
    expect("events in order of time", stamps, sorted(stamps))
