#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Static probes of <sys/sdt.h> as hodo list shows them: compared with readelf, and from damaged notes."""
import glob
import json
import os
import re

from hodo_test import Case, main, run

HEAD = """
	.text
	.globl _start
_start:	nop
	ret
	.section .stapsdt.base,"a",@progbits
base:	.space 1
	.data
count:	.short 0
	.section .note.stapsdt,"",@note
	.balign 4
"""


def note(texts, words="_start, base, 0", kind=3, name="stapsdt", size=None):
    """The assembly of one note; size: the size of the descriptor that it claims."""
    head = len(name) + 1
    desc = "".join(f'\t.asciz "{t}"\n' for t in texts)
    words = f"\t.8byte {words}\n" if words else ""
    return (f"\t.4byte {head}, {size if size is not None else '2f-1f'}, {kind}\n\t.asciz \"{name}\"\n\t.balign 4\n"
            f"1:\n{words}{desc}2:\t.balign 4\n")


def readelf_probes(path):
    """[(name, address, semaphore, arguments)] as readelf -n shows them."""
    text = run("readelf", "-nW", path, status=0).stdout
    return sorted((f"sdt:{p}:{n}", int(at, 16), int(semaphore, 16), args.split())
                  for p, n, at, _, semaphore, args in re.findall(
                      r"Provider: (\S+)\s+Name: (\S+)\s+Location: (\w+), Base: (\w+), Semaphore: (\w+)\s+"
                      r"Arguments: ?(.*)", text))


class Sdt(Case):
    def assemble(self, notes, name="probes", *flags):
        source = self.path(name + ".s")
        with open(source, "w", encoding="utf-8") as file:
            file.write(HEAD + notes)
        run("cc", "-shared", "-nostdlib", "-Wl,-Bsymbolic", *flags, "-o", self.path(name), source, status=0)
        return self.path(name)

    def probes(self, path, *options):
        return json.loads(self.ok("list", "--sdt", "--json", *options, path))["sdt"]

    def test_all_forms(self):
        args = "-4@$12 8@%rdi 8f@%xmm1 -2@%r8w 4@-20(%rbp,%rax,4) 8@sym+8(%rip) 8@%fs:mine@tpoff 8@?"
        path = self.assemble(note(["shop", "sale", args], "_start, base, count") + note(["shop", "close", ""]))
        close, sale = self.probes(path)
        self.assertEqual((close["name"], close["args"]), ("sdt:shop:close", []))
        self.assertNotIn("semaphore", close)
        self.assertEqual(sale["name"], "sdt:shop:sale")
        self.assertEqual([a["name"] for a in sale["args"]], [f"arg{i}" for i in range(1, 9)])
        self.assertEqual([a["type"] for a in sale["args"]], "i32 u64 f64 i16 u32 u64 u64 u64".split())
        self.assertEqual([a["form"] for a in sale["args"]],
                         "constant register register register memory memory memory unknown".split())
        a = sale["args"]
        self.assertEqual(a[0]["value"], 12)
        self.assertEqual([a[i]["register"] for i in (1, 2, 3)], ["rdi", "xmm1", "r8w"])
        self.assertEqual([a[4][k] for k in ("base", "index", "scale", "offset")], ["rbp", "rax", 4, -20])
        self.assertEqual([a[5][k] for k in ("base", "symbol", "offset")], ["rip", "sym", 8])
        self.assertEqual([a[6][k] for k in ("segment", "symbol", "offset")], ["fs", "mine@tpoff", 0])
        self.assertRegex(self.ok("list", path), r"(?m)^sdt:shop:sale +0x\w+ +none +\(arg1:i32 = 12, arg2:u64 %rdi, "
                         r"arg3:f64 %xmm1, arg4:i16 %r8w, arg5:u32 at -20\(%rbp,%rax,4\), arg6:u64 at sym\+8\(%rip\), "
                         r"arg7:u64 at %fs:mine@tpoff, arg8:u64 \? \(not understood\)\)  semaphore 0x\w+  "
                         r"the object has neither symbols nor \.eh_frame$")

    def test_as_readelf(self):
        """Of libraries that were installed by others, and of programs in place."""
        library = run("gcc", "-print-file-name=libstdc++.so.6", status=0).stdout.strip()
        installed = [library] if os.path.isfile(library) else []
        installed += glob.glob("/usr/lib/postgresql/*/bin/postgres") + glob.glob("/usr/bin/python3.[0-9][0-9]")
        installed.append(self.assemble(note(["shop", "sale", "8@%rdi"]) + note(["shop", "sale", "-8@%rax 4@$1"])))
        self.assertGreaterEqual(len(installed), 2)
        for path in installed:
            with self.subTest(path):
                seen = sorted((p["name"], p["addr"], p.get("semaphore", 0), [a["operand"] for a in p["args"]])
                              for p in self.probes(path))
                wanted = readelf_probes(path)
                self.assertEqual(seen, [(*p[:3], [a.split("@", 1)[1] for a in p[3]]) for p in wanted])
                for p in self.probes(path):
                    self.assertIn(p["way"], ("jump", "trap") if installed.index(path) < len(installed) - 1 else ("none",))
                    self.assertEqual("reason" in p, p["way"] != "jump", p)
                if path == library:
                    self.assertEqual(len(seen), 3)
                self.assertFalse([a for p in self.probes(path) for a in p["args"] if a["form"] == "unknown"])

    def test_moved_base(self):
        """Where sections were moved afterwards, as prelink does, .stapsdt.base says by how much."""
        path = self.assemble(note(["shop", "sale", ""], "_start - 0x100, base - 0x100, count - 0x100"))
        symbols = dict(reversed(line.split()[::2]) for line in run("nm", path, status=0).stdout.splitlines())
        probe, = self.probes(path)
        self.assertEqual((probe["addr"], probe["semaphore"]), (int(symbols["_start"], 16), int(symbols["count"], 16)))

    def test_damaged(self):
        """Whole notes are listed, and one line says how many are not whole."""
        good = note(["shop", "sale", "8@%rdi"])
        cases = {
            "no_texts": note([]), "no_words": note(["a", "b", ""], ""), "short": note([], "1, 2"),
            "unended": note(["a"]), "no_name": note(["a", "", ""]),
            "no_provider": note(["", "b", ""]), "too_long": note(["a", "b", ""], size=1 << 20),
            "huge": note(["a", "b", ""], size=0xffffffff), "cut": "\t.4byte 8, 4\n",
        }
        for name, bad in cases.items():
            with self.subTest(name):
                path = self.assemble(good + bad, name)
                done = self.hodo("list", "--sdt", path, status=0)
                self.assertEqual(done.stderr, f"hodo: warning: {path}: 1 note of static probes is damaged, and not listed\n")
                self.assertEqual(len(done.stdout.splitlines()), 1)
                self.assertEqual(self.hodo("list", "-q", "--sdt", path, status=0).stderr, "")
        path = self.assemble(good + note(["x"], "0", kind=7) + note(["x"], "0", name="other"), "foreign")
        self.assertEqual(self.hodo("list", "--sdt", path, status=0).stderr, "")

    def test_many_arguments(self):
        path = self.assemble(note(["shop", "sale", " ".join(["8@%rdi"] * 1000)]))
        self.assertEqual(len(self.probes(path)[0]["args"]), 32)

    def test_none(self):
        path = self.assemble("")
        done = self.hodo("list", "--sdt", path, status=0)
        self.assertIn("has no static probes", done.stderr)
        self.assertEqual(self.probes(path), [])
        self.assertEqual(self.hodo("list", "--sdt", "--events", path).returncode, 2)

    def test_of_a_process(self):
        """A process that does not listen: the probes of all that it has mapped."""
        process = self.start("sleep", "1000")
        done = self.hodo("list", "--sdt", "--json", process.pid, status=0)
        self.assertIn("sdt", json.loads(done.stdout))


main()
