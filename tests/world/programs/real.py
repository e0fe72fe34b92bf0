#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""real.py lua|jsonnet: builds a program from Debian's source package with our flags and no other change, runs its
workload untraced and under full function tracing, and compares output, exit status and the balance of the calls.

HODO, CHECK (calls_check), COMPARE (compare_bt2.py) and STUBS (libhodo-functions.a) are in the environment. Sources and
objects are kept in $HODO_TEST_CACHE (~/.cache/hodo-test). HODO_REAL_ALL=1: all of jsonnet's tests, not every 24th.
"""
import os
import re
import sys
import tempfile
from pathlib import Path

import hodo_test
from hodo_test import COMPARE, HODO, LIMIT_S, program

HERE = Path(__file__).resolve().parent
CHECK, STUBS = program("CHECK"), program("STUBS")
CACHE = Path(os.environ.get("HODO_TEST_CACHE") or Path.home() / ".cache/hodo-test")


def fail(*what):
    print(*what)
    sys.exit(1)


def run(*cmd, **more):
    return hodo_test.run(*cmd, **{"timeout": 4 * LIMIT_S, **more})


def built(program, package):
    source = run("bash", HERE / "source.sh", package, CACHE)
    if source.returncode != 0:
        print(source.stderr, end="")
        sys.exit(source.returncode)
    program = run("bash", HERE / "build.sh", program, source.stdout.strip(), CACHE, STUBS)
    if program.returncode != 0:
        fail("it cannot be built:", program.stdout, program.stderr)
    return Path(source.stdout.strip()), Path(program.stdout.strip())


def balance(what, said):
    """Every call has returned, was left by a longjmp or an exception, or is open at the end; nothing is lost."""
    numbers = dict(re.findall(r"^(calls|lost) (.*)$", said, re.M))
    if len(numbers) != 2:
        fail(f"{what}: calls_check:", said)
    calls, returned, left, open_, orphans = map(int, numbers["calls"].split())
    if not calls or returned + left + open_ != calls or orphans or numbers["lost"] != "0":
        fail(f"{what}: {calls} calls: {returned} returned, {left} left, {open_} open, {orphans} orphans, "
             f"{numbers['lost']} lost")
    return calls, left, open_


def read_by_babeltrace2(d, *cmd):
    """A smaller recording: babeltrace2 takes long."""
    trace = d / "small"
    run(HODO, "record", "-q", "-o", trace, "--functions", "--depth", "3", "-m", "16M", "--", *cmd)
    done = run(sys.executable, COMPARE, HODO, trace)
    print(done.stdout, end="")
    if done.returncode != 0:
        fail(done.stderr)


def check_lua(d):
    _, lua = built("lua", "lua5.4")
    command = (lua, HERE / "work.lua")
    plain = run(*command)
    traced = run(HODO, "record", "-q", "-o", d / "trace", "--functions", "-m", "256M", "--", *command)
    if (plain.returncode, plain.stdout, plain.stderr) != (traced.returncode, traced.stdout, traced.stderr):
        fail(f"untraced {plain}\ntraced {traced}")
    if plain.returncode != 3:
        fail(f"the workload is not right: {plain}")
    calls, left, open_ = balance("lua", run(CHECK, d / "trace", os.devnull).stdout)
    if not left:
        fail("lua: no call was left")
    print(f"lua: {calls} calls, {left} left by longjmp, {open_} open at exit()")
    read_by_babeltrace2(d, lua, "-e", "print(pcall(error, 'x'), coroutine.wrap(function() return 1 end)())")


# jsonnet's own tests run $JSONNET_BIN for each file, and compare output and exit status with the expected ones.
# Two of them make hundreds of millions of calls, more than any disk can take.
LONG = {"stdlib.jsonnet", "format.jsonnet"}
WRAPPER = """#!/bin/sh
'{hodo}' record -q -o "{traces}/$$" --functions -m 256M -- '{jsonnet}' "$@"
status=$?
'{check}' "{traces}/$$" /dev/null >"{traces}/$$.calls" 2>&1
rm -r "{traces}/$$"
exit $status
"""


def check_jsonnet(d):
    source, jsonnet = built("jsonnet", "jsonnet")
    suite, traces = d / "test_suite", d / "traces"
    run("cp", "-r", source / "test_suite", suite)
    tests = sorted(suite.glob("*.jsonnet"))
    for i, test in enumerate(tests):
        if test.name in LONG or (i % 24 and not os.environ.get("HODO_REAL_ALL")):
            # Other tests import some; the suite takes every *.jsonnet at its top for a test.
            test.rename(test.with_suffix(".left_out"))
    traces.mkdir()
    wrapper = d / "jsonnet-traced"
    wrapper.write_text(WRAPPER.format(hodo=HODO, check=CHECK, traces=traces, jsonnet=jsonnet), "utf-8")
    wrapper.chmod(0o755)
    verdicts = []
    for binary in (jsonnet, wrapper):
        done = run("bash", suite / "run_tests.sh", env={**os.environ, "JSONNET_BIN": str(binary)})
        verdicts.append((done.returncode, done.stdout, done.stderr))
    if verdicts[0] != verdicts[1] or verdicts[0][0] != 0:
        fail(f"untraced {verdicts[0]}\ntraced {verdicts[1]}")
    total = [0, 0, 0]
    for said in traces.iterdir():
        total = [a + b for a, b in zip(total, balance(said.name, said.read_text("utf-8")))]
    print(f"jsonnet: {verdicts[0][1].strip()}: {total[0]} calls, {total[1]} left by exceptions, {total[2]} open")
    if not total[1]:
        fail("no exception went through a traced function")
    read_by_babeltrace2(d, jsonnet, "-e", "error 'x'")


def main():
    with tempfile.TemporaryDirectory(prefix="hodo-real-") as directory:
        {"lua": check_lua, "jsonnet": check_jsonnet}[sys.argv[1]](Path(directory))


main()
