#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""entered.py CASE: what a site does not change: registers (registers.c), and a stack to unwind (unwind.c); and what it
records: texts and data (texts.c)."""
import collections
import os
import re
import shutil

from hodo_test import HODO, events, hodo, program, run, scenes, skip, stat

WAYS = ((), ("-m", "64K"), ("--overwrite",), ("--clock", "monotonic"), ("--context", "comm,ip,callstack,stack"),
        ("--filter", "n + 1 > 0 && d * 2.0 > 0.5 || n + 2 > 1"), ("--rate", "registers:*=100/s"))

KINDS = ("plain", "cut", "bounded", "data", "words", "many")


def check_registers(d):
    for n, options in enumerate(WAYS):
        done = hodo("record", "-q", *options, "-o", f"{d}/trace{n}", "--", program("REGISTERS"))
        assert done.returncode in (0, 77), (options, done)
        if done.returncode == 77:
            print("skipped: no AVX here")
    assert hodo("stat", f"{d}/trace0").stdout.count("registers:") == 2


def check_unwind(d):
    os.environ["GLIBC_TUNABLES"] = "glibc.pthread.rseq=0"
    for n, options in enumerate(((), ("--context", "ip,callstack"))):
        done = hodo("record", "-q", *options, "-o", f"{d}/trace{n}", "--", program("UNWIND"))
        assert done.returncode == 0, (options, done)
        assert int(done.stdout.split()[0]) > 2000, done


def check_exceptions(d):
    for n, options in enumerate(((), ("--context", "ip,callstack"), ("--filter", "n * 2 > -1"))):
        done = hodo("record", "-q", *options, "-o", f"{d}/trace{n}", "--", program("THROWS"))
        assert done.returncode == 0, (options, done)
    found = {event["name"].removeprefix("throws:"): event["count"] for event in stat(f"{d}/trace0")["events"]}
    want = {name: 600 for name in ("inner.begin", "inner.end", "outer.begin", "outer.end", "point")}
    assert found == {**want, "caught": 400, "probed": 300}, found


def check_gdb(d):
    """A debugger finds the way from libhodo to main(): from the stub's first instructions, from the fast writer, and
    from the C code after it. It also finds the values that
    a function's registers had before that."""
    if not shutil.which("gdb"):
        skip("there is no gdb: install Debian's package gdb")
    stops = ("hodo_x86_site", "hodo_x86_emit", "hodo_x86_gather", "hodo_site_slow", "hodo_x86_span_end")
    commands = ["set debuginfod enabled off", "set confirm off", "set breakpoint pending on", "set width 0",
                "set startup-with-shell off", "break main", "run once", *(f"tbreak *{name}" for name in stops)]
    commands += ["continue", "bt", *(["stepi", "bt"] * 24), *(["continue", "bt"] * 5)]
    done = run(HODO, "record", "-q", "-o", f"{d}/trace", "gdb", "-nx", "-q", "-batch",
               *(arg for command in commands for arg in ("-ex", command)), program("UNWIND"))
    if "Breakpoint 1, " not in done.stdout:
        skip(f"this machine does not let gdb run programs: {done.stderr.strip()[-200:]}")
    traces = re.findall(r"(?m)^#0 .*(?:\n#\d+ .*)*", done.stdout)
    functions = "|".join(("leaf", "texts", "point", "span"))
    right = [trace for trace in traces
             if re.search(rf" (?:{functions}) \(n=(?:1|<optimized out>)\) .*\n#\d+ .* main \(", trace)]
    inside = {name for name in stops for trace in right if re.search(rf"^#0 .*\b{name}\b", trace)}
    wrong = [trace for trace in traces if trace not in right]
    assert len(right) > 24 and inside == set(stops) and not wrong, (inside, wrong, done)


def characters(event, n):
    return bytes(97 + (event * 7 + i * 5 + i // 26) % 26 for i in range(n))


def is_right(name, fields):
    want = characters(fields["event"], fields["len"])
    if name == "data":
        return bytes.fromhex(fields["text"]) == want
    if name == "words":
        return b"".join(word.to_bytes(2, "little") for word in fields["text"]) == want[:len(want) // 2 * 2]
    if name == "many":
        numbers = [fields[key] for key in "abcdef"]
        if (numbers, fields["nothing"], fields["again"], fields["part"]) != (
                [1, 2, 3, 4, 5, 6], None, fields["text"], want[:len(want) // 2].decode()):
            return False
    return fields["text"] == want.decode()


def check_texts(d):
    """Packets of several sizes: what does not fit into a packet is counted, and nothing else is missing."""
    for n, (packet, fits) in enumerate((("128K", 65535), ("4K", 1000), ("1K", 255))):
        done = hodo("record", "-q", "-m", "64M", "--packet-size", packet, "-o", f"{d}/trace{n}", "--", program("TEXTS"))
        assert done.returncode == 0, done
        found = collections.Counter()
        for event in events(f"{d}/trace{n}"):
            name, fields = event["name"].removeprefix("texts:"), event["fields"]
            assert is_right(name, fields), (packet, event)
            found[name] += 1
            found[name, "fits"] += fields["len"] <= fits
        total, lost = sum(found[name] for name in KINDS), done.lost()
        print(packet, total, "events,", lost, "lost")
        assert total + lost == 4470 and (lost == 2) == (packet == "128K"), (packet, total, lost)
        lengths = {"128K": 761, "4K": 34 * 20, "1K": 32 * 20}[packet]
        for name, more in (("plain", 0), ("cut", 0), ("bounded", 1), ("data", 1), ("words", 1)):
            assert found[name, "fits"] == lengths + more, (packet, name, found)


scenes(globals())
