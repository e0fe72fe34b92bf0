#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_limits.py SUITE: recordings in parts (--rotate, --keep) and of a bounded size (--max-size).

HODO, TARGET (target.c), CALC (a program with functions), HODO_LIBRARY are in the environment.
"""
import contextlib
import glob
import json
import os
import pathlib
import random
import re
import shutil
import signal
import time

from hodo_test import HODO, Case, alive, compare, events, main, program, run, wait_for

CALC, MOVING, TARGET = program("CALC"), program("MOVING"), program("TARGET")

TINY = ("-m", "64K", "--packet-size", "1K")
PACKET = 1024
HEADER = 88  # of a packet's header


class Limits(Case):
    def hodo(self, *args, status=0):
        return super().hodo(*args, status=status)

    def parts(self, path=None):
        return sorted(f for f in os.listdir(path or self.data) if f.startswith("part-"))

    def events(self, path=None):
        return events(path or self.data)  # check_trace() has babeltrace2 read them

    def bytes_on_disk(self, path=None):
        """The size of the packets: of all files except metadata and symbols."""
        total = 0
        for folder, _, files in os.walk(path or self.data):
            total += sum(os.path.getsize(os.path.join(folder, f)) for f in files
                         if f.startswith("cpu") or f in ("fallback", "profile"))
        return total

    def check_sum(self, result, sent):
        """All events that the program sent are recorded or counted, in messages, in the whole and in each part."""
        stat = self.stat()
        lost = stat["discarded"] + stat["overwritten"]
        self.assertEqual(stat["recorded"] + lost + stat["limited"], sent)
        self.assertEqual(result.lost(), lost)
        self.assertEqual(result.events()[0], stat["recorded"])
        parts = [self.stat(os.path.join(self.data, part)) for part in self.parts()]
        for key in ("recorded", "discarded", "overwritten", "limited"):
            self.assertEqual(sum(part[key] for part in parts), stat[key], key)
        by_cause = {}
        for part in parts:
            for process in part["processes"]:
                for cause, n in process["lost"].items():
                    by_cause[cause] = by_cause.get(cause, 0) + n
        whole = {}
        for process in stat["processes"]:
            for cause, n in process["lost"].items():
                whole[cause] = whole.get(cause, 0) + n
        self.assertEqual(by_cause, whole)
        self.assertEqual(whole["unknown"], 0)
        return stat

    def check_complete(self, part):
        """The part is a complete recording, which ended properly."""
        info = self.info(os.path.join(self.data, part))
        self.assertTrue(info["processes"], part)
        for process in info["processes"]:
            self.assertTrue(process["complete"], part)

    def check_each_once(self, events, folder="pid"):
        """Each thread's numbers: each at most once, in order."""
        threads = {}
        for e in events:
            threads.setdefault((e[folder], e["fields"]["thread"]), []).append(e["fields"]["n"])
        for numbers in threads.values():
            self.assertEqual(len(set(numbers)), len(numbers))
        return threads


class Options(Limits):
    def usage(self, *args, says):
        done = self.record(*args, "true")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"\Ahodo: record: [^\n]*" + says + r"[^\n]*\n\Z")
        self.assertFalse(os.path.exists(self.data))

    def test_usage(self):
        self.usage("--keep", "2", says="--keep is for the parts that --rotate makes")
        self.usage("--keep", "0", "--rotate", "1M", says="--keep is a number")
        self.usage("--rotate", "64", says="--rotate is a size such as 64M, or a time")
        self.usage("--rotate", "", says="--rotate is a size")
        self.usage("--rotate", "0s", says="--rotate is a size")
        self.usage("--rotate", "s", says="--rotate is a size")
        self.usage("--rotate", "5ss", says="--rotate is a size")
        self.usage("--rotate", "64X", says="--rotate is a size")
        self.usage("--rotate", "1M", "--rotate", "2M", says="not two sizes")
        self.usage("--rotate", "1s", "--rotate", "2m", says="not two times")
        self.usage("--rotate", "1K", says="--rotate must hold a packet")
        self.usage("--max-size", "0", says="--max-size is a size")
        self.usage("--max-size", "1K", says="--max-size must hold a packet")
        self.usage("--max-size", "1M", "--overwrite", says="--overwrite keeps the newest")
        self.usage("--rotate", "1M", "--overwrite", says="--overwrite keeps the newest")

    def test_units(self):
        for value in ("1M", "300k", "2G", "0.5s", "30s", "5m", "2h"):
            result = self.record("--rotate", value, TARGET, 10)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertEqual(self.parts(), ["part-0001"], value)
        # 5m means minutes, 5M a size; both may be combined.
        result = self.record("--rotate", "5M", "--rotate", "5m", "--keep", "3", TARGET, 10)
        self.assertEqual(result.returncode, 3, result.stderr)


class Parts(Limits):
    def test_hundreds_under_load(self):
        """Full speed, more than the recorder can write: all losses are counted, part by part."""
        result = self.record(*TINY, "--rotate", "2K", TARGET, 40000, 2, 2)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.check_sum(result, 160000)
        self.check_each_once(self.events())
        self.check_trace(result)

    def test_hundreds_paced(self):
        result = self.record("-m", "256K", "--packet-size", "1K", "--rotate", "4K", TARGET, 15000, 2, 2, 100)
        self.assertEqual(result.returncode, 3, result.stderr)
        stat = self.check_sum(result, 60000)
        self.assertEqual(len(stat["processes"]), 2)
        # A part holds at most three packets of a kilobyte.
        self.assertGreater(len(self.parts()), stat["recorded"] * 20 // 4096)
        self.assertGreater(len(self.parts()), 50)  # how many depends on the machine
        for part in self.parts():
            self.check_complete(part)
            self.assertLessEqual(self.bytes_on_disk(os.path.join(self.data, part)), 4096)
        self.check_each_once(self.events())
        self.check_trace(result)

    def test_as_one(self):
        """Reads the same as a recording of the same program that is not in parts."""
        plain = self.record("-m", "4M", "--packet-size", "4K", TARGET, 3000, 1, 0, 500)
        self.assertEqual(plain.lost(), 0)
        one = [(e["name"], e["fields"]) for e in self.events()]
        info_one = self.info()
        self.assertEqual(info_one["parts"], [])
        result = self.record("-m", "4M", "--packet-size", "4K", "--rotate", "8K", TARGET, 3000, 1, 0, 500)
        self.assertEqual(result.lost(), 0)
        self.assertEqual([(e["name"], e["fields"]) for e in self.events()], one)
        info = self.info()
        self.assertEqual(len(info["processes"]), 1)
        self.assertEqual([p["name"] for p in info["parts"]], self.parts())
        self.assertEqual(sum(p["events"] for p in info["parts"]), 3000)
        self.assertEqual(sum(p["packets"] for p in info["parts"]), info["packets"])
        self.assertEqual(info["recorded"], info_one["recorded"])
        streams = [s["name"] for s in info["processes"][0]["streams"]]
        self.assertEqual(len(set(streams)), len(streams))
        self.check_trace(result)

    def test_one_uuid(self):
        self.record(*TINY, "--rotate", "4K", TARGET, 3000, 1, 0, 200)
        uuids, clocks = set(), set()
        for part in self.parts():
            for folder in os.listdir(os.path.join(self.data, part)):
                text = self.metadata(folder, os.path.join(self.data, part))
                uuids.add(re.search(r"/\*@hodo .*uuid=(\S+) ", text)[1])
                clocks.add(re.search(r"/\*@clock .*\*/", text)[0])
        self.assertEqual(len(uuids), 1)
        self.assertEqual(len(clocks), 1)  # the final one, in each part

    def test_missing_parts_are_counted(self):
        """Parts that did not arrive: what was in them is lost, and that is said."""
        result = self.record("-m", "4M", "--packet-size", "1K", "--rotate", "8K", TARGET, 3000, 1, 0, 500)
        self.assertEqual(result.lost(), 0)
        parts = self.parts()
        self.assertGreater(len(parts), 6)
        missing = sum(self.stat(os.path.join(self.data, part))["recorded"] for part in parts[2:4])
        for part in parts[2:4]:
            shutil.rmtree(os.path.join(self.data, part))
        stat = self.stat()
        self.assertEqual((stat["recorded"], stat["discarded"]), (3000 - missing, missing))
        self.assertEqual(stat["processes"][0]["lost"]["damaged"], missing)
        said = self.hodo("stat", self.data).stderr
        self.assertIn(f"{parts[4]}: 2 parts before it are missing: the events that are known to be in them count as "
                      "damaged", said)
        # Older parts are removed on purpose: --keep.
        for part in parts[:2]:
            shutil.rmtree(os.path.join(self.data, part))
        self.assertEqual(self.stat()["discarded"], 0)
        self.assertNotIn("missing", self.hodo("stat", self.data).stderr)

    def test_spans_without_older_parts(self):
        """A begin whose end was in a part that is gone does not contain all later spans of its thread."""
        self.record("-m", "1M", "--packet-size", "1K", "--rotate", "16K", MOVING, 20000)
        for part in self.parts()[:-2]:
            shutil.rmtree(os.path.join(self.data, part))
            self.hodo("export", "-q", "--to", "chrome", "-o", os.path.join(self.dir, "moving.json"), "-f", self.data)
            with open(os.path.join(self.dir, "moving.json"), encoding="utf-8") as file:
                slices = [e for e in json.load(file)["traceEvents"] if e.get("name") == "moving:work"]
            self.check_apart(slices)

    def check_apart(self, slices):
        open_ones = 0
        for e in slices:
            open_ones += {"B": 1, "E": -1}[e["ph"]]
            self.assertIn(open_ones, (0, 1), e)
        self.assertGreater(len(slices), 100)

    def test_by_time(self):
        result = self.record(*TINY, "--rotate", "0.05s", TARGET, 20000, 1, 0, 50)
        self.check_sum(result, 20000)
        self.assertGreater(len(self.parts()), 1)
        for part in self.parts():
            self.check_complete(part)
        self.check_trace(result)

    def test_quiet_program(self):
        """Without events there are no new parts."""
        self.record(*TINY, "--rotate", "0.01s", "sleep", "0.5")
        self.assertEqual(self.parts(), ["part-0001"])

    def test_some_end_others_begin(self):
        script = f"{TARGET} 2000 1 0 100; {TARGET} 2000 3 1 100 & {TARGET} 2000 1 0 100; wait; {TARGET} 500"
        result = self.record("-m", "256K", "--packet-size", "1K", "--rotate", "8K", "sh", "-c", script)
        stat = self.check_sum(result, 2000 + 6000 + 2000 + 500)
        self.assertEqual(len([p for p in stat["processes"] if p["recorded"]]), 6)
        for part in self.parts():
            self.check_complete(part)
        self.check_trace(result)

    def test_few_descriptors(self):
        """Enough descriptors for the processes, but not for all their streams: parts must not keep any open."""
        script = (f"ulimit -n 64; exec {HODO} record -q -o {self.data} {' '.join(TINY)} --rotate 4K"
                  f" {TARGET} 2000 12 1 100")
        done = run("sh", "-c", script, **self.how({}))
        self.assertEqual(done.returncode, 3, done.stderr)
        stat = self.stat()
        self.assertEqual(len(stat["processes"]), 12, done.stderr)
        self.assertEqual(stat["recorded"] + stat["discarded"], 24000, done.stderr)
        self.assertNotIn("cannot write", done.stderr)
        self.assertGreater(len(self.parts()), 10)
        self.check_trace()


class Keep(Limits):
    def test_the_newest(self):
        result = self.record("-m", "256K", "--packet-size", "1K", "--rotate", "4K", "--keep", "3",
                             TARGET, 20000, 1, 0, 200)
        said = re.search(r"hodo: (\d+) parts, (\d+) removed with (\d+) events, as --keep asks", result.stderr)
        self.assertTrue(said, result.stderr)
        made, removed, events = map(int, said.groups())
        self.assertEqual(self.parts(), [f"part-{n:04d}" for n in range(made - 2, made + 1)])
        self.assertEqual(removed, made - 3)
        self.assertEqual(result.events()[0], self.stat()["recorded"])
        self.assertGreater(events, 0)
        if result.lost() == 0:
            self.assertEqual(events + result.events()[0], 20000)
            numbers = [e["fields"]["n"] for e in self.events()]
            self.assertEqual(numbers, list(range(events, 20000)))
        self.check_trace()

    def test_one(self):
        self.record(*TINY, "--rotate", "4K", "--keep", "1", TARGET, 5000, 1, 0, 200)
        self.assertEqual(len(self.parts()), 1)
        self.check_trace()

    def test_with_max_size(self):
        """Removed parts take no space on the disk: the recording goes on for ever."""
        result = self.record(*TINY, "--rotate", "4K", "--keep", "2", "--max-size", "16K", TARGET, 20000, 1, 0, 200)
        self.assertNotIn("max-size", result.stderr)
        self.assertLessEqual(self.bytes_on_disk(), 8192)


class Size(Limits):
    def check_size(self, limit, result, path=None):
        size = self.bytes_on_disk(path)
        streams = sum(len(p["streams"]) for p in self.info(path)["processes"])
        self.assertIn("has reached --max-size: the recording ends", result.stderr)
        # One more packet would not have fitted; each stream may end with up to two empty ones that report losses.
        self.assertGreater(size, limit - PACKET)
        self.assertLessEqual(size, limit + 2 * HEADER * streams)

    def test_exact(self):
        for limit in (1, 20, 77, 200):
            result = self.record(*TINY, "--max-size", f"{limit}K", TARGET, 50000, 1, 1, 200)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.check_size(limit * 1024, result)
            stat = self.stat()
            self.assertEqual(result.events()[0], stat["recorded"])
            self.assertEqual(result.lost(), stat["discarded"])
            self.check_trace(result)

    def test_several_processes(self):
        result = self.record(*TINY, "--max-size", "100K", TARGET, 20000, 4, 2, 200)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("or had reached its --max-size", self.ok("stat", self.data))
        self.check_size(100 * 1024, result)
        self.check_trace(result)

    def test_in_parts(self):
        result = self.record(*TINY, "--max-size", "100K", "--rotate", "8K", TARGET, 50000, 1, 0, 200)
        self.check_size(100 * 1024, result)
        self.assertGreater(len(self.parts()), 12)
        self.check_trace(result)

    def test_not_reached(self):
        result = self.record("-m", "1M", "--max-size", "10M", TARGET, 1000)
        self.assertNotIn("max-size", result.stderr)
        self.assertEqual(result.events()[0], 1000)


class ByThreads(Limits):
    """Several threads drain the rings; one ends a part while others write their packets."""
    def record(self, *args, **how):
        return super().record("--drain-threads", 4, *args, **how)

    check_size = Size.check_size
    test_parts = Parts.test_hundreds_under_load
    test_few_descriptors = Parts.test_few_descriptors
    test_size = Size.test_several_processes

    def test_compressed(self):
        result = self.record("-m", "256K", "--compress", "--rotate", "256K", TARGET, 50000, 4, 2)
        self.assertIn(result.returncode, (0, 3), result.stderr)
        self.check_sum(result, 400000)
        self.check_each_once(self.events())

    def test_there_are_several(self):
        recording = self.start(HODO, "record", "-q", "--drain-threads", 4, "-o", self.data, *TINY, TARGET, 0, 4, 2,
                               start_new_session=True)
        self.addCleanup(os.killpg, recording.pid, signal.SIGKILL)  # also ends the program, which would run for ever

        def drains():
            tasks = glob.glob(f"/proc/{recording.pid}/task/*/comm")
            return any(pathlib.Path(task).read_text(encoding="utf-8") == "hodo-drain\n" for task in tasks)
        wait_for("other threads of the recorder", drains)


class Rates(Limits):
    def test_parts(self):
        result = self.record("-m", "256K", "--packet-size", "1K", "--rotate", "16K", "--rate", "limits:tick=1/ms:100",
                             TARGET, 10000, 2, 1, 200)
        stat = self.check_sum(result, 20000)
        self.assertGreater(len(self.parts()), 3)
        rows = {e["name"]: e for e in stat["events"]}
        self.assertGreater(rows["limits:tick"]["limited"], 0)
        self.assertEqual(rows["limits:text"]["limited"], 0)
        self.assertEqual(stat["limited"], rows["limits:tick"]["limited"])
        self.assertEqual(self.info()["limited"], stat["limited"])
        said = re.search(r"hodo: (\d+) events not recorded: over the rate", result.stderr)
        self.assertEqual(int(said[1]), stat["limited"])
        self.assertIn("OVER RATE", self.hodo("stat", self.data).stdout)
        self.assertIn("exceeded their rate", self.hodo("info", self.data).stdout)
        self.check_trace(result)

    def test_whole(self):
        result = self.record("-m", "4M", "--rate", "limits:tick=1/s", TARGET, 7000)
        stat = self.stat()
        self.assertEqual(stat["recorded"] + stat["limited"] + stat["discarded"], 7000)
        self.assertEqual(result.lost(), 0)
        self.assertGreaterEqual(stat["limited"], 5900)


class Profile(Limits):
    def test_profile(self):
        def calls(*options):
            done = self.record("-q", *TINY, *options, "--functions", "--tracer", "profile", CALC,
                               *["1+2*3-4*(5+6)"] * 50)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = {}
            for e in self.events():
                if e["name"] == "func:profile":
                    found[e["function"]] = found.get(e["function"], 0) + e["fields"]["calls"]
            self.check_trace()
            return found
        whole = calls()
        self.assertTrue(whole)
        self.assertEqual(calls("--rotate", "1K"), whole)
        self.assertGreater(len(self.parts()), 1)

    def test_names_in_a_part_alone(self):
        calculator = self.path("calculator")
        shutil.copy(CALC, calculator)
        done = self.record("-q", *TINY, "--rotate", "2K", "--functions", calculator, *["1+2"] * 50)
        self.assertEqual(done.returncode, 0, done.stderr)
        os.remove(calculator)
        for part in self.parts()[:2]:
            shutil.copytree(os.path.join(self.data, part), self.path("copy-" + part))
            found = self.events(self.path("copy-" + part))
            self.assertTrue(found)
            self.assertTrue(all(e["function"] for e in found))
        self.assertTrue(all(e["function"] for e in self.events()))


class Kill(Limits):
    ROUNDS = 50

    def numbers(self, path):
        return [e["fields"]["n"] for e in self.events(path)]

    def one(self, rng):
        pid_file = self.path("pid")
        for path in (self.data, self.path("mended")):
            shutil.rmtree(path, ignore_errors=True)
        if os.path.exists(pid_file):
            os.remove(pid_file)
        recorder = self.recorder("-m", "256K", "--packet-size", "1K", "--rotate", "2K", TARGET, 0, 1, 0, 50, pid_file)
        wait_for("parts", lambda: os.path.isdir(self.data) and len(self.parts()) >= 3 or recorder.poll() is not None)
        time.sleep(rng.random() * 0.02)
        recorder.kill()
        recorder.wait()
        with open(pid_file, encoding="ascii") as f:
            pid = int(f.read())
        self.assertTrue(alive(pid), "the program went with the recorder")
        os.kill(pid, 9)
        for f in recorder.files:
            f.close()
        for part in self.parts()[:-1]:
            self.check_complete(part)
            self.assertFalse(glob.glob(os.path.join(self.data, part, "*", ".metadata.new")))
        # One thread on one CPU: its numbers run through all parts without gap or repetition, unless some were lost.
        numbers = self.numbers(self.data)
        if self.stat()["discarded"] == 0:
            self.assertEqual(numbers, list(range(len(numbers))))
        self.assertEqual(len(set(numbers)), len(numbers))
        last = os.path.join(self.data, self.parts()[-1])
        if glob.glob(os.path.join(last, "*", "metadata")): # otherwise the part had only just begun
            self.hodo("recover", "-q", "-o", self.path("mended"), last)
            self.babeltrace(self.path("mended"))
            self.assertEqual(self.numbers(self.path("mended")), self.numbers(last))
            shutil.rmtree(self.path("mended"))
        shutil.rmtree(self.data)
        os.remove(pid_file)

    def test_recorder(self):
        seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
        rng = random.Random(seed)
        for i in range(self.ROUNDS):
            with self.subTest(seed=seed, round=i):
                self.one(rng)


class Full(Limits):
    def mount(self, size):
        self.data = os.path.join(self.disk(size), "trace")

    def test_rotating(self):
        self.mount("4M")
        result = self.record("-m", "1M", "--packet-size", "1K", "--rotate", "200K", TARGET, 150000, 2, 1, 1000)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("cannot write", result.stderr)
        stat = self.check_sum(result, 300000)
        self.assertGreater(sum(p["lost"]["unwritten"] for p in stat["processes"]), 0)
        self.check_trace(result)

    def test_by_time(self):
        self.mount("4M")
        result = self.record("-m", "1M", "--packet-size", "1K", "--rotate", "0.02s", TARGET, 300000, 1, 1, 1000)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("cannot write", result.stderr)
        self.check_sum(result, 300000)
        self.check_trace(result)

    def test_keep_makes_room(self):
        self.mount("3M")
        result = self.record(*TINY, "--rotate", "64K", "--keep", "4", TARGET, 200000, 1, 1, 500)
        self.assertNotIn("cannot write", result.stderr)
        self.assertGreaterEqual(len(self.parts()), 4)
        self.check_trace()


class Foreign(Limits):
    """Files that are not ours are never removed."""

    def test_in_a_part(self):
        recorder = self.recorder(*TINY, "--rotate", "4K", "--keep", "2", TARGET, 30000, 1, 0, 100)
        wait_for("a part", lambda: os.path.isdir(self.data) and len(self.parts()) >= 2 or recorder.poll() is not None)
        put = 0
        while not put:  # hodo removes parts while we look at them
            for part in self.parts():
                with contextlib.suppress(FileNotFoundError), \
                        open(os.path.join(self.data, part, "mine"), "w", encoding="ascii") as f:
                    put += f.write("mine")
        result = recorder.done()
        left = glob.glob(os.path.join(self.data, "*", "mine"))
        self.assertTrue(left)
        if len(self.parts()) > 2:
            self.assertIn("it holds files that are not the recording's", result.stderr)
            self.assertEqual(result.stderr.count("it holds files that are not"), 1)
        # Then hodo does not take the whole folder for a recording, either.
        again = self.record(TARGET, 10)
        self.assertEqual(again.returncode, 1)
        self.assertIn("is not a recording", again.stderr)
        for path in left:
            self.assertTrue(os.path.exists(path))

    def test_moves_aside(self):
        self.record(*TINY, "--rotate", "4K", TARGET, 2000, 1, 0, 100)
        parts = self.parts()
        self.assertGreater(len(parts), 3)
        for _ in range(2):
            result = self.record(*TINY, "--rotate", "4K", TARGET, 2000, 1, 0, 100)
            self.assertEqual(result.returncode, 3, result.stderr)
        self.assertTrue(os.path.isdir(self.data + ".old/part-0001"))
        self.record(TARGET, 10)
        self.record(TARGET, 10)
        self.assertEqual([f for f in os.listdir(self.data + ".old") if f.startswith("part-")], [])

    def test_link(self):
        self.record(*TINY, "--rotate", "4K", TARGET, 2000, 1, 0, 100)
        os.mkdir(self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), os.path.join(self.data, "part-9999"))
        result = self.record(TARGET, 10)
        self.assertEqual(result.returncode, 1)
        self.assertTrue(os.path.isdir(self.path("elsewhere")))

    def test_program_called_part(self):
        """The folder of a program that has the name "part" is not a part."""
        part = self.path("part")
        shutil.copy(TARGET, part)
        self.record(part, 100)
        folder, = os.listdir(self.data)
        os.rename(os.path.join(self.data, folder), os.path.join(self.data, "part-0001"))
        self.assertEqual(self.stat()["recorded"], 100)
        self.assertEqual(self.info()["parts"], [])
        self.assertEqual(self.record(TARGET, 10).returncode, 3)


class Damage(Limits):
    """A part that is damaged or missing costs only its own events."""

    def setUp(self):
        super().setUp()
        result = self.record("-m", "1M", "--packet-size", "1K", "--rotate", "4K", TARGET, 3000, 1, 0, 500)
        self.assertEqual(result.lost(), 0)
        self.stream, = {os.path.basename(f) for f in glob.glob(os.path.join(self.data, "part-*", "*", "cpu*"))}
        self.by_part = {part: [e["fields"]["n"] for e in self.events(os.path.join(self.data, part))]
                        for part in self.parts()}
        self.assertEqual(sum(self.by_part.values(), []), list(range(3000)))

    def file(self, part, name=None):
        return glob.glob(os.path.join(self.data, part, "*", name or self.stream))[0]

    def check(self, *without, warns=None):
        """All events are there, except some of these parts'; reading one part at a time shows the same."""
        numbers = [e["fields"]["n"] for e in self.events()]
        run = self.hodo("stat", "--json", self.data)
        self.assertEqual(json.loads(run.stdout)["recorded"], len(numbers))
        self.assertEqual(numbers, sorted(set(numbers)))
        missing = set(range(3000)) - set(numbers)
        self.assertLessEqual(missing, {n for part in without for n in self.by_part[part]})
        if warns:
            self.assertIn(warns, run.stderr)
        return len(missing)

    def test_cut(self):
        path = self.file("part-0003")
        os.truncate(path, os.path.getsize(path) - 10)
        self.assertEqual(self.check("part-0003", warns="part-0003/"), 1)
        os.truncate(path, 50)
        self.assertEqual(self.check("part-0003"), len(self.by_part["part-0003"]))
        os.truncate(path, 0)
        self.assertEqual(self.check("part-0003"), len(self.by_part["part-0003"]))

    def test_overwritten(self):
        with open(self.file("part-0004"), "r+b") as f:
            f.write(b"\xff" * 1100)
        missing = self.check("part-0004", warns="part-0004/")
        self.assertGreater(missing, 0)
        self.assertLess(missing, len(self.by_part["part-0004"]))

    def test_last_events_of_all(self):
        for part in self.parts():
            path = self.file(part)
            os.truncate(path, os.path.getsize(path) - 1)
        self.assertEqual(self.check(*self.parts()), len(self.parts()))

    def test_removed(self):
        shutil.rmtree(os.path.join(self.data, "part-0002"))
        missing = self.check("part-0002")
        self.assertEqual(missing, len(self.by_part["part-0002"]))
        self.assertEqual(self.stat()["discarded"], missing)
        # babeltrace2 has the rest, and does not notice that anything is missing.
        found, discarded = self.babeltrace()
        self.assertEqual((len(found), discarded), (self.stat()["recorded"], 0))
        compare(self.data)

    def test_metadata(self):
        last = self.parts()[-1]
        for text in ("nonsense", ""):
            with open(self.file(last, "metadata"), "w", encoding="ascii") as f:
                f.write(text)
            self.assertEqual(self.check(last, warns=last + "/"), len(self.by_part[last]))
        os.remove(self.file(last, "metadata"))
        self.assertEqual(self.check(last, warns="no metadata"), len(self.by_part[last]))

    def test_fewer_events_known(self):
        """The last metadata does not always have the most events."""
        path = self.file(self.parts()[-1], "metadata")
        with open(path, encoding="ascii") as f:
            text = f.read()
        with open(path, "w", encoding="ascii") as f:
            f.write(re.sub(r"/\*@event [^\n]*limits:text[^\n]*\n", "", text))
        self.assertEqual(self.check(), 0)


class Snapshots(Limits):
    """Directories with snapshots; here they are copies of recordings."""

    def test_one_and_several(self):
        self.record(TARGET, 100)
        made = self.path("made")
        os.mkdir(made)
        shutil.copytree(self.data, os.path.join(made, "snapshot-0001"))
        self.assertEqual(self.stat(made)["recorded"], 100)
        self.check_trace(recording=os.path.join(made, "snapshot-0001"))
        shutil.copytree(self.data, os.path.join(made, "snapshot-0002"))
        error = self.hodo("stat", made, status=1).stderr
        self.assertRegex(error, r"\Ahodo: \S+made has 2 snapshots, snapshot-0001 to snapshot-0002: name one of them,"
                         r" as \S+made/snapshot-0002\n\Z")
        self.assertEqual(self.stat(os.path.join(made, "snapshot-0002"))["recorded"], 100)
        # Beside a recording, snapshots are ignored.
        folder, = os.listdir(self.data)
        shutil.copytree(os.path.join(self.data, folder), os.path.join(made, folder))
        run = self.hodo("stat", "--json", made)
        self.assertEqual(json.loads(run.stdout)["recorded"], 100)
        self.assertIn("2 snapshots in it are separate recordings", run.stderr)
        # All of it is ours: hodo moves it aside.
        self.data = made
        self.assertEqual(self.record(TARGET, 10).returncode, 3)
        self.assertEqual(self.record(TARGET, 10).returncode, 3)


main()
