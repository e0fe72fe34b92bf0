#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The verbs print, stat, list and info, on generated recordings.

HODO, GEN_TRACE and READ_API name programs, LIBRARY names libhodo-read, LIST_TARGETS names binaries with events,
separated by colons.
After an intended change of the output: UPDATE_GOLDEN=1 test_cli.py Golden, and review the difference.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unicodedata

import hodo_test
from hodo_test import COMPARE, HODO, SOURCE, main, program, run
from terminal import on_terminal

HERE = pathlib.Path(__file__).resolve().parent


class Case(hodo_test.Case):
    def make(self, scenario, n=0):
        return self.path(self.generate("GEN_TRACE", scenario, n))


class Api(Case):
    """The shared library."""

    def test_cxx(self):
        self.assertEqual(run(program("READ_API"), self.make("all"), status=0).stdout, "52 52 52 0\n")

    def test_symbols(self):
        """The library exports what the headers declare, and nothing else."""
        headers = (SOURCE / "include/hodo/read.h", SOURCE / "include/hodo/columns.h")
        header = "".join(file.read_text(encoding="utf-8") for file in headers)
        code = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
        declared = set(re.findall(r"\b(hodo_read_\w+)\([^)]", code))
        symbols = run("nm", "-D", "--defined-only", program("LIBRARY"), status=0).stdout
        exported = {line.split()[2].split("@")[0] for line in symbols.splitlines() if " A " not in line}
        self.assertEqual(exported, declared)
        self.assertGreater(len(declared), 25)


class Golden(Case):
    """Output byte for byte."""

    VERBS = {"print": ["print"], "print-json": ["print", "--json"],
             "print-color": ["print", "--color=always", "-n", "8"],
             "stat": ["stat"], "stat-json": ["stat", "--json"], "info": ["info"], "info-json": ["info", "--json"],
             "list": ["list"], "list-json": ["list", "--json"]}

    def golden(self, scenario):
        path = self.make(scenario)
        for name, args in self.VERBS.items():
            with self.subTest(name):
                got = self.ok(*args, path)
                file = HERE / "golden" / (scenario + "." + name)
                if os.environ.get("UPDATE_GOLDEN"):
                    file.write_text(got)
                self.assertEqual(got, file.read_text())
                if name.endswith("json"):
                    for line in got.splitlines():
                        json.loads(line)

    def test_all(self):
        self.golden("all")

    def test_lost(self):
        self.golden("lost")

    def test_default_directory(self):
        path = self.make("all")
        os.rename(path, self.path("hodo.data"))
        for verb in ("print", "stat", "info", "list"):
            self.assertEqual(self.ok(verb), self.ok(verb, "hodo.data"))

    def test_one_process(self):
        path = self.make("all")
        lines = self.ok("print", "--json", path + "/kvd-412").splitlines()
        self.assertEqual(len(lines), 21)
        self.assertEqual({json.loads(line)["pid"] for line in lines}, {412})

    def test_time_zone(self):
        path = self.make("all")
        utc = self.ok("print", "-n1", path)
        away = self.ok("print", "-n1", path, env={"TZ": "XXX-05:30"})
        self.assertTrue(utc.startswith("[13:15:09.956751820] 0 412 kvd all:scalars "))
        self.assertEqual(away, utc.replace("13:15", "18:45"))


class Babeltrace(Case):
    """The same recording read by babeltrace2."""

    def compare(self, path, hodo=HODO):
        done = run(sys.executable, "-B", "-S", COMPARE, hodo, path, **self.how({"stderr": subprocess.STDOUT}))
        return done.returncode, done.stdout

    def test_agree(self):
        for scenario, n in [("all", 0), ("lost", 0), ("many", 12), ("fixed", 3000), ("text", 3000), ("short", 70)] + [
                ("random", seed) for seed in range(1, 13)]:
            with self.subTest(scenario, n=n):
                status, text = self.compare(self.make(scenario, n))
                self.assertEqual(status, 0, text)

    def test_notices(self):
        """The comparison itself finds each kind of wrong output."""
        path = self.make("all")
        for lie in ("s/\"shard\":3/\"shard\":4/", "s/user:1/user:2/", "s/0.30000000000000004/0.31/", "7d",
                    "s/\"tid\":414/\"tid\":415/", "s/\"key\":null/\"key\":\"\"/", "s/\"busy\":3/\"busy\":4/g",
                    "s/\"ts\":1795007709956751820/\"ts\":1795007709956751817/", "3{h;d};4G", "s/00254a6f/00254a70/",
                    "s/kv:state/kv:stat/", "s/,\"total\":2}/}/", "s/\"flag\":true/\"flag\":false/"):
            fake = self.path("fake")
            with open(fake, "w", encoding="ascii") as f:
                f.write("#!/bin/sh\n\"%s\" \"$@\" | sed '%s'\n" % (HODO, lie))
            os.chmod(fake, 0o755)
            with self.subTest(lie):
                status, text = self.compare(path, fake)
                self.assertEqual(status, 1, text)
                self.assertIn("differ in", text)


class Ctf(Case):
    """The same, read by the reader of the kernel module's tests, which shares no code with Hodoscope."""

    def test_agree(self):
        sys.path.insert(0, str(HERE.parents[1] / "world/kernel/lib"))
        import ctf  # pylint: disable=import-error,import-outside-toplevel
        for scenario, n in ("all", 0), ("text", 3000), ("random", 1):
            top = self.make(scenario, n)
            events = self.events(top)
            for folder in os.listdir(top):
                trace = ctf.Trace(os.path.join(top, folder))
                for stream in trace.streams():
                    cpu = -1 if stream == "fallback" else int(stream[3:])
                    ours = [e for e in events if (e["pid"], e["cpu"]) == (int(trace.all("process")[0]["pid"]), cpu)]
                    with self.subTest(scenario, folder=folder, stream=stream):
                        self.assertEqual([(event.name, thread) for _, thread, event, _ in trace.read(stream)],
                                         [(e["name"], e["tid"]) for e in ours])


class Errors(Case):
    """One line, and the exit status says whose fault it is."""

    def test_usage(self):
        self.fails(2, "no verb and no program given")
        self.fails(2, "did you mean 'hodo print'", "prnt")
        self.fails(2, "did you mean 'hodo stat'", "stats")
        self.fails(2, "'hodo --help' lists the verbs", "frobnicate")
        self.fails(2, "unknown option '--json'", "--json")
        for verb in ("print", "stat", "info", "list"):
            self.fails(2, "unknown option '--nonsense'", verb, "--nonsense")
            self.fails(2, "unknown option '-x'", verb, "-x")
            self.fails(2, "'two' too", verb, "one", "two")
            self.fails(2, "'--json=3' takes no value", verb, "--json=3")
        self.fails(2, "needs a value", "print", "--since")
        self.fails(2, "-n is a number of events, not 'many'", "print", "-n", "many")
        self.fails(2, "auto, always or never", "print", "--color=blue")
        path = self.make("all")
        for bad in ("yesterday", "", "-1", "1.", "1.5.2", "99999999999999999999", "9223372036.854775808"):
            self.fails(2, "--since is a time such as", "print", "--since=" + bad, path)

    def test_missing(self):
        for verb in ("print", "stat", "info", "list"):
            self.fails(1, "no such recording", verb, "nothing.data")
            self.fails(1, "no recording in this directory", verb, self.dir)
        for verb in ("print", "stat", "info"):
            self.fails(1, "not a directory", verb, HODO)

    def test_no_recording(self):
        """A directory that is no recording: what it is, and what to do with it."""
        folder = self.path("folder")
        os.mkdir(folder)
        self.fails(1, f"{folder}: no recording in this directory: give one", "stat", folder)
        below = os.path.join(folder, "web1", "today")
        shutil.copytree(self.make("all"), below)
        self.fails(1, f"{folder}: no recording in this directory, but below it: give one, such as {below}; 'hodo query' "
                   "reads several, and 'hodo merge' makes one of them", "stat", folder)
        self.fails(1, f"such as {below};", "info", os.path.dirname(below) + "/")
        for mark, words in ((".hodo-unsent", "has what was not sent yet: send it with 'hodo send'"),
                            ("_hodo.json", "has tables as Parquet, no recording: ask it with 'hodo query'")):
            other = self.path("folder" + mark)
            os.mkdir(other)
            with open(os.path.join(other, mark), "w", encoding="ascii"):
                pass
            for verb in ("print", "info", "stat"):
                self.fails(1, f"{other}: {words}", verb, other)
        self.fails(2, "one recording at a time ('hodo merge' makes one of several, 'hodo query' reads them all), not 'two'",
                   "stat", "one", "two")

    def test_list_pid(self):
        self.fails(1, "there is no process 4194305", "list", "4194305")

    def test_not_binaries(self):
        script = self.path("script")
        with open(script, "w", encoding="ascii") as f:
            f.write("#!/bin/sh\n")
        self.fails(1, "not a linked 64-bit ELF", "list", script)
        self.fails(1, "not a linked 64-bit ELF", "list", "/dev/null")

    def test_damaged(self):
        """hodo warns on standard error, and shows what it can read."""
        path = self.make("all")
        with open(path + "/kvd-412/cpu1", "r+b") as f:
            f.truncate(250)
        done = self.hodo("print", path)
        self.assertEqual(done.returncode, 0)
        self.assertIn("hodo: warning: ", done.stderr)
        self.assertIn("cpu1: cut short", done.stderr)
        self.assertIn("kv:get key user:2 shard -1", done.stdout)
        self.assertNotIn("cut short", self.hodo("print", "-q", path).stderr)
        done = self.hodo("stat", path)
        self.assertRegex(done.stdout, r"(?m)^ +1  damaged +kvd\[412\]: its buffers or its files are damaged, or cut short$")
        self.assertNotIn("no event was lost", done.stdout)
        stat, info = (json.loads(self.hodo(verb, "-q", "--json", path).stdout) for verb in ("stat", "info"))
        self.assertEqual(stat["damaged"], 1)
        for key in ("recorded", "discarded", "overwritten"):
            self.assertEqual(info[key], stat[key], key)
        self.assertEqual([p["lost"] for p in info["processes"]], [p["lost"] for p in stat["processes"]])
        self.assertEqual(info["lost"]["damaged"], 1)
        os.unlink(path + "/kvd-412/metadata")
        done = self.hodo("print", path)
        self.assertEqual(done.returncode, 0)
        self.assertIn("kvd-412: no metadata: skipped", done.stderr)
        self.assertEqual(done.stdout.count("\n"), 31)

    def test_lost_is_told(self):
        path = self.make("all")
        self.assertIn("55 events were lost, 40 of them overwritten", self.hodo("print", path).stderr)
        self.assertEqual(self.hodo("print", "-q", path).stderr, "")

    def test_help(self):
        for verb in ([], ["print"], ["stat"], ["list"], ["info"]):
            text = self.ok(*verb, "--help")
            self.assertLessEqual(text.count("\n"), 24)
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            self.assertIn("usage: hodo", text)
            if verb:
                self.assertEqual(self.ok("help", *verb), text)
        self.assertRegex(self.ok("--version"), r"\Ahodo [0-9.]+\n\Z")


class Output(Case):
    """Where output goes: pipes that close, full disks, terminals."""

    def test_broken_pipe(self):
        path = self.make("fixed", 300000)
        for args in (["print"], ["print", "--json"]):
            reader = self.start(HODO, *args, path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertTrue(reader.stdout.readline())
            reader.stdout.close()
            self.assertEqual(reader.stderr.read(), "")
            self.assertEqual(reader.wait(), 0)

    def test_full(self):
        path = self.make("all")
        for verb in ("print", "stat", "info", "list"):
            with open("/dev/full", "wb") as full:
                done = self.hodo(verb, "-q", path, stdout=full)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, "hodo: standard output cannot be written: No space left on device: make room,"
                             " or write elsewhere\n")

    def terminal(self, *args, status=0, **env):
        """What a terminal would show."""
        ended, shown = on_terminal(self, HODO, *args, env=env)
        self.assertEqual(ended, status)
        return shown

    def test_color(self):
        path = self.make("all")
        colored = "\033[36mkv:put\033[0m"
        self.assertNotIn("\033", self.ok("print", path))
        self.assertIn(colored, self.ok("print", "--color=always", path))
        self.assertIn(colored, self.ok("print", "--color=always", path, env={"NO_COLOR": "1"}))
        plain = self.ok("print", path)
        self.assertEqual(re.sub("\033\\[[0-9]*m", "", self.ok("print", "--color=always", path)), plain)
        self.assertIn(colored, self.terminal("print", path, PAGER="cat", TERM="xterm"))
        self.assertNotIn(colored, self.terminal("print", path, PAGER="cat", TERM="dumb"))
        self.assertNotIn(colored, self.terminal("print", path, PAGER="cat", TERM="xterm", NO_COLOR="1"))
        self.assertNotIn(colored, self.terminal("print", "--color=never", path, PAGER="cat", TERM="xterm"))

    def test_pager(self):
        path = self.make("all")
        self.assertIn("KVD WORKER", self.terminal("print", path, PAGER="tr a-z A-Z", TERM="xterm"))
        self.assertNotIn("KVD WORKER", self.ok("print", path, env={"PAGER": "tr a-z A-Z"}))
        # A pager that reads little or nothing, or that does not exist.
        self.terminal("print", self.make("fixed", 300000), PAGER="head -1", TERM="xterm")
        self.terminal("print", path, PAGER="true", TERM="xterm")
        shown = self.terminal("print", path, PAGER="/does/not/exist", TERM="xterm", status=1)
        self.assertIn("hodo: the pager '/does/not/exist' cannot be run: set HODO_PAGER to another, or use --no-pager", shown)

    def test_nothing_open(self):
        """Standard output closed: an error, not a crash."""
        path = self.make("all")
        done = run("sh", "-c", '"$0" print -q "$1" >&-', HODO, path)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith("hodo: standard output cannot be written"))


class Unseen(Case):
    """Invisible characters never reach a terminal; all others do."""

    @staticmethod
    def unseen(c):
        return unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")

    def setUp(self):
        super().setUp()
        every = [chr(n) for n in range(0x7f, sys.maxunicode + 1) if not 0xd800 <= n < 0xe000]
        hidden = [c for c in every if self.unseen(c)]
        beside = [chr(ord(c) + d) for c in hidden for d in (-1, 1) if ord(c) > 0x80]
        self.seen = "".join(sorted({c for c in beside if not self.unseen(c) and unicodedata.category(c) != "Cn"}))
        self.hidden = "".join(hidden)
        self.data = self.make("all")
        file = pathlib.Path(self.data, "kvd-412", "metadata")
        text = file.read_text(encoding="latin-1")
        name = "".join(f"%{b:02x}" for b in (self.hidden + self.seen).encode())
        for old, new in (("name=kv:put ", f"name=kv:{name} "), ("fields=key:str", f"fields={name}:str"),
                         ("names=IDLE", f"names={name}"),
                         ("comm=kvd%20worker", f"comm={name}"), ("comm=kvd exe=/usr/bin/kvd", f"comm={name} exe=/")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        file.write_text(text, encoding="latin-1")

    def test_unseen(self):
        verbs = [[verb, *json] for verb in ("print", "stat", "info", "list", "report") for json in ((), ("--json",))]
        verbs += [["export", "--to", to, "-o", "-"] for to in ("chrome", "jsonl", "speedscope", "folded", "callgrind")]
        for verb in verbs:
            with self.subTest(verb):
                out = self.ok(*verb, self.data)
                self.assertEqual({hex(ord(c)) for c in out if c not in "\n\t" and self.unseen(c)}, set())
                if verb[0] != "report" and verb[-1] != "-":
                    self.assertLessEqual(set(self.seen), set(out))

    def test_json_has_them_all(self):
        events = [json.loads(line) for line in self.ok("print", "--json", self.data).splitlines()]
        whole = self.hidden + self.seen
        self.assertIn("kv:" + whole, {e["name"] for e in events})
        self.assertIn(whole, {e["comm"] for e in events})
        self.assertTrue(any(whole in e["fields"] for e in events))

    def test_messages(self):
        """What a message quotes from the command line or from damaged data is masked as well."""
        name = "\x7f\u0085\u009b\u202e\u2028\ufeffé"
        os.rename(os.path.join(self.data, "kvd-412"), os.path.join(self.data, name))
        pathlib.Path(self.data, name, "metadata").write_text("no metadata")
        for args in (["stat", name], ["record", "-o", self.path("none"), name], ["stat", self.data]):
            with self.subTest(args):
                said = self.hodo(*args).stderr
                self.assertIn("??", said)
                self.assertEqual({hex(ord(c)) for c in said if c != "\n" and self.unseen(c)}, set())
        self.assertIn("??????é", said)


class Times(Case):
    """--since, --until, --limit."""

    def lines(self, *args):
        return self.ok("print", "--json", self.all, *args).splitlines()

    def setUp(self):
        super().setUp()
        self.all = self.make("all")
        self.every = self.lines()
        self.begin = json.loads(self.every[0])["ts"]

    def test_parts(self):
        for cut in ("0.000000500", "0.00000271", ".000001", "1", "0"):
            first, second = self.lines("--until", cut), self.lines("--since", cut)
            self.assertEqual(first + second, self.every)
            limit = self.begin + round(float(cut) * 1e9)
            self.assertTrue(all(json.loads(line)["ts"] < limit for line in first))
            self.assertTrue(all(json.loads(line)["ts"] >= limit for line in second))

    def test_epoch(self):
        cut = json.loads(self.every[20])["ts"]
        text = "%d.%09d" % (cut // 10**9, cut % 10**9)
        self.assertEqual(self.lines("--since", text), [e for e in self.every if json.loads(e)["ts"] >= cut])
        self.assertEqual(self.lines("--since", "0.0000005", "--until", text),
                         [e for e in self.every if self.begin + 500 <= json.loads(e)["ts"] < cut])

    def test_limit(self):
        for n in (0, 1, 10, 51, 52, 53):
            self.assertEqual(self.lines("-n", str(n)), self.every[:n])
        self.assertEqual(self.lines("--limit=3", "--since=1"), self.every[-1:])


class Binaries(Case):
    """hodo list on programs and libraries."""

    WANT = {
        "kv:cache_bytes": ("counter", "value:u64"),
        "kv:compact.begin": ("span_begin", "shard:i32"),
        "kv:compact.end": ("span_end", ""),
        "kv:data": ("event", "key:bytes load:f64[] key_3:str void_key:ptr c:char"),
        "kv:empty": ("event", ""),
        "kv:evict": ("tracepoint", "key:str age:i32"),
        "kv:get": ("mark", "key:str shard:i32"),
        "kv:put": ("event", "key:str shard:i32 bytes:u64"),
        "kv:request.begin": ("begin", "shard:i32 key:str"),
        "kv:request.end": ("end", "shard:i32"),
        "kv:state": ("event", "state:i32"),
    }

    def check(self, path):
        events = json.loads(self.ok("list", "--json", path))["events"]
        got = {e["name"]: (e["kind"], " ".join(f["name"] + ":" + f["type"] for f in e["fields"])) for e in events}
        self.assertEqual(got, self.WANT)
        self.assertEqual([e["name"] for e in events], sorted(got))
        by_name = {e["name"]: e for e in events}
        self.assertEqual(by_name["kv:put"]["sites"], 2)
        self.assertEqual(by_name["kv:get"]["format"], "key %s shard %d\n")
        self.assertEqual(by_name["kv:state"]["fields"][0]["labels"], {"IDLE": 0, "BUSY": 1, "DEAD": -7})
        source = (HERE / "list_target.c").read_text().splitlines()
        for event in events:
            self.assertTrue(event["file"].endswith("list_target.c"))
            self.assertIn(event["name"].split(":")[1].split(".")[0], source[event["line"] - 1])
        self.assertEqual(self.ok("list", path).count("\n"), len(events))

    def test_targets(self):
        for path in program("LIST_TARGETS").split(":"):
            with self.subTest(path):
                self.check(path)
                stripped = self.path("stripped")
                run("strip", "-o", stripped, path, status=0)
                self.check(stripped)

    def test_no_events(self):
        done = self.hodo("list", "/bin/true")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("has no events", done.stderr)


main()
