#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cycles.py postgresql|nginx|redis|python|java - records a working program again and again, each time with functions
of it and of its libraries that a seed draws: each function is set and removed, which is a cycle. The program must do
its work correctly: pgbench's transactions, what wrk gets, Redis's and CPython's own tests, the results of Work.java.
After each recording its code must be as before.

By hand: CYCLES=1000000, RECORDINGS=100 (at least), and SEED=n for a different series of drawings."""
import collections
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import python_suite
import redis_suite
from hodo_test import HODO, run, skip, wait_for
from loads import PATIENCE_S, Nginx, Postgresql, Redis, program
from patches import patches

CYCLES = int(os.environ.get("CYCLES", "8000"))
RECORDINGS = int(os.environ.get("RECORDINGS", "3"))
SEED = int(os.environ.get("SEED", "1"))
BY_HAND = "CYCLES" in os.environ
RECORDINGS_MAX = 200  # of one process, which can take 256 plans
HERE = pathlib.Path(__file__).resolve().parent
JUMP, TRAP, SYSTEM_CALL = 0xe9, 0xcc, b"\x0f\x05"


class OwnTests(Redis):
    """Redis with its own tests."""
    OPTIONS = ["--enable-debug-command", "yes"]
    UNITS = redis_suite.SHARED if BY_HAND else redis_suite.SHORT

    def setup(self):
        self.suite = self.dir / "suite"
        if not self.suite.exists():
            redis_suite.prepare(self.suite)
        super().setup()
        self.limits = self.config("get", "*-max-[il]*").split()

    def config(self, *words):
        return run("redis-cli", "-p", self.port, "config", *words, status=0).stdout

    def load(self):
        self.config("set", *self.limits)  # the tests leave some changed
        return redis_suite.command(self.UNITS, "--host", "127.0.0.1", "--port", str(self.port))

    def load_folder(self):
        return self.suite

    def faults(self, text, ended):
        failed = re.findall(r"(?m)^.*(?:\[\x1b\[[\d;]*m(?:err|exception)|I/O error).*$", text)
        return failed + ([] if "All tests passed without errors!" in text else ["its tests did not pass"])


class Alone:
    """A program that needs no separate load."""
    process = None

    def __init__(self, directory):
        self.dir = directory

    def setup(self):
        pass

    def stop(self):
        pass


class Python(Alone):
    def setup(self):
        self.env = python_suite.environment()

    def load(self):
        return python_suite.command(python_suite.LONG if BY_HAND else python_suite.SHORT)

    def faults(self, text, ended):
        return [] if "Tests result: SUCCESS" in text else ["its tests did not pass"]


class Java(Alone):
    def setup(self):
        if not (shutil.which("java") and shutil.which("javac")):
            skip("java and javac are not installed: default-jdk-headless")
        run("javac", "-d", self.dir, HERE / "Work.java", status=0)

    def load(self):
        return [program("java"), "-Xmx96m", "-cp", str(self.dir), "Work", "180" if BY_HAND else "20"]

    def faults(self, text, ended):
        return re.findall(r"(?m)^wrong: .*$", text)


class Load:
    """One run of the load, which keeps the program busy."""

    def __init__(self, subject):
        self.subject = subject
        self.said = subject.dir / "load"
        folder = subject.load_folder() if hasattr(subject, "load_folder") else subject.dir
        with open(self.said, "wb") as file:
            self.process = subprocess.Popen(subject.load(), stdin=subprocess.DEVNULL, stdout=file, cwd=folder,
                                            stderr=subprocess.STDOUT, env=getattr(subject, "env", None))

    def over(self):
        return self.process.poll() is not None

    def check(self):
        self.process.wait(PATIENCE_S)
        text = self.said.read_text(errors="replace")
        faults = self.subject.faults(text, True)
        if self.process.returncode:
            faults.append(f"the load ended with {self.process.returncode}")
        if faults:
            fail(self.subject, *faults[:20], text[-3000:])


def fail(subject, *lines):
    print(*lines, sep="\n")
    out = subject.dir / "out"
    if out.exists():
        print("the program:", out.read_text(errors="replace")[-3000:])
    sys.exit(1)


class Cycles:
    def __init__(self):
        self.subject = None
        self.draw = random.Random(SEED)
        self.counts = collections.Counter()
        self.said = collections.Counter()
        self.functions_seen = {}

    def pattern(self):
        """A pattern for names in all files: it matches hundreds or thousands of functions."""
        a, b, c = (self.draw.choice("abcdefghilmnoprstuvxy_") for _ in range(3))
        d = chr(ord(a) + 4)
        return "*!" + self.draw.choice([f"{a}*", f"*{a}{b}*", f"*{a}*{b}*{c}*", f"*{a}", f"*{a}?{b}*",
                                        f"*[{a}-{d}]{b}*", f"?{a}*{b}*"])

    def patterns(self):
        """By hand sometimes all functions except some: no pattern can name the many functions without a name."""
        patterns = [self.pattern() for _ in range(self.draw.randint(1, 8 if BY_HAND else 3))]
        if self.draw.random() < 0.3:
            patterns.append("!" + self.pattern())
        if BY_HAND and self.draw.random() < 0.15:
            patterns = ["*!*", "!" + self.pattern()]
        return patterns

    def pids(self, load):
        if self.subject.process:
            return self.subject.pids()
        return [load.process.pid]

    def record(self, load, pids):
        patterns = self.patterns()
        with tempfile.TemporaryDirectory(dir=self.subject.dir) as folder:
            out = pathlib.Path(folder) / "trace"
            done = run(HODO, "record", "-p", ",".join(map(str, pids)), f"--functions={','.join(patterns)}",
                       "--overwrite", "-m", "1M", "--duration", f"{self.draw.uniform(0.02, 1.2):.2f}", "-o", out)
            for line in done.lines():
                self.said[re.sub(r"\d[\d.,]*|/\S+", "N", line)] += 1
            if done.returncode and "it left before" in done.stderr and not self.subject.process:
                load.process.wait(PATIENCE_S)
            elif "does not answer" in done.stderr and self.counts["unanswered"] * 10 <= self.counts["recordings"]:
                self.counts["unanswered"] += 1  # the process got no CPU for as long as a recorder waits
            elif done.returncode and not load.over():
                fail(self.subject, f"hodo record {patterns}: {done.returncode}: {done.stderr}")
            return sum(self.functions(out, pid) for pid in pids)

    @staticmethod
    def functions(out, pid):
        """How many functions were set in this process, according to its recording."""
        folders = list(out.glob(f"*-{pid}/metadata"))
        found = re.findall(r"/\*@functions found=\d+ on=(\d+)", folders[0].read_text("latin-1")) if folders else []
        return int(found[0]) if found else 0

    def left(self, pid):
        """Patches that should not be there."""
        try:
            return [p for p in patches(pid) if not self.stays(p)]
        except (FileNotFoundError, ProcessLookupError):
            return []  # the process has ended

    def stays(self, p):
        """Patches at system calls, and at functions by which libhodo sees new libraries and unwinders see slots."""
        if p.now == TRAP:
            return p.was.startswith(SYSTEM_CALL)
        return p.now == JUMP and (SYSTEM_CALL in p.was or p.offset in self.seen_by(p.path))

    def seen_by(self, path):
        """Where that function begins; in these files, the offset in the file equals the address."""
        name = {"libc.so.6": "_dl_find_object", "ld-linux-x86-64.so.2": "_dl_debug_state"}.get(os.path.basename(path))
        if name and path not in self.functions_seen:
            done = run("readelf", "-W", "--dyn-syms", path, status=0)
            start = int(re.search(rf"(\w+) +\d+ FUNC.* {name}@", done.stdout)[1], 16)
            self.functions_seen[path] = (start, start + 4)
        return self.functions_seen.get(path, ())

    def look_at_code(self, pids):
        for pid in pids:
            wait_for(lambda pid=pid: f"the code of {pid} as it was: {self.left(pid)[:10]}",
                     lambda pid=pid: not self.left(pid), 0.05)

    def over(self):
        return self.counts["cycles"] >= CYCLES and self.counts["recordings"] >= RECORDINGS

    def life(self):
        """Runs the program from its start to its end."""
        self.subject.setup()
        self.counts["lives"] += 1
        load = Load(self.subject)
        try:
            for _ in range(RECORDINGS_MAX):
                if self.over() or (load.over() and not self.subject.process):
                    break
                if load.over():
                    load.check()
                    self.counts["loads"] += 1
                    load = Load(self.subject)
                pids = self.pids(load)
                self.counts["cycles"] += self.record(load, pids)
                self.counts["recordings"] += 1
                self.look_at_code(pids)
                if BY_HAND:
                    print(dict(self.counts), flush=True)
            if not self.counts["cycles"]:
                fail(self.subject, "no function was set", *self.said)
            load.check()
            self.counts["loads"] += 1
            if self.subject.process:
                self.still_fine()
        finally:
            if not load.over():
                load.process.kill()
                load.process.wait()
            self.subject.stop()

    def still_fine(self):
        if self.subject.process.poll() is not None:
            fail(self.subject, f"the server has ended: {self.subject.process.returncode}")
        if hasattr(self.subject, "balances"):
            faults = self.subject.balances()
            if faults:
                fail(self.subject, *faults)
        self.look_at_code(self.subject.pids())


def main():
    kinds = {"redis": OwnTests, "nginx": Nginx, "postgresql": Postgresql, "python": Python, "java": Java}
    with tempfile.TemporaryDirectory(prefix="hodo-cycles.") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        os.environ["XDG_RUNTIME_DIR"] = str(directory / "run")
        (directory / "run").mkdir(mode=0o700)
        # Where the program's user can read them, even if that user cannot enter the source tree.
        for library in ("HODO_LIBRARY", "HODO_LIBRARY_FUNC"):
            os.environ[library] = shutil.copy(os.environ[library], directory)
        print(f"seed {SEED}", flush=True)
        cycles = Cycles()
        begin = time.monotonic()
        while not cycles.over():
            folder = directory / f"life{cycles.counts['lives']}"
            folder.mkdir()
            cycles.subject = kinds[sys.argv[1]](folder)
            cycles.life()
            if BY_HAND:
                print(dict(cycles.counts), f"{time.monotonic() - begin:.0f} s", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
        print(*(f"{n} x {line}" for line, n in cycles.said.most_common(20)), sep="\n")
        print(", ".join(f"{n:,} {what}" for what, n in cycles.counts.items()))


if __name__ == "__main__":
    main()
