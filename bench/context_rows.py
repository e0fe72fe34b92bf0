# SPDX-License-Identifier: MIT
"""context_rows - the cost of an event with each kind of --context."""
from rows import RING_OVERWRITE, event_args, median, rounds_of
from table import Row

KINDS = {"none": ("event (int, uint64), no context", None), "pid": ("its pid", "pid"), "ip": ("its ip", "ip"),
         "comm": ("its comm", "comm"), "scalars": ("its comm, pid, ip", "comm,pid,ip"),
         "callstack": ("its callstack", "callstack"), "stack_1k": ("1 KiB of stack", "stack=1024"),
         "stack_8k": ("8 KiB of stack", "stack=8192")}


def context(bench):
    cost = {kind: [] for kind in KINDS}
    for _ in range(bench.rounds):
        for kind, (_, value) in KINDS.items():
            options = ["--overwrite", "-m", RING_OVERWRITE] + (["--context", value] if value else [])
            output = bench.record([bench.program("event"), *event_args(bench, "n")], *options)[0]
            cost[kind].append(rounds_of(output)[0]["n"])
    plain = median(cost["none"])
    result = []
    for kind, (what, value) in KINDS.items():
        ns = median(cost[kind])
        result.append(Row(f"context_{kind}", f"with {what}" if value else what, f"{ns:.1f} ns",
                          f"{ns - plain:+.1f} ns" if value else "", values={"ns": ns, "plain_ns": plain}))
    return result


GROUPS = {"context": context}
