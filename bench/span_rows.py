# SPDX-License-Identifier: MIT
"""span_rows - what a span costs, its begin and its end together, with and without a context."""
from rows import RING_OVERWRITE, event_args, median, rounds_of
from table import Row

KINDS = {"s": ("plain", "span (int): begin and end", None), "h": ("below", "with a context, below another one", 3),
         "r": ("remote", "with a context, below a remote parent", 3), "t": ("text", "traceparent as a text", None)}


def spans(bench):
    options = ["--overwrite", "-m", RING_OVERWRITE]
    command = [bench.program("span"), *event_args(bench, "c" + "".join(KINDS))]
    measured = [rounds_of(bench.record(command, *options)[0])[0] for _ in range(bench.rounds)]
    result = []
    for kind, (name, what, target) in KINDS.items():
        ns, clock = median(m[kind] for m in measured), median(m["c"] for m in measured)
        ratio = median(m[kind] / m["c"] for m in measured)
        more = {"target": f"<= {target} x", "reached": ratio <= target} if target else {}
        result.append(Row(f"span_{name}", what, f"{ns:.1f} ns", f"clock {clock:.1f} ns", ratio,
                          values={"ns": ns, "clock_ns": clock}, **more))
    return result


GROUPS = {"spans": spans}
