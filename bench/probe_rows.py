# SPDX-License-Identifier: MIT
"""probe_rows - the measurements of probes in unprepared programs, one group of table rows each."""
import shutil

from function_rows import Runs, against, against_clock
from peers import BenchError, clock_seconds, cpu_seconds
from probe_peers import ProbePeers
from rows import RING_DISCARD, RING_OVERWRITE, median, pairs
from table import Row

PAUSE_US = 600  # the recorder follows
SLOW_CHUNKS = 20
# How it is asked for, which turns of bench/plain have it, events a turn, how many clocks it may take.
SIDES = {"planned": (["--functions=bench_taken"], "p", 2, "function entry + exit"),
         "probe": (["-e", "probe:bench_taken($arg1, $arg2)"], "p", 1, "probe with two arguments"),
         "sdt": (["-e", "sdt:bench:point"], "s", 1, "USDT with two arguments")}


def plain_args(bench, kinds, pause_us=0, slow=1):
    chunks, turns, warmup = (3, 1000, 1) if bench.quick else (SLOW_CHUNKS if slow > 1 else 250, 8000 // slow, 20)
    return ["-k", kinds, "-c", chunks, "-n", turns, "-w", warmup, "-p", pause_us]


def run_hodo(bench, runs, side, args, *options):
    asked, kind, events, _ = SIDES[side.split("_")[0]]
    output, stat, _ = bench.record([bench.program("plain"), *args], *asked, *options)
    wanted = events * pairs(output.splitlines()[-1])[kind]
    if stat["recorded"] + stat["discarded"] + stat["overwritten"] != wanted:
        raise BenchError(f"hodo accounts for {stat['recorded']} + {stat['discarded']} + {stat['overwritten']} "
                         f"events of {side}, not for {wanted:.0f}")
    runs.add(side, output, stat["discarded"] / wanted)


def one_round(bench, peers, runs):
    for side, (_, kind, _, _) in SIDES.items():
        run_hodo(bench, runs, side, plain_args(bench, "c" + kind), "--overwrite", "-m", RING_OVERWRITE)
        run_hodo(bench, runs, f"{side}_drained", plain_args(bench, "c" + kind, PAUSE_US), "-m", RING_DISCARD)
    slow = plain_args(bench, "p", slow=8)
    for side, kinds in (("planned", "pr"), ("probe", "p")):
        runs.add(f"{side}_perf", peers.perf(slow, kinds))
        runs.add(f"{side}_counted", peers.bpftrace(slow, kinds, False))
        runs.add(f"{side}_bpftrace", peers.bpftrace(slow, kinds, True))
    static = plain_args(bench, "s", slow=8)
    runs.add("sdt_perf", peers.perf(static, "s"))
    runs.add("sdt_counted", peers.bpftrace(static, "s", False))
    runs.add("sdt_bpftrace", peers.bpftrace(static, "s", True))
    runs.add("planned_uftrace", peers.uftrace(plain_args(bench, "p")))
    runs.add("probe_gdb", peers.gdb(["-k", "p", "-c", 3, "-n", 100, "-w", 0]))


def probes(bench):
    """What a probe costs, the whole time of a turn with it, beside the clock and what others give."""
    peers, runs = ProbePeers(bench), Runs()
    for _ in range(bench.rounds):
        one_round(bench, peers, runs)
    rows = []
    for side, (_, kind, events, name) in SIDES.items():
        clock = "two clocks" if events == 2 else "clock"
        for way, where in (("", "overwrite"), ("_drained", "drained")):
            rows.append(against_clocks(f"probe_{side}{way}", f"{name}, nothing prepared, {where}", runs,
                                       f"{side}{way}", kind, events, clock))
        peer_names = {"perf": "perf record, uprobes", "counted": "bpftrace, counted", "bpftrace": "bpftrace, recorded",
                      "uftrace": "uftrace -P", "gdb": "gdb's breakpoint"}
        if peers.uftrace_refuses:
            peer_names["uftrace"] += ", which cannot patch this function,"
        for peer, text in peer_names.items():
            if f"{side}_{peer}" in runs.ns:
                rows.append(against(f"probe_{side}_{peer}", "", runs, side, f"{side}_{peer}", text, kind))
    return rows


def against_clocks(ident, what, runs, side, kind, events, name):
    """The clock loop's turn is one clock here."""
    for one in runs.ns[side]:
        one["clocks"] = one["c"] * events
    return against_clock(ident, what, runs, side, kind, "clocks", name, 1.3)




def set_probes(bench):
    """A program's start with all functions of libc, about 10,000 probes: planning, the process's own part, and what
    recording takes without them. libc is decoded before, once a recording."""
    count, us = 3 if bench.quick else 40, []
    true = bench.program("true")
    for _ in range(bench.rounds):
        output, _, _ = bench.record([bench.program("spawn"), count, f"plain:none:{true}", f"recorded:all:{true}"],
                                    "--functions=libc.so.*!*")
        us.append(pairs(output)["recorded"])
    ms = median(us) / 1000
    return [Row("probes_set", "start with all functions of libc: 10,000 probes", f"{ms:.0f} ms", "", target="<= 100 ms",
                reached=ms <= 100, values={"ms": ms})]


def processes(bench):
    """A script that starts a short program many times: plain, recorded, with a probe in libc, and under strace. The
    processor time is of all processes; what a probe adds to it is the recorder's and the processes'."""
    count = 20 if bench.quick else 200
    script = f"i=0; while [ $i -lt {count} ]; do {bench.program('true')}; i=$((i+1)); done"
    record = [bench.hodo, "record", "-q", "-o", bench.work / "processes"]
    sides = {"plain": [], "recorded": record, "probe": [*record, "-e", "probe:libc.so.6!write"]}
    if shutil.which("strace"):
        sides["strace"] = ["strace", "-f", "-o", "/dev/null"]
    ms, cpu = {side: [] for side in sides}, {side: [] for side in sides}
    for _ in range(bench.rounds):
        for side, before in sides.items():
            command = [*before, "sh", "-c", script]
            ms[side].append(clock_seconds(command) * 1000)
            cpu[side].append(cpu_seconds(command) * 1000)
    values = {f"{side}_ms": median(ms[side]) for side in sides}
    values["cpu_ms"] = (median(cpu["probe"]) - median(cpu["recorded"])) / count
    peer = f"strace -f {values['strace_ms']:.0f} ms" if "strace" in sides else "strace is not installed"
    return [
        Row("processes", f"a script of {count} processes: plain {values['plain_ms']:.0f} ms, recorded "
            f"{values['recorded_ms']:.0f} ms, with a probe in each", f"{values['probe_ms']:.0f} ms", peer, values=values),
        Row("process_cpu", "processor time that the probe adds to a process", f"{values['cpu_ms']:.2f} ms", "",
            values={"cpu_ms": values["cpu_ms"]}),
    ]


GROUPS = {"probes": probes, "probes_set": set_probes, "processes": processes}
