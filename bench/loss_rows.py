# SPDX-License-Identifier: MIT
"""loss_rows - how much is lost at which rate, and by how much a program that waits instead is delayed."""
import shutil

from function_peers import FunctionPeers
from load import busy
from peers import babeltrace_counts, run
from rows import median, pairs
from table import Row

RATES = (1, 5, 20, 50)  # million events a second
BUSY = 3
CALLS = ["-k", "f", "-c", 500, "-n", 20000, "-w", 0]
CALLS_QUICK = ["-k", "f", "-c", 5, "-n", 2000, "-w", 0]


class Side:
    """One way of recording, in all rounds: the share that was lost, and the time it took to that without."""

    def __init__(self):
        self.lost, self.slower = [], []

    def add(self, lost, slower):
        self.lost.append(lost)
        self.slower.append(slower)

    def text(self):
        return f"{median(self.lost):.2%} lost, {median(self.slower):.2f} x" if self.lost else "not here"

    def values(self):
        return {"lost": median(self.lost), "slower": median(self.slower)} if self.lost else {}


def row(ident, what, ours, name, peer, target="", reached=None):
    return Row(ident, what, ours.text(), f"{name} {peer.text()}", target=target, reached=reached,
               values={**ours.values(), **{f"peer_{k}": v for k, v in peer.values().items()}})


def lost_nothing(ident, what, ours, name, peer):
    return row(ident, what, ours, name, peer, "none lost", not any(ours.lost))


def run_rate(bench, sides, n, rate):
    """One round of all sides, one after the other."""
    args = [n, rate]
    plain = pairs(run([bench.program("rate"), *args]))["s"]
    for side, options in (("hodo", []), ("wait", ["--wait"])):
        output, stat, _ = bench.record([bench.program("rate"), *args], *options)
        sides[side].add(1 - stat["recorded"] / n, pairs(output)["s"] / plain)
    for side in ("lttng", "blocking"):
        output, trace = bench.lttng.record([bench.program("rate_lttng"), *args], False, subbuf="512K", keep=True,
                                           blocking=side == "blocking")
        sides[side].add(1 - babeltrace_counts(trace)[0] / n, pairs(output)["s"] / plain)
        shutil.rmtree(trace)


def loss(bench):
    rows = []
    for loops in (0, BUSY):
        where = f"beside {loops} busy loops" if loops else "idle machine"
        for million in RATES:
            n = 20000 if bench.quick else 1000000 if million < 5 else 5000000
            sides = {name: Side() for name in ("hodo", "wait", "lttng", "blocking")}
            for _ in range(bench.rounds):
                with busy(loops):
                    run_rate(bench, sides, n, million * 1000000)
            ident, what = f"loss_{million}m_busy{loops}", f"{million} M events/s, {where}"
            rows += [row(ident, f"{what}: defaults", sides["hodo"], "LTTng-UST", sides["lttng"]),
                     lost_nothing(f"{ident}_wait", f"{what}: --wait", sides["wait"], "LTTng-UST, blocking",
                                  sides["blocking"])]
    return rows


def call_loss(bench):
    """A program that only makes calls."""
    rows, peers, args = [], FunctionPeers(bench), CALLS_QUICK if bench.quick else CALLS
    for loops in (0, BUSY):
        sides = {name: Side() for name in ("hodo", "drop", "uftrace")}
        for _ in range(bench.rounds):
            with busy(loops):
                plain = pairs(run([bench.program("calls"), *args]).splitlines()[-1])
                for side, options in (("hodo", []), ("drop", ["--drop"])):
                    output, stat, _ = bench.record([bench.program("calls"), *args], "--functions", *options)
                    done = pairs(output.splitlines()[-1])
                    sides[side].add(1 - stat["recorded"] / (2 * done["f"]), done["wall_us"] / plain["wall_us"])
                done = peers.uftrace(args)
                if done:
                    said = pairs(done[0].splitlines()[-1])
                    sides["uftrace"].add(max(0.0, 1 - done[2] / (2 * said["f"])), said["wall_us"] / plain["wall_us"])
        where = f"beside {loops} busy loops" if loops else "idle machine"
        rows += [lost_nothing(f"loss_calls_busy{loops}", f"all calls, {where}: defaults", sides["hodo"],
                              "uftrace --no-libcall", sides["uftrace"]),
                 row(f"loss_calls_busy{loops}_drop", f"all calls, {where}: --drop", sides["drop"],
                     "uftrace --no-libcall", sides["uftrace"])]
    return rows


GROUPS = {"loss": loss, "call_loss": call_loss}
