# SPDX-License-Identifier: MIT
"""export_rows - how fast recordings are written in other formats: of events, and of calls of functions."""
import shutil
from pathlib import Path

from function_rows import PAUSE_US
from peers import BenchError, babeltrace_events, cpu_seconds
from rows import RING_DISCARD, median
from table import Row

# Formats of all events, and those that are made of calls alone.
TIMELINES = ("perfetto", "chrome", "csv", "jsonl")
PROFILES = ("folded", "speedscope", "pprof", "callgrind", "firefox")
TARGET = 1e6  # events a second


def measure(bench, trace, events, formats, beside=None):
    """Rates by processor time of each format, and of the commands in `beside`."""
    out = Path(bench.work) / "exported"
    # To a file, as it is used: what the file system takes is part of it.
    commands = {f: [bench.hodo, "export", "-q", "-f", "--to", f, "-o", out, trace] for f in formats}
    commands |= beside or {}
    rates, sizes = {name: [] for name in commands}, {}
    for _ in range(bench.rounds):
        for name, command in commands.items():
            rates[name].append(events / max(cpu_seconds(command), 1e-6))
            if name in formats:
                sizes[name] = out.stat().st_size / events
                out.unlink()
    return {name: median(values) for name, values in rates.items()}, sizes


def row(ident, what, rate, size, peer="", peer_rate=None):
    values = {"events_per_s": rate, "bytes": size}
    if peer_rate:
        values["peer_events_per_s"] = peer_rate
        peer = f"{peer} {peer_rate / 1e6:.2f} M/s"
    # Profiles sum up: there the size says nothing.
    text = f"{rate / 1e6:.2f} M/s" + (f", {size:.0f} B each" if size >= 1 else "")
    return Row(ident, what, text, peer, rate / peer_rate if peer_rate else None,
               faster=True, target=f">= {TARGET / 1e6:.0f} M/s", reached=rate >= TARGET, values=values)


def export_events(bench):
    args = ["-k", "n", "-c", 5 if bench.quick else 100, "-n", 20000, "-w", 0, "-p", 3000]
    _, stat, trace = bench.record([bench.program("event"), *args], "-m", RING_DISCARD, keep=True)
    events = babeltrace_events(trace)
    if events != stat["recorded"]:
        raise BenchError(f"babeltrace2 reads {events} events where hodo stat counts {stat['recorded']}")
    rates, sizes = measure(bench, trace, events, TIMELINES, {"text": ["babeltrace2", "-o", "text", trace]})
    shutil.rmtree(trace)
    return [row(f"export_{f}", f"export: {f}", rates[f], sizes[f], "babeltrace2 text", rates["text"])
            for f in TIMELINES]


def export_calls(bench):
    args = ["-k", "f", "-c", 5 if bench.quick else 40, "-n", 20000, "-w", 0, "-p", 5 * PAUSE_US]
    _, stat, trace = bench.record([bench.program("calls"), *args], "--functions", "-m", RING_DISCARD, keep=True)
    rates, sizes = measure(bench, trace, stat["recorded"], ("perfetto", "chrome", *PROFILES))
    shutil.rmtree(trace)
    return [row(f"export_calls_{f}", f"export: {f}, entries and exits", rates[f], sizes[f]) for f in rates]


GROUPS = {"export": export_events, "export_calls": export_calls}
