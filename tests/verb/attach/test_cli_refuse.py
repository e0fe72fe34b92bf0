# SPDX-License-Identifier: MIT
"""Processes that are not what they seem, or belong to others: the commands refuse them, and say why.

HODO, TARGET (cli_target.c) and HODO_LIBRARY are in the environment.
"""
import array
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import unittest

import place
from cli import Case, LIBRARY, Recorder, TARGET, Target
from hodo_test import HODO, main, ok, run, skip, wait_for
from place import AS_NOBODY, NOBODY

MAGIC, VERSION, HELLO, CONTROL, ANSWER = 0x4f444f48, 3, 1, 4, 5
STATUS, RECORD, LIST, ENABLE = 1, 2, 3, 4
MEMORY = 8
RIGHTLESS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
ANSWER_LEN, CONTROL_LEN, EVENTS_MAX = 800, 1048, 65536


def answer(result=0, pid=0, by=0, recorder=0, events=0, listens=1, magic=MAGIC, version=VERSION, kind=ANSWER):
    head = struct.pack("<IHHiIIIII", magic, version, kind, result, pid, by, recorder, events, listens)
    return head + bytes(ANSWER_LEN - len(head))


class Fake:
    """This process, listening in place of libhodo; reply(op, connection) answers the requests."""

    def __init__(self, case, reply):
        self.path = os.path.join(case.env["XDG_RUNTIME_DIR"], "hodo", str(os.getpid()))
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        if os.path.exists(self.path):
            os.remove(self.path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.bind(self.path)
        self.socket.listen(8)
        self.reply = reply
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()
        case.addCleanup(self.end)

    def serve(self):
        while True:
            try:
                connection = self.socket.accept()[0]
            except OSError:
                return
            with connection:
                while True:
                    try:
                        m = connection.recv(4096)
                        if not m or self.reply(struct.unpack_from("<I", m, 8)[0], connection):
                            break
                    except OSError:
                        break

    def end(self):
        if os.path.exists(self.path):
            os.remove(self.path)
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()


def pass_descriptors(connection, message, *fds):
    connection.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])


class Hostile(Case):
    """The test is a listening process that gives any answers."""

    def setUp(self):
        super().setUp()
        self.me = os.getpid()

    def asked(self, reply, verb=("list",), env=None):
        fake = Fake(self, reply)
        done = self.hodo(*verb, self.me, *(["x:y"] if verb[0] == "enable" else []), env=env)
        fake.socket.shutdown(socket.SHUT_RDWR)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.lines()), 1, done.stderr)
        self.assertRegex(done.stderr, "^hodo: ")
        return done

    def test_answers(self):
        for message in (b"", b"x", answer()[:-1], answer() + b"x", bytes(65000), answer(magic=1), answer(version=1),
                        answer(kind=CONTROL), answer(result=-2**31), answer(result=-5000), answer(result=-1)):
            with self.subTest(len=len(message), head=message[:24]):
                self.asked(lambda op, c, m=message: c.send(m) == 0)

    def test_silence(self):
        done = self.asked(lambda op, c: False)
        self.assertIn("does not answer", done.stderr)

    def test_hangs_up(self):
        done = self.asked(lambda op, c: True)
        self.assertIn("ended the conversation", done.stderr)

    def test_descriptors(self):
        """Too many descriptors, none where one is due, one where none is."""
        null = os.open("/dev/null", os.O_RDONLY)
        self.addCleanup(os.close, null)
        for n in (2, 16, 100):
            self.asked(lambda op, c, n=n: pass_descriptors(c, answer(), *[null] * n))
        self.assertIn("sent no list", self.asked(lambda op, c: c.send(answer()) == 0).stderr)
        self.asked(lambda op, c: pass_descriptors(c, answer(result=1), null), ("enable",))

    def test_lists(self):
        """A file that does not hold events: too short, a pipe, a directory, a damaged catalogue."""
        read, write = os.pipe()
        directory = os.open("/", os.O_RDONLY)
        for fd in (read, write, directory):
            self.addCleanup(os.close, fd)
        fds = [read, directory]
        for content in (b"", bytes(100),
                        bytes(EVENTS_MAX) + struct.pack("<IHH", 2**31, 1, 1) + bytes(5000),
                        bytes(EVENTS_MAX) + struct.pack("<IHHBBHI", 24, 1, 1, 1, 200, 0, 0) + bytes(8)):
            fd = os.memfd_create("list")
            os.write(fd, content)
            self.addCleanup(os.close, fd)
            fds.append(fd)
        for fd in fds:
            with self.subTest(fd):
                self.asked(lambda op, c, fd=fd: pass_descriptors(c, answer(), fd))

    def test_list_of_a_huge_file(self):
        """The command reads no more than the longest possible list."""
        fd = os.memfd_create("list")
        self.addCleanup(os.close, fd)
        os.ftruncate(fd, 1 << 40)
        Fake(self, lambda op, c: pass_descriptors(c, answer(), fd))
        done = self.hodo("list", self.me)
        self.assertIn(done.returncode, (0, 1))

    def test_texts_without_end(self):
        message = answer(result=-16, by=2)[:-256] + b"\x1b[31m" + b"A" * 251
        done = self.asked(lambda op, c: c.send(message) == 0, ("record", "-p"))
        self.assertNotIn("\x1b", done.stderr)
        self.assertLess(len(done.stderr), 1500)

    def test_recording_that_never_begins(self):
        """The answer is 0, and then comes: nothing, nonsense, a hello and nothing."""
        hello = struct.pack("<IHHIIIIII", MAGIC, VERSION, HELLO, self.me, 1, 2, 3, 1, 0) + bytes(272)
        for what in (None, b"nonsense", hello, hello[:100]):
            with self.subTest(what):
                def reply(op, c, what=what):
                    c.send(answer())
                    if op == RECORD and what:
                        c.send(what)
                    return False
                fake = Fake(self, reply)
                done = Recorder(self, "-p", self.me).done()
                fake.socket.shutdown(socket.SHUT_RDWR)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, f"^hodo: process {self.me} is not recorded: it .*\n$")
                self.assertFalse(os.path.exists(self.path("trace")))


class Other(Case):
    """Other users' processes, and numbers that are not a program's process."""

    def test_kinds(self):
        self.assertLine(self.hodo("list", 2**31 - 1), "hodo: there is no process 2147483647: 'ps' lists those that you can see")

    def test_kernel_thread(self):
        try:
            with open("/proc/2/status", encoding="ascii") as f:
                kernel = "VmSize" not in f.read()
        except FileNotFoundError:
            kernel = False
        if not kernel:
            self.skipTest("process 2 is no thread of the kernel here")
        for args in (["list", 2], ["detach", 2], ["record", "-p", 2]):
            self.assertLine(self.hodo(*args),
                            "hodo: process 2 is a kernel thread, which has no events: give a program's process ID")

    def test_thread(self):
        t = Target(self)
        t("thread", "one")
        tid = next(int(n) for n in os.listdir(f"/proc/{t.pid}/task") if int(n) != t.pid)
        self.assertLine(self.hodo("list", tid), f"hodo: {tid} is a thread of process {t.pid}: give that one")

    def test_zombie(self):
        t = Target(self)
        t.process.kill()
        wait_for("the end", lambda: os.waitid(os.P_PID, t.pid, os.WEXITED | os.WNOWAIT))
        self.assertLine(self.hodo("list", t.pid), f"hodo: process {t.pid} has ended: give one that runs")

    @unittest.skipIf(place.no_nobody(HODO), place.no_nobody(HODO))
    def test_not_ours(self):
        t = Target(self)
        for args in (["list", t.pid], ["record", "-p", t.pid], ["enable", t.pid, "a:b"], ["detach", t.pid]):
            done = self.hodo(*args, prefix=AS_NOBODY)
            self.assertLine(done, f"hodo: process {t.pid} belongs to user root: run hodo as that user, or as root")
        self.assertEqual(self.status(t.pid)["recorded_by"], "nobody")

    @unittest.skipIf(place.no_nobody(TARGET, LIBRARY), place.no_nobody(TARGET, LIBRARY))
    def test_root_records_another_user(self):
        """Its children are recorded, though they cannot reach root's socket: they join in their user's directory."""
        os.chmod(self.dir, 0o755)
        t = Target(self, prefix=AS_NOBODY)
        self.assertIsNotNone(self.status(t.pid))
        r = self.record(t)
        joins = [n for n in os.listdir(f"/tmp/hodo-{NOBODY}") if n.startswith(f"join-{r.pid}.")]
        self.assertEqual(joins, [f"join-{r.pid}.sock"])
        info = os.stat(f"/tmp/hodo-{NOBODY}/{joins[0]}")
        self.assertEqual((info.st_uid, info.st_mode & 0o777), (NOBODY, 0o700))
        t("note", 2)
        child = t("fork")
        done = r.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        events = self.events()
        self.assertEqual(self.notes(events), [0, 1])
        self.assertEqual(len([e for e in events if e["pid"] == child]), 3)
        self.assertEqual({p["uid"] for p in self.info()["processes"]}, {NOBODY})
        self.assertFalse(os.path.exists(f"/tmp/hodo-{NOBODY}/{joins[0]}"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_root_without_rights(self):
        """Root in a container may not look at a process outside: the message does not say to become root."""
        if run(*RIGHTLESS, "true").returncode:
            self.skipTest("setpriv cannot give up rights here")
        process = self.start("sleep", 1000)
        done = run(*RIGHTLESS, HODO, "record", "--duration", "1s", "-p", process.pid, **self.how({}))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"^hodo: process {process.pid} may not be looked at, though you are root .*; "
                         r"start it with HODO_LISTEN=1\n$")

    @unittest.skipIf(place.no_nobody(TARGET, LIBRARY), place.no_nobody(TARGET, LIBRARY))
    def test_memory_is_for_the_recorders_user(self):
        """Where another user's children join root's recording, that user gets no memory of root's processes."""
        os.chmod(self.dir, 0o755)
        r = self.record([Target(self, prefix=AS_NOBODY), Target(self)], "--overwrite")
        ask = struct.pack("<IHHIIII", MAGIC, VERSION, CONTROL, MEMORY, 0, 0, 0).ljust(CONTROL_LEN, b"\0")
        program = ("import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
                   "s.connect(sys.argv[1]); s.send(bytes.fromhex(sys.argv[2]));"
                   "print([len(part) for part in socket.recv_fds(s, 4096, 4)[:2]])")
        for user, answered in ((AS_NOBODY, "[0, 0]"), (["env"], f"[{ANSWER_LEN}, 1]")):
            at = f"/tmp/hodo-{NOBODY}/join-{r.pid}.sock"
            done = run(*user, sys.executable, "-c", program, at, ask.hex(), status=0)
            self.assertEqual(done.stdout.strip(), answered)
        self.assertEqual(r.stop().returncode, 0)

    def barred(self, *namespace):
        """A link in the place of the other user's directory: nothing is made behind it. Returns target and recorder."""
        os.chmod(self.dir, 0o755)
        uid = 60000 + os.getpid() % 5000
        prefix = [*namespace, "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
        os.mkdir(self.path("home"))
        os.chown(self.path("home"), uid, uid)
        t = Target(self, prefix=prefix, env={"XDG_RUNTIME_DIR": self.path("home")})
        self.assertTrue(os.path.exists(self.path(f"home/hodo/{t.pid}")))
        os.mkdir(self.path("elsewhere"))
        shown = f"/tmp/hodo-{uid}"
        self.assertFalse(os.path.lexists(shown))
        os.symlink(self.path("elsewhere"), shown)
        self.addCleanup(os.remove, shown)
        r = self.record(t)
        self.assertEqual(os.listdir(self.path("elsewhere")), [])
        return t, r

    @unittest.skipIf(place.no_nobody(TARGET, LIBRARY), place.no_nobody(TARGET, LIBRARY))
    def test_the_way_is_barred(self):
        """Its children join at the abstract address."""
        t, r = self.barred()
        child = t("fork")
        done = r.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("not recorded", done.stderr)
        self.assertEqual([e["pid"] for e in self.events()], [child] * 3)
        self.assertEqual(os.listdir(self.path("elsewhere")), [])

    @unittest.skipIf(place.no_nobody(TARGET, LIBRARY), place.no_nobody(TARGET, LIBRARY))
    def test_the_way_is_barred_in_another_network(self):
        """There is no such address either; the message says so."""
        if run("unshare", "-n", "true").returncode != 0:
            self.skipTest("no network namespace can be made")
        t, r = self.barred("unshare", "-n")
        t("note", 2)
        t("fork")
        done = r.stop()
        self.assertRegex(done.stderr, r"what process \d+ forks is not recorded: it is in another network namespace")
        self.assertEqual(self.notes(self.events()), [0, 1])
        self.assertEqual(os.listdir(self.path("elsewhere")), [])

    def test_no_tmp_in_its_root(self):
        """A process calls chroot() to a folder without /tmp; its children are recorded."""
        if why := place.no_root():
            self.skipTest(why)
        t = Target(self)
        os.mkdir(self.path("root"))
        t("chroot", self.path("root"))
        r = self.record(t)
        child = t("fork")
        done = r.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("not recorded", done.stderr)
        self.assertEqual([e["pid"] for e in self.events()], [child] * 3)

    @unittest.skipIf(place.no_processes(), place.no_processes())
    def test_container(self):
        """A process in its own pid and mount namespaces, with another /tmp."""
        # The script copies its files first, since they may lie in the /tmp that it covers.
        script = (f"mount -t tmpfs tmpfs /mnt && cp {LIBRARY} /mnt/libhodo.so && cp {TARGET} /mnt/cli_target &&"
                  " mount --bind /mnt /tmp && cd / &&"
                  " exec env -u XDG_RUNTIME_DIR HODO_LISTEN=1 LD_PRELOAD=/tmp/libhodo.so /tmp/cli_target")
        unshare = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
        p = subprocess.Popen([*unshare, "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env=self.env)
        for f in (p.stdin, p.stdout, p.stderr):
            self.addCleanup(f.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        if p.stdout.readline() != "ready\n":
            self.skipTest("no namespaces here: " + p.stderr.read())
        with open(f"/proc/{p.pid}/task/{p.pid}/children", encoding="ascii") as f:
            pid = int(f.read().split()[0])
        r = Recorder(self, "-p", pid)
        wait_for("the recording", lambda: self.recorded(pid) or r.poll() is not None)
        for word in ("note 3", "fork"):
            p.stdin.write(word + "\n")
            p.stdin.flush()
            child = int(p.stdout.readline())
        done = r.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        events = self.events()
        self.assertEqual(self.notes(events), [0, 1, 2])
        self.assertEqual({(e["pid"], e["tid"]) for e in events}, {(1, 1), (child, child)})
        self.assertEqual(len(events), 6)


class Reuse(Case):
    """Sockets that do not belong to the process are never taken for its own."""

    def socket_of(self, pid):
        return os.path.join(self.env["XDG_RUNTIME_DIR"], "hodo", str(pid))

    def sleeper(self):
        p = subprocess.Popen(["sleep", "1000"], env=self.env)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p.pid

    def not_listening(self, pid):
        done = self.hodo("list", "-q", "--json", pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["listens"], False)

    def test_socket_left_over(self):
        os.makedirs(os.path.join(self.env["XDG_RUNTIME_DIR"], "hodo"), mode=0o700)
        pid = self.sleeper()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.bind(self.socket_of(pid))
        self.not_listening(pid)

    def test_sockets_left_over_are_removed(self):
        """The next recorder removes them, except those of living processes."""
        dead, alive = Target(self), Target(self)
        dead.process.kill()
        dead.process.wait()
        self.assertTrue(os.path.exists(self.socket_of(dead.pid)))
        self.record(alive).stop()
        self.assertEqual(os.listdir(os.path.join(self.env["XDG_RUNTIME_DIR"], "hodo")), [str(alive.pid)])

    def test_another_process_answers(self):
        t = Target(self)
        pid = self.sleeper()
        os.rename(self.socket_of(t.pid), self.socket_of(pid))
        self.not_listening(pid)
        done = self.hodo("detach", pid)
        self.assertLine(done, f"hodo: process {pid} is not being recorded, and does not listen:"
                        f" 'hodo record -p {pid}' does both")
        self.assertEqual(t("note", 1), 0)

    def test_what_is_no_socket(self):
        os.makedirs(os.path.join(self.env["XDG_RUNTIME_DIR"], "hodo"), mode=0o700)
        for make in (os.mkdir, os.mkfifo, lambda path: os.symlink("/dev/null", path),
                     lambda path: os.symlink(path, path)):
            pid = self.sleeper()
            make(self.socket_of(pid))
            done = self.hodo("list", "-q", pid)
            self.assertIn(done.returncode, (0, 1))
            self.assertLessEqual(len(done.lines()), 1)

    @unittest.skipIf(place.no_processes(), place.no_processes())
    def test_number_used_again(self):
        """The test runs in a pid namespace, where it can choose numbers; see inside()."""
        if not os.access("/proc/sys/kernel/ns_last_pid", os.W_OK):
            self.skipTest("numbers cannot be chosen here")
        done = run("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable, "-B",
                   os.path.abspath(__file__), "inside", os.path.dirname(self.dir), env={**os.environ, **self.env})
        if done.returncode == 77:
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def start_as(pid, *command):
    """Starts a process with that number."""
    for _ in range(100):
        with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as f:
            f.write(str(pid - 1))
        p = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        if p.pid == pid:
            return p
        p.kill()
        p.wait()
    return skip("the number could not be had again")


def listens(pid):
    return json.loads(ok("list", "-q", "--json", pid))["listens"]


def inside(directory):
    """Runs as the first process of its namespace."""
    env = dict(os.environ, HODO_LISTEN="1", LD_PRELOAD=LIBRARY)
    sockets = os.path.join(directory, "run", "hodo")
    with subprocess.Popen([TARGET], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as t:
        assert t.stdout.readline() == "ready\n" and listens(t.pid)
        t.kill()
    assert os.path.exists(os.path.join(sockets, str(t.pid)))
    again = start_as(t.pid, "sleep", "1000")
    assert not listens(again.pid), "a socket that was left over"
    again.kill()
    again.wait()
    os.remove(os.path.join(sockets, str(t.pid)))

    # A process whose child has the listening socket, and answers on it under the number of its dead parent.
    ready, signal_ready = os.pipe()
    first = os.fork()
    if first == 0:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.bind(os.path.join(sockets, str(os.getpid())))
        s.listen(8)
        if os.fork():
            os._exit(0)
        os.write(signal_ready, b".")
        while True:
            c = s.accept()[0]
            c.recv(4096)
            c.send(answer())
            c.close()
    os.waitpid(first, 0)
    os.read(ready, 1)
    again = start_as(first, "sleep", "1000")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(os.path.join(sockets, str(first)))
        pid = struct.unpack("iii", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        assert pid == first, "the forgery does not look like one"
        try:
            s.getsockopt(socket.SOL_SOCKET, 77, 4)
            known = True
        except OSError as e:
            known = e.errno != 92
    if known:
        assert not listens(again.pid), "a dead process's socket under a living one's number"
    again.kill()
    again.wait()


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "inside":
        inside(sys.argv[2])
        sys.exit(0)
    main()
