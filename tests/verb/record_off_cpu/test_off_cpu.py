# SPDX-License-Identifier: MIT
"""test_off_cpu.py - how long threads did not run within their spans: by the kernel's switches, and by CPU time."""
import json
import os
import re
import signal

from hodo_test import HODO, Case, events as events_of, main, program, run, wait_for

SPANS = program("OFF_CPU_SPANS")
REFUSE = program("REFUSE")
MS = 1_000_000


class OffCpu(Case):
    def needs_switches(self):
        done = self.hodo("record", "-q", "-o", self.path("try"), "--off-cpu=switches", "true")
        if done.returncode and re.search("perf_event_paranoid is|perf_event_open is refused", done.stderr):
            self.skipTest(done.stderr.strip())

    def ends(self, events, name):
        return [e for e in events if e["name"] == f"off:{name}.end"]

    def holds(self, events, spans, counted):
        """What the recording says about each span of SPANS."""
        self.assertEqual({n: len(self.ends(events, n)) for n in spans}, spans)
        for e in (e for name in spans for e in self.ends(events, name)):
            self.assertLessEqual(e["off_cpu_ns"], e["duration_ns"], e)
            self.assertEqual("waits" in e and "preempted" in e, counted, e)
        for e in self.ends(events, "sleeps"):
            self.assertGreaterEqual(e["off_cpu_ns"], 15 * MS, e)
            self.assertTrue(not counted or e["waits"] >= 1, e)
        for e in self.ends(events, "locks"):
            # The thread may reach the lock when it is free.
            self.assertTrue(e["off_cpu_ns"] >= 5 * MS or e["duration_ns"] < 10 * MS, e)
        spun = {(e["pid"], e["tid"]): e["fields"]["ns"] for e in events if e["name"] == "off:spun"}
        for e in self.ends(events, "spins"):
            ran = e["duration_ns"] - e["off_cpu_ns"]
            cpu = spun[e["pid"], e["tid"]]
            # A switch takes some microseconds of CPU time after the thread is counted as off; a thread also
            # counts as on a CPU while it is interrupted there, or while its virtual CPU does not run. Where the
            # host takes CPU time away, the thread's clock and the times of its switches differ by some percent.
            switches = e["waits"] + e["preempted"] if counted else 0
            self.assertGreaterEqual(ran, cpu - cpu // 10 - MS // 2 - switches * MS // 50, e)
            self.assertLessEqual(ran, cpu + (cpu if counted else 5 * MS), e)


class Switches(OffCpu):
    def test_spans(self):
        self.needs_switches()
        for clock in ("tsc", "monotonic"):
            data = self.path(clock)
            done = self.record("--off-cpu=switches", *(["--clock", clock] if clock != "tsc" else []), SPANS, data=data)
            self.assertEqual((done.returncode, done.lost(), done.events()[1]), (0, 0, 1), done.stderr)
            events = self.events(data)
            self.holds(events, {"sleeps": 1, "spins": 1, "locks": 1}, counted=True)
            moved, = self.ends(events, "moved")
            self.assertNotIn("off_cpu_ns", moved)  # begun in another thread
            self.verbs(data)

    def verbs(self, data):
        found = self.ok("print", "-q", "--filter", "$off_cpu > 15ms", data)
        self.assertRegex(found, r"off:sleeps\.end duration=\S+ms off_cpu=\S+ms waits=\d+ preempted=\d+\n")
        self.assertNotIn("begin", found)
        self.assertNotIn("off:moved", found)
        report = json.loads(self.ok("report", "-q", "--json", "-e", "off:*", data))
        span, = [s for s in report["spans"] if s["name"] == "off:sleeps"]
        self.assertTrue(15 * MS <= span["off_cpu_ns"] <= span["total_ns"] and span["off_cpu_count"] == 1, span)
        moved, = [s for s in report["spans"] if s["name"] == "off:moved"]
        self.assertNotIn("off_cpu_ns", moved)
        slow, = [s for s in report["slowest_spans"] if s["name"] == "off:sleeps"]
        self.assertEqual(slow["off_cpu_ns"], slow["end"]["off_cpu_ns"])
        text = self.ok("report", "-q", data)
        self.assertEqual(len(re.findall(r"(?m)^ .*OFF CPU", text)), 2, text)
        self.assertIn("waits", text)  # columns for times off CPUs, and for their reasons
        graph = self.ok("graph", "-q", data)
        self.assertRegex(graph, r"\A# DURATION    OFF CPU ")
        self.assertRegex(graph, r"(?m)^ *\S+ ms +\S+ ms +\d+ \S+ +\| off:sleeps;$")
        self.assertNotIn("sched:switch", graph)
        shown = [json.loads(line) for line in self.ok("graph", "-q", "--json", data).splitlines()]
        end, = self.ends([e for e in shown if "name" in e], "sleeps")
        self.assertEqual(end["off_cpu_ns"], slow["off_cpu_ns"])

    def test_none(self):
        """Without the option, no command says how long a thread did not run."""
        self.record(SPANS)
        self.assertFalse([e for e in self.events() if "off_cpu_ns" in e])
        for verb in ("report", "graph"):
            self.assertNotIn("OFF CPU", self.ok(verb, self.data))
        self.assertEqual(self.ok("print", "-q", "--filter", "$off_cpu >= 0", self.data), "")


class CpuTime(OffCpu):
    def test_spans(self):
        for options in (["--off-cpu=cpu_time"], ["--context", "cpu_time"], ["--overwrite", "--off-cpu"]):
            data = self.path("-".join(options))
            done = self.record(*options, SPANS, data=data)
            self.assertEqual(done.returncode, 0, done.stderr)
            events = self.events(data)
            self.holds(events, {"sleeps": 1, "spins": 1, "locks": 1}, counted=False)
            self.assertFalse([e for e in events if "cpu_time" not in e["context"]])
            moved, = self.ends(events, "moved")
            self.assertNotIn("off_cpu_ns", moved)

    def test_many(self):
        self.record("--off-cpu=cpu_time", SPANS, "many")
        self.holds(self.events(), {"sleeps": 5, "spins": 5}, counted=False)


class Options(OffCpu):
    def test_wrong(self):
        self.fails(2, "--off-cpu is switches or cpu_time", "record", "--off-cpu=all", "true")
        self.fails(2, "with --overwrite use cpu_time", "record", "--overwrite", "--off-cpu=switches", "true")
        self.fails(2, "known when a recording is read", "record", "--filter", "$off_cpu > 5ms", "true")
        self.fails(2, "known when a recording is read", "record", "--overwrite", "--trigger",
                   "off:sleeps if $off_cpu > 5ms", "true")


class Processes(OffCpu):
    def test_threads_fork_exec(self):
        self.needs_switches()
        done = self.record("--off-cpu=switches", SPANS, "many")
        # The process that execs is one image before and one after.
        self.assertEqual((done.returncode, done.lost(), done.events()[1]), (0, 0, 4), done.stderr)
        self.holds(self.events(), {"sleeps": 5, "spins": 5}, counted=True)

    def test_parts(self):
        self.needs_switches()
        done = self.record("--off-cpu=switches", "-m", "16K", "--rotate", "16K", "--compress", SPANS, "many")
        self.assertEqual((done.returncode, done.lost()), (0, 0), done.stderr)
        # The recording is compressed: babeltrace2 cannot read it.
        self.holds(events_of(self.data), {"sleeps": 5, "spins": 5}, counted=True)


class Attached(OffCpu):
    def test_attached(self):
        self.needs_switches()
        target = self.start(SPANS, "attach", stdin=-1, stdout=-1)
        self.assertEqual(target.stdout.readline(), "ready\n")
        recorder = self.recorder("--off-cpu=switches", "-p", target.pid)
        wait_for("the process's folder", lambda: os.path.isdir(self.data) and
                 any(f.endswith(f"-{target.pid}") for f in os.listdir(self.data)))
        for _ in range(2):
            target.stdin.write("go\n")
            target.stdin.flush()
            self.assertEqual(target.stdout.readline(), "done\n")
        done = recorder.stop()
        self.assertEqual(done.lost(), 0, done.stderr)
        self.holds(self.events(), {"sleeps": 2, "spins": 2}, counted=True)


class Lost(OffCpu):
    def test_lost(self):
        """A stopped recorder loses switches: they are counted, and times off CPU of spans around them are unknown."""
        self.needs_switches()
        recorder = self.recorder("--off-cpu=switches", SPANS, "storm", stdin=-1)
        wait_for("the first span", lambda: "ready" in recorder.said("out"))
        recorder.send_signal(signal.SIGSTOP)
        recorder.stdin.write(b"x")
        recorder.stdin.flush()
        wait_for("the storm's end", lambda: "over" in recorder.said("out"))
        recorder.send_signal(signal.SIGCONT)
        recorder.stdin.write(b"x")
        recorder.stdin.flush()
        done = recorder.done()
        self.assertRegex(done.stderr, r"hodo: [\d,]+ switches of threads were lost, ")
        self.assertEqual(done.lost(), 0, done.stderr)
        kernel, = [p for p in self.stat()["processes"] if p["comm"] == "kernel"]
        self.assertGreater(kernel["lost"]["full"], 0)
        self.assertIn("--realtime", self.ok("stat", self.data))
        events = self.events()
        storm, = self.ends(events, "storm")
        self.assertNotIn("off_cpu_ns", storm)
        first, last = self.ends(events, "sleeps")
        self.assertGreaterEqual(first["off_cpu_ns"], 15 * MS)
        # It may have begun before the recorder continued.
        self.assertGreaterEqual(last.get("off_cpu_ns", 15 * MS), 15 * MS)


class Refused(OffCpu):
    def test_refused(self):
        """Where perf events are not allowed, a message says why and what helps, and CPU times are used."""
        done = run(REFUSE, HODO, "record", "-o", self.data, "--off-cpu", SPANS, **self.how({}))
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [line for line in done.stderr.splitlines() if "--off-cpu" in line]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], "sysctl kernel.perf_event_paranoid=2|refused, by a sandbox")
        self.assertIn("CPU time", said[0])
        self.holds(self.events(), {"sleeps": 1, "spins": 1, "locks": 1}, counted=False)
        done = run(REFUSE, HODO, "record", "-o", self.path("other"), "--off-cpu=switches", SPANS, **self.how({}))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"\Ahodo: [^\n]*--off-cpu=cpu_time\n\Z")
        self.assertFalse(os.path.exists(self.path("other")))

    def test_doctor(self):
        """hodo doctor says which means a recording would use."""
        def said(*before):
            done = run(*before, HODO, "doctor", "--json", **self.how({}))
            found, = [c for c in json.loads(done.stdout)["checks"] if c["name"] == "off-cpu"]
            return found
        refused = said(REFUSE)
        self.assertEqual(refused["state"], "warn")
        self.assertRegex(refused["text"], "sysctl kernel.perf_event_paranoid=2|refused, by a sandbox")
        self.assertIn("CPU times", refused["hint"])
        allowed = self.hodo("record", "-q", "-o", self.path("try"), "--off-cpu=switches", "true").returncode == 0
        self.assertEqual(said()["state"], "ok" if allowed else "warn")


main()
