#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""matrix.py [--full] SOURCE INCLUDE LIBHODO LIBHODO_A HODO

Builds work.c with each kind of slot, compiler, level, linker and kind of output, and runs it with a tracer that comes
and goes: exact counts of entries and exits, with and without a filter; the program's result; and text that is
afterwards what the file has, but for what the kind of slot leaves on purpose. hodo list shows the same functions of
the file. Without --full a spread of the cases that
holds every flag with every kind of output."""
import argparse
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROUNDS = 30
LAUNCHER = list(filter(None, [shutil.which("ccache")]))  # most of the time is for compilers

# How often ROUNDS rounds call work.c's functions.
CALLS = {"w_work": 1, "w_struct": ROUNDS, "w_void_calls": ROUNDS, "w_void": 2 * ROUNDS + ROUNDS // 3,
         "w_leaf": ROUNDS + ROUNDS // 3 + ROUNDS // 3, "w_many_returns": ROUNDS, "w_recurse": 6 * ROUNDS,
         "w_float": ROUNDS, "w_six": ROUNDS, "w_tail": ROUNDS // 3}
FILTERED = {"w_void", "w_tail"}  # main.c's second tracer: w_void,w_t*
RESULT = 12255

XRAY = ("-fxray-instrument", "-fxray-instruction-threshold=1")
CYG = ("-finstrument-functions",)
PFE = "-fpatchable-function-entry="


class Kind:
    """A kind of slot: how to compile and link for it, and what remains of it in the text."""

    def __init__(self, name, compilers, flags, exits, differs="calls", link=(), outputs=None):
        self.name, self.compilers, self.flags, self.link = name, compilers, flags, link
        self.exits, self.differs = exits, differs
        self.outputs = outputs or ("pie", "nopie", "shared", "dlopen", "static")


BOTH = ("gcc", "clang")
DYNAMIC = ("pie", "nopie", "shared", "dlopen")
PROGRAMS = ("pie", "nopie")
KINDS = [
    Kind("xray", ("clang",), XRAY, True, "sleds", ("-fxray-instrument",), PROGRAMS),
    Kind("xray-bare", ("clang",), XRAY, True, "sleds"),
    Kind("xray-cet", ("clang",), XRAY + ("-fcf-protection",), True, "sleds"),
    Kind("cyg", BOTH, CYG, True),
    Kind("cyg-cet", BOTH, CYG + ("-fcf-protection",), True, link=("-Wl,-z,ibtplt",), outputs=DYNAMIC),
    Kind("cyg-noplt", BOTH, CYG + ("-fno-plt",), True),
    Kind("cyg-now", BOTH, CYG, True, link=("-Wl,-z,now",), outputs=DYNAMIC),
    Kind("cyg-after", ("clang",), ("-finstrument-functions-after-inlining",), True),
    Kind("pfe", ("gcc",), (PFE + "5",), False, "prefix"),
    Kind("pfe-cet", ("gcc",), (PFE + "5", "-fcf-protection"), False, "prefix"),
    Kind("pfe-before", ("gcc",), (PFE + "7,2",), False, "prefix"),
    Kind("pfe-long", ("gcc",), (PFE + "16",), False, "prefix"),
    Kind("pfe-clang", ("clang",), (PFE + "5",), False, "exact"),
    Kind("pfe-clang-cet", ("clang",), (PFE + "5", "-fcf-protection"), False, "exact"),
    Kind("pfe-clang-before", ("clang",), (PFE + "7,2",), False, "exact"),
    Kind("pg", BOTH, ("-pg",), False, outputs=DYNAMIC),
    Kind("pg-cet", BOTH, ("-pg", "-fcf-protection"), False, outputs=DYNAMIC),
    Kind("pg-fentry", BOTH, ("-pg", "-mfentry"), False, outputs=DYNAMIC),
    Kind("pg-gprof", ("gcc",), ("-pg",), False, "exact", ("-pg",), PROGRAMS),
    Kind("pg-fentry-gprof", ("gcc",), ("-pg", "-mfentry"), False, "exact", ("-pg",), PROGRAMS),
]


class Miss(Exception):
    pass


def run(command, env=None, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=cwd, timeout=600, errors="replace")
    if done.returncode != 0:
        raise Miss(f"{' '.join(map(str, command))}: exit {done.returncode}: {(done.stdout + done.stderr)[-600:]}")
    return done.stdout


class Builder:
    def __init__(self, args, top):
        self.source, self.include = pathlib.Path(args.source).absolute(), args.include
        self.library, self.archive = pathlib.Path(args.library).absolute(), str(pathlib.Path(args.archive).absolute())
        self.top = top
        self.rpath = f"-Wl,-rpath,{self.library.parent}:{top}"
        common = [f"-I{self.include}", "-O1", "-g"]
        run(["gcc", *common, "-fPIC", "-shared", str(self.source / "tracer.c"), "-o", f"{top}/libtracer.so",
             str(self.library), self.rpath])
        run(["gcc", *common, "-fno-pie", "-c", str(self.source / "tracer.c"), "-o", f"{top}/tracer.o"])
        for name, flags in (("main-pie", ["-fPIE"]), ("main-nopie", ["-fno-pie"]),
                            ("main-dlopen", ["-fPIE", "-DLIBRARY"])):
            run(["gcc", *common, *flags, "-c", str(self.source / "main.c"), "-o", f"{top}/{name}.o"])

    def build(self, directory, kind, compiler, level, linker, output):
        """The command that runs the program, and its environment."""
        pic = {"pie": "-fPIE", "nopie": "-fno-pie", "static": "-fno-pie"}.get(output, "-fPIC")
        run([*LAUNCHER, compiler, level, pic, *kind.flags, "-c", str(self.source / "work.c"), "-o",
             f"{directory}/work.o"])
        ld = [f"-fuse-ld={linker}"]
        if linker != "bfd":  # knows neither flag
            link = [f for f in kind.link if "ibtplt" not in f]
        else:
            link = list(kind.link)
        libs = [f"{self.top}/libtracer.so", "-Wl,--no-as-needed", str(self.library), self.rpath]
        env = dict(os.environ)
        program = f"{directory}/program"
        if output == "static":
            run(["gcc", "-static", *ld, *link, f"{self.top}/main-nopie.o", f"{directory}/work.o",
                 f"{self.top}/tracer.o", "-Wl,--whole-archive", self.archive, "-Wl,--no-whole-archive", "-o", program])
        elif output in ("shared", "dlopen"):
            run([compiler, "-shared", *ld, *link, f"{directory}/work.o", "-o", f"{directory}/libwork.so"])
            if output == "shared":
                run(["gcc", "-pie", f"{self.top}/main-pie.o", f"{directory}/libwork.so", *libs,
                     f"-Wl,-rpath,{directory}", "-o", program])
            else:
                run(["gcc", "-pie", f"{self.top}/main-dlopen.o", *libs, "-ldl", "-o", program])
                env["SLOTS_LIBRARY"] = f"{directory}/libwork.so"
        else:
            driver = compiler
            run([driver, "-pie" if output == "pie" else "-no-pie", *ld, *link, f"{self.top}/main-{output}.o",
                 f"{directory}/work.o", *libs, "-o", program])
        differs = kind.differs
        if differs == "prefix" and output not in ("nopie", "static"):
            differs = "exact"
        return [program, differs], env


def parse(text):
    """Counts of the first tracer, and of both; the numbers in the last line."""
    parts = text.split("-- filtered\n")
    if len(parts) != 2:
        raise Miss(f"output: {text[-400:]}")
    counts = []
    for part in parts:
        counts.append({m[1]: {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", m[2])}
                       for m in re.finditer(r"^(\S+) (entered=.*)$", part, re.M)})
    last = re.search(r"^result (-?\d+) total (\d+)$", text, re.M)
    return counts[0], counts[1], int(last[1]), int(last[2])


def check(kind, text):
    plain, both, result, total = parse(text)
    if result != RESULT:
        raise Miss(f"result {result}, not {RESULT}")
    if set(plain) != set(CALLS):
        raise Miss(f"functions: {sorted(set(plain) ^ set(CALLS))}")
    want_total = 0
    for name, calls in CALLS.items():
        first = calls + (name == "w_work")  # main.c also calls it for no rounds
        second = first + (calls if name in FILTERED else 0)
        for got, want in ((plain[name], first), (both[name], second)):
            if got["entered"] != want:
                raise Miss(f"{name} entered {got['entered']} times, not {want}")
            if kind.exits and (got["left"] != want or got["gone"] or got["no_exit"]):
                raise Miss(f"{name} entered {want} times: {got}")
            if not kind.exits and (got["left"] or not got["no_exit"]):
                raise Miss(f"{name} has exits: {got}")
        want_total += second
    if total != want_total:
        raise Miss(f"{total} entries in all, not {want_total}")


def check_list(kind, hodo, binary):
    slot = {"xray": "xray", "cyg": "instrument", "pfe": "patchable", "pg": "mcount"}[kind.name.split("-")[0]]
    listed = json.loads(run([hodo, "list", "--functions", "--json", binary]))["functions"]
    found = {f["name"]: f["slot"] for f in listed if f["name"] in CALLS}
    if found != {name: slot for name in CALLS}:
        raise Miss(f"hodo list: {found}")
    exits = {f["name"]: f["exits"] for f in listed if f["name"] in CALLS}
    if any((n > 0) != kind.exits for n in exits.values()):
        raise Miss(f"hodo list: exits {exits}")


def cases(full):
    levels = ("-O0", "-O1", "-O2", "-O3", "-Os")
    linkers = ("bfd", "gold", "lld")
    n = 0
    for kind in KINDS:
        for compiler, output in itertools.product(kind.compilers, kind.outputs):
            for level, linker in itertools.product(levels, linkers):
                n += 1
                # One of the 15 for each combination of flags, compiler and output, a different one each time.
                if not full and n % 16 != 0:
                    continue
                if linker == "gold" and output == "static" and compiler == "clang":
                    continue  # drops the archive's constructors with priorities
                yield kind, compiler, level, linker, output


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="", help="cases whose text holds this")
    for name in ("source", "include", "library", "archive", "hodo"):
        parser.add_argument(name)
    args = parser.parse_args()
    if not shutil.which("gcc"):
        print("skipped: no gcc here")
        return 77
    passed, missed, skipped = 0, 0, set()
    with tempfile.TemporaryDirectory(prefix="hodo-slots.") as top:
        builder = Builder(args, top)
        for n, (kind, compiler, level, linker, output) in enumerate(cases(args.full)):
            what = f"{kind.name} {compiler} {level} {linker} {output}"
            if args.only not in what:
                continue
            if not shutil.which(compiler) or not shutil.which(f"ld.{linker}"):
                skipped.add(compiler if not shutil.which(compiler) else f"ld.{linker}")
                continue
            directory = pathlib.Path(top) / str(n)
            directory.mkdir()
            try:
                command, env = builder.build(directory, kind, compiler, level, linker, output)
                check(kind, run(command, env, directory))
                check_list(kind, args.hodo, directory / ("libwork.so" if output in ("shared", "dlopen") else "program"))
                passed += 1
            except (Miss, subprocess.TimeoutExpired) as e:
                missed += 1
                print(f"FAIL {what}: {e}", file=sys.stderr)
            shutil.rmtree(directory)
    print(f"{passed} passed, {missed} failed, not here: {sorted(skipped) or 'nothing'}")
    return 1 if missed or (passed < 20 and not args.only) else 0


if __name__ == "__main__":
    sys.exit(main())
