#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo report, compared with the same figures computed here from the events of hodo print --json.

HODO and GEN_REPORT are in the environment; REPORT_TARGET where programs can be recorded.
"""
import collections
import json
import math
import os
import re

import hodo_test
from hodo_test import HODO, events, main, measured, program
from terminal import on_terminal

TARGET = program("REPORT_TARGET")
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}


class Case(hodo_test.Case):
    def make(self, scenario, n=2000, seed=7):
        return self.generate("GEN_REPORT", scenario, n, seed)

    def report(self, path, *args):
        return json.loads(self.ok("report", "-q", "--json", path, *args))

    def events(self, path, *args):
        return events(path, *args, **self.how({}))

    # ---------------------------------------------------------------- comparing

    def check_times(self, row, times):
        self.assertEqual(row["count"], len(times), row)
        if not times:
            return
        times = sorted(times)
        self.assertEqual((row["total_ns"], row["min_ns"], row["max_ns"]), (sum(times), times[0], times[-1]), row)
        self.assertAlmostEqual(row["avg_ns"], sum(times) / len(times), delta=0.06)
        for name, q in QUANTILES.items():
            exact = times[max(math.ceil(q * len(times)), 1) - 1]
            self.assertAlmostEqual(row[name + "_ns"], exact, delta=exact * 0.01 + 1, msg=name)

    def check_numbers(self, row, numbers):
        numbers_sorted = sorted(numbers)
        self.assertEqual(row["count"], len(numbers))
        self.assertAlmostEqual(row["min"], numbers_sorted[0], delta=1e-5)
        self.assertAlmostEqual(row["max"], numbers_sorted[-1], delta=abs(numbers_sorted[-1]) * 1e-6)
        self.assertAlmostEqual(row["last"], numbers[-1], delta=1e-5 * (1 + abs(numbers[-1])))
        mean = sum(numbers) / len(numbers)
        self.assertAlmostEqual(row["avg"], mean, delta=1e-6 * (1 + max(abs(n) for n in numbers)))
        for name, q in QUANTILES.items():
            exact = numbers_sorted[max(math.ceil(q * len(numbers)), 1) - 1]
            self.assertAlmostEqual(row[name], exact, delta=abs(exact) * 0.01 + 1e-6, msg=name)

    def check_histogram(self, bars, numbers):
        self.assertLessEqual(len(bars), 24)
        for bar in bars:
            low, high = bar["from"], bar["to"]
            if low == high == 0:
                inside = numbers.count(0)
            elif high <= 0:
                inside = sum(low < n <= high and n != 0 for n in numbers)
            else:
                inside = sum(low <= n < high and n != 0 for n in numbers)
            self.assertEqual(bar["count"], inside, bar)
        self.assertEqual(sum(bar["count"] for bar in bars), len(numbers))
        for one, next_one in zip(bars, bars[1:]):
            if 0 not in (one["to"], next_one["from"]):
                self.assertEqual(one["to"], next_one["from"])
        self.assertTrue(bars[0]["count"] and bars[-1]["count"])


def groups(rows):
    return {(r["name"], r["group"]): r for r in rows}


def pair(events, is_begin, is_end, key_of, group_of=lambda e: None, wanted=lambda e: True):
    """times, begins without an end and ends without a begin, each by group: an end belongs to the latest begin."""
    times, begins, ends = collections.defaultdict(list), collections.Counter(), collections.Counter()
    waiting = collections.defaultdict(list)
    for e in events:
        if is_end(e):
            stack = waiting[key_of(e)]
            if stack:
                begin = stack.pop()
                if wanted(begin):
                    times[group_of(begin)].append(e["ts"] - begin["ts"])
            elif wanted(e):
                ends[group_of(e)] += 1
        if is_begin(e):
            waiting[key_of(e)].append(e)
    for stack in waiting.values():
        for begin in stack:
            begins[group_of(begin)] += wanted(begin)
    return times, begins, ends


def named(name):
    return lambda e: e["name"] == name


USER_SPANS = {
    "kv:work": ("kv:work.begin", "kv:work.end", lambda e: (e["pid"], e["tid"])),
    "kv:request": ("kv:request.begin", "kv:request.end", lambda e: (e["pid"], e["fields"]["id"])),
    "kv:start,kv:done by key": ("kv:start", "kv:done", lambda e: (e["pid"], e["fields"]["key"])),
    "kv:start,kv:done by all,key,shard":
        ("kv:start", "kv:done", lambda e: (e["fields"]["key"], e["fields"]["shard"])),
    "kv:start,kv:done by process": ("kv:start", "kv:done", lambda e: e["pid"]),
    "kv:start,kv:done by cpu": ("kv:start", "kv:done", lambda e: e["cpu"]),
    "kv:start,kv:done": ("kv:start", "kv:done", lambda e: e["tid"]),
    "kv:tick,kv:tick": ("kv:tick", "kv:tick", lambda e: e["tid"]),
}
PAIRS = [a for name in USER_SPANS if "," in name for a in ("--pair", name)]


class Same(Case):
    """The report agrees with the events."""

    def check_spans(self, report, events, spans, group_of=lambda e: None, wanted=lambda e: True):
        rows = groups(report["spans"])
        expected = set()
        for name, (begin, end, key) in spans.items():
            times, begins, ends = pair(events, named(begin), named(end), key, group_of, wanted)
            for group in set(times) | set(+begins) | set(+ends):
                row = rows[name, group]
                expected.add((name, group))
                self.check_times(row, times[group])
                self.assertEqual((row["unpaired_begins"], row["unpaired_ends"]), (begins[group], ends[group]), row)
        self.assertEqual(set(rows), expected)

    def check_events(self, report, events, group_of=lambda e: None):
        counts = collections.Counter((e["name"], group_of(e)) for e in events)
        self.assertEqual({k: r["count"] for k, r in groups(report["events"]).items()}, counts)

    def test_spans(self):
        for seed in (7, 8):
            path = self.make("user", 2000, seed)
            events = self.events(path)
            report = self.report(path, *PAIRS)
            self.check_events(report, events)
            self.check_spans(report, events, USER_SPANS)
            self.assertEqual(report["duration_ns"], events[-1]["ts"] - events[0]["ts"])
            row = report["events"][0]
            self.assertAlmostEqual(row["per_second"], row["count"] / report["duration_ns"] * 1e9, delta=0.01)

    def test_by(self):
        path = self.make("user")
        events = self.events(path)
        for by, group_of in (("thread", lambda e: f"{e['comm']}[{e['tid']}]"), ("cpu", lambda e: f"cpu{e['cpu']}"),
                             ("process", lambda e: f"kvd[{e['pid']}]")):
            with self.subTest(by):
                report = self.report(path, "--by", by, *PAIRS)
                self.assertEqual(report["by"], by)
                self.check_events(report, events, group_of)
                self.check_spans(report, events, USER_SPANS, group_of)

    def test_by_field(self):
        def shard(e):
            return str(e["fields"]["shard"]) if "shard" in e["fields"] else None
        path = self.make("user")
        events = self.events(path)
        report = self.report(path, "--by", "shard", *PAIRS)
        self.check_events(report, events, shard)
        # A key may cross shards: the end may have another shard than the begin.
        self.check_spans(report, events, USER_SPANS, shard)
        self.assertIn("shard=-1", self.ok("report", path, "--by", "shard"))

    def test_field_of_the_end(self):
        events = self.events(self.make("user"))
        report = self.report(self.make("user"), "--by", "bytes", "--pair", "kv:tick,kv:put", "--values", "kv:put.bytes")
        times, begins, ends = pair(events, named("kv:tick"), named("kv:put"), lambda e: e["tid"])
        rows = [r for r in report["spans"] if r["name"] == "kv:tick,kv:put"]
        self.assertEqual(sum(r["count"] for r in rows), len(times[None]))
        self.assertEqual(sum(r["total_ns"] for r in rows), sum(times[None]))
        self.assertEqual(sum(r["unpaired_ends"] for r in rows), ends[None])
        self.assertEqual([r["unpaired_begins"] for r in rows if r["group"] is None], [begins[None]])
        self.assertTrue(all(r["count"] == 0 for r in rows if r["group"] is None))

    def test_values(self):
        path = self.make("user")
        events = self.events(path)
        asked = [("kv:put", "bytes"), ("kv:put", "delta"), ("kv:put", "ratio")]
        report = self.report(path, "--histogram", *[a for e, f in asked for a in ("--values", f"{e}.{f}")])
        rows = groups(report["values"])
        for event, field, name in [(e, f, f"{e}.{f}") for e, f in asked] + [("kv:depth", "value", "kv:depth"),
                                                                            ("kv:load", "value", "kv:load")]:
            with self.subTest(name):
                numbers = [e["fields"][field] for e in events if e["name"] == event]
                self.check_numbers(rows[name, None], numbers)
                if name != "kv:put.ratio": # its text has fewer digits than the number
                    self.check_histogram(rows[name, None]["histogram"], numbers)
        self.assertEqual(len(rows), 5)
        by = groups(self.report(path, "--by", "cpu")["values"])
        self.check_numbers(by["kv:depth", "cpu1"],
                           [e["fields"]["value"] for e in events if e["name"] == "kv:depth" and e["cpu"] == 1])

    def test_values_of_spans(self):
        """A list with commas is the same as several options; a span's name stands for its begin, or else its end."""
        path = self.make("user")
        events = self.events(path)
        listed = self.report(path, "--values", "kv:put.bytes,kv:request.id,kv:put.bytes")
        rows = groups(listed["values"])
        each = self.report(path, "--values", "kv:put.bytes", "--values", "kv:request.id", "--values", "kv:put.bytes")
        self.assertEqual(listed["values"], each["values"])
        for name, event in (("kv:put.bytes", "kv:put"), ("kv:request.id", "kv:request.begin")):
            field = name.rsplit(".", 1)[1]
            self.check_numbers(rows[name, None], [e["fields"][field] for e in events if e["name"] == event])
        whole = self.report(path, "--values", "kv:request.begin.id,kv:request.end.id")
        counts = {row["name"]: row["count"] for row in whole["values"]}
        self.assertNotEqual(counts["kv:request.begin.id"], counts["kv:request.end.id"])
        for wrong in ("kv:put", "kv:put.bytes,", "kv:put.bytes,kv:request", ",kv:put.bytes", "kv:put.", ".bytes"):
            self.fails(2, "--values is an event and a field", "report", "--values", wrong, path)
        said = self.hodo("report", "--values", "kv:put.bytes,kv:request.nothing", path).stderr
        self.assertIn("no event 'kv:request' with a number 'nothing'", said)
        self.assertNotIn("'bytes'", said)

    def test_values_of_ends(self):
        path = self.make("kernel")
        numbers = [e["fields"]["ret"] for e in self.events(path) if e["name"] == "syscalls:sys_exit_read"]
        rows = groups(self.report(path, "--values", "syscalls:read.ret")["values"])
        self.check_numbers(rows["syscalls:read.ret", None], numbers)

    def test_histogram_of_times(self):
        path = self.make("user")
        events = self.events(path)
        rows = groups(self.report(path, *PAIRS, "--histogram=kv:[rs]*")["spans"])
        for name, (begin, end, key) in USER_SPANS.items():
            row = rows[name, None]
            if not re.match("kv:[rs]", name):
                self.assertNotIn("histogram", row)
                continue
            times = pair(events, named(begin), named(end), key)[0][None]
            self.check_histogram(row["histogram"], times)

    def test_limits(self):
        path = self.make("user")
        all_events = self.events(path)
        middle = (all_events[0]["ts"] + all_events[-1]["ts"]) // 2
        since, until = f"{middle // 10**9}.{middle % 10**9:09}", f"{all_events[-20]['ts'] / 1e9:.9f}"
        events = self.events(path, "--since", since, "--until", until)
        self.assertTrue(0 < len(events) < len(all_events))
        report = self.report(path, "--since", since, "--until", until, *PAIRS)
        self.check_events(report, events)
        self.check_spans(report, events, USER_SPANS)

    def test_thread(self):
        """A span belongs to the thread in which it began."""
        path = self.make("user")
        events = self.events(path)
        began = {(e["name"][:-6], e["ts"]): e for e in events if e["name"].endswith(".begin")}
        for wanted, is_it in (("401", lambda e: e["tid"] == 401),
                              ("worker*", lambda e: e["comm"].startswith("worker"))):
            report = self.report(path, "--thread", wanted, *PAIRS)
            self.check_events(report, [e for e in events if is_it(
                began.get((e["name"].removesuffix(".end"), e.get("begin", {}).get("ts")), e))])
            rows = groups(report["spans"])
            for name, (begin, end, key) in USER_SPANS.items():
                times, begins, ends = pair(events, named(begin), named(end), key, wanted=is_it)
                self.check_times(rows[name, None], times[None])
                self.assertEqual((rows[name, None]["unpaired_begins"], rows[name, None]["unpaired_ends"]),
                                 (begins[None], ends[None]))

    def test_beside_functions(self):
        # The older keys are still there, and functions do not count as events.
        report = self.report(self.make("user"))
        for key in ("version", "functions", "calls", "returned", "left", "open", "orphans", "lost", "slow", "stacks",
                    "held", "wrong_thread"):
            self.assertIn(key, report)


class Identity(Case):
    """Values with the same hash are different, and numbers of the same value are the same, whatever their width."""

    NAMES = ("text", "blob", "number", "list", "mixed")

    def paired(self):
        """{name: (times, begins, ends)}, and the times of each end, in the order of the events."""
        events = self.events(self.make("ids"))
        durations, waiting = [], collections.defaultdict(list)
        for e in events:
            base, side = e["name"].rsplit(".", 1)
            key = base, repr(e["fields"]["id"])
            if side == "begin":
                waiting[key].append(e["ts"])
            else:
                durations.append(e["ts"] - waiting[key].pop() if waiting[key] else None)
        spans = {n: pair(events, named(f"kv:{n}.begin"), named(f"kv:{n}.end"),
                         lambda e: repr(e["fields"]["id"])) for n in self.NAMES}
        return spans, durations, [e for e in events if e["name"].endswith(".end")]

    def test_spans(self):
        spans = self.paired()[0]
        rows = groups(self.report("ids-2000-7")["spans"])
        self.assertEqual(len(spans["text"][0][None]), 5)
        self.assertEqual(len(spans["number"][0][None]), 2)
        self.assertEqual(len(spans["mixed"][0][None]), 0)
        for name, (times, begins, ends) in spans.items():
            with self.subTest(name):
                row = rows["kv:" + name, None]
                self.check_times(row, times[None])
                self.assertEqual((row["unpaired_begins"], row["unpaired_ends"]), (begins[None], ends[None]))

    def test_durations(self):
        """$duration is the time of the same pairs."""
        _, durations, ends = self.paired()
        for limit in sorted({d for d in durations if d is not None}):
            found = self.events("ids-2000-7", "--filter", f"$duration >= {limit}ns")
            self.assertEqual(found, [e for e, d in zip(ends, durations) if d is not None and d >= limit], limit)

    def test_exports(self):
        """The spans of an export are the same pairs."""
        begun, found = {}, collections.defaultdict(list)
        for e in json.loads(self.ok("export", "-q", "--to", "chrome", "-o", "-", self.make("ids")))["traceEvents"]:
            if e["ph"] == "b":
                begun[e["name"], e["id"]] = e["ts"]
            elif e["ph"] == "e":
                found[e["name"]].append(round((e["ts"] - begun[e["name"], e["id"]]) * 1000))
        for name, (times, _, _) in self.paired()[0].items():
            self.assertEqual(sorted(found["kv:" + name]), sorted(times[None]), name)

    def test_names(self):
        """An event has its thread's name at that time; a row has the last name, in every table."""
        path = self.make("names")
        names = [(e["name"].split(":")[1], e["comm"]) for e in self.events(path) if e["tid"] == 1001]
        self.assertEqual(names, [("sys_enter_read", "sh"), ("sys_exit_read", "sh"), ("sched_process_exec", "ls"),
                                 ("sys_enter_read", "ls"), ("sys_exit_read", "ls"), ("sched_switch", "ls"),
                                 ("task_rename", "ls"), ("sys_enter_read", "sorting"), ("sys_exit_read", "sorting"),
                                 ("sched_switch", "sorting")])
        report = self.report(path, "--by", "thread")
        for table in ("running", "off_cpu", "latency"):
            self.assertEqual([r["thread"] for r in report[table] if r["thread"].endswith("[1001]")], ["sorting[1001]"],
                             table)
        rows = groups(report["events"] + report["spans"])
        self.assertEqual(rows["syscalls:sys_enter_read", "sorting[1001]"]["count"], 3)
        self.assertEqual(rows["syscalls:read", "sorting[1001]"]["count"], 3)
        # Neither names from later times, nor, for a thread selected by name, its times under other names.
        until = self.events(path)[4]["ts"]
        first = self.report(path, "--until", f"{until // 10**9}.{until % 10**9:09}", "--by", "thread")
        self.assertIn(("syscalls:read", "sh[1001]"), groups(first["spans"]))
        rows = self.report(path, "--thread", "ls")
        self.assertEqual(groups(rows["events"])["syscalls:sys_enter_read", None]["count"], 1)

    def test_asked_for(self):
        """Pairs by a field, and groups by one."""
        path = self.make("ids")
        events = self.events(path)
        name = "kv:text.begin,kv:text.end by id"
        row = groups(self.report(path, "--pair", name)["spans"])[name, None]
        self.check_times(row, pair(events, named("kv:text.begin"), named("kv:text.end"),
                                   lambda e: e["fields"]["id"])[0][None])
        rows = [r for r in self.report(path, "--by", "id")["events"] if r["name"] == "kv:text.begin"]
        self.assertEqual([r["count"] for r in rows], [1] * 5)
        self.assertEqual(sorted(r["group"] for r in rows),
                         sorted(["8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ", "(null)", "(null)", ""]))


WHY = {0: "preempted", 256: "preempted", 1: "sleeps", 128: "sleeps", 2: "blocked", 4: "stopped"}


class Scheduler:
    """Threads on and off CPUs, of a recording without losses."""

    def __init__(self, events):
        self.running, self.off, self.latency = (collections.defaultdict(list) for _ in range(3))
        on, off, woken, comm, seen = {}, {}, {}, {}, set()
        for e in events:
            if not e["name"].startswith("sched:"):
                continue
            if e["cpu"] not in seen: # the first event of a CPU: its thread runs there
                seen.add(e["cpu"])
                on[e["cpu"]] = (e["tid"], e["ts"])
            f, now = e["fields"], e["ts"]
            if e["name"] in ("sched:sched_waking", "sched:sched_wakeup"):
                woken.setdefault(f["pid"], now)
                continue
            prev, into = f["prev_pid"], f["next_pid"]
            comm[prev], comm[into] = f["prev_comm"], f["next_comm"]
            tid, since = on[e["cpu"]]
            assert tid == prev
            if prev and now > since:
                self.running[prev].append(now - since)
            if prev:
                off[prev] = (now, WHY[f["prev_state"]])
                woken.pop(prev, None)
            if into in off:
                went, why = off.pop(into)
                self.off[into, why].append(now - went)
                if why != "preempted" and into in woken:
                    self.latency[into].append(now - woken[into])
            elif into and into in woken:
                self.latency[into].append(now - woken[into])
            woken.pop(into, None)
            on[e["cpu"]] = (into, now)
        for tid, since in on.values():
            if tid and events[-1]["ts"] > since:
                self.running[tid].append(events[-1]["ts"] - since)
        self.comm = comm


class Kernel(Case):
    """Scheduling, and the kernel's pairs."""

    def test_threads(self):
        for seed in (7, 9):
            path = self.make("kernel", 4000, seed)
            expected = Scheduler(self.events(path))
            report = self.report(path)

            def row_of(rows, tid, why=None):
                found = [r for r in rows if r["thread"].endswith(f"[{tid}]") and r.get("why") == why]
                self.assertEqual(len(found), 1)
                self.assertEqual(found[0]["thread"], f"{expected.comm[tid]}[{tid}]")
                return found[0]
            for r in report["running"]:
                self.assertEqual(r["name"], "running")
                r["why"] = None
            self.assertEqual([len(report[k]) for k in ("running", "off_cpu", "latency")],
                             [len(expected.running), len(expected.off), len(expected.latency)])
            for tid, times in expected.running.items():
                row = row_of(report["running"], tid)
                self.assertEqual((row["count"], row["total_ns"], row["max_ns"]), (len(times), sum(times), max(times)))
            for (tid, why), times in expected.off.items():
                row = row_of(report["off_cpu"], tid, why)
                self.assertEqual((row["count"], row["total_ns"], row["max_ns"]), (len(times), sum(times), max(times)))
            for tid, times in expected.latency.items():
                self.check_times(row_of(report["latency"], tid), times)

    def test_lost(self):
        """For a recording with losses, hodo reports nothing that did not happen."""
        whole = Scheduler(self.events(self.make("kernel", 12000)))
        path = self.make("lossy", 12000)
        self.assertIn("events were lost in ", self.hodo("report", path).stderr)
        report = self.report(path)
        self.assertGreater(report["unsure_times"], 10)
        counts = collections.Counter()
        for table, times_of in (("running", lambda tid, why: whole.running[tid]),
                                ("latency", lambda tid, why: whole.latency[tid]),
                                ("off_cpu", lambda tid, why: whole.off[tid, why])):
            for row in report[table]:
                times = times_of(int(re.search(r"\[(\d+)\]$", row["thread"]).group(1)), row.get("why"))
                self.assertIn(row["max_ns"], times)
                self.assertIn(row["min_ns"], times)
                self.assertLessEqual(row["count"], len(times))
                self.assertLessEqual(row["total_ns"], sum(times))
                counts[table] += row["count"]
        # A third of the time is in packets with losses.
        self.assertGreater(counts["off_cpu"], 0.5 * sum(map(len, whole.off.values())))

    def test_by(self):
        path = self.make("kernel", 4000)
        expected = Scheduler(self.events(path))
        rows = self.report(path, "--by", "process")["latency"]
        of = collections.defaultdict(list)
        for tid, times in expected.latency.items():
            of[1001 + (tid - 1001) // 4] += times
        self.assertEqual(len(rows), len(of))
        for row in rows:
            self.check_times(row, of[int(re.search(r"\[(\d+)\]$", row["process"]).group(1))])
        rows = self.report(path, "--by", "cpu")["running"]
        self.assertEqual({r["cpu"] for r in rows}, {"cpu0", "cpu1"})
        self.assertEqual(sum(r["total_ns"] for r in rows), sum(map(sum, expected.running.values())))

    def test_thread(self):
        path = self.make("kernel", 4000)
        expected = Scheduler(self.events(path))
        for wanted, tids in (("1003", {1003}), ("task[12]", {t for t in expected.comm if t and t % 5 in (1, 2)})):
            rows = self.report(path, "--thread", wanted)["latency"]
            self.assertEqual(sum(r["count"] for r in rows), sum(len(expected.latency[t]) for t in tids))

    def test_pairs(self):
        path = self.make("both")
        events = self.events(path)
        rows = groups(self.report(path, "--pair", "block:block_rq_issue,block:block_rq_complete by sector",
                                  "--pair", "syscalls:sys_enter_read,kv:tick by all,cpu")["spans"])
        for name, begin, end, key in (
                ("block:block_rq_issue,block:block_rq_complete by sector", "block:block_rq_issue",
                 "block:block_rq_complete", lambda e: e["fields"]["sector"]),
                ("syscalls:sys_enter_read,kv:tick by all,cpu", "syscalls:sys_enter_read", "kv:tick",
                 lambda e: e["cpu"])):
            times, begins, ends = pair(events, named(begin), named(end), key)
            self.check_times(rows[name, None], times[None])
            self.assertEqual((rows[name, None]["unpaired_begins"], rows[name, None]["unpaired_ends"]),
                             (begins[None], ends[None]))
            self.assertTrue(times[None])

    def test_system_calls(self):
        """A thread is in one system call at a time."""
        path = self.make("kernel", 4000)
        inside, times = {}, collections.defaultdict(list)
        begins, ends = collections.Counter(), collections.Counter()
        for e in self.events(path):
            enter, leave = (re.match(r"syscalls:sys_%s_(\w+)" % way, e["name"]) for way in ("enter", "exit"))
            if not enter and not leave:
                continue
            before = inside.pop(e["tid"], None)
            if enter:
                inside[e["tid"]] = (enter.group(1), e["ts"])
            if leave and before and before[0] == leave.group(1):
                times[before[0]].append(e["ts"] - before[1])
                continue
            if before:
                begins[before[0]] += 1
            if leave:
                ends[leave.group(1)] += 1
        for name, _ in inside.values():
            begins[name] += 1
        rows = groups(self.report(path)["spans"])
        self.assertEqual(len(rows), 2)
        for name in ("read", "openat"):
            row = rows["syscalls:" + name, None]
            self.check_times(row, times[name])
            self.assertEqual((row["unpaired_begins"], row["unpaired_ends"]), (begins[name], ends[name]))


class Picture(Case):
    """The histogram in a terminal."""

    def bars(self, *args, **env):
        self.env.update(env)
        text = self.ok("report", self.make("user"), "--histogram=kv:work", *args)
        part = re.search(r"(?m)^kv:work:\n((?: .*\n)+)", text).group(1)
        return part.splitlines()

    def test_width(self):
        for columns, widest in (("80", 80), ("132", 132), ("20", 60), ("x", 80), ("9999", 200)):
            lines = self.bars(COLUMNS=columns)
            self.assertEqual({len(line) for line in lines}, {widest}, columns)

    def test_terminal(self):
        path = self.make("user")
        _, text = on_terminal(self, HODO, "report", "--no-pager", "--color=never", path, "--histogram=kv:work",
                              size=(24, 110), env={"COLUMNS": "90", "TERM": "xterm"})
        part = re.search(r"(?m)^kv:work:\n((?: .*\n)+)", text.replace("\r", "")).group(1)
        self.assertEqual({len(line) for line in part.splitlines()}, {110})

    def test_length(self):
        rows = groups(self.report(self.make("user"), "-H")["spans"])
        bars = rows["kv:work", None]["histogram"]
        lines = self.bars(COLUMNS="100")
        self.assertEqual(len(lines), len(bars))
        most, room = max(b["count"] for b in bars), 100 - 50
        for line, bar in zip(lines, bars):
            self.assertRegex(line, r"\A +\S+ [mu]?s +\.\. +\S+ [mu]?s +[█▏▎▍▌▋▊▉]* +%d +[\d.]+%%\Z" % bar["count"])
            drawn = line.count("█") + sum("▏▎▍▌▋▊▉".find(c) + 1 for c in line if c in "▏▎▍▌▋▊▉") / 8
            wanted = bar["count"] / most * room
            self.assertAlmostEqual(drawn, wanted, delta=0.126)
            self.assertEqual(drawn > 0, bar["count"] > 0)

    def test_ascii(self):
        for line in self.bars(LC_ALL="C"):
            self.assertTrue(line.isascii())
        self.assertIn("####", self.bars(LC_ALL="C")[8])

    def test_which(self):
        path = self.make("user")
        self.assertNotIn("█", self.ok("report", path))
        text = self.ok("report", path, "-H")
        for name in ("kv:work", "kv:request", "kv:depth", "kv:load"):
            self.assertRegex(text, rf"(?m)^{name}:$")
        self.assertEqual(len(re.findall(r"(?m)^task\S+, from wake-up to running:$",
                                        self.ok("report", self.make("kernel"), "-H", "-n2"))), 2)


class Options(Case):
    def test_wrong_usage(self):
        path = self.make("user")
        for args, words in ((["--pair", "a"], "--pair is two events"), (["--pair", "a,"], "--pair is two events"),
                            (["--pair", ",b"], "--pair is two events"), (["--pair", "a,b by "], "--pair is two"),
                            (["--pair", "a,b by x,,y"], "--pair is two"), (["--pair", "a,b of x"], "--pair is two"),
                            (["--pair", "a,b by 1,2,3,4,5"], "--pair is two"),
                            (["--pair", "a,b", "--pair", "a,b"], "twice"),
                            (["--pair"], "needs a value"), (["--by", ""], "--by is"), (["--by", "a,b"], "--by is"),
                            (["--values", "bytes"], "--values is an event and a field"),
                            (["--values", "a."], "--values is"), (["--values", ".b"], "--values is"),
                            (["--since", "x", path], "--since is a time such as"),
                            (["--until", "1y", path], "--until is a time such as"), (["-n", "x"], "a number of rows"),
                            (["--sort", "x"], "--sort is"), (["a", ""], "one recording"),
                            (["--color=x"], "--color is"),
                            ([a for i in range(65) for a in ("--pair", f"a,b{i}")], "64 pairs"),
                            ([a for i in range(65) for a in ("--values", f"a.b{i}")], "64 fields")):
            done = self.hodo("report", *args)
            self.assertEqual((done.returncode, done.stdout), (2, ""), args)
            self.assertRegex(done.stderr, r"\Ahodo: report: [^\n]*%s[^\n]*\n\Z" % re.escape(words))
        self.assertEqual(self.hodo("report", "nowhere").returncode, 1)
        self.assertEqual(self.hodo("report", path, "--diff", "nowhere").returncode, 1)

    def test_pair_as_it_is_said(self):
        path = self.make("user")
        name = "kv:start,kv:done by key"
        quoted = self.report(path, "--pair", name)
        for args in ((path, "--pair", "kv:start,kv:done", "by", "key"),
                     ("--pair", "kv:start,kv:done", "by", "key", path),
                     ("--pair=kv:start,kv:done", "by", "key", "--", path),
                     ("--pair", "kv:start, kv:done  by  key", path)):
            self.assertEqual(json.loads(self.ok("report", "-q", "--json", *args)), quoted)
        row = groups(quoted["spans"])[name, None]
        self.assertEqual((row["begin"], row["end"], row["pair_by"]), ("kv:start", "kv:done", "key"))

    def test_not_there(self):
        path = self.make("user")
        for args, words in ((["--pair", "kv:start,kv:gone"], "no event 'kv:gone'"),
                            (["--pair", "kv:start,kv:tick by key"], "no event 'kv:tick' with the fields to pair by"),
                            (["--values", "kv:put.key"], "no event 'kv:put' with a number 'key'"),
                            (["--values", "kv:gone.key"], "no event 'kv:gone'"),
                            (["--by", "colour"], "no event has a field")):
            done = self.hodo("report", path, *args)
            self.assertEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertEqual(self.hodo("report", "-q", path, *args).stderr, "")
        done = self.hodo("report", path, "--since", "50")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("there are no events at that time", done.stderr)

    def test_order(self):
        path = self.make("user")
        for key, field in (("total", "total_ns"), ("calls", "count"), ("avg", "avg_ns"), ("p50", "p50_ns"),
                           ("p99", "p99_ns"), ("max", "max_ns"), ("min", "min_ns")):
            got = [r[field] for r in self.report(path, "--sort", key, *PAIRS)["spans"]]
            self.assertEqual(got, sorted(got, reverse=True), key)
        got = [r["name"] for r in self.report(path, "--sort", "name", *PAIRS)["spans"]]
        self.assertEqual(got, sorted(got))
        report = self.report(path, "-n", "2", *PAIRS)
        self.assertEqual((len(report["events"]), len(report["spans"]), len(report["values"])), (2, 2, 2))
        self.assertIn("and 8 more\n", self.ok("report", path, "-n", "2"))

    def test_text(self):
        text = self.ok("report", self.make("both"))
        titles = ("Events", "Spans and pairs", "Values", "On CPUs", "Off CPUs, and why", "From wake-up to running",
                  "Slowest spans and system calls")
        self.assertEqual(re.findall(r"(?m)^([A-Z][^\n]+):$", text), list(titles))
        self.assertRegex(text, r"(?m)^ +\d+ +[\d,]+ .* kv:request \([\d,]+ without end\) \([\d,]+ without begin\)$")
        self.assertNotIn("\033", text)
        self.assertIn("\033", self.ok("report", self.make("both"), "--color=always"))


class Hostile(Case):
    def test_names(self):
        path = self.make("hostile")
        for args in ((), ("--by", '<b>"x'), ("--by", "thread", "-H"), ("--by", "process"), ("--by", "cpu")):
            text = self.ok("report", "-q", path, *args)
            self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f]")
            for line in text.splitlines():
                self.assertRegex(line, r"\A( |Spans|Events|Values|Slowest|a:<i>|b:|in |\.begin|\d+\.\d+ [mun]?s |\Z)", text)
            self.report(path, *args)
        rows = groups(self.report(path, "--by", '<b>"x')["events"])
        name = "a:<i>\"\\'%n.begin"
        self.assertIn((name, "</script><script>alert(1)</script>"), rows)
        self.assertIn((name, "(null)"), rows)

    def test_broken(self):
        """Any bytes are changed: hodo reports what it can read, and nothing worse happens."""
        path = self.path(self.make("both", 300))
        files = [os.path.join(d, f) for d, _, names in os.walk(path) for f in names]
        state = 1
        for i in range(60):
            file = files[i % len(files)]
            with open(file, "r+b") as f:
                data = bytearray(f.read())
                for _ in range(1 + i % 5):
                    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                    data[(state >> 33) % len(data)] = state >> 56
                if i % 7 == 6:
                    data = data[:(state >> 33) % len(data) + 1]
                f.seek(0)
                f.truncate()
                f.write(data)
            for args in (("--json", "--by", "shard", "-H"), ("--by", "thread", "--pair", "kv:start,kv:done by key")):
                done = self.hodo("report", path, *args)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                if done.returncode == 0 and "--json" in args:
                    json.loads(done.stdout)
                self.assertTrue(all(line.startswith("hodo: ") for line in done.stderr.splitlines()), done.stderr)


class Bounds(Case):
    def test_memory(self):
        """1.2 million begins wait for an end, and are in as many groups: hodo reports what exceeds its limits."""
        path, n = self.make("leak", 1200000), 1200000
        done, peak_kib = measured(HODO, "report", path, "--json", "--by", "shard", "-n", 3, status=0, **self.how({}))
        self.assertLess(peak_kib, 500 << 10)
        self.assertIn("begins were dropped", done.stderr)
        self.assertIn("the rest is in (others)", done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["dropped_begins"], n - (1 << 20))
        row, = self.report(path)["spans"]
        # The newest 1,000 have their end, the oldest 1,000 are given up.
        self.assertEqual((row["count"], row["unpaired_begins"], row["unpaired_ends"]), (1000, n - 1000, 1000))
        rest, = [r for r in self.report(path, "--by", "id", "--pair", "kv:request.begin,kv:request.begin by all")["spans"]
                 if r["group"] == "(others)" and "," in r["name"]]
        self.assertEqual((rest["count"] > n / 2, rest["p50_ns"], rest["p999_ns"]), (True, 1, 1))
        row, = [r for r in report["events"] if r["group"] == "(others)"]
        self.assertEqual(row["count"], report["events"][0]["count"])

    def test_lost_between(self):
        """A begin and an end between which that process lost events make a span, and hodo reports that."""
        path = self.make("gap")
        report = self.report(path)
        row, = report["spans"]
        self.assertEqual((row["count"], row["total_ns"], report["unsure_spans"], report["lost"]), (6, 6000, 2, 2))
        said = self.hodo("report", path).stderr
        self.assertIn("events were lost in 2 spans", said)
        self.assertIn("a begin and its end may belong to different spans", said)

    def test_lost_one(self):
        one, two = self.make("gap-of-one"), self.make("gap")
        self.assertIn("warning: 1 event was lost: 'hodo stat' says why and how to keep it\n", self.hodo("report", one).stderr)
        self.assertIn("\n1 event was lost:\n", self.ok("stat", one))
        self.assertIn("warning: 2 events were lost, 0 of them overwritten", self.hodo("report", two).stderr)
        self.assertIn("\n2 events were lost:\n", self.ok("stat", two))

    def test_one_key(self):
        """All begins have one key: finding the one to give up takes no search."""
        path = self.make("leak", 1200000)
        row, = [r for r in self.report(path, "--pair", "kv:request.begin,kv:gone")["spans"] if "," in r["name"]]
        self.assertEqual((row["count"], row["unpaired_begins"]), (0, 1200000))


    def test_crowd(self):
        """Many threads wait in one function: how many others are in it is irrelevant to one that enters or leaves."""
        n = 400000
        function, = self.report(self.make("crowd", n))["functions"]
        self.assertEqual([function[key] for key in ("calls", "open", "no_exit", "total_ns", "self_ns")],
                         [n + n // 2, 0, 0, n * 3 * n, n * 3 * n])
        self.assertEqual((function["min_ns"], function["max_ns"]), (n, 3 * n))


class Difference(Case):
    def test_numbers(self):
        a, b = self.make("both", 1500, 7), self.make("both", 2500, 8)
        before, after, diff = self.report(a), self.report(b), self.report(a, "--diff", b)
        for table in ("events", "spans", "values"):
            x, y, d = (groups(r[table]) for r in (before, after, diff))
            self.assertEqual(set(d), set(x) | set(y))
            for key, row in d.items():
                for side, rows in (("before", x), ("after", y)):
                    expected = {k: v for k, v in rows[key].items() if k not in ("name", "group")}
                    self.assertEqual(row[side], expected)
        # A comparison identifies threads by their names.
        rows = {r["thread"]: r for r in diff["latency"]}
        self.assertEqual(set(rows), {f"task{i}" for i in range(5)})
        self.assertEqual(rows["task3"]["after"]["count"],
                         sum(r["count"] for r in after["latency"] if r["thread"].startswith("task3[")))
        text = self.ok("report", a, "--diff", b)
        row = groups(diff["events"])["kv:put", None]
        change = (row["after"]["count"] / row["before"]["count"] - 1) * 100
        self.assertRegex(text, rf"(?m)^ *[\d,]+ +[\d,]+ +{re.escape(f'{change:+.1f}%')}  kv:put$")

    def test_fail_if(self):
        """What makes a comparison fail: hodo reports each row in both recordings that changed too much."""
        a, b = self.make("both", 1500, 7), self.make("both", 2500, 8)
        diff = self.report(a, "--diff", b)
        for limit, column, percent in (("count > +10%", "count", 10), ("count>66.7%", "count", 66.7),
                                       ("count < -1%", "count", -1), ("p99 > +2%", "p99_ns", 2),
                                       ("p99_ns < -0.5 %", "p99_ns", -0.5), ("max > 1e9%", "max_ns", 1e9)):
            with self.subTest(limit):
                wanted = []
                for table in ("events", "spans", "values", "running", "off_cpu", "latency"):
                    for row in diff[table]:
                        x, y = ((row[side] or {}).get(column) for side in ("before", "after"))
                        change = (y - x) / x * 100 if x and y is not None else 0
                        if change > percent if ">" in limit else change < percent:
                            wanted.append((table, change))
                done = self.hodo("report", "-q", "--diff", b, "--fail-if", limit, a)
                said = re.findall(r"(?m)^hodo: (\w+): .*: .* changed by (\S+)%, which fails: (.*)$", done.stderr)
                self.assertEqual(sorted((t, c) for t, c, _ in said), sorted((t, f"{c:+.1f}") for t, c in wanted))
                self.assertEqual({text for _, _, text in said}, {limit} if wanted else set())
                self.assertEqual(done.returncode, 3 if wanted else 0)
                self.assertEqual(done.stdout, self.ok("report", "-q", "--diff", b, a))
        done = self.hodo("stat", "-q", "--diff", b, "--fail-if", "count > +10%", "--fail-if", "bytes<-99%", a)
        self.assertEqual((done.returncode, "count > +10%" in done.stderr, "bytes" in done.stderr), (3, True, False))
        for options, text in ((["--diff", b, "--fail-if", "p98 > 5%"], "--fail-if: there is no column 'p98'"),
                              (["--diff", b, "--fail-if", "p99 > 5ms"], "not 'p99 > 5ms'"),
                              (["--diff", b, "--fail-if", "p99 > nan%"], "not 'p99 > nan%'"),
                              (["--diff", b, "--fail-if", "> 5%"], "--fail-if is a column"),
                              (["--diff", b] + 17 * ["--fail-if", "p99 > 5%"], "at most 16 times --fail-if"),
                              (["--fail-if", "p99 > 5%"], "--fail-if compares two recordings: give the other with --diff")):
            self.fails(2, text, "report", *options, a)

    def test_fail_if_of_nothing(self):
        """A limit that is compared with no row is an error, which says why: a test of nothing does not pass."""
        a, b = self.make("both", 1500, 7), self.make("both", 2500, 8)
        user, kernel = self.make("user"), self.make("kernel")
        no_row, one_side = r"neither recording has a row in a table with that column \({}\): ", "no row with that column is in both"
        every = "functions, events, spans, values, running, off_cpu, latency"
        for before, after, limit, options, said in (
                (a, b, "count > +5%", ["-e", "kv:nosuch"], no_row.format(every)),
                (a, b, "p99 > +5%", ["-e", "kv:put"], no_row.format("functions, spans, values, latency")),
                (a, b, "self > +5%", [], no_row.format("functions")),
                (user, kernel, "count > +5%", [], one_side),
                (user, user, "off_cpu > +5%", [], "in no row is there such a figure in both")):
            with self.subTest(limit, options=options):
                done = self.hodo("report", "-q", "--diff", after, *options, "--fail-if", limit, before)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, rf"(?m)^hodo: --fail-if '{re.escape(limit)}' compared nothing: {said}.*\n\Z")
                self.assertEqual(done.stdout, self.ok("report", "-q", "--diff", after, *options, before))
        # It does not matter that others were compared, or even exceeded.
        for limits in (["count > +900%", "self > +5%"], ["self > +5%", "count > +5%"]):
            done = self.hodo("report", "-q", "--diff", b, *[word for limit in limits for word in ("--fail-if", limit)], a)
            self.assertEqual((done.returncode, done.stderr.count("compared nothing")), (1, 1), done.stderr)
        done = self.hodo("stat", "-q", "--diff", b, "-e", "kv:nosuch", "--fail-if", "count > +5%", a)
        self.assertEqual((done.returncode, "compared nothing" in done.stderr), (1, True))
        for verb, column in (("report", "name"), ("report", "unpaired"), ("report", "histogram"), ("report", "ts"),
                             ("report", "duration"), ("stat", "name")):
            self.fails(2, f"--fail-if: '{column}' is not a figure that --diff compares", verb, "--diff", b, "--fail-if",
                       f"{column} > +1%", a)

    def test_columns(self):
        """A table without the columns has no title, either; what is another name of a column, --columns=help says."""
        a, b = self.make("both", 1500, 7), self.make("both", 2500, 8)
        text = self.ok("report", "-q", a, "--diff", b, "--columns", "p50")
        self.assertEqual(re.findall(r"(?m)^(\S.*):$", text), ["Spans and pairs", "Values", "From wake-up to running"])
        self.assertFalse(text.startswith("\n"))
        self.assertEqual(self.ok("report", "-q", a, "--diff", b, "--columns", "name"), "")
        help = dict(line.split(": ") for line in self.ok("report", "--columns=help", a).splitlines())
        self.assertIn("count (or calls)", help["events"].split(", "))
        for name in ("count", "calls"):
            done = self.hodo("report", "-q", "--diff", b, "--fail-if", name + " > +10%", "-e", "kv:put", a)
            self.assertRegex(done.stderr, rf"\Ahodo: events: kv:put: {name} changed by \+[\d.]+%, which fails: {name} > \+10%\n\Z")

    def test_new_and_gone(self):
        user, kernel = self.make("user"), self.make("kernel")
        rows = groups(self.report(user, "--diff", kernel)["spans"])
        self.assertIsNone(rows["kv:work", None]["after"])
        self.assertIsNone(rows["syscalls:read", None]["before"])
        same = self.report(user, "--diff", user, "--by", "thread")
        self.assertEqual({r["group"] for r in same["spans"]}, {"main0", "worker0", "worker1"})
        for table in ("events", "spans", "values"):
            self.assertTrue(same[table] and all(r["before"] == r["after"] for r in same[table]))


class Extremes(Case):
    """Counters that are infinite, not a number, or as large as their type allows."""

    @staticmethod
    def strict(text):
        def refuse(constant):
            raise ValueError(constant)
        return json.loads(text, parse_constant=refuse)

    def test_json(self):
        path = self.make("extremes")
        for args in ((), ("--by", "thread"), ("--diff", path), ("--diff", path, "--by", "thread")):
            self.strict(self.ok("report", "-q", "--json", "-H", path, *args))
        rows = groups(self.strict(self.ok("report", "-q", "--json", "-H", path, "--by", "thread"))["values"])
        bars = {key[1]: row["histogram"] for key, row in rows.items()}
        self.assertEqual([(b["to"], b["count"]) for b in bars["far[6]"]], [(None, 3)])
        self.assertEqual([(b["from"], b["count"]) for b in bars["far[7]"]], [(None, 3)])
        self.assertLess(bars["far[6]"][0]["from"], 1.8e308)

    def test_order(self):
        path = self.make("extremes")
        order = [row["group"] for row in self.report(path, "--by", "thread", "--sort", "avg")["values"]]
        self.assertEqual(order, [f"far[{n}]" for n in (6, 3, 5, 1, 2, 4, 7)])

    def test_difference(self):
        path = self.make("extremes")
        text = self.ok("report", "-q", path, "--diff", path, "--sort", "avg")
        self.assertRegex(text, r"(?m)^ +2 +2 +\+0\.0%(?: +\S+){3} +inf +inf +\+0\.0% .* kv:load$")
        for args in ((), ("--diff", path), ("-H",)):
            self.assertNotIn("-nan", self.ok("report", "-q", path, *args))


class Recorded(Same):
    """A program that runs."""

    def setUp(self):
        super().setUp()
        if not TARGET:
            self.skipTest("nothing can be recorded here")
        done = self.hodo("record", "-q", "-m", "4M", "-o", "real", TARGET)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_real(self):
        events = self.events("real")
        spans = {"kv:compact": ("kv:compact.begin", "kv:compact.end", lambda e: e["tid"]),
                 "kv:request": ("kv:request.begin", "kv:request.end", lambda e: e["fields"]["i"]),
                 "kv:taken,kv:done by id": ("kv:taken", "kv:done", lambda e: e["fields"]["id"])}
        report = self.report("real", "--pair", "kv:taken,kv:done", "by", "id", "--values", "kv:done.bytes")
        self.check_events(report, events)
        self.check_spans(report, events, spans)
        rows = groups(report["spans"])
        for name, count in (("kv:compact", 90), ("kv:request", 300), ("kv:taken,kv:done by id", 300)):
            row = rows[name, None]
            self.assertEqual((row["count"], row["unpaired_begins"], row["unpaired_ends"]), (count, 0, 0))
        values = groups(report["values"])
        self.check_numbers(values["kv:queued", None], list(range(-150, 150)))
        self.assertEqual(values["kv:done.bytes", None]["max"], 299 * 299)
        by = groups(self.report("real", "--by", "shard", "--pair", "kv:taken,kv:done by id")["spans"])
        for shard in ("0", "1"): # the request's begin has no shard, but its end has one
            self.assertEqual([by[name, shard]["count"] for name in ("kv:request", "kv:taken,kv:done by id")],
                             [150, 150])


for name in [n for n in dir(Same) if n.startswith("test_")]: # Recorded uses Same's checks, but not its tests
    setattr(Recorded, name, None)

main()
