# SPDX-License-Identifier: MIT
"""What the tests of habits share."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HODO, APP = os.environ["HODO"], os.environ["APP"]
SOURCE = pathlib.Path(os.environ["SOURCE"])
LIMIT_S = 120  # against hanging for ever; nothing is judged by time


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="hodo-habits-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        left_out = ("NO_COLOR", "CLICOLOR_FORCE", "PAGER", "HODO_PAGER", "LESS", "TERM")
        self.env = {k: v for k, v in os.environ.items() if k not in left_out}
        self.env["TERM"] = "dumb"
        self.env["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="hodo-habits-")  # who else listens is none of ours
        self.addCleanup(shutil.rmtree, self.env["XDG_RUNTIME_DIR"], ignore_errors=True)
        self.env["HODO_COMPLETE_MS"] = str(1000 * LIMIT_S)  # on a busy machine the second that it has may be too short

    def path(self, name):
        return os.path.join(self.dir, name)

    def run_hodo(self, *args, **kwargs):
        return subprocess.run([HODO, *map(str, args)], cwd=self.dir, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=LIMIT_S, check=False, env={**self.env, **kwargs.pop("env", {})},
                              **kwargs)

    def ok(self, *args, **kwargs):
        done = self.run_hodo(*args, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


def verbs():
    text = subprocess.run([HODO, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(?m)^  ([a-z]+)  +\S", text.split("\n\n")[2])
