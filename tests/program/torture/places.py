#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""places.py: an entry or exit is recorded at an address in its function, or in its part of the function."""
from hodo_test import Case, main, program


class Places(Case):
    def test_addresses(self):
        out = self.ok("record", "-q", "-o", "trace", "--functions", "--", program("PLACES"))
        expected = [line.split() for line in out.splitlines()]
        self.assertEqual(len(expected), 8 * 5)
        found = self.events("trace")
        self.assertEqual([e["name"] for e in found], ["func:" + what for what, _, _ in expected])
        for event, (_, start, end) in zip(found, expected):
            self.assertIn(event["fields"]["addr"], range(int(start), int(end)), event)


main()
