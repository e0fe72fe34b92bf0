#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""otlp: spans, events and values, compared with the output of hodo print, and read by protoc; and compared with the
output of OpenTelemetry's own serializers, where npm provides them."""
import collections
import json
import os
import re
import unittest

import profiles
from exporting import PROTOC, REQUESTS, Case, decode
from hodo_test import SOURCE
from otlp_receiver import Receiver

SCHEMA = os.path.join(SOURCE, "src/export/otlp/otlp.proto")
# Fields that hodo never writes, and that their serializers write empty.
THEIRS = {"Span": "optional string trace_state = 3; optional uint32 dropped_links_count = 14; "
                  "optional Nothing status = 15;",
          "Resource": "optional uint32 dropped_attributes_count = 2;",
          "Metric": "optional string description = 2; optional string unit = 3;",
          "NumberDataPoint": "optional fixed64 start_time_unix_nano = 2;"}
SPANS = ("kv:handle", "kv:parse", "kv:store")


def value(v):
    """An attribute's value, in Python's types."""
    if not v:
        return None
    (kind, inner), = v.items()
    if kind == "arrayValue":
        return [value(e) for e in inner.get("values", [])]
    return int(inner) if kind == "intValue" else inner


def attributes(thing):
    pairs = {a["key"]: value(a["value"]) for a in thing.get("attributes", ())}
    assert len(pairs) == len(thing.get("attributes", ())), thing
    return pairs


class Messages:
    """What hodo wrote, one message per line."""

    def __init__(self, data):
        self.lines = [json.loads(line) for line in data.decode().splitlines()]
        self.spans, self.points, self.resources = [], [], []
        for line in self.lines:
            for r in line.get("resourceSpans", ()):
                self.resources.append(attributes(r["resource"]))
                for span in (s for scope in r["scopeSpans"] for s in scope["spans"]):
                    self.spans.append({**span, "attributes": attributes(span), "events": [
                        {**e, "attributes": attributes(e)} for e in span.get("events", ())]})
            for r in line.get("resourceMetrics", ()):
                self.resources.append(attributes(r["resource"]))
                for metric in (m for scope in r["scopeMetrics"] for m in scope["metrics"]):
                    self.points += [(metric["name"], int(p["timeUnixNano"]), int(p["asInt"]) if "asInt" in p else
                                     p["asDouble"]) for p in metric["gauge"]["dataPoints"]]

    def by_id(self):
        return {s["spanId"]: s for s in self.spans}


def without_nothing(thing):
    """Leaves out what is 0, false or empty, which need not be written, and gives numbers one form."""
    if isinstance(thing, list):
        return [without_nothing(t) for t in thing]
    if not isinstance(thing, dict):
        return thing
    made = {}
    for k, v in thing.items():
        v = without_nothing(v)
        if k in ("intValue", "asInt") or k == "doubleValue" and v == int(v):
            made["number"] = int(v) # JavaScript has only one kind of number
        elif v or isinstance(v, bool) or k in ("value", "stringValue", "asDouble"):
            made[k] = v
    return made


class Otlp(Case):
    made = {}

    def messages(self, name, *args):
        if (self.dir, name, *args) not in self.made:
            self.made[(self.dir, name, *args)] = Messages(self.export("otlp", name, *args))
        return self.made[(self.dir, name, *args)]

    def setUp(self):
        super().setUp()
        self.record(functions=False)

    def test_spans_are_those_of_print(self):
        m, open_, expected = self.messages("traced"), collections.defaultdict(list), []
        for e in self.events("traced"):
            name, _, how = e["name"].partition(".")
            key = (name, e["fields"]["n"]) if name == "kv:request" else (name, e["tid"])
            if how == "begin":
                open_[key].append(e["ts"])
            elif how == "end":
                expected.append((name, open_[key].pop(), e["ts"]))
        ours = [(s["name"], int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"])) for s in m.spans
                if s["attributes"].get("hodo.end") != "open"]
        self.assertEqual(ours, expected)
        left = [s for s in m.spans if s["attributes"].get("hodo.end") == "open"]
        self.assertEqual([(s["name"], s["attributes"]["n"]) for s in left], [("kv:request", REQUESTS)])
        self.assertEqual(len(m.by_id()), len(m.spans))
        for s in m.spans:
            self.assertRegex(s["traceId"] + s["spanId"], r"\A[0-9a-f]{48}\Z")

    def test_parents(self):
        m = self.messages("traced")
        spans = m.by_id()
        parents = collections.Counter((s["name"], spans[s["parentSpanId"]]["name"] if "parentSpanId" in s else None)
                                      for s in m.spans)
        self.assertEqual(parents, {("kv:handle", None): REQUESTS, ("kv:parse", "kv:handle"): REQUESTS,
                                   ("kv:store", "kv:handle"): REQUESTS, ("kv:request", None): REQUESTS + 1})
        for s in m.spans:
            if "parentSpanId" in s:
                parent = spans[s["parentSpanId"]]
                self.assertEqual(s["traceId"], parent["traceId"])
                self.assertLessEqual(int(parent["startTimeUnixNano"]), int(s["startTimeUnixNano"]))
                self.assertGreaterEqual(int(parent["endTimeUnixNano"]), int(s["endTimeUnixNano"]))
        self.assertEqual(len({s["traceId"] for s in m.spans}), 2 * REQUESTS + 1)

    def test_events_and_fields(self):
        m, events = self.messages("traced"), self.events("traced")
        theirs = [e for e in events if e["name"] == "kv:all"]
        ours = [e for s in m.spans for e in s["events"] if e["name"] == "kv:all"]
        self.assertEqual([int(e["timeUnixNano"]) for e in ours], [e["ts"] for e in theirs])
        for a, b in zip(ours, theirs):
            self.assertEqual(a["attributes"], dict(
                b["fields"], state=["IDLE", "BUSY"][b["fields"]["state"]], huge=str(b["fields"]["huge"]), nothing=None,
                raw="AH//", place=b["fields"]["place"] if isinstance(b["fields"]["place"], str) else
                hex(b["fields"]["place"])))
        counts = self.counts("traced")
        inside = collections.Counter(e["name"] for s in m.spans for e in s["events"])
        self.assertEqual(inside, {n: counts[n] for n in ("kv:all", "kv:lookup", "kv:note")})
        notes = [e["attributes"] for s in m.spans for e in s["events"] if e["name"] == "kv:note"]
        self.assertEqual(notes[1], {"message": "request 1 of somebody", "n": 1, "somebody": "somebody"})
        request = next(s for s in m.spans if s["name"] == "kv:request")["attributes"]
        self.assertEqual({k: request[k] for k in ("n", "from", "ok")}, {"n": 0, "from": "client", "ok": True})
        store = next(s for s in m.spans if s["name"] == "kv:store")["attributes"]
        self.assertTrue(store["code.file.path"].endswith("traced.c"))
        # Events outside of all spans are left out, with a message.
        done = self.run_hodo("export", "--to", "otlp", "-o", "-", "traced")
        self.assertIn(b": 1 event that is inside of no span of its thread is left out: --to jsonl has it\n", done.stderr)

    def test_counters(self):
        theirs = [(e["name"], e["ts"], e["fields"]["value"]) for e in self.events("traced")
                  if e["name"] in ("kv:cache_bytes", "kv:load")]
        self.assertEqual(sorted(self.messages("traced").points), sorted(theirs))

    def test_resource(self):
        info = json.loads(super().ok("info", "-q", "--json", "traced"))["processes"][0]
        for r in self.messages("traced").resources:
            self.assertEqual(r["host.name"], os.uname().nodename)
            self.assertEqual((r["process.pid"], r["process.executable.name"], r["service.name"]),
                             (info["pid"], "export_traced", "export_traced"))
        for r in self.messages("traced", "--service", "shop\r\nX: 1").resources:
            self.assertEqual(r["service.name"], "shop\r\nX: 1")

    def test_the_same_again(self):
        again = self.export("otlp", "traced")
        self.assertEqual(again, self.export("otlp", "traced"))
        # A part of the recording has the same ids.
        part, whole = self.messages("traced", *self.middle("traced")), self.messages("traced").by_id()
        both = [s for s in part.spans if s["spanId"] in whole]
        self.assertGreater(len(both), REQUESTS // 4)
        self.assertTrue(all(whole[s["spanId"]]["name"] == s["name"] for s in both))
        # Another recording of the same program has others.
        self.record("other", functions=False)
        other = self.messages("other")
        self.assertFalse(set(other.by_id()) & set(whole))
        self.assertFalse({s["traceId"] for s in other.spans} & {s["traceId"] for s in whole.values()})

    def test_hostile(self):
        m = self.messages(self.hostile())
        self.assertEqual({r["service.name"] for r in m.resources if "process.pid" in r}, {'"\n\xff'})
        self.assertTrue(m.spans)
        self.assertLessEqual({s["attributes"]["thread.name"] for s in m.spans}, {'<b>"\\\n\xff,', '"</script>\xff'})

    def test_damaged(self):
        done = self.run_hodo("export", "--to", "otlp", "-o", "-", self.damaged())
        self.assertEqual(done.returncode, 0)
        Messages(done.stdout)

    @unittest.skipUnless(PROTOC, "there is no protoc")
    def test_protobuf_says_what_json_says(self):
        receiver = Receiver(self)
        self.ok("export", "-q", "--to", "otlp", "--endpoint", receiver.url, "--state", "sent", "traced")
        m = self.messages("traced")
        made = [decode(SCHEMA, "otlp.Traces" if r["path"] == "/v1/traces" else "otlp.Metrics", r["body"])
                for r in receiver.requests]
        self.assertEqual([r["path"] for r in receiver.requests], ["/v1/traces", "/v1/metrics"])
        spans = [s for r in made for rs in r["resource_spans"] for ss in rs["scope_spans"] for s in ss["spans"]]
        self.assertEqual([(s["name"][0], s["start_time_unix_nano"][0], s["end_time_unix_nano"][0],
                           len(s["events"]), len(s["attributes"])) for s in spans],
                         [(s["name"], int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"]), len(s["events"]),
                           len(s["attributes"])) for s in m.spans])


class Judged(profiles.Case):
    """OpenTelemetry's serializers write the same messages for the same contents."""

    def setUp(self):
        super().setUp()
        modules, why = profiles.node_modules()
        if not modules or not PROTOC:
            self.skipTest(why or "there is no protoc")
        self.record("traced")
        receiver = Receiver(self)
        self.ok(os.environ["HODO"], "export", "-q", "--to", "otlp", "-o", "ours", "traced")
        self.ok(os.environ["HODO"], "export", "-q", "--to", "otlp", "--endpoint", receiver.url, "traced")
        self.sent = {r["path"]: r["body"] for r in receiver.requests}
        self.ok("node", profiles.HERE / "otlp_judge.mjs", modules, "ours", "theirs")

    def record(self, name="traced"):
        self.ok(os.environ["HODO"], "record", "-q", "-m", "1M", "-o", name, "--", os.environ["TRACED"], 20)

    def read(self, name):
        with open(os.path.join(self.dir, name), "rb") as f:
            return f.read()

    def test_json(self):
        traces, metrics = (json.loads(line) for line in self.read("ours").splitlines())
        for ours, theirs in ((traces, "theirs.traces.json"), (metrics, "theirs.metrics.json")):
            theirs = json.loads(self.read(theirs))
            for scope in (s for r in theirs.get("resourceMetrics", ()) for s in r["scopeMetrics"]):
                for point in (p for m in scope["metrics"] for p in m["gauge"]["dataPoints"]):
                    del point["startTimeUnixNano"]
            self.assertEqual(without_nothing(ours), without_nothing(theirs))

    def test_protobuf(self):
        with open(SCHEMA, encoding="utf-8") as f:
            schema = f.read()
        for message, fields in THEIRS.items():
            schema = re.sub(rf"(?m)^message {message} {{$", rf"message {message} {{ {fields}", schema)
        schema += "message Nothing { optional uint32 code = 3; }\n"
        path = os.path.join(self.dir, "theirs.proto")
        with open(path, "w", encoding="utf-8") as f:
            f.write(schema)
        for name, url in (("Traces", "/v1/traces"), ("Metrics", "/v1/metrics")):
            theirs = self.plain(decode(path, "otlp." + name, self.read(f"theirs.{name.lower()}.bin")))
            self.assertEqual(self.plain(decode(SCHEMA, "otlp." + name, self.sent[url])), theirs)

    def plain(self, message):
        """The message in the form of without_nothing()."""
        made = {}
        for key, values in message.items():
            values = [self.plain(v) if isinstance(v, dict) else v for v in values]
            if key in ("int_value", "as_int") or key == "double_value" and values[0] == int(values[0]):
                key, values = "number", [int(values[0])]
            if key in ("value", "values", "string_value", "as_double", "number") or any(values):
                made[key] = values
        for key in ("start_time_unix_nano",) if "as_int" in message or "as_double" in message else ():
            made.pop(key, None)
        return made


profiles.main()
