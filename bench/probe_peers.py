# SPDX-License-Identifier: MIT
"""probe_peers - runs the peers of probes in unprepared programs.

Each takes the arguments of bench/plain and returns its output; a peer that is missing, or may not be used,
returns None, and its rows stay empty. Not among them: bpftime, of which Debian has no package, and LTTng's
--userspace-probe, which needs its kernel modules.
"""
import os
import shutil
import subprocess

from peers import BenchError, run

GROUP = "probe_hodo_bench"
BPF_HOOKS = {"p": "uprobe:{program}:bench_taken", "r": "uretprobe:{program}:bench_taken",
             "s": "usdt:{program}:bench:point"}
BPF_VALUES = {"p": "(uint64)arg0, (uint64)arg1", "r": "(uint64)retval, (uint64)0", "s": "(uint64)arg0, (uint64)arg1"}


class ProbePeers:
    """kinds: of bench/plain; r: the function's return, beside its entry."""

    def __init__(self, bench):
        self.bench = bench
        self.program = bench.program("plain")
        self.uprobes = os.geteuid() == 0 and os.path.exists("/sys/bus/event_source/devices/uprobe")
        self.uftrace_refuses = False
        self.serial = 0

    def here(self, name):
        return self.uprobes and shutil.which(name) is not None

    def alone(self, args):
        return run([self.program, *args])

    def perf_probes(self, kinds):
        """What perf is to add, and what the events are called then."""
        texts = {"p": "taken=bench_taken number=%di:s32 value=%si:u64", "r": "left=bench_taken%return",
                 "s": "%sdt_bench:point"}
        names = {"p": f"{GROUP}:taken", "r": f"{GROUP}:left__return", "s": "sdt_bench:point"}
        return {names[kind]: texts[kind] if kind == "s" else f"{GROUP}:{texts[kind]}" for kind in kinds}

    def perf(self, args, kinds):
        """Recorded, in perf's ring and file."""
        if not self.here("perf"):
            return None
        self.serial += 1
        data, config = self.bench.work / f"perf{self.serial}.data", self.bench.work / "perfconfig"
        config.write_text(f"[buildid]\n\tdir = {self.bench.work}/buildid\n", "utf-8")
        more, probes = {"env": {**os.environ, "PERF_CONFIG": str(config)}}, self.perf_probes(kinds)
        try:
            run(["perf", "buildid-cache", "--add", self.program], **more)
            for text in probes.values():
                where = [] if text.startswith("%") else ["-x", self.program]
                run(["perf", "probe", "-q", "-f", *where, "--add", text], **more)
            events = [option for name in probes for option in ("-e", name)]
            return run(["perf", "record", "-q", "-m", "8M", "-o", data, *events, "--", self.program, *args], **more)
        except BenchError:
            return None
        finally:
            for name in probes:
                subprocess.run(["perf", "probe", "-q", "-d", name], stderr=subprocess.DEVNULL, check=False, **more)
            data.unlink(missing_ok=True)

    def bpftrace(self, args, kinds, recorded):
        """Counted in a map of each CPU's, or written to its ring and by that to a file."""
        if not self.here("bpftrace"):
            return None
        self.serial += 1
        out = self.bench.work / f"bpf{self.serial}.out"
        hooks = ""
        for kind in kinds:
            action = f'printf("%lu %lu %lu\\n", nsecs, {BPF_VALUES[kind]});' if recorded else f"@{kind} = count();"
            hooks += BPF_HOOKS[kind].format(program=self.program) + " { " + action + " } "
        try:
            return run(["bpftrace", "-o", out, "-e", hooks, "-c", " ".join(map(str, [self.program, *args]))])
        except BenchError:
            return None
        finally:
            out.unlink(missing_ok=True)

    def uftrace(self, args):
        """Entry and exit of the function, patched when the program starts."""
        if not shutil.which("uftrace"):
            return None
        self.serial += 1
        folder = self.bench.work / f"uftrace{self.serial}"
        try:
            output = run(["uftrace", "record", "-d", folder, "--no-event", "--no-libcall", "-P", "bench_taken",
                          self.program, *args], cwd=self.bench.work)
            self.uftrace_refuses = not sum(path.stat().st_size for path in folder.glob("[0-9]*.dat"))
            return None if self.uftrace_refuses else output
        except BenchError:
            return None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def gdb(self, args):
        """A breakpoint that continues by itself."""
        if not shutil.which("gdb"):
            return None
        script = self.bench.work / "gdb.script"
        script.write_text("set debuginfod enabled off\nbreak bench_taken\ncommands\nsilent\ncontinue\nend\nrun\n", "utf-8")
        try:
            return run(["gdb", "-q", "-nx", "-batch", "-x", script, "--args", self.program, *args])
        except BenchError:
            return None
