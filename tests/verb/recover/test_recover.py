#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo recover on recordings whose recorder was killed: all that it had written is readable, event for event, and
the program noticed nothing."""
import ctypes
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time

import hodo_test
from hodo_test import HODO, compare, hodo, main, program, readable, wait_for

LIFE, TARGET = program("LIFE"), program("TARGET")
KILLS = 50
HEADER = struct.Struct("=I16sIQQQQQQIIQ")
SEED = int(os.environ.get("SEED", "1"))
PARTS = re.compile(r'"(?:cpu|tid)":-?\d+|"name":"[^"]*"|"fields":\{.*')


def packets(path):
    """(announced events, whether it is whole) for each packet, from the headers alone."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at + HEADER.size <= len(data):
        h = HEADER.unpack_from(data, at)
        at += h[6] // 8
        yield h[9 + 1], at <= len(data)


def streams(recording):
    for folder, _, files in os.walk(recording):
        for name in files:
            if re.fullmatch(r"cpu\d+|fallback", name):
                yield os.path.join(folder, name)


class Case(hodo_test.Case):
    def setUp(self):
        super().setUp()
        self.out = self.data + ".recovered"

    def events(self, path, clean=True):
        """The events as printed, which takes a fifth of the time of reading JSON; without times: the source's
        are those of its provisional clock."""
        done = hodo("print", "--json", path, status=0)
        if clean:
            for line in done.stderr.splitlines():
                self.assertRegex(line, "events? w(as|ere) lost|was interrupted")
        events = sorted(tuple(PARTS.findall(line)) for line in done.stdout.splitlines())
        self.assertLessEqual({len(parts) for parts in events}, {4})
        return events

    def snapshot_of(self, path):
        """All names and contents below a path."""
        found = {}
        for folder, _, files in os.walk(path):
            for name in files:
                with open(os.path.join(folder, name), "rb") as f:
                    found[os.path.join(folder, name)] = f.read()
        return found

    def recover(self, *options, expect=0):
        before = self.snapshot_of(self.data)
        done = hodo("recover", self.data, *options)
        self.assertEqual(done.returncode, expect, done.stderr)
        self.assertEqual(self.snapshot_of(self.data), before, "the source was changed")
        return done

    def check_recovered(self, what="", whole=True):
        """Compares with the source; returns the number of events. whole: event for event with babeltrace2, too."""
        (compare if whole else readable)(self.out)
        got, raw = self.events(self.out), self.events(self.data, clean=False)
        self.assertEqual(got, raw, what)
        whole = sum(n for path in streams(self.data) for n, is_whole in packets(path) if is_whole)
        announced = sum(n for path in streams(self.data) for n, _ in packets(path))
        self.assertLessEqual(whole, len(got), what)
        self.assertLessEqual(len(got), announced, what)
        return len(got)


class Killed(Case):
    @classmethod
    def setUpClass(cls):
        print("seed", SEED, flush=True)
        # Children of the recorder become ours when it ends.
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER

    def one(self, n, rng):
        shared, status = self.path("shared"), self.path("status")
        for path in (shared, status):
            if os.path.exists(path):
                os.unlink(path)
        options = rng.choice([[], ["--rotate", "256K"], ["-m", "64K"], ["-m", "64K", "--packet-size", "1K"]])
        with open(self.path("output"), "w+", encoding="utf-8") as output:
            recorder = subprocess.Popen(
                [HODO, "record", "-q", "-o", self.data, *options, "--", "sh", "-c", '"$@"; echo $? >"$0.new"; '
                 'mv "$0.new" "$0"; echo done', status, TARGET, shared, "2", "20000", "0", "1"],
                stdout=output, stderr=output, stdin=subprocess.DEVNULL)
            wait_for("a packet on disk", lambda: recorder.poll() is not None or
                     any(os.path.getsize(p) for p in streams(self.data)))
            time.sleep(rng.random() * 0.01)
            recorder.kill()
            killed = recorder.wait() == -signal.SIGKILL
            wait_for("the program's end", lambda: os.path.exists(status))
            while killed:
                try:
                    if os.waitpid(-1, 0)[0] == 0:
                        break
                except ChildProcessError:
                    break
            output.seek(0)
            said = output.read().splitlines()
            # A recorder that had written everything before it was killed has reported losses.
            self.assertEqual([s for s in said if not re.match("hodo: [0-9]+ events? lost: ", s)], ["done"], n)
        with open(status, encoding="ascii") as f:
            self.assertEqual(f.read(), "0\n", n)
        with open(shared, "rb") as f:
            done = struct.unpack("2Q", f.read(16))
        self.assertEqual(done, (20000, 20000), n)
        said = self.recover()
        events = self.check_recovered((n, options, said.stderr), whole=n % 25 == 0)
        shutil.rmtree(self.data)
        return killed, events

    def test_at_random_moments(self):
        rng = random.Random(SEED)
        results = [self.one(n, rng) for n in range(KILLS)]
        killed = sum(k for k, _ in results)
        print(f"{killed} recorders killed while they wrote: {sum(e for _, e in results)} events recovered")
        self.assertGreaterEqual(killed, KILLS // 10)  # how many depends on the machine


class Torn(Case):
    def setUp(self):
        super().setUp()
        done = hodo("record", "-q", "-o", self.data, "-m", "16M", "--packet-size", "8K", "--", TARGET,
                    self.path("shared"), "1", "3000", "0", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.folder = os.path.join(self.data, os.listdir(self.data)[0])
        self.stream = max(streams(self.data), key=os.path.getsize)
        # As a killed recorder leaves it.
        with open(os.path.join(self.folder, "metadata"), "r+", encoding="ascii") as f:
            text = re.sub(r"(?m)^/\*@(end|lost) .*\n", "", f.read())
            f.seek(0)
            f.truncate()
            f.write(text)

    def test_cut_anywhere(self):
        size = os.path.getsize(self.stream)
        rng = random.Random(SEED)
        with open(self.stream, "rb") as f:
            whole = f.read()
        for cut in [0, 1, 87, 88, 89, size - 1, *rng.sample(range(size), 25)]:
            with open(self.stream, "wb") as f:
                f.write(whole[:cut])
            with self.subTest(cut=cut, seed=SEED):
                self.recover()
                self.check_recovered(cut)

    def test_parts_have_one_process(self):
        shutil.rmtree(self.data)
        done = hodo("record", "-q", "-o", self.data, "-m", "16M", "--packet-size", "8K", "--rotate", "16K", "--",
                    TARGET, self.path("shared"), "1", "3000", "0", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len([name for name in os.listdir(self.data) if name.startswith("part-")]), 1)
        self.assertRegex(self.recover().stderr, r"events of 1 process in ")

    def test_loss_is_told(self):
        os.truncate(self.stream, os.path.getsize(self.stream) - 7)
        done = self.recover()
        self.assertRegex(done.stderr, r"(?m)^hodo: 1 event lost: the files were damaged, or cut short$")
        stat = self.stat(self.out)
        self.assertEqual(stat["recorded"] + stat["discarded"], 3000)
        self.assertEqual(stat["discarded"], 1)

    def test_damaged_stays_damaged(self):
        """The same events are damaged before and after, and to the verb that reads headers alone."""
        os.truncate(self.stream, os.path.getsize(self.stream) * 2 // 3 - 7)
        self.recover()
        lost = []
        for path in (self.data, self.out):
            for verb in ("stat", "info"):
                told = getattr(hodo_test, verb)(path)
                lost.append((told["recorded"], told["discarded"], told["processes"][0]["lost"]))
        self.assertEqual(lost[1:], lost[:1] * 3)
        recorded, discarded, causes = lost[0]
        self.assertGreater(causes["damaged"], 0)
        self.assertEqual({name for name, n in causes.items() if n}, {"damaged"})
        self.assertEqual((discarded, recorded + discarded), (causes["damaged"], sum(
            n for path in streams(self.data) for n, _ in packets(path))))

    def test_hole_in_the_middle(self):
        """As after a power cut: the packets after the hole are found, and the events in it are counted."""
        size = os.path.getsize(self.stream)
        with open(self.stream, "r+b") as f:
            f.seek(size // 2)
            f.write(bytes(4096))
        self.recover()
        compare(self.out)
        stat = self.stat(self.out)
        self.assertEqual(stat["recorded"] + stat["discarded"], 3000)
        self.assertGreater(stat["discarded"], 0)

    def test_sparse(self):
        """A hole holds no packet, however long it is; reading it would take hours."""
        size = os.path.getsize(self.stream)
        with open(self.stream, "r+b") as f:
            last = HEADER.unpack(f.read(HEADER.size))[6] // 8
            f.seek(0)
            first = f.read(last)
            f.seek(last)
            rest = f.read()
            f.truncate(last)
            f.seek(1 << 40)
            f.write(rest)
            f.truncate(1 << 41)
        self.assertLess(0, len(first))
        self.assertEqual(len(first) + len(rest), size)
        # Readers look for what follows the hole, too, each of them once.
        self.assertEqual(self.stat(self.data)["recorded"], 3000)
        hodo("export", "--to", "firefox", "-o", self.path("firefox"), self.data, status=0)
        self.assertEqual(len(self.events(self.data, clean=False)), 3000)
        done = hodo("recover", self.data, status=0)
        compare(self.out)
        stat = self.stat(self.out)
        self.assertEqual((stat["recorded"], stat["discarded"]), (3000, 0), done.stderr)

    def test_metadata_being_written(self):
        metadata = os.path.join(self.folder, "metadata")
        with open(os.path.join(self.folder, ".metadata.new"), "w", encoding="ascii") as f:
            f.write("/* CTF 1.8 */\n/*@ho")
        self.recover()
        self.check_recovered()
        # Only the new one is there, and it is whole.
        shutil.copyfile(metadata, os.path.join(self.folder, ".metadata.new"))
        expected = self.events(self.data)
        os.unlink(metadata)
        self.recover()
        self.assertEqual(self.events(self.out), expected)

    def test_no_metadata(self):
        os.unlink(os.path.join(self.folder, "metadata"))
        done = hodo("recover", self.data)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^hodo: [^\n]*\n$")
        with open(os.path.join(self.folder, "metadata"), "wb") as f:
            f.write(b"/* CTF 1.8 */\n/*@hodo " + bytes(range(256)) * 9)
        done = hodo("recover", self.data)
        self.assertEqual(done.returncode, 1)
        self.assertIn("metadata is damaged", done.stderr)
        self.assertFalse(os.path.exists(self.out))

    def test_empty_folder_and_strangers(self):
        os.mkdir(os.path.join(self.data, "made-1"))
        os.mkfifo(os.path.join(self.folder, "cpu99"))
        os.symlink("/etc/passwd", os.path.join(self.folder, "cpu98"))
        with open(os.path.join(self.data, "notes"), "w", encoding="ascii") as f:
            f.write("mine")
        done = hodo("recover", self.data)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.out), [os.path.basename(self.folder)])
        self.assertEqual(len(self.events(self.out)), 3000)

    def test_one_folder(self):
        done = hodo("recover", "-o", self.out, self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.out), [os.path.basename(self.folder)])
        self.check_recovered()

    def test_parts(self):
        part = os.path.join(self.data, "part-0001")
        os.mkdir(part)
        os.rename(self.folder, os.path.join(part, os.path.basename(self.folder)))
        stream = max(streams(self.data), key=os.path.getsize)
        os.truncate(stream, os.path.getsize(stream) - 5)
        self.recover()
        self.assertEqual(os.listdir(self.out), ["part-0001"])
        self.assertEqual(len(self.events(self.out)), 2999)

    def test_complete_recording_stays_as_it_is(self):
        done = hodo("record", "-q", "-o", self.data, "--", LIFE, "fork")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.recover()
        self.assertEqual(hodo("print", "--json", self.data).stdout, hodo("print", "--json", self.out).stdout)
        self.assertEqual(hodo("stat", "--json", self.data).stdout, hodo("stat", "--json", self.out).stdout)

    def test_output_is_not_the_source(self):
        done = hodo("recover", "-o", self.data, self.data)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be read and written at the same time", done.stderr)
        self.assertEqual(len(self.events(self.data)), 3000)

    def test_while_it_is_recorded(self):
        shutil.rmtree(self.data)
        recorder = subprocess.Popen([HODO, "record", "-q", "-o", self.data, "--", "cat"], stdin=subprocess.PIPE)
        try:
            wait_for("the recording", lambda: os.path.isdir(self.data) and
                     any(os.path.exists(os.path.join(self.data, d, "metadata")) for d in os.listdir(self.data)))
            done = hodo("recover", self.data)
            self.assertEqual(done.returncode, 1)
            self.assertIn("is being written", done.stderr)
        finally:
            recorder.stdin.close()
            recorder.wait()


main()
