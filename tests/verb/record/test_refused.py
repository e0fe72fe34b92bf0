# SPDX-License-Identifier: MIT
"""Processes that cannot have buffers run as if nothing had happened, and the recorder says why it misses them."""
import os
import pathlib
import resource
import sys

from hodo_test import HODO, LIBHODO, SOURCE, Case, main, program, run, wait_for

TARGET = program("TARGET")

DENY_MEMFD = """import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
f = struct.pack("HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, 319, 6, 0, 0, 0x50001, 6, 0, 0, 0x7fff0000)
steps = ctypes.create_string_buffer(f)
p = struct.pack("HxxxxxxP", 4, ctypes.addressof(steps))
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.c_char_p(p)) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""

# Starts its child when no descriptor is left.
ALL_OPEN = """import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 64 if sys.argv[1] == "soft" else 32))
before = resource.getrlimit(resource.RLIMIT_NOFILE)
try:
    while True:
        os.dup(0)
except OSError:
    pass
child = os.fork()
if child == 0:
    try:
        os.dup(0)
    except OSError:
        os._exit(0 if resource.getrlimit(resource.RLIMIT_NOFILE) == before else 2)
    os._exit(1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


# An event whose description is spoilt below, and others on both sides of it.
UNKNOWN = """#include <hodo/trace.h>
int main(void)
{
	for (int n = 0; n < 100; n++) {
		HODO_EVENT(kv, before, n);
		HODO_EVENT(kv, bad, HODO_F(shape, n));
		HODO_SPAN(kv, after, n);
	}
	return 0;
}
"""


class Refused(Case):
    def test_unknown_type(self):
        """An event with a value of an unknown type is refused by name; all others are recorded."""
        source = self.path("unknown.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(UNKNOWN)
        run("cc", "-O1", f"-I{SOURCE}/include", source, "-o", self.path("unknown"), status=0)
        binary = pathlib.Path(self.path("unknown")).read_bytes()
        types, spoilt = b"\x05\0kv\0bad\0", b"\x40\0kv\0bad\0"  # i32; an array of nothing
        self.assertEqual(binary.count(types), 1)
        pathlib.Path(self.path("unknown")).write_bytes(binary.replace(types, spoilt))
        done = self.record(self.path("unknown"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((done.events(), done.lost()), ((300, 1), 0), done.stderr)
        said = [line for line in done.lines() if "unknown" in line and "kv:bad" in line]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], r"event kv:bad at \S+/unknown\.c:6 is not recorded: the type of a value is unknown")
        self.assertNotIn("damaged", done.stderr)
        self.assertEqual({e["name"] for e in self.events()}, {"kv:before", "kv:after.begin", "kv:after.end"})

    def refused(self, limit, *options, command=("count", 100)):
        """What the recorder says of a program that runs under a limit set by the shell and with these options."""
        script = f"ulimit {limit}; exec {TARGET} {' '.join(map(str, command))}"
        done = self.record(*options, "bash", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("never loaded", done.stderr)
        self.assertEqual(done.events(), (0, 1), done.stderr)
        said = [line for line in done.lines() if "1 process image was not recorded: " in line]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertIn(said[0].split("recorded: ")[1], self.info()["unrecorded"][0]["why"])
        return said[0].split("recorded: ")[1]

    def test_file_size(self):
        self.assertRegex(self.refused("-f 24000"), r"^ulimit -f \(23\.4 MiB\) is too low for its buffers of \S+ MiB: "
                                                   r"raise it, or record with a smaller -m$")
        done = self.record("-m", "64K", "bash", "-c", f"ulimit -f 24000; exec {TARGET} count 100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.events(), (100, 2), done.stderr)

    def test_no_size_is_small_enough(self):
        self.assertRegex(self.refused("-f 100"), r"^ulimit -f \(100\.0 KiB\) .* MiB: raise it$")

    def test_address_space(self):
        self.assertRegex(self.refused("-v 48000"), r"^ulimit -v \(46\.9 MiB\) is too low for its buffers")

    def test_descriptors(self):
        self.assertEqual(self.refused("-n 4"), "it has as many open files as ulimit -n allows (4): raise it")

    def test_descriptors_that_may_be_more(self):
        done = self.record("bash", "-c", f"ulimit -Sn 4; exec {TARGET} count 100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.events(), (100, 2), done.stderr)

    def test_all_open_when_it_forks(self):
        done = self.record(sys.executable, "-c", ALL_OPEN, "soft")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.events(), (0, 2), done.stderr)
        done = self.record(sys.executable, "-c", ALL_OPEN, "hard")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_one_that_runs(self):
        env = {"HODO_LISTEN": "1", "LD_PRELOAD": LIBHODO}
        target = self.start("bash", "-c", f"ulimit -f 100; exec {TARGET} forever 0 up", env=env)
        wait_for("the program", lambda: os.path.exists(self.path("up")))
        done = self.hodo("record", "-o", self.data, "-p", target.pid)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"process {target.pid} is not recorded: ulimit -f (100.0 KiB) is too low", done.stderr)

    def test_sandbox(self):
        if os.uname().machine != "x86_64":
            self.skipTest("the filter is for x86-64")
        done = self.record("python3", "-c", DENY_MEMFD, TARGET, "count", 100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 process image was not recorded: its sandbox forbids memfd_create(2)", done.stderr)

    def test_the_command_itself(self):
        """The command connected and was refused: the recorder does not call it static or the like."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        for verb, *options in (("record", "-o", self.data), ("top", "--batch", "-d", "0.1")):
            done = run(HODO, verb, *options, "--", TARGET, "count", 100, status=0, preexec_fn=limit, **self.how({}))
            self.assertIn("ulimit -f (1.0 MiB) is too low", done.stderr)
            self.assertNotIn("never loaded", done.stderr)


main()
