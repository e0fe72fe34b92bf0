# SPDX-License-Identifier: MIT
"""Processes that cannot reach the path of the recorder's socket are recorded: of other users, after chroot(), with
another /tmp. Only they are: a process without the recording's key is refused, however near to it."""
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import time

import place
from hodo_test import Case, end, main, program, run, wait_for

EACH = 10  # events per process
NOBODY = 65534
MAGIC, VERSION, HELLO, CONFIG, CONTROL = 0x4f444f48, 3, 1, 2, 4
ADDRESS = re.compile(r"@(hodo-record-[0-9a-f]{16})$", re.M)


def abstract_addresses():
    with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
        return set(ADDRESS.findall(f.read()))


def hello(key):
    return struct.pack("<IHH6I16s256sQ", MAGIC, VERSION, HELLO, os.getpid(), os.getppid(), 2, 1, 1, 0, b"stranger",
                       b"/stranger", key)


class Placed(Case):
    def setUp(self):
        super().setUp()
        # A place from which any user may run them, even one who may not enter the tree.
        self.place = os.path.join(os.path.dirname(self.dir), "bin")
        os.mkdir(self.place)
        os.chmod(self.place, 0o755)
        self.program = self.copy(program("OTHERS"))
        self.env["HODO_LIBRARY"] = self.copy(program("HODO_LIBRARY"))

    def copy(self, path):
        to = os.path.join(self.place, os.path.basename(path))
        shutil.copy(path, to)
        os.chmod(to, 0o755)
        return to

    def need_root(self):
        why = place.no_root()
        if why:
            self.skipTest(why)


class Others(Placed):
    def all_recorded(self, processes, *command, uids=None, options=()):
        done = self.record(*options, *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.events()[0], EACH * processes, done.stderr)
        self.assertNotIn("not recorded", done.stderr)
        events = self.events()
        if uids:
            self.assertEqual({e["fields"]["uid"] for e in events}, set(uids))
        self.assertEqual([e["fields"]["i"] for e in events].count(0), processes)

    def test_children_after_setuid(self):
        self.need_root()
        self.all_recorded(2, self.program, "drop", uids=[0, NOBODY])

    def test_programs_of_another_user(self):
        self.need_root()
        self.all_recorded(2, self.program, "exec", uids=[0, NOBODY])
        self.all_recorded(1, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", self.program,
                          "once", uids=[NOBODY])
        self.all_recorded(1, "su", "nobody", "-s", "/bin/sh", "-c", f"{self.program} once", uids=[NOBODY])

    def test_daemon_that_nobody_waits_for(self):
        self.need_root()
        self.all_recorded(2, self.program, "daemon", "said", uids=[NOBODY])
        with open(os.path.join(self.dir, "said"), encoding="ascii") as f:
            self.assertEqual(f.read(), "0")

    def test_daemon_that_runs_already(self):
        """The process is not dumpable: much of its /proc belongs to root."""
        self.need_root()
        daemon = self.start(self.program, "stay", stdout=subprocess.PIPE, text=True)
        self.assertEqual(daemon.stdout.readline(), "dropped\n")
        recorder = self.recorder("-p", daemon.pid)
        wait_for("its folder, and those of children",
                 lambda: os.path.isdir(self.data) and len(self.folders()) > 3)
        done = recorder.stop()
        end(daemon)
        daemon.stdout.close()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("not recorded", done.stderr)
        events = self.events()
        self.assertGreater(sum(e["pid"] == daemon.pid for e in events), 0)
        self.assertGreater(len({e["pid"] for e in events}), 2)

    def test_child_in_another_root_directory(self):
        self.need_root()
        os.mkdir(os.path.join(self.dir, "empty"))
        self.all_recorded(2, self.program, "chroot", "empty")

    def test_child_whose_sockets_are_hidden(self):
        self.need_root()
        if why := place.no_mounts():
            self.skipTest(why)
        self.all_recorded(2, self.program, "hide", self.env["XDG_RUNTIME_DIR"])

    def test_child_in_a_user_namespace(self):
        if run("unshare", "-U", "true").returncode != 0:
            self.skipTest("no user namespace can be made")
        self.all_recorded(2, self.program, "user_namespace")

    def test_same_user_needs_no_abstract_address(self):
        """The network namespace is another one, but the path is there."""
        if run("unshare", "-n", "true").returncode != 0:
            self.skipTest("no network namespace can be made")
        self.all_recorded(1, "unshare", "-n", self.program, "once")


class Strangers(Placed):
    def recording(self):
        """Starts a recording; also returns its abstract address, which everybody can see."""
        recorder = self.recorder("sh", "-c", f"read line; exec {self.program} once", stdin=-1)
        address = "hodo-record-" + self.value_of(recorder)[-49:-33]
        self.assertIn(address, abstract_addresses())
        return recorder, "\0" + address

    def value_of(self, recorder):
        """The value of HODO_RECORDER in the recorded program."""
        children = f"/proc/{recorder.pid}/task/{recorder.pid}/children"

        def look():
            with open(children, encoding="ascii") as f:
                for pid in f.read().split():
                    with open(f"/proc/{pid}/environ", encoding="utf-8", errors="replace") as e:
                        found = re.search(r"(?:^|\0)HODO_RECORDER=([^\0]+)", e.read())
                        if found:
                            return found[1]
            return None
        return wait_for("the program's environment", look)

    def connect(self, address, message=None):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(s.close)
        s.settimeout(100)
        s.connect(address)
        if message is not None:
            s.send(message)
        return s

    def go_on(self, recorder):
        recorder.stdin.write(b"\n")
        recorder.stdin.close()
        return recorder.done()

    def not_harmed(self, recorder):
        done = self.go_on(recorder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.events()[0], EACH, done.stderr)
        return done

    def test_without_the_key(self):
        recorder, address = self.recording()
        for message in (hello(0), hello(1), b"", b"x" * 312, hello(0)[:304],
                        struct.pack("<IHH", MAGIC, VERSION, CONTROL) + bytes(600)):
            self.assertEqual(self.connect(address, message).recv(65536), b"")
        self.assertIn("6 process images were not recorded: it does not have the recording's key",
                      self.not_harmed(recorder).stderr)

    def test_memory_is_not_shown(self):
        recorder, address = self.recording()
        s = self.connect(address, struct.pack("<IHH", MAGIC, VERSION, CONTROL))
        self.assertEqual(s.recv(65536), b"")
        self.not_harmed(recorder)

    def test_with_the_key(self):
        recorder, address = self.recording()
        key = self.value_of(recorder)[-32:]
        s = self.connect(address, hello(int(key[:16], 16)))
        self.assertIn(struct.pack("<Q", int(key[16:], 16)), s.recv(65536))
        s.close()
        self.assertIn("it left before it handed over its buffers", self.not_harmed(recorder).stderr)

    def test_silent_ones_are_in_nobodys_way(self):
        self.need_root()
        recorder, address = self.recording()
        for _ in range(200):
            self.connect(address)
        self.not_harmed(recorder)

    def test_flood(self):
        """However fast they come, only so many are refused per tenth of a second: the rest of it is for the rings."""
        begin = time.monotonic()
        recorder, address = self.recording()
        flood = ("import socket, sys\nwhile True:\n with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:\n"
                 "  s.setblocking(False)\n  try:\n   s.connect('\\0' + sys.argv[1])\n  except BlockingIOError: pass")
        strangers = [self.start(sys.executable, "-c", flood, address[1:], stderr=subprocess.DEVNULL) for _ in range(2)]
        wait_for("refusals", lambda: "more processes are not recorded" in recorder.said())
        time.sleep(1)
        for stranger in strangers:
            end(stranger)
        done = self.not_harmed(recorder)
        windows = (time.monotonic() - begin) / 0.1 + 2
        refused = done.number(r"hodo: (\d+) process images were not recorded: it does not have")
        self.assertGreater(refused, 20)
        # A slow machine has more windows, so the clock does not decide. 2 more: for those in the middle of their turn.
        self.assertLessEqual(refused, 32 * (windows + 2))

    def test_address_of_a_dead_recorder(self):
        """Somebody else has taken it: a program says hello there, hands over nothing, and runs on."""
        recorder, address = self.recording()
        self.value_of(recorder)
        recorder.kill()
        recorder.wait()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.settimeout(100)
            listener.bind(address)
            listener.listen()
            recorder.stdin.write(b"\n")
            recorder.stdin.close()
            connection = listener.accept()[0]
            connection.settimeout(100)
            self.assertEqual(len(connection.recv(65536)), 312)
            config = bytearray(4096)
            struct.pack_into("<IHH", config, 0, MAGIC, VERSION, CONFIG)
            connection.send(config)
            message, passed, _, _ = socket.recv_fds(connection, 65536, 4)
            self.assertEqual((message, passed), (b"", []))
            connection.close()


main()
