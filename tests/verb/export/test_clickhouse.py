#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clickhouse: real servers hold what hodo print --json says, once, whatever happens on the way."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import exporting
from clickhouse_server import PASSWORD, PROGRAM, Proxy, Server, free_ports
from hodo_test import HODO, main, program, run, skip, wait_for

if not PROGRAM:
    skip("there is no clickhouse-server: scripts/deps servers installs it")

KV = program("KV")
HEAD = ["ts", "host", "process", "pid", "thread", "tid", "cpu", "text", "function"]
DAY_NS = 86400 * 10**9
SERVERS = {}


def setUpModule():
    """Two servers, which know each other as a cluster."""
    # Tens of thousands of small files, which a disk takes long to remove.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 1 << 30 else None
    folder = tempfile.mkdtemp(prefix="hodo-test-clickhouse-", dir=memory)
    SERVERS["folder"] = folder
    ports = free_ports(4)
    for i, name in enumerate(("first", "second")):
        SERVERS[name] = Server(os.path.join(folder, name), ports[i], ports[2 + i], ports[2:], wait=False)
    for name in ("first", "second"):
        SERVERS[name].wait()


def tearDownModule():
    for name in ("first", "second"):
        if name in SERVERS:
            SERVERS[name].stop()
    shutil.rmtree(SERVERS["folder"], ignore_errors=True)


def quoted(name):
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def unhex(value):
    return None if value is None else [unhex(v) for v in value] if isinstance(value, list) else bytes.fromhex(value)


class Case(exporting.Case):
    SHARED = True

    def setUp(self):
        super().setUp()
        self.server = SERVERS["first"]
        self.database = self.id().rpartition(".")[2]

    def command(self, *names, database=None, url=None, tables=None, args=()):
        return [HODO, "export", "--to", "clickhouse", "--url", url or self.server.url, "--database",
                database or self.database, *(["--tables", tables] if tables else []), *args, *names]

    def export(self, *names, **how):
        """What it says about the rows: how many were sent, how many were there."""
        done = run(*self.command(*names, **how), status=0, **self.how({}))
        found = re.search(r"hodo: ([\d,]+) rows sent to [^ ]+, database .*?(?:; ([\d,]+) were there before)?\n\Z",
                          done.stderr, re.S)
        self.assertTrue(found, done.stderr)
        return tuple(int((n or "0").replace(",", "")) for n in found.groups())

    def refused(self, words, *names, status=1, env=None, **how):
        """One line, which says how to go on, and no password."""
        done = run(*self.command(*names, **how), **self.how({"env": env or {}}))
        self.assertEqual(done.returncode, status, done.stderr)
        lines = [line for line in done.stderr.splitlines() if "warning: " not in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], words)
        self.assertNotIn(PASSWORD, done.stderr)
        return lines[0]

    def tables(self, database=None):
        return [row[0] for row in self.server.rows("SELECT name FROM system.tables WHERE database = '" + (
            database or self.database).replace("\\", "\\\\").replace("'", "\\'") + "'")]

    def columns(self, table, database=None):
        rows = self.server.rows(f"DESCRIBE TABLE {quoted(database or self.database)}.{quoted(table)}")
        return {row[0]: row[1] for row in rows if row[2] != "ALIAS"}

    def read(self, table, database=None, order="ts, hodo_load, hodo_block"):
        """Its rows: texts are bytes."""
        columns = {k: v for k, v in self.columns(table, database).items()}
        hexed = [k for k, v in columns.items() if "String" in v]
        chosen = [f"arrayMap(x -> hex(x), {quoted(k)})" if v == "Array(String)" else f"hex({quoted(k)})"
                  if "String" in v else quoted(k) for k, v in columns.items()]
        rows = self.server.rows(f"SELECT {', '.join(chosen)} FROM {quoted(database or self.database)}."
                                f"{quoted(table)} ORDER BY {order}")
        return [{k: unhex(v) if k in hexed else v for k, v in zip(columns, row)} for row in rows]

    def count(self, table, database=None):
        return self.server.number(f"SELECT count() FROM {quoted(database or self.database)}.{quoted(table)}")

    def counts(self, database=None):
        return {t: self.count(t, database) for t in self.tables(database) if not t.startswith("hodo_")}

    def reference(self, name):
        """The counts in a database that got the recording without any accident."""
        database = f"reference_{name}"
        if database not in self.tables_seen():
            self.export(name, database=database)
        return self.counts(database)

    def once(self, name, *tables):
        """These tables, or all, have all rows once."""
        wanted = self.reference(name)
        got = self.counts()
        for table in tables or wanted:
            self.assertEqual(got[table], wanted[table], table)
            sums = [self.server.number(f"SELECT sum(cityHash64(hodo_load, hodo_day, ts)) FROM {d}.{quoted(table)}")
                    for d in (self.database, f"reference_{name}")]
            self.assertEqual(sums[0], sums[1], table)

    def tables_seen(self):
        return [row[0] for row in self.server.rows("SELECT name FROM system.databases")]

    def kv(self):
        """A recording whose export makes a dozen blocks."""
        if not os.path.exists(self.path("kv")):
            self.ok("record", "-q", "-m", "64M", "-o", "kv", "--", KV, "-n", "20000", "-t", "1")
        return "kv"


def number_same(got, value):
    if isinstance(value, str): # such as NaN
        return str(got).lower()[:3] == value.lower()[:3] and (value[0] == "-") == (str(got)[0] == "-")
    single = float(value) != float(got) and abs(float(value) - float(got)) <= 1e-6 * abs(float(value))
    return got == value or (isinstance(value, float) and single)


def same(got, value):
    if isinstance(value, list):
        return isinstance(got, list) and len(got) == len(value) and all(map(number_same, got, value))
    if isinstance(got, bytes):
        return isinstance(value, str) and value in (got.decode("utf-8", "replace"), got.hex())
    return value is None if got is None else isinstance(value, (int, float, str)) and got != [] and \
        number_same(got, value)


def text_same(got, value):
    """In the table of all events, where values are texts."""
    text = got.decode("utf-8", "replace")
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, list):
        parts = text[1:-1].split(",") if text != "[]" else []
        return text[0] + text[-1] == "[]" and len(parts) == len(value) and all(map(text_same, map(str.encode, parts),
                                                                                   value))
    return text == value if isinstance(value, str) else float(text) == value if isinstance(value, float) else \
        text == str(value)


class Values(Case):
    """Values of every type, name and table."""

    def check_fields(self, got, event, equal):
        wanted = dict(event["fields"]) | {f"context_{k}": v for k, v in event.get("context", {}).items()}
        wanted |= {f"{k}_label": v for k, v in event.get("labels", {}).items()}
        left = {k: v for k, v in got.items() if v is not None and v != []}
        for name, value in wanted.items():
            if value is None or value == []:
                continue
            safe = name.replace("%", "%25").replace(".", "%2E") if equal is same else name
            like = [k for k in left if re.fullmatch(re.escape(safe) + r"(_[a-z0-9]+)?", k, re.I)]
            found = [k for k in like if equal(left[k], value)]
            self.assertTrue(found, (name, value, left, event))
            del left[min(found, key=len)]
        # What has no label has an empty one.
        self.assertEqual({k: v for k, v in left.items() if v not in (b"", b"[]")}, {}, event)

    def check(self, name, database=None):
        database = database or f"{self.database}_{name}"
        sent = self.export(name, database=database)
        events = self.events(name)
        rows = self.read("events", database)
        self.assertEqual(len(rows), len(events))
        # Rows of one time stand in the order of their blocks' key.
        key = lambda e: (e["ts"], e["name"], e["tid"], e["cpu"], json.dumps(e["fields"]))
        self.assertEqual(sorted((r["ts"], r["name"].decode(), r["pid"], r["tid"], r["cpu"], r["thread"].decode())
                                for r in rows),
                         sorted((e["ts"], e["name"], e["pid"], e["tid"], e["cpu"], e["comm"]) for e in events))
        groups = {}
        for row in rows:
            groups.setdefault((row["ts"], row["name"].decode(), row["tid"], row["cpu"]), []).append(row)
        for event in sorted(events, key=key):
            at = (event["ts"], event["name"], event["tid"], event["cpu"])
            self.match(groups, at, event, lambda r: dict(zip((n.decode() for n in r["fields.name"]),
                                                             r["fields.value"])), text_same)
        self.check_classes(database, events)
        self.assertEqual(self.export(name, database=database), (0, sum(sent)))
        self.assertEqual(self.count("events", database), len(events))
        return database, rows

    def match(self, groups, at, event, fields, equal):
        """Of the rows of one time the one that has the event's fields."""
        problem = None
        for i, row in enumerate(groups[at]):
            try:
                self.check_fields(fields(row), event, equal)
                if event.get("text") is not None:
                    self.assertEqual(row["text"].decode(), event["text"])
                groups[at].pop(i)
                return
            except AssertionError as error:
                problem = error
        raise problem or AssertionError(event)

    def check_classes(self, database, events):
        groups = {}
        for name in {e["name"] for e in events}:
            table = re.sub(r"^\.", "%2E", name.replace("%", "%25"))
            for row in self.read(table, database):
                groups.setdefault((row["ts"], name, row["tid"], row["cpu"]), []).append(row)
        for event in events:
            at = (event["ts"], event["name"], event["tid"], event["cpu"])
            self.match(groups, at, event, lambda r: {re.sub("^field_", "", k): v for k, v in r.items() if
                                                     k not in HEAD and not k.startswith("hodo_")}, same)
        self.assertEqual([v for v in groups.values() if v], [])

    def test_every_type(self):
        database, _ = self.check(self.generate("GEN_TRACE", "all"))
        self.assertEqual(self.columns("all:scalars", database)["u64"], "Nullable(UInt64)")
        self.assertEqual(self.columns("all:sequences", database)["shorts"], "Array(Int16)")

    def test_random_values(self):
        for seed in (1, 2):
            self.check(self.generate("GEN_TRACE", "random", seed))

    def test_real(self):
        _, rows = self.check(self.record())
        self.assertLessEqual({b"main", b"work", b"middle", b"leaf"}, {r["function"] for r in rows})
        self.assertEqual({r["host"] for r in rows}, {os.uname().nodename.encode()})

    def test_hostile(self):
        """Names of events, fields, threads; and of the database."""
        hostile = "x`; DROP DATABASE default; -- '\\'\n\""
        self.check(self.hostile(), hostile)
        self.check(self.generate("GEN_REPORT", "hostile"))
        self.assertIn("default", self.tables_seen())
        self.assertIn(hostile, self.tables_seen())

    def test_spans(self):
        name = self.record()
        self.export(name)
        ended = [e for e in self.events(name) if "begin" in e and not e["name"].startswith("func:")]
        rows = self.read("spans")
        self.assertEqual(sorted((r["ts"], r["name"].decode(), r["end_ns"], r["duration_ns"]) for r in rows
                                if r["state"] == b"ended"),
                         sorted((e["begin"]["ts"], e["name"].removesuffix(".end"), e["ts"], e["duration_ns"])
                                for e in ended))
        self.assertEqual(len({r["id"] for r in rows}), len(rows))
        values = [(e["ts"], float(e["fields"]["value"])) for e in self.events(name) if set(e["fields"]) == {"value"}]
        self.assertEqual(sorted((r["ts"], r["value"]) for r in self.read("samples")), sorted(values))

    def test_days(self):
        """A recording over midnight, which is in the partitions of two days."""
        name = shutil.copytree(self.path(self.generate("GEN_TRACE", "all")), self.path("midnight"))
        file = pathlib.Path(name, "kvd-412", "metadata")
        times = [e["ts"] for e in self.events("midnight")]
        offset = int(re.search(r"offset_s=(-?\d+)", file.read_text(encoding="ascii"))[1])
        moved = offset - (times[0] + times[-1]) // 2 % DAY_NS // 10**9
        file.write_text(re.sub(rf"(offset_s ?= ?){offset}", rf"\g<1>{moved}", file.read_text(encoding="ascii")),
                        encoding="ascii")
        database, rows = self.check("midnight")
        self.assertEqual(len({r["hodo_day"] for r in rows}), 2)
        for table in ("events", "kv:put"):
            rows = self.server.rows(f"SELECT toUInt16(hodo_day), intDiv(ts, {DAY_NS}) FROM {database}.{quoted(table)}")
            self.assertEqual([day for day, _ in rows], [day for _, day in rows])
        parts = self.server.rows("SELECT DISTINCT partition FROM system.parts WHERE table = 'events' AND active "
                                 f"AND database = '{database}'")
        self.assertEqual(len(parts), 2)

    def test_many_columns(self):
        """More fields than the table of all events may have, and more classes than that has rows."""
        run(program("EXPORT_WIDE"), self.path("wide"), 66, status=0)
        done = run(*self.command("wide"), status=0, **self.how({}))
        self.assertIn("too many event classes or fields", done.stderr)
        self.assertLessEqual({f"wide:e{i}" for i in range(66)}, set(self.tables()))
        self.assertEqual(self.read("wide:e65")[0]["f263"], b'a "text", with commas')

    def test_wide_table(self):
        """As many columns as a table may have, with long names: statements of a hundred KiB."""
        run(program("EXPORT_WIDE"), self.path("wider"), 124, "wide:all", status=0)
        done = run(*self.command("wider", tables="wide:all"), status=0, **self.how({}))
        rows = self.read("wide:all")
        self.assertEqual((len(rows), len(rows[0])), (124, 3 + len(HEAD) + 496))
        for i, row in enumerate(rows):
            values = {k: v for k, v in row.items() if k.startswith("f") and k != "function" and v is not None}
            self.assertEqual(values, {f"f{4 * i + k}{'0' * 120}": 10 * i + k if k < 3 else b'a "text", with commas'
                                      for k in range(4)})
        self.assertIn("124 rows sent", done.stderr)


class Questions(Case):
    def test_questions(self):
        """The views say what can be computed from the events."""
        name = self.kv()
        self.export(name)
        ended = [e for e in self.events(name) if e["name"] == "kv:request.end" and "duration_ns" in e]
        minutes = {}
        for event in ended:
            minutes.setdefault(event["begin"]["ts"] // (60 * 10**9), []).append(event["duration_ns"])
        rows = self.server.rows(f"SELECT spans, p50_us, p99_us, max_us FROM {self.database}.hodo_q_p99 "
                                "WHERE name = 'kv:request' ORDER BY minute")
        self.assertEqual(len(rows), len(minutes))
        for row, (_, times) in zip(rows, sorted(minutes.items())):
            times.sort()
            wanted = [len(times), times[int(len(times) * .5)] / 1e3, times[int(len(times) * .99)] / 1e3,
                      times[-1] / 1e3]
            for got, value in zip(row, wanted):
                self.assertAlmostEqual(got, value, places=3)
        slowest = self.server.rows(f"SELECT ts, ms FROM {self.database}.hodo_q_slowest WHERE name = 'kv:request' "
                                   "LIMIT 3")
        longest = sorted(ended, key=lambda e: (-e["duration_ns"], e["begin"]["ts"]))[:3]
        self.assertEqual([s[0] for s in slowest], [e["begin"]["ts"] for e in longest])

    def test_errors(self):
        """What is about events with "error" in their names, and about lost events."""
        name = self.generate("GEN_CALLS", "lossy")
        self.export(name)
        discarded, overwritten = self.lost(name)
        rows = self.server.rows(f"SELECT lost FROM {self.database}.hodo_q_lost")
        self.assertEqual(sum(r[0] for r in rows), discarded + overwritten)
        columns = "hodo_load, hodo_block, hodo_day, host, name, ts"
        second = 10**9
        values = [("h", "app:error", 100 * second), ("h", "app:step", 99 * second), ("h", "app:step", 91 * second),
                  ("h", "app:step", 90 * second), ("other", "app:step", 99 * second), ("h", "app:step", 101 * second)]
        self.server.ask(f"INSERT INTO {self.database}.events ({columns}) VALUES " + ", ".join(
            f"(1, 0, '1970-01-01', '{h}', '{n}', {t})" for h, n, t in values))
        rows = self.server.rows(f"SELECT name, seconds_before, per_error FROM {self.database}.hodo_q_before")
        self.assertEqual(rows, [["app:error", 0, 1], ["app:step", 1, 1], ["app:step", 9, 1]])

    def test_cluster(self):
        """Two servers with a recording each are one, also for the questions."""
        hosts = {"first": "one", "second": "two"}
        for server, host in hosts.items():
            name = shutil.copytree(self.path(self.record()), self.path(f"on-{server}"))
            for metadata in pathlib.Path(name).glob("*/metadata"):
                text = metadata.read_text(encoding="ascii", errors="surrogateescape")
                text = re.sub(r'hostname = "[^"]*"', f'hostname = "{host}"', text)
                metadata.write_text(text, encoding="ascii", errors="surrogateescape")
            self.server = SERVERS[server]
            self.export(name, args=["--cluster", "both_s"])
        self.server = SERVERS["first"]
        both = f"{self.database}_both_s"
        events = len(self.events("on-first"))
        for server in hosts:
            self.server = SERVERS[server]
            self.assertEqual(self.count("events"), events)
            self.assertEqual(self.count("events", both), 2 * events)
            self.assertEqual(self.server.rows(f"SELECT DISTINCT host FROM {both}.events ORDER BY host"),
                             [["one"], ["two"]])
            rows = self.server.rows(f"SELECT host, times FROM {both}.hodo_q_outliers ORDER BY host")
            self.assertEqual({h for h, _ in rows}, {"one", "two"})
            self.assertEqual({t for _, t in rows}, {1})
            for view in ("slowest", "waits", "before", "lost", "p99"):
                self.server.rows(f"SELECT * FROM {both}.hodo_q_{view}")
        # A column that comes later is there, too.
        self.server = SERVERS["first"]
        self.server.ask(f"ALTER TABLE {self.database}.events ADD COLUMN more Nullable(Int8)")
        self.export("on-first", args=["--cluster", "both_s"])
        self.assertIn("more", self.columns("events", both))


class Accidents(Case):
    """What is there is there once."""

    def test_lost_answers(self):
        """The server takes blocks, and nobody hears of it; or it never sees them."""
        proxy = Proxy(self, self.server.http, "deaf", "reset", "deaf", "deaf")
        self.export(self.kv(), url=f"http://127.0.0.1:{proxy.port}")
        self.assertEqual(proxy.met, 4)
        # 18.16 leaves some bytes of such a body, now and then, for the next request of the connection.
        self.assertEqual({b"connection: close" in head.lower() for head in proxy.heads}, {True})
        self.once("kv")

    def test_cut_off(self):
        """The end of a body is missing, so that what is left are whole rows."""
        name, table = self.kv(), "kv:request.end"
        self.reference(name)
        row = self.read(f"{table}", f"reference_{name}")[0]
        # As RowBinary has it: two empty texts or nulls, texts with their lengths; all rows are alike but for times.
        row_bytes = 8 + 8 + 2 + 8 + 3 * 4 + 3 + 2 + sum(len(row[k]) for k in ("host", "process", "thread"))
        self.assertEqual(set(row) - set(HEAD), {"hodo_load", "hodo_block", "hodo_day"})
        tail = len("\r\n--" + 32 * "x" + "--\r\n")
        proxy = Proxy(self, self.server.http, tail + 1000 * row_bytes, tail + row_bytes, tail)
        self.export(name, url=f"http://127.0.0.1:{proxy.port}", tables=table)
        self.assertEqual(proxy.met, 3)
        self.once(name, table)
        rows = proxy.bodies[0].partition(b'filename="block"\r\n\r\n')[2][:-tail]
        self.assertEqual(len(rows), self.count(table) * row_bytes)

    def start_export(self, *names, accidents=(), **how):
        """It talks to the server through a proxy."""
        proxy = Proxy(self, self.server.http, *accidents)
        return self.start(*self.command(*names, url=f"http://127.0.0.1:{proxy.port}", **how), stderr=subprocess.PIPE)

    def end(self, exporter, status, said):
        _, stderr = exporter.communicate()
        self.assertEqual(exporter.returncode, status, stderr)
        self.assertRegex(stderr, r"\A" + said + r"\Z")

    def test_killed_client(self):
        """The exporter ends in the middle, again and again."""
        name = self.kv()
        for _ in range(3):
            exporter = self.start_export(name, accidents=[None, lambda: exporter.kill()])
            self.end(exporter, -signal.SIGKILL, "")
        _, there = self.export(name)
        self.assertGreater(there, 0)
        self.once("kv")

    def test_killed_within_table(self):
        """The same in the middle of a table of several blocks: the next run begins behind those that are there."""
        name, table = self.generate("GEN_TRACE", "fixed", 900000), "bench:fixed"
        exporter = self.start_export(name, tables=table, accidents=[None, lambda: exporter.kill()])
        self.end(exporter, -signal.SIGKILL, "")
        sent, there = self.export(name, tables=table)
        self.assertEqual(sent + there, 900000)
        self.assertGreater(sent, 0)
        self.assertGreater(there, 0)
        rows = self.server.rows(f"SELECT hodo_block, count() FROM {self.database}.{quoted(table)} GROUP BY hodo_block "
                                "ORDER BY hodo_block")
        self.assertGreater(len(rows), 1)
        for i, (first, n) in enumerate(rows):
            self.assertEqual(first + n, rows[i + 1][0] if i + 1 < len(rows) else 900000)
        # Two streams, each of which counts.
        self.assertEqual(self.server.rows(f"SELECT cpu, count(), uniqExact(n), min(n), max(n) FROM {self.database}."
                                          f"{quoted(table)} GROUP BY cpu ORDER BY cpu"),
                         [[0, 450000, 450000, 0, 449999], [1, 450000, 450000, 0, 449999]])

    def test_interrupted(self):
        name = self.kv()
        exporter = self.start_export(name, accidents=[None, lambda: exporter.send_signal(signal.SIGINT)])
        self.end(exporter, 130, r"hodo: interrupted: [\d,]+ rows were sent: run the same command again to send the "
                                r"rest\n")
        self.export(name)
        self.once("kv")

    def test_killed_server(self):
        """The server ends in the middle, and comes back while the exporter tries; then it does not come back."""
        name = self.kv()
        wanted = self.reference(name)
        self.server = SERVERS["second"]

        def restart():
            self.server.kill()
            self.server.start()

        exporter = self.start_export(name, accidents=[None, restart, None, restart], args=["--retry", "1000"])
        self.end(exporter, 0, r"hodo: warning: [^\n]*: trying again[^\n]*\nhodo: [\d,]+ rows sent[^\n]*\n")
        self.assertEqual(self.counts(), wanted)
        exporter = self.start_export(name, accidents=[None, self.server.kill], args=["--retry", "0"], database="gone")
        self.end(exporter, 1, r"hodo: [^\n]*: cannot be reached, or is busy: [^\n]* rows were sent: run the same "
                              r"command again to send the rest\n")
        self.server.start()
        self.export(name, database="gone")
        self.assertEqual(self.counts("gone"), wanted)

    def test_at_once(self):
        """Two exporters of one recording, which make the tables at once."""
        name = self.kv()
        exporters = [self.start(*self.command(name), stderr=subprocess.PIPE) for _ in range(2)]
        for exporter in exporters:
            _, said = exporter.communicate()
            self.assertEqual(exporter.returncode, 0, said)
        self.once("kv")

    def test_full(self):
        """The server's disk is full, and then there is room again."""
        name = self.kv()
        disk = self.disk("3m")
        server = Server(self.path("full"), data=disk)
        self.addCleanup(server.stop)
        wanted = self.reference(name)
        self.server = server
        self.refused(r"refused: .*(space|errno: 28).*; [\d,]+ rows were sent: run the same command again", name)
        run("mount", "-o", "remount,size=256m", disk, status=0)
        self.export(name)
        self.assertEqual(self.counts(), wanted)

    def test_several(self):
        """Recordings one after the other; a selection is a load of its own, which does not go with the whole."""
        names = [self.record(), self.kv()]
        sent = self.export(*names)
        self.assertEqual(self.export(*names), (0, sent[0]))
        self.assertEqual(self.server.number(f"SELECT uniq(hodo_load) FROM {self.database}.events"), 2)
        self.refused("has other events of this recording", "kv", args=["-e", "kv:request.*"])
        events = self.export("kv", database="chosen", args=["-e", "kv:request.*"])[0]
        self.assertEqual(self.export("kv", database="chosen", args=["-e", "kv:request.*"]), (0, events))
        self.refused("has other events of this recording", "kv", database="chosen")
        # As the how-to page removes a recording.
        load = self.server.number(f"SELECT max(hodo_load) FROM {self.database}.hodo_loads WHERE path = 'kv'")
        self.server.ask(f"ALTER TABLE {self.database}.spans DELETE WHERE hodo_load = {load}")
        wait_for("the removal", lambda: self.server.number(
            f"SELECT count() FROM {self.database}.spans WHERE hodo_load = {load}") == 0)
        self.assertEqual(self.export("kv")[0], self.reference("kv")["spans"])
        # Tables may come one after the other.
        self.export("kv", database="parts", tables="spans")
        self.assertEqual(self.count("events", "parts"), 0)
        self.export("kv", database="parts", tables="events,spans")
        self.assertEqual(self.count("events", "parts"), len(self.events("kv")))


class Refusals(Case):
    """What cannot be done is said in one line."""

    def test_credentials(self):
        name = self.generate("GEN_TRACE", "all")
        right = {"CLICKHOUSE_USER": "writer", "CLICKHOUSE_PASSWORD": PASSWORD}
        said = self.refused("Wrong password.*give other credentials with CLICKHOUSE_USER", name,
                            env={**right, "CLICKHOUSE_PASSWORD": "wrong-secret"})
        self.assertNotIn("wrong-secret", said)
        self.refused("give other credentials", name, env={"CLICKHOUSE_USER": "nobody"})
        self.assertNotIn(self.database, self.tables_seen())
        port = self.server.http
        said = self.refused("Wrong password", name, url=f"http://writer:other-secret@127.0.0.1:{port}", env=right)
        self.assertNotIn("other-secret", said)
        run(*self.command(name), status=0, **self.how({"env": right}))
        home = pathlib.Path(self.path("home"))
        home.mkdir()
        (home / ".netrc").write_text(f"machine 127.0.0.1 login writer password nope\n", encoding="ascii")
        (home / ".netrc").chmod(0o600)
        self.refused("Wrong password", name, env={"HOME": str(home)})
        run(*self.command(name), status=0, **self.how({"env": {**right, "HOME": str(home)}}))
        self.assertEqual(self.count("events"), len(self.events(name)))

    def test_unreachable(self):
        name = self.generate("GEN_TRACE", "all")
        port, = free_ports(1)
        self.refused(r"cannot be reached, or is busy: .*; 0 rows were sent: run the same command again", name,
                     url=f"http://127.0.0.1:{port}", args=["--retry", "0"])
        self.refused("no answer of ClickHouse's interface of HTTP|refused", name,
                     url=f"http://127.0.0.1:{self.server.tcp}", args=["--retry", "0"])

    def test_usage(self):
        name = self.generate("GEN_TRACE", "all")
        for url in ("ftp://host", "http://host/?query=DROP", "host:8123", "http://a b"):
            self.refused("not the address of a server", name, url=url, status=2)
        self.refused("no dot and no slash", name, database="../x", status=2)
        self.refused("are not for --to clickhouse", name, args=["-o", "x"], status=2)
        done = self.run_hodo("export", "--to", "clickhouse", name)
        self.assertEqual((done.returncode, b"--url is missing" in done.stderr), (2, True))
        done = self.run_hodo("export", "--to", "csv", "--url", "http://host", name)
        self.assertEqual((done.returncode, b"for --to clickhouse" in done.stderr), (2, True))

    def test_older(self):
        """Tables of an older version get their columns, or are refused."""
        name = self.record()
        self.export(name, database="newest")
        spans = self.columns("spans", "newest")
        self.export(name, tables="hosts")
        for table, column in (("spans", "off_cpu_ns"), ("events", "function"), ("processes", "complete")):
            self.server.ask(f"ALTER TABLE {self.database}.{table} DROP COLUMN {column}")
        self.export(name)
        self.assertEqual(self.columns("spans"), spans)
        self.assertEqual(self.counts(), self.counts("newest"))
        key = lambda r: (r["ts"], r["name"], r["tid"])
        for table in ("spans", "events"):
            self.assertEqual(sorted(self.read(table), key=key), sorted(self.read(table, "newest"), key=key))
        self.server.ask(f"INSERT INTO {self.database}.hodo_schema (version, views) VALUES (99, 1)")
        self.refused("are of version 99, and this hodo makes version 1: name another database with --database, or "
                     "use a newer hodo", name)
        self.server.ask("CREATE DATABASE foreign_one")
        self.server.ask("CREATE TABLE foreign_one.events (x Int8) ENGINE = Memory")
        self.refused("has tables that are not ours: name another one with --database", name, database="foreign_one")

    def test_other_types(self):
        """A column that is there with another type gets a neighbour; one of ours is refused."""
        name = self.generate("GEN_TRACE", "all")
        self.export(name, tables="hosts")
        head = ("hodo_load UInt64, hodo_block UInt64, hodo_day Date, ts Int64, host String, process String, pid "
                "UInt32, thread String, tid UInt32, cpu Int32, text Nullable(String), function String")
        order = "ENGINE = MergeTree PARTITION BY hodo_day ORDER BY (hodo_load, hodo_block, ts)"
        self.server.ask(f"CREATE TABLE {self.database}.`all:scalars` ({head}, u8 Nullable(String)) {order}")
        self.export(name)
        row = self.read("all:scalars")[0]
        self.assertEqual((row["u8"], row["u8_u8"], row["i8"]), (None, 255, 0))
        self.server.ask(f"DROP TABLE {self.database}.spans")
        self.server.ask(f"CREATE TABLE {self.database}.spans (ts String) ENGINE = MergeTree ORDER BY ts")
        self.refused("table spans there is another one: its column ts is String and not Int64: name another database",
                     name)


main()
