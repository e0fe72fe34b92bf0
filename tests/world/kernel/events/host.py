#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py DIR - the records of all tracepoints at once: each ends where its fields end, and has possible values.
Prints the build's list of the events that hodo.ko does not have."""
import collections
import os
import pathlib
import subprocess
import sys

import ctf

# At least one of each; and a field of it with a text.
EXPECTED = {
    "sched:sched_switch": "prev_comm", "sched:sched_process_exec": "filename", "irq:irq_handler_entry": "name",
    "timer:timer_start": None, "kmem:kmalloc": None, "block:block_rq_issue": None, "net:net_dev_queue": "name",
    "jbd2:jbd2_start_commit": None, "jbd2:jbd2_handle_start": None, "raw_syscalls:sys_enter": None,
    "workqueue:workqueue_execute_start": None, "writeback:writeback_dirty_inode": None}
failures = 0


def check(name, fine, why=""):
    global failures
    failures += not fine
    print(f"{'ok' if fine else 'not ok'} {name}{'' if fine else ': ' + str(why)}", flush=True)


def main():
    folder = pathlib.Path(sys.argv[1])
    traces = [ctf.Trace(path.parent) for path in sorted((folder / "hodo.data").glob("*/metadata"))]
    trace = next(t for t in traces if t.folder.name == "kernel")
    counts, bad = collections.Counter(), []
    texts = collections.defaultdict(collections.Counter)
    for stream in trace.streams():
        for _, _, event, values in trace.read(stream):
            counts[event.name] += 1
            for (field, kind), value in zip(event.fields, values):
                if kind == "str":
                    texts[event.name, field][ctf.text(value)] += 1
                elif kind == "bool" and value[0] > 1:
                    bad.append(f"{event.name}.{field} is {value[0]}")
    print(f"# {sum(counts.values())} records of {len(counts)} events")
    check("kinds", len(counts) >= 60, sorted(counts))
    check("bools", not bad, bad[:5])
    for name, field in EXPECTED.items():
        check(f"has {name}", counts[name] > 0, sorted(counts))
        if field:
            seen = texts[name, field]
            check(f"text {name}", seen and all(t.isprintable() for t in map(bytes.decode, seen)), list(seen)[:5])
    exec_names = set(texts["sched:sched_process_exec", "filename"])
    check("exec", any(n.startswith(b"/") for n in exec_names), exec_names)
    done = subprocess.run(["babeltrace2", "--component=sink.utils.dummy", str(trace.folder)], capture_output=True)
    check("babeltrace2", done.returncode == 0, done.stderr[-500:])
    skipped = pathlib.Path(os.environ["KMOD"]) / "events/events.skipped"
    for line in skipped.read_text().splitlines():
        print(f"# {line[:200]}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
