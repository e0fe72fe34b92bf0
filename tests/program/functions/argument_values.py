# SPDX-License-Identifier: MIT
"""argument_values.py - the arguments and results of the calls in arguments.cc."""
import json
import os
from collections import Counter

from hodo_test import Case

PROGRAM = os.environ["ARGUMENTS"]
FACT = [1, 1, 2, 6, 24, 120]


def name_of(function):
    return function.split("(")[0]


class Arguments(Case):
    def record(self, *options, program=PROGRAM):
        done = self.hodo("record", "-q", "-o", "d", *options, "--", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def graph(self, *options):
        done = self.hodo("graph", "-q", *options, "d")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def calls(self):
        """By function: a list of (arguments, result)."""
        lines = [json.loads(line) for line in self.graph("--json")]
        calls = {}
        for line in lines:
            if "function" in line:
                calls.setdefault(name_of(line["function"]), []).append((line.get("args"), line.get("result")))
        return calls

    def check_values(self, calls):
        """The calls of one round, without inlined ones."""
        self.assertEqual(calls["sum"], [({"a": -1, "b": 200, "c": -5000000000, "d": 4, "e": 5, "f": 6, "g": -7,
                                          "h": 1 << 63}, (1 << 63) - 4999999793)])
        self.assertEqual(calls["choose"], [({"text": "key", "second": True}, "ey"),
                                           ({"text": None, "second": False}, None)])
        self.assertEqual(calls["half"], [({"x": 5}, 2.5)])
        self.assertEqual([list(a) for a, _ in calls["nothing"]], [["p"]])
        self.assertIsNone(calls["nothing"][0][1])
        self.assertEqual(calls["plain"], [(None, 42)])
        self.assertEqual(calls["odd"], [({"addr_": 9, "n": 2}, 7)])
        self.assertEqual(calls["throws"], [({"n": 1}, 1), ({"n": 2}, 2), ({"n": 3}, None), ({"n": 4}, None)])
        # It jumps to another function, which returns in its place.
        self.assertEqual(calls["tail"][0][0], {"n": -1})
        (args, result), = calls["Store::put"]
        self.assertEqual((args["key"], args["weight"], result), ("abc", 2.5, 99))
        (args, result), = calls["Store::get"]
        self.assertEqual((args["n"], result), (-3, 97 * -3))
        expected = Counter({n: 1 for n in range(1, 6)})
        for _ in range(2):
            for i in range(50):
                expected.update(range(min(i % 5, 1), i % 5 + 1))
        self.assertEqual(Counter(args["n"] for args, _ in calls["fact"]), expected)
        for args, result in calls["fact"]:
            self.assertEqual(result, FACT[args["n"]])
