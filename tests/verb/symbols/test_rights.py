#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What root reads and writes for others: files that another user names, and recordings that this user may not read."""
import ctypes
import json
import os
import shutil
import signal
import stat
import subprocess

import hodo_test
from hodo_test import HODO, LIBHODO, main, program, run, wait_for

STUBS = program("STUBS")
NOBODY = 65534
SOURCE = """
#include <stdio.h>
__attribute__((noinline)) void NAME(void) { __asm__ volatile(""); }
int main(void)
{
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		NAME();
	return 0;
}
"""


def modes(folder):
    """The modes of the folder and of everything in it."""
    found = {stat.S_IMODE(os.stat(folder).st_mode)}
    for base, dirs, files in os.walk(folder):
        found |= {stat.S_IMODE(os.stat(os.path.join(base, name)).st_mode) for name in dirs + files}
    return found


class Rights(hodo_test.Case):
    """A process of another user, whose program becomes a link to a file that only root may read."""

    def setUp(self):
        super().setUp()
        if not STUBS:
            self.skipTest("functions are not traced on this machine")
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root and setpriv")
        os.chmod(self.dir, 0o755)
        self.own, self.secret = self.build("shown"), self.build("secret")
        os.chmod(self.secret, 0o600)
        libraries = os.path.dirname(os.path.realpath(LIBHODO))
        for name in os.listdir(libraries):
            if name.startswith(("libhodo.so", "libhodo-func.so")):
                shutil.copy(os.path.join(libraries, name), self.dir)

    def build(self, name):
        """No build-id says which file the program was."""
        path = self.path(f"{name}-program")
        run("gcc", "-O1", "-pg", "-mfentry", "-minstrument-return=call", f"-DNAME={name}", "-Wl,--build-id=none", "-o",
            path, "-x", "c", "-", "-x", "none", "-Wl,-u,__return__", STUBS, input=SOURCE, status=0)
        return path

    def recorded(self, replace):
        target = self.start("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env",
                            "-u", "XDG_RUNTIME_DIR", "HODO_LISTEN=1", f"LD_PRELOAD={self.path('libhodo.so')}",
                            self.own, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(target.stdout.readline(), "ready\n")
        recorder = self.recorder("--functions", "-p", target.pid)
        wait_for("the recording", lambda: recorder.poll() is not None or json.loads(
            self.hodo("list", "--json", target.pid).stdout or "{}").get("recorded_by") == "hodo")
        self.assertIsNone(recorder.poll(), recorder.said())
        if replace:
            os.remove(self.own)
            os.symlink(self.secret, self.own)
        target.stdin.write("three")
        target.stdin.close()
        self.assertEqual(target.wait(), 0)
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
        shown = self.ok("print", self.data)
        self.assertIn("func:entry", shown)
        return shown

    def test_own_files_are_read(self):
        self.assertIn("shown", self.recorded(False))
        self.assertEqual(modes(self.data), {0o700, 0o600})

    def test_what_it_may_not_read_is_not_read(self):
        self.assertNotIn("secret", self.recorded(True))
        for base, _, files in os.walk(self.data):
            for name in files:
                with open(os.path.join(base, name), "rb") as f:
                    self.assertNotIn(b"secret\0", f.read().replace(b"\n", b"\0"), name)
        # Nor are symbols read for a recording that this user made, or claims to have made.
        shutil.rmtree(os.path.join(self.data, ".symbols"), ignore_errors=True)
        folder, = self.folders()
        path = os.path.join(self.data, folder, "metadata")
        with open(path, encoding="ascii") as f:
            text = f.read()
        with open(path, "w", encoding="ascii") as f:
            f.write(text.replace(f" uid={NOBODY}", " uid=0"))
        self.assertIn("secret", self.ok("print", self.data))  # root owns it, and may have made it
        run("chown", "-R", str(NOBODY), self.data, status=0)
        self.assertNotIn("secret", self.ok("print", self.data))
        self.ok("recover", "-o", self.path("recovered"), self.data)
        self.assertNotIn("secret", self.ok("print", self.path("recovered")))


class Devices(hodo_test.Case):
    def test_what_is_no_file_is_not_opened(self):
        """Merely opening a device can make it act; a named pipe shows whether it was opened."""
        pipe, libc = self.path("pipe"), ctypes.CDLL(None, use_errno=True)
        os.mkfifo(pipe)
        watch = libc.inotify_init1(os.O_NONBLOCK)
        self.addCleanup(os.close, watch)
        self.assertGreaterEqual(libc.inotify_add_watch(watch, pipe.encode(), 0x20), 0)  # IN_OPEN
        self.fails(1, "pipe", "list", pipe)
        self.assertRaises(BlockingIOError, os.read, watch, 4096)


class Modes(hodo_test.Case):
    """What root records, and what is made from it, is only for root."""

    def test_modes(self):
        os.umask(0o022)
        run(HODO, "record", "-q", "-o", self.data, "-e", "*", "--", "sh", "-c", "umask >umask", cwd=self.dir)
        self.ok("record", "-q", "-o", self.data, "--context", "comm", "--", program("TARGET"), "count", 5)
        self.ok("export", "--to", "csv", "-o", self.path("table"), self.data)
        root = os.geteuid() == 0
        self.assertEqual(modes(self.data), {0o700, 0o600} if root else {0o755, 0o644})
        self.assertEqual(stat.S_IMODE(os.stat(self.path("table")).st_mode), 0o600 if root else 0o644)
        with open(self.path("umask"), encoding="ascii") as f:
            self.assertEqual(f.read(), "0022\n")  # the program's own umask is as before


main()
