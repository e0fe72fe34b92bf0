# SPDX-License-Identifier: MIT
"""weight_rows - what an idle site or slot costs the code around it, in instructions, without a clock."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from peers import BenchError, run
from rows import median
from table import Row

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("HODO_TEST_CACHE") or Path.home() / ".cache/hodo-test")
PROGRAMS = ROOT / "tests/world/programs"
FLAGS = "-O2 -g -pg -mfentry -minstrument-return=call"
PLAIN = "-O2 -g"


def shapes(bench):
    """tests/api/trace/shapes.c, with sites and with nothing in their place."""
    sides = [{name: int(steps) for name, steps in re.findall(r"(?m)^(\w+) (\d+) ", run([bench.program(program)]))}
             for program in ("shapes", "shapes_bare")]
    sites = {name: int(n) for name, n in re.findall(r"(?m)^(\w+) \d+ (\d+) ", run([bench.program("shapes")]))}
    more = {name: sides[0][name] - sides[1][name] for name in sites}
    others = sorted(name for name in sites if more[name] > sites[name])
    text = f"1 a site in {len(sites) - len(others)}"
    text += "".join(f"; {name}: {more[name]} of {sites[name]} sites" for name in others)
    totals = {"shapes": len(sites), "sites": sum(sites.values()), "instructions": sum(more.values())}
    return [Row("idle_shapes", f"idle events in {len(sites)} shapes of functions: instructions added", text,
                "an empty asm: none", target="1 a site, but where functions are called",
                reached=others in ([], ["calls"]), values={**totals, **more})]


def built(bench, flags):
    """lua with these flags, kept in the cache of tests/world/programs; None: its source is not to be had."""
    source = subprocess.run(["bash", PROGRAMS / "source.sh", "lua5.4", CACHE], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if source.returncode != 0:
        return None
    stubs = bench.find("libhodo-functions.a", "src/func/stubs/libhodo-functions.a")
    return run(["bash", PROGRAMS / "build.sh", "lua", source.stdout.strip(), CACHE, stubs, flags]).strip()


def instructions(bench, program, *args):
    """What callgrind counts of a program with libhodo in it, whose addresses are the same each time."""
    libhodo = bench.find("libhodo.so", "src/user/libhodo.so")
    done = subprocess.run(["setarch", "-R", "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, env={**os.environ, "LD_PRELOAD": str(libhodo)})
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found:
        raise BenchError(f"callgrind says nothing of {program}: {done.stderr[-300:]}")
    return int(found[1])


def real(bench):
    """A program with slots in all its functions that nobody traces, beside the same without."""
    what = "idle: lua with slots, instructions of its work"
    if not shutil.which("valgrind"):
        return [Row("idle_real", what, "not measured: valgrind is not here", "")]
    programs = [built(bench, flags) for flags in (FLAGS, PLAIN)]
    if None in programs:
        return [Row("idle_real", what, "not measured: lua's source is not here", "")]
    empty = bench.work / "empty.lua"
    empty.write_text("")
    sides = [median([instructions(bench, program, PROGRAMS / "work.lua") for _ in range(bench.rounds)]) -
             instructions(bench, program, empty) for program in programs]
    return [Row("idle_real", what, f"{sides[0] / 1e6:.1f} million", f"without slots {sides[1] / 1e6:.1f} million",
                sides[0] / sides[1], values={"instructions": sides[0], "plain_instructions": sides[1]})]


GROUPS = {"shapes": shapes, "real": real}
