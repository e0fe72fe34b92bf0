#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""functions.py: in a program that is built for function tracing, no function of <hodo/trace.h> is traceable, whatever
the compiler, the level and the kind of slots."""
import json
import shutil

from hodo_test import SOURCE, Case, main, run

SLOTS = {"gcc": ("-fpatchable-function-entry=5", "-fpatchable-function-entry=16,5", "-finstrument-functions",
                 "-pg -mfentry", "-pg")}
SLOTS["clang"] = ("-fpatchable-function-entry=5", "-finstrument-functions", "-pg -mfentry",
                  "-fxray-instrument -fxray-instruction-threshold=1")
PROGRAM = """#include <hodo/trace.h>
HODO_TRACEPOINT(own, point, (const char *, key), (int, n));
static void probe(void *data, const char *key, int n) { (void)data; (void)key; (void)n; }
#ifdef __cplusplus
struct Money { long cents; const char *name; };
struct Text { const char *text; const char *data() const { return text; } unsigned long size() const { return 1; }
	      unsigned long length() const { return 1; } };
struct Maybe { int n; bool has_value() const { return n > 0; } const int &operator*() const { return n; } };
HODO_VALUE(Money, m, m.cents);
enum class Op { Get, Put };
static void values(int n)
{
	Money m = { n, "m" };
	Text t = { "t" };
	Maybe maybe = { n };
	int array[3] = { n, 1, 2 };
	HODO_EVENT(own, values, m, t, maybe, array, Op::Put, (__int128)n, (long double)n);
}
#else
static void values(int n) { HODO_EVENT(own, values, n); }
#endif
int main(int argc, char **argv)
{
	HODO_EVENT(own, event, argc, argv[0], HODO_STR(argv[0], 3), HODO_BYTES(argv[0], 2), HODO_ARRAY(&argc, 1));
	HODO_MARK(own, mark, "%d %s", argc, argv[0]);
	HODO_COUNTER(own, counter, argc);
	HODO_BEGIN(own, request, argc);
	HODO_END(own, request, argc);
	HODO_SPAN(own, span, argc);
	register_trace_own_point(probe, 0);
	trace_own_point(argv[0], trace_own_point_enabled());
	unregister_trace_own_point(probe, 0);
	values(argc);
	return 0;
}
"""


class Functions(Case):
    def traceable(self, compiler, source, flags):
        if source.endswith(".cc"):
            compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
        run(compiler, *flags, f"-I{SOURCE}/include", source, "-o", self.path("x"), status=0)
        listed = self.ok("list", "--functions", "--json", self.path("x"))
        return [function["name"] for function in json.loads(listed)["functions"]]

    def test_none_is_ours(self):
        for suffix in ("c", "cc"):
            with open(self.path(f"x.{suffix}"), "w", encoding="utf-8") as file:
                file.write(PROGRAM)
        for compiler, kinds in SLOTS.items():
            if not shutil.which(compiler):
                self.skipTest(f"no {compiler} here")
            for kind in kinds:
                for level in ("-O0", "-O2"):
                    for suffix, cxx in (("c", ()), ("cc", ("-std=c++17",)),
                                        ("cc", ("-std=c++17", "-DHODO_STATIC_KEYS=0"))):
                        with self.subTest(compiler=compiler, kind=kind, level=level, suffix=suffix, cxx=cxx):
                            names = self.traceable(compiler, self.path(f"x.{suffix}"), (*kind.split(), level, *cxx))
                            self.assertTrue([n for n in names if n.startswith("main")], names)
                            ours = [n for n in names if "hodo" in n or n.startswith("trace_own")]
                            self.assertEqual(ours, [])


main()
