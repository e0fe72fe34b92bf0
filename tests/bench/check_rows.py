#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_rows - bench/run --quick must measure every row. usage: check_rows.py BENCH_RUN BUILD_DIR

No time is judged: only that each side of each row was really measured, and
what does not depend on time: the code of an idle site and the bytes an event.
"""
import json
import os
import subprocess
import sys

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
    "bytes": ["bytes", "disk_bytes", "lttng_disk_bytes"],
    "read_stat": ["events_per_s", "peer_events_per_s"],
    "read_print": ["events_per_s", "peer_events_per_s"],
}


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
    for name, keys in POSITIVE.items():
        values = rows.get(name, {}).get("values", {})
        problems += [f"row {name}: {key} is {values.get(key)}" for key in keys if not values.get(key, 0) > 0]
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
