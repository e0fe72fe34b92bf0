#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The project of examples/builds, built by each of its build systems, with Hodoscope installed from the build tree
BUILD: a program with events, which needs nothing at run time; functions built for tracing, in a part of it; and a
program that is linked with libhodo, which no linker drops."""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from hodo_test import HODO, SOURCE, Case, environment, main, run

EXAMPLE = SOURCE / "examples/builds"
SLOTS = {"queue_at": 20, "queue_put": 10, "queue_take": 11}
AS_NEEDED = "-Wl,--as-needed"
PREFIX = None  # where Hodoscope is installed


def setUpModule():
    global PREFIX
    top = tempfile.mkdtemp(prefix="hodo-projects.")
    unittest.addModuleCleanup(shutil.rmtree, top)
    PREFIX = pathlib.Path(top, "moved")
    run("cmake", "--install", os.environ["BUILD"], "--prefix", f"{top}/first", status=0)
    os.rename(f"{top}/first", PREFIX)


def needs(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", file, status=0).stdout)


class Project(Case):
    def setUp(self):
        super().setUp()
        self.libraries = next(PREFIX.glob("lib*/**/libhodo.so")).parent
        self.source = pathlib.Path(self.path("source"))
        shutil.copytree(EXAMPLE, self.source)
        self.settings = environment(PKG_CONFIG_PATH=self.libraries / "pkgconfig")

    def need(self, *tools):
        for tool in tools:
            if not shutil.which(tool):
                self.skipTest(f"no {tool} here")

    def do(self, *command, cwd=None):
        return run(*command, cwd=cwd or self.source, env=self.settings, status=0)

    def check_runs(self, *command, status=0, **more):
        done = run(*command, env=environment(**more), cwd=self.dir)
        self.assertEqual((done.returncode, done.stdout), (status, "sum 55\n" if status == 0 else ""), done.stderr)

    def check_worker(self, worker, traced, hodo=None):
        """Runs the worker without Hodoscope, then records it. traced: the file that has the functions."""
        hodo = hodo or PREFIX / "bin/hodo"
        away = PREFIX.with_name("away")
        os.rename(PREFIX, away)
        try:
            self.check_runs(worker)
        finally:
            os.rename(away, PREFIX)
        for file in {worker, traced}:
            self.assertFalse([name for name in needs(file) if "hodo" in name], file)
        listed = run(hodo, "list", "--functions", traced, status=0).stdout.splitlines()[1:]
        self.assertEqual({(words[-1], words[1]) for words in map(str.split, listed)},
                         {(name, "entry_exit") for name in SLOTS})
        # The file is selected by its name; that includes functions without slots, if it has any.
        run(hodo, "record", "-q", f"--functions={traced.name}!*", "-e", "worker:*", "-o", "recorded", "--", worker,
            cwd=self.dir, status=0)
        report = json.loads(run(hodo, "report", "--json", "recorded", cwd=self.dir, status=0).stdout)
        calls = {f["function"]: f["calls"] for f in report["functions"]}
        self.assertEqual({name: n for name, n in calls.items() if name in SLOTS}, SLOTS)
        self.assertEqual("main" in calls, traced == worker)
        self.assertNotIn("__fentry__", calls)  # what the slots call
        self.assertEqual({event["name"]: event["count"] for event in report["events"]}, {"worker:job": 10})
        shutil.rmtree(self.path("recorded"))

    def check_monitor(self, monitor):
        self.assertIn("libhodo.so.0", needs(monitor))
        self.check_runs(monitor, LD_LIBRARY_PATH=self.libraries)


class Make(Project):
    def make(self, *settings):
        self.do("make", "clean")
        self.do("make", *settings)

    def test_plain(self):
        self.make()
        self.check_worker(self.source / "worker", self.source / "worker")
        self.check_monitor(self.source / "monitor")

    def test_linkers(self):
        """No linker drops what is linked only to be there, nor anything else that nothing seems to need."""
        for linker, flags in (("bfd", "-flto"), ("gold", "-flto"), ("lld", "-no-pie"), ("mold", "-ffunction-sections")):
            with self.subTest(linker=linker):
                self.need(f"ld.{linker}")
                self.make(f"CFLAGS=-O2 {flags}", f"LDFLAGS=-fuse-ld={linker} {AS_NEEDED} -Wl,--gc-sections")
                self.check_worker(self.source / "worker", self.source / "worker")
                self.check_monitor(self.source / "monitor")

    def test_libraries_first(self):
        """The output of --libs before the objects that need the libraries, as some makefiles have it."""
        libs = self.do("pkg-config", "--libs", "hodo").stdout
        self.make("monitor", "HODO_LIBS=", f"LDFLAGS={AS_NEEDED} {libs.strip()}")
        self.check_monitor(self.source / "monitor")

    def test_static(self):
        self.make("LDFLAGS=-static", "HODO_STATIC=--static")
        for name in ("worker", "monitor"):
            self.assertEqual(needs(self.source / name), [])
            self.check_runs(self.source / name)


class CMake(Project):
    def build(self, *options, source=None, targets=("all",)):
        shutil.rmtree(self.path("build"), ignore_errors=True)
        self.do("cmake", "-G", "Ninja", "-S", source or self.source, "-B", self.path("build"),
                f"-DCMAKE_EXE_LINKER_FLAGS={AS_NEEDED}", *options)
        self.do("cmake", "--build", self.path("build"), "--target", *targets)
        return pathlib.Path(self.path("build"))

    def test_find_package(self):
        for shared, optimized in (("ON", "OFF"), ("OFF", "ON")):
            with self.subTest(shared=shared):
                built = self.build(f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DBUILD_SHARED_LIBS={shared}",
                                   f"-DCMAKE_INTERPROCEDURAL_OPTIMIZATION={optimized}", "-DCMAKE_BUILD_TYPE=Release")
                self.check_worker(built / "worker", built / ("libqueue.so" if shared == "ON" else "worker"))
                self.check_monitor(built / "monitor")

    def test_pkg_config(self):
        """CMake reorders what pkg-config prints: it puts the libraries last."""
        (self.source / "CMakeLists.txt").write_text("""
            cmake_minimum_required(VERSION 3.16)
            project(worker C)
            find_package(PkgConfig REQUIRED)
            pkg_check_modules(HODO REQUIRED IMPORTED_TARGET hodo)
            pkg_check_modules(FUNCTIONS REQUIRED IMPORTED_TARGET hodo-functions)
            add_library(queue queue.c)
            target_link_libraries(queue PRIVATE PkgConfig::FUNCTIONS)
            add_executable(worker worker.c)
            target_include_directories(worker PRIVATE ${HODO_INCLUDE_DIRS})
            target_link_libraries(worker PRIVATE queue)
            add_executable(monitor monitor.c)
            target_link_libraries(monitor PRIVATE PkgConfig::HODO)
            """, encoding="ascii")
        built = self.build("-DBUILD_SHARED_LIBS=ON")
        self.check_worker(built / "worker", built / "libqueue.so")
        self.check_monitor(built / "monitor")

    def fetch(self, *options, targets):
        return self.build("-DFETCH_HODO=ON", f"-DFETCHCONTENT_SOURCE_DIR_HODOSCOPE={SOURCE}", "-DHODO_VIEW=OFF",
                          *options, targets=targets)

    def inputs(self, built):
        """The files from which "all" is built."""
        return self.do("ninja", "-C", built, "-t", "inputs", "all").stdout.splitlines()

    def test_fetch_content(self):
        """Only what the project is linked with is built; nothing of Hodoscope's is in the project's own folder, nor in
        its installation."""
        with open(self.source / "CMakeLists.txt", "a", encoding="ascii") as file:
            file.write("install(TARGETS worker)\n")
        built = self.fetch(targets=("worker",))
        self.check_worker(built / "worker", built / "worker", HODO)
        library = built / "_deps/hodoscope-build/src/user/libhodo.so"
        self.assertFalse(library.exists())
        self.do("cmake", "--build", built, "--target", "monitor")
        self.libraries = library.parent
        self.check_monitor(built / "monitor")
        made = self.inputs(built)
        self.assertIn(f"{SOURCE}/src/user/event/registry.c", made)
        self.assertEqual([name for name in made if re.match(rf"{SOURCE}/(src/(cli|record|read)|tests|bench|examples)/", name)],
                         [])
        self.assertEqual({path.name for path in built.iterdir() if not path.name.startswith(".ninja")},
                         {"CMakeCache.txt", "CMakeFiles", "_deps", "build.ninja", "cmake_install.cmake", "libqueue.a",
                          "monitor", "worker"})
        self.do("cmake", "--install", built, "--prefix", self.path("installed"))
        installed = pathlib.Path(self.path("installed"))
        self.assertEqual([str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()],
                         ["bin/worker"])

    def test_fetch_and_install(self):
        """With HODO_INSTALL, "all" is the product, without its tests, and is installed with the project."""
        built = self.fetch("-DHODO_INSTALL=ON", targets=("queue",))
        made = self.inputs(built)
        self.assertIn(f"{SOURCE}/src/cli/main.c", made)
        self.assertEqual([name for name in made if re.match(rf"{SOURCE}/(tests|bench|examples)/", name)], [])
        self.assertIn("/_deps/hodoscope-build/cmake_install.cmake", (built / "cmake_install.cmake").read_text())


class Meson(Project):
    def test_meson(self):
        """Meson makes one path of each -L and -l, and links with --as-needed."""
        self.need("meson")
        for library, optimized in (("shared", "false"), ("static", "true")):
            with self.subTest(library=library):
                built = pathlib.Path(self.path(library))
                self.do("meson", "setup", built, f"-Ddefault_library={library}", f"-Db_lto={optimized}",
                        "-Dbuildtype=release")
                self.do("meson", "compile", "-C", built)
                self.check_worker(built / "worker", built / ("libqueue.so" if library == "shared" else "worker"))
                self.check_monitor(built / "monitor")


class Autotools(Project):
    def test_autotools(self):
        self.need("autoreconf", "automake", "libtoolize")
        self.do("autoreconf", "-i")
        for library in ("shared", "static"):
            with self.subTest(library=library):
                built = pathlib.Path(self.path(library))
                built.mkdir()
                other = "static" if library == "shared" else "shared"
                self.do(self.source / "configure", f"--disable-{other}", f"--cache-file={self.path('cache')}",
                        f"LDFLAGS={AS_NEEDED}", cwd=built)
                self.do("make", cwd=built)
                self.do("make", "install", f"DESTDIR={self.path('dest')}/{library}", cwd=built)
                dest = pathlib.Path(self.path("dest"), library, "usr/local")
                self.check_monitor(dest / "bin/monitor")
                if library == "static":
                    self.check_worker(dest / "bin/worker", dest / "bin/worker")
                else:  # in the build folder, a script stands in for the program
                    self.assertEqual([n for n in needs(dest / "bin/worker") if "hodo" in n], [])
                    os.environ["LD_LIBRARY_PATH"] = str(dest / "lib")
                    self.addCleanup(os.environ.pop, "LD_LIBRARY_PATH")
                    self.check_worker(dest / "bin/worker", dest / "lib/libqueue.so")


if __name__ == "__main__":
    sys.exit(main())
