# SPDX-License-Identifier: MIT
"""peers - runs Hodoscope's peers: LTTng-UST and babeltrace2."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

LTTNG_RUNDIR = Path("/run/lttng")
PRIVATE_ENV = "HODO_BENCH_PRIVATE_RUNDIR"
START_TIMEOUT_S = 20
# A program started this way gets SIGTERM when this process ends for any reason.
WITH_US = ["setpriv", "--pdeathsig", "TERM"]


class BenchError(Exception):
    """Something that could not be measured, in one line for the user."""


def run(cmd, **more):
    """Standard output of a command that must succeed."""
    try:
        done = subprocess.run([str(c) for c in cmd], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, **more)
    except FileNotFoundError as error:
        raise BenchError(f"{cmd[0]}: not found: run scripts/deps") from error
    if done.returncode != 0:
        tail = " | ".join(done.stderr.strip().splitlines()[-3:])
        raise BenchError(f"{' '.join(str(c) for c in cmd)}: exit status {done.returncode}: {tail}")
    return done.stdout


def cpu_seconds(cmd):
    """Processor time of a command that must succeed; its output goes nowhere."""
    with subprocess.Popen([str(c) for c in cmd], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        tail = errors.strip()[-300:]
        raise BenchError(f"{' '.join(map(str, cmd))}: exit status {process.returncode}: {tail}")
    return usage.ru_utime + usage.ru_stime


def clock_seconds(cmd):
    """How long a command takes that must succeed."""
    start = time.monotonic()
    cpu_seconds(cmd)
    return time.monotonic() - start


def babeltrace_counts(trace):
    """(events, discarded events) as babeltrace2 counts them."""
    text = run(["babeltrace2", trace, "-c", "sink.utils.counter"])
    counts = {}
    for number, what in re.findall(r"^\s*([\d,]+) (.+?) messages", text, re.MULTILINE):
        counts[what] = int(number.replace(",", ""))
    return counts.get("Event", 0), counts.get("Discarded event", 0)


def babeltrace_events(trace):
    """How many events of a recording of ours babeltrace2 shows. To its counter anchors are events, too."""
    return int(run(["sh", "-c", 'babeltrace2 "$1" | grep -vc hodo:anchor:', "sh", trace]))


def enter_private_rundir():
    """Gives this process a /run/lttng of its own.

    Root's session daemon uses that one path, which no option changes. So that a
    daemon which already runs there is neither used nor disturbed, start again
    in a mount namespace of our own. Other users' daemons follow $LTTNG_HOME.
    """
    if os.geteuid() != 0:
        return
    if os.environ.get(PRIVATE_ENV) == "1":
        if subprocess.run(["mount", "-t", "tmpfs", "none", str(LTTNG_RUNDIR)], check=False).returncode != 0:
            raise BenchError(f"cannot mount a private {LTTNG_RUNDIR}")
        return
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        made = not LTTNG_RUNDIR.exists()
        LTTNG_RUNDIR.mkdir(exist_ok=True)
        inner = subprocess.Popen([*WITH_US, "unshare", "--mount", sys.executable, *sys.argv],
                                 env={**os.environ, PRIVATE_ENV: "1"})
        # The inner process handles both signals; a terminal sends it SIGINT directly.
        signal.signal(signal.SIGTERM, lambda *_: inner.terminate())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = inner.wait()
        if made:
            LTTNG_RUNDIR.rmdir()
        sys.exit(status if status >= 0 else 128 - status)
    if (LTTNG_RUNDIR / "client-lttng-sessiond").exists():
        raise BenchError(f"a session daemon uses {LTTNG_RUNDIR}: end it, or run as another user")


class Lttng:
    """A session daemon of our own, for as long as the with statement lasts."""

    def __init__(self, work_dir):
        self.home = Path(work_dir) / "lttng"
        self.env = {**os.environ, "LTTNG_HOME": str(self.home), "LTTNG_UST_REGISTER_TIMEOUT": "3000"}
        self.daemon = None
        self.serial = 0

    def __enter__(self):
        if not shutil.which("lttng-sessiond") or not shutil.which("lttng"):
            raise BenchError("lttng-sessiond: not found: run scripts/deps bench")
        self.home.mkdir()
        with open(self.home / "sessiond.log", "wb") as log:
            self.daemon = subprocess.Popen([*WITH_US, "lttng-sessiond", "--no-kernel"], env=self.env,
                                           stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + START_TIMEOUT_S
        while subprocess.run(["lttng", "--no-sessiond", "list"], env=self.env, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, check=False).returncode != 0:
            if self.daemon.poll() is not None or time.monotonic() > deadline:
                log = (self.home / "sessiond.log").read_text(errors="replace").strip()
                self.__exit__()
                raise BenchError(f"lttng-sessiond does not start: {log[-300:]}")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        if self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
        try:
            self.daemon.wait(START_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()

    def lttng(self, *args):
        return run(["lttng", "--no-sessiond", *args], env=self.env)

    def record(self, cmd, overwrite, subbuf="8M", keep=False, events="bench:*", preload=None, blocking=False):
        """Runs cmd recorded, events with the thread's id; its output and, if kept, the trace. blocking: it waits for
        room."""
        self.serial += 1
        name = f"s{self.serial}"
        trace = self.home / name
        mode = ["--snapshot"] if overwrite else [f"--output={trace}"]
        self.lttng("create", name, *mode)
        try:
            self.lttng("enable-channel", "-u", "ch", "--overwrite" if overwrite else "--discard",
                       f"--subbuf-size={subbuf}", "--num-subbuf=4", *(["--blocking-timeout=inf"] if blocking else []))
            self.lttng("add-context", "-u", "-c", "ch", "-t", "vtid")
            self.lttng("enable-event", "-u", "-c", "ch", events)
            self.lttng("start")
            output = run(cmd, env={**self.env, **({"LD_PRELOAD": preload} if preload else {}),
                                   **({"LTTNG_UST_ALLOW_BLOCKING": "1"} if blocking else {})})
            self.lttng("stop")
        finally:
            self.lttng("destroy", name)
        if not keep:
            shutil.rmtree(trace, ignore_errors=True)
        return output, trace
