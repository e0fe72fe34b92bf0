#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tagged.py: the names that reports and lists show select these functions and events (tagged.cc): ABI tags are
optional, and commas in brackets separate nothing. PLAIN has no slots, SLOTS has them."""
import json
import re

from hodo_test import Case, main, program

PROGRAMS = [p for p in (program("PLAIN"), program("SLOTS")) if p]
SHOWN = ["eng::Cache::find", "eng::Store<int, double>::get", "eng::Store<int, double>::operator bool",
         "eng::Store<int, double>::operator<", "eng::Store<int, double>::text"]


class Tagged(Case):
    def functions(self, traced, patterns):
        data = self.path(f"data{self.n}")
        self.n += 1
        done = self.hodo("record", "-q", "-o", data, f"--functions={patterns}", "--", traced)
        self.assertEqual((done.returncode, done.stderr), (0, ""), patterns)
        report = json.loads(self.ok("report", "-q", "--json", data))
        full = [f["function"] for f in report["functions"]]
        text = self.ok("report", "-q", data)
        brief = [name for name in SHOWN if re.search(rf"  {re.escape(name)}$", text, re.MULTILINE)]
        self.assertEqual(len(full), len(brief), (full, text))
        return sorted(brief)

    def check(self, cases):
        self.n = 0
        for traced in PROGRAMS:
            for patterns, expected in cases.items():
                self.assertEqual(self.functions(traced, patterns), sorted(expected), (traced, patterns))

    def test_shown(self):
        """What a report shows selects just this function; all of it in one list, all functions."""
        self.check({"eng::*": SHOWN, ",".join(SHOWN): SHOWN, **{name: [name] for name in SHOWN}})

    def test_full(self):
        """The full name, as JSON has it, too."""
        self.record("--functions=eng::*", "--", PROGRAMS[0])
        report = json.loads(self.ok("report", "-q", "--json", self.data))
        full = sorted(f["function"] for f in report["functions"])
        self.assertIn("eng::Cache::find[abi:cxx11](int)", full)
        for i, traced in enumerate(PROGRAMS):
            data = self.path(f"full{i}")
            self.record(f"--functions={','.join(full)}", "--", traced, data=data)
            again = json.loads(self.ok("report", "-q", "--json", data))
            self.assertEqual(sorted(f["function"] for f in again["functions"]), full, traced)

    def test_tags(self):
        """With the tag, where the symbol table has it, with parameters, and with another tag."""
        find, text = SHOWN[0], SHOWN[4]
        self.check({"eng::Cache::find[abi:cxx11]": [find], "eng::Cache::find[abi:*](int)": [find],
                    "eng::Cache::find(int)": [find], "eng::*,!eng::S*": [find],
                    "eng::Store::text": [text], "eng::Store::text[abi:cxx11]": [text]})

    def test_short(self):
        """Without template arguments."""
        self.check({"eng::Store::get": [SHOWN[1]], "eng::Store::operator bool": [SHOWN[2]],
                    "eng::Store::operator<": [SHOWN[3]], "eng::Store::operator<,eng::Store::get": [SHOWN[1], SHOWN[3]]})

    def test_events(self):
        """A probe's event is selected by the name that it has, with its tag and without."""
        self.record("-e", "probe:eng::*", "--", PROGRAMS[0])
        names = sorted({e["name"] for e in self.events()})
        self.assertIn("probe:eng::Cache::find[abi:cxx11]", names)
        self.assertEqual(len(names), len(SHOWN))
        for name in [*names, "probe:eng::Cache::find"]:
            done = self.hodo("print", "-q", "-e", name, self.data)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertEqual(len(done.stdout.splitlines()), 3, name)

    def test_probes(self):
        """The place of a probe, its event as it is recorded, and as it is selected in the process."""
        for i, text in enumerate(("eng::Cache::find", "eng::Cache::find[abi:cxx11]", "eng::Store::operator bool")):
            data = self.path(f"probe{i}")
            done = self.hodo("record", "-o", data, "-e", f"probe:{text}", "--", PROGRAMS[0])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("no event", done.stderr)
            self.assertEqual(len(self.ok("print", "-q", data).splitlines()), 3, text)

    def test_show(self):
        """'probe show' has names that can be given again, and messages name what is wrong."""
        shown = self.ok("probe", "show", PROGRAMS[0], "eng::Cache::find", "eng::Cache::find+4")
        self.assertRegex(shown, r" eng::Cache::find\(int\) .*\n(.*\n)* +0x[0-9a-f]+ +eng::Cache::find\(int\)\+0x4 ")
        self.assertNotIn("_Z", shown)
        self.ok("probe", "show", PROGRAMS[0], "eng::Cache::find(int)+0x4")
        self.fails(1, "there is no function find: did you mean eng::Cache::find",
                   "probe", "show", PROGRAMS[0], "find")
        self.fails(1, "'if argc > 1': a probe has no condition: record its events with --filter 'argc > 1'",
                   "probe", "show", PROGRAMS[0], "main(argc) if argc > 1")


main()
