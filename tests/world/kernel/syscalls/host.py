#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py DIR - the calls that the program reports are there, in both directions, with every argument as it was passed
and as ftrace has it; and every call has the fields that the kernel's own description gives it."""
import collections
import os
import pathlib
import re
import subprocess
import sys

import ctf
import ftrace

TEXT_MAX = 4095


class Call:
    """A call that was made: a line of the program's output."""

    def __init__(self, line):
        words = line.split()
        self.name = words[0]
        self.nr, self.ret = int(words[1]), int(words[2])
        self.registers = [int(word, 16) for word in words[3:9]]
        self.texts = [{"-": None, "null": ctf.NULL_TEXT, "unreadable": b""}.get(word, word) for word in words[9:15]]
        self.texts = [bytes.fromhex(text[1:]) if isinstance(text, str) else text for text in self.texts]


class Test:
    def __init__(self, folder):
        self.folder = folder
        self.failed = 0
        self.formats = ftrace.formats(folder / "formats")
        self.arguments = {event.name: [field for field in event.fields if field.name != "__syscall_nr"]
                          for event in self.formats.values()}
        self.trace = ctf.Trace(folder / "hodo.data" / "kernel")

    def say(self, good, name, why=""):
        self.failed += not good
        print(f"ok {name}" if good else f"not ok {name} {why}")

    def expected(self, file):
        lines = (self.folder / file).read_text().splitlines()
        return int(lines[0].split()[1]), [Call(line) for line in lines[1:]]

    # ------------------------------------------------------------- the types

    def types(self):
        """Compares the types of all calls, in the catalogue, with ftrace's formats."""
        ours = {event.name: event for event in self.trace.events.values() if event.name.startswith("syscalls:")}
        theirs = set(self.arguments)
        extra = {f"syscalls:sys_{way}_{kind}" for way in ("enter", "exit") for kind in ("compat", "unknown")}
        # Calls that the kernel was built without still have a number and a prototype.
        without = sorted(set(ours) - theirs - extra)
        self.say(theirs | extra <= set(ours) and len(without) < 20, "events", f"only ftrace: "
                 f"{sorted((theirs | extra) - set(ours))}; only hodo: {without}")
        bad, texts = [], 0
        for name in sorted(theirs & set(ours)):
            fields = dict(ours[name].fields)
            if set(fields) != {field.name for field in self.arguments[name]}:
                bad.append(f"{name} has {sorted(fields)}")
                continue
            fixed = [kind != "str" for _, kind in ours[name].fields]
            if fixed != sorted(fixed, reverse=True):
                bad.append(f"{name}: a text before a number")
            for field in self.arguments[name]:
                texts += fields[field.name] == "str"
                if not self.agrees(name, field.type, fields[field.name]):
                    bad.append(f"{name}: {field.type} {field.name} is {fields[field.name]}")
        self.say(not bad, "types", "; ".join(bad[:10]))
        print(f"# {len(theirs)} events, {texts} arguments are texts")
        self.say(texts >= 90, "texts", str(texts))

    SIGNED = {"int": 4, "long": 8, "loff_t": 8, "off_t": 8, "pid_t": 4, "clockid_t": 4, "key_t": 4, "timer_t": 4,
              "mqd_t": 4, "key_serial_t": 4, "rwf_t": 4, "__s32": 4}
    UNSIGNED = {"unsigned int": 4, "unsigned": 4, "unsigned long": 8, "size_t": 8, "umode_t": 2, "uid_t": 4,
                "gid_t": 4, "qid_t": 4, "u32": 4, "__u32": 4, "uint32_t": 4, "u64": 8, "__u64": 8, "aio_context_t": 8}

    def agrees(self, name, ctype, kind):
        ctype = re.sub(r"\bconst\b *", "", ctype).strip()
        if ctype.endswith("*"):
            return kind == "ptr" or (kind == "str" and ctype == "char *")
        if ctype in self.SIGNED and ctype not in ("rwf_t", "timer_t"):
            return kind == f"i{8 * self.SIGNED[ctype]}"
        if ctype in self.UNSIGNED:
            return kind == f"u{8 * self.UNSIGNED[ctype]}"
        if ctype in ("rwf_t", "timer_t"):
            return kind == "i32"
        if ctype.startswith("cap_user_"):
            return kind == "ptr"
        if ctype.startswith("enum "):
            return kind == "u32"
        print(f"# {name}: a type that is not known here: {ctype}")
        return False

    # ------------------------------------------------------------- the calls

    def merged(self, trace, thread):
        """hodo's events of the thread, in order of time."""
        events = [(time, event, values) for stream in trace.streams()
                  for time, tid, event, values in trace.read(stream) if tid == thread]
        return sorted(events, key=lambda event: event[0])

    def between(self, events, name):
        """The events from the first to the last one of that name."""
        at = [i for i, event in enumerate(events) if event[1].name == name]
        return events[at[0]:at[-1] + 1] if at else []

    def enter(self, call, event, values):
        """Returns the faults of an entry."""
        if call.name in ("compat", "unknown"):
            got = int.from_bytes(values[0], "little", signed=True)
            args = [int.from_bytes(values[1][i:i + 8], "little") for i in range(0, len(values[1]), 8)]
            return [] if (got, args) == (call.nr, call.registers) else [f"nr {got} {args}"]
        bad = []
        order = [field.name for field in self.arguments[event.name]]
        for (name, kind), value in zip(event.fields, values):
            i = order.index(name)
            want = call.texts[i] if kind == "str" else call.registers[i].to_bytes(8, "little")[:ctf.SIZES[kind]]
            if value != want:
                bad.append(f"{name}: {value[:60]} ({len(value)} bytes), not {want and want[:60]}")
        for i, text in enumerate(call.texts):
            if text is not None and (i >= len(order) or dict(event.fields)[order[i]] != "str"):
                bad.append(f"argument {i} is no text")
        return bad

    def exit(self, call, name, values):
        ret = int.from_bytes(values[-1], "little", signed=True)
        wrong = [] if ret == call.ret else [f"ret {ret}, not {call.ret}"]
        nr = -1 if call.name == "rt_sigreturn" else call.nr
        if name in ("unknown", "compat") and int.from_bytes(values[0], "little", signed=True) != nr:
            wrong.append(f"nr {values[0].hex()}")
        return wrong

    def calls(self, what, trace, expected):
        """All of hodo's events between the two getppid() must be the expected ones."""
        thread, made = self.expected(expected)
        ours = self.between(self.merged(trace, thread), "syscalls:sys_enter_getppid")
        want = []
        for call in made[:-1]:
            want.append((call, "enter", call.name))
            # When a signal's handler returns, the registers are those of the interrupted code: no number.
            want.append((call, "exit", "unknown" if call.name == "rt_sigreturn" else call.name))
        want.append((made[-1], "enter", "getppid"))
        names = [event.name for _, event, _ in ours], [f"syscalls:sys_{way}_{name}" for _, way, name in want]
        self.say(names[0] == names[1], f"{what}.order", f"{len(ours)} events, not {len(want)}; the first that differs: "
                 f"{next((pair for pair in zip(*names) if pair[0] != pair[1]), None)}")
        bad, checked = collections.Counter(), collections.Counter()
        for (_, event, values), (call, way, name) in zip(ours, want):
            if way == "enter":
                wrong = self.enter(call, event, values)
            else:
                wrong = self.exit(call, name, values)
            checked[call.name] += 1
            if wrong:
                bad[call.name] += 1
                if bad[call.name] <= 3:
                    print(f"# {event.name}: {wrong}")
        for name in sorted(checked):
            self.say(not bad[name], f"{what}.{name}", f"{bad[name]} of {checked[name]} differ")
        exec_ = [values for _, event, values in self.merged(trace, thread) if event.name == "syscalls:sys_enter_execve"]
        self.say(bool(exec_) and exec_[-1][-1] == b"/proc/self/exe", f"{what}.exec", str(exec_))
        return thread, ours

    def ftrace(self, thread, ours):
        """ftrace has the same sequence, and the same registers; it knows neither 32-bit calls nor unknown ones."""
        theirs = []
        for file in sorted(self.folder.glob("ftrace[0-9]")):
            theirs += [(time, event, record) for time, tid, event, record in
                       ftrace.read(file.read_bytes(), self.formats) if tid == thread and event is not None]
        theirs = self.between(sorted(theirs, key=lambda event: event[0]), "syscalls:sys_enter_getppid")
        ours = [event for event in ours if not re.search(r"_(compat|unknown)$", event[1].name)]
        self.say([event[1].name for event in ours] == [event[1].name for event in theirs], "ftrace.order",
                 f"{len(ours)} events, {len(theirs)} of ftrace")
        bad, values_n = [], 0
        for (_, event, values), (_, _, record) in zip(ours, theirs):
            fields = {field.name: field for field in self.arguments[event.name]}
            for (name, kind), value in zip(event.fields, values):
                if kind != "str":
                    values_n += 1
                    if fields[name].value(record)[:len(value)] != value:
                        bad.append(f"{event.name} {name}: {value.hex()}, {fields[name].value(record).hex()}")
        self.say(not bad, "ftrace.values", "; ".join(bad[:10]))
        print(f"# {len(theirs)} events, {values_n} values as ftrace has them")

    # ------------------------------------------------------------------ rest

    def small(self):
        """With packets of 2 KiB, the four long paths do not fit, and are counted."""
        trace = ctf.Trace(self.folder / "small.data" / "kernel")
        thread, made = self.expected("expected.small")
        got = [event for stream in trace.streams() for event in trace.read(stream) if event[1] == thread]
        long_ones = sum(1 for call in made if call.name == "openat" and len(call.texts[1] or b"") > 2000)
        paths = collections.Counter(ctf.text(values[-1]) for _, _, event, values in got if "openat" in event.name)
        want = collections.Counter(ctf.text(call.texts[1]) for call in made
                                   if call.name == "openat" and len(call.texts[1] or b"") < 2000)
        self.say(not want - paths, "small.paths", str(want - paths))
        lost = sum(int(keys.get("too_large", 0)) for keys in trace.all("lost"))
        self.say(long_ones == 4 and lost == long_ones, "small.lost", f"{trace.all('lost')}, not {long_ones}")

    def filtered(self):
        trace = ctf.Trace(self.folder / "filtered.data" / "kernel")
        thread, made = self.expected("expected.filtered")
        got = self.merged(trace, thread)
        # The program opens its output file, and other processes run beside it: only its earlier calls count.
        want = [call for call in made if call.name == "rename" or (
            call.name == "openat" and call.registers[0] & 0xffffffff == 0xffffff9c and
            call.registers[2] & 0xffffffff == 0 and (call.texts[1] or b"").startswith(b"/tmp/kn"))]
        bad = [self.enter(call, event, values) for call, (_, event, values) in zip(want, got)]
        self.say(len(got) == len(want) >= 2 and not any(bad), "filtered", f"{len(got)} of {len(want)}: {bad}")

    def babeltrace(self):
        for folder in sorted(self.folder.glob("*.data")):
            done = subprocess.run([sys.executable, "-B", os.environ["ROOT"] + "/tests/lib/compare_bt2.py",
                                   os.environ["HODO"], folder], capture_output=True, text=True, check=False)
            self.say(done.returncode == 0, f"babeltrace2.{folder.stem}", (done.stdout + done.stderr)[-500:])

    def run(self):
        self.say(not self.trace.all("lost"), "lost", str(self.trace.all("lost")))
        self.say("fallback" not in self.trace.streams(), "fallback", "events are in the stream of no CPU")
        self.types()
        self.ftrace(*self.calls("call", self.trace, "expected"))
        monotonic = ctf.Trace(self.folder / "monotonic.data" / "kernel")
        self.calls("monotonic", monotonic, "expected.monotonic")
        self.say(monotonic.all("clock")[0]["kind"] == "monotonic", "monotonic.clock")
        self.filtered()
        self.small()
        self.babeltrace()
        return 1 if self.failed else 0


if __name__ == "__main__":
    sys.exit(Test(pathlib.Path(sys.argv[1])).run())
