#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hosts.py HODO PROGRAM DIR [HOSTS [EVENTS]] - what it costs to merge recordings of many hosts.

Records PROGRAM (bench/hosts.c) once for each host, one after the other, in DIR/NUMBER, unless they are there; gives
each another name, boot and clock; merges them; and asks the result some questions. Prints seconds, processor time and
the largest amount of memory of each command. The recordings of 1,000 hosts with a million events each take about 0.5
GB.
"""
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time
import uuid

NS = 10**9


def edit(folder, number):
    """Another host: its name, its boot, and its clock, which is up to a day off and drifts by up to 100 millionths."""
    pick = random.Random(number)
    offset_ns, drift = pick.randrange(-86400 * NS, 86400 * NS), pick.uniform(-1e-4, 1e-4)

    def clock(found):
        freq, seconds, ticks = (int(n) for n in found.group(2, 3, 4))
        new = round(freq / (1 + drift) / 4) * 4
        tick = time.time_ns() % (10**6) - ticks  # any: the line is moved there
        total = ((seconds * NS * freq // NS + ticks + tick) * new // freq + offset_ns * new // NS - tick) & ~3
        return (f"{found[1]} freq={new} offset_s={total // new} offset={total % new}*/",
                f"clock {{ name = hodo; freq = {new // 4}; offset_s = {total // new}; offset = {total % new // 4}; "
                "absolute = true; };")
    for path in pathlib.Path(folder).rglob("metadata"):
        text = path.read_text(encoding="utf-8")
        found = re.search(r"(/\*@clock kind=\S+) freq=(\d+) offset_s=(-?\d+) offset=(-?\d+)\*/", text)
        comment, tsdl = clock(found)
        text = text.replace(found[0], comment)
        text = re.sub(r"clock \{ name = hodo;[^\n]*", tsdl, text)
        text = re.sub(r'hostname = "[^"]*"', f'hostname = "host{number:04}"', text)
        text = re.sub(r"/\*@machine boot=\S+\*/", f"/*@machine boot={uuid.UUID(int=pick.getrandbits(128))}*/", text)
        path.write_text(text, encoding="utf-8")


def measured(what, command):
    begin = time.monotonic()
    with subprocess.Popen(["nice", "-n", "19", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        lines = process.stdout.read().decode(errors="replace").splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    print(f"{what:<28} {time.monotonic() - begin:8.1f} s {usage.ru_utime + usage.ru_stime:8.1f} s CPU "
          f"{usage.ru_maxrss / 1024:8.0f} MiB   {(lines or [''])[-1][:90]}", flush=True)
    return lines


def main():
    hodo, program, top = sys.argv[1:4]
    hosts, events = (int(n) for n in (sys.argv[4:] + ["1000", "1000000"][len(sys.argv) - 4:]))
    os.makedirs(top, exist_ok=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    print(f"{hosts} hosts, {events} events each; at most {soft} open files (hard {hard})")
    folders = [os.path.join(top, f"{n:04}") for n in range(hosts)]
    for number, folder in enumerate(folders):
        if not os.path.exists(folder):
            subprocess.run(["nice", hodo, "record", "-q", "--compress", "-m", "64M", "-o", folder, "--", program,
                            str(number), str(hosts), str(events)], check=True)
            edit(folder, number)
    merged = os.path.join(top, "merged")
    shutil.rmtree(merged, ignore_errors=True)
    lines = measured("merge", [hodo, "merge", "-o", merged, "--pair", "net:sent.key=net:received.key", "--pair",
                               "net:answered.key=net:got.key", *folders])
    print("\n".join(lines[:4]))
    size = subprocess.run(["du", "-sm", "--total", merged], check=True, capture_output=True, text=True).stdout
    print(f"{size.split()[0]} MiB in the result")
    for what, command in (("info", ["info", "-q", merged]), ("stat", ["stat", "-q", merged]),
                          ("report", ["report", "-q", "-e", "net:*", merged]),
                          ("report --by host", ["report", "-q", "-e", "net:*", "--by", "host", merged]),
                          ("print --host, one", ["print", "-q", "-n", "1000", "--host", "host0500", merged]),
                          ("print -n 1000000", ["print", "-q", "-n", "1000000", merged])):
        measured(what, [hodo, *command])


main()
