# SPDX-License-Identifier: MIT
"""hodo record -p again and again on a process under full load: four threads and a signal handler that
interrupts them make events all the time.

The events of a recording are whole, and in sequence for each thread: the events missing between two events of a
thread were counted as lost. HODO, TARGET (cli_target.c) and HODO_LIBRARY are in the environment; CYCLES is the
number of cycles (1000).
"""
import collections
import os
import re
import shutil
import signal
import subprocess
import sys

from cli import Case, Target
from hodo_test import HODO, main, wait_for

CYCLES = int(os.environ.get("CYCLES", "1000"))
BT2_EVERY = 50
THREADS = 4
# The text that text_of() makes of a number.
TEXT = [[chr(ord("a") + letter) * length for length in range(23)] for letter in range(26)]


class Cycles(Case):
    def check(self, events):
        """Checks each event against its number. Returns how many events are missing between those of one thread."""
        last, missing = {}, 0
        for e in events:
            f = e["fields"]
            n = f["n"]
            self.assertEqual((f["check"], f["text"]), (n * 2654435761 % 2**64, TEXT[n % 26][n % 23]))
            key = e["name"], f["thread"]
            if key in last:
                self.assertGreater(n, last[key], key)
                missing += n - last[key] - 1
            last[key] = n
        return missing, last

    def cycle(self, number, target, how):
        path = f"t{number}"
        recorder = self.record_now(target, path, *how)
        if number % 3 == 0:
            # Only now does a signal end the recording rather than the recorder.
            wait_for("the output", lambda: os.path.isdir(self.path(path)) or recorder.poll() is not None)
            recorder.send_signal(signal.SIGINT)
        elif number % 3 == 1:
            done = self.hodo("detach", "-q", target.pid)
            # The recording may have ended just before.
            self.assertIn(done.returncode, (0, 1), done.stderr)
        text = recorder.communicate(timeout=600)[1]
        if recorder.returncode == 1 and re.search("does not answer|is not recorded", text):
            # The target got no CPU for as long as a recorder waits: this is rare, and leaves no recording.
            shutil.rmtree(self.path(path), ignore_errors=True)
            self.unanswered += 1
            return 0, 0, {}
        self.assertEqual(recorder.returncode, 0, text)
        lost = sum(int(n) for n in re.findall(r"hodo: (\d+) events? lost: ", text))
        self.assertTrue(os.path.isdir(self.path(path)), text)
        events = self.events(path, bt2=number % BT2_EVERY == 0)
        missing, last = self.check(events)
        self.assertLessEqual(missing, lost, text)
        shutil.rmtree(self.path(path))
        return len(events), lost, last

    def record_now(self, target, path, *options):
        """Starts a recorder that soon ends by itself."""
        return self.start(HODO, "record", "-o", self.path(path), "-p", target.pid, *options,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def test_cycles(self):
        # The target yields to its recorder, so that a thousand cycles do not take for ever.
        t = Target(self, "busy", 20, prefix=["nice", "-n", "5"])
        total = collections.Counter()
        before = {}
        self.unanswered = 0
        for number in range(CYCLES):
            how = ["--duration", "0.03", "--clock", "monotonic"] + (["-m", "64K"] if number % 7 == 0 else [])
            events, lost, last = self.cycle(number, t, how)
            total.update(events=events, lost=lost, recordings=events > 0)
            # The later recording has the later events.
            for key, n in last.items():
                self.assertGreater(n, before.get(key, -1), key)
            before.update(last)
            self.assertIsNone(t.process.poll())
        t.process.stdin.close()
        self.assertEqual(t.process.wait(timeout=600), 0)
        self.assertGreater(total["events"], 0)
        self.assertLessEqual(self.unanswered, CYCLES // 20)
        print(f"{CYCLES} recordings, {total['recordings']} with events: {total['events']} events, {total['lost']} lost",
              file=sys.stderr)


main()
