#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stack.py CASE: how much of a thread's stack an event takes; the figures of docs/design/context.md, "Small stacks".
stack.c paints stacks, measures, and emits each event once more above an unmapped page."""
import re

from hodo_test import hodo, program, scenes

PLAIN, FALLBACK, CONTEXT, GENERAL, PROBE = 1088, 1280, 1280, 1920, 2688      # bytes at most
CHILD, CHILD_BOUND = 4096, 7168                 # the first event of a child of clone() that ran no handlers
ALL = "comm,pid,ip,callstack,stack"
KINDS = {"integer", "fields", "mark", "begin", "end", "point"}


def check(folder, most, options=(), child=CHILD, arguments=()):
    command = [program("STACK"), most, *arguments]
    done = hodo("record", "-q", "-m", "64K", *options, "-o", f"{folder}/trace", "--", *command)
    found = {name: int(size) for name, size in re.findall(r"(?m)^(\w+) (\d+)$", done.stdout)}
    print(options, {name: size for name, size in found.items() if size})
    assert done.returncode == 0, done
    assert set(found) == KINDS | {f"child_{kind}" for kind in KINDS}, found
    for name, size in found.items():
        assert size <= (child if name.startswith("child_") else most), (name, size)
    # Something must have been measured: an event that is off takes next to nothing.
    assert found["fields"] > 200, found


def check_plain(d):
    check(d, PLAIN)
    check(d, PLAIN, ("--overwrite",))


def check_fallback(d):
    check(d, FALLBACK, ("--clock", "monotonic"))


def check_filter(d):
    check(d, PLAIN, ("--filter", "number > 0 || n > 0"), CHILD_BOUND)


def check_general(d):
    """A filter that is more than comparisons runs on a stack of values."""
    check(d, GENERAL, ("--filter", "(number + 1 > 0 || n * 2 > 0) && $comm == \"stack\""), CHILD_BOUND)


def check_rate(d):
    check(d, PLAIN, ("--rate", "stack:*=100000/s"))


def check_trigger(d):
    check(d, GENERAL, ("--overwrite", "--trigger", "stack:end if number > 1 && $duration > 1h -> snapshot"), CHILD_BOUND)


def check_probe(d):
    """In addition to what the probe takes."""
    check(d, PROBE, arguments=("probe",))


def check_context(d):
    for what in ("callstack", "stack", "comm,pid,ip", ALL):
        check(d, CONTEXT, ("--context", what))


def check_all(d):
    """All of it, with the fallback writer."""
    check(d, GENERAL, ("--context", ALL, "--clock", "monotonic", "--filter", "number + n > 0 || number == 1 || n > 0"),
          CHILD_BOUND)


scenes(globals())
