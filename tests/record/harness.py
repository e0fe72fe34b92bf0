# SPDX-License-Identifier: MIT
"""What the recorder's tests share: runs hodo record in a directory of its own,
and checks every trace that comes of it with babeltrace2."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HODO = os.environ["HODO"]
COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "read", "compare_bt2.py")
FAKE = os.environ["FAKE"]
TARGET = os.environ["TARGET"]
LIMIT_S = 120  # against hanging for ever; nothing is judged by time


def wait_for(what, condition):
    """Waits until the condition holds."""
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"never came: {what}")
        time.sleep(0.01)


class Result:
    """How a recording ended, and what it told."""

    def __init__(self, returncode, out, err):
        self.returncode, self.out, self.err = returncode, out, err
        self.lines = [line for line in err.splitlines() if line.startswith("hodo: ")]

    def lost(self):
        """Lost events, all causes together, as told at the end."""
        return sum(int(n) for n in re.findall(r"hodo: (\d+) events? lost: ", self.err))

    def events(self):
        """Events and processes of the summary."""
        found = re.search(r"hodo: (\d+) events? of (\d+) process", self.err)
        return (int(found[1]), int(found[2])) if found else None


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="hodo-record-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.data = os.path.join(self.dir, "trace")
        self.runs = 0

    def path(self, name):
        return os.path.join(self.dir, name)

    def start(self, *args, **kwargs):
        """hodo record, still running. Output goes to files: whoever outlives the recorder may keep them."""
        command = [HODO, "record", "-o", self.data, *map(str, args)]
        self.runs += 1
        out, err = (open(self.path(f"{name}{self.runs}"), "w+", encoding="utf-8", errors="replace")
                    for name in ("out", "err"))
        process = subprocess.Popen(command, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=out, stderr=err, **kwargs)
        process.files = out, err
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for f in process.files:
            f.close()

    @staticmethod
    def text(process, which=0):
        """What it has written so far, and its command."""
        with open(process.files[which].name, encoding="utf-8", errors="replace") as f:
            return f.read()

    def finish(self, process):
        process.wait(timeout=LIMIT_S)
        return Result(process.returncode, self.text(process), self.text(process, 1))

    def record(self, *args, **kwargs):
        return self.finish(self.start(*args, **kwargs))

    def folders(self, path=None):
        return sorted(os.listdir(path or self.data))

    def metadata(self, folder, path=None):
        with open(os.path.join(path or self.data, folder, "metadata"), encoding="ascii") as f:
            return f.read()

    def stat(self, path=None):
        run = subprocess.run([HODO, "stat", "--json", path or self.data], capture_output=True, text=True,
                             timeout=LIMIT_S, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def babeltrace(self, path=None):
        """Events [(ns, name, vtid)] and the sum of discarded ones, as babeltrace2 sees them."""
        run = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", path or self.data],
                             capture_output=True, text=True, errors="surrogateescape", timeout=LIMIT_S, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        events = []
        # Texts of a hostile process may hold what splitlines() takes for an end of a line.
        for line in run.stdout.split("\n")[:-1]:
            found = re.match(r"\[(\d+)\.(\d{9})\] \S*:.*?:\(\d+\) (.*?): \{ cpu_id = .*?\{ vtid = (\d+) \}", line)
            self.assertTrue(found, line)
            events.append((int(found[1]) * 10**9 + int(found[2]), found[3], int(found[4])))
        self.assertNotIn("may have discarded", run.stderr)
        return events, sum(int(n) for n in re.findall(r"discarded (\d+) event", run.stderr))

    def check_trace(self, result=None, path=None):
        """babeltrace2 and our reader see the same, event by event; so does the summary. Returns the events."""
        events, discarded = self.babeltrace(path)
        run = subprocess.run([sys.executable, COMPARE, HODO, path or self.data], capture_output=True, text=True,
                             timeout=LIMIT_S, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        stat = self.stat(path)
        self.assertEqual(stat["recorded"], len(events))
        self.assertEqual(stat["discarded"] + stat["overwritten"], discarded)
        if result:
            self.assertEqual(result.events()[0], len(events))
            self.assertEqual(result.lost(), discarded)
        return events

    def live(self, pid):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True


__all__ = ["Case", "Result", "FAKE", "TARGET", "HODO", "wait_for", "signal"]
