#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_verbs - what verbs make of a recording of several hosts."""
import json
import pathlib
import re
import shutil

from hodo_test import json_lines, main
from hosts import Hosts, new_uuid
from view_page import Page


class Verbs(Hosts):
    REQUESTS, PAUSE_US = 20, 100

    def setUp(self):
        super().setUp()
        if not hasattr(type(self), "made"):
            self.host("client", "web-1")
            self.host("server", "db-1", 10**9)
            self.merged(self.path("web-1"), self.path("db-1"))
            type(self).made = True

    def json(self, verb, *options, recording=None):
        return json.loads(self.ok(verb, "-q", "--json", *options, recording or self.path("merged")))

    def page(self, recording, *options):
        self.ok("view", "-q", "-f", "-o", self.path("page.html"), *options, recording)
        return Page(self.path("page.html"))

    def test_host_selects(self):
        for host, name in (("web-1", "shop:ask"), ("db-?", "shop:serve")):
            lines = self.ok("print", "-q", "--json", "--host", host, self.path("merged"))
            names = {e["name"] for e in json_lines(lines)}
            self.assertIn(name + ".begin", names)
            self.assertEqual({n for n in names if n.startswith("shop:")}, {name + ".begin", name + ".end"})
            self.assertEqual([r["name"] for r in self.json("report", "--host", host, "-e", "shop:*")["spans"]], [name])
            self.assertIn(name + ".end", {e["name"] for e in self.json("stat", "--host", host)["events"]})
            self.assertIn(name, self.ok("graph", "-q", "--host", host, self.path("merged")))
            page = self.page(self.path("merged"), "--host", host)
            self.assertEqual({page.name(s) for s in page.rows("slices")}, {name})
            rows = json_lines(self.ok("export", "-q", "--to", "jsonl", "-o", "-", "--host", host, self.path("merged")))
            self.assertTrue({r["name"] for r in rows if r.get("name", "").startswith("shop:")} <=
                            {name, name + ".begin", name + ".end"})
        done = self.hodo("print", "--host", "db1", self.path("merged"))
        self.assertRegex(done.stderr, r"no host matches 'db1' \(near: db-1\): 'hodo info \S+' lists the hosts\n\Z")

    def test_other_hosts_are_not_read(self):
        """Nor is it noticed that their files are damaged."""
        shutil.copytree(self.path("merged"), self.path("damaged"))
        for stream in pathlib.Path(self.path("damaged")).glob("host-db-1/*/[cf]*"):
            stream.write_bytes(b"damaged " * 1000)
        good, bad = (self.hodo("print", "--json", "--host", h, self.path("damaged")) for h in ("web-1", "db-1"))
        self.assertEqual((good.returncode, good.stderr), (0, ""))
        self.assertEqual(good.stdout, self.ok("print", "--json", "--host", "web-1", self.path("merged")))
        self.assertIn("damaged", bad.stderr)

    def test_print_says_whose(self):
        for line in self.ok("print", "-q", self.path("merged")).splitlines():
            host = "web-1" if "shop:ask" in line or "request_sent" in line or "answer_received" in line else "db-1"
            self.assertRegex(line, rf"\A\[\S+\] {host} -?\d+ \d+ \S+ \S+:")
        events = json_lines(self.ok("print", "-q", "--json", self.path("merged")))
        self.assertEqual({(e["host"], e["name"]) for e in events if e["name"].startswith("shop:")},
                         {("web-1", "shop:ask.begin"), ("web-1", "shop:ask.end"),
                          ("db-1", "shop:serve.begin"), ("db-1", "shop:serve.end")})
        # Of one host, there is nothing to say.
        self.assertNotIn("host", json_lines(self.ok("print", "-q", "--json", self.path("web-1")))[0])

    def test_stat_counts_processes_of_the_host(self):
        self.assertRegex(self.ok("stat", self.path("merged")), r"(?m)^in .* s, 2 processes$")
        for selected in (["--host", "web-1"], ["--host", "db-?"]):
            self.assertRegex(self.ok("stat", *selected, self.path("merged")), r"(?m)^in .* s, 1 process$")
        pid = self.json("info", recording=self.path("web-1"))["processes"][0]["pid"]
        self.assertRegex(self.ok("stat", "--process", str(pid), self.path("merged")), r"(?m)^in .* s, 1 process$")

    def test_graph_and_report_say_whose(self):
        whose = {"shop:ask": "web-1", "shop:serve": "db-1"}
        head, *lines = self.ok("graph", "-q", self.path("merged")).splitlines()
        self.assertRegex(head, r"DURATION  HOST  +TID COMM")
        for line in lines:
            for name, host in whose.items():
                if re.search(rf"\b{name}\b", line):
                    self.assertRegex(line, rf"  {host} +\d+ \S+ +\| ")
        # So many that spans of both are among them.
        text = self.ok("report", "-q", "--limit", "1000", self.path("merged"))
        table = text[text.index("Slowest spans"):].splitlines()
        self.assertRegex(table[1], r"BEGAN +HOST +THREAD")
        for host in whose.values():
            self.assertTrue([line for line in table if re.search(rf" {host} +\S+\[\d+\] ", line)], table)
        for span in self.json("report")["slowest_spans"]:
            self.assertEqual(span["host"], whose[span["name"]])
        # Of one host, there is nothing to say.
        self.assertNotIn("HOST", self.ok("graph", "-q", self.path("web-1")))
        self.assertNotIn("HOST", self.ok("report", "-q", self.path("web-1")))
        self.assertNotIn("host", self.json("report", recording=self.path("web-1"))["slowest_spans"][0])

    def test_info_lists_hosts(self):
        text = self.ok("info", self.path("merged"))
        self.assertRegex(text, r"(?m)^HOST +OFFSET +DRIFT +ERROR +KNOWN BY")
        self.assertRegex(text, r"(?m)^web-1 +0 +0\.000 ppm +0 +reference")
        self.assertRegex(text, r"(?m)^HOST +PID")
        self.assertEqual({p["host"] for p in self.json("info")["processes"]}, {"web-1", "db-1"})

    def test_report_by_host(self):
        spans = self.json("report", "--by", "host", "-e", "shop:*")["spans"]
        self.assertEqual({(s["name"], s["group"]) for s in spans},
                         {("shop:ask", "web-1"), ("shop:serve", "db-1")})
        # From host to host: the time that a request is on its way.
        pair = "net:request_sent,net:request_received by number,all"
        found = self.json("report", "--pair", pair)["spans"][0]
        self.assertEqual(found["count"], self.REQUESTS)

    def test_arrows_between_hosts(self):
        page = self.page(self.path("merged"))
        links = page.rows("links")
        self.assertEqual(len(links), self.REQUESTS)
        tracks, processes = page.header["tracks"], page.header["processes"]
        whose = [processes[t["process"]]["comm"] if t["process"] >= 0 else "" for t in tracks]
        begins = {(s["track"], s["begin"]): page.name(s) for s in page.rows("slices")}
        for link in links:
            self.assertTrue(whose[link["from"]].startswith("web-1: "), whose)
            self.assertTrue(whose[link["to"]].startswith("db-1: "), whose)
            self.assertEqual(begins[link["from"], link["begin"]], "shop:ask")
            self.assertEqual(begins[link["to"], link["end"]], "shop:serve")
            self.assertLessEqual(link["begin"], link["end"])
        # Each is another one.
        self.assertEqual(len({(link["begin"], link["end"]) for link in links}), self.REQUESTS)
        self.assertNotIn("links", self.page(self.path("web-1")).tables)

    def test_exports_tell_hosts_apart(self):
        chrome = json.loads(self.ok("export", "-q", "--to", "chrome", "-o", "-", self.path("merged")))
        rows = chrome["traceEvents"] if isinstance(chrome, dict) else chrome
        names = {r["args"]["name"] for r in rows if r.get("name") == "process_name"}
        self.assertEqual({n.split(":")[0] for n in names}, {"web-1", "db-1"})


class Kernels(Hosts):
    """Two hosts with the same kernel, processes and threads, at the same times: what one does is not the other's."""
    REQUESTS, PAUSE_US = 1, 1

    def setUp(self):
        super().setUp()
        if hasattr(type(self), "made"):
            return
        alone = self.path(self.generate("GEN_REPORT", "both", 400))
        shutil.copytree(alone, self.path("copy"))
        new_uuid(self.path("copy"))
        self.merged(f"one={alone}", f"two={self.path('copy')}", out="twins")
        type(self).made, type(self).alone = True, alone

    def report(self, recording, *options):
        return json.loads(self.ok("report", "-q", "--json", *options, recording))

    def test_each_as_if_it_were_alone(self):
        alone = self.report(self.alone)
        for host in ("one", "two"):
            found = self.report(self.path("twins"), "--host", host)
            for section in ("spans", "running", "off_cpu", "latency"):
                self.assertTrue(alone[section])
                self.assertEqual(found[section], alone[section])

    def test_both_are_twice_as_much(self):
        alone, both = self.report(self.alone), self.report(self.path("twins"))
        self.assertEqual([s["count"] for s in both["spans"]], [2 * s["count"] for s in alone["spans"]])
        cpus = self.report(self.path("twins"), "--by", "cpu")["running"]
        self.assertEqual({c["cpu"].split()[0] for c in cpus}, {"one", "two"})

    def test_cpus_and_waits_on_the_page(self):
        def page(recording):
            self.ok("view", "-q", "-f", "-o", self.path("page.html"), recording)
            return Page(self.path("page.html"))
        alone, both = page(self.alone), page(self.path("twins"))

        def cpus(p):
            return sorted(p.header["strings"][t["name"]] for t in p.header["tracks"] if t["kind"] == "cpu")
        self.assertEqual(cpus(both), sorted(f"{host} {cpu}" for host in ("one", "two") for cpu in cpus(alone)))
        waits, twice = alone.rows("waits"), both.rows("waits")
        self.assertTrue(waits)
        key = lambda w: (w["thread"] % 2**22, w["waker"] % 2**22, w["why"], w["begin"], w["duration"])
        self.assertEqual(sorted(map(key, twice)), sorted([key(w) for w in waits] * 2))
        # A thread of one is none of the other.
        threads = {w["thread"] for w in waits}
        self.assertEqual({w["thread"] for w in twice}, threads | {t + 2**22 for t in threads})

    def test_off_cpu_times(self):
        def times(*options, recording):
            events = json_lines(self.ok("print", "-q", "--json", *options, recording))
            return [(e["name"], e.get("duration_ns"), e.get("off_cpu_ns")) for e in events]
        alone = times(recording=self.alone)
        self.assertTrue([e for e in alone if e[2] is not None])
        for host in ("one", "two"):
            self.assertEqual(times("--host", host, recording=self.path("twins")), alone)


main()
