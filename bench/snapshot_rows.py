# SPDX-License-Identifier: MIT
"""snapshot_rows - how fast a flight recorder's buffers are written to memory, beside a plain copy of the files."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from peers import BenchError, cpu_seconds
from rows import median
from table import Row

RING = "64M"


def child(pid):
    """The recorder's command, once it is there."""
    for _ in range(1000):
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        if found:
            return int(found[0])
        time.sleep(0.01)
    raise BenchError("hodo record starts no program")


def used(bench, folder, pid):
    """Waits until a snapshot has most of both rings."""
    for _ in range(200):
        out = folder / "first"
        if subprocess.run([bench.hodo, "snapshot", "-q", "-o", out, str(pid)], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            time.sleep(0.05)  # it has not joined yet
            continue
        size = sum(f.stat().st_size for f in out.rglob("*") if f.is_file())
        shutil.rmtree(out)
        if size > (1 << 20 if bench.quick else 60 << 20):
            return
        time.sleep(0.05)
    raise BenchError("the program does not fill its buffers")


def one(bench, folder, pid):
    """Bytes, and bytes a second of a snapshot and of a copy of it."""
    out, copy = folder / "out", folder / "copy"
    # Processor time, as for reading: both sides are one thread that does not wait.
    took = cpu_seconds([bench.hodo, "snapshot", "-q", "-o", out, str(pid)])
    size = sum(f.stat().st_size for f in out.rglob("*") if f.is_file())
    copied = cpu_seconds(["cp", "-r", out, copy])
    shutil.rmtree(out)
    shutil.rmtree(copy)
    return size, size / took, size / copied


def measure(bench, folder):
    program = [bench.program("event"), "-k", "N", "-c", 100000, "-n", 20000, "-r", 1000]
    command = [bench.hodo, "record", "-q", "--overwrite", "-m", "4M" if bench.quick else RING, "-o", folder / "rec",
               "--", *program]
    recorder = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rounds = {"busy": [], "paused": []}
    try:
        pid = child(recorder.pid)
        used(bench, folder, pid)
        for _ in range(bench.rounds):
            rounds["busy"].append(one(bench, folder, pid))
            os.kill(pid, signal.SIGSTOP)
            rounds["paused"].append(one(bench, folder, pid))
            os.kill(pid, signal.SIGCONT)
    finally:
        if recorder.poll() is None:
            os.kill(child(recorder.pid), signal.SIGKILL)
            recorder.wait()
    return rounds


def snapshot(bench):
    folder = Path(tempfile.mkdtemp(prefix="hodo-bench-", dir="/dev/shm"))
    try:
        rounds = measure(bench, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    rows = []
    for name, what in (("paused", "snapshot to tmpfs"), ("busy", "snapshot while all CPUs write")):
        speed, peer = median(r[1] for r in rounds[name]), median(r[2] for r in rounds[name])
        size = median(r[0] for r in rounds[name])
        row = Row(f"snapshot_{name}", what, f"{speed / 1e9:.2f} GB/s", f"cp -r of it {peer / 1e9:.2f} GB/s",
                  median(r[2] / r[1] for r in rounds[name]),
                  values={"bytes_per_s": speed, "copy_bytes_per_s": peer, "bytes": size})
        if name == "paused":
            row.target, row.reached = ">= 1 GB/s", speed >= 1e9
        rows.append(row)
    return rows


GROUPS = {"snapshot": snapshot}
