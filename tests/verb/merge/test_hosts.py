#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_hosts - offset and drift of clocks, as they are found from messages, NTP and wall clocks."""
import os
import re
import subprocess

from hodo_test import HODO, LIMIT_S, compare, main, run
from hosts import NS, PEER, Hosts, edit, new_uuid

SECOND = NS
PAIRS = ["--pair", "net:request_sent.number=net:request_received.number",
         "--pair", "net:answer_sent.number=net:answer_received.number"]


class Messages(Hosts):
    REQUESTS, PAUSE_US = 400, 2000

    def check(self, found, offset_ns, drift):
        """What was found of a host whose clock is ahead and drifts: times are right to within what is said."""
        error_ns = found["error_ns"]
        self.assertIsNotNone(error_ns)
        # In the middle of the recording, which begins at the offset.
        middle_ns = offset_ns + round(drift * 0.5 * self.info(self.path("server"))["duration_ns"])
        self.assertLessEqual(abs(found["offset_ns"] + middle_ns), error_ns)
        return error_ns

    def order(self, recording):
        """Each request arrives after it was sent, and its answer after that."""
        at = {}
        for event in self.events(recording):
            if event["name"].startswith("net:"):
                at.setdefault(event["fields"]["number"], {})[event["name"]] = event["ts"]
        self.assertEqual(len(at), self.REQUESTS)
        return at

    def test_spans_give_offset_and_drift(self):
        # The server is 100 s ahead, and gains 300 millionths.
        web, _ = self.host("client", "web")
        db, drift = self.host("server", "db", 100 * SECOND, 300e-6)
        found, done = self.merged(web, db)
        self.assertEqual((found["web"]["by"], found["web"]["offset_ns"], found["web"]["error_ns"]), ("reference", 0, 0))
        self.assertEqual((found["db"]["by"], found["db"]["pairs"]), ("messages", self.REQUESTS))
        # Less than what it takes to find, and than what an unknown drift would be.
        error_ns = self.check(found["db"], 100 * SECOND, drift)
        self.assertLess(error_ns, 100 * SECOND * 1e-4)
        self.assertNotIn("warning", done.stderr)
        for at in self.order("merged").values():
            self.assertLess(at["net:request_sent"], at["net:request_received"])

    def test_pairs_by_hand_give_the_same(self):
        web, _ = self.host("client", "web2")
        db, drift = self.host("server", "db2", -5 * SECOND, -450e-6)
        found, _ = self.merged("--one-way", *PAIRS, web, db, out="merged2")
        # Spans' begins, and a message and its answer.
        self.assertEqual((found["db2"]["by"], found["db2"]["pairs"]), ("messages", 3 * self.REQUESTS))
        self.check(found["db2"], -5 * SECOND, drift)
        for at in self.order("merged2").values():
            times = [at[f"net:{what}_{how}"] for what, how in (("request", "sent"), ("request", "received"),
                                                               ("answer", "sent"), ("answer", "received"))]
            self.assertEqual(times, sorted(times))

    def test_the_drift_is_found(self):
        # With both directions, and the least delay.
        web, _ = self.host("client", "web3")
        db, drift = self.host("server", "db3", SECOND, 480e-6)
        found, _ = self.merged("--one-way", *PAIRS, web, db, out="merged3")
        self.assertGreater(found["db3"]["drift_ppb"], 0)
        # Both lines are among those that messages allow, which are nowhere farther apart than the error.
        off = abs(found["db3"]["drift_ppb"] / 1e9 - drift) * self.info(self.path("server"))["duration_ns"]
        self.assertLessEqual(off, 2 * found["db3"]["error_ns"] + 10)

    def test_the_reference_can_be_any(self):
        web, _ = self.host("client", "web4", -30 * SECOND, 100e-6)
        db, _ = self.host("server", "db4")
        found, _ = self.merged("--reference", "db4", web, db, out="merged4")
        self.assertEqual(found["db4"]["by"], "reference")
        self.assertLess(abs(found["web4"]["offset_ns"] - 30 * SECOND), SECOND // 10)
        self.fails(1, "--reference nobody", "merge", "-o", "none", "--reference", "nobody", web, db)

    def test_one_direction_is_said(self):
        # Wall clocks that are not synchronised, and differ by a second; the server's is behind.
        web, _ = self.host("client", "web5")
        db, _ = self.host("server", "db5", -SECOND)
        found, _ = self.merged("--one-way", *PAIRS[:2], web, db, out="merged5")
        self.assertEqual((found["db5"]["by"], found["db5"]["error_ns"]), ("one-way messages", None))
        for at in self.order("merged5").values():
            # But for the rounding of a frequency.
            self.assertLessEqual(at["net:request_sent"], at["net:request_received"] + 10)

    def test_one_direction_and_ntp(self):
        # The wall clocks are right to within a second each: messages make it better on one side.
        wall = (True, SECOND)
        web, _ = self.host("client", "web6", wall=wall)
        db, _ = self.host("server", "db6", -SECOND, wall=wall)
        found, _ = self.merged("--one-way", web, db, out="merged6")
        self.assertEqual(found["db6"]["by"], "one-way messages")
        self.assertLessEqual(abs(found["db6"]["offset_ns"] - SECOND), found["db6"]["error_ns"])
        self.assertLess(found["db6"]["error_ns"], 4 * SECOND)

    def test_contradictions_fall_back(self):
        # As if requests were answers: they arrive before they are sent.
        wrong = ["--pair", "net:request_received.number=net:request_sent.number",
                 "--pair", "net:answer_received.number=net:answer_sent.number"]
        wall = (True, 1000)
        web, _ = self.host("client", "web7", wall=wall)
        db, _ = self.host("server", "db7", wall=wall)
        found, done = self.merged("--one-way", *PAIRS, *wrong, web, db, out="merged7")
        self.assertRegex(done.stderr, r"warning: messages between \S+ and \S+ contradict each other by \S+: they are not used")
        self.assertEqual((found["db7"]["by"], found["db7"]["offset_ns"], found["db7"]["error_ns"]), ("NTP", 0, 2000))

    def test_keys_that_are_none_are_counted(self):
        web, _ = self.host("client", "web8")
        db, _ = self.host("server", "db8")
        found, done = self.merged("--one-way", "--pair", "net:request_sent.connection=net:request_received.connection", web,
                                  db, out="merged8")
        self.assertIn(f"warning: {self.REQUESTS} messages have the key of another one", done.stderr)
        self.assertEqual(found["db8"]["pairs"], self.REQUESTS)  # of the spans

    def test_pairs_that_are_not_there(self):
        web, _ = self.host("client", "web11")
        db, _ = self.host("server", "db11")
        for pair, why in (
                ("net:request_sent.nmber=net:request_received.number",
                 "no event net:request_sent has a field nmber: did you mean number?"),
                ("net:request_sent.number,connexion=net:request_received.number,connection",
                 "no event net:request_sent has a field connexion: did you mean connection?"),
                ("net:request_snt.number=net:request_received.number",
                 "no recording has an event net:request_snt: did you mean net:request_sent?"),
                ("net:request_sent.number=net:requests_recieved.number",
                 "no recording has an event net:requests_recieved: did you mean net:request_received, net:request_sent or "
                 "net:answer_received?"),
                ("some:other.thing=net:request_received.number",
                 "no recording has an event some:other: 'hodo print' shows")):
            with self.subTest(pair):
                self.fails(1, f"--pair {pair}: {why}", "merge", "-o", "none", *PAIRS, "--pair", pair, web, db)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_pairs_without_messages(self):
        web, _ = self.host("client", "web12")
        db, _ = self.host("server", "db12")
        pair = "net:request_sent.connection=net:request_received.number"
        _, done = self.merged("--pair", pair, *PAIRS, web, db, out="merged12")
        self.assertEqual(self.warnings(done), [
            f"--pair {pair}: 0 messages matched: none of the {self.REQUESTS} net:request_sent has the value of one of "
            f"the {self.REQUESTS} net:request_received"])
        pair = "net:request_sent.number=net:answer_received.number"
        _, done = self.merged("--pair", pair, web, db, out="merged12")
        self.assertEqual(self.warnings(done),
                         [f"--pair {pair}: 0 messages matched: both sides of each are in one recording"])
        _, done = self.merged("-q", "--pair", pair, web, db, out="merged12")
        self.assertEqual(self.warnings(done), [])
        pair = "net:request_sent.connection=net:request_received.connection"
        _, done = self.merged("--pair", pair, web, db, out="merged12")
        self.assertIn(f"--pair {pair}: 0 messages matched: several have the same value: name a field",
                      self.warnings(done)[0])

    def test_sides_that_are_exchanged(self):
        web, _ = self.host("client", "web13")
        db, _ = self.host("server", "db13", 100 * SECOND, 300e-6)

        def other(pair):
            sent, received = pair.split("=")
            return f"{received}={sent}"
        request, answer = other(PAIRS[1]), other(PAIRS[3])
        for pairs, what in (((request, PAIRS[3]), f"--pair {request}"), ((PAIRS[1], answer), f"--pair {answer}"),
                            ((request, answer), "each --pair"), ((request,), f"--pair {request}")):
            with self.subTest(pairs):
                options = [word for pair in pairs for word in ("--pair", pair)]
                _, done = self.merged(*options, web, db, out="merged13")
                [warning] = self.warnings(done)
                self.assertRegex(warning, r"\Amessages between web13 and db13 contradict each other by \S+: they do not if the "
                                 rf"sides of {re.escape(what)} are exchanged: the event that sends comes first\Z")
        # Messages that contradict each other either way.
        _, done = self.merged(*PAIRS, "--pair", request, "--pair", answer, web, db, out="merged13")
        self.assertNotIn("exchanged", done.stderr)
        self.assertIn("contradict each other", self.warnings(done)[0])

    def warnings(self, done):
        return re.findall(r"hodo: warning: (.*)", done.stderr)

    def test_spans_that_do_not_wait(self):
        # The client's spans are over before the server's begin: those of the client end as soon as they have begun.
        web, _ = self.host("client", "web9")
        db, _ = self.host("server", "db9")
        # An end has the fields of its begin.
        found, done = self.merged(web, db, *PAIRS, "--pair", "shop:ask.begin.number=shop:serve.begin.number",
                                  "--pair", "shop:serve.begin.number=shop:ask.end.number", out="merged9")
        self.assertEqual(self.warnings(done), [])
        self.assertEqual((found["db9"]["by"], found["db9"]["pairs"]), ("messages", 5 * self.REQUESTS))

    def test_three_hosts_in_a_row(self):
        # Only neighbours have messages: what is known of the third adds up.
        web, _ = self.host("client", "web10")
        db, _ = self.host("server", "db10", 7 * SECOND)
        # A host that has talked to nobody.
        alone, _ = self.host("client", "alone10", -3 * SECOND, to="alone10")
        edit(alone, lambda text: text.replace("span_id", "span_no"))
        new_uuid(alone)
        found, _ = self.merged(web, db, alone, out="merged10")
        self.assertEqual([found[h]["by"] for h in ("web10", "db10", "alone10")],
                         ["reference", "messages", "wall clock"])
        self.assertEqual((found["alone10"]["offset_ns"], found["alone10"]["error_ns"]), (0, None))


class Clocks(Hosts):
    REQUESTS, PAUSE_US = 5, 100

    def test_ntp(self):
        wall = (True, 2_000_000)
        web, _ = self.host("client", "web", wall=wall)
        db, _ = self.host("server", "db", wall=(True, 500_000))
        for folder in (web, db):
            edit(folder, lambda text: text.replace("span_id", "span_no"))  # no messages
        found, _ = self.merged(web, db)
        self.assertEqual((found["db"]["by"], found["db"]["offset_ns"], found["db"]["error_ns"]), ("NTP", 0, 2_500_000))
        compare(self.path("merged"), **self.how({}))

    def test_a_clock_that_was_set_meanwhile(self):
        # At the end it was synchronised, and 3 s further than at the begin.
        def change(text):
            text = text.replace("span_id", "span_no")
            return (text + "/*@wall at=begin mono=1000 real=5000001000 synchronised=0 error=16000000000 "
                    "max_error=16000000000*/\n"
                    "/*@wall at=end mono=2000 real=8000002000 synchronised=1 error=10000 max_error=70000*/\n")
        web, _ = self.host("client", "web2", wall=(True, 1000))
        db, _ = self.host("server", "db2")
        edit(web, lambda text: text.replace("span_id", "span_no"))
        edit(db, change)
        found, _ = self.merged(web, db, out="merged2")
        self.assertEqual((found["db2"]["by"], found["db2"]["offset_ns"], found["db2"]["error_ns"]),
                         ("NTP", 3 * SECOND, 71_000))

    def test_one_boot_is_one_clock(self):
        # Containers of one machine; its wall clock was set between the two recordings.
        web, _ = self.host("client", "web3", boot="a-boot", wall=(False, 16 * SECOND))
        db, _ = self.host("server", "db3", 4 * SECOND, boot="a-boot")
        edit(db, lambda text: text + "/*@wall at=begin mono=0 real=4000000000 synchronised=0 error=0 max_error=0*/\n")
        found, _ = self.merged(web, db, out="merged3")
        self.assertEqual((found["db3"]["by"], found["db3"]["offset_ns"]), ("boot", -4 * SECOND))
        self.assertLessEqual(found["db3"]["error_ns"], 1000)

    def test_containers_with_a_clock_of_their_own(self):
        """A time namespace: the boot is the same, and its monotonic clock is 100,000 s ahead."""
        ahead = ["unshare", "--time", "--monotonic", "100000", "--boottime", "100000", "--fork"]
        if run(*ahead, "true").returncode:
            self.skipTest("time namespaces cannot be made here")
        for folder, before in (("plain", []), ("ahead", ahead)):
            with subprocess.Popen([*before, HODO, "record", "-q", "-o", self.path(folder), "--", PEER, "server",
                                   self.path("socket-" + folder)]) as server:
                run(PEER, "client", self.path("socket-" + folder), 20, 0, status=0)
                self.assertEqual(server.wait(LIMIT_S), 0)
        found, _ = self.merged("one=" + self.path("plain"), "two=" + self.path("ahead"), out="merged9")
        other = found["two"]
        self.assertEqual(other["by"], "boot")
        self.assertLess(abs(other["offset_ns"]), SECOND)

    def test_recordings_note_the_clock(self):
        text = self.metadata(self.folders(self.path("client"))[0], self.path("client"))
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            self.assertIn(f"/*@machine boot={file.read().strip()}*/\n", text)
        for at in ("begin", "end"):
            self.assertRegex(text, rf"(?m)^/\*@wall at={at} mono=\d+ real=\d+ synchronised=[01] error=\d+ max_error=\d+ "
                                   r"drift=-?\d+ tai=-?\d+\*/$")


main()
