# SPDX-License-Identifier: MIT
"""Objects that are loaded after the program, and objects whose events cannot be recorded: messages name these."""
import collections
import errno
import json
import os
import sys

from hodo_test import LIBHODO, Case, main, program, run

HOST, PLUGIN, SECOND, VERSION = program("HOST"), program("PLUGIN"), program("SECOND"), program("VERSION")
FUNCTIONS, AUDITOR, AUDITOR_SECOND = program("FUNCTIONS"), program("AUDITOR"), program("AUDITOR_SECOND")


class Objects(Case):
    def names(self):
        """How many events there are of each name."""
        return dict(collections.Counter(e["name"] for e in self.events()))

    def warnings(self):
        """The warnings about its processes in the recording."""
        return [text for process in self.info()["processes"] for text in process["warnings"]]


class Version(Objects):
    WHY = ("events are for version 77 of Hodoscope's headers, but this libhodo records version 3: "
           "compile it with this version's headers")

    def test_recorded(self):
        done = self.record(HOST, 3, "close", VERSION, "close", VERSION, "open", PLUGIN, "open", VERSION)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(), {"host:step": 15, "plugin:work": 3})
        said = f"{VERSION}: its {self.WHY}"
        self.assertEqual([w for w in self.warnings() if "version" in w], [said])
        self.assertEqual(done.stderr.count(said), 1, done.stderr)
        self.assertTrue(self.ok("stat", self.data).endswith("\n1 warning while it was recorded: 'hodo info' shows it\n"))
        self.assertEqual([p["warnings"] for p in self.stat()["processes"]], [[said]])

    def test_listed(self):
        done = self.hodo("list", VERSION)
        self.assertIn(f"warning: {VERSION}: 1 event is of version 77 of Hodoscope's headers, and this hodo knows "
                      "version 3: compile it with this version's headers", done.stderr)
        self.assertNotIn("damaged", done.stderr)
        self.assertEqual(json.loads(self.ok("list", "--json", VERSION))["events"], [])


class Programs(Objects):
    """With unknown headers, programs run as without libhodo, and a message says why there are no events."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("flights"))

    def check_done(self, done, registered, role):
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout, f"sum 5050, probed 0, registered -{registered}, role {role}, enabled 0\n")

    def check(self, path, version):
        why = f"{path}: its events are for version {version} of Hodoscope's headers, but this libhodo records version 3"
        self.check_done(run(path, **self.how({})), errno.ENOSYS, -errno.ENOSYS)
        preloaded = {"LD_PRELOAD": LIBHODO}
        done = run(path, **self.how({"env": preloaded}))
        self.check_done(done, errno.EINVAL, 0)
        self.assertEqual(done.stderr, "")
        done = self.record("--functions=no_such_function", "--context", "comm,callstack", path)
        self.check_done(done, errno.EINVAL, 0)
        self.assertEqual(done.stderr.count(why), 1, done.stderr)
        self.assertEqual(self.names(), {})
        # A flight recorder has the same message in its file.
        done = run(path, **self.how({"env": {**preloaded, "HODO_FLIGHT": self.path("flights")}}))
        self.check_done(done, errno.EINVAL, 0)
        self.ok("recover", "-q", "-o", "recovered", "flights")
        (process,) = self.info(self.path("recovered"))["processes"]
        self.assertEqual([w.split(": compile")[0] for w in process["warnings"]], [why])

    def test_older(self):
        self.check(program("OLDER"), 2)

    def test_newer(self):
        self.check(program("NEWER"), 77)


class Namespaces(Objects):
    """Objects in dlmopen(3)'s and rtld-audit(7)'s namespaces are recorded with the program, by one libhodo."""

    def check(self, names, *words):
        done = self.record(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(), names, done.stderr)
        self.assertEqual(len(self.info()["processes"]), 1)
        self.assertNotIn("not recorded", done.stderr)

    def test_opened(self):
        self.check({"host:step": 300, "plugin:work": 200}, HOST, 100, "new", PLUGIN, "new", PLUGIN)

    def test_with_a_libhodo_of_its_own(self):
        self.check({"host:step": 400, "plugin:work": 300}, HOST, 100, "new", SECOND, "new", SECOND, "open", SECOND)

    def test_closed(self):
        again = ["renew", PLUGIN, "close", PLUGIN] * 40
        self.check({"host:step": 810, "plugin:work": 800}, HOST, 10, *again)

    def test_switched_meanwhile(self):
        """Code that is being unmapped in another namespace stays unchanged."""
        done = self.record("env", "SWITCH=1", HOST, 10, "renew", SECOND, *["renew", PLUGIN] * 199)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names()["host:step"], 2010)

    def test_functions(self):
        done = self.record("--functions", "-e", "func:plugin_*", HOST, 5, "new", FUNCTIONS, "renew", FUNCTIONS)
        self.assertEqual(done.returncode, 0, done.stderr)
        entries = [e for e in self.events() if e["name"] == "func:entry"]
        self.assertEqual(len(entries), 10, done.stderr)

    def test_programs_without_libhodo_before(self):
        """The namespace loads libhodo: from then on the program's events are recorded."""
        done = self.record("env", "-u", "LD_PRELOAD", HOST, 10, "new", SECOND)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(), {"plugin:work": 10, "host:step": 10})

    def test_auditors(self):
        for auditor in (AUDITOR, AUDITOR_SECOND):
            done = self.record("env", f"LD_AUDIT={auditor}", HOST, 10, "new", PLUGIN)
            self.assertEqual(done.returncode, 0, done.stderr)
            names = self.names()
            self.assertGreaterEqual(names.pop("auditor:objopen"), 1, names)
            self.assertEqual(names, {"host:step": 20, "plugin:work": 10})


DENY_CODE = """import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
f = [(0x20, 0, 0, 0), (0x15, 0, 3, 10), (0x20, 0, 0, 32), (0x54, 0, 0, 6), (0x15, 1, 0, 6),
     (6, 0, 0, 0x7fff0000), (6, 0, 0, 0x5000d)]
steps = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in f))
p = struct.pack("HxxxxxxP", len(f), ctypes.addressof(steps))
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.c_char_p(p)) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


class Bare(Objects):
    """Where /proc is not mounted, as in a home-made container."""
    NO_PROC = "mount -t tmpfs none /proc || exit 77; exec"

    def bare(self, *command):
        done = self.record("unshare", "-m", "sh", "-c", f'{self.NO_PROC} "$@"', "sh", *command)
        if done.returncode in (1, 77):
            self.skipTest(f"nothing may be mounted here ({done.stderr.strip()})")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_opened_later(self):
        self.bare(HOST, 3, "open", PLUGIN, "close", PLUGIN, "new", PLUGIN)
        self.assertEqual(self.names(), {"host:step": 12, "plugin:work": 9})
        self.assertEqual(self.warnings(), [])

    def test_code_that_cannot_be_changed(self):
        """If neither way works, a message says what is missing."""
        if os.uname().machine != "x86_64":
            self.skipTest("the filter is for x86-64")
        self.bare(sys.executable, "-c", DENY_CODE, HOST, 3, "open", PLUGIN)
        said = " ".join(self.warnings())
        self.assertIn("events of it are missing: neither /proc/self/mem nor mprotect(2)", said)
        self.assertIn("libraries that it opens later are not recorded", said)


main()
