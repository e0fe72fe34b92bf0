#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""waiting - hodo record -p and hodo detach, again and again, of a program whose only thread always waits in a system
call that libhodo makes for it once its code is patched."""
import os
import signal
import subprocess
import time

from hodo_test import Case, HODO, main, run

WAITING = os.environ["WAITING"]
TIMES = 2


class Waiting(Case):
    def record(self, program, trace):
        """Wakes it all the while."""
        with subprocess.Popen([HODO, "record", "-q", "-m", "64K", "-o", trace, "--functions=woken", "--duration", "0.5",
                               "-p", str(program.pid)], stderr=subprocess.PIPE, text=True) as tool:
            while tool.poll() is None:
                program.send_signal(signal.SIGUSR1)
                time.sleep(0.01)
            self.assertEqual((tool.returncode, tool.stderr.read()), (0, ""))
        self.assertIn(" woken", run(HODO, "report", trace).stdout)

    def test(self):
        for way in range(4):
            with subprocess.Popen([WAITING, str(way)], stdout=subprocess.PIPE, text=True) as program:
                try:
                    self.assertEqual(program.stdout.readline(), "ready\n")
                    for i in range(TIMES):
                        self.record(program, f"trace{i}")
                        self.assertEqual(run(HODO, "detach", str(program.pid)).returncode, 0)
                    program.send_signal(signal.SIGTERM)
                    self.assertGreater(int(program.communicate(timeout=600)[0]), TIMES)
                finally:
                    program.kill()
            self.assertEqual(program.returncode, 0)


if __name__ == "__main__":
    main()
