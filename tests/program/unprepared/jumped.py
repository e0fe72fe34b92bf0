#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""jumped - a program jumps into the first bytes of a recorded function again and again: libhodo gives the function up,
hodo record says so, and the other functions are recorded as before."""
import os

from hodo_test import Case, main

JUMPED = os.environ["JUMPED"]


class Jumped(Case):
    def test(self):
        done = self.hodo("record", "-o", "given_up", "-m", "64M", "--functions=libengine_odd.so!odd_*", "--", JUMPED,
                         input="xx")
        self.assertEqual((done.returncode, done.stdout), (0, "0\n0\n"), done.stderr)
        self.assertIn("function odd_sum is not recorded any more: code jumps into the bytes", done.stderr)
        self.assertNotIn("odd_jump", done.stderr)
        calls = self.hodo("report", "given_up").stdout
        self.assertRegex(calls, r"200,?000.* odd_jump")


if __name__ == "__main__":
    main()
