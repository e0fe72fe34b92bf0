#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo export --to pprof: read by protoc with the schema and by speedscope, and compared with print and graph."""
import ast
import collections
import gzip
import os
import re
import subprocess
import unittest

import profiles
from profiles import plain


def parse(text):
    """The output of protoc --decode: each message a dict of lists."""
    top = collections.defaultdict(list)
    stack = [top]
    for line in text.split("\n"):
        line = line.strip()
        if line.endswith("{"):
            message = collections.defaultdict(list)
            stack[-1][line[:-2]].append(message)
            stack.append(message)
        elif line == "}":
            stack.pop()
        elif line:
            name, _, value = line.partition(": ")
            stack[-1][name].append(ast.literal_eval("b" + value).decode() if value[0] == '"' else
                                   value == "true" if value in ("true", "false") else int(value))
    return top


def one(message, name):
    return message[name][0] if message[name] else 0


class Pprof(profiles.Speedscope):
    def read(self, recording):
        if "PROTOC" not in os.environ:
            raise unittest.SkipTest("there is no protoc: install Debian's package protobuf-compiler")
        path, warned = self.export("pprof", recording)
        schema = os.path.join(os.environ["SOURCE"], "src/export/calls")
        done = subprocess.run([os.environ["PROTOC"], "--decode=perftools.profiles.Profile", f"--proto_path={schema}",
                               "pprof.proto"], input=gzip.decompress(path.read_bytes()), capture_output=True,
                              check=True)
        profile = parse(done.stdout.decode())
        # The schema knows all fields.
        self.assertFalse([k for k in profile if k.isdigit()])
        return profile, warned

    def samples(self, profile):
        """path -> [calls, ns] by (pid, tid); checks that everything that has a name or number is there, once."""
        texts = profile["string_table"]
        self.assertEqual(texts[0], "")
        self.assertEqual(len(set(texts)), len(texts))
        self.assertEqual([(texts[one(t, "type")], texts[one(t, "unit")]) for t in profile["sample_type"]],
                         [("calls", "count"), ("time", "nanoseconds")])
        self.assertEqual(texts[one(profile, "default_sample_type")], "time")
        functions = {one(f, "id"): f for f in profile["function"]}
        locations = {one(l, "id"): l for l in profile["location"]}
        mappings = {one(m, "id"): m for m in profile["mapping"]}
        for by_id, all_of in ((functions, "function"), (locations, "location"), (mappings, "mapping")):
            self.assertEqual(len(by_id), len(profile[all_of]))
            self.assertNotIn(0, by_id)
        names = {}
        for i, l in locations.items():
            names[i] = texts[one(functions[one(l["line"][0], "function_id")], "name")]
            if l["mapping_id"]:
                m = mappings[one(l, "mapping_id")]
                self.assertTrue(one(m, "memory_start") <= one(l, "address") < one(m, "memory_limit"))
        result = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        for s in profile["sample"]:
            labels = {texts[one(l, "key")]: one(l, "num") or texts[one(l, "str")] for l in s["label"]}
            path = tuple(names[i] for i in reversed(s["location_id"]))
            values = result[labels["process_id"], labels["thread_id"]][path]
            values[0] += s["value"][0]
            values[1] += s["value"][1]
        return result

    def test_is_what_was_recorded(self):
        for recording in (self.record_names(), self.record_traced(), self.make("kinds"), self.make("fork"),
                          self.make("many", 20000)):
            with self.subTest(recording):
                profile, _ = self.read(recording)
                self.assertEqual(self.samples(profile), {
                    thread: {tuple(plain(n) if n else "?" for n in path): v for path, v in paths.items()}
                    for thread, paths in self.paths(recording).items() if paths})

    def test_hostile_names(self):
        """Hostile names of events, threads and processes."""
        profile, _ = self.read(self.hostile())
        self.assertTrue(self.samples(profile))
        self.assertIn("<b>\"\\\\n\\xff,", profile["string_table"])

    def test_objects(self):
        profile, _ = self.read(self.record_names(2))
        texts = profile["string_table"]
        mapping, = [m for m in profile["mapping"] if texts[one(m, "filename")] == str(self.dir / "names")]
        notes = self.ok("readelf", "-n", "names").decode()
        self.assertEqual(texts[one(mapping, "build_id")], re.search(r"Build ID: (\w+)", notes)[1])
        # A location's address is the function's address in the file, moved to where the file was mapped.
        symbols = {name: int(value, 16) for value, name in re.findall(r"(?m)^([0-9a-f]+) T (main)$", self.ok(
            "nm", "names").decode(errors="replace"))}
        function, = [f for f in profile["function"] if texts[one(f, "name")] == "main"]
        location, = [l for l in profile["location"] if one(l["line"][0], "function_id") == one(function, "id")]
        self.assertEqual((one(location, "address") - symbols["main"]) % 4096, 0)
        self.assertEqual(one(location, "mapping_id"), one(mapping, "id"))

    def test_speedscope_reads_it(self):
        recording = self.record_names()
        self.export("pprof", recording)
        read = self.imported(self.dir / "named.pprof", "named.pb.gz")
        self.assertIn("Importing as protobuf encoded pprof file", read["said"])
        self.assertEqual(read["profiles"][0]["unit"], "nanoseconds")
        times = {f["name"]: (f["self"], f["total"]) for f in read["profiles"][0]["frames"]}
        for name, (_, self_ns, total_ns) in profiles.by_function(self.paths(recording)).items():
            self.assertEqual(times[plain(name)], (self_ns, total_ns), name)

    def test_nothing(self):
        profile, warned = self.read(self.make("found"))
        self.assertEqual(self.samples(profile), {})
        self.assertIn("no spans and no calls of functions", warned)


if __name__ == "__main__":
    profiles.main()
