#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One grammar of time: the same texts against every option, filter and rate that takes a time."""
from hodo_test import Case, main

UNITS = ["2ns", "1.5us", "5ms", "100ms", "0.5s", "10s", "2m", "0.5m", "1h", "1d", "0.25h"]
BARE = ["10", "0.5", ".5", "0.000000001"]
WRONG = ["", "soon", "ms", "1.", "1.s", "-1", "+1", " 1s", "1 s", "1sec", "10ss", "1S", "1:30", "1h30m", "1e3s",
         "0x10s", "1.2.3s", "0.0000000001s", "99999999999999d"]
SAID = "(ns, us, ms, s, m, h, d)"
NOWHERE = "/nonexistent/hodo-test"


class Times(Case):
    SHARED = True

    def setUp(self):
        super().setUp()
        self.data = self.generate("GEN_TRACE", "all")

    def takes(self, option, before, after, bare, out_of_bounds=()):
        """The option takes every time that it should and refuses the rest with a message that says what it takes."""
        for text in UNITS + (BARE if bare else []):
            done = self.hodo(*before, f"{option}={text}" if option.startswith("--") else option + text, *after)
            if text in out_of_bounds:
                self.assertEqual(done.returncode, 2, (before, option, text))
                self.assertIn(f"{option} is a time from ", done.stderr)
            else:
                self.assertNotIn("is a time", done.stderr, (before, option, text))
                self.assertNotEqual(done.returncode, 2, (before, option, text, done.stderr))
        for text in WRONG + ([] if bare else BARE):
            if not text and not option.startswith("--"):
                continue
            done = self.hodo(*before, f"{option}={text}" if option.startswith("--") else option + text, *after)
            self.assertEqual(done.returncode, 2, (before, option, text))
            self.assertIn(f"{option} is a time such as ", done.stderr)
            self.assertIn(SAID, done.stderr)
            self.assertIn(f"'{text}'", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_ranges(self):
        for verb in ("print", "graph", "report"):
            for option in ("--since", "--until"):
                self.takes(option, [verb], [self.data], bare=True)
        for option in ("--since", "--until"):
            self.takes(option, ["export", "--to=jsonl"], [self.data], bare=True)
            self.takes(option, ["view", "-o", "page.html"], [self.data], bare=True)

    def test_since_means_it(self):
        """5ms after the begin means the same as 0.005, and a time since the epoch keeps its meaning."""
        all_lines = self.hodo("print", "--json", self.data).stdout.splitlines()
        first, last = (int(line.split('"ts":')[1].split(",")[0]) for line in (all_lines[0], all_lines[-1]))
        span = last - first
        self.assertGreater(span, 1)
        half = span // 2
        expected = sum(int(line.split('"ts":')[1].split(",")[0]) >= first + half for line in all_lines)
        for text in (f"{half}ns", f"{half // 1000000000}.{half % 1000000000:09}",
                     f"{(first + half) // 1000000000}.{(first + half) % 1000000000:09}", f"{first + half}ns"):
            lines = self.hodo("print", "--json", "--since", text, self.data).stdout.splitlines()
            self.assertEqual(len(lines), expected, text)
        self.assertLess(expected, len(all_lines))

    def test_graph(self):
        self.takes("--min-time", ["graph"], [self.data], bare=False)

    def test_record(self):
        for option, bare in (("--duration", True), ("--packet-age", True)):
            self.takes(option, ["record"], ["--", NOWHERE], bare)
        self.takes("--min-time", ["record", "--functions"], ["--", NOWHERE], bare=False)

    def test_record_rotate(self):
        """A time or a size: a time needs its unit, and a capital M means a size."""
        for text in ("5ms", "0.5s", "30s", "5m", "2h", "1d", "64M", "1G"):
            done = self.hodo("record", "--rotate", text, "--", NOWHERE)
            self.assertEqual(done.returncode, 127, (text, done.stderr))
        for text in ("30", "0.5", "5ns", "soon", "", "1.s", "10ss", "0m"):
            done = self.hodo("record", "--rotate", text, "--", NOWHERE)
            self.assertEqual(done.returncode, 2, (text, done.stderr))
            self.assertIn("--rotate is a size such as 64M, or a time such as 30s or 5m", done.stderr)

    def test_top(self):
        nobody = "4194304"  # above the largest pid_max
        self.takes("--duration", ["top", "--batch"], [nobody], bare=True)
        self.takes("-d", ["top", "--batch"], [nobody], bare=True,
                   out_of_bounds=("2ns", "1.5us", "5ms", "0.000000001", "1d"))

    def test_filters(self):
        for text in UNITS:
            done = self.hodo("print", "--filter", f"$duration > {text}", self.data)
            self.assertEqual(done.returncode, 0, (text, done.stderr))
        for text in ("1sec", "10ss", "1h30m", "1y"):
            done = self.hodo("print", "--filter", f"$duration > {text}", self.data)
            self.assertEqual(done.returncode, 2, (text, done.stderr))

    def test_rates(self):
        for unit in ("ns", "us", "ms", "s", "m", "h", "d"):
            done = self.hodo("record", "--rate", f"kv:get=5/{unit}:2", "--", NOWHERE)
            self.assertEqual(done.returncode, 127, (unit, done.stderr))
        for unit in ("", "y", "sec", "S", "ss"):
            done = self.hodo("record", "--rate", f"kv:get=5/{unit}", "--", NOWHERE)
            self.assertEqual(done.returncode, 2, (unit, done.stderr))
            self.assertIn("expected ns, us, ms, s, m, h or d", done.stderr)


main()
