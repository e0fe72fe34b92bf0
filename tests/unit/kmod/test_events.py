#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_events.py WORK - src/kmod/events/generate.py on headers written for it, with the headers of each installed
kernel; 77: no kernel's headers are installed."""
import importlib
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
KMOD = ROOT / "src/kmod"
sys.path.insert(0, str(KMOD / "events"))
failures = 0


def check(name, fine, why=""):
    global failures
    failures += not fine
    print(f"{'ok' if fine else 'not ok'} {name}{'' if fine else ': ' + str(why)}", flush=True)


def layout(out):
    """As src/kmod/Makefile does, for the files that the events' files include."""
    (out / "events").mkdir(parents=True)
    for link, to in (("include", ROOT / "include"), ("core", ROOT / "src/core"), ("std", KMOD / "std"),
                     ("stages", KMOD / "events"), ("kmod", KMOD), ("ring.h", ROOT / "src/core/ring.h"),
                     ("Kbuild", KMOD / "Kbuild")):
        (out / link).symlink_to(to)
    for header in KMOD.glob("*.h"):
        (out / header.name).symlink_to(header)


def generate(kernel, out, events, *options):
    command = [sys.executable, str(KMOD / "events/generate.py"), "--kernel", str(kernel), "--out", str(out)]
    return subprocess.run([*command, "--events", events, *options], capture_output=True, text=True)


def mtimes(out):
    return {p: p.stat().st_mtime_ns for p in (out / "events").iterdir() if p.name != "events.json"}


def test(kernel, work):
    name = kernel.name.removeprefix("linux-headers-")
    out = work / name
    shutil.rmtree(out, ignore_errors=True)
    layout(out)
    own = ("--include", str(HERE / "include"))
    run = generate(kernel, out, "hodo_kinds hodo_broken irq", *own)
    check(f"{name}.runs", run.returncode == 0, run.stderr)
    if run.returncode:
        return
    events = out / "events"
    skipped = (events / "events.skipped").read_text()
    kinds = set(re.findall(r"hodo_tp_(\w+)\.event", (events / "set_hodo_kinds.c").read_text()))
    check(f"{name}.kinds", kinds == {
        "hodo_kinds_arrays", "hodo_kinds_huge", "hodo_kinds_nothing", "hodo_kinds_others", "hodo_kinds_scalars",
        "hodo_kinds_text", "hodo_kinds_text_condition", "hodo_kinds_text_fn", "hodo_kinds_text_print", "int"}, kinds)
    check(f"{name}.kinds.all", "hodo_kinds" not in skipped, skipped)
    good = set(re.findall(r"hodo_tp_(\w+)\.event", (events / "set_hodo_broken.c").read_text()))
    check(f"{name}.good", good == {"hodo_broken_good", "hodo_broken_printer"}, good)
    for what, why in (("class hodo_broken_private", "undefined type"),
                      ("class hodo_broken_field", "incomplete type"),
                      ("class hodo_broken_class", "hodo_nobody_declared"),
                      ("class hodo_broken_caller", "hodo_nobody_declared"),
                      ("class hodo_broken_many", "too many fields"),
                      ("class hodo_broken_symbol", "needs nobody_exports_this, which is not exported")):
        line = next((l for l in skipped.split("\n") if f": {what}: " in l), "")
        check(f"{name}.skipped.{what.split()[1]}", why in line, line or skipped)
    irq = set(re.findall(r"hodo_tp_(\w+)\.event", (events / "table.c").read_text()))
    check(f"{name}.irq", {"irq_handler_entry", "softirq_raise"} <= irq, irq)
    makefile = (events / "events.mk").read_text()
    check(f"{name}.modules", "obj-m += hodo_hodo_kinds.o" in makefile and "hodo-y += events/ev_irq.o" in makefile,
          makefile)

    before = mtimes(out)
    run = generate(kernel, out, "hodo_kinds hodo_broken irq", *own)
    check(f"{name}.again", run.returncode == 0 and mtimes(out) == before, run.stderr)
    run = generate(kernel, out, "irq")
    table = (events / "table.c").read_text()
    check(f"{name}.fewer", run.returncode == 0 and "irq_handler_entry" in table and
          "obj-m" not in (events / "events.mk").read_text() and (events / "ev_irq.o").stat().st_mtime_ns ==
          before[events / "ev_irq.o"], run.stderr)
    run = generate(kernel, out, "nosuchheader")
    check(f"{name}.unknown", run.returncode == 1 and
          run.stderr.startswith("hodo: no header of tracepoints is named nosuch"), run.stderr)


def test_callers():
    """All callers of a missing function at once; otherwise each would take a round of compiling."""
    header = importlib.import_module("generate").Header("", HERE / "include/trace/events/hodo_broken.h")
    found = header.callers("hodo_nobody_declared")
    check("callers", sorted(found) == ["class hodo_broken_caller", "class hodo_broken_class"], found)


def main():
    kernels = [p for p in sorted(pathlib.Path("/usr/src").glob("linux-headers-*")) if (p / "Module.symvers").exists()]
    if not kernels or not shutil.which("make"):
        print("skipped: no kernel headers are installed")
        sys.exit(77)
    test_callers()
    for kernel in kernels:
        test(kernel, pathlib.Path(sys.argv[1]))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
