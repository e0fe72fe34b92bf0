#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tight - probes without room for a jump are breakpoints: each event comes, with its values, and one line says so."""
import os
import re
import subprocess
import time

from hodo_test import Case, HODO, main

TIGHT = os.environ["TIGHT"]
PROBES = ("-e", "sdt:plain:tight", "-e", "probe:tight_first")
RESULT = str(sum(2 * (i + 1) for i in range(100)))


class Tight(Case):
    def check(self, folder, times):
        events = self.events(folder)
        tight = [e for e in events if e["name"] == "plain:tight"]
        self.assertEqual([e["fields"] for e in tight],
                         [{"arg1": i, "arg2": i + 1} for i in range(100)] * times)
        self.assertEqual(len([e for e in events if e["name"] == "probe:tight_first"]), 100 * times)
        return events

    def test_started(self):
        done = self.hodo("record", "-q", "-o", "started", *PROBES, "--context=ip", "--", TIGHT, input="xx")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), [RESULT] * 2)
        self.assertRegex(done.stderr, r"\Ahodo: warning: 2 of 2 places of probes are breakpoints, [^\n]*\n\Z")
        for e in self.check("started", 2):
            self.assertEqual(re.sub(r"[+].*", "", e["symbols"]["ip"]), "meet" if e["name"] == "plain:tight" else
                             "tight_first")

    def ask(self, program):
        program.stdin.write("x")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline().strip(), RESULT)

    def test_running(self):
        program = self.start(TIGHT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask(program)
        for n in range(2):
            recorder = self.start(HODO, "record", "-q", "-o", f"running{n}", *PROBES, "--duration", "0.3", "-p",
                                  program.pid, stderr=subprocess.DEVNULL)
            while recorder.poll() is None:
                self.ask(program)
                time.sleep(0.01)
            self.assertEqual(recorder.returncode, 0)
            tight = [e for e in self.events(f"running{n}") if e["name"] == "plain:tight"]
            self.assertGreater(len(tight), 100)
            for e in tight:
                self.assertEqual(e["fields"]["arg2"], e["fields"]["arg1"] + 1)
            self.ask(program)
        program.stdin.close()
        self.assertEqual(program.wait(timeout=600), 0)


if __name__ == "__main__":
    main()
