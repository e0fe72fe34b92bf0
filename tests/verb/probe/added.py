#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""added - probes that are added to a running recording, and removed: hodo probe add, list, remove. What was recorded
before goes on without a gap, also where the new probe shares its window."""
import json
import os
import subprocess

from hodo_test import Case, HODO, main, wait_for

SERVED, STATIC, THREADS = os.environ["SERVED"], os.environ["STATIC"], 3
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "served.c"), encoding="utf-8") as source:
    LINE = [n for n, line in enumerate(source, 1) if "the line that has the probe" in line][0]
STEP = "probe:step(thread, n)"


class Added(Case):
    def program(self, *command):
        p = self.start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(p.stdout.readline(), "ready\n")
        return p

    def started(self, *args):
        """Records the program from its start; returns the recorder, whose child the program is."""
        return self.program(HODO, "record", "-q", "-o", "trace", *args, "--", SERVED)

    @staticmethod
    def ask(p, what="go on"):
        p.stdin.write(what + "\n")
        p.stdin.flush()
        assert p.stdout.readline() == "ok\n"

    def ended(self, p):
        out, _ = p.communicate(timeout=600)
        self.assertEqual(p.returncode, 0, out)
        return [int(n) for n in out.split()]

    def add(self, target, *probes):
        done = self.hodo("probe", "add", target, *probes)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done.stderr

    def named(self, target):
        return [x["event"] for x in json.loads(self.ok("probe", "list", "--json", target))["probes"]]

    def of(self, events, name):
        return [e["fields"] for e in events if e["name"] == name]

    def without_gaps(self, events, counts):
        """Checks that the events are those of each call of each thread, and no others."""
        for thread, n in enumerate(counts):
            numbers = [f["n"] for f in self.of(events, "probe:step") if f["thread"] == thread]
            self.assertEqual(numbers, list(range(numbers[0], n)))
            self.assertLess(numbers[0], n)
        return True

    def test_beside_others(self):
        """The new probes are in windows that are on, some of which serve other probes already."""
        recorder = self.started("-e", STEP)
        said = self.add(recorder.pid, "part(n)", f"served.c:{LINE}(n)")
        self.assertEqual(said, "hodo: probe:part(n) is recorded as probe:part, in 1 process\n"
                               f"hodo: probe:served.c:{LINE}(n) is recorded as probe:served.c:{LINE}, in 1 process\n")
        self.add(recorder.pid, "step%return")
        self.assertEqual(self.named(recorder.pid), ["probe:step", "probe:part", f"probe:served.c:{LINE}",
                                                    "probe:step%return"])
        self.ask(recorder, "fork")
        for _ in range(3):
            self.ok("probe", "remove", "-q", recorder.pid, "probe:part", "step%return")
            self.ok("probe", "add", "-q", recorder.pid, "part(n)", "step%return")
        self.ok("probe", "remove", "-q", recorder.pid, "probe:part", "step%return")
        self.assertEqual(self.named("probe_served"), ["probe:step", f"probe:served.c:{LINE}"])
        counts = self.ended(recorder)
        events = self.events()
        self.assertTrue(self.without_gaps(events, counts))
        for name in ("probe:part", f"probe:served.c:{LINE}", "probe:step%return"):
            self.assertGreater(len(self.of(events, name)), 10, name)
        # Each call has an event until the probe was removed; the child's calls, too.
        parts = [f["n"] for f in self.of(events, "probe:part")]
        self.assertLess(len(parts), len(self.of(events, "probe:step")))
        self.assertEqual([f["n"] for f in self.of(events, "probe:step") if f["thread"] == THREADS], list(range(10)))
        self.assertEqual({f["retval"] for f in self.of(events, "probe:step%return")}, {1})

    def test_where_there_was_none(self):
        """The recording has no plan so far, and the process has nothing that a plan needs."""
        recorder = self.started()
        self.add(recorder.pid, STEP)
        self.ask(recorder)
        self.assertTrue(self.without_gaps(self.end_of(recorder), self.counts))

    def end_of(self, recorder):
        self.counts = self.ended(recorder)
        return self.events()

    def test_attached(self):
        """Beside traced functions; probes are added and removed again and again."""
        p = self.program(SERVED)
        recorder = self.recorder("-q", "-e", STEP, "--functions=step,part", "-p", p.pid)
        wait_for(recorder.said, lambda: self.named_or_none(p.pid))
        for _ in range(5):
            self.add(SERVED, "-q", "part(n)", "part%return", "step+4")
            self.ask(p)
            self.ok("probe", "remove", "-q", p.pid, "part", "part%return", "step+4")
        self.ask(p)
        self.assertEqual(recorder.stop().returncode, 0)
        self.ended(p)
        events = self.events()
        counts = [max(f["n"] for f in self.of(events, "probe:step") if f["thread"] == t) + 1 for t in range(THREADS)]
        self.assertTrue(self.without_gaps(events, counts))
        self.assertGreater(len(self.of(events, "probe:part")), 20)
        report = json.loads(self.ok("report", "--json", "trace"))
        calls = {f["function"]: f["calls"] for f in report["functions"]}
        # Calls may be missed while the plan changes; events must not be.
        self.assertGreater(calls["step"], 0.5 * len(self.of(events, "probe:step")))

    def named_or_none(self, pid):
        done = self.hodo("probe", "list", "-q", "--json", pid)
        return done.returncode == 0 and json.loads(done.stdout)["probes"]

    def test_static(self):
        recorder = self.start(HODO, "record", "-q", "-o", "trace", "--", STATIC, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
        self.assertEqual(self.guarded(recorder), 0)
        self.add(recorder.pid, "sdt:plain:*")
        self.assertEqual(self.named(recorder.pid), ["plain:*"])
        self.assertEqual(self.guarded(recorder), 100)
        self.add(recorder.pid, "step")
        self.assertEqual(self.guarded(recorder), 100)
        self.ok("probe", "remove", "-q", recorder.pid, "sdt:plain:*")
        self.assertEqual(self.guarded(recorder), 0)
        recorder.communicate(timeout=600)
        events = self.events()
        for name in ("plain:guarded", "plain:values", "probe:step"):
            self.assertEqual(len([e for e in events if e["name"] == name]), 200, name)

    @staticmethod
    def guarded(p):
        """Returns in how many of 100 calls the semaphore was up."""
        p.stdin.write("x")
        p.stdin.flush()
        return int(p.stdout.readline().split()[0])

    def test_what_cannot_be(self):
        recorder = self.started("-e", STEP)
        other = self.program(SERVED)
        refused = [
            (["add", other.pid, "part"], 1, "is not being recorded: 'hodo record -e probe:PROBE -p"),
            (["add", recorder.pid, "nothing_like_it"], 1, "probe_served: there is no function nothing_like_it"),
            (["add", recorder.pid, "step"], 1, "already has a probe of that name: remove it first"),
            (["add", recorder.pid, "step(no_such)"], 1, "there is no variable no_such here"),
            (["add", recorder.pid, "step("], 2, "step("),
            (["add", recorder.pid, "sdt:one"], 2, "give it as sdt:PROVIDER:NAME"),
            (["remove", recorder.pid, "part"], 1, "has no such probe"),
            (["add", 1 << 30, "part"], 1, "there is no process"),
            (["list", "no_such_program"], 1, "no process of no_such_program is being recorded"),
            (["list", "./no_such_program"], 1, "no_such_program"),
            (["add", recorder.pid], 2, "'add' also takes probes"),
            (["add"], 2, "takes a process ID or a program"),
            (["list", recorder.pid, "step"], 2, "no probes"),
        ]
        for words, status, text in refused:
            with self.subTest(words):
                self.fails(status, text, "probe", *words)
        self.ended(other)
        self.assertTrue(self.without_gaps(self.end_of(recorder), self.counts))


if __name__ == "__main__":
    main()
