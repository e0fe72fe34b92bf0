#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo export --to ctf: read by babeltrace2, compared with print, graph and stat."""
import collections
import os
import pathlib
import re
import subprocess
import sys

from exporting import Case
from hodo_test import info, json_lines, main

import compare_bt2  # noqa: E402  pylint: disable=wrong-import-position

ENTRY, EXIT = "lttng_ust_cyg_profile:func_entry", "lttng_ust_cyg_profile:func_exit"
INSIDE = {"func:entry", "func:exit", "func:entry_sp", "func:exit_sp"}


class Ctf(Case):
    def trace(self, name, *args):
        """babeltrace2's output, event by event; and how many events of each stream are lost."""
        self.ok("export", "-q", "--to", "ctf", "-f", "-o", self.path("ctf"), *args, name)
        said = subprocess.run(["babeltrace2", self.path("ctf"), "--clock-seconds", "--names=all", "--fields=all"],
                              capture_output=True, check=True)
        lost, found = collections.Counter(), []
        for line in said.stderr.decode().splitlines():
            loss = re.search(r'Tracer discarded ([0-9]+) events? .* within stream ".*/([^/]*)"', line)
            self.assertTrue(loss or not line, line)
            lost[loss.group(2)] += int(loss.group(1))
        for line in said.stdout.decode("latin-1").split("\n")[:-1]:
            head = compare_bt2.LINE.match(line)
            self.assertTrue(head, line)
            parser = compare_bt2.Parser(line)
            parser.at = head.end()
            packet = parser.struct()
            parser.take(", stream.event.context = ")
            event = parser.struct()
            event |= {"cpu": packet["cpu_id"] if packet["cpu_id"] != compare_bt2.FALLBACK_CPU else -1,
                      "ts": int(head.group(1)) * 10**9 + int(head.group(2)), "name": head.group(4), "fields": {}}
            if parser.peek(", event.fields = "):
                parser.take(", event.fields = ")
                event["fields"] = parser.struct()
            found.append(event)
        return found, lost

    def check(self, name, *args):
        """Events but calls are as in print; calls nest, none is missing. Returns the exits by kind, and all events."""
        found, lost = self.trace(name, *args)
        ours = [e for e in json_lines(self.ok("print", "-q", "--json", *args, name)) if e["name"] not in INSIDE]
        theirs = [e for e in found if e["name"] not in (ENTRY, EXIT)]
        self.assertEqual(len(theirs), len(ours))

        def by_cpu(events):
            streams = collections.defaultdict(list)
            for e in events:
                streams[e["cpu"]].append(e)
            return streams

        streams = by_cpu(theirs)
        for cpu, events in by_cpu(ours).items():
            for their, our in zip(streams[cpu], events, strict=True):
                their["tid"] = their["vtid"]
                self.assertIsNone(compare_bt2.compare_event(their, our), (their, our))
                self.assertEqual((their["ts"], their["vpid"]), (our["ts"], our["pid"]))
                self.assertTrue(compare_bt2.same_value(their["procname"], our["comm"]), (their, our))
        if not args:
            self.assertEqual(sum(lost.values()), sum(info(self.path(name))["lost"].values()))
        return self.nested(found), found

    def nested(self, found):
        stacks, how = collections.defaultdict(list), collections.Counter()
        for e in found:
            stack = stacks[e["vpid"], e["vtid"]]
            if e["name"] == ENTRY:
                stack.append((e["fields"]["addr"], e["fields"]["name"]))
            elif e["name"] == EXIT:
                self.assertEqual(stack.pop(), (e["fields"]["addr"], e["fields"]["name"]))
                how[e["fields"]["how"].decode()] += 1
        how["open"] = sum(map(len, stacks.values()))
        return how

    def test_all_types(self):
        self.check(self.generate("GEN_TRACE", "all"))

    def test_random(self):
        for seed in range(4):
            self.check(self.generate("GEN_TRACE", "random", seed))

    def test_hostile_names(self):
        found, _ = self.trace(self.hostile())
        self.assertEqual(len(found), self.stat("hostile")["recorded"])

    def test_damaged(self):
        self.assertGreater(len(self.trace(self.damaged())[0]), 0)

    def test_program(self):
        """A recording with names of functions, context and texts, in many packets."""
        name = self.record("traced", requests=500)
        how, found = self.check(name)
        calls = [e for e in json_lines(self.ok("graph", "-q", "--json", name)) if "self_ns" in e]
        self.assertEqual(sum(how.values()) - how["goes on"], len(calls))
        self.assertEqual(how["returned"], sum(not c["flags"] for c in calls))
        names = {e["fields"]["name"].decode() for e in found if e["name"] == ENTRY}
        self.assertEqual(names, {c["function"] for c in calls})

    def test_context(self):
        self.check(self.record("context", "--context", "comm,ip,callstack", functions=False))

    def test_a_while(self):
        self.check(self.record("traced", requests=500), "--since", "0.001", "--until", "0.002")

    def test_calls(self):
        for scenario in ("calls", "kinds", "whole", "lossy", "exit_lost", "fork", "again"):
            with self.subTest(scenario):
                name = self.generate("GEN_CALLS", scenario)
                how, _ = self.check(name)
                flags = collections.Counter(
                    "whole" if "whole" in c["flags"] else "".join(c["flags"]) or "returned"
                    for c in json_lines(self.ok("graph", "-q", "--json", name)) if "self_ns" in c)
                for ours, theirs in (("returned", "returned"), ("exit_lost", "exit lost"), ("open", "open"),
                                     ("no_exit", "not seen")):
                    self.assertEqual(how[theirs], flags[ours], (ours, how, flags))

    def test_directory(self):
        name = self.generate("GEN_TRACE", "all")
        done = self.run_hodo("export", "--to", "ctf", name)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(os.path.isdir(self.path(name + ".ctf")))
        self.ok("export", "-q", "--to", "ctf", name)  # made again from the same recording: it may be replaced
        with open(self.path(name + ".ctf", "notes"), "w", encoding="ascii"):
            pass
        before = sorted(os.listdir(self.path(name + ".ctf")))
        for args, why in (((), b"hodo export did not make it"), (("-o", "-"), b"this format is a directory"),
                          (("-o", name + ".ctf"), b"exists: give --force"),
                          (("-f", "-o", name), b"hodo export did not make it"),
                          (("-o", "none/where"), b"cannot be written")):
            done = self.run_hodo("export", "--to", "ctf", *args, name)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(why, done.stderr)
        self.assertEqual(sorted(os.listdir(self.path(name + ".ctf"))), before)
        self.assertFalse([f for f in os.listdir(self.dir) if f.endswith(".part")])


main()
