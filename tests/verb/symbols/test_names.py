#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_names.py [CASE...]: functions in recordings and files have their names.

HODO, COMPARE (tests/lib/compare_bt2.py), STUBS (libhodo-functions.a, empty where there is none) and CLANG (may be
empty) are in the environment.
"""
import json
import pathlib
import re
import shutil
import subprocess
import time

import hodo_test
from hodo_test import HODO, compare, hodo, json_lines, main, program

STUBS, CLANG = program("STUBS"), program("CLANG")
HERE = pathlib.Path(__file__).resolve().parent
UNIT = HERE.parents[1] / "unit/sym"
SLOTS = ["-pg", "-mfentry", "-minstrument-return=call"]


def run(*args, expect=0, **how):
    return hodo_test.run(*args, status=expect, **how).stdout


class Case(hodo_test.Case):
    def setUp(self):
        super().setUp()
        if not STUBS:
            self.skipTest("functions are not traced on this machine")
        self.dir = pathlib.Path(self.dir)

    def build(self, name, *args, compiler="gcc"):
        """Quoted so that further options of the same kind come last."""
        run(compiler, "-O2", "-g", "-o", self.dir / name, "-Wl,--build-id", *args)
        return self.dir / name

    def slots(self, name, *args, compiler="gcc"):
        return self.build(name, *SLOTS, *args, "-Wl,-u,__return__", STUBS, compiler=compiler)

    def record(self, *command, out="trace"):
        run(HODO, "record", "-q", "--functions", "-o", self.dir / out, "--", *command)
        compare(self.dir / out)
        return self.dir / out

    def entries(self, trace):
        return [e for e in json_lines(run(HODO, "print", "--json", trace)) if e["name"] == "func:entry"]

    def names(self, trace):
        return [e["function"] for e in self.entries(trace)]


class Aliases(Case):
    """A function with a name of its library's author, _work, and the name that programs call, zwork."""

    def setUp(self):
        super().setUp()
        self.program = self.slots("program", HERE / "aliases.c", "-rdynamic")

    def kept(self, pattern, *command):
        """The functions that hodo records with this pattern."""
        out = self.dir / f"trace{len(list(self.dir.iterdir()))}"
        run(HODO, "record", "-q", f"--functions={pattern}", "-o", out, "--", *(command or (self.program,)))
        return sorted(set(self.names(out)))

    def test_one_name_is_shown(self):
        listed = json.loads(run(HODO, "list", "--json", "--functions", self.program))["functions"]
        self.assertEqual([f["name"] for f in listed], ["main", "other", "zwork"])
        trace = self.record(self.program)
        self.assertEqual(self.names(trace), ["main"] + 3 * ["zwork", "other"])
        seen = json.loads(run(HODO, "list", "--json", "--functions", trace))["functions"]
        self.assertEqual({f["name"] for f in seen}, {"main", "other", "zwork"})
        for verb in ("report", "graph", "print"):
            text = run(HODO, verb, trace)
            self.assertIn("zwork", text, verb)
            self.assertNotIn("_work", text, verb)

    def test_any_name_matches(self):
        for pattern in ("zwork", "_work", "_w*", "zw?rk", "*work", "nothing,_work", "zwork,_work"):
            self.assertEqual(self.kept(pattern), ["zwork"], pattern)
        for pattern in ("!zwork", "!_work", "*,!_w*", "main,other,zwork,!_work"):
            self.assertEqual(self.kept(pattern), ["main", "other"], pattern)

    def test_without_its_own_symbols(self):
        run("strip", self.program) # only exported names remain
        for pattern in ("zwork", "_work"):
            self.assertEqual(self.kept(pattern), ["zwork"], pattern)

    def test_in_a_running_program(self):
        for pattern in ("zwork", "_work"):
            with subprocess.Popen([self.program, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True) as p:
                self.assertEqual(p.stdout.readline(), "ready\n")
                recorder = subprocess.Popen([HODO, "record", "-p", str(p.pid), f"--functions={pattern}", "-o",
                                             self.dir / pattern], stderr=subprocess.PIPE, text=True)
                self.addCleanup(recorder.stderr.close)
                self.wait_for_recording(recorder, p.pid)
                p.stdin.write("\n")
                p.stdin.flush()
                self.assertEqual(p.stdout.readline(), "done\n")
                p.stdin.write("\n")
                p.stdin.close()
                _, err = recorder.communicate(timeout=600)
                self.assertEqual(recorder.returncode, 0, err)
            self.assertEqual(self.names(self.dir / pattern), 3 * ["zwork"], pattern)

    def wait_for_recording(self, recorder, pid):
        """Waits until the process says that it is recorded."""
        until = time.monotonic() + 60
        while time.monotonic() < until and recorder.poll() is None:
            done = hodo("list", "--json", pid)
            if done.returncode == 0 and json.loads(done.stdout).get("recorded_by", "nobody") != "nobody":
                return
            time.sleep(0.05)
        self.fail("it was not recorded")


class Recycled(Case):
    """Two libraries, one after the other at the same address."""

    def test_by_time(self):
        host = self.slots("host", HERE / "host.c", "-ldl")
        red, blue = (self.slots(f"{c}.so", "-shared", "-fPIC", f"-DCOLOR={c}", HERE / "plugin.c")
                     for c in ("red", "blue"))
        trace = self.record(host, "3", red, blue)
        round_of = [n for c in ("red", "blue") for n in ("use", "run", f"{c}_outer", f"{c}_inner")]
        self.assertEqual(self.names(trace), ["main"] + 3 * round_of)
        events = self.entries(trace)
        at = {c: {e["fields"]["addr"] for e in events if e["function"].startswith(c)} for c in ("red", "blue")}
        self.assertTrue(at["red"] & at["blue"], "the libraries no longer share addresses: nothing is tested")

        process = json.loads(run(HODO, "info", "--json", trace))["processes"][0]
        said = [line.strip() for line in run(HODO, "info", trace).splitlines() if " functions in " in line]
        self.assertEqual(sorted(said), sorted(f"{n} functions in {path}, build-id {build_id(path)}"
                                              for n, path in ((2, host), (3, red), (3, blue))))
        objects = [o for o in process["objects"] if o["path"] in (str(red), str(blue))]
        self.assertEqual(len(objects), 6)
        self.assertEqual({o["functions"] for o in objects}, {3})
        for o in objects:
            self.assertLess(o["from_ns"], o["until_ns"])
            self.assertEqual(o["build_id"], build_id(o["path"]))
        objects.sort(key=lambda o: o["from_ns"])
        self.assertEqual([pathlib.Path(o["path"]).stem for o in objects], 3 * ["red", "blue"])
        for a, b in zip(objects, objects[1:]):
            self.assertLessEqual(a["until_ns"], b["from_ns"])

        listed = json.loads(run(HODO, "list", "--functions", "--json", trace))["functions"]
        seen = {(f["name"], pathlib.Path(f["object"]).name): f["events"] for f in listed}
        want = {("main", "host"): 2, ("use", "host"): 12}
        for c in ("red", "blue"):
            want |= {(n, f"{c}.so"): 6 for n in ("run", f"{c}_outer", f"{c}_inner")}
        self.assertEqual(seen, want)


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path))[1]


class Elsewhere(Case):
    """A recording that is read on another machine than the program's."""

    def check_unnamed(self, trace):
        """No function has the name that it has in any file: only a place."""
        for name in self.names(trace):
            self.assertRegex(name, r"\Anames\+0x[0-9a-f]+\Z")

    def test_moved(self):
        program = self.slots("names", UNIT / "names.cc", UNIT / "names2.cc", compiler="g++")
        trace = self.record(program)
        want = self.names(trace)
        self.assertLessEqual({"main", "plain_c", "second(int)", "same(int)", "shop::refund(int)"}, set(want))
        self.assertTrue(any("{lambda(int)#1}::operator()(int) const" in n for n in want))
        self.assertTrue(any(n.startswith("shop::inner::Shelf<std::") for n in want))
        text = run(HODO, "print", "--full-names", trace)
        for name in want:
            self.assertIn(f" func:entry {name} frame=", text)

        program.rename(self.dir / "gone")
        self.assertEqual(self.names(trace), want)
        self.assertEqual(run(HODO, "print", "--full-names", trace), text)
        there = self.dir / "another" / "machine"
        shutil.copytree(trace, there)
        self.assertEqual(self.names(there), want)
        # The folder of one process, without the rest.
        folder = next(p for p in there.iterdir() if p.name != ".symbols")
        self.assertEqual(self.names(folder), want)
        # Another program in its place, with other names.
        self.slots("names", HERE / "kinds.c")
        self.assertEqual(self.names(trace), want)

        # Without the saved symbols: addresses, but never the other program's names.
        shutil.rmtree(trace / ".symbols")
        self.check_unnamed(trace)
        self.assertRegex(run(HODO, "print", trace), r" func:entry names\+0x[0-9a-f]+ frame=")
        program.unlink()
        self.check_unnamed(trace)
        (self.dir / "gone").rename(program)
        self.assertEqual(self.names(trace), want)

    def test_damaged(self):
        program = self.slots("names", UNIT / "names.cc", UNIT / "names2.cc", compiler="g++")
        trace = self.record(program)
        want = self.names(trace)
        saved = next((trace / ".symbols").iterdir())
        self.assertEqual(saved.name, build_id(program))
        saved.write_bytes(saved.read_bytes()[:-1])
        self.assertEqual(self.names(trace), want) # the program still exists
        program.unlink()
        self.check_unnamed(trace)
        saved.unlink()
        saved.symlink_to("/etc/passwd")
        self.check_unnamed(trace)

    def test_stripped(self):
        """Names come from the debug file next to the program; without one a message says so."""
        program = self.slots("kinds", HERE / "kinds.c")
        run("objcopy", "--only-keep-debug", program, self.dir / "kinds.debug")
        run("strip", program)
        done = subprocess.run([HODO, "record", "--functions", "-o", self.dir / "none", "--", program],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"hodo: names of functions could not all be kept in .*none: "
                                      rf"{re.escape(str(program))} has no symbols: keep its debug files")
        run("objcopy", f"--add-gnu-debuglink={self.dir}/kinds.debug", program)
        trace = self.record(program)
        program.unlink()
        self.assertEqual(self.names(trace), ["main", "tail", "both"])

    def test_without_build_id(self):
        program = self.slots("kinds", "-Wl,--build-id=none", HERE / "kinds.c")
        trace = self.record(program)
        self.assertRegex(next((trace / ".symbols").iterdir()).name, r"^p[0-9a-f]{16}$")
        program.unlink()
        self.assertEqual(self.names(trace), ["main", "tail", "both"])


class Directory(Case):
    """The folder of symbols is part of the recording."""

    def test_moves_with_it(self):
        program = self.slots("kinds", HERE / "kinds.c")
        for _ in range(3): # the third time .old is removed with everything in it
            trace = self.record(program)
            self.assertEqual([p.name for p in (trace / ".symbols").iterdir()], [build_id(program)])
        self.assertEqual(self.names(self.dir / "trace.old"), ["main", "tail", "both"])
        (self.dir / "trace.old" / ".symbols" / "letter").write_text("mine")
        done = subprocess.run([HODO, "record", "-q", "--functions", "-o", trace, "--", program],
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is not a recording", done.stderr)
        self.assertTrue((self.dir / "trace.old" / ".symbols" / "letter").exists())

    def test_none_without_functions(self):
        program = self.slots("kinds", HERE / "kinds.c")
        run(HODO, "record", "-q", "-o", self.dir / "trace", "--", program)
        self.assertFalse((self.dir / "trace" / ".symbols").exists())


class Kinds(Case):
    """hodo list of files with slots of each kind."""

    def check(self, slot, exits, *args, compiler="gcc", names=("both", "leaf", "main", "tail")):
        path = self.build("program", *args, HERE / "kinds.c", *([STUBS] if slot == "entry_exit" else []),
                          compiler=compiler)
        listed = json.loads(run(HODO, "list", "--json", path))
        found = listed["functions"]
        self.assertEqual([f["name"] for f in found], list(names), args)
        self.assertEqual({f["slot"] for f in found}, {slot}, args)
        starts = {w[2]: int(w[0], 16) for w in (line.split() for line in run("nm", path).splitlines())
                  if len(w) == 3 and w[1] in "tT"}
        self.assertEqual({f["name"]: f["addr"] for f in found}, {n: starts[n] for n in names}, args)
        left = {f["name"]: f["exits"] for f in found}
        if exits and slot != "entry_exit": # compilers may join the exits of both()
            left["both"] = max(left["both"], 2)
        self.assertEqual(left, exits or dict.fromkeys(names, 0), args)
        text = run(HODO, "list", path)
        self.assertEqual(text, f"4 traceable functions: 'hodo list --functions {path}' lists them\n")
        rows = [line.split() for line in run(HODO, "list", "--functions", path).splitlines()[1:]]
        self.assertEqual([(int(r[0], 16), r[1], r[3]) for r in rows], [(f["addr"], slot, f["name"]) for f in found])
        # A stripped file still has them. (A static program has no other trace of what it calls.)
        run("strip", path)
        bare = json.loads(run(HODO, "list", "--json", "--functions", path))["functions"]
        self.assertEqual(sorted(f["addr"] for f in bare), sorted(f["addr"] for f in found), args)

    EXITS = {"both": 2, "leaf": 1, "main": 1, "tail": 1}

    def test_entry_exit(self):
        link = "-Wl,-u,__return__"
        self.check("entry_exit", self.EXITS, *SLOTS, link)
        self.check("entry_exit", self.EXITS, *SLOTS, link, "-fcf-protection=full")
        self.check("entry_exit", self.EXITS, *SLOTS, link, "-fno-pie", "-no-pie")
        self.check("entry_exit", self.EXITS, *SLOTS, link, "-flto")

    def test_xray(self):
        if not CLANG:
            self.skipTest("there is no clang")
        args = ("-fxray-instrument", "-fxray-instruction-threshold=1")
        self.check("xray", self.EXITS, *args, compiler=CLANG)
        self.check("xray", self.EXITS, *args, "-fno-pie", "-no-pie", compiler=CLANG)

    def test_instrument(self):
        for compiler in filter(None, ("gcc", CLANG)):
            for args in ((), ("-fno-pie", "-no-pie"), ("-fno-plt",), ("-Wl,-z,now",)):
                self.check("instrument", self.EXITS, "-finstrument-functions", *args, compiler=compiler)
        self.check("instrument", self.EXITS, "-finstrument-functions", "-fcf-protection=full", "-Wl,-z,ibtplt")

    def test_entry_only(self):
        for compiler in filter(None, ("gcc", CLANG)):
            for args in ((), ("-fno-pie", "-no-pie"), ("-fcf-protection=full",)):
                self.check("patchable", None, "-fpatchable-function-entry=5", *args, compiler=compiler)
        for args in ((), ("-fno-pie", "-no-pie"), ("-mfentry",), ("-fno-plt",), ("-mfentry", "-fno-pie", "-no-pie")):
            self.check("mcount", None, "-pg", *args)

    def test_none(self):
        path = self.build("program", HERE / "kinds.c", "-fpatchable-function-entry=2") # no room for a call
        self.assertEqual(json.loads(run(HODO, "list", "--json", path)),
                         {"version": 1, "events": [], "sdt": [], "functions": []})
        self.assertEqual(json.loads(run(HODO, "list", "--json", "--events", path)), {"version": 1, "events": []})
        self.assertEqual(json.loads(run(HODO, "list", "--json", "--functions", path)),
                         {"version": 1, "functions": []})
        done = hodo("list", "--functions", path)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("has no slots for tracing functions", done.stderr)
        run(HODO, "list", "--functions", "--events", path, expect=2)


main()
