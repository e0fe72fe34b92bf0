# SPDX-License-Identifier: MIT
"""kernel_rows - the guests' plans, and the table's rows from their output.

There is a guest for each tracer, in which all is measured with nothing, too: micro figures before it is loaded, and
again when it is (which adds nothing); programs before each round with events, since what they take depends on where
their pages lie by as much as a tracer costs.
"""
import json
import statistics
from dataclasses import asdict, dataclass, field
from typing import Optional

TRACERS = {"hodo": "hodo", "ftrace": "ftrace", "lttng": "LTTng-modules"}
COMMON = "syscalls sched irq page net block"
FULL = COMMON + " timer pages"  # LTTng-modules has no probe for these two here
GROUPS = ("micro", "dbench", "tbench", "compile")


@dataclass
class Micro:
    id: str
    operation: str
    sets: str
    what: str
    tracers: tuple
    target: Optional[int] = None  # instructions


ALL = tuple(TRACERS)
MICRO = [
    Micro("getppid", "getppid", "getppid", "getppid: entry + exit", ("empty", *ALL), 250),
    Micro("getppid_all", "getppid", "syscalls", "getppid, with all system calls on", ALL, 250),
    Micro("getppid_raw", "getppid", "raw", "getppid, as raw_syscalls", ("ftrace",)),
    Micro("write", "write", "write", "write: entry + exit", ("empty", *ALL), 250),
    Micro("access", "access", "access", "access: entry + exit, with the path", ALL),
    Micro("switch", "switch", "switch", "sched_switch", ("empty", *ALL), 150),
    Micro("kmalloc", "kmalloc", "kmalloc", "kmalloc", ("hodo", "ftrace")),
    Micro("kfree", "kmalloc", "kfree", "kfree", ("hodo", "ftrace")),
    Micro("fault", "fault", "page", "page fault", ALL),
]


@dataclass
class Work:
    id: str
    group: str
    sets: str
    cmd: str
    what: str
    tracers: tuple
    target: Optional[float] = None  # slowdown


WORK = [
    Work("dbench", "dbench", COMMON, "dbench -t {seconds} -c /data/client.txt -D /tmp/d 2", "dbench, 2 clients, tmpfs",
         ALL, 0.05),
    Work("tbench", "tbench", COMMON, "tbench -t {seconds} -c /data/client.txt 2 127.0.0.1",
         "tbench, 2 clients, loopback", ALL, 0.12),
    Work("compile", "compile", COMMON, "tcc -c -nostdinc -o /tmp/big.o /data/big.c", "tcc, one large file", ALL),
    Work("small", "compile", COMMON, "sh /small.sh", "tcc, 200 small files", ALL, 0.02),
    Work("compile_full", "compile", FULL, "tcc -c -nostdinc -o /tmp/big.o /data/big.c",
         "tcc, one large file; timer, pages too", ("hodo", "ftrace")),
    Work("small_full", "compile", FULL, "sh /small.sh", "tcc, 200 small files; timer, pages too", ("hodo", "ftrace"),
         0.02),
]


@dataclass
class Row:
    id: str
    what: str
    none: str
    cells: dict                     # tracer: text
    target: str = ""
    reached: Optional[bool] = None  # None: no target, or not measured
    values: dict = field(default_factory=dict)


def plan(tracer, groups, rounds, seconds):
    """What the guest of a tracer does."""
    lines = ["use_tracer none"]
    micros = [m for m in MICRO if "micro" in groups and tracer in m.tracers]
    works = [w for w in WORK if w.group in groups and tracer in w.tracers]
    operations = dict.fromkeys(m.operation for m in micros)
    lines += [f"micro off {op}" for op in operations]
    lines += [f"use_tracer {tracer}"]
    lines += [f"micro idle {op}" for op in operations]
    lines += [f"micro_on {m.id} {m.operation} {m.sets}" for m in micros]
    if "tbench" in groups and works:
        lines += ["tbench_srv >/dev/null 2>&1 &", "sleep 1"]
    if works:
        lines += ["mkdir -p /tmp/d"]
    for number in range(rounds):
        for w in works:
            cmd = w.cmd.format(seconds=seconds)
            lines += [f"work {w.id}-off-{number} '' {cmd}", f"work {w.id}-on-{number} '{w.sets}' {cmd}"]
    lines += ["send_kept"]
    return "\n".join(lines) + "\n"


class Said:
    """The output of one guest."""

    def __init__(self, lines, kept):
        self.micro = {}  # (state, operation): ticks
        self.work = {}   # id: [(off, on)], of each round
        for line in lines:
            if line[0] == "micro":
                self.micro[line[1], line[2]] = float(line[3])
            elif line[0] == "work":
                self.add_work(line[1:], kept)

    def add_work(self, words, kept):
        name, state, _ = words[0].split("-")
        ticks, events, written, events_after, written_after = map(float, words[1:6])
        events, written = events_after - events, written_after - written
        if words[0] in kept:
            events, written = kept[words[0]]
        one = {"ticks": ticks, "events": events, "bytes": written, "rate": float(words[6]) if len(words) > 6 else None}
        rounds = self.work.setdefault(name, [])
        if state == "off":
            rounds.append((one, None))
        else:
            rounds[-1] = (rounds[-1][0], one)


def added_text(added):
    return "-" if added is None else f"{added:+.0f}"


def micro_rows(said):
    rows = []
    for m in MICRO:
        none, values, cells = None, {}, {}
        for tracer in (*ALL, "empty"):
            guest = said.get(tracer)
            if not guest or (m.id, m.operation) not in guest.micro:
                continue
            base = guest.micro["off", m.operation]
            none = base if none is None else none
            values[tracer] = guest.micro[m.id, m.operation] - base
            cells[tracer] = added_text(values[tracer])
        if not cells:
            continue
        values["none"] = none
        row = Row(f"micro_{m.id}", m.what, f"{none:.0f}", cells, values=values)
        if m.target:
            row.target = f"<= {m.target}"
            row.reached = values["hodo"] <= m.target if "hodo" in values else None
        rows.append(row)
    return rows + idle_rows(said)


# Their code path does not depend on the state of the kernel's memory, unlike a path look-up.
IDLE = ("getppid", "write", "switch")


def idle_rows(said):
    """Of a tracer that is loaded and records nothing: the most that it adds to an operation."""
    values = {}
    for tracer in ALL:
        micro = said[tracer].micro if tracer in said else {}
        added = [ticks - micro["off", op] for (state, op), ticks in micro.items()
                 if state == "idle" and op in IDLE]
        if added:
            values[tracer] = max(added)
    if not values:
        return []
    return [Row("micro_idle", "loaded, nothing on: the most it adds", "", {t: added_text(v) for t, v in values.items()},
                values=values)]


def compare(rounds):
    """Medians over the rounds: slowdown; and per event: instructions and bytes; events a second of the guest's."""
    found = []
    for off, on in rounds:
        if on["rate"]:
            slowdown = off["rate"] / on["rate"] - 1
            extra = on["ticks"] * slowdown / (1 + slowdown)
        else:
            slowdown, extra = on["ticks"] / off["ticks"] - 1, on["ticks"] - off["ticks"]
        events = on["events"]
        found.append({"slowdown": slowdown, "events": events, "bytes": on["bytes"],
                      "events_per_s": events / on["ticks"] * 1e9,
                      "bytes_per_event": on["bytes"] / events if events else 0,
                      "instructions_per_event": extra / events if events else 0})
    return {key: statistics.median(one[key] for one in found) for key in found[0]}


def work_rows(said):
    rows = []
    for w in WORK:
        rounds = {t: said[t].work[w.id] for t in ALL if t in said and w.id in said[t].work}
        if not rounds:
            continue
        off = [off for off, _ in next(iter(rounds.values()))]
        key = "rate" if off[0]["rate"] else "ticks"
        none = statistics.median(one[key] for one in off)
        values = {t: compare(found) for t, found in rounds.items()}
        row = Row(w.id, f"{w.what}: slowdown", f"{none:.1f} MB/s" if key == "rate" else f"{none / 1e6:.0f} M instr.",
                  {t: f"{v['slowdown']:+.1%}" for t, v in values.items()}, values={"none": {key: none}, **values})
        if w.target:
            row.target = f"<= {w.target:.0%}"
            row.reached = values["hodo"]["slowdown"] <= w.target if "hodo" in values else None
        rows.append(row)
        rows += [Row(f"{w.id}_{key}", f"  {what}", "", {t: form.format(v[key]) for t, v in values.items()})
                 for key, what, form in DETAILS]
    return rows


DETAILS = (("instructions_per_event", "instructions an event", "{:.0f}"),
           ("events_per_s", "events a second", "{:,.0f}"),
           ("bytes_per_event", "bytes an event", "{:.1f}"))


def rows_of(said):
    return (micro_rows(said) if any(s.micro for s in said.values()) else []) + work_rows(said)


def print_json(rows, info):
    print(json.dumps({"version": 1, **info, "rows": [asdict(row) for row in rows]}, indent=1))


def print_text(rows, info):
    print(f"Linux {info['kernel']} in qemu, one CPU, which counts instructions; medians of {info['rounds']} rounds"
          + (" (quick: the figures mean little)" if info["quick"] else ""))
    shown = [t for t in (*TRACERS, "empty") if any(t in row.cells for row in rows)]
    names = {**TRACERS, "empty": "empty probe"}
    lines = [("what", "nothing", *(names[t] for t in shown), "target", "reached")]
    for row in rows:
        lines.append((row.what, row.none, *(row.cells.get(t, "-") for t in shown), row.target,
                      {None: "", True: "yes", False: "NO"}[row.reached]))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for number, line in enumerate(lines):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
