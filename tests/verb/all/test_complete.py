#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo --complete: it offers what the verbs' --help lists, and what the verbs accept."""
import os
import re
import shutil
import subprocess
import time

from habits import APP, Case
from hodo_test import LIMIT_S, main, verbs

VALUE_NAMES = ("WHEN", "KEY", "WHAT", "COLUMN", "NAME")


def options(text):
    """{option: name of its value, or None} of a verb's --help=all, from an independent parser."""
    found = {}
    for line in re.findall(r"(?m)^ {2,6}(-\S.*)$", text):
        head = re.split(r" {2,}", line)[0]
        value = None
        for part in reversed(re.split(r", (?=-)", head)):
            name, new = re.fullmatch(r"(--[a-z-]+|-[A-Za-z])(?:[ =]|(?=\[=))?(.*)", part).groups()
            value = new or value
            found[name] = value
    return found


class Complete(Case):
    def offered(self, *words, index=None, **kwargs):
        """[(word, what it is)]; the cursor is after the last word unless index is given."""
        index = len(words) - 1 if index is None else index
        done = self.hodo("--complete", index, *words, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return [tuple((line + "\t").split("\t")[:2]) for line in done.stdout.splitlines()]

    def words(self, *args, **kwargs):
        return [word for word, _ in self.offered(*args, **kwargs)]

    def setUp(self):
        super().setUp()
        shutil.copy(APP, self.path("app"))

    def test_verbs(self):
        self.assertEqual(self.words("hodo", ""), [*verbs(), "help"])
        self.assertEqual(self.words("hodo", "re"), [v for v in verbs() if v.startswith("re")])
        self.assertEqual(self.words("hodo", "help", "st"), ["stat"])
        text = self.ok("--help")
        self.assertEqual(self.ok("--help=all"), text)
        for word, what in self.offered("hodo", "")[:-1]:
            if f"; '{word}' " not in text:
                self.assertIn(f"  {word:<9} {what}", text)

    def test_options_are_those_of_help(self):
        for verb in verbs():
            with self.subTest(verb):
                said = options(self.ok(verb, "--help=all"))
                self.assertGreaterEqual(len(said), 3)
                table = "".join("  " + line for line in self.ok("--options", verb).splitlines(True))
                self.assertEqual(options(table), said)
                offered = [w for w in self.words("hodo", verb, "-") if w != "--help=all"]
                self.assertEqual(sorted(w for w in offered if not w.endswith("=")), sorted(said))
                for word in (w for w in offered if w.endswith("=")):
                    self.assertTrue(said[word[:-1]].startswith("["), word)

    def test_values_are_taken(self):
        """The verb accepts each offered value: it only complains about what does not exist."""
        n = 0
        for verb in verbs():
            needed = ["--to", "jsonl"] if verb == "export" else []
            for option, value in options(self.ok(verb, "--help=all")).items():
                if not value or option == "-h":
                    continue
                offered = self.offered("hodo", verb, option, "")
                for word, _ in offered:
                    if word.startswith("@") or word.endswith(":"):
                        continue
                    with self.subTest((verb, option, word)):
                        self.assertRegex(word, r"\A[a-z0-9_:-]+\Z")
                        args = [] if option == "--to" else needed
                        done = self.hodo(verb, *args, option, word, "--no-such-option")
                        self.assertEqual(done.returncode, 2)
                        self.assertIn("unknown option '--no-such-option'", done.stderr)
                        n += 1
                if re.sub(r"\W.*", "", value) in VALUE_NAMES + ("FORMAT",) or "|" in value.lower() == value:
                    with self.subTest((verb, option)):
                        self.assertGreaterEqual(len(offered), 2)
        self.assertGreater(n, 40)

    def test_values(self):
        for verb in ("print", "graph", "stat", "list", "info", "top", "report"):
            self.assertEqual(self.words("hodo", verb, "--color", ""), ["auto", "always", "never"])
        self.assertEqual(self.words("hodo", "print", "--color=a"), ["--color=auto", "--color=always"])
        self.assertEqual(self.words("hodo", "record", "--clock", ""), ["tsc", "monotonic"])
        self.assertEqual(self.words("hodo", "record", "--tracer", "graph,l"), ["graph,latency", "graph,loop"])
        self.assertEqual(self.words("hodo", "record", "--context", "c"), ["comm", "callstack", "cpu_time"])
        self.assertEqual(self.words("hodo", "record", "--off-cpu="), ["--off-cpu=switches", "--off-cpu=cpu_time"])
        self.assertEqual(self.words("hodo", "top", "--by", ""), ["events", "spans", "counters", "threads", "cpus"])
        self.assertIn("total", self.words("hodo", "report", "--sort", ""))
        formats = self.words("hodo", "export", "--to", "")
        self.assertEqual(formats, re.findall(r"(?m)^  ([a-z]+)  ", self.ok("export", "--help").split("\n\n")[2] + "\n"))
        self.assertGreaterEqual(len(formats), 5)
        self.assertEqual(self.words("hodo", "record", "--duration", ""), [])

    EVENTS = ["app:*", "app:done", "app:tick", "other:*", "other:never"]

    def test_events_of_program(self):
        """Events are read from the program's file: it does not run."""
        for line in (["record", "-e", ""], ["record", "--event", ""], ["top", "-e", ""], ["record", "-q", "-e", ""]):
            behind = ["--", "./app"] if line[0] == "top" else ["./app", "5"]
            self.assertEqual(self.words("hodo", *line, *behind, index=len(line)), self.EVENTS)
        self.assertEqual(self.words("hodo", "record", "-e", "app:t", "./app", index=3), ["app:tick"])
        self.assertEqual(self.words("hodo", "record", "-eapp:t", "./app", index=2), ["-eapp:tick"])
        self.assertEqual(self.words("hodo", "record", "--event=app:t", "./app", index=2), ["--event=app:tick"])
        self.assertEqual(self.words("hodo", "record", "-e", "app:t,o", "./app", index=3),
                         ["app:t,other:*", "app:t,other:never"])
        self.assertEqual(self.words("hodo", "record", "-e", "!app:d", "./app", index=3), ["!app:done"])
        self.assertEqual(self.words("hodo", "record", "--rate", "app:t", "./app", index=3), ["app:tick"])
        self.assertEqual(self.words("hodo", "record", "--trigger", "app:t", "./app", index=3), ["app:tick"])
        self.assertEqual(dict(self.offered("hodo", "record", "-e", "app:t", "./app", index=3)),
                         {"app:tick": "event (i:i32) " + self.place("app:tick")})
        self.assertFalse(os.path.exists(self.path("hodo.data")))

    def place(self, event):
        return re.search(rf"(?m)^{event} .*\)  (\S+:\d+)", self.ok("list", "./app"))[1]

    def test_events_by_path(self):
        os.mkdir(self.path("bin"))
        shutil.copy(APP, self.path("bin/kvd"))
        env = {"PATH": self.path("bin") + ":" + os.environ["PATH"]}
        self.assertEqual(self.words("hodo", "record", "-e", "", "kvd", index=3, env=env), self.EVENTS)
        self.assertEqual(self.words("hodo", "record", "-e", "", "no-such-program", index=3), [])

    def test_events_of_recording(self):
        self.assertEqual(self.words("hodo", "record", "-e", ""), [])
        self.ok("record", "-q", "-e", "app", "./app")
        self.assertEqual(self.words("hodo", "record", "-e", ""), self.EVENTS)

    def test_never_runs_the_program(self):
        """A program that would leave a trace if it ran; one that is not a program."""
        with open(self.path("script"), "w", encoding="ascii") as f:
            f.write("#!/bin/sh\ntouch ran\n")
        os.chmod(self.path("script"), 0o755)
        for verb in ("record", "top"):
            self.assertEqual(self.words("hodo", verb, "-e", "", "--", "./script", index=3), [])
        self.assertEqual(self.words("hodo", "record", "-e", "", "/dev/zero", index=3), [])
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_bounded(self):
        """Also where nothing ever comes: a pipe without a writer."""
        os.mkfifo(self.path("fifo"))
        begin = time.monotonic()
        self.env["HODO_COMPLETE_MS"] = "1000"
        self.assertEqual(self.words("hodo", "record", "-e", "", "./fifo", index=3), [])
        self.assertLess(time.monotonic() - begin, LIMIT_S / 2)

    def listener(self):
        process = self.start(self.path("app"), stdout=subprocess.PIPE,
                             env={"HODO_LISTEN": "1", "APP_WAIT": "1", "LD_PRELOAD": os.environ["HODO_LIBRARY"]})
        process.stdout.readline()
        return str(process.pid)

    def test_processes(self):
        pid = self.listener()
        for line in (["record", "-p"], ["record", "--pid"], ["enable"], ["disable"], ["detach"], ["top"], ["snapshot"],
                     ["list"]):
            with self.subTest(line):
                self.assertIn((pid, "app"), self.offered("hodo", *line, ""))
        self.assertIn(f"1,{pid}", self.words("hodo", "record", "-p", "1,"))
        for verb in ("enable", "disable"):
            self.assertEqual(self.words("hodo", verb, pid, ""), self.EVENTS)
            self.assertEqual(self.words("hodo", verb, pid, "app:*", "app:d"), ["app:done"])
            self.assertEqual(self.words("hodo", verb, pid, "app:tick,app:d"), ["app:tick,app:done"])
        self.assertEqual(self.words("hodo", "record", "-e", "", "-p", pid, index=3), self.EVENTS)
        self.assertEqual(self.words("hodo", "top", "-e", "", pid, index=3), self.EVENTS)

    def test_recordings(self):
        self.ok("record", "-q", "./app")
        self.ok("record", "-q", "-o", "dir.data", "./app")
        os.mkdir(self.path("docs"))
        for verb in ("print", "stat", "info", "graph", "report", "export"):
            self.assertEqual(sorted(self.words("hodo", verb, "")), ["dir.data", "hodo.data"])
            self.assertEqual(self.words("hodo", verb, "-q", "h"), ["hodo.data"])
            self.assertEqual(self.words("hodo", verb, "do"), ["@dirs"])
            self.assertEqual(self.words("hodo", verb, self.path("h")), [self.path("hodo.data")])
        self.assertEqual(sorted(self.words("hodo", "report", "--diff", "")), ["dir.data", "hodo.data"])
        # Processes of other tests may listen.
        self.assertEqual(sorted(w for w in self.words("hodo", "list", "") if not w.isdigit()),
                         ["@files", "dir.data", "hodo.data"])
        self.assertEqual(self.words("hodo", "record", "-o", ""), ["@dirs"])
        os.rename(self.path("dir.data"), self.path("hod r"))
        self.assertEqual(self.words("hodo", "stat", "hod"), ["@dirs"])
        self.assertEqual(self.words("hodo", "stat", "hodo"), ["hodo.data"])

    def test_commands(self):
        self.assertEqual(self.words("hodo", "./a"), ["@programs"])
        self.assertEqual(self.words("hodo", "xyz"), ["@programs"])
        self.assertEqual(self.words("hodo", "./app", ""), ["@command 1"])
        self.assertEqual(self.words("hodo", "--", ""), ["@programs"])
        self.assertEqual(self.words("hodo", "--", "./app", "-"), ["@command 2"])
        self.assertEqual(self.words("hodo", "record", ""), ["@programs"])
        self.assertEqual(self.words("hodo", "record", "-e", "x:y", "./app", "-"), ["@command 4"])
        self.assertEqual(self.words("hodo", "record", "-q", "--", "./app", "-"), ["@command 4"])
        self.assertEqual(self.words("hodo", "top", "--", ""), ["@programs"])
        self.assertEqual(self.words("hodo", "top", "--", "./app", "x"), ["@command 3"])

    def test_hostile(self):
        """Event names that a shell would interpret are not offered, and odd lines do no harm."""
        for words in (["hodo"], ["hodo", "record", "-e"], ["hodo", "print", "--color=", "--"],
                      ["hodo", "print", "=" * 5000],
                      ["hodo", "record", "-e", "," * 3000], ["hodo", "enable", "99999999999999999999", "a"],
                      ["hodo", "stat", "x" * 6000], ["hodo", "stat", "\n\t"], ["hodo", "-e", ""],
                      ["hodo", "list", "\udcff/"], ["hodo", "print", "-"], ["hodo", "record", "-", ""]):
            for index in range(len(words) + 2):
                done = self.hodo("--complete", index, *words)
                self.assertIn(done.returncode, (0, 1, 2), (words, index))
        for args in ([], ["x", "hodo"], ["-1", "hodo"], ["7", "hodo"]):
            self.assertEqual(self.hodo("--complete", *args).returncode, 2)


main()
