#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""opened - libraries that a program opens and closes while it is recorded: the recording has their functions and static
probes from their constructors on, and closing them leaves nothing behind."""
import collections
import json
import os
import shutil
import signal
import subprocess

from hodo_test import Case, HODO, main, wait_for

OPENED, PART, SLOTS = os.environ["OPENED"], os.environ["PART"], os.environ["SLOTS"]
STEPS = 10
WANTED = ("--functions=part*.so!part_*", "-e", "sdt:part:*")


class Opened(Case):
    def parts(self, n, part=PART):
        for i in range(n):
            shutil.copy(part, f"part{i}.so")
        return [os.path.abspath(f"part{i}.so") for i in range(n)]

    def calls(self, folder):
        done = self.hodo("report", "-q", "--json", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = collections.Counter()
        for f in json.loads(done.stdout)["functions"]:
            calls[f["function"]] += f["calls"]
        return calls

    def check(self, folder, times):
        """The library was opened this many times, in all."""
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
        """More often than there can be plans, in several threads."""
        self.started(40, 3)

    def test_slots(self):
        """Libraries with slots, selected by source file, while the program itself has windows, or none."""
        times = 300
        for n, own in enumerate(("", f"{os.path.basename(OPENED)}!main,")):
            wanted = f"--functions={own}opened_part.c:*,!opened*.c:part_step"
            done = self.hodo("record", "-q", "-o", f"slots{n}", wanted, "--", OPENED, times, STEPS,
                             *self.parts(2, SLOTS))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            calls = self.calls(f"slots{n}")
            self.assertEqual({name: calls[name] for name in calls if name.startswith("part_")},
                             {"part_begin": 2 * times, "part_work": 2 * times})

    def test_running(self):
        paths = self.parts(2)
        program = self.start(OPENED, 20, STEPS, *paths, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(program.stdout.readline(), "0\n")
        for n in range(2):
            recorder = self.start(HODO, "record", "-q", "-o", f"running{n}", *WANTED, "-p", program.pid)
            wait_for("the recording", lambda: self.ask(program) == STEPS * 40)
            # In the first of these, a constructor may have run before its library's functions were patched.
            self.assertEqual([self.ask(program) for _ in range(2)], [STEPS * 40] * 2)
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
