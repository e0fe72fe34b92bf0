#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of hodo stat, info, list and report: every column alone, as an order, and as a difference.

HODO and GEN_REPORT (tests/lib/recordings/gen_report.c) are in the environment.
"""
import json
import re

import hodo_test
from hodo_test import main

# The names in --json for the tables of --columns=help.
VERBS = {"stat": [], "info": [], "list": [], "report": []}


class Case(hodo_test.Case):
    SHARED = True

    def setUp(self):
        super().setUp()
        for name, seed in ("a", 3), ("b", 4):
            self.generate("GEN_REPORT", "both", 600, seed, name=name)

    def ok(self, *args):
        done = self.hodo(*args)
        self.assertEqual((done.returncode, done.stderr), (0, ""), args)
        return done.stdout

    def tables(self, verb):
        """Each table's columns, as --columns=help lists them."""
        found = {}
        for line in self.ok(verb, "--columns=help", "a").splitlines():
            table, _, names = line.partition(": ")
            found[table] = [name.partition(" (or ")[0] for name in names.split(", ")]
        self.assertTrue(found and all(found.values()), verb)
        return found

    def rows(self, table, *args):
        """The rows of a table of JSON; None: there is no such table."""
        return json.loads(self.ok(*args, "--json")).get(table)


class Columns(Case):
    def test_each(self):
        """One column is one key of each row; and in text, one title above values."""
        seen = 0
        for verb in VERBS:
            for table, names in self.tables(verb).items():
                for name in names:
                    args = (verb, "-q", "--columns", name, "a")
                    text = self.ok(*args)
                    for row in self.rows(table, *args) or []:
                        # --by gives the group its name; a row has no key for a missing value.
                        self.assertLessEqual(len(row), 1, (verb, name, row))
                        self.assertTrue(set(row) <= {name, "thread", "recorded_by"}, (verb, name, row))
                        seen += len(row)
                    self.assertFalse([line for line in text.splitlines() if "\t" in line])
        self.assertGreater(seen, 1000)

    def test_other_names(self):
        """The other name of a column shows the same."""
        pairs = {pair for verb in VERBS for pair in
                 re.findall(r"(\w+) \(or (\w+)\)", self.ok(verb, "--columns=help", "a"))}
        self.assertIn(("count", "calls"), pairs)
        for name, other in pairs:
            verb = "info" if name == "recorded" else "report"
            # One name may be a column of another table.
            shown, also = (self.ok(verb, "-q", "--columns", n, "a") for n in (name, other))
            self.assertTrue(set(shown.splitlines()) <= set(also.splitlines()), (name, other))

    def test_order(self):
        """Columns are in the requested order, with the values that they have in the whole table."""
        whole = self.rows("events", "stat", "a")
        some = self.rows("events", "stat", "--columns", "bytes,name", "a")
        self.assertEqual([list(row) for row in some], [["bytes", "name"]] * len(whole))
        self.assertEqual(some, [{"bytes": row["bytes"], "name": row["name"]} for row in whole])
        head, first, *_ = self.ok("stat", "--columns", "bytes,name", "a").splitlines()
        self.assertEqual(head.split(), ["SIZE", "EVENT"])
        self.assertEqual(first.split()[-1], whole[0]["name"])

    def test_of_some_tables(self):
        """Tables without the columns are not shown; those with some of them show these."""
        text = self.ok("report", "-q", "--columns", "why,max", "a")
        self.assertIn("WHY", text)
        self.assertNotIn("Events:", text)
        self.assertNotIn("THREAD", text)
        every = json.loads(self.ok("report", "-q", "--json", "--columns", "why,max", "a"))
        self.assertEqual(every["events"], [])
        self.assertTrue(all(set(row) == {"why", "max_ns"} for row in every["off_cpu"]) and every["off_cpu"])
        self.assertTrue(all(set(row) <= {"max"} for row in every["values"]))


class Sort(Case):
    def test_each(self):
        """Numbers from the greatest down; process numbers and names from the least up."""
        ids = {"pid", "tid", "ppid", "uid", "line", "sites", "exits", "threads", "streams", "objects", "warnings"}
        checked = 0
        for verb in VERBS:
            for table, names in self.tables(verb).items():
                for name in names:
                    rows = self.rows(table, verb, "-q", "--sort", name, "a") or []
                    values = [row[name] for row in rows if name in row]
                    if len(values) != len(rows) or not values or isinstance(values[0], (dict, list, bool)):
                        continue
                    values = ["" if v is None else v for v in values] if any(isinstance(v, str) for v in values) \
                        else [v for v in values if v is not None]
                    if values and isinstance(values[0], str):
                        self.assertEqual([v.encode() for v in values], sorted(v.encode() for v in values), (verb, name))
                    else:
                        self.assertEqual(values, sorted(values, reverse=name not in ids), (verb, name))
                    checked += len(values) > 1
        self.assertGreater(checked, 30)

    def test_ties(self):
        """Rows that are equal in the column are in the order of their names."""
        rows = self.rows("events", "stat", "--sort", "limited", "a")
        self.assertEqual({row["limited"] for row in rows}, {0})
        names = [row["name"] for row in rows]
        self.assertEqual(names, sorted(names))


class Diff(Case):
    def test_stat(self):
        a, b = ({row["name"]: row for row in self.rows("events", "stat", d)} for d in "ab")
        rows = self.rows("events", "stat", "--diff", "b", "a")
        self.assertEqual({row["name"] for row in rows}, set(a) | set(b))
        changes = []
        for row in rows:
            for side, was in ("before", a), ("after", b):
                wanted = was.get(row["name"])
                self.assertEqual(row[side], wanted and {k: v for k, v in wanted.items() if k != "name"})
            changes.append(abs((row["before"] or {"count": 0})["count"] - (row["after"] or {"count": 0})["count"]))
        self.assertEqual(changes, sorted(changes, reverse=True))
        head, *lines = self.ok("stat", "--diff", "b", "a").splitlines()
        self.assertEqual(head.split(), "COUNT BEFORE AFTER CHANGE PER SECOND BEFORE AFTER CHANGE "
                                       "SIZE BEFORE AFTER CHANGE".split())
        self.assertEqual([line.split()[-1] for line in lines], [row["name"] for row in rows])

    def test_each_column(self):
        """Any column of any table can be compared, and can order the changes."""
        for verb in "stat", "report":
            for table, names in self.tables(verb).items():
                for name in names:
                    args = (verb, "-q", "--diff", "b", "--columns", name, "--sort", name, "a")
                    self.ok(*args)
                    rows = self.rows(table, *args)
                    plain = self.rows(table, verb, "-q", "--json", "--diff", "b", "a")
                    if table.startswith("slowest_"): # one by one: there is nothing to compare
                        self.assertIsNone(plain)
                        continue
                    self.assertEqual(len(rows), len(plain), (verb, table, name))
                    sides = [(row["before"], row["after"]) for row in rows]
                    both = [(x.get(name), y.get(name)) for x, y in sides if x is not None and y is not None]
                    both = [abs(y - x) for x, y in both if isinstance(x, (int, float)) and isinstance(y, (int, float))]
                    if len(both) == len(rows):
                        self.assertEqual(both, sorted(both, reverse=True), (verb, table, name))

    def test_same(self):
        """A recording does not differ from itself."""
        for row in self.rows("events", "stat", "--diff", "a", "a"):
            self.assertEqual(row["before"], row["after"])
        self.assertNotRegex(self.ok("stat", "--diff", "a", "a"), r"[+-][1-9]|new")


class Wrong(Case):
    def test_names(self):
        for verb in VERBS:
            for option in ("--columns", "moon"), ("--columns", "name,,count"), ("--columns", ""), ("--sort", "moon"), \
                    ("--sort", ""):
                done = self.hodo(verb, *option, "a")
                self.assertEqual((done.returncode, done.stdout), (2, ""), (verb, option))
                self.assertIn("--columns=help lists them", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)


main()
