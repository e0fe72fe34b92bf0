#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Symbols by build-id from directories: what hodo symbols pull and push copy, and how readers use it."""
import fcntl
import os
import pathlib
import re
import shutil
import stat

import symbols_case
from hodo_test import HODO, main, run, wait_for
from symbols_case import BUILT, files


class Directory(symbols_case.Case):
    """Pushed where the program was built, pulled where the recording is read."""

    def test_names_and_lines(self):
        self.check_unnamed()
        said = self.hodo("report", "trace", status=0).stderr
        self.assertRegex(said, r"(?m)^hodo: warning: \S+/run/app: 1 function is shown by address, .*: get its symbols "
                               r"with 'hodo symbols pull', or ")
        self.assertNotIn("app.c", self.ok("export", "--to", "callgrind", "-o", "-", "trace"))
        done = self.hodo("symbols", "push", "there", "full/app", "full/libshared.so", status=0)
        self.assertRegex(done.stderr, r"\Ahodo: 4 files, [\d.]+ KiB, in there\n\Z")
        done = self.pull("there", "trace", status=0)
        self.assertRegex(done.stderr, rf"\Ahodo: 2 files, [\d.]+ KiB, in {re.escape(self.store)}\n\Z")
        self.assertEqual(files(self.store), {f"buildid/{self.ids[name]}/debuginfo": files(self.path("full"))[name]
                                             for name in BUILT})
        self.check_named()
        self.assertNotIn("by address", self.hodo("report", "trace", status=0).stderr)
        for verb in ("report", "graph", "print"):
            self.assertIn("hidden_shared", self.ok(verb, "trace"), verb)
        lines = self.ok("export", "--to", "callgrind", "-o", "-", "trace")
        self.assertRegex(lines, r"fl=\(\d+\) \S*/tests/verb/symbols/app\.c\n")
        self.assertRegex(lines, r"fl=\(\d+\) \S*/tests/verb/symbols/shared\.c\n")

    def test_again(self):
        self.hodo("symbols", "push", "again", "full", status=0)
        self.assertEqual(self.hodo("symbols", "push", "again", "full", status=0).stderr,
                         "hodo: 4 files were already in again\n")
        self.pull("again", "trace", status=0)
        self.assertEqual(self.pull("again", "trace", status=0).stderr,
                         f"hodo: 2 files were already in {self.store}\n")

    def test_some_are_missing(self):
        self.hodo("symbols", "push", "some", "full/app", status=0)
        done = self.pull("some", "trace", status=0)
        self.assertIn(f"hodo: warning: some: no symbols of libshared.so, build-id {self.ids['libshared.so']}\n",
                      done.stderr)
        self.assertEqual(self.names(), (symbols_case.NAMES - {"hidden_shared"}, True))
        # Later they are there: only what is missing is copied.
        self.hodo("symbols", "push", "some", "full", status=0)
        self.assertIn("1 file, ", self.pull("some", "trace", status=0).stderr)
        self.check_named()

    def test_none_are_there(self):
        os.mkdir(self.path("empty"))
        self.fails("empty: no symbols of ", "pull", "empty", "trace")
        self.fails("No such file or directory", "pull", "nowhere", "trace")
        self.assertEqual(list(os.walk(self.store))[1:], [(os.path.join(self.store, "buildid"), [], [])])

    def test_together(self):
        """Several at once, which wait for each other; and all report what is missing."""
        self.hodo("symbols", "push", "together", "debug/libshared.so", status=0)
        for _ in range(4):
            pulls = [self.start(HODO, "symbols", "pull", "together", "trace", stderr=-1) for _ in range(6)]
            for pull in pulls:
                said = pull.communicate(timeout=600)[1]
                self.assertEqual(pull.returncode, 0, said)
                self.assertIn("together: no symbols of app", said)
            self.assertEqual(files(self.store), {f"buildid/{self.ids['libshared.so']}/debuginfo":
                                                 files(self.path("debug"))["libshared.so"]})
            shutil.rmtree(self.store)

    def test_another_gives_up(self):
        """While we wait for the lock, its owner removes its file, and the folder."""
        self.hodo("symbols", "push", "waited-for", "full/app", status=0)
        folder = self.path(self.store, "buildid", self.ids["app"])
        part = os.path.join(folder, f".debuginfo.{os.geteuid()}.part")
        os.makedirs(folder)
        with open(part, "wb") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            pull = self.start(HODO, "symbols", "pull", "waited-for", "trace", stderr=-1)
            waits = re.compile(rf"-> FLOCK +ADVISORY +WRITE +{pull.pid} ")
            wait_for("a process that waits for the lock",
                     lambda: waits.search(pathlib.Path("/proc/locks").read_text(encoding="ascii")))
            os.unlink(part)
            os.rmdir(folder)
        said = pull.communicate(timeout=600)[1]
        self.assertEqual(pull.returncode, 0, said)
        self.assertEqual(os.listdir(folder), ["debuginfo"])

    def test_packed_recording(self):
        self.hodo("pack", "-q", "-o", "packed.hodo", "trace", status=0)
        self.hodo("symbols", "push", "for-packed", "full", status=0)
        self.check_unnamed(recording="packed.hodo")
        self.pull("for-packed", "packed.hodo", status=0)
        self.check_named(recording="packed.hodo")

    def test_debug_files(self):
        """Each file in its place; only the debug file gives the names."""
        self.hodo("symbols", "push", "split", "debug", "stripped", status=0)
        want = {f"buildid/{self.ids[name]}/{kind}": files(self.path(folder))[name] for name in BUILT
                for folder, kind in (("debug", "debuginfo"), ("stripped", "executable"))}
        self.assertEqual(files(self.path("split")), want)
        self.pull("split", "trace", status=0)
        self.assertEqual({os.path.basename(name) for name in self.names_of_files()}, {"debuginfo"})
        self.check_named()

    def test_as_packages_have_them(self):
        for name in BUILT:
            folder = self.path("packages", ".build-id", self.ids[name][:2])
            os.makedirs(folder, exist_ok=True)
            shutil.copy(self.path("debug", name), os.path.join(folder, f"{self.ids[name][2:]}.debug"))
        self.pull("packages", "trace", status=0)
        self.check_named()

    def test_of_a_recording(self):
        """Finds the recording's programs on this machine, if they are the ones that ran."""
        self.fails("none of the 2 programs and libraries", "push", "of-recording", "trace")
        shutil.copytree(self.path("full"), self.path("run"))
        try:
            self.hodo("symbols", "push", "of-recording", "trace", status=0)
        finally:
            shutil.rmtree(self.path("run"))
        self.assertEqual(len(self.names_of_files(self.path("of-recording"))), 4)

    def test_another_store(self):
        self.hodo("symbols", "push", "for-other", "full", status=0)
        self.pull("-o", "other", "for-other", "trace", status=0)
        self.assertFalse(os.path.exists(self.store))
        self.check_unnamed()
        self.check_named(env={"HODO_SYMBOLS": self.path("other")})
        # Without HODO_SYMBOLS, the files are in the user's cache.
        env = {"HODO_SYMBOLS": "", "XDG_CACHE_HOME": self.path("own-cache")}
        self.pull("for-other", "trace", status=0, env=env)
        self.assertEqual(len(self.names_of_files(self.path("own-cache", "hodo", "symbols"))), 2)
        self.check_named(env=env)

    def test_usage(self):
        for words, args in (("give 'pull' or 'push' first", ()), ("give 'pull' or 'push' first", ("fetch", "x")),
                            ("'pull' takes a directory", ("pull",)), ("no address with http", ("push", "ftp://x", "y")),
                            ("-o is where 'pull' writes", ("push", "-o", "x", "y")),
                            ("--max-size is for what 'pull' gets", ("push", "--max-size", "1K", "x", "full")),
                            ("'trace' is a recording: give the directory or server first", ("push", "trace", "x")),
                            ("'trace' is a recording: give the directory or server first", ("pull", "trace", "x"))):
            self.fails(words, *args, status=2)


class Stack(symbols_case.Case):
    """A saved stack is unwound with the program's own file, which is then pulled, too."""
    RECORD = ("-e", "app:*", "--context", "stack")

    def callers(self):
        return re.findall(r"\b(main|shown_outer|hidden_inner)\b", self.ok("print", "trace"))

    def test_callers(self):
        self.assertEqual(self.callers(), [])
        self.hodo("symbols", "push", "there", "debug", "stripped", status=0)
        self.pull("there", "trace", status=0)
        self.assertIn(f"buildid/{self.ids['app']}/executable", self.names_of_files())
        self.assertEqual(self.callers(), ["hidden_inner", "shown_outer", "main"])


class Files(symbols_case.Case):
    """Files without a build-id."""

    def test_no_build_id(self):
        run("objcopy", "--remove-section=.note.gnu.build-id", self.path("full", "app"), self.path("nameless"), status=0)
        self.fails("nameless: has no build-id", "push", "there", "nameless")

    def test_recorded_without(self):
        self.build("without", 1, ids="none")
        self.hodo("record", "-q", "--functions", "-o", "nameless-trace", "--", "without/app", status=0)
        os.makedirs(self.path("there"), exist_ok=True)
        self.fails("have no build-ids: build them with -Wl,--build-id", "pull", "there", "nameless-trace")

    def test_nothing_to_push(self):
        """A recording that names no programs."""
        self.hodo("record", "-q", "-o", "events-alone", "--", self.path("full", "app"), status=0)
        self.fails("events-alone: nothing was recorded in it that has functions or callers", "push", "there",
                   "events-alone")

    def test_others(self):
        with open(self.path("text"), "w", encoding="ascii") as f:
            f.write("text\n")
        self.fails("text: neither a recording nor an ELF file", "push", "there", "text")
        self.fails("No such file", "push", "there", "nothing")
        os.makedirs(self.path("nothing-in-it", "deep"))
        self.fails("no program, library or debug file", "push", "there", "nothing-in-it")
        self.assertFalse(os.path.exists(self.path("there", "buildid")))

    def test_cut_short(self):
        whole = files(self.path("full"))["app"]
        with open(self.path("cut"), "wb") as f:
            f.write(whole[:len(whole) * 2 // 3])
        self.fails("cut: the file is cut short", "push", "there", "cut")


class Hostile(symbols_case.Case):
    """A directory that somebody else has filled."""

    def place(self, folder, name, data, kind="debuginfo"):
        path = self.path(folder, "buildid", self.ids[name], kind)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)

    def refused(self, folder, words):
        """The app's file is refused; that the library is not there at all is another line."""
        done = self.pull(folder, "trace")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"hodo: warning: {folder}: the debuginfo of app, build-id {self.ids['app']} is {words}: not used\n",
                      done.stderr)
        self.assertEqual(done.stderr.count("not used"), 1)

    def test_stripped(self):
        """A file without symbols is not debuginfo: neither one that is pulled, nor one that is in the store."""
        stripped = files(self.path("stripped"))
        for name in BUILT:
            self.place("bare", name, stripped[name])
        for _ in range(2):
            done = self.pull("bare", "trace")
            self.assertEqual(done.returncode, 1)
            for name in BUILT:
                self.assertIn(f"bare: the debuginfo of {name}, build-id {self.ids[name]} is stripped, without symbols: not "
                              "used\n", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 2)
            self.assertEqual(self.names_of_files(), set())
        # The next source is the executable.
        self.place("bare", "app", files(self.path("full"))["app"], "executable")
        self.assertIn("hodo: 1 file, ", self.pull("bare", "trace").stderr)
        self.assertEqual(self.names_of_files(), {f"buildid/{self.ids['app']}/executable"})
        # The right one takes its place.
        for name in BUILT:
            self.place(self.store, name, stripped[name])
        self.hodo("symbols", "push", "of-all", "debug", status=0)
        self.assertIn("hodo: 2 files, ", self.pull("of-all", "trace", status=0).stderr)
        self.check_named()

    def test_debug_information_alone(self):
        """DWARF without a table of symbols is good, too."""
        run("objcopy", "--strip-all", "--keep-section=.debug*", self.path("full", "app"), self.path("dwarf"), status=0)
        with open(self.path("dwarf"), "rb") as f:
            self.place("dwarfs", "app", f.read())
        self.assertIn("hodo: 1 file, ", self.pull("dwarfs", "trace", status=0).stderr)

    def test_the_next_source(self):
        """A damaged debuginfo is named, and the executable is copied."""
        whole = files(self.path("full"))["app"]
        self.place("next-source", "app", whole[:len(whole) // 2])
        self.place("next-source", "app", whole, "executable")
        self.refused("next-source", "cut short")
        self.assertEqual(self.names_of_files(), {f"buildid/{self.ids['app']}/executable"})

    def test_another_build(self):
        """It is in the place of the build that ran, and is neither pulled nor used."""
        self.build("next", 2)
        self.assertNotEqual(symbols_case.build_id(self.path("next", "app")), self.ids["app"])
        self.place("wrong", "app", files(self.path("next"))["app"])
        self.refused("wrong", "another build")
        self.place(self.store, "app", files(self.path("next"))["app"])
        self.check_unnamed()
        # Nor is one that is at the program's path.
        shutil.copytree(self.path("next"), self.path("run"))
        try:
            self.check_unnamed()
        finally:
            shutil.rmtree(self.path("run"))
        # The right one replaces it.
        self.hodo("symbols", "push", "right", "full", status=0)
        self.pull("right", "trace", status=0)
        self.check_named()

    def test_half_a_file(self):
        whole = files(self.path("full"))["app"]
        for length in (0, 40, 4096, len(whole) - 1):
            self.place("half", "app", whole[:length])
            self.place(self.store, "app", whole[:length])
            self.refused("half", "no ELF file" if length < 64 else "cut short")
            self.check_unnamed()

    def test_no_file(self):
        for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)):
            folder = self.path("odd", "buildid", self.ids["app"])
            shutil.rmtree(self.path("odd"), ignore_errors=True)
            os.makedirs(folder)
            make(os.path.join(folder, "debuginfo"))
            self.refused("odd", "no ELF file")

    def test_planted_links(self):
        """Writing follows no link, and does not write to a file that has another name."""
        self.hodo("symbols", "push", "good", "full", status=0)
        victim = self.path("victim")
        part = self.path(self.store, "buildid", self.ids["app"], f".debuginfo.{os.geteuid()}.part")
        for plant in (os.symlink, os.link):
            with open(victim, "w", encoding="ascii") as f:
                f.write("mine")
            shutil.rmtree(self.store, ignore_errors=True)
            os.makedirs(os.path.dirname(part))
            plant(victim, part)
            self.assertEqual(self.pull("good", "trace").returncode, 1)
            self.assertEqual(files(self.dir)["victim"], b"mine")

    def test_left_by_a_killed_one(self):
        """A partial file does not stay: the next run replaces it."""
        self.hodo("symbols", "push", "killed", "full", status=0)
        part = self.path(self.store, "buildid", self.ids["app"], f".debuginfo.{os.geteuid()}.part")
        os.makedirs(os.path.dirname(part))
        with open(part, "wb") as f:
            f.write(b"x" * 100000)
        self.pull("killed", "trace", status=0)
        self.assertEqual(files(self.store), {f"buildid/{self.ids[name]}/debuginfo": files(self.path("full"))[name]
                                             for name in BUILT})

    def test_too_large(self):
        self.hodo("symbols", "push", "large", "full", status=0)
        done = self.pull("--max-size", "1K", "large", "trace")
        self.assertEqual(done.returncode, 1)
        self.assertIn("larger than 1.0 KiB: left out: --max-size allows more", done.stderr)
        self.assertEqual(self.names_of_files(), set())

    def test_modes(self):
        """Others can read what is pushed for them, as the umask permits."""
        self.hodo("symbols", "push", "shared", "full", status=0, umask=0o022)
        for base, _, names in os.walk(self.path("shared")):
            self.assertEqual(stat.S_IMODE(os.stat(base).st_mode), 0o755)
            for name in names:
                self.assertEqual(stat.S_IMODE(os.stat(os.path.join(base, name)).st_mode), 0o644)


class Full(symbols_case.Case):
    def test_disk(self):
        self.hodo("symbols", "push", "there", "full", status=0)
        size = len(files(self.path("full"))["app"])
        disk = self.disk(f"{(size // 4096 + 4) * 4096}")
        self.env["HODO_SYMBOLS"] = self.store = disk
        self.fails("No space left on device: 1 file is in", "pull", "there", "trace")
        self.assertEqual(len(self.names_of_files()), 1)
        run("mount", "-o", "remount,size=1m", disk, status=0)
        self.assertIn("and 1 from before", self.pull("there", "trace", status=0).stderr)
        self.check_named()


main()
