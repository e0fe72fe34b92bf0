#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo record --compress: what it writes, what every verb reads from that, and what is lost."""
import glob
import os
import pathlib
import re
import resource
import shutil
import signal
import struct

import hodo_test
from hodo_test import compare, info, main, program, readable, run, wait_for
from planes import MARK, expand

TARGET, CALC = program("TARGET"), program("CALC")
TINY = ("-m", "64K", "--packet-size", "1K")
FULL = ("-m", "4M", "--packet-size", "64K", "-e", "limits:tick")  # full packets, however late the program runs
TABLE, TABLE_END = 0x184D2A5E, 0x8F92EAB1


class Case(hodo_test.Case):
    def streams(self, recording=None, suffix=".zst"):
        return sorted(p for p in glob.glob(os.path.join(recording or self.data, "**", "*"), recursive=True)
                      if p.endswith(suffix))

    def compressed(self, *args, **how):
        """A recording in which all streams are compressed, and no other file is."""
        done = self.record("--compress", *args, **how)
        files = {os.path.basename(p) for p in glob.glob(self.path("trace", "**"), recursive=True) if os.path.isfile(p)}
        self.assertTrue(self.streams())
        self.assertFalse([f for f in files if f.startswith(("cpu", "fallback", "profile", "open"))
                          and not f.endswith(".zst")])
        return done

    def expanded(self, recording=None):
        """A copy as the recording would be without --compress, made without hodo."""
        path = self.path("expanded")
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(recording or self.data, path)
        expand(*self.streams(path))
        return path

    def check(self, done=None):
        """babeltrace2 reads the expanded recording, and hodo sees the same in both."""
        expanded = self.expanded()
        found = self.check_trace(done, expanded)
        self.assertEqual(self.ok("print", "-q", "--json", self.data), self.ok("print", "-q", "--json", expanded))
        return found


class Record(Case):
    def test_events(self):
        found = self.check(self.compressed(TARGET, 4000, 2, 2, 1000))
        self.assertEqual(len(found), 16000)

    def test_smaller(self):
        self.compressed("--packet-size", "256K", "-m", "4M", TARGET, 100000, 1, 0, 1000)
        expanded = self.expanded()
        self.assertLess(info(self.data)["bytes"] * 3, info(expanded)["bytes"])

    def test_table(self):
        """A packet is a frame, and the table at the end says where each is, as in zstd's seekable format."""
        self.compressed(*TINY, TARGET, 3000, 1, 0, 100)
        for path in self.streams():
            with open(path, "rb") as f:
                data = f.read()
            frames, flags, magic = struct.unpack("<IBI", data[-9:])
            self.assertEqual((flags, magic), (0, TABLE_END))
            table = data[-9 - 8 * frames - 8:]
            self.assertEqual(struct.unpack("<II", table[:8]), (TABLE, 8 * frames + 9))
            at, plain = 0, run("zstd", "-dc", path, status=0, text=False).stdout
            for i in range(frames):
                size, was = struct.unpack_from("<II", table, 8 + 8 * i)
                frame = run("zstd", "-dc", input=data[at:at + size], status=0, text=False).stdout
                self.assertEqual(frame, plain[:was])
                self.assertEqual(struct.unpack_from("<Q", frame, 48)[0], 8 * was)  # packet_size
                at, plain = at + size, plain[was:]
            self.assertEqual((plain, data[at:]), (b"", table))

    def test_losses(self):
        done = self.compressed("-m", "16K", "--packet-size", "1K", TARGET, 30000, 1, 2, 0)
        self.assertGreater(done.lost(), 0)
        self.assertEqual(done.events()[0] + done.lost(), 60000)
        self.check(done)

    def test_parts(self):
        done = self.compressed(*TINY, "--rotate", "20K", TARGET, 20000, 1, 1, 100)
        self.assertGreater(len(self.folders()), 2)
        self.assertEqual(len(self.check(done)), done.events()[0])

    def test_flight_recorder(self):
        done = self.compressed("--overwrite", "-m", "64K", TARGET, 20000, 1, 1, 0)
        found = self.check()
        self.assertEqual(len(found), done.events()[0])
        self.assertEqual(self.stat()["overwritten"], 20000 - len(found))

    def test_functions(self):
        for tracer in ("record", "profile", "graph"):
            with self.subTest(tracer=tracer):
                self.compressed("--functions", "--tracer", tracer, CALC, "2*(3+4)")
                self.check()

    def test_levels(self):
        for level in ("1", "19"):
            self.assertEqual(self.record(f"--compress={level}", TARGET, 100, 1, 0, 0).returncode, 3)
            self.assertEqual(len(self.check()), 100)
        for level in ("0", "20", "-1", "x", ""):
            self.fails(2, "--compress is a level from 1 (fast) to 19 (small)", "record", f"--compress={level}", "true")

    def test_again(self):
        """A compressed recording counts as a recording: the next one moves it aside."""
        for n in (10, 20, 30):
            self.compressed(TARGET, n, 1, 0, 0)
        self.assertEqual(len(self.check()), 30)
        self.assertEqual(sorted(n for n in os.listdir(self.dir) if n.startswith("trace")), ["trace", "trace.old"])


class Read(Case):
    VERBS = (("print",), ("print", "--json"), ("stat", "--json"), ("report", "--json"), ("graph",), ("list",),
             ("report", "--losses")) + tuple(("export", "--to", f, "-o", "-") for f in (
                 "perfetto", "chrome", "csv", "jsonl", "folded", "callgrind", "speedscope", "firefox"))

    def test_verbs(self):
        """All verbs say the same about it as about the uncompressed recording."""
        self.compressed("--functions", CALC, *["2*(3+4)*(1+2+3)"] * 50)
        expanded = self.expanded()
        os.rename(self.data, self.path("compressed"))
        said = []
        for path in (self.path("compressed"), expanded):
            os.rename(path, self.data)
            said.append([(v, self.hodo(*v, self.data, text=False)) for v in self.VERBS])
            os.rename(self.data, path)
        some = 0
        for (verb, a), (_, b) in zip(*said):
            self.assertEqual((a.returncode, a.stdout, a.stderr), (b.returncode, b.stdout, b.stderr), verb)
            some += a.returncode == 0 and len(a.stdout) > 0
        self.assertGreaterEqual(some, len(self.VERBS) - 1)

    def test_a_while(self):
        """--since and --until within it; the counts of losses are those of the whole recording."""
        self.compressed("-m", "16K", "--packet-size", "1K", TARGET, 30000, 1, 1, 0)
        expanded, said = self.expanded(), info(self.data)
        begin, third = said["begin_ns"], (said["end_ns"] - said["begin_ns"]) // 3
        a_while = ("--since", f"{begin + third}ns", "--until", f"{begin + 2 * third}ns")
        a, b = (self.hodo("print", "--json", *a_while, path) for path in (self.data, expanded))
        self.assertEqual((a.returncode, a.stdout), (0, b.stdout))
        # Where everything in that time was lost, a message says so, with the name.
        self.assertEqual(a.stderr.replace(self.data, str(expanded)), b.stderr)

    def test_process_folder(self):
        self.compressed(TARGET, 500, 1, 0, 0)
        self.assertEqual(self.stat(self.path("trace", self.folders()[0]))["recorded"], 500)

    def test_twice(self):
        """The same stream is there uncompressed, too."""
        self.compressed(TARGET, 500, 1, 0, 0)
        path = self.streams()[0]
        run("zstd", "-d", "-q", path, status=0)
        done = self.hodo("stat", "--json", self.data)
        self.assertIn("is there twice", done.stderr)
        self.assertEqual(self.stat()["recorded"], 500)


class Planes(Case):
    """Packets with many bytes of one kind are compressed with their bytes in another order."""
    def marks(self):
        return [mark for path in self.streams() for mark in
                re.findall(re.escape(MARK) + b"(....)(....)", pathlib.Path(path).read_bytes(), re.DOTALL)]

    def test_events(self):
        # The times of events decide, too, whether another order is worth it: on a busy machine it sometimes is not.
        for _ in range(20):
            self.compressed(*FULL, TARGET, 50000)
            if self.marks():
                break
        self.assertTrue(self.marks())
        self.assertEqual({struct.unpack("<I", head)[0] for head, _ in self.marks()}, {88})
        self.assertEqual(len(self.check()), 50000 - len(range(3, 50000, 7)))

    def test_calls(self):
        """They have eight bytes, and compress to a fraction of their size in the original order."""
        self.compressed("--functions", "--tracer", "record", "-m", "4M", CALC, "+".join(["1"] * 20000))
        records = [struct.unpack("<I", record)[0] for _, record in self.marks()]
        self.assertTrue(records)
        self.assertEqual([record for record in records if record % 8], [])
        self.check()
        path = max(self.streams(self.expanded(), ""), key=os.path.getsize)
        packed = run("zstd", "-6", "-c", path, status=0, text=False).stdout
        self.assertLess(sum(os.path.getsize(p) for p in self.streams()), len(packed))

    def test_again(self):
        """hodo unpack restores what was written."""
        self.compressed(*FULL, TARGET, 50000)
        self.ok("unpack", "-q", "-o", self.path("unpacked"), self.data)
        for path in self.streams(self.expanded(), ""):
            other = path.replace(self.path("expanded"), self.path("unpacked"))
            if os.path.isfile(path):
                self.assertEqual(pathlib.Path(path).read_bytes(), pathlib.Path(other).read_bytes(), path)


class Damage(Case):
    def setUp(self):
        super().setUp()
        self.compressed(*TINY, TARGET, 2000, 1, 0, 100)
        (self.stream,) = self.streams()
        with open(self.stream, "rb") as f:
            self.bytes = f.read()
        self.frames = struct.unpack("<I", self.bytes[-9:-5])[0]
        sizes = struct.unpack(f"<{2 * self.frames}I", self.bytes[-9 - 8 * self.frames:-9])[::2]
        self.ends = [sum(sizes[:i + 1]) for i in range(self.frames)]
        self.numbers = [e["fields"]["n"] for e in hodo_test.events(self.data)]
        self.assertEqual(self.numbers, list(range(2000)))

    def write(self, data):
        with open(self.stream, "wb") as f:
            f.write(data)

    def read(self):
        done = self.hodo("print", "--json", self.data)
        self.assertEqual(done.returncode, 0)
        return [e["fields"]["n"] for e in hodo_test.json_lines(done.stdout)], done.stderr

    def recovered(self):
        """The numbers in hodo recover's output, which is sound, and compressed as well."""
        out = self.path("recovered")
        shutil.rmtree(out, ignore_errors=True)
        self.hodo("recover", "-q", "-o", out, self.data)
        (path,) = self.streams(out)
        run("zstd", "-t", "-q", path, status=0)
        expanded = self.expanded(out)
        self.check_trace(recording=expanded)
        return [e["fields"]["n"] for e in hodo_test.events(out)]

    def test_a_frame(self):
        middle = self.frames // 2
        data = bytearray(self.bytes)
        data[self.ends[middle] - 1] ^= 0xFF
        self.write(data)
        numbers, said = self.read()
        self.assertIn(f"compressed data at byte {self.ends[middle - 1]} is damaged: "
                      f"{self.ends[middle] - self.ends[middle - 1]} bytes of the file are not read", said)
        self.assertEqual(numbers, [n for n in self.numbers if n in set(numbers)])
        missing = sorted(set(self.numbers) - set(numbers))
        self.assertEqual(missing, list(range(missing[0], missing[-1] + 1)))
        self.assertLess(len(missing), 100)
        self.assertEqual(self.recovered(), numbers)
        # The packet's header says how many events there were.
        self.assertEqual(sum(s["damaged"] for p in self.stat()["processes"] for s in p.get("streams", []))
                         or len(missing), len(missing))

    def test_cut(self):
        """Wherever the file is cut, the whole frames before the cut can be read."""
        some = range(self.ends[0] - 3, len(self.bytes), len(self.bytes) // 12)
        for cut in [*some, *self.ends[:-1:max(1, self.frames // 5)]]:
            with self.subTest(cut=cut):
                self.write(self.bytes[:cut])
                numbers, said = self.read()
                self.assertEqual(numbers, self.numbers[:len(numbers)])
                whole = sum(end <= cut for end in self.ends)
                self.assertEqual(info(self.data)["packets"], whole)
                if cut not in self.ends:
                    self.assertRegex(said, r"compressed data at byte \d+ is cut short: \d+ bytes")
        self.assertEqual(self.recovered(), numbers)

    def test_no_frames(self):
        self.write(b"no frames at all" * 100)
        numbers, said = self.read()
        self.assertEqual(numbers, [])
        self.assertIn("compressed data at byte 0 is cut short: 1600 bytes of the file are not read", said)


class Killed(Case):
    def test_recorder(self):
        """When the recorder dies, even packets that are far from full are on disk, whole."""
        pid_file = self.path("pid")
        recorder = self.recorder("--compress", "-m", "64M", TARGET, 0, 1, 0, 10, pid_file)
        wait_for("events on disk", lambda: self.hodo("stat", "-q", "--json", self.data).returncode == 0
                 and self.stat()["recorded"] > 1000)
        recorder.kill()
        recorder.wait()
        with open(pid_file, encoding="ascii") as f:
            os.kill(int(f.read()), signal.SIGKILL)
        numbers = [e["fields"]["n"] for e in hodo_test.events(self.data)]
        self.assertGreater(len(numbers), 1000)
        self.assertEqual(numbers, list(range(len(numbers))))
        compare(self.expanded())
        self.hodo("recover", "-q", self.data, status=0)
        self.assertEqual(len(hodo_test.events(self.data + ".recovered")), len(numbers))


class Limits(Case):
    def test_full_disk(self):
        self.data = os.path.join(self.disk("1500K"), "trace")
        done = self.record("--compress", *TINY, TARGET, 200000, 1, 1, 1000)
        self.assertIn("cannot write", done.stderr)
        self.assertGreater(done.lost(), 0)
        self.assertEqual(done.events()[0] + done.lost(), 200000)
        stat = self.stat()
        self.assertEqual(stat["recorded"] + stat["discarded"], 200000)
        self.check_trace(done, self.expanded())

    def test_file_size(self):
        """The recorder's files may not grow beyond 100,000 bytes: what is written stays valid, the rest is counted."""
        go = self.path("go")
        recorder = self.recorder("--compress", *TINY, "sh", "-c",
                                 f"touch up; while [ ! -e {go} ]; do sleep 0.01; done; exec {TARGET} 100000 1 0 500")
        wait_for("the command", lambda: os.path.exists(self.path("up")))
        resource.prlimit(recorder.pid, resource.RLIMIT_FSIZE, (100000, resource.RLIM_INFINITY))
        with open(go, "w", encoding="ascii"):
            pass
        done = recorder.done()
        self.assertGreater(done.lost(), 0)
        self.assertEqual(done.events()[0] + done.lost(), 100000)
        stat = self.stat()
        self.assertEqual((stat["recorded"], stat["discarded"]), (done.events()[0], done.lost()))
        # There may be no room for the packet that reports losses.
        readable(self.expanded())

    def test_max_size(self):
        done = self.compressed(*TINY, "--max-size", "100K", TARGET, 60000, 1, 0, 500)
        self.assertIn("--max-size", done.stderr)
        self.assertLessEqual(sum(os.path.getsize(p) - 9 for p in self.streams()), 110000)
        self.check()


main()
