#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_bt2.py HODO DIR: reads one recording with babeltrace2 and with `hodo print --json`, and compares.

Checks for the same events, fields and values; exactly the same order within each
stream; one order over all streams that is sorted by time; times within 2 ns (babeltrace2
converts in double precision, and knows threads only from anchors); the same counts of lost events in each stream.
Values must be equal, except floats, of which babeltrace2 prints six digits.
Empty texts are compared by their length, because babeltrace2 2.0.4 shows an older text for them.
Of a recording in parts (part-0001 ...) it compares the top, where both readers combine a process's folders
from all parts; then some of the parts, each separately.

Prints one line and exits 0 if everything agrees, otherwise prints the differences and exits 1.
"""
import codecs
import functools
import gc
import json
import math
import os
import re
import subprocess
import sys

TIME_TOLERANCE_NS = 2
DIFFERENCES_MAX = 20
PARTS_MAX = 5  # how many are compared separately
FALLBACK_CPU = 4294967295


class Mismatch(Exception):
    pass


# ------------------------------------------------------------------ babeltrace2

class Parser:
    """Values as babeltrace2's text shows them; the text is decoded as latin-1, so that bytes stay bytes."""

    ESCAPES = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
    ATOM = re.compile(r"[^,\s\]}]+")
    NAME = re.compile(r"[A-Za-z0-9_:.]+ = ")
    PLAIN = re.compile(r'"([^"\\]*)"')
    DECIMAL = re.compile(r"-?[0-9]+")

    def __init__(self, text):
        self.text = text
        self.at = 0

    def peek(self, token):
        return self.text.startswith(token, self.at)

    def take(self, token):
        if not self.peek(token):
            raise Mismatch("cannot parse babeltrace2's %r at %r" % (self.text, self.text[self.at:self.at + 30]))
        self.at += len(token)

    def string(self):
        plain = self.PLAIN.match(self.text, self.at)
        if plain:
            self.at = plain.end()
            return plain.group(1).encode("latin-1")
        self.take('"')
        out = []
        while not self.peek('"'):
            c = self.text[self.at]
            self.at += 1
            if c != "\\":
                out.append(c)
                continue
            c = self.text[self.at]
            self.at += 1
            if c == "x":
                out.append(chr(int(self.text[self.at:self.at + 2], 16)))
                self.at += 2
            elif c in "01234567":
                digits = re.compile("[0-7]{1,3}").match(self.text, self.at - 1).group()
                self.at += len(digits) - 1
                out.append(chr(int(digits, 8)))
            else:
                out.append(self.ESCAPES.get(c, c))
        self.take('"')
        return "".join(out).encode("latin-1")

    def struct(self):
        out = {}
        self.take("{ ")
        while not self.peek("}"):
            name = self.NAME.match(self.text, self.at)
            if not name:
                self.take("a field's name")
            self.at = name.end()
            out[name.group()[:-3]] = self.value()
            if self.peek(", "):
                self.at += 2
            elif self.peek(" "):
                self.at += 1
        self.take("}")
        return out

    def array(self):
        out = []
        self.take("[ ")
        while not self.peek("]"):
            self.take("[%d] = " % len(out))
            out.append(self.value())
            self.at += 2 if self.peek(", ") else 1
        self.take("]")
        return out

    def enum(self):
        mark = "container = "
        self.at = self.text.index(mark, self.at) + len(mark)
        value = self.value()
        self.take(" )")
        return value

    def value(self):
        if self.peek('"'):
            return self.string()
        if self.peek("{"):
            return self.struct()
        if self.peek("["):
            return self.array()
        if self.peek("( "):
            return self.enum()
        atom = self.ATOM.match(self.text, self.at)
        if not atom:
            self.take("a value")
        self.at = atom.end()
        text = atom.group()
        if self.DECIMAL.fullmatch(text):
            return int(text)
        if text.startswith("0x"):
            return int(text, 16)
        return float(text)


LINE = re.compile(r"timestamp = (-?[0-9]+)\.([0-9]{9}), delta = \S+, trace = (?:[^,]*/)?([^,]*), "
                  r"(?:, )?(?:trace:\w+ = [^,]*, )*name = (.*?), "
                  r"(?:stream\.packet\.context = )")


FIELDS = ", event.fields = "
# Most events have only numbers, for which these take a tenth of the parser's time.
NUMBERS = re.compile(r"\{ (?:[A-Za-z0-9_:.]+ = (?:-?[0-9]+|0x[0-9A-Fa-f]+), )*"
                     r"[A-Za-z0-9_:.]+ = (?:-?[0-9]+|0x[0-9A-Fa-f]+) \}")
NUMBER = re.compile(r"([A-Za-z0-9_:.]+) = ([^, ]+)")


def parse_fields(text):
    if NUMBERS.fullmatch(text):
        return {name: int(value, 16 if value.startswith("0x") else 10) for name, value in NUMBER.findall(text)}
    return Parser(text).struct()


class Lines:
    """Events in babeltrace2's lines. What is in front of an event's fields is the same in all events of one name in
    one packet, apart from the time, and is parsed once."""
    TIME = re.compile(r"timestamp = (-?[0-9]+)\.([0-9]{9}), delta = \S+")

    def __init__(self, parted):
        self.parted = parted
        self.known = {}

    def parse(self, line):
        """(time in ns, (name, key of the stream, key of the packet), fields)"""
        begin = line.find(", trace = ")
        end = line.find(FIELDS)
        time = self.TIME.fullmatch(line, 0, max(begin, 0))
        head = self.known.get(line[begin:end]) if time and end > 0 else None
        if head:
            return int(time.group(1)) * 10**9 + int(time.group(2)), head, parse_fields(line[end + len(FIELDS):])
        found = LINE.match(line)
        if not found:
            raise Mismatch("cannot parse babeltrace2's %r" % line)
        parser = Parser(line)
        parser.at = found.end()
        head = self._head(found, parser.struct())
        if time and parser.at == end:
            self.known[line[begin:end]] = head
        fields = {}
        if parser.peek(FIELDS):
            fields = parse_fields(line[parser.at + len(FIELDS):])
        return int(found.group(1)) * 10**9 + int(found.group(2)), head, fields

    def _head(self, found, packet):
        cpu = -1 if packet["cpu_id"] == FALLBACK_CPU else packet["cpu_id"]
        owner = found.group(3)
        if self.parted:
            owner = re.search(r"trace:vpid = \(([0-9]+)\)", found.group()).group(1)
        # Only the packets distinguish streams of one trace; each packet begins with an anchor.
        return found.group(4), (owner, cpu), (owner, tuple(packet.items()))


def pid_of(folder):
    """The pid in a folder's name: babeltrace2 says nothing else about traces with one uuid. The kernel is 0."""
    found = re.search(r"-([0-9]+)(?:-[0-9]+)?$", folder)
    return found.group(1) if found else "0"


def kernel_names(path, folders):
    """Names of events that the kernel has and no process has."""
    names = {True: set(), False: set()}
    for folder in folders:
        if not os.path.exists(os.path.join(path, folder, "metadata")): # a part
            inner = os.path.join(path, folder)
            names[True] |= kernel_names(inner, folders_in(inner)[0])
            continue
        with open(os.path.join(path, folder, "metadata"), encoding="latin-1") as metadata:
            text = metadata.read()
        names["/*@kernel " in text].update(re.findall(r"^/\*@event id=[0-9]+ name=(\S+)", text, re.MULTILINE))
    return names[True] - names[False]


def read_bt2(path, parted=False):
    """Events by (folder, cpu), lost events by (folder, file of the stream); if parted, by pid instead of folder."""
    run = subprocess.run(["babeltrace2", path, "--clock-seconds", "--names=all", "--fields=all"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    errors = run.stderr.decode("latin-1")
    if run.returncode != 0:
        raise Mismatch("babeltrace2 rejects it:\n" + errors)
    streams, lost, anchors = {}, {}, {}
    for line in errors.splitlines():
        found = re.search(r'Tracer discarded ([0-9]+) events? .* within stream "(.*)/([^/]*)/([^/]*)"', line)
        if found:
            key = (pid_of(found.group(3)) if parted else found.group(3), found.group(4))
            lost[key] = lost.get(key, 0) + int(found.group(1))
        elif line.strip():
            raise Mismatch("babeltrace2 says: " + line)
    lines = Lines(parted)
    for line in run.stdout.decode("latin-1").split("\n"):
        if not line:
            continue
        ts, (name, stream, packet), fields = lines.parse(line)
        if name == "hodo:anchor":
            anchors[packet] = fields
            continue
        anchor = anchors[packet]
        streams.setdefault(stream, []).append({
            "ts": ts, "name": name, "tid": anchor["vtid"], "window": anchor["window"], "fields": fields})
    return streams, lost


# ------------------------------------------------------------------------- hodo

def run_hodo(hodo, *args):
    run = subprocess.run([hodo, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode != 0:
        raise Mismatch("hodo %s fails: %s" % (" ".join(args), run.stderr.decode(errors="replace")))
    return run.stdout


def owner_of(event, of_kernel):
    return "0" if event["name"] in of_kernel else str(event["pid"])


def without_begin(line):
    """The event, without what depends on other folders: whether there are several hosts; the part in which something
    ends does not know its begin, and a process's folder not what the kernel recorded about its threads."""
    event = json.loads(line)
    for key in ("duration_ns", "begin", "off_cpu_ns", "waits", "preempted", "host"):
        event.pop(key, None)
    return event


def without_begins(lines):
    return sorted(json.dumps(without_begin(line)) for line in lines)


def read_hodo(hodo, path, folders, parted=False):
    """Like read_bt2(); also checks that events of all folders are in time order."""
    whole = run_hodo(hodo, "print", "-q", "--json", path).decode("utf-8").splitlines()
    last, parts, info = None, [], []
    streams, lost, joined = {}, {}, {}
    of_kernel = kernel_names(path, folders)
    events = {} # the folders' lines are mostly the same
    for line in whole:
        event = events[line] = without_begin(line)
        ts = event["ts"]
        if last is not None and ts < last:
            raise Mismatch("hodo print is not in time order at %s" % line)
        last = ts
        if parted:
            joined.setdefault((owner_of(event, of_kernel), event["cpu"]), []).append(event)
    for folder in folders:
        where = os.path.join(path, folder)
        lines = run_hodo(hodo, "print", "-q", "--json", where).decode("utf-8").splitlines()
        parts += lines
        for line in lines:
            event = events.get(line) or without_begin(line)
            # babeltrace2 gives the last name only.
            owner = owner_of(event, of_kernel) if parted else os.path.basename(folder)
            streams.setdefault((owner, event["cpu"]), []).append(event)
        if not parted:
            process = json.loads(run_hodo(hodo, "info", "-q", "--json", where))["processes"][0]
            info.append((os.path.basename(folder), process))
    numbers = [int(name[5:]) for name in os.listdir(path) if re.fullmatch("part-[0-9]{4,}", name)]
    missing = parted and max(numbers) - min(numbers) >= len(numbers)
    if parted:
        whole_info = json.loads(run_hodo(hodo, "info", "-q", "--json", path))
        info = [(str(process["pid"]), process) for process in whole_info["processes"]]
    for owner, process in info:
        for stream in process["streams"]:
            # What was in a part that is not there, babeltrace2 does not notice.
            count = sum(n for cause, n in stream["lost"].items() if not (missing and cause == "damaged"))
            if count:
                lost[owner, stream["name"]] = lost.get((owner, stream["name"]), 0) + count
    if whole != parts and sorted(whole) != sorted(parts) and without_begins(whole) != without_begins(parts):
        raise Mismatch("hodo print of the whole and of its folders differ")
    if parted and joined != streams:
        raise Mismatch("hodo print of the whole and of its parts, one after another, have different streams")
    return streams, lost


# ---------------------------------------------------------------------- compare

def single_bytes(error):
    return "".join(chr(b) for b in error.object[error.start:error.end]), error.end


codecs.register_error("single_bytes", single_bytes)


def same_value(theirs, ours):
    if type(ours) is int: # most are
        return theirs == ours
    if isinstance(ours, bool):
        return theirs == int(ours)
    if isinstance(ours, list):
        return isinstance(theirs, list) and len(theirs) == len(ours) and all(map(same_value, theirs, ours))
    if ours is None:
        return theirs == b"(null)"
    if isinstance(ours, float) or ours in ("NaN", "Infinity", "-Infinity"):
        if isinstance(theirs, bytes):
            return theirs.decode("latin-1") == ours
        value = float(ours)
        if math.isnan(value):
            return math.isnan(theirs)
        return theirs == value or abs(theirs - value) <= 1e-5 * abs(value)
    if isinstance(ours, str) and isinstance(theirs, list):
        return bytes(theirs).hex() == ours
    if isinstance(ours, str):
        # babeltrace2 ends a text at a NUL, which a hostile process may have recorded.
        return isinstance(theirs, bytes) and theirs.decode("utf-8", "single_bytes") == ours.split("\0")[0]
    return theirs == ours


LENGTH = re.compile(r"_?(.*)_length[0-9]*")


@functools.cache
def length_of(name):
    """The field whose length this field is, if it is one."""
    owner = LENGTH.fullmatch(name)
    return owner and owner.group(1)


def lengths_of(fields, known):
    """The lengths that come before texts, bytes and arrays, by the name of the field they belong to."""
    out = {}
    for name, value in fields.items():
        owner = length_of(name)
        if owner is not None and name not in known and owner in known:
            out[owner] = value
    return out


def context_of(fields):
    """The context, which is the first field in TSDL, and the only structure."""
    return fields.pop(next((name for name, value in fields.items() if isinstance(value, dict)), None), None)


def their_name(name, rest, known):
    """A field's name in TSDL, where a number follows it if it would collide with another name."""
    if name in rest:
        return name
    numbered = (name + str(n) for n in range(2, 40))
    return next((n for n in numbered if n in rest and n not in known), None)


def compare_fields(theirs, ours):
    rest = dict(theirs)
    lengths = lengths_of(rest, ours)
    for name, value in ours.items():
        their = their_name(name, rest, ours)
        if not their:
            return "field " + name + " missing in babeltrace2's"
        text = rest.pop(their)
        if isinstance(text, bytes) and lengths.get(name) == 0:
            text = b""  # babeltrace2 2.0.4 shows the text of an earlier event instead
        if not same_value(text, value):
            return "field " + name
    for name in rest:
        owner = length_of(name)
        if owner is None or owner not in ours:
            return "field " + name + " missing in hodo's"
    return None


def compare_call(window, theirs, ours):
    """Compares a call or return, whose record has only some bits of its addresses."""
    at = ours["frame"] << 3
    if theirs["function"] != ours["addr"] >> 2 & 0x1ffffff:
        return "function"
    if theirs["frame"] != at >> 4 & 0x3ff or (at - 8 - 256 * window) % 2**35 >= 16384 or at % 16 != 8:
        return "frame"
    return None


def compare_event(theirs, ours):
    if theirs["name"] != ours["name"] or theirs["tid"] != ours["tid"]:
        return "name or tid"
    if abs(theirs["ts"] - ours["ts"]) > TIME_TOLERANCE_NS:
        return "time"
    fields = dict(theirs["fields"])
    if "context" in ours:
        context = context_of(fields)
        wrong = compare_fields(context, ours["context"]) if context else "not in babeltrace2's"
        if wrong:
            return "context: " + wrong
    if set(fields) == {"frame", "function"} and ours["name"] in ("func:entry", "func:exit"):
        return compare_call(theirs["window"], fields, ours["fields"])
    return compare_fields(fields, ours["fields"])


def compare(theirs, ours, what):
    for key in sorted(set(theirs) | set(ours), key=str):
        a, b = theirs.get(key, []), ours.get(key, [])
        if len(a) != len(b):
            yield "%s %s: babeltrace2 has %d events, hodo %d" % (what, key, len(a), len(b))
        for i, (x, y) in enumerate(zip(a, b)):
            wrong = compare_event(x, y)
            if wrong:
                yield "%s %s event %d: %s differs:\n  babeltrace2 %s\n  hodo        %s" % (what, key, i, wrong, x, y)


def folders_in(path):
    """The folders of processes, those of hosts' processes, then those of the parts that have any; and all parts."""
    folders = sorted(f for f in os.listdir(path) if os.path.exists(os.path.join(path, f, "metadata")))
    for host in sorted(f for f in os.listdir(path) if f.startswith("host-") and f not in folders):
        folders += [os.path.join(host, f) for f in folders_in(os.path.join(path, host))[0]]
    parts = sorted((f for f in os.listdir(path) if re.fullmatch("part-[0-9]{4,}", f) and f not in folders),
                   key=lambda f: int(f[5:]))
    return folders + [part for part in parts if folders_in(os.path.join(path, part))[0]], parts


def check(hodo, path):
    """The differences, and a line that sums up the comparison."""
    folders, parts = folders_in(path)
    try:
        theirs, their_lost = read_bt2(path, bool(parts))
        ours, our_lost = read_hodo(hodo, path, folders, bool(parts))
    except Mismatch as error:
        return [str(error)], ""
    differences = list(compare(theirs, ours, "stream"))
    for key in sorted(set(their_lost) | set(our_lost)):
        if their_lost.get(key, 0) != our_lost.get(key, 0):
            differences.append("stream %s: babeltrace2 counts %d lost events, hodo %d" % (
                "/".join(key), their_lost.get(key, 0), our_lost.get(key, 0)))
    for part in {i * (len(parts) - 1) // (PARTS_MAX - 1) for i in range(PARTS_MAX)} if parts else ():
        if folders_in(os.path.join(path, parts[part]))[0]:
            differences += check(hodo, os.path.join(path, parts[part]))[0]
    return differences, "%d events in %d streams, %d lost" % (
        sum(map(len, ours.values())), len(ours), sum(our_lost.values()))


def main():
    if len(sys.argv) != 3:
        sys.stderr.write("usage: compare_bt2.py HODO DIR\n")
        return 2
    hodo, path = sys.argv[1], sys.argv[2].rstrip("/")
    gc.disable() # it would look again and again at all events, of which none is in a cycle
    differences, said = check(hodo, path)
    if differences:
        print("%s: babeltrace2 and hodo differ in %d places" % (path, len(differences)))
        print("\n".join(differences[:DIFFERENCES_MAX]))
        return 1
    print("%s: %s: babeltrace2 and hodo agree" % (path, said))
    return 0


if __name__ == "__main__":
    sys.exit(main())
