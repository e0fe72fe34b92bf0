# SPDX-License-Identifier: MIT
"""rows - the measurements, one group of table rows each."""
import json
import os
import re
import shutil
import statistics

from peers import BenchError, babeltrace_counts, babeltrace_events, cpu_seconds, run
from table import Row

median = statistics.median

# Buffers per CPU: in the flight recorder what `hodo record` takes by default; in discard mode enough
# that nothing is lost between two of the recorder's visits.
RING_OVERWRITE = "4M"
RING_DISCARD = "32M"
SITES = 10000


class Bench:
    """What all measurements share."""

    def __init__(self, build_dir, work_dir, rounds, quick):
        self.build = build_dir
        self.work = work_dir
        self.rounds = rounds
        self.quick = quick
        self.lttng = None
        self.serial = 0
        self.cpus = len(os.sched_getaffinity(0))
        self.hodo = self.find("hodo", "src/cli/hodo", "bin/hodo", "hodo")

    def find(self, name, *paths):
        for path in paths:
            if (self.build / path).is_file():
                return self.build / path
        raise BenchError(f"{name} is not built in {self.build}: build it there, or leave --build out")

    def program(self, name):
        return self.find(name, f"bench/{name}")

    def record(self, cmd, *options, keep=False, folder=None):
        """Runs cmd under hodo record; its output, what hodo stat says, and the trace's folder."""
        self.serial += 1
        trace = (folder or self.work) / f"hodo{self.serial}"
        output = run([self.hodo, "record", "-q", "-o", trace, *options, "--", *cmd])
        stat = json.loads(run([self.hodo, "stat", "--json", trace]))
        if not keep:
            shutil.rmtree(trace)
        return output, stat, trace


def pairs(line):
    """{"a": 1.5} from "… a=1.5 …"."""
    return {key: float(value) for key, value in re.findall(r"(\w+)=(-?[\d.]+)", line)}


def rounds_of(output):
    return [pairs(line) for line in output.splitlines() if line[:1].isdigit()]


def event_args(bench, kinds, pause_us=0):
    chunks, iterations, warmup = (5, 2000, 1) if bench.quick else (50, 20000, 20)
    return ["-k", kinds, "-c", chunks, "-n", iterations, "-w", warmup, "-p", pause_us]


# ---------------------------------------------------------------------- idle


def loop_body(program, function):
    """[(bytes, text)] of the instructions of the function's hot loop."""
    dump = run(["objdump", "-d", "--insn-width=16", f"--disassemble={function}", program])
    code = [(int(at, 16), len(raw.split()), text.strip()) for at, raw, text in
            re.findall(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t?(.*)$", dump, re.MULTILINE)]
    for index, (at, _, text) in enumerate(code):
        jump = re.match(r"j[a-z]+\s+([0-9a-f]+) <", text)
        if jump and not text.startswith("jmp") and int(jump.group(1), 16) < at:
            start = int(jump.group(1), 16)
            return [(size, body) for where, size, body in code[:index + 1] if where >= start]
    raise BenchError(f"{program}: {function}: no loop found in its disassembly")


def site_size(program):
    """(instructions, bytes) that the event adds to the loop."""
    plain, site = loop_body(program, "loop_plain"), loop_body(program, "loop_site")
    return len(site) - len(plain), sum(s for s, _ in site) - sum(s for s, _ in plain)


def idle(bench):
    ours, peer = bench.program("idle"), bench.program("idle_lttng")
    size, peer_size = site_size(ours), site_size(peer)
    args = ["-c", 20, "-n", 5000] if bench.quick else ["-c", 100, "-n", 50000]
    rounds, peer_rounds = [], []
    for _ in range(bench.rounds):
        # bench:str only: the library is there, and the measured event is known to it and disabled.
        rounds += rounds_of(bench.record([ours, *args], "-e", "bench:str")[0])
        peer_rounds += rounds_of(run([peer, *args], env=bench.lttng.env))
    cost = median(r["site"] - r["plain"] for r in rounds)
    peer_cost = median(r["site"] - r["plain"] for r in peer_rounds)
    # What two measurements of the very same loop differ by, and 1% of it.
    unseen = max(abs(r["again"] - r["plain"]) for r in rounds) + 0.01 * median(r["plain"] for r in rounds)
    return [
        Row("idle_code", "idle event: at the site", f"{size[0]} instruction, {size[1]} bytes",
            f"LTTng-UST {peer_size[0]} instructions, {peer_size[1]} bytes", target="1 instruction, 5 bytes",
            reached=size == (1, 5), values={"instructions": size[0], "bytes": size[1],
                                            "lttng_instructions": peer_size[0], "lttng_bytes": peer_size[1]}),
        Row("idle_time", "idle event: time it adds to a loop", f"{cost:+.3f} ns",
            f"LTTng-UST {peer_cost:+.3f} ns", target=f"below what is measurable, {unseen:.3f} ns",
            reached=cost <= unseen, values={"ns": cost, "lttng_ns": peer_cost, "measurable_ns": unseen}),
    ]


# -------------------------------------------------------------------- events


def measure_events(bench, kinds, overwrite):
    """Rounds of (ours, LTTng's), as {kind: ns}; with the share of events that ours lost in discard mode."""
    result, lost = [], 0
    # The pause lets the recorder keep up: events refused by a full ring would be cheaper.
    args = event_args(bench, kinds, pause_us=0 if overwrite else 3000)
    options = ["--overwrite", "-m", RING_OVERWRITE] if overwrite else ["-m", RING_DISCARD]
    for _ in range(bench.rounds):
        output, stat, _ = bench.record([bench.program("event"), *args], *options)
        peer, _ = bench.lttng.record([bench.program("event_lttng"), *args], overwrite,
                                     subbuf="1M" if overwrite else "8M")
        result.append((rounds_of(output)[0], rounds_of(peer)[0]))
        written = pairs(output.splitlines()[-1])
        if stat["recorded"] + stat["discarded"] + stat["overwritten"] != written["n"] + written["s"]:
            raise BenchError(f"hodo accounts for {stat['recorded']} + {stat['discarded']} + "
                             f"{stat['overwritten']} events of {written['n'] + written['s']:.0f}")
        lost = max(lost, stat["discarded"] / max(1, written["n"] + written["s"]))
    return result, lost


def event_rows(measured, lost, kind, what, mode, clock_target, lttng_target):
    ours = median(hodo[kind] for hodo, _ in measured)
    clock = median(hodo["c"] for hodo, _ in measured)
    peer = median(lttng[kind] for _, lttng in measured)
    # Ratios are taken within a round, where both sides saw the same machine.
    to_clock = median(hodo[kind] / hodo["c"] for hodo, _ in measured)
    faster = median(lttng[kind] / hodo[kind] for hodo, lttng in measured)
    text = f"{ours:.1f} ns" + (f" ({lost:.1%} lost)" if lost else "")
    values = {"ns": ours, "clock_ns": clock, "lttng_ns": peer, "lost": lost}
    name = f"event_{what}_{mode.split(',', maxsplit=1)[0]}"
    what = {"num": "event (int, uint64)", "str": "event (int, 11 chars)"}[what]
    rows = [Row(f"{name}_clock", f"{what}, {mode}", text, f"clock {clock:.1f} ns", to_clock,
                target=f"<= {clock_target} x", reached=to_clock <= clock_target, values=values),
            Row(f"{name}_lttng", "", text, f"LTTng-UST {peer:.1f} ns", faster, faster=True, values=values)]
    if lttng_target:
        rows[1].target, rows[1].reached = f">= {lttng_target} x faster", faster >= lttng_target
    return rows


def events(bench):
    rows = []
    for overwrite, mode in ((True, "overwrite"), (False, "discard, drained")):
        measured, lost = measure_events(bench, "cns", overwrite)
        rows += event_rows(measured, lost, "n", "num", mode, 1.15, 8)
        rows += event_rows(measured, lost, "s", "str", mode, 1.8, None)
    return rows


def threads(bench):
    what = "two threads on two CPUs, overwrite"
    if bench.cpus < 2:
        return [Row("two_threads", what, "not measured: one CPU", "", target="<= 1.05 x one thread")]
    measured, _ = measure_events(bench, "cCnN", True)
    ours = median(hodo["N"] / hodo["n"] for hodo, _ in measured)
    clock = median(hodo["C"] / hodo["c"] for hodo, _ in measured)
    peer = median(lttng["N"] / lttng["n"] for _, lttng in measured)
    ns = median(hodo["N"] for hodo, _ in measured)
    return [Row("two_threads", what, f"{ns:.1f} ns", f"clock {clock:.2f} x, LTTng-UST {peer:.2f} x", ours,
                target="<= 1.05 x one thread", reached=ours <= 1.05,
                values={"ns": ns, "ratio": ours, "clock_ratio": clock, "lttng_ratio": peer})]


def kinds(bench):
    """Events of other kinds, beside the clock."""
    rounds = [rounds_of(bench.record([bench.program("event"), *event_args(bench, "cxlp")], "--overwrite", "-m",
                                     RING_OVERWRITE)[0])[0] for _ in range(bench.rounds)]
    clock = median(one["c"] for one in rounds)
    return [Row(f"event_{name}", what, f"{median(one[kind] for one in rounds):.1f} ns", f"clock {clock:.1f} ns",
                median(one[kind] / one["c"] for one in rounds),
                values={"ns": median(one[kind] for one in rounds), "clock_ns": clock})
            for kind, name, what in (("x", "texts", "event (2 ints, 2 texts of 11), overwrite"),
                                     ("l", "long", "event (int, 100 chars), overwrite"),
                                     ("p", "point", "tracepoint (int, uint64), no probes, overwrite"))]


# ----------------------------------------------------------- enable and start


def enable(bench):
    first, again, barrier = [], [], []
    for _ in range(bench.rounds):
        output, stat, _ = bench.record([bench.program("enable"), "-r", 3], "-e", "none:none")
        seen = sum(event["count"] for event in stat["events"] if event["name"].startswith("many:"))
        if seen + stat["discarded"] != 3 * SITES:
            raise BenchError(f"enabling {SITES} sites 3 times gave {seen} events, not {3 * SITES}")
        rounds = rounds_of(output)
        first.append(rounds[0]["enable"])
        again.append(rounds[-1]["enable"])
        barrier.append(rounds[0]["barrier"])
    ms, barrier_us = median(first), median(barrier)
    return [Row("enable", f"enable {SITES:,} sites of a running process", f"{ms:.1f} ms",
                f"one membarrier {barrier_us:.1f} us", target="<= 50 ms", reached=ms <= 50,
                values={"ms": ms, "again_ms": median(again), "membarrier_us": barrier_us})]


def start(bench):
    count = 10 if bench.quick else 200
    ours, peer = [], []
    for _ in range(bench.rounds):
        program = bench.program("true")
        output, _, _ = bench.record([bench.program("spawn"), count, f"plain:none:{program}",
                                     f"preload:preload:{program}", f"recorded:all:{program}"])
        ours.append(pairs(output))
        peer.append(pairs(run([bench.program("spawn"), count, f"plain:none:{program}",
                               f"lttng:all:{bench.program('true_lttng')}"], env=bench.lttng.env)))
    preload = median(r["preload"] for r in ours)
    recorded = median(r["recorded"] for r in ours)
    lttng = median(r["lttng"] for r in peer)
    values = {"plain_us": median(r["plain"] for r in ours), "preload_us": preload, "recorded_us": recorded,
              "lttng_us": lttng}
    return [Row("start_preload", "start-up: library preloaded", f"{preload / 1000:.3f} ms",
                f"LTTng-UST linked {lttng / 1000:.3f} ms", preload / lttng, target="<= 1 ms",
                reached=preload <= 1000, values=values),
            Row("start_recorded", "start-up: recorded", f"{recorded / 1000:.3f} ms",
                f"LTTng-UST linked {lttng / 1000:.3f} ms", recorded / lttng, target="<= 1 ms",
                reached=recorded <= 1000, values=values)]


# ------------------------------------------------------------ size and reading


def stream_bytes(trace):
    """Bytes of the streams of a trace: all files but the metadata and indexes."""
    return sum(path.stat().st_size for path in trace.rglob("*")
               if path.is_file() and not path.name.startswith(("metadata", ".metadata"))
               and path.suffix != ".idx" and "index" not in path.parts)


def size(bench):
    args = ["-k", "n", "-c", 10 if bench.quick else 50, "-n", 20000, "-w", 0, "-p", 3000]
    _, stat, trace = bench.record([bench.program("event"), *args], "-m", RING_DISCARD, keep=True)
    _, peer_trace = bench.lttng.record([bench.program("event_lttng"), *args], False, keep=True)
    peer_events, _ = babeltrace_counts(peer_trace)
    # The events alone, as the target says it; packets' headers come on top, for the peer too.
    ours = sum(event["bytes"] for event in stat["events"]) / stat["recorded"]
    disk = stream_bytes(trace) / stat["recorded"]
    peer = stream_bytes(peer_trace) / peer_events
    shutil.rmtree(trace)
    shutil.rmtree(peer_trace)
    return [Row("bytes", "bytes an event (int, uint64)", f"{ours:.2f} ({disk:.2f} on disk)",
                f"LTTng-UST with vtid {peer:.2f} on disk", disk / peer, target="<= 18.1", reached=ours <= 18.1,
                values={"bytes": ours, "disk_bytes": disk, "lttng_disk_bytes": peer})]


def reading_row(ident, what, ours, peer_name, peer, target):
    return Row(ident, what, f"{ours / 1e6:.2f} M/s", f"{peer_name} {peer / 1e6:.2f} M/s", ours / peer,
               faster=True, target=f">= {target} M/s", reached=ours >= target * 1e6,
               values={"events_per_s": ours, "peer_events_per_s": peer})


def read(bench):
    # One trace for all four, read once before, so that it comes from memory; rates by processor time.
    args = ["-k", "n", "-c", 5 if bench.quick else 200, "-n", 20000, "-w", 0, "-p", 3000]
    _, stat, trace = bench.record([bench.program("event"), *args], "-m", RING_DISCARD, keep=True)
    events_read = babeltrace_events(trace)
    if events_read != stat["recorded"]:
        raise BenchError(f"babeltrace2 reads {events_read} events where hodo stat counts {stat['recorded']}")
    commands = {"stat": [bench.hodo, "stat", trace], "print": [bench.hodo, "print", trace],
                "dummy": ["babeltrace2", "-o", "dummy", trace], "text": ["babeltrace2", "-o", "text", trace]}
    rates = {name: [] for name in commands}
    for _ in range(bench.rounds):
        for name, command in commands.items():
            rates[name].append(events_read / max(cpu_seconds(command), 1e-6))
    rates = {name: median(values) for name, values in rates.items()}
    shutil.rmtree(trace)
    return [reading_row("read_stat", "reading: stat", rates["stat"], "babeltrace2 dummy", rates["dummy"], 50),
            reading_row("read_print", "reading: print", rates["print"], "babeltrace2 text", rates["text"], 5)]


GROUPS = {"idle": idle, "events": events, "kinds": kinds, "threads": threads, "enable": enable, "start": start,
          "bytes": size, "read": read}
