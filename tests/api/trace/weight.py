#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What idle sites cost: how many instructions functions of all shapes (shapes.c) execute more than with an empty asm in
place of a site, whether they use the stack for it, and the bytes of cold code; and that the functions do the same,
however they are built."""
import json
import platform
import re
import shutil

from hodo_test import SOURCE, Case, main, run

INCLUDE = f"-I{SOURCE}/include"
SHAPES = SOURCE / "tests/api/trace/shapes.c"
# At most so many instructions, for so many sites. GCC orders blocks by their frequency only at -O2 and above: below,
# a jump over its cold code follows each site, and another one enters each loop. Clang, after a branch that it knows
# nothing about, copies a register, or moves the end of a loop: in a leaf function, or in each iteration.
MOST = {
    "gcc": {"-O1": lambda sites: 2 * sites + 1, "-Os": lambda sites: 2 * sites,
            "-O2": lambda sites: sites, "-O3": lambda sites: sites},
    "clang": {level: lambda sites: 2 * sites for level in ("-O1", "-Os", "-O2", "-O3")},
}
# In addition: a function with calls has no red zone, so that it makes room for the values; at -O1 a tail call is
# such a call. A span's end needs to know whether its begin was met, which Clang tests again at -O1.
CALLS = {"calls": 2, "tail_call": 0}
MORE = {("gcc", "-O1"): CALLS | {"tail_call": 2}, ("clang", "-O1"): CALLS | {"tail_call": 2, "span": 5}}
# What one run records.
EVENTS = {"leaf": 4, "two_values": 1, "no_value": 1, "loop": 8, "tree_walk": 2, "hash": 1, "vector_at": 8,
          "tail_call": 1, "floats": 1, "seven": 1, "texts": 1, "point": 1, "counter": 1, "request.begin": 1,
          "request.end": 1, "span.begin": 1, "span.end": 1, "calls": 1}
# Ways of building in addition to the levels, several in one where they do not hide each other.
WAYS = {"gcc": (("-O0",), ("-O2", "-flto", "-fno-pie", "-no-pie"), ("-O2", "-fPIE", "-pie", "-fcf-protection=full"),
                ("-O2", "-fstack-protector-strong", "-pg", "-mfentry"), ("-O1", "-fsanitize=undefined")),
        "g++": (("-O0",), ("-O2", "-fno-omit-frame-pointer", "-mno-red-zone", "-finstrument-functions")),
        "clang": (("-O0",), ("-O1", "-fsanitize=address,undefined"), ("-O2", "-fxray-instrument",
                                                                     "-fxray-instruction-threshold=1")),
        "clang++": (("-O0",), ("-O2", "-flto", "-fuse-ld=lld", "-fstack-protector-strong", "-fcf-protection=full"))}


class Weight(Case):
    def setUp(self):
        super().setUp()
        if platform.machine() != "x86_64":
            self.skipTest("sites are patched on x86-64 only")

    def build(self, compiler, *flags, status=0):
        language = ["-x", "c++", "-std=c++17"] if compiler.endswith("++") else []
        return run(compiler, *language, "-w", *flags, INCLUDE, SHAPES, "-o", self.path("shapes"), status=status)

    def rows(self, compiler, *flags):
        self.build(compiler, *flags)
        lines = run(self.path("shapes"), status=0).stdout.splitlines()
        return {name: tuple(map(int, numbers)) for name, *numbers in (line.split() for line in lines)}

    def check_records(self):
        """Checks that the program does the same while it is recorded, and that the recording has all of it."""
        alone = run(self.path("shapes"), "run", status=0).stdout
        self.assertEqual(self.record(self.path("shapes"), "run").stdout, alone)
        found = {event["name"].removeprefix("shapes:"): event["count"] for event in self.stat()["events"]}
        self.assertEqual({name: n for name, n in found.items() if n}, EVENTS)
        return alone

    def check(self, compiler, *levels):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler} here")
        family = "gcc" if compiler[0] == "g" else "clang"
        for level in levels:
            most = MOST[family][level]
            bare, idle = self.rows(compiler, level, "-DWITHOUT"), self.rows(compiler, level)
            self.assertEqual(len(idle), 16)
            room = MORE.get((family, level), CALLS)
            for name, (steps, sites, depth) in idle.items():
                with self.subTest(compiler=compiler, level=level, shape=name):
                    self.assertLessEqual(steps - bare[name][0], most(sites) + room.get(name, 0))
                    if not room.get(name):
                        self.assertEqual(depth, bare[name][2], "bytes of stack")
            with self.subTest(compiler=compiler, level=level):
                self.check_records()

    def test_gcc(self):
        self.check("gcc", "-O1", "-O2", "-O3", "-Os")

    def test_gxx(self):
        self.check("g++", "-O1", "-O2")

    def test_clang(self):
        self.check("clang", "-O1", "-O2", "-O3", "-Os")

    def test_clangxx(self):
        self.check("clang++", "-O2", "-Os")

    def test_static_probes(self):
        """HODO_SDT and our <sys/sdt.h> add a nop to each site; GCC moves a float into a register for its note."""
        for cc, ours in (("gcc", 1), ("clang", 4)):  # Clang stores what a note describes, to have it in memory
            if not shutil.which(cc):
                continue
            bare, idle = self.rows(cc, "-O2", "-DWITHOUT"), self.rows(cc, "-O2")
            noted = self.rows(cc, "-O2", "-DHODO_SDT=1")
            probes = self.rows(cc, "-O2", "-DPROBES", f"-I{SOURCE}/include/hodo/sdt")
            for name, (steps, sites, _) in idle.items():
                with self.subTest(compiler=cc, shape=name):
                    floats = 2 if name == "floats" else 0
                    self.assertLessEqual(noted[name][0] - steps, ours * sites + floats)
                    self.assertGreaterEqual(noted[name][0] - steps, sites)
                    most = (2 if cc == "gcc" else 6) * sites + floats + CALLS.get(name, 0)
                    self.assertLessEqual(probes[name][0] - bare[name][0], most)

    def test_ways(self):
        """A site's branch is where the compiler wants it, whatever else the compiler does to the function."""
        for compiler in filter(shutil.which, WAYS):
            self.build(compiler, "-O1", "-DWITHOUT")
            want = run(self.path("shapes"), "run", status=0).stdout
            for way in WAYS[compiler]:
                with self.subTest(compiler=compiler, way=way):
                    self.build(compiler, *way)
                    self.assertEqual(self.check_records(), want)

    def cold(self, compiler, body, *flags):
        """How many bytes a function with the statement has more than one without, and the site's own instruction."""
        text = []
        for statement in (body, ""):
            with open(self.path("x.c"), "w", encoding="ascii") as file:
                file.write("#include <hodo/trace.h>\n"
                           f"int f(int a, long b, const char *p, const char *q);\n"
                           f"int f(int a, long b, const char *p, const char *q) {{ {statement}; return a; }}\n")
            run(compiler, "-O2", "-w", "-falign-functions=1", *flags, INCLUDE, "-c", self.path("x.c"), "-o",
                self.path("x.o"), status=0)
            listing = run("objdump", "-dw", self.path("x.o"), status=0).stdout
            lines = re.findall(r"(?m)^ +[0-9a-f]+:\t([0-9a-f ]+)\t(.*)", listing)
            text.append(sum(len(code.split()) for code, name in lines if "nop" not in name and "%ax,%ax" not in name))
        return text[0] - text[1] - 5

    def test_bytes(self):
        for compiler in ("gcc", "clang"):
            if shutil.which(compiler):
                for flags in ((), ("-fcf-protection",)):
                    with self.subTest(compiler=compiler, flags=flags):
                        self.assertIn(self.cold(compiler, "HODO_EVENT(s, e, a, b)", *flags), range(20, 41))
                        self.assertIn(self.cold(compiler, "HODO_EVENT(s, e, a, p, b, q)", *flags), range(20, 61))


main()
