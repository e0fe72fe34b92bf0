# SPDX-License-Identifier: MIT
"""hodo record -p, list, enable, disable and detach on processes that listen.

HODO, TARGET (cli_target.c) and HODO_LIBRARY are in the environment.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

from cli import Case, Recorder, TARGET, Target
from hodo_test import HODO, end, main, wait_for


def children(pid):
    """The children of the process that run TARGET by this time."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(n) for n in f.read().split() if os.path.realpath(f"/proc/{n}/exe") == os.path.realpath(TARGET)]


class Record(Case):
    def test_until_interrupted(self):
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            t = Target(self)
            t("note", 5)
            r = self.record(t, out=f"t{signum}")
            t("note", 7)
            done = r.stop(signum)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, r"^hodo: 7 events of 1 process, .* in .*\n$")
            self.assertEqual(self.notes(self.events(f"t{signum}")), list(range(7)))
            # It runs on, unrecorded.
            self.assertEqual(t("note", 3), 0)
            self.assertEqual(self.status(t.pid)["recorded_by"], "nobody")

    def test_one_after_another(self):
        t = Target(self)
        for n in range(5):
            r = self.record(t, "-q", out=f"t{n}")
            t("note", n + 1)
            self.assertEqual(r.stop().stderr, "")
            self.assertEqual(self.notes(self.events(f"t{n}")), list(range(n + 1)))

    def test_duration(self):
        t = Target(self)
        done = Recorder(self, "-p", t.pid, "--duration", "0.05").done()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.events(), [])
        self.assertEqual(t("note", 1), 0)

    def test_what_it_is(self):
        t = Target(self)
        t("thread", "early")
        r = self.record(t)
        t("thread", "late")
        t("poke")
        r.stop()
        info = self.info()["processes"]
        self.assertEqual([(p["comm"], p["pid"], p["start"], p["complete"]) for p in info],
                         [("cli_target", t.pid, "attach", True)])
        self.assertEqual(os.listdir(self.path("trace")), [f"cli_target-{t.pid}"])
        names = {c["tid"]: c["comm"] for c in info[0]["threads"]}
        self.assertEqual(names[t.pid], "cli_target")
        self.assertEqual(sorted(e["comm"] for e in self.events() if e["name"] == "at:thread"), ["early", "late"])
        self.assertIn("early", names.values())

    def test_names_of_threads_that_end(self):
        """A thread that traced in an earlier recording does not send its name again."""
        t = Target(self)
        t("thread", "worker")
        t("poke")
        for out in ("t1", "t2"):
            r = self.record(t, out=out)
            t("poke")
            r.stop()
            self.assertEqual([e["comm"] for e in self.events(out) if e["name"] == "at:thread"], ["worker"])

    def test_several(self):
        t = [Target(self) for _ in range(4)]
        r = self.record(t)
        for n, target in enumerate(t):
            target("note", n + 1)
        # All but one end without a signal.
        for target in t[:3]:
            self.assertIsNone(target("exit", 0))
        done = r.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        events = self.events()
        for n, target in enumerate(t):
            self.assertEqual(self.notes(events, target.pid), list(range(n + 1)))

    def test_ends_with_the_last(self):
        t = [Target(self), Target(self)]
        r = self.record(t)
        for target in t:
            target("note", 2)
            target("exit", 3)
        done = r.done()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.notes(self.events())), 4)
        self.assertTrue(all(p["complete"] for p in self.info()["processes"]))

    def test_some_cannot(self):
        t = Target(self)
        r = Recorder(self, "-p", 2**31 - 1, "-p", f"{t.pid},2,{t.pid}")
        wait_for("the recording", lambda: self.recorded(t.pid))
        t("note", 1)
        done = r.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.lines()[0], "hodo: there is no process 2147483647: 'ps' lists those that you can see")
        self.assertEqual(self.notes(self.events()), [0])

    def test_none_can(self):
        """The command exits with 1 and leaves an earlier recording where it was."""
        t = Target(self)
        self.record(t).stop()
        done = Recorder(self, "-p", 2**31 - 1).done()
        self.assertLine(done, "hodo: there is no process 2147483647: 'ps' lists those that you can see")
        r = self.record(t, out="other")
        done = Recorder(self, "-p", t.pid).done()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.info()["processes"][0]["pid"], t.pid)
        self.assertFalse(os.path.exists(self.path("trace.old")))
        r.stop()
        # Nor does it move one where the process turns out to be another tracer's.
        r = self.record(t)
        r.stop()
        before = [self.info()["begin_ns"], self.info(self.path("trace.old"))["begin_ns"]]
        sleeper = subprocess.Popen(["strace", "-o", "/dev/null", "sleep", "600"])
        self.addCleanup(end, sleeper)
        with open(f"/proc/{sleeper.pid}/task/{sleeper.pid}/children", encoding="ascii") as f:
            sleep = wait_for("sleep", lambda: [int(n) for n in (f.seek(0), f.read())[1].split()
                                               if os.path.basename(os.path.realpath(f"/proc/{n}/exe")) == "sleep"])[0]
        done = Recorder(self, "-p", sleep).done()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("strace", done.stderr)
        self.assertEqual([self.info()["begin_ns"], self.info(self.path("trace.old"))["begin_ns"]], before)
        self.assertEqual(sorted(n for n in os.listdir(self.dir) if n.startswith("trace")), ["trace", "trace.old"])
        os.kill(sleep, signal.SIGKILL)

    def test_options(self):
        t = Target(self)
        r = self.record(t, "-e", "at:note", "--filter", "i >= 3 && i < 6", "-m", "64K")
        t("note", 10)
        t("fork")
        r.stop()
        self.assertEqual(self.notes(self.events()), [3, 4, 5])
        self.assertEqual({e["name"] for e in self.events()}, {"at:note"})

    def test_overwrite(self):
        t = Target(self)
        r = self.record(t, "--overwrite", "-m", "4K", "--packet-size", "1K")
        t("note", 5000)
        done = r.stop()
        notes = self.notes(self.events())
        self.assertEqual(done.returncode, 0)
        self.assertEqual(notes, list(range(notes[0], 5000)))
        lost = int(re.search(r"(\d+) events lost: overwritten", done.stderr)[1])
        self.assertEqual(lost + len(notes), 5000)

    def test_with_a_command(self):
        t = Target(self)
        r = Recorder(self, "-p", t.pid, "--", sys.executable, "-c", "import sys; sys.exit(7)")
        # The command ends at once; the recording goes on with the process.
        wait_for("the recording", lambda: self.recorded(t.pid))
        t("note", 2)
        t("exit", 0)
        done = r.done()
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(self.notes(self.events()), [0, 1])

    def test_with_a_command_alone_left(self):
        done = Recorder(self, "-p", 2**31 - 1, "--", sys.executable, "-c", "import sys; sys.exit(7)").done()
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(done.lines()[0], "hodo: there is no process 2147483647: 'ps' lists those that you can see")

    def test_after_a_recorder_that_waits(self):
        """hodo record --duration CMD has ended its recording, and still waits for the command."""
        first = Recorder(self, "--duration", "0.01", "--", TARGET, "busy", "1000", out="first",
                         env={"HODO_LISTEN": "1"}, stdin=subprocess.PIPE)
        pid = wait_for("the command", lambda: next(iter(children(first.pid)), None))
        wait_for("the end of the recording", lambda: (self.status(pid) or {}).get("recorded_by") == "nobody" and
                 os.path.exists(self.path("first")))
        done = Recorder(self, "-p", pid, "--duration", "0.2").done()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.events()
        first.stdin.close()
        self.assertEqual(first.done().returncode, 0)

    def test_of_a_command_that_is_recorded(self):
        """It is not recorded as a listener, but it is listed, switched and ended like one."""
        r = Recorder(self, "--", TARGET, env={"HODO_LISTEN": "1"}, stdin=subprocess.PIPE)
        pid = wait_for("the command", lambda: next(iter(children(r.pid)), None))
        wait_for("the recording", lambda: self.recorded(pid))
        done = Recorder(self, "-p", pid, out="second").done()
        self.assertLine(done, f"hodo: process {pid} is already being recorded by hodo (process {r.pid}): end that, "
                        f"or use 'hodo detach {pid}'")
        self.assertEqual(self.hodo("disable", pid, "at:note").returncode, 0)
        self.assertEqual(self.hodo("detach", pid).returncode, 0)
        self.assertEqual(self.status(pid)["recorded_by"], "nobody")
        r.stdin.close()
        done = r.done()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("its recording was ended, by 'hodo detach' or by itself", done.stderr)
        self.assertEqual({e["name"] for e in self.events()}, {"at:begin"})

    def test_recorder_killed(self):
        t = Target(self)
        r = self.record(t)
        t("note", 100)
        r.stop(signal.SIGKILL)
        self.wait_unrecorded(t.pid)
        self.assertEqual(t("note", 5), 0)
        r = self.record(t, out="next")
        t("note", 3)
        r.stop()
        self.assertEqual(self.notes(self.events("next")), [0, 1, 2])

    def test_two_recorders(self):
        t = Target(self)
        r = self.record(t)
        done = Recorder(self, "-p", t.pid, out="second").done()
        self.assertLine(done, f"hodo: process {t.pid} is already being recorded by hodo (process {r.pid}): end "
                        f"that, or use 'hodo detach {t.pid}'")
        t("note", 4)
        self.assertEqual(r.stop().returncode, 0)
        self.assertEqual(self.notes(self.events()), list(range(4)))
        r = self.record(t, out="third")
        r.stop()

    def test_flight_recorder_makes_room(self):
        os.mkdir(self.path("flight"))
        t = Target(self, env={"HODO_FLIGHT": self.path("flight")})
        self.assertEqual(self.status(t.pid)["recorded_by"], "flight")
        r = self.record(t)
        t("note", 3)
        r.stop()
        self.assertEqual(self.notes(self.events()), [0, 1, 2])
        # The flight recorder goes on in its own file, once the listener has seen the recorder leave.
        for _ in range(500):
            if self.status(t.pid)["recorded_by"] == "flight":
                break
            time.sleep(0.01)
        self.assertEqual(self.status(t.pid)["recorded_by"], "flight")
        self.assertEqual(len(os.listdir(self.path("flight"))), 2)


class Life(Case):
    """What happens to a recording when its process does something."""

    def test_exit(self):
        t = Target(self)
        r = self.record(t)
        t("note", 9)
        self.assertIsNone(t("exit", 3))
        done = r.done()
        self.assertEqual((done.returncode, t.process.wait()), (0, 3), done.stderr)
        self.assertEqual(self.notes(self.events()), list(range(9)))

    def test_signal(self):
        for signum in (signal.SIGKILL, signal.SIGABRT):
            t = Target(self)
            r = self.record(t, out=f"t{signum}")
            t("note", 9)
            t.process.send_signal(signum)
            done = r.done()
            self.assertEqual((done.returncode, t.process.wait()), (0, -signum), done.stderr)
            self.assertEqual(self.notes(self.events(f"t{signum}")), list(range(9)))

    def test_exec(self):
        """The recording ends with the first program; the next program can be recorded separately."""
        t = Target(self)
        r = self.record(t)
        t("note", 3)
        self.assertIsNone(t("exec"))
        done = r.done()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.notes(self.events()), [0, 1, 2])
        wait_for("the next image", lambda: self.status(t.pid))
        r = self.record(t, out="next")
        t("note", 2)
        r.stop()
        self.assertEqual(self.notes(self.events("next")), [0, 1])

    def test_fork(self):
        t = Target(self)
        r = self.record(t)
        children = [t("fork") for _ in range(3)]
        t("note", 1)
        done = r.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        events = self.events()
        for child in children:
            self.assertEqual([e["fields"]["i"] for e in events if e["pid"] == child], [0, 1, 2])
        starts = {p["pid"]: p["start"] for p in self.info()["processes"]}
        self.assertEqual(starts, {t.pid: "attach", **{child: "fork" for child in children}})

    def test_no_fork_child_after_the_end(self):
        t = Target(self)
        self.record(t).stop()
        child = t("fork")
        self.assertGreater(child, 0)
        r = self.record(t, out="next")
        r.stop()
        self.assertEqual([p["pid"] for p in self.info("next")["processes"]], [t.pid])

    def test_stop(self):
        t = Target(self)
        r = self.record(t)
        t("note", 4)
        self.assertEqual(t("stop"), 0)
        t("note", 50)
        done = r.done()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"hodo: cli_target[{t.pid}]: its recording was ended, by 'hodo detach' or by itself", done.lines())
        self.assertEqual(self.notes(self.events()), list(range(4)))

    def test_closefrom(self):
        t = Target(self)
        r = self.record(t)
        t("note", 2)
        self.assertEqual(t("closefrom"), 0)
        t("note", 3)
        done = r.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.notes(self.events()), [0, 1, 0, 1, 2])
        self.assertIsNotNone(self.status(t.pid))

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_setuid(self):
        """The process still listens at the same place; the recording goes on, and a new one can begin."""
        t = Target(self)
        r = self.record(t)
        self.assertEqual(t("setuid", 65534), 0)
        t("note", 3)
        self.assertEqual(r.stop().returncode, 0)
        self.assertEqual(self.notes(self.events()), [0, 1, 2])
        r = self.record(t, out="next")
        t("note", 2)
        child = t("fork")
        self.assertEqual(r.stop().returncode, 0)
        events = self.events("next")
        self.assertEqual(self.notes(events), [0, 1])
        self.assertEqual(len([e for e in events if e["pid"] == child]), 3)

    def test_detach_while_recording(self):
        """Detaches one of two processes; the other one's recording goes on."""
        t = [Target(self), Target(self)]
        r = self.record(t)
        for n in (0, 1):
            t[n]("note", 3)
        done = self.hodo("detach", t[0].pid)
        self.assertEqual((done.returncode, done.stderr), (0, f"hodo: process {t[0].pid} is no longer recorded\n"))
        for n in (0, 1):
            t[n]("note", 2)
        self.assertEqual(r.stop().returncode, 0)
        events = self.events()
        self.assertEqual(self.notes(events, t[0].pid), [0, 1, 2])
        self.assertEqual(self.notes(events, t[1].pid), [0, 1, 2, 0, 1])

    def test_detach_only_from_one_recorder(self):
        """With --recorder, nothing happens to a process that another recorder records."""
        t = Target(self)
        r = self.record(t)
        t("note", 3)
        done = self.hodo("detach", "--recorder", os.getpid(), t.pid)
        self.assertNotIn("is no longer recorded", done.stderr)
        t("note", 2)
        done = self.hodo("detach", "--recorder", r.pid, t.pid)
        self.assertEqual((done.returncode, done.stderr), (0, f"hodo: process {t.pid} is no longer recorded\n"))
        t("note", 4)
        r.stop()
        self.assertEqual(self.notes(self.events(), t.pid), [0, 1, 2, 0, 1])

    def test_stopped_process(self):
        """SIGSTOP: the recorder neither waits for the process for ever nor ends with it."""
        t = Target(self)
        r = self.record(t)
        t("note", 6)
        os.kill(t.pid, signal.SIGSTOP)
        done = r.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.notes(self.events()), list(range(6)))
        done = self.hodo("list", t.pid)
        self.assertLine(done, f"hodo: process {t.pid} does not answer: if it is stopped, resume it"
                        f" ('kill -CONT {t.pid}'), and try again")
        os.kill(t.pid, signal.SIGCONT)
        self.wait_unrecorded(t.pid)
        self.assertEqual(t("note", 1), 0)


class Verbs(Case):
    def test_list(self):
        t = Target(self)
        golden = """\
at:begin   {}  mark        (argc:i32)  cli_target.c:N  "with %d arguments"
at:child   {}  event       (i:i32)  cli_target.c:N
at:note    {}  event       (i:i64)  cli_target.c:N
at:signal  {}  event       (thread:i32, n:u64, check:u64, text:str)  cli_target.c:N
at:thread  {}  event       (poke:u32)  cli_target.c:N
at:work    {}  event       (thread:i32, n:u64, check:u64, text:str)  cli_target.c:N
process PID is {}
"""

        def shown(*states):
            done = self.hodo("list", t.pid)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            text = re.sub(r"\S*(cli_target\.c):\d+", r"\1:N", done.stdout.replace(str(t.pid), "PID"))
            self.assertEqual(text, golden.format(*(s.ljust(8) for s in states[:-1]), states[-1]))

        shown(*["off"] * 6, "not recorded")
        r = self.record(t, "-e", "at:note,at:child,at:thread")
        by = f"recorded by hodo (process {r.pid})"
        shown("off", "on", "on", "off", "on", "off", by)
        self.hodo("enable", t.pid, "at:w*")
        self.hodo("disable", t.pid, "at:child", "at:thread")
        shown("off", "disabled", "on", "off", "disabled", "on", by)
        r.stop()
        r = self.record(t, "-e", "at:note,at:child", "--filter", "i > 2", out="next")
        by = f"recorded by hodo (process {r.pid})"
        shown("off", "disabled", "filtered", "off", "disabled", "off", by)
        r.stop()

    def test_list_json(self):
        t = Target(self)
        r = self.record(t)
        done = self.hodo("list", "--json", t.pid)
        got = json.loads(done.stdout)
        self.assertEqual({k: got[k] for k in ("version", "pid", "listens", "recorded_by", "recorder")},
                         {"version": 1, "pid": t.pid, "listens": True, "recorded_by": "hodo", "recorder": r.pid})
        note = next(e for e in got["events"] if e["name"] == "at:note")
        self.assertEqual((note["state"], note["loaded"], note["probed"], note["kind"], note["fields"]),
                         ("on", True, False, "event", [{"name": "i", "type": "i64"}]))
        self.assertTrue(note["object"].endswith("cli_target"))
        r.stop()

    def test_list_without_listener(self):
        t = Target(self, listen=False)
        done = self.hodo("list", t.pid)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, f"hodo: warning: process {t.pid} does not listen: these are the events of its files:"
                         f" 'hodo record -p {t.pid}' records them\n")
        self.assertEqual([line.split()[:2] for line in done.stdout.splitlines()],
                         [["at:begin", "mark"], ["at:child", "event"], ["at:note", "event"], ["at:signal", "event"],
                          ["at:thread", "event"], ["at:work", "event"]])
        got = json.loads(self.hodo("list", "--json", "-q", t.pid).stdout)
        self.assertEqual((got["pid"], got["listens"]), (t.pid, False))
        self.assertNotIn("state", got["events"][0])
        self.assertIsNone(self.status(t.pid))

    def test_list_of_a_file_that_was_replaced(self):
        copy = self.path("program")
        with open(os.environ["TARGET"], "rb") as f, open(copy, "wb") as g:
            g.write(f.read())
        os.chmod(copy, 0o755)
        with subprocess.Popen([copy], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env) as p:
            p.stdout.readline()
            os.remove(copy)
            done = self.hodo("list", p.pid)
            p.stdin.close()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("at:note", done.stdout)

    def test_pids(self):
        t = [Target(self), Target(self)]
        other = Target(self, listen=False)
        r = self.record(t[1])
        done = self.hodo("list", "--pids")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
        self.assertEqual(lines[0], ["PID", "EVENTS", "PROGRAM"])
        mine = {int(line[0]): line[1:] for line in lines[1:]}
        self.assertEqual(mine[t[0].pid], ["6", "cli_target"])
        self.assertEqual(mine[t[1].pid], ["6", f"cli_target: recorded by hodo (process {r.pid})"])
        self.assertNotIn(other.pid, mine)
        r.stop()

    def test_enable_disable(self):
        t = Target(self)
        r = self.record(t, "-e", "at:child")
        t("note", 1)
        done = self.hodo("enable", t.pid, "at:note,at:thread", "at:begin")
        self.assertEqual((done.returncode, done.stderr), (0, "".join(f"hodo: 1 event of process {t.pid} is on\n" * 3)))
        t("note", 2)
        done = self.hodo("disable", "-q", t.pid, "at:note")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        t("note", 3)
        done = self.hodo("enable", "-q", t.pid, "at:note")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.hodo("disable", "-q", t.pid, "at:note", status=0)
        done = self.hodo("enable", t.pid, "at")
        self.assertEqual((done.returncode, done.stderr), (0, f"hodo: 6 events of process {t.pid} are on\n"))
        t("note", 4)
        r.stop()
        self.assertEqual(self.notes(self.events()), [0, 1, 0, 1, 2, 3])

    def test_disabled_stays_so(self):
        t = Target(self)
        self.assertEqual(self.hodo("disable", t.pid, "at:note").returncode, 0)
        r = self.record(t)
        t("note", 3)
        t("fork")
        r.stop()
        self.assertEqual({e["name"] for e in self.events()}, {"at:child"})

    def test_no_match(self):
        t = Target(self)
        r = self.record(t)
        for verb in ("enable", "disable"):
            done = self.hodo(verb, t.pid, "at:nix", "at:note")
            self.assertLine(done, f"hodo: no event of process {t.pid} matches at:nix: 'hodo list {t.pid}' lists them")
            self.assertRegex(done.stderr, "1 event of process .* is o[nf]")
        r.stop()

    def test_not_recorded(self):
        t = Target(self)
        done = self.hodo("enable", t.pid, "at:note")
        self.assertLine(done, f"hodo: process {t.pid} is not being recorded, so no event can be on: start with "
                        f"'hodo record -p {t.pid}'")
        done = self.hodo("detach", t.pid)
        self.assertLine(done, f"hodo: process {t.pid} is not being recorded: 'hodo record -p {t.pid}' records it")

    def test_no_library(self):
        with subprocess.Popen(["sleep", "1000"], env=self.env) as p:
            self.addCleanup(p.wait)
            self.addCleanup(p.kill)
            for args in (["enable", p.pid, "x:y"], ["disable", p.pid, "x:y"], ["detach", p.pid]):
                self.assertLine(self.hodo(*args), f"hodo: process {p.pid} is not being recorded, and does not listen:"
                                f" 'hodo record -p {p.pid}' does both")
            p.kill()

    def test_usage(self):
        for args, text in (
                (["record", "-p"], "option '-p' needs a value"),
                (["record", "-p", "x"], "'x' is not a process ID"),
                (["record", "-p", "12,,13"], "'' is not a process ID"),
                (["record", "-p", "0"], "'0' is not a process ID"),
                (["record", "-p", "-5"], "'-5' is not a process ID"),
                (["record", "-p", "2147483648"], "'2147483648' is not a process ID"),
                (["enable"], "give a process ID"), (["disable"], "give a process ID"),
                (["detach"], "give a process ID"),
                (["enable", "12"], "no events given: '*:*' is all of them"),
                (["enable", "x", "a:b"], "'x' is not a process ID"),
                (["enable", "12", "!a:b"], "'!a:b': use 'hodo enable' to switch an event on, 'hodo disable' to switch it off"),
                (["detach", "12", "x"], "'x' is not a process ID"),
                (["detach", "--json", "12"], "unknown option '--json'"),
                (["list", "--pids", "12"], "--pids lists processes: leave out DIR, --functions, --sdt and --events"),
                (["list", "1", "2"], "one program, recording or process at a time, not '2' too")):
            with self.subTest(args):
                done = self.hodo(*args)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr, f"hodo: {args[0]}: {text}: see 'hodo {args[0]} --help'\n")

    def test_help(self):
        for verb in ("record", "list", "enable", "disable", "detach"):
            done = self.hodo(verb, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith(f"usage: hodo {verb} [options]"))
        self.assertEqual(HODO, os.environ["HODO"])


main()
