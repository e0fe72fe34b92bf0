#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""unwound - a signal arrives at each instruction of a slot, and of what slots call: the stack can be unwound, an
exception passes, and so does the cancellation of the thread. stepped.cc says how."""
import os
import re

from hodo_test import Case, main, run

STEPPED = os.environ["STEPPED"]
# Each trap aborts a restartable sequence.
STEPS = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


class Unwound(Case):
    def play(self, scene):
        done = self.hodo("record", "-q", "-o", scene, "--functions=stepped_*", "-e", "sdt:plain:*", "--", STEPPED,
                         scene, env=STEPS, timeout=600)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [int(n) for n in re.findall(r"\d+", done.stdout)]

    def test_walk(self):
        steps = self.play("walk")
        # For each function: the number of steps, and of those in slots.
        self.assertEqual(len(steps), 2 * 7)
        for n in steps[1::2]:
            self.assertGreater(n, 4)
        self.assertGreater(steps[2 * 5 + 1], 40)

    def test_throw(self):
        self.assertGreater(self.play("throw")[0], 60)

    def test_cancel(self):
        self.assertGreater(self.play("cancel")[0], 60)

    def test_alone(self):
        """The program's checks also succeed without libhodo."""
        done = run(STEPPED, "walk")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
