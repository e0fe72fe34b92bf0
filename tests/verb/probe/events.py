#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""events - probes of a program that nobody prepared, by -e probe:…: their values compared with the program's, compiled
with and without optimisation, started and attached to; and that they are events like any other."""
import os
import subprocess
from unittest.mock import ANY

from hodo_test import Case, HODO, main, wait_for

LEVELS = {"O0": os.environ["PLAIN"], "O2": os.environ["OPTIMISED"]}
PART = ("probe:parts(part->number, next=part->next->number, part->name, other=part->next->name, low=part->next->low, "
        "high=part->next->high, good=part->next->good, own=part->next->text, text, bytes=(bytes, len), len)")
# Calls of deep() in 4 threads.
DEEP = sum(10 * t + i % 3 + 1 for t in range(4) for i in range(100))
FAULT = "(fault)"
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "probed.c"), encoding="utf-8") as source:
    LINE = [n for n, line in enumerate(source, 1) if "the line that has the probe" in line][0]
NUMBERS = [{"a": i, "b": i % 256, "c": i * 1000000000, "d": i / 4, "e": bool(i & 1)} for i in range(-2, 3)]
FIRST = {"number": 1 << 40, "next": -7, "name": "first", "other": "second", "low": 5, "high": 8000, "good": True,
         "own": "eight888"}
NOTHING = {"next": 0, "name": FAULT, "other": FAULT, "low": 0, "high": 0, "good": False, "own": FAULT}


class Events(Case):
    def record(self, folder, program, *args):
        done = self.hodo("record", "-q", "-o", folder, *args, "--", program, input="x")
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "6\n"))
        return self.events(folder)

    def fields(self, events, name):
        return [e["fields"] for e in events if e["name"] == name]

    def check_parts(self, seen):
        self.assertEqual([f.pop("len") for f in seen], [8, 4000, 100, -1, 1])
        first, long, wrong, null, last = seen
        self.assertEqual(first, {**FIRST, "text": "a text", "bytes": first["bytes"]})
        self.assertEqual(self.bytes_of(first), (-7).to_bytes(8, "little", signed=True))
        self.assertEqual({**long, "bytes": 0}, {**FIRST, "text": "x" * 255, "bytes": 0})
        self.assertEqual(len(self.bytes_of(long)), 1024)
        self.assertEqual(self.bytes_of(long)[:400], b"x" * 399 + b"\0")
        self.assertEqual({**wrong, "bytes": 0}, {**NOTHING, "number": 0, "text": "last", "bytes": 0})
        self.assertEqual(self.bytes_of(wrong), b"last")
        self.assertEqual({**null, "bytes": 0}, {**NOTHING, "number": 0, "text": None, "bytes": 0})
        self.assertEqual(self.bytes_of(null), b"")
        self.assertEqual({**last, "bytes": 0}, {**NOTHING, "number": int.from_bytes(b"\0\0\0\0last", "little"),
                                                "text": FAULT, "bytes": 0})
        self.assertEqual(self.bytes_of(last), b"")

    @staticmethod
    def bytes_of(fields):
        return bytes.fromhex(fields["bytes"])

    def test_values(self):
        for level, program in LEVELS.items():
            with self.subTest(level):
                events = self.record(level, program, "-e", "probe:numbers(a, b, c, d, e)", "-e", PART, "-e",
                                     "probe:twice(n)", "-e", "probe:deep(n)")
                self.assertEqual(self.fields(events, "probe:numbers"), NUMBERS)
                self.check_parts(self.fields(events, "probe:parts"))
                # Inlined copies, too.
                self.assertEqual([f["n"] for f in self.fields(events, "probe:twice")], [1, 11, 21])
                # 4 threads, and main()'s own call.
                deep = [f["n"] for f in self.fields(events, "probe:deep")]
                self.assertEqual(len(deep), DEEP + 5 + 4)

    def test_inside_of_functions(self):
        for level, program in LEVELS.items():
            with self.subTest(level):
                events = self.record(level, program, "-e", f"probe:probed.c:{LINE}(a, b)")
                self.assertEqual(self.fields(events, f"probe:probed.c:{LINE}"),
                                 [{"a": f["a"], "b": f["b"]} for f in NUMBERS])

    def test_returns(self):
        for level, program in LEVELS.items():
            with self.subTest(level):
                events = self.record(f"returns-{level}", program, "-e", "probe:numbers%return", "-e",
                                     "probe:deep%return", "-e", "probe:leaves%return", "-e",
                                     "probe:parts%return(long=$retval)")
                self.assertEqual(self.returned(events, "numbers"), [2 * f["a"] for f in NUMBERS])
                self.assertEqual(self.returned(events, "parts", "long"),
                                 [1 << 40, 1 << 40, 0, 0, int.from_bytes(b"\0\0\0\0last", "little")])
                # One call is left by longjmp.
                self.assertEqual(self.fields(events, "probe:leaves%return"), [{"duration": ANY}])
                durations = [f["duration"] for f in self.fields(events, "probe:deep%return")]
                self.assertTrue(all(0 <= d < 10**9 for d in durations), durations)
                # Recursion, in 4 threads: each call lies within its caller's, which takes longer.
                self.assertEqual(len(durations), DEEP + 5 + 4)
                inner = [e["fields"] for e in events if e["name"] == "probe:deep%return"][-4:]
                self.assertEqual([f["retval"] for f in inner], [0, 1, 3, 6])
                self.assertEqual(sorted(f["duration"] for f in inner), [f["duration"] for f in inner])

    def returned(self, events, function, name="retval"):
        return [f[name] for f in self.fields(events, f"probe:{function}%return")]

    def test_what_another_function_returns(self):
        done = self.hodo("record", "-q", "-o", "tail", "-e", "probe:tail%return", "--", LEVELS["O2"], input="x")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.returned(self.events("tail"), "tail"), [-1, 0])
        self.assertIn("the result has no value at 1 of 2 exits: returned by another function", done.stderr)

    def test_exceptions(self):
        """Probes of a function's entry, its returns and its calls at once."""
        done = self.hodo("record", "-q", "-o", "thrown", "-e", "probe:shop::basket::add(n, this->owner._M_dataplus._M_p)",
                         "-e", "probe:shop::basket::add%return", "-e", "probe:outer%return",
                         "--functions=outer,shop::basket::add", "--", os.environ["THROWN"])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "20\n", ""))
        events = self.events("thrown")
        counts = [sum(k for k in range(1, n + 1) if k % 3) for n in range(1, 31)]
        for name, wanted in (("shop::basket::add", [counts[n - 1] for n in range(1, 31) if n % 3]),
                             ("outer", [counts[n - 1] if n % 3 else -1 for n in range(1, 31)])):
            self.assertEqual(self.returned(events, name), wanted)
        self.assertEqual([(f["n"], f["_M_p"]) for f in self.fields(events, "probe:shop::basket::add")],
                         [(n, "somebody") for n in range(1, 31)])
        # A probe's event comes before the record of the call, and before the record of the call's end.
        own = [e["name"] for e in events if e["name"].startswith(("probe:shop", "func:"))]
        self.assertEqual(own.count("func:entry"), 60)
        for i, name in enumerate(own):
            if name.startswith("probe:"):
                self.assertEqual(own[i + 1], "func:exit" if name.endswith("%return") else "func:entry")

    def test_together(self):
        """Several probes at one place, and one after the other in one window."""
        done = self.hodo("record", "-q", "-o", "together", "-e", "probe:numbers(a)", "-e", "probe:numbers(b)", "-e",
                         "probe:numbers%return", "--", LEVELS["O2"], input="x")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        events = self.fields(self.events("together"), "probe:numbers")
        self.assertEqual([list(f) for f in events[:2]], [["a"], ["b"]])

    def test_as_any_event(self):
        probe, program = "probe:numbers(a)", LEVELS["O2"]
        events = self.record("filter", program, "-e", probe, "--filter", "a >= 1")
        self.assertEqual(self.fields(events, "probe:numbers"), [{"a": 1}, {"a": 2}])
        done = self.hodo("record", "-q", "-o", "rate", "-e", "probe:deep(n)", "--rate", "probe:deep=1/s", "--", program,
                         input="x")
        self.assertIn("events not recorded: over the rate", done.stderr)
        self.assertTrue(1 <= len(self.events("rate")) < DEEP / 2)
        self.record("all", program, "-e", probe, "-e", "probe:tail(n)", "--functions=deep")
        self.assertIn("probe:numbers", self.hodo("report", "all").stdout)
        self.assertIn("/* probe:tail n=4 */", self.hodo("graph", "all").stdout)
        done = self.hodo("record", "-q", "-o", "flight", "-e", probe, "-e", "probe:tail(n)", "--overwrite", "--trigger",
                         "probe:tail if n == 4 -> snapshot", "--", program, input="xx")
        self.assertEqual((done.returncode, done.stdout), (0, "6\n6\n"))
        events = self.events("flight/snapshot-0001")
        self.assertEqual(self.fields(events, "probe:numbers")[:5], [{"a": f["a"]} for f in NUMBERS])

    def test_attached(self):
        program = self.start(LEVELS["O2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for n in range(2):
            recorder = self.start(HODO, "record", "-q", "-o", f"running{n}", "-e", "probe:numbers(a, b, c, d, e)", "-e",
                                  PART, "--trigger", "probe:parts if len == 1 -> exit after 5", "-p", program.pid)
            wait_for("the trigger", lambda: self.ask(program) and recorder.poll() is not None)
            self.assertEqual(recorder.returncode, 0)
            events = self.events(f"running{n}")
            numbers, parts = self.fields(events, "probe:numbers"), self.fields(events, "probe:parts")
            first = numbers.index(NUMBERS[0])
            self.assertEqual(numbers[first:first + 5], NUMBERS)
            first = [f["text"] for f in parts].index("a text")
            self.check_parts(parts[first:first + 5])
        self.assertTrue(self.ask(program))
        program.stdin.close()
        self.assertEqual(program.wait(timeout=600), 0)

    def ask(self, program):
        program.stdin.write("x")
        program.stdin.flush()
        return program.stdout.readline() == "6\n"

    def test_what_is_not_there_is_said(self):
        program = LEVELS["O2"]
        for probe, words in (("probe:number(a)", "there is no function number"),
                             ("probe:numbers(x)", "there is no variable x"),
                             ("probe:numbers+1", "no instruction begins there")):
            with self.subTest(probe):
                done = self.hodo("record", "-q", "-o", f"none{len(words)}", "-e", probe, "--", program, input="")
                self.assertEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(words, done.stderr)
        done = self.hodo("record", "-o", "none", "-e", "probe:numbers(", "--", program)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    main()
