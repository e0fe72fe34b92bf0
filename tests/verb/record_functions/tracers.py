#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracers.py CASE: records traced.c's scenes with a built-in tracer, and checks what it left in the trace.

HODO, TRACED, TRACED_STATIC, ENTRIES, PLAIN and COMPARE (tests/lib/compare_bt2.py) are in the environment.
"""
import bisect
import collections
import json
import os
import re
import signal

import hodo_test
from hodo_test import compare, events, hodo, scenes

plain, programs = hodo_test.program("PLAIN"), [hodo_test.program("TRACED"), hodo_test.program("TRACED_STATIC")]
MS = 1000 * 1000


class Trace:
    """A recording: its events, with the functions' names for the addresses, and the recorder's messages."""

    def __init__(self, directory, options, command, expect=0):
        path = f"{directory}/trace"
        done = hodo("record", "-o", path, *options, "--", *command, status=expect)
        self.said, self.out, self.path = done.stderr, done.stdout, path
        self.events = events(path)
        self.metadata = "".join(open(f"{path}/{folder}/metadata").read() for folder in os.listdir(path)
                                if not folder.startswith("."))
        self.ticks_per_s = int(re.search(r"freq=(\d+)", self.metadata).group(1))
        self.symbols = symbols(command[0])
        compare(path)

    def of(self, name):
        return [e for e in self.events if e["name"] == name]

    def name(self, address):
        """The name of the function at that address; the programs are loaded where they were linked."""
        return self.symbols[bisect.bisect_right(self.symbols, (address, "\x7f")) - 1][1]

    def calls(self, name="func:call", field="addr"):
        return [self.name(number(e["fields"][field])) for e in self.of(name)]

    def ns(self, ticks):
        return ticks * 1000000000 // self.ticks_per_s

    def chain(self, event):
        return [self.name(number(a)) for a in event["fields"]["chain"]]

    def seen(self):
        """The sums of the counts in the metadata's lines about functions."""
        total = collections.Counter()
        for line in re.findall(r"/\*@functions (.*?)\*/", self.metadata):
            for pair in line.split():
                key, value = pair.split("=")
                total[key] += int(value)
        return total


def number(value):
    return int(value, 0) if isinstance(value, str) else value


def symbols(program):
    """Addresses and names of functions, sorted, as nm has them."""
    found = []
    for line in hodo_test.run("nm", program, status=0).stdout.splitlines():
        address, kind, name = line.rsplit(None, 2) if len(line.split()) == 3 else ("0", "U", "")
        if kind in "tTwW":
            found.append((int(address, 16), name))
    return sorted(found)


def run(directory, options, scene, program=None, expect=0):
    return Trace(directory, options, [program or programs[0], scene], expect)


def for_all(directory, options, scene, expect=0):
    """Runs the scene in the dynamic and in the static program."""
    for program in programs:
        yield run(directory, options, scene, program, expect)


COUNTS = {"main": 1, "scene_counts": 1, "mid": 3, "leaf": 10 + 51 + 5 + 5, "recurse": 51, "run_thread": 2,
          "count_thread": 2}


def same_counts(found, want):
    # What the compiler makes of static functions with one caller does not matter.
    inlined = {"scene_counts", "run_thread", "scene_fork", "scene_clone", "scene_kill", "scene_threads", "scene_jump"}
    for name in set(found) | set(want):
        assert found.get(name, 0) == want.get(name, 0) or (name in inlined and name not in found), (name, found, want)


# ------------------------------------------------------------------------- cases

def check_options(d):
    """Options that do not go together are refused with one line and status 2."""
    for options, what in [
            (["--depth", "3"], "--depth is for functions"),
            (["--min-time", "1ms"], "--min-time is for functions"),
            (["--returns"], "--returns is for functions"),
            (["-e", "!func:x"], "add --functions"),
            (["--functions", "--depth", "0"], "--depth is a number from 1 on"),
            (["--functions", "--min-time", "5"], "--min-time is a time such as"),
            (["--functions", "--min-time", "0s"], "--min-time is a time such as"),
            (["--functions="], "is empty"),
            (["--functions=" + ",".join(f"function_{i}" for i in range(2000))], "too many functions are named"),
            (["--functions=0x20-0x10"], "a range of addresses is"),
            (["--functions=lib.so!0x20-0x20"], "a range of addresses is"),
            (["--functions=lib.so!"], "is empty"),
            (["-e", "func:"], "is empty"),
            (["--tracer", "nice"], "--tracer is record, graph"),
            (["--tracer", "graph,record"], "choose one"),
            (["--tracer", "latency"], "need a limit"),
            (["--tracer", "loop", "--min-time", "1s"], "--loop"),
            (["--loop", "x"], "--loop goes with --tracer loop"),
            (["--abort"], "--abort goes with --tracer thread"),
            (["--tracer", "profile", "--min-time", "1s"], "--min-time goes with"),
            (["--tracer", "profile", "--depth", "1"], "--depth goes with")]:
        done = hodo("record", "-o", f"{d}/none", *options, "true")
        assert done.returncode == 2 and what in done.stderr and done.stderr.count("\n") == 1, (options, done)
        assert not os.path.exists(f"{d}/none")


def check_record(d):
    for t in for_all(d, ["--functions"], "counts"):
        assert t.seen()["found"] >= 20 and t.seen()["on"] == t.seen()["found"], t.seen()
        same_counts(collections.Counter(t.calls("func:entry")), COUNTS)
        assert len(t.of("func:entry")) == len(t.of("func:exit")), t.said
        assert "lost" not in t.said, t.said


def check_depth(d):
    """--depth counts the traced functions that a call is inside; the same in the main thread and in others."""
    for options in (["--functions", "--depth", "2"], ["--tracer", "graph", "--depth", "2"]):
        t = run(d, ["-e", "func:main,func:mid,func:leaf,func:recurse,func:count_thread", *options], "counts")
        graph = "graph" in options
        found = collections.Counter(t.calls("func:call" if graph else "func:entry"))
        assert found == {"main": 1, "mid": 3, "recurse": 1, "count_thread": 2}, found
        if graph:
            assert {e["fields"]["depth"] for e in t.of("func:call")} == {0, 1}
        else:
            assert len(t.of("func:exit")) == len(t.of("func:entry"))


def check_graph(d):
    for t in for_all(d, ["--tracer", "graph"], "counts"):
        same_counts(collections.Counter(t.calls()), COUNTS)
        assert not any(e["fields"]["left"] for e in t.of("func:call"))
        depths = sorted(e["fields"]["depth"] for e, name in zip(t.of("func:call"), t.calls()) if name == "recurse")
        assert depths == list(range(depths[0], depths[0] + 51)), depths
        # A call is written at its end: the calls that it made come before it, and are deeper.
        main = [e["fields"]["depth"] for e in t.of("func:call") if e["pid"] == e["tid"]]
        assert main[-1] == 0 and all(a <= b + 1 for a, b in zip(main, [*main[1:], 0])), main


def check_min_time(d):
    """--min-time keeps long calls, and calls inside them only if these are long as well."""
    t = run(d, ["--functions", "--min-time", "200ms"], "latency")
    found = collections.Counter(t.calls())
    assert found["nap"] == 2 and found["slow"] == 1 and found["main"] == 1, found
    assert not found["mid"] and not found["leaf"], found
    assert all(t.ns(e["fields"]["ticks"]) >= 290 * MS for e in t.of("func:call"))
    assert not t.of("func:entry")


def profile(t, exact=True):
    """(pid, function) -> the sums of the fields over all threads."""
    found = {}
    for e in t.of("func:profile"):
        f = e["fields"]
        assert f["calls"] == sum(f["buckets"]) or not exact, f
        assert f["min"] <= f["max"] and f["self"] <= f["calls"] * f["max"], f
        sums = found.setdefault((e["pid"], t.name(number(f["addr"]))), collections.Counter())
        for key in ("calls", "total", "self", "sum"):
            sums[key] += f[key]
        sums["max"] = max(sums["max"], f["max"])
        sums["threads"] += 1
    return found


def check_profile(d):
    for t in for_all(d, ["--tracer", "profile"], "counts"):
        found = {name: sums for (_, name), sums in profile(t).items()}
        same_counts({name: sums["calls"] for name, sums in found.items()}, COUNTS)
        assert found["mid"]["threads"] == 3 and found["leaf"]["threads"] == 3, found
        assert found["main"]["total"] == found["main"]["max"]
        assert sum(s["self"] for s in found.values()) <= sum(found[n]["total"] for n in ("main", "count_thread"))
        assert not t.of("func:entry") and not t.of("func:call")
        tids = {e["fields"]["tid"] for e in t.of("func:profile")}
        assert len(tids) == 3 and all(e["fields"]["tid"] == e["tid"] for e in t.of("func:profile")), tids


def check_profile_killed(d):
    for t in for_all(d, ["--tracer", "profile"], "kill", expect=-signal.SIGKILL):
        found = {name: sums["calls"] for (_, name), sums in profile(t).items()}
        # Calls that were still open had no end.
        assert found == {"mid": 1, "leaf": 1000, "nap": 1}, found


END_ONLY = (["--tracer", "graph"], ["--functions", "--min-time", "1ns"], ["--tracer", "latency", "--min-time", "1ns"],
            ["--tracer", "profile"])


def check_open(d):
    """Calls that were open when the process ended are there, however it ended, inner ones first."""
    for scene, want in (("kill", []), ("exit", ["inside"] * 4), ("exec", ["inside"] * 4)):
        for options in END_ONLY:
            status = {"kill": -signal.SIGKILL, "exit": 0, "exec": 2}[scene]
            for t in for_all(d, options, scene, expect=status):
                found = [name for name in t.calls("func:open") if name in ("inside", "main", "mid", "leaf", "nap")]
                assert found == want + ["main"], (scene, options, found)
                depths = [e["fields"]["depth"] for e in t.of("func:open")]
                assert depths == list(range(len(depths) - 1, -1, -1)), (scene, options, depths)
    t = run(d, ["--functions", "--min-time", "1h"], "exit")
    assert not t.of("func:open"), t.of("func:open")
    t = run(d, ["--tracer", "graph", "--depth", "2"], "exit")
    assert {e["fields"]["depth"] for e in t.of("func:open")} == {0, 1}, t.of("func:open")


def check_ended(d):
    """A thread that ends inside calls has left them at that time, not when another thread gets its stack."""
    for options in END_ONLY[:3]:
        for t in for_all(d, options, "ended"):
            calls = [(name, e["fields"]["left"]) for name, e in zip(t.calls(), t.of("func:call"))
                     if name in ("inside", "nap")]
            assert calls == [("inside", True)] * 3 + [("nap", False)] + [("inside", True)] * 3, (options, calls)
            assert not t.of("func:open"), t.of("func:open")
    t = run(d, ["--tracer", "profile"], "ended")
    assert profile(t)[t.events[0]["pid"], "inside"]["calls"] == 6 and not t.of("func:open"), t.events


def check_open_shown(d):
    """The verbs show open calls, together with calls that ended or that a profile counted."""
    for options in END_ONLY:
        t = run(d, options, "exit")
        found = {f["function"]: f for f in json.loads(hodo("report", "--json", t.path, status=0).stdout)["functions"]}
        assert found["inside"]["calls"] == found["inside"]["open"] == 4, found
        assert found["main"]["calls"] == found["main"]["open"] == 1 and found["main"]["total_ns"] == 0, found
        text = hodo("graph", t.path, status=0).stdout
        assert text.count("still open") == len(t.of("func:open")), text


def check_clone_thread(d):
    """The child's first thread keeps its own figures, though another thread has set the child up."""
    for t in for_all(d, ["--tracer", "profile", "--functions=mid"], "clone_thread"):
        own = [(e["pid"] == e["fields"]["tid"], e["fields"]["calls"]) for e in t.of("func:profile")]
        assert sorted(own) == [(False, 1), (True, 1), (True, 1)], t.of("func:profile")


def check_shared(d):
    """Tracers do not see code that runs in a thread's storage beside it, but count it: it would spoil their data."""
    for t in for_all(d, ["--tracer", "graph"], "shared"):
        counts = collections.Counter(t.calls())
        assert (counts["mid"], counts["leaf"], counts["child_waits"]) == (3, 9, 0), counts
        assert t.seen()["missed"] == 2, t.metadata
        assert len({e["fields"]["depth"] for name, e in zip(t.calls(), t.of("func:call")) if name == "mid"}) == 1


def check_profile_fork(d):
    """Each process has its profile; a child's begins with the child, but without the calls that it was inside."""
    for t in for_all(d, ["--tracer", "profile"], "fork"):
        found = collections.defaultdict(dict)
        for (pid, name), sums in profile(t).items():
            found[pid][name] = sums["calls"]
        counts = sorted((f["mid"], f["leaf"]) for f in found.values())
        assert counts == [(1, 7), (2, 7)], found
        assert len(re.findall(r"/\*@functions ", t.metadata)) == 2


def check_clone(d):
    """A child of a fork without handlers has its recording from its first call on."""
    t = run(d, ["--tracer", "profile,graph,stack"], "clone")
    found = collections.defaultdict(dict)
    for (pid, name), sums in profile(t).items():
        found[pid][name] = sums["calls"]
    assert sorted((f["mid"], f["leaf"]) for f in found.values()) == [(2, 7), (2, 8)], found
    assert collections.Counter(t.calls())["leaf"] == 15 and collections.Counter(t.calls())["mid"] == 4, t.calls()
    assert len({e["pid"] for e in t.of("func:stack")}) == 2


def check_loader(d):
    """A fork child gets its recording without the loader's lock, which a thread of its parent may hold."""
    for options in (["--functions"], ["--tracer", "thread,loop,profile", "--loop", "mid", "--min-time", "1ns"]):
        t = run(d, options, "loader")
        mids = [e["pid"] for e in t.events if e["name"] in ("func:entry", "func:profile")
                and t.name(number(e["fields"]["addr"])) == "mid"]
        assert len(set(mids)) == len(mids) == 7, mids


def check_profile_threads(d):
    t = run(d, ["--tracer", "profile"], "threads")
    found = {name: sums for (_, name), sums in profile(t).items()}
    assert found["count_thread"]["calls"] == 40 and found["leaf"]["calls"] == 200, found
    assert t.seen()["profile_lost"] == 0 and t.seen()["threads"] == 0, t.seen()


def check_recursion(d):
    """total counts only the outermost calls."""
    t = run(d, ["--tracer", "profile"], "counts")
    found = {name: sums for (_, name), sums in profile(t).items()}
    assert found["recurse"]["calls"] == 51 and found["recurse"]["total"] == found["recurse"]["max"], found["recurse"]
    assert found["recurse"]["total"] <= found["main"]["total"]
    # The average is that of all calls, as where each call is recorded.
    shown = {f["function"]: f for f in json.loads(hodo("report", "--json", t.path, status=0).stdout)["functions"]}
    assert found["recurse"]["sum"] > found["recurse"]["total"], found["recurse"]
    for name in ("recurse", "main", "leaf"):
        each = t.ns(found[name]["sum"]) / found[name]["calls"]
        assert abs(shown[name]["avg_ns"] - each) <= 3, (shown[name], found[name])


def check_stack(d):
    for t in for_all(d, ["--tracer", "stack"], "stack"):
        deepest = {}
        for e in t.of("func:stack"):
            deepest[e["tid"]] = e
            assert e["fields"]["depth"] == len(e["fields"]["chain"]) - 1, e
        thread = [e for tid, e in deepest.items() if tid != e["pid"]]
        assert len(thread) == 1 and t.chain(thread[0])[:3] == ["deepest", "wide", "stack_thread"], thread
        assert 200000 <= thread[0]["fields"]["bytes"] <= 200000 + 65536, thread
        assert re.search(rf"the deepest stack was [0-9.]+ KiB, of thread {thread[0]['tid']} \(.*\):"
                         r" deepest < wide < stack_thread", t.said), t.said
        # The thread's deepest stack is reported last, and the sizes only grow.
        sizes = [e["fields"]["bytes"] for e in t.of("func:stack") if e["tid"] == thread[0]["tid"]]
        assert sizes == sorted(sizes), sizes


def check_overflow(d):
    """A stack that overflowed has left its call chain in the recording."""
    t = run(d, ["--tracer", "stack"], "overflow", expect=-signal.SIGSEGV)
    last = t.of("func:stack")[-1]
    assert set(t.chain(last)) == {"overflow"} and len(t.chain(last)) == 64, last
    assert last["fields"]["bytes"] > 1 << 20 and last["fields"]["depth"] > 200, last
    assert " < overflow < overflow < ...\n" in t.said, t.said


def callees(t):
    """For each func:call, in order: its name and its callees, according to the events before it."""
    found, before = [], []
    for e in t.events:
        if e["name"] == "func:callee":
            before.append(e["fields"])
        elif e["name"] == "func:call":
            assert all(f["frame"] == e["fields"]["frame"] for f in before), (before, e)
            called = {t.name(number(f["addr"])) if number(f["addr"]) else "others": f for f in before}
            assert len(called) == len(before), before
            found.append((t.name(number(e["fields"]["addr"])), called, e["fields"]))
            before = []
    assert not before
    return found


def check_latency(d):
    for t in for_all(d, ["--tracer", "latency", "--min-time", "200ms"], "latency"):
        found = [f for f in callees(t) if not f[0].startswith("scene")]
        assert [name for name, _, _ in found] == ["nap", "nap", "slow", "main"], found
        slow = found[2][1]
        assert {name: f["calls"] for name, f in slow.items()} == {"mid": 1, "leaf": 20, "nap": 2}, slow
        assert t.ns(slow["nap"]["ticks"]) >= 590 * MS and t.ns(slow["nap"]["max"]) >= 290 * MS, slow
        assert slow["nap"]["ticks"] <= found[2][2]["ticks"]
        assert found[0][1] == {}


def check_many(d):
    """More callees than are kept: the rest is summed up without a name."""
    t = run(d, ["--tracer", "latency", "--min-time", "20ms"], "many")
    called = next(called for name, called, _ in callees(t) if name == "call_many")
    assert sum(f["calls"] for f in called.values()) == 111 and len(called) == 64, len(called)
    # The first ten are called again at the end, when they have their entries.
    assert all(called[f"many_0{i}"]["calls"] == 2 for i in range(10))
    assert called["others"]["calls"] == 101 - 63, called["others"]


def check_deep(d):
    """Frames without nodes have callees without a name, or none; the frames outside them have their own."""
    t = run(d, ["--tracer", "latency,profile", "--min-time", "2s", "-m", "32M"], "deep")
    found = {name: called for name, called, _ in callees(t) if name != "recurse"}
    assert found["deep_thread"]["nap"]["calls"] == 1 and found["deep_thread"]["recurse"]["calls"] == 1, found
    counts = {name: sums["calls"] for (_, name), sums in profile(t).items()}
    assert counts["recurse"] == 400001 and counts["leaf"] == 400001 and t.seen()["deep"] == 0, counts


def check_coroutine(d):
    """What a coroutine called before it waited counts for it, and not what ran in between; what it calls afterwards
    may instead count for the function that resumed it."""
    t = run(d, ["--tracer", "latency", "--min-time", "200ms"], "coroutine")
    found = {name: called for name, called, _ in callees(t)}
    body, resume = ({n: f["calls"] for n, f in found[name].items()} for name in ("coroutine_body", "resume"))
    assert body["mid"] + resume.get("mid", 0) == 2 and body.get("nap", 0) + resume.get("nap", 0) == 1, found
    assert "leaf" not in body and "leaf" not in resume, found
    assert found.get("scene_coroutine", found["main"])["leaf"]["calls"] == 5, found


def check_loop(d):
    for t in for_all(d, ["--tracer", "loop", "--loop", "run_*", "--min-time", "200ms"], "loop"):
        assert t.calls("func:held") == ["on_slow", "on_slow"], t.of("func:held")
        assert t.calls("func:held", "loop") == ["run_loop", "run_loop"]
        assert re.search(r"(?m)^hodo: on_slow held the loop run_loop 2 times, for [0-9.]+ m?s at most$", t.said), t.said
        assert all(t.ns(e["fields"]["ticks"]) >= 290 * MS for e in t.of("func:held"))
    # The loop is seen although it is not among the selected functions.
    t = run(d, ["--functions=on_*", "--tracer", "loop", "--loop", "run_loop", "--min-time", "200ms"], "loop")
    assert t.calls("func:held") == ["on_slow", "on_slow"]
    t = run(d, ["--tracer", "loop", "--loop", "no_such", "--min-time", "200ms"], "loop")
    assert not t.of("func:held")


def check_thread(d):
    for t in for_all(d, ["--tracer", "thread"], "thread"):
        wrong = [(t.chain(e)[:2], e["fields"]["wanted"], e["fields"]["role"]) for e in t.of("func:wrong_thread")]
        assert [t.chain(e)[0] for e in t.of("func:wrong_thread")] == t.calls("func:wrong_thread")
        # Ten calls from one site make one report; so do a thread that never declared its role, and one that changed it.
        assert wrong[:3] == [(["only_main", "caller"], "main", "worker"),
                             (["only_main", "other_caller"], "main", "worker"),
                             (["either", "nobody"], wrong[2][1], None)], wrong
        assert len(wrong) == 4 and wrong[3][0][0] == "either" and wrong[3][2] == "ui", wrong
        assert t.said.count("in a thread") == 4 and "only_main" in t.said, t.said


def check_abort(d):
    for t in for_all(d, ["--tracer", "thread", "--abort"], "thread", expect=-signal.SIGABRT):
        assert len(t.of("func:wrong_thread")) == 1
        assert t.chain(t.of("func:wrong_thread")[0])[:3] == ["only_main", "caller", "worker"]


def check_jump(d):
    """Calls that longjmp skipped have ended, and are marked as left."""
    for t in for_all(d, ["--tracer", "graph"], "jump"):
        left = [e["fields"]["left"] for e in t.of("func:call")]
        assert t.calls()[:4] == ["jump", "jump", "jump", "leaf"] and left[:4] == [True, True, True, False], t.calls()
        assert not any(left[4:])


def check_patterns(d):
    """The named functions are recorded, and no others."""
    names = lambda t: set(t.calls("func:entry"))
    assert names(run(d, ["-e", "func:l*,func:mid"], "counts")) == {"leaf", "mid"}
    assert names(run(d, ["-e", "func"], "counts")) >= {"main", "leaf", "mid", "recurse"}
    assert names(run(d, ["--functions=l*", "-e", "func:mid,!func:leaf"], "counts")) == {"mid"}
    assert "leaf" not in names(run(d, ["--functions=!leaf"], "counts"))
    assert "mid" in names(run(d, ["--functions", "-e", "!func:leaf"], "counts"))
    address = next(a for a, name in symbols(programs[0]) if name == "recurse")
    assert names(run(d, [f"--functions=0x{address:x}-0x{address + 1:x}"], "counts")) == {"recurse"}
    # With events in addition to functions, and without.
    for options, events in [(["--functions"], 1), (["-e", "func:x"], 0), (["-e", "func"], 0),
                            (["-e", "plain:*,func:x"], 1),
                            (["--functions=x", "-e", "!plain:*"], 0), (["--functions", "-e", "plain:ran"], 1)]:
        t = Trace(d, options, [plain])
        assert len(t.of("plain:ran")) == events, options
        assert "no event matches" not in t.said, t.said


def check_nothing(d):
    t = Trace(d, ["--functions=no_such*"], [plain])
    assert "matches 'no_such*'" in t.said, t.said
    assert t.seen() == {k: 0 for k in ("found", "on", "missed", "deep", "threads", "profile_lost")}, t.seen()
    t = run(d, ["--functions=no_such*"], "counts")
    assert "matches 'no_such*'" in t.said and t.seen()["on"] == 0 and not t.of("func:entry"), t.said
    t = run(d, ["--functions=run_lop"], "counts")
    assert "matches 'run_lop' (near: run_loop)" in t.said, t.said
    t = Trace(d, [], [plain])
    assert "traceable" not in t.said and not t.seen()


def check_together(d):
    """Several tracers at once see the same calls."""
    t = run(d, ["--tracer", "record,profile", "--tracer", "stack,thread"], "counts")
    entries = collections.Counter(t.calls("func:entry"))
    same_counts(entries, COUNTS)
    assert {name: sums["calls"] for (_, name), sums in profile(t).items()} == entries
    assert t.of("func:stack")


def check_entry_only(d):
    """Where exits cannot be seen, a message says what to do, and what does not need exits works."""
    entries = os.environ["ENTRIES"]
    for tracer in ("record", "graph"):
        t = run(d, ["--tracer", tracer], "counts", entries)
        same_counts(collections.Counter(t.calls("func:reached")), COUNTS)
        assert re.search(r"exits of \d+ functions are not seen: .*: add --returns", t.said), t.said
        assert not t.of("func:exit") and not t.of("func:call")
    t = run(d, ["--tracer", "thread"], "thread", entries)
    assert len(t.of("func:wrong_thread")) == 4 and "exits" not in t.said, t.said


def check_storm(d):
    """Calls in signal handlers that interrupt a tracer are counted; all others are seen."""
    t = run(d, ["--tracer", "profile,stack,loop,thread", "--loop", "mid", "--min-time", "1s"], "storm")
    found = {name: sums["calls"] for (_, name), sums in profile(t).items()}
    handled, missed = int(t.out), t.seen()["missed"]
    assert found["mid"] == 20000, found
    assert found["leaf"] + found.get("on_signal", 0) + missed == 200000 + 2 * handled, (found, handled, missed)
    assert (missed > 0) == ("made by a signal handler that interrupted a tracer" in t.said), t.said


def check_jumps(d):
    """Signal handlers that longjmp out of tracers leave them in order."""
    t = run(d, ["--tracer", "profile,stack,latency", "--min-time", "100us"], "jumps")
    found = {name: sums["calls"] for (_, name), sums in profile(t, exact=False).items()}
    handled, missed = int(t.out), t.seen()["missed"]
    # Each jump may lose the call that it interrupted, and the call of its function.
    lost = 200000 + 20000 + 2 * handled - sum(found[n] for n in ("leaf", "mid", "on_signal")) - missed
    print(lost, found, handled, missed)
    assert 0 <= lost <= 12 * (handled // 3 + 1), (lost, found, handled, missed)


def check_plugin(d):
    """Roles and loops of libraries that are opened later, and closed."""
    t = run(d, ["--tracer", "thread,loop", "--loop", "plugin_l*", "--min-time", "200ms"], "plugin")
    assert [e["function"] for e in t.of("func:held")] == ["plugin_wait"] * 3, t.of("func:held")
    wrong = t.of("func:wrong_thread")
    assert 1 <= len(wrong) <= 3 and {e["function"] for e in wrong} == {"plugin_draw"}, wrong
    assert "plugin_draw was called by plugin_loop in a thread without a role" in t.said, t.said


scenes(globals())
