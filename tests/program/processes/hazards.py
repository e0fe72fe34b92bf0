#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hazards.py CASE: records a program that does something unwelcome; checks that it survives and what is recorded.

HODO, HAZARDS, UNLOAD, TWICE, LIBHODO, INCLUDE and SRC are in the environment.
"""
import collections
import os
import shutil
import subprocess
import sys

from hodo_test import LIBHODO, hodo, program, recorded, run, scenes, skip

include = program("INCLUDE")


def record(directory, *command, options=(), **how):
    return recorded(f"{directory}/trace", *command, options=options, check=False, **how)


def scene(directory, name, *options):
    return record(directory, os.environ["HAZARDS"], name, options=options)


def names(events):
    return collections.Counter(e["name"] for e in events)


def check_fork_in_handler(d):
    found = names(scene(d, "fork_in_handler", "-m", "16K"))
    assert found["hazards:child"] == 100, found


def check_vfork_first(d):
    cpus = {e["name"]: e["cpu"] for e in scene(d, "vfork_first")}
    assert cpus.keys() == {"hazards:vchild", "hazards:parent"}, cpus
    # The child is on the fallback ring; its parent is on its CPU's if there are restartable sequences.
    assert cpus["hazards:vchild"] == -1, cpus
    usual = scene(d, "bare_fork_threads")[0]["cpu"]
    assert (cpus["hazards:parent"] == -1) == (usual == -1), (cpus, usual)


def check_fork_in_vfork(d):
    found = [(e["name"], e["cpu"]) for e in scene(d, "fork_in_vfork")]
    assert found == [("hazards:forked", -1)], found


def check_bare_fork_locked(d):
    scene(d, "bare_fork_locked")


def check_bare_fork_probe(d):
    scene(d, "bare_fork_probe")


def check_bare_fork_threads(d):
    events = scene(d, "bare_fork_threads")
    found = collections.Counter(e["pid"] for e in events if e["name"] == "hazards:together")
    assert len(found) == 20 and set(found.values()) == {80}, found


def check_unload(d):
    run(program("UNLOAD"), LIBHODO, status=0)


def check_twice(d):
    found = [e["fields"]["n"] for e in record(d, os.environ["TWICE"])]
    assert found == list(range(10)), found


def check_sanitizer(d):
    """clang links its runtime into the program, before libc."""
    if not shutil.which("clang"):
        print("no clang")
        sys.exit(77)
    for kind in "thread", "address":
        subprocess.run(["clang", f"-fsanitize={kind}", "-I", include, "-o", f"{d}/program",
                        f"{os.environ['SRC']}/twice.c"], check=True)
        found = [e["fields"]["n"] for e in record(d, f"{d}/program")]
        assert found == list(range(10)), (kind, found)


def check_set_user_id(d):
    """A set-user-ID program linked with libhodo shows nothing to the user who starts it."""
    if os.getuid() != 0:
        print("needs root to make a set-user-ID program")
        sys.exit(77)
    try:
        hodo("--version", user=65534, status=0)
    except (OSError, AssertionError):
        skip("the build is where other users cannot run it")
    os.chmod(d, 0o755)
    library = os.environ["LIBHODO"]
    subprocess.run(["cc", "-I", include, "-o", f"{d}/program", f"{os.environ['SRC']}/twice.c", "-Wl,--no-as-needed",
                    library, f"-Wl,-rpath,{os.path.dirname(library)}"], check=True)
    work = f"{d}/work"
    os.mkdir(work)
    os.chown(work, 65534, 65534)
    found = [e["fields"]["euid"] for e in record(work, f"{d}/program", user=65534, group=65534, extra_groups=[])]
    assert found == [65534] * 10, found
    os.chmod(f"{d}/program", 0o4755)
    shutil.rmtree(f"{work}/trace")
    found = record(work, f"{d}/program", user=65534, group=65534, extra_groups=[])
    assert not found, found


scenes(globals())
