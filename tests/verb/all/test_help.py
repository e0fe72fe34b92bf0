#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--help of each verb fits a screen; colours and pager work the same in all verbs that print much."""
import os
import re

from habits import APP, Case
from hodo_test import HODO, main, verbs
from terminal import on_terminal

LINES, COLUMNS = 24, 80
ALL_LINES = 60  # of --help=all
MUCH = ("print", "graph", "report", "stat", "list", "info")


class Help(Case):
    def test_fits(self):
        self.assertGreaterEqual(len(verbs()), 14)
        for verb in [None, *verbs()]:
            args = [verb] if verb else []
            with self.subTest(verb):
                text = self.ok(*args, "--help")
                self.assertLessEqual(len(text.splitlines()), LINES)
                self.assertRegex(text, r"\Ausage: hodo ")
                for line in text.splitlines():
                    self.assertLessEqual(len(line), COLUMNS, line)
                    self.assertEqual(line, line.rstrip())

    def test_all(self):
        for verb in verbs():
            with self.subTest(verb):
                short, full = self.ok(verb, "--help"), self.ok(verb, "--help=all")
                self.assertNotIn("\f", short + full)
                self.assertLessEqual(len(full.splitlines()), ALL_LINES)
                self.assertLessEqual(max(map(len, full.splitlines())), COLUMNS)
                more = re.search(r"\n(\d+) more options: 'hodo (\w+) --help=all'; all in full: 'man hodo-(\w+)'\.\n\Z",
                                 short)
                if not more:
                    self.assertEqual(short, full)
                    continue
                self.assertEqual((more[2], more[3]), (verb, verb))
                self.assertTrue(full.startswith(short[:more.start()]))
                def options(text):
                    return len(re.findall(r"(?m)^ {2,6}-", text))
                self.assertEqual(options(full), options(short) + int(more[1]))

    def test_record_has_more(self):
        self.assertIn("--help=all", self.ok("record", "--help"))
        self.assertNotIn("--packet-age", self.ok("record", "--help"))
        self.assertIn("--packet-age", self.ok("record", "--help=all"))

    def test_every_verb_has_the_same(self):
        for verb in verbs():
            text = self.ok(verb, "--help=all")
            with self.subTest(verb):
                self.assertRegex(text, r"(?m)^  -h, --help\b")
                self.assertEqual("--no-pager" in text, verb in (*MUCH, "query"))
                if verb in (*MUCH, "query"):
                    self.assertRegex(text, r"(?m)^ +--color WHEN +auto, always or never\n +--no-pager +\S")
                self.assertEqual(self.hodo(verb, "--help=some").returncode, 2)
                self.assertEqual(self.hodo(verb, "--no-such-option").returncode, 2)


class Options(Case):
    """What each verb's table lists is what its parser accepts."""

    def refused(self, words, why):
        done = self.hodo(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), words)
        self.assertEqual(done.stderr, f"hodo: {words[0]}: {why}: see 'hodo {words[0]} --help'\n")

    def test_each_is_parsed(self):
        n = 0
        for verb in verbs():
            heads = [line for line in self.ok("--options", verb).splitlines() if line.startswith("-")]
            # "--since S, --until S" are two options.
            heads = [part for head in heads for part in re.split(r"(?<!^-\w), (?=--)", head)]
            names = [re.search(r"--([a-z-]+)", head)[1] for head in heads]
            for head, name in zip(heads, names):
                with self.subTest((verb, head)):
                    letter = re.match(r"-(\w),", head)
                    short = next(name[:i] for i in range(1, len(name) + 1)
                                 if name[:i] == name or sum(other.startswith(name[:i]) for other in names) == 1)
                    n += 1
                    if name == "help":
                        self.assertEqual(self.ok(verb, "--hel"), self.ok(verb, "-h"))
                    elif " " in head[head.index("--"):]:
                        for word in [f"--{name}", f"--{short}"] + ([f"-{letter[1]}"] if letter else []):
                            self.refused([verb, word], f"option '{word}' needs a value")
                    elif "[=" not in head:
                        self.refused([verb, f"--{name}=x"], f"option '--{name}=x' takes no value")
                        self.refused([verb, f"--{short}=x"], f"option '--{short}=x' takes no value")
                        self.refused([verb, f"--{short}", "-y"], "unknown option '-y'")
                    else:
                        value = {"LEVEL": "3", "PRIORITY": "3", "TIME": "5ms", "HOW": "switches"}.get(
                            head[head.index("[=") + 2:-1], "x")
                        self.refused([verb, f"--{name}={value}", f"--{name}", "-y"], "unknown option '-y'")
        self.assertGreater(n, 100)


class Terminal(Case):
    """What a terminal shows."""

    def setUp(self):
        super().setUp()
        self.ok("record", "-q", APP)
        self.ok("record", "-q", "-o", "more", APP, "100")
        self.env["TERM"] = "xterm"

    def shown(self, *args, env=None, stderr=None):
        status, text = on_terminal(self, HODO, *args, env=env or {}, stderr=stderr)
        return status, text.replace("\r\n", "\n")

    def test_pager(self):
        for verb in MUCH:
            with self.subTest(verb):
                pager = {"HODO_PAGER": "sed 's/^/P:/'"}
                status, text = self.shown(verb, "-q", env=pager)
                self.assertEqual(status, 0)
                self.assertIn("P:", text)
                self.assertNotIn("P:", self.shown(verb, "-q", "--no-pager", env=pager)[1])
                self.assertNotIn("P:", self.hodo(verb, "-q", env=pager).stdout)
                # The first variable that is set.
                self.assertIn("Q:", self.shown(verb, "-q", env={"PAGER": "sed 's/^/Q:/'"})[1])
                self.assertNotIn("Q:", self.shown(verb, "-q", env={**pager, "PAGER": "sed 's/^/Q:/'"})[1])
                self.assertNotIn("Q:", self.shown(verb, "-q", env={"HODO_PAGER": "", "PAGER": "sed 's/^/Q:/'"})[1])

    def test_less(self):
        """hodo asks less to exit if all fits, and to keep colours."""
        path = self.path("bin")
        os.mkdir(path)
        with open(os.path.join(path, "less"), "w", encoding="ascii") as f:
            f.write('#!/bin/sh\necho "LESS=$LESS"\ncat\n')
        os.chmod(os.path.join(path, "less"), 0o755)
        env = {"PATH": path + ":" + self.env["PATH"]}
        self.assertTrue(self.shown("stat", env=env)[1].startswith("LESS=FRX\n"))
        self.assertTrue(self.shown("stat", env={**env, "LESS": "i"})[1].startswith("LESS=i\n"))
        # Without less, hodo prints directly, and says nothing about it.
        status, text = self.shown("stat", env={"PATH": "/nonexistent"})
        self.assertEqual(status, 0)
        self.assertIn("app:tick", text)

    def test_bad_pager(self):
        for verb in MUCH:
            status, text = self.shown(verb, "-q", env={"HODO_PAGER": "/does/not/exist"})
            self.assertEqual(status, 1, text)
            self.assertIn("hodo: the pager '/does/not/exist' cannot be run: set HODO_PAGER to another, or use "
                          "--no-pager\n", text)

    def test_messages_do_not_mix(self):
        """Messages while a pager runs go through it, or to a file if standard error is one."""
        with open(self.path("hodo.data/extra"), "w", encoding="ascii"):
            pass
        os.mkdir(self.path("hodo.data/empty"))
        pager = {"HODO_PAGER": "sed 's/^/P:/'"}
        said = self.hodo("print").stderr
        status, text = self.shown("print", env=pager, stderr=self.path("said"))
        self.assertEqual(status, 0)
        with open(self.path("said"), encoding="utf-8") as f:
            self.assertEqual(f.read(), said)

    def test_color(self):
        colored = re.compile("\033\\[[0-9;]*m")
        for verb in MUCH:
            args = (verb, "-q", "--no-pager")
            plain = self.hodo(*args).stdout
            with self.subTest(verb):
                self.assertNotRegex(plain, colored)
                always = self.ok(*args, "--color=always", env={"NO_COLOR": "1", "TERM": "dumb"})
                if verb != "graph":  # without calls it has nothing to colour
                    self.assertRegex(always, colored)
                    self.assertRegex(self.shown(*args)[1], colored)
                    self.assertEqual(self.ok(*args, env={"CLICOLOR_FORCE": "1"}), always)
                self.assertEqual(colored.sub("", always), plain)
                for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}):
                    self.assertNotRegex(self.shown(*args, env=env)[1], colored)
                self.assertNotRegex(self.shown(*args, "--color=never", env={"CLICOLOR_FORCE": "1"})[1], colored)
                self.assertNotRegex(self.ok(*args, env={"CLICOLOR_FORCE": "0"}), colored)
                self.assertNotRegex(self.ok(verb, "-q", "--json", "--color=always"), colored)
                done = self.hodo(verb, "--color=red")
                self.assertEqual((done.returncode, done.stderr),
                                 (2, f"hodo: {verb}: --color is auto, always or never, not 'red': "
                                     f"see 'hodo {verb} --help'\n"))


main()
