#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_rows - bench/run --quick must measure every row. usage: check_rows.py BENCH_RUN BUILD_DIR

No time is judged: only that each side of each row was really measured, and
what does not depend on time: the code of an idle site, and the bytes of an event. A function tracer
to compare with that is not installed leaves its rows empty, and the benchmark must say that it is missing.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

POSITIVE = {
    "idle_code": ["instructions", "bytes", "lttng_instructions", "lttng_bytes"],
    "idle_time": ["measurable_ns"],
    "event_num_overwrite_clock": ["ns", "clock_ns", "lttng_ns"],
    "event_num_overwrite_lttng": ["ns", "lttng_ns"],
    "event_str_overwrite_clock": ["ns", "clock_ns", "lttng_ns"],
    "event_str_overwrite_lttng": ["ns", "lttng_ns"],
    "event_num_discard_clock": ["ns", "clock_ns", "lttng_ns"],
    "event_num_discard_lttng": ["ns", "lttng_ns"],
    "event_str_discard_clock": ["ns", "clock_ns", "lttng_ns"],
    "event_str_discard_lttng": ["ns", "lttng_ns"],
    "two_threads": ["ns", "ratio", "clock_ratio", "lttng_ratio"],
    "enable": ["ms", "again_ms", "membarrier_us"],
    "start_preload": ["plain_us"],
    "start_recorded": ["plain_us"],
    "attach_time": ["median_ns"],
    "attach_pause": ["p99_ns", "median_ns", "nobody_p99_ns"],
    "attach_probes_pause": ["p99_ns", "median_ns"],
    "probes_set": ["ms"],
    "processes": ["plain_ms", "recorded_ms", "probe_ms"],
    "process_cpu": [],
    "snapshot_paused": ["bytes_per_s", "copy_bytes_per_s"],
    "snapshot_busy": ["bytes_per_s", "copy_bytes_per_s"],
    "bytes": ["bytes", "disk_bytes", "lttng_disk_bytes"],
    "read_stat": ["events_per_s", "peer_events_per_s"],
    "read_print": ["events_per_s", "peer_events_per_s"],
    "first_touch": ["ns", "small_ns"],
    "memory_quiet": ["bytes"],
    "memory_busy": ["bytes"],
    "functions_on": ["ms", "again_ms", "off_ms"],
    "start_slots": ["plain_us", "preload_us", "recorded_us"],
    "start_traced": ["plain_us", "traced_us"],
    "read_graph": ["events_per_s"],
    "read_report": ["events_per_s"],
    "call_bytes_uftrace": ["bytes", "disk_bytes"],
    "call_bytes_xray": ["bytes", "disk_bytes"],
}
POSITIVE |= {f"filter_{name}": ["ns", "recorded_ns", "clock_ns"]
             for name in ("number", "text", "variable", "absent", "taken", "limited", "trigger")}
POSITIVE |= {f"context_{name}": ["ns", "plain_ns"]
             for name in ("none", "pid", "ip", "comm", "scalars", "callstack", "stack_1k", "stack_8k")}
POSITIVE |= {f"event_{name}": ["ns", "clock_ns"] for name in ("texts", "long", "point")}
POSITIVE |= {f"span_{name}": ["ns", "clock_ns"] for name in ("plain", "below", "remote", "text")}
POSITIVE |= {f"export_{name}": ["events_per_s", "bytes", "peer_events_per_s"]
             for name in ("perfetto", "chrome", "csv", "jsonl")}
POSITIVE |= {f"export_calls_{name}": ["events_per_s", "bytes"]
             for name in ("perfetto", "chrome", "folded", "speedscope", "pprof", "callgrind", "firefox")}
POSITIVE |= {f"export_{name}": [] for name in ("parquet", "query", "query_parquet", "kv", "clickhouse",
                                               "clickhouse_events")}
POSITIVE |= {"view_write": [], "view_open": [], "idle_shapes": ["shapes", "sites", "instructions"], "idle_real": []}
# What measures a row's peer: a command, or a program that is built if clang has what it needs.
UFTRACE, XRAY = "uftrace", "bench/calls_xray"
PEERS = {"functions_on": ("xray_ms", XRAY), "read_graph": ("peer_events_per_s", UFTRACE),
         "read_report": ("peer_events_per_s", UFTRACE), "call_bytes_uftrace": ("peer_disk_bytes", UFTRACE),
         "call_bytes_xray": ("peer_disk_bytes", XRAY)}
# The page and the driver of chromium come from npm.
PEERS |= {"view_write": ("events_per_s", "src/export/view/node_modules"),
          "view_open": ("ms", "tests/world/browser/node_modules" if shutil.which("chromium") else "chromium")}
# DuckDB may be missing, too.
PEERS |= {f"export_{name}": ("events_per_s", "src/duck/libduckdb.so")
          for name in ("parquet", "query", "query_parquet", "kv")}
PEERS |= {f"export_{name}": ("events_per_s", "clickhouse-server") for name in ("clickhouse", "clickhouse_events")}
# Peers must be installed, and uprobes must be permitted; a row says so if its peer is missing.
POSITIVE |= {f"probe_{side}{way}": ["ns", "clock_ns"] for side in ("planned", "probe", "sdt")
             for way in ("", "_drained")}
POSITIVE |= {f"probe_{side}_{peer}": ["ns"] for side in ("planned", "probe", "sdt")
             for peer in ("perf", "counted", "bpftrace")}
POSITIVE |= {"probe_planned_uftrace": ["ns"], "probe_probe_gdb": ["ns"]}
for loops in (0, 3):
    POSITIVE |= {f"loss_{rate}m_busy{loops}{wait}": ["slower", "peer_slower"] for rate in (1, 5, 20, 50)
                 for wait in ("", "_wait")}
    for row in (f"loss_calls_busy{loops}", f"loss_calls_busy{loops}_drop"):
        POSITIVE[row] = ["slower"]
        PEERS[row] = ("peer_slower", UFTRACE)
for work in ("fib", "loop"):
    POSITIVE |= {f"call_{work}_{side}": ["ns", "clock_ns"] for side in ("ring", "drained", "tmpfs")}
    POSITIVE |= {f"call_{work}_{peer}": ["ns", "peer_ns"] for peer in ("stamp", "gprof", "lttng")}
    POSITIVE |= {f"call_{work}_{peer}": ["ns"] for peer in ("fdr", "basic", "uftrace", "uftrace_default",
                                                            "uftrace_instrument", "flood")}
    POSITIVE |= {f"tracer_{name}_{work}": ["ns"] for name in ("graph", "graph_limit", "latency")}
    POSITIVE |= {f"tracer_profile_{work}": ["ns", "peer_ns"], f"tracer_stack_{work}": ["ns", "clock_ns"]}
    POSITIVE |= {f"idle_call_{work}": ["measurable_ns"], f"absent_call_{work}": ["ns", "pg_ns"]}
    POSITIVE |= {f"kind_{kind}_{work}": ["ns"] for kind in ("instrument", "entry", "returns")}
    POSITIVE[f"kind_xray_{work}"] = []
    POSITIVE[f"tracer_own_{work}"] = ["ns"]
    PEERS[f"tracer_own_{work}"] = ("peer_ns", XRAY)
    PEERS[f"kind_xray_{work}"] = ("ns", XRAY)
    PEERS |= {f"call_{work}_{peer}": ("peer_ns", XRAY) for peer in ("fdr", "basic")}
    PEERS |= {f"call_{work}_{peer}": ("peer_ns", UFTRACE) for peer in ("uftrace", "uftrace_default",
                                                                       "uftrace_instrument", "flood")}
    PEERS |= {f"tracer_{name}_{work}": ("peer_ns", UFTRACE) for name in ("graph", "graph_limit", "latency")}


def run(*args):
    return subprocess.run([sys.executable, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def main():
    bench, build = sys.argv[1:]
    done = run(bench, "--quick", "--json", "--build", build)
    if done.returncode != 0:
        sys.exit(f"bench/run: exit status {done.returncode}\n{done.stderr}")
    rows = {row["id"]: row for row in json.loads(done.stdout)["rows"]}
    problems = [f"row {name} is missing" for name in POSITIVE if name not in rows]
    problems += [f"row {name} is not known to this test" for name in rows if name not in POSITIVE]
    if len(os.sched_getaffinity(0)) < 2:
        del POSITIVE["two_threads"]
    for name, (key, by) in PEERS.items():
        if shutil.which(by) or Path(build, by).exists():
            POSITIVE[name] = POSITIVE[name] + [key]
        elif "not here" not in str(rows.get(name)):
            problems.append(f"row {name} does not say that its peer is missing")
    real = rows.get("idle_real", {})
    if not real.get("values") and "not here" not in str(real):
        problems.append(f"row idle_real says nothing: {real}")
    for name, keys in POSITIVE.items():
        values = rows.get(name, {}).get("values", {})
        problems += [f"row {name}: {key} is {values.get(key)}" for key in keys if not (values.get(key) or 0) > 0]
    for name in ("idle_code", "bytes"):
        if rows.get(name, {}).get("reached") is not True:
            problems.append(f"row {name} misses its target: {rows.get(name)}")

    text = run(bench, "--quick", "--row", "idle", "--build", build)
    if text.returncode != 0 or "idle event: at the site" not in text.stdout:
        problems.append(f"the text table is wrong: {text.returncode}\n{text.stdout}\n{text.stderr}")
    wrong = run(bench, "--row", "nothing")
    if wrong.returncode != 2:
        problems.append(f"an unknown row gives exit status {wrong.returncode}, not 2")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
