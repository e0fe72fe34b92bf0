# SPDX-License-Identifier: MIT
"""The recordings that hodo record -k made in the guest: babeltrace2 reads the same as hodo, and nothing is missing."""

import collections
import json
import os
import pathlib
import subprocess
import sys

HODO, ROOT = os.environ["HODO"], pathlib.Path(os.environ["ROOT"])
DIR = pathlib.Path(sys.argv[1])
failed = False


def check(name, good, why=""):
    global failed
    failed |= not good
    print(f"ok {name}" if good else f"not ok {name} {why}", flush=True)


def hodo(*args):
    return subprocess.run([HODO, *args], check=True, capture_output=True, text=True).stdout


def events(name, *args):
    return [json.loads(line) for line in hodo("print", "-q", "--json", *args, str(DIR / name)).splitlines()]


def info(name):
    return json.loads(hodo("info", "-q", "--json", str(DIR / name)))["processes"]


def recordings():
    for data in sorted(path for path in DIR.iterdir() if path.is_dir()):
        yield data / "snapshot-0001" if data.name == "trigger" else data


def readable():
    """hodo itself and babeltrace2 can read each of them."""
    for data in recordings():
        for verb in ("stat", "print"):
            run = subprocess.run([HODO, verb, "-q", data], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                 check=False)
            check(f"{verb}_{data.relative_to(DIR)}", run.returncode == 0, run.stderr)
        run = subprocess.run([sys.executable, "-B", ROOT / "tests/lib/compare_bt2.py", HODO, data], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        check(f"babeltrace2_{data.relative_to(DIR)}", run.returncode == 0, run.stdout)


def alone():
    found = events("alone")
    providers = {e["name"].split(":")[0] for e in found}
    check("alone_providers", {"sched", "syscalls"} <= providers <= {"sched", "syscalls", "irq", "block"}, providers)
    switches = [e for e in found if e["name"] == "sched:sched_switch"]
    check("alone_switches", len(switches) > 10, len(switches))
    check("alone_tid", all(e["tid"] == e["fields"]["prev_pid"] for e in switches))
    idle = [e for e in switches if e["tid"] == 0]
    check("alone_idle", idle and all(e["comm"] == e["fields"]["prev_comm"] == f"swapper/{e['cpu']}" for e in idle),
          idle[:3])
    others = [e for e in switches if e["tid"] != 0]
    wrong = [e for e in others if e["comm"] != e["fields"]["prev_comm"]]
    check("alone_comm", others and not wrong, wrong[:3])
    check("alone_pid", all(e["pid"] > 0 for e in others), [e for e in others if not e["pid"]][:3])
    check("alone_cpus", {e["cpu"] for e in found} == {0, 1}, {e["cpu"] for e in found})


def both():
    """A thread's own events and the kernel's events of it are on one timeline."""
    found = events("both")
    kernel, emit = sorted(info("both"), key=lambda p: p["pid"])
    check("both_folders", (kernel["comm"], emit["comm"]) == ("kernel", "emit"))
    check("both_release", kernel["kernel"] == os.environ["KVER"], kernel["kernel"])
    check("both_clock", kernel["clock"] == emit["clock"])
    tid = emit["pid"]
    mine = [e for e in found if e["tid"] == tid]
    check("both_resolved", all(e["pid"] == tid and e["comm"] in ("hodo", "emit") for e in mine),
          [e for e in mine if e["pid"] != tid or e["comm"] not in ("hodo", "emit")][:3])
    # Until it executes the program, it is the recorder's child, and has its name.
    executed = [i for i, e in enumerate(mine) if e["name"] == "syscalls:sys_exit_execve" and e["fields"]["ret"] == 0]
    check("both_executed", len(executed) == 1 and all(e["comm"] == "emit" for e in mine[executed[0]:]),
          [e for e in mine if e["comm"] != "emit"][-3:])
    seen, wrong = [], []
    for e in mine:
        if e["name"].startswith("emit:"):
            seen.append((e["name"][5:], e["fields"].get("i", e["fields"].get("n"))))
        elif e["name"] == "syscalls:sys_enter_write" and e["fields"]["fd"] == 77:
            seen.append(("enter", e["fields"]["count"]))
        elif e["name"] == "syscalls:sys_exit_write" and seen and seen[-1][0] == "enter":
            seen.append(("exit", e["fields"]["ret"]))
    wanted = []
    for i in range(300):
        wanted += [("before", i), ("enter", i % 10), ("exit", i % 10), ("after", i)]
    wanted.append(("done", 300))
    wrong = [pair for pair in zip(seen, wanted) if pair[0] != pair[1]]
    check("both_timeline", seen == wanted, (len(seen), len(wanted), wrong[:3]))
    # Between two switches that take a CPU from the thread and give it back, the thread has no events.
    away, broken = False, []
    for e in found:
        fields = e["fields"]
        if e["name"] == "sched:sched_switch" and fields["prev_pid"] == tid:
            away = True
        elif e["name"] == "sched:sched_switch" and fields["next_pid"] == tid:
            away = False
        elif e["tid"] == tid and away:
            broken.append(e)
    check("both_switches", not broken, broken[:3])


def others():
    names = collections.Counter(e["name"].split(":")[0] for e in events("defaults"))
    check("defaults_providers", {"emit", "sched", "syscalls"} <= set(names), names)
    names = collections.Counter(e["name"] for e in events("attached"))
    check("attached_events", names["emit:tick"] > 5 and names["syscalls:sys_enter_clock_nanosleep"] > 5, names)
    found = events("context")
    check("context_user", all(e["context"]["comm"] == "emit" for e in found if e["name"].startswith("emit:")))
    check("context_kernel", not any("context" in e for e in found if e["name"].startswith("syscalls:")))
    check("unknown_user", len(events("unknown")) == 5)


def off_cpu():
    """The time off the CPU that ends give is the sum from the recording's switches."""
    found = events("off_cpu")
    ends = [e for e in found if e["name"] == "emit:nap.end"]
    calls = [e for e in found if e["name"] == "syscalls:sys_exit_clock_nanosleep" and e["comm"] == "emit"]
    tids = {e["tid"] for e in ends}
    check("off_cpu_events", (len(ends), len(calls), len(tids)) == (20, 20, 1), (len(ends), len(calls), tids))
    tid, off, left = tids.pop(), 0, None
    begun, wrong, waits = {}, [], 0
    for e in found:
        fields = e["fields"]
        if e["name"] == "sched:sched_switch" and fields["prev_pid"] == tid:
            left, waits = e["ts"], waits + (fields["prev_state"] not in (0, 256))
        elif e["name"] == "sched:sched_switch" and fields["next_pid"] == tid:
            off, left = off + (e["ts"] - left if left else 0), None
        elif e["tid"] == tid and e["name"] in ("emit:nap.begin", "syscalls:sys_enter_clock_nanosleep"):
            begun[e["name"][:5]] = off, waits
        elif e in ends or e in calls:
            was = begun[e["name"][:5]]
            wanted = off - was[0], waits - was[1], True
            said = e.get("off_cpu_ns"), e.get("waits"), e.get("off_cpu_ns", 0) <= e["duration_ns"]
            wrong += [(said, wanted)] if said != wanted else []
    check("off_cpu_sums", not wrong, wrong[:3])
    check("off_cpu_waits", waits > 0)
    span, = [s for s in json.loads(hodo("report", "-q", "--json", "-e", "emit:*", str(DIR / "off_cpu")))["spans"]
             if s["name"] == "emit:nap"]
    check("off_cpu_report", (span["off_cpu_count"], span["off_cpu_ns"]) == (20, sum(e["off_cpu_ns"] for e in ends)),
          span)


def bounds():
    padded = events("padded")
    check("padded_events", padded and all(e["fields"]["next_comm"] == "emit" for e in padded), padded[:3])
    rate = json.loads(hodo("stat", "--json", str(DIR / "rate")))
    limited = sum(p["limited"] for p in info("rate"))
    check("rate_sum", 500 <= rate["recorded"] + limited <= 502 and 10 <= rate["recorded"] < 500,
          (rate["recorded"], limited))
    flight = json.loads(hodo("stat", "--json", str(DIR / "flight")))
    check("flight_overwritten", flight["overwritten"] > 0 and flight["recorded"] > 0, flight)
    size = sum(f.stat().st_size for f in (DIR / "size").rglob("cpu*"))
    check("size_bound", 64 << 10 < size <= 128 << 10, size)
    snapshot = info("snapshot")[0]
    check("snapshot_why", snapshot["snapshot"]["why"] == "a test", snapshot["snapshot"])
    for name in ("snapshot", "tree", "tree_ended", "while"):
        calls = [e for e in events(name, "--filter", '$comm == "emit" && fd == 77')]
        check(f"{name}_events", len([e for e in calls if e["name"] == "syscalls:sys_enter_write"]) == 100, len(calls))
    check("crash_events", any(e["name"] == "syscalls:sys_enter_tgkill" for e in events("crash")))


readable()
alone()
both()
others()
off_cpu()
bounds()
sys.exit(failed)
