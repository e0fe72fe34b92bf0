#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo export --to folded: read by speedscope, compared with the output of print and graph."""
import collections

import profiles
from profiles import plain


class Folded(profiles.Speedscope):
    def lines(self, recording):
        """path without the thread's name -> ns; and the warnings."""
        path, warned = self.export("folded", recording)
        text = path.read_bytes().decode()
        self.assertTrue(text == "" or text.endswith("\n"))
        self.assertFalse([c for c in text if ord(c) < 32 and c != "\n" or c == "\x7f"])
        result = collections.Counter()
        for line in text.split("\n")[:-1]:
            self.assertRegex(line, r"^[^\n]+ [1-9][0-9]*$")
            names, _, ns = line.rpartition(" ")
            result[tuple(names.split(";")[1:])] += int(ns)
        return result, warned

    def expected(self, recording):
        sums = collections.Counter()
        for thread in self.paths(recording).values():
            for path, (_, self_ns) in thread.items():
                if self_ns:
                    sums[tuple(plain(name).replace(";", ":") for name in path)] += self_ns
        return sums

    def test_is_what_was_recorded(self):
        for recording in (self.record_names(), self.record_traced(), self.make("kinds"), self.make("fork"),
                          self.make("many", 20000)):
            with self.subTest(recording):
                lines, _ = self.lines(recording)
                self.assertTrue(lines)
                self.assertEqual(lines, self.expected(recording))

    def test_speedscope_reads_it(self):
        recording = self.record_names()
        lines, _ = self.lines(recording)
        read = self.imported(self.dir / "named.folded", "named.txt")
        self.assertIn("Importing as collapsed stack format", read["said"])
        self.assertEqual(read["profiles"][0]["total"], sum(lines.values()))
        times = {f["name"]: f["self"] for f in read["profiles"][0]["frames"] if f["name"] != "names"}
        for name, (_, self_ns, _) in profiles.by_function(self.paths(recording)).items():
            self.assertEqual(times[plain(name).replace(";", ":")], self_ns, name)

    def test_what_has_no_place_is_told(self):
        _, warned = self.lines(self.record_traced(50))
        self.assertRegex(warned, r"201 events and marks, 100 values of counters, 51 spans paired by their ids")
        lines, warned = self.lines(self.make("found"))
        self.assertFalse(lines)
        self.assertIn("no spans and no calls of functions", warned)

    def test_exits_that_were_lost_are_told(self):
        lines, warned = self.lines(self.make("exit_lost"))
        self.assertIn("3 calls and spans have lost the end: the time lasts until that was noticed", warned)
        self.assertEqual(lines, self.expected(self.make("exit_lost")))
        _, warned = self.lines(self.make("calls"))
        self.assertNotIn("lost the end", warned)

    def test_what_is_too_deep_is_added_up(self):
        recording = self.make("deep", 3000)
        lines, warned = self.lines(recording)
        deepest = max(lines, key=len)
        self.assertEqual((len(deepest), deepest[-1]), (1025, "[other]"))
        self.assertEqual(sum(lines.values()), sum(self.expected(recording).values()))
        self.assertEqual(lines[deepest], sum(ns for path, ns in self.expected(recording).items() if len(path) > 1024))
        self.assertRegex(warned, r"\b1976 calls are too deep: their time is in \[other\]")


if __name__ == "__main__":
    profiles.main()
