#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_kernel - what hodo.ko's events cost, in instructions of a guest that counts them. usage: check_kernel.py ROOT

The same module in the same kernel gives the same figures on any host, busy or not, so this test can judge them:
bench/kernel's targets, and that ftrace, measured beside it, costs more. 77 where this machine cannot run the guest.
"""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/world/kernel/lib"))
import guest  # noqa: E402
import kernels  # noqa: E402

# instructions; most of them are the targets of bench/kernel
PROBE = 10  # a call that does nothing takes as many instructions
LIMITS = {"micro_getppid": 250, "micro_getppid_all": 250, "micro_write": 250, "micro_switch": 150,
          "micro_kmalloc": 150, "micro_kfree": 150, "micro_fault": 150, "micro_access": 400, "micro_idle": 0}


def skip(why):
    print(f"check_kernel: skipped: {why}")
    sys.exit(77)


def main():
    if missing := guest.qemu_missing():
        skip(missing)
    try:
        kernels.Kernel(kernels.versions()[0])
    except kernels.Unavailable as why:
        skip(why)
    done = subprocess.run([sys.executable, ROOT / "bench/kernel", "--row", "micro", "--tracer", "hodo", "--tracer",
                           "ftrace", "--json"], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"bench/kernel: exit status {done.returncode}\n{done.stderr}")
    rows = {row["id"]: row for row in json.loads(done.stdout)["rows"]}
    problems = []
    for name, limit in LIMITS.items():
        values = rows.get(name, {}).get("values", {})
        hodo, ftrace = (values.get(tracer) for tracer in ("hodo", "ftrace"))
        print(f"{name}: {hodo} (at most {limit}), ftrace {ftrace}")
        if hodo is None or ftrace is None:
            problems.append(f"{name} was not measured")
        elif hodo > limit:
            problems.append(f"{name}: {hodo:.0f} instructions, more than {limit}")
        elif name != "micro_idle" and not PROBE < hodo < ftrace:
            problems.append(f"{name}: {hodo:.0f} instructions are not between a probe's {PROBE} and {ftrace}")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
