#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""limits.py deeper|crowd|libraries|shadow_stack [PROGRAM]: what function tracing says when it reaches its limits.

HODO is in the environment, and so is SMALL, a libhodo with room for 64 threads and 4 objects."""
import os
import re
import sys
import tempfile

from hodo_test import LIMIT_S, hodo, run, skip

def record(*args, **env):
    with tempfile.TemporaryDirectory(prefix="hodo-limits-") as d:
        return hodo("record", "-o", f"{d}/trace", *args, env={**os.environ, **env}, timeout=2 * LIMIT_S)


def deeper():
    """Calls deeper than the limit on frames: they are counted and reported, and the program goes on."""
    depth = 4500000
    plain = run(sys.argv[2], "deep", env={**os.environ, "DEEP": str(depth)})
    done = record("--functions", "--tracer", "profile", "--", sys.argv[2], "deep", DEEP=str(depth))
    assert plain.returncode == 0 and (done.returncode, done.stdout) == (0, plain.stdout), (plain, done)
    said = re.search(r"hodo: ([0-9]+) calls", done.stderr)
    assert said and int(said.group(1)) > 0, done.stderr


def crowd():
    """More threads at once than there is room for: their calls are counted and reported."""
    plain = run(sys.argv[2], 100, status=0)
    done = record("--functions", "--tracer", "graph", "--", sys.argv[2], "100", HODO_LIBRARY=os.environ["SMALL"])
    assert (done.returncode, done.stdout) == (0, plain.stdout), done
    said = re.search(r"hodo: ([0-9]+) calls.*thread", done.stderr)
    assert said and int(said.group(1)) >= 36, done.stderr


def libraries():
    """More objects than there is room for: this is reported, and the objects before are traced."""
    done = record("--functions", "--", sys.argv[2], "1", HODO_LIBRARY=os.environ["SMALL"])
    assert done.returncode == 0 and "too many libraries" in done.stderr, done.stderr
    assert re.search(r"hodo: [1-9][0-9]* events", done.stderr), done.stderr


def shadow_stack():
    """The processor's shadow stacks: entry-and-exit slots never touch a return address."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        if not re.search(r"^flags\s*:.*\buser_shstk\b", file.read(), re.M):
            skip("this processor, or its kernel, has no shadow stacks for programs")
    done = record("--functions", "--", sys.argv[2], "longjmp", GLIBC_TUNABLES="glibc.cpu.x86_shstk=on")
    assert done.returncode == 0, done


CASES = {"deeper": deeper, "crowd": crowd, "libraries": libraries, "shadow_stack": shadow_stack}
CASES[sys.argv[1]]()
