#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""census.py MODE [--seed N] [--runs N] - every image of a program is recorded whole, or what is missing is counted.

The program (census.c) keeps a ledger of its own. For each image, by its number of events: ledger = recorded + counted
as lost; and the images that are in no folder are as many as are counted as not recorded. The seed is printed: with
--seed the same images come again, if in another order."""
import argparse
import collections
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time

from hodo_test import HODO, compare, end, environment, events, info, ok, program, run, wait_for
from load import busy

SEEDS = {"quiet": (1, 2), "loaded": (3,), "slowed": (4,), "stopped": (5,), "overwritten": (6,), "killed": (7,)}
IMAGES = 120
LINE = struct.Struct("=iiI4xQQ")
HEAD = struct.Struct("=II")

Image = collections.namedtuple("Image", "id pid parent silent before after")


def unsure(ledger, printed):
    """The images that only an unrecorded image could have announced: they join when they fork themselves, if at all,
    and what they wrote before is not known (docs/promises.md). A parent comes before its children."""
    found = set()
    for i in ledger:
        if i.silent and (i.parent not in printed or i.parent in found):
            found.add(i.id)
    return found


def read_ledger(path):
    data = pathlib.Path(path).read_bytes()
    n, _ = HEAD.unpack_from(data)
    return [Image(i, *LINE.unpack_from(data, HEAD.size + i * LINE.size)) for i in range(n)]


class Seen:
    """What a recording says of one image."""

    def __init__(self, process):
        self.pid, self.recorded, self.begin_ns = process["pid"], process["recorded"], process.get("begin_ns") or 0
        self.lost = sum(process["lost"].values())
        self.complete = process["complete"]

    def holds(self, image, whole):
        """Whether it can be that image's record; whole: none of the image's events may be unknown."""
        n = self.recorded + self.lost
        return n <= image.before and (image.after <= n or not whole)


def faults(ledger, printed, seen, ended=True):
    """printed: {image: (events, their first time)} of the recording; seen: its Seens. Yields each fault, and at the end
    a list of the images that are in no record."""
    by_pid, missing, late = collections.defaultdict(list), [], unsure(ledger, printed)

    def holds(s, i):
        return s.holds(i, (ended or s.complete) and i.id not in late)
    for s in seen:
        by_pid[s.pid].append(s)
    for pid in {i.pid for i in ledger} | set(by_pid):
        images = [i for i in ledger if i.pid == pid]
        folders = sorted((s for s in by_pid[pid] if s.recorded), key=lambda s: s.begin_ns)
        empty = [s for s in by_pid[pid] if not s.recorded]
        with_events = sorted((i for i in images if i.id in printed), key=lambda i: printed[i.id][1])
        if len(folders) != len(with_events):
            yield f"process {pid}: {len(folders)} folders with events, of {len(with_events)} images"
        for s, i in zip(folders, with_events):
            if s.recorded != printed[i.id][0]:
                yield f"{i}: {printed[i.id][0]} events in a folder that has {s.recorded}"
            elif not holds(s, i):
                yield f"{i}: {s.recorded} recorded, {s.lost} lost"
        for i in (i for i in images if i.id not in printed):
            match = next((s for s in empty if holds(s, i)), None)
            if match:
                empty.remove(match)
            else:
                missing.append(i)
        yield from (f"process {pid}: a folder with no events, {s.lost} lost, is no image's" for s in empty if ended)
    yield missing


def printed_by(recording):
    printed, first = collections.Counter(), {}
    for e in events(recording):
        image = e["fields"]["image"]
        printed[image] += 1
        first.setdefault(image, e["ts"])
    return {i: (n, first[i]) for i, n in printed.items()}


def check(recording, ledger, ended=True):
    """All faults, and how many images are missing."""
    known = info(recording)
    printed = printed_by(recording)
    *wrong, missing = faults(ledger, printed, [Seen(p) for p in known["processes"]], ended)
    counted = sum(r["images"] for r in known.get("unrecorded", []))
    unknown = len({i.id for i in missing} & unsure(ledger, printed))
    if ended and not len(missing) - unknown <= counted <= len(missing):
        wrong.append(f"{counted} images counted as not recorded ({known.get('unrecorded')}), {len(missing)} are missing: "
                     f"{missing[:5]}")
    return wrong, missing


# ----------------------------------------------------------------------- disturbances

def pauses(recorder, stop_s, go_s, times):
    """Stops and continues the recorder, again and again."""
    for _ in range(times):
        if recorder.poll() is not None:
            return
        recorder.send_signal(signal.SIGSTOP)
        time.sleep(stop_s)
        recorder.send_signal(signal.SIGCONT)
        time.sleep(go_s)


OPTIONS = {"slowed": ["-m", "64K"], "stopped": ["-m", "64K"], "overwritten": ["--overwrite", "-m", "64K"],
           "killed": ["-m", "256K"]}
EVENTS = {"slowed": 1000, "stopped": 500, "overwritten": 1000}  # one image's at a time
PAUSES = {"slowed": (0.05, 0.02, 1000), "stopped": (2.5, 0.5, 2)}


def kill_some_time(recorder, recording):
    """Kills the recorder once a good part of the images is on disk."""
    wait_for("images", lambda: recording.exists() and os.listdir(recording)[IMAGES // 2:])
    recorder.kill()
    recorder.wait()
    recorder.stdin.close()


class Place:
    """A folder for one run, whose files any user may run."""

    def __init__(self):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="hodo-test-"))
        self.base.chmod(0o755)
        self.files = {}
        for name in ("CENSUS", "PLUGIN", "HODO_LIBRARY"):
            self.files[name] = shutil.copy(program(name), self.base)
            os.chmod(self.files[name], 0o755)
        (self.base / "empty").mkdir()
        self.env = {**environment(str(self.base)), "HODO_LIBRARY": self.files["HODO_LIBRARY"]}


def one(mode, seed, place):
    recording, ledger = place.base / f"{mode}-{seed}", place.base / f"ledger-{seed}"
    command = [place.files["CENSUS"], seed, IMAGES, EVENTS.get(mode, 200), ledger, place.files["PLUGIN"],
               place.base / "empty"]
    if mode == "killed":  # while there are images to record
        command = ["sh", "-c", '"$@"; read line', "sh", *command]
    with busy(3 if mode == "loaded" else 0), open(place.base / "err", "w+", encoding="utf-8") as err:
        recorder = subprocess.Popen([HODO, "record", "-q", "-o", recording, *OPTIONS.get(mode, []), "--",
                                     *map(str, command)], env=place.env, cwd=place.base, stdin=subprocess.PIPE,
                                    stderr=err)
        try:
            if mode in PAUSES:
                threading.Thread(target=pauses, args=(recorder, *PAUSES[mode]), daemon=True).start()
            if mode == "killed":
                kill_some_time(recorder, recording)
            recorder.wait(timeout=800)
        finally:
            end(recorder)
        err.seek(0)
        said = err.read()
    if mode == "killed":
        wait_for("the program's end", lambda: not [i for i in read_ledger(ledger) if alive(i.pid, place)])
    images = read_ledger(ledger)
    wrong, missing = check(recording, images, ended=mode != "killed")
    if mode == "killed" and "no event was lost" in ok("stat", recording):
        wrong.append("stat says that no event was lost")
    print(f"{mode}, seed {seed}: {len(images)} images, {sum(i.after for i in images)} events; {len(missing)} not recorded")
    assert not wrong, "\n".join([f"seed {seed}", *wrong, said])
    return recording


def alive(pid, place):
    """Whether it is still a process of this run."""
    try:
        return os.readlink(f"/proc/{pid}/exe") == place.files["CENSUS"]
    except OSError:
        return False


def self_check():
    """Checks that faults() notices and names what is removed or added."""
    ledger = [Image(0, 7, -1, 0, 5, 5), Image(1, 7, 0, 0, 3, 3), Image(2, 8, 0, 0, 4, 3), Image(3, 9, 0, 0, 2, 2)]
    printed = {0: (5, 1), 1: (2, 2), 2: (3, 3)}

    def seen(pid, recorded, begin, full=0):
        return Seen({"pid": pid, "recorded": recorded, "begin_ns": begin, "lost": {"full": full}, "complete": True})
    good = [seen(7, 5, 1), seen(7, 2, 2, 1), seen(8, 3, 3), seen(9, 0, 0, 2)]
    assert list(faults(ledger, printed, good)) == [[]]
    assert list(faults(ledger, printed, good[:3])) == [[ledger[3]]]
    assert len(list(faults(ledger, printed, good[1:]))) > 1
    assert len(list(faults(ledger, printed, [*good, seen(9, 0, 0)]))) == 2
    for n, worse in ((1, seen(7, 2, 2)), (2, seen(8, 2, 3)), (2, seen(8, 3, 3, 2)), (3, seen(9, 0, 0, 1))):
        *wrong, missing = faults(ledger, printed, [*good[:n], worse, *good[n + 1:]])
        assert wrong or missing, worse
    assert list(faults(ledger, {**printed, 1: (1, 2)}, good))[0].startswith("Image(id=1")
    # A child that nobody else announced: all of it must be there if its parent is recorded.
    child = Image(4, 10, 0, 1, 9, 9)
    partly = seen(10, 2, 9)
    assert len(list(faults([*ledger, child], {**printed, 4: (2, 9)}, [*good, partly]))) == 2
    for parent in (3, 5):
        orphans = [*ledger, child._replace(id=5, pid=11, parent=3), child._replace(id=6, parent=parent)]
        assert list(faults(orphans, {**printed, 6: (2, 9)}, [*good, partly, seen(11, 0, 9)])) == [[]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", choices=["check", *SEEDS])
    parser.add_argument("--seed", type=int)
    parser.add_argument("--runs", type=int, default=0)
    a = parser.parse_args()
    if a.mode == "check":
        self_check()
        return
    seeds = [a.seed] if a.seed is not None else SEEDS[a.mode] + (random.randrange(1000, 1 << 31),)
    seeds = [random.randrange(1000, 1 << 31) for _ in range(a.runs)] or seeds
    place = Place()
    try:
        for n, seed in enumerate(seeds):
            recording = one(a.mode, seed, place)
            if n == 0 and a.mode == "quiet":
                compare(recording)
            shutil.rmtree(recording)
    finally:
        shutil.rmtree(place.base, ignore_errors=True)


main()
