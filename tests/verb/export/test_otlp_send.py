#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""otlp to a receiver that fails, stalls, goes away and comes back: in the end everything was sent, once; and where that
does not work, one line says so, and how to go on."""
import base64
import gzip
import os
import re
import signal
import socket
import subprocess
import threading

from exporting import Case
from hodo_test import HODO, main
from otlp_receiver import RESET, Receiver

REQUESTS = 700  # in several messages: each has 512 spans
NOT_THERE = re.compile(rb"(\d+) spans? and (\d+) values? of counters were sent: (?:[^\n]*, then )?"
                       rb"run the same command again to send the rest")


def ids(bodies):
    """Ids of spans: trace_id and span_id come first in each."""
    return re.findall(rb"\x0a\x10(.{16})\x12\x08(.{8})", b"".join(bodies), re.DOTALL)


class Send(Case):
    state = 0

    def setUp(self):
        super().setUp()
        self.record(functions=False, requests=REQUESTS)
        type(self).state += 1 # each test has its own file
        self.noted = f"sent{self.state}"

    def export_args(self, receiver, *options):
        return ["export", "--to", "otlp", "--endpoint", receiver if isinstance(receiver, str) else receiver.url,
                "--state", self.noted, *options, "traced"]

    def send(self, receiver, *options, status=0, **how):
        done = self.run_hodo(*self.export_args(receiver, *options), **how)
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = [line for line in done.stderr.decode().splitlines()
                     if "inside of no span" not in line]
        return done

    def assert_all(self, bodies):
        found = ids(bodies)
        self.assertEqual(len(found), self.spans())
        self.assertEqual(len(set(found)), len(found))

    def spans(self):
        counts = self.counts("traced")
        return sum(n for name, n in counts.items() if name.endswith(".begin"))

    def failed(self, words, sent=None):
        """Expects one line, which says how much was sent, and how to go on."""
        self.assertEqual(len(self.said), 1, self.said)
        self.assertIn(words, self.said[0])
        found = NOT_THERE.search(self.said[0].encode())
        self.assertTrue(found, self.said)
        if sent is not None:
            self.assertEqual(int(found[1]), sent)

    def test_what_is_busy_is_asked_again(self):
        receiver = Receiver(self, 503, (429, {"Retry-After": 1}), RESET, 502, 200, 504, RESET)
        self.send(receiver)
        self.assert_all(receiver.taken())
        self.assertEqual(len([r for r in receiver.requests if r["answer"] != 200]), 6)
        # It sent the same body again, not the next one.
        self.assertEqual(len({r["body"] for r in receiver.requests[:5]}), 1)
        self.assertEqual(len(self.said), 2)
        self.assertIn(f"warning: {receiver.url}/v1/traces: HTTP status 503: trying again", self.said[0])
        self.assertEqual(self.said[1], f"hodo: {self.spans()} spans and {2 * REQUESTS} values of counters sent to "
                                       f"{receiver.url}")
        for r in receiver.requests:
            self.assertEqual(r["headers"]["Content-Type"], "application/x-protobuf")

    def test_later_than_retry_says(self):
        receiver = Receiver(self, (429, {"Retry-After": 3600}))
        self.send(receiver, "--retry", 5, "-q", status=1)
        self.failed("/v1/traces: the server answered: HTTP status 429", sent=0)

    def test_a_second_run_sends_the_rest(self):
        first = Receiver(self, 200, 200, 200, (400, {}, b"too hot\r\nSet-Cookie: x"))
        self.send(first, status=1)
        sent, values = len(ids(first.taken())), 512 * len(first.taken("/v1/metrics"))
        self.assertEqual(sent + values, 3 * 512)
        self.failed(": refused: HTTP status 400: too hot;", sent=sent)
        second = Receiver(self, port=self.port_of(first))
        self.send(second)
        self.assertEqual(self.said, [f"hodo: {self.spans() - sent} spans and {2 * REQUESTS - values} values of counters "
                                     f"sent to {second.url}; {sent} spans and {values} values of counters were sent before"])
        self.assert_all(first.taken() + second.taken())
        # A third run has nothing to do; --force sends all again, with the same ids.
        self.send(second)
        self.assertIn("were sent to", self.said[0])
        self.assertIn("before: --force sends them again", self.said[0])
        bodies = len(second.requests)
        self.send(second, "--force")
        again = [r["body"] for r in second.requests[bodies:] if r["path"] == "/v1/traces"]
        self.assertEqual(sorted(ids(again)), sorted(ids(first.taken() + second.requests_before(bodies))))

    def port_of(self, receiver):
        receiver.close()
        return receiver.port

    def test_a_receiver_that_restarts(self):
        first = Receiver(self, 200, 200)
        process = self.start(HODO, *self.export_args(first, "--retry", 300), stderr=subprocess.PIPE)
        first.came.acquire()
        port = self.port_of(first)
        second = Receiver(self, port=port)
        _, said = process.communicate()
        self.assertEqual(process.returncode, 0, said)
        bodies = first.taken() + second.taken()
        # What the receiver took just before it went away may be sent again: with the same ids, in the same message.
        self.assert_all(set(bodies))

    def test_interrupted(self):
        stall = threading.Event()
        first = Receiver(self, 200, stall)
        self.addCleanup(stall.set)
        process = self.start(HODO, *self.export_args(first), stderr=subprocess.PIPE)
        first.came.acquire()
        first.came.acquire()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        self.assertEqual(process.returncode, 128 + signal.SIGINT, said)
        self.said = said.splitlines()
        self.failed("hodo: interrupted: ", sent=512)
        stall.set()
        second = Receiver(self)
        self.send(second, "--endpoint", second.url)
        # Another URL is another receiver, which has nothing yet.
        self.assert_all(second.taken())

    def test_not_there(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0)) # but it does not listen
            url = f"http://user:secret@127.0.0.1:{taken.getsockname()[1]}"
            self.send(url, "--retry", 0, status=1)
            self.failed("/v1/traces: cannot be reached: Failed to connect", sent=0)
            self.assertNotIn("secret", self.said[0])

    def test_credentials(self):
        receiver = Receiver(self, 401)
        self.send(receiver, "--header", "Authorization: Bearer wrong", status=1)
        self.failed("HTTP status 401: give other credentials with --header or OTEL_EXPORTER_OTLP_HEADERS", sent=0)
        self.assertEqual(receiver.requests[0]["headers"]["Authorization"], "Bearer wrong")
        self.send(receiver, env={"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20right, x-tenant=7"})
        self.assertEqual(receiver.requests[-1]["headers"]["Authorization"], "Bearer right")
        self.assertEqual(receiver.requests[-1]["headers"]["x-tenant"], "7")
        self.send(f"http://me:it%40s@127.0.0.1:{receiver.port}", "--force")
        self.assertEqual(receiver.requests[-1]["headers"]["Authorization"],
                         "Basic " + base64.b64encode(b"me:it@s").decode())
        self.assertNotIn("me:it", self.said[0])

    def test_no_header_of_others(self):
        for header in ("X: 1\r\nY: 2", "X 1", ": 1", "X\n: 1", "no colon"):
            self.fails(2, "--header", *self.export_args("http://127.0.0.1:9", "--header", header), text=True)
        self.fails(1, "OTEL_EXPORTER_OTLP_HEADERS", *self.export_args("http://127.0.0.1:9"), text=True,
                   env={"OTEL_EXPORTER_OTLP_HEADERS": "a=1%0d%0aEvil: 2"})
        receiver = Receiver(self)
        self.send(receiver, "--service", "a\r\nEvil: 1")
        for r in receiver.requests:
            self.assertNotIn("Evil", r["headers"])
            self.assertIn(b"a\r\nEvil: 1", r["body"])
        for url in ("ftp://host", "http://", "http:///path", "http://host/?x", "http://ho st", "http://h\r\nX: 1",
                    "host"):
            self.fails(2, "--endpoint", *self.export_args(url), text=True)

    def test_no_other_place(self):
        """A receiver cannot redirect the messages."""
        other = Receiver(self)
        receiver = Receiver(self, (307, {"Location": other.url}))
        self.send(receiver, status=1)
        self.failed("refused: HTTP status 307", sent=0)
        self.assertEqual(other.requests, [])

    def test_what_to_check(self):
        """A request that will be refused again is not just sent again."""
        for status, words in ((302, "as the server has it"), (404, "check --endpoint: no receiver of OTLP"),
                              (400, "check the receiver's log"), (500, "check the receiver's log")):
            receiver = Receiver(self, then=status)
            self.send(receiver, status=1)
            self.failed(f"refused: HTTP status {status}", sent=0)
            self.assertIn(f"{words}", self.said[0])
        receiver = Receiver(self, then=503)
        self.send(receiver, "--retry", 0, status=1)
        self.failed(f"{receiver.url}/v1/traces: the server answered: HTTP status 503; ", sent=0)
        for port in ("99999", "0", "x", "80x", "123456789012345678901234"):
            self.fails(2, "--endpoint", *self.export_args(f"http://127.0.0.1:{port}"), text=True)

    def test_a_web_server(self):
        """An answer that is neither protobuf nor JSON is of no receiver, whatever its status."""
        for kind in ("text/html", "text/html; charset=utf-8", "text/plain", "image/png"):
            receiver = Receiver(self, then=(200, {"Content-Type": kind}, b"<!DOCTYPE html>"))
            self.send(receiver, status=1)
            self.failed(f"{receiver.url}/v1/traces: cannot be used: it answered with {kind}, and is no receiver of "
                        "OTLP; ", sent=0)
            self.assertIn(": check --endpoint, then run", self.said[0])
            self.assertEqual(len(receiver.requests), 1)
        for kind, body in (("application/json", b"{}"), ("application/x-protobuf", b""), ("text/html", b""),
                           ("Application/JSON; charset=utf-8", b"{}"),
                           ("application/vnd.google.protobuf", b"\x0a\x00")):
            receiver = Receiver(self, then=(200, {"Content-Type": kind}, body))
            self.send(receiver, "--force")
            self.assert_all(receiver.taken())

    def test_the_url_of_traces(self):
        receiver = Receiver(self)
        self.send(receiver.url + "/a/v1/traces")
        for url in ("/a", "/a/", "/a/v1/traces/", "/a/v1/metrics", "/a//v1/traces"):
            self.send(receiver.url + url)
            self.assertIn("before: --force sends them again", self.said[0])
        self.assertEqual({r["path"] for r in receiver.requests}, {"/a/v1/traces", "/a/v1/metrics"})
        self.assert_all([r["body"] for r in receiver.requests if r["path"] == "/a/v1/traces"])

    def test_a_receiver_that_hangs(self):
        """A try is limited: by the variable, else by --retry, but not to less than ten seconds."""
        for env, at_least in (({"OTEL_EXPORTER_OTLP_TIMEOUT": "200"}, 200), ({}, 10000)):
            stall = threading.Event()
            self.addCleanup(stall.set)
            self.send(Receiver(self, then=stall), "--retry", 0, status=1, env=env)
            self.failed("cannot be reached: ", sent=0)
            took = int(re.search(r"timed out after (\d+) milliseconds", self.said[0])[1])
            self.assertGreaterEqual(took, at_least)
            self.assertLess(took, 60000)
        self.fails(1, "OTEL_EXPORTER_OTLP_TIMEOUT: ", *self.export_args("http://127.0.0.1:9"), text=True,
                   env={"OTEL_EXPORTER_OTLP_TIMEOUT": "1s"})

    def test_the_environment_says_where(self):
        """Without --endpoint and -o."""
        prefix, args = "OTEL_EXPORTER_OTLP_", ["export", "--to", "otlp", "--state", self.noted, "--force", "traced"]

        def export(*options, status=0, **env):
            env = {prefix + name: url for name, url in env.items()}
            return self.hodo(*args, *options, status=status, env=env).stderr
        both, traces, metrics = Receiver(self), Receiver(self), Receiver(self)
        self.assertIn(f"sent to {both.url}/a\n", export(ENDPOINT=both.url + "/a"))
        self.assertEqual({r["path"] for r in both.requests}, {"/a/v1/traces", "/a/v1/metrics"})
        self.assert_all(both.taken("/a/v1/traces"))
        # Those of one signal come first, and are taken as they are.
        both.requests.clear()
        export(ENDPOINT=both.url, TRACES_ENDPOINT=traces.url + "/here", METRICS_ENDPOINT="")
        self.assertEqual([{r["path"] for r in x.requests} for x in (both, traces)], [{"/v1/metrics"}, {"/here"}])
        export(TRACES_ENDPOINT=traces.url, METRICS_ENDPOINT=metrics.url + "/v1/metrics")
        self.assertEqual([{r["path"] for r in x.requests} for x in (traces, metrics)],
                         [{"/here", "/"}, {"/v1/metrics"}])
        said = export(TRACES_ENDPOINT=traces.url)
        self.assertIn(f"0 spans and {2 * REQUESTS} values of counters have no receiver: give one for all", said)
        # Options come before.
        both.requests.clear()
        export("-o", "of-option", ENDPOINT=both.url)
        self.assertTrue(os.path.exists(self.path("of-option")))
        other = Receiver(self)
        export("--endpoint", other.url, ENDPOINT=both.url, TRACES_ENDPOINT=both.url, PROTOCOL="grpc")
        self.assertEqual(both.requests, [])
        self.assert_all(other.taken())
        for env in ({"ENDPOINT": "localhost:4317"}, {"TRACES_ENDPOINT": "x"}, {"ENDPOINT": both.url + "/?x"},
                    {"ENDPOINT": both.url, "PROTOCOL": "grpc"}):
            said = export(status=1, **env)
            self.assertRegex(said, r"\Ahodo: OTEL_EXPORTER_OTLP_\w+: [^\n]* or write a file with -o\n\Z")

    def test_partly_taken(self):
        # { partial_success { rejected: 3, error_message: "full" } }
        answer = b"\x0a\x08\x08\x03\x12\x04f\x1bll"
        receiver = Receiver(self, (200, {}, answer))
        self.send(receiver)
        self.assertIn("not 3 of the spans or values in them: f?ll", self.said[1])
        # A body that is not such a message does no harm.
        self.send(Receiver(self, (200, {}, b"\xff" * 100000)), "--force")

    def test_partly_taken_in_json(self):
        """What was not taken is said in either form, and even with -q: it is lost."""
        lost = 'hodo: warning: the receiver took the requests, but not %u of the spans or values in them%s'
        for answer, n, why in ((b'{"partialSuccess":{"rejectedSpans":"3","errorMessage":"quota"}}', 3, ": quota"),
                               (b'{ "partialSuccess" : { "errorMessage" : "a \\"b\\"\n", "rejectedSpans" : 4 } }', 4,
                                ': a \\"b\\"?'),
                               (b'{"partialSuccess":{"rejectedDataPoints":"18446744073709551616"}}', (1 << 63) - 1, ""),
                               (b'{"x":["rejectedSpans",{"errorMessage":null}],"partialSuccess":{"rejectedLogRecords":7}}',
                                7, "")):
            for header in ({"Content-Type": "application/json; charset=utf-8"}, {}):
                for options in (["--json"], ["--json", "-q"], ["-q"]):
                    self.send(Receiver(self, (200, header, answer)), "--force", *options)
                    self.assertEqual(self.said[-1], lost % (n, why))
                    self.assertEqual(len(self.said), 1 if "-q" in options else 2)
        # Protobuf, in answer to JSON.
        self.send(Receiver(self, (200, {}, b"\x0a\x02\x08\x03")), "--force", "--json", "-q")
        self.assertEqual(self.said, [lost % (3, "")])
        # All was taken; or it is no answer at all.
        for answer in (b"{}", b'{"partialSuccess":{}}',
                       b'{"partialSuccess":{"rejectedSpans":"0","errorMessage":"slow"}}',
                       b'{"partialSuccess":{"rejectedSpans":-1}}',
                       b'{"rejectedSpans":', b'{"rejectedSpans', b'{"\\', b"{",
                       b'{"errorMessage":"\\"rejectedSpans\\":3"}', b"{" * 100000):
            receiver = Receiver(self, then=(200, {"Content-Type": "application/json"}, answer))
            self.send(receiver, "--force", "--json", "-q")
            self.assertEqual(self.said, [])

    def test_json(self):
        receiver = Receiver(self)
        self.send(receiver, "--json")
        lines = self.export("otlp", "traced").splitlines()
        self.assertEqual(sorted(r["body"] for r in receiver.requests), sorted(lines))
        self.assertEqual({r["headers"]["Content-Type"] for r in receiver.requests}, {"application/json"})

    def test_gzip(self):
        plain, packed = Receiver(self), Receiver(self, 503)
        self.send(plain)
        self.send(packed, "--gzip")
        self.assertEqual({r["headers"]["Content-Encoding"] for r in plain.requests}, {None})
        self.assertEqual({r["headers"]["Content-Encoding"] for r in packed.requests}, {"gzip"})
        bodies = [gzip.decompress(r["body"]) for r in packed.requests[1:]] # the first one was sent again
        self.assertEqual(bodies, [r["body"] for r in plain.requests])
        self.assertLess(sum(len(r["body"]) for r in packed.requests[1:]), sum(map(len, bodies)) / 2)
        # What was sent is known by what it says, compressed or not.
        sent = len(packed.requests)
        self.send(packed)
        self.assertEqual(len(packed.requests), sent)
        for value in ("gzip", "none", ""):
            self.send(packed, "--force", "--json", env={"OTEL_EXPORTER_OTLP_COMPRESSION": value})
            self.assertEqual(packed.requests[-1]["headers"]["Content-Encoding"], "gzip" if value == "gzip" else None)
        self.fails(1, "OTEL_EXPORTER_OTLP_COMPRESSION: neither gzip nor none", *self.export_args(packed), text=True,
                   env={"OTEL_EXPORTER_OTLP_COMPRESSION": "zstd"})
        self.fails(2, "--gzip is for what is sent", "export", "--to", "otlp", "--gzip", "traced", text=True)

    def test_state(self):
        receiver = Receiver(self)
        os.symlink("elsewhere", self.path("link"))
        self.noted = "link"
        self.fails(1, "link: is not a regular file: name another one with --state", *self.export_args(receiver),
                   text=True)
        self.assertFalse(os.path.exists(self.path("elsewhere")))
        self.noted = "no/such/folder"
        self.send(receiver)
        self.assertIn("what was sent cannot be noted", self.said[-1])
        self.assert_all(receiver.taken())
        # Lines that were cut off do not count.
        for cut in (b"", b"0123456789abcde", b"0123456789abcdef ", b"0123456789abcdef 1", b"01234567\0\0\0", b"\0\0",
                    b"0123456789abcdef 5\n0123\n0123456789abcdef 6\n01"):
            self.noted = "cut"
            with open(self.path("cut"), "wb") as f:
                f.write(cut)
            receiver.requests.clear()
            self.send(receiver)
            self.assert_all(receiver.taken())
            with open(self.path("cut"), "rb") as f:
                self.assertEqual(f.read()[:len(cut)], cut)
            receiver.requests.clear()
            self.send(receiver)
            self.assertEqual(receiver.requests, [])

    def test_a_file_of_something_else(self):
        """It stays as it is, and nothing is sent."""
        receiver = Receiver(self)
        for text in (b"#!/bin/sh\nexport A=1\n", b"0123456789abcdef 5\nexport A=1\n", b"\n\n", b"x", b"12\n34\n56\n",
                     b"0123456789abcdef 5x\n", b"0123456789abcdef 5 \n", b"0123456789ABCDEF 5\n", b"\0\xff\n",
                     b"0123456789abcdef a\n", b"\0" * 100 + b"x"):
            self.noted = "other"
            with open(self.path("other"), "wb") as f:
                f.write(text)
            for options in ([], ["--force"]):
                self.fails(1, "other: has other lines than those of what was sent, and is left as it is",
                           *self.export_args(receiver, *options), text=True)
            with open(self.path("other"), "rb") as f:
                self.assertEqual(f.read(), text)
        self.assertEqual(receiver.requests, [])

    def test_credentials_are_no_part_of_what_was_sent(self):
        receiver = Receiver(self)
        self.send(receiver.url.replace("127", "me:secret@127"))
        taken = len(receiver.requests)
        for user in ("", "you:other@"):
            self.send(receiver.url.replace("127", user + "127"))
            self.assertIn("before: --force sends them again", self.said[0])
        self.assertEqual(len(receiver.requests), taken)

    def test_options_of_otlp_alone(self):
        for options in (["--json"], ["--gzip"], ["--service", "x"], ["--endpoint", "http://x"], ["--state", "x"]):
            self.fails(2, "are for --to otlp", "export", "--to", "csv", *options, "traced", text=True)
        self.fails(2, "--retry is for --to clickhouse and --to otlp", "export", "--to", "csv", "--retry", "1", "traced",
                   text=True)
        self.fails(2, "--endpoint and -o", *self.export_args("http://x", "-o", "x"), text=True)


main()
