#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill.py MODE ROUNDS: SIGKILL of the traced program at random points.

Each time the trace must be valid for babeltrace2, and every event that had
returned before the kill must be in it or counted.
"""
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from hodo_test import HODO, children, program, readable, run

mode, rounds = sys.argv[1], int(sys.argv[2])
target, check = program("TARGET"), program("CHECK")
seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
print("seed", seed)
random.seed(seed)


def begun(path):
    try:
        with open(path, "rb") as f:
            data = f.read(1024)
    except FileNotFoundError:
        return 0
    return sum(struct.unpack("128Q", data)) if len(data) == 1024 else 0


def one(n, directory):
    trace, shared = f"{directory}/trace", f"{directory}/shared"
    options = ["--overwrite"] if mode == "overwrite" else []
    size = random.choice(["16K", "64K", "256K"])
    recorder = subprocess.Popen(
        [HODO, "record", "-q", "-o", trace, "-m", size, *options, "--", target, shared,
         str(random.choice([1, 2, 4])), "0", str(random.choice([0, 20, 100])), "1"],
        stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 20
    while not begun(shared) and time.time() < deadline:
        time.sleep(0.001)
    time.sleep(random.random() * 0.02)
    child, = children(recorder.pid)  # 0 would mean our own group
    os.kill(child, signal.SIGKILL)
    _, err = recorder.communicate(timeout=600)
    assert recorder.returncode == -signal.SIGKILL, (recorder.returncode, err)
    result = run(check, trace, shared, "killed")
    assert result.returncode == 0, (n, result.stdout, result.stderr, err)
    readable(trace)
    if n % 25 == 0:
        print(n, size, result.stdout.strip(), flush=True)


for n in range(rounds):
    directory = tempfile.mkdtemp(prefix="hodo-kill-")
    try:
        one(n, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
print(f"{rounds} kills: every trace valid, every event read or counted")
