#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_sym.py [CASE...]: symbols of files, compared with readelf, c++filt and addr2line.

SYMBOLIZE (symbolize.c) is in the environment; CC_CXX and CLANG_CXX name compilers, the second may be empty.
"""
import errno
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import hodo_test
from hodo_test import main, program

SYMBOLIZE, CXX, CLANG = program("SYMBOLIZE"), program("CC_CXX"), program("CLANG_CXX")
HERE = pathlib.Path(__file__).resolve().parent
PART = re.compile(r"\.(cold|part|isra|constprop|lto_priv|localalias|clone)(\.\d+)?$")


def run(*args, **how):
    return hodo_test.run(*args, status=0, **how).stdout


def symbolize(addresses, *args, expect=0):
    """address -> (name, mangled, start, size, file, line), or the error number."""
    done = hodo_test.run(SYMBOLIZE, *args, input="".join(f"{a:x}\n" for a in addresses))
    if expect:
        return done.returncode
    if done.returncode != 0:
        raise AssertionError(f"{args}: {errno.errorcode.get(done.returncode)} {done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        address, name, mangled, start, size, file, number = line.split("\t")
        found[int(address, 16)] = (name, mangled, int(start, 16) if start != "-" else None, size, file, number)
    return found


def symbols(path):
    """(start, size, mangled) of the functions in .symtab, as readelf prints them."""
    found = []
    table = run("readelf", "-sW", path).split("Symbol table '.symtab'")[1]
    for line in table.splitlines():
        words = line.split()
        if len(words) == 8 and words[3] in ("FUNC", "IFUNC") and words[6] != "UND":
            found.append((int(words[1], 16), int(words[2], 0), words[7]))
    return found


def bases(mangled):
    """f.isra.0 and f for f.isra.0.cold."""
    found = []
    while PART.search(mangled):
        mangled = PART.sub("", mangled)
        found.append(mangled)
    return found


def base(mangled):
    return (bases(mangled) or [mangled])[-1]


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path))[1]


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="hodo-sym-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def build(self, *options, compiler=None, name="names"):
        path = self.dir / name
        # From the folder above the sources: clang then names them by their path from there.
        run(compiler or CXX, "-O2", "-g", "-Wl,--build-id", *options, "-o", path, HERE / "names.cc",
            HERE / "names2.cc", cwd=HERE.parent)
        return path


class Names(Case):
    def check(self, path):
        """Each symbol's first and last byte have its name: of several names, one that readelf also has."""
        table = symbols(path)
        sized = [s for s in table if s[1] > 0]
        found = symbolize([a for start, size, _ in sized for a in (start, start + size - 1)], "-p", path)
        whole = {}
        for start, _, mangled in table:
            whole.setdefault(mangled, set()).add(start)
        mangled = sorted({m for _, _, m in sized})
        # -i: std::string is written like this, as nm does
        plain = run("c++filt", "-i", input="".join(base(m) + "\n" for m in mangled)).splitlines()
        names = dict(zip(mangled, plain, strict=True))
        checked = 0
        for start, size, mangled in sized:
            here = {m for s, _, m in sized if s == start}
            for at in (start, start + size - 1):
                got = found[at]
                # A part has one of the names of its function.
                there = {m for s, _, m in sized if s == got[2]}
                self.assertIn(got[0], {names[m] for m in here | there}, mangled)
                # f.isra.0.cold belongs to f; if there is no f, to f.isra.0.
                of = [b for b in bases(mangled) if b in whole]
                if of:
                    self.assertIn(got[2], whole[of[-1]], mangled)
                    self.assertNotEqual(got[2], start, mangled)
                elif len(here) == 1:
                    self.assertEqual(got[2], start, mangled)
                checked += 1
        self.assertGreater(checked, 30)
        return found, table

    def test_gcc(self):
        found, table = self.check(self.build())
        names = {f[0] for f in found.values()}
        self.assertLessEqual({
            "main", "plain_c", "second(int)", "same(int)", "shop::refund(int)", "shop::complain(int)",
            "shop::operator<(std::vector<int, std::allocator<int> > const&, long)"}, names)
        self.assertTrue(any("{lambda(int)#1}::operator()(int) const" in n for n in names), names)
        self.assertTrue(any(re.match(r"shop::inner::Shelf<std::.*, 3>::~Shelf\(\)$", n) for n in names), names)
        self.assertTrue(any(m.endswith(".cold") for _, _, m in table), "gcc makes no part any more")

    def test_same_name_in_two_files(self):
        """Each f.cold belongs to the f in the same file."""
        path = self.build()
        colds = [s for s in symbols(path) if s[2] == "_ZL4samei.cold"]
        sames = [s for s in symbols(path) if s[2] == "_ZL4samei"]
        self.assertEqual((len(colds), len(sames)), (2, 2))
        found = symbolize([s[0] for s in colds + sames], "-p", path)
        self.assertEqual({found[s[0]][2] for s in colds}, {s[0] for s in sames})
        lines = run("addr2line", "-e", path, *[hex(s[0]) for s in colds + sames]).splitlines()
        for cold, line in zip(colds, lines):
            file = pathlib.Path(line.split(":")[0]).name
            mine = [s for s, other in zip(sames, lines[2:]) if pathlib.Path(other.split(":")[0]).name == file]
            if len(mine) == 1: # the part may begin in a header
                self.assertEqual(found[cold[0]][2], mine[0][0])

    def test_ways_to_link(self):
        self.check(self.build("-no-pie", "-fno-pie"))
        self.check(self.build("-flto", "-fwhole-program" if "g++" in CXX else "-flto"))
        self.check(self.build("-static"))
        self.check(self.build("-O3", "-fipa-sra", "-fipa-cp"))

    def test_clang(self):
        if not CLANG:
            self.skipTest("there is no clang")
        self.check(self.build(compiler=CLANG))
        self.check(self.build("-mllvm", "-hot-cold-split=true", compiler=CLANG))

    def test_nothing_there(self):
        path = self.build()
        end = max(start + size for start, size, _ in symbols(path))
        self.assertEqual(symbolize([end + (1 << 30)], "-p", path)[end + (1 << 30)][0], "-")


class Lines(Case):
    def check(self, path, *args):
        starts = sorted({s[0] for s in symbols(path) if s[1] > 0})
        addresses = starts + [a + 1 for a in starts]
        found = symbolize(addresses, *(args or ("-p", path)))
        said = run("addr2line", "-e", path, *[hex(a) for a in addresses]).splitlines()
        known = 0
        for address, line in zip(addresses, said):
            file, number = re.sub(r" \(discriminator \d+\)", "", line).rsplit(":", 1)
            got = found[address]
            if file == "??" or number in ("?", "0"):
                continue
            self.assertEqual((os.path.normpath(got[4]), got[5]), (os.path.normpath(file), number), hex(address))
            known += 1
        self.assertGreater(known, 20)
        return found

    def test_dwarf(self):
        for options in (["-gdwarf-5"], ["-gdwarf-4"], ["-gdwarf-5", "-gz=zlib"], ["-gdwarf-4", "-gz=zlib-gnu"],
                        ["-gdwarf-5", "-ffunction-sections", "-no-pie", "-fno-pie"]):
            with self.subTest(options):
                self.check(self.build(*options))

    def test_clang(self):
        if not CLANG:
            self.skipTest("there is no clang")
        for options in (["-gdwarf-5"], ["-gdwarf-4"]): # neither has .debug_aranges
            with self.subTest(options):
                self.check(self.build(*options, compiler=CLANG))

    def test_none(self):
        path = self.build("-g0")
        found = symbolize([s[0] for s in symbols(path) if s[2] == "main"], "-p", path)
        self.assertEqual([(f[0], f[4]) for f in found.values()], [("main", "-")])


class Separate(Case):
    """Stripped files."""

    def strip(self, path):
        debug = self.dir / "debug-file"
        run("objcopy", "--only-keep-debug", path, debug)
        full = self.dir / "full"
        shutil.copy(path, full)
        run("strip", path)
        return full, debug

    def check(self, path, full, *args):
        table = [s for s in symbols(full) if s[1] > 0]
        mine = [s for s in table if "4same" in s[2] or "shop" in s[2]]
        want = symbolize([s[0] for s in mine], "-p", full)
        got = symbolize([s[0] for s in mine], *(args or ("-p", path)))
        self.assertEqual(want, got)
        self.assertTrue(any(f[0] == "same(int)" and f[4] != "-" for f in got.values()))

    def test_by_build_id(self):
        path = self.build()
        full, debug = self.strip(path)
        self.assertEqual(symbolize([], "-p", path, "-r", self.dir / "root", expect=1), errno.ENODATA)
        ident = build_id(path)
        place = self.dir / "root" / ".build-id" / ident[:2] / (ident[2:] + ".debug")
        place.parent.mkdir(parents=True)
        shutil.copy(debug, place)
        self.check(path, full, "-p", path, "-r", self.dir / "root")
        # Then nothing is needed from the file itself.
        self.check(path, full, "-p", path, "-b", ident, "-r", self.dir / "root")
        path.unlink()
        self.check(path, full, "-p", path, "-b", ident, "-r", self.dir / "root")
        # The file of another build is not used.
        run("objcopy", "--only-keep-debug", self.build("-O1", name="other"), place)
        self.assertEqual(symbolize([0], "-p", path, "-b", ident, "-r", self.dir / "root", expect=1), errno.ENOENT)

    def test_by_link(self):
        for folder in (".", ".debug"):
            for ident in ("sha1", "none"):
                with self.subTest((folder, ident)):
                    path = self.build(f"-Wl,--build-id={ident}")
                    full, debug = self.strip(path)
                    (self.dir / folder).mkdir(exist_ok=True)
                    place = self.dir / folder / "names.debug"
                    shutil.copy(debug, place)
                    run("objcopy", f"--add-gnu-debuglink={place}", path)
                    self.check(path, full)
                    # Another file with that name is not a debug file of this one.
                    run("objcopy", "--only-keep-debug", self.build("-O1", f"-Wl,--build-id={ident}", name="other"),
                        place)
                    self.assertEqual(symbolize([], "-p", path, expect=1), errno.ENODATA)
                    place.unlink()

    def test_wrong_build(self):
        path = self.build()
        self.assertEqual(symbolize([0], "-p", path, "-b", "00" * 20, expect=1), errno.ESTALE)
        self.assertEqual(symbolize([0], "-p", self.dir / "none", expect=1), errno.ENOENT)
        (self.dir / "text").write_text("no ELF file")
        self.assertEqual(symbolize([0], "-p", self.dir / "text", expect=1), errno.EBADMSG)
        os.mkfifo(self.dir / "fifo")
        self.assertEqual(symbolize([0], "-p", self.dir / "fifo", expect=1), errno.EBADMSG)


class Saved(Case):
    def test_says_the_same(self):
        path = self.build()
        table = [s for s in symbols(path) if s[1] > 0]
        addresses = sorted({a for start, size, _ in table for a in (start, start + size - 1)})
        want = symbolize(addresses, "-p", path, "-w", self.dir / "saved")
        lines = symbolize([want[a][2] for a in addresses], "-p", path)
        ident = build_id(path)
        path.unlink()
        got = symbolize(addresses, "-p", path, "-b", ident, "-s", self.dir / "saved")
        for a in addresses:
            self.assertEqual(got[a][:4], want[a][:4])
        starts = {s[0] for s in table}
        for a in starts & {f[2] for f in got.values()}:
            self.assertEqual(got[a][4:], lines[a][4:], hex(a))
        # Saved again, from the saved symbols.
        symbolize([], "-s", self.dir / "saved", "-w", self.dir / "again")
        head = re.compile(r"(?m)^path .*\n")
        self.assertEqual(head.sub("", (self.dir / "again").read_text()),
                         head.sub("", (self.dir / "saved").read_text()).replace("build_id " + ident, "build_id "))

    def test_of_another_build_or_damaged(self):
        path = self.build()
        symbolize([], "-p", path, "-w", self.dir / "saved")
        good = (self.dir / "saved").read_text()
        ident = build_id(path)
        main = next(s[0] for s in symbols(path) if s[2] == "main")
        self.assertEqual(symbolize([0], "-b", "11" * 20, "-s", self.dir / "saved", expect=1), errno.ENOENT)
        for bad in (good[:len(good) // 2], good.replace("hodo-symbols 1", "hodo-symbols 2"),
                    good.replace("end ", "end 9"), good + "s 1 1 - 0 late\n", "", "\0" + good,
                    re.sub(r"(?m)^s (\S+) (\S+) (\d+) ", r"s \1 \2 99999 ", good)):
            (self.dir / "bad").write_text(bad)
            self.assertEqual(symbolize([0], "-b", ident, "-s", self.dir / "bad", expect=1), errno.ENOENT)
            # The file on this machine serves as well.
            self.assertEqual(symbolize([main], "-p", path, "-s", self.dir / "bad")[main][0], "main")

    def test_of_another_path(self):
        """Without a build-id, saved files of two paths may have the same name, a hash."""
        path = self.build("-Wl,--build-id=none")
        main = next(s[0] for s in symbols(path) if s[2] == "main")
        symbolize([], "-p", path, "-w", self.dir / "saved")
        path.unlink()
        self.assertEqual(symbolize([main], "-p", path, "-s", self.dir / "saved")[main][0], "main")
        self.assertEqual(symbolize([0], "-p", self.dir / "other", "-s", self.dir / "saved", expect=1), errno.ENOENT)


main()
