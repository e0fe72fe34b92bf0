#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""arguments.py - hodo record --functions --args: calls have their arguments and results (arguments.cc)."""
import os
from collections import Counter

from argument_values import PROGRAM, Arguments
from hodo_test import main

STRIPPED, LOW = os.environ["STRIPPED"], os.environ["LOW"]


class Plain(Arguments):
    def test_values(self):
        self.assertEqual(self.record("--functions", "--args"), "")
        self.check_values(self.calls())

    def test_text(self):
        self.record("--functions", "--args=fact,choose,Store::put")
        lines = [line.split("| ", 1)[1].strip() for line in self.graph() if "| " in line]
        for line in ('choose(text="key", second=true) = "ey";', "choose(text=(null), second=false) = (null);",
                     "fact(n=5) {", "fact(n=1) = 1;", "} = 120 /* fact */", "half();"):
            self.assertIn(line, lines)
        self.assertTrue(any(line.startswith("Store::put(this=0x") for line in lines), lines)

    def test_events(self):
        """They are events: filters see them, and patterns that name other events do not exclude them."""
        self.record("--functions", "--args=fact", "-e", "none:*", "--filter", "n != 3")
        events = [e for e in self.events("d") if e["name"] == "args:fact"]
        self.assertTrue(events)
        self.assertNotIn(3, [e["fields"]["n"] for e in events])
        self.assertEqual({(args or {}).get("n") for args, _ in self.calls()["fact"]}, {0, 1, 2, 4, 5, None})

    def test_refused(self):
        for options, why in ((["--args"], "add --functions"),
                             (["--functions", "--args", "--tracer", "profile"], "goes with the tracer record"),
                             (["--functions", "--args", "--min-time", "1ms"], "goes with the tracer record"),
                             (["--functions", "--args=!fact"], "name the functions to include")):
            done = self.hodo("record", "-q", "-o", "d", *options, "--", PROGRAM)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)
        self.assertIn("that takes debug information", self.record("--functions", "--args", program=STRIPPED))
        self.assertIn("fact", str(self.graph()))
        self.assertIn("cannot be turned off", self.record("--functions", "--args", program=LOW))


if __name__ == "__main__":
    main()
