#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb.py PLAIN TRACED CASE: gdb's `next` goes through a program built for function tracing as it does through one that
was not, from each of its functions to main's last line; alone and while functions are recorded."""
import os
import re
import shutil
import sys
import tempfile

from hodo_test import HODO, environment, run, skip

HERE = os.path.dirname(os.path.abspath(__file__))  # where the source is, whatever path the compiler was given
SOURCE_FILE = "step.c"  # a library may have a function of that name, too
LAST = "return 0;"
FUNCTIONS = ["leaf", "keeps", "early", "nothing", "main"]
BEGIN = "@begin"
# Recorded with gdb's own functions; the graph of those would have half a gigabyte.
RECORDERS = {"alone": [], "recorded": [HODO, "record", "-q", "--functions"],
             "graph": [HODO, "record", "-q", "--tracer", "graph", "--functions={program}!*"]}


def lines(program, recorder, folder):
    """For each function, the lines of source at which `next` stops. One gdb runs the program once for each."""
    args = ["-ex", "set debuginfod enabled off", "-ex", "set confirm off"]
    for function in FUNCTIONS:
        commands = [f"echo {BEGIN} {function}\\n", f"break {SOURCE_FILE}:{function}", "run", "delete", *["next"] * 24,
                    "kill"]
        args += [arg for command in commands for arg in ("-ex", command)]
    recorder = [word.format(program=os.path.basename(program)) for word in recorder]
    done = run(*recorder, "gdb", "-nx", "-q", "-batch", "-d", HERE, *args, program, cwd=folder,
               env=environment(os.path.join(folder, "env")))
    parts = re.findall(rf"(?ms)^{BEGIN} (\w+)\n(.*?)(?=^{BEGIN} |\Z)", done.stdout)
    assert [function for function, _ in parts] == FUNCTIONS, f"{done.stdout}\n{done.stderr}"
    return {function: stops_in(function, text, recorder, done) for function, text in parts}


def stops_in(function, text, recorder, done):
    if not re.search(r"(?m)^Breakpoint \d+, ", text):
        assert not recorder, f"no stop in {function}:\n{text}\n{done.stderr}"
        skip(f"this machine does not let gdb run programs: {done.stderr.strip()[-200:]}")
    # gdb stops at a traced function's brace, before the call at its entry.
    stops = [line for line in re.findall(r"(?m)^\d+\t\s*(.*)$", text) if line != "{"]
    assert LAST in stops, f"next from {function} does not get to the end:\n{text}\n{done.stderr}"
    return stops[:stops.index(LAST)]


def main():
    plain, traced, case = sys.argv[1:]
    if not shutil.which("gdb"):
        skip("there is no gdb: install Debian's package gdb")
    with tempfile.TemporaryDirectory(prefix="hodo-test-") as folder:
        want, got = lines(plain, [], folder), lines(traced, RECORDERS[case], folder)
        if case == "graph":
            assert "leaf()" in run(HODO, "graph", "-q", os.path.join(folder, "hodo.data"), status=0).stdout
        for function in FUNCTIONS:
            assert want[function] == got[function], "\n".join([
                f"next from {function}, not traced:", *want[function], "traced:", *got[function]])


main()
