#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""entered.py CASE: what a site leaves as it was: registers (registers.c), and a stack to unwind (unwind.c)."""
import os

from hodo_test import hodo, program, scenes

WAYS = ((), ("-m", "64K"), ("--overwrite",), ("--clock", "monotonic"), ("--context", "comm,ip,callstack,stack"),
        ("--filter", "n + 1 > 0 && d * 2.0 > 0.5 || n + 2 > 1"), ("--rate", "registers:*=100/s"))


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


scenes(globals())
