#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""recorded.py PROGRAM PART...: parts of hazards.cc, built with entry slots only, under `hodo record --returns`.

The program does the same as untraced; each exit belongs to the function that last entered at the same frame; if
nothing is left by longjmp, an exception or the end of the process, there is an exit for each entry. HODO and
COMPARE (compare_bt2.py) are in the environment."""
import collections
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import hodo_test
from hodo_test import COMPARE, HODO, LIMIT_S

# Parts that leave no call: an exit for each entry, also for functions that end in a tail jump.
WHOLE = {"values", "backtraces", "contexts", "signals", "tails"}
BT2_BYTES = 1 << 20
KNOWN = "events of|threads waited|interrupted a tracer"


def run(*command):
    return hodo_test.run(*command, timeout=20 * LIMIT_S)


def fail(*what):
    print(*what)
    sys.exit(1)


def check_events(trace, part):
    """Entries by frame, in order; each process has its frames, and its child a copy of them."""
    done = subprocess.Popen([HODO, "print", "--json", str(trace)], stdout=subprocess.PIPE, text=True)
    inside, counts, orphans = {}, collections.Counter(), 0
    for line in done.stdout:
        e = json.loads(line)
        kind = e["name"]
        if not kind.startswith("func:"):
            continue
        counts[kind] += 1
        if kind in ("func:landed", "func:switched"):  # where an exception was caught, or a stack changes: neither
            continue
        at = e["pid"], e["fields"]["frame"]
        if kind == "func:entry":
            inside[at] = e["fields"]["addr"]
        elif kind == "func:exit":
            entered = inside.pop(at, None)
            if entered is None:
                orphans += 1
            elif entered != e["fields"]["addr"]:
                fail(f"{part}: an exit of another function than entered: {line}")
        else:
            fail(f"{part}: {line}")
    if done.wait() != 0:
        fail(f"{part}: hodo print: {done.returncode}")
    entries, exits = counts["func:entry"], counts["func:exit"]
    # A fork child leaves frames that its parent entered.
    if orphans and part != "processes":
        fail(f"{part}: {orphans} exits without an entry")
    if entries < 4 or exits < 2 or (
            part in WHOLE and exits != entries):
        fail(f"{part}: {entries} entries, {exits} exits")
    print(f"{part}: {entries} entries, {exits} exits")


def main():
    program = sys.argv[1]
    for part in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as d:
            trace = Path(d) / "trace"
            bare = run(program, part)
            if bare.returncode == 77:
                print(bare.stdout)
                return 77
            done = run(HODO, "record", "-m", "64M", "--wait", "--functions", "--returns", "-o", trace, "--", program,
                       part)
            if bare.returncode != 0 or done.returncode != 0 or done.stdout != bare.stdout:
                fail(f"{part}: {bare.returncode}, recorded {done.returncode}\n", bare.stdout, done.stdout, done.stderr)
            warned = [line for line in done.stderr.splitlines() if not re.search(KNOWN, line)]
            if warned:
                fail(part, "\n".join(warned))
            check_events(trace, part)
            if sum(f.stat().st_size for f in trace.rglob("*")) <= BT2_BYTES:
                done = run(sys.executable, "-B", "-S", COMPARE, HODO, trace)
                if done.returncode not in (0, 77):
                    fail(f"{part}: babeltrace2:", done.stdout, done.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
