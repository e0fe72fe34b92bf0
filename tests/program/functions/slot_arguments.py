#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slot_arguments.py - --args of a program whose compiler left slots: a plan replaces the slots of functions as long as
the recording goes on; before and after it, the slots are used."""
import subprocess

from argument_values import PROGRAM, Arguments
from hodo_test import main


class Slots(Arguments):
    def test_values(self):
        said = self.record("--functions", "--args")
        self.assertEqual([line for line in said.splitlines() if "only: add --returns" not in line], [])
        self.check_values(self.calls())

    def test_some(self):
        """All other functions use their slots."""
        self.record("--functions", "--args=fact,sum")
        calls = self.calls()
        self.assertEqual([list(args) for args, _ in calls["sum"]], [list("abcdefgh")])
        self.assertEqual({(args["n"], result) for args, result in calls["fact"]},
                         {(0, 1), (1, 1), (2, 2), (3, 6), (4, 24), (5, 120)})
        self.assertEqual((calls["half"], calls["odd"]), ([(None, None)], [(None, None)]))

    def test_probed(self):
        """A probe at a function's slot, whose calls are recorded, too."""
        self.record("--functions")
        count = len(self.calls()["fact"])
        self.record("--functions", "-e", "probe:fact")
        self.assertEqual(len(self.calls()["fact"]), count)

    def attach(self, *options):
        for duration in ("200ms", "2s", "10s"):
            done = self.hodo("record", "-q", "-o", "d", "--duration", duration, "-p", self.process.pid, *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            # The recording begins and ends in the middle of calls.
            calls = {name: calls[1:-1] for name, calls in self.calls().items()}
            if calls.get("odd"):
                break  # otherwise the program has not come so far
        return calls

    @staticmethod
    def numbers(calls):
        """The values of argument n in all calls of odd(); None for those where it was not recorded."""
        return {args and args["n"] for args, _ in calls["odd"]}

    def test_again(self):
        """One process, again and again. An XRay sled that was in use remains so. If a program starts without libhodo,
        its calls for -finstrument-functions do not go to libhodo."""
        self.process = self.start(PROGRAM, "again", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        kept, foreign = "xray" in PROGRAM, "instrument" in PROGRAM
        for n in range(2):
            self.assertEqual(self.numbers(self.attach("--functions", "--args")), {None if n and kept else 2})
            if foreign:
                continue
            self.assertEqual(self.numbers(self.attach("--functions")), {None})
            calls = self.attach("--functions", "--args=odd")
            self.assertEqual(self.numbers(calls), {None if kept else 2})
            self.assertEqual({args for args, _ in calls["half"]}, {None})
        self.assertEqual(self.process.communicate()[0], None)
        self.assertEqual(self.process.returncode, 0)


if __name__ == "__main__":
    main()
