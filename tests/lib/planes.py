# SPDX-License-Identifier: MIT
"""planes - restores a compressed file's bytes, by zstd and by what docs/format.md says, and not by hodo."""
import os
import struct

from hodo_test import run

MARK = struct.pack("<II", 0x184D2A51, 8)


def joined(planes, record):
    """Restores records of one size from planes, which have first all first bytes, then all second ones, and so on."""
    n = len(planes) // record
    out = bytearray(planes)
    for byte in range(record):
        out[byte:n * record:record] = planes[byte * n:(byte + 1) * n]
    return bytes(out)


def plain(data):
    """The original of a compressed file; one with frames in planes needs its table at the end."""
    out = run("zstd", "-dc", input=data, status=0, text=False).stdout
    if MARK not in data:
        return out
    frames = struct.unpack("<I", data[-9:-5])[0]
    table = struct.iter_unpack("<II", data[-9 - 8 * frames:-9])
    at, off, parts = 0, 0, []
    for size, was in table:
        part = out[off:off + was]
        if data.startswith(MARK, at):
            head, record = struct.unpack_from("<II", data, at + len(MARK))
            part = part[:head] + joined(part[head:], record)
        parts.append(part)
        at, off = at + size, off + was
    return b"".join(parts)


def expand(*paths):
    """Replaces each compressed file, NAME.zst, by its original, NAME."""
    for path in paths:
        with open(path, "rb") as file:
            data = plain(file.read())
        with open(path.removesuffix(".zst"), "wb") as file:
            file.write(data)
        os.remove(path)
