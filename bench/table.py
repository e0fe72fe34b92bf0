# SPDX-License-Identifier: MIT
"""table - a measured row, and how the rows are printed."""
import json
import os
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Optional


# Before this run added to it.
LOAD = os.getloadavg()[0]
BUSY = 0.25  # load per CPU from which the table mentions it


@dataclass
class Row:
    id: str
    what: str
    ours: str                       # as text, with unit
    peer: str                       # who, and as text
    ratio: Optional[float] = None   # how many times the peer's cost, or how many times faster
    faster: bool = False            # ratio says "times faster" rather than "times the cost"
    target: str = ""
    reached: Optional[bool] = None  # None: no target for this row
    values: dict = field(default_factory=dict)


def machine():
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    return {"cpu": cpu, "cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(), "load": LOAD}


def ratio_text(row):
    if row.ratio is None:
        return ""
    return f"{row.ratio:.1f} x faster" if row.faster else f"{row.ratio:.2f} x"


def reached_text(row):
    return {None: "", True: "yes", False: "NO"}[row.reached]


def print_json(rows, args):
    print(json.dumps({"version": 1, "machine": machine(), "rounds": args.rounds, "quick": args.quick,
                      "rows": [asdict(row) for row in rows]}, indent=1))


def print_text(rows, args):
    info = machine()
    print(f"{info['cpu']}, {info['cpus']} CPUs, Linux {info['kernel']}; medians of {args.rounds} rounds"
          + (" (quick: the figures mean nothing)" if args.quick else ""))
    if LOAD > BUSY * info["cpus"]:
        print(f"Other programs kept this machine busy (load {LOAD:.1f}): an idle one gives better figures.")
    lines = [("what", "hodo", "peer", "ratio", "target", "reached")]
    lines += [(row.what, row.ours, row.peer, ratio_text(row), row.target, reached_text(row)) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for number, line in enumerate(lines):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
