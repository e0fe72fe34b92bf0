#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""unprepared.py cc|perl|python|sqlite|shell: a program as it is installed, with a probe at the entry and exits of every
function of itself and of all its libraries that can take one. What it prints and how it ends must be as without.

HODO_REAL_ALL=1: python runs a part of CPython's own tests (libpython3-testsuite), which takes minutes."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hodo_test import HODO, LIMIT_S, hodo, run, skip

ALL = bool(os.environ.get("HODO_REAL_ALL"))
FEW = 20000  # events; each of these has many more
TESTS = ("json re struct math dict exceptions generators coroutines signal threadsignals sys_settrace gc faulthandler "
         "hashlib fork1 wait3 contextlib").split()

PERL = r"""my %h; $h{$_ % 97} .= $_ for 1 .. 20000; print join(",", map { length $h{$_} } sort { $a <=> $b } keys %h), "\n";
my $t = join " ", map { $_ ** 3 % 1001 } 1 .. 5000; my $n = () = $t =~ /(\d)\1/g; print "$n\n"; print `echo child`;
local $SIG{USR1} = sub { print "signal\n" }; kill USR1 => $$; eval { die "left\n" }; print $@; exit 3"""
PYTHON = r"""import collections, json, os, re, signal, sys, threading, zlib
print(sum(len(json.dumps({i: [i] * 3})) for i in range(2000)), re.sub("(a+)b", r"\1", "caabt" * 100)[-9:])
print(zlib.crc32(zlib.compress(bytes(range(256)) * 100)), collections.Counter(x * x % 17 for x in range(5000))[1])
done = []
threads = [threading.Thread(target=lambda k=k: done.append(sum(range(k * 10000)))) for k in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
print(sorted(done))
signal.signal(signal.SIGUSR1, lambda *_: print("signal"))
signal.raise_signal(signal.SIGUSR1)
child = os.fork()
os._exit(5) if child == 0 else print(os.waitpid(child, 0)[1] >> 8)
sys.exit(3)"""
SQLITE = """create table t(a integer primary key, b text, c real);
with recursive n(x) as (select 1 union all select x + 1 from n where x < 20000)
  insert into t select x, hex(x * 7919 % 10007), x / 7.0 from n;
create index i on t(b); select count(*), sum(a), round(sum(c), 3), count(distinct b) from t;
select b, count(*) from t where b like '3%' group by b order by 2 desc, 1 limit 5; delete from t where a % 3; vacuum;
select sum(length(b)) from t; select nothing;"""
SHELL = """trap 'echo trapped' TERM; kill -TERM $$; for i in 1 2 3 4 5; do echo $i | { read x; echo $((x * x)); }; done
x=$(printf '%s\\n' c a b | sort | tr '\\n' ' '); echo "$x"; (exit 4); echo $?; sleep 0 & wait; exit 3"""


def python_tests():
    if subprocess.run(["/usr/bin/python3", "-c", "import test.test_json"], check=False, capture_output=True).returncode:
        skip("CPython's tests are not installed: libpython3-testsuite")
    return ["/usr/bin/python3", "-m", "test", *(f"test_{name}" for name in TESTS)], "", 0


def command(name, d):
    """What is run, its input, and how it must end."""
    source = d / "work.c"
    source.write_text("#include <stdio.h>\n" + "".join(
        f"int f{i}(int a, int *b) {{ for (int k = 0; k < a; k++) b[k] += k * {i} / (a + 1); return b[a] ^ {i}; }}\n"
        for i in range(40)), "utf-8")
    commands = {"cc": (["cc", "-O2", "-S", "-o", "-", str(source)], "", 0), "perl": (["perl", "-e", PERL], "", 3),
                "python": (["/usr/bin/python3", "-c", PYTHON], "", 3), "sqlite": (["sqlite3"], SQLITE, 1),
                "shell": (["bash", "-c", SHELL], "", 3)}
    argv, text, status = python_tests() if ALL and name == "python" else commands[name]
    if not shutil.which(argv[0]):
        skip(f"{argv[0]} is not installed")
    return argv, text, status


def outcome(done):
    """Without what the tool says, and what is of one run alone: processes' numbers, times and load."""
    said = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("hodo: "))
    if ALL:
        found = re.findall(r"\] (test_\w+)|(failed|crashed|Result: \w+)", done.stdout + said)
        return done.returncode, found
    return done.returncode, done.stdout, said


def main():
    with tempfile.TemporaryDirectory(prefix="hodo-unprepared-") as directory:
        d = Path(directory)
        argv, text, status = command(sys.argv[1], d)
        plain = run(*argv, input=text, timeout=6 * LIMIT_S)
        assert plain.returncode == status, plain
        traced = run(HODO, "record", "-q", "--overwrite", "-m", "1M", "-o", d / "trace", "--functions=*!*", "--", *argv,
                     input=text, timeout=6 * LIMIT_S)
        assert outcome(traced) == outcome(plain), (plain, traced)
        stat = hodo("stat", d / "trace", status=0).stdout
        numbers = re.findall(r"^total +([\d,]+)|^([\d,]+) events were lost", stat, re.MULTILINE)
        events = sum(int((a or b).replace(",", "")) for a, b in numbers)
        print(f"{sys.argv[1]}: {events:,} events")
        assert events > FEW, (stat, traced.stderr)


if __name__ == "__main__":
    main()
