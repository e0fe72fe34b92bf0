#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo query: recordings and directories of Parquet in SQL, with the same answers from both, and from other verbs."""
import collections
import csv
import io
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import uuid

sys.path.insert(0, os.environ["EXPORT"])

# pylint: disable=wrong-import-position
import parquet
from hodo_test import HODO, main, program, run

TABLES = ("events", "spans", "calls", "waits", "samples", "losses", "processes", "hosts")


class Query(parquet.Case):
    """One folder for all tests."""

    def text(self, *args):
        return self.ok("query", *args).decode()

    def copy(self, name, to, host):
        """A recording of one host, of other processes, made from a generated one."""
        run("cp", "-r", self.path(name), self.path(to), status=0)
        for file in pathlib.Path(self.path(to)).glob("*/metadata"):
            text = file.read_bytes()
            old, new = uuid.UUID(re.search(rb'uuid = "([^"]+)"', text)[1].decode()), uuid.uuid4()
            file.write_bytes(text.replace(str(old).encode(), str(new).encode()) +
                             f'\n\thostname = "{host}";\n'.encode())
            for stream in file.parent.iterdir():
                if stream != file:
                    stream.write_bytes(stream.read_bytes().replace(old.bytes, new.bytes))
        return to

    def test_as_print(self):
        """Every value of every event, directly, without Parquet."""
        for name in (self.generate("GEN_TRACE", "all"), self.generate("GEN_TRACE", "random", 2), self.record(),
                     self.hostile(), self.generate("GEN_CALLS", "calls")):
            rows = self.query("FROM events", name)
            for row in rows:
                row["fields"] = {k: v for k, v in row["fields"].items() if v is not None}
            self.check_events(rows, self.events(name))

    def test_parquet_as_recording(self):
        """Tables of a recording and of its Parquet files are the same, row by row."""
        for name in (self.generate("GEN_TRACE", "all"), self.record(), self.generate("GEN_CALLS", "lossy")):
            lake = self.lake(name)
            tables = {r["name"] for r in self.query("FROM hodo_schema", name)}
            self.assertLessEqual(set(TABLES), tables)
            for table in sorted(tables):
                quoted = '"' + table.replace('"', '""') + '"'
                # There are no files for classes without events.
                if table not in TABLES and self.query(f"SELECT count(*) AS n FROM {quoted}", name) == [{"n": 0}]:
                    continue
                both = [collections.Counter(json.dumps(self.stripped(row), sort_keys=True)
                                            for row in self.query(f"FROM {quoted}", where)) for where in (name, lake)]
                self.assertEqual(*both, table)
                joined = self.query(f"SELECT count(*) AS n FROM {quoted}", name, lake)
                self.assertEqual(joined, [{"n": 2 * sum(both[0].values())}])

    def stripped(self, row):
        """Files have only the members and the columns that their rows need."""
        if isinstance(row.get("fields"), dict):
            row["fields"] = {k: v for k, v in row["fields"].items() if v is not None}
        return {k: v for k, v in row.items() if v is not None}

    def test_counts(self):
        name = self.record()
        counts = {r["name"]: r["n"] for r in self.query("SELECT name, count(*) AS n FROM events GROUP BY name", name)}
        self.assertEqual(counts, self.counts(name))
        for table, n in counts.items():
            self.assertEqual(self.query(f'SELECT count(*) AS n FROM "{table}"', name), [{"n": n}])

    def test_functions(self):
        name = self.record()
        calls = collections.Counter((c["ts"], c["function"], c["duration_ns"]) for c in self.calls(name)
                                    if not c["flags"])
        rows = self.query("SELECT ts, function, duration_ns FROM calls WHERE state = 'ended'", name)
        self.assertEqual(collections.Counter((r["ts"], r["function"], r["duration_ns"]) for r in rows), calls)

    def test_many(self):
        """Any number of recordings; each thread reads another one."""
        name = self.generate("GEN_TRACE", "random", 4)
        names = [self.copy(name, f"many-{i}", f"host-{i:03}") for i in range(40)]
        events, hosts = len(self.events(name)), [f"host-{i:03}" for i in range(40)]
        rows = self.query("SELECT host, count(*) AS n FROM events GROUP BY host ORDER BY host", *names)
        self.assertEqual(rows, [{"host": host, "n": events} for host in hosts])
        rows = self.query("SELECT host, recording FROM hosts ORDER BY host", *names)
        self.assertEqual([(r["host"], r["recording"]) for r in rows], list(zip(hosts, names)))

    def test_broken(self):
        """One recording that cannot be read is named in one line, the others are asked, and the exit status says so."""
        name = self.generate("GEN_TRACE", "random", 4)
        names = [self.copy(name, f"some-{i}", f"host-{i:03}") for i in range(6)]
        for metadata in pathlib.Path(self.path("some-3")).glob("*/metadata"):
            metadata.write_bytes(b"not metadata")
        done = self.hodo("query", "-q", "--json", "SELECT DISTINCT host FROM events ORDER BY host", *names, "no.lake",
                         text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual([json.loads(line)["host"] for line in done.stdout.splitlines()],
                         [f"host-{i:03}" for i in range(6) if i != 3])
        said = done.stderr.splitlines()
        self.assertEqual(len(said), 3, said)
        self.assertIn("some-3", said[0])
        self.assertIn("no.lake", said[1])
        self.assertIn("the answer is of the other 5", said[2])

    def test_descriptors(self):
        """Hundreds of recordings and files need few descriptors."""
        name = self.generate("GEN_TRACE", "random", 4)
        n, names = len(self.events(name)), [self.copy(name, f"each-{i}", f"host-{i:03}") for i in range(60)]
        lake = self.lake(name, "--tables", "events", to="few.lake")
        file = next(pathlib.Path(self.path(lake)).glob("events/*/*/*.parquet"))
        for i in range(200):
            shutil.copyfile(file, file.with_name(f"more-{i}.parquet"))
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
        done = self.hodo("query", "-q", "--json", "SELECT count(*) AS n FROM events", *names, lake, text=True,
                         preexec_fn=limit)
        self.assertEqual((done.stdout, done.stderr), (f'{{"n":{n * 261}}}\n', ""))

    # ------------------------------------------------------------------ damage

    def said(self, *args):
        """The lines on standard error, and the rows."""
        done = self.hodo("query", "--json", *args, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.splitlines(), [json.loads(line) for line in done.stdout.splitlines()]

    def test_warnings(self):
        """What print warns of, query does, once for each recording, however often it is read; -q says nothing."""
        for name in (self.damaged(), self.unended()):
            printed = self.hodo("print", name, text=True).stderr.splitlines()
            self.assertTrue(printed)
            said, _ = self.said("SELECT count(*) FROM events; SELECT count(*) FROM events JOIN spans USING (ts)", name,
                                self.record("large", requests=3000))
            self.assertEqual(sorted(line.replace(f"warning: {name}: ", "warning: ") for line in said), sorted(printed))
            self.assertEqual(self.said("-q", "SELECT count(*) FROM events", name)[0], [])
        self.assertIn("the recording was interrupted, or has not ended", said[0])

    def unended(self):
        """A recording whose recorder was killed."""
        path = pathlib.Path(self.path("unended"))
        if not path.exists():
            shutil.copytree(self.path(self.record()), path)
            for file in path.glob("*/metadata"):
                file.write_bytes(b"".join(line for line in file.read_bytes().splitlines(True)
                                          if b"@end" not in line))
        return "unended"

    def test_many_lost(self):
        """Of many recordings twenty are named, and the rest is counted."""
        name = self.generate("GEN_TRACE", "random", 4)
        names = [self.copy(name, f"lost-{i}", f"host-{i:03}") for i in range(23)]
        self.assertGreater(sum(self.lost(name)), 0)
        said, _ = self.said("SELECT count(*) FROM events", *names)
        self.assertEqual(len({line.split(": ")[2] for line in said[:-1]}), 20, said)
        self.assertIn("3 more recordings are not whole: 'hodo query lost' lists them", said[-1])

    def test_damaged_counts(self):
        """Damaged events are in processes, hosts and losses, and in the question."""
        name = self.damaged()
        damaged = self.query("SELECT sum(damaged)::BIGINT AS n FROM losses", name)[0]["n"]
        self.assertGreater(damaged, 0)
        for where in (name, self.lake(name)):
            for table in ("processes", "hosts"):
                rows = self.query("SELECT sum(damaged)::BIGINT AS n, sum(events)::BIGINT AS events, "
                                  f"sum(lost)::BIGINT AS lost FROM {table}", where)
                self.assertEqual(rows[0]["n"], damaged)
                self.assertEqual(rows[0]["lost"], sum(self.lost(name)))
            self.assertEqual(rows[0]["events"], len(self.events(name)))
            self.assertEqual(sum(row["damaged"] for row in self.query("lost", where)), damaged)

    # -------------------------------------------------------------------- twice

    def test_twice(self):
        """The same recording in other words, or a copy of it, is left out, and that is said."""
        name, other = self.record(), self.record("large", requests=3000)
        shutil.copytree(self.path(name), self.path("the-same"))
        n, m = len(self.events(name)), len(self.events(other))
        said, rows = self.said("SELECT count(*) AS n FROM events", name, f"{name}/", other, "the-same")
        self.assertEqual(rows, [{"n": n + m}])
        self.assertEqual(said, [f"hodo: warning: {again} is left out: {name} has the same events"
                                for again in (f"{name}/", "the-same")])

    def test_merged(self):
        """A merge and what it is of: the whole counts, in any order; a merge of others is refused."""
        parts = [self.record(), self.record("large", requests=3000), self.record("third", functions=False)]
        self.ok("merge", "-q", "-o", "merged", *parts[:2])
        self.ok("merge", "-q", "-o", "merged-2", *parts[1:])
        one, two, _ = [len(self.events(p)) for p in parts]
        for names, out in ((("merged", parts[0]), f"{parts[0]} is left out: merged has the same events"),
                           ((parts[0], "merged"), f"{parts[0]} is left out: merged has the same events, and others"),
                           ((*parts[:2], "merged"), f"merged is left out: {parts[0]} has the same events")):
            said, rows = self.said("SELECT count(*) AS n FROM events", *names)
            self.assertEqual((said, rows), ([f"hodo: warning: {out}"], [{"n": one + two}]))
        done = self.hodo("query", "--json", "SELECT count(*) AS n FROM events", "merged", "merged-2", text=True)
        self.assertEqual((done.returncode, done.stdout), (1, f'{{"n":{one + two}}}\n'))
        self.assertEqual(done.stderr, "hodo: merged-2 and merged have some of the same events: leave one out\n"
                         "hodo: warning: the answer is of the other one\n")

    def counted(self, *names):
        """What is said where these are asked together, and how many events are counted."""
        said, rows = self.said("-q", "SELECT count(*) AS n FROM events", *names)
        return said, rows[0]["n"]

    def assert_left_out(self, names, n, *words):
        said, counted = self.counted(*names)
        self.assertEqual((len(said), counted), (1, n), said)
        for word in words:
            self.assertIn(word, said[0])

    def moved(self, name, to, seconds):
        """A copy with another clock, as a merge may make it."""
        shutil.copytree(self.path(name), self.path(to))
        for file in pathlib.Path(self.path(to)).glob("**/metadata"):
            file.write_bytes(re.sub(rb"(offset_s ?= ?)(\d+)", lambda m: m[1] + b"%d" % (int(m[2]) + seconds),
                                    file.read_bytes()))
        return to

    def test_parts(self):
        """Parts of a recording, each given on its own, have the same process and other events."""
        whole = self.record("rotated", "--rotate", "256K", requests=6000)
        n = len(self.events(whole))
        parts = sorted(str(p) for p in pathlib.Path(self.path(whole)).glob("part-*"))
        self.assertGreater(len(parts), 2)
        self.assertEqual(self.counted(*parts), ([], n))
        # Where they were, and what they were called, does not matter.
        shutil.copytree(parts[0], self.path("renamed"))
        self.assert_left_out((*parts, "renamed"), n, f"renamed is left out: {parts[0]} has the same events")
        self.assert_left_out((*parts[:2], whole), n, f"{parts[0]} and 1 more are left out: {whole} has the same events")
        self.assert_left_out((whole, *parts[:1]), n, f"{parts[0]} is left out: {whole} has the same events")
        # Two that have a part in common and each one of its own.
        for name, without in (("no-first", parts[0]), ("no-last", parts[-1])):
            shutil.copytree(self.path(whole), self.path(name))
            shutil.rmtree(self.path(name, os.path.basename(without)))
        done = self.hodo("query", "-q", "SELECT 1", "no-first", "no-last", text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("hodo: no-last and no-first have some of the same events: leave one out\n", done.stderr)

    def test_moved_clock(self):
        """Events are the same whatever their times are: a merge may move a clock by more than a recording's length."""
        name = self.record()
        n = len(self.events(name))
        self.moved(name, "later", 10**6)
        self.assert_left_out((name, "later"), n, f"later is left out: {name} has the same events")
        self.ok("merge", "-q", "-o", "of-later", "a=later", f"b={self.record('third', functions=False)}")
        m = len(self.events("of-later"))
        self.assert_left_out((name, "of-later"), m, f"{name} is left out: of-later has the same events, and others")

    def test_damaged_copy(self):
        """The copy that has more of the events stays, in any order."""
        name = self.record("large", requests=3000)
        shutil.copytree(self.path(name), self.path("cut"))
        stream = max(pathlib.Path(self.path("cut")).glob("*-*/[cf]*"), key=os.path.getsize)
        os.truncate(stream, os.path.getsize(stream) // 2)
        self.assertLess(len(self.events("cut")), len(self.events(name)))
        for names in ((name, "cut"), ("cut", name)):
            self.assert_left_out(names, len(self.events(name)), f"cut is left out: {name} has the same events")

    def test_snapshots(self):
        """Snapshots of a process have the events that were there the last time, and new ones."""
        run(HODO, "record", "-q", "--overwrite", "-o", self.path("asked"), "--", program("ASKS"), "ask", 3,
            self.path("asked"), **self.how({}), status=0)
        one, two, three = [f"asked/snapshot-000{i}" for i in (1, 2, 3)]
        shutil.copytree(self.path(two), self.path("again"))
        n = len(self.events(two))
        self.assertLess(len(self.events(one)), n)
        self.assert_left_out((two, "again"), n, f"again is left out: {two} has the same events")
        self.assert_left_out((one, two), n, f"{one} is left out: {two} has the same events, and others")
        self.assert_left_out((three, two), len(self.events(three)), f"{two} is left out: {three} has the same events")

    def test_twice_parquet(self):
        """A recording that a directory has, too, in whatever order, and a copy of a directory: it is said."""
        name = self.record()
        lake = self.lake(name)
        shutil.copytree(lake, self.path("copied.lake"))
        for names, words in (((name, lake), "lake has a recording that is also given otherwise"),
                             ((lake, name), f"{name} is also in a directory of Parquet"),
                             ((lake, "copied.lake"), "copied.lake has a recording that is also given otherwise")):
            said, _ = self.said("FROM hosts", *names)
            self.assertEqual(len(said), 1, said)
            self.assertIn(words, said[0])
        self.ok("merge", "-q", "-o", "of-two", f"a={name}", f"b={self.record('third', functions=False)}")
        self.assertEqual(self.said("FROM hosts", self.lake("of-two"))[0], [])

    def test_same_columns(self):
        """The tables of event classes have the same columns, of a recording and of Parquet, filled or not."""
        name = self.record()
        for table in ("kv:all", "func:entry"):
            sql = f'SELECT column_name, column_type FROM (DESCRIBE "{table}")'
            columns = self.query(sql, name)
            self.assertLessEqual({"text", "function"}, {c["column_name"] for c in columns})
            self.assertEqual(self.query(sql, self.lake(name)), columns)

    def test_memory(self):
        """A sort that does not fit into memory is written to disk."""
        rows = self.query("SELECT max(n) AS n FROM (SELECT i AS n, hash(i) AS h FROM range(3000000) t(i) ORDER BY h)",
                          self.record(), args=("--memory", "64M"))
        self.assertEqual(rows, [{"n": 2999999}])

    def test_no_events(self):
        name = self.record("none", "-e", "kv:nothing", functions=False)
        for table in TABLES[:6]:
            self.assertEqual(self.query(f"SELECT count(*) AS n FROM {table}", name, self.lake(name)), [{"n": 0}])

    def test_one_column(self):
        """Only what the statement names is made: here, for instance, no names of functions."""
        name = self.record("large", requests=3000)
        self.assertEqual(self.query("SELECT DISTINCT name FROM events WHERE name = 'kv:all'", name), [{"name": "kv:all"}])

    # ---------------------------------------------------------------- questions

    def test_questions(self):
        """Each gives the same answer, from a recording and from Parquet."""
        name = self.record()
        lake = self.lake(name)
        names = [q["name"] for q in json.loads(self.ok("query", "--list", "--json"))["questions"]]
        self.assertGreaterEqual(set(names), {"slowest", "p99", "waits", "before", "outliers", "lost"})
        self.assertEqual([line.split()[0] for line in self.text("--list").splitlines()], names)
        for question in names:
            with self.subTest(question):
                rows, of_lake = [[self.stripped(r) for r in self.query(question, where)] for where in (name, lake)]
                self.assertEqual(rows, of_lake)

    def test_p99(self):
        """Percentiles are those of all durations, or up to 0.6 % more, by host, minute and name."""
        name = self.record("large", requests=3000)
        durations = collections.defaultdict(list)
        for row in self.query("SELECT ts // 60000000000 AS minute, name, duration_ns FROM spans "
                              "WHERE duration_ns IS NOT NULL", name):
            durations[row["minute"], row["name"]].append(row["duration_ns"])
        rows = self.query("p99", name)
        self.assertEqual(len(rows), len(durations))
        for row, key in zip(rows, sorted(durations)):
            of = sorted(durations[key])
            self.assertEqual((row["name"], row["spans"], round(row["max_us"] * 1e3)), (key[1], len(of), of[-1]))
            for column, share in (("p50_us", 0.5), ("p99_us", 0.99)):
                exact = of[-(-round(len(of) * share * 100) // 100) - 1]
                self.assertTrue(exact <= round(row[column] * 1e3) <= exact * 1.006 + 1, (row, column, exact))

    def test_slowest(self):
        name = self.record()
        durations = sorted((e["duration_ns"] for e in self.events(name)
                            if "begin" in e and not e["name"].startswith("func:")), reverse=True)[:20]
        self.assertEqual([round(r["ms"] * 1e6) for r in self.query("slowest", name)], durations)
        self.assertEqual(self.query("slowest", name, args=("--set", "name=kv:none")), [])

    def test_waits(self):
        """How long threads waited for a CPU once they were woken: the same as in report."""
        name = self.generate("GEN_REPORT", "kernel")
        latency = {r["thread"]: r for r in json.loads(self.ok("report", "-q", "--json", name))["latency"]}
        self.assertGreater(len(latency), 5)
        rows = self.query("SELECT thread || '[' || tid || ']' AS thread, count(*) AS n, "
                          "sum(end_ns - woken_ns)::BIGINT AS ns FROM waits WHERE woken_ns IS NOT NULL "
                          "AND why <> 'preempted' GROUP BY ALL", name)
        self.assertEqual({r["thread"] for r in rows}, set(latency))
        for row in rows:
            # A switch off a CPU before the recording has no row.
            said = latency[row["thread"]]
            missing, missing_ns = said["count"] - row["n"], said["total_ns"] - row["ns"]
            self.assertIn(missing, (0, 1), row)
            self.assertTrue(0 <= missing_ns <= missing * said["max_ns"], (row, said))
        for row in self.query("waits", name):
            self.assertEqual(row["waker"] is None, row["waker_tid"] is None, row)

    def test_before(self):
        name = self.record()
        last = self.events(name)[-1]
        rows = self.query("before", name, args=("--set", f"event={last['name']}"))
        errors = [e["ts"] for e in self.events(name) if e["name"] == last["name"]]
        pairs = collections.Counter()
        for event in self.events(name):
            for ts in errors:
                if ts - 10**10 < event["ts"] <= ts:
                    pairs[event["name"], (ts - event["ts"]) // 10**9] += 1
        self.assertEqual({(r["name"], r["seconds_before"]): round(r["per_error"] * len(errors)) for r in rows}, pairs)

    def test_outliers(self):
        """The one slow host comes first."""
        lake = "fleet.lake"
        sql = "CREATE TABLE s AS SELECT 'h' || (i % 9) AS host, 'kv:get' AS name, 1000 + i % 7 + " \
              "CASE WHEN i % 9 = 4 THEN 50000 ELSE 0 END AS duration_ns FROM range(9000) t(i);"
        question = next(q for q in json.loads(self.ok("query", "--list", "--json"))["questions"]
                        if q["name"] == "outliers")["sql"].replace("FROM spans", "FROM s")
        name = self.record()
        rows = self.query(sql + question, name, args=("--set", "name=*"))
        self.assertEqual((rows[0]["host"], len(rows)), ("h4", 9))
        self.assertTrue(all(r[c] is None or r[c] == round(r[c], 3)
                            for r in rows for c in ("p99_us", "fleet_p99_us", "times", "sigmas")))
        # Of two hosts each would be as far from the other.
        two = sql.replace("% 9", "% 2").replace("= 4", "= 1")
        self.assertEqual(self.query(two + question, name, args=("-q", "--set", "name=*")), [])
        self.assertGreater(rows[0]["times"], 40)
        self.assertAlmostEqual(rows[1]["times"], 1, delta=0.1)
        self.assertFalse(os.path.exists(self.path(lake)))

    # ------------------------------------------------------------------- output

    def test_forms(self):
        name = self.record()
        sql = "SELECT -5 AS n, '=1+1' AS f, NULL AS nothing, '' AS empty, [1, NULL] AS list, {a: 'x', b: NULL} AS s, " \
              "map{'k': 1.5} AS m, 1e400::DOUBLE AS inf, 'ab'::BLOB AS b, 170141183460469231731687303715884105727 AS h, " \
              "-0.05::DECIMAL(9,2) AS d, TIMESTAMP '1969-12-31 23:59:59.5' AS t, DATE '2024-02-29' AS day, true AS ok"
        text = self.ok("query", "--json", sql.replace("1e400::DOUBLE", "'inf'::DOUBLE"), name).decode()
        self.assertEqual(json.loads(text), {
            "n": -5, "f": "=1+1", "nothing": None, "empty": "", "list": [1, None], "s": {"a": "x", "b": None},
            "m": {"k": 1.5}, "inf": "Infinity", "b": "6162", "h": 170141183460469231731687303715884105727, "d": -0.05,
            "t": "1969-12-31 23:59:59.500000", "day": "2024-02-29", "ok": True})
        text = self.text("--csv", sql.replace("1e400::DOUBLE", "'inf'::DOUBLE"), name)
        header, row = csv.reader(io.StringIO(text, newline=""), strict=True)
        got = dict(zip(header, row))
        self.assertEqual((got["n"], got["f"], got["nothing"], got["empty"]), ("-5", "'=1+1", "", ""))
        self.assertEqual((json.loads(got["list"]), json.loads(got["s"])), ([1, None], {"a": "x", "b": None}))
        self.assertIn(',,"",', text)
        text = self.text("SELECT 'a\x1b[31m\nb' AS \"x\ny\", 12 AS number, 'z' AS z UNION ALL SELECT 'a', 1234567, 'y'", name)
        self.assertNotIn("\x1b", text)
        self.assertEqual(text.splitlines()[0].split(), ["x\\ny", "number", "z"])
        self.assertEqual({line.index(line.split()[1]) + len(line.split()[1]) for line in text.splitlines()[1:]},
                         {text.splitlines()[0].index("number") + 6})

    def test_formulas(self):
        """A cell of CSV that begins like a formula is made harmless; numbers stay numbers."""
        for first in "=+-@\t\r'":
            text = self.text("--csv", "SELECT $v AS \"@v\", -1 AS n, -2.5 AS d", self.record(), "--set",
                             f"v={first}cmd")
            header, row = csv.reader(io.StringIO(text, newline=""))
            self.assertEqual((header, row), (["'@v", "n", "d"], [f"'{first}cmd", "-1", "-2.5"]))

    def test_many_rows(self):
        name = self.record()
        lines = self.text("SELECT i AS n, i % 3 AS m FROM range(100000) t(i)", name).splitlines()
        self.assertEqual((len(lines), lines[0].split(), lines[-1].split()), (100001, ["n", "m"], ["99999", "0"]))

    def test_reader_goes(self):
        """A reader that has enough ends the statement, and that is not an error."""
        with subprocess.Popen([HODO, "query", "--json", "SELECT i FROM range(100000000) t(i)", self.record()],
                              **self.how({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE})) as process:
            self.assertEqual(process.stdout.readline(), b'{"i":0}\n')
            process.stdout.close()
            self.assertEqual((process.wait(), process.stderr.read()), (0, b""))

    def test_interrupt(self):
        process = self.start(HODO, "query", "--json",
                             "SELECT 1 AS begun; SELECT count(*) FROM range(10000000000) t(i), range(100000) u(k) "
                             "WHERE hash(i) = hash(k)", self.record(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), '{"begun":1}\n')
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        self.assertEqual(process.returncode, 1)
        self.assertIn("nterrupt", said)

    # ------------------------------------------------------------------ hostile

    def test_values_are_no_sql(self):
        name = self.record()
        value = "x' OR 1=1; CREATE TABLE evil(i INT); --"
        self.assertEqual(self.query("SELECT $v AS v", name, args=("--set", f"v={value}")), [{"v": value}])
        self.assertEqual(self.query("SELECT count(*) AS n FROM spans WHERE name = $v", name, args=("--set", f"v={value}")),
                         [{"n": 0}])
        self.fails(1, "give it a value with --set w=VALUE", "query", "SELECT $w", name, text=True)

    def test_hostile_names(self):
        """Events become tables with their names, whatever the names look like."""
        name = self.hostile()
        for event, n in self.counts(name).items():
            quoted = event.replace('"', '""')
            self.assertEqual(self.query(f'SELECT count(*) AS n FROM "{quoted}"', name, self.lake(name)), [{"n": 2 * n}])

    def test_taken_names(self):
        """Events with the names of existing tables: ours, in other letters, or DuckDB's."""
        for i, taken in enumerate(("hodo_schema", "Events", "sqlite_master", "duckdb_tables")):
            name = super().generate("GEN_TRACE", "all", 10 + i)
            file = pathlib.Path(self.path(name), "kvd-412", "metadata")
            file.write_bytes(file.read_bytes().replace(b"name=kv:put ", f"name={taken} ".encode()))
            n = sum(e["name"] == taken for e in self.events(name))
            self.assertGreater(n, 0)
            for where in (name, self.lake(name)):
                self.assertEqual(self.query("SELECT count(*) AS n FROM events WHERE name = $v", where,
                                            args=("--set", f"v={taken}")), [{"n": n}])
                self.assertEqual(self.query("SELECT DISTINCT version FROM hodo_schema", where), [{"version": 1}])
                if i < 2:
                    self.assertEqual(self.query(f'SELECT count(*) AS n FROM "{taken}_2"', where), [{"n": n}])

    def test_limits(self):
        """100,000 event classes, one with 10,000 fields, 1,200 columns of one name: what is too much is left out, and
        said; what is there stays readable in every way."""
        name = self.copy(self.generate("GEN_TRACE", "all"), "limits", "a=b/../c")
        line = "/*@event id={} name={} kind=event file=a.c line=1 func=f object=/o format= fields={}*/\n"
        for i, metadata in enumerate(sorted(pathlib.Path(self.path(name)).glob("*/metadata"))):
            text = metadata.read_bytes().replace(b"shard:i32", b"__proto__:i32")
            text += "".join(line.format(k, f"many:{i}_{k}", f"f{i}_{k}:i32") for k in range(5000, 55000)).encode()
            text += line.format(60000, "many:wide", ",".join(f"w{k}:i32" for k in range(10000))).encode()
            text += "".join(line.format(61000 + k, "kv:put", ",".join(f"g{k}_{n}:i32" for n in range(30)))
                            for k in range(40)).encode()
            metadata.write_bytes(text)
        n, of_put = len(self.events(name)), [e for e in self.events(name) if e["name"] == "kv:put"]
        done = self.hodo("export", "--to", "parquet", "-o", "limits.lake", name, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("there are too many event classes or fields"), 1, done.stderr)
        self.assertEqual({p.name for p in pathlib.Path(self.path("limits.lake")).glob("*/host=*")},
                         {"host=a%3Db%2F..%2Fc"})
        for where in (name, "limits.lake"):
            self.assertEqual(self.query("SELECT count(*) AS n FROM events", where), [{"n": n}])
            # A class beyond the 4,096 is in events, and those before have tables.
            self.assertEqual(self.query('SELECT "__proto__" AS p, host FROM "kv:put"', where),
                             [{"p": e["fields"]["__proto__"], "host": "a=b/../c"} for e in of_put])
            self.assertIn({"__proto__": of_put[0]["fields"]["__proto__"]},
                          self.query('SELECT "__proto__" FROM "kv:put"', where))
        columns = self.query("SELECT count(*) AS n FROM information_schema.columns WHERE table_name = 'kv:put'", name)
        self.assertEqual(columns, [{"n": 512}])
        tables = self.query("SELECT count(*) AS n FROM hodo_schema", name)
        self.assertEqual(tables, [{"n": 8 + 4096}])

    def test_hostile_path(self):
        """A directory whose name is a pattern, or has quotes."""
        lake = self.lake(self.generate("GEN_TRACE", "all"), to=self.path("it's [a*] ?"))
        n = len(self.events("GEN_TRACE-all"))
        self.assertEqual(self.query("SELECT count(*) AS n FROM events", lake), [{"n": n}])

    def test_damaged(self):
        name = self.damaged()
        self.assertEqual(self.query("SELECT count(*) AS n FROM events", name), [{"n": len(self.events(name))}])

    # ------------------------------------------------------------------- others

    def test_shell(self):
        name = self.record()
        done = self.hodo("query", "--shell", "--json", name, text=True,
                         input="SELECT 1\nAS one;\n\nSELECT wrong;\nSELECT 2 AS two")
        self.assertEqual((done.returncode, done.stdout), (1, '{"one":1}\n{"two":2}\n'))
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_shell_questions(self):
        name = self.record()
        wanted = self.query("slowest", name) + [{"one": "x"}]
        done = self.hodo("query", "--shell", "--json", "--set", "v=x", name, text=True,
                         input="slowest;\nSELECT $v AS one;\n lost\n")
        self.assertEqual((done.returncode, [json.loads(line) for line in done.stdout.splitlines()]), (0, wanted))
        self.assertIn("no event was lost", done.stderr)

    def test_tables(self):
        rows = [json.loads(line) for line in self.text("--tables", "--json", self.record()).splitlines()]
        types = {(r["table"], r["column"]): r["type"] for r in rows}
        self.assertEqual((types["events", "ts"], types["kv:lookup", "key"]), ("BIGINT", "VARCHAR"))
        self.assertLessEqual(set(TABLES), {table for table, _ in types})

    def test_wrong(self):
        name = self.record()
        for args, status, words in ((("SELECT", name), 2, "is no statement"), (("SELECT 1 +", name), 1, "syntax error"),
                                    (("FROM nothing", name), 1, "nothing"), (("FROM events", "no.data"), 1, "no.data"),
                                    (("--csv", "--json", "FROM events", name), 2, "one of them"),
                                    (("--set", "x", "FROM events", name), 2, "--set is PARAM=VALUE")):
            self.fails(status, words, "query", *args, text=True)
        for args, words in ((("--list", "--csv"), "--list takes --json, not --csv"),
                            (("--list", name), "--list takes no statement"),
                            (("--list", "--tables"), "one of them"), (("--tables", "--set", "a=1"), "takes no --set"),
                            ((name,), f"the statement, or the name of a question, is missing before {name}"),
                            (("--set", "a=1", "--set", "A=2", "SELECT $a", name), "--set a is given twice")):
            self.fails(2, words, "query", *args, text=True)
        self.fails(1, "is of a type that is not shown", "query", "SELECT 'a'::ENUM ('a') AS d", name, text=True)

    def test_wrong_parameters(self):
        """A value for a parameter that no statement has is not ignored, nor one that has another name."""
        name = self.record()
        for args, words in ((("slowest", "--set", "nam=kv:*"), "the statement has no $nam: did you mean name?"),
                            (("SELECT 1", "--set", "x=1"), "the statement has no $x, and no other"),
                            (("SELECT $abc", "--set", "zzz=1", "--set", "abc=1"), "has no $zzz: write it as")):
            self.fails(1, words, "query", *args, name, text=True)
        # One statement of several may have it.
        self.assertEqual(self.query("SELECT $a AS x; SELECT $b AS x", name, args=("--set", "b=1", "--set", "a=2")),
                         [{"x": "2"}, {"x": "1"}])

    def test_no_answer(self):
        """A question without an answer says the likely reason; -q does not."""
        name = self.record()
        kernel = self.generate("GEN_REPORT", "kernel")
        for args, words in ((("slowest", "--set", "name=kv:requst", name), "'kv:requst': did you mean kv:request?"),
                            (("p99", "--set", "name=zz", name), "no name matches 'zz': 'hodo list DIR' lists the events"),
                            (("outliers", name), "no span is of three hosts, and of two neither is the usual one"),
                            (("waits", name), "record with -k -e 'sched:*'"),
                            (("waits", "--set", "thread=nobody-at-all", kernel), "no name matches 'nobody-at-all'"),
                            (("before", name), "before: no name matches '*error*'"),
                            (("lost", name), "no event was lost")):
            said, rows = self.said(*args)
            self.assertEqual((len(said), rows), (1, []), args)
            self.assertIn(words, said[0])
            self.assertEqual("warning: " in said[0], args[0] != "lost") # that nothing is lost is no warning
            self.assertEqual(self.said("-q", *args), ([], []))
        self.assertEqual(self.said("slowest", name)[0], [])

    def test_no_directory(self):
        """A file that cannot be written because its directory is missing is none of a recording's."""
        done = self.hodo("query", f"COPY (SELECT 1) TO '{self.path('nowhere')}/x.parquet'", self.record(), text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f": there is no directory {self.path('nowhere')}: make it", done.stderr)
        self.assertNotIn("--force", done.stderr)
        done = self.hodo("query", "COPY (SELECT 1) TO 'nowhere/x.parquet'", self.record(), text=True)
        self.assertIn(": there is no directory nowhere: make it", done.stderr)

    def test_unquoted(self):
        """The name of an event without double quotes: the message says how it is written."""
        name = self.record()
        self.fails(1, 'write "kv:lookup", in double quotes', "query", "FROM kv:lookup", name, text=True)
        self.fails(1, "FROM spans WHERE name = 'kv:request'", "query", "FROM kv:request", name, text=True)

    def test_intervals(self):
        sql = "SELECT INTERVAL 14 MONTH AS y, INTERVAL '-3 days 4 hours' AS d, INTERVAL 0 SECOND AS z, " \
              "INTERVAL '-1.5 seconds' AS s"
        row, = self.query(sql, self.record())
        self.assertEqual(row, {"y": "1 year 2 months", "d": "-3 days 04:00:00", "z": "00:00:00",
                               "s": "-00:00:01.500000"})
        cast, = self.query(f"SELECT COLUMNS(*)::VARCHAR FROM ({sql})", self.record())
        self.assertEqual({k: v.replace(".500000", ".5") for k, v in row.items()}, cast)

    def test_no_room(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([HODO, "query", "FROM events", self.record()], check=False,
                                  **self.how({"stdout": full, "stderr": subprocess.PIPE, "text": True}))
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        self.assertIn("No space left on device", done.stderr)

    def test_cut_file(self):
        """A file of Parquet that is cut short: whose it is, and what to do; who asks for other tables has an answer."""
        name = self.generate("GEN_TRACE", "all")
        lake = self.lake(name, to="cut.lake")
        file, = self.files(self.path(lake), "events")
        os.truncate(file, file.stat().st_size // 2)
        self.fails(1, f"{file.name}': export the recording {name} with --force again, or remove that file", "query",
                   "SELECT count(*) FROM events", lake, text=True)
        self.assertEqual(self.query("SELECT count(*) AS n FROM hosts", lake), [{"n": 1}])
        self.ok("export", "-q", "--force", "--to", "parquet", "-o", lake, name)
        self.assertEqual(self.query("SELECT count(*) AS n FROM events", lake), [{"n": len(self.events(name))}])


if __name__ == "__main__":
    parquet.need_duckdb()
    main()
