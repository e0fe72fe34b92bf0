#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py DIR - hodo has every event that ftrace has recorded, and vice versa, with the same fields.

It compares binary values: those in ftrace's ring buffer, as events/*/*/format describes them, with those in hodo's
streams. One event calls two probes on one CPU, ftrace's first; an interrupt between them may make events
itself, so that neighbours may change places. The sequences are paired by kind of event and CPU:
each event of ftrace with the first of hodo's NEAR next ones whose fields agree."""
import collections
import itertools
import os
import pathlib
import re
import sys

import ctf
import ftrace

NEAR = 64
# Each probe reads these anew, and they may have changed meanwhile, by this much. "now" are jiffies: a busy host may
# make a guest wait between the two probes.
JIFFIES = 5000
MOVING = {("timer:timer_start", "now"): JIFFIES, ("timer:timer_expire_entry", "now"): JIFFIES,
          ("kmem:rss_stat", "size"): 1 << 20}
# Paths by call, or by another call that a C library uses for it.
PATHS = {"openat open": b"/nowhere/at all", "renameat rename renameat2": b"/tmp/renamed", "unlink unlinkat":
         b"/tmp/renamed"}
# ftrace's system call events contain the number, hodo's have it as their name.
NUMBERS = {"__syscall_nr", "nr"}
# The least number of kinds of events that the workload causes in any kernel.
KINDS = {"sched": 12, "irq": 5, "timer": 12, "block": 9, "net": 6, "kmem": 7, "syscalls": 100}


def pairs_of_fields(theirs, ours):
    """(their field, our index, our type, how) of each field; and the names that only one of the two has."""
    left = {name: (index, kind) for index, (name, kind) in enumerate(ours.fields)}
    out, missing = [], []
    fields = theirs.fields
    if theirs.name.startswith("syscalls:"):
        fields = [field for field in fields if field.name not in NUMBERS or field.name in left]
        # The prototype names arguments here, the definition there: different names are paired by order.
        unknown = [field for field in fields if field.name not in left]
        rest = [name for name in left if name not in {field.name for field in fields}]
        aliases = dict(zip((field.name for field in unknown), rest))
    else:
        aliases = {}
    for field in fields:
        name = aliases.get(field.name, field.name)
        if name not in left:
            missing.append(field.name)
            continue
        index, kind = left.pop(name)
        if theirs.name.startswith("syscalls:"):
            how = "pointer" if kind == "str" else "register"
        elif kind == "str":
            how = "text"
        else:
            how = "bytes"
        out.append((field, index, kind, how))
    return out, missing, sorted(left)


def same(kind_name, how, field, theirs, ours):
    if how == "bytes" and theirs == ours:
        return True
    if how == "text":
        return ctf.text(theirs) == ctf.text(ours) or (ours == ctf.NULL_TEXT and ctf.text(theirs) == b"(null)")
    if how == "register":
        return theirs[:len(ours)] == ours
    if how == "pointer":
        return True  # hodo has the text, ftrace its address
    moving = MOVING.get((kind_name, field.name))
    if moving is not None:
        return abs(int.from_bytes(theirs, "little") - int.from_bytes(ours, "little")) <= moving
    if not field.array and len(theirs) != len(ours):
        return int.from_bytes(theirs, "little", signed=field.signed) == int.from_bytes(ours, "little",
                                                                                      signed=field.signed)
    return False


class Proof:
    def __init__(self, folder):
        self.folder = folder
        self.formats = ftrace.formats(folder / "formats")
        self.by_name = {event.name: event for event in self.formats.values()}
        traces = [ctf.Trace(path.parent) for path in sorted((folder / "hodo.data").glob("*/metadata"))]
        self.trace = next(trace for trace in traces if trace.folder.name == "kernel")
        self.failed = 0
        self.plans = {}
        self.times = collections.Counter()
        self.values = collections.Counter()  # compared values, by system
        self.events = collections.Counter()
        self.pointers = 0
        self.apart = 0
        # Events that a module cannot have, as the build found out: "PATH: class NAME: why".
        skipped = pathlib.Path(os.environ["KMOD"]) / "events" / "events.skipped"
        self.skipped = dict(re.findall(r": (?:class|event) (\w+): (.*)$", skipped.read_text(), re.M))

    def say(self, good, name, why=""):
        self.failed += not good
        print(f"ok {name}" if good else f"not ok {name} {why}")

    def losses(self):
        lost = self.trace.all("lost")
        self.say(not lost, "hodo.lost", str(lost))
        kind = self.trace.all("clock")[0]["kind"]
        self.say(kind == (self.folder / "clock").read_text().strip(), "hodo.clock", kind)

    def plan(self, name):
        if name not in self.plans:
            ours = {event.name: event for event in self.trace.events.values()}.get(name)
            if ours is None:
                self.plans[name] = None
            else:
                plan, missing, more = pairs_of_fields(self.by_name[name], ours)
                if missing or more:
                    self.say(False, f"fields.{name}", f"hodo has not {missing}, but {more}")
                self.plans[name] = plan
        return self.plans[name]

    def agree(self, name, theirs, ours):
        """Names of the fields that differ."""
        if theirs[1] != ours[1]:
            return ["thread"]
        return [field.name for field, index, _, how in self.plan(name)
                if not same(name, how, field, field.value(theirs[2]), ours[2][index])]

    def show(self, cpu, name, theirs, ours):
        fields = self.agree(name, theirs, ours)
        shown = [(field.name, field.value(theirs[2]).hex(), ours[2][index].hex())
                 for field, index, _, _ in self.plan(name) if field.name in fields]
        self.say(False, f"values.{name}", f"cpu {cpu}, {fields}, ftrace's and ours: {shown}")

    def count(self, name):
        system = name.split(":")[0]
        self.events[system] += 1
        self.times[name] += 1
        for _, _, _, how in self.plan(name):
            self.pointers += how == "pointer"
            self.values[system] += how != "pointer"

    def pair(self, cpu, name, theirs, ours, window):
        """Pairs two lists of (time, thread, values), both in order."""
        left, more = collections.deque(ours), 0
        missing = wrong = 0
        for event in theirs:
            within = window[0] <= event[0] <= window[1]
            # ftrace's probe was there before hodo's, and is called first; but the clock of NMIs, where it is not the
            # TSC, may step back a little when the kernel corrects it.
            while left and left[0][0] + self.slack < event[0]:
                more += window[0] <= left.popleft()[0] <= window[1]
            near = list(itertools.islice(left, NEAR))
            at = next((n for n, other in enumerate(near) if not self.agree(name, event, other)), None)
            if at is None and within:
                missing += not near
                wrong += bool(near)
                if near and wrong <= 3:
                    self.show(cpu, name, event, near[0])
            if at is None:
                continue
            self.apart = max(self.apart, left[at][0] - event[0])
            del left[at]
            self.count(name)
        more += sum(window[0] <= event[0] <= window[1] for event in left)
        if missing:
            self.say(False, f"missing.{name}", f"cpu {cpu}: {missing} that ftrace has")
        if more:
            self.say(False, f"more.{name}", f"cpu {cpu}: {more} that ftrace has not")

    def theirs(self, cpu):
        """Lists by event's name; and the window in which both tracers have everything."""
        lists, first, last = collections.defaultdict(list), None, 0
        for time, thread, event, record in ftrace.read((self.folder / f"ftrace{cpu}").read_bytes(), self.formats):
            first = time if first is None else first
            last = time
            if event is not None:
                lists[event.name].append((time, thread, record))
        return lists, first, last

    def texts(self):
        """The paths that ./work is known to use, of which ftrace has only the address."""
        seen = collections.defaultdict(set)
        for stream in self.trace.streams():
            for _, _, event, values in self.trace.read(stream):
                for (_, kind), value in zip(event.fields, values):
                    if kind == "str" and event.name.startswith("syscalls:"):
                        seen[event.name.removeprefix("syscalls:sys_enter_")].add(ctf.text(value))
        for call, wanted in PATHS.items():
            found = set().union(*(texts for name, texts in seen.items() if name in call.split()))
            self.say(wanted in found, f"text.{call.split()[0]}", f"no {wanted} in {sorted(found)[:10]}")

    def run(self):
        self.losses()
        cpus = sorted(int(path.name[6:]) for path in self.folder.glob("ftrace*"))
        theirs = {cpu: self.theirs(cpu) for cpu in cpus}
        # Recording begins and ends at slightly different times on each CPU; the last event of each may be cut off.
        window = (max(first for _, first, _ in theirs.values()), min(last for _, _, last in theirs.values()))
        frequency = int(self.trace.all("clock")[0]["freq"])
        self.slack = frequency // 10000
        window = (window[0] + frequency // 1000, window[1] - frequency // 1000)
        without, lacking = set(), set()
        for cpu in cpus:
            ours = collections.defaultdict(list)
            if f"cpu{cpu}" in self.trace.streams():
                for time, thread, event, values in self.trace.read(f"cpu{cpu}"):
                    ours[event.name].append((time, thread, values))
            for name in sorted({*theirs[cpu][0], *ours}):
                if name not in self.by_name:
                    without.add(name)
                elif self.plan(name) is None:
                    lacking.add(name)
                else:
                    self.pair(cpu, name, theirs[cpu][0].get(name, []), ours.get(name, []), window)
        self.texts()
        self.say("fallback" not in self.trace.streams(), "fallback", "events are in the stream of no CPU")
        for system in KINDS:
            known = sorted(name.split(":")[1] for name in self.by_name if name.startswith(system + ":"))
            rare = [name for name in known if f"{system}:{name}" not in self.times]
            kinds = len(known) - len(rare)
            self.say(kinds >= KINDS[system], f"proven.{system}", f"only {kinds} kinds happened")
            print(f"# {system}: {self.events[system]} events of {kinds} kinds, {self.values[system]} values agree")
            if system != "syscalls":
                print(f"# {system}: did not happen: {' '.join(rare)}")
        print(f"# texts whose address ftrace has: {self.pointers}; at most {self.apart} ticks between the two probes")
        for name in sorted(lacking):
            why = self.skipped.get(name.split(":")[1])
            print(f"# hodo does not have {name}: {why}")
            self.say(why is not None, f"left_out.{name}", "and the build does not say why")
        if without:
            print(f"# ftrace does not have: {' '.join(sorted(without))}")
        return 1 if self.failed else 0


if __name__ == "__main__":
    sys.exit(Proof(pathlib.Path(sys.argv[1])).run())
