# SPDX-License-Identifier: MIT
"""What the tests of the commands for running processes share: processes that listen, in a runtime directory that
belongs to the test, and the commands that are run on them."""

import glob
import json
import os
import select
import subprocess

import hodo_test
from hodo_test import HODO, LIMIT_S, compare, end, events, program, run, wait_for

TARGET, LIBRARY = program("TARGET"), program("HODO_LIBRARY")


class Target:
    """A process of cli_target.c."""

    def __init__(self, case, *args, listen=True, prefix=(), env=None):
        own = dict({"HODO_LISTEN": "1"} if listen else {}, LD_PRELOAD=LIBRARY, **(env or {}))
        # The settings are for the target alone, not for the command that starts it.
        command = [*prefix, "env", *(f"{k}={v}" for k, v in own.items()), TARGET, *map(str, args)]
        self.process = case.start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        case.addCleanup(self.end)
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "ready\n"

    def __call__(self, *words):
        """Gives the process a command; returns its answer, or None if that ended the process."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], LIMIT_S)[0]:
            raise AssertionError(f"the process does not {words[0]}")
        line = self.process.stdout.readline()
        return int(line) if line and line != "ready\n" else None

    def end(self):
        end(self.process)
        # The socket that another user's process left when it was killed.
        for path in glob.glob(f"/tmp/hodo-[0-9]*/{self.pid}"):
            os.remove(path)


class Recorder(hodo_test.Recorder):
    """hodo record, running; its recording is `out` in the test's folder."""

    def __init__(self, case, *args, out="trace", **how):
        super().__init__(case, *args, data=case.path(out), **how)


class Case(hodo_test.Case):
    def hodo(self, *args, prefix=(), **how):
        return run(*prefix, HODO, *args, **self.how(how))

    def status(self, pid):
        """The entry of a listening process in the output of list --pids; None if it does not listen."""
        done = self.hodo("list", "--pids", "--json", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        return next((p for p in json.loads(done.stdout)["processes"] if p["pid"] == pid), None)

    def record(self, target, *args, **kwargs):
        """Starts a recorder of one or several targets; returns it once all of them are being recorded."""
        targets = target if isinstance(target, list) else [target]
        recorder = Recorder(self, "-p", ",".join(str(t.pid) for t in targets), *args, **kwargs)
        for t in targets:
            wait_for("the recording", lambda t=t: self.recorded(t.pid) or recorder.poll() is not None)
        self.assertIsNone(recorder.poll(), recorder.said())
        return recorder

    def recorded(self, pid):
        done = self.hodo("list", "--json", "--events", pid)
        return done.returncode == 0 and json.loads(done.stdout).get("recorded_by") == "hodo"

    def wait_unrecorded(self, pid):
        wait_for("the end of the recording", lambda: not self.recorded(pid))

    def events(self, path="trace", bt2=True):
        """All events of a trace; babeltrace2 must read the same as hodo."""
        if bt2:
            compare(self.path(path))
        return events(self.path(path))

    def info(self, path="trace"):
        return super().info(self.path(path))

    def notes(self, events, pid=None):
        return [e["fields"]["i"] for e in events if e["name"] == "at:note" and pid in (None, e["pid"])]

    def assertLine(self, done, text, status=1):
        """The command failed, and this is one line of its output."""
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(text, done.lines())
