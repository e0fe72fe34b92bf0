#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spans.py: if two objects have code whose addresses are the same modulo 128 MiB, the calls of one are short
records; those of the other are events. The recording has the calls of both as they were made."""
import collections
import json
import re

from hodo_test import Case, json_lines, main, program

HOST, WIDE_HOST, DATA_HOST = program("HOST"), program("WIDE_HOST"), program("DATA_HOST")
SMALL, WIDE = program("SMALL"), program("WIDE")
SPAN = 128 << 20
CALLS = {"work": 100, "leaf": 200, "distant": 100}  # for each time that a library is called
TREE = ((0, "work"), (1, "leaf"), (1, "distant"), (2, "leaf"))
RECORDS = 2 * sum(CALLS.values())
SHORT_BYTES, LONG_BYTES = 8, 18
SLOW_BYTES = 4000  # the first record on a CPU or in a packet may be an event; all of one time would be 8,000 more

Object = collections.namedtuple("Object", "code mapped")


class Spans(Case):
    def objects(self):
        """The objects with functions, in order: where the code is if its calls are short, and how much is mapped."""
        (folder,) = [name for name in self.folders() if not name.startswith(".")]
        found = []
        for line in re.findall(r"(?m)^/\*@object (.*)\*/$", self.metadata(folder)):
            pairs = dict(word.split("=", 1) for word in line.split())
            if int(pairs["functions"]):
                code = [int(pairs[key], 16) for key in ("short_start", "short_end") if key in pairs]
                found.append(Object(code, int(pairs["end"], 16) - int(pairs["start"], 16)))
        return found

    def check(self, expected, *command):
        """expected: [(library, whether its calls are short)] for each time that one is called, in order."""
        # The host has none of these functions, or others.
        done = self.record("--functions=own_*,small_*,wide_*,linked_*", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.lost(), 0, done.stderr)
        times = collections.Counter(name for name, _ in expected)
        calls = {f"{name}_{what}": n * times[name] for name in times for what, n in CALLS.items()}
        # Each entry and exit in its order, in the right function; babeltrace2 agrees.
        events = [e["name"] for e in self.events()]
        self.assertEqual(collections.Counter(events), dict.fromkeys(("func:entry", "func:exit"), sum(calls.values())))
        report = json.loads(self.ok("report", "-q", "--json", self.data))
        self.assertEqual({f["function"]: f["calls"] for f in report["functions"]}, calls)
        graph = json_lines(self.ok("graph", "-q", "--json", self.data))
        graph.pop()  # the summary
        graph.sort(key=lambda call: (call["ts"], call["depth"]))
        self.assertEqual([(call["depth"], call["function"]) for call in graph],
                         [(depth, f"{name}_{what}") for name, _ in expected for depth, what in TREE * 100])
        least = sum(RECORDS * (SHORT_BYTES if is_short else LONG_BYTES) for _, is_short in expected)
        self.assertIn(sum(e["bytes"] for e in self.stat()["events"]), range(least, least + SLOW_BYTES))

    def test_data(self):
        """Data does not matter: the mapping is larger than addresses can distinguish, but the code is not."""
        self.check([("own", True), ("small", True)], DATA_HOST, "own", f"small={SMALL}", "small")
        own, small = self.objects()
        self.assertGreater(own.mapped, SPAN)
        self.assertTrue(own.code and small.code)
        # A function has one address, also where a call of it was written as an event, as the first one of a thread is.
        addresses = {e["fields"]["addr"] for e in self.events() if e["name"] == "func:entry"}
        self.assertEqual(len(addresses), 2 * len(CALLS))

    def test_from_the_start(self):
        """The program comes before its libraries."""
        self.check([("linked", False), ("own", True), ("linked", False)], WIDE_HOST, "linked", "own", "linked")
        own, linked = self.objects()
        self.assertIn(own.code[1] - own.code[0], range(SPAN - 4096, SPAN))
        self.assertEqual(linked.code, [])

    def test_opened_and_closed(self):
        """A library that is open keeps its short calls; after it is closed, one that is opened may have them."""
        wide, small = f"wide={WIDE}", f"small={SMALL}"
        steps = [wide, "wide", small, "small", "wide", "wide=", "small", "small=",
                 small, "small", wide, "wide", "small", "wide=", "small="]
        self.check([("wide", True), ("small", False), ("wide", True), ("small", False),
                    ("small", True), ("wide", False), ("small", True)], HOST, *steps)
        self.assertEqual([bool(o.code) for o in self.objects()], [True, False, True, False])

    def test_one_after_the_other(self):
        """Libraries that follow each other, at the same place or elsewhere."""
        wide, small = f"wide={WIDE}", f"small={SMALL}"
        again = [small, "small", "small=", wide, "wide", "wide="] * 20
        self.check([("small", True), ("wide", True)] * 20, HOST, *again)


main()
