#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""memcached of Debian's source package, whose probes (with semaphores, by dtrace -h and -G) come from our <sys/sdt.h>:
its build makes warnings errors, it gives the same answers while it is recorded, and each command is an event.

Sources and objects are kept in $HODO_TEST_CACHE (~/.cache/hodo-test).
"""
import collections
import fcntl
import hashlib
import os
import pathlib
import shutil
import signal
import socket

from hodo_test import LIMIT_S, SOURCE, Case, main, run, skip, wait_for

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("HODO_TEST_CACHE") or pathlib.Path.home() / ".cache/hodo-test")
INCLUDE = SOURCE / "include"
ROUNDS = 200


def built():
    """The program; built again only if our headers have changed."""
    if not shutil.which("dtrace"):
        skip("no dtrace here: package systemtap-sdt-dev")
    if run("cc", "-E", "-", input="#include <event.h>\n").returncode:
        skip("no event.h here: package libevent-dev")
    fetched = run("bash", HERE / "source.sh", "memcached", CACHE)
    if fetched.returncode:
        skip(fetched.stderr.strip())
    headers = sorted(p for p in INCLUDE.rglob("*.h"))
    key = hashlib.sha256(b"\0".join(p.read_bytes() for p in headers) +
                         run("cc", "--version").stdout.encode()).hexdigest()[:16]
    folder = CACHE / "build" / f"memcached-{key}"
    with open(CACHE / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(fetched.stdout.strip(), folder, symlinks=True)
            how = {"cwd": folder, "status": 0, "timeout": 4 * LIMIT_S}
            run("./configure", "-q", "--enable-dtrace", "CFLAGS=-O2 -g", f"CPPFLAGS=-I{INCLUDE}/hodo/sdt -I{INCLUDE}", **how)
            run("make", "memcached_dtrace.h", **how)
            run("make", "-j2", "memcached", **how)
            (folder / "made").touch()
    return folder / "memcached"


def work(path):
    """Gives commands; returns how often each was given, and the answers."""
    given, answers = collections.Counter(), []
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        file = s.makefile("rb")

        def ask(line, until, *, data=b""):
            given[line.split()[0]] += 1
            s.sendall(line.encode() + b"\r\n" + data)
            answer = [file.readline()]
            while until and answer[-1] != until:
                answer.append(file.readline())
            answers.append(b"".join(answer))

        for n in range(ROUNDS):
            ask(f"set key{n} 0 0 5", None, data=b"%05d\r\n" % n)
            ask(f"get key{n}", b"END\r\n")
            ask(f"incr key{n} 3", None)
            if n % 4 == 0:
                ask(f"delete key{n}", None)
    return given, answers


class Memcached(Case):
    def serve(self, *command):
        """Starts memcached with the command, lets it work, ends it."""
        path = self.path("socket")
        process = self.start(*command, built(), "-u", "root", "-s", path, "-t", "2", "-U", "0", stderr=-1)
        wait_for("its socket", lambda: os.path.exists(path))
        wait_for("its answer", lambda: self.answers(path))
        done = work(path)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LIMIT_S)
        os.unlink(path)
        return done

    def answers(self, path):
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(path) == 0

    def test_recorded(self):
        given, plain = self.serve()
        again, answers = self.serve(os.environ["HODO"], "record", "-q", "-o", self.data, "-e", "memcached:*", "--")
        self.assertEqual((again, answers), (given, plain))
        found = collections.Counter()
        for event in self.stat()["events"]:
            found[event["name"].removeprefix("memcached:")] += event["count"]
        self.assertEqual({c: found["command__" + c] for c in given}, dict(given))
        self.assertEqual(found["process__command__start"], sum(given.values()))
        self.assertEqual(found["process__command__start"], found["process__command__end"])
        self.assertEqual(found["item__link"], given["set"])
        sets = [e["fields"] for e in self.events() if e["name"] == "memcached:command__set"]
        self.assertEqual([f["arg3"] for f in sets], [len(f"key{n}") for n in range(ROUNDS)])

    def test_notes(self):
        """As many notes as readelf sees, each with its semaphore."""
        text = run("readelf", "-nW", built(), status=0).stdout
        self.assertGreater(text.count("Provider: memcached"), 40)
        self.assertNotIn("Semaphore: 0x0000000000000000", text)


main()
