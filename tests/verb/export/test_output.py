#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command itself: where it writes, what was there before, what it cannot write or read, options."""
import glob
import itertools
import os
import pty
import resource
import shutil
import signal
import subprocess
import time

import hodo_test
from exporting import Case
from hodo_test import HODO, main

SUFFIX = {"perfetto": "pftrace", "chrome": "json", "csv": "csv", "jsonl": "jsonl"}


class Output(Case):
    def setUp(self):
        super().setUp()
        self.name = self.record()

    def path(self, name):
        return os.path.join(self.dir, name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def fails(self, *args, status=1, message):
        run = self.run_hodo("export", *args)
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertRegex(run.stderr.decode(), r"\Ahodo: [^\n]*" + message + r"[^\n]*\n\Z")
        self.assertEqual(run.stdout, b"")

    def only_these(self, *names):
        """No half-written file is left."""
        self.assertEqual([n for n in os.listdir(self.dir) if ".part" in n], [])
        for name in names:
            self.assertTrue(os.path.exists(self.path(name)))

    def test_beside_the_recording(self):
        for fmt, suffix in SUFFIX.items():
            run = self.run_hodo("export", "--to", fmt, self.name + "//")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertRegex(run.stderr.decode(), rf"\Ahodo: [\d.]+ [KM]iB in traced\.{suffix}\n\Z")
            self.assertEqual(self.read("traced." + suffix), self.export(fmt, self.name))
            self.only_these("traced." + suffix)
        os.symlink(self.name, self.path("hodo.data"))
        self.assertEqual(self.ok("export", "-q", "--to", "csv"), b"")
        self.assertEqual(self.read("hodo.data.csv"), self.read("traced.csv"))

    def test_recording_without_a_name(self):
        """A file with the default name may belong to another recording."""
        def export(*args):
            return subprocess.run([HODO, "export", "-q", "--to", "csv", *args], cwd=self.path(self.name),
                                  capture_output=True, check=False)
        written = self.path("traced/hodo.data.csv")
        for name in (".", "../traced/.", ".//", "../traced/../traced/."):
            self.assertEqual(export(name).returncode, 0)
            self.assertEqual(self.read("traced/hodo.data.csv"), self.export("csv", self.name))
            with open(written, "w", encoding="ascii") as f:
                f.write("mine")
            self.assertRegex(export(name).stderr, rb"\Ahodo: hodo\.data\.csv exists: .*--force.*-o\n\Z")
            self.assertEqual(self.read("traced/hodo.data.csv"), b"mine")
            self.assertEqual(export("-f", name).returncode, 0)
            self.assertEqual(self.read("traced/hodo.data.csv"), self.export("csv", self.name))
            os.unlink(written)
        os.symlink(self.name, self.path("dots.."))
        for _ in range(2):
            self.ok("export", "--to", "csv", "dots..")
        self.assertTrue(os.path.exists(self.path("dots...csv")))

    def test_what_came_with_the_recording(self):
        """A link beside it, from an archive, leads to none of the user's files; export writes to nothing else there."""
        with open(self.path("precious"), "w", encoding="ascii") as f:
            f.write("precious")
        os.symlink(self.name, self.path("unpacked"))
        beside = self.path("unpacked.csv")
        for to in ("precious", "not there", "/dev/full"):
            os.symlink(to, beside)
            self.fails("--to", "csv", "unpacked", message="unpacked.csv: is a symbolic link: .*--force.*-o")
            self.assertTrue(os.path.islink(beside))
            self.ok("export", "--force", "--to", "csv", "unpacked")
            self.assertFalse(os.path.islink(beside))
            self.assertEqual(self.read("unpacked.csv"), self.export("csv", self.name))
            self.assertEqual(self.read("precious"), b"precious")
            self.assertFalse(os.path.exists(self.path("not there")))
            os.unlink(beside)
        os.mkfifo(beside)
        self.fails("--to", "csv", "unpacked", message="unpacked.csv: is not a regular file")
        self.only_these("precious")

    def test_what_is_there_stays_unless_force(self):
        with open(self.path("mine"), "w", encoding="ascii") as f:
            f.write("mine")
        self.fails("--to", "csv", "-o", "mine", self.name, message="mine exists: .*--force.*-o")
        self.assertEqual(self.read("mine"), b"mine")
        self.ok("export", "-f", "--to", "csv", "-o", "mine", self.name)
        self.assertEqual(self.read("mine"), self.export("csv", self.name))
        os.symlink("mine", self.path("link"))
        self.fails("--to", "jsonl", "-o", "link", self.name, message="link exists")
        self.ok("export", "--force", "--to", "jsonl", "-o", "link", self.name)
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(self.read("mine"), self.export("jsonl", self.name))
        self.only_these("mine")

    def test_cannot_be_written(self):
        for fmt in SUFFIX:
            self.fails("-q", "--to", fmt, "-o", "/dev/full", self.name, message="/dev/full.*No space left.*: ")
            with open("/dev/full", "wb") as full:
                run = self.run_hodo("export", "--to", fmt, "-o", "-", self.name, capture_output=False, stdout=full,
                                    stderr=subprocess.PIPE)
            self.assertEqual(run.returncode, 1)
            self.assertRegex(run.stderr, rb"\Ahodo: standard output.*No space left[^\n]*\n\Z")
        self.fails("--to", "csv", "-o", "nowhere/file", self.name, message="nowhere/file.*No such file.*-o")
        os.makedirs(self.path("folder"), exist_ok=True)
        self.fails("--to", "csv", "-o", "folder", self.name, message="folder.*directory.*-o")

    def test_a_full_disk_keeps_what_was_there(self):
        with open(self.path("old"), "w", encoding="ascii") as f:
            f.write("old")
        for trap, (fmt, name) in itertools.product(('trap "" XFSZ', "trap - XFSZ"), (("jsonl", "old"), ("ctf", "new"))):
            run = subprocess.run(["bash", "-c", f'ulimit -f 8; {trap}; exec "$0" "$@"', HODO, "export", "-q", "-f",
                                  "--to", fmt, "-o", name, self.name], cwd=self.dir, capture_output=True,
                                 check=False, restore_signals=True)
            self.assertEqual(run.returncode, 1)
            self.assertRegex(run.stderr.decode(), rf"\Ahodo: {name}.*: File too large[^\n]*\n\Z")
            self.assertEqual(self.read("old"), b"old")
            self.only_these("old")
            self.assertFalse(os.path.exists(self.path("new")))

    @staticmethod
    def no_core():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def remove(self, name):
        path = self.path(name)
        (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)

    def written(self):
        """How to make `cut` in each way that export writes aside: a file, a directory, one with subdirectories."""
        name = self.generate("GEN_TRACE", "fixed", 3000000)
        if not os.path.exists(self.path("packed")):
            self.ok("pack", "-q", "-o", "packed", name)
        return (("cut.*", ("export", "-q", "--to", "chrome", "-o", "cut", name)),
                ("cut.*/*", ("export", "-q", "--to", "ctf", "-o", "cut/", name)),
                ("cut.*/*/*", ("unpack", "-q", "-o", "cut/", "packed")))

    def cut(self, number, written, command):
        """Sends the signal to a command that has begun to write; tries again if it came too late."""
        for _ in range(100):
            with subprocess.Popen([HODO, *command], cwd=self.dir, preexec_fn=self.no_core) as p:
                hodo_test.wait_for("output", lambda: p.poll() is not None or glob.glob(self.path(written)),
                                   every_s=0.001)
                p.send_signal(number)
                status = p.wait(hodo_test.LIMIT_S)
            if status:
                break
            self.remove("cut")
        self.assertEqual(status, -number)
        self.assertFalse(os.path.exists(self.path("cut")))

    def test_signals_leave_nothing(self):
        for how, number in itertools.product(self.written(), (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)):
            self.cut(number, *how)
            self.only_these()

    def test_what_a_kill_leaves_is_in_nobodys_way(self):
        for written, command in self.written():
            self.cut(signal.SIGKILL, written, command)
            (left,) = glob.glob(self.path("cut.*"))
            self.assertRegex(left, r"/cut\.[0-9]+\.part$")
            self.ok(*command)
            self.remove("cut")
            self.remove(left)

    def test_reader_of_a_pipe_goes(self):
        name = self.generate("GEN_TRACE", "fixed", 3000000)
        for fmt in SUFFIX:
            run = subprocess.run(["bash", "-c", f'"$0" export -q --to {fmt} -o - {name} | head -c 10; '
                                  'exit ${PIPESTATUS[0]}', HODO], cwd=self.dir, capture_output=True, check=False)
            self.assertEqual((run.returncode, len(run.stdout), run.stderr), (0, 10, b""))

    def test_terminal(self):
        for fmt in SUFFIX:
            master, slave = pty.openpty()
            run = self.run_hodo("export", "-q", "--to", fmt, "-o", "-", "--until", "0.000001", self.name,
                                capture_output=False, stdout=slave, stderr=subprocess.PIPE)
            os.close(slave)
            os.close(master)
            if fmt in ("perfetto", "csv"):
                self.assertEqual(run.returncode, 1)
                self.assertRegex(run.stderr, rb"\Ahodo: [^\n]*" + fmt.encode() + rb"[^\n]*terminal[^\n]*\n\Z")
            else:
                self.assertEqual((run.returncode, run.stderr), (0, b""))

    def test_progress_is_for_a_terminal(self):
        master, slave = pty.openpty()
        os.mkfifo(self.path("slow"))
        name = self.generate("GEN_TRACE", "fixed", 300000)
        with subprocess.Popen([HODO, "export", "--to", "chrome", "-o", "slow", name], cwd=self.dir, stderr=slave) as p:
            with open(self.path("slow"), "rb") as fifo:
                time.sleep(0.5)
                while fifo.read(1 << 16):
                    pass
            self.assertEqual(p.wait(60), 0)
        os.close(slave)
        said = ""
        try:
            while True:  # ends with EIO once the slave is closed
                said += os.read(master, 65536).decode()
        except OSError:
            os.close(master)
        self.assertRegex(said, r"\A(hodo: [\d.]+ [KM]iB written\x1b\[K\r)+\x1b\[Khodo: [\d.]+ MiB in slow\r\n\Z")

    def test_fifo(self):
        os.mkfifo(self.path("fifo"))
        with subprocess.Popen(["cat", "fifo"], cwd=self.dir, stdout=subprocess.PIPE) as cat:
            self.ok("export", "-q", "--to", "jsonl", "-o", "fifo", self.name)
            self.assertEqual(cat.stdout.read(), self.export("jsonl", self.name))

    def test_usage(self):
        self.fails(self.name, status=2, message="export: --to.*hodo export --help")
        self.fails("--to", "nothing", self.name, status=2, message="'nothing'.*chrome.*perfetto.*--help")
        self.fails("--to", "csv", "a", "b", status=2, message="'b'")
        self.fails("--to", "csv", "-o", "", "a", status=2, message="-o")
        self.fails("--to", "csv", "--since", "then", self.name, status=2, message="then")
        self.fails("--to", "csv", "nowhere", status=1, message="nowhere")
        self.fails("--to", status=2, message="--to")
        help_text = self.ok("export", "--help").decode()
        for fmt in SUFFIX:
            self.assertRegex(help_text, rf"(?m)^  {fmt} ")
        self.assertTrue(all(len(line) <= 80 for line in help_text.split("\n")))

    def test_losses_are_told(self):
        run = self.run_hodo("export", "--to", "csv", "-o", "-", self.generate("GEN_TRACE", "all"))
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stderr, rb"\Ahodo: warning: 55 events were lost[^\n]*\n\Z")

    def test_since_and_until(self):
        for fmt in SUFFIX:
            everything = len(self.export(fmt, self.name))
            part = len(self.export(fmt, self.name, *self.middle(self.name)))
            self.assertTrue(0 < part < everything, fmt)

    def test_damaged_in_every_way(self):
        """Wherever a file is cut off, no export ends with an error."""
        for name in ("kvd-412/cpu0", "kvd-412/cpu1", "kvd-412/metadata"):
            path = self.path("cut/" + name)
            subprocess.run([os.environ["GEN_TRACE"], "all", self.path("cut")], check=True)
            whole = os.path.getsize(path)
            for n in range(8):
                os.truncate(path, whole * (7 - n) // 8)
                for fmt in SUFFIX:
                    run = self.run_hodo("export", "-q", "--to", fmt, "-o", "/dev/null", "cut")
                    self.assertIn(run.returncode, (0, 1), (fmt, run.stderr))
                    self.assertLessEqual(run.stderr.count(b"\n"), 1)
            subprocess.run(["rm", "-r", self.path("cut")], check=True)


if __name__ == "__main__":
    main()
