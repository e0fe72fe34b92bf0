#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""musl's programs are recorded as glibc's are, by the same libraries; they and the programs they start run unharmed."""
import collections
import os
import re
import shutil
import subprocess
import sys

from hodo_test import LIBHODO, SOURCE, Case, main, program, run, wait_for

HERE = SOURCE / "tests/program/musl"
LIFE = ["ends", "fork", "bare_clone", "vfork", "clone_vm", "spawn", "exec", "signals", "children_of_children"]
SLOTS = ["-pg", "-mfentry", "-minstrument-return=call", "-Wl,-u,__return__"]
ARCHIVE = ["-Wl,-u,hodo_library_start", program("ARCHIVE")]
CALLS = {"main": 1, "fib": 25 + 41, "thread_main": 1}
EVENTS = {"program:begin": 1, "plugin:up": 1, "plugin:call": 1, "program:thread": 3}


class Musl(Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("musl-gcc"):
            self.skipTest("no musl-gcc here (Debian's musl-tools)")

    def build(self, *what, source="program.c", out="program", compiler="musl-gcc"):
        run(compiler, "-O2", "-g", f"-I{SOURCE}/include", HERE / source, *what, "-o", self.path(out), status=0)
        return self.path(out)

    def build_plugin(self):
        return self.build("-shared", "-fPIC", source="plugin.c", out="plugin.so")

    def counts(self, *command, status, output, options=()):
        """The events of a command, which runs as it does alone."""
        alone = run(*command, **self.how({}))
        done = self.hodo("record", "-q", "-o", self.data, *options, "--", *command)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (status, output, ""))
        self.assertEqual((alone.returncode, alone.stdout, alone.stderr), (status, output, ""))
        return dict(collections.Counter(e["name"] for e in self.events()))


class Life(Musl):
    def test_life(self):
        """The scenes of tests/program/processes: constructors, fork, clone, vfork, exec, signals."""
        env = dict(os.environ, LIFE=self.build("-Wno-clobbered", "-pthread", source="../processes/life.c"))
        for scene in LIFE:
            with self.subTest(scene=scene):
                run(sys.executable, "-B", SOURCE / "tests/program/processes/life.py", scene, env=env, status=0)

    def test_through_others(self):
        """glibc's shell starts a musl program, which starts a glibc program."""
        life = self.build("-Wno-clobbered", "-pthread", source="../processes/life.c", out="life")
        glibc = self.build("-Wno-clobbered", "-pthread", source="../processes/life.c", out="other", compiler="gcc")
        both = self.build("-pthread", out="program")
        plugin = self.build_plugin()
        found = self.counts("sh", "-c", f"{life} ends; {glibc} ends; {both} {plugin}", status=3, output="13\n")
        self.assertEqual(found, {**EVENTS, "life:note": 12})


class Objects(Musl):
    def test_opened(self):
        """Also events of its constructors; a missing library changes nothing."""
        plugin = self.build_plugin()
        for place in ("-pie", "-no-pie"):
            built = self.build(place, out=f"program{place}")
            self.assertEqual(self.counts(built, plugin, status=3, output="13\n"), EVENTS)
            shutil.rmtree(self.data)

    def test_fork(self):
        """fork() waits for the loader's lock, and the lock's owner for libhodo's, in either order."""
        self.build_plugin()
        found = self.counts(self.build(), "fork", status=6, output="")
        self.assertEqual(found, {"program:child": 50, "plugin:up": 1})

    def test_context(self):
        built, plugin = self.build("-fno-omit-frame-pointer"), self.build_plugin()
        self.counts(built, plugin, status=3, output="13\n",
                    options=("--clock", "monotonic", "--context", "comm,pid,ip,callstack"))
        printed = self.ok("print", self.data)
        self.assertRegex(printed, r'plugin:call n=8 \{comm="program" pid=\d+ ip=plugin_call\+\S+ callstack=\[plugin_call')
        self.assertRegex(printed, r"program:begin .*ip=main\+")


class Running(Musl):
    def tick(self, env=None):
        process = self.start(self.build(), "wait", stdin=subprocess.PIPE, env=env)
        wait_for("the program", lambda: os.path.basename(os.readlink(f"/proc/{process.pid}/exe")) == "program")
        return process

    def end(self, process):
        process.communicate("\n")
        self.assertEqual(process.returncode, 4)

    def test_listens(self):
        """With a thread of libhodo, which takes part when the program changes its user."""
        process = self.tick({"HODO_LISTEN": "1", "LD_PRELOAD": LIBHODO})
        socket = os.path.join(self.env["XDG_RUNTIME_DIR"], "hodo", str(process.pid))
        wait_for("the listener", lambda: os.path.exists(socket))
        self.hodo("record", "-q", "-p", process.pid, "--duration", "200ms", "-o", self.data, status=0)
        self.assertEqual({e["name"] for e in self.events()}, {"program:tick"})
        self.end(process)

    def test_attached(self):
        """musl's loader does not load libhodo later."""
        process = self.tick()
        self.fails(1, "musl", "record", "-p", process.pid, "-o", self.data)
        self.end(process)


class Functions(Musl):
    def check(self, *build, options=()):
        plugin = self.build_plugin()
        built = self.build("-fno-optimize-sibling-calls", *build)
        done = self.hodo("record", "-q", "--functions", *options, "-o", self.data, "--", built, plugin)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "13\n", ""))
        kinds = collections.defaultdict(collections.Counter)
        for event in self.events():
            if event["name"].startswith("func:"):
                kinds[event["name"]][event["function"]] += 1
        shutil.rmtree(self.data)
        return kinds

    def test_slots(self):
        kinds = self.check(*SLOTS, program("STUBS"))
        self.assertEqual(set(kinds), {"func:entry", "func:exit"})
        for kind in kinds.values():
            self.assertEqual({name: kind[name] for name in CALLS}, CALLS)

    def test_returns(self):
        kinds = self.check("-fpatchable-function-entry=5", options=("--returns", "--tracer", "graph"))
        self.assertEqual({name: kinds["func:call"][name] for name in CALLS}, CALLS)


class Linked(Musl):
    def test_archive(self):
        """libhodo.a, which uses nothing from the other libc's headers, in a program."""
        for n, kind in enumerate(("-static", "-static-pie", "-pie")):
            built = self.build(kind, "-fPIE", *ARCHIVE, source="../processes/life.c", out=f"linked{n}")
            for scene, events in (("ends", 6), ("exec", 5), ("clone_vm", 242)):
                with self.subTest(kind=kind, scene=scene):
                    found = self.counts(built, scene, status=0, output="")
                    self.assertEqual(found, {"life:note": events})
                    shutil.rmtree(self.data)


class Names(Musl):
    def test_known(self):
        """musl has all symbols that the libraries refer to, except those that they check before use."""
        def names(*options):
            lines = run("nm", "-D", *options, status=0).stdout.splitlines()
            return [re.match(r"(?:[0-9a-f]+)? *(\S) ([^@\s]+)", line).groups() for line in lines]
        known = {name for _, name in names("--defined-only", "/lib/ld-musl-x86_64.so.1")}
        known |= {name for _, name in names("--defined-only", LIBHODO)}
        for library in (LIBHODO, program("LIBFUNC")):
            missing = {name for kind, name in names("--undefined-only", library) if kind == "U" and name not in known}
            self.assertEqual(missing, set(), library)


if __name__ == "__main__":
    main()
