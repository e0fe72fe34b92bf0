# SPDX-License-Identifier: MIT
"""view_rows - the page of hodo view: how fast it is written, and how soon chromium shows a million events."""
import json
import os
import shutil
import subprocess
from pathlib import Path

from peers import BenchError, cpu_seconds, run
from rows import median
from table import Row

ROOT = Path(__file__).resolve().parent.parent
EVENTS = 1000000
WRITE_TARGET = 1e6  # events a second
OPEN_TARGET_MS = 3000
ABSENT = "not here"
SKIP = 77


def written(bench, maker):
    events = 20000 if bench.quick else EVENTS
    trace, page = Path(bench.work) / "view", Path(bench.work) / "view.html"
    run([maker, "requests", trace, events])
    took = [cpu_seconds([bench.hodo, "view", "-q", "-f", "-o", page, trace]) for _ in range(bench.rounds)]
    rate, size = events / max(median(took), 1e-6), page.stat().st_size / events
    shutil.rmtree(trace)
    page.unlink()
    return Row("view_write", "view: the page written", f"{rate / 1e6:.2f} M/s, {size:.1f} B each", "",
               target=f">= {WRITE_TARGET / 1e6:.0f} M/s", reached=rate >= WRITE_TARGET,
               values={"events_per_s": rate, "bytes": size})


def opened(bench, maker):
    """Real time: how long a user waits, from the address to the first whole frame."""
    modules = bench.build / "tests/world/browser/node_modules"
    what = "view: 1,000,000 events shown in chromium"
    missing = Row("view_open", what, "", f"chromium {ABSENT}")
    if not shutil.which("chromium") or not shutil.which("node") or not modules.is_dir():
        return missing
    env = dict(os.environ, HODO=str(bench.hodo), MAKE_RECORDING=str(maker), VIEW_MODULES=str(modules),
               VIEW_WORK=str(bench.work), TEMPLATE=str(bench.build / "src/export/view.html"),
               EVENTS=str(20000 if bench.quick else EVENTS))
    rounds = []
    for _ in range(bench.rounds):
        million = str(ROOT / "tests/world/browser/test_million.mjs")
        done = subprocess.run(["node", million, "--json"], env=env, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == SKIP:
            return missing
        if done.returncode != 0:
            raise BenchError(f"the page does not open:\n{done.stdout}")
        rounds.append(json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{"))))
    ms, frame, p99 = (median([r[key] for r in rounds]) for key in ("open_ms", "frame_ms_median", "frame_ms_p99"))
    return Row("view_open", what, f"{ms / 1000:.2f} s, frames {frame:.0f} ms (p99 {p99:.0f})", "",
               target=f"< {OPEN_TARGET_MS / 1000:.0f} s", reached=ms < OPEN_TARGET_MS,
               values={"ms": ms, "frame_ms": frame, "frame_p99_ms": p99})


def view(bench):
    page = bench.build / "src/export/view.html"
    if not page.is_file() or page.stat().st_size == 0:
        return [Row(name, what, "", f"the page {ABSENT}") for name, what in
                (("view_write", "view: the page written"), ("view_open", "view: the page opened"))]
    maker = bench.find("view_recording", "tests/world/browser/view_recording")
    return [written(bench, maker), opened(bench, maker)]


GROUPS = {"view": view}
