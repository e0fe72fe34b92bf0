#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py DIR: every value of every call that the program made, compared with the program's own and with ftrace's."""
import collections
import os
import pathlib
import re
import subprocess
import sys

import ctf

DIR = pathlib.Path(sys.argv[1])
failures = 0


def say(good, name, why=""):
    global failures
    failures += not good
    print(f"ok {name}" if good else f"not ok {name} {why}")


def equal(name, value, expected):
    say(value == expected, name, f"{value}, not {expected}")


def number(kind, data):
    return int.from_bytes(data, "little", signed=kind.startswith("i"))


def events(recording, thread):
    """{event: [{field: value}, ...]} of the thread, in order; and the number of events of all threads."""
    trace = ctf.Trace(recording / "kernel")
    found = []
    for stream in trace.streams():
        for time, tid, event, values in trace.read(stream):
            if tid == thread:
                fields = {name: ctf.text(value) if kind == "str" else number(kind, value)
                          for (name, kind), value in zip(event.fields, values)}
                found.append((time, event.name, fields))
    out = collections.defaultdict(list)
    for _, name, fields in sorted(found, key=lambda one: one[0]):
        out[name].append(fields)
    return out


def types():
    trace = ctf.Trace(DIR / "values" / "kernel")
    fields = {event.name: dict(event.fields) for event in trace.events.values()}
    equal("types_read", fields["kprobe:vfs_read"], {"file": "ptr", "count": "u64", "position": "i64", "name": "str",
                                                    "inode": "u64", "wild": "str"})
    equal("types_return", fields["kprobe:vfs_read%return"], {"count": "u64", "retval": "i64", "duration": "u64"})
    equal("types_usual_return", fields["kprobe:hrtimer_nanosleep%return"], {"retval": "i64", "duration": "u64"})
    equal("types_usual", fields["kprobe:vfs_write"], {"file": "ptr", "buf": "str", "count": "u64", "pos": "ptr"})
    task = fields["kprobe:wake_up_new_task"]
    say(task.pop("second") in ("i8", "u8"), "types_char")  # in newer kernels char is unsigned
    equal("types_bits", task, {"pid": "i32", "parent": "i32", "comm": "str", "sched_reset_on_fork": "u32",
                              "has_child_subreaper": "u32"})


def reads(found, lines, offset):
    entries = found["kprobe:vfs_read"]
    first = next(i for i, one in enumerate(entries) if one["name"] == b"kp_file")
    entries = entries[first:first + len(lines)]
    returns = found["kprobe:vfs_read%return"][first:first + len(lines)]
    inside = found[f"kprobe:vfs_read+{offset:#x}"][first:first + len(lines)]
    inode = int((DIR / "inode").read_text())
    for i, (_, name, count, position, ret) in enumerate(lines):
        named = name == "kp_file"
        want = {"count": int(count), "position": int(position), "name": b"kp_file" if named else b""}
        have = {key: entries[i][key] for key in want}
        if have != want or (named and entries[i]["inode"] != inode) or entries[i]["wild"] != b"(fault)":
            return say(False, "reads", f"{i}: {entries[i]}, not {want}, inode {inode}")
        if (returns[i]["count"], returns[i]["retval"]) != (int(count), int(ret)) or returns[i]["duration"] == 0:
            return say(False, "reads", f"{i}: {returns[i]}, not {count}, {ret}")
        if inside[i]["di"] != entries[i]["file"] or inside[i]["word"] < 1 << 63:
            return say(False, "reads", f"{i}: {inside[i]}, not {entries[i]}")
    say(True, "reads")
    return entries, returns


def ftrace(thread, entries, returns):
    theirs_in, theirs_out = [], []
    for line in (DIR / "ftrace").read_text().splitlines():
        if f"-{thread} " not in line:
            continue
        if hit := re.search(r" in: .* file=(0x[0-9a-f]+) count=(\d+)", line):
            theirs_in.append((int(hit[1], 16), int(hit[2])))
        if hit := re.search(r" out: .* ret=(-?\d+)", line):
            theirs_out.append(int(hit[1]))
    ours = [(one["file"], one["count"]) for one in entries]
    equal("as_ftrace", theirs_in[-len(ours):], ours)
    equal("return_as_ftrace", theirs_out[-len(ours):], [one["retval"] for one in returns])


def main():
    words = [line.split(" ", 1) for line in (DIR / "expected").read_text().splitlines()]
    lines = collections.defaultdict(list)
    for word, rest in words:
        lines[word].append((word, *rest.split(" ")) if word != "open" else (word, rest))
    thread = int(lines["thread"][0][1])
    found = events(DIR / "values", thread)
    types()
    both = reads(found, lines["read"], int((DIR / "offset").read_text()))
    if both:
        ftrace(thread, *both)

    opened = [one for one in found["kprobe:do_sys_openat2"]
              if one["filename"].startswith((b"/tmp/kp/", b"/tmp/kpx", b"("))]
    equal("opens", [one["filename"].decode() for one in opened], [path[:1023] for _, path in lines["open"]])
    equal("open_flags", [one["flags"] & 0o2000003 for one in opened[:2]], [2, 0o2000000])
    equal("open_dfd", {one["dfd"] for one in opened}, {-100})

    forks = [(one["pid"], one["parent"], one["sched_reset_on_fork"], one["has_child_subreaper"])
             for one in found["kprobe:wake_up_new_task"] if one["comm"] == b"kpwork"]
    equal("forks", forks, [tuple(map(int, line[1:])) for line in lines["fork"]])
    equal("element", {one["second"] for one in found["kprobe:wake_up_new_task"] if one["comm"] == b"kpwork"},
          {ord("p")})

    slept = [one["duration"] for one in found["kprobe:hrtimer_nanosleep%return"]][-3:]
    say(len(slept) == 3 and all(have >= int(line[1]) for have, line in zip(slept, lines["sleep"])), "durations",
        f"{slept}, {lines['sleep']}")
    printed = (DIR / "printed").read_text()
    say('name = "kp_file"' in printed or "kp_file" in printed, "printed", printed[:500])
    say("missed" not in (DIR / "values.said").read_text(), "none_missed", (DIR / "values.said").read_text())
    for folder in ("values", "filter", "module"):
        done = subprocess.run([sys.executable, "-B", os.environ["ROOT"] + "/tests/lib/compare_bt2.py",
                               os.environ["HODO"], DIR / folder], capture_output=True, text=True, check=False)
        say(done.returncode == 0, f"babeltrace2.{folder}", (done.stdout + done.stderr)[-500:])
    return 1 if failures else 0


sys.exit(main())
