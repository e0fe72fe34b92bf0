#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""again.py - something is mapped where a plan's pages are to go, after the plan was made: there is a new plan each
time, up to a limit. strace makes mmap() fail in place of the kernel.

PLAIN (plain.c) and HODO are in the environment."""
import json
import os
import shutil
import tempfile
from pathlib import Path

from hodo_test import LIMIT_S, hodo, program, skip

PLAIN = program("PLAIN")
TRIES = 4  # HODO_PLAN_TRIES
N = 100
SAID = "its code or memory map changed in the meantime"


def record(folder, *options):
    """What hodo record said, how often large() was recorded, and the program's mappings, in order."""
    log = folder / "log"
    done = hodo("record", "-o", folder / "trace", f"--functions={Path(PLAIN).name}!large", "--",
                "strace", "-qq", "-e", "trace=mmap", *options, "-o", log, PLAIN, N, timeout=2 * LIMIT_S, status=7)
    calls = json.loads(hodo("report", "-q", "--json", folder / "trace", status=0).stdout)["functions"]
    return done.stderr, sum(f["calls"] for f in calls), log.read_text("utf-8").splitlines()


def main():
    if not shutil.which("strace"):
        skip("no strace")
    with tempfile.TemporaryDirectory(prefix="hodo-again-") as directory:
        d = Path(directory)
        for name in ("plain", "once", "always"):
            (d / name).mkdir()
        said, calls, maps = record(d / "plain")
        assert calls == N and SAID not in said, (said, calls)
        first = next(i for i, m in enumerate(maps, 1) if "MAP_FIXED_NOREPLACE" in m)
        said, calls, maps = record(d / "once", "-e", f"inject=mmap:error=EEXIST:when={first}")
        assert "EEXIST" in maps[first - 1] and calls == N and SAID not in said, (said, calls, maps)
        # For each plan, the program maps its file, its states, and then its first pages.
        last = first + 3 * (TRIES - 1)
        said, calls, maps = record(d / "always", "-e", f"inject=mmap:error=EEXIST:when={first}..{last}+3")
        assert sum("EEXIST" in m for m in maps) == TRIES and not calls and said.count(SAID) == 1, (said, calls, maps)


if __name__ == "__main__":
    os.environ.pop("HODO_RECORDER", None)
    main()
