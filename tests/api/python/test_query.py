#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of the Python module and those of SQL are the same, row by row."""
import collections
import dataclasses
import json
import math
import os
import struct
import sys
import warnings

sys.path.insert(0, os.environ["EXPORT"])

# pylint: disable=wrong-import-position
import parquet
from hodo_test import SOURCE, main

sys.path.insert(0, str(SOURCE / "python"))
import hodo

HEAD = ("ts", "host", "process", "pid", "thread", "tid", "cpu")
SLICES = ("state", "end_ns", "duration_ns", "self_ns", "depth", "id", "parent_id", "parent")
SPANS = ("name", "kind", "off_cpu_ns", "end_tid", *SLICES)
CALLS = ("function", "object", *SLICES)


def plain(value):
    """A value as both have it: bytes as in JSON, floats as single ones, of which JSON has fewer digits."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, float):
        try:
            return struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            return value
    return value


def counted(rows, columns, fields):
    """Rows as text, each with how often it comes: the columns, and the values of fields, whatever their columns' names
    are, which depend on what else is in the table."""
    return collections.Counter(json.dumps([{c: plain(row[c]) for c in columns},
                                           sorted(json.dumps(plain(v)) for v in fields(row) if v is not None)])
                               for row in rows)


class Tables(parquet.Case):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore", hodo.RecordingWarning)

    def recordings(self):
        yield from (self.generate("GEN_CALLS", scenario) for scenario in
                    ("calls", "spans", "whole", "kinds", "lossy", "exit_lost", "again", "found"))
        yield from (self.generate("GEN_TRACE", scenario) for scenario in ("all", "lost"))
        yield from (self.generate("GEN_TRACE", "random", seed) for seed in range(1, 5))
        yield self.generate("GEN_REPORT", "kernel")
        yield self.record()
        yield self.record("context", "--context", "cpu_time,pid", functions=False)

    def check(self, name, table, python, columns):
        """The number of rows of a table, which both have."""
        rest = {*HEAD, *columns, "text"}
        also = "address" if table == "calls" else "name"
        sql = self.query(f'FROM "{table}"', name)
        columns = (*HEAD, *columns, *(["text"] if "text" in python else []))
        of_sql = counted(sql, columns, lambda row: row.get("fields", {}).values() if table in ("spans", "calls") else
                         [v for k, v in row.items() if k not in {*rest, "function"}])
        of_python = counted(python, columns, lambda row: [v for k, v in row.items() if k not in {*rest, also}])
        self.assertEqual(of_python, of_sql, (name, table))
        return len(sql)

    def test_spans_and_calls(self):
        found = collections.Counter()
        for name in self.recordings():
            with self.subTest(name), hodo.open(self.path(name)) as recording:
                spans, calls = recording.spans(), recording.calls()
                found["spans"] += self.check(name, "spans", spans, SPANS)
                found["calls"] += self.check(name, "calls", calls, CALLS)
                ids = {row["id"]: row for row in [*spans, *calls]}
                self.assertEqual(len(ids), len(spans) + len(calls))
                for row in ids.values():
                    found["inside"] += row["parent_id"] in ids
                    found["in_calls"] += "function" in ids.get(row["parent_id"], {}) and "function" not in row
                    found[row["state"]] += 1
        for what in ("spans", "calls", "inside", "in_calls", "ended", "left", "open", "end_lost", "exit_lost",
                     "no_exit"):
            self.assertGreater(found[what], 0, what)

    def test_events(self):
        n = 0
        for name in self.recordings():
            with self.subTest(name), hodo.open(self.path(name)) as recording:
                for event in self.counts(name):
                    n += self.check(name, event, recording.table(event), ())
        self.assertGreater(n, 1000)

    def test_facts(self):
        for name in self.recordings():
            with self.subTest(name), hodo.open(self.path(name)) as recording:
                for table, rows in (("losses", recording.losses()), ("processes", recording.processes)):
                    rows = [dataclasses.asdict(row) for row in rows]
                    wanted = self.query(f"FROM {table}", name)
                    for row in [*rows, *wanted]:
                        row.pop("recording", None)
                        if table == "processes":
                            row.pop("damaged", None) # the sum of losses
                            row.pop("event_numbers", None)
                    self.assertEqual(sorted(map(json.dumps, rows)), sorted(map(json.dumps, wanted)), table)


if __name__ == "__main__":
    parquet.need_duckdb()
    main()
