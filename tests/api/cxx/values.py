#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""values.py gcc|clang: C++ values are recorded as docs/cxx.md says, by either compiler, with patched sites and others,
with static probes, optimised or not; read by hodo print, babeltrace2, filters and hodo list."""
import re
import shutil
import sys

from hodo_test import SOURCE, Case, main, run, skip

COMPILER = {"gcc": "g++", "clang": "clang++"}[sys.argv.pop()]
BUILDS = (("-O0",), ("-O2",), ("-O1", "-DHODO_STATIC_KEYS=0"), ("-O0", "-DHODO_STATIC_KEYS=0"), ("-O1", "-DHODO_SDT=1"))

WANT = {
    "texts": {"s": "hello", "empty": "", "nul": "a", "view": "ell", "none": "", "path": "/var/log", "buffer": "abc",
              "full": "xyz", "c": "c text", "literal": "literal", "sum": "hello!c text"},
    "times": {"ns": 5, "took_us": 6, "wait_ms": 7, "std_chrono_seconds_8_s": 8, "m_min": 9, "d_h": 10, "exact_s": 1.5,
              "frames_1_60s": 3, "at_s": 1700000000, "limit_ms": [250]},
    "latency": {"value_ms": 11},
    "arrays": {"plain": [1, -2, 3], "array": [4, 5], "vector": [0.5, 2.5], "pointers": [0], "bools": [True, False],
               "ops": [7], "bytes": [0, 255], "empty": [], "wide": [ord("w"), 0]},
    "arrays20": {"span": [1, -2], "u8": "\u00e9"},
    "optionals": {"five": [5], "none": [], "text": "t", "no_text": None, "view": "v", "op": [7], "list": [1],
                  "no_list": [], "no_pointer": 0, "price": [3]},
    "enums": {"op": 7, "flag": 100, "drop": -3, "rare": 1 << 20, "other": 5, "far": 5000, "wide": 950, "letter": 98,
              "plain": 1, "bare": 0, "shape_kind": 1},
    "others": {"op": 1},
    "others3": {"packed_bits": 6, "most": 17, "nullptr": 0},
    "span.begin": {"s": "spanned", "op": 0},
    "request.begin": {"s": "spanned", "after_us": 3},
    "request.end": {"s": "spanned"},
    "mark": {"s": "spanned", "price": 7, "_3": 3},
    "point": {"key": "key", "n": 1, "op": 7, "maybe": [4], "wait_ms": 20, "price": 5},
    "probed": {"probed": "a key that is longer than what a string holds in itself20-121usd"},
    "allocations": {"value": 0},
}
OTHERS2 = {"atomic": 12, "ready": True, "load": 0.25, "gone": 0, "shared": 0, "error": 110, "wide": 1.25,
           "big": [4, 3], "minus": [(1 << 64) - 1, (1 << 64) - 1], "price": 250, "id": "id:k", "box": "boxed", "vol": 4}
# What hodo print shows by name. Clang 14 does not know the names of enumerators in templates.
ENUMS = ("op=Put flag=Off drop=Drop rare=Rare other=5 far=5000 wide=High letter=B plain=1 bare=0 shape_kind=")


class Values(Case):
    def build(self, *flags, standard="17"):
        run(COMPILER, f"-std=c++{standard}", *flags, "-w", f"-I{SOURCE}/include", SOURCE / "tests/api/cxx/values.cc",
            "-o", self.path("values"), status=0)

    def first(self, recording):
        """The fields of the first event of each name."""
        found = {}
        for event in self.events(recording):
            found.setdefault(event["name"].removeprefix("cxx:"), event["fields"])
        return found

    def check(self, recording, done, want):
        found = self.first(recording)
        for name, fields in want.items():
            got = found.get(name)
            if name == "others3":
                self.assertNotEqual(got["code"], 0)
                self.assertEqual(got["code"], got["texts"])
                got = {k: got[k] for k in fields}
            self.assertEqual(got, fields, name)
            self.assertEqual(list(got), list(fields), name) # in order
        others = found["others2"]
        self.assertEqual(others.pop("unique"), others.pop("address"))
        self.assertEqual(others, OTHERS2)
        self.assertEqual(len(found["long_enough"]["text"]), 65535)
        self.assertNotIn("too_long", found)
        self.assertNotIn("too_many", found)
        self.assertEqual(done.lost(), 2)

    def test_all(self):
        for number, flags in enumerate(BUILDS):
            recording, standard = f"r{number}", "20" if number == 1 else "17"
            with self.subTest(flags=flags):
                self.build(*flags, standard=standard)
                run(self.path("values"), status=0)
                done = self.hodo("record", "-m", "8M", "-o", recording, "--", self.path("values"))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check(recording, done, {k: v for k, v in WANT.items() if k != "arrays20" or standard == "20"})
                self.check_names(recording)

    def check_names(self, recording):
        text = self.ok("print", "-q", recording)
        kind = "Square" if COMPILER == "g++" else "(Square|1)"
        self.assertRegex(text, re.escape("cxx:enums " + ENUMS) + kind + "\n")
        self.assertRegex(text, r"cxx:others op=On\n")
        self.assertRegex(text, r"cxx:span.begin .*op=Get")
        self.assertRegex(text, r"cxx:point .*op=Put")
        self.assertIn('op = ( "Put" : container = 7 )', run("babeltrace2", self.path(recording), status=0).stdout)

    def test_labels(self):
        """In filters, of a running program and of a recording, and in the list of a file's events."""
        self.build("-O1")
        for filter_, names in (("op == Put", {"cxx:enums", "cxx:point"}), ("op == On", {"cxx:others"})):
            done = self.hodo("record", "-q", "-o", "d", "-e", "cxx:*", "--filter", filter_, "--", self.path("values"))
            self.assertEqual(done.returncode, 0, done.stderr)
            met = {e["name"] for e in self.events("d") if "op" in e["fields"]}
            self.assertEqual(met, names, filter_)
        listed = self.ok("list", self.path("values"))
        self.assertRegex(listed, r"cxx:others .*\(op:u8 On\|Off\)")
        self.assertRegex(listed, r"cxx:point .*key:str, n:i32, op:i32 Drop\|Get\|Put\|Rare, maybe:i32\[\], wait_ms:i64, price:i64")


if not shutil.which(COMPILER):
    skip(f"no {COMPILER} here")
main()
