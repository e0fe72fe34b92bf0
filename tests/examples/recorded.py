# SPDX-License-Identifier: MIT
"""recorded - records a program and reads its events, for the tests of the examples."""
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
HODO, PROGRAM, COMPARE_BT2 = sys.argv[1:4]


def run(*cmd, cwd=None):
    """Standard output of a command that must succeed; without settings of the caller's."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HODO_")}
    done = subprocess.run([str(c) for c in cmd], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, cwd=cwd,
                          env={**env, "TMPDIR": str(cwd)} if cwd else env)
    if done.returncode != 0:
        command = " ".join(map(str, cmd))
        sys.exit(f"{command}: exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr}")
    return done.stdout


class Recording:
    """One recorded run: output, events (as hodo print --json gives them), counts by name, stat."""

    def __init__(self, *args, options=()):
        with tempfile.TemporaryDirectory(prefix="hodo-examples.") as folder:
            trace = Path(folder) / "trace"
            work = Path(folder) / "work"
            work.mkdir()
            self.output = run(HODO, "record", "-o", trace, *options, "--", PROGRAM, *args, cwd=work)
            self.left_behind = [path.name for path in work.iterdir()]
            self.events = [json.loads(line) for line in run(HODO, "print", "--json", trace).splitlines()]
            self.stat = json.loads(run(HODO, "stat", "--json", trace))
            run(sys.executable, COMPARE_BT2, HODO, trace)
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
