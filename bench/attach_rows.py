# SPDX-License-Identifier: MIT
"""attach_rows - how long it takes until a process that runs is recorded, and how long it stands still for that,
beside a debugger that attaches and lets go."""
import json
import mmap
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from peers import BenchError
from rows import median
from table import Row

ATTACHES = 40  # per side and round; quick: 3


class Target:
    """A process that measures how long it is kept from running."""

    def __init__(self, bench, folder):
        self.path = folder / "shared"
        self.path.write_bytes(bytes(4096))
        self.file = open(self.path, "r+b")
        self.memory = mmap.mmap(self.file.fileno(), 4096)
        self.process = subprocess.Popen([bench.program("pause"), self.path])
        self.settle()

    def settle(self):
        """Waits for a moment in which nothing else has disturbed it for long."""
        for _ in range(200):
            time.sleep(0.02)
            if 0 < self.take() < 2_000_000:
                return

    def take(self):
        value, = struct.unpack_from("q", self.memory, 0)
        struct.pack_into("q", self.memory, 0, 0)
        return value

    def end(self):
        struct.pack_into("q", self.memory, 8, 1)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.memory.close()
        self.file.close()


def with_hodo(bench, folder, *options):
    """Pause, and time until the first event, ns. The process is new to hodo; the library stays in it."""
    target, out = Target(bench, folder), folder / "rec"
    try:
        target.take()
        begin = time.time_ns()
        done = subprocess.run([bench.hodo, "record", "-q", "-p", str(target.process.pid), "--duration", "0.1",
                               "-m", "16M", "-o", out, *options], check=False, capture_output=True, text=True)
        if done.returncode:
            raise BenchError(f"hodo record -p: {done.stderr.strip()}")
        pause = target.take()
        show = subprocess.Popen([bench.hodo, "print", "--json", out], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)
        first = json.loads(show.stdout.readline())["ts"]
        show.kill()
        show.wait()
        show.stdout.close()
    finally:
        target.end()
    shutil.rmtree(out)
    return pause, first - begin


def with_probes(bench, folder):
    """The same with about 10,000 probes in libc: the entries and exits of its functions."""
    return with_hodo(bench, folder, "--functions=libc.so.*!*")


def with_gdb(bench, folder):
    target = Target(bench, folder)
    try:
        target.take()
        begin = time.time_ns()
        subprocess.run(["gdb", "-nx", "-q", "-batch", "-p", str(target.process.pid)], check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        took = time.time_ns() - begin
        return target.take(), took
    finally:
        target.end()


def undisturbed(bench, folder):
    """How long the machine itself keeps such a process from running, in as much time."""
    target = Target(bench, folder)
    try:
        target.take()
        time.sleep(0.2)
        return target.take(), 0
    finally:
        target.end()


def percentile(values, percent):
    values = sorted(values)
    return values[min(len(values) - 1, len(values) * percent // 100)]


def p99(values):
    return percentile(values, 99)


def p90(values):
    return percentile(values, 90)


def attach(bench):
    folder = Path(tempfile.mkdtemp(prefix="hodo-bench-", dir="/dev/shm"))
    sides = {"hodo": with_hodo, "probes": with_probes, "none": undisturbed}
    if shutil.which("gdb"):
        sides["gdb"] = with_gdb
    pauses, times = {s: [] for s in sides}, {s: [] for s in sides}
    try:
        for _ in range(3 if bench.quick else ATTACHES * bench.rounds):
            for side, run in sides.items():
                pause, took = run(bench, folder)
                pauses[side].append(pause)
                times[side].append(took)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    peer = f"gdb {median(times['gdb']) / 1e6:.0f} ms" if "gdb" in sides else "gdb is not installed"
    rows = [Row("attach_time", "attach, until the first event", f"{median(times['hodo']) / 1e6:.0f} ms", peer,
                values={"median_ns": median(times["hodo"])})]
    peer = (f"gdb {p99(pauses['gdb']) / 1e6:.1f} ms, " if "gdb" in sides else "") + \
        f"nobody {p99(pauses['none']) / 1e6:.1f} ms"
    rows.append(Row("attach_pause", "pause of the process, p99", f"{p99(pauses['hodo']) / 1e6:.1f} ms", peer,
                    target="< 5 ms", reached=p99(pauses["hodo"]) < 5e6,
                    values={"p99_ns": p99(pauses["hodo"]), "median_ns": median(pauses["hodo"]),
                            "p90_ns": p90(pauses["hodo"]),
                            "nobody_p90_ns": p90(pauses["none"]), "nobody_p99_ns": p99(pauses["none"]),
                            "attaches": len(pauses["hodo"])}))
    rows.append(Row("attach_probes_pause", "the same with all functions of libc, which nobody prepared, p99",
                    f"{p99(pauses['probes']) / 1e6:.1f} ms", f"attach alone {p99(pauses['hodo']) / 1e6:.1f} ms",
                    p99(pauses["probes"]) / p99(pauses["hodo"]), target="< 5 ms", reached=p99(pauses["probes"]) < 5e6,
                    values={"p99_ns": p99(pauses["probes"]), "p90_ns": p90(pauses["probes"]),
                            "median_ns": median(pauses["probes"])}))
    return rows


GROUPS = {"attach": attach}
