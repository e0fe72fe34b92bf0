# SPDX-License-Identifier: MIT
"""Buffers take the memory that they need: little where the recorder keeps up, up to -m where it does not."""
import os
import pathlib
import signal

from hodo_test import Case, main, program, wait_for

TARGET, CALLS = program("TARGET"), program("CALLS")
KIB, MIB = 1 << 10, 1 << 20


class Space(Case):
    def begin(self, *args):
        """Returns once the program has written its events."""
        process = self.recorder(*args)
        wait_for("a program that has written", lambda: pathlib.Path(self.path("done")).exists())
        os.remove(self.path("done"))
        return process

    def used(self, process):
        """Bytes of memory of the one recorded process; the recorder holds it as a descriptor."""
        for fd in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
            try:
                if os.readlink(fd).startswith("/memfd:hodo"):
                    return fd.stat().st_blocks * 512
            except FileNotFoundError:  # another descriptor, closed meanwhile
                pass
        raise AssertionError("no memory of a process")

    def end(self, process):
        process.send_signal(signal.SIGINT)
        done = process.done()
        self.assertEqual(done.lost(), 0, done.stderr)
        return done

    def test_quiet(self):
        """The ring has wrapped several times, and no second brought more than 16 MiB. Otherwise it would have 4 MiB."""
        n = 500000
        process = self.begin("-m", "4M", "--wait", TARGET, "awake", n)
        wait_for("a ring that is given back", lambda: self.used(process) < MIB)
        self.end(process)
        self.assertGreaterEqual(self.info()["recorded"], n + n // 5)

    def test_all_are_there(self):
        """The reader has let go of packets before they lose their pages; otherwise new events in them would be lost."""
        n = 80000
        process = self.begin("-m", "256K", "--packet-size", "64K", "--wait", TARGET, "awake", n)
        self.end(process)
        wrote = [*range(n // 10)] * 2 + [*range(n)]
        self.assertEqual([e["fields"]["i"] for e in self.events()][:len(wrote)], wrote)

    def test_grows(self):
        """The recorder is stopped: new events are kept, in memory that was not there before."""
        process = self.begin("-m", "16M", "--packet-size", "256K", TARGET, "burst", 400000)
        self.assertGreater(self.used(process), 4 * MIB)
        process.send_signal(signal.SIGCONT)
        done = process.done()
        self.assertEqual(done.lost(), 0, done.stderr)
        self.assertEqual(self.info()["recorded"], 400001)

    def test_overwrite_keeps_all(self):
        """A flight recorder is full once its ring has wrapped, and stays so."""
        process = self.begin("--overwrite", "-m", "4M", TARGET, "awake", 500000)
        self.assertGreater(self.used(process), 4 * MIB)
        process.send_signal(signal.SIGINT)
        process.done()
        recorded = self.info()["recorded"]
        self.assertGreater(recorded, 100000)
        self.assertGreaterEqual(recorded + self.stat()["overwritten"], 600000)

    def test_default(self):
        """16M for functions, in packets as small as those of 4M; 4M without functions."""
        def sizes(*args):
            self.assertEqual(self.record(*args).returncode, 0)
            process, = self.info()["processes"]
            return process["ring_bytes"], process["packet_bytes"]
        self.assertEqual(sizes(TARGET, "count", 1), (4 * MIB, 256 * KIB))
        if CALLS:
            self.assertEqual(sizes("--functions", CALLS, 1), (16 * MIB, 256 * KIB))
            self.assertEqual(sizes("--functions", "-m", "1M", CALLS, 1), (MIB, 64 * KIB))
            self.assertEqual(sizes("--functions", "--overwrite", CALLS, 1), (4 * MIB, 256 * KIB))


main()
