# SPDX-License-Identifier: MIT
"""clickhouse_rows - how fast a recording gets into ClickHouse, on the same machine, and what it takes there."""
import os
import shutil
import sys
from pathlib import Path

from peers import clock_seconds
from rows import median
from table import Row

WHAT = {"": "export: clickhouse, all tables", "_events": "export: clickhouse, the table of all events"}
TICKS = os.sysconf("SC_CLK_TCK")


def server_class(bench):
    """The one of the tests, whose modules want to know what they test."""
    source = Path(__file__).resolve().parent.parent
    os.environ.update(HODO=str(bench.hodo), LIBHODO="", COMPARE="", SOURCE=str(source))
    sys.path.append(str(source / "tests/verb/export"))
    import clickhouse_server  # pylint: disable=import-outside-toplevel
    return clickhouse_server.Server if clickhouse_server.PROGRAM else None


def processor_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure(bench, server, trace, events, tables):
    """Events a second by the clock, processor time of the server for each million, and bytes of each on its disk."""
    times, spent = [], []
    for _ in range(bench.rounds):
        server.ask("DROP DATABASE IF EXISTS bench")
        before = processor_s(server.process.pid)
        times.append(clock_seconds([bench.hodo, "export", "-q", "--to", "clickhouse", "--url", server.url,
                                    "--database", "bench", *tables, trace]))
        spent.append(processor_s(server.process.pid) - before)
    size = server.number("SELECT sum(bytes) FROM system.parts WHERE database = 'bench' AND active")
    return events / median(times), median(spent) * 1e6 / events, size / events


def export_clickhouse(bench):
    server_of = server_class(bench)
    if not server_of:
        return [Row(f"export_clickhouse{name}", what, "clickhouse-server is not here", "")
                for name, what in WHAT.items()]
    requests = 20000 if bench.quick else 400000
    _, stat, trace = bench.record([bench.find("kv", "examples/kv"), "-n", requests, "-t", 1], "-m", "64M", keep=True)
    server = server_of(Path(bench.work) / "clickhouse")
    rows = []
    try:
        for name, what in WHAT.items():
            rate, spent, size = measure(bench, server, trace, stat["recorded"],
                                        ["--tables", name[1:]] if name else [])
            found = f"{rate / 1e6:.2f} M/s, {size:.1f} B each; server: {spent:.1f} s of CPU a million"
            rows.append(Row(f"export_clickhouse{name}", what, found, "",
                            values={"events_per_s": rate, "server_s_per_million": spent, "bytes": size}))
    finally:
        server.stop()
        shutil.rmtree(trace)
        shutil.rmtree(server.folder)
    return rows


GROUPS = {"export_clickhouse": export_clickhouse}
