#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cycle.py ROUNDS [VARIANT] - records a busy process ROUNDS times by the bare protocol (cycle.c).

VARIANT: plain; norseq, without restartable sequences; functions, traced too, by tracers at random."""
import os
import subprocess
import sys
import tempfile
import time

rounds, variant = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "plain"
with tempfile.TemporaryDirectory(prefix="hodo-live.") as directory:
    env = dict(os.environ, XDG_RUNTIME_DIR=directory, HODO_LISTEN="1", LD_PRELOAD=os.environ["LIBHODO"])
    if variant == "norseq":
        env["GLIBC_TUNABLES"] = "glibc.pthread.rseq=0"
    program = os.environ["TARGET_FUNCTIONS" if variant == "functions" else "TARGET"]
    target = subprocess.Popen([program, "4", "signals"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True)
    try:
        assert target.stdout.readline() == "ready\n"
        socket = f"{directory}/hodo/{target.pid}"
        for _ in range(500):
            if os.path.exists(socket):
                break
            time.sleep(0.01)
        time.sleep(0.05)
        done = subprocess.run([os.environ["CYCLE"], rounds, socket], timeout=500,
                              env=dict(os.environ, CYCLE_SEED=str(os.getpid()),
                                       **({"CYCLE_FUNCTIONS": "1"} if variant == "functions" else {})))
        print(f"seed {os.getpid()}")
        target.stdin.close()
        rest = target.stdout.read()
        status = target.wait(timeout=30)
    finally:
        target.kill()
        target.wait()
    if done.returncode or status or rest != "intact\n":
        sys.exit(f"cycle: {done.returncode}, target: {status} {rest!r}")
    if os.path.exists(socket):
        sys.exit(f"{socket} is left behind")
