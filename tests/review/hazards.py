#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hazards.py CASE: records a program that does something unwelcome, and checks that it lives and what is recorded.

HODO, HAZARDS, UNLOAD, TWICE, LIBHODO, INCLUDE and SRC are in the environment.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

hodo, include = os.environ["HODO"], os.environ["INCLUDE"]


def record(directory, *command, options=(), **how):
    trace = f"{directory}/trace"
    done = subprocess.run([hodo, "record", "-q", "-o", trace, *options, "--", *command], capture_output=True, text=True,
                          timeout=100, **how)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    done = subprocess.run([hodo, "print", "--json", trace], capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


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
    # The child on the fallback ring, its parent on its CPU's where there are restartable sequences.
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
    subprocess.run([os.environ["UNLOAD"], os.environ["LIBHODO"]], check=True, timeout=60)


def check_twice(d):
    found = [e["fields"]["n"] for e in record(d, os.environ["TWICE"])]
    assert found == list(range(10)), found


def check_sanitizer(d):
    """clang links its runtime into the program, in front of libc."""
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
        subprocess.run([hodo, "--version"], user=65534, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        print("the build is where other users cannot run it")
        sys.exit(77)
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


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="hodo-review-") as directory:
        globals()["check_" + sys.argv[1]](directory)
