#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""opened - libraries that a program opens and closes while it is recorded: their functions and static probes are, from
their constructors on, and nothing is left of them when they are closed."""
import collections
import json
import os
import shutil
import signal
import subprocess

from hodo_test import Case, HODO, main, wait_for

OPENED, PART = os.environ["OPENED"], os.environ["PART"]
STEPS = 10
WANTED = ("--functions=part*.so!part_*", "-e", "sdt:part:*")


class Opened(Case):
    def parts(self, n):
        for i in range(n):
            shutil.copy(PART, f"part{i}.so")
        return [os.path.abspath(f"part{i}.so") for i in range(n)]

    def calls(self, folder):
        done = self.hodo("report", "-q", "--json", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = collections.Counter()
        for f in json.loads(done.stdout)["functions"]:
            calls[f["function"]] += f["calls"]
        return calls

    def check(self, folder, times):
        """So many times opened, in all."""
        self.assertEqual(self.calls(folder), {"part_begin": times, "part_step": (STEPS + 1) * times,
                                              "part_work": times})
        steps = [e["fields"]["arg1"] for e in self.events(folder) if e["name"] == "part:step"]
        self.assertEqual(steps.count(STEPS - 1), times)
        self.assertEqual(len(steps), STEPS * times)

    def started(self, times, parts):
        done = self.hodo("record", "-q", "-o", "started", *WANTED, "--", OPENED, times, STEPS, *self.parts(parts))
        said = [line for line in done.stderr.splitlines() if " so far: " not in line]
        self.assertEqual((done.returncode, said), (0, []))
        self.assertEqual(int(done.stdout), STEPS * times * parts)
        self.check("started", times * parts)

    def test_once(self):
        self.started(1, 1)

    def test_often(self):
        """More often than there can be plans, by several threads."""
        self.started(40, 3)

    def test_running(self):
        paths = self.parts(2)
        program = self.start(OPENED, 20, STEPS, *paths, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(program.stdout.readline(), "0\n")
        for n in range(2):
            recorder = self.start(HODO, "record", "-q", "-o", f"running{n}", *WANTED, "-p", program.pid)
            wait_for("the recording", lambda: self.ask(program) == STEPS * 40)
            self.assertEqual(self.ask(program), STEPS * 40)
            recorder.send_signal(signal.SIGINT)
            self.assertEqual(recorder.wait(timeout=600), 0)
            self.assertEqual(self.ask(program), 0)
            self.assertGreaterEqual(self.calls(f"running{n}")["part_begin"], 80)
        program.stdin.close()
        self.assertEqual(program.wait(timeout=600), 0)

    @staticmethod
    def ask(program):
        program.stdin.write("x")
        program.stdin.flush()
        return int(program.stdout.readline())


if __name__ == "__main__":
    main()
