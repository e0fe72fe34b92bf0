#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""engine - a process patches all functions of a library, on and off and on again, while its threads run them."""
import os
import re

from hodo_test import Case, main, run

CYCLES = int(os.environ.get("CYCLES", "20000"))
ROUNDS = {"torture": CYCLES, "cancel": 40, "handlers": 1, "clone": 3}


class Scene(Case):
    """A scene of patched.c, named like the class."""
    def run_scene(self):
        name = type(self).__name__.lower()
        done = run(os.environ["PATCHED"], name, str(ROUNDS.get(name, 20)), timeout=600)
        self.assertEqual(done.returncode, 0, (done.returncode, done.stdout, done.stderr))
        self.assertIn("well\n", done.stdout)
        found = {key: int(n) for key, n in re.findall(r"(\w+) (\d+)", done.stdout)}
        print(name, found)
        return found

    def play(self):
        found = self.run_scene()
        # calls: the functions of libc that change signal masks; only few functions have no room for a jump.
        self.assertGreater(found["calls"], 20)
        self.assertLess(found["refused"] * 50, found["functions"])
        return found


class Toggled(Scene):
    TRAPS = 1

    def toggled(self):
        found = self.play()
        self.assertGreater(found["entries"], 100)  # patched.c goes on until there are
        self.assertGreater(found["exits"], 50)
        self.assertGreaterEqual(found["traps"], self.TRAPS)
        self.assertGreater(found["toggles"], 1000)
        self.assertEqual(found["others"], 0)


class Zlib(Toggled):
    def test(self):
        self.toggled()


class Libc(Toggled):
    def test(self):
        self.toggled()


class Cxx(Toggled):
    def test(self):
        self.toggled()


class Crypto(Toggled):
    def test(self):
        self.toggled()


class Masks(Toggled):
    def test(self):
        self.toggled()


class Fork(Toggled):
    TRAPS = 0

    def test(self):
        self.toggled()


class Handlers(Scene):
    def test(self):
        self.assertEqual(self.play()["others"], 4)


class Clone(Scene):
    def test(self):
        found = self.play()
        self.assertGreaterEqual(found["seen"], ROUNDS["clone"])
        self.assertGreater(found["traps"], 0)
        self.assertEqual(found["others"], 0)


class Torture(Scene):
    def test(self):
        found = self.play()
        self.assertGreaterEqual(found["cycles"], CYCLES)
        self.assertGreater(min(found["rounds"], found["entries"], found["traps"]), 0)
        self.assertEqual(found["others"], 0)


class Hot(Scene):
    def test(self):
        self.run_scene()


class Steps(Scene):
    def test(self):
        self.run_scene()


class Refused(Scene):
    def test(self):
        self.run_scene()


class Cancel(Scene):
    def test(self):
        self.assertEqual(self.play()["cleaned"], ROUNDS["cancel"])


if __name__ == "__main__":
    main()
