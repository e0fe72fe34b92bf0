# SPDX-License-Identifier: MIT
"""symbols_case - a recording of a stripped program and its library, which are removed afterwards.

Case: `full` has both as they were built, `debug` their separate debug files, `stripped` what ran; `data` is the
recording. STUBS (libhodo-functions.a, empty where there is none) is in the environment.
"""
import os
import pathlib
import re
import shutil

import hodo_test
from hodo_test import SOURCE, program, run

HERE = pathlib.Path(__file__).resolve().parent
STUBS = program("STUBS")
SLOTS = ["-pg", "-mfentry", "-minstrument-return=call"]
NAMES = {"main", "shown_outer", "hidden_inner", "shared", "hidden_shared"}
BUILT = ["app", "libshared.so"]


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path, status=0).stdout)[1]


def files(folder):
    """All files below the folder, by their paths from there, with their bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in pathlib.Path(folder).rglob("*") if p.is_file()}


class Case(hodo_test.Case):
    SHARED = True
    RECORD = ("--functions",)

    def setUp(self):
        if not STUBS:
            self.skipTest("functions are not traced on this machine")
        made = "dir" in vars(type(self))
        super().setUp()
        self.store = self.path(f"store-{self._testMethodName}")
        # Ignores the user's proxy, and takes nothing from the user's caches.
        self.env.update(HODO_SYMBOLS=self.store, HOME=self.dir, XDG_CACHE_HOME=self.path("cache"), no_proxy="127.0.0.1",
                        DEBUGINFOD_CACHE_PATH=self.path(f"client-{self._testMethodName}"))
        for name in ("DEBUGINFOD_URLS", "HODO_DEBUGINFOD"):
            self.env.pop(name, None)
        if not made:
            self.make()
        type(self).ids = {name: build_id(self.path("full", name)) for name in BUILT}

    def build(self, folder, number, ids="sha1"):
        os.makedirs(self.path(folder))
        lib, app = self.path(folder, "libshared.so"), self.path(folder, "app")
        common = ["gcc", "-O2", "-g", "-fno-optimize-sibling-calls", f"-Wl,--build-id={ids}", *SLOTS,
                  f"-DBUILD={number}", f"-I{SOURCE}/include"]
        run(*common, "-shared", "-fPIC", "-Wl,-soname,libshared.so", "-o", lib, HERE / "shared.c",
            "-Wl,-u,__return__", STUBS, status=0)
        run(*common, "-rdynamic", "-o", app, HERE / "app.c", lib, "-Wl,-rpath,$ORIGIN", "-Wl,-u,__return__", STUBS,
            status=0)

    def make(self):
        self.build("full", 1)
        for folder in ("debug", "stripped"):
            os.makedirs(self.path(folder))
        for name in BUILT:
            run("objcopy", "--only-keep-debug", self.path("full", name), self.path("debug", name), status=0)
            run("strip", "-o", self.path("stripped", name), self.path("full", name), status=0)
        shutil.copytree(self.path("stripped"), self.path("run"))
        self.hodo("record", "-q", *self.RECORD, "-o", "trace", "--", self.path("run", "app"), status=0)
        shutil.rmtree(self.path("run"))

    def names(self, *options, recording="trace", **how):
        """The names of the functions that have one, and whether others are shown by address."""
        listed = self.hodo("list", "--functions", "--full-names", "--columns=name", *options, recording, status=0,
                           **how).stdout.split()
        listed = [name for name in listed if name != "FUNCTION"]
        return {n for n in listed if "+0x" not in n}, any("+0x" in n for n in listed)

    def check_unnamed(self, *options, **how):
        """Exported functions of the library and the program have names: the recording itself has these."""
        self.assertEqual(self.names(*options, **how), (NAMES - {"hidden_inner", "hidden_shared"}, True))

    def check_named(self, *options, **how):
        self.assertEqual(self.names(*options, **how), (NAMES, False))

    def pull(self, *args, **how):
        return self.hodo("symbols", "pull", *args, **how)

    def fails(self, words, *args, status=1, **how):
        """One line and nothing else."""
        super().fails(status, words, "symbols", *args, **how)

    def names_of_files(self, folder=None):
        """The files of the store; each comes from one of our builds, and is in its place."""
        found = set(files(folder or self.store))
        for name in found:
            self.assertRegex(name, r"\Abuildid/[0-9a-f]{40}/(debuginfo|executable)\Z")
        return found
