#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plan - what hodo doctor says of every library and program at hand: nearly all entries and exits can have a probe by a
jump, the others have a reason, and all are counted. Objects that are not installed are named on standard output."""
import glob
import json
import os
import re
import subprocess

from hodo_test import Case, HODO, LIBHODO, main, run

# A name for each, and its place in Debian.
OBJECTS = {
    "libc": "/usr/lib/x86_64-linux-gnu/libc.so.6",
    "libm": "/usr/lib/x86_64-linux-gnu/libm.so.6",
    "libstdc++": "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
    "libcrypto": "/usr/lib/x86_64-linux-gnu/libcrypto.so.*",
    "libz": "/usr/lib/x86_64-linux-gnu/libz.so.1",
    "libsqlite3": "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
    "libglib": "/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0",
    "python3": "/usr/bin/python3.[0-9][0-9]",
    "postgres": "/usr/lib/postgresql/*/bin/postgres",
    "redis": "/usr/bin/redis-server",
    "nginx": "/usr/sbin/nginx",
}
# Packages that the tests need bring these.
ALWAYS = {"libc", "libm", "libstdc++", "libz", "libsqlite3", "python3"}
ENTRIES, EXITS = 98.0, 84.0  # % by a jump, at least
FEW = 100                    # with fewer functions, a percentage says little


def survey(path):
    """hodo doctor's answer for the object."""
    done = run(HODO, "doctor", "--json", path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["objects"]
    assert len(found) == 1 and found[0]["object"] == str(path), found
    return found[0]


def percent(count):
    return 100 * count["jump"] / max(1, sum(count.values()))


def reasons(o):
    return {r["reason"]: r for r in o["reasons"]}


class Plan(Case):
    def check(self, o):
        """Checks what is true of any object."""
        for what in ("entries", "exits"):
            for how in ("trap", "none"):
                self.assertEqual(sum(r[what][how] for r in o["reasons"]), o[what][how], (o["object"], what, how))
        self.assertEqual(sum(o["entries"].values()), o["functions"], o["object"])

    def test_libraries(self):
        for name, place in OBJECTS.items():
            paths = sorted(glob.glob(place))
            if not paths:
                self.assertNotIn(name, ALWAYS)
                print(f"{name}: not installed")
                continue
            o = survey(paths[-1])
            self.check(o)
            entries, exits = percent(o["entries"]), percent(o["exits"])
            print(f"{name}: {o['functions']} functions, {o['instructions']} instructions; "
                  f"by a jump: entries {entries:.2f} %, exits {exits:.2f} %")
            self.assertGreaterEqual(o["functions"], FEW, name)
            self.assertGreaterEqual(entries, ENTRIES, name)
            self.assertGreaterEqual(exits, EXITS, name)

    def test_unseen_exits_are_said(self):
        """What hodo record says of exits without a jump, once and not with -q, agrees with hodo doctor."""
        command = ["--functions", "-o", os.path.join(self.dir, "trace"), "--", "/bin/bash", "-c", ":"]
        exits = survey("/bin/bash")["exits"]
        said = re.findall(r"(?m)^hodo: ([\d,]+) of ([\d,]+) exits of functions have no room for a jump, ",
                          run(HODO, "record", *command).stderr)
        self.assertEqual(len(said), 1)
        missed, all_exits = (int(n.replace(",", "")) for n in said[0])
        self.assertTrue(0 < missed <= exits["trap"] + exits["none"], (missed, exits))
        self.assertTrue(missed < all_exits <= sum(exits.values()), (all_exits, exits))
        self.assertEqual(run(HODO, "record", "-q", *command).stderr, "")

    def test_all_exits_include_the_unseen(self):
        """Of more than half of the exits, too."""
        source, program = os.path.join(self.dir, "few.c"), os.path.join(self.dir, "few")
        with open(source, "w", encoding="ascii") as file:
            file.write("int n;\n" + "".join(f"void f{i}(void) {{ if (n) n++; }}\n" for i in range(9)) +
                       "int main(void) { return n; }\n")
        run("gcc", "-O0", source, "-o", program, status=0)
        done = run(HODO, "record", "--functions=f?", "-o", os.path.join(self.dir, "trace"), "--", program)
        missed, exits = map(int, re.findall(r"(?m)^hodo: (\d+) of (\d+) exits of functions have no room", done.stderr)[0])
        self.assertEqual(exits, 9)
        self.assertTrue(5 <= missed <= exits, done.stderr)

    def test_libc_names_what_it_refuses(self):
        found = reasons(survey(OBJECTS["libc"]))
        self.assertEqual(found["signal-frame"]["entries"], {"trap": 0, "none": 1})
        self.assertEqual(found["plt"]["entries"]["trap"], 0)

    def test_functions_are_those_of_the_symbols(self):
        """Parts that the compiler moved away do not count; a stripped copy gives the same numbers."""
        names = subprocess.run(["nm", "-C", HODO], check=True, capture_output=True, text=True).stdout.splitlines()
        wanted = {line.split()[0] for line in names if line.split()[1] in "tTwW" and not line.endswith("[clone .cold]")}
        whole = survey(HODO)
        self.assertGreater(len(wanted), 1000)
        self.assertAlmostEqual(whole["functions"], len(wanted), delta=len(wanted) // 50)
        stripped = os.path.join(self.dir, "stripped")
        subprocess.run(["strip", "-o", stripped, HODO], check=True)
        self.assertAlmostEqual(survey(stripped)["functions"], whole["functions"], delta=whole["functions"] // 100)
        with open(stripped, "r+b") as f: # without section headers as well: e_shoff, e_shnum, e_shstrndx
            f.seek(40)
            f.write(bytes(8))
            f.seek(60)
            f.write(bytes(4))
        self.assertAlmostEqual(survey(stripped)["functions"], whole["functions"], delta=whole["functions"] // 50)

    def test_other_machines_and_runtimes(self):
        for section in (".gopclntab", ".go.buildinfo", ".note.go.buildid"):
            o = self.made(".s", f'.section {section},"a"\n.quad 1\n.text\n.globl _start\n_start: ret\n', "-nostdlib")
            self.assertEqual(o["refused"], "go", section)
        with open(os.path.join(self.dir, "made"), "r+b") as f: # e_machine: AArch64's
            f.seek(18)
            f.write(b"\xb7\0")
        self.assertEqual(survey(os.path.join(self.dir, "made"))["refused"], "machine")

    def test_the_vdso(self):
        """The vDSO as it is in memory."""
        with open("/proc/self/maps") as maps:
            ranges = [line.split()[0].split("-") for line in maps if line.rstrip().endswith("[vdso]")]
        if not ranges:
            print("no vDSO")
            return
        start, end = (int(x, 16) for x in ranges[0])
        path = os.path.join(self.dir, "vdso")
        with open("/proc/self/mem", "rb") as memory, open(path, "wb") as f:
            memory.seek(start)
            f.write(memory.read(end - start))
        self.assertEqual(survey(path)["refused"], "vdso")

    def test_a_function_that_the_file_does_not_have(self):
        """A symbol that claims to be longer than its segment."""
        o = self.made(".s", ".globl f\n.type f,@function\nf: ret\n.size f,1<<24\n", "-shared", "-nostdlib")
        self.assertEqual(reasons(o)["no-code"]["entries"]["none"], 1)

    def test_objects_that_are_refused(self):
        loader = next(iter(glob.glob("/lib64/ld-linux-x86-64.so.2")))
        for path, reason in ((loader, "loader"), (LIBHODO, "hodo")):
            o = survey(path)
            self.assertEqual((o["refused"], o["functions"]), (reason, 0))
            text = run(HODO, "doctor", path)
            self.assertEqual(text.returncode, 0)
            self.assertIn("no probes: ", text.stdout)

    def made(self, suffix, text, *flags):
        """Compiles the source; returns hodo doctor's answer for the result."""
        source, made = os.path.join(self.dir, "source" + suffix), os.path.join(self.dir, "made")
        with open(source, "w") as f:
            f.write(text)
        subprocess.run(["gcc", "-O2", f"-I{os.environ['SOURCE']}/include", *flags, "-o", made, source], check=True)
        return survey(made)

    def test_an_object_without_functions(self):
        """The object has neither symbols nor .eh_frame."""
        o = self.made(".s", ".globl _start\n_start: mov $60,%eax\nxor %edi,%edi\nsyscall\n", "-nostdlib", "-static", "-s")
        self.assertEqual(o["refused"], "no-functions")

    def test_our_own_sites_and_slots(self):
        """Where hodo's own site is in an entry's window, a probe is by a trap; a slot is not touched."""
        sites = self.made(".c", '#include <hodo/trace.h>\nvoid f(void) { HODO_MARK("a", "b", "c"); }\n'
                                "int main(void) { f(); return 0; }\n")
        self.assertIn("site", reasons(sites))
        slots = self.made(".c", "int g(int a) { return a + 1; }\nint main(int n, char **v) { return g(n); }\n",
                          "-fpatchable-function-entry=16,0")
        self.assertGreaterEqual(reasons(slots)["site"]["entries"]["none"], 1)

    def test_restartable_sequences(self):
        """Doctor finds them by their section, whose addresses are relocations."""
        o = self.made(".s", """
            .globl f
            .type f,@function
            f: push %rbx; push %rbp; push %rax; push %rcx; push %rdx; ret
            1: .size f,.-f
            .section __rseq_cs,"aw"
            .long 0,0
            .quad f,3,1b
            """, "-shared", "-nostdlib")
        self.assertEqual(reasons(o)["rseq"]["entries"]["none"], 1)

    def test_signal_trampolines(self):
        """Doctor finds them by their frame descriptions, and libc's by its bytes, as its description begins early."""
        text = """
            .globl f
            .type f,@function
            .cfi_startproc
            .cfi_signal_frame
            f: push %rax; push %rcx; push %rdx; push %rbx; push %rsi; ret
            .cfi_endproc
            .size f,.-f
            .globl g
            .type g,@function
            nop
            g: mov $15,%rax; syscall
            .size g,.-g
            """
        o = self.made(".s", text, "-shared", "-nostdlib")
        self.assertEqual(reasons(o)["signal-frame"]["entries"]["none"], 2)

    def test_the_function_in_which_threads_are_cancelled(self):
        """__syscall_cancel_arch as libc has it since 2.41, by its name and without one."""
        text = """
            .globl NAME
            .type NAME,@function
            NAME: mov %rdi,%r11; mov %rsi,%rax; mov %rdx,%rdi; mov %rcx,%rsi; mov %r8,%rdx; mov %r9,%r10
            mov 8(%rsp),%r8; mov 16(%rsp),%r9; mov %r11,8(%rsp); BODY; ret
            .size NAME,.-NAME
            """
        for name, body in (("__syscall_cancel_arch", "nop"), ("hidden", "syscall")):
            o = self.made(".s", text.replace("NAME", name).replace("BODY", body), "-shared", "-nostdlib")
            self.assertEqual(reasons(o)["cancellation"]["entries"]["none"], 1)

    def test_what_is_no_object(self):
        path = os.path.join(self.dir, "text")
        with open(path, "w") as f:
            f.write("no ELF")
        for wrong in (path, os.path.join(self.dir, "nowhere"), self.dir):
            done = run(HODO, "doctor", wrong)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"^hodo: .*\n$")

    def test_a_process(self):
        sleeping = subprocess.Popen(["sleep", "1000"])
        try:
            said = json.loads(run(HODO, "doctor", "--json", sleeping.pid).stdout)
            text = run(HODO, "doctor", sleeping.pid).stdout
        finally:
            sleeping.kill()
            sleeping.wait()
        found = {os.path.basename(o["object"]): o for o in said["objects"]}
        self.assertGreater(found["libc.so.6"]["entries"]["jump"], 1000)
        self.assertEqual(len(found), len(said["objects"]))
        self.assertRegex(text, r"(?m)^ *[0-9,]+ .* /.*/libc\.so\.6$")

    def test_a_program_by_its_name(self):
        """A name is looked up as a shell does."""
        said = json.loads(run(HODO, "doctor", "--json", "sleep").stdout)
        self.assertTrue(said["objects"][0]["object"].endswith("/sleep"))


main()
