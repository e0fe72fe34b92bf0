# SPDX-License-Identifier: MIT
"""What the tests of the commands for running processes share: processes that listen, in a runtime directory of
the test's own, and the commands run on them."""

import glob
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HODO, TARGET, LIBRARY = os.environ["HODO"], os.environ["TARGET"], os.environ["HODO_LIBRARY"]
COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "read", "compare_bt2.py")
LIMIT_S = 120  # against hanging for ever; nothing is judged by time


def wait_for(what, condition):
    """Waits until the condition holds, and returns what it gave."""
    end = time.monotonic() + LIMIT_S
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"never came: {what}")
        time.sleep(0.005)


class Target:
    """A process of cli_target.c."""

    def __init__(self, case, *args, listen=True, prefix=(), env=None):
        own = dict({"HODO_LISTEN": "1"} if listen else {}, LD_PRELOAD=LIBRARY, **(env or {}))
        # Not in what starts it.
        command = [*prefix, "env", *(f"{k}={v}" for k, v in own.items()), TARGET, *map(str, args)]
        self.process = subprocess.Popen(command, cwd=case.dir, env=case.env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        case.addCleanup(self.end)
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "ready\n"

    def __call__(self, *words):
        """Has it do something; its answer, None if it ended of it."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], LIMIT_S)[0]:
            raise AssertionError(f"the process does not {words[0]}")
        line = self.process.stdout.readline()
        return int(line) if line and line != "ready\n" else None

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        # Of one of another user, which was killed.
        for path in glob.glob(f"/tmp/hodo-[0-9]*/{self.pid}"):
            os.remove(path)


class Done:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err
        self.lines = err.splitlines()


class Recorder:
    """hodo record, running."""

    def __init__(self, case, *args, out="trace", env=None, stdin=subprocess.DEVNULL):
        self.case, self.path = case, case.file(out)
        self.err = open(case.file(f"{out}.err{len(os.listdir(case.dir))}"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([HODO, "record", "-o", self.path, *map(str, args)], cwd=case.dir,
                                        env=dict(case.env, **(env or {})), stdin=stdin, stdout=self.err,
                                        stderr=self.err)
        case.addCleanup(self.end)
        self.pid = self.process.pid

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.err.close()

    def wait(self):
        status = self.process.wait(timeout=LIMIT_S)
        with open(self.err.name, encoding="utf-8") as f:
            text = f.read()
        return Done(status, "", text)

    def stop(self, signum=signal.SIGINT):
        self.process.send_signal(signum)
        return self.wait()


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="hodo-attach-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        os.mkdir(self.file("run"), 0o700)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("HODO_") or k == "HODO_LIBRARY"}
        self.env.update(XDG_RUNTIME_DIR=self.file("run"), LC_ALL="C")
        self.env.pop("LD_PRELOAD", None)

    def file(self, name):
        return os.path.join(self.dir, name)

    def hodo(self, *args, prefix=(), env=None):
        done = subprocess.run([*prefix, HODO, *map(str, args)], cwd=self.dir, env=dict(self.env, **(env or {})),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        return Done(done.returncode, done.stdout, done.stderr)

    def status(self, pid):
        """Of a process that listens, as --pids has it; None if it does not."""
        done = self.hodo("list", "--pids", "--json", "-q")
        self.assertEqual(done.status, 0, done.err)
        return next((p for p in json.loads(done.out)["processes"] if p["pid"] == pid), None)

    def record(self, target, *args, **kwargs):
        """A recorder of a target (or several), once all of them are being recorded."""
        targets = target if isinstance(target, list) else [target]
        recorder = Recorder(self, "-p", ",".join(str(t.pid) for t in targets), *args, **kwargs)
        for t in targets:
            wait_for("the recording", lambda t=t: self.recorded(t.pid) or recorder.process.poll() is not None)
        self.assertIsNone(recorder.process.poll(), recorder.process.poll() is not None and recorder.wait().err)
        return recorder

    def recorded(self, pid):
        done = self.hodo("list", "--json", "--events", pid)
        return done.status == 0 and json.loads(done.out).get("recorded_by") == "hodo"

    def wait_unrecorded(self, pid):
        wait_for("the end of the recording", lambda: not self.recorded(pid))

    def events(self, path="trace", bt2=True):
        """All events of a trace, which babeltrace2 reads as we do."""
        if bt2:
            done = subprocess.run([sys.executable, COMPARE, HODO, self.file(path)], capture_output=True, text=True,
                                  timeout=LIMIT_S, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = self.hodo("print", "--json", self.file(path))
        self.assertEqual(done.status, 0, done.err)
        return [json.loads(line) for line in done.out.splitlines()]

    def info(self, path="trace"):
        done = self.hodo("info", "--json", self.file(path))
        self.assertEqual(done.status, 0, done.err)
        return json.loads(done.out)

    def notes(self, events, pid=None):
        return [e["fields"]["i"] for e in events if e["name"] == "at:note" and pid in (None, e["pid"])]

    def assertLine(self, done, text, status=1):
        """It failed, and one line of what it told is this."""
        self.assertEqual(done.status, status, done.err)
        self.assertIn(text, done.lines)


__all__ = ["Case", "Done", "HODO", "LIBRARY", "LIMIT_S", "Recorder", "TARGET", "Target", "wait_for"]
