#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo record --to ssh://…, through a real sshd on loopback with keys of its own."""
import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.parse

from hodo_test import children, main, run, skip, wait_for
from sending import Case

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")
HOSTILE = "a 'b\" $(touch x) `touch y` ;*?\\n%41 -rf"

# A connection that is cut after so many bytes to the server, once.
CUT = """
import os, select, socket, sys
host, port, most, mark = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
server, left = socket.create_connection((host, port)), None if os.path.exists(mark) else most
while True:
    for fd in select.select([0, server], [], [])[0]:
        if fd == 0:
            data = os.read(0, 4096)
            if left is not None:
                left -= len(data)
                if left < 0:
                    open(mark, "x").close()
                    sys.exit(1)
            if not data:
                sys.exit(0)
            server.sendall(data)
        else:
            data = server.recv(65536)
            if not data:
                sys.exit(0)
            os.write(1, data)
"""


class Ssh(Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        for key in ("host", "user", "other"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(key), status=0)
        shutil.copy(self.path("user.pub"), self.path("authorized"))
        self.serve()
        self.client()

    def serve(self):
        """An sshd on a free port; if somebody takes that first, on another one."""
        def answers():
            if self.sshd.poll() is not None:
                return True
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", self.port)) == 0
        for _ in range(10):
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                self.port = s.getsockname()[1]
            pathlib.Path(self.path("sshd.conf")).write_text(
                f"ListenAddress 127.0.0.1:{self.port}\nHostKey {self.path('host')}\nPidFile none\nUsePAM no\n"
                f"AuthorizedKeysFile {self.path('authorized')}\nStrictModes no\nPasswordAuthentication no\n"
                "KbdInteractiveAuthentication no\nMaxStartups 100\n", encoding="utf-8")
            self.sshd = self.start(SSHD, "-D", "-e", "-f", self.path("sshd.conf"), stderr=subprocess.DEVNULL)
            wait_for("sshd", answers)
            if self.sshd.poll() is None:
                return
        self.fail("sshd does not start")

    def client(self, identity="user", key="host", proxy=None):
        """What ssh finds in its configuration: which is not in HOME, so that is given by a program in PATH."""
        known = pathlib.Path(self.path(key + ".pub")).read_text(encoding="utf-8")
        pathlib.Path(self.path("known")).write_text(f"[127.0.0.1]:{self.port} {known}", encoding="utf-8")
        pathlib.Path(self.path("ssh.conf")).write_text(
            f"IdentityFile {self.path(identity)}\nIdentitiesOnly yes\nIdentityAgent none\n"
            f"UserKnownHostsFile {self.path('known')}\nGlobalKnownHostsFile none\nStrictHostKeyChecking yes\n"
            + (f"ProxyCommand {proxy}\n" if proxy else ""), encoding="utf-8")
        os.makedirs(self.path("bin"), exist_ok=True)
        wrapper = pathlib.Path(self.path("bin", "ssh"))
        wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.path("ssh.conf")} "$@"\n', encoding="utf-8")
        wrapper.chmod(0o755)
        self.env["PATH"] = self.path("bin") + os.pathsep + os.environ["PATH"]

    def url(self, directory=None, port=None):
        user = pwd.getpwuid(os.geteuid()).pw_name
        return f"ssh://{user}@127.0.0.1:{port or self.port}{urllib.parse.quote(directory or self.target)}"

    def said(self, done_or_text):
        """What is said of the target, without its name."""
        return re.findall(r"hodo: ssh://\S+: (.*)", done_or_text)


class Sent(Ssh):
    def test_arrives(self):
        self.target = self.path(HOSTILE)
        recorder = self.begin(to=self.url())
        self.ticks(recorder, 5000)
        self.arrived()
        self.ticks(recorder, 5000)
        done = self.finish(recorder)
        self.assertEqual(self.said(done.stderr), [])
        self.check_all()
        self.check_gone()
        self.assertFalse({"x", "y"} & set(os.listdir(self.dir)))

    def test_prunes_there(self):
        recorder = self.begin("--keep-size", "250K", to=self.url())
        self.ticks(recorder, 40000)
        done = self.finish(recorder)
        sent = done.number(r"hodo: (\d+) parts, .* sent to")
        self.assertLess(len(self.parts()), sent)
        self.assertLessEqual(sum(p.stat().st_size for p in self.parts()), 250 << 10)
        self.assertEqual(self.parts()[-1].name, f"part-{sent:08}.hodo")

    def test_by_hand_twice(self):
        self.hodo("record", "-q", "-o", "a", "--", os.environ["TICKS"], input="3000\n", status=0)
        for first, there in ((1, 0), (0, 1)):
            done = self.hodo("send", "a", "--to", self.url())
            self.assertRegex(done.stderr, rf"\Ahodo: {first} parts?, .* sent to ssh.*; {there} (was|were) there already\n\Z")
        self.assertEqual(self.serials(self.parts()[0].parent), list(range(3000)))


class Cut(Ssh):
    def test_in_the_middle(self):
        pathlib.Path(self.path("cut.py")).write_text(CUT, encoding="utf-8")
        self.client(proxy=f"{sys.executable} {self.path('cut.py')} %h %p 100000 {self.path('mark')}")
        recorder = self.begin(to=self.url(), rotate="1M")
        self.ticks(recorder, 60000)
        wait_for("the cut", lambda: os.path.exists(self.path("mark")))
        wait_for("a message", lambda: self.said(recorder.said()))
        self.ticks(recorder, 1000)
        done = self.finish(recorder)
        self.check_all()
        self.check_gone()
        said = self.said(done.stderr)
        self.assertEqual(len(said), 2, said)
        self.assertIn("parts wait in", said[0])
        self.assertEqual(said[1], "takes parts again")

    def test_what_arrived_is_not_whole(self):
        """While the link is down, only the file with the other name shows that something came."""
        pathlib.Path(self.path("cut.py")).write_text(CUT, encoding="utf-8")
        self.client(proxy=f"{sys.executable} {self.path('cut.py')} %h %p 100000 {self.path('mark')}")
        self.hodo("record", "-q", "-o", "a", "-m", "4M", "--", os.environ["TICKS"], input="60000\n", status=0)
        done = self.hodo("send", "a", "--to", self.url())
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Ahodo: ssh://[^\n]*: nothing was sent: mend that, and give the same command again\n\Z")
        self.assertEqual(self.parts(), [])
        half = wait_for("what came", lambda: list(pathlib.Path(self.target).glob("*/*/*.part")))
        self.assertEqual(len(half), 1)
        done = self.hodo("send", "a", "--to", self.url(), status=0)
        self.assertEqual(self.serials(self.parts()[0]), list(range(60000)))
        self.assertFalse(half[0].exists())

    def test_session_is_killed(self):
        """As when the other side is switched off: sshd ends, and its processes for connections that there are."""
        recorder = self.begin(to=self.url())
        self.ticks(recorder, 5000)
        self.arrived()
        sessions = children(self.sshd.pid)
        self.sshd.kill()
        self.sshd.wait()
        for pid in sessions:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

        def said_after_more():
            self.ticks(recorder, 3000)
            return self.said(recorder.said())
        wait_for("a message", said_after_more, every_s=0.2)
        self.serve_again()
        self.ticks(recorder, 5000)
        done = self.finish(recorder)
        self.check_all()
        self.assertEqual(self.said(done.stderr)[-1], "takes parts again")

    def serve_again(self):
        self.sshd = self.start(SSHD, "-D", "-e", "-f", self.path("sshd.conf"), stderr=subprocess.DEVNULL)


class Refused(Ssh):
    def check(self, words, to=None):
        """One line says why, nothing is lost, and the command that it names goes on when that is fixed."""
        recorder = self.begin(to=to or self.url())
        self.ticks(recorder, 5000)
        wait_for("a message", lambda: self.said(recorder.said()))
        done = self.give_up(recorder)
        said = self.said(done.stderr)
        self.assertEqual(len(said), 1, said)
        self.assertIn(words, said[0])
        self.assertIn(f"parts wait in {self.data}.unsent, and are sent once that works", said[0])
        self.client()
        command = re.search(r"unsent: '(hodo send \S+ --to) ssh", done.stderr)[1]
        self.assertEqual(command, f"hodo send {self.data}.unsent --to")
        self.hodo(*command.split()[1:], self.url(), status=0)
        self.check_all()
        self.check_gone()

    def test_host_has_another_key(self):
        self.client(key="other")
        self.check("Host key verification failed.")

    def test_user_has_another_key(self):
        self.client(identity="other")
        self.check("Permission denied (publickey)")

    def test_nobody_listens(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))  # bound, so that nobody else listens there
            self.check("Connection refused", to=self.url(port=s.getsockname()[1]))

    def test_directory_cannot_be_made(self):
        pathlib.Path(self.target).touch()
        recorder = self.begin(to=self.url(self.target + "/below"))
        self.ticks(recorder, 5000)
        wait_for("a message", lambda: self.said(recorder.said()))
        done = self.give_up(recorder)
        self.assertIn("Not a directory", self.said(done.stderr)[0])
        self.assertEqual(len(self.said(done.stderr)), 1)


if not SSHD or not shutil.which("ssh"):
    skip("no sshd: scripts/deps servers")
main()
