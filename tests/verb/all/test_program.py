#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo PROGRAM: records it and shows the result; a verb always takes precedence."""
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

from habits import APP, Case
from hodo_test import main, run


class Program(Case):
    def setUp(self):
        super().setUp()
        self.bin = self.path("bin")
        os.mkdir(self.bin)
        shutil.copy(APP, self.path("app"))
        self.env["PATH"] = self.bin + ":" + self.env["PATH"]

    def install(self, *names):
        for name in names:
            shutil.copy(APP, os.path.join(self.bin, name))

    def recorded(self):
        """Events by name."""
        return {e["name"]: e["count"] for e in json.loads(self.ok("stat", "--json"))["events"]}

    def test_recorded_and_shown(self):
        done = self.hodo("./app", 5)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"\Aapp: pid \d+\n\Z")
        self.assertRegex(done.stderr, r"\Ahodo: 6 events of 1 process, .* in hodo\.data\n\n"
                         r"EVENT +COUNT +PER SECOND +SIZE\n"
                         r"app:tick +5 .*\n"
                         r"app:done +1 .*\n"
                         r"total +6 .*\n\n"
                         r"in \d+\.\d{9} s, 1 process\n\n"
                         r"  hodo print +the events, one per line\n"
                         r"  hodo report +\S.*\n"
                         r"(  hodo view +\S.*\n)?\Z")
        self.assertEqual(self.recorded(), {"app:tick": 5, "app:done": 1})
        # The table is the same as hodo stat's.
        self.assertTrue(self.ok("stat").startswith(done.stderr.split("\n\n")[1]))

    def test_options_are_the_program_s(self):
        done = self.hodo("echo", "--help", "-e", "-o", "x", "--", "y")
        self.assertEqual((done.returncode, done.stdout), (0, "--help -e -o x -- y\n"))

    def test_status(self):
        self.assertEqual(self.hodo("./app", 1, 7).returncode, 7)
        done = self.hodo("./app", 1, -signal.SIGTERM)
        self.assertEqual(done.returncode, -signal.SIGTERM)
        self.assertIn("app:tick", done.stderr)

    def test_many_kinds(self):
        """More kinds of events than a screen has lines: hodo shows the most frequent ones."""
        script = self.path("many.c")
        with open(script, "w", encoding="ascii") as f:
            f.write("#include <hodo/trace.h>\nint main(void) { for (int i = 0; i < 30; i++) {\n")
            for n in range(30):
                f.write(f"if (i <= {n}) HODO_EVENT(many, k{n:02}, i);\n")
            f.write("} return 0; }\n")
        source = os.environ["SOURCE"]
        self.assertEqual(os.system(f"cc -I{source}/include -o {self.path('many')} {script}"), 0)
        done = self.hodo("./many")
        self.assertIn("... 10 more: 'hodo stat' shows all\n", done.stderr)
        self.assertRegex(done.stderr, r"\nmany:k10 +11 .*\n\.\.\. ")

    def test_nothing_happened(self):
        done = self.hodo("./app", 0)
        self.assertIn("hodo: 0 events of 1 process", done.stderr)
        self.assertNotIn("EVENT", done.stderr)
        self.assertRegex(done.stderr, r"\n  hodo list \S+/app +its events\n\Z")
        done = self.hodo("true")
        self.assertRegex(done.stderr, r"\n  man hodo-trace +how to add events to a program: this one has none\n\Z")
        # hodo record says why, and what would give some.
        for command, words in ((["true"], "hodo: true has no events: 'hodo record --functions' records its functions"),
                               (["./app", 0], "hodo: none of the 3 events of ./app happened: 'hodo list none' lists them\n"),
                               (["-e", "app:*", "./app", 0], "hodo: none of the 3 events of ./app that you asked for "
                                                             "happened: 'hodo list none' lists them\n"),
                               (["--filter", "i == 77", "./app", 3], "events of ./app that you asked for happened")):
            self.assertIn(words, self.hodo("record", "-o", "none", *command).stderr)
            self.assertEqual(self.hodo("record", "-q", "-o", "none", *command).stderr, "")
        self.assertNotIn("happened", self.hodo("record", "-o", "some", "./app", 1).stderr)

    def none(self, *command):
        """What hodo says about a recording without events."""
        done = self.hodo("record", "-o", "none", *command)
        self.assertRegex(done.stderr, r"hodo: 0 events of \d+ process")
        return done.stderr

    def test_no_environment(self):
        """The reason, and two ways out: both work."""
        said = self.none("env", "-i", self.path("app"), 3)
        self.assertIn("hodo: the program was started in a cleared environment, as by env -i or sudo, so libhodo was not loaded: put hodo after that, as in 'env -i hodo record PROGRAM', or attach: 'hodo record -p PID'\n", said)
        self.assertNotIn("env has no events", said)
        hodo, library = os.environ["HODO"], os.environ["HODO_LIBRARY"]
        run("env", "-i", f"HODO_LIBRARY={library}", hodo, "record", "-q", "-o", "behind", self.path("app"), 3, status=0,
            **self.how({}))
        self.assertIn("app:tick", self.ok("print", "behind"))

    @unittest.skipUnless(os.geteuid() == 0, "only root may change the root directory")
    def test_other_root(self):
        """A program in a chroot is recorded; if one cannot be, hodo says why."""
        root = self.path("root")
        ldd = subprocess.run(["ldd", self.path("app")], capture_output=True, text=True, check=True).stdout
        os.mkdir(root)
        shutil.copy(self.path("app"), root)
        for file in re.findall(r"/\S+", ldd):
            subprocess.run(["cp", "-L", "--parents", file, root], check=True)
        self.assertEqual(self.hodo("record", "-q", "-o", "there", "chroot", root, "/app", 3).returncode, 0)
        self.assertEqual(self.ok("print", "there").count("app:tick"), 3)
        # Where libhodo cannot be brought in: the chroot has no C library.
        run("cc", "-static", f"-I{os.environ['SOURCE']}/include", f"{os.environ['SOURCE']}/tests/verb/all/app.c", "-o",
            os.path.join(root, "app"), status=0)
        for name in ("lib", "lib64", "usr"):
            shutil.rmtree(os.path.join(root, name), ignore_errors=True)
        said = self.none("chroot", root, "/app", 3)
        self.assertRegex(said, r"(?m)^hodo: process \d+ starts a program in another root directory, to which libhodo cannot be "
                               r"copied: no C library was found there$")

    def test_static(self):
        """For a static program, hodo says how to record it, started by hodo and by another program; and that works."""
        source = os.environ["SOURCE"]
        flags = ["-static", f"-I{source}/include", f"{source}/tests/verb/all/app.c"]
        library = os.path.dirname(os.environ["HODO_LIBRARY"])
        self.assertEqual(subprocess.run(["cc", *flags, "-o", self.path("alone")]).returncode, 0)
        self.assertIn("(then link it with `pkg-config --static --libs hodo`)", self.none("./alone", 3))
        self.assertIn("hodo: a static program is recorded if libhodo is linked into it: `pkg-config --static --libs hodo`\n",
                      self.none("env", "./alone", 3))
        with open(os.path.join(library, "../../hodo.pc")) as file:
            libs = re.findall(r"-(?:Wl|l)\S+", "".join(line for line in file if line.startswith("Libs")))
        self.assertIn("-Wl,-u,hodo_library_start", libs)
        run("cc", *flags, "-o", self.path("linked"), f"-L{library}", *libs, status=0)
        self.assertEqual(self.hodo("record", "-q", "-o", "linked.data", "./linked", 3).returncode, 0)
        self.assertEqual(self.ok("print", "linked.data").count("app:tick"), 3)

    def test_attached_without_events(self):
        """The next command has the process's number."""
        with subprocess.Popen(["sleep", "1000"]) as sleeper:
            try:
                said = self.none("-p", sleeper.pid, "--duration", "200ms")
            finally:
                sleeper.kill()
        self.assertIn(f"hodo: process {sleeper.pid} has no events: 'hodo record -p {sleeper.pid} --functions' records its "
                      "functions,", said)

    def test_lost(self):
        done = self.hodo("./app", 3000000)
        if "no event was lost" not in self.ok("stat"):
            self.assertRegex(done.stderr, r"(?m)^hodo: \d+ events? lost: .*: 'hodo record -m \d+M \./app' keeps them$")

    def test_by_name(self):
        self.install("kvd")
        done = self.hodo("kvd", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.recorded(), {"app:tick": 2, "app:done": 1})

    def refused(self, word, text):
        done = self.hodo(word, 2)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"hodo: {text}\n"))
        self.assertFalse(os.path.exists(self.path("hodo.data")))

    def test_verb_wins(self):
        self.install("stat", "print", "doctor")
        self.assertIn("usage: hodo stat", self.ok("stat", "--help"))
        self.assertEqual(self.hodo("stat").returncode, 1)  # there is no hodo.data
        self.assertFalse(os.path.exists(self.path("hodo.data")))

    def test_slip_of_the_finger(self):
        for word, verb in (("recrod", "record"), ("stta", "stat"), ("prnt", "print"), ("snapshto", "snapshot"),
                           ("reocver", "recover"), ("tpo", "top"), ("Record", "record")):
            self.refused(word, f"no verb '{word}': did you mean 'hodo {verb}'?")
        self.install("lsit", "recordd")
        self.refused("lsit", "no verb 'lsit': did you mean 'hodo list'? 'hodo -- lsit' records the program")
        self.refused("recordd", "no verb 'recordd': did you mean 'hodo record'? 'hodo -- recordd' records the program")

    def test_dashes(self):
        self.install("lsit", "stat")
        for name in ("lsit", "stat"):
            self.assertEqual(self.hodo("--", name, 4).returncode, 0)
            self.assertEqual(self.recorded(), {"app:tick": 4, "app:done": 1})
        self.assertEqual(self.hodo("--").returncode, 2)

    def test_two_letters_off(self):
        """A short name is more likely a program than a verb with two typing errors."""
        self.install("past")  # "list", "stat"
        self.assertEqual(self.hodo("past", 1).returncode, 0)

    def test_neither(self):
        self.refused("xyzzy", "no verb 'xyzzy', and no program in PATH: 'hodo --help' lists the verbs")
        self.refused("app", "no verb 'app', and no program in PATH: 'hodo ./app' records the one that is here")
        self.refused("-x", "unknown option '-x': options come after the verb; see 'hodo --help'")

    def test_no_program(self):
        for word, status in (("./nope", 127), ("/", 126), ("./app.txt", 126)):
            open(self.path("app.txt"), "w", encoding="ascii").close()
            done = self.hodo(word)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stderr, r"\Ahodo: [^\n]*: [^\n]*\n\Z")
            self.assertFalse(os.path.exists(self.path("hodo.data")))

    def test_colors(self):
        self.assertNotIn("\033", self.hodo("./app").stderr)
        self.assertIn("\033[36mapp:tick\033[0m ", self.hodo("./app", env={"CLICOLOR_FORCE": "1"}).stderr)


main()
