#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py DIR: each event that was emitted in any context was read back whole, with its thread and in the order of
its context and ring, or is counted as lost."""
import collections
import json
import pathlib
import re
import subprocess
import sys

import ctf

DIR = pathlib.Path(sys.argv[1])
TEXT = b"0123456789abcdefghijklmnopqrstuvwxyz" * 2
CONTEXTS = ["process", "soft", "hard", "nmi"]
failures = 0


def say(good, name, why=""):
    global failures
    failures += not good
    print(f"ok {name}" if good else f"not ok {name} {why}")


def number(value):
    return int.from_bytes(value, "little")


def is_whole(context, n, text, check):
    length = (n * 7 + context) % len(TEXT)
    return text == TEXT[:length] and check == (n * 0x9e3779b97f4a7c15 + context) % (1 << 64)


def storm(name, share=1, complete=True):
    emitted = {}
    for line in (DIR / f"{name}.emitted").read_text().splitlines():
        cpu, context, count = line.split()
        emitted[int(cpu), CONTEXTS.index(context)] = int(count)
    stat = json.loads((DIR / f"{name}.stat").read_text())
    lost = stat["discarded"] + stat["overwritten"]
    trace = ctf.Trace(DIR / name / "kernel")
    seen = collections.defaultdict(set)
    torn = disorder = back = strange = total = nested = anchors = thread_wrong = 0
    for stream in trace.streams():
        latest, before = {}, 0
        for time, thread, event, values in trace.records(stream):
            if event is None:
                anchors += 1
                continue
            cpu, context, n = number(values[0]), number(values[1]), number(values[2])
            total += 1
            nested += stream == "fallback"
            torn += not is_whole(context, n, values[3], number(values[4]))
            thread_wrong += number(values[5]) != thread
            disorder += latest.get((cpu, context), -1) >= n
            latest[cpu, context] = n
            back += time < before
            before = time
            strange += stream != "fallback" and stream != f"cpu{cpu}"
            strange += n in seen[cpu, context] or n >= emitted.get((cpu, context), 0) or event.name != "irqs:step"
            seen[cpu, context].add(n)
    print(f"# {name}: {sum(emitted.values())} emitted, {total} read, {nested} of the fallback ring, {lost} lost; {anchors} anchors")
    say(torn == 0, f"{name}_whole", f"{torn} torn")
    say(disorder == 0, f"{name}_in_order", f"{disorder} are not")
    say(back == 0, f"{name}_time", f"{back} run back")
    say(thread_wrong == 0, f"{name}_thread", f"{thread_wrong} of another thread")
    say(anchors > 20, f"{name}_anchors", f"only {anchors} for {total} events")
    say(strange == 0, f"{name}_once_and_at_home", f"{strange} are not")
    for index, context in enumerate(CONTEXTS):
        say(sum(count for (_, of), count in emitted.items() if of == index) > 20, f"{name}_{context}", f"{emitted}")
    if share == 1:
        say(total + lost == sum(emitted.values()), f"{name}_sum", f"{total} + {lost} of {emitted}")
    else:
        wanted = sum((count + share - 1 - 1) // share for count in emitted.values())
        say(total <= wanted <= total + lost, f"{name}_sum", f"{total} + {lost} of {wanted}")
    if complete:
        say(nested > 0, f"{name}_nested", "nothing in the fallback ring")
    run = subprocess.run(["babeltrace2", "-c", "sink.utils.counter", DIR / name], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    counts = re.findall(r"^\s*(\d+) Event messages", run.stdout, re.M)
    say(run.returncode == 0 and counts[-1:] == [str(total + anchors)], f"{name}_babeltrace", run.stdout[-300:])


def recursion():
    if not (DIR / "recursion").exists():
        return
    trace = ctf.Trace(DIR / "recursion" / "kernel")
    count = collections.Counter()
    for stream in trace.streams():
        for _, _, event, _ in trace.read(stream):
            count[event.name, stream == "fallback"] += 1
    lost = json.loads((DIR / "recursion.stat").read_text())["discarded"]
    dirty = count["writeback:writeback_mark_inode_dirty", False]
    inside = count["func:entry", True]
    print(f"# recursion: {dict(count)}, {lost} lost")
    say(dirty >= 400, "recursion_outer", str(count))
    say(inside + lost >= dirty and lost <= dirty, "recursion_inner", f"{count}, {lost} lost")


for case in ("large", "switches", "full"):
    storm(case, complete=case != "full")
storm("filtered", share=3)
storm("overwritten")
recursion()
sys.exit(failures != 0)
