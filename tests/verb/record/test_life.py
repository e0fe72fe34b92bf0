# SPDX-License-Identifier: MIT
"""Lives and ends of recorded processes: status, signals, children, time."""

import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from hodo_test import HODO, Case, alive, children, main, program, run, wait_for
from terminal import Terminal

FAKE, TARGET = program("FAKE"), program("TARGET")


class Status(Case):
    def test_exit(self):
        for status in (0, 1, 7, 255):
            result = self.record(TARGET, "exit", status)
            self.assertEqual(result.returncode, status, result.stderr)

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT, signal.SIGHUP):
            result = self.record(TARGET, "signal", int(number))
            self.assertEqual(result.returncode, -number, result.stderr)
            self.assertEqual(len(self.check_trace(result)), 5)
        self.assertEqual([n for n in os.listdir(self.dir) if "core" in n], [])

    def test_not_found(self):
        result = self.record("no-such-command")
        self.assertEqual(result.returncode, 127)
        self.assertEqual(result.lines(), ["hodo: no-such-command: command not found: give its path, or check PATH"])
        self.assertEqual(self.record("./none/such").returncode, 127)
        self.assertFalse(os.path.exists(self.data))

    def test_not_executable(self):
        with open(self.path("text"), "w", encoding="ascii") as f:
            f.write("no program")
        for command in ("./text", "/"):
            result = self.record(command)
            self.assertEqual(result.returncode, 126, result.stderr)
            self.assertEqual(len(result.lines()), 1)
        self.assertFalse(os.path.exists(self.data))

    def test_no_interpreter(self):
        """Only running the command shows the error: it leaves no directory either."""
        with open(self.path("bad"), "w", encoding="ascii") as f:
            f.write("#!/no/such/interpreter\n")
        os.chmod(self.path("bad"), 0o755)
        result = self.record("./bad")
        self.assertEqual(result.returncode, 127, result.stderr)
        self.assertFalse(os.path.exists(self.data))

    def test_usage(self):
        for args in ((), ("-m", "3", "true"), ("-e", "", "true"), ("--duration", "0", "true"),
                     ("--filter", "a ==", "true"), ("--no-such", "true"), ("-m", "4K", "--packet-size", "2K", "true")):
            result = self.record(*args)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertFalse(os.path.exists(self.data))

    def test_environment(self):
        """The command's environment, limits and signal state are those that the recorder had."""
        script = "echo $LD_PRELOAD; ulimit -n; grep -E 'Sig(Blk|Ign)' /proc/self/status; ls -l /proc/self/fd | wc -l"
        plain = run("sh", "-c", script, status=0, **self.how({})).stdout.splitlines()
        result = self.record("sh", "-c", script)
        seen = result.stdout.splitlines()
        self.assertIn("/libhodo.so", seen[0])
        self.assertEqual(seen[1:], plain[1:])


class Family(Case):
    def test_fork(self):
        result = self.record(TARGET, "fork", 500)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.events(), (1500, 3))
        self.check_trace(result)

    def test_orphans(self):
        """A child forked at the last moment may say hello only after its parent has gone."""
        for _ in range(20):
            result = self.record(TARGET, "orphan", 20)
            self.assertEqual(result.events(), (20, 2), result.stderr)

    def test_exec(self):
        result = self.record(TARGET, "exec", 300)
        self.assertEqual(result.events(), (600, 2))
        names = self.folders()
        self.assertEqual(names[1], names[0] + "-2")
        self.check_trace(result)

    def test_shell(self):
        result = self.record("sh", "-c", f"{TARGET} count 100 & {TARGET} count 200; wait; exec {TARGET} count 50")
        self.assertEqual(result.events()[0], 350)
        self.check_trace(result)

    def test_daemon(self):
        """The daemon outlives the command, has its own session and has closed all its files."""
        result = self.record(TARGET, "daemon", 300, self.path("up"))
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.events()[0], 300)
        self.check_trace(result)

    def test_threads(self):
        result = self.record(TARGET, "threads", 6)
        self.assertEqual(result.events()[0], 600)
        text = self.metadata(self.folders()[0])
        for n in range(6):
            self.assertIn(f"comm=worker%20{n}*/", text)
        self.check_trace(result)

    def test_static(self):
        """A command that cannot be recorded runs, and the recorder reports that, with the reason."""
        result = self.record(FAKE, "leave-after-hello")
        self.assertEqual(result.returncode, 0)
        self.assertIn("1 process image was not recorded: it left before it handed over its buffers", result.stderr)
        self.assertNotIn("never loaded", result.stderr)
        result = self.record(FAKE)
        self.assertEqual(result.returncode, 99)
        self.assertIn("fake itself was not recorded: it never loaded libhodo: is it static", result.stderr)


class Stop(Case):
    def test_duration(self):
        process = self.recorder("--duration", "3", TARGET, "forever", 0, self.path("up"))
        wait_for("the end of the recording", lambda: os.path.exists(self.path("up")) and self.complete())
        self.assertIsNone(process.poll())
        child, = children(process.pid)
        os.kill(child, signal.SIGTERM)
        result = process.done()
        self.assertEqual(result.returncode, 40 + signal.SIGTERM, result.stderr)
        self.assertGreater(len(self.check_trace(result)), 10)

    def complete(self):
        """A folder has its metadata a moment after it is made."""
        return any("/*@end" in p.read_text("ascii") for p in pathlib.Path(self.data).glob("*/metadata"))

    def test_forwarded(self):
        """A signal sent to the recorder alone is meant for the command."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            up = self.path(f"up{number}")
            process = self.recorder(TARGET, "forever", 0, up)
            wait_for("the command", lambda: os.path.exists(up))
            process.send_signal(number)
            result = process.done()
            self.assertEqual(result.returncode, 40 + number, result.stderr)
            self.check_trace(result)

    @staticmethod
    def is_pending(pid, number):
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
            masks = [int(line.split()[1], 16) for line in f if line.startswith(("SigPnd:", "ShdPnd:"))]
        return any(mask >> number - 1 & 1 for mask in masks)

    def test_twice(self):
        """The first signal is for the command alone, which ignores it and goes on, recorded. The second one ends the
        recording; the command lives on unharmed."""
        script = (f"trap '' INT; {TARGET} count 10; touch up; while [ ! -e on ]; do sleep 0.01; done; "
                  f"{TARGET} count 5; touch done; while [ ! -e down ]; do sleep 0.01; done; touch bye")
        process = self.recorder("sh", "-c", script)
        wait_for("the command", lambda: os.path.exists(self.path("up")))
        process.send_signal(signal.SIGINT)
        wait_for("that it is taken", lambda: not self.is_pending(process.pid, signal.SIGINT))
        open(self.path("on"), "w", encoding="ascii").close()
        wait_for("what comes after it", lambda: os.path.exists(self.path("done")))
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        result = process.done()
        self.assertEqual(result.returncode, -signal.SIGINT, result.stderr)
        self.assertFalse(os.path.exists(self.path("bye")))
        self.assertEqual(len(self.check_trace(result)), 15)
        open(self.path("down"), "w", encoding="ascii").close()
        wait_for("the command's own end", lambda: os.path.exists(self.path("bye")))

    def test_in_background(self):
        """A script's shell makes background commands ignore SIGINT, and yet the script stops the recorder by it.
        A command started so ignores it, as the shell wants."""
        script = (f"{HODO} record -q -o command grep SigIgn /proc/self/status & wait $!; "
                  f"{TARGET} forever 0 up & target=$!; while [ ! -e up ]; do sleep 0.01; done; "
                  f"{HODO} record -q -o trace -p $target & recorder=$!; "
                  "while ! grep -q end trace/*/metadata; do sleep 0.01; done; "
                  "kill -INT $recorder; wait $recorder; echo $?; kill $target")
        ignored, status = run("sh", "-c", script, **self.how({})).stdout.splitlines()
        self.assertTrue(int(ignored.split()[1], 16) >> signal.SIGINT - 1 & 1)
        self.assertEqual(status, "0")

    def test_after_command(self):
        """Only a daemon is left: one signal ends the recording, and the recorder passes the command's status on."""
        script = f"{TARGET} forever 0 up & echo $!; while [ ! -e up ]; do sleep 0.01; done; exit 5"
        process = self.recorder("sh", "-c", script)
        wait_for("its child", lambda: process.said("out").endswith("\n"))
        pid = int(process.said("out"))
        self.addCleanup(lambda: alive(pid) and os.kill(pid, signal.SIGTERM))
        wait_for("the command's end", lambda: not children(process.pid))
        process.send_signal(signal.SIGINT)
        result = process.done()
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertTrue(alive(pid))
        self.assertGreaterEqual(len(self.check_trace(result)), 10)

    def on_terminal(self, keys, *args, stdout=None):
        """Runs the recorder on its own terminal and types keys when the command is up; returns status and output."""
        terminal = Terminal(self, HODO, "record", "-o", self.data, *args, stdout=stdout, env={"TERM": "xterm"})
        wait_for("the command", lambda: os.path.exists(self.path("up")))
        time.sleep(1.2)  # for a progress line
        terminal.press(keys)
        return terminal.whole()

    def test_terminal(self):
        """Ctrl-C reaches the command too, which decides; the recorder shows a progress line, and removes it again."""
        status, out = self.on_terminal(b"\x03", TARGET, "forever", "0", self.path("up"), stdout=self.path("said"))
        self.assertEqual(status, 40 + signal.SIGINT, out)
        self.assertRegex(out, r"hodo: recording 1 process: \d+ events, 0 lost, ")
        self.assertRegex(out, r"\r\x1b\[Khodo: [\d,]+ events of 1 process, ")
        self.check_trace()

    def test_shared_terminal(self):
        """The recorder writes no lines between those of the command."""
        status, out = self.on_terminal(b"\x03", TARGET, "forever", "0", self.path("up"))
        self.assertEqual(status, 40 + signal.SIGINT, out)
        self.assertNotIn("hodo: recording", out)
        self.assertRegex(out, r"hodo: [\d,]+ events of 1 process, ")
        self.check_trace()

    def test_quiet(self):
        result = self.record("-q", "-m", "8K", TARGET, "flood", 300000)
        self.assertEqual(result.returncode, 0)
        events, discarded = self.babeltrace()
        self.assertEqual(len(events) + discarded, 300000)
        self.assertEqual(result.lost(), discarded)
        self.assertEqual(len(result.lines()), 1 if discarded else 0, result.stderr)
        self.assertNotIn(" of 1 process", result.stderr)


class Killed(Case):
    """The recorder is killed: all but about the last second is on disk, and the commands say what is missing."""

    def start(self, *args):
        up = self.path("up")
        process = self.recorder(*args, TARGET, "forever", 0, up)
        wait_for("the command", lambda: os.path.exists(up))
        for pid in children(process.pid):
            for each in [*children(pid), pid]:
                self.addCleanup(lambda pid=each: alive(pid) and os.kill(pid, signal.SIGTERM))
        return process

    def recorded(self):
        """0 before there is anything to read: a folder may not have its metadata yet."""
        done = self.hodo("stat", "-q", "--json", self.data)
        return json.loads(done.stdout)["recorded"] if done.returncode == 0 else 0

    def check_told(self):
        self.assertFalse(self.stat()["processes"][0]["complete"])
        for verb in ("stat", "info"):
            said = self.ok(verb, self.data)
            self.assertIn("was interrupted, or has not ended", said)
            self.assertNotIn("no event was lost", said)
        self.assertIn("was interrupted, or has not ended", self.hodo("print", self.data).stderr)

    def test_open_packets(self):
        """At an event a millisecond a packet takes minutes to fill. Each event is there once, in whichever packet."""
        process = self.start()
        seen = wait_for("what the open packet holds", lambda: self.recorded() or 0)
        wait_for("what came to it since", lambda: self.recorded() > seen)
        process.kill()
        process.wait()
        self.check_told()
        self.assertRegex(self.ok("stat", self.data), r"\[\d+\]: its events from about a second before 2")
        for name in ("rt:tick", "rt:tock"):
            numbers = [e["fields"]["i"] for e in self.events() if e["name"] == name]
            self.assertEqual(sorted(numbers), list(range(len(numbers))))

    def test_ended_in_order(self):
        """What was on disk before its packet was full is there exactly once."""
        process = self.start()
        seen = wait_for("what the open packet holds", lambda: self.recorded() or 0)
        result = process.stop(signal.SIGTERM)
        self.assertGreater(len(self.check_trace(result)), seen)
        self.assertEqual(result.lost(), 0)
        self.assertTrue(self.stat()["processes"][0]["complete"])
        self.assertIn("no event was lost", self.ok("stat", self.data))

    def test_pieces(self):
        """The rest of a packet of which a part was written is read like the whole: calls, threads and times."""
        process = self.recorder("--clock", "monotonic", FAKE, "pieces", 4, stdin=subprocess.PIPE, text=True)
        for piece in range(1, 5):
            process.stdin.write("\n")
            process.stdin.flush()
            if piece < 4:
                wait_for("a piece", lambda: self.recorded() == 30 * piece)
        result = process.done()
        self.check_trace(result)
        self.assertEqual((result.lost(), result.stdout), (0, "120\n"))
        self.assertGreaterEqual(self.info()["packets"], 4)
        found = [(e["name"], e["tid"], e["fields"]) for e in self.events()]
        self.assertEqual([tid for _, tid, _ in found], [7 + i % 20 // 10 for i in range(120)])
        for i, (name, _, fields) in enumerate(found):
            self.assertEqual(name, ("fake:text", "fake:number", "fake:number", "func:entry", "func:exit")[i % 5])
            if name.startswith("func:"):
                self.assertEqual(fields, {"addr": 0x400000 + i * 8, "frame": 0x7ffc00000008 + i * 16 >> 3 & 0xffffffff})
            else:
                self.assertEqual(fields["value" if i % 5 else "_n"], i)

    def test_parts(self):
        """An idle process has no folder in the newest part: the end of its last folder is not that of the process."""
        process = self.start("--rotate", "0.2s", "sh", "-c", '"$@"; exit', "sh")
        second = self.path(self.data, "part-0002")
        wait_for("the second part", lambda: os.path.isdir(second) and self.folders(second))
        process.kill()
        process.wait()
        found = {p["comm"]: p["complete"] for p in self.stat()["processes"]}
        self.assertEqual((len(found), set(found.values())), (2, {False}), found)

    def test_flight_recorder(self):
        process = self.start("--overwrite")
        wait_for("its folder", lambda: os.path.exists(self.path(self.data, *self.folders(), "metadata")))
        process.kill()
        process.wait()
        self.check_told()
        self.assertIn("none of its events is on disk", self.ok("stat", self.data))


class Clock(Case):
    def test_times(self):
        """Events lie between the moments at which the command was started and ended, with either clock."""
        for clock in ("tsc", "monotonic"):
            if clock == "tsc" and not self.has_tsc():
                continue
            before = time.time_ns()
            result = self.record("--clock", clock, TARGET, "pause", 100)
            after = time.time_ns()
            events = self.check_trace(result)
            self.assertEqual(len(events), 3)
            self.assertIn(f"/*@clock kind={clock} ", self.metadata(self.folders()[0]))
            times = [ns for ns, _, _ in events]
            self.assertLess(before - 10**6, times[0])
            self.assertLess(times[2], after + 10**6)
            self.assertGreaterEqual(times[1] - times[0], 99 * 10**6)

    def test_clock_of_the_environment(self):
        """It is the default of --clock. A slip costs the recording, not the program's run."""
        clocks = [""] + ["tsc"] * self.has_tsc()
        for asked, options in itertools.product(clocks, ([], ["--clock", "monotonic"])):
            self.record(*options, TARGET, "count", 3, env={"HODO_CLOCK": asked or "monotonic"})
            expected = "tsc" if asked and not options else "monotonic"
            self.assertIn(f"/*@clock kind={expected} ", self.metadata(self.folders()[0]))
        slip = self.record(TARGET, "count", 3, env={"HODO_CLOCK": "tcs"})
        self.assertEqual(slip.stderr, "hodo: HODO_CLOCK is 'tcs': set it to tsc or monotonic: "
                         f"{TARGET} runs without being recorded\n")

    @staticmethod
    def has_tsc():
        if os.environ.get("HODO_CLOCK") == "tsc":
            return True
        with open("/sys/devices/system/clocksource/clocksource0/current_clocksource", encoding="ascii") as f:
            return f.read().strip() == "tsc"

    def test_same_in_all(self):
        self.record(TARGET, "fork", 10)
        lines = {re.search(r"/\*@clock .*\n", self.metadata(f))[0] for f in self.folders()}
        self.assertEqual(len(lines), 1)
        self.assertEqual({re.search(r"\nclock \{.*\n", self.metadata(f))[0].count("freq") for f in self.folders()}, {1})

    def test_age(self):
        """A packet that has grown old is closed by the next event."""
        result = self.record("--packet-age", "0.2", TARGET, "pause", 1500)
        self.assertEqual(len(self.check_trace(result)), 3)
        folder = os.path.join(self.data, self.folders()[0])
        streams = [f for f in os.listdir(folder) if f.startswith(("cpu", "fallback"))]
        sizes = [os.path.getsize(os.path.join(folder, f)) for f in streams]
        self.assertEqual(sizes, [3 * (88 + 16 + 6 + 4)])


main()
