#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dlopen.py CYCLES: plugins opened and closed while recording, and two that define one event differently."""
import collections
import json
import os
import subprocess
import sys
import tempfile

hodo, host, plugin, other, compare = (os.environ[k] for k in ("HODO", "HOST", "PLUGIN", "OTHER", "COMPARE"))
cycles = int(sys.argv[1])

with tempfile.TemporaryDirectory(prefix="hodo-dlopen-") as d:
    done = subprocess.run([hodo, "record", "-o", f"{d}/trace", host, str(cycles), plugin, other],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    warnings = [line for line in done.stderr.splitlines() if "differs" in line]
    # The warning names both places.
    assert len(warnings) == 1 and warnings[0].count("plugin.c:") == 2 and "plug:work" in warnings[0], done.stderr
    lines = subprocess.run([hodo, "print", "--json", f"{d}/trace"], capture_output=True, text=True, check=True).stdout
    events = [json.loads(line) for line in lines.splitlines()]
    counts = collections.Counter(e["name"] for e in events)
    assert counts["plug:opened"] == counts["plug:closed"] == cycles + 3, counts
    assert counts["plug:always"] == cycles + 3, counts
    work = [e["fields"] for e in events if e["name"] == "plug:work"]
    assert work == [{"n": i} for i in list(range(cycles)) + [1000001]] + [{"text": "other", "n": 1000003}], work[-3:]
    # Ids are given once: cycles use none up.
    listed = json.loads(subprocess.run([hodo, "info", "--json", f"{d}/trace"], capture_output=True, text=True,
                                       check=True).stdout)
    with open(f"{d}/trace/{os.listdir(f'{d}/trace')[0]}/metadata", encoding="utf-8") as f:
        ids = [line for line in f if line.startswith("/*@event ")]
    assert len(ids) == 8, (listed, ids)
    done = subprocess.run([sys.executable, compare, hodo, f"{d}/trace"], capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout, done.stderr)
