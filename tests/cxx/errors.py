#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""errors.py: what cannot be recorded is said in at most three lines, which name the type and the way out; a dialect
that is too old in one."""
import re
import shutil

from hodo_test import SOURCE, Case, main, run

CANNOT = "cannot be recorded.*HODO_BYTES.*HODO_VALUE"
HEADERS = {"std::atomic": "atomic", "std::future": "future", "std::map": "map", "std::optional": "optional",
           "std::string": "string", "std::vector": "vector", "_ptr": "memory"}
HEAD = """#include <hodo/trace.h>
struct Point { int x, y, z[4]; };
union Either { int a; float b; };
"""
# What stands in the source, and the type that is named.
REFUSED = (
    ("void f(std::map<int, int> &v, int k) { HODO_EVENT(a, b, k, v); }", "std::map<int, int"),
    ("void f(Point v, int k) { HODO_EVENT(a, b, HODO_F(x, v), k); }", "Point"),
    ("void f(std::optional<std::map<int, int>> &v) { HODO_SPAN(a, b, v); }", "std::optional<std::map<int, int"),
    ("void f(Point (&v)[3]) { HODO_BEGIN(a, b, 1, v); }", r"Point ?\[3\]"),
    ("void f(const char *(&v)[3]) { HODO_EVENT(a, b, v); }", r"const char ?\* ?\[3\]"),
    ("void f(int (&v)[3][2]) { HODO_EVENT(a, b, v); }", r"int ?\[3\]\[2\]"),
    ("void f(std::vector<std::string> &v) { HODO_EVENT(a, b, v); }", "std::vector<"),
    ("void f(std::vector<bool> &v) { HODO_EVENT(a, b, v); }", "std::vector<bool"),
    ("void f(std::atomic<Point> &v) { HODO_COUNTER(a, b, v); }", "std::atomic<Point>"),
    ("void f(std::future<int *> &v) { HODO_EVENT(a, b, v); }", "std::future<"),
    ("void f(std::weak_ptr<int> &v) { HODO_EVENT(a, b, v); }", "std::weak_ptr<int>"),
    ("void f(Either v) { HODO_EVENT(a, b, v); }", "Either"),
    ("void f(int Point::*v) { HODO_EVENT(a, b, v); }", r"int Point::\*"),
    ("template <class T> void g(T v) { HODO_EVENT(a, b, v); }\nvoid f(Point v) { g(v); }", "Point"),
    ("HODO_TRACEPOINT(a, b, (int, k), (Point, v));\nvoid f(Point v) { trace_a_b(1, v); }", "Point"),
)
SAID = re.compile(r": (fatal )?(error|note|warning): |In instantiation|In function|In member|required|inlined")


def said(output):
    """Its lines, without the source that is quoted, and where it was included."""
    quoted = re.compile(r"\s*\d* \||In file included from|\s+from ")
    return [line for line in output.splitlines()
            if SAID.search(line) and not quoted.match(line) and not re.match(r"\d+ errors? generated", line)]


class Errors(Case):
    def compile(self, compiler, standard, source, *flags):
        with open(self.path("x.cc"), "w", encoding="utf-8") as file:
            file.write(source)
        return run(compiler, f"-std=c++{standard}", "-O1", *flags, f"-I{SOURCE}/include", "-c", self.path("x.cc"),
                   "-o", self.path("x.o"), env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"})

    def each(self):
        found = [c for c in ("g++", "clang++") if shutil.which(c)]
        if not found:
            self.skipTest("no C++ compiler here")
        return found

    def test_types(self):
        for compiler in self.each():
            for number, (source, name) in enumerate(REFUSED):
                flags = ("-DHODO_STATIC_KEYS=0",) if number % 3 == 0 else ()
                with self.subTest(compiler=compiler, source=source, flags=flags):
                    includes = "".join(f"#include <{header}>\n" for word, header in HEADERS.items() if word in source)
                    done = self.compile(compiler, 17, includes + HEAD + source + "\n", *flags)
                    lines = said(done.stderr)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertLessEqual(len(lines), 3, done.stderr)
                    self.assertEqual(len([line for line in lines if "error:" in line]), 1, done.stderr)
                    self.assertRegex("\n".join(lines), CANNOT)
                    self.assertRegex("\n".join(lines), name)

    def test_sound(self):
        """The same without the value compiles without a word, so that it was the value."""
        for compiler in self.each():
            done = self.compile(compiler, 17, HEAD + "void f(int k) { HODO_EVENT(a, b, k); HODO_SPAN(a, c, k); }\n", "-Wall")
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_dialects(self):
        source = """#include <hodo/trace.h>
HODO_TRACEPOINT(a, point, (int, k));
void f(int k, const char *s)
{
	HODO_EVENT(a, b, k, HODO_STR(s, 3));
	HODO_MARK(a, c, "%d", k);
	HODO_SPAN(a, d, HODO_F(x, k));
	HODO_COUNTER(a, e, k);
	trace_a_point(k);
}
"""
        for compiler in self.each():
            for standard in ("11", "14"):
                with self.subTest(compiler=compiler, standard=standard):
                    done = self.compile(compiler, standard, source)
                    lines = said(done.stderr)
                    self.assertEqual(len(lines), 1, done.stderr)
                    self.assertRegex(lines[0], r"needs C\+\+17.*-std=c\+\+17.*HODO_DISABLE")
                    done = self.compile(compiler, standard, source, "-DHODO_DISABLE")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))


main()
