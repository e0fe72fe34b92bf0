#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py DIR: entries and exits of known functions, exactly as many as were called and as ftrace saw; which exit
belongs to which entry; names; babeltrace2 reads the same."""
import collections
import os
import pathlib
import re
import subprocess
import sys

import ctf

DIR = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(os.environ["ROOT"])
failures = 0


def say(good, name, why=""):
    global failures
    failures += not good
    print(f"ok {name}" if good else f"not ok {name} {why}")


def equal(name, value, expected):
    say(value == expected, name, f"{value}, not {expected}")


def symbols(recording):
    """(start, name) of each function in the recording's symbols, ascending."""
    out = []
    for path in (recording / ".symbols").iterdir():
        for line in path.read_text().splitlines():
            words = line.split(" ")
            if words[0] == "s":
                out.append((int(words[1], 16), words[5]))
    return out


def short(name):
    """__x64_sys_getppid, __do_sys_getppid and __ia32_sys_getppid are one function."""
    return re.sub(r"^__\w+_sys_", "", name)


class Names:
    def __init__(self, recording):
        self.table = symbols(recording)
        self.found = {}

    def __call__(self, address):
        if address not in self.found:
            low, high = 0, len(self.table)
            while low < high:
                middle = (low + high) // 2
                if self.table[middle][0] <= address:
                    low = middle + 1
                else:
                    high = middle
            self.found[address] = self.table[low - 1][1] if low else "?"
        return short(self.found[address])


def events(recording):
    """(time, event name, function, frame, tid) of all streams, in order of time."""
    names = Names(recording)
    trace = ctf.Trace(recording / "kernel")
    out = []
    for stream in trace.streams():
        for number, (time, tid, event, values) in enumerate(trace.read(stream)):
            address, frame = (int.from_bytes(value, "little") for value in values)
            out.append((time, stream, number, event.name, names(address), frame, tid))
    out.sort()
    return [(time, name, function, frame, tid) for time, _, _, name, function, frame, tid in out]


def check_pairs(name, found):
    """Each exit has the frame of the latest open entry of its thread, and no two open calls of a thread have
    the same frame. Exits of calls that began before the recording are correct."""
    open_calls = collections.defaultdict(list)
    bad = twice = 0
    for _, event, function, frame, tid in found:
        stack = open_calls[tid]
        if event == "func:entry":
            twice += any(frame == other for _, other in stack)
            stack.append((function, frame))
        elif event == "func:exit" and stack:
            top = stack.pop()
            bad += top != (function, frame)
    say(bad == 0, name, f"{bad} exits do not fit")
    say(twice == 0, name + "_frames_differ", f"{twice} alike")
    return sum(len(stack) for stack in open_calls.values())


def count(found, event, function, tid=None):
    return sum(1 for _, name, of, _, thread in found if (name, of) == (event, function) and tid in (None, thread))


def counted():
    tid, n = map(int, (DIR / "calls").read_text().split())
    found = events(DIR / "counted")
    theirs = collections.Counter()
    for line in (DIR / "ftrace").read_text().splitlines():
        hit = re.search(rf"-{tid}\s+\[\d+\].*: (\w+) <-", line)
        if hit:
            theirs[short(hit[1])] += 1
    equal("getppid_entries", count(found, "func:entry", "getppid", tid), n)
    equal("getppid_exits", count(found, "func:exit", "getppid", tid), n)
    say(theirs["vfs_read"] >= n, "ftrace_has_seen", f"{theirs}")
    equal("vfs_read_as_ftrace", count(found, "func:entry", "vfs_read", tid), theirs["vfs_read"])
    equal("getppid_as_ftrace", theirs["getppid"], n)
    equal("vfs_read_exits", count(found, "func:exit", "vfs_read", tid), theirs["vfs_read"])
    check_pairs("pairs", [one for one in found if one[4] == tid])


def module():
    found = events(DIR / "module")
    for function, times in (("top", 1), ("leaf", 4), ("deep", 5)):
        for event in ("func:entry", "func:exit"):
            equal(f"module_{function}_{event[5:]}", count(found, event, f"fcalls_{function}"), 50 * times)
    equal("module_left_out", sum("left_out" in function for _, _, function, _, _ in found), 0)
    equal("module_all_ended", check_pairs("module_pairs", found), 0)
    text = (DIR / "module.graph").read_text()
    say(re.search(r"fcalls_top\b(.|\n)*fcalls_deep", text) is not None, "module_graph", text[:500])


def late():
    found = events(DIR / "late")
    kinds = {name for _, name, _, _, _ in found}
    entry = "func:entry" if "func:entry" in kinds else "func:reached"
    equal("late_module", count(found, entry, "flate_step"), 7)




def babeltrace(name):
    run = subprocess.run(["babeltrace2", "-c", "sink.utils.counter", DIR / name], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    counts = re.findall(r"^\s*(\d+) Event messages", run.stdout, re.M)
    trace = ctf.Trace(DIR / name / "kernel")
    ours = sum(1 for stream in trace.streams() for _ in trace.records(stream)) # babeltrace2 counts anchors as events
    say(run.returncode == 0 and counts[-1:] == [str(ours)], f"babeltrace_{name}",
        f"{ours}: {run.stdout[-300:]}")


counted()
module()
late()
for recording in ("counted", "module", "all") if (DIR / "all").exists() else ("counted", "module"):
    babeltrace(recording)
sys.exit(failures != 0)
