# SPDX-License-Identifier: MIT
"""parquet - what tests of tables share: rows of Parquet files as hyparquet reads them, and their expected values."""
import json
import math
import os
import pathlib
import re
import struct
import unittest
from urllib.parse import unquote

import exporting
from hodo_test import HODO, run, skip
from profiles import node_modules

HERE = pathlib.Path(__file__).parent


def need_duckdb():
    """Skips the script where there is no DuckDB."""
    done = run(HODO, "query", "--shell", "/", input="")
    if "DuckDB is not installed" in done.stderr:
        skip("there is no libduckdb.so: the build had no npm, or no network")


def from_node(value):
    """A value as parquet_rows.mjs writes it."""
    if isinstance(value, dict):
        if set(value) == {"$n"}:
            return int(value["$n"])
        if set(value) == {"$f"}:
            return value["$f"]
        if set(value) == {"$b"}:
            return value["$b"]
        return {k: from_node(v) for k, v in value.items()}
    return [from_node(v) for v in value] if isinstance(value, list) else value


def single(value):
    """The float as a program that has only doubles sees it."""
    return struct.unpack("f", struct.pack("f", value))[0]


def same_number(got, value):
    if isinstance(value, str): # such as NaN
        return str(got) == value
    if isinstance(value, float) or isinstance(got, float):
        got = float(got) # JavaScript has no other numbers, and writes whole ones without a point
        return got == value or (not math.isinf(got) and single(value) == got) or (math.isnan(got) and value == "NaN")
    return got == value and isinstance(got, bool) == isinstance(value, bool)


def same(got, value):
    """Whether a cell has the value that print --json shows."""
    if isinstance(value, list):
        return isinstance(got, list) and len(got) == len(value) and all(map(same_number, got, value))
    return got == value if isinstance(value, str) and isinstance(got, str) else \
        got is None if value is None else got is not None and same_number(got, value)


class Case(exporting.Case):
    def lake(self, name, *args, to=None):
        """A Parquet directory made from a recording."""
        made = self.path(f"{name}-{'-'.join(map(str, args))}.lake".replace("/", "_"))
        if not to and os.path.exists(made):
            return made
        to = to or made
        self.ok("export", "-q", "--to", "parquet", "-o", to, *args, name)
        return to

    def files(self, lake, table="*"):
        """A table's files, in the order in which they were written, for each host and day."""
        return sorted(pathlib.Path(lake).glob(f"{table}/*/*/*.parquet"))

    def hyparquet(self, *files):
        modules, why = node_modules()
        if not modules:
            raise unittest.SkipTest(why)
        done = run("node", HERE / "parquet_rows.mjs", modules, *files, status=0)
        # Texts may contain characters that splitlines() takes for line ends.
        lines = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
        return [{**line, "row": from_node(line["row"])} for line in lines]

    def tables(self, lake, table="*"):
        """The rows of each table, in order."""
        found = {}
        for line in self.hyparquet(*self.files(lake, table)):
            found.setdefault(line["metadata"]["hodo_table"], []).append(line["row"])
        return found

    def rows(self, lake, table):
        return self.tables(lake, table).get(table, [])

    def query(self, sql, *where, args=()):
        return [json.loads(line) for line in self.ok("query", "--json", *args, sql, *where).split(b"\n")[:-1]]

    def folders(self, lake):
        return {unquote(p.name) for p in pathlib.Path(lake).iterdir() if p.is_dir()}

    def check_fields(self, fields, event, prefix=""):
        """Checks an event's fields and context, whose columns may have their type in the name as well."""
        wanted = {prefix + k if prefix and k in prefix else k: v for k, v in event["fields"].items()}
        wanted |= {f"context_{k}": v for k, v in event.get("context", {}).items()}
        labels = {f"{k}_label": v for k, v in event.get("labels", {}).items()}
        got = {k: v for k, v in (fields or {}).items() if v is not None}
        for name, value in {**wanted, **labels}.items():
            if value is None:
                continue
            like = [k for k in got if re.fullmatch(re.escape(name) + r"(_[a-z0-9]+)?", k, re.I)]
            found = [k for k in like if same(got[k], value)]
            self.assertTrue(found, (name, value, got, event))
            del got[min(found, key=len)]
        self.assertEqual(got, {}, event)

    def check_events(self, rows, events):
        self.assertEqual(len(rows), len(events))
        for row, event in zip(rows, events):
            for column, key in (("ts", "ts"), ("cpu", "cpu"), ("pid", "pid"), ("tid", "tid"), ("thread", "comm"),
                                ("name", "name"), ("text", "text")):
                self.assertEqual(row[column], event.get(key), (column, event))
            if "function" in event:
                self.assertEqual(row["function"], event["function"], event)
            self.check_fields(row["fields"], event)
