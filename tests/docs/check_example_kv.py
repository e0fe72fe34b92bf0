#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_kv - usage: check_example_kv.py HODO PROGRAM COMPARE_BT2"""
import re

import recorded
from recorded import expect

REQUESTS, PUT = 4000, 1


def check(kv):
    recorded.expect_complete(kv)
    served, keys, failed = (int(n) for n in re.fullmatch(
        r"kv: (\d+) requests in .* a second; (\d+) keys; .* took .* ms; (\d+) failed\n", kv.output).groups())
    expect("requests", (served, failed), (REQUESTS, 0))
    expect("spans", (kv.counts["kv:request.begin"], kv.counts["kv:request.end"]), (REQUESTS, REQUESTS))
    expect("waits that ended", kv.counts["kv:lock_wait.end"], kv.counts["kv:lock_wait.begin"])
    expect("puts", sum(e["fields"]["op"] == PUT for e in kv.named("kv:request.begin")), REQUESTS // 2)
    return keys


# One shard: its counter ends with the number of keys; the table doubles each time it is full.
for options in ([], ["-i"]):
    one = recorded.Recording("-n", str(REQUESTS), *options)
    keys = check(one)
    expect("keys", (one.counts["kv:entries"], one.named("kv:entries")[-1]["fields"]["value"]), (keys, keys))
    grown = [(e["fields"]["from"], e["fields"]["to"], e["fields"]["entries"]) for e in one.named("kv:grow")]
    expect("grown", grown, [(0, 256, 0)] + [(n, 2 * n, n) for n in (256, 512, 1024)])

# Several shards, and more clients: each key is in one shard.
many = recorded.Recording("-n", str(REQUESTS), "-t", "4", "-s", "3")
expect("keys of the shards", many.counts["kv:entries"], check(many))
expect("shards", {e["fields"]["shard"] for e in many.named("kv:request.begin")}, {0, 1, 2})
