#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HODO_FLIGHT: which processes have files, what the files contain, which are kept, and where there can be none."""
import ctypes
import json
import os
import pathlib
import re
import resource
import struct
import subprocess
import time

from flights import LIFE, TARGET, Case, environment
from hodo_test import HODO, LIBHODO, LIMIT_S, hodo, main, program, run, wait_for

FOREVER = program("FOREVER")

CLONE_NEWNS = 0x20000


def notes(events, where):
    return [e["fields"]["n"] for e in events if e["name"] == "life:note" and e["fields"]["where"] == where]


class Processes(Case):
    def test_ends(self):
        self.fly(LIFE, "ends")
        self.assertEqual(len(self.files()), 1)
        self.assertRegex(self.files()[0], r"^life-\d+\.flight$")
        self.recover()
        order = [e["fields"]["where"] for e in self.events()]
        self.assertEqual(order, ["constructor", "thread", "key", "main", "atexit", "destructor"])

    def test_fork(self):
        self.fly(LIFE, "fork")
        self.assertEqual(len(self.files()), 3)
        self.recover()
        events = self.events()
        self.assertEqual((notes(events, "parent"), notes(events, "child"), notes(events, "grandchild")),
                         ([0, 1], [1, 3], [2]))
        self.assertEqual(len({e["pid"] for e in events}), 3)

    def test_bare_clone(self):
        self.fly(LIFE, "bare_clone")
        self.recover()
        self.assertEqual(notes(self.events(), "child"), list(range(100)))

    def test_exec_has_a_file_of_its_own(self):
        self.fly(LIFE, "exec")
        names = self.files()
        self.assertEqual(len(names), 2, names)
        self.assertTrue(any(re.search(r"-2\.flight$", name) for name in names), names)
        self.recover()
        events = self.events()
        self.assertEqual((notes(events, "before"), notes(events, "after")), ([0], [0]))
        self.assertEqual(len({e["pid"] for e in events}), 1)

    def test_daemon_and_relative_directory(self):
        """The daemon changes to / and closes all descriptors; the directory was resolved before."""
        self.fly(LIFE, "daemon", HODO_FLIGHT="flights")
        deadline = time.monotonic() + LIMIT_S
        while True:  # the daemon outlives its parent
            self.recover()
            if notes(self.events(), "daemon") == list(range(1000)) or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        self.assertEqual(notes(self.events(), "daemon"), list(range(1000)))

    def test_no_descriptor_stays(self):
        done = self.fly("python3", "-c", "import os; print(os.listdir('/proc/self/fd'))", HODO_FLIGHT_EVENTS="*")
        plain = subprocess.run(["python3", "-c", "import os; print(os.listdir('/proc/self/fd'))"], capture_output=True,
                               text=True, check=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.stdout.count("'"), plain.stdout.count("'"))

    def test_programs_without_events_leave_nothing(self):
        self.fly("sh", "-c", "true; ls >/dev/null")
        self.assertEqual(self.files(), [])
        done = hodo("recover", "-o", self.out, self.flights)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^hodo: .*neither flight recorder files nor a recording.*hodo doctor.*\n$")
        self.assertFalse(os.path.exists(self.out))

    def test_patterns(self):
        self.fly(LIFE, "signals", HODO_FLIGHT_EVENTS="life:*,!life:loop", HODO_FLIGHT_SIZE="64M")
        self.recover()
        self.assertEqual({e["name"] for e in self.events()}, {"life:note"})

    def test_name_is_made_safe(self):
        program = self.path("a b\n.\u00fc")
        os.link(LIFE, program) if os.stat(LIFE).st_dev == os.stat(self.dir).st_dev else os.symlink(LIFE, program)
        self.fly(program, "ends")
        self.assertRegex(self.files()[0], r"^a_b_\.__-\d+\.flight$")


class Files(Case):
    def start(self, **settings):
        """A program that keeps running, and writes."""
        shared = self.path(f"shared{len(self.files())}")
        process = subprocess.Popen([TARGET, shared, "1", "0", "0", "0"], env=environment(self.flights, **settings))
        self.addCleanup(lambda: (process.kill(), process.wait()))
        while not self.has_begun(shared):
            self.assertIsNone(process.poll())
            time.sleep(0.002)
        return process

    @staticmethod
    def has_begun(shared):
        try:
            with open(shared, "rb") as f:
                return any(f.read(8))
        except FileNotFoundError:
            return False

    def test_keep(self):
        first = self.start(HODO_FLIGHT_KEEP=2)
        alive = self.files()[0]
        os.utime(os.path.join(self.flights, alive), (1, 1))
        for i in range(5):
            before = self.files()
            self.fly(LIFE, "ends", HODO_FLIGHT_KEEP=2)
            newest, = set(self.files()) - set(before)
            os.utime(os.path.join(self.flights, newest), (1000 + i, 1000 + i))
        # Files of two dead processes, kept at the last start, and the newest; the living one's stays, although older.
        self.assertEqual(len(self.files()), 4)
        self.assertIn(alive, self.files())
        times = sorted(int(os.stat(os.path.join(self.flights, n)).st_mtime) for n in self.files() if n != alive)
        self.assertEqual(times, [1002, 1003, 1004])
        first.kill()
        first.wait()
        os.utime(os.path.join(self.flights, alive), (1, 1))
        self.fly(LIFE, "ends", HODO_FLIGHT_KEEP=2)
        self.assertNotIn(alive, self.files())

    def test_what_is_not_ours_is_not_removed(self):
        other = os.path.join(self.flights, "notes.flight.txt")
        pathlike = os.path.join(self.flights, "directory.flight")
        os.mkdir(pathlike)
        with open(other, "w", encoding="ascii") as f:
            f.write("mine")
        for _ in range(3):
            self.fly(LIFE, "ends", HODO_FLIGHT_KEEP=0)
        self.assertTrue(os.path.exists(other) and os.path.exists(pathlike))
        self.assertEqual(len([n for n in self.files() if n.startswith("life")]), 1)

    def put(self, name, head, uid=None):
        path = os.path.join(self.flights, name)
        with open(path, "wb") as f:
            f.write(head)
            f.truncate(1 << 16)
        os.utime(path, (1, 1))
        if uid is not None:
            os.chown(path, uid, uid)
        return path

    def test_foreign_files_of_that_suffix_stay(self):
        """The user's texts, and other users' recordings in a shared directory: they stay, and no limit counts them."""
        foreign = [self.put(f"{i}.flight", b"a text of the user's\n") for i in range(70)]
        if os.geteuid() == 0:
            foreign += [self.put(f"other-{i}.flight", b"HODOSHM\0", 65534) for i in range(70)]
        half = self.put("killed-1.flight", b"HODONEW\0")
        self.fly(LIFE, "ends", HODO_FLIGHT_KEEP=1)
        self.fly(LIFE, "ends", HODO_FLIGHT_KEEP=1)
        self.assertEqual([path for path in foreign if not os.path.exists(path)], [])
        self.assertFalse(os.path.exists(half))  # from a process that was killed before it had anything to keep
        self.assertEqual(len([n for n in self.files() if n.startswith("life")]), 2)

    def test_many_at_once(self):
        """Processes that make and remove files at the same time: each has a whole file."""
        for _ in range(3):
            procs = [subprocess.Popen([LIFE, "ends"], env=environment(self.flights, HODO_FLIGHT_KEEP=1))
                     for _ in range(12)]
            for p in procs:
                self.assertEqual(p.wait(timeout=LIMIT_S), 0)
        self.recover()
        for name in self.files():
            out = self.path(f"one-{name}")
            self.recover(os.path.join(self.flights, name), out=out)
            self.assertEqual(len(self.events(out)), 6)

    def test_living_process(self):
        process = self.start(HODO_FLIGHT_SIZE="256K")
        before = os.stat(os.path.join(self.flights, self.files()[0])).st_size
        done = self.recover()
        self.assertIn("is still running", done.stderr)
        self.assertGreater(len(self.events()), 100)
        self.assertIsNone(process.poll())
        self.assertEqual(os.stat(os.path.join(self.flights, self.files()[0])).st_size, before)

    def test_half_made_file(self):
        """Killed after the file was made and before it had contents."""
        for size in (0, 100, 1 << 20):
            name = os.path.join(self.flights, f"x-{size}.flight")
            with open(name, "wb") as f:
                f.write(b"HODONEW\0" if size == 100 else b"")
                f.truncate(size)
            done = self.recover(name, expect=1)
            self.assertRegex(done.stderr, r"^hodo: .*it is empty.*\n$")

    def test_other_files_are_refused(self):
        for path, why in (("/dev/null", "neither a directory nor"), (HODO, "not a flight recorder's file"),
                          ("/nonexistent", "No such file"), (self.flights, "neither flight recorder files nor a recording")):
            done = self.recover(path, expect=1)
            self.assertRegex(done.stderr, r"^hodo: [^\n]*\n$")
            self.assertIn(why, done.stderr)
            self.assertFalse(os.path.exists(self.out))
        self.assertEqual(hodo("recover").returncode, 2)
        self.assertEqual(hodo("recover", "--no-such-option").returncode, 2)

    def test_default_directory(self):
        self.fly(LIFE, "ends")
        for _ in range(2):
            done = hodo("recover", self.flights, cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.events(self.path("hodo.data"))), 6)
        self.assertEqual(len(self.events(self.path("hodo.data.old"))), 6)

    def test_earlier_recording_stays_if_there_is_nothing(self):
        self.fly(LIFE, "ends")
        self.recover()
        name = os.path.join(self.flights, "x-1.flight")
        open(name, "wb").close()
        self.recover(name, expect=1)
        self.assertEqual(len(self.events(self.out if os.path.exists(self.out) else self.out + ".old")), 6)


class Clock(Case):
    FIRST, LAST, BOOT = 2048 + 432, 2048 + 456, 2048 + 392

    def make(self):
        begin = time.time_ns()
        self.fly(LIFE, "fork")
        self.span = begin, time.time_ns()
        return [os.path.join(self.flights, name) for name in self.files()]

    def patch(self, path, at, data):
        with open(path, "r+b") as f:
            f.seek(at)
            f.write(data)

    def check(self, slack_ns):
        self.recover()
        stamps = [e["ts"] for e in self.events()]
        self.assertTrue(all(self.span[0] - slack_ns <= ts <= self.span[1] + slack_ns for ts in stamps),
                        (self.span, stamps))

    def test_this_boot(self):
        self.make()
        self.check(1000000)

    def test_another_boot(self):
        for path in self.make():
            self.patch(path, self.BOOT, b"00000000-0000-0000-0000-000000000000")
        self.check(1000000)

    def test_one_moment_only(self):
        for path in self.make():
            self.patch(path, self.BOOT, b"00000000-0000-0000-0000-000000000000")
            self.patch(path, self.LAST, bytes(2 * 24))
        self.check(1000000)

    def test_of_another_machine(self):
        for path in self.make():
            self.patch(path, self.BOOT, b"00000000-0000-0000-0000-000000000000")
            self.patch(path, self.BOOT - 64, b"elsewhere\0")
        done = self.recover()
        with open(self.files and os.path.join(self.flights, self.files()[0]), "rb") as f:
            f.seek(2048 + 20)
            tsc = struct.unpack("I", f.read(4))[0] == 1
        if tsc:
            self.assertIn("approximate", done.stderr)
        self.events()


class Refused(Case):
    """Without a file, the program is silent, and hodo doctor says why, before it starts and while it runs."""

    def doctor(self, *pid, preexec_fn=None, **settings):
        """What hodo doctor says of flight recorders: the state, and the text with the hint."""
        done = run(HODO, "doctor", "--json", *pid, env=environment(self.flights, **settings), cwd=self.dir,
                   preexec_fn=preexec_fn)
        found = [c for c in json.loads(done.stdout)["checks"] if c["name"] == "flight"]
        self.assertEqual(len(found), 1, done.stdout)
        return found[0]["state"], f"{found[0]['text']}: {found[0]['hint']}"

    def check_known(self, words, preexec_fn=None, **settings):
        """Before the program starts, and while it runs."""
        state, text = self.doctor(preexec_fn=preexec_fn, **settings)
        self.assertEqual((state, words in text), ("warn", True), text)
        state, text = self.doctor(self.started(FOREVER, "forever", 0, "up", preexec_fn=preexec_fn, **settings))
        self.assertEqual((state, words in text), ("bad", True), text)

    def started(self, *command, preexec_fn=None, **settings):
        """The process ID of such a program, once it runs."""
        process = self.start(*command, env=environment(self.flights, **settings), cwd=self.dir, preexec_fn=preexec_fn)
        if command[0] == FOREVER:
            wait_for("the program", lambda: os.path.exists(self.path("up")))
            os.remove(self.path("up"))
        return process.pid

    def test_reasons(self):
        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        self.check_known("nowhere: there is no such directory: create it", HODO_FLIGHT=self.path("nowhere"))
        self.check_known("Not a directory", HODO_FLIGHT=LIFE)
        self.check_known("ulimit -f is too low for a file of", preexec_fn=small)
        self.check_known("give events as for -e", HODO_FLIGHT_EVENTS="a b,,")

    def test_reason_full(self):
        self.check_known("no room for a file of", HODO_FLIGHT=self.disk("1M"))

    def test_no_reason(self):
        found = self.doctor(self.started(FOREVER, "forever", 0, "up"))
        self.assertEqual(found, ("ok", f"{self.flights}/{self.files()[0]}: None"))
        other = self.started("sleep", 1000)
        wait_for("libhodo", lambda: "libhodo" in pathlib.Path(f"/proc/{other}/maps").read_text(encoding="utf-8"))
        state, text = self.doctor(other)
        self.assertEqual((state, "no file in" in text), ("warn", True), text)
        self.assertEqual(run(HODO, "doctor", 0).returncode, 2)
        self.assertEqual(run(HODO, "doctor", 2**22 + 1).returncode, 1)

    def check_silent(self, **kwargs):
        done = self.fly(LIFE, "ends", **kwargs)
        plain = subprocess.run([LIFE, "ends"], capture_output=True, text=True, check=True)
        self.assertEqual((done.stdout, done.stderr), (plain.stdout, plain.stderr))

    def test_no_directory(self):
        self.check_silent(HODO_FLIGHT=self.path("nowhere"))
        self.check_silent(HODO_FLIGHT=LIFE)
        self.check_silent(HODO_FLIGHT="x" * 5000)

    def test_file_size_limit(self):
        self.check_silent(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
        self.assertEqual(self.files(), [])

    def test_bad_settings(self):
        self.check_silent(HODO_FLIGHT_EVENTS="a b,,")
        self.assertEqual(self.files(), [])
        self.check_silent(HODO_FLIGHT_SIZE="many", HODO_FLIGHT_KEEP="x")
        self.assertEqual(len(self.files()), 1)  # the defaults

    def test_full_disk(self):
        """No room for the file, or just enough: SIGBUS never ends the program."""
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNS) != 0:
            self.skipTest("no mount namespace may be made here")
        libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None)  # MS_REC | MS_PRIVATE
        for size in ("1M", "12M", "40M"):
            if libc.mount(b"tmpfs", self.flights.encode(), b"tmpfs", 0, f"size={size}".encode()) != 0:
                self.skipTest("no file system may be mounted here")
            try:
                self.fly(TARGET, self.path("shared"), 2, 200000, 0, 1)
                self.assertEqual(len(self.files()), 1 if size == "40M" else 0)
                if self.files():
                    with open(os.path.join(self.flights, "fill"), "wb") as f:
                        try:
                            while True:
                                f.write(bytes(1 << 20))
                                f.flush()
                        except OSError:
                            pass
                    self.recover()
            finally:
                libc.umount2(self.flights.encode(), 2)

    def test_room_is_taken(self):
        """The file has no holes: writing to a missing page on a full disk would raise SIGBUS."""
        self.fly(LIFE, "ends")
        st = os.stat(os.path.join(self.flights, self.files()[0]))
        self.assertGreaterEqual(st.st_blocks * 512, st.st_size)

    def test_where_fallocate_is_refused(self):
        """As on file systems that do not support fallocate()."""
        deny = ("import ctypes,os,struct,sys\n"
                "libc=ctypes.CDLL(None)\n"
                "f=struct.pack('HBBI'*4,0x20,0,0,0, 0x15,0,1,285, 6,0,0,0x5005f, 6,0,0,0x7fff0000)\n"
                "b=ctypes.create_string_buffer(f)\n"
                "p=struct.pack('HxxxxxxP',4,ctypes.addressof(b))\n"
                "libc.prctl(38,1,0,0,0)\n"
                "assert libc.prctl(22,2,ctypes.c_char_p(p))==0\n"
                "os.execv(sys.argv[1],sys.argv[1:])\n")
        if os.uname().machine != "x86_64":
            self.skipTest("the filter is for x86-64")
        self.fly("python3", "-c", deny, LIFE, "ends")
        name = os.path.join(self.flights, self.files()[0])
        self.assertGreaterEqual(os.stat(name).st_blocks * 512, os.stat(name).st_size)
        self.recover()
        self.assertEqual(len(self.events()), 6)

    def test_set_user_id(self):
        """What a set-user-ID program does is hidden from the user who started it."""
        if os.geteuid() != 0:
            self.skipTest("needs root, to give a program away")
        os.chmod(self.dir, 0o777)
        os.chmod(self.flights, 0o777)
        program = self.path("kv")
        source = "#include <hodo/trace.h>\nint main(void) { HODO_EVENT(kv, put, (int)1); return 0; }\n"
        include = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../include")
        library = os.path.dirname(LIBHODO)
        done = subprocess.run(["cc", "-x", "c", f"-I{include}", "-o", program, "-", "-x", "none", "-Wl,--no-as-needed",
                               LIBHODO, f"-Wl,-rpath,{library}"], input=source, text=True, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

        def give_up():
            os.setgid(65534)
            os.setuid(65534)
        env = {"HODO_FLIGHT": self.flights}
        if subprocess.run([program], env=env, preexec_fn=give_up, check=False, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("another user cannot run what is built here")
        self.assertEqual(len(self.files()), 1)
        os.chmod(program, 0o4755)
        subprocess.run([program], env=env, preexec_fn=give_up, check=True)
        self.assertEqual(len(self.files()), 1)


main()
