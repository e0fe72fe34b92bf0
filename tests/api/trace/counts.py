#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counts.py HODO DIR: "name=count" of each event in a recording, on one line."""
import collections
import json
import subprocess
import sys

stat = json.loads(subprocess.run([sys.argv[1], "stat", "--json", sys.argv[2]], capture_output=True, text=True,
                                 check=True).stdout)
counts = collections.Counter()
for event in stat["events"]:
    counts[event["name"]] += event["count"]
print(" ".join(f"{name}={count}" for name, count in sorted(counts.items()) if count))
