#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo export --to firefox: checked against what its version 63 documents, read by the profiler's own command line, and
compared with print and graph."""
import collections
import json
import os
import subprocess
import time
import unittest

import profiles

TEXT, NUMBER, FLAG = (str,), (int, float), (bool,)


def null(*types):
    return types + (type(None),)


# firefox-devtools/profiler, src/types/profile.ts at version 63: the columns of each table, and their types.
STACKS = {"frame": "frameTable", "prefix": ("stackTable", None)}
FRAMES = {"address": NUMBER, "inlineDepth": NUMBER, "category": "categories", "subcategory": NUMBER,
          "func": "funcTable", "nativeSymbol": ("nativeSymbols", None), "innerWindowID": null(int),
          "line": null(int), "column": null(int)}
FUNCTIONS = {"name": "strings", "isJS": FLAG, "relevantForJS": FLAG, "resource": ("resourceTable", -1),
             "source": ("sources", None), "lineNumber": null(int), "columnNumber": null(int)}
RESOURCES = {"lib": ("libs", None), "name": "strings", "host": ("strings", None), "type": NUMBER}
SYMBOLS = {"libIndex": "libs", "address": NUMBER, "name": "strings", "functionSize": null(int)}
SOURCES = {"id": null(str), "filename": "strings", "startLine": NUMBER, "startColumn": NUMBER,
           "sourceMapURL": ("strings", None)}
SAMPLES = {"stack": ("stackTable", None), "time": NUMBER, "weight": NUMBER}
MARKERS = {"data": null(dict), "name": "strings", "startTime": null(int, float), "endTime": null(int, float),
           "phase": NUMBER, "category": "categories"}
COUNTER = {"time": NUMBER, "number": NUMBER, "count": NUMBER}
THREAD = {"processType": TEXT, "processStartupTime": NUMBER, "processShutdownTime": null(int), "registerTime": NUMBER,
          "unregisterTime": null(int), "pausedRanges": (list,), "name": TEXT, "isMainThread": FLAG, "pid": TEXT,
          "tid": (int, str), "samples": (dict,), "markers": (dict,)}
META = {"interval": NUMBER, "startTime": NUMBER, "processType": NUMBER, "product": TEXT, "stackwalk": NUMBER,
        "version": NUMBER, "preprocessedProfileVersion": NUMBER, "markerSchema": (list,), "categories": (list,)}
LIB = {"arch": TEXT, "name": TEXT, "path": TEXT, "debugName": TEXT, "debugPath": TEXT, "breakpadId": TEXT,
       "codeId": null(str)}
FORMATS = {"string", "integer", "decimal"}


class Firefox(profiles.Case):
    def read(self, recording):
        path, warned = self.export("firefox", recording)
        def unique(pairs):
            self.assertEqual(len(dict(pairs)), len(pairs))
            return dict(pairs)
        return json.loads(path.read_bytes(), object_pairs_hook=unique), warned

    # -------------------------------------------------------------- documented

    def check_object(self, value, fields):
        for name, types in fields.items():
            self.assertIsInstance(value[name], types, name)

    def check_table(self, table, columns, sizes):
        for name, what in columns.items():
            self.assertEqual(len(table[name]), table["length"], name)
            table_of, none = (what, ()) if isinstance(what, str) else what if isinstance(what[0], str) else (None, ())
            for cell in table[name]:
                if table_of is None:
                    self.assertIsInstance(cell, what, name)
                elif none == () or cell != none:
                    self.assertIsInstance(cell, int, name)
                    self.assertTrue(0 <= cell < sizes[table_of], (name, cell))
        self.assertLessEqual({k for k, v in table.items() if isinstance(v, list)}, set(columns))

    def check_markers(self, markers, schemas, end):
        for data, start, stop, phase in zip(markers["data"], markers["startTime"], markers["endTime"],
                                            markers["phase"]):
            self.assertIn(phase, (0, 1))
            self.assertTrue(0 <= start <= end)
            self.assertTrue(stop is None if phase == 0 else start <= stop <= end)
            if data is not None:
                fields = {f["key"]: f["format"] for f in schemas[data["type"]]["fields"]}
                for key, value in data.items():
                    if key != "type":
                        self.assertIsInstance(value, TEXT if fields[key] == "string" else NUMBER)

    def check(self, profile):
        shared, meta = profile["shared"], profile["meta"]
        sizes = {name: table["length"] for name, table in shared.items() if isinstance(table, dict)}
        sizes.update(strings=len(shared["stringArray"]), libs=len(profile["libs"]),
                     categories=len(meta["categories"]))
        for name, columns in (("stackTable", STACKS), ("frameTable", FRAMES), ("funcTable", FUNCTIONS),
                              ("resourceTable", RESOURCES), ("nativeSymbols", SYMBOLS), ("sources", SOURCES)):
            self.check_table(shared[name], columns, sizes)
        for i, prefix in enumerate(shared["stackTable"]["prefix"]):
            self.assertTrue(prefix is None or prefix < i)
        self.check_object(meta, META)
        self.assertEqual(meta["preprocessedProfileVersion"], 63)
        self.assertIn("grey", [c["color"] for c in meta["categories"]])
        schemas = {s["name"]: s for s in meta["markerSchema"]}
        self.assertEqual(len(schemas), len(meta["markerSchema"]))
        for schema in meta["markerSchema"]:
            for f in schema["fields"]:
                self.assertTrue(f["format"] in FORMATS and isinstance(f["label"], str))
        for thread in profile["threads"]:
            self.check_object(thread, THREAD)
            self.check_table(thread["samples"], SAMPLES, sizes)
            self.check_table(thread["markers"], MARKERS, sizes)
            self.assertEqual(thread["samples"]["weightType"], "tracing-ms")
            self.assertGreaterEqual(thread["samples"]["length"], 2)
            self.assertEqual(sorted(thread["samples"]["time"]), thread["samples"]["time"])
            self.check_markers(thread["markers"], schemas, meta["profilingEndTime"])
        for lib in profile["libs"]:
            self.check_object(lib, LIB)
        for counter in profile["counters"]:
            self.check_table(counter["samples"], COUNTER, sizes)
            self.assertEqual(profile["threads"][counter["mainThreadIndex"]]["pid"], counter["pid"])

    def test_documented(self):
        for recording in (self.record_names(2), self.record_traced(5), self.hostile(), self.make("calls"),
                          self.make("whole"), self.make("kinds"), self.make("found"), self.make("lossy"),
                          self.make("mad", 5)):
            with self.subTest(recording):
                profile, _ = self.read(recording)
                self.check(profile)
                profile["shared"]["stackTable"]["length"] += 1
                with self.assertRaises(AssertionError):
                    self.check(profile)

    # ----------------------------------------------------------------- content

    def self_times(self, profile):
        """path -> ns, by (pid, tid); without paths that took no time."""
        shared, result = profile["shared"], {}
        paths = []
        for frame, prefix in zip(shared["stackTable"]["frame"], shared["stackTable"]["prefix"]):
            name = shared["stringArray"][shared["funcTable"]["name"][shared["frameTable"]["func"][frame]]]
            paths.append((() if prefix is None else paths[prefix]) + (name,))
        for thread in profile["threads"]:
            if isinstance(thread["tid"], str):
                continue
            sums = result[int(thread["pid"]), thread["tid"]] = collections.Counter()
            samples = thread["samples"]
            for i, (stack, weight) in enumerate(zip(samples["stack"], samples["weight"])):
                if stack is not None:
                    sums[paths[stack]] += round(weight * 1e6)
                    # A sample lasts until the next one begins.
                    self.assertAlmostEqual(samples["time"][i] + weight, samples["time"][i + 1], places=6)
        return {thread: sums for thread, sums in result.items() if sums}

    def test_times_are_what_was_recorded(self):
        for recording in (self.record_names(), self.record_traced(), self.make("kinds"), self.make("fork"),
                          self.make("many", 20000)):
            with self.subTest(recording):
                profile, _ = self.read(recording)
                expected = {thread: {p: ns for p, (_, ns) in paths.items() if ns}
                            for thread, paths in self.paths(recording).items()}
                self.assertEqual(self.self_times(profile), {t: p for t, p in expected.items() if p})

    def test_markers_and_counters(self):
        recording = self.record_traced(20)
        profile, warned = self.read(recording)
        self.assertNotIn("no place", warned)
        events = [json.loads(line) for line in self.ok(profiles.HODO, "print", "--json", "-q", recording).splitlines()]
        names = collections.Counter(e["name"].removesuffix(".begin") for e in events
                                    if not e["name"].endswith(".end") and not e["name"].startswith("func:"))
        strings = profile["shared"]["stringArray"]
        got = collections.Counter(strings[n] for t in profile["threads"] for n in t["markers"]["name"])
        counters = {c["name"]: c["samples"] for c in profile["counters"]}
        got.update({name: samples["length"] for name, samples in counters.items()})
        self.assertEqual({n: c for n, c in got.items() if not n.startswith("func:")}, names)
        self.assertEqual(counters["kv:load"]["number"], [n * 0.5 for n in range(20)])
        self.assertEqual(sum(counters["kv:cache_bytes"]["count"]), 4096 * 19 - 10)
        # The fields of the last event of each kind.
        schemas = {s["name"]: s for s in profile["meta"]["markerSchema"]}
        said = {data["type"]: {f["label"]: data.get(f["key"]) for f in schemas[data["type"]]["fields"]}
                for t in profile["threads"] for data in t["markers"]["data"] if data}
        self.assertEqual(said["kv:note"], {"text": "request 19 of somebody"})
        self.assertEqual(said["kv:lookup"], {"n": 20, "key": "user:1747", "ratio": 2.5})
        all_of = said["kv:all"]
        self.assertEqual((all_of["huge"], all_of["small"]), (str(2**64 - 1 - 19), -19))
        self.assertEqual((all_of["sizes"], all_of["nothing"], all_of["empty"]), ("[10,200,-3000]", "(null)", ""))
        self.assertEqual(all_of["name"], [e for e in events if e["name"] == "kv:all"][-1]["fields"]["name"])
        self.assertIn("BUSY", all_of["state"])
        self.assertEqual(said["kv:handle.begin"], {"n": 19})

    def test_losses(self):
        recording = self.generate("all")
        profile, _ = self.read(recording)
        self.check(profile)
        rows = [t["markers"] for t in profile["threads"] if str(t["tid"]).startswith("lost-")]
        lost = json.loads(self.ok(profiles.HODO, "stat", "--json", "-q", recording))
        self.assertGreater(lost["discarded"] + lost["overwritten"], 0)
        self.assertEqual([sum(d[kind] for r in rows for d in r["data"]) for kind in ("discarded", "overwritten")],
                         [lost["discarded"], lost["overwritten"]])

    # ------------------------------------------------------------------ reader

    def serve(self, recording):
        """One process of the profiler's command line holds the profile, others ask it. Returns a function that
        asks: arguments -> the JSON that it prints."""
        modules, why = profiles.node_modules()
        if not modules:
            raise unittest.SkipTest(why)
        path, _ = self.export("firefox", recording)
        script = modules / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"
        environment = dict(os.environ, PROFILER_CLI_SESSION_DIR=str(self.dir / "s"), HOME=str(self.dir),
                           PROFILER_CLI_NO_SYMBOLICATE="1")
        server = subprocess.Popen(["node", script, "--daemon", path, "--session", recording], env=environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        def end():
            server.kill()
            server.communicate()
        self.addCleanup(end)
        def ask(*args):
            done = subprocess.run(["node", script, *args, "--session", recording, "--json"], env=environment,
                                  capture_output=True, check=False, timeout=600)
            self.assertEqual(done.returncode, 0, done.stderr[-1000:])
            return json.loads(done.stdout)
        # A process that asks before it is ready takes it for dead, and removes its files.
        until, log = time.monotonic() + 120, self.dir / "s" / f"{recording}.log"
        while time.monotonic() < until:
            self.assertIsNone(server.poll(), "the profiler has ended")
            said = log.read_text() if log.exists() else ""
            self.assertNotIn("Failed to load", said)
            if "Profile loaded successfully" in said:
                return ask
            time.sleep(0.05)
        return self.fail("the profiler does not load what it is given")

    def test_the_profiler_reads_functions(self):
        ask = self.serve(self.record_names())
        times = {f["name"]: (round(f["selfSamples"] * 1e6), round(f["totalSamples"] * 1e6))
                 for f in ask("thread", "functions")["functions"]}
        expected = profiles.by_function(self.paths("named"))
        self.assertEqual({n: t for n, t in times.items() if n in expected},
                         {n: (s, t) for n, (_, s, t) in expected.items()})

    def test_the_profiler_reads_markers_and_counters(self):
        ask = self.serve(self.record_traced(20))
        names = [t["name"] for t in ask("thread", "list")["threads"]]
        self.assertEqual(len(names), 3)
        self.assertLessEqual({"kv:request", 'w"<b>\n\xff,'}, set(names))
        marks = ask("profile", "markers", "--search", "somebody")
        self.assertEqual([(m["name"], m["label"]) for m in marks["markers"]],
                         [("kv:note", f"request {i} of somebody") for i in range(20)])
        self.assertIn("kv:cache_bytes", json.dumps(ask("counter", "list")))


if __name__ == "__main__":
    profiles.main()
