#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plain.py CASE: which functions are traced in a program that nobody prepared (plain.c).

HODO, PLAIN and LIBRARY are in the environment; OBJCOPY is binutils'."""
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from hodo_test import LIMIT_S, hodo, program, run

PLAIN, LIBRARY = Path(program("PLAIN")), Path(program("LIBRARY"))
N = 100
OWN = {"main": 1, "large": N, "small": 2 * N}
ITS = {"library_work": 1, "library_part": N}


def record(folder, *options, command=(PLAIN, N), status=7, names=frozenset({**OWN, **ITS})):
    """What hodo record said, and how often each function of these names was called; None: of all names."""
    plain = run(*command, status=status)
    done = hodo("record", "-o", folder / "trace", *options, "--", *command, timeout=2 * LIMIT_S)
    assert (done.returncode, done.stdout) == (status, plain.stdout), done
    report = json.loads(hodo("report", "-q", "--json", folder / "trace", status=0).stdout)
    calls = {f["function"]: f["calls"] for f in report["functions"]}
    return done.stderr, {name: n for name, n in calls.items() if names is None or name in names}


def check_default(d):
    """All functions of the program, none of its libraries."""
    for tracer in ("record", "graph", "profile"):
        folder = d / tracer
        folder.mkdir()
        _, calls = record(folder, "--functions", "--tracer", tracer)
        assert calls == OWN or (tracer == "profile" and not calls), (tracer, calls)


def check_named(d):
    """Patterns choose functions, with a file in front also those of libraries, and exclude others."""
    file = LIBRARY.name
    cases = {
        "large": {"large": N},
        "l*,!large": {},
        "!small": {"main": 1, "large": N},
        f"{file}!*": ITS,
        f"{file[:8]}*!*_part": {"library_part": N},
        f"small,{file}!library_*": {"small": 2 * N, **ITS},
    }
    for i, (patterns, expected) in enumerate(cases.items()):
        folder = d / str(i)
        folder.mkdir()
        said, calls = record(folder, f"--functions={patterns}")
        assert calls == expected, (patterns, calls)
        assert ("traceable functions matches" in said) == (not expected), (patterns, said)


def check_soname(d):
    """A library is found by its soname, too, and by the name that programs link."""
    dynamic = run("readelf", "-d", LIBRARY, status=0).stdout
    soname = dynamic.split("soname: [")[1].split("]")[0]
    shutil.copy(LIBRARY, d / "installed-9.8.7")
    (d / soname).symlink_to("installed-9.8.7")
    os.environ["LD_LIBRARY_PATH"] = str(d)
    for i, name in enumerate((soname, soname.removesuffix(".so"), "installed-9", f"{d}/installed-9.8.7")):
        (d / str(i)).mkdir()
        _, calls = record(d / str(i), f"--functions={name}!*")
        assert calls == ITS, (name, calls)


def check_source(d):
    """Functions of a source file; where nothing names the source files, none, and a message says so."""
    small = {"small": 2 * N}
    cases = {
        "plain.c:*": {"main": 1, "large": N},
        "plain_parts.h:*": small,
        "functions/*.h:s*,large": {"large": N, **small},
        "!plain.c:l*": {"main": 1, **small},
        f"{PLAIN.name}!plain_parts.h:*": small,
        "parts.h:*": {},
    }
    for i, (patterns, expected) in enumerate(cases.items()):
        (d / str(i)).mkdir()
        said, calls = record(d / str(i), f"--functions={patterns}")
        assert calls == expected and "debug information" not in said, (patterns, calls, said)
    bare = d / "bare"
    run("objcopy", "--strip-debug", PLAIN, bare, status=0)
    said, calls = record(d, "--functions=plain_parts.h:*,large", command=(bare, N))
    assert calls == {"large": N}, calls
    assert said.count(f"{bare}: its functions cannot be chosen by source file: ") == 1, said


def check_size(d):
    """Functions of at least so many bytes."""
    _, calls = record(d, "--functions", "--min-size", "300")
    assert calls == {"large": N}, calls


def check_children(d):
    """Of other programs that the program starts, none, unless the pattern names them."""
    shell = ("sh", "-c", f"'{PLAIN}' {N}; exit $?")
    (d / "a").mkdir()
    (d / "b").mkdir()
    _, calls = record(d / "a", "--functions", command=shell)
    assert not {"large", "small"} & set(calls), calls
    _, calls = record(d / "b", f"--functions={PLAIN.name}!large", command=shell)
    assert calls == {"large": N}, calls


def check_static(d):
    """A static program's functions, its child's too, but none of libhodo, and no call that libhodo makes."""
    _, calls = record(d, "--functions", names=None)
    assert {name: calls.get(name) for name in ("main", "divide", "__udivti3")} == {
        "main": 1, "divide": 2, "__udivti3": 2 * N}, calls
    own = [name for name in calls if name.startswith("hodo_")]
    assert not own, own


def check_refused(d):
    """A program about which nothing is known runs, and hodo says why it has no functions, and what to do."""
    bare = d / "bare"
    run("objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "--strip-all", PLAIN, bare, status=0)
    said, calls = record(d, "--functions", command=(bare, N))
    assert not calls and f"{bare}: its functions are not traced: " in said, said
    lines = [line for line in said.splitlines() if "no traceable functions" in line]
    assert len(lines) == 1 and lines[0].startswith("hodo: "), said
    for flags in ("-pg -mfentry -minstrument-return=call", "-fxray-instrument", "-finstrument-functions"):
        assert flags in lines[0], (flags, lines)


with tempfile.TemporaryDirectory(prefix="hodo-plain-") as directory:
    os.environ.pop("HODO_RECORDER", None)
    globals()[f"check_{sys.argv[1]}"](Path(directory))
