#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""csv and jsonl: the same as the output of hodo print --json, value for value."""
import csv
import io
import json
import math
import os
import pathlib
import subprocess

from exporting import Case
from hodo_test import main

FIXED = ["ts", "cpu", "pid", "tid", "comm", "name", "text", "function"]


def text_cell(text):
    """A spreadsheet must not compute a text."""
    return "'" + text if text[:1] and text[0] in "=+-@\t\r\n'" else text


def cell(value):
    """The content of a cell for a JSON value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return value
    return text_cell(value) if isinstance(value, str) else str(value)


class Csv(Case):
    def check(self, name, *args):
        text = self.export("csv", name, *args).decode()
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        events = self.events(name, *args)
        self.assertEqual(len(rows) - 1, len(events))
        header = rows[0]
        self.assertEqual(len(set(header)), len(header))
        for row, event in zip(rows[1:], events):
            self.assertEqual(len(row), len(header))
            got = dict(zip(header, row))
            for key in FIXED:
                if key in header:
                    self.assertEqual(got.pop(key), cell(event.get(key)) if key != "function" or event.get(key)
                                     else got.get(key, ""), key)
            expected = {text_cell("field_" + k if k in FIXED else k): v for k, v in event["fields"].items()}
            expected |= {f"context_{k}": v for k, v in event.get("context", {}).items()}
            for key, value in got.items():
                self.same(value, expected.get(key), (key, event))
            self.assertLessEqual(set(expected), set(got))
        return header, rows

    def same(self, got, value, where):
        if isinstance(value, float) or (isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity")
                                        and got in ("nan", "inf", "-inf")):
            number = float(value)
            self.assertTrue(float(got) == number or (math.isnan(number) and got == "nan"), where)
        elif isinstance(value, list):
            self.assertTrue(got.startswith("[") and got.endswith("]"), where)
            parts = [p for p in got[1:-1].split(",") if p]
            self.assertEqual([float(p) if isinstance(v, (float, str)) else json.loads(p)
                              for p, v in zip(parts, value)],
                             [float(v) if isinstance(v, str) else v for v in value], where)
            self.assertEqual(len(parts), len(value), where)
        else:
            self.assertEqual(got, cell(value), where)

    def test_real(self):
        header, rows = self.check(self.record())
        self.assertEqual(header[:8], FIXED)
        self.assertIn("field_name", header)
        functions = {row[7] for row in rows[1:] if row[5] == "func:entry"}
        self.assertLessEqual({"main", "work", "middle", "leaf"}, functions)

    def test_every_type(self):
        self.check(self.generate("GEN_TRACE", "all"))

    def test_random_values(self):
        for seed in range(1, 9):
            self.check(self.generate("GEN_TRACE", "random", seed))

    def test_context(self):
        header, _ = self.check(self.record("context", "--context", "comm,ip,pid"))
        self.assertIn("context_comm", header)

    def test_hostile(self):
        self.check(self.generate("GEN_REPORT", "hostile"))
        header, rows = self.check(self.hostile())
        self.assertIn('k"<b>\u00ff\'\\', header)
        self.assertIn('kv:"</script>\x1b[31m,\u00ff\nput', {row[5] for row in rows})

    def test_formulas(self):
        """Texts stay texts in a spreadsheet, and come back from it unchanged."""
        for n, first in enumerate("=+-@\t\r\n'"):
            name = self.generate("GEN_TRACE", "all", n)
            file = pathlib.Path(self.path(name), "kvd-412", "metadata")
            text, code = file.read_text(), f"%{ord(first):02x}"
            for old, new in (("name=kv:put ", f"name={code}put "), ("fields=key:str", f"fields={code}key:str"),
                             ("comm=kvd%20worker", f"comm={code}1+1"), ("format=key%20", f"format={code}key%20")):
                self.assertIn(old, text)
                text = text.replace(old, new)
            file.write_text(text)
            header, rows = self.check(name)
            self.assertIn(f"'{first}key", header)
            cells = {cell for row in rows for cell in row}
            self.assertLessEqual({f"'{first}put", f"'{first}1+1"}, cells)
            self.assertTrue(any(c.startswith(f"'{first}key ") for c in cells))
            self.assertEqual({c for c in cells if c[:1] and c[0] in "=+@\t\r\n"}, set())

    def test_null_and_empty_differ(self):
        text = self.export("csv", self.record()).decode()
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        row = next(row for row in rows if row["name"] == "kv:all")
        self.assertEqual((row["nothing"], row["empty"], row["key"]), ("", "", ""))
        columns = text.split("\n", 1)[0].split(",")
        after = len(columns) - columns.index("empty") - 1
        # A reader of CSV sees both as empty, but a text that was there has quotes.
        self.assertRegex(text, '(?m)[^,],"",' + "," * (after - 1) if after else '(?m),""$')

    def test_times(self):
        name = self.record()
        since, until = self.middle(name)[1::2]
        before, _ = self.check(name, "--until", since)
        inside, rows = self.check(name, "--since", since, "--until", until)
        after, _ = self.check(name, "--since", until)
        self.assertEqual(before, inside)
        self.assertGreater(len(rows), 1)
        self.assertEqual(before, after)

    def test_classes_without_events_have_no_columns(self):
        name = self.record("few", "-e", "kv:lookup", functions=False)
        header, _ = self.check(name)
        self.assertEqual(header, ["ts", "cpu", "pid", "tid", "comm", "name", "n", "key", "ratio"])

    def test_more_fields_than_columns(self):
        """Fields without their own column are in the last one."""
        many = os.path.join(self.dir, "wide")
        subprocess.run([os.environ["EXPORT_WIDE"], many, "300"], check=True)
        rows = list(csv.DictReader(io.StringIO(self.export("csv", many).decode(), newline=""), strict=True))
        columns = list(rows[0])
        self.assertEqual((len([c for c in columns if c.startswith("f")]), columns[-1]), (1000, "more"))
        for row, event in zip(rows, self.events(many), strict=True):
            got = {k: v for k, v in row.items() if k.startswith("f") and v}
            got |= {k: str(v) for k, v in json.loads(row["more"] or "{}").items()}
            self.assertEqual(got, {k: str(v) for k, v in event["fields"].items()})

    def test_nothing(self):
        name = self.record("none", "-e", "kv:nothing", functions=False)
        self.assertEqual(self.export("csv", name), b"ts,cpu,pid,tid,comm,name\n")


class Jsonl(Case):
    def test_as_print(self):
        for name in (self.record(), self.hostile(), self.generate("GEN_CALLS", "calls"),
                     self.record("context", "--context", "comm,ip,callstack")):
            self.assertEqual(self.export("jsonl", name), self.ok("print", "--json", "-q", name))

    def test_times(self):
        name = self.record()
        args = self.middle(name)
        self.assertEqual(self.export("jsonl", name, *args), self.ok("print", "--json", "-q", *args, name))


if __name__ == "__main__":
    main()
