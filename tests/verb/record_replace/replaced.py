#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replaced - functions of programs that nobody prepared are replaced while a recording runs: hodo record
--replace."""
import os
import subprocess

from hodo_test import Case, HODO, main, run, wait_for

THREADS, REPLACED, SOURCE = 3, os.environ["REPLACED"], os.path.dirname(os.path.abspath(__file__))
OWN = {"work": "3", "throws": "original", "tiny": "5", "looper": "9", "many": "282", "weigh": "22", "equal": "0",
       "upper": "65"}
ALL = {"work=./with.so:work2": ("work", "1003"),
       "throws=./with.so:throws2": ("throws", "replaced original"),
       "tiny=./with.so:tiny2": ("tiny", "105"),
       "many=./with.so:many2": ("many", "320"),
       "box::Crate::weigh=./with.so:weigh2": ("weigh", "40"),
       "box::Crate::operator===./with.so:equal2": ("equal", "1"),
       "libc.so.6!toupper=./with.so:upper2": ("upper", "130")}
TRAP = "hodo: warning: --replace tiny=./with.so:tiny2: it takes a breakpoint, which costs 2 us for each call: "
COPIES = "of it, inlined or made for some callers, "


def words(replacements):
    return [word for text in replacements for word in ("--replace", text)]


class Replaced(Case):
    def setUp(self):
        super().setUp()
        run("c++", "-shared", "-fPIC", "-O2", f"{SOURCE}/replacing.cpp", "-o", self.path("with.so"), status=0)

    def printed(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(line.split(" ", 1) for line in done.stdout.splitlines())

    def replaced(self, replacements, how="once", *more):
        done = self.hodo("record", "-q", "-o", "trace", *words(replacements), *more, "--", REPLACED, how)
        return self.printed(done), done.stderr

    def test_each(self):
        """One replacement at a time: all other functions are as they were."""
        for text, (name, value) in ALL.items():
            with self.subTest(text):
                printed, said = self.replaced([text])
                self.assertEqual(printed, OWN | {name: value})
                # The number of copies depends on which debug information of libc is installed.
                told = said.startswith(TRAP) if name == "tiny" else said == "" or (name == "upper" and COPIES in said)
                self.assertTrue(told, said)

    def test_all(self):
        for how in ("once", "fork", "exec"):
            with self.subTest(how):
                printed, said = self.replaced(ALL, how)
                self.assertEqual(printed, OWN | dict(ALL.values()))
                self.assertEqual([line for line in said.splitlines() if COPIES not in line and TRAP not in line], [])
                self.assertIn(TRAP, said)

    def test_only_in_a_library(self):
        """In the program itself nothing is planned, except the place where it asks again."""
        run("cc", "-O0", "-x", "c", "-", "-o", self.path("small"), status=0,
            input="#include <ctype.h>\n#include <stdio.h>\nint main(int n, char **words)\n{\n"
                  "\t(void)words;\n\tprintf(\"upper %d\\n\", (toupper)(n + 96));\n\treturn 0;\n}\n")
        done = self.hodo("record", "-q", "--replace", "libc.so.6!toupper=./with.so:upper2", "--", self.path("small"))
        self.assertEqual(self.printed(done), {"upper": "130"})
        self.assertNotIn("cannot load", done.stderr)

    def test_several_libraries(self):
        """The name of one library begins with that of the other."""
        os.rename(self.path("with.so"), self.path("with.so.1"))
        run("cc", "-shared", "-fPIC", "-x", "c", "-", "-o", self.path("with.so"), status=0,
            input="long one(long n) { return 1; }\n")
        printed, said = self.replaced(["work=./with.so.1:work2", "throws=./with.so:one"])
        self.assertEqual((printed, said), ({k: v for k, v in OWN.items() if k != "throws"} | {"work": "1003"}, ""))

    def test_hidden_and_of_the_same_name(self):
        self.assertEqual(self.replaced(["work=./with.so:work"])[0], OWN | {"work": "0"})

    def test_without_debug_information(self):
        run("strip", "-g", "-o", self.path("stripped"), REPLACED, status=0)
        done = self.hodo("record", "-q", *words(ALL), "--", "./stripped", "once")
        self.assertEqual(self.printed(done), OWN | dict(ALL.values()))

    def test_beside_events_and_calls(self):
        """The event at the entry comes first; then runs the other function, which may call the first one."""
        printed, _ = self.replaced(["work=./with.so:work2"], "once", "-e", "probe:work(n)", "-e", "probe:work%return",
                                   "-e", "probe:tiny", "--functions")
        self.assertEqual(printed, OWN | {"work": "1003"})
        self.assertEqual([(e["name"], e["fields"].get("n"), e["fields"].get("retval")) for e in self.events()
                          if e["name"].startswith("probe:")],
                         [("probe:work", 1, None), ("probe:work%return", None, 3), ("probe:tiny", None, None)])
        self.assertRegex(self.ok("graph", "-q", "trace"), r"\bwork\(\)")

    def asked(self, p):
        p.stdin.write("\n")
        p.stdin.flush()
        return [int(n) for n in p.stdout.readline().split()]

    def test_attached(self):
        """Again and again, while threads call it: each call runs one or the other, and the original is put back."""
        p = self.start(REPLACED, "threads", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(p.stdout.readline(), "ready\n")
        for n in range(8):
            first, other, wrong = self.asked(p)
            self.assertEqual((first > 0, other <= THREADS, wrong), (True, True, 0))  # each may have been in a call
            recorder = self.recorder("-q", "-o", "trace", "--replace", "work=./with.so:work2", "-p", p.pid)
            wait_for(recorder.said, lambda: self.asked(p)[1] > THREADS)
            first, other, wrong = self.asked(p)
            self.assertEqual((first <= THREADS, other > 0, wrong), (True, True, 0))
            if n == 2:
                self.ok("probe", "add", "-q", p.pid, "probe:work%return", "probe:looper")
                first, other, wrong = self.asked(p)
                self.assertEqual((first <= THREADS, other > 0, wrong), (True, True, 0))
                self.ok("probe", "remove", "-q", p.pid, "probe:work%return")
            if n == 5:
                recorder.kill()
                wait_for(recorder.said, lambda: self.asked(p)[1] <= THREADS)
            else:
                self.assertEqual(recorder.stop().returncode, 0)
        p.stdin.close()
        self.assertEqual(p.wait(600), 0)

    def test_changed(self):
        """Code that the program has changed differs from what the plan expects."""
        p = self.start(REPLACED, "changed", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(p.stdout.readline(), "ready\n")
        done = self.hodo("record", "-q", "--replace", "tiny=./with.so:tiny2", "--duration", "0.3", "-p", p.pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a function is not replaced: its code, or the library's pointer, is not what the files say",
                      done.stderr)
        p.stdin.close()
        self.assertEqual(p.wait(600), 0)

    def test_what_cannot_be_loaded(self):
        with open(self.path("bad.c"), "w", encoding="utf-8") as f:
            f.write("long missing(long);\nlong work3(long n) { return missing(n); }\n")
        run("cc", "-shared", "-fPIC", self.path("bad.c"), "-o", self.path("bad.so"), status=0)
        printed, said = self.replaced(["work=./bad.so:work3"])
        self.assertEqual(printed, OWN)
        self.assertRegex(said, r"\Ahodo: warning: --replace work=./bad.so:work3: process \d+ cannot load \S+/bad.so: "
                               r"'LD_PRELOAD=\S+/bad.so PROGRAM' says why\n\Z")

    def test_what_is_not_replaced(self):
        for text, why in (("looper=./with.so:work2", "it begins with a loop"),
                          ("nosuch=./with.so:work2", "there is no function nosuch"),
                          ("waiter=./with.so:work2", "a system call, in which a thread may sleep"),
                          ("libc.so.6!nothing=./with.so:work2", "there is no function nothing")):
            with self.subTest(text):
                printed, said = self.replaced([text])
                self.assertEqual(printed, OWN)
                self.assertIn(f"hodo: warning: --replace {text}: it cannot be replaced: ", said)
                self.assertIn(why, said)

    def test_usage(self):
        for text, why in (("work", "F=LIB:G"), ("work=with.so", "F=LIB:G"),
                          ("=with.so:f", "F=LIB:G"), ("work=:f", "F=LIB:G"),
                          ("w*=with.so:work2", "give only a function"),
                          ("work(n)=with.so:work2", "give only a function"),
                          ("work%return=with.so:work2", "give only a function"),
                          ("work=with.so:nosuch", "has no function nosuch"),
                          ("work=with.so:number", "has no function number"),
                          ("work=with.so:constant", "declare it as a non-const pointer"),
                          (f"work={SOURCE}/replaced.py:f", "is not a library")):
            with self.subTest(text):
                self.fails(2, why, "record", "--replace", text, "true")
        self.fails(1, "cannot be read", "record", "--replace", "work=./nowhere.so:f", "true")
        self.fails(2, "is for programs, and cannot be used with -k", "record", "-k", "--replace", "work=with.so:work2")


if __name__ == "__main__":
    main()
