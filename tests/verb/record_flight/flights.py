# SPDX-License-Identifier: MIT
"""What the flight recorder's tests share: runs programs with HODO_FLIGHT, recovers what they left, and reads it."""
import os

import hodo_test
from hodo_test import LIBHODO, compare, hodo, json_lines, program, run

LIFE, TARGET, CHECK = program("LIFE"), program("TARGET"), program("CHECK")


def environment(directory, **settings):
    return hodo_test.environment(**{"HODO_FLIGHT": directory, "LD_PRELOAD": LIBHODO, **settings})


class Case(hodo_test.Case):
    def setUp(self):
        super().setUp()
        self.flights = self.path("flights")
        self.out = self.data
        os.mkdir(self.flights)

    def files(self, end=".flight"):
        return sorted(name for name in os.listdir(self.flights) if name.endswith(end))

    def fly(self, *command, expect=0, cwd=None, preexec_fn=None, **settings):
        return run(*command, env=environment(self.flights, **settings), cwd=cwd or self.dir, preexec_fn=preexec_fn,
                   status=expect)

    def recover(self, *paths, expect=0, out=None):
        return hodo("recover", "-o", out or self.out, *(paths or [self.flights]), status=expect)

    def events(self, path=None):
        """The events of a recording, as we and babeltrace2 read them; hodo print may report losses and nothing else."""
        path = path or self.out
        compare(path)
        done = hodo("print", "--json", path, status=0)
        for line in done.stderr.splitlines():
            self.assertRegex(line, "events? w(as|ere) lost")
        return json_lines(done.stdout)
