#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""top.py - hodo top on real processes and, under tmux, on a real terminal.

HODO, LIBHODO and TARGET (target.c) are in the environment.
"""
import json
import os
import re
import shutil
import signal
import subprocess

import hodo_test
from hodo_test import HODO, LIBHODO, LIMIT_S, children, main, program, run, skip, wait_for
from terminal import on_terminal

TARGET = program("TARGET")
EVENTS = ["top:alpha", "top:beta", "top:text"]


class Case(hodo_test.Case):
    def setUp(self):
        super().setUp()
        self.env["HODO_LIBRARY"] = LIBHODO
        self.env.pop("TERM")
        for name in ("in", "out"):
            os.mkfifo(self.path(name))
        self.orders = self.answers = None

    def socket(self, pid):
        return os.path.join(self.env["XDG_RUNTIME_DIR"], "hodo", str(pid))

    def target(self, program=TARGET):
        """The target's command line; call connect() after starting it."""
        return [program, self.path("in"), self.path("out")]

    def connect(self):
        # pylint: disable=consider-using-with
        self.orders = open(self.path("in"), "w", encoding="utf-8", errors="surrogateescape")
        self.addCleanup(self.orders.close)
        self.answers = open(self.path("out"), encoding="utf-8")
        self.addCleanup(self.answers.close)

    def order(self, text, answered=True):
        """Tells the target to do something, and returns when it has done it."""
        self.orders.write(text + "\n")
        self.orders.flush()
        if answered:
            self.assertEqual(self.answers.readline(), "done\n")

    def top(self, *args):
        """hodo top with its output in pipes."""
        return self.start(HODO, "top", *args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=False)

    def lines_until(self, top, condition):
        """The lines of hodo top --json, up to the first one for which the condition holds."""
        lines = []

        def more():
            line = top.stdout.readline()
            self.assertTrue(line, f"it printed {lines}, and ended")
            lines.append(json.loads(line))
            return condition(lines[-1])
        wait_for(lambda: f"the line, after {lines[-1]}", more)
        return lines

    def listener(self):
        """Starts the target without hodo, listening."""
        process = self.start(*self.target(), env={"LD_PRELOAD": LIBHODO, "HODO_LISTEN": "1"})
        self.connect()
        wait_for("the target's socket", lambda: os.path.exists(self.socket(process.pid)))
        return process


def events_of(line):
    return {e["name"]: e for e in line["events"]}


def all_on(line):
    """Whether the line has the target, with its events switched on: hodo prints lines before that, too."""
    return len(line["events"]) == len(EVENTS) and all(e["on"] for e in line["events"])


def check_sums(test, line):
    """Checks that each of the tables has all events."""
    for table in ("events", "threads", "cpus"):
        test.assertEqual(sum(row["count"] for row in line[table]), line["recorded"], table)
        test.assertEqual(sum(row["bytes"] for row in line[table]), line["bytes"], table)
    test.assertNotIn(0, [row["tid"] for row in line["threads"]])


class Json(Case):
    def test_counts_are_exact(self):
        top = self.top("--json", "-d", "0.1", "-m", "64M", "--", *self.target())
        self.connect()
        self.order("a 100000")
        self.order("text 7")
        lines = self.lines_until(top, all_on)
        first = lines[-1]
        self.assertEqual(sorted(events_of(first)), EVENTS)
        self.order("thread helper 4321")
        self.order("fork 99")
        self.order("b 1")
        self.order("exit 3", answered=False)
        # communicate() does not know what readline() has read ahead.
        lines += [json.loads(line) for line in top.stdout]
        self.assertEqual((top.wait(LIMIT_S), top.stderr.read()), (3, b""))
        last = lines[-1]
        self.assertEqual({n: e["count"] for n, e in events_of(last).items()},
                         {"top:alpha": 104321, "top:beta": 100, "top:text": 7})
        # header: id and time stamp; fields: a long each; a text of 4 bytes with its length
        self.assertEqual({n: e["bytes"] for n, e in events_of(last).items()},
                         {"top:alpha": 104321 * 14, "top:beta": 100 * 22, "top:text": 7 * 12})
        self.assertEqual(last["recorded"], 104428)
        self.assertEqual(last["lost"], {"full": 0, "too_large": 0, "busy": 0, "overwritten": 0, "unwritten": 0,
                                        "damaged": 0})
        threads = sorted((t["comm"], t["count"], t["pid"] == t["tid"]) for t in last["threads"])
        self.assertEqual(threads, [("helper", 4321, False), ("top_target", 99, True), ("top_target", 100008, True)])
        for before, line in zip([None] + lines, lines):
            check_sums(self, line)
            self.assertGreater(line["interval_ns"], 0)
            for name, e in events_of(line).items():
                new = e["count"] - (events_of(before)[name]["count"] if before and name in events_of(before) else 0)
                self.assertAlmostEqual(e["rate"], new * 1e9 / line["interval_ns"], delta=0.001)
        self.assertEqual([e["on"] for e in last["events"]], [None] * 3)
        self.assertTrue(all(e["on"] is True for e in first["events"]))

    def test_losses_are_counted(self):
        top = self.top("--json", "-d", "0.1", "-m", "8K", "--", *self.target())
        self.connect()
        self.order("a 3000000")
        self.order("exit 0", answered=False)
        out, err = top.communicate(timeout=LIMIT_S)
        self.assertEqual((top.returncode, err), (0, b""))
        last = json.loads(out.splitlines()[-1])
        check_sums(self, last)
        lost = sum(last["lost"].values())
        self.assertEqual(last["recorded"] + lost, 3000000)
        self.assertEqual(lost, last["lost"]["full"])
        self.assertEqual(sum(c["lost"] for c in last["cpus"]), lost)

    def test_patterns(self):
        top = self.top("--json", "-e", "top:b*", "-d", "0.1", "--", *self.target())
        self.connect()
        self.order("a 10")
        self.order("b 10")
        line = self.lines_until(top, lambda line: line["recorded"] == 10)[-1]
        self.assertEqual({n: (e["count"], e["on"]) for n, e in events_of(line).items()},
                         {"top:alpha": (0, False), "top:beta": (10, True), "top:text": (0, False)})
        self.order("exit 4", answered=False)
        last = [json.loads(line) for line in top.stdout][-1]
        self.assertEqual({n: e["count"] for n, e in events_of(last).items()},
                         {"top:alpha": 0, "top:beta": 10, "top:text": 0})
        self.assertEqual(top.wait(LIMIT_S), 4)

    def test_iterations(self):
        top = self.top("--json", "-n", "2", "-d", "0.1", "--", *self.target())
        self.connect()
        for _ in range(2):
            self.assertIn("events", json.loads(top.stdout.readline()))
        # hodo top has ended its output, but the command still runs.
        self.order("b 10")
        self.order("exit 4", answered=False)
        self.assertEqual(top.stdout.read(), b"")
        self.assertEqual(top.wait(LIMIT_S), 4)

    def test_duration(self):
        """It ends by itself, and the process runs on."""
        target = self.listener()
        top = self.top("--json", "--duration", "0.5", "-d", "0.1", target.pid)
        out, err = top.communicate(timeout=LIMIT_S)
        self.assertEqual((top.returncode, err), (0, b""))
        self.assertTrue(all("events" in json.loads(line) for line in out.splitlines()))
        self.assertTrue(out)
        self.order("b 10")
        self.assertIsNone(target.poll())

    def check_unknown(self, top, listed):
        """What does not match is reported with what lists the events."""
        self.assertRegex(top.communicate(timeout=LIMIT_S)[1].decode(),
                         r"\Ahodo: no event matches 'top:alhpa' \(near: top:alpha, top:beta\)( so far)?: "
                         rf"'hodo list {re.escape(str(listed))}' lists what there is\n")
        self.assertIn("top:alpha", self.ok("list", "--events", listed))

    def test_unknown_event_of_process(self):
        target = self.listener()
        self.check_unknown(self.top("--json", "-n", "1", "-d", "0.1", "-e", "top:alhpa", target.pid), target.pid)
        self.order("exit 0", answered=False)

    def test_unknown_event_of_command(self):
        top = self.top("--json", "-d", "0.1", "-e", "top:alhpa", "--", *self.target())
        self.connect()
        self.order("exit 0", answered=False)
        self.check_unknown(top, TARGET)

    def test_reader_goes(self):
        target = self.listener()
        top = self.top("--json", "-d", "0.1", target.pid)
        top.stdout.readline()
        top.stdout.close()
        self.assertEqual(top.wait(LIMIT_S), 0)
        self.assertEqual(top.stderr.read(), b"")
        self.order("a 1")
        self.assertIsNone(target.poll())

    def test_attached(self):
        target = self.listener()
        self.order("a 1000")  # not counted, since hodo top starts later
        top = self.top("--json", "-d", "0.1", target.pid)
        self.lines_until(top, all_on)
        self.order("a 2000")
        second = self.top("--json", target.pid)
        out, err = second.communicate(timeout=LIMIT_S)
        self.assertEqual((second.returncode, out), (1, b""))
        self.assertRegex(err.decode(), rf"^hodo: .*{target.pid}.*{top.pid}.*\n$")
        self.order("b 5")
        self.order("exit 9", answered=False)
        out, err = top.communicate(timeout=LIMIT_S)
        self.assertEqual((top.returncode, err), (0, b""))
        last = json.loads(out.splitlines()[-1])
        self.assertEqual({n: e["count"] for n, e in events_of(last).items()},
                         {"top:alpha": 2000, "top:beta": 5, "top:text": 0})
        self.assertEqual(target.wait(LIMIT_S), 9)

    def recorder(self, *options):
        """Starts the target under another hodo record."""
        recorder = self.start(HODO, "record", "-q", "-o", self.path("data"), *options, "--", *self.target(),
                              env={"HODO_LISTEN": "1"})
        self.connect()
        return recorder, children(recorder.pid)[0]

    def test_watches_another_recording(self):
        recorder, pid = self.recorder("--overwrite", "-m", "16M")
        self.order("a 100000")  # not counted, since hodo top starts later
        top = self.top("--json", "-d", "0.1", pid)
        top.stdout.readline()
        second = self.top("--json", "-d", "0.1", "-n", 1, pid)  # several can watch
        self.assertEqual(len(second.communicate(timeout=LIMIT_S)[0].splitlines()), 1)
        self.order("a 200000")
        self.order("thread helper 33")
        self.order("b 44")
        self.order("exit 6", answered=False)
        out, err = top.communicate(timeout=LIMIT_S)
        self.assertEqual(top.returncode, 0)
        self.assertRegex(err.decode(), rf"^hodo: process {pid} is recorded by hodo \(process {recorder.pid}\): "
                                       r"its buffers are watched, and not changed\n$")
        last = json.loads(out.splitlines()[-1])
        check_sums(self, last)
        self.assertEqual(sum(last["lost"].values()), last["lost"]["unwritten"])
        self.assertEqual(last["recorded"] + last["lost"]["unwritten"], 200077)
        self.assertEqual(sum(c["lost"] for c in last["cpus"]), last["lost"]["unwritten"])
        # The recording is not affected.
        self.assertEqual(recorder.wait(LIMIT_S), 6)
        stat = self.stat(self.path("data"))
        self.assertEqual(stat["recorded"] + stat["overwritten"], 300077)

    def test_rates(self):
        _, pid = self.recorder("--overwrite", "--rate", "top:alpha=10/s")
        self.order("a 1000")  # not counted, since hodo top starts later
        top = self.top("--json", "-d", "0.1", pid)
        top.stdout.readline()
        self.order("a 2000")
        self.order("b 3")

        def seen():
            line = json.loads(top.stdout.readline())
            return line if line["recorded"] + line["limited"] == 2003 else None
        line = wait_for("all of them", seen)
        alpha = events_of(line)["top:alpha"]
        self.assertEqual(alpha["count"] + alpha["limited"], 2000)
        self.assertEqual(alpha["limited"], line["limited"])
        self.assertGreater(alpha["limited"], 0)
        self.assertEqual(events_of(line)["top:beta"]["count"], 3)
        self.order("a 500")
        self.order("exit 0", answered=False)
        last = json.loads(top.communicate(timeout=LIMIT_S)[0].splitlines()[-1])
        self.assertEqual(last["recorded"] + last["limited"], 2503)
        self.assertEqual(events_of(last)["top:alpha"]["limited"], last["limited"])
        self.assertTrue(all(e["on"] is None for e in last["events"]))

    def test_does_not_watch_what_is_consumed(self):
        recorder, pid = self.recorder()
        out, err = self.top("--json", pid).communicate(timeout=LIMIT_S)
        self.assertEqual(out, b"")
        self.assertRegex(err.decode(), rf"^hodo: [^\n]*{recorder.pid}[^\n]*\n$")

    def test_watched_at_full_speed(self):
        """Events overwritten unseen are counted as such: with those seen, they are as many as the recorder counts."""
        recorder, pid = self.recorder("--overwrite", "-m", "64K")
        top = self.top("--json", "-d", "0.1", pid)
        top.stdout.readline()
        self.order("a 5000000")
        self.order("text 3")
        self.order("exit 0", answered=False)
        last = json.loads(top.communicate(timeout=LIMIT_S)[0].splitlines()[-1])
        check_sums(self, last)
        self.assertEqual(last["recorded"] + last["lost"]["unwritten"], 5000003)
        self.assertEqual(recorder.wait(LIMIT_S), 0)

    def test_process_that_never_heard_of_us(self):
        process = self.start(*self.target())
        self.connect()
        top = self.top("--json", "-d", "0.1", process.pid)
        first = top.stdout.readline()
        if not first and "ptrace" in top.stderr.read().decode():
            self.skipTest("processes cannot be attached to here")
        self.lines_until(top, all_on)
        self.order("a 500")
        top.terminate()
        last = json.loads(top.communicate(timeout=LIMIT_S)[0].splitlines()[-1])
        self.assertEqual(events_of(last)["top:alpha"]["count"], 500)
        # The process is as before, except for the library.
        wait_for("the end of its listening", lambda: not os.path.exists(self.socket(process.pid)))
        wait_for("the end of its thread", lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 1)
        self.order("exit 2", answered=False)
        self.assertEqual(process.wait(LIMIT_S), 2)

    def test_terminated(self):
        for sent in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(sent):
                if self.orders is None:
                    target = self.listener()
                top = self.top("--json", "-d", "0.1", target.pid)
                self.lines_until(top, all_on)
                self.order("a 100")
                top.send_signal(sent)
                out = top.communicate(timeout=LIMIT_S)[0]
                self.assertEqual(top.returncode, 0 if sent == signal.SIGINT else -sent)
                self.assertEqual(events_of(json.loads(out.splitlines()[-1]))["top:alpha"]["count"], 100)
        self.assertIsNone(target.poll())

    def test_several_processes(self):
        first = self.listener()
        second = self.start(TARGET, stdin=subprocess.PIPE, text=False, env={"LD_PRELOAD": LIBHODO, "HODO_LISTEN": "1"})
        wait_for("its socket", lambda: os.path.exists(self.socket(second.pid)))
        top = self.top("--json", "-d", "0.1", first.pid, second.pid, first.pid)
        self.assertEqual(json.loads(top.stdout.readline())["processes"], 2)
        self.order("a 100")
        second.stdin.write(b"a 50\nb 5\n")
        second.stdin.close()
        self.assertEqual(second.wait(LIMIT_S), 0)
        second.stdin = None
        self.order("a 1")
        self.order("exit 0", answered=False)
        out, err = top.communicate(timeout=LIMIT_S)
        self.assertEqual((top.returncode, err), (0, b""))
        last = json.loads(out.splitlines()[-1])
        check_sums(self, last)
        self.assertEqual({n: e["count"] for n, e in events_of(last).items()},
                         {"top:alpha": 151, "top:beta": 5, "top:text": 0})
        self.assertEqual({t["pid"]: t["count"] for t in last["threads"]}, {first.pid: 101, second.pid: 55})

    def test_killed(self):
        target = self.listener()
        top = self.top("--json", "-d", "0.1", target.pid)
        top.stdout.readline()
        self.order("a 10")
        top.kill()
        top.wait()
        self.order("a 100000")

        def attach():
            again = self.top("--json", "-d", "0.1", target.pid)
            return again if again.stdout.readline() else None  # the target may not have noticed the end yet
        again = wait_for("a second recording", attach)
        self.lines_until(again, all_on)
        self.order("a 30")
        self.order("exit 0", answered=False)
        out = again.communicate(timeout=LIMIT_S)[0]
        self.assertEqual(events_of(json.loads(out.splitlines()[-1]))["top:alpha"]["count"], 30)
        self.assertEqual(target.wait(LIMIT_S), 0)

    def test_usage(self):
        for args, what in ((["--by", "x", "1"], "--by"), (["-d", "0.01", "1"], "-d"), (["-n", "0", "1"], "-n"),
                           (["--sort", "x", "1"], "--sort"), ([], "give a process ID"), (["true"], "put -- in front"),
                           (["--color", "x", "1"], "--color"), (["-m", "1", "1"], "-m"), (["-e", "", "1"], "-e"),
                           (["-e", "kv:*,func:main", "1"], "--functions=GLOB")):
            top = self.top(*args)
            err = top.communicate(timeout=LIMIT_S)[1].decode()
            self.assertEqual(top.returncode, 2, args)
            self.assertRegex(err, rf"^hodo: top: .*{re.escape(what)}.*: see 'hodo top --help'\n$")
        for args, status in ((["--", "/nonexistent"], 127), (["--", "/dev"], 126), (["999999999"], 1)):
            top = self.top(*args)
            err = top.communicate(timeout=LIMIT_S)[1].decode()
            self.assertEqual(top.returncode, status, err)
            self.assertRegex(err, r"^hodo: [^\n]*\n$")


class Batch(Case):
    def test_table(self):
        top = self.top("-d", "0.2", "--sort", "name", "-m", "64M", "--", *self.target())
        self.connect()
        self.order("a 1234567")
        self.order("say \x1b[31mdata")
        self.order("exit 0", answered=False)
        out, err = (text.decode() for text in top.communicate(timeout=LIMIT_S))
        self.assertEqual(top.returncode, 0)
        last = out.split("\n\nhodo top: ")[-1].splitlines()
        self.assertRegex(last[0], r"top_target\[\d+\] +every 0.2 s  0:00:\d\d$")
        self.assertRegex(last[1], r"^[\d.,]+ events/s  .* total 1,234,567  threads 1$")
        self.assertEqual(last[2], "nothing lost")
        self.assertRegex(last[4], r"^\*EVENT +RATE/s +AVERAGE/s +TOTAL +BYTES/s +LOST STATE$")
        self.assertRegex(last[5], r"^top:alpha +[\d,.]+ +[\d,.]+ +1,234,567 +[\d.]+ [KMG]?i?B +0 gone$")
        self.assertEqual([line.split()[0] for line in last[5:]], EVENTS)
        # The command's output is not mixed with the table.
        self.assertRegex(err, r"^\x1b\[31mdata\nhodo: top_target\[\d+\] has ended: 1,234,567 events, 0 lost\n$")

    def test_columns(self):
        """Besides the name only the columns that were asked for, in the table's order; PID even for one process."""
        top = self.top("-d", "0.2", "--batch", "--by", "threads", "--columns", "total,pid", "-m", "64M", "--",
                       *self.target())
        self.connect()
        self.order("a 1234567")
        self.order("exit 0", answered=False)
        out, _ = (text.decode() for text in top.communicate(timeout=LIMIT_S))
        last = out.split("\n\nhodo top: ")[-1].splitlines()
        self.assertEqual(last[4].split(), ["THREAD", "PID", "TOTAL"])
        self.assertRegex(last[5], r"^\S+ +\d+ +1,234,567$")

    def test_hostile_names(self):
        program = self.path("hostile")
        with open(TARGET, "rb") as f:
            code = f.read()
        self.assertIn(b"alpha\0", code)
        with open(program, "wb") as f:
            f.write(code.replace(b"alpha\0", b"\x1b[7m\x07\0"))
        os.chmod(program, 0o700)
        top = self.top("-d", "0.1", "--by", "threads", "--batch", "--", *self.target(program))
        self.connect()
        self.order("a 10")
        self.order("thread \x1b]0;x\x07\u202e\udc9b 5")
        wait_for("the thread", lambda: b"]0;x" in top.stdout.readline())
        self.order("exit 0", answered=False)
        out = top.communicate(timeout=LIMIT_S)[0]
        self.assertRegex(out.decode(), r"(?m)^\?\]0;x\?\?\? ")
        self.assertNotRegex(out.decode(), r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")

    def test_dumb_terminal(self):
        self.env["TERM"] = "dumb"
        status, text = on_terminal(self, HODO, "top", "-n", 2, "-d", 0.1, "--", "sleep", 1)
        self.assertEqual(status, 0)
        self.assertIn("hodo: TERM=dumb: this terminal cannot show a table", text)
        self.assertEqual(text.count("hodo top: sleep["), 2)
        self.assertNotIn("\x1b", text)


class Terminal(Case):
    """tmux is the terminal: it has a real pty, and knows what the screen shows."""

    def setUp(self):
        super().setUp()
        self.env["TERM"] = "xterm-256color"
        self.terminals = 0

    def terminal(self, width, height, *command):
        """Opens a new terminal of this size; closes an earlier one."""
        if self.terminals:
            self.tmux("kill-server")
        self.terminals += 1
        self.tmux("new-session", "-d", "-x", width, "-y", height, *command)
        self.addCleanup(run, "tmux", "-S", self.path(f"tmux{self.terminals}"), "kill-server")

    def tmux(self, *args, check=True):
        return run("tmux", "-f", "/dev/null", "-S", self.path(f"tmux{self.terminals}"), *args, env=self.env,
                   status=0 if check else None).stdout

    def open(self, command, width=80, height=24):
        """Opens a window with a shell that runs the command, prints its status, and stays."""
        script = self.path("script")
        with open(script, "w", encoding="utf-8") as f:
            f.write(f"stty -a >{self.path('before')}\n{command}\necho status=$?\nstty -a >{self.path('after')}\n"
                    "echo over; exec sleep 1000\n")
        self.terminal(width, height, "sh", script)

    def open_top(self, *options, width=80, height=24, program=TARGET):
        command = [HODO, "top", "-d", "0.1", "-m", "16M", *options, "--", *self.target(program)]
        self.open(" ".join(command), width, height)
        self.connect()
        self.wait_screen("q quit")

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def wait_screen(self, pattern):
        return wait_for(lambda: f"{pattern} in\n{self.screen()}", lambda: re.search(pattern, self.screen(), re.M))

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def has(self, flag):
        return self.tmux("display-message", "-p", f"#{{{flag}}}").strip()

    def check_restored(self):
        """Checks that the terminal is as it was before."""
        self.wait_screen("^over$")
        with open(self.path("before"), encoding="utf-8") as before, open(self.path("after"), encoding="utf-8") as after:
            self.assertEqual(before.read(), after.read())
        self.assertEqual((self.has("alternate_on"), self.has("cursor_flag"), self.has("keypad_cursor_flag")),
                         ("0", "1", "0"))

    def hodo_pid(self):
        pane = self.has("pane_pid")
        return int(run("pgrep", "-P", pane, "-x", "hodo", status=0).stdout)


class Screen(Terminal):
    def test_table_keys_and_end(self):
        self.open_top()
        self.order("a 1000")
        self.order("thread helper 50")
        self.wait_screen(r"^top:alpha +\S+ +1,050 .* on")
        self.assertEqual(self.has("alternate_on"), "1")
        self.keys("t")
        self.wait_screen(r"^THREAD +TID +\*RATE/s")
        self.wait_screen(r"^helper +\d+ +\S+ +\S+ +50 ")
        self.keys("/", "hel*", "Enter")
        self.wait_screen(r"^only hel\*")
        self.assertNotRegex(self.screen(), r"(?m)^top_target ")
        self.keys("Escape")
        self.wait_screen(r"^top_target ")
        self.keys("c")
        self.wait_screen(r"^CPU +\*RATE/s")
        self.wait_screen(r"^CPU \d+ ")
        self.keys("e", "N")
        self.wait_screen(r"(?s)\*EVENT.*top:alpha.*top:beta.*top:text")
        self.keys("r")
        self.wait_screen(r"(?s)-EVENT.*top:text.*top:beta.*top:alpha")
        self.keys("Right")
        self.wait_screen(r"\*RATE/s")
        self.keys("?")
        self.wait_screen("ctrl-L +redraw the screen")
        self.keys("x", "p")
        self.wait_screen(" paused ")
        self.order("a 1")
        self.keys("p")
        self.wait_screen(r"^top:alpha +\S+ +1,051 ")
        self.keys("z")
        self.wait_screen(r"^top:alpha +\S+ +0 ")
        self.keys("+")
        self.wait_screen("every 0.2 s")
        self.order("say what it wrote")
        self.assertNotIn("what it wrote", self.screen())
        self.order("exit 5", answered=False)
        self.check_restored()
        # The last table remains, and so does the command's output; hodo top returns the command's status.
        self.wait_screen(r"^top:alpha +\S+ +0 .*gone")
        self.wait_screen("^what it wrote")
        self.wait_screen(r"^hodo: top_target\[\d+\] has ended: 1,051 events, 0 lost$")
        self.wait_screen("^status=5$")

    def test_sizes(self):
        self.open_top()
        self.order("a 123456")
        self.wait_screen("^top:alpha .* 123,456 ")
        self.keys("N")
        for width, height in ((20, 5), (40, 8), (200, 50), (30, 5), (20, 60), (131, 9), (80, 24)):
            self.tmux("resize-window", "-x", width, "-y", height)
            # The last row is the bottom line; the table has at least one row, and nothing is torn.
            wait_for(lambda: f"{width}x{height}:\n{self.screen()}", lambda: self.screen().split("\n")[
                height - 1:height] and self.screen().split("\n")[height - 1].startswith("q quit  ? help"[:width]))
            wait_for(lambda: self.screen(), lambda: re.search(r"(?m)^top:alpha ", self.screen()))
            lines = self.screen().split("\n")
            self.assertEqual(len([line for line in lines if line.startswith("top:alpha ")]), 1)
            self.assertEqual(len([line for line in lines if re.match(r"\*EVENT ", line)]), 1)
        self.tmux("resize-window", "-x", 3, "-y", 2)
        self.tmux("resize-window", "-x", 80, "-y", 24)
        self.wait_screen("^top:text ")
        self.keys("q")
        self.check_restored()
        self.wait_screen("^status=0$")

    def total(self, name):
        found = re.search(rf"(?m)^{name} +\S+ +([\d,]+) .* (on|off)$", self.screen())
        return (int(found[1].replace(",", "")), found[2]) if found else None

    def test_switching(self):
        self.open_top()
        self.order("b 10")
        wait_for("10 events", lambda: self.total("top:beta") == (10, "on"))
        self.keys("N", "Down", "Space")
        wait_for(self.screen, lambda: self.total("top:beta") == (10, "off"))
        self.order("b 100")
        self.order("a 1")
        wait_for(self.screen, lambda: self.total("top:alpha") == (1, "on"))
        self.assertEqual(self.total("top:beta"), (10, "off"))
        self.keys("Space")
        wait_for(self.screen, lambda: self.total("top:beta") == (10, "on"))
        self.order("b 7")
        wait_for(self.screen, lambda: self.total("top:beta") == (17, "on"))
        self.keys("t", "Space")
        self.wait_screen("^no event is selected")
        self.keys("q")
        self.check_restored()

    def test_what_was_switched_off_is_on_afterwards(self):
        target = self.listener()
        self.open(f"{HODO} top -d 0.1 {target.pid}")
        # For a moment its events are there, but not on yet: the process has only just reported that it is ready.
        wait_for(self.screen, lambda: self.total("top:alpha") == (0, "on"))
        self.keys("N", "Space")
        wait_for(self.screen, lambda: self.total("top:alpha") == (0, "off"))
        self.keys("q")
        self.check_restored()
        self.wait_screen("^status=0$")
        self.assertIsNone(target.poll())
        top = self.top("--json", "-d", "0.1", target.pid)
        self.lines_until(top, all_on)

    def test_command_that_does_not_listen(self):
        self.env["HODO_LISTEN"] = "0"
        self.open_top()
        self.wait_screen("^top:alpha ")
        self.keys("Space")
        self.wait_screen(r"^process \d+ does not listen")
        self.keys("q")
        self.check_restored()

    def test_signals_restore(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT):
            with self.subTest(number):
                if self.orders is None:
                    target = self.listener()
                self.open(f"ulimit -c 0; {HODO} top -d 0.1 {target.pid}")
                self.wait_screen("q quit")
                os.kill(self.hodo_pid(), number)
                self.check_restored()
                self.wait_screen(rf"^status={128 + number}$")
        self.assertIsNone(target.poll())
        self.order("a 1")

    def test_interrupt(self):
        target = self.listener()
        self.open(f"trap : INT; {HODO} top -d 0.1 {target.pid}")
        self.wait_screen("q quit")
        self.keys("C-c")
        self.check_restored()
        self.wait_screen("^status=0$")

    def test_stop_and_continue(self):
        target = self.listener()
        self.terminal(80, 24, "bash --norc --noprofile -i")
        self.keys(f"PS1='prompt> '; {HODO} top -d 0.1 {target.pid}", "Enter")
        self.wait_screen("q quit")
        for _ in range(3):
            self.keys("C-z")
            self.wait_screen("^prompt>")
            self.wait_screen("Stopped")
            self.assertEqual((self.has("alternate_on"), self.has("cursor_flag")), ("0", "1"))
            self.keys("clear; fg", "Enter")
            self.wait_screen("q quit")
            self.assertEqual((self.has("alternate_on"), self.has("cursor_flag")), ("1", "0"))
        self.order("a 77")
        self.wait_screen("^top:alpha .* 77 ")
        self.keys("q")
        self.wait_screen("^prompt>")

    def colors(self):
        return set(re.findall(r"\x1b\[[0-9;]*m", self.screen("-e")))

    def test_colors(self):
        def colored(codes):
            return {code for code in codes if re.search(r"[\[;](3|4|9|10)[0-7](?=[;m])", code)}

        self.open_top()
        wait_for(self.screen, lambda: colored(self.colors()))
        self.keys("q")
        self.check_restored()
        self.env["NO_COLOR"] = "1"
        self.open_top()
        self.assertEqual(colored(self.colors()), set())
        self.keys("q")
        self.check_restored()
        del self.env["NO_COLOR"]
        self.open_top("--color", "never")
        self.assertEqual(colored(self.colors()), set())

    def test_hostile_names(self):
        program = self.path("hostile")
        with open(TARGET, "rb") as f:
            code = f.read()
        with open(program, "wb") as f:
            f.write(code.replace(b"alpha\0", b"\x1b[7m\x07\0"))
        os.chmod(program, 0o700)
        self.open_top(program=program)
        self.tmux("pipe-pane", f"cat >{self.path('raw')}")
        self.order("a 10")
        self.order("thread \x1b]0;x\x07 5")
        self.wait_screen(r"^top:.{5} .* 15 ")
        self.keys("t")
        self.wait_screen(r"^\?\]0;x\? ")
        self.keys("q")
        self.check_restored()
        with open(self.path("raw"), "rb") as f:
            raw = f.read()
        self.assertIn(b"THREAD", raw)
        self.assertNotIn(b"\x07", raw)
        self.assertNotIn(b"\x1b]0;x", raw)

    def test_terminal_goes(self):
        target = self.listener()
        self.open(f"{HODO} top -d 0.1 {target.pid}")
        self.wait_screen("q quit")
        pid = self.hodo_pid()
        self.tmux("kill-server")
        wait_for("its end", lambda: not os.path.exists(f"/proc/{pid}"))
        self.order("a 1")
        self.assertIsNone(target.poll())


if __name__ == "__main__":
    if not shutil.which("tmux"):
        skip("tmux is not installed")
    main()
