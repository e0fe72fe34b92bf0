# SPDX-License-Identifier: MIT
"""Where a recording goes, what is recorded, and what the user is shown."""

import json
import os
import pathlib
import pwd
import re
import resource
import signal
import unittest

import place
from hodo_test import HODO, LIBHODO, Case, events, main, program, run, wait_for

FAKE, TARGET, NAMES = program("FAKE"), program("TARGET"), program("NAMES")


class Directory(Case):
    def test_rotation(self):
        for n in (10, 20, 30):
            result = self.record(TARGET, "count", n)
            self.assertEqual(result.returncode, 0)
        self.assertEqual(len(self.check_trace()), 30)
        self.assertEqual(len(self.check_trace(recording=self.data + ".old")), 20)
        self.assertEqual(sorted(n for n in os.listdir(self.dir) if n.startswith("trace")), ["trace", "trace.old"])

    def refused(self, why):
        result = self.record(TARGET, "exit", 9)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn(why, result.stderr)

    def test_not_ours(self):
        """The recorder neither writes to, nor moves, nor removes a folder that is not a recording."""
        os.mkdir(self.data)
        with open(os.path.join(self.data, "thesis.txt"), "w", encoding="ascii") as f:
            f.write("years of work")
        self.refused("is not a recording")
        self.assertEqual(os.listdir(self.data), ["thesis.txt"])

    def test_file_in_the_way(self):
        with open(self.data, "w", encoding="ascii") as f:
            f.write("a file")
        self.refused("is not a recording")

    def test_link_in_the_way(self):
        os.mkdir(self.path("elsewhere"))
        os.symlink("elsewhere", self.data)
        self.refused("is not a recording")

    def test_guest_in_recording(self):
        """A recording into which a user has put a file is that user's."""
        self.record(TARGET, "count", 10)
        guest = os.path.join(self.data, self.folders()[0], "notes")
        open(guest, "w", encoding="ascii").close()
        self.refused("is not a recording")
        self.assertTrue(os.path.exists(guest))

    def test_old_not_ours(self):
        self.record(TARGET, "count", 10)
        os.mkdir(self.data + ".old")
        open(os.path.join(self.data + ".old", "photo"), "w", encoding="ascii").close()
        self.refused(".old exists and is not a recording")
        self.assertEqual(len(self.check_trace()), 10)

    def test_foreign_ctf(self):
        """Another tracer's trace looks alike, but is not ours."""
        os.makedirs(os.path.join(self.data, "ust"))
        with open(os.path.join(self.data, "ust", "metadata"), "w", encoding="ascii") as f:
            f.write("/* CTF 1.8 */\ntrace { major = 1; };\n")
        self.refused("is not a recording")

    def test_empty_directories(self):
        """Those of others have no file either; what a killed recorder left has a process's name."""
        os.makedirs(os.path.join(self.data, "include"))
        self.refused("is not a recording")
        os.rename(os.path.join(self.data, "include"), os.path.join(self.data, "web-12"))
        self.assertEqual(self.record(TARGET, "count", 10).returncode, 0)
        self.assertEqual(len(self.check_trace()), 10)

    def test_in_use(self):
        """Two recordings never write to one directory."""
        process = self.recorder("sh", "-c", "touch up; while [ ! -e down ]; do sleep 0.01; done")
        wait_for("the command", lambda: os.path.exists(self.path("up")))
        result = self.record("true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("is being written by another recording", result.stderr)
        open(self.path("down"), "w", encoding="ascii").close()
        self.assertEqual(process.done().returncode, 0)

    def test_slash_and_empty(self):
        os.mkdir(self.data)
        self.data += "/"
        self.assertEqual(self.record(TARGET, "count", 10).returncode, 0)
        self.data = self.data.rstrip("/")
        self.assertEqual(len(self.check_trace()), 10)
        self.assertEqual(os.listdir(self.data + ".old"), [])


class Unwritable(Case):
    def test_no_directory(self):
        """The command runs anyway, and its status is passed on."""
        self.data = "/dev/null/trace"
        result = self.record("sh", "-c", "echo $LD_PRELOAD; exit 6")
        self.assertEqual(result.returncode, 6)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn("runs without being recorded", result.stderr)
        self.assertNotIn("libhodo", result.stdout)

    def test_no_library(self):
        result = self.record("true", env={"HODO_LIBRARY": "/no/such/lib.so"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("HODO_LIBRARY=/no/such/lib.so", result.stderr)
        self.assertFalse(os.path.exists(self.data))

    def test_file_size_limit(self):
        """The recorder's files may not grow beyond 210,000 bytes: what is there stays valid, the rest is counted."""
        process = self.recorder("--packet-size", "8K", "sh", "-c",
                             f"touch up; while [ ! -e go ]; do sleep 0.01; done; exec {TARGET} count 100000")
        wait_for("the command", lambda: os.path.exists(self.path("up")))
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (210000, resource.RLIM_INFINITY))
        open(self.path("go"), "w", encoding="ascii").close()
        result = process.done()
        self.assertEqual(result.returncode, 0)
        events = self.check_trace(result)
        self.assertEqual(len(events) + result.lost(), 100000)
        self.assertGreater(result.lost(), 0)
        self.assertGreater(len(events), 5000)
        errors = [line for line in result.lines() if "File too large" in line]
        self.assertEqual(len(errors), 1, result.stderr)
        self.assertIn("unwritten=", "".join(self.metadata(f) for f in self.folders()))

    @unittest.skipIf(place.no_mounts(), place.no_mounts())
    def test_full_disk(self):
        script = 'mount -t tmpfs -o size=2560k none "$1" && shift && exec "$@"'
        disk = self.path("disk")
        os.mkdir(disk)
        # Only that process sees the mount, so its contents are looked at from within.
        look = '"$0" "$@"; echo status $?; cp -r disk/trace copy'
        done = run("unshare", "-m", "sh", "-c", script, "sh", disk, "sh", "-c", look, HODO, "record",
                   "-o", "disk/trace", TARGET, "count", 200000, **self.how({}))
        self.assertIn("status 0\n", done.stdout, done.stderr)
        self.assertEqual(done.stderr.count("No space left on device"), 1, done.stderr)
        events = self.check_trace(recording=self.path("copy"))
        self.assertGreater(len(events), 10000)
        stat = self.stat(self.path("copy"))
        self.assertEqual(stat["recorded"] + stat["discarded"], 200000)
        # The metadata is complete nevertheless: the recorder keeps room for it.
        self.assertIn("/*@end", self.metadata(self.folders(self.path("copy"))[0], self.path("copy")))


class Choice(Case):
    def test_patterns(self):
        script = f"{TARGET} count 100; {TARGET} daemon 20"
        for patterns, events in (("rt:tick", 100), ("rt:d*", 20), ("rt", 120), ("rt:*,!rt:tick", 20), ("!rt:d*", 100)):
            result = self.record("-e", patterns, "sh", "-c", script)
            self.assertEqual(result.events()[0], events, (patterns, result.stderr))
            self.assertEqual(len(result.lines()), 1, result.stderr)
        self.assertEqual(self.record("-e", "rt:tick", "-e", "rt:daemon", "sh", "-c", script).events()[0], 120)

    def test_unknown(self):
        """One warning, with similar names; events that are known are recorded."""
        result = self.record("-e", "rt:tcik,rt:daemon,other:*", TARGET, "count", 100)
        self.assertEqual(result.events()[0], 0)
        warnings = [line for line in result.lines() if "no event matches" in line]
        self.assertEqual(len(warnings), 1, result.stderr)
        self.assertIn("'rt:tcik' (near: rt:tick", warnings[0])
        self.assertIn("'other:*'", warnings[0])
        self.assertNotIn("rt:daemon'", warnings[0])

    def test_filter(self):
        result = self.record("--filter", "i >= 90", "-e", "rt:tick", TARGET, "count", 100)
        self.assertEqual(result.events()[0], 10, result.stderr)
        self.check_trace(result)

    def test_filter_of_unknown_fields(self):
        result = self.record("--filter", "nosuch == 3 || i > 90", "-e", "rt:tick", TARGET, "count", 100)
        warnings = [line for line in result.lines() if "no event has a field" in line]
        self.assertEqual(len(warnings), 1, result.stderr)
        self.assertIn("'nosuch'", warnings[0])
        self.assertNotIn("'i'", warnings[0])

    def test_overwrite(self):
        result = self.record("--overwrite", "-m", "64K", "--packet-size", "4K", TARGET, "flood", 100000)
        events = self.check_trace(result)
        self.assertEqual(len(events) + result.lost(), 100000)
        self.assertGreater(len(events), 1000)
        self.assertIn("overwritten by newer ones", result.stderr)
        self.assertEqual(self.stat()["overwritten"], result.lost())

    def test_small_ring(self):
        """Whatever does not fit is counted, exactly."""
        for size in ("4K", "16K", "256K", "1M"):
            result = self.record("-m", size, TARGET, "flood", 50000)
            events = self.check_trace(result)
            self.assertEqual(len(events) + result.lost(), 50000)

    def test_too_large(self):
        """The advice on an event that was too large helps: it names a larger -m only where the buffer was full."""
        def said(lost, *options, size):
            result = self.record("-m", "32M", *options, TARGET, "large", size)
            self.assertEqual((len(self.check_trace(result)), result.lost()), (3 - lost, lost), result.stderr)
            lines = [line for line in result.lines() if " lost: " in line]
            self.assertEqual(len(lines), 1 if lost else 0, lines)
            self.assertNotIn(" -m ", "".join(lines))
            return lines and lines[0]
        causes = "event%s lost: longer than a packet, or with a string over 65,535 bytes: "
        more = "a larger --packet-size (it was %s KiB) takes up to 4M"
        self.assertIn("1 " + causes % "" + more % "128.0", said(1, "--packet-size", "128K", size=66000))
        self.assertIn("2 " + causes % "s" + more % "64.0", said(2, "--packet-size", "64K", size=66000))
        said(0, "--packet-size", "128K", size=65535)
        # Over 1 MiB: -m alone does not make packets for that.
        self.assertIn("takes up to 4M", said(2, size=(1 << 20) + 1))
        self.assertIn("1 " + causes % "", said(1, "--packet-size", "4M", size=(1 << 20) + 1))
        self.assertIn("2 " + causes % "s" + "record less in one event: no packet can be larger than 4.0 MiB",
                      said(2, "--packet-size", "4M", size=4 << 20))
        full = self.record("-m", "64K", TARGET, "flood", 100000)
        self.assertGreater(full.lost(), 0)
        self.assertRegex(full.stderr, r"the buffer was full: -m \d+[KM] keeps them \(it was 64K\)")
        self.assertNotIn("--packet-size", full.stderr)

    def test_room(self):
        """The recorder is stopped. Afterwards it names, once, the size that would have kept all, and that size does."""
        def flood(*options, n=20000):
            process = self.recorder(*options, TARGET, "burst", n)
            wait_for("a program that has ended", lambda: pathlib.Path(self.path("done")).exists())
            os.remove(self.path("done"))
            process.send_signal(signal.SIGCONT)
            done = process.done()
            self.assertEqual(done.returncode, 0, done.stderr)
            return done, done.lost(), re.findall(r"-m (\d+[KM]) keeps them", done.stderr)
        done, lost, (room,) = flood("-m", "64K")
        self.assertGreater(lost, 10000)
        self.assertEqual(len([line for line in done.lines() if "lost" in line]), 1)
        self.assertRegex(self.ok("stat", self.data), rf" full  .*: the ring was full \(-m {room} keeps them\)\n")
        self.assertEqual(self.ok("stat", self.data).count("keeps them"), 1)
        self.assertEqual(flood("-m", room)[1:], (0, []))
        quarter = int(room[:-1]) * {"K": 1, "M": 1024}[room[-1]] // 4
        self.assertGreater(flood("-m", f"{quarter}K")[1], 0)
        self.assertEqual(flood("-m", "64K", "--overwrite")[2], [room])
        # Nobody wants to give that much memory.
        done, lost, said = flood("-m", "4K", n=40000000)
        self.assertGreater(lost, 39000000)
        self.assertIn("the buffer was full: --wait keeps them, at the recorder's pace (it was 4K)", done.stderr)
        self.assertIn("(--wait keeps them, at the recorder's pace)", self.ok("stat", self.data))


class Socket(Case):
    def test_runtime_dir(self):
        """The socket lies in the recorder's own directory, which is removed afterwards."""
        runtime = self.env["XDG_RUNTIME_DIR"]
        result = self.record("sh", "-c", 'echo "$HODO_RECORDER"; stat -c %a "${HODO_RECORDER%/*}"')
        socket, mode = result.stdout.split()
        self.assertTrue(socket.startswith(runtime + "/hodo/record-"))
        self.assertEqual(mode, "700")
        self.assertEqual(os.listdir(runtime + "/hodo"), [])

    def test_runtime_dir_of_another(self):
        """The recorder does not follow a link in the place of its directory."""
        runtime = self.env["XDG_RUNTIME_DIR"]
        os.mkdir(runtime + "/trap")
        os.symlink("trap", runtime + "/hodo")
        result = self.record("sh", "-c", 'echo "$HODO_RECORDER"')
        self.assertTrue(result.stdout.startswith(f"/tmp/hodo-{os.geteuid()}/"), result.stdout)
        self.assertEqual(os.listdir(runtime + "/trap"), [])

    def test_taken_by_another(self):
        """Another user was first in /tmp: the recorder says so, and records anyway."""
        name = f"/tmp/hodo-{os.geteuid()}"
        script = (f"mkdir -p -m 700 {name} && mkdir taken && chown 65534 taken && mount --bind taken {name} || exit 77; "
                  f"exec {HODO} record -o trace {TARGET} count 5")
        done = run("unshare", "-m", "sh", "-c", script, **self.how({"env": {"XDG_RUNTIME_DIR": ""}}))
        if done.returncode in (1, 77):
            self.skipTest(f"nothing may be mounted or given away here ({done.stderr.strip()})")
        owner = pwd.getpwuid(65534).pw_name
        said = re.search(f"hodo: {name} belongs to {owner}: the recording's socket is in ({name}-.{{6}}) instead\n",
                         done.stderr)
        self.assertTrue(said, done.stderr)
        self.assertFalse(os.path.exists(said[1]))
        self.assertEqual(done.events(), (5, 1))


class Taken(Case):
    """Another user has made /tmp/hodo-UID."""
    NAME = f"/tmp/hodo-{os.geteuid()}"

    def beside(self, script):
        """Runs the script where that is so; returns its standard output."""
        take = (f"mkdir -p -m 700 {self.NAME} && mkdir -p taken && chown 65534 taken && "
                f"mount --bind taken {self.NAME} || exit 77\n")
        done = run("unshare", "-m", "sh", "-c", take + script, **self.how({"env": {"XDG_RUNTIME_DIR": ""}}))
        if done.returncode in (1, 77):
            self.skipTest(f"nothing may be mounted or given away here ({done.stderr.strip()})")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_listeners(self):
        """A process that listens is found; its directory is removed with it, or swept after it was killed."""
        def listen(end):
            out = self.beside(f"""
                rm -f up; HODO_LISTEN=1 LD_PRELOAD={LIBHODO} {TARGET} forever 0 up & p=$!
                for i in $(seq 3000); do test -e up && ls -d {self.NAME}-*/$p 2>/dev/null && break; sleep 0.02; done
                {HODO} list $p >listed 2>&1 && grep -q rt:tick listed && echo listed
                kill -{end} $p; wait $p; ls -d {self.NAME}-*/$p 2>/dev/null && echo left
                {HODO} record -q -o swept {TARGET} count 1; ls -d {self.NAME}-*/$p 2>/dev/null && echo unswept; true""")
            self.assertIn("listed\n", out)
            self.assertNotIn("unswept", out)
            self.assertFalse(os.path.exists(os.path.dirname(out.split()[0])), out)
            return "left\n" in out

        # Another hodo on the machine may sweep it at once.
        self.assertTrue(any(listen("KILL") for _ in range(20)))
        self.assertFalse(listen("TERM"))

    def test_killed_recorder(self):
        out = self.beside(f"""
            {HODO} record -q -o killed sh -c 'echo $$ >pid; exec {TARGET} forever 0 up' & r=$!
            for i in $(seq 3000); do test -e up && break; sleep 0.02; done
            ls -d {self.NAME}-*/record-$r.sock; kill -9 $r; wait $r
            {HODO} record -q -o swept {TARGET} count 1; kill -TERM $(cat pid)""")
        self.assertFalse(os.path.exists(os.path.dirname(out.split()[0])), out)

    def test_doctor(self):
        out = self.beside(f"{HODO} doctor || true")
        self.assertRegex(out, f"\nwarn  runtime-dir +{self.NAME} belongs to {pwd.getpwuid(65534).pw_name}: ")


class Doctor(Case):
    def test_doctor(self):
        done = self.hodo("doctor", "--json")
        report = json.loads(done.stdout)
        states = {c["name"]: c["state"] for c in report["checks"]}
        self.assertEqual(states["recording"], "ok", done.stdout)
        self.assertEqual(done.returncode, 1 if "bad" in states.values() else 0)
        self.assertEqual(len(self.hodo("doctor").stdout.splitlines()), len(states))

    def test_uprobes(self):
        """Doctor tries whether they overwrite variables, where that is allowed; before Linux 6.18 they do not."""
        (found,) = [c for c in json.loads(self.hodo("doctor", "--json").stdout)["checks"] if c["name"] == "uprobes"]
        release = tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups()))
        if release < (6, 18):
            self.assertEqual(found["state"], "ok", found)
        elif found["state"] == "warn":
            tried = os.geteuid() == 0 and os.path.exists("/sys/bus/event_source/devices/uprobe/type")
            self.assertRegex(found["text"], "overwrites a variable" if tried else "sudo hodo doctor|overwrites")

    def test_finds_faults(self):
        done = self.hodo("doctor", env={"HODO_LIBRARY": "/no/such", "GLIBC_TUNABLES": "glibc.pthread.rseq=0"})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"\nwarn  rseq .*GLIBC_TUNABLES")
        self.assertRegex(done.stdout, r"\nbad   libhodo .*HODO_LIBRARY")
        self.assertRegex(done.stdout, r"\nbad   recording ")


class Honest(Case):
    """A writer that takes nothing from libhodo: it has only the published protocol."""

    def test_honest(self):
        for options in (("-m", "1M"), ("-m", "16K"), ("-m", "64K", "--overwrite")):
            result = self.record("--clock", "monotonic", *options, FAKE, "honest", 30000)
            written = int(result.stdout)
            self.assertEqual(len(self.check_trace(result)) + result.lost(), written)

    def test_odd_names(self):
        result = self.record("--clock", "monotonic", FAKE, "odd-names", 3)
        text = run("babeltrace2", self.data, status=0).stdout
        self.assertIn("{ event = -1, _x = 7, _int_length = 2, int = \"ok\", struct = 1.5 }", text)
        self.assertIn('"fields":{"event":-1,"_x":7,"int":"ok","struct":1.5}', self.ok("print", "--json", self.data))
        self.assertRegex(result.stderr, r"hodo: fake\[\d+\]: bell \\x07 and \\x1b\[31m red \*/ text\n")

    def test_awkward_names(self):
        """Names side by side that CTF confuses: babeltrace2 reads them all, with the values in their places."""
        for options in ((), ("--context", "comm,pid")):
            with self.subTest(options):
                self.assertEqual(self.record(*options, NAMES).returncode, 0)
                self.assertEqual(len(self.check_trace()), 4 * 16 * 22 + 2)
                for event in events(self.data):
                    values = [str(v) for v in event["fields"].values()]
                    expected = {"texts": ["one", "two"], "text_number": ["three", "4"], "number_text": ["5", "six"],
                                "numbers": ["7", "8"], "many": [str(n) for n in range(1, 11)]}
                    self.assertEqual(values, expected[event["name"].split(":")[0]], event)


main()
