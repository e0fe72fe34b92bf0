#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cases.py CASE SOURCE INCLUDE LIBHODO HODO COMPARE_BT2 - each case is a situation in which slots must work, or be left
alone. If compilers are missing: 77, skipped."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from matrix import BOTH, CALLS, CYG, PFE, RESULT, XRAY

CXX = {"gcc": "g++", "clang": "clang++"}


class Skip(Exception):
    pass


class Case:
    def __init__(self, source, include, library, hodo, compare, top):
        self.source, self.include = pathlib.Path(source).absolute(), include
        self.library, self.hodo, self.compare = pathlib.Path(library).absolute(), hodo, compare
        self.top = pathlib.Path(top)
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("HODO_", "LD_PRELOAD", "XRAY_")) or k == "HODO_CLOCK"}

    # ------------------------------------------------------------- tools

    def run(self, *command, status=0, **env):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=self.top,
                              env=dict(self.env, **env), timeout=300, errors="replace")
        if done.returncode == 77:
            raise Skip((done.stdout + done.stderr).strip() or "cannot be had here")
        assert done.returncode == status, f"{command}: {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}"
        return done.stdout

    def need(self, *tools):
        for tool in tools:
            if not shutil.which(tool):
                raise Skip(f"no {tool} here")

    def compile(self, compiler, name, *flags, out=None):
        self.need(compiler)
        out = out or pathlib.Path(name).stem + ".o"
        self.run(compiler, f"-I{self.include}", "-O2", "-g", *flags, "-c", self.source / name, "-o", out)
        return out

    def link(self, compiler, out, *what):
        self.run(compiler, *what, "-o", out)
        return f"./{out}"

    def tracer(self):
        """The flags for linking a program that uses slots.h."""
        rpath = f"-Wl,-rpath,{self.library.parent}:{self.top}"
        if not (self.top / "libtracer.so").exists():
            self.run("gcc", f"-I{self.include}", "-O1", "-fPIC", "-shared", self.source / "tracer.c", "-o",
                     "libtracer.so", self.library, rpath)
        return ["./libtracer.so", "-Wl,--no-as-needed", self.library, rpath]

    def plain(self, compiler, name, *flags, link=()):
        """plain.c with work.c, which is compiled with the flags."""
        work = self.compile(compiler, "work.c", *flags, out=f"{name}-work.o")
        main = self.compile("gcc", "plain.c", "-fPIE", out=f"{name}-main.o")
        return self.link(compiler, name, main, work, *link)

    def record(self, program, *options, name="trace", **env):
        """The counts of a recording, by event and function."""
        shutil.rmtree(self.top / name, ignore_errors=True)
        out = self.run(self.hodo, "record", "-q", "--functions", *options, "-o", name, "--", program, **env)
        self.run(sys.executable, self.compare, self.hodo, name)
        counts = {}
        for line in self.run(self.hodo, "print", "--json", name).splitlines():
            event = json.loads(line)
            key = event["name"], self.function(event)
            counts[key] = counts.get(key, 0) + 1
        return out, counts

    @staticmethod
    def function(event):
        text = json.dumps(event)
        found = re.search(r"\bw_\w+", text)
        return found[0] if found else text

    # ------------------------------------------------------------- cases

    def case_record(self):
        """hodo record --functions, on programs that do not know hodo."""
        kinds = [(c, f"cyg-{c}", CYG, "func:entry_sp", "func:exit_sp") for c in BOTH]
        kinds += [("clang", "xray", XRAY, "func:entry", "func:exit"),
                  ("gcc", "noplt", CYG + ("-fno-plt",), "func:entry_sp", "func:exit_sp"),
                  ("gcc", "pfe", (PFE + "5",), "func:reached", None),
                  ("clang", "pfe-clang", (PFE + "5",), "func:reached", None)]
        kinds += [(c, f"pg-{c}", ("-pg",), "func:reached", None) for c in BOTH]
        done = 0
        for compiler, name, flags, entry, leave in kinds:
            if not shutil.which(compiler):
                continue
            program = self.plain(compiler, name, *flags)
            out, counts = self.record(program)
            assert out == f"{RESULT}\n", out
            want = {(entry, f): n for f, n in CALLS.items()}
            want.update({(leave, f): n for f, n in CALLS.items() if leave})
            assert counts == want, f"{name}: {counts}"
            report = json.loads(self.run(self.hodo, "report", "--json", "trace"))["functions"]
            got = {f["function"]: (f["calls"], f["left"], f["open"]) for f in report}
            if leave:
                assert got == {f: (n, 0, 0) for f, n in CALLS.items()}, f"{name}: {got}"
            else:
                assert {f: c[0] for f, c in got.items()} == CALLS, f"{name}: {got}"
            out, counts = self.record(program, "--functions=w_void,w_t*")
            assert counts == {k: n for k, n in want.items() if k[1] in ("w_void", "w_tail")}, f"{name}: {counts}"
            done += 1
        assert done

    def arcs(self, program):
        flat = self.run("gprof", "-b", "-p", program, "gmon.out")
        os.unlink(self.top / "gmon.out")
        return {m[2]: int(m[1]) for m in re.finditer(r"^\s*\S+\s+\S+\s+\S+\s+(\d+)\s.*?(\w+)$", flat, re.M)}

    def case_gprof(self):
        """gprof counts the same, whoever else traces."""
        self.need("gprof")
        for name, flags in (("pg", ("-pg",)), ("fentry", ("-pg", "-mfentry"))):
            program = self.plain("gcc", name, *flags, link=("-pg",))
            self.run(program)
            want = self.arcs(program)
            assert want["w_void"] == CALLS["w_void"], want
            self.run(program, LD_PRELOAD=str(self.library))
            assert self.arcs(program) == want
            for options in ((), ("--returns",), ("--functions=w_void",)):
                out, counts = self.record(program, *options)
                assert out == f"{RESULT}\n", out
                calls = {f: n for f, n in CALLS.items() if "=" not in "".join(options) or f == "w_void"}
                assert counts == {("func:reached", f): n for f, n in calls.items()}, counts
                assert self.arcs(program) == want
            self.run(self.hodo, "record", "-q", "-e", "no:event", "-o", "none", "--", program)
            assert self.arcs(program) == want

    def case_own_hooks(self):
        """A program's own __cyg_profile_func_enter is still called, wherever it is."""
        work = self.compile("gcc", "work.c", *CYG, "-fPIC")
        main = self.compile("gcc", "plain.c", "-fPIE")
        hooks = self.compile("gcc", "hooks.c", "-fPIC")
        self.link("gcc", "libhooks.so", "-shared", hooks)
        self.link("gcc", "libwork.so", "-shared", work)
        calls = sum(CALLS.values())
        want = f"{RESULT}\nown hooks: {calls} {calls}\n"
        here = "-Wl,-rpath,$ORIGIN"
        for program in (self.link("gcc", "in-program", main, work, hooks),
                        self.link("gcc", "in-library", main, work, "./libhooks.so", here),
                        self.link("gcc", "for-library", main, hooks, "./libwork.so", here)):
            assert self.run(program) == want
            out = self.run(program, LD_PRELOAD=str(self.library))
            assert out == want, f"{program}: {out}"
            out, counts = self.record(program, "--functions=w_*")
            assert out == want, f"{program}: {out}"
            assert not counts, counts

    def case_own_mcount(self):
        """Another library's mcount is still called."""
        main = self.compile("gcc", "plain.c", "-fPIE")
        work = self.compile("gcc", "work.c", "-pg")
        own = self.compile("gcc", "mcount.c", "-fPIC")
        self.link("gcc", "libown.so", "-shared", own)
        program = self.link("gcc", "own", main, work, "-Wl,--no-as-needed", "./libown.so", "-Wl,-rpath,$ORIGIN")
        want = f"{RESULT}\nown mcount: {sum(CALLS.values())}\n"
        assert self.run(program) == want
        assert self.run(program, LD_PRELOAD=str(self.library)) == want
        out, counts = self.record(program)
        assert out == want, out
        assert counts == {("func:reached", f): n for f, n in CALLS.items()}, counts
        out, counts = self.record(program, "--functions=w_leaf")
        assert out == want, out
        assert counts == {("func:reached", "w_leaf"): CALLS["w_leaf"]}, counts

    def case_stripped(self):
        """Programs without symbols: all calls are there, under their addresses."""
        for compiler, name, flags in (("gcc", "cyg", CYG), ("gcc", "noplt", CYG + ("-fno-plt",)),
                                      ("clang", "xray", XRAY), ("gcc", "pfe", (PFE + "5",)),
                                      ("gcc", "before", (PFE + "7,2",)), ("gcc", "pg", ("-pg",))):
            if not shutil.which(compiler):
                continue
            program = self.plain(compiler, name, *flags)
            self.run("strip", program)
            out, counts = self.record(program)
            calls = sum(CALLS.values()) * (2 if name in ("cyg", "noplt", "xray") else 1)
            assert out == f"{RESULT}\n" and sum(counts.values()) == calls, f"{name}: {sum(counts.values())}"

    def case_xray_premain(self):
        """The XRay runtime patches before main: it keeps its sleds."""
        program = self.plain("clang", "premain", *XRAY, link=("-fxray-instrument",))
        options = {"XRAY_OPTIONS": "patch_premain=true xray_mode=xray-basic xray_logfile_base=log. verbosity=0",
                   "XRAY_BASIC_OPTIONS": "func_duration_threshold_us=0"}
        assert self.run(program, **options) == f"{RESULT}\n"
        size = [p.stat().st_size for p in self.top.glob("log.*")]
        assert len(size) == 1 and size[0] > 32 * 2 * sum(CALLS.values()), size
        for p in self.top.glob("log.*"):
            p.unlink()
        out, counts = self.record(program, **options)
        assert out == f"{RESULT}\n" and not counts, (out, counts)
        logs = {p.name: p.stat().st_size for p in self.top.glob("log.*")}
        assert list(logs.values()) == size, logs

    def case_xray_runtime(self):
        """The XRay runtime patches while our tracers come and go."""
        work = self.compile("clang", "work.c", *XRAY)
        main = self.compile("clang++", "xray_runtime.cc", *XRAY)
        program = self.link("clang++", "runtime", "-fxray-instrument", main, work, *self.tracer())
        print(self.run(program))

    def case_cxx(self):
        """Exceptions: if unwinding calls the hooks, there are all exits; otherwise calls are left."""
        for compiler, name, flags, differs, kind in (
                ("gcc", "cyg", CYG, "calls", "all"), ("clang", "cyg-clang", CYG, "calls", "some"),
                ("clang", "xray", XRAY, "sleds", "some"), ("gcc", "pfe", (PFE + "5",), "exact", "none")):
            if not shutil.which(compiler):
                continue
            cxx = CXX[compiler]
            main = self.compile(cxx, "cxx.cc", *flags, out=f"{name}.o")
            out = self.run(self.link(cxx, f"cxx-{name}", main, *self.tracer()), differs)
            counts = {m[1]: tuple(map(int, m.groups()[1:])) for m in re.finditer(
                r"^(\S+) entered=(\d+) left=(\d+) gone=(\d+)", out, re.M)}
            # 21 rounds: thrower 5 times in each, 4 times more in every second one
            want = {"ns7thrower": 145, "ns7catcher": 21, "ns9rethrower": 10, "ns6passes": 21, "ns3BoxIiE3get": 21,
                    "ns3BoxIdE3get": 21, "ns5GuardD": 105 + 10 * (4 + 1) + 21}
            if name.startswith("cyg"):  # also counts inlined copies, under their own names
                counts = {k: v for k, v in counts.items() if "_ZN2ns" in k}
            for part, calls in want.items():
                found = [v for k, v in counts.items() if part in k or part.replace("ns", "N2ns", 1) in k]
                entered, left, gone = (sum(v[i] for v in found) for i in range(3))
                assert entered == calls, f"{name}: {part} {found}, not {calls}"
                if kind == "all":
                    assert left == calls and not gone, f"{name}: {part} {found}"
                elif kind == "some":
                    assert left + gone == calls, f"{name}: {part} {found}"
                else:
                    assert not left, f"{name}: {part} {found}"

    def case_toggle(self):
        """Turned on and off while threads run."""
        for compiler, name, flags, differs, pie in (
                ("gcc", "cyg", CYG, "calls", True), ("clang", "xray", XRAY, "sleds", True),
                ("gcc", "pfe", (PFE + "5",), "exact", True), ("gcc", "pfe-low", (PFE + "5",), "prefix", False),
                ("clang", "pfe-clang", (PFE + "5",), "exact", True), ("gcc", "pg", ("-pg",), "calls", True)):
            if not shutil.which(compiler):
                continue
            pic = "-fPIE" if pie else "-fno-pie"
            work = self.compile(compiler, "work.c", *flags, pic, out=f"{name}-work.o")
            main = self.compile("gcc", "toggle.c", pic, out=f"{name}-main.o")
            program = self.link(compiler, f"toggle-{name}", "-pie" if pie else "-no-pie", main, work, *self.tracer(),
                                "-lpthread")
            print(name, self.run(program, differs, "1500").strip())

    def case_reopen(self):
        """A library that is opened and closed while it is traced."""
        main = self.compile("gcc", "reopen.c")
        program = self.link("gcc", "reopen", main, *self.tracer(), "-ldl")
        for compiler, name, flags in (("gcc", "cyg", CYG), ("clang", "xray", XRAY), ("gcc", "pfe", (PFE + "5",)),
                                      ("clang", "pfe-clang", (PFE + "5",)), ("gcc", "pg", ("-pg",))):
            if not shutil.which(compiler):
                continue
            work = self.compile(compiler, "work.c", *flags, "-fPIC", out=f"{name}.o")
            self.link(compiler, f"lib{name}.so", "-shared", work)
            print(name, self.run(program, f"./lib{name}.so").strip())

    def case_refused(self):
        """Written memory may not be executed: slots that need that are left alone."""
        for compiler, name, flags, differs, pie, entries in (
                ("clang", "xray", XRAY, "exact", False, 0), ("gcc", "pfe", (PFE + "5",), "exact", False, 0),
                ("clang", "pfe-clang", (PFE + "5",), "exact", True, 0), ("gcc", "cyg", CYG, "calls", True, 461)):
            if not shutil.which(compiler):
                continue
            pic = "-fPIE" if pie else "-fno-pie"
            work = self.compile(compiler, "work.c", *flags, pic, out=f"{name}-work.o")
            main = self.compile("gcc", "refuse.c", pic, out=f"{name}-main.o")
            program = self.link(compiler, f"refuse-{name}", "-pie" if pie else "-no-pie", main, work, *self.tracer())
            out = self.run(program, differs)
            assert out == f"{entries} entries\n", f"{name}: {out}"


def main():
    name, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="hodo-slots.") as top:
        try:
            getattr(Case(*rest, top), f"case_{name}")()
        except Skip as e:
            print(f"skipped: {e}")
            return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
