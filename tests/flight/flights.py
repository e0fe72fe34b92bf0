# SPDX-License-Identifier: MIT
"""What the flight recorder's tests share: runs programs with HODO_FLIGHT, recovers what they left, and reads it."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HODO, LIBHODO, LIFE = os.environ["HODO"], os.environ["LIBHODO"], os.environ["LIFE"]
TARGET, CHECK, COMPARE = os.environ["TARGET"], os.environ["CHECK"], os.environ["COMPARE"]
LIMIT_S = 120  # against hanging for ever; nothing is judged by time


def environment(directory, **settings):
    env = {k: v for k, v in os.environ.items() if not k.startswith("HODO_")}
    env.update(HODO_FLIGHT=directory, LD_PRELOAD=LIBHODO)
    env.update({k: str(v) for k, v in settings.items()})
    return env


def hodo(*args, **kwargs):
    return subprocess.run([HODO, *map(str, args)], capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          errors="replace", **kwargs)


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="hodo-flight-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.flights = self.path("flights")
        self.out = self.path("trace")
        os.mkdir(self.flights)

    def path(self, name):
        return os.path.join(self.dir, name)

    def files(self, end=".flight"):
        return sorted(name for name in os.listdir(self.flights) if name.endswith(end))

    def fly(self, *command, expect=0, cwd=None, preexec_fn=None, **settings):
        done = subprocess.run(list(map(str, command)), env=environment(self.flights, **settings), cwd=cwd or self.dir,
                              capture_output=True, text=True, timeout=LIMIT_S, check=False, preexec_fn=preexec_fn)
        self.assertEqual(done.returncode, expect, (done.stdout, done.stderr))
        return done

    def recover(self, *paths, expect=0, out=None):
        done = hodo("recover", "-o", out or self.out, *(paths or [self.flights]))
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def events(self, path=None):
        """The events of a recording, read by us and by babeltrace2."""
        path = path or self.out
        done = subprocess.run([sys.executable, COMPARE, HODO, path], capture_output=True, text=True, timeout=LIMIT_S,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = hodo("print", "--json", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stderr.splitlines():
            self.assertIn("events were lost", line)
        return [json.loads(line) for line in done.stdout.splitlines()]
