#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""waiting - hodo record -p and hodo detach, again and again, of a program whose only thread always waits in a system
call that libhodo makes for it once its code is patched."""
import os
import shutil
import signal
import subprocess
import time

from hodo_test import Case, HODO, main, run, skip

WAITING = os.environ["WAITING"]
TIMES = 2


class Waiting(Case):
    def record(self, program, trace):
        """Wakes the program meanwhile."""
        with subprocess.Popen([HODO, "record", "-q", "-m", "64K", "-o", trace, "--functions=woken", "--duration", "0.5",
                               "-p", str(program.pid)], stderr=subprocess.PIPE, text=True) as tool:
            while tool.poll() is None:
                program.send_signal(signal.SIGUSR1)
                time.sleep(0.01)
            self.assertEqual((tool.returncode, tool.stderr.read(), program.poll()), (0, "", None))
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


class Handling(Case):
    def attach(self, program):
        """Returns the recorder's status and messages; sends signals meanwhile."""
        tool = self.start(HODO, "record", "-q", "-m", "64K", "-o", "trace", "--functions=woken", "--duration", "0.2",
                          "-p", program.pid, stderr=subprocess.PIPE)
        while tool.poll() is None:
            program.send_signal(signal.SIGUSR1)
            time.sleep(0.004)
            program.send_signal(signal.SIGUSR2)
            time.sleep(0.004)
        return tool.returncode, tool.stderr.read()

    def attach_when_possible(self, program):
        """On a busy machine, each look may find the program at a place where it cannot be patched."""
        for _ in range(20):
            said = self.attach(program)
            if "try again" not in said[1]:
                break
        return said

    def test(self):
        """When a recorder comes, the program is nearly always in a handler, or in one that interrupted another; what
        the handlers return to blocks all signals."""
        for i in range(TIMES * 4):
            with subprocess.Popen([WAITING, str(i % 4), "8"], stdout=subprocess.PIPE, text=True) as program:
                try:
                    self.assertEqual(program.stdout.readline(), "ready\n")
                    self.assertEqual((*self.attach_when_possible(program), program.poll()), (0, "", None))
                    program.send_signal(signal.SIGTERM)
                    self.assertGreater(int(program.communicate(timeout=600)[0]), 1)
                finally:
                    program.kill()
            self.assertEqual(program.returncode, 0)


class Slow(Case):
    def test(self):
        """Making the plan takes longer than the usual limit for joining."""
        if not shutil.which("strace"):
            skip("no strace")
        with subprocess.Popen([WAITING, "0"], stdout=subprocess.PIPE, text=True) as program:
            try:
                self.assertEqual(program.stdout.readline(), "ready\n")
                slow = ("strace", "-qq", "-o", os.devnull, "-e", "inject=memfd_create:delay_enter=7s")
                done = run(*slow, HODO, "record", "-q", "-o", "trace", "--functions=woken", "--duration", "0.1", "-p",
                           str(program.pid))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIsNone(program.poll())
            finally:
                program.kill()


if __name__ == "__main__":
    main()
