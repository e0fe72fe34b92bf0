#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py DIR - between the early and the late measurement nothing was allocated and kept: objects of each kind, areas,
pages."""
import pathlib
import re
import sys

OF_PROCESSES = re.compile(r"dentry|inode|radix|maple|mm_struct|vm_area|anon_vma|task|files|fs_cache|sig|pid|cred|filp|lsm|"
                          r"names|buffer_head|kmalloc-rcl|trace|ftrace")
failed = 0


def say(good, name, why):
    global failed
    failed += not good
    print(f"ok {name}" if good else f"not ok {name} {why}")
    print(f"# {name}: {why}")


def slabs(folder, when):
    """(objects in use, the fewest of all samples; bytes of one) for each cache."""
    out = {}
    for path in sorted(folder.glob(f"{when}.slabinfo.*")):
        for line in path.read_text().splitlines()[2:]:
            words = line.split()
            out[words[0]] = min(out.get(words[0], (1 << 62,))[0], int(words[1])), int(words[3])
    return out


def meminfo(folder, when):
    """KiB; "Free" includes the pages that are free for one CPU only."""
    text = (folder / f"{when}.meminfo").read_text()
    out = {name: int(kb) for name, kb in re.findall(r"^(\S+):\s+(\d+) kB", text, re.M)}
    pages = sum(map(int, re.findall(r"^\s+count:\s+(\d+)", (folder / f"{when}.zoneinfo").read_text(), re.M)))
    out["Free"] = out["MemAvailable"] + 4 * pages
    return out


def main():
    folder = pathlib.Path(sys.argv[1])
    cycles = int((folder / "cycles").read_text())
    early, late = slabs(folder, "early"), slabs(folder, "late")
    grown = {name: (late[name][0] - early.get(name, (0,))[0], late[name][1]) for name in late}
    kept = {name: n for name, (n, _) in grown.items() if n > (200 if OF_PROCESSES.search(name) else 15)}
    most = sorted(grown.items(), key=lambda item: -item[1][0] * item[1][1])[:3]
    say(not kept, "slab", f"over {cycles} cycles: objects {kept or 'of no kind'} kept; most: "
        + ", ".join(f"{name} {n} x {size}" for name, (n, size) in most))
    total = sum(n * size for n, size in grown.values()) // 1024
    say(total < cycles + 512, "slab.total", f"{total} KiB more in all caches")

    ours = [line for line in (folder / "late.vmallocinfo").read_text().splitlines() if "hodo" in line]
    say(not ours, "vmalloc", f"{len(ours)} areas of ours: {ours[:3]}")
    areas = [len((folder / f"{when}.vmallocinfo").read_text().splitlines()) for when in ("early", "late")]
    say(areas[1] - areas[0] < cycles / 4, "vmalloc.areas", f"{areas[0]}, then {areas[1]} areas")

    early, late = meminfo(folder, "early"), meminfo(folder, "late")
    say(late["Percpu"] <= early["Percpu"] + 32, "percpu", f"{early['Percpu']}, then {late['Percpu']} KiB")
    # The smallest of a recording's buffers has one megabyte.
    lost = early["Free"] - late["Free"]
    say(lost < max(cycles * 4, 2048), "memory", f"{lost} KiB less free over {cycles} cycles")
    leaks = folder / "late.kmemleak"
    if leaks.exists():
        found = [block for block in leaks.read_text().split("unreferenced") if "hodo" in block]
        say(not found, "kmemleak", "".join(found)[:1000])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
