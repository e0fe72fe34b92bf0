#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""left.py PROGRAM KIND CASE: a call that is left is over at that time (left.cc), by the order of recorded events.

The program's events say which calls the thread is inside of; hodo graph must show each event inside of these. KIND: sp
if stack pointers identify the frames; otherwise their return addresses do."""
import collections
import re
import sys
from pathlib import Path

from hodo_test import Case, main, run

PROGRAM, KIND, WHICH = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
EVENTS = 28
OWN = {"caught", "same", "nested", "rethrow", "cleanup", "destructor", "foreign", "is_noexcept", "by_signal",
       "forced", "jumped", "from_signal_stack", "contexts", "main", "middle", "coroutine", "terminated", "ends",
       "exiting", "cancelled", "throwing", "thrower", "jumper", "exits", "waits", "hop", "quiet", "handler",
       "jump_handler", "foreign_thrower", "stubborn::~stubborn"}
# Compilers call -finstrument-functions' exits for exceptions, too.
LEFT = {"jumper"}
if KIND != "sp":
    LEFT |= {"thrower", "exits", "waits", "handler", "foreign_thrower"}
LINE = re.compile(r"(?P<head>[^|]*)\| (?P<indent> *)(?P<what>.*)")
ENTRY = re.compile(r"(?P<name>[^(]+)\(.*\) \{$")
HERE = re.compile(r'/\* left:here chain="(?P<chain>[^"]*)" \*/$')


def chains(graph):
    """[(what the program says, what it is inside of)] of its events, as hodo graph shows them."""
    found, threads = [], collections.defaultdict(list)
    for line in graph.splitlines():
        parts = LINE.match(line)
        if line.startswith("#") or not parts:
            continue
        # DURATION TID COMM; DURATION may be absent.
        inside = threads[re.findall(r"\d+ (?=\S+ *$)", parts["head"])[-1]]
        depth, what = len(parts["indent"]) // 2, parts["what"]
        del inside[depth:]
        entry, here = ENTRY.match(what), HERE.match(what)
        if here:
            found.append((here["chain"], " ".join(name for name in inside if name in OWN)))
        # A call that began before the first line is a level without a name.
        inside += [""] * (depth - len(inside)) + [entry["name"] if entry else ""]
    return found


class Left(Case):
    def recorded(self, *options, functions="*,!skip_*", argument=()):
        """hodo graph's output for a recorded run that has the same result and output as an untraced one."""
        plain = run(PROGRAM, *argument)
        self.assertEqual(plain.returncode, 7 if argument else 5, plain)
        done = self.hodo("record", "-q", "-o", self.data, "-m", "64M", "-e", "left:*", f"--functions={functions}",
                         *options, "--", PROGRAM, *argument)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr)
        self.assertEqual(done.stderr, "")
        return self.ok("graph", "-q", self.data)

    def check(self, found, expected=lambda chain: chain, without=0):
        """Each event is inside of the calls that the program says, or of those that replace them."""
        self.assertEqual(len(found), EVENTS - without)
        wrong = [(chain, inside) for chain, inside in found if inside != expected(chain)]
        self.assertEqual(wrong, [])

    def check_record(self):
        graph = self.recorded()
        self.check(chains(graph))
        for name in LEFT:
            self.assertRegex(graph, rf"\b{name}\b.*left \*/", name)
        kinds = collections.Counter(e["name"] for e in self.events())
        self.assertGreaterEqual(kinds["func:landed"], 20, kinds)
        self.assertGreaterEqual(kinds["func:switched"], 4, kinds)

    def check_dispatch(self):
        """By the tracers' own calls, which are written only if they ended some."""
        self.check(chains(self.recorded("--depth", "100")))

    def check_outermost(self):
        """No traced function is around the place where exceptions land."""
        found = chains(self.recorded(functions="thrower*,exits*,waits*,handler*,foreign_*,quiet*"))
        # Where a destructor throws while an exception runs it, the landing of its exception shows only at its end.
        self.check([(chain, inside) for chain, inside in found if "stubborn" not in chain], lambda chain: "", 1)

    def check_graph(self):
        """Calls that are written at their end: those that are left come before what the program does next."""
        # A traced unwinder returns elsewhere, and after that tracers in the process rely on no address.
        self.recorded("--tracer", "graph", functions="*,!skip_*,!_Unwind_*")
        ticks_per_s = int(re.search(r"freq=(\d+)", self.metadata(next(f for f in self.folders() if f[0] != ".")))[1])
        here, left = collections.defaultdict(list), set()
        for e in self.events():
            if e["name"] == "left:here" and "coroutine" in e["fields"]["chain"]:
                continue  # its stack may be any: only a call in their place makes sure that the old ones were left
            if e["name"] == "left:here":
                here[e["tid"]].append(e)
                continue
            name = e["function"].split("(")[0]
            if not e["fields"].get("left") or name not in LEFT:
                continue  # func:open has no such field
            left.add(name)
            began = e["ts"] - e["fields"]["ticks"] * 10**9 // ticks_per_s
            self.assertFalse([mark for mark in here[e["tid"]] if mark["ts"] > began + 10], e)
        self.assertEqual((left, sum(map(len, here.values()))), (LEFT, EVENTS - 1))

    def check_terminates(self):
        """An exception that nobody catches, where none is allowed to pass."""
        found = chains(self.recorded(argument=("x",)))
        self.assertIn("main terminated ends", [chain for chain, _ in found])


def test(self):
    getattr(self, f"check_{WHICH}")()


Left.test = test
sys.argv[1:] = []
main()
