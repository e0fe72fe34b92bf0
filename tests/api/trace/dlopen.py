#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dlopen.py CYCLES: plugins opened and closed during a recording, and two that define one event differently."""
import collections
import os
import sys
import tempfile

import hodo_test
from hodo_test import compare, hodo, program

host, plugin, other = program("HOST"), program("PLUGIN"), program("OTHER")
cycles = int(sys.argv[1])

with tempfile.TemporaryDirectory(prefix="hodo-dlopen-") as d:
    done = hodo("record", "-o", f"{d}/trace", host, cycles, plugin, other, status=0)
    warnings = [line for line in done.stderr.splitlines() if "differs" in line]
    # The warning names both places.
    assert len(warnings) == 1 and warnings[0].count("plugin.c:") == 2 and "plug:work" in warnings[0], done.stderr
    events = hodo_test.events(f"{d}/trace")
    counts = collections.Counter(e["name"] for e in events)
    assert counts["plug:opened"] == counts["plug:closed"] == cycles + 3, counts
    assert counts["plug:always"] == cycles + 3, counts
    work = [e["fields"] for e in events if e["name"] == "plug:work"]
    assert work == [{"n": i} for i in list(range(cycles)) + [1000001]] + [{"text": "other", "n": 1000003}], work[-3:]
    # Ids are given once: cycles do not use more of them.
    with open(f"{d}/trace/{os.listdir(f'{d}/trace')[0]}/metadata", encoding="utf-8") as f:
        ids = [line for line in f if line.startswith("/*@event ")]
    assert len(ids) == 8, ids
    compare(f"{d}/trace")
