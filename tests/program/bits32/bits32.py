#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""32-bit programs run as they do without hodo, and the programs they start are recorded: src/record/join/preload.c."""
import os
import shutil

from hodo_test import LIBHODO, SOURCE, Case, main, program, run

LOADER = "/lib/ld-linux.so.2"
EVENTS = program("EVENTS")
SAID = "32 bits\n"


class Bits32(Case):
    def setUp(self):
        super().setUp()
        if not os.path.exists(LOADER):
            self.skipTest(f"no {LOADER} here (Debian's libc6-i386)")
        self.assertTrue(os.path.isdir(os.path.join(os.path.dirname(LIBHODO), "hodo-preload")), "gcc -m32 makes nothing")
        self.small = self.path("small")
        run("gcc", "-m32", "-nostdlib", "-pie", f"-Wl,-dynamic-linker,{LOADER}",
            SOURCE / "tests/program/bits32/program.S", "-o", self.small, status=0)
        try:
            run(self.small)
        except OSError as error:
            self.skipTest(f"this kernel runs no 32-bit programs: {error}")

    def check(self, *command, status=0, stdout="", events=1000, options=(), env=None):
        done = self.hodo("record", "-q", *options, "-o", self.data, "--", *command, env=env)
        self.assertEqual((done.returncode, done.stdout), (status, stdout), done.stderr)
        self.assertNotIn("ld.so", done.stderr)
        self.assertEqual(len([e for e in self.events() if e["name"] == "bits:event"]), events)
        shutil.rmtree(self.data)
        return done

    def test_alone(self):
        """Without the folder for 32-bit programs, the loader would report a library that it cannot load."""
        done = run(self.small, **self.how({"env": {"LD_PRELOAD": LIBHODO}}))
        self.assertIn("wrong ELF class", done.stderr)
        done = self.hodo("record", "-q", "-o", self.data, "--", self.small)
        self.assertEqual((done.returncode, done.stdout), (5, SAID))
        self.assertNotIn("ld.so", done.stderr)

    def test_through(self):
        """The 64-bit programs before and after it are recorded, with the functions' library, too."""
        for options in ((), ("--functions",)):
            self.check("sh", "-c", f"{EVENTS}; {self.small} {EVENTS}", stdout=SAID, events=2000, options=options)

    def test_musl(self):
        """musl's loader takes $LIB literally."""
        if not shutil.which("musl-gcc"):
            self.skipTest("no musl-gcc here (Debian's musl-tools)")
        other = self.path("other")
        run("musl-gcc", f"-I{SOURCE}/include", SOURCE / "tests/program/bits32/events.c", "-o", other, status=0)
        self.check("sh", "-c", f"{self.small} {other}", stdout=SAID)

    def test_evaluated(self):
        """A shell that evaluates the text once more removes $LIB from it."""
        self.check("sh", "-c", f'eval "LD_PRELOAD=$LD_PRELOAD {EVENTS}"')
        make = self.path("Makefile")
        with open(make, "w", encoding="ascii") as file:
            file.write(f"all:\n\t@{self.small} {EVENTS}\n")
        if shutil.which("make"):
            self.check("make", "-f", make, stdout=SAID)

    def test_others_preloaded(self):
        self.check("sh", "-c", f'echo "${{LD_PRELOAD##*:}}"; {EVENTS}', stdout="libc.so.6\n",
                   env={"LD_PRELOAD": "libc.so.6"})

    def test_no_folder(self):
        """A copy of the library elsewhere is preloaded by its plain path."""
        copy = shutil.copy(LIBHODO, self.path("libhodo.so"))
        self.check("sh", "-c", f"echo $LD_PRELOAD; {EVENTS}", stdout=f"{copy}\n", env={"HODO_LIBRARY": copy})

    def test_installed(self):
        """Installed, then moved elsewhere."""
        run("cmake", "--install", program("BUILD"), "--prefix", self.path("first"), status=0)
        os.rename(self.path("first"), self.path("second"))
        hodo = self.path("second/bin/hodo")
        env = {**self.how({})["env"]}
        env.pop("HODO_LIBRARY", None)
        done = run(hodo, "record", "-q", "-o", self.data, "--", "sh", "-c", f"{self.small} {EVENTS}; echo $LD_PRELOAD",
                   cwd=self.dir, env=env, status=0)
        self.assertEqual(done.stdout.splitlines()[0] + "\n", SAID)
        self.assertIn(f"{self.dir}/second/", done.stdout)
        self.assertNotIn("ld.so", done.stderr)
        self.assertEqual(len(self.events()), 1000)


if __name__ == "__main__":
    main()
