#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""privileges - a program that changes its user, capabilities and namespaces does the same with the thread that listens,
which keeps none that the program gives up, and listens afterwards."""
import os
import subprocess

import place
from hodo_test import Case, LIBHODO, main, program, wait_for

SCENES = ("keep_capabilities", "drop_capabilities", "drop_user", "enter_namespaces", "enter_with_threads",
          "in_children")


class Privileges(Case):
    def setUp(self):
        super().setUp()
        if why := place.no_root():
            self.skipTest(why)
        # Other users listen in a directory of theirs.
        self.env.pop("XDG_RUNTIME_DIR", None)

    def run_scene(self, scene, env, listens):
        process = self.start(program("PRIVILEGES"), scene, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        said = []
        while not said or not said[-1].startswith("CapPrm:"):
            line = process.stdout.readline()
            self.assertTrue(line, (scene, said, process.poll()))
            said.append(line)
        if listens:
            wait_for("the listener", lambda: "hodo" in self.threads(process.pid))
            wait_for("its socket", lambda: self.listens(process.pid))
        process.stdin.close()
        said += process.stdout.readlines()
        self.assertEqual(process.wait(), 0, (scene, said))
        return said

    @staticmethod
    def threads(pid):
        names = []
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/comm", encoding="utf-8") as f:
                names.append(f.read().strip())
        return names

    @staticmethod
    def listens(pid):
        """At a socket in a directory of the user that it is, or was at its start."""
        tmp = f"/proc/{pid}/root/tmp"
        return any(os.path.exists(f"{tmp}/{d}/{pid}") for d in os.listdir(tmp) if d.startswith("hodo-"))

    def test_same(self):
        for scene in SCENES:
            alone = self.run_scene(scene, {}, False)
            # Who has no name in its user namespace yet can make no socket.
            listens = scene != "enter_namespaces"
            self.assertEqual(self.run_scene(scene, {"LD_PRELOAD": LIBHODO, "HODO_LISTEN": "1"}, listens), alone, scene)


main()
