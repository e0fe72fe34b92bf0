#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sdt - static probes of installed programs: recorded with their arguments, from the start and in a process
that runs already; the semaphore is up meanwhile."""
import glob
import os
import re
import signal
import subprocess

from hodo_test import Case, HODO, main, wait_for

PLAIN = os.environ["PLAIN"]


class Sdt(Case):
    def check_events(self, folder, times):
        events = self.events(folder)
        values = [e for e in events if e["name"] == "plain:values"]
        self.assertEqual(len(values), 100 * times)
        self.assertEqual(len([e for e in events if e["name"] == "plain:guarded"]), 100 * times)
        for i, e in enumerate(values):
            i %= 100
            self.assertEqual(e["fields"], {"arg1": i, "arg2": -i, "arg3": i * 1000, "arg4": i / 2, "arg5": -7,
                                           "arg6": i, "arg7": i, "arg8": 4})

    def test_started(self):
        done = self.hodo("record", "-q", "-o", "started", "-e", "sdt:plain:*", "--", PLAIN, input="xx")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], ["100", "100"])
        self.check_events("started", 2)

    def test_running(self):
        program = self.start(PLAIN, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(self.ask(program), "0")
        for n in range(3):
            recorder = self.start(HODO, "record", "-q", "-o", f"running{n}", "-e", "sdt:plain:*", "-p", program.pid)
            wait_for("the semaphore", lambda: self.ask(program) == "100")
            self.assertEqual(self.ask(program), "100")
            recorder.send_signal(signal.SIGINT)
            self.assertEqual(recorder.wait(timeout=600), 0)
            self.assertEqual(self.ask(program), "0")
            self.assertGreater(len(self.events(f"running{n}")), 300)
        # Another recording, which does not ask for these probes.
        recorder = self.start(HODO, "record", "-q", "-o", "others", "-e", "plain:*", "--duration", "0.5", "-p",
                              program.pid)
        while recorder.poll() is None:
            self.assertEqual(self.ask(program), "0")
        program.stdin.close()
        self.assertEqual(program.wait(timeout=600), 0)

    def test_killed(self):
        """When a recorder is killed, its semaphores go down; the next one finds the program as it was."""
        program = self.start(PLAIN, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for n in range(3):
            recorder = self.start(HODO, "record", "-q", "-o", f"killed{n}", "-e", "sdt:plain:*", "-p", program.pid)
            wait_for("the semaphore", lambda: self.ask(program) == "100")
            recorder.kill()
            wait_for("no semaphore", lambda: self.ask(program) == "0")
        program.stdin.close()
        self.assertEqual(program.wait(timeout=600), 0)

    def test_killed_started(self):
        """The same for a recorder that started the program, in that and in its children."""
        for n, command in enumerate(("x", "f")):
            recorder = self.start(HODO, "record", "-q", "-o", f"started{n}", "-e", "sdt:plain:*", "--", PLAIN,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.assertEqual(self.ask(recorder, command), "100")
            wait_for("the recorder to know them all", lambda: self.known(f"started{n}") == n + 1)
            recorder.kill()
            wait_for("no semaphore", lambda recorder=recorder: self.ask(recorder) == "0")
            recorder.stdin.close()  # the program ends
            self.assertEqual(recorder.stdout.read(), "")

    def known(self, recording):
        """How many processes have their metadata written, which is done when they have joined."""
        return len(glob.glob(self.path(recording, "*", "metadata")))

    @staticmethod
    def ask(program, how="x"):
        program.stdin.write(how)
        program.stdin.flush()
        return program.stdout.readline().split()[0]

    def test_context(self):
        """An event's place is in the program, not in the slot: names, and callers from the stack."""
        self.ok("record", "-q", "-o", "context", "-e", "sdt:plain:*", "--context=ip,callstack,stack", "--", PLAIN,
                input="x")
        events = self.events("context")
        self.assertEqual(len(events), 200)
        for e in events:
            place = ["step", "main"] if e["name"] == "plain:values" else ["main"]
            context, symbols = e["context"], e["symbols"]
            self.assertEqual(re.sub(r"[+].*", "", symbols["ip"]), place[0])
            self.assertEqual([re.sub(r"[+].*", "", s) for s in symbols["stack"]][:len(place)], place)
            self.assertEqual(context["ip"], context["callstack"][0])
            self.assertEqual(context["ip"], context["stack_regs"][0])

    def test_named_wrongly(self):
        done = self.hodo("record", "-q", "-o", "none", "-e", "sdt:plain", "--", PLAIN)
        self.assertEqual(done.returncode, 2)
        self.assertIn("give it as sdt:PROVIDER:NAME", done.stderr)


if __name__ == "__main__":
    main()
