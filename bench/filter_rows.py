# SPDX-License-Identifier: MIT
"""filter_rows - what an event costs that is looked at before it is recorded, beside one that is just recorded."""
from peers import BenchError
from rows import RING_OVERWRITE, median, rounds_of
from table import Row

# Name, what, options of hodo record, which of the program's events, whether it is recorded.
CASES = [
    ("number", "rejected by shard == 3", ["--filter", "shard == 3"], "fixed", False),
    ("text", 'rejected by bytes > 4096 && key =~ "user*"', ["--filter", 'bytes > 4096 && key =~ "user*"'], "keyed",
     False),
    ("variable", "rejected by $tid == 1", ["--filter", "$tid == 1"], "fixed", False),
    ("absent", "rejected: it has no such field", ["--filter", "nobody == 3"], "fixed", False),
    ("taken", "taken by bytes > 4096", ["--filter", "bytes > 4096"], "fixed", True),
    ("limited", "over its rate", ["--rate", "filter:*=1/h"], "fixed", False),
    ("trigger", "looked at by a trigger, recorded", ["--trigger", "filter:* if shard == 3 -> stop"], "fixed", True),
]


def one(bench, options):
    args = ["-c", 5, "-n", 2000, "-w", 1] if bench.quick else ["-c", 50, "-n", 20000, "-w", 20]
    output, stat, _ = bench.record([bench.program("filter"), *args], "--overwrite", "-m", RING_OVERWRITE, *options)
    return rounds_of(output)[0], {event["name"]: event["count"] for event in stat["events"]}


def filters(bench):
    plain, looked = [], {name: [] for name, *_ in CASES}
    for _ in range(bench.rounds):
        plain.append(one(bench, [])[0])
        for name, _, options, kind, recorded in CASES:
            figures, counts = one(bench, options)
            if not recorded and counts.get(f"filter:{kind}", 0) > 1:
                raise BenchError(f"{' '.join(options)} records {counts[f'filter:{kind}']} events")
            looked[name].append(figures)
    rows = []
    for name, what, options, kind, recorded in CASES:
        ns, base = median(r[kind] for r in looked[name]), median(r[kind] for r in plain)
        ratio = median(r[kind] / p[kind] for r, p in zip(looked[name], plain))
        row = Row(f"filter_{name}", f"event {what}", f"{ns:.1f} ns", f"recorded without {base:.1f} ns", ratio,
                  values={"ns": ns, "recorded_ns": base, "clock_ns": median(r["clock"] for r in looked[name])})
        if "--filter" in options and not recorded:
            row.target, row.reached = "<= 1 x recorded", ratio <= 1
        rows.append(row)
    return rows


GROUPS = {"filter": filters}
