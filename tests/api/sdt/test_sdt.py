#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""<sys/sdt.h> of Hodoscope: the same notes as from systemtap's header, events beside them, semaphores; and HODO_SDT.

Comparisons with systemtap's header, perf or bpftrace are skipped where these are missing.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import time
import unittest

from hodo_test import HODO, SOURCE, Case, main, run, wait_for

HERE = pathlib.Path(__file__).resolve().parent
OURS = [f"-I{SOURCE}/include/hodo/sdt", f"-I{SOURCE}/include"]
SYSTEMTAPS = [p for p in ("/usr/include/sys/sdt.h", f"/usr/include/{os.uname().machine}-linux-gnu/sys/sdt.h")
              if os.path.exists(p)]
PROBES = ["any", "guarded", "none", "numbers", "open", "places", "two"]


def compiler(name):
    return name if shutil.which(name) else None


def language(cc):
    return ["-x", "c++", "-std=c++17", "-DPLAIN"] if cc.endswith("++") else ["-std=gnu11"]


class Sdt(Case):
    def build(self, name, cc="gcc", *flags, source="probes.c", include=OURS):
        way = language(cc) if source.endswith(".c") and not any(f.startswith("-std=") for f in flags) else []
        run(cc, *way, "-g", "-Wall", "-Wextra", "-Werror", *flags, *include, HERE / source, "-o", self.path(name),
            status=0)
        return self.path(name)

    def notes(self, path):
        """[(provider, name, the symbol at its semaphore, arguments)] in the order of the file."""
        text = run("readelf", "-nW", path, status=0).stdout
        defined = (line.split() for line in run("nm", "--defined-only", path, status=0).stdout.splitlines())
        symbols = {int(address, 16): name for address, _, name in defined if name.endswith("_semaphore")}
        return [(p, n, symbols.get(int(s, 16), int(s, 16)), args.split()) for p, n, s, args in re.findall(
            r"Provider: (\S+)\s+Name: (\S+)\s+Location: \w+, Base: \w+, Semaphore: (\w+)\s+Arguments: ?(.*)", text)]


class Notes(Sdt):
    # Compiler, level, output: each of these once or more, but not in every combination.
    WAYS = (("gcc", "-O0", "pie"), ("gcc", "-O2", "shared"), ("gcc", "-O1", "no-pie"), ("clang", "-O0", "no-pie"),
            ("clang", "-O2", "pie"), ("g++", "-O2", "pie"), ("g++", "-O0", "shared"), ("clang++", "-O1", "shared"))
    LINKED = {"pie": ("-fPIE", "-pie"), "no-pie": ("-fno-pie", "-no-pie"), "shared": ("-fPIC", "-shared", "-DSHARED")}

    def compare(self, ours, theirs):
        """All is the same, except where the compiler keeps a value that is not constant: only its size is the same."""
        self.assertEqual([n[:3] for n in ours], [n[:3] for n in theirs])
        for mine, other in zip(ours, theirs):
            for a, b in zip(mine[3], other[3], strict=True):
                if "$" in a or "$" in b or "@" not in a:
                    self.assertEqual(a, b, mine)
                self.assertEqual(a.split("@")[0], b.split("@")[0], mine)

    @unittest.skipUnless(SYSTEMTAPS, "no sys/sdt.h of systemtap here")
    def test_as_systemtaps(self):
        for cc, level, linked in self.WAYS:
            if compiler(cc):
                with self.subTest(cc=cc, level=level, linked=linked):
                    flags = (level, *self.LINKED[linked])
                    ours = self.notes(self.build("ours", cc, *flags))
                    self.compare(ours, self.notes(self.build("theirs", cc, *flags, include=[])))
                    self.assertGreaterEqual(len(ours), 7)

    @unittest.skipUnless(SYSTEMTAPS, "no sys/sdt.h of systemtap here")
    def test_assembly(self):
        flags = ("-shared", "-nostdlib")
        ours = self.notes(self.build("ours", "gcc", *flags, source="probes.S"))
        self.assertEqual(ours, self.notes(self.build("theirs", "gcc", *flags, source="probes.S", include=[])))
        self.assertEqual([len(n[3]) for n in ours], [0, 2, 12])

    def test_notes_alone(self):
        """Where the language is too old for events, and where events are disabled."""
        full = self.build("full", "gcc", "-O1")
        for cc, flags in (("gcc", ("-std=gnu89",)), ("g++", ("-x", "c++", "-std=c++11", "-DPLAIN")),
                          ("clang", ("-std=gnu89",)), ("gcc", ("-std=gnu11", "-DHODO_DISABLE"))):
            if compiler(cc):
                with self.subTest(cc=cc, flags=flags):
                    build = self.build_old if flags[0] == "-std=gnu89" else self.build
                    source = build("plain", cc, "-O1", *flags)
                    self.assertEqual(json.loads(self.ok("list", "-q", "--json", "--events", source))["events"], [])
                    names = {n[1] for n in self.notes(source)}
                    self.assertEqual(names | {"given", "inside"}, {n[1] for n in self.notes(full)})

    def build_old(self, name, cc, *flags):
        """C89 has no declarations in a for, and no bool."""
        text = (HERE / "probes.c").read_text(encoding="ascii").replace("for (int i = 0;", "int i;\n\tfor (i = 0;")
        with open(self.path("old.c"), "w", encoding="ascii") as file:
            file.write(text)
        run(cc, *flags, "-Wall", "-Werror", *OURS, self.path("old.c"), "-o", self.path(name), status=0)
        return self.path(name)

    def test_tools(self):
        """The tools that are installed here find the probes."""
        path = self.build("probes", "gcc", "-O2", "-Wl,--build-id")
        done = run("gdb", "-batch", "-nx", "-ex", "info probes stap shop", path, **self.how({}))
        self.assertEqual(set(re.findall(r"(?m)^stap +shop +(\w+)", done.stdout)), {*PROBES, "given", "inside"},
                         done.stderr)
        if shutil.which("perf"):
            with self.subTest("perf"):
                perf = ("perf", "--buildid-dir", self.path("perf"))
                run(*perf, "buildid-cache", "--add", path, status=0, **self.how({}))
                listed = run(*perf, "list", "sdt", **self.how({})).stdout
                self.assertEqual(set(re.findall(r"sdt_shop:(\w+)", listed)), {*PROBES, "given", "inside"})
        else:
            print("no perf here: not asked")
        if shutil.which("bpftrace"):
            with self.subTest("bpftrace"):
                listed = run("bpftrace", "-l", f"usdt:{path}:*", **self.how({})).stdout
                self.assertEqual(set(re.findall(r":shop:(\w+)", listed)), {*PROBES, "given", "inside"})
        else:
            print("no bpftrace here: not asked")


class Recorded(Sdt):
    def check_values(self, cc, *flags):
        path = self.build("probes", cc, *flags)
        alone = run(path, 4, status=0).stdout
        done = self.record("-q", path, 4)
        self.assertEqual(done.stdout, alone)
        self.assertIn("evaluated 4", alone)
        found = {}
        for event in self.events():
            found.setdefault(event["name"].removeprefix("shop:"), []).append(event["fields"])
        self.assertEqual({name: len(of) for name, of in found.items()},
                         {"open": 4, "numbers": 4, "places": 4, "two": 8, "any": 4, "none": 4, "guarded": 4})
        for n, f in enumerate(found["numbers"]):
            self.assertEqual([f[f"arg{i}"] for i in range(1, 10)],
                             [n, n + 200, -n, n / 2, n / 4, bool(n & 1), 1, -1, 1 << 63 | n])
            self.assertEqual(f["arg12"], -5)
        self.assertEqual([f["arg4"] for f in found["places"]], [1, 2, 3, 4])
        self.assertEqual([f["arg1"] for f in found["two"]], [0, 7, 1, 7, 2, 7, 3, 7])
        self.assertEqual([(f["arg1"], f["arg2"]) for f in found["any"]], [(n, n + 0.5) for n in range(4)])

    def test_values(self):
        for cc, level in (("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O1"), ("g++", "-O2"), ("clang++", "-O0")):
            if compiler(cc):
                with self.subTest(cc=cc, level=level):
                    self.data = self.path(f"trace-{cc}{level}")
                    self.check_values(cc, level)

    def test_types(self):
        path = self.build("probes", "gcc", "-O2")
        listed = json.loads(self.ok("list", "--json", "--events", path))["events"]
        types = [(e["name"], [f["type"] for f in e["fields"]]) for e in listed]
        self.assertIn(("shop:numbers", ["char", "u8", "i16", "f32", "f64", "bool", "u32", "i32", "u64", "ptr", "ptr",
                                        "i32"]), types)
        self.assertIn(("shop:places", ["ptr", "ptr", "i32", "i32"]), types)
        self.assertEqual([t for name, t in types if name == "shop:two"], [["i32"], ["u64"]])
        self.assertEqual({e["sites"] for e in listed}, {1})

    def test_other_values(self):
        """A value that is neither a number nor an address is recorded as its bytes."""
        with open(self.path("other.c"), "w", encoding="ascii") as file:
            file.write("#include <sys/sdt.h>\n#include <stddef.h>\nstruct pair { char a[3]; };\nint main(void)\n{\n"
                       "\tstruct pair p = { \"ab\" };\n\tlong double d = 1;\n\t__int128 i = 5;\n"
                       "\tSTAP_PROBE3(other, all, p, d, i);\n\tSTAP_PROBE1(other, null, NULL);\n\treturn 0;\n}\n")
        for cc in filter(compiler, ("gcc", "g++")):
            with self.subTest(cc):
                self.data = self.path("trace-" + cc)
                run(cc, *(["-x", "c++"] if cc == "g++" else []), "-O2", "-Wall", "-Werror=conversion-null", *OURS,
                    self.path("other.c"), "-o", self.path("other"), status=0)
                self.record("-q", self.path("other"))
                fields, null = [e["fields"] for e in self.events()]
                self.assertEqual(null["arg1"], 0)
                self.assertEqual([fields["arg1"], len(fields["arg2"]), fields["arg3"]],
                                 [b"ab\0".hex(), 2 * 16, (5).to_bytes(16, "little").hex()])

    def test_part_of_the_notes(self):
        """-e sdt: of a program of which only some notes have a site: each hit is one event."""
        with open(self.path("mix.c"), "w", encoding="ascii") as file:
            file.write("#include <sys/sdt.h>\nint main(void)\n{\n\tfor (int n = 0; n < 3; n++) {\n"
                       "\t\tSTAP_PROBE1(mix, site, n);\n\t\t__asm__ volatile(\"movl %0, %%eax\\n\"\n"
                       "\t\t\tSTAP_PROBE_ASM(mix, note, -4@%%eax)\n\t\t\t: : \"r\"(n) : \"eax\");\n"
                       "\t}\n\treturn 0;\n}\n")
        for level in ("-O0", "-O2"):
            with self.subTest(level):
                self.data = self.path("trace" + level)
                run("gcc", level, *OURS, self.path("mix.c"), "-o", self.path("mix"), status=0)
                self.record("-q", "-e", "sdt:mix:*", self.path("mix"))
                self.assertEqual([(e["name"], e["fields"]["arg1"]) for e in self.events()],
                                 [(name, n) for n in range(3) for name in ("mix:site", "mix:note")])

    def test_beside_gdb(self):
        """A debugger stops at the nop while the event is recorded: both get all events, and see the same values."""
        with open(self.path("sale.c"), "w", encoding="ascii") as file:  # gdb 13 does not read floats, nor r9b
            file.write("#include <sys/sdt.h>\nint main(void)\n{\n\tfor (int n = 0; n < 3; n++)\n"
                       "\t\tSTAP_PROBE2(shop, sale, n, -5);\n\treturn 0;\n}\n")
        run("gcc", "-O2", "-g", *OURS, self.path("sale.c"), "-o", self.path("sale"), status=0)
        script = self.path("script")
        with open(script, "w", encoding="ascii") as file:
            file.write("set debuginfod enabled off\nset startup-with-shell off\nbreak -probe-stap shop:sale\ncommands\n"
                       'silent\nprintf "seen %d %d %d\\n", $_probe_argc, $_probe_arg0, $_probe_arg1\ncontinue\nend\nrun\n')
        done = self.record("-q", "--", "gdb", "-batch", "-nx", "-x", script, self.path("sale"))
        self.assertEqual(re.findall(r"seen (.*)", done.stdout), [f"2 {n} -5" for n in range(3)], done.stderr)
        self.assertEqual([e["fields"] for e in self.events() if e["name"] == "shop:sale"],
                         [{"arg1": n, "arg2": -5} for n in range(3)])


class Semaphores(Sdt):
    def ask(self, process, line=""):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    def test_while_recorded(self):
        """Raised by one in a recorded process; lowered when the recording ends, however its recorder ends."""
        path = self.build("probes", "gcc", "-O2")
        process = self.start(path, "lines", stdin=-1, stdout=-1)
        self.assertEqual(self.ask(process), "guarded 0 open 0")
        for signum in (signal.SIGINT, signal.SIGKILL, signal.SIGINT):
            with self.subTest(signum=signum):
                self.data = self.path(f"trace-{signum}-{len(os.listdir(self.dir))}")
                recorder = self.recorder("-e", "shop:guarded", "-p", process.pid)
                self.until(process, "guarded 1 open 0")
                recorder.stop(signum)
                self.until(process, "guarded 0 open 0")
        self.assertGreater(self.stat()["events"][0]["count"], 0)

    def test_started(self):
        """A killed recorder does not leave them raised, either, in a program that it has started."""
        process = self.start(HODO, "record", "-q", "-o", self.data, "-e", "shop:guarded", "--",
                             self.build("probes", "gcc", "-O2"), "lines", stdin=-1, stdout=-1)
        self.assertEqual(self.ask(process), "guarded 1 open 0")
        program, = wait_for("the recorder to know it", lambda: list(pathlib.Path(self.data).glob("*/metadata")))
        program = int(program.parent.name.rpartition("-")[2])
        os.kill(program, signal.SIGSTOP)
        process.kill()
        process.wait()
        time.sleep(1)  # time for the guard to find that the program is stopped, and that it must try again
        os.kill(program, signal.SIGCONT)
        self.until(process, "guarded 0 open 0")
        process.stdin.close()
        self.assertEqual(process.stdout.read(), "")

    def until(self, process, wanted):
        wait_for(lambda: self.ask(process), lambda: self.ask(process) == wanted)

    def test_as_static_probe(self):
        """-e sdt: and hodo probe add, in a running process, switch the site on: each hit is one event."""
        process = self.start(self.build("probes", "gcc", "-O2"), "lines", stdin=-1, stdout=-1)
        for n, added in enumerate((False, True)):
            self.data = self.path(f"trace-{n}")
            recorder = self.recorder("-e", "shop:open" if added else "sdt:shop:guarded", "-p", process.pid)
            if added:
                wait_for("the recorder", lambda: self.hodo("probe", "list", "-q", process.pid).returncode == 0)
                self.ok("probe", "add", "-q", process.pid, "sdt:shop:guarded")
            wait_for("the semaphore", lambda: "guarded 1" in self.ask(process))
            for _ in range(10):
                self.ask(process)
            if added:
                self.ok("probe", "remove", "-q", process.pid, "sdt:shop:guarded")
            self.assertEqual(recorder.stop().returncode, 0)
            values = [e["fields"]["arg1"] for e in self.events() if e["name"] == "shop:guarded"]
            self.assertEqual(values, list(range(values[0], values[0] + len(values))))
            self.assertGreaterEqual(len(values), 10)

    def test_unreadable(self):
        """An operand where nothing is mapped, which the program itself does not read: the program goes on."""
        path = self.build("probes", "gcc", "-O2")
        self.assertEqual(self.record("-q", "-e", "sdt:shop:given", path, "4").returncode, 0)
        found = [e for e in self.events() if e["name"] == "shop:given"]
        self.assertEqual([e["fields"] for e in found], [{"arg1": n, "arg2": 0} for n in range(4)])

    def test_switched(self):
        """They follow the event when hodo disable and enable switch it."""
        path = self.build("probes", "gcc", "-O0")
        process = self.start(path, "lines", stdin=-1, stdout=-1)
        self.recorder("-p", process.pid)
        self.until(process, "guarded 1 open 1")
        self.ok("disable", process.pid, "shop:guarded")
        self.assertEqual(self.ask(process), "guarded 0 open 1")
        self.ok("enable", process.pid, "shop:guarded")
        self.assertEqual(self.ask(process), "guarded 1 open 1")

    def test_library(self):
        """Opened while recording: raised before the library's code runs, at another address than in the program."""
        path = self.build("probes", "gcc", "-O2")
        for cc in filter(compiler, ("gcc", "clang")):
            library = self.build(f"library-{cc}.so", cc, "-O2", "-fPIC", "-shared", "-DSHARED", "-Wl,-z,now")
            with self.subTest(cc):
                self.data = self.path("trace-" + cc)
                done = self.record("-q", path, "lines", stdin=self.lines(library))
                self.assertEqual(done.stdout, "library 1\nguarded 1 open 1\n")
                self.assertEqual(run(path, "lines", stdin=self.lines(library)).stdout, "library 0\nguarded 0 open 0\n")
                self.assertEqual([e["fields"]["arg1"] for e in self.events()], [0, 1, 1])

    def test_of_another(self):
        """A semaphore of another library can be left alone."""
        with open(self.path("user.c"), "w", encoding="ascii") as file:
            file.write("#define _SDT_HAS_SEMAPHORES 1\n#include <sys/sdt.h>\nextern unsigned short shop_far_semaphore;\n"
                       "int far(void);\nint far(void)\n{\n\tSTAP_PROBE(shop, far);\n"
                       "\treturn shop_far_semaphore;\n}\n")
        build = ("gcc", "-O2", "-fPIC", "-shared", *OURS, self.path("user.c"), "-o", self.path("user.so"))
        self.assertIn("shop_far_semaphore", run(*build).stderr)
        run(*build, "-DHODO_SDT_FOREIGN", status=0)
        self.assertEqual(self.notes(self.path("user.so")), [("shop", "far", 0, [])])

    def lines(self, *lines):
        with open(self.path("lines"), "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in (*lines, ""))
        file = open(self.path("lines"), encoding="utf-8")  # pylint: disable=consider-using-with
        self.addCleanup(file.close)
        return file


class Own(Sdt):
    """HODO_SDT."""
    NAMES = ["none", "two", "ways", "said", "level", "job__begin", "part__begin", "job__end", "point", "many"]

    def test_notes_and_events(self):
        for cc, flags in (("gcc", ("-O2",)), ("gcc", ("-O0", "-fPIE")), ("clang", ("-O2",)), ("g++", ("-O2",)),
                          ("clang++", ("-O0",))):
            if not compiler(cc):
                continue
            with self.subTest(cc=cc, flags=flags):
                self.data = self.path("trace-" + cc + flags[0])
                path = self.build("own", cc, *flags, "-DHODO_SDT=1", source="own.c")
                notes = {n[1]: n[3] for n in self.notes(path)}
                self.assertEqual(sorted(notes), sorted(self.NAMES))
                sizes = {name: " ".join(a.split("@")[0] for a in args) for name, args in notes.items()}
                self.assertEqual(sizes, {"none": "", "two": "-4 8", "ways": "8 8f 8 4", "said": "-4 8", "level": "-4",
                                         "job__begin": "-4", "part__begin": "-4 8", "job__end": "-4", "point": "-4 8",
                                         "many": " ".join(["-4"] * 12)})
                alone = run(path, status=0).stdout
                self.assertEqual(alone, "10 evaluated 5\n")  # also while nobody records
                self.assertEqual(self.record("-q", path).stdout, alone)
                with_notes = [(e["name"], e["fields"]) for e in self.events()]
                self.data += "-without"
                self.record("-q", self.build("without", cc, *flags, source="own.c"))
                without = [(e["name"], e["fields"]) for e in self.events()]
                self.assertEqual([(n, len(f)) for n, f in with_notes], [(n, len(f)) for n, f in without])
                self.assertEqual([f for n, f in with_notes if n == "own:many"],
                                 [f for n, f in without if n == "own:many"])
                self.assertEqual({n: sorted(map(str, f.values())) for n, f in with_notes},
                                 {n: sorted(map(str, f.values())) for n, f in without})

    def test_selected_as_static_probes(self):
        """Each hit is one event, of the site; a note whose name the event does not have can be asked for, too."""
        for cc, *flags in (("gcc", "-O2"), ("gcc", "-O0"), ("clang", "-O1"), ("clang", "-O0"), ("g++", "-O2"),
                           ("clang++", "-O0"), ("clang", "-O0", "-fno-pie", "-no-pie")):
            if not compiler(cc):
                continue
            with self.subTest(cc=cc, flags=flags):
                self.data = self.path(f"trace-{cc}{len(os.listdir(self.dir))}")
                path = self.build("own", cc, *flags, "-DHODO_SDT=1", source="own.c")
                self.assertEqual(self.record("-e", "sdt:own:*", path).stderr.count("breakpoint"), 0)
                names = (*(name.replace("__", ".") for name in self.NAMES), "part.end")
                self.assertEqual({e["name"]: e["count"] for e in self.stat()["events"]},
                                 {f"own:{name}": 5 for name in names})
        self.data = self.path("trace-one")
        self.record("-q", "-e", "sdt:own:job__begin", path)
        self.assertEqual([e["name"] for e in self.events()], ["own:job__begin"] * 5)

    def test_values_in_gdb(self):
        path = self.build("own", "gcc", "-O2", "-DHODO_SDT=1", source="own.c")
        with open(self.path("script"), "w", encoding="ascii") as file:
            file.write("set debuginfod enabled off\nset startup-with-shell off\nbreak -probe-stap own:two\ncommands\nsilent\n"
                       'printf "seen %d %s\\n", $_probe_arg0, (char *)$_probe_arg1\ncontinue\nend\nrun\n')
        done = run("gdb", "-batch", "-nx", "-x", self.path("script"), path, **self.how({}))
        self.assertEqual(re.findall(r"seen (.*)", done.stdout), [f"{n} text" for n in range(5)], done.stderr)

    def test_off(self):
        """HODO_DISABLE leaves no trace of it."""
        path = self.build("own", "gcc", "-O2", "-DHODO_SDT=1", "-DHODO_DISABLE", source="own.c")
        self.assertEqual(self.notes(path), [])
        self.assertEqual(run(path, status=0).stdout, "10 evaluated 0\n")


main()
