#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The verbs graph and report, on generated recordings and on a recorded program's.

HODO, GEN_CALLS and COMPARE (tests/lib/compare_bt2.py) are in the environment; WAYS where functions can be recorded.
After an intended change of the output: UPDATE_GOLDEN=1 test_graph.py Golden, and review the difference.
"""
import collections
import json
import os
import pathlib
import re
import unittest

import hodo_test
from hodo_test import compare, json_lines, main, program, run

HERE = pathlib.Path(__file__).resolve().parent
WAYS, CALLS, NAMES = program("WAYS"), program("CALLS"), program("NAMES")


class Case(hodo_test.Case):
    def make(self, scenario, n=0):
        return self.generate("GEN_CALLS", scenario, n, name=scenario)

    def calls(self, *args):
        """The calls, the events and the summary of graph --json."""
        objects = json_lines(self.ok("graph", "--json", "-q", *args))
        self.assertEqual([o for o in objects if "summary" in o], objects[-1:])
        return [o for o in objects if "function" in o and "duration_ns" in o], \
            [o for o in objects if "name" in o], objects[-1]["summary"]


class Golden(Case):
    """Output byte for byte."""

    ARGS = {
        "calls": {"graph": ["graph"], "graph-times": ["graph", "-t", "--thread", "412"],
                  "graph-color": ["graph", "--color=always"], "graph-json": ["graph", "--json"],
                  "report": ["report"], "report-json": ["report", "--json"],
                  "diff": ["report", "--diff", "whole"], "diff-json": ["report", "--diff", "whole", "--json"]},
        "whole": {"graph": ["graph"], "graph-json": ["graph", "--json"], "report": ["report"],
                  "report-json": ["report", "--json"]},
        "kinds": {"graph": ["graph"], "graph-json": ["graph", "--json"], "report": ["report"]},
        "found": {"graph": ["graph"], "report": ["report"], "report-json": ["report", "--json"]},
        "profile": {"report": ["report"], "report-json": ["report", "--json"]},
        "profile_old": {"report": ["report"]},
        "fork": {"graph": ["graph"]},
        "lossy": {"graph": ["graph"]},
        "exit_lost": {"graph": ["graph"], "graph-json": ["graph", "--json"], "report": ["report"]},
        "spans": {"graph": ["graph"], "graph-json": ["graph", "--json"], "graph-color": ["graph", "--color=always"]},
        "spans_off": {"graph": ["graph"], "graph-times": ["graph", "-t", "-e", "sched:*"],
                      "graph-json": ["graph", "--json"]},
    }

    def test_all(self):
        for scenario in self.ARGS:
            self.make(scenario)
        for scenario, forms in self.ARGS.items():
            for form, args in forms.items():
                with self.subTest(scenario, form=form):
                    done = self.hodo(args[0], scenario, *args[1:])
                    self.assertEqual(done.returncode, 0)
                    got = done.stdout + done.stderr
                    file = HERE / "golden" / (scenario + "." + form)
                    if os.environ.get("UPDATE_GOLDEN"):
                        file.write_text(got)
                    self.assertEqual(got, file.read_text())
                    if form.endswith("json"):
                        for line in done.stdout.splitlines():
                            json.loads(line)


class Babeltrace(Case):
    def test_agree(self):
        for scenario in ("calls", "whole", "kinds", "found", "profile", "profile_old", "lossy", "exit_lost", "fork",
                         "late", "late_lost", "many", "mad", "spans", "spans_many", "spans_mad", "spans_off"):
            with self.subTest(scenario):
                compare(self.make(scenario, 5000), **self.how({}))


class Options(Case):
    def functions(self, *args):
        return re.findall(r"(?m)\| +(0x\w+)\(\)", self.ok("graph", self.make("calls"), "-q", *args))

    def test_thread(self):
        self.assertIn("413 worker", self.ok("graph", self.make("calls")))
        for name in ("412", "k?d"):
            text = self.ok("graph", "calls", "--thread", name)
            self.assertNotIn("worker", text)
            self.assertIn("0x401200() {", text)
        self.assertEqual(self.ok("graph", "calls", "-q", "--thread", "nobody").count("\n"), 1)

    def test_limit(self):
        whole = self.ok("graph", "-q", self.make("calls")).splitlines()
        objects = self.ok("graph", "-q", "--json", "calls").splitlines()
        for n in (0, 1, 7, len(whole) - 1, len(whole) + 5):
            self.assertEqual(self.ok("graph", "-q", "calls", "-n", str(n)).splitlines(), whole[:n + 1]) # with the head
            self.assertEqual(self.ok("graph", "-q", "--json", "calls", "--limit", str(n)).splitlines(),
                             objects[:n] if n < len(objects) - 1 else objects)

    def test_depth(self):
        self.assertEqual(sorted(self.functions("--depth", "1")), ["0x401000", "0x401700"])
        self.assertNotIn("0x401300", self.functions("--depth", "2"))
        self.assertIn("0x401600", self.functions("--depth", "2"))

    def test_function(self):
        self.assertEqual(self.functions("--function", "0x401200"), ["0x401200", "0x401300", "0x401400", "0x401500"])
        self.assertIn(" | 0x401200() {\n", self.ok("graph", "-q", "calls", "--function", "0x401200"))
        self.assertEqual(self.functions("--function", "0x401200", "--depth", "1"), ["0x401200"])
        self.assertEqual(self.functions("--function", "nothing"), [])
        text = self.ok("graph", self.make("whole"), "--function", "0x401100")
        self.assertEqual(re.findall(r"\| (0x\w+)\(\)", text), ["0x401100"])
        self.assertNotIn("0x401000", text)

    def test_known_at_their_end(self):
        """Calls recorded at their end, whatever they contain, and although clocks are not exact to the ns."""
        lines = self.ok("graph", self.make("around", "5000")).splitlines()
        self.assertEqual([line.partition(" | ")[2] for line in (lines[1], lines[2], lines[5001])],
                         ["0x401000() {", "  /* kv:get key user:7 shard 0 */", "  /* kv:get key user:7 shard 135 */"])
        self.assertEqual([line.partition(" | ")[2] for line in lines[5002:]],
                         ["  0x401100() {", "    0x401200();", "  } /* 0x401100 */", "} /* 0x401000 */"])

    def test_min_time(self):
        self.assertEqual(self.functions("--min-time", "700ns", "--thread", "412"),
                         ["0x401000", "0x401200"])
        calls, _, _ = self.calls("calls", "--min-time", "1us")
        self.assertTrue(all(c["duration_ns"] >= 1000 for c in calls))
        self.assertEqual(len(calls), 5)

    def test_since_until(self):
        """Depths and durations are right even if the begin is not shown."""
        text = self.ok("graph", "-q", self.make("calls"), "--since", "0.0000019", "--until", "0.000003")
        self.assertIn("  0.700 us      412 kvd             |   } /* 0x401200 */", text)
        self.assertNotIn("0x401300", text)
        self.assertNotIn("went on", text)

    def test_report(self):
        def first(*args):
            return self.ok("report", self.make("calls"), "-n1", *args).splitlines()[1].split(" (")[0].split()[-1]
        self.assertEqual(first(), "0x401600")
        self.assertEqual(first("--sort", "avg"), "0x401800")
        self.assertEqual(first("--sort", "name"), "0x401000")
        report = json.loads(self.ok("report", "calls", "--json", "--thread", "worker"))
        self.assertEqual({f["function"] for f in report["functions"]},
                         {"0x401600", "0x401100", "0x401a00", "0x401700"})

    def test_inside_of_itself(self):
        """The total has only the outermost calls, also where a call is recorded only at its end."""
        found = json.loads(self.ok("report", self.make("inside"), "--json"))["functions"]
        self.assertEqual({f["function"]: (f["calls"], f["total_ns"]) for f in found},
                         {"0x401000": (1, 700), "0x401100": (8, 1167), "0x401200": (3, 400)})

    def test_inside_of_open(self):
        """The total of a recursion that is open at the end has the calls of it that ended."""
        found = json.loads(self.ok("report", "-q", self.make("inside_open"), "--json"))["functions"]
        self.assertEqual({f["function"]: (f["calls"], f["open"], f["total_ns"], f["self_ns"]) for f in found},
                         {"0x401000": (1, 1, 0, 0), "0x401100": (5, 3, 80, 80)})

    def test_written_late(self):
        """The self time of a function is never more than its total, whatever the times of its calls' events say."""
        def times(scenario):
            found = json.loads(self.ok("report", "-q", self.make(scenario), "--json"))["functions"]
            return {f["function"]: (f["total_ns"], f["self_ns"]) for f in found}
        self.assertEqual(times("late"), {"0x401000": (300, 100), "0x401100": (95, 95), "0x401200": (200, 105)})
        self.assertEqual(times("late_lost"), {"0x401000": (480, 330), "0x401100": (100, 100), "0x401200": (50, 50)})
        self.assertEqual([line.partition(" | ")[2] for line in self.ok("graph", "-q", "late_lost").splitlines()[1:]],
                         ["  0x401000() {", "      0x401200();", "      0x401100();", "    0x401100() {",
                          "      0x401100();", "    } /* 0x401100 */", "  } /* 0x401000 */"])

    def test_profile_average(self):
        """The average is over all calls whose end is known, as in other recordings, even if the total omits some."""
        whole, without = json.loads(self.ok("report", self.make("profile"), "--json"))["functions"]
        self.assertEqual((whole["calls"], whole["no_exit"], whole["total_ns"], whole["avg_ns"]),
                         (206, 6, 300000, 1786.0))
        self.assertEqual((without["calls"], without["no_exit"], without["avg_ns"]), (7, 7, 0.0))
        old = json.loads(self.ok("report", self.make("profile_old"), "--json"))["functions"][0]
        self.assertEqual((old["calls"], old["total_ns"]), (200, 300000))
        self.assertLess(abs(old["avg_ns"] - 1786), 0.12 * 1786)

    def test_slowest_calls_end(self):
        """The time of a call that has not ended, or was left, is marked, since it is not the time of a whole call."""
        text = self.ok("report", self.make("whole"))
        self.assertRegex(text, r"(?m)^ +0\.900 us  0x401600  in worker\[8\]  still open$")
        self.assertRegex(text, r"(?m)^ +0\.100 us  0x401300  in slow\[7\]  left$")
        slow = json.loads(self.ok("report", "whole", "--json"))["slow"]
        self.assertEqual([s["function"] for s in slow if s["open"]], ["0x401600"])
        self.assertEqual(sum(s["left"] for s in slow), 2)

    def test_stack_used_again(self):
        """A thread that ended was inside its calls until its last event, not until another thread got its stack."""
        found = {f["function"]: f for f in json.loads(self.ok("report", self.make("again"), "--json"))["functions"]}
        self.assertEqual([(found[f]["calls"], found[f]["left"], found[f]["open"], found[f]["total_ns"])
                          for f in ("0x401100", "0x401200", "0x401300")],
                         [(2, 1, 0, 5300), (1, 1, 0, 4900), (1, 0, 0, 4800)])

    def test_wrong_usage(self):
        for args, words in ((["graph", "--depth", "0"], "--depth is a number"),
                            (["graph", "--min-time", "3"], "--min-time is a time"),
                            (["graph", "a", ""], "one recording"), (["report", "a", ""], "one recording"),
                            (["report", "--sort", "size"], "--sort is the name of a column"),
                            (["report", "--limit", "x"], "a number of rows"),
                            (["graph", "--since", "x", self.make("calls")], "--since is a time such as")):
            done = self.hodo(*args)
            self.assertEqual((done.returncode, done.stdout), (2, ""), args)
            self.assertRegex(done.stderr, r"\Ahodo: %s: [^\n]*%s[^\n]*\n\Z" % (args[0], re.escape(words)))
        for verb in ("graph", "report"):
            self.assertEqual(self.hodo(verb, "nowhere").returncode, 1)
        self.assertEqual(self.hodo("report", "calls", "--diff", "nowhere").returncode, 1)

    def test_no_calls(self):
        done = self.hodo("graph", self.make("found"))
        self.assertIn("no calls of functions: record with --functions", done.stderr)


class Spans(Case):
    """Spans are shown like calls, whichever ends first."""

    LINE = re.compile(r".{10}(?:  +(\d+) .{15})? \| ( *)(.*)")

    def bodies(self, *args):
        return [self.LINE.fullmatch(line)[3] for line in self.ok("graph", "-q", *args).splitlines()[1:]]

    def check_levels(self, *args):
        """A line's level is the number of spans and calls open around it in its thread. Returns how many opened."""
        now, opened = collections.Counter(), 0
        for line in self.ok("graph", "-q", *args).splitlines()[1:]:
            tid, spaces, body = self.LINE.fullmatch(line).groups()
            now[tid] -= body.startswith("}")
            if "went on" not in body:
                self.assertEqual(len(spaces), 2 * now[tid], (args, line))
            now[tid] += body.endswith("{")
            opened += body.endswith("{")
        self.assertFalse(+now)
        return opened

    def test_levels(self):
        for seed in range(8):
            path = self.generate("GEN_CALLS", "spans_mad", seed)
            for args in ([], ["--min-time", "50ns"], ["--depth", "2"], ["-e", "kv:put"]):
                self.assertGreater(self.check_levels(path, *args), 20, (seed, args))
            for args in (["--function", "0x401[12]*"], ["--since", "0.0000005"], ["--json", "--function", "0x401200"]):
                self.ok("graph", "-q", path, *args)

    def test_json_level(self):
        """The level is what the text shows by its indentation; depth still counts only calls."""
        path = self.make("spans")
        objects = json_lines(self.ok("graph", "-q", "--json", path, "--thread", "90"))[:-1]
        self.assertEqual([(o.get("name") or o["function"], o["depth"], o["level"]) for o in objects if o["pid"] == 90],
                         [("kv:put.begin", 1, 1), ("kv:flush.begin", 2, 3), ("kv:flush.end", 2, 3),
                          ("0x401100", 1, 2), ("kv:get", 1, 2), ("kv:put.begin", 1, 2), ("kv:put.end", 1, 2),
                          ("kv:put.end", 1, 1), ("kv:job.begin", 1, 1), ("kv:job.begin", 1, 1),
                          ("kv:job.end", 1, 1), ("0x401000", 0, 0)])
        ends = {(o["name"], o["tid"], o["ts"]): o.get("duration_ns") for o in
                json_lines(self.ok("graph", "-q", "--json", path)) if o.get("name", "").endswith(".end")}
        printed = {(o["name"], o["tid"], o["ts"]): o.get("duration_ns") for o in
                   json_lines(self.ok("print", "-q", "--json", path)) if o["name"].endswith(".end")}
        self.assertEqual(ends, printed)
        self.assertEqual(len([d for d in ends.values() if d is not None]), len(ends) - 1)

    def test_min_time(self):
        """Shorter spans have no line; nor do calls that contain nothing else."""
        self.assertEqual(self.bodies(self.make("spans"), "--thread", "90", "--min-time", "600ns"),
                         ['0x401000() {', '  kv:put key="user:7" shard=7 {'.strip(), "0x401100();",
                          "/* kv:get key user:3 shard 3 */", "} /* kv:put bytes=128 */", "/* kv:job.begin id=5 */",
                          "/* kv:job.begin id=6 */", "/* kv:job.end id=5 */", "} /* 0x401000 */"])

    def test_since(self):
        """An end in the given time is shown with its duration, even if its begin is not; levels are right, too."""
        lines = self.ok("graph", "-q", self.make("spans"), "--thread", "90", "--since", "0.00000095").splitlines()
        self.assertIn("  0.700 us       90 kvd             |     } /* 0x401100 */", lines)
        self.assertIn("  1.100 us       90 kvd             |   } /* kv:put bytes=128 */", lines)
        self.assertFalse([line for line in lines if "kv:flush" in line])

    def test_limit(self):
        whole = self.ok("graph", "-q", self.make("spans")).splitlines()
        for n in (1, 7, 20):
            self.assertEqual(self.ok("graph", "-q", "spans", "-n", str(n)).splitlines(), whole[:n + 1])

    def test_depth_and_event(self):
        """Spans do not count for --depth; and -e selects whole spans."""
        bodies = self.bodies(self.make("spans"), "--thread", "90", "--depth", "1")
        self.assertIn('kv:put key="user:7" shard=7 {', bodies)
        self.assertFalse([b for b in bodies if "0x401100" in b or "kv:flush" in b])
        self.assertEqual([b for b in self.bodies("spans", "--thread", "90", "-e", "kv:flush") if "kv:" in b],
                         ["kv:flush;"])

    def test_never_ends(self):
        """A span is given up when 64 others end before it: what follows is not indented more and more."""
        bodies = self.bodies(self.make("spans_left", 60))
        self.assertEqual(bodies[-2:], ["/* kv:get key user:1 shard 1 */", "} /* kv:flush */"])
        self.assertEqual(sum(b.endswith("not nested */") for b in bodies), 60)
        self.assertEqual(self.check_levels("spans_left"), 61)
        self.generate("GEN_CALLS", "spans_left", 70, name="given_up")
        bodies = self.bodies("given_up")
        self.assertEqual(bodies[-3:], ["} /* 0x401000 */", "/* kv:get key user:1 shard 1 */", "/* kv:flush.end */"])
        self.assertEqual(sum(b == "} /* kv:flush: left */" for b in bodies), 1)
        self.check_levels("given_up")


class Consistent(Case):
    """Text, JSON and report have the same calls."""

    def check(self, path):
        calls, _, summary = self.calls(path)
        report = json.loads(self.ok("report", "-q", "--json", path))
        counted = collections.Counter(c["function"] for c in calls)
        self.assertEqual(sum(counted.values()), summary["calls"])
        self.assertEqual(counted, {f["function"]: f["calls"] for f in report["functions"]})
        for f in report["functions"]:
            ended = [c for c in calls if c["function"] == f["function"] and
                     not {"open", "no_exit", "exit_lost"} & set(c["flags"])]
            total = sum(c["duration_ns"] for c in ended)
            self.assertAlmostEqual(f["avg_ns"], total / len(ended) if ended else 0, delta=0.1)
            if re.search(r"recurses|deep|jumps", f["function"]):
                self.assertLess(f["total_ns"], total)
            else:
                self.assertEqual(f["total_ns"], total)
            self.assertEqual(f["self_ns"], sum(c["self_ns"] for c in ended))
            times = sorted(c["duration_ns"] for c in ended)
            for name, q in (("p50_ns", 0.5), ("p99_ns", 0.99)):
                exact = times[max(0, -int(-q * len(times) // 1) - 1)] if times else 0
                self.assertLessEqual(abs(f[name] - exact), 0.01 * exact + 1, (name, times))
            self.assertEqual((f["min_ns"], f["max_ns"]), (times[0], times[-1]) if times else (0, 0))
        text = self.ok("graph", "-q", path)
        self.assertEqual(len(re.findall(r"(?m) \{$", text)), len(re.findall(r"\} /\*", text)))
        self.assertEqual(len(re.findall(r"\| +(?:\(\d+\) )?[^ /}(][^\n]*(?: \{|;)", text)), summary["calls"])

    def test_generated(self):
        for scenario in ("calls", "whole", "kinds", "lossy", "exit_lost", "fork", "many"):
            with self.subTest(scenario):
                self.check(self.make(scenario, 3000))

    def test_mad(self):
        for seed in range(8):
            path = self.generate("GEN_CALLS", "mad", seed)
            for args in (["graph"], ["graph", "--json"], ["graph", "--min-time", "1us"], ["report"],
                         ["graph", "--function", "0x401[02]*", "--depth", "3"], ["report", "--json"]):
                self.ok(args[0], "-q", path, *args[1:])

    def test_deep(self):
        """A million nested calls, with little memory for each."""
        lines = self.ok("graph", "--json", self.make("deep", 1000000)).splitlines()
        summary = json.loads(lines[-1])["summary"]
        self.assertEqual((summary["calls"], summary["returned"], len(lines)), (1000000, 1000000, 1000001))
        self.assertEqual([json.loads(line)["depth"] for line in lines[:3]], [999999, 999998, 999997])
        function = json.loads(self.ok("report", "--json", "deep"))["functions"][0]
        self.assertEqual((function["total_ns"], function["self_ns"]), (1999999, 1999999))


@unittest.skipUnless(WAYS, "functions are not recorded on this machine")
class Recorded(Case):
    """A program with functions that are left in every way."""

    def record(self, *options):
        done = self.hodo("record", "-o", "ways", *options, "--", WAYS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return "ways"

    def test_balance(self):
        calls, events, summary = self.calls(self.record("--functions"))
        # pthread_exit() is the last event of its thread.
        self.assertEqual((summary["orphans"], summary["open"], summary["exit_lost"], summary["lost"]), (0, 1, 0, 0))
        n = collections.Counter(re.sub(r"\(.*", "", c["function"]) for c in calls)
        self.assertEqual({name: n[name] for name in n if name.startswith("ways::")} | {"main": n["main"]}, {
            "main": 1, "ways::catches": 1, "ways::deep": 11, "ways::Guard::~Guard": 11, "ways::lands": 1,
            "ways::jumps": 6, "ways::generates": 1, "ways::resume": 4, "ways::coroutine": 1, "ways::step": 3,
            "ways::is_signalled": 1, "ways::handler": 1, "ways::recurses": 1001, "ways::worker": 1,
            "ways::leaf": 8})
        left = collections.Counter(re.sub(r"\(.*", "", c["function"]) for c in calls if "left" in c["flags"])
        self.assertEqual(left, {"ways::deep": 11, "ways::jumps": 6})
        self.assertEqual([e["name"] for e in events], ["ways:leaf"] * 8)
        depth = {re.sub(r"\(.*", "", c["function"]): c["depth"] for c in calls}
        self.assertEqual((depth["main"], depth["ways::catches"], depth["ways::handler"], depth["ways::worker"]),
                         (0, 1, 2, 0))
        text = self.ok("graph", "ways")
        self.assertIn("/* ways:leaf shard 3 */", text)
        self.assertIn("ways::jumps: left", text)
        compare("ways", **self.how({}))

    def test_stripped(self):
        """hodo says of functions without names which object has them, why, and what helps."""
        self.record("--functions")
        for verb in "graph", "report":
            self.assertNotIn("shown by address", self.hodo(verb, "ways").stderr)
        stripped = self.path("stripped")
        run("strip", "-o", stripped, WAYS, status=0)
        for trace in "bare", "again":
            done = self.hodo("record", "-q", "-o", trace, "--functions", "--", stripped)
            self.assertEqual(done.returncode, 0, done.stderr)
        names, again = (set(re.findall(r"\| +(stripped\+0x[0-9a-f]+)\(", self.ok("graph", "-q", trace)))
                        for trace in ("bare", "again"))
        self.assertGreater(len(names), 5)
        self.assertEqual(again, names)  # in whatever place of memory the program was
        rows = json.loads(self.ok("report", "-q", "--json", "bare", "--diff", "again"))["functions"]
        self.assertTrue(names <= {row["function"] for row in rows if row["before"]["calls"] == row["after"]["calls"]})
        for verb in "graph", "report":
            done = self.hodo(verb, "bare")
            self.assertEqual(done.returncode, 0)
            [line] = [line for line in done.stderr.splitlines() if "shown by address" in line]
            self.assertRegex(line, rf"\Ahodo: warning: {re.escape(stripped)}: \d+ functions are shown by address, because "
                                   r"the file (names only what it exports|has no symbols, or .*): get its symbols with "
                                   r"'hodo symbols pull', or install its debug symbols .* and record again, or .*\Z")
            self.assertNotIn("shown by address", self.hodo(verb, "-q", "bare").stderr)

    def test_exit_lost(self):
        """A recording with losses, of a program without jumps: calls without an exit are not shown as left."""
        done = self.hodo("record", "-o", "calls", "--functions", "--drop", "-m", "16K", "--", CALLS, "1500000")
        self.assertEqual(done.returncode, 0, done.stderr)
        calls, _, summary = self.calls("calls")
        self.assertGreater(summary["lost"], 1000)
        self.assertGreater(summary["exit_lost"], 0)
        self.assertEqual(summary["left"], 0)
        self.assertEqual(summary["calls"], sum(summary[way] for way in ("returned", "open", "exit_lost")))
        flags = collections.Counter(flag for c in calls for flag in c["flags"])
        self.assertEqual(flags, collections.Counter({"exit_lost": summary["exit_lost"], "open": summary["open"]}))
        self.assertEqual(len(re.findall(r"exit lost \*/", self.ok("graph", "-q", "calls"))), summary["exit_lost"])
        Consistent.check(self, "calls")

    def test_consistent(self):
        for options in (["--functions"], ["--tracer", "graph"]):
            self.record(*options)
            Consistent.check(self, "ways")

    def test_profile_agrees(self):
        """The table that the process makes has the counts that a recording of each call gives."""
        self.record("--functions")
        full = json.loads(self.ok("report", "--json", "ways"))
        self.record("--tracer", "profile")
        profile = json.loads(self.ok("report", "--json", "ways"))
        self.assertEqual({f["function"]: f["calls"] for f in profile["functions"]},
                         {f["function"]: f["calls"] for f in full["functions"]})
        self.assertEqual(json.loads(self.ok("report", "--json", "ways", "--diff", "ways"))["functions"][0]["before"],
                         json.loads(self.ok("report", "--json", "ways", "--diff", "ways"))["functions"][0]["after"])

    def test_totals_agree(self):
        """A call inside of itself is counted once, with every tracer."""
        for options in (["--functions"], ["--tracer", "graph"], ["--tracer", "profile"]):
            found = {re.sub(r"\(.*", "", f["function"]): f for f in
                     json.loads(self.ok("report", "--json", self.record(*options)))["functions"]}
            self.assertLessEqual(found["ways::recurses"]["total_ns"], found["main"]["total_ns"], options)

    def test_ends_only(self):
        """The graph tracer's recording gives the same graph."""
        def lines(path):
            return [re.sub(r"^.*? \| ", "", line) for line in
                    self.ok("graph", "--function", "ways::catches*", path).splitlines()[1:]]
        full = lines(self.record("--functions"))
        self.assertEqual(lines(self.record("--tracer", "graph")), full)
        self.assertEqual(len([line for line in full if "Guard" in line]), 11)


@unittest.skipUnless(NAMES, "functions are not recorded on this machine")
class Names(Case):
    """Names of C++ functions: short for people, whole for programs and with --full-names."""

    SHORT = {"main", "shop::Store<string>::put", "shop::Store<vector<int>>::put", "shop::Store<string>::size()",
             "shop::Store<string>::size() const", "shop::over(int)", "shop::over(double)", "shop::takes"}
    STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

    def setUp(self):
        super().setUp()
        done = self.hodo("record", "-q", "-o", "names", "--functions=shop::*,main", "--", NAMES)
        self.assertEqual(done.returncode, 0, done.stderr)

    def whole(self):
        return {c["function"] for c in self.calls("names")[0]}

    def test_short(self):
        """Short names are the same everywhere, and distinguish overloads."""
        shown = {b.rstrip(";{ ").removesuffix("()") if "size" not in b else b.rstrip(";{ ") for b in
                 (line.partition(" | ")[2].strip() for line in self.ok("graph", "-q", "names").splitlines()[1:])
                 if not b.startswith("}")}
        self.assertEqual(shown, self.SHORT)
        rows = self.ok("report", "-q", "names", "--columns", "name").split("\n\n")[0].splitlines()[1:]
        self.assertEqual({row.strip() for row in rows}, self.SHORT)
        printed = self.ok("print", "-q", "names")
        for name in self.SHORT:
            self.assertRegex(printed, rf"(?m) func:entry {re.escape(name)} ")
            self.assertIn(name, self.ok("list", "-q", "--functions", "names"))
        self.assertIn("shop::Store<string>::put", self.ok("list", "-q", "--functions", NAMES))
        # The folded format has no calls without a duration.
        self.assertIn(";shop::Store<string>::put ", self.ok("export", "-q", "--to", "folded", "-o", "-", "names"))

    def test_full(self):
        put = f"shop::Store<{self.STRING} >::put(int, {self.STRING} const&)"
        whole = self.whole()
        self.assertIn(put, whole)
        self.assertEqual(len(whole), len(self.SHORT))
        for name in whole:
            for args in (["graph"], ["report"], ["print"], ["list", "--functions"]):
                self.assertIn(name, self.ok(*args, "-q", "--full-names", "names"), args)
        self.assertIn(f";{put} ", self.ok("export", "-q", "--full-names", "--to", "folded", "-o", "-", "names"))
        self.assertIn(put, self.ok("list", "-q", "--functions", "--full-names", NAMES))
        # Formats for programs always have whole names.
        self.assertEqual({json.loads(line).get("function") for line in
                          self.ok("export", "-q", "--to", "jsonl", "-o", "-", "names").splitlines()} - {None}, whole)
        self.assertEqual({f["function"] for f in json.loads(self.ok("report", "-q", "--json", "names"))["functions"]},
                         whole)

    def test_patterns(self):
        """A pattern matches a function's name as it is shown, the whole name, and the name without its brackets."""
        for glob, n in (("shop::Store<string>::put", 1), ("shop::Store*::put", 2), ("shop::over(int)", 1),
                        ("shop::over", 2), (f"shop::Store<{self.STRING} >::put", 1), ("shop::Store<string>::size*", 2)):
            self.assertEqual(len(self.ok("graph", "-q", "names", "--function", glob).splitlines()) - 1, n, glob)

    def test_recorded_by_shown_name(self):
        """In a program with slots, which compares the names itself, and in one that nobody prepared."""
        for glob, n in (("shop::Store<string>::put", 1), ("shop::Store<vector<int>>::put", 1),
                        ("shop::Store<*>::size", 2), ("shop::Store<string>::size() const", 1),
                        ("shop::over(double)", 1), ("shop::Store*::put", 2),
                        ("shop::Store<std::*>::put", 2), ("shop::takes(vector<string> const&)", 1)):
            done = self.hodo("record", "-o", "named", f"--functions={glob}", "--", NAMES)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(self.ok("graph", "-q", "named").splitlines()) - 1, n, (glob, done.stderr))
        done = self.hodo("record", "-q", "-o", "probed", "-e", "probe:shop::Store<string>::put", "--", NAMES)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.stat("probed")["recorded"], 1)

    def test_diff_tells_apart(self):
        rows = json.loads(self.ok("report", "-q", "names", "--diff", "names", "--json"))["functions"]
        self.assertEqual({row["function"] for row in rows}, self.whole())


main()
