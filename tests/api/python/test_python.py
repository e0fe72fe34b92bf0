#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module hodo: it says the same about recordings as the command."""
import collections
import concurrent.futures
import datetime
import gc
import importlib.util
import json
import math
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import unittest.mock
import warnings

import hodo_test
from hodo_test import SOURCE, program, run

sys.path.insert(0, str(SOURCE / "python"))
# pylint: disable=wrong-import-position
import hodo

TARGET, CALLS = program("PYTHON_TARGET"), program("PYTHON_CALLS")
DEBIAN = "/usr/bin/python3"  # Debian's packages are for this one, even if another python3 comes first
ADDED = {"function", "loop", "chain", "symbols"}  # names of functions, which only the command finds out


def need(test, module, package):
    """Starts the script again under Debian's Python if that has the module; skips the test if none has."""
    if importlib.util.find_spec(module):
        return
    known = subprocess.run([DEBIAN, "-c", f"import {module}"], capture_output=True, check=False) \
        if os.path.exists(DEBIAN) and sys.executable != DEBIAN else None
    if known and known.returncode == 0:
        os.execv(DEBIAN, [DEBIAN, "-B", *sys.argv])
    test.skipTest(f"no Python here has {module} ({package})")


def plain(value):
    """An event of print --json without names of functions."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if k not in ADDED}
    return value


def json_value(value, kind):
    """A column's value as it is in JSON."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [json_value(v, kind[:-2]) for v in value]
    if isinstance(value, dict):
        return {k: json_value(v, kind) for k, v in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def json_float(value, kind):
    """A number of JSON as it is in a column: a float is the double next to its shortest decimal."""
    if isinstance(value, list):
        return [json_float(v, kind[:-2]) for v in value]
    return struct.unpack("f", struct.pack("f", value))[0] if kind == "f32" and isinstance(value, float) else value


class Case(hodo_test.Case):
    SHARED = True

    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore", hodo.RecordingWarning)

    def printed(self, name, *options):
        return [plain(json.loads(line)) for line in self.ok("print", "-q", "--json", *options, name).splitlines()]

    def open(self, name):
        recording = hodo.open(self.path(name))
        self.addCleanup(recording.close)
        return recording

    def generated(self):
        yield from (self.generate("GEN_TRACE", scenario) for scenario in ("all", "lost", "short"))
        yield self.generate("GEN_TRACE", "many", 30)
        yield from (self.generate("GEN_TRACE", "random", seed) for seed in range(12))
        yield from (self.generate("GEN_CALLS", scenario) for scenario in ("calls", "spans", "whole", "lossy", "kinds"))

    def recorded(self, *options):
        name = "-".join(("recorded", *options)).replace("/", "_")
        if not os.path.exists(self.path(name)):
            self.ok("record", "-q", "-m", "4M", "-o", name, *options, TARGET)
        return name


class Values(Case):
    def test_events(self):
        for name in self.generated():
            with self.subTest(name):
                events = list(self.open(name).events())
                printed = self.printed(name)
                self.assertEqual([plain(e.json) for e in events], printed)
                self.assertEqual([(e.ts, e.pid, e.tid, e.cpu, e.thread, e.name, json_value(e.fields, ""))
                                  for e in events],
                                 [(p["ts"], p["pid"], p["tid"], p["cpu"], p["comm"], p["name"], p["fields"])
                                  for p in printed])

    def test_numbers_that_json_does_not_have(self):
        """They are the same in events and in tables; a text that looks like one stays a text."""
        recording = self.open(self.generate("GEN_TRACE", "all"))
        kinds = {(c.name, field): kind for c in recording.classes for field, kind in c.fields.items()}
        strange = 0
        for event, row in zip(recording.events(), recording.table()):
            for field, value in event.items():
                if kinds[event.name, field].rstrip("[]") not in ("f32", "f64"):
                    continue
                values = value if isinstance(value, list) else [value]
                self.assertTrue(all(isinstance(v, (int, float)) for v in values), (field, value))
                found = json_float(value, kinds[event.name, field].rstrip("[]")) if not isinstance(value, list) else \
                    [json_float(v, kinds[event.name, field].rstrip("[]")) for v in value]
                self.assertEqual(repr([float(v) for v in found] if isinstance(found, list) else float(found)),
                                 repr(row[field]))
                strange += sum(not math.isfinite(v) for v in values)
        self.assertGreater(strange, 0)
        event = hodo.Event((0, None, "p", 1, "p", 1, 0, "a:b"), '{"fields": {"x": "NaN", "y": ["-Infinity", 1]}}',
                           frozenset(("y",)))
        self.assertEqual(event.fields, {"x": "NaN", "y": [-math.inf, 1]})

    def test_as_a_mapping(self):
        """An event is its fields, by whatever way they are asked for."""
        for event in self.open(self.generate("GEN_TRACE", "all")).events():
            self.assertEqual(list(event), list(event.fields))
            self.assertEqual(repr(dict(event)), repr(event.fields))
            self.assertEqual(list(event.keys()), list(event.fields))
            self.assertNotIn("no such field", event)
            self.assertNotIn(0, event)
            self.assertIsNone(event.get("no such field"))
            self.assertEqual(event.get("no such field", 7), 7)
            with self.assertRaises(KeyError):
                event["no such field"]  # pylint: disable=pointless-statement
            for name in event:
                self.assertIn(name, event)
                self.assertIs(event.get(name), event[name])

    def test_of_all_types(self):
        self.generate("GEN_TRACE", "all")
        types = {kind for c in self.open("all").classes for kind in c.fields.values()}
        self.assertLessEqual({"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool", "char", "f32", "f64", "ptr",
                              "str", "bytes", "i32[]", "bool[]", "f32[]"}, types)

    def test_parts_of_events(self):
        events = {e.name: e for e in self.open(self.recorded()).events()}
        self.assertEqual({(e["state"], e.labels.get("state")) for e in self.open(self.recorded()).events("job:state")},
                         {(0, "IDLE"), (1, "BUSY"), (2, None)})
        self.assertRegex(events["job:round"].text, "^round -?\\d+ of (many|a week)$")
        self.assertGreater(events["job:inner.end"].duration_ns, 0)
        self.assertIsNone(events["job:inner.begin"].duration_ns)
        self.assertEqual(events["job:request.begin"]["what"], "read")
        self.assertEqual(events["job:round"].context, {})

    def test_packed(self):
        self.generate("GEN_TRACE", "all")
        self.ok("pack", "-o", "all.hodo", "all")
        self.assertEqual([e.json for e in self.open("all.hodo").events()], [e.json for e in self.open("all").events()])
        folder = self.open(os.path.join("all", "kvd-412"))
        self.assertEqual({e.pid for e in folder.events()}, {412})


class Columns(Case):
    FIXED = {"ts", "host", "process", "pid", "thread", "tid", "cpu", "text", "name", "function"}

    def check_field(self, row, event, field, kind):
        wanted = event["fields"][field]
        value = row[field]
        if kind.startswith("f32"):
            wanted = json_float(wanted, kind)
        self.assertEqual(repr(json_value(value, kind)), repr(wanted), (field, kind))
        label = event.get("labels", {}).get(field)
        if f"{field}_label" in row:
            self.assertEqual(row[f"{field}_label"], label)

    def check(self, recording, event, printed):
        table = recording.table(event)
        fields = {}
        for c in recording.classes:
            if c.name == event:
                fields.setdefault(c.process, c.fields)
        rows = list(table)
        self.assertEqual(len(rows), len(printed))
        for row, wanted in zip(rows, printed):
            self.assertEqual([row[k] for k in ("ts", "pid", "tid", "cpu", "thread")],
                             [wanted[k] for k in ("ts", "pid", "tid", "cpu", "comm")])
            self.assertEqual(row["name"], event)
            for field, kind in fields[row["process"]].items():
                if field not in self.FIXED and field in table and table[field].type == kind:
                    self.check_field(row, wanted, field, kind)
            if "text" in wanted:
                self.assertEqual(row["text"], wanted["text"])

    def test_rows(self):
        checked = 0
        for name in self.generated():
            printed = collections.defaultdict(list)
            for event in self.printed(name):
                printed[event["name"]].append(event)
            for event, wanted in printed.items():
                # Some names are not patterns; a begin's name stands for its end, too, where only the end is left.
                if re.fullmatch(r"\w+:\w+", event) and not any(e in printed for e in (f"{event}.begin", f"{event}.end")):
                    with self.subTest(f"{name} {event}"), self.open(name) as recording:
                        self.check(recording, event, wanted)
                        checked += len(wanted)
        self.assertGreater(checked, 2000)

    def test_of_all_events(self):
        name = self.generate("GEN_TRACE", "all")
        table = self.open(name).table(columns=["name", "ts", "shard", "key"])
        self.assertEqual(list(table.columns), ["name", "ts", "shard", "key"])
        self.assertEqual([tuple(row.values()) for row in table],
                         [(e["name"], e["ts"], e["fields"].get("shard"), e["fields"].get("key"))
                          for e in self.printed(name)])
        self.assertEqual(table["shard"].nulls, table["shard"].tolist().count(None))
        self.assertEqual(table["shard"].valid(), [v is not None for v in table["shard"]])
        names = table["name"]
        self.assertEqual([names.texts()[i] for i in names.array()], names.tolist())
        with self.assertRaisesRegex(TypeError, "key: values of type str differ in length"):
            table["key"].array()

    def test_batches(self):
        name = self.generate("GEN_TRACE", "fixed", 150000)
        recording = self.open(name)
        whole = recording.table()
        self.assertEqual(len(whole), 150000)
        batches = list(recording.batches())
        self.assertEqual([len(b) for b in batches], [16384] * 9 + [2544])
        for column in whole.columns:
            self.assertEqual(whole[column].tolist(), sum((b[column].tolist() for b in batches), []))
        self.assertEqual([len(b) for b in recording.batches(rows=70000)], [65536, 65536, 18928])
        self.assertEqual([len(b) for b in recording.batches(rows=50000)], [50000] * 3)
        self.assertEqual(len(recording.table("none:none")), 0)
        self.assertEqual(recording.table("none:none")["ts"].tolist(), [])


class Selected(Case):
    SELECTIONS = [
        (["-e", "job:state"], {"events": "job:state"}),
        (["-e", "job:*,!job:round"], {"events": ["job:*", "!job:round"]}),
        (["-e", "job:outer"], {"events": "job:outer"}),
        (["--filter", "i > 100 || $duration > 1us"], {"filter": "i > 100 || $duration > 1us"}),
        (["-e", "job:state", "--filter", "state == BUSY"], {"events": "job:state", "filter": "state == BUSY"}),
        (["--process", "python_*"], {"process": "python_*"}),
        (["--process", "nobody"], {"process": "nobody"}),
    ]

    def test_as_the_command(self):
        name = self.recorded()
        recording = self.open(name)
        for options, selection in self.SELECTIONS:
            with self.subTest(options):
                printed = self.printed(name, *options)
                self.assertEqual([e.json for e in recording.events(**selection)], printed)
                self.assertEqual(recording.table(columns="ts", **selection)["ts"].tolist(), [e["ts"] for e in printed])

    def test_threads(self):
        name = self.recorded()
        tids = {e["tid"] for e in self.printed(name)}
        self.assertEqual(len(tids), 2)
        for tid in tids:
            self.assertEqual([e.json for e in self.open(name).events(thread=tid)],
                             self.printed(name, "--thread", str(tid)))

    def test_times(self):
        name = self.recorded()
        recording = self.open(name)
        all_of_them = [e.ts for e in recording.events()]
        middle = all_of_them[len(all_of_them) // 2]
        after = [ts for ts in all_of_them if ts >= middle]
        self.assertEqual([e.ts for e in recording.events(since=middle)], after)
        self.assertEqual([e.ts for e in recording.events(until=middle)], [ts for ts in all_of_them if ts < middle])
        seconds = (middle - recording.begin_ns) / 1e9
        self.assertEqual([e.ts for e in recording.events(since=seconds)],
                         [ts for ts in all_of_them if ts >= recording.begin_ns + round(seconds * 1e9)])
        at = datetime.datetime.fromtimestamp(middle // 10**9, datetime.timezone.utc)
        at += datetime.timedelta(microseconds=middle % 10**9 // 1000)
        self.assertEqual([e.ts for e in recording.events(since=at)],
                         [ts for ts in all_of_them if ts >= middle // 1000 * 1000])
        self.assertEqual(list(recording.events(since=10**30)), [])
        for what in ("since", "until"):
            for when in (at.date(), "0.5", [1]):
                with self.assertRaisesRegex(TypeError, rf"^{what}: .*\(int\).*\(float\) or a datetime\.datetime$"):
                    recording.table(**{what: when})

    def test_names_that_there_are_not(self):
        """They are warned of, as by the command, with names that are like them."""
        name = self.recorded()
        for options, selection, words in (
                (["-e", "job:stat"], {"events": "job:stat"}, "no event matches 'job:stat' (near: job:state)"),
                (["--filter", "statt == 1"], {"filter": "statt == 1"}, "has a field or label 'statt' (near: state)"),
                (["--host", "nowhere"], {"host": "nowhere"}, "no host matches 'nowhere'")):
            with self.subTest(options), hodo.open(self.path(name)) as recording:
                self.assertEqual(len(recording.table(**selection)), 0)
                self.assertEqual(list(recording.events(**selection)), [])
                self.assertEqual(len(recording.warnings), 1, recording.warnings)
                self.assertIn(words, recording.warnings[0])
                self.assertIn(words, self.hodo("print", *options, name).stderr)
        with hodo.open(self.path(name)) as recording:
            recording.table("job:state", filter="state == BUSY", host=socket.gethostname())
            recording.spans("job:outer")
            self.assertEqual(recording.warnings, [])


class Spans(Case):
    def test_as_report(self):
        for name in (self.recorded(), self.generate("GEN_CALLS", "spans")):
            report = json.loads(self.ok("report", "-q", "--json", name))
            sums = collections.defaultdict(lambda: [0, 0])
            for row in self.open(name).spans():
                if row["state"] == "ended":
                    sums[row["name"]][0] += 1
                    sums[row["name"]][1] += row["duration_ns"]
            self.assertEqual({n: tuple(s) for n, s in sums.items()},
                             {s["name"]: (s["count"], s["total_ns"]) for s in report["spans"] if s["count"]})

    def test_of_a_program(self):
        rows = list(self.open(self.recorded()).spans())
        by_id = {row["id"]: row for row in rows}
        self.assertEqual(len(by_id), len(rows))
        self.assertEqual(collections.Counter(row["name"] for row in rows),
                         {"job:outer": 300, "job:inner": 450, "job:request": 300})
        inside = collections.Counter()
        for row in rows:
            self.assertEqual(row["state"], "ended")
            self.assertEqual(row["duration_ns"], row["end_ns"] - row["ts"])
            parent = by_id.get(row["parent_id"])
            if row["name"] == "job:inner":
                self.assertEqual((row["parent"], parent["name"], row["depth"]), ("job:outer", "job:outer", 1))
                self.assertEqual(abs(row["i"]), parent["i"])
                self.assertTrue(parent["ts"] <= row["ts"] and row["end_ns"] <= parent["end_ns"])
                inside[row["parent_id"]] += row["duration_ns"]
            else:
                self.assertEqual((row["parent"], row["parent_id"], row["depth"]), (None, None, 0))
        for row in rows:
            self.assertEqual(row["self_ns"], row["duration_ns"] - inside[row["id"]])
            self.assertEqual(row["kind"], "async" if row["name"] == "job:request" else "span")
        requests = [row for row in rows if row["name"] == "job:request"]
        self.assertTrue(all(row["end_tid"] != row["tid"] for row in requests))
        self.assertEqual(sorted((row["field_id"], row["what"]) for row in requests),
                         [(i, "read" if i % 3 else "wr\xefte") for i in range(300)])

    def test_selected(self):
        recording = self.open(self.recorded())
        every = list(recording.spans())
        self.assertEqual([r["id"] for r in recording.spans("job:inner")],
                         [r["id"] for r in every if r["name"] == "job:inner"])
        inner = list(recording.spans("job:inner"))
        self.assertEqual({r["depth"] for r in inner}, {1})  # inside spans that are not selected
        limit = sorted(r["duration_ns"] for r in every)[len(every) // 2]
        self.assertEqual([r["id"] for r in recording.spans(filter=f"$duration > {limit}")],
                         [r["id"] for r in every if r["duration_ns"] > limit])
        self.assertEqual(list(recording.spans(columns=["self_ns", "name"]).columns), ["self_ns", "name"])

    def test_that_do_not_nest(self):
        """As the generator says: which calls end in another order, which are open, and which are left."""
        rows = [(r["ts"] % 100000, r["tid"], r["name"], r["state"], r["duration_ns"], r["self_ns"], r["depth"])
                for r in self.open(self.generate("GEN_CALLS", "spans")).spans()]
        for row in ((400, 90, "kv:flush", "ended", 500, 500, 3), (1200, 90, "kv:put", "ended", 50, 50, 2),
                    (200, 90, "kv:put", "ended", 1100, 350, 1), (8300, 97, "syscalls:read", "left", 100, 100, 0),
                    (8400, 97, "syscalls:exit", "open", None, None, 0)):
            self.assertIn(row, rows)
        self.assertEqual(collections.Counter(r[3] for r in rows)["open"], 4)


class Calls(Case):
    def test_as_report(self):
        for scenario in ("calls", "spans", "whole", "lossy", "found"):
            with self.subTest(scenario):
                name = self.generate("GEN_CALLS", scenario)
                report = json.loads(self.ok("report", "-q", "--json", name))
                sums = collections.defaultdict(lambda: [0, 0])
                rows = list(self.open(name).calls())
                for row in rows:
                    if row["state"] in ("ended", "left"):
                        sums[row["pid"], row["address"]][0] += row["duration_ns"]
                        sums[row["pid"], row["address"]][1] += row["self_ns"]
                self.assertEqual(sorted(map(tuple, sums.values())),
                                 sorted((f["total_ns"], f["self_ns"]) for f in report["functions"] if f["total_ns"]))
                states = collections.Counter(row["state"] for row in rows)
                self.assertEqual([len(rows), *(states[s] for s in ("left", "open", "exit_lost"))],
                                 [report[s] for s in ("calls", "left", "open", "exit_lost")])


    def test_names(self):
        """The functions that hodo report shows, for a program with slots; also for recordings in parts or packed."""
        if not CALLS:
            self.skipTest("no program with slots can be built here")
        self.ok("record", "-q", "-o", "named", "--functions", CALLS)
        self.ok("pack", "-o", "named.hodo", "named")
        self.ok("record", "-q", "-o", "parts", "--rotate", "1M", "--functions", CALLS)
        shutil.rmtree(self.path("parts", ".symbols"))  # each part has its own symbols
        for name in ("named", "named.hodo", "parts"):
            report = json.loads(self.ok("report", "-q", "--json", name))
            rows = list(self.open(name).calls())
            self.assertEqual(collections.Counter(row["function"] for row in rows),
                             {f["function"]: f["calls"] for f in report["functions"]})
            by_id = {row["id"]: row for row in rows}
            self.assertTrue(all(row["parent"] == by_id[row["parent_id"]]["function"] for row in rows if row["depth"]))
            self.assertFalse(any(row["function"].startswith(("0x", "_Z")) for row in rows))
        recording = self.open("named")
        self.assertEqual(list(recording.calls(columns=["function", "depth"]).columns), ["function", "depth"])
        self.assertEqual(recording.calls(columns="parent")["parent"].nulls,
                         sum(1 for row in recording.calls() if not row["depth"]))
        self.assertNotIn("function", recording.calls(columns="address"))

    def test_stripped(self):
        """Functions without a symbol have the names that hodo report gives them, and the same ones in each process."""
        if not CALLS or not shutil.which("strip"):
            self.skipTest("no program with slots can be built here, or there is no strip")
        run("strip", "-o", self.path("bare"), CALLS, status=0)
        self.ok("record", "-q", "-o", "unnamed", "--functions", "sh", "-c", "./bare; ./bare")
        report = json.loads(self.ok("report", "-q", "--json", "unnamed"))
        recording = self.open("unnamed")
        rows = list(recording.calls())
        counts = collections.Counter(row["function"] for row in rows)
        self.assertEqual(counts, {f["function"]: f["calls"] for f in report["functions"]})
        self.assertTrue(all(re.fullmatch("[a-z]+[+]0x[0-9a-f]+", name) for name in counts), counts)
        bare = [row for row in rows if row["function"].startswith("bare+")] # the shell has functions, too
        self.assertEqual(len({row["pid"] for row in bare}), 2)
        self.assertEqual({counts[row["function"]] % 2 for row in bare}, {0})
        self.assertIn("/bare: functions are shown by address: the recording has not kept their symbols; 'hodo query' also "
                      "asks the symbol store", "\n".join(recording.warnings))
        by_id = {row["id"]: row for row in rows}
        self.assertTrue(all(row["parent"] == by_id[row["parent_id"]]["function"] for row in rows if row["depth"]))

    def test_without_symbols(self):
        rows = list(self.open(self.generate("GEN_CALLS", "calls")).calls())
        self.assertEqual({row["function"] for row in rows}, {hex(row["address"]) for row in rows})


class Damaged(Case):
    def damage(self, name, seed):
        """A copy in which some bytes of some files differ."""
        rnd = random.Random(seed)
        copy = f"damaged-{seed}"
        shutil.copytree(self.path(name), self.path(copy))
        files = sorted(os.path.join(folder, f) for folder, _, names in os.walk(self.path(copy)) for f in names)
        for path in rnd.sample(files, min(len(files), 2)):
            with open(path, "r+b") as file:
                data = bytearray(file.read())
                for _ in range(rnd.randrange(1, 20)):
                    data[rnd.randrange(len(data))] = rnd.randrange(256)
                file.seek(0)
                file.write(data[:rnd.randrange(len(data))] if seed % 4 == 0 else data)
                file.truncate()
        return copy

    def test_as_the_command(self):
        name = self.generate("GEN_TRACE", "all")
        damaged = 0
        for seed in range(40):
            copy = self.damage(name, seed)
            done = self.hodo("print", "-q", "--json", copy)
            with self.subTest(seed):
                try:
                    with hodo.open(self.path(copy)) as recording:
                        events = [plain(e.json) for e in recording.events()]
                        rows = len(recording.table())
                        recording.spans(), recording.calls(), recording.losses(), recording.processes
                        damaged += bool(recording.warnings)
                except hodo.OpenError as error:
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(str(error).splitlines()[0][:40], done.stderr)
                    continue
                self.assertEqual(events, [plain(json.loads(line)) for line in done.stdout.splitlines()])
                self.assertEqual(rows, len(events))
        self.assertGreater(damaged, 5)

    def test_says_so_once(self):
        name = self.generate("GEN_TRACE", "all")
        copy = next(c for c in (self.damage(name, seed) for seed in range(100, 140))
                    if "damaged" in self.hodo("print", c).stderr or "skipped" in self.hodo("print", c).stderr)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with hodo.open(self.path(copy)) as recording:
                list(recording.events())
                list(recording.events())
                said = recording.warnings
        caught = [w for w in caught if issubclass(w.category, hodo.RecordingWarning)]
        self.assertEqual({w.filename for w in caught}, {__file__})
        caught = [str(w.message) for w in caught]
        self.assertEqual(caught, said)
        self.assertTrue(said)
        self.assertEqual(len(said), len(set(said)))


class Closed(Case):
    def test_nothing_more_is_read(self):
        name = self.generate("GEN_TRACE", "fixed", 20000)
        recording = hodo.open(self.path(name))
        table = recording.table()
        events, batches = recording.events(), recording.batches(rows=100)
        first = next(events)
        next(batches)
        recording.close()
        recording.close()
        for use in (lambda: recording.processes, lambda: recording.classes, lambda: recording.lost, recording.losses,
                    recording.table, recording.spans, recording.calls, lambda: next(recording.events()),
                    lambda: next(recording.batches()), lambda: next(events), lambda: next(batches)):
            with self.assertRaisesRegex(hodo.ClosedError, "has been closed"):
                use()
        self.assertEqual(len(table["ts"].tolist()), 20000)  # what was already read stays
        self.assertTrue(first.fields)
        self.assertIn("(closed)", repr(recording))

    def test_with(self):
        with hodo.open(self.path(self.generate("GEN_TRACE", "all"))) as recording:
            self.assertTrue(list(recording.events()))
        with self.assertRaises(hodo.ClosedError):
            recording.table()


class Threads(Case):
    def test_at_once(self):
        name = self.generate("GEN_TRACE", "fixed", 30000)
        recording = self.open(name)
        alone = recording.table()["ts"].array(), len(recording.losses()), recording.lost

        def read(i):
            if i % 3 == 0:
                return recording.table()["ts"].array(), len(recording.losses()), recording.lost
            return [e.ts for e in recording.events()] == alone[0].tolist() and recording.processes[0].pid > 0

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            results = list(pool.map(read, range(18)))
        self.assertEqual([r for r in results if not isinstance(r, bool)], [alone] * 6)
        self.assertEqual([r for r in results if isinstance(r, bool)], [True] * 12)

    def test_closed_meanwhile(self):
        name = self.generate("GEN_TRACE", "fixed", 30000)
        for _ in range(10):
            recording = hodo.open(self.path(name))
            reading = threading.Barrier(3)
            ended = []

            def read(recording=recording, reading=reading, ended=ended):
                events = recording.events()
                next(events)
                reading.wait()
                try:
                    ended.append(sum(1 for _ in events))
                except hodo.ClosedError:
                    ended.append(None)

            threads = [threading.Thread(target=read) for _ in range(2)]
            for thread in threads:
                thread.start()
            reading.wait()
            recording.close()
            for thread in threads:
                thread.join()
            self.assertTrue(all(n in (None, 29999) for n in ended), ended)
            self.assertEqual(len(ended), 2)


class Leaks(Case):
    @staticmethod
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def use(self, path):
        with hodo.open(path) as recording:
            recording.table(), recording.spans(), recording.calls(), recording.processes, recording.losses()
            next(recording.events())  # and stays there
            for _ in recording.batches(rows=10):
                break
            try:
                recording.table(columns="none")
            except hodo.SelectionError:
                pass
        hodo.open(path)  # and is never closed

    def test_memory_and_files(self):
        for scenario in (("GEN_TRACE", "all"), ("GEN_CALLS", "spans")):
            path = self.path(self.generate(*scenario))
            for _ in range(20):
                self.use(path)
            gc.collect()
            files, grown = len(os.listdir("/proc/self/fd")), []
            # A reader that is not freed holds at least a hundred thousand bytes, a batch several hundred thousand: ten
            # million and more after each round. A heap that is cut up otherwise than before grows once.
            for _ in range(3):
                before = self.resident()
                for _ in range(100):
                    self.use(path)
                gc.collect()
                grown.append(self.resident() - before)
                self.assertEqual(len(os.listdir("/proc/self/fd")), files)
            self.assertLess(min(grown), 4 << 20, grown)


class Errors(Case):
    def test_open(self):
        with self.assertRaises(hodo.OpenError) as caught:
            hodo.open(self.path("none"))
        self.assertIn(self.path("none"), str(caught.exception))
        self.assertEqual(caught.exception.errno, 2)
        self.fails(1, str(caught.exception), "print", self.path("none"))
        with self.assertRaises(hodo.Error):
            hodo.open("/dev/null")
        shutil.copytree(self.path(self.generate("GEN_TRACE", "fixed", 10)), self.path("kv"))
        with self.assertRaisesRegex(hodo.OpenError, "has a NUL in it"):
            hodo.open(self.path("kv") + "\0.data")

    def test_names(self):
        """Tracebacks say what a script can write."""
        done = hodo_test.run(sys.executable, "-B", "-c", "import hodo; hodo.open('none')",
                             **self.how({"env": {**os.environ, "PYTHONPATH": SOURCE / "python"}}))
        self.assertRegex(done.stderr, r"(?m)^hodo\.OpenError: ")
        for name in ("Error", "OpenError", "SelectionError", "ReadError", "ClosedError", "RecordingWarning"):
            self.assertEqual(getattr(hodo, name).__module__, "hodo")

    def test_selections(self):
        recording = self.open(self.generate("GEN_TRACE", "all"))
        for selection, words in (({"filter": "shard =="}, "shard|expected|value"),
                                 ({"events": "a b"}, "cannot have spaces"), ({"events": ""}, "empty"),
                                 ({"columns": ["nothing"]}, "there is no column 'nothing'"),
                                 ({"filter": "a\0b"}, "NUL"), ({"since": math.nan}, "is no time")):
            with self.subTest(selection), self.assertRaisesRegex(hodo.SelectionError, words):
                recording.table(**selection)
        with self.assertRaises(KeyError):
            recording.table()["nothing"]  # pylint: disable=expression-not-assigned

    def test_library(self):
        """A missing or an older library gives an error that says so."""
        for library, words in ((self.path("none.so"), "HODO_READ_LIBRARY"), ("libc.so.6", "older than this")):
            done = hodo_test.run(sys.executable, "-B", "-c", "import hodo",
                                 **self.how({"env": {"HODO_READ_LIBRARY": library, "PYTHONPATH": SOURCE / "python"}}))
            self.assertIn("ImportError", done.stderr)
            self.assertIn(words, done.stderr)


class Recorded(Case):
    def test_processes(self):
        name = self.recorded()
        recording = self.open(name)
        info = json.loads(self.ok("stat", "-q", "--json", name))
        process = recording.processes[0]
        self.assertEqual(process.host, socket.gethostname())
        self.assertEqual(process.exe, os.path.realpath(TARGET))
        self.assertTrue(process.complete)
        self.assertEqual((process.uid, process.kernel, process.lost), (os.getuid(), None, 0))
        self.assertEqual(process.events, info["recorded"])
        self.assertEqual({row["host"] for row in recording.table()}, {socket.gethostname()})
        self.assertEqual({row["process"] for row in recording.table()}, {process.process})
        self.assertEqual(len(recording.table(host=socket.gethostname())), len(recording.table()))
        self.assertEqual((len(recording.table(host="nobody")), list(recording.events(host="nobody"))), (0, []))

    def test_figures(self):
        process = self.open(self.generate("GEN_TRACE", "all")).processes[0]
        self.assertEqual((process.process, process.pid, process.ppid, process.uid, process.exe, process.folder),
                         ("kvd", 412, 1, 1000, "/usr/bin/kvd", "kvd-412"))
        self.assertEqual((process.end_ns, process.complete, process.events, process.lost, process.host),
                         (1795000123000000001, True, 21, 15, None))

    def test_losses(self):
        name = self.generate("GEN_TRACE", "lost")
        recording = self.open(name)
        stat = json.loads(self.ok("stat", "-q", "--json", name))
        self.assertEqual(sum(recording.lost.values()), sum(p.lost for p in recording.processes))
        self.assertEqual(sum(recording.lost.values()), stat["discarded"] + stat["overwritten"])
        losses = recording.losses()
        self.assertTrue(losses)
        self.assertTrue(all(loss.ts <= loss.end_ns and loss.discarded + loss.overwritten + loss.damaged > 0
                            for loss in losses))

    def test_classes(self):
        classes = {c.name: c for c in self.open(self.recorded()).classes}
        self.assertEqual(classes["job:outer.begin"].fields, {"i": "i32", "half": "f64"})
        self.assertEqual(classes["job:outer.begin"].kind, "span_begin")
        self.assertTrue(classes["job:state"].file.endswith("target.c"))

    def test_context(self):
        name = self.recorded("--context", "cpu_time")
        recording = self.open(name)
        self.assertEqual([plain(e.json) for e in recording.events()], self.printed(name))
        table = recording.table("job:state")
        self.assertEqual(table["context_cpu_time"].tolist(),
                         [e.context["cpu_time"] for e in recording.events("job:state")])
        spans = recording.spans("job:outer", columns=["off_cpu_ns", "duration_ns"])
        self.assertEqual(spans["off_cpu_ns"].nulls, 0)
        self.assertTrue(all(row["off_cpu_ns"] <= row["duration_ns"] for row in spans))


class Numpy(Case):
    def test_values(self):
        need(self, "numpy", "python3-numpy")
        import numpy as np
        table = self.open(self.generate("GEN_TRACE", "all")).table()
        for name, column in table.columns.items():
            with self.subTest(name):
                wanted, values = column.tolist(), column.numpy()
                self.assertEqual(len(values), len(wanted))
                self.assertEqual(isinstance(values, np.ma.MaskedArray), column.nulls > 0 and values.dtype.kind != "O")
                got = [v.tolist() if isinstance(v, np.ndarray) else v for v in values.tolist()]
                self.assertEqual([repr(v) for v in got], [repr(v) for v in wanted])
        self.assertEqual(table["ts"].numpy().dtype, np.int64)
        self.assertEqual(table["single"].numpy().dtype, np.float32)


class Pandas(Case):
    def test_frame(self):
        need(self, "pandas", "python3-pandas")
        import pandas as pd
        recording = self.open(self.generate("GEN_TRACE", "all"))
        for table in (recording.table(), recording.table("kv:put"), recording.spans(), recording.table("none:*")):
            frame = table.pandas()
            self.assertEqual((len(frame), list(frame.columns)), (len(table), list(table.columns)))
            for name, column in table.columns.items():
                got = [None if v is None or v is pd.NA or (isinstance(v, float) and name in ("host", "parent",
                       "state_label")) else v.tolist() if hasattr(v, "tolist") else v for v in frame[name]]
                self.assertEqual([repr(v) for v in got], [repr(v) for v in column.tolist()], name)
        frame = recording.table("kv:put").pandas()
        self.assertEqual(str(frame["thread"].dtype), "category")
        self.assertEqual(str(frame["bytes"].dtype), "uint64")
        self.assertEqual(str(recording.table().pandas()["shard"].dtype), "Int32")
        self.assertEqual(len(pd.DataFrame(recording.processes)), 2)


class ByTheFormat:
    """Stands in for pyarrow if that is missing: reads what the module would hand to it, by the text of Arrow's columnar
    format, and has those of its functions that the module calls."""

    class Array(list):
        type = None

    @staticmethod
    def type_for_alias(name):
        return {"int": "bhiq", "uin": "BHIQ"}[name[:3]][{"8": 0, "16": 1, "32": 2, "64": 3}[name.lstrip("uint")]]

    def __getattr__(self, name):
        """int32(), float64(), bool_(), list_(type) …: letters of struct, or names for types without a letter."""
        if re.fullmatch(r"u?int\d+", name):
            return lambda: self.type_for_alias(name)
        return {"float32": lambda: "f", "float64": lambda: "d", "bool_": lambda: "bool", "string": lambda: "str",
                "binary": lambda: "bytes", "list_": lambda t: ("list", t), "dictionary": lambda i, t: ("texts", i),
                "py_buffer": bytes, "array": lambda values, kind: values, "table": dict,
                "chunked_array": lambda parts, kind: [v for part in parts for v in part]}[name]

    @classmethod
    def from_buffers(cls, kind, n, buffers, children=None):
        valid, rest = buffers[0], buffers[1:]
        if isinstance(kind, tuple) or kind in ("str", "bytes"):
            at = struct.unpack(f"<{n + 1}i", rest[0][:4 * (n + 1)])
            whole = children[0] if children else rest[1]
            values = [list(whole[a:b]) if children else whole[a:b] for a, b in zip(at, at[1:])]
            values = [v.decode() for v in values] if kind == "str" else values
        else:
            values = list(struct.unpack_from(f"<{n}{kind}", rest[0]))
        result = cls.Array(v if valid is None or valid[i // 8] >> i % 8 & 1 else None for i, v in enumerate(values))
        result.type = kind
        result.cast = lambda to: cls.cast(result, to)
        return result

    @classmethod
    def cast(cls, values, kind):
        result = cls.Array(None if v is None else bool(v) for v in values)
        result.type = kind
        return result

    class DictionaryArray:
        @staticmethod
        def from_arrays(numbers, texts):
            return [None if n is None else texts[n] for n in numbers]


ByTheFormat.Array.from_buffers = ByTheFormat.from_buffers


class Arrow(Case):
    def test_layout(self):
        with unittest.mock.patch.dict(sys.modules, {"pyarrow": ByTheFormat()}):
            recording = self.open(self.generate("GEN_TRACE", "all"))
            fixed = self.open(self.generate("GEN_TRACE", "fixed", 70000))
            for table in (recording.table(), recording.spans(), recording.table("none:*"), fixed.table()):
                arrow = table.arrow()
                self.assertEqual(list(arrow), list(table.columns))
                for name, column in table.columns.items():
                    self.assertEqual([repr(v) for v in arrow[name]], [repr(v) for v in column.tolist()], name)

    def test_table(self):
        need(self, "pyarrow", "which is not in Debian")
        recording = self.open(self.generate("GEN_TRACE", "all"))
        for table in (recording.table(), recording.spans(), recording.table("none:*")):
            arrow = table.arrow()
            arrow.validate(full=True)
            self.assertEqual(arrow.column_names, list(table.columns))
            for name, column in table.columns.items():
                self.assertEqual([repr(v) for v in arrow[name].to_pylist()], [repr(v) for v in column.tolist()], name)


class Types(Case):
    def test_mypy(self):
        if not shutil.which("mypy"):
            self.skipTest("mypy is missing: scripts/deps test")
        with open(self.path("mypy.ini"), "w", encoding="ascii") as file:
            file.write("[mypy]\n[mypy-numpy.*]\nfollow_imports = skip\nignore_missing_imports = True\n"
                       "[mypy-pandas.*]\nignore_missing_imports = True\n[mypy-pyarrow.*]\nignore_missing_imports = True\n")
        done = hodo_test.run("mypy", "--strict", "--python-version", "3.8", "--config-file", self.path("mypy.ini"),
                             "--cache-dir", self.path("cache"), SOURCE / "python" / "hodo")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue((SOURCE / "python/hodo/py.typed").exists())


if __name__ == "__main__":
    hodo_test.main()
