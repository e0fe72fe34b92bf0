# SPDX-License-Identifier: MIT
"""Objects that come later than the program, and those whose events cannot be recorded: these are named."""
import collections
import json

from hodo_test import Case, main, program

HOST, PLUGIN, VERSION = program("HOST"), program("PLUGIN"), program("VERSION")


class Objects(Case):
    def names(self):
        """How many events there are of each name."""
        return dict(collections.Counter(e["name"] for e in self.events()))

    def warnings(self):
        """What the recording says of its processes."""
        return [text for process in self.info()["processes"] for text in process["warnings"]]


class Version(Objects):
    WHY = "events are of version 77 of Hodoscope's headers, and this libhodo records version 1: compile it with those"

    def test_recorded(self):
        done = self.record(HOST, 3, "close", VERSION, "close", VERSION, "open", PLUGIN, "open", VERSION)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(), {"host:step": 15, "plugin:work": 3})
        said = f"{VERSION}: its {self.WHY}"
        self.assertEqual([w for w in self.warnings() if "version" in w], [said])
        self.assertEqual(done.stderr.count(said), 1, done.stderr)

    def test_listed(self):
        done = self.hodo("list", VERSION)
        self.assertIn(f"warning: {VERSION}: 1 event is of version 77 of Hodoscope's headers, and this hodo knows "
                      "version 1: compile it with those", done.stderr)
        self.assertNotIn("damaged", done.stderr)
        self.assertEqual(json.loads(self.ok("list", "--json", VERSION))["events"], [])


main()
