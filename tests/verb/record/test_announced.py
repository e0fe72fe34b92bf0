# SPDX-License-Identifier: MIT
"""The table in which a process announces images may say anything: the recorder goes on, reads no file that the process
itself could not read, and still counts what other processes announce."""
import ctypes
import os
import shutil
import struct
import sys

import place
from hodo_test import Case, main, program

FAKE, IMAGES, TARGET = program("FAKE"), program("IMAGES"), program("TARGET")
NOBODY = 65534
IN_OPEN, IN_ALL = 0x20, 0xfff
TOO_MANY = "or fewer: more programs ran at once than can be followed"
libc = ctypes.CDLL(None, use_errno=True)


def missing(path):
    return f"libhodo was not loaded in {'...' + path[-60:] if len(path) > 60 else path}, or did not reach the recorder"


class Opened:
    """Tells whether anybody opens a file meanwhile."""

    def __init__(self, path):
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert self.fd >= 0 and libc.inotify_add_watch(self.fd, os.fsencode(path), IN_ALL) >= 0, path

    def done(self):
        try:
            events = os.read(self.fd, 65536)
        except BlockingIOError:
            events = b""
        os.close(self.fd)
        found = 0
        while events:
            _, mask, _, size = struct.unpack_from("iIII", events)
            found |= mask
            events = events[16 + size:]
        return bool(found & IN_OPEN)


class Files(Case):
    def setUp(self):
        super().setUp()
        self.static = shutil.copy(program("NOTHING"), self.path("nothing"))

    def reasons(self):
        return {r["why"]: r["images"] for r in self.info().get("unrecorded", [])}

    def announced(self, *command, events=None, **how):
        done = self.record("--clock", "monotonic", "-m", "64K", *command, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("fake:", done.stderr)
        if events is not None:
            self.assertEqual(done.events()[0], events, done.stderr)
        for line in done.lines():
            self.assertTrue(line.isprintable(), line)
        return done

    def path_says(self, path, *how):
        """What hodo says of a path that a process announces."""
        self.announced(*how or (FAKE, "images-path"), path)
        (why, images), = self.reasons().items()
        self.assertEqual(images, 1)
        return why


class Announced(Files):
    def test_garbage(self):
        """The process runs beside programs whose images are known."""
        for how in ("images-garbage 0", "images-garbage 256", "images-garbage 7", "images-changing"):
            with self.subTest(how):
                script = f"{FAKE} {how} & {IMAGES} each {self.static} && {TARGET} count 3000; wait $!"
                done = self.announced("sh", "-c", script, events=3001)
                self.assertEqual(self.reasons().get(f"{self.static} is static"), 9, done.stderr)
                if "garbage" in how:
                    self.assertIn("]: its count of started programs cannot be true", done.stderr)
                    self.assertNotIn(TOO_MANY, self.reasons())

    def test_more_than_it_started(self):
        for number in (1000, 2**32 - 1):
            done = self.announced(FAKE, "images-lost", number)
            self.assertEqual("cannot be true" in done.stderr, number > 1000)
            self.assertEqual(self.reasons().get(TOO_MANY, 0), number if number == 1000 else 0)

    def test_processes_of_others(self):
        """A process that is recorded, process 1, and the recorder are not counted as missing."""
        self.announced("sh", "-c", f"{FAKE} images-pid $$; {TARGET} count 10", events=10)
        self.assertEqual(self.reasons(), {})

    def test_connects_without_the_key(self):
        """Such a connection is not an image of the recording: it does not count as the image that was announced."""
        connect = ("import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
                   "s.connect('\\0hodo-record-' + sys.argv[1][-49:-33]); s.send(b'x'); s.recv(1)")
        python = os.path.realpath(sys.executable)
        self.announced("sh", "-c", f'exec env -i {python} -c "{connect}" "$HODO_RECORDER"')
        self.assertEqual(self.reasons(), {missing(python): 1, "it does not have the recording's key: it may be another user's": 1})

    def test_very_many(self):
        """Each is counted, with its path while there is room for reasons; so are other processes' images."""
        for n, examined in ((8000, True), (20000, False)):  # COUNTED_AT_END_MAX: files examined at the end
            script = f"{FAKE} images-many {n} & {IMAGES} each {self.static}; wait $!"
            self.announced("sh", "-c", script, events=1)
            reasons = self.reasons()
            self.assertEqual(sum(reasons.values()), n + 9)
            self.assertLessEqual(len(reasons), 10)
            if examined:
                self.assertEqual(reasons[f"{self.static} is static"], 9)

    def test_what_is_no_program(self):
        """The recorder neither opens them nor waits for them."""
        os.mkfifo(self.path("fifo"), 0o777)
        os.symlink("loop", self.path("loop"))
        os.mkdir(self.path("folder"))
        data = shutil.copy(self.static, self.path("data"))
        os.chmod(data, 0o600)
        for path in (self.path("fifo"), self.path("folder"), data):
            with self.subTest(path):
                watch = Opened(path)
                self.assertEqual(self.path_says(path), missing(path))
                self.assertFalse(watch.done())
        for path in (self.path("loop"), "/dev/zero", "/dev/tty", "/proc/self/mem", "/proc/kmsg", "nothing/", "x" * 400,
                     "/" + "x" * 230, "../nothing", "./nothing"):
            with self.subTest(path):
                self.assertEqual(self.path_says(path), missing(path[:247]))

    def test_through_proc(self):
        """What /proc shows of the recorder is not what it shows of the process."""
        os.symlink(self.static, self.path("link"))
        # As if the link had been there for a while: the first one to follow a new link changes its time.
        os.utime(self.path("link"), (os.stat(self.static).st_mtime + 3600, 0), follow_symlinks=False)
        self.assertEqual(self.path_says(self.path("link")), f"{self.path('link')} is static")
        for path in (f"/proc/self/root{self.static}", f"/proc/self/cwd/{os.path.basename(self.static)}"):
            self.assertEqual(self.path_says(path), missing(path))

    def test_odd_files(self):
        """The recorder learns nothing from files that are damaged or lead elsewhere."""
        with open(self.static, "rb") as file:
            elf = file.read()
        for name, content in (("empty", b""), ("short", elf[:40]), ("cut", elf[:64]), ("script", b"#!"),
                              ("relative", b"#! nothing"), ("itself", b"#!" + os.fsencode(self.path("itself"))),
                              ("headers", elf[:32] + b"\xff" * 8 + elf[40:]),
                              ("many", elf[:56] + b"\xff\xff" + elf[58:]),
                              ("size", elf[:54] + b"\x00\x00" + elf[56:])):
            with self.subTest(name):
                with open(self.path(name), "wb") as file:
                    file.write(content)
                os.chmod(self.path(name), 0o755)
                self.assertEqual(self.path_says(self.path(name)), missing(self.path(name)))

    def test_a_file_system_that_does_not_answer(self):
        """A user's process may serve it: the recorder does not ask for the way to its files."""
        if place.no_mounts() or not os.path.exists("/dev/fuse"):
            self.skipTest(place.no_mounts() or "no /dev/fuse")
        stuck = self.path("stuck")
        os.mkdir(stuck)
        fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        self.addCleanup(os.close, fd)
        options = f"fd={fd},rootmode=100755,user_id=0,group_id=0".encode()
        # One whose root is an executable file: that much is known without asking.
        target = self.path("stuck-file")
        with open(target, "wb"):
            pass
        if libc.mount(b"hodo-test", os.fsencode(target), b"fuse", 0, options) < 0:
            self.skipTest(f"no such file system may be mounted ({os.strerror(ctypes.get_errno())})")
        self.addCleanup(libc.umount2, os.fsencode(target), 2)
        other = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        self.addCleanup(os.close, other)
        options = f"fd={other},rootmode=40755,user_id=0,group_id=0".encode()
        self.assertEqual(libc.mount(b"hodo-test", os.fsencode(stuck), b"fuse", 0, options), 0)
        self.addCleanup(libc.umount2, os.fsencode(stuck), 2)
        script = self.path("script")
        with open(script, "w", encoding="ascii") as file:
            file.write(f"#!{stuck}/interpreter\n")
        os.chmod(script, 0o755)
        for path in (target, f"{stuck}/program", script):
            self.assertEqual(self.path_says(path), missing(path))


class OthersAnnounce(Files):
    """Another user names files that root can read."""

    def setUp(self):
        if place.no_root():
            self.skipTest(place.no_root())
        super().setUp()
        self.folder = os.path.join(os.path.dirname(self.dir), "bin")
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o755)
        self.fake, self.mine, self.all = (self.copy(path, name) for path, name in
                                          ((FAKE, "fake"), (self.static, "mine"), (self.static, "all")))
        os.chmod(self.mine, 0o711)

    def copy(self, path, name):
        to = shutil.copy(path, os.path.join(self.folder, name))
        os.chmod(to, 0o755)
        return to

    def test_what_only_root_reads(self):
        drop = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", self.fake, "images-path")
        for how in (drop, (self.fake, "images-drop")):
            self.assertEqual(self.path_says(self.all, *how), f"{self.all} is static")
            for path in (self.mine, self.static):
                watch = Opened(path)
                self.assertEqual(self.path_says(path, *how), missing(path))
                self.assertFalse(watch.done())
        self.assertEqual(self.path_says(self.mine), f"{self.mine} is static")


main()
