#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cycle.py ROUNDS [VARIANT] - records a busy process ROUNDS times, using only the protocol (cycle.c).

VARIANT: plain; norseq, without restartable sequences; functions, which are traced, too, by tracers at random."""
import os
import subprocess
import sys
import tempfile
import time

from hodo_test import LIBHODO, LIMIT_S, end, environment, program, wait_for

rounds, variant = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "plain"
functions = variant == "functions"
with tempfile.TemporaryDirectory(prefix="hodo-live.") as directory:
    env = environment(directory)
    seed = os.getpid()
    print(f"seed {seed}")
    more = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"} if variant == "norseq" else {}
    target = subprocess.Popen([program("TARGET_FUNCTIONS" if functions else "TARGET"), "4", "signals"],
                              env={**env, "HODO_LISTEN": "1", "LD_PRELOAD": LIBHODO, **more},
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert target.stdout.readline() == "ready\n"
        socket = f"{env['XDG_RUNTIME_DIR']}/hodo/{target.pid}"
        wait_for(socket, lambda: os.path.exists(socket))
        time.sleep(0.05)  # by then the process is busy
        more = {"CYCLE_FUNCTIONS": "1"} if functions else {}
        done = subprocess.run([program("CYCLE"), rounds, socket], check=False, timeout=500,
                              env={**env, "CYCLE_SEED": str(seed), **more})
        target.stdin.close()
        rest = target.stdout.read()
        status = target.wait(timeout=LIMIT_S)
    finally:
        end(target)
    if done.returncode or status or rest != "intact\n":
        sys.exit(f"cycle: {done.returncode}, target: {status} {rest!r}")
    if os.path.exists(socket):
        sys.exit(f"{socket} is left behind")
