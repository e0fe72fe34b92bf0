# SPDX-License-Identifier: MIT
"""space_rows - the cost of the first round through a large buffer, and the memory that buffers take."""
import os
import subprocess
import time
from pathlib import Path

from peers import run
from rows import median, pairs
from table import Row

LARGE, SMALL = ["-m", "64M", "--packet-size", "256K"], ["-m", "4M"]
EACH_S = 0.25


def first_touch(bench):
    """Processor time of calls, which fill the large buffer once, and the small one many times."""
    args = ["-k", "f", "-c", 5 if bench.quick else 70, "-n", 20000, "-w", 0]
    sides = {"large": [], "small": []}
    for _ in range(bench.rounds):
        for side, options in (("large", LARGE), ("small", SMALL)):
            output, _, _ = bench.record([bench.program("calls"), *args], "--functions", "--drop", *options)
            done = pairs(output.splitlines()[-1])
            sides[side].append(done["cpu_us"] * 1000 / done["f"])
    large, small = median(sides["large"]), median(sides["small"])
    return [Row("first_touch", "function entry + exit, first round of 64 MiB", f"{large:.1f} ns", f"4 MiB: {small:.1f} ns",
                ratio=large / small, values={"ns": large, "small_ns": small})]


def buffers(pid):
    """Bytes of what processes have handed to the recorder."""
    fds = Path(f"/proc/{pid}/fd")
    return sum(fd.stat().st_blocks for fd in fds.iterdir() if os.readlink(fd).startswith("/memfd:hodo")) * 512


def in_use(bench, *command):
    """Bytes that were in use in the later half of a recording."""
    seen, out = [], bench.work / "space"
    process = subprocess.Popen([bench.hodo, "record", "-q", "-o", out, *map(str, command)], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            seen.append(buffers(process.pid))
        except OSError:  # it has ended meanwhile
            pass
        time.sleep(EACH_S / 10 if bench.quick else EACH_S)
    run(["rm", "-rf", out, f"{out}.old"])
    return median(seen[len(seen) // 2:]) if seen else 0


def memory(bench):
    seconds = 1 if bench.quick else 8
    rows = []
    for ident, what, rate in (("memory_quiet", "200,000 events a second", 200000),
                              ("memory_busy", "5,000,000 events a second", 5000000)):
        used = in_use(bench, "--", bench.program("rate"), seconds * rate, rate)
        rows.append(Row(ident, f"memory of 4 MiB buffers, {what}", f"{used / (1 << 20):.1f} MiB", "",
                        values={"bytes": used}))
    return rows


GROUPS = {"first_touch": first_touch, "memory": memory}
