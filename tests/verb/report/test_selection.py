#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which events of a recording are read: -e, --process, --thread, --since, --until, --around and --filter, on each verb
that reads recordings, compared with what this test selects from all events. HODO and REPORT_TARGET are in the
environment.
"""
import collections
import csv
import json
import os
import time

import hodo_test
from hodo_test import events, main, program, skip

TARGET = program("REPORT_TARGET")
VERBS = ["print", "stat", "report", "graph", "view", "export"]

if not TARGET:
    skip("nothing can be recorded here")


def begins(event):
    return event["name"].endswith(".begin")


def base(event):
    return event["name"].removesuffix(".begin").removesuffix(".end")


class Selection(hodo_test.Case):
    maxDiff = 1500

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = hodo_test.tempfile.TemporaryDirectory(prefix="hodo-selection-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.all = os.path.join(cls.folder.name, "all")
        hodo_test.run(hodo_test.HODO, "record", "-q", "-m", "4M", "-o", cls.all, TARGET, status=0)
        cls.events = events(cls.all)
        assert len(cls.events) == 1980, len(cls.events)

    def picked(self, *options):
        return events(self.all, *options)

    def check(self, options, wanted):
        """Compares print and stat, and the exports that list events, event by event."""
        with self.subTest(options):
            wanted = [e for e in self.events if wanted(e)]
            self.assertTrue(wanted)
            self.assertEqual(self.picked(*options), wanted)
            stat = json.loads(self.ok("stat", "-q", "--json", *options, self.all))
            self.assertEqual({e["name"]: e["count"] for e in stat["events"]},
                             dict(collections.Counter(e["name"] for e in wanted)))
            self.assertEqual(stat["recorded"], len(wanted))
            lines = self.ok("export", "-q", "--to", "jsonl", "-o", "-", *options, self.all)
            self.assertEqual([json.loads(line) for line in lines.splitlines()], wanted)
            rows = csv.DictReader(self.ok("export", "-q", "--to", "csv", "-o", "-", *options, self.all).splitlines())
            self.assertEqual([(int(row["ts"]), row["name"]) for row in rows], [(e["ts"], e["name"]) for e in wanted])

    def check_spans(self, options, wanted):
        """Compares report and an export of spans, which select a begin with its end."""
        with self.subTest(options):
            ends = [e for e in self.events if "begin" in e and wanted(e)]
            points = [e for e in self.events if not begins(e) and "begin" not in e and wanted(e)]
            report = json.loads(self.ok("report", "-q", "--json", *options, self.all))
            self.assertEqual({s["name"]: (s["count"], s["total_ns"]) for s in report["spans"] if s["count"]},
                             {name: (len(times), sum(times)) for name, times in self.times(ends).items()})
            counts = collections.Counter(e["name"] for e in points)
            for end in ends:
                counts.update([base(end) + ".begin", base(end) + ".end"])
            self.assertEqual({e["name"]: e["count"] for e in report["events"] if e["count"]}, dict(counts))
            requests = self.ok("export", "-q", "--to", "otlp", "-o", "-", *options, self.all).splitlines()
            spans = [span["name"] for request in requests for resource in json.loads(request).get("resourceSpans", ())
                     for scope in resource["scopeSpans"] for span in scope["spans"]]
            self.assertEqual(collections.Counter(spans), collections.Counter(map(base, ends)))

    @staticmethod
    def times(ends):
        times = collections.defaultdict(list)
        for end in ends:
            times[base(end)].append(end["duration_ns"])
        return times

    # ------------------------------------------------------------------------ tests

    def test_begins(self):
        """An end has the time, fields and duration of its begin, which the id or the nesting determines."""
        open_spans, stacks = {}, collections.defaultdict(list)
        for e in self.events:
            if e["name"] == "kv:request.begin":
                open_spans[e["fields"]["i"]] = e
            elif e["name"] == "kv:compact.begin":
                stacks[e["tid"]].append(e)
            if not e["name"].endswith(".end"):
                self.assertNotIn("begin", e)
                continue
            begin = open_spans[e["fields"]["i"]] if base(e) == "kv:request" else stacks[e["tid"]].pop()
            self.assertEqual(e["begin"], {"ts": begin["ts"], "fields": begin["fields"]})
            self.assertEqual(e["duration_ns"], e["ts"] - begin["ts"])
        line = next(l for l in self.ok("print", self.all).splitlines() if " kv:compact.end " in l)
        self.assertRegex(line, r"kv:compact\.end duration=[0-9.]+[mu]?s depth=[0-2]$")

    def test_events(self):
        for options, wanted in ((["-e", "kv:taken"], lambda e: e["name"] == "kv:taken"),
                                (["-e", "kv:request"], lambda e: base(e) == "kv:request"),
                                (["-e", "kv:*,!kv:request"], lambda e: base(e) != "kv:request"),
                                (["-e", "kv:request.end", "--event", "kv:put"],
                                 lambda e: e["name"] in ("kv:request.end", "kv:put")),
                                (["-e", "kv:compact.begin"], lambda e: e["name"] == "kv:compact.begin"),
                                (["-e", "!kv:compact.end"], lambda e: e["name"] != "kv:compact.end"),
                                (["-e", "kv:*,!kv:compact.begin"], lambda e: e["name"] != "kv:compact.begin")):
            self.check(options, wanted)
        for name in ("kv:compact", "kv:compact.begin", "kv:compact.end", "kv:compact.begin,kv:compact.end"):
            self.check_spans(["-e", name], lambda e: base(e) == "kv:compact")
        for name in ("!kv:compact", "!kv:compact.begin", "!kv:compact.end", "kv:*,!kv:compact.begin"):
            self.check_spans(["-e", name], lambda e: base(e) != "kv:compact")
        self.check_spans(["-e", "kv:compact,kv:done"], lambda e: base(e) in ("kv:compact", "kv:done"))

    def test_threads(self):
        """A span belongs to the thread in which it began."""
        tids = {e["tid"] for e in self.events if e["name"] == "kv:taken"}
        first, = {e["tid"] for e in self.events if e["name"] == "kv:put"}
        began = {e["begin"]["ts"]: e["tid"] for e in self.events if e["name"] == "kv:request.end"}
        self.assertGreaterEqual(set(began.values()), tids)

        def of(tid):
            return lambda e: tid == (first if base(e) == "kv:request" else e["tid"])
        for tid in (first, *tids):
            self.check(["--thread", str(tid)], of(tid))
            self.check_spans(["--thread", str(tid)], of(tid))
        pid = self.events[0]["pid"]
        for name in (str(pid), "report_tar*"):
            self.check(["--process", name], lambda e: True)
            self.check_spans(["--process", name, "-e", "kv:compact"], lambda e: base(e) == "kv:compact")

    def test_filters(self):
        """For an end, filters also see the fields of its begin."""
        def of(e, name):
            return {**e.get("begin", {}).get("fields", {}), **e["fields"]}.get(name)
        self.check(["--filter", "depth == 1"], lambda e: of(e, "depth") == 1)
        self.check(["--filter", "i > 100 && shard == 1"], lambda e: (of(e, "i") or 0) > 100 and of(e, "shard") == 1)
        self.check_spans(["--filter", "depth == 1"], lambda e: of(e, "depth") == 1)
        middle = sorted(e["duration_ns"] for e in self.events if "begin" in e)[200]
        slow = ["--filter", f"$duration > {middle}ns"]
        self.check(slow, lambda e: e.get("duration_ns", 0) > middle)
        self.check_spans(slow, lambda e: e.get("duration_ns", 0) > middle)
        self.check([*slow, "-e", "kv:request"],
                   lambda e: e.get("duration_ns", 0) > middle and base(e) == "kv:request")

    def test_times(self):
        start, at = self.events[0]["ts"], self.events[900]["ts"]
        until = at // 1000 * 1000
        self.check(["--until", f"{until // 10**9}.{until % 10**9:09}"], lambda e: e["ts"] < until)
        second, ns = divmod(at, 10**9)
        clock = time.strftime("%H:%M:%S", time.localtime(second)) + f".{ns:09}"
        for options, low, high in ((["--since", clock], at, 1 << 63), (["--until", clock], 0, at)):
            self.check(options, lambda e, low=low, high=high: low <= e["ts"] < high)
        for around in (f"{clock},100us", f"[{clock}],100us", f"{clock}+-100us", f"{clock}±100us"):
            self.assertEqual(self.picked("--around", around),
                             [e for e in self.events if at - 100000 <= e["ts"] < at + 100000])
        self.assertEqual(len(self.picked("--around", clock)),
                         sum(-10**7 <= e["ts"] - at < 10**7 for e in self.events))
        self.assertLess(start, at)

    def test_graph(self):
        """Which events are shown between the calls."""
        shown = self.ok("graph", "-q", "--json", "-e", "kv:taken", self.all)
        lines = [json.loads(line) for line in shown.splitlines()]
        self.assertEqual({l["event"]["name"] for l in lines if "event" in l} |
                         {l["name"] for l in lines if "name" in l},
                         {"kv:taken"})

    def test_limit(self):
        self.assertEqual(self.picked("-n", "3", "-e", "kv:taken"),
                         [e for e in self.events if e["name"] == "kv:taken"][:3])
        self.assertEqual(len(json.loads(self.ok("stat", "-q", "--json", "-n", "2", self.all))["events"]), 2)

    def test_slowest(self):
        """The slowest spans, with what print says about each; as many as --limit allows."""
        ends = sorted((e for e in self.events if "begin" in e), key=lambda e: -e["duration_ns"])
        for options, n in (((), 10), (("-n", "3"), 3), (("-n", "100000"), 1000), (("-e", "kv:compact"), 10)):
            report = json.loads(self.ok("report", "-q", "--json", *options, self.all))
            wanted = [e for e in ends if "-e" not in options or base(e) == "kv:compact"]
            slowest = report["slowest_spans"]
            self.assertEqual(len(slowest), min(n, len(wanted)))
            self.assertEqual([s["duration_ns"] for s in slowest], [e["duration_ns"] for e in wanted[:len(slowest)]])
            for row in slowest:
                self.assertIn(row["end"], wanted)
                self.assertEqual((row["ts"], row["name"], row["duration_ns"]),
                                 (row["end"]["begin"]["ts"], base(row["end"]), row["end"]["duration_ns"]))
        first = ends[0]
        [begin] = [e for e in self.events if e["ts"] == first["begin"]["ts"] and e["name"] == base(first) + ".begin"]
        lines = self.ok("report", "-q", self.all).partition("Slowest spans and system calls:\n")[2].splitlines()
        self.assertEqual(lines[11], "") # a head and ten rows
        for words in (f"[{begin['tid']}]  {base(first)}", *(f" {k}=" for k in first["begin"]["fields"])):
            self.assertIn(words, lines[1])
        # The time in the row selects the event.
        around = lines[1].split()[2]
        self.assertIn(first, self.picked("--around", f"{around},{first['duration_ns'] + 1}ns"))

    def test_nothing(self):
        """Each verb reports in one line a wrong name, with similar ones, and an option that nothing matches."""
        near = {"-e kv:reqest": "no event matches 'kv:reqest' (near: kv:request",
                "--filter shrad==1": "--filter: no event has a field or label 'shrad' (near: shard",
                "--filter duration>5": "--filter: no event has a field or label 'duration' (near: $duration",
                "-e kv:put --filter shard==1": "--filter: no event that -e names has a field or label 'shard'",
                "--thread nobody": "no event matches the options: 'hodo stat",
                "--process 1": "no event matches the options: 'hodo stat",
                "--since 1h": "there are no events at that time: 'hodo info"}
        for number, (options, text) in enumerate(near.items()):
            for verb in VERBS:
                with self.subTest(verb, options=options):
                    more = {"export": ["--to", "csv"], "view": []}.get(verb)
                    more = [] if more is None else [*more, "-o", self.path(f"{verb}{number}")]
                    if verb == "graph" and not options.startswith(("-e", "--filter")):
                        continue # graph says that the recording has no calls
                    done = self.hodo(verb, *more, *options.split(), self.all)
                    if verb == "view" and "built without the page" in done.stderr:
                        continue
                    said = [l for l in done.stderr.splitlines()
                            if "warning" in l and "no calls of functions" not in l]
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(len(said), 1, done.stderr)
                    self.assertIn(text, said[0])

    def test_wrong(self):
        for options, text in ((["--around", "x"], "--around"), (["--around", "1+-x"], "--around"),
                              (["--around", "1", "--since", "2"], "--around replaces --since and --until"),
                              (["--since", "25:00:00"], "--since"), (["--until", "10:00:00.x"], "--until"),
                              (["--filter", "1 +"], "--filter:"), (["-e", "a b"], "spaces"),
                              (["--filter", "1", "--filter", "1"], "only one --filter"),
                              (["--thread", ""], "--thread")):
            done = self.hodo("print", *options, self.all)
            self.assertEqual((done.returncode, text in done.stderr, done.stderr.count("\n")), (2, True, 1),
                             done.stderr)


main()
