#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo export --to callgrind: read by callgrind_annotate and speedscope, and compared with hodo report."""
import collections
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import profiles
from profiles import plain


def blank_is_question(name):
    return plain(name) if name.strip() else "?"


class Callgrind(profiles.Speedscope):
    def annotated(self, path, *options):
        """name -> ns, according to callgrind_annotate; and its total."""
        if not shutil.which("callgrind_annotate"):
            raise unittest.SkipTest("there is no callgrind_annotate: install Debian's package valgrind")
        text = self.ok("callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no", *options, path).decode()
        total = int(re.search(r"(?m)^\s*([\d,]+)\s+PROGRAM TOTALS$", text)[1].replace(",", ""))
        sums = collections.Counter()
        rows = text.split("file:function")[1].split("\n", 2)[2]
        for ns, name in re.findall(r"(?m)^\s*([\d,]+)\s+[^:\n]*:(.*) \[[^\[\]]*\]\s*$", rows):
            sums[name] += int(ns.replace(",", ""))
        return sums, total

    def arcs(self, path):
        """(caller, callee) -> calls, from the file itself; also checks the numbers of its names."""
        names, result = {}, collections.Counter()
        caller = callee = None
        for line in path.read_bytes().decode().split("\n"):
            found = re.fullmatch(r"(c?fn)=\((\d+)\)(?: (.*))?", line)
            if found:
                self.assertEqual(found[2] in names, found[3] is None, line)
                name = names.setdefault(found[2], found[3])
                caller, callee = (caller, name) if found[1] == "cfn" else (name, None)
            elif line.startswith("calls="):
                result[caller, callee] += int(line[6:].split()[0])
        return result

    def test_times_are_those_of_the_report(self):
        for recording in (self.record_names(), self.make("many", 20000), self.make("fork")):
            with self.subTest(recording):
                path, _ = self.export("callgrind", recording)
                report = profiles.by_function(self.paths(recording))
                if recording == "named":
                    self.assertEqual(report, self.report(recording))
                own, total = self.annotated(path)
                self.assertEqual(total, sum(self_ns for _, self_ns, _ in report.values()))
                inclusive, _ = self.annotated(path, "--inclusive=yes")
                arcs = self.arcs(path)
                for name, (calls, self_ns, total_ns) in report.items():
                    name = blank_is_question(name)
                    # callgrind_annotate ignores blanks before a name.
                    self.assertEqual((own[name.lstrip(" ")], inclusive[name.lstrip(" ")]), (self_ns, total_ns), name)
                    self.assertEqual(sum(n for (_, to), n in arcs.items() if to == name), calls)

    def test_callers(self):
        path, _ = self.export("callgrind", self.record_names(7))
        arcs = self.arcs(path)
        self.assertEqual(arcs["[names]", "main"], 1)
        self.assertEqual(arcs["main", "once(int)"], 7)
        down, even, odd = (f"shop::(anonymous namespace)::{n}(int)" for n in ("down", "even", "odd"))
        self.assertEqual((arcs["once(int)", down], arcs[down, down]), (7, 21))
        self.assertEqual((arcs["once(int)", even], arcs[even, odd], arcs[odd, even]), (7, 14, 14))

    def test_spans_and_files(self):
        path, warned = self.export("callgrind", self.record_traced(5))
        own, _ = self.annotated(path)
        for name, (_, self_ns, _) in profiles.by_function(self.paths("traced")).items():
            self.assertEqual(own[name], self_ns)
        self.assertRegex(path.read_text(), r"(?m)^c?fl=\(\d+\) .*traced\.c$")
        self.assertIn("10 values of counters", warned)

    def test_hostile_names(self):
        """Hostile names of events, threads and processes."""
        path, _ = self.export("callgrind", self.hostile())
        text = path.read_text()
        self.assertEqual(self.annotated(path)[1], int(text.split("\nsummary: ")[1].split()[0]))
        self.assertIn('[<b>"\\\\n\\xff,]\n', text)

    def test_speedscope_reads_it(self):
        path, _ = self.export("callgrind", self.record_names())
        read = self.imported(path, "callgrind.out.1")
        self.assertIn("Importing as Callgrind profile", read["said"])
        self.assertEqual(read["profiles"][0]["total"], self.annotated(path)[1])

    def kcachegrind(self, path):
        """What KCacheGrind prints until it shows a function; it draws on no screen."""
        if not shutil.which("kcachegrind") or not shutil.which("dbus-run-session"):
            raise unittest.SkipTest("there is no kcachegrind: install Debian's packages kcachegrind and dbus")
        said = self.dir / "said"
        with open(said, "wb") as file:
            viewer = subprocess.Popen(["dbus-run-session", "--", "kcachegrind", path], stdout=file, stderr=file,
                                      stdin=subprocess.DEVNULL, start_new_session=True,
                                      env=dict(os.environ, QT_QPA_PLATFORM="offscreen", HOME=str(self.dir),
                                               XDG_RUNTIME_DIR=str(self.dir)))
        try:
            for _ in range(600):
                text = said.read_text(errors="replace")
                if "Selected " in text or "Invalid" in text or viewer.poll() is not None:
                    break
                time.sleep(0.1)
        finally:
            os.killpg(viewer.pid, signal.SIGKILL)
            viewer.wait()
        return text

    def test_kcachegrind_reads_it(self):
        path, _ = self.export("callgrind", self.record_names())
        text = self.kcachegrind(path)
        if "Selected " not in text and "Invalid" not in text:
            raise unittest.SkipTest(f"kcachegrind does not start here: {text[-300:]}")
        self.assertNotIn("Loading ", text) # it prints this for files that it cannot read
        self.assertIn('Selected  "', text)
        path.write_text(path.read_text() + "a line that is none\n")
        self.assertIn("Invalid line", self.kcachegrind(path))

    def test_nothing(self):
        path, warned = self.export("callgrind", self.make("found"))
        self.assertIn("summary: 0\n", path.read_text())
        self.assertIn("no spans and no calls of functions", warned)


if __name__ == "__main__":
    profiles.main()
