#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""parquet: hyparquet and DuckDB read the tables and find what hodo print --json says."""
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

import parquet
import profiles
from hodo_test import HODO, LIBHODO, json_lines, wait_for

HEAD = {"ts", "host", "process", "pid", "thread", "tid", "cpu", "text", "function"}
BOUNDARY = 86400 * 10**9


def with_host(path, host):
    """Gives a generated recording a host, by one line of its metadata."""
    for metadata in pathlib.Path(path).glob("*/metadata"):
        with open(metadata, "ab") as f:
            f.write(b'\n\thostname = "' + host.replace("\\", "\\\\").replace('"', '\\"').encode() + b'";\n')


class Rows(parquet.Case):
    """The tables' rows, read by hyparquet, which shares nothing with DuckDB."""

    def check(self, name, *args):
        lake = self.lake(name, *args)
        events = self.events(name, *args)
        tables = self.tables(lake)
        rows = tables["events"]
        self.check_events(rows, events)
        classes = collections.defaultdict(list)
        for event in events:
            classes[event["name"]].append(event)
        self.assertLessEqual(set(classes), set(tables))
        for table, of in classes.items():
            self.assertEqual([r["ts"] for r in tables[table]], [e["ts"] for e in of], table)
            for row, event in zip(tables[table], of):
                fields = {re.sub("^field_", "", k): v for k, v in row.items() if k not in HEAD}
                self.check_fields(fields, event)
        return lake, rows

    def test_every_type(self):
        lake, _ = self.check(self.generate("GEN_TRACE", "all"))
        versions = {line["metadata"]["hodo_schema"] for line in self.hyparquet(*self.files(lake))}
        self.assertEqual(versions, {"1"})
        with open(os.path.join(lake, "_hodo.json"), encoding="ascii") as f:
            self.assertEqual(json.load(f), {"hodo_schema": 1})

    def test_random_values(self):
        for seed in range(1, 6):
            self.check(self.generate("GEN_TRACE", "random", seed))

    def test_real(self):
        _, rows = self.check(self.record())
        self.assertLessEqual({"main", "work", "middle", "leaf"}, {r["function"] for r in rows})
        self.assertEqual({r["host"] for r in rows}, {os.uname().nodename})

    def test_context(self):
        self.check(self.record("context", "--context", "comm,ip,pid", functions=False))

    def test_a_while(self):
        name = self.record()
        _, rows = self.check(name, *self.middle(name))
        self.assertGreater(len(rows), 1)

    def test_hostile(self):
        self.check(self.hostile())

    def test_damaged(self):
        lake = self.lake(self.damaged())
        self.assertEqual(len(self.rows(lake, "events")), len(self.events("damaged")))
        self.assertGreater(sum(r["damaged"] for r in self.rows(lake, "losses")), 0)

    def test_spans(self):
        """Spans that ended have the begins and durations that print gives with their ends."""
        name = self.record()
        ended = [e for e in self.events(name) if "begin" in e and not e["name"].startswith("func:")]
        wanted = sorted((e["begin"]["ts"], re.sub(r"\.end$", "", e["name"]), e["ts"], e["duration_ns"]) for e in ended)
        rows = self.rows(self.lake(name, "--tables", "spans"), "spans")
        self.assertEqual([r["ts"] for r in rows], sorted(r["ts"] for r in rows))
        self.assertEqual(sorted((r["ts"], r["name"], r["end_ns"], r["duration_ns"]) for r in rows
                                if r["state"] == "ended"), wanted)
        begins = {(e["begin"]["ts"], e["name"].removesuffix(".end")): e["begin"] for e in ended}
        ids = {r["id"]: r for r in rows}
        self.assertEqual(len(ids), len(rows))
        for row in rows:
            if row["state"] == "ended":
                self.check_fields(row["fields"], begins[row["ts"], row["name"]])
            if row["parent_id"] in ids:
                parent = ids[row["parent_id"]]
                self.assertLessEqual((parent["ts"], row["ts"]), (row["ts"], parent["end_ns"]))
                self.assertEqual(row["parent"], parent["name"])

    def test_calls(self):
        for scenario in ("calls", "lossy", "exit_lost", "again"):
            with self.subTest(scenario):
                name = self.generate("GEN_CALLS", scenario)
                rows = self.rows(self.lake(name, "--tables", "calls"), "calls")
                calls = [c for c in json_lines(self.ok("graph", "-q", "--json", name)) if "self_ns" in c]
                self.assertEqual(len(rows), len(calls))
                known = collections.Counter((r["function"], r["duration_ns"]) for r in rows if r["state"] == "ended")
                self.assertEqual(known, collections.Counter((c["function"], c["duration_ns"]) for c in calls
                                                            if not c["flags"]))
                self.assertTrue(all(r["duration_ns"] is None for r in rows if r["state"] in ("open", "exit_lost")))

    def test_facts(self):
        name = self.generate("GEN_CALLS", "lossy")
        lake = self.lake(name)
        discarded, overwritten = self.lost(name)
        losses = self.rows(lake, "losses")
        self.assertEqual((sum(r["discarded"] for r in losses), sum(r["overwritten"] for r in losses)),
                         (discarded, overwritten))
        self.assertEqual([(r["process"], r["lost"]) for r in self.rows(lake, "processes")],
                         [(p["comm"], p["discarded"] + p["overwritten"]) for p in self.stat(name)["processes"]])
        host, = self.rows(lake, "hosts")
        self.assertEqual((host["lost"], host["recording"]), (discarded + overwritten, name))

    def test_counters(self):
        name = self.record()
        values = [(e["ts"], e["fields"]["value"]) for e in self.events(name) if set(e["fields"]) == {"value"}]
        rows = self.rows(self.lake(name, "--tables", "samples"), "samples")
        self.assertEqual([(r["ts"], r["value"]) for r in rows], [(ts, float(v)) for ts, v in values])


class Folders(parquet.Case):
    """Where the files are, and what happens to them when something fails. Each test has its own folder."""
    SHARED = False

    def trees(self):
        return sorted(str(p.relative_to(self.dir)) for p in pathlib.Path(self.dir).rglob("*.parquet") if p.is_file())

    def nothing_left(self):
        self.assertEqual([f for f in os.listdir(self.dir) if ".part" in f], [])

    def test_partitions(self):
        """A folder for each host and day; names of hosts and events cannot lead outside."""
        name = self.generate("GEN_TRACE", "all")
        host = "../../x'; DROP TABLE y; --"
        with_host(self.path(name), host)
        file = pathlib.Path(self.path(name), "kvd-412", "metadata")
        file.write_bytes(file.read_bytes().replace(b"name=kv:put ", b"name=../../%22'%2f..%3b "))
        lake = self.lake(name)
        hosts = {p.name for p in pathlib.Path(lake).glob("*/host=*")}
        self.assertEqual(hosts, {"host=%2E.%2F..%2Fx%27%3B%20DROP%20TABLE%20y%3B%20--"})
        self.assertEqual(os.listdir(self.dir), [os.path.basename(name), os.path.basename(lake)])
        self.assertIn("../../\"'/..;", self.folders(lake))
        self.assertEqual({r["host"] for r in self.query("FROM hosts", lake)}, {host})
        put = sum(e["name"] == "../../\"'/..;" for e in self.events(name))
        self.assertEqual(self.query('SELECT count(*) AS n FROM "../../""\'/..;"', lake, name), [{"n": 2 * put}])

    def test_days(self):
        name = self.generate("GEN_TRACE", "all")
        file = pathlib.Path(self.path(name), "kvd-412", "metadata")
        times = [e["ts"] for e in self.events(name)]
        offset = int(re.search(r"offset_s=(-?\d+)", file.read_text())[1])
        # The middle of the recording's three seconds becomes midnight, to the second.
        moved = offset - (times[0] + times[-1]) // 2 % BOUNDARY // 10**9
        file.write_text(re.sub(rf"(offset_s ?= ?){offset}", rf"\g<1>{moved}", file.read_text()))
        lake = self.lake(name)
        self.assertEqual(len({p.name for p in pathlib.Path(lake).glob("events/*/*")}), 2)
        for path in self.files(lake):
            day = path.parts[-2].removeprefix("day=")
            text = self.query(f"SELECT DISTINCT (epoch_ms(ts // 1000000))::DATE::VARCHAR AS day FROM '{path}'", lake)
            self.assertEqual(text, [{"day": day}], path)
        self.assertEqual([r["ts"] for r in self.query("SELECT ts FROM events ORDER BY ts", lake)],
                         sorted(e["ts"] for e in self.events(name)))

    def test_added(self):
        """Recordings share a directory; each is in it once."""
        one, two = self.generate("GEN_TRACE", "all"), self.generate("GEN_TRACE", "random", 3)
        os.mkdir(self.path("lake"))
        self.lake(one, to="lake")
        of_one = self.trees()
        self.lake(two, to="lake")
        both = self.trees()
        self.assertLess(set(of_one), set(both))
        self.fails(1, "lake has this recording: give --force", "export", "--to", "parquet", "-o", "lake", one,
                   text=True)
        self.ok("export", "-q", "-f", "--to", "parquet", "-o", "lake", one)
        self.assertEqual(self.trees(), both)
        n = len(self.events(one)) + len(self.events(two))
        self.assertEqual(self.query("SELECT count(*) AS n FROM events", "lake"), [{"n": n}])
        # Nothing stays of an earlier run with more tables.
        self.ok("export", "-q", "-f", "--to", "parquet", "-o", "lake", "--tables", "spans", one)
        self.assertEqual(self.query("SELECT count(*) AS n FROM events", "lake"), [{"n": len(self.events(two))}])
        self.nothing_left()

    def export_while(self, name, happens):
        """Exports to "lake", while which something else happens there; None: it was too quick."""
        with subprocess.Popen([HODO, "export", "-q", "--to", "parquet", "-o", "lake", name],
                              **self.how({"stderr": subprocess.PIPE, "text": True})) as process:
            wait_for("files", lambda: any(".part" in f for f in os.listdir(self.dir)) or process.poll() is not None)
            process.send_signal(signal.SIGSTOP)
            too_late = os.path.exists(self.path("lake"))
            if not too_late:
                happens()
            process.send_signal(signal.SIGCONT)
            said = process.communicate()[1]
        return None if too_late else (process.returncode, said)

    def test_at_once(self):
        """Another export makes the directory meanwhile: both recordings are in it; the same one is refused."""
        one, large = self.generate("GEN_TRACE", "all"), self.record("large", requests=20000)
        n = {name: len(self.events(name)) for name in (one, large)}
        for other, status, words, count in ((one, 0, "", n[one] + n[large]),
                                            (large, 1, "lake has this recording", n[large])):
            self.lake(other, to="made")
            done = self.export_while(large, lambda: os.rename(self.path("made"), self.path("lake")))
            if done:
                self.assertEqual((done[0], words in done[1]), (status, True), done[1])
                self.assertEqual(self.query("SELECT count(*) AS n FROM events", "lake"), [{"n": count}])
            self.nothing_left()
            shutil.rmtree(self.path("lake"))
            shutil.rmtree(self.path("made"), ignore_errors=True)

    def test_many_at_once(self):
        """Into a directory that is there and empty: files of each, whoever makes which folder."""
        names = [self.record(f"of-{i}", requests=20, functions=False) for i in range(6)]
        n = sum(len(self.events(name)) for name in names)
        for made in (False, True):
            if made:
                os.mkdir(self.path("lake"))
            for force in ("-q", "-f"):
                running = [subprocess.Popen([HODO, "export", "-q", force, "--to", "parquet", "-o", "lake", name],
                                            **self.how({"stderr": subprocess.PIPE, "text": True})) for name in names]
                for process in running:
                    self.assertEqual((process.communicate()[1], process.returncode), ("", 0))
                self.assertEqual(self.query("SELECT count(*) AS n FROM events", "lake"), [{"n": n}])
            shutil.rmtree(self.path("lake"))
        self.nothing_left()

    def into(self, lake, name, *args):
        done = self.hodo("export", "--to", "parquet", "-o", lake, *args, name, text=True)
        return done.returncode, done.stderr

    def test_same_events(self):
        """A merge and what it is of, in either order, or of which it has a part: only once in a directory, but by
        force; parts of a recording are not the same, though a process is in all of them."""
        one, two = self.record("one", requests=300), self.record("two", requests=300)
        whole = self.record("rotated", "--rotate", "256K", requests=6000)
        parts = sorted(str(p) for p in pathlib.Path(self.path(whole)).glob("part-*"))
        self.assertGreater(len(parts), 1)
        # The second of a merge gets other times: it does not matter.
        for name, of in (("merged", (one, two)), ("part-1", (parts[0], one)), ("part-2", (two, parts[1]))):
            self.ok("merge", "-q", "-o", name, *of)
        for name, names, left_out in (("lake-1", ("merged",), (one, two)), ("lake-2", (two, one), ("merged",)),
                                      ("lake-3", ("part-1", "part-2"), (whole, one))):
            for of in names:
                status, said = self.into(name, of)
                self.assertEqual((status, "left out" in said), (0, False), said)
            n = sum(len(self.events(of)) for of in names)
            before = self.trees()
            for of in left_out:
                status, said = self.into(name, of)
                self.assertEqual((status, said.count("\n")), (1, 1), said)
                self.assertRegex(said, f"^hodo: {of} is left out: ({'|'.join(names)}) in {name} has the same events")
            self.assertEqual(self.trees(), before)
            self.assertEqual(self.query("SELECT count(*) AS n FROM events", name), [{"n": n}])
        status, said = self.into("lake-1", two, "--force")
        self.assertEqual(status, 0, said)
        self.assertIn(f"hodo: warning: {two} and merged in lake-1 have the same events, or some of them: they are "
                      "counted twice\n", said)
        self.assertEqual(self.query("SELECT count(*) AS n FROM events", "lake-1"),
                         [{"n": len(self.events(one)) + 2 * len(self.events(two))}])
        self.nothing_left()

    def test_parts(self):
        """All parts of a recording, one after the other; none of them again."""
        whole = self.record("rotated", "--rotate", "256K", requests=6000)
        parts = sorted(str(p) for p in pathlib.Path(self.path(whole)).glob("part-*"))
        self.assertGreater(len(parts), 1)
        for part in parts:
            self.assertEqual(self.into("in-parts", part)[0], 0)
        self.assertEqual(self.query("SELECT count(*) AS n, count(DISTINCT id) AS d FROM spans", "in-parts"),
                         self.query("SELECT count(*) AS n, count(*) AS d FROM spans", *parts))
        self.assertEqual(self.query("SELECT count(*) AS n FROM events", "in-parts"), [{"n": len(self.events(whole))}])
        for again in (*parts, whole):
            self.assertEqual(self.into("in-parts", again)[0], 1)

    def test_many_hosts(self):
        """In a directory of many hosts only those of the recording are looked at; what cannot be read is not known."""
        one, two = self.record("one", requests=300), self.record("two", requests=300)
        self.ok("merge", "-q", "-o", "merged", one, two)
        self.ok("merge", "-q", "-o", "named", f"a={one}", f"b={two}")
        self.lake("merged", to="lake")
        for i in range(70):
            os.mkdir(self.path("lake", "processes", f"host=h{i}"))
        self.assertEqual(self.into("lake", one)[0], 1)
        for path in self.files(self.path("lake"), "processes"):
            path.write_bytes(b"PAR1")
        self.assertEqual(self.into("lake", one)[0], 0)

    def test_beside(self):
        """Without -o the directory is beside the recording, and is replaced."""
        name = self.generate("GEN_TRACE", "all")
        self.ok("export", "-q", "--to", "parquet", name)
        before = self.trees()
        self.assertTrue(before[0].startswith(name + ".parquet/"))
        self.ok("export", "-q", "--to", "parquet", "--tables", "events", name)
        self.assertEqual({p.split("/")[1] for p in self.trees()}, {"events", "hosts"})

    def test_not_ours(self):
        name = self.generate("GEN_TRACE", "all")
        os.mkdir(self.path("mine"))
        pathlib.Path(self.path("mine", "notes")).touch()
        for to, words in (("mine", "is not what hodo export makes"), ("none/where", "cannot be written"),
                          (name, "is not what hodo export makes")):
            self.fails(1, words, "export", "--to", "parquet", "-f", "-o", to, name, text=True)
        self.fails(2, "this format is a directory", "export", "--to", "parquet", "-o", "-", name, text=True)
        self.fails(2, "--tables is for", "export", "--to", "csv", "--tables", "events", name, text=True)
        self.assertEqual(os.listdir(self.path("mine")), ["notes"])
        self.nothing_left()

    def test_no_table(self):
        """A table that the recording has not is a mistake; what was made is counted in English."""
        name = self.generate("GEN_TRACE", "all")
        for tables, words in (("foo", "has no table 'foo': 'hodo query --tables' lists them"),
                              ("events,span", "has no table 'span': did you mean spans?"),
                              ("classe", "did you mean classes,")):
            self.fails(1, words, "export", "--to", "parquet", "--tables", tables, name, text=True)
        self.assertEqual(self.trees(), [])
        done = self.hodo("export", "--to", "parquet", "-o", "lake", "--tables", "Hosts", name, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("hodo: 1 row in 1 file in lake\n", done.stderr)
        self.ok("export", "-q", "-f", "--to", "parquet", "-o", "lake", "--tables", "classes,KV:PUT", name)
        self.assertIn("kv:put", self.folders(self.path("lake")))

    def test_link(self):
        """A link in the directory does not lead out of it."""
        name = self.generate("GEN_TRACE", "all")
        self.lake(name, to="lake")
        shutil.rmtree(self.path("lake", "events"))
        os.mkdir(self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), self.path("lake", "events"))
        done = self.hodo("export", "-q", "-f", "--to", "parquet", "-o", "lake", name)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(os.listdir(self.path("elsewhere")), [])

    def test_newer(self):
        name = self.generate("GEN_TRACE", "all")
        self.lake(name, to="lake")
        pathlib.Path(self.path("lake", "_hodo.json")).write_text('{"hodo_schema":2}\n', encoding="ascii")
        self.fails(1, "is of a newer hodo", "query", "FROM events", "lake", text=True)

    def test_full(self):
        """No room: one line, and no files are left. A limit of the file size stands for a full disk."""
        name = self.record("traced", requests=2000)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        self.fails(1, "cannot be written", "export", "--to", "parquet", "-o", "lake", name, text=True,
                   preexec_fn=limit)
        self.assertFalse(os.path.exists(self.path("lake")))
        self.nothing_left()

    def test_interrupted(self):
        """A signal in the middle leaves nothing behind, and the message says what helps."""
        name = self.record("traced", requests=20000)
        process = subprocess.Popen([HODO, "export", "--to", "parquet", "-o", "lake", name],
                                   **self.how({"stderr": subprocess.PIPE, "text": True}))
        wait_for("files", lambda: any(".part" in f for f in os.listdir(self.dir)) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        if process.returncode == 0:
            return # it had already ended
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("interrupted: nothing was written", said)
        self.assertFalse(os.path.exists(self.path("lake")))
        self.nothing_left()

    def test_killed(self):
        """What a killed export has left is removed by the next one, which says so; what one writes that runs is not."""
        name = self.generate("GEN_TRACE", "all")
        large = self.record("large", requests=20000)
        command = [HODO, "export", "-q", "--to", "parquet", "-o", "lake", large]
        with subprocess.Popen(command, **self.how({})) as process:
            wait_for("files", lambda: any(".part" in f for f in os.listdir(self.dir)) or process.poll() is not None)
            left = f"lake.{process.pid}.part"
            process.kill()
        if not os.path.exists(self.path(left)): # it had already ended
            shutil.rmtree(self.path("lake"), ignore_errors=True)
            os.makedirs(self.path(left, "events"))
        self.assertFalse(os.path.exists(self.path("lake")))
        for other in (f"lake.{os.getpid()}.part", "lake.notes.part", f"lake2.{process.pid}.part"):
            os.mkdir(self.path(other))
        done = self.hodo("export", "--to", "parquet", "-o", "lake", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"removed {left}, which an export that was killed had left", done.stderr)
        self.assertEqual(sorted(f for f in os.listdir(self.dir) if ".part" in f),
                         sorted([f"lake.{os.getpid()}.part", "lake.notes.part", f"lake2.{process.pid}.part"]))

    def test_full_later(self):
        """No room for one recording more: those that are there stay as they are, and are read."""
        name, large = self.generate("GEN_TRACE", "all"), self.record("traced", requests=2000)
        os.mkdir(self.path("lake"))
        self.lake(name, to="lake")
        before = self.trees()
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        self.fails(1, "make room, or name another directory with -o, and run it again", "export", "--to", "parquet",
                   "-o", "lake", large, text=True, preexec_fn=limit)
        self.assertEqual(self.trees(), before)
        self.nothing_left()
        self.assertEqual(self.query("SELECT count(*) AS n FROM events", "lake"), [{"n": len(self.events(name))}])
        self.lake(large, to="lake") # and then there is room
        self.assertEqual(len(self.query("FROM hosts", "lake")), 2)

    def test_interrupted_before(self):
        """Files without those of hosts, which an interrupted export has left, are replaced without --force."""
        name = self.generate("GEN_TRACE", "all")
        with_host(self.path(name), "web1")
        os.mkdir(self.path("lake"))
        self.lake(name, to="lake")
        shutil.rmtree(self.path("lake", "hosts"))
        whole = set(self.trees())
        stale = next(f for f in whole if "/events/" in f).replace("-0000.", "-0007.")
        shutil.copyfile(self.path(next(f for f in whole if "/events/" in f)), self.path(stale))
        self.lake(name, to="lake")
        self.assertEqual({f for f in self.trees() if "/hosts/" not in f}, whole)
        self.assertEqual(self.query("SELECT count(*) AS n FROM events", "lake"), [{"n": len(self.events(name))}])

    def test_library(self):
        """A library that is not DuckDB is refused in one line, and formats that do not need DuckDB do not load it."""
        name = self.generate("GEN_TRACE", "all")
        for library, words in (("/nowhere/libduckdb.so", "HODO_DUCKDB=/nowhere/libduckdb.so: cannot be loaded"),
                               (LIBHODO, "has no duckdb_library_version: set HODO_DUCKDB")):
            self.fails(1, words, "export", "--to", "parquet", name, text=True, env={"HODO_DUCKDB": library})
        self.nothing_left()
        self.ok("export", "-q", "--to", "csv", name)


if __name__ == "__main__":
    parquet.need_duckdb()
    profiles.main()
