# SPDX-License-Identifier: MIT
"""What the tests of the formats folded, speedscope, pprof, callgrind and firefox share.

HODO, GEN_CALLS, GEN_TRACE, TRACED, NAMES (programs), SOURCE (the tree) and PROTOC are in the environment.
"""
import collections
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

import exporting
from hodo_test import HODO, LIMIT_S, SKIPPED, run

HERE = pathlib.Path(__file__).resolve().parent

# Replacements for names.cc's placeholders, of the same length.
HOSTILE = {
    b"hodo_placeholder_a_aaaaaaaaaaaaa": b"a;b \"c\" 'd' \\e </script><b>;;  ",
    b"hodo_placeholder_b_bbbbbbbbbbbbb": b"line\nfn=(1) \ttab\x1b[31m\x7f\r\n12 34\n",
    b"hodo_placeholder_c_ccccccccccccc": b"\xff\xfe no \xc3( UTF-8 \xed\xa0\x80 \xf5\x80\x80\x80.",
    b"hodo_placeholder_d_ddddddddddddd": b"(3) is like a number of another",
    b"hodo_placeholder_e_eeeeeeeeeeeee": b"  blanks before, and behind    ",
    b"hodo_placeholder_f_fffffffffffff": b"                               ",
    b"hodo_placeholder_g_ggggggggggggg": b"\xc3\xbcml\xc3\xa4ut \xe2\x82\xac \xf0\x9f\x98\x80 ends in 12345",
}


def of_32_bytes(name):
    return (name + b"_" * 32)[:32] if name.strip() else b" " * 32


def _forms(raw):
    """A name as JSON has it here, with the character of that number for each byte that is not UTF-8; and escaped."""
    as_json = as_plain = ""
    while raw:
        for n in (1, 2, 3, 4):
            try:
                char = raw[:n].decode()
                break
            except UnicodeDecodeError:
                char, n = None, 1
        if char is None or ord(char) < 32 or ord(char) == 127:
            as_plain += {10: "\\n", 9: "\\t", 13: "\\r"}.get(raw[0], f"\\x{raw[0]:02x}")
            char = chr(raw[0])
        else:
            as_plain += char
        as_json += char
        raw = raw[n:]
    return as_json, as_plain


PLAIN = dict(_forms(of_32_bytes(name)) for name in HOSTILE.values())


def plain(name):
    """The escaped text of a name from JSON."""
    return PLAIN.get(name, name)


def node_modules():
    """The programs of package-lock.json, which npm installs once per state of that file, outside of the tree; None and
    the reason where there is no npm or no network."""
    if not shutil.which("npm") or not shutil.which("node"):
        return None, "there is no npm: install Debian's packages nodejs and npm"
    lock = (HERE / "package-lock.json").read_bytes()
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = cache / "hodo-tests" / f"export-{hashlib.sha256(lock).hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX) # tests run in parallel
        failed = folder / "failed" # so that not every test tries again at once
        if not (folder / "whole").exists() and not (failed.exists() and time.time() - failed.stat().st_mtime < 600):
            failed.touch()
            for name in ("package.json", "package-lock.json"):
                shutil.copyfile(HERE / name, folder / name)
            # The time is limited, since npm tries for minutes without a network.
            with contextlib.suppress(subprocess.TimeoutExpired):
                done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1",
                                       "--fetch-timeout=20000"], cwd=folder, capture_output=True, timeout=600,
                                      check=False)
                if done.returncode == 0:
                    (folder / "whole").touch()
                    failed.unlink()
    if (folder / "whole").exists():
        return folder / "node_modules", None
    return None, "npm cannot get what package-lock.json names: is there a network?"


class Case(exporting.Case):
    """Each test has its own folder; commands are any programs."""
    SHARED = False
    SPANS = ("kv:handle", "kv:parse", "kv:store") # nest on their threads

    def setUp(self):
        super().setUp()
        self.dir = pathlib.Path(self.dir)

    def ok(self, *args, **how):
        return run(*args, text=False, status=0, **self.how({"timeout": 3 * LIMIT_S, **how})).stdout

    def export(self, to, recording, *options):
        """Returns the file's path, and the warnings."""
        path = self.dir / f"{recording}.{to}"
        args = "export", "--full-names", "--to", to, "-f", "-o", path, *options, recording
        return path, self.hodo(*args, status=0).stderr

    def make(self, scenario, n=0):
        self.ok(os.environ["GEN_CALLS"], scenario, scenario, n)
        return scenario

    def generate(self, scenario):
        """Makes one of the recordings of tests/lib/recordings."""
        self.ok(os.environ["GEN_TRACE"], scenario, f"gen-{scenario}")
        return f"gen-{scenario}"

    def record_names(self, times=10):
        """Records names.cc with hostile names: calls of functions, all of which return."""
        program = bytearray(pathlib.Path(os.environ["NAMES"]).read_bytes())
        for name, hostile in HOSTILE.items():
            self.assertGreater(program.count(name), 0)
            program = program.replace(name, of_32_bytes(hostile))
        path = self.dir / "names"
        path.write_bytes(program)
        path.chmod(0o755)
        self.ok(HODO, "record", "-q", "--functions", "-m", "64M", "-o", "named", "--", path, times)
        return "named"

    def record_traced(self, requests=50):
        self.ok(HODO, "record", "-q", "--functions", "-m", "64M", "-o", "traced", "--", os.environ["TRACED"], requests)
        return "traced"

    def report(self, recording):
        """(calls, self_ns, total_ns) of each function by its name, which is escaped as in text."""
        functions = json.loads(self.ok(HODO, "report", "--json", "-q", recording))["functions"]
        return {f["function"]: (f["calls"], f["self_ns"], f["total_ns"]) for f in functions}

    def intervals(self, recording):
        """(begin, -end, depth, name) of spans and calls by (pid, tid), from the output of print and graph."""
        threads = collections.defaultdict(list)
        for line in self.ok(HODO, "graph", "--json", "-q", recording).decode().splitlines():
            o = json.loads(line)
            if "function" in o and "duration_ns" in o:
                lasted = 0 if "no_exit" in o["flags"] else o["duration_ns"]
                threads[o["pid"], o["tid"]].append((o["ts"], -o["ts"] - lasted, o["depth"], o["function"]))
        opened, calls = collections.defaultdict(list), collections.Counter()
        events = [json.loads(line) for line in self.ok(HODO, "print", "--json", "-q", recording).decode().splitlines()]
        for o in events:
            name, _, end = o["name"].rpartition(".")
            thread = o["pid"], o["tid"]
            calls[thread] += o["name"].startswith("func:entry") - o["name"].startswith("func:exit")
            if name in self.SPANS and end == "begin":
                # A span is inside of the calls that are open; calls with the same begin and end are inside of it.
                opened[thread].append((o["ts"], calls[thread] - 0.5, name))
            elif name in self.SPANS and end == "end":
                begin, depth, begun = opened[thread].pop()
                self.assertEqual(begun, name)
                threads[thread].append((begin, -o["ts"], depth, name))
        return threads

    def paths(self, recording):
        """path (a tuple of names) -> (calls, self_ns) by (pid, tid): what all formats must show."""
        result = {}
        for thread, slices in self.intervals(recording).items():
            result[thread] = paths = collections.defaultdict(lambda: [0, 0])
            stack = [] # (end, path)
            for begin, minus_end, _, name in sorted(slices):
                while stack and stack[-1][0] <= begin:
                    stack.pop()
                path = (stack[-1][1] if stack else ()) + (name,)
                paths[path][0] += 1
                paths[path][1] += -minus_end - begin
                if stack:
                    paths[stack[-1][1]][1] -= -minus_end - begin
                stack.append((-minus_end, path))
        return result


def by_function(paths):
    """(calls, self_ns, total_ns) of each name in the result of paths(); with recursion, time counts once."""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for thread in paths.values():
        for path, (calls, self_ns) in thread.items():
            sums[path[-1]][0] += calls
            sums[path[-1]][1] += self_ns
            for name in set(path):
                sums[name][2] += self_ns
    return {name: tuple(s) for name, s in sums.items()}


class Speedscope(Case):
    """Has speedscope's own importers read a file."""

    def imported(self, path, name=None):
        modules, why = node_modules()
        if not modules:
            raise unittest.SkipTest(why)
        bundle, = (modules / "speedscope/dist/release").glob("speedscope-*.js")
        return json.loads(self.ok("node", HERE / "speedscope_import.mjs", bundle, path, name or path.name))


def main():
    """Runs the tests; if some were skipped for want of npm, says so and reports the whole test as skipped."""
    result = unittest.main(module="__main__", exit=False, verbosity=1).result
    if not result.wasSuccessful():
        sys.exit(1)
    for _, why in result.skipped:
        print(f"skipped: {why}")
    sys.exit(SKIPPED if result.skipped else 0)
