# SPDX-License-Identifier: MIT
"""hodo record, list and snapshot -k without a kernel module: what they say, and what they make of its files."""

import json
import os

from hodo_test import Case, main, program, run

IMAGE, TARGET = program("IMAGE"), program("TARGET")
ROOT = os.geteuid() == 0

INFO = """# name\tid\tstate\tsource\tobject\tfilter\tfields\tformat
sched:sched_switch\t1\ton\ttracepoint\tvmlinux\tprev_prio\\040> 3\tprev_pid:i32 prev_comm:str\tprev_comm=%s
syscalls:sys_enter_openat\t2\toff\tsyscall\tvmlinux\t-\tdfd:i32 filename:str flags:u32[]\t-
empty:event\t3\tabsent\tmodule\tmymod\t-\t-\ta\\011b\\134
"""


class Kernel(Case):
    """HODO_KERNEL_DIR stands in for the module's files."""

    def setUp(self):
        super().setUp()
        self.tree = self.path("tree")
        os.mkdir(self.tree)

    def put(self, name, text):
        with open(os.path.join(self.tree, name), "w", encoding="ascii") as f:
            f.write(text)

    def image(self, *how):
        run(IMAGE, os.path.join(self.tree, "memory"), *how, status=0)

    def hodo(self, *args, tree=None):
        return super().hodo(*args, env={"HODO_KERNEL_DIR": tree or self.tree})

    def fails(self, why, *args, status=1, tree=None):
        run = self.hodo(*args, tree=tree)
        self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertIn(why, run.stderr)
        self.assertNotIn("debugfs", run.stderr) # which is not the cause
        self.assertTrue(run.stderr.startswith("hodo: "), run.stderr)


class KernelMessages(Kernel):
    def test_no_module(self):
        why = "the kernel module hodo is not loaded" if ROOT else "only root may trace the kernel"
        for args in (("record", "-k"), ("record", "-k", "--", "true"), ("list", "-k"), ("snapshot", "-k"),
                     ("top", "-k"), ("top", "-k", "--", "true")):
            self.fails(why, *args)
        self.assertEqual(sorted(os.listdir(self.dir)), ["tree"])

    def test_not_allowed(self):
        if ROOT:
            self.skipTest("root may do everything")
        self.put("record", "")
        os.chmod(os.path.join(self.tree, "record"), 0)
        self.fails("only root may trace the kernel", "record", "-k")

    def test_busy(self):
        """The command finds out before it moves an earlier recording, and before it runs the program."""
        self.hodo("record", "-q", TARGET, "count", "1")
        self.put("record", "")
        self.image("running")
        for verb in ("record", "top"):
            self.fails("the kernel is already being recorded", verb, "-k", "--", "touch", "ran")
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assertFalse(os.path.exists(self.path("hodo.data.old")))

    def test_other_version(self):
        self.put("record", "")
        for verb in ("record", "top"):
            self.fails("is another version", verb, "-k", "--", "touch", "ran")
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assertFalse(os.path.exists(self.path("hodo.data")))
        self.image("version")
        self.fails("is another version", "snapshot", "-k")
        self.put("info", "this is no list\n")
        self.fails("is another version", "list", "-k")

    def test_usage(self):
        self.fails("-k is for the kernel, not a process", "snapshot", "-k", "1", status=2)
        self.fails("-k lists the kernel's events", "list", "-k", "--pids", status=2)
        self.fails("one program, recording or process at a time", "list", "-k", "a", "b", status=2)


class KernelList(Kernel):
    def setUp(self):
        super().setUp()
        self.put("info", INFO)

    def lines(self, *args):
        run = self.hodo("list", "-k", *args)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout.splitlines()

    def test_all(self):
        self.assertEqual(self.lines(), [
            "empty:event                absent   module      ()  mymod",
            "sched:sched_switch         on       tracepoint  (prev_pid:i32, prev_comm:str)  if prev_prio > 3",
            "syscalls:sys_enter_openat  off      syscall     (dfd:i32, filename:str, flags:u32[])"])

    def test_patterns(self):
        def names(*args):
            return [line.split()[0] for line in self.lines(*args)]
        self.assertEqual(names("sched"), ["sched:sched_switch"])
        self.assertEqual(names("*:*open*,empty:*"), ["empty:event", "syscalls:sys_enter_openat"])
        self.assertEqual(names("!empty:*"), ["sched:sched_switch", "syscalls:sys_enter_openat"])
        run = self.hodo("list", "-k", "nothing:*")
        self.assertEqual((run.returncode, run.stdout), (0, ""))
        self.assertIn("the kernel has no event 'nothing:*'", run.stderr)

    def test_json(self):
        run = self.hodo("list", "-k", "--json")
        listed = json.loads(run.stdout)["events"]
        self.assertEqual([e["name"] for e in listed],
                         ["empty:event", "sched:sched_switch", "syscalls:sys_enter_openat"])
        self.assertEqual(listed[0], {"name": "empty:event", "state": "absent", "source": "module", "object": "mymod",
                                     "filter": "", "format": "a\tb\\", "fields": []})
        self.assertEqual(listed[1]["fields"],
                         [{"name": "prev_pid", "type": "i32"}, {"name": "prev_comm", "type": "str"}])
        self.assertEqual(listed[2]["fields"][2], {"name": "flags", "type": "u32[]"})


class KernelTrace(Kernel):
    """What is in a trace of the kernel, according to all commands that read it."""

    def setUp(self):
        super().setUp()
        self.image()
        run = self.hodo("snapshot", "-k", "-o", "trace", "--why", "a look")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r"^hodo: 8 events of the kernel, .* in trace\n$")

    def print(self, *args):
        run = self.hodo("print", "-q", *args, "trace")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout.splitlines()

    def test_values(self):
        self.assertEqual(self.folders(), ["kernel"])
        self.assertIn("/*@kernel release=" + os.uname().release + "*/", self.metadata("kernel"))
        events = [json.loads(line) for line in self.print("--json")]
        self.assertEqual([(e["cpu"], e["pid"], e["tid"], e["comm"], e["name"].split(":")[1]) for e in events], [
            (0, 100, 100, "main", "sched_switch"), (0, 100, 100, "main", "sys_enter_openat"),
            (0, 100, 100, "main", "sys_enter_openat"), (0, 100, 100, "main", "sys_enter_openat"),
            (0, 100, 101, "worker", "many"), (1, 0, 0, "swapper/1", "sched_switch"),
            (1, 0, 555, "?", "sys_enter_openat"), (-1, 102, 102, "other", "sys_enter_openat")])
        self.assertEqual(events[0]["fields"], {"next_pid": 101, "prev_comm": "init", "next_comm": "worker"})
        self.assertEqual([e["fields"]["filename"] for e in events if "filename" in e["fields"]],
                         ["/etc/passwd", None, "", "a", ""])
        self.assertEqual(events[4]["fields"], {f"f{i}": 1000 + i for i in range(32)})
        self.assertEqual(events[5]["fields"]["next_comm"], "0123456789abcdef")

    def test_lines(self):
        lines = [line.split("] ", 1)[1] for line in self.print()]
        self.assertEqual(lines[0], '0 100 main sched:sched_switch next_pid=101 prev_comm="init" next_comm="worker"')
        self.assertEqual(lines[2], "0 100 main syscalls:sys_enter_openat flags=2 filename=(null)")
        self.assertTrue(lines[4].startswith("0 100/101 worker test:many f0=1000 "), lines[4])
        self.assertTrue(lines[5].startswith("1 0 swapper/1 sched:sched_switch "), lines[5])
        self.assertEqual(lines[7], '-1 102 other syscalls:sys_enter_openat flags=5 filename=""')

    def test_filters(self):
        def count(expr):
            return len(self.print("--filter", expr))
        self.assertEqual(count('next_comm == "worker"'), 1)
        self.assertEqual(count('next_comm =~ "w*r" && prev_comm =~ "*nit"'), 1)
        self.assertEqual(count('filename == ""'), 2)
        self.assertEqual(count('filename == "a" && len(filename) == 1'), 1)
        self.assertEqual(count("has(filename)"), 4)
        self.assertEqual(count("f31 == 1031 && f0 == 1000"), 1)
        self.assertEqual(count("flags == 5 && len(filename) == 0"), 1) # what comes before and after it is found
        self.assertEqual(count('$comm == "swapper/1"'), 1)
        self.assertEqual(count("$pid == 100"), 5)

    def test_others(self):
        counts = {e["name"]: e["count"] for e in self.stat()["events"]}
        self.assertEqual(counts, {"sched:sched_switch": 2, "syscalls:sys_enter_openat": 5, "test:many": 1})
        self.assertIn(" s, the kernel\n", self.hodo("stat", "trace").stdout)
        info = self.hodo("info", "trace").stdout
        self.assertRegex(info, r"\n +0 +8 +0 .* kernel " + os.uname().release.replace("+", r"\+") + r" \(flight")
        self.assertIn("snapshot: a look", info)
        self.assertIn("threads without a name: 1", info)  # 555
        process = json.loads(self.hodo("info", "--json", "trace").stdout)["processes"][0]
        self.assertEqual(process["kernel"], os.uname().release)
        self.assertEqual(self.hodo("list", "trace").stdout.count("\n"), 3)
        self.check_trace()

    def test_several(self):
        """A second snapshot in the same place works, too; the control tree's own recording is not a flight recorder."""
        self.assertEqual(self.hodo("snapshot", "-k", "-q", "-o", "trace").returncode, 0)
        self.assertTrue(os.path.isdir(self.path("trace.old/kernel")))
        self.image("discard")
        self.fails("the recording of the kernel is not a flight recorder", "snapshot", "-k", "-o", "other")
        with open(os.path.join(self.tree, "memory"), "r+b") as f:
            f.write(b"\0" * 4096)
        self.fails("is another version", "snapshot", "-k", "-o", "other")
        self.assertFalse(os.path.exists(self.path("other")))


main()
