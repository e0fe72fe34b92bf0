# SPDX-License-Identifier: MIT
"""Reads recordings according to docs/format.md, without any code of hodo: their streams, event by event."""
import pathlib
import re
import struct
import urllib.parse

SIZES = {"i8": 1, "u8": 1, "bool": 1, "char": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "f32": 4,
         "i64": 8, "u64": 8, "f64": 8, "ptr": 8}
PACKET = struct.Struct("<I16sIQQQQQQIIQ")
EVENT, ANCHOR = 2, 3 # forms of records; the kernel has no calls and returns
ANCHOR_BYTES, HEADER_BYTES = 16, 6
EPOCH = 29 # the bit of the ticks whose change needs another anchor
NULL_TEXT = b"(null)\0"


class Event:
    """One kind of event: name, and fields as (name, type)."""

    def __init__(self, keys):
        self.id = int(keys["id"])
        self.name = keys["name"]
        self.fields = [tuple(field.rsplit(":", 1)) for field in keys["fields"].split(",") if field]

    def values(self, data, at):
        """Bytes of each field, without a length before them; texts include the NULs after them.
        Also returns where the event ends."""
        out = []
        for _, kind in self.fields:
            if kind in SIZES:
                size = SIZES[kind]
            elif kind == "str":
                size = int.from_bytes(data[at:at + 2], "little")
                at += 2
            else:
                size = int.from_bytes(data[at:at + 4], "little") * (1 if kind == "bytes" else SIZES[kind[:-2]])
                at += 4
            out.append(data[at:at + size])
            at += size
        return out, at


class Trace:
    """One folder with metadata and streams."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.text = (self.folder / "metadata").read_text()
        self.lines = []  # (word, keys)
        for body in re.findall(r"^/\*@(.*)\*/$", self.text, re.M):
            word, *pairs = body.split(" ")
            keys = dict(pair.split("=", 1) for pair in pairs)
            self.lines.append((word, {key: urllib.parse.unquote(value) for key, value in keys.items()}))
        self.events = {event.id: event for event in map(Event, self.all("event"))}

    def all(self, word):
        return [keys for line, keys in self.lines if line == word]

    def streams(self):
        """Names of files: cpu0 …"""
        return sorted(path.name for path in self.folder.iterdir() if re.fullmatch(r"cpu\d+|fallback", path.name))

    def packets(self, stream):
        """(header, bytes of the records) of each packet."""
        data = (self.folder / stream).read_bytes()
        at = 0
        while at < len(data):
            head = PACKET.unpack_from(data, at)
            if head[0] != 0xC1FC1FC1:
                raise ValueError(f"{stream}: no packet at {at}")
            end = at + head[6] // 8
            yield head, data[at + PACKET.size:end]
            at = end

    def records(self, stream):
        """(time in ticks, thread, Event, bytes of each field) of each event; of anchors, (time, thread, None, None)."""
        for head, data in self.packets(stream):
            now, thread, events, at, epoch = head[3] & ~3, None, 0, 0, None
            while at < len(data):
                word = int.from_bytes(data[at:at + 8], "little")
                before = now
                if word & 3 == ANCHOR:
                    now, thread = word & ~3, int.from_bytes(data[at + 8:at + 11], "little")
                    epoch = now >> EPOCH
                    at += ANCHOR_BYTES
                    yield now, thread, None, None
                elif word & 3 == EVENT and thread is not None and not word >> EPOCH & 7:
                    now += ((word & ~3) - now) % (1 << EPOCH)
                    event = self.events[word >> 32 & 0xffff]
                    values, at = event.values(data, at + HEADER_BYTES)
                    events += 1
                    yield now, thread, event, values
                else:
                    raise ValueError(f"{stream}: packet {head[7]}: no record at {at}: {word:x}")
                if now < before or now >> EPOCH != epoch or now > head[4] or at > len(data):
                    raise ValueError(f"{stream}: packet {head[7]}: {before}, then {now}, up to {at} of {len(data)}")
            if events != head[10]:
                raise ValueError(f"{stream}: packet {head[7]}: {events} events, not {head[10]}")

    def read(self, stream):
        """(time in ticks, thread, Event, bytes of each field) of each event."""
        return (record for record in self.records(stream) if record[2] is not None)


def text(value):
    """The text of a field of type str."""
    return value.split(b"\0", 1)[0]
