#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What idle sites weigh: instructions that functions of all shapes (shapes.c) execute more than with an empty asm in a
site's place, whether they touch the stack for it, and the bytes of cold code."""
import platform
import re
import shutil

from hodo_test import SOURCE, Case, main, run

INCLUDE = f"-I{SOURCE}/include"
SHAPES = SOURCE / "tests/sites/shapes.c"
# What stays beside the site's own instruction. A function that calls others has no red zone, so that it makes room for
# the values; a span's end has to know whether its begin was met, which Clang asks again. GCC orders blocks
# by their frequency at -O2 and above alone: below, each site is followed by a jump over its cold code. Clang, behind a
# branch that it knows nothing of, copies a register, or places the end of a loop elsewhere.
ROOM = {"calls": 4, "span": 4}


def allowed(compiler, level, shape, sites):
    if "g" in compiler[:1] and level in ("-O2", "-O3"):
        return sites + (ROOM["calls"] if shape == "calls" else 0)
    return 2 * sites + 2 + ROOM.get(shape, 0)


class Weight(Case):
    def setUp(self):
        super().setUp()
        if platform.machine() != "x86_64":
            self.skipTest("sites are patched on x86-64 only")

    def rows(self, compiler, level, *flags):
        language = ["-x", "c++", "-std=c++17"] if compiler.endswith("++") else []
        run(compiler, *language, level, "-w", *flags, INCLUDE, SHAPES, "-o", self.path("shapes"), status=0)
        lines = run(self.path("shapes"), status=0).stdout.splitlines()
        return {name: tuple(map(int, numbers)) for name, *numbers in (line.split() for line in lines)}

    def check(self, compiler, levels):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler} here")
        for level in levels:
            idle, bare = self.rows(compiler, level), self.rows(compiler, level, "-DWITHOUT")
            self.assertEqual(len(idle), 16)
            for name, (steps, sites, depth) in idle.items():
                with self.subTest(compiler=compiler, level=level, shape=name):
                    more = steps - bare[name][0]
                    self.assertLessEqual(more, allowed(compiler, level, name, sites))
                    if name not in ROOM:
                        self.assertEqual(depth, bare[name][2], "bytes of stack")

    def test_gcc(self):
        self.check("gcc", ("-O2", "-O3", "-Os"))

    def test_gxx(self):
        self.check("g++", ("-O2",))

    def test_clang(self):
        self.check("clang", ("-O2", "-Os"))

    def test_clangxx(self):
        self.check("clang++", ("-O2",))

    def cold(self, compiler, body, *flags):
        """Bytes of a function with the statement above those without it, and the site's own instruction."""
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
