# SPDX-License-Identifier: MIT
"""exporting - what the tests of hodo export share.

HODO, GEN_TRACE, GEN_CALLS, GEN_REPORT, TRACED and SOURCE are in the environment; PROTOC where there is one.
"""
import collections
import os
import re
import subprocess

import hodo_test
from hodo_test import events, json_lines, program

TRACED, PROTOC = program("TRACED"), program("PROTOC")
REQUESTS = 20


class Case(hodo_test.Case):
    """The tests of a class share a folder. Exported files are read as bytes."""
    SHARED = True

    def run_hodo(self, *args, **how):
        return self.hodo(*args, text=False, **how)

    def ok(self, *args):
        return super().ok(*args, text=False)

    def record(self, name="traced", *options, requests=REQUESTS, functions=True):
        """A recording of tests/verb/export/traced.c, made once; nothing of it is lost."""
        if not os.path.exists(os.path.join(self.dir, name)):
            self.ok("record", "-q", "-m", "1M", "-o", name, *(["--functions"] if functions else []), *options, "--",
                   TRACED, requests)
            assert self.stat(name)["discarded"] == 0
        return name

    def generate(self, generator, scenario, *args):
        """A recording of the generators of tests/lib/recordings: GEN_TRACE, GEN_CALLS, GEN_REPORT."""
        return super().generate(generator, scenario, *args, name="-".join(map(str, (generator, scenario, *args))))

    def hostile(self):
        """The recording "all", with hostile names of events, fields, threads and processes."""
        path = os.path.join(self.dir, "hostile")
        if not os.path.exists(path):
            super().generate("GEN_TRACE", "all", name=path)
            file = os.path.join(path, "kvd-412", "metadata")
            with open(file, "rb") as f:
                text = f.read()
            for old, new in ((b"name=kv:put ", b"name=kv:%22%3C/script%3E%1b%5b31m,%ff%0aput "),
                             (b"fields=key:str", b'fields=k"<b>\xff\'\\:str'),
                             (b"comm=kvd%20worker", b"comm=%3Cb%3E%22%5c%0a%ff,"),
                             (b"comm=kvd exe=/usr/bin/kvd", b"comm=%22%3C/script%3E%ff exe=/%22%0a%ff")):
                assert old in text, old
                text = text.replace(old, new)
            with open(file, "wb") as f:
                f.write(text)
        return "hostile"

    def damaged(self, name="damaged"):
        """A recording with a stream that ends in the middle of a packet, and one with garbage in it."""
        path = os.path.join(self.dir, name)
        if not os.path.exists(path):
            super().generate("GEN_TRACE", "all", name=path)
            for file, change in (("cpu0", lambda b: b[:len(b) * 2 // 3]),
                                 ("cpu1", lambda b: b[:len(b) // 2] + b"\xa5" * 32 + b[len(b) // 2 + 32:])):
                with open(os.path.join(path, "kvd-412", file), "r+b") as f:
                    bytes_ = change(f.read())
                    f.seek(0)
                    f.truncate()
                    f.write(bytes_)
        return name

    def stat(self, name):
        return super().stat(name)

    def counts(self, name):
        """The number of events of each name."""
        return {e["name"]: e["count"] for e in self.stat(name)["events"] if e["count"]}

    def events(self, name, *args):
        """The events as hodo print --json shows them."""
        return events(name, *args, **self.how({}))

    def middle(self, name):
        """--since and --until for the second third of the events."""
        times = [e["ts"] for e in self.events(name)]
        since, until = times[len(times) // 3], times[len(times) * 2 // 3]
        return "--since", f"{since // 10**9}.{since % 10**9:09}", "--until", f"{until // 10**9}.{until % 10**9:09}"

    def calls(self, name):
        """Calls of functions, as hodo graph --json has them."""
        lines = json_lines(self.ok("graph", "--json", "-q", name))
        return [line for line in lines if "function" in line and "duration_ns" in line]

    def lost(self, name):
        """Lost events by cause, as hodo stat shows them: (discarded, overwritten)."""
        stat = self.stat(name)
        return stat["discarded"], stat["overwritten"]

    def running(self, name):
        """{(cpu, thread, from, until)} between two switches of one CPU."""
        last, ran = {}, set()
        for e in self.events(name):
            if e["name"] != "sched:sched_switch":
                continue
            before = last.get(e["cpu"])
            if before and before["fields"]["next_pid"]:
                ran.add((e["cpu"], before["fields"]["next_pid"], before["ts"], e["ts"]))
            last[e["cpu"]] = e
        return ran

    def export(self, fmt, name, *args):
        """What export writes to standard output."""
        return self.ok("export", "-q", "--to", fmt, "-o", "-", *args, name)


# ------------------------------------------------------------------------- protobufs

ESCAPE = re.compile(rb'\\([0-7]{1,3}|.)')
PLAIN = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def _unescape(match):
    code = match[1]
    return bytes([int(code, 8)]) if code.isdigit() else PLAIN.get(code, code)


def _value(text):
    if text[0] == '"':
        data = ESCAPE.sub(_unescape, text[1:-1].encode())
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data  # of a field of type bytes
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def decode(schema, message, data):
    """protoc --decode, as dictionaries of lists. Fields that are not in the schema fail."""
    done = subprocess.run([PROTOC, f"--decode={message}", f"--proto_path={os.path.dirname(schema)}", schema],
                          input=data, capture_output=True, check=False)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"protoc: {done.returncode}: {done.stderr.decode()}")
    top = collections.defaultdict(list)
    stack = [top]
    for line in done.stdout.decode().splitlines():
        name, _, value = line.strip().partition(": ")
        if value:
            if name.isdigit():
                raise AssertionError(f"field {name} is not in the schema")
            stack[-1][name].append(_value(value))
        elif name == "}":
            stack.pop()
        else:
            inner = collections.defaultdict(list)
            stack[-1][name.removesuffix(" {")].append(inner)
            stack.append(inner)
    return top
