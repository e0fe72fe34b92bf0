#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/design/fleet.md has what scripts/fleet-figures prints, and that is what its numbers say."""
import re
import sys
import unittest

from hodo_test import SOURCE, main, run


def figures(*options):
    """What it prints; and the rows: what it is, and its numbers."""
    text = run(sys.executable, SOURCE / "scripts/fleet-figures", *options, status=0).stdout
    rows = {line[:44].strip(): [float(n.replace(",", "")) for n in line[44:].split()] for line in text.splitlines()[3:]}
    return text, rows


class Figures(unittest.TestCase):
    def test_page(self):
        page = (SOURCE / "docs/design/fleet.md").read_text(encoding="utf-8")
        self.assertEqual(re.search(r"(?s)\$ scripts/fleet-figures\n(.*?)```", page)[1], figures()[0])

    def test_arithmetic(self):
        _, rows = figures("--hosts", "1000", "--events", "2000", "--packed", "4", "--part", "100",
                          "--part-bytes", "1000", "--part-ms", "200", "--days", "10", "--clickhouse", "20",
                          "--ingest", "500000", "--price-disk", "50", "--price-object", "10", "--price-core", "30")
        # 1000 hosts * 2000/s * 86400 s * 4 bytes, and 10 parts/s of 1000 bytes and 0.2 s each, for ten days.
        self.assertEqual(rows["everything: packed parts, by ssh"], [4.0, 0.69, 6.9, 2.0, 129])
        self.assertEqual(rows["everything: ClickHouse, all tables"], [20.0, 3.46, 34.6, 4.0, 1848])


main()
