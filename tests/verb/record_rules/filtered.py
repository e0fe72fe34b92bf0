#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records filtered.c with --filter and checks that the recording has exactly the events
that the same condition, written in Python, selects from an unfiltered recording.

HODO, FILTERED and COMPARE (tests/lib/compare_bt2.py) are in the environment.
"""
import collections
import os
import tempfile
import unittest

from hodo_test import hodo, main, program, recorded

FILTERED = program("FILTERED")


def record(directory, *options):
    """(name, fields) of the events, in order."""
    return [(e["name"], e["fields"]) for e in recorded(os.path.join(directory, "trace"), FILTERED, options=options)]


def has(fields, *names):
    return all(fields.get(name) is not None for name in names)


CASES = [
    ("n == 7", lambda f: f.get("n") == 7),
    ("n != 7", lambda f: has(f, "n") and f["n"] != 7),
    ("!(n == 7)", lambda f: has(f, "n") and f["n"] != 7),
    ("n % 10 == 3 && quarter < 10", lambda f: has(f, "quarter") and f["n"] % 10 == 3 and f["quarter"] < 10),
    ("big > 18446744073709551600", lambda f: has(f, "big") and f["big"] > 18446744073709551600),
    ("big > -1 && n < 3", lambda f: has(f, "big") and f["n"] < 3),
    ('key =~ "user:*"', lambda f: has(f, "key") and f["key"].startswith("user:")),
    ('key == "admin" || third >= 24.5', lambda f: f.get("key") == "admin" or f.get("third", 0) >= 24.5),
    ("third / 3 > 7.9", lambda f: f.get("third", 0) / 3 > 7.9),
    ("last == 24", lambda f: f.get("last") == 24),
    ("has(blob) && !has(key)", lambda f: "blob" in f and not has(f, "key")),
    ("!has(n)", lambda f: "n" not in f),
    ("!has(n) || n > 97", lambda f: "n" not in f or f["n"] > 97),
    ("1", lambda f: True),
    ("0", lambda f: False),
    ("nobody == 3", lambda f: False),
    ('n >> 2 == 5 ? key !~ "*[0-9]" : n == 99',
     lambda f: has(f, "n") and ((has(f, "key") and not f["key"][-1].isdigit()) if f["n"] >> 2 == 5
                                else f["n"] == 99)),
]


class Filtered(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="hodo-filter-") as directory:
            cls.all = record(directory)
        names = collections.Counter(name for name, _ in cls.all)
        assert names == {"f:fixed": 100, "f:mixed": 100, "f:real": 100, "f:mark": 100, "f:bare": 100,
                         "f:signal": 10}, names

    def test_cases(self):
        for expr, condition in CASES:
            with self.subTest(expr), tempfile.TemporaryDirectory(prefix="hodo-filter-") as directory:
                self.assertEqual(record(directory, "--filter", expr),
                                 [(name, fields) for name, fields in self.all if condition(fields)])

    def test_with_patterns(self):
        with tempfile.TemporaryDirectory(prefix="hodo-filter-") as directory:
            self.assertEqual(record(directory, "-e", "f:m*,!f:mark", "--filter", "n < 5"),
                             [(name, fields) for name, fields in self.all
                              if name == "f:mixed" and fields["n"] < 5])

    def test_mistakes(self):
        with tempfile.TemporaryDirectory(prefix="hodo-filter-") as directory:
            trace = os.path.join(directory, "trace")
            for expr, message in [("n == ", "expected a value at column 6"),
                                  ("n = 3", "'=' (write '==' for equal) at column 3"),
                                  ("n +" * 1000, "expression too long")]:
                done = hodo("record", "-o", trace, "--filter", expr, "--", FILTERED, status=2)
                self.assertEqual(done.stderr.count("\n"), 1)
                self.assertTrue(done.stderr.startswith("hodo: "), done.stderr)
                self.assertIn(message, done.stderr)
            self.assertFalse(os.path.exists(trace))


main()
