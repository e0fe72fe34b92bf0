#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HODO_SPAN_CONTEXT: a program continues traces of others, others can continue its own, and hodo export --to otlp has
the same identifiers."""
import collections
import json
import re
import shutil

import hodo_test
from hodo_test import json_lines, main, program, run

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GOOD = f"00-{TRACE}-{PARENT}-01"
TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-0([01])")
# Every second argument ends at the end of a page.
TAKEN = [GOOD, GOOD, GOOD[:-1] + "0", f"cc-{TRACE}-{PARENT}-01", f"01-{TRACE}-{PARENT}-ff-more", GOOD]
REFUSED = ["", "00-", "x", GOOD[:-1], GOOD + "-more", GOOD + "1", f"ff-{TRACE}-{PARENT}-01", f"0x-{TRACE}-{PARENT}-01",
           GOOD.upper(), GOOD.replace("-", "_"), f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE}-{'0' * 16}-01",
           f"00-{TRACE}-{PARENT}-0g", f"00-{TRACE[:-1]}\n-{PARENT}-01", "a" * 5000, " " + GOOD] + [
           f"00-{TRACE[:n]}{c}{TRACE[n + 1:]}-{PARENT}-01" for n, c in enumerate("/:@`gGO[Wz\x7f\xff\x01W_")]


class Context(hodo_test.Case):
    def served(self, name, *args, **how):
        done = run(*args and [program(name), *args] or [program(name)], status=0, **self.how(how))
        return [line.split(" ") for line in done.stdout.splitlines()]

    def recorded(self, name, *args):
        done = self.hodo("record", "-q", "-m", "8M", "-o", self.data, "--", program(name), *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split(" ") for line in done.stdout.splitlines()]

    def spans(self):
        """The exported spans, by id."""
        spans = {}
        for line in json_lines(self.ok("export", "-q", "--to", "otlp", "-o", "-", self.data)):
            for r in line.get("resourceSpans", ()):
                for s in (s for scope in r["scopeSpans"] for s in scope["spans"]):
                    self.assertNotIn(s["spanId"], spans)
                    spans[s["spanId"]] = s
        return spans

    def requests(self, lines):
        """(trace, ids) of each request that the program printed, and of the spans inside of it, and the flag "sampled" that
        all of them pass on."""
        self.assertEqual(lines[0], ["outside", "none"])
        found = [(name, *TRACEPARENT.fullmatch(text).groups()) for name, text in lines if name != "outside"]
        for a, b, c in zip(found[::3], found[1::3], found[2::3]):
            self.assertEqual([a[0], b[0], c], ["web:request", "web:query", a])
            self.assertEqual(a[1], b[1])
            self.assertNotEqual(a[2], b[2])
            self.assertEqual(a[3], b[3])
            yield a[1], a[2], b[2], a[3]

    def test_nothing_without_a_recording(self):
        for name in ("SERVED", "SERVED_CXX"):
            self.assertEqual({text for _, text in self.served(name, GOOD)}, {"none"})

    def test_remote_parents(self):
        for name in ("SERVED", "SERVED_CXX"):
            with self.subTest(name):
                shutil.rmtree(self.data, ignore_errors=True)
                requests = list(self.requests(self.recorded(name, *TAKEN, *REFUSED)))
                self.assertEqual(len(requests), len(TAKEN) + len(REFUSED) + 3)
                spans = self.spans()
                for n, (trace, request, query, sampled) in enumerate(requests):
                    taken = n < len(TAKEN)
                    self.assertEqual(sampled, "0" if taken and TAKEN[n].endswith("-00") else "1")
                    self.assertEqual(trace == TRACE, taken, (TAKEN + REFUSED + [""] * 3)[n])
                    span = spans[request]
                    self.assertEqual((span["name"], span["traceId"], span.get("parentSpanId")),
                                     ("web:request", trace, PARENT if taken else None))
                    self.assertEqual((span["kind"], span["flags"]), (2, 0x301) if taken else (1, 0x101))
                    # The span in between has no context of its own.
                    plain = spans[spans[query]["parentSpanId"]]
                    self.assertEqual((plain["name"], plain["parentSpanId"], plain["traceId"], spans[query]["traceId"],
                                      spans[query]["kind"]), ("web:plain", request, trace, trace, 1))
                    self.assertEqual([e["name"] for e in spans[query]["events"]], ["web:row"])
                    self.assertEqual([a["key"] for a in span["attributes"]][-2:], ["n", "path"])
                    self.assertFalse({a["key"] for a in span["attributes"]} & {"trace_hi", "span_id"})
                # No two have an identifier in common, not even forked children.
                self.assertEqual(len({t for t, *_ in requests[len(TAKEN):]}), len(REFUSED) + 3)
                self.assertEqual(len({i for _, *ids, _ in requests for i in ids}), 2 * len(requests))

    def test_each_character(self):
        self.assertEqual(self.recorded("SERVED", "characters", GOOD), [["wrong", "0"]])

    def test_threads_and_handlers(self):
        self.assertEqual(self.recorded("SERVED", "threads"), [["wrong", "0"]])
        ids, names = [], collections.Counter()
        for line in json_lines(self.ok("print", "-q", "--json", self.data)):
            if line["name"].endswith(".begin"):
                ids.append(line["fields"]["span_id"])
                names[line["name"]] += 1
        self.assertEqual((names["web:thread.begin"], names["web:step.begin"]), (3, 12000))
        self.assertGreater(names["web:handler.begin"], 0)
        self.assertEqual(len(set(ids)), len(ids))

    def test_limits(self):
        self.recorded("SERVED", "limits")
        span, = self.spans().values()
        self.assertEqual((len(span["events"]), span["droppedEventsCount"]), (128, 72))
        text = next(a["value"]["stringValue"] for a in span["attributes"] if a["key"] == "text")
        self.assertEqual(text, "a" * 4095)
        # Numbers that JSON does not have.
        *_, metrics = json_lines(self.ok("export", "-q", "--to", "otlp", "-o", "-", self.data))
        metric, = metrics["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
        self.assertEqual([p["asDouble"] for p in metric["gauge"]["dataPoints"]], ["NaN", "-Infinity"])

    def test_machine_code(self):
        """An idle span is one instruction, and the return."""
        if not shutil.which("objdump"):
            self.skipTest("there is no objdump")
        text = run("objdump", "-d", "--no-show-raw-insn", "--disassemble=idle", program("SERVED"), status=0).stdout
        code = [line.split("\t")[1].split() for line in text.splitlines() if re.match(r"\s+[0-9a-f]+:\t", line)]
        code = [words for words in code if words[0] != "endbr64"]
        self.assertEqual((code[0][0], code[0][1].split(",")[1], code[1][0]), ("test", "%eax", "ret"))

    def test_print(self):
        self.recorded("SERVED", GOOD)
        event = next(e for e in json_lines(self.ok("print", "-q", "--json", self.data))
                     if e["name"] == "web:request.begin")
        self.assertEqual(json.dumps(event["fields"]).count("trace_hi"), 1)
        self.assertIn(f"trace_hi=0x{TRACE[:16]} trace_lo=0x{TRACE[16:]} parent_id=0x{PARENT.lstrip('0')} span_id=0x",
                      self.ok("print", "-q", self.data))


main()
