# SPDX-License-Identifier: MIT
"""export_rows - how fast recordings are written in other formats: of events, and of calls of functions."""
import shutil
from pathlib import Path

from function_rows import PAUSE_US
from peers import BenchError, babeltrace_events, clock_seconds, cpu_seconds
from rows import RING_DISCARD, median
from table import Row

# Formats for all events, and formats for calls only.
TIMELINES = ("perfetto", "chrome", "csv", "jsonl")
PROFILES = ("folded", "speedscope", "pprof", "callgrind", "firefox")
TARGET = 1e6  # events a second
TABLES_TARGET = 2e6


def measure(bench, trace, events, formats, beside=None):
    """Rates by processor time of each format, and of the commands in `beside`."""
    out = Path(bench.work) / "exported"
    # To a file, as users do: the file system's time is part of it.
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
    # Profiles are sums: their size says nothing.
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


TABLES = {"parquet": "export: parquet, all tables", "query": "query: events of a recording by name",
          "query_parquet": "query: events in Parquet by name"}
KV = {"kv": "export: parquet of kv, all tables"}


def tables_rates(bench):
    """Events a second, by the clock since several threads do it, and the bytes of each in Parquet."""
    args = ["-k", "n", "-c", 5 if bench.quick else 100, "-n", 20000, "-w", 0, "-p", 3000]
    _, stat, trace = bench.record([bench.program("event"), *args], "-m", RING_DISCARD, keep=True)
    out = Path(bench.work) / "tables"
    question = "SELECT name, count(*) FROM events GROUP BY name"
    commands = {"parquet": ["export", "-q", "--to", "parquet", "-f", "-o", out, trace],
                "query": ["query", "--json", question, trace], "query_parquet": ["query", "--json", question, out]}
    rates = {name: stat["recorded"] / median(clock_seconds([bench.hodo, *command]) for _ in range(bench.rounds))
             for name, command in commands.items()}
    size = sum(f.stat().st_size for f in out.rglob("*.parquet")) / stat["recorded"]
    shutil.rmtree(trace)
    shutil.rmtree(out)
    return rates, size


def kv_row(bench):
    """A store with spans, labels and counters, all tables, beside babeltrace2's text of the same recording."""
    requests = 40000 if bench.quick else 1400000
    _, stat, trace = bench.record([bench.find("kv", "examples/kv"), "-n", requests], "-m", "512M", keep=True)
    out = Path(bench.work) / "tables"
    commands = {"ours": [bench.hodo, "export", "-q", "--to", "parquet", "-f", "-o", out, trace],
                "text": ["babeltrace2", "-o", "text", trace]}
    seconds = {name: [] for name in commands}
    for _ in range(bench.rounds):
        for name, command in commands.items():
            seconds[name].append(clock_seconds(command))
    rate, peer = (stat["recorded"] / median(seconds[name]) for name in commands)
    shutil.rmtree(trace)
    shutil.rmtree(out)
    return Row("export_kv", KV["kv"], f"{rate / 1e6:.2f} M/s",
               f"babeltrace2 text {peer / 1e6:.2f} M/s", rate / peer, faster=True,
               target=f">= {TABLES_TARGET / 1e6:.0f} M/s", reached=rate >= TABLES_TARGET,
               values={"events_per_s": rate, "peer_events_per_s": peer})


def export_tables(bench):
    try:
        cpu_seconds([bench.hodo, "query", "--shell", "/"])
    except BenchError as error:
        if "DuckDB is not installed" in str(error):
            return [Row(f"export_{name}", what, "DuckDB is not here", "") for name, what in (TABLES | KV).items()]
    rates, size = tables_rates(bench)
    return [Row(f"export_{name}", TABLES[name],
                f"{rate / 1e6:.2f} M/s" + (f", {size:.0f} B each" if name == "parquet" else ""), "",
                target=f">= {TABLES_TARGET / 1e6:.0f} M/s", reached=rate >= TABLES_TARGET,
                values={"events_per_s": rate}) for name, rate in rates.items()] + [kv_row(bench)]


GROUPS = {"export": export_events, "export_calls": export_calls, "export_tables": export_tables}
