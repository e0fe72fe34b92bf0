#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfetto: read by protoc with the schema, checked as Perfetto's importer does: tracks, interned names, nesting."""
import collections
import os
import re

from exporting import PROTOC, REQUESTS, Case, decode
from hodo_test import SOURCE, main, skip

SCHEMA = os.path.join(SOURCE, "src/export/perfetto/perfetto.proto")
BEGIN, END, INSTANT, COUNTER = "TYPE_SLICE_BEGIN", "TYPE_SLICE_END", "TYPE_INSTANT", "TYPE_COUNTER"
NAMES = {"event_categories": "category", "event_names": "name", "debug_annotation_names": "note",
         "source_locations": "location"}
VALUES = ("bool_value", "uint_value", "int_value", "double_value", "string_value", "pointer_value")


class Trace:
    """What an importer makes of the packets; fails where the importer would count an error."""

    def __init__(self, test, data):
        self.test, self.interned = test, collections.defaultdict(dict)
        self.tracks, self.events, self.clocks = {}, [], {}
        packets = decode(SCHEMA, "perfetto.Trace", data)["packet"]
        for i, packet in enumerate(packets):
            test.assertEqual(packet["trusted_packet_sequence_id"], [1])
            test.assertEqual(packet["sequence_flags"], [2] if i else [1])
            for snapshot in packet["clock_snapshot"]:
                self.clocks = {c["clock_id"][0]: c["timestamp"][0] for c in snapshot["clocks"]}
            for interned in packet["interned_data"]:
                self.intern(interned)
            for track in packet["track_descriptor"]:
                self.track(track)
            for event in packet["track_event"]:
                self.event(packet["timestamp"][0], event)
        # Importers sort by time; events of one time stay in order.
        self.events.sort(key=lambda e: e["ts"])
        self.slices = self.nest()

    def intern(self, data):
        for kind, short in NAMES.items():
            for entry in data[kind]:
                self.test.assertGreater(entry["iid"][0], 0)
                self.test.assertNotIn(entry["iid"][0], self.interned[short])
                self.interned[short][entry["iid"][0]] = entry if short == "location" else entry["name"][0]

    def track(self, track):
        uuid = track["uuid"][0]
        self.test.assertNotIn(uuid, self.tracks)
        self.test.assertGreater(uuid, 0)
        for parent in track["parent_uuid"]:
            self.test.assertIn(parent, self.tracks)
        self.tracks[uuid] = track

    def event(self, ts, e):
        uuid = e["track_uuid"][0]
        self.test.assertIn(uuid, self.tracks)
        notes = {}
        for note in e["debug_annotations"]:
            value = [note[k][0] for k in VALUES if note[k]]
            self.test.assertEqual(len(value), 1)
            notes[self.interned["note"][note["name_iid"][0]]] = value[0]
        self.test.assertEqual(bool(e["counter_value"] or e["double_counter_value"]), e["type"] == [COUNTER])
        self.test.assertEqual(bool(self.tracks[uuid]["counter"]), e["type"] == [COUNTER])
        self.test.assertEqual(bool(e["name_iid"]), e["type"][0] in (BEGIN, INSTANT))
        self.events.append({
            "ts": ts, "type": e["type"][0], "track": uuid, "notes": notes,
            "name": self.interned["name"][e["name_iid"][0]] if e["name_iid"] else None,
            "categories": [self.interned["category"][i] for i in e["category_iids"]],
            "location": [self.interned["location"][i] for i in e["source_location_iid"]],
            "value": (e["counter_value"] + e["double_counter_value"] + [None])[0],
            "flows": e["flow_ids"], "ends": e["terminating_flow_ids"]})

    def nest(self):
        open_, slices = collections.defaultdict(list), []
        for e in self.events:
            if e["type"] == BEGIN:
                open_[e["track"]].append(e)
                e["depth"] = len(open_[e["track"]]) - 1
                e["end"] = None
                slices.append(e)
            elif e["type"] == END:
                self.test.assertTrue(open_[e["track"]], e)
                begun = open_[e["track"]].pop()
                begun["end"] = e["ts"]
                begun["end_notes"] = e["notes"]
        return slices

    def count(self, type_, suffix=""):
        return collections.Counter(e["name"] + suffix for e in self.events if e["type"] == type_)

    def chain(self, uuid):
        """The track and all tracks above it."""
        while uuid:
            yield self.tracks[uuid]
            uuid = (self.tracks[uuid]["parent_uuid"] + [None])[0]

    def tid(self, uuid):
        return next((t["thread"][0]["tid"][0] for t in self.chain(uuid) if t["thread"]), None)


class Perfetto(Case):
    traces = {}

    def trace(self, name, *args):
        if (name, *args) not in self.traces:
            self.traces[name, *args] = Trace(self, self.export("perfetto", name, *args))
        return self.traces[name, *args]

    def setUp(self):
        super().setUp()
        self.record()

    def test_counts_are_those_of_stat(self):
        t, counts = self.trace("traced"), self.counts("traced")
        slices, instants = t.count(BEGIN), t.count(INSTANT)
        threads = {u for u, track in t.tracks.items() if track["thread"]}
        for name in ("kv:handle", "kv:parse", "kv:store"):
            self.assertEqual(slices[name], counts[name + ".begin"])
        for name in ("kv:lookup", "kv:note", "kv:all", "kv:start", "kv:request.begin", "kv:request.end"):
            self.assertEqual(instants[name], counts[name])
        # Slices of the requests' lanes.
        self.assertEqual(slices["kv:request"], counts["kv:request.begin"])
        calls = [s for s in t.slices if s["categories"] == ["func"]]
        self.assertEqual(len(calls), counts["func:entry"])
        # Nothing else: every event is there once.
        spans = sum(n for name, n in counts.items() if name.startswith("kv:") and name.endswith((".begin", ".end"))
                    and "request" not in name)
        on_threads = [e for e in t.events if e["track"] in threads and e["categories"] != ["func"] and
                      e["type"] in (BEGIN, INSTANT)]
        self.assertEqual(len(on_threads) + spans // 2 + counts["kv:cache_bytes"] + counts["kv:load"] +
                         counts["func:entry"] + counts["func:exit"], sum(counts.values()))

    def test_calls_are_those_of_graph(self):
        t = self.trace("traced")
        ours = sorted((s["ts"], s["name"], s["end"] - s["ts"]) for s in t.slices if s["categories"] == ["func"])
        self.assertEqual(ours, sorted((c["ts"], c["function"], c["duration_ns"]) for c in self.calls("traced")))

    def test_nesting(self):
        t = self.trace("traced")
        names = []
        for s in t.slices:
            if s["name"] == "kv:parse":
                around = [o["name"] for o in t.slices if o["track"] == s["track"] and o is not s and
                          o["ts"] <= s["ts"] and o["end"] >= s["end"] and o["depth"] < s["depth"]]
                names.append(around)
        self.assertEqual(names, [["worker", "work", "kv:handle"]] * REQUESTS)

    def test_times_and_clock(self):
        t, events = self.trace("traced"), self.events("traced")
        self.assertEqual(t.clocks[1], t.clocks[6])
        self.assertEqual(sorted({e["ts"] for e in events}), sorted({e["ts"] for e in t.events}))
        self.assertLessEqual(t.clocks[1], events[0]["ts"])

    def test_fields(self):
        t, events = self.trace("traced"), self.events("traced")
        ours = [e for e in t.events if e["name"] == "kv:all"]
        theirs = [e for e in events if e["name"] == "kv:all"]
        self.assertEqual(len(ours), len(theirs))
        for a, b in zip(ours, theirs):
            expected = dict(b["fields"], state=["IDLE", "BUSY"][b["fields"]["state"]], nothing="(null)",
                            sizes="[10,200,-3000]")
            self.assertEqual(a["notes"], expected)
        notes = [e["notes"] for e in t.events if e["name"] == "kv:note"]
        self.assertEqual(notes[1], {"text": "request 1 of somebody", "n": 1, "somebody": "somebody"})
        stores = [s["notes"] for s in t.slices if s["name"] == "kv:store"]
        self.assertEqual(stores, [{"bytes": 4096 * n} for n in range(REQUESTS)])
        place = ours[0]["location"][0]
        self.assertRegex(place["file_name"][0], r"traced\.c$")
        line = int(place["line_number"][0])
        with open(os.path.join(SOURCE, "tests/verb/export/traced.c"), encoding="utf-8") as f:
            self.assertIn("HODO_EVENT(kv, all", f.read().split("\n")[line - 1])

    def test_counters(self):
        t = self.trace("traced")
        for name, values in (("kv:cache_bytes", [4096 * n - 10 for n in range(REQUESTS)]),
                             ("kv:load", [n / 2 for n in range(REQUESTS)])):
            track = next(u for u, d in t.tracks.items() if d["name"] == [name])
            self.assertEqual([e["value"] for e in t.events if e["track"] == track], values)
            self.assertEqual(t.tracks[track]["counter"][0]["unit"],
                             ["UNIT_SIZE_BYTES"] if name.endswith("bytes") else [])
            self.assertTrue(list(t.chain(track))[-1]["process"])

    def test_spans_that_overlap(self):
        t = self.trace("traced")
        requests = [s for s in t.slices if s["name"] == "kv:request"]
        lanes = {s["track"] for s in requests}
        # At most three are open at a time, besides the one that stays open.
        self.assertTrue(2 <= len(lanes) <= 4, lanes)
        self.assertTrue(all(s["depth"] == 0 for s in requests))
        self.assertEqual({t.tracks[u]["name"][0] for u in lanes}, {"kv:request"})
        self.assertEqual(sorted(s["notes"]["n"] for s in requests), list(range(REQUESTS + 1)))
        done = [s for s in requests if "ok" in s["end_notes"]]
        self.assertEqual(len(done), REQUESTS)
        self.assertEqual([s["end_notes"] for s in requests if s not in done], [{"unfinished": True}])

    def test_arrows(self):
        t = self.trace("traced")
        from_, through, to = {}, {}, {}
        for e in t.events:
            for flow in e["flows"]:
                (from_ if e["type"] == INSTANT else through)[flow] = e
            for flow in e["ends"]:
                to[flow] = e
        self.assertEqual(len(from_), REQUESTS + 1)
        self.assertEqual(set(from_), set(through))
        self.assertEqual(len(to), REQUESTS)
        main_thread = {t.tid(e["track"]) for e in from_.values()}
        worker = {t.tid(e["track"]) for e in to.values()}
        self.assertEqual((len(main_thread), len(worker)), (1, 1))
        self.assertNotEqual(main_thread, worker)
        for flow, e in to.items():
            self.assertEqual(e["name"], "kv:request.end")
            self.assertEqual(through[flow]["notes"]["n"], through[flow]["end_notes"]["n"])
            self.assertEqual(through[flow]["end"], e["ts"])
            self.assertEqual(through[flow]["ts"], from_[flow]["ts"])

    def test_threads(self):
        t = self.trace("traced")
        threads = {d["thread"][0]["tid"][0]: d["thread"][0] for d in t.tracks.values() if d["thread"]}
        expected = {e["tid"]: e["comm"] for e in self.events("traced")}
        self.assertEqual({tid: d["thread_name"][0] for tid, d in threads.items()}, expected)
        self.assertIn('w"<b>\n\u00ff,', expected.values())
        process = [d["process"][0] for d in t.tracks.values() if d["process"]]
        self.assertEqual(len(process), 1)
        self.assertEqual(process[0]["process_name"], ["export_traced"])
        self.assertIn(process[0]["pid"][0], threads)

    def test_range(self):
        args = self.middle("traced")
        t, events = self.trace("traced", *args), self.events("traced", *args)
        self.assertTrue(events)
        self.assertEqual({e["ts"] for e in t.events} - {e["ts"] for e in events}, set())
        lookups = [e for e in events if e["name"] == "kv:lookup"]
        self.assertEqual(t.count(INSTANT)["kv:lookup"], len(lookups))

    def test_calls_that_are_left_or_wait(self):
        for scenario in ("calls", "whole", "kinds", "lossy", "fork"):
            with self.subTest(scenario):
                name = self.generate("GEN_CALLS", scenario)
                t = self.trace(name)
                calls = [s for s in t.slices if s["categories"] == ["func"] and "continued" not in s["notes"]]
                self.assertEqual(len(calls), len(self.calls(name)))

    def test_exits_that_were_lost(self):
        notes = [(s["name"], *s["end_notes"]) for s in self.trace(self.generate("GEN_CALLS", "exit_lost")).slices
                 if s.get("end_notes")]
        self.assertEqual(sorted(notes), [("0x401200", "left"), ("0x401400", "exit_lost"), ("0x401600", "left"),
                                         ("0x401900", "left"), ("0x401a00", "exit_lost"), ("0x401b00", "exit_lost")])

    def test_any_order(self):
        """Ends without begins, begins without ends, several processes: the slices of each track still nest."""
        for seed in (1, 2):
            name = self.generate("GEN_REPORT", "user", 1500, seed)
            t, counts = self.trace(name), self.counts(name)
            begun = [s for s in t.slices if "continued" not in s["notes"]]
            for span in ("kv:work", "kv:request"):
                self.assertEqual(len([s for s in begun if s["name"] == span]), counts[span + ".begin"])
            # Each end is that of a slice, or is an instant.
            ended = len([s for s in begun if s["name"] == "kv:request" and "unfinished" not in s["end_notes"]])
            flows = {f for e in t.events for f in e["ends"]}
            self.assertEqual(ended, len(flows))
            self.assertEqual(t.count(INSTANT)["kv:request.end"], counts["kv:request.end"])
            for counter in ("kv:depth", "kv:load"):
                tracks = {u for u, d in t.tracks.items() if d["name"] == [counter]}
                self.assertEqual(len([e for e in t.events if e["track"] in tracks]), counts[counter])

    def test_many_that_stay_open(self):
        t = self.trace(self.generate("GEN_REPORT", "leak", 2200))
        self.assertEqual(len([s for s in t.slices if s["name"] == "kv:request"]), 2200)
        self.assertEqual(len([s for s in t.slices if "unfinished" in s.get("end_notes", {})]), 200)

    def test_kernel(self):
        name = self.generate("GEN_REPORT", "both", 2500)
        t = self.trace(name)
        cpus = {u: int(d["name"][0].split()[1]) for u, d in t.tracks.items() if d["name"]
                and re.fullmatch(r"CPU \d+", d["name"][0])}
        self.assertEqual(sorted(cpus.values()), [0, 1])
        self.assertTrue(all([d["name"] for d in t.chain(u)][-1] == ["CPUs"] for u in cpus))
        ours = {(cpus[s["track"]], s["notes"]["tid"], s["ts"], s["end"]) for s in t.slices if s["track"] in cpus}
        theirs = self.running(name)
        self.assertGreater(len(theirs), 300)
        self.assertLessEqual(theirs, ours)
        # In addition: the threads that ran at the end.
        self.assertLessEqual(len(ours - theirs), 2)
        # The kernel's events of a thread are below the thread.
        reads = [s for s in t.slices if s["name"] == "syscalls:read"]
        self.assertTrue(reads)
        for s in reads:
            chain = list(t.chain(s["track"]))
            self.assertEqual(chain[0]["name"], ["kernel"])
            self.assertTrue(chain[1]["thread"] and chain[2]["process"])
        switches = [e for e in t.events if e["name"] == "sched:sched_switch"]
        self.assertEqual(len(switches), self.counts(name)["sched:sched_switch"])

    def test_losses(self):
        for name in (self.generate("GEN_TRACE", "all"), self.generate("GEN_CALLS", "lossy")):
            t = self.trace(name)
            lost = [s for s in t.slices if s["name"] == "lost events"]
            self.assertEqual((sum(s["notes"].get("discarded", 0) for s in lost),
                              sum(s["notes"].get("overwritten", 0) for s in lost)), self.lost(name))
            for s in lost:
                self.assertEqual(s["depth"], 0)
                self.assertLessEqual(s["ts"], s["end"])
        name = self.generate("GEN_TRACE", "all")
        self.assertEqual([s for s in self.trace(name, "--since", "1", "--until", "2").slices
                          if s["name"] == "lost events"], [])

    def test_hostile(self):
        t = self.trace(self.hostile())
        e = next(e for e in t.events if e["name"] == 'kv:"</script>\x1b[31m,\u00ff\nput')
        self.assertEqual(e["notes"]['k"<b>\u00ff\'\\'], "user:1")
        self.assertIn('"</script>\u00ff', [d["process"][0]["process_name"][0] for d in t.tracks.values()
                                           if d["process"]])
        self.assertEqual(len([e for e in t.events if e["type"] == INSTANT]),
                         sum(n for name, n in self.counts("hostile").items()
                             if not re.search(r"\.(begin|end)$|cache_bytes$", name)))
        t = self.trace(self.generate("GEN_REPORT", "hostile"))
        self.assertIn('a:<i>"\\\'%n', {s["name"] for s in t.slices})

    def test_every_type_and_size(self):
        t = self.trace(self.generate("GEN_TRACE", "all"))
        notes = [e["notes"] for e in t.events if e["name"] == "all:sequences"]
        self.assertEqual(notes[2]["text"], "(null)")
        self.assertEqual(notes[1]["ints"], "[]")
        scalars = next(e["notes"] for e in t.events if e["name"] == "all:scalars")
        self.assertEqual((scalars["i64"], scalars["u64"], scalars["address"]), (-2**63, 2**64 - 1, 2**64 - 1))
        self.assertEqual([e["value"] for e in t.events if e["type"] == COUNTER], [-5])

    def test_damaged(self):
        run = self.run_hodo("export", "--to", "perfetto", "-o", "-", self.damaged())
        self.assertEqual(run.returncode, 0)
        self.assertIn(b"hodo: warning: damaged/kvd-412/cpu", run.stderr)
        t = Trace(self, run.stdout)
        lost = [s for s in t.slices if s["name"] == "lost events"]
        self.assertGreater(sum(s["notes"].get("damaged", 0) for s in lost), 0)
        left = self.stat("damaged")["recorded"]
        self.assertEqual(len(t.events) - 2 * len(lost), left)
        self.assertTrue(0 < left < self.stat(self.generate("GEN_TRACE", "all"))["recorded"])

    def test_context(self):
        t = self.trace(self.record("context", "--context", "comm,ip"))
        self.assertRegex(next(e for e in t.events if e["name"] == "kv:lookup")["notes"]["context"],
                         r"^comm=.* ip=\w+")


if __name__ == "__main__":
    if not PROTOC:
        skip("protoc is not there: install protobuf-compiler")
    main()
