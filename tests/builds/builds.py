#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that are compiled and linked in ways that are not everybody's: what they record is what others do."""
import collections
import shutil

from hodo_test import SOURCE, Case, main, program, run

HERE = SOURCE / "tests/builds"
SLOTS = ["-pg", "-mfentry", "-minstrument-return=call", "-Wl,-u,__return__"]
CALLS = {"main": 1, "middle": 2, "leaf": 20}


class Builds(Case):
    def need(self, *tools):
        for tool in tools:
            if not shutil.which(tool):
                self.skipTest(f"no {tool} here")

    def build(self, compiler, *what, source="events.c", out="program"):
        """The skipped: a compiler that has no such way."""
        self.need(compiler)
        run(compiler, "-O2", "-g", f"-I{SOURCE}/include", HERE / source, *what, "-o", self.path(out), status=0)
        return self.path(out)

    def counts(self, name, command, *options):
        """Of a recording, by name of the event, or function."""
        done = self.hodo("record", "-q", *options, "-o", name, "--", *command, status=0)
        self.assertEqual(done.stderr, "")
        counts = collections.Counter()
        for event in self.events(name):
            counts[event["name"], event.get("function", "")] += 1
        return dict(counts)


class Mold(Builds):
    """Notes of 4 and of 8 bytes alignment are in one segment."""

    def check(self, *flags):
        self.need("mold")
        self.assertEqual(self.counts("events", [self.build(*flags, "-fuse-ld=mold")]), {("builds:event", ""): 3})

    def test_gcc(self):
        self.check("gcc")

    def test_clang(self):
        self.check("clang", "-no-pie")

    def test_functions(self):
        self.need("mold")
        built = self.build("gcc", *SLOTS, "-fuse-ld=mold", program("STUBS"))
        counts = self.counts("functions", [built], "--functions")
        for function, calls in CALLS.items():
            self.assertEqual(counts["func:entry", function], calls, counts)
            self.assertEqual(counts["func:exit", function], calls, counts)
        listed = self.ok("list", "--functions", built).splitlines()[1:]
        self.assertEqual({line.split()[-1] for line in listed}, set(CALLS))


main()
