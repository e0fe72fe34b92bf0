#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""chrome: JSON of the trace event format, its phases with their keys, and the meaning compared with the recording."""
import collections
import json

from exporting import REQUESTS, Case
from hodo_test import main

# Phase -> the keys that its objects must have; those with ? may be missing.
KEYS = {
    "M": "name pid tid args", "B": "ts pid tid name cat args?", "E": "ts pid tid name cat args?",
    "i": "ts pid tid name cat s args?", "C": "ts pid tid name cat args", "X": "ts dur pid tid name cat args",
    "b": "ts pid tid name cat id args?", "e": "ts pid tid name cat id args?",
    "s": "ts pid tid name cat id", "f": "ts pid tid name cat id bp",
}
TYPES = {"ts": (int, float), "dur": (int, float), "pid": int, "tid": int, "name": str, "cat": str, "id": str, "s": str,
         "bp": str, "args": dict}


def pairs_once(pairs):
    keys = [k for k, _ in pairs]
    assert len(set(keys)) == len(keys), keys
    return dict(pairs)


class Chrome(Case):
    def setUp(self):
        super().setUp()
        self.record()

    def trace(self, name, *args):
        text = self.export("chrome", name, *args)
        self.assertNotIn(b"\x1b", text)
        top = json.loads(text.decode(), object_pairs_hook=pairs_once)
        self.assertEqual(set(top), {"displayTimeUnit", "otherData", "traceEvents"})
        self.begin = int(top["otherData"]["begin_ns"])
        for e in top["traceEvents"]:
            self.check_keys(e)
        return top["traceEvents"]

    def check_keys(self, e):
        keys = KEYS[e["ph"]].split()
        self.assertLessEqual({k for k in keys if k[-1] != "?"}, set(e), e)
        self.assertLessEqual(set(e), {k.rstrip("?") for k in keys} | {"ph"}, e)
        for key, value in e.items():
            if key != "ph":
                self.assertIsInstance(value, TYPES[key], e)
        if "args" in e and e["ph"] == "C":
            self.assertEqual(set(e["args"]), {"value"})
            self.assertIsInstance(e["args"]["value"], (int, float))

    def ns(self, e):
        return self.begin + round(e["ts"] * 1000)

    def slices(self, events):
        """B to E, as a viewer nests them: (name, begin, end, depth, args)."""
        stacks, slices = collections.defaultdict(list), []
        for e in sorted(events, key=lambda e: e.get("ts", -1)):
            stack = stacks[e["pid"], e["tid"]]
            if e["ph"] == "B":
                e["depth"] = len(stack)
                e["end"] = None
                stack.append(e)
                slices.append(e)
            elif e["ph"] == "E":
                begun = stack.pop()
                while begun["name"] != e["name"]: # a slice that is not over has no end
                    begun = stack.pop()
                self.assertEqual(begun["cat"], e["cat"])
                begun["end"] = self.ns(e)
        return slices

    def test_counts_are_those_of_stat(self):
        events, counts = self.trace("traced"), self.counts("traced")
        n = collections.Counter((e["ph"], e.get("name")) for e in events)
        for name in ("handle", "parse", "store"):
            self.assertEqual(n["B", "kv:" + name], counts[f"kv:{name}.begin"])
        for name in ("kv:lookup", "kv:note", "kv:all", "kv:start"):
            self.assertEqual(n["i", name], counts[name])
        for name in ("kv:cache_bytes", "kv:load"):
            self.assertEqual(n["C", name], counts[name])
        self.assertEqual(n["b", "kv:request"], counts["kv:request.begin"])
        self.assertEqual(n["e", "kv:request"], counts["kv:request.end"])
        phases = collections.Counter(e["ph"] for e in events)
        self.assertEqual(phases["B"], phases["E"])
        self.assertEqual(sum(phases[p] for p in "BEbeiC"), sum(counts.values()))

    def test_calls_are_those_of_graph(self):
        ours = sorted((self.ns(s), s["name"], s["end"] - self.ns(s), s["depth"])
                      for s in self.slices(self.trace("traced")) if s["cat"] == "func")
        self.assertEqual([o[:3] for o in ours],
                         sorted((c["ts"], c["function"], c["duration_ns"]) for c in self.calls("traced")))
        # The slices around it: worker, work, kv:handle, kv:parse.
        self.assertEqual({o[3] for o in ours if o[1] == "middle"}, {4})

    def test_arguments_are_the_fields(self):
        events = self.trace("traced")
        ours = [e["args"] for e in events if e.get("name") == "kv:all"]
        theirs = [e["fields"] for e in self.events("traced") if e["name"] == "kv:all"]
        self.assertEqual(ours, [dict(f, state=["IDLE", "BUSY"][f["state"]], place=hex(f["place"])) for f in theirs])
        self.assertEqual([e["args"]["text"] for e in events if e.get("name") == "kv:note"],
                         [f"request {n} of somebody" for n in range(REQUESTS)])
        self.assertEqual([e["args"]["value"] for e in events if e.get("name") == "kv:cache_bytes"],
                         [4096 * n - 10 for n in range(REQUESTS)])

    def test_spans_that_overlap_and_arrows(self):
        events = self.trace("traced")
        spans = {ph: {e["id"]: e for e in events if e["ph"] == ph} for ph in "besf"}
        self.assertEqual(len(spans["b"]), REQUESTS + 1)
        self.assertEqual(len(spans["e"]), REQUESTS)
        self.assertEqual(set(spans["e"]), set(spans["s"]))
        self.assertEqual(set(spans["e"]), set(spans["f"]))
        for number, e in spans["e"].items():
            b, s, f = spans["b"][number], spans["s"][number], spans["f"][number]
            self.assertEqual((b["name"], b["cat"], b["args"]["n"]), (e["name"], e["cat"], e["args"]["n"]))
            self.assertEqual((s["ts"], s["tid"], f["ts"], f["tid"]), (b["ts"], b["tid"], e["ts"], e["tid"]))
            self.assertNotEqual(b["tid"], e["tid"])

    def test_names_of_threads(self):
        events = self.trace("traced")
        names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        self.assertEqual(names, {e["tid"]: e["comm"] for e in self.events("traced")})

    def test_generated(self):
        for generator, scenario in (("GEN_TRACE", "all"), ("GEN_TRACE", "many"), ("GEN_CALLS", "calls"),
                                    ("GEN_CALLS", "whole"), ("GEN_CALLS", "lossy"), ("GEN_CALLS", "fork")):
            with self.subTest(scenario):
                name = self.generate(generator, scenario, 5)
                events = self.trace(name)
                calls = [s for s in self.slices(events) if s["cat"] == "func" and "continued" not in s.get("args", {})]
                self.assertEqual(len(calls), len(self.calls(name)))

    def test_exits_that_were_lost(self):
        args = [(e["name"], *e["args"]) for e in self.trace(self.generate("GEN_CALLS", "exit_lost"))
                if e["ph"] == "E" and "args" in e]
        self.assertEqual(sorted(args), [("0x401200", "left"), ("0x401400", "exit_lost"), ("0x401600", "left"),
                                        ("0x401900", "left"), ("0x401a00", "exit_lost"), ("0x401b00", "exit_lost")])

    def test_any_order(self):
        name = self.generate("GEN_REPORT", "user", 1500, 3)
        events, counts = self.trace(name), self.counts(name)
        begun = [s for s in self.slices(events) if "continued" not in s.get("args", {})]
        self.assertEqual(len([s for s in begun if s["name"] == "kv:work"]), counts["kv:work.begin"])
        phases = collections.Counter((e["ph"], e.get("name")) for e in events)
        self.assertEqual(phases["b", "kv:request"], counts["kv:request.begin"])
        self.assertEqual(phases["e", "kv:request"] + phases["i", "kv:request.end"], counts["kv:request.end"])
        self.assertEqual(phases["C", "kv:load"], counts["kv:load"])

    def test_kernel(self):
        name = self.generate("GEN_REPORT", "both", 2500)
        events = self.trace(name)
        ours = {(e["tid"], e["args"]["tid"], self.ns(e), self.ns(e) + round(e["dur"] * 1000))
                for e in events if e["ph"] == "X"}
        theirs = self.running(name)
        self.assertLessEqual(theirs, ours)
        self.assertLessEqual(len(ours - theirs), 2)
        processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
        self.assertLessEqual({"CPUs", "kernel"}, set(processes.values()))

    def test_losses(self):
        name = self.generate("GEN_TRACE", "all")
        lost = [e for e in self.trace(name) if e["ph"] == "b" and e["name"] == "lost events"]
        self.assertEqual((sum(e["args"]["discarded"] for e in lost), sum(e["args"]["overwritten"] for e in lost)),
                         self.lost(name))
        self.assertEqual([e for e in self.trace(name, "--since", "1", "--until", "2") if e.get("cat") == "lost"], [])

    def test_hostile(self):
        events = self.trace(self.hostile())
        e = next(e for e in events if e.get("name") == 'kv:"</script>\x1b[31m,\u00ff\nput')
        self.assertEqual(e["args"]['k"<b>\u00ff\'\\'], "user:1")
        self.trace(self.generate("GEN_REPORT", "hostile"))

    def test_context(self):
        events = self.trace(self.record("context", "--context", "comm,ip"))
        theirs = [e["context"] for e in self.events("context") if e["name"] == "kv:lookup"]
        self.assertEqual([e["args"]["context"] for e in events if e.get("name") == "kv:lookup"], theirs)

    def test_damaged(self):
        run = self.run_hodo("export", "--to", "chrome", "-o", "-", self.damaged())
        self.assertEqual(run.returncode, 0)
        self.assertIn(b"hodo: warning: damaged/kvd-412/cpu", run.stderr)
        events = json.loads(run.stdout)["traceEvents"]
        counts = self.counts("damaged")
        self.assertEqual(sum(e["ph"] in "iBEC" for e in events), sum(counts.values()))
        self.assertTrue(0 < sum(counts.values()) < self.stat(self.generate("GEN_TRACE", "all"))["recorded"])

    def test_says_that_it_is_large(self):
        name = self.generate("GEN_TRACE", "fixed", 1100000)
        run = self.run_hodo("export", "--to", "chrome", "-o", "/dev/null", name)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(run.stderr.count(b"\n"), 2, run.stderr)
        self.assertIn(b"hodo: warning: the file gets larger than 100 MiB", run.stderr)
        self.assertEqual(self.run_hodo("export", "-q", "--to", "chrome", "-o", "/dev/null", name).stderr, b"")
        run = self.run_hodo("export", "--to", "chrome", "-o", "/dev/null", self.record())
        self.assertNotIn(b"warning", run.stderr)


if __name__ == "__main__":
    main()
