#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""show - what hodo probe says of probes in compiled programs: places, values, what is missing and why, and errors."""
import json
import os
import re
import subprocess

from hodo_test import Case, HODO, hodo, main, ok

SOURCE = """
#include <string.h>
struct node { int n; struct node *next; const char *name; char text[8]; long double wide; };
__thread int local = 3;
static int seen;
static inline __attribute__((always_inline)) int square(int v)
{
	__asm__ volatile("nop" : : "r"(v));
	return v * v;
}
__attribute__((noinline)) int get(struct node *node, int len)
{
	int sum = len;

	for (int i = 0; i < len; i++)
		sum += node->text[i];
	seen += sum;
	return sum;
}
struct pair { long x; double y; };
long mixed(struct node *node, struct pair pair, int len)
{
	return node->n + pair.x + len;
}
struct pair both(int len)
{
	return (struct pair){ len, 0 };
}
int (*same)(struct node *, int) __attribute__((unused)) = get;
extern int get_alias(struct node *, int) __attribute__((alias("get")));
int main(int argc, char **argv)
{
	struct node node = { argc, &node, argv[0], "text", 1 };

	return square(argc) + square(argc + 7) + get(&node, argc) + local;
}
"""

# Probes that make no sense, and the messages.
WRONG = (
    ("gett", "did you mean get"), ("get(nod)", "did you mean node"), ("get(node->nxt)", "next"),
    ("get(len->n)", "no members"), ("get(*len)", "not a pointer"), ("get(node->text[8])", "8 elements"),
    ("main(node)", "is a struct"), ("main(node.n[1])", "not a pointer"), ("get%return(node)", "entry"),
    ("main%return(*$retval)", "not a pointer"), ("get(%rdx9)", "not a register"),
    ("made.c:2", "has no code: the next line that has some is made.c:"), ("mad.c:2", "did you mean made.c"),
    ("made.c:99", "has no code"), ("get+0x1000", "beyond the end"), ("*+1", "functions"),
    ("get((len, len))", "neither a pointer"), ("get((node, node))", "not a number"),
    ("get(len:str)", "not the address of a string"), ("get(len:f64)", "f64"),
)


class Show(Case):
    def made(self, *flags, name="made"):
        path = os.path.join(self.dir, name)
        with open(os.path.join(self.dir, "made.c"), "w") as f:
            f.write(SOURCE)
        subprocess.run(["gcc", *flags, "-o", path, os.path.join(self.dir, "made.c")], check=True)
        return path

    def line(self, text):
        return next(n for n, line in enumerate(SOURCE.splitlines(), 1) if text in line)

    def shown(self, path, *probes, what="show"):
        return json.loads(ok("probe", what, "--json", path, *probes))["probes"]

    def wrong(self, path, probe, said):
        done = hodo("probe", "show", path, probe)
        self.assertEqual((done.returncode, done.stdout), (1, ""), probe)
        self.assertRegex(done.stderr, rf"\Ahodo: {re.escape(probe)}: .*{said}.*\n\Z")

    def values(self, shown):
        return {v["name"]: v["from"] for v in shown["values"]}

    def test_an_entry(self):
        path = self.made("-O0", "-g")
        entry, alias = self.shown(path, "get(node->next->name, node->text, len)", "get_alias")
        self.assertEqual((entry["function"], entry["place"], entry["line"], entry["jump"], entry["reason"]),
                         ("get", "entry", self.line("int get(") + 1, 1, None))
        self.assertTrue(entry["file"].endswith("/made.c"))
        self.assertEqual(self.values(entry), {"name": "rdi -> +8 -> +16 -> string", "text": "rdi + 24 -> string",
                                              "len": "rsi"})
        self.assertEqual([(v["type"], v["field"], v["may_fault"]) for v in entry["values"]],
                         [("const char *", "str", True), ("char [8]", "str", True), ("int", "i32", False)])
        self.assertEqual(alias["address"], entry["address"])
        self.assertEqual(len(self.shown(path, "[ga][el]*[ts]")), 1) # two names, one place

    def test_loads_that_cannot_fault(self):
        path = self.made("-O0", "-g")
        at, = self.shown(path, f"made.c:{self.line('sum +=')}(sum, seen, node->n)")
        self.assertEqual([(v["from"], v["may_fault"]) for v in at["values"]],
                         [("-4(%rbp)", False), (at["values"][1]["from"], False), ("-24(%rbp) -> +0", True)])
        self.assertRegex(at["values"][1]["from"], r"^\(0x[0-9a-f]+\)$")

    def test_inlined_copies(self):
        path = self.made("-O2", "-g")
        copies = self.shown(path, "square")
        self.assertEqual([(c["inlined"], c["function"], c["place"]) for c in copies], [("square", "main", "code")] * 2)
        self.wrong(path, "square%return", "inlined everywhere, in 2 places")

    def test_exits(self):
        path = self.made("-O2", "-g")
        returns, = self.shown(path, "get%return")
        self.assertEqual((returns["place"], returns["none"]), ("return", 0))
        self.assertGreaterEqual(returns["jump"] + returns["trap"], 1)
        self.assertEqual(self.values(returns), {"retval": "rax"})
        self.assertEqual(self.shown(path, "get%return()")[0]["values"], [])

    def test_what_is_missing_is_said(self):
        path = self.made("-O2", "-g")
        entry, = self.shown(path, "get(local, $retval, node->wide, sum)")
        self.assertEqual([v["missing"] for v in entry["values"]][:3], ["thread", "exit-only", "too-wide"])
        self.assertEqual([v["field"] for v in entry["values"]][:3], [None] * 3)
        entry, = self.shown(self.made("-O0", "-g"), "get(sum)")
        self.assertEqual(entry["values"][0]["missing"], "not-yet")

    def test_variables(self):
        path = self.made("-O0", "-g")
        entry, = self.shown(path, "main", what="vars")
        self.assertEqual(self.values(entry)["node"], "has members: n, next, name, text, wide")
        self.assertEqual([v["name"] for v in entry["values"]][:2], ["argc", "argv"])
        inside, = self.shown(path, f"made.c:{self.line('sum +=')}", what="vars")
        self.assertEqual({v["name"] for v in inside["values"]}, {"node", "len", "sum", "i"})

    def test_without_debug_information(self):
        path = self.made("-O2")
        entry, = self.shown(path, "get($arg1, $arg2:i32, *$arg1, %rdi:str)")
        self.assertEqual([v["from"] for v in entry["values"]], ["rdi", "rsi", "rdi -> +0", "rdi -> string"])
        self.assertEqual([v["field"] for v in entry["values"]], ["u64", "i32", "u64", "str"])
        self.wrong(path, "get(node)", r"no debug information: install its -dbgsym or -dbg package, build with -g")
        self.wrong(path, "get($arg7)", r"\$arg1 to \$arg6")
        self.wrong(path, "made.c:3", "no debug information")
        address = entry["address"]
        subprocess.run(["strip", path], check=True)
        self.wrong(path, "get", "no symbols|exported")
        entry, = self.shown(path, f"0x{address:x}($arg1)")
        self.assertEqual((entry["place"], entry["function"], self.values(entry)), ("entry", "", {"arg1": "rdi"}))
        self.assertEqual(len(self.shown(path, f"0x{address:x}", what="vars")[0]["values"]), 6)

    def test_separate_debug_information(self):
        """The debug information lies beside the file, and is found by its debug link."""
        path = self.made("-O2", "-g", "-Wl,--build-id")
        whole = self.shown(path, "get(node->name, len)", "get%return")
        subprocess.run(["objcopy", "--only-keep-debug", path, path + ".debug"], check=True)
        subprocess.run(["strip", path], check=True)
        subprocess.run(["objcopy", f"--add-gnu-debuglink={path}.debug", path], check=True, cwd=self.dir)
        self.assertEqual(self.shown(path, "get(node->name, len)", "get%return"), whole)

    def test_other_versions_of_dwarf(self):
        for flags in (["-gdwarf-4"], ["-g", "-gz"], ["-g", "-fno-omit-frame-pointer"],
                      ["-gdwarf-2", "-gstrict-dwarf"]):
            for level in ("-O0", "-O1", "-O2", "-Os"):
                entry, = self.shown(self.made(level, *flags), "get(node->name, node->text, len)")
                self.assertEqual(self.values(entry), {"name": "rdi -> +16 -> string", "text": "rdi + 24 -> string",
                                                      "len": "rsi"}, (level, flags))

    def test_what_is_wrong_is_said(self):
        path = self.made("-O0", "-g")
        for probe, said in WRONG:
            self.wrong(path, probe, said)

    def test_the_same_at_several_places(self):
        """A value that only some places have is missing at the others; one that no place has is an error."""
        path = self.made("-O0", "-g")
        shown = {s["function"]: s["values"][0] for s in self.shown(path, "[gm][ea]*(argc)") if s["file"]}
        self.assertEqual((shown["main"]["missing"], shown["get"]["missing"]), (None, "unknown"))
        self.wrong(path, "[gm][ea]*(nothing)", "no variable nothing")

    def test_split_debug_information(self):
        self.wrong(self.made("-O0", "-g", "-gsplit-dwarf"), "get(node)", "without -gsplit-dwarf")

    def test_other_languages(self):
        """A function outside of C's ABI has only values that all compilers pass alike, as if it were Rust."""
        path = self.made("-O0", "-gdwarf-5", "-dA", "-S", name="made.s")
        with open(path) as f:
            text, n = re.subn(r"\.byte\t0x1d(\s.*DW_AT_language)", r".byte\t0x1c\1", f.read())
        self.assertEqual(n, 1)
        with open(path, "w") as f:
            f.write(text)
        rust = os.path.join(self.dir, "rust")
        subprocess.run(["gcc", "-o", rust, path], check=True)
        for made, missing in ((rust, "no-abi"), (self.made("-O0", "-g"), None)):
            pairs, = self.shown(made, "mixed(node, pair.x, len)")
            self.assertEqual([v["missing"] for v in pairs["values"]], [None, missing, missing])
            returned, = self.shown(made, "both%return($retval.x)")
            self.assertEqual(returned["values"][0]["missing"], missing)

    def test_all_of_our_own(self):
        """In a program with debug information, the entries have nearly all parameters."""
        values = [v for s in self.shown(HODO, "*($args)") if s["place"] == "entry" for v in s["values"]]
        missing = [v for v in values if v["missing"] not in (None, "parts")]
        self.assertGreater(len(values), 1000)
        self.assertLess(len(missing), len(values) // 20)

    def test_all_of_libc(self):
        """libc as it is installed, with or without debug information: each function's entry, and its exits."""
        libc = "/usr/lib/x86_64-linux-gnu/libc.so.6"
        for probe in ("*($arg1)", "*%return"):
            done = hodo("probe", "show", libc, probe)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(len(done.stdout.splitlines()), 2000)
        malloc, = [s for s in self.shown(libc, "libc.so!malloc($arg1)") if s["function"] == "malloc"]
        self.assertEqual(malloc["values"][0]["from"], "rdi")


main()
