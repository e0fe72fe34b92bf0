#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""attached - hodo record -p of a program that nobody prepared, whose threads block the signals of traps in all ways:
its functions are recorded, again and again, and it does what it does without that."""
import os
import pathlib
import subprocess

from hodo_test import Case, main, wait_for

MASKED = os.environ["MASKED"]
TIMES = 4


class Attached(Case):
    def blocked(self):
        self.program.stdin.write("x")
        self.program.stdin.flush()
        return int(self.program.stdout.readline())

    def record_until(self, name, pattern):
        """Records until the recording has some of it."""
        recorder = self.recorder("-q", "-m", "1M", f"--functions={pattern}", "-p", self.program.pid,
                                 data=self.path(name))
        wait_for(recorder.said, lambda: self.bytes(name) > 100000 or recorder.poll() is not None)
        done = recorder.stop()
        self.assertEqual(done.returncode, 0)
        for line in done.lines(): # some of its children are too late
            self.assertNotIn(f" {self.program.pid} ", line)
            self.assertIn("the recording ended before it could join", line)

    def bytes(self, name):
        return sum(f.stat().st_size for f in pathlib.Path(self.path(name)).glob("*/[cf]*"))

    def test(self):
        self.program = self.start(MASKED, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(self.program.stdout.readline(), "ready\n")
        self.assertEqual(self.blocked(), 2)
        for i in range(TIMES):
            self.record_until(f"trace{i}", "mix")
            self.assertIn(" mix", self.ok("report", f"trace{i}"))
            self.assertIsNone(self.program.poll())
            self.assertEqual(self.blocked(), 0)
        # A recording that does not ask for the functions of an earlier plan does not have them.
        done = self.hodo("record", "-q", "-o", "none", "--functions=no_such_function", "--duration", "0.1",
                         "-p", self.program.pid)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn(" mix", self.hodo("report", "none").stdout)
        out, _ = self.program.communicate(timeout=600)
        self.assertEqual(self.program.returncode, 0)
        self.assertGreater(int(out), 1000)


if __name__ == "__main__":
    main()
