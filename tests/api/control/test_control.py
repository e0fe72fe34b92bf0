#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""<hodo/control.h>: what control.c does in each scene, against what its recordings hold."""
import glob
import json
import os
import re

import hodo_test
from hodo_test import HODO, compare, main, program, readable, run

CONTROL = program("CONTROL")
EVENTS = 20000
ROUND = EVENTS + EVENTS // 100


class Control(hodo_test.Case):
    def scene(self, name, *prefix):
        done = run(*prefix, CONTROL, name, self.dir, status=0, **self.how({}))
        # A recorder may say that hodo_stop() was called, if it has looked before the program ended.
        self.assertEqual([line for line in done.stderr.splitlines()
                          if not re.search("events? w(as|ere) lost|its recording was ended", line)], [])
        return {said["at"]: said for said in map(json.loads, done.stdout.splitlines())}

    def files(self, end="flight"):
        return sorted(glob.glob(f"{glob.escape(self.dir)}/*.{end}"))

    def recover(self, *paths, whole=False):
        """Recovers the files; what hodo stat says of them. whole: babeltrace2 sees the same, event by event."""
        done = self.hodo("recover", "-q", "-o", self.data, *paths)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (compare if whole else readable)(self.data)
        return self.stat()

    def count(self, stat, name):
        return sum(e["count"] for e in stat["events"] if e["name"] == name)

    def test_errors(self):
        self.scene("errors")

    def test_exact(self):
        said = self.scene("exact")["end"]
        stat = self.recover(*self.files())
        self.assertEqual((stat["recorded"], stat["overwritten"]), (said["events"], 0))
        self.assertEqual(self.count(stat, "control:tick"), 5 * EVENTS)
        self.assertEqual(self.count(stat, "control:hundred"), 5 * EVENTS // 100)
        self.assertEqual((said["flight"], said["recorder"], said["known"], said["threads"]), (1, 0, 2, 5))

    def test_patterns(self):
        said = self.scene("patterns")["end"]
        stat = self.recover(*self.files(), whole=True)
        self.assertEqual(stat["recorded"] + stat["overwritten"], said["events"])
        self.assertEqual(said["events"], ROUND + EVENTS // 100)

    def test_snapshots(self):
        said = self.scene("snapshots")["end"]
        self.assertEqual(said["snapshots"], 20)
        self.assertEqual(len(self.files("snapshot")), 20)
        before = full = 0
        for number in range(1, 21):
            name, = glob.glob(f"{glob.escape(self.dir)}/*.{number}.snapshot")
            stat = self.recover(name, whole=number == 1)
            total = stat["recorded"] + stat["overwritten"]
            if number == 1:
                self.assertEqual(total, ROUND)
                # Unused rings take no room.
                self.assertLess(os.stat(name).st_blocks * 512, 2 << 20)
            self.assertGreaterEqual(total, before)
            full += stat["recorded"] > 0
            before = total
            with open(glob.glob(f"{glob.escape(self.data)}/*/metadata")[0], encoding="ascii") as f:
                text = f.read()
            self.assertIn("first" if number == 1 else "x" * 79 if number % 2 else f"number={number}", text)
            self.assertNotIn("x" * 80, text)
        self.assertGreaterEqual(full, 10)  # a snapshot taken as the ring came round has nothing but the count
        stat = self.recover(*self.files())
        self.assertEqual(stat["recorded"] + stat["overwritten"], said["events"])

    def test_fork(self):
        said = self.scene("fork")
        names = self.files()
        self.assertEqual(len(names), 3, names)
        stat = self.recover(*names)
        self.assertEqual(stat["recorded"] + stat["overwritten"], said["end"]["events"] + said["child"]["events"])
        self.assertEqual(said["child"]["events"], 1)
        self.assertEqual(self.recover(*self.files("snapshot"))["recorded"], 1)

    def test_again(self):
        self.scene("again")
        self.assertEqual(len(self.files()), 30)
        stat = self.recover(*self.files())
        self.assertEqual(stat["recorded"] + stat["overwritten"], 30 * ROUND)

    def test_at_once(self):
        self.scene("at_once")
        for name in self.files():
            self.recover(name)

    def test_constructor(self):
        self.assertEqual(self.scene("constructor")["end"]["events"], ROUND + 1)
        stat = self.recover(*self.files(), whole=True)
        self.assertEqual(stat["recorded"] + stat["overwritten"], ROUND + 1)

    def test_with_a_recorder(self):
        said = self.scene("recorded", HODO, "record", "-q", "-m", "64M", "-o", self.data, "--")["end"]
        stat = self.stat()
        self.assertEqual((stat["recorded"], stat["discarded"]), (said["events"], said["lost"]))
        self.assertEqual(said["events"], 4 * ROUND)
        self.assertGreater(said["recorder"], 0)
        self.assertEqual(self.files(), [])


main()
