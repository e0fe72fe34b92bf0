#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""languages.py: <hodo/trace.h> in C++23, in coroutines and in a module; and that it includes no header of the
standard library except <type_traits>."""
import re
import shutil
from collections import Counter

from hodo_test import SOURCE, Case, main, run

INCLUDE = f"-I{SOURCE}/include"
MODULE = """module;
#include <hodo/trace.h>
export module kv;
HODO_TRACEPOINT(kvm, point, (const char *, key));
export enum class Op { Get, Put };
export int put(const char *key, int n, Op op)
{
	HODO_EVENT(kvm, put, key, n, op);
	HODO_SPAN(kvm, span, key);
	trace_kvm_point(key);
	return n;
}
export template <class T> int get(T key) { HODO_EVENT(kvm, get, key); return 0; }
"""
IMPORTER = """#include <hodo/trace.h>
import kv;
int main() { HODO_EVENT(kvm, start); return get(3) + get(4L) + put("x", 0, Op::Put); }
"""


class Languages(Case):
    def each(self):
        found = [c for c in ("g++", "clang++") if shutil.which(c)]
        if not found:
            self.skipTest("no C++ compiler here")
        return found

    def names(self, program):
        events = self.recorded(program)
        shutil.rmtree(self.data)
        return events

    def test_dialects(self):
        for compiler in self.each():
            counts = []
            for standard in ("17", "2b"):
                program = self.path(f"values-{standard}")
                run(compiler, f"-std=c++{standard}", "-O1", "-Wall", "-Wextra", "-Werror", INCLUDE,
                    SOURCE / "tests/api/cxx/values.cc", "-o", program, status=0)
                counts.append(Counter(e["name"] for e in self.names(program)))
            counts[1] -= Counter(["cxx:arrays20"])
            self.assertEqual(counts[0], counts[1])
            self.assertGreater(len(counts[0]), 15)

    def test_coroutines(self):
        for compiler in self.each():
            for level in ("-O0", "-O2"):
                with self.subTest(compiler=compiler, level=level):
                    # Clang 14 accepts libstdc++'s <coroutine> only with this.
                    run(compiler, "-std=c++20", level, "-w", INCLUDE, SOURCE / "tests/api/cxx/coroutine.cc", "-o",
                        self.path("co"), status=0)
                    events = self.names(self.path("co"))
                    steps = [(e["fields"]["name"], e["fields"]["i"]) for e in events if e["name"] == "co:step"]
                    self.assertEqual(sorted(steps), [("first", 0), ("first", 1), ("second", 0), ("second", 1),
                                                     ("second", 2)])
                    self.assertEqual([e["fields"]["n"] for e in events if e["name"] == "co:part.end"], [2, 3])
                    self.assertEqual(sum(e["name"] == "co:last.end" for e in events), 2)

    def test_modules(self):
        """Only with GCC: Clang 14 compiles no template of a module for its importers, with or without our header."""
        if "g++" not in self.each():
            self.skipTest("no g++ here")
        for name, text in (("kv.cc", MODULE), ("main.cc", IMPORTER)):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        flags = ("-std=c++20", "-fmodules-ts", "-O1", INCLUDE)
        where = {"cwd": self.path()}
        run("g++", *flags, "-c", "kv.cc", "-o", "kv.o", status=0, **where)
        run("g++", *flags, "main.cc", "kv.o", "-o", "main", status=0, **where)
        self.assertEqual([e["name"] for e in self.names(self.path("main"))],
                         ["kvm:start", "kvm:get", "kvm:get", "kvm:put", "kvm:span.begin", "kvm:point", "kvm:span.end"])
        self.assertEqual(run(self.path("main")).returncode, 0)

    def test_headers(self):
        with open(self.path("x.cc"), "w", encoding="utf-8") as file:
            file.write("#include <hodo/trace.h>\nvoid f(int n) { HODO_EVENT(a, b, n); HODO_SPAN(a, c, n); }\n")
        for compiler in self.each():
            made = run(compiler, "-std=c++20", INCLUDE, "-M", self.path("x.cc"), status=0).stdout
            of_cxx = {re.sub(r".*/", "", word) for word in made.split() if "/c++/" in word}
            others = {name for name in of_cxx if not re.fullmatch(r"type_traits|c\+\+config\.h|os_defines\.h|"
                                                                 r"cpu_defines\.h|pstl_config\.h|stdint\.h|errno\.h|"
                                                                 r"stddef\.h|stdbool\.h", name)}
            self.assertEqual(others, set(), compiler)
            self.assertIn("type_traits", of_cxx)


main()
