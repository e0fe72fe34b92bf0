# SPDX-License-Identifier: MIT
"""sending.py - what the tests of sent parts share: a program whose events have serial numbers, and where they arrive."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess

import hodo_test
from hodo_test import children, program, wait_for

TICKS = program("TICKS")
SMALL = ("-m", "64K", "--packet-size", "4K")  # packets, so that parts may be small


class Case(hodo_test.Case):
    """Records TICKS; parts go to `target`, a directory in the test's folder unless it says otherwise."""

    def setUp(self):
        super().setUp()
        self.target = self.path("there")
        self.sent = 0

    def begin(self, *options, to=None, rotate="64K", data=None, **how):
        """A recorder of TICKS, which waits for ticks()."""
        return self.recorder(*SMALL, "--wait", "--rotate", rotate, "--to", to or self.target, *options, "--", TICKS,
                             data=data, **{"stdin": subprocess.PIPE, **how})

    def begin_blocked(self, *options, **how):
        """The same; while it waits, the target, which it has found to be a directory, becomes a file."""
        recorder = self.begin(*options, **how)
        wait_for("the sender", lambda: self.senders(recorder))
        shutil.rmtree(self.target)
        pathlib.Path(self.target).touch()
        return recorder

    def ticks(self, recorder, n):
        """Has it record that many events."""
        recorder.stdin.write(f"{n}\n".encode())
        recorder.stdin.flush()
        self.sent += n

    def finish(self, recorder):
        recorder.stdin.close()
        done = recorder.done()
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def parts(self, target=None):
        """The parts that have arrived, oldest first, whatever the recording."""
        return sorted(pathlib.Path(target or self.target).glob("*/*/part-*.hodo"))

    def arrived(self, n=1):
        return wait_for(f"{n} parts", lambda: len(self.parts()) >= n and self.parts())

    def serials(self, recording):
        return [e["fields"]["serial"] for e in hodo_test.events(recording, **self.how({}))]

    def check_all(self, target=None):
        """Every part is there and whole, and has its events once, in order; nothing else is there."""
        parts = self.parts(target)
        self.assertEqual([int(re.search(r"(\d+)\.hodo", p.name)[1]) for p in parts], list(range(1, len(parts) + 1)))
        self.assertEqual(len({p.parent for p in parts}), 1)
        # Of each CPU in order: what was in an open packet when a part ended is in a later one.
        self.assertEqual(sorted(n for p in parts for n in self.serials(p)), list(range(self.sent)))
        # All of them together are one recording.
        self.assertEqual(self.serials(parts[0].parent), list(range(self.sent)))
        self.assertEqual(sorted(os.listdir(parts[0].parent)), [p.name for p in parts])
        return parts

    def unsent(self, data=None):
        return sorted(pathlib.Path((data or self.data) + ".unsent").glob("*/*/part-*.hodo"))

    def check_gone(self, data=None):
        """Nothing waits here any more."""
        self.assertFalse(os.path.exists((data or self.data) + ".unsent"))
        self.assertFalse(os.path.exists(data or self.data))

    @staticmethod
    def senders(recorder):
        found = []
        for p in children(recorder.pid):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if pathlib.Path(f"/proc/{p}/comm").read_text(encoding="ascii") == "hodo-send\n":
                    found.append(p)
        return found

    def give_up(self, recorder):
        """Ends the program; the recorder, which cannot send, does not wait any longer. What it said."""
        recorder.stdin.close()
        wait_for("the end of the recording",
                 lambda: re.search(r"hodo: \d+ parts?\n", recorder.said()) or recorder.poll() is not None)
        return recorder.stop(signal.SIGINT)
