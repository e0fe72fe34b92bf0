#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py DIR - between the early and the late measurement nothing was allocated and kept: fewer objects of each kind
than one in four cycles, and less than a page a cycle of all together."""
import pathlib
import re
import sys

failed = 0


def say(good, name, why):
    global failed
    failed += not good
    print(f"ok {name}" if good else f"not ok {name} {why}")
    print(f"# {name}: {why}")


def slabs(path):
    """(objects in use, bytes of one) of each cache."""
    out = {}
    for line in path.read_text().splitlines()[2:]:
        words = line.split()
        out[words[0]] = int(words[1]), int(words[3])
    return out


def meminfo(path):
    return {name: int(kb) for name, kb in re.findall(r"^(\S+):\s+(\d+) kB", path.read_text(), re.M)}


def main():
    folder = pathlib.Path(sys.argv[1])
    cycles = int((folder / "cycles").read_text())
    early, late = slabs(folder / "early.slabinfo"), slabs(folder / "late.slabinfo")
    grown = {name: (late[name][0] - early.get(name, (0, 0))[0], late[name][1]) for name in late}
    # A leak has one object a cycle, or one each few: other parts of the kernel come and go by fewer.
    kept = {name: n for name, (n, _) in grown.items() if n >= cycles / 4}
    most = sorted(grown.items(), key=lambda item: -item[1][0] * item[1][1])[:3]
    say(not kept, "slab", f"over {cycles} cycles: objects {kept or 'of no kind'} kept; most: "
        + ", ".join(f"{name} {n} x {size}" for name, (n, size) in most))
    total = sum(n * size for n, size in grown.values()) // 1024
    say(total < cycles, "slab.total", f"{total} KiB more in all caches")

    ours = [line for line in (folder / "late.vmallocinfo").read_text().splitlines() if "hodo" in line]
    say(not ours, "vmalloc", f"{len(ours)} areas of ours: {ours[:3]}")
    areas = [len((folder / f"{when}.vmallocinfo").read_text().splitlines()) for when in ("early", "late")]
    say(areas[1] - areas[0] < cycles / 4, "vmalloc.areas", f"{areas[0]}, then {areas[1]} areas")

    early, late = meminfo(folder / "early.meminfo"), meminfo(folder / "late.meminfo")
    say(late["Percpu"] <= early["Percpu"] + 32, "percpu", f"{early['Percpu']}, then {late['Percpu']} KiB")
    # Free lists of each CPU and the like move by some; a page a cycle is more.
    lost = early["MemAvailable"] - late["MemAvailable"]
    say(lost < max(cycles * 4, 1024), "memory", f"{lost} KiB less available over {cycles} cycles")
    leaks = folder / "late.kmemleak"
    if leaks.exists():
        found = [block for block in leaks.read_text().split("unreferenced") if "hodo" in block]
        say(not found, "kmemleak", "".join(found)[:1000])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
