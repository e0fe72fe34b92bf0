# SPDX-License-Identifier: MIT
"""function_rows - the measurements of function tracing, one group of table rows each."""
import shutil
import tempfile
from pathlib import Path

from function_peers import FunctionPeers
from peers import BenchError, cpu_seconds
from rows import RING_DISCARD, RING_OVERWRITE, median, pairs, rounds_of, stream_bytes
from table import Row

TMPFS = Path("/dev/shm")
WORKLOADS = {"f": "fib", "l": "loop"}
PAUSE_US = 600   # the recorder keeps up: this does not measure a full ring
LIMIT = "1ms"    # longer than any call but the outermost
FUNCTIONS = 50000
NOT_HERE = "not here"


def call_args(bench, kinds, pause_us=0, chunks=250):
    # Chunks shorter than the time that a thread has the CPU, also where a call takes a microsecond.
    chunks, calls, warmup = (3, 2000, 1) if bench.quick else (chunks, 4000, 250)
    return ["-k", kinds, "-c", chunks, "-n", calls, "-w", warmup, "-p", pause_us]


def filesystem(path):
    """Type of the file system that holds path."""
    best = ("", "?")
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind = line.split()[:3]
        if (where == "/" or path.is_relative_to(where)) and len(where) >= len(best[0]):
            best = (where, kind)
    return best[1]


class Runs:
    """Rounds of all sides: {side: [{kind: ns} or None if the side is not here]}."""

    def __init__(self):
        self.ns = {}
        self.lost = {}

    def add(self, side, output, lost=0.0):
        self.ns.setdefault(side, []).append(rounds_of(output)[0] if output is not None else None)
        self.lost[side] = max(self.lost.get(side, 0.0), lost)

    def has(self, side):
        return self.ns.get(side, [None])[0] is not None

    def median(self, side, kind):
        return median(one[kind] for one in self.ns[side]) if self.has(side) else None

    def ratio(self, side, to, kind, to_kind=None):
        """Taken within a round, where both saw the same machine."""
        return median(a[kind] / b[to_kind or kind] for a, b in zip(self.ns[side], self.ns[to]))

    def text(self, side, kind):
        if not self.has(side):
            return NOT_HERE
        lost = self.lost[side]
        return f"{self.median(side, kind):.1f} ns" + (f" ({lost:.1%} lost)" if lost else "")


def run_hodo(bench, runs, side, args, *options, folder=None, program="calls", events=2):
    """events: how many make a call; 0: the tracer does not record by calls."""
    output, stat, _ = bench.record([bench.program(program), *args], "--functions", *options, folder=folder)
    if not events:
        return runs.add(side, output)
    written = pairs(output.splitlines()[-1])
    wanted = events * (written["f"] + written["l"])
    if stat["recorded"] + stat["discarded"] + stat["overwritten"] != wanted:
        raise BenchError(f"hodo accounts for {stat['recorded']} + {stat['discarded']} + {stat['overwritten']} "
                         f"entries and exits in {program}, not for {wanted:.0f}")
    return runs.add(side, output, stat["discarded"] / wanted)


def run_uftrace(peers, runs, side, args, *options, program="calls_pg"):
    done = peers.uftrace(args, program, options)
    if done is None:
        return runs.add(side, None)
    written = pairs(done[0].splitlines()[-1])
    calls = written["f"] + written["l"]
    # With a limit it records hardly any, and by default some more: of the libraries' functions.
    return runs.add(side, done[0], max(0.0, 1 - done[2] / (2 * calls)) if "-t" not in options else 0.0)


def one_round(bench, peers, runs, tmpfs):
    ring, drained = ["--overwrite", "-m", RING_OVERWRITE], ["-m", RING_DISCARD]
    args, paused = call_args(bench, "cfl"), call_args(bench, "cfl", PAUSE_US)
    run_hodo(bench, runs, "ring", args, *ring)
    for mode in ("xray-fdr", "xray-basic"):
        done = peers.xray(args, mode)
        runs.add(mode, done[0] if done else None)
    runs.add("stamp", peers.plain_run("calls_stamp", args))
    runs.add("gprof", peers.gprof(args))
    run_hodo(bench, runs, "drained", paused, *drained)
    run_uftrace(peers, runs, "uftrace", paused, "--no-libcall")
    run_uftrace(peers, runs, "uftrace_default", paused)
    run_uftrace(peers, runs, "uftrace_instrument", paused, "--no-libcall", program="calls_instrument")
    runs.add("lttng", peers.lttng(paused, False))
    run_hodo(bench, runs, "flood", args, *drained)
    run_uftrace(peers, runs, "uftrace_flood", args, "--no-libcall")
    if tmpfs:
        run_hodo(bench, runs, "tmpfs", paused, *drained, folder=tmpfs)
    else:
        runs.add("tmpfs", None)


def against(ident, what, runs, ours, side, name, kind, target=None, faster=True):
    """A row that says how many times faster than a peer, or how many times the cost of one that does less."""
    row = Row(ident, what, runs.text(ours, kind), f"{name} {runs.text(side, kind)}", faster=faster,
              values={"ns": runs.median(ours, kind), "peer_ns": runs.median(side, kind)})
    if runs.has(ours) and runs.has(side):
        row.ratio = runs.ratio(side, ours, kind) if faster else runs.ratio(ours, side, kind)
        row.reached = row.ratio >= target if target else None
    row.target = f">= {target} x faster" if target else ""
    return row


def against_clock(ident, what, runs, side, kind, to_kind, name, target=None):
    row = Row(ident, what, runs.text(side, kind), "", target=f"<= {target} x" if target else "",
              values={"ns": runs.median(side, kind), "clock_ns": runs.median(side, "c"), "lost": runs.lost[side]})
    if runs.has(side):
        row.peer = f"{name} {runs.median(side, to_kind):.1f} ns"
        row.ratio = runs.ratio(side, side, kind, to_kind)
        row.reached = row.ratio <= target and not runs.lost[side] if target else None
    return row


def calls(bench):
    """A traced call, entry and exit: its whole time, including the call itself and its work."""
    peers, runs, tmpfs = FunctionPeers(bench), Runs(), None
    if TMPFS.is_dir() and filesystem(TMPFS) == "tmpfs":
        tmpfs = Path(tempfile.mkdtemp(prefix="hodo-bench.", dir=TMPFS))
    try:
        for _ in range(bench.rounds):
            one_round(bench, peers, runs, tmpfs)
    finally:
        if tmpfs:
            shutil.rmtree(tmpfs, ignore_errors=True)
    rows = []
    for kind, work in WORKLOADS.items():
        ident = f"call_{work}"
        rows += [
            against_clock(f"{ident}_ring", f"function entry + exit ({work}), overwrite", runs, "ring", kind, "c",
                          "two clocks", 1.3),
            against(f"{ident}_fdr", "", runs, "ring", "xray-fdr", f"XRay FDR{peers.xray_clock}", kind, 6),
            against(f"{ident}_basic", "", runs, "ring", "xray-basic", f"XRay basic{peers.xray_clock}", kind),
            against(f"{ident}_stamp", "", runs, "ring", "stamp", "time stamps, -finstrument-functions", kind,
                    faster=False),
            against(f"{ident}_gprof", "", runs, "ring", "gprof", "gprof, which only counts,", kind, faster=False),
            against_clock(f"{ident}_drained", f"function entry + exit ({work}), drained to {filesystem(bench.work)}",
                          runs, "drained", kind, "c", "two clocks", 1.3),
            against(f"{ident}_uftrace", "", runs, "drained", "uftrace", "uftrace --no-libcall", kind, 3.5),
            against(f"{ident}_uftrace_default", "", runs, "drained", "uftrace_default", "uftrace", kind),
            against(f"{ident}_uftrace_instrument", "", runs, "drained", "uftrace_instrument",
                    "uftrace --no-libcall, -finstrument-functions", kind, 3.5),
            against(f"{ident}_lttng", "", runs, "drained", "lttng", "LTTng-UST, -finstrument-functions", kind),
            against_clock(f"{ident}_tmpfs", f"function entry + exit ({work}), drained to tmpfs", runs, "tmpfs", kind,
                          "c", "two clocks", 1.3),
            # A program that only calls, without a pause: more than a recorder on one other CPU can handle.
            against(f"{ident}_flood", f"function entry + exit ({work}), drained, no pause", runs, "flood",
                    "uftrace_flood", "uftrace --no-libcall", kind),
        ]
    return rows


def tracers(bench):
    """libhodo's tracers that work while the program runs, beside the most similar peer."""
    peers, runs = FunctionPeers(bench), Runs()
    args = call_args(bench, "cfl", PAUSE_US, 100)
    limit = ["--min-time", LIMIT]
    sides = {"graph": [], "graph_limit": limit, "profile": [], "latency": limit, "stack": []}
    for _ in range(bench.rounds):
        for side, options in sides.items():
            run_hodo(bench, runs, side, args, "--tracer", side.split("_")[0], "-m", RING_DISCARD, *options,
                     events=0)
        run_uftrace(peers, runs, "uftrace", args, "--no-libcall")
        run_uftrace(peers, runs, "uftrace_limit", args, "--no-libcall", "-t", LIMIT)
        runs.add("gprof", peers.gprof(args))
        runs.add("own", peers.plain_run("calls_tracer", args))
        runs.add("xray_null", peers.xray_null(args))
    beside = {"graph": ("uftrace", "uftrace --no-libcall"), "graph_limit": ("uftrace_limit", f"uftrace -t {LIMIT}"),
              "profile": ("gprof", "gprof, counts and samples,"),
              "latency": ("uftrace_limit", f"uftrace -t {LIMIT}")}
    rows = []
    for side in sides:
        for kind, work in WORKLOADS.items():
            what = f"tracer {side.replace('_limit', '')} ({work})" + (f", --min-time {LIMIT}" if sides[side] else "")
            if side in beside:
                rows.append(against(f"tracer_{side}_{work}", what, runs, side, *beside[side], kind,
                                    faster=side != "profile"))
            else:
                rows.append(against_clock(f"tracer_{side}_{work}", what, runs, side, kind, "c", "two clocks"))
    for kind, work in WORKLOADS.items():
        rows.append(against(f"tracer_own_{work}", f"a tracer of one's own that does nothing ({work})", runs, "own",
                            "xray_null", "XRay handler that does nothing", kind, faster=False))
    return rows


# Other slots than gcc's: name in the row, program, options, events a call.
KINDS = {"xray": ("clang's XRay sleds", "calls_xray", [], 2),
         "instrument": ("-finstrument-functions", "calls_instrument", [], 2),
         "entry": ("-fpatchable-function-entry=5, entries only", "calls_patchable", [], 1),
         "returns": ("-fpatchable-function-entry=5, --returns", "calls_patchable", ["--returns"], 2)}


def slot_kinds(bench):
    """Recording by the other kinds of slots, and their cost while only other events are recorded."""
    peers, runs = FunctionPeers(bench), Runs()
    args = call_args(bench, "cfl")
    idle_args = ["-i", "-c", 10, "-n", 2000] if bench.quick else ["-i", "-c", 50, "-n", 20000]
    idle = {side: [] for side in KINDS}
    for _ in range(bench.rounds):
        for side, (_, program, options, events) in KINDS.items():
            if not peers.program(program):
                runs.add(side, None)
                continue
            run_hodo(bench, runs, side, args, "--overwrite", "-m", RING_OVERWRITE, *options, program=program,
                     events=events)
            output = bench.record([bench.program(program), *idle_args], "-e", "none:none")[0]
            idle[side].append(idle_rounds(output))
    rows = []
    for side, (name, _, _, _) in KINDS.items():
        for kind, work in WORKLOADS.items():
            row = Row(f"kind_{side}_{work}", f"slots of {name} ({work})", runs.text(side, kind), "",
                      values={"ns": runs.median(side, kind)})
            if runs.has(side):
                row.peer, row.ratio = f"two clocks {runs.median(side, 'c'):.1f} ns", runs.ratio(side, side, kind, "c")
                row.values["idle_ns"] = median(one[kind][0] for one in idle[side])
                row.ours += f" (idle {row.values['idle_ns']:+.2f} ns)"
            rows.append(row)
    return rows


def idle_rounds(output):
    """[(what the code adds, what two measurements of the same differ by and 1% of it)] for each workload."""
    one = rounds_of(output)[0]
    return {kind: (one[f"traced_{kind}"] - one[f"plain_{kind}"],
                   abs(one[f"again_{kind}"] - one[f"plain_{kind}"]) + 0.01 * one[f"plain_{kind}"])
            for kind in WORKLOADS}


def idle_functions(bench):
    """A program with slots: recorded, but not its functions, and without libhodo; beside peers' programs alone."""
    peers = FunctionPeers(bench)
    args = ["-i", "-c", 10, "-n", 2000] if bench.quick else ["-i", "-c", 100, "-n", 20000]
    sides = {"ours": [], "absent": [], "calls_pg": [], "calls_xray": []}
    for _ in range(bench.rounds):
        sides["ours"].append(idle_rounds(bench.record([bench.program("calls"), *args], "-e", "none:none")[0]))
        sides["absent"].append(idle_rounds(peers.plain_run("calls", args)))
        for program in ("calls_pg", "calls_xray"):
            if peers.program(program):
                sides[program].append(idle_rounds(peers.plain_run(program, args)))
    rows = []
    for kind, work in WORKLOADS.items():
        costs = {side: median(one[kind][0] for one in rounds) if rounds else None for side, rounds in sides.items()}
        unseen = max(one[kind][1] for one in sides["ours"])
        xray = NOT_HERE if costs["calls_xray"] is None else f"{costs['calls_xray']:+.3f} ns"
        rows += [
            Row(f"idle_call_{work}", f"idle: call of a function with slots ({work})", f"{costs['ours']:+.3f} ns",
                f"XRay's sleds {xray}", target=f"below what is measurable, {unseen:.3f} ns",
                reached=costs["ours"] <= unseen,
                values={"ns": costs["ours"], "measurable_ns": unseen, "xray_ns": costs["calls_xray"]}),
            Row(f"absent_call_{work}", f"the same where libhodo is absent ({work})", f"{costs['absent']:+.3f} ns",
                f"-pg for uftrace {costs['calls_pg']:+.3f} ns",
                values={"ns": costs["absent"], "pg_ns": costs["calls_pg"]}),
        ]
    return rows


def switch(bench):
    peers, ours, peer = FunctionPeers(bench), [], []
    for _ in range(bench.rounds):
        ours.append(rounds_of(peers.plain_run("functions", ["-r", 3])))
        if peers.program("functions_xray"):
            peer.append(rounds_of(peers.plain_run("functions_xray", ["-r", 3])))
    ms = median(rounds[0]["on"] for rounds in ours)
    peer_ms = median(rounds[0]["on"] for rounds in peer) if peer else None
    return [Row("functions_on", f"switch on {FUNCTIONS:,} functions of a running process", f"{ms:.1f} ms",
                f"__xray_patch {peer_ms:.1f} ms" if peer else f"XRay {NOT_HERE}", target="<= 100 ms", reached=ms <= 100,
                values={"ms": ms, "again_ms": median(rounds[-1]["on"] for rounds in ours),
                        "off_ms": median(rounds[0]["off"] for rounds in ours), "xray_ms": peer_ms})]


def start_functions(bench):
    count = 10 if bench.quick else 100
    idle, traced = [], []
    for _ in range(bench.rounds):
        large = bench.program("large")
        variants = [f"plain:none:{large}", f"preload:preload:{large}", f"recorded:all:{large}"]
        idle.append(pairs(bench.record([bench.program("spawn"), count, *variants])[0]))
        traced.append(pairs(bench.record([bench.program("spawn"), count, *variants], "--functions")[0]))
    us = {"preload": median(r["preload"] for r in idle), "recorded": median(r["recorded"] for r in idle),
          "traced": median(r["recorded"] for r in traced), "plain": median(r["plain"] for r in idle)}
    return [Row("start_slots", "start-up: 2.4 MB of code with slots, preloaded", f"{us['preload'] / 1000:.3f} ms",
                "", target="about 2 ms",
                values={"plain_us": us["plain"], "preload_us": us["preload"], "recorded_us": us["recorded"]}),
            Row("start_traced", "start-up: the same, all 7,000 functions on", f"{us['traced'] / 1000:.3f} ms", "",
                values={"plain_us": us["plain"], "traced_us": us["traced"]})]


def call_bytes(bench):
    """Bytes on disk for a call."""
    peers, args = FunctionPeers(bench), call_args(bench, "f", PAUSE_US)
    output, stat, trace = bench.record([bench.program("calls"), *args], "--functions", "-m", RING_DISCARD, keep=True)
    ours = sum(event["bytes"] for event in stat["events"]) / (stat["recorded"] / 2)
    disk = stream_bytes(trace) / (stat["recorded"] / 2)
    shutil.rmtree(trace)
    number = pairs(output.splitlines()[-1])["f"]
    uftrace, xray = peers.uftrace(args), peers.xray(args, "xray-fdr")
    sizes = {"uftrace": uftrace[1] / number if uftrace else None, "xray": xray[1] / number if xray else None}
    rows = [Row(f"call_bytes_{peer}", what, f"{ours:.2f} ({disk:.2f} on disk)",
                f"{name} {sizes[peer]:.2f} on disk" if sizes[peer] else f"{name} {NOT_HERE}",
                disk / sizes[peer] if sizes[peer] else None,
                values={"bytes": ours, "disk_bytes": disk, "peer_disk_bytes": sizes[peer]})
            for peer, name, what in (("uftrace", "uftrace", "bytes a call, entry and exit"), ("xray", "XRay FDR", ""))]
    return rows


def read_calls(bench):
    """hodo graph and report beside uftrace's replay and report, on the same number of entries and exits."""
    peers = FunctionPeers(bench)
    args = ["-k", "f", "-c", 5 if bench.quick else 40, "-n", 20000, "-w", 0, "-p", 5 * PAUSE_US]
    _, stat, trace = bench.record([bench.program("calls"), *args], "--functions", "-m", RING_DISCARD, keep=True)
    commands = {"graph": [bench.hodo, "graph", trace], "report": [bench.hodo, "report", trace]}
    counts = {"graph": stat["recorded"], "report": stat["recorded"]}
    uftrace = peers.uftrace(args, keep=True)
    if uftrace:
        commands["replay"] = ["uftrace", "replay", "--no-pager", "-d", uftrace[3]]
        commands["uftrace_report"] = ["uftrace", "report", "--no-pager", "-d", uftrace[3]]
        counts["replay"] = counts["uftrace_report"] = uftrace[2]
    rates = {name: [] for name in commands}
    for _ in range(bench.rounds):
        for name, command in commands.items():
            rates[name].append(counts[name] / max(cpu_seconds(command), 1e-6))
    rates = {name: median(values) for name, values in rates.items()}
    shutil.rmtree(trace)
    rows = []
    for verb, peer, name in (("graph", "replay", "uftrace replay"), ("report", "uftrace_report", "uftrace report")):
        theirs = rates.get(peer)
        rows.append(Row(f"read_{verb}", f"reading: {verb}, entries and exits", f"{rates[verb] / 1e6:.2f} M/s",
                        f"{name} {theirs / 1e6:.2f} M/s" if theirs else f"{name} {NOT_HERE}",
                        rates[verb] / theirs if theirs else None, faster=True,
                        values={"events_per_s": rates[verb], "peer_events_per_s": theirs}))
    if uftrace:
        shutil.rmtree(uftrace[3].parent)
    return rows


GROUPS = {"calls": calls, "tracers": tracers, "slot_kinds": slot_kinds, "idle_functions": idle_functions,
          "switch": switch, "start_functions": start_functions, "call_bytes": call_bytes, "read_calls": read_calls}
