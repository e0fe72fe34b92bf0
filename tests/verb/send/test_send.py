#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo record --to DIR and hodo send: parts arrive whole, in order and once, now or later."""
import os
import pathlib
import re
import shutil
import signal

from hodo_test import main, program, run, wait_for
from place import no_mounts
from sending import Case, SMALL, TICKS

CALC = program("CALC")
HOSTILE = "-a 'b\" $(touch x) `touch y` ;*?\\n%41"  # as it is: a directory is no URL


class Directory(Case):
    def test_arrives_while_it_goes_on(self):
        recorder = self.begin()
        self.ticks(recorder, 20000)
        self.arrived(2)
        self.assertIsNone(recorder.poll())
        self.ticks(recorder, 5000)
        done = self.finish(recorder)
        parts = self.check_all()
        self.assertGreater(len(parts), 5)
        self.assertRegex(done.stderr, rf"hodo: {len(parts)} parts, [\d.]+ .iB, sent to {self.target}: "
                         rf"'hodo stat {parts[0].parent}' shows this recording\n\Z")
        said = re.sub(r"hodo: sending the rest to .*\n", "", done.stderr)  # on a busy machine, before the last line
        self.assertNotIn("unsent", said)
        self.assertEqual(self.stat(parts[0].parent)["recorded"], self.sent)
        # Nothing stays where it was recorded, and no message says so.
        self.assertNotIn(self.data, said)
        self.assertRegex(done.stderr, r"hodo: [\d,]+ events of 1 process, [\d.]+ .iB\n")
        self.check_gone()

    def test_each_part_is_a_recording(self):
        recorder = self.begin()
        self.ticks(recorder, 10000)
        self.finish(recorder)
        for part in self.check_all():
            self.ok("unpack", "-q", part, "-o", self.path("plain"))
            self.events(self.path("plain"))  # babeltrace2 reads it, too
            shutil.rmtree(self.path("plain"))

    def test_hostile_directory(self):
        recorder = self.begin(to=HOSTILE)
        self.ticks(recorder, 5000)
        self.finish(recorder)
        self.check_all(self.path(HOSTILE))
        self.assertEqual(sorted(os.listdir(self.dir)), [HOSTILE])

    def test_wrong_targets(self):
        for to, why in (("ssh://-oProxyCommand=x/d", "the host is"), ("ssh://-l@h/d", "the user is"),
                        ("ssh://h;x/d", "the host is"), ("ssh://h:0/d", "the port is"), ("ssh://h:1x/d", "the port is"),
                        ("ssh://h", "it names no directory"), ("ssh://h/", "it names no directory"),
                        ("ssh:///d", "the host is"), ("ssh://h/a%0ab", "a control character"),
                        ("ssh://h/a%zz", "%25"), ("a\nb", "a control character"), ("http://h/d", "it is ssh://"),
                        ("ssh://[::1/d", "the host is"),
                        # As scp has it.
                        ("host:/srv/d", "did you mean ssh://host/srv/d? A directory of this machine is ./host:/srv/d"),
                        ("me@host:/d", "did you mean ssh://me@host/d?"), ("host:d", "did you mean ssh://host/~/d?"),
                        ("host:", "did you mean ssh://host/~/?"), ("[::1]:/d", "did you mean ssh://[::1]/d?")):
            for verb in (("record", "--to", to, "--", "true"), ("send", "--to", to, ".")):
                with self.subTest(verb):
                    self.fails(2, why, *verb)
        self.assertEqual(os.listdir(self.dir), [])

    def test_directories_with_a_colon(self):
        os.mkdir(self.path("host:"))
        for to in ("host:/there", "./new:/there", "below/a:b"):
            with self.subTest(to):
                if to.startswith("host"):
                    self.fails(2, "did you mean ssh://host/there?", "record", "--to", to, "--", "true")
                    os.mkdir(self.path(to))
                self.hodo("record", "-q", "--to", to, "--", TICKS, input="100\n", status=0)
                self.assertEqual(self.serials(self.parts(self.path(to))[0]), list(range(100)))

    def test_targets_that_never_work(self):
        """Are refused before the program runs."""
        pathlib.Path(self.path("file")).touch()
        ran = self.path("ran")
        for to, why in (("/proc/nope", "No such file or directory: name another directory with --to"),
                        ("/proc", "No such file or directory: name another directory with --to"),
                        ("file", "Not a directory: name another directory with --to"),
                        ("file/below", "Not a directory: name another directory with --to")):
            with self.subTest(to):
                self.fails(1, f"hodo: {to}: mkdir: ", "record", "-o", "data", "--to", to, "--", "touch", ran)
                self.fails(1, why, "record", "-o", "data", "--to", to, "--", "touch", ran)
        os.mkdir(self.path("empty"))
        self.fails(1, "hodo: there: sh cannot be started: No such file or directory: it must be in PATH", "record", "-o",
                   "data", "--to", "there", "--", shutil.which("touch"), ran, env={"PATH": self.path("empty")})
        self.assertEqual(sorted(os.listdir(self.dir)), ["empty", "file"])

    def test_names_what_is_there(self):
        done = self.hodo("record", "-o", self.data, "--keep", "1", "--to", self.target, "--", TICKS, input="100\n",
                         status=0)
        [command] = re.findall(r"'hodo (stat [^']*)' shows this recording", done.stderr)
        self.assertIn("ticks", self.ok(*command.split()))
        self.assertIn(f"hodo: the newest part is also in {self.data}, as --keep asks\n", done.stderr)
        self.ok("stat", self.data)
        # Nothing that was asked for: the program has the list.
        done = self.hodo("record", "-e", "ticks:tock", "-o", "data", "--to", "there", "--", TICKS,
                         input="100\n", status=0)
        self.assertEqual(re.findall(r"'hodo (list [^']*)' lists", done.stderr), [f"list {TICKS}"] * 2)
        self.assertIn("ticks:tick", self.ok("list", TICKS))
        self.assertFalse(os.path.exists(self.path("data")))
        # A script has no list.
        pathlib.Path(self.path("script")).write_text(f"#!/bin/sh\n{TICKS}\n", encoding="utf-8")
        os.chmod(self.path("script"), 0o755)
        done = self.hodo("record", "-e", "ticks:tock", "--to", "there", "--", "./script", input="100\n", status=0)
        self.assertEqual(set(re.findall(r"'hodo (list [^']*)' lists", done.stderr)), {"list RECORDING"})

    def test_wrong_options(self):
        self.fails(2, "add --to", "record", "--backlog", "1M", "--", "true")
        self.fails(2, "add --to", "record", "--keep-age", "1d", "--", "true")
        self.fails(2, "--overwrite", "record", "--overwrite", "--to", "x", "--", "true")
        self.fails(2, "--to", "send", "x")
        self.fails(2, "give recordings", "send", "--to", "x")

    def test_keeps_parts_here_too(self):
        recorder = self.begin("--keep", "2")
        self.ticks(recorder, 20000)
        self.finish(recorder)
        parts = self.check_all()
        n = len(parts)
        self.assertEqual(self.folders(), [f"part-{i:04}" for i in (n - 1, n)])
        self.assertEqual(sorted(self.serials(self.data)), sorted(s for p in parts[-2:] for s in self.serials(p)))

    def test_keeps_the_newest_there(self):
        recorder = self.begin("--keep-size", "130K")
        for batch in 1, 2, 3:  # each has two parts or more; on a slow machine, the end does not wait for all
            self.ticks(recorder, 10000)
            wait_for("parts", lambda: self.parts() and self.parts()[-1].name >= f"part-{2 * batch:08}.hodo")
        done = self.finish(recorder)
        sent = done.number(r"hodo: (\d+) parts, .* sent to")
        parts = self.parts()
        sizes = sum(p.stat().st_size for p in parts)
        self.assertLess(len(parts), sent)
        self.assertLessEqual(sizes, 130 << 10)
        self.assertGreater(sizes, 75 << 10)
        self.assertEqual(parts[-1].name, f"part-{sent:08}.hodo")
        self.assertIn(self.sent - 1, self.serials(parts[0].parent))

    def test_names_of_functions_come_along(self):
        shutil.copy(CALC, self.path("calc"))
        self.hodo("record", "-q", "-o", self.data, "--functions", "--to", self.target, "--", self.path("calc"),
                  status=0)
        os.unlink(self.path("calc"))
        for recording in (self.parts()[0], self.parts()[0].parent):
            self.assertIn("main", self.ok("report", recording))
        self.check_gone()


class Later(Case):
    """The target does not work for a while, or the recorder dies."""

    def test_comes_back(self):
        recorder = self.begin_blocked()
        self.ticks(recorder, 20000)
        wait_for("a message", lambda: f"hodo: {self.target}: " in recorder.said())
        wait_for("parts that wait", lambda: len(self.unsent()) > 2)
        os.unlink(self.target)
        self.arrived()
        done = self.finish(recorder)
        self.check_all()
        self.check_gone()
        # Each is said once, in one line.
        self.assertEqual(re.findall(rf"hodo: {self.target}: .*", done.stderr), [
            f"hodo: {self.target}: mkdir: cannot create directory '{self.target}': File exists: parts wait in "
            f"{self.data}.unsent, and are sent once that works",
            f"hodo: {self.target}: takes parts again"])

    def test_goes_on_by_hand(self):
        recorder = self.begin_blocked()
        self.ticks(recorder, 20000)
        done = self.give_up(recorder)
        n = len(self.unsent())
        self.assertRegex(done.stderr, rf"hodo: {n} parts, [\d.]+ KiB, unsent: 'hodo send {self.data}\.unsent "
                         rf"--to {self.target}' sends them\n")
        self.fails(1, f"hodo: {self.target}: mkdir: cannot create directory '{self.target}': File exists: nothing was sent: "
                   "name another directory with --to\n", "send", self.data + ".unsent", "--to", self.target)
        os.unlink(self.target)
        done = self.hodo("send", self.data + ".unsent", "--to", self.target)
        self.assertRegex(done.stderr, rf"\Ahodo: {n} parts, .* sent to {self.target}; 0 were there already\n\Z")
        self.check_all()
        self.check_gone()

    def test_wait_is_said(self):
        recorder = self.begin_blocked()
        self.ticks(recorder, 20000)
        recorder.stdin.close()
        line = (f"hodo: sending the rest to {self.target}, for at most 30 s: Ctrl-C ends that, and what is unsent then "
                f"stays in {self.data}.unsent\n")
        wait_for("a message", lambda: line in recorder.said())
        done = recorder.stop(signal.SIGINT)
        self.assertIn(line, done.stderr)
        self.assertRegex(done.stderr, rf"hodo: \d+ parts, [\d.]+ KiB, unsent: 'hodo send {self.data}\.unsent --to ")
        self.assertNotIn("shows this recording", done.stderr)

    def test_oldest_give_way(self):
        recorder = self.begin_blocked("--backlog", "200K")
        self.ticks(recorder, 60000)
        done = self.give_up(recorder)
        waiting = self.unsent()
        dropped = done.number(r"hodo: (\d+) parts?, .*, dropped unsent: a larger --backlog keeps them")
        self.assertEqual(len(re.findall("the oldest unsent parts give way to new ones", done.stderr)), 1)
        self.assertLessEqual(sum(p.stat().st_size for p in waiting), 200 << 10)
        self.assertGreater(len(waiting), 1)
        self.assertGreater(dropped, 1)
        # Nothing else is missing: the first that is there follows the last that was dropped.
        self.assertEqual([int(p.name[5:13]) for p in waiting], list(range(dropped + 1, dropped + 1 + len(waiting))))
        serials = {n for p in waiting for n in self.serials(p)}
        self.assertIn(self.sent - 1, serials)
        self.assertGreater(min(serials), 0)

    def test_next_recorder_goes_on(self):
        recorder = self.begin_blocked()
        self.ticks(recorder, 20000)
        wait_for("parts that wait", lambda: len(self.unsent()) > 2)
        self.fails(1, "is being sent by another hodo", "send", self.data + ".unsent", "--to", self.target)
        recorder.send_signal(signal.SIGKILL)
        recorder.done()
        left = {p.relative_to(self.data + ".unsent") for p in self.unsent()}
        os.unlink(self.target)
        recorder = self.begin()
        self.ticks(recorder, 1000)
        self.finish(recorder)
        arrived = {p.relative_to(self.target) for p in self.parts()}
        self.assertLess(left, arrived)
        self.assertFalse(os.path.exists(self.data + ".unsent"))

    def test_unfinished_part_is_sent(self):
        """Of a killed recorder: its last part is in the recording still. The next one sends it, or 'hodo send' does."""
        for by_hand in (False, True):
            shutil.rmtree(self.target, ignore_errors=True)
            recorder = self.begin()
            self.ticks(recorder, 20000)
            self.arrived(3)
            wait_for("a part with events", lambda: any(p.stat().st_size for p in pathlib.Path(self.data).glob(
                "part-*/*/[cf]*")) and not self.unsent())
            recorder.send_signal(signal.SIGKILL)
            recorder.done()
            here = {n for part in pathlib.Path(self.data).glob("part-*") for n in self.serials(part)}
            self.assertTrue(here)
            there = {p.parent for p in self.parts()}
            if by_hand:
                self.hodo("send", "-q", self.data + ".unsent", "--to", self.target, status=0)
            else:
                self.sent = 0
                recorder = self.begin()
                self.ticks(recorder, 100)
                self.assertRegex(self.finish(recorder).stderr, rf"(?m)^hodo: {self.data}: \d+ parts? of a recorder that "
                                                               r"was killed (is|are) sent, too$")
            [killed] = there
            self.assertTrue(here <= set(self.serials(killed)))
            self.assertFalse(os.path.exists(self.data + ".unsent"))
            self.assertFalse(os.path.exists(self.data + ".old"))
            shutil.rmtree(self.data, ignore_errors=True)

    def test_sender_is_killed(self):
        recorder = self.begin()
        self.ticks(recorder, 20000)
        self.arrived(4)
        wait_for("the sender to be idle", lambda: len(self.folders()) == 1 and not self.unsent())
        os.kill(self.senders(recorder)[0], signal.SIGKILL)
        self.ticks(recorder, 20000)
        done = self.finish(recorder)
        here = len(self.folders())
        self.assertGreater(here, 3)
        self.assertEqual(done.number(rf"hodo: (\d+) parts are still in {self.data}, unsent: 'hodo send {self.data} --to"),
                         here)
        if os.path.exists(self.data + ".unsent"):
            self.hodo("send", self.data + ".unsent", "--to", self.target, status=0)
        self.hodo("send", self.data, "--to", self.target, status=0)
        self.assertEqual({n for p in self.parts() for n in self.serials(p)}, set(range(self.sent)))

    def test_recordings_by_hand(self):
        self.hodo("record", "-q", *SMALL, "--wait", "--rotate", "64K", "-o", "a", "--", TICKS, input="20000\n",
                  status=0)
        self.hodo("record", "-q", *SMALL, "--wait", "-o", "b", "--", TICKS, input="3000\n", status=0)
        self.ok("pack", "-q", "b", "-o", "c.hodo")
        n = len(self.folders(self.path("a")))
        done = self.hodo("send", "a", "b", "c.hodo", "--to", "there")
        self.assertRegex(done.stderr, rf"\Ahodo: {n + 2} parts, .* sent to there; 0 were there already\n\Z")
        a, b, c = sorted({p.parent for p in self.parts()}, key=lambda p: (p.name.split("-")[1]))
        self.assertEqual(self.serials(a), list(range(20000)))
        self.assertEqual(self.serials(b), list(range(3000)))
        self.assertEqual(self.serials(c), list(range(3000)))
        # One is damaged, and one missing: only these are sent.
        parts = sorted(a.iterdir())
        parts[0].unlink()
        parts[1].write_bytes(b"x" * parts[1].stat().st_size)
        done = self.hodo("send", "a", "b", "c.hodo", "--to", "there")
        self.assertRegex(done.stderr, rf"\Ahodo: 2 parts, .* sent to there; {n} were there already\n\Z")
        self.assertEqual(self.serials(a), list(range(20000)))
        self.fails(1, "no such recording", "send", "nothing", "--to", "there")

    def test_level(self):
        """A higher level makes smaller parts of the same events."""
        self.hodo("record", "-q", *SMALL, "--wait", "-o", "a", "--", TICKS, input="20000\n", status=0)
        sizes = []
        for level in (1, 19):
            self.hodo("send", "-q", "--level", level, "a", "--to", f"at{level}", status=0)
            [part] = self.parts(self.path(f"at{level}"))
            self.assertEqual(self.serials(part), list(range(20000)))
            sizes.append(part.stat().st_size)
        self.assertLess(sizes[1], sizes[0])

    def test_sent_on(self):
        """What was collected, as parts or as one packed file, goes on to another place and is read there."""
        self.hodo("record", "-q", *SMALL, "--wait", "--rotate", "64K", "-o", "a", "--", TICKS, input="20000\n",
                  status=0)
        self.ok("pack", "-q", "a", "-o", "a.hodo")
        self.hodo("send", "-q", "a", "--to", self.target, status=0)
        [collected] = {p.parent for p in self.parts()}
        self.hodo("send", "-q", collected, "--to", "second", status=0)
        first, second = ({p.relative_to(at): p.read_bytes() for p in self.parts(at)}
                         for at in (self.target, self.path("second")))
        self.assertEqual(first, second)
        self.hodo("send", "-q", "a.hodo", "--to", "third", status=0)
        parts = self.parts(self.path("third"))
        self.assertEqual(len(parts), len(self.folders(self.path("a"))))
        self.assertEqual(self.serials(parts[0].parent), list(range(20000)))
        self.assertEqual(sorted(n for p in parts for n in self.serials(p)), list(range(20000)))

    def test_what_is_said_of_errors(self):
        self.hodo("record", "-q", "-o", "a", "--", TICKS, input="100\n", status=0)
        os.mkdir(self.path("empty"))
        self.fails(1, "hodo: /proc/x: mkdir: cannot create directory '/proc/x': No such file or directory: nothing was "
                   "sent: name another directory with --to\n", "send", "a", "--to", "/proc/x")
        self.fails(1, "hodo: there: sh cannot be started: No such file or directory: it must be in PATH: nothing was sent\n",
                   "send", "a", "--to", "there", env={"PATH": self.path("empty")})
        # The second recording cannot be kept there.
        self.hodo("record", "-q", "-o", "b", "--", TICKS, input="200\n", status=0)
        self.hodo("send", "b", "--to", "there", status=0)
        [part] = self.parts(self.path("there"))
        shutil.rmtree(part.parent)
        part.parent.touch()
        self.fails(1, "1 part was sent: mend that, and the same command sends the rest\n", "send", "a", "b", "--to", "there")
        part.parent.unlink()
        self.hodo("send", "a", "b", "--to", "there", status=0)
        self.assertEqual(self.serials(part), list(range(200)))

    def test_merged(self):
        """Each host's recording arrives below its name, with the times that the merge gave it."""
        for name, n in (("a", 20000), ("b", 300)):
            self.hodo("record", "-q", *SMALL, "--wait", "--rotate", "64K", "-o", name, "--", TICKS, input=f"{n}\n",
                      status=0)
        self.ok("merge", "-q", "-o", "n1", "vm=a", "db1=b")
        n = len(self.folders(self.path("a"))) + len(self.folders(self.path("b")))
        for again in (False, True):
            done = self.hodo("send", "n1", "--to", "there")
            sent, there = (0, n) if again else (n, 0)
            self.assertRegex(done.stderr, rf"\Ahodo: {sent} parts?, [^\n]*; {there} were there already\n\Z")
        self.assertEqual(sorted(os.listdir(self.target)), ["db1", "vm"])
        for host in ("db1", "vm"):
            [recording] = pathlib.Path(self.target, host).iterdir()
            self.assertRegex(recording.name, r"\A\d{8}T\d{6}Z-n1-[0-9a-f]+\Z")
            events = self.ok("print", "-q", "--json", f"n1/host-{host}")
            self.assertEqual(self.ok("print", "-q", "--json", recording), events)
            self.assertEqual([h["host"] for h in self.info(recording)["hosts"]], [host])
        # What is one file cannot be taken apart.
        self.ok("pack", "-q", "n1", "-o", "n1.hodo")
        self.fails(1, "hodo: n1.hodo: it is of several hosts, whose recordings arrive one by one: 'hodo unpack' it, and send "
                   "that: nothing was sent\n", "send", "n1.hodo", "--to", "there")

    def test_what_a_lost_link_leaves(self):
        """A part that was cut has the metadata, and its events up to the cut."""
        self.hodo("record", "-q", "-o", "a", "--", TICKS, input="90000\n", status=0)
        self.ok("pack", "-q", "-l", "3", "-o", "a.hodo.part", "a")
        os.truncate(self.path("a.hodo.part"), os.path.getsize(self.path("a.hodo.part")) * 3 // 4)
        done = self.hodo("unpack", "a.hodo.part", "-o", "half")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is cut short", done.stderr)
        self.hodo("recover", "half", "-o", "recovered", status=0)
        serials = self.serials("recovered")
        self.assertGreater(len(serials), 10000)
        self.assertLess(len(serials), 90000)
        self.assertLessEqual(set(serials), set(range(90000)))


class Full(Case):
    def test_disk_there(self):
        if no_mounts():
            self.skipTest(no_mounts())
        self.target = os.path.join(self.disk("300K"), "there")
        recorder = self.begin()
        self.ticks(recorder, 60000)
        wait_for("a message", lambda: "No space left on device" in recorder.said())
        self.assertEqual(len(re.findall(rf"hodo: {self.target}: .*", recorder.said())), 1)
        whole = self.parts()
        for part in whole:
            self.serials(part)
        run("mount", "-o", "remount,size=20M", self.path("disk"), status=0)
        self.arrived(len(whole) + 1)
        done = self.finish(recorder)
        self.check_all()
        self.assertIn("takes parts again", done.stderr)
        self.check_gone()

    def test_disk_here(self):
        if no_mounts():
            self.skipTest(no_mounts())
        data = os.path.join(self.disk("3M"), "trace")
        recorder = self.begin_blocked("--backlog", "1G", data=data)
        self.ticks(recorder, 300000)
        wait_for("a message", lambda: "the oldest unsent parts give way" in recorder.said())
        done = self.give_up(recorder)
        self.assertEqual(done.returncode, 0)
        self.assertGreater(done.number(r"hodo: (\d+) parts?, .*, dropped unsent"), 0)
        for part in self.unsent(data):
            self.serials(part)

    def test_disk_here_before_it_packs(self):
        """All the room is taken by what is not packed yet."""
        if no_mounts():
            self.skipTest(no_mounts())
        data = os.path.join(self.disk("3M"), "trace")
        recorder = self.begin_blocked("--backlog", "1G", data=data)
        wait_for("the sender", lambda: self.senders(recorder))
        [sender] = self.senders(recorder)
        os.kill(sender, signal.SIGSTOP)
        self.ticks(recorder, 300000)
        wait_for("a full disk", lambda: "No space left on device" in recorder.said())
        os.kill(sender, signal.SIGCONT)
        wait_for("a message", lambda: "give way to new ones: the disk is full" in recorder.said())
        done = self.give_up(recorder)
        self.assertEqual(done.returncode, 0)
        self.assertGreater(done.number(r"hodo: (\d+) parts?, .*, dropped unsent"), 0)
        for part in self.unsent(data):
            self.serials(part)


main()
