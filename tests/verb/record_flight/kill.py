#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill.py random|points: SIGKILL of programs with a flight recorder.

Each time `hodo recover` must make a trace that babeltrace2 reads, and every event that had returned before the
kill must be in it or counted as overwritten.
"""
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from flights import CHECK, TARGET, environment
from hodo_test import LIMIT_S, SOURCE, hodo, readable, run

INJECT_LIB = os.environ["INJECT_LIB"]
seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
print("seed", seed, flush=True)
random.seed(seed)


def begun(path):
    try:
        with open(path, "rb") as f:
            data = f.read(1024)
    except FileNotFoundError:
        return 0
    return sum(struct.unpack("128Q", data)) if len(data) == 1024 else 0


def check(directory, what):
    """Whether something was recovered; if so, it must be right."""
    flights, trace, shared = f"{directory}/flights", f"{directory}/trace", f"{directory}/shared"
    if not os.listdir(flights):
        assert begun(shared) == 0, what
        return False
    done = hodo("recover", "-o", trace, flights)
    if done.returncode != 0:
        assert done.returncode == 1 and "it is empty" in done.stderr and begun(shared) == 0, (what, done.stderr)
        return False
    assert "damaged" not in done.stderr and "is still running" not in done.stderr, (what, done.stderr)
    if not os.path.exists(shared) or os.path.getsize(shared) == 0:  # killed before it was made, or got its size
        return False
    result = run(CHECK, trace, shared, "killed")
    assert result.returncode == 0, (what, result.stdout, result.stderr, done.stderr)
    readable(trace)
    return True


def at_random(directory, n):
    size = random.choice(["16K", "64K", "1M"])
    target = subprocess.Popen([TARGET, f"{directory}/shared", random.choice("124"), "0",
                               random.choice(["0", "20", "100"]), "1"],
                              env=environment(f"{directory}/flights", HODO_FLIGHT_SIZE=size))
    deadline = time.monotonic() + LIMIT_S
    if n % 4:  # otherwise at any moment of the start
        while not begun(f"{directory}/shared") and time.monotonic() < deadline:
            time.sleep(0.0005)
    time.sleep(random.random() * 0.02)
    os.kill(target.pid, signal.SIGKILL)
    assert target.wait(timeout=LIMIT_S) == -signal.SIGKILL
    return check(directory, (n, size))


def at_point(directory, point, nth, tunable):
    env = environment(f"{directory}/flights", HODO_FLIGHT_SIZE="16K", LD_PRELOAD=INJECT_LIB,
                      HODO_INJECT_KILL=f"{point}:{nth}", GLIBC_TUNABLES=f"glibc.pthread.rseq={tunable}")
    done = subprocess.run([TARGET, f"{directory}/shared", "3", "20000", "50", "1"], env=env, timeout=LIMIT_S,
                          check=False)
    assert done.returncode in (0, -signal.SIGKILL), (point, nth, done.returncode)
    check(directory, (point, nth, tunable))
    return done.returncode != 0


def within(f, *args):
    directory = tempfile.mkdtemp(prefix="hodo-kill-")
    try:
        os.mkdir(f"{directory}/flights")
        return f(directory, *args)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def points():
    """The number of injection points, from their list."""
    return len(re.findall(r"(?m)^\tHODO_INJECT_\w+,", (SOURCE / "src/core/atomic.h").read_text(encoding="utf-8")))


if sys.argv[1] == "random":
    good = sum(within(at_random, n) for n in range(200))
    print(f"200 kills: {good} traces with events, each valid, every event read or counted")
    assert good >= 120, good
else:
    killed = sum(within(at_point, point, nth, tunable) for point in range(points())
                 for nth in ((1, 2, 3, 4, 7, 100) if point == points() - 1 else (1, 7, 100)) for tunable in (1, 0))
    print(f"killed {killed} times at injection points: what was left is valid, every event read or counted")
    assert killed >= 16, killed
