#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""attached - hodo record -p of a program that nobody prepared, whose threads block the signals of traps in all ways:
its functions are recorded, again and again, and it does what it would have done."""
import os
import subprocess

from hodo_test import Case, HODO, main, run

MASKED = os.environ["MASKED"]
TIMES = 4


class Attached(Case):
    def test(self):
        with subprocess.Popen([MASKED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
            try:
                self.assertEqual(program.stdout.readline(), "ready\n")
                for i in range(TIMES):
                    done = run(HODO, "record", "-q", "-m", "1M", "-o", f"trace{i}", "--functions=mix",
                               "--duration", "0.3", "-p", str(program.pid))
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    stat = run(HODO, "report", f"trace{i}")
                    self.assertIn(" mix", stat.stdout)
                    self.assertIsNone(program.poll())
                # What was planned before is not recorded by who does not ask for it.
                done = run(HODO, "record", "-q", "-o", "none", "--functions=no_such_function", "--duration", "0.1",
                           "-p", str(program.pid))
                self.assertEqual(done.returncode, 0)
                self.assertNotIn(" mix", run(HODO, "report", "none").stdout)
                out, _ = program.communicate("x", timeout=600)
            finally:
                program.kill()
        self.assertEqual(program.returncode, 0)
        self.assertGreater(int(out), 1000)


if __name__ == "__main__":
    main()
