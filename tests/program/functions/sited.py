#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sited.py: a site's jump into libhodo is no exit of its function, and what follows it is code (sited.cc)."""
import json

from hodo_test import Case, main, program, run

SITED, N = program("SITED"), 200


class Sited(Case):
    def test_calls(self):
        """Each call has its exit, with sites that are on and with sites that are off."""
        plain = run(SITED, N, status=0).stdout
        for i, events in enumerate((("-e", "eng:*"), ("-e", "none:*"))):
            data = self.path(f"calls{i}")
            done = self.hodo("record", "-q", "-o", data, *events, "--functions=eng::handle", "--", SITED, N)
            self.assertEqual((done.returncode, done.stdout), (0, plain), done.stderr)
            report = json.loads(self.ok("report", "-q", "--json", data))
            handle = report["functions"][0]
            self.assertEqual((handle["function"], handle["calls"]), ("eng::handle(int)", N))
            self.assertEqual((handle["left"], handle["open"]), (0, 0), handle)

    def test_returns(self):
        done = self.hodo("record", "-o", self.data, "-e", "probe:eng::handle%return", "--", SITED, N)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("not recorded", done.stderr)
        values = [e["fields"]["retval"] for e in self.events()]
        self.assertEqual(values, [-1 if i % 10 == 7 else i + 1 for i in range(N)])


main()
