#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo record --otlp: spans arrive while they are recorded, and are those that an export of the recording sends;
whatever the receiver does, the recording is the same, and in the end one line says what was sent."""
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading

from exporting import PROTOC, Case, decode, program
from hodo_test import HODO, LIBHODO, SOURCE, main, wait_for
from otlp_receiver import RESET, Receiver

PACED, SERVED = program("PACED"), program("SERVED")
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SCHEMA = os.path.join(SOURCE, "src/export/otlp/otlp.proto")
SENT = re.compile(r"hodo: (\d+) spans? and (\d+) values? of counters sent to ")
NOT_SENT = re.compile(r"hodo: (http://\S+): (.*): (\d+) spans? and (\d+) values? of counters were sent, "
                      r"(?:at least )?(\d+) spans? and (\d+) values? of counters were not: "
                      r"'hodo export --to otlp --endpoint \1 (\w+)' sends the rest")


def fields(message):
    """(number, value) of a message's fields."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(message):
        key = varint()
        size = {0: 0, 1: 8, 5: 4}.get(key & 7)
        value = varint() if size != 8 and size != 4 else None
        if size == 0:
            yield key >> 3, value
        else:
            size = size or value
            yield key >> 3, message[at:at + size]
            at += size


def inside(bodies):
    """(resource, span or metric) of requests."""
    for body in bodies:
        for _, resource in fields(body):
            parts = list(fields(resource))
            for scope in (value for number, value in parts if number == 2):
                yield from ((parts[0][1], value) for number, value in fields(scope) if number == 2)


class Stream(Case):
    SHARED = False

    def begin(self, receiver, *options, name="live", clock=("--clock", "monotonic"), **env):
        """The recorder of a program that makes spans when it is told to, and loses nothing on a busy machine."""
        url = receiver if isinstance(receiver, str) else receiver.url
        self.process = self.start(HODO, "record", "--wait", *clock, "-o", name, "--otlp", url, *options, "--", PACED,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)

    def ask(self, n):
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        self.assertEqual(self.process.stdout.readline(), f"{n}\n")

    def finish(self, status=0):
        """The lines about what was sent, without the summary."""
        _, said = self.process.communicate()
        self.assertEqual(self.process.returncode, status, said)
        self.said = [line for line in said.splitlines() if "http://" in line]
        self.all_said = said
        return self.said

    def spans(self, *receivers, twice=False):
        """By their ids: what was said of them. None was sent twice, unless a receiver went away with its answer."""
        found = {}
        for resource, span in inside(body for r in receivers for body in r.taken()):
            ids = tuple(value for number, value in fields(span) if number in (1, 2))
            self.assertTrue(ids not in found or (twice and found[ids] == (resource, span)))
            found[ids] = resource, span
        return found

    def values(self, *receivers, twice=False):
        return sorted((set if twice else list)((resource, name, point) for r in receivers
                      for resource, metric in inside(r.taken("/v1/metrics"))
                      for name, gauge in [(dict(fields(metric))[1], dict(fields(metric))[5])]
                      for _, point in fields(gauge)))

    def exported(self, name="live"):
        receiver = Receiver(self)
        self.ok("export", "-q", "--to", "otlp", "--endpoint", receiver.url, "--state", "noted", name)
        return receiver

    def assert_same(self, *receivers, twice=False):
        """What arrived is what an export of the recording sends, byte by byte."""
        exported = self.exported()
        expected, found = self.spans(exported), self.spans(*receivers, twice=twice)
        self.assertEqual(found.keys(), expected.keys())
        self.assertEqual(found, expected)
        self.assertEqual(self.values(*receivers, twice=twice), self.values(exported))
        if PROTOC:
            decode(SCHEMA, "otlp.Traces", b"".join(b for r in receivers for b in r.taken()))
            decode(SCHEMA, "otlp.Metrics", b"".join(b for r in receivers for b in r.taken("/v1/metrics")))
        self.assert_noted(receivers[-1])
        return found

    def assert_noted(self, receiver, url=None):
        """An export to the same receiver finds that all was sent."""
        before = len(receiver.requests)
        done = self.hodo("export", "--to", "otlp", "--endpoint", url or receiver.url, "live", status=0)
        self.assertIn(f"were sent to {receiver.url} before: --force sends them again", done.stderr)
        self.assertEqual(len(receiver.requests), before)

    def test_meanwhile(self):
        receiver = Receiver(self)
        self.begin(receiver)
        total = 0
        for n in (1, 700, 3):
            self.ask(n)
            total += 2 * n + 1
            # They come while the program waits, as it does not end before they do.
            wait_for(f"{total} spans", lambda: len(self.spans(receiver)) == total)
        self.finish()
        self.assertEqual(self.said, [f"hodo: {total + 1} spans and 704 values of counters sent to {receiver.url}"])
        self.assert_same(receiver)
        for r in receiver.requests:
            self.assertEqual(r["headers"]["Content-Type"], "application/x-protobuf")
            self.assertEqual(r["headers"]["Content-Encoding"], None)

    def test_the_times_of_the_tsc(self):
        """The clock is known better from second to second: what times say may differ, identifiers do not."""
        receiver = Receiver(self)
        self.begin(receiver, clock=())
        for n in (10, 20):
            self.ask(n)
            wait_for("spans", lambda: len(self.spans(receiver)) >= 2 * n)
        self.finish()
        expected, found = self.spans(self.exported()), self.spans(receiver)
        self.assertEqual(found.keys(), expected.keys())

        def times(of):
            return {ids: [int.from_bytes(value, "little") for number, value in fields(span) if number in (7, 8)]
                    for ids, (_, span) in of.items()}
        self.assert_noted(receiver)
        theirs = times(expected)
        for ids, ours in times(found).items():
            for a, b in zip(ours, theirs[ids]):
                self.assertLess(abs(a - b), 100_000)
        # As if the clock had been known worse.
        shutil.copytree(self.path("live"), self.path("worse"))
        folder, = (d for d in os.listdir(self.path("worse")) if not d.startswith("."))
        metadata = self.path("worse", folder, "metadata")
        with open(metadata, "rb") as f:
            text, n = re.subn(rb"(/\*@clock kind=\w+ freq=)(\d+)", lambda m: m[1] + b"%d" % (int(m[2]) + 400_000),
                              f.read())
        self.assertEqual(n, 1)
        with open(metadata, "wb") as f:
            f.write(text)
        worse = self.spans(self.exported("worse"))
        self.assertEqual(worse.keys(), expected.keys())
        self.assertNotEqual(times(worse), theirs)

    def test_several_processes(self):
        receiver = Receiver(self)
        script = f"for n in 5 600 7; do echo $n | {PACED} & done; wait; {SERVED} {TRACEPARENT} {TRACEPARENT}"
        self.ok("record", "-q", "--clock", "monotonic", "-o", "live", "--otlp", receiver.url, "--", "sh", "-c", script)
        found = self.assert_same(receiver)
        traces = {trace for trace, _ in found}
        self.assertIn(bytes.fromhex(TRACEPARENT.split("-")[1]), traces)
        self.assertGreaterEqual(len({resource for resource, _ in found.values()}), 4)

    def test_the_rest(self):
        """The command that is named sends what was not sent, and nothing else."""
        for name, clock in (("live", ("--clock", "monotonic")), ("tsc", ())):
            receiver = Receiver(self)
            url = receiver.url.replace("127", "me:secret@127")
            self.begin(url, name=name, clock=clock, OTEL_EXPORTER_OTLP_TIMEOUT="0")
            self.ask(300)
            wait_for("spans and values", lambda r=receiver: len(self.spans(r)) == 601 and len(self.values(r)) == 300)
            receiver.then = 503
            self.ask(700)
            self.finish()
            said = NOT_SENT.fullmatch(self.said[-1])
            self.assertTrue(said, self.said)
            self.assertEqual([int(said[i]) for i in (3, 4, 5, 6)], [601, 300, 1402, 700])
            receiver.then = 200
            command = shlex.split(re.search("'hodo (.*)'", said[0])[1])
            done = self.hodo(*command, status=0)
            # Nothing twice: spans() and the number of values.
            self.assertEqual(len(self.spans(receiver)), 601 + 1402)
            self.assertEqual(len(self.values(receiver)), 1000)
            self.assertEqual(done.stderr, f"hodo: 1402 spans and 700 values of counters sent to {receiver.url}; 601 spans "
                                          "and 300 values of counters were sent before\n")
            if name == "live":
                self.assert_same(receiver)
                self.assert_noted(receiver, url)

    def test_spans_of_another_service(self):
        receiver = Receiver(self)
        self.begin(receiver)
        self.ask(10)
        self.finish()
        self.ok("export", "-q", "--to", "otlp", "--endpoint", receiver.url, "--service", "shop", "live")
        spans = [span for _, span in inside(receiver.taken())]
        self.assertEqual(len({ids for span in spans for number, ids in fields(span) if number == 2}), 22)
        self.assertEqual(len(spans), 2 * 22)

    def test_a_state_that_cannot_be_written(self):
        """The recording goes on; an unrelated file stays as it is."""
        text = b"#!/bin/sh\nexit 1\n"
        with open(self.path("live.otlp-sent"), "wb") as f:
            f.write(text)
        receiver = Receiver(self)
        self.begin(receiver)
        self.ask(10)
        self.finish()
        self.assertRegex(self.said[-1], SENT)
        self.assertIn("hodo: warning: live.otlp-sent: what was sent cannot be noted: it is another file: ", self.all_said)
        self.begin(receiver.url, "-o", "live", OTEL_EXPORTER_OTLP_TIMEOUT="0")
        receiver.then = 503
        self.ask(10)
        self.finish()
        self.assertIn("sends the rest, and again what could not be noted in live.otlp-sent: it is another file",
                      self.said[-1])
        with open(self.path("live.otlp-sent"), "rb") as f:
            self.assertEqual(f.read(), text)

    def test_a_state_of_an_earlier_recording(self):
        """It begins anew with the recording, and has a line for each span and value."""
        receiver = Receiver(self)
        for n in (600, 5):
            self.begin(receiver)
            self.ask(n)
            self.finish()
            with open(self.path("live.otlp-sent"), encoding="ascii") as f:
                lines = f.read().splitlines()
            self.assertEqual(len(lines), 3 * n + 2)
            for line in lines:
                self.assertRegex(line, r"\A[0-9a-f]{16} 1\Z")

    def test_parts(self):
        receiver = Receiver(self)
        self.begin(receiver, "--rotate", "16K", "-m", "64K", "--packet-size", "4K")
        total = 0
        for n in (400, 900, 300):
            self.ask(n)
            total += 2 * n + 1
            wait_for(f"{total} spans", lambda: len(self.spans(receiver)) == total)
        self.finish()
        self.assertGreater(len([d for d in os.listdir(self.path("live")) if d.startswith("part-")]), 3)
        self.assert_same(receiver)

    def test_parts_that_are_removed_before_they_are_read(self):
        stall = threading.Event()
        self.addCleanup(stall.set)
        receiver = Receiver(self, stall)
        self.begin(receiver, "--rotate", "16K", "--keep", "2", "-m", "64K", "--packet-size", "4K")
        self.ask(10)
        receiver.came.acquire()
        self.ask(4000)
        wait_for("old parts are gone", lambda: min(os.listdir(self.path("live"))) > "part-0006")
        stall.set()
        self.finish()
        missed = re.search(r"--otlp: (\d+) events were not read", self.all_said)
        self.assertTrue(missed, self.all_said)
        self.assertGreater(int(missed[1]), 1000)
        # What is still there was sent, with the ids of an export of it.
        self.assertLess(len(self.spans(receiver)), 8023)
        self.assertGreater(len(self.spans(receiver).keys() & self.spans(self.exported()).keys()), 100)

    def test_a_receiver_that_fails(self):
        receiver = Receiver(self, 503, (429, {"Retry-After": 1}), RESET, 502, 200, 504, RESET)
        self.begin(receiver)
        self.ask(700)
        wait_for("spans", lambda: len(self.spans(receiver)) == 1401)
        self.finish()
        self.assertEqual(len(self.said), 2)
        self.assertEqual(self.said[0], f"hodo: {receiver.url}: HTTP status 503: trying again; meanwhile the recording keeps "
                                       "the spans")
        self.assertRegex(self.said[1], SENT)
        self.assert_same(receiver)

    def test_a_receiver_that_stalls(self):
        """Neither the program nor the recording waits for it, and at the end hodo does for as long as it was told."""
        stall = threading.Event()
        self.addCleanup(stall.set)
        receiver = Receiver(self, 200, stall, stall)
        self.begin(receiver, "-m", "64K", OTEL_EXPORTER_OTLP_TIMEOUT="300")
        self.ask(600)
        wait_for("two requests", lambda: len(receiver.requests) >= 2)
        for _ in range(20):
            self.ask(600) # far more than the buffers hold
        self.finish()
        said = NOT_SENT.fullmatch(self.said[-1])
        self.assertTrue(said, self.said)
        self.assertEqual(said[2], "there was no more time")
        self.assertEqual(self.counts("live")["paced:request.begin"], 21 * 600)
        spans = 21 * 1201 + 1
        if "at least" not in said[0]:
            self.assertEqual(int(said[3]) + int(said[5]), spans)
        # An export without what was noted sends all of it again, as the same spans.
        first = self.spans(Taken([r["body"] for r in receiver.requests[:1] if r["path"] == "/v1/traces"]))
        self.assertEqual(int(said[3]), len(first))
        rest = self.spans(self.exported())
        self.assertEqual(len(rest), spans)
        self.assertEqual({ids: rest[ids] for ids in first}, first)

    def test_a_receiver_that_restarts(self):
        first = Receiver(self)
        self.begin(first)
        self.ask(10)
        wait_for("spans", lambda: len(self.spans(first)) == 21)
        first.close()
        self.ask(700)
        self.ask(20)
        second = Receiver(self, port=first.port)
        wait_for("spans", lambda: len(self.spans(first, second, twice=True)) == 21 + 1401 + 41)
        self.finish()
        self.assertRegex(self.said[-1], SENT)
        # What the first one took just before it went away may be sent again: with the same ids.
        self.assert_same(first, second, twice=True)

    def test_it_comes_back_at_the_end(self):
        """The end of the recording also ends the waiting between two tries."""
        receiver = Receiver(self, (503, {"Retry-After": 3600}))
        self.begin(receiver)
        self.ask(10)
        receiver.came.acquire()
        wait_for("it waits", lambda: "trying again" in self.process.stderr.readline())
        self.finish()
        self.assertRegex(self.said[-1], SENT)
        self.assert_same(receiver)

    def test_not_there(self):
        receiver = Receiver(self)
        receiver.close()
        url = receiver.url.replace("127", "me:secret@127")
        self.begin(url, OTEL_EXPORTER_OTLP_TIMEOUT="0")
        self.ask(10)
        self.assertIn("trying again; meanwhile the recording keeps the spans", self.process.stderr.readline())
        self.finish()
        said = NOT_SENT.fullmatch(self.said[-1])
        self.assertTrue(said, self.said)
        self.assertIn("Failed to connect", said[2])
        self.assertEqual([int(said[i]) for i in (3, 4, 5, 6)], [0, 0, 22, 10])
        self.assertEqual(said[7], "live")
        self.assertNotIn("secret", "".join(self.said))
        self.assertEqual(len(self.spans(self.exported())), 22)

    def test_interrupted(self):
        """Ctrl-C while the rest is sent ends that, and not the recording, which is complete."""
        receiver = Receiver(self)
        receiver.close()
        self.begin(receiver, OTEL_EXPORTER_OTLP_TIMEOUT="3600000")
        self.ask(10)
        self.process.stdin.close()
        self.process.stdin = None
        wait_for("the rest", lambda: "sending the rest to http://127.0.0.1" in self.process.stderr.readline())
        self.process.send_signal(signal.SIGINT)
        self.finish()
        self.assertTrue(NOT_SENT.fullmatch(self.said[-1]), self.said)
        self.assertEqual(len(self.spans(self.exported())), 22)

    def test_credentials(self):
        receiver = Receiver(self, 401)
        self.begin(receiver, "--otlp-header", "Authorization: Bearer wrong")
        self.ask(10)
        wait_for("it says so", lambda: "HTTP status 401: no spans are sent: give other credentials with --otlp-header or "
                 "OTEL_EXPORTER_OTLP_HEADERS" in self.process.stderr.readline())
        self.ask(20)
        self.finish()
        said = NOT_SENT.fullmatch(self.said[-1])
        self.assertEqual([said[i] for i in (2, 3, 5)], ["HTTP status 401", "0", "63"])
        self.assertEqual([r["headers"]["Authorization"] for r in receiver.requests], ["Bearer wrong"])
        other = Receiver(self)
        self.begin(other, name="other", OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20right",
                   OTEL_EXPORTER_OTLP_COMPRESSION="gzip")
        self.ask(10)
        self.finish()
        self.assertEqual({(r["headers"]["Authorization"], r["headers"]["Content-Encoding"]) for r in other.requests},
                         {("Bearer right", "gzip")})

    def test_some_are_refused(self):
        receiver = Receiver(self, 200, (400, {}, b"too hot\r\nSet-Cookie: x"))
        self.begin(receiver)
        self.ask(10)
        wait_for("spans", lambda: self.spans(receiver))
        self.ask(20)
        self.finish()
        said = NOT_SENT.fullmatch(self.said[-1])
        self.assertTrue(said, self.said)
        self.assertEqual(said[2], "HTTP status 400: too hot")
        self.assertEqual(sum(int(said[i]) for i in (3, 4, 5, 6)), 22 + 41 + 30)
        self.assertGreater(int(said[3]), 0)

    def test_a_web_server(self):
        receiver = Receiver(self, then=(200, {"Content-Type": "text/html"}, b"<html>"))
        self.begin(receiver.url + "/v1/traces")
        self.ask(10)
        self.finish()
        said = NOT_SENT.fullmatch(self.said[-1])
        self.assertTrue(said, self.said)
        self.assertEqual([said[i] for i in (2, 3, 5)],
                         ["it answered with text/html, and is no receiver of OTLP", "0", "22"])
        self.assertEqual({r["path"] for r in receiver.requests}, {"/v1/traces", "/v1/metrics"})

    def test_a_running_process(self):
        receiver = Receiver(self)
        program = self.start(PACED, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             env={"LD_PRELOAD": LIBHODO, "HODO_LISTEN": "1"})
        recorder = self.start(HODO, "record", "--clock", "monotonic", "-o", "live", "--otlp", receiver.url, "-p",
                              program.pid, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def runs():
            program.stdin.write("10\n")
            program.stdin.flush()
            program.stdout.readline()
            return self.spans(receiver)
        wait_for("spans", runs, every_s=0.1)
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate()
        self.assertEqual(recorder.returncode, 0, said)
        self.assertRegex(said, SENT)
        self.assert_same(receiver)

    def test_options(self):
        record = ["record", "--otlp"]
        for url in ("ftp://host", "http://", "http://host/?x", "http://h\r\nX: 1"):
            self.fails(2, "--otlp: ", *record, url, "true", text=True)
        self.fails(2, "--otlp-header: give NAME: VALUE", *record, "http://x", "--otlp-header", "X: 1\r\nY: 2", "true",
                   text=True)
        self.fails(2, "--otlp-header is for what is sent", "record", "--otlp-header", "X: 1", "true", text=True)
        self.fails(2, "--overwrite writes at the end", *record, "http://x", "--overwrite", "true", text=True)
        self.fails(2, "--otlp reads the parts that --to removes", *record, "http://x", "--to", "there", "true", text=True)
        self.fails(2, "leave out --compress", *record, "http://x", "--compress", "true", text=True)
        for name, value in (("TIMEOUT", "1s"), ("HEADERS", "a"), ("COMPRESSION", "zstd")):
            self.fails(1, f"OTEL_EXPORTER_OTLP_{name}: ", *record, "http://x", "true", text=True,
                       env={f"OTEL_EXPORTER_OTLP_{name}": value})
        self.assertFalse(os.path.exists(self.path("hodo.data")))


class Taken:
    """Some of what a receiver took."""

    def __init__(self, bodies):
        self.bodies = bodies

    def taken(self):
        return self.bodies


main()
