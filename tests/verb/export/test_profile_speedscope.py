#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo export --to speedscope: checked by its schema and its importer, and compared with what print and graph say."""
import collections
import json
import unittest

import profiles


def faults(schema, value, root=None, at="$"):
    """Violations of a JSON schema; supports as much of JSON Schema as speedscope's uses."""
    root = root or schema
    if "$ref" in schema:
        yield from faults(root["definitions"][schema["$ref"].removeprefix("#/definitions/")], value, root, at)
    if "anyOf" in schema and all(next(faults(s, value, root, at), None) for s in schema["anyOf"]):
        yield f"{at}: none of those it may be"
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r}"
    types = {"object": dict, "array": list, "string": str, "number": (int, float)}
    if "type" in schema and not isinstance(value, types[schema["type"]]):
        yield f"{at}: {type(value)}"
        return
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at}: no {name}"
    for name, inner in schema.get("properties", {}).items():
        if isinstance(value, dict) and name in value:
            yield from faults(inner, value[name], root, f"{at}.{name}")
    if "items" in schema:
        for i, item in enumerate(value):
            yield from faults(schema["items"], item, root, f"{at}[{i}]")


class Speedscope(profiles.Speedscope):
    def read(self, recording):
        path, warned = self.export("speedscope", recording)
        return json.loads(path.read_bytes()), warned

    def replay(self, data):
        """path -> [calls, ns], over all threads; checks order and nesting."""
        sums = collections.defaultdict(lambda: [0, 0])
        names = [f["name"] for f in data["shared"]["frames"]]
        for profile in data["profiles"]:
            now, stack = profile["startValue"], []
            for e in profile["events"]:
                self.assertGreaterEqual(e["at"], now)
                if stack:
                    sums[tuple(names[f] for f in stack)][1] += e["at"] - now
                now = e["at"]
                if e["type"] == "O":
                    stack.append(e["frame"])
                    sums[tuple(names[f] for f in stack)][0] += 1
                else:
                    self.assertEqual(stack.pop(), e["frame"])
            self.assertEqual(stack, [])
            self.assertLessEqual(now, profile["endValue"])
        return sums

    def expected(self, recording):
        sums = collections.defaultdict(lambda: [0, 0])
        for thread in self.paths(recording).values():
            for path, (calls, ns) in thread.items():
                sums[path][0] += calls
                sums[path][1] += ns
        return sums

    def test_is_what_was_recorded(self):
        for recording in (self.record_names(), self.record_traced(), self.make("kinds"), self.make("fork"),
                          self.make("many", 20000)):
            with self.subTest(recording):
                data, _ = self.read(recording)
                self.assertEqual(self.replay(data), self.expected(recording))

    def test_schema(self):
        modules, why = profiles.node_modules()
        if not modules:
            raise unittest.SkipTest(why)
        schema = json.loads((modules / "speedscope/dist/release/file-format-schema.json").read_text())
        for recording in (self.record_names(2), self.record_traced(5), self.make("calls"), self.make("whole"),
                          self.make("found"), self.make("lossy")):
            with self.subTest(recording):
                data, _ = self.read(recording)
                self.assertEqual(list(faults(schema, data)), [])
                data["profiles"][0]["unit"] = "hours"
                self.assertTrue(list(faults(schema, data)))

    def test_speedscope_reads_it(self):
        for recording in (self.record_names(), self.record_traced(), self.hostile(), self.make("calls"),
                          self.make("whole"), self.make("found"), self.make("mad", 3)):
            with self.subTest(recording):
                data, _ = self.read(recording)
                read = self.imported(self.dir / f"{recording}.speedscope")
                self.assertIn("Importing as speedscope json file", read["said"])
                self.assertEqual([p["name"] for p in read["profiles"]], [p["name"] for p in data["profiles"]])
                self.assertEqual([p["total"] for p in read["profiles"]],
                                 [p["endValue"] - p["startValue"] for p in data["profiles"]])
        read = self.imported(self.dir / "named.speedscope")
        times = {f["name"]: (f["self"], f["total"]) for f in read["profiles"][0]["frames"]}
        for name, (_, self_ns, total_ns) in profiles.by_function(self.paths("named")).items():
            self.assertEqual(times[name], (self_ns, total_ns), name)

    def test_speedscope_reads_trace_events(self):
        """Speedscope pairs begins and ends by name; arguments, which only a span's begin has, are in the name there."""
        for recording in (self.record_names(), self.record_traced()):
            with self.subTest(recording):
                path, _ = self.export("chrome", recording)
                read = self.imported(path, "trace.json")
                self.assertIn("Importing as Trace Event Format profile", read["said"])
                self.assertEqual([s for s in read["said"] if s.endswith("Doing nothing instead.")], [])
                ours, theirs = collections.Counter(), collections.Counter()
                for thread in self.paths(recording).values():
                    for path, (_, ns) in thread.items():
                        ours[path[-1]] += ns
                for frame in (f for p in read["profiles"] for f in p["frames"]):
                    name = frame["name"].split(" {")[0] if frame["name"].startswith("kv:") else frame["name"]
                    theirs[name] += round(frame["self"] * 1000)
                self.assertEqual(theirs, ours)

    def test_calls_known_at_their_end_have_what_lies_in_them(self):
        data, _ = self.read(self.make("whole"))
        self.assertGreater(len(self.replay(data)), 4)


if __name__ == "__main__":
    profiles.main()
