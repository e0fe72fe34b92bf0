#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""life.py SCENE: records life.c's scene and checks what it left in the trace.

HODO, LIFE and COMPARE (tests/lib/compare_bt2.py) are in the environment.
"""
import collections
import os

from hodo_test import events, hodo, program, recorded, scenes

life = program("LIFE")


def record(directory, scene, *options, prefix=(), expect=0):
    return recorded(f"{directory}/trace", *prefix, life, *scene, options=options, status=expect)


def notes(events):
    """(pid, where) -> the numbers, in order."""
    found = collections.defaultdict(list)
    for e in events:
        if e["name"] == "life:note":
            found[e["pid"], e["fields"]["where"]].append(e["fields"]["n"])
    return found


def by_where(events):
    found = collections.defaultdict(list)
    for (_, where), numbers in notes(events).items():
        found[where].append(numbers)
    return found


def check_ends(d):
    found = by_where(record(d, ["ends"]))
    assert found == {"constructor": [[0]], "thread": [[0]], "key": [[7]], "main": [[0]], "atexit": [[0]],
                     "destructor": [[0]]}, found
    order = [e["fields"]["where"] for e in record(d, ["ends"])]
    assert order == ["constructor", "thread", "key", "main", "atexit", "destructor"], order


def check_fork(d):
    events = record(d, ["fork"])
    found = by_where(events)
    assert found["parent"] == [[0, 1]] and found["child"] == [[1, 3]] and found["grandchild"] == [[2]], found
    assert len({e["pid"] for e in events}) == 3
    assert all(e["pid"] == e["tid"] for e in events)


def check_bare_clone(d):
    found = by_where(record(d, ["bare_clone"]))
    assert found["parent"] == [list(range(100))] and found["child"] == [list(range(100))], found


def check_bare_first(d):
    """A bare clone's child is recorded as long as it lives, no matter which task in its memory has the first event."""
    for scene in ("bare_vfork", "bare_clone_vm", "bare_thread"):
        os.mkdir(f"{d}/{scene}")
        recorded = record(f"{d}/{scene}", [scene])
        found = by_where(recorded)
        assert found["first"] == [[0]] and found["child"] == [list(range(100))], (scene, found)
        assert {e["pid"] == e["tid"] for e in recorded if e["fields"]["where"] == "child"} == {True}, scene


def check_vfork(d):
    # A flight recorder would lose the children's events to the busy thread's; patterns leave those out.
    events = record(d, ["vfork"], "-e", "life:note", "-m", "16M")
    found = by_where(events)
    assert found["before"] == [list(range(200))] and found["after"] == [list(range(200))], found
    assert sorted(sum(found["vchild"], [])) == sorted(list(range(10)) * 200), len(sum(found["vchild"], []))
    assert len(found["exec'd"]) == 4
    children = [e for e in events if e["fields"]["where"] == "vchild"]
    assert all(e["cpu"] == -1 and e["tid"] != e["pid"] for e in children)
    record(d, ["vfork"], "--overwrite", "-m", "64K")


def check_clone_vm(d):
    found = by_where(record(d, ["clone_vm"]))
    assert found["before"] == found["after"] == [list(range(20))], found
    assert sum(found["cchild"], []) == list(range(10)) * 20, found


def check_vfork_clone_vm(d):
    """Both write to the ring for tasks without their own thread-local storage."""
    recorded = record(d, ["vfork_clone_vm"])
    found = by_where(recorded)
    assert found["beside"] == found["after"] == [list(range(100))], found
    assert {e["cpu"] for e in recorded if e["fields"]["where"] in ("beside", "after")} == {-1}, recorded


def check_spawn(d):
    found = by_where(record(d, ["spawn"]))
    assert found["parent"] == [[0, 1, 2]] and found["spawned"] == [[0]] * 3, found


def check_exec(d):
    events = record(d, ["exec"])
    found = by_where(events)
    assert found["before"] == [[0]] and found["after"] == [[0]], found
    assert len({e["pid"] for e in events}) == 1
    assert len(os.listdir(f"{d}/trace")) == 2, os.listdir(f"{d}/trace")


def check_daemon(d):
    found = by_where(record(d, ["daemon"]))
    assert found["start"] == [[0]] and found["daemon"] == [list(range(1000))], found


def check_signals(d):
    found = by_where(record(d, ["signals"], "-m", "64M", "-e", "life:note"))
    handled = found["handled"][0][0]
    assert handled >= 200 and found["handler"] == [sorted(list(range(handled)) * 3)], handled
    events = record(d, ["signals"], "-m", "64M")
    loops = [e["fields"]["i"] for e in events if e["name"] == "life:loop"]
    assert loops == list(range(len(loops))), "the main flow's events are out of order or missing"


def check_abort(d):
    found = by_where(record(d, ["abort"], expect=-11))
    assert found["last"] == [[0]], found


def check_unseen(d):
    found = by_where(record(d, ["unseen"]))
    assert found["errno"] == [list(range(10000))]


# The writer that needs neither restartable sequences nor the processor's clock, in two ways; and the usual one.
WRITERS = {"usual": [(), ()], "clock": [("--clock", "monotonic"), ()],
           "no-rseq": [(), ("env", "GLIBC_TUNABLES=glibc.pthread.rseq=0")]}


def check_mended(d):
    for name, (options, prefix) in WRITERS.items():
        os.mkdir(f"{d}/{name}")
        found = [e["fields"] for e in record(f"{d}/{name}", ["mended"], *options, prefix=prefix)
                 if e["name"] == "life:mended"]
        assert [f["i"] for f in found] == list(range(100)), (name, found)
        assert len({str(f["guarded"]) for f in found}) == 1, (name, found)


def check_crash_handler(d):
    for name, (options, prefix) in WRITERS.items():
        os.mkdir(f"{d}/{name}")
        record(f"{d}/{name}", ["crash_handler"], *options, prefix=prefix, expect=9)


def check_valgrind(d):
    """valgrind has no rseq: the fallback path, with every access checked."""
    valgrind = ("valgrind", "-q", "--error-exitcode=9")
    found = by_where(record(d, ["ends"], prefix=valgrind))
    assert len(found) == 6 and found["key"] == [[7]], found
    found = by_where(record(d, ["fork"], prefix=valgrind))
    assert found["parent"] == [[0, 1]] and found["grandchild"] == [[2]], found
    found = by_where(record(d, ["signals"], "-e", "life:note", prefix=valgrind))
    assert found["handled"][0][0] >= 200, found["handled"]


def check_children_of_children(d):
    """A shell that starts other programs, in a pipe and in the background, several at once."""
    script = f"{life} note a & {life} note b | {life} fork; ({life} spawn &) ; wait"
    trace = f"{d}/trace"
    hodo("record", "-q", "-o", trace, "sh", "-c", script, status=0)
    found = by_where(events(trace))
    assert found["a"] == [[0]] and found["b"] == [[0]] and found["grandchild"] == [[2]], found
    assert found["spawned"] == [[0]] * 3, found


scenes(globals())
