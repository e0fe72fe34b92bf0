#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_memory.py [ROUNDS] - the most memory that reading commands take for two recordings, one four times the other.

HODO, EMIT: the programs. ROUNDS: rounds of the larger recording, of twenty events each."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from hodo_test import HODO, hodo, measured, program

EMIT = program("EMIT")
READERS = [["stat"], ["info"], ["list"], ["print"], ["print", "--json"], ["graph"], ["report"],
           ["report", "--by", "thread"]]
LIMIT_KB = 500 << 10  # for each command and recording
MAY_GROW_KB = 12 << 10
# These hold a limited number of slices, points or samples: they grow up to that.
BOUNDED_ELSE = {"view", "export firefox"}


def formats():
    text = hodo("export", "--to", "none-such").stderr
    names = text.split(" is ", 1)[-1] if " is " in text else text
    known = ("callgrind", "chrome", "csv", "firefox", "folded", "jsonl", "perfetto", "pprof", "speedscope")
    found = [name for name in known if name in names]
    assert len(found) == len(known), text
    return found


def peak(command):
    """(largest memory in KiB, seconds)"""
    begin = time.monotonic()
    _, kib = measured(*command, stdout=subprocess.DEVNULL, status=0)
    return kib, time.monotonic() - begin


def commands(folder, recording):
    for words in READERS:
        yield words, [HODO, *words, str(recording)]
    for name in formats():
        yield ["export", name], [HODO, "export", "-q", "--to", name, "-o", str(folder / f"out.{name}"), str(recording)]
    page = str(folder / "out.html")
    said = hodo("view", "-q", "-o", page, recording).stderr
    if "without the page" in said:
        print(f"hodo view is left out: {said.strip()}")
    else:
        yield ["view"], [HODO, "view", "-q", "--force", "-o", page, str(recording)]


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60000
    failed = []
    with tempfile.TemporaryDirectory(prefix="hodo-memory-") as name:
        folder = pathlib.Path(name)
        took = {}
        for n in (rounds // 4, rounds):
            recording = folder / "recording"
            hodo("record", "-q", "-m", "16M", "-o", recording, EMIT, n, status=0)
            for words, command in commands(folder, recording):
                took.setdefault(" ".join(words), []).append(peak(command))
                for old in folder.glob("out.*"):
                    old.unlink()
            shutil.rmtree(recording)
        for words, ((small, _), (large, seconds)) in took.items():
            print(f"{words:24} {small >> 10:5} {large >> 10:5} MiB {seconds:7.2f} s")
            if large > LIMIT_KB or (words not in BOUNDED_ELSE and large > small + MAY_GROW_KB):
                failed.append(f"{words}: {small} KiB, then {large} KiB")
    for line in failed:
        print(f"test_memory: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
