# SPDX-License-Identifier: MIT
"""function_peers - runs the peers of function tracing.

Each takes the arguments of bench/calls and returns its output and the bytes written; a missing peer returns
None, and its rows stay empty.
"""
import os
import shutil
from pathlib import Path

from peers import BenchError, run

UFTRACE_RECORD = 16  # bytes
# All calls, however short, and buffers for all of them: by default both modes drop calls below 5 us.
XRAY_OPTIONS = {"xray-fdr": "func_duration_threshold_us=0:buffer_max=10000",
                "xray-basic": "func_duration_threshold_us=0"}
# Where XRay finds the counter's frequency; without, it takes clock_gettime() in place of the counter.
XRAY_FREQUENCY = [Path("/sys/devices/system/cpu/cpu0", name) for name in ("tsc_freq_khz", "cpufreq/cpuinfo_max_freq")]
LTTNG_HELPER = "liblttng-ust-cyg-profile-fast.so"


class FunctionPeers:
    def __init__(self, bench):
        self.bench = bench
        self.serial = 0
        self.has_uftrace = shutil.which("uftrace") is not None
        self.xray_clock = "" if any(path.exists() for path in XRAY_FREQUENCY) else " by clock_gettime"

    def program(self, name):
        """Path of a program, or None: those of XRay are built only where clang has its run-time library."""
        try:
            return self.bench.program(name)
        except BenchError:
            if name.endswith("_xray"):
                return None
            raise

    def plain_run(self, name, args):
        """A program by itself: its output."""
        return run([self.program(name), *args], cwd=self.bench.work) # where -pg may leave its gmon.out

    def folder(self):
        self.serial += 1
        path = self.bench.work / f"peer{self.serial}"
        path.mkdir()
        return path

    def uftrace(self, args, program="calls_pg", options=("--no-libcall",), keep=False):
        """(output, bytes, records, folder); the folder is gone unless kept."""
        if not self.has_uftrace:
            return None
        folder = self.folder() / "uftrace.data"
        # --no-event: without perf's context switches, which it would otherwise record where it has the right to.
        output = run(["uftrace", "record", "-d", folder, "--no-event", *options, self.program(program), *args],
                     cwd=folder.parent)
        size = sum(path.stat().st_size for path in folder.glob("[0-9]*.dat"))
        if not keep:
            shutil.rmtree(folder.parent)
        return output, size, size // UFTRACE_RECORD, folder

    def xray(self, args, mode):
        """(output, bytes)."""
        program = self.program("calls_xray")
        if program is None:
            return None
        folder = self.folder()
        env = {**os.environ, "BENCH_XRAY_MODE": mode, "BENCH_XRAY_OPTIONS": XRAY_OPTIONS[mode],
               "XRAY_OPTIONS": f"patch_premain=false xray_logfile_base={folder}/log."}
        output = run([program, *args], env=env)
        size = sum(path.stat().st_size for path in folder.iterdir())
        if size == 0:
            raise BenchError(f"XRay wrote no log in its mode {mode}")
        shutil.rmtree(folder)
        return output, size

    def xray_null(self, args):
        """Output with a handler that does nothing."""
        program = self.program("calls_xray")
        return run([program, *args], env={**os.environ, "BENCH_XRAY_MODE": "null"}) if program else None

    def gprof(self, args):
        folder = self.folder()
        output = run([self.program("calls_pg"), *args], env={**os.environ, "GMON_OUT_PREFIX": f"{folder}/gmon"})
        shutil.rmtree(folder)
        return output

    def lttng(self, args, overwrite):
        """LTTng-UST's helper for -finstrument-functions."""
        output, _ = self.bench.lttng.record([self.program("calls_instrument"), *args], overwrite,
                                            subbuf="1M" if overwrite else "8M",
                                            events="lttng_ust_cyg_profile_fast:*", preload=LTTNG_HELPER)
        return output
