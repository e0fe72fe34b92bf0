#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo pack and hodo unpack: unpacking restores all, every verb reads archives, and hostile ones lead nowhere."""
import base64
import glob
import io
import json
import os
import re
import shutil
import struct
import tarfile
import zlib

import hodo_test
from hodo_test import hodo, main, program, run
from planes import expand

TARGET, CALC = program("TARGET"), program("CALC")
TINY = ("-m", "64K", "--packet-size", "1K")
BLOCK = 512


def contents(path):
    """{name: bytes} of all files below."""
    found = {}
    for folder, _, files in os.walk(path):
        for name in files:
            with open(os.path.join(folder, name), "rb") as f:
                found[os.path.relpath(os.path.join(folder, name), path)] = f.read()
    return found


def read(path):
    with open(path, "rb") as f:
        return f.read()


def view_slices(page):
    """How many events the page has, by the head of its data (tests/world/browser tests all of it)."""
    data = zlib.decompress(base64.b64decode(re.search(rb'id="hodo-main">([A-Za-z0-9+/=]*)<', page).group(1)))
    return json.loads(data[16:16 + struct.unpack_from("<I", data, 12)[0]])["tables"]["slices"]["n"]


class Case(hodo_test.Case):
    def setUp(self):
        super().setUp()
        self.packed = self.data + ".hodo"

    def pack(self, *options, status=0):
        done = self.hodo("pack", "-q", "-f", self.data, *options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def unpacked(self, path=None):
        out = self.path("out")
        shutil.rmtree(out, ignore_errors=True)
        self.assertEqual(self.hodo("unpack", "-q", "-o", out, path or self.packed).stderr, "")
        return out


class Whole(Case):
    def test_back(self):
        """Byte for byte, whatever a recording contains."""
        for args in ((TARGET, 3000, 2, 2, 100), ("--functions", CALC, "2*(3+4)"),
                     (*TINY, "--rotate", "20K", TARGET, 5000, 1, 0, 100),
                     ("--packet-size", "4M", "-m", "32M", TARGET, 9)):
            with self.subTest(args=args):
                self.record(*args)
                self.pack()
                out = self.unpacked()
                self.assertEqual(contents(out), contents(self.data))
                self.assertEqual(self.check_trace(recording=out), self.check_trace())

    def test_compressed(self):
        """A compressed recording and its original make the same archive, and unpack the same."""
        self.record("--compress", "--functions", *TINY, CALC, *["(1+2)*3"] * 40)
        self.pack()
        out = self.unpacked()
        self.assertFalse([n for n in contents(out) if n.endswith(".zst")])
        self.assertTrue([n for n in contents(out) if n.startswith(".symbols/")])
        self.assertEqual(contents(self.unpacked(self.data)), contents(out))
        self.check_trace(recording=out)
        first = read(self.packed)
        shutil.rmtree(self.data)
        os.rename(out, self.data)
        self.pack()
        self.assertEqual(read(self.packed), first)

    def test_deterministic(self):
        self.record(*TINY, "--rotate", "20K", TARGET, 5000, 2, 1, 100)
        self.pack()
        copy = self.path("copy")
        for name, data in sorted(contents(self.data).items(), key=lambda x: hash(x)):
            path = os.path.join(copy, name)
            os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
            with open(path, "wb") as f:
                f.write(data)
            os.utime(path, (len(data), len(data)))
            os.chmod(path, 0o644)
            if os.geteuid() == 0:
                os.chown(path, 12345, 12345)
        self.assertEqual(self.hodo("pack", "-q", copy).returncode, 0)
        self.assertEqual(read(copy + ".hodo"), read(self.packed))

    def test_tar(self):
        """It is an archive of compressed files, which tar and zstd can read."""
        self.record("--functions", CALC, "1+2")
        self.pack()
        os.mkdir(self.path("tar"))
        run("tar", "xf", self.packed, "-C", self.path("tar"), status=0)
        with open(self.path("tar", ".hodo"), encoding="ascii") as f:
            self.assertEqual(f.read(), "hodo-pack 1\n")
        os.remove(self.path("tar", ".hodo"))
        expand(*glob.glob(self.path("tar", "*", "*.zst")), *glob.glob(self.path("tar", ".symbols", "*.zst")))
        self.assertEqual(contents(self.path("tar")), contents(self.data))

    def test_messages(self):
        self.record(TARGET, 100, 1, 0, 0)
        self.fails(2, "-o must be a file", "pack", "-o", "-", self.data)
        self.fails(1, "no such recording", "pack", self.path("none"))
        self.fails(1, "not a packed recording", "unpack", TARGET)
        self.fails(2, "give a file that 'hodo pack' made", "unpack")
        done = self.hodo("pack", self.data)
        self.assertRegex(done.stderr, rf"\Ahodo: [\d.]+ KiB in {self.packed}\n\Z")
        self.fails(1, "is already packed", "pack", self.packed)
        self.fails(1, "exists", "unpack", self.packed)
        self.fails(1, "exists", "pack", "-o", self.packed, self.data)
        os.rename(self.data, self.path("before"))
        done = self.hodo("unpack", self.packed)
        self.assertRegex(done.stderr, rf"\Ahodo: [\d.]+ KiB in {self.data}\n\Z")
        self.assertEqual(contents(self.data), contents(self.path("before")))

    def test_file_beside_the_recording(self):
        """A packed recording is replaced without asking; what somebody else put under its name is not."""
        self.record(TARGET, 100, 1, 0, 0)
        with tarfile.open(self.path("other.tar"), "w") as tar:
            tar.add(TARGET, "target")
        for mine in (b"", b"mine\n", read(self.path("other.tar"))):
            with open(self.packed, "wb") as f:
                f.write(mine)
            self.fails(1, "exists, and 'hodo pack' did not make it: give --force", "pack", self.data)
            self.assertEqual(read(self.packed), mine)
        self.pack()
        whole = read(self.packed)
        for level in (1, 6):
            self.assertEqual(self.hodo("pack", "-q", "-l", level, self.data).returncode, 0)
        self.assertEqual(read(self.packed), whole)
        os.remove(self.packed)
        with open(self.path("precious"), "wb") as f:
            f.write(whole)
        os.symlink("precious", self.packed)
        self.fails(1, "is a symbolic link: give --force", "pack", self.data)
        self.assertTrue(os.path.islink(self.packed))

    def test_being_written(self):
        go = self.path("go")
        recorder = self.recorder("sh", "-c", f"{TARGET} 10; touch up; while [ ! -e {go} ]; do sleep 0.01; done")
        hodo_test.wait_for("the command", lambda: os.path.exists(self.path("up")) and self.hodo(
            "stat", "-q", self.data).returncode == 0)
        self.fails(1, "it is being written", "pack", "-q", self.data)
        with open(go, "w", encoding="ascii"):
            pass
        recorder.done()
        self.pack()

    def test_guests(self):
        """Files that are not the recording's are left out; hodo pack does not follow links."""
        self.record(TARGET, 100, 1, 0, 0)
        before = contents(self.data)
        os.symlink("/etc/passwd", os.path.join(self.data, self.folders()[0], "link"))
        os.mkfifo(os.path.join(self.data, "fifo"))
        self.pack()
        self.assertEqual(contents(self.unpacked()), before)
        self.assertIn("2 files in it do not belong to a recording", self.hodo("pack", "-f", self.data).stderr)
        os.unlink(os.path.join(self.data, "fifo"))
        self.assertIn("1 file in it does not belong to a recording", self.hodo("pack", "-f", self.data).stderr)


class Read(Case):
    VERBS = (("print", "--json"), ("print",), ("stat", "--json"), ("report", "--json"), ("graph",), ("list",),
             ("list", "--functions")) + tuple(("export", "--to", f, "-o", "-") for f in (
                 "perfetto", "chrome", "csv", "folded", "callgrind", "speedscope", "pprof"))

    def same(self, args, verbs):
        self.record(*args)
        self.pack()
        here = self.path("same")
        said = []
        for path in (self.data, self.packed):
            os.rename(path, here)
            said.append([(v, self.hodo(*v, here, text=False)) for v in verbs])
            os.rename(here, path)
        for (verb, a), (_, b) in zip(*said):
            with self.subTest(verb=verb):
                self.assertEqual(a.returncode, b.returncode, b.stderr)
                self.assertEqual(a.stdout, b.stdout)
                self.assertGreater(len(b.stdout), 0)
        self.same_info()

    def same_info(self):
        """hodo info says the same, except for the sizes of files, which are those in the archive."""
        def without_sizes(value):
            if isinstance(value, dict):
                return {k: without_sizes(v) for k, v in value.items() if k != "bytes"}
            return [without_sizes(v) for v in value] if isinstance(value, list) else value

        whole, packed = hodo_test.info(self.data), hodo_test.info(self.packed)
        self.assertEqual(without_sizes(packed), without_sizes(whole))
        self.assertGreater(sum(p["recorded"] for p in packed["processes"]), 0)
        for process in packed["processes"]:
            self.assertGreater(process["bytes"], 0)
        text = [re.sub(r" +[\d.,]+ (bytes|[KM]iB)", " SIZE", self.ok("info", path))
                for path in (self.data, self.packed)]
        self.assertEqual(*text)
        self.assertIn(" SIZE", text[0])

    def test_functions(self):
        """With the names of functions from the archive, where the program is missing."""
        calc = self.path("calc")
        shutil.copy(CALC, calc)
        self.record("--functions", calc, *["2*(3+4)"] * 20)
        self.pack()
        os.remove(calc)
        self.assertRegex(self.ok("report", self.packed), r" atom\n")
        self.same(("--functions", CALC, *["2*(3+4)*(1+2+3)"] * 50), self.VERBS)

    def test_parts(self):
        self.same((*TINY, "--rotate", "20K", TARGET, 5000, 2, 1, 100),
                  (("print", "--json"), ("stat", "--json"), ("list",)))

    def test_packed_parts(self):
        """Parts that are packed one by one are one recording; a damaged one is named, and the others are read."""
        self.record(*TINY, "--rotate", "8K", "--functions", CALC, *["(1+2)*3"] * 400)
        parts = [n for n in self.folders() if n.startswith("part-")]
        self.assertGreater(len(parts), 3)
        whole = self.ok("print", self.data)
        report = self.ok("report", "--json", self.data)
        os.mkdir(self.path("parts"))
        for name in parts:
            self.ok("pack", "-q", "-o", self.path("parts", name + ".hodo"), os.path.join(self.data, name))
        os.symlink("/etc/passwd", self.path("parts", "part-0000.hodo"))
        with open(self.path("parts", "part-9999.hodo"), "wb") as f:
            f.write(b"no archive")
        self.assertEqual(self.ok("print", self.path("parts")), whole)
        self.assertEqual(self.ok("report", "--json", self.path("parts")), report)
        self.assertEqual([p["name"] for p in self.info(self.path("parts"))["parts"]], parts)
        self.ok("unpack", "-q", self.path("parts"), "-o", self.path("out"))
        self.assertEqual(self.ok("print", self.path("out")), whole)
        # A directory of the same name comes first.
        shutil.copytree(os.path.join(self.data, parts[0]), self.path("parts", parts[0]))
        self.assertEqual(self.ok("print", self.path("parts")), whole)
        os.truncate(self.path("parts", parts[1] + ".hodo"), 3000)
        done = self.hodo("stat", self.path("parts"))
        self.assertIn(parts[1], done.stderr)
        self.assertIn("is cut short", done.stderr)

    def test_view(self):
        """The same page, with the events and names of functions in it."""
        self.record("--functions", CALC, *["2*(3+4)"] * 20)
        self.pack()
        pages = []
        for path in (self.data, self.packed):
            os.rename(path, self.path("same"))
            done = self.hodo("view", "-q", "-f", "-o", self.path("page.html"), self.path("same"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            pages.append(read(self.path("page.html")))
            os.rename(self.path("same"), path)
        self.assertEqual(pages[0], pages[1])
        self.assertGreater(view_slices(pages[1]), 100)

    def test_damaged(self):
        """What is left of a stream with a damaged frame is shown, with a message that it is not all."""
        self.record(*TINY, TARGET, 50000, 1, 0, 100)
        self.pack()
        with open(self.packed, "r+b") as f:
            f.seek(os.path.getsize(self.packed) // 3)
            f.write(b"damaged " * 8)
        done = self.hodo("info", "--json", self.packed)
        self.assertEqual(done.returncode, 0, done.stderr)
        left = json.loads(done.stdout)["recorded"]
        self.assertTrue(0 < left < 50000, left)
        self.assertIn("of the file are not read", done.stderr)
        done = self.hodo("view", "-f", "-o", self.path("page.html"), self.packed)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of the file are not read", done.stderr)


class Hostile(Case):
    """Archives that hodo did not write."""

    def setUp(self):
        super().setUp()
        self.record(TARGET, 100, 1, 0, 0)
        self.pack()
        with tarfile.open(self.packed) as tar:
            self.members = [(m, tar.extractfile(m).read()) for m in tar.getmembers()]
        self.good = read(self.packed)

    def write(self, members):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for info, data in members:
                info.size = len(data) if info.isreg() else 0
                tar.addfile(info, io.BytesIO(data))
        with open(self.packed, "wb") as f:
            f.write(out.getvalue())

    def unpack(self):
        """What hodo unpack makes of it; it must write nothing elsewhere."""
        jail = self.path("jail")
        shutil.rmtree(jail, ignore_errors=True)
        os.mkdir(jail)
        done = self.hodo("unpack", "-q", "-o", os.path.join(jail, "out"), self.packed)
        self.assertLessEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(os.listdir(jail), ["out"])
        for folder, dirs, files in os.walk(os.path.join(jail, "out")):
            for name in dirs + files:
                self.assertFalse(os.path.islink(os.path.join(folder, name)))
        return done, contents(os.path.join(jail, "out"))

    def test_paths(self):
        data = self.members[1][1]
        before = contents(self.data)
        for name in ("../x.zst", "/tmp/x.zst", "a/../../x.zst", "./x.zst", "a//x.zst", "a/b/c/d/e.zst", "x", ".zst",
                     "a/.zst", "..zst/..zst"):
            with self.subTest(name=name):
                self.write(sorted(self.members + [(tarfile.TarInfo(name), data)], key=lambda m: m[0].name != ".hodo"))
                done, found = self.unpack()
                self.assertEqual(done.returncode, 1)
                self.assertIn("bytes cannot be read", done.stderr)
                self.assertEqual(found, before)
                self.assertEqual(self.stat(self.packed)["recorded"], 100)

    def test_kinds(self):
        before = contents(self.data)
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            with self.subTest(kind=kind):
                info = tarfile.TarInfo("zz/cpu0.zst")
                info.type, info.linkname = kind, "/etc/passwd"
                self.write(self.members + [(info, b"")])
                done, found = self.unpack()
                self.assertEqual((done.returncode, found), (1, before))

    def test_twice(self):
        before = contents(self.data)
        self.write(self.members + self.members[1:])
        done, found = self.unpack()
        self.assertEqual((done.returncode, found), (1, before))
        self.assertIn("occurs twice", done.stderr)

    def test_file_and_folder(self):
        """One name for both a file and a folder."""
        name = self.members[-1][0].name
        self.write(self.members + [(tarfile.TarInfo(name.removesuffix(".zst") + "/x.zst"), self.members[-1][1])])
        done, _ = self.unpack()
        self.assertEqual(done.returncode, 1)
        self.assertIn("is in a file", done.stderr)

    def test_cut(self):
        for cut in range(1, len(self.good) - 2 * BLOCK, len(self.good) // 25):
            with self.subTest(cut=cut):
                with open(self.packed, "wb") as f:
                    f.write(self.good[:cut])
                done = self.hodo("stat", "-q", "--json", self.packed)
                self.assertIn(done.returncode, (0, 1))
                self.assertLessEqual(len(done.stderr.splitlines()), 1)
                if cut > 2 * BLOCK:
                    self.assertEqual(self.unpack()[0].returncode, 1)

    def test_header(self):
        """A member without a sound header is left out, and those after it are read."""
        at = self.good.index(b"metadata.zst")
        with open(self.packed, "wb") as f:
            f.write(self.good[:at] + b"X" + self.good[at + 1:])
        done, found = self.unpack()
        self.assertEqual(done.returncode, 1)
        self.assertIn("is damaged", done.stderr)
        self.assertEqual(len(found), len(contents(self.data)) - 1)

    def test_frame(self):
        """What was in a damaged frame is missing, and a message says so."""
        data = next(d for m, d in self.members if "/cpu" in m.name or "/fallback" in m.name)
        at = self.good.index(data) + len(data) // 2 - 20
        with open(self.packed, "wb") as f:
            f.write(self.good[:at] + bytes([self.good[at] ^ 0xFF]) + self.good[at + 1:])
        done = self.hodo("stat", "--json", self.packed)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"compressed data at byte \d+ is (damaged|cut short): \d+ bytes of the file")
        done, _ = self.unpack()
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 file is damaged: 'hodo recover", done.stderr)

    def test_version(self):
        with open(self.packed, "wb") as f:
            f.write(self.good.replace(b"hodo-pack 1\n", b"hodo-pack 2\n"))
        self.fails(1, "another version", "stat", "-q", self.packed)
        self.fails(1, "newer version", "unpack", self.packed)

    def test_large(self):
        """A length that goes beyond the end of the file."""
        header = bytearray(self.good[2 * BLOCK:3 * BLOCK])
        header[124:136] = b"77777777777\0"
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        with open(self.packed, "wb") as f:
            f.write(self.good[:2 * BLOCK] + header + self.good[3 * BLOCK:])
        done, _ = self.unpack()
        self.assertEqual(done.returncode, 1)


main()
