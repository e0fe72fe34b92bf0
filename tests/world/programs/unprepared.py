#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""unprepared.py CASE: an installed program, with a probe at the entry and exits of every function of the program
and of all its libraries that can take one. It must print the same and end in the same way as without. Cases: cc, perl,
python, sqlite, shell; exceptions, a program of ours that has them in all ways (tests/program/functions/throws.cc);
suites of others' own tests, each of which must pass or fail as without: redis_tests, and sqlite_tests, whose program is
built without any flag of ours.

HODO_REAL_ALL=1: more of these suites, and python runs a part of CPython's own tests. That takes minutes to an hour."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import python_suite
import redis_suite
from hodo_test import HODO, LIMIT_S, SOURCE, environment, hodo, program, run, skip

ALL = bool(os.environ.get("HODO_REAL_ALL"))
FEW = 20000  # events; each of these has many more
RECORD = (HODO, "record", "-q", "--overwrite", "-m", "1M", "--functions=*!*")
SQLITE_SHORT = "select1 select2 where join trigger1 fkey1 window1 json101 savepoint"
SQLITE_LONG = """select3 select4 select5 select6 select7 select8 select9 selectA selectB selectC where2 where3
    where7 where8 join2 join3 join5 index index2 index3 insert insert2 insert3 update delete delete2 trans
    trans2 trans3 trigger2 trigger3 trigger4 trigger9 fkey2 fkey3 window2 window3 window4 with1 with2 json102
    json103 expr expr2 func func2 func3 date cast collate1 collate2 collate3 types types2 view vacuum vacuum2
    wal wal2 wal3 walro pager1 pager2 rollback journal1 lock lock2 shared shared2 thread001 thread002 thread003
    malloc malloc3 ioerr corrupt corrupt2 blob incrblob fts3aa fts3ab fts3ac rtree1 like like2 limit minmax null
    alter alter2 attach attach2 autoinc autovacuum backup backup2 between bigfile boundary1 cacheflush capi2
    capi3 check conflict crash crash2 enc enc2 exclusive hook in in2 tempdb unique"""

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


def command(name, d):
    """The command, its input, and the exit status that it must have."""
    source = d / "work.c"
    source.write_text("#include <stdio.h>\n" + "".join(
        f"int f{i}(int a, int *b) {{ for (int k = 0; k < a; k++) b[k] += k * {i} / (a + 1); return b[a] ^ {i}; }}\n"
        for i in range(40)), "utf-8")
    commands = {"cc": (["cc", "-O2", "-S", "-o", "-", str(source)], "", 0), "perl": (["perl", "-e", PERL], "", 3),
                "python": (["/usr/bin/python3", "-c", PYTHON], "", 3), "sqlite": (["sqlite3"], SQLITE, 1),
                "shell": (["bash", "-c", SHELL], "", 3), "exceptions": ([program("THROWS")], "", 0)}
    argv, text, status = commands[name]
    if not shutil.which(argv[0]):
        skip(f"{argv[0]} is not installed")
    return argv, text, status


def outcome(done):
    """The result of a run, without hodo's messages."""
    said = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("hodo: "))
    return done.returncode, done.stdout, said


def count(trace):
    """The number of events in a recording, and of those that newer ones have overwritten."""
    stat = hodo("stat", trace, status=0).stdout
    numbers = re.findall(r"^total +([\d,]+)|^([\d,]+) events? w(?:as|ere) lost", stat, re.MULTILINE)
    return sum(int((a or b).replace(",", "")) for a, b in numbers)


def check_program(name, d):
    argv, text, status = command(name, d)
    plain = run(*argv, input=text)
    assert plain.returncode == status, plain
    traced = run(*RECORD, "-o", d / "trace", "--", *argv, input=text, timeout=6 * LIMIT_S)
    assert outcome(traced) == outcome(plain), (plain, traced)
    return count(d / "trace"), "the same output"


# --------------------------------------------------------------------------- suites

def same(plain, traced, passed):
    """plain, traced: tests with their results, or texts with None, which must be equal; returns what to say of both."""
    assert plain and sorted(plain, key=str) == sorted(traced, key=str), sorted(set(plain) ^ set(traced), key=str)
    results = [result for _, result in plain if result is not None]
    return f"{len(results):,} tests, of which {results.count(passed):,} pass, as without"


def check_python_tests(d):
    env, verdicts, events = python_suite.environment(), ([], []), 0
    for name in python_suite.TESTS:
        argv = python_suite.command([name], "-v")
        for i, prefix in enumerate(((), (*RECORD, "-o", d / name, "--"))):
            done = run(*prefix, *argv, env=env, cwd=d, stderr=subprocess.STDOUT, timeout=6 * LIMIT_S)
            verdicts[i].append((f"{name} ends with {done.returncode}", None))
            verdicts[i].extend(re.findall(r"(?m)^(test\w* \([\w.]+\))(?:\n.*?)? \.\.\. (ok|FAIL|ERROR|skipped|expected)",
                                          done.stdout))
        events += count(d / name)
        print(f"{name}: {events:,} events; {same(*verdicts, 'ok')}", flush=True)
        shutil.rmtree(d / name)
    return events, same(*verdicts, "ok")


def check_redis_tests(d):
    """Each server is recorded from its start to its end; several run at a time."""
    wrapper, traces, verdicts = d / "redis-server", d / "traces", []
    traces.mkdir()
    words = " ".join(f"'{word}'" for word in (*map(str, RECORD), "-o"))
    wrapper.write_text(f"#!/bin/sh\nexec {words} \"{traces}/$$\" -- '{shutil.which('redis-server')}' \"$@\"\n", "utf-8")
    wrapper.chmod(0o755)
    for server in (None, wrapper):
        folder = d / f"suite{len(verdicts)}"
        redis_suite.prepare(folder, server)
        done = run(*redis_suite.command(redis_suite.OWN if ALL else redis_suite.SHORT, "--clients", "2"), cwd=folder,
                   env=environment(d), timeout=6 * LIMIT_S)
        plainly = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
        # Some names contain random numbers and durations.
        verdicts.append([(re.sub(r"[\d.]+", "N", name), result) for result, name in
                         re.findall(r"(?m)^\[(ok|err|exception|timeout)\]: (.*?)(?: in tests/.*| \(\d+ ms\))?$", plainly)])
    said = same(*verdicts, "ok")
    return sum(count(trace) for trace in traces.iterdir()), said


def testfixture():
    """SQLite's source, and the program that runs its tests."""
    source = redis_suite.source("sqlite3")
    done = run("bash", SOURCE / "tests/world/programs/build.sh", "testfixture", source, redis_suite.CACHE, os.devnull, "-O2 -g",
               timeout=6 * LIMIT_S)
    if done.returncode:
        skip(f"SQLite's testfixture cannot be built here (tcl-dev): {done.stderr[-300:]}")
    return source, done.stdout.strip()


def check_sqlite_tests(d):
    source, runner = testfixture()
    names = (SQLITE_SHORT + " " + SQLITE_LONG if ALL else SQLITE_SHORT).split()
    verdicts, events = ([], []), 0
    for name in names:
        test = source / "test" / f"{name}.test"
        if not test.exists():
            continue
        for i, prefix in enumerate(((), (*RECORD, "-o", d / "trace", "--"))):
            folder = d / f"{name}{i}"
            folder.mkdir()
            done = run(*prefix, runner, test, cwd=folder, timeout=6 * LIMIT_S)
            verdicts[i].append((f"{name} ends with {done.returncode}", None))
            verdicts[i].extend((f"{name} {test}", result) for test, result in
                               re.findall(r"(?m)^(\S+)\.\.\.(?: (Ok))?$", done.stdout))
            verdicts[i].extend((f"{name} {said}", None) for said in
                               re.findall(r"(?m)^! .*|^\d+ errors out of \d+", done.stdout))
        events += count(d / "trace")
        print(f"{name}: {events:,} events; {same(*verdicts, 'Ok')}", flush=True)
        shutil.rmtree(d / "trace")
    return events, same(*verdicts, "Ok")


def main():
    name = sys.argv[1]
    suites = {"redis_tests": check_redis_tests, "sqlite_tests": check_sqlite_tests}
    if ALL:
        suites["python"] = check_python_tests
    with tempfile.TemporaryDirectory(prefix="hodo-unprepared-") as directory:
        d = Path(directory)
        events, said = suites[name](d) if name in suites else check_program(name, d)
        print(f"{name}: {events:,} events; {said}")
        assert events > FEW


if __name__ == "__main__":
    main()
