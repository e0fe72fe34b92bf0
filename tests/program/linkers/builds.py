#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that are compiled and linked in less common ways: they record the same as others."""
import collections
import json
import os
import shutil

from hodo_test import SOURCE, Case, main, program, run

HERE = SOURCE / "tests/program/linkers"
SLOTS = ["-pg", "-mfentry", "-minstrument-return=call", "-Wl,-u,__return__"]
FIXED, PLACED = ["-no-pie", "-fno-pie"], ["-pie", "-fPIE"]
CALLS = {"main": 1, "middle": 2, "leaf": 20}


class Builds(Case):
    def need(self, *tools):
        for tool in tools:
            if not shutil.which(tool):
                self.skipTest(f"no {tool} here")

    def build(self, compiler, *what, source="events.c", out="program"):
        self.need(compiler)
        run(compiler, "-O2", "-g", f"-I{SOURCE}/include", HERE / source, *what, "-o", self.path(out), status=0)
        return self.path(out)

    def check_functions(self, *build):
        """Records all functions, one, and one with a tracer that tracks calls: no others, and no half of a call."""
        built = self.build(*build)
        listed = self.ok("list", "--functions", built).splitlines()[1:]
        self.assertEqual({line.split()[-1] for line in listed}, set(CALLS))
        for n, (options, want) in enumerate(((["--functions"], CALLS), (["--functions=leaf"], {"leaf": 20}),
                                             (["--functions=leaf", "--tracer", "graph"], {"leaf": 20}))):
            self.hodo("record", "-q", *options, "-o", f"calls{n}", "--", built, status=0)
            report = json.loads(self.ok("report", "--json", f"calls{n}"))
            got = {f["function"]: (f["calls"], f["left"], f["open"]) for f in report["functions"]}
            self.assertEqual(got, {name: (calls, 0, 0) for name, calls in want.items()}, (build, options))

    def counts(self, name, command, *options):
        """How often each event or function is in a recording, by name."""
        done = self.hodo("record", "-q", *options, "-o", name, "--", *command, status=0)
        self.assertEqual(done.stderr, "")
        counts = collections.Counter()
        for event in self.events(name):
            counts[event["name"], event.get("function", "")] += 1
        return dict(counts)


class Mold(Builds):
    """Notes aligned to 4 and to 8 bytes are in one segment."""

    def check(self, *flags):
        self.need("mold")
        self.assertEqual(self.counts("events", [self.build(*flags, "-fuse-ld=mold")]), {("builds:event", ""): 3})

    def test_gcc(self):
        self.check("gcc")

    def test_clang(self):
        self.check("clang", "-no-pie")

    def test_functions(self):
        self.need("mold")
        self.check_functions("gcc", *SLOTS, "-fuse-ld=mold", program("STUBS"))

    def test_instrumented(self):
        """mold's linkage table (PLT) has a different shape."""
        self.need("mold")
        self.check_functions("gcc", "-finstrument-functions", "-fuse-ld=mold")


class Fixed(Builds):
    """Programs at a fixed address that export nothing."""

    def test_instrumented(self):
        self.check_functions("gcc", "-finstrument-functions", *FIXED)

    def test_entries(self):
        self.check_functions("clang", "-pg", *FIXED)


class Large(Builds):
    """-mcmodel=large: slots call through a register."""

    def check(self, compiler, *flags):
        for place in (FIXED, PLACED):
            for linker in ("bfd", "gold", "lld", "mold"):
                if shutil.which(f"ld.{linker}"):
                    with self.subTest(compiler=compiler, place=place, linker=linker):
                        self.check_functions(compiler, "-mcmodel=large", "-DHODO_DISABLE", *place, *flags,
                                             f"-fuse-ld={linker}")

    def test_slots(self):
        self.check("gcc", *SLOTS, program("STUBS"))

    def test_instrumented(self):
        self.check("gcc", "-finstrument-functions")

    def test_instrumented_clang(self):
        self.check("clang", "-finstrument-functions")

    def test_events(self):
        """GCC cannot name a site where code has no fixed place, and says so."""
        for compiler, place in (("gcc", FIXED), ("clang", FIXED), ("clang", PLACED)):
            built = self.build(compiler, "-mcmodel=large", *place)
            self.assertEqual(self.counts("-".join((compiler, *place)), [built]), {("builds:event", ""): 3})
        self.need("gcc")
        done = run("gcc", "-mcmodel=large", *PLACED, f"-I{SOURCE}/include", HERE / "events.c", "-o", self.path("none"))
        self.assertIn("take -mcmodel=medium", done.stderr)


class Relocatable(Builds):
    """Files, with and without sites, that ld -r merged into one."""

    def check(self, compiler, linker, last):
        parts = []
        for name, source in (("main.o", "events.c"), ("other.o", "other.c"), ("none.o", "none.c")):
            parts.append(self.build(compiler, "-c", "-ffunction-sections", source=source, out=name))
        joined, built = self.path("joined.o"), self.path("joined")
        run(compiler, "-r", "-nostdlib", f"-fuse-ld={linker}", *parts, "-o", joined, status=0)
        for gc in ((), ("-Wl,--gc-sections",)):
            run(compiler, joined, f"-fuse-ld={last}", *gc, "-o", built, status=0)
            self.assertEqual(self.counts("-".join((compiler, linker, last, *gc)), [built]),
                             {("builds:event", ""): 3, ("builds:other", ""): 1})

    def test_bfd(self):
        for compiler in ("gcc", "clang"):
            self.check(compiler, "bfd", "bfd")

    def test_others(self):
        for linker, last in (("bfd", "lld"), ("lld", "lld"), ("lld", "bfd")):
            self.need(f"ld.{linker}", f"ld.{last}")
            self.check("gcc", linker, last)


class Integrity(Builds):
    """Clang's control-flow integrity does not know libhodo's functions."""

    def check(self, compiler, *flags):
        self.need("ld.lld")
        for checks in ("cfi", "cfi-icall"):
            built = self.build(compiler, f"-fsanitize={checks}", "-flto", "-fvisibility=hidden", "-fuse-ld=lld", *flags,
                               source="probed.c")
            counts = self.counts(checks, [built])
            self.assertEqual(sorted(name for name, _ in counts), ["builds:fixed", "builds:point", "builds:span.begin",
                                                                  "builds:span.end", "builds:text"])

    def test_c(self):
        self.check("clang")

    def test_cxx(self):
        self.check("clang++", "-x", "c++", "-std=c++17")


class Libtool(Builds):
    """What a library needs for its own functions is not a dependency of the programs that link with it."""

    def test_la(self):
        self.need("libtool", "gcc")
        libs = (SOURCE / "cmake/hodo-functions.pc.in").read_text().split("Libs:")[1].split()
        libs = [flag.replace("${libdir}", os.path.dirname(program("STUBS"))) for flag in libs]
        libtool = ["libtool", "--quiet", "--tag=CC"]
        for mode in (["compile", "gcc", *SLOTS[:3], "-c", HERE / "events.c", f"-I{SOURCE}/include", "-o", "events.lo"],
                     ["link", "gcc", "events.lo", *libs, "-o", "libevents.la", "-rpath", "/usr/local/lib"]):
            run(*libtool, f"--mode={mode[0]}", *mode[1:], cwd=self.dir, status=0)
        with open(self.path("libevents.la"), encoding="utf-8") as file:
            self.assertNotIn("hodo-functions", file.read())
        self.assertIn(" t __return__", run("nm", self.path(".libs/libevents.so"), status=0).stdout)


main()
