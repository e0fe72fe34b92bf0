#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""errors.py: for what cannot be recorded, compilers print at most three lines, which name the type and the way out;
for a dialect that is too old, one line."""
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
# The source, and the type that the message names.
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
    ("void f(Point *v) { HODO_EVENT(a, b, HODO_ARRAY(v, 2)); }", "array_<Point>"),
    ("void f(std::string *v, int k) { HODO_EVENT(a, b, k, HODO_F(x, HODO_ARRAY(v, 2))); }", "array_<std::.*string"),
    ("void f(long double *v) { HODO_SPAN(a, b, HODO_ARRAY(v, 2)); }", "array_<long double>"),
    ("void f(const __int128 *v) { HODO_BEGIN(a, b, 1, HODO_ARRAY(v, 2)); }", "array_<__int128>"),
    ("struct Later; void f(Later *v) { HODO_EVENT(a, b, HODO_ARRAY(v, 2)); }", "array_<Later>"),
    ("void f(int (*v)[3]) { HODO_EVENT(a, b, HODO_ARRAY(v, 2)); }", r"array_<int ?\[3\]>"),
    ("template <class T> void g(T v) { HODO_EVENT(a, b, v); }\nvoid f(Point v) { g(v); }", "Point"),
    ("HODO_TRACEPOINT(a, b, (int, k), (Point, v));\nvoid f(Point v) { trace_a_b(1, v); }", "Point"),
)
SAID = re.compile(r": (fatal )?(error|note|warning): |In instantiation|In function|In member|required|inlined")


def said(output):
    """The lines of the output, without the quoted source and without the places of inclusion."""
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

    def one_line(self, compiler, source, what):
        done = self.compile(compiler, 17, source)
        lines = said(done.stderr)
        errors = [line for line in lines if "error:" in line]
        self.assertNotEqual(done.returncode, 0)
        self.assertLessEqual(len(lines), 3, done.stderr)
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertRegex(errors[0], what)

    def test_counters(self):
        """A counter is a number."""
        head = "#include <hodo/trace.h>\n#include <atomic>\n#include <chrono>\n#include <optional>\n#include <string>\n"
        for compiler in self.each():
            for kind in ("std::string &", "std::optional<int> &", "void *", "const char (&"):
                with self.subTest(compiler=compiler, kind=kind):
                    value = f"{kind}v)[3]" if kind.endswith("(&") else f"{kind} v"
                    self.one_line(compiler, f"{head}void f({value}) {{ HODO_COUNTER(a, b, v); }}\n",
                                  "hodo: a counter is one number: .*HODO_EVENT")
            kinds = ("bool", "char", "unsigned char", "long long", "float", "double", "long double", "E",
                     "std::atomic<int> &", "std::chrono::milliseconds")
            body = "".join(f"void f{n}({kind} v) {{ if (n) HODO_COUNTER(a, b{n}, v); else HODO_COUNTER(a, c{n}, n++); }}\n"
                           for n, kind in enumerate(kinds))
            for flags in ((), ("-DHODO_SDT=1",), ("-DHODO_STATIC_KEYS=0",), ("-DHODO_DISABLE",)):
                done = self.compile(compiler, 17, f"{head}enum E {{ X }};\nint n;\n{body}", "-Wall", "-Wextra", *flags)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_enum_range(self):
        enum = "#include <hodo/trace.h>\nenum class F : short { LOW, HIGH = 450 };\n"
        for compiler in self.each():
            for least, greatest, what in ((600, 400, "least is above greatest"), (1, 0, "least is above greatest"),
                                          (0, 1024, "at most 1,024 values")):
                with self.subTest(compiler=compiler, least=least):
                    self.one_line(compiler, f"{enum}HODO_ENUM_RANGE(F, {least}, {greatest});\n", what)
            for least, greatest in ((400, 600), (5, 5), (-16, "127u")):
                done = self.compile(compiler, 17, f"{enum}HODO_ENUM_RANGE(F, {least}, {greatest});\n", "-Wall", "-Wextra")
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_spans(self):
        """Where a span is not in a block of its own, the name of what is missing says so."""
        for compiler in self.each():
            for span in ("HODO_SPAN(a, b)", "HODO_SPAN_CONTEXT(a, b, nullptr)"):
                source = f"#include <hodo/trace.h>\nvoid f(int n) {{ if (n) %s{span};%s }}\n"
                done = self.compile(compiler, 17, source % ("", ""))
                first = [line for line in said(done.stderr) if "error:" in line][0]
                self.assertIn("hodo_span_needs_a_block_around_it_", first)
                done = self.compile(compiler, 17, source % ("{ ", " }"), "-Wall", "-Wextra")
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_sound(self):
        """Without the value, the same source compiles silently: so the value was the reason."""
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
