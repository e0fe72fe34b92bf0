#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""late.py PROGRAM - without libhodo-func beside libhodo, events are recorded and functions are refused. A process that
was started to record only events has no libhodo-func, and its slots are no-ops; a recorder that comes later and wants
functions gets them, from all of its threads, and slots are no-ops again afterwards."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from hodo_test import LIBHODO, hodo, ok

NO_OPS = {0xe8: {0xa9}, 0xe9: {0xc3}, 0xff: {0x85, 0xc3}}  # what a slot's first byte becomes


def maps(pid):
    return [line.split() for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()]


def has_func(pid):
    return any("libhodo-func" in words[-1] for words in maps(pid))


def slots(pid, program):
    """How many bytes of its text are a no-op in place of a call; only sites may make other bytes differ."""
    found = 0
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory, open(program, "rb") as file:
        for words in maps(pid):
            if words[-1] != program or "x" not in words[1]:
                continue
            start, end = (int(x, 16) for x in words[0].split("-"))
            memory.seek(start)
            file.seek(int(words[2], 16))
            now = memory.read(end - start)
            for was, byte in zip(file.read(end - start), now):
                if was != byte and was != 0xa9:
                    assert byte in NO_OPS.get(was, ()), f"{was:#x} became {byte:#x}"
                    found += 1
    return found


def record(pid, out, *options):
    ok("record", "-q", "-p", pid, "-o", out, "--duration", 1, *options)
    return ok("print", out)


def alone(folder):
    """Tests libhodo without libhodo-func beside it."""
    library = f"{folder}/libhodo.so"
    shutil.copy(LIBHODO, library)
    for options, status in (((), 0), (("--functions",), 1)):
        done = hodo("record", "-q", "-o", f"{folder}/alone", *options, "--", "true", status=status,
                    env=dict(os.environ, HODO_LIBRARY=library))
        assert ("libhodo-func.so: no such library" in done.stderr) == bool(status), done.stderr


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="hodo-alone.") as folder:
        alone(folder)
    with tempfile.TemporaryDirectory(prefix="hodo-late.") as folder:
        env = dict(os.environ, XDG_RUNTIME_DIR=folder)
        os.environ["XDG_RUNTIME_DIR"] = folder
        target = subprocess.Popen([program, "2", "signals"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env=dict(env, HODO_LISTEN="1", LD_PRELOAD=LIBHODO))
        try:
            assert target.stdout.readline() == "ready\n"
            until = time.monotonic() + 20
            while not os.path.exists(f"{folder}/hodo/{target.pid}") and time.monotonic() < until:
                time.sleep(0.01)
            idle = slots(target.pid, program)
            assert idle > 4, f"{idle} slots are no-ops"
            text = record(target.pid, f"{folder}/events", "-e", "live:signalled", "-m", "1M")
            assert "live:signalled" in text and "func:" not in text, text[:2000]
            assert not has_func(target.pid)
            text = record(target.pid, f"{folder}/functions", "-e", "none:none", "--functions=on_signal", "-m", "1M")
            for event in ("func:entry", "func:exit"):
                assert event in text, (event, text[:2000])
            assert "on_signal" in text and "work" not in text, text[:2000]
            assert has_func(target.pid)
            assert slots(target.pid, program) == idle, (slots(target.pid, program), idle)
            target.stdin.close()
            rest, status = target.stdout.read(), target.wait(timeout=600)
            assert (rest, status) == ("intact\n", 0), (rest, status)
        finally:
            target.kill()
            target.wait()


if __name__ == "__main__":
    sys.exit(main())
