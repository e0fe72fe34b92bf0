# SPDX-License-Identifier: MIT
"""kernel_rows - what the guests are to do, and the table's rows from what they said.

Guests are kept apart: one a tracer, and one in which nothing was ever loaded. What is on in a guest is compared
with what was measured in the same way with nothing loaded.
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
    published: str = ""


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
    """What the guest of a tracer ("none": of nothing) does."""
    lines = ["use_tracer none"]
    micros = [m for m in MICRO if "micro" in groups and (tracer == "none" or tracer in m.tracers)]
    works = [w for w in WORK if w.group in groups and (tracer == "none" or tracer in w.tracers)]
    operations = dict.fromkeys(m.operation for m in micros)
    lines += [f"micro off {op}" for op in operations]
    if "tbench" in groups and tracer != "empty":
        lines += ["tbench_srv >/dev/null 2>&1 &", "sleep 1"]
    if tracer != "none":
        lines += [f"use_tracer {tracer}"]
        lines += [f"micro idle {op}" for op in operations]
        lines += [f"micro_on {m.id} {m.operation} {m.sets}" for m in micros]
    if works:
        lines += ["mkdir -p /tmp/d"]
    for number in range(rounds):
        lines += [f"work {w.id}-{number} '{w.sets}' {w.cmd.format(seconds=seconds)}" for w in works]
    lines += ["send_kept"]
    return "\n".join(lines) + "\n"


class Said:
    """What one guest said."""

    def __init__(self, lines, kept):
        self.micro = {}  # (state, operation): ticks
        self.work = {}   # id: [round]
        for line in lines:
            if line[0] == "micro":
                self.micro[line[1], line[2]] = float(line[3])
            elif line[0] == "work":
                self.add_work(line[1:], kept)

    def add_work(self, words, kept):
        name = words[0].split("-")[0]
        ticks, events, written, events_after, written_after = map(float, words[1:6])
        events, written = events_after - events, written_after - written
        if words[0] in kept:
            events, written = kept[words[0]]
        self.work.setdefault(name, []).append(
            {"ticks": ticks, "events": events, "bytes": written, "rate": float(words[6]) if len(words) > 6 else None})


def median_of(rounds, key):
    return statistics.median(r[key] for r in rounds)


def added_text(added):
    return "-" if added is None else f"{added:+.0f}"


def micro_rows(said):
    rows = []
    for m in MICRO:
        none = said["none"].micro.get(("off", m.operation)) if "none" in said else None
        values, cells = {"none": none}, {}
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
        row = Row(f"micro_{m.id}", m.what, f"{none:.0f}", cells, values=values)
        if m.target:
            row.target = f"<= {m.target}"
            row.reached = values["hodo"] <= m.target if "hodo" in values else None
        rows.append(row)
    return rows + idle_rows(said)


def idle_rows(said):
    """Of a tracer that is loaded and records nothing: the most that it adds to any operation."""
    values = {}
    for tracer in ALL:
        micro = said[tracer].micro if tracer in said else {}
        added = [ticks - micro["off", op] for (state, op), ticks in micro.items() if state == "idle"]
        if added:
            values[tracer] = max(added)
    if not values:
        return []
    return [Row("micro_idle", "loaded, nothing on: the most it adds", "", {t: added_text(v) for t, v in values.items()},
                values=values)]


def compare(nothing, traced):
    """Slowdown, and per event: instructions and bytes; events a second of the guest's."""
    ticks, events, written = (median_of(traced, key) for key in ("ticks", "events", "bytes"))
    if traced[0]["rate"]:
        slowdown = median_of(nothing, "rate") / median_of(traced, "rate") - 1
        extra = ticks * slowdown / (1 + slowdown)
    else:
        base = median_of(nothing, "ticks")
        slowdown, extra = ticks / base - 1, ticks - base
    return {"slowdown": slowdown, "events": events, "bytes": written, "events_per_s": events / ticks * 1e9,
            "bytes_per_event": written / events if events else 0, "ticks": ticks,
            "instructions_per_event": extra / events if events else 0}


def work_rows(said):
    rows = []
    for w in WORK:
        nothing = said["none"].work.get(w.id) if "none" in said else None
        if not nothing:
            continue
        base = f"{median_of(nothing, 'rate'):.1f} MB/s" if nothing[0]["rate"] else \
            f"{median_of(nothing, 'ticks') / 1e6:.0f} M instr."
        values = {t: compare(nothing, said[t].work[w.id]) for t in ALL if t in said and w.id in said[t].work}
        values["none"] = {"ticks": median_of(nothing, "ticks"),
                          "rate": nothing[0]["rate"] and median_of(nothing, "rate")}
        cells = {t: f"{v['slowdown']:+.1%}" for t, v in values.items() if t != "none"}
        row = Row(w.id, f"{w.what}: slowdown", base, cells, values=values)
        if w.target:
            row.target = f"<= {w.target:.0%}"
            row.reached = values["hodo"]["slowdown"] <= w.target if "hodo" in values else None
        rows.append(row)
        for key, what, form in DETAILS:
            rows.append(Row(f"{w.id}_{key}", f"  {what}", "",
                            {t: form.format(v[key]) for t, v in values.items() if t != "none"}))
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
