#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo prune removes the oldest recordings and parts, and nothing else."""
import os
import pathlib
import shutil
import time

from hodo_test import HODO, main, run, wait_for
from sending import Case, SMALL, TICKS

HOUR = 3600


class Prune(Case):
    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.path("top"))
        self.top.mkdir()

    def make(self, name, hours, *options, n=2000):
        """A recording below top that ended so many hours ago."""
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.hodo("record", "-q", *SMALL, "--wait", *options, "-o", path, "--", TICKS, input=f"{n}\n", status=0)
        self.age(path, hours)
        return path

    def age(self, path, hours, step=0):
        when = time.time() - hours * HOUR
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for i, file in enumerate(files):
            os.utime(file, (when + i * step, when + i * step))

    def pack(self, name, hours):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.hodo("record", "-q", "-o", "x", "--", TICKS, input="2000\n", status=0)
        self.ok("pack", "-q", "-f", "-o", path, "x")
        shutil.rmtree(self.path("x"))
        self.age(path, hours)
        return path

    def left(self):
        return {str(p.relative_to(self.top)) for p in self.top.rglob("*") if not p.is_dir()}

    def prune(self, *options):
        done = self.hodo("prune", *options, self.top, status=0)
        return [line.split(", ")[0].split(" ")[-1] for line in done.stdout.splitlines()], done.stderr

    def test_by_age(self):
        self.make("old.data", 50)
        self.make("a/b/older.data", 60)
        self.pack("web1/r1/part-00000001.hodo", 55)
        self.pack("web1/r1/part-00000002.hodo", 5)
        kept = self.make("new.data", 1)
        before = self.left()
        removed, said = self.prune("--keep-age", "2d", "--dry-run")
        self.assertEqual(removed, ["a/b/older.data", "web1/r1/part-00000001.hodo", "old.data"])
        self.assertIn("would remove 3 of 5 recordings and parts", said)
        self.assertEqual(self.left(), before)
        again, said = self.prune("--keep-age", "2d")
        self.assertEqual(again, removed)
        self.assertRegex(said, r"\Ahodo: \S+: removed 3 of 5 recordings and parts, [\d.]+ KiB; [\d.]+ KiB left\n\Z")
        self.assertEqual(sorted(os.listdir(self.top)), ["new.data", "web1"])
        self.assertEqual(os.listdir(self.top / "web1" / "r1"), ["part-00000002.hodo"])
        self.assertEqual(len(self.serials(kept)), 2000)
        self.assertEqual(self.prune("--keep-age", "2d")[0], [])

    def test_quiet(self):
        self.make("old.data", 50)
        done = self.hodo("prune", "-q", "--keep-age", "2d", self.top, status=0)
        self.assertEqual((done.stdout, done.stderr, self.left()), ("", "", set()))

    def test_by_size(self):
        for i in range(6):
            self.pack(f"h/r/part-{i + 1:08}.hodo", 10 - i)
        size = (self.top / "h/r/part-00000001.hodo").stat().st_size
        self.prune("--keep-size", str(3 * size + size // 2))
        self.assertEqual(self.left(), {f"h/r/part-0000000{i}.hodo" for i in (4, 5, 6)})
        self.prune("--keep-size", "1")
        self.assertEqual(list(self.top.iterdir()), [])

    def test_parts_of_a_recording(self):
        path = self.make("r.data", 10, "--rotate", "64K", n=20000)
        parts = self.folders(path)
        for i, part in enumerate(parts):
            self.age(path / part, 20 - i)
        removed, _ = self.prune("--keep-age", f"{20 - 1.5}h")
        self.assertEqual(removed, [f"r.data/{p}" for p in parts[:2]])
        self.assertEqual(self.folders(path), parts[2:])
        # The directory itself may be a recording.
        done = self.hodo("prune", "--keep-age", f"{20 - 2.5}h", path, status=0)
        self.assertIn(f"removed {parts[2]}, ", done.stdout)
        self.assertEqual(self.folders(path), parts[3:])
        self.prune("--keep-size", "1")
        self.assertEqual(list(self.top.iterdir()), [])

    def test_what_is_written_stays(self):
        old = self.make("old.data", 9)
        recorder = self.begin_blocked("--backlog", "1G", data=str(self.top / "now.data"))
        self.ticks(recorder, 20000)
        unsent = self.top / "now.data.unsent"
        wait_for("unsent parts", lambda: len(list(unsent.glob("*/*/part-*.hodo"))) > 2 and
                 (self.top / "now.data").is_dir())
        for file in unsent.rglob("*.hodo"):
            self.age(file, 100)
        before = set(unsent.rglob("*.hodo"))
        removed, _ = self.prune("--keep-size", "1")
        self.assertEqual(removed, ["old.data"])
        self.assertFalse(old.exists())
        self.assertLessEqual(before, set(unsent.rglob("*.hodo")))
        self.assertTrue((self.top / "now.data").is_dir())
        done = self.hodo("prune", "--keep-size", "1", self.top / "now.data", status=0)
        self.assertIn("now.data is a recording itself: name the directory that it is in", done.stderr)
        os.unlink(self.target)
        self.finish(recorder)
        self.check_all()

    def test_what_is_not_ours_stays(self):
        outside = pathlib.Path(self.path("outside"))
        recording = self.make("real.data", 9)
        shutil.move(recording, outside)
        packed = self.pack("p.hodo", 9)
        shutil.move(packed, self.path("outside.hodo"))
        (self.top / "link.data").symlink_to(outside)
        (self.top / "link.hodo").symlink_to(self.path("outside.hodo"))
        (self.top / "dir").symlink_to(self.path("."))
        (self.top / "notes.txt").write_text("mine")
        (self.top / "fake.hodo").write_text("mine")
        (self.top / "empty").mkdir()
        mixed = self.make("mixed.data", 9)
        (mixed / "notes.txt").write_text("mine")
        self.pack("fresh.hodo.part", 0)
        ours = {"stale.hodo.part"}
        self.pack("stale.hodo.part", 9)
        before = self.left()
        removed, said = self.prune("--keep-size", "1")
        self.assertEqual(set(removed), ours)
        self.assertIn("mixed.data stays: it holds files that are not the recording's", said)
        self.assertEqual(self.left(), before - ours)
        self.assertEqual(len(self.serials(outside)), 2000)
        self.assertEqual(len(self.serials(mixed)), 2000)
        self.assertTrue((self.top / "empty").is_dir())

    def test_directories_of_others(self):
        """Directories that only look like a recording's: empty ones, below empty ones, with its folders' names."""
        for name in ("stock/chart", "stock/code", "a/b/c/d", "kernel", "data/kvd-12", "x/part-00000001", "n/.symbols",
                     "host-a/web-1", "host-b"):
            (self.top / name).mkdir(parents=True)
        there = {p for p in self.top.rglob("*")}
        removed, said = self.prune("--keep-size", "1", "--keep-age", "1s")
        self.assertEqual((removed, {p for p in self.top.rglob("*")}), ([], there))
        self.assertIn("removed 0 of 0", said)
        self.fails(2, "is the whole system: name the directory", "prune", "-n", "--keep-size", "1", "/")
        self.fails(2, "is the whole system: name the directory", "prune", "-n", "--keep-size", "1", "/tmp/..")

    def test_merge_is_whole(self):
        made = []
        for i, host in enumerate(("a", "b")):
            made.append(self.make(f"{host}.data", 9 - i))
        merged = self.top / "m"
        self.ok("merge", "-q", "-o", merged, *(f"{host}={p}" for host, p in zip("ab", made)))
        for path in made:
            shutil.rmtree(path)
        self.assertEqual(sorted(os.listdir(merged)), ["host-a", "host-b"])
        self.age(merged / "host-a", 90)
        self.age(merged / "host-b", 5)
        # As old as the newest of it.
        self.assertEqual(self.prune("--keep-age", "2d")[0], [])
        done = self.hodo("prune", "--keep-size", "1", merged, status=0)
        self.assertIn("is a recording itself", done.stderr)
        self.assertEqual(sorted(os.listdir(merged)), ["host-a", "host-b"])
        self.assertEqual(self.prune("--keep-age", "1h")[0], ["m"])
        self.assertEqual(list(self.top.iterdir()), [])

    def test_other_file_systems(self):
        self.make("old.data", 9)
        (self.top / "mounted").mkdir()
        private = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
        if run(*private, "true").returncode:
            self.skipTest("mounts are not allowed here")
        done = run(*private, "sh", "-ec", """
            mount -t tmpfs none "$1"/mounted
            cp -a "$1"/old.data "$1"/mounted/
            "$2" prune --keep-size 1 "$1"
            test -d "$1"/mounted/old.data
        """, "sh", self.top, HODO)
        self.assertEqual((done.returncode, done.stdout.count("removed")), (0, 1), done.stderr)
        self.assertIn("removed old.data, ", done.stdout)

    def test_usage(self):
        self.fails(2, "--keep-size", "prune", self.top)
        self.fails(2, "give the directory", "prune", "--keep-age", "1d")
        self.fails(1, "No such file", "prune", "--keep-age", "1d", self.path("nothing"))
        self.fails(2, "--keep-age is a time", "prune", "--keep-age", "1", self.top)


main()
