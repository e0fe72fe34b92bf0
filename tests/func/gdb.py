#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb.py PLAIN TRACED CASE: gdb's `next` goes through a program that was built for function tracing as through the one
that was built without, from each of its functions on to main's last line; alone and while functions are recorded."""
import os
import re
import shutil
import sys
import tempfile

from hodo_test import HODO, environment, run, skip

HERE = os.path.dirname(os.path.abspath(__file__))  # where the source is, whatever the compiler was told to call it
SOURCE_FILE = "step.c"  # in a library there may be a function of that name, too
LAST = "return 0;"
RECORDERS = {"alone": [], "recorded": [HODO, "record", "-q", "--functions"],
             "graph": [HODO, "record", "-q", "--tracer", "graph"]}


def lines(program, function, recorder, folder):
    """The lines of source at which `next` stops."""
    commands = ["set debuginfod enabled off", "set confirm off", f"break {SOURCE_FILE}:{function}", "run", "delete"]
    args = [arg for command in commands + ["next"] * 24 for arg in ("-ex", command)]
    done = run(*recorder, "gdb", "-nx", "-q", "-batch", "-d", HERE, *args, program, cwd=folder,
               env=environment(os.path.join(folder, "env")))
    if not re.search(r"(?m)^Breakpoint 1, ", done.stdout):
        assert not recorder, f"no stop in {function}:\n{done.stdout}\n{done.stderr}"
        skip(f"this machine does not let gdb run programs: {done.stderr.strip()[-200:]}")
    # gdb stops at a traced function's brace, before the call at its entry.
    stops = [line for line in re.findall(r"(?m)^\d+\t\s*(.*)$", done.stdout) if line != "{"]
    assert LAST in stops, f"next from {function} does not get to the end:\n{done.stdout}\n{done.stderr}"
    return stops[:stops.index(LAST)]


def main():
    plain, traced, case = sys.argv[1:]
    if not shutil.which("gdb"):
        skip("there is no gdb: install Debian's package gdb")
    with tempfile.TemporaryDirectory(prefix="hodo-test-") as folder:
        for function in ("leaf", "keeps", "early", "nothing", "main"):
            want, got = lines(plain, function, [], folder), lines(traced, function, RECORDERS[case], folder)
            assert want == got, "\n".join([f"next from {function}, not traced:", *want, "traced:", *got])


main()
