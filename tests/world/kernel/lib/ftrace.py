# SPDX-License-Identifier: MIT
"""Reads per_cpu/cpuN/trace_pipe_raw of the kernel's ftrace, by the descriptions in events/*/*/format."""
import re
import struct

PAGE = 4096
MISSED = 1 << 31  # in a page's count of bytes: events before it were lost


class Field:
    def __init__(self, declaration, offset, size, signed):
        self.offset, self.size, self.signed = int(offset), int(size), signed == "1"
        found = re.fullmatch(r"(__data_loc |__rel_loc )?(.*?)\s*\b(\w+)(\[[^]]*\])?", declaration)
        self.dynamic = (found.group(1) or "").strip()
        self.type = found.group(2)
        self.name = found.group(3)
        self.array = found.group(4) is not None or self.type.endswith("[]")
        self.text = self.array and re.match(r"(const |unsigned |signed )*char\b", self.type) is not None

    def value(self, record):
        """The field's bytes; also where an array is elsewhere in the record."""
        at, size = self.offset, self.size
        if self.dynamic:
            where = int.from_bytes(record[at:at + 4], "little")
            size = where >> 16
            at = (where & 0xffff) + (at + 4 if self.dynamic == "__rel_loc" else 0)
        return record[at:at + size]


class Event:
    def __init__(self, system, text):
        self.name = f"{system}:" + re.search(r"^name: (\S+)", text).group(1)
        self.id = int(re.search(r"^ID: (\d+)", text, re.M).group(1))
        fields = [Field(*found) for found in
                  re.findall(r"field:(.*?);\s*offset:(\d+);\s*size:(\d+);(?:\s*signed:(\d);)?", text)]
        self.fields = [field for field in fields if not field.name.startswith("common_")]


def formats(folder):
    """Events by id; the files' names are SYSTEM.NAME."""
    events = {}
    for path in folder.iterdir():
        event = Event(path.name.split(".")[0], path.read_text())
        events[event.id] = event
    return events


def records(data):
    """(time, record) of each event in a file of whole pages."""
    for start in range(0, len(data), PAGE):
        page = data[start:start + PAGE]
        now, commit = struct.unpack_from("<QQ", page)
        if commit & MISSED:
            raise ValueError("ftrace has lost events")
        at, end = 16, 16 + (commit & 0xfffff)
        while at < end:
            head = int.from_bytes(page[at:at + 4], "little")
            kind, delta = head & 31, head >> 5
            at += 4
            first = int.from_bytes(page[at:at + 4], "little")
            if kind == 29:  # padding
                if delta == 0:
                    break
                now += delta
                at += first
            elif kind == 30:  # the rest of a delta
                now += delta + (first << 27)
                at += 4
            elif kind == 31:  # a full time except for its top bits
                now = now >> 59 << 59 | first << 27 | delta
                at += 4
            else:
                now += delta
                size = kind * 4 if kind else first - 4
                if kind == 0:
                    at += 4
                yield now, page[at:at + size]
                at += size


def read(data, events):
    """(time, thread, Event, record); Event is None if `events` does not have it."""
    for now, record in records(data):
        yield now, int.from_bytes(record[4:8], "little"), events.get(int.from_bytes(record[:2], "little")), record
