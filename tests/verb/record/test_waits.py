# SPDX-License-Identifier: MIT
"""Programs that are faster than their recorder and wait for it."""
import ctypes
import os
import pathlib
import resource
import signal
import struct
import sys
import time
import unittest

from hodo_test import Case, children, main, program, run, wait_for

WAITS, CALLS = program("WAITS"), program("CALLS")
SMALL = ("-m", "16K")
N = 30000
MANY = 1 << 40
PR_CAPBSET_DROP, CAP_SYS_NICE = 24, 23
NO_RSEQ = "glibc.pthread.rseq=0"


class Waits(Case):
    def progress(self):
        """How many events the program has written."""
        return self.word(0)

    def has_ended(self):
        return self.word(2) == 1

    def word(self, n):
        try:
            return struct.unpack_from("<Q", pathlib.Path(self.path("progress")).read_bytes(), 8 * n)[0]
        except (OSError, struct.error):
            return 0

    def program(self, what="plain", n=MANY):
        pathlib.Path(self.path("progress")).unlink(missing_ok=True)  # the previous program's
        return WAITS, self.path("progress"), what, n

    def finish(self, process):
        """Lets a stopped recorder go on and the program end."""
        with open(self.path("progress"), "r+b") as file:
            file.seek(8)
            file.write(bytes(8))
        process.send_signal(signal.SIGCONT)
        return process.done()

    def stands_still(self, s=0.5):
        before = self.progress()
        time.sleep(s)
        return before == self.progress()

    def until_full(self, process):
        """Stops the recorder; the program then stops as well, sooner or later."""
        wait_for("some events", lambda: self.progress() > 1000)
        process.send_signal(signal.SIGSTOP)
        wait_for("a program that waits", self.stands_still)

    def lost(self):
        return sum(sum(p["lost"].values()) for p in self.info()["processes"])

    def whole(self, done):
        """Returns how many of the program's events are lost; none is missing without being counted."""
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.has_ended())
        process, = self.info()["processes"]
        lost = sum(process["lost"].values())
        self.assertEqual(process["recorded"] + lost, self.progress())
        return lost

    def test_nothing_is_lost(self):
        for env, options in (({}, ()), ({"GLIBC_TUNABLES": NO_RSEQ}, ()), ({}, ("--clock", "monotonic"))):
            done = self.record(*SMALL, "--wait", *options, *self.program(n=N), env=env)
            self.assertEqual(self.whole(done), 0)
        self.assertEqual([e["fields"]["n"] for e in self.events()], list(range(N)))

    def test_without_it_events_are_lost(self):
        process = self.recorder(*SMALL, *self.program())
        wait_for("some events", lambda: self.progress() > 1000)
        process.send_signal(signal.SIGSTOP)
        before = self.progress()
        wait_for("a program that runs on", lambda: self.progress() > before + 100000)
        self.assertGreater(self.whole(self.finish(process)), 0)

    def test_stopped_recorder(self):
        """The program waits for it, in each way of writing."""
        for tunables in ("", NO_RSEQ):
            process = self.recorder(*SMALL, "--wait", *self.program(), env={"GLIBC_TUNABLES": tunables})
            self.until_full(process)
            done = self.finish(process)
            self.assertEqual(self.whole(done), 0)
            self.assertIn("threads waited ", done.stderr)

    def test_killed_recorder(self):
        """Nobody waits for a dead recorder: waiting threads go on, and the others do not start to wait."""
        for tunables in ("", NO_RSEQ):
            process = self.recorder(*SMALL, "--wait", *self.program(), env={"GLIBC_TUNABLES": tunables})
            self.until_full(process)
            before = self.progress()
            process.kill()
            wait_for("a program that runs on", lambda: self.progress() > before + 100000)
            self.finish(process)
            wait_for("the program's end", self.has_ended)

    def test_limit(self):
        process = self.recorder(*SMALL, "--wait=1ms", *self.program())
        wait_for("some events", lambda: self.progress() > 0)
        process.send_signal(signal.SIGSTOP)
        before = self.progress()
        wait_for("a program that runs on", lambda: self.progress() > before + 2000)
        self.assertGreater(self.whole(self.finish(process)), 0)

    def test_handlers(self):
        """Handlers wait, too, on top of the thread that they interrupt; they also run while a thread waits."""
        process = self.recorder(*SMALL, "--wait", *self.program("handlers"))
        self.until_full(process)
        self.assertEqual(self.whole(self.finish(process)), 0)

    def test_handlers_that_leave(self):
        self.assertEqual(self.record(*SMALL, "--wait", *self.program("jumps", N)).returncode, 0)
        self.assertTrue(self.has_ended())
        self.assertEqual(self.lost(), 0)

    def test_handlers_that_fork(self):
        process = self.recorder(*SMALL, "--wait", *self.program("forks"))
        self.until_full(process)
        done = self.finish(process)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.lost(), 0)
        self.assertEqual(sum(e["name"] == "waits:child" for e in self.events()), 1000)

    def test_vfork_children_do_not_wait(self):
        """Their parent could not go on, whatever it holds."""
        process = self.recorder(*SMALL, "--wait", *self.program("vfork"))
        wait_for("some events", lambda: self.progress() > 1000)
        process.send_signal(signal.SIGSTOP)
        before = self.progress()
        wait_for("a program that runs on", lambda: self.progress() > before + 10000)
        self.assertGreater(self.whole(self.finish(process)), 0)

    def test_end_of_recording(self):
        """Waiting threads are released, and the program runs on unrecorded."""
        process = self.recorder(*SMALL, "--wait", "--duration", "1", *self.program())
        wait_for("the recording's end", lambda: "events of 1 process" in process.said())
        before = self.progress()
        wait_for("a program that runs on", lambda: self.progress() > before + 100000)
        self.finish(process)
        self.assertEqual(self.lost(), 0)

    def test_ring_that_is_not_read(self):
        """The program has overwritten the ring's memory: the ring never has room again."""
        done = self.record(*SMALL, "--wait", *self.program("spoil", N))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.has_ended())
        self.assertIn("its buffers are damaged", done.stderr)

    @unittest.skipUnless(CALLS, "functions are not traced on this architecture")
    def test_functions_wait(self):
        """Recordings of functions wait without being asked to; the recorder says so first."""
        done = self.record(*SMALL, "--functions", CALLS, 100000)
        self.assertIn("--drop turns that off", done.stderr.splitlines()[0])
        self.assertEqual(self.lost(), 0)
        quiet = self.record(*SMALL, "--functions", "-q", CALLS, 100000)
        self.assertEqual(quiet.stderr, "")
        done = self.record(*SMALL, "--functions", "--drop", CALLS, 1000)
        self.assertNotIn("--drop", done.stderr)

    def test_priority(self):
        """The recorder's priority is higher than its command's, where it is allowed to be."""
        process = self.recorder(*self.program())
        wait_for("some events", lambda: self.progress() > 0)
        child, = children(process.pid)
        own = os.getpriority(os.PRIO_PROCESS, 0)
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, child), own)
        limit = 20 - resource.getrlimit(resource.RLIMIT_NICE)[0]
        allowed = os.geteuid() == 0 or limit <= own - 10
        wait_for("its priority", lambda: os.getpriority(os.PRIO_PROCESS, process.pid) == own - 10 * allowed)
        self.finish(process)

    def test_realtime(self):
        """Only the recorder gets that priority. Where it is not allowed to have it, nothing is started."""
        def forbid():
            resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0)
        own = os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
        self.fails(1, "--realtime: Operation not permitted: it takes root, CAP_SYS_NICE, or at least 'ulimit -r 7'",
                   "record", "--realtime=7", *self.program(n=1), preexec_fn=forbid)
        self.assertEqual(self.progress(), 0)
        may = run(sys.executable, "-c", "import os; os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(7))")
        if may.returncode:
            self.skipTest("no process may be scheduled in real time here")
        for option, priority in (("--realtime", 1), ("--realtime=7", 7)):
            process = self.recorder(option, *self.program())
            wait_for("some events", lambda: self.progress() > 0)
            wait_for("its policy", lambda: os.sched_getscheduler(process.pid) == os.SCHED_RR)
            self.assertEqual(os.sched_getparam(process.pid).sched_priority, priority)
            child, = children(process.pid)
            self.assertEqual((os.sched_getscheduler(child), os.getpriority(os.PRIO_PROCESS, child)), own)
            self.finish(process)

    def test_options(self):
        for wrong in ("0", "100", "x"):
            self.fails(2, f"--realtime is a priority from 1 to 99, or has no value for 1, not '{wrong}'", "record",
                       f"--realtime={wrong}", "true")
        self.fails(2, "--wait and --drop are opposites", "record", "--wait", "--drop", "true")
        self.fails(2, "no buffer is ever full", "record", "--wait", "--overwrite", "true")
        self.fails(2, "the kernel does not wait", "record", "-k", "--wait")
        for wrong in ("0", "5", "x", "-1ms"):
            self.fails(2, "--wait is a time such as", "record", f"--wait={wrong}", "true")


main()
