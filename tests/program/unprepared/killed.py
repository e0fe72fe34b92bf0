#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""killed - hodo record -p of a program that nobody prepared is killed at some step: while it brings libhodo in, talks
about the plan, writes code from outside while all threads are stopped, or records. The program
runs on, has right results, is not left half patched, and can be recorded again.

To kill it at each step, by hand: EVERY=1."""
import itertools
import os
import pathlib
import shutil
import signal
import subprocess

from hodo_test import Case, HODO, main, skip, wait_for
from patches import patches

MASKED = os.environ["MASKED"]
EVERY = int(os.environ.get("EVERY", "24"))


class Killed(Case):
    def setUp(self):
        super().setUp()
        self.begin()

    def begin(self):
        """libhodo is in the program already: unit.attach.inject.killed_everywhere tests bringing it in."""
        self.program = self.start(MASKED, "slowly", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(self.program.stdout.readline(), "ready\n")
        self.ok("record", "-q", "-o", "before", "-e", "no:event", "--duration", "0.01", "-p", self.program.pid)
        shutil.rmtree(self.path("before"))

    def goes_on(self):
        self.program.stdin.write("x")
        self.program.stdin.flush()
        self.assertIn(self.program.stdout.readline(), ("0\n", "1\n", "2\n"))

    def ends_well(self):
        out, _ = self.program.communicate(timeout=600)
        self.assertEqual(self.program.returncode, 0, out)

    def code(self):
        """The places of the first byte of each patch: where the program's own code differs from its file."""
        found = patches(self.program.pid)
        return [p.now for p in found if p.path == os.path.realpath(MASKED)]

    def is_whole(self):
        code = self.code()
        return 0xcc not in code

    def record_again(self, name):
        recorder = self.recorder("-q", "-m", "1M", "--functions=mix", "-p", self.program.pid, data=self.path(name))
        wait_for(recorder.said, lambda: self.bytes(name) > 100000 or recorder.poll() is not None)
        self.assertEqual(recorder.stop().returncode, 0)
        self.assertIn(" mix", self.ok("report", name))

    def bytes(self, name):
        return sum(f.stat().st_size for f in pathlib.Path(self.path(name)).glob("*/[cf]*"))

    def killed_before(self, call, number):
        """Kills what makes this call for the number-th time: the recorder, or its child that stops the threads."""
        log = self.path("log")
        self.hodo_under("strace", "-f", "-qq", "-o", log, "-e", f"trace={call}", "-e",
                        f"inject={call}:signal=KILL:when={number}")
        self.assertIsNone(self.program.poll(), (call, number))
        self.goes_on()
        wait_for("whole windows", self.is_whole)
        return "killed by SIGKILL" in pathlib.Path(log).read_text()

    def hodo_under(self, *tracer):
        subprocess.run([*tracer, HODO, "record", "-q", "-m", "1M", "-o", self.path("killed"), "--functions=mix",
                        "--duration", "0.2", "-p", str(self.program.pid)], check=False, cwd=self.dir, env=self.env,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
        shutil.rmtree(self.path("killed"), ignore_errors=True)

    def at_each(self, call, numbers, least):
        steps = 0
        for number in numbers:
            if not self.killed_before(call, number):
                break
            steps += 1
            self.record_again(f"again{number}")
            self.ends_well()
            self.begin()
        print(call, steps)
        self.assertGreaterEqual(steps, least)

    def test_ptrace(self):
        self.at_each("ptrace", itertools.count(2, EVERY), 20 // EVERY)

    def test_write(self):
        self.at_each("pwrite64", itertools.count(5, EVERY), 40 // EVERY)

    def test_messages(self):
        self.at_each("sendto", range(1, 4), 3)

    def test_program(self):
        """The program is killed, while its threads are stopped: the recorder has nobody to record. They are stopped for
        a millisecond, too short to wait for: here each step of the recorder takes longer."""
        status = pathlib.Path(f"/proc/{self.program.pid}/status")
        recorder = self.start("strace", "-f", "-qq", "-o", self.path("log"), "-e", "trace=ptrace", "-e",
                              "inject=ptrace:delay_exit=50000", HODO, "record", "-q", "--functions=mix", "-p",
                              self.program.pid, stderr=subprocess.PIPE)
        wait_for("threads that stand", lambda: "TracerPid:\t0\n" not in status.read_text())
        self.program.kill()
        _, said = recorder.communicate(timeout=600)
        self.assertIn(recorder.returncode, (0, 1))
        self.assertIn("is not recorded", said)

    def test_recording(self):
        """The recorder is killed while functions are on: since nobody records any more, they go off."""
        recorder = self.recorder("-q", "-m", "1M", "--functions=mix", "-p", self.program.pid)
        wait_for("events", lambda: self.bytes("trace") > 100000)
        self.assertIn(0xe9, self.code())
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        wait_for("its code as it was", lambda: not self.code())
        self.goes_on()
        self.record_again("again")
        self.ends_well()


if __name__ == "__main__":
    if not shutil.which("strace"):
        skip("no strace")
    main()
