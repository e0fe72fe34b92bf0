# SPDX-License-Identifier: MIT
"""Programs in a root directory without libhodo, started there or running there. They are recorded, leave nothing
behind, and print and return the same as without hodo.

ROOTED (rooted.c) is in the environment. The root directory is made of the host's files.
"""
import os
import re
import shutil
import subprocess

import place
from hodo_test import Case, end, main, program, run, wait_for

ROOTED = program("ROOTED")
OURS = re.compile(r"preload: /(?:tmp/)?hodo-copy-[0-9a-f]{16}/libhodo\.so\S*\n")


class Chroot(Case):
    def setUp(self):
        super().setUp()
        if why := place.no_chroot():
            self.skipTest(why)
        self.root = self.path("root")
        os.mkdir(self.root)
        shutil.copy(ROOTED, os.path.join(self.root, "rooted"))
        for file in re.findall(r"/\S+", run("ldd", ROOTED, status=0).stdout):
            run("cp", "-L", "--parents", file, self.root, status=0)
        self.files = self.listed()
        self.command = [*place.CHROOT, self.root, "/rooted"]

    def listed(self):
        return sorted(os.path.join(d, f) for d, dirs, files in os.walk(self.root) for f in dirs + files)

    def started(self, *args, options=(), command=None):
        done = self.record(*options, *(command or self.command), *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.listed(), self.files)
        return done

    def ticks(self):
        return [e["fields"]["i"] for e in self.events() if e["name"] == "rooted:tick"]

    def running(self, *args, prefix=()):
        process = self.start(*prefix, *self.command, *args, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "preload: -\n")
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    # ------------------------------------------------------------------ started

    def test_started(self):
        done = self.started(5)
        self.assertNotIn("not recorded", done.stderr)
        self.assertNotIn("ld.so", done.stderr)
        self.assertRegex(done.stdout, OURS)
        self.assertEqual(self.ticks(), list(range(5)))

    def test_what_it_starts_there(self):
        for how in ("execv", "execvpe", "spawn", "fork"):
            done = self.started(how, 3)
            self.assertEqual(len(OURS.findall(done.stdout)), 2, done.stdout)
            self.assertNotIn("not recorded", done.stderr)
            self.assertEqual(self.ticks(), [0, 1, 2], how)

    def test_other_libraries_stay(self):
        """The program's own LD_PRELOAD stays; where libhodo cannot be copied there, nothing is added to it."""
        own = next(f for f in self.files if re.search(r"/libc\.so", f)).removeprefix(self.root)
        command = ["env", f"LD_PRELOAD={own}", "sh", "-c", 'exec "$@"', "sh", *self.command]
        done = self.started(2, command=["sh", "-c", f'export LD_PRELOAD="$LD_PRELOAD:{own}"; exec "$@"', "sh", *self.command])
        self.assertRegex(done.stdout, rf"^preload: \S+/libhodo\.so\S*:{re.escape(own)}\n")
        self.assertEqual(run(*command, 2, **self.how({})).stdout, f"preload: {own}\n")

    def refused(self, words, command=None):
        done = self.started(4, command=command)
        self.assertRegex(done.stderr, r"hodo: process \d+ starts a program in another root directory, to which libhodo cannot"
                                      r" be copied: [^\n]*" + words)
        # The loader must not complain about missing libraries.
        self.assertNotIn("ld.so", done.stderr)
        self.assertEqual(done.stdout, "preload: -\n")
        self.assertIn("1 process image was not recorded", done.stderr)

    def test_old_libc(self):
        """With this libc, libhodo would keep the program from starting."""
        libc = next(f for f in self.files if f.endswith("/libc.so.6"))
        with open(libc, "rb") as f:
            old = f.read().replace(b"GLIBC_2.16\0", b"GLIBC_9.16\0")
        # The loader does not look in this folder.
        os.makedirs(self.path("root", "usr", "lib64"))
        with open(self.path("root", "usr", "lib64", "libc.so.6"), "wb") as f:
            f.write(old)
        self.files = self.listed()
        self.refused(r"its C library \(/usr/lib64/libc\.so\.6\) is too old: it has no GLIBC_2\.16\n")

    def test_read_only(self):
        if why := place.no_read_only():
            self.skipTest(why)
        command = place.read_only(self.root) + ["chroot", self.root, "/rooted"]
        self.refused(r"no directory there [^\n]* can be written", command)

    def test_goes_on(self):
        """A process that is still there may start others, which find the library; a message says what stays."""
        done = self.recorder("--duration", "0.3", *self.command, "wait", stdin=subprocess.PIPE)
        try:
            wait_for("the end", lambda: "goes on in another root directory" in done.said() or done.poll() is not None)
            found = re.search(r"hodo: process \d+ goes on in another root directory: a copy of libhodo stays there, in (\S+):"
                              r" remove it when it has ended\n", done.said())
            self.assertTrue(found, done.said())
            self.assertTrue(os.path.exists(f"{self.root}{found[1]}/libhodo.so.0.1.0"), self.listed())
        finally:
            done.stdin.close()
        self.assertEqual(done.done().returncode, 0)
        self.assertGreater(len(self.ticks()), 0)

    # ------------------------------------------------------------------ running

    def attached(self, pid, *options):
        done = self.record("-p", pid, "--duration", "0.2", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        ticks = self.ticks()
        self.assertGreater(len(ticks), 0)
        self.assertEqual(ticks, list(range(ticks[0], ticks[0] + len(ticks))))
        return done

    def test_running(self):
        process = self.running("wait")
        self.attached(process.pid)
        # The process listens now, and again once it has left.
        self.attached(process.pid)
        self.ok("detach", process.pid)
        wait_for("its end", lambda: self.listed() == self.files)
        self.attached(process.pid)
        self.ok("detach", process.pid)
        wait_for("its end", lambda: self.listed() == self.files)
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    def test_running_with_users_of_its_own(self):
        """Root there is a user whom the process does not know."""
        if why := place.no_nobody(ROOTED):
            self.skipTest(why)
        if run(*place.AS_NOBODY, "unshare", "-r", "true").returncode:
            self.skipTest("no user namespace may be made here by others than root")
        os.chmod(self.dir, 0o711)
        os.chown(self.root, place.NOBODY, place.NOBODY)
        self.command = [*place.AS_NOBODY, "unshare", "-r", "chroot", self.root, "/rooted"]
        process = self.running("wait")
        self.attached(process.pid)
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    def test_running_read_only(self):
        if why := place.no_read_only():
            self.skipTest(why)
        self.command = place.read_only(self.root) + ["chroot", self.root, "/rooted"]
        process = self.running("wait")
        self.fails(1, "has another root directory (chroot, container), to which libhodo cannot be copied: no directory there",
                   "record", "-p", process.pid)
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    # ------------------------------------------------------------------- probes

    def test_probe_without_proc(self):
        """A process without /proc cannot take probes, and says what helps; its events are recorded."""
        process = self.running("wait")
        for option, what in (("--event=probe:rooted_work(i)", "its probes are not set"),
                             ("--functions=libc.so.6!poll", "functions that were not built for tracing are not traced")):
            done = self.record("-p", process.pid, "--duration", "0.2", "-e", "rooted:*", option)
            self.assertRegex(done.stderr, rf"hodo: rooted\[{process.pid}\]: {what}: it has no /proc in its root directory:"
                                          r" mount that there, [^\n]*, and record again\n")
            self.assertGreater(len(self.ticks()), 0)
            shutil.rmtree(self.data)
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    def test_probe_of_a_process(self):
        """'probe show' also takes a process, whose program has no path here."""
        process = self.running("wait")
        self.assertIn("rooted_work", self.ok("probe", "show", process.pid, "rooted_work"))
        self.fails(1, "1999999999: cannot be read", "probe", "show", 1999999999, "main")
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    # ---------------------------------------------------------------- functions

    def named(self):
        """The reports have the function and its line, though the host does not have that program."""
        self.assertFalse(os.path.exists("/rooted"))
        self.assertIn("rooted_work", self.ok("report", self.data))
        rows = self.ok("print", self.data)
        self.assertNotRegex(rows, r"0x[0-9a-f]{6,}")

    def test_functions_of_one_that_starts(self):
        self.started("3", options=("--functions=rooted_*",))
        self.named()

    def test_functions_of_one_that_runs(self):
        process = self.running("wait")
        self.attached(process.pid, "--functions=rooted_*")
        self.named()
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    def test_functions_of_a_snapshot(self):
        process = self.running("wait")
        recorder = self.recorder("-p", process.pid, "--overwrite", "--functions=rooted_*", data=self.path("whole"))
        wait_for("calls", lambda: self.hodo("snapshot", "-q", "-o", self.data, process.pid).returncode == 0
                 and "func:" in self.hodo("print", self.data).stdout)
        self.named()
        self.assertEqual(recorder.stop().returncode, 0)
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    def test_functions_of_top(self):
        process = self.running("wait")
        done = self.hodo("top", "--batch", "-d", "0.3", "-n", "3", "--functions=rooted_*", process.pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("rooted_work", done.stdout)
        process.stdin.close()
        self.assertEqual(process.wait(), 0)


main()
