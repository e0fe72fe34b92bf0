# SPDX-License-Identifier: MIT
"""patches - where the code of a process differs from the files that it is mapped from."""
import collections
import os
import pathlib

PAGE = 4096
JUMP = 5  # bytes
MOST = 24  # bytes of a window and of one instruction behind it

# now: the first byte that differs; was: what the file has from there on.
Patch = collections.namedtuple("Patch", "path offset now was")


def mappings(pid):
    """Mappings of code: (first address, size, offset in the file, path)."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        parts = line.split(maxsplit=5)
        if len(parts) == 6 and "x" in parts[1] and os.path.isfile(parts[5]):
            start, end = (int(n, 16) for n in parts[0].split("-"))
            yield start, end - start, int(parts[2], 16), parts[5]


def starts(was, now):
    """Where bytes differ; within a jump, some bytes may be equal by chance."""
    last = -JUMP
    for page in range(0, len(was), PAGE):
        if was[page:page + PAGE] == now[page:page + PAGE]:
            continue
        for i in range(page, min(page + PAGE, len(was))):
            if was[i] == now[i]:
                continue
            if i - last >= JUMP:
                last = i
                yield i


def patches(pid):
    """All patches except those in libhodo, which switches its own sites."""
    found = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for start, size, offset, path in mappings(pid):
            if os.path.basename(path).startswith("libhodo"):
                continue
            with open(path, "rb") as file:
                file.seek(offset)
                was = file.read(size)
            mem.seek(start)
            now = mem.read(len(was))
            if len(now) < len(was):
                raise ProcessLookupError(pid)
            found += [Patch(path, offset + i, now[i], was[i:i + MOST]) for i in starts(was, now)]
    return found
