#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""top_spans.py - hodo top: how long spans take, what counters say, who is busy; and why there is nothing to see.

HODO, LIBHODO, TARGET (spans.c) and SILENT, a program without events, are in the environment.
"""
import json
import shutil
import subprocess

import top
from hodo_test import HODO, LIMIT_S, children, main, program, skip, wait_for

TARGET = program("TARGET")
SILENT = program("SILENT")
SPREAD = ("p50_ns", "p99_ns", "max_ns")


def by_name(line, table):
    return {row["name"]: row for row in line[table]}


class Spans(top.Case):
    def begin(self):
        """Starts hodo top with the program, and returns when the program has joined."""
        process = self.top("--json", "-d", "0.1", "-m", "16M", "--", *self.target(TARGET))
        self.connect()
        self.order("level 0")
        self.lines_until(process, lambda line: by_name(line, "counters").get("tops:level", {}).get("last") == 0)
        return process

    def last(self, process, status=0):
        self.order(f"exit {status}", answered=False)
        lines = [json.loads(line) for line in process.stdout]
        self.assertEqual((process.wait(LIMIT_S), process.stderr.read()), (status, b""))
        return lines[-1]

    def check_spread(self, row, prefix=""):
        p50, p99, longest = (row[prefix + key] for key in SPREAD)
        self.assertLessEqual(p50, p99)
        self.assertLessEqual(p99, longest)

    def test_spans_are_counted_and_measured(self):
        process = self.begin()
        self.order("spans 20000")
        line = self.lines_until(process, lambda line: by_name(line, "spans")["tops:outer"]["count"] == 20000)[-1]
        outer, inner = (by_name(line, "spans")[name] for name in ("tops:outer", "tops:inner"))
        self.assertEqual((inner["count"], inner["open"], outer["open"]), (20000, 0, 0))
        self.check_spread(outer)
        self.check_spread(outer, "all_")
        for key in ("all_p50_ns", "all_max_ns"):  # the outer span contains the inner one
            self.assertLessEqual(inner[key], outer[key])
        # An interval without spans: it has no times, and all others remain.
        quiet = self.lines_until(process, lambda line: by_name(line, "spans")["tops:outer"]["rate"] == 0)[-1]
        row = by_name(quiet, "spans")["tops:outer"]
        self.assertEqual([row[key] for key in SPREAD], [None] * 3)
        self.assertEqual([row["all_" + key] for key in SPREAD], [outer["all_" + key] for key in SPREAD])
        self.order("burn 30")
        last = self.last(process)
        burn = by_name(last, "spans")["tops:burn"]
        self.assertGreaterEqual(burn["all_max_ns"], 20000000)
        self.assertEqual(burn["count"], 1)
        self.assertAlmostEqual(burn["all_p50_ns"], burn["all_max_ns"], delta=burn["all_max_ns"] / 100)
        self.assertEqual(last["given_up"], 0)

    def test_ends_on_other_cpus(self):
        """A span that ends on another CPU has its end in another ring, full or not: each end has its begin."""
        process = self.begin()
        self.order("move 3000")
        row = by_name(self.last(process), "spans")["tops:moved"]
        self.assertEqual((row["count"], row["open"]), (3000, 0))

    def test_more_than_wait(self):
        """More begins and ends in one interval than the queues hold: hodo top takes some earlier, in order."""
        process = self.top("--json", "-d", "1h", "-m", "128M", "--", *self.target(TARGET))
        self.connect()
        self.order("move 2000")
        self.order("spans 300000")  # 1.2 million
        self.order("move 2000")
        last = self.last(process)
        self.assertEqual((sum(last["lost"].values()), last["given_up"]), (0, 0))
        for name, count in (("tops:outer", 300000), ("tops:inner", 300000), ("tops:moved", 4000)):
            row = by_name(last, "spans")[name]
            self.assertEqual((row["count"], row["open"]), (count, 0))

    def test_open_spans(self):
        process = self.begin()
        self.order("open 1")
        self.order("open -2")
        line = self.lines_until(process, lambda line: by_name(line, "spans")["tops:job"]["open"] == 2)[-1]
        self.assertEqual(by_name(line, "spans")["tops:job"]["count"], 0)
        self.assertIsNone(by_name(line, "spans")["tops:job"]["all_max_ns"])
        self.order("close -2")  # in another thread
        line = self.lines_until(process, lambda line: by_name(line, "spans")["tops:job"]["count"] == 1)[-1]
        self.assertEqual(by_name(line, "spans")["tops:job"]["open"], 1)
        self.order("named " + 100 * "x")
        self.order("named short")
        self.order("named " + 270 * "y")  # too long for pairing
        self.order("unnamed " + 100 * "x")
        last = self.last(process)
        self.assertEqual([by_name(last, "spans")["tops:named"][key] for key in ("count", "open")], [1, 0])
        self.assertEqual(last["given_up"], 1)
        self.assertEqual(by_name(last, "spans")["tops:job"]["open"], 0)  # nobody is left who could end it

    def test_counters(self):
        process = self.begin()
        for order in ("level 7", "level -3", "level 5", "ratio 1", "ratio 3"):
            self.order(order)
        line = self.lines_until(process, lambda line: by_name(line, "counters")["tops:ratio"]["count"] == 2)[-1]
        level, ratio = (by_name(line, "counters")[name] for name in ("tops:level", "tops:ratio"))
        self.assertEqual([level[key] for key in ("count", "last", "min", "max")], [4, 5, -3, 7])
        self.assertEqual([ratio[key] for key in ("count", "last", "min", "max")], [2, 0.75, 0.25, 0.75])
        self.last(process)

    def test_calls(self):
        """Calls of functions that nobody prepared, in a program that hodo starts, and in one that runs already."""
        if top.os.uname().machine != "x86_64":
            self.skipTest("functions without slots are traced on x86-64")
        process = self.top("--json", "-d", "0.1", "--functions=work", "-m", "64M", "--", *self.target(TARGET))
        self.connect()
        self.order("calls 30000")
        last = self.last(process)
        work = by_name(last, "spans")["work"]
        self.assertEqual((work["count"], work["open"], last["given_up"]), (30000, 0, 0))
        self.check_spread(work, "all_")
        self.assertEqual({name for name in by_name(last, "spans") if not name.startswith("tops:")}, {"work"})
        target = self.start(*self.target(TARGET), env={"LD_PRELOAD": top.LIBHODO, "HODO_LISTEN": "1"})
        self.connect()
        wait_for("its socket", lambda: top.os.path.exists(self.socket(target.pid)))
        process = self.top("--json", "-d", "0.1", "--functions=work", target.pid)
        self.lines_until(process, lambda line: by_name(line, "events").get("func:entry", {}).get("on"))
        self.order("calls 10")
        self.order("exit 0", answered=False)
        last = json.loads(process.communicate(timeout=LIMIT_S)[0].splitlines()[-1])
        self.assertEqual(by_name(last, "spans")["work"]["count"], 10)

    def test_busy_threads(self):
        process = self.begin()
        self.order("burn 500")
        line = self.lines_until(process, lambda line: any(t["cpu"] for t in line["threads"]))[-1]
        self.assertTrue(all(t["cpu"] is None or 0 <= t["cpu"] <= 1 for t in line["threads"]))
        # The program waits for commands: sooner or later there is an interval in which it uses no CPU.
        self.lines_until(process, lambda line: all(t["cpu"] == 0 for t in line["threads"]))
        self.last(process)

    def test_as_report_has_it(self):
        """For the same spans of another recording, top and report agree."""
        recorder = self.start(HODO, "record", "-q", "-o", self.path("data"), "--overwrite", "-m", "16M", "--",
                              *self.target(TARGET), env={"HODO_LISTEN": "1"})
        self.connect()
        pid = children(recorder.pid)[0]
        process = self.top("--json", "-d", "0.1", pid)
        process.stdout.readline()
        self.order("spans 5000")
        self.order("move 500")
        self.order("exit 0", answered=False)
        last = json.loads(process.communicate(timeout=LIMIT_S)[0].splitlines()[-1])
        self.assertEqual(recorder.wait(LIMIT_S), 0)
        self.assertEqual(last["lost"]["unwritten"], 0)
        report = json.loads(self.ok("report", "-q", "--json", self.path("data")))
        expected = {row["name"]: row for row in report["spans"]}
        for name in ("tops:outer", "tops:inner", "tops:moved"):
            seen = by_name(last, "spans")[name]
            self.assertEqual(seen["count"], expected[name]["count"])
            for key in SPREAD:  # top and report fit the clock at different times
                self.assertAlmostEqual(seen["all_" + key], expected[name][key],
                                       delta=3 + expected[name][key] / 25, msg=(name, key))

    def text(self, *options):
        process = self.top("--batch", "-d", "0.1", "-m", "16M", *options, "--", *self.target(TARGET))
        self.connect()
        self.order("spans 50")
        self.order("level -1234567")
        self.order("exit 0", answered=False)
        out = process.communicate(timeout=LIMIT_S)[0].decode()
        return out.split("\n\nhodo top: ")[-1]

    def test_as_text(self):
        time = r" +[\d.]+ [num]?s"
        spans = rf"(?m)^tops:outer +[\d.,]+ +50{6 * time} +0$"
        text = self.text()
        self.assertRegex(text, r"(?m)^\*?EVENT +\*RATE/s ")
        self.assertRegex(text, r"(?m)^SPAN +\*RATE/s +TOTAL +P50 +P99 +MAX +ALL P50 +ALL P99 +ALL MAX +OPEN$")
        self.assertRegex(text, spans)
        self.assertRegex(text, r"(?m)^COUNTER +\*RATE/s .* LAST +LEAST +MOST$")
        self.assertRegex(text, r"(?m)^tops:level .* -1,234,567 +-1,234,567 +-1,234,567$")
        text = self.text("--by", "spans", "--sort", "all_max")
        self.assertRegex(text, r"(?m)^SPAN .* \*ALL MAX ")
        self.assertNotIn("COUNTER", text)
        text = self.text("--by", "counters", "--columns", "last")
        self.assertRegex(text, r"(?m)^COUNTER +LAST\n(.*\n)*tops:level +-1,234,567$")

    def test_sort_of_another_table(self):
        done = self.hodo("top", "--by", "spans", "--sort", "last", "1")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^hodo: top: --sort last: the table of spans has no such column: .*\n$")

    def test_functions_that_there_are_not(self):
        done = self.hodo("top", "--json", "-d", "0.1", "--functions=nosuchfunction", "--", SILENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "(?m)^hodo: no traced function matches --functions: 'hodo list --functions ")

    def test_why_there_is_nothing(self):
        """For a program without events: the reason, and the next command."""
        done = self.hodo("top", "--batch", "-d", "0.1", "--", SILENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        # It may end before hodo top has looked.
        self.assertRegex(done.stdout, r"(?m)^(This program has no events of its own|It ended before anything was seen)\.$")
        self.assertRegex(done.stderr, rf"(?m)^hodo: {SILENT} (has no events|ended without an event): "
                                      rf"'hodo top --functions -- {SILENT}' ")
        process = self.start(SILENT, "wait", stdin=subprocess.PIPE, env={"LD_PRELOAD": top.LIBHODO, "HODO_LISTEN": "1"})
        wait_for("its socket", lambda: top.os.path.exists(self.socket(process.pid)))
        done = self.hodo("top", "--batch", "-d", "0.1", "-n", "2", process.pid)
        self.assertIn("\nThis program has no events of its own.\nhodo top --functions ", done.stdout)
        self.assertRegex(done.stderr, rf"(?m)^hodo: process {process.pid} has no events: 'hodo top --functions "
                                      rf"{process.pid}' ")
        done = self.hodo("top", "--batch", "-d", "0.1", "--by", "spans", "-n", "2", process.pid)
        self.assertIn("\nNo spans: HODO_SPAN, or HODO_BEGIN and HODO_END, make them.\n", done.stdout)


class Keys(top.Terminal):
    def test_tables_of_spans_counters_and_threads(self):
        self.open_top(program=TARGET)
        self.order("spans 100")
        self.order("level 42")
        time = r" +[\d.]+ [num]?s"
        self.keys("s")
        self.wait_screen(r"^SPAN +\*RATE/s +P50 +P99 +MAX +ALL P50 +ALL P99 +ALL MAX")
        self.wait_screen(rf"^tops:outer +\S+( +-|{time}){{3}}{time}{time}{time}")
        self.keys("9")
        self.wait_screen(r"^SPAN .* \*ALL P99 ")
        self.keys("v")
        self.wait_screen(r"^COUNTER +\*RATE/s .*LAST +LEAST +MOST")
        self.wait_screen(r"^tops:level +.* 42 +42 +42$")
        self.order("level -7")
        self.wait_screen(r"^tops:level +.* -7 +-7 +42$")
        self.keys("t", "C")
        self.wait_screen(r"^THREAD +TID .* \*CPU$")
        self.keys("s", "z")
        self.wait_screen(r"^tops:outer +0( +-){6}")
        self.keys("?")
        self.wait_screen(r"^e  s  v +events; spans; values of counters$")
        self.keys("x", "q")
        self.check_restored()
        self.wait_screen("^status=0$")


if __name__ == "__main__":
    if not shutil.which("tmux"):
        skip("tmux is not installed")
    main()
