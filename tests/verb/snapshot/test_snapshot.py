#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_snapshot.py CLASS: the flight recorder, by hodo record, hodo snapshot and the program itself.

HODO, TARGET (target.c), CHECK (check.c) are in the environment."""

import contextlib
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

import hodo_test
from hodo_test import HODO, LIMIT_S, alive, children, main, program, run, wait_for

CHECK, TARGET = program("CHECK"), program("TARGET")


class Case(hodo_test.Case):
    def setUp(self):
        super().setUp()
        self.taken = 0

    def flight(self, *target, options=(), ready=True):
        """hodo record --overwrite of the target, running; and the target's pid."""
        mark = self.path(f"ready{len(os.listdir(self.dir))}")
        process = self.recorder("--overwrite", *options, "--", TARGET, *target, *([mark] if ready else []))
        if ready:
            wait_for(mark, lambda: os.path.exists(mark) or process.poll() is not None)
        pid = self.child(process.pid) if ready else None
        if pid:
            self.addCleanup(self.kill, os.pidfd_open(pid))
        return process, pid

    @staticmethod
    def kill(pidfd):
        """Ends a process that outlives a recorder which a failed test has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.close(pidfd)

    def child(self, pid):
        return wait_for("the command", lambda: children(pid))[0]

    def snapshot(self, pid, *options, expect=0):
        """Takes a snapshot; returns its directory, or hodo's messages if it failed as expected."""
        self.taken += 1
        out = self.path(f"taken{self.taken}")
        done = self.hodo("snapshot", "-o", out, *options, pid)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr if expect else out

    def check(self, path, how=""):
        """What check.c prints: events, overwritten, processes, threads."""
        said = run(CHECK, path, *([how] if how else []), status=0).stdout
        return {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", said)}

    def stop(self, process, pid):
        os.kill(pid, signal.SIGTERM)
        return process.done()

    def snapshots(self):
        return sorted(f for f in os.listdir(self.data) if f.startswith("snapshot-"))


class Speed(Case):
    """Writers on all CPUs at full speed, each pinned: no gap, and an exact count of the overwritten events."""

    def at(self, ring, packet, times, compare=False):
        process, pid = self.flight("flood", 2, options=["-m", ring, "--packet-size", packet])
        events = 0
        for i in range(times):
            out = self.snapshot(pid)
            events += self.check(out, "pinned")["events"]
            if compare and i == 0:
                self.check_trace(recording=out)
            shutil.rmtree(out)
        self.assertGreater(events, 0)
        result = self.stop(process, pid)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.check(self.data, "pinned")

    def test_small_packets(self):
        self.at("256K", "1K", 20, compare=True)

    def test_large_packets(self):
        self.at("256K", "64K", 20, compare=True)

    def test_small_ring(self):
        self.at("4K", "1K", 20, compare=True)

    def test_large_ring(self):
        self.at("16M", "64K", 5)
        self.at("16M", "1K", 3)

    def test_two_hundred(self):
        self.at("64K", "4K", 200)

    def test_wanderers(self):
        """Threads that change CPUs: none of their last events is missing, on any CPU."""
        process, pid = self.flight("wander", 3, options=["-m", "1M"])
        for _ in range(20):
            out = self.snapshot(pid)
            self.check(out, "wander")
            shutil.rmtree(out)
        self.assertEqual(self.stop(process, pid).returncode, 0)

    def test_two_at_once(self):
        process, pid = self.flight("flood", 2, options=["-m", "1M"])
        outs = [self.path(f"both{i}") for i in range(4)]
        runs = [self.start(HODO, "snapshot", "-q", "-o", out, pid) for out in outs]
        for taking, out in zip(runs, outs):
            self.assertEqual(taking.wait(timeout=LIMIT_S), 0)
            self.check(out, "pinned")
        self.assertEqual(self.stop(process, pid).returncode, 0)

    def test_killed_meanwhile(self):
        """Killed while a snapshot is taken: the snapshot is whole, or there is none, since the process had ended."""
        for i in range(10):
            process, pid = self.flight("flood", 2, options=["-m", "4M"])
            out = self.path(f"killed{i}")
            taking = self.start(HODO, "snapshot", "-o", out, pid, stderr=subprocess.PIPE)
            time.sleep(i * 0.005)
            os.kill(pid, signal.SIGKILL)
            _, err = taking.communicate(timeout=LIMIT_S)
            if taking.returncode == 0:
                self.check(out, "pinned")
            else:
                self.assertRegex(err, r"^hodo: .*process \d+")
                self.assertFalse(os.path.exists(out))
            process.done()
            self.check(self.data, "pinned")

    def test_family(self):
        """Processes that fork, exec and end while snapshots of all of them are made."""
        process, pid = self.flight("family", 0, options=["-m", "64K"])
        for _ in range(50):
            out = self.snapshot(process.pid)
            self.assertGreater(self.check(out, "wander")["processes"], 0)
            shutil.rmtree(out)
        self.assertEqual(self.stop(process, pid).returncode, 0)
        self.assertEqual(self.snapshots(), [])


class Ask(Case):
    """hodo_snapshot() in the program."""

    def test_each_request(self):
        result = self.record("--overwrite", "--", TARGET, "ask", 3, self.data)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.snapshots(), ["snapshot-0001", "snapshot-0002", "snapshot-0003"])
        self.assertRegex(result.stderr, r"hodo: 3 snapshots, 6 events, .* in \S*trace/snapshot-0001 to -0003\n")
        uuids = set()
        for i, name in enumerate(self.snapshots(), 1):
            path = os.path.join(self.data, name)
            self.assertEqual(len(self.check_trace(recording=path)), i)
            text = self.metadata(os.listdir(path)[0], path)
            self.assertRegex(text, rf"/\*@snapshot number={i} time=\d+\.\d{{9}} why=reason%20{i},%20%22%25%22\*/")
            uuids |= set(re.findall(r"/\*@hodo version=2 uuid=(\S+)", text))
            info = self.hodo("info", path)
            self.assertIn(f'snapshot {i}: reason {i}, "%"', info.stdout)
        folder = [f for f in os.listdir(self.data) if not f.startswith("snapshot-")]
        self.assertEqual(len(folder), 1)
        uuids |= set(re.findall(r"/\*@hodo version=2 uuid=(\S+)", self.metadata(folder[0])))
        self.assertEqual(len(uuids), 1)

    def test_clock(self):
        """All snapshots and the recording have the clock that was fitted at the end."""
        self.assertEqual(self.record("--overwrite", "--", TARGET, "ask", 2, self.data).returncode, 0)
        clocks = set()
        for top, _, files in os.walk(self.data):
            if "metadata" in files:
                clocks |= set(re.findall(r"/\*@clock .*\*/", self.metadata("", top)))
        self.assertEqual(len(clocks), 1)

    def test_last_words(self):
        """The process has ended before anybody can look."""
        result = self.record("--overwrite", "--", TARGET, "last", 100)
        self.assertEqual(self.snapshots(), ["snapshot-0001"])
        path = os.path.join(self.data, "snapshot-0001")
        self.assertEqual(len(self.check_trace(recording=path)), 100)
        self.assertRegex(result.stderr, r"1 snapshot, 100 events, .* in \S*trace/snapshot-0001\n")

    def test_only_snapshots(self):
        """With --on-crash, from a program that ends well."""
        result = self.record("--overwrite", "--on-crash", "--", TARGET, "ask", 2, self.data)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(os.listdir(self.data)), ["snapshot-0001", "snapshot-0002"])
        self.assertRegex(result.stderr, r"2 snapshots, 3 events")
        self.assertNotRegex(result.stderr, r"events? of \d+ process")

    def test_everything_kept(self):
        """Without a flight recorder, there is nothing to take a snapshot of: the program gets an error."""
        self.assertEqual(self.record("--", TARGET, "ask", 1, self.data).returncode, 3)

    def test_full_disk(self):
        """A snapshot that cannot be written leaves nothing, and the recording continues."""
        self.data = os.path.join(self.disk("64k"), "trace")
        result = self.record("--overwrite", "-m", "256K", "--", TARGET, "last", 20000)
        self.assertRegex(result.stderr, r"snapshot-0001: the snapshot cannot be written: No space left")
        self.assertEqual(self.snapshots(), [])


class Ending(Case):
    """--on-crash and --on-exit."""

    def nothing(self, result):
        self.assertFalse(os.path.exists(self.data))
        self.assertRegex(result.stderr, r"hodo: nothing was written: no signal killed a process.*: there is no \S*trace")
        self.assertNotRegex(result.stderr, r"events? of \d+ process")

    def test_crash(self):
        for sig in (signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGTERM + 1):
            result = self.record("--overwrite", "--on-crash", "--", TARGET, "signal", int(sig))
            self.assertEqual(result.returncode, -sig)
            self.assertEqual(len(self.check_trace(result)), 1000)

    def test_no_crash(self):
        for status in (0, 3):
            result = self.record("--overwrite", "--on-crash", "--", TARGET, "exit", status)
            self.assertEqual(result.returncode, status)
            self.nothing(result)
        done = self.hodo("print", self.data)
        self.assertNotEqual(done.returncode, 0)

    def test_quiet(self):
        result = self.record("-q", "--overwrite", "--on-crash", "--", TARGET, "exit", 0)
        self.assertEqual(result.stderr, "")
        self.assertFalse(os.path.exists(self.data))

    def test_thread(self):
        """Another thread crashes after the first one has ended."""
        result = self.record("--overwrite", "--on-crash", "--", TARGET, "thread")
        self.assertEqual(result.returncode, -signal.SIGABRT)
        self.assertEqual(len(self.check_trace(result)), 1000)

    def test_children(self):
        """Of two children and their parent, the one that crashes is written."""
        for _ in range(10):
            result = self.record("--overwrite", "--on-crash", "--", TARGET, "children")
            self.assertEqual(result.returncode, 0)
            events = self.check_trace(result)
            self.assertEqual([name for _, name, _ in events], ["snap:bad"])
            self.assertEqual(len(self.folders()), 1)

    def test_on_exit(self):
        result = self.record("--overwrite", "--on-exit", "--", TARGET, "exit", 3)
        self.assertEqual(result.returncode, 3)
        self.assertEqual(len(self.check_trace(result)), 1000)
        result = self.record("--overwrite", "--on-exit", "--", TARGET, "signal", 11)
        self.assertEqual(len(self.check_trace(result)), 1000)

    def test_stopped(self):
        """The recording ends and the process does not: that does not count as a crash."""
        process, pid = self.flight("wait", 0, options=["--on-crash", "--duration", "0.2"])
        wait_for("the end of the recording", lambda: "nothing was written" in process.said())
        self.assertTrue(alive(pid))
        self.nothing(self.stop(process, pid))

    def test_nothing_on_disk_before(self):
        process, pid = self.flight("wait", 0, options=["--on-crash"])
        self.assertEqual(os.listdir(self.data), [])
        out = self.snapshot(pid)
        self.assertEqual(self.check(out)["events"], 1000)
        self.assertEqual(os.listdir(self.data), [])
        os.kill(pid, signal.SIGSEGV)
        result = process.done()
        self.assertEqual(len(self.check_trace(result)), 1000)


class Command(Case):
    """hodo snapshot."""

    def test_process_and_recorder(self):
        process, pid = self.flight("wait", 0)
        out = self.snapshot(pid, "--why", "for the test */")
        self.assertEqual(len(self.check_trace(recording=out)), 1000)
        self.assertRegex(self.metadata(os.listdir(out)[0], out), r"/\*@snapshot number=0 .*why=for%20the%20test%20%2A/\*/")
        self.assertIn("snapshot: for the test */", self.hodo("info", out).stdout)
        out = self.snapshot(process.pid)
        self.assertEqual(self.check(out)["events"], 1000)
        done = self.hodo("snapshot", pid)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^hodo: 1,000 events of 1 process, \S+ \S+ in hodo.data\n$")
        done = self.hodo("snapshot", "-q", pid)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.check(self.path("hodo.data"))["events"], 1000)
        self.assertEqual(self.check(self.path("hodo.data.old"))["events"], 1000)
        result = self.stop(process, pid)
        self.assertEqual(len(self.check_trace(result)), 1000)

    def test_compressed(self):
        """The same events in zstd files; hodo unpack turns them into what is written without compression."""
        _, pid = self.flight("wait", 0)
        whole = self.check_trace(recording=self.snapshot(pid))
        for options in (("--compress",), ("--compress=19",)):
            out = self.snapshot(pid, *options)
            streams = [f for f in os.listdir(os.path.join(out, os.listdir(out)[0])) if f != "metadata"]
            self.assertTrue(streams and all(f.endswith(".zst") for f in streams), streams)
            self.assertEqual(self.check(out)["events"], 1000)
            self.assertEqual(self.hodo("unpack", "-q", "-o", out + ".plain", out).returncode, 0)
            found = self.check_trace(recording=out + ".plain")  # the clock is measured again
            self.assertEqual([e[1:] for e in found], [e[1:] for e in whole])
        self.fails(2, "--compress is a level from 1 (fast) to 19 (small)", "snapshot", "--compress=20", pid)

    def test_fallback(self):
        """Threads without restartable sequences."""
        env = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
        mark = self.path("ready")
        process = self.recorder("--overwrite", "-m", "64K", "--", TARGET, "flood", 1, mark, env=env)
        wait_for(mark, lambda: os.path.exists(mark))
        pid = self.child(process.pid)
        self.addCleanup(self.kill, os.pidfd_open(pid))
        for _ in range(10):
            self.check(self.snapshot(pid), "pinned")
        self.assertEqual(self.stop(process, pid).returncode, 0)

    def test_own_flight_recorder(self):
        """HODO_FLIGHT: without any recorder."""
        flight, mark = self.path("flight"), self.path("ready")
        os.mkdir(flight)
        for listen in ("1", "0"):
            target = self.start(TARGET, "flood", 2, mark,
                                env={"HODO_FLIGHT": flight, "HODO_FLIGHT_SIZE": "256K", "HODO_LISTEN": listen})
            wait_for(mark, lambda: os.path.exists(mark))
            for _ in range(5):
                self.check(self.snapshot(target.pid), "pinned")
            target.terminate()
            target.wait()
            os.unlink(mark)

    def test_attached(self):
        """A process recorded by -p: nothing in its environment names the recorder."""
        mark = self.path("ready")
        target = self.start(TARGET, "flood", 2, mark, env={"HODO_LISTEN": "1"})
        wait_for(mark, lambda: os.path.exists(mark))
        recorder = self.recorder("--overwrite", "-m", "256K", "-p", target.pid)
        wait_for("the recording", lambda: self.hodo("snapshot", "-q", "-o", self.path("first"),
                                                    target.pid).returncode == 0)
        for pid in (target.pid, recorder.pid, target.pid):
            self.check(self.snapshot(pid))
        target.terminate()
        self.assertEqual(recorder.done().returncode, 0)
        self.check(self.data)

    def test_output_in_the_way(self):
        process, pid = self.flight("wait", 0)
        os.mkdir(self.path("mine"))
        with open(self.path("mine/file"), "w", encoding="ascii"):
            pass
        done = self.hodo("snapshot", "-o", self.path("mine"), pid)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not a recording", done.stderr)
        self.assertEqual(os.listdir(self.path("mine")), ["file"])
        # The place where the recorder itself writes.
        done = self.hodo("snapshot", "-o", self.data, pid)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is being written", done.stderr)
        self.stop(process, pid)


class Refusals(Case):
    def test_wrong(self):
        for args, word in (([], "give a process ID"), (["x"], "x"), (["1", "2"], "one process at a time"),
                           (["--why", "x" * 80, "1"], "79 bytes"), (["-o", "", "1"], "-o needs")):
            done = self.hodo("snapshot", *args)
            self.assertEqual(done.returncode, 2, args)
            self.assertIn(word, done.stderr)
        for option in ("--on-crash", "--on-exit"):
            done = self.hodo("record", option, "true")
            self.assertEqual(done.returncode, 2)
            self.assertIn("add --overwrite", done.stderr)

    def test_not_recorded(self):
        self.assertRegex(self.snapshot(os.getpid(), expect=1), r"^hodo: process \d+ is not recorded: .*--overwrite")
        child = self.start("true")
        child.wait()
        self.assertRegex(self.snapshot(child.pid, expect=1), rf"^hodo: .*{child.pid}")

    def test_everything_kept(self):
        mark = self.path("ready")
        process = self.recorder("--", TARGET, "wait", 0, mark)
        wait_for(mark, lambda: os.path.exists(mark))
        pid = self.child(process.pid)
        self.addCleanup(self.kill, os.pidfd_open(pid))
        for who in (pid, process.pid):
            self.assertRegex(self.snapshot(who, expect=1), r"^hodo: the recording of process \d+ already holds every event: ")
        self.stop(process, pid)

    def test_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        process, pid = self.flight("wait", 0)
        os.chmod(self.dir, 0o755)
        done = self.hodo("snapshot", "-o", "/tmp/hodo-nobody-snapshot", pid, user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, rf"^hodo: process {pid} .*user")
        self.assertFalse(os.path.exists("/tmp/hodo-nobody-snapshot"))
        self.stop(process, pid)

    def ask(self, process, message):
        """What the recorder answers at its socket, and the descriptors that come with the answer."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(LIMIT_S)
            s.connect(os.path.join(self.env["XDG_RUNTIME_DIR"], "hodo", f"record-{process.pid}.sock"))
            s.send(message)
            try:
                answer, fds, _, _ = socket.recv_fds(s, 4096, 4)
            except ConnectionResetError:
                answer, fds = b"", []
        return answer, fds

    def test_messages(self):
        """Whatever clients ask at the recorder's socket, it continues; they cannot write to what it gives them."""
        process, pid = self.flight("wait", 0)
        head = struct.pack("<IHH", 0x4f444f48, 3, 4)
        good = head + struct.pack("<IIII", 8, pid, 0, 0) + bytes(1024)
        answer, fds = self.ask(process, good)
        self.assertEqual((len(answer), len(fds)), (800, 1))
        self.assertEqual(struct.unpack("<i", answer[8:12])[0], 0)
        with self.assertRaises(OSError):
            os.pwrite(fds[0], b"x", 0)
        os.close(fds[0])
        for bad, result in ((head + struct.pack("<IIII", 8, 1, 0, 0) + bytes(1024), -2),
                            (head + struct.pack("<IIII", 8, pid, 1, 0) + bytes(1024), -2),
                            (head + struct.pack("<IIII", 8, 0, 2**32 - 1, 0) + bytes(1024), -2),
                            (head + struct.pack("<IIII", 99, pid, 0, 0) + bytes(1024), -22)):
            answer, fds = self.ask(process, bad)
            self.assertEqual((struct.unpack("<i", answer[8:12])[0], fds), (result, []))
        for bad in (good[:-1], good + b"x", head, struct.pack("<IHH", 0x4f444f48, 9, 4) + good[8:]):
            self.assertEqual(self.ask(process, bad), (b"", []))
        self.assertEqual(self.check(self.snapshot(pid))["events"], 1000)
        self.assertEqual(self.stop(process, pid).returncode, 0)


main()
